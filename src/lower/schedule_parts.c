/* schedule_parts: into parts of how many edges rows are split, where a row is the work of a group
 * of lanes. Needs: a region of rows.  Keeps: everything.
 *
 * A warp is held for as long as the longest of the rows that share it, so long rows are worth
 * splitting the sooner the more rows share one, and the shorter the others are; but what a part
 * comes to is stored and read once more.  Where the graph's degree classes are known a count of
 * what lanes are held for decides; where not even the largest degree is, rows are split wherever
 * they turn out to be long, by kernels that are launched where some are (GN_SYM_PARTS).  A step is
 * an edge; so is a sum that is stored or read. */
#include "lower/lower.h"

#include <math.h>

enum {
    MOST_WALKED = 128, /* edges that a group walks one after another: fewer */
    MOST_PART = MOST_WALKED / 2,
    TOGETHER = 32, /* sums: a kernel more is about as long in coming as adding so many, four loads
                      at a time, takes */
};

/* How many rows of the region share a warp: lanes of a row take four neighbours each, or one
 * (codegen/cuda/group.c). */
static int64_t rows_of_warp(const low_options *opt, const fusion *f, const region *r)
{
    int64_t lanes = opt->limits.lanes, widest = 1, row = 1;
    for (uint32_t m = 0; m < r->members.n; m++) {
        int64_t n = fu_elems(f->p, r->members.p[m]);
        widest = n > widest ? n : widest;
    }
    if (widest % 4 == 0) widest /= 4;
    while (row < widest && row < lanes) row *= 2;
    return lanes / row;
}

typedef struct steps {                   /* rows by the steps that their groups take */
    double rows[MOST_WALKED + 1], edges; /* edges: of rows that are split */
} steps;

static void add_class(steps *z, int k, double rows, int64_t part)
{
    /* halfway from 2^k to the next class */
    double degree = 1.5 * ldexp(1, k) - 0.5, taken = degree;
    if (part && ldexp(1, k) >= 2.0 * (double)part) {
        taken = degree / (double)part;
        if (taken > 2 * TOGETHER - 1) taken = 2 * TOGETHER - 1;
        z->edges += rows * degree;
    }
    z->rows[taken < (double)MOST_WALKED ? (int)(taken + 0.5) : MOST_WALKED] += rows;
}

/* Steps for which lanes are held, where rows of so many share a warp as they come: of the rows the
 * longest of each warp, of the parts each its own. */
static double steps_held(const int64_t *classes, int64_t all, int64_t together, int64_t part)
{
    steps z = {.rows = {0}};
    double some = 0, below = 0, longest = 0;
    for (int k = 0; k < GN_DEGREE_CLASSES; k++) {
        some += (double)classes[k];
        if (classes[k]) add_class(&z, k, (double)classes[k], part);
    }
    z.rows[0] += (double)all - some;
    for (int s = 0; s <= MOST_WALKED && all > 0; s++) {
        double upto = below + z.rows[s] / (double)all;
        longest += s * (pow(upto, (double)together) - pow(below, (double)together));
        below = upto;
    }
    return (double)all * longest + z.edges * (part ? 1 + 1 / (double)part : 0);
}

/* The part with the fewest steps among those by which the longest row is halved at least; 0:
 * rows are not split. */
static int64_t best_part(const int64_t *classes, int64_t rows, int64_t most, int64_t together)
{
    const double worth = 0.125; /* a kernel more: a share of the steps */
    double least = most < MOST_WALKED ? steps_held(classes, rows, together, 0) * (1 - worth)
                                      : INFINITY;
    int64_t best = 0;
    for (int64_t part = MOST_PART; part >= GN_PART_LEAST; part /= 2) {
        if (most < (part == MOST_PART ? 2 : 4) * part) continue;
        double now = steps_held(classes, rows, together, part);
        if (now >= least) continue;
        least = now;
        best = part;
    }
    return best;
}

/* Are rows by that walk never split?  Those of a pick have one edge, and those of a graph that is
 * drawn anew at every run have other lengths then. */
static bool stays_whole(const gir_program *p, fu_walk w)
{
    if (gir_picks_named(gir_at(p, w.graph)) && w.end == GIR_DST) return true;
    if (gir_picks_once(p, w.graph)) return true;
    return gir_is_drawn(p, w.graph) && !gir_is_reordered(p, w.graph);
}

/* The most edges of a row by that walk; 0: not known. */
static int64_t most_edges(const low_options *opt, const gir_program *p, fu_walk w)
{
    const low_hint *h = low_hint_of(opt, p, w.graph);
    return !h ? 0 : w.end == GIR_DST ? h->max_in : h->max_out;
}

/* Into parts of how many of a walk's edges: the usual ones, or what a count finds best; 0: no row
 * is split. */
static int64_t part_of_walk(const low_options *opt, const gir_program *p, fu_walk w, int64_t usual,
                            int64_t together)
{
    const low_hint *h = low_hint_of(opt, p, w.graph);
    bool by_dst = w.end == GIR_DST;
    if (stays_whole(p, w)) return 0;
    const int64_t *classes = !h ? NULL : by_dst ? h->in_class : h->out_class;
    int64_t most = most_edges(opt, p, w);
    if (classes) return best_part(classes, by_dst ? h->n_dst : h->n_src, most, together);
    /* not known: of a graph to come, which may have any */
    return !most || most >= 2 * usual ? usual : 0;
}

void low_schedule_parts(const low_options *opt, const fusion *f, const region *r, low_schedule *s)
{
    int64_t together = opt->limits.shared_bytes && r->kind == RG_ROWS ? rows_of_warp(opt, f, r) : 1;
    int64_t least = 0;
    s->part_edges = MOST_WALKED / together < GN_PART_LEAST ? GN_PART_LEAST : MOST_WALKED / together;
    if (s->part_edges > MOST_PART) s->part_edges = MOST_PART;
    s->part_sums = TOGETHER;
    if (!opt->limits.shared_bytes || r->kind != RG_ROWS || !gn_is_on(opt->off, GN_DO_SPLIT_ROWS))
        return;
    for (int w = 0; w < r->n_walks; w++) {
        int64_t part = part_of_walk(opt, f->p, r->walk[w], s->part_edges, together);
        if (part && (!least || part < least)) least = part;
    }
    s->split = least > 0;
    if (least) s->part_edges = least;
}

bool low_walk_splits(const low_options *opt, const gir_program *p, const region *r, int w,
                     const low_schedule *s)
{
    if (!s->split || stays_whole(p, r->walk[w])) return false;
    int64_t most = most_edges(opt, p, r->walk[w]);
    return r->n_walks == 1 || !most || most >= 2 * s->part_edges;
}

static int64_t levels_of(int64_t most, const low_schedule *s)
{
    enum { MOST = 4 }; /* of parts of 16 edges: rows of 33 million */
    int64_t levels = 1, part = s->part_edges;
    if (!most) return MOST;                                          /* or not known */
    while (levels < MOST && (most + 1) / part >= 2 * s->part_sums) { /* with a self-loop */
        part *= s->part_sums;
        levels++;
    }
    return levels;
}

int64_t low_part_levels(const low_options *opt, const gir_program *p, const region *r,
                        const low_schedule *s)
{
    int64_t levels = 1;
    for (int w = 0; w < r->n_walks; w++) {
        int64_t l = levels_of(most_edges(opt, p, r->walk[w]), s);
        if (low_walk_splits(opt, p, r, w, s) && l > levels) levels = l;
    }
    return levels;
}
