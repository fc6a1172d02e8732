/* Rows that are written over what they are made of: where they are no whole vectors, all of a loop
 * that is written out are loaded before the first is stored, unless something is loaded behind its
 * store. */
/* labels: long */
/* processor: x86-64 */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "codegen_test.h"

/* Three rows at a time, of %d elements: how many, what stands in the loop over them. */
static const char
    rows[] = "kernel @p (sym n, %%x: f32[n * 120] read, %%o: f32[n * 120] read_write,\n"
             "           %%p: f32[n * 120] write) {\n"
             "for %%1 in 0 .. n step 1 thread none { %%2 = imul %%1, 120\n"
             "for %%3 in 0 .. 3 step 1 unroll none { %%4 = imul %%3, %d %%5 = iadd %%2, %%4\n"
             "for %%6 in 0 .. %d step 1 vector none { %%7 = iadd %%5, %%6 %%8 = load f32 "
             "%%x[%%7]\n%s}}}}";
static const char over[] = "%9 = load f32 %o[%7] %10 = fadd f32 %8, %9 store %o[%7], %10\n";
static const char behind[] = "%9 = load f32 %o[%7] %10 = fadd f32 %8, %9 store %o[%7], %10\n"
                             "%11 = load f32 %o[%7] store %p[%7], %11\n";
static const char other[] = "%9 = fadd f32 %8, 1.0 store %o[%7], %9\n";
static const char maybe[] = "%9 = load f32 %o[%7] %12 = flt %9, 0.0 if %12 { store %o[%7], %8 }\n";

static const char *text(int columns, const char *body)
{
    return gn_arena_printf(&arena, rows, columns, columns, body);
}

START_TEST(of_every_width)
{
    static const char *const body[] = {over, behind, other, maybe};
    check_options o = {.syms = {3}, .off = _i % 2 ? (gn_switches)1 << GN_DO_LATE_STORES : 0};
    for (int k = 0; k < 4; k++) checked(text(_i / 2, body[k]), &o);
}
END_TEST

/* Do loads of o follow its first store? */
static bool in_turn(const char *kernel, const char *cpu, gn_switches off)
{
    gn_buf b = {.arena = &arena};
    gn_codegen_options o = {.opt_level = SUITE_OPT_LEVEL, .cpu = cpu, .off = off};
    const kir_kernel *k = verified(kernel);
    succeeded(gn_cpu_emit(&k, 1, &o, GN_EMIT_LLVM, &b), kernel);
    const char *store = strstr(b.p, "masked.store");
    ck_assert_ptr_nonnull(store);
    return strstr(store, "call <8 x float> @llvm.masked.load") != NULL;
}

START_TEST(stored_last)
{
    gn_switches off = (gn_switches)1 << GN_DO_LATE_STORES;
    ck_assert(!in_turn(text(7, over), "x86-64-v4", 0));
    ck_assert(in_turn(text(7, over), "x86-64-v4", off));
}
END_TEST

START_TEST(declines)
{
    ck_assert(in_turn(text(7, behind), "x86-64-v4", 0)); /* loaded behind its store */
    ck_assert(in_turn(text(7, other), "x86-64-v4", 0));  /* what is stored is not loaded */
}
END_TEST

int main(void)
{
    TCase *c = arena_case("late stores", 300);
    tcase_add_loop_test(c, of_every_width, 2, 2 * 41);
    tcase_add_test(c, stored_last);
    tcase_add_test(c, declines);
    return RUN_CASES("codegen late", c);
}
