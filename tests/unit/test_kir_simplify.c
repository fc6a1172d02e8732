/* Clean-up of loop IR: what becomes of small kernels, as text. */
/* links: ir base */
#include "ir/kir_simplify.h"
#include "kir_test.h"

static const char head
    [] = "kernel @k (sym n, %r: f32[n * 64] read, %i: i32[n] read, %w: f32[n * 64] read_write) {\n";
static const char
    printed_head[] = "kernel @k (\n  sym n,\n  %r: f32[n * 64] read,\n  %i: i32[n] read,\n"
                     "  %w: f32[n * 64] read_write\n) {\n";

static const struct {
    const char *what, *before, *after;
} cases[] = {
    {"a row's division by its width",
     "for %1 in 0 .. n step 1 thread none {\n for %2 in 0 .. 16 step 1 vector none {\n"
     " %3 = imul 16, %1\n %4 = iadd %3, %2\n %5 = idiv %4, 8\n %6 = imod %4, 8\n %7 = iadd %5, "
     "%6\n store %w[%7], "
     "1.0\n }\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    %2 = imul %1, 2\n    for %3 in 0 .. 16 step 1 "
     "vector none {\n"
     "      %4 = idiv %3, 8\n      %5 = iadd %2, %4\n      %6 = imod %3, 8\n      %7 = iadd %5, "
     "%6\n"
     "      store %w[%7], 1.0\n    }\n  }\n"},
    {"a division that gives back the row",
     "for %1 in 0 .. n step 1 thread none {\n for %2 in 0 .. 16 step 1 serial none {\n"
     " %3 = imul 16, %1\n %4 = iadd %3, %2\n %5 = idiv %4, 16\n %6 = imod %4, 16\n %7 = iadd %5, "
     "%6\n store %w[%7], "
     "1.0\n }\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    for %2 in 0 .. 16 step 1 serial none {\n      "
     "%3 = iadd %1, %2\n"
     "      store %w[%3], 1.0\n    }\n  }\n"},
    {"division of a division, remainder of a remainder",
     "%1 = idiv n, 4\n %2 = idiv %1, 3\n %3 = imod n, 12\n %4 = imod %3, 4\n"
     " %5 = load f32 %r[%2]\n store %w[%4], %5",
     "  %1 = idiv n, 12\n  %2 = imod n, 4\n  %3 = load f32 %r[%1]\n  store %w[%2], %3\n"},
    {"values leave the loops that they do not depend on",
     "for %1 in 0 .. n step 1 thread none {\n for %2 in 0 .. 8 step 1 vector none {\n %3 = imul "
     "%1, 8\n %4 = iadd %3, "
     "%2\n"
     " %5 = load f32 %r[%1]\n %6 = exp f32 %5\n store %w[%4], %6\n }\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    %2 = imul %1, 8\n    %3 = load f32 %r[%1]\n    "
     "%4 = exp f32 %3\n"
     "    for %5 in 0 .. 8 step 1 vector none {\n      %6 = iadd %2, %5\n      store %w[%6], %4\n  "
     "  }\n  }\n"},
    {"loads stay in loops that may not run, and in ifs",
     "for %1 in 0 .. n step 1 serial none {\n %2 = load f32 %r[0]\n store %w[%1], %2\n }\n"
     "for %3 in 0 .. 4 step 1 serial none {\n %4 = ieq n, 7\n if %4 {\n %5 = load f32 %r[1]\n "
     "store %w[%3], %5\n }\n }",
     "  for %1 in 0 .. n step 1 serial none {\n    %2 = load f32 %r[0]\n    store %w[%1], %2\n  "
     "}\n  %3 = ieq n, 7\n"
     "  for %4 in 0 .. 4 step 1 serial none {\n    if %3 {\n      %5 = load f32 %r[1]\n      store "
     "%w[%4], %5\n    }\n "
     " }\n"},
    {"loads of what the kernel writes stay",
     "for %1 in 0 .. 4 step 1 serial ordered {\n %2 = load f32 %w[0]\n"
     " %3 = fadd f32 %2, 1.0\n store %w[0], %3\n }",
     "  for %1 in 0 .. 4 step 1 serial ordered {\n    %2 = load f32 %w[0]\n    %3 = fadd f32 %2, "
     "1.0\n    store %w[0], "
     "%3\n  }\n"},
    {"nothing twice",
     "%1 = load i64 %i[0]\n %2 = load i64 %i[0]\n %3 = iadd %1, n\n %4 = iadd n, %2\n %5 = imul "
     "%3, %4\n"
     " %6 = cast f32 %5\n %7 = cast f64 %5\n %8 = cast f32 %7\n %9 = cast f32 %5\n %10 = fadd f32 "
     "%6, %9\n"
     " %11 = fadd f32 %10, %8\n store %w[0], %11",
     "  %1 = load i64 %i[0]\n  %2 = iadd %1, n\n  %3 = iadd n, %1\n  %4 = imul %2, %3\n  %5 = cast "
     "f32 %4\n"
     "  %6 = cast f64 %4\n  %7 = cast f32 %6\n  %8 = fadd f32 %5, %5\n  %9 = fadd f32 %8, %7\n  "
     "store %w[0], %9\n"},
    {"ranges decide",
     "for %1 in 0 .. 10 step 4 serial none {\n %2 = ilt %1, 9\n if %2 {\n %3 = imin %1, 8\n store "
     "%w[%3], 1.0\n }\n"
     " %4 = ile 9, %1\n if %4 {\n store %w[%1], 2.0\n }\n }",
     "  for %1 in 0 .. 10 step 4 serial none {\n    store %w[%1], 1.0\n  }\n"},
    {"loops of one iteration and of none",
     "for %1 in 0 .. n step 1 thread none {\n %2 = iadd %1, 1\n"
     " for %3 in %1 .. %2 step 1 serial ordered {\n store %w[%3], 1.0\n }\n for %4 in 5 .. 5 step "
     "1 unroll none {\n"
     " store %w[%4], 1.0\n }\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    store %w[%1], 1.0\n  }\n"},
    {"what nobody reads",
     "%1 = tile f32 4\n %2 = tile f32 4\n for %3 in 0 .. 4 step 1 serial none {\n tstore %1[%3], "
     "1.0\n"
     " tstore %2[%3], 2.0\n }\n for %4 in 0 .. 4 step 1 serial none {\n tacc sum %1[%4], 1.0\n }\n "
     "%5 = tload f32 "
     "%2[0]\n"
     " store %w[0], %5",
     "  %1 = tile f32 4\n  for %2 in 0 .. 4 step 1 serial none {\n    tstore %1[%2], 2.0\n  }\n  "
     "%3 = tload f32 %1[0]\n"
     "  store %w[0], %3\n"},
    {"an empty thread loop stays", "for %1 in 0 .. 0 step 1 thread none {\n }",
     "  for %1 in 0 .. 0 step 1 thread none {\n  }\n"},
    {"divisors that are not known stay behind their guard",
     "%1 = load i64 %i[0]\n for %2 in 0 .. n step 1 serial none {\n"
     " %3 = idiv n, %1\n store %w[%3], 1.0\n }",
     "  %1 = load i64 %i[0]\n  for %2 in 0 .. n step 1 serial none {\n    %3 = idiv n, %1\n    "
     "store %w[%3], 1.0\n  "
     "}\n"},
    {"sums cancel",
     "%1 = load i64 %i[0]\n %2 = iadd %1, n\n %3 = isub %2, %1\n %4 = isub %3, n\n store %w[%4], "
     "1.0",
     "  store %w[0], 1.0\n"},
    {"a tile of one value that does not change is that value",
     "%1 = load f32 %r[0]\n %2 = tile f32 2\n tstore %2[0], %1\n tstore %2[1], 1.0\n %3 = tload "
     "f32 %2[0]\n"
     " for %4 in 0 .. 4 step 1 serial none {\n %5 = tload f32 %2[1]\n %6 = fmul f32 %5, %3\n store "
     "%w[%4], %6\n }",
     "  %1 = load f32 %r[0]\n  for %2 in 0 .. 4 step 1 serial none {\n    store %w[%2], %1\n  }\n"},
    {"what a loop or an if writes is loaded",
     "%1 = tile f32 1\n tstore %1[0], 1.0\n for %2 in 0 .. 4 step 1 serial ordered {\n %3 = tload "
     "f32 %1[0]\n"
     " store %w[%2], %3\n %4 = ieq %2, n\n if %4 {\n tstore %1[0], 2.0\n %5 = tload f32 %1[0]\n "
     "store %w[5], %5\n }\n"
     " tacc sum %1[0], 1.0\n }\n %6 = tload f32 %1[0]\n store %w[4], %6",
     "  %1 = tile f32 1\n  tstore %1[0], 1.0\n  for %2 in 0 .. 4 step 1 serial ordered {\n    %3 = "
     "tload f32 %1[0]\n"
     "    store %w[%2], %3\n    %4 = ieq %2, n\n    if %4 {\n      tstore %1[0], 2.0\n      store "
     "%w[5], 2.0\n    }\n"
     "    tacc sum %1[0], 1.0\n  }\n  %5 = tload f32 %1[0]\n  store %w[4], %5\n"},
    {"a barrier forgets what tiles hold",
     "for %1 in 0 .. n step 1 block none {\n %2 = tile f32 1\n tstore %2[0], 1.0\n barrier\n %3 = "
     "tload f32 %2[0]\n"
     " store %w[%1], %3\n }",
     "  for %1 in 0 .. n step 1 block none {\n    %2 = tile f32 1\n    tstore %2[0], 1.0\n    "
     "barrier\n"
     "    %3 = tload f32 %2[0]\n    store %w[%1], %3\n  }\n"},
    {"products of fragments change their sums, and need what was brought",
     "for %1 in 0 .. n step 1 block none {\n %2 = tile f32 128\n %3 = tile f32 128\n %4 = tile f32 "
     "64\n"
     " tstore %2[0], 1.0\n for %5 in 0 .. 64 step 1 lane none {\n tstore %3[%5], 0.5\n tstore "
     "%4[%5], 0.5\n }\n "
     ""
     " for %6 in 0 .. 1 step 1 warp none {\n for %7 in 0 .. 2 step 1 serial ordered {\n %8 = tload "
     "f32 %2[0]\n"
     " store %w[%7], %8\n mma tf32 %2[0] by 4, %3[0] by 8 1, %4[0] by 8 1\n }\n }\n }",
     "  for %1 in 0 .. n step 1 block none {\n    %2 = tile f32 128\n    %3 = tile f32 128\n    %4 "
     "= tile f32 64\n"
     "    tstore %2[0], 1.0\n    for %5 in 0 .. 64 step 1 lane none {\n      tstore %3[%5], 0.5\n  "
     "    tstore %4[%5], "
     "0.5\n"
     "    }\n    for %6 in 0 .. 1 step 1 warp none {\n      for %7 in 0 .. 2 step 1 serial ordered "
     "{\n"
     "        %8 = tload f32 %2[0]\n        store %w[%7], %8\n        mma tf32 %2[0] by 4, %3[0] "
     "by 8 1, %4[0] by 8 1\n"
     "      }\n    }\n  }\n"},
    {"what is stored narrow is not what is loaded",
     "for %1 in 0 .. n step 1 thread none {\n %2 = tile bf16 1\n %3 = load f32 %r[%1]\n tstore "
     "%2[0], %3\n"
     " %4 = tload f32 %2[0]\n store %w[%1], %4\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    %2 = tile bf16 1\n    %3 = load f32 %r[%1]\n    "
     "tstore %2[0], %3\n"
     "    %4 = tload f32 %2[0]\n    store %w[%1], %4\n  }\n"},
    {"a product of fragments forgets its sums",
     "for %1 in 0 .. n step 1 block none {\n %2 = tile f32 128\n %3 = tile f32 128\n"
     " for %4 in 0 .. 1 step 1 warp none {\n tstore %2[0], 1.0\n mma tf32 %2[0] by 4, %3[0] by 8 "
     "1, %3[0] by 8 1\n"
     " %5 = tload f32 %2[0]\n store %w[%1], %5\n }\n }",
     "  for %1 in 0 .. n step 1 block none {\n    %2 = tile f32 128\n    %3 = tile f32 128\n"
     "    for %4 in 0 .. 1 step 1 warp none {\n      tstore %2[0], 1.0\n"
     "      mma tf32 %2[0] by 4, %3[0] by 8 1, %3[0] by 8 1\n      %5 = tload f32 %2[0]\n      "
     "store %w[%1], %5\n    "
     "}\n  }\n"},
    {"products of pairs change their sums, and need what was stored",
     "for %1 in 0 .. n step 1 thread none {\n %2 = tile f32 1\n %3 = tile bf16 2\n %4 = tile bf16 "
     "2\n"
     " tstore %2[0], 1.0\n tstore %3[0], 0.5\n tstore %3[1], 0.5\n tstore %4[0], 2.0\n tstore "
     "%4[1], 2.0\n"
     " for %5 in 0 .. 2 step 1 serial ordered {\n %6 = tload f32 %2[0]\n store %w[%5], %6\n"
     " tdot %2[0], %3[0], %4[0]\n }\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    %2 = tile f32 1\n    %3 = tile bf16 2\n    %4 = "
     "tile bf16 2\n"
     "    tstore %2[0], 1.0\n    tstore %3[0], 0.5\n    tstore %3[1], 0.5\n    tstore %4[0], 2.0\n "
     "   tstore %4[1], "
     "2.0\n"
     "    for %5 in 0 .. 2 step 1 serial ordered {\n      %6 = tload f32 %2[0]\n      store "
     "%w[%5], %6\n"
     "      tdot %2[0], %3[0], %4[0]\n    }\n  }\n"},
    {"a product of pairs forgets its sum; one that nobody reads is none",
     "for %1 in 0 .. n step 1 thread none {\n %2 = tile f32 1\n %3 = tile bf16 2\n %4 = tile f32 "
     "1\n"
     " tstore %2[0], 1.0\n tstore %3[0], 0.5\n tstore %3[1], 0.5\n tstore %4[0], 1.0\n"
     " tdot %2[0], %3[0], %3[0]\n tdot %4[0], %3[0], %3[0]\n %5 = tload f32 %2[0]\n store %w[%1], "
     "%5\n }",
     "  for %1 in 0 .. n step 1 thread none {\n    %2 = tile f32 1\n    %3 = tile bf16 2\n    "
     "tstore %2[0], 1.0\n"
     "    tstore %3[0], 0.5\n    tstore %3[1], 0.5\n    tdot %2[0], %3[0], %3[0]\n    %4 = tload "
     "f32 %2[0]\n"
     "    store %w[%1], %4\n  }\n"},
    {"floats keep their bits",
     "%1 = load f32 %r[0]\n %2 = fmul f32 %1, 1.0\n %3 = fdiv f32 %2, 1.0\n %4 = fadd f32 %3, "
     "0.0\n %5 = fsub f32 %4, "
     "0.0\n"
     " %6 = fadd f32 -0.0, %5\n %7 = fmul f32 %6, 0.0\n %8 = fneg f32 %7\n %9 = fneg f32 %8\n "
     "store %w[0], %9",
     "  %1 = load f32 %r[0]\n  %2 = fadd f32 %1, 0.0\n  %3 = fmul f32 %2, 0.0\n  store %w[0], "
     "%3\n"},
};

START_TEST(small_kernels)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kir_kernel *k = verified(gn_arena_printf(&arena, "%s%s\n}\n", head, cases[i].before));
        succeeded(kir_simplify(k), cases[i].what);
        succeeded(kir_verify(k), cases[i].what);
        char *want = gn_arena_printf(&arena, "%s%s}\n", printed_head, cases[i].after);
        ck_assert_msg(!strcmp(printed(k), want), "%s:\n%s\nwanted:\n%s", cases[i].what, printed(k),
                      want);
        succeeded(kir_simplify(k), cases[i].what);
        ck_assert_msg(!strcmp(printed(k), want), "%s, again:\n%s\nwanted:\n%s", cases[i].what,
                      printed(k), want);
    }
}
END_TEST

static unsigned next(uint32_t *seed, unsigned n)
{
    return ((*seed = *seed * 1664525u + 1013904223u) >> 8) % n;
}

/* One more value, computed from the first `last` ones; gives the last one's number. */
static unsigned random_value(gn_buf *t, uint32_t *seed, unsigned last)
{
    static const char *const ops[] = {"iadd", "imul", "idiv", "imod",
                                      "imin", "imax", "isub", "imul"};
    static const char *const tests[] = {"ilt", "ile", "ieq"};
    unsigned op = next(seed, 10), a = 1 + next(seed, last), b = 1 + next(seed, last),
             c = next(seed, 17), constant = next(seed, 2);
    if (op < 8) {
        gn_buf_printf(t, "%%%u = %s %%%u, ", last + 1, ops[op], a);
        if (op == 2 || op == 3)
            gn_buf_printf(t, "%u\n", 1 + c % 12);
        else
            gn_buf_printf(t, constant ? "%u\n" : "%%%u\n", constant ? c : b);
        return last + 1;
    }
    unsigned t0 = 1000 + 10 * last; /* bools have numbers of their own */
    gn_buf_printf(t, "%%%u = %s %%%u, %u\n", t0, tests[next(seed, 3)], a, c);
    if (op == 8) {
        gn_buf_printf(t, "%%%u = cast i64 %%%u\n", last + 1, t0);
        return last + 1;
    }
    gn_buf_printf(t,
                  "%%%u = not %%%u\n%%%u = or %%%u, %%%u\n%%%u = and %%%u, %%%u\n%%%u = select i64 "
                  "%%%u, %%%u, %%%u\n",
                  t0 + 1, t0, t0 + 2, t0, t0 + 1, t0 + 3, t0 + 2, t0, last + 1, t0 + 3, a, b);
    gn_buf_printf(t, "%%%u = imax %%%u, 0\n", last + 2, last + 1);
    return last + 2;
}

/* A nest of loops that computes an index from the induction variables and random constants. */
static char *random_kernel(uint32_t *seed)
{
    gn_buf t = {.arena = &arena};
    gn_buf_add(&t, "kernel @k (sym n, %w: i64[4096] read_write) {\nfor %1 in 0 .. n step 1 serial "
                   "ordered {\n");
    unsigned hi = 1 + next(seed, 20), step = 1 + next(seed, 3);
    gn_buf_printf(&t, "for %%2 in 0 .. %u step %u serial ordered {\n", hi, step);
    gn_buf_printf(&t, "for %%3 in %u .. ", next(seed, 4));
    gn_buf_printf(&t, "%u step 1 serial ordered {\n", 1 + next(seed, 9));
    unsigned last = 3;
    for (int i = 0; i < 12; i++) last = random_value(&t, seed, last);
    gn_buf_printf(
        &t,
        "%%190 = imod %%%u, 4096\n%%191 = load i64 %%w[%%190]\n%%192 = imul %%191, 3\n%%193 = iadd "
        "%%192, 1\n"
        "%%194 = imod %%193, 1000003\n%%195 = imod %%%u, 65536\n%%196 = iadd %%194, %%195\n"
        "store %%w[%%190], %%196\n}\n}\n}\n}\n",
        last, 1 + next(seed, last));
    return t.p;
}

START_TEST(random_indices)
{
    uint32_t seed = 12345;
    int ran = 0;
    for (int round = 0; round < 1000; round++) {
        char *text = random_kernel(&seed);
        int64_t want[4096] = {0}, got[4096] = {0};
        kir_kernel *k = verified(text);
        gn_status *s = kir_eval(k, NULL, (kir_bound_buffer[]){{want, 4096}}, (int64_t[]){5});
        if (s) { /* a product that does not fit */
            gn_status_free(s);
            continue;
        }
        ran++;
        succeeded(kir_simplify(k), text);
        succeeded(kir_eval(k, NULL, (kir_bound_buffer[]){{got, 4096}}, (int64_t[]){5}), printed(k));
        ck_assert_msg(!memcmp(want, got, sizeof want), "%s\nbecame\n%s", text, printed(k));
    }
    ck_assert_int_gt(ran, 300);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("simplify");
    tcase_add_test(c, small_kernels);
    tcase_add_test(c, random_indices);
    return run_tests(c, "kir_simplify");
}
