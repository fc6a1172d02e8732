/* chain: launches over the same rows run together, block by block of rows (runtime/run/chain.h).
 * Needs: lowered launches in the order in which they run, memory reused (reuse.c).  Keeps: every
 * bit.  Makes: chains, and temporaries that need no more room than a block has.
 *
 * A launch joins the chain before it where its rows are the same space's, where it and those of the
 * chain touch rows of their own alone (ir/kir_rows.c) of whatever either of them writes, and where
 * it is the last to read something that the chain made, or writes over it: only then is there
 * memory that need not be gone through.  So an aggregation, the product behind it and the product
 * behind that are a chain; a product and the aggregation behind it, which reads other rows, are
 * none. Launches in between that only end what a launch of the chain began, partial sums, come
 * behind it. Whether a chain is taken is known with the sizes (runtime/run/plan.c). */
#include "compile/compile.h"

#include "ir/kir_rows.h"

#include <string.h>

enum { MOST_BETWEEN = 2 }; /* launches that one may be put in front of to join a chain */

typedef struct chainer {
    gn_arena *arena;
    lowered *low;
    int *first, *last; /* by buffer: launches that touch it */
    bool **own; /* by launch, then by its buffers: rows of their own alone; NULL: not looked at */
} chainer;

static bool over_rows(const low_launch *f)
{
    return f->kernel && kir_thread_loop(f->kernel) && f->trip.sym >= 0 && f->trip.coef == 1 &&
           f->trip.plus == 0 && f->buffers.n <= GN_CHAIN_BUFFERS;
}

/* Is the launch's k-th buffer made of rows that its iterations run over, and does each touch its
 * own alone? */
static bool is_own(chainer *z, uint32_t l, uint32_t k)
{
    const low_launch *f = &z->low->launches.p[l];
    const low_buffer *b = &z->low->buffers.p[f->buffers.p[k]];
    if (b->size.sym != f->trip.sym || b->size.plus != 0) return false;
    if (!z->own[l]) z->own[l] = kir_own_rows(z->arena, f->kernel);
    return z->own[l][k];
}

static bool same_memory(const lowered *low, int a, int b)
{
    const low_buffer *x = &low->buffers.p[a], *y = &low->buffers.p[b];
    return a == b || (x->name && y->name && x->kind != LOW_TEMP && y->kind != LOW_TEMP &&
                      x->kind != LOW_GRAPH && y->kind != LOW_GRAPH && !strcmp(x->name, y->name));
}

static unsigned access_of(const low_launch *f, uint32_t k)
{
    return (unsigned)f->kernel->buffers.p[k].access;
}

/* May a block go through both before the next one begins? */
static bool agree(chainer *z, uint32_t l, uint32_t m)
{
    const low_launch *f = &z->low->launches.p[l], *g = &z->low->launches.p[m];
    for (uint32_t i = 0; i < f->buffers.n; i++)
        for (uint32_t j = 0; j < g->buffers.n; j++) {
            if (!((access_of(f, i) | access_of(g, j)) & KIR_WRITE)) continue;
            if (!same_memory(z->low, f->buffers.p[i], g->buffers.p[j])) continue;
            if (f->buffers.p[i] != g->buffers.p[j] || !is_own(z, l, i) || !is_own(z, m, j))
                return false;
        }
    return true;
}

/* Made in the chain that begins at `head`, before launch l. */
static bool is_made(const chainer *z, int b, uint32_t head, uint32_t l)
{
    const low_buffer *f = &z->low->buffers.p[b];
    return f->kind == LOW_TEMP && z->first[b] >= (int)head && z->first[b] < (int)l;
}

/* Does launch l end what the chain made: read it for the last time, or write over it? */
static bool ends_some(chainer *z, uint32_t head, uint32_t l)
{
    const low_launch *f = &z->low->launches.p[l];
    for (uint32_t k = 0; k < f->buffers.n; k++) {
        int b = f->buffers.p[k];
        bool over = z->last[b] == (int)l || access_of(f, k) & KIR_WRITE;
        if (over && is_made(z, b, head, l) && is_own(z, l, k)) return true;
    }
    return false;
}

static bool joins(chainer *z, uint32_t head, uint32_t l)
{
    const low_launch *f = &z->low->launches.p[l];
    if (f->trip.sym != z->low->launches.p[head].trip.sym || !ends_some(z, head, l)) return false;
    for (uint32_t m = head; m < l; m++)
        if (!agree(z, m, l)) return false;
    return true;
}

/* Can launch l run before launch m, which comes before it?  They share nothing that either writes,
 * and no temporary. */
static bool may_pass(const lowered *low, uint32_t m, uint32_t l)
{
    const low_launch *f = &low->launches.p[m], *g = &low->launches.p[l];
    if (!f->kernel) return false;
    for (uint32_t i = 0; i < f->buffers.n; i++)
        for (uint32_t j = 0; j < g->buffers.n; j++) {
            if (!same_memory(low, f->buffers.p[i], g->buffers.p[j])) continue;
            if (low->buffers.p[f->buffers.p[i]].kind == LOW_TEMP) return false;
            if ((access_of(f, i) | access_of(g, j)) & KIR_WRITE) return false;
        }
    return true;
}

/* Launch l in front of launch m. */
static void put_before(chainer *z, uint32_t l, uint32_t m)
{
    low_launch *all = z->low->launches.p, moved = all[l];
    memmove(&all[m + 1], &all[m], sizeof *all * (l - m));
    all[m] = moved;
    for (uint32_t b = 0; b < z->low->buffers.n; b++)
        for (uint32_t k = 0; k < z->low->buffers.p[b].held.n; k++) {
            uint32_t *since = &z->low->buffers.p[b].held.p[k].since;
            if (*since >= m && *since <= l) *since = *since == l ? m : *since + 1;
        }
    memset(z->own, 0, sizeof *z->own * z->low->launches.n);
    gn_buffer_lifetimes(z->low, z->first, z->last);
}

/* Does the launch at `end`, or one behind it that may run before those in between, join the chain
 * from `head`?  It is put at `end` then: what is in between adds up partial sums of the chain,
 * which are there only when all of it has run. */
static bool extend(chainer *z, uint32_t head, uint32_t end)
{
    for (uint32_t l = end; l < z->low->launches.n && l <= end + MOST_BETWEEN; l++) {
        bool passes = over_rows(&z->low->launches.p[l]);
        for (uint32_t m = end; m < l && passes; m++) passes = may_pass(z->low, m, l);
        if (!passes || !joins(z, head, l)) continue;
        if (l > end) put_before(z, l, end);
        return true;
    }
    return false;
}

/* What goes from launch to launch in [head, end), and what of it nobody else sees. */
static void note(chainer *z, uint32_t head, uint32_t end)
{
    low_launch *f = &z->low->launches.p[head];
    f->chain = (int)(end - head);
    for (uint32_t k = 0; k < z->low->buffers.n; k++) {
        low_buffer *b = &z->low->buffers.p[k];
        bool on = false;
        for (uint32_t l = head + 1; l < end && is_made(z, (int)k, head, end); l++) {
            const low_launch *g = &z->low->launches.p[l];
            for (uint32_t i = 0; i < g->buffers.n; i++)
                on = on || (g->buffers.p[i] == (int)k && z->first[k] < (int)l);
        }
        if (!on) continue;
        f->chain_row += b->size.coef * (int64_t)gn_elem_size(b->elem);
        b->passed_on = z->last[k] < (int)end;
    }
}

void gn_find_chains(gn_arena *a, lowered *low)
{
    uint32_t n = low->buffers.n, end;
    chainer z = {.arena = a, .low = low, .own = GN_NEW_N(a, bool *, low->launches.n + 1)};
    z.first = GN_NEW_N(a, int, n + 1);
    z.last = GN_NEW_N(a, int, n + 1);
    gn_buffer_lifetimes(low, z.first, z.last);
    for (uint32_t head = 0; head < low->launches.n; head = end) {
        for (end = head + 1;
             end < low->launches.n && over_rows(&low->launches.p[head]) && extend(&z, head, end);)
            end++;
        if (end - head > 1) note(&z, head, end);
    }
}
