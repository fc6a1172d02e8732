/* links: tune codegen lower passes frontend ir runtime base */
/* Rows of many edges on a GPU: into which parts the rule splits them, by degree classes and by how
 * many rows share a warp; and, counted over the loops with a graph's indices in place, that no
 * group of lanes takes more than 127 edges or sums one after another, whatever the degrees are. */
#include "gir_test.h"

#include "codegen/cuda/cuda.h"
#include "compile/compile.h"
#include "compile/cost.h"

#include <stdio.h>

typedef struct shape { /* rows of one degree after another */
    int n;
    struct {
        int64_t rows, degree;
    } of[4];
} shape;

/* Edges come from all nodes in turn. */
static gn_graph *graph_of(const shape *s)
{
    int64_t nodes = 0, edges = 0, v = 0, e = 0;
    for (int k = 0; k < s->n; k++) {
        nodes += s->of[k].rows;
        edges += s->of[k].rows * s->of[k].degree;
    }
    int64_t *src = GN_NEW_N(&arena, int64_t, edges + 1),
            *dst = GN_NEW_N(&arena, int64_t, edges + 1);
    /* not those of a kind side by side */
    for (int64_t at = 0, most = 0; at < nodes; at++, v = (v + 7919) % nodes) {
        int k = 0;
        for (most = 0; at >= most + s->of[k].rows; k++) most += s->of[k].rows;
        for (int64_t j = 0; j < s->of[k].degree; j++, e++) src[e] = e % nodes, dst[e] = v;
    }
    gn_graph *g;
    expect_ok(gn_graph_from_coo(GN_I32, nodes, nodes, edges, GN_I64, src, dst, &g));
    return g;
}

static low_hint hint_of(gn_graph *g)
{
    gn_graph_facts *f = GN_NEW(&arena, gn_graph_facts);
    expect_ok(gn_graph_find_facts(g, f));
    return (low_hint){.name = "g",
                      .n_src = g->n_src,
                      .n_dst = g->n_dst,
                      .n_edge = g->n_edge,
                      .max_in = f->max_in_degree,
                      .max_out = f->max_out_degree,
                      .in_class = f->in_class,
                      .out_class = f->out_class};
}

static gn_compiled *compile(int width, int end, const low_hint *h, gn_switches off)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "program @p {\n  space node node ?\n  space edge edge ?\n  %%1 = graph \"g\" : graph<node "
        "-> node, edge>\n"
        "  %%2 = input \"x\" : node f32[%d]\n  %%3 = gather %%1, %%2 {end = %d} : edge f32[%d]\n"
        "  %%4 = scatter %%1, %%3 {end = %d, red = 0} : node f32[%d]\n  output \"out\" %%4\n}\n",
        width, 1 - end, width, end, width);
    static gn_limits gpu;
    gpu = gn_cuda_limits();
    gn_compile_options o = {.index = GN_I32, .limits = &gpu, .n_hints = h != NULL, .hints = h};
    o.pass = (gn_pass_options){.limit = -1, .verify = true, .without.decisions = off};
    gn_compiled *c;
    expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
    return c;
}

/* What is said of the rows' kernel, and the kernels in all. */
static const char *said_of(int width, const low_hint *h, int *kernels)
{
    gn_compiled *c = compile(width, GIR_DST, h, 0);
    *kernels = c->n_kernels;
    for (uint32_t k = 0; k < c->low->launches.n; k++)
        if (c->low->launches.p[k].edges) return c->low->launches.p[k].edges;
    return "";
}

static void says(const shape *s, int width, int kernels, const char *words)
{
    int n;
    gn_graph *g = graph_of(s);
    low_hint h = hint_of(g);
    const char *said = said_of(width, &h, &n);
    ck_assert_msg(!strcmp(said, words) && n == kernels, "width %d: \"%s\", %d kernels", width, said,
                  n);
    gn_graph_free(g);
}

#define IN(edges, of) "rows of " #edges " and more in parts of " #of
#define NONE "no row is long enough to be split"
#define ONE ", parts in groups of 32, 1 level of them"
#define TWO ", parts in groups of 32, 2 levels of them"

/* The more rows share a warp, and the more of them are short, the smaller are parts; a warp's
 * own row is split for its length alone.  Where all rows have as many edges nothing is gained
 * but by parts that are longer. */
START_TEST(parts_by_degrees)
{
    const shape flat = {1, {{3000, 50}}}, longer = {1, {{1000, 127}}},
                skewed = {2, {{3000, 4}, {30, 1000}}},
                graded = {4, {{8000, 4}, {800, 40}, {80, 300}, {8, 900}}},
                one = {2, {{3000, 4}, {1, 128}}}, medium = {2, {{3000, 4}, {100, 64}}},
                rare = {2, {{3000, 20}, {1, 70}}}, hub = {2, {{3000, 4}, {1, 5000}}},
                huge = {2, {{3000, 4}, {1, 600000}}}, stored = {2, {{3000, 8}, {100, 100}}},
                empty = {1, {{10, 0}}};
    says(&flat, 16, 1, NONE);
    says(&longer, 16, 1, NONE);
    says(&empty, 16, 1, NONE);
    says(&skewed, 16, 2, IN(128, 64)); /* no rows between: the fewer sums there are to take, the
                                          better */
    says(&skewed, 128, 2, IN(128, 64));
    says(&graded, 16, 2, IN(32, 16));
    says(&graded, 64, 2, IN(32, 16));
    says(&graded, 128, 2, IN(128, 64));
    says(&one, 128, 2, IN(128, 64));
    says(&medium, 16, 2, IN(32, 16));
    says(&medium, 128, 1, NONE);
    says(&rare, 16, 1, NONE);
    says(&stored, 64, 1, NONE); /* but for the sums that would be stored it would pay */
    says(&hub, 128, 3, IN(128, 64) ONE);
    says(&huge, 128, 4, IN(128, 64) TWO);
}
END_TEST

/* By the number of rows that share a warp alone, where degrees are not known but the largest.
 */
START_TEST(parts_by_rows_of_a_warp)
{
    static const struct {
        int width;
        const char *words;
    } want[] = {{256, IN(128, 64)}, {64, IN(128, 64)}, {32, IN(64, 32)},
                {16, IN(32, 16)},   {10, IN(128, 64)}, {1, IN(32, 16)}};
    low_hint h = {
        .name = "g", .n_src = 3000, .n_dst = 3000, .n_edge = 9000, .max_in = 500, .max_out = 500};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        int n;
        const char *said = said_of(want[k].width, &h, &n);
        ck_assert_msg(!strcmp(said, want[k].words) && n == 2, "width %d: \"%s\", %d kernels",
                      want[k].width, said, n);
    }
}
END_TEST

/* Of rows that are picked each has one edge, which is known of graphs to come, too. */
START_TEST(picks_are_not_split)
{
    static const char text[] = "program @p {\n  space node node ?\n  space some node ? of %2\n  "
                               "space edge edge ? of %2\n"
                               "  %1 = input \"m\" : node bool[]\n  %2 = subset %1 : graph<node -> "
                               "some, edge>\n  %3 = input \"x\" : node "
                               "f32[16]\n"
                               "  %4 = gather %2, %3 {end = 0} : edge f32[16]\n  %5 = scatter %2, "
                               "%4 {end = 1, red = 0} : some f32[16]\n"
                               "  output \"out\" %5\n}\n";
    gn_limits gpu = gn_cuda_limits();
    gn_compile_options o = {.index = GN_I32, .limits = &gpu, .pass = {.limit = -1, .verify = true}};
    gn_compiled *c;
    expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
    ck_assert_int_eq(c->n_kernels, 1);
    ck_assert_str_eq(c->low->launches.p[0].edges, NONE);
}
END_TEST

/* Counting ------------------------------------------------------------------------------------- */

typedef struct counts {
    double longest, taken, held; /* of all kernels; held: where `together` rows share a warp */
} counts;

static void bind(const gn_compiled *c, gn_graph *g, const low_launch *l, void **buf, int64_t *bytes,
                 int64_t *sym)
{
    for (uint32_t b = 0; b < l->buffers.n; b++) {
        const low_buffer *f = &c->low->buffers.p[l->buffers.p[b]];
        bytes[b] = INT64_C(1) << 40;
        if (f->kind != LOW_GRAPH) continue;
        expect_ok(gn_graph_require(g, GN_ARRAY(f->array)));
        buf[b] = g->array[f->array];
        bytes[b] = gn_graph_array_count(g, f->array) * 4;
    }
    for (uint32_t s = 0; s < l->syms.n; s++) {
        const low_sym *y = &c->low->syms.p[l->syms.p[s]];
        bool edges = y->space && c->low->p->spaces.p[y->space].kind == GIR_EDGE;
        if (y->graph) expect_ok(gn_graph_require(g, GN_ARRAY(y->array)));
        sym[s] = y->graph    ? gn_graph_part_groups(g, y->array, y->per)
                 : !y->space ? y->per
                 : edges     ? g->n_edge
                             : g->n_dst;
    }
}

static counts count(const gn_compiled *c, gn_graph *g, int64_t together)
{
    counts all = {0};
    int k = 0;
    while (1 << (k + 1) <= together) k++;
    for (uint32_t l = 0; l < c->low->launches.n; l++) {
        const low_launch *x = &c->low->launches.p[l];
        void *buf[16] = {0};
        int64_t bytes[16], sym[16], trips = 0;
        ck_assert(x->buffers.n <= 16 && x->syms.n <= 16);
        bind(c, g, x, buf, bytes, sym);
        for (uint32_t s = 0; s < x->syms.n; s++)
            if (x->syms.p[s] == x->trip.sym) trips = sym[s];
        gn_cost cost = gn_cost_of(&arena, x->kernel, bytes, buf, sym, trips, INT64_C(1) << 40);
        ck_assert_double_eq(cost.sampled, 1);
        ck_assert(!cost.guessed);
        if (cost.longest > all.longest) all.longest = cost.longest;
        all.taken += cost.taken;
        all.held += cost.held[k];
    }
    return all;
}

/* A star, hubs of three sizes, and what a power law leaves, from either end. */
START_TEST(no_group_takes_long)
{
    static const shape shapes[] = {{2, {{999, 0}, {1, 1000000}}},
                                   {4, {{5000, 3}, {50, 200}, {5, 5000}, {1, 70000}}},
                                   {4, {{10, 4095}, {10, 4096}, {10, 4097}, {10, 127}}}};
    static const int widths[] = {1, 16, 64, 128};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int k = 0; k < 4; k++) {
            gn_graph *g = graph_of(&shapes[s]);
            low_hint h = hint_of(g);
            for (int end = 0; end < 2; end++) {
                counts with = count(compile(widths[k], end, &h, 0), g, 1);
                /* degrees are not known */
                counts open = count(compile(widths[k], end, NULL, 0), g, 1);
                counts without = count(
                    compile(widths[k], end, &h, (gn_switches)1 << GN_DO_SPLIT_ROWS), g, 1);
                ck_assert_double_eq(without.taken, (double)g->n_edge);
                ck_assert_double_eq(without.longest, (double)(end ? h.max_in : h.max_out));
                ck_assert_double_ge(with.taken, (double)g->n_edge);
                ck_assert_double_le(with.taken, 1.2 * (double)g->n_edge);
                ck_assert_double_le(with.longest, 127);
                ck_assert_double_le(open.longest, 127);
            }
            gn_graph_free(g);
        }
}
END_TEST

/* Eight rows a warp: what warps are held for falls to a third where a few rows are long. */
START_TEST(warps_are_not_held)
{
    const shape s = {4, {{8000, 4}, {800, 60}, {80, 300}, {8, 3000}}};
    gn_graph *g = graph_of(&s);
    low_hint h = hint_of(g);
    counts with = count(compile(16, GIR_DST, &h, 0), g, 8);
    counts without = count(compile(16, GIR_DST, &h, (gn_switches)1 << GN_DO_SPLIT_ROWS), g, 8);
    ck_assert_msg(with.held < without.held / 3, "%.0f of %.0f", with.held, without.held);
    ck_assert_double_lt(with.held, 1.7 * with.taken);
    gn_graph_free(g);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("parts");
    tcase_add_checked_fixture(t, arena_begin, arena_end);
    tcase_add_test(t, parts_by_degrees);
    tcase_add_test(t, parts_by_rows_of_a_warp);
    tcase_add_test(t, picks_are_not_split);
    tcase_add_test(t, no_group_takes_long);
    tcase_add_test(t, warps_are_not_held);
    tcase_set_timeout(t, 60);
    return RUN_CASES("parts of rows", t);
}
