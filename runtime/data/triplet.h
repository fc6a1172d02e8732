/* Types of relations as others name them: source, relation, target. */
#ifndef GN_RUNTIME_DATA_TRIPLET_H
#define GN_RUNTIME_DATA_TRIPLET_H

#include "runtime/data/dataset.h"

enum { GN_TRIPLET_NAME = 128 };
typedef struct gn_triplet {
    char part[3][GN_TRIPLET_NAME];
} gn_triplet;

/* Cuts author___writes___paper at "___", or author:writes:paper at ":"; false: these are no three
 * names, or one is too long. */
bool gn_triplet_cut(const char *text, const char *between, gn_triplet *out);
int gn_triplet_order(const void *a, const void *b); /* for qsort: of structures that begin with one
                                                     */

/* A relation's name: the middle part, or all of them where another has it. */
typedef struct gn_triplet_text {
    char s[3 * GN_TRIPLET_NAME + 8];
} gn_triplet_text;
gn_triplet_text gn_triplet_name(const gn_dataset *d, const gn_triplet *t);

#endif
