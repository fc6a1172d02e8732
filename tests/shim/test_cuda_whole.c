/* links: codegen runtime ir base */
/* Programs in one kernel: phases that go through in every order of blocks and threads, and what is
 * missed when blocks do not meet where they must, or the meeting itself is wrong. */
#include "support/cuda_host.h"
#include "support/gir_text.h"
#include "unit/kir_test.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, BLOCKS = 3, BUFFERS = 5, PHASES = 4 };

/* a: each row turned round by way of a tile that a group of a block shares, several groups a
 * block. */
static const char
    turned[] = "kernel @turned (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write) {\n"
               "for %1 in 0 .. n step 1 thread none {\n"
               "  %2 = tile f32 40 %3 = imul %1, 40\n"
               "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] "
               "tstore %2[%4], %6 }\n"
               "  for %7 in 0 .. 40 step 1 vector none {\n"
               "    %8 = isub 39, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}}";

/* b: rows of a in the opposite order, by blocks of fewer lanes than the kernel has. */
static const char block
    [] = "kernel @block (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write) {\n"
         "for %1 in 0 .. n step 1 block none {\n"
         "  %2 = tile f32 64 %3 = isub n, %1 %4 = isub %3, 1 %5 = imul %4, 40 %6 = imul %1, 40\n"
         "  for %7 in 0 .. 64 step 1 lane none { %8 = imin %7, 39 %9 = iadd %5, %8 %10 = load f32 "
         "%x[%9] tstore %2[%7], %10 }\n"
         "  barrier\n"
         "  for %11 in 0 .. 64 step 1 lane none {\n"
         "    %12 = isub 63, %11 %13 = imin %12, 39 %14 = tload f32 %2[%13] %15 = ilt %11, 40\n"
         "    if %15 { %16 = iadd %6, %11 store %o[%16], %14 }}}}";

/* The sum of a matrix, by a group of more than a warp. */
static const char
    sum[] = "kernel @sum (sym n, %x: f32[n * 40] read, %o: f32[1] write) {\n"
            "  %1 = tile f32 1 tstore %1[0], 0.0 %2 = imul n, 40\n"
            "  for %3 in 0 .. %2 step 1 vector reduce { %4 = load f32 %x[%3] tacc sum %1[0], %4 }\n"
            "  %5 = tload f32 %1[0] store %o[0], %5 }";

static const int x_a[] = {0, 1}, a_b[] = {1, 2}, b_s[] = {2, 3}, a_c[] = {4, 1}, n[] = {0},
                 bytes[] = {1};

/* a from x; b from a; the sum of b; c, a copy of a. */
static gn_cuda_whole program(gn_cuda_phase *p)
{
    p[0] = (gn_cuda_phase){verified(turned), "where it\ncomes from", 0, x_a, n};
    p[1] = (gn_cuda_phase){verified(block), NULL, 1, a_b, n};
    p[2] = (gn_cuda_phase){verified(sum), NULL, 2, b_s, n};
    p[3] = (gn_cuda_phase){NULL, NULL, 3, a_c, bytes};
    return (gn_cuda_whole){PHASES, BUFFERS, 2, p};
}

static float x[ROWS * 40], a[ROWS * 40], b[ROWS * 40], c[ROWS * 40], total[1];

static const int64_t turns[PHASES] = {GN_CUDA_TURN(1, 0, 0), GN_CUDA_TURN(1, 1, 0),
                                      GN_CUDA_TURN(1, 1, 2), GN_CUDA_TURN(1, 0, 1)};

static float of_x(int row, int col) { return (float)(row * 40 + col); }

static bool is_right(void)
{
    float all = 0;
    bool right = true;
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < 40; k++) {
            float want = of_x(r, 39 - k),
                  back = of_x(ROWS - 1 - r, 39 - (63 - k < 39 ? 63 - k : 39));
            right = right && a[r * 40 + k] == want && c[r * 40 + k] == want &&
                    b[r * 40 + k] == back;
            all += back;
        }
    return right && total[0] == all;
}

/* Runs it twice, since a launch leaves the word where blocks meet to the next one.  The shim's
 * words in `wrong`. */
static bool runs(cuda_host *h, const int64_t *turn, int64_t blocks, cuda_order order, uint64_t seed,
                 char *wrong, size_t size)
{
    void *buffers[] = {x, a, b, total, c};
    int64_t integers[2 + PHASES] = {ROWS, sizeof a};
    uint32_t gate = 0;
    bool right = true;
    for (int k = 0; k < PHASES; k++)
        integers[2 + k] = (turn[k] & 3) | turn[k] / 4 % blocks * 4; /* a block there is */
    for (int k = 0; k < ROWS * 40; k++) x[k] = (float)k;
    for (int k = 0; k < 2 && right; k++) {
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        memset(c, 0, sizeof c);
        *total = 0;
        gn_status *s = cuda_host_launch_whole(h, buffers, integers, &gate, blocks, order,
                                              seed + (uint64_t)k);
        snprintf(wrong, size, "%s", s ? gn_status_message(s) : "other figures");
        right = !s && is_right();
        gn_status_free(s);
    }
    return right;
}

enum { TRIES = 4 }; /* ascending, descending, and two seeds */

static int right_tries(cuda_host *h, const int64_t *turn, int64_t blocks, char *wrong, size_t size)
{
    static const cuda_order orders[TRIES] = {CUDA_UP, CUDA_DOWN, CUDA_SEEDED, CUDA_SEEDED};
    int right = 0;
    char said[200];
    for (int k = 0; k < TRIES; k++) {
        bool good = runs(h, turn, blocks, orders[k], (uint64_t)(10 * k), said, sizeof said);
        right += good;
        if (!good) snprintf(wrong, size, "%s", said);
    }
    return right;
}

static const char *text_of(const gn_cuda_whole *w, gn_cuda_geometry *g)
{
    gn_buf out = {.arena = &arena};
    succeeded(gn_cuda_whole_source(w, &out, g), "whole");
    return out.p;
}

/* The program with `from` replaced by `to` (NULL: as it is), on the shim; its text and geometry. */
static cuda_host *made(const char *from, const char *to, const char **text, gn_cuda_geometry *g)
{
    gn_cuda_phase p[PHASES];
    gn_cuda_whole w = program(p);
    cuda_host *h;
    *text = text_of(&w, g);
    if (from) {
        ck_assert_msg(strstr(*text, from) != NULL, "no `%s` in\n%s", from, *text);
        *text = text_replaced(&arena, *text, from, to);
    }
    succeeded(cuda_host_whole_text(&w, *text, g, &h), *text);
    return h;
}

/* Any number of blocks, and each dependence that no meeting stands for. */
START_TEST(meetings)
{
    gn_cuda_geometry g[1 + PHASES];
    char wrong[200] = "";
    const char *text;
    cuda_host *h = made(NULL, NULL, &text, g);
    ck_assert_int_eq(g[0].threads, 256);
    ck_assert_int_gt(g[1].per_block, 1);
    ck_assert_int_eq(g[2].group, 64); /* of 256: the others stay away */
    ck_assert_int_gt(g[3].group, 32);
    for (int64_t blocks = 1; blocks <= 4; blocks++)
        ck_assert_msg(right_tries(h, turns, blocks, wrong, sizeof wrong) == TRIES,
                      "%d blocks: %s\n%s", (int)blocks, wrong, text);
    for (int k = 0; k < PHASES; k++) {
        int64_t less[PHASES];
        memcpy(less, turns, sizeof less);
        if (!(less[k] & 2)) continue;
        less[k] &= ~(int64_t)2;
        ck_assert_msg(right_tries(h, less, BLOCKS, wrong, sizeof wrong) < TRIES,
                      "nobody need meet before %d", k);
    }
    const int64_t none[PHASES] = {0, 0, 0, GN_CUDA_TURN(1, 0, 0)};
    ck_assert(!runs(h, none, BLOCKS, CUDA_UP, 0, wrong, sizeof wrong));
    ck_assert(c[5] == 0 && a[5] == 0 && b[5] == 0); /* of four phases the copy alone was run */
    cuda_host_free(h);
}
END_TEST

static const struct {
    const char *what, *from, *to, *says;
} faults[] = {
    {"one who is not waited for", "0x80000000u - (gridDim.x - 1) : 1u",
     "0x80000000u - (gridDim.x - 2) : 1u", NULL},
    {"one too many is waited for", "0x80000000u - (gridDim.x - 1) : 1u",
     "0x80000000u - gridDim.x : 1u", "for ever"},
    {"a meeting that never turns", "blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u", "1u",
     "for ever"},
    {"a block that leaves before its threads are through",
     "{\n    __syncthreads();\n    if (threadIdx.x == 0) {", "{\n    if (threadIdx.x == 0) {",
     NULL},
    {"threads that do not wait for the one that waits",
     "        __threadfence();\n    }\n    __syncthreads();\n}",
     "        __threadfence();\n    }\n}", NULL},
    {"rounds that overlap in shared memory", "        GN_SYNC(64);\n    }\n", "    }\n", NULL},
    {"a block's lanes do not meet", "        GN_SYNC(64);\n", "", NULL},
    {"more lanes than stay", "        GN_SYNC(64);\n", "        GN_SYNC(96);\n", "waits"},
    {"a group's lanes do not meet", "__syncwarp(mask);", "", NULL},
    {"a round too few", "gridDim.x * ", "gridDim.x * 2 * ", NULL},
    {"lanes that stay and should not", "if (threadIdx.x >= 64) return;", "", NULL},
    {"blocks count from another", "block - first + (int)gridDim.x", "block + (int)gridDim.x", NULL},
    {"a part of a copy", "for (gn_i64 w = k; w < words; w += all)",
     "for (gn_i64 w = k; w < words; w += 2 * all)", NULL},
};

START_TEST(fault)
{
    gn_cuda_geometry g[1 + PHASES];
    char wrong[200] = "";
    const char *text;
    cuda_host *h = made(faults[_i].from, faults[_i].to, &text, g);
    int right = right_tries(h, turns, BLOCKS, wrong, sizeof wrong);
    ck_assert_msg(right < TRIES, "%s is not seen\n%s", faults[_i].what, text);
    if (faults[_i].says)
        ck_assert_msg(strstr(wrong, faults[_i].says) != NULL, "%s: %s", faults[_i].what, wrong);
    cuda_host_free(h);
}
END_TEST

/* Functions divided among programs, each in one of them, the kernel in the first: the same figures,
 * whichever is where. */
START_TEST(pieces)
{
    static const int of[][PHASES] = {{0, 1, 0, 0}, {1, 0, 1, 0}, {1, 1, 1, 0}, {2, 1, 0, 0}};
    gn_cuda_phase p[PHASES];
    gn_cuda_whole w = program(p);
    gn_cuda_geometry g[1 + PHASES], whole[1 + PHASES];
    gn_cuda_division d = {_i == 3 ? 3 : 2, of[_i], NULL};
    char wrong[200] = "";
    gn_buf all = {.arena = &arena};
    cuda_host *h;
    (void)text_of(&w, whole);
    for (int k = 0; k < d.n; k++) {
        gn_buf one = {.arena = &arena};
        succeeded(gn_cuda_piece_source(&w, &d, k, &one, g), "piece");
        ck_assert_mem_eq(g, whole, sizeof g);
        ck_assert((strstr(one.p, "gn_kernel_0(") != NULL) == (k == 0));
        for (int i = 0; i < PHASES - 1; i++) {
            const char *body = gn_arena_printf(&arena, "GN_PHASE gn_phase_%d(const int block", i);
            ck_assert((strstr(one.p, body) != NULL) == (d.of[i] == k));
        }
        gn_buf_printf(&all, "%s%s", k ? (char[]){CUDA_HOST_PIECE, 0} : "", one.p);
    }
    succeeded(cuda_host_whole_text(&w, all.p, g, &h), all.p);
    ck_assert_msg(right_tries(h, turns, BLOCKS, wrong, sizeof wrong) == TRIES, "%s\n%s", wrong,
                  all.p);
    cuda_host_free(h);
}
END_TEST

/* Functions of another program, which has other numbers for them, one that this program has for its
 * own, too. */
START_TEST(borrowed)
{
    static const int of[][PHASES] = {{1, 1, 0, 0}, {0, 1, 0, 0}}, name[PHASES] = {1, 0, 0, 0},
                     all_of[] = {1, 1};
    gn_cuda_phase p[PHASES];
    gn_cuda_whole w = program(p), lender = w;
    gn_cuda_phase q[] = {p[1], p[0]};
    gn_cuda_geometry g[1 + PHASES], other[1 + PHASES];
    char wrong[200] = "";
    gn_buf text = {.arena = &arena}, piece = {.arena = &arena};
    cuda_host *h;
    q[0].same = 0, q[1].same = 1;
    lender.n = 2;
    lender.phase = q;
    succeeded(gn_cuda_piece_source(&w, &(gn_cuda_division){2, of[_i], name}, 0, &text, g),
              "borrower");
    succeeded(gn_cuda_piece_source(&lender, &(gn_cuda_division){2, all_of, NULL}, 1, &piece, other),
              "lender");
    gn_buf_printf(&text, "%c%s", CUDA_HOST_PIECE, piece.p);
    succeeded(cuda_host_whole_text(&w, text.p, g, &h), text.p);
    ck_assert_msg(right_tries(h, turns, BLOCKS, wrong, sizeof wrong) == TRIES, "%s\n%s", wrong,
                  text.p);
    cuda_host_free(h);
}
END_TEST

/* Phases that differ in names alone share a function. */
START_TEST(shared_code)
{
    gn_cuda_phase p[PHASES];
    gn_cuda_whole w = program(p);
    gn_cuda_geometry g[1 + PHASES];
    p[3] = (gn_cuda_phase){p[0].kernel, NULL, 0, a_c, n};
    const char *text = text_of(&w, g);
    ck_assert_ptr_null(strstr(text, "GN_PHASE gn_phase_3("));
    ck_assert_ptr_nonnull(
        strstr(text, "gn_begins(all.of[10], gate)) >= 0) gn_phase_0(block, (float *)all.of[4], "
                     "(float *)all.of[1], (gn_i64)all.of[5]); // turned"));
    ck_assert_int_eq(g[4].per_block, g[1].per_block);
    p[0].kernel = p[1].kernel; /* the second takes more shared memory then */
    p[1].kernel = p[3].kernel;
    p[3].same = 1;
    (void)text_of(&w, g);
    ck_assert_int_lt(g[1].shared_bytes, g[2].shared_bytes);
    ck_assert_int_eq(g[0].shared_bytes, g[2].shared_bytes);
}
END_TEST

/* Copies one after the other are a loop: each has its own arguments and its own turn, those behind
 * a phase, too. */
START_TEST(copies)
{
    static const int x_b[] = {1, 0}, b_c[] = {2, 1}, of_a[] = {1}, of_b[] = {2}, c_y[] = {4, 2};
    gn_cuda_phase p[PHASES + 1];
    gn_cuda_whole w = {PHASES, BUFFERS, 3, p};
    gn_cuda_geometry g[1 + PHASES];
    cuda_host *h;
    p[0] = (gn_cuda_phase){NULL, NULL, 0, x_b, of_a};
    p[1] = (gn_cuda_phase){NULL, NULL, 1, b_c, of_b};
    p[2] = (gn_cuda_phase){verified(sum), NULL, 2, b_s, n};
    p[3] = (gn_cuda_phase){NULL, NULL, 3, c_y, of_b};
    succeeded(cuda_host_whole_text(&w, text_of(&w, g), g, &h), "copies");
    for (int skipped = -1; skipped < PHASES; skipped++) {
        void *buffers[] = {x, a, b, total, c};
        int64_t integers[3 + PHASES] = {ROWS, sizeof a, 10 * sizeof(float)};
        uint32_t gate = 0;
        float all = 0;
        for (int k = 0; k < PHASES; k++)
            integers[3 + k] = GN_CUDA_TURN(k != skipped, k > 0, k % BLOCKS);
        for (int k = 0; k < ROWS * 40; k++) {
            x[k] = (float)k;
            a[k] = b[k] = c[k] = 0;
        }
        *total = 0;
        succeeded(cuda_host_launch_whole(h, buffers, integers, &gate, BLOCKS, CUDA_DOWN, 0),
                  "copies");
        bool to_b = skipped != 0 && skipped != 1;
        for (int k = 0; k < ROWS * 40; k++) {
            ck_assert(a[k] == (skipped == 0 ? 0 : (float)k));
            ck_assert(b[k] == (to_b && k < 10 ? (float)k : 0));
            ck_assert(c[k] == (to_b && skipped != 3 && k < 10 ? (float)k : 0));
            all += b[k];
        }
        ck_assert(*total == (skipped == 2 ? 0 : all));
    }
    cuda_host_free(h);
}
END_TEST

/* More arguments than a kernel has, and kernels that no phase can be. */
START_TEST(refused_programs)
{
    gn_cuda_phase p[PHASES];
    gn_cuda_whole w = program(p);
    gn_cuda_geometry g[1 + PHASES];
    w.n_buffers = GN_CUDA_MOST_ARGUMENTS - 7;
    succeeded(gn_cuda_whole_geometry(&arena, &w, g), "at most");
    w.n_buffers++;
    refused(gn_cuda_whole_geometry(&arena, &w, g), GN_ERR_BACKEND, "at most 512 arguments, not 513",
            "arguments");
    w.n_buffers = BUFFERS;
    p[1].kernel = verified(
        "kernel @wide (sym n, %o: f32[n * 512] write) { for %1 in 0 .. n step 1 block none {\n"
        "%2 = imul %1, 512 for %3 in 0 .. 512 step 1 lane none { %4 = iadd %2, %3 store %o[%4], "
        "1.0 }}}");
    refused(gn_cuda_whole_geometry(&arena, &w, g), GN_ERR_BACKEND,
            "kernel wide: the CUDA back end has no phases of blocks", "wide");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("whole");
    tcase_add_test(t, meetings);
    tcase_add_loop_test(t, fault, 0, sizeof faults / sizeof *faults);
    tcase_add_loop_test(t, pieces, 0, 4);
    tcase_add_loop_test(t, borrowed, 0, 2);
    tcase_add_test(t, shared_code);
    tcase_add_test(t, copies);
    tcase_add_test(t, refused_programs);
    return run_tests(t, "cuda_whole");
}
