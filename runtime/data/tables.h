/* Tables: what data have besides one graph of nodes.
 *
 * Rows of further types, relations between rows, and columns on either.  Spaces are numbered as in
 * the schema: 0 is the nodes of the dataset itself (n_nodes, none of them in typed data), k is
 * table k - 1; relation 0 is its graph (src, dst), k is relations[k - 1].  Readers fill them
 * through the functions here, which take what they are given, on failure too. */
#ifndef GN_RUNTIME_DATA_TABLES_H
#define GN_RUNTIME_DATA_TABLES_H

#include "base/arena.h"
#include "base/schema.h"
#include "base/status.h"

typedef struct gn_dataset gn_dataset;
typedef struct gn_csr gn_csr;

typedef struct gn_table {
    char *name; /* "paper", "graph" */
    int64_t rows;
    int64_t *row_of; /* [rows] where the source's row v lies; NULL: where it was */
} gn_table;

/* Edges as graphs of the runtime have them (runtime/graph/graph.h), in a file that is mapped. */
typedef struct gn_by_dst {
    gn_elem index;       /* I32 or I64: of all arrays */
    const void *row_ptr; /* [rows of dst + 1] first edge of a destination; NULL: they are listed */
    const void *col, *pos; /* [n_edges] source, place in the user's order */
} gn_by_dst;

typedef struct gn_relation {
    char *name;   /* "writes", "member" */
    int src, dst; /* spaces */
    int64_t n_edges;
    int64_t *from, *to; /* [n_edges] rows of src and of dst, in the user's order */
    gn_by_dst by_dst;   /* in their place: lent.h makes lists of it */
} gn_relation;

/* Features in fewer bits than float32, in a file that is mapped or in memory. */
typedef struct gn_codes {
    gn_elem elem;     /* BF16, in memory F16, or U8: q stands for least + step * q of its column */
    const void *data; /* [rows, cols]; NULL: there are none */
    const float *step, *least; /* [cols] of U8 */
} gn_codes;

typedef struct gn_table_column {
    char *name; /* "paper.x", "writes.attr", "g.kind": of its space or relation, and its own */
    bool on_edges;
    int over;     /* a space, or a relation */
    gn_elem elem; /* F32, I32 or BOOL */
    int rank;     /* of a row */
    int64_t dim[GN_COLUMN_RANK];
    int64_t classes; /* I32: numbers lie below it; 0: nobody knows */
    char **names;    /* [classes] what the numbers stand for, or NULL */
    void *data;      /* [rows, dims]; NULL: sparse */
    gn_csr *csr;     /* F32 of rank 1, not on edges: the same, sparse */
    gn_codes codes;  /* likewise, in fewer bits */
} gn_table_column;

/* GN_ERR_NOMEM; GN_ERR_DATA: a name that is taken, or that the language cannot say. */
GN_NODISCARD gn_status *gn_dataset_add_table(gn_dataset *d, const char *name, int64_t rows,
                                             int *space);
GN_NODISCARD gn_status *gn_dataset_add_relation(gn_dataset *d, const char *name, int src, int dst,
                                                int64_t n_edges, int64_t *from, int64_t *to,
                                                int *relation);
/* `column`: its name alone, "x"; the dataset keeps "paper.x".  Owned: data, csr and names. */
GN_NODISCARD gn_status *gn_dataset_add_column(gn_dataset *d, const char *column,
                                              const gn_table_column *of);

/* Masks of edges that come set after set: `count` of them are to train on, for validation and for
 * test. */
GN_NODISCARD gn_status *gn_dataset_add_split(gn_dataset *d, int relation, const int64_t count[3]);

/* The column of this full name, "g.kind"; NULL: there is none. */
const gn_table_column *gn_dataset_column(const gn_dataset *d, const char *name);

/* Features of a type: "paper.x". */
bool gn_column_is_features(const gn_table_column *c);

int64_t gn_dataset_rows(const gn_dataset *d, int space);
int64_t gn_dataset_edges(const gn_dataset *d, int relation);
const char *gn_dataset_space(const gn_dataset *d, int space);
/* [rows] where the source's rows lie, which had other numbers; NULL: where they were. */
const int64_t *gn_dataset_row_of(const gn_dataset *d, int space);
/* The type of nodes of this name, from 1 on; 0: there is none. */
int gn_dataset_find_space(const gn_dataset *d, const char *name);
const char *gn_dataset_relation(const gn_dataset *d, int relation);
/* Rows that y and the masks are over. */
int64_t gn_dataset_labelled(const gn_dataset *d);

/* Ends in range, finite numbers, truths 0 or 1, classes.  gn_dataset_check calls it. */
GN_NODISCARD gn_status *gn_tables_check(const gn_dataset *d);
void gn_tables_free(gn_dataset *d);

/* What there is, as models see it; its texts are the dataset's. */
gn_schema gn_dataset_schema(gn_arena *a, const gn_dataset *d);

#endif
