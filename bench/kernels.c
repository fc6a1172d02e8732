/* How good is the code of the CPU back end?  Hot loops as the lowering writes them, compiled by
 * gnnc, beside the same loops written by hand with vector types in this file.  One thread, the
 * fastest tenth of the times (machines are shared); prints a table.
 *
 *   clang -O3 -march=native -ffp-contract=off -Isrc -I. bench/kernels.c
 *   <build>/libgnnc_{codegen,runtime,ir,base}.a <LLVM> -lm
 *
 * `kernels <name>` runs rows whose name begins so; `kernels <name> asm` prints the code instead. */
#include "base/clock.h"
#include "base/draw.h"
#include "base/philox.h"
#include "codegen/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef float v16 __attribute__((vector_size(64), aligned(4)));

static gn_arena arena;
static const char *wanted = "";
static bool show_asm;

static double now(void) { return (double)gn_now_ns() * 1e-9; }

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct work {
    gn_kernel_fn fn;
    void (*hand)(void *const *buf, int64_t n);
    void **buf;
    const int64_t *sym;
    int64_t trips, n;
} work;

static double quantile(const work *w, bool by_hand, double seconds)
{
    enum { MAX = 400 };
    double t[MAX], begin = now();
    int n = 0;
    while (n < MAX && (n < 7 || now() - begin < seconds)) {
        double t0 = now();
        if (by_hand)
            w->hand(w->buf, w->n);
        else
            w->fn(w->buf, w->sym, 0, w->trips);
        t[n++] = now() - t0;
    }
    qsort(t, (size_t)n, sizeof *t, by_value);
    return t[n / 10];
}

/* Replaces # by `f` and $ by `g`. */
static const char *fill_in(const char *text, int64_t f, int64_t g)
{
    gn_buf b = {.arena = &arena};
    for (; *text; text++) {
        if (*text == '#')
            gn_buf_printf(&b, "%lld", (long long)f);
        else if (*text == '$')
            gn_buf_printf(&b, "%lld", (long long)g);
        else
            gn_buf_addn(&b, text, 1);
    }
    return b.p;
}

static void stop(gn_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gn_status_message(s));
    exit(1);
}

/* `amount` of work a run, in `unit`s: 1e9 of them a second are printed. */
static void race(const char *name, const char *text, work w, double amount, const char *unit,
                 const float *out, int64_t n_out)
{
    kir_kernel *k = NULL;
    gn_image *image = NULL;
    gn_codegen_stats stats = {0};
    if (strncmp(name, wanted, strlen(wanted)) != 0) return;
    stop(kir_parse(&arena, text, strlen(text), name, &k));
    stop(kir_verify(k));
    const kir_kernel *one = k;
    if (show_asm) {
        gn_buf b = {.arena = &arena};
        stop(gn_cpu_emit(&one, 1, NULL, GN_EMIT_ASM, &b));
        puts(b.p);
        return;
    }
    stop(gn_cpu_compile(&one, 1, NULL, &image, &stats));
    w.fn = gn_image_kernel(image, 0);
    double worst = 0, mine = 0, hand = 0;
    if (w.hand) {
        w.hand(w.buf, w.n);
        float *keep = malloc((size_t)n_out * sizeof *keep);
        memcpy(keep, out, (size_t)n_out * sizeof *keep);
        w.fn(w.buf, w.sym, 0, w.trips);
        for (int64_t i = 0; i < n_out; i++)
            worst = fmax(worst,
                         fabs((double)keep[i] - (double)out[i]) / (1 + fabs((double)keep[i])));
        free(keep);
    }
    for (int turn = 0; turn < 3; turn++) { /* in turns: the machine's clock drifts */
        double a = quantile(&w, false, 0.3), b = w.hand ? quantile(&w, true, 0.3) : 0;
        if (!turn || a < mine) mine = a;
        if (!turn || b < hand) hand = b;
    }
    printf("%-26s %10.1f us %8.2f G%s", name, mine * 1e6, amount / mine * 1e-9, unit);
    if (w.hand)
        printf("   by hand %10.1f us, ratio %.2f, differ by %.1e", hand * 1e6, mine / hand, worst);
    printf("   (compiled in %.1f ms, %lld bytes)\n",
           stats.build_ms + stats.optimise_ms + stats.emit_ms + stats.load_ms,
           (long long)stats.code_bytes);
    gn_image_free(image);
}

static float *floats(int64_t n)
{
    float *p = aligned_alloc(64, (size_t)(n * 4 + 63) / 64 * 64);
    for (int64_t i = 0; i < n; i++) p[i] = (float)((i * 2654435761u >> 8) % 1000) * 0.001f - 0.5f;
    return p;
}

/* SpMM ----------------------------------------------------------------------------------------- */

static const char
    spmm_text[] = "kernel @spmm (sym node, sym edge, %rowptr: i32[node + 1] read, %col: i32[edge] "
                  "read, %w: f32[edge] read,\n"
                  "              %h: f32[node * #] read, %out: f32[node * #] write) {\n"
                  "  for %1 in 0 .. node step 1 thread none {\n"
                  "    %2 = tile f32 #\n"
                  "    for %3 in 0 .. # step 1 vector none { tstore %2[%3], 0.0 }\n"
                  "    %4 = load i64 %rowptr[%1] %5 = iadd %1, 1 %6 = load i64 %rowptr[%5]\n"
                  "    for %7 in %4 .. %6 step 1 serial ordered {\n"
                  "      %8 = load i64 %col[%7] %9 = imul %8, # %17 = load f32 %w[%7]\n"
                  "      for %10 in 0 .. # step 1 vector none {\n"
                  "        %11 = iadd %9, %10 %12 = load f32 %h[%11] tfma %2[%10], %17, %12\n"
                  "      }\n    }\n"
                  "    %13 = imul %1, #\n"
                  "    for %14 in 0 .. # step 1 vector none {\n"
                  "      %15 = iadd %13, %14 %16 = tload f32 %2[%14] store %out[%15], %16\n"
                  "    }\n  }\n}\n";

#define SPMM(F)                                                                                    \
    static void spmm_##F(void *const *buf, int64_t n)                                              \
    {                                                                                              \
        const int32_t *rowptr = buf[0], *col = buf[1];                                             \
        const float *w = buf[2], *h = buf[3];                                                      \
        float *restrict out = buf[4];                                                              \
        for (int64_t r = 0; r < n; r++) {                                                          \
            v16 a[F / 16] = {0};                                                                   \
            for (int32_t e = rowptr[r]; e < rowptr[r + 1]; e++) {                                  \
                const v16 *x = (const v16 *)(h + (int64_t)col[e] * F), s = w[e] - (v16){0};        \
                for (int j = 0; j < F / 16; j++) a[j] = __builtin_elementwise_fma(s, x[j], a[j]);  \
            }                                                                                      \
            for (int j = 0; j < F / 16; j++) ((v16 *)(out + r * F))[j] = a[j];                     \
        }                                                                                          \
    }
SPMM(16)
SPMM(64)
SPMM(256)

static void race_spmm(const char *name, int64_t nodes, int64_t edges, int f,
                      void (*hand)(void *const *, int64_t))
{
    int32_t *rowptr = calloc((size_t)nodes + 1, 4), *col = malloc((size_t)edges * 4);
    uint32_t seed = 1;
    for (int64_t e = 0; e < edges; e++) {
        seed = seed * 1664525u + 1013904223u;
        rowptr[(seed >> 8) % nodes + 1]++;
    }
    for (int64_t r = 0; r < nodes; r++) rowptr[r + 1] += rowptr[r];
    for (int64_t e = 0; e < edges; e++) {
        seed = seed * 1664525u + 1013904223u;
        col[e] = (int32_t)((seed >> 8) % nodes);
    }
    float *w = floats(edges), *h = floats(nodes * f), *out = floats(nodes * f);
    void *buf[] = {rowptr, col, w, h, out};
    int64_t sym[] = {nodes, edges};
    work k = {.hand = hand, .buf = buf, .sym = sym, .trips = nodes, .n = nodes};
    race(name, fill_in(spmm_text, f, 0), k, 2.0 * (double)edges * f, "flop/s", out, nodes * f);
    free(rowptr), free(col), free(w), free(h), free(out);
}

/* GEMM: tiles of rows x 16 or rows x 64 -------------------------------------------------------- */

static const char gemm_text
    [] = "kernel @gemm (sym m, %a: f32[m * #] read, %b: f32[$] read, %c: f32[m * COLS] write) {\n"
         "  for %1 in 0 .. m step ROWS thread none {\n"
         "    for %30 in 0 .. COLS step TILE serial none {\n"
         "    %2 = tile f32 AREA\n"
         "    for %3 in 0 .. AREA step 1 vector none { tstore %2[%3], 0.0 }\n"
         "    for %4 in 0 .. # step 1 serial reduce {\n"
         "      for %6 in 0 .. ROWS step 1 unroll none {\n"
         "        %7 = iadd %1, %6 %8 = imul %7, # %9 = iadd %8, %4 %10 = load f32 %a[%9]\n"
         "        for %12 in 0 .. TILE step 1 vector none {\n"
         "          %5 = imul %4, COLS %31 = iadd %30, %12 %13 = iadd %5, %31 %14 = load f32 "
         "%b[%13]\n"
         "          %11 = imul %6, TILE %15 = iadd %11, %12 tfma %2[%15], %10, %14\n"
         "        }\n      }\n    }\n"
         "    for %16 in 0 .. ROWS step 1 unroll none {\n"
         "      for %20 in 0 .. TILE step 1 vector none {\n"
         "        %17 = iadd %1, %16 %18 = imul %17, COLS %19 = imul %16, TILE %32 = iadd %30, "
         "%20\n"
         "        %21 = iadd %19, %20 %22 = tload f32 %2[%21] %23 = iadd %18, %32 store %c[%23], "
         "%22\n"
         "      }\n    }\n    }\n  }\n}\n";

#define GEMM(NAME, K, N, ROWS, TILE)                                                               \
    static void NAME(void *const *buf, int64_t m)                                                  \
    {                                                                                              \
        const float *a = buf[0], *b = buf[1];                                                      \
        float *restrict c = buf[2];                                                                \
        for (int64_t i = 0; i < m; i += ROWS)                                                      \
            for (int64_t j0 = 0; j0 < N; j0 += TILE) {                                             \
                v16 t[ROWS][TILE / 16] = {0};                                                      \
                for (int64_t k = 0; k < K; k++)                                                    \
                    _Pragma("clang loop unroll(full)") for (int r = 0; r < ROWS; r++)              \
                        _Pragma("clang loop unroll(full)") for (int j = 0; j < TILE / 16; j++)     \
                            t[r][j] = __builtin_elementwise_fma(                                   \
                                a[(i + r) * K + k] - (v16){0},                                     \
                                *(const v16 *)(b + k * N + j0 + j * 16), t[r][j]);                 \
                _Pragma("clang loop unroll(full)") for (int r = 0; r < ROWS; r++)                  \
                        _Pragma("clang loop unroll(full)") for (int j = 0; j < TILE / 16; j++) *   \
                    (v16 *)(c + (i + r) * N + j0 + j * 16) = t[r][j];                              \
            }                                                                                      \
    }
GEMM(gemm_cora, 1433, 16, 24, 16)
GEMM(gemm_wide, 128, 256, 6, 64)

static const char *replace(const char *text, const char *from, int64_t to)
{
    gn_buf b = {.arena = &arena};
    size_t n = strlen(from);
    while (*text) {
        if (!strncmp(text, from, n)) {
            gn_buf_printf(&b, "%lld", (long long)to);
            text += n;
        } else {
            gn_buf_addn(&b, text++, 1);
        }
    }
    return b.p;
}

static void race_gemm(const char *name, int64_t m, int64_t k, int64_t n, int rows, int tile,
                      void (*hand)(void *const *, int64_t))
{
    m = m / rows * rows; /* edges are other kernels */
    float *a = floats(m * k), *b = floats(k * n), *c = floats(m * n);
    void *buf[] = {a, b, c};
    const char *t = replace(gemm_text, "ROWS", rows);
    t = replace(t, "TILE", tile);
    t = replace(t, "AREA", (int64_t)rows * tile);
    t = fill_in(replace(t, "COLS", n), k, k * n);
    work w = {.hand = hand, .buf = buf, .sym = &m, .trips = m / rows, .n = m};
    race(name, t, w, 2.0 * (double)m * (double)k * (double)n, "flop/s", c, m * n);
    free(a), free(b), free(c);
}

/* Elementwise ---------------------------------------------------------------------------------- */

static const char triad_text
    [] = "kernel @triad (sym n, %x: f32[n] read, %y: f32[n] read, %o: f32[n] write) {\n"
         "for %1 in 0 .. n step 1 vector none { %2 = load f32 %x[%1] %3 = load f32 %y[%1]\n"
         "%4 = fma f32 %2, 3.0, %3 store %o[%1], %4 }}";

static void triad(void *const *buf, int64_t n)
{
    const float *x = buf[0], *y = buf[1];
    float *restrict o = buf[2];
    for (int64_t i = 0; i < n; i++) o[i] = __builtin_fmaf(x[i], 3.0f, y[i]);
}

static const char
    map_text[] = "kernel @map (sym n, %x: f32[n] read, %y: f32[n] read, %o: f32[n] write) {\n"
                 "for %1 in 0 .. n step 1 vector none { %2 = load f32 %x[%1] %4 = OP f32 %2 store "
                 "%o[%1], %4 }}";

static const char random_text
    [] = "kernel @draw (sym n, %x: f32[n] read, %y: f32[n] read, %o: f32[n] write) {\n"
         "for %1 in 0 .. n step 1 vector none { %4 = random 1234567, %1 site 3 store %o[%1], %4 }}";
static const char
    random_rows_text[] = "kernel @draw (sym n, %x: f32[n * 1433] read, %y: f32[n] read, %o: f32[n "
                         "* 1433] write) {\n"
                         "for %2 in 0 .. n step 1 thread none { %3 = imul %2, 1433 for %1 in 0 .. "
                         "1433 step 1 vector none {\n"
                         "%5 = iadd %3, %1 %4 = random 1234567, %5 site 3 store %o[%5], %4 }}}";

static void draw(void *const *buf, int64_t n)
{
    float *restrict o = buf[2];
    for (int64_t i = 0; i < n; i++) o[i] = gn_draw_uniform(1234567, 3, (uint64_t)i);
}

static void race_flat(const char *name, const char *text, int64_t n, int64_t rows, double amount,
                      const char *unit, void (*hand)(void *const *, int64_t))
{
    float *x = floats(n), *y = floats(n), *o = floats(n);
    void *buf[] = {x, y, o};
    int64_t sym = rows ? rows : n;
    work w = {.hand = hand, .buf = buf, .sym = &sym, .trips = rows ? rows : 1, .n = n};
    race(name, text, w, amount, unit, o, n);
    free(x), free(y), free(o);
}

int main(int argc, char **argv)
{
    if (argc > 1) wanted = argv[1];
    show_asm = argc > 2 && !strcmp(argv[2], "asm");
    gn_arena_init(&arena);
    printf("%s\n", gn_cpu_name());
    race_spmm("spmm 16, Cora's shape", 2708, 13264, 16, spmm_16);
    race_spmm("spmm 64, 50k nodes", 50000, 750000, 64, spmm_64);
    race_spmm("spmm 256, 50k nodes", 50000, 750000, 256, spmm_256);
    race_spmm("spmm 7, Cora's shape", 2708, 13264, 7, NULL);
    race_gemm("gemm 2708x1433x16", 2708, 1433, 16, 24, 16, gemm_cora);
    race_gemm("gemm 20000x128x256", 20000, 128, 256, 6, 64, gemm_wide);
    race_flat("triad, L1", triad_text, 2000, 0, 2000 * 12.0, "B/s", triad);
    race_flat("triad, memory", triad_text, 20000000, 0, 20000000 * 12.0, "B/s", triad);
    static const char *const op[] = {"exp", "expm1", "log", "tanh", "erf", "sin"};
    for (int i = 0; i < 6; i++) {
        const char *at = strstr(map_text, "OP");
        race_flat(
            op[i],
            gn_arena_printf(&arena, "%.*s%s%s", (int)(at - map_text), map_text, op[i], at + 2),
            4000, 0, 4000, "/s", NULL);
    }
    race_flat("random, flat", random_text, 4000, 0, 4000, "/s", draw);
    race_flat("random, rows of 1433", random_rows_text, 1433 * 4, 4, 1433 * 4, "/s", NULL);
    gn_arena_free(&arena);
    return 0;
}
