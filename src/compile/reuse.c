/* reuse: what a launch writes takes the memory of what it reads for the last time. Needs: lowered
 * launches; for gn_reuse_memory in the order in which they run.  Keeps: every bit, whatever order
 * parallel loops take (ir/kir_overwrite.c says when).  Makes: fewer temporaries; kernels that read
 * and write one buffer. */
#include "compile/compile.h"

#include "ir/kir_overwrite.h"

#include <string.h>

typedef struct reuser {
    gn_arena *arena;
    lowered *low;
    int *first, *last; /* by buffer: launches that touch it */
    bool *gone;        /* by buffer: it lies in another one's memory */
} reuser;

int gn_buffer_root(const lowered *low, int b)
{
    const low_buffer *f = &low->buffers.p[b];
    if (f->kind != LOW_STATE && f->kind != LOW_OUTPUT) return b;
    for (int k = 0; k < b; k++)
        if (low->buffers.p[k].kind == f->kind && !strcmp(low->buffers.p[k].name, f->name)) return k;
    return b;
}

void gn_buffer_lifetimes(const lowered *low, int *first, int *last)
{
    for (uint32_t b = 0; b < low->buffers.n; b++) first[b] = last[b] = -1;
    for (uint32_t l = 0; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        for (uint32_t k = 0; k < f->buffers.n; k++) {
            int b = f->buffers.p[k];
            if (first[b] < 0) first[b] = (int)l;
            last[b] = (int)l;
        }
    }
}

static bool is_temp(const lowered *low, int b)
{
    const low_buffer *f = &low->buffers.p[b];
    return f->kind == LOW_TEMP && f->size.coef > 0;
}

/* From that launch on what is buffer `out` is buffer `in`. */
static void replace(reuser *z, uint32_t from, int out, int in)
{
    for (uint32_t l = from; l < z->low->launches.n; l++) {
        low_launch *f = &z->low->launches.p[l];
        for (uint32_t k = 0; k < f->buffers.n; k++)
            if (f->buffers.p[k] == out) f->buffers.p[k] = in;
    }
    low_held h = {z->low->buffers.p[out].name, from - 1};
    GN_PUSH(z->arena, z->low->buffers.p[in].held, h);
    z->last[in] = z->last[out];
    z->gone[out] = true;
}

/* May the pair's output lie where its input was? */
static bool fits(const reuser *z, uint32_t l, const int *place, low_pair pair)
{
    const low_launch *f = &z->low->launches.p[l];
    int in = f->buffers.p[pair.in], out = f->buffers.p[pair.out];
    if (place[pair.out] >= 0 || z->first[out] != (int)l || z->last[in] != (int)l ||
        z->first[in] >= (int)l)
        return false;
    for (uint32_t b = 0; b < f->buffers.n; b++)
        if (place[b] == pair.in) return false;
    return true;
}

/* What the launch writes to the places of what it reads for the last time; each place is taken
 * once.  What is read longest takes the place that has been in use longest, so that what comes and
 * goes shortly stays together: a chain may pass it on. */
static bool find_places(const reuser *z, uint32_t l, int *place)
{
    const low_launch *f = &z->low->launches.p[l];
    bool any = false;
    memset(place, -1, sizeof *place * f->buffers.n);
    for (;;) {
        const low_pair *best = NULL;
        for (uint32_t p = 0; p < f->pairs.n; p++) {
            const low_pair *o = &f->pairs.p[p];
            if (!fits(z, l, place, *o)) continue;
            int64_t longer = best ? z->last[f->buffers.p[o->out]] - z->last[f->buffers.p[best->out]]
                                  : 1;
            int64_t older = best ? z->first[f->buffers.p[best->in]] - z->first[f->buffers.p[o->in]]
                                 : 1;
            if (longer > 0 || (longer == 0 && older > 0)) best = o;
        }
        if (!best) return any;
        place[best->out] = best->in;
        any = true;
    }
}

static gn_status *overwrite(reuser *z, uint32_t l)
{
    low_launch *f = &z->low->launches.p[l];
    int *place = GN_NEW_N(z->arena, int, f->buffers.n + 1);
    if (!find_places(z, l, place)) return NULL;
    f->kernel = kir_overwrite(z->arena, f->kernel, place);
    if (f->product) f->why_kernel = "it overwrites what it reads";
    f->product = NULL;
    uint32_t n = 0, all = f->buffers.n;
    int *was = GN_NEW_N(z->arena, int, all + 1);
    memcpy(was, f->buffers.p, sizeof *was * all);
    for (uint32_t b = 0; b < all; b++)
        if (place[b] < 0) f->buffers.p[n++] = was[b];
    f->buffers.n = n;
    f->pairs.n = 0; /* they had the old numbers */
    for (uint32_t b = 0; b < all; b++)
        if (place[b] >= 0) replace(z, l + 1, was[b], was[place[b]]);
    return kir_verify(f->kernel);
}

void gn_drop_buffers(gn_arena *a, lowered *low, const bool *gone)
{
    int *to = GN_NEW_N(a, int, low->buffers.n + 1), n = 0;
    for (uint32_t b = 0; b < low->buffers.n; b++) {
        to[b] = n;
        if (!gone[b]) low->buffers.p[n++] = low->buffers.p[b];
    }
    low->buffers.n = (uint32_t)n;
    for (uint32_t l = 0; l < low->launches.n; l++) {
        low_launch *f = &low->launches.p[l];
        for (uint32_t k = 0; k < f->buffers.n; k++) f->buffers.p[k] = to[f->buffers.p[k]];
    }
}

void gn_find_reuse(gn_arena *a, lowered *low)
{
    for (uint32_t l = 0; l < low->launches.n; l++) {
        low_launch *f = &low->launches.p[l];
        kir_accesses *all = NULL;
        for (uint32_t o = 0; f->kernel && o < f->buffers.n; o++) {
            const kir_buffer *b = f->kernel->buffers.p;
            if (!is_temp(low, f->buffers.p[o]) || b[o].access != KIR_WRITE) continue;
            for (uint32_t i = 0; i < f->buffers.n; i++) {
                if (!is_temp(low, f->buffers.p[i]) || b[i].access != KIR_READ ||
                    !kir_same_shape(&b[i], &b[o]))
                    continue;
                if (!all) all = kir_accesses_of(a, f->kernel);
                low_pair pair = {(int)i, (int)o};
                if (kir_may_overwrite(all, pair.in, pair.out)) GN_PUSH(a, f->pairs, pair);
            }
        }
    }
}

gn_status *gn_reuse_memory(gn_arena *a, lowered *low)
{
    uint32_t n = low->buffers.n;
    reuser z = {.arena = a, .low = low};
    z.first = GN_NEW_N(a, int, n + 1);
    z.last = GN_NEW_N(a, int, n + 1);
    z.gone = GN_NEW_N(a, bool, n + 1);
    gn_buffer_lifetimes(low, z.first, z.last);
    for (uint32_t l = 0; l < low->launches.n; l++) GN_TRY(overwrite(&z, l));
    gn_drop_buffers(a, low, z.gone);
    return NULL;
}
