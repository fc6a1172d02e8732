/* narrow: what is kept between loops is kept in 16 bits, where that is asked for (pass
 * options.kept). Needs: gradients already taken (they would not be those of the rounding), products
 * and sums where they stay.  Keeps: outputs up to the rounding of what is kept; all arithmetic and
 * every sum stay float32, as do weights, moments and what they become.
 *
 *   v     becomes, for all that read it,     cast f32 (cast bf16 v)
 *
 * where v is float32 and fusion stores it.  The rounding goes into the loop that makes v, which
 * goes on with what it has in registers; whoever reads v of memory widens it (fu_is_identity_view),
 * so that nothing else is stored.  Half the bytes are kept and moved: activations that the backward
 * pass reads again, gradients on their way back, rows that edges gather.
 *
 * float16 has 3 bits more and ends at 65,504.  A sum over edges that nothing divides can be beyond
 * that at a hub, and so can what comes of it; those are kept as bfloat16, which ends where float32
 * does.
 *
 * Declines where little is to be had or much is to lose: of rows shorter than a line of cache,
 * where degrees, norms and the numbers of a softmax lie; of outputs; of what an optimizer makes of
 * rows; of what is compared for equality, as maxima are with what they are of; and of what is named
 * in options.wide. */
#include "fuse/fuse.h"
#include "passes/passes.h"

enum { LEAST = 16 }; /* elements of a row: 64 bytes, a line */

typedef struct narrower {
    const gir_program *from;
    bool *exact;           /* by value: goes out, becomes a state, or is compared */
    const bool *unbounded; /* by value */
    gn_storage kept;
    const char *wide;
    int64_t least;
} narrower;

/* What an output comes of, row by row, and what is compared: the gradient of a maximum finds it
 * among what it is of, which a loop may have at hand unrounded. */
static void mark_exact(narrower *z)
{
    const gir_program *p = z->from;
    const bool *compared = gn_find_compared(p->arena, p, true);
    for (uint32_t k = 0; k < p->outputs.n; k++) z->exact[p->outputs.p[k].value] = true;
    bool *state = GN_NEW_N(p->arena, bool, p->nodes.n);
    for (uint32_t k = 0; k < p->outputs.n; k++)
        state[p->outputs.p[k].value] = p->outputs.p[k].kind == GIR_UPDATE;
    for (gir_id v = p->nodes.n; v-- > 1;) {
        const gir_node *n = gir_at(p, v);
        gir_class cls = gir_ops[n->op].cls;
        bool by_row = cls == GIR_CLASS_MAP || cls == GIR_CLASS_VIEW || n->op == GIR_PUT;
        if (!state[v] || !by_row) continue;
        for (int k = 0; k < n->n_in; k++) state[gir_in(p, v, k)] = true;
    }
    for (gir_id v = 1; v < p->nodes.n; v++) z->exact[v] |= state[v] || compared[v];
}

/* Does an operator tell numbers apart that are near to each other? */
static bool compares(const gir_program *p, gir_id v, bool equal)
{
    const gir_node *n = gir_at(p, v);
    switch ((gir_op)n->op) {
    case GIR_EQ:
    case GIR_NE: return equal;
    case GIR_DISTINCT:
    case GIR_RANK:
    case GIR_NEAREST:
    case GIR_FLOOR: return true;
    case GIR_CAST: return !gn_elem_is_float((gn_elem)n->type.elem);
    default: return false;
    }
}

const bool *gn_find_compared(gn_arena *a, const gir_program *p, bool equal)
{
    bool *compared = GN_NEW_N(a, bool, p->nodes.n);
    for (gir_id v = p->nodes.n; v-- > 1;) {
        const gir_node *n = gir_at(p, v);
        gir_class cls = gir_ops[n->op].cls;
        bool same = cls == GIR_CLASS_MAP || cls == GIR_CLASS_VIEW || n->op == GIR_GATHER ||
                    n->op == GIR_TAKE || n->op == GIR_CARRY ||
                    (n->op == GIR_SCATTER && n->attr.i[1] != GIR_SUM) ||
                    ((n->op == GIR_REDUCE || n->op == GIR_SPACE_REDUCE) && n->attr.i[0] != GIR_SUM);
        if (!compares(p, v, equal) && !(compared[v] && same)) continue;
        for (int k = 0; k < n->n_in; k++) compared[gir_in(p, v, k)] = true;
    }
    return compared;
}

/* Does v grow with how many edges or rows there are: a degree, the divisor of a softmax, a size, or
 * (`inverse`) one divided by such a number?  What a model learns does not. */
static bool counts(const gir_program *p, gir_id v, bool inverse, int depth)
{
    enum { DEPTH = 12 };
    const gir_node *n = gir_at(p, v);
    gir_class cls = gir_ops[n->op].cls;
    if (depth > DEPTH) return false;
    switch ((gir_op)n->op) {
    case GIR_SIZE: return !inverse;
    case GIR_SCATTER: return !inverse && n->attr.i[1] == GIR_SUM && gir_row_elems(&n->type) == 1;
    case GIR_RECIP:
    case GIR_RSQRT: return inverse && counts(p, gir_in(p, v, 0), false, depth + 1);
    case GIR_DIV: return inverse && counts(p, gir_in(p, v, 1), false, depth + 1);
    case GIR_POW: return counts(p, gir_in(p, v, 0), false, depth + 1);
    case GIR_SQRT:
    case GIR_CAST:
    case GIR_ADD:
    case GIR_MAX:
    case GIR_MUL:
    case GIR_SELECT: break;
    default:
        if (cls != GIR_CLASS_VIEW && n->op != GIR_GATHER && n->op != GIR_TAKE) return false;
    }
    for (int k = 0; k < n->n_in; k++)
        if (!gir_type_of(p, gir_in(p, v, k))->is_graph &&
            counts(p, gir_in(p, v, k), inverse, depth + 1))
            return true;
    return false;
}

/* One number a row or for all, by which a sum is divided (`inverse`: multiplied). */
static bool divides(const gir_program *p, gir_id v, bool inverse)
{
    gir_id scale = gn_scale_of(p, v);
    return scale && counts(p, scale, inverse, 0);
}

static bool is_unbounded(const gir_program *p, gir_id v, const bool *unbounded)
{
    const gir_node *n = gir_at(p, v);
    bool any = false;
    for (int k = 0; k < n->n_in; k++)
        any = any || (!gir_type_of(p, gir_in(p, v, k))->is_graph && unbounded[gir_in(p, v, k)]);
    switch ((gir_op)n->op) {
    case GIR_SCATTER: return any || n->attr.i[1] == GIR_SUM;
    case GIR_SPACE_REDUCE: return any || n->attr.i[0] == GIR_SUM;
    case GIR_SUM_AT: return true;
    case GIR_MUL:
        return any && !divides(p, gir_in(p, v, 0), true) && !divides(p, gir_in(p, v, 1), true);
    case GIR_DIV: return any && !divides(p, gir_in(p, v, 1), false);
    case GIR_TANH:
    case GIR_SIGMOID:
    case GIR_ERF:
    case GIR_SIN:
    case GIR_COS:
    case GIR_SIGN:
    case GIR_LOG:
    case GIR_LOG1P: return false;
    default: return any && gn_elem_is_float((gn_elem)n->type.elem);
    }
}

const bool *gn_find_unbounded(gn_arena *a, const gir_program *p)
{
    bool *out = GN_NEW_N(a, bool, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) out[v] = is_unbounded(p, v, out);
    return out;
}

gn_elem gn_elem_kept(gn_storage kept, bool unbounded)
{
    return kept == GN_STORAGE_BFLOAT16 || unbounded ? GN_BF16 : GN_F16;
}

/* As what v is kept where it is. */
static gn_elem elem_of(const narrower *z, gir_id v)
{
    const gir_type *t = gir_type_of(z->from, v);
    bool can = !t->is_graph && t->space && t->elem == GN_F32 && !z->exact[v] &&
               gir_row_elems(t) >= z->least && gir_at(z->from, v)->op != GIR_PUT &&
               !gn_is_wide(z->wide, z->from, v);
    return can ? gn_elem_kept(z->kept, z->unbounded[v]) : (gn_elem)t->elem;
}

const uint8_t *gn_find_kept(gn_arena *a, const gir_program *p, const gn_pass_options *opt)
{
    uint8_t *out = GN_NEW_N(a, uint8_t, p->nodes.n);
    narrower z = {.from = p,
                  .exact = GN_NEW_N(a, bool, p->nodes.n),
                  .unbounded = gn_find_unbounded(a, p),
                  .kept = opt->kept,
                  .wide = opt->wide,
                  .least = opt->kept_least ? opt->kept_least : LEAST};
    mark_exact(&z);
    for (gir_id v = 1; v < p->nodes.n; v++)
        out[v] = opt->kept ? (uint8_t)elem_of(&z, v) : gir_type_of(p, v)->elem;
    return out;
}

gn_status *gn_run_narrow(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                         gir_program **out)
{
    *out = (gir_program *)in;
    if (opt->kept == GN_STORAGE_FLOAT32) return NULL;
    fu_options fo = {.eager = opt->eager, .lanes = opt->lanes, .off = opt->without.decisions};
    const fusion *f = gn_fuse(a, in, &fo);
    const uint8_t *elem = gn_find_kept(a, in, opt);
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n);
    *out = gir_program_new(a, in->name);
    gir_clone_frame(*out, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        (*out)->loc = gir_at(in, v)->loc;
        map[v] = gir_clone_node(*out, in, v, map);
        bool kept = f->place[v] == FU_REAL && f->stored[v];
        if (!kept || elem[v] == gir_type_of(in, v)->elem) continue;
        gir_id narrow = gir_cast(*out, map[v], (gn_elem)elem[v]);
        map[v] = gir_cast(*out, narrow, GN_F32);
    }
    gir_clone_outputs(*out, in, map);
    return NULL;
}
