/* Building a tensor-IR program: values, spaces, outputs. */
#include "ir/gir.h"

#include <string.h>

/* types ---------------------------------------------------------------------------------------- */

/* values --------------------------------------------------------------------------------------- */

/* Keeps what the operator uses and clears the rest, so that equal values have equal attributes. */
static gir_attr used_attr(gir_op op, const gir_attr *attr)
{
    gir_attr out = {0};
    if (!attr) return out;
    const char *at = gir_ops[op].attrs;
    for (int k = 0; *at; k++) {
        size_t n = strcspn(at, " ");
        if (n == 4 && memcmp(at, "name", n) == 0)
            out.name = attr->name;
        else if (n == 5 && memcmp(at, "value", n) == 0)
            out.f = attr->f;
        else if (*at != '-' && k < 4)
            out.i[k] = attr->i[k];
        at += n + (at[n] == ' ');
    }
    return out;
}

gir_id gir_append(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                  const gir_type *type)
{
    gir_node node = {
        .op = (uint16_t)op, .n_in = (uint16_t)n, .first_in = p->operands.n, .loc = p->loc};
    node.type = *type;
    node.attr = used_attr(op, attr);
    gir_id id = p->nodes.n;
    for (int k = 0; k < n; k++) GN_PUSH(p->arena, p->operands, in[k]);
    GN_PUSH(p->arena, p->nodes, node);
    if (node.type.is_graph && node.type.edge < p->spaces.n) {
        gir_space *edge = &p->spaces.p[node.type.edge];
        if (edge->kind == GIR_EDGE && edge->graph == 0) edge->graph = id;
    }
    if (gir_makes_rows(&node) && node.type.dst < p->spaces.n &&
        p->spaces.p[node.type.dst].graph == 0)
        p->spaces.p[node.type.dst].graph = id;
    return id;
}

gir_id gir_make(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                const gir_type *want, const char **why)
{
    gir_type out = {0};
    const char *reason = NULL;
    if (!gir_infer(p, op, n, in, attr, want, &out, &reason)) {
        if (why) *why = reason;
        return 0;
    }
    return gir_append(p, op, n, in, attr, &out);
}

/* Makes a value, or an invalid one that carries the reason to the verifier. */
static gir_id must(gir_program *p, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                   const gir_type *want)
{
    const char *why = NULL;
    gir_id v = gir_make(p, op, n, in, attr, want, &why);
    if (v) return v;
    gir_type t = want && !want->is_graph ? *want : gir_tensor(GN_F32, 0, 0, NULL);
    v = gir_append(p, GIR_INVALID, 0, NULL, NULL, &t);
    gir_at(p, v)->attr.name = why;
    return v;
}

gir_id gir_op1(gir_program *p, gir_op op, gir_id a) { return must(p, op, 1, &a, NULL, NULL); }

gir_id gir_op2(gir_program *p, gir_op op, gir_id a, gir_id b)
{
    return must(p, op, 2, (const gir_id[]){a, b}, NULL, NULL);
}

gir_id gir_op3(gir_program *p, gir_op op, gir_id a, gir_id b, gir_id c)
{
    return must(p, op, 3, (const gir_id[]){a, b, c}, NULL, NULL);
}

gir_id gir_const(gir_program *p, const gir_type *t, double value)
{
    return must(p, GIR_CONST, 0, NULL, &(gir_attr){.f = value}, t);
}

gir_id gir_cast(gir_program *p, gir_id a, gn_elem e)
{
    gir_type t = *gir_type_of(p, a);
    if (t.elem == e) return a;
    t.elem = (uint8_t)e;
    return must(p, GIR_CAST, 1, &a, NULL, &t);
}

gir_id gir_broadcast(gir_program *p, gir_id a, const gir_type *to)
{
    if (gir_type_eq(gir_type_of(p, a), to)) return a;
    gir_type t = *to;
    return must(p, GIR_BROADCAST, 1, &a, NULL, &t);
}

gir_id gir_reshape(gir_program *p, gir_id a, int rank, const int64_t *dim)
{
    gir_type t = gir_tensor((gn_elem)gir_type_of(p, a)->elem, gir_type_of(p, a)->space, rank, dim);
    if (gir_type_eq(gir_type_of(p, a), &t)) return a;
    return must(p, GIR_RESHAPE, 1, &a, NULL, &t);
}

gir_id gir_transpose(gir_program *p, gir_id a)
{
    gir_attr swap = {.i = {0x01}};
    return gir_make(p, GIR_TRANSPOSE, 1, &a, &swap, NULL, NULL);
}

gir_id gir_reduce(gir_program *p, gir_id a, int red, int64_t axes)
{
    if (axes == 0) return a;
    return must(p, GIR_REDUCE, 1, &a, &(gir_attr){.i = {red, axes}}, NULL);
}

gir_id gir_space_reduce(gir_program *p, gir_id a, int red)
{
    return must(p, GIR_SPACE_REDUCE, 1, &a, &(gir_attr){.i = {red}}, NULL);
}

gir_id gir_gather(gir_program *p, gir_id g, gir_id x, int end)
{
    return must(p, GIR_GATHER, 2, (const gir_id[]){g, x}, &(gir_attr){.i = {end}}, NULL);
}

gir_id gir_scatter(gir_program *p, gir_id g, gir_id e, int end, int red)
{
    return must(p, GIR_SCATTER, 2, (const gir_id[]){g, e}, &(gir_attr){.i = {end, red}}, NULL);
}

gir_id gir_matmul(gir_program *p, gir_id a, gir_id b, bool ta, bool tb)
{
    return must(p, GIR_MATMUL, 2, (const gir_id[]){a, b}, &(gir_attr){.i = {ta, tb}}, NULL);
}

gir_id gir_grow(gir_program *p, gir_id r, gir_id g, gir_id s, int end)
{
    const gir_id in[3] = {r ? r : g, g, s};
    return must(p, GIR_GROW, !r ? 1 : s ? 3 : 2, in, &(gir_attr){.i = {end}}, NULL);
}

gir_id gir_ends(gir_program *p, gir_id g, gir_id s, int ends)
{
    return must(p, GIR_ENDS, s ? 2 : 1, (const gir_id[]){g, s}, &(gir_attr){.i = {ends}}, NULL);
}

gir_id gir_filter(gir_program *p, gir_id g, gir_id mask)
{
    return must(p, GIR_FILTER, 2, (const gir_id[]){g, mask}, NULL, NULL);
}

gir_id gir_index(gir_program *p, gir_id i, gir_space_id of)
{
    return must(p, GIR_INDEX, 1, &i, &(gir_attr){.i = {of}}, NULL);
}

gir_id gir_group_rows(gir_program *p, gir_id h)
{
    return must(p, GIR_GROUP_ROWS, 2, (const gir_id[]){h, gir_in(p, h, 0)}, NULL, NULL);
}

gir_id gir_group_numbers(gir_program *p, gir_id h, gir_space_id of)
{
    const gir_id in[3] = {h, gir_in(p, h, 0), gir_in(p, h, 1)};
    return must(p, GIR_GROUP_NUMBERS, 3, in, &(gir_attr){.i = {of}}, NULL);
}

gir_id gir_without(gir_program *p, gir_id g, gir_id h, bool either)
{
    return must(p, GIR_WITHOUT, 2, (const gir_id[]){g, h}, &(gir_attr){.i = {either}}, NULL);
}

gir_id gir_sample(gir_program *p, gir_id g, gir_id key, int64_t most, uint32_t site)
{
    return must(p, GIR_SAMPLE, 2, (const gir_id[]){g, key}, &(gir_attr){.i = {most, site}}, NULL);
}

gir_id gir_draw(gir_program *p, gir_id g, gir_id key, gir_id r, const gir_drawing *how)
{
    gir_id in[5] = {g, key, r};
    int n = 3;
    if (how->weight) in[n++] = how->weight;
    if (how->time) in[n++] = how->time;
    return must(p, GIR_DRAW, n, in, &(gir_attr){.i = {how->most, how->site, how->loops, how->how}},
                NULL);
}

gir_id gir_corrupt(gir_program *p, gir_id g, gir_id key, int64_t times, int end, uint32_t site)
{
    return must(p, GIR_CORRUPT, 2, (const gir_id[]){g, key}, &(gir_attr){.i = {times, end, site}},
                NULL);
}

gir_id gir_leaf(gir_program *p, gir_op op, const char *name, const gir_type *t)
{
    return must(p, op, 0, NULL, &(gir_attr){.name = gn_arena_strdup(p->arena, name)}, t);
}

gir_id gir_graph(gir_program *p, const char *name, gir_space_id src, gir_space_id dst)
{
    gir_type t = {
        .is_graph = 1, .src = src, .dst = dst, .edge = gir_space_add(p, "edge", GIR_EDGE, -1)};
    return gir_leaf(p, GIR_GRAPH, name, &t);
}

gir_id gir_leaf_by_name(const gir_program *p, gir_op op, const char *name)
{
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op == op && n->attr.name && strcmp(n->attr.name, name) == 0) return v;
    }
    return 0;
}

void gir_output_add(gir_program *p, gir_output_kind kind, const char *name, gir_id value)
{
    GN_PUSH(p->arena, p->outputs, ((gir_output){kind, gn_arena_strdup(p->arena, name), value}));
}

const gir_output *gir_result(const gir_program *p, int k)
{
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        const gir_output *o = &p->outputs.p[i];
        if (o->kind == GIR_OUTPUT && strcmp(o->name, "loss") != 0 && k-- == 0) return o;
    }
    return NULL;
}

gir_id gir_space_source(const gir_program *p, gir_space_id s)
{
    const gir_space *space = &p->spaces.p[s];
    if (space->kind == GIR_EDGE || space->graph) return space->graph;
    if (space->size >= 0) return 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op == GIR_GRAPH && (n->type.src == s || n->type.dst == s)) return v;
        if (n->op == GIR_INPUT && n->type.space == s) return v;
    }
    return 0;
}

uint32_t *gir_count_uses(gn_arena *a, const gir_program *p)
{
    uint32_t *uses = GN_NEW_N(a, uint32_t, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++)
        for (int k = 0; k < gir_at(p, v)->n_in; k++) uses[gir_in(p, v, k)]++;
    for (uint32_t k = 0; k < p->outputs.n; k++) uses[p->outputs.p[k].value]++;
    return uses;
}

bool gir_is_number(const gir_program *p, gir_id v, double *x)
{
    if (gir_at(p, v)->op != GIR_CONST) return false;
    *x = gir_at(p, v)->attr.f;
    return true;
}

bool gir_is_zero(const gir_program *p, gir_id v)
{
    double x;
    return gir_is_number(p, v, &x) && x == 0;
}

/* copying -------------------------------------------------------------------------------------- */

void gir_clone_frame(gir_program *to, const gir_program *from)
{
    to->spaces.n = 0;
    for (uint32_t k = 0; k < from->spaces.n; k++) {
        gir_space s = from->spaces.p[k];
        s.graph = 0; /* set when the graph is copied */
        GN_PUSH(to->arena, to->spaces, s);
    }
    to->files.n = 0;
    for (uint32_t k = 0; k < from->files.n; k++) GN_PUSH(to->arena, to->files, from->files.p[k]);
    to->layers.n = 0;
    for (uint32_t k = 0; k < from->layers.n; k++) GN_PUSH(to->arena, to->layers, from->layers.p[k]);
    to->bodies.n = 0;
    for (uint32_t k = 0; k < from->bodies.n; k++) GN_PUSH(to->arena, to->bodies, from->bodies.p[k]);
}

void gir_clone_outputs(gir_program *to, const gir_program *from, const gir_id *map)
{
    for (uint32_t k = 0; k < from->outputs.n; k++)
        gir_output_add(to, from->outputs.p[k].kind, from->outputs.p[k].name,
                       map[from->outputs.p[k].value]);
}

gir_id gir_clone_node(gir_program *to, const gir_program *from, gir_id v, const gir_id *map)
{
    const gir_node *n = gir_at(from, v);
    gir_id *in = GN_NEW_N(to->arena, gir_id, n->n_in);
    for (int k = 0; k < n->n_in; k++) in[k] = map[gir_in(from, v, k)];
    gir_loc loc = to->loc;
    to->loc = n->loc;
    gir_id id = gir_append(to, (gir_op)n->op, n->n_in, in, &n->attr, &n->type);
    to->loc = loc;
    return id;
}

gir_program *gir_clone(gn_arena *a, const gir_program *from)
{
    gir_program *to = gir_program_new(a, from->name);
    gir_clone_frame(to, from);
    gir_id *same = GN_NEW_N(a, gir_id, from->nodes.n);
    for (gir_id v = 1; v < from->nodes.n; v++) {
        same[v] = v;
        gir_clone_node(to, from, v, same);
    }
    for (uint32_t k = 0; k < from->outputs.n; k++) GN_PUSH(a, to->outputs, from->outputs.p[k]);
    return to;
}
