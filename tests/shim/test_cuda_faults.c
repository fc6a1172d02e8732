/* links: codegen runtime ir base */
/* sources: ../support/cuda_host.c */
/* timeout: 120 */
/* What the shim finds: the text of a kernel as the back end writes it runs right in every order of threads; each fault that
 * is planted in it (a barrier left out, a wrong index, another width of a shuffle ...) is seen. */
#include "support/cuda_host.h"
#include "unit/kir_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 7, N = 40, LANES = 256 };

/* Each row turned round, by way of a tile, and its sum beside it. */
static const char turned[] =
    "kernel @turned (sym n, %x: f32[n * 40] read, %o: f32[n * 40] write, %s: f32[n] write) {\n"
    "for %1 in 0 .. n step 1 thread none {\n"
    "  %2 = tile f32 40 %3 = imul %1, 40 %30 = tile f32 1 tstore %30[0], 0.0\n"
    "  for %4 in 0 .. 40 step 1 vector none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore %2[%4], %6 }\n"
    "  for %7 in 0 .. 40 step 1 vector reduce {\n"
    "    %8 = isub 39, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 tacc sum %30[0], %9 }\n"
    "  %11 = tload f32 %30[0] store %s[%1], %11 }}";

/* Blocks whose lanes leave numbers to each other. */
static const char block[] =
    "kernel @block (sym n, %x: f32[n * 256] read, %o: f32[n * 256] write) {\n"
    "for %1 in 0 .. n step 1 block none {\n"
    "  %2 = tile f32 256 %3 = imul %1, 256\n"
    "  for %4 in 0 .. 256 step 1 lane none { %5 = iadd %3, %4 %6 = load f32 %x[%5] tstore %2[%4], %6 }\n"
    "  barrier\n"
    "  for %7 in 0 .. 256 step 1 lane none {\n"
    "    %8 = isub 255, %7 %9 = tload f32 %2[%8] %10 = iadd %3, %7 store %o[%10], %9 }}}";

typedef struct fault {
    const char *what, *from, *to; /* NULL, NULL: as it is */
    const char *says;             /* the shim's words; NULL: other figures in one of the orders */
} fault;

static const fault of_turned[] = {
    {"as it is", NULL, NULL, NULL},
    {"no barrier", "__syncwarp(mask);", "", NULL},
    {"a wrong index into the tile", "39 - i", "38 - i", NULL},
    {"a wrong index into memory", "= iteration;", "= iteration / 2;", NULL},
    {"half of the lanes are added up", "gn_reduce_sum_f32(r", "gn_reduce_sum_f32(0.5f * r", NULL},
    {"groups that overlap", "GN_GROUP(", "GN_GROUP(2 * ", NULL},
    {"lanes that stay away", "__syncwarp(mask);", "if (lane) __syncwarp(mask);", "waits for lanes"},
    {"a lane outside of its mask", "__syncwarp(mask);", "__syncwarp(mask & ~1u);", "lacks the lane itself"},
    {"more shared memory than there is", "GN_SHARED(", "GN_SHARED(16 + ", "of another size"},
    {"beside the shared memory", "gn_shared + ", "gn_shared + 200 + ", "beside its shared memory"},
    {"a load that is not aligned", "gn_load4(", "gn_load4(1 + ", "not aligned"},
};

static const fault of_block[] = {
    {"as it is", NULL, NULL, NULL},
    {"no barrier", "__syncthreads();", "", NULL},
    {"a barrier of some", "__syncthreads();", "if (lane >= 64) __syncthreads();", NULL},
};

static const char *planted(const char *text, const fault *f)
{
    if (!f->from) return text;
    gn_buf b = {.arena = &arena};
    const char *at = strstr(text, f->from);
    ck_assert_msg(at, "%s: no `%s` in\n%s", f->what, f->from, text);
    for (; at; at = strstr(text, f->from)) {
        gn_buf_addn(&b, text, (size_t)(at - text));
        gn_buf_add(&b, f->to);
        text = at + strlen(f->from);
    }
    gn_buf_add(&b, text);
    return b.p;
}

/* Does the kernel give the evaluator's figures in that order?  *wrong: what the shim says. */
static bool is_right(cuda_host *h, const kir_kernel *k, cuda_order order, char *wrong, size_t n)
{
    int64_t rows = ROWS;
    kir_bound_buffer want[3];
    void *buf[3];
    bool same = true;
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        int64_t elems = k->buffers.p[b].size.coef * rows;
        want[b] = (kir_bound_buffer){gn_arena_alloc(&arena, (size_t)elems, 4), elems};
        buf[b] = gn_arena_alloc(&arena, (size_t)elems + 16, 4);
        for (int64_t i = 0; i < elems; i++) ((float *)want[b].data)[i] = ((float *)buf[b])[i] = (float)(i % 101);
    }
    succeeded(kir_eval(k, NULL, want, &rows), "evaluator");
    gn_status *s = cuda_host_launch(h, 0, buf, NULL, &rows, rows, order, 3);
    snprintf(wrong, n, "%s", gn_status_message(s));
    for (uint32_t b = 0; b < k->buffers.n; b++) same = same && !memcmp(buf[b], want[b].data, (size_t)want[b].elems * 4);
    same = same && !s;
    gn_status_free(s);
    return same;
}

static void check(const char *kernel, const fault *f)
{
    const kir_kernel *k = verified(kernel);
    gn_buf one = {.arena = &arena}, all = {.arena = &arena};
    gn_cuda_geometry geometry;
    cuda_host *h;
    char wrong[200];
    succeeded(gn_cuda_kernel(k, "gn_kernel_0", NULL, &one, &geometry), kernel);
    ck_assert_int_gt(geometry.group, 1);
    gn_buf_printf(&all, "%s%s", gn_cuda_prelude(), planted(one.p, f));
    succeeded(cuda_host_text(1, &k, all.p, &geometry, &h), all.p);
    int right = 0, said = 0;
    for (int order = 0; order < 3; order++) {
        right += is_right(h, k, (cuda_order)order, wrong, sizeof wrong);
        said += f->says && strstr(wrong, f->says);
    }
    cuda_host_free(h);
    if (!f->from)
        ck_assert_msg(right == 3, "%s: %d of 3 orders are right: %s\n%s", f->what, right, wrong, one.p);
    else
        ck_assert_msg(right < 3 && (!f->says || said), "%s is not seen, or not as such: %s\n%s", f->what, wrong, one.p);
}

START_TEST(in_groups) { check(turned, &of_turned[_i]); }
END_TEST

START_TEST(in_blocks) { check(block, &of_block[_i]); }
END_TEST

int main(void)
{
    TCase *c = tcase_create("faults");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, in_groups, 0, sizeof of_turned / sizeof *of_turned);
    tcase_add_loop_test(c, in_blocks, 0, sizeof of_block / sizeof *of_block);
    return run_tests(c, "CUDA shim");
}
