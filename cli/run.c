#include "cli/command.h"

static gn_status *run(gn_cli *cli)
{
    (void)cli;
    GN_FAIL(GN_ERR_INTERNAL, "run: not connected");
}

const gn_command gn_command_run = {
    .name = "run",
    .usage = "run MODEL.gnn --weights FILE [options]",
    .summary = "run a trained model",
    .about = "Runs a model forward with trained weights and reports its accuracy where the data has labels.\n",
    .examples = "  gnnc run samples/gcn.gnn --weights w.safetensors\n"
                "  gnnc run samples/gcn.gnn --weights w.safetensors --predictions out.npz\n"
                "  gnnc run samples/gcn.gnn --weights w.safetensors --repeat 1000 --threads 1   time it\n",
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
