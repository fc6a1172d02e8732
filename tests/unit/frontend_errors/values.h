/* Of names, and operators on values that do not go together.  Elements of an array: see
 * ../frontend_errors.h. */
/* clang-format off */
    {"unknown_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = rellu(x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: nothing is named `rellu` here; did you mean `relu`?\n"
         "    2 |   y = rellu(x)\n"
         "      |       ^~~~~"},
    {"unknown_short",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = q\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: nothing is named `q` here\n"
         "    2 |   y = q\n"
         "      |       ^"},
    {"name_of_python",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  for i in range(3) { x = x + 1 }\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: nothing is named `range` here; `0..n` are the numbers from 0 to n - 1\n"
         "    2 |   for i in range(3) { x = x + 1 }\n"
         "      |            ^~~~~"},
    {"value_of_python",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = Linear(3, bias = False)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:24: error: nothing is named `False` here; write `false`\n"
         "    2 |   l = Linear(3, bias = False)\n"
         "      |                        ^~~~~"},
    {"widths_of_torch",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = GCNConv(F, 16)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: `bias` is true or false, not 16; the width that comes in is its input's, "
     "and not given: `GCNConv(out)`\n"
         "    2 |   l = GCNConv(F, 16)\n"
         "      |                  ^~"},
    {"widths_of_torch_by_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = GATConv(F, 16)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: `GATConv` takes `heads` by its name, `heads = ...`; the width that comes "
     "in is its input's, and not given: `GATConv(out)`\n"
         "    2 |   l = GATConv(F, 16)\n"
         "      |                  ^~"},
    {"by_name_alone",
     "fn f(x, *, p = 2, q = 1) = x ^ p * q\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = f(x, q = 3, p = 2)\n"
         "  return f(x, 3)\n"
         "}\n",
     "m.gnn:4:15: error: `f` takes `p` by its name, `p = ...`\n"
         "    4 |   return f(x, 3)\n"
         "      |               ^"},
    {"hidden_function",
     "model M(concat = true) (g: graph, x: node[F]) -> node[F] {\n"
         "  y = concat(x, x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `concat` is true here, which cannot be called, and hides the function of "
     "that name\n"
         "    2 |   y = concat(x, x)\n"
         "      |       ^~~~~~"},
    {"dims_at_the_end",
     "layer L() (x: any[..., a, b]) -> any[..., b] {\n"
         "  return sum(x, axis = a)\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = L()\n"
         "  return l(x)\n"
         "}\n",
     "m.gnn:6:12: error: input `x` of `L` is `any[..., a, b]`, this is node[1433]\n"
         "    6 |   return l(x)\n"
         "      |            ^"},
    {"name_of_data_files",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return sum(u -> v in g: edge_weight * x[u])\n"
         "}\n",
     "m.gnn:2:27: error: nothing is named `edge_weight` here; weights of edges are `g.weight`\n"
         "    2 |   return sum(u -> v in g: edge_weight * x[u])\n"
         "      |                           ^~~~~~~~~~~"},
    {"name_of_no_data",
     "model M() (g: graph, x: node[F]) -> node[F] { return x }\n"
         "train M { loss = mean(M(g, x), edges) }\n",
     "m.gnn:2:32: error: nothing is named `edges` here; the data are `g`, `x`, `y`, `attr`, "
     "`train_mask`, `val_mask`, `test_mask`, and what an `input` declares\n"
         "    2 | train M { loss = mean(M(g, x), edges) }\n"
         "      |                                ^~~~~"},
    {"no_method",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x.relu()\n"
         "}\n",
     "m.gnn:2:12: error: node[1433] has no field `relu`; it is called as `relu(...)`\n"
         "    2 |   return x.relu()\n"
         "      |            ^~~~"},
    {"unknown_layer",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = GCNConvv(3)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: nothing is named `GCNConvv` here; did you mean `GCNConv`?\n"
         "    2 |   y = GCNConvv(3)\n"
         "      |       ^~~~~~~~"},
    {"no_field",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x.weight\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: node[1433] has no field `weight`\n"
         "    2 |   y = x.weight\n"
         "      |         ^~~~~~"},
    {"no_graph_field",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = g.wieght\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: a graph has no field `wieght`; did you mean `weight`?\n"
         "    2 |   y = g.wieght\n"
         "      |         ^~~~~~"},
    {"spaces_differ",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = edge(u -> v in g: x[u] + x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:30: error: `+` does not fit edge[1433] and node[1433]: in a message `x[u]` and "
     "`x[v]` take a node's value to the edge\n"
         "    2 |   y = edge(u -> v in g: x[u] + x)\n"
         "      |                              ^"},
    {"dims_differ",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = concat(x, x) + x\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:20: error: `+` does not fit node[2866] and node[1433]\n"
         "    2 |   y = concat(x, x) + x\n"
         "      |                    ^"},
    {"two_graphs",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  a = self_loops(g)\n"
         "  e = edge(u -> v in g: 1.0)\n"
         "  f = edge(u -> v in a: 2.0)\n"
         "  y = e + f\n"
         "  return x\n"
         "}\n",
     "m.gnn:5:9: error: `+` does not fit edge and edge: they are edges of two graphs; `carry` "
     "takes values to a derived graph\n"
         "    5 |   y = e + f\n"
         "      |         ^"},
    {"two_graphs_message",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  a = self_loops(g)\n"
         "  e = edge(u -> v in g: 1.0)\n"
         "  y = sum(u -> v in a: e)\n"
         "  return x\n"
         "}\n",
     "m.gnn:4:24: error: a value of the edges of another graph; `carry(value, g, fill)` takes it "
     "to a derived graph\n"
         "    4 |   y = sum(u -> v in a: e)\n"
         "      |                        ^"},
    {"elements_differ",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M {\n"
         "  loss = mean(M(x) * y)\n"
         "}\n",
     "m.gnn:3:20: error: `*` takes tensors of one element type, not node[1433] and node of i32; "
     "`float(x)` makes floats\n"
         "    3 |   loss = mean(M(x) * y)\n"
         "      |                    ^"},
    {"mask_arithmetic",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = (x > 0) + 1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:15: error: `+` does not take node[1433] of bool; `float(x)` makes floats\n"
         "    2 |   y = (x > 0) + 1\n"
         "      |               ^"},
    {"integers_and_floats",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = iota(3) * 0.5\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:15: error: `*` takes whole numbers with [3] of i32, not 0.5; `float(x)` makes "
     "floats\n"
         "    2 |   y = iota(3) * 0.5\n"
         "      |               ^"},
    {"integers_divided",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = iota(3) / 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:15: error: `/` divides floats, not [3] of i32; `float(x)` makes floats\n"
         "    2 |   y = iota(3) / 2\n"
         "      |               ^"},
    {"list_and_tensor",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x * [1, 2]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: `*` does not take a list of 2; `tensor(list)` makes a tensor of a list\n"
         "    2 |   y = x * [1, 2]\n"
         "      |         ^"},
    {"function_and_tensor",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x + relu\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: `+` does not take function `relu`\n"
         "    2 |   y = x + relu\n"
         "      |         ^"},
    {"matmul_dims",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4] = zeros\n"
         "  y = x @ w\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:9: error: `@` does not fit node[1433] and [3, 4]: the last dimension meets the "
     "first of what has no rows\n"
         "    3 |   y = x @ w\n"
         "      |         ^"},
    {"matmul_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x @ 3\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: `@` does not take node[1433] and 3\n"
         "    2 |   y = x @ 3\n"
         "      |         ^"},
    {"not_a_truth",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = not 3\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `not` takes true, false or a mask, not 3\n"
         "    2 |   y = not 3\n"
         "      |       ^~~"},
    {"and_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = true and 3\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: `and` takes true, false or masks, not 3\n"
         "    2 |   y = true and 3\n"
         "      |            ^~~"},
    {"if_tensor",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  if x > 0 { y = 1 }\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:6: error: `if` decides at compile time, and node[1433] of bool is known only at run "
     "time: use `a ? b : c`\n"
         "    2 |   if x > 0 { y = 1 }\n"
         "      |      ^~~~~"},
    {"if_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  if 3 { y = 1 }\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:6: error: the condition of `if` is true or false, not 3\n"
         "    2 |   if 3 { y = 1 }\n"
         "      |      ^"},
    {"condition_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 3 ? 1 : 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: the condition of `?` is true, false or a mask, not 3\n"
         "    2 |   y = 3 ? 1 : 2\n"
         "      |       ^"},
    {"for_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  for i in 3 { y = i }\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: `for` goes over a list or a range, not over 3 (`0..n` counts)\n"
         "    2 |   for i in 3 { y = i }\n"
         "      |            ^"},
    {"for_tensor",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = [i for i in x]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:19: error: `for` goes over a list or a range, not over node[1433]\n"
         "    2 |   y = [i for i in x]\n"
         "      |                   ^"},
    {"index_outside",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = [1, 2]\n"
         "  y = l[2]\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:9: error: index 2 is outside the list of 2\n"
         "    3 |   y = l[2]\n"
         "      |         ^"},
    {"index_float",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = [1, 2]\n"
         "  y = l[0.5]\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:9: error: a list is indexed by an integer, not by 0.5\n"
         "    3 |   y = l[0.5]\n"
         "      |         ^~~"},
    {"index_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 3[0]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: 3 cannot be indexed\n"
         "    2 |   y = 3[0]\n"
         "      |       ^"},
    {"index_tensor_outside",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x[9999]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: index 9999 is outside node[1433]\n"
         "    2 |   y = x[9999]\n"
         "      |         ^~~~"},
    {"index_tensor_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x[true]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: a tensor is indexed by an end of an edge or an integer, not by true\n"
         "    2 |   y = x[true]\n"
         "      |         ^~~~"},
    {"message_node",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v in g: x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:24: error: a message is a value of the edge, not node[1433]: write `x[u]` or `x[v]`\n"
         "    2 |   y = sum(u -> v in g: x)\n"
         "      |                        ^"},
    {"message_not_graph",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v in x: x[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: messages go over a graph, not over node[1433]\n"
         "    2 |   y = sum(u -> v in x: x[u])\n"
         "      |                     ^"},
    {"message_unknown",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = median(u -> v in g: x[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: messages go into `sum`, `mean`, `max`, `min`, `edge` or a function "
     "of values of edges, and `median` is none; did you mean `mean`?\n"
         "    2 |   y = median(u -> v in g: x[u])\n"
         "      |       ^~~~~~"},
    {"message_into_list",
     "model M() (g: graph, x: node[F]) -> node[F] { return [3](u -> v in g: x[u]) }\n",
     "m.gnn:1:54: error: messages go into `sum`, `mean`, `max`, `min`, `edge` or a function of "
     "values of edges, and a list of 1 is none\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[F] { return [3](u -> v in g: x[u]) }\n"
         "      |                                                      ^~~"},
    {"norm_width",
     "model M() (g: graph, x: node[F]) -> node[F] { return GraphNorm(16)(x) }\n",
     "stdlib/norm.gnn:12:10: error: `eps` is less than 1; the width that comes in is the input's, "
     "and not given; here `eps` is 16.0\n"
         "   12 |   assert eps >= 0 and eps < 1,\n"
         "      |          ^~~~~~~~~~~~~~~~~~~~\n"
         "stdlib/norm.gnn:60:60: note: in `small`, called here\n"
         "   60 |   return weight * z * at_rows(rsqrt(mean_of(z^2, member) + small(eps)), "
         "member) + b\n"
         "      |                                                            ^~~~~\n"
         "m.gnn:1:54: note: in `GraphNorm`, applied here\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[F] { return GraphNorm(16)(x) }\n"
         "      |                                                      ^~~~~~~~~~~~~"},
    {"message_more",
     "model M() (g: graph, x: node[F]) -> node[F] { return mean(u -> v in g: x[u], 3) }\n",
     "m.gnn:1:78: error: `mean` takes a message and nothing else\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[F] { return mean(u -> v in g: x[u], "
         "3) }\n"
         "      |                                                                              ^"},
    {"name_of_number",
     "model M() (g: graph, x: node[F]) -> node[3] {\n"
         "  l = Linear(3) as 1 + 2\n"
         "  return l(x)\n"
         "}\n",
     "m.gnn:2:20: error: a name in weight files is a string, not 3\n"
         "    2 |   l = Linear(3) as 1 + 2\n"
         "      |                    ^~~~~"},
    {"list_of_model",
     "model M() (g: graph, x: list) -> node[3] { return x[0] }\n",
     "m.gnn:1:25: error: an input of a model is a tensor or a graph, and no list\n"
         "    1 | model M() (g: graph, x: list) -> node[3] { return x[0] }\n"
         "      |                         ^~~~"},
    {"list_wanted",
     "layer L() (x: list) -> node[3] { return x[0] }\n"
         "model M() (g: graph, x: node[F]) -> node[3] { return L()(x) }\n",
     "m.gnn:2:58: error: input `x` of `L` is `list`, this is node[1433]\n"
         "    2 | model M() (g: graph, x: node[F]) -> node[3] { return L()(x) }\n"
         "      |                                                          ^"},
    {"message_mask",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v in g: x[u] > 0)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `sum` takes messages of floats, not edge[1433] of bool; `float(x)` makes "
     "floats\n"
         "    2 |   y = sum(u -> v in g: x[u] > 0)\n"
         "      |       ^~~"},
    {"message_list",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v in g: [1])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:24: error: a message is a tensor or a number, not a list of 1\n"
         "    2 |   y = sum(u -> v in g: [1])\n"
         "      |                        ^~~"},
    {"gather_edge",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  e = edge(u -> v in g: x[u])\n"
         "  y = sum(u -> v in g: e[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:26: error: edge[1433] has no value at a node: it is one of the edge, and used "
     "without an end\n"
         "    3 |   y = sum(u -> v in g: e[u])\n"
         "      |                          ^"},
    {"gather_none",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = zeros\n"
         "  y = sum(u -> v in g: w[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:26: error: [3] has no value at a node\n"
         "    3 |   y = sum(u -> v in g: w[u])\n"
         "      |                          ^"},
    {"range_float",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 0..2.5\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:8: error: a range goes from an integer to an integer, not from 0 to 2.5\n"
         "    2 |   y = 0..2.5\n"
         "      |        ^~"},
    {"overflow",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 9223372036854775807 + 1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:27: error: this does not fit an integer of 64 bits\n"
         "    2 |   y = 9223372036854775807 + 1\n"
         "      |                           ^"},
    {"division_by_zero",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1 // 0\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: division by zero\n"
         "    2 |   y = 1 // 0\n"
         "      |         ^~"},
    {"bad_operands",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = \"a\" + 1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:11: error: `+` does not take \"a\" and 1\n"
         "    2 |   y = \"a\" + 1\n"
         "      |           ^"},
    {"not_comparable",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = \"a\" == 1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:11: error: \"a\" and 1 cannot be compared\n"
         "    2 |   y = \"a\" == 1\n"
         "      |           ^~"},
