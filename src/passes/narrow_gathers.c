/* narrow_gathers: what edges read of nodes lies in memory in 16 bits, where that is asked for (pass
 * options.gathers). Needs: gradients already taken (they would not be those of the rounding),
 * sparsify, factor. Keeps: outputs up to the rounding of what is gathered; all arithmetic, and
 * every sum, stays float32.
 *
 *   gather g, x     becomes     cast f32 (gather g, (cast bf16 x))
 *
 * A sum over edges of a graph beyond the caches takes as long as its rows take to arrive, and each
 * row is read as often as its node has edges: half the bytes is nearly half the time.  The rounding
 * goes into the loop that computes x (fuse.c), and x itself is stored only where something else
 * reads it.
 *
 * Declines where it would round for nothing: of rows shorter than a line of cache; of what a
 * kernel's own row reads, not its edges; of what is computed once; of what becomes a whole number;
 * of the rows of weights that sparse features pick, which is a product of matrices; and of what is
 * no float32. */
#include "passes/passes.h"

enum { LEAST = 16 }; /* elements of a row: 64 bytes, a line */

typedef struct narrower {
    const gir_program *from;
    const bool *once;   /* by value: the same in every run */
    const bool *whole;  /* by value: becomes a whole number */
    const bool *sparse; /* by value: comes from an input that is bound as CSR */
    uint8_t *ends; /* by value: bit set of the ends that sums over the edges which read it go to;
                      all: read otherwise */
    bool *runs;    /* by value: read by something that is computed in every run */
} narrower;

static const uint8_t every_end = 1 << GIR_SRC | 1 << GIR_DST;

static void see_reader(narrower *z, gir_id v)
{
    const gir_program *p = z->from;
    const gir_node *n = gir_at(p, v);
    bool same = n->type.space && p->spaces.p[n->type.space].kind == GIR_EDGE;
    uint8_t ends = n->op == GIR_SCATTER ? (uint8_t)(1u << n->attr.i[0])
                   : same               ? z->ends[v]
                                        : every_end;
    for (int k = 0; k < n->n_in; k++) {
        gir_id x = gir_in(p, v, k);
        z->ends[x] |= ends;
        z->runs[x] |= !z->once[v];
    }
}

static bool between_nodes(const gir_program *p, gir_id graph)
{
    const gir_type *t = gir_type_of(p, graph);
    return p->spaces.p[t->src].kind != GIR_FEATURE && p->spaces.p[t->dst].kind != GIR_FEATURE;
}

static bool narrows(const narrower *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    if (n->op != GIR_GATHER || n->type.elem != GN_F32 || !z->runs[v] || z->whole[v]) return false;
    int64_t elems = 1;
    for (int k = 0; k < n->type.rank; k++) elems *= n->type.dim[k];
    bool far = z->ends[v] & ~(1u << n->attr.i[0]);
    return elems >= LEAST && far && !z->sparse[gir_in(z->from, v, 1)] &&
           between_nodes(z->from, gir_in(z->from, v, 0));
}

gn_status *gn_run_narrow_gathers(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                 gir_program **out)
{
    *out = (gir_program *)in;
    if (opt->gathers == GN_STORAGE_FLOAT32) return NULL;
    const bool *unbounded = gn_find_unbounded(a, in);
    narrower z = {.from = in,
                  .once = gn_find_fixed(a, in, opt->n_fixed, opt->fixed),
                  .whole = gn_find_compared(a, in, false),
                  .sparse = gn_find_from_sparse(a, in, opt),
                  .ends = GN_NEW_N(a, uint8_t, in->nodes.n),
                  .runs = GN_NEW_N(a, bool, in->nodes.n)};
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n), *narrow = GN_NEW_N(a, gir_id, in->nodes.n);
    for (uint32_t k = 0; k < in->outputs.n; k++) z.ends[in->outputs.p[k].value] = every_end;
    for (gir_id v = in->nodes.n - 1; v >= 1; v--) see_reader(&z, v);
    *out = gir_program_new(a, in->name);
    gir_clone_frame(*out, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        (*out)->loc = gir_at(in, v)->loc;
        if (!narrows(&z, v)) {
            map[v] = gir_clone_node(*out, in, v, map);
            continue;
        }
        gir_id x = gir_in(in, v, 1), g = map[gir_in(in, v, 0)];
        if (!narrow[x])
            narrow[x] = gir_cast(*out, map[x], gn_elem_kept(opt->gathers, unbounded[x]));
        map[v] = gir_cast(*out, gir_gather(*out, g, narrow[x], (int)gir_at(in, v)->attr.i[0]),
                          GN_F32);
    }
    gir_clone_outputs(*out, in, map);
    return NULL;
}
