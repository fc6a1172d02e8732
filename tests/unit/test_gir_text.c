/* Text of the tensor IR: what is printed is read back as the same program; what is wrong is said
 * with its place. */
/* links: ir base */
#include "gir_test.h"

/* Printed exactly like this. */
static const char
    whole[] = "program @step {\n"
              "  file model.gnn\n"
              "  file \"a dir/other.gnn\"\n"
              "  space node node ?\n"
              "  space \"odd name\" node 12\n"
              "  space edge edge ? of %1\n"
              "  space edge.1 edge ? of %8\n"
              "  space feature feature 16\n"
              "  space edge.2 edge ? of %10\n"
              "  space batch graphs ?\n"
              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
              "  %2 = input \"x\" : node f32[16] @ model.gnn:12:7\n"
              "  %3 = state \"conv.weight\" : f32[16, 2] @ \"a dir/other.gnn\":4294967295:65535\n"
              "  %4 = matmul %2, %3 {ta = 0, tb = 0} : node f32[2]"
              " @ \"a dir/other.gnn\":9:5 from 12 in convs.0 backward\n"
              "  %5 = const {value = 0.10000000000000001} : \"odd name\" f32[2]\n"
              "  %6 = const {value = -inf} : f64[] in \"(loss)\"\n"
              "  %7 = const {value = nan} : batch bf16[1]\n"
              "  %8 = self_loops %1 : graph<node -> node, edge.1>\n"
              "  %9 = size {space = edge.1} : i64[] optimizer again\n"
              "  %10 = pattern %2 : graph<feature -> node, edge.2>\n"
              "  %11 = transpose %3 {perm = 1} : f32[2, 16]\n"
              "  %12 = concat %3, %3, %3 {axis = 1} : f32[16, 6]\n"
              "  %13 = state \"quote \\\" slash \\\\ bell \\x07 \xc3\xa9\" : i64[]\n"
              "  output \"out\" %4\n"
              "  output \"conv.weight\" %12\n"
              "  update \"conv.weight\" %3\n"
              "}\n";

START_TEST(identity)
{
    gir_program *p = read_program(whole);
    ck_assert_str_eq(program_text(p), whole);
    ck_assert_uint_eq(p->nodes.n, 14);
    ck_assert_uint_eq(gir_at(p, 3)->loc.line, UINT32_MAX);
    ck_assert_uint_eq(gir_at(p, 3)->loc.file, 1);
    ck_assert_uint_eq(gir_at(p, 2)->loc.own, 12); /* it stands there itself */
    ck_assert_uint_eq(gir_at(p, 4)->loc.own, 12);
    ck_assert_str_eq(p->layers.p[gir_at(p, 4)->loc.layer], "convs.0");
    ck_assert_uint_eq(gir_at(p, 4)->loc.way, GIR_BACKWARD);
    ck_assert_uint_eq(gir_at(p, 5)->loc.layer, 0);
    ck_assert_int_eq(p->spaces.p[5].kind, GIR_FEATURE);
    ck_assert_int_eq(p->spaces.p[5].size, 16);
    ck_assert_str_eq(gir_at(p, 13)->attr.name, "quote \" slash \\ bell \x07 \xc3\xa9");
    ck_assert_str_eq(program_text(gir_clone(&arena, p)), whole);
}
END_TEST

/* Types that operands determine may be left out, and comments put in. */
START_TEST(by_hand)
{
    gir_program *p = read_program("program @t { space n node 3 ; rows\n"
                                  "%1=input\"x\":n f32[2]%2 = neg %1 ; no type\n"
                                  "%3 = reduce %2 {axes=1}output\"o\"%3}");
    ck_assert_str_eq(program_text(p), "program @t {\n"
                                      "  space n node 3\n"
                                      "  %1 = input \"x\" : n f32[2]\n"
                                      "  %2 = neg %1 : n f32[2]\n"
                                      "  %3 = reduce %2 {red = 0, axes = 1} : n f32[]\n"
                                      "  output \"o\" %3\n"
                                      "}\n");
}
END_TEST

/* Every double comes back. */
START_TEST(doubles)
{
    static const double values[] = {
        0, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, -1e-45, 123456789012345678.0};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        gir_program *p = gir_program_new(&arena, "d"), *q = NULL;
        gir_type t = gir_tensor(GN_F64, 0, 0, NULL);
        gir_const(p, &t, values[k]);
        char *text = program_text(p);
        expect_ok(gir_parse(&arena, text, strlen(text), "test", &q));
        ck_assert(memcmp(&gir_at(q, 1)->attr.f, &values[k], sizeof values[k]) == 0);
    }
}
END_TEST

static const struct {
    const char *text, *complaint;
} wrong[] = {
    {"", "test:1:1: 'program' is expected"},
    {"program t", "test:1:9: '@' is expected"},
    {"program @", "a word is expected"},
    {"program @t", "'{' is expected"},
    {"program @t {", "a space, file, value, output, update or '}' is expected"},
    {"program @t { } x", "nothing is expected after the program"},
    {"program @t {\n  %2 = const : f32[]", "test:2:5: values are numbered in order, %1 is next"},
    {"program @t { %1 = nonsense }", "no operator is called nonsense"},
    {"program @t { %1 = invalid }", "no operator is called invalid"},
    {"program @t { %1 = neg %1 }", "%1 does not come before"},
    {"program @t { %1 = neg %0 }", "0 is no integer in 1..4294967295"},
    {"program @t { %1 = const {value = x} : f32[] }", "x is no number"},
    {"program @t { %1 = const {axis = 1} : f32[] }", "const has no attribute axis"},
    {"program @t { %1 = input {name = 1} : f32[] }", "input has no attribute name"},
    {"program @t { %1 = const {value = 1, value = 2} : f32[] }", "value is given twice"},
    {"program @t { %1 = const \"x\" : f32[] }", "const has no name"},
    {"program @t { %1 = const : f31[] }", "f31 is no element type"},
    {"program @t { %1 = const : nowhere f32[] }", "no space is called nowhere"},
    {"program @t { %1 = const : f32[0] }", "0 is no integer in 1.."},
    {"program @t { %1 = const : f32[1, 1, 1, 1, 1, 1, 1] }", "more than 6 dimensions"},
    {"program @t { %1 = const : f32[99999999999999999999] }", "is no integer"},
    {"program @t { %1 = const : f32[1 }", "']' is expected"},
    {"program @t { %1 = const : f32[] @ f:0:0 }", "0 is no integer in 1..4294967295"},
    {"program @t { %1 = const : f32[] @ f:1:65536 }", "65536 is no integer in 0..65535"},
    {"program @t { space a node ? space a node ? }", "two spaces are called a"},
    {"program @t { space none node ? }", "two spaces are called none"},
    {"program @t { space a none ? }", "none is no kind of space"},
    {"program @t { space a node -1 }", "-1 is no integer"},
    {"program @t { output \"x\" %1 }", "%1 does not come before"},
    {"program @t { output x %1 }", "'\"' is expected"},
    {"program @t { output \"x", "'\"' is expected"},
    {"program @t { output \"\\xg0\" }", "\\x needs two hexadecimal digits"},
    {"program @t { output \"\\x00\" }", "a name holds a NUL"},
    {"program @t { space n node ? %1 = graph \"g\" : graph<n, n> }", "'->' is expected"},
};

START_TEST(complaints)
{
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        gir_program *p = NULL;
        gn_status *s = gir_parse(&arena, wrong[k].text, strlen(wrong[k].text), "test", &p);
        ck_assert_msg(s != NULL, "%s was accepted", wrong[k].text);
        expect_error(s, GN_ERR_MODEL, wrong[k].complaint);
    }
}
END_TEST

/* Any beginning of a program is an error, and nothing past its end is read. */
START_TEST(truncated)
{
    for (size_t n = 0; n + 2 < sizeof whole; n++) {
        char *part = malloc(n + 1); /* exactly as long, for the sanitizer */
        memcpy(part, whole, n);
        gir_program *p = NULL;
        gn_status *s = gir_parse(&arena, part, n, "test", &p);
        ck_assert_ptr_nonnull(s);
        gn_status_free(s);
        free(part);
    }
}
END_TEST

START_TEST(op_names)
{
    for (int op = 1; op < GIR_OP_COUNT; op++)
        ck_assert_int_eq(gir_op_by_name(gir_ops[op].text), op);
    ck_assert_int_eq(gir_op_by_name("invalid"), GIR_INVALID);
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, identity);
    tcase_add_test(c, by_hand);
    tcase_add_test(c, doubles);
    tcase_add_test(c, complaints);
    tcase_add_test(c, truncated);
    tcase_add_test(c, op_names);
}

int main(void) { return run_suite("gir_text", fill); }
