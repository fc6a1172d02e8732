/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 300 */
/* Facts with corrupted ones beside them, trained step by step: each step has draws of its own, and
 * gives what the evaluator does, whatever the number of threads. */
#include "runtime/memory.h"
#include "support/facts_step.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;
static facts_data data;
static gn_pool *pool;
static gn_image *image;
static gir_program *program;
static gn_compiled *compiled;

static void ok(gn_status *s)
{
    ck_assert_msg(!s, "%s (%s:%d)", s ? gn_status_message(s) : "", s ? s->file : "",
                  s ? s->line : 0);
}

static void compile(bool eager)
{
    gn_compile_options o = {.index = GN_I32};
    gn_code_report report;
    o.pass = (gn_pass_options){.limit = -1, .eager = eager, .verify = true};
    o.code = (gn_codegen_options){.opt_level = SUITE_OPT_LEVEL, .threads = 1};
    ok(gn_compile(&arena, program, &o, NULL, &compiled));
    ok(gn_compile_code(&arena, 1, &compiled, &o.code, &image, &report));
}

static void begin(int threads)
{
    gn_arena_init(&arena);
    ok(facts_data_init(&data));
    ok(gn_pool_new(threads, &pool));
}

static void setup_with(int end, int batch, bool touched, int threads, bool eager)
{
    begin(threads);
    ok(facts_step_program(&arena, end, batch, touched, &program));
    compile(eager);
}

static void teardown(void)
{
    gn_image_free(image);
    gn_pool_free(pool);
    gn_graph_free(data.facts);
    gn_arena_free(&arena);
}

static void refused(gn_code code, const char *words)
{
    gn_instance *in = NULL;
    gn_status *s = facts_step_instance(&data, compiled->artifact, pool, &in);
    ck_assert_msg(s != NULL, "no error, where this was expected: %s", words);
    ck_assert_int_eq(gn_status_code(s), code);
    ck_assert_msg(strstr(gn_status_message(s), words) != NULL, "'%s' lacks '%s'",
                  gn_status_message(s), words);
    gn_status_free(s);
}

enum { STEPS = 6, BATCH = 40, FEW = 4 }; /* of few, not all rows are touched */

/* Six steps by any number of threads; the loss goes down where it is of all facts. */
START_TEST(trains)
{
    static float emb[sizeof data.emb / sizeof *data.emb];
    bool touched = _i >= 6;
    for (int way = 0; way < 4; way++) {
        gn_instance *in;
        float first = 0;
        setup_with(_i % 3, _i / 3 % 2 * (touched ? FEW : BATCH), touched, way % 2 ? 3 : 1, false);
        ok(facts_step_instance(&data, compiled->artifact, pool, &in));
        if (way > 1) ok(gn_instance_one_region(in));
        for (int k = 0; k < STEPS; k++) {
            ok(facts_step_check(&arena, &data, program, in, NULL));
            if (k == 0) first = data.loss;
        }
        ck_assert_int_eq(data.step, STEPS);
        ck_assert(_i / 3 % 2 || data.loss < first);
        if (way == 0) memcpy(emb, data.emb, sizeof emb);
        ck_assert_mem_eq(emb, data.emb, sizeof emb);
        gn_instance_free(in);
        teardown();
    }
}
END_TEST

/* The edges of a run are those of its key: another key at another place, and the first one again.
 */
START_TEST(keys)
{
    gn_instance *in;
    int64_t seed = 12, step = 3;
    float losses[4], emb[sizeof data.emb / sizeof *data.emb],
        rel[sizeof data.rel / sizeof *data.rel];
    setup_with(2, _i * BATCH, false, 1, true);
    memcpy(emb, data.emb, sizeof emb);
    memcpy(rel, data.rel, sizeof rel);
    ok(facts_step_instance(&data, compiled->artifact, pool, &in));
    for (int k = 0; k < 4; k++) {
        memcpy(data.emb, emb, sizeof emb);
        memcpy(data.rel, rel, sizeof rel);
        data.step = step = 3;
        if (k == 1) { /* from now on elsewhere */
            data.bound[2].data = &seed;
            data.bound[3].data = &step;
            ok(gn_instance_rebind(in, "rng.seed", &seed));
            ok(gn_instance_rebind(in, "rng.step", &step));
        }
        if (k == 3) seed = data.seed;
        ok(facts_step_check(&arena, &data, program, in, NULL));
        losses[k] = data.loss;
    }
    ck_assert(losses[1] == losses[2] && losses[0] == losses[3] && losses[0] != losses[1]);
    gn_status *s = gn_instance_rebind(in, "rng.seed", (char *)&step + 1);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_DATA);
    gn_status_free(s);
    s = gn_instance_rebind(in, "kind", data.kind);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_USAGE);
    ck_assert_msg(strstr(gn_status_message(s), "'kind' makes a graph: other data") != NULL, "%s",
                  gn_status_message(s));
    gn_status_free(s);
    gn_instance_free(in);
    teardown();
}
END_TEST

START_TEST(data_that_do_not_fit)
{
    setup_with(0, 0, false, 1, false);
    int32_t was = data.kind[9];
    data.train[9] = 1;
    data.kind[9] = FACTS_KINDS;
    refused(GN_ERR_DATA, "is 5, out of range: there are 5 rows");
    data.kind[9] = -1;
    refused(GN_ERR_DATA, "is -1, out of range");
    data.train[9] = 0; /* which nobody asks then */
    gn_instance *in;
    ok(facts_step_instance(&data, compiled->artifact, pool, &in));
    gn_instance_free(in);
    data.kind[9] = was;
    data.bound[1].rows--;
    refused(GN_ERR_DATA, "a mask of 149 edges, of a graph of 150");
    data.bound[1].rows++;
    data.bound[1].elem = GN_U8;
    refused(GN_ERR_DATA, "'train' makes a graph: one bool a row is needed");
    data.bound[1].elem = GN_BOOL;
    data.bound[0].row_elems = 2;
    refused(GN_ERR_DATA, "'kind' makes a graph: one i32 a row is needed");
    data.bound[0].row_elems = 1;
    data.bound[0].rows--;
    refused(GN_ERR_DATA, "a column has 149 rows, its graph 150");
    data.bound[0].rows++;
    data.bound[0].name = "sort";
    refused(GN_ERR_DATA, "nothing is bound for 'kind'");
    data.bound[0].name = "kind";
    data.bound[3].elem = GN_F32;
    refused(GN_ERR_DATA, "'rng.step' is no key of draws: one i64 is needed");
    data.bound[3].elem = GN_I64;
    data.bound[3].name = "step";
    refused(GN_ERR_DATA, "nothing is bound for 'rng.step'");
    teardown();
}
END_TEST

/* Edges left by every kind of column, and rows that carried numbers name: behind these lines. */
static const char *const columns[] = {
    "lt %5, %6",
    "le %5, %6",
    "gt %5, %6",
    "ge %5, %6",
    "nle %5, %6",
    "eq %5, %6",
    "ne %5, %6",
    "not %2",
    "ge %3, %7\n %9 = and %2, %8",
    "ge %3, %7\n %9 = not %2\n %10 = or %8, %9",
    "cast %3 : facts bool[]",
    "cast %5 : facts i64[]\n %9 = const {value = 3} : facts i64[]\n %10 = lt %8, %9",
    "detach %2",
    "const {value = 1} : facts bool[]"};
static const char
    head[] = "program @p { space node node ? space facts edge ? space kind node 5 "
             "space row node 9\n"
             " %1 = graph \"facts\" : graph<node -> node, facts>\n"
             " %2 = input \"train\" : facts bool[]\n %3 = input \"kind\" : facts i32[]\n"
             " %4 = input \"sort\" : node i32[]\n %5 = gather %1, %4 {end = 0}\n"
             " %6 = gather %1, %4 {end = 1}\n"
             " %7 = const {value = 2} : facts i32[]\n %8 = ";
enum { COLUMNS = sizeof columns / sizeof *columns };

static void same_as_evaluator(const char *what)
{
    gir_value *want;
    gn_instance *in;
    int64_t n;
    ok(facts_evaluate(&arena, &data, program, &want));
    ok(facts_step_instance(&data, compiled->artifact, pool, &in));
    gn_instance_run(in);
    const gir_value *w = &want[program->outputs.p[0].value];
    const float *got = gn_instance_output(in, "o", &n);
    ck_assert_int_eq(n, w->rows * w->cols);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg((double)got[i] == w->v[i], "%d of %s", (int)i, what);
    gn_instance_free(in);
}

static void read_columns(const char *lines)
{
    const char *text = gn_arena_printf(&arena, "%s%s }", head, lines);
    ok(gir_parse(&arena, text, strlen(text), "columns", &program));
    ok(gir_verify(program));
    compile(false);
}

START_TEST(columns_of_every_kind)
{
    begin(1);
    int last = 8;
    for (const char *at = columns[_i]; (at = strchr(at, '%')) != NULL; at++)
        if (atoi(at + 1) > last) last = atoi(at + 1);
    read_columns(gn_arena_printf(&arena,
                                 "%s\n %%%d = filter %%1, %%%d\n"
                                 " %%%d = iota {axis = -1} : edge f32[]\n"
                                 " %%%d = scatter %%%d, %%%d {end = 1}\n output \"o\" %%%d",
                                 columns[_i], last + 1, last, last + 2, last + 3, last + 1,
                                 last + 2, last + 3));
    same_as_evaluator(columns[_i]);
    teardown();
}
END_TEST

/* Loops that are new have what their nodes have. */
START_TEST(carried_numbers)
{
    begin(1);
    read_columns("self_loops %1\n %9 = carry %8, %1, %3, %4\n %10 = index %9 {space = kind}\n"
                 " %11 = iota {axis = -1} : kind f32[]\n %12 = take %10, %11\n"
                 " %13 = scatter %8, %12 {end = 0}\n output \"o\" %13");
    same_as_evaluator("carried numbers");
    data.bound[7].rows--;
    refused(GN_ERR_DATA, "a column has 39 rows, its graph 40");
    teardown();
}
END_TEST

/* Two draws of one graph are two, whatever else is shared. */
START_TEST(sites)
{
    begin(1);
    read_columns("input \"rng.seed\" : i64[]\n %9 = rng_key %8, %8\n"
                 " %10 = corrupt %1, %9 {times = 2, site = 1}\n"
                 " %11 = corrupt %1, %9 {times = 2, site = 2}\n"
                 " %12 = const {value = 1} : edge f32[]\n %13 = scatter %10, %12 {end = 0}\n"
                 " %14 = const {value = 1000} : edge.1 f32[]\n %15 = scatter %11, %14 {end = 0}\n"
                 " %16 = add %13, %15\n output \"o\" %16");
    same_as_evaluator("two draws");
    teardown();
    begin(1); /* so are the rows of two tables that one number names */
    read_columns("const {value = 0} : facts i32[]\n %9 = index %3 {space = kind}\n"
                 " %10 = index %3 {space = row}\n %11 = iota {axis = -1} : kind f32[]\n"
                 " %12 = iota {axis = -1} : row f32[]\n %13 = take %9, %11\n %14 = take %10, %12\n"
                 " %15 = add %13, %14\n %16 = scatter %1, %15 {end = 1}\n output \"o\" %16");
    same_as_evaluator("two tables");
    teardown();
}
END_TEST

/* Without room for other draws a run says so, and the next one is right. */
START_TEST(no_room)
{
    gn_instance *in;
    setup_with(2, 0, false, 1, false);
    ok(facts_step_instance(&data, compiled->artifact, pool, &in));
    ok(facts_step_check(&arena, &data, program, in, NULL));
    gn_status *s;
    int64_t k = 0;
    do {
        float loss = data.loss;
        int64_t step = data.step;
        *gn_memory_fuse() = ++k;
        gn_instance_run(in);
        bool fired = *gn_memory_fuse() == 0;
        *gn_memory_fuse() = 0;
        s = gn_instance_check(in);
        ck_assert(fired == (s != NULL));
        if (s) ck_assert(gn_status_code(s) == GN_ERR_NOMEM && data.step == step);
        if (s) ck_assert(data.loss == loss);
        gn_status_free(s);
        if (!fired) break;
    } while (true);
    ck_assert_int_gt(k, 5);
    ok(facts_step_check(&arena, &data, program, in, NULL));
    gn_instance_free(in);
    teardown();
}
END_TEST

int main(void)
{
    if (!GNNC_HAVE_LLVM) return 0;
    TCase *c = tcase_create("facts");
    tcase_add_loop_test(c, trains, 0, 12);
    tcase_add_loop_test(c, keys, 0, 2);
    tcase_add_test(c, data_that_do_not_fit);
    tcase_add_test(c, no_room);
    tcase_add_loop_test(c, columns_of_every_kind, 0, COLUMNS);
    tcase_add_test(c, carried_numbers);
    tcase_add_test(c, sites);
    tcase_set_timeout(c, 250);
    return RUN_CASES("facts", c);
}
