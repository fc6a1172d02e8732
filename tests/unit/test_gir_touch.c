/* Tables of which rows are touched: picks of named ends, and the training step against torch.optim
 * with sparse gradients: figures by `python3 tests/unit/test_gir_touch.py` (PyTorch 2.15,
 * float64). */
/* links: ir lower passes base */
#include "gir_test.h"
#include "passes/simplify.h"
#include "passes/touch_rows.h"
#include "passes/train.h"

enum { ROWS = 7, STEPS = 6 };

/* The sum of weight * tanh <emb[u], emb[v]> over edges of g, and of |emb[v] - b|^2 over those of
 * h. */
static const char model[] = "program @model {\n"
                            "  space node node ?\n"
                            "  space edge edge ? of %1\n"
                            "  space edge.1 edge ? of %11\n"
                            "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                            "  %2 = state \"emb\" : node f64[2]\n"
                            "  %3 = gather %1, %2 {end = 0}\n"
                            "  %4 = gather %1, %2 {end = 1}\n"
                            "  %5 = mul %3, %4\n"
                            "  %6 = reduce %5 {red = 0, axes = 1}\n"
                            "  %7 = tanh %6\n"
                            "  %8 = input \"weight\" : edge f64[]\n"
                            "  %9 = mul %7, %8\n"
                            "  %10 = space_reduce %9 {red = 0}\n"
                            "  %11 = graph \"h\" : graph<node -> node, edge.1>\n"
                            "  %12 = gather %11, %2 {end = 1}\n"
                            "  %13 = state \"b\" : f64[2]\n"
                            "  %14 = broadcast %13 : edge.1 f64[2]\n"
                            "  %15 = sub %12, %14\n"
                            "  %16 = mul %15, %15\n"
                            "  %17 = reduce %16 {red = 0, axes = 1}\n"
                            "  %18 = space_reduce %17 {red = 0}\n"
                            "  %19 = add %10, %18\n"
                            "  output \"loss\" %19\n"
                            "}\n";

static const int64_t edges[STEPS][2][3] = {
    {{0, 1, 3}, {1, 3, 3}}, {{1, 5, 0}, {0, 3, 1}}, {{3, 5, 3}, {5, 5, 1}},
    {{0, 1, 3}, {1, 3, 3}}, {{2, 2, 2}, {0, 1, 3}}, {{5, 1, 0}, {1, 5, 0}},
};
static const int64_t others[STEPS][2][2] = {
    {{4, 6}, {2, 0}}, {{6, 0}, {2, 2}}, {{1, 4}, {1, 5}},
    {{2, 6}, {2, 2}}, {{0, 1}, {3, 3}}, {{3, 4}, {2, 0}},
};

typedef struct recorded {
    const char *name;
    double v[2 * ROWS + 2]; /* emb, b after all steps */
} recorded;

/* clang-format off */
static const recorded torch[] = {
    {"sgd", {
        -0.046669387667857554, 0.253719011391908, 0.3703182556593584, -0.011117644044554474,
        -0.058907059248991575, -0.28345026094015047, -0.08415436371420862, 0.12100981849890129,
        0.4946791233116909, 0.2060592426208783, -0.24433204750077908, -0.49656898825858126,
        -0.26828645900021747, 0.21008351841332046, -0.057960764228679025, -0.0236731537985207}},
    {"sgd, decay", {
        -0.04449850838926221, 0.23922212706403756, 0.3485512398424288, -0.010572106981259403,
        -0.054347967589233, -0.27082389144503966, -0.07918600324864272, 0.10925574024526034,
        0.4946791233116909, 0.2060592426208783, -0.23560268009224308, -0.4817627532345009,
        -0.26828645900021747, 0.21008351841332046, -0.055023834600787545, -0.02590685992594279}},
    {"sgd, clip norm", {
        0.0024308680037205504, 0.3763533441046305, 0.44577682648671524, 0.046010914914114645,
        -0.27091293063590494, -0.46200109017415447, -0.11818205912947395, 0.3189817186494327,
        0.4946791233116909, 0.2060592426208783, -0.24968261681180498, -0.5032827690436318,
        -0.26828645900021747, 0.21008351841332046, 0.14622856210128898, -0.31546188070614345}},
    {"adam", {
        -0.06940775679306768, 0.14988258585346315, 0.17119611285493908, -0.34936127497844005,
        0.028279024432083764, -0.04485447399545969, -0.2030475487858629, 0.6280475328663171,
        0.4946791233116909, 0.2060592426208783, -0.17164924477608898, -0.3815250517883217,
        -0.26828645900021747, 0.21008351841332046, -0.2002342281335212, -0.0971368378654218}},
    {"adam, decay", {
        -0.05877795255061261, 0.15761453620115373, 0.02604387369563414, -0.30743277280938147,
        0.02106303662312778, -0.04749058484903835, -0.16099913560324491, 0.5899982649073109,
        0.4946791233116909, 0.2060592426208783, -0.08576150366520591, -0.4007531050931803,
        -0.26828645900021747, 0.21008351841332046, -0.18247549560361798, -0.08874170041913126}},
    {"adamw", {
        -0.07088559072706453, 0.13597301937919754, 0.15070151618958721, -0.3402693594332434,
        0.03664576444908422, -0.032820217395261905, -0.19229242056491894, 0.6038353955198514,
        0.4946791233116909, 0.2060592426208783, -0.16327488124227849, -0.3674303839734942,
        -0.26828645900021747, 0.21008351841332046, -0.19915535086544772, -0.09202539272349503}},
    {"adagrad", {
        0.009805442507661206, 0.30562077588768577, 0.2810578954333523, -0.10273594801245044,
        -0.1362683893234981, -0.2732939362536463, -0.08339645111177751, 0.4765199962739746,
        0.4946791233116909, 0.2060592426208783, -0.19553246311149652, -0.505815981942979,
        -0.26828645900021747, 0.21008351841332046, 0.02888193674439275, -0.19089156173938143}},
    {"adagrad, slower", {
        0.03728819310975596, 0.31619140655928907, 0.3466336226931993, -0.08284344735586287,
        -0.19771769449679258, -0.31602961326757306, -0.17442984745349271, 0.4610479722712089,
        0.4946791233116909, 0.2060592426208783, -0.2305152444237099, -0.5232659667119641,
        -0.26828645900021747, 0.21008351841332046, 0.1080201929362064, -0.2715892877756423}},
    {"rmsprop", {
        -0.09358865236979595, 0.25673591170950044, 0.14107694845194646, -0.11554799903872684,
        -0.05374447400026399, -0.17764548373973726, -0.052760554351552885, 0.6133401813444155,
        0.4946791233116909, 0.2060592426208783, -0.1261858887524968, -0.501869725804138,
        -0.26828645900021747, 0.21008351841332046, -0.06084724831717048, -0.0539030841180505}},
    {"adamax", {
        0.006220159024841344, 0.2184794488052474, 0.1474636967466261, -0.24596199122733564,
        -0.06110235294594918, -0.14813917792549003, -0.21557114666894736, 0.5704065897955841,
        0.4946791233116909, 0.2060592426208783, -0.16509542510641007, -0.42701557167494864,
        -0.26828645900021747, 0.21008351841332046, -0.12854422156968345, -0.17439570122409623}},
    {"lion", {
        0.050002481281250004, 0.26230929557981864, 0.29366614412876607, -0.12780541826662883,
        -0.12152287617304035, -0.22008238282051218, -0.184759776891965, 0.4678751493903904,
        0.4946791233116909, 0.2060592426208783, -0.2682007639033535, -0.4922826138595792,
        -0.26828645900021747, 0.21008351841332046, 1.3877787807814457e-17, -0.20000000000000007}},
};
/* clang-format on */

typedef struct setting {
    const char *name;
    double decay;
    gn_train_spec spec;
} setting;

static const setting settings[] = {
    {"sgd", 0, {.optimizer = GN_SGD, .lr = 0.1}},
    {"sgd, decay", 0.1, {.optimizer = GN_SGD, .lr = 0.1}},
    {"sgd, clip norm", 0, {.optimizer = GN_SGD, .lr = 0.1, .clip_norm = 0.5}},
    {"adam", 0, {.optimizer = GN_ADAM, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
    {"adam, decay",
     0.1,
     {.optimizer = GN_ADAM, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3}},
    {"adamw", 0.1, {.optimizer = GN_ADAMW, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
    {"adagrad", 0, {.optimizer = GN_ADAGRAD, .lr = 0.1, .eps = 1e-10}},
    {"adagrad, slower", 0, {.optimizer = GN_ADAGRAD, .lr = 0.1, .lr_decay = 0.5, .eps = 1e-3}},
    {"rmsprop",
     0,
     {.optimizer = GN_RMSPROP, .lr = 0.05, .alpha = 0.9, .eps = 1e-8, .centered = true}},
    {"adamax", 0.1, {.optimizer = GN_ADAMAX, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
    {"lion", 0.1, {.optimizer = GN_LION, .lr = 0.05, .beta1 = 0.9, .beta2 = 0.99}},
};

static gir_program *touched(const gir_program *loss)
{
    const char *names[] = {"emb", "b"};
    gir_program *p = NULL;
    expect_ok(gn_pass_touch_rows(&arena, loss, 2, names, &p));
    expect_ok(gir_verify(p));
    return p;
}

typedef struct world {
    gir_value emb, b, m[2], v[2], g[2];
} world;

static gir_value filled(int64_t rows, int64_t cols)
{
    return (gir_value){.rows = rows, .cols = cols, .v = GN_NEW_N(&arena, double, rows *cols)};
}

static world begin(void)
{
    world w = {.emb = filled(ROWS, 2), .b = filled(1, 2)};
    for (int k = 0; k < 2; k++) {
        w.m[k] = k ? filled(1, 2) : filled(ROWS, 2);
        w.v[k] = k ? filled(1, 2) : filled(ROWS, 2);
        w.g[k] = k ? filled(1, 2) : filled(ROWS, 2);
    }
    for (int i = 0; i < 2 * ROWS; i++) w.emb.v[i] = sin(i) / 2;
    w.b.v[0] = 0.3;
    w.b.v[1] = -0.4;
    return w;
}

static gir_value graph(int n, const int64_t *src, const int64_t *dst)
{
    return (gir_value){.graph = gir_coo_new(&arena, ROWS, ROWS, n, src, dst)};
}

static gir_value *run_step(const gir_program *p, world *w, int t)
{
    enum { STATES = 8, ALL = STATES + 4 };
    static const char *name[] = {"emb",       "b",       "opt.m.emb", "opt.m.b",
                                 "opt.v.emb", "opt.v.b", "opt.g.emb", "opt.g.b",
                                 "rng.step",  "g",       "h",         "weight"};
    static const double weight[] = {1, 0, -0.5}; /* by place in the list */
    gir_value *state[] = {&w->emb,  &w->b,    &w->m[0], &w->m[1],
                          &w->v[0], &w->v[1], &w->g[0], &w->g[1]};
    gir_value value[ALL], *v;
    for (int k = 0; k < STATES; k++) value[k] = *state[k];
    gir_value *more = value + STATES;
    more[0] = filled(1, 1);
    more[0].v[0] = t;
    more[1] = graph(3, edges[t][0], edges[t][1]);
    more[2] = graph(2, others[t][0], others[t][1]);
    more[3] = filled(3, 1);
    for (int e = 0; e < 3; e++) more[3].v[e] = weight[more[1].graph->pos[e]];
    gir_env env = {.arena = &arena, .n = ALL, .name = name, .value = value};
    expect_ok(gir_eval(p, &env, &v));
    for (uint32_t k = 0; k < p->outputs.n; k++)
        for (int j = 0; j < STATES; j++)
            if (p->outputs.p[k].kind == GIR_UPDATE && !strcmp(name[j], p->outputs.p[k].name))
                *state[j] = v[p->outputs.p[k].value];
    return v;
}

static double largest_difference(const world *w, const recorded *r)
{
    double most = 0;
    for (int i = 0; i < 2 * ROWS + 2; i++)
        most = fmax(most, fabs((i < 2 * ROWS ? w->emb.v[i] : w->b.v[i - 2 * ROWS]) - r->v[i]));
    return most;
}

static gir_program *step_of(const gir_program *loss, const setting *s)
{
    const gn_train_param params[] = {{"emb", s->decay}, {"b", 0}};
    gir_program *step = NULL;
    expect_ok(gn_pass_train(&arena, loss, 2, params, &s->spec, &step));
    expect_ok(gir_verify(step));
    return step;
}

START_TEST(as_torch)
{
    gir_program *loss = touched(read_program(model));
    ck_assert_uint_eq(sizeof settings / sizeof *settings, sizeof torch / sizeof *torch);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        gir_program *step = step_of(loss, &settings[k]), *simple = NULL;
        ck_assert_str_eq(settings[k].name, torch[k].name);
        expect_ok(gn_pass_simplify(&arena, step, &simple));
        expect_ok(gir_verify(simple));
        world w = begin(), s = begin();
        for (int t = 0; t < STEPS; t++) {
            run_step(step, &w, t);
            run_step(simple, &s, t);
        }
        ck_assert_msg(largest_difference(&w, &torch[k]) < 1e-14, "%s: %g", torch[k].name,
                      largest_difference(&w, &torch[k]));
        ck_assert_msg(largest_difference(&s, &torch[k]) < 1e-14, "%s, simplified: %g",
                      torch[k].name, largest_difference(&s, &torch[k]));
    }
}
END_TEST

/* `model` of a table of which columns are read apart, and lengths are made of rows. */
static const char computed[] = "program @model {\n"
                               "  space node node ?\n"
                               "  space edge edge ? of %1\n"
                               "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                               "  %2 = state \"emb\" : node f64[2]\n"
                               "  %3 = slice %2 {axis = 0, start = 0} : node f64[1]\n"
                               "  %4 = slice %2 {axis = 0, start = 1} : node f64[1]\n"
                               "  %5 = mul %2, %2\n"
                               "  %6 = reduce %5 {red = 0, axes = 1}\n"
                               "  %7 = const {value = 1.5} : node f64[]\n"
                               "  %8 = add %6, %7\n"
                               "  %9 = state \"b\" : f64[2]\n"
                               "  %10 = reduce %9 {red = 0, axes = 1}\n"
                               "  %11 = broadcast %10 : node f64[]\n"
                               "  %12 = mul %8, %11\n"
                               "  %13 = gather %1, %3 {end = 0}\n"
                               "  %14 = gather %1, %4 {end = 1}\n"
                               "  %15 = mul %13, %14\n"
                               "  %16 = reduce %15 {red = 0, axes = 1}\n"
                               "  %17 = gather %1, %12 {end = 1}\n"
                               "  %18 = mul %16, %17\n"
                               "  %19 = space_reduce %18 {red = 0}\n"
                               "  output \"loss\" %19\n"
                               "}\n";

static int count(const gir_program *p, gir_op op)
{
    int n = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) n += gir_at(p, v)->op == op;
    return n;
}

/* Losses are the same, and so are the updates of SGD, of which rows that are not touched have
 * none. */
static void compare(const char *text)
{
    const gir_program *loss = read_program(text);
    const gir_program *some = step_of(touched(loss), settings), *all = step_of(loss, settings);
    world x = begin(), y = begin();
    for (int t = 0; t < STEPS; t++) {
        gir_value *a = run_step(some, &x, t), *b = run_step(all, &y, t);
        ck_assert(a[some->outputs.p[0].value].v[0] == b[all->outputs.p[0].value].v[0]);
    }
    for (int i = 0; i < 2 * ROWS; i++) ck_assert(fabs(x.emb.v[i] - y.emb.v[i]) < 1e-15);
}

START_TEST(as_before)
{
    compare(model);
    compare(computed);
}
END_TEST

/* A pick of all ends at which the table is read, and graphs with the edges that there were. */
START_TEST(program)
{
    gir_program *p = touched(read_program(model));
    gir_id w = gir_leaf_by_name(p, GIR_STATE, "emb"), rows = 0;
    expect_ok(gn_touched_rows(p, w, &rows));
    ck_assert_uint_ne(rows, 0);
    gir_id pick = gir_in(p, rows, 0);
    ck_assert_int_eq(gir_at(p, pick)->attr.i[0], 2); /* of h, the ends v alone */
    ck_assert_int_eq(gir_at(p, gir_in(p, pick, 1))->attr.i[0], 3);
    ck_assert_int_eq(count(p, GIR_ENDS), 2);
    ck_assert_int_eq(count(p, GIR_RESTRICT), 2);
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (gir_at(p, v)->op == GIR_RESTRICT) {
            ck_assert(!gir_owns_edges(p, v));
            ck_assert_uint_eq(gir_type_of(p, v)->edge, gir_type_of(p, gir_in(p, v, 0))->edge);
        }
}
END_TEST

/* What is computed of a table is computed of the picked rows, once for all who read it. */
START_TEST(by_rows)
{
    gir_program *p = touched(read_program(computed));
    gir_id rows = 0;
    expect_ok(gn_touched_rows(p, gir_leaf_by_name(p, GIR_STATE, "emb"), &rows));
    ck_assert_uint_ne(rows, 0);
    ck_assert_int_eq(gir_at(p, gir_in(p, rows, 0))->attr.i[0], 3);
    ck_assert_int_eq(count(p, GIR_ENDS), 1);
    ck_assert_int_eq(count(p, GIR_RESTRICT), 1);
    ck_assert_int_eq(count(p, GIR_SLICE), 2);
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (gir_at(p, v)->op == GIR_SLICE || gir_at(p, v)->op == GIR_ADD)
            ck_assert_uint_eq(gir_type_of(p, v)->space, gir_type_of(p, rows)->space);
}
END_TEST

/* Of what is computed of two tables no rows are picked. */
START_TEST(of_two)
{
    gir_program *p = touched(read_program("program @model {\n"
                                          "  space node node ?\n"
                                          "  space edge edge ? of %1\n"
                                          "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                                          "  %2 = state \"emb\" : node f64[2]\n"
                                          "  %3 = state \"b\" : node f64[2]\n"
                                          "  %4 = add %2, %3\n"
                                          "  %5 = gather %1, %4 {end = 0}\n"
                                          "  %6 = reduce %5 {red = 0, axes = 1}\n"
                                          "  %7 = space_reduce %6 {red = 0}\n"
                                          "  output \"loss\" %7\n"
                                          "}\n"));
    ck_assert_int_eq(count(p, GIR_ENDS), 0);
}
END_TEST

/* What reads all rows touches all; a parameter without rows is none of it. */
START_TEST(whole)
{
    char *text = gn_arena_printf(&arena,
                                 "%.*s  %%20 = space_reduce %%2 {red = 0}\n"
                                 "  output \"sum\" %%20\n}\n",
                                 (int)strlen(model) - 2, model);
    gir_program *p = touched(read_program(text));
    ck_assert_int_eq(count(p, GIR_ENDS), 0);
    gir_id rows = 1;
    expect_ok(gn_touched_rows(p, gir_leaf_by_name(p, GIR_STATE, "emb"), &rows));
    ck_assert_uint_eq(rows, 0);
    expect_ok(gn_touched_rows(p, gir_leaf_by_name(p, GIR_STATE, "b"), &rows));
    ck_assert_uint_eq(rows, 0);
    p = touched(read_program(model)); /* which a pass might have read whole again */
    gir_id sum = gir_space_reduce(p, gir_leaf_by_name(p, GIR_STATE, "emb"), GIR_SUM);
    gir_output_add(p, GIR_OUTPUT, "sum", sum);
    expect_error(gn_touched_rows(p, gir_leaf_by_name(p, GIR_STATE, "emb"), &rows), GN_ERR_INTERNAL,
                 "rows of 'emb' are touched, and it is read otherwise, too");
}
END_TEST

START_TEST(momentum)
{
    const gn_train_param params[] = {{"emb", 0}, {"b", 0}};
    const gn_train_spec spec = {.optimizer = GN_SGD, .momentum = 0.9, .touched = true};
    gir_program *step = NULL;
    expect_error(gn_pass_train(&arena, touched(read_program(model)), 2, params, &spec, &step),
                 GN_ERR_MODEL, "a momentum moves all rows of a table");
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, as_torch);
    tcase_add_test(c, as_before);
    tcase_add_test(c, program);
    tcase_add_test(c, by_rows);
    tcase_add_test(c, of_two);
    tcase_add_test(c, whole);
    tcase_add_test(c, momentum);
}

int main(void) { return run_suite("gir_touch", fill); }
