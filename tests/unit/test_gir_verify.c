/* The verifier: a program that holds, with one invariant broken at a time. */
/* links: ir base */
#include "gir_test.h"

static const char whole[] = "program @t {\n"
                            "  file m.gnn\n"
                            "  space node node ?\n"
                            "  space edge edge ? of %1\n"
                            "  space edge.1 edge ? of %4\n"
                            "  space feature feature 4\n"
                            "  space other node ?\n"
                            "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                            "  %2 = input \"x\" : node f32[4] @ m.gnn:1:1\n"
                            "  %3 = state \"w\" : f32[4, 2]\n"
                            "  %4 = self_loops %1 : graph<node -> node, edge.1>\n"
                            "  %5 = matmul %2, %3\n"
                            "  %6 = gather %4, %5\n"
                            "  %7 = const {value = 0} : node f32[2]\n"
                            "  %8 = add %5, %7\n"
                            "  %9 = size {space = edge.1}\n"
                            "  %10 = graph \"h\" : graph<node -> other, edge>\n"
                            "  output \"out\" %6\n"
                            "  update \"w\" %3\n"
                            "}\n";

/* %10 shares the edge space of %1 and so does not hold; all other tests drop it first. */
static gir_program *holds(void)
{
    gir_program *p = NULL;
    expect_ok(gir_parse(&arena, whole, strlen(whole), "test", &p));
    p->nodes.n--;
    expect_ok(gir_verify(p));
    return p;
}

static void broken(const gir_program *p, const char *rule)
{
    expect_error(gir_verify(p), GN_ERR_INTERNAL, rule);
}

#define BREAK(what, rule)                                                                          \
    do {                                                                                           \
        gir_program *p = holds();                                                                  \
        what;                                                                                      \
        broken(p, rule);                                                                           \
    } while (0)

START_TEST(values)
{
    BREAK(gir_at(p, 8)->op = GIR_OP_COUNT, "%8: no operator");
    BREAK(gir_at(p, 8)->op = GIR_INVALID, "%8: no operator 0");
    BREAK(p->operands.p[gir_at(p, 8)->first_in] = 8, "%8 = add: operand %8 does not come before");
    BREAK(p->operands.p[gir_at(p, 8)->first_in] = 0, "operand %0 does not come before");
    BREAK(p->operands.p[gir_at(p, 8)->first_in] = 9999, "operand %9999 does not come before");
    BREAK(gir_at(p, 8)->first_in = 9999, "%8: operands do not exist");
    BREAK(gir_at(p, 8)->n_in = 1, "1 operands, takes 2");
    BREAK(p->operands.p[gir_at(p, 8)->first_in] = 1, "operand 1 is a graph, a tensor is needed");
    BREAK(gir_at(p, 8)->op = GIR_AND, "operand 1 is f32, not bool");
}
END_TEST

START_TEST(types)
{
    BREAK(gir_at(p, 8)->type.dim[0] = 3, "%8 = add: the result is node f32[2], not node f32[3]");
    BREAK(gir_at(p, 8)->type.elem = GN_F64, "not node f64[2]");
    BREAK(gir_at(p, 8)->type.elem = 77, "no such element type");
    BREAK(gir_at(p, 8)->type.rank = 7, "7 dimensions are more than 6");
    BREAK(gir_at(p, 8)->type.space = 999, "no such space");
    BREAK(gir_at(p, 2)->type.dim[0] = 0, "dimension 0 is 0");
    BREAK(gir_at(p, 2)->type.dim[0] = GIR_MAX_ELEMS + 1, "more than 2^40 elements");
    BREAK(gir_at(p, 8)->type.is_graph = 1, "is not a graph");
    BREAK(gir_at(p, 8)->type.is_graph = 2, "%8 = add");
    BREAK(gir_at(p, 4)->type.is_graph = 0, "%4 is not the graph of edge space edge.1");
    BREAK((gir_at(p, 4)->type.is_graph = 0, p->spaces.p[3].graph = 0),
          "%4 = self_loops: is a graph");
    BREAK(gir_at(p, 4)->type.src = 5, "%4 = self_loops: the result is graph<node -> node, edge.1>");
    BREAK(gir_at(p, 4)->type.edge = 1, "%4 is not the graph of edge space edge.1");
    BREAK(gir_at(p, 4)->type.edge = 2, "%4 is not the graph of edge space edge.1");
    BREAK(gir_at(p, 4)->type.edge = 99, "%4 is not the graph of edge space edge.1");
}
END_TEST

START_TEST(attributes)
{
    BREAK(gir_at(p, 8)->attr.i[0] = 1, "%8: attribute 0 is 1 and not in use");
    BREAK(gir_at(p, 5)->attr.i[2] = -1, "%5: attribute 2 is -1 and not in use");
    BREAK(gir_at(p, 8)->attr.f = NAN, "%8: attribute f is not in use");
    BREAK(gir_at(p, 8)->attr.name = "n", "%8: a name is not in use");
    BREAK(gir_at(p, 2)->attr.name = NULL, "%2 = input: has no name");
    BREAK(gir_at(p, 6)->attr.i[0] = 2, "end is 2");
    BREAK(gir_at(p, 9)->attr.i[0] = 99, "no such space");
}
END_TEST

START_TEST(spaces)
{
    BREAK(p->spaces.p[2].graph = 0, "its edge space edge belongs to %0");
    BREAK(p->spaces.p[2].graph = 2, "%2 is not the graph of edge space edge");
    BREAK(p->spaces.p[2].graph = 4, "%4 is not the graph of edge space edge");
    BREAK(p->spaces.p[2].graph = 999, "%999 is not the graph");
    BREAK(p->spaces.p[1].graph = 1, "space node has a graph and is no edge space");
    BREAK(p->spaces.p[1].kind = GIR_NONE, "space node is of kind 0");
    BREAK(p->spaces.p[0].kind = GIR_NODE, "space none is of kind 1");
    BREAK(p->spaces.p[1].kind = (gir_space_kind)9, "space node is of kind 9");
    BREAK(p->spaces.p[1].size = -2, "space node has -2 rows");
    BREAK(p->spaces.p[4].size = -1, "feature space feature has no size");
    BREAK(p->spaces.p[5].name = "node", "two spaces are called node");
    BREAK(p->spaces.p[5].name = "", "space 5 has no name");
    BREAK(p->spaces.p[5].name = NULL, "space 5 has no name");
    BREAK(p->spaces.n = 0, "no placeholders");
    BREAK(p->nodes.n = 0, "no placeholders");
    BREAK(p->name = "", "the program has no name");
    BREAK(p->nodes.n++, "%10 = graph: its edge space edge belongs to %1");
}
END_TEST

/* A value over edges of a graph that comes later, or never does. */
START_TEST(rows)
{
    BREAK((gir_at(p, 2)->type.space = 3, p->nodes.n = 5),
          "%2: the graph of edge space edge.1 does not come before");
    gir_program *p = gir_program_new(&arena, "t");
    gir_space_id edge = gir_space_add(p, "edge", GIR_EDGE, -1);
    gir_type t = gir_tensor(GN_F32, edge, 0, NULL);
    gir_const(p, &t, 1);
    broken(p, "%1: the graph of edge space edge does not come before");
    p = gir_program_new(&arena, "t");
    edge = gir_space_add(p, "edge", GIR_EDGE, -1);
    gir_make(p, GIR_SIZE, 0, NULL, &(gir_attr){.i = {edge}}, NULL, NULL);
    broken(p, "%1: the graph of edge space edge does not come before");
}
END_TEST

/* Spaces of picked rows belong to their picks. */
START_TEST(picked_rows)
{
    static const char
        *const text = "program @t { space node node ? space edge edge ?\n"
                      " %1 = graph \"g\" : graph<node -> node, edge>\n"
                      " %2 = input \"m\" : node bool[]\n %3 = subset %2\n %4 = grow %3, %1, %3\n"
                      " %5 = const {value = 1} : node.1 f32[]\n output \"o\" %5 }";
    gir_program *p = read_program(text);
    expect_ok(gir_verify(p));
    gir_space_id picked = gir_type_of(p, 3)->dst, grown = gir_type_of(p, 4)->dst;
    p->spaces.p[picked].graph = 4;
    broken(p, "space node.1 has a graph and is no edge space");
    p->spaces.p[picked].graph = 0;
    broken(p, "%3 = subset: space node.1 belongs to %0");
    p->spaces.p[picked].graph = 3;
    p->spaces.p[grown].graph = 3;
    broken(p, "space node.2 has a graph and is no edge space");
    p->spaces.p[grown].graph = 4;
    gir_at(p, 5)->type.space = grown;
    expect_ok(gir_verify(p));
    expect_ok(gir_verify(
        read_program(/* a few of so many features */
                     "program @t { space word feature 4 space node node ? %1 = input \"k\" : word "
                     "bool[]\n"
                     " %2 = subset %1\n %3 = input \"x\" : node f32[4]\n %4 = pattern %3\n"
                     " %5 = grow %4 {end = 0}\n %6 = const {value = 1} : word.1 f32[]\n output "
                     "\"o\" %6 }")));
    gir_program *q = gir_program_new(&arena, "late");
    gir_space_id node = gir_space_add(q, "node", GIR_NODE, -1),
                 some = gir_space_add(q, "some", GIR_NODE, -1);
    gir_type t = gir_tensor(GN_BOOL, node, 0, NULL), one = gir_tensor(GN_F32, some, 0, NULL);
    gir_type pick = {
        .is_graph = 1, .src = node, .dst = some, .edge = gir_space_add(q, "edge", GIR_EDGE, -1)};
    gir_const(q, &one, 1);
    gir_id mask = gir_append(q, GIR_INPUT, 0, NULL, &(gir_attr){.name = "m"}, &t);
    gir_append(q, GIR_SUBSET, 1, &mask, &(gir_attr){0}, &pick);
    broken(q, "%1: the pick of space some does not come before");
}
END_TEST

START_TEST(names)
{
    BREAK(gir_at(p, 3)->attr.name = "x", "%2 and %3 are different and both called 'x'");
    BREAK(p->outputs.p[0].name = "", "output 0 has no name");
    BREAK(p->outputs.p[0].name = NULL, "output 0 has no name");
    BREAK(p->outputs.p[0].kind = (gir_output_kind)2, "output 0 is of kind 2");
    BREAK(p->outputs.p[0].value = 0, "output 'out': %0 does not exist");
    BREAK(p->outputs.p[0].value = 10, "output 'out': %10 does not exist");
    BREAK(p->outputs.p[0].value = 4, "output 'out': %4 is a graph");
    BREAK(p->outputs.p[1].value = 2, "update 'w': node f32[4] replaces f32[4, 2]");
    BREAK(gir_output_add(p, GIR_OUTPUT, "out", 2), "output 'out' is there twice");
    BREAK(gir_output_add(p, GIR_UPDATE, "w", 3), "update 'w' is there twice");
    BREAK(gir_at(p, 2)->loc.file = 1, "%2: its location is in no file");
    gir_program *p = holds();
    gir_output_add(p, GIR_OUTPUT, "w", 3); /* an output and an update of one name are two things */
    expect_ok(gir_verify(p));
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, values);
    tcase_add_test(c, types);
    tcase_add_test(c, attributes);
    tcase_add_test(c, spaces);
    tcase_add_test(c, rows);
    tcase_add_test(c, picked_rows);
    tcase_add_test(c, names);
}

int main(void) { return run_suite("gir_verify", fill); }
