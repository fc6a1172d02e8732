/* What is written as elsewhere: Python, PyTorch, PyTorch Geometric; and graphs and ends of edges
 * taken for what they are not. Elements of an array: see ../frontend_errors.h. */
/* clang-format off */
    {"self_field",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  self.conv2 = GCNConv(16)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: expected `=` after the name, found `.`; a layer of the model has a name "
     "of its own: `conv = GCNConv(16)`, then `conv(g, x)`\n"
         "    3 |   self.conv2 = GCNConv(16)\n"
         "      |       ^"},
    {"import",
     "import torch\n",
     "m.gnn:1:1: error: expected `layer`, `model`, `fn` or `train`, found `import`; nothing is "
     "imported: layers and functions of the standard library are there\n"
         "    1 | import torch\n"
         "      | ^~~~~~"},
    {"from_import",
     "from torch_geometric.nn import GCNConv\n",
     "m.gnn:1:1: error: expected `layer`, `model`, `fn` or `train`, found `from`; nothing is "
     "imported: layers and functions of the standard library are there\n"
         "    1 | from torch_geometric.nn import GCNConv\n"
         "      | ^~~~"},
    {"python_class",
     "class GCN(torch.nn.Module):\n",
     "m.gnn:1:1: error: expected `layer`, `model`, `fn` or `train`, found `class`; a network is a "
     "`model NAME(hidden = 16) (g: graph, x: node[F]) -> node[C] { ... }`\n"
         "    1 | class GCN(torch.nn.Module):\n"
         "      | ^~~~~"},
    {"def",
     "def f(x):\n",
     "m.gnn:1:1: error: expected `layer`, `model`, `fn` or `train`, found `def`; a function is "
     "`fn NAME(x) { ... }`, a network a `model`\n"
         "    1 | def f(x):\n"
         "      | ^~~"},
    {"augmented",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  x += 1\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:5: error: expected `=` after the name, found `+`; write `x = x + ...`\n"
         "    3 |   x += 1\n"
         "      |     ^"},
    {"bare_call",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  conv(g, x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: expected `=` after the name, found `(`; what a call gives is named, `h = "
     "f(x)`, or returned, `return f(x)`\n"
         "    3 |   conv(g, x)\n"
         "      |       ^"},
    {"python_for",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  for i in 0..2:\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:16: error: expected `{` before the statements, found `:`; blocks stand in braces, "
     "`for i in 0..n { ... }`\n"
         "    3 |   for i in 0..2:\n"
         "      |                ^"},
    {"tuple",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  optimizer = adam(betas = (0.9, 0.999))\n"
         "}\n",
     "m.gnn:6:32: error: expected `)` to close the parenthesis, found `,`; `betas` are `beta1 = "
     "0.9, beta2 = 0.999` here\n"
         "    6 |   optimizer = adam(betas = (0.9, 0.999))\n"
         "      |                                ^"},
    {"tuple_of_others",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = (x, x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: expected `)` to close the parenthesis, found `,`; there are no tuples: a "
     "list is `[a, b]`\n"
         "    3 |   h = (x, x)\n"
         "      |         ^"},
    {"columns",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x[:, 0:3]\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: expected an expression, found `:`; a part is `slice(x, start, stop)`\n"
         "    3 |   h = x[:, 0:3]\n"
         "      |         ^"},
    {"mask_index",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x)[train_mask], y[train_mask])\n"
         "}\n",
     "m.gnn:6:32: error: a tensor is indexed by an end of an edge or an integer, not by node of "
     "bool: a loss takes its rows by `over`, as `loss = cross_entropy(M(g, x), y) over "
     "train_mask`\n"
         "    6 |   loss = cross_entropy(M(g, x)[train_mask], y[train_mask])\n"
         "      |                                ^~~~~~~~~~\n"
         "m.gnn:6:47: error: a tensor is indexed by an end of an edge or an integer, not by node "
         "of bool: a loss takes its rows by `over`, as `loss = cross_entropy(M(g, x), y) over "
         "train_mask`\n"
         "    6 |   loss = cross_entropy(M(g, x)[train_mask], y[train_mask])\n"
         "      |                                               ^~~~~~~~~~"},
    {"torch_loss",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = CrossEntropyLoss(M(g, x), y)\n"
         "}\n",
     "m.gnn:6:10: error: nothing is named `CrossEntropyLoss` here; the loss is "
     "`cross_entropy(M(g, x), y) over train_mask`\n"
         "    6 |   loss = CrossEntropyLoss(M(g, x), y)\n"
         "      |          ^~~~~~~~~~~~~~~~"},
    {"torch_optimizer",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = Adam(lr = 0.01)\n"
         "}\n",
     "m.gnn:7:15: error: the optimizer is `sgd`, `adam`, `adamw`, `adagrad`, `rmsprop`, "
     "`adamax` or `lion`; did you mean `adam`?\n"
         "    7 |   optimizer = Adam(lr = 0.01)\n"
         "      |               ^~~~"},
    {"learning_rate",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adam(learning_rate = 0.01)\n"
         "}\n",
     "m.gnn:7:20: error: `adam` takes no `learning_rate`; it is the optimizer's `lr`: `optimizer "
     "= adam(lr = 0.01)`\n"
         "    7 |   optimizer = adam(learning_rate = 0.01)\n"
         "      |                    ^~~~~~~~~~~~~"},
    {"lr_of_block",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  lr = 0.01\n"
         "}\n",
     "m.gnn:7:3: error: a train block has no `lr`; it is the optimizer's: `optimizer = adam(lr = "
     "0.01)`\n"
         "    7 |   lr = 0.01\n"
         "      |   ^~"},
    {"scheduler",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  scheduler = 1\n"
         "}\n",
     "m.gnn:7:3: error: a train block has no `scheduler`; did you mean `schedule`?\n"
         "    7 |   scheduler = 1\n"
         "      |   ^~~~~~~~~"},
    {"epoch",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  epoch = 200\n"
         "}\n",
     "m.gnn:7:3: error: a train block has no `epoch`; did you mean `epochs`?\n"
         "    7 |   epoch = 200\n"
         "      |   ^~~~~"},
    {"num_classes",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = Linear(num_classes)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:14: error: nothing is named `num_classes` here; the number of classes is `C`\n"
         "    3 |   h = Linear(num_classes)\n"
         "      |              ^~~~~~~~~~~"},
    {"edge_index_name",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = conv(x, edge_index)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:15: error: nothing is named `edge_index` here; the graph is `g`, an input `g: "
     "graph`\n"
         "    3 |   h = conv(x, edge_index)\n"
         "      |               ^~~~~~~~~~\n"
         "m.gnn:3:12: error: input `g` of `GCNConv` is `graph`, this is node[1433]\n"
         "    3 |   h = conv(x, edge_index)\n"
         "      |            ^"},
    {"functional",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = F.relu(x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: 1433 has no field `relu`; it is called as `relu(...)`\n"
         "    3 |   h = F.relu(x)\n"
         "      |         ^~~~"},
    {"torch_name",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = torch.relu(x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `torch` here; functions are called by themselves: "
     "`relu(x)`, `concat(a, b)`\n"
         "    3 |   h = torch.relu(x)\n"
         "      |       ^~~~~"},
    {"method",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x.relu()\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: node[1433] has no field `relu`; it is called as `relu(...)`\n"
         "    3 |   h = x.relu()\n"
         "      |         ^~~~"},
    {"method_view",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x.view(3)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: node[1433] has no field `view`; did you mean `reshape(x, ...)`?\n"
         "    3 |   h = x.view(3)\n"
         "      |         ^~~~"},
    {"method_T",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x.T\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: node[1433] has no field `T`; did you mean `transpose(x)`?\n"
         "    3 |   h = x.T\n"
         "      |         ^"},
    {"method_shape",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x.shape\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: node[1433] has no field `shape`; a width is `dim(x)`, the number of rows "
     "`rows(x)`\n"
         "    3 |   h = x.shape\n"
         "      |         ^~~~~"},
    {"module_list",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = ModuleList([conv])\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `ModuleList` here; a list of layers is `[GCNConv(hidden) "
     "for i in 0..layers]`\n"
         "    3 |   h = ModuleList([conv])\n"
         "      |       ^~~~~~~~~~"},
    {"batch_norm_1d",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  return GCNConv(C)(g, BatchNorm1d(track_running_stats = false)(x))\n"
         "}\n",
     "m.gnn:2:36: error: `BatchNorm1d` takes no `track_running_stats`; did you mean `track`?\n"
         "    2 |   return GCNConv(C)(g, BatchNorm1d(track_running_stats = false)(x))\n"
         "      |                                    ^~~~~~~~~~~~~~~~~~~"},
    {"layer_elsewhere",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = DimeNet(16)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `DimeNet` here\n"
         "    3 |   h = DimeNet(16)\n"
         "      |       ^~~~~~~"},
    {"lambda",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = lambda(x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `lambda` here; a function is `fn NAME(x) = ...`\n"
         "    3 |   h = lambda(x)\n"
         "      |       ^~~~~~"},
    {"cat",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = torch.cat([x, x])\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `torch` here; functions are called by themselves: "
     "`relu(x)`, `concat(a, b)`\n"
         "    3 |   h = torch.cat([x, x])\n"
         "      |       ^~~~~"},
    {"cat_name",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = cat(x, x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `cat` here; did you mean `concat(a, b)`?\n"
         "    3 |   h = cat(x, x)\n"
         "      |       ^~~"},
    {"where",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = where(x > 0, x, 0)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `where` here; it is `condition ? a : b`\n"
         "    3 |   h = where(x > 0, x, 0)\n"
         "      |       ^~~~~"},
    {"loops_name",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = GATConv(C, add_self_loops = true)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:18: error: `GATConv` takes no `add_self_loops`; did you mean `loops`?\n"
         "    3 |   h = GATConv(C, add_self_loops = true)\n"
         "      |                  ^~~~~~~~~~~~~~"},
    {"in_channels",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = GCNConv(in_channels = 16, out = 3)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:15: error: `GCNConv` takes no `in_channels`; the width that comes in is its "
     "input's, and not given; the number of features is `F`\n"
         "    3 |   h = GCNConv(in_channels = 16, out = 3)\n"
         "      |               ^~~~~~~~~~~"},
    {"true_of_python",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = Linear(3, bias = True)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:24: error: nothing is named `True` here; write `true`\n"
         "    3 |   h = Linear(3, bias = True)\n"
         "      |                        ^~~~"},
    {"mask_in_model",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x[train_mask]\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: nothing is named `train_mask` here; a model gives all nodes, and the loss "
     "takes its own: `loss = cross_entropy(M(g, x), y) over train_mask`\n"
         "    3 |   h = x[train_mask]\n"
         "      |         ^~~~~~~~~~"},
    {"choice_of_python",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = x if hidden > 3 else x\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:9: error: expected the end of the line, found `if`, a word of the language; a "
     "choice between values is `condition ? a : b`\n"
         "    3 |   h = x if hidden > 3 else x\n"
         "      |         ^~"},
    {"global_pool",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = global_mean_pool(x)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:7: error: nothing is named `global_mean_pool` here; "
     "`mean(v -> m in member: x[v])` is of each graph's nodes, `mean(x)` of all nodes\n"
         "    3 |   h = global_mean_pool(x)\n"
         "      |       ^~~~~~~~~~~~~~~~"},
    {"second_graph",
     "model M() (g: graph, h: graph, x: node[F]) -> node[F] {\n"
         "  return sum(u -> v in h: x[u])\n"
         "}\n",
     "m.gnn:1:22: error: the data have one graph, `g`, and nothing for the input `h`: take the "
     "graph once, as `g: graph`, and derive others from it\n"
         "    1 | model M() (g: graph, h: graph, x: node[F]) -> node[F] {\n"
         "      |                      ^"},
    {"two_graphs_none_g",
     "model M() (a: graph, b: graph, x: node[F]) -> node[F] {\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:12: error: the data have one graph, `g`, and nothing for the input `a`: take the "
     "graph once, as `g: graph`, and derive others from it\n"
         "    1 | model M() (a: graph, b: graph, x: node[F]) -> node[F] {\n"
         "      |            ^\n"
         "m.gnn:1:22: error: the data have one graph, `g`, and nothing for the input `b`: take "
         "the graph once, as `g: graph`, and derive others from it\n"
         "    1 | model M() (a: graph, b: graph, x: node[F]) -> node[F] {\n"
         "      |                      ^"},
    {"ends_ordered",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = sum(u -> v in g: u < v ? 1 : 0)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:26: error: `<` does not take an end of an edge and an end of an edge\n"
         "    3 |   h = sum(u -> v in g: u < v ? 1 : 0)\n"
         "      |                          ^"},
    {"end_and_number",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = sum(u -> v in g: u == 2 ? 1 : 0)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:26: error: an end of an edge and 2 cannot be compared\n"
         "    3 |   h = sum(u -> v in g: u == 2 ? 1 : 0)\n"
         "      |                          ^~"},
    {"end_alone",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = sum(u -> v in g: u)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:24: error: a message is a tensor or a number, not an end of an edge\n"
         "    3 |   h = sum(u -> v in g: u)\n"
         "      |                        ^"},
    {"end_in_sum",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = sum(u -> v in g: u + 1)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:26: error: `+` does not take an end of an edge and 1\n"
         "    3 |   h = sum(u -> v in g: u + 1)\n"
         "      |                          ^"},
    {"end_of_outer",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = sum(u -> v in g: sum(a -> b in g: x[u])[v])\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:43: error: the end of another message's edge: `edge(...)` takes a value of those "
     "edges, before this message\n"
         "    3 |   h = sum(u -> v in g: sum(a -> b in g: x[u])[v])\n"
         "      |                                           ^"},
    {"no_edge_features",
     "model M(hidden = 16) (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  h = sum(u -> v in g: x[u] * g.attr)\n"
         "  return conv(g, x)\n"
         "}\n",
     "m.gnn:3:29: error: `*` does not take none: the data has no edge features\n"
         "    3 |   h = sum(u -> v in g: x[u] * g.attr)\n"
         "      |                             ^"},
