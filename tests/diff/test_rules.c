/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 900 */
/* Programs that reach a rule of a pass, and beside each one those that the rule must leave alone:
 * random programs come by such places too seldom.  Each in every mode, on several graphs, every
 * way. */
#include "base/sanitized.h"
#include "support/gir_text.h"
#include "support/random_gir.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prelude[] = "  space node node ?\n"
                              "  space edge edge ? of %1\n"
                              "  space edge2 edge ? of %2\n"
                              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                              "  %2 = graph \"h\" : graph<node -> node, edge2>\n"
                              "  %3 = input \"x.sparse\" : node f32[6]\n"
                              "  %4 = input \"y.pos\" : node f32[6]\n"
                              "  %5 = input \"r.pos\" : node f32[]\n" /* a number a row */
                              "  %6 = input \"e.any\" : edge f32[6]\n"
                              "  %7 = input \"k.label\" : node bool[6]\n"
                              "  %8 = input \"l.label\" : edge bool[6]\n"
                              "  %9 = state \"w.any\" : f32[6, 3]\n"
                              "  %10 = state \"q.any\" : f32[6, 6]\n"
                              "  %11 = state \"b.pos\" : f32[6]\n"
                              "  %12 = gather %1, %3 {end = 0} : edge f32[6]\n"
                              "  %13 = gather %1, %4 {end = 1} : edge f32[6]\n"
                              "  %14 = gather %1, %4 {end = 0} : edge f32[6]\n"
                              "  %15 = gather %1, %5 {end = 1} : edge f32[]\n"
                              "  %16 = reshape %15 : edge f32[1]\n"
                              "  %17 = broadcast %16 : edge f32[6]\n" /* r at the destination */
                              "  %18 = scatter %1, %12 {end = 1, red = 0} : node f32[6]\n"
                              "  %19 = reshape %5 : node f32[1]\n"
                              "  %20 = broadcast %19 : node f32[6]\n"; /* r */

#define PRODUCT " %30 = matmul %29, %9\n"
#define WIDE "%21 = state \"u.any\" : f32[6, 9]\n %22 = matmul %4, %21\n "
/* y[dst] . x[src] as %22, a number of the edge as %24 */
#define DOT                                                                                        \
    "%21 = mul %13, %12\n %22 = reduce %21 {axes = 1}\n %23 = slice %6 {axis = 0, start = 2} : "   \
    "edge f32[1]\n"                                                                                \
    " %24 = reshape %23 : edge f32[]\n "
/* %22, of 18 columns, times weights; of the sum of that, times others, %29 */
#define ENDS                                                                                       \
    " %23 = state \"m.any\" : f32[18, 6]\n %24 = matmul %22, %23\n %25 = tanh %24\n %29 = matmul " \
    "%25, %10\n"
/* Rows that are sources of edges of g, of a state, and the graph that they have to all. */
#define NAMED                                                                                      \
    "space few node ? of %21\n space fe edge ? of %21\n"                                           \
    " %21 = ends %1 {ends = 1} : graph<node -> few, fe>\n %22 = state \"z.any\" : node f32[6]\n"   \
    " %23 = take %21, %22\n %24 = restrict %1, %21 {ends = 1} : graph<few -> node, edge>\n "
#define PUT " %30 = put %21, %22, %25\n update \"z.any\" %30\n "
#define REST "%31 = neg %5\n"
#define SUM " %30 = scatter %1, %29 {end = 1, red = 0}\n"

static const char *const rules[][2] = {
    /* sparsify: images of what is sparse, and values that are none */
    {"neg, abs, sqrt", "%21 = neg %3\n %22 = abs %21\n %29 = sqrt %22\n" PRODUCT},
    {"sign", "%29 = sign %3\n" PRODUCT},
    {"sign of integers, and detach",
     "%21 = input \"n.label\" : node i32[6]\n %22 = const {value = 3} : node i32[6]\n"
     " %23 = sub %21, %22\n %24 = sign %23\n %25 = cast %24 : node f32[6]\n"
     " %26 = detach %25\n %27 = detach %4\n %29 = mul %26, %27\n"},
    {"cos of zero is one", "%29 = cos %3\n" PRODUCT},
    {"exp of zero is one", "%29 = exp %3\n" PRODUCT},
    {"a product", "%29 = mul %4, %3\n" PRODUCT},
    {"a product with a number",
     "%21 = const {value = 3} : node f32[6]\n %29 = mul %3, %21\n" PRODUCT},
    {"a quotient", "%29 = div %3, %4\n" PRODUCT},
    {"a sum", "%29 = add %3, %4\n" PRODUCT},
    {"select", "%21 = const {value = 0} : node f32[6]\n %29 = select %7, %3, %21\n" PRODUCT},
    {"select, the other side",
     "%21 = const {value = 0} : node f32[6]\n %29 = select %7, %21, %3\n" PRODUCT},
    {"select, not zero",
     "%21 = const {value = 2} : node f32[6]\n %29 = select %7, %3, %21\n" PRODUCT},
    {"select, not zero on the other side",
     "%21 = const {value = 2} : node f32[6]\n %29 = select %7, %21, %3\n" PRODUCT},
    {"select between two", "%29 = select %7, %3, %4\n" PRODUCT},
    {"a transposed right operand", "%30 = matmul %3, %10 {tb = 1}\n"},
    {"a transposed left operand", "%30 = matmul %3, %4 {ta = 1}\n"},
    {"a gradient that is turned, of many tiles",
     "%21 = state \"u.any\" : f32[6, 203]\n %22 = matmul %4, %21\n %23 = state \"t.any\" : f32[6, "
     "3]\n"
     " %24 = matmul %4, %23\n %30 = matmul %22, %24 {ta = 1}\n"},
    {"a sum of a product's rows",
     "%21 = state \"u.any\" : f32[6, 203]\n %22 = cos %4\n %23 = matmul %22, %21\n %24 = tanh %23\n"
     " %25 = space_reduce %24\n output \"p\" %24\n"},
    {"a maximum of a product's rows",
     "%21 = state \"u.any\" : f32[6, 203]\n %22 = cos %4\n %23 = matmul %22, %21\n %24 = neg %23\n"
     " %25 = space_reduce %24 {red = 1}\n output \"p\" %23\n"},
    {"a sum of a narrow product's rows",
     "%21 = cos %4\n %22 = matmul %21, %9\n %23 = space_reduce %22\n output \"p\" %22\n"},
/* lower_terms: as many terms as lanes, more, and some that are left over; operands that lie
 * across */
#define DEEP(n) "%21 = state \"u.any\" : f32[6, " n "]\n %22 = matmul %4, %21\n %23 = cos %22\n "
    {"few columns and many terms",
     DEEP("32") "%24 = state \"t.any\" : f32[32, 7]\n %30 = matmul %23, %24\n"},
    {"few columns, and a term left over",
     DEEP("33") "%24 = state \"t.any\" : f32[33, 7]\n %30 = matmul %23, %24\n"},
    {"fewer columns, and terms left over",
     DEEP("35") "%24 = state \"t.any\" : f32[35, 3]\n %30 = matmul %23, %24\n"},
    {"a column, and terms left over",
     DEEP("37") "%24 = state \"t.any\" : f32[37, 1]\n %30 = matmul %23, %24\n"},
    {"few columns of a transposed matrix",
     DEEP("39") "%24 = state \"t.any\" : f32[3, 39]\n %30 = matmul %23, %24 {tb = 1}\n"},
    {"some vectors of columns",
     DEEP("70") "%24 = state \"t.any\" : f32[70, 40]\n %30 = matmul %23, %24\n"},
    {"two products of few columns",
     DEEP("33") "%24 = state \"t.any\" : f32[33, 5]\n %25 = matmul %23, %24\n %26 = sin %22\n"
                " %27 = slice %26 {axis = 0, start = 2} : node f32[31]\n %28 = state \"v.any\" : "
                "f32[31, 5]\n"
                " %29 = matmul %27, %28\n %31 = add %25, %29\n %32 = tanh %31\n"},
    {"a sum of a product's rows of few columns",
     DEEP("33") "%24 = state \"t.any\" : f32[33, 3]\n %25 = matmul %23, %24\n %26 = space_reduce "
                "%25\n"
                " output \"p\" %25\n"},
    {"what edges have, with dropout, times a matrix",
     "%21 = const {value = 7} : i64[]\n %22 = random %21 {site = 1} : edge f32[6]\n"
     " %23 = const {value = 0.5} : edge f32[6]\n %24 = gt %22, %23\n %25 = const {value = 0} : "
     "edge f32[6]\n"
     " %29 = select %24, %6, %25\n" PRODUCT},
    {"a sum of two products of what edges have",
     "%21 = matmul %6, %9\n %22 = cos %6\n %23 = matmul %22, %9\n %29 = add %21, %23\n" SUM},
    {"two sparse operands, scaled alike", "%21 = const {value = 3} : node f32[6]\n %22 = mul %3, "
                                          "%21\n %23 = mul %4, %21\n %24 = matmul %22, %9\n"
                                          " %25 = matmul %23, %9\n %26 = mul %24, %25\n"},
    {"both operands sparse", "%30 = matmul %3, %3 {ta = 1}\n"},
/* recover */
#define RELU                                                                                       \
    "%21 = matmul %4, %10\n %22 = const {value = 0} : node f32[6]\n %23 = gt %21, %22\n"           \
    " %24 = const {value = 2.5} : node f32[6]\n %25 = mul %24, %21\n %26 = select %23, %25, "      \
    "%22\n "
    {"a select of a select",
     RELU "%27 = select %7, %26, %22\n %28 = matmul %27, %9\n %29 = matmul %27, %4 {ta = 1}\n"
          " %31 = select %7, %4, %22\n %32 = select %23, %31, %22\n output \"p\" %28\n"
          " output \"q\" %29\n"},
    {"a select of a select that is read elsewhere",
     RELU "%27 = select %7, %26, %22\n %28 = mul %27, %26\n"},
    {"a select of a select, not of zeros",
     "%21 = const {value = 0} : node f32[6]\n %22 = gt %3, %21\n %23 = select %22, %4, %3\n"
     " %24 = select %7, %23, %21\n"},
/* pair_products, fuse */
#define TWO                                                                                        \
    "%21 = state \"u.any\" : f32[6, 9]\n %22 = matmul %4, %21\n %23 = state \"v.any\" : f32[3, "   \
    "9]\n %24 = matmul %4, "                                                                       \
    "%9\n"                                                                                         \
    " %25 = tanh %24\n %26 = matmul %25, %23\n %27 = state \"t.any\" : f32[9]\n %28 = broadcast "  \
    "%27 : node f32[9]\n "
    {"two products", TWO "%29 = add %22, %26\n %31 = tanh %29\n %32 = mul %31, %28\n"},
    {"two products, the second first", TWO "%29 = add %26, %22\n %31 = mul %29, %28\n"},
    {"two products and a bias", TWO "%29 = add %22, %28\n %31 = add %29, %26\n %32 = tanh %31\n"},
    {"a bias and two products", TWO "%29 = add %28, %26\n %31 = add %22, %29\n %32 = tanh %31\n"},
    {"a product less another", TWO "%29 = sub %22, %26\n %31 = mul %29, %28\n"},
    {"two products less a bias", TWO "%29 = sub %22, %28\n %31 = add %29, %26\n"},
    {"two products, one read twice", TWO "%29 = add %22, %26\n %31 = mul %29, %22\n"},
    {"two products and a bias that is read twice",
     TWO "%29 = add %22, %28\n %31 = add %29, %26\n %32 = mul %31, %29\n"},
    {"two products, one an output",
     TWO "%29 = add %22, %26\n %31 = mul %29, %28\n output \"p\" %26\n"},
    {"three products",
     TWO "%29 = add %22, %26\n %31 = cos %4\n %32 = matmul %31, %21\n %33 = add %29, %32\n"},
    {"two products, and a sum of their rows",
     TWO "%29 = add %22, %26\n %31 = tanh %29\n %32 = space_reduce %31\n"
         " output \"p\" %31\n"},
    {"two products, one of them wide and deep",
     "%21 = state \"u.any\" : f32[6, 203]\n %22 = matmul %4, %21\n %23 = tanh %22\n %24 = state "
     "\"v.any\" : f32[203, "
     "70]\n"
     " %25 = matmul %23, %24\n %26 = state \"t.any\" : f32[6, 70]\n %27 = matmul %4, %26\n %28 = "
     "add %27, %25\n"
     " %29 = neg %28\n"},
    /* dense: square operands hide a transpose that is forgotten from shapes, not from figures */
    {"square, left", "%30 = matmul %10, %10 {ta = 1}\n"},
    {"square, right", "%30 = matmul %10, %10 {tb = 1}\n"},
    {"square, both", "%30 = matmul %10, %10 {ta = 1, tb = 1}\n"},
    {"square, of rows", "%30 = matmul %4, %10 {tb = 1}\n"},
    /* factor */
    {"what the row has", "%29 = mul %6, %13\n" SUM},
    {"what the row has, by source",
     "%29 = mul %6, %13\n %30 = scatter %1, %29 {end = 0, red = 0}\n"},
    {"divided by what the row has", "%29 = div %6, %13\n" SUM},
    {"divided by a quotient",
     "%21 = div %12, %13\n %29 = div %6, %21\n %30 = scatter %1, %29 {end = 1, red = 2}\n"},
    {"divided by a quotient of the row's", "%21 = div %14, %13\n %29 = div %6, %21\n" SUM},
    {"a number of the row's", "%29 = mul %6, %17\n" SUM},
    {"divided by a number of the row's", "%29 = div %12, %17\n" SUM},
    {"both ends", "%21 = mul %12, %14\n %22 = mul %21, %6\n %29 = mul %22, %13\n" SUM},
    {"both ends of another graph",
     "%21 = gather %2, %4 {end = 1}\n %22 = gather %2, %3 {end = 0}\n %23 = mul %21, "
     "%22\n %24 = scatter %2, %23 {end = 1}\n"
     " %25 = gather %1, %24 {end = 1}\n %29 = mul %25, %6\n" SUM},
    {"a number everywhere", "%21 = const {value = 0.25} : edge f32[6]\n %29 = mul %21, %6\n" SUM},
    {"a row that is the same everywhere",
     "%21 = broadcast %11 : edge f32[6]\n %29 = mul %21, %6\n" SUM},
    {"divided by a row that is the same everywhere",
     "%21 = broadcast %11 : edge f32[6]\n %29 = div %6, %21\n" SUM},
    {"chosen or zero",
     "%21 = const {value = 0} : edge f32[6]\n %22 = mul %6, %13\n %29 = select %8, %22, %21\n" SUM},
    {"chosen or not zero",
     "%21 = const {value = 2} : edge f32[6]\n %22 = mul %6, %13\n %29 = select %8, %22, %21\n" SUM},
    {"divided by what is chosen",
     "%21 = const {value = 1} : edge f32[6]\n %22 = select %8, %13, %21\n %29 = div %6, %22\n" SUM},
    {"maxima have no factors",
     "%21 = neg %13\n %29 = mul %6, %21\n %30 = scatter %1, %29 {end = 1, red = 1}\n"},
    {"views on the way",
     "%21 = reshape %15 : edge f32[1, 1]\n %22 = broadcast %21 : edge f32[2, 1]\n %23 = broadcast "
     "%22 : edge f32[2, 3]\n"
     " %24 = reshape %23 : edge f32[6]\n %29 = mul %24, %6\n" SUM},
    {"many views on the way",
     "%21 = broadcast %16 : edge f32[2]\n %22 = reshape %21 : edge f32[2, 1]\n %23 = broadcast %22 "
     ": edge f32[2, 2]\n"
     " %24 = reshape %23 : edge f32[4, 1]\n %25 = broadcast %24 : edge f32[4, 2]\n %26 = reshape "
     "%25 : edge f32[8, 1]\n"
     " %27 = broadcast %26 : edge f32[8, 2]\n %28 = reshape %27 : edge f32[16, 1]\n"
     " %29 = broadcast %28 : edge f32[16, 2]\n %30 = reshape %29 : edge f32[32]\n %31 = state "
     "\"t.any\" : f32[32]\n"
     " %32 = broadcast %31 : edge f32[32]\n %33 = mul %30, %32\n %34 = scatter %1, %33 {end = 1, "
     "red = 0}\n"},
    {"many factors", "%21 = mul %13, %13\n %22 = mul %21, %21\n %23 = mul %22, %22\n %24 = mul "
                     "%23, %23\n %25 = mul %24, %6\n"
                     " %29 = mul %25, %12\n" SUM},
    {"a softmax", "%21 = exp %6\n %22 = scatter %1, %21 {end = 1}\n %23 = gather %1, %22 {end = "
                  "1}\n %24 = div %21, %23\n"
                  " %29 = mul %24, %14\n" SUM},
    {"factors seen through different views",
     "%21 = slice %13 {axis = 0, start = 0} : edge f32[2]\n %22 = slice %13 {axis = 0, start = 3} "
     ": edge f32[2]\n"
     " %23 = reshape %21 : edge f32[2, 1]\n %24 = broadcast %23 : edge f32[2, 2]\n"
     " %25 = broadcast %22 : edge f32[2, 2]\n %26 = mul %24, %25\n %27 = slice %6 {axis = 0, start "
     "= 1} : edge f32[4]\n"
     " %28 = reshape %27 : edge f32[2, 2]\n %29 = mul %26, %28\n" SUM},
    {"the row's vectors seen through different views",
     "%21 = state \"t.any\" : f32[6, 2]\n %22 = matmul %4, %21\n %23 = gather %1, %22 {end = 1}\n"
     " %24 = reshape %23 : edge f32[2, 1]\n %25 = broadcast %24 : edge f32[2, 2]\n"
     " %26 = broadcast %23 : edge f32[2, 2]\n %27 = mul %25, %26\n"
     " %28 = slice %6 {axis = 0, start = 1} : edge f32[4]\n %31 = reshape %28 : edge f32[2, 2]\n"
     " %29 = mul %27, %31\n" SUM},
    /* factor: dot products */
    {"a dot product of the ends", DOT "%29 = mul %22, %24\n" SUM},
    {"a dot product of the ends, by source",
     DOT "%29 = mul %22, %24\n %30 = scatter %1, %29 {end = 0, red = 0}\n"},
    {"divided by a dot product", DOT "%25 = abs %22\n %29 = div %24, %25\n" SUM},
    {"divided by a dot product of the ends",
     "%21 = mul %13, %14\n %22 = reduce %21 {axes = 1}\n %23 = slice %6 {axis = 0, start = 2} : "
     "edge f32[1]\n"
     " %24 = reshape %23 : edge f32[]\n %29 = div %24, %22\n" SUM},
    {"a difference of dot products", DOT "%25 = mul %13, %14\n %26 = reduce %25 {axes = 1}\n %27 = "
                                         "sub %22, %26\n %29 = mul %27, %24\n" SUM},
    {"a difference of a dot product and a number of the edge",
     DOT "%25 = sub %24, %22\n %29 = mul %25, %15\n" SUM},
    {"a negated dot product", DOT "%25 = neg %22\n %29 = mul %25, %24\n" SUM},
    {"a scaled dot product",
     DOT "%25 = const {value = 3} : edge f32[]\n %26 = mul %25, %22\n %29 = mul %26, %24\n" SUM},
    {"a largest product is no dot product",
     "%21 = mul %13, %12\n %22 = reduce %21 {red = 1, axes = 1}\n %23 = slice %6 {axis = 0, start "
     "= 2} : edge f32[1]\n"
     " %24 = reshape %23 : edge f32[]\n %29 = mul %22, %24\n" SUM},
    {"a dot product that is repeated", DOT "%25 = reshape %22 : edge f32[1]\n %26 = broadcast %25 "
                                           ": edge f32[6]\n %29 = mul %26, %6\n" SUM},
    {"a scaled dot product that is repeated",
     "%21 = mul %13, %12\n %22 = const {value = 3} : edge f32[6]\n %23 = mul %21, %22\n %24 = "
     "reduce %23 {axes = 1}\n"
     " %25 = reshape %24 : edge f32[1]\n %26 = broadcast %25 : edge f32[6]\n %29 = mul %26, "
     "%13\n" SUM},
    {"a softmax's gradient", "%21 = exp %6\n %22 = scatter %1, %21 {end = 1}\n %23 = gather %1, "
                             "%22 {end = 1}\n %24 = div %21, %23\n"
                             " %25 = mul %24, %12\n %26 = scatter %1, %25 {end = 1}\n %27 = mul "
                             "%24, %13\n %28 = mul %27, %12\n"
                             " %31 = mul %28, %24\n %29 = sub %28, %31\n" SUM},
    /* reassociate */
    {"a product of a sum", "%30 = matmul %18, %9\n"},
    {"a product of a maximum", "%29 = scatter %1, %12 {end = 1, red = 1}\n" PRODUCT},
    {"a product of a sum by source",
     "%21 = gather %1, %3 {end = 1}\n %29 = scatter %1, %21 {end = 0, red = 0}\n" PRODUCT},
    {"of a sum, scaled", "%29 = mul %18, %20\n" PRODUCT},
    {"of a sum, scaled from the left", "%29 = mul %20, %18\n" PRODUCT},
    {"of a sum, scaled by what is no number a row", "%29 = mul %4, %18\n" PRODUCT},
    {"of a sum, scaled by a row that is the same everywhere",
     "%21 = broadcast %11 : node f32[6]\n %29 = mul %18, %21\n" PRODUCT},
    {"of a sum, divided", "%29 = div %18, %20\n" PRODUCT},
    {"of a quotient by a sum", "%21 = abs %18\n %22 = add %21, %4\n %29 = div %20, %22\n" PRODUCT},
    {"of a sum, scaled by a number",
     "%21 = const {value = 3} : node f32[6]\n %29 = mul %18, %21\n" PRODUCT},
    {"of a sum of scaled messages",
     "%21 = mul %12, %17\n %29 = scatter %1, %21 {end = 1}\n" PRODUCT},
    {"of a sum of what edges have",
     "%21 = mul %12, %6\n %29 = scatter %1, %21 {end = 1}\n" PRODUCT},
    {"of a sum of two sums", "%21 = gather %2, %4 {end = 0}\n %22 = scatter %2, %21 {end = 1}\n "
                             "%29 = add %18, %22\n" PRODUCT},
    {"of a difference of two sums", "%21 = gather %2, %4 {end = 0}\n %22 = scatter %2, %21 {end = "
                                    "1}\n %29 = sub %18, %22\n" PRODUCT},
    {"of a sum and a row", "%29 = add %18, %4\n" PRODUCT},
    {"of a row less a sum", "%29 = sub %4, %18\n" PRODUCT},
    {"of a sum of sums",
     "%21 = gather %1, %18 {end = 0}\n %29 = scatter %1, %21 {end = 1}\n" PRODUCT},
    {"of a sum that is read twice",
     "%29 = mul %18, %20\n %30 = matmul %29, %9\n %31 = reduce %18 {axes = 1}\n"
     " %32 = reshape %31 : node f32[1]\n %33 = broadcast %32 : node f32[3]\n"
     " %34 = add %30, %33\n"},
    {"of two powers, one of which is read for both",
     "%21 = gather %1, %18 {end = 0}\n %22 = scatter %1, %21 {end = 1}\n %23 = neg %22\n %24 = sub "
     "%23, %4\n"
     " %25 = slice %9 {axis = 1, start = 1} : f32[6, 2]\n %26 = matmul %18, %25\n %27 = matmul "
     "%24, %25\n"
     " %28 = add %26, %27\n"},
    {"of two powers, one of which is an output",
     "%21 = gather %1, %18 {end = 0}\n %22 = scatter %1, %21 {end = 1}\n"
     " %25 = slice %9 {axis = 1, start = 1} : f32[6, 2]\n %26 = matmul %18, %25\n %27 = matmul "
     "%22, %25\n"
     " %28 = add %26, %27\n output \"p\" %18\n"},
    {"of a wide product", "%21 = matmul %4, %10\n %22 = gather %1, %21 {end = 0}\n"
                          " %29 = scatter %1, %22 {end = 1}\n" PRODUCT},
    /* edge_products */
    {"both ends side by side",
     "%21 = sub %12, %13\n %22 = concat %12, %21, %6 {axis = 0}\n" ENDS SUM},
    {"both ends side by side, a maximum",
     "%21 = sub %12, %13\n %22 = concat %12, %21, %6 {axis = 0}\n" ENDS
     " %30 = scatter %1, %29 {end = 1, red = 1}\n"},
    {"one end less the other, and the other again, by source",
     "%21 = sub %14, %13\n %22 = concat %14, %21, %13 {axis = 0}\n" ENDS
     " %30 = scatter %1, %29 {end = 0, red = 0}\n"},
    {"both ends, scaled by numbers and by rows",
     "%21 = const {value = -3} : edge f32[6]\n %31 = mul %14, %21\n %32 = mul %17, %14\n %33 = div "
     "%6, %21\n"
     " %22 = concat %31, %32, %33 {axis = 0}\n" ENDS SUM},
    {"both ends, divided, negated",
     "%21 = div %14, %17\n %31 = neg %21\n %32 = neg %12\n %33 = neg %31\n"
     " %22 = concat %31, %32, %33 {axis = 0}\n" ENDS SUM},
    {"scaled twice", "%21 = mul %14, %17\n %31 = div %21, %17\n %32 = mul %31, %17\n"
                     " %22 = concat %31, %21, %32 {axis = 0}\n" ENDS SUM},
    {"a product of one end, of a product of that end",
     "%21 = matmul %12, %10\n %22 = broadcast %11 : edge f32[6]\n %23 = add %21, %22\n %24 = tanh "
     "%23\n"
     " %25 = concat %24, %24 {axis = 0}\n %26 = slice %25 {axis = 0, start = 3} : edge f32[6]\n "
     "%28 = matmul %26, %9\n"
     " %30 = scatter %1, %28 {end = 1, red = 1}\n"},
    {"a product of one end of two graphs",
     "%21 = gather %2, %4 {end = 0}\n %22 = matmul %21, %9\n %23 = scatter %2, %22 {end = 1, red = "
     "1}\n"
     " %24 = matmul %14, %9\n %25 = scatter %1, %24 {end = 1, red = 2}\n %26 = add %23, %25\n"},
    {"a sum of products, scaled, with a bias",
     "%21 = tanh %6\n %22 = matmul %21, %10\n %24 = broadcast %11 : edge "
     "f32[6]\n %25 = add %22, %24\n %29 = mul %25, %17\n" SUM},
    {"a sum of products, divided, less another, by source",
     "%21 = tanh %6\n %22 = matmul %21, %10\n %25 = div %22, %17\n %26 = sub %6, %25\n %27 = neg "
     "%26\n"
     " %30 = scatter %1, %27 {end = 0, red = 0}\n"},
    {"a sum of products times a number, with a bias",
     "%21 = tanh %6\n %22 = matmul %21, %10\n %23 = const {value = 3} : edge f32[6]\n %24 = mul "
     "%23, %22\n"
     " %25 = broadcast %11 : edge f32[6]\n %26 = sub %24, %25\n %29 = div %26, %23\n" SUM},
    {"a sum of products and their maximum",
     "%21 = tanh %6\n %22 = matmul %21, %10\n %23 = scatter %1, %22 {end = 1, red = 0}\n"
     " %24 = scatter %1, %22 {end = 1, red = 1}\n %25 = add %23, %24\n"},
    /* aggregate_first */
    {"a sum of wide products",
     WIDE "%23 = gather %1, %22 {end = 0}\n %24 = scatter %1, %23 {end = 1, red = 0}\n"},
    {"a sum of wide products by source",
     WIDE "%23 = gather %1, %22 {end = 1}\n %24 = scatter %1, %23 {end = 0, red = 0}\n"},
    {"a maximum of wide products",
     WIDE "%23 = gather %1, %22 {end = 0}\n %24 = scatter %1, %23 {end = 1, red = 1}\n"},
    {"a sum of wide products, scaled", WIDE
     "%23 = gather %1, %22 {end = 0}\n %24 = broadcast %16 : edge f32[9]\n %25 = mul %24, %23\n"
     " %26 = scatter %1, %25 {end = 1, red = 0}\n"},
    {"a sum of wide products, divided", WIDE
     "%23 = gather %1, %22 {end = 0}\n %24 = broadcast %16 : edge f32[9]\n %25 = div %23, %24\n"
     " %26 = scatter %1, %25 {end = 1, red = 0}\n"},
    {"a sum of wide products, scaled by what differs from column to column",
     WIDE "%23 = gather %1, %22 {end = 0}\n %24 = state \"t.any\" : f32[9]\n %25 = broadcast %24 : "
          "edge f32[9]\n"
          " %26 = mul %25, %23\n %27 = scatter %1, %26 {end = 1, red = 0}\n"},
    /* simplify */
    {"a transpose of a transpose", "%21 = reshape %4 : node f32[1, 2, 3]\n %22 = transpose %21 "
                                   "{perm = 258}\n %23 = transpose %22 {perm = 513}\n"
                                   " %24 = mul %23, %23\n"},
    /* fuse, lower */
    {"a sum over another graph",
     "%21 = gather %2, %18 {end = 1}\n %22 = gather %2, %4 {end = 0}\n %23 = mul %21, %22\n"
     " %24 = scatter %2, %23 {end = 1, red = 0}\n %25 = add %24, %18\n"},
    {"a sum over another graph that reads the first",
     "%21 = gather %2, %18 {end = 1}\n %22 = gather %2, %4 {end = 0}\n %23 = add %21, %22\n"
     " %24 = scatter %2, %23 {end = 1, red = 0}\n %25 = add %24, %18\n"},
    {"a product read at another column",
     "%21 = matmul %4, %10\n %22 = slice %21 {axis = 0, start = 1} : node f32[4]\n"
     " %23 = pad %22 {axis = 0, before = 2} : node f32[6]\n %24 = add %21, %23\n"},
    {"rows that are all the same, times a matrix",
     "%21 = broadcast %11 : node f32[6]\n %22 = matmul %21, %9\n"},
    {"a sum over rows that is repeated, and read by a row",
     "%21 = mul %4, %4\n %22 = space_reduce %21\n %23 = broadcast %22 : node f32[6]\n %24 = sub "
     "%21, %23\n"
     " output \"p\" %23\n"},
    {"a loop that would wait for itself",
     "%21 = mul %4, %4\n %22 = gather %1, %21 {end = 0}\n %23 = scatter %1, %22 {end = 1}\n"
     " %24 = state \"z.any\" : f32[50, 6]\n %25 = tanh %24\n %26 = reduce %25 {axes = 3}\n"
     " %27 = broadcast %26 : node f32[6]\n %28 = add %21, %27\n %29 = space_reduce %23\n"
     " %30 = broadcast %29 : f32[50, 6]\n %31 = mul %25, %30\n %32 = reduce %31 {axes = 1}\n"
     " output \"p\" %21\n output \"q\" %25\n output \"r\" %28\n"},
    {"a sum by the other end", "%21 = gather %1, %18 {end = 0}\n %22 = add %21, %13\n"
                               " %23 = scatter %1, %22 {end = 0, red = 0}\n %24 = add %23, %18\n"},
    {"a part of a row at both ends",
     "%21 = reshape %4 : node f32[1, 6]\n %22 = broadcast %21 : node f32[4, 6]\n"
     " %23 = gather %1, %22 {end = 0}\n %24 = gather %1, %22 {end = 1}\n %25 = sub %23, %24\n"
     " %26 = scatter %1, %25 {end = 1, red = 0}\n"},
    {"a sum of a row at both ends",
     "%21 = reduce %4 {axes = 1}\n %22 = gather %1, %21 {end = 0}\n %23 = gather %1, %21 {end = "
     "1}\n"
     " %24 = sub %22, %23\n %25 = scatter %1, %24 {end = 1, red = 0}\n"},
    {"large plain tensors of several sizes",
     "%21 = broadcast %11 : f32[50, 6]\n %22 = mul %21, %21\n %23 = broadcast %11 : f32[60, 6]\n "
     "%24 = exp %23\n"
     " %25 = reduce %22 {axes = 1}\n %26 = reduce %24 {axes = 1}\n %27 = add %25, %26\n"},
    {"a state read element by element while it is replaced",
     "%21 = state \"z.any\" : f32[20, 20]\n %22 = mul %21, %21\n %23 = add %22, %21\n update "
     "\"z.any\" %22\n"},
    {"a state read at other elements while it is replaced",
     "%21 = state \"z.any\" : f32[20, 20]\n %22 = mul %21, %21\n %23 = transpose %21 {perm = 1}\n"
     " %24 = neg %23\n %25 = add %22, %24\n update \"z.any\" %22\n"},
    {"a state read by rows after it is replaced",
     "%21 = state \"z.any\" : f32[50, 6]\n %22 = mul %21, %21\n %23 = add %22, %22\n %24 = reduce "
     "%23 {axes = 1}\n"
     " %25 = reduce %21 {axes = 1}\n %26 = mul %24, %25\n %27 = broadcast %26 : f32[50, 6]\n %28 = "
     "add %27, %21\n"
     " update \"z.any\" %22\n"},
/* lower: sums that draw which rows they add */
#define DROPPED                                                                                    \
    "space feature feature 6\n space nz edge ? of %21\n %21 = pattern %3 : graph<feature -> "      \
    "node, nz>\n"                                                                                  \
    " %22 = const {value = 7} : i64[]\n %23 = random %22 {site = 1} : node f32[6]\n %24 = cell "   \
    "%21, %23\n"                                                                                   \
    " %25 = const {value = 0.5} : nz f32[]\n %26 = ge %24, %25\n %27 = const {value = 3} : nz "    \
    "f32[]\n"                                                                                      \
    " %28 = const {value = 0} : nz f32[]\n %29 = select %26, %27, %28\n %31 = reshape %29 : nz "   \
    "f32[1]\n"                                                                                     \
    " %32 = broadcast %31 : nz f32[3]\n %33 = to_rows %9 : feature f32[3]\n %34 = gather %21, "    \
    "%33 {end = 0}\n"                                                                              \
    " %35 = mul %32, %34\n %36 = scatter %21, %35 {end = 1, red = 0}\n %37 = tanh %36\n"           \
    " %38 = gather %21, %37 {end = 1}\n %39 = mul %38, %32\n %40 = scatter %21, %39 {end = 0, "    \
    "red = 0}\n "
    {"sums of dropped rows at both ends", DROPPED},
    {"sums of dropped rows, and what was dropped elsewhere",
     DROPPED "%41 = scatter %21, %29 {end = 1, red = 0}\n %42 = tanh %40\n output \"p\" %41\n"},
    {"sums of dropped rows that are an output", DROPPED "%41 = tanh %40\n output \"p\" %37\n"},
    /* lower: rows that are put, of ends that edges name */
    {"rows that are put, and read of memory",
     NAMED "%25 = add %23, %23\n %26 = gather %24, %25 {end = 0}\n %27 = scatter %1, %26 {end = 1, "
           "red = 0}\n" PUT "output \"p\" %27\n" REST},
    {"rows that are put while edges read others",
     NAMED "%26 = gather %24, %23 {end = 0}\n %27 = gather %1, %22 {end = 1}\n %28 = mul %26, %27\n"
           " %29 = scatter %24, %28 {end = 0, red = 0}\n %25 = add %23, %29\n" PUT REST},
    {"rows that are put while edges between them read others",
     "space few node ? of %21\n space fe edge ? of %21\n"
     " %21 = ends %1 {ends = 3} : graph<node -> few, fe>\n %22 = state \"z.any\" : node f32[6]\n"
     " %23 = take %21, %22\n %24 = restrict %1, %21, %21 {ends = 3} : graph<few -> few, edge>\n"
     " %26 = gather %24, %23 {end = 0}\n %27 = gather %24, %23 {end = 1}\n %28 = mul %26, %27\n"
     " %29 = scatter %24, %28 {end = 0, red = 0}\n %25 = add %23, %29\n" PUT REST},
    {"a state read whole after rows of it are put",
     NAMED "%25 = add %23, %23\n" PUT "%31 = exp %22\n"},
    {"rows that are put of what is as wide and of what is not", NAMED
     "%26 = reduce %23 {axes = 1}\n %27 = reshape %26 : few f32[1]\n %28 = broadcast %27 : few "
     "f32[6]\n %25 = mul %23, %28\n output \"p\" %26\n" PUT REST},
    {"rows that are put, of a state that is an output",
     NAMED "%25 = add %23, %23\n" PUT "output \"p\" %22\n" REST},
    {"rows of what is no state that are put, and read of memory",
     NAMED "%32 = take %21, %4\n %25 = mul %32, %32\n %26 = gather %24, %25 {end = 0}\n"
           " %27 = scatter %1, %26 {end = 1, red = 0}\n" PUT "output \"p\" %27\n" REST},
    {"rows that are put into a state and read there",
     NAMED "%25 = add %23, %23\n" PUT "%31 = neg %30\n"},
    {"rows that are put into what becomes another state",
     NAMED "%25 = add %23, %23\n %30 = put %21, %22, %25\n %32 = state \"o.any\" : node f32[6]\n"
           " %33 = exp %32\n update \"o.any\" %30\n output \"p\" %33\n" REST},
    {"rows among all", NAMED "%25 = add %23, %23\n %26 = put %21, %22, %25\n %27 = neg %26\n"},
    {"rows of a mask among all",
     "space few node ? of %21\n space fe edge ? of %21\n %22 = input \"m.label\" : node bool[]\n"
     " %21 = subset %22 : graph<node -> few, fe>\n %23 = take %21, %4\n %24 = neg %23\n"
     " %25 = put %21, %4, %24\n %26 = tanh %25\n"},
    {"edges between named rows, walked with all", NAMED
     "%25 = gather %24, %23 {end = 0}\n %26 = mul %25, %14\n %27 = mul %26, %13\n"
     " %28 = scatter %24, %27 {end = 0, red = 0}\n %29 = scatter %24, %27 {end = 1, red = 0}\n"
     " %31 = scatter %1, %25 {end = 0, red = 0}\n output \"p\" %28\n output \"q\" %31\n"
     " %32 = neg %29\n"},
    /* lower: versions of a row's work */
    {"a scalar that the condition decides too",
     "%21 = input \"f.label\" : bool[]\n %22 = const {value = 2} : f32[]\n %23 = const {value = 3} "
     ": f32[]\n"
     " %24 = select %21, %22, %23\n %25 = broadcast %21 : edge bool[6]\n %26 = select %25, %12, "
     "%6\n"
     " %27 = broadcast %24 : edge f32[6]\n %28 = max %26, %27\n %29 = tanh %28\n" SUM},
    {"a sum over rows that the first version has no use for",
     "%21 = input \"f.label\" : bool[]\n %22 = scatter %1, %12 {end = 1, red = 1}\n %23 = "
     "space_reduce %22\n"
     " %24 = gather %1, %22 {end = 1}\n %25 = mul %6, %24\n %26 = broadcast %21 : edge bool[6]\n"
     " %27 = select %26, %6, %25\n %28 = scatter %1, %27 {end = 1, red = 0}\n %29 = broadcast %23 "
     ": node f32[6]\n"
     " %31 = add %28, %29\n %32 = broadcast %21 : node bool[6]\n %33 = select %32, %28, %31\n"},
    {"a maximum of integers that starts from the least one",
     "%21 = cast %4 : node i64[6]\n %22 = const {value = -9223372036854775808} : node i64[6]\n"
     " %23 = select %7, %21, %22\n %24 = space_reduce %23 {red = 1}\n %25 = cast %24 : f32[6]\n"},
    {"a maximum of rows that are lanes", "%21 = mul %5, %5\n %22 = space_reduce %21 {red = 1}\n "
                                         "%23 = broadcast %22 : node f32[]\n %24 = sub %21, %23\n"},
};

enum { RULES = sizeof rules / sizeof *rules, SEEDS = 4 };

START_TEST(rule)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 1)) return; /* each compiles */
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gn_arena a;
        gir_program *p;
        gn_arena_init(&a);
        char *text = gir_renumbered(
            &a, gn_arena_printf(&a, "program @rule {\n%s %s}\n", prelude, rules[_i][1]));
        gn_status *s = gir_parse(&a, text, strlen(text), "rules", &p);
        ck_assert_msg(!s, "%s: %s", rules[_i][0], gn_status_message(s));
        gir_output_add(p, GIR_OUTPUT, "out", p->nodes.n - 1);
        gir_env env = random_gir_env(&a, p, seed, NULL);
        unsigned all = (1u << RUN_MODE_COUNT) - 1;
        s = run_every_way(p, &env, all, seed ? 0 : 1, NULL);
        ck_assert_msg(!s, "%s, seed %d: %s (%s:%d)\n%s", rules[_i][0], (int)seed,
                      gn_status_message(s), s->file, s->line, text);
        gn_arena_free(&a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("rules");
    tcase_add_loop_test(t, rule, 0, RULES);
    tcase_set_timeout(t, 900);
    return RUN_CASES("rules", t);
}
