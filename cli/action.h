/* What a subcommand does, where its first operand says which of several things: `cache stats`. */
#ifndef GN_CLI_ACTION_H
#define GN_CLI_ACTION_H

#include "cli/command.h"

typedef struct gn_action {
    const char *name;
    uint32_t args;     /* operands behind its name */
    const char *takes; /* those, in words: "a file" */
    gn_status *(*run)(const gn_cli *cli);
} gn_action;

/* *out: the one of `actions` [n] that the operands name; GN_ERR_USAGE where none has the name, or
 * it takes other operands. */
GN_NODISCARD gn_status *gn_find_action(const gn_cli *cli, const gn_command *command,
                                       const gn_action *actions, int n, const gn_action **out);

#endif
