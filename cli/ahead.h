/* gnnc MODEL.gnn -o FILE.o|.a|.so: a model compiled ahead of time. */
#ifndef GN_CLI_AHEAD_H
#define GN_CLI_AHEAD_H

#include "cli/session_options.h"

/* Was that asked for?  GN_ERR_USAGE: options that go together with it alone, or a file of no known
 * kind. */
GN_NODISCARD gn_status *gn_cli_wants_ahead(const gn_cli *cli, bool *out);
GN_NODISCARD gn_status *gn_cli_compile_ahead(gn_cli *cli, gn_session_options *o);

#endif
