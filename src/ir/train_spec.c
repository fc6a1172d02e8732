#include "ir/train_spec.h"

#define X(id, name) name,
const char *const gn_draw_how_name[GN_DRAW_COUNT] = {GN_DRAWS(X)};
const char *const gn_exclude_name[GN_EXCLUDE_COUNT] = {GN_EXCLUDES(X)};
const char *const gn_sampler_name[GN_SAMPLER_COUNT] = {GN_SAMPLERS(X)};
const char *const gn_link_figure_name[GN_LINK_FIGURE_COUNT] = {GN_LINK_FIGURES(X)};
#undef X
