/* Orders of steps that run again: they are valid, keep to their budget, and the least that is found
 * is near the least that there is, which an exhaustive search finds on small programs. */
#include "base/sanitized.h"
#include "compile/rerun.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

enum { PROGRAMS = GN_UNDER_ASAN ? 100 : 400, SMALL = GN_UNDER_ASAN ? 30 : 120 };
enum { MOST_VALUES = 12, MOST_STEPS = 10, STATES = (MOST_STEPS + 1) << MOST_VALUES };

typedef struct program { /* a problem and its arrays */
    gn_rerun_problem p;
    gn_rerun_step step[64];
    int reads[64][4], writes[64][2];
    gn_rerun_pair pair[64][1];
    int64_t bytes[130];
    bool stays[130];
} program;

static program *new_program(gn_arena *a)
{
    program *g = GN_NEW(a, program);
    g->p.bytes = g->bytes;
    g->p.stays = g->stays;
    g->p.steps = g->step;
    return g;
}

static gn_rerun_step *add_step(program *g, double cost)
{
    int s = g->p.n_steps++;
    g->step[s] = (gn_rerun_step){.reads = g->reads[s],
                                 .writes = g->writes[s],
                                 .pairs = g->pair[s],
                                 .cost = cost,
                                 .until = 1 << 20};
    return &g->step[s];
}

static void reads(program *g, int v)
{
    gn_rerun_step *t = &g->step[g->p.n_steps - 1];
    for (int k = 0; k < t->n_reads; k++)
        if (t->reads[k] == v) return;
    g->reads[g->p.n_steps - 1][t->n_reads++] = v;
}

static int writes(program *g, int64_t bytes)
{
    gn_rerun_step *t = &g->step[g->p.n_steps - 1];
    int v = g->p.n_values++;
    g->bytes[v] = bytes;
    g->writes[g->p.n_steps - 1][t->n_writes++] = v;
    return v;
}

/* n layers forward and back: each gradient reads that of the layer behind and what the layer had
 * read. */
static program *layers(gn_arena *a, int n)
{
    program *g = new_program(a);
    int h[32];
    for (int k = 0; k < n; k++) {
        add_step(g, 1);
        if (k) reads(g, h[k - 1]);
        h[k] = writes(g, 100);
    }
    int d = h[n - 1];
    for (int k = n - 1; k > 0; k--) {
        add_step(g, 1);
        reads(g, d);
        reads(g, h[k - 1]);
        d = writes(g, 100);
    }
    return g;
}

static uint64_t seed;
static int below(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static program *random_program(gn_arena *a, uint64_t from)
{
    program *g = new_program(a);
    seed = from * 977 + 5;
    int n = 5 + below(MOST_STEPS - 4);
    while (g->p.n_steps < n && g->p.n_values < MOST_VALUES - 1) {
        int there = g->p.n_values;
        gn_rerun_step *t = add_step(g, 1 + below(9));
        for (int k = 0; there && k < 1 + below(3); k++)
            reads(g, below(3) ? there - 1 - below(there < 3 ? there : 3) : below(there));
        writes(g, 1 + below(6));
        if (!below(4)) writes(g, 1 + below(3));
        if (t->n_reads && below(2) && g->bytes[t->reads[0]] == g->bytes[t->writes[0]])
            g->pair[g->p.n_steps - 1][t->n_pairs++] = (gn_rerun_pair){0, 0};
        t->once = !below(8);
        if (!below(6)) t->until = g->p.n_steps + below(3);
    }
    return g;
}

/* Each step once in order, and again only where it may; what is read has been written. */
static void check_order(const gn_rerun_problem *p, const gn_rerun_order *o)
{
    bool ran[64] = {false}, written[130] = {false};
    int next = 0;
    for (int k = 0; k < o->n; k++) {
        int s = o->step[k];
        const gn_rerun_step *t = &p->steps[s];
        if (s == next)
            next++;
        else
            ck_assert(ran[s] && !t->once && next <= t->until);
        ran[s] = true;
        for (int i = 0; i < t->n_reads; i++) ck_assert(written[t->reads[i]]);
        for (int i = 0; i < t->n_writes; i++) written[t->writes[i]] = true;
    }
    ck_assert_int_eq(next, p->n_steps);
}

/* The least peak of all orders, by widening what is reached from peaks already paid (Dijkstra). */
typedef struct searched {
    int64_t least[STATES];
    bool over[STATES];
} searched;

static int64_t bytes_of(const gn_rerun_problem *p, unsigned there)
{
    int64_t bytes = 0;
    for (int v = 0; v < p->n_values; v++) bytes += there >> v & 1 ? p->bytes[v] : 0;
    return bytes;
}

static void reach(searched *z, int state, int64_t peak)
{
    if (peak < z->least[state]) z->least[state] = peak;
}

static void run_step(searched *z, const gn_rerun_problem *p, unsigned there, int next, int s,
                     int64_t paid)
{
    const gn_rerun_step *t = &p->steps[s];
    unsigned need = 0, made = 0;
    int then = next + (s == next);
    for (int k = 0; k < t->n_reads; k++) need |= 1u << t->reads[k];
    for (int k = 0; k < t->n_writes; k++) made |= 1u << t->writes[k];
    if ((there & need) != need || (s < next && (t->once || next > t->until))) return;
    int64_t peak = bytes_of(p, there | made);
    reach(z, then << MOST_VALUES | (int)(there | made), peak > paid ? peak : paid);
    if (!t->n_pairs) return;
    int in = t->reads[t->pairs[0].in], out = t->writes[t->pairs[0].out];
    if (there >> out & 1) return;
    peak -= p->bytes[out];
    reach(z, then << MOST_VALUES | (int)((there | made) & ~(1u << in)), peak > paid ? peak : paid);
}

static int64_t exhaustive(gn_arena *a, const gn_rerun_problem *p)
{
    searched *z = GN_NEW(a, searched);
    int states = (p->n_steps + 1) << MOST_VALUES;
    for (int k = 0; k < states; k++) z->least[k] = INT64_MAX;
    z->least[0] = 0;
    for (;;) {
        int at = -1;
        for (int k = 0; k < states; k++)
            if (!z->over[k] && z->least[k] < INT64_MAX && (at < 0 || z->least[k] < z->least[at]))
                at = k;
        ck_assert_int_ge(at, 0);
        int next = at >> MOST_VALUES;
        unsigned there = (unsigned)at & ((1u << MOST_VALUES) - 1);
        if (next == p->n_steps) return z->least[at];
        z->over[at] = true;
        for (int v = 0; v < p->n_values; v++)
            if (there >> v & 1)
                reach(z, next << MOST_VALUES | (int)(there & ~(1u << v)), z->least[at]);
        for (int s = 0; s <= next; s++) run_step(z, p, there, next, s, z->least[at]);
    }
}

START_TEST(orders_are_valid_and_keep_to_budgets)
{
    for (uint64_t k = 0; k < PROGRAMS; k++) {
        gn_arena a;
        gn_arena_init(&a);
        program *g = random_program(&a, k);
        gn_rerun_order plain = gn_rerun_plain(&a, &g->p), o, least = gn_rerun_least(&a, &g->p);
        check_order(&g->p, &plain);
        check_order(&g->p, &least);
        ck_assert(plain.cost <= 0 && least.peak <= plain.peak);
        for (int64_t budget = plain.peak; budget >= least.peak; budget--) {
            if (!gn_rerun_within(&a, &g->p, budget, &o)) continue;
            check_order(&g->p, &o);
            ck_assert_int_le(o.peak, budget);
        }
        gn_arena_free(&a);
    }
}
END_TEST

/* Of small programs: never below what there is, and within a tenth of it. */
START_TEST(the_least_is_near_the_exhaustive_one)
{
    int near = 0, all = 0;
    for (uint64_t k = 0; k < SMALL; k++) {
        gn_arena a;
        gn_arena_init(&a);
        program *g = random_program(&a, k + 1000);
        int64_t least = gn_rerun_least(&a, &g->p).peak, known = exhaustive(&a, &g->p);
        ck_assert_int_ge(least, known);
        near += (double)least <= 1.1 * (double)known;
        all++;
        gn_arena_free(&a);
    }
    ck_assert_int_eq(near, all);
}
END_TEST

/* 25 layers in the memory of 8 take half of the forward pass again at most; of 5 all of it, and
 * more.
 */
START_TEST(layers_come_again_in_segments)
{
    gn_arena a;
    gn_arena_init(&a);
    program *g = layers(&a, 25);
    gn_rerun_order o, plain = gn_rerun_plain(&a, &g->p);
    ck_assert_int_eq(plain.peak, 2600);
    double cost[] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        ck_assert(gn_rerun_within(&a, &g->p, (int64_t[]){1300, 900, 600}[k], &o));
        check_order(&g->p, &o);
        cost[k] = o.cost;
    }
    ck_assert(cost[0] <= 14 && cost[0] < cost[1] && cost[1] < cost[2] && cost[1] <= 26);
    ck_assert_int_le(gn_rerun_least(&a, &g->p).peak, 500);
    gn_arena_free(&a);
}
END_TEST

/* What every other layer makes comes again behind the last layer, from what the one before it kept;
 * what its step may not make again stays. */
START_TEST(values_come_again_where_it_is_said)
{
    gn_arena a;
    gn_arena_init(&a);
    program *g = layers(&a, 9);
    gn_rerun_order o;
    bool goes[130] = {false}, kept[130];
    for (int v = 1; v < 8; v += 2) goes[v] = true;
    ck_assert(gn_rerun_from(&a, &g->p, goes, 9, kept, &o));
    check_order(&g->p, &o);
    ck_assert_int_eq(o.n, g->p.n_steps + 4);
    for (int v = 0; v < g->p.n_values; v++) ck_assert(!kept[v]);
    ck_assert_int_le(o.peak, 800);
    ck_assert_int_eq(gn_rerun_plain(&a, &g->p).peak, 1000);
    g->step[3].once = true;
    ck_assert(gn_rerun_from(&a, &g->p, goes, 9, kept, &o));
    check_order(&g->p, &o);
    ck_assert_int_eq(o.n, g->p.n_steps + 3);
    for (int v = 0; v < g->p.n_values; v++) ck_assert(kept[v] == (v == g->writes[3][0]));
    gn_arena_free(&a);
}
END_TEST

/* Two values are made of a third, which goes last and cannot come again when they are to: it stays,
 * and they go. */
START_TEST(what_cannot_come_again_stays_alone)
{
    enum { STEPS = 7, FROM = 4 };
    static const int from[STEPS] = {-1, 0, 0, 2, -1, 1, 2}; /* whose value a step reads */
    gn_arena a;
    gn_arena_init(&a);
    program *g = new_program(&a);
    bool goes[STEPS] = {true, true, true}, kept[STEPS];
    gn_rerun_order o;
    for (int s = 0; s < STEPS; s++) {
        add_step(g, 1);
        if (from[s] >= 0) reads(g, from[s]);
        writes(g, 100);
    }
    g->step[0].until = FROM;
    ck_assert(gn_rerun_from(&a, &g->p, goes, FROM, kept, &o));
    check_order(&g->p, &o);
    ck_assert_int_eq(o.n, STEPS + 2);
    for (int v = 0; v < STEPS; v++) ck_assert(kept[v] == (v == 0));
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, orders_are_valid_and_keep_to_budgets);
    tcase_add_test(t, the_least_is_near_the_exhaustive_one);
    tcase_add_test(t, layers_come_again_in_segments);
    tcase_add_test(t, values_come_again_where_it_is_said);
    tcase_add_test(t, what_cannot_come_again_stays_alone);
    return RUN_CASES("rerun", t);
}
