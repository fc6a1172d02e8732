/* The loop IR's verifier: a kernel that breaks one rule is refused for that rule. */
/* links: ir base */
#include "ir/kir_ops.h"
#include "kir_test.h"

/* Kernels that parse and break a rule; the body is put between these. */
static const char head[] = "kernel @k (sym n, %r: f32[n] read, %w: f32[n] write, %rw: f32[n] "
                           "read_write, %i: i32[n] read_write, "
                           "%d: f64[n] read, %b: bool[n] read_write) {\n";

static const struct {
    const char *body, *rule;
} broken[] = {
    /* operands and types */
    {"if true {\n %1 = load f32 %r[0]\n }\n store %w[0], %1", "computed in a block that has ended"},
    {"for %1 in 0 .. n step 1 serial none {\n }\n %2 = iadd %1, 1",
     "computed in a block that has ended"},
    {"%1 = tile f32 4\n store %w[0], %1", "an operand has no value"},
    {"%1 = load f32 %r[true]", "an operand has the wrong type"},
    {"%1 = iadd 1, 1.0", "an operand has the wrong type"},
    {"%1 = fadd f32 1.0, 1.0:f64", "an operand has the wrong type"},
    {"%1 = fadd i64 1, 2", "the operands are not floats"},
    {"%1 = flt 1, 2", "the operands are not floats"},
    {"%1 = fma f32 1.0, 1.0, 2", "an operand has the wrong type"},
    {"%1 = select f32 1, 1.0, 1.0", "an operand has the wrong type"},
    {"%1 = select f32 true, 1.0, 2", "an operand has the wrong type"},
    {"%1 = and true, 1", "an operand has the wrong type"},
    {"if 1 {\n }", "an operand has the wrong type"},
    {"%1 = cast i32 1.0", "not f32, f64, i64 or bool"},
    {"%1 = random 1, 2.0 site 3", "an operand has the wrong type"},
    {"%1 = random 1, 2 site 4294967296", "the site fits in 32 bits"},
    {"for %1 in 0 .. 1.0 step 1 serial none {\n }", "an operand has the wrong type"},
    /* buffers */
    {"%1 = load f32 %w[0]", "the buffer may not be read"},
    {"store %r[0], 1.0", "the buffer may not be written"},
    {"store %w[0], 1", "the value has not the buffer's type"},
    {"store %i[0], 1.0", "the value has not the buffer's type"},
    {"store %b[0], 1", "the value has not the buffer's type"},
    {"store %w[0.0], 1.0", "an operand has the wrong type"},
    /* tiles */
    {"%1 = tile i32 4", "the tile's type"},
    {"%1 = tile f32 0", "the size of the tile"},
    {"%1 = tile f32 1048577", "the size of the tile"},
    {"%1 = iadd 1, 2\n tstore %1[0], 1.0", "no such tile"},
    {"if true {\n %1 = tile f32 4\n }\n tstore %1[0], 1.0", "the tile is not in scope"},
    {"%1 = tile f32 4\n tstore %1[0], 1", "the value has not the tile's type"},
    {"%1 = tile f32 4\n tfma %1[0], 1.0, 1.0:f64", "the value has not the tile's type"},
    {"%1 = tile i64 4\n tfma %1[0], 1, 1", "the tile is not of floats"},
    {"%1 = tile bool 4\n tacc max %1[0], true", "bools do not accumulate"},
    /* loops */
    {"for %1 in 0 .. 4 step 0 serial none {\n }", "the step is positive"},
    {"for %1 in 0 .. 4 step -1 serial none {\n }", "the step is positive"},
    {"for %1 in 0 .. n step 1 unroll none {\n }", "the bounds of an unrolled loop are constants"},
    {"for %1 in 0 .. 4 step 1 vector ordered {\n }", "an ordered loop is serial or unrolled"},
    {"for %1 in 0 .. n step 1 thread ordered {\n }", "an ordered loop is serial or unrolled"},
    {"for %1 in 0 .. n step 1 thread none {\n }\n store %w[0], 1.0",
     "the thread loop is the last instruction"},
    {"if true {\n for %1 in 0 .. n step 1 thread none {\n }\n }",
     "the thread loop is the last instruction"},
    {"for %1 in 0 .. n step 1 thread none {\n for %2 in 0 .. n step 1 thread none {\n }\n }",
     "is the last instruction"},
    {"for %1 in 1 .. n step 1 thread none {\n }", "the thread loop runs from 0"},
    {"store %w[0], 1.0\n for %1 in 0 .. n step 1 thread none {\n }",
     "before the thread loop stores"},
    {"%1 = load f32 %rw[0]\n for %2 in 0 .. n step 1 thread none {\n store %rw[%2], %1\n }",
     "loads what the kernel writes"},
    {"for %1 in 0 .. 4 step 1 warp none {\n }", "a warp loop stands in a block loop"},
    {"for %1 in 0 .. 4 step 1 lane none {\n }", "a lane loop stands in a block or warp loop"},
    {"barrier", "a barrier stands in a block loop"},
    /* products of fragments */
    {"%1 = round tf32 1", "an operand has the wrong type"},
    {"%1 = tile f32 128\n mma tf32 %1[0] by 4, %1[0] by 1 1, %1[0] by 1 1",
     "it reads what it adds to"},
    {"%1 = tile f32 128\n %2 = tile f32 9\n mma tf32 %1[0] by 4, %2[0] by 1 1, %1[0] by 1 1",
     "it reads what it adds to"},
    {"%1 = tile f32 128\n %2 = tile f64 9\n mma tf32 %1[0] by 4, %2[0] by 1 1, %2[0] by 1 1",
     "do not lie in such a tile"},
    {"%1 = tile f32 128\n %2 = iadd n, 1\n mma tf32 %1[0] by 4, %1[0] by 1 1, %2[0] by 1 1",
     "no such tile"},
    {"%1 = tile f32 128\n if true {\n %2 = tile f32 9\n }\n mma tf32 %1[0] by 4, %2[0] by 1 1, "
     "%2[0] by 1 1",
     "the tile is not in scope"},
    {"%1 = tile f32 128\n %2 = tile f32 9\n mma tf32 %1[0] by 4, %2[1.0] by 1 1, %2[0] by 1 1",
     "an operand has the wrong type"},
    {"%1 = tile f32 128\n %2 = tile f32 9\n mma tf32 %1[0] by 4, %2[0] by 1 1, %2[0] by 1 1",
     "stands in a warp loop"},
    {"for %1 in 0 .. n step 1 block none {\n %2 = tile f32 128\n %3 = tile f32 9\n for %4 in 0 .. "
     "1 step 1 warp none "
     "{\n"
     " for %5 in 0 .. 32 step 1 lane none {\n mma tf32 %2[0] by 4, %3[0] by 1 1, %3[0] by 1 1\n "
     "}\n }\n }",
     "and in no lane loop"},
    {"%1 = tile f32 128\n %2 = tile f32 9\n mma bf16 %1[0] by 4, %2[0] by 2 1, %2[0] by 2 1",
     "do not lie in such a tile"},
    {"%1 = tile f32 128\n %2 = tile f16 9\n %3 = tile bf16 9\n mma f16 %1[0] by 4, %2[0] by 2 1, "
     "%3[0] by 2 1",
     "do not lie in such a tile"},
    {"%1 = tile f16 128\n %2 = tile f16 9\n mma f16 %1[0] by 4, %2[0] by 2 1, %2[0] by 2 1",
     "the tile is not of f32"},
    {"%1 = tile f32 128\n %2 = tile f16 9\n mma f16 %1[0] by 4, %2[0] by 3 1, %2[0] by 2 1",
     "an odd stride"},
    {"%1 = tile f32 128\n %2 = tile bf16 9\n mma bf16 %1[0] by 4, %2[0] by 3 2, %2[0] by 5 1",
     "an odd stride"},
    {"%1 = round bf16 1.0", "are rounded where they are stored"},
    /* products of pairs */
    {"%1 = tile f32 4\n %2 = tile bf16 4\n tdot %1[0], %2[0], %1[0]", "it reads what it adds to"},
    {"%1 = tile f32 4\n %2 = tile f32 4\n tdot %1[0], %2[0], %2[0]", "do not lie in such a tile"},
    {"%1 = tile f32 4\n %2 = tile f16 4\n %3 = tile bf16 4\n tdot %1[0], %3[0], %2[0]",
     "do not lie in such a tile"},
    {"%1 = tile f64 4\n %2 = tile bf16 4\n tdot %1[0], %2[0], %2[0]", "the tile is not of f32"},
    {"%1 = tile f32 4\n %2 = iadd n, 1\n tdot %1[0], %2[0], %2[0]", "no such tile"},
    {"%1 = tile f32 4\n if true {\n %2 = tile bf16 4\n }\n tdot %1[0], %2[0], %2[0]",
     "the tile is not in scope"},
    {"%1 = tile f32 4\n %2 = tile bf16 4\n tdot %1[0], %2[1.0], %2[0]",
     "an operand has the wrong type"},
    {"%1 = tile f32 4\n %2 = tile bf16 16\n for %3 in 0 .. 8 step 1 vector reduce {\n %4 = imul "
     "%3, 2\n"
     " tdot %1[0], %2[0], %2[%4]\n }",
     "write the same element"},
    {"%1 = tile bf16 4\n tacc sum %1[0], 1.0", "what is narrow does not accumulate"},
    {"%1 = tile f16 4\n tfma %1[0], 1.0, 1.0", "what is narrow does not accumulate"},
    {"%1 = tile f16 4\n tstore %1[0], 1.0:f64", "the value has not the tile's type"},
    {"for %1 in 0 .. n step 1 block none {\n for %2 in 0 .. 32 step 1 lane none {\n barrier\n }\n "
     "}",
     "a barrier stands"},
    /* vectors */
    {"for %1 in 0 .. 8 step 1 vector none {\n for %2 in 0 .. 8 step 1 vector none {\n }\n }",
     "only serial and unrolled loops"},
    {"for %1 in 0 .. n step 1 vector none {\n for %2 in 0 .. 8 step 1 unroll none {\n }\n }",
     "a loop in a vector loop whose"},
    {"for %1 in 0 .. n step 1 vector none {\n if true {\n }\n }", "an if in a vector loop whose"},
    {"for %1 in 0 .. n step 1 vector none {\n %2 = tile f32 1\n }",
     "a tile in a vector loop whose"},
    {"for %1 in 0 .. 8 step 1 vector none {\n for %2 in 0 .. %1 step 1 serial ordered {\n }\n }",
     "bounds differ from lane"},
    {"for %1 in 0 .. 8 step 1 vector none {\n %2 = load i64 %i[%1]\n %3 = iadd %2, 1\n"
     " for %4 in %3 .. n step 1 serial ordered {\n }\n }",
     "bounds differ from lane"},
    {"for %1 in 0 .. 8 step 1 vector none {\n store %w[0], 1.0\n }",
     "lanes of a vector loop write the same element"},
    {"for %1 in 0 .. n step 1 vector none {\n store %w[0], 1.0\n }",
     "lanes of a vector loop write the same element"},
    {"%1 = tile f32 1\n for %2 in 0 .. 8 step 1 vector none {\n tacc sum %1[0], 1.0\n }",
     "write the same element"},
    {"%1 = tile f32 1\n for %2 in 0 .. 8 step 1 vector reduce {\n tstore %1[0], 1.0\n }",
     "write the same element"},
};

START_TEST(rules)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        gn_buf t = {.arena = &arena};
        gn_buf_printf(&t, "%s%s\n}\n", head, broken[i].body);
        refused(kir_verify(parsed(t.p)), GN_ERR_INTERNAL, broken[i].rule, t.p);
    }
}
END_TEST

/* Near misses of the rules above. */
START_TEST(allowed)
{
    static const char *const bodies[] = {
        "%1 = load f32 %r[0]\n for %2 in 0 .. n step 1 thread none {\n store %w[%2], %1\n }",
        "for %1 in 0 .. n step 16 thread none {\n for %2 in 0 .. 16 step 1 vector none {\n %3 = "
        "iadd %1, %2\n"
        " %4 = ilt %3, n\n if %4 {\n store %w[%3], 1.0\n }\n }\n }",
        "for %1 in 0 .. 1 step 1 vector none {\n store %w[0], 1.0\n }",
        "%1 = tile f32 1\n for %2 in 0 .. n step 1 vector reduce {\n tacc sum %1[0], 1.0\n }",
        "for %1 in 0 .. 8 step 1 vector none {\n %2 = tile f32 1\n tstore %2[0], 1.0\n %3 = tload "
        "f32 %2[0]\n"
        " store %w[%1], %3\n }",
        "for %1 in 0 .. 8 step 1 vector none {\n for %2 in 0 .. n step 1 serial ordered {\n }\n }",
        "for %1 in 0 .. 8 step 1 vector none {\n %2 = ieq %1, 3\n if %2 {\n store %w[0], 1.0\n }\n "
        "}",
        "for %1 in 0 .. n step 1 block none {\n %2 = tile f32 64\n for %3 in 0 .. 2 step 1 warp "
        "none {\n"
        " for %4 in 0 .. 32 step 1 lane none {\n %5 = imul %3, 32\n %6 = iadd %5, %4\n tstore "
        "%2[%6], 0.0\n }\n }\n "
        "barrier\n }",
        "",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        gn_buf t = {.arena = &arena};
        gn_buf_printf(&t, "%s%s\n}\n", head, bodies[i]);
        succeeded(kir_verify(parsed(t.p)), t.p);
    }
}
END_TEST

/* What no text can say: links and fields set by hand.  Instructions: 1 const, 2 for, 3 const, 4
 * store, 5 iadd. */
static kir_kernel *sample(void)
{
    kir_kernel *k = kir_kernel_new(&arena, "k");
    kir_cursor c = {0}, body;
    int b = kir_buffer_add(k, "x", GN_F32, KIR_WRITE,
                           (kir_size){.coef = 4, .sym = kir_sym_add(k, "n")});
    kir_id four = kir_iconst(k, &c, 4);
    kir_id i = kir_for(k, &c, &body, four, four, 1, KIR_SERIAL, KIR_NONE);
    kir_store(k, &body, b, i, kir_fconst(k, &body, GN_F32, 1));
    kir_bin(k, &body, KIR_IADD, i, i);
    ck_assert_uint_eq(k->insts.n, 6);
    succeeded(kir_verify(k), "sample");
    return k;
}

#define BREAK(what, rule)                                                                          \
    do {                                                                                           \
        kir_kernel *k = sample();                                                                  \
        what;                                                                                      \
        refused(kir_verify(k), GN_ERR_INTERNAL, rule, #what);                                      \
        printed(k); /* must not run away */                                                        \
    } while (0)

START_TEST(fields)
{
    BREAK(kir_at(k, 1)->op = KIR_INVALID, "no such instruction");
    BREAK(kir_at(k, 1)->op = KIR_OP_COUNT, "no such instruction");
    BREAK(kir_at(k, 1)->elem = GN_I32, "not f32, f64, i64 or bool");
    BREAK(kir_at(k, 1)->elem = 200, "not f32, f64, i64 or bool");
    BREAK((kir_at(k, 1)->elem = GN_BOOL, kir_at(k, 1)->imm = 2), "a bool is 0 or 1");
    BREAK(kir_at(k, 1)->next = 77, "a link leads nowhere");
    BREAK(kir_at(k, 2)->next = 1, "it stands in two places");
    BREAK(kir_at(k, 2)->next = 2, "it stands in two places");
    BREAK(kir_at(k, 2)->body = 2, "it stands in two places");
    BREAK(kir_at(k, 2)->body = 1, "it stands in two places");
    BREAK(kir_at(k, 2)->a = 3, "used before it is computed");
    BREAK(kir_at(k, 2)->a = 2, "used before it is computed");
    BREAK(kir_at(k, 2)->a = 0, "an operand is missing");
    BREAK(kir_at(k, 2)->a = 1000, "an operand is missing");
    BREAK(kir_at(k, 2)->c = 1, "an operand too many");
    BREAK(kir_at(k, 2)->unit = KIR_UNIT_COUNT, "no such unit");
    BREAK(kir_at(k, 2)->race = KIR_RACE_COUNT, "no such race");
    BREAK(kir_at(k, 4)->imm = 1, "no such buffer");
    BREAK(kir_at(k, 4)->imm = -1, "no such buffer");
    BREAK(kir_at(k, 5)->body = 1, "it has a body");
    BREAK(kir_at(k, 5)->elem = GN_F32, "the result has the wrong type");
    BREAK(
        (kir_at(k, 5)->op = KIR_SYM, kir_at(k, 5)->a = kir_at(k, 5)->b = 0, kir_at(k, 5)->imm = 1),
        "no such symbol");
    BREAK(k->top = 99, "a link leads nowhere");
    BREAK(k->buffers.p[0].name = NULL, "a buffer without a name");
    BREAK(k->buffers.p[0].access = (kir_access)0, "no such access");
    BREAK(k->buffers.p[0].elem = (gn_elem)40, "no such element type");
    BREAK(k->buffers.p[0].size.sym = 3, "its size");
    BREAK(k->buffers.p[0].size.coef = -1, "its size");
    BREAK((k->buffers.p[0].size.sym = -1, k->buffers.p[0].size.plus = -5), "its size is negative");
    BREAK(kir_buffer_add(k, "x", GN_F32, KIR_READ, (kir_size){.sym = -1}),
          "two buffers have the name");
    BREAK(GN_PUSH(&arena, k->syms, "n"), "two symbols have the name");
    BREAK(k->name = NULL, "a kernel without a name");
}
END_TEST

START_TEST(depth)
{
    kir_kernel *k = kir_kernel_new(&arena, "deep");
    kir_cursor c = {0}, body;
    for (int i = 0; i < 100000; i++, c = body) kir_if(k, &c, &body, kir_bconst(k, &c, true));
    refused(kir_verify(k), GN_ERR_INTERNAL, "nested too deeply", "deep");
    printed(k);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("verify");
    tcase_add_test(c, rules);
    tcase_add_test(c, allowed);
    tcase_add_test(c, fields);
    tcase_add_test(c, depth);
    return run_tests(c, "kir_verify");
}
