/* Which array of an .npz holds the features and which the labels of its nodes, whatever a library
 * calls them. */
#ifndef GN_RUNTIME_DATA_NPZ_NAMES_H
#define GN_RUNTIME_DATA_NPZ_NAMES_H

#include "runtime/data/npz.h"

/* The first of the keys (NULL at the end) that is there; NULL: none is. */
const char *gn_npz_first_of(const gn_npz *z, const char *const *keys);

/* How many rows an array may have that is taken for one of nodes. */
typedef struct gn_npz_rows {
    int64_t exact;        /* as many as there are nodes; -1: nobody has said that yet, and */
    int64_t least, named; /* as many as the edges name or more (at least: `least`), */
    int64_t edges;        /* but not as many as there are edges */
} gn_npz_rows;

typedef struct gn_npz_choice {
    const char *key; /* NULL: none */
    bool also; /* under a name that others mean otherwise: it stays an array that an input of a
                  model may read */
} gn_npz_choice;

/* Under names that mean nothing else whatever there is, under those of other libraries what has the
 * rows: of features a matrix, of labels whole numbers.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_npz_choose_x(gn_npz *z, const gn_npz_rows *rows, gn_npz_choice *out);
GN_NODISCARD gn_status *gn_npz_choose_y(gn_npz *z, const gn_npz_rows *rows, gn_npz_choice *out);

#endif
