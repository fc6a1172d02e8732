#include "cli/options.h"

#include "build/jit.h"
#include "compile/mode.h"
#include "ir/precision.h"
#include "runtime/data/lent.h"
#include "runtime/graph/reorder.h"
#include "runtime/load/cpu.h"
#include "session/importance.h"

enum {
    ALL = (1 << GN_COMMAND_COUNT) - 1,
    /* take a model and data */
    MODEL = GN_COMMAND_compile | GN_COMMAND_train | GN_COMMAND_run | GN_COMMAND_explain |
            GN_COMMAND_profile | GN_COMMAND_tune,
    TRAIN = GN_COMMAND_train | GN_COMMAND_run,
    DATA = TRAIN | GN_COMMAND_explain | GN_COMMAND_profile, /* run it */
    STORE = GN_COMMAND_data,
    BENCH = GN_COMMAND_bench, /* runs many of them: what names one of an axis elsewhere names
                                 several there */
};

#define AT(field) offsetof(gn_cli_options, field)

static const char *const modes[] = {
#define X(number, id, name, eager, region, tune) name,
    GN_MODES(X)
#undef X
#define X(number, id, name, eager, region, tune) #number "=" name,
        GN_NUMBERED_MODES(X)
#undef X
            NULL,
};
static const char *const emits[] = {"ast",  "gir", "kir",   "llvm", "asm", "obj",
                                    "cuda", "ptx", "cubin", "dot",  NULL};
static const char *const dynamics[] = {
#define X(id, name) name,
    GN_DYNAMICS(X)
#undef X
        NULL};
static const char *const stances[] = {
#define X(id, name) name,
    GN_STANCES(X)
#undef X
        NULL};
static const char *const orders[] = {
#define X(id, name, doc) name,
    GN_ORDERS(X)
#undef X
        NULL};
static const char *const precisions[] = {
#define X(id, name) name,
    GN_PRECISIONS(X)
#undef X
        NULL};
static const char *const products[] = {
#define X(id, name) name,
    GN_PRODUCT_WAYS(X)
#undef X
        NULL};
static const char *const storages[] = {
#define X(id, name) name,
    GN_STORAGES(X)
#undef X
        NULL};
static const char *const numbers[] = {
#define X(id, name, kept, products) name,
    GN_NUMBERS(X)
#undef X
        NULL};
static const char *const units[] = {"step", "eval", NULL};
static const char *const profile_rows[] = {"layer", "line", "kernel", NULL};
static const char *const features[] = {
#define X(id, name) name,
    GN_FEATURES(X)
#undef X
        "svd:",
    "pca:", NULL};
static const char *const codes[] = {
#define X(id, name, elem) name,
    GN_FEATURE_CODES(X)
#undef X
        "bf16=bfloat16",
    NULL};
static const char *const importance_methods[] = {
#define X(id, name) name,
    GN_IMPORTANCE_METHODS(X)
#undef X
        NULL};
static const char *const evaluates[] = {"full", "batch", NULL};
static const char *const on_off[] = {"on", "off", NULL};
static const char *const auto_on_off[] = {"auto", "on", "off", NULL};

static const char *const programs[] = {"eval",         "loss",         "step", "validate",
                                       "eval_prepare", "step_prepare", NULL};

/* What follows stands under a title in the help. */
#define GROUP(title) {NULL, 0, GN_OPTION_GROUP, 0, ALL, NULL, title, NULL, 0, 0}

static const gn_option options[] = {
    GROUP("the model"),
    {"model", 0, GN_OPTION_STRING, AT(model), MODEL | BENCH, "NAME",
     "which model of the file (default: that of the train block, else\nthe last one)"},
    {"define", 'D', GN_OPTION_DEFINE, AT(defines), MODEL | BENCH, "NAME=VALUE",
     "set a hyperparameter of the model; repeatable"},
    {"define", 'D', GN_OPTION_DEFINE, AT(defines), GN_COMMAND_opt, "NAME=VALUE",
     "sparse=INPUT: that input is bound as a sparse matrix;\nvalues=rows or ones: what its "
     "non-zeros are;\n"
     "fixed=INPUT: it is the same in every run; levels=N: of rows\nthat restrict_rows may pick; "
     "few=GRAPH: it joins few rows,\nfew=GRAPH:COLUMN:N: N kinds of its edges do;\n"
     "nonzeros=N and rows=ROWS:EDGES,...: what dense-once decides by;\nrepeatable"},
    GROUP("the data"),
    {"data", 0, GN_OPTION_STRING, AT(data), MODEL, "PATH",
     "the graph, a file or a folder (default: a small built-in one)"},
    {"data", 0, GN_OPTION_STRING, AT(data), BENCH, "LIST",
     "graphs, separated by commas (default: a small built-in one)"},
    {"split", 0, GN_OPTION_INT, AT(split), DATA | BENCH | STORE, "K",
     "which of the data's splits to use, from 0", NULL, 0, INT32_MAX},
    {"classes", 0, GN_OPTION_INT, AT(classes), MODEL | BENCH, "N",
     "how many classes there are (default: as the labels say, or the\nweights that are loaded)",
     NULL, 1, 1 << 24},
    {"features", 0, GN_OPTION_CHOICE, AT(features), MODEL | BENCH, "WHAT",
     "features of nodes: data (the default); svd:K or pca:K, K\ncomponents of them; or made up: "
     "identity (which node it\nis), degree (how many edges come in) or ones",
     features},
    {"features", 0, GN_OPTION_CHOICE, AT(features), STORE, "HOW",
     "convert: what dense features are kept as: float32, bfloat16 or\nint8, 256 steps in each "
     "column (default: as they are)",
     codes},
    {"order", 0, GN_OPTION_CHOICE, AT(order), STORE, "HOW",
     "convert: renumber nodes so that what is read together lies\ntogether: none (the default), "
     "degree, rcm or communities;\nresults stay in the order of the data",
     orders},
    {"normalize-features", 0, GN_OPTION_CHOICE, AT(normalize), MODEL | BENCH | STORE, "WHEN",
     "make the rows of the features sum to one: auto, on or off", auto_on_off},
    {"undirected", 0, GN_OPTION_CHOICE, AT(undirected), MODEL | BENCH | STORE, "WHEN",
     "add the reverse of every edge: auto, on or off", auto_on_off},
    {"reorder", 0, GN_OPTION_CHOICE, AT(reorder), MODEL | BENCH, "HOW",
     "renumber nodes at load so that what is read together lies\ntogether: none (the default), "
     "degree, rcm or "
     "communities",
     orders},
    GROUP("training"),
    {"epochs", 0, GN_OPTION_INT, AT(epochs), GN_COMMAND_train | GN_COMMAND_tune, "N",
     "train for N epochs, whatever the model says; tune: with\n--tolerance", NULL, 0, INT64_MAX},
    {"lr", 0, GN_OPTION_REAL, AT(rate), GN_COMMAND_train, "RATE",
     "learning rate, instead of the model's; a schedule keeps its shape", NULL, 0, INT64_MAX},
    {"batch", 0, GN_OPTION_INT, AT(batch), GN_COMMAND_train, "N",
     "rows of a step, instead of the model's", NULL, 1, INT64_MAX},
    {"fanout", 0, GN_OPTION_STRING, AT(fanout), GN_COMMAND_train, "LIST",
     "edges into a row, by hop, as 15,10; all for all of a hop's"},
    {"ahead", 0, GN_OPTION_INT, AT(ahead), GN_COMMAND_train, "N",
     "batches that are prepared while another one's step runs\n(default: 1; 0, none, of a store or "
     "where batches are small)",
     NULL, 0, GN_MOST_AHEAD},
    {"evaluate", 0, GN_OPTION_CHOICE, AT(evaluate), GN_COMMAND_train, "HOW",
     "figures of epochs of all nodes at once (full), or by batches\n(batch), instead of the "
     "model's",
     evaluates},
    {"scores", 0, GN_OPTION_CHOICE, AT(scores), GN_COMMAND_train, "WHEN",
     "off: train alone, and evaluate nothing, which takes memory for\nall nodes (default: on)",
     on_off},
    {"seed", 0, GN_OPTION_INT, AT(seed), DATA | BENCH | STORE, "S",
     "seed of every random number (default: 0)", NULL, 0, INT64_MAX},
    {"seeds", 0, GN_OPTION_INT, AT(seeds), GN_COMMAND_train | GN_COMMAND_tune, "K",
     "train K times, with seeds S, S+1, ..., and report\nmean and deviation; tune: of each "
     "precision (default: 5)",
     NULL, 1, 100000},
    {"weights", 0, GN_OPTION_STRING, AT(weights), TRAIN | BENCH | GN_COMMAND_compile, "FILE",
     "start from these weights (.safetensors); with -o: they go into\nthe file"},
    {"checkpoint", 0, GN_OPTION_STRING, AT(checkpoint), GN_COMMAND_train, "FILE",
     "write what --resume goes on from (.safetensors): once a minute,\nat the end and at Ctrl-C"},
    {"checkpoint-every", 0, GN_OPTION_INT, AT(checkpoint_every), GN_COMMAND_train, "N",
     "write it every N epochs, and at the end", NULL, 1, INT64_MAX},
    {"resume", 0, GN_OPTION_STRING, AT(resume_from), GN_COMMAND_train, "FILE",
     "go on from this checkpoint, to the bits that there would be\nwithout a break"},
    GROUP("what is written"),
    {"save", 0, GN_OPTION_STRING, AT(save), GN_COMMAND_train, "FILE",
     "write the trained weights (.safetensors)"},
    {"predictions", 0, GN_OPTION_STRING, AT(predictions), TRAIN, "FILE",
     "write what the model gives: classes of nodes (.csv), with logits\n(.npz); other results in "
     "their shape"},
    {"importance", 0, GN_OPTION_STRING, AT(importance), GN_COMMAND_run, "FILE",
     "write how much each feature adds to what is predicted (.csv; or\n.npz: for each node, too)"},
    {"importance-method", 0, GN_OPTION_CHOICE, AT(importance_method), GN_COMMAND_run, "METHOD",
     "how that is found: gradient (the default: features times\ngradients) or integrated: their "
     "mean on the way from no\nfeatures",
     importance_methods},
    {"importance-of", 0, GN_OPTION_STRING, AT(importance_of), GN_COMMAND_run, "ROWS",
     "for which rows: all (the default), train, val, test, or\nnumbers of rows, separated by "
     "commas"},
    {"log", 0, GN_OPTION_STRING, AT(log), GN_COMMAND_train, "FILE",
     "write a line for each epoch: losses, scores, learning rate and\ntime (.csv, or .jsonl: JSON "
     "lines); --resume "
     "goes on in it"},
    {"plot", 0, GN_OPTION_STRING, AT(plot), GN_COMMAND_train, "FILE",
     "draw losses and scores over epochs (.svg or .html)"},
    {"html", 0, GN_OPTION_STRING, AT(html), GN_COMMAND_profile, "FILE",
     "write a page: flame, timeline and memory of a step, and tables"},
    {"trace", 0, GN_OPTION_STRING, AT(trace), GN_COMMAND_profile, "FILE",
     "write a step as a trace, thread by thread, that Perfetto and\nchrome://tracing open (JSON)"},
    {"emit", 0, GN_OPTION_CHOICES, AT(emit), GN_COMMAND_compile, "WHAT",
     "print stages, separated by commas, and stop: ast, gir (tensor\nIR), kir (loop IR), llvm, "
     "asm, obj; cuda, ptx, "
     "cubin; or dot\n"
     "(the tensor IR as a drawing)",
     emits},
    {"program", 0, GN_OPTION_CHOICE, AT(program), GN_COMMAND_compile, "PROGRAM",
     "with --emit: one program alone, eval or step, or what they prepare\nonce (eval_prepare, "
     "step_prepare); of gir "
     "loss or validate too,\nas the model says it",
     programs},
    {"output", 'o', GN_OPTION_STRING, AT(output),
     GN_COMMAND_compile | GN_COMMAND_opt | GN_COMMAND_reduce, "FILE",
     "where the result goes (default: standard output); without\n--emit, what it becomes: .o, .a "
     "or .so"},
    {"output", 'o', GN_OPTION_STRING, AT(output), BENCH, "DIR",
     "the folder of the results (default: bench- and the models' names)"},
    {"header", 0, GN_OPTION_STRING, AT(header), GN_COMMAND_compile, "FILE",
     "with -o: write the C header of the code"},
    {"prefix", 0, GN_OPTION_STRING, AT(prefix), GN_COMMAND_compile, "NAME",
     "with -o: what C names begin with (default: the model's name)"},
    {"cpu", 0, GN_OPTION_CHOICE, AT(cpu), GN_COMMAND_compile, "CPU",
     "with -o: the processors to compile for (default native:\nall that this one "
     "has):\n" GN_CPU_LEVELS_SAID,
     gn_cpu_levels},
    {"inference", 0, GN_OPTION_FLAG, AT(inference), GN_COMMAND_compile, NULL,
     "with -o: no training step"},
    GROUP("how it is compiled"),
    {"mode", 'O', GN_OPTION_CHOICE, AT(mode), MODEL | GN_COMMAND_opt, "MODE",
     "how hard to optimise: eager (0), default (1), reduce-overhead (2),\n"
     "max-autotune (3) or max-autotune-no-cudagraphs",
     modes},
    {"dynamic", 0, GN_OPTION_CHOICE, AT(dynamic), MODEL, "WHEN",
     "are numbers of nodes and edges left open in the code?\n"
     "true (the default): one program for all graphs; auto: what has\n"
     "changed since the first graph; false: never",
     dynamics},
    {"dynamic", 0, GN_OPTION_STRING, AT(dynamic_list), BENCH, "LIST",
     "settings of dynamic shapes, separated by commas: true (the\ndefault), auto, false; several "
     "are also compared on "
     "graphs\nthat change"},
    {"range", 0, GN_OPTION_STRING, AT(range), MODEL, "SIZES",
     "what they may be, as 'N in 1..100000, E in 0..2000000', or of\nseveral types 'paper in 1.., "
     "writes in 0..100'; other\ngraphs are refused"},
    {"matmul-precision", 0, GN_OPTION_CHOICE, AT(precision), MODEL | BENCH, "HOW",
     "of products of matrices: highest (the default, float32), high or\nmedium: operands rounded "
     "to TF32 or BF16 where "
     "that is faster\n(tensor cores; on processors with AVX512-BF16 medium alone)",
     precisions},
    {"precision", 0, GN_OPTION_CHOICE, AT(numbers), MODEL | BENCH | GN_COMMAND_opt, "HOW",
     "what a program computes with: float32 (the default), float64;\n"
     "mixed: float32, of which what is kept between loops, and dense\n"
     "features, lie as bfloat16, and products are `medium`;\n"
     "mixed-f16: as float16, with the loss scaled",
     numbers},
    {"keep-float32", 0, GN_OPTION_STRING, AT(wide), MODEL | GN_COMMAND_opt, "NAMES",
     "with mixed and mixed-f16: what stays float32, separated by\ncommas: layers by their paths, "
     "as "
     "convs.1; model, what is in none;\nfeatures; forward or backward, all of that"},
    {"gather-storage", 0, GN_OPTION_CHOICE, AT(gathers), MODEL | BENCH | GN_COMMAND_opt, "TYPE",
     "how what edges read of nodes lies in memory: float32 (the\ndefault), bfloat16 or float16: "
     "rounded, half the bytes;\nsums stay float32",
     storages},
    {"without", 0, GN_OPTION_LIST, AT(without), MODEL | BENCH | GN_COMMAND_opt, "NAMES",
     "leave these optimisations out (`gnnc opt --list` has their\nnames), separated by commas; "
     "repeatable"},
    {"only", 0, GN_OPTION_STRING, AT(only), MODEL | BENCH | GN_COMMAND_opt, "NAMES",
     "leave all optimisations out but these, and what cannot be"},
    {"passes", 0, GN_OPTION_STRING, AT(passes), GN_COMMAND_opt, "NAMES",
     "run these passes in this order, separated by commas"},
    {"list", 0, GN_OPTION_FLAG, AT(list), GN_COMMAND_opt, NULL,
     "list the optimisations, a line each"},
    {"pass-limit", 0, GN_OPTION_INT, AT(pass_limit), MODEL | GN_COMMAND_opt, "N",
     "stop after the first N runs of a pass, to bisect one", NULL, 0, INT32_MAX},
    GROUP("where it runs"),
    {"device", 0, GN_OPTION_STRING, AT(device), GN_COMMAND_compile, "DEVICE",
     "what to compile for: cpu (the default), or cuda, which needs\nNVRTC, but no GPU"},
    {"device", 0, GN_OPTION_STRING, AT(device), TRAIN | GN_COMMAND_tune | BENCH, "DEVICE",
     "where to run: cpu (the default), cuda, cuda:N, or auto, which\nis a GPU where there is one"},
    {"device", 0, GN_OPTION_STRING, AT(device), GN_COMMAND_explain, "DEVICE",
     "what to explain: cpu (the default), cuda or cuda:N, which is\ntimed where there is a GPU, or "
     "auto"},
    {"arch", 0, GN_OPTION_STRING, AT(arch), GN_COMMAND_compile | GN_COMMAND_explain, "SM",
     "of --device cuda: the architecture, sm_80 (the default) or above"},
    {"products", 0, GN_OPTION_CHOICE, AT(products), MODEL | BENCH, "HOW",
     "who makes products of matrices on a GPU that cuBLASLt has too:\nkernel, library (cuBLASLt), "
     "or timed (the faster "
     "in the "
     "first\nrun); default: timed where the mode searches, else kernel",
     products},
    {"threads", 0, GN_OPTION_INT, AT(threads), MODEL, "T",
     "run on up to T threads (default: one a core)", NULL, 1, 4096},
    {"threads", 0, GN_OPTION_STRING, AT(thread_list), BENCH, "LIST",
     "numbers of threads, separated by commas (default: one a core)"},
    {"memory", 0, GN_OPTION_FLAG, AT(frontier), GN_COMMAND_explain, NULL,
     "say instead what a run takes by itself, which layers have it at\nthe peak, and what becomes "
     "of time where it may take less"},
    {"memory", 0, GN_OPTION_STRING, AT(memory), TRAIN, "SIZE",
     "keep within so much memory, as 900M, 2G or 50% (of what it takes\nby itself): values are "
     "computed again instead of kept, to the\nsame bits; or say what takes more"},
    {"spill", 0, GN_OPTION_STRING, AT(spill), TRAIN, "DIR",
     "with --memory: temporaries that have no room lie in a file in DIR\ninstead, without a name, "
     "and are read and written there, to the\nsame bits"},
    GROUP("what is run"),
    {"what", 0, GN_OPTION_CHOICE, AT(what),
     GN_COMMAND_explain | GN_COMMAND_profile | GN_COMMAND_tune | BENCH, "PROGRAM",
     "step (a training step; the default where there are labels)\nor eval (the forward pass alone)",
     units},
    {"by", 0, GN_OPTION_CHOICE, AT(by), GN_COMMAND_profile, "ROWS",
     "what has a row of its own: layer (the default), line (of the\nmodel) or kernel",
     profile_rows},
    {"steps", 0, GN_OPTION_INT, AT(steps), GN_COMMAND_profile, "N",
     "time N steps (default: as many as take a second or two)", NULL, 1, 100000},
    {"repeat", 0, GN_OPTION_INT, AT(repeat), BENCH, "N", "time N runs of inference (default: 30)",
     NULL, 1, 1000000},
    {"repeat", 0, GN_OPTION_INT, AT(repeat), GN_COMMAND_run, "N", "time N runs", NULL, 1, 10000000},
    {"batches", 0, GN_OPTION_INT, AT(batches), GN_COMMAND_run, "K",
     "run on K random parts of the graph, one after another,\nand report what was compiled for "
     "them",
     NULL, 1, 10000000},
    {"stance", 0, GN_OPTION_CHOICE, AT(stance), GN_COMMAND_run, "WHAT",
     "what a batch does that no program fits: recompile (the\ndefault), fail-on-recompile, "
     "eager-on-recompile or\n"
     "run-what-is-compiled",
     stances},
    {"recompile-limit", 0, GN_OPTION_INT, AT(recompile_limit), GN_COMMAND_run, "N",
     "how often batches may be compiled for again (default: 8)", NULL, 1, INT32_MAX},
    {"modes", 0, GN_OPTION_STRING, AT(modes), BENCH, "LIST",
     "compile modes, separated by commas, or all "
     "(default:\neager,default,reduce-overhead,max-autotune)"},
    {"warmup", 0, GN_OPTION_INT, AT(warmup), BENCH, "N",
     "runs and steps that are not timed, before others (default: 5)", NULL, 0, 1000000},
    {"compile-only", 0, GN_OPTION_FLAG, AT(compile_only), BENCH, NULL, "compile and run nothing"},
    {"timeout", 0, GN_OPTION_INT, AT(timeout), BENCH, "SECONDS",
     "end a cell that takes longer (default: 600)", NULL, 1, 10000000},
    {"cell", 0, GN_OPTION_STRING, AT(cell), BENCH, "FILE",
     "measure one cell in this process and write it as JSON: how the\n"
     "cells of a grid are run"},
    {"epochs", 0, GN_OPTION_INT, AT(epochs), BENCH, "N",
     "time N training steps, each over the whole graph (default: 20)", NULL, 1, 1000000},
    {"resume", 0, GN_OPTION_FLAG, AT(resume), BENCH, NULL,
     "keep the cells that the folder has, of these settings"},
    GROUP("searching"),
    {"tune-budget", 0, GN_OPTION_REAL, AT(tune_budget), MODEL | BENCH, "SECONDS",
     "how long max-autotune and tune search (default: 5)", NULL, 0, 1000000},
    {"tune-lock", 0, GN_OPTION_STRING, AT(tune_lock), MODEL, "FILE",
     "take the choices of schedules from this file, or stop where\nit does not fit; tune: write "
     "it"},
    {"tolerance", 0, GN_OPTION_STRING, AT(tolerance), GN_COMMAND_tune, "PART",
     "search for the least memory instead: what is kept in 16 bits while\nthe validation metric is "
     "no worse than float32's by more than\nthis, as 0.1%"},
    {"show", 0, GN_OPTION_FLAG, AT(show), GN_COMMAND_tune, NULL,
     "say what is kept, and search nothing"},
    GROUP("the rest"),
    {"cache-dir", 0, GN_OPTION_STRING, AT(cache_dir), MODEL | BENCH | GN_COMMAND_cache, "DIR",
     "where compiled kernels are kept (default: GNNC_CACHE_DIR, or\ngnnc in the user's cache "
     "folder; GNNC_CACHE=0: "
     "nowhere)"},
    {"json", 0, GN_OPTION_FLAG, AT(json), MODEL | BENCH | GN_COMMAND_cache | STORE, NULL,
     "print the report as JSON"},
    {"debug", 'd', GN_OPTION_LIST, AT(debug), MODEL, "TOPICS",
     "say on standard error what happens, of these topics,\nseparated by commas: cache, "
     "recompiles"},
    {"quiet", 'q', GN_OPTION_FLAG, AT(quiet), ALL, NULL, "no progress, no remarks"},
    {"verbose", 'v', GN_OPTION_COUNT, AT(verbose), ALL, NULL, "say more; twice, even more"},
    {"help", 'h', GN_OPTION_FLAG, AT(help), ALL, NULL, "this page"},
};

static const char *const commands[] = {
#define X(name) #name,
    GN_COMMANDS(X)
#undef X
        NULL,
};

const gn_option_table gn_cli_option_table = {options, sizeof options / sizeof *options, commands};

void gn_cli_options_init(gn_cli_options *o)
{
    *o = (gn_cli_options){.split = -1,
                          .classes = -1,
                          .epochs = -1,
                          .batch = -1,
                          .ahead = -1,
                          .checkpoint_every = -1,
                          .seed = -1,
                          .seeds = -1,
                          .threads = -1,
                          .repeat = -1,
                          .batches = -1,
                          .recompile_limit = -1,
                          .pass_limit = -1,
                          .tune_budget = -1,
                          .rate = -1,
                          .warmup = -1,
                          .steps = -1,
                          .timeout = -1};
}
