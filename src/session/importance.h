/* Importance of features: how much each adds to what a model says of some rows. */
#ifndef GN_SESSION_IMPORTANCE_H
#define GN_SESSION_IMPORTANCE_H

#include "session/session.h"

#define GN_IMPORTANCE_METHODS(X)                                                                   \
    X(GRADIENT, "gradient")     /* features times the gradient by them */                          \
    X(INTEGRATED, "integrated") /* times its mean along the way from no features: integrated       \
                                   gradients (Sundararajan, Taly, Yan, 2017) */
typedef enum gn_importance_method {
#define X(id, name) GN_IMPORTANCE_##id,
    GN_IMPORTANCE_METHODS(X)
#undef X
} gn_importance_method;

enum { GN_IMPORTANCE_STEPS = 50 }; /* of that way */

typedef struct gn_importance_options {
    gn_importance_method method;
    const uint8_t *mask;   /* rows of the result that are asked about; NULL: all, or */
    const int64_t *chosen; /* [n_chosen] those of these numbers, as the user counts them */
    int64_t n_chosen;
} gn_importance_options;

/* What the features of one type of nodes add. */
typedef struct gn_importance_table {
    const char *name; /* of the input, as programs have it: "x", "paper.x" */
    char *const *feature_name;
    int64_t n_nodes, n_features;
    double *of_feature; /* [n_features] the mean of |part| over nodes */
    float *part;        /* [n_nodes, n_features]; NULL where features are sparse, then: */
    float *value;       /* [nnz] of row i: [row[i], row[i + 1]), in column `column` */
    int64_t nnz, *row, *column;
} gn_importance_table;

/* All in the session's arena, rows as the user counts them. */
typedef struct gn_importance {
    int64_t rows;    /* of the result, that were asked about */
    int64_t unknown; /* of those, that have a NaN, which count as nothing */
    double score;    /* the sum of what is predicted for those rows */
    int n;
    gn_importance_table *tables; /* [n] one but for data of several types of nodes */
} gn_importance;

/* Of the first result that is classes of rows, else the first that has one number a row: what is
 * asked about is the number of the class that is predicted, or that one.  After an evaluation that
 * was fetched, of a session that was opened with `binds_again`.  GN_ERR_USAGE: no such result, or
 * row; GN_ERR_MODEL: what makes no sense of a model, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_session_importance(gn_session *s, const gn_importance_options *opt,
                                              gn_importance *out);

#endif
