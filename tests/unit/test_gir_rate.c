/* Learning rates, against torch.optim.lr_scheduler: figures by `python3
 * tests/unit/test_gir_rate.py` (PyTorch 2.15). */
/* links: ir lower passes base */
#include "gir_test.h"
#include "passes/learning_rate.h"
#include "passes/simplify.h"

enum { STEPS = 16 };

/* What a plateau is told after each step; of an accuracy the same with the other sign. */
static const double losses[STEPS] = {1.0, 0.9, 0.89, 0.895, 0.9, 0.91, 0.8, NAN,
                                     0.9, 0.9, 0.9,  0.9,   0.2, 0.3,  0.3, 0.3};

typedef struct recorded {
    const char *name;
    double v[STEPS];
} recorded;

/* clang-format off */
static const recorded torch[] = {
    {"step", {
        0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125, 0.0125, 0.00625,
        0.00625, 0.00625, 0.003125}},
    {"exponential", {
        0.1, 0.09000000000000001, 0.08100000000000002, 0.07290000000000002, 0.06561000000000002,
        0.05904900000000002, 0.05314410000000002, 0.04782969000000002, 0.043046721000000024,
        0.03874204890000002, 0.03486784401000002, 0.03138105960900001, 0.028242953648100012,
        0.025418658283290013, 0.022876792454961013, 0.020589113209464913}},
    {"cosine", {
        0.1, 0.09913533761814537, 0.0965745789630079, 0.09241613255361454, 0.08681980515339463,
        0.08000066048588209, 0.07222075445642903, 0.06377906449072576, 0.054999999999999986,
        0.04622093550927422, 0.037779245543570955, 0.029999339514117908, 0.02318019484660536,
        0.01758386744638546, 0.013425421036992097, 0.01086466238185463}},
    {"linear", {
        0.1, 0.09250000000000001, 0.085, 0.0775, 0.06999999999999999, 0.0625, 0.055, 0.0475, 0.04,
        0.0325, 0.024999999999999998, 0.024999999999999998, 0.024999999999999998,
        0.024999999999999998, 0.024999999999999998, 0.024999999999999998}},
    {"one cycle", {
        0.0040000000000000036, 0.019490484561964422, 0.055963808582671956, 0.08987874445102689,
        0.09992134106552783, 0.09719417773875232, 0.09077808033578923, 0.0811745653949763,
        0.06913429508156801, 0.05559840141227016, 0.04162492233600785, 0.028306099820869922,
        0.016683004371715396, 0.0076641593834256404, 0.0019545260862094144, 4e-07}},
    {"one cycle, early", {
        0.09906328241965749, 0.09628912720992523, 0.0917841435997491, 0.08572145558284419,
        0.07833404885970562, 0.06990581732779813, 0.06076065319828627, 0.051250000000000004,
        0.041739346801713754, 0.03259418267220188, 0.024165951140294403, 0.016778544417155813,
        0.010715856400250915, 0.006210872790074772, 0.003436717580342517, 0.0025}},
    {"one cycle, on a step", {
        0.009999999999999995, 0.014456400944391143, 0.02694295891635698, 0.04498655797196585,
        0.06501344202803415, 0.08305704108364301, 0.09554359905560886, 0.1, 0.0961940146857981,
        0.08535548550593679, 0.06913448027653832, 0.0500005, 0.0308665197234617,
        0.01464551449406322, 0.003806985314201919, 1e-06}},
    {"one cycle, late", {
        0.0040000000000000036, 0.0051191360196534835, 0.00842435801901037, 0.013761541290052678,
        0.020881809414358923, 0.029453139536616532, 0.03907584481198555, 0.049301212070458664,
        0.05965242561148827, 0.06964680143837057, 0.07881829513519648, 0.08673923382904337,
        0.09304025886150497, 0.09742754922947433, 0.09969652265464009, 4e-07}},
    {"warm-up", {
        0.020000000000000004, 0.04000000000000001, 0.06000000000000001, 0.08000000000000002, 0.1,
        0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
    {"warm-up, step", {
        0.020000000000000004, 0.04000000000000001, 0.06000000000000001, 0.08000000000000002, 0.1,
        0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125, 0.0125}},
    {"warm-up, cosine", {
        0.020000000000000004, 0.04000000000000001, 0.06000000000000001, 0.08000000000000002, 0.1,
        0.09846666218300808, 0.09397114317029975, 0.08681980515339464, 0.07750000000000001,
        0.06664685702961345, 0.055000000000000014, 0.04335314297038658, 0.032500000000000015,
        0.023180194846605367, 0.01602885682970026, 0.011533337816991932}},
    {"plateau", {
        0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125, 0.0125,
        0.0125, 0.00625}},
    {"plateau, at once", {
        0.1, 0.1, 0.1, 0.010000000000000002, 0.003, 0.003, 0.003, 0.003, 0.003, 0.003, 0.003,
        0.003, 0.003, 0.003, 0.003, 0.003}},
    {"plateau, cooldown", {
        0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125, 0.0125,
        0.00625, 0.00625}},
    {"plateau, accuracy", {
        0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.025, 0.025,
        0.0125}},
    {"plateau, a least rate above", {
        0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
    {"plateau, small", {
        0.1, 0.1, 0.1, 0.1, 1e-05, 1e-09, 1e-09, 1e-09, 1e-09, 1e-09, 1e-09, 1e-09, 1e-09, 1e-09,
        1e-09, 1e-09}},
};
/* clang-format on */

typedef struct setting {
    const char *name;
    gn_train_spec spec;
} setting;

#define CYCLE .lr = 0.1, .schedule = GN_LR_ONE_CYCLE, .period = STEPS
#define PLATEAU .lr = 0.1, .schedule = GN_LR_PLATEAU

static const setting settings[] = {
    {"step", {.lr = 0.1, .schedule = GN_LR_STEP, .period = 3, .gamma = 0.5}},
    {"exponential", {.lr = 0.1, .schedule = GN_LR_EXPONENTIAL, .gamma = 0.9}},
    {"cosine", {.lr = 0.1, .schedule = GN_LR_COSINE, .period = STEPS, .eta_min = 0.01}},
    {"linear", {.lr = 0.1, .schedule = GN_LR_LINEAR, .period = 10, .gamma = 0.25}},
    {"one cycle", {CYCLE, .rise = 0.3, .div_factor = 25, .final_div_factor = 1e4}},
    {"one cycle, early", {CYCLE, .rise = 0, .div_factor = 4, .final_div_factor = 10}},
    {"one cycle, on a step", {CYCLE, .rise = 0.5, .div_factor = 10, .final_div_factor = 1e4}},
    {"one cycle, late", {CYCLE, .rise = 0.97, .div_factor = 25, .final_div_factor = 1e4}},
    {"warm-up", {.lr = 0.1, .warmup = 4}},
    {"warm-up, step", {.lr = 0.1, .warmup = 4, .schedule = GN_LR_STEP, .period = 3, .gamma = 0.5}},
    {"warm-up, cosine",
     {.lr = 0.1, .warmup = 4, .schedule = GN_LR_COSINE, .period = 12, .eta_min = 0.01}},
    {"plateau", {PLATEAU, .gamma = 0.5, .wait = 1, .threshold = 1e-4}},
    {"plateau, at once", {PLATEAU, .gamma = 0.1, .threshold = 0.05, .eta_min = 0.003}},
    {"plateau, cooldown", {PLATEAU, .gamma = 0.5, .threshold = 1e-4, .cooldown = 2}},
    {"plateau, accuracy",
     {PLATEAU, .gamma = 0.5, .wait = 1, .threshold = 0.05, .by_accuracy = true}},
    {"plateau, a least rate above", {PLATEAU, .gamma = 0.5, .threshold = 1e-4, .eta_min = 0.2}},
    {"plateau, small", {PLATEAU, .gamma = 1e-4, .threshold = 1e-4}},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static gir_program *rate_program(const gn_train_spec *s)
{
    gir_program *p = read_program("program @rate { %1 = state \"rng.step\" : i64[] }");
    gir_output_add(p, GIR_OUTPUT, "rate", gn_train_rate_value(p, s, 1));
    expect_ok(gir_verify(p));
    return p;
}

static double in_program(const gir_program *p, double step, double drops)
{
    static const char *name[] = {"rng.step", GN_STATE_DROPS};
    gir_value value[2] = {{.rows = 1, .cols = 1, .v = &step}, {.rows = 1, .cols = 1, .v = &drops}},
              *v;
    gir_env env = {.arena = &arena, .n = 2, .name = name, .value = value};
    expect_ok(gir_eval(p, &env, &v));
    return v[p->outputs.p[0].value].v[0];
}

/* Both ways in which a rate is computed. */
START_TEST(as_torch)
{
    ck_assert_uint_eq(SETTINGS, sizeof torch / sizeof *torch);
    for (int k = 0; k < SETTINGS; k++) {
        const gn_train_spec *s = &settings[k].spec;
        gir_program *p = rate_program(s), *simple;
        expect_ok(gn_pass_simplify(&arena, p, &simple));
        gn_plateau plateau = {0};
        ck_assert_str_eq(settings[k].name, torch[k].name);
        for (int t = 0; t < STEPS; t++) {
            double want = torch[k].v[t], drops = (double)plateau.drops;
            const double is[] = {gn_train_rate(s, t, plateau.drops), in_program(p, t, drops),
                                 in_program(simple, t, drops)};
            for (int i = 0; i < 3; i++)
                ck_assert_msg(fabs(is[i] - want) <= 1e-14 * s->lr, "%s, step %d: %.17g, not %.17g",
                              settings[k].name, t, is[i], want);
            gn_plateau_judge(s, &plateau, s->by_accuracy ? -losses[t] : losses[t]);
        }
    }
}
END_TEST

/* A cycle that is over stays where it ended, and one of a step is its end. */
START_TEST(cycles_end)
{
    gn_train_spec s = settings[4].spec;
    ck_assert(gn_train_rate(&s, STEPS + 9, 0) == gn_train_rate(&s, STEPS - 1, 0));
    ck_assert(fabs(in_program(rate_program(&s), STEPS + 9, 0) - 4e-7) < 1e-15);
    s.period = 1;
    ck_assert(fabs(gn_train_rate(&s, 0, 0) - 4e-7) < 1e-15);
    ck_assert(fabs(in_program(rate_program(&s), 0, 0) - 4e-7) < 1e-15);
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, as_torch);
    tcase_add_test(c, cycles_end);
}

int main(void) { return run_suite("gir_rate", fill); }
