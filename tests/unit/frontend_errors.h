/* Every diagnostic of the front end: a text, and all that is said about it. Data for test_frontend_errors.c. */
#ifndef GN_TESTS_UNIT_FRONTEND_ERRORS_H
#define GN_TESTS_UNIT_FRONTEND_ERRORS_H

struct error_case {
    const char *name, *text, *message;
};

/* clang-format off */
static const struct error_case syntax[] = {
    {"no_declaration",
     "x = 1\n",
     "m.gnn:1:1: error: expected `layer`, `model`, `fn` or `train`, found `x`\n"
         "    1 | x = 1\n"
         "      | ^"},
    {"bad_character",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1 $ 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: unexpected character `$`\n"
         "    2 |   y = 1 $ 2\n"
         "      |         ^"},
    {"single_quotes",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 'mean\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: unexpected character `'`; strings are in double quotes\n"
         "    2 |   y = 'mean\n"
         "      |       ^"},
    {"comment_of_c",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  // that is x\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:3: error: expected a statement (comments begin with `#`), found `//`\n"
         "    2 |   // that is x\n"
         "      |   ^~"},
    {"inputs_for_hyperparameters",
     "model M(g: graph, x: node[F]) -> node[F] {\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:12: error: this is the type of an input, and hyperparameters come first, if only `()`: `(hidden = 16) (g: graph, x: node[F])`\n"
         "    1 | model M(g: graph, x: node[F]) -> node[F] {\n"
         "      |            ^~~~~"},
    {"control_character",
     "\001\n",
     "m.gnn:1:1: error: unexpected character \\x01\n"
         "    1 | ?\n"
         "      | ^"},
    {"not_a_number",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 12ab\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `12ab` is neither a number nor a name\n"
         "    2 |   y = 12ab\n"
         "      |       ^~~~"},
    {"integer_too_large",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 9223372036854775808\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: integer too large: at most 9223372036854775807 (write it with a point for a float)\n"
         "    2 |   y = 9223372036854775808\n"
         "      |       ^~~~~~~~~~~~~~~~~~~"},
    {"string_open",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = \"abc\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: string without its closing `\"`\n"
         "    2 |   y = \"abc\n"
         "      |       ^~~~"},
    {"string_escape",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = \"a\\n\"\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: expected `\\\"` or `\\\\` after a backslash\n"
         "    2 |   y = \"a\\n\"\n"
         "      |         ^~"},
    {"no_value",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y =\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:6: error: expected an expression\n"
         "    2 |   y =\n"
         "      |      ^"},
    {"value_after_operator",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1 +\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:10: error: expected an expression\n"
         "    2 |   y = 1 +\n"
         "      |          ^"},
    {"two_values",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: expected the end of the line, found `2`\n"
         "    2 |   y = 1 2\n"
         "      |         ^"},
    {"not_a_statement",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  3 = y\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:3: error: expected a statement, found `3`\n"
         "    2 |   3 = y\n"
         "      |   ^"},
    {"word_as_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = layer\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: expected an expression, found `layer`, a word of the language\n"
         "    2 |   y = layer\n"
         "      |       ^~~~~"},
    {"word_as_variable",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  model = 3\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:3: error: expected a statement, found `model`, a word of the language\n"
         "    2 |   model = 3\n"
         "      |   ^~~~~"},
    {"no_equals",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y 3\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:5: error: expected `=` after the name, found `3`\n"
         "    2 |   y 3\n"
         "      |     ^"},
    {"parenthesis_open",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = (1 + 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:13: error: expected `)` to close the parenthesis\n"
         "    2 |   y = (1 + 2\n"
         "      |             ^"},
    {"list_open",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = [1, 2\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: expected `]` or `,` in the list\n"
         "    2 |   y = [1, 2\n"
         "      |            ^"},
    {"part_of_an_axis",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x[0:3]\n"
         "}\n",
     "m.gnn:2:13: error: expected `]` after the index (`slice(x, start, stop)` is a part), found `:`\n"
         "    2 |   return x[0:3]\n"
         "      |             ^"},
    {"index_open",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = x[1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:10: error: expected `]` after the index\n"
         "    2 |   y = x[1\n"
         "      |          ^"},
    {"arguments_open",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = relu(x\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:13: error: expected `,` or `)` in the arguments\n"
         "    2 |   y = relu(x\n"
         "      |             ^"},
    {"comma_missing",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = max(x 3)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:13: error: expected `,` or `)` in the arguments, found `3`\n"
         "    2 |   y = max(x 3)\n"
         "      |             ^"},
    {"condition_without_colon",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = true ? 1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:15: error: expected `:` and the other value of `?`\n"
         "    2 |   y = true ? 1\n"
         "      |               ^"},
    {"message_without_colon",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v in g x[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:23: error: expected `:` between the graph and the message, found `x`\n"
         "    2 |   y = sum(u -> v in g x[u])\n"
         "      |                       ^"},
    {"message_without_in",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v of g: x[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: expected `in` and a graph after the ends of an edge, found `of`\n"
         "    2 |   y = sum(u -> v of g: x[u])\n"
         "      |                  ^~"},
    {"message_one_name",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> u in g: x[u])\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:16: error: the ends of an edge need two names\n"
         "    2 |   y = sum(u -> u in g: x[u])\n"
         "      |                ^"},
    {"for_without_in",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  for i of 0..3 { y = i }\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: expected `in`, found `of`\n"
         "    2 |   for i of 0..3 { y = i }\n"
         "      |         ^~"},
    {"if_without_block",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  if true y = 1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:11: error: expected `{` before the statements, found `y`\n"
         "    2 |   if true y = 1\n"
         "      |           ^"},
    {"param_without_dims",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:11: error: expected `:` and the dimensions of the parameter, found `=`\n"
         "    2 |   param w = zeros\n"
         "      |           ^"},
    {"param_without_init",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: [3]\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:15: error: expected `=` and an initialiser, such as `glorot_uniform`\n"
         "    2 |   param w: [3]\n"
         "      |               ^"},
    {"param_names_differ",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param a, b: [3] = zeros as \"a\"\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:30: error: 1 names in files for 2 parameters\n"
         "    2 |   param a, b: [3] = zeros as \"a\"\n"
         "      |                              ^~~"},
    {"as_without_string",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = Linear(3) as lin\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:20: error: expected a string after `as`: the name in weight files, found `lin`\n"
         "    2 |   y = Linear(3) as lin\n"
         "      |                    ^~~"},
    {"no_type",
     "layer L() (x: vector[3]) { return x }\n",
     "m.gnn:1:15: error: expected a type: `graph`, `node[...]`, `edge[...]` or `[...]`, found `vector`\n"
         "    1 | layer L() (x: vector[3]) { return x }\n"
         "      |               ^~~~~~"},
    {"no_inputs",
     "layer L() { return 1 }\n",
     "m.gnn:1:11: error: expected `(` and inputs, such as `(g: graph, x: node[in])`, found `{`\n"
         "    1 | layer L() { return 1 }\n"
         "      |           ^"},
    {"twice_formal",
     "fn f(a, a) = a\n",
     "m.gnn:1:9: error: `a` is there already\n"
         "    1 | fn f(a, a) = a\n"
         "      |         ^"},
    {"declared_twice",
     "fn f(a) = a\n"
         "fn f(b) = b\n",
     "m.gnn:2:4: error: `f` is declared already\n"
         "    2 | fn f(b) = b\n"
         "      |    ^\n"
         "m.gnn:1:4: note: here\n"
         "    1 | fn f(a) = a\n"
         "      |    ^"},
    {"power_of_python",
     "model M() (g: graph, x: node[F]) -> node[F] { return x ** 2 }\n",
     "m.gnn:1:57: error: expected a value (powers are written `x ^ y`), found `*`\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[F] { return x ** 2 }\n"
         "      |                                                         ^"},
    {"block_open",
     "layer L() (x: node) {\n"
         "  return x\n",
     "m.gnn:2:11: error: expected `}` after the statements\n"
         "    2 |   return x\n"
         "      |           ^\n"
         "m.gnn:1:21: note: of the block that begins here\n"
         "    1 | layer L() (x: node) {\n"
         "      |                     ^"},
    {"return_nothing",
     "fn f() {\n"
         "  return\n"
         "}\n",
     "m.gnn:2:9: error: expected a value after `return`\n"
         "    2 |   return\n"
         "      |         ^"},
    {"train_not_string",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  weight_decay = 1.0 on convs\n"
         "}\n",
     "m.gnn:7:25: error: expected a string that names parameters, such as \"convs.0\", found `convs`\n"
         "    7 |   weight_decay = 1.0 on convs\n"
         "      |                         ^~~~~"},
    {"several",
     "fn f() = (1\n"
         "layer L(out dim) (x: node) { return x }\n"
         "fn g() = 1 +* 2\n",
     "m.gnn:1:12: error: expected `)` to close the parenthesis\n"
         "    1 | fn f() = (1\n"
         "      |            ^\n"
         "m.gnn:2:13: error: expected `)` or `,` after a hyperparameter, found `dim`\n"
         "    2 | layer L(out dim) (x: node) { return x }\n"
         "      |             ^~~\n"
         "m.gnn:3:13: error: expected an expression, found `*`\n"
         "    3 | fn g() = 1 +* 2\n"
         "      |             ^"},
    {"several_statements",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = (1\n"
         "  z = 2 +\n"
         "  w = [1, 2\n"
         "  v = f(1,, 2)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:9: error: expected `)` to close the parenthesis\n"
         "    2 |   y = (1\n"
         "      |         ^\n"
         "m.gnn:3:10: error: expected an expression\n"
         "    3 |   z = 2 +\n"
         "      |          ^\n"
         "m.gnn:4:12: error: expected `]` or `,` in the list\n"
         "    4 |   w = [1, 2\n"
         "      |            ^\n"
         "m.gnn:5:11: error: expected an expression, found `,`\n"
         "    5 |   v = f(1,, 2)\n"
         "      |           ^"},
    {"deep",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:81: error: nested too deeply\n"
         "    2 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((\n"
         "      |                                                           ^"},
    {"high",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:406: error: expression too deep: more than 200 operations, one inside the other\n"
         "    2 | ...1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+\n"
         "      |                                                           ^"},
};

static const struct error_case meaning[] = {
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
     "m.gnn:2:24: error: nothing is named `False` here; did you mean `false`?\n"
         "    2 |   l = Linear(3, bias = False)\n"
         "      |                        ^~~~~"},
    {"widths_of_torch",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  l = GCNConv(F, 16)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:18: error: `bias` is true or false, not 16; the width that comes in is its input's, and not given: `GCNConv(out)`\n"
         "    2 |   l = GCNConv(F, 16)\n"
         "      |                  ^~"},
    {"hidden_function",
     "model M(concat = true) (g: graph, x: node[F]) -> node[F] {\n"
         "  y = concat(x, x)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `concat` is true here, which cannot be called, and hides the function of that name\n"
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
     "m.gnn:2:32: error: nothing is named `edges` here; the data are `g`, `x`, `y`, `attr`, `train_mask`, `val_mask`, `test_mask`, and what an `input` declares\n"
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
     "m.gnn:2:30: error: `+` does not fit edge[1433] and node[1433]: in a message `x[u]` and `x[v]` take a node's value to the edge\n"
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
     "m.gnn:5:9: error: `+` does not fit edge and edge: they are edges of two graphs; `carry` takes values to a derived graph\n"
         "    5 |   y = e + f\n"
         "      |         ^"},
    {"two_graphs_message",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  a = self_loops(g)\n"
         "  e = edge(u -> v in g: 1.0)\n"
         "  y = sum(u -> v in a: e)\n"
         "  return x\n"
         "}\n",
     "m.gnn:4:24: error: a value of the edges of another graph; `carry(value, g, fill)` takes it to a derived graph\n"
         "    4 |   y = sum(u -> v in a: e)\n"
         "      |                        ^"},
    {"elements_differ",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M {\n"
         "  loss = mean(M(x) * y)\n"
         "}\n",
     "m.gnn:3:20: error: `*` takes tensors of one element type, not node[1433] and node of i32; `float(x)` makes floats\n"
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
     "m.gnn:2:15: error: `*` takes whole numbers with [3] of i32, not 0.5; `float(x)` makes floats\n"
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
     "m.gnn:3:9: error: `@` does not fit node[1433] and [3, 4]: the last dimension meets the first of a matrix without rows\n"
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
     "m.gnn:2:6: error: `if` decides at compile time, and node[1433] of bool is known only at run time: use `a ? b : c`\n"
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
     "m.gnn:2:7: error: messages go into `sum`, `mean`, `max`, `min` or `edge`, not into `median`; did you mean `mean`?\n"
         "    2 |   y = median(u -> v in g: x[u])\n"
         "      |       ^~~~~~"},
    {"message_mask",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = sum(u -> v in g: x[u] > 0)\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:7: error: `sum` takes messages of floats, not edge[1433] of bool; `float(x)` makes floats\n"
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
     "m.gnn:3:26: error: edge[1433] has no value at a node: it is one of the edge, and used without an end\n"
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
     "m.gnn:2:18: error: `softmax` takes no `dim`; it takes `x`, `axis`, `over`\n"
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
     "m.gnn:4:12: error: input `x` of `GCNConv` is `node[in]`, this is edge[1433]; `sum(u -> v in g: ...)` takes edges to nodes\n"
         "    4 |   y = l(g, e)\n"
         "      |            ^"},
    {"space_of_nothing",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  return x + mean(x, over = space(tensor([1.0])))\n"
         "}\n",
     "m.gnn:2:35: error: `space` takes values of nodes or edges, not [1]\n"
         "    2 |   return x + mean(x, over = space(tensor([1.0])))\n"
         "      |                                   ^~~~~~~~~~~~~"},
    {"input_no_space", /* no message makes edges of what has no rows, nor another number of dimensions */
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
         "m.gnn:5:11: error: input `e` of `L` is `edge[a]`, this is node[1433]; `edge(u -> v in g: x[u])` takes nodes to edges\n"
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
     "m.gnn:3:3: error: `l` already names a layer with weights: give this one another name; several of a kind are a list, `[... for i in 0..n]`\n"
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
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  c = SAGEConv(3, aggr = \"median\")\n"
         "  y = c(g, x)\n"
         "  return x\n"
         "}\n",
     "stdlib/conv.gnn:5:10: error: `aggr` is \"sum\", \"mean\", \"max\" or \"min\"; here `aggr` is \"median\"\n"
         "    5 |   assert aggr == \"sum\" or aggr == \"add\" or aggr == \"mean\" or aggr == \"max\" or aggr == \"min\",\n"
         "      |          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
         "stdlib/conv.gnn:46:13: note: in `aggregate`, called here\n"
         "   46 |   h = lin_l(aggregate(g, x, aggr))\n"
         "      |             ^~~~~~~~~\n"
         "m.gnn:3:7: note: in `SAGEConv`, applied here\n"
         "    3 |   y = c(g, x)\n"
         "      |       ^"},
    {"assertion_sides", /* of what decided alone; what is written as it is has no need of its value */
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
    {"param_in_function",
     "fn f() {\n"
         "  param w: [3] = zeros\n"
         "  return w\n"
         "}\n"
         "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = f()\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:3: error: parameters belong to layers and models\n"
         "    2 |   param w: [3] = zeros\n"
         "      |   ^~~~~\n"
         "m.gnn:6:7: note: in `f`, called here\n"
         "    6 |   y = f()\n"
         "      |       ^"},
    {"param_space",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  param w: node[3] = zeros\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:12: error: a parameter has dimensions only, such as `[in, out]`\n"
         "    2 |   param w: node[3] = zeros\n"
         "      |            ^~~~~~~"},
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
     "m.gnn:2:18: error: a parameter begins with a number or an initialiser such as `glorot_uniform`, not with \"zeros\"\n"
         "    2 |   param w: [3] = \"zeros\"\n"
         "      |                  ^~~~~~~"},
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
     "model M() (g: graph, x: node[F]) -> node[...] { return concat(x, edge(u -> v in g: x[u])) }\n",
     "m.gnn:1:56: error: `concat` along axis 0 does not fit node[1433] and edge[1433]: in a message `x[u]` and `x[v]` take a node's value to the edge\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[...] { return concat(x, edge(u -> v in g: x[u])) }\n"
         "      |                                                        ^~~~~~"},
    {"concat_many",
     "model M() (g: graph, x: node[F]) -> node[...] { return concat(x, x, x, x, x, x, x, x) }\n",
     "m.gnn:1:84: error: too many arguments: `concat` takes 7, or a list of any length: `[a, b]`\n"
         "    1 | model M() (g: graph, x: node[F]) -> node[...] { return concat(x, x, x, x, x, x, x, x) }\n"
         "      |                                                                                    ^"},
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
     "m.gnn:2:21: error: a derived graph has no attributes: `carry(g.attr, derived, fill)` takes them there\n"
         "    2 |   y = self_loops(g).attr\n"
         "      |                     ^~~~"},
    {"softmax_over",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  e = edge(u -> v in g: 1)\n"
         "  y = softmax(e, over = src)\n"
         "  return x\n"
         "}\n",
     "stdlib/functions.gnn:32:10: error: `softmax` goes along an axis, or over `dst`: the edges into a node; here `over` is src\n"
         "   32 |   assert over == dst, \"`softmax` goes along an axis, or over `dst`: the edges into a node\"\n"
         "      |          ^~~~~~~~~~~\n"
         "m.gnn:3:7: note: in `softmax`, called here\n"
         "    3 |   y = softmax(e, over = src)\n"
         "      |       ^~~~~~~"},
    {"no_edge_features",
     "model M() (g: graph, x: node[F], e: edge[D]) -> node[F] { return x }\n",
     "m.gnn:1:34: error: the data has no edge features for the input `e`\n"
         "    1 | model M() (g: graph, x: node[F], e: edge[D]) -> node[F] { return x }\n"
         "      |                                  ^"},
    {"model_gives_list",
     "model M() (x: node[F]) { return [x] }\n",
     "m.gnn:1:7: error: a model gives a tensor, not a list of 1\n"
         "    1 | model M() (x: node[F]) { return [x] }\n"
         "      |       ^"},
};

static const struct error_case train[] = {
    {"train_input",
     "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n"
         "train M(x: node[F]) {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "}\n",
     "m.gnn:2:16: error: expected `)` or `,` after a hyperparameter, found `[`\n"
         "    2 | train M(x: node[F]) {\n"
         "      |                ^"},
    {"train_rate",
     "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n"
         "train M {\n"
         "loss = cross_entropy(M(g, x), y) over train_mask; lr = 0.1\n"
         "}\n",
     "m.gnn:3:51: error: a train block has no `lr`; it is the optimizer's: `optimizer = adam(lr = 0.01)`\n"
         "    3 | loss = cross_entropy(M(g, x), y) over train_mask; lr = 0.1\n"
         "      |                                                   ^~"},
    {"train_select_word",
     "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n"
         "train M {\n"
         "loss = cross_entropy(M(g, x), y) over train_mask; select = first\n"
         "}\n",
     "m.gnn:3:60: error: `select` is `best` or `last`\n"
         "    3 | loss = cross_entropy(M(g, x), y) over train_mask; select = first\n"
         "      |                                                            ^~~~~"},
    {"train_monitor_word",
     "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n"
         "train M {\n"
         "loss = cross_entropy(M(g, x), y) over train_mask; monitor = accuracy\n"
         "}\n",
     "m.gnn:3:61: error: `monitor` is `val_accuracy` or `val_loss`\n"
         "    3 | loss = cross_entropy(M(g, x), y) over train_mask; monitor = accuracy\n"
         "      |                                                             ^~~~~~~~"},
    {"train_mask_name",
     "model M() (g: graph, x: node[F]) -> node[C] { return GCNConv(C)(g, x) }\n"
         "train M {\n"
         "loss = cross_entropy(M(g, x), y) over trian_mask\n"
         "}\n",
     "m.gnn:3:39: error: nothing is named `trian_mask` here; did you mean `train_mask`?\n"
         "    3 | loss = cross_entropy(M(g, x), y) over trian_mask\n"
         "      |                                       ^~~~~~~~~~"},
    {"train_unknown",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  epoch = 3\n"
         "}\n",
     "m.gnn:7:3: error: a train block has no `epoch`; did you mean `epochs`?\n"
         "    7 |   epoch = 3\n"
         "      |   ^~~~~"},
    {"train_optimizer",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adamm(lr = 0.1)\n"
         "}\n",
     "m.gnn:7:15: error: the optimizer is `sgd`, `adam` or `adamw`; did you mean `adam`?\n"
         "    7 |   optimizer = adamm(lr = 0.1)\n"
         "      |               ^~~~~"},
    {"train_optimizer_argument",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adam(lrr = 0.1)\n"
         "}\n",
     "m.gnn:7:20: error: `adam` takes no `lrr`; did you mean `lr`?\n"
         "    7 |   optimizer = adam(lrr = 0.1)\n"
         "      |                    ^~~"},
    {"train_optimizer_other_argument",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adam(rate = 0.1)\n"
         "}\n",
     "m.gnn:7:20: error: `adam` takes no `rate`; it takes `lr`, `beta1`, `beta2`, `eps`, `weight_decay`\n"
         "    7 |   optimizer = adam(rate = 0.1)\n"
         "      |                    ^~~~"},
    {"train_over_too_much",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask + mean(x)\n"
         "}\n",
     "m.gnn:6:52: error: all that follows `over` is the mask; a loss of several terms gives masks by name: "
         "`cross_entropy(..., mask = train_mask) + ...`\n"
         "    6 |   loss = cross_entropy(M(g, x), y) over train_mask + mean(x)\n"
         "      |                                                    ^"},
    {"train_optimizer_value",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adam(lr = true)\n"
         "}\n",
     "m.gnn:7:25: error: `lr` is a number of at least 0, not true\n"
         "    7 |   optimizer = adam(lr = true)\n"
         "      |                         ^~~~"},
    {"train_optimizer_position",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adam(0.1)\n"
         "}\n",
     "m.gnn:7:20: error: arguments have names here, such as `lr = ...`\n"
         "    7 |   optimizer = adam(0.1)\n"
         "      |                    ^~~"},
    {"train_beta",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adam(beta1 = 1)\n"
         "}\n",
     "m.gnn:7:28: error: `beta1` is a number from 0 to below 1, not 1\n"
         "    7 |   optimizer = adam(beta1 = 1)\n"
         "      |                            ^"},
    {"train_nesterov",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = sgd(nesterov = true)\n"
         "}\n",
     "m.gnn:7:15: error: `nesterov` needs a momentum and no dampening\n"
         "    7 |   optimizer = sgd(nesterov = true)\n"
         "      |               ^~~"},
    {"train_epochs",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  epochs = 1.5\n"
         "}\n",
     "m.gnn:7:12: error: `epochs` is an integer of at least 0, not 1.5\n"
         "    7 |   epochs = 1.5\n"
         "      |            ^~~"},
    {"train_twice",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  epochs = 1\n"
         "  epochs = 2\n"
         "}\n",
     "m.gnn:7:3: error: `epochs` is set again below\n"
         "    7 |   epochs = 1\n"
         "      |   ^~~~~~"},
    {"train_decay_name",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  weight_decay = 1e-4 on \"con\"\n"
         "}\n",
     "m.gnn:7:26: error: no parameter is named `con`; did you mean `conv`?\n"
         "    7 |   weight_decay = 1e-4 on \"con\"\n"
         "      |                          ^~~~~"},
    {"train_on",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  epochs = 3 on \"conv\"\n"
         "}\n",
     "m.gnn:7:17: error: `on` belongs to `weight_decay`\n"
         "    7 |   epochs = 3 on \"conv\"\n"
         "      |                 ^~~~~~"},
    {"train_schedule",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = steps(period = 2)\n"
         "}\n",
     "m.gnn:7:14: error: the schedule is `constant`, `step`, `exponential`, `cosine` or `linear`; did you mean `step`?\n"
         "    7 |   schedule = steps(period = 2)\n"
         "      |              ^~~~~"},
    {"train_schedule_period",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = step(gamma = 0.5)\n"
         "}\n",
     "m.gnn:7:14: error: `step` needs its `period`\n"
         "    7 |   schedule = step(gamma = 0.5)\n"
         "      |              ^~~~"},
    {"train_select",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  select = 3\n"
         "}\n",
     "m.gnn:7:12: error: `select` is `best` or `last`, not 3\n"
         "    7 |   select = 3\n"
         "      |            ^"},
    {"train_monitor",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  monitor = 3\n"
         "}\n",
     "m.gnn:7:13: error: `monitor` is `val_accuracy`, `val_loss` or a list of both, not 3\n"
         "    7 |   monitor = 3\n"
         "      |             ^"},
    {"train_clip",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  conv = GCNConv(C)\n"
         "  return conv(g, x)\n"
         "}\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  clip_norm = -1\n"
         "}\n",
     "m.gnn:7:15: error: `clip_norm` is a number of at least 0, not -1\n"
         "    7 |   clip_norm = -1\n"
         "      |               ^~"},
    {"train_no_loss",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M { epochs = 3 }\n",
     "m.gnn:2:7: error: the train block of `M` has no `loss`\n"
         "    2 | train M { epochs = 3 }\n"
         "      |       ^"},
    {"train_loss_shape",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M { loss = M(x) }\n",
     "m.gnn:2:18: error: a loss is a single number, this is node[1433]; `mean(x)` makes one\n"
         "    2 | train M { loss = M(x) }\n"
         "      |                  ^~~~"},
    {"train_loss_number",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M { loss = 3 }\n",
     "m.gnn:2:18: error: a loss depends on the model, this is 3\n"
         "    2 | train M { loss = 3 }\n"
         "      |                  ^"},
    {"train_loss_without_model",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M { loss = mean(x) }\n",
     "m.gnn:2:18: error: the loss does not use `M`\n"
         "    2 | train M { loss = mean(x) }\n"
         "      |                  ^~~~~~~"},
    {"train_over",
     "model M() (x: node[F]) -> node[F] { return x }\n"
         "train M { loss = 3 over train_mask }\n",
     "m.gnn:2:18: error: `over` follows the call of a loss, such as `cross_entropy(...)`\n"
         "    2 | train M { loss = 3 over train_mask }\n"
         "      |                  ^"},
    {"train_model",
     "model GCN() (x: node[F]) -> node[F] { return x }\n"
         "train GCM { epochs = 3 }\n",
     "m.gnn:2:7: error: no model is named `GCM`; did you mean `GCN`?\n"
         "    2 | train GCM { epochs = 3 }\n"
         "      |       ^~~"},
};
/* clang-format on */

#endif
