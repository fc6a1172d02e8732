#include "compile/rerun.h"

#include <math.h>
#include <string.h>

enum {
    NEVER = INT32_MAX,
    RUNS = 3,    /* an order has so many times the steps at most, and */
    MORE = 64,   /* so many besides: few steps may run more often */
    HALVES = 14, /* of a search for the least budget */
    THIN = 2,    /* orders that are thinned out, the cheapest */
};

/* What is read no more goes at once, or where memory runs out, as others do, or after them: of it
 * others can come again. */
typedef enum hoard { AT_ONCE, AS_OTHERS, LAST } hoard;

/* Weights of cost, bytes and waiting, as powers; and how what a step reads is brought together. */
typedef struct taste {
    double cost, bytes, wait;
    hoard dead;
    bool last_first; /* what it reads last comes again first */
    bool loose;      /* what is there may go while the rest comes again, and come after it */
} taste;
static const taste tastes[] = {
    {1, 1, 1, AT_ONCE, false, false},  {1, 1, 0.5, AT_ONCE, false, false},
    {1, 1, 0, AT_ONCE, false, false},  {0.5, 1, 1, AT_ONCE, false, false},
    {0, 1, 1, AT_ONCE, false, false},  {0, 0, 1, AT_ONCE, false, false},
    {1, 1, 1, AS_OTHERS, true, false}, {0, 0, 1, AT_ONCE, true, true},
    {0, 0, 1, LAST, false, true},      {0, 1, 0, LAST, true, true},
    {0, 1, 1, AS_OTHERS, false, true}, {0, 1, 0, LAST, false, false},
    {0, -1, 1, LAST, false, true},
};
enum { TASTES = sizeof tastes / sizeof *tastes, USUAL = 7 /* others are for little memory */ };

typedef struct scheduler {
    gn_arena *arena;
    const gn_rerun_problem *p;
    taste how;
    int64_t budget, used;
    int *maker;         /* by value: the first step that writes it; -1: none */
    int *first_read;    /* by value: the first of its readers in reader[], ascending */
    int *reader;        /* steps, value by value */
    int *at_read;       /* by value: readers before this one have run */
    bool *there, *done; /* by value: it has its bytes; by step: it has run */
    int *pins;          /* by value: runs under way that read it */
    int *need;          /* by value: the step that reads it next, or what is made of it; NEVER */
    int *mark, round;   /* by step: last walk that came by */
    int at;             /* the step whose turn it is */
    bool *held;         /* of runs under way, of what each reads */
    int n_held;
    int *order, n, room;
    int missing; /* the value that a run could not get, where there was one; -1 */
} scheduler;

/* What is needed when -------------------------------------------------------------------------- */

static void list_readers(scheduler *z)
{
    const gn_rerun_problem *p = z->p;
    int all = 0;
    z->maker = GN_NEW_N(z->arena, int, p->n_values + 1);
    z->first_read = GN_NEW_N(z->arena, int, p->n_values + 2);
    memset(z->maker, -1, sizeof *z->maker * (size_t)p->n_values);
    for (int s = 0; s < p->n_steps; s++) {
        for (int k = 0; k < p->steps[s].n_reads; k++) z->first_read[p->steps[s].reads[k] + 1]++;
        for (int k = 0; k < p->steps[s].n_writes; k++)
            if (z->maker[p->steps[s].writes[k]] < 0) z->maker[p->steps[s].writes[k]] = s;
        all += p->steps[s].n_reads;
    }
    for (int v = 0; v < p->n_values; v++) z->first_read[v + 1] += z->first_read[v];
    z->reader = GN_NEW_N(z->arena, int, all + 1);
    int *put = GN_NEW_N(z->arena, int, p->n_values + 1);
    for (int s = 0; s < p->n_steps; s++)
        for (int k = 0; k < p->steps[s].n_reads; k++) {
            int v = p->steps[s].reads[k];
            z->reader[z->first_read[v] + put[v]++] = s;
        }
}

static int next_read(scheduler *z, int v, int from)
{
    while (z->at_read[v] < z->first_read[v + 1] && z->reader[z->at_read[v]] < from) z->at_read[v]++;
    return z->at_read[v] < z->first_read[v + 1] ? z->reader[z->at_read[v]] : NEVER;
}

/* Fills need, as of before step `from` runs: a value that is read no more is needed where what was
 * made of it was given back and comes again. */
static void find_needs(scheduler *z, int from)
{
    const gn_rerun_problem *p = z->p;
    for (int v = 0; v < p->n_values; v++) z->need[v] = next_read(z, v, from);
    for (int s = p->n_steps; s-- > 0;) {
        const gn_rerun_step *t = &p->steps[s];
        int soonest = NEVER;
        if (!z->done[s]) continue;
        for (int k = 0; k < t->n_writes; k++) {
            int v = t->writes[k];
            if (!z->there[v] && z->maker[v] == s && z->need[v] < soonest) soonest = z->need[v];
        }
        for (int k = 0; k < t->n_reads && soonest < NEVER; k++)
            if (soonest < z->need[t->reads[k]]) z->need[t->reads[k]] = soonest;
    }
}

/* Can v be made again before step `by` runs?  *cost: of all steps that this takes as things are. */
static bool can_come_again(scheduler *z, int v, int by, double *cost)
{
    int s = z->maker[v];
    if (s < 0 || z->p->stays[v]) return false;
    const gn_rerun_step *t = &z->p->steps[s];
    if (z->mark[s] == z->round) return true;
    z->mark[s] = z->round;
    if (t->once || t->until < by) return false;
    *cost += t->cost;
    for (int k = 0; k < t->n_reads; k++)
        if (!z->there[t->reads[k]] && !can_come_again(z, t->reads[k], by, cost)) return false;
    return true;
}

/* Giving back ---------------------------------------------------------------------------------- */

/* Value v, which is not there, comes again before step `by`: so is what it is made of. */
static void need_by(scheduler *z, int v, int by)
{
    int s = z->maker[v];
    if (s < 0 || by == NEVER) return;
    const gn_rerun_step *t = &z->p->steps[s];
    for (int k = 0; k < t->n_reads; k++) {
        int r = t->reads[k];
        if (z->need[r] <= by) continue;
        z->need[r] = by;
        if (!z->there[r]) need_by(z, r, by);
    }
}

static void give_back(scheduler *z, int v)
{
    z->there[v] = false;
    z->used -= z->p->bytes[v];
    need_by(z, v, z->need[v]);
}

static void give_back_dead(scheduler *z)
{
    for (int v = 0; v < z->p->n_values; v++)
        if (z->there[v] && z->maker[v] >= 0 && !z->pins[v] && z->need[v] == NEVER) give_back(z, v);
}

/* The value that had best go now, of those that no run under way reads, or -1. */
static int choose(scheduler *z)
{
    const gn_rerun_problem *p = z->p;
    int best = -1, dead = -1;
    double least = INFINITY;
    for (int v = 0; v < p->n_values; v++) {
        if (!z->there[v] || z->pins[v] || p->bytes[v] == 0) continue;
        bool never = z->need[v] == NEVER;
        if (never && z->how.dead == AT_ONCE) return v;
        if (never) dead = v;
        if ((never && z->how.dead == LAST) || p->stays[v]) continue;
        double cost = 0;
        z->round++;
        if (!can_come_again(z, v, never ? z->at : z->need[v], &cost)) continue;
        double wait = (never ? p->n_steps : z->need[v]) - z->at + 1;
        double score = pow(cost + 1e-9, z->how.cost) /
                       (pow((double)p->bytes[v], z->how.bytes) * pow(wait, z->how.wait));
        if (best >= 0 && score >= least) continue;
        least = score;
        best = v;
    }
    return best >= 0 ? best : dead;
}

/* Of a step that is about to run: bytes of what it writes that lie where something was that it
 * reads for the last time; or that can come again, where `give`, which goes then. */
static int64_t find_places(scheduler *z, const gn_rerun_step *t, bool give)
{
    uint64_t in = 0, out = 0; /* of the first 64 of each */
    int64_t bytes = 0;
    for (int k = 0; k < t->n_pairs; k++) {
        gn_rerun_pair r = t->pairs[k];
        if (r.in >= 64 || r.out >= 64 || in >> r.in & 1 || out >> r.out & 1) continue;
        int v = t->reads[r.in], w = t->writes[r.out];
        if (z->there[w] || z->pins[v] != 1) continue;
        if (z->need[v] != NEVER) {
            double cost = 0;
            z->round++;
            if (!give || z->p->stays[v] || !can_come_again(z, v, z->need[v], &cost)) continue;
        }
        in |= (uint64_t)1 << r.in;
        out |= (uint64_t)1 << r.out;
        bytes += z->p->bytes[w];
    }
    return bytes;
}

/* Room for what the step writes; false: there is none.  *give: what it reads goes, too. */
static bool make_room(scheduler *z, const gn_rerun_step *t, int after, bool *give)
{
    int64_t more = 0;
    for (int k = 0; k < t->n_writes; k++)
        if (!z->there[t->writes[k]]) more += z->p->bytes[t->writes[k]];
    *give = false;
    if (z->used + more <= z->budget) return true;
    find_needs(z, after);
    if (z->how.dead == AT_ONCE) give_back_dead(z);
    while (z->used + more - find_places(z, t, *give) > z->budget) {
        int v = choose(z);
        if (v < 0 && *give) return false;
        if (v >= 0)
            give_back(z, v);
        else
            *give = true;
    }
    return true;
}

/* Running -------------------------------------------------------------------------------------- */

static int64_t dead_bytes(const scheduler *z)
{
    int64_t bytes = 0;
    for (int v = 0; v < z->p->n_values; v++)
        if (z->there[v] && !z->pins[v] && z->need[v] == NEVER) bytes += z->p->bytes[v];
    return bytes;
}

/* The step has run, and took more than there is but for places of what it had read, which goes. */
static void settle(scheduler *z, const gn_rerun_step *t, bool give, int after)
{
    find_needs(z, after);
    for (int k = 0; give && k < t->n_pairs && z->used - dead_bytes(z) > z->budget; k++) {
        int v = t->reads[t->pairs[k].in];
        double cost = 0;
        z->round++;
        if (!z->there[v] || z->pins[v] || z->p->stays[v] || z->need[v] == NEVER ||
            !can_come_again(z, v, z->need[v], &cost))
            continue;
        give_back(z, v);
    }
    give_back_dead(z);
}

static bool run(scheduler *z, int s, int after);

/* What step t reads is there, and stays while it runs; mine: of what it reads, what that holds. */
static bool fetch(scheduler *z, const gn_rerun_step *t, int s, bool *mine)
{
    for (int k = 0; k < t->n_reads; k++) {
        mine[k] = z->there[t->reads[k]] && !z->how.loose;
        z->pins[t->reads[k]] += mine[k];
    }
    for (int pass = 0; pass < 2; pass++) /* first what is not there */
        for (int i = 0; i < t->n_reads; i++) {
            int k = z->how.last_first ? t->n_reads - 1 - i : i, v = t->reads[k], m = z->maker[v];
            if (mine[k] || (pass == 0 && z->there[v])) continue;
            bool may = m >= 0 && m != s && !z->p->steps[m].once && z->p->steps[m].until >= z->at;
            if (!z->there[v] && (!may || !run(z, m, z->at))) {
                if (z->missing < 0) z->missing = v;
                return false;
            }
            mine[k] = true;
            z->pins[v]++;
        }
    return true;
}

/* Runs step s, after what it reads and is not there; `after`: the first step whose reading counts
 * once it has run. */
static bool run(scheduler *z, int s, int after)
{
    const gn_rerun_step *t = &z->p->steps[s];
    bool give, *mine = z->held + z->n_held;
    z->n_held += t->n_reads;
    if (!fetch(z, t, s, mine) || !make_room(z, t, after, &give) || z->n == z->room) return false;
    for (int k = 0; k < t->n_writes; k++) {
        int v = t->writes[k];
        if (!z->there[v]) z->used += z->p->bytes[v];
        z->there[v] = true;
    }
    z->done[s] = true;
    z->order[z->n++] = s;
    for (int k = 0; k < t->n_reads; k++) z->pins[t->reads[k]]--;
    z->n_held -= t->n_reads;
    if (z->used > z->budget) settle(z, t, give, after);
    return true;
}

static void begin(scheduler *z)
{
    const gn_rerun_problem *p = z->p;
    z->used = 0;
    z->n = z->n_held = 0;
    z->missing = -1;
    for (int v = 0; v < p->n_values; v++) {
        z->at_read[v] = z->first_read[v];
        z->there[v] = z->maker[v] < 0;
        z->pins[v] = 0;
    }
    memset(z->done, 0, sizeof *z->done * (size_t)p->n_steps);
}

static bool schedule(scheduler *z, int64_t budget, taste how)
{
    begin(z);
    z->budget = budget;
    z->how = how;
    for (z->at = 0; z->at < z->p->n_steps; z->at++)
        if (!run(z, z->at, z->at + 1)) return false;
    return true;
}

static scheduler *new_scheduler(gn_arena *a, const gn_rerun_problem *p)
{
    scheduler *z = GN_NEW(a, scheduler);
    *z = (scheduler){.arena = a, .p = p, .room = RUNS * p->n_steps + MORE};
    list_readers(z);
    z->at_read = GN_NEW_N(a, int, p->n_values + 1);
    z->there = GN_NEW_N(a, bool, p->n_values + 1);
    z->done = GN_NEW_N(a, bool, p->n_steps + 1);
    z->pins = GN_NEW_N(a, int, p->n_values + 1);
    z->need = GN_NEW_N(a, int, p->n_values + 1);
    z->mark = GN_NEW_N(a, int, p->n_steps + 1);
    z->order = GN_NEW_N(a, int, z->room + 1);
    z->held = GN_NEW_N(a, bool, z->first_read[p->n_values] + 1);
    return z;
}

/* Looking at an order -------------------------------------------------------------------------- */

typedef struct life { /* of what a step has written to a value, until it is written again */
    int first, last;
    int64_t bytes;
} life;

typedef struct measurer {
    const gn_rerun_problem *p;
    life *lives;
    int *now; /* by value: its life */
    int64_t *alive;
    bool *ran; /* by step */
} measurer;

static measurer new_measurer(gn_arena *a, const gn_rerun_problem *p, int n)
{
    int writes = 1, most = 0;
    for (int s = 0; s < p->n_steps; s++)
        if (p->steps[s].n_writes > most) most = p->steps[s].n_writes;
    writes += most * n + p->n_values;
    return (measurer){.p = p,
                      .lives = GN_NEW_N(a, life, writes),
                      .now = GN_NEW_N(a, int, p->n_values + 1),
                      .alive = GN_NEW_N(a, int64_t, n + 2),
                      .ran = GN_NEW_N(a, bool, p->n_steps + 1)};
}

/* Lives of all that is written; how many. */
static int find_lives(measurer *m, const gn_rerun_order *o)
{
    const gn_rerun_problem *p = m->p;
    int n = 0;
    memset(m->now, -1, sizeof *m->now * (size_t)(p->n_values + 1));
    for (int k = 0; k < o->n; k++) {
        const gn_rerun_step *t = &p->steps[o->step[k]];
        for (int i = 0; i < t->n_reads; i++)
            if (m->now[t->reads[i]] >= 0) m->lives[m->now[t->reads[i]]].last = k;
        for (int i = 0; i < t->n_writes; i++) {
            int v = t->writes[i];
            if (m->now[v] >= 0 && p->stays[v]) {
                m->lives[m->now[v]].last = k;
                continue;
            }
            m->now[v] = n;
            m->lives[n++] = (life){k, k, p->bytes[v]};
        }
    }
    return n;
}

/* Bytes that the k-th run writes where it reads something for the last time; walks the order along
 * with find_lives' numbers. */
static int64_t placed(const measurer *m, const gn_rerun_step *t, int k)
{
    uint64_t in = 0, out = 0;
    int64_t bytes = 0;
    for (int i = 0; i < t->n_pairs; i++) {
        gn_rerun_pair r = t->pairs[i];
        if (r.in >= 64 || r.out >= 64 || in >> r.in & 1 || out >> r.out & 1) continue;
        int l = m->now[t->reads[r.in]];
        if (l < 0 || m->lives[l].last != k || m->lives[l].first == k) continue;
        in |= (uint64_t)1 << r.in;
        out |= (uint64_t)1 << r.out;
        bytes += m->p->bytes[t->writes[r.out]];
    }
    return bytes;
}

static void measure(measurer *m, gn_rerun_order *o)
{
    const gn_rerun_problem *p = m->p;
    int n = find_lives(m, o);
    memset(m->alive, 0, sizeof *m->alive * (size_t)(o->n + 2));
    for (int l = 0; l < n; l++) {
        m->alive[m->lives[l].first] += m->lives[l].bytes;
        m->alive[m->lives[l].last + 1] -= m->lives[l].bytes;
    }
    memset(m->now, -1, sizeof *m->now * (size_t)(p->n_values + 1));
    memset(m->ran, 0, sizeof *m->ran * (size_t)p->n_steps);
    int64_t alive = 0;
    int next = 0;
    o->cost = 0;
    o->peak = 0;
    o->at = 0;
    for (int k = 0; k < o->n; k++) {
        const gn_rerun_step *t = &p->steps[o->step[k]];
        alive += m->alive[k];
        int64_t here = alive - placed(m, t, k);
        if (here > o->peak) {
            o->peak = here;
            o->at = k;
        }
        for (int i = 0; i < t->n_writes; i++)
            if (m->now[t->writes[i]] < 0 || !p->stays[t->writes[i]]) m->now[t->writes[i]] = next++;
        if (m->ran[o->step[k]]) o->cost += t->cost;
        m->ran[o->step[k]] = true;
    }
}

void gn_rerun_measure(gn_arena *a, const gn_rerun_problem *p, gn_rerun_order *o)
{
    measurer m = new_measurer(a, p, o->n);
    measure(&m, o);
}

static void drop(gn_rerun_order *o, int k)
{
    memmove(o->step + k, o->step + k + 1, sizeof *o->step * (size_t)(o->n - k - 1));
    o->n--;
}

/* Leaves out runs that are no first ones, dear ones before others, as long as the peak stays within
 * the budget. */
static void thin_out(gn_arena *a, const gn_rerun_problem *p, int64_t budget, gn_rerun_order *o)
{
    measurer m = new_measurer(a, p, o->n);
    bool *kept = GN_NEW_N(a, bool, o->n + 1);
    gn_rerun_order less = {.step = GN_NEW_N(a, int, o->n + 1)};
    for (;;) {
        int best = -1;
        memset(m.ran, 0, sizeof *m.ran * (size_t)p->n_steps);
        for (int k = 0; k < o->n; k++) {
            int s = o->step[k];
            if (m.ran[s] && !kept[k] &&
                (best < 0 || p->steps[s].cost > p->steps[o->step[best]].cost))
                best = k;
            m.ran[s] = true;
        }
        if (best < 0) break;
        memcpy(less.step, o->step, sizeof *o->step * (size_t)o->n);
        less.n = o->n;
        drop(&less, best);
        measure(&m, &less);
        if (less.peak > budget) {
            kept[best] = true;
            continue;
        }
        memmove(kept + best, kept + best + 1, sizeof *kept * (size_t)(o->n - best - 1));
        drop(o, best);
    }
    measure(&m, o);
}

/* Orders --------------------------------------------------------------------------------------- */

static gn_rerun_order taken(gn_arena *a, const scheduler *z)
{
    gn_rerun_order o = {.n = z->n, .step = GN_NEW_N(a, int, z->n + 1)};
    memcpy(o.step, z->order, sizeof *o.step * (size_t)z->n);
    gn_rerun_measure(a, z->p, &o);
    return o;
}

gn_rerun_order gn_rerun_plain(gn_arena *a, const gn_rerun_problem *p)
{
    gn_rerun_order o = {.n = p->n_steps, .step = GN_NEW_N(a, int, p->n_steps + 1)};
    for (int s = 0; s < p->n_steps; s++) o.step[s] = s;
    gn_rerun_measure(a, p, &o);
    return o;
}

/* The cheapest of them are thinned out: others hardly come out cheaper. */
static void take_cheapest(gn_arena *a, const gn_rerun_problem *p, int64_t budget, int n,
                          gn_rerun_order *found, gn_rerun_order *out)
{
    double least = INFINITY;
    for (int thinned = 0; thinned < THIN; thinned++) {
        int best = -1;
        for (int k = 0; k < n; k++)
            if (found[k].n && (best < 0 || found[k].cost < found[best].cost)) best = k;
        if (best < 0) return;
        gn_rerun_order o = found[best];
        found[best].n = 0;
        thin_out(a, p, budget, &o);
        if (o.cost >= least) continue;
        least = o.cost;
        *out = o;
    }
}

bool gn_rerun_within(gn_arena *a, const gn_rerun_problem *p, int64_t budget, gn_rerun_order *out)
{
    gn_rerun_order found[TASTES];
    int n = 0;
    *out = gn_rerun_plain(a, p);
    if (out->peak <= budget) return true;
    scheduler *z = new_scheduler(a, p);
    for (int k = 0; k < TASTES && (n == 0 || k < USUAL); k++) {
        if (!schedule(z, budget, tastes[k])) continue;
        found[n] = taken(a, z);
        n += found[n].peak <= budget;
    }
    take_cheapest(a, p, budget, n, found, out);
    return n > 0;
}

/* What goes and is not needed before step `from` is given back; `stuck`: what goes, is needed
 * behind it and cannot come again. */
static void give_back_until(scheduler *z, const bool *goes, int from, bool *stuck)
{
    for (int v = 0; v < z->p->n_values; v++) {
        int next = next_read(z, v, z->at + 1);
        double cost = 0;
        if (!goes[v] || !z->there[v] || next < from) continue;
        z->round++;
        if (can_come_again(z, v, next == NEVER ? from : next, &cost))
            z->there[v] = false;
        else
            stuck[v] = z->maker[v] >= 0 && next != NEVER;
    }
}

static bool play_from(scheduler *z, const bool *goes, int from, bool *stuck)
{
    begin(z);
    memset(stuck, 0, sizeof *stuck * (size_t)z->p->n_values);
    for (z->at = 0; z->at < z->p->n_steps; z->at++) {
        if (!run(z, z->at, z->at + 1)) return false;
        if (z->at < from) give_back_until(z, goes, from, stuck);
    }
    return true;
}

bool gn_rerun_from(gn_arena *a, const gn_rerun_problem *p, const bool *goes, int from, bool *kept,
                   gn_rerun_order *out)
{
    scheduler *z = new_scheduler(a, p);
    bool *may = GN_NEW_N(a, bool, p->n_values + 1), *stuck = GN_NEW_N(a, bool, p->n_values + 1);
    memcpy(may, goes, sizeof *may * (size_t)p->n_values);
    memset(kept, 0, sizeof *kept * (size_t)p->n_values);
    z->budget = INT64_MAX;
    z->how = (taste){.dead = AT_ONCE};
    while (!play_from(z, may, from, stuck)) {
        if (z->missing < 0 || !may[z->missing]) return false;
        may[z->missing] = false; /* what it is made of had gone: it stays, the others go */
        kept[z->missing] = true;
    }
    for (int v = 0; v < p->n_values; v++) kept[v] = kept[v] || stuck[v];
    *out = taken(a, z);
    return out->n > p->n_steps;
}

gn_rerun_order gn_rerun_least(gn_arena *a, const gn_rerun_problem *p)
{
    gn_rerun_order best = gn_rerun_plain(a, p);
    scheduler *z = new_scheduler(a, p);
    for (int k = 0; k < TASTES; k++) {
        int64_t low = 0, high = best.peak;
        for (int i = 0; i < HALVES && high - low > 1; i++) {
            int64_t half = low + (high - low) / 2;
            gn_rerun_order o = {0};
            bool found = schedule(z, half, tastes[k]);
            if (found) o = taken(a, z);
            if (found && o.peak < best.peak) best = o;
            if (found && o.peak < high)
                high = o.peak;
            else
                low = half;
        }
    }
    thin_out(a, p, best.peak, &best);
    return best;
}
