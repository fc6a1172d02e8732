/* gnnc tune --tolerance: what may be kept in 16 bits. */
#ifndef GN_CLI_PRECISION_SEARCH_H
#define GN_CLI_PRECISION_SEARCH_H

#include "cli/command.h"
#include "session/session.h"

GN_NODISCARD gn_status *gn_cli_tune_precision(gn_cli *cli, gn_session_options *o);

#endif
