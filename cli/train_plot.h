/* The plot of training: loss and scores over epochs, as SVG or as a page of HTML that needs
 * nothing else. */
#ifndef GN_CLI_TRAIN_PLOT_H
#define GN_CLI_TRAIN_PLOT_H

#include "base/arena.h"
#include "session/session.h"

typedef struct gn_train_point {
    uint64_t seed;
    gn_epoch e;
} gn_train_point;

typedef struct gn_train_plot {
    gn_arena *arena;
    const char *path;  /* NULL: there is none, and nothing is done */
    gn_train_point *p; /* of many epochs every so-manieth */
    int64_t n, stride;
    int64_t best; /* the last epoch that was the best of the last seed; 0: none */
} gn_train_plot;

/* The name alone, before the work; NULL is fine.  GN_ERR_USAGE. */
GN_NODISCARD gn_status *gn_train_plot_check(const char *path);
void gn_train_plot_epoch(gn_train_plot *t, uint64_t seed, const gn_epoch *e);
/* Writes what there is, of no epochs nothing.  `title`: "GCN on cora".  GN_ERR_IO. */
GN_NODISCARD gn_status *gn_train_plot_write(const gn_train_plot *t, const char *title);

#endif
