/* hoist: splits a program into what is computed once a graph and what is computed at every run.
 * Needs: a verified program.  Keeps: the outputs of the two together, up to rounding (what a loop
 * multiplies and adds at once may be split between them).  Makes: `prepare` with outputs
 * "kept.<k>", and `rest`, which reads them as inputs of those names; prepare is NULL when there is
 * nothing to keep.
 *
 * A value is static when it depends on graphs, constants and inputs that the caller declares
 * static.  Of the static values that others read, those are kept that took real work (a sum over
 * edges or rows, a product, a division, a root): the rest is cheaper to compute again than to read,
 * and so is a wide row that comes of a few numbers by elementwise operators.  Of input features the
 * rows that are picked are kept, too. */
#include "passes/passes.h"

#include <string.h>

typedef struct hoister {
    const gir_program *p;
    bool *fixed; /* static */
    bool *work;  /* static, and took real work */
    bool *keep;
    bool *looked;        /* through, by keep */
    const uint8_t *elem; /* as what they are kept */
    bool *seen;          /* of a walk; false in between */
    int n_inputs;
    const char *const *inputs;
} hoister;

static bool static_input(const hoister *z, const char *name)
{
    for (int k = 0; k < z->n_inputs; k++)
        if (!strcmp(z->inputs[k], name)) return true;
    return false;
}

static bool is_work(gir_op op)
{
    switch (op) {
    case GIR_SCATTER:
    case GIR_SPACE_REDUCE:
    case GIR_REDUCE:
    case GIR_MATMUL:
    case GIR_CARRY:
    case GIR_UNCARRY: return true;
    default: return gn_is_function(op);
    }
}

/* Is the number of rows known of what is static alone?  A constant over the edges of a pattern is
 * not, where the features may change. */
static bool static_rows(const hoister *z, gir_space_id s)
{
    gir_id v = gir_space_source(z->p, s);
    if (!v || gir_at(z->p, v)->op == GIR_GRAPH) return true;
    if (gir_type_of(z->p, v)->is_graph) return z->fixed[v];
    if (static_input(z, gir_at(z->p, v)->attr.name)) return true;
    for (v = 1; v < z->p->nodes.n; v++) { /* which tells it, too */
        const gir_type *t = gir_type_of(z->p, v);
        if (gir_at(z->p, v)->op == GIR_GRAPH && (t->src == s || t->dst == s)) return true;
    }
    return false;
}

static void find_static(hoister *z)
{
    const gir_program *p = z->p;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        switch ((gir_op)n->op) {
        case GIR_STATE:
        case GIR_RANDOM:
        case GIR_RNG_KEY: continue;
        case GIR_INPUT: z->fixed[v] = static_input(z, n->attr.name); continue;
        default: break;
        }
        bool fixed = n->type.is_graph || static_rows(z, n->type.space),
             work = is_work((gir_op)n->op);
        if (gir_named_space(n)) fixed = static_rows(z, gir_named_space(n));
        for (int k = 0; k < n->n_in; k++) {
            gir_id o = gir_in(p, v, k);
            fixed = fixed && z->fixed[o];
            work = work || z->work[o];
        }
        z->fixed[v] = fixed;
        z->work[v] = fixed && work && !n->type.is_graph;
    }
}

/* Picked rows of features: kept they lie one after another, and all the others may be forgotten.
 * Not those that a sparse matrix's pattern is of: its values are at hand. */
static bool is_picked(const hoister *z, gir_id v, gir_id reader)
{
    const gir_program *p = z->p;
    if (!z->fixed[v] || gir_at(p, v)->op != GIR_TAKE || gir_type_of(p, v)->rank == 0) return false;
    return gir_picks_once(p, gir_in(p, v, 0)) && gir_at(p, gir_in(p, v, 1))->op == GIR_INPUT &&
           gir_at(p, reader)->op != GIR_CELL;
}

static int64_t row_bytes(const gir_program *p, gir_id v)
{
    const gir_type *t = gir_type_of(p, v);
    return gir_row_elems(t) * (int64_t)gn_elem_size((gn_elem)t->elem);
}

/* Adds what a row of `v` is read from, through views and cheap elementwise work that no one else
 * has done. */
static void add_sources(const hoister *z, gir_id v, bool *seen, int64_t *bytes)
{
    const gir_node *n = gir_at(z->p, v);
    if (seen[v] || n->op == GIR_CONST || n->op == GIR_IOTA) return;
    seen[v] = true;
    gir_class cls = gir_ops[n->op].cls;
    bool cheap = (cls == GIR_CLASS_MAP && !is_work((gir_op)n->op)) || cls == GIR_CLASS_VIEW;
    if (!cheap || z->keep[v]) {
        if (n->type.space) *bytes += row_bytes(z->p, v);
        return;
    }
    for (int k = 0; k < n->n_in; k++) add_sources(z, gir_in(z->p, v, k), seen, bytes);
}

/* Is a row of v cheap to compute again from much less than it has itself?  (One-hot labels are of a
 * label.) */
static bool spread_out(const hoister *z, gir_id v)
{
    enum { TIMES = 4 };
    const gir_node *n = gir_at(z->p, v);
    int64_t bytes = 0;
    if (gir_ops[n->op].cls != GIR_CLASS_MAP || is_work((gir_op)n->op) || !n->type.space)
        return false;
    add_sources(z, v, z->seen, &bytes);
    memset(z->seen, 0, z->p->nodes.n * sizeof *z->seen);
    return bytes * TIMES < row_bytes(z->p, v);
}

/* Has it fewer bytes than what it is of? */
static bool narrows(const hoister *z, gir_id v)
{
    const gir_type *of = gir_type_of(z->p, gir_in(z->p, v, 0)), *to = gir_type_of(z->p, v);
    return gn_elem_is_float((gn_elem)to->elem) &&
           gn_elem_size((gn_elem)to->elem) < gn_elem_size((gn_elem)of->elem);
}

/* A view or a gather of something kept is not worth keeping itself, nor is what spreads it out:
 * what it reads is. */
static void keep(hoister *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (!z->work[v] || z->keep[v] || z->looked[v]) return;
    /* The numbers of the nearest rows are known of NEAREST alone. */
    bool looks_through = gir_ops[n->op].cls == GIR_CLASS_VIEW || n->op == GIR_GATHER ||
                         (n->op == GIR_CAST && !narrows(z, v)) || n->op == GIR_DETACH ||
                         n->op == GIR_NEAREST;
    if (!looks_through && !spread_out(z, v)) {
        z->keep[v] = true;
        return;
    }
    z->looked[v] = true;
    for (int k = 0; k < n->n_in; k++) keep(z, gir_in(z->p, v, k));
}

bool *gn_find_fixed(gn_arena *a, const gir_program *in, int n_inputs, const char *const *inputs)
{
    hoister z = {.p = in, .n_inputs = n_inputs, .inputs = inputs};
    z.fixed = GN_NEW_N(a, bool, in->nodes.n);
    z.work = GN_NEW_N(a, bool, in->nodes.n);
    find_static(&z);
    return z.fixed;
}

static gir_program *make_prepare(hoister *z, gn_arena *a, gir_id *map)
{
    const gir_program *p = z->p;
    gir_program *to = gir_program_new(a, gn_arena_printf(a, "%s_prepare", p->name));
    gir_clone_frame(to, p);
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (z->fixed[v]) map[v] = gir_clone_node(to, p, v, map);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (!z->keep[v]) continue;
        to->loc = gir_at(p, v)->loc;
        gir_id kept = gir_cast(to, map[v], (gn_elem)z->elem[v]);
        gir_output_add(to, GIR_OUTPUT, gn_arena_printf(a, "kept.%u", v), kept);
    }
    return to;
}

static gir_program *make_rest(hoister *z, gn_arena *a, gir_id *map)
{
    const gir_program *p = z->p;
    gir_program *to = gir_program_new(a, p->name);
    gir_clone_frame(to, p);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        to->loc = gir_at(p, v)->loc;
        if (!z->keep[v]) {
            map[v] = gir_clone_node(to, p, v, map);
            continue;
        }
        gir_type type = *gir_type_of(p, v);
        type.elem = z->elem[v];
        gir_id kept = gir_leaf(to, GIR_INPUT, gn_arena_printf(a, "kept.%u", v), &type);
        map[v] = gir_cast(to, kept, (gn_elem)gir_type_of(p, v)->elem);
    }
    gir_clone_outputs(to, p, map);
    return to;
}

gn_status *gn_pass_hoist(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                         gir_program **prepare, gir_program **rest)
{
    uint32_t n = in->nodes.n;
    bool rows = gn_is_on(opt->without.decisions, GN_DO_KEEP_ROWS);
    hoister z = {.p = in, .n_inputs = opt->n_fixed, .inputs = opt->fixed};
    z.fixed = GN_NEW_N(a, bool, n);
    z.work = GN_NEW_N(a, bool, n);
    z.keep = GN_NEW_N(a, bool, n);
    z.looked = GN_NEW_N(a, bool, n);
    z.seen = GN_NEW_N(a, bool, n);
    z.elem = gn_find_kept(a, in, opt);
    find_static(&z);
    for (gir_id v = 1; v < n; v++) {
        if (z.fixed[v]) continue;
        for (int k = 0; k < gir_at(in, v)->n_in; k++) {
            gir_id o = gir_in(in, v, k);
            if (rows && is_picked(&z, o, v))
                z.keep[o] = true;
            else
                keep(&z, o);
        }
    }
    for (uint32_t k = 0; k < in->outputs.n; k++) keep(&z, in->outputs.p[k].value);
    bool any = false;
    for (gir_id v = 1; v < n; v++) any = any || z.keep[v];
    *prepare = NULL;
    *rest = (gir_program *)in;
    if (!any) return NULL;
    gir_id *map = GN_NEW_N(a, gir_id, n);
    *prepare = make_prepare(&z, a, map);
    memset(map, 0, n * sizeof *map);
    *rest = make_rest(&z, a, map);
    return NULL;
}
