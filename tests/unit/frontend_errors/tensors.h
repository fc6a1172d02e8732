/* Of parameters and buffers, and what operators on tensors take.  Elements of an array: see
 * ../frontend_errors.h. */
/* clang-format off */
    {"param_in_function",
     "fn f(x) {\n"
         "  param w: [dim(x)] = zeros\n"
         "  return x + w\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return f(f(x))\n"
         "}\n",
     "m.gnn:2:9: error: `w` is declared already: a function that declares parameters is "
     "called once in a layer\n"
         "    2 |   param w: [dim(x)] = zeros\n"
         "      |         ^\n"
         "m.gnn:6:10: note: in `f`, called here\n"
         "    6 |   return f(f(x))\n"
         "      |          ^"},
    {"param_space",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: node[3] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: how many rows `node` has is not known before data are bound\n"
         "    2 |   param w: node[3] = zeros\n"
         "      |            ^~~~"},
    {"param_of_edges",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: edge[3] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: these are no rows of nodes or graphs\n"
         "    2 |   param w: edge[3] = zeros\n"
         "      |            ^~~~"},
    {"param_dim_float",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3 / 2] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:13: error: a dimension is an integer, not 1.5 (`//` divides whole numbers)\n"
         "    2 |   param w: [3 / 2] = zeros\n"
         "      |             ^~~~~"},
    {"param_dim_zero",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [0] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:13: error: a dimension is between 1 and 2^31, not 0\n"
         "    2 |   param w: [0] = zeros\n"
         "      |             ^"},
    {"param_too_large",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [2000000, 2000000] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: too many elements: more than 2^40\n"
         "    2 |   param w: [2000000, 2000000] = zeros\n"
         "      |            ^~~~~~~~~~~~~~~~~~"},
    {"param_init",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = \"zeros\"\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: a parameter begins with a number, a list of numbers or an initialiser "
     "such as `glorot_uniform`, not with \"zeros\"\n"
         "    2 |   param w: [3] = \"zeros\"\n"
         "      |                  ^~~~~~~"},
    {"param_list_length",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = [1, 2]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: the list has 2 where the parameter has 3\n"
         "    2 |   param w: [3] = [1, 2]\n"
         "      |                  ^~~~~~"},
    {"param_list_depth",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [2, 2] = [1, 2]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: the list has 1 where the parameter has 2\n"
         "    2 |   param w: [2, 2] = [1, 2]\n"
         "      |                     ^~~~~~"},
    {"param_list_too_deep",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [2] = [[1, 2], [3, 4]]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: a parameter begins with numbers, and the list has a list of 2\n"
         "    2 |   param w: [2] = [[1, 2], [3, 4]]\n"
         "      |                  ^~~~~~~~~~~~~~~~"},
    {"param_list_words",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [1] = [\"a\"]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: a parameter begins with numbers, and the list has \"a\"\n"
         "    2 |   param w: [1] = [\"a\"]\n"
         "      |                  ^~~~~"},
    {"param_eye",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = eye\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: `eye` makes a matrix, and this has 1 dimension in files\n"
         "    2 |   param w: [3] = eye\n"
         "      |                  ^~~"},
    {"param_sparse",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4, 5] = sparse(0.5)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:24: error: `sparse` makes a matrix, and this has 3 dimensions in files\n"
         "    2 |   param w: [3, 4, 5] = sparse(0.5)\n"
         "      |                        ^~~~~~"},
    {"param_sparse_part",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4] = sparse(1.5)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: `sparse` takes the part of each column that is 0, of at most 1\n"
         "    2 |   param w: [3, 4] = sparse(1.5)\n"
         "      |                     ^~~~~~"},
    {"param_orthogonal",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = orthogonal\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: `orthogonal` makes rows or columns, and this has 1 dimension in files\n"
         "    2 |   param w: [3] = orthogonal\n"
         "      |                  ^~~~~~~~~~"},
    {"param_trunc_normal",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = trunc_normal(low = 2, high = 1)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: `trunc_normal` goes from a lower to a higher bound\n"
         "    2 |   param w: [3] = trunc_normal(low = 2, high = 1)\n"
         "      |                  ^~~~~~~~~~~~"},
    {"param_kaiming_mode",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4] = kaiming_normal(mode = \"fan\")\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:43: error: `mode` is \"fan_in\" or \"fan_out\", not \"fan\"\n"
         "    2 |   param w: [3, 4] = kaiming_normal(mode = \"fan\")\n"
         "      |                                           ^~~~~"},
    {"param_kaiming_function",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4] = kaiming_normal(nonlinearity = \"gelu\")\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:51: error: `nonlinearity` is \"relu\", \"leaky_relu\", \"tanh\", \"sigmoid\", "
     "\"selu\" or \"linear\", not \"gelu\"\n"
         "    2 |   param w: [3, 4] = kaiming_normal(nonlinearity = \"gelu\")\n"
         "      |                                                   ^~~~~~"},
    {"param_gain_of",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4] = glorot_normal(gain = gain_of(2))\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:50: error: `nonlinearity` is \"relu\", \"leaky_relu\", \"tanh\", \"sigmoid\", "
     "\"selu\" or \"linear\", not 2\n"
         "    2 |   param w: [3, 4] = glorot_normal(gain = gain_of(2))\n"
         "      |                                                  ^"},
    {"param_init_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = glorot\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: nothing is named `glorot` here; did you mean `glorot_uniform`?\n"
         "    2 |   param w: [3] = glorot\n"
         "      |                  ^~~~~~"},
    {"param_twice",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = zeros\n"
         "  param w: [3] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:9: error: `w` is declared already\n"
         "    3 |   param w: [3] = zeros\n"
         "      |         ^"},
    {"param_transposed",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = zeros transposed\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: only a parameter of two dimensions or more can be transposed\n"
         "    2 |   param w: [3] = zeros transposed\n"
         "      |            ^~~"},
    {"param_shape",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3] = zeros shape [4]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:31: error: the shape in files has not as many elements as the parameter\n"
         "    2 |   param w: [3] = zeros shape [4]\n"
         "      |                               ^"},
    {"param_file_twice",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param a: [3] = zeros as \"w\"\n"
         "  param b: [3] = zeros as \"w\"\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:9: error: `a` and `b` have the same name in weight files, `w`\n"
         "    3 |   param b: [3] = zeros as \"w\"\n"
         "      |         ^"},
    {"update_no_buffer",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1\n"
         "  update y = 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:10: error: `update` sets a buffer of this layer, and `y` is none\n"
         "    3 |   update y = 2\n"
         "      |          ^"},
    {"update_shape",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  buffer b: [3] = zeros\n"
         "  update b = x\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:14: error: buffer `b` is [3], this is node[1433]\n"
         "    3 |   update b = x\n"
         "      |              ^"},
    {"axis_outside",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(x, axis = 1)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: node[1433] has no axis 1\n"
         "    2 |   y = sum(x, axis = 1)\n"
         "      |                     ^"},
    {"axis_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(x, axis = heads)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: node[1433] has no axis named `heads`\n"
         "    2 |   y = sum(x, axis = heads)\n"
         "      |                     ^~~~~"},
    {"over_what",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(x, over = dst)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: `sum` goes over `node` or `edge`, not over dst\n"
         "    2 |   y = sum(x, over = dst)\n"
         "      |                     ^~~"},
    {"over_edges",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(x, over = edge)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:11: error: `sum` over `edge` does not take node[1433]\n"
         "    2 |   y = sum(x, over = edge)\n"
         "      |           ^"},
    {"dropout_range",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = dropout(x, 1.5)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: a probability is between 0 and 1, not 1.5\n"
         "    2 |   y = dropout(x, 1.5)\n"
         "      |                  ^~~"},
    {"concat_spaces",
     "model M() (g: graph, x: node[F]) -> node[...] { return concat(x, edge(u -> v in g: x[u])) "
     "}\n",
     "m.gnn:1:56: error: `concat` along axis 0 does not fit node[1433] and edge[1433]: in a "
     "message `x[u]` and `x[v]` take a node's value to the edge\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[...] { return concat(x, edge(u -> v in "
         "g: x[u])) }\n"
         "      |                                                        ^~~~~~"},
    {"concat_many",
     "model M() (g: graph, x: node[F]) -> node[...] { return concat(x, x, x, x, x, x, x, x) }\n",
     "m.gnn:1:84: error: too many arguments: `concat` takes 7, or a list of any length: `[a, b]`\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[...] { return concat(x, x, x, x, x, x, "
         "x, x) }\n"
         "      |                                                                                 "
         "   ^"},
    {"concat_dims",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3, 4] = zeros\n"
         "  y = concat(x, w)\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:7: error: `concat` along axis 0 does not fit node[1433] and [3, 4]\n"
         "    3 |   y = concat(x, w)\n"
         "      |       ^~~~~~"},
    {"reshape_count",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = reshape(x, [7, 7])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: node[1433] has 1433 elements a row, not 49\n"
         "    2 |   y = reshape(x, [7, 7])\n"
         "      |       ^~~~~~~"},
    {"slice_outside",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = slice(x, 0, 9999)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: elements 0 to 9999 are no part of an axis of 1433\n"
         "    2 |   y = slice(x, 0, 9999)\n"
         "      |       ^~~~~"},
    {"carry_other",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  e = edge(u -> v in self_loops(g): 1)\n"
         "  y = carry(e, g)\n"
         "  return x\n"
         "}\n",
     "m.gnn:3:7: error: the graph was not derived from the one that has these edges\n"
         "    3 |   y = carry(e, g)\n"
         "      |       ^~~~~"},
    {"attr_derived",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = self_loops(g).attr\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:21: error: a derived graph has no attributes: `carry(g.attr, derived, fill)` takes "
     "them there\n"
         "    2 |   y = self_loops(g).attr\n"
         "      |                     ^~~~"},
    {"softmax_over",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  e = edge(u -> v in g: 1)\n"
         "  y = softmax(e, over = node)\n"
         "  return x\n"
         "}\n",
     "stdlib/functions.gnn:33:10: error: `softmax` goes along an axis, or over `dst` or `src`: the "
     "edges into or out of a node; here `over` is node\n"
         "   33 |   assert over == dst or over == src,\n"
         "      |          ^~~~~~~~~~~~~~~~~~~~~~~~~~\n"
         "m.gnn:3:7: note: in `softmax`, called here\n"
         "    3 |   y = softmax(e, over = node)\n"
         "      |       ^~~~~~~"},
    {"no_edge_features",
     "model M() (g: graph, x: node[F], e: edge[D]) -> node[F] { return x }\n",
     "m.gnn:1:34: error: the data has no edge features for the input `e`\n"
         "    1 | model M() (g: graph, x: node[F], e: edge[D]) -> node[F] { return x }\n"
         "      |                                  ^"},
    {"model_gives_list",
     "model M() (x: node[F]) { return [] }\n",
     "m.gnn:1:7: error: a model gives a tensor or a list of tensors, not a list of 0\n"
         "    1 | model M() (x: node[F]) { return [] }\n"
         "      |       ^"},
    {"model_gives_lists",
     "model M() (x: node[F]) { return [x], x }\n",
     "m.gnn:1:7: error: a model gives a tensor or a list of tensors, not a list of 2 with "
     "something else in it\n"
         "    1 | model M() (x: node[F]) { return [x], x }\n"
         "      |       ^"},
    {"fewer_results",
     "model M() (x: node[F]) -> (node[F], node[F]) { return x }\n",
     "m.gnn:1:27: error: `M` declares 2 results, and returns node[1433]\n"
         "    1 | model M() (x: node[F]) -> (node[F], node[F]) { return x }\n"
         "      |                           ^~~~~~~~~~~~~~~~~~"},
    {"more_results",
     "model M() (x: node[F]) -> (node[F], node[F]) { return x, x, x }\n",
     "m.gnn:1:27: error: `M` declares 2 results, and returns a list of 3\n"
         "    1 | model M() (x: node[F]) -> (node[F], node[F]) { return x, x, x }\n"
         "      |                           ^~~~~~~~~~~~~~~~~~"},
    {"another_result",
     "model M() (x: node[F]) -> (node[F], node[C]) { return x, x }\n",
     "m.gnn:1:37: error: the result [1] of `M` is `node[C]` (C = 7), this is node[1433]\n"
         "    1 | model M() (x: node[F]) -> (node[F], node[C]) { return x, x }\n"
         "      |                                     ^~~~~~~"},
    {"one_result_of_two",
     "model M() (x: node[F]) -> node[F] { return x, x }\n",
     "m.gnn:1:27: error: the result of `M` is `node[F]` (F = 1433), this is a list of 2\n"
         "    1 | model M() (x: node[F]) -> node[F] { return x, x }\n"
         "      |                           ^~~~~~~"},
    {"names_for_one",
     "model M() (x: node[F]) { a, b = x; return a }\n",
     "m.gnn:1:33: error: 2 names take a list of 2 apart, and this is node[1433]\n"
         "    1 | model M() (x: node[F]) { a, b = x; return a }\n"
         "      |                                 ^"},
    {"names_for_three",
     "model M() (x: node[F]) { a, b = [x, x, x]; return a }\n",
     "m.gnn:1:33: error: 2 names for a list of 3\n"
         "    1 | model M() (x: node[F]) { a, b = [x, x, x]; return a }\n"
         "      |                                 ^~~~~~~~~"},
    {"nearest_of_edges",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return sum(x[nearest(edge(u -> v in g: x[u]), 3)], axis = -2)\n"
         "}\n",
     "m.gnn:2:24: error: `nearest` takes floats of nodes, not edge[1433]\n"
         "    2 |   return sum(x[nearest(edge(u -> v in g: x[u]), 3)], axis = -2)\n"
         "      |                        ^~~~~~~~~~~~~~~~~~~~~~~"},
    {"nearest_many",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return sum(x[nearest(x, 65)], axis = -2)\n"
         "}\n",
     "m.gnn:2:27: error: `nearest` finds 1 to 64 rows, not 65\n"
         "    2 |   return sum(x[nearest(x, 65)], axis = -2)\n"
         "      |                           ^~"},
    {"nearest_group",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return sum(x[nearest(x, 3, x)], axis = -2)\n"
         "}\n",
     "m.gnn:2:30: error: `nearest` takes groups as one integer a row, not node[1433]\n"
         "    2 |   return sum(x[nearest(x, 3, x)], axis = -2)\n"
         "      |                              ^"},
    {"ranked_mask",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x * float(ranked(x > 0))\n"
         "}\n",
     "m.gnn:2:27: error: `ranked` takes numbers of nodes or edges, not node[1433] of "
         "bool\n"
         "    2 |   return x * float(ranked(x > 0))\n"
         "      |                           ^~~~~"},
    {"ranked_over",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x * float(ranked(x, over = dst))\n"
         "}\n",
     "m.gnn:2:27: error: `ranked` over `dst` takes a value of edges, not node[1433]\n"
         "    2 |   return x * float(ranked(x, over = dst))\n"
         "      |                           ^"},
    {"ranked_edges",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return sum(u -> v in g: x[u] * float(ranked(edge(u -> v in g: x[u]))))\n"
         "}\n",
     "m.gnn:2:47: error: `ranked` without `over = dst` takes a value of nodes, not "
         "edge[1433]\n"
         "    2 |   return sum(u -> v in g: x[u] * float(ranked(edge(u -> v in g: x[u]))))\n"
         "      |                                               ^~~~~~~~~~~~~~~~~~~~~~~"},
    {"ranked_src",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x * float(ranked(x, over = src))\n"
         "}\n",
     "m.gnn:2:37: error: `ranked` goes over all nodes, or with `over = dst` over the "
         "edges into each; for those out of it, over the edges of `reverse(g)`, to which "
         "`carry` brings values\n"
         "    2 |   return x * float(ranked(x, over = src))\n"
         "      |                                     ^~~"},
    {"distinct_edges",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  e = edge(u -> v in g: distinct(g.weight))\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:34: error: `distinct` compares nodes, not edge\n"
         "    2 |   e = edge(u -> v in g: distinct(g.weight))\n"
         "      |                                  ^~~~~~~~"},
    {"distinct_messages",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x * unsqueeze(float(distinct(x, edge(u -> v in g: x[u]))), -1)\n"
         "}\n",
     "m.gnn:2:42: error: `distinct` takes one number for each edge into the nodes that it "
         "compares, as `edge(u -> v in g: kind[u])`, not edge[1433]\n"
         "    2 |   return x * unsqueeze(float(distinct(x, edge(u -> v in g: x[u]))), -1)\n"
         "      |                                          ^~~~~~~~~~~~~~~~~~~~~~~"},
