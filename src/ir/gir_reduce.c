/* Reduction of failing programs: greedy, one edit at a time, from the end, until none holds.  What
 * an edit leaves unused goes with it. */
#include "ir/gir_reduce.h"

#include <setjmp.h>

typedef enum edit_kind {
    EDIT_DEAD,    /* only what is unused goes */
    EDIT_DROP,    /* output number at */
    EDIT_MOVE,    /* output number at gives operand arg of what it gives */
    EDIT_OPERAND, /* uses of value at take its operand arg */
    EDIT_CONST,   /* value at becomes the constant arg */
    EDIT_KINDS
} edit_kind;

typedef struct edit {
    edit_kind kind;
    uint32_t at;
    int arg;
} edit;

typedef struct reducer {
    gn_arena *arena;
    gir_program *best;
    gir_predicate fails;
    void *user;
    int tries;
} reducer;

static bool is_edited(const edit *e, edit_kind kind, uint32_t at)
{
    return e->kind == kind && e->at == at;
}

/* Does the edit say anything about this program? */
static bool applies(const gir_program *p, const edit *e)
{
    if (e->kind == EDIT_DEAD) return true;
    if (e->kind == EDIT_DROP) return e->at < p->outputs.n;
    if (e->kind == EDIT_MOVE && e->at >= p->outputs.n) return false;
    gir_id v = e->kind == EDIT_MOVE ? p->outputs.p[e->at].value : e->at;
    if (v == 0 || v >= p->nodes.n) return false;
    const gir_node *n = gir_at(p, v);
    if (e->kind == EDIT_CONST) return !n->type.is_graph && n->op != GIR_CONST;
    if (e->arg >= n->n_in) return false;
    const gir_type *in = gir_type_of(p, gir_in(p, v, e->arg));
    return e->kind == EDIT_MOVE ? !in->is_graph : gir_type_eq(in, &n->type);
}

/* The values of outputs after the edit; 0 = dropped. */
static gir_id output_value(const gir_program *p, const edit *e, uint32_t k)
{
    gir_id v = p->outputs.p[k].value;
    if (is_edited(e, EDIT_DROP, k)) return 0;
    return is_edited(e, EDIT_MOVE, k) ? gir_in(p, v, e->arg) : v;
}

static void find_live(const gir_program *p, const edit *e, bool *live)
{
    for (uint32_t k = 0; k < p->outputs.n; k++) live[output_value(p, e, k)] = true;
    for (gir_id v = p->nodes.n - 1; v > 0; v--) {
        if (!live[v]) continue;
        const gir_node *n = gir_at(p, v);
        if (is_edited(e, EDIT_OPERAND, v))
            live[gir_in(p, v, e->arg)] = true;
        else if (!is_edited(e, EDIT_CONST, v))
            for (int k = 0; k < n->n_in; k++) live[gir_in(p, v, k)] = true;
        if (!n->type.is_graph && n->type.space) live[gir_space_source(p, n->type.space)] = true;
        if (gir_named_space(n)) live[gir_space_source(p, gir_named_space(n))] = true;
    }
}

static gir_program *edited(gn_arena *a, const gir_program *p, const edit *e)
{
    gir_program *to = gir_program_new(a, p->name);
    bool *live = GN_NEW_N(a, bool, p->nodes.n);
    gir_id *map = GN_NEW_N(a, gir_id, p->nodes.n);
    find_live(p, e, live);
    gir_clone_frame(to, p);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (!live[v]) continue;
        if (is_edited(e, EDIT_OPERAND, v))
            map[v] = map[gir_in(p, v, e->arg)];
        else if (is_edited(e, EDIT_CONST, v))
            map[v] = gir_const(to, gir_type_of(p, v), e->arg);
        else
            map[v] = gir_clone_node(to, p, v, map);
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gir_id v = output_value(p, e, k);
        if (v) gir_output_add(to, p->outputs.p[k].kind, p->outputs.p[k].name, map[v]);
    }
    return to;
}

static bool holds(reducer *r, const edit *e, gn_arena *scratch)
{
    gir_program *p = edited(scratch, r->best, e);
    if (e->kind == EDIT_DEAD && p->nodes.n == r->best->nodes.n) return false;
    gn_status *s = gir_verify(p);
    bool fits = !s;
    gn_status_free(s);
    if (!fits) return false;
    r->tries--;
    return r->fails(r->user, p);
}

/* In an arena that dies with it. */
static bool shows(reducer *r, const edit *e)
{
    gn_arena scratch;
    jmp_buf oom;
    gn_arena_init(&scratch);
    scratch.oom = &oom;
    bool yes = false;
    if (!setjmp(oom)) yes = holds(r, e, &scratch);
    gn_arena_free(&scratch);
    return yes;
}

static bool attempt(reducer *r, edit e)
{
    if (r->tries <= 0 || !applies(r->best, &e) || !shows(r, &e)) return false;
    r->best = edited(r->arena, r->best, &e);
    return true;
}

/* All edits of one kind, the last output or value first. */
static bool sweep(reducer *r, edit_kind kind)
{
    bool any = false, outputs = kind == EDIT_DROP || kind == EDIT_MOVE;
    int args = kind == EDIT_CONST ? 2 : kind == EDIT_DROP || kind == EDIT_DEAD ? 1 : 4;
    uint32_t n = kind == EDIT_DEAD ? 1 : outputs ? r->best->outputs.n : r->best->nodes.n;
    while (n-- > 0)
        for (int arg = 0; arg < args; arg++)
            if (attempt(r, (edit){kind, n, arg})) {
                any = true;
                n += kind == EDIT_MOVE; /* the same output again */
                uint32_t now = outputs ? r->best->outputs.n : r->best->nodes.n;
                if (n > now) n = now;
                break;
            }
    return any;
}

gir_program *gir_reduce_program(gn_arena *a, const gir_program *p, gir_predicate fails, void *user,
                                int max_tries)
{
    const edit none = {.kind = EDIT_DROP, .at = UINT32_MAX};
    reducer r = {.arena = a, .best = edited(a, p, &none), .fails = fails, .user = user};
    r.tries = max_tries ? max_tries : 10000;
    if (!fails(user, r.best)) r.best = gir_clone(a, p); /* what is unused has to do with it */
    for (bool again = true; again && r.tries > 0;) {
        again = false;
        for (int kind = 0; kind < EDIT_KINDS; kind++) again |= sweep(&r, (edit_kind)kind);
    }
    return r.best;
}
