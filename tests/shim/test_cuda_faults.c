/* labels: long */
/* links: codegen runtime ir base */
/* timeout: 120 */
/* What the shim finds: the text of a kernel as the back end writes it runs right in every order of
 * threads, and without any of its barriers wrong; each fault that is planted in it (a wrong index,
 * another width of a shuffle ...) is seen. */
#include "support/cuda_host.h"
#include "support/gir_text.h"
#include "unit/kir_test.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 7, BUFFERS = 4 };

/* Each row turned round, by way of a tile, and its sum beside it. */
static const char turned
    [] = "kernel @turned (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write, %s: f32[n] write) {\n"
         "for %1 in 0 .. n step 1 thread none {\n"
         "  %2 = tile f32 40 %3 = imul %1, 40 %30 = tile f32 1 tstore %30[0], 0.0\n"
         "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore "
         "%2[%4], %6 }\n"
         "  for %7 in 0 .. 40 step 1 vector reduce {\n"
         "    %8 = isub 39, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 tacc sum "
         "%30[0], %9 }\n"
         "  %11 = tload f32 %30[0] store %s[%1], %11 }}";

/* Blocks whose lanes leave numbers to each other. */
static const char
    block[] = "kernel @block (sym n, %x: f32[n * 256] read, %o: f32[n * 256] write) {\n"
              "for %1 in 0 .. n step 1 block none {\n"
              "  %2 = tile f32 256 %3 = imul %1, 256\n"
              "  for %4 in 0 .. 256 step 1 lane none { %5 = iadd %3, %4 %6 = load f32 %x[%5] "
              "tstore %2[%4], %6 }\n"
              "  barrier\n"
              "  for %7 in 0 .. 256 step 1 lane none {\n"
              "    %8 = isub 255, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}}";

/* What stands outside of LANE loops, the first lane's, between them: left for others, ... */
static const char
    left[] = "kernel @left (sym n, %x: f32[n * 256] read, %o: f32[n * 256] write) {\n"
             "for %1 in 0 .. n step 1 block none {\n"
             "  %2 = tile f32 256 %3 = imul %1, 256\n"
             "  for %4 in 0 .. 256 step 1 serial none { %5 = iadd %3, %4 %6 = load f32 %x[%5] "
             "tstore %2[%4], %6 }\n"
             "  for %7 in 0 .. 256 step 1 lane none {\n"
             "    %8 = isub 255, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}}";

/* ... taken from them and left again, ... */
static const char
    taken[] = "kernel @taken (sym n, %x: f32[n * 64] read, %o: f32[n * 64] write) {\n"
              "for %1 in 0 .. n step 1 block none {\n"
              "  %2 = tile f32 64 %3 = imul %1, 64\n"
              "  for %4 in 0 .. 64 step 1 lane none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore "
              "%2[%4], %6 }\n"
              "  %7 = tload f32 %2[63] %8 = fmul f32 %7, 2.0 tstore %2[63], %8\n  barrier\n"
              "  for %9 in 0 .. 64 step 1 lane none {\n"
              "    %14 = iadd %9, 31 %10 = imod %14, 64 %11 = tload f32 %2[%10] %12 = iadd %3, %9 "
              "%13 = fadd f32 %11, %7 store "
              "%o[%12], %13 }}}";

/* ... read round after round of what the lanes write, ... */
static const char
    rounds[] = "kernel @rounds (sym n, %x: f32[n * 64] read, %o: f32[n * 4] write) {\n"
               "for %1 in 0 .. n step 1 block none {\n"
               "  %2 = tile f32 64 %3 = imul %1, 64\n"
               "  for %4 in 0 .. 4 step 1 serial ordered {\n"
               "    for %5 in 0 .. 64 step 1 lane none {\n"
               "      %6 = iadd %3, %5 %7 = load f32 %x[%6] %8 = cast f32 %4 %9 = fadd f32 %7, %8 "
               "tstore %2[%5], %9 }\n"
               "    %10 = imul %4, 21 %11 = tload f32 %2[%10] %12 = imul %1, 4 %13 = iadd %12, %4 "
               "store %o[%13], %11 }}}";

/* ... and written round after round while they read. */
static const char
    written[] = "kernel @written (sym n, %x: f32[n * 4] read, %s: f32[n * 64] read_write, %o: "
                "f32[n * 256] write) {\n"
                "for %1 in 0 .. n step 1 block none {\n"
                "  %2 = imul %1, 4 %3 = imul %1, 64\n"
                "  for %4 in 0 .. 4 step 1 serial ordered {\n"
                "    %5 = iadd %2, %4 %6 = load f32 %x[%5] %7 = iadd %3, %4 store %s[%7], %6\n"
                "    for %8 in 0 .. 64 step 1 lane none {\n"
                "      %9 = imod %8, 4 %10 = iadd %3, %9 %11 = load f32 %s[%10] %12 = imul %5, 64 "
                "%13 = iadd %12, %8\n"
                "      store %o[%13], %11 }}}}";

/* Rows some of which meet in the middle, and some where all do. */
static const char sometimes
    [] = "kernel @sometimes (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write, %q: f32[n * 40] "
         "write) {\n"
         "for %1 in 0 .. n step 1 thread none {\n"
         "  %2 = tile f32 40 %3 = imul %1, 40 %30 = imod %1, 2 %31 = ieq %30, 0\n"
         "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore "
         "%2[%4], %6 }\n"
         "  if %31 { for %7 in 0 .. 40 step 1 vector none {\n"
         "    %8 = isub 39, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}\n"
         "  for %11 in 0 .. 40 step 1 vector none {\n"
         "    %12 = isub 39, %11 %13 = tload f32 %2[%12] %14 = iadd %3, %11 store %q[%14], %13 }}}";

/* Rows that meet in a round which others do not have. */
static const char perhaps
    [] = "kernel @perhaps (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write, %q: f32[n * 40] "
         "write) {\n"
         "for %1 in 0 .. n step 1 thread none {\n"
         "  %2 = tile f32 40 %3 = imul %1, 40 %30 = imod %1, 2\n"
         "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore "
         "%2[%4], %6 }\n"
         "  for %31 in 0 .. %30 step 1 serial none { for %7 in 0 .. 40 step 1 vector none {\n"
         "    %8 = isub 39, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}\n"
         "  for %11 in 0 .. 40 step 1 vector none {\n"
         "    %12 = isub 39, %11 %13 = tload f32 %2[%12] %14 = iadd %3, %11 store %q[%14], %13 }}}";

/* Every second element of what lanes left side by side. */
static const char second
    [] = "kernel @second (sym n, %x: f32[n * 64] read, %o: f32[n * 32] write) {\n"
         "for %1 in 0 .. n step 1 thread none {\n"
         "  %2 = tile f32 64 %3 = imul %1, 64\n"
         "  for %4 in 0 .. 64 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore "
         "%2[%4], %6 }\n"
         "  %7 = imul %1, 32\n"
         "  for %8 in 0 .. 32 step 1 vector none {\n"
         "    %9 = imul %8, 2 %10 = tload f32 %2[%9] %11 = iadd %7, %8 store %o[%11], %10 }}}";

/* Sums in registers of several chunks, each of its lane alone. */
static const char
    chunks[] = "kernel @chunks (sym n, %x: f32[n * 256] read, %o: f32[n * 256] write) {\n"
               "for %1 in 0 .. n step 1 thread none {\n"
               "  %2 = tile f32 256 %3 = imul %1, 256\n"
               "  for %4 in 0 .. 256 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] "
               "tstore %2[%4], %6 }\n"
               "  for %7 in 0 .. 3 step 1 serial reduce { for %8 in 0 .. 256 step 1 vector none {\n"
               "    %9 = iadd %3, %8 %10 = load f32 %x[%9] tacc sum %2[%8], %10 }}\n"
               "  for %11 in 0 .. 256 step 1 vector none {\n"
               "    %12 = tload f32 %2[%11] %13 = iadd %3, %11 store %o[%13], %12 }}}";

/* By way of a buffer. */
static const char through[] = "kernel @through (sym n, %x: f32[n * 40] read, %s: f32[n * 40] "
                              "read_write, %o: f32[n * 40] write) {\n"
                              "for %1 in 0 .. n step 1 thread none {\n"
                              "  %3 = imul %1, 40\n"
                              "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load "
                              "f32 %x[%5] store %s[%5], %6 }\n"
                              "  for %7 in 0 .. 40 step 1 vector none {\n"
                              "    %8 = isub 39, %7 %9 = iadd %3, %8 %10 = load f32 %s[%9] %11 = "
                              "iadd %3, %7 store %o[%11], %10 }}}";

/* Written by one lane, and again by another: in two loops, and in rounds of one. */
static const char twice
    [] = "kernel @twice (sym n, %x: f32[n * 64] read, %o: f32[n * 64] write, %q: f32[n * 67] "
         "write) {\n"
         "for %1 in 0 .. n step 1 thread none {\n"
         "  %2 = imul %1, 64 %20 = imul %1, 67\n"
         "  for %3 in 0 .. 64 step 1 vector none { %4 = iadd %2, %3 %5 = load f32 %x[%4] store "
         "%o[%4], %5 }\n"
         "  for %6 in 0 .. 16 step 1 vector none {\n"
         "    %17 = isub 15, %6 %7 = imul %17, 4 %8 = iadd %2, %7 %9 = cast f32 %6 store %o[%8], "
         "%9 }\n"
         "  for %10 in 0 .. 4 step 1 serial ordered { for %11 in 0 .. 64 step 1 vector none {\n"
         "    %12 = iadd %2, %11 %13 = load f32 %x[%12] %14 = iadd %20, %11 %15 = iadd %14, %10 "
         "store %q[%15], %13 }}}}";

/* Written by the first lane, and again by all. */
static const char
    over[] = "kernel @over (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write) {\n"
             "for %1 in 0 .. n step 1 thread none {\n"
             "  %2 = tile f32 40 %3 = imul %1, 40 tstore %2[20], 5.0\n"
             "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] "
             "tstore %2[%4], %6 }\n"
             "  for %7 in 0 .. 40 step 1 vector none {\n"
             "    %8 = isub 39, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}}";

/* A sum into a tile that the lanes share, and what they read before it is written again. */
static const char into
    [] = "kernel @into (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write, %q: f32[n * 40] write) "
         "{\n"
         "for %1 in 0 .. n step 1 thread none {\n"
         "  %2 = tile f32 40 %3 = imul %1, 40\n"
         "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore "
         "%2[%4], %6 }\n"
         "  for %7 in 0 .. 40 step 1 vector reduce { %8 = iadd %3, %7 %9 = load f32 %x[%8] tacc "
         "sum %2[7], %9 }\n"
         "  for %10 in 0 .. 40 step 1 vector none {\n"
         "    %11 = isub 39, %10 %12 = tload f32 %2[%11] %13 = iadd %3, %10 store %o[%13], %12 }\n"
         "  for %14 in 0 .. 40 step 1 vector none { %15 = cast f32 %14 tstore %2[%14], %15 }\n"
         "  for %16 in 0 .. 40 step 1 vector none {\n"
         "    %17 = isub 39, %16 %18 = tload f32 %2[%17] %19 = iadd %3, %16 store %q[%19], %18 }}}";

/* Two warps that add products of fragments, 16 x 16 each, of operands that are rounded to whole
 * numbers when they are brought; the result is left where they lay, and turned round. */
static const char fragments
    [] = "kernel @fragments (sym n, %x: f32[n * 512] read, %y: f32[n * 256] read, %o: f32[n * 512] "
         "write) {\n"
         "for %1 in 0 .. n step 1 block none {\n"
         "  %2 = tile f32 512 %3 = tile f32 1024 %4 = imul %1, 512 %5 = imul %1, 256\n"
         "  for %6 in 0 .. 64 step 1 lane none { for %7 in 0 .. 8 step 1 unroll none {\n"
         "    %8 = imul %6, 8 %9 = iadd %8, %7 tstore %2[%9], 0.0 }}\n"
         "  for %10 in 0 .. 64 step 1 lane none { for %11 in 0 .. 8 step 1 serial none {\n"
         "    %12 = imul %11, 64 %13 = iadd %12, %10 %14 = idiv %13, 16 %15 = imod %13, 16 %16 = "
         "imul %14, 20\n"
         "    %17 = iadd %16, %15 %18 = iadd %4, %13 %19 = load f32 %x[%18] %20 = fadd f32 %19, "
         "1.0001\n"
         "    %21 = round tf32 %20 tstore %3[%17], %21 }}\n"
         "  for %22 in 0 .. 64 step 1 lane none { for %23 in 0 .. 4 step 1 serial none {\n"
         "    %24 = imul %23, 64 %25 = iadd %24, %22 %26 = idiv %25, 16 %27 = imod %25, 16 %28 = "
         "imul %26, 24\n"
         "    %29 = iadd %28, %27 %30 = iadd %29, 640 %31 = iadd %5, %25 %32 = load f32 %y[%31]\n"
         "    %33 = fadd f32 %32, 1.0001 %34 = round tf32 %33 tstore %3[%30], %34 }}\n"
         "  barrier\n"
         "  for %35 in 0 .. 2 step 1 warp none { for %36 in 0 .. 16 step 8 serial reduce {\n"
         "    for %37 in 0 .. 2 step 1 unroll none {\n"
         "      %38 = imul %35, 256 %39 = imul %37, 4 %40 = iadd %38, %39 %41 = imul %35, 320 %42 "
         "= iadd %41, %36\n"
         "      %43 = imul %36, 24 %44 = imul %37, 8 %45 = iadd %43, %44 %46 = iadd %45, 640\n"
         "      mma tf32 %2[%40] by 8, %3[%42] by 20 1, %3[%46] by 1 24 }}}\n"
         "  barrier\n"
         "  for %50 in 0 .. 64 step 1 lane none { for %51 in 0 .. 8 step 1 unroll none {\n"
         "    %52 = imul %50, 8 %53 = iadd %52, %51 %54 = tload f32 %2[%53] %62 = iadd %53, 512 "
         "tstore %3[%62], %54 }}\n"
         "  barrier\n"
         "  for %55 in 0 .. 64 step 1 lane none { for %56 in 0 .. 8 step 1 serial none {\n"
         "    %57 = imul %56, 64 %58 = iadd %57, %55 %59 = isub 1023, %58 %60 = tload f32 %3[%59]\n"
         "    %61 = iadd %4, %58 store %o[%61], %60 }}}}";

/* The same of operands in BF16, in two rounds; they lie in a tile of the loop, whose memory another
 * one has after it. */
static const char pairs
    [] = "kernel @pairs (sym n, %x: f32[n * 1024] read, %y: f32[n * 512] read, %o: f32[n * 512] "
         "write) {\n"
         "for %1 in 0 .. n step 1 block none {\n"
         "  %2 = tile f32 512 %4 = imul %1, 1024 %5 = imul %1, 512\n"
         "  for %6 in 0 .. 64 step 1 lane none { for %7 in 0 .. 8 step 1 unroll none {\n"
         "    %8 = imul %6, 8 %9 = iadd %8, %7 tstore %2[%9], 0.0 }}\n"
         "  for %3 in 0 .. 32 step 16 serial ordered {\n"
         "    barrier\n"
         "    %49 = tile bf16 1152\n"
         "    for %10 in 0 .. 64 step 1 lane none { for %11 in 0 .. 8 step 1 serial none {\n"
         "      %12 = imul %11, 64 %13 = iadd %12, %10 %14 = idiv %13, 16 %15 = imod %13, 16 %16 = "
         "imul %14, 24\n"
         "      %17 = iadd %16, %15 %18 = imul %14, 32 %19 = iadd %18, %15 %20 = iadd %19, %3 %21 "
         "= iadd %20, %4\n"
         "      %22 = load f32 %x[%21] %23 = fadd f32 %22, 0.9999 tstore %49[%17], %23 }}\n"
         "    for %24 in 0 .. 64 step 1 lane none { for %25 in 0 .. 4 step 1 serial none {\n"
         "      %26 = imul %25, 64 %27 = iadd %26, %24 %28 = idiv %27, 16 %29 = imod %27, 16 %30 = "
         "imul %28, 24\n"
         "      %31 = iadd %30, %29 %32 = iadd %31, 768 %33 = iadd %28, %3 %34 = imul %33, 16 %35 "
         "= iadd %34, %29\n"
         "      %36 = iadd %35, %5 %37 = load f32 %y[%36] %38 = fadd f32 %37, 0.9999 tstore "
         "%49[%32], %38 }}\n"
         "    barrier\n"
         "    for %39 in 0 .. 2 step 1 warp none { for %40 in 0 .. 2 step 1 unroll none {\n"
         "      %41 = imul %39, 256 %42 = imul %40, 4 %43 = iadd %41, %42 %44 = imul %39, 384 %45 "
         "= imul %40, 8\n"
         "      %46 = iadd %45, 768 mma bf16 %2[%43] by 8, %49[%44] by 24 1, %49[%46] by 1 24 }}}\n"
         "  barrier\n"
         "  %50 = tile f32 512\n"
         "  for %51 in 0 .. 64 step 1 lane none { for %52 in 0 .. 8 step 1 unroll none {\n"
         "    %53 = imul %51, 8 %54 = iadd %53, %52 %55 = tload f32 %2[%54] tstore %50[%54], %55 "
         "}}\n"
         "  barrier\n"
         "  for %56 in 0 .. 64 step 1 lane none { for %57 in 0 .. 8 step 1 serial none {\n"
         "    %58 = imul %57, 64 %59 = iadd %58, %56 %60 = isub 511, %59 %61 = tload f32 %50[%60]\n"
         "    %62 = iadd %5, %59 store %o[%62], %61 }}}}";

/* Two tiles that share memory: where the second begins the loop IR has lanes meet, and where the
 * first does, in the next round, the back end. */
static const char scopes
    [] = "kernel @scopes (sym n, %x: f32[n * 128] read, %o: f32[n * 128] write, %q: f32[n * 128] "
         "write) {\n"
         "for %1 in 0 .. n step 1 block none {\n"
         "  %2 = imul %1, 128\n"
         "  for %3 in 0 .. 128 step 64 serial ordered {\n"
         "    %4 = tile f32 64 %5 = iadd %2, %3\n"
         "    for %6 in 0 .. 64 step 1 lane none { %7 = iadd %5, %6 %8 = load f32 %x[%7] tstore "
         "%4[%6], %8 }\n"
         "    barrier\n"
         "    for %9 in 0 .. 64 step 1 lane none {\n"
         "      %10 = isub 63, %9 %11 = tload f32 %4[%10] %12 = iadd %5, %9 store %o[%12], %11 }\n"
         "    barrier\n"
         "    %13 = tile f32 64\n"
         "    for %14 in 0 .. 64 step 1 lane none {\n"
         "      %15 = iadd %5, %14 %16 = load f32 %x[%15] %17 = fneg f32 %16 tstore %13[%14], %17 "
         "}\n"
         "    barrier\n"
         "    for %18 in 0 .. 64 step 1 lane none {\n"
         "      %19 = isub 63, %18 %20 = tload f32 %13[%19] %21 = iadd %5, %18 store %q[%21], %20 "
         "}}}}";

/* Names that differ in what C has no letters for. */
static const char
    names[] = "kernel @names (sym n, %v1.a: f32[n] read, %v1_a: f32[n] read, %o: f32[n] write) {\n"
              "for %1 in 0 .. n step 1 vector none {\n"
              "  %2 = load f32 %v1.a[%1] %3 = load f32 %v1_a[%1] %4 = fsub f32 %2, %3 store "
              "%o[%1], %4 }}";

typedef struct fair {
    const char *kernel;
    int barriers; /* that stand in its text */
    int first;    /* that the shim misses: shuffles before it order memory there */
} fair;

static const fair as_they_are[] = {
    {turned, 1},    {block, 1},   {left, 1},   {taken, 3},     {rounds, 2},  {written, 2},
    {sometimes, 2}, {perhaps, 2}, {second, 1}, {chunks, 0},    {through, 1}, {twice, 2},
    {over, 2},      {into, 4, 1}, {names, 0},  {fragments, 3}, {pairs, 4},   {scopes, 4}};

typedef struct fault {
    const char *what, *from, *to;
    const char *says; /* the shim's words; NULL: other figures in one of the orders */
} fault;

static const fault of_turned[] = {
    {"no barrier", "__syncwarp(mask);", "", NULL},
    {"a wrong index into the tile", "39 - i", "38 - i", NULL},
    {"a wrong index into memory", "= iteration;", "= iteration / 2;", NULL},
    {"half of the lanes are added up", "gn_reduce_sum_f32(r", "gn_reduce_sum_f32(0.5f * r", NULL},
    {"groups that overlap", "GN_GROUP(", "GN_GROUP(2 * ", NULL},
    {"lanes that stay away", "__syncwarp(mask);", "if (lane) __syncwarp(mask);", "waits for lanes"},
    {"a lane outside of its mask", "__syncwarp(mask);", "__syncwarp(mask & ~1u);",
     "lacks the lane itself"},
    {"more shared memory than there is", "GN_SHARED(", "GN_SHARED(16 + ", "of another size"},
    {"beside the shared memory", "gn_shared + ", "gn_shared + 200 + ", "beside its shared memory"},
    {"a load that is not aligned", "gn_load_float4(", "gn_load_float4(1 + ", "not aligned"},
};

static const fault of_block[] = {
    {"no barrier", "__syncthreads();", "", NULL},
    {"a barrier of some", "__syncthreads();", "if (lane >= 64) __syncthreads();", NULL},
};

static const fault of_fragments[] = {
    {"rows and terms of the left operand", "high * row + low * term", "low * row + high * term",
     NULL},
    {"rows that are not eight apart", "x[1] = a[8 * row]", "x[1] = a[4 * row]", NULL},
    {"terms that are not four apart", "x[2] = a[4 * term]", "x[2] = a[5 * term]", NULL},
    {"a column for a term", "high * col + low * of_b", "low * col + high * of_b", NULL},
    {"one term twice", "y[1] = b[4 * of_b]", "y[1] = b[0]", NULL},
    {"strides in each other's place", ", 20, 1,", ", 1, 20,", NULL},
    {"another fragment's sums", " * 4], tile", " * 0], tile", NULL},
    {"operands that are not rounded", "= gn_round_tf32(", "= (", "that is not rounded"},
    {"a lane that stays away", "gn_mma_tf32(&tile", "if (lane % 32) gn_mma_tf32(&tile",
     "waits for lanes"},
};

static const fault of_pairs[] = {
    {"rows that are not eight apart", "x[1] = gn_pair(a + 8 * row", "x[1] = gn_pair(a + 4 * row",
     NULL},
    {"terms that are not eight apart", "x[2] = gn_pair(a + 8 * term", "x[2] = gn_pair(a + 6 * term",
     NULL},
    {"one pair twice", "y[1] = gn_pair(b + 8 * of_b", "y[1] = gn_pair(b", NULL},
    {"lanes that have terms in common", "threadIdx.x % 4 * 2;", "threadIdx.x % 4 / 2 * 2;", NULL},
    {"a pair the wrong way round", "p[0] | (gn_u32)p[term] << 16", "p[term] | (gn_u32)p[0] << 16",
     NULL},
    {"a pair that is not aligned", "gn_pair(a, term)", "gn_pair(a + 1, term)", "not aligned"},
    {"another kind", "gn_mma_bf16(&tile", "gn_mma_f16(&tile", NULL},
    {"operands that are cut off", "(w + 0x7fff + (w >> 16 & 1)) >> 16", "w >> 16", NULL},
    {"another place in shared memory", "(shared + 0)", "(shared + 64)", "beside its shared memory"},
    {"a lane that stays away", "gn_mma_bf16(&tile", "if (lane % 32) gn_mma_bf16(&tile",
     "waits for lanes"},
};

/* In the kernel, or in what stands before all of them. */
static const char *planted(const char *text, const fault *f)
{
    bool here = strstr(text, f->from) != NULL;
    ck_assert_msg(here || strstr(gn_cuda_prelude(), f->from), "%s: no `%s` in\n%s", f->what,
                  f->from, text);
    if (!here)
        return gn_arena_printf(&arena, "%s%s",
                               text_replaced(&arena, gn_cuda_prelude(), f->from, f->to), text);
    text = text_replaced(&arena, text, f->from, f->to);
    return gn_arena_printf(&arena, "%s%s", gn_cuda_prelude(), text);
}

/* Does the kernel give the evaluator's figures in that order?  *wrong: what the shim says. */
static bool is_right(cuda_host *h, const kir_kernel *k, cuda_order order, char *wrong, size_t n)
{
    int64_t rows = ROWS;
    kir_bound_buffer want[BUFFERS];
    void *buf[BUFFERS];
    bool same = true;
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        int64_t elems = k->buffers.p[b].size.coef * rows;
        want[b] = (kir_bound_buffer){gn_arena_alloc(&arena, (size_t)elems, 4), elems};
        buf[b] = gn_arena_alloc(&arena, (size_t)elems + 16, 4);
        for (int64_t i = 0; i < elems; i++)
            ((float *)want[b].data)[i] = ((float *)buf[b])[i] = (float)((i + 7 * (int)b) % 101);
    }
    succeeded(kir_eval(k, NULL, want, &rows), "evaluator");
    gn_status *s = cuda_host_launch(h, 0, buf, NULL, &rows, rows, order, 3);
    snprintf(wrong, n, "%s", gn_status_message(s));
    for (uint32_t b = 0; b < k->buffers.n; b++)
        same = same && !memcmp(buf[b], want[b].data, (size_t)want[b].elems * 4);
    same = same && !s;
    gn_status_free(s);
    return same;
}

/* In how many orders is it right, with a fault or (NULL) without?  *said: in how many the shim says
 * so. */
static int right_orders(const kir_kernel *k, const char *text, const gn_cuda_geometry *geometry,
                        const fault *f, int *said, char *wrong, size_t n)
{
    cuda_host *h;
    gn_buf all = {.arena = &arena};
    int right = 0;
    *said = 0;
    if (!f)
        gn_buf_printf(&all, "%s%s", gn_cuda_prelude(), text);
    else
        gn_buf_add(&all, planted(text, f));
    succeeded(cuda_host_text(1, &k, all.p, geometry, &h), all.p);
    for (int order = 0; order < 3; order++) {
        right += is_right(h, k, (cuda_order)order, wrong, n);
        *said += f && f->says && strstr(wrong, f->says);
    }
    cuda_host_free(h);
    return right;
}

static const char *text_of(const kir_kernel *k, gn_cuda_geometry *geometry)
{
    gn_buf one = {.arena = &arena};
    succeeded(gn_cuda_kernel(k, "gn_kernel_0", NULL, &one, geometry), k->name);
    ck_assert_int_gt(geometry->group, 1);
    return one.p;
}

static void check(const char *kernel, const fault *f)
{
    const kir_kernel *k = verified(kernel);
    gn_cuda_geometry geometry;
    char wrong[200];
    int said;
    const char *text = text_of(k, &geometry);
    int right = right_orders(k, text, &geometry, f, &said, wrong, sizeof wrong);
    ck_assert_msg(right < 3 && (!f->says || said), "%s is not seen, or not as such: %s\n%s",
                  f->what, wrong, text);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) n++;
    return n;
}

/* Right in all orders; with each of its barriers taken out, one by one, wrong in some. */
START_TEST(as_it_is)
{
    static const char barrier[] = "    __sync";
    const fair *r = &as_they_are[_i];
    const kir_kernel *k = verified(r->kernel);
    gn_cuda_geometry geometry;
    char wrong[200];
    int said;
    const char *text = text_of(k, &geometry);
    int right = right_orders(k, text, &geometry, NULL, &said, wrong, sizeof wrong);
    ck_assert_msg(right == 3, "%d of 3 orders are right: %s\n%s", right, wrong, text);
    ck_assert_msg(count(text, barrier) == r->barriers, "%d barriers, not %d\n%s",
                  count(text, barrier), r->barriers, text);
    char *less = gn_arena_strdup(&arena, text);
    int number = 0;
    for (char *at = strstr(less, barrier); at; at = strstr(at + 1, barrier)) {
        if (number++ < r->first) continue;
        memcpy(at, "    // ", 7);
        right = right_orders(k, less, &geometry, NULL, &said, wrong, sizeof wrong);
        ck_assert_msg(right < 3, "a barrier that is not needed\n%s", less);
        memcpy(at, barrier, 7);
    }
}
END_TEST

START_TEST(in_groups) { check(turned, &of_turned[_i]); }
END_TEST

START_TEST(in_blocks) { check(block, &of_block[_i]); }
END_TEST

START_TEST(in_fragments) { check(fragments, &of_fragments[_i]); }
END_TEST

START_TEST(in_pairs) { check(pairs, &of_pairs[_i]); }
END_TEST

/* What is written over another buffer, wholly or in part. */
START_TEST(overlap)
{
    static float memory[2 * ROWS * 40 + 4], sums[ROWS];
    static const int beside[] = {0, 4, ROWS * 40 - 4, ROWS * 40};
    const kir_kernel *k = verified(turned);
    const int64_t n = ROWS;
    cuda_host *h;
    void *buffers[] = {memory, memory + beside[_i], sums};
    const size_t bytes[] = {sizeof *memory * ROWS * 40, sizeof *memory * ROWS * 40, sizeof sums};
    succeeded(cuda_host_compile(1, &k, &h), turned);
    gn_status *s = cuda_host_launch(h, 0, buffers, _i ? bytes : NULL, &n, n, CUDA_UP, 1);
    ck_assert_msg(beside[_i] == ROWS * 40 ? !s
                                          : s && strstr(gn_status_message(s), "overlaps buffer 0"),
                  "%s", gn_status_message(s));
    gn_status_free(s);
    cuda_host_free(h);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("faults");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, as_it_is, 0, sizeof as_they_are / sizeof *as_they_are);
    tcase_add_loop_test(c, in_groups, 0, sizeof of_turned / sizeof *of_turned);
    tcase_add_loop_test(c, in_blocks, 0, sizeof of_block / sizeof *of_block);
    tcase_add_loop_test(c, in_fragments, 0, sizeof of_fragments / sizeof *of_fragments);
    tcase_add_loop_test(c, in_pairs, 0, sizeof of_pairs / sizeof *of_pairs);
    tcase_add_loop_test(c, overlap, 0, 4);
    return run_tests(c, "CUDA shim");
}
