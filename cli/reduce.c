#include "cli/command.h"

static gn_status *reduce(gn_cli *cli)
{
    (void)cli;
    GN_FAIL(GN_ERR_INTERNAL, "reduce: not connected");
}

const gn_command gn_command_reduce = {
    .name = "reduce",
    .usage = "reduce PROGRAM.gir [options] -- COMMAND...",
    .summary = "shrink a program that shows a defect",
    .about = "Makes a program in tensor IR smaller while COMMAND, with the path of the candidate as its last\n"
             "argument, still exits with 0; prints the smallest one found.\n",
    .examples = "  gnnc reduce bad.gir -o small.gir -- ./shows-the-defect.sh\n",
    .min_args = 2,
    .max_args = -1,
    .run = reduce,
};
