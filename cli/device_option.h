/* --device of commands that compile and run. */
#ifndef GN_CLI_DEVICE_OPTION_H
#define GN_CLI_DEVICE_OPTION_H

#include "cli/session_options.h"
#include "target/target.h"

/* What --device says.  GN_ERR_USAGE: nothing that is known. */
GN_NODISCARD gn_status *gn_cli_device_of(const gn_cli *cli, gn_device_choice *out);

/* Opens it: cli->target, which main closes; NULL for this processor. */
GN_NODISCARD gn_status *gn_cli_open_device(gn_cli *cli);

#endif
