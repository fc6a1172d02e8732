/* The text formats, told apart as the program does; what is read must pass the check that every
 * dataset passes. */
/* links: runtime base */
#include "runtime/data/readers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gn_data_options opt = {.normalize_rows = -1, .undirected = -1};
    gn_reading r = {.opt = &opt, .origin = "fuzz"};
    gn_dataset *d = NULL;
    gn_reader *reader = gn_edgelist_parse;
    if (size > 4 && memcmp(data, "%%Ma", 4) == 0) reader = gn_mtx_parse;
    if (size > 4 && memcmp(data, "gnnc", 4) == 0) reader = gn_graph_parse;
    gn_status *s = reader(data, size, &r, &d);
    if (!s) {
        s = gn_dataset_check(d);
        if (s) abort();
    }
    gn_status_free(s);
    gn_dataset_free(d);
    return 0;
}
