/* Inference: every operator with operands that fit, and with operands that do not. */
/* links: ir base */
#include "gir_test.h"

static const char prelude[] = "program @t {\n"
                              "  space node node ?\n"
                              "  space item node ?\n"
                              "  space word feature 4\n"
                              "  space edge edge ?\n"
                              "  space buys edge ?\n"
                              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                              "  %2 = graph \"buys\" : graph<node -> item, buys>\n"
                              "  %3 = input \"x\" : node f32[4]\n"
                              "  %4 = input \"m\" : node f32[2, 3]\n"
                              "  %5 = state \"w\" : f32[4, 5]\n"
                              "  %6 = input \"e\" : edge f32[4]\n"
                              "  %7 = input \"c\" : node bool[4]\n"
                              "  %8 = input \"i\" : node i32[4]\n"
                              "  %9 = state \"step\" : i64[]\n"
                              "  %10 = input \"u\" : node u8[4]\n"
                              "  %11 = self_loops %1\n"
                              "  %12 = pattern %3\n"
                              "  %13 = input \"p\" : edge.1 f32[4]\n"
                              "  %14 = input \"y\" : item f32[4]\n"
                              "  %15 = input \"b\" : buys f32[4]\n"
                              "  %16 = input \"z\" : node f32[1, 4]\n"
                              "  %17 = input \"v\" : word f32[5]\n"
                              "  %18 = input \"d\" : node f64[4]\n"
                              "  %19 = reverse %2\n"
                              "  %20 = remaining_self_loops %11\n"
                              "  %21 = ";

typedef struct example {
    const char *value, *want; /* what follows "%21 = ", and the type that comes of it or the
                                 complaint */
} example;

/* Of nodes, and more of them. */
#define PICK "input \"k\" : node bool[]\n %22 = subset %21\n %23 = grow %22, %1, %22\n %24 = "

#define MASK "input \"k\" : edge bool[]\n %22 = "
#define NUMBERS "input \"j\" : edge i32[]\n %22 = "
#define INDEX "input \"j\" : edge i32[]\n %22 = index %21 {space = node}\n %23 = "
#define KEY "input \"seed\" : i64[]\n %22 = rng_key %21, %9\n %23 = "

/* Rows that are apart by their times, and times of edges. */
#define APART                                                                                      \
    KEY "input \"k\" : node bool[]\n %24 = input \"t\" : node i64[]\n"                             \
        " %25 = subset %23, %24 {apart = 2}\n %26 = input \"e\" : edge i32[]\n %27 = "

/* A step of one state, in its own line. */
#define STEP                                                                                       \
    "reshape %6 : edge f32[1, 4]\n body program @step { %1 = input \"x0\" : f32[]"                 \
    " %2 = input \"s0\" : f32[] %3 = add %1, %2 output \"s0\" %3 }\n %22 = "
#define BODY(text) "neg %3\n body program @step { " text " }\n %22 = scan %1, %16"
#define PLAIN "reverse = 0, product = 0, consts = 0}"

static const example good[] = {
    {STEP "scan %1, %16, %21 {body = 0, " PLAIN, "edge f32[1, 4]"},
    {"beside %1, %6, %3 {behind = 1}", "edge f32[4]"},
    {"outer %2, %15, %14 {last = 0}", "item f32[4]"},
    {APART "draw %1, %22, %25, %26 {most = 3, how = 3}\n %28 = grow %25, %27, %25\n"
           " %29 = restrict %27, %28 {ends = 1}",
     "graph<node.2 -> node.1, edge.8>"},
    {APART "draw %1, %22, %25, %24 {most = 3}", "graph<node -> node.1, edge.6>"},
    {APART "reverse %1\n %28 = draw %27, %22, %25, %26 {most = 3}",
     "graph<node -> node.1, edge.7>"},
    {MASK "filter %1, %21 {apart = 1}\n %23 = grow %22\n %24 = grow %22 {end = 1}\n"
          " %25 = restrict %22, %23, %24 {ends = 3}",
     "graph<node.1 -> node.2, edge.8>"},
    {"input \"k\" : item bool[]\n %22 = subset %21", "graph<item -> item.1, edge.5>"},
    {"input \"k\" : word bool[]\n %22 = subset %21", "graph<word -> word.1, edge.5>"},
    {"grow %2 {end = 0}", "graph<node -> node.1, edge.5>"},
    {"grow %2 {end = 1}", "graph<item -> item.1, edge.5>"},
    {PICK "grow %22, %2 {end = 1}", "graph<item -> item.1, edge.7>"},
    {PICK "input \"k2\" : item bool[]\n %25 = subset %24\n %26 = grow %22, %2, %25 {end = 1}",
     "graph<item -> item.2, edge.8>"},
    {INDEX "grow %22, %1 {end = 0}", "graph<node -> node.1, edge.6>"},
    {MASK "filter %1, %21", "graph<node -> node, edge.5>"},
    {MASK "not %21\n %23 = filter %1, %22", "graph<node -> node, edge.5>"},
    {"input \"j\" : node i32[]\n %22 = const {value = 2} : node i32[]\n %23 = lt %21, %22\n"
     " %24 = gather %1, %23 {end = 0}\n %25 = filter %1, %24",
     "graph<node -> node, edge.5>"},
    {"input \"j\" : edge i32[]\n %22 = index %21 {space = item}", "graph<item -> edge, edge.5>"},
    {NUMBERS "group %1, %21", "graph<node -> node.1, edge.5>"},
    {NUMBERS "group %1, %21\n %23 = group_rows %22, %1", "graph<node -> node.1, edge.6>"},
    {NUMBERS "group %1, %21\n %23 = group_numbers %22, %1, %21 {space = word}",
     "graph<word -> node.1, edge.6>"},
    {"input \"j\" : node i64[]\n %22 = index %21 {space = word}", "graph<word -> node, edge.5>"},
    {"input \"j\" : node i64[]\n %22 = index %21 {space = node}", "graph<node -> node, edge.5>"},
    {"input \"j\" : edge i32[]\n %22 = index %21 {space = word}\n %23 = take %22, %17",
     "edge f32[5]"},
    {KEY "corrupt %1, %22 {times = 3, end = 2, site = 4}", "graph<node -> node, edge.5>"},
    {KEY "sample %1, %22 {most = 3, site = 4}", "graph<node -> node, edge.5>"},
    {KEY "sample %2, %22 {most = 1}\n %24 = corrupt %23, %22 {times = 2}",
     "graph<node -> item, edge.6>"},
    {KEY "corrupt %2, %22 {times = 1}\n %24 = reverse %23", "graph<item -> node, edge.6>"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = carry %23, %1, %6, %3", "edge.5 f32[4]"},
    {"input \"k\" : node bool[]\n %22 = subset %21", "graph<node -> node.1, edge.5>"},
    {PICK "grow %22, %11, %22", "graph<node -> node.3, edge.7>"},
    {PICK "grow %23, %1, %23", "graph<node -> node.3, edge.7>"},
    {"ends %2 {ends = 1}", "graph<node -> node.1, edge.5>"},
    {"ends %1 {ends = 3}\n %22 = ends %2, %21 {ends = 1}", "graph<node -> node.2, edge.6>"},
    {"ends %2 {ends = 2}\n %22 = restrict %2, %21 {ends = 2}", "graph<node -> item.1, buys>"},
    {"ends %1 {ends = 3}\n %22 = ends %2, %21 {ends = 1}\n %23 = restrict %1, %22, %22 {ends = 3}",
     "graph<node.2 -> node.2, edge>"},
    {KEY "sample %1, %22 {most = 2}\n %24 = ends %23 {ends = 3}\n %25 = restrict %23, %24, %24 "
         "{ends = 3}",
     "graph<node.1 -> node.1, edge.5>"},
    {"ends %1 {ends = 1}\n %22 = take %21, %4\n %23 = put %21, %4, %22", "node f32[2, 3]"},
    {PICK "restrict %1, %22 {ends = 2}", "graph<node -> node.1, edge.7>"},
    {PICK "restrict %1, %23 {ends = 1}", "graph<node.2 -> node, edge.7>"},
    {PICK "restrict %1, %23, %22 {ends = 3}", "graph<node.2 -> node.1, edge.7>"},
    {PICK "restrict %2, %22 {ends = 1}", "graph<node.1 -> item, edge.7>"},
    {PICK "restrict %22, %23 {ends = 1}", "graph<node.2 -> node.1, edge.7>"},
    {PICK "take %22, %4", "node.1 f32[2, 3]"},
    {PICK "take %23, %7", "node.2 bool[4]"},
    {PICK "restrict %22, %23 {ends = 1}\n %25 = take %23, %3\n %26 = take %24, %25",
     "node.1 f32[4]"},
    {"input \"in\" : node f16[2]", "node f16[2]"},
    {"state \"st\" : bf16[2, 3]", "bf16[2, 3]"},
    {"graph \"h\" : graph<item -> node, edge>", "graph<item -> node, edge>"},
    {"const {value = 1.5} : node f32[]", "node f32[]"},
    {"iota {axis = -1} : edge i64[]", "edge i64[]"},
    {"iota {axis = 1} : f32[2, 3]", "f32[2, 3]"},
    {"size {space = node}", "i64[]"},
    {"size {space = edge} : f32[]", "f32[]"},
    {"self_loops %1", "graph<node -> node, edge.5>"},
    {"remove_self_loops %1", "graph<node -> node, edge.5>"},
    {"remaining_self_loops %1", "graph<node -> node, edge.5>"},
    {"reverse %2", "graph<item -> node, edge.5>"},
    {"pattern %3", "graph<feature.1 -> node, edge.5>"},
    {"pattern %3 : graph<word -> node, edge>", "graph<word -> node, edge>"},
    {"neg %8", "node i32[4]"},
    {"abs %3", "node f32[4]"},
    {"sign %8", "node i32[4]"},
    {"exp %3", "node f32[4]"},
    {"expm1 %3", "node f32[4]"},
    {"log %3", "node f32[4]"},
    {"log1p %18", "node f64[4]"},
    {"sqrt %3", "node f32[4]"},
    {"rsqrt %3", "node f32[4]"},
    {"recip %3", "node f32[4]"},
    {"sin %3", "node f32[4]"},
    {"cos %3", "node f32[4]"},
    {"tanh %3", "node f32[4]"},
    {"sigmoid %3", "node f32[4]"},
    {"erf %3", "node f32[4]"},
    {"floor %4", "node f32[2, 3]"},
    {"not %7", "node bool[4]"},
    {"cast %7 : node f32[4]", "node f32[4]"},
    {"detach %5", "f32[4, 5]"},
    {"add %3, %3", "node f32[4]"},
    {"sub %8, %8", "node i32[4]"},
    {"mul %9, %9", "i64[]"},
    {"div %3, %3", "node f32[4]"},
    {"pow %3, %3", "node f32[4]"},
    {"max %10, %10", "node u8[4]"},
    {"min %3, %3", "node f32[4]"},
    {"lt %3, %3", "node bool[4]"},
    {"le %8, %8", "node bool[4]"},
    {"gt %3, %3", "node bool[4]"},
    {"ge %3, %3", "node bool[4]"},
    {"nle %3, %3", "node bool[4]"},
    {"eq %7, %7", "node bool[4]"},
    {"ne %3, %3", "node bool[4]"},
    {"and %7, %7", "node bool[4]"},
    {"or %7, %7", "node bool[4]"},
    {"select %7, %3, %3", "node f32[4]"},
    {"select %7, %7, %7", "node bool[4]"},
    {"broadcast %5 : node f32[4, 5]", "node f32[4, 5]"},
    {"broadcast %3 : node f32[3, 4]", "node f32[3, 4]"},
    {"broadcast %16 : node f32[2, 3, 4]", "node f32[2, 3, 4]"},
    {"broadcast %9 : edge i64[7]", "edge i64[7]"},
    {"reshape %4 : node f32[6]", "node f32[6]"},
    {"reshape %4 : node f32[3, 1, 2]", "node f32[3, 1, 2]"},
    {"transpose %4 {perm = 1}", "node f32[3, 2]"},
    {"slice %4 {axis = 1, start = 1} : node f32[2, 2]", "node f32[2, 2]"},
    {"pad %4 {axis = 0, before = 1} : node f32[4, 3]", "node f32[4, 3]"},
    {"concat %3, %3, %3 {axis = 0}", "node f32[12]"},
    {"concat %4 {axis = 1}", "node f32[2, 3]"},
    {"to_rows %5 : word f32[5]", "word f32[5]"},
    {"from_rows %17", "f32[4, 5]"},
    {"reduce %4 {red = 0, axes = 2}", "node f32[2]"},
    {"reduce %4 {red = 1, axes = 3}", "node f32[]"},
    {"space_reduce %4 {red = 2}", "f32[2, 3]"},
    {"gather %2, %3 {end = 0}", "buys f32[4]"},
    {"gather %2, %14 {end = 1}", "buys f32[4]"},
    {"scatter %2, %15 {end = 1, red = 1}", "item f32[4]"},
    {"scatter %2, %15 {end = 0, red = 0}", "node f32[4]"},
    {"carry %11, %1, %6, %3", "edge.1 f32[4]"},
    {"carry %19, %2, %15, %3", "edge.3 f32[4]"},
    {"uncarry %1, %11, %13", "edge f32[4]"},
    {"cell %12, %3", "edge.2 f32[]"},
    {"row_value %12", "node f32[]"},
    {"nearest %3 {k = 2}", "node i32[2]"},
    {"input \"k\" : node i32[]\n %22 = nearest %3, %21 {k = 64}", "node i32[64]"},
    {"nearest %3 {k = 2}\n %22 = rows_at %21, %4", "node f32[2, 2, 3]"},
    {"nearest %3 {k = 2}\n %22 = rows_at %21, %8", "node i32[2, 4]"},
    {"nearest %3 {k = 2}\n %22 = rows_at %21, %4\n %23 = sum_at %21, %22", "node f32[2, 3]"},
    {KEY "input \"k\" : node bool[]\n %24 = subset %23\n"
         " %25 = draw %1, %22, %24 {most = 3, site = 7, loops = 1}",
     "graph<node -> node, edge.6>"},
    {KEY "input \"k\" : item bool[]\n %24 = subset %23\n"
         " %25 = draw %2, %22, %24 {most = 0, site = 7, loops = 0, how = 2}",
     "graph<node -> item, edge.6>"},
    {KEY "input \"k\" : node bool[]\n %24 = subset %23\n %25 = self_loops %1\n"
         " %26 = input \"p\" : edge f32[]\n"
         " %27 = draw %25, %22, %24, %26 {most = 3, site = 7, loops = 1}",
     "graph<node -> node, edge.7>"},
    {"without %1, %1 {either = 1}", "graph<node -> node, edge.5>"},
    {KEY "corrupt %2, %22 {times = 1, once = 1}\n %24 = without %2, %23",
     "graph<node -> item, edge.6>"},
    {KEY "corrupt %1, %22 {times = 1, once = 1}\n %24 = grow %23", "graph<node -> node.1, edge.6>"},
    {KEY "sample %1, %22 {most = 1, once = 1}\n %24 = remove_self_loops %23",
     "graph<node -> node, edge.6>"},
    {"rank %4", "node i32[2, 3]"},
    {"rank %8", "node i32[4]"},
    {"rank %2, %15", "buys i32[4]"},
    {"input \"o\" : node i64[]\n %22 = distinct %4, %21", "node i32[]"},
    {"input \"o\" : item i32[]\n %22 = input \"v\" : buys i32[]\n"
     " %23 = distinct %14, %21, %2, %22",
     "item i32[]"},
    {"matmul %3, %5", "node f32[5]"},
    {"matmul %3, %3 {ta = 1}", "f32[4, 4]"},
    {"matmul %5, %5 {tb = 1}", "f32[4, 4]"},
    {"matmul %5, %5 {ta = 1}", "f32[5, 5]"},
    {"rng_key %9, %9", "i64[]"},
    {"random %9 {site = 3} : node f32[2]", "node f32[2]"},
};

static const example bad[] = {
    {"input \"k\" : f32[]\n %22 = subset %21", "takes an input like node bool[], not f32[]"},
    {"grow %1 {end = 2}", "end is 2, out of 0..1"},
    {PICK "grow %22, %1, %22, %22", "4 operands, takes a graph and up to two picks"},
    {PICK "grow %22, %2 {end = 0}", "operand 1 picks rows of node, not of item"},
    {INDEX "grow %22 {end = 1}", "rows of edge are edges, which filter picks"},
    {PICK "grow %22, %2, %22 {end = 1}", "operand 3 picks rows of node, not of item"},
    {"ends %1 {ends = 4}", "ends is 4; it is 1, 2 or 3"},
    {"ends %1, %1, %1 {ends = 1}", "3 operands, takes a graph and up to one pick"},
    {"ends %2 {ends = 3}", "the graph goes from node to item, which are not one space"},
    {INDEX "ends %22 {ends = 2}", "rows of edge are edges, which filter picks"},
    {PICK "ends %1, %22 {ends = 1}", "operand 2 is no pick of rows that ends name"},
    {"ends %2 {ends = 2}\n %22 = ends %2, %21 {ends = 1}",
     "operand 2 picks rows of item, not of node"},
    {"ends %1 {ends = 1}\n %22 = restrict %1, %21 {ends = 2}",
     "operand 2 does not name all ends of the graph"},
    {KEY "sample %1, %22 {most = 2}\n %24 = ends %23 {ends = 1}\n %25 = restrict %23, %24, %24 "
         "{ends = 3}",
     "operand 1 is drawn anew at every run"},
    {KEY "sample %1, %22 {most = 2}\n %24 = ends %23 {ends = 1}\n %25 = grow %24, %1",
     "operand 1 is drawn anew at every run"},
    {"ends %1 {ends = 1}\n %22 = reverse %21", "not of a graph that was restricted to picked rows"},
    {KEY "ends %1 {ends = 1}\n %24 = sample %23, %22 {most = 2}", "not of a graph of picked rows"},
    {"ends %11 {ends = 1}\n %22 = restrict %1, %21 {ends = 1}",
     "operand 2 does not name all ends of the graph"},
    {INDEX "put %22, %3, %6", "operand 1 is no pick of rows, each once"},
    {"put %1, %3, %3", "operand 1 is no pick of rows, each once"},
    {"put %3, %3, %3", "operand 1 is node f32[4], a graph is needed"},
    {"ends %1 {ends = 1}\n %22 = put %21, %3, %3",
     "operand 3 is node f32[4], a value of every node.1 is needed"},
    {"ends %1 {ends = 1}\n %22 = take %21, %4\n %23 = put %21, %3, %22",
     "node.1 f32[2, 3] cannot be rows of node f32[4]"},
    {INDEX "restrict %1, %22 {ends = 1}", "operand 2 may pick a row several times"},
    {INDEX "reverse %22", "not of a graph that was restricted to picked rows"},
    {INDEX "grow %22 {end = 0}\n %24 = filter %22, %21", "not of a graph of picked rows"},
    {MASK "filter %21, %21", "operand 1 is edge bool[], a graph is needed"},
    {MASK "filter %1, %1", "the mask is graph<node -> node, edge>, not edge bool[]"},
    {MASK "filter %2, %21", "the mask is edge bool[], not buys bool[]"},
    {MASK "filter %1, %6", "the mask is edge f32[4], not edge bool[]"},
    {MASK "filter %12, %21", "not of the pattern of a matrix"},
    {"input \"t\" : edge f32[]\n %22 = cast %21 : edge bool[]\n %23 = filter %1, %22",
     "operand 2 comes of %21 = input: it must come of inputs of whole numbers and bools alone"},
    {"broadcast %9 : edge i64[]\n %22 = cast %21 : edge bool[]\n %23 = filter %1, %22",
     "operand 2 comes of %21 = broadcast"},
    {NUMBERS "group %2, %21", "the numbers are edge i32[], not buys i32[] or i64[]"},
    {MASK "group %1, %21", "the numbers are edge bool[], not edge i32[] or i64[]"},
    {NUMBERS "add %21, %21\n %23 = group %1, %22", "operand 2 comes of %22 = add"},
    {MASK "filter %1, %21 {apart = 1}\n %23 = input \"j\" : edge.5 i32[]\n %24 = group %22, %23",
     "not of edges that are apart"},
    {NUMBERS "group_rows %1, %1", "operand 1 is no group of operand 2"},
    {NUMBERS "group %1, %21\n %23 = reverse %1\n %24 = group_rows %22, %23",
     "operand 1 is no group of operand 2"},
    {NUMBERS "group %1, %21\n %23 = input \"k\" : edge i32[]\n"
             " %24 = group_numbers %22, %1, %23 {space = word}",
     "operand 3 has not the numbers of the group"},
    {NUMBERS "group %1, %21\n %23 = group_numbers %22, %1, %21 {space = node}",
     "no space of known size"},
    {NUMBERS "group %1, %21\n %23 = reverse %22", "not of a graph that was restricted"},
    {NUMBERS "group %1, %21\n %23 = filter %22, %21", "not of a graph of picked rows"},
    {"index %8 {space = item}", "takes a number a row, like edge i32[], not node i32[4]"},
    {"index %1 {space = item}", "takes a number a row"},
    {"index %9 {space = item}", "takes a number a row, like edge i32[], not i64[]"},
    {"input \"j\" : edge i32[]\n %22 = index %21 {space = edge}",
     "rows of edge are edges, which no data count"},
    {PICK "input \"j\" : edge i32[]\n %25 = index %24 {space = node.1}",
     "rows of node.1 are picked, which no data count"},
    {"input \"j\" : edge i32[]\n %22 = add %21, %21\n %23 = index %22 {space = item}",
     "operand 1 comes of %22 = add"},
    {"input \"j\" : edge i32[]\n %22 = index %21", "no such space"},
    {KEY "corrupt %1, %22", "times is 0, out of 1..2147483647"},
    {KEY "sample %1, %22", "most is 0: it is positive"},
    {KEY "sample %1, %22 {most = 2, site = -1}", "the site is not a 32-bit number"},
    {KEY "sample %1, %9 {most = 2}", "operand 2 is no rng_key of inputs and states"},
    {KEY "corrupt %1, %22 {times = 1, end = 3}", "end is 3; it is 0, 1 or 2"},
    {KEY "corrupt %1, %22 {times = 1, site = -1}", "the site is not a 32-bit number"},
    {KEY "corrupt %1, %9 {times = 1}", "operand 2 is no rng_key of inputs and states"},
    {KEY "rng_key %22, %9\n %24 = corrupt %1, %23 {times = 1}",
     "operand 2 is no rng_key of inputs and states"},
    {KEY "corrupt %12, %22 {times = 1}", "not of the pattern of a matrix"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = remove_self_loops %23",
     "operand 1 is drawn anew at every run"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = reverse %23\n %25 = remaining_self_loops %24",
     "operand 1 is drawn anew at every run"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = grow %23", "operand 1 is drawn anew at every run"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = const {value = 1} : edge.5 bool[]\n"
         " %25 = filter %23, %24",
     "operand 1 is drawn anew at every run"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = input \"k\" : node bool[]\n %25 = subset %24\n"
         " %26 = restrict %23, %25 {ends = 2}",
     "operand 1 is drawn anew at every run"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = input \"j\" : edge i32[]\n"
         " %25 = input \"f\" : node i32[]\n %26 = carry %23, %1, %24, %25\n"
         " %27 = index %26 {space = item}\n %28 = grow %27",
     "operand 1 is drawn anew at every run"},
    {"input \"\" : f32[]", "input: has no name"},
    {"state : f32[]", "state: has no name"},
    {"state \"s\"", "state: needs a tensor type"},
    {"graph \"h\" : f32[]", "graph: needs a graph type"},
    {"graph \"h\" : graph<item -> node, node>", "node is not an edge space"},
    {"graph \"h\" : graph<none -> node, edge>", "needs a space at either end"},
    {"const {value = 1}", "const: needs a tensor type"},
    {"iota {axis = 1} : node f32[4]", "no axis 1 in node f32[4]"},
    {"iota {axis = -2} : node f32[4]", "no axis -2"},
    {"iota : bool[2]", "an index is not bool"},
    {"size {space = node} : f32[2]", "the result is f32[], not f32[2]"},
    {"self_loops %3", "operand 1 is node f32[4], a graph is needed"},
    {"self_loops %2", "loops need a graph from a space to itself, this one goes from node to item"},
    {"remove_self_loops %2", "remove_self_loops: loops need"},
    {"remaining_self_loops %2", "remaining_self_loops: loops need"},
    {"reverse %3", "a graph is needed"},
    {"subset %7", "takes an input like node bool[], not node bool[4]"},
    {"subset %1", "takes an input like node bool[]"},
    {"input \"k\" : edge bool[]\n %22 = subset %21", "rows of edge are edges, which filter picks"},
    {"input \"k\" : node bool[]\n %22 = not %21\n %23 = subset %22",
     "takes an input like node bool[]"},
    {PICK "grow %22, %2", "operand 1 picks rows of node, not of item"},
    {PICK "grow %1, %1", "operand 1 is no pick of rows"},
    {PICK "grow %22, %3", "operand 2 is node f32[4], a graph is needed"},
    {PICK "restrict %1, %22 {ends = 0}", "ends is 0; it is 1, 2 or 3"},
    {PICK "restrict %1, %22 {ends = 4}", "ends is 4"},
    {PICK "restrict %1, %22 {ends = 3}", "2 operands do not fit ends = 3"},
    {PICK "restrict %1, %22, %22 {ends = 2}", "3 operands do not fit ends = 2"},
    {PICK "restrict %2, %22 {ends = 2}", "operand 2 picks rows of node, not of item"},
    {PICK "restrict %1, %1 {ends = 1}", "operand 2 is no pick of rows"},
    {PICK "restrict %1, %22 {ends = 1}\n %25 = take %24, %3", "operand 1 is no pick of rows"},
    {PICK "take %22, %14", "operand 2 is item f32[4], a value of every node is needed"},
    {PICK "take %1, %3", "operand 1 is no pick of rows"},
    {PICK "self_loops %22",
     "loops need a graph from a space to itself, this one goes from node to node.1"},
    {PICK "restrict %1, %22, %22 {ends = 3}\n %25 = self_loops %24",
     "not of a graph that was restricted to picked rows"},
    {PICK "reverse %22", "not of a graph that was restricted to picked rows"},
    {"reverse %2 : graph<item -> node, word>", "word is not an edge space"},
    {"reverse %2 : graph<node -> item, edge>", "not graph<node -> item, edge>"},
    {"pattern %4", "takes a matrix with rows, like node f32[F], not node f32[2, 3]"},
    {"pattern %5", "takes a matrix with rows"},
    {"pattern %1", "takes a matrix with rows"},
    {"pattern %3 : graph<item -> node, edge>", "item is not a space of 4 features"},
    {"neg %7", "neg: operand 1 is bool, not a signed number"},
    {"neg %10", "operand 1 is u8, not a signed number"},
    {"neg %1", "operand 1 is a graph, a tensor is needed"},
    {"neg %3, %3", "2 operands, takes 1"},
    {"abs %7", "operand 1 is bool"},
    {"sign %7", "operand 1 is bool"},
    {"exp %8", "exp: operand 1 is i32, not a float"},
    {"expm1 %8", "not a float"},
    {"log %8", "not a float"},
    {"log1p %8", "not a float"},
    {"sqrt %8", "not a float"},
    {"rsqrt %8", "not a float"},
    {"recip %8", "not a float"},
    {"sin %8", "not a float"},
    {"cos %8", "not a float"},
    {"tanh %8", "not a float"},
    {"sigmoid %8", "not a float"},
    {"erf %8", "not a float"},
    {"floor %8", "not a float"},
    {"not %3", "operand 1 is f32, not bool"},
    {"cast %3", "cast: needs a tensor type"},
    {"cast %3 : node i32[5]", "the result is node i32[4], not node i32[5]"},
    {"detach %1", "a tensor is needed"},
    {"add %3, %8", "node f32[4] and node i32[4] differ"},
    {"add %3, %6", "node f32[4] and edge f32[4] differ"},
    {"add %3, %4", "node f32[4] and node f32[2, 3] differ"},
    {"add %7, %7", "add: operand 1 is bool, not a number"},
    {"sub %7, %7", "not a number"},
    {"mul %7, %7", "not a number"},
    {"div %8, %8", "div: operand 1 is i32, not a float"},
    {"pow %8, %8", "not a float"},
    {"max %7, %7", "not a number"},
    {"min %7, %7", "not a number"},
    {"lt %7, %7", "not a number"},
    {"le %7, %7", "not a number"},
    {"gt %7, %7", "not a number"},
    {"ge %7, %7", "not a number"},
    {"nle %7, %7", "not a number"},
    {"eq %3, %18", "node f32[4] and node f64[4] differ"},
    {"ne %3, %18", "differ"},
    {"and %7, %3", "operand 2 is f32, not bool"},
    {"or %3, %7", "operand 1 is f32, not bool"},
    {"select %3, %3, %3", "operand 1 is f32, not bool"},
    {"select %7, %3, %18", "node f32[4] and node f64[4] differ"},
    {"select %7, %5, %5", "the condition is node bool[4], the sides are f32[4, 5]"},
    {"broadcast %3", "broadcast: needs a tensor type"},
    {"broadcast %3 : edge f32[4]", "node f32[4] cannot be repeated to edge f32[4]"},
    {"broadcast %3 : node f32[4, 5]", "cannot be repeated"},
    {"broadcast %3 : node f64[4]", "cannot be repeated"},
    {"broadcast %4 : node f32[3]", "cannot be repeated"},
    {"reshape %4 : node f32[5]", "node f32[2, 3] has not as many elements as node f32[5]"},
    {"reshape %4 : f32[6]", "node f32[2, 3] cannot become f32[6]"},
    {"transpose %4 {perm = 0}", "perm 0 is not a permutation of the 2 axes of node f32[2, 3]"},
    {"transpose %4 {perm = 257}", "perm 0x101 is not"},
    {"transpose %4 {perm = 2}", "perm 0x2 is not"},
    {"slice %4 {axis = 2} : node f32[2, 3]", "the axis is 2, out of 0..1"},
    {"slice %4 {axis = 1, start = 2} : node f32[2, 2]",
     "2 from 2 is past the end of axis 1, which has 3"},
    {"slice %4 {axis = 1, start = -1} : node f32[2, 2]", "past the end"},
    {"slice %4 {axis = 1} : node f32[1, 2]", "differ in more than axis 1"},
    {"slice %4 {axis = 1} : node f32[2]", "differ in more than axis 1"},
    {"pad %4 {axis = 1, before = 2} : node f32[2, 4]", "3 after 2 do not fit in 4"},
    {"pad %7 {axis = 0} : node bool[5]", "operand 1 is bool, not a number"},
    {"concat %3, %4 {axis = 0}", "differ in more than axis 0"},
    {"concat %3, %3 {axis = 1}", "the axis is 1, out of 0..0"},
    {"concat {axis = 0}", "0 operands, takes at least 1"},
    {"to_rows %5 : item f32[5]", "has not as many rows as space item"},
    {"to_rows %9 : word i64[]", "cannot become rows"},
    {"to_rows %5", "must be given"},
    {"from_rows %3", "over no space of known size"},
    {"reduce %4 {red = 3, axes = 1}", "red is 3, out of 0..2"},
    {"reduce %4 {red = 0, axes = 0}", "axes 0 are not axes of node f32[2, 3]"},
    {"reduce %4 {red = 0, axes = 4}", "axes 0x4 are not axes"},
    {"reduce %7 {red = 0, axes = 1}", "operand 1 is bool"},
    {"space_reduce %5 {red = 0}", "f32[4, 5] has no rows to reduce over"},
    {"space_reduce %7 {red = 0}", "operand 1 is bool"},
    {"gather %3, %3", "operand 1 is node f32[4], a graph is needed"},
    {"gather %2, %3 {end = 1}", "operand 2 is node f32[4], a value of every item is needed"},
    {"gather %2, %1", "operand 2 is a graph, a tensor is needed"},
    {"gather %2, %3 {end = 2}", "end is 2, out of 0..1"},
    {"scatter %2, %6", "operand 2 is edge f32[4], a value of every buys is needed"},
    {"scatter %2, %15 {red = 3}", "red is 3"},
    {"carry %1, %11, %13, %3", "operand 1 is not a graph derived from operand 2"},
    {"carry %20, %1, %6, %3", "operand 1 is not a graph derived from operand 2"},
    {"carry %11, %1, %13, %3", "operand 3 is edge.1 f32[4], a value of every edge is needed"},
    {"carry %11, %1, %6, %4", "the edges have edge f32[4], the new loops node f32[2, 3]"},
    {"uncarry %1, %11, %6", "operand 3 is edge f32[4], a value of every edge.1 is needed"},
    {"uncarry %11, %1, %6", "operand 2 is not a graph derived from operand 1"},
    {"cell %1, %3", "the graph does not come from features but from node"},
    {"cell %12, %4", "node f32[2, 3] has not the 4 features of the graph"},
    {"cell %3, %3", "a graph is needed"},
    {"nearest %4 {k = 2}", "distances are of floats [d] a row, not of node f32[2, 3]"},
    {"nearest %5 {k = 2}", "distances are of floats [d] a row, not of f32[4, 5]"},
    {"nearest %8 {k = 2}", "distances are of floats [d] a row, not of node i32[4]"},
    {"nearest %3 {k = 0}", "k is between 1 and 64, not 0"},
    {"nearest %3 {k = 65}", "k is between 1 and 64, not 65"},
    {"nearest %3, %8 {k = 1}", "groups are one integer a row, not node i32[4]"},
    {"nearest %3, %8, %8 {k = 1}", "3 operands, takes 1 or 2"},
    {"rows_at %8, %3", "operand 1 is no nearest: other numbers may be of no row"},
    {"nearest %3 {k = 2}\n %22 = rows_at %21, %14", "item"},
    {"nearest %3 {k = 2}\n %22 = sum_at %21, %3", "node f32[4] has not 2 parts of floats a row"},
    {"nearest %3 {k = 4}\n %22 = sum_at %21, %8", "node i32[4] has not 4 parts of floats a row"},
    {KEY "input \"k\" : item bool[]\n %24 = subset %23\n"
         " %25 = draw %1, %22, %24 {most = 3, site = 7, loops = 0}",
     "operand 3 is no pick of node, each row once"},
    {KEY "input \"k\" : item bool[]\n %24 = subset %23\n"
         " %25 = draw %2, %22, %24 {most = 3, site = 7, loops = 1}",
     "loops is 0, or 1 or 2 where a space goes to itself"},
    {KEY "input \"k\" : item bool[]\n %24 = subset %23\n"
         " %25 = draw %2, %22, %24 {most = -1, site = 7, loops = 0}",
     "most is -1: it is not negative"},
    {"input \"k\" : item bool[]\n %22 = subset %21\n"
     " %23 = draw %2, %9, %22 {most = 3, site = 7, loops = 0}",
     "operand 2 is no rng_key of inputs and states"},
    {KEY "draw %2, %22, %1 {most = 3, site = 7, loops = 0}",
     "operand 3 is no pick of item, each row once"},
    {KEY "input \"k\" : item bool[]\n %24 = subset %23\n"
         " %25 = draw %2, %22, %24 {most = 3, how = 4}",
     "how is 4; it is 0, 1, 2 or 3"},
    {KEY "input \"k\" : node bool[]\n %24 = subset %23\n"
         " %25 = draw %1, %22, %24 {most = 3, how = 1}\n %26 = gather %25, %3\n"
         " %27 = uncarry %1, %25, %26",
     "operand 2 may have an edge of operand 1 several times"},
    {KEY "input \"k\" : node bool[]\n %24 = subset %23\n"
         " %25 = draw %1, %22, %24, %3 {most = 3}",
     "operand 4 is node f32[4], not an input edge f32[], i32[] or i64[]"},
    {KEY "input \"k\" : node bool[]\n %24 = subset %23\n"
         " %25 = draw %1, %22, %24 {most = 3}\n %26 = draw %25, %22, %24, %3 {most = 3}",
     "weights go with a graph that is bound"},
    {"input \"k\" : node bool[]\n %22 = subset %21 {apart = 3}",
     "apart is 3; it is 1 or 2 with times, else 0 or 1"},
    {"input \"k\" : node bool[]\n %22 = subset %21 {apart = 2}",
     "apart is 2; it is 1 or 2 with times, else 0 or 1"},
    {"input \"k\" : node bool[]\n %22 = subset %21, %3 {apart = 1}",
     "operand 2 is node f32[4], not an input node i32[] or i64[]"},
    {MASK "filter %1, %21, %21 {apart = 2}",
     "operand 3 is edge bool[], not an input edge i32[] or i64[]"},
    {APART "draw %1, %22, %25, %26, %26 {most = 3}", "operands 4 and 5 are not weights and times"},
    {APART "draw %1, %22, %25 {most = 3, how = 3}", "how is 3, and there are no times"},
    {APART "grow %25, %1", "the rows of operand 1 are apart, and the graph's are not"},
    {APART "restrict %1, %25 {ends = 1}",
     "the rows of operand 2 are apart, and the graph's are not"},
    {APART "input \"k2\" : node bool[]\n %28 = subset %27\n"
           " %29 = draw %1, %22, %28, %26 {most = 3}",
     "times go with rows that are apart"},
    {APART "draw %1, %22, %25 {most = 3}\n %28 = take %1, %3", "operand 1 is no pick of rows"},
    {APART "draw %1, %22, %25 {most = 3}\n %28 = restrict %27, %25 {ends = 2}",
     "operand 2 picks rows of node, not of node.1"},
    {"without %1, %2", "the graphs are between other rows"},
    {"without %2, %2 {either = 1}", "either is 0, or 1 where a space goes to itself"},
    {"without %1, %1 {either = 2}", "either is 0, or 1 where a space goes to itself"},
    {"without %1, %3", "a graph is needed"},
    {KEY "corrupt %1, %22 {times = 1}\n %24 = without %1, %23",
     "operand 2 is drawn anew at every run"},
    {KEY "corrupt %1, %22 {times = 1, once = 2}", "once is 2; it is 0 or 1"},
    {KEY "sample %1, %22 {most = 1, once = -1}", "once is -1; it is 0 or 1"},
    {STEP "scan %1, %16, %21 {body = 1, " PLAIN, "there is no body 1"},
    {STEP "scan %1, %16, %21 {body = 0, reverse = 2, product = 0, consts = 0}",
     "attribute 1 is 2, not 0 or 1"},
    {STEP "scan %1, %16 {body = 0, " PLAIN, "and 1 values of the edge, where there are 0, 0 and 0"},
    {STEP "scan %1, %3, %21 {body = 0, " PLAIN,
     "operand 2 is f32 or f64 in channels, [n, d], not node f32[4]"},
    {STEP "scan %1, %4, %21 {body = 0, " PLAIN,
     "operand 3 is f32 or f64 in channels, [n, 3], not edge f32[1, 4]"},
    {STEP "scan %1, %16, %16 {body = 0, " PLAIN, "operand 3 is node f32[1, 4], not of the edges"},
    {STEP "scan %1, %16, %5, %21 {body = 0, reverse = 0, product = 1, consts = 0}",
     "f32[4, 5] does not go with node f32[1, 4]"},
    {STEP "scan %1, %16, %5, %21 {body = 0, reverse = 0, product = 0, consts = 1}",
     "operand 3 is f32 or f64 in channels, [n, 4], not f32[4, 5]"},
    {STEP "scan %3, %16, %21 {body = 0, " PLAIN, "a graph is needed"},
    {BODY(""), "a body makes 1 to 600 states, not 0"},
    {BODY("%1 = input \"y\" : f32[] output \"s0\" %1"), "is none of x0.., s0.., p0.. and c0.."},
    {BODY("%1 = input \"x0\" : f32[2] output \"s0\" %1"), "a body is of scalars, and %1 is none"},
    {BODY("%1 = input \"x0\" : f32[] output \"s1\" %1"), "is an f32 that is called s0"},
    {BODY("%1 = input \"x0\" : i32[] output \"s0\" %1"), "states of a body are f32 or f64"},
    {BODY("%1 = input \"x0\" : f32[] %2 = input \"s0\" : f64[] output \"s0\" %1"),
     "%2 of a body is no f32"},
    {"beside %1, %6, %16 {behind = 0}", "edge f32[4] and node f32[1, 4] are of other elements"},
    {"beside %1, %6, %3 {behind = 2}", "the side is 2, not 0 or 1"},
    {"outer %1, %3, %3 {last = 0}", "operand 2 is node f32[4], not of the edges"},
    {"rank %7", "what is put in order are numbers of rows, not node bool[4]"},
    {"rank %5", "what is put in order are numbers of rows, not f32[4, 5]"},
    {"rank %1", "what is put in order are numbers of rows, not graph<node -> node, edge>"},
    {"rank %1, %15", "operand 2 is buys f32[4], a value of every edge is needed"},
    {"rank %3, %3", "a graph is needed"},
    {"rank %1, %6, %6", "3 operands, takes 1 or 2"},
    {"distinct %3", "1 operands, takes 2 or 4"},
    {"distinct %3, %8", "the order is one integer a row, not node i32[4]"},
    {"input \"o\" : item i32[]\n %22 = distinct %3, %21",
     "operand 2 is item i32[], a value of every node is needed"},
    {"input \"o\" : node i32[]\n %22 = distinct %3, %21, %1, %6",
     "one number an edge is compared, not edge f32[4]"},
    {"input \"o\" : node i32[]\n %22 = distinct %3, %21, %2, %15",
     "the edges of graph<node -> item, buys> end at other rows"},
    {"row_value %1", "the graph is not the pattern of a tensor"},
    {"row_value %3", "a graph is needed"},
    {"matmul %3, %4", "node f32[4] and node f32[2, 3] do not multiply"},
    {"matmul %3, %5 {tb = 1}", "node f32[4] and f32[4, 5]^T do not multiply"},
    {"matmul %3, %5 {ta = 1}", "node f32[4]^T and f32[4, 5] do not multiply"},
    {"matmul %5, %5", "f32[4, 5] and f32[4, 5] do not multiply"},
    {"matmul %8, %8 {ta = 1}", "do not multiply"},
    {"matmul %5, %5 {ta = 2}", "ta is 2, out of 0..1"},
    {"rng_key %9, %3", "operand 2 is node f32[4], not i64[]"},
    {"random %3 : node f32[2]", "the key is node f32[4], not i64[]"},
    {"random %9 : node bf16[2]", "draws f32 or f64, not bf16"},
    {"random %9 {site = -1} : f32[]", "the site is not a 32-bit number"},
    {"reshape %9 : i64[1, 1, 1, 1, 1, 1, 1]", "more than 6 dimensions"},
    {"const : f32[1099511627776, 2]", "more than 2^40 elements"},
    {"const : f32[9223372036854775807, 9223372036854775807]", "more than 2^40 elements"},
    {"broadcast %9 : f32[0]", "0 is no integer in 1..9223372036854775807"},
};

static gn_status *infer(const char *value, gir_program **p)
{
    char *text = gn_arena_printf(&arena, "%s%s\n}\n", prelude, value);
    return gir_parse(&arena, text, strlen(text), "test", p);
}

static void mark(bool *seen, const char *value)
{
    char word[32] = {0}; /* of the last line */
    for (const char *line = strchr(value, '\n'); line; line = strchr(value, '\n'))
        value = strstr(line, " = ") + 3;
    memcpy(word, value, strcspn(value, " "));
    ck_assert_int_ne(gir_op_by_name(word), GIR_INVALID);
    seen[gir_op_by_name(word)] = true;
}

static void expect_all(const bool *seen, const char *what)
{
    for (int op = 1; op < GIR_OP_COUNT; op++)
        ck_assert_msg(seen[op], "%s is not among the %s", gir_ops[op].text, what);
}

START_TEST(fits)
{
    bool seen[GIR_OP_COUNT] = {false};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        gir_program *p = NULL;
        mark(seen, good[k].value);
        gn_status *s = infer(good[k].value, &p);
        ck_assert_msg(s == NULL, "%s: %s", good[k].value, gn_status_message(s));
        ck_assert_str_eq(gir_type_text(p, gir_type_of(p, p->nodes.n - 1)), good[k].want);
    }
    expect_all(seen, "good");
}
END_TEST

START_TEST(does_not_fit)
{
    bool seen[GIR_OP_COUNT] = {false};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        gir_program *p = NULL;
        mark(seen, bad[k].value);
        gn_status *s = infer(bad[k].value, &p);
        ck_assert_msg(s != NULL, "%s was accepted", bad[k].value);
        expect_error(s, GN_ERR_MODEL, bad[k].want);
    }
    expect_all(seen, "bad");
}
END_TEST

/* Building from C: helpers, unique names of spaces, what a misfit leaves behind. */
START_TEST(building)
{
    gir_program *p = gir_program_new(&arena, "b");
    gir_space_id node = gir_space_add(p, "node", GIR_NODE, -1);
    ck_assert_str_eq(p->spaces.p[gir_space_add(p, "node", GIR_NODE, -1)].name, "node.1");
    gir_id g = gir_graph(p, "g", node, node);
    ck_assert_uint_eq(p->spaces.p[gir_type_of(p, g)->edge].graph, g);
    gir_type t = gir_tensor(GN_F32, node, 1, (const int64_t[]){4});
    gir_id x = gir_leaf(p, GIR_INPUT, "x", &t);
    ck_assert_uint_eq(gir_leaf_by_name(p, GIR_INPUT, "x"), x);
    ck_assert_uint_eq(gir_leaf_by_name(p, GIR_STATE, "x"), 0);
    ck_assert_uint_eq(gir_broadcast(p, x, &t), x);
    ck_assert_uint_eq(gir_reshape(p, x, 1, (const int64_t[]){4}), x);
    ck_assert_uint_eq(gir_cast(p, x, GN_F32), x);
    ck_assert_uint_eq(gir_reduce(p, x, GIR_SUM, 0), x);
    ck_assert_uint_eq(gir_space_source(p, node), g);
    ck_assert_uint_eq(gir_space_source(p, gir_type_of(p, g)->edge), g);
    ck_assert_uint_eq(gir_space_source(p, 0), 0);
    gir_id r = gir_make(p, GIR_REDUCE, 1, &x, &(gir_attr){.i = {0, 1, 77}, .f = 3, .name = "no"},
                        NULL, NULL);
    ck_assert_int_eq(gir_at(p, r)->attr.i[2], 0);
    ck_assert(gir_at(p, r)->attr.f == 0 && gir_at(p, r)->attr.name == NULL);
    expect_ok(gir_verify(p));
    const char *why = NULL;
    ck_assert_uint_eq(gir_make(p, GIR_NOT, 1, &x, NULL, NULL, &why), 0);
    ck_assert_str_eq(why, "not: operand 1 is f32, not bool");
    gir_id bad_value = gir_op2(p, GIR_ADD, x, r);
    ck_assert_uint_ne(bad_value, 0);
    expect_error(gir_verify(p), GN_ERR_INTERNAL,
                 "is a misfit: add: node f32[4] and node f32[] differ");
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, fits);
    tcase_add_test(c, does_not_fit);
    tcase_add_test(c, building);
}

int main(void) { return run_suite("gir_infer", fill); }
