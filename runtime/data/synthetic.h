/* What synthetic graphs are drawn with. */
#ifndef GN_RUNTIME_DATA_SYNTHETIC_H
#define GN_RUNTIME_DATA_SYNTHETIC_H

#include "base/philox.h"
#include "runtime/data/readers.h"

#include <stddef.h>

/* ---- "name=value,name=value" ---- */

typedef struct gn_synthetic_key {
    const char *name;
    size_t at; /* of a double in the parameters */
    double least, most;
    bool whole;
} gn_synthetic_key;

/* GN_ERR_USAGE: an unknown key, a value out of range. */
GN_NODISCARD gn_status *gn_synthetic_parse(const char *text, const gn_synthetic_key *key, int keys,
                                           void *params);

/* ---- random draws: one site a purpose, one counter a site ---- */

typedef enum gn_site {
    GN_SITE_COMMUNITY = 0x51,
    GN_SITE_NAME,
    GN_SITE_EDGE,
    GN_SITE_CENTER,
    GN_SITE_NOISE,
    GN_SITE_COLUMN,
    GN_SITE_LABEL,
    GN_SITE_TRAIN
} gn_site;

typedef struct gn_stream {
    uint32_t key, site;
    uint64_t at;
} gn_stream;

static inline uint64_t gn_draw(gn_stream *s)
{
    uint64_t i = s->at++;
    return gn_philox2x32((uint32_t)i, (uint32_t)(i >> 32) ^ s->site * GN_PHILOX_W, s->key);
}

__extension__ typedef unsigned __int128 gn_wide;

/* Uniform in [0, n): the bias is below n * 2^-64. */
static inline uint64_t gn_below(gn_stream *s, uint64_t n)
{
    return (uint64_t)((gn_wide)gn_draw(s) * n >> 64);
}

/* ---- nodes of a power law, sorted by community, and in it by weight ----
 *
 * A rank is the place of a node in that order, before nodes get their final numbers, which are
 * shuffled unless they are to be local. */
typedef struct gn_power_law {
    int64_t n, communities;
    uint64_t *sum;  /* [n + 1] running sum of the ranks' weights */
    int32_t *guide; /* [guides + 1] the rank that weight k << shift falls to */
    int64_t guides;
    int shift;
    int64_t *start;     /* [communities + 1] first rank of a community */
    int32_t *community; /* [n] of a rank */
    int32_t *node;      /* [n] number of a rank */
} gn_power_law;

/* n and communities are set.  gn_power_law_free, on failure too.  GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_power_law_make(gn_power_law *r, uint32_t key, double edges,
                                          double exponent, bool local);
void gn_power_law_free(gn_power_law *r);
/* What only draws look at is freed: no more of them come. */
void gn_power_law_drawn(gn_power_law *r);

/* Weights below sum[n] become the ranks whose stretch of the running sum they fall to; GN_AHEAD at
 * most. */
enum { GN_AHEAD = 64 };
void gn_power_law_look_up(const gn_power_law *r, uint64_t *x, int n);

/* Features are a centre a class, and noise.  The centres [classes, f], or one where there are none;
 * free() frees them. */
GN_NODISCARD gn_status *gn_synthetic_centres(uint32_t key, int64_t classes, int64_t f, float **out);
/* Features [n, f] of rows from `first` on.  Of all rows, and each may be NULL: y; and `number`,
 * which node each is. */
void gn_synthetic_rows(uint32_t key, const float *centres, const int32_t *y, const int32_t *number,
                       int64_t first, int64_t n, int64_t f, float *x);
/* Both, of all n rows. */
GN_NODISCARD gn_status *gn_synthetic_dense(uint32_t key, const int32_t *y, int64_t n,
                                           int64_t classes, int64_t f, float *x);

/* ---- synthetic:nodes=...: what its parts are drawn by ---- */

typedef struct gn_synthetic_params {
    double nodes, edges, features, classes; /* counts */
    double density, exponent, communities, seed;
    double train; /* share of the nodes that are trained on; 0: a split is drawn as for any data */
    double local; /* 1: a community's nodes are numbered one after another */
} gn_synthetic_params;

/* `text`: what stands behind "synthetic:".  GN_ERR_USAGE. */
GN_NODISCARD gn_status *gn_synthetic_params_parse(const char *text, uint64_t seed,
                                                  gn_synthetic_params *p);
/* Are there so few pairs that all are gone through, rather than some drawn? */
bool gn_synthetic_goes_through(const gn_synthetic_params *p);

/* Pairs of ranks, min << 32 | max, one draw after another; loops and repeats among them. */
typedef struct gn_pair_draw {
    const gn_power_law *r;
    gn_stream s;
    uint64_t tries, most; /* draws so far; behind the most they are uniform */
} gn_pair_draw;
gn_pair_draw gn_pair_draw_begin(const gn_power_law *r, uint32_t key, int64_t want);
int gn_pair_draw_next(gn_pair_draw *d, uint64_t pair[GN_AHEAD]); /* how many */

/* Labels and masks, of nodes. */
GN_NODISCARD gn_status *gn_synthetic_labels(const gn_power_law *r, uint32_t key, double train,
                                            gn_dataset *d);

/* As gn_synthetic_read gives it, into a file (datafile.h), without room for all of it in memory:
 * 24 bytes a node (31 by degree), a bit a draw, `heap_bytes` (0: 256 MB) at a time and the buffers
 * of what is put aside (spill.h).  *streamed: false where it is not drawn edge by edge, or not of
 * plain features: nothing is written then.  *split_drawn: it was, by `seed`, before nodes got other
 * numbers. */
typedef struct gn_synthetic_file {
    const char *text, *path, *source;
    uint64_t seed;
    int features;   /* gn_datafile_options */
    bool by_degree; /* GN_ORDER_DEGREE: edges are listed by the new numbers then */
    int64_t heap_bytes;
} gn_synthetic_file;
GN_NODISCARD gn_status *gn_synthetic_write(const gn_synthetic_file *f, bool *streamed,
                                           bool *split_drawn);

/* synthetic:typed; `text` is what follows. */
GN_NODISCARD gn_status *gn_synthetic_typed_read(const char *text, gn_reading *r, gn_dataset **out);

#endif
