/* Of train blocks.  Elements of an array: see ../frontend_errors.h. */
/* clang-format off */
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
     "m.gnn:3:51: error: a train block has no `lr`; it is the optimizer's: `optimizer = adam(lr = "
     "0.01)`\n"
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
     "m.gnn:3:61: error: `monitor` is `val_accuracy`, `val_loss`, "
     "`val_auc`, `val_ap` or `val_mrr`\n"
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
     "m.gnn:7:15: error: the optimizer is `sgd`, `adam`, `adamw`, `adagrad`, `rmsprop`, "
     "`adamax` or `lion`; did you mean `adam`?\n"
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
     "m.gnn:7:20: error: `adam` takes no `rate`; it takes `lr`, `beta1`, `beta2`, `eps`, "
     "`amsgrad`, `weight_decay`, `rows`\n"
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
     "m.gnn:6:52: error: all that follows `over` is the mask; a loss of several terms gives masks "
     "by name: "
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
    {"train_rows",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  return Linear(C)(x)\n"
         "}\n"
         "\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adagrad(rows = \"some\")\n"
         "}\n",
     "m.gnn:7:30: error: `rows` is \"all\" or \"touched\", not \"some\"\n"
         "    7 |   optimizer = adagrad(rows = \"some\")\n"
         "      |                              ^~~~~~"},
    {"train_rows_momentum",
     "model M() (g: graph, x: node[F]) -> node[C] {\n"
         "  return Linear(C)(x)\n"
         "}\n"
         "\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = sgd(momentum = 0.9, rows = \"touched\")\n"
         "}\n",
     "m.gnn:7:15: error: a momentum moves all rows: `rows = \"touched\"` goes without one, or "
     "with `adam`\n"
         "    7 |   optimizer = sgd(momentum = 0.9, rows = \"touched\")\n"
         "      |               ^~~"},
    {"train_rmsprop_argument",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = rmsprop(beta1 = 0.9)\n"
         "}\n",
     "m.gnn:4:23: error: `rmsprop` takes no `beta1`; it takes `lr`, `momentum`, `alpha`, `eps`, "
     "`centered`, `weight_decay`, `rows`\n"
         "    4 |   optimizer = rmsprop(beta1 = 0.9)\n"
         "      |                       ^~~~~"},
    {"train_rmsprop_rows",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = rmsprop(momentum = 0.9, rows = \"touched\")\n"
         "}\n",
     "m.gnn:4:15: error: a momentum moves all rows: `rows = \"touched\"` goes without one, or "
     "with `adam`\n"
         "    4 |   optimizer = rmsprop(momentum = 0.9, rows = \"touched\")\n"
         "      |               ^~~~~~~"},
    {"train_lion_eps",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = lion(eps = 0)\n"
         "}\n",
     "m.gnn:4:20: error: `lion` takes no `eps`; it takes `lr`, `beta1`, `beta2`, "
     "`weight_decay`, `rows`\n"
         "    4 |   optimizer = lion(eps = 0)\n"
         "      |                    ^~~"},
    {"train_adamax_beta",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  optimizer = adamax(beta2 = 1)\n"
         "}\n",
     "m.gnn:4:30: error: `beta2` is a number from 0 to below 1, not 1\n"
         "    4 |   optimizer = adamax(beta2 = 1)\n"
         "      |                              ^"},
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
     "m.gnn:7:14: error: the schedule is `constant`, `step`, `exponential`, `cosine`, `linear`, "
     "`one_cycle` or `plateau`; did you mean `step`?\n"
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
    {"train_schedule_other_argument",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = exponential(period = 3)\n"
         "}\n",
     "m.gnn:4:26: error: `exponential` takes no `period`; it takes `gamma`\n"
         "    4 |   schedule = exponential(period = 3)\n"
         "      |                          ^~~~~~"},
    {"train_schedule_constant",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = constant(gamma = 3)\n"
         "}\n",
     "m.gnn:4:31: error: `constant` takes no arguments\n"
         "    4 |   schedule = constant(gamma = 3)\n"
         "      |                               ^"},
    {"train_one_cycle_part",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = one_cycle(pct_start = 2)\n"
         "}\n",
     "m.gnn:4:36: error: `pct_start` is a number from 0 to below 1, not 2\n"
         "    4 |   schedule = one_cycle(pct_start = 2)\n"
         "      |                                    ^"},
    {"train_one_cycle_division",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = one_cycle(div_factor = 0)\n"
         "}\n",
     "m.gnn:4:14: error: rates are divided by `div_factor` and `final_div_factor`: not by 0\n"
         "    4 |   schedule = one_cycle(div_factor = 0)\n"
         "      |              ^~~~~~~~~"},
    {"train_plateau_factor",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = plateau(factor = 1)\n"
         "}\n",
     "m.gnn:4:31: error: `factor` is a number from 0 to below 1, not 1\n"
         "    4 |   schedule = plateau(factor = 1)\n"
         "      |                               ^"},
    {"train_plateau_patience",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = plateau(patience = -1)\n"
         "}\n",
     "m.gnn:4:33: error: `patience` is an integer of at least 0, not -1\n"
         "    4 |   schedule = plateau(patience = -1)\n"
         "      |                                 ^~"},
    {"train_plateau_monitor",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  schedule = plateau(monitor = best)\n"
         "}\n",
     "m.gnn:4:32: error: `monitor` is \"val_loss\" or \"val_accuracy\", not \"best\"\n"
         "    4 |   schedule = plateau(monitor = best)\n"
         "      |                                ^~~~"},
    {"train_warmup",
     "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
         "train M {\n"
         "  loss = cross_entropy(M(g, x), y) over train_mask\n"
         "  warmup = 0.5\n"
         "}\n",
     "m.gnn:4:12: error: `warmup` is an integer of at least 0, not 0.5\n"
         "    4 |   warmup = 0.5\n"
         "      |            ^~~"},
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
     "m.gnn:7:13: error: `monitor` is `val_accuracy`, `val_loss` or a list of both, or "
     "of links `val_auc`, `val_ap` or `val_mrr`, not 3\n"
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
