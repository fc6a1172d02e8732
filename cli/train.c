#include "cli/command.h"

static gn_status *train(gn_cli *cli)
{
    (void)cli;
    GN_FAIL(GN_ERR_INTERNAL, "train: not connected");
}

const gn_command gn_command_train = {
    .name = "train",
    .usage = "train MODEL.gnn [options]",
    .summary = "train a model on a graph",
    .about = "Trains a model as its train block says and reports loss and accuracy.  The same seed gives the\n"
             "same bits, on any number of threads.\n",
    .examples = "  gnnc train samples/gcn.gnn                                 on the built-in graph\n"
                "  gnnc train samples/gcn.gnn --data cora --save w.safetensors\n"
                "  gnnc train samples/gat.gnn --data cora --seeds 10 --json   mean and deviation of ten runs\n"
                "  gnnc train samples/gcn.gnn -D hidden=64 --epochs 100 -O max-autotune\n",
    .min_args = 1,
    .max_args = 1,
    .run = train,
};
