#include "runtime/run/chain.h"

#include "base/clock.h"
#include "runtime/memory.h"

#include <stdatomic.h>
#include <string.h>

typedef struct passed { /* buffer `buf` of a launch is passed on */
    int launch, buf;
    int64_t row_bytes;
} passed;

typedef struct gn_chain {
    struct gn_chain *next;
    gn_instance *in;
    int head, n;
    int64_t rows, block, unit; /* an iteration is of `unit` rows, of which a block has many */
    int n_passed;
    passed *passed;      /* in the order of launches */
    atomic_int *taken;   /* [threads]: does somebody use that thread's room? */
    int64_t *step;       /* [n] rows of an iteration */
    _Atomic int64_t *ns; /* [n] */
    atomic_bool timed;
} gn_chain;

/* Running -------------------------------------------------------------------------------------- */

static int take_room(gn_chain *c)
{
    for (int t = 0;; t = (t + 1) % gn_pool_threads(c->in->pool)) {
        int free = 0;
        if (atomic_compare_exchange_strong_explicit(&c->taken[t], &free, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return t;
    }
}

/* Where the buffer would begin for row `from` to lie at the beginning of the room. */
static void *begin_of(const gn_chain *c, const passed *p, void *slot, int room, int64_t from)
{
    return (void *)((uintptr_t)slot + (uintptr_t)(room * c->block * p->row_bytes) -
                    (uintptr_t)(from * p->row_bytes));
}

static void run_block(gn_chain *c, int room, int64_t from, int64_t to, bool timed)
{
    void *buf[GN_CHAIN_BUFFERS];
    int p = 0;
    int64_t before = timed ? gn_now_ns() : 0;
    for (int k = 0; k < c->n; k++) {
        const gn_ready *r = &c->in->ready[c->head + k];
        memcpy(buf, r->buf, (size_t)c->in->artifact->launches[c->head + k].n_buf * sizeof *buf);
        for (; p < c->n_passed && c->passed[p].launch == k; p++) {
            int b = c->passed[p].buf;
            buf[b] = begin_of(c, &c->passed[p], buf[b], room, from);
        }
        gn_call_rows(r->pages, r->fn, buf, r->sym, from / c->step[k], (to - 1) / c->step[k] + 1);
        if (!timed) continue;
        int64_t now = gn_now_ns();
        atomic_fetch_add_explicit(&c->ns[k], now - before, memory_order_relaxed);
        before = now;
    }
}

void gn_chain_run(gn_chain *c, int64_t lo, int64_t hi)
{
    bool timed = atomic_load_explicit(&c->timed, memory_order_relaxed);
    int64_t from = lo * c->unit, end = hi > c->rows / c->unit ? c->rows : hi * c->unit;
    int room = take_room(c);
    for (; from < end; from += c->block)
        run_block(c, room, from, end - from > c->block ? from + c->block : end, timed);
    atomic_store_explicit(&c->taken[room], 0, memory_order_release);
}

void gn_chain_time(gn_chain *c, bool on)
{
    for (int k = 0; k < c->n; k++) atomic_store(&c->ns[k], 0);
    atomic_store(&c->timed, on);
}

void gn_chain_split(gn_chain *c, int64_t ns, int64_t *to)
{
    double all = 0;
    for (int k = 0; k < c->n; k++) all += (double)atomic_load(&c->ns[k]);
    for (int k = 0; k < c->n; k++)
        to[k] += (int64_t)((double)ns * (double)atomic_exchange(&c->ns[k], 0) /
                           (all > 0 ? all : 1));
}

/* Making --------------------------------------------------------------------------------------- */

static void find_passed(gn_chain *c)
{
    const gn_artifact *a = c->in->artifact;
    for (int k = 0; k < c->n; k++) {
        const gn_launch *l = &a->launches[c->head + k];
        c->step[k] = l->step;
        for (int b = 0; b < l->n_buf; b++) {
            const gn_slot *s = &a->slots[l->buf[b]];
            if (s->passed_on)
                c->passed[c->n_passed++] = (passed){k, b, gn_slot_row_bytes(a, l->buf[b])};
        }
    }
}

static gn_status *make_room(int n, int n_buf, int threads, gn_chain **out)
{
    void *block;
    int64_t bytes = (int64_t)sizeof(gn_chain) + n_buf * (int64_t)sizeof(passed) +
                    2 * n * (int64_t)sizeof(int64_t) + threads * (int64_t)sizeof(atomic_int);
    *out = NULL;
    GN_TRY(gn_block_zeroed(bytes, 1, "a chain", &block));
    gn_chain *c = block;
    c->ns = (_Atomic int64_t *)(void *)(c + 1);
    c->step = (int64_t *)(void *)(c->ns + n);
    c->passed = (passed *)(void *)(c->step + n);
    c->taken = (atomic_int *)(void *)(c->passed + n_buf);
    *out = c;
    return NULL;
}

static gn_status *make(gn_instance *in, int head)
{
    const gn_launch *l = &in->artifact->launches[head];
    int n_buf = 0, threads = gn_pool_threads(in->pool);
    gn_chain *c;
    for (int k = 0; k < l->chain; k++) n_buf += l[k].n_buf;
    GN_TRY(make_room(l->chain, n_buf, threads, &c));
    c->in = in;
    c->head = head;
    c->n = l->chain;
    c->rows = in->sym[l->trip.sym];
    c->block = in->plan.block[head];
    c->unit = gn_chain_unit(in->artifact, head, INT64_MAX);
    find_passed(c);
    c->next = in->chains;
    in->chains = c;
    in->ready[head].chain = c;
    return NULL;
}

gn_status *gn_chains_new(gn_instance *in)
{
    for (int k = 0; k < in->artifact->n_launches; k++)
        if (in->plan.block[k]) GN_TRY(make(in, k));
    return NULL;
}

void gn_chains_free(gn_instance *in)
{
    while (in->chains) {
        gn_chain *next = in->chains->next;
        gn_block_free(in->chains);
        in->chains = next;
    }
}
