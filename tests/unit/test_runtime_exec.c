/* Instances, with kernels written by hand: binding, running, sharing, refusing. */
/* links: base runtime */
#include "runtime/run/exec.h"
#include "runtime_check.h"

enum { NODES = 3000, EDGES = 20000, WIDTH = 8 };

/* Kernels -------------------------------------------------------------------------------------- */

/* row_ptr, col, x [n_src * WIDTH], out [n_dst * WIDTH]: out[v] = sum of x[u] */
static void gather_sum(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const int32_t *ptr = buf[0], *col = buf[1];
    const float *x = buf[2];
    float *out = buf[3];
    (void)sym;
    for (int64_t v = lo; v < hi; v++)
        for (int j = 0; j < WIDTH; j++) {
            float sum = 0;
            for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) sum += x[(int64_t)col[e] * WIDTH + j];
            out[v * WIDTH + j] = sum;
        }
}

/* x, w [WIDTH], out: out = x * w + 1, in blocks of 16 rows; sym[0]: rows */
static void scale_rows(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const float *x = buf[0], *w = buf[1];
    float *out = buf[2];
    for (int64_t v = 16 * lo; v < 16 * hi && v < sym[0]; v++)
        for (int j = 0; j < WIDTH; j++) out[v * WIDTH + j] = x[v * WIDTH + j] * w[j] + 1;
}

/* row_ptr, pos, x, out [n_edge]: out[e] = x[dst][0] + 1000 * place in the user's list */
static void edge_values(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    const int32_t *ptr = buf[0], *pos = buf[1];
    const float *x = buf[2];
    float *out = buf[3];
    (void)sym;
    for (int64_t v = lo; v < hi; v++)
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) out[e] = x[v * WIDTH] + 1000 * (float)pos[e];
}

/* w [WIDTH], step i64[]: w += 1, step += 1, once */
static void update(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    float *w = buf[0];
    ck_assert_int_eq(lo, 0);
    ck_assert_int_eq(hi, 1);
    for (int j = 0; j < WIDTH; j++) w[j] += 1;
    *(int64_t *)buf[1] += sym[0];
}

/* A program ------------------------------------------------------------------------------------ */

enum { S_PTR, S_COL, S_POS, S_X, S_W, S_STEP, S_A, S_B, S_ALIAS, S_OUT, S_EDGE, N_SLOTS };

static gn_sym syms[] = {
    {"node", GN_SYM_N_DST, 1, 0}, {"edge", GN_SYM_N_EDGE, 1, 0}, {"one", GN_SYM_CONST, 0, 1}};
static gn_graph_slot graph_slots[2];
static gn_size_check checks[1];
static gn_slot slots[N_SLOTS];
static gn_launch launches[6];
static int operands[6][4] = {{S_PTR, S_COL, S_X, S_A},     {S_A, S_W, S_B},
                             {S_PTR, S_COL, S_B, S_ALIAS}, {S_OUT, S_ALIAS},
                             {S_PTR, S_POS, S_X, S_EDGE},  {S_W, S_STEP}};
static int sym_operands[6][1] = {{0}, {0}, {0}, {0}, {0}, {2}};
static gn_kernel_fn code[] = {gather_sum, scale_rows, edge_values, update};
static gn_artifact art;

static gn_term rows(int sym, int64_t coef) { return (gn_term){coef, sym, 0}; }

/* loops(g) twice over x with a dense row kernel between; the result copied out; edge values; an
 * update in place. */
static void make_program(void)
{
    graph_slots[0] = (gn_graph_slot){.name = "g", .parent = -1};
    graph_slots[1] = (gn_graph_slot){.parent = 0, .how = GN_REMAINING_LOOPS};
    checks[0] = (gn_size_check){0, GN_SYM_N_SRC, rows(0, 1)};
    slots[S_PTR] = (gn_slot){.kind = GN_SLOT_GRAPH,
                             .elem = GN_I32,
                             .elems = {1, 0, 1},
                             .graph = 1,
                             .array = GN_GRAPH_ROW_PTR};
    slots[S_COL] = (gn_slot){.kind = GN_SLOT_GRAPH,
                             .elem = GN_I32,
                             .elems = rows(1, 1),
                             .graph = 1,
                             .array = GN_GRAPH_COL};
    slots[S_POS] = (gn_slot){.kind = GN_SLOT_GRAPH,
                             .elem = GN_I32,
                             .elems = rows(1, 1),
                             .graph = 1,
                             .array = GN_GRAPH_POS};
    slots[S_X] = (gn_slot){.kind = GN_SLOT_INPUT,
                           .name = "x",
                           .elem = GN_F32,
                           .elems = rows(0, WIDTH),
                           .row_elems = WIDTH};
    slots[S_W] = (gn_slot){.kind = GN_SLOT_STATE,
                           .name = "w",
                           .elem = GN_F32,
                           .elems = rows(-1, WIDTH),
                           .row_elems = WIDTH};
    slots[S_STEP] = (gn_slot){.kind = GN_SLOT_STATE,
                              .name = "step",
                              .elem = GN_I64,
                              .elems = rows(-1, 1),
                              .row_elems = 1};
    slots[S_A] = (gn_slot){
        .kind = GN_SLOT_TEMP, .elem = GN_F32, .elems = rows(0, WIDTH), .first = 0, .last = 1};
    slots[S_B] = (gn_slot){
        .kind = GN_SLOT_TEMP, .elem = GN_F32, .elems = rows(0, WIDTH), .first = 1, .last = 2};
    slots[S_ALIAS] = (gn_slot){
        .kind = GN_SLOT_ALIAS, .elem = GN_F32, .elems = rows(0, WIDTH), .alias = S_A};
    slots[S_OUT] = (gn_slot){.kind = GN_SLOT_OUTPUT,
                             .name = "out",
                             .elem = GN_F32,
                             .elems = rows(0, WIDTH),
                             .row_elems = WIDTH,
                             .edge_graph = -1};
    slots[S_EDGE] = (gn_slot){.kind = GN_SLOT_OUTPUT,
                              .name = "edge",
                              .elem = GN_F32,
                              .elems = rows(1, 1),
                              .row_elems = 1,
                              .edge_graph = 1};
    gn_launch row = {.kernel = 0,
                     .n_sym = 1,
                     .trip = {1, 0, 0},
                     .step = 1,
                     .parallel = true,
                     .n_balance = 1,
                     .balance = {{1, GN_GRAPH_ROW_PTR}}};
    static const int n_buf[] = {4, 3, 4, 2, 4, 2};
    for (int k = 0; k < 6; k++) {
        launches[k] = row;
        launches[k].name = "launch";
        launches[k].buf = operands[k];
        launches[k].sym = sym_operands[k];
        launches[k].n_buf = n_buf[k];
    }
    launches[1].kernel = 1;
    launches[1].step = 16;
    launches[1].n_balance = 0;
    launches[3].kind = GN_LAUNCH_COPY;
    launches[4].kernel = 2;
    launches[5].kernel = 3;
    launches[5].parallel = false;
    launches[5].trip = (gn_term){1, -1, 0};
    art = (gn_artifact){.name = "test",
                        .n_syms = 3,
                        .n_slots = N_SLOTS,
                        .n_launches = 6,
                        .n_graphs = 2,
                        .n_checks = 1,
                        .n_code = 4,
                        .syms = syms,
                        .slots = slots,
                        .launches = launches,
                        .graphs = graph_slots,
                        .checks = checks,
                        .code = code};
}

/* Data ----------------------------------------------------------------------------------------- */

static edge_list list;
static gn_graph *graph;
static float *x, w[WIDTH];
static int64_t step;
static gn_binding tensors[5];
static gn_graph_binding graphs[1];

static void data_of(int64_t nodes, int64_t edges)
{
    list = edges_random(nodes, nodes, edges);
    ok(gn_graph_from_coo(GN_I32, nodes, nodes, list.n, GN_I64, list.src, list.dst, &graph));
    x = aligned_alloc(64, (size_t)(nodes * WIDTH + 16) * 4 / 64 * 64 + 64);
    for (int64_t i = 0; i < nodes * WIDTH; i++) x[i] = (float)gn_random_uniform(1, 2, (uint64_t)i);
    for (int j = 0; j < WIDTH; j++) w[j] = (float)j;
    step = 0;
    tensors[0] = (gn_binding){"x", GN_F32, nodes, WIDTH, x};
    tensors[1] = (gn_binding){"w", GN_F32, 1, WIDTH, w};
    tensors[2] = (gn_binding){"step", GN_I64, 1, 1, &step};
    tensors[3] = (gn_binding){"unused", GN_F32, 1, 1, w};
    graphs[0] = (gn_graph_binding){"g", graph};
}

static void setup(void)
{
    make_program();
    data_of(NODES, EDGES);
}

static void data_free(void)
{
    gn_graph_free(graph);
    edges_free(&list);
    free(x);
}

static gn_instance *instance(gn_pool *pool)
{
    gn_instance *in;
    ok(gn_instance_new(&art, 1, graphs, 4, tensors, pool, NULL, &in));
    return in;
}

static gn_pool *pool_of(int threads)
{
    gn_pool *p;
    ok(gn_pool_new(threads, &p));
    return p;
}

/* The program's results by its kernels alone, one after another. */
static float *slow_out(const gn_graph *d)
{
    size_t n = (size_t)(d->n_dst * WIDTH + 1);
    float *a = malloc(n * 4), *b = malloc(n * 4);
    const int64_t n_rows = d->n_dst;
    gather_sum((void *[]){d->array[GN_GRAPH_ROW_PTR], d->array[GN_GRAPH_COL], x, a}, NULL, 0,
               d->n_dst);
    scale_rows((void *[]){a, w, b}, &n_rows, 0, (d->n_dst + 15) / 16);
    gather_sum((void *[]){d->array[GN_GRAPH_ROW_PTR], d->array[GN_GRAPH_COL], b, a}, NULL, 0,
               d->n_dst);
    free(b);
    return a;
}

/* Running -------------------------------------------------------------------------------------- */

static void run_and_check(int threads)
{
    gn_pool *pool = pool_of(threads);
    gn_instance *in = instance(pool);
    const gn_graph *d = gn_instance_graph(in, 1);
    int64_t elems, first_step = step;
    for (int run = 0; run < 3; run++) {
        float *want = slow_out(d);
        gn_instance_poison(in);
        gn_instance_run(in);
        const float *out = gn_instance_output(in, "out", &elems);
        ck_assert_int_eq(elems, d->n_dst * WIDTH);
        if (elems) ck_assert_mem_eq(out, want, (size_t)elems * 4);
        free(want);
        ck_assert_int_eq(step, first_step + run + 1);
    }
    const float *edge = gn_instance_output(in, "edge", &elems);
    ck_assert_int_eq(elems, d->n_edge);
    for (int64_t v = 0; v < d->n_dst; v++)
        for (int64_t e = at(d, GN_GRAPH_ROW_PTR, v); e < at(d, GN_GRAPH_ROW_PTR, v + 1); e++)
            if (edge[e] != x[v * WIDTH] + 1000 * (float)at(d, GN_GRAPH_POS, e))
                ck_abort_msg("edge %lld", (long long)e);
    gn_instance_free(in);
    gn_pool_free(pool);
}

START_TEST(same_bits_for_any_number_of_threads)
{
    setup();
    for (int threads = 1; threads <= 4; threads++) {
        for (int j = 0; j < WIDTH; j++) w[j] = (float)j;
        run_and_check(threads);
    }
    data_free();
}
END_TEST

START_TEST(tiny_graphs)
{
    for (int64_t nodes = 0; nodes < 4; nodes++)
        for (int64_t edges = 0; edges < 3; edges++) {
            make_program();
            data_of(nodes, edges);
            run_and_check(1);
            run_and_check(3);
            data_free();
        }
}
END_TEST

/* All edges end at one node: the ranges still cover every row once. */
START_TEST(a_star_is_balanced)
{
    setup();
    for (int64_t e = 0; e < list.n; e++) list.dst[e] = e % 100 ? 1234 : e % NODES;
    gn_graph_free(graph);
    ok(gn_graph_from_coo(GN_I32, NODES, NODES, list.n, GN_I64, list.src, list.dst, &graph));
    graphs[0].graph = graph;
    run_and_check(4);
    data_free();
}
END_TEST

START_TEST(memory_is_known)
{
    setup();
    gn_pool *pool = pool_of(1);
    gn_instance *in = instance(pool);
    int64_t sym[3] = {0}, bytes;
    for (int k = 0; k < 3; k++) sym[k] = gn_instance_symbol(in, k);
    ck_assert_int_eq(sym[0], NODES);
    ck_assert_int_eq(sym[1], gn_instance_graph(in, 1)->n_edge);
    ok(gn_plan_bytes(&art, sym, 1, &bytes));
    ck_assert_int_eq(bytes, gn_instance_arena_bytes(in));
    ck_assert_int_eq(bytes, 2 * NODES * WIDTH * 4);
    ck_assert_int_gt(gn_instance_owned_bytes(in), bytes + NODES * WIDTH * 4 + sym[1] * 4);
    gn_instance_free(in);
    gn_pool_free(pool);
    data_free();
}
END_TEST

/* Instances that take turns in one arena, over graphs without what nobody reads, give what each
 * gives by itself. */
START_TEST(an_arena_is_shared)
{
    setup();
    gn_pool *pool = pool_of(2);
    gn_instance *in[3] = {instance(pool), NULL, NULL};
    ok(gn_instance_new(&art, 1, graphs, 4, tensors, pool, in[0], &in[2]));
    float *want = slow_out(gn_instance_graph(in[0], 1));
    const gn_graph *d = gn_instance_graph(in[0], 1);
    int64_t before = gn_graph_bytes(d),
            alone = gn_instances_derived_bytes(1, (const gn_instance *const *)in);
    /* the same graph */
    ck_assert_int_eq(gn_instances_derived_bytes(3, (const gn_instance *const *)in), alone);
    gn_instances_trim_graphs(3, in);
    ck_assert_int_lt(gn_graph_bytes(d), before);
    ck_assert_ptr_nonnull(d->array[GN_GRAPH_ROW_PTR]);
    ck_assert_ptr_null(d->array[GN_GRAPH_FROM]);
    ck_assert_int_eq(gn_graph_bytes(graph), 0);
    ok(gn_instances_share_arena(3, in));
    for (int k = 0; k < 3; k += 2) {
        float w0[WIDTH];
        memcpy(w0, w, sizeof w0);
        gn_instance_poison(in[2 - k]);
        gn_instance_run(in[k]);
        ck_assert_mem_eq(gn_instance_output(in[k], "out", NULL), want, NODES * WIDTH * 4);
        memcpy(w, w0, sizeof w0);
    }
    gn_instance_free(in[0]); /* the arena stays as long as one uses it */
    gn_instance_run(in[2]);
    ck_assert_mem_eq(gn_instance_output(in[2], "out", NULL), want, NODES * WIDTH * 4);
    ok(gn_instances_share_arena(1, &in[2]));
    gn_instance_free(in[2]);
    free(want);
    gn_pool_free(pool);
    data_free();
}
END_TEST

/* One that runs in another's turn has its arena, once that is shared, also after the other went. */
START_TEST(an_arena_is_borrowed)
{
    setup();
    gn_pool *pool = pool_of(1);
    gn_instance *owner = instance(pool), *guest = instance(pool);
    float *want = slow_out(gn_instance_graph(owner, 1));
    ck_assert(!gn_instance_borrow_arena(guest, owner));
    ok(gn_instances_share_arena(1, &owner));
    ck_assert(gn_instance_borrow_arena(guest, owner));
    for (int turn = 0; turn < 2; turn++) {
        float w0[WIDTH];
        memcpy(w0, w, sizeof w0);
        gn_instance_poison(guest);
        gn_instance_run(guest);
        ck_assert_mem_eq(gn_instance_output(guest, "out", NULL), want, NODES * WIDTH * 4);
        memcpy(w, w0, sizeof w0);
        gn_instance_free(owner);
        owner = NULL;
    }
    gn_instance_free(guest);
    free(want);
    gn_pool_free(pool);
    data_free();
}
END_TEST

/* Symbols that no graph gives: quotients, and the rows of a tensor. */
START_TEST(other_symbols)
{
    setup();
    gn_sym more[5] = {syms[0], syms[1], syms[2]};
    more[3] = (gn_sym){.name = "blocks", .kind = GN_SYM_CEIL, .value = 16, .of = 0};
    more[4] = (gn_sym){.name = "rows", .kind = GN_SYM_ROWS, .of = S_X};
    art.syms = more;
    art.n_syms = 5;
    launches[1].trip = rows(3, 1); /* as many blocks, counted by a quotient */
    launches[1].step = 1;
    slots[S_A].elems.sym = slots[S_ALIAS].elems.sym = 4;
    gn_pool *pool = pool_of(1);
    gn_instance *in = instance(pool);
    ck_assert_int_eq(gn_instance_symbol(in, 3), (NODES + 15) / 16);
    ck_assert_int_eq(gn_instance_symbol(in, 4), NODES);
    gn_instance_free(in);
    gn_pool_free(pool);
    run_and_check(2);
    tensors[0].rows = -NODES;
    gn_pool *one = pool_of(1);
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, one, NULL, &in), GN_ERR_NOMEM,
            "cannot be addressed");
    tensors[0].name = "unknown";
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, one, NULL, &in), GN_ERR_DATA,
            "nothing is bound for 'x'");
    more[4].of = S_PTR;
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, one, NULL, &in), GN_ERR_INTERNAL,
            "rows counts the rows of what");
    more[3].of = 3;
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, one, NULL, &in), GN_ERR_INTERNAL,
            "blocks is no quotient");
    gn_pool_free(one);
    data_free();
}
END_TEST

START_TEST(bound_outputs_and_rebinding)
{
    setup();
    gn_pool *pool = pool_of(2);
    float *mine = malloc(NODES * WIDTH * 4), *other = malloc(NODES * WIDTH * 4),
          *x2 = calloc(NODES * WIDTH, 4);
    tensors[4] = (gn_binding){"out", GN_F32, NODES, WIDTH, mine, .output = true};
    gn_instance *in;
    ok(gn_instance_new(&art, 1, graphs, 5, tensors, pool, NULL, &in));
    float *want = slow_out(gn_instance_graph(in, 1));
    gn_instance_run(in);
    ck_assert_ptr_eq(gn_instance_output(in, "out", NULL), mine);
    ck_assert_mem_eq(mine, want, NODES * WIDTH * 4);
    free(want);

    float *keep = x;
    x = x2;
    want = slow_out(gn_instance_graph(in, 1));
    ok(gn_instance_rebind(in, "x", x2));
    ok(gn_instance_rebind_output(in, "out", other));
    ok(gn_instance_rebind_output(in, "out", other)); /* onto itself */
    gn_instance_run(in);
    ck_assert_ptr_eq(gn_instance_output(in, "out", NULL), other);
    ck_assert_mem_eq(other, want, NODES * WIDTH * 4);
    x = keep;

    refused(gn_instance_rebind(in, "y", x2), GN_ERR_USAGE, "test has no tensor 'y'");
    refused(gn_instance_rebind(in, "out", x2), GN_ERR_USAGE, "test has no tensor 'out'");
    refused(gn_instance_rebind_output(in, "x", x2), GN_ERR_USAGE, "test has no tensor 'x'");
    refused(gn_instance_rebind(in, "x", NULL), GN_ERR_DATA, "'x' is bound to no data");
    refused(gn_instance_rebind(in, "x", (char *)x2 + 2), GN_ERR_DATA, "'x' is not aligned");
    refused(gn_instance_rebind_output(in, "out", x2 + 4), GN_ERR_DATA, "'out' and 'x' overlap");
    ck_assert_ptr_null(gn_instance_output(in, "x", NULL));
    gn_instance_free(in);
    gn_pool_free(pool);
    free(mine);
    free(other);
    free(x2);
    free(want);
    data_free();
}
END_TEST

START_TEST(derived_graphs_are_shared)
{
    setup();
    gn_pool *pool = pool_of(1);
    gn_instance *a = instance(pool), *b, *c;
    ok(gn_instance_new(&art, 1, graphs, 4, tensors, pool, a, &b));
    ck_assert_ptr_eq(gn_instance_graph(a, 1), gn_instance_graph(b, 1));
    ck_assert_ptr_eq(gn_instance_graph(a, 0), graph);
    gn_instance_free(a); /* the other one holds it */
    ok(gn_instance_new(&art, 1, graphs, 4, tensors, pool, b, &c));
    gn_instance_run(b);
    gn_instance_run(c);
    ck_assert_mem_eq(gn_instance_output(b, "edge", NULL), gn_instance_output(c, "edge", NULL),
                     NODES * 4);
    gn_instance_free(c);

    gn_graph *g2; /* other base graph: nothing to share */
    ok(gn_graph_from_coo(GN_I32, NODES, NODES, list.n, GN_I64, list.src, list.dst, &g2));
    graphs[0].graph = g2;
    ok(gn_instance_new(&art, 1, graphs, 4, tensors, pool, b, &c));
    ck_assert_ptr_ne(gn_instance_graph(c, 1), gn_instance_graph(b, 1));
    gn_instance_free(b);
    gn_instance_free(c);
    gn_instance_free(NULL);
    gn_graph_free(g2);
    gn_pool_free(pool);
    data_free();
}
END_TEST

START_TEST(profiles)
{
    setup();
    gn_pool *pool = pool_of(2);
    gn_instance *in = instance(pool);
    int64_t ns[6], runs;
    gn_instance_run(in);
    gn_instance_times(in, ns, &runs);
    ck_assert_int_eq(runs, 0);
    gn_instance_profile(in, true);
    for (int k = 0; k < 5; k++) gn_instance_run(in);
    gn_instance_profile(in, false);
    gn_instance_run(in);
    gn_instance_times(in, ns, &runs);
    ck_assert_int_eq(runs, 5);
    for (int k = 0; k < 6; k++) ck_assert_int_ge(ns[k], 0);
    ck_assert_int_gt(ns[0], 0);
    gn_instance_profile(in, true);
    gn_instance_times(in, ns, &runs);
    ck_assert_int_eq(runs, 0);
    ck_assert_int_eq(ns[0], 0);
    gn_instance_free(in);
    gn_pool_free(pool);
    data_free();
}
END_TEST

/* Refusing ------------------------------------------------------------------------------------- */

static void refuse(gn_code expected, const char *words)
{
    gn_pool *pool = pool_of(1);
    gn_instance *in = (gn_instance *)&in;
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, pool, NULL, &in), expected, words);
    ck_assert_ptr_null(in);
    gn_pool_free(pool);
    data_free();
    setup();
}

START_TEST(bindings_that_do_not_fit)
{
    setup();
    tensors[0].name = "xx";
    refuse(GN_ERR_DATA, "test: nothing is bound for 'x'");
    tensors[0].rows = NODES - 1;
    refuse(GN_ERR_DATA, "'x' has 2999 rows of 8 elements, expected 3000 of 8");
    tensors[1].row_elems = 7;
    refuse(GN_ERR_DATA, "'w' has 1 rows of 7 elements, expected 1 of 8");
    tensors[0].elem = GN_F64;
    refuse(GN_ERR_DATA, "'x' is f64, expected f32");
    tensors[0].data = NULL;
    refuse(GN_ERR_DATA, "'x' is bound to no data");
    tensors[2].data = (char *)x + 4;
    refuse(GN_ERR_DATA, "'step' is not aligned to its elements, i64");
    tensors[1].data = x + 100;
    refuse(GN_ERR_DATA, "'w' and 'x' overlap in memory");
    graphs[0].name = "h";
    refuse(GN_ERR_DATA, "nothing is bound for graph 'g'");
    graphs[0].graph = NULL;
    refuse(GN_ERR_DATA, "nothing is bound for graph 'g'");
    graph_slots[0].pattern_of = "x";
    refuse(GN_ERR_DATA, "no sparse matrix is bound for input 'x'");
    graph_slots[0].arrays = GN_ARRAY(GN_GRAPH_VALUE);
    refuse(GN_ERR_DATA, "test: graph 0: the graph is not the pattern");
    operands[3][1] = S_POS;
    refuse(GN_ERR_INTERNAL, "launch 3 copies");
    operands[3][1] = S_ALIAS;
    data_free();
}
END_TEST

START_TEST(graphs_that_do_not_fit)
{
    setup();
    gn_graph_free(graph);
    ok(gn_graph_from_coo(GN_I32, NODES + 1, NODES, 1, GN_I64, list.src, list.dst, &graph));
    graphs[0].graph = graph;
    graph_slots[1].how = GN_REVERSE;
    syms[0].graph = 0;
    refuse(GN_ERR_DATA, "test: graph 'g' has 3001 sources, expected 3000");
    syms[0].graph = 1;
    gn_graph_free(graph);
    ok(gn_graph_from_coo(GN_I32, NODES + 1, NODES, 1, GN_I64, list.src, list.dst, &graph));
    graphs[0].graph = graph;
    refuse(GN_ERR_DATA, "remaining_self_loops: the graph goes from 3001 nodes to 3000 others");
    gn_graph_free(graph);
    graph = graph_of(GN_I64, &list);
    graphs[0].graph = graph;
    refuse(GN_ERR_DATA, "compiled for graphs with i32 indices, graph 1 has i64");
    slots[S_COL].elems.plus = 1;
    refuse(GN_ERR_DATA, "array 1 of graph 1 has");
    data_free();
}
END_TEST

START_TEST(out_of_memory)
{
    setup();
    gn_pool *pool = pool_of(2);
    gn_instance *in = NULL;
    OUT_OF_MEMORY_SWEEP(gn_instance_new(&art, 1, graphs, 4, tensors, pool, NULL, &in));
    gn_instance_run(in);
    gn_instance_free(in);
    slots[S_B].elems.coef = INT64_MAX / NODES;
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, pool, NULL, &in), GN_ERR_NOMEM,
            "cannot be addressed");
    slots[S_B].elems.coef = (int64_t)1 << 44;
    refused(gn_instance_new(&art, 1, graphs, 4, tensors, pool, NULL, &in), GN_ERR_NOMEM,
            "the arena takes");
    gn_pool_free(pool);
    data_free();
}
END_TEST

RUN_SUITE("runtime exec", same_bits_for_any_number_of_threads, tiny_graphs, a_star_is_balanced,
          memory_is_known, an_arena_is_shared, an_arena_is_borrowed, other_symbols,
          bound_outputs_and_rebinding, derived_graphs_are_shared, profiles,
          bindings_that_do_not_fit, graphs_that_do_not_fit, out_of_memory)
