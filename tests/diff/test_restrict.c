/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 900 */
/* Losses over a mask with rows left out that nothing reads: loss, updates and all gradients are
 * those of the program that computes all rows.  All layers of the standard library and the samples,
 * and programs that reach what layers do not; on small random graphs and masks, among them none and
 * all of the nodes; in the evaluator, and in machine code. */
#include "base/sanitized.h"
#include "build/build.h"
#include "passes/passes.h"
#include "passes/simplify.h"
#include "support/gir_text.h"
#include "support/random_gir.h"
#include "support/run_compiled.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const char *what, *text;
    bool weights, declines;
} source;

#define NET(name, lines) "model " name "() (g: graph, x: node[F]) -> node[C] {\n" lines "}\n"
#define TWO(layer)                                                                                 \
    NET("M", "  a = " layer "\n  b = " layer                                                       \
             "\n  out = Linear(C)\n  return out(relu(b(g, relu(a(g, dropout(x, 0.3))))))\n")

/* Models, or programs of the tensor IR behind the lines of read_rows. */
static const source sources[] = {
    {"linear", NET("M", "  l = Linear(C)\n  return l(dropout(x, 0.5))\n"), false, false},
    {"mlp", NET("M", "  l = MLP([F, 5, C], norm = false)\n  return l(x)\n"), false, false},
    {"mlp, normalised", NET("M", "  l = MLP([F, 5, C])\n  return l(x)\n"), false, false},
    {"gcn", TWO("GCNConv(4)"), false, false},
    {"gcn, weights", TWO("GCNConv(4)"), true, false},
    {"sage", TWO("SAGEConv(4)"), false, false},
    {"sage, max", TWO("SAGEConv(4, aggr = \"max\", normalized = true)"), false, false},
    {"gat", TWO("GATConv(3, heads = 2, p = 0.4)"), false, false},
    {"gatv2", TWO("GATv2Conv(3, heads = 2, p = 0.4)"), false, false},
    {"gin", TWO("GINConv(4, train_eps = true)"), false, false},
    {"graphconv, weights", TWO("GraphConv(4, aggr = \"mean\")"), true, false},
    {"graphconv, min", TWO("GraphConv(4, aggr = \"min\")"), true, false},
    {"sgc", NET("M", "  a = SGConv(C, K = 4)\n  return a(g, x)\n"), true, false},
    {"appnp", NET("M", "  l = Linear(C)\n  p = APPNP(5, 0.1, p = 0.3)\n  return p(g, l(x))\n"),
     true, false},
    {"batch norm between",
     NET("M", "  a = GCNConv(4)\n  n = BatchNorm()\n  b = GCNConv(C)\n  return b(g, relu(n(a(g, "
              "x))))\n"),
     false, false},
    {"layer norm",
     NET("M", "  a = GCNConv(4)\n  n = LayerNorm()\n  m = LayerNorm(mode = \"node\")\n  b = "
              "SAGEConv(C)\n"
              "  return b(g, m(n(a(g, x))))\n"),
     false, false},
    {"the samples: gcn", "gcn", false, false},
    {"the samples: gat", "gat", false, false},
    {"the samples: sage", "sage", false, false},
    {"the samples: gin", "gin", false, false},
    {"the samples: own layer", "own_layer", false, false},
#define SUM " %40 = space_reduce %30 {red = 0}\n"
    {"messages both ways",
     "%20 = reverse %1\n %21 = gather %20, %10 {end = 0}\n %22 = scatter %20, %21 {end = 1, red = "
     "0}\n"
     " %23 = add %22, %10\n %24 = gather %1, %23 {end = 0}\n %25 = scatter %1, %24 {end = 1, red = "
     "0}\n"
     " %29 = add %25, %22\n %30 = mul %29, %8\n" SUM,
     false, false},
    {"a sum at the sources",
     "%20 = gather %1, %10 {end = 1}\n %21 = scatter %1, %20 {end = 0, red = 0}\n"
     " %30 = mul %21, %8\n" SUM,
     false, false},
    {"a maximum at the sources",
     "%20 = gather %1, %10 {end = 1}\n %21 = scatter %1, %20 {end = 0, red = 1}\n"
     " %22 = gather %1, %21 {end = 0}\n %23 = scatter %1, %22 {end = 1, red = 2}\n"
     " %30 = mul %23, %8\n" SUM,
     false, false},
    {"another graph between",
     "%20 = gather %2, %10 {end = 0}\n %21 = scatter %2, %20 {end = 1, red = 0}\n"
     " %22 = gather %1, %21 {end = 0}\n %23 = mul %22, %7\n"
     " %24 = scatter %1, %23 {end = 1, red = 0}\n %30 = mul %24, %8\n" SUM,
     false, false},
    {"two graphs at once",
     "%20 = gather %2, %10 {end = 0}\n %21 = scatter %2, %20 {end = 1, red = 0}\n"
     " %22 = gather %1, %21 {end = 0}\n %23 = scatter %1, %22 {end = 1, red = 0}\n"
     " %24 = gather %2, %23 {end = 0}\n %25 = scatter %2, %24 {end = 1, red = 1}\n"
     " %26 = add %25, %21\n %27 = add %26, %23\n %30 = mul %27, %8\n" SUM,
     false, false},
    {"two masks",
     "%20 = gather %1, %10 {end = 0}\n %21 = scatter %1, %20 {end = 1, red = 0}\n %22 = mul %21, "
     "%9\n"
     " %23 = space_reduce %22 {red = 0}\n %30 = mul %21, %8\n" SUM " %41 = add %40, %23\n",
     false, false},
    {"a mask of two",
     "%20 = and %5, %6\n %21 = const {value = 0} : node f32[]\n %22 = gather %1, %3 {end = 0}\n"
     " %23 = scatter %1, %22 {end = 1, red = 0}\n %24 = reduce %23 {red = 0, axes = 1}\n"
     " %25 = select %20, %24, %21\n %26 = space_reduce %25 {red = 0}\n %27 = reshape %26 : f32[1]\n"
     " %28 = broadcast %27 : f32[3]\n %30 = mul %10, %8\n" SUM " %41 = mul %40, %28\n",
     false, false},
    {"the mask itself is read",
     "%20 = gather %1, %8 {end = 0}\n %21 = scatter %1, %20 {end = 1, red = 0}\n %22 = mul %21, "
     "%10\n"
     " %30 = mul %22, %8\n" SUM,
     false, false},
    {"the mask everywhere",
     "%20 = space_reduce %8 {red = 0}\n %21 = broadcast %20 : node f32[3]\n %22 = mul %21, %10\n"
     " %30 = mul %22, %8\n" SUM,
     false, false},
    {"edges of their own",
     "%20 = self_loops %1\n %21 = const {value = 2} : node f32[3]\n %22 = carry %20, %1, %7, %21\n"
     " %23 = gather %20, %10 {end = 0}\n %24 = mul %22, %23\n %25 = scatter %20, %24 {end = 1, red "
     "= 0}\n"
     " %26 = uncarry %1, %20, %24\n %27 = scatter %1, %26 {end = 1, red = 0}\n %28 = add %25, %27\n"
     " %30 = mul %28, %8\n" SUM,
     false, false},
    {"a sum over all edges",
     "%20 = gather %1, %10 {end = 0}\n %21 = mul %20, %7\n %22 = space_reduce %21 {red = 0}\n"
     " %23 = scatter %1, %21 {end = 1, red = 0}\n %24 = broadcast %22 : node f32[3]\n"
     " %25 = mul %23, %24\n %30 = mul %25, %8\n" SUM,
     false, false},
    {"draws on edges and rows",
     "%20 = const {value = 7} : i64[]\n %21 = random %20 {site = 1} : edge f32[3]\n"
     " %22 = random %20 {site = 2} : node f32[3]\n %23 = iota {axis = -1} : node f32[3]\n"
     " %24 = mul %22, %10\n %25 = add %24, %23\n %26 = gather %1, %25 {end = 0}\n"
     " %27 = mul %26, %21\n %28 = scatter %1, %27 {end = 1, red = 0}\n %29 = mul %28, %22\n"
     " %30 = mul %29, %8\n" SUM,
     false, false},
    {"edges that data leave",
     "%20 = input \"t\" : node i32[]\n %21 = gather %1, %20 {end = 0}\n"
     " %22 = const {value = 2} : edge i32[]\n %23 = gt %21, %22\n %24 = gather %2, %10 {end = 0}\n"
     " %25 = scatter %2, %24 {end = 1, red = 0}\n %26 = filter %1, %23\n"
     " %27 = gather %26, %25 {end = 0}\n %28 = scatter %26, %27 {end = 1, red = 1}\n"
     " %30 = mul %28, %8\n" SUM,
     false, false},
    {"edges that are drawn",
     "%20 = input \"a\" : i64[]\n %21 = rng_key %20, %20\n"
     " %22 = corrupt %1, %21 {times = 2, end = 2, site = 1}\n %23 = const {value = 3} : node "
     "f32[3]\n"
     " %24 = carry %22, %1, %7, %23\n %25 = gather %22, %10 {end = 0}\n %26 = mul %24, %25\n"
     " %27 = scatter %22, %26 {end = 1, red = 0}\n %28 = uncarry %1, %22, %26\n"
     " %29 = scatter %1, %28 {end = 1, red = 0}\n %31 = add %27, %29\n %32 = gather %1, %31 {end = "
     "0}\n"
     " %33 = scatter %1, %32 {end = 1, red = 0}\n %30 = mul %33, %8\n" SUM,
     false, false},
    {"rows by number",
     "%20 = input \"t\" : node i64[]\n %21 = index %20 {space = node}\n %22 = take %21, %10\n"
     " %23 = gather %1, %22 {end = 0}\n %24 = input \"s\" : edge i32[]\n %25 = index %24 {space = "
     "node}\n"
     " %26 = take %25, %3\n %27 = mul %23, %26\n %28 = scatter %1, %27 {end = 1, red = 0}\n"
     " %29 = gather %21, %28 {end = 0}\n %31 = scatter %21, %29 {end = 1, red = 0}\n"
     " %30 = mul %31, %8\n" SUM,
     false, false},
    {"rows of another type between",
     "%20 = gather %16, %10 {end = 0}\n %21 = scatter %16, %20 {end = 1, red = 0}\n"
     " %22 = mul %21, %18\n %23 = gather %17, %22 {end = 0}\n"
     " %24 = scatter %17, %23 {end = 1, red = 0}\n %30 = mul %24, %8\n" SUM,
     false, false},
    {"types that meet again",
     "%20 = gather %17, %19 {end = 0}\n %21 = scatter %17, %20 {end = 1, red = 1}\n"
     " %22 = gather %1, %10 {end = 0}\n %23 = scatter %1, %22 {end = 1, red = 0}\n"
     " %24 = add %21, %23\n %25 = reverse %17\n %26 = gather %25, %24 {end = 0}\n"
     " %27 = scatter %25, %26 {end = 1, red = 0}\n %28 = add %27, %19\n"
     " %29 = gather %17, %28 {end = 0}\n %31 = gather %17, %24 {end = 1}\n %32 = mul %29, %31\n"
     " %33 = scatter %17, %32 {end = 1, red = 0}\n %34 = add %33, %24\n %30 = mul %34, %8\n" SUM,
     false, false},
    {"all rows of another type",
     "%20 = space_reduce %19 {red = 1}\n %21 = broadcast %20 : node f32[3]\n"
     " %22 = gather %17, %19 {end = 0}\n %23 = scatter %17, %22 {end = 1, red = 0}\n"
     " %24 = mul %23, %21\n %25 = gather %17, %24 {end = 1}\n %26 = gather %17, %18 {end = 0}\n"
     " %27 = mul %25, %26\n %28 = scatter %17, %27 {end = 1, red = 0}\n %30 = mul %28, %8\n" SUM,
     false, false},
    {"no mask", "%30 = mul %10, %4\n" SUM, false, true},
    {"one outside of the mask",
     "%20 = const {value = 1} : node f32[3]\n %21 = broadcast %5 : node bool[3]\n"
     " %30 = select %21, %10, %20\n" SUM,
     false, true},
    {"a maximum over the mask", "%30 = mul %10, %8\n %40 = space_reduce %30 {red = 1}\n", false,
     true},
#define LISTED(red)                                                                                \
    "%20 = gather %1, %10 {end = 0}\n %21 = scatter %1, %20 {end = 1, red = 0}\n %22 = gather "    \
    "%1, "                                                                                         \
    "%21 {end = 0}\n %23 = gather %1, %21 {end = 1}\n %24 = mul %22, %23\n %25 = scatter %1, %24 " \
    "{end = 1, red = " red "}\n %26 = add %25, %10\n %27 = gather %90, %26 {end = 1}\n %28 = "     \
    "scatter %90, %27 {end = 0, red = 0}\n %29 = sin %28\n %30 = space_reduce %29 {red = 0}\n"
    {"rows that are listed", LISTED("0"), false, true},
    {"rows that are listed, maxima", LISTED("1"), false, true},
    {"edges that are added up, and all rows",
     "%20 = gather %1, %10 {end = 0}\n %21 = scatter %1, %20 {end = 1, red = 0}\n %22 = mul %21, "
     "%8\n %23 = gather %1, %22 {end = 1}\n %24 = gather %1, %10 {end = 1}\n %25 = mul %23, %24\n "
     "%26 = space_reduce %25 {red = 0}\n %27 = space_reduce %22 {red = 0}\n %28 = mul %26, %27\n",
     false, false},
};
enum { SOURCES = sizeof sources / sizeof *sources, SEEDS = 12 };

typedef struct world {
    gn_arena a;
    const source *s;
    gir_program *loss;
    gir_env env;
} world;

static void need(gn_status *s, const world *w, const char *where)
{
    if (s)
        ck_abort_msg("%s: %s: %s (%s:%d)", w->s->what, where, gn_status_message(s), s->file,
                     s->line);
}

static char *sample_text(world *w)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    FILE *f = fopen(gn_arena_printf(&w->a, "%s/samples/%s.gnn", root ? root : ".", w->s->text),
                    "r");
    ck_assert(f != NULL);
    char *text = gn_arena_alloc(&w->a, 1 << 16, 1);
    text[fread(text, 1, (1 << 16) - 1, f)] = 0;
    fclose(f);
    return text;
}

/* Programs of the tensor IR stand behind this one. */
static gir_program *read_rows(world *w)
{
    static const char
        head[] = "program @p {\n  space node node ?\n  space edge edge ? of %1\n"
                 "  space edge2 edge ? of %2\n"
                 "  space item node ?\n  space edge3 edge ? of %16\n  space edge4 edge ? of %17\n"
                 "  space place node ?\n  space listed edge ? of %90\n"
                 "  %1 = graph \"g\" : graph<node -> node, edge>\n"
                 "  %2 = graph \"h\" : graph<node -> node, edge2>\n"
                 "  %3 = input \"x\" : node f32[3]\n"
                 "  %4 = input \"z\" : node f32[3]\n"
                 "  %5 = input \"train_mask\" : node bool[]\n"
                 "  %6 = input \"m\" : node bool[]\n"
                 "  %7 = input \"e\" : edge f32[3]\n"
                 "  %11 = state \"w\" : f32[3, 3]\n"
                 "  %12 = reshape %5 : node bool[1]\n  %13 = broadcast %12 : node bool[3]\n"
                 "  %8 = cast %13 : node f32[3]\n"
                 "  %14 = reshape %6 : node bool[1]\n  %15 = broadcast %14 : node bool[3]\n"
                 "  %9 = cast %15 : node f32[3]\n"
                 "  %10 = matmul %3, %11 : node f32[3]\n"
                 "  %16 = graph \"ui\" : graph<node -> item, edge3>\n"
                 "  %17 = graph \"iu\" : graph<item -> node, edge4>\n"
                 "  %90 = graph \"list\" : graph<place -> node, listed>\n"
                 "  %18 = input \"y\" : item f32[3]\n"
                 "  %19 = matmul %18, %11 : item f32[3]\n";
    char *text = gir_renumbered(&w->a, gn_arena_printf(&w->a, "%s %s}\n", head, w->s->text));
    gir_program *p;
    need(gir_parse(&w->a, text, strlen(text), "rows", &p), w, text);
    gir_id last = p->nodes.n - 1;
    if (gir_type_of(p, last)->rank) last = gir_reduce(p, last, GIR_SUM, 1);
    gir_output_add(p, GIR_OUTPUT, "loss", last);
    return p;
}

static gir_program *read_source(world *w)
{
    if (w->s->text[0] == '%') return read_rows(w);
    const char *text = strchr(w->s->text, ' ') ? w->s->text : sample_text(w);
    gn_ast *ast;
    gn_model *m;
    need(gn_parse(&w->a, text, strlen(text), "model", &ast), w, "parse");
    static const gn_schema_space node = {"node", -1};
    static const gn_schema_relation g = {"g", 0, 0, -1};
    static const gn_schema_column kind = {.name = "g.kind", .on_edges = true, .elem = GN_I32};
    static const gn_schema schema = {1, 1, 1, &node, &g, &kind, 0};
    gn_data_shape shape = {.n_features = 6,
                           .n_classes = 7,
                           .has_edge_weight = w->s->weights,
                           .schema = strstr(text, "kind: edge") ? &schema : NULL};
    need(gn_elaborate(&w->a, ast, NULL, &shape, 0, NULL, &m), w, "elaborate");
    return gn_loss_alone(&w->a, m->loss);
}

/* Masks of none, of all, of one; weights of which degrees have roots. */
static void make_data(world *w, uint64_t seed)
{
    random_gir_options o = {.max_nodes = 12};
    w->env = random_gir_env(&w->a, w->loss, seed, &o);
    for (int k = 0; k < w->env.n; k++) {
        gir_value *v = &w->env.value[k];
        bool mask = strcmp(w->env.name[k], "train_mask") == 0,
             weight = strcmp(w->env.name[k], "g.weight") == 0;
        for (int64_t i = 0; mask && i < v->rows; i++) {
            if (seed % 6 == 0) v->v[i] = 0;
            if (seed % 6 == 1) v->v[i] = 1;
            if (seed % 6 >= 4) v->v[i] = i == (int64_t)seed % 5;
        }
        for (int64_t i = 0; weight && i < v->rows; i++)
            v->v[i] = gir_round(GN_F32, fabs(v->v[i]) + 0.1);
    }
}

static void start(world *w, int k, uint64_t seed)
{
    *w = (world){.s = &sources[k]};
    gn_arena_init(&w->a);
    w->loss = read_source(w);
    make_data(w, seed);
}

static gir_program *with_gradients(world *w, const gir_program *loss)
{
    enum { MOST = 64 };
    gir_program *p = gir_clone(&w->a, loss);
    gir_id wrt[MOST], grad[MOST], l = 0;
    int n = 0;
    for (gir_id v = 1; v < p->nodes.n && n < MOST; v++)
        if (gir_at(p, v)->op == GIR_STATE && gir_at(p, v)->type.elem == GN_F32) wrt[n++] = v;
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_OUTPUT) l = p->outputs.p[k].value;
    need(gir_grad(p, l, n, wrt, grad), w, "gradients");
    for (int k = 0; k < n; k++)
        gir_output_add(p, GIR_OUTPUT, gn_arena_printf(&w->a, "d.%s", gir_at(p, wrt[k])->attr.name),
                       grad[k]);
    need(gir_verify(p), w, "gradients");
    return p;
}

/* As the driver does it.  Where products are moved, so many non-zeros that sums of features that
 * never change are kept. */
static gir_program *restricted(world *w, int levels, bool sparse, bool moved)
{
    static const char *const x[] = {"x"};
    gn_pass_options o = {.limit = -1,
                         .levels = levels,
                         .sparse = x,
                         .n_sparse = sparse,
                         .fixed = x,
                         .n_fixed = moved};
    o.facts = (gn_data_facts){.nonzeros = 1 << 20, .all = {1 << 10, 1 << 10}};
    for (int k = 0; k < GN_MOST_LEVELS; k++)
        o.facts.level[k] = (gn_row_count){1 << (k < 9 ? k : 9), 1 << 9};
    gir_program *p = w->loss, *q;
    need(gn_pass_cse(&w->a, p, &p), w, "cse");
    need(gn_pass_dce(&w->a, p, &p), w, "dce");
    if (moved) need(gn_run_reassociate(&w->a, p, &o, &p), w, "reassociate");
    if (moved) need(gn_run_aggregate_first(&w->a, p, &o, &p), w, "aggregate_first");
    need(gn_run_sparsify(&w->a, p, &o, &p), w, "sparsify");
    need(gn_run_restrict_rows(&w->a, p, &o, &q), w, "restrict_rows");
    need(gir_verify(q), w, "restrict_rows");
    ck_assert_msg((q == p) == (w->s->declines || levels == 0), "%s: %s", w->s->what,
                  q == p ? "all rows are computed" : "rows are left out");
    need(gn_pass_dce(&w->a, q, &q), w, "dce");
    return with_gradients(w, q);
}

static gir_value *evaluate(world *w, const gir_program *p)
{
    gir_env env = w->env;
    gir_value *v;
    env.precision = GIR_EVAL_F64;
    env.bounds = false;
    need(gir_eval(p, &env, &v), w, "eval");
    return v;
}

static void compare_to(world *w, const gir_program *p, const gir_value *want, const gir_program *q,
                       const gir_value *got, double most, const char *how)
{
    ck_assert_int_eq(p->outputs.n, q->outputs.n);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_value *a = &want[p->outputs.p[k].value], *b = &got[q->outputs.p[k].value];
        double size = 0;
        ck_assert_str_eq(p->outputs.p[k].name, q->outputs.p[k].name);
        for (int64_t i = 0; i < a->rows * a->cols; i++) size = fmax(size, fabs(a->v[i]));
        for (int64_t i = 0; i < a->rows * a->cols; i++)
            ck_assert_msg(fabs(a->v[i] - b->v[i]) <= most * (1 + size),
                          "%s, %s: %s[%d] is %.17g, not %.17g", w->s->what, how,
                          p->outputs.p[k].name, (int)i, b->v[i], a->v[i]);
    }
}

static void compare(world *w, const gir_program *p, const gir_value *want, const gir_program *q,
                    const gir_value *got, const char *how)
{
    compare_to(w, p, want, q, got, 1e-10, how);
}

START_TEST(evaluated)
{
    static const int levels[] = {0, 1, 2, 3, 14, 99};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        world w;
        start(&w, _i, seed);
        gir_program *p = with_gradients(&w, w.loss);
        gir_value *want = evaluate(&w, p);
        for (int k = 0; k < 6; k++) {
            gir_program *q = restricted(&w, levels[k], seed % 2, seed % 3 == 0);
            compare(&w, p, want, q, evaluate(&w, q),
                    gn_arena_printf(&w.a, "seed %d, %d levels", (int)seed, levels[k]));
        }
        gn_arena_free(&w.a);
    }
}
END_TEST

START_TEST(compiled)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 1)) return; /* each compiles */
    for (uint64_t seed = 2; seed < 5; seed++) {
        world w;
        start(&w, _i, seed);
        gir_program *q = restricted(&w, (int)seed - 1, seed == 3, seed == 4);
        unsigned modes = 1u << 0 | 1u << 3 | 1u << 6;
        need(run_every_way(q, &w.env, modes, seed == 3 ? 1u << 3 : 1u << 0, NULL), &w,
             gn_arena_printf(&w.a, "seed %d", (int)seed));
        gn_arena_free(&w.a);
    }
}
END_TEST

/* Steps that have their gradients already: what is 0 outside of levels is computed there. */
static gir_program *step_restricted(world *w, gir_program *p, int levels)
{
    gn_pass_options o = {.limit = -1, .levels = levels, .has_gradients = true};
    gir_program *q;
    need(gn_pass_cse(&w->a, p, &p), w, "cse");
    need(gn_pass_dce(&w->a, p, &p), w, "dce");
    need(gn_run_restrict_rows(&w->a, p, &o, &q), w, "restrict_rows");
    need(gir_verify(q), w, "restrict_rows");
    need(gn_pass_dce(&w->a, q, &q), w, "dce");
    return q;
}

START_TEST(steps)
{
    static const int levels[] = {1, 2, 3, 14};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        world w;
        start(&w, _i, seed);
        gir_program *p = with_gradients(&w, w.loss);
        gir_value *want = evaluate(&w, p);
        for (int k = 0; k < 4; k++) {
            gir_program *q = step_restricted(&w, p, levels[k]);
            bool some = !w.s->declines || strstr(w.s->text, "%90");
            ck_assert_msg((q->spaces.n > p->spaces.n) == some, "%s: all rows are computed",
                          w.s->what);
            compare(&w, p, want, q, evaluate(&w, q),
                    gn_arena_printf(&w.a, "a step, seed %d, %d levels", (int)seed, levels[k]));
        }
        gn_arena_free(&w.a);
    }
}
END_TEST

START_TEST(steps_compiled)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 8 : 2)) return; /* each compiles */
    world w;
    start(&w, _i, 2);
    gir_program *q = step_restricted(&w, with_gradients(&w, w.loss), 1 + _i % 3);
    need(run_every_way(q, &w.env, 1u << 0 | 1u << 3, 1u << 0, NULL), &w, "a step");
    gn_arena_free(&w.a);
}
END_TEST

/* Attention that sums what its heads read before it is projected (aggregate_heads). */
static const source attentions[] = {
    {"gat", TWO("GATConv(3, heads = 2)"), false, false},
    {"gat of three heads, dropout", TWO("GATConv(2, heads = 3, p = 0.4)"), false, false},
    {"gat, heads' mean", TWO("GATConv(5, heads = 2, concat = false)"), false, false},
    {"gat without loops", TWO("GATConv(3, heads = 2, loops = false)"), false, false},
    {"gat, deep",
     NET("M", "  h = x\n  for i in 0..3 { h = elu(GATConv(3, heads = 2)(g, h)) }\n  out = "
              "Linear(C)\n  return out(h)\n"),
     false, false},
#define RATIO(more)                                                                                \
    NET("M", "  a = Linear(6, bias = false)\n  s = Linear(2)\n  h = reshape(a(x), [2, 3])\n  q = " \
             "exp(s(x))\n"                                                                         \
             "  d = sum(u -> v in g: q[u])" more "\n  c = Linear(C)\n"                             \
             "  return c(flatten(sum(u -> v in g: unsqueeze(q[u] / d[v], -1) * h[u])))\n")
    {"divided by what is 0 without edges", RATIO(""), false, false},
    {"divided by what is never 0", RATIO(" + 0.5"), false, false},
};
enum { ATTENTIONS = sizeof attentions / sizeof *attentions };

/* Many more sources than rows, and few edges: it pays wherever it can be done. */
static gn_pass_options few_rows(int levels)
{
    gn_pass_options o = {.limit = -1, .levels = levels, .verify = true};
    o.facts.all = (gn_row_count){(int64_t)1 << 60, 1};
    for (int k = 0; k < GN_MOST_LEVELS; k++)
        o.facts.level[k] = (gn_row_count){(int64_t)1 << 4 * k, 1};
    return o;
}

static int count(const gir_program *p, gir_op op, int end)
{
    int n = 0;
    for (gir_id v = 1; v < p->nodes.n; v++)
        n += gir_at(p, v)->op == op && (end < 0 || gir_at(p, v)->attr.i[0] == end);
    return n;
}

/* With gradients; `again`: which the pass has put right. */
static gir_program *by_heads(world *w, int levels, bool again)
{
    gn_pass_options o = few_rows(levels);
    gir_program *p = w->loss, *q;
    need(gn_pass_cse(&w->a, p, &p), w, "cse");
    need(gn_run_restrict_rows(&w->a, p, &o, &p), w, "restrict_rows");
    need(gn_pass_dce(&w->a, p, &p), w, "dce");
    need(gn_run_aggregate_heads(&w->a, p, &o, &q), w, "aggregate_heads");
    need(gir_verify(q), w, "aggregate_heads");
    ck_assert_msg(count(q, GIR_SLICE, -1) > count(p, GIR_SLICE, -1),
                  "%s: nothing is summed by head", w->s->what);
    need(gn_pass_dce(&w->a, q, &q), w, "dce");
    q = with_gradients(w, q);
    if (!again) return q;
    o.levels = 0;
    need(gn_run_aggregate_heads(&w->a, q, &o, &p), w, "aggregate_heads, gradients");
    need(gir_verify(p), w, "aggregate_heads, gradients");
    return p;
}

START_TEST(heads)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        world w = {.s = &attentions[_i]};
        gn_arena_init(&w.a);
        w.loss = read_source(&w);
        make_data(&w, seed);
        gir_program *p = with_gradients(&w, w.loss);
        gir_value *want = evaluate(&w, p);
        for (int levels = 1; levels < 4; levels++) {
            const char *how = gn_arena_printf(&w.a, "by head, seed %d, %d levels", (int)seed,
                                              levels);
            gir_program *plain = by_heads(&w, levels, false), *right = by_heads(&w, levels, true),
                        *whole;
            gn_pass_options o = few_rows(0);
            need(gn_passes_run(&w.a, plain, &o, NULL, &whole), &w, how);
            compare(&w, p, want, plain, evaluate(&w, plain), how);
            compare(&w, p, want, right, evaluate(&w, right), how);
            /* node_exp has 1e-19 in sums that may be as small as e^-24: 3e-9 of losses of some
             * hundred. */
            compare_to(&w, p, want, whole, evaluate(&w, whole), 1e-6, how);
        }
        gn_arena_free(&w.a);
    }
}
END_TEST

START_TEST(heads_compiled)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 1)) return; /* each compiles */
    for (uint64_t seed = 2; seed < 5; seed++) {
        world w = {.s = &attentions[_i]};
        gn_arena_init(&w.a);
        w.loss = read_source(&w);
        make_data(&w, seed);
        gir_program *q = by_heads(&w, (int)seed - 1, false);
        unsigned modes = 1u << 0 | 1u << 3 | 1u << 6;
        need(run_every_way(q, &w.env, modes, seed == 3 ? 1u << 3 : 1u << 0, NULL), &w,
             gn_arena_printf(&w.a, "seed %d", (int)seed));
        gn_arena_free(&w.a);
    }
}
END_TEST

/* Sums over kinds of edges that are made together (group_kinds). */
#define BY_KIND(layer)                                                                             \
    "model M() (g: graph, kind: edge of int, x: node[F]) -> node[C] {\n  a = " layer               \
    "\n  b = " layer                                                                               \
    "\n  out = Linear(C)\n  return out(relu(b(g, relu(a(g, dropout(x, 0.3), kind)), "              \
    "kind)))\n}\n"
static const source kinds[] = {
    {"means", BY_KIND("RGCNConv(4, relations = 3)"), false, false},
    {"of bases", BY_KIND("RGCNConv(7, relations = 4, bases = 2)"), false, false},
    {"sums", BY_KIND("RGCNConv(9, relations = 2, aggr = \"sum\")"), false, false},
    {"maxima", BY_KIND("RGCNConv(4, relations = 3, aggr = \"max\")"), false, false},
    {"blocks along a diagonal", BY_KIND("RGCNConv(6, relations = 3, blocks = 2)"), false, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_KINDS = 4 };

/* Each kind joins few rows. */
static gn_pass_options few_of_kinds(world *w, int levels)
{
    gn_pass_options o = few_rows(levels);
    const char *column = NULL;
    for (gir_id v = 1; v < w->loss->nodes.n; v++) {
        const gir_node *n = gir_at(w->loss, v);
        if (n->op == GIR_INPUT && n->type.elem == GN_I32 && strstr(n->attr.name, "kind"))
            column = n->attr.name;
    }
    gn_ends *e = GN_NEW_N(&w->a, gn_ends, MOST_KINDS * levels + 1);
    for (int k = 0; k < MOST_KINDS * levels; k++)
        e[k] = (gn_ends){.name = "g",
                         .src = 1000,
                         .dst = 1000,
                         .joined_src = 1,
                         .joined_dst = 1,
                         .picked = true,
                         .level = k / MOST_KINDS,
                         .column = column,
                         .value = k % MOST_KINDS};
    o.ends = e;
    o.n_ends = MOST_KINDS * levels;
    return o;
}

/* With gradients, as the driver does it; `whole`: what comes after, too. */
static gir_program *by_kinds(world *w, int levels, bool moved, bool whole)
{
    gn_pass_options o = few_of_kinds(w, levels);
    gir_program *p = w->loss, *q;
    need(gn_pass_cse(&w->a, p, &p), w, "cse");
    if (moved) need(gn_run_reassociate(&w->a, p, &o, &p), w, "reassociate");
    need(gn_run_restrict_rows(&w->a, p, &o, &p), w, "restrict_rows");
    need(gn_run_group_kinds(&w->a, p, &o, &q), w, "group_kinds");
    need(gir_verify(q), w, "group_kinds");
    ck_assert_msg((count(q, GIR_GROUP, -1) > 0) == !w->s->declines, "%s: %d groups", w->s->what,
                  count(q, GIR_GROUP, -1));
    need(gn_pass_dce(&w->a, q, &q), w, "dce");
    q = with_gradients(w, q);
    o.levels = 0;
    if (whole) need(gn_passes_run(&w->a, q, &o, NULL, &q), w, "passes");
    return q;
}

START_TEST(kinds_evaluated)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        world w = {.s = &kinds[_i]};
        gn_arena_init(&w.a);
        w.loss = read_source(&w);
        make_data(&w, seed);
        gir_program *p = with_gradients(&w, w.loss);
        gir_value *want = evaluate(&w, p);
        for (int levels = 1; levels < 4; levels++) {
            const char *how = gn_arena_printf(&w.a, "seed %d, %d levels", (int)seed, levels);
            gir_program *q = by_kinds(&w, levels, seed % 2, seed % 3 == 0);
            compare(&w, p, want, q, evaluate(&w, q), how);
        }
        gn_arena_free(&w.a);
    }
}
END_TEST

START_TEST(kinds_compiled)
{
    if (suite_leaves_out(_i, GN_UNDER_ASAN ? 4 : 1)) return; /* each compiles */
    world w = {.s = &kinds[_i]};
    gn_arena_init(&w.a);
    w.loss = read_source(&w);
    make_data(&w, 2 + (uint64_t)_i);
    gir_program *q = by_kinds(&w, 2, false, true);
    unsigned modes = 1u << 0 | 1u << 3 | 1u << 6;
    need(run_every_way(q, &w.env, modes, 1u << 3, NULL), &w, "compiled");
    gn_arena_free(&w.a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("restrict");
    tcase_add_loop_test(t, heads, 0, ATTENTIONS);
    tcase_add_loop_test(t, heads_compiled, 0, ATTENTIONS);
    tcase_add_loop_test(t, evaluated, 0, SOURCES);
    tcase_add_loop_test(t, compiled, 0, SOURCES);
    tcase_add_loop_test(t, steps, 0, SOURCES);
    tcase_add_loop_test(t, steps_compiled, 0, SOURCES);
    tcase_add_loop_test(t, kinds_evaluated, 0, KINDS);
    tcase_add_loop_test(t, kinds_compiled, 0, KINDS);
    tcase_set_timeout(t, 900);
    return RUN_CASES("restrict", t);
}
