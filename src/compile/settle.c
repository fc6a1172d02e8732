/* settle: what becomes a state is written where the state lies, instead of being copied there.
 * Needs: lowered launches in the order in which they run, memory not reused yet (reuse.c).  Keeps:
 * every bit, whatever order parallel loops take.  Makes: fewer copies and temporaries.
 *
 * A copy at the end goes where one launch makes what is copied, and may write it over the state
 * (ir/kir_overwrite.c) or does not read that, and where those that read the old state can run
 * before it.  Lowering does so by itself where elements are updated one by one (lower.c); here are
 * updates that are part of a loop over rows, such as those of embeddings. */
#include "compile/compile.h"

#include "ir/kir_overwrite.h"

#include <string.h>

typedef struct settler {
    gn_arena *arena;
    lowered *low;
    int *root;   /* by buffer: the first one of its memory */
    bool *gone;  /* by buffer: nobody touches it any more */
    bool *after; /* by launch: it needs what the launch at hand makes, or comes of that */
} settler;

/* The place of that memory among a launch's buffers; -1: it has none there, -2: several. */
static int place_of(const settler *z, const low_launch *f, int root)
{
    int at = -1;
    for (uint32_t k = 0; k < f->buffers.n; k++)
        if (z->root[f->buffers.p[k]] == root) at = at == -1 ? (int)k : -2;
    return at;
}

static bool same_shape(const lowered *low, int a, int b)
{
    const low_buffer *x = &low->buffers.p[a], *y = &low->buffers.p[b];
    return x->elem == y->elem && x->size.coef == y->size.coef && x->size.sym == y->size.sym &&
           x->size.plus == y->size.plus;
}

/* The launch that alone writes it; -1: there are several, or it writes part of that only. */
static int maker_of(const settler *z, int temp)
{
    int maker = -1;
    for (uint32_t l = 0; l < z->low->launches.n; l++) {
        const low_launch *f = &z->low->launches.p[l];
        int at = place_of(z, f, temp);
        if (at == -2) return -1;
        if (at < 0 || !gn_launch_writes(f, (uint32_t)at)) continue;
        bool whole = f->kernel && f->kernel->buffers.p[at].access == KIR_WRITE && !f->product;
        if (maker >= 0 || !whole) return -1;
        maker = (int)l;
    }
    return maker;
}

/* Which launches need what launch m makes? */
static void find_after(settler *z, int m)
{
    const lowered *low = z->low;
    bool *wrote = GN_NEW_N(z->arena, bool, low->buffers.n + 1),
         *read = GN_NEW_N(z->arena, bool, low->buffers.n + 1);
    memset(z->after, 0, sizeof *z->after * low->launches.n);
    for (uint32_t l = (uint32_t)m; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        bool after = (int)l == m;
        for (uint32_t k = 0; k < f->buffers.n; k++) {
            int b = z->root[f->buffers.p[k]];
            after = after || wrote[b] || (read[b] && gn_launch_writes(f, k));
        }
        z->after[l] = after;
        for (uint32_t k = 0; k < f->buffers.n && after; k++)
            *(gn_launch_writes(f, k) ? &wrote[z->root[f->buffers.p[k]]]
                                     : &read[z->root[f->buffers.p[k]]]) = true;
    }
}

/* May launch m write over the state, as far as others go?  *last: the last of them that reads what
 * it was. */
static bool others_allow(settler *z, int m, int copy, int state, int *last)
{
    *last = m;
    for (uint32_t l = 0; l < z->low->launches.n; l++) {
        const low_launch *f = &z->low->launches.p[l];
        if ((int)l == m || (int)l == copy) continue;
        for (uint32_t k = 0; k < f->buffers.n; k++) {
            if (z->root[f->buffers.p[k]] != state) continue;
            if (gn_launch_writes(f, k) || z->after[l]) return false;
            if ((int)l > *last) *last = (int)l;
        }
    }
    return true;
}

/* Launches up to `last` that do not need what launch m makes go in front of it, which goes to the
 * place that it gives back. */
static int put_off(settler *z, int m, int last)
{
    low_launch *all = z->low->launches.p;
    low_launch *later = GN_NEW_N(z->arena, low_launch, last - m + 1);
    int n = 0, at = m;
    for (int l = m; l <= last; l++) {
        if (z->after[l])
            later[n++] = all[l];
        else
            all[at++] = all[l];
    }
    memcpy(&all[at], later, sizeof *later * (size_t)n);
    return at;
}

static gn_status *write_over(settler *z, int m, int temp, int state)
{
    low_launch *f = &z->low->launches.p[m];
    int out = place_of(z, f, temp), in = place_of(z, f, z->root[state]);
    if (in >= 0) {
        int *place = GN_NEW_N(z->arena, int, f->buffers.n + 1);
        memset(place, -1, sizeof *place * f->buffers.n);
        place[out] = in;
        f->kernel = kir_overwrite(z->arena, f->kernel, place);
        memmove(&f->buffers.p[out], &f->buffers.p[out + 1],
                sizeof *f->buffers.p * (f->buffers.n - (uint32_t)out - 1));
        f->buffers.n--;
    }
    for (uint32_t l = (uint32_t)m; l < z->low->launches.n; l++)
        for (uint32_t k = 0; k < z->low->launches.p[l].buffers.n; k++)
            if (z->low->launches.p[l].buffers.p[k] == temp)
                z->low->launches.p[l].buffers.p[k] = state;
    z->gone[temp] = true;
    low_held h = {z->low->buffers.p[temp].name, (uint32_t)m};
    GN_PUSH(z->arena, z->low->buffers.p[state].held, h);
    return kir_verify(f->kernel);
}

/* Does launch m let what it makes lie where the state is? */
static bool maker_allows(settler *z, int m, int temp, int state)
{
    const low_launch *f = &z->low->launches.p[m];
    int out = place_of(z, f, temp), in = place_of(z, f, state);
    if (in < 0) return in == -1;
    return kir_may_overwrite(kir_accesses_of(z->arena, f->kernel), in, out);
}

/* *done: the copy is not needed any more. */
static gn_status *settle(settler *z, int copy, bool *done)
{
    const low_launch *c = &z->low->launches.p[copy];
    int state = c->buffers.p[0], temp = c->buffers.p[1], last;
    const low_buffer *from = &z->low->buffers.p[temp], *to = &z->low->buffers.p[state];
    *done = false;
    if (to->kind != LOW_STATE || from->kind != LOW_TEMP || !same_shape(z->low, state, temp))
        return NULL;
    int m = maker_of(z, temp);
    if (m < 0 || m >= copy) return NULL;
    find_after(z, m);
    if (!others_allow(z, m, copy, z->root[state], &last) ||
        !maker_allows(z, m, temp, z->root[state]))
        return NULL;
    GN_TRY(write_over(z, put_off(z, m, last), temp, state));
    *done = true;
    return NULL;
}

gn_status *gn_settle_states(gn_arena *a, lowered *low)
{
    settler z = {.arena = a, .low = low};
    z.root = GN_NEW_N(a, int, low->buffers.n + 1);
    z.gone = GN_NEW_N(a, bool, low->buffers.n + 1);
    z.after = GN_NEW_N(a, bool, low->launches.n + 1);
    for (uint32_t b = 0; b < low->buffers.n; b++) z.root[b] = gn_buffer_root(low, (int)b);
    for (uint32_t l = low->launches.n; l-- > 0;) {
        bool done = false;
        if (!low->launches.p[l].kernel) GN_TRY(settle(&z, (int)l, &done));
        if (!done) continue;
        memmove(&low->launches.p[l], &low->launches.p[l + 1],
                sizeof *low->launches.p * (low->launches.n - l - 1));
        low->launches.n--;
    }
    gn_drop_buffers(a, low, z.gone);
    return NULL;
}
