/* A training step whose loss is scaled, as torch.amp.GradScaler does it with its defaults: the same
 * steps as without while gradients are finite, and where one is not nothing changes but the
 * scale. */
/* links: ir lower passes base */
#include "base/data_name.h"
#include "gir_test.h"
#include "passes/learning_rate.h"
#include "passes/simplify.h"
#include "passes/train.h"

static const char model[] = "program @model {\n"
                            "  %1 = input \"x\" : f32[4]\n"
                            "  %2 = state \"w\" : f32[4]\n"
                            "  %3 = state \"running\" : f32[4]\n"
                            "  %4 = mul %1, %2\n"
                            "  %5 = mul %4, %4\n"
                            "  %6 = reduce %5 {red = 0, axes = 1}\n"
                            "  %7 = add %3, %4\n"
                            "  output \"loss\" %6\n"
                            "  update \"running\" %7\n"
                            "}\n";

enum { X, W, RUNNING, M, V, STEP, UPDATE, SCALE, GOOD, SUM_W, PART, FIRST, LAST, NAMES };
static const char *const names[NAMES] = {"x",
                                         "w",
                                         "running",
                                         "opt.m.w",
                                         "opt.v.w",
                                         GN_STATE_STEPS,
                                         GN_STATE_UPDATES,
                                         GN_STATE_SCALE,
                                         GN_STATE_GOOD_STEPS,
                                         "opt.a.w",
                                         GN_BATCH_PART,
                                         GN_BATCH_FIRST,
                                         GN_BATCH_LAST};

typedef struct world {
    gir_value value[NAMES];
} world;

static void set(world *e, int k, const double *v, int64_t n)
{
    e->value[k] = (gir_value){.rows = 1, .cols = n, .v = GN_NEW_N(&arena, double, n)};
    for (int64_t i = 0; v && i < n; i++) e->value[k].v[i] = v[i];
}

static void set_one(world *e, int k, double v) { set(e, k, &v, 1); }

static world begin(void)
{
    static const double x[] = {0.5, -1, 1.5, 2}, w[] = {0.1, -0.2, 0.3, 0.4};
    world e;
    for (int k = 0; k < NAMES; k++) set(&e, k, NULL, k <= V || k == SUM_W ? 4 : 1);
    set(&e, X, x, 4);
    set(&e, W, w, 4);
    return e;
}

static void run(const gir_program *p, world *e)
{
    gir_value *v = NULL;
    gir_env env = {.arena = &arena,
                   .precision = GIR_EVAL_ELEM,
                   .n = NAMES,
                   .name = (const char **)(uintptr_t)names,
                   .value = e->value};
    expect_ok(gir_eval(p, &env, &v));
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        for (int j = 0; o->kind == GIR_UPDATE && j < NAMES; j++)
            if (strcmp(names[j], o->name) == 0) e->value[j] = v[o->value];
    }
}

/* Gradients go through float16, and are some 1e-8: less than half of the least number of those. */
static const char small[] = "program @small {\n"
                            "  %1 = input \"x\" : f32[4]\n"
                            "  %2 = state \"w\" : f32[4]\n"
                            "  %3 = mul %1, %2\n"
                            "  %4 = cast %3 : f16[4]\n"
                            "  %5 = cast %4 : f32[4]\n"
                            "  %6 = const {value = 1} : f32[4]\n"
                            "  %7 = sub %5, %6\n"
                            "  %8 = mul %7, %7\n"
                            "  %9 = const {value = 1e-8} : f32[4]\n"
                            "  %10 = mul %8, %9\n"
                            "  %11 = reduce %10 {red = 0, axes = 1}\n"
                            "  output \"loss\" %11\n"
                            "}\n";

static const gir_program *step_of_text(const char *text, bool scaled, int64_t accumulate)
{
    static const gn_train_param w = {"w", 0};
    gn_train_spec spec = {.optimizer = GN_ADAM,
                          .lr = 0.1,
                          .beta1 = 0.9,
                          .beta2 = 0.999,
                          .eps = 1e-8,
                          .scales_loss = scaled};
    if (accumulate > 1) spec.batches = (gn_batch_spec){.size = 1, .accumulate = accumulate};
    gir_program *p = NULL;
    expect_ok(gn_pass_train(&arena, read_program(text), 1, &w, &spec, &p));
    expect_ok(gn_pass_simplify(&arena, p, &p));
    expect_ok(gir_verify(p));
    return p;
}

static const gir_program *step_of(bool scaled, int64_t accumulate)
{
    return step_of_text(model, scaled, accumulate);
}

static void same(const world *a, const world *b, int k)
{
    for (int64_t i = 0; i < a->value[k].cols; i++)
        ck_assert_msg(a->value[k].v[i] == b->value[k].v[i], "%s[%d] is %.9g, not %.9g", names[k],
                      (int)i, a->value[k].v[i], b->value[k].v[i]);
}

static void is(const world *e, int k, double v)
{
    ck_assert_msg(e->value[k].v[0] == v, "%s is %.9g, not %.9g", names[k], e->value[k].v[0], v);
}

/* Powers of two leave all bits as they are. */
START_TEST(without_overflow)
{
    const gir_program *plain = step_of(false, 1), *scaled = step_of(true, 1);
    world a = begin(), b = begin();
    for (int t = 0; t < 5; t++) {
        run(plain, &a);
        run(scaled, &b);
        for (int k = W; k <= STEP; k++) same(&a, &b, k);
        is(&b, SCALE, 65536);
        is(&b, GOOD, t + 1);
        is(&b, UPDATE, t + 1);
    }
}
END_TEST

START_TEST(overflow)
{
    const gir_program *p = step_of(true, 1);
    static const double huge[] = {0.5, 1e35, 1, 1};
    world e = begin();
    run(p, &e);
    world before = e;
    set(&e, X, huge, 4);
    for (int t = 0; t < 3; t++) {
        run(p, &e);
        same(&before, &e, W);
        same(&before, &e, M);
        same(&before, &e, V);
        same(&before, &e, RUNNING);
        is(&e, UPDATE, 1);
        is(&e, STEP, 2 + t);
        is(&e, SCALE, 32768.0 / (1 << t));
        is(&e, GOOD, 0);
    }
    e.value[X] = before.value[X];
    run(p, &e);
    is(&e, UPDATE, 2);
    is(&e, GOOD, 1);
    ck_assert(e.value[W].v[0] != before.value[W].v[0]);
}
END_TEST

START_TEST(growth)
{
    const gir_program *p = step_of(true, 1);
    world e = begin();
    set_one(&e, SCALE, 4);
    set_one(&e, GOOD, 1998);
    run(p, &e);
    is(&e, SCALE, 4);
    is(&e, GOOD, 1999);
    run(p, &e);
    is(&e, SCALE, 8);
    is(&e, GOOD, 0);
    set_one(&e, SCALE, 0x1p100); /* nothing is kept as float16: it would become infinite */
    set_one(&e, GOOD, 1999);
    run(p, &e);
    is(&e, SCALE, 0x1p100);
}
END_TEST

/* Of several batches: one scale for all of them, and one that is not finite spoils the update. */
START_TEST(added_up)
{
    const gir_program *p = step_of(true, 2);
    static const double huge[] = {0.5, 1e35, 1, 1};
    world e = begin(), before = e;
    set_one(&e, PART, 0.5);
    for (int t = 0; t < 6; t++) {
        bool spoiled = t == 2; /* the first of the second update */
        set_one(&e, FIRST, t % 2 == 0);
        set_one(&e, LAST, t % 2 == 1);
        if (spoiled) set(&e, X, huge, 4);
        run(p, &e);
        e.value[X] = before.value[X];
        is(&e, UPDATE, t < 1 ? 0 : t < 5 ? 1 : 2);
        is(&e, SCALE, t < 1 ? 65536 : t < 3 ? 65536 : 32768);
        is(&e, GOOD, t < 1 ? 0 : t < 3 ? 1 : t < 5 ? 0 : 1);
    }
}
END_TEST

/* x w becomes 1 where gradients arrive, and stays where they vanish. */
START_TEST(vanishing)
{
    for (int scaled = 0; scaled < 2; scaled++) {
        const gir_program *p = step_of_text(small, scaled, 1);
        world e = begin();
        run(p, &e); /* which rounds w to float32, at least */
        world first = e;
        for (int t = 0; t < 200; t++) run(p, &e);
        if (!scaled) same(&first, &e, W);
        for (int i = 0; i < 4 && scaled; i++)
            ck_assert_double_eq_tol(e.value[X].v[i] * e.value[W].v[i], 1, 0.02);
    }
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, vanishing);
    tcase_add_test(c, without_overflow);
    tcase_add_test(c, overflow);
    tcase_add_test(c, growth);
    tcase_add_test(c, added_up);
}

int main(void) { return run_suite("loss_scale", fill); }
