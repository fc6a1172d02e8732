/* order: the launches of a program in an order that takes less memory.
 * Needs: lowered launches in an order in which they can run.  Keeps: every read and write of one buffer in order, so every
 * bit.  Makes: another order, where that lowers the peak of temporaries by more than a fiftieth.
 *
 * A list schedule: among the launches that can run, one that gives back more than it takes runs at once -- the gradient of
 * a weight before that of the rows that it shares its operands with, which then may lie where those were.  Else the first
 * in the order they came in, so that what was just written is read soon.  How many rows spaces have is not known here: a
 * guess is as good, for what is compared has rows of one space mostly. */
#include "driver/compile.h"

#include <string.h>

enum { NODES = 1 << 17, EDGES = 1 << 21, OTHERS = 1 << 10 };

typedef struct launch_list {
    uint32_t *p, n, cap;
} launch_list;

typedef struct orderer {
    gn_arena *arena;
    const lowered *low;
    uint32_t n;
    int *root;          /* by buffer: the first one of its memory */
    int64_t *bytes;     /* by buffer: of temporaries, 0 for all else */
    uint32_t *needs;    /* by launch: launches that must run before it and have not */
    launch_list *after; /* by launch: those that must run after it */
    int *touches;       /* by buffer: launches that touch it and have not run */
    bool *alive;        /* by buffer */
    bool *done;
} orderer;

static int64_t rows_of(const lowered *low, int sym)
{
    if (sym < 0) return 1;
    const low_sym *s = &low->syms.p[sym];
    const gir_space *space = &low->p->spaces.p[s->space];
    int64_t rows = space->size >= 0          ? space->size
                   : space->kind == GIR_NODE ? NODES
                   : space->kind == GIR_EDGE ? EDGES
                                             : OTHERS;
    return rows / s->per + 1;
}

static int root_of(const lowered *low, int b)
{
    const low_buffer *f = &low->buffers.p[b];
    if (f->kind != LOW_STATE && f->kind != LOW_OUTPUT) return b;
    for (int k = 0; k < b; k++)
        if (low->buffers.p[k].kind == f->kind && !strcmp(low->buffers.p[k].name, f->name)) return k;
    return b;
}

static bool writes(const low_launch *l, uint32_t k)
{
    return l->kernel ? (l->kernel->buffers.p[k].access & KIR_WRITE) != 0 : k == 0;
}

static void depend(orderer *z, uint32_t first, uint32_t then)
{
    if (first == UINT32_MAX || first == then) return;
    GN_PUSH(z->arena, z->after[first], then);
    z->needs[then]++;
}

/* A launch comes after the last one that wrote what it touches, and after those that read what it writes. */
static void find_dependences(orderer *z)
{
    uint32_t buffers = z->low->buffers.n;
    uint32_t *writer = GN_NEW_N(z->arena, uint32_t, buffers + 1);
    launch_list *readers = GN_NEW_N(z->arena, launch_list, buffers + 1);
    memset(writer, 0xff, sizeof *writer * buffers);
    for (uint32_t l = 0; l < z->n; l++) {
        const low_launch *f = &z->low->launches.p[l];
        for (uint32_t k = 0; k < f->buffers.n; k++) {
            int b = z->root[f->buffers.p[k]];
            depend(z, writer[b], l);
            z->touches[b]++;
            if (!writes(f, k)) {
                GN_PUSH(z->arena, readers[b], l);
                continue;
            }
            for (uint32_t i = 0; i < readers[b].n; i++) depend(z, readers[b].p[i], l);
            readers[b].n = 0;
            writer[b] = l;
        }
    }
}

/* By how many bytes more is alive after launch l than before it, if it ran now; *taken: while it runs. */
static int64_t growth(const orderer *z, uint32_t l, int64_t *taken)
{
    const low_launch *f = &z->low->launches.p[l];
    int64_t freed = 0;
    *taken = 0;
    for (uint32_t k = 0; k < f->buffers.n; k++) {
        int b = z->root[f->buffers.p[k]];
        if (!z->alive[b]) *taken += z->bytes[b];
        if (z->touches[b] == 1) freed += z->bytes[b];
    }
    return *taken - freed;
}

static void run(orderer *z, uint32_t l)
{
    const low_launch *f = &z->low->launches.p[l];
    z->done[l] = true;
    for (uint32_t k = 0; k < f->buffers.n; k++) {
        z->alive[z->root[f->buffers.p[k]]] = true;
        z->touches[z->root[f->buffers.p[k]]]--;
    }
    for (uint32_t k = 0; k < z->after[l].n; k++) z->needs[z->after[l].p[k]]--;
}

/* The launch to run next. */
static uint32_t next(const orderer *z, bool as_it_came)
{
    uint32_t pick = UINT32_MAX;
    int64_t best = 0, taken;
    for (uint32_t l = 0; l < z->n; l++) {
        if (z->done[l] || z->needs[l]) continue;
        if (as_it_came) return l;
        int64_t g = growth(z, l, &taken);
        if (pick != UINT32_MAX && g >= best) continue;
        if (pick == UINT32_MAX || g < 0) {
            pick = l;
            best = g < 0 ? g : 0;
        }
    }
    return pick;
}

static void reset(orderer *z)
{
    uint32_t buffers = z->low->buffers.n;
    memset(z->needs, 0, sizeof *z->needs * (z->n + 1));
    memset(z->touches, 0, sizeof *z->touches * (buffers + 1));
    memset(z->alive, 0, sizeof *z->alive * (buffers + 1));
    memset(z->done, 0, sizeof *z->done * (z->n + 1));
    for (uint32_t l = 0; l < z->n; l++) z->after[l].n = 0;
    find_dependences(z);
}

/* Fills order[n]; the peak of what is alive. */
static int64_t schedule(orderer *z, bool as_it_came, uint32_t *order)
{
    int64_t alive = 0, peak = 0, taken;
    reset(z);
    for (uint32_t k = 0; k < z->n; k++) {
        uint32_t l = next(z, as_it_came);
        int64_t g = growth(z, l, &taken);
        if (alive + taken > peak) peak = alive + taken;
        alive += g;
        run(z, l);
        order[k] = l;
    }
    return peak;
}

void gn_order_launches(gn_arena *a, lowered *low)
{
    uint32_t n = low->launches.n, buffers = low->buffers.n;
    orderer z = {.arena = a, .low = low, .n = n};
    z.root = GN_NEW_N(a, int, buffers + 1);
    z.bytes = GN_NEW_N(a, int64_t, buffers + 1);
    z.needs = GN_NEW_N(a, uint32_t, n + 1);
    z.after = GN_NEW_N(a, launch_list, n + 1);
    z.touches = GN_NEW_N(a, int, buffers + 1);
    z.alive = GN_NEW_N(a, bool, buffers + 1);
    z.done = GN_NEW_N(a, bool, n + 1);
    for (uint32_t b = 0; b < buffers; b++) {
        const low_buffer *f = &low->buffers.p[b];
        z.root[b] = root_of(low, (int)b);
        int64_t elems;
        if (f->kind != LOW_TEMP || __builtin_mul_overflow(f->size.coef, rows_of(low, f->size.sym), &elems)) continue;
        z.bytes[b] = elems * (int64_t)gn_elem_size(f->elem);
    }
    uint32_t *came = GN_NEW_N(a, uint32_t, n + 1), *better = GN_NEW_N(a, uint32_t, n + 1);
    int64_t before = schedule(&z, true, came), after = schedule(&z, false, better);
    if (after >= before - before / 50) return;
    low_launch *launches = GN_NEW_N(a, low_launch, n);
    for (uint32_t k = 0; k < n; k++) launches[k] = low->launches.p[better[k]];
    memcpy(low->launches.p, launches, sizeof *launches * n);
}
