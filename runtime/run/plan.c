/* Packs lifetimes into one arena: largest slot first, each into the smallest gap between those that
 * are alive with it, as in Pisarchyk and Lee, "Efficient memory management for deep neural net
 * inference", 2020 (greedy by size).  Other orders win now and then, so a few are tried until one
 * meets the lower bound. */
#include "runtime/run/exec.h"
#include "runtime/memory.h"
#include "runtime/run/plan.h"

#include <stdlib.h>
#include <string.h>

typedef struct item {
    int64_t size, offset;
    int slot, first, last;
} item;

void gn_plan_free(gn_plan *p)
{
    gn_block_free(p->elems);
    *p = (gn_plan){0};
}

static gn_status *plan_arrays(int n, int launches, gn_plan *p)
{
    int64_t words = 3 * (int64_t)n + launches + (3 * (int64_t)n + 1) / 2;
    void *block;
    GN_TRY(gn_block_zeroed(words, sizeof(int64_t), "memory plan", &block));
    p->elems = block;
    p->size = p->elems + n;
    p->offset = p->size + n;
    p->block = p->offset + n;
    p->root = (int *)(void *)(p->block + launches);
    p->first = p->root + n;
    p->last = p->first + n;
    return NULL;
}

static const char *slot_name(const gn_slot *s) { return s->name ? s->name : "a temporary"; }

static int64_t bytes_of(const gn_artifact *a, const gn_plan *p, int slot)
{
    return p->elems[slot] * (int64_t)gn_elem_size(a->slots[slot].elem);
}

static gn_status *find_sizes(const gn_artifact *a, const int64_t *sym, gn_plan *p)
{
    for (int k = 0; k < a->n_slots; k++) {
        const gn_slot *s = &a->slots[k];
        int64_t bytes;
        if (!gn_term_value(s->elems, sym, &p->elems[k]) ||
            __builtin_mul_overflow(p->elems[k], gn_elem_size(s->elem), &bytes) ||
            !gn_round_up(bytes, &p->size[k]))
            GN_FAIL(GN_ERR_NOMEM, "%s: slot %d (%s) of %lld * %lld elements cannot be addressed",
                    a->name, k, slot_name(s), (long long)s->elems.coef,
                    (long long)(s->elems.sym < 0 ? 1 : sym[s->elems.sym]));
        int at = k;
        while (a->slots[at].kind == GN_SLOT_ALIAS) at = a->slots[at].alias;
        p->root[k] = at;
        p->offset[k] = -1;
    }
    for (int k = 0; k < a->n_slots; k++)
        if (bytes_of(a, p, k) > bytes_of(a, p, p->root[k]))
            GN_FAIL(GN_ERR_INTERNAL, "%s: slot %d is an alias of the smaller slot %d", a->name, k,
                    p->root[k]);
    return NULL;
}

static void widen(gn_plan *p, int slot, int first, int last)
{
    int r = p->root[slot];
    if (first < p->first[r]) p->first[r] = first;
    if (last > p->last[r]) p->last[r] = last;
}

static void find_lifetimes(const gn_artifact *a, gn_plan *p)
{
    for (int k = 0; k < a->n_slots; k++) {
        bool temp = a->slots[k].kind == GN_SLOT_TEMP;
        p->first[k] = temp ? a->slots[k].first : 0;
        p->last[k] = temp ? a->slots[k].last : a->n_launches;
    }
    for (int l = 0; l < a->n_launches; l++)
        for (int b = 0; b < a->launches[l].n_buf; b++) widen(p, a->launches[l].buf[b], l, l);
}

/* Chains --------------------------------------------------------------------------------------- */

enum {
    BLOCKS_A_THREAD = 4,  /* at least: with fewer little is saved */
    LARGE_A_THREAD = 8,   /* the same of blocks that no cache of a thread's own holds, which save
                             memory alone, */
    LARGE_FROM = 1 << 26, /* and of that so many bytes */
    ROOM_FOR_BLOCKS = 16, /* a plan may be larger by so much of it with chains: what is gained is
                             time then */
};

/* The least multiple of both; 0: more than `most`, or of 0. */
static int64_t common(int64_t a, int64_t b, int64_t most)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x && b / x <= most / a ? a * (b / x) : 0;
}

static bool in_chain(const gn_artifact *a, int head, int slot)
{
    const gn_slot *s = &a->slots[slot];
    return s->passed_on && s->first >= head && s->last < head + a->launches[head].chain;
}

int64_t gn_slot_row_bytes(const gn_artifact *a, int slot)
{
    return a->slots[slot].elems.coef * (int64_t)gn_elem_size(a->slots[slot].elem);
}

int64_t gn_chain_unit(const gn_artifact *a, int head, int64_t most)
{
    int64_t unit = 1;
    for (int l = head; l < head + a->launches[head].chain && unit; l++)
        unit = common(unit, a->launches[l].step, most);
    return unit;
}

/* How many rows a block may have at most, where its rows need not stay in a cache; 0: they must. */
static int64_t large_block(const gn_launch *head, int64_t rows, int threads)
{
    int64_t bytes;
    bool much = __builtin_mul_overflow(rows, head->chain_row, &bytes) || bytes >= LARGE_FROM;
    return much ? rows / LARGE_A_THREAD / threads : 0;
}

/* Rows at a time: all launches begin an iteration after so many, and what is passed on has its
 * alignment.  As many as stay in a thread's cache, or else as few as can be. */
static int64_t choose_block(const gn_artifact *a, const int64_t *sym, int head, int threads)
{
    const gn_launch *first = &a->launches[head];
    int64_t rows = sym[first->trip.sym], fit = a->chain_bytes / first->chain_row;
    int64_t large = large_block(first, rows, threads), most = fit > large ? fit : large;
    int64_t unit = gn_chain_unit(a, head, most);
    for (int k = 0; k < a->n_slots && unit; k++)
        if (in_chain(a, head, k))
            unit = common(unit,
                          common(gn_slot_row_bytes(a, k), GN_ALIGN, INT64_MAX) /
                              gn_slot_row_bytes(a, k),
                          most);
    if (!unit || unit > most) return 0;
    int64_t block = unit > fit ? unit : fit / unit * unit;
    return rows / block / BLOCKS_A_THREAD >= threads ? block : 0;
}

/* Sizes and lifetimes are found.  Are there chains? */
static bool take_chains(const gn_artifact *a, const int64_t *sym, int threads, gn_plan *p)
{
    bool any = false;
    for (int l = 0; l < a->n_launches; l++) {
        if (!a->launches[l].chain || a->remote) continue;
        int end = l + a->launches[l].chain;
        p->block[l] = choose_block(a, sym, l, threads);
        if (!p->block[l]) continue;
        any = true;
        for (int k = 0; k < a->n_slots; k++)
            if (in_chain(a, l, k))
                (void)gn_round_up(threads * p->block[l] * gn_slot_row_bytes(a, k), &p->size[k]);
        for (int m = l; m < end; m++)
            for (int b = 0; b < a->launches[m].n_buf; b++) {
                widen(p, a->launches[m].buf[b], l, l);
                widen(p, a->launches[m].buf[b], end - 1, end - 1);
            }
    }
    return any;
}

static int64_t find_floor(const item *items, int n, int n_launches)
{
    int64_t floor = 0;
    for (int l = 0; l < n_launches; l++) {
        int64_t alive = 0;
        for (int k = 0; k < n; k++)
            if (items[k].first <= l && l <= items[k].last) alive += items[k].size;
        if (alive > floor) floor = alive;
    }
    return floor;
}

/* Orders -- each total, so that a plan is the same everywhere. */

static int by_number(const item *a, const item *b)
{
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static int by_size(const void *x, const void *y)
{
    const item *a = x, *b = y;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return by_number(a, b);
}

static int by_lifetime(const void *x, const void *y)
{
    const item *a = x, *b = y;
    int la = a->last - a->first, lb = b->last - b->first;
    return la != lb ? (la > lb ? -1 : 1) : by_size(x, y);
}

static int by_start(const void *x, const void *y)
{
    const item *a = x, *b = y;
    return a->first != b->first ? (a->first < b->first ? -1 : 1) : by_size(x, y);
}

/* Places items in their order; placed: [n] scratch, kept in order of offset.  Returns the bytes
 * taken. */
static int64_t pack(item *items, int n, const item **placed)
{
    int64_t peak = 0;
    for (int k = 0; k < n; k++) {
        item *it = &items[k];
        int64_t at = 0, best = -1, best_gap = INT64_MAX;
        for (int j = 0; j < k; j++) {
            const item *o = placed[j];
            if (o->last < it->first || it->last < o->first) continue;
            int64_t gap = o->offset - at;
            if (gap >= it->size && gap < best_gap) {
                best = at;
                best_gap = gap;
            }
            if (o->offset + o->size > at) at = o->offset + o->size;
        }
        it->offset = best >= 0 ? best : at;
        if (it->offset + it->size > peak) peak = it->offset + it->size;
        int j = k;
        for (; j > 0 && placed[j - 1]->offset > it->offset; j--) placed[j] = placed[j - 1];
        placed[j] = it;
    }
    return peak;
}

static void pack_best(item *items, int n, const item **placed, gn_plan *p)
{
    static int (*const order[])(const void *, const void *) = {by_size, by_lifetime, by_start};
    p->bytes = INT64_MAX;
    for (size_t k = 0; k < sizeof order / sizeof *order && p->bytes > p->floor; k++) {
        if (n) qsort(items, (size_t)n, sizeof *items, order[k]);
        int64_t bytes = pack(items, n, placed);
        if (bytes >= p->bytes) continue;
        p->bytes = bytes;
        for (int i = 0; i < n; i++) p->offset[items[i].slot] = items[i].offset;
    }
}

static gn_status *place(const gn_artifact *a, gn_plan *p)
{
    void *block;
    GN_TRY(gn_block_new(a->n_slots, sizeof(item) + sizeof(item *), "memory plan", &block));
    item *items = block;
    int n = 0;
    int64_t sum = 0;
    gn_status *s = NULL;
    for (int k = 0; k < a->n_slots && !s; k++) {
        if (a->slots[k].kind != GN_SLOT_TEMP) continue;
        items[n++] = (item){p->size[k], 0, k, p->first[k], p->last[k]};
        if (__builtin_add_overflow(sum, p->size[k], &sum))
            s = GN_ERROR(GN_ERR_NOMEM, "%s: the temporaries together cannot be addressed", a->name);
    }
    if (!s) {
        p->floor = find_floor(items, n, a->n_launches);
        pack_best(items, n, (const item **)(void *)(items + n), p);
    }
    gn_block_free(block);
    return s;
}

static gn_status *make(const gn_artifact *a, const int64_t *sym, int threads, bool chains,
                       gn_plan *out, bool *chained)
{
    *out = (gn_plan){0};
    GN_TRY(plan_arrays(a->n_slots, a->n_launches, out));
    gn_status *s = find_sizes(a, sym, out);
    if (!s) {
        find_lifetimes(a, out);
        *chained = chains && take_chains(a, sym, threads, out);
        s = place(a, out);
    }
    if (s) gn_plan_free(out);
    return s;
}

gn_status *gn_plan_new(const gn_artifact *a, const int64_t *sym, int threads, gn_plan *out)
{
    gn_plan plain;
    bool chained, none;
    GN_TRY(make(a, sym, threads, true, out, &chained));
    if (!chained) return NULL;
    gn_status *s = make(a, sym, threads, false, &plain, &none);
    if (s) {
        gn_plan_free(out);
        return s;
    }
    int64_t most = plain.bytes + plain.bytes / ROOM_FOR_BLOCKS;
    if (a->most_bytes > 0 && a->most_bytes < most)
        most = a->most_bytes > plain.bytes ? a->most_bytes : plain.bytes;
    bool larger = out->bytes > most;
    gn_plan_free(larger ? out : &plain);
    if (larger) *out = plain;
    return NULL;
}

gn_status *gn_plan_bytes(const gn_artifact *a, const int64_t *sym, int threads, int64_t *bytes)
{
    gn_plan p;
    *bytes = 0;
    GN_TRY(gn_artifact_check(a));
    GN_TRY(gn_plan_new(a, sym, threads, &p));
    *bytes = p.bytes;
    gn_plan_free(&p);
    return NULL;
}
