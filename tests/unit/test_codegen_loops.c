/* Compiled kernels against the loop IR's evaluator: loops, tiles, memory, reductions. */
/* labels: long */
/* forks: yes */
/* links: codegen runtime ir base */
/* timeout: 300 */
#include "base/sanitized.h"

#include "codegen_test.h"

#include <signal.h>

static const char spmm[] = "kernel @spmm (sym node, sym edge, %rowptr: i32[node + 1] read, %col: "
                           "i32[edge] read, %h: f32[node * #] read,\n"
                           "              %out: f32[node * #] write) {\n"
                           "  for %1 in 0 .. node step 1 thread none {\n"
                           "    %2 = tile f32 #\n"
                           "    for %3 in 0 .. # step 1 vector none { tstore %2[%3], 0.0 }\n"
                           "    %4 = load i64 %rowptr[%1]\n"
                           "    %5 = iadd %1, 1\n"
                           "    %6 = load i64 %rowptr[%5]\n"
                           "    for %7 in %4 .. %6 step 1 serial ordered {\n"
                           "      %8 = load i64 %col[%7]\n"
                           "      %9 = imul %8, #\n"
                           "      for %10 in 0 .. # step 1 vector none {\n"
                           "        %11 = iadd %9, %10\n"
                           "        %12 = load f32 %h[%11]\n"
                           "        tacc sum %2[%10], %12\n"
                           "      }\n"
                           "    }\n"
                           "    %13 = imul %1, #\n"
                           "    for %14 in 0 .. # step 1 vector none {\n"
                           "      %15 = iadd %13, %14\n"
                           "      %16 = tload f32 %2[%14]\n"
                           "      store %out[%15], %16\n"
                           "    }\n"
                           "  }\n"
                           "}\n";

START_TEST(spmm_of_every_width)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 6 : 2)) return; /* each compiles */
    int32_t rowptr[] = {0, 2, 2, 5, 6, 6}, col[] = {1, 3, 0, 2, 3, 4};
    check_options o = {.syms = {5, 6}, .data = {rowptr, col}};
    if (_i % 2) o.split = 2;
    checked(with_number(spmm, _i), &o);
}
END_TEST

/* Constant bounds; # is the number of columns, row-wise kernels on a few rows. */
typedef struct pattern {
    const char *name, *text;
    double tolerance;
    int64_t limit;
} pattern;

#define ROWS "for %1 in 0 .. n step 1 thread none {\n"
#define COLUMNS(v) "for " v " in 0 .. # step 1 vector none {\n"

static const pattern patterns[] = {
    {"copy",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS("%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] store %o[%4], %5 }}}",
     0, 0},
    {"broadcast by eight, modulo seven",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[7] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = idiv %3, 8 %5 = iadd %2, %4 %6 = load f32 %x[%5] %7 = imod %3, 7 %8 = load "
               "f32 %y[%7]\n"
               "%9 = fmul f32 %6, %8 %10 = iadd %2, %3 store %o[%10], %9 }}}",
     0, 0},
    {"strided",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[1000] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = imod %3, 8 %5 = imul %4, 3 %6 = iadd %5, %1 %7 = load f32 %y[%6]\n"
               "%8 = imul %3, 11 %11 = load f32 %y[%8] %9 = fadd f32 %7, %11 %10 = iadd %2, %3\n"
               "store %o[%10], %9 }}}",
     0, 0},
    {"reversed and transposed stores",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write, %t: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = isub #, 1\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] %6 = isub %20, %3 %7 = iadd %2, %6 store "
               "%o[%7], %5\n"
               "%8 = imul %3, n %9 = iadd %8, %1 store %t[%9], %5 }}}",
     0, 0},
    {"division by the columns, across rows",
     "kernel @p (sym n, %x: f32[n * #] read, %y: i32[n] read, %o: f32[n * #] write, %q: i64[n * #] "
     "write) {" ROWS "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = idiv %4, 5 %6 = imod %4, 5 %7 = imul %5, 3 %8 = iadd %7, %6 "
               "%9 = imod %8, #\n"
               "%10 = iadd %2, %9 %11 = load f32 %x[%10] store %o[%4], %11 store %q[%4], %8 }}}",
     0, 0},
    {"gather",
     "kernel @p (sym n, %x: f32[50] read, %y: i32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load i64 %y[%4] %6 = load f32 %x[%5]\n"
               "store %o[%4], %6 }}}",
     0, 50},
    {"scatter to own places",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] read_write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] %6 = imul %3, 3 %7 = imod %6, # %8 = imod #, "
               "3 %9 = ieq %8, 0\n"
               "%10 = select i64 %9, %3, %7 %11 = iadd %2, %10 store %o[%11], %5 }}}",
     0, 0},
    {"choices that are known by lane",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[8] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = imod %3, 3 %5 = ilt %4, 2 %6 = select i64 %5, 5, 1 %7 = load f32 %y[%6]\n"
               "%8 = ilt %3, 3 %9 = select i64 %8, %4, 6 %10 = load f32 %y[%9] %11 = fmul f32 %7, "
               "%10\n"
               "%12 = iadd %2, %3 store %o[%12], %11 }}}",
     0, 0},
    {"small types",
     "kernel @p (sym n, %a: bf16[n * #] read, %b: f16[n * #] read, %c: u8[n * #] read, %d: bool[n "
     "* #] read,\n"
     "%o: bf16[n * #] write, %p: f16[n * #] write, %q: u8[n * #] write, %r: bool[n * #] write) "
     "{" ROWS "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %a[%4] %6 = load f32 %b[%4] %7 = load i64 %c[%4] %8 "
               "= load bool %d[%4]\n"
               "%9 = fmul f32 %5, %6 %10 = select f32 %8, %9, %5 %11 = iadd %7, 1 %12 = flt %10, "
               "0.0\n"
               "store %o[%4], %10 store %p[%4], %9 store %q[%4], %11 store %r[%4], %12 }}}",
     0, 200},
    {"sum, maximum and minimum of a row",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * 3] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 3 tstore %20[0], 0.5 tstore %20[1], -9.0 tstore %20[2], 9.0\n"
     "for %3 in 0 .. # step 1 vector reduce { %4 = iadd %2, %3 %5 = load f32 %x[%4] tacc sum "
     "%20[0], %5\n"
     "tacc max %20[1], %5 tacc min %20[2], %5 }\n"
     "%6 = imul %1, 3 for %7 in 0 .. 3 step 1 vector none { %8 = iadd %6, %7 %9 = tload f32 "
     "%20[%7] store %o[%8], %9 "
     "}}}",
     1e-5, 0},
    {"dot product by fma",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[#] read, %o: f32[n] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 1 tstore %20[0], 0.0\n"
     "for %3 in 0 .. # step 1 vector reduce { %4 = iadd %2, %3 %5 = load f32 %x[%4] %6 = load f32 "
     "%y[%3]\n"
     "tfma %20[0], %5, %6 }\n %7 = tload f32 %20[0] store %o[%1], %7 }}",
     1e-5, 0},
    {"heads of eight columns",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[#] read, %o: f32[n * 16] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 16 for %3 in 0 .. 16 step 1 vector none { tstore %20[%3], 0.0 "
     "}\n"
     "for %4 in 0 .. # step 1 vector reduce { %5 = iadd %2, %4 %6 = load f32 %x[%5] %7 = load f32 "
     "%y[%4]\n"
     "%8 = fmul f32 %6, %7 %9 = idiv %4, 8 tacc sum %20[%9], %8 }\n %10 = imul %1, 16\n"
     "for %11 in 0 .. 16 step 1 vector none { %12 = iadd %10, %11 %13 = tload f32 %20[%11] store "
     "%o[%12], %13 }}}",
     1e-5, 0},
    {"heads of eight columns, the last first",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * 16] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 16 for %3 in 0 .. 16 step 1 vector none { tstore %20[%3], 0.0 "
     "}\n"
     "for %4 in 0 .. # step 1 vector reduce { %5 = iadd %2, %4 %6 = load f32 %x[%5]\n"
     "%8 = idiv %4, 8 %9 = isub 15, %8 tacc sum %20[%9], %6 }\n %10 = imul %1, 16\n"
     "for %11 in 0 .. 16 step 1 vector none { %12 = iadd %10, %11 %13 = tload f32 %20[%11] store "
     "%o[%12], %13 }}}",
     1e-5, 0},
    {"heads of eight columns, chunk by chunk, beside seven",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[7] read, %o: f32[n * 16] write, %q: f32[n * "
     "7] write) {" ROWS "%2 = imul %1, # %20 = tile f32 16 for %3 in 0 .. 16 step 1 vector none { "
     "tstore %20[%3], 9.0 }\n"
     "for %4 in 0 .. # step 1 vector reduce { %5 = iadd %2, %4 %6 = load f32 %x[%5]\n"
     "%9 = idiv %4, 8 tacc min %20[%9], %6 }\n %10 = imul %1, 16 %30 = imul %1, 7\n"
     "for %31 in 0 .. 7 step 1 vector none { %32 = iadd %30, %31 %33 = load f32 %y[%31] store "
     "%q[%32], %33 }\n"
     "for %11 in 0 .. 16 step 1 vector none { %12 = iadd %10, %11 %13 = tload f32 %20[%11] store "
     "%o[%12], %13 }}}",
     0, 0},
    {"heads of three columns, maximum",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * 24] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 24 for %3 in 0 .. 24 step 1 vector none { tstore %20[%3], "
     "-5.0 }\n"
     "for %4 in 0 .. # step 1 vector reduce { %5 = iadd %2, %4 %6 = load f32 %x[%5]\n"
     "%9 = idiv %4, 3 tacc max %20[%9], %6 }\n %10 = imul %1, 24\n"
     "for %11 in 0 .. 24 step 1 vector none { %12 = iadd %10, %11 %13 = tload f32 %20[%11] store "
     "%o[%12], %13 }}}",
     0, 0},
    {"integer sums by gathered index",
     "kernel @p (sym n, %x: i32[n * #] read, %o: i64[n * 8] write) {" ROWS
     "%2 = imul %1, # %20 = tile i64 8 for %3 in 0 .. 8 step 1 vector none { tstore %20[%3], 0 }\n"
     "for %4 in 0 .. # step 1 vector reduce { %5 = iadd %2, %4 %6 = load i64 %x[%5] %7 = imod %6, "
     "8\n"
     "tacc sum %20[%7], %6 }\n %10 = imul %1, 8\n"
     "for %11 in 0 .. 8 step 1 vector none { %12 = iadd %10, %11 %13 = tload i64 %20[%11] store "
     "%o[%12], %13 }}}",
     0, 100},
    {"tile by permuted lanes",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] tstore %20[%3], %5 "
               "}\n" COLUMNS("%6") "%7 = idiv %6, 2 %8 = tload f32 %20[%7] %9 = isub #, "
                                   "1 %10 = isub %9, %6 %11 = tload f32 %20[%10]\n"
                                   "%12 = fadd f32 %8, %11 %13 = iadd %2, %6 store "
                                   "%o[%13], %12 }}}",
     0, 0},
    {"tile by a run-time index",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] tstore %20[%3], %5 }\n"
               "for %6 in 1 .. # step 1 serial ordered { %7 = isub %6, 1 %8 = tload f32 %20[%7]\n"
               "%9 = fmul f32 %8, 0.5 tacc sum %20[%6], %9 }\n" COLUMNS(
                   "%10") "%11 = iadd %2, %10 %12 = tload f32 %20[%10] store %o[%11], %12 }}}",
     0, 0},
    {"a tile of each lane, serial loops inside",
     "kernel @p (sym n, %x: f32[n * #] read, %y: i32[n + 1] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %15 = load i64 %y[%1]\n" COLUMNS(
         "%3") "%20 = tile f32 3 tstore %20[0], 0.0 tstore %20[1], 1.0 tstore %20[2], 2.0\n"
               "for %4 in 0 .. %15 step 1 serial ordered { %5 = imod %4, 3 %6 = iadd %2, %3 %7 = "
               "load f32 %x[%6]\n"
               "tacc sum %20[%5], %7 }\n"
               "%8 = imod %3, 3 %9 = tload f32 %20[%8] %10 = tload f32 %20[1] %11 = fadd f32 %9, "
               "%10\n"
               "%12 = iadd %2, %3 store %o[%12], %11 }}}",
     1e-6, 5},
    {"ifs that lanes enter one by one",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[#] read, %o: f32[n * #] read_write, %z: i32[n "
     "* #] read) {" ROWS "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] %6 = flt 0.0, %5 if %6 { %7 = load f32 "
               "%y[%3]\n"
               "%8 = fmul f32 %5, %7 store %o[%4], %8 %9 = ilt %3, 5 if %9 { %10 = load f32 %y[0] "
               "store %o[%4], %10 } "
               "}\n"
               "%11 = ilt 3, %3 if %11 { %12 = isub %3, 4 %13 = load i64 %z[%4] %14 = cast f32 "
               "%13\n"
               "%15 = load f32 %y[%12] %16 = fadd f32 %14, %15 store %o[%4], %16 } }}}",
     0, 9},
    {"division below zero behind an if",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] read_write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = ile 5, %4 if %5 { %6 = isub %4, 5 %7 = idiv %6, 3 %8 = "
               "imod %6, 3 %9 = iadd %7, %8\n"
               "%10 = imin %9, %4 %11 = load f32 %x[%10] store %o[%4], %11 } }}}",
     0, 0},
    {"negative base",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = isub %1, n %21 = imul %20, 8\n" COLUMNS(
         "%3") "%4 = iadd %21, %3 %5 = iadd %4, 800 %6 = idiv %5, 8 %7 = isub %6, 97 %8 = imod %7, "
               "#\n"
               "%9 = load f32 %x[%8] %10 = iadd %2, %3 store %o[%10], %9 }}}",
     0, 0},
    {"f64",
     "kernel @p (sym n, %x: f64[n * #] read, %o: f64[n * #] write, %s: f64[n] write) {" ROWS
     "%2 = imul %1, # %20 = tile f64 # %21 = tile f64 1 tstore %21[0], 0.0:f64\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f64 %x[%4] tstore %20[%3], %5 }\n"
               "for %6 in 0 .. # step 1 vector reduce { %7 = tload f64 %20[%6] tacc sum %21[0], %7 "
               "}\n" COLUMNS(
                   "%8") "%9 = tload f64 %20[%8] %10 = tload f64 %21[0] %11 = fdiv f64 %9, %10 %12 "
                         "= iadd %2, %8\n"
                         "store %o[%12], %11 } %13 = tload f64 %21[0] store %s[%1], %13 }}",
     1e-11, 0},
    {"private scratch",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 2\n"
     "tstore %20[0], 3.0 for %3 in 0 .. # step 1 vector private { %4 = iadd %2, %3 %5 = load f32 "
     "%x[%4]\n"
     "tstore %20[1], %5 %6 = tload f32 %20[1] %7 = tload f32 %20[0] %8 = fmul f32 %6, %7 store "
     "%o[%4], %8 }}}",
     0, 0},
    {"two rows of neighbours, side by side",
     "kernel @p (sym n, %x: f32[n * #] read, %y: f32[1000] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, #\n" COLUMNS(
         "%3") "%4 = imod %3, 2 %5 = imul %4, 500 %6 = idiv %3, 2 %7 = iadd %5, %6\n"
               "%8 = load f32 %y[%7] %9 = iadd %2, %3 %10 = load f32 %x[%9] %11 = fadd f32 %8, "
               "%10 store %o[%9], %11 }}}",
     0, 0},
#ifndef CODEGEN_CUDA /* which refuses them */
    {"products of pairs",
     "kernel @p (sym n, %x: f32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = tile f32 # %21 = tile bf16 200 %22 = tile bf16 8\n" COLUMNS(
         "%3") "%4 = iadd %2, %3 %5 = load f32 %x[%4] tstore %20[%3], %5\n"
               "%6 = imul %3, 2 %7 = fmul f32 %5, 0.37 tstore %21[%6], %7 %8 = iadd %6, 1 tstore "
               "%21[%8], %5 }\n"
               "for %9 in 0 .. 8 step 1 serial none { %10 = load f32 %x[%2] tstore %22[%9], %10 } "
               "tstore %22[5], -1.7\n"
               "for %11 in 0 .. 8 step 2 serial reduce {\n" COLUMNS(
                   "%12") "%13 = imul %12, 2\n"
                          "tdot %20[%12], %22[%11], %21[%13] }}\n" COLUMNS(
                              "%14") "%15 = iadd %2, %14 %16 = tload f32 %20[%14] store %o[%15], "
                                     "%16 }}}",
     0, 0},
    {"products of pairs, of tiles that each lane has, and of any pair",
     "kernel @p (sym n, %x: f32[n * #] read, %y: u32[n * #] read, %o: f32[n * #] write) {" ROWS
     "%2 = imul %1, # %20 = tile bf16 8\n for %3 in 0 .. 8 step 1 serial none { %4 = load f32 "
     "%x[%2] tstore %20[%3], "
     "%4 }\n"
     "tstore %20[3], 0.3\n" COLUMNS(
         "%5") "%6 = iadd %2, %5 %7 = load f32 %x[%6] %21 = tile bf16 2 %22 = tile f32 1\n"
               "tstore %21[0], %7 tstore %21[1], 1.25 tstore %22[0], %7 %8 = load i64 "
               "%y[%6] %9 = imod %8, 4 %10 = imul %9, 2\n"
               "tdot %22[0], %20[%10], %21[0] %11 = tload f32 %22[0] store %o[%6], %11 }}}",
     0, 0},
#endif
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* Lengths around every width; the long ones take the loop over chunks. */
START_TEST(constant_lengths)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 6 : 2)) return; /* each compiles */
    static const int lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33, 40, 64, 70};
    enum { N = sizeof lengths / sizeof *lengths };
    const pattern *p = &patterns[_i];
    const char *text[N];
    check_options o[N];
    for (int i = 0; i < N; i++) {
        uint32_t seed = (uint32_t)(N * _i + i);
        o[i] = (check_options){
            .syms = {3}, .tolerance = p->tolerance, .limit = p->limit, .seed = seed};
        text[i] = with_number(p->text, lengths[i]);
    }
    checked_all(N, text, o);
}
END_TEST

START_TEST(constant_and_long)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 6 : 2)) return; /* each compiles */
    const pattern *p = &patterns[_i];
    if (strstr(p->text, "[1000]") || strstr(p->text, "tile f32 16") ||
        strstr(p->text, "tile f32 24") || strstr(p->text, "tile bf16 200"))
        return;
    check_options o = {.syms = {2}, .tolerance = p->tolerance * 10, .limit = p->limit};
    checked(with_number(p->text, 1203), &o);
}
END_TEST

/* Vector loops whose bounds are known when they run. */
static const pattern run_time[] = {
    {"triad",
     "kernel @p (sym n, %x: f32[n] read, %y: f32[n] read, %o: f32[n] write) {\n"
     "for %1 in 0 .. n step 1 vector none { %2 = load f32 %x[%1] %3 = load f32 %y[%1]\n"
     "%4 = fma f32 %2, 3.0, %3 store %o[%1], %4 }}",
     0, 0},
    {"flat of heads",
     "kernel @p (sym n, %x: f32[n] read, %y: f32[n * 8] read, %o: f32[n * 8] write) {\n"
     "%9 = imul n, 8 for %1 in 0 .. %9 step 1 vector none { %2 = idiv %1, 8 %3 = load f32 %x[%2]\n"
     "%4 = load f32 %y[%1] %5 = fmul f32 %3, %4 store %o[%1], %5 }}",
     0, 0},
    {"flat of seven columns",
     "kernel @p (sym n, %x: f32[n] read, %y: f32[7] read, %o: f32[n * 7] write) {\n"
     "%9 = imul n, 7 for %1 in 0 .. %9 step 1 vector none { %2 = idiv %1, 7 %3 = load f32 %x[%2]\n"
     "%6 = imod %1, 7 %4 = load f32 %y[%6] %5 = fmul f32 %3, %4 store %o[%1], %5 }}",
     0, 0},
    {"step and offset",
     "kernel @p (sym n, %x: f32[n + 5] read, %o: f32[n + 5] read_write) {\n"
     "%9 = iadd n, 2 for %1 in 3 .. %9 step 3 vector none { %2 = load f32 %x[%1]\n"
     "%3 = iadd %1, 2 %4 = load f32 %x[%3] %5 = fsub f32 %2, %4 store %o[%1], %5 }}",
     0, 0},
    {"from the third on",
     "kernel @p (sym n, %x: f32[n * 44] read, %o: f32[n * 44] read_write) {\n"
     "for %1 in 0 .. n step 1 thread none { %2 = imul %1, 44 for %3 in 2 .. 42 step 1 vector none "
     "{\n"
     "%4 = iadd %2, %3 %5 = load f32 %x[%4] store %o[%4], %5 }}}",
     0, 0},
    {"every third",
     "kernel @p (sym n, %x: f32[n + 42] read, %o: f32[n + 42] read_write) {\n"
     "for %1 in 0 .. 40 step 3 vector none { %2 = load f32 %x[%1] %3 = fmul f32 %2, 3.0 store "
     "%o[%1], %3 }}",
     0, 0},
    {"one beside what lies together",
     "kernel @p (sym n, %x: f32[n * 40 + 1] read, %o: f32[n * 40] write) {\n"
     "for %1 in 0 .. n step 1 thread none { %2 = imul %1, 40 for %3 in 0 .. 40 step 1 vector none "
     "{\n"
     "%4 = iadd %2, %3 %5 = iadd %4, 1 %6 = load f32 %x[%5] store %o[%4], %6 }}}",
     0, 0},
    {"gather and small types",
     "kernel @p (sym n, %x: i32[n] read, %y: f16[40] read, %z: u8[n] read, %o: bf16[n] write, %q: "
     "i32[n] write) {\n"
     "for %1 in 0 .. n step 1 vector none { %2 = load i64 %x[%1] %3 = load f32 %y[%2] %4 = load "
     "i64 %z[%1]\n"
     "%5 = cast f32 %4 %6 = fadd f32 %3, %5 store %o[%1], %6 %7 = imul %2, %4 store %q[%1], %7 }}",
     0, 40},
    {"total, maximum, count",
     "kernel @p (sym n, %x: f32[n] read, %m: bool[n] read, %o: f32[2] write, %c: i64[1] write) {\n"
     "%20 = tile f32 2 %21 = tile i64 1 tstore %20[0], 0.0 tstore %20[1], -2.0 tstore %21[0], 0\n"
     "for %1 in 0 .. n step 1 vector reduce { %2 = load f32 %x[%1] tacc sum %20[0], %2 tacc max "
     "%20[1], %2\n"
     "%3 = load bool %m[%1] %4 = cast i64 %3 tacc sum %21[0], %4 }\n"
     "%5 = tload f32 %20[0] store %o[0], %5 %6 = tload f32 %20[1] store %o[1], %6 %7 = tload i64 "
     "%21[0] store %c[0], "
     "%7 }",
     1e-5, 0},
    {"dot product",
     "kernel @p (sym n, %x: f32[n] read, %y: f32[n] read, %o: f32[1] write) {\n"
     "%20 = tile f32 1 tstore %20[0], 0.0 for %1 in 0 .. n step 1 vector reduce {\n"
     "%2 = load f32 %x[%1] %3 = load f32 %y[%1] tfma %20[0], %2, %3 }\n"
     "%4 = tload f32 %20[0] store %o[0], %4 }",
     1e-5, 0},
    {"blocks of a thread loop",
     "kernel @p (sym n, %x: f32[n] read, %o: f32[n] write) {\n"
     "for %1 in 0 .. n step 24 thread none { %2 = iadd %1, 24 %3 = imin %2, n\n"
     "for %4 in %1 .. %3 step 1 vector none { %5 = load f32 %x[%4] %6 = tanh f32 %5\n"
     "store %o[%4], %6 }}}",
     3e-7, 0},
    {"rows of edges",
     "kernel @p (sym n, %r: i32[n + 1] read, %x: f32[n * 9] read, %o: f32[n] write) {\n"
     "for %1 in 0 .. n step 1 thread none { %20 = tile f32 1 tstore %20[0], 0.0\n"
     "%2 = load i64 %r[%1] %3 = iadd %1, 1 %4 = load i64 %r[%3]\n"
     "for %5 in %2 .. %4 step 1 vector reduce { %6 = load f32 %x[%5] tacc sum %20[0], %6 }\n"
     "%7 = tload f32 %20[0] store %o[%1], %7 }}",
     1e-5, 30},
    {"division below zero in lanes that do not run",
     "kernel @p (sym n, %x: f32[n + 20] read, %o: f32[n] write) {\n"
     "for %1 in 0 .. n step 1 vector none { %2 = isub n, 1 %3 = isub %2, %1 %4 = idiv %3, 7 %5 = "
     "imod %3, 7\n"
     "%6 = iadd %4, %5 %7 = load f32 %x[%6] store %o[%1], %7 }}",
     0, 0},
    {"tile from a serial loop",
     "kernel @p (sym n, %x: f32[n * 5] read, %o: f32[n * 5] write) {\n"
     "for %1 in 0 .. n step 1 thread none { %20 = tile f32 5 %2 = imul %1, 5\n"
     "for %3 in 0 .. 5 step 1 serial none { %4 = iadd %2, %3 %5 = load f32 %x[%4]\n"
     "tstore %20[%3], %5 }\n"
     "for %6 in 0 .. 5 step 1 unroll none { %7 = isub 4, %6 %8 = tload f32 %20[%7]\n"
     "%9 = iadd %2, %6 store %o[%9], %8 }}}",
     0, 0},
};
enum { RUN_TIME = sizeof run_time / sizeof *run_time };

START_TEST(run_time_lengths)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 6 : 2)) return; /* each compiles */
    const pattern *p = &run_time[_i];
    int length[42];
    for (int i = 0; i < 41; i++) length[i] = i;
    length[41] = 333;
    check_options o = {.tolerance = p->tolerance, .limit = p->limit};
    if (!strcmp(p->name, "rows of edges")) { /* row pointers ascend */
        int32_t row[400] = {0};
        for (int i = 1; i < 400; i++) row[i] = row[i - 1] + (i * 7 % 11 < 3 ? 0 : i * 5 % 23) / 3;
        o.data[0] = row;
        checked_lengths(p->text, &o, length, 41);
        o.split = 3;
        checked_lengths(p->text, &o, length, 10);
        return;
    }
    checked_lengths(p->text, &o, length, 42);
    o.split = 1;
    checked_lengths(p->text, &o, length, 20);
}
END_TEST

static const char
    gemm[] = "kernel @gemm (sym m, %a: f32[m * 37] read, %b: f32[#] read, %c: f32[m * #] write) {\n"
             "  for %1 in 0 .. m step 3 thread none {\n"
             "    %2 = tile f32 $\n"
             "    for %3 in 0 .. $ step 1 vector none { tstore %2[%3], 0.0 }\n"
             "    for %4 in 0 .. 37 step 1 serial ordered {\n"
             "      %5 = imul %4, #\n"
             "      for %6 in 0 .. 3 step 1 unroll none {\n"
             "        %7 = iadd %1, %6 %8 = imul %7, 37 %9 = iadd %8, %4 %10 = load f32 %a[%9] %11 "
             "= imul %6, #\n"
             "        for %12 in 0 .. # step 1 vector none {\n"
             "          %13 = iadd %5, %12 %14 = load f32 %b[%13] %15 = iadd %11, %12 tfma "
             "%2[%15], %10, %14\n"
             "        }\n      }\n    }\n"
             "    for %16 in 0 .. 3 step 1 unroll none {\n"
             "      %17 = iadd %1, %16 %18 = imul %17, # %19 = imul %16, #\n"
             "      for %20 in 0 .. # step 1 vector none {\n"
             "        %21 = iadd %19, %20 %22 = tload f32 %2[%21] %23 = iadd %18, %20 store "
             "%c[%23], %22\n"
             "      }\n    }\n  }\n}\n";

START_TEST(gemm_tiles)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 6 : 2)) return; /* each compiles */
    gn_buf t = {.arena = &arena};
    for (const char *p = gemm; *p; p++) {
        if (*p == '$')
            gn_buf_printf(&t, "%d", 3 * _i);
        else if (!strncmp(p, "[#] read", 8))
            gn_buf_printf(&t, "[%d", 37 * _i), p++;
        else
            gn_buf_addn(&t, p, 1);
    }
    check_options o = {.syms = {9}};
    checked(with_number(t.p, _i), &o);
}
END_TEST

#ifndef CODEGEN_CUDA /* of LLVM's back end alone */

/* Sums of runs of lanes, all at once, have the bits of sums taken one after another: # columns of $
 * heads. */
static const char
    runs[] = "kernel @p (sym n, %x: @[n * !] read, %o: @[n * $] write, %d: @[n * $] write) {" ROWS
             "%2 = imul %1, !\n"
             "%20 = tile @ $ %21 = tile @ $ for %3 in 0 .. $ step 1 vector none { tstore %20[%3], "
             "0.5? tstore %21[%3], 0.5? "
             "}\n"
             "for %4 in 0 .. $ step 1 unroll none { %5 = imul %4, # for %6 in 0 .. # step 1 vector "
             "reduce {\n"
             "%7 = iadd %5, %6 %8 = iadd %2, %7 %9 = load @ %x[%8] tacc sum %20[%4], %9 } }\n"
             "for %10 in 0 .. ! step 1 vector reduce { %11 = iadd %2, %10 %12 = load @ %x[%11] %13 "
             "= idiv %10, #\n"
             "tacc sum %21[%13], %12 }\n"
             "%14 = imul %1, $ for %15 in 0 .. $ step 1 vector none { %16 = iadd %14, %15 %17 = "
             "tload @ %20[%15]\n"
             "%18 = tload @ %21[%15] %19 = fsub @ %17, %18 %22 = fmul @ %19, 1e12? store %o[%16], "
             "%17 store %d[%16], %22 }}}";

START_TEST(runs_of_lanes)
{
    static const int shape[][2] = {{8, 8}, {4, 8},  {3, 8},  {16, 4}, {5, 4}, {4, 32}, {6, 16},
                                   {8, 2}, {7, 16}, {2, 64}, {16, 8}, {3, 4}, {6, 4}};
    const int heads = shape[_i / 2][0], columns = shape[_i / 2][1];
    gn_buf t = {.arena = &arena};
    for (const char *p = runs; *p; p++) switch (*p) {
        case '@':
            p[1] == 'p' ? gn_buf_addn(&t, p, 1) : gn_buf_printf(&t, "%s", _i % 2 ? "f64" : "f32");
            break;
        case '?': gn_buf_printf(&t, "%s", _i % 2 ? ":f64" : ""); break;
        case '$': gn_buf_printf(&t, "%d", heads); break;
        case '#': gn_buf_printf(&t, "%d", columns); break;
        case '!': gn_buf_printf(&t, "%d", heads * columns); break;
        default: gn_buf_addn(&t, p, 1);
        }
    check_options o = {.syms = {3}, .tolerance = 1e-5};
    checked(t.p, &o);
}
END_TEST

/* What cannot be emitted is refused with its reason. */
START_TEST(refusals)
{
    const char *why = NULL;
    gn_image *image = NULL;
    const kir_kernel *k = parsed(
        "kernel @k (%o: f32[1] write) { %1 = tile f32 100000 tstore %1[0], 0.0 }");
    ck_assert(!gn_cpu_supports(k, &why) && strstr(why, "256 KB"));
    refused(gn_cpu_compile(&k, 1, NULL, &image, NULL), GN_ERR_BACKEND, "256 KB", "large tile");
    ck_assert_ptr_null(image);
    k = parsed("kernel @k (sym n, %o: f32[n] write) { for %1 in 0 .. n step 1 block none { store "
               "%o[%1], 0.0 } }");
    ck_assert(!gn_cpu_supports(k, &why));
    gn_codegen_options o = {.cpu = "pentium"};
    k = parsed("kernel @k (%o: f32[1] write) { store %o[0], 0.0 }");
    refused(gn_cpu_compile(&k, 1, &o, &image, NULL), GN_ERR_BACKEND, "pentium", "unknown cpu");
    ck_assert(gn_cpu_limits(NULL).lanes >= 4 && strlen(gn_cpu_name()) > 3);
}
END_TEST

/* Named machines: what they can do. */
START_TEST(limits)
{
#if defined(__aarch64__)
    gn_limits arm = gn_cpu_limits("neoverse-v1");
    ck_assert(arm.lanes == 4 && arm.whole_lanes == 4 && arm.vector_registers == 32 && !arm.pairs);
#else
    ck_assert(gn_cpu_limits("x86-64-v3").lanes == 8);
    ck_assert(gn_cpu_limits("x86-64-v3").vector_registers == 16 &&
              gn_cpu_limits("x86-64-v4").vector_registers == 32);
    ck_assert(gn_cpu_limits("znver4").lanes == 16 && gn_cpu_limits("znver4").whole_lanes == 8);
    ck_assert(gn_cpu_limits("x86-64-v4").whole_lanes == 16 &&
              gn_cpu_limits("znver3").whole_lanes == 8);
    ck_assert(gn_cpu_limits("znver4").pairs == 1 << KIR_KIND_BF16 &&
              !gn_cpu_limits("x86-64-v4").pairs);
    ck_assert(gn_cpu_limits("sapphirerapids").pairs && !gn_cpu_limits("x86-64-v3").pairs);
#endif
}
END_TEST

/* The length of a reduction may be a constant of the program or known when it runs: the bits are
 * the same. */
START_TEST(static_and_symbolic)
{
    static const char text
        [] = "kernel @p (sym n, %x: f32[n] read, %y: f32[n] read, %o: f32[3] read_write) {\n"
             "%20 = tile f32 3 tstore %20[0], 0.25 tstore %20[1], -2.0 tstore %20[2], 0.125\n"
             "for %1 in 0 .. # step 1 vector reduce { %2 = load f32 %x[%1] tacc sum %20[0], %2\n"
             "tacc max %20[1], %2 %3 = load f32 %y[%1] tfma %20[2], %2, %3 }\n"
             "for %4 in 0 .. 3 step 1 vector none { %5 = tload f32 %20[%4] store %o[%4], %5 } }";
    float x[1300], y[1300];
    int64_t n = _i < 70 ? _i + 1 : 1200 + _i;
    uint32_t seed = (uint32_t)_i;
    gn_buf symbolic = {.arena = &arena};
    for (const char *p = text; *p; p++) gn_buf_addn(&symbolic, *p == '#' ? "n" : p, 1);
    fill(x, GN_F32, 1300, 0, &seed);
    fill(y, GN_F32, 1300, 0, &seed);
    for (int cpu = 0; cpu < TEST_CPUS; cpu++) {
        float a[3] = {0}, b[3] = {0};
        if (!test_cpu_runs(cpu)) continue;
        check_options o = {0};
        gn_image *one = compiled(verified(symbolic.p), test_cpus[cpu], &o, text);
        gn_image *two = compiled(verified(with_number(text, n)), test_cpus[cpu], &o, text);
        gn_image_kernel(one, 0)((void *[]){x, y, a}, &n, 0, 1);
        gn_image_kernel(two, 0)((void *[]){x, y, b}, &n, 0, 1);
        ck_assert_msg(!memcmp(a, b, sizeof a), "%s, %lld: %a %a %a, not %a %a %a",
                      test_cpus[cpu] ? test_cpus[cpu] : "host", (long long)n, (double)b[0],
                      (double)b[1], (double)b[2], (double)a[0], (double)a[1], (double)a[2]);
        gn_image_free(one);
        gn_image_free(two);
    }
}
END_TEST

/* Code for another one is made even where it cannot run. */
START_TEST(named_machines)
{
#if defined(__aarch64__)
    static const char *const cpu[] = {"armv8-a", "cortex-a53", "neoverse-v2", "native"};
    static const char *const holds[] = {"q0", "q0", "q0"};
#else
    static const char *const cpu[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "native"};
    static const char *const holds[] = {"xmm", "ymm", "zmm"};
#endif
    gn_buf b = {.arena = &arena};
    gn_codegen_options o = {.opt_level = 1, .cpu = cpu[_i]};
    const kir_kernel *k = verified(with_number(patterns[0].text, 64));
    succeeded(gn_cpu_emit(&k, 1, &o, GN_EMIT_ASM, &b), cpu[_i]);
    if (_i < 3) ck_assert_ptr_nonnull(strstr(b.p, holds[_i]));
}
END_TEST

/* Many kernels on several threads give the code that one gives. */
START_TEST(many_kernels)
{
    enum { N = 9 };
    const kir_kernel *k[N];
    for (int i = 0; i < N; i++) k[i] = verified(with_number(patterns[0].text, i + 1));
    for (int threads = 0; threads <= 4; threads++) {
        gn_codegen_options o = {.opt_level = threads % 3, .threads = threads};
        gn_codegen_stats stats = {0};
        gn_image *image = NULL;
        succeeded(gn_cpu_compile(k, N, &o, &image, &stats), "many");
        ck_assert(stats.code_bytes > 0 && stats.emit_ms > 0);
        for (int i = 0; i < N; i++) {
            float x[N * 2], y[N * 2] = {0};
            int64_t n = 2;
            for (int j = 0; j < 2 * (i + 1); j++) x[j] = (float)j + 1;
            gn_image_kernel(image, i)((void *[]){x, y}, &n, 0, 2);
            ck_assert_mem_eq(x, y, sizeof(float) * 2 * (size_t)(i + 1));
        }
        ck_assert(!gn_image_kernel(image, N) && !gn_image_kernel(image, -1));
        gn_image_free(image);
    }
}
END_TEST

START_TEST(texts)
{
    const kir_kernel *k = verified(with_number(patterns[0].text, 16));
    gn_buf b = {.arena = &arena};
    succeeded(gn_cpu_emit(&k, 1, NULL, GN_EMIT_LLVM, &b), "llvm");
    ck_assert_ptr_nonnull(strstr(b.p, "define void @gn_kernel_0"));
    b.n = 0;
    succeeded(gn_cpu_emit(&k, 1, NULL, GN_EMIT_ASM, &b), "asm");
    ck_assert_ptr_nonnull(strstr(b.p, "gn_kernel_0:"));
    b.n = 0;
    succeeded(gn_cpu_emit(&k, 1, NULL, GN_EMIT_OBJ, &b), "obj");
    ck_assert_mem_eq(b.p,
                     "\x7f"
                     "ELF",
                     4);
}
END_TEST

/* Texts of many lengths, until one is a multiple of what objects are padded to. */
START_TEST(whole_texts)
{
    bool full = false;
    for (int n = 1; !full; n++) {
        ck_assert_int_lt(n, 1000);
        const kir_kernel *k = verified(with_number(patterns[0].text, n));
        gn_buf b = {.arena = &arena};
        succeeded(gn_cpu_emit(&k, 1, NULL, GN_EMIT_LLVM, &b), "llvm");
        ck_assert_uint_eq(strlen(b.p), b.n);
        ck_assert_int_eq(b.p[b.n - 1], '\n');
        full = b.n % 64 == 0;
    }
}
END_TEST

static const char out_of_bounds
    [] = "kernel @wild (sym n, %x: i32[n] read, %y: f32[40] read, %o: f32[n] write) {\n"
         "for %1 in 0 .. n step 1 # none { %2 = load i64 %x[%1] %3 = load f32 %y[%2]\n"
         "store %o[%1], %3 }}";

static void run_wild(const char *unit, int bad)
{
    gn_buf t = {.arena = &arena};
    for (const char *p = out_of_bounds; *p; p++)
        gn_buf_addn(&t, *p == '#' ? unit : p, *p == '#' ? strlen(unit) : 1);
    gn_image *image = compiled(verified(t.p), NULL, &(check_options){.sanitize = true}, t.p);
    int32_t x[21] = {0};
    float y[40] = {0}, o[21];
    int64_t n = 21;
    x[bad] = bad % 2 ? 40 : -1;
    gn_image_kernel(image, 0)((void *[]){x, y, o}, &n, 0, n);
}

START_TEST(sanitized_faults) { run_wild(_i % 2 ? "vector" : "serial", _i * 20 / 3); }
END_TEST

START_TEST(sanitized_runs)
{
    static const int lengths[] = {0, 1, 17, 33};
    for (int i = 0; i < RUN_TIME; i++) {
        if (!strcmp(run_time[i].name, "rows of edges")) continue;
        check_options o = {.tolerance = run_time[i].tolerance,
                           .limit = run_time[i].limit,
                           .sanitize = true,
                           .cpus = 2};
        checked_lengths(run_time[i].text, &o, lengths, 4);
    }
    for (int i = 0; i < PATTERNS; i++) {
        check_options o = {.syms = {3},
                           .tolerance = patterns[i].tolerance,
                           .limit = patterns[i].limit,
                           .sanitize = true,
                           .cpus = 2};
        checked(with_number(patterns[i].text, 19), &o);
    }
}
END_TEST

#endif

int main(void)
{
    TCase *constant = arena_case("constant", 300), *longer = arena_case("long", 300);
    TCase *run = arena_case("run time", 300), *products = arena_case("products", 300),
          *c = arena_case("others", 300);
    tcase_add_loop_test(c, spmm_of_every_width, 1, 71);
    tcase_add_loop_test(constant, constant_lengths, 0, PATTERNS);
    tcase_add_loop_test(longer, constant_and_long, 0, PATTERNS);
    tcase_add_loop_test(run, run_time_lengths, 0, RUN_TIME);
    tcase_add_loop_test(products, gemm_tiles, 1, 36);
#ifndef CODEGEN_CUDA
    tcase_add_loop_test(products, runs_of_lanes, 0, 26);
    tcase_add_test(c, refusals);
    tcase_add_test(c, limits);
    tcase_add_test(c, many_kernels);
    tcase_add_loop_test(c, static_and_symbolic, 0, 76);
    tcase_add_loop_test(c, named_machines, 0, 4);
    tcase_add_test(c, texts);
    tcase_add_test(c, whole_texts);
    tcase_add_loop_test_raise_signal(c, sanitized_faults, SIGABRT, 0, 4);
    tcase_add_test(c, sanitized_runs);
#endif
    return RUN_CASES("codegen loops", constant, longer, run, products, c);
}
