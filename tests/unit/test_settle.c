/* Updates write over their states: where that is so, and where a copy is needed. */
/* links: tune codegen lower passes frontend ir runtime base */
#include "compile/compile.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

static gn_arena arena;

/* What each launch does to states: "<m" reads it, "m>" writes it, "<m>" does both, "m=" copies to
 * it. */
static const char *settled(const char *text, int *temps)
{
    gir_program *p = NULL;
    gn_status *s = gir_parse(&arena, text, strlen(text), "test", &p);
    if (!s) s = gir_verify(p);
    lowered *low = NULL;
    low_options lo = {.limits = gn_cpu_limits(NULL), .index = GN_I32};
    if (!s) s = gn_lower(&arena, gn_fuse(&arena, p, &(fu_options){0}), &lo, &low);
    if (!s) s = gn_settle_states(&arena, low);
    ck_assert_msg(!s, "%s", s ? gn_status_message(s) : "");
    gn_buf b = {.arena = &arena};
    *temps = 0;
    for (uint32_t k = 0; k < low->buffers.n; k++) *temps += low->buffers.p[k].kind == LOW_TEMP;
    for (uint32_t l = 0; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        gn_buf_add(&b, l ? "; " : "");
        for (uint32_t k = 0; k < f->buffers.n; k++) {
            const low_buffer *of = &low->buffers.p[f->buffers.p[k]];
            if (of->kind != LOW_STATE) continue;
            unsigned how = f->kernel ? (unsigned)f->kernel->buffers.p[k].access : KIR_READ;
            const char *after = !f->kernel && k == 0 ? "=" : how & KIR_WRITE ? ">" : "";
            gn_buf_printf(&b, "%s%s%s", how & KIR_READ && *after != '=' ? "<" : "", of->name,
                          after);
        }
    }
    return b.p;
}

#define HEAD                                                                                       \
    "program @p { space node node ? space edge edge ? of %1\n"                                     \
    " %1 = graph \"g\" : graph<node -> node, edge>\n %2 = input \"x\" : node f32[8]\n"             \
    " %3 = state \"m\" : node f32[8]\n %4 = state \"e\" : node f32[8]\n"                           \
    " %5 = gather %1, %2 {end = 0}\n %6 = scatter %1, %5 {end = 1, red = 0}\n"

static const struct {
    const char *what, *text, *want;
    int temps;
} cases[] = {
    {"updates of a loop over edges",
     " %7 = add %3, %6\n %8 = mul %7, %4\n update \"m\" %7\n update \"e\" %8 }", "<m><e>", 0},
    {"what is not read is written where it lies", " update \"m\" %6 }", "m>", 0},
    {"others' rows are read in the same loop",
     " %7 = gather %1, %4 {end = 0}\n %8 = scatter %1, %7 {end = 1, red = 0}\n"
     " %9 = add %8, %6\n update \"e\" %9 }",
     "<e; e=", 1},
    {"who reads what it was goes before",
     " %7 = add %4, %6\n %8 = matmul %4, %2 {ta = 1, tb = 0}\n update \"e\" %7\n"
     " output \"o\" %8 }",
     "<e; <e>; ", 1},
    {"who reads what it was and comes of what it is",
     " %7 = add %4, %6\n %8 = matmul %4, %7 {ta = 1, tb = 0}\n update \"e\" %7\n"
     " output \"o\" %8 }",
     "<e; <e; ; e=", 2},
    {"two states are one value", " update \"m\" %6\n update \"e\" %6 }", "e>; m=<e", 0},
    {"a state that becomes another, which changes",
     " %7 = add %4, %6\n update \"m\" %4\n update \"e\" %7 }", "<e; <e>; m=", 1},
    {"a result besides", " %7 = add %4, %6\n update \"e\" %7\n output \"o\" %7 }", "<e; e=", 0},
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(settles)
{
    int temps;
    gn_arena_init(&arena);
    const char *text = gn_arena_printf(&arena, "%s%s", HEAD, cases[_i].text);
    const char *got = settled(text, &temps);
    ck_assert_msg(!strcmp(got, cases[_i].want), "%s: '%s', not '%s'", cases[_i].what, got,
                  cases[_i].want);
    ck_assert_msg(temps == cases[_i].temps, "%s: %d temporaries", cases[_i].what, temps);
    gn_arena_free(&arena);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("settle");
    tcase_add_loop_test(t, settles, 0, CASES);
    return RUN_CASES("settle", t);
}
