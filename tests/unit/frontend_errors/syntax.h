/* Of texts that are no programs.  Elements of an array: see ../frontend_errors.h. */
/* clang-format off */
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
    {"nothing_by_name",
     "layer L(out: dim, *) (x: node[in]) -> node[out] {\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:20: error: expected `,` and what is given by name, found `)`\n"
         "    1 | layer L(out: dim, *) (x: node[in]) -> node[out] {\n"
         "      |                    ^"},
    {"by_name_twice",
     "fn f(x, *, p, *, q) = x\n",
     "m.gnn:1:15: error: expected an argument, found `*`\n"
         "    1 | fn f(x, *, p, *, q) = x\n"
         "      |               ^"},
    {"inputs_by_name",
     "layer L(out: dim) (*, x: node[in]) -> node[out] {\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:20: error: expected an input, found `*`\n"
         "    1 | layer L(out: dim) (*, x: node[in]) -> node[out] {\n"
         "      |                    ^"},
    {"inputs_for_hyperparameters",
     "model M(g: graph, x: node[F]) -> node[F] {\n"
         "  return x\n"
         "}\n",
     "m.gnn:1:12: error: this is the type of an input, and hyperparameters come first, if only "
     "`()`: `(hidden = 16) (g: graph, x: node[F])`\n"
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
     "m.gnn:2:7: error: integer too large: at most 9223372036854775807 (write it with a point for "
     "a float)\n"
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
     "m.gnn:2:13: error: expected `]` after the index (`slice(x, start, stop)` is a part), found "
     "`:`\n"
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
     "m.gnn:2:20: error: nothing is named `lin` here; did you mean `sin`?\n"
         "    2 |   y = Linear(3) as lin\n"
         "      |                    ^~~"},
    {"no_type",
     "layer L() (x: vector[3]) { return x }\n",
     "m.gnn:1:15: error: expected a type: `graph`, `node[...]`, `edge[...]` or `[...]`, found "
     "`vector`\n"
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
     "m.gnn:7:25: error: expected a string that names parameters, such as \"convs.0\", found "
     "`convs`\n"
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
         "  y = (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
         "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
         "((((((((((((((((((((((((((((((\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:81: error: nested too deeply\n"
         "    2 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
         "(((((((((((((((((((((((((((((((((\n"
         "      |                                                           ^"},
    {"high",
     "model M() (g: graph, x: node[F]) -> node[F] {\n"
         "  y = 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
         "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
         "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
         "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
         "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
         "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
         "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n"
         "  return x\n"
         "}\n",
     "m.gnn:2:406: error: expression too deep: more than 200 operations, one inside the other\n"
         "    2 | ...1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1"
         "+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+\n"
         "      |                                                           ^"},
    {"name_twice",
     "model M() (x: node[F]) { a, a = [x, x]; return a }\n",
     "m.gnn:1:29: error: `a` is there already\n"
         "    1 | model M() (x: node[F]) { a, a = [x, x]; return a }\n"
         "      |                             ^"},
    {"no_name",
     "model M() (x: node[F]) { a, 3 = [x, x]; return a }\n",
     "m.gnn:1:29: error: expected a name, found `3`\n"
         "    1 | model M() (x: node[F]) { a, 3 = [x, x]; return a }\n"
         "      |                             ^"},
    {"files_for_names",
     "model M() (x: node[F]) { a, b = [Linear(4), Linear(5)] as \"c\"; return b }\n",
     "m.gnn:1:59: error: 1 names in files for 2 variables\n"
         "    1 | model M() (x: node[F]) { a, b = [Linear(4), Linear(5)] as \"c\"; "
         "return b }\n"
         "      |                                                           ^~~"},
    {"results_not_closed",
     "model M() (x: node[F]) -> (node[F], node { return x }\n",
     "m.gnn:1:42: error: expected `)` or `,` after the type of a result, found `{`\n"
         "    1 | model M() (x: node[F]) -> (node[F], node { return x }\n"
         "      |                                          ^"},
