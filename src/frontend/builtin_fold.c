/* Built-in functions: a recurrence along the edges into each row.
 *
 * The step is called once, with rows in the place of edges, and what it made of them is taken
 * apart.  What hangs on the message alone is made again for all edges, ahead of the recurrence;
 * what hangs on states is a body of scalars, channel by channel, around products of states with
 * matrices. */
#include "frontend/builtin.h"

#include <string.h>

enum { BY_EDGE = 1, BY_STATE = 2, MOST_GROUPS = 64, MOST_STATES = 16 };

typedef struct leaf { /* what the body reads, groups of d numbers from `base` on */
    gir_id of, made;
    int64_t base;
} leaf;

typedef struct tracer {
    elab *E;
    const builtin_call *c;
    gir_program *p, *body;
    gir_id graph, x, x_at;    /* the message, and what stands for it */
    gir_id s_at[MOST_STATES]; /* what stands for the states */
    int64_t s_base[MOST_STATES];
    int states;
    int64_t d, n;
    gir_id first;                     /* made by the step */
    uint8_t *hangs;                   /* by value: on what */
    gir_id *edge, *rowless, **scalar; /* by value: made again; [groups] of the body */
    GN_VEC(leaf) xs;
    GN_VEC(leaf) cs;
    GN_VEC(leaf) products;
    int64_t n_x, n_c, n_p, depth; /* groups; of what is multiplied */
    bool failed;
} tracer;

static gir_id fail(tracer *z, gir_id v, const char *why)
{
    const gir_loc *at = v ? &gir_at(z->p, v)->loc : NULL;
    if (!z->failed)
        el_error(z->E, z->c->span[1], "`fold` cannot take this step apart%s: %s",
                 at && at->line
                     ? gn_arena_printf(z->E->arena, ", at %s:%u", z->p->files.p[at->file], at->line)
                     : "",
                 why);
    z->failed = true;
    return 0;
}

static int64_t groups_of(const tracer *z, gir_id v)
{
    return gir_row_elems(gir_type_of(z->p, v)) / z->d;
}

/* Values made again ---------------------------------------------------------------------------- */

static bool is_by_row(gir_op op)
{
    gir_class cls = gir_ops[op].cls;
    bool view = cls == GIR_CLASS_VIEW && op != GIR_TO_ROWS && op != GIR_FROM_ROWS;
    return cls == GIR_CLASS_MAP || view || op == GIR_REDUCE || op == GIR_CONST;
}

/* v of other rows, with those operands. */
static gir_id again(tracer *z, gir_id v, const gir_id *in, gir_space_id rows)
{
    const gir_node n = *gir_at(z->p, v);
    gir_type t = n.type;
    t.space = rows;
    gir_id made = gir_make(z->p, (gir_op)n.op, n.n_in, in, &n.attr, &t, NULL);
    return made ? made : fail(z, v, "it has other rows than the message");
}

/* The value without rows, where all rows have the same; 0: they may not. */
static gir_id without_rows(tracer *z, gir_id v)
{
    const gir_node n = *gir_at(z->p, v);
    if (!n.type.space) return v;
    if (v < z->first || z->rowless[v] || !is_by_row((gir_op)n.op)) return z->rowless[v];
    gir_id in[8] = {0};
    if (n.n_in > 8 || z->hangs[v]) return 0;
    for (int k = 0; k < n.n_in; k++)
        if (!(in[k] = without_rows(z, gir_in(z->p, v, k)))) return 0;
    gir_type t = n.type;
    t.space = 0;
    return z->rowless[v] = gir_make(z->p, (gir_op)n.op, n.n_in, in, &n.attr, &t, NULL);
}

/* The value for each edge. */
static gir_id by_edge(tracer *z, gir_id v)
{
    const gir_node n = *gir_at(z->p, v);
    gir_type t = n.type;
    gir_id in[8] = {0}, same;
    if (v == z->x_at) return z->x;
    if (!n.type.space && !z->hangs[v]) return v;
    if (!n.type.space) return fail(z, v, "it reads other rows than the edge's own");
    if (z->edge[v]) return z->edge[v];
    t.space = gir_type_of(z->p, z->graph)->edge;
    if (!z->hangs[v]) {
        same = without_rows(z, v);
        return z->edge[v] = same ? gir_broadcast(z->p, same, &t)
                                 : gir_gather(z->p, z->graph, v, GIR_DST);
    }
    bool product = n.op == GIR_MATMUL && !gir_type_of(z->p, gir_in(z->p, v, 1))->space;
    if (n.n_in > 8 || !(is_by_row((gir_op)n.op) || product || n.op == GIR_RANDOM))
        return fail(z, v, "it reads other rows than the edge's own");
    for (int k = 0; k < n.n_in; k++)
        if (!(in[k] = by_edge(z, gir_in(z->p, v, k)))) return 0;
    return z->edge[v] = again(z, v, in, t.space);
}

/* What hangs on what --------------------------------------------------------------------------- */

static void find_hanging(tracer *z)
{
    uint32_t n = z->p->nodes.n;
    gn_arena *a = z->E->arena;
    z->hangs = GN_NEW_N(a, uint8_t, n);
    z->edge = GN_NEW_N(a, gir_id, n);
    z->rowless = GN_NEW_N(a, gir_id, n);
    z->scalar = GN_NEW_N(a, gir_id *, n);
    z->hangs[z->x_at] = BY_EDGE;
    for (int k = 0; k < z->states; k++) z->hangs[z->s_at[k]] = BY_STATE;
    for (gir_id v = z->first; v < n; v++) {
        const gir_node *node = gir_at(z->p, v);
        if (node->op == GIR_RANDOM && node->type.space) z->hangs[v] = BY_EDGE; /* drawn for each */
        for (int k = 0; k < node->n_in; k++) z->hangs[v] |= z->hangs[gir_in(z->p, v, k)];
    }
}

/* The body ------------------------------------------------------------------------------------- */

static gir_type scalar_of(gn_elem e) { return gir_tensor(e, 0, 0, NULL); }

static gir_id body_input(tracer *z, char kind, int64_t k)
{
    const char *name = gn_arena_printf(z->E->arena, "%c%lld", kind, (long long)k);
    gir_type t = scalar_of(GN_F32);
    gir_id v = gir_leaf_by_name(z->body, GIR_INPUT, name);
    return v ? v : gir_leaf(z->body, GIR_INPUT, name, &t);
}

/* Group `group` of what does not hang on states. */
static gir_id read_leaf(tracer *z, gir_id v, int64_t group)
{
    gir_type t = *gir_type_of(z->p, v);
    gir_id same = z->hangs[v] ? 0 : without_rows(z, v), of = same;
    while (of && gir_at(z->p, of)->op == GIR_BROADCAST) of = gir_in(z->p, of, 0);
    double number;
    gir_type scalar = scalar_of((gn_elem)t.elem);
    if (of && gir_is_number(z->p, of, &number)) return gir_const(z->body, &scalar, number);
    gir_id made = same ? same : by_edge(z, v);
    if (!made) return 0;
    bool mask = t.elem == GN_BOOL;
    if (!mask && t.elem != GN_F32) return fail(z, v, "its states come of floats and masks alone");
    int64_t *n = same ? &z->n_c : &z->n_x, base = *n;
    leaf *l = same ? z->cs.p : z->xs.p;
    uint32_t k = 0, count = same ? z->cs.n : z->xs.n;
    while (k < count && l[k].of != v) k++;
    if (k == count) {
        leaf new = {v, gir_cast(z->p, made, GN_F32), base};
        if (same)
            GN_PUSH(z->E->arena, z->cs, new);
        else
            GN_PUSH(z->E->arena, z->xs, new);
        *n += groups_of(z, v);
    } else {
        base = l[k].base;
    }
    gir_id in = body_input(z, same ? 'c' : 'x', base + group);
    if (!mask) return in;
    gir_type number_type = scalar_of(GN_F32);
    return gir_op2(z->body, GIR_NE, in, gir_const(z->body, &number_type, 0));
}

/* Where element `at` of a view's row comes from: of which operand, and which element. */
static int64_t moved(const gir_program *p, gir_id v, int64_t at, int *operand)
{
    const gir_node *n = gir_at(p, v);
    int64_t index[GIR_MAX_RANK] = {0}, from = 0;
    int axis = (int)n->attr.i[0];
    *operand = 0;
    if (n->op == GIR_RESHAPE) return at;
    for (int k = n->type.rank; k-- > 0; at /= n->type.dim[k]) index[k] = at % n->type.dim[k];
    if (n->op == GIR_SLICE) index[axis] += n->attr.i[1];
    if (n->op == GIR_PAD) index[axis] -= n->attr.i[1];
    if (n->op == GIR_CONCAT)
        while (index[axis] >= gir_type_of(p, gir_in(p, v, *operand))->dim[axis])
            index[axis] -= gir_type_of(p, gir_in(p, v, (*operand)++))->dim[axis];
    const gir_type *t = gir_type_of(p, gir_in(p, v, *operand));
    if (n->op == GIR_PAD && (index[axis] < 0 || index[axis] >= t->dim[axis])) return -1;
    int64_t turned[GIR_MAX_RANK] = {0};
    for (int k = 0; k < t->rank; k++) turned[k] = index[n->type.rank - t->rank + k];
    if (n->op == GIR_TRANSPOSE)
        for (int k = 0; k < t->rank; k++) turned[n->attr.i[0] >> 4 * k & 15] = index[k];
    for (int k = 0; k < t->rank; k++) from = from * t->dim[k] + (t->dim[k] == 1 ? 0 : turned[k]);
    return from;
}

static gir_id scalar(tracer *z, gir_id v, int64_t group);

/* Does a view take the whole group from one place?  *from: which element of its operand is the
 * first, -1 for zeros. */
static bool moves_whole(const tracer *z, gir_id v, int64_t group, int *operand, int64_t *from)
{
    int other;
    *from = moved(z->p, v, group * z->d, operand);
    bool whole = *from < 0 || *from % z->d == 0;
    for (int64_t k = 1; whole && k < z->d; k++)
        whole = moved(z->p, v, group * z->d + k, &other) == (*from < 0 ? -1 : *from + k) &&
                (*from < 0 || other == *operand);
    return whole;
}

/* A view moves whole groups, each from one place. */
static gir_id through_view(tracer *z, gir_id v, int64_t group)
{
    int operand;
    int64_t from;
    bool whole = moves_whole(z, v, group, &operand, &from);
    gir_type t = scalar_of((gn_elem)gir_type_of(z->p, v)->elem);
    if (whole && from < 0) return gir_const(z->body, &t, 0);
    if (!whole)
        return fail(z, v, "what it makes of states goes channel by channel, in their last axis");
    return scalar(z, gir_in(z->p, v, operand), from / z->d);
}

static gir_id through_product(tracer *z, gir_id v, int64_t group)
{
    gir_id a = gir_in(z->p, v, 0), w = gir_in(z->p, v, 1);
    int64_t k = groups_of(z, a);
    for (uint32_t i = 0; i < z->products.n; i++)
        if (z->products.p[i].of == v) return body_input(z, 'p', z->products.p[i].base + group);
    if (z->hangs[w] || gir_type_of(z->p, w)->space)
        return fail(z, v, "a product is of states with a matrix");
    if (gir_row_elems(gir_type_of(z->p, v)) % z->d || gir_row_elems(gir_type_of(z->p, a)) % z->d)
        return fail(z, v,
                    "a product gives as many numbers as the states have channels, or several "
                    "times that");
    for (int64_t i = 0; i < k; i++)
        if (scalar(z, a, i) != body_input(z, 's', i) || (z->depth && z->depth != k))
            return fail(z, v, "what is multiplied are the states themselves, the first of them");
    z->depth = k;
    leaf new = {v, gir_at(z->p, v)->attr.i[1] ? gir_transpose(z->p, w) : w, z->n_p};
    GN_PUSH(z->E->arena, z->products, new);
    z->n_p += groups_of(z, v);
    return body_input(z, 'p', new.base + group);
}

/* Is the group one of a value that is made anyway? */
static bool is_part(const tracer *z, gir_id v, int64_t group)
{
    const gir_node *n = gir_at(z->p, v);
    int operand;
    int64_t from;
    return v >= z->first && (n->op == GIR_SLICE || n->op == GIR_RESHAPE) &&
           gir_row_elems(gir_type_of(z->p, gir_in(z->p, v, 0))) % z->d == 0 &&
           moves_whole(z, v, group, &operand, &from);
}

static gir_id scalar_now(tracer *z, gir_id v, int64_t group)
{
    const gir_node n = *gir_at(z->p, v);
    gir_id in[3] = {0};
    for (int k = 0; k < z->states; k++)
        if (v == z->s_at[k]) return body_input(z, 's', z->s_base[k] + group);
    if (!(z->hangs[v] & BY_STATE))
        return is_part(z, v, group) ? through_view(z, v, group) : read_leaf(z, v, group);
    if (gir_ops[n.op].cls == GIR_CLASS_VIEW) return through_view(z, v, group);
    if (n.op == GIR_MATMUL) return through_product(z, v, group);
    if (gir_ops[n.op].cls != GIR_CLASS_MAP)
        return fail(z, v,
                    "it makes of states, channel by channel, and products aside, what it "
                    "does not do element by element");
    for (int k = 0; k < n.n_in; k++)
        if (!(in[k] = scalar(z, gir_in(z->p, v, k), group))) return 0;
    gir_type t = scalar_of((gn_elem)n.type.elem);
    return gir_make(z->body, (gir_op)n.op, n.n_in, in, &n.attr, &t, NULL);
}

/* Group `group` of v as a value of the body; 0: it failed. */
static gir_id scalar(tracer *z, gir_id v, int64_t group)
{
    int64_t n = groups_of(z, v);
    if (z->failed) return 0;
    if (n < 1 || n > MOST_GROUPS || gir_row_elems(gir_type_of(z->p, v)) % z->d)
        return fail(z, v, "what it makes of states has their channels as its last axis");
    if (!z->scalar[v]) z->scalar[v] = GN_NEW_N(z->E->arena, gir_id, n);
    if (!z->scalar[v][group]) z->scalar[v][group] = scalar_now(z, v, group);
    return z->scalar[v][group];
}

/* The call ------------------------------------------------------------------------------------- */

static bool wrong_states(tracer *z, const value *v)
{
    el_error(
        z->E, z->c->span[2],
        "`fold` takes states as floats of the rows that edges go into, or one for all of them, "
        "as wide as each other in their last axis, not %s",
        val_text(z->E, v));
    return false;
}

/* The state as rows have it. */
static bool take_state(tracer *z, value *v)
{
    gir_space_id to = gir_type_of(z->p, z->graph)->dst;
    gir_type t = v->kind == VAL_TENSOR ? *val_type(z->E, v) : gir_tensor(GN_BOOL, 0, 0, NULL);
    int64_t d = t.rank ? t.dim[t.rank - 1] : 1;
    bool rows = t.space == to || !t.space;
    if (t.elem != GN_F32 || !rows || (z->states && d != z->d)) return wrong_states(z, v);
    z->d = d;
    t.space = to;
    v->id = gir_broadcast(z->p, v->id, &t);
    z->s_base[z->states] = z->n;
    z->n += gir_row_elems(&t) / d;
    return true;
}

/* A value of its own of that type, which stands for another. */
static gir_id stand_in(tracer *z, gir_id edges)
{
    gir_type t = *gir_type_of(z->p, edges);
    t.space = gir_type_of(z->p, z->graph)->dst;
    const gir_id in[3] = {z->graph, edges, gir_const(z->p, &t, 0)};
    return gir_make(z->p, GIR_OUTER, 3, in, NULL, NULL, NULL);
}

/* Calls the step with what stands for the message and the states; *out: what it makes of these. */
static bool call_step(tracer *z, const value *states, gir_id *out)
{
    elab *E = z->E;
    const builtin_call *c = z->c;
    el_arg *args = GN_NEW_N(E->arena, el_arg, z->states + 1);
    z->x_at = stand_in(z, z->x);
    args[0] = (el_arg){.v = val_tensor(z->x_at, c->arg[0].u.axes), .span = c->span[0]};
    for (int k = 0; k < z->states; k++) {
        z->s_at[k] = stand_in(z, gir_gather(z->p, z->graph, states[k].id, GIR_DST));
        args[k + 1] = (el_arg){.v = val_tensor(z->s_at[k], states[k].u.axes), .span = c->span[2]};
    }
    z->first = z->p->nodes.n;
    value r = el_call_value(E, c->arg[1], (uint32_t)z->states + 1, args, c->mark);
    if (r.kind == VAL_POISON) return false;
    uint32_t n = r.kind == VAL_LIST ? r.u.list->n : 1;
    bool fits = n == (uint32_t)z->states;
    for (uint32_t k = 0; fits && k < n; k++) {
        const value *v = r.kind == VAL_LIST ? &r.u.list->p[k] : &r;
        const gir_type *want = gir_type_of(z->p, states[k].id);
        fits = v->kind == VAL_TENSOR && val_type(E, v)->elem == GN_F32 &&
               val_type(E, v)->rank == want->rank &&
               !memcmp(val_type(E, v)->dim, want->dim, (size_t)want->rank * sizeof *want->dim);
        if (fits) out[k] = v->id;
    }
    if (!fits)
        el_error(E, c->span[1],
                 "the step of `fold` makes %s of %s: it gives as many states as it "
                 "takes, each of the same shape",
                 val_text(E, &r), val_text(E, &c->arg[2]));
    return fits;
}

/* Values of several rows of channels as one. */
static gir_id beside_each_other(tracer *z, const gir_id *v, uint32_t n, int axis)
{
    if (n == 1) return v[0];
    return gir_make(z->p, GIR_CONCAT, (int)n, v, &(gir_attr){.i = {axis}}, NULL, NULL);
}

static gir_id channels(tracer *z, gir_id v)
{
    int64_t dim[2] = {groups_of(z, v), z->d};
    return gir_reshape(z->p, v, 2, dim);
}

/* The recurrence itself: what the states are behind each edge. */
static gir_id make_scan(tracer *z, gir_id s)
{
    gir_id *in = GN_NEW_N(z->E->arena, gir_id, z->xs.n + 4),
           *part = GN_NEW_N(z->E->arena, gir_id, z->cs.n + z->products.n + 1);
    int n = 0;
    in[n++] = z->graph;
    in[n++] = s;
    for (uint32_t k = 0; k < z->products.n; k++) part[k] = z->products.p[k].made;
    if (z->products.n) in[n++] = beside_each_other(z, part, z->products.n, 1);
    for (uint32_t k = 0; k < z->cs.n; k++) part[k] = channels(z, z->cs.p[k].made);
    if (z->cs.n) in[n++] = beside_each_other(z, part, z->cs.n, 0);
    for (uint32_t k = 0; k < z->xs.n; k++) in[n++] = channels(z, z->xs.p[k].made);
    gir_attr attr = {.i = {gir_body(z->p, z->body), 0, z->products.n > 0, z->cs.n > 0}};
    return el_make(z->E, z->c->mark, GIR_SCAN, n, in, &attr, NULL);
}

static bool make_body(tracer *z, const gir_id *out)
{
    find_hanging(z);
    z->body = gir_program_new(z->p->arena, "step");
    for (int k = 0; k < z->states; k++)
        for (int64_t j = 0; j < groups_of(z, z->s_at[k]); j++) {
            gir_id v = scalar(z, out[k], j);
            if (!v) return false;
            gir_output_add(z->body, GIR_OUTPUT,
                           gn_arena_printf(z->E->arena, "s%lld", (long long)(z->s_base[k] + j)), v);
        }
    return true;
}

static value part_of(tracer *z, gir_id all, int k, const value *state)
{
    gir_type t = *gir_type_of(z->p, all), own = *gir_type_of(z->p, state->id);
    t.dim[0] = groups_of(z, state->id);
    gir_id v = gir_make(z->p, GIR_SLICE, 1, &all, &(gir_attr){.i = {0, z->s_base[k]}}, &t, NULL);
    return val_tensor(gir_reshape(z->p, v, own.rank, own.dim), state->u.axes);
}

/* States along the edges into each row. */
value builtin_fold(elab *E, const builtin_call *c)
{
    bool each;
    if (!builtin_float_tensor(E, c, 0) || !builtin_bool(E, c, 3, false, &each)) return POISON;
    const gir_type *x = val_type(E, &c->arg[0]);
    tracer z = {.E = E, .c = c, .p = E->prog, .x = c->arg[0].id};
    if (E->prog->spaces.p[x->space].kind != GIR_EDGE)
        return el_error(E, c->span[0], "`fold` goes along a value of edges, not %s",
                        val_text(E, &c->arg[0]));
    z.graph = E->prog->spaces.p[x->space].graph;
    bool list = c->arg[2].kind == VAL_LIST;
    uint32_t n = list ? c->arg[2].u.list->n : 1;
    if (n < 1 || n > MOST_STATES)
        return el_error(E, c->span[2], "`fold` takes 1 to %d states, not %u", (int)MOST_STATES, n);
    value state[MOST_STATES];
    gir_id out[MOST_STATES], part[MOST_STATES];
    for (; (uint32_t)z.states < n; z.states++) {
        state[z.states] = list ? c->arg[2].u.list->p[z.states] : c->arg[2];
        if (!take_state(&z, &state[z.states])) return POISON;
    }
    if (z.n > MOST_GROUPS)
        return el_error(E, c->span[2], "`fold` takes states of %d channels each at most",
                        (int)MOST_GROUPS);
    if (!call_step(&z, state, out) || !make_body(&z, out)) return POISON;
    for (int k = 0; k < z.states; k++) part[k] = channels(&z, state[k].id);
    gir_id s = beside_each_other(&z, part, n, 0), all = make_scan(&z, s);
    if (!all) return POISON;
    const gir_id last[3] = {z.graph, all, s};
    if (!each) all = gir_make(z.p, GIR_OUTER, 3, last, &(gir_attr){.i = {1}}, NULL, NULL);
    if (!list) return part_of(&z, all, 0, &state[0]);
    value r = val_list(E, n);
    for (int k = 0; k < z.states; k++) r.u.list->p[k] = part_of(&z, all, k, &state[k]);
    return el_list_done(E, c->mark, r);
}
