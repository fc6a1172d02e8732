/* order: the launches of a program in an order that takes less memory. Needs: lowered launches in
 * an order in which they can run.  Keeps: every read and write of one buffer in order, so every
 * bit.  Makes: another order, where that lowers the peak of temporaries by more than a fiftieth.
 *
 * A list schedule: among the launches that can run, one that gives back more than it takes runs at
 * once -- the gradient of a weight before that of the rows that it shares its operands with, which
 * then may lie where those were.  Else the first in the order they came in, so that what was just
 * written is read soon; or, in a second try, before that one those that read what it could then
 * write over (reuse.c).  How many rows spaces have is not known here: a guess is as good, for what
 * is compared has rows of one space mostly. */
#include "compile/compile.h"

#include <string.h>

enum { NODES = 1 << 17, EDGES = 1 << 21, OTHERS = 1 << 10 };
enum { AS_IT_CAME, GIVE_BACK, READERS_FIRST, PLANS };

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
    if (s->graph) return EDGES / gn_part_array_edges(s->array) / s->per + 1;
    if (s->space == 0) return s->per;
    const gir_space *space = &low->p->spaces.p[s->space];
    int64_t rows = space->size >= 0          ? space->size
                   : space->kind == GIR_NODE ? NODES
                   : space->kind == GIR_EDGE ? EDGES
                                             : OTHERS;
    return rows / s->per + 1;
}

static void depend(orderer *z, uint32_t first, uint32_t then)
{
    if (first == UINT32_MAX || first == then) return;
    GN_PUSH(z->arena, z->after[first], then);
    z->needs[then]++;
}

/* A launch comes after the last one that wrote what it touches, and after those that read what it
 * writes. */
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
            if (!gn_launch_writes(f, k)) {
                GN_PUSH(z->arena, readers[b], l);
                continue;
            }
            for (uint32_t i = 0; i < readers[b].n; i++) depend(z, readers[b].p[i], l);
            readers[b].n = 0;
            writer[b] = l;
        }
    }
}

/* Bytes that launch l, if it ran now, writes where it reads something for the last time
 * (reuse.c). */
static int64_t reused(const orderer *z, uint32_t l)
{
    const low_launch *f = &z->low->launches.p[l];
    uint64_t in_taken = 0, out_taken = 0; /* of the first 64 buffers; kernels hardly have more */
    int64_t bytes = 0;
    for (uint32_t p = 0; p < f->pairs.n; p++) {
        low_pair pair = f->pairs.p[p];
        int in = f->buffers.p[pair.in], out = f->buffers.p[pair.out];
        if (pair.in >= 64 || pair.out >= 64 || z->touches[in] != 1 || !z->alive[in] ||
            z->alive[out])
            continue;
        if (in_taken >> pair.in & 1 || out_taken >> pair.out & 1) continue;
        in_taken |= (uint64_t)1 << pair.in;
        out_taken |= (uint64_t)1 << pair.out;
        bytes += z->bytes[out];
    }
    return bytes;
}

/* By how many bytes more is alive after launch l than before it, if it ran now; *taken: while it
 * runs. */
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
    int64_t more = *taken - freed;
    *taken -= reused(z, l);
    return more;
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

static bool can_run(const orderer *z, uint32_t l) { return !z->done[l] && !z->needs[l]; }

/* Another launch that can run and reads what l, once nobody else does, may write over; l if there
 * is none. */
static uint32_t first_of_readers(const orderer *z, uint32_t l)
{
    const low_launch *f = &z->low->launches.p[l];
    for (uint32_t p = 0; p < f->pairs.n; p++) {
        int in = f->buffers.p[f->pairs.p[p].in], out = f->buffers.p[f->pairs.p[p].out];
        if (z->touches[in] < 2 || !z->bytes[in] || z->alive[out]) continue;
        for (uint32_t k = 0; k < z->n; k++) {
            const low_launch *other = &z->low->launches.p[k];
            bool reads = false, writes_over = false;
            if (k == l || !can_run(z, k)) continue;
            for (uint32_t b = 0; b < other->buffers.n; b++)
                reads = reads || other->buffers.p[b] == in;
            for (uint32_t q = 0; q < other->pairs.n; q++)
                writes_over = writes_over || other->buffers.p[other->pairs.p[q].in] == in;
            if (reads && !writes_over) return k;
        }
    }
    return l;
}

/* The launch to run next. */
static uint32_t next(const orderer *z, int plan)
{
    uint32_t pick = UINT32_MAX;
    int64_t best = 0, taken;
    for (uint32_t l = 0; l < z->n; l++) {
        if (!can_run(z, l)) continue;
        if (plan == AS_IT_CAME) return l;
        int64_t g = growth(z, l, &taken);
        if (pick != UINT32_MAX && g >= best) continue;
        if (pick == UINT32_MAX || g < 0) {
            pick = l;
            best = g < 0 ? g : 0;
        }
    }
    return plan == READERS_FIRST && best == 0 ? first_of_readers(z, pick) : pick;
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
static int64_t schedule(orderer *z, int plan, uint32_t *order)
{
    int64_t alive = 0, peak = 0, taken;
    reset(z);
    for (uint32_t k = 0; k < z->n; k++) {
        uint32_t l = next(z, plan);
        int64_t g = growth(z, l, &taken);
        if (alive + taken > peak) peak = alive + taken;
        alive += g;
        run(z, l);
        order[k] = l;
    }
    return peak;
}

/* Of temporaries, where graphs are of usual sizes. */
static void guess_bytes(orderer *z)
{
    for (uint32_t b = 0; b < z->low->buffers.n; b++) {
        const low_buffer *f = &z->low->buffers.p[b];
        int64_t elems;
        if (f->kind != LOW_TEMP ||
            __builtin_mul_overflow(f->size.coef, rows_of(z->low, f->size.sym), &elems))
            continue;
        z->bytes[b] = elems * (int64_t)gn_elem_size(f->elem);
    }
}

void gn_order_launches(gn_arena *a, lowered *low, const int64_t *bytes)
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
    for (uint32_t b = 0; b < buffers; b++) z.root[b] = gn_buffer_root(low, (int)b);
    if (bytes)
        memcpy(z.bytes, bytes, sizeof *bytes * buffers);
    else
        guess_bytes(&z);
    uint32_t *order[PLANS], best = AS_IT_CAME;
    int64_t peak[PLANS];
    for (int plan = 0; plan < PLANS; plan++) {
        order[plan] = GN_NEW_N(a, uint32_t, n + 1);
        peak[plan] = schedule(&z, plan, order[plan]);
        if (peak[plan] < peak[best] - peak[best] / 50) best = (uint32_t)plan;
    }
    if (best == AS_IT_CAME) return;
    low_launch *launches = GN_NEW_N(a, low_launch, n);
    for (uint32_t k = 0; k < n; k++) launches[k] = low->launches.p[order[best][k]];
    memcpy(low->launches.p, launches, sizeof *launches * n);
}
