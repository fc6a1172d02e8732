/* A subcommand: cli/<name>.c holds one gn_command, and options.h lists the names.
 *
 * Data goes to standard output, everything else to standard error.  A command reports failure by
 * its status; main prints it and turns its code into the exit status (gn_code_exit). */
#ifndef GN_CLI_COMMAND_H
#define GN_CLI_COMMAND_H

#include "cli/options.h"
#include "cli/progress.h"

typedef struct gn_cli {
    gn_arena *arena; /* the command's, freed by main; a failed allocation is reported there */
    gn_cli_options opt;
    gn_string_list args;      /* operands, the subcommand's name not among them */
    struct gn_cache *cache;   /* what gn_cli_open_cache opened; ended by main */
    gn_progress line;         /* of what takes long before a command's own work */
    struct gn_target *target; /* what gn_cli_open_device opened; ended by main */
} gn_cli;

typedef struct gn_command {
    const char *name;
    const char *usage;   /* "train MODEL [options]" */
    const char *summary; /* one line for the list of commands */
    const char *about;   /* a paragraph for the command's page; ends with a line feed */
    const char *examples;
    bool takes_model;       /* the first operand is a model's file, or names a sample; all of them
                               where there may be any number */
    int min_args, max_args; /* operands; max -1: any number */
    gn_status *(*run)(gn_cli *cli);
} gn_command;

#define X(name) extern const gn_command gn_command_##name;
GN_COMMANDS(X)
#undef X

#endif
