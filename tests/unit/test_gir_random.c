/* Random programs: what the generator makes, and what holds of every program: text reads back,
 * passes keep results within the evaluator's bounds, rounding every value to its element type stays
 * within them, gradients are slopes. */
/* labels: long */
/* links: ir lower passes base */
/* timeout: 300 */
#include "gir_test.h"
#include "passes/simplify.h"
#include "support/random_gir.h"

#include <stdio.h>

enum { PROGRAMS = 2000, BACKWARD = 600 };

static void renew(void)
{
    gn_arena_free(&arena);
    gn_arena_init(&arena);
}

/* Every pair of operators that can meet does. */
START_TEST(pairs)
{
    static uint16_t met[GIR_OP_COUNT][GIR_OP_COUNT];
    for (uint64_t seed = 0; seed < PROGRAMS; seed++, renew()) {
        gir_program *p = random_gir(&arena, seed, NULL);
        gn_status *s = gir_verify(p);
        ck_assert_msg(s == NULL, "seed %d: %s\n%s", (int)seed, gn_status_message(s),
                      program_text(p));
        for (gir_id v = 1; v < p->nodes.n; v++)
            for (int k = 0; k < gir_at(p, v)->n_in; k++)
                met[gir_at(p, gir_in(p, v, k))->op][gir_at(p, v)->op]++;
    }
    int missing = 0, there = 0;
    for (int p = 1; p < GIR_OP_COUNT; p++)
        for (int c = 1; c < GIR_OP_COUNT; c++) {
            there += met[p][c] > 0;
            if (!random_gir_pair((gir_op)p, (gir_op)c) || met[p][c]) continue;
            fprintf(stderr, "no %s -> %s\n", gir_ops[p].text, gir_ops[c].text);
            missing++;
        }
    fprintf(stderr, "%d pairs of operators\n", there);
    ck_assert_int_eq(missing, 0);
}
END_TEST

START_TEST(text)
{
    for (uint64_t seed = 0; seed < 300; seed++, renew()) {
        gir_program *p = random_gir(&arena, seed, &(random_gir_options){.backward = seed % 2}),
                    *q = NULL;
        char *first = program_text(p);
        expect_ok(gir_parse(&arena, first, strlen(first), "test", &q));
        ck_assert_str_eq(program_text(q), first);
        expect_ok(gir_verify(q));
    }
}
END_TEST

static gir_value *eval_in(const gir_program *p, gir_env env, gir_precision precision, bool bounds)
{
    gir_value *v = NULL;
    env.precision = precision;
    env.bounds = bounds;
    gn_status *s = gir_eval(p, &env, &v);
    ck_assert_msg(s == NULL, "%s\n%s", gn_status_message(s), program_text(p));
    return v;
}

typedef struct tally {
    int64_t elements, bounded, exact;
} tally;

/* Are two values of a program's outputs as near as the bounds of the first say?  Twice that where
 * either may be off. */
static void compare(const gir_program *p, const gir_program *q, const gir_value *a,
                    const gir_value *b, double factor, tally *t)
{
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        ck_assert_str_eq(p->outputs.p[k].name, q->outputs.p[k].name);
        const gir_value *x = &a[p->outputs.p[k].value], *y = &b[q->outputs.p[k].value];
        ck_assert(x->rows == y->rows && x->cols == y->cols);
        for (int64_t i = 0; i < x->rows * x->cols; i++) {
            double off = fabs(x->v[i] - y->v[i]);
            t->elements++;
            t->bounded += isfinite(x->err[i]);
            t->exact += x->err[i] == 0;
            bool same = (isnan(x->v[i]) && isnan(y->v[i])) || x->v[i] == y->v[i];
            ck_assert_msg(same || isinf(x->err[i]) || off <= factor * x->err[i],
                          "output %s[%d]: %.17g and %.17g, %g apart, bound %g\n%s\n%s",
                          p->outputs.p[k].name, (int)i, x->v[i], y->v[i], off, x->err[i],
                          program_text(p), program_text(q));
        }
    }
}

/* Values rounded to their element types after every operator are one way to compute in them. */
START_TEST(rounded)
{
    tally t = {0};
    for (uint64_t seed = 0; seed < BACKWARD; seed++, renew()) {
        random_gir_options opt = {.backward = seed % 3 == 0, .elem = seed % 5 ? GN_F32 : GN_F64};
        gir_program *p = random_gir(&arena, seed, &opt);
        expect_ok(gir_verify(p));
        gir_env env = random_gir_env(&arena, p, seed, &opt);
        gir_value *exact = eval_in(p, env, GIR_EVAL_F64, true);
        compare(p, p, exact, eval_in(p, env, GIR_EVAL_ELEM, false), 1, &t);
    }
    fprintf(stderr, "%lld elements, %.1f %% bounded, %.1f %% exact\n", (long long)t.elements,
            100.0 * (double)t.bounded / (double)t.elements,
            100.0 * (double)t.exact / (double)t.elements);
    ck_assert(t.bounded > t.elements / 2);
}
END_TEST

typedef gn_status *(*pass_fn)(gn_arena *, const gir_program *, gir_program **);

static void keeps_results(pass_fn pass)
{
    tally t = {0};
    for (uint64_t seed = 0; seed < BACKWARD; seed++, renew()) {
        random_gir_options opt = {.backward = seed % 2};
        gir_program *p = random_gir(&arena, seed, &opt), *q = NULL, *again = NULL, *third = NULL;
        char *before = program_text(p);
        expect_ok(pass(&arena, p, &q));
        ck_assert_str_eq(program_text(p), before);
        gn_status *s = gir_verify(q);
        ck_assert_msg(s == NULL, "%s\n%s\n%s", gn_status_message(s), before, program_text(q));
        gir_env env = random_gir_env(&arena, p, seed, &opt);
        compare(p, q, eval_in(p, env, GIR_EVAL_F64, true), eval_in(q, env, GIR_EVAL_F64, false), 1,
                &t);
        /* a product that has come into a choice may meet another choice there */
        expect_ok(pass(&arena, q, &again));
        expect_ok(pass(&arena, again, &third));
        ck_assert_uint_le(third->nodes.n, again->nodes.n);
    }
}

START_TEST(dce) { keeps_results(gn_pass_dce); }
END_TEST
START_TEST(cse) { keeps_results(gn_pass_cse); }
END_TEST
START_TEST(simplify) { keeps_results(gn_pass_simplify); }
END_TEST

static bool has_op(const gir_program *p, gir_op op)
{
    for (gir_id v = 1; v < p->nodes.n; v++)
        if (gir_at(p, v)->op == op) return true;
    return false;
}

static gir_id output_of(const gir_program *p, const char *name)
{
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_OUTPUT && strcmp(p->outputs.p[k].name, name) == 0)
            return p->outputs.p[k].value;
    return 0;
}

/* Some direction: +1 or -1 for every element of every leaf. */
static double direction(int leaf, int64_t i) { return (leaf * 7919 + i * 104729) / 3 % 2 ? 1 : -1; }

/* The loss, t steps along the direction. */
static double loss_at(const gir_program *p, gir_env env, const gir_id *grad, double t)
{
    gir_value *moved = GN_NEW_N(&arena, gir_value, env.n);
    for (int k = 0; k < env.n; k++) {
        moved[k] = env.value[k];
        if (!grad[k]) continue;
        moved[k].v = GN_NEW_N(&arena, double, moved[k].rows *moved[k].cols);
        for (int64_t i = 0; i < moved[k].rows * moved[k].cols; i++)
            moved[k].v[i] = env.value[k].v[i] + t * direction(k, i);
    }
    env.value = moved;
    gir_program forward = *p;
    gir_output out = {GIR_OUTPUT, "loss", output_of(p, "loss")};
    forward.outputs.p = &out, forward.outputs.n = 1;
    return eval_in(&forward, env, GIR_EVAL_F64, false)[out.value].v[0];
}

/* The slope of the loss along a direction in all leaves at once: from gradients, and from
 * differences.  Kinks are known by differences that do not settle. */
START_TEST(slopes)
{
    int agreed = 0, kinks = 0;
    for (uint64_t seed = 0; seed < BACKWARD; seed++, renew()) {
        random_gir_options opt = {
            .backward = true, .elem = GN_F64, .one_type = true, .max_nodes = 12};
        gir_program *p = random_gir(&arena, seed, &opt);
        if (has_op(p, GIR_DETACH)) continue;
        gir_env env = random_gir_env(&arena, p, seed, &opt);
        const gir_value *v = eval_in(p, env, GIR_EVAL_F64, false);
        gir_id *grad = GN_NEW_N(&arena, gir_id, env.n);
        double slope = 0, size = 0, h = 1e-6;
        for (int k = 0; k < env.n; k++) {
            grad[k] = output_of(p, gn_arena_printf(&arena, "d.%s", env.name[k]));
            for (int64_t i = 0; grad[k] && i < env.value[k].rows * env.value[k].cols; i++) {
                slope += v[grad[k]].v[i] * direction(k, i);
                size += fabs(v[grad[k]].v[i]);
            }
        }
        double up = loss_at(p, env, grad, h), down = loss_at(p, env, grad, -h),
               at = loss_at(p, env, grad, 0);
        double up_near = loss_at(p, env, grad, h / 8),
               near = (up_near - loss_at(p, env, grad, -h / 8)) * 4 / h;
        double differences = (up - down) / (2 * h), tolerance = 1e-5 * (1 + size) + 1e-8 * fabs(at);
        /* one side's slope is not the mean of both, by less where it is smooth and near */
        double gap = fabs((up - at) / h - differences),
               near_gap = fabs((up_near - at) * 8 / h - near);
        bool kink = !(gap <= 100 * tolerance && fabs(near - differences) <= tolerance) ||
                    (gap > tolerance && near_gap > gap / 2);
        kinks += kink;
        agreed += !kink;
        ck_assert_msg(kink || fabs(slope - differences) <= 3 * tolerance,
                      "seed %d: slope %.12g, by differences %.12g\n%s", (int)seed, slope,
                      differences, program_text(p));
    }
    fprintf(stderr, "%d slopes agree, %d at kinks\n", agreed, kinks);
    ck_assert_int_gt(agreed, 3 * kinks);
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, pairs);
    tcase_add_test(c, text);
    tcase_add_test(c, rounded);
    tcase_add_test(c, dce);
    tcase_add_test(c, cse);
    tcase_add_test(c, simplify);
    tcase_add_test(c, slopes);
}

int main(void) { return run_suite("gir_random", fill); }
