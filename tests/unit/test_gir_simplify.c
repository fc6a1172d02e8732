/* The cleaning passes, rule by rule: what is written becomes what is expected, and what must stay
 * stays. */
/* links: ir lower passes base */
#include "gir_test.h"
#include "passes/simplify.h"

static const char prelude[] = "program @t {\n"
                              "  space node node ?\n"
                              "  space edge edge ?\n"
                              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                              "  %2 = input \"x\" : node f32[2, 3]\n"
                              "  %3 = input \"y\" : node f32[2, 3]\n"
                              "  %4 = input \"c\" : node bool[2, 3]\n"
                              "  %5 = input \"i\" : node i32[2, 3]\n"
                              "  %6 = const {value = 0} : node f32[2, 3]\n"
                              "  %7 = const {value = 1} : node f32[2, 3]\n"
                              "  %8 = const {value = 1} : node bool[2, 3]\n"
                              "  %9 = const {value = 0} : node i32[2, 3]\n"
                              "  %10 = const {value = 2} : node f32[2, 3]\n"
                              "  %11 = self_loops %1\n"
                              "  %12 = neg %2\n"
                              "  %13 = input \"s\" : f32[]\n"
                              "  %14 = const {value = -1} : node f32[2, 3]\n"
                              "  %15 = ";

/* The output of a program after the pass, written as an expression. */
static void expression(const gir_program *p, gir_id v, gn_buf *b)
{
    const gir_node *n = gir_at(p, v);
    if (n->attr.name) {
        gn_buf_add(b, n->attr.name);
        return;
    }
    if (n->op == GIR_CONST) {
        gn_buf_printf(b, "%g:%s", n->attr.f, gir_type_text(p, &n->type));
        return;
    }
    gn_buf_printf(b, "%s(", gir_ops[n->op].text);
    for (int k = 0; k < n->n_in; k++) {
        if (k) gn_buf_add(b, ", ");
        expression(p, gir_in(p, v, k), b);
    }
    if (n->op == GIR_SLICE) gn_buf_printf(b, " from %lld", (long long)n->attr.i[1]);
    if (n->op == GIR_TRANSPOSE) gn_buf_printf(b, " by %lld", (long long)n->attr.i[0]);
    bool typed = n->op == GIR_CAST || n->op == GIR_BROADCAST || n->op == GIR_RESHAPE;
    if (typed) gn_buf_printf(b, " to %s", gir_type_text(p, &n->type));
    gn_buf_add(b, ")");
}

static const struct {
    const char *lines, *want;
} rules[] = {
    {"add %2, %6", "x"},
    {"add %6, %2", "x"},
    {"add %2, %12", "sub(x, x)"},
    {"add %12, %3", "sub(y, x)"},
    {"add %5, %9", "i"},
    {"sub %2, %6", "x"},
    {"sub %6, %2", "neg(x)"},
    {"sub %3, %12", "add(y, x)"},
    {"sub %2, %2", "sub(x, x)"}, /* infinity - infinity */
    {"mul %2, %7", "x"},
    {"mul %7, %2", "x"},
    {"mul %2, %14", "neg(x)"},
    {"mul %2, %6", "mul(x, 0:node f32[2, 3])"}, /* infinity * 0 */
    {"mul %5, %9", "0:node i32[2, 3]"},
    {"div %2, %7", "x"},
    {"div %2, %14", "neg(x)"},
    {"div %2, %10", "mul(x, 0.5:node f32[2, 3])"},
    {"div %2, %2", "div(x, x)"},
    {"const {value = 3} : node f32[2, 3]\n %16 = div %2, %15", "div(x, 3:node f32[2, 3])"},
    {"pow %2, %6", "1:node f32[2, 3]"},
    {"pow %2, %7", "x"},
    {"pow %2, %10", "mul(x, x)"},
    {"const {value = 3} : node f32[2, 3]\n %16 = pow %2, %15", "mul(mul(x, x), x)"},
    {"pow %2, %14", "recip(x)"},
    {"max %2, %2", "x"},
    {"min %2, %2", "x"},
    {"neg %12", "x"},
    {"abs %12", "abs(x)"},
    {"abs %2\n %16 = abs %15", "abs(x)"},
    {"detach %2", "x"},
    {"not %4\n %16 = not %15", "c"},
    {"and %4, %4", "c"},
    {"and %4, %8", "c"},
    {"or %4, %8", "1:node bool[2, 3]"},
    {"not %8\n %16 = and %15, %4", "0:node bool[2, 3]"},
    {"not %8\n %16 = or %15, %4", "c"},
    {"select %8, %2, %3", "x"},
    {"not %8\n %16 = select %15, %2, %3", "y"},
    {"select %4, %2, %2", "x"},
    {"not %4\n %16 = select %15, %2, %3", "select(c, y, x)"},
    {"le %2, %6\n %16 = select %15, %6, %2",
     "select(nle(x, 0:node f32[2, 3]), x, 0:node f32[2, 3])"},
    {"lt %2, %6\n %16 = select %15, %6, %2",
     "select(lt(x, 0:node f32[2, 3]), 0:node f32[2, 3], x)"},
    {"le %2, %3\n %16 = select %15, %2, %6\n %17 = select %15, %6, %3\n %18 = add %16, %17",
     "select(nle(x, y), y, x)"}, /* both of them are turned */
    {"select %4, %2, %6\n %16 = mul %15, %10",
     "select(c, mul(x, 2:node f32[2, 3]), 0:node f32[2, 3])"},
    {"select %4, %6, %2\n %16 = mul %10, %15",
     "select(c, 0:node f32[2, 3], mul(x, 2:node f32[2, 3]))"},
    {"select %4, %2, %7\n %16 = mul %15, %10",
     "mul(select(c, x, 1:node f32[2, 3]), 2:node f32[2, 3])"}, /* no zero to keep */
    {"select %4, %2, %6\n %16 = select %4, %6, %3\n %17 = add %15, %16", "select(c, x, y)"},
    {"select %4, %6, %2\n %16 = select %4, %3, %6\n %17 = add %15, %16", "select(c, y, x)"},
    {"select %4, %2, %6\n %16 = select %4, %6, %2\n %17 = add %15, %16", "x"},
    {"select %4, %2, %6\n %16 = select %4, %3, %6\n %17 = add %15, %16",
     "add(select(c, x, 0:node f32[2, 3]), select(c, y, 0:node f32[2, 3]))"}, /* the same side */
    {"select %4, %6, %3\n %16 = mul %15, %2\n %17 = select %4, %2, %16", "select(c, x, mul(y, x))"},
    {"select %4, %3, %6\n %16 = mul %2, %15\n %17 = neg %16\n %18 = select %4, %17, %2",
     "select(c, neg(mul(x, y)), x)"},
    {"select %4, %3, %6\n %16 = mul %15, %2\n %17 = select %4, %2, %16",
     "select(c, x, mul(select(c, y, 0:node f32[2, 3]), x))"}, /* the side that is 0 */
    {"select %4, %6, %3\n %16 = exp %15\n %17 = select %4, %2, %16",
     "select(c, x, exp(select(c, 0:node f32[2, 3], y)))"}, /* no product: others may read it */
    {"cast %2 : node f32[2, 3]", "x"},
    {"cast %2 : node f64[2, 3]\n %16 = cast %15 : node f32[2, 3]", "x"},
    {"cast %2 : node f16[2, 3]\n %16 = cast %15 : node f32[2, 3]",
     "cast(cast(x to node f16[2, 3]) to node f32[2, 3])"},
    {"cast %5 : node i64[2, 3]\n %16 = cast %15 : node f32[2, 3]", "cast(i to node f32[2, 3])"},
    {"cast %2 : node i32[2, 3]\n %16 = cast %15 : node f32[2, 3]",
     "cast(cast(x to node i32[2, 3]) to node f32[2, 3])"},
    {"cast %4 : node f32[2, 3]\n %16 = ne %15, %6", "c"},
    {"cast %5 : node f32[2, 3]\n %16 = ne %15, %6",
     "ne(cast(i to node f32[2, 3]), 0:node f32[2, 3])"},
    {"ne %2, %6", "ne(x, 0:node f32[2, 3])"},
    {"add %10, %7", "3:node f32[2, 3]"},
    {"exp %6", "1:node f32[2, 3]"},
    {"lt %6, %7", "1:node bool[2, 3]"},
    {"div %7, %6", "inf:node f32[2, 3]"},
    {"const {value = 0.1} : f32[]\n %16 = const {value = 0.2} : f32[]\n %17 = add %15, %16",
     "0.3:f32[]"},
    {"broadcast %13 : node f32[]\n %16 = broadcast %15 : node f32[2, 3]",
     "broadcast(s to node f32[2, 3])"},
    {"broadcast %13 : f32[2]", "broadcast(s to f32[2])"},
    {"reshape %13 : f32[1, 1]\n %16 = broadcast %15 : node f32[2, 3]",
     "broadcast(s to node f32[2, 3])"},
    {"broadcast %2 : node f32[2, 3]", "x"},
    {"const {value = 4} : f32[3]\n %16 = broadcast %15 : node f32[2, 3]", "4:node f32[2, 3]"},
    {"reshape %2 : node f32[6]\n %16 = reshape %15 : node f32[3, 2]",
     "reshape(x to node f32[3, 2])"},
    {"reshape %2 : node f32[6]\n %16 = reshape %15 : node f32[2, 3]", "x"},
    {"reshape %2 : node f32[2, 3]", "x"},
    {"reshape %7 : node f32[6]", "1:node f32[6]"},
    {"concat %6, %7 {axis = 0}", "concat(0:node f32[2, 3], 1:node f32[2, 3])"},
    {"concat %6, %6 {axis = 0}", "0:node f32[4, 3]"},
    {"cast %4 : node f32[2, 3]\n %16 = ne %15, %7",
     "ne(cast(c to node f32[2, 3]), 1:node f32[2, 3])"},
    {"concat %2, %3 {axis = 0}\n %16 = slice %15 {axis = 1, start = 0} : node f32[4, 2]",
     "slice(concat(x, y) from 0)"},
    {"concat %2, %3 {axis = 0}\n %16 = slice %15 {axis = 0, start = 2} : node f32[1, 3]",
     "slice(concat(x, y) from 2)"},
    {"slice %2 {axis = 0, start = 1} : node f32[1, 3]\n %16 = slice %15 {axis = 1, start = 1} : "
     "node f32[1, 2]",
     "slice(slice(x from 1) from 1)"},
    {"transpose %2 {perm = 16}", "x"},
    {"transpose %2 {perm = 1}\n %16 = transpose %15 {perm = 1}", "x"},
    {"reshape %2 : node f32[1, 2, 3]\n %16 = transpose %15 {perm = 258}\n %17 = transpose %16 "
     "{perm = 258}",
     "transpose(reshape(x to node f32[1, 2, 3]) by 33)"},
    {"reshape %2 : node f32[1, 2, 3]\n %16 = transpose %15 {perm = 258}\n %17 = transpose %16 "
     "{perm = 513}",
     "transpose(reshape(x to node f32[1, 2, 3]) by 288)"},
    {"slice %2 {axis = 0, start = 0} : node f32[2, 3]", "x"},
    {"slice %2 {axis = 1, start = 1} : node f32[2, 2]\n %16 = slice %15 {axis = 1, start = 1} : "
     "node f32[2, 1]",
     "slice(x from 2)"},
    {"concat %2, %3 {axis = 0}\n %16 = slice %15 {axis = 0, start = 2} : node f32[2, 3]", "y"},
    {"concat %2, %3 {axis = 0}\n %16 = slice %15 {axis = 0, start = 1} : node f32[2, 3]",
     "slice(concat(x, y) from 1)"},
    {"concat %2 {axis = 1}", "x"},
    {"concat %7, %7 {axis = 0}", "1:node f32[4, 3]"},
    {"pad %6 {axis = 0, before = 1} : node f32[5, 3]", "0:node f32[5, 3]"},
    {"pad %7 {axis = 0, before = 1} : node f32[5, 3]", "pad(1:node f32[2, 3])"},
    {"reduce %7 {red = 0, axes = 3}", "6:node f32[]"},
    {"reduce %10 {red = 1, axes = 1}", "2:node f32[3]"},
    {"reshape %2 : node f32[6, 1]\n %16 = reduce %15 {red = 1, axes = 2}",
     "reshape(x to node f32[6])"},
    {"space_reduce %6 {red = 0}", "0:f32[2, 3]"},
    {"space_reduce %7 {red = 1}", "space_reduce(1:node f32[2, 3])"}, /* of no rows it is 0 */
    {"gather %1, %7", "1:edge f32[2, 3]"},
    {"const {value = 0} : edge f32[]\n %16 = scatter %1, %15 {end = 1, red = 1}", "0:node f32[]"},
    {"const {value = 1} : edge f32[]\n %16 = scatter %1, %15 {end = 1, red = 1}",
     "scatter(g, 1:edge f32[])"},
    {"const {value = 3} : edge f32[]\n %16 = const {value = 3} : node f32[]\n %17 = carry %11, %1, "
     "%15, %16",
     "3:edge.1 f32[]"},
    {"const {value = 3} : edge f32[]\n %16 = const {value = 1} : node f32[]\n %17 = carry %11, %1, "
     "%15, %16",
     "carry(self_loops(g), g, 3:edge f32[], 1:node f32[])"},
    {"const {value = 0} : edge.1 f32[]\n %16 = uncarry %1, %11, %15", "0:edge f32[]"},
    {"const {value = 1} : edge.1 f32[]\n %16 = uncarry %1, %11, %15",
     "uncarry(g, self_loops(g), 1:edge.1 f32[])"},
    {"const {value = 2} : f32[4, 2]\n %16 = input \"w\" : f32[4, 2]\n %17 = add %16, %16\n %18 = "
     "sub %17, %17",
     "sub(add(w, w), add(w, w))"},
};

START_TEST(rule_by_rule)
{
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        gir_program *p = read_program(
                        gn_arena_printf(&arena, "%s%s\n}\n", prelude, rules[k].lines)),
                    *q = NULL;
        gir_output_add(p, GIR_OUTPUT, "o", p->nodes.n - 1);
        expect_ok(gn_pass_simplify(&arena, p, &q));
        gn_status *s = gir_verify(q);
        ck_assert_msg(s == NULL, "%s: %s", rules[k].lines, gn_status_message(s));
        gn_buf b = {.arena = &arena};
        expression(q, q->outputs.p[0].value, &b);
        ck_assert_msg(strcmp(b.p, rules[k].want) == 0, "%s: %s, not %s", rules[k].lines, b.p,
                      rules[k].want);
    }
}
END_TEST

/* Layers that derive the same graph share it, and its edge space; equal sums are one whichever way
 * they are written. */
START_TEST(equals_are_shared)
{
    gir_program *p = read_program(
        "program @t { space node node ? space edge edge ?\n"
        " %1 = graph \"g\" : graph<node -> node, edge>\n %2 = input \"x\" : node f32[2]\n"
        " %3 = self_loops %1 %4 = gather %3, %2 %5 = scatter %3, %4 {end = 1}\n"
        " %6 = self_loops %1 %7 = gather %6, %2 %8 = scatter %6, %7 {end = 1}\n"
        " %9 = add %5, %2 %10 = add %2, %8 %11 = size {space = edge.1}\n"
        " %12 = size {space = edge.2} %13 = pattern %2 %14 = pattern %2\n"
        " %15 = cell %13, %2 %16 = cell %14, %2 %17 = input \"x\" : node f32[2]\n"
        " %18 = sub %2, %17 %19 = sub %17, %9 %20 = sub %9, %17\n"
        " %21 = iota {axis = -1} : feature.1 i64[] %22 = gather %14, %21\n"
        " output \"a\" %9 output \"b\" %10 output \"c\" %11 output \"d\" %12\n"
        " output \"e\" %15 output \"f\" %16 output \"h\" %18 output \"i\" %19 output \"j\" %20 "
        "output \"k\" %22 }");
    gir_program *q = NULL;
    expect_ok(gn_pass_cse(&arena, p, &q));
    expect_ok(gir_verify(q));
    for (int k = 0; k < 6; k += 2)
        ck_assert_uint_eq(q->outputs.p[k].value, q->outputs.p[k + 1].value);
    ck_assert_uint_eq(gir_in(q, q->outputs.p[6].value, 0), gir_in(q, q->outputs.p[6].value, 1));
    ck_assert_uint_ne(q->outputs.p[7].value, q->outputs.p[8].value); /* a - b is not b - a */
    ck_assert_uint_eq(q->nodes.n, 15);
}
END_TEST

/* Kept: what outputs need, and the value that tells how many rows a space has. */
START_TEST(dead_code)
{
    gir_program *p = read_program(
        "program @t { space node node ? space edge edge ? space other node ?\n"
        " %1 = graph \"g\" : graph<node -> node, edge> %2 = input \"x\" : node f32[2]\n"
        " %3 = input \"z\" : other f32[2] %4 = self_loops %1 %5 = reverse %1\n"
        " %6 = const {value = 1} : edge.1 f32[] %7 = exp %2\n"
        " %8 = const {value = 2} : other f32[] %9 = exp %3 output \"a\" %6 update \"b\" %8 }");
    gir_program *q = NULL;
    expect_ok(gn_pass_dce(&arena, p, &q));
    expect_ok(gir_verify(q));
    ck_assert_str_eq(program_text(q), "program @t {\n"
                                      "  space node node ?\n"
                                      "  space edge edge ? of %1\n"
                                      "  space other node ?\n"
                                      "  space edge.1 edge ? of %3\n"
                                      "  space edge.2 edge ?\n"
                                      "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                                      "  %2 = input \"z\" : other f32[2]\n"
                                      "  %3 = self_loops %1 : graph<node -> node, edge.1>\n"
                                      "  %4 = const {value = 1} : edge.1 f32[]\n"
                                      "  %5 = const {value = 2} : other f32[]\n"
                                      "  output \"a\" %4\n"
                                      "  update \"b\" %5\n"
                                      "}\n");
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, rule_by_rule);
    tcase_add_test(c, equals_are_shared);
    tcase_add_test(c, dead_code);
}

int main(void) { return run_suite("gir_simplify", fill); }
