#include "runtime/run/trace.h"

#include "runtime/memory.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <string.h>

/* Events of one launch that a thread may have at most: it ran it, waited for it, and did so again
 * where it took a range from who was late. */
enum { A_LAUNCH = 6, MORE = 16 };

/* Does the counter go at one rate, on all cores the same?  (Intel SDM 3, "Invariant TSC") */
static bool has_counter(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return false;
#endif
}

static gn_status *make_room(gn_trace *t)
{
    void *block;
    GN_TRY(gn_block_zeroed(t->threads, sizeof *t->thread, "a trace", &block));
    t->thread = block;
    for (int k = 0; k < t->threads; k++) {
        GN_TRY(gn_block_zeroed(t->room, sizeof(gn_trace_event), "a trace", &block));
        t->thread[k].event = block;
    }
    GN_TRY(gn_block_zeroed(t->launches + 1, sizeof *t->span, "a trace", &block));
    t->span = block;
    GN_TRY(gn_block_zeroed(t->launches + 1, sizeof *t->part, "a trace", &block));
    t->part = block;
    GN_TRY(gn_block_zeroed(t->launches + 1, sizeof *t->busy, "a trace", &block));
    t->busy = block;
    GN_TRY(gn_block_zeroed(t->launches + 1, sizeof *t->until, "a trace", &block));
    t->until = block;
    GN_TRY(gn_block_zeroed(t->threads, sizeof *t->cursor, "a trace", &block));
    t->cursor = block;
    return NULL;
}

gn_status *gn_trace_new(int threads, int launches, gn_trace **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_trace), "a trace", &block));
    gn_trace *t = block;
    t->threads = threads;
    t->launches = launches;
    t->room = (int64_t)launches * A_LAUNCH + MORE;
    t->counter = has_counter();
    gn_status *s = make_room(t);
    if (s) {
        gn_trace_free(t);
        return s;
    }
    *out = t;
    return NULL;
}

void gn_trace_free(gn_trace *t)
{
    if (!t) return;
    for (int k = 0; t->thread && k < t->threads; k++) gn_block_free(t->thread[k].event);
    gn_block_free(t->thread);
    gn_block_free(t->span);
    gn_block_free(t->part);
    gn_block_free(t->busy);
    gn_block_free(t->until);
    gn_block_free(t->cursor);
    gn_block_free(t);
}

void gn_trace_begin(gn_trace *t)
{
    for (int k = 0; k < t->threads; k++) t->thread[k].n = t->thread[k].lost = 0;
    memset(t->span, 0, (size_t)t->launches * sizeof *t->span);
    memset(t->part, 0, (size_t)t->launches * sizeof *t->part);
    t->alone = t->region = t->settled = false;
    t->begin = gn_now_ns();
    t->first = gn_trace_now(t);
}

void gn_trace_end(gn_trace *t)
{
    t->last = gn_trace_now(t);
    t->end = gn_now_ns();
}

void gn_trace_settle(gn_trace *t)
{
    if (t->settled) return;
    t->settled = true;
    double rate = t->last > t->first ? (double)(t->end - t->begin) / (double)(t->last - t->first)
                                     : 1;
    for (int h = 0; h < t->threads; h++)
        for (int64_t i = 0; i < t->thread[h].n; i++) {
            gn_trace_event *e = &t->thread[h].event[i];
            e->begin = (int64_t)((double)(e->begin - t->first) * rate);
            e->end = (int64_t)((double)(e->end - t->first) * rate);
            e->busy = (int64_t)((double)e->busy * rate);
        }
    for (int k = 0; k < t->launches; k++) {
        gn_trace_span *s = &t->span[k];
        if (!s->end) continue;
        s->begin = (int64_t)((double)(s->begin - t->first) * rate);
        s->end = (int64_t)((double)(s->end - t->first) * rate);
    }
}

void gn_trace_note(gn_trace *t, int thread, int launch, bool wait, int64_t begin, int64_t end)
{
    gn_trace_thread *h = &t->thread[thread];
    gn_trace_event *last = h->n ? &h->event[h->n - 1] : NULL;
    if (last && last->launch == launch && last->wait == wait) {
        last->end = end;
        last->busy += end - begin;
        return;
    }
    if (h->n == t->room) {
        h->lost++;
        return;
    }
    h->event[h->n++] = (gn_trace_event){begin, end, end - begin, launch, wait};
}

/* What a chain took goes to its launches by what each had of it. */
static void spread(const gn_trace *t, int head, double busy, double wait, gn_trace_time *out)
{
    int k = head;
    if (!(t->part[head] > 0)) {
        out[head].busy += busy;
        out[head].wait += wait;
        return;
    }
    double all = 0;
    for (; k < t->launches && t->part[k] > 0 && all < 0.999999; k++) {
        all += t->part[k];
        out[k].busy += busy * t->part[k];
        out[k].wait += wait * t->part[k];
    }
}

static int64_t overlap(const gn_trace_event *a, const gn_trace_event *b)
{
    int64_t from = a->begin > b->begin ? a->begin : b->begin,
            to = a->end < b->end ? a->end : b->end;
    return to > from ? to - from : 0;
}

static void begin_walk(const gn_trace *t)
{
    memset(t->cursor, 0, (size_t)t->threads * sizeof *t->cursor);
}

/* Charges thread h's wait to what others ran meanwhile. Waits come in the order of time: cursors
 * stand at what is not over before them. */
static void charge_wait(const gn_trace *t, int h, const gn_trace_event *wait, gn_trace_time *out)
{
    double all = 0, length = (double)(wait->end - wait->begin);
    for (int pass = 0; pass < 2; pass++)
        for (int o = 0; o < t->threads; o++) {
            const gn_trace_thread *other = &t->thread[o];
            if (o == h) continue;
            int64_t i = t->cursor[o];
            while (i < other->n && other->event[i].end <= wait->begin) i++;
            t->cursor[o] = i;
            for (; i < other->n && other->event[i].begin < wait->end; i++) {
                const gn_trace_event *e = &other->event[i];
                double part = e->wait ? 0 : (double)overlap(wait, e);
                if (part > 0 && pass)
                    spread(t, e->launch, 0, all > length ? part * length / all : part, out);
                else
                    all += pass ? 0 : part;
            }
        }
}

/* The event that begins next, of all threads; NULL: there is none. */
static const gn_trace_event *next_event(const gn_trace *t)
{
    const gn_trace_event *next = NULL;
    int of = 0;
    for (int h = 0; h < t->threads; h++) {
        if (t->cursor[h] == t->thread[h].n) continue;
        const gn_trace_event *e = &t->thread[h].event[t->cursor[h]];
        if (next && e->begin >= next->begin) continue;
        next = e;
        of = h;
    }
    if (next) t->cursor[of]++;
    return next;
}

/* Launch by launch: what other threads had nothing to do while somebody was in it.  The events of
 * it by one thread each may overlap; `until`: to where they were counted. */
static void charge_idle(const gn_trace *t, gn_trace_time *out)
{
    const gn_trace_event *e;
    begin_walk(t);
    for (int k = 0; k < t->launches; k++) t->until[k] = INT64_MIN;
    for (int k = 0; k < t->launches; k++) t->busy[k] = -t->busy[k];
    while ((e = next_event(t))) {
        int64_t *until = &t->until[e->launch], from = e->begin > *until ? e->begin : *until;
        if (e->wait || e->end <= from) continue;
        t->busy[e->launch] += (double)(e->end - from) * gn_trace_threads(t);
        *until = e->end;
    }
    for (int k = 0; k < t->launches; k++)
        if (t->span[k].end > t->span[k].begin && t->busy[k] > 0) spread(t, k, 0, t->busy[k], out);
}

void gn_trace_times(const gn_trace *t, gn_trace_time *out)
{
    for (int k = 0; k < t->launches; k++) out[k] = (gn_trace_time){0};
    for (int k = 0; k < t->launches; k++) t->busy[k] = 0;
    for (int h = 0; h < t->threads; h++) {
        begin_walk(t);
        for (int64_t i = 0; i < t->thread[h].n; i++) {
            const gn_trace_event *e = &t->thread[h].event[i];
            if (e->wait) {
                charge_wait(t, h, e, out);
                continue;
            }
            t->busy[e->launch] += (double)e->busy;
            spread(t, e->launch, (double)e->busy, 0, out);
        }
    }
    if (!t->region && !t->alone) charge_idle(t, out);
}
