#ifndef GN_CLI_DESCRIBE_DATA_H
#define GN_CLI_DESCRIBE_DATA_H

#include "session/session.h"

/* The data of a session and its splits, what its reader remarked, and arrays that nothing reads;
 * to stderr. */
void gn_cli_describe_data(const gn_session *s);

#endif
