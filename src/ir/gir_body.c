/* Bodies of SCANs: what becomes of the states, for one channel of one edge. */
#include "ir/gir.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1000, MOST_STATES = 600 };

char gir_body_leaf(const gir_program *body, gir_id v, int *k)
{
    const gir_node *n = gir_at(body, v);
    const char *name = n->op == GIR_INPUT ? n->attr.name : NULL;
    if (!name || !*name || !strchr("xspc", *name) || !name[1] || strlen(name) > 4) return 0;
    if (strspn(name + 1, "0123456789") != strlen(name + 1)) return 0;
    *k = atoi(name + 1);
    return *k < MOST ? *name : 0;
}

static const char *value_misfit(gn_arena *a, const gir_program *body, gir_id v,
                                gir_body_shape *shape)
{
    const gir_node *n = gir_at(body, v);
    int k = 0;
    if (n->type.is_graph || n->type.space || n->type.rank)
        return gn_arena_printf(a, "a body is of scalars, and %%%u is none", v);
    if (n->op == GIR_CONST || gir_ops[n->op].cls == GIR_CLASS_MAP) return NULL;
    char kind = gir_body_leaf(body, v, &k);
    if (!kind)
        return gn_arena_printf(a,
                               "%%%u of a body is none of x0.., s0.., p0.. and c0.., and not "
                               "elementwise",
                               v);
    if (n->type.elem != shape->elem)
        return gn_arena_printf(a, "%%%u of a body is no %s", v, gn_elem_name(shape->elem));
    int *of = kind == 'x'   ? &shape->x
              : kind == 's' ? &shape->s
              : kind == 'p' ? &shape->p
                            : &shape->c;
    if (*of <= k) *of = k + 1;
    return NULL;
}

const char *gir_body_misfit(gn_arena *a, const gir_program *body, gir_body_shape *shape)
{
    *shape = (gir_body_shape){.states = (int)body->outputs.n};
    if (body->bodies.n) return "a body has no bodies";
    if (!body->outputs.n || body->outputs.n > MOST_STATES)
        return gn_arena_printf(a, "a body makes 1 to %d states, not %u", (int)MOST_STATES,
                               body->outputs.n);
    gir_id first = body->outputs.p[0].value;
    if (first && first < body->nodes.n) shape->elem = (gn_elem)gir_type_of(body, first)->elem;
    if (shape->elem != GN_F32 && shape->elem != GN_F64) return "states of a body are f32 or f64";
    for (gir_id v = 1; v < body->nodes.n; v++) {
        const char *why = value_misfit(a, body, v, shape);
        if (why) return why;
    }
    for (uint32_t k = 0; k < body->outputs.n; k++) {
        const gir_output *o = &body->outputs.p[k];
        const char *name = gn_arena_printf(a, "s%u", k);
        bool there = o->value && o->value < body->nodes.n;
        if (o->kind != GIR_OUTPUT || !o->name || strcmp(o->name, name) != 0 || !there ||
            gir_type_of(body, o->value)->elem != shape->elem)
            return gn_arena_printf(a, "output %u of a body is an %s that is called %s", k,
                                   gn_elem_name(shape->elem), name);
    }
    return NULL;
}

int64_t gir_body(gir_program *p, const gir_program *body)
{
    gn_buf text = {.arena = p->arena};
    gir_print(body, &text);
    for (uint32_t k = 0; k < p->bodies.n; k++) {
        gn_buf other = {.arena = p->arena};
        gir_print(p->bodies.p[k], &other);
        if (strcmp(text.p, other.p) == 0) return k;
    }
    GN_PUSH(p->arena, p->bodies, body);
    return p->bodies.n - 1;
}

gir_scan gir_scan_of(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    gir_scan z = {.body = p->bodies.p[n->attr.i[0]], .reverse = n->attr.i[1] != 0, .first_x = 2};
    z.graph = gir_in(p, v, 0);
    z.s = gir_in(p, v, 1);
    if (n->attr.i[2]) z.w = gir_in(p, v, z.first_x++);
    if (n->attr.i[3]) z.c = gir_in(p, v, z.first_x++);
    z.elem = (gn_elem)n->type.elem;
    z.n_x = n->n_in - z.first_x;
    z.n = n->type.dim[0];
    z.d = n->type.dim[1];
    z.k = z.w ? gir_type_of(p, z.w)->dim[0] / z.d : 0;
    z.q = z.w ? gir_type_of(p, z.w)->dim[1] / z.d : 0;
    z.consts = z.c ? gir_type_of(p, z.c)->dim[0] : 0;
    return z;
}
