/* widen: float32 becomes float64, where a program is asked to compute with that (--precision
 * float64).  No pass of the pipeline: it comes before gradients, of which the states are then
 * float64, too.  Needs: a verified program.  Keeps: inputs, which are float32 and made wide where
 * they are read; outputs, which are rounded to float32.  Breaks: states of float32, which are
 * float64.
 *
 * The other way, an input may lie in 16 bits. */
#include "passes/passes.h"

#include <string.h>

static gir_id widened(gir_program *to, const gir_program *in, gir_id v, const gir_id *map)
{
    gir_id now = gir_clone_node(to, in, v, map);
    const gir_type *t = gir_type_of(in, v);
    if (t->is_graph || t->elem != GN_F32) return now;
    if (gir_at(in, v)->op == GIR_INPUT) return gir_cast(to, now, GN_F64);
    gir_at(to, now)->type.elem = GN_F64;
    return now;
}

/* Bodies keep their numbers. */
static void widen_bodies(gn_arena *a, gir_program *p)
{
    for (uint32_t k = 0; k < p->bodies.n; k++) {
        gir_program *body = gir_clone(a, p->bodies.p[k]);
        for (gir_id v = 1; v < body->nodes.n; v++) {
            gir_type *t = &gir_at(body, v)->type;
            if (t->elem == GN_F32) t->elem = GN_F64;
        }
        p->bodies.p[k] = body;
    }
}

gn_status *gn_pass_widen(gn_arena *a, const gir_program *in, gir_program **out)
{
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n);
    gir_program *p = *out = gir_program_new(a, in->name);
    gir_clone_frame(p, in);
    widen_bodies(a, p);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        p->loc = gir_at(in, v)->loc;
        map[v] = widened(p, in, v, map);
    }
    gir_clone_outputs(p, in, map);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gir_output *o = &p->outputs.p[k];
        bool wide = gir_type_of(p, o->value)->elem == GN_F64 &&
                    gir_type_of(in, in->outputs.p[k].value)->elem == GN_F32;
        if (o->kind == GIR_OUTPUT && wide) o->value = gir_cast(p, o->value, GN_F32);
    }
    return gir_verify(p);
}

gn_status *gn_pass_code_input(gn_arena *a, const gir_program *in, const char *name, gn_elem codes,
                              gir_program **out)
{
    gir_id *map = GN_NEW_N(a, gir_id, in->nodes.n);
    gir_program *p = *out = gir_program_new(a, in->name);
    gir_clone_frame(p, in);
    for (gir_id v = 1; v < in->nodes.n; v++) {
        const gir_node *n = gir_at(in, v);
        p->loc = n->loc;
        map[v] = gir_clone_node(p, in, v, map);
        if (n->op != GIR_INPUT || n->type.elem != GN_F32 || strcmp(n->attr.name, name) != 0)
            continue;
        gir_at(p, map[v])->type.elem = (uint8_t)codes;
        map[v] = gir_cast(p, map[v], GN_F32);
    }
    gir_clone_outputs(p, in, map);
    return gir_verify(p);
}
