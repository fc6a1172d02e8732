#include "cli/command.h"

static gn_status *compile(gn_cli *cli)
{
    (void)cli;
    GN_FAIL(GN_ERR_INTERNAL, "compile: not connected");
}

const gn_command gn_command_compile = {
    .name = "compile",
    .usage = "[compile] MODEL.gnn [options]",
    .summary = "compile a model; --emit shows a stage",
    .about = "Compiles a model for the shapes of its data and says what came of it: operators, kernels,\n"
             "memory, and what was fused or why not.  Nothing is run.\n",
    .examples = "  gnnc samples/gcn.gnn                           what the model becomes\n"
                "  gnnc samples/gcn.gnn --emit=gir -O eager       the tensor IR, unoptimised\n"
                "  gnnc samples/gcn.gnn --emit=asm -o gcn.s       machine code\n"
                "  gnnc samples/gat.gnn -D heads=4 -D hidden=16   other hyperparameters\n"
                "  gnnc samples/gcn.gnn --emit=dot | dot -Tsvg    a drawing\n",
    .min_args = 1,
    .max_args = 1,
    .run = compile,
};
