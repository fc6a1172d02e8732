/* The memory plan: nothing alive overlaps, and little is wasted. */
/* links: base runtime */
#include "runtime/run/exec.h"
#include "runtime/run/plan.h"
#include "runtime_check.h"

enum { MANY = 400 };

static gn_slot slots[MANY];
static gn_launch launches[MANY];
static int operands[MANY][4];
static gn_sym syms[] = {{"node", GN_SYM_CONST, 0, 100}, {"edge", GN_SYM_CONST, 0, 700}};
static gn_kernel_fn code[1];
static gn_artifact art;

static void begin(int n_launches)
{
    memset(slots, 0, sizeof slots);
    memset(launches, 0, sizeof launches);
    art = (gn_artifact){.name = "test",
                        .n_syms = 2,
                        .n_launches = n_launches,
                        .n_code = 1,
                        .syms = syms,
                        .slots = slots,
                        .launches = launches,
                        .code = code};
    for (int l = 0; l < n_launches; l++) launches[l] = (gn_launch){.name = "l", .buf = operands[l]};
}

static int temp(int64_t elems, int first, int last)
{
    slots[art.n_slots] = (gn_slot){.kind = GN_SLOT_TEMP,
                                   .elem = GN_F32,
                                   .elems = {elems, -1, 0},
                                   .first = first,
                                   .last = last};
    return art.n_slots++;
}

static int alias(int of)
{
    slots[art.n_slots] = slots[of];
    slots[art.n_slots].kind = GN_SLOT_ALIAS;
    slots[art.n_slots].alias = of;
    return art.n_slots++;
}

static gn_plan plan(void)
{
    static const int64_t sym[] = {100, 700};
    gn_plan p;
    ok(gn_artifact_check(&art));
    ok(gn_plan_new(&art, sym, 1, &p));
    return p;
}

static void check_plan(const gn_plan *p)
{
    int64_t end = 0;
    for (int a = 0; a < art.n_slots; a++) {
        if (slots[a].kind != GN_SLOT_TEMP) {
            SAME(p->offset[a], -1);
            continue;
        }
        ck_assert_int_ge(p->offset[a], 0);
        SAME(p->offset[a] % 64, 0);
        ck_assert_int_ge(p->size[a], p->elems[a] * 4);
        if (p->offset[a] + p->size[a] > end) end = p->offset[a] + p->size[a];
        for (int b = 0; b < a; b++) {
            bool together = slots[b].kind == GN_SLOT_TEMP && slots[a].first <= slots[b].last &&
                            slots[b].first <= slots[a].last;
            bool apart = p->offset[a] + p->size[a] <= p->offset[b] ||
                         p->offset[b] + p->size[b] <= p->offset[a];
            if (together && !apart && p->size[a] && p->size[b])
                ck_abort_msg("slots %d and %d meet", a, b);
        }
    }
    SAME(p->bytes, end);
    ck_assert_int_ge(p->bytes, p->floor);
    int64_t floor = 0;
    for (int l = 0; l < art.n_launches; l++) {
        int64_t alive = 0;
        for (int a = 0; a < art.n_slots; a++)
            if (slots[a].kind == GN_SLOT_TEMP && slots[a].first <= l && l <= slots[a].last)
                alive += p->size[a];
        if (alive > floor) floor = alive;
    }
    SAME(p->floor, floor);
}

START_TEST(random_lifetimes)
{
    double worst = 1, sum = 0;
    const int tries = 300;
    for (int k = 0; k < tries; k++) {
        int n = 1 + (int)random_below(40);
        begin(n);
        int n_slots = (int)random_below(120);
        for (int s = 0; s < n_slots; s++) {
            int first = (int)random_below(n), last = first + (int)random_below(8);
            temp(random_below(5) ? random_below(4000) : 0, first, last < n ? last : n - 1);
        }
        gn_plan p = plan();
        check_plan(&p);
        if (p.floor) {
            double ratio = (double)p.bytes / (double)p.floor;
            sum += ratio;
            if (ratio > worst) worst = ratio;
        }
        gn_plan_free(&p);
    }
    ck_assert_msg(worst < 1.5 && sum / tries < 1.1, "worst %g, mean %g of the lower bound", worst,
                  sum / tries);
}
END_TEST

/* Layers forward, each value kept for the backward pass, then backward: what training looks
 * like. */
START_TEST(training_chains)
{
    for (int layers = 1; layers <= 12; layers++)
        for (int k = 0; k < 10; k++) {
            begin(4 * layers);
            int end = 4 * layers - 1;
            for (int i = 0; i < layers; i++) {
                int64_t width = 16 << random_below(5);
                temp(2708 * width, 2 * i, 2 * i + 1);             /* x W */
                temp(2708 * width, 2 * i + 1, end - 2 * i);       /* its aggregation, kept */
                temp(2708 * width, end - 2 * i - 1, end - 2 * i); /* gradients */
                if (i) temp(2708 * width, end - 2 * i, end - 2 * i + 1);
                temp(13264, 2 * i, end - 2 * i); /* attention, kept */
            }
            gn_plan p = plan();
            check_plan(&p);
            ck_assert_msg(p.bytes * 10 <= p.floor * 12, "%lld for %lld", (long long)p.bytes,
                          (long long)p.floor);
            gn_plan_free(&p);
        }
}
END_TEST

START_TEST(aliases_live_as_long_as_they_are_used)
{
    begin(4);
    int a = temp(100, 0, 0), b = temp(100, 1, 1), c = temp(100, 2, 3), x = alias(alias(a));
    launches[3].n_buf = 2;
    operands[3][0] = x;
    operands[3][1] = c;
    gn_plan p = plan();
    ck_assert_int_eq(p.root[x], a);
    ck_assert_int_eq(p.last[a], 3);
    ck_assert_int_ne(p.offset[a], p.offset[b]);
    ck_assert_int_ne(p.offset[a], p.offset[c]);
    ck_assert_int_eq(p.offset[b], p.offset[c]); /* these two never meet */
    ck_assert_int_eq(p.bytes, 2 * 448);
    gn_plan_free(&p);
    begin(2);
    a = temp(100, 0, 1);
    x = alias(a);
    slots[x].elems.coef = 101;
    int64_t bytes;
    refused(gn_plan_bytes(&art, NULL, 1, &bytes), GN_ERR_INTERNAL, "alias of the smaller slot 0");
}
END_TEST

START_TEST(sizes_follow_the_symbols)
{
    begin(1);
    int t = temp(0, 0, 0), last = temp(16, 0, 0);
    slots[t].elems = (gn_term){24, 1, 1};
    int64_t bytes;
    for (int64_t n = 0; n < 100; n++) {
        int64_t sym[] = {0, n};
        ok(gn_plan_bytes(&art, sym, 1, &bytes));
        ck_assert_int_eq(bytes, ((24 * n + 1) * 4 + 63) / 64 * 64 + 64);
    }
    int64_t huge[] = {0, INT64_MAX / 24 - 1};
    refused(gn_plan_bytes(&art, huge, 1, &bytes), GN_ERR_NOMEM, "slot 0 (a temporary) of 24 *");
    huge[1] = INT64_MAX;
    refused(gn_plan_bytes(&art, huge, 1, &bytes), GN_ERR_NOMEM, "cannot be addressed");
    slots[last].elems = slots[t].elems;
    huge[1] = INT64_MAX / 24 / 5;
    refused(gn_plan_bytes(&art, huge, 1, &bytes), GN_ERR_NOMEM, "together");
    int64_t sym[] = {0, 3};
    OUT_OF_MEMORY_SWEEP(gn_plan_bytes(&art, sym, 1, &bytes));
    begin(0);
    ok(gn_plan_bytes(&art, sym, 1, &bytes));
    ck_assert_int_eq(bytes, 0);
}
END_TEST

/* Artifacts that make no sense ----------------------------------------------------------------- */

static gn_graph_slot graphs[2];

static void sane(void)
{
    begin(2);
    temp(10, 0, 1);
    alias(0);
    graphs[0] = (gn_graph_slot){.name = "g"};
    graphs[1] = (gn_graph_slot){.parent = 0, .how = GN_REVERSE};
    art.graphs = graphs;
    art.n_graphs = 2;
    operands[0][0] = 0;
    launches[0].n_buf = 1;
    ok(gn_artifact_check(&art));
}

/* The first of its launches is a product. */
static gn_product product;
static uint8_t access_of_product[] = {GN_WRITES, GN_READS, GN_READS};

static void sane_product(void)
{
    static const int slot[] = {0, 1, 2};
    begin(1);
    temp(10, 0, 0);
    temp(15, 0, 0);
    temp(6, 0, 0);
    alias(0);
    memcpy(operands[0], slot, sizeof slot);
    memcpy(access_of_product, (const uint8_t[]){GN_WRITES, GN_READS, GN_READS}, 3);
    product = (gn_product){.a = 1,
                           .b = 2,
                           .bias = -1,
                           .cols = 2,
                           .depth = 3,
                           .a_row = 3,
                           .a_term = 1,
                           .b_term = 2,
                           .b_col = 1};
    launches[0].n_buf = 3;
    launches[0].access = access_of_product;
    launches[0].parallel = true;
    launches[0].trip = (gn_term){5, -1, 0};
    launches[0].step = 1;
    launches[0].product = &product;
    ok(gn_artifact_check(&art));
}

#define NO_PRODUCT(change, words)                                                                  \
    do {                                                                                           \
        sane_product();                                                                            \
        change;                                                                                    \
        refused(gn_artifact_check(&art), GN_ERR_INTERNAL, words);                                  \
    } while (0)

START_TEST(malformed_products)
{
    NO_PRODUCT(product.out = 3, "launch 0 is a product of buffers that it does not have");
    NO_PRODUCT(product.a = -1, "launch 0 is a product of buffers that it does not have");
    NO_PRODUCT(product.b = 3, "launch 0 is a product of buffers that it does not have");
    NO_PRODUCT(product.bias = 3, "launch 0 is a product of buffers that it does not have");
    NO_PRODUCT(launches[0].parallel = false,
               "launch 0 is a product of buffers that it does not have");
    NO_PRODUCT(product.cols = 0, "launch 0 is a product whose sizes are none");
    NO_PRODUCT(product.depth = -1, "launch 0 is a product whose sizes are none");
    NO_PRODUCT(product.a_term = 2, "launch 0 is a product whose sizes are none");
    NO_PRODUCT(product.b_col = 0, "launch 0 is a product whose sizes are none");
    NO_PRODUCT(access_of_product[0] = GN_READS | GN_WRITES,
               "launch 0 is a product that is not only written");
    NO_PRODUCT(launches[0].access = NULL, "launch 0 is a product that is not only written");
    NO_PRODUCT(operands[0][2] = 0, "launch 0 is a product that is not only written");
    NO_PRODUCT(operands[0][1] = 3, "launch 0 is a product that is not only written");
}
END_TEST

#define BROKEN(change, words)                                                                      \
    do {                                                                                           \
        sane();                                                                                    \
        change;                                                                                    \
        refused(gn_artifact_check(&art), GN_ERR_INTERNAL, words);                                  \
    } while (0)

START_TEST(malformed_artifacts)
{
    gn_size_check check = {.graph = 2};
    gn_sym bad = {"bad", GN_SYM_N_DST, 7, 0};
    BROKEN(slots[1].alias = 1, "slot 1 is an alias of none");
    BROKEN(slots[1].alias = 2, "slot 1 is an alias of none");
    BROKEN(slots[0].kind = (gn_slot_kind)9, "slot 0 is of no kind");
    BROKEN(slots[0].elem = (gn_elem)99, "slot 0 is of no kind");
    BROKEN(slots[0].elems.sym = 2, "slot 0 has symbol 2 of 2");
    BROKEN(slots[0].last = -1, "slot 0 lives from launch 0 to -1");
    BROKEN(slots[0].kind = GN_SLOT_INPUT, "slot 0 is bound by name and has none");
    BROKEN((slots[0].kind = GN_SLOT_GRAPH, slots[0].graph = 2), "slot 0 is array 0 of graph 2");
    BROKEN(graphs[1].parent = 1, "graph 1 comes from graph 1");
    BROKEN(graphs[0].name = NULL, "graph 0 comes from graph 0");
    BROKEN(graphs[1].how = GN_CORRUPT + 1, "derived in no known way");
    BROKEN(graphs[1].how = GN_SUBSET, "graph 1 picks rows by no mask");
    BROKEN((graphs[1].how = GN_GROW, graphs[1].with[0] = 1), "graph 1 comes from graph 1");
    BROKEN((graphs[1].how = GN_GROW, graphs[1].with[0] = -2), "graph 1 comes from graph -2");
    BROKEN((graphs[1].how = GN_RESTRICT, graphs[1].with[1] = 2), "graph 1 comes from graph 2");
    BROKEN(graphs[1].arrays = GN_ARRAY(GN_GRAPH_ARRAY_COUNT), "unknown arrays");
    BROKEN(operands[0][0] = 2, "launch 0 has slot 2 of 2");
    BROKEN(launches[1].kernel = 1, "launch 1 runs kernel 1 of 1");
    BROKEN(launches[1].kind = GN_LAUNCH_COPY, "launch 1 copies between 0 slots");
    BROKEN((launches[1].parallel = true, launches[1].trip.sym = -1), "launch 1 has steps of 0");
    BROKEN((launches[1].parallel = true, launches[1].trip.sym = -1, launches[1].step = 1,
            launches[1].n_balance = 1, launches[1].balance[0].graph = 2),
           "balanced by array 0 of graph 2");
    BROKEN((launches[1].parallel = true, launches[1].trip.sym = -1, launches[1].step = 1,
            launches[1].n_balance = GN_MOST_BALANCE + 1),
           "balanced by 9 graphs");
    BROKEN((art.checks = &check, art.n_checks = 1), "check 0 is of no size");
    BROKEN((art.syms = &bad, art.n_syms = 1), "symbol bad is a size of graph 7 of 2");
    bad = (gn_sym){.name = "bad", .kind = GN_SYM_PARTS, .value = 1, .array = GN_GRAPH_COL};
    BROKEN((art.syms = &bad, art.n_syms = 1), "symbol bad counts no parts");
    bad.array = gn_part_array_of(GN_PART_MOST, GN_PART_ROW);
    BROKEN((art.syms = &bad, art.n_syms = 1), "symbol bad counts no parts");
    bad.array = gn_part_array_of(GN_PART_MOST, GN_CSC_PART_PTR);
    bad.value = 0;
    BROKEN((art.syms = &bad, art.n_syms = 1), "symbol bad counts no parts");
    bad.value = 1;
    bad.graph = 7;
    BROKEN((art.syms = &bad, art.n_syms = 1), "symbol bad is a size of graph 7 of 2");
}
END_TEST

/* Graphs of columns, and of draws. */
static gn_data_column columns[2];

static void sane_edges(void)
{
    sane();
    columns[0] = (gn_data_column){.name = "m", .elem = GN_BOOL, .of = {-1, -1}, .graph = -1};
    columns[1] = (gn_data_column){
        .kind = GN_COLUMN_NOT, .elem = GN_BOOL, .of = {0, -1}, .graph = -1};
    graphs[1] = (gn_graph_slot){.how = GN_FILTER, .column = 1, .time = -1, .with = {-1, -1}};
    art.columns = columns;
    art.n_columns = 2;
    ok(gn_artifact_check(&art));
    graphs[1] = (gn_graph_slot){
        .how = GN_CORRUPT, .drawn = true, .times = 2, .with = {-1, -1}, .key_of = {"seed", "step"}};
    ok(gn_artifact_check(&art));
}

#define NO_EDGES(change, words)                                                                    \
    do {                                                                                           \
        sane_edges();                                                                              \
        change;                                                                                    \
        refused(gn_artifact_check(&art), GN_ERR_INTERNAL, words);                                  \
    } while (0)

static gn_graph_slot of_columns(gn_graph_derive how)
{
    return (gn_graph_slot){
        .how = how, .column = 1, .time = -1, .with = {-1, -1}, .rows = {.graph = -1}};
}

START_TEST(malformed_edges)
{
    NO_EDGES(columns[1].of[0] = 1, "column 1 is of nothing");
    NO_EDGES(columns[0].elem = GN_F64, "column 0 is of nothing");
    NO_EDGES(columns[0].elem = GN_F32, "column 1 is of nothing"); /* which weights make nothing of
                                                                   */
    NO_EDGES(columns[0].name = NULL, "column 0 is of nothing");
    NO_EDGES(columns[0].drawn = true, "column 0 is of nothing");
    NO_EDGES(columns[0].graphs = 1, "column 1 is of nothing"); /* which says that it needs none */
    NO_EDGES((columns[1].kind = GN_COLUMN_GATHER, columns[1].graph = 0), "column 1 is of nothing");
    NO_EDGES((columns[1].kind = GN_COLUMN_CONST, columns[1].rows.graph = 0),
             "column 1 is of nothing");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), graphs[1].column = 2),
             "graph 1 is made of column 2");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), columns[1].graphs = 2),
             "graph 1 is made of column 1");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), columns[1].elem = GN_I32),
             "graph 1 is made of a mask that is none");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), graphs[1].end = 3), "edges of graph 1 are apart");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), graphs[1].time = 0), "edges of graph 1 are apart");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), graphs[1].end = 1, graphs[1].time = 2),
             "edges of graph 1 are apart");
    NO_EDGES((graphs[1] = of_columns(GN_SUBSET), graphs[1].mask_of = "m", graphs[1].end = 1,
              graphs[1].time = 0),
             "rows of graph 1 are apart"); /* by times that are bools */
    NO_EDGES((graphs[1] = of_columns(GN_INDEX), graphs[1].rows.rows = -1),
             "graph 1 counts rows of nothing");
    NO_EDGES((graphs[1] = of_columns(GN_INDEX), graphs[1].with[0] = 1),
             "graph 1 counts rows of nothing");
    NO_EDGES(graphs[1].times = 0, "graph 1 is drawn in no known way");
    NO_EDGES(graphs[1].end = 3, "graph 1 is drawn in no known way");
    NO_EDGES(graphs[1].key_of[1] = NULL, "graph 1 is drawn in no known way");
    NO_EDGES(graphs[1].drawn = false, "graph 1 is drawn and can't be, or the other way round");
    NO_EDGES((graphs[1] = of_columns(GN_FILTER), graphs[1].drawn = true),
             "graph 1 is drawn and can't be, or the other way round");
    NO_EDGES(graphs[1].parent = 1, "graph 1 comes from graph 1");
}
END_TEST

RUN_SUITE("runtime plan", random_lifetimes, training_chains, aliases_live_as_long_as_they_are_used,
          sizes_follow_the_symbols, malformed_artifacts, malformed_products, malformed_edges)
