/* Names numbered from 0 in the order of their first appearance. */
#ifndef GN_RUNTIME_DATA_NUMBERED_H
#define GN_RUNTIME_DATA_NUMBERED_H

#include "runtime/data/lines.h"

typedef struct gn_names {
    int64_t n, cap;
    gn_span *name; /* [n] into the text that they came from */
    int64_t *slot; /* number + 1; 0 is empty */
    int64_t slots;
} gn_names;

/* GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_names_number(gn_names *t, gn_span name, int64_t *number);
int64_t gn_names_find(const gn_names *t, gn_span name); /* -1: it has no number */
void gn_names_free(gn_names *t);

/* Copies of the names; GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_names_copy(const gn_names *t, char ***out);

#endif
