/* Dataset: one graph with what a model reads on it, as a reader found it, in the user's node and
 * edge order.
 *
 * Readers fill it, the driver binds its tensors by name to a program's inputs.  All arrays are
 * owned by the dataset (malloc) and freed by gn_dataset_free, but for those that a mapped file
 * lends (lent.h), to which nobody may write.  Not thread-safe while being filled; immutable
 * afterwards. */
#ifndef GN_RUNTIME_DATA_DATASET_H
#define GN_RUNTIME_DATA_DATASET_H

#include "base/status.h"
#include "runtime/data/tables.h"
#include "runtime/graph/reorder.h"

#include <stdbool.h>
#include <stdint.h>

/* Row-compressed sparse matrix [rows, cols]; columns sorted and unique within a row. */
struct gn_csr {
    int64_t rows, cols, nnz;
    int64_t *ptr; /* [rows + 1] */
    int32_t *col; /* [nnz] */
    float *val;   /* [nnz] */
    bool lent;    /* the arrays are a file's */
};

/* An array that no key of the format names: data for an input that a model declares, or a key that
 * is misspelt. */
typedef struct gn_data_array {
    char *name;
    int rank;
    int64_t dim[8];
    float *data;   /* NULL: these are no numbers, or they were given back */
    bool lent;     /* `data` is a file's */
    bool also;     /* under a name of other libraries: features, labels or graphs as well */
    bool taken;    /* a model's input: set by who binds it */
    bool on_nodes; /* taken: it has a row for each node, which gn_dataset_renumber moves */
    bool on_edges; /* taken: a row for each edge, in the order of src and dst */
} gn_data_array;

struct gn_dataset {
    char *name;
    int64_t n_nodes, n_edges;
    int64_t *src, *dst; /* [n_edges] message goes src -> dst; user's order, repeats and loops as the
                           format says */
    gn_by_dst by_dst;   /* in their place: lent.h makes lists of it */
    float *edge_weight; /* [n_edges] or NULL */
    float *edge_attr;   /* [n_edges, edge_dim] or NULL */
    int64_t edge_dim;
    bool edges_remade; /* edges are others than in the file: reversed ones came in, repeats or loops
                          went */

    /* Node features [n_nodes, n_features]: exactly one of the three is set when n_features > 0.
     * A reader whose source is sparse gives CSR and never densifies. */
    int64_t n_features;
    float *x; /* dense, row-major */
    gn_csr *x_csr;
    gn_codes x_codes;
    char **feature_name; /* [n_features] what each is called; NULL: nobody says */

    int64_t n_classes;
    /* Of nodes, or of the rows that `labelled` says: */
    int32_t *y; /* [n_nodes] class of a node, or -1 where unknown; NULL without labels */
    /* [n_nodes] 0/1, NULL when the data has no labels */
    uint8_t *train_mask, *val_mask, *test_mask;
    /* How often a split that lists nodes by number has each, where one is listed twice or more;
     * NULL: once, or not at all, as the mask says. */
    float *train_times, *val_times, *test_times; /* [n_nodes] */
    bool split_drawn;        /* the split was drawn by seed, not given by the data */
    bool synthetic_features; /* features were made up (identity/degree/one-hot) because the data has
                                none */
    bool normalized;         /* rows of features were divided by their sums */
    int reduced;             /* a gn_reduction: what made the features of those that were read */
    int64_t n_features_read; /* how many those were; 0 where there is no reduction */
    bool embedded;           /* the default graph of the program */
    int64_t *row_of; /* [n_nodes] where the source's node v lies, which has other numbers; NULL: it
                        has the same */
    struct gn_block_file *file; /* what lends arrays, and is freed with the dataset; NULL: none */

    int n_more;
    gn_data_array *more; /* arrays that the format does not know */

    int n_remarks;
    char **remark; /* what the reader met that is legal and probably not meant: a sentence each,
                      without a full stop */

    /* Rows of other types than nodes, what relates them, what lies on them (tables.h). */
    bool typed;       /* all rows are those of tables: no nodes, edges and features beside them */
    int labelled;     /* the space that y and the masks are over; 0: nodes */
    bool kinds_split; /* relations have the edges of g by kind, and a model of all relations is to
                         leave g out */
    int n_tables, n_relations, n_columns;
    gn_table *tables;
    gn_relation *relations;
    gn_table_column *columns;
};

/* Features of nodes: the data's, or made up in their place. */
#define GN_FEATURES(X)                                                                             \
    X(DATA, "data")                                                                                \
    X(IDENTITY, "identity") /* row i of the identity, sparse */                                    \
    X(DEGREE, "degree")     /* one number: how many edges come in */                               \
    X(ONES, "ones")         /* one number: 1 */

typedef enum gn_features {
#define X(id, name) GN_FEATURES_##id,
    GN_FEATURES(X)
#undef X
        GN_FEATURES_COUNT
} gn_features;
extern const char *const gn_features_name[GN_FEATURES_COUNT];

/* Fewer features, made of those of the data (svd.h). */
#define GN_REDUCTIONS(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(SVD, "svd") /* along singular vectors */                                                     \
    X(PCA, "pca") /* of what is left without the mean */

typedef enum gn_reduction {
#define X(id, name) GN_REDUCTION_##id,
    GN_REDUCTIONS(X)
#undef X
        GN_REDUCTION_COUNT
} gn_reduction;
extern const char *const gn_reduction_name[GN_REDUCTION_COUNT];

typedef struct gn_data_options {
    const char *path; /* file, folder, "synthetic:..." or NULL for the embedded karate club */
    uint64_t seed;    /* for drawn splits and synthetic graphs */
    gn_features features;
    gn_reduction reduce; /* of the features that are read, behind their normalisation */
    int64_t components;  /* so many, if any */
    int64_t classes; /* how many there are; 0: as labels say.  GN_ERR_USAGE where there is a label
                        above */
    int split; /* which of several splits (heterophilous, ten folds of TU: 0..9); 0 where there is
                  one, or one is drawn */
    int normalize_rows; /* -1: the format's default (on for Planetoid, off elsewhere and for
                           features that are made up), 0 off, 1 on */
    int undirected; /* -1: the format's default (on for gnn-benchmark and heterophilous .npz), 0: as
                       stored (what a format calls symmetric stays so), 1: every edge gets its
                       reverse, repeats are merged */
    bool undrawn;   /* where the data give no split, none is drawn */
} gn_data_options;

/* Recognises what lies at `path` and reads it.  Errors: GN_ERR_IO (missing, unreadable),
 * GN_ERR_DATA (malformed: file and line, key or byte offset, and what was expected), GN_ERR_USAGE
 * (an unknown key of synthetic:, split out of range), GN_ERR_NOMEM.  On success *out is owned by
 * the caller. */
GN_NODISCARD gn_status *gn_dataset_read(const gn_data_options *opt, gn_dataset **out);
void gn_dataset_free(gn_dataset *d); /* NULL is fine */

/* Row v of space k becomes row to[k][v] (a permutation; NULL: rows of k stay), for each of the
 * n_tables + 1 spaces: in edges, features, labels, masks and columns, and row_of says so.  The
 * order of edges stays.  Arrays that the format does not know move where they are known to be on
 * nodes.  GN_ERR_NOMEM: the dataset is as it was or renumbered in part, and of no use. */
GN_NODISCARD gn_status *gn_dataset_renumber(gn_dataset *d, int64_t *const *to);

/* Numbers in an order of the graph's; of several types of rows in that of one graph of them all,
 * with the edges of all relations.  `own`: the graph g as the runtime has it, or NULL.  Ended by
 * gn_numbers_free. */
GN_NODISCARD gn_status *gn_dataset_new_numbers(gn_dataset *d, gn_graph *own, gn_order how,
                                               int64_t ***to);
void gn_numbers_free(const gn_dataset *d, int64_t **to); /* NULL is fine */
/* Both. */
GN_NODISCARD gn_status *gn_dataset_order(gn_dataset *d, gn_order how);
/* Of those one that a model declares on nodes (on_nodes), where these have other numbers. */
GN_NODISCARD gn_status *gn_data_array_move(gn_dataset *d, gn_data_array *a);

/* A relation from nodes to nodes for each number below the classes of the column g.kind: its edges
 * in the order of g, of g.train_mask alone where there is one.  Its name is what the column's
 * `names` has for it, cut and cleaned to a name of the language, else rel_<number>; `inverse`: each
 * is followed by its reverse, <name>_inv.  g and its columns stay.  Once; GN_ERR_DATA where edges
 * have no kinds. */
GN_NODISCARD gn_status *gn_dataset_split_kinds(gn_dataset *d, bool inverse);

/* Notes what a reader met that is legal and probably not meant.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_dataset_remark(gn_dataset *d, const char *fmt, ...) GN_PRINTF(2, 3);

/* Features have no names any more. */
void gn_dataset_forget_names(gn_dataset *d);

/* Frees the array's numbers; its name and shape stay. */
void gn_data_array_drop(gn_data_array *a);

/* Frees the edges, of relations too, and what lies on them; where `features`, the sparse features
 * of nodes as well: for a caller that has made its own of them.  Names, shapes and counts stay. */
void gn_dataset_drop_edges(gn_dataset *d, bool features);

/* Checks what every consumer relies on: indices in range, finite features and weights, labels below
 * n_classes, mask lengths.  gn_dataset_read calls it last. */
GN_NODISCARD gn_status *gn_dataset_check(const gn_dataset *d);

#endif
