/* --importance: how much each feature adds to what a model predicts, in a file and in reports. */
#ifndef GN_CLI_FEATURE_IMPORTANCE_H
#define GN_CLI_FEATURE_IMPORTANCE_H

#include "cli/command.h"
#include "cli/json.h"
#include "session/importance.h"

/* Do the options go together, is the file's name one of a table?  Before the work. */
GN_NODISCARD gn_status *gn_cli_check_importance(const gn_cli *cli);

/* Of a session that has run and was fetched: finds it and writes the file.  *out is in the
 * session's arena. */
GN_NODISCARD gn_status *gn_cli_find_importance(const gn_cli *cli, gn_session *s,
                                               gn_importance *out);

/* A line with the features that add most, and of JSON an object. */
void gn_cli_print_importance(const gn_cli *cli, const gn_importance *i);
void gn_cli_json_importance(gn_json *j, const gn_cli *cli, const gn_importance *i);

#endif
