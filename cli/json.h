/* JSON writer: RFC 8259 to a FILE, indented by two spaces a level, or on one line.
 *
 * Keys are given where a member of an object is written and are NULL elsewhere.  Doubles are
 * written with the fewest digits that read back the same; JSON has no NaN and no infinity, which
 * become null.  Bytes that are not UTF-8 become U+FFFD.  Write errors stay in the FILE: check
 * ferror at the end. */
#ifndef GN_CLI_JSON_H
#define GN_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { GN_JSON_DEPTH = 32 };

typedef struct gn_json {
    FILE *to;
    bool lines;                  /* indent, one member a line */
    int depth;                   /* open objects and arrays */
    bool array[GN_JSON_DEPTH];   /* is the level an array? */
    bool started[GN_JSON_DEPTH]; /* has the level a member? */
} gn_json;

void gn_json_init(gn_json *j, FILE *to, bool lines);

void gn_json_object(gn_json *j, const char *key); /* opens; at most GN_JSON_DEPTH levels */
void gn_json_array(gn_json *j, const char *key);
void gn_json_end(gn_json *j); /* closes the innermost; the last one ends the line */

void gn_json_string(gn_json *j, const char *key, const char *value); /* NULL: null */
void gn_json_int(gn_json *j, const char *key, int64_t value);
void gn_json_double(gn_json *j, const char *key, double value);
/* digits that read back the same float */
void gn_json_float(gn_json *j, const char *key, float value);
void gn_json_bool(gn_json *j, const char *key, bool value);
void gn_json_null(gn_json *j, const char *key);

#endif
