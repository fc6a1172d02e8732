/* One function a format.  Each makes a dataset of its own on success and leaves nothing behind on
 * failure; read.c recognises the format, and does what is the same for all: normalising, splitting,
 * checking. The `_parse` forms take bytes, so that tests and fuzzers need no files; `origin` names
 * them in errors. */
#ifndef GN_RUNTIME_DATA_READERS_H
#define GN_RUNTIME_DATA_READERS_H

#include "runtime/data/dataset.h"
#include "runtime/data/edges.h"

/* What a reader is asked for, after defaults; and what it found out for those that follow. */
typedef struct gn_reading {
    const gn_data_options *opt;
    const char *origin;
    bool undirected; /* out: the reader has made (or kept) the edges symmetric */
    int64_t splits;  /* out: how many splits the data give; 0 where none, then one is drawn */
    bool normalize_default; /* out: rows are normalised unless the options say no */
} gn_reading;

/* GN_ERR_USAGE: opt->split is none of `splits`. */
GN_NODISCARD gn_status *gn_reading_check_split(const gn_reading *r);

typedef gn_status *gn_reader(const void *bytes, size_t n, gn_reading *r, gn_dataset **out);

GN_NODISCARD gn_status *gn_graph_parse(const void *bytes, size_t n, gn_reading *r,
                                       gn_dataset **out);
GN_NODISCARD gn_status *gn_npz_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out);
GN_NODISCARD gn_status *gn_mtx_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out);
GN_NODISCARD gn_status *gn_edgelist_parse(const void *bytes, size_t n, gn_reading *r,
                                          gn_dataset **out);

GN_NODISCARD gn_status *gn_karate_read(gn_reading *r, gn_dataset **out);
GN_NODISCARD gn_status *gn_planetoid_read(const char *folder, gn_reading *r, gn_dataset **out);
GN_NODISCARD gn_status *gn_synthetic_read(const char *text, gn_reading *r,
                                          gn_dataset **out); /* after
                                                                "synthetic:"
                                                              */

/* The eight files of a Planetoid folder as bytes. */
typedef struct gn_input {
    const void *bytes;
    size_t n;
    const char *origin;
} gn_input;
enum {
    GN_PLANETOID_X,
    GN_PLANETOID_TX,
    GN_PLANETOID_ALLX,
    GN_PLANETOID_Y,
    GN_PLANETOID_TY,
    GN_PLANETOID_ALLY,
    GN_PLANETOID_GRAPH,
    GN_PLANETOID_TEST_INDEX,
    GN_PLANETOID_PARTS
};
GN_NODISCARD gn_status *gn_planetoid_parse(const gn_input *part, gn_dataset **out);

GN_NODISCARD gn_status *gn_dataset_new(const char *name, gn_dataset **out);
/* Allocates y (all -1) and the three masks. */
GN_NODISCARD gn_status *gn_dataset_labels(gn_dataset *d);
/* 20 nodes a class for training, 30 for validation, the rest for test, drawn by seed; a class of
 * fewer than 60 nodes gives a third to each. */
GN_NODISCARD gn_status *gn_dataset_draw_split(gn_dataset *d, uint64_t seed);
/* features.c: `what` in the place of the features that there are, if any. */
GN_NODISCARD gn_status *gn_features_make(gn_dataset *d, gn_features what);

#endif
