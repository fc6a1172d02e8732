/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sanitized: no */
/* timeout: 600 */
/* Sums over the edges of rows that are split: of degrees around those where parts, groups of parts
 * and groups of groups begin, with parts of any number of edges and any number of sums together
 * (run_compiled.c draws them); of one result and of several, maxima, a softmax whose second pass
 * reads what the first came to, and from the other end. */
#include "support/gir_text.h"
#include "support/random_gir.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

#define GRAPH "  space edge edge ?\n  %1 = graph \"g\" : graph<node -> node, edge>\n"

static const char *const programs[] = {
    /* a sum, with work that follows */
    GRAPH "  %2 = input \"x.any\" : node f32[W]\n  %3 = gather %1, %2 {end = 0} : edge f32[W]\n"
          "  %4 = scatter %1, %3 {end = 1, red = 0} : node f32[W]\n  %5 = tanh %4 : node f32[W]\n  "
          "output \"out\" %5\n",
    /* largest and smallest */
    GRAPH "  %2 = input \"x.any\" : node f32[W]\n  %3 = gather %1, %2 {end = 0} : edge f32[W]\n"
          "  %4 = scatter %1, %3 {end = 1, red = 1} : node f32[W]\n"
          "  %5 = scatter %1, %3 {end = 1, red = 2} : node f32[W]\n  output \"max\" %4\n  output "
          "\"min\" %5\n",
    /* by source */
    GRAPH "  %2 = input \"x.any\" : node f32[W]\n  %3 = gather %1, %2 {end = 1} : edge f32[W]\n"
          "  %4 = scatter %1, %3 {end = 0, red = 0} : node f32[W]\n  output \"out\" %4\n",
    /* a softmax: the largest, the exponentials' sum and the weighted sum; and from the other end,
     * of what edges have */
    GRAPH
    "  %2 = input \"x.any\" : node f32[W]\n  %3 = input \"s.any\" : edge f32[W]\n"
    "  %4 = scatter %1, %3 {end = 1, red = 1} : node f32[W]\n  %5 = gather %1, %4 {end = 1} : edge "
    "f32[W]\n"
    "  %6 = sub %3, %5 : edge f32[W]\n  %7 = exp %6 : edge f32[W]\n"
    "  %8 = scatter %1, %7 {end = 1, red = 0} : node f32[W]\n  %9 = gather %1, %8 {end = 1} : edge "
    "f32[W]\n"
    "  %10 = div %7, %9 : edge f32[W]\n  %11 = gather %1, %2 {end = 0} : edge f32[W]\n"
    "  %12 = mul %10, %11 : edge f32[W]\n  %13 = scatter %1, %12 {end = 1, red = 0} : node f32[W]\n"
    "  %14 = scatter %1, %12 {end = 0, red = 0} : node f32[W]\n  output \"out\" %13\n  output "
    "\"back\" %14\n",
    /* sums of two widths in one pass */
    GRAPH "  %2 = input \"x.any\" : node f32[W]\n  %3 = input \"s.any\" : edge f32[3]\n"
          "  %4 = gather %1, %2 {end = 0} : edge f32[W]\n  %5 = scatter %1, %4 {end = 1, red = 0} "
          ": node f32[W]\n"
          "  %6 = scatter %1, %3 {end = 1, red = 0} : node f32[3]\n  output \"out\" %5\n  output "
          "\"three\" %6\n",
};
enum { PROGRAMS = sizeof programs / sizeof *programs, WIDTHS = 4 };
static const int widths[WIDTHS] = {1, 4, 10, 72};

static const int around[] = {0, 1, 63, 64, 65, 127, 128, 129, 33, 0, 257},
                 large[] = {3, 4095, 0, 4097, 64 * 64 + 1, 31},
                 alone[] = {0, 0, 0, 0, 0, 0, 0, 1029}, none[] = {1, 2, 3, 15, 31, 0};
#define GRAPH_OF(x) {.n_degrees = sizeof(x) / sizeof *(x), .degrees = (x)}
static const random_gir_options graphs[] = {GRAPH_OF(around), GRAPH_OF(large), GRAPH_OF(alone),
                                            GRAPH_OF(none)};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

static char *of_width(gn_arena *a, const char *text, int width)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "program @parts {\n  space node node ?\n");
    for (const char *p = text; *p; p++) {
        if (*p == 'W')
            gn_buf_printf(&b, "%d", width);
        else
            gn_buf_addn(&b, p, 1);
    }
    gn_buf_add(&b, "}\n");
    return b.p;
}

static void need(gn_status *s, int graph, const char *text)
{
    ck_assert_msg(!s, "graph %d: %s (%s:%d)\n%s", graph, gn_status_message(s), s->file, s->line,
                  text);
}

START_TEST(sums)
{
    enum { PLAIN = 1u, APART = 2u }; /* of run_modes: "CUDA", and a kernel an operator */
    gn_arena a;
    gir_program *p;
    run_case *cases[GRAPHS];
    run_code *code;
    gn_arena_init(&a);
    char *text = of_width(&a, programs[_i / WIDTHS], widths[_i % WIDTHS]);
    need(gir_parse(&a, text, strlen(text), "parts", &p), -1, text);
    int n = widths[_i % WIDTHS] > 10 ? 1 : GRAPHS;
    for (int k = 0; k < n; k++) {
        gir_env env = random_gir_env(&a, p, (uint64_t)k, &graphs[k]);
        unsigned modes = (k ? PLAIN : PLAIN | APART) << RUN_MODE_COUNT;
        need(run_case_new(&a, p, &env, modes, modes, &cases[k]), k, text);
    }
    need(run_compile(&a, n, cases, &code), -1, text);
    for (int k = 0; k < n; k++) {
        need(run_case_check(cases[k], NULL), k, text);
        run_case_free(cases[k]);
    }
    run_code_free(code);
    gn_arena_free(&a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("parts");
    tcase_add_loop_test(t, sums, 0, PROGRAMS * WIDTHS);
    tcase_set_timeout(t, 600);
    return RUN_CASES("CUDA, parts of rows", t);
}
