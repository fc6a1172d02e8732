/* The entries of a JSON object in a file, one at a time: no more than one value is in memory. */
#ifndef GN_RUNTIME_DATA_JSON_ENTRIES_H
#define GN_RUNTIME_DATA_JSON_ENTRIES_H

#include "base/status.h"

#include <jansson.h>

typedef struct gn_json_entries {
    const char *origin;
    const char *p, *end;
    int64_t line; /* where the reader stands, from 1 */
    bool begun;
} gn_json_entries;

typedef struct gn_json_entry {
    json_t *key, *value; /* a string, anything; gn_json_entry_free */
    int64_t line;        /* that the value begins in */
} gn_json_entry;

/* `bytes` and `origin` must outlive it. */
gn_json_entries gn_json_entries_of(const void *bytes, size_t n, const char *origin);

/* The next entry; key is NULL behind the last.  GN_ERR_DATA with the line: no JSON, no object, text
 * behind its end. */
GN_NODISCARD gn_status *gn_json_next(gn_json_entries *in, gn_json_entry *out);
void gn_json_entry_free(gn_json_entry *e); /* an empty one is fine */

#endif
