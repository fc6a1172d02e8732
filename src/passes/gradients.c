/* Gradients by name, and the split into a forward and a backward program.
 *
 * What is kept between the two takes memory from one call to the next, and what is computed again
 * takes time.  Kept is what took real work (a sum over edges or rows, a product, a function of a
 * node's numbers).  What lies on edges and comes of nodes element by element is made again, as the
 * code of a training step does it, and so is what a row of nodes has of as few kept numbers as it
 * has itself.  Data that the runtime makes graphs of stay as they are. */
#include "passes/gradients.h"
#include "passes/passes.h"
#include "passes/learning_rate.h"
#include "passes/simplify.h"

#include <string.h>

/* Gradients ------------------------------------------------------------------------------------ */

static bool is_float(const gir_type *t)
{
    return !t->is_graph && gn_elem_is_float((gn_elem)t->elem);
}

/* An input for the cotangent of each result that has one; how many. */
static int add_cotangents(gir_program *p, gir_id *of, gir_id *ct)
{
    const gir_output *o;
    int n = 0;
    for (int k = 0; (o = gir_result(p, k)) != NULL; k++) {
        gir_type type = *gir_type_of(p, o->value);
        if (!is_float(&type)) continue;
        of[n] = o->value;
        ct[n++] = gir_leaf(p, GIR_INPUT, gn_arena_printf(p->arena, GN_COTANGENT "%d", k), &type);
    }
    return n;
}

static bool is_updated(const gir_program *p, const char *state)
{
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_UPDATE && !strcmp(p->outputs.p[k].name, state)) return true;
    return false;
}

/* The next call draws anew. */
static void advance(gir_program *p)
{
    gir_id step = gir_leaf_by_name(p, GIR_STATE, GN_STATE_STEPS);
    if (!step || is_updated(p, GN_STATE_STEPS)) return;
    gir_type counter = *gir_type_of(p, step);
    gir_id one = gir_const(p, &counter, 1);
    gir_output_add(p, GIR_UPDATE, GN_STATE_STEPS, gir_op2(p, GIR_ADD, step, one));
}

gn_status *gn_pass_gradients(gn_arena *a, const gir_program *forward, const gn_gradients *want,
                             gir_program **out)
{
    gir_program *p = gir_clone(a, forward);
    gir_id *of = GN_NEW_N(a, gir_id, p->outputs.n + 1), *ct = GN_NEW_N(a, gir_id, p->outputs.n + 1),
           *wrt = GN_NEW_N(a, gir_id, want->n + 1), *grad = GN_NEW_N(a, gir_id, want->n + 1);
    int *which = GN_NEW_N(a, int, want->n + 1), n = 0, n_of = add_cotangents(p, of, ct);
    p->name = "gradients";
    for (int k = 0; k < want->n; k++) {
        gir_op op = want->of[k].of_state ? GIR_STATE : GIR_INPUT;
        wrt[n] = gir_leaf_by_name(p, op, want->of[k].name);
        which[n] = k;
        n += wrt[n] != 0;
    }
    GN_TRY(gir_pull(p, n_of, of, ct, n, wrt, grad));
    for (int k = 0; k < n; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(a, GN_GRADIENT "%d", which[k]), grad[k]);
    if (!want->inference) advance(p);
    *out = p;
    return NULL;
}

/* The split ------------------------------------------------------------------------------------ */

typedef struct splitter {
    const gir_program *p;
    bool *late;   /* comes of a cotangent */
    bool *data;   /* whole numbers and bools that come of inputs alone */
    bool *keep;   /* is passed on */
    bool *looked; /* it is settled how the rest comes by it */
    bool *seen;   /* of a walk */
    int steps;    /* that it may take */
} splitter;

static bool begins(const char *name, const char *word)
{
    return name && !strncmp(name, word, strlen(word));
}

static bool is_late(const splitter *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (n->op == GIR_INPUT) return begins(n->attr.name, GN_COTANGENT);
    for (int k = 0; k < n->n_in; k++)
        if (z->late[gir_in(z->p, v, k)]) return true;
    return false;
}

static bool is_data(const splitter *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (n->type.is_graph || gn_elem_is_float((gn_elem)n->type.elem)) return false;
    bool moves = gir_ops[n->op].cls == GIR_CLASS_MAP || n->op == GIR_GATHER || n->op == GIR_CARRY ||
                 n->op == GIR_INPUT || n->op == GIR_CONST;
    for (int k = 0; k < n->n_in; k++) {
        gir_id in = gir_in(z->p, v, k);
        moves = moves && (gir_type_of(z->p, in)->is_graph || z->data[in]);
    }
    return moves && n->op != GIR_RNG_KEY;
}

static int64_t row_bytes(const gir_program *p, gir_id v)
{
    const gir_type *t = gir_type_of(p, v);
    return gir_row_elems(t) * (int64_t)gn_elem_size((gn_elem)t->elem);
}

/* Bytes a row of what v would be made again from, beyond what is there; true: more than `most`, or
 * too far to look. */
static bool takes_more(splitter *z, gir_id v, int64_t most, int64_t *bytes)
{
    const gir_node *n = gir_at(z->p, v);
    for (int k = 0; k < n->n_in; k++) {
        gir_id in = gir_in(z->p, v, k);
        const gir_node *from = gir_at(z->p, in);
        if (z->seen[in] || from->type.is_graph || z->keep[in]) continue;
        z->seen[in] = true;
        if (from->n_in == 0) continue; /* a leaf, or a number */
        gir_class cls = gir_ops[from->op].cls;
        bool through = cls == GIR_CLASS_VIEW || cls == GIR_CLASS_RANDOM ||
                       (cls == GIR_CLASS_MAP && !gn_is_function((gir_op)from->op));
        if (!through && from->type.space) *bytes += row_bytes(z->p, in);
        if (*bytes > most || --z->steps < 0) return true;
        if (through && takes_more(z, in, most, bytes)) return true;
    }
    return false;
}

static bool map_is_kept(splitter *z, gir_id v)
{
    enum { STEPS = 32 };
    const gir_node *n = gir_at(z->p, v);
    int64_t bytes = 0;
    if (z->p->spaces.p[n->type.space].kind == GIR_EDGE && n->type.space) return false;
    if (gn_is_function((gir_op)n->op)) return true;
    if (!n->type.space) return false;
    memset(z->seen, 0, z->p->nodes.n * sizeof *z->seen);
    z->steps = STEPS;
    return takes_more(z, v, row_bytes(z->p, v), &bytes);
}

/* Is v passed on, and not made again of what it comes of? */
static bool keeps(splitter *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (z->data[v]) return false;
    switch (gir_ops[n->op].cls) {
    case GIR_CLASS_LEAF: return n->op == GIR_STATE && is_updated(z->p, n->attr.name);
    case GIR_CLASS_VIEW:
    case GIR_CLASS_RANDOM: return false;
    case GIR_CLASS_MAP: return map_is_kept(z, v);
    case GIR_CLASS_EDGE:
        /* numbers of rows are known of NEAREST alone */
        return n->op != GIR_GATHER && n->op != GIR_TAKE && n->op != GIR_CELL &&
               n->op != GIR_ROW_VALUE && n->op != GIR_NEAREST && n->op != GIR_ROWS_AT;
    default: return true;
    }
}

/* The rest reads v. */
static void settle(splitter *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (z->late[v] || z->looked[v] || n->type.is_graph) return;
    z->looked[v] = true;
    z->keep[v] = keeps(z, v);
    for (int k = 0; k < n->n_in && !z->keep[v]; k++) settle(z, gir_in(z->p, v, k));
}

static bool is_gradient(const gir_output *o)
{
    return o->kind == GIR_OUTPUT && begins(o->name, GN_GRADIENT);
}

static gir_program *make_forward(const splitter *z, gn_arena *a)
{
    const gir_program *p = z->p;
    gir_program *to = gir_program_new(a, "forward");
    gir_id *map = GN_NEW_N(a, gir_id, p->nodes.n);
    gir_clone_frame(to, p);
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (!z->late[v]) map[v] = gir_clone_node(to, p, v, map);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (!is_gradient(o)) gir_output_add(to, o->kind, o->name, map[o->value]);
    }
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (z->keep[v]) gir_output_add(to, GIR_OUTPUT, gn_arena_printf(a, "kept.%u", v), map[v]);
    return to;
}

static gir_program *make_backward(const splitter *z, gn_arena *a)
{
    const gir_program *p = z->p;
    gir_program *to = gir_program_new(a, "backward");
    gir_id *map = GN_NEW_N(a, gir_id, p->nodes.n);
    gir_clone_frame(to, p);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        to->loc = gir_at(p, v)->loc;
        map[v] = z->keep[v]
                     ? gir_leaf(to, GIR_INPUT, gn_arena_printf(a, "kept.%u", v), gir_type_of(p, v))
                     : gir_clone_node(to, p, v, map);
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (is_gradient(o)) gir_output_add(to, o->kind, o->name, map[o->value]);
    }
    return to;
}

gn_status *gn_pass_split(gn_arena *a, const gir_program *in, gir_program **forward,
                         gir_program **backward)
{
    uint32_t n = in->nodes.n;
    splitter z = {.p = in};
    z.late = GN_NEW_N(a, bool, n);
    z.data = GN_NEW_N(a, bool, n);
    z.keep = GN_NEW_N(a, bool, n);
    z.looked = GN_NEW_N(a, bool, n);
    z.seen = GN_NEW_N(a, bool, n);
    for (gir_id v = 1; v < n; v++) {
        z.late[v] = is_late(&z, v);
        z.data[v] = is_data(&z, v);
    }
    for (gir_id v = 1; v < n; v++)
        for (int k = 0; k < gir_at(in, v)->n_in && z.late[v]; k++) settle(&z, gir_in(in, v, k));
    for (uint32_t k = 0; k < in->outputs.n; k++)
        if (is_gradient(&in->outputs.p[k])) settle(&z, in->outputs.p[k].value);
    GN_TRY(gn_pass_dce(a, make_forward(&z, a), forward));
    GN_TRY(gn_pass_dce(a, make_backward(&z, a), backward));
    GN_TRY(gir_verify(*forward));
    return gir_verify(*backward);
}
