/* What a header promises, as a number.  A program is compiled with a header and linked with an
 * object; where those are of different builds of a model, the sizes of its arrays are others, and
 * nothing else would tell. */
#include "aot/aot.h"

#include "cache/sha256.h"

#include <inttypes.h>

/* Counted up where the functions of headers change. */
enum { INTERFACE = 2 };

static void add_tensors(gn_buf *b, const gn_aot_image *g, const char *what, int n,
                        const gn_aot_tensor *t)
{
    char rows[160];
    for (int k = 0; k < n; k++) {
        gn_aot_rows_text(g, &t[k], rows, sizeof rows);
        gn_buf_printf(b, "%s %s %s %s %" PRId64 "\n", what, t[k].name, gn_elem_name(t[k].elem),
                      rows, t[k].row_elems);
    }
}

static void add_relations(gn_buf *b, const gn_aot_image *g)
{
    for (int k = 0; k < g->n_relations; k++) {
        const gn_aot_relation *r = &g->relations[k];
        if (!gn_aot_takes(g, k)) continue;
        gn_buf_printf(b, "relation %s %s %s\n", r->name, g->spaces[r->src].name,
                      g->spaces[r->dst].name);
    }
    for (int k = 0; k < g->n_spaces; k++)
        if (g->spaces[k].rows >= 0)
            gn_buf_printf(b, "rows %s %" PRId64 "\n", g->spaces[k].name, g->spaces[k].rows);
}

/* All that a caller may rely on; the code, its processor and the weights are the object's own
 * affair. */
uint64_t gn_aot_identity(gn_arena *a, const gn_aot_image *g, bool normalized)
{
    gn_buf b = {.arena = a};
    unsigned char digest[GN_SHA256_BYTES];
    uint64_t id = 0;
    gn_buf_printf(&b, "interface %d\nmodel %s\n", INTERFACE, g->model);
    add_relations(&b, g);
    add_tensors(&b, g, "input", g->n_inputs, g->inputs);
    add_tensors(&b, g, "output", g->n_outputs, g->outputs);
    gn_buf_printf(&b, "classes %" PRId64 "\ntrains %d\nsparse %d\nnormalized %d\n", g->n_classes,
                  g->step != NULL, g->sparse_x, normalized);
    gn_sha256_of(b.p, b.n, digest);
    for (int k = 0; k < 8; k++) id = id << 8 | digest[k];
    return id ? id : 1; /* 0 is nobody's */
}
