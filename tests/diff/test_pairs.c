/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 300 */
/* Products of pairs (lower/lower_pairs.c), whether this machine has the instruction or not.  Bounds
 * allow for the rounding of operands; of one seed these are rounded already, so that nothing but
 * the order of sums may differ. */
#include "base/sanitized.h"
#include "support/gir_text.h"
#include "support/products.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <string.h>

/* Products of the program that are made of pairs, with so many lanes. */
static int count_pairs(gn_arena *a, const gir_program *p, int lanes)
{
    gn_limits limits = {
        .lanes = lanes, .vector_registers = 32, .l2_bytes = 1 << 20, .pairs = 1 << KIR_KIND_BF16};
    gn_compile_options o = {.index = GN_I32,
                            .limits = &limits,
                            .pass = {.limit = -1},
                            .precision = GN_PRECISION_MEDIUM};
    gn_compiled *code;
    int n = 0;
    need(gn_compile(a, p, &o, NULL, &code), -1, "compile");
    for (uint32_t l = 0; l < code->low->launches.n; l++)
        n += code->low->launches.p[l].rounded != NULL;
    return n;
}

START_TEST(product)
{
    enum {
        SEEDS = 3,
        PLAIN = 1 << RUN_PAIRS,
        SMALL = 2 << RUN_PAIRS,
        DRAWN = 4 << RUN_PAIRS,
        TURNED_PARAMETERS = 4
    };
    static const unsigned modes[SEEDS] = {PLAIN | DRAWN, PLAIN | SMALL, SMALL | DRAWN};
    const size *of = &sizes[_i % SIZES];
    gn_arena a;
    gir_program *p;
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 2)) return; /* each compiles */
    gn_arena_init(&a);
    char *text = with_sizes(&a, kinds[_i / SIZES], of);
    need(gir_parse(&a, text, strlen(text), "product", &p), -1, text);
    for (int seed = 0; seed < SEEDS; seed++) {
        bool many = seed == 2 && _i == OVER_ROWS * SIZES + 3;
        gir_env env = env_of(&a, p, (uint64_t)seed, many);
        if (seed == 1) round_inputs(&env);
        gn_status *s = run_every_way(p, &env, modes[seed], modes[seed], NULL);
        need(s, seed, text);
    }
    bool wide = of->cols >= 16 && of->depth >= 8 && of->rows >= 16 &&
                _i / SIZES != TURNED_PARAMETERS;
    if (wide) ck_assert_msg(count_pairs(&a, p, 16) > 0, "no product of pairs\n%s", text);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("pairs");
    tcase_add_loop_test(t, product, 0, KINDS * SIZES);
    tcase_set_timeout(t, 300);
    return RUN_CASES("pairs", t);
}
