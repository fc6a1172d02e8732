/* Verifier of the tensor IR.  What holds of every program:
 *   - values: the operator exists, has as many operands as it takes, and they come before it;
 *     attributes that it does not have are zero; the type is the one that inference gives;
 *   - rows: every edge space is the edge space of one graph, and of what keeps its edges, and every
 *     space of picked rows that of one pick, which comes before all values over it;
 *   - names: leaves of one name are the same leaf; spaces have different names; outputs, and
 *     updates, too;
 *   - outputs are tensors that exist, and an update has the type of the state it replaces;
 *   - bodies are programs of scalars that verify;
 *   - a location names a file that there is. */
#include "ir/gir.h"

#include "base/map.h"

#include <string.h>

#define BROKEN(...) GN_FAIL(GN_ERR_INTERNAL, __VA_ARGS__)

static gn_status *verify_space(const gir_program *p, gir_space_id s, gn_map *names)
{
    const gir_space *space = &p->spaces.p[s];
    if (!space->name || !*space->name) BROKEN("space %d has no name", s);
    if (gn_map_find(names, space->name)) BROKEN("two spaces are called %s", space->name);
    gn_map_put(names, space->name, s);
    if ((space->kind == GIR_NONE) != (s == 0) || space->kind > GIR_FEATURE)
        BROKEN("space %s is of kind %d", space->name, space->kind);
    if (space->size < -1) BROKEN("space %s has %lld rows", space->name, (long long)space->size);
    if (space->kind == GIR_FEATURE && space->size < 0)
        BROKEN("feature space %s has no size", space->name);
    if (space->graph == 0) return NULL;
    const gir_node *g = space->graph < p->nodes.n ? gir_at(p, space->graph) : NULL;
    bool picks = g && gir_makes_rows(g) && g->type.is_graph && g->type.dst == s;
    if (space->kind != GIR_EDGE && !picks)
        BROKEN("space %s has a graph and is no edge space", space->name);
    if (space->kind == GIR_EDGE && (!g || !g->type.is_graph || g->type.edge != s))
        BROKEN("%%%u is not the graph of edge space %s", space->graph, space->name);
    return NULL;
}

/* Is the edge space's graph known where value v uses it? */
static gn_status *verify_rows(const gir_program *p, gir_id v, gir_space_id s)
{
    const gir_space *space = &p->spaces.p[s];
    if (space->kind == GIR_EDGE && (space->graph == 0 || space->graph >= v))
        BROKEN("%%%u: the graph of edge space %s does not come before", v, space->name);
    if (space->graph > v) BROKEN("%%%u: the pick of space %s does not come before", v, space->name);
    return NULL;
}

static gn_status *verify_attr(const gir_program *p, gir_id v)
{
    const gir_attr *attr = &gir_at(p, v)->attr;
    const char *at = gir_ops[gir_at(p, v)->op].attrs;
    bool has_f = false, has_name = false;
    int ints = 0;
    while (*at && *at != '-') {
        size_t n = strcspn(at, " ");
        bool f = n == 5 && memcmp(at, "value", n) == 0, name = n == 4 && memcmp(at, "name", n) == 0;
        has_f |= f;
        has_name |= name;
        ints += !f && !name;
        at += n + (at[n] == ' ');
    }
    for (int k = ints; k < 4; k++)
        if (attr->i[k] != 0)
            BROKEN("%%%u: attribute %d is %lld and not in use", v, k, (long long)attr->i[k]);
    if (!has_f && !(attr->f == 0)) BROKEN("%%%u: attribute f is not in use", v);
    if (!has_name && attr->name) BROKEN("%%%u: a name is not in use", v);
    return NULL;
}

static gn_status *verify_value(gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op == GIR_INVALID && n->attr.name) BROKEN("%%%u is a misfit: %s", v, n->attr.name);
    if (n->op <= GIR_INVALID || n->op >= GIR_OP_COUNT) BROKEN("%%%u: no operator %u", v, n->op);
    const gir_op_info *op = &gir_ops[n->op];
    if ((uint64_t)n->first_in + n->n_in > p->operands.n) BROKEN("%%%u: operands do not exist", v);
    for (int k = 0; k < n->n_in; k++) {
        gir_id in = gir_in(p, v, k);
        if (in == 0 || in >= v)
            BROKEN("%%%u = %s: operand %%%u does not come before", v, op->text, in);
    }
    if (n->type.is_graph > 1 ||
        n->type.is_graph != (op->cls == GIR_CLASS_GRAPH || n->op == GIR_GRAPH))
        BROKEN("%%%u = %s: %s", v, op->text, n->type.is_graph ? "is not a graph" : "is a graph");
    GN_TRY(verify_attr(p, v));
    gir_type out;
    const char *why = NULL;
    if (!gir_infer(p, (gir_op)n->op, n->n_in, n->n_in ? &p->operands.p[n->first_in] : NULL,
                   &n->attr, &n->type, &out, &why))
        BROKEN("%%%u = %s", v, why);
    if (n->type.is_graph && p->spaces.p[n->type.edge].graph != v && gir_owns_edges(p, v))
        BROKEN("%%%u = %s: its edge space %s belongs to %%%u", v, op->text,
               p->spaces.p[n->type.edge].name, p->spaces.p[n->type.edge].graph);
    if (gir_makes_rows(n) && p->spaces.p[n->type.dst].graph != v)
        BROKEN("%%%u = %s: space %s belongs to %%%u", v, op->text, p->spaces.p[n->type.dst].name,
               p->spaces.p[n->type.dst].graph);
    if (!n->type.is_graph) GN_TRY(verify_rows(p, v, n->type.space));
    if (n->op == GIR_SIZE) GN_TRY(verify_rows(p, v, (gir_space_id)n->attr.i[0]));
    if (n->loc.line && n->loc.file >= p->files.n) BROKEN("%%%u: its location is in no file", v);
    if (n->loc.layer >= p->layers.n || n->loc.way >= GIR_WAYS)
        BROKEN("%%%u: it comes of no layer or no way that there is", v);
    return NULL;
}

/* *leaves: values by name. */
static gn_status *verify_leaves(const gir_program *p, gn_map *leaves)
{
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_INPUT && n->op != GIR_STATE && n->op != GIR_GRAPH) continue;
        const uint32_t *first = gn_map_find(leaves, n->attr.name);
        if (!first) {
            gn_map_put(leaves, n->attr.name, v);
            continue;
        }
        const gir_node *f = gir_at(p, *first);
        bool same = f->op == n->op &&
                    (n->op == GIR_GRAPH ? f->type.src == n->type.src && f->type.dst == n->type.dst
                                        : gir_type_eq(&f->type, &n->type));
        if (!same)
            BROKEN("%%%u and %%%u are different and both called '%s'", *first, v, n->attr.name);
    }
    return NULL;
}

static gn_status *verify_outputs(const gir_program *p, const gn_map *leaves)
{
    gn_map names[2];
    gn_map_init(&names[GIR_OUTPUT], p->arena);
    gn_map_init(&names[GIR_UPDATE], p->arena);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        const char *what = o->kind == GIR_UPDATE ? "update" : "output";
        if (o->kind != GIR_OUTPUT && o->kind != GIR_UPDATE)
            BROKEN("output %u is of kind %d", k, o->kind);
        if (!o->name || !*o->name) BROKEN("%s %u has no name", what, k);
        if (o->value == 0 || o->value >= p->nodes.n)
            BROKEN("%s '%s': %%%u does not exist", what, o->name, o->value);
        const gir_type *t = gir_type_of(p, o->value);
        if (t->is_graph) BROKEN("%s '%s': %%%u is a graph", what, o->name, o->value);
        if (gn_map_find(&names[o->kind], o->name)) BROKEN("%s '%s' is there twice", what, o->name);
        gn_map_put(&names[o->kind], o->name, k);
        const uint32_t *leaf = o->kind == GIR_UPDATE ? gn_map_find(leaves, o->name) : NULL;
        gir_id state = leaf && gir_at(p, *leaf)->op == GIR_STATE ? *leaf : 0;
        if (state && !gir_type_eq(t, gir_type_of(p, state)))
            BROKEN("update '%s': %s replaces %s", o->name, gir_type_text(p, t),
                   gir_type_text(p, gir_type_of(p, state)));
    }
    return NULL;
}

gn_status *gir_verify(const gir_program *p)
{
    if (!p->name || !*p->name) BROKEN("the program has no name");
    if (p->nodes.n == 0 || p->spaces.n == 0 || p->spaces.n > UINT16_MAX + 1u)
        BROKEN("the program has no placeholders");
    gn_map names;
    gn_map_init(&names, p->arena);
    for (uint32_t s = 0; s < p->spaces.n; s++) GN_TRY(verify_space(p, (gir_space_id)s, &names));
    for (uint32_t k = 0; k < p->bodies.n; k++) {
        gir_body_shape shape;
        const char *why = gir_body_misfit(p->arena, p->bodies.p[k], &shape);
        if (why) BROKEN("body %u: %s", k, why);
        GN_TRY(gir_verify(p->bodies.p[k]));
    }
    gir_program own = *p; /* inference takes a program that it may add to; nothing is added where
                             types are given */
    for (gir_id v = 1; v < p->nodes.n; v++) GN_TRY(verify_value(&own, v));
    gn_map leaves;
    gn_map_init(&leaves, p->arena);
    GN_TRY(verify_leaves(p, &leaves));
    return verify_outputs(p, &leaves);
}
