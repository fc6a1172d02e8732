/* Gradients: every operator's rule against central differences in f64.  The table is expanded from
 * ops.def, so that an operator without a case does not compile. */
/* links: ir base */
#include "gir_test.h"
#include "ir/vjp.h"

/* The graph has loops, an edge twice, and nodes that nothing ends in. */
static const int64_t src[] = {2, 0, 1, 3, 1, 1, 3, 2}, dst[] = {1, 0, 1, 1, 1, 0, 1, 3};

static const char prelude[] = "program @t {\n"
                              "  space node node ?\n"
                              "  space edge edge ?\n"
                              "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                              "  %2 = input \"x\" : node f64[2, 3]\n"
                              "  %3 = input \"y\" : node f64[2, 3]\n"
                              "  %4 = input \"e\" : edge f64[2]\n"
                              "  %5 = input \"pos\" : node f64[3]\n" /* positive */
                              "  %6 = input \"w\" : f64[3, 4]\n"
                              "  %7 = input \"u\" : node f64[3]\n"
                              "  %8 = self_loops %1\n"
                              "  %9 = remove_self_loops %1\n"
                              "  %10 = remaining_self_loops %1\n"
                              "  %11 = reverse %1\n"
                              "  %12 = input \"e1\" : edge.1 f64[2]\n"
                              "  %13 = input \"e2\" : edge.2 f64[2]\n"
                              "  %14 = input \"e3\" : edge.3 f64[2]\n"
                              "  %15 = input \"e4\" : edge.4 f64[2]\n"
                              "  %16 = input \"fill\" : node f64[2]\n"
                              "  %17 = input \"z\" : f64[1, 3]\n"
                              "  %18 = gt %2, %3\n"
                              "  %19 = input \"pattern\" : node f64[3]\n"
                              "  %20 = pattern %19\n"
                              "  %21 = input \"v\" : f64[4, 3]\n"
                              "  %22 = ";

#define TAKE_MASK "input \"mask\" : node bool[]\n "
#define NONE {NULL} /* no float comes out, or none went in */
#define CASE_INPUT NONE
#define CASE_STATE NONE
#define CASE_GRAPH NONE
#define CASE_CONST NONE
#define CASE_IOTA NONE
#define CASE_SIZE NONE
#define CASE_SELF_LOOPS NONE
#define CASE_REMOVE_LOOPS NONE
#define CASE_REMAINING_LOOPS NONE
#define CASE_REVERSE NONE
#define CASE_PATTERN NONE
#define CASE_SUBSET NONE
#define CASE_FILTER NONE
#define CASE_INDEX NONE
#define CASE_SAMPLE NONE
#define CASE_CORRUPT NONE
#define CASE_DRAW NONE
#define CASE_WITHOUT NONE
#define CASE_GROUP NONE
#define CASE_GROUP_ROWS NONE
#define CASE_GROUP_NUMBERS NONE
#define CASE_GROW NONE
#define CASE_RESTRICT NONE
#define CASE_ENDS NONE
#define CASE_NOT NONE
#define CASE_LT NONE
#define CASE_LE NONE
#define CASE_GT NONE
#define CASE_GE NONE
#define CASE_NLE NONE
#define CASE_EQ NONE
#define CASE_NE NONE
#define CASE_AND NONE
#define CASE_OR NONE
#define CASE_RNG_KEY NONE
#define CASE_RANDOM NONE
#define CASE_ROW_VALUE NONE
#define NEAR "reshape %2 : node f64[6]\n %23 = nearest %22 {k = 2}\n "
#define CASE_NEAREST NONE
#define CASE_RANK NONE
#define CASE_DISTINCT NONE
#define CASE_BESIDE {"beside %1, %4, %16 {behind = 0}", "beside %1, %4, %16 {behind = 1}"}
#define CASE_OUTER {"outer %1, %4, %16 {last = 0}", "outer %1, %4, %16 {last = 1}"}
#define SCANNED(attrs)                                                                             \
    "slice %21 {axis = 0, start = 1} : f64[3, 3]\n %23 = gather %1, %3 {end = 0}\n"                \
    " %24 = slice %23 {axis = 0, start = 1} : edge f64[1, 3]\n"                                    \
    " body program @step { %1 = input \"x0\" : f64[] %2 = input \"s1\" : f64[]"                    \
    " %3 = input \"p0\" : f64[] %4 = input \"c0\" : f64[] %5 = input \"x2\" : f64[]"               \
    " %6 = add %1, %3 %7 = tanh %6 %8 = mul %2, %5 %9 = add %8, %7 %10 = mul %9, %4"               \
    " output \"s0\" %7 output \"s1\" %10 }\n"                                                      \
    " %25 = scan %1, %2, %22, %17, %24, %23 {body = 0, reverse = " attrs                           \
    ", product = 1, consts = 1}"
#define CASE_SCAN {SCANNED("0"), SCANNED("1"), SCANNED("0") "\n %26 = outer %1, %25, %2 {last = 1}"}
#define CASE_ROWS_AT {NEAR "%24 = rows_at %23, %3"}
#define CASE_SUM_AT {NEAR "%24 = rows_at %23, %3\n %25 = mul %24, %24\n %26 = sum_at %23, %25"}
#define CASE_NEG {"neg %2"}
#define CASE_ABS {"abs %2"}
#define CASE_SIGN {"sign %2"}
#define CASE_EXP {"exp %2"}
#define CASE_EXPM1 {"expm1 %2"}
#define CASE_LOG {"log %5"}
#define CASE_LOG1P {"log1p %5"}
#define CASE_SQRT {"sqrt %5"}
#define CASE_RSQRT {"rsqrt %5"}
#define CASE_RECIP {"recip %7"}
#define CASE_SIN {"sin %2"}
#define CASE_COS {"cos %2"}
#define CASE_TANH {"tanh %2"}
#define CASE_SIGMOID {"sigmoid %2"}
#define CASE_ERF {"erf %2"}
#define CASE_FLOOR {"floor %2"}
#define CASE_CAST                                                                                  \
    {"cast %2 : node f32[2, 3]", "cast %2 : node f32[2, 3]\n %23 = cast %22 : node f64[2, 3]"}
#define CASE_DETACH {"detach %2\n %23 = mul %22, %3"}
#define CASE_ADD {"add %2, %3", "add %2, %2"}
#define CASE_SUB {"sub %2, %3", "sub %2, %2"}
#define CASE_MUL {"mul %2, %3", "mul %2, %2"}
#define CASE_DIV {"div %2, %3", "div %3, %3"}
#define CASE_POW                                                                                   \
    {"pow %5, %7", "const {value = 2} : node f64[2, 3]\n %23 = pow %2, %22",                       \
     "const {value = 0} : node f64[2, 3]\n %23 = pow %2, %22"}
#define CASE_MAX {"max %2, %3"}
#define CASE_MIN {"min %2, %3"}
#define CASE_SELECT {"select %18, %2, %3", "exp %3\n %23 = select %18, %2, %22"}
#define CASE_BROADCAST                                                                             \
    {"broadcast %17 : node f64[2, 3]", "broadcast %17 : f64[4, 5, 3]",                             \
     "broadcast %7 : node f64[2, 3]",  "broadcast %17 : edge f64[3, 3]",                           \
     "broadcast %6 : node f64[3, 4]",  "broadcast %17 : f64[1, 1, 3]"}
#define CASE_RESHAPE {"reshape %2 : node f64[3, 1, 2]", "reshape %6 : f64[12]"}
#define CASE_TRANSPOSE                                                                             \
    {"transpose %2 {perm = 1}",                                                                    \
     "reshape %2 : node f64[3, 1, 2]\n %23 = transpose %22 {perm = 258}",                          \
     "reshape %2 : node f64[3, 1, 2]\n %23 = transpose %22 {perm = 33}"}
#define CASE_SLICE                                                                                 \
    {"slice %2 {axis = 1, start = 1} : node f64[2, 2]",                                            \
     "slice %6 {axis = 0, start = 2} : f64[1, 4]"}
#define CASE_PAD                                                                                   \
    {"pad %2 {axis = 1, before = 2} : node f64[2, 6]", "pad %6 {axis = 0, before = 0} : f64[4, "   \
                                                       "4]"}
#define CASE_CONCAT                                                                                \
    {"concat %2, %3, %2 {axis = 0}", "concat %2, %3 {axis = 1}", "concat %2 {axis = 0}"}
#define CASE_TO_ROWS {"to_rows %6 : feature f64[4]"}
#define CASE_FROM_ROWS {"to_rows %6 : feature f64[4]\n %23 = exp %22\n %24 = from_rows %23"}
#define CASE_REDUCE                                                                                \
    {"reduce %2 {red = 0, axes = 2}",                                                              \
     "reduce %2 {red = 0, axes = 3}",                                                              \
     "reduce %2 {red = 1, axes = 2}",                                                              \
     "reduce %2 {red = 2, axes = 1}",                                                              \
     "reduce %6 {red = 1, axes = 3}",                                                              \
     "reduce %6 {red = 0, axes = 1}",                                                              \
     "broadcast %17 : f64[4, 3]\n %23 = reduce %22 {red = 1, axes = 1}"}
#define CASE_SPACE_REDUCE                                                                          \
    {"space_reduce %2 {red = 0}", "space_reduce %2 {red = 1}", "space_reduce %7 {red = 2}",        \
     "broadcast %17 : node f64[2, 3]\n %23 = space_reduce %22 {red = 1}"}
#define CASE_GATHER                                                                                \
    {"gather %1, %2 {end = 0}", "gather %1, %7 {end = 1}", "gather %10, %7 {end = 0}"}
#define CASE_SCATTER                                                                               \
    {"scatter %1, %4 {end = 1, red = 0}",                                                          \
     "scatter %1, %4 {end = 0, red = 0}",                                                          \
     "scatter %1, %4 {end = 1, red = 1}",                                                          \
     "scatter %1, %4 {end = 1, red = 2}",                                                          \
     "gather %1, %7 {end = 0}\n %23 = scatter %1, %22 {end = 1, red = 1}", /* equals: an edge      \
                                                                              twice */             \
     "gather %8, %7 {end = 1}\n %23 = scatter %8, %22 {end = 0, red = 2}"}
#define CASE_CARRY                                                                                 \
    {"carry %8, %1, %4, %16", "carry %9, %1, %4, %16", "carry %10, %1, %4, %16",                   \
     "carry %11, %1, %4, %16"}
#define CASE_UNCARRY                                                                               \
    {"uncarry %1, %8, %12", "uncarry %1, %9, %13", "uncarry %1, %10, %14", "uncarry %1, %11, %15"}
#define CASE_TAKE                                                                                  \
    {TAKE_MASK "%23 = subset %22\n %24 = take %23, %2",                                            \
     TAKE_MASK "%23 = subset %22\n %24 = grow %23, %1, %23\n %25 = restrict %23, %24 {ends = 1}\n" \
               " %26 = take %24, %2\n %27 = take %25, %26"}
#define CASE_PUT                                                                                   \
    {TAKE_MASK "%23 = subset %22\n %24 = take %23, %3\n %25 = exp %24\n %26 = put %23, %2, %25",   \
     "ends %1 {ends = 1}\n %23 = take %22, %3\n %24 = mul %23, %23\n %25 = put %22, %2, %24",      \
     "ends %1 {ends = 2}\n %23 = take %22, %2\n %24 = put %22, %2, %23"}
#define CASE_CELL {"cell %20, %7"}
#define CASE_MATMUL                                                                                \
    {"matmul %7, %6",                                                                              \
     "matmul %7, %21 {tb = 1}",                                                                    \
     "matmul %7, %5 {ta = 1}",                                                                     \
     "matmul %6, %21",                                                                             \
     "matmul %6, %6 {ta = 1}",                                                                     \
     "matmul %21, %21 {tb = 1}",                                                                   \
     "matmul %6, %21 {ta = 1, tb = 1}"}

static const char *const cases[GIR_OP_COUNT][8] = {
#define OP(id, text, arity, cls, attrs, doc) [GIR_##id] = CASE_##id,
#include "ir/ops.def"
#undef OP
};

/* Some number in (-1.5, 1.5) that is no multiple of anything, at least 0.05 from any integer. */
static double some(uint64_t *seed)
{
    for (;;) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        double x = (double)(*seed >> 40) / (1 << 24) * 3 - 1.5;
        if (fabs(x - rint(x)) > 0.05) return x;
    }
}

enum { MAX_LEAVES = 32 };

typedef struct bound_leaves {
    int n;
    const char *name[MAX_LEAVES];
    gir_value value[MAX_LEAVES];
    gir_id id[MAX_LEAVES]; /* 0: not one to differentiate by */
} bound_leaves;

/* Values for all leaves of a program. */
static bound_leaves bind(const gir_program *p)
{
    static const int64_t rows[] = {1, 4, 8, 12,
                                   5, 9, 8}; /* none, node, edge, with loops, without, remaining,
                                                reversed */
    static double pattern[] = {0, 2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 3}, mask[] = {1, 0, 1, 0};
    bound_leaves b = {.n = 1, .name = {"g"}};
    b.value[0].graph = gir_coo_new(&arena, 4, 4, 8, src, dst);
    uint64_t seed = 42;
    for (gir_id v = 2; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_INPUT) continue;
        gir_value x = {.rows = rows[n->type.space], .cols = gir_row_elems(&n->type)};
        x.v = GN_NEW_N(&arena, double, x.rows *x.cols);
        for (int64_t i = 0; i < x.rows * x.cols; i++) x.v[i] = some(&seed);
        for (int64_t i = 0; i < x.rows * x.cols && strcmp(n->attr.name, "pos") == 0; i++)
            x.v[i] = fabs(x.v[i]) + 0.2;
        if (strcmp(n->attr.name, "pattern") == 0) x.v = pattern;
        if (strcmp(n->attr.name, "mask") == 0) x.v = mask;
        b.id[b.n] = x.v == pattern || x.v == mask ? 0 : v;
        b.name[b.n] = n->attr.name;
        b.value[b.n++] = x;
    }
    return b;
}

static gir_value *eval_all(const gir_program *p, const bound_leaves *b)
{
    gir_env env = {
        .arena = &arena, .n = b->n, .name = (const char **)b->name, .value = (gir_value *)b->value};
    gir_value *v = NULL;
    expect_ok(gir_eval(p, &env, &v));
    return v;
}

/* A scalar that every element of v goes into with a weight of its own. */
static gir_id weighted_sum(gir_program *p, gir_id v)
{
    v = gir_cast(p, v, GN_F64);
    gir_type t = *gir_type_of(p, v), scalar = gir_tensor(GN_I64, 0, 0, NULL);
    gir_id key = gir_const(p, &scalar, 12345);
    gir_id weight = gir_make(p, GIR_RANDOM, 1, &key, &(gir_attr){.i = {9}}, &t, NULL);
    v = gir_op2(p, GIR_MUL, v, gir_op2(p, GIR_SUB, weight, gir_const(p, &t, 0.3)));
    if (t.space) v = gir_space_reduce(p, v, GIR_SUM);
    return gir_reduce(p, v, GIR_SUM, ((int64_t)1 << t.rank) - 1);
}

/* Compares gradients with respect to all leaves; false at the first that is off. */
static bool agrees(gir_program *p, gir_id loss, bool stopped, char **what)
{
    bound_leaves b = bind(p);
    gir_id wrt[MAX_LEAVES], grad[MAX_LEAVES];
    int n = 0;
    for (int k = 0; k < b.n; k++)
        if (b.id[k]) wrt[n++] = b.id[k];
    expect_ok(gir_grad(p, loss, n, wrt, grad));
    for (int k = 0; k < n; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(&arena, "d%d", k), grad[k]);
    expect_ok(gir_verify(p));
    gir_value *got = eval_all(p, &b);
    gir_program forward = *p; /* the loss alone */
    gir_output out = {GIR_OUTPUT, "loss", loss};
    forward.outputs.p = &out, forward.outputs.n = 1;
    double h = 1e-6;
    for (int k = 0, at = 0; k < b.n; k++) {
        if (!b.id[k]) continue;
        gir_id g = grad[at++];
        for (int64_t i = 0; i < b.value[k].rows * b.value[k].cols; i++) {
            double *x = &b.value[k].v[i], was = *x;
            *x = was + h;
            double up = eval_all(&forward, &b)[loss].v[0];
            *x = was - h;
            double down = eval_all(&forward, &b)[loss].v[0];
            *x = was;
            double want = stopped && strcmp(b.name[k], "x") == 0 ? 0 : (up - down) / (2 * h);
            if (fabs(got[g].v[i] - want) <= 1e-7 * (1 + fabs(want))) continue;
            *what = gn_arena_printf(&arena, "d %s[%lld] is %.9g, by differences %.9g", b.name[k],
                                    (long long)i, got[g].v[i], want);
            return false;
        }
    }
    return true;
}

START_TEST(by_differences)
{
    for (int op = 1; op < GIR_OP_COUNT; op++)
        for (int k = 0; k < 8 && cases[op][k]; k++) {
            gir_program *p = read_program(
                gn_arena_printf(&arena, "%s%s\n}\n", prelude, cases[op][k]));
            bool there = false;
            for (gir_id v = 22; v < p->nodes.n; v++) there |= gir_at(p, v)->op == op;
            ck_assert_msg(there, "no %s in %s", gir_ops[op].text, cases[op][k]);
            char *what = NULL;
            ck_assert_msg(agrees(p, weighted_sum(p, p->nodes.n - 1), op == GIR_DETACH, &what),
                          "%s: %s", cases[op][k], what);
        }
}
END_TEST

typedef bool (*vjp_fn)(gir_vjp *);
static const vjp_fn vjps[GIR_OP_COUNT] = {
#define OP(id, text, arity, cls, attrs, doc) [GIR_##id] = gir_vjp_##id,
#include "ir/ops.def"
#undef OP
};

/* Those without a case are those that say so. */
START_TEST(the_others_say_so)
{
    for (int op = 1; op < GIR_OP_COUNT; op++) {
        gir_vjp nothing = {0};
        if (!cases[op][0])
            ck_assert_msg(!vjps[op](&nothing), "%s has a gradient and no case", gir_ops[op].text);
    }
}
END_TEST

/* Values used several times, through paths of their own. */
START_TEST(together)
{
    const char *text = "matmul %7, %6\n %23 = exp %22\n %24 = gather %10, %23 {end = 0}\n %25 = "
                       "gather %10, %22 {end = 1}\n"
                       " %26 = mul %24, %25\n %27 = scatter %10, %26 {end = 1, red = 1}\n %28 = "
                       "add %27, %23\n"
                       " %29 = matmul %28, %6 {tb = 1}\n %30 = add %29, %7\n %31 = tanh %30";
    gir_program *p = read_program(gn_arena_printf(&arena, "%s%s\n}\n", prelude, text));
    char *what = NULL;
    ck_assert_msg(agrees(p, weighted_sum(p, 31), false, &what), "%s", what);
}
END_TEST

static gir_value *grads_of(const char *lines, gir_id loss, int n, const gir_id *wrt, gir_id *grad)
{
    gir_program *p = read_program(gn_arena_printf(&arena, "%s%s\n}\n", prelude, lines));
    expect_ok(gir_grad(p, loss ? loss : p->nodes.n - 1, n, wrt, grad));
    for (int k = 0; k < n; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(&arena, "d%d", k), grad[k]);
    expect_ok(gir_verify(p));
    bound_leaves b = bind(p);
    for (int k = 0; k < b.n; k++) /* e: 3 3 1 in the first column of the edges */
        for (int64_t i = 0; i < b.value[k].rows * b.value[k].cols && strcmp(b.name[k], "e") == 0;
             i++)
            b.value[k].v[i] = i % 2 ? 0 : i < 4 ? 3 : 1;
    return eval_all(p, &b);
}

/* Equal maxima share equally; here differences would mislead. */
START_TEST(equals_share)
{
    gir_id grad[2];
    const char *by_end = "scatter %1, %4 {end = 1, red = 1}\n %23 = space_reduce %22\n %24 = "
                         "reduce %23 {axes = 1}";
    gir_value *v = grads_of(by_end, 0, 1, (const gir_id[]){4}, grad);
    /* Rows of e in CSR order: two end in 0, five in 1, one in 3; the second column is 0
     * throughout. */
    static const double want[] = {0.5, 0.5, 0.5, 0.5, 0.2, 0.2, 0.2, 0.2,
                                  0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1,   1};
    for (int i = 0; i < 16; i++)
        ck_assert_msg(fabs(v[grad[0]].v[i] - want[i]) < 1e-15, "%d: %g", i, v[grad[0]].v[i]);
    const char *rows = "space_reduce %4 {red = 1}\n %23 = reduce %22 {axes = 1}";
    v = grads_of(rows, 0, 1, (const gir_id[]){4}, grad);
    ck_assert(v[grad[0]].v[0] == 0.5 && v[grad[0]].v[2] == 0.5 && v[grad[0]].v[4] == 0 &&
              v[grad[0]].v[1] == 0.125);
    const char *pair = "max %4, %4\n %23 = space_reduce %22\n %24 = reduce %23 {axes = 1}";
    v = grads_of(pair, 0, 1, (const gir_id[]){4}, grad);
    ck_assert(v[grad[0]].v[0] == 1 && v[grad[0]].v[9] == 1); /* half from either operand */
    const char *axis = "reduce %4 {red = 2, axes = 1}\n %23 = space_reduce %22";
    v = grads_of(axis, 0, 1, (const gir_id[]){4}, grad);
    ck_assert(v[grad[0]].v[0] == 0 && v[grad[0]].v[1] == 1);
}
END_TEST

/* What the rules say where differences say nothing: at kinks, and where a formula would give no
 * number. */
START_TEST(at_kinks)
{
    static const struct {
        const char *op;
        double a, b, da, db;
    } rows[] = {
        {"pow %1, %2", 0, 0, 0, 0},     {"pow %1, %2", -2, 0, 0, 0},
        {"pow %1, %2", 0, 1, 1, 0},     {"pow %1, %2", 0, 2, 0, 0},
        {"pow %1, %2", -2, 3, 12, 0},   {"pow %1, %2", 1, -1, -1, 0},
        {"max %1, %2", 3, 3, 0.5, 0.5}, {"min %1, %2", 3, 3, 0.5, 0.5},
        {"max %1, %2", 3, 4, 0, 1},     {"min %1, %2", 3, 4, 1, 0},
        {"abs %1", 0, 0, 0, 0},         {"sign %1", 0, 0, 0, 0},
        {"floor %1", 1, 0, 0, 0},       {"sigmoid %1", -800, 0, 0, 0},
        {"tanh %1", 800, 0, 0, 0},      {"expm1 %1", 0, 0, 1, 0},
        {"log1p %1", 0, 0, 1, 0},       {"div %1, %2", 0, 2, 0.5, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        gir_program *p = read_program(gn_arena_printf(
            &arena, "program @t { %%1 = input \"a\" : f64[] %%2 = input \"b\" : f64[] %%3 = %s }",
            rows[k].op));
        gir_id grad[2];
        expect_ok(gir_grad(p, 3, 2, (const gir_id[]){1, 2}, grad));
        double x[2] = {rows[k].a, rows[k].b}, want[2] = {rows[k].da, rows[k].db};
        bound_leaves b = {.n = 2, .name = {"a", "b"}};
        for (int i = 0; i < 2; i++) {
            b.value[i] = (gir_value){.rows = 1, .cols = 1, .v = &x[i]};
            gir_output_add(p, GIR_OUTPUT, i ? "db" : "da", grad[i]);
        }
        gir_value *v = eval_all(p, &b);
        for (int i = 0; i < 2; i++)
            ck_assert_msg(fabs(v[grad[i]].v[0] - want[i]) < 1e-12,
                          "%s at %g, %g: d%c is %g, not %g", rows[k].op, x[0], x[1], "ab"[i],
                          v[grad[i]].v[0], want[i]);
    }
}
END_TEST

START_TEST(constants_and_errors)
{
    gir_program *p = read_program(
        gn_arena_printf(&arena,
                        "%sreduce %%6 {axes = 3}\n %%23 = cast %%7 : node i32[3]\n"
                        " %%24 = cast %%23 : node f64[3]\n %%25 = space_reduce %%24\n"
                        " %%26 = reduce %%25 {axes = 1}\n %%27 = add %%22, %%26 }",
                        prelude));
    gir_id grad[2], wrt[] = {2, 7};
    expect_ok(gir_grad(p, 27, 2, wrt, grad)); /* not reached; reached through an integer only */
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(gir_at(p, grad[k])->op, GIR_CONST);
        ck_assert(gir_at(p, grad[k])->attr.f == 0);
        ck_assert(gir_type_eq(gir_type_of(p, grad[k]), gir_type_of(p, wrt[k])));
    }
    expect_error(gir_grad(p, 24, 2, wrt, grad), GN_ERR_MODEL,
                 "a gradient is taken of a single float, this is node f64[3]");
    expect_error(gir_grad(p, 1, 2, wrt, grad), GN_ERR_MODEL, "this is graph<node -> node, edge>");
    expect_error(gir_grad(p, 27, 1, (gir_id[]){23}, grad), GN_ERR_MODEL,
                 "no gradient with respect to node i32[3]");
    expect_ok(gir_grad(p, 27, 1, (gir_id[]){27}, grad)); /* of itself: 1 */
    ck_assert(gir_at(p, grad[0])->attr.f == 1);
}
END_TEST

/* What is appended carries the source lines of what it is the gradient of. */
START_TEST(locations)
{
    gir_program *p = read_program(
        "program @t { file m.gnn %1 = input \"x\" : f64[2] %2 = exp %1 @ m.gnn:7:3\n"
        " %3 = reduce %2 {axes = 1} @ m.gnn:8:1 }");
    gir_id grad;
    expect_ok(gir_grad(p, 3, 1, (gir_id[]){1}, &grad));
    ck_assert_uint_eq(gir_at(p, grad)->loc.line, 7);
    ck_assert_uint_eq(p->loc.line, 0);
}
END_TEST

static void fill(TCase *c)
{
    tcase_add_test(c, by_differences);
    tcase_add_test(c, the_others_say_so);
    tcase_add_test(c, together);
    tcase_add_test(c, equals_share);
    tcase_add_test(c, at_kinks);
    tcase_add_test(c, constants_and_errors);
    tcase_add_test(c, locations);
}

int main(void) { return run_suite("gir_grad", fill); }
