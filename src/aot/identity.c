/* What a header promises, as a number.  A program is compiled with a header and linked with an
 * object; where those are of different builds of a model, the sizes of its arrays are others, and
 * nothing else would tell. */
#include "aot/aot.h"

#include "cache/sha256.h"

#include <inttypes.h>

/* Counted up where the functions of headers change. */
enum { INTERFACE = 1 };

static void add_tensors(gn_buf *b, const char *what, int n, const gn_aot_tensor *t)
{
    for (int k = 0; k < n; k++)
        gn_buf_printf(b, "%s %s %s %d %" PRId64 "%s%s\n", what, t[k].name, gn_elem_name(t[k].elem),
                      (int)t[k].rows, t[k].row_elems, t[k].over ? " " : "",
                      t[k].over ? t[k].over : "");
}

/* All that a caller may rely on; the code, its processor and the weights are the object's own
 * affair. */
uint64_t gn_aot_identity(gn_arena *a, const gn_aot_image *g, bool normalized)
{
    gn_buf b = {.arena = a};
    unsigned char digest[GN_SHA256_BYTES];
    uint64_t id = 0;
    gn_buf_printf(&b, "interface %d\nmodel %s\n", INTERFACE, g->model);
    add_tensors(&b, "input", g->n_inputs, g->inputs);
    add_tensors(&b, "output", g->n_outputs, g->outputs);
    for (int k = 0; k < g->n_relations; k++)
        gn_buf_printf(&b, "relation %s %s %s\n", g->relations[k].name, g->relations[k].src,
                      g->relations[k].dst);
    gn_buf_printf(&b, "classes %" PRId64 "\ntrains %d\nsparse %d\nnormalized %d\n", g->n_classes,
                  g->step != NULL, g->sparse_x, normalized);
    gn_sha256_of(b.p, b.n, digest);
    for (int k = 0; k < 8; k++) id = id << 8 | digest[k];
    return id ? id : 1; /* 0 is nobody's */
}
