/* What the readers of GraphBolt's folders share: graphbolt.c has graph and features,
 * graphbolt_tasks.c the tasks, graphbolt_arrays.c files of arrays. */
#ifndef GN_RUNTIME_DATA_GRAPHBOLT_H
#define GN_RUNTIME_DATA_GRAPHBOLT_H

#include "runtime/data/folder.h"
#include "runtime/data/torchfile.h"
#include "runtime/data/triplet.h"
#include "runtime/data/yaml_tree.h"

/* A relation of typed data, with its name in the metadata. */
typedef struct gn_bolt_edges {
    gn_triplet is; /* first: sorted by it */
    char name[3 * GN_TRIPLET_NAME];
    int node; /* of the tree */
} gn_bolt_edges;

typedef struct gn_bolt {
    const gn_graphbolt_files *files;
    gn_yaml *yaml;
    gn_reading *r;
    gn_dataset *d;
    int n_edges;
    gn_bolt_edges *edges; /* [n_edges] of typed data, in the order of relations */
} gn_bolt;

/* An array of a file that an item of the tree names: `format` and `path`. */
typedef struct gn_bolt_array {
    gn_folder_file file;
    gn_torch *torch;
    gn_ndarray a; /* points into the file */
} gn_bolt_array;

/* numpy or torch.  gn_bolt_close, on failure too. */
GN_NODISCARD gn_status *gn_bolt_open(const gn_bolt *b, int item, gn_bolt_array *out);
void gn_bolt_close(gn_bolt_array *a);
/* The file alone. */
GN_NODISCARD gn_status *gn_bolt_file(const gn_bolt *b, int item, gn_folder_file *out);

/* The space, or the relation, of an item's `type`; typed data need one, others have none. */
GN_NODISCARD gn_status *gn_bolt_space(const gn_bolt *b, int item, int *space);
GN_NODISCARD gn_status *gn_bolt_relation(const gn_bolt *b, int item, int *relation);

GN_NODISCARD gn_status *gn_bolt_read_tasks(gn_bolt *b);

#endif
