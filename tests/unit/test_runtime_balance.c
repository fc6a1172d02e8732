/* Rows that several graphs have edges into are shared out by the edges of all. */
/* links: base runtime */
#include "runtime/run/exec.h"
#include "runtime_check.h"

#include <stdatomic.h>

enum { NODES = 4000, EDGES = 40000, MOST = 64 };

static gn_graph *graph[2];
static atomic_int n_ranges;
static int64_t range[MOST][2];

/* out: each range of rows is noted */
static void note(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    int k = atomic_fetch_add(&n_ranges, 1);
    (void)buf;
    (void)sym;
    ck_assert_int_lt(k, MOST);
    range[k][0] = lo;
    range[k][1] = hi;
}

/* All edges end at rows from `first` on. */
static gn_graph *half(int64_t first)
{
    edge_list l = edges_random(NODES, NODES / 2, EDGES);
    gn_graph *g;
    for (int64_t e = 0; e < l.n; e++) l.dst[e] += first;
    ok(gn_graph_from_coo(GN_I32, NODES, NODES, l.n, GN_I64, l.src, l.dst, &g));
    edges_free(&l);
    return g;
}

static int64_t weight(int64_t lo, int64_t hi)
{
    int64_t all = hi - lo;
    for (int g = 0; g < 2; g++)
        all += gn_index_get(graph[g]->array[GN_GRAPH_ROW_PTR], GN_I32, hi) -
               gn_index_get(graph[g]->array[GN_GRAPH_ROW_PTR], GN_I32, lo);
    return all;
}

/* The heaviest range of those that a run of 4 threads has, in parts of the mean. */
static double heaviest(int n_balance)
{
    static int operands[] = {0}, sym_operands[] = {0};
    static gn_kernel_fn code[] = {note};
    static gn_sym syms[] = {{"node", GN_SYM_N_DST, 0, 0}};
    static gn_graph_slot graphs[] = {{.name = "a", .parent = -1}, {.name = "b", .parent = -1}};
    gn_slot slot = {.kind = GN_SLOT_OUTPUT,
                    .name = "out",
                    .elem = GN_F32,
                    .elems = {1, 0, 0},
                    .row_elems = 1,
                    .edge_graph = -1};
    gn_launch launch = {.name = "note",
                        .n_buf = 1,
                        .buf = operands,
                        .n_sym = 1,
                        .sym = sym_operands,
                        .trip = {1, 0, 0},
                        .step = 1,
                        .parallel = true,
                        .n_balance = n_balance,
                        .balance = {{0, GN_GRAPH_ROW_PTR}, {1, GN_GRAPH_ROW_PTR}}};
    gn_artifact art = {.name = "test",
                       .n_syms = 1,
                       .syms = syms,
                       .n_slots = 1,
                       .slots = &slot,
                       .n_launches = 1,
                       .launches = &launch,
                       .n_graphs = 2,
                       .graphs = graphs,
                       .n_code = 1,
                       .code = code};
    gn_graph_binding bound[] = {{"a", graph[0]}, {"b", graph[1]}};
    gn_pool *pool;
    gn_instance *in;
    ok(gn_pool_new(4, &pool));
    ok(gn_instance_new(&art, 2, bound, 0, NULL, pool, NULL, &in));
    gn_instance_pace(in, false);
    atomic_store(&n_ranges, 0);
    gn_instance_run(in);
    gn_instance_free(in);
    gn_pool_free(pool);
    int n = atomic_load(&n_ranges);
    int64_t most = 0, rows = 0;
    for (int k = 0; k < n; k++) {
        int64_t w = weight(range[k][0], range[k][1]);
        most = w > most ? w : most;
        rows += range[k][1] - range[k][0];
    }
    ck_assert_int_eq(rows, NODES);
    ck_assert_int_gt(n, 8);
    return (double)most * n / (double)weight(0, NODES);
}

START_TEST(by_the_edges_of_both)
{
    graph[0] = half(0);
    graph[1] = half(NODES / 2);
    ck_assert_double_lt(heaviest(2), 1.25);
    ck_assert_double_gt(heaviest(1), 1.5);
    for (int k = 0; k < 2; k++) gn_graph_free(graph[k]);
}
END_TEST

RUN_SUITE("runtime balance", by_the_edges_of_both)
