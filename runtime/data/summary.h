/* What data have besides one graph, for people. */
#ifndef GN_RUNTIME_DATA_SUMMARY_H
#define GN_RUNTIME_DATA_SUMMARY_H

#include "runtime/data/dataset.h"

#include <stdio.h>

/* A line for each type of rows and the relations that lead to them, and one for what lies on the
 * graph's edges; nothing where there are no such things. */
void gn_dataset_summary(const gn_dataset *d, FILE *to);

/* What the rows with labels are: "nodes", "graphs", "rows of paper". */
typedef struct gn_rows_name {
    char s[96];
} gn_rows_name;
gn_rows_name gn_dataset_rows_name(const gn_dataset *d);

#endif
