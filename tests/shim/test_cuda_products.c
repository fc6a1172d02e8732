/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sanitized: no */
/* timeout: 600 */
/* Products whose tiles a block of lanes shares: of sizes that fill blocks, panels and depths and of
 * sizes that do not, operands as they lie and turned, with elementwise work behind them; of rows,
 * of parameters, and over rows.  Exact, and as products of fragments: there bounds allow for the
 * rounding of operands; of one seed these are rounded already, so that nothing but the order of
 * sums may differ.  Operands that are bf16 or f16 as they come are not rounded: of small whole
 * numbers products are exact. */
#include "codegen/cuda/cuda.h"
#include "support/gir_text.h"
#include "support/products.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

START_TEST(product)
{
    if (suite_leaves_out(_i, 2)) return; /* each compiles */
    enum { SEEDS = 3 };
    /* Of run_modes: "CUDA", with some left out, on tensor cores in TF32 and in BF16; each with two
     * of the seeds; and with a schedule that is drawn. */
    static const unsigned modes[SEEDS] = {1u | 8u | 32u, 1u | 16u | 32u | 64u, 8u | 16u};
    gn_arena a;
    gir_program *p;
    run_case *cases[SEEDS];
    run_code *code;
    gn_arena_init(&a);
    char *text = with_sizes(&a, kinds[_i / SIZES], &sizes[_i % SIZES]);
    need(gir_parse(&a, text, strlen(text), "product", &p), -1, text);
    for (int seed = 0; seed < SEEDS; seed++) {
        bool many = seed == 2 && _i == OVER_ROWS * SIZES + 1;
        unsigned of_seed = (many ? 1u | 8u | 16u | 32u : modes[seed]) << RUN_MODE_COUNT;
        gir_env env = env_of(&a, p, (uint64_t)seed, many);
        if (seed == 1) round_inputs(&env);
        need(run_case_new(&a, p, &env, of_seed, of_seed, &cases[seed]), seed, text);
    }
    need(run_compile(&a, SEEDS, cases, &code), -1, text);
    for (int seed = 0; seed < SEEDS; seed++) {
        need(run_case_check(cases[seed], NULL), seed, text);
        run_case_free(cases[seed]);
    }
    run_code_free(code);
    gn_arena_free(&a);
}
END_TEST

/* The same kinds of products of narrow elements. */
static const char *const narrow[] = {"bf16[", "f16["};

static void fill_whole(const gir_env *env)
{
    uint64_t state = 1;
    for (int k = 0; k < env->n; k++)
        for (int64_t i = 0; i < env->value[k].rows * env->value[k].cols; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            env->value[k].v[i] = (double)(state >> 40) / 0x1p24 * 3 - 1.5 < 0
                                     ? -1 + (double)(state >> 39 & 1)
                                     : 1;
        }
}

/* Rounded once, of sums that floats hold: wherever the definition gives whole numbers
 * throughout. */
static int count_exact(const run_case *c, const gir_program *p, const gir_value *want,
                       const char *text)
{
    int whole = 0;
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_value *v = &want[p->outputs.p[k].value];
        const double *got = run_case_output(c, RUN_MODE_COUNT, k);
        gn_elem e = (gn_elem)gir_type_of(p, p->outputs.p[k].value)->elem;
        int64_t n = v->rows * v->cols, at = 0;
        while (at < n && v->v[at] == rint(v->v[at])) at++;
        for (int64_t i = 0; at == n && i < n; i++)
            ck_assert_msg(got[i] == gir_round(e, v->v[i]), "%s: element %lld is %g, not %g\n%s",
                          p->outputs.p[k].name, (long long)i, got[i], gir_round(e, v->v[i]), text);
        whole += at == n && n > 0;
    }
    return whole;
}

static int count_fragments(const gir_program *p, gn_arena *a)
{
    gn_limits limits = gn_cuda_limits();
    gn_compile_options o = {.index = GN_I32, .limits = &limits, .pass = {.limit = -1}};
    gn_compiled *code;
    int n = 0;
    need(gn_compile(a, p, &o, NULL, &code), -1, "compile");
    for (uint32_t l = 0; l < code->low->launches.n; l++)
        n += code->low->launches.p[l].rounded != NULL;
    return n;
}

START_TEST(narrow_elements)
{
    if (suite_leaves_out(_i, 2)) return; /* each compiles */
    enum { OF_ONE_KIND = 3, LAST = KINDS - 1 };
    static const int of[OF_ONE_KIND] = {2, 5, 6}; /* sizes: with rest, whole, of several panels */
    int kind = _i / OF_ONE_KIND % KINDS, elem = _i / OF_ONE_KIND / KINDS;
    gn_arena a;
    gir_program *p;
    run_case *c;
    run_code *code;
    gir_value *want;
    gn_arena_init(&a);
    char *plain = with_sizes(&a, kinds[kind], &sizes[of[_i % OF_ONE_KIND]]);
    char *text = text_replaced(&a, plain, "f32[", narrow[elem]);
    need(gir_parse(&a, text, strlen(text), "product", &p), -1, text);
    gir_env env = env_of(&a, p, 1, false);
    fill_whole(&env);
    need(run_case_new(&a, p, &env, 1u << RUN_MODE_COUNT, 1u << RUN_MODE_COUNT, &c), 0, text);
    need(run_compile(&a, 1, &c, &code), 0, text);
    need(run_case_check(c, NULL), 0, text);
    env.arena = &a;
    env.precision = GIR_EVAL_F64;
    env.bounds = false;
    need(gir_eval(p, &env, &want), 0, text);
    if (kind != LAST)
        ck_assert_msg(count_exact(c, p, want, text) > 0, "nothing is whole\n%s", text);
    ck_assert_msg(count_fragments(p, &a) > 0, "no product of fragments\n%s", text);
    run_case_free(c);
    run_code_free(code);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("products");
    tcase_add_loop_test(t, product, 0, KINDS * SIZES);
    tcase_add_loop_test(t, narrow_elements, 0, 2 * KINDS * 3);
    tcase_set_timeout(t, 600);
    return RUN_CASES("CUDA, products", t);
}
