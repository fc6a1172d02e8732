/* Grid: the axes of a comparison as they were asked for, and the cells that are their product. */
#ifndef GN_CLI_BENCH_GRID_H
#define GN_CLI_BENCH_GRID_H

#include "cli/args.h"

typedef struct gn_grid {
    gn_string_list models; /* paths; gn_grid_parse leaves them to who has them */
    gn_string_list data;   /* "" is the built-in graph */
    gn_string_list modes, dynamic;
    GN_VEC(int64_t) threads;
    const char *baseline; /* the mode that others are compared with: eager where it is among them,
                             else the first */
} gn_grid;

/* What each axis was given as; NULL: not given. */
typedef struct gn_grid_text {
    const char *data, *modes, *dynamic, *threads;
} gn_grid_text;

/* GN_ERR_USAGE: an empty list or entry, an entry twice, a name that is none (and the nearest), a
 * number out of range. */
GN_NODISCARD gn_status *gn_grid_parse(gn_arena *a, const gn_grid_text *text, gn_grid *out);

/* `text` at its commas.  A comma in front of `name=` goes on with a `synthetic:` entry; a text that
 * names a file as it stands is one entry. */
void gn_grid_split_data(gn_arena *a, const char *text, gn_string_list *out);

#endif
