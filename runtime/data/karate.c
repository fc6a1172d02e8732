/* Zachary's karate club, the graph the program uses when it is given none: samples/karate.graph,
 * embedded. */
#include "runtime/data/readers.h"

#include <stdlib.h>
#include <string.h>

extern const unsigned char gn_embedded_karate_graph[];
extern const size_t gn_embedded_karate_graph_size;

gn_status *gn_karate_read(gn_reading *r, gn_dataset **out)
{
    r->origin = "karate.graph (embedded)";
    GN_TRY(gn_graph_parse(gn_embedded_karate_graph, gn_embedded_karate_graph_size, r, out));
    (*out)->embedded = true;
    (*out)->name = strdup("karate");
    if ((*out)->name) return NULL;
    gn_dataset_free(*out);
    GN_FAIL(GN_ERR_NOMEM, "out of memory: a name");
}
