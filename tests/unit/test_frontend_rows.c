/* Rows of several types: relations, columns, variables for rows, families. */
/* links: frontend ir base */
#include "frontend_test.h"

static gn_arena arena;

static const gn_schema_space spaces[] = {
    {"node", -1, NULL}, {"paper", 40, NULL}, {"author", 30, NULL}, {"venue", 5, NULL}};
static const gn_schema_relation relations[] = {
    {"g", 0, 0, -1}, {"cites", 1, 1, 90}, {"writes", 2, 1, 80}, {"held", 1, 3, 40}};
static const gn_schema_column columns[] = {
    {"paper.x", false, 1, GN_F32, 1, {16}},     {"author.x", false, 2, GN_F32, 1, {8}},
    {"paper.year", false, 1, GN_F32, 0, {0}},   {"writes.attr", true, 2, GN_F32, 1, {3}},
    {"cites.weight", true, 1, GN_F32, 0, {0}},  {"cites.kind", true, 1, GN_I32, 0, {0}},
    {"writes.kind", true, 2, GN_I32, 0, {0}, 6}};
static const gn_schema typed = {.n_spaces = 4,
                                .n_relations = 4,
                                .n_columns = 7,
                                .space = spaces,
                                .relation = relations,
                                .column = columns,
                                .labelled = 1};
static const gn_data_shape shape = {
    .n_classes = 4, .schema = &typed, .typed = true, .has_masks = true};

static gn_model *model(const char *text) { return frontend_model(&arena, text, &shape, 0, NULL); }

static const char *space_of_output(const gn_model *m)
{
    const gir_type *t = gir_type_of(m->eval, frontend_output(m->eval, "out"));
    return m->eval->spaces.p[t->space].name;
}

static const char *wrong(const char *text)
{
    gn_model *m;
    const char *message = frontend_try(&arena, text, &shape, 0, NULL, NULL, &m);
    ck_assert_ptr_nonnull(message);
    return message;
}

static void says(const char *text, const char *part)
{
    const char *message = wrong(text);
    if (!strstr(message, part)) ck_abort_msg("%s\nhas no: %s", message, part);
}

START_TEST(named_rows)
{
    gn_model *m = model("model M() (writes: node.author -> node.paper, x: node.author[F],\n"
                        "           attr: edge.writes[D], year: node.paper) -> node.paper[C] {\n"
                        "  h = sum(u -> v in writes: x[u] * sum(attr))\n"
                        "  return Linear(C)(h) + unsqueeze(year, axis = 0)\n}\n");
    ck_assert_str_eq(space_of_output(m), "paper");
    ck_assert_uint_ne(gir_leaf_by_name(m->eval, GIR_INPUT, "author.x"), 0);
    ck_assert_uint_ne(gir_leaf_by_name(m->eval, GIR_INPUT, "writes.attr"), 0);
    ck_assert_uint_ne(gir_leaf_by_name(m->eval, GIR_INPUT, "paper.year"), 0);
    ck_assert_uint_eq(gir_leaf_by_name(m->eval, GIR_GRAPH, "g"), 0);
    const gir_type *g = gir_type_of(m->eval, gir_leaf_by_name(m->eval, GIR_GRAPH, "writes"));
    ck_assert_str_eq(m->eval->spaces.p[g->src].name, "author");
    ck_assert_str_eq(m->eval->spaces.p[g->dst].name, "paper");
    /* the default loss: classes of the labelled rows */
    ck_assert_ptr_nonnull(m->loss);
}
END_TEST

START_TEST(variables)
{
    gn_model *m = model(
        "layer Conv(out: dim) (g: A -> B, x: A[in], y: B[...] = x) -> B[out] {\n"
        "  own = Linear(out)\n  other = Linear(out, bias = false)\n"
        "  return own(y) + other(mean(u -> v in g: x[u]))\n}\n"
        "model M() (writes: node.author -> node.paper, cites: node.paper -> node.paper,\n"
        "           a: node.author[...], p: node.paper[...]) -> node.paper[C] {\n"
        "  first = Conv(12)\n  second = Conv(C)\n"
        "  return second(cites, relu(first(writes, a, p)))\n}\n");
    ck_assert_str_eq(space_of_output(m), "paper");
    ck_assert_int_eq(frontend_param(m, "second.own.weight")->type.dim[0], 12);
    says("layer Conv() (g: A -> B, x: A[in]) -> B[in] { return sum(u -> v in g: x[u]) }\n"
         "model M() (writes: node.author -> node.paper, p: node.paper[...]) -> node.paper[C] {\n"
         "  c = Conv()\n  return c(writes, p)\n}\n",
         "input `x` of `Conv` is `A[in]`, this is node.paper[16]");
    says("layer Conv() (g: A -> B, x: A[in]) -> A[in] { return sum(u -> v in g: x[u]) }\n"
         "model M() (writes: node.author -> node.paper, p: node.author[...]) -> node.paper[8] {\n"
         "  c = Conv()\n  return c(writes, p)\n}\n",
         "the result of `Conv` is `A[in]` (in = 8), this is node.paper[8]");
    says("layer L() (x: A[in]) -> A[in] { return x }\n", "found `A`; such a name is an end");
}
END_TEST

/* Layers of one type of node work on any relation from a type to itself. */
START_TEST(bare_node)
{
    gn_model *m = model("model M() (cites: node.paper -> node.paper, x: node.paper[F])"
                        " -> node.paper[C] {\n"
                        "  c = GCNConv(C)\n  return c(cites, x)\n}\n");
    ck_assert_uint_ne(gir_leaf_by_name(m->eval, GIR_INPUT, "cites.weight"), 0);
    says("model M() (cites: node.paper -> node.paper, x: node.author[F]) -> node.paper[C] {\n"
         "  c = GCNConv(C)\n  return c(cites, x)\n}\n",
         "input `x` of `GCNConv` is `node[in]`, this is node.author[8]");
    says("model M() (writes: node.author -> node.paper, x: node.author[F]) -> node.paper[C] {\n"
         "  c = GCNConv(C)\n  return c(writes, x)\n}\n",
         "input `g` of `GCNConv` is `graph`, this is a relation node.author -> node.paper");
}
END_TEST

static const char
    rgcn[] = "layer RGCNConv(out: dim) (gs: each graph, x: each node[...]) -> each node[out] {\n"
             "  root = [Linear(out) for t in x]\n"
             "  rel = [Linear(out, bias = false) for g in gs if g.src != venue]\n"
             "  return [root[t](t) + sum([rel[g](mean(u -> v in g: x[g.src][u])) for g in gs if "
             "g.dst == t])"
             " for t in x]\n}\n"
             "model RGCN(hidden = 6) (gs: each graph, x: each node[...]) -> node.paper[C] {\n"
             "  first = RGCNConv(hidden)\n  last = RGCNConv(C)\n"
             "  h = [relu(h) for h in first(gs, x)]\n"
             "  return last(gs, h)[paper]\n}\n"
             "train RGCN { loss = cross_entropy(RGCN(gs, x), y) over train_mask }\n";

START_TEST(families)
{
    gn_model *m = model(rgcn);
    ck_assert_str_eq(space_of_output(m), "paper");
    ck_assert_int_eq(frontend_param(m, "first.root.paper.weight")->type.dim[0], 16);
    ck_assert_int_eq(frontend_param(m, "first.root.author.weight")->type.dim[0], 8);
    ck_assert_int_eq(frontend_param(m, "first.rel.writes.weight")->type.dim[0], 8);
    ck_assert_ptr_nonnull(m->loss);
    ck_assert_ptr_null(m->warnings[0] ? m->warnings : NULL);
    says("model M() (x: each node[...]) -> node.paper[16] { return x[venue] }\n",
         "nothing here is of node.venue");
    says("model M() (x: each node[...]) -> node.paper[16] { return x[node] }\n",
         "nothing here is of node");
    says("model M() (x: each edge[...]) -> node.paper[16] { return x[paper] }\n",
         "`each` stands before `graph` or `node[...]`");
}
END_TEST

START_TEST(parameters_of_rows)
{
    gn_model *m = model("model M() (held: node.paper -> node.venue) -> node.venue[6] {\n"
                        "  param emb: node.paper[6] = normal(0, 0.1)\n"
                        "  return mean(u -> v in held: emb[u])\n}\n");
    const gn_param *p = frontend_param(m, "emb");
    ck_assert_int_eq(p->rows, 40);
    ck_assert_int_eq(p->file_rank, 2);
    ck_assert_int_eq(p->file_dim[0], 40);
    ck_assert_int_eq(p->file_dim[1], 6);
    says("model M() (held: node.paper -> node.venue) -> node.venue[6] {\n"
         "  param emb: edge[6] = zeros\n  return mean(u -> v in held: emb[u])\n}\n",
         "these are no rows of nodes or graphs");
}
END_TEST

/* Data of one type of node have a family of one, whose key is `node`. */
START_TEST(family_of_one)
{
    gn_data_shape one = {.n_classes = 4, .n_features = 8, .has_masks = true};
    const char *text = "model M() (gs: each graph, x: each node[...]) -> node[C] {\n"
                       "  first = HeteroRGCNConv(C)\n  return first(gs, x)[node]\n}\n";
    gn_model *m = frontend_model(&arena, text, &one, 0, NULL);
    ck_assert_int_eq(frontend_param(m, "first.root.node.weight")->type.dim[0], 8);
}
END_TEST

START_TEST(how_many_values)
{
    gn_model *m = model(
        "model M() (writes: node.author -> node.paper, x: node.author[...],\n"
        "           y: node.paper[...], kind: edge.writes of int) -> node.paper[8] {\n"
        "  some = carry(kind, only(writes, kind < 5))\n"
        "  assert values(some) == 6, \"six\"\n"
        "  conv = RGCNConv(8, root = false)\n"
        "  return conv(writes, x, kind, y)\n}\n");
    ck_assert_int_eq(frontend_param(m, "conv.weight")->type.dim[0], 6);
    says(
        "model M() (kind: edge.cites of int) -> edge.cites of int { return kind + values(kind) }\n",
        "how many different integers that are is not known");
    says("model M() (x: node.paper[F]) -> node.paper[F] { return x + values(x) }\n",
         "this is node.paper[16]: how many different integers that are is not known");
}
END_TEST

START_TEST(rows_as_an_axis)
{
    gn_model *m = model(
        "model M() (cites: node.paper -> node.paper, kind: edge.cites of int) -> edge.cites {\n"
        "  param emb: node.paper[6] = normal(0, 0.1)\n"
        "  a = table(emb)\n"
        "  b = table(edge(u -> v in corrupt(sample(cites, 7), 2, dst): emb[v]))\n"
        "  c = table(edge(u -> v in self_loops(reverse(cites)): emb[v]))\n"
        "  assert dim(a, 0) == 40 and dim(b, 0) == 14 and dim(c, 0) == 130, \"as many\"\n"
        "  d = table(edge(u -> v in sample(cites, 200): emb[v]))\n"
        "  assert dim(d, 0) == 90, \"no more than there are\"\n"
        "  q = edge(u -> v in cites: emb[u])\n"
        "  return sum(q @ transpose(concat(a, b, c, d, axis = 0)), axis = -1)\n}\n");
    ck_assert_int_eq(frontend_param(m, "emb")->rows, 40);
    says("model M() (x: node.paper[F]) -> node.paper[F] { return table(tensor([1, 2])) + x }\n",
         "`table` makes an axis of rows, and this is [2]");
    says("model M() (cites: node.paper -> node.paper, x: node.paper[F]) -> node.paper[F] {\n"
         "  h = table(edge(u -> v in remove_self_loops(cites): x[u]))\n  return x\n}\n",
         "how many rows that is is not known before data are bound");
}
END_TEST

START_TEST(weights_by_name)
{
    const char *twice = "model M() (x: node.paper[F]) -> node.paper[F] {\n"
                        "  a = Linear(6)\n  h = a(x)\n  return h @ transpose(a.weight)\n}\n";
    gn_model *m = model(twice);
    ck_assert_int_eq(frontend_param(m, "a.weight")->type.dim[1], 6);
    says("model M() (x: node.paper[F]) -> node.paper[F] {\n"
         "  a = Linear(F)\n  return a(x) + a.wieght\n}\n",
         "`Linear` has no weight `wieght`; did you mean `weight`?");
    says("model M() (x: node.paper[F]) -> node.paper[F] {\n"
         "  a = Linear(F)\n  b = a.bias\n  return a(x) + b\n}\n",
         "`Linear` has weights once it was applied to its inputs");
    says("model M() (x: node.paper[F]) -> node.paper[F] { return x }\n"
         "train M { loss = mean(Linear(3)(M(x))) }\n",
         "`Linear` has weights: it is applied in a model, not in a train block");
}
END_TEST

START_TEST(what_there_is)
{
    says("model M() (x: node.book[F]) -> node.book[F] { return x }\n",
         "the data have no rows `node.book`: they have `node.paper`, `node.author`, `node.venue`");
    says("model M() (reads: node.author -> node.paper) -> node.paper { return in_degree(reads) }\n",
         "the data have no relation `reads`: they have `cites`, `writes`, `held`");
    says("model M() (writes: node.paper -> node.author) -> node { return in_degree(writes) }\n",
         "`writes` of the data is node.author -> node.paper");
    says("model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n",
         "the data have several types of nodes, and no `g`");
    says("model M() (kind: edge.cites) -> edge.cites { return kind }\n",
         "the type ends in `of int`");
    says("model M() (size: node.venue, held: node.paper -> node.venue) -> node.venue {\n"
         "  return size + in_degree(held)\n}\n",
         "the data have nothing on `venue` for the input `size`");
    says("model M() (writes: A -> B) -> node.paper { return in_degree(writes) }\n",
         "`A` stands for rows in a layer; a model's are `node`, `node.NAME` or `graph`");
}
END_TEST

static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

int main(void)
{
    TCase *t = tcase_create("rows");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, named_rows);
    tcase_add_test(t, variables);
    tcase_add_test(t, bare_node);
    tcase_add_test(t, families);
    tcase_add_test(t, parameters_of_rows);
    tcase_add_test(t, family_of_one);
    tcase_add_test(t, how_many_values);
    tcase_add_test(t, rows_as_an_axis);
    tcase_add_test(t, weights_by_name);
    tcase_add_test(t, what_there_is);
    return RUN_CASES("frontend rows", t);
}
