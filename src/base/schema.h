/* Schema: which rows data have, what relates rows to rows, and what lies on them.
 *
 * One table from the readers to the programs.  A space is rows of one type: nodes, papers, graphs.
 * A relation holds edges from rows of one space to rows of another, and its edges are rows, too.  A
 * column is a tensor with a row for each row of a space or each edge of a relation.  What most data
 * have is one schema of these: the space `node`, the relation `g` from it to itself, and columns
 * under the names of data_name.h. */
#ifndef GN_BASE_SCHEMA_H
#define GN_BASE_SCHEMA_H

#include "base/elem.h"

#include <stdbool.h>
#include <stdint.h>

enum { GN_COLUMN_RANK = 7 };

#define GN_SPACE_NODE "node"   /* of data whose nodes are of one type */
#define GN_SPACE_GRAPH "graph" /* of data of many graphs */

typedef struct gn_schema_space {
    const char *name; /* "paper"; a model says `node.paper`, and `node` or `graph` for those two */
    int64_t rows;     /* -1: not known before data are bound */
    const int64_t *row_of; /* [rows] where a row of the data's lies, which are in another order
                              here; NULL: where it was */
} gn_schema_space;

typedef struct gn_schema_relation {
    const char *name; /* "writes" */
    int src, dst;     /* spaces, by their places in the schema */
    int64_t edges;    /* -1: not known */
} gn_schema_relation;

typedef struct gn_schema_column {
    const char *name; /* that programs have it under: "paper.x", "writes.attr" */
    bool on_edges;    /* over edges of a relation, else over rows of a space */
    int over;         /* which */
    gn_elem elem;
    int rank; /* of a row */
    int64_t dim[GN_COLUMN_RANK];
    int64_t classes; /* I32: numbers lie below it; 0: nobody knows */
    gn_elem codes;   /* F32 that lie as BF16 or U8, of which programs make it; F32: they do not */
} gn_schema_column;

typedef struct gn_schema {
    int n_spaces, n_relations, n_columns;
    const gn_schema_space *space;
    const gn_schema_relation *relation;
    const gn_schema_column *column;
    int labelled; /* the space that `y` and the masks are over */
} gn_schema;

/* Their places; -1: there is none of this name. */
int gn_schema_find_space(const gn_schema *s, const char *name);
int gn_schema_find_relation(const gn_schema *s, const char *name);
int gn_schema_find_column(const gn_schema *s, const char *name);
/* Where rows of this space lie; NULL: where they were, or there is no such space. */
const int64_t *gn_schema_row_of(const gn_schema *s, const char *name);
/* Rows of the space of this name, or numbers that the column of this name may have; -1: not
 * known. */
int64_t gn_schema_rows(const gn_schema *s, const char *name);

#endif
