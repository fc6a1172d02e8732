/* Shared by the files of the session. */
#ifndef GN_DRIVER_SESSION_IMPL_H
#define GN_DRIVER_SESSION_IMPL_H

#include "driver/session.h"

/* step.c: as gn_build_levels. */
GN_NODISCARD gn_status *gn_step_levels(gn_arena *a, const gn_model *m, const gn_pass_options *opt, int *levels,
                                       const char **mask);

/* States to the session's device, after the host's were changed, and from it, before they are read.  Nothing here. */
GN_NODISCARD gn_status *gn_session_push(const gn_session *s);
GN_NODISCARD gn_status *gn_session_pull(const gn_session *s);
/* What the data gives to the front end. */
gn_data_shape gn_session_shape(const gn_session *s);
/* classes.c: where shapes of the weights that are to be loaded ask for more classes than the labels have, the data gets as
 * many. */
void gn_session_find_classes(gn_session *s);
bool gn_program_reads(const gir_program *p, const char *name); /* an input; NULL reads nothing */
/* inputs.c: the data's arrays that programs declare as inputs, checked; the others' numbers are given back.  Before nodes are
 * reordered.  GN_ERR_DATA: an array of another shape. */
GN_NODISCARD gn_status *gn_session_take_inputs(gn_session *s);
/* A value of edges, [edges, dim], in the graph's order; *to is the caller's.  NULL of NULL. */
GN_NODISCARD gn_status *gn_session_edge_rows(const gn_session *s, const float *from, int64_t dim, float **to);
/* Those of inputs that were taken, once nodes have their order; and their end. */
GN_NODISCARD gn_status *gn_session_sort_inputs(gn_session *s);
void gn_session_free_inputs(gn_session *s);                      /* before its data */
int gn_session_bind_inputs(const gn_session *s, gn_binding *to); /* at most data->n_more; how many */
/* What the session compiles with. */
GN_NODISCARD gn_status *gn_session_build_options(gn_session *s, gn_build_options *out);
/* Binds a unit of a build of the session's model to its data. */
GN_NODISCARD gn_status *gn_session_bind(gn_session *s, gn_unit *u, gn_pool *pool, const gn_instance *like);

#endif
