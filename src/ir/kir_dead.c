/* Removal of instructions without effect.  Needs a kernel that verifies; unlinks, so ids stay. */
#include "ir/kir_simplify.h"

typedef struct liveness {
    kir_kernel *k;
    bool *live;
    kir_id *owner;       /* the FOR or IF around an instruction */
    kir_id *writes;      /* of a tile: the last instruction that writes it; */
    kir_id *same;        /* ... and the one before that */
    GN_VEC(kir_id) work; /* live, operands not yet looked at */
} liveness;

static void mark(liveness *l, kir_id i)
{
    if (!i || l->live[i]) return;
    l->live[i] = true;
    GN_PUSH(l->k->arena, l->work, i);
}

static bool is_tile_write(const kir_inst *i)
{
    return i->op == KIR_TSTORE || i->op == KIR_TACC || i->op == KIR_TFMA || i->op == KIR_TDOT ||
           i->op == KIR_MMA;
}

/* A tile is written for who reads it. */
static void mark_writes(liveness *l, kir_id tile)
{
    for (kir_id w = l->writes[tile]; w; w = l->same[w]) mark(l, w);
}

static void survey(liveness *l, kir_id at, kir_id owner)
{
    for (; at; at = kir_at(l->k, at)->next) {
        const kir_inst *i = kir_at(l->k, at);
        l->owner[at] = owner;
        if (i->op == KIR_STORE || i->op == KIR_PREFETCH || i->op == KIR_BARRIER) mark(l, at);
        if (i->op == KIR_FOR && (i->unit == KIR_THREAD || i->unit == KIR_BLOCK)) mark(l, at);
        if (is_tile_write(i)) {
            l->same[at] = l->writes[i->ref];
            l->writes[i->ref] = at;
        }
        survey(l, i->body, at);
    }
}

static void sweep(liveness *l, kir_id *link)
{
    while (*link) {
        kir_inst *i = kir_at(l->k, *link);
        if (l->live[*link]) {
            sweep(l, &i->body);
            link = &i->next;
        } else {
            *link = i->next;
        }
    }
}

void kir_remove_dead(kir_kernel *k)
{
    liveness l = {.k = k};
    l.live = GN_NEW_N(k->arena, bool, k->insts.n);
    l.owner = GN_NEW_N(k->arena, kir_id, k->insts.n);
    l.writes = GN_NEW_N(k->arena, kir_id, k->insts.n);
    l.same = GN_NEW_N(k->arena, kir_id, k->insts.n);
    survey(&l, k->top, 0);
    while (l.work.n) {
        kir_id at = l.work.p[--l.work.n];
        const kir_inst *i = kir_at(k, at);
        mark(&l, i->a);
        mark(&l, i->b);
        mark(&l, i->c);
        mark(&l, i->ref);
        mark(&l, l.owner[at]);
        mark(&l, i->left);
        mark(&l, i->right);
        if (i->op == KIR_TLOAD) mark_writes(&l, i->ref);
        if (i->op != KIR_TDOT && i->op != KIR_MMA) continue;
        mark_writes(&l, i->left);
        mark_writes(&l, i->right);
    }
    sweep(&l, &k->top);
}
