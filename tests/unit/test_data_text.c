/* Text formats: Matrix Market, edge lists, gnnc's own, gzip; and the numbers in them. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/readers.h"
#include "runtime/data/lines.h"

#include <math.h>
#include <zlib.h>

static const gn_data_options defaults = {.normalize_rows = -1, .undirected = -1};

static gn_status *parse(gn_reader *f, const char *text, size_t n, gn_dataset **out)
{
    char *bytes = exact(text, n);
    gn_reading r = {.opt = &defaults, .origin = "test"};
    gn_status *s = f(bytes, n, &r, out);
    free(bytes);
    if (s) return s;
    s = gn_dataset_check(*out);
    if (s) gn_dataset_free(*out);
    return s;
}

static gn_dataset *good(gn_reader *f, const char *text)
{
    gn_dataset *d;
    must(parse(f, text, strlen(text), &d));
    return d;
}

static void refuse(gn_reader *f, const char *text, const char *words, int line)
{
    gn_dataset *d;
    must_fail(parse(f, text, strlen(text), &d), GN_ERR_DATA, words, line);
}

static void refuse_n(gn_reader *f, const char *text, size_t n, const char *words, int line)
{
    gn_dataset *d;
    must_fail(parse(f, text, n, &d), GN_ERR_DATA, words, line);
}

/* The k-th remark is there, with these words in it; k of -1: there is none. */
static void remarks(gn_dataset *d, int k, const char *words)
{
    ck_assert_int_gt(d->n_remarks, k);
    if (k < 0)
        ck_assert_int_eq(d->n_remarks, 0);
    else
        ck_assert_msg(strstr(d->remark[k], words) != NULL, "%s", d->remark[k]);
    gn_dataset_free(d);
}

static void check_edges(gn_dataset *d, int64_t nodes, int64_t edges, const int64_t *pairs,
                        const float *weight)
{
    ck_assert_int_eq(d->n_nodes, nodes);
    ck_assert_int_eq(d->n_edges, edges);
    for (int64_t e = 0; e < edges; e++) {
        ck_assert_int_eq(d->src[e], pairs[2 * e]);
        ck_assert_int_eq(d->dst[e], pairs[2 * e + 1]);
        if (weight) ck_assert(d->edge_weight[e] == weight[e]);
    }
    ck_assert(weight ? d->edge_weight != NULL : d->edge_weight == NULL);
    gn_dataset_free(d);
}
#define PAIRS(...) ((const int64_t[]){__VA_ARGS__})
#define WEIGHTS(...) ((const float[]){__VA_ARGS__})

START_TEST(numbers)
{
    static const struct {
        const char *text;
        double value;
    } floats[] = {
        {"0", 0},
        {"-0.5", -0.5},
        {"1e3", 1000},
        {"+2.5E-1", 0.25},
        {".5", 0.5},
        {"5.", 5},
        {"1e22", 1e22},
        {"0.1", 0.1},
        {"1e-400", 0},
        {"1e400", INFINITY},
        {"0e9999999", 0},
        {"3.14159265", 3.14159265},
        {"1e-9223372036854775807", 0},
        {"-inf", -INFINITY},
    };
    static const char *const bad[] = {"",     "-",   ".",     "e5", "1e",  "1e+",
                                      "0x10", "1,5", "1.2.3", "1 ", "--1", "infx"};
    double v;
    int64_t i;
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        gn_span s = {floats[k].text, floats[k].text + strlen(floats[k].text)};
        ck_assert_msg(gn_span_float(s, &v) && v == floats[k].value, "%s: %.17g", floats[k].text, v);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        gn_span s = {bad[k], bad[k] + strlen(bad[k])};
        ck_assert_msg(!gn_span_float(s, &v), "'%s'", bad[k]);
        ck_assert_msg(!gn_span_int(s, &i), "'%s'", bad[k]);
    }
    char text[64];
    for (int k = 0; k < 100000; k++) { /* what float32 values print as comes back */
        union {
            uint32_t u;
            float f;
        } a = {.u = (uint32_t)k * 2654435761u};
        if (!isfinite(a.f)) continue;
        snprintf(text, sizeof text, "%.9g", (double)a.f);
        ck_assert_msg(gn_span_float((gn_span){text, text + strlen(text)}, &v) && (float)v == a.f,
                      "%s", text);
    }
    ck_assert(
        gn_span_int((gn_span){text, text + sprintf(text, "%lld", (long long)INT64_MIN)}, &i) &&
        i == INT64_MIN);
    ck_assert(!gn_span_int((gn_span){text, text + sprintf(text, "9223372036854775808")}, &i));
}
END_TEST

START_TEST(matrix_market)
{
    check_edges(
        good(gn_mtx_parse,
             "%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 3 3\n1 2\n3 1\n1 2\n"),
        3, 3, PAIRS(0, 1, 2, 0, 0, 1), NULL);
    check_edges(
        good(gn_mtx_parse,
             "%%matrixmarket MATRIX Coordinate Real Symmetric\r\n3 3 2\r\n2 1 0.5\r\n3 3 -2e1"),
        3, 3, PAIRS(1, 0, 0, 1, 2, 2), WEIGHTS(.5f, .5f, -20));
    check_edges(good(gn_mtx_parse,
                     "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n"),
                2, 2, PAIRS(1, 0, 0, 1), WEIGHTS(7, -7));
    check_edges(good(gn_mtx_parse, "%%MatrixMarket matrix coordinate pattern general\n5 5 0\n"), 5,
                0, NULL, NULL);
#define MTX(kind, rest) "%%MatrixMarket matrix coordinate " kind "\n" rest
#define REFUSE(text, words) refuse(gn_mtx_parse, text, words, __LINE__)
    REFUSE("", "expected a %%MatrixMarket line");
    REFUSE("%%MatrixMarket matrix\n", "test:1: expected five words");
    REFUSE("%%MatrixMarket matrix list real general\n", "'list': expected coordinate or array");
    REFUSE("%%MatrixMarket vector coordinate real general\n", "matrix coordinate");
    REFUSE(MTX("complex general", "1 1 0\n"),
           "'complex': expected pattern, real, integer or unsigned-integer");
    REFUSE(MTX("complex hermitian", "1 1 0\n"), "'complex': expected");
    REFUSE(MTX("real diagonal", "1 1 0\n"), "'diagonal': expected general, symmetric, hermitian");
    REFUSE(MTX("real general more", "1 1 0\n"), "test:1: 'more' is too much");
    REFUSE(MTX("pattern skew-symmetric", "1 1 0\n"), "cannot be skew");
    REFUSE(MTX("pattern general", "% only\n"), "before its size line");
    REFUSE(MTX("pattern general", "2 3 1\n1 1\n"), "test:2: 2 x 3: expected a square matrix");
    REFUSE(MTX("pattern general", "2 2\n1 1\n"), "expected a number of entries");
    REFUSE(MTX("pattern general", "-2 2 1\n1 1\n"), "'-2': expected a number of rows");
    REFUSE(MTX("pattern general", "2 2 9999999999\n1 1\n"), "9999999999 entries in 4 bytes");
    REFUSE(MTX("pattern general", "2 2 1\n1 3\n"), "test:3: '3': expected a column from 1 to 2");
    REFUSE(MTX("pattern general", "2 2 1\n0 1\n"), "'0': expected a row from 1 to 2");
    REFUSE(MTX("pattern general", "2 2 1\n1 2 3\n"), "'3' is too much");
    REFUSE(MTX("pattern general", "2 2 2\n1 2\n% no more\n"), "ends after 1 of 2 entries");
    REFUSE(MTX("pattern general", "2 2 1\n1 2\n2 1\n"), "more than the 1 entries");
    REFUSE(MTX("real general", "2 2 1\n1 2\n"), "expected a value");
    REFUSE(MTX("real general", "2 2 1\n1 2 1 0\n"), "test:3: '0' is too much");
    REFUSE(MTX("real general", "2 2 1\n1.0 2 1\n"), "'1.0': expected a row");
    REFUSE(MTX("integer general", "2 2 1\n1 2 0.5\n"),
           "test:3: '0.5': expected a whole number, as the first line");
    REFUSE(MTX("integer general", "2 2 1\n1 2 1e3\n"), "'1e3': expected a whole number");
    REFUSE(MTX("unsigned-integer general", "2 2 1\n1 2 -1\n"),
           "'-1': expected a whole number from 0");
    REFUSE(MTX("real skew-symmetric", "2 2 1\n1 1 1\n"),
           "test:3: a skew-symmetric matrix has 0 on its diagonal");
    REFUSE(MTX("real symmetric", "2 2 2\n2 1 1\n1 2 1\n"),
           "test:4: entry (1, 2) is above the diagonal, and others are below: a symmetric file has "
           "one triangle");
    REFUSE(MTX("real general", "99999999999999999999 2 1\n1 2 1\n"),
           "'99999999999999999999': expected a number of rows");
    REFUSE(MTX("real general", "2 2 1 1\n1 2 1\n"), "test:2: '1' is too much");
    REFUSE(MTX("real general", "2 2 1\n1 2 nan\n"), "'nan': expected a finite number");
    REFUSE(MTX("real general", "2 2 1\n1 2 1e39\n"), "'1e39': expected a finite number");
#undef REFUSE
}
END_TEST

/* What scipy.io.mmread makes of the same lines. */
START_TEST(matrix_market_numbers)
{
    check_edges(good(gn_mtx_parse, MTX("real hermitian", "2 2 2\n1 1 3\n2 1 .5\n")), 2, 3,
                PAIRS(0, 0, 1, 0, 0, 1), WEIGHTS(3, .5f, .5f));
    check_edges(good(gn_mtx_parse, MTX("unsigned-integer general", "2 2 1\n1 2 4000000000\n")), 2,
                1, PAIRS(0, 1), WEIGHTS(4e9f));
    check_edges(good(gn_mtx_parse, MTX("integer symmetric", "2 2 1\n1 2 -7\n")), 2, 2,
                PAIRS(0, 1, 1, 0), WEIGHTS(-7, -7)); /* the upper triangle alone will do */
    check_edges(good(gn_mtx_parse, "\xef\xbb\xbf" MTX("pattern general", "2 2 1\r1 2\r")), 2, 1,
                PAIRS(0, 1), NULL);
#define ARRAY(kind, rest) "%%MatrixMarket matrix array " kind "\n" rest
    check_edges(good(gn_mtx_parse, ARRAY("real general", "% c\n2 2\n0\n.5\n2\n0\n")), 2, 2,
                PAIRS(1, 0, 0, 1), WEIGHTS(.5f, 2));
    check_edges(good(gn_mtx_parse, ARRAY("integer symmetric", "2 2\n1\n2\n0")), 2, 3,
                PAIRS(0, 0, 1, 0, 0, 1), WEIGHTS(1, 2, 2));
    check_edges(good(gn_mtx_parse, ARRAY("real skew-symmetric", "3 3\n1\n0\n-3\n")), 3, 4,
                PAIRS(1, 0, 0, 1, 2, 1, 1, 2), WEIGHTS(1, -1, -3, 3));
#define REFUSE(text, words) refuse(gn_mtx_parse, text, words, __LINE__)
    REFUSE(ARRAY("pattern general", "1 1\n1\n"), "test:1: an array has numbers");
    REFUSE(ARRAY("real general", "2 3\n1\n1\n1\n1\n1\n1\n"), "2 x 3: expected a square matrix");
    REFUSE(ARRAY("real general", "2 2\n1\n1\n1\n"), "ends after 3 of 4 numbers");
    REFUSE(ARRAY("real general", "2 2\n1\n1\n1\n1\n1\n"), "test:7: more than the 4 numbers");
    REFUSE(ARRAY("real symmetric", "2 2\n1\n1\n1\n1\n"), "more than the 3 numbers");
    REFUSE(ARRAY("real general", "2 2\n1 1\n1 1\n"), "test:3: '1' is too much");
    REFUSE(ARRAY("real general", "2 2 4\n1\n1\n1\n1\n"), "test:2: '4' is too much");
    REFUSE(ARRAY("real general", "2147483647 2147483647\n1\n"),
           "numbers in 2 bytes: the file is truncated");
    REFUSE(ARRAY("integer general", "1 1\n0.5\n"), "'0.5': expected a whole number");
#undef REFUSE
}
END_TEST

START_TEST(edge_lists)
{
    check_edges(good(gn_edgelist_parse, "# c\n0 1\n% d\n2\t0\n1,2\n\n 0 , 1 \n"), 3, 4,
                PAIRS(0, 1, 2, 0, 1, 2, 0, 1), NULL);
    check_edges(good(gn_edgelist_parse, "0 1 2\n1\t0\t.5\n"), 2, 2, PAIRS(0, 1, 1, 0),
                WEIGHTS(2, .5f));
    check_edges(good(gn_edgelist_parse, "0   1\n1 \t 0\t\n\t\n0,1,\n"), 2, 3,
                PAIRS(0, 1, 1, 0, 0, 1), NULL);
    check_edges(good(gn_edgelist_parse, "\xef\xbb\xbf+0 -0 # c\r0,1,%\r\n1 0"), 2, 3,
                PAIRS(0, 0, 0, 1, 1, 0), NULL);
    check_edges(good(gn_edgelist_parse, "007 1 1e-50\n"), 8, 1, PAIRS(7, 1), WEIGHTS(0));
#define REFUSE(text, words) refuse(gn_edgelist_parse, text, words, __LINE__)
    REFUSE("", "no edges");
    REFUSE("# nothing\n", "no edges");
    REFUSE("0\n", "test:1: expected `source target [weight]`");
    REFUSE("0 1\n0 x\n", "test:2: 'x': expected a node");
    REFUSE("0 -1\n", "'-1': expected a node");
    REFUSE("0 2147483647\n", "expected a node from 0 to 2147483646");
    REFUSE("source,target\n0,1\n",
           "test:1: 'source': expected a node from 0 to 2147483646; `#` before a line of names");
    gn_dataset *d;
    gn_status *later = parse(gn_edgelist_parse, "0,1\nx,1\n", 8, &d);
    ck_assert(gn_status_code(later) == GN_ERR_DATA &&
              !strstr(gn_status_message(later), "line of names"));
    gn_status_free(later);
    REFUSE("0 1 inf\n", "'inf': expected a finite weight");
    REFUSE("0 1 2 3\n", "'3' is too much");
    REFUSE("\x01\x02\x1b[31mfoo bar\n", "'???[31mfoo'");
    REFUSE("0,1,0.5\n1,,2\n", "test:2: field 2 is empty");
    REFUSE(",0,1\n", "test:1: field 1 is empty");
    REFUSE("0\t1\t1\n1\t\t2\n", "test:2: field 2 is empty");
    REFUSE("\t0\t1\n", "test:1: field 1 is empty");
    REFUSE("1 \t\t 2\n", "field 2 is empty");
    REFUSE("3,,4\n", "field 2 is empty");
    REFUSE("1,2,,\n", "field 3 is empty");
    REFUSE(",,\n", "field 1 is empty");
    REFUSE("1,2,0.5\n1,2,\n", "test:2: no weight, and line 1 has one");
    REFUSE("# c\n0 1\n1 0 .5\n", "test:3: a weight, and line 2 has none");
    REFUSE("1,000 2\n", "'000 2': expected a node from 0 to 2147483646; where a line has a comma");
    REFUSE("0 1 0,5\n", "'0 1 0': expected a node");
    REFUSE("0;1\n", "test:1: expected `source target [weight]`");
    REFUSE("0;1;2 3\n", "'0;1;2': expected a node from 0 to 2147483646; fields stand apart by "
                        "blanks, tabs or commas");
    REFUSE("0.0 1.0\n",
           "'0.0': expected a node from 0 to 2147483646; nodes are whole numbers (numpy.savetxt");
    REFUSE("\"0\",\"1\"\n",
           "'\"0\"': expected a node from 0 to 2147483646; numbers stand without quotes");
    REFUSE("0 9223372036854775808\n", "'9223372036854775808': expected a node");
    REFUSE("0 1 nan\n", "'nan': expected a finite weight");
    refuse_n(gn_edgelist_parse, "0 1\0\n", 5, "test:1: '1?': expected a node", __LINE__);
#undef REFUSE
}
END_TEST

/* What networkx.write_edgelist and write_weighted_edgelist write, and read_edgelist reads. */
START_TEST(edge_lists_of_networkx)
{
    check_edges(good(gn_edgelist_parse, "0 1 {}\n1 2 {}\n"), 3, 2, PAIRS(0, 1, 1, 2), NULL);
    check_edges(good(gn_edgelist_parse, "0 1 {'weight': 0.5}\n1 2 {'weight': -2}\n2 0 {}\n"), 3, 3,
                PAIRS(0, 1, 1, 2, 2, 0), WEIGHTS(.5f, -2, 1));
    check_edges(good(gn_edgelist_parse,
                     "0,1,{'weight': 7, 'k': {'a': [1, '}']}}\n1,2,{\"a'b\": None, 'weight': 2}\n"),
                3, 2, PAIRS(0, 1, 1, 2), WEIGHTS(7, 2));
    check_edges(good(gn_edgelist_parse, "0\t1\t{'t': (1, 'a\\'},')}\n"), 2, 1, PAIRS(0, 1), NULL);
    remarks(good(gn_edgelist_parse, "0 1 {'color': 'red', 'weight': 1}\n"), 0,
            "`weight` alone is read; line 1 has `color`");
    remarks(good(gn_edgelist_parse, "0 1 {'weight': 1}\n"), -1, NULL);
#define REFUSE(text, words) refuse(gn_edgelist_parse, text, words, __LINE__)
    REFUSE("0 1 {'weight': 'x'}\n", "test:1: ''x'': expected a finite weight");
    REFUSE("0 1 {'weight': nan}\n", "'nan': expected a finite weight");
    REFUSE("0 1 {'weight': }\n", "expected a dict of attributes");
    REFUSE("0 1 {'weight': 1\n", "expected a dict of attributes");
    REFUSE("0 1 {'weight' 1}\n", "expected a dict of attributes");
    REFUSE("0 1 {'a': 1, 'b': 2}}\n", "'}' is too much behind a dict");
    REFUSE("0 1 {'a': [1}\n", "expected a dict of attributes");
    REFUSE("0 1 {'a': 1} 2\n", "'2' is too much behind a dict");
    REFUSE("0 1 2 {'a': 1}\n", "'2' is too much");
    REFUSE("0 {'a': 1}\n", "expected `source target [weight]`");
    REFUSE("0,,{'a': 1}\n", "field 2 is empty");
#undef REFUSE
}
END_TEST

START_TEST(numbers_of_nodes_that_are_probably_not_meant)
{
    remarks(good(gn_edgelist_parse, "1 2\n2 3\n3 1\n"), 0,
            "no edge names node 0, as if nodes were counted from 1");
    remarks(good(gn_edgelist_parse, "35 1033\n35 103482\n1033 1155073\n"), 0,
            "1155070 of 1155074 nodes have no edge, as the largest number says how many there are");
    remarks(good(gn_edgelist_parse, "1 2\n2 9\n"), 1, "6 of 10 nodes have no edge");
    remarks(good(gn_edgelist_parse, "0 1\n1 2\n2 0\n"), -1, NULL);
    remarks(good(gn_edgelist_parse, "4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n"), 0,
            "the first line, 4 5, was read as an edge, and may count the nodes and the 5 edges");
    remarks(good(gn_edgelist_parse, "4 3\n0 1\n1 2\n2 3\n3 0\n0 2\n"), -1, NULL);
    remarks(good(gn_graph_parse, "gnnc graph 1\nnodes 2\nfeatures 1\nx 0 1\n"), 0,
            "1 of 2 nodes have no line `x`");
}
END_TEST

START_TEST(graphs)
{
    gn_dataset *d = good(
        gn_graph_parse,
        "gnnc graph 1\nnodes 3\nclasses 2\nundirected\nfeatures 2\nnode 0 1 train\nnode 2 0 "
        "test\nx 1 .5 -2\nedge 0 1\nedge 1 2\n");
    ck_assert(d->y[0] == 1 && d->y[1] == -1 && d->y[2] == 0);
    ck_assert(d->train_mask[0] == 1 && d->test_mask[2] == 1 && d->val_mask[1] == 0);
    ck_assert(d->x[2] == .5f && d->x[3] == -2 && d->x[0] == 0);
    check_edges(d, 3, 4, PAIRS(0, 1, 1, 0, 1, 2, 2, 1), NULL);
    check_edges(good(gn_graph_parse, "gnnc graph 1\nnodes 2\nedge 0 1 2\nedge 1 1\n"), 2, 2,
                PAIRS(0, 1, 1, 1), WEIGHTS(2, 1));
#define GRAPH "gnnc graph 1\n"
#define REFUSE(text, words) refuse(gn_graph_parse, text, words, __LINE__)
    REFUSE("", "expected `gnnc graph 1`");
    REFUSE("gnnc graph 2\n", "'gnnc graph 2': expected `gnnc graph 1`");
    REFUSE(GRAPH, "without a line `nodes N`");
    REFUSE(GRAPH "nodes 1000000\n", "expected a number of nodes");
    REFUSE(GRAPH "nodes 1\nnodes 1\n", "given before");
    REFUSE(GRAPH "edge 0 1\n", "expected a node from 0 to -1");
    REFUSE(GRAPH "nodes 2\nedge 0 2\n", "test:3: '2': expected a node from 0 to 1");
    REFUSE(GRAPH "nodes 2\nedge 0\n", "expected a node");
    REFUSE(GRAPH "nodes 2\nnode 0 0\n", "expected `classes` before");
    REFUSE(GRAPH "nodes 2\nclasses 2\nnode 0 2\n", "expected a class from 0 to 1");
    REFUSE(GRAPH "nodes 2\nclasses 2\nnode 0 0 maybe\n", "'maybe': expected train, val or test");
    REFUSE(GRAPH "nodes 2\nfeatures 2\nx 0 1\n", "expected a number");
    REFUSE(GRAPH "nodes 2\nfeatures 2\nx 0 1 nan\n", "expected a finite number");
    REFUSE(GRAPH "nodes 2\nfeatures 1000\n", "expected `identity` or a number of features");
    REFUSE(GRAPH "nodes 2\nfeatures 1\nx 0 1\nx 0 2\n", "test:5: `x` of node 0 was given before");
    REFUSE(GRAPH "nodes 2\nclasses 2\nnode 0 1\nnode 0 1 train\n",
           "test:5: node 0 was given before");
    REFUSE(GRAPH "nodes 2\nedge 0,1\n", "'0,1': expected a node");
    REFUSE(GRAPH "nodes 2\nedge 0 1 2 3\n", "'3' is too much for `edge`");
    REFUSE(GRAPH "nodes 2\nfish 1\n", "'fish': expected nodes, classes");
    REFUSE(GRAPH "nodes 2 3\n", "'3' is too much for `nodes`");
#undef REFUSE
}
END_TEST

START_TEST(every_prefix_is_survived)
{
    static const char *const texts[] = {
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 3 -2e1\n",
        "0 1 .5\n1 2 1\n# x\n3,4,1\n",
        "0 1 {'weight': 7, 'k': {'a': [1, '}']}}\n1\t2\t{}\n",
        "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
        ("gnnc graph 1\nnodes 3\nclasses 2\nundirected\nfeatures 2\nnode 0 1 train\nx 1 .5 -2\n"
         "edge 0 1 2.5\n"),
    };
    static gn_reader *const readers[] = {gn_mtx_parse, gn_edgelist_parse, gn_edgelist_parse,
                                         gn_mtx_parse, gn_graph_parse};
    for (int k = 0; k < 5; k++) {
        char *text = strdup(texts[k]);
        size_t n = strlen(text);
        gn_dataset *d;
        for (size_t i = 0; i <= n; i++)
            if (survives(parse(readers[k], text, i, &d))) gn_dataset_free(d);
        for (size_t bit = 0; bit < n * 8; bit++) {
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
            if (survives(parse(readers[k], text, n, &d))) gn_dataset_free(d);
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        }
        free(text);
    }
}
END_TEST

static size_t gzip(const void *bytes, size_t n, unsigned char *to, size_t cap)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (z_const unsigned char *)bytes;
    z.avail_in = (unsigned)n;
    z.next_out = to;
    z.avail_out = (unsigned)cap;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    n = cap - z.avail_out;
    deflateEnd(&z);
    return n;
}

START_TEST(gzip_members_join_and_bombs_do_not_go_off)
{
    unsigned char zipped[4096];
    gn_bytes b;
    size_t n = gzip("0 1\n", 4, zipped, sizeof zipped);
    n += gzip("1 2\n", 4, zipped + n, sizeof zipped - n);
    must(gn_gunzip(zipped, n, "test", &b));
    ck_assert(b.n == 8 && memcmp(b.p, "0 1\n1 2\n", 9) == 0);
    gn_bytes_free(&b);
    for (size_t k = 0; k < n; k++)
        if (survives(gn_gunzip(zipped, k, "test", &b))) gn_bytes_free(&b);
    MUST_FAIL(gn_gunzip(zipped, 12, "test", &b), GN_ERR_DATA, "truncated");
    zipped[n] = zipped[n + 1] = 0; /* padding, as of tapes */
    must(gn_gunzip(zipped, n + 2, "test", &b));
    gn_bytes_free(&b);
    zipped[n + 1] = 'x';
    MUST_FAIL(gn_gunzip(zipped, n + 2, "test", &b), GN_ERR_DATA,
              "expected nothing behind the gzip data");
    zipped[n - 8] ^= 1;
    MUST_FAIL(gn_gunzip(zipped, n, "test", &b), GN_ERR_DATA, "incorrect data check");
    size_t size = (size_t)100 << 20;
    void *zeros = calloc(size, 1), *bomb = malloc(1 << 20);
    ck_assert(zeros && bomb);
    n = gzip(zeros, size, bomb, 1 << 20);
    MUST_FAIL(gn_gunzip(bomb, n, "test", &b), GN_ERR_DATA, "inflates to more than 100 times");
    free(zeros);
    free(bomb);
}
END_TEST

/* Through the front door: recognition, names, options. */
static gn_status *read_text(const char *text, size_t n, gn_data_options opt, gn_dataset **out)
{
    char path[] = "/tmp/gnnc-data-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "wb");
    fwrite(text, 1, n, f);
    fclose(f);
    opt.path = path;
    gn_status *s = gn_dataset_read(&opt, out);
    remove(path);
    return s;
}

START_TEST(files_are_recognised)
{
    gn_dataset *d;
    gn_data_options both = {.normalize_rows = -1, .undirected = 1};
    must(read_text("0 1\n", 4, defaults, &d));
    ck_assert(strncmp(d->name, "gnnc-data-", 10) == 0);
    ck_assert(!d->x && !d->x_csr && !d->y && d->n_features == 0);
    check_edges(d, 2, 1, PAIRS(0, 1), NULL);
    must(read_text("0 1\n1 1\n0 1\n", 12, both, &d));
    check_edges(d, 2, 3, PAIRS(0, 1, 1, 0, 1, 1), NULL);
    MUST_FAIL(read_text("\0\1\2", 3, defaults, &d), GN_ERR_DATA, "not a graph");
    ck_assert_ptr_null(d);
    MUST_FAIL(read_text("", 0, defaults, &d), GN_ERR_DATA, "no edges");
    MUST_FAIL(read_text("\x1f\x8bxx", 4, defaults, &d), GN_ERR_DATA, "damaged gzip data");
    MUST_FAIL(read_text("PK\3\4", 4, defaults, &d), GN_ERR_DATA, "no zip directory");
    static const char
        mtx[] = "\xef\xbb\xbf%%matrixmarket matrix coordinate pattern general\n3 3 1\n1 2\n";
    /* as an edge list it would be 2 -> 2 and 0 -> 1 */
    must(read_text(mtx, sizeof mtx - 1, defaults, &d));
    check_edges(d, 3, 1, PAIRS(0, 1), NULL);
    must(read_text("\xef\xbb\xbfgnnc graph 1\nnodes 1\n", 24, defaults, &d));
    check_edges(d, 1, 0, NULL, NULL);
    MUST_FAIL(read_text("\xff\xfe"
                        "0\0 \0"
                        "1\0\n\0",
                        10, defaults, &d),
              GN_ERR_DATA, "text in UTF-16");
    gn_data_options split = {.split = 1, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(read_text("0 1\n", 4, split, &d), GN_ERR_USAGE, "split 1: there is only 1");
}
END_TEST

START_TEST(the_karate_club)
{
    gn_dataset *d = read_path(NULL);
    ck_assert(d->embedded && d->synthetic_features && !d->split_drawn);
    ck_assert_str_eq(d->name, "karate");
    ck_assert(d->n_nodes == 34 && d->n_edges == 156 && d->n_features == 34 && d->n_classes == 4);
    ck_assert_int_eq(count_mask(d->train_mask, 34), 4);
    ck_assert_int_eq(count_mask(d->val_mask, 34) + count_mask(d->test_mask, 34), 30);
    for (int i = 0; i < 34; i++) {
        ck_assert_int_eq(d->train_mask[i] + d->val_mask[i] + d->test_mask[i], 1);
        for (int k = 0; k < 34; k++) ck_assert(d->x[i * 34 + k] == (float)(i == k));
    }
    ck_assert(d->train_mask[0] && d->train_mask[4] && d->train_mask[8] && d->train_mask[24]);
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("text");
    TCase *t = tcase_create("text");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, numbers);
    tcase_add_test(t, matrix_market);
    tcase_add_test(t, matrix_market_numbers);
    tcase_add_test(t, edge_lists);
    tcase_add_test(t, edge_lists_of_networkx);
    tcase_add_test(t, numbers_of_nodes_that_are_probably_not_meant);
    tcase_add_test(t, graphs);
    tcase_add_test(t, every_prefix_is_survived);
    tcase_add_test(t, gzip_members_join_and_bombs_do_not_go_off);
    tcase_add_test(t, files_are_recognised);
    tcase_add_test(t, the_karate_club);
    suite_add_tcase(s, t);
    return suite_run(s);
}
