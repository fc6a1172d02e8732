/* Of calls, arguments, what layers and models take and give.  Elements of an array: see
 * ../frontend_errors.h. */
/* clang-format off */
    {"call_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 3(x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: 3 cannot be called\n"
         "    2 |   y = 3(x)\n"
         "      |       ^"},
    {"too_many",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = relu(x, x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:15: error: too many arguments: `relu` takes 1 here\n"
         "    2 |   y = relu(x, x)\n"
         "      |               ^"},
    {"too_many_builtin",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = exp(x, x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:14: error: too many arguments: `exp` takes 1\n"
         "    2 |   y = exp(x, x)\n"
         "      |              ^"},
    {"no_such_argument",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = leaky_relu(x, slop = 0.1)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: `leaky_relu` takes no `slop`; did you mean `slope`?\n"
         "    2 |   y = leaky_relu(x, slop = 0.1)\n"
         "      |                     ^~~~"},
    {"no_such_argument_builtin",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(x, axes = 0)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:14: error: `sum` takes no `axes`; did you mean `axis`?\n"
         "    2 |   y = sum(x, axes = 0)\n"
         "      |              ^~~~"},
    {"no_such_argument_at_all",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = softmax(x, dim = 1)\n"
         "  return exp(x, over = node)\n"
         "}\n",
     "m.gnn:2:18: error: `softmax` takes no `dim`; did you mean `axis`?\n"
         "    2 |   y = softmax(x, dim = 1)\n"
         "      |                  ^~~\n"
         "m.gnn:3:17: error: `exp` takes no `over`; it takes `x`\n"
         "    3 |   return exp(x, over = node)\n"
         "      |                 ^~~~"},
    {"given_twice",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = leaky_relu(x, x = x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:25: error: `x` is given twice\n"
         "    2 |   y = leaky_relu(x, x = x)\n"
         "      |                         ^"},
    {"argument_missing",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = clamp(x, 1)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `clamp` needs `high`\n"
         "    2 |   y = clamp(x, 1)\n"
         "      |       ^~~~~"},
    {"argument_missing_builtin",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = reshape(x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `reshape` needs `dims`\n"
         "    2 |   y = reshape(x)\n"
         "      |       ^~~~~~~"},
    {"hyper_kind",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = Linear(\"a\")\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:14: error: `out` is a dimension, an integer of at least 1, not \"a\"\n"
         "    2 |   y = Linear(\"a\")\n"
         "      |              ^~~"},
    {"hyper_dim",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = Linear(0)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:14: error: `out` is a dimension, an integer of at least 1, not 0\n"
         "    2 |   y = Linear(0)\n"
         "      |              ^"},
    {"hyper_missing",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = Linear()\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `Linear` needs `out`\n"
         "    2 |   y = Linear()\n"
         "      |       ^~~~~~"},
    {"input_missing",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = Linear(3)\n"
         "  y = l()\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:7: error: `Linear` needs its input `x`\n"
         "    3 |   y = l()\n"
         "      |       ^"},
    {"input_space",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = GCNConv(3)\n"
         "  e = edge(u -> v in g: x[u])\n"
         "  y = l(g, e)\n"
         "  return x\n"
         "}\n",
     "m.gnn:4:12: error: input `x` of `GCNConv` is `node[in]`, this is edge[1433]; `sum(u -> v in "
     "g: ...)` takes edges to nodes\n"
         "    4 |   y = l(g, e)\n"
         "      |            ^"},
    {"space_of_nothing",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x + mean(x, over = space(tensor([1.0])))\n"
         "}\n",
     "m.gnn:2:35: error: `space` takes values of nodes or edges, not [1]\n"
         "    2 |   return x + mean(x, over = space(tensor([1.0])))\n"
         "      |                                   ^~~~~~~~~~~~~"},
    /* no message makes edges of what has no rows, nor another number of dimensions */
    {"input_no_space",
     "layer L() (e: edge[a]) -> edge[a] { return e }\n"
         "layer N() (x: node[a]) -> node[a] { return x }\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  a = L()(tensor([1.0]))\n"
         "  b = L()(x)\n"
         "  c = N()(edge(u -> v in g: reshape(x[u], [1, F])))\n"
         "  return x\n"
         "}\n",
     "m.gnn:4:11: error: input `e` of `L` is `edge[a]`, this is [1]\n"
         "    4 |   a = L()(tensor([1.0]))\n"
         "      |           ^~~~~~~~~~~~~\n"
         "m.gnn:5:11: error: input `e` of `L` is `edge[a]`, this is node[1433]; `edge(u -> v in "
         "g: x[u])` takes nodes to edges\n"
         "    5 |   b = L()(x)\n"
         "      |           ^\n"
         "m.gnn:6:11: error: input `x` of `N` is `node[a]`, this is edge[1, 1433]\n"
         "    6 |   c = N()(edge(u -> v in g: reshape(x[u], [1, F])))\n"
         "      |           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"},
    {"input_graph",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = GCNConv(3)\n"
         "  y = l(x, g)\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:9: error: input `g` of `GCNConv` is `graph`, this is node[1433]\n"
         "    3 |   y = l(x, g)\n"
         "      |         ^\n"
         "m.gnn:3:12: error: input `x` of `GCNConv` is `node[in]`, this is a graph\n"
         "    3 |   y = l(x, g)\n"
         "      |            ^"},
    {"dims_bound",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = Linear(3)\n"
         "  y = l(x)\n"
         "  z = l(y)\n"
         "  return x\n"
         "}\n",
     "m.gnn:4:9: error: input `x` of `Linear` is `any[..., in]` (in = 1433), this is node[3]\n"
         "    4 |   z = l(y)\n"
         "      |         ^"},
    {"result_differs",
     "layer L() (x: node[in]) -> node[in] {\n"
         "  return concat(x, x)\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = L()\n"
         "  y = l(x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:28: error: the result of `L` is `node[in]` (in = 1433), this is node[2866]\n"
         "    1 | layer L() (x: node[in]) -> node[in] {\n"
         "      |                            ^~~~~~~~\n"
         "m.gnn:6:7: note: in `L`, applied here\n"
         "    6 |   y = l(x)\n"
         "      |       ^"},
    {"no_return",
     "fn f(x) {\n"
         "  y = x\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = f(x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:4: error: `f` ends without `return`\n"
         "    1 | fn f(x) {\n"
         "      |    ^\n"
         "m.gnn:5:7: note: in `f`, called here\n"
         "    5 |   y = f(x)\n"
         "      |       ^"},
    {"recursion",
     "fn f(x) = f(x)\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = f(1)\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:11: error: `f` is nested more than 100 levels deep: does it use itself?\n"
         "    1 | fn f(x) = f(x)\n"
         "      |           ^\n"
         "m.gnn:1:11: note: in `f`, called here\n"
         "    1 | fn f(x) = f(x)\n"
         "      |           ^\n"
         "m.gnn:3:7: note: in `f`, called here\n"
         "    3 |   y = f(1)\n"
         "      |       ^"},
    {"layer_recursion",
     "layer L() (x: node[in]) -> node[in] {\n"
         "  l = L()\n"
         "  return l(x)\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = L()\n"
         "  y = l(x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `L` is nested more than 100 levels deep: does it use itself?\n"
         "    2 |   l = L()\n"
         "      |       ^\n"
         "m.gnn:3:10: note: in `L`, applied here\n"
         "    3 |   return l(x)\n"
         "      |          ^\n"
         "m.gnn:7:7: note: in `L`, applied here\n"
         "    7 |   y = l(x)\n"
         "      |       ^"},
    {"two_instances",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = Linear(3)\n"
         "  l = Linear(4)\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:3: error: `l` already names a layer with weights: give this one another name; "
     "several of a kind are a list, `[... for i in 0..n]`\n"
         "    3 |   l = Linear(4)\n"
         "      |   ^"},
    {"too_long",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  for i in 0..1000000 { y = i }\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: the model is too long to unroll: more than 1000000 steps at compile time\n"
         "    2 |   for i in 0..1000000 { y = i }\n"
         "      |            ^~~~~~~~~~"},
    {"range_too_long",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 0..100000000\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: this range is too long: at most 1000000 numbers\n"
         "    2 |   y = 0..100000000\n"
         "      |       ^~~~~~~~~~~~"},
    {"assertion",
     "layer L(aggr = \"sum\") (x: node[in]) -> node[in] {\n"
         "  assert aggr == \"sum\" or aggr == \"max\", \"`aggr` is \\\"sum\\\" or \\\"max\\\"\"\n"
         "  return x\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  c = L(aggr = \"median\")\n"
         "  return c(x)\n"
         "}\n",
     "m.gnn:2:10: error: `aggr` is \"sum\" or \"max\"; here `aggr` is \"median\"\n"
         "    2 |   assert aggr == \"sum\" or aggr == \"max\", \"`aggr` is \\\"sum\\\" or "
         "\\\"max\\\"\"\n"
         "      |          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
         "m.gnn:7:10: note: in `L`, applied here\n"
         "    7 |   return c(x)\n"
         "      |          ^"},
    /* of what decided alone; what is written as it is has no need of its value */
    {"assertion_sides",
     "model M(n = 2 + 1, w = none) (g: graph, x: node[F]) -> node[F] {\n"
         "  assert n * 2 == dim(x) - 1, \"no\"\n"
         "  assert F > -1 and not (n != 4 and n < 2e9), \"no\"\n"
         "  assert w != none or n == 4 or [n, F] == [3], \"no\"\n"
         "  assert g.weighted, 5\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:10: error: no; here `n * 2` is 6, `dim(x) - 1` is 1432\n"
         "    2 |   assert n * 2 == dim(x) - 1, \"no\"\n"
         "      |          ^~~~~~~~~~~~~~~~~~~\n"
         "m.gnn:3:10: error: no; here `n` is 3\n"
         "    3 |   assert F > -1 and not (n != 4 and n < 2e9), \"no\"\n"
         "      |          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
         "m.gnn:4:10: error: no; here `w` is none, `n` is 3, `[n, F]` is [3, 1433]\n"
         "    4 |   assert w != none or n == 4 or [n, F] == [3], \"no\"\n"
         "      |          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
         "m.gnn:5:10: error: 5\n"
         "    5 |   assert g.weighted, 5\n"
         "      |          ^~~~~~~~~~"},
