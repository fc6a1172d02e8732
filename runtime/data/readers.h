/* One function a format.  Each makes a dataset of its own on success and leaves nothing behind on
 * failure; read.c recognises the format, and does what is the same for all: normalising, splitting,
 * checking. The `_parse` forms take bytes, so that tests and fuzzers need no files; `origin` names
 * them in errors. */
#ifndef GN_RUNTIME_DATA_READERS_H
#define GN_RUNTIME_DATA_READERS_H

#include "runtime/data/dataset.h"
#include "runtime/data/edges.h"

struct gn_folder_file;

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
GN_NODISCARD gn_status *gn_synthetic_read(const char *text, gn_reading *r,
                                          gn_dataset **out); /* after
                                                                "synthetic:"
                                                              */

/* Of a folder; `name` is what its files are named by, where that is for them to say, else "":
 * "cora", "MUTAG". */
typedef gn_status *gn_folder_reader(const char *folder, const char *name, gn_reading *r,
                                    gn_dataset **out);
gn_folder_reader gn_planetoid_read, gn_tu_read, gn_kgbench_read, gn_triples_read, gn_ogb_read,
    gn_ogb_typed_read, gn_ogb_binary_read, gn_ogb_binary_typed_read, gn_saint_read,
    gn_graphbolt_read, gn_graphbolt_refuse;

/* A file of a folder. */
typedef struct gn_input {
    const void *bytes; /* NULL: there is none of its name */
    size_t n;
    const char *origin;
} gn_input;

/* The eight files of a Planetoid folder as bytes. */
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

/* Files of a TU folder, NAME_A.txt and others; the first two are always there. */
#define GN_TU(X)                                                                                   \
    X(A, "A")                                                                                      \
    X(INDICATOR, "graph_indicator")                                                                \
    X(GRAPH_LABELS, "graph_labels")                                                                \
    X(GRAPH_ATTRIBUTES, "graph_attributes")                                                        \
    X(NODE_LABELS, "node_labels")                                                                  \
    X(NODE_ATTRIBUTES, "node_attributes")                                                          \
    X(EDGE_LABELS, "edge_labels")                                                                  \
    X(EDGE_ATTRIBUTES, "edge_attributes")
enum {
#define X(id, name) GN_TU_##id,
    GN_TU(X)
#undef X
        GN_TU_PARTS
};
GN_NODISCARD gn_status *gn_tu_parse(const gn_input *part, gn_reading *r, gn_dataset **out);

/* Of a kgbench folder; those behind the first three may be missing. */
enum {
    GN_KGBENCH_TRIPLES,
    GN_KGBENCH_TRAINING,
    GN_KGBENCH_TESTING,
    GN_KGBENCH_VALIDATION,
    GN_KGBENCH_RELATIONS,
    GN_KGBENCH_ENTITIES,
    GN_KGBENCH_PARTS
};
GN_NODISCARD gn_status *gn_kgbench_parse(const gn_input *part, gn_reading *r, gn_dataset **out);

/* Of a folder of triples; those behind the first may be missing. */
enum {
    GN_TRIPLES_TRAIN,
    GN_TRIPLES_VALID,
    GN_TRIPLES_TEST,
    GN_TRIPLES_ENTITIES,
    GN_TRIPLES_RELATIONS,
    GN_TRIPLES_PARTS
};
GN_NODISCARD gn_status *gn_triples_parse(const gn_input *part, gn_reading *r, gn_dataset **out);

/* Of an OGB folder of one type of nodes; those behind the first three may be missing. */
enum {
    GN_OGB_EDGES,
    GN_OGB_NODE_COUNTS,
    GN_OGB_EDGE_COUNTS,
    GN_OGB_NODE_FEATURES,
    GN_OGB_EDGE_FEATURES,
    GN_OGB_NODE_LABELS,
    GN_OGB_GRAPH_LABELS,
    GN_OGB_TRAIN,
    GN_OGB_VALID,
    GN_OGB_TEST,
    GN_OGB_SPLIT_DICT,
    GN_OGB_PARTS
};
GN_NODISCARD gn_status *gn_ogb_parse(const gn_input *part, gn_reading *r, gn_dataset **out);

/* The same in binary form; those behind the first may be missing. */
enum {
    GN_OGB_BINARY_DATA,
    GN_OGB_BINARY_NODE_LABELS,
    GN_OGB_BINARY_GRAPH_LABELS,
    GN_OGB_BINARY_TRAIN,
    GN_OGB_BINARY_VALID,
    GN_OGB_BINARY_TEST,
    GN_OGB_BINARY_SPLIT_DICT,
    GN_OGB_BINARY_PARTS
};
GN_NODISCARD gn_status *gn_ogb_binary_parse(const gn_input *part, gn_reading *r, gn_dataset **out);

/* Of a GraphSAINT folder, all of which must be there. */
enum { GN_SAINT_EDGES, GN_SAINT_FEATURES, GN_SAINT_CLASSES, GN_SAINT_ROLES, GN_SAINT_PARTS };
GN_NODISCARD gn_status *gn_saint_parse(const gn_input *part, gn_reading *r, gn_dataset **out);

/* Of a GraphBolt folder: metadata.yaml, and whatever files it names, which `read` gives. */
typedef struct gn_graphbolt_files {
    void *context;
    gn_status *(*read)(void *context, const char *path, struct gn_folder_file *out);
} gn_graphbolt_files;
GN_NODISCARD gn_status *gn_graphbolt_parse(const gn_input *metadata,
                                           const gn_graphbolt_files *files, gn_reading *r,
                                           gn_dataset **out);

GN_NODISCARD gn_status *gn_dataset_new(const char *name, gn_dataset **out);
/* The same, named by what is read, which errors on the way say. */
GN_NODISCARD gn_status *gn_dataset_new_read(const gn_reading *r, gn_dataset **out);
/* Allocates y (all -1) and the three masks. */
GN_NODISCARD gn_status *gn_dataset_labels(gn_dataset *d);
/* 20 nodes a class for training, 30 for validation, the rest for test, drawn by seed; a class of
 * fewer than 60 nodes gives a third to each. */
GN_NODISCARD gn_status *gn_dataset_draw_split(gn_dataset *d, uint64_t seed);
/* Ten folds of the labelled rows, drawn by seed, each with about as many of each class: fold
 * `split` is for test, the next for validation, the others for training.  Fewer than ten rows are
 * split as gn_dataset_draw_split does. */
GN_NODISCARD gn_status *gn_dataset_draw_folds(gn_dataset *d, gn_reading *r);
/* A tenth of each class's rows for training becomes validation; one at least, where there are two.
 */
GN_NODISCARD gn_status *gn_dataset_hold_out(gn_dataset *d, uint64_t seed, int64_t *held);
/* features.c: `what` in the place of the features that there are, if any. */
GN_NODISCARD gn_status *gn_features_make(gn_dataset *d, gn_features what);

#endif
