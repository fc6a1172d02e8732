/* The evaluator, against figures worked out by hand: every operator, graphs derived from graphs,
 * empty ones. */
/* links: ir base */
#include "base/philox.h"
#include "base/draw.h"
#include "gir_test.h"

/* Seven edges in the user's order; node 1 has two loops, node 0 one; 3 -> 1 is there twice; nothing
 * ends in 2 and 3.
 *   0: 2 -> 1   1: 0 -> 0   2: 1 -> 1   3: 3 -> 1   4: 1 -> 1   5: 1 -> 0   6: 3 -> 1
 * In CSR order: 1, 5 into node 0; 0, 2, 3, 4, 6 into node 1. */
static const int64_t src[] = {2, 0, 1, 3, 1, 1, 3}, dst[] = {1, 0, 1, 1, 1, 0, 1};

static const char prelude[] = "program @t {\n"
                              "  space node node ?\n"
                              "  space edge edge ?\n"
                              "  space row node 4\n"
                              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                              "  %2 = input \"x\" : node f64[2]\n"
                              "  %3 = input \"e\" : edge f64[]\n"
                              "  %4 = input \"a\" : f64[4]\n"
                              "  %5 = input \"b\" : f64[4]\n"
                              "  %6 = input \"c\" : bool[4]\n"
                              "  %7 = input \"d\" : bool[4]\n"
                              "  %8 = input \"i\" : i32[4]\n"
                              "  %9 = state \"m\" : f64[2, 3]\n"
                              "  %10 = state \"k\" : i64[]\n"
                              "  %11 = input \"p\" : node f64[3]\n"
                              "  %12 = self_loops %1\n"
                              "  %13 = remove_self_loops %1\n"
                              "  %14 = remaining_self_loops %1\n"
                              "  %15 = reverse %1\n"
                              "  %16 = pattern %11\n"
                              "  %17 = const {value = 0} : node f64[]\n"
                              "  %18 = input \"n\" : node f64[]\n"
                              "  %19 = ";

static gir_env bindings(void)
{
    static const char *names[] = {"g", "x", "e", "a", "b", "c", "d", "i",
                                  "m", "k", "p", "n", "s", "t", "q", "r"};
    static double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, e[] = {10, 11, 12, 13, 14, 15, 16};
    static double a[] = {-1.5, 0, 0.5, 2}, b[] = {2, 0, -3, 0.5}, c[] = {1, 0, 0, 1},
                  d[] = {1, 1, 0, 0};
    static double i[] = {-3, 0, 7, 2147483647}, m[] = {1, 2, 3, 4, 5, 6}, k[] = {5};
    static double p[] = {0, 2, 0, 0, 0, 0, -1, 0, 3, 0, 0, NAN}, n[] = {1, 2, 3, 4},
                  s[] = {1, 0, 0, 1}, t[] = {3, 3, 0, 1, 2, 1, 0}, q[] = {3, 3, 0, 1},
                  r[] = {0, 1, 2, 3};
    enum { ALL = 16 };
    gir_value *v = GN_NEW_N(&arena, gir_value, ALL);
    v[0].graph = gir_coo_new(&arena, 4, 4, 7, src, dst);
    double *data[] = {NULL, x, e, a, b, c, d, i, m, k, p, n, s, t, q, r};
    int64_t rows[] = {0, 4, 7, 1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 7, 4, 4},
            cols[] = {0, 2, 1, 4, 4, 4, 4, 4, 6, 1, 3, 1, 1, 1, 1, 1};
    for (int j = 1; j < ALL; j++)
        v[j] = (gir_value){.rows = rows[j], .cols = cols[j], .v = data[j]};
    return (gir_env){.arena = &arena, .bounds = true, .n = ALL, .name = names, .value = v};
}

/* The value of the last line of a program. */
static gir_value last(const char *lines, gir_env env)
{
    gir_program *p = read_program(gn_arena_printf(&arena, "%s%s\n}\n", prelude, lines));
    gir_value *values = NULL;
    gir_output_add(p, GIR_OUTPUT, "o", p->nodes.n - 1);
    expect_ok(gir_eval(p, &env, &values));
    return values[p->nodes.n - 1];
}

typedef struct figure {
    const char *lines;
    int n;
    double v[16];
} figure;

/* Rows 0 and 3; and with the sources of edges into them, 0, 1 and 3. */
#define PICK "input \"s\" : node bool[]\n %20 = subset %19\n %21 = grow %20, %1, %20\n "
#define ONE "const {value = 1} : node i64[]\n %20 = index %19 {space = node}\n %21 = "
#define LOOPS                                                                                      \
    "input \"r\" : node i64[]\n %20 = gather %1, %19 {end = 0}\n %21 = gather %1, %19 {end = "     \
    "1}\n "                                                                                        \
    "%22 = ne %20, %21\n %23 = filter %1, %22\n "
#define GROUPED "input \"t\" : edge i32[]\n %20 = group %1, %19\n "
/* What comes along the edge, less the state before it. */
#define SCANNED(reversed)                                                                          \
    "reshape %18 : node f64[1, 1]\n %20 = reshape %3 : edge f64[1, 1]\n"                           \
    " body program @step { %1 = input \"x0\" : f64[] %2 = input \"s0\" : f64[]"                    \
    " %3 = sub %1, %2 output \"s0\" %3 }\n"                                                        \
    " %21 = scan %1, %19, %20 {body = 0, reverse = " reversed ", product = 0, consts = 0}"
#define N NAN
#define I INFINITY
static const figure figures[] = {
    {"input \"a\" : f64[4]", 4, {-1.5, 0, 0.5, 2}},
    {"state \"k\" : i64[]", 1, {5}},
    {"const {value = 0.1} : f64[2]", 2, {0.1, 0.1}},
    {"const {value = 300} : u8[1]", 1, {44}},
    {"iota {axis = 0} : f64[2, 3]", 6, {0, 0, 0, 1, 1, 1}},
    {"iota {axis = 1} : i32[2, 3]", 6, {0, 1, 2, 0, 1, 2}},
    {"iota {axis = -1} : node i64[2]", 8, {0, 0, 1, 1, 2, 2, 3, 3}},
    {"iota {axis = -1} : edge i64[]", 7, {1, 5, 0, 2, 3, 4, 6}},
    {"iota {axis = -1} : edge.1 i64[]", 11, {1, 5, 7, 0, 2, 3, 4, 6, 8, 9, 10}},
    {"iota {axis = -1} : edge.2 i64[]", 4, {2, 0, 1, 3}},
    {"iota {axis = -1} : edge.3 i64[]", 8, {2, 4, 0, 1, 3, 5, 6, 7}},
    {"iota {axis = -1} : edge.4 i64[]", 7, {1, 2, 4, 5, 0, 3, 6}},
    {"size {space = node}", 1, {4}},
    {"size {space = edge.1}", 1, {11}},
    {"size {space = none}", 1, {1}},
    {"neg %4", 4, {1.5, 0, -0.5, -2}},
    {"abs %4", 4, {1.5, 0, 0.5, 2}},
    {"abs %8", 4, {3, 0, 7, 2147483647}},
    {"sign %4", 4, {-1, 0, 1, 1}},
    {"exp %4", 4, {0.22313016014842982, 1, 1.6487212707001282, 7.38905609893065}},
    {"expm1 %4", 4, {-0.7768698398515702, 0, 0.6487212707001282, 6.38905609893065}},
    {"log %4", 4, {N, -I, -0.6931471805599453, 0.6931471805599453}},
    {"log1p %4", 4, {N, 0, 0.4054651081081644, 1.0986122886681098}},
    {"sqrt %4", 4, {N, 0, 0.7071067811865476, 1.4142135623730951}},
    {"rsqrt %4", 4, {N, I, 1.414213562373095, 0.7071067811865475}},
    {"recip %4", 4, {-0.6666666666666666, I, 2, 0.5}},
    {"sin %4", 4, {-0.9974949866040544, 0, 0.479425538604203, 0.9092974268256817}},
    {"cos %4", 4, {0.0707372016677029, 1, 0.8775825618903728, -0.4161468365471424}},
    {"tanh %4", 4, {-0.9051482536448664, 0, 0.46211715726000973, 0.9640275800758169}},
    {"sigmoid %4", 4, {0.18242552380635635, 0.5, 0.6224593312018546, 0.8807970779778823}},
    {"erf %4", 4, {-0.9661051464753108, 0, 0.5204998778130465, 0.9953222650189527}},
    {"floor %4", 4, {-2, 0, 0, 2}},
    {"not %6", 4, {0, 1, 1, 0}},
    {"cast %4 : bool[4]", 4, {1, 0, 1, 1}},
    {"cast %4 : i32[4]", 4, {-1, 0, 0, 2}},
    {"cast %4 : u8[4]", 4, {255, 0, 0, 2}},
    {"cast %6 : f32[4]", 4, {1, 0, 0, 1}},
    {"cast %8 : f32[4]", 4, {-3, 0, 7, 2147483647}}, /* not rounded in F64 precision */
    {"detach %4", 4, {-1.5, 0, 0.5, 2}},
    {"add %4, %5", 4, {0.5, 0, -2.5, 2.5}},
    {"add %8, %8", 4, {-6, 0, 14, -2}}, /* wraps */
    {"sub %4, %5", 4, {-3.5, 0, 3.5, 1.5}},
    {"mul %4, %5", 4, {-3, 0, -1.5, 1}},
    {"div %4, %5", 4, {-0.75, N, -0.16666666666666666, 4}},
    {"pow %4, %5", 4, {2.25, 1, 8, 1.4142135623730951}},
    {"max %4, %5", 4, {2, 0, 0.5, 2}},
    {"min %4, %5", 4, {-1.5, 0, -3, 0.5}},
    {"log %4\n %20 = max %5, %19", 4, {N, 0, -0.6931471805599453, 0.6931471805599453}},
    {"log %4\n %20 = min %19, %5", 4, {N, -I, -3, 0.5}},
    {"lt %4, %5", 4, {1, 0, 0, 0}},
    {"le %4, %5", 4, {1, 1, 0, 0}},
    {"gt %4, %5", 4, {0, 0, 1, 1}},
    {"ge %4, %5", 4, {0, 1, 1, 1}},
    {"nle %4, %5", 4, {0, 0, 1, 1}},
    {"sqrt %4\n %20 = nle %19, %5", 4, {1, 0, 1, 1}}, /* NaN is not at most anything */
    {"sqrt %4\n %20 = nle %5, %19", 4, {1, 0, 0, 0}},
    {"eq %4, %5", 4, {0, 1, 0, 0}},
    {"ne %4, %5", 4, {1, 0, 1, 1}},
    {"sqrt %4\n %20 = eq %19, %19", 4, {0, 1, 1, 1}}, /* NaN equals nothing */
    {"and %6, %7", 4, {1, 0, 0, 0}},
    {"or %6, %7", 4, {1, 1, 0, 1}},
    {"select %6, %4, %5", 4, {-1.5, 0, -3, 2}},
    {"broadcast %4 : f64[2, 4]", 8, {-1.5, 0, 0.5, 2, -1.5, 0, 0.5, 2}},
    {"reshape %4 : f64[4, 1]\n %20 = broadcast %19 : f64[4, 2]",
     8,
     {-1.5, -1.5, 0, 0, 0.5, 0.5, 2, 2}},
    {"reduce %9 {red = 0, axes = 1}\n %20 = broadcast %19 : node f64[3]",
     12,
     {5, 7, 9, 5, 7, 9, 5, 7, 9, 5, 7, 9}},
    {"broadcast %18 : node f64[2]", 8, {1, 1, 2, 2, 3, 3, 4, 4}},
    {"reshape %9 : f64[3, 2]", 6, {1, 2, 3, 4, 5, 6}},
    {"transpose %9 {perm = 1}", 6, {1, 4, 2, 5, 3, 6}},
    {"reshape %9 : f64[1, 2, 3]\n %20 = transpose %19 {perm = 18}", 6, {1, 4, 2, 5, 3, 6}}, /* axes
                                                                                               2, 1,
                                                                                               0 */
    {"slice %9 {axis = 1, start = 1} : f64[2, 2]", 4, {2, 3, 5, 6}},
    {"slice %9 {axis = 0, start = 1} : f64[1, 3]", 3, {4, 5, 6}},
    {"slice %2 {axis = 0, start = 1} : node f64[1]", 4, {2, 4, 6, 8}},
    {"pad %9 {axis = 1, before = 1} : f64[2, 5]", 10, {0, 1, 2, 3, 0, 0, 4, 5, 6, 0}},
    {"pad %9 {axis = 0, before = 0} : f64[3, 3]", 9, {1, 2, 3, 4, 5, 6, 0, 0, 0}},
    {"concat %9, %9 {axis = 1}", 12, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
    {"concat %9, %9 {axis = 0}", 12, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
    {"broadcast %18 : node f64[1]\n %20 = concat %2, %19 {axis = 0}",
     12,
     {1, 2, 1, 3, 4, 2, 5, 6, 3, 7, 8, 4}},
    {"iota {axis = 0} : f64[3, 2]\n %20 = to_rows %19 : feature f64[2]", 6, {0, 0, 1, 1, 2, 2}},
    {"iota {axis = -1} : feature f64[2]\n %20 = from_rows %19", 6, {0, 0, 1, 1, 2, 2}},
    {"reduce %9 {red = 0, axes = 2}", 2, {6, 15}},
    {"reduce %9 {red = 0, axes = 1}", 3, {5, 7, 9}},
    {"reduce %9 {red = 0, axes = 3}", 1, {21}},
    {"reduce %9 {red = 1, axes = 2}", 2, {3, 6}},
    {"reduce %9 {red = 2, axes = 1}", 3, {1, 2, 3}},
    {"log %4\n %20 = reduce %19 {red = 1, axes = 1}", 1, {N}},
    {"reduce %2 {red = 0, axes = 1}", 4, {3, 7, 11, 15}},
    {"space_reduce %2 {red = 0}", 2, {16, 20}},
    {"space_reduce %2 {red = 1}", 2, {7, 8}},
    {"neg %2\n %20 = space_reduce %19 {red = 2}", 2, {-7, -8}},
    {"gather %1, %18 {end = 0}", 7, {1, 2, 3, 2, 4, 2, 4}},
    {"gather %1, %2 {end = 1}", 14, {1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4}},
    {"scatter %1, %3 {end = 1, red = 0}", 4, {21, 70, 0, 0}},
    {"scatter %1, %3 {end = 0, red = 0}", 4, {10, 39, 12, 30}},
    {"scatter %1, %3 {end = 1, red = 1}", 4, {11, 16, 0, 0}},
    {"scatter %1, %3 {end = 1, red = 2}", 4, {10, 12, 0, 0}},
    {"neg %3\n %20 = scatter %1, %19 {end = 1, red = 1}", 4, {-10, -12, 0, 0}},
    {"gather %12, %18 {end = 0}", 11, {1, 2, 1, 3, 2, 4, 2, 4, 2, 3, 4}},
    {"gather %13, %18 {end = 0}", 4, {2, 3, 4, 4}},
    {"gather %14, %18 {end = 0}", 8, {2, 1, 3, 4, 4, 2, 3, 4}},
    {"gather %15, %18 {end = 1}", 7, {1, 2, 2, 2, 3, 4, 4}},
    {"gather %15, %18 {end = 0}", 7, {1, 2, 2, 1, 2, 2, 2}},
    {"iota {axis = -1} : feature f64[]\n %20 = gather %16, %19 {end = 0}", 4, {1, 0, 2, 2}},
    {"gather %16, %18 {end = 1}", 4, {1, 3, 3, 4}},
    {"carry %12, %1, %3, %18", 11, {10, 11, 1, 12, 13, 14, 15, 16, 2, 3, 4}},
    {"carry %13, %1, %3, %18", 4, {11, 12, 14, 16}},
    {"carry %14, %1, %3, %18", 8, {11, 10, 12, 14, 16, 15, 3, 4}}, /* 15: the last of the loops at
                                                                      node 1 */
    {"carry %15, %1, %3, %18", 7, {10, 13, 15, 11, 12, 14, 16}},
    {"iota {axis = -1} : edge.1 f64[]\n %20 = uncarry %1, %12, %19", 7, {1, 5, 0, 2, 3, 4, 6}},
    {"iota {axis = -1} : edge.2 f64[]\n %20 = uncarry %1, %13, %19", 7, {0, 2, 0, 0, 1, 0, 3}},
    {"iota {axis = -1} : edge.3 f64[]\n %20 = uncarry %1, %14, %19", 7, {4, 2, 0, 0, 1, 5, 3}},
    {"carry %15, %1, %3, %17\n %20 = uncarry %1, %15, %19", 7, {10, 11, 12, 13, 14, 15, 16}},
    {"reverse %15\n %20 = gather %19, %18 {end = 0}", 7, {1, 2, 3, 2, 4, 2, 4}}, /* back to where it
                                                                                    was */
    {"remaining_self_loops %12\n %20 = iota {axis = -1} : edge.6 i64[]",
     8,
     {2, 4, 0, 1, 3, 5, 6, 7}},
    {PICK "%22 = take %20, %2", 4, {1, 2, 7, 8}},
    {PICK "%22 = iota {axis = -1} : node.1 i64[]", 2, {0, 3}},
    {PICK "%22 = iota {axis = -1} : node.2 i64[]", 3, {0, 1, 3}},
    {PICK "%22 = take %21, %18", 3, {1, 2, 4}},
    {PICK "%22 = size {space = node.2}", 1, {3}},
    {PICK "%22 = gather %20, %18 {end = 0}", 2, {1, 4}},
    {PICK "%22 = take %20, %18\n %23 = gather %20, %22 {end = 1}\n %24 = scatter %20, %23 {end = "
          "0, red = 0}",
     4,
     {1, 0, 0, 4}},
    {PICK "%22 = grow %20, %15, %20\n %23 = take %22, %18", 3, {1, 2, 4}}, /* along edges turned
                                                                              round */
    {PICK "%22 = grow %21, %1, %21\n %23 = take %22, %18", 4, {1, 2, 3, 4}},
    {PICK "%22 = restrict %1, %20 {ends = 2}\n %23 = gather %22, %18 {end = 0}", 2, {1, 2}},
    {PICK "%22 = restrict %1, %20 {ends = 2}\n %23 = iota {axis = -1} : edge.8 i64[]", 2, {1, 5}},
    {PICK "%22 = restrict %1, %20 {ends = 2}\n %23 = const {value = 0} : node.1 f64[]\n %24 = "
          "carry %22, %1, %3, %23\n"
          " %25 = scatter %22, %24 {end = 1, red = 0}",
     2,
     {21, 0}},
    {PICK "%22 = restrict %1, %20 {ends = 2}\n %23 = const {value = 0} : node.1 f64[]\n %24 = "
          "carry %22, %1, %3, %23\n"
          " %25 = uncarry %1, %22, %24",
     7,
     {10, 11, 0, 0, 0, 0, 0}},
    {PICK "%22 = restrict %1, %21 {ends = 1}\n %23 = iota {axis = -1} : edge.8 i64[]",
     6,
     {1, 5, 2, 3, 4, 6}},
    {PICK
     "%22 = restrict %1, %21 {ends = 1}\n %23 = take %21, %18\n %24 = gather %22, %23 {end = 0}",
     6,
     {1, 2, 2, 4, 2, 4}},
    {PICK "%22 = restrict %1, %21, %20 {ends = 3}\n %23 = take %21, %18\n %24 = gather %22, %23 "
          "{end = 0}",
     2,
     {1, 2}},
    {PICK "%22 = restrict %1, %21, %20 {ends = 3}\n %23 = take %20, %18\n %24 = gather %22, %23 "
          "{end = 1}",
     2,
     {1, 1}},
    {PICK "%22 = restrict %20, %21 {ends = 1}\n %23 = take %21, %18\n %24 = take %22, %23",
     2,
     {1, 4}},
    /* Rows that row 1 has edges to, and that it has edges from; of all edges; with rows 0 and 3. */
    {ONE "grow %20, %1 {end = 1}\n %22 = take %21, %18", 2, {1, 2}},
    {ONE "grow %20, %1 {end = 0}\n %22 = take %21, %18", 3, {2, 3, 4}},
    {"grow %1 {end = 0}\n %20 = take %19, %18", 4, {1, 2, 3, 4}},
    {"grow %1 {end = 1}\n %20 = take %19, %18", 2, {1, 2}},
    {PICK "%22 = grow %20, %1 {end = 0}\n %23 = take %22, %18", 2, {1, 2}},
    {PICK "%22 = grow %20, %1, %20 {end = 1}\n %23 = take %22, %18", 3, {1, 2, 4}},
    /* Row 1 is named, and the others come behind it; they stay where rows are put. */
    {ONE "ends %20 {ends = 1}\n %22 = take %21, %18", 4, {2, 1, 3, 4}},
    {ONE "ends %20 {ends = 1}\n %22 = ends %1, %21 {ends = 2}\n %23 = take %22, %18",
     4,
     {1, 2, 3, 4}},
    {ONE "ends %20 {ends = 1}\n %22 = restrict %20, %21 {ends = 1}\n %23 = take %21, %18\n %24 = "
         "take %22, %23",
     4,
     {2, 2, 2, 2}},
    {ONE
     "input \"s\" : node bool[]\n %22 = subset %21\n %23 = ends %22 {ends = 1}\n %24 = ends %20, "
     "%23 {ends = 1}\n %25 = take %24, %18",
     4,
     {1, 2, 4, 3}},
    {ONE
     "input \"s\" : node bool[]\n %22 = subset %21\n %23 = ends %20 {ends = 1}\n %24 = ends %22, "
     "%23 {ends = 1}\n %25 = take %24, %18",
     4,
     {1, 2, 4, 3}},
    /* Of a fact and one with another source, two rows. */
    {"rng_key %10, %10\n %20 = sample %1, %19 {most = 1}\n %21 = corrupt %20, %19 {times = 1, end "
     "= "
     "0, site = 5}\n"
     " %22 = ends %20 {ends = 1}\n %23 = ends %21, %22 {ends = 1}\n %24 = size {space = node.2}",
     1,
     {2}},
    {ONE "ends %20 {ends = 1}\n %22 = const {value = 9} : node.1 f64[]\n %23 = put %21, %18, %22",
     4,
     {1, 9, 3, 4}},
    {PICK "%22 = take %20, %18\n %23 = add %22, %22\n %24 = put %20, %18, %23", 4, {2, 2, 3, 8}},
    {PICK "%22 = ends %20 {ends = 1}\n %23 = take %22, %18", 2, {1, 4}},
    /* Loops left out by data: of the ends' own numbers. */
    {LOOPS "%24 = size {space = edge.6}", 1, {4}},
    {LOOPS "%24 = gather %23, %18 {end = 0}", 4, {2, 3, 4, 4}},
    {LOOPS "%24 = gather %23, %18 {end = 1}", 4, {1, 2, 2, 2}},
    {LOOPS "%24 = iota {axis = -1} : edge.6 i64[]", 4, {2, 0, 1, 3}},
    {LOOPS "%24 = carry %23, %1, %3, %18", 4, {11, 12, 14, 16}},
    {LOOPS "%24 = carry %23, %1, %3, %18\n %25 = uncarry %1, %23, %24",
     7,
     {0, 11, 12, 0, 14, 0, 16}},
    {LOOPS "%24 = self_loops %23\n %25 = iota {axis = -1} : edge.7 i64[]",
     8,
     {2, 4, 0, 1, 3, 5, 6, 7}},
    /* Rows by number: each edge's of a table, each node's of the nodes. */
    {"input \"t\" : edge i32[]\n %20 = index %19 {space = row}\n %21 = to_rows %4 : row f64[]\n"
     " %22 = take %20, %21",
     7,
     {2, 2, -1.5, 0, 0.5, 0, -1.5}},
    {"input \"t\" : edge i32[]\n %20 = index %19 {space = row}\n %21 = gather %20, %3 {end = 1}\n"
     " %22 = scatter %20, %21 {end = 0, red = 0}",
     4,
     {28, 28, 14, 21}},
    {"input \"t\" : edge i32[]\n %20 = index %19 {space = row}\n %21 = iota {axis = -1} : edge.6 "
     "i64[]",
     7,
     {1, 5, 0, 2, 3, 4, 6}},
    {"input \"q\" : node i64[]\n %20 = index %19 {space = node}\n %21 = take %20, %18",
     4,
     {4, 4, 1, 2}},
    /* Into rows 0 and 3: all, the loops alone, and with loops added. */
    {PICK "%22 = rng_key %10, %10\n %23 = draw %1, %22, %20 {most = 9, site = 0, loops = 0}\n"
          " %24 = iota {axis = -1} : edge.8 i64[]",
     2,
     {1, 5}},
    {PICK "%22 = rng_key %10, %10\n %23 = draw %1, %22, %20 {most = 0, site = 0, loops = 1}\n"
          " %24 = gather %23, %18 {end = 0}",
     1,
     {1}},
    {PICK "%22 = rng_key %10, %10\n %23 = draw %12, %22, %20 {most = 0, site = 0, loops = 1}\n"
          " %24 = iota {axis = -1} : edge.8 i64[]",
     3,
     {1, 7, 10}},
    /* loops; what does not go back as well; with either way nothing */
    /* 3, twice, into node 0; 0 and 1, both twice, and 2 into node 1 */
    {GROUPED "%21 = gather %20, %18 {end = 0}\n %22 = scatter %20, %21 {end = 1, red = 0}",
     4,
     {3, 7, 4, 4}},
    {GROUPED "%21 = group_rows %20, %1\n %22 = take %21, %18", 4, {1, 2, 2, 2}},
    {GROUPED "%21 = group_numbers %20, %1, %19 {space = row}\n %22 = to_rows %4 : row f64[]\n "
             "%23 = take %21, %22",
     4,
     {2, -1.5, 0, 0.5}},
    {SCANNED("0"), 7, {9, 2, 10, 3, 11, 4, 12}},
    {SCANNED("1"), 7, {0, 10, 12, 0, 13, 1, 14}},
    {"beside %1, %3, %18 {behind = 0}", 7, {1, 10, 2, 12, 13, 14, 15}},
    {"beside %1, %3, %18 {behind = 1}", 7, {11, 1, 13, 14, 15, 16, 2}},
    {"outer %1, %3, %18 {last = 0}", 4, {10, 12, 3, 4}},
    {"outer %1, %3, %18 {last = 1}", 4, {11, 16, 3, 4}},
    {"without %1, %13 {either = 0}\n %20 = gather %19, %18 {end = 0}", 3, {1, 2, 2}},
    {"without %1, %15 {either = 0}\n %20 = gather %19, %18 {end = 0}", 4, {2, 3, 4, 4}},
    {"without %1, %15 {either = 1}\n %20 = gather %19, %18 {end = 0}", 0, {0}},
    {"cell %16, %11", 4, {2, -1, 3, N}},
    {"row_value %16", 4, {2, 0, -1, N}},
    {"nearest %2 {k = 2}", 8, {0, 1, 1, 0, 2, 1, 3, 2}},
    {"nearest %2 {k = 3}", 12, {0, 1, 2, 1, 0, 2, 2, 1, 3, 3, 2, 1}},
    {"nearest %2 {k = 2}\n %20 = rows_at %19, %2",
     16,
     {1, 2, 3, 4, 3, 4, 1, 2, 5, 6, 3, 4, 7, 8, 5, 6}},
    {"nearest %2 {k = 2}\n %20 = rows_at %19, %2\n %21 = sum_at %19, %20",
     8,
     {2, 4, 9, 12, 10, 12, 7, 8}},
    {"rank %18", 4, {0, 1, 2, 3}},
    {"rank %11", 12, {1, 3, 0, 2, 0, 1, 0, 1, 2, 3, 2, 3}},
    {"input \"t\" : edge i32[]\n %20 = rank %1, %19", 7, {0, 1, 0, 2, 4, 3, 1}},
    {"input \"q\" : node i64[]\n %20 = input \"r\" : node i64[]\n %21 = distinct %19, %20",
     4,
     {0, 0, 1, 2}},
    {"input \"q\" : node i64[]\n %20 = input \"r\" : node i64[]\n %21 = neg %20\n"
     " %22 = distinct %19, %21",
     4,
     {2, 2, 1, 0}},
    {"input \"t\" : edge i32[]\n %20 = input \"r\" : node i64[]\n"
     " %21 = distinct %17, %20, %1, %19",
     4,
     {0, 1, 2, 2}},
    {"input \"r\" : node i64[]\n %20 = gather %15, %18 {end = 0}\n"
     " %21 = distinct %17, %19, %15, %20",
     4,
     {0, 1, 2, 3}},
    {"matmul %2, %9", 12, {9, 12, 15, 19, 26, 33, 29, 40, 51, 39, 54, 69}},
    {"matmul %11, %9 {tb = 1}", 8, {4, 10, 0, 0, 8, 14, N, N}},
    {"matmul %2, %2 {ta = 1}", 4, {84, 100, 100, 120}},
    {"matmul %9, %9 {tb = 1}", 4, {14, 32, 32, 77}},
    {"matmul %9, %9 {ta = 1}", 9, {17, 22, 27, 22, 29, 36, 27, 36, 45}},
    {"transpose %9 {perm = 1}\n %20 = matmul %19, %9 {ta = 1, tb = 1}", 4, {14, 32, 32, 77}},
};

static bool close_to(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 4e-16 * fabs(b);
}

START_TEST(by_hand)
{
    bool seen[GIR_OP_COUNT] = {false};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        const figure *f = &figures[k];
        gir_value v = last(f->lines, bindings());
        ck_assert_msg(v.rows * v.cols == f->n, "%s: %lld elements", f->lines,
                      (long long)(v.rows * v.cols));
        for (int i = 0; i < f->n; i++) {
            ck_assert_msg(close_to(v.v[i], f->v[i]), "%s: element %d is %.17g, not %.17g", f->lines,
                          i, v.v[i], f->v[i]);
            ck_assert_msg(v.err[i] >= 0 && (isfinite(v.v[i]) || isinf(v.err[i])),
                          "%s: bound %d is %g", f->lines, i, v.err[i]);
        }
        gir_program *p = read_program(gn_arena_printf(&arena, "%s%s\n}\n", prelude, f->lines));
        for (gir_id id = 19; id < p->nodes.n; id++) seen[gir_at(p, id)->op] = true;
    }
    static const gir_op elsewhere[] = {GIR_GRAPH,   GIR_SELF_LOOPS, GIR_REMOVE_LOOPS, GIR_PATTERN,
                                       GIR_RNG_KEY, GIR_RANDOM,     GIR_SAMPLE,       GIR_CORRUPT};
    for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++) seen[elsewhere[k]] = true;
    for (int op = 1; op < GIR_OP_COUNT; op++)
        ck_assert_msg(seen[op], "no figure for %s", gir_ops[op].text);
}
END_TEST

START_TEST(random_numbers)
{
    gir_value key = last("rng_key %10, %10", bindings());
    ck_assert(key.v[0] == (double)gn_step_key(5, 5));
    gir_value node = last("random %10 {site = 3} : node f32[2]", bindings());
    for (uint64_t i = 0; i < 8; i++)
        ck_assert(node.v[i] == (double)gn_draw_uniform(5, 3, i) && node.err[i] == 0);
    static const uint64_t pos[] = {1, 5, 0, 2, 3, 4, 6};
    gir_value edge = last("random %10 {site = 4} : edge f32[3]", bindings());
    for (uint64_t k = 0; k < 21; k++)
        ck_assert(edge.v[k] == (double)gn_draw_uniform(5, 4, pos[k / 3] * 3 + k % 3));
    /* After loops were added the edges that were there keep their numbers, and so their draws. */
    gir_value more = last("random %10 {site = 4} : edge.1 f32[3]", bindings());
    ck_assert(more.v[0] == edge.v[0] && more.v[3] == edge.v[3]);
    ck_assert(more.v[6] == (double)gn_draw_uniform(5, 4, 7 * 3));
    /* Picked rows and the edges between them draw what they draw among all. */
    gir_value picked = last(PICK "%22 = random %10 {site = 3} : node.1 f32[2]", bindings());
    for (uint64_t i = 0; i < 4; i++) ck_assert(picked.v[i] == node.v[i < 2 ? i : i + 4]);
    gir_value into = last(
        PICK "%22 = restrict %1, %20 {ends = 2}\n %23 = random %10 {site = 4} : edge.8 f32[3]",
        bindings());
    for (int k = 0; k < 6; k++) ck_assert(into.v[k] == edge.v[k]);
}
END_TEST

/* Two of each edge, with an end drawn: edge k * 2 + j of the list comes of edge k. */
START_TEST(drawn_edges)
{
    enum { TIMES = 2, N_EDGE = 7, N_NODE = 4 };
    static const int64_t csr[] = {1, 5, 0, 2, 3, 4, 6};
    for (int end = 0; end < 3; end++) {
        const char *lines = gn_arena_printf(&arena,
                                            "rng_key %%10, %%10\n %%20 = corrupt %%1, %%19 {times "
                                            "= 2, end = %d, site = 5}\n %%21 = ",
                                            end);
        gir_value pos = last(gn_arena_printf(&arena, "%siota {axis = -1} : edge.6 i64[]", lines),
                             bindings());
        gir_value from = last(gn_arena_printf(&arena, "%scarry %%20, %%1, %%3, %%18", lines),
                              bindings());
        gir_value ends[2], sum = last(gn_arena_printf(&arena,
                                                      "%scarry %%20, %%1, %%3, %%18\n"
                                                      " %%22 = uncarry %%1, %%20, %%21",
                                                      lines),
                                      bindings());
        for (int k = 0; k < 2; k++)
            ends[k] = last(
                gn_arena_printf(&arena,
                                "input \"r\" : node i64[]\n %%20 = rng_key %%10, %%10\n"
                                " %%21 = corrupt %%1, %%20 {times = 2, end = %d, site = 5}\n"
                                " %%22 = gather %%21, %%19 {end = %d}",
                                end, k),
                bindings());
        uint64_t stream = gn_draw_key(gn_step_key(5, 5), 5);
        int64_t before = -1, drawn[2] = {0, 0};
        ck_assert_int_eq(pos.rows, TIMES * N_EDGE);
        for (int64_t e = 0; e < pos.rows; e++) {
            int64_t k = (int64_t)pos.v[e], want[2] = {src[k / TIMES], dst[k / TIMES]}, at = 0;
            gn_draw_end(stream, (uint64_t)k, end, N_NODE, N_NODE, &want[0], &want[1]);
            while (csr[at] != k / TIMES) at++;
            ck_assert(ends[0].v[e] == (double)want[0] && ends[1].v[e] == (double)want[1]);
            ck_assert(from.v[e] == 10 + (double)at);
            drawn[0] += want[0] != src[k / TIMES];
            drawn[1] += want[1] != dst[k / TIMES];
            int64_t order = want[1] * 100 + k; /* by destination, then as listed */
            ck_assert_int_gt(order, before);
            before = order;
        }
        ck_assert((drawn[0] > 0) == (end != 1) && (drawn[1] > 0) == (end != 0));
        for (int64_t e = 0; e < N_EDGE; e++)
            ck_assert(sum.v[e] == (double)TIMES * (10 + (double)e));
    }
}
END_TEST

/* Rows are drawn evenly, and none beyond the last. */
START_TEST(drawn_rows)
{
    enum { ROWS = 5, DRAWS = 10000 };
    int times[ROWS] = {0}, ends = 0;
    for (uint64_t k = 0; k < DRAWS; k++) {
        int64_t s = -1, d = -1;
        gn_draw_end(gn_draw_key(9, 1), k, 2, ROWS, ROWS, &s, &d);
        ck_assert((s < 0) != (d < 0));
        ends += d >= 0;
        int64_t row = d < 0 ? s : d;
        ck_assert(row >= 0 && row < ROWS);
        times[row]++;
    }
    for (int k = 0; k < ROWS; k++) ck_assert(abs(times[k] - DRAWS / ROWS) < 200);
    ck_assert(abs(ends - DRAWS / 2) < 200);
    ck_assert_int_eq(gn_draw_row(UINT64_MAX, INT64_MAX), INT64_MAX - 1);
    ck_assert_int_eq(gn_draw_row(UINT64_MAX, 1), 0);
    ck_assert_int_eq(gn_draw_row(UINT64_C(1) << 63, INT64_C(1) << 40), INT64_C(1) << 39);
    ck_assert_int_eq(gn_draw_row(0x123456789abcdef0, INT64_C(1) << 62), 0x123456789abcdef0 >> 2);
}
END_TEST

/* A number of no row is said, by its place in the user's list. */
START_TEST(numbers_of_no_row)
{
    gir_program *p = read_program(gn_arena_printf(
        &arena,
        "%sinput \"t\" : edge i32[]\n %%20 = index %%19 {space = row}\n"
        " %%21 = to_rows %%4 : row f64[]\n %%22 = take %%20, %%21\n output \"o\" %%22\n}\n",
        prelude));
    static const double bad[] = {4, -1, 1e9};
    for (int k = 0; k < 3; k++) {
        gir_env env = bindings();
        gir_value *v = NULL;
        int t = 0;
        while (strcmp(env.name[t], "t") != 0) t++;
        double was = env.value[t].v[1];
        env.value[t].v[1] = bad[k];
        expect_error(gir_eval(p, &env, &v), GN_ERR_DATA,
                     gn_arena_printf(&arena, "index: element 5 is %d, out of range: row has 4 rows",
                                     (int)bad[k]));
        env.value[t].v[1] = was;
    }
}
END_TEST

/* Graphs without edges, without nodes, of one node. */
START_TEST(small_graphs)
{
    static const int64_t zero[] = {0};
    static double x[] = {3, 4}, none[1];
    const char *names[] = {"g", "x"};
    const char *
        text = "program @t { space node node ? space edge edge ?\n"
               " %1 = graph \"g\" : graph<node -> node, edge>\n %2 = input \"x\" : node f32[2]\n"
               " %3 = self_loops %1\n %4 = gather %3, %2\n %5 = scatter %3, %4 {end = 1, red = 1}\n"
               " %6 = space_reduce %2 {red = 0}\n %7 = space_reduce %2 {red = 1}\n"
               " %8 = space_reduce %2 {red = 2}\n %9 = matmul %2, %2 {ta = 1}\n %10 = gather %1, "
               "%2\n"
               " %11 = scatter %1, %10 {end = 1, red = 2}\n %12 = size {space = edge}\n"
               " %13 = remaining_self_loops %1\n %14 = size {space = edge.2}\n"
               " %15 = reverse %1\n %16 = gather %15, %2\n %17 = pattern %2\n %18 = cell %17, "
               "%2\n"
               " output \"a\" %5 output \"b\" %6 output \"c\" %7 output \"d\" %8 output \"e\" %9\n"
               " output \"f\" %11 output \"g\" %12 output \"h\" %14 output \"i\" %16 output \"j\" "
               "%18 }";
    gir_program *p = read_program(text);
    for (int n_node = 0; n_node < 2; n_node++)
        for (int n_edge = 0; n_edge <= n_node; n_edge++) {
            gir_value bound[] = {{.graph = gir_coo_new(&arena, n_node, n_node, n_edge, zero, zero)},
                                 {.rows = n_node, .cols = 2, .v = n_node ? x : none}};
            gir_env env = {.arena = &arena, .bounds = true, .n = 2, .name = names, .value = bound},
                    *e = &env;
            gir_value *v = NULL;
            expect_ok(gir_eval(p, e, &v));
            ck_assert_int_eq(v[5].rows, n_node);
            if (n_node) ck_assert(v[5].v[0] == 3 && v[5].v[1] == 4);
            for (int k = 6; k <= 8; k++)
                ck_assert(v[k].v[0] == (n_node ? 3 : 0) && v[k].v[1] == (n_node ? 4 : 0));
            ck_assert(v[9].v[0] == (n_node ? 9 : 0) && v[9].v[3] == (n_node ? 16 : 0));
            if (n_node) ck_assert(v[11].v[1] == (n_edge ? 4 : 0));
            ck_assert(v[12].v[0] == n_edge && v[14].v[0] == n_node);
            ck_assert_int_eq(v[16].rows, n_edge);
            ck_assert_int_eq(v[18].rows, 2 * n_node);
        }
}
END_TEST

START_TEST(rounding)
{
    ck_assert(gir_round(GN_F32, 0.1) == (double)0.1f && gir_round(GN_F64, 0.1) == 0.1);
    ck_assert(gir_round(GN_F32, 1e39) == INFINITY && gir_round(GN_F32, -3.5e38) == -INFINITY);
    ck_assert(gir_round(GN_F32, 1e-46) == 0 && gir_round(GN_F32, 1e-45) == (double)1e-45f);
    ck_assert(gir_round(GN_BF16, 1.00390625) == 1 &&
              gir_round(GN_BF16, 1.01171875) == 1.015625); /* ties to even */
    ck_assert(gir_round(GN_BF16, 3.4e38) == INFINITY && gir_round(GN_BF16, 3.39e38) == 0x1.fep127);
    ck_assert(gir_round(GN_F16, 65519) == 65504 && gir_round(GN_F16, 65520) == INFINITY);
    ck_assert(gir_round(GN_F16, 0x1p-25) == 0 && gir_round(GN_F16, 0x1.8p-24) == 0x1p-23);
    ck_assert(isnan(gir_round(GN_F16, NAN)));
    ck_assert(gir_round(GN_I32, 2147483648.0) == -2147483648.0 && gir_round(GN_I32, -2.9) == -2);
    ck_assert(gir_round(GN_U8, -1) == 255 && gir_round(GN_U32, -1) == 4294967295.0);
    ck_assert(gir_round(GN_I64, 1e300) == 0x1p63 && gir_round(GN_I64, NAN) == 0 &&
              gir_round(GN_BOOL, 0.5) == 1);
    gir_env env = bindings();
    env.precision = GIR_EVAL_ELEM;
    gir_value v = last(
        "const {value = 0.1} : f32[1]\n %20 = const {value = 0.2} : f32[1]\n %21 = add %19, %20",
        env);
    ck_assert(v.v[0] == (double)(0.1f + 0.2f));
    v = last("const {value = 0.1} : f32[1]", env);
    ck_assert(v.v[0] == (double)0.1f && v.err[0] == 0);
}
END_TEST

/* Bounds: what must be exact, what must not be, and what may be anything. */
START_TEST(bounds)
{
    gir_value v = last("const {value = 0.1} : f32[2]", bindings());
    ck_assert(v.err[0] >= fabs((double)0.1f - 0.1) && v.err[0] < 1.0001 * fabs((double)0.1f - 0.1));
    v = last("const {value = 0.5} : f32[2]\n %20 = add %19, %19", bindings());
    ck_assert(v.err[0] > 0 && v.err[0] < 1.3e-7);
    /* exact operands: certain */
    v = last("iota {axis = 0} : f64[4]\n %20 = gt %19, %4", bindings());
    ck_assert(v.err[0] == 0 && v.err[3] == 0);
    const char
        *near = "const {value = 0.1} : f32[1]\n %20 = const {value = 0.100000001} : f32[1]\n";
    v = last(gn_arena_printf(&arena, "%s %%21 = lt %%19, %%20", near), bindings());
    ck_assert(v.v[0] == 1 && v.err[0] == 1); /* both are one float */
    v = last(gn_arena_printf(&arena,
                             "%s %%21 = lt %%19, %%20\n %%22 = const {value = 3} : f32[1]\n"
                             " %%23 = const {value = 5} : f32[1]\n %%24 = select %%21, %%22, %%23",
                             near),
             bindings());
    ck_assert(v.v[0] == 3 && v.err[0] >= 2 && v.err[0] < 2.001);
    v = last(gn_arena_printf(&arena, "%s %%21 = sub %%20, %%19\n %%22 = sqrt %%21", near),
             bindings());
    ck_assert(isinf(v.err[0])); /* a root of what may be negative */
    v = last(gn_arena_printf(&arena,
                             "%s %%21 = sub %%20, %%19\n %%22 = mul %%21, %%21\n %%23 = sqrt %%22",
                             near),
             bindings());
    ck_assert(v.err[0] < 1e-7); /* a square is not */
    v = last(gn_arena_printf(&arena, "%s %%21 = sub %%20, %%19\n %%22 = recip %%21", near),
             bindings());
    ck_assert(isinf(v.err[0]));
    v = last(
        "const {value = 0.1} : f32[1]\n %20 = const {value = 30} : f32[1]\n %21 = mul %19, %20\n"
        " %22 = floor %21",
        bindings());
    /* 0.1f * 30 may round to below 3 */
    ck_assert(v.v[0] == 3 && v.err[0] >= 1 && v.err[0] < 1.001);
    v = last("const {value = 1000.1} : f32[1]\n %20 = const {value = 1000} : f32[1]\n %21 = sub "
             "%19, %20\n"
             " %22 = const {value = 1} : f32[1]\n %23 = div %22, %21",
             bindings());
    ck_assert(v.err[0] >= fabs((double)(1 / (1000.1f - 1000)) - 10) && v.err[0] < 0.01);
    v = last("const {value = 3e38} : f32[1]\n %20 = add %19, %19", bindings());
    ck_assert(v.v[0] == 6e38 && isinf(v.err[0]));
}
END_TEST

/* x == max(x) is certain where the winner is clear, even though both have bounds; a near tie is
 * not. */
START_TEST(winners)
{
    const char
        *text = "const {value = 0.1} : f64[]\n %20 = broadcast %19 : edge f64[]\n %21 = mul %3, "
                "%20\n"
                " %22 = scatter %1, %21 {end = 1, red = 1}\n %23 = gather %1, %22 {end = 1}\n"
                " %24 = eq %21, %23";
    gir_value v = last(text, bindings());
    static const double want[] = {0, 1, 0, 0, 0, 0, 1};
    for (int k = 0; k < 7; k++) ck_assert(v.v[k] == want[k] && v.err[k] == 0);
    const char *misplaced = "const {value = 0.1} : f64[2, 3]\n %20 = mul %9, %19\n %21 = reduce "
                            "%20 {red = 1, axes = 2}\n"
                            " %22 = reshape %21 : f64[1, 2]\n %23 = slice %20 {axis = 1, start = "
                            "1} : f64[2, 2]\n"
                            " %24 = broadcast %22 : f64[2, 2]\n %25 = eq %23, %24";
    v = last(misplaced, bindings());
    /* a slice: another value than the one reduced */
    ck_assert(v.v[0] == 0 && v.v[3] == 1 && v.err[3] == 1);
}
END_TEST

static gn_status *eval_text(const char *text, int n, const char **name, gir_value *value)
{
    gir_program *p = read_program(text);
    gir_env env = {.arena = &arena, .n = n, .name = name, .value = value};
    gir_value *v;
    return gir_eval(p, &env, &v);
}

START_TEST(bad_data)
{
    const char *text = "program @t { space node node ? space edge edge ?\n"
                       " %1 = graph \"g\" : graph<node -> node, edge>\n %2 = input \"x\" : "
                       "node f32[2]\n"
                       " %3 = gather %1, %2\n output \"o\" %3 }";
    double data[8] = {0};
    const char *names[] = {"g", "x"};
    gir_value v[] = {{.graph = gir_coo_new(&arena, 2, 2, 0, src, dst)},
                     {.rows = 2, .cols = 2, .v = data}};
    expect_ok(eval_text(text, 2, names, v));
    expect_error(eval_text(text, 1, names, v), GN_ERR_DATA, "input 'x' is not bound");
    expect_error(eval_text(text, 1, names + 1, v + 1), GN_ERR_DATA, "graph 'g' is not bound");
    v[1].rows = 3;
    expect_error(eval_text(text, 2, names, v), GN_ERR_DATA,
                 "x: 3 rows of space node, where there are 2");
    v[1].rows = 2, v[1].cols = 3;
    expect_error(eval_text(text, 2, names, v), GN_ERR_DATA,
                 "input 'x': 2 rows of 3, where 2 rows of 2 are needed");
    v[0].graph = NULL;
    expect_error(eval_text(text, 2, names, v), GN_ERR_DATA, "graph 'g' is bound to a tensor");
    expect_error(
        eval_text("program @t { space node node ? %1 = const : node f32[] output \"o\" %1 }", 0,
                  NULL, NULL),
        GN_ERR_DATA, "no input tells how many rows node has");
    expect_error(
        eval_text("program @t { space node node ? %1 = size {space = node} output \"o\" %1 }", 0,
                  NULL, NULL),
        GN_ERR_DATA, "no input tells how many rows node has");
    expect_error(
        eval_text("program @t { space node node 5 %1 = input \"x\" : node f32[] output \"o\" %1 }",
                  2, names, v),
        GN_ERR_DATA, "x: 2 rows of space node, where there are 5");
}
END_TEST

START_TEST(bad_picks)
{
    static const char
        *const text = "program @t { space node node ? space edge edge ?\n"
                      " %1 = graph \"g\" : graph<node -> node, edge>\n"
                      " %2 = input \"m\" : node bool[]\n %3 = input \"k\" : node bool[]\n"
                      " %4 = subset %2\n %5 = subset %3\n %6 = restrict %4, %5 {ends = 1}\n"
                      " %7 = input \"x\" : node f32[]\n %8 = take %5, %7\n %9 = take %6, %8\n"
                      " output \"o\" %9 }";
    double some[] = {1, 0}, others[] = {0, 1}, x[] = {1, 2};
    const char *names[] = {"g", "m", "k", "x"};
    gir_value v[] = {{.graph = gir_coo_new(&arena, 2, 2, 0, src, dst)},
                     {.rows = 2, .cols = 1, .v = some},
                     {.rows = 2, .cols = 1, .v = others},
                     {.rows = 2, .cols = 1, .v = x}};
    expect_error(eval_text(text, 4, names, v), GN_ERR_DATA,
                 "1 of 1 picked rows are not among those of the other");
    others[0] = 1;
    expect_ok(eval_text(text, 4, names, v));
}
END_TEST

/* What no output needs is not evaluated, nor asked for. */
START_TEST(only_what_is_needed)
{
    const char *text = "program @t { %1 = input \"no\" : f32[] %2 = const {value = 2} : f32[] "
                       "output \"o\" %2 }";
    expect_ok(eval_text(text, 0, NULL, NULL));
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, by_hand);
    tcase_add_test(c, random_numbers);
    tcase_add_test(c, drawn_edges);
    tcase_add_test(c, drawn_rows);
    tcase_add_test(c, numbers_of_no_row);
    tcase_add_test(c, small_graphs);
    tcase_add_test(c, rounding);
    tcase_add_test(c, bounds);
    tcase_add_test(c, winners);
    tcase_add_test(c, bad_data);
    tcase_add_test(c, bad_picks);
    tcase_add_test(c, only_what_is_needed);
}

int main(void) { return run_suite("gir_eval", fill); }
