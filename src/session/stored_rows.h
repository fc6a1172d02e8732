/* Rows of features that lie in a mapped file (runtime/data/lent.h): checked before programs read
 * them, and asked for ahead. */
#ifndef GN_SESSION_STORED_ROWS_H
#define GN_SESSION_STORED_ROWS_H

#include "runtime/run/paged.h"
#include "session/session.h"

/* Bytes of them, of all inputs; and they go with others' pages. */
int64_t gn_stored_bytes(const gn_session *s);
void gn_stored_lend(const gn_session *s, gn_pages *to);
/* Before the first batch: what is read of the file is read here and there. */
void gn_stored_scatter(const gn_session *s);
/* Before the unit is bound, which may run what is computed ahead: inputs of which it may read any
 * row.  GN_ERR_DATA: a block is damaged. */
GN_NODISCARD gn_status *gn_stored_check(const gn_session *s, const gn_unit *u);
/* When an instance of the code is bound (NULL: none is): the rows that its picks have, all of which
 * are asked for at once. */
GN_NODISCARD gn_status *gn_stored_check_picked(const gn_session *s, const gn_compiled *code,
                                               const gn_instance *in);

#endif
