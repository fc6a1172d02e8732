/* Products of matrices as programs: of sizes that fill tiles, panels and depths and of sizes that
 * do not, operands as they lie and turned, with elementwise work behind them; of rows, of
 * parameters, and over rows. */
#ifndef GN_TESTS_SUPPORT_PRODUCTS_H
#define GN_TESTS_SUPPORT_PRODUCTS_H

#include "support/random_gir.h"

#include <check.h>

typedef struct size {
    int depth, cols, rows; /* rows: of a product of parameters, of one over rows */
} size;

static const size sizes[] = {{8, 4, 3},     {16, 8, 64},  {17, 5, 65},   {32, 16, 12},
                             {33, 33, 40},  {64, 64, 64}, {15, 70, 130}, {100, 40, 20},
                             {40, 129, 33}, {7, 64, 9}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const char *const kinds[] = {
    /* of rows, with work that follows */
    "  %1 = input \"x.any\" : node f32[D]\n  %2 = state \"w.any\" : f32[D, N]\n  %3 = state "
    "\"b.any\" : f32[N]\n"
    "  %4 = matmul %1, %2 : node f32[N]\n  %5 = broadcast %3 : node f32[N]\n  %6 = add %4, %5 : "
    "node f32[N]\n"
    "  %7 = tanh %6 : node f32[N]\n  %8 = mul %7, %4 : node f32[N]\n  output \"out\" %8\n  output "
    "\"plain\" %4\n",
    /* with the right operand turned */
    "  %1 = input \"x.any\" : node f32[D]\n  %2 = state \"w.any\" : f32[N, D]\n"
    "  %3 = matmul %1, %2 {tb = 1} : node f32[N]\n  output \"out\" %3\n",
    /* over rows */
    "  %1 = input \"x.any\" : node f32[R]\n  %2 = input \"y.any\" : node f32[N]\n"
    "  %3 = matmul %1, %2 {ta = 1} : f32[R, N]\n  output \"out\" %3\n",
    /* of parameters */
    "  %1 = state \"x.any\" : f32[R, D]\n  %2 = state \"w.any\" : f32[D, N]\n"
    "  %3 = matmul %1, %2 : f32[R, N]\n  output \"out\" %3\n",
    "  %1 = state \"x.any\" : f32[D, R]\n  %2 = state \"w.any\" : f32[N, D]\n"
    "  %3 = matmul %1, %2 {ta = 1, tb = 1} : f32[R, N]\n  output \"out\" %3\n",
    /* sums of its rows do not ride on it */
    "  %1 = input \"x.any\" : node f32[D]\n  %2 = state \"w.any\" : f32[D, N]\n  %3 = matmul %1, "
    "%2 : node f32[N]\n"
    "  %4 = space_reduce %3 : f32[N]\n  output \"out\" %3\n  output \"sum\" %4\n",
    /* two that are added */
    "  %1 = input \"x.any\" : node f32[D]\n  %2 = state \"w.any\" : f32[D, N]\n  %3 = input "
    "\"y.any\" : node f32[R]\n"
    "  %4 = state \"u.any\" : f32[R, N]\n  %5 = matmul %1, %2 : node f32[N]\n  %6 = matmul %3, %4 "
    ": node f32[N]\n"
    "  %7 = add %5, %6 : node f32[N]\n  %8 = tanh %7 : node f32[N]\n  output \"out\" %8\n",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static char *with_sizes(gn_arena *a, const char *text, const size *s)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "program @product {\n  space node node ?\n");
    for (const char *p = text; *p; p++) {
        bool number = p > text && (p[-1] == '[' || p[-1] == ' ') && (p[1] == ']' || p[1] == ',');
        int n = *p == 'D' ? s->depth : *p == 'N' ? s->cols : *p == 'R' ? s->rows : 0;
        if (number && n)
            gn_buf_printf(&b, "%d", n);
        else
            gn_buf_addn(&b, p, 1);
    }
    gn_buf_add(&b, "}\n");
    return b.p;
}

enum { OVER_ROWS = 2, SEVERAL = 1100 }; /* a kind; rows of several chunks */

static gir_env env_of(gn_arena *a, const gir_program *p, uint64_t seed, bool many)
{
    int most = many ? 2 * SEVERAL : seed ? 150 : 20;
    gir_env env = random_gir_env(a, p, seed, &(random_gir_options){.max_nodes = most});
    while (many && env.value[0].rows < SEVERAL)
        env = random_gir_env(a, p, ++seed, &(random_gir_options){.max_nodes = most});
    return env;
}

/* To BF16, which are TF32, too: then rounding operands changes nothing. */
static void round_inputs(const gir_env *env)
{
    for (int k = 0; k < env->n; k++)
        for (int64_t i = 0; i < env->value[k].rows * env->value[k].cols; i++)
            env->value[k].v[i] = gir_round(GN_BF16, env->value[k].v[i]);
}

static void need(gn_status *s, int seed, const char *text)
{
    ck_assert_msg(!s, "seed %d: %s (%s:%d)\n%s", seed, gn_status_message(s), s->file, s->line,
                  text);
}

#endif
