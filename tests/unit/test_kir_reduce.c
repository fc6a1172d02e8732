/* Reduction of failing kernels. */
/* links: ir base */
#include "ir/kir_reduce.h"
#include "kir_test.h"

/* A softmax over rows whose last loop runs one too far. */
static const char
    faulty[] = "kernel @softmax (sym n, %x: f32[n * 5] read, %y: f32[n * 5] write) {\n"
               "  for %1 in 0 .. n step 1 thread none {\n"
               "    %2 = imul %1, 5\n"
               "    %3 = tile f32 2\n"
               "    tstore %3[0], -inf\n"
               "    tstore %3[1], 0.0\n"
               "    for %4 in 0 .. 5 step 1 vector reduce {\n"
               "      %5 = iadd %2, %4\n"
               "      %6 = load f32 %x[%5]\n"
               "      tacc max %3[0], %6\n"
               "    }\n"
               "    %7 = tload f32 %3[0]\n"
               "    for %8 in 0 .. 5 step 1 vector reduce {\n"
               "      %9 = iadd %2, %8\n"
               "      %10 = load f32 %x[%9]\n"
               "      %11 = fsub f32 %10, %7\n"
               "      %12 = exp f32 %11\n"
               "      tacc sum %3[1], %12\n"
               "    }\n"
               "    %13 = tload f32 %3[1]\n"
               "    for %14 in 0 .. 6 step 1 vector none {\n"
               "      %15 = iadd %2, %14\n"
               "      %16 = imin %15, 14\n"
               "      %17 = load f32 %x[%16]\n"
               "      %18 = fsub f32 %17, %7\n"
               "      %19 = exp f32 %18\n"
               "      %20 = fdiv f32 %19, %13\n"
               "      store %y[%15], %20\n"
               "    }\n"
               "  }\n"
               "}\n";

typedef struct failure {
    const char *says;
    int calls;
} failure;

static bool fails(void *user, const kir_kernel *k)
{
    failure *f = user;
    f->calls++;
    float x[15] = {0}, y[15];
    gn_status *s = kir_eval(k, NULL, (kir_bound_buffer[]){{x, 15}, {y, 15}}, (int64_t[]){3});
    bool yes = s && strstr(gn_status_message(s), f->says);
    gn_status_free(s);
    return yes;
}

START_TEST(to_the_store_that_meets_the_next_row)
{
    failure f = {.says = "race"};
    kir_kernel *k = verified(faulty);
    ck_assert(fails(&f, k));
    kir_kernel *small = kir_reduce(&arena, k, fails, &f, 0);
    succeeded(kir_verify(small), printed(small));
    ck_assert(fails(&f, small));
    ck_assert_msg(strlen(printed(small)) < 240, "%s", printed(small));
    ck_assert_str_eq(printed(k), printed(parsed(faulty))); /* the original stays */
}
END_TEST

START_TEST(stops_when_told)
{
    failure f = {.says = "race"};
    kir_reduce(&arena, parsed(faulty), fails, &f, 10);
    ck_assert_int_eq(f.calls, 10);
}
END_TEST

static bool always(void *user, const kir_kernel *k)
{
    (void)user;
    return k != NULL;
}

START_TEST(to_nothing)
{
    kir_kernel *k = kir_reduce(&arena, parsed(faulty), always, NULL, 0);
    ck_assert_uint_eq(k->top, 0);
    ck_assert_uint_eq(k->buffers.n, 2);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("reduce");
    tcase_add_test(c, to_the_store_that_meets_the_next_row);
    tcase_add_test(c, stops_when_told);
    tcase_add_test(c, to_nothing);
    return run_tests(c, "kir_reduce");
}
