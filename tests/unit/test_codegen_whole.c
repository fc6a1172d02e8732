/* Long loops over elements: vectors of which all lanes run have code of their own, the last has a
 * mask. */
/* processor: x86-64 */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "codegen_test.h"

enum { CHUNK = 512 };

/* %s: what follows; of more than twenty instructions and a sum, so that copies are not worth
 * while. */
static const char
    elements[] = "kernel @p (sym n, %%x: f32[n] read, %%o: f32[n] write, %%s: f32[n] write) {\n"
                 "for %%1 in 0 .. n step %d thread none { %%2 = iadd %%1, %d %%3 = imin %%2, n\n"
                 "%%9 = tile f32 1 tstore %%9[0], 0.0\n"
                 "for %%4 in %%1 .. %%3 step 1 vector reduce { %%5 = load f32 %%x[%%4] tacc sum "
                 "%%9[0], %%5\n"
                 "%%10 = random 77, %%4 site 3 %%11 = fadd f32 %%10, %%5\n%s"
                 "store %%o[%%4], %%20 }\n"
                 "%%6 = tload f32 %%9[0] store %%s[%%1], %%6 }}";
static const char some[] = "%20 = sqrt f32 %11\n";
/* More than pays twice. */
static const char
    much[] = "%12 = exp f32 %11 %13 = exp f32 %12 %14 = tanh f32 %13 %20 = exp f32 %14\n";

static const char *text(int chunk, const char *body)
{
    return gn_arena_printf(&arena, elements, chunk, chunk, body);
}

START_TEST(of_every_length)
{
    static const int near[] = {0,         1,     15,        16,         17,
                               CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 17, 3 * CHUNK - 2};
    check_options o = {.off = _i ? (gn_switches)1 << GN_DO_WHOLE_CHUNKS : 0};
    o.tolerance = 1e-5;
    checked_lengths(text(CHUNK, some), &o, near, sizeof near / sizeof *near);
    o.split = 1;
    checked_lengths(text(CHUNK, some), &o, near, sizeof near / sizeof *near);
}
END_TEST

static const char *llvm(const char *kernel, const char *cpu, gn_switches off)
{
    gn_buf b = {.arena = &arena};
    gn_codegen_options o = {.opt_level = 1, .cpu = cpu, .off = off};
    const kir_kernel *k = verified(kernel);
    succeeded(gn_cpu_emit(&k, 1, &o, GN_EMIT_LLVM, &b), kernel);
    return b.p;
}

static bool has_tail(const char *code) { return strstr(code, "\ntail:") != NULL; }

START_TEST(written_twice)
{
    gn_switches off = (gn_switches)1 << GN_DO_WHOLE_CHUNKS;
    ck_assert(has_tail(llvm(text(CHUNK, some), "x86-64-v4", 0)));
    ck_assert(!has_tail(llvm(text(CHUNK, some), "x86-64-v4", off)));
}
END_TEST

START_TEST(declines)
{
    ck_assert(!has_tail(llvm(text(CHUNK, much), "x86-64-v4", 0)));     /* a long body */
    ck_assert(!has_tail(llvm(text(CHUNK / 4, some), "x86-64-v4", 0))); /* a short loop */
    /* without masks there is no other way */
    ck_assert(has_tail(llvm(text(CHUNK, much), "x86-64-v3", 0)));
}
END_TEST

int main(void)
{
    TCase *c = arena_case("whole chunks", 300);
    tcase_add_loop_test(c, of_every_length, 0, 2);
    tcase_add_test(c, written_twice);
    tcase_add_test(c, declines);
    return RUN_CASES("codegen whole", c);
}
