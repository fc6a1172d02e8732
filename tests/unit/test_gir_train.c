/* The training step, against torch.optim: figures by `python3 tests/unit/test_gir_train.py`
 * (PyTorch 2.15, float64). */
/* links: ir lower passes base */
#include "gir_test.h"
#include "passes/simplify.h"
#include "passes/learning_rate.h"
#include "passes/train.h"

static const char model[] = "program @model {\n"
                            "  file m.gnn\n"
                            "  %1 = input \"x\" : f64[4, 2]\n"
                            "  %2 = input \"t\" : f64[4, 3]\n"
                            "  %3 = state \"w\" : f64[2, 3] @ m.gnn:3:1\n"
                            "  %4 = state \"b\" : f64[3]\n"
                            "  %5 = state \"idle\" : f64[3]\n"
                            "  %6 = matmul %1, %3\n"
                            "  %7 = broadcast %4 : f64[4, 3]\n"
                            "  %8 = add %6, %7\n"
                            "  %9 = tanh %8\n"
                            "  %10 = sub %9, %2\n"
                            "  %11 = mul %10, %10\n"
                            "  %12 = reduce %11 {red = 0, axes = 3}\n"
                            "  %13 = reduce %9 {red = 0, axes = 1}\n"
                            "  output \"loss\" %12\n"
                            "  output \"out\" %9\n"
                            "  update \"running\" %13\n"
                            "}\n";

typedef struct recorded {
    const char *name;
    double v[9]; /* w, b after five steps */
} recorded;

/* clang-format off */
static const recorded torch[] = {
    {"sgd", {
        -0.2024636030597399, -0.3413784672878323, 0.7374002245037312, 0.19889288409150158,
        -0.48391234682474626, -0.3170413087659592, -0.028528535977166647, 0.6370564873488677,
        0.09945443587051966}},
    {"sgd, decay", {
        -0.19901785589881146, -0.3339096140594768, 0.7150116145104105, 0.19117847311626365,
        -0.48117844779460955, -0.3035274440601674, -0.028516970321907496, 0.6322253854862392,
        0.09949806689517889}},
    {"momentum", {
        -0.3572938463591985, -0.5034022645775093, 1.8793795070147594, 0.2647189535608539,
        -1.7837157097244072, 0.3616929318298822, 0.1150743439610179, 2.2199232656865795,
        -0.06864816171097184}},
    {"dampening", {
        -0.13246726171778914, -1.0117376268698979, 1.932640158011721, 0.4591271910249344,
        -2.0623574203166037, 0.8356537757721777, 0.22041661529915674, 1.1517806827680979,
        0.6216461290315959}},
    {"nesterov", {
        -0.13113619221697764, -0.9173270688686158, 2.253786624353004, 0.547858266291309,
        -1.6068395242290106, 0.4193837771057024, 0.3689480873380958, 2.093621387271083,
        -0.2991913960056373}},
    {"adam", {
        -0.13832468489346114, -0.6238172481121179, 0.7354506041162095, 0.2415731646549384,
        0.016751677261246406, -0.19217468500272725, -0.03795379087382359, 0.11261370539520693,
        0.3805690374042261}},
    {"adam, decay", {
        -0.1197685463224257, -0.606363212214933, 0.7178349548202712, 0.25994389236830845,
        0.02128147709692664, -0.20952396419065752, -0.01336823106562475, 0.13780509236340718,
        0.35830120707396496}},
    {"adamw", {
        -0.13045064034482828, -0.6031614738263369, 0.710709082761192, 0.23605271375159942,
        0.002209209614083177, -0.1745187891704259, -0.03350050593792378, 0.11757810258023535,
        0.37766322744554826}},
    {"adagrad", {
        -0.09933793393546603, -0.47700758963677, 0.5518878231880868, 0.2581382959865029,
        0.19017882389266708, -0.3620799800420696, -0.02654411620846604, 0.16265185428501522,
        0.2198396701653336}},
    {"adagrad, slower", {
        -0.06440194457139896, -0.3996473209583915, 0.4927977418297352, 0.2615838693816389,
        0.29361432794776177, -0.4114414648431115, -0.058349173772802, -0.0022111526460636445,
        0.18227737923368212}},
    {"rmsprop", {
        -0.33031460446179167, -0.3579336104857081, 0.8033377208882195, 0.14760611523513595,
        -0.35415789374643125, -0.3392853382751173, -0.05891557501937711, 0.5472005672009987,
        0.08003764900399589}},
    {"rmsprop, momentum", {
        -0.19934769540805192, -0.47067334978869096, 0.7421374737267, 0.2573658805210646,
        -0.17711338548569636, -0.2642434681461174, 0.03142030835978228, 0.4408562866997624,
        0.22324759327755458}},
    {"rmsprop, centered", {
        -0.17335888600007163, -0.5014912981441896, 0.6350156489173882, 0.2468218784657996,
        -0.022940976004502164, -0.33740127680237264, -0.01923389743521786, 0.314441642565616,
        0.20543462827485243}},
    {"adamax", {
        -0.1407838714897257, -0.5714714049486608, 0.6736504425816978, 0.22441215421625843,
        0.06960944928802608, -0.24876054483338378, -0.06465321422919698, 0.01514907877785978,
        0.3271450242872086}},
    {"adamax, decay", {
        -0.12823940794713237, -0.5739342050672958, 0.6829690083584761, 0.24502692636856194,
        0.0391627613911886, -0.24229115032336887, -0.03933859229822184, 0.035862796933059896,
        0.32645694758734145}},
    {"lion", {
        -0.15000000000000002, -0.44999999999999996, 0.5499999999999999, 0.25000000000000006,
        0.25000000000000006, -0.35, 0.0, -1.3877787807814457e-17, 0.25}},
    {"lion, decay", {
        -0.1499875934690625, -0.44256221940562496, 0.5400870947178125, 0.24258703246750002,
        0.2401119077796875, -0.33763678309187495, 0.0, -1.3877787807814457e-17, 0.25}},
    {"amsgrad", {
        -0.11802275436831164, -0.5397376522253939, 0.6417143282947195, 0.27958456807378473,
        0.0406428799262665, -0.2887352498600691, 0.025758661453923318, 0.18373225321850806,
        0.2793939092109135}},
    {"clip norm", {
        0.054187679818145075, -0.25429647247808795, 0.37677479058373625, 0.33334047162856095,
        0.31394088540764387, -0.4634018149911267, 0.022960259882079944, -0.05073750342050346,
        0.0746497604174546}},
    {"clip norm, far", {
        -0.2024636030597399, -0.3413784672878323, 0.7374002245037312, 0.19889288409150158,
        -0.48391234682474626, -0.3170413087659592, -0.028528535977166647, 0.6370564873488677,
        0.09945443587051966}},
    {"clip value", {
        -1.2212453270876722e-17, -0.30000000000000004, 0.4000000000000001, 0.29999999999999993,
        0.3999999999999999, -0.4999999999999999, -0.05000000000000001, -0.09943245241838936,
        0.10000000000000002}},
    {"step", {
        -0.11804370883142443, -0.328522302304313, 0.6918128563438461, 0.2552821439285071,
        -0.3772689914259665, -0.29971593743014446, -0.005772320932668561, 0.4862730449356211,
        0.12994075706621402}},
    {"exponential", {
        -0.14445651282607236, -0.3331626658852154, 0.7125821082184242, 0.253311688506931,
        -0.4330371473497402, -0.31087777467135697, -0.0015668481009320566, 0.5649163524804566,
        0.11335324926470382}},
    {"cosine", {
        -0.13293148340288946, -0.33145893385015157, 0.70743947744577, 0.261063540934177,
        -0.42229017470191715, -0.30911041884045015, 0.0023003311394665174, 0.5490503823495454,
        0.11600799237778034}},
    {"linear", {
        -0.10462017856984511, -0.3308308981665466, 0.6808917715537182, 0.2500748880869274,
        -0.32747528804066983, -0.2839972872814538, -0.012975399028890361, 0.41264909765751007,
        0.15242855362207056}},
};
/* clang-format on */

typedef struct setting {
    const char *name;
    double decay; /* of w */
    gn_train_spec spec;
} setting;

static const setting settings[] = {
    {"sgd", 0, {.optimizer = GN_SGD, .lr = 0.1}},
    {"sgd, decay", 0.1, {.optimizer = GN_SGD, .lr = 0.1}},
    {"momentum", 0.1, {.optimizer = GN_SGD, .lr = 0.1, .momentum = 0.9}},
    {"dampening", 0, {.optimizer = GN_SGD, .lr = 0.1, .momentum = 0.9, .dampening = 0.5}},
    {"nesterov", 0.1, {.optimizer = GN_SGD, .lr = 0.1, .momentum = 0.9, .nesterov = true}},
    {"adam", 0, {.optimizer = GN_ADAM, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
    {"adam, decay",
     0.1,
     {.optimizer = GN_ADAM, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3}},
    {"adamw", 0.1, {.optimizer = GN_ADAMW, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
    {"adagrad", 0.1, {.optimizer = GN_ADAGRAD, .lr = 0.1, .eps = 1e-10}},
    {"adagrad, slower", 0, {.optimizer = GN_ADAGRAD, .lr = 0.1, .lr_decay = 0.5, .eps = 1e-3}},
    {"rmsprop", 0, {.optimizer = GN_RMSPROP, .lr = 0.05, .alpha = 0.99, .eps = 1e-8}},
    {"rmsprop, momentum",
     0.1,
     {.optimizer = GN_RMSPROP, .lr = 0.05, .alpha = 0.9, .eps = 1e-3, .momentum = 0.5}},
    {"rmsprop, centered",
     0,
     {.optimizer = GN_RMSPROP, .lr = 0.05, .alpha = 0.9, .eps = 1e-8, .centered = true}},
    {"adamax", 0, {.optimizer = GN_ADAMAX, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}},
    {"adamax, decay",
     0.1,
     {.optimizer = GN_ADAMAX, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3}},
    {"lion", 0, {.optimizer = GN_LION, .lr = 0.05, .beta1 = 0.9, .beta2 = 0.99}},
    {"lion, decay", 0.1, {.optimizer = GN_LION, .lr = 0.05, .beta1 = 0.5, .beta2 = 0.8}},
    {"amsgrad",
     0.1,
     {.optimizer = GN_ADAM, .lr = 0.1, .beta1 = 0.5, .beta2 = 0.6, .eps = 1e-8, .amsgrad = true}},
    {"clip norm", 0.1, {.optimizer = GN_SGD, .lr = 0.1, .clip_norm = 0.5}},
    {"clip norm, far", 0, {.optimizer = GN_SGD, .lr = 0.1, .clip_norm = 100}},
    {"clip value", 0, {.optimizer = GN_SGD, .lr = 0.1, .clip_value = 0.2}},
    {"step",
     0,
     {.optimizer = GN_SGD, .lr = 0.1, .schedule = GN_LR_STEP, .period = 2, .gamma = 0.5}},
    {"exponential",
     0,
     {.optimizer = GN_SGD, .lr = 0.1, .schedule = GN_LR_EXPONENTIAL, .gamma = 0.9}},
    {"cosine",
     0,
     {.optimizer = GN_SGD, .lr = 0.1, .schedule = GN_LR_COSINE, .period = 7, .eta_min = 0.01}},
    {"linear",
     0,
     {.optimizer = GN_SGD, .lr = 0.1, .schedule = GN_LR_LINEAR, .period = 3, .gamma = 0.25}},
};

static gn_status *train(const gir_program *loss, const gn_train_spec *spec, double decay,
                        gir_program **step)
{
    const gn_train_param params[] = {{"w", decay}, {"b", 0}, {"idle", decay}, {"absent", decay}};
    return gn_pass_train(&arena, loss, 4, params, spec, step);
}

enum { STATES = 12 }; /* data, parameters, and what optimizers keep of those */

typedef struct world {
    int n;
    const char *name[STATES];
    gir_value value[STATES];
} world;

static gir_value tensor(int64_t cols, const double *v)
{
    gir_value x = {.rows = 1, .cols = cols, .v = GN_NEW_N(&arena, double, cols)};
    for (int64_t i = 0; v && i < cols; i++) x.v[i] = v[i];
    return x;
}

/* Data, parameters, and every state of the optimizer's at 0. */
static world begin(void)
{
    static const double x[] = {0.5, -1.0, 1.5, 2.0, -0.25, 0.75, 1.0, 1.0};
    static const double t[] = {0, 1, 0.5, 1, -1, 0.25, 0.5, 0.5, -0.5, -1, 0, 1};
    static const double w[] = {0.1, -0.2, 0.3, 0.4, 0.5, -0.6}, b[] = {0.05, -0.05, 0};
    world e = {STATES,
               {"x", "t", "w", "b", "opt.m.w", "opt.m.b", "opt.v.w", "opt.v.b", "opt.x.w",
                "opt.x.b", "opt.g.w", "opt.g.b"},
               {{0}}};
    const double *data[STATES] = {x, t, w, b};
    const int64_t cols[STATES] = {8, 12, 6, 3, 6, 3, 6, 3, 6, 3, 6, 3};
    for (int k = 0; k < e.n; k++) e.value[k] = tensor(cols[k], data[k]);
    return e;
}

/* One step; the counter is `t` before it, and t + 1 after. */
static gir_value *run_step(const gir_program *p, world *e, double t)
{
    const char *name[STATES + 1];
    gir_value value[STATES + 1], *v = NULL;
    for (int k = 0; k < e->n; k++) name[k] = e->name[k], value[k] = e->value[k];
    name[e->n] = "rng.step";
    value[e->n] = tensor(1, &t);
    gir_env env = {.arena = &arena, .n = e->n + 1, .name = name, .value = value};
    expect_ok(gir_eval(p, &env, &v));
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (o->kind != GIR_UPDATE) continue;
        if (strcmp(o->name, "rng.step") == 0) ck_assert(v[o->value].v[0] == t + 1);
        for (int j = 0; j < e->n; j++)
            if (strcmp(e->name[j], o->name) == 0) e->value[j] = v[o->value];
    }
    return v;
}

static double largest_difference(const world *e, const recorded *r)
{
    double most = 0;
    for (int i = 0; i < 9; i++)
        most = fmax(most, fabs((i < 6 ? e->value[2].v[i] : e->value[3].v[i - 6]) - r->v[i]));
    return most;
}

START_TEST(as_torch)
{
    const gir_program *loss = read_program(model);
    ck_assert_uint_eq(sizeof settings / sizeof *settings, sizeof torch / sizeof *torch);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        gir_program *step = NULL, *simple = NULL;
        ck_assert_str_eq(settings[k].name, torch[k].name);
        expect_ok(train(loss, &settings[k].spec, settings[k].decay, &step));
        expect_ok(gir_verify(step));
        expect_ok(gn_pass_simplify(&arena, step, &simple));
        expect_ok(gir_verify(simple));
        world e = begin(), s = begin();
        for (int t = 0; t < 5; t++) {
            run_step(step, &e, t);
            run_step(simple, &s, t);
        }
        ck_assert_msg(largest_difference(&e, &torch[k]) < 1e-14, "%s: %g", torch[k].name,
                      largest_difference(&e, &torch[k]));
        ck_assert_msg(largest_difference(&s, &torch[k]) < 1e-14, "%s, simplified: %g",
                      torch[k].name, largest_difference(&s, &torch[k]));
    }
}
END_TEST

static gir_id update_of(const gir_program *p, const char *name)
{
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_UPDATE && strcmp(p->outputs.p[k].name, name) == 0)
            return p->outputs.p[k].value;
    return 0;
}

/* Outputs and updates of the loss stay; what the loss does not depend on is left alone, weight
 * decay or not. */
START_TEST(program)
{
    gir_program *loss = read_program(model), *step = NULL;
    char *before = program_text(loss);
    expect_ok(train(loss, &settings[6].spec, 0.1, &step));
    ck_assert_str_eq(program_text(loss), before);
    ck_assert_str_eq(step->name, "step");
    ck_assert_str_eq(step->outputs.p[0].name, "loss");
    ck_assert_str_eq(step->outputs.p[1].name, "out");
    ck_assert(update_of(step, "running") && update_of(step, "w") && update_of(step, "rng.step"));
    ck_assert(update_of(step, "opt.m.b") && update_of(step, "opt.v.w"));
    ck_assert_uint_eq(update_of(step, "idle"), 0);
    ck_assert_uint_eq(update_of(step, "opt.m.idle"), 0);
    ck_assert_uint_eq(gir_at(step, update_of(step, "w"))->loc.line, 3); /* where w is declared */
    expect_ok(train(loss, &settings[0].spec, 0, &step));
    /* sgd without momentum keeps nothing */
    ck_assert_uint_eq(gir_leaf_by_name(step, GIR_STATE, "opt.m.w"), 0);
}
END_TEST

/* What is said of a schedule is what a step does: the same as one with that rate and no
 * schedule. */
START_TEST(rates)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const gn_train_spec *spec = &settings[k].spec;
        for (int t = 0; t < 9 && spec->schedule != GN_LR_CONSTANT; t++) {
            gn_train_spec constant = *spec;
            gir_program *step[2];
            world e[2] = {begin(), begin()};
            constant.schedule = GN_LR_CONSTANT;
            constant.lr = gn_train_rate(spec, t, 0);
            expect_ok(train(read_program(model), spec, 0, &step[0]));
            expect_ok(train(read_program(model), &constant, 0, &step[1]));
            for (int i = 0; i < 2; i++) run_step(step[i], &e[i], t);
            for (int i = 0; i < 6; i++)
                ck_assert_msg(fabs(e[0].value[2].v[i] - e[1].value[2].v[i]) < 1e-12, "%s, step %d",
                              settings[k].name, t);
        }
    }
}
END_TEST

/* A loss that draws random numbers has the counter already. */
START_TEST(counter)
{
    gir_program *loss = read_program(
        "program @m { %1 = state \"rng.seed\" : i64[] %2 = state \"rng.step\" : i64[]\n"
        " %3 = rng_key %1, %2 %4 = random %3 : f32[3] %5 = state \"w\" : f32[3]\n"
        " %6 = mul %4, %5 %7 = reduce %6 {axes = 1} output \"loss\" %7 }");
    gir_program *step = NULL;
    expect_ok(train(loss, &settings[5].spec, 0, &step));
    expect_ok(gir_verify(step));
    ck_assert_uint_eq(gir_in(step, update_of(step, "rng.step"), 0), 2);
    gir_output_add(loss, GIR_UPDATE, "rng.step", 2); /* or even advances it on its own */
    expect_ok(train(loss, &settings[5].spec, 0, &step));
    ck_assert_uint_eq(update_of(step, "rng.step"), 2);
    expect_ok(gir_verify(step));
}
END_TEST

static void refused(gn_train_spec spec, const char *why)
{
    gir_program *step = NULL;
    expect_error(train(read_program(model), &spec, 0, &step), GN_ERR_MODEL, why);
}

START_TEST(errors)
{
    refused((gn_train_spec){.schedule = GN_LR_STEP}, "the schedule's period is 0 steps");
    refused((gn_train_spec){.schedule = GN_LR_COSINE, .period = -1},
            "the schedule's period is -1 steps");
    refused((gn_train_spec){.lr = -1}, "the learning rate is -1");
    refused((gn_train_spec){.lr = NAN}, "the learning rate is");
    refused((gn_train_spec){.clip_norm = -1}, "gradients are clipped to less than 0");
    refused((gn_train_spec){.nesterov = true}, "nesterov needs a momentum and no dampening");
    refused((gn_train_spec){.optimizer = GN_ADAM, .beta1 = 1}, "betas are 1 and 0");
    refused((gn_train_spec){.optimizer = GN_LION, .beta2 = 1}, "betas are 0 and 1");
    refused((gn_train_spec){.optimizer = GN_RMSPROP, .touched = true, .momentum = 0.5},
            "a momentum moves all rows of a table");
    gir_program *step = NULL,
                *none = read_program(
                    "program @m { %1 = const {value = 1} : f32[] output \"out\" %1 }");
    expect_error(train(none, &settings[0].spec, 0, &step), GN_ERR_INTERNAL, "has no output 'loss'");
    gir_program *wide = read_program(
        "program @m { %1 = const {value = 1} : f32[2] output \"loss\" %1 }");
    expect_error(train(wide, &settings[0].spec, 0, &step), GN_ERR_MODEL,
                 "a gradient is taken of a single float");
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, as_torch);
    tcase_add_test(c, program);
    tcase_add_test(c, rates);
    tcase_add_test(c, counter);
    tcase_add_test(c, errors);
}

int main(void) { return run_suite("gir_train", fill); }
