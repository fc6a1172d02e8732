/* Scores of what a session's last forward pass gave, as commands print them. */
#ifndef GN_CLI_SCORES_H
#define GN_CLI_SCORES_H

#include "cli/command.h"
#include "cli/json.h"
#include "session/session.h"

/* "metrics": an object of every mask, of results that tell of classes and data that has labels;
 * else nothing. */
GN_NODISCARD gn_status *gn_cli_json_metrics(gn_json *j, const gn_session *s);
/* "not_finite": how many rows have a NaN or an infinity. */
void gn_cli_json_not_finite(gn_json *j, const gn_session *s);

/* A line of each score that is no accuracy: the area under the ROC curve where classes are
 * unbalanced, and means over classes; all that there are with -v. */
GN_NODISCARD gn_status *gn_cli_print_metrics(const gn_cli *cli, const gn_session *s);
/* A warning on standard error where there are such rows. */
void gn_cli_warn_not_finite(const gn_cli *cli, const gn_session *s);

#endif
