/* A YAML document as a tree of mappings, lists and words, by libyaml.  Values are numbers of nodes;
 * 0 is none, which null is, too.  Only the first document of a file is read.  Anchors, keys that
 * are no words or come twice, depth and size beyond those of metadata are refused. */
#ifndef GN_RUNTIME_DATA_YAML_TREE_H
#define GN_RUNTIME_DATA_YAML_TREE_H

#include "base/status.h"

#include <stdint.h>

typedef struct gn_yaml gn_yaml;

/* `origin` must outlive it.  GN_ERR_DATA "origin:line: ...", GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_yaml_parse(const void *bytes, size_t n, const char *origin,
                                      gn_yaml **out);
void gn_yaml_free(gn_yaml *y); /* NULL is fine */

int gn_yaml_root(const gn_yaml *y);
/* What a mapping has under a key; 0: it is no mapping, or has nothing there. */
int gn_yaml_get(const gn_yaml *y, int mapping, const char *key);
/* The k-th key and value of a mapping, from 0; false behind the last. */
bool gn_yaml_entry(const gn_yaml *y, int mapping, int k, const char **key, int *value);

/* The items of a list, 0 of none. */
GN_NODISCARD gn_status *gn_yaml_count(const gn_yaml *y, int list, const char *what, int *n);
int gn_yaml_item(const gn_yaml *y, int list, int k);

/* The word `key` of a mapping, which lives as long as the tree; NULL where there is none, which is
 * an error where it is `needed`. */
GN_NODISCARD gn_status *gn_yaml_word(const gn_yaml *y, int mapping, const char *key, bool needed,
                                     const char **out);
/* Likewise a whole number, 0 or more; -1 where there is none. */
GN_NODISCARD gn_status *gn_yaml_number(const gn_yaml *y, int mapping, const char *key, bool needed,
                                       int64_t *out);

int gn_yaml_line(const gn_yaml *y, int node); /* from 1 */
/* GN_ERR_DATA "origin:line: ..." raised at `file`, `at` of gnnc's source. */
gn_status *gn_yaml_error(const char *file, int at, const gn_yaml *y, int node, const char *fmt, ...)
    GN_PRINTF(5, 6);
#define GN_YAML_FAIL(y, node, ...)                                                                 \
    return gn_yaml_error(__FILE__, __LINE__, (y), (node), __VA_ARGS__)

#endif
