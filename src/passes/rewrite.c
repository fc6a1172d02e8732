#include "passes/rewrite.h"

#include "base/map.h"

#include <string.h>

gn_rewrite gn_rewrite_new(gn_arena *a, const gir_program *from)
{
    gn_rewrite r = {.from = from, .to = gir_program_new(a, from->name), .n_slots = 64};
    gir_clone_frame(r.to, from);
    r.map = GN_NEW_N(a, gir_id, from->nodes.n);
    r.space = GN_NEW_N(a, gir_space_id, from->spaces.n);
    for (uint32_t s = 0; s < from->spaces.n; s++) r.space[s] = (gir_space_id)s;
    while (r.n_slots < 2 * from->nodes.n) r.n_slots *= 2;
    r.slots = GN_NEW_N(a, gir_id, r.n_slots);
    return r;
}

/* equal values --------------------------------------------------------------------------------- */

static bool commutes(gir_op op)
{
    return op == GIR_ADD || op == GIR_MUL || op == GIR_MAX || op == GIR_MIN || op == GIR_EQ ||
           op == GIR_NE || op == GIR_AND || op == GIR_OR;
}

/* Does an operator's result have a type that other values cannot have: spaces of its own? */
static bool makes_spaces(gir_op op)
{
    return op == GIR_GRAPH || gir_ops[op].cls == GIR_CLASS_GRAPH;
}

static uint64_t hash_of(gir_op op, int n, const gir_id *in, const gir_attr *attr,
                        const gir_type *type)
{
    uint64_t h = gn_hash_bytes(&op, sizeof op, 0);
    if (commutes(op)) {
        uint32_t pair[2] = {in[0] < in[1] ? in[0] : in[1], in[0] < in[1] ? in[1] : in[0]};
        h = gn_hash_bytes(pair, sizeof pair, h);
    } else {
        h = gn_hash_bytes(in, (size_t)n * sizeof *in, h);
    }
    h = gn_hash_bytes(attr->i, sizeof attr->i, h);
    h = gn_hash_bytes(&attr->f, sizeof attr->f, h);
    if (attr->name) h = gn_hash_bytes(attr->name, strlen(attr->name), h);
    if (makes_spaces(op)) return h;
    h = gn_hash_bytes(type->dim, type->rank * sizeof *type->dim, h);
    return gn_hash_bytes(&type->space, sizeof type->space, h + type->elem);
}

static bool same_operands(const gir_program *p, gir_id v, gir_op op, int n, const gir_id *in)
{
    if (gir_at(p, v)->n_in != n) return false;
    bool same = true;
    for (int k = 0; k < n; k++) same = same && gir_in(p, v, k) == in[k];
    return same || (commutes(op) && gir_in(p, v, 0) == in[1] && gir_in(p, v, 1) == in[0]);
}

static bool same_value(const gir_program *p, gir_id v, gir_op op, int n, const gir_id *in,
                       const gir_attr *attr, const gir_type *type)
{
    const gir_node *node = gir_at(p, v);
    if (node->op != op || !same_operands(p, v, op, n, in)) return false;
    if (memcmp(node->attr.i, attr->i, sizeof attr->i) != 0 ||
        memcmp(&node->attr.f, &attr->f, sizeof attr->f) != 0)
        return false;
    if ((node->attr.name == NULL) != (attr->name == NULL) ||
        (attr->name && strcmp(node->attr.name, attr->name) != 0))
        return false;
    if (op == GIR_GRAPH) return node->type.src == type->src && node->type.dst == type->dst;
    return makes_spaces(op) || gir_type_eq(&node->type, type);
}

static void insert(gn_rewrite *r, gir_id v, uint64_t hash)
{
    uint32_t k = (uint32_t)hash & (r->n_slots - 1);
    while (r->slots[k]) k = (k + 1) & (r->n_slots - 1);
    r->slots[k] = v;
    r->used++;
}

static void grow(gn_rewrite *r)
{
    r->n_slots *= 2;
    r->slots = GN_NEW_N(r->to->arena, gir_id, r->n_slots);
    r->used = 0;
    for (gir_id v = 1; v < r->to->nodes.n; v++) {
        const gir_node *n = gir_at(r->to, v);
        const gir_id *in = n->n_in ? &r->to->operands.p[n->first_in] : NULL;
        insert(r, v, hash_of((gir_op)n->op, n->n_in, in, &n->attr, &n->type));
    }
}

gir_id gn_rewrite_share(gn_rewrite *r, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                        const gir_type *type)
{
    static const gir_attr none = {0};
    if (!attr) attr = &none;
    uint64_t hash = hash_of(op, n, in, attr, type);
    for (uint32_t k = (uint32_t)hash & (r->n_slots - 1); r->slots[k];
         k = (k + 1) & (r->n_slots - 1))
        if (same_value(r->to, r->slots[k], op, n, in, attr, type)) return r->slots[k];
    if (2 * r->used >= r->n_slots) grow(r);
    gir_id v = gir_append(r->to, op, n, in, attr, type);
    insert(r, v, hash);
    return v;
}

gir_id gn_rewrite_make(gn_rewrite *r, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                       const gir_type *want)
{
    gir_type type;
    if (!gir_infer(r->to, op, n, in, attr, want, &type, NULL)) return 0;
    return gn_rewrite_share(r, op, n, in, attr, &type);
}

/* copying -------------------------------------------------------------------------------------- */

gir_type gn_rewrite_type(const gn_rewrite *r, gir_id v)
{
    gir_type t = *gir_type_of(r->from, v);
    t.space = r->space[t.space];
    t.src = r->space[t.src];
    t.dst = r->space[t.dst];
    t.edge = r->space[t.edge];
    return t;
}

gir_id gn_rewrite_copy(gn_rewrite *r, gir_id v)
{
    const gir_node *n = gir_at(r->from, v);
    gir_type type = gn_rewrite_type(r, v);
    gir_attr attr = n->attr;
    if (gir_named_space(n)) attr.i[0] = r->space[attr.i[0]];
    gir_id *in = GN_NEW_N(r->to->arena, gir_id, n->n_in);
    for (int k = 0; k < n->n_in; k++) in[k] = r->map[gir_in(r->from, v, k)];
    r->to->loc = n->loc;
    gir_id to = gn_rewrite_share(r, (gir_op)n->op, n->n_in, in, &attr, &type);
    if (n->type.is_graph) { /* of a graph that was there already, its spaces */
        r->space[n->type.edge] = gir_type_of(r->to, to)->edge;
        r->space[n->type.src] = gir_type_of(r->to, to)->src;
        r->space[n->type.dst] = gir_type_of(r->to, to)->dst;
    }
    return r->map[v] = to;
}

void gn_rewrite_outputs(gn_rewrite *r)
{
    for (uint32_t k = 0; k < r->from->outputs.n; k++) {
        gir_output o = r->from->outputs.p[k];
        o.value = r->map[o.value];
        GN_PUSH(r->to->arena, r->to->outputs, o);
    }
    r->to->loc = (gir_loc){0};
}
