/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 240 */
/* Softmaxes over edges whose exponentials are taken once a node (node_exp), with their gradients,
 * every way: ordinary and extreme scores, at both sides of where they can be taken apart, far from
 * each other within a row; and beside them those that the pass must leave alone. */
#include "base/sanitized.h"
#include "fuse/both_ends.h"
#include "passes/passes.h"
#include "support/gir_text.h"
#include "support/random_gir.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* H heads of W; what stands in FORM makes %20, the scores, of s at the source (%10) and t at the
 * destination (%11). */
static const char program[] = "program @attention {\n"
                              "  space node node ?\n"
                              "  space edge edge ? of %1\n"
                              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                              "  %2 = state \"h.any\" : node f32[H, W]\n"
                              "  %3 = state \"s.any\" : node f32[H]\n"
                              "  %4 = state \"t.any\" : node f32[H]\n"
                              "  %5 = input \"ct.any\" : node f32[H, W]\n"
                              "  %6 = input \"e.any\" : edge f32[H]\n"
                              "  %7 = state \"u.any\" : node f32[H]\n"
                              "  %8 = input \"keep.label\" : edge bool[H]\n"
                              "  %9 = const {value = 0} : edge f32[H]\n"
                              "  %10 = gather %1, %3 {end = 0}\n"
                              "  %11 = gather %1, %4 {end = 1}\n"
                              "FORM"
                              "  %21 = scatter %1, %20 {end = 1, red = 1}\n"
                              "  %22 = detach %21\n"
                              "  %23 = gather %1, %22 {end = 1}\n"
                              "  %24 = sub %20, %23\n"
                              "  %25 = exp %24\n"
                              "  %26 = scatter %1, %25 {end = 1, red = 0}\n"
                              "  %27 = const {value = EPS} : node f32[H]\n"
                              "  %28 = add %26, %27\n"
                              "  %29 = gather %1, %28 {end = 1}\n"
                              "  %30 = div %25, %29\n"
                              "  %31 = select %8, %30, %9\n"
                              "  %32 = reshape %31 : edge f32[H, 1]\n"
                              "  %33 = broadcast %32 : edge f32[H, W]\n"
                              "  %34 = gather %1, %2 {end = 0}\n"
                              "  %35 = mul %33, %34\n"
                              "  %36 = scatter %1, %35 {end = 1, red = 0}\n"
                              "  output \"out\" %36\n"
                              "MORE"
                              "  %50 = mul %36, %5\n"
                              "  %51 = reduce %50 {red = 0, axes = 3}\n"
                              "  %52 = space_reduce %51 {red = 0}\n"
                              "  output \"loss\" %52\n"
                              "}\n";

#define SUM "  %12 = add %10, %11\n"
#define LEAKY(c) SUM "  %13 = const {value = " c "} : edge f32[H]\n  %14 = mul %12, %13\n"

typedef struct form {
    const char *what, *scores, *more, *eps;
    bool acts;
} form;

static const form forms[] = {
    {"leaky", LEAKY("0.2") "  %15 = gt %12, %9\n  %20 = select %15, %12, %14\n", "", "1e-16", true},
    {"leaky as a maximum", LEAKY("0.01") "  %20 = max %14, %12\n", "", "1e-16", true},
    {"relu", LEAKY("0") "  %15 = ge %12, %9\n  %20 = select %15, %12, %14\n", "", "1e-16", true},
    {"a sum", "  %20 = add %11, %10\n", "", "1e-16", true},
    {"the source alone", "  %20 = add %10, %10\n", "", "0", true},
    {"several terms",
     LEAKY("0.2") "  %16 = gather %1, %7 {end = 0}\n  %17 = gather %1, %7 {end = 1}\n  %18 = add "
                  "%16, %12\n"
                  "  %19 = add %18, %17\n  %60 = mul %13, %19\n  %15 = gt %19, %9\n  %20 = select "
                  "%15, %19, %60\n",
     "", "1e-16", true},
    {"two in one loop", LEAKY("0.2") "  %15 = gt %12, %9\n  %20 = select %15, %12, %14\n",
     "  %37 = gather %1, %7 {end = 0}\n  %38 = gather %1, %4 {end = 1}\n  %39 = add %37, %38\n"
     "  %40 = scatter %1, %39 {end = 1, red = 1}\n  %41 = gather %1, %40 {end = 1}\n  %42 = sub "
     "%39, %41\n"
     "  %43 = exp %42\n  %44 = scatter %1, %43 {end = 1, red = 0}\n  %45 = gather %1, %44 {end = "
     "1}\n"
     "  %46 = div %43, %45\n  %47 = mul %46, %31\n  %48 = scatter %1, %47 {end = 1, red = 0}\n"
     "  output \"both\" %48\n",
     "1e-16", true},
    {"scores of the edges' own",
     LEAKY("0.2") "  %16 = add %12, %6\n  %15 = gt %12, %9\n  %20 = select %15, %16, %14\n", "",
     "1e-16", false},
    {"steeper below", LEAKY("2") "  %15 = gt %12, %9\n  %20 = select %15, %12, %14\n", "", "1e-16",
     false},
    {"falling below", LEAKY("-0.2") "  %15 = gt %12, %9\n  %20 = select %15, %12, %14\n", "",
     "1e-16", false},
    {"the destination alone", "  %20 = add %11, %11\n", "", "1e-16", false},
    {"a constant that matters", LEAKY("0.2") "  %20 = max %14, %12\n", "", "0.5", false},
    {"sums that are read", LEAKY("0.2") "  %20 = max %14, %12\n", "  output \"sums\" %26\n",
     "1e-16", false},
    {"heads added up before they are divided", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = reduce %25 {red = 0, axes = 1}\n  %38 = reduce %29 {red = 0, axes = 1}\n  %39 = div "
     "%37, %38\n"
     "  %40 = scatter %1, %39 {end = 1, red = 0}\n  output \"mixed\" %40\n",
     "1e-16", false},
    {"another head's sum", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = reshape %25 : edge f32[H, 1]\n  %38 = broadcast %37 : edge f32[H, H]\n"
     "  %39 = broadcast %29 : edge f32[H, H]\n  %40 = div %38, %39\n"
     "  %41 = scatter %1, %40 {end = 1, red = 0}\n  output \"mixed\" %41\n",
     "1e-16", false},
    {"summed up at the sources", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = scatter %1, %25 {end = 0, red = 0}\n  %38 = gather %1, %37 {end = 0}\n  %39 = div "
     "%25, %38\n"
     "  output \"sent\" %39\n",
     "1e-16", false},
    {"heads side by side", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = slice %25 {axis = 0, start = 0} : edge f32[1]\n  %38 = concat %37, %25 {axis = 0}\n"
     "  %39 = slice %28 {axis = 0, start = 0} : node f32[1]\n  %40 = concat %39, %28 {axis = 0}\n"
     "  %41 = gather %1, %40 {end = 1}\n  %42 = div %38, %41\n  %43 = scatter %1, %42 {end = 1, "
     "red = 0}\n"
     "  output \"beside\" %43\n",
     "1e-16", true},
    {"heads side by side, in another order", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = slice %25 {axis = 0, start = 0} : edge f32[1]\n  %38 = concat %37, %25 {axis = 0}\n"
     "  %39 = slice %28 {axis = 0, start = 0} : node f32[1]\n  %40 = concat %28, %39 {axis = 0}\n"
     "  %41 = gather %1, %40 {end = 1}\n  %42 = div %38, %41\n  %43 = scatter %1, %42 {end = 1, "
     "red = 0}\n"
     "  output \"beside\" %43\n",
     "1e-16", false},
    {"heads sliced in another order", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = slice %25 {axis = 0, start = 0} : edge f32[1]\n  %38 = concat %37, %25, %37 {axis = "
     "0}\n"
     "  %39 = slice %38 {axis = 0, start = 2} : edge f32[H]\n  %40 = slice %29 {axis = 0, start = "
     "0} : edge f32[1]\n"
     "  %41 = concat %40, %29, %40 {axis = 0}\n  %42 = slice %41 {axis = 0, start = 0} : edge "
     "f32[H]\n"
     "  %43 = div %39, %42\n  %44 = scatter %1, %43 {end = 1, red = 0}\n  output \"sliced\" %44\n",
     "1e-16", false},
    {"squares of sums, of all rows", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = slice %28 {axis = 0, start = 0} : node f32[1]\n  %38 = matmul %37, %37 {ta = 1}\n"
     "  output \"squares\" %38\n",
     "1e-16", false},
    {"a head by a matrix", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = slice %28 {axis = 0, start = 0} : node f32[1]\n  %38 = input \"m.any\" : f32[1, 3]\n"
     "  %39 = matmul %37, %38\n  %40 = broadcast %37 : node f32[3]\n  %41 = div %39, %40\n"
     "  output \"projected\" %41\n",
     "1e-16", true},
    {"heads by a matrix", LEAKY("0.2") "  %20 = max %14, %12\n",
     "  %37 = input \"m.any\" : f32[H, 3]\n  %38 = matmul %28, %37\n  %39 = div %38, %38\n"
     "  output \"projected\" %39\n",
     "1e-16", false},
    {"a constant that hardly matters", LEAKY("0.2") "  %20 = max %14, %12\n", "", "1e-8", true},
};
enum { FORMS = sizeof forms / sizeof *forms, LONG = 33 };

/* Largest scores of s and u, and of t; one node's alone? */
static const struct {
    double s, u, t;
    bool one;
} sizes[] = {{0.5, 0.5, 0.5, false}, {8, 1, 3, false},      {23.9, 1, 1e4, false},
             {24.1, 1, 1e4, false},  {23.99, 25, 30, true}, {25, 3, 60, true},
             {60, 60, 60, false},    {1e3, 1, 200, true},   {1e4, 1e3, 1e4, false},
             {0, 0, 100, false}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void fine(gn_status *s, const char *what, const char *where)
{
    ck_assert_msg(!s, "%s: %s: %s (%s:%d)", what, where, gn_status_message(s), s->file, s->line);
}

static gir_program *read_form(gn_arena *a, const form *f, int heads, int width)
{
    static const char *const names[] = {"h.any", "s.any", "t.any", "u.any"};
    gir_program *p;
    const char *text = text_replaced(a, text_replaced(a, program, "FORM", f->scores), "MORE",
                                     f->more);
    text = text_replaced(a, text_replaced(a, text, "EPS", f->eps), "[H",
                         gn_arena_printf(a, "[%d", heads));
    text = text_replaced(a, text, ", W]", gn_arena_printf(a, ", %d]", width));
    text = gir_renumbered(a, text_replaced(a, text, ", H]", gn_arena_printf(a, ", %d]", heads)));
    fine(gir_parse(a, text, strlen(text), f->what, &p), f->what, text);
    gir_id wrt[4], grad[4], loss = p->outputs.p[p->outputs.n - 1].value;
    for (int k = 0; k < 4; k++) wrt[k] = gir_leaf_by_name(p, GIR_STATE, names[k]);
    fine(gir_grad(p, loss, 4, wrt, grad), f->what, "gradients");
    for (int k = 0; k < 4; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(a, "d.%s", names[k]), grad[k]);
    fine(gir_verify(p), f->what, "gradients");
    return p;
}

static gir_value *bound(gir_env *env, const char *name)
{
    for (int k = 0; k < env->n; k++)
        if (!strcmp(env->name[k], name)) return &env->value[k];
    ck_abort_msg("no %s", name);
}

/* Numbers from -2 to 2 become such of that size; `one`: only some, and the rest small. */
static void scale(gir_env *env, const char *name, double size, bool one)
{
    gir_value *v = bound(env, name);
    for (int64_t k = 0; k < v->rows * v->cols; k++) {
        double x = v->v[k] / 2;
        if (!one) x *= size;
        if (one && k % 5 == 3) x = x < 0 ? -size : size;
        v->v[k] = gir_round(GN_F32, x);
    }
}

/* Weights of a row add up to one at most: outputs are never further off than a small part of the
 * largest message, whatever scores are. */
static void compare_output(const run_case *c, const gir_program *p, gir_env *env, const form *f,
                           double size)
{
    gn_arena a;
    gir_value *x = NULL;
    gn_arena_init(&a);
    gir_env wide = *env;
    wide.arena = &a;
    wide.precision = GIR_EVAL_F64;
    wide.bounds = false;
    fine(gir_eval(p, &wide, &x), f->what, "evaluation");
    gir_value out = x[p->outputs.p[0].value];
    const double *got = run_case_output(c, 0, 0);
    double most = 2 * (1e-5 + 1e-6 * size);
    for (int64_t k = 0; k < out.rows * out.cols; k++)
        ck_assert_msg(fabs(got[k] - out.v[k]) <= most,
                      "%s, scores up to %g: out[%d] is %.9g, should be %.9g", f->what, size, (int)k,
                      got[k], out.v[k]);
    gn_arena_free(&a);
}

static void run(const form *f, int heads, int size)
{
    gn_arena a;
    run_case *c = NULL;
    run_code *code = NULL;
    gn_arena_init(&a);
    gir_program *p = read_form(&a, f, heads, size % 4 == 1 ? LONG : 3);
    gir_env env = random_gir_env(&a, p, (uint64_t)(size + 20),
                                 &(random_gir_options){.max_nodes = 12});
    scale(&env, "s.any", sizes[size].s, sizes[size].one);
    scale(&env, "u.any", sizes[size].u, sizes[size].one);
    scale(&env, "t.any", sizes[size].t, false);
    const char *where = gn_arena_printf(&a, "size %d, %d heads", size, heads);
    fine(run_case_new(&a, p, &env, 1 | 8 | 16 | 64, 1 | (size == 1 ? 16 : 0), &c), f->what, where);
    fine(run_compile(&a, 1, &c, &code), f->what, where);
    fine(run_case_check(c, NULL), f->what, where);
    compare_output(c, p, &env, f, fmax(sizes[size].s + sizes[size].t, sizes[size].u));
    run_case_free(c);
    run_code_free(code);
    gn_arena_free(&a);
}

START_TEST(scores)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 1)) return; /* each compiles */
    for (int size = 0; size < SIZES; size++) run(&forms[_i], size % 3 ? 5 : 2, size);
    run(&forms[_i], 1, 0);
    run(&forms[_i], 1, 4);
}
END_TEST

/* The pass acts where it should: a choice by a scalar of the program, not by what an edge has. */
START_TEST(acts)
{
    gn_arena a;
    gn_arena_init(&a);
    gir_program *p = read_form(&a, &forms[_i], 4, 3), *q;
    gn_pass_options opt = {.limit = -1, .verify = true};
    fine(gn_passes_run(&a, p, &opt, NULL, &q), forms[_i].what, "passes");
    bool any = false;
    for (gir_id v = 1; v < q->nodes.n; v++) {
        if (gir_at(q, v)->op != GIR_SELECT) continue;
        gir_id cond = gir_in(q, v, 0);
        while (gir_at(q, cond)->op == GIR_BROADCAST) cond = gir_in(q, cond, 0);
        any = any || (gir_type_of(q, cond)->space == 0 && gir_at(q, cond)->op == GIR_LE);
    }
    ck_assert_msg(any == forms[_i].acts, "%s", forms[_i].what);
    gn_arena_free(&a);
}
END_TEST

/* Where sums of rows would be large, the gradient of scores stays on the edges, a number each, for
 * the loops at both ends. */
START_TEST(both_ends)
{
    gn_arena a;
    gn_arena_init(&a);
    for (int large = 0; large < 2; large++) {
        gir_program *p = read_form(&a, &forms[_i], 4, LONG), *q;
        gn_pass_options opt = {.limit = -1, .verify = true, .nodes = large ? 1 << 24 : 1 << 8};
        fine(gn_passes_run(&a, p, &opt, NULL, &q), forms[_i].what, "passes");
        const gn_both_ends *all = gn_find_both_ends(&a, q);
        int n = 0;
        for (gir_id v = 1; v < q->nodes.n; v++) n += all[v].by_source != 0;
        ck_assert_msg(n == large, "%s, %s: %d on the edges", forms[_i].what,
                      large ? "large" : "small", n);
    }
    gn_arena_free(&a);
}
END_TEST

/* The gradient of the attention's vectors at either end, of h = x w; the gradient of w comes
 * last. */
static const char freed[] = "program @freed {\n"
                            "  space node node ?\n"
                            "  space edge edge ? of %1\n"
                            "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                            "  %2 = input \"x.any\" : node f32[5]\n"
                            "  %3 = state \"w.any\" : f32[5, 27]\n"
                            "  %4 = input \"o.any\" : node f32[3, 9]\n"
                            "  %5 = input \"p.any\" : edge f32[3]\n"
                            "  %6 = matmul %2, %3\n"
                            "  %7 = reshape %6 : node f32[3, 9]\n"
                            "  %8 = gather %1, %4 {end = 1}\n"
                            "  %9 = gather %1, %7 {end = 0}\n"
                            "  %10 = mul %8, %9\n"
                            "  %11 = reduce %10 {red = 0, axes = 2}\n"
                            "  %12 = mul %11, %5\n"
                            "  %13 = scatter %1, %12 {end = 1, red = 0}\n"
                            "  %14 = scatter %1, %12 {end = 0, red = 0}\n"
                            "  %15 = reshape %13 : node f32[3, 1]\n"
                            "  %16 = broadcast %15 : node f32[3, 9]\n"
                            "  %17 = mul %7, %16\n"
                            "  %18 = space_reduce %17 {red = 0}\n"
                            "  %19 = reshape %14 : node f32[3, 1]\n"
                            "  %20 = broadcast %19 : node f32[3, 9]\n"
                            "  %21 = mul %20, %7\n"
                            "  %22 = space_reduce %21 {red = 0}\n"
                            "  %23 = add %16, %20\n"
                            "  %24 = reshape %23 : node f32[27]\n"
                            "  %25 = matmul %2, %24 {ta = 1}\n"
                            "  output \"of t\" %18\n"
                            "  output \"of s\" %22\n"
                            "  output \"of w\" %25\n"
                            "}\n";

/* A sum over rows of a product becomes a thin product and a sum of weights, and what it is stays
 * the same. */
START_TEST(free_products)
{
    gn_arena a;
    gn_arena_init(&a);
    for (uint64_t seed = 0; seed < 20; seed++) {
        gir_program *p, *q;
        gir_value *was = NULL, *is = NULL;
        gn_pass_options opt = {.limit = -1, .nodes = 1 << 24};
        fine(gir_parse(&a, freed, sizeof freed - 1, "freed", &p), "freed", "text");
        fine(gn_run_free_products(&a, p, &opt, &q), "freed", "pass");
        fine(gir_verify(q), "freed", "verifier");
        ck_assert_int_eq(gir_at(q, q->outputs.p[0].value)->op, GIR_REDUCE);
        gir_env env = random_gir_env(&a, p, seed, &(random_gir_options){.max_nodes = 12});
        env.precision = GIR_EVAL_F64;
        env.bounds = false;
        fine(gir_eval(p, &env, &was), "freed", "evaluation before");
        fine(gir_eval(q, &env, &is), "freed", "evaluation after");
        for (int k = 0; k < 3; k++) {
            gir_value x = was[p->outputs.p[k].value], y = is[q->outputs.p[k].value];
            ck_assert_int_eq(x.rows * x.cols, y.rows * y.cols);
            for (int64_t i = 0; i < x.rows * x.cols; i++)
                ck_assert_msg(fabs(x.v[i] - y.v[i]) <= 1e-9 * (1 + fabs(x.v[i])), "%s: %g is %g",
                              p->outputs.p[k].name, x.v[i], y.v[i]);
        }
    }
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("attention");
    tcase_add_loop_test(t, acts, 0, FORMS);
    tcase_add_loop_test(t, both_ends, 0, 1);
    tcase_add_test(t, free_products);
    tcase_add_loop_test(t, scores, 0, FORMS);
    tcase_set_timeout(t, 200);
    return RUN_CASES("attention", t);
}
