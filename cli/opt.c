#include "cli/command.h"

static gn_status *opt(gn_cli *cli)
{
    (void)cli;
    GN_FAIL(GN_ERR_INTERNAL, "opt: not connected");
}

const gn_command gn_command_opt = {
    .name = "opt",
    .usage = "opt PROGRAM.gir [options]",
    .summary = "run passes over tensor IR",
    .about = "Reads tensor IR as text, runs passes over it and prints what they leave.  - reads standard input.\n"
             "For tests of single passes, and to look at one.\n",
    .examples = "  gnnc opt f.gir                        the pipeline of the default mode\n"
                "  gnnc opt f.gir --passes cse,dce       two passes\n"
                "  gnnc opt f.gir --pass-limit 3         which change breaks it?\n",
    .min_args = 1,
    .max_args = 1,
    .run = opt,
};
