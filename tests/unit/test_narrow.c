/* links: tune codegen lower passes frontend ir runtime base */
/* Draws of elements that 32 bits count: said of those alone whose number is known to be below 2^32,
 * in every run. */
#include "gir_test.h"

#include "compile/compile.h"

typedef struct known {
    const char *drawn; /* the value's rows */
    int64_t width, nodes, edges;
    bool hold, narrow;
} known;

/* 65536 features and a graph to which self-loops are added; x is the matrix that is drawn for where
 * its pattern asks. */
static const char prelude
    [] = "program @p {\n  space node node ?\n  space edge edge ? of %1\n  space feature feature "
         "65536\n"
         "  space row edge ? of %5\n  space loop edge ? of %6\n  space few node ? of %8\n"
         "  space pick edge ? of %8\n  %1 = graph \"g\" : graph<node -> node, edge>\n"
         "  %2 = state \"seed\" : i64[]\n  %3 = rng_key %2, %2 : i64[]\n"
         "  %4 = input \"x\" : node f32[65536]\n  %5 = pattern %4 : graph<feature -> node, row>\n"
         "  %6 = self_loops %1 : graph<node -> node, loop>\n  %7 = input \"m\" : node bool[]\n"
         "  %8 = subset %7 : graph<node -> few, pick>\n";

static bool is_narrow(const known *z)
{
    bool sampled = !strcmp(z->drawn, "row");
    gn_buf t = {.arena = &arena};
    gn_buf_add(&t, prelude);
    gn_buf_printf(&t, "  %%9 = random %%3 {site = 1} : %s f32[%lld]\n", sampled ? "node" : z->drawn,
                  (long long)z->width);
    gn_buf_add(&t, sampled ? "  %10 = cell %5, %9 : row f32[]\n  output \"o\" %10\n}\n"
                           : "  output \"o\" %9\n}\n");
    const low_hint hints[] = {
        {.name = "g", .n_src = z->nodes, .n_dst = z->nodes, .n_edge = z->edges},
        {.name = "x", .n_src = 65536, .n_dst = z->nodes, .n_edge = 5}};
    gn_compile_options o = {.index = GN_I64, .n_hints = 2, .hints = hints, .hints_hold = z->hold};
    o.pass = (gn_pass_options){.limit = -1, .verify = true};
    gn_compiled *c;
    expect_ok(gn_compile(&arena, read_program(t.p), &o, NULL, &c));
    int draws = 0, narrow = 0;
    for (int k = 0; k < c->n_kernels; k++)
        for (kir_id i = 1; i < c->kernels[k]->insts.n; i++) {
            const kir_inst *in = kir_at(c->kernels[k], i);
            draws += in->op == KIR_RANDOM;
            narrow += in->op == KIR_RANDOM && in->narrow;
        }
    ck_assert_msg(draws > 0 && (narrow == 0 || narrow == draws), "%s: %d of %d", t.p, narrow,
                  draws);
    return narrow > 0;
}

static const known cases[] = {
    {"node", 4096, 1048575, 7, true, true},  {"node", 4096, 1048576, 7, true, false},
    {"node", 4096, 9, 7, false, false},      {"few", 4096, 1048575, 7, true, true},
    {"few", 4096, 1048576, 7, true, false},  {"edge", 4, 9, 1073741823, true, true},
    {"edge", 4, 9, 1073741824, true, false}, {"edge", 4, 9, 7, false, false},
    {"loop", 4, 10, 1073741813, true, true}, {"loop", 4, 11, 1073741813, true, false},
    {"row", 65536, 65535, 7, true, true},    {"row", 65536, 65536, 7, true, false},
    {"feature", 65535, 9, 7, false, true},   {"feature", 65536, 9, 7, false, false},
    {"", 4096, 9, 7, false, true},
};

START_TEST(narrow)
{
    ck_assert_msg(is_narrow(&cases[_i]) == cases[_i].narrow, "%s[%lld], %lld nodes, %lld edges",
                  cases[_i].drawn, (long long)cases[_i].width, (long long)cases[_i].nodes,
                  (long long)cases[_i].edges);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("narrow");
    tcase_add_checked_fixture(c, arena_begin, arena_end);
    tcase_add_loop_test(c, narrow, 0, sizeof cases / sizeof *cases);
    return RUN_CASES("narrow", c);
}
