/* What OGB's folders of one type of nodes and of several have in common. */
#ifndef GN_RUNTIME_DATA_OGB_H
#define GN_RUNTIME_DATA_OGB_H

#include "runtime/data/folder.h"
#include "runtime/data/rows.h"
#include "runtime/data/triplet.h"

/* What lies beside the raw files: split/NAME of the --split that was asked for. */
typedef struct gn_ogb_split {
    char folder[GN_PATH_SIZE]; /* "": there is none */
    bool of_links;             /* it has train.pt, which is of links (ogb_links.c) */
} gn_ogb_split;
GN_NODISCARD gn_status *gn_ogb_find_split(const char *raw, gn_reading *r, gn_ogb_split *out);

/* train, valid and test: numbers of rows that have labels; nothing where there are no files. */
GN_NODISCARD gn_status *gn_ogb_take_split(const gn_input part[3], gn_dataset *d);
GN_NODISCARD gn_status *gn_ogb_read_split(const gn_ogb_split *split, const char *type,
                                          gn_dataset *d);

/* The same from split_dict.pt: a dict of `train`, `valid` and `test`; `type`: they are dicts of
 * types; NULL: they are numbers. */
GN_NODISCARD gn_status *gn_ogb_take_split_dict(const gn_input *f, const char *type, gn_dataset *d);

/* A split of links, where it is one: the relation `seeds`, or facts in the place of g's edges.
 * `reversed`: g has the reverse of each edge, which facts cannot have: GN_ERR_USAGE. */
GN_NODISCARD gn_status *gn_ogb_read_links(const gn_ogb_split *split, bool reversed, gn_dataset *d);
/* Of types: the remark that nothing of it is read. */
GN_NODISCARD gn_status *gn_ogb_remark_links(const gn_ogb_split *split, gn_dataset *d);

/* Many graphs, of `nodes` [graphs] nodes each: the table `graph` in *space, and `member`. */
GN_NODISCARD gn_status *gn_ogb_add_graphs(gn_dataset *d, const int64_t *nodes, int64_t graphs,
                                          int *space);

/* Labels of the rows of a space: one whole number each is a class, -1 where it is missing; others
 * are a column `target`, and `target_known` where some are missing. */
GN_NODISCARD gn_status *gn_ogb_take_labels(const gn_input *f, int space, gn_dataset *d);

/* A file of numbers as a column [rows, cols] of float32. */
GN_NODISCARD gn_status *gn_ogb_take_column(const gn_input *f, bool on_edges, int over,
                                           const char *name, gn_dataset *d);

#endif
