/* The loop IR's text: print and parse are each other's inverse; errors name their place. */
/* links: ir base */
#include "ir/kir_ops.h"
#include "kir_test.h"

#include <math.h>

static const char spmm[] = "kernel @spmm \"out = A h\" (\n"
                           "  sym node, sym edge,\n"
                           "  %rowptr: i32[node + 1] read,\n"
                           "  %col: i32[edge] read,\n"
                           "  %h: f32[node * 16] read,\n"
                           "  %out: f32[node * 16] write\n"
                           ") {\n"
                           "  for %1 in 0 .. node step 1 thread none {\n"
                           "    %2 = tile f32 16\n"
                           "    for %3 in 0 .. 16 step 1 vector none {\n"
                           "      tstore %2[%3], 0.0\n"
                           "    }\n"
                           "    %4 = load i64 %rowptr[%1]\n"
                           "    %5 = iadd %1, 1\n"
                           "    %6 = load i64 %rowptr[%5]\n"
                           "    for %7 in %4 .. %6 step 1 serial ordered {\n"
                           "      %8 = load i64 %col[%7]\n"
                           "      prefetch %h[%8]\n"
                           "      %9 = imul %8, 16\n"
                           "      for %10 in 0 .. 16 step 1 vector none {\n"
                           "        %11 = iadd %9, %10\n"
                           "        %12 = load f32 %h[%11]\n"
                           "        tacc sum %2[%10], %12\n"
                           "      }\n"
                           "    }\n"
                           "    %13 = imul %1, 16\n"
                           "    for %14 in 0 .. 16 step 1 vector none {\n"
                           "      %15 = iadd %13, %14\n"
                           "      %16 = tload f32 %2[%14]\n"
                           "      store %out[%15], %16\n"
                           "    }\n"
                           "  }\n"
                           "}\n";

START_TEST(print_undoes_parse)
{
    kir_kernel *k = verified(spmm);
    ck_assert_str_eq(printed(k), spmm);
    ck_assert_str_eq(k->name, "spmm");
    ck_assert_str_eq(k->comment, "out = A h");
    ck_assert_uint_eq(k->buffers.n, 4);
    ck_assert_int_eq(k->buffers.p[0].size.plus, 1);
    ck_assert_int_ne(kir_thread_loop(k), 0);
}
END_TEST

/* Every instruction that has operands, in one kernel: their forms follow from the table. */
START_TEST(every_instruction)
{
    gn_buf t = {.arena = &arena};
    gn_buf_add(&t, "kernel @all (\n  %f: f64[8] read_write,\n  %i: i64[8] read_write,\n  %b: "
                   "bool[8] read\n) {\n"
                   "  %1 = load f64 %f[0]\n  %2 = load i64 %i[0]\n  %3 = load bool %b[0]\n  %4 = "
                   "tile i64 4\n");
    int n = 4;
    for (int op = KIR_IADD; op < KIR_OP_COUNT; op++) {
        const kir_op_info *info = &kir_ops[op];
        const char *sig = info->sig, *type = strchr("ft*", sig[0]) ? " f64" : "";
        if (op == KIR_ROUND) {
            gn_buf_printf(&t, "  %%%d = round tf32 0.1\n", ++n);
            continue;
        }
        gn_buf_printf(&t, "  %%%d = %s%s", ++n, info->text, type);
        for (int k = 0; k < info->n_in; k++)
            gn_buf_printf(&t, "%s%%%d", k ? ", " : " ",
                          sig[2 + k] == 'i'   ? 2
                          : sig[2 + k] == 'b' ? 3
                                              : 1);
        gn_buf_add(&t, op == KIR_RANDOM ? " site 4294967295\n" : "\n");
    }
    gn_buf_add(&t, "  tstore %4[0], 1\n  tacc max %4[0], %2\n  tacc min %4[0], %2\n  store %i[%2], "
                   "-9223372036854775808\n"
                   "  if %3 {\n    %99 = tile f64 1\n    tstore %99[0], 0.5:f64\n    tfma %99[0], "
                   "%1, 1e+300:f64\n  }\n"
                   "  if true {\n  }\n}\n");
    kir_kernel *k = verified(t.p);
    char *once = printed(k);
    ck_assert_str_eq(printed(verified(once)), once);
    for (int op = KIR_IADD; op < KIR_OP_COUNT; op++)
        ck_assert_ptr_nonnull(strstr(once, kir_ops[op].text));
}
END_TEST

START_TEST(products_of_fragments)
{
    static const char
        text[] = "kernel @k (\n  sym n\n) {\n  for %1 in 0 .. n step 1 block none {\n"
                 "    %2 = tile f32 256\n    %3 = tile f32 4096\n"
                 "    for %4 in 0 .. 2 step 1 warp none {\n      %5 = imul %4, 128\n"
                 "      mma tf32 %2[%5] by 4, %3[0] by 4095 1, %3[%5] by 2 3000\n    }\n  }\n}\n";
    kir_kernel *k = verified(text);
    ck_assert_str_eq(printed(k), text);
    ck_assert_str_eq(printed(kir_clone(&arena, k, NULL)), text);
    static const char
        narrow[] = "kernel @k (\n  sym n\n) {\n  for %1 in 0 .. n step 1 block none {\n"
                   "    %2 = tile f32 256\n    %3 = tile bf16 4096\n    %4 = tile f16 4096\n"
                   "    for %5 in 0 .. 2 step 1 warp none {\n"
                   "      mma bf16 %2[0] by 4, %3[0] by 8 1, %3[0] by 3 3\n"
                   "      mma f16 %2[0] by 4, %4[0] by 1 8, %4[0] by 40 1\n    }\n  }\n}\n";
    ck_assert_str_eq(printed(verified(narrow)), narrow);
    for (kir_id i = 1; i < k->insts.n; i++) {
        if (kir_at(k, i)->op != KIR_MMA) continue;
        kir_mma m = kir_mma_of(kir_at(k, i)->imm);
        ck_assert(m.kind == KIR_KIND_TF32 && m.lane == 4 && m.left_row == 4095 && m.left_term == 1);
        ck_assert(m.right_col == 2 && m.right_term == 3000);
        ck_assert_int_eq(kir_mma_pack(&m), kir_at(k, i)->imm);
    }
}
END_TEST

START_TEST(products_of_pairs)
{
    static const char text[] = "kernel @k (\n  sym n\n) {\n  %1 = tile f32 4\n  %2 = tile bf16 8\n "
                               " %3 = tile bf16 8\n"
                               "  for %4 in 0 .. 4 step 1 vector none {\n    %5 = imul %4, 2\n"
                               "    tdot %1[%4], %2[6], %3[%5]\n  }\n}\n";
    kir_kernel *k = verified(text);
    ck_assert_str_eq(printed(k), text);
    ck_assert_str_eq(printed(kir_clone(&arena, k, NULL)), text);
}
END_TEST

START_TEST(literals)
{
    static const struct {
        gn_elem e;
        double v;
        const char *text;
    } cases[] = {
        {GN_F32, 0, "0.0"},
        {GN_F32, -0.0, "-0.0"},
        {GN_F32, 1e20, "1e+20"},
        {GN_F32, 0.1, "0.1"},
        {GN_F32, INFINITY, "inf"},
        {GN_F32, -INFINITY, "-inf"},
        {GN_F64, 0.1, "0.1:f64"},
        {GN_F64, NAN, "nan:f64"},
        {GN_F64, 1.0 / 3, "0.33333333333333331:f64"},
        {GN_F64, -INFINITY, "-inf:f64"},
        {GN_F64, 5e-324, "4.94066e-324:f64"},
        {GN_F32, (double)(1.0f / 3), "0.333333343267440796"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kir_kernel *k = kir_kernel_new(&arena, "literal");
        kir_cursor c = {0};
        int b = kir_buffer_add(k, "x", cases[i].e, KIR_WRITE, (kir_size){.coef = 1, .sym = -1});
        kir_store(k, &c, b, kir_iconst(k, &c, 0), kir_fconst(k, &c, cases[i].e, cases[i].v));
        char *once = printed(k), want[80];
        snprintf(want, sizeof want, "store %%x[0], %s\n", cases[i].text);
        if (strlen(cases[i].text) < 18)
            ck_assert_msg(strstr(once, want) != NULL, "%s is not in %s", want, once);
        kir_kernel *again = verified(once);
        ck_assert_str_eq(printed(again), once);
        for (uint32_t v = 1; v < again->insts.n; v++) {
            const kir_inst *in = kir_at(again, v);
            if (in->op != KIR_CONST || in->elem == GN_I64) continue;
            ck_assert_int_eq(in->elem, cases[i].e);
            ck_assert(isnan(cases[i].v) ? isnan(in->fimm) : in->fimm == cases[i].v);
            if (!isnan(cases[i].v))
                ck_assert_int_eq(signbit(in->fimm) != 0, signbit(cases[i].v) != 0);
        }
    }
}
END_TEST

START_TEST(odd_names)
{
    static const char *const names[] = {
        "plain", "with.dot", "with..dots",  "trailing.", "sym",         "true", "12", "inf",
        "a b",   "q\"q\\",   "line\nbreak", "\x01\x7f",  "caf\xc3\xa9", "%x",   "-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kir_kernel *k = kir_kernel_new(&arena, names[i]);
        k->comment = names[i];
        k->lanes = (int)i;
        k->threads = i % 2 ? 64 : 0;
        kir_cursor c = {0};
        int sym = kir_sym_add(k, names[i]);
        int b = kir_buffer_add(k, names[i], GN_I64, KIR_WRITE, (kir_size){.coef = 1, .sym = sym});
        kir_store(k, &c, b, kir_sym(k, &c, sym), kir_sym(k, &c, sym));
        char *once = printed(k);
        kir_kernel *again = verified(once);
        ck_assert_str_eq(printed(again), once);
        ck_assert_str_eq(again->name, names[i]);
        ck_assert_str_eq(again->comment, names[i]);
        ck_assert(again->lanes == k->lanes && again->threads == k->threads);
        again = kir_clone(&arena, again, NULL);
        ck_assert(again->lanes == k->lanes && again->threads == k->threads);
        ck_assert_str_eq(again->syms.p[0], names[i]);
        ck_assert_str_eq(again->buffers.p[0].name, names[i]);
    }
}
END_TEST

START_TEST(errors)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "test:1:1: expected kernel"},
        {"kernel", "test:1:7: expected '@'"},
        {"kernel @k (", "expected a buffer or a symbol"},
        {"kernel @k (%a: f31[1] read) {}", "1:16: expected an element type"},
        {"kernel @k (%a: f32[1] look) {}", "expected read, write or read_write"},
        {"kernel @k (%a: f32[1] read, %a: f32[1] read) {}", "two buffers are called a"},
        {"kernel @k (%a: f32[n + 3000000000] read) {}", "does not fit in 32 bits"},
        {"kernel @k (% : f32[1] read) {}", "a name must follow %"},
        {"kernel @k () {\n  frob\n}", "test:2:3: no instruction is called frob"},
        {"kernel @k () {\n  const 1\n}", "no instruction is called const"},
        {"kernel @k () {\n  %1 = barrier\n}", "no value: barrier"},
        {"kernel @k () {\n  iadd 1, 2\n}", "a value needs a number"},
        {"kernel @k () {\n  %1 = iadd 1 2\n}", "2:15: expected ','"},
        {"kernel @k () {\n  %1 = iadd 1, 2\n  %1 = iadd 1, 2\n}",
         "3:3: there is a value above with the number 1"},
        {"kernel @k () {\n  %1 = iadd 1, %7\n}", "no value above has the number 7"},
        {"kernel @k () {\n  %1 = iadd 1, rows\n}", "no symbol is called rows"},
        {"kernel @k () {\n  %1 = iadd 1, 99999999999999999999\n}", "a number that does not fit"},
        {"kernel @k () {\n  %1 = fadd f64 1.0, 2.0\n}", "the operands are f32"},
        {"kernel @k () {\n  %1 = fadd 1.0, 2.0\n}", "expected an element type"},
        {"kernel @k (%a: f32[1] read) {\n  %1 = load f64 %a[0]\n}", "what is loaded is f32"},
        {"kernel @k () {\n  %1 = load f64 %a[0]\n}", "no buffer is called a"},
        {"kernel @k () {\n  for %1 in 0 .. 4 step 1 fast none {}\n}", "expected a unit"},
        {"kernel @k () {\n  for %1 in 0 .. 4 step 1 serial never {}\n}",
         "expected none, private, reduce or ordered"},
        {"kernel @k () {\n  for %1 in 0 4 step 1 serial none {}\n}", "expected .."},
        {"kernel @k () {", "expected '}'"},
        {"kernel @k () {} x", "expected the end"},
        {"kernel @\"k", "a string that does not end"},
        {"kernel @\"k\\q\"", "an escape that is none of"},
        {"kernel @\"k\\x00\"", "an escape that is none of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kir_kernel *k;
        refused(kir_parse(&arena, cases[i].text, strlen(cases[i].text), "test", &k), GN_ERR_MODEL,
                cases[i].want, cases[i].text);
    }
}
END_TEST

START_TEST(depth_is_bounded)
{
    for (int depth = KIR_MAX_DEPTH - 1; depth <= KIR_MAX_DEPTH; depth++) {
        gn_buf t = {.arena = &arena};
        gn_buf_add(&t, "kernel @deep () {\n");
        for (int i = 0; i < depth; i++) gn_buf_add(&t, "if true {\n");
        for (int i = 0; i <= depth; i++) gn_buf_add(&t, "}\n");
        kir_kernel *k;
        gn_status *s = kir_parse(&arena, t.p, t.n, "test", &k);
        if (depth < KIR_MAX_DEPTH) {
            succeeded(s, t.p);
            succeeded(kir_verify(k), t.p);
            ck_assert_str_eq(printed(parsed(printed(k))), printed(k));
        } else {
            refused(s, GN_ERR_MODEL, "nested too deeply", t.p);
        }
    }
}
END_TEST

START_TEST(folding)
{
    kir_kernel *k = kir_kernel_new(&arena, "fold");
    kir_cursor c = {0};
    kir_id n = kir_sym(k, &c, kir_sym_add(k, "n"));
    int64_t v;
    ck_assert_uint_eq(kir_bin_imm(k, &c, KIR_IADD, n, 0), n);
    ck_assert_uint_eq(kir_bin_imm(k, &c, KIR_IMUL, n, 1), n);
    ck_assert_uint_eq(kir_bin(k, &c, KIR_IMUL, kir_iconst(k, &c, 1), n), n);
    ck_assert(kir_is_iconst(k, kir_bin_imm(k, &c, KIR_IMUL, n, 0), &v) && v == 0);
    kir_id n6 = kir_bin_imm(k, &c, KIR_IMUL, n, 6);
    ck_assert_uint_eq(kir_bin_imm(k, &c, KIR_IDIV, n6, 6), n);
    ck_assert(kir_is_iconst(k, kir_bin_imm(k, &c, KIR_IMOD, n6, 3), &v) && v == 0);
    const kir_inst *half = kir_at(k, kir_bin_imm(k, &c, KIR_IDIV, n6, 3));
    ck_assert(half->op == KIR_IMUL && half->a == n && kir_is_iconst(k, half->b, &v) && v == 2);
    kir_id big = kir_iconst(k, &c, INT64_MAX);
    /* would wrap: stays */
    ck_assert_int_eq(kir_at(k, kir_bin_imm(k, &c, KIR_IADD, big, 1))->op, KIR_IADD);
    ck_assert_int_eq(kir_at(k, kir_bin_imm(k, &c, KIR_IDIV, n, 0))->op, KIR_IDIV);
    kir_id no = kir_bin(k, &c, KIR_ILT, n, n);
    ck_assert(kir_at(k, no)->op == KIR_CONST && kir_at(k, no)->imm == 0 &&
              kir_at(k, no)->elem == GN_BOOL);
    ck_assert_uint_eq(kir_select(k, &c, no, n, n6), n6);
    kir_id size = kir_size_value(k, &c, (kir_size){.coef = 4, .sym = 0, .plus = 1});
    ck_assert_int_eq(kir_at(k, size)->op, KIR_IADD);
    succeeded(kir_verify(k), "fold");
}
END_TEST

/* A cursor in the middle of a block keeps what stands after it. */
START_TEST(insertion)
{
    kir_kernel *k = kir_kernel_new(&arena, "insert");
    kir_cursor c = {0}, body, early;
    int b = kir_buffer_add(k, "x", GN_I64, KIR_WRITE, (kir_size){.coef = 4, .sym = -1});
    early = c;
    kir_id i = kir_for_n(k, &c, &body, 4, KIR_SERIAL, KIR_NONE);
    kir_store(k, &body, b, i, i);
    kir_cursor first = {.owner = i};
    kir_store(k, &first, b, kir_iconst(k, &first, 1), i);
    kir_store(k, &early, b, kir_iconst(k, &early, 2), kir_iconst(k, &early, 7));
    ck_assert_str_eq(printed(k), "kernel @insert (\n  %x: i64[4] write\n) {\n  store %x[2], 7\n"
                                 "  for %1 in 0 .. 4 step 1 serial none {\n    store %x[1], %1\n   "
                                 " store %x[%1], %1\n  }\n}\n");
}
END_TEST

START_TEST(helpers)
{
    kir_kernel *k = kir_kernel_new(&arena, "all");
    kir_cursor c = {0}, block, loop, branch;
    int x = kir_buffer_add(k, "x", GN_F16, KIR_READ_WRITE, (kir_size){.coef = 9, .sym = -1});
    kir_id key = kir_rngkey(k, &c, kir_iconst(k, &c, 7), kir_sym(k, &c, kir_sym_add(k, "step")));
    kir_id zero = kir_iconst(k, &c, 0), i = kir_for_n(k, &c, &block, 9, KIR_BLOCK, KIR_NONE);
    kir_prefetch(k, &block, x, i);
    kir_id t = kir_tile(k, &block, GN_F32, 1), r = kir_random(k, &block, key, i, 3, true);
    kir_tstore(k, &block, t, zero, r);
    kir_barrier(k, &block);
    kir_id lane = kir_for_n(k, &block, &loop, 8, KIR_LANE, KIR_REDUCE);
    kir_id v = kir_load(k, &loop, x, lane), e = kir_un(k, &loop, KIR_EXP, v);
    kir_tacc(k, &loop, KIR_SUM, t, zero, kir_tri(k, &loop, KIR_FMA, v, e, e));
    kir_tfma(k, &loop, t, zero, v, kir_cast(k, &loop, kir_cast(k, &loop, lane, GN_F32), GN_F32));
    kir_id odd = kir_bin(k, &block, KIR_IEQ, kir_bin_imm(k, &block, KIR_IMOD, i, 2),
                         kir_iconst(k, &block, 1));
    kir_if(k, &block, &branch, kir_un(k, &block, KIR_NOT, odd));
    kir_store(k, &branch, x, i, kir_select(k, &branch, odd, kir_tload(k, &branch, t, zero), r));
    ck_assert_str_eq(printed(k), "kernel @all (\n  sym step,\n  %x: f16[9] read_write\n) {\n"
                                 "  %1 = rngkey 7, step\n"
                                 "  for %2 in 0 .. 9 step 1 block none {\n"
                                 "    prefetch %x[%2]\n"
                                 "    %3 = tile f32 1\n"
                                 "    %4 = random %1, %2 site 3 narrow\n"
                                 "    tstore %3[0], %4\n"
                                 "    barrier\n"
                                 "    for %5 in 0 .. 8 step 1 lane reduce {\n"
                                 "      %6 = load f32 %x[%5]\n"
                                 "      %7 = exp f32 %6\n"
                                 "      %8 = fma f32 %6, %7, %7\n"
                                 "      tacc sum %3[0], %8\n"
                                 "      %9 = cast f32 %5\n"
                                 "      tfma %3[0], %6, %9\n"
                                 "    }\n"
                                 "    %10 = imod %2, 2\n"
                                 "    %11 = ieq %10, 1\n"
                                 "    %12 = not %11\n"
                                 "    if %12 {\n"
                                 "      %13 = tload f32 %3[0]\n"
                                 "      %14 = select f32 %11, %13, %4\n"
                                 "      store %x[%2], %14\n"
                                 "    }\n"
                                 "  }\n"
                                 "}\n");
    succeeded(kir_verify(k), "helpers");
}
END_TEST

/* docs/loop-ir.md names every instruction, and its example is a kernel. */
START_TEST(documented)
{
    FILE *f = fopen("docs/loop-ir.md", "rb");
    ck_assert_ptr_nonnull(f);
    char page[32768];
    size_t n = fread(page, 1, sizeof page - 1, f);
    fclose(f);
    page[n] = 0;
    for (int op = 1; op < KIR_OP_COUNT; op++) {
        char bare[32], with[32];
        snprintf(bare, sizeof bare, "`%s`", kir_ops[op].text);
        snprintf(with, sizeof with, "`%s ", kir_ops[op].text);
        ck_assert_msg(strstr(page, bare) || strstr(page, with), "%s is not explained",
                      kir_ops[op].text);
    }
    char *example = strstr(page, "kernel @spmm"), *end = strstr(example, "```");
    ck_assert(end != NULL);
    *end = 0;
    ck_assert_str_eq(printed(verified(example)), example);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("text");
    tcase_add_test(c, print_undoes_parse);
    tcase_add_test(c, every_instruction);
    tcase_add_test(c, literals);
    tcase_add_test(c, products_of_fragments);
    tcase_add_test(c, products_of_pairs);
    tcase_add_test(c, odd_names);
    tcase_add_test(c, errors);
    tcase_add_test(c, depth_is_bounded);
    tcase_add_test(c, folding);
    tcase_add_test(c, insertion);
    tcase_add_test(c, helpers);
    tcase_add_test(c, documented);
    return run_tests(c, "kir_text");
}
