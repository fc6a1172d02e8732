/* dense_once: is a sum over edges of sparse features to be computed once and kept, dense, rather
 * than to stand behind a product that walks their non-zeros in every run?
 *
 * X with few non-zeros is the same in every run, and so is A X, which has far more of them.  A (X
 * W) walks the non-zeros of all rows that the sum reads, and its edges, with a message of W's
 * columns each; (A X) W has a dense product of the rows of the sum.  Where a loss reads few rows
 * (restrict_rows), those are fewer than the rows they sum: as many times as the graph says, against
 * what a dense row costs more than the non-zeros of a sparse one.  Both are counted forwards; each
 * has a gradient that costs the same again.  Declines where nothing is known of the data. */
#include "passes/passes.h"

#include <string.h>

static const double message = 3; /* what one costs, in terms of a dense product of as many columns
                                  */
/* of all that is kept and of what it is computed from, dense */
static const double most_bytes = 256.0 * (1 << 20);

enum { MAX_DEPTH = 32 };

struct gn_dense_once {
    const gir_program *p;
    const gn_pass_options *opt;
    int levels;
    const uint8_t *level; /* by value, of rows that are needed; `levels`: all */
    double *walked;       /* [value * (levels + 1) + level] messages, plus 1; 0: not counted yet */
    uint8_t *said;        /* by value: 1 no, 2 yes */
    double bytes;         /* of what was said yes to */
};

gn_dense_once *gn_dense_once_new(gn_arena *a, const gir_program *p, const gn_pass_options *opt)
{
    gn_dense_once *z = GN_NEW(a, gn_dense_once);
    const gn_data_facts *f = &opt->facts;
    bool on = gn_is_on(opt->without.decisions, GN_DO_DENSE_ONCE) && opt->n_sparse > 0 &&
              opt->n_fixed > 0;
    if (!on || f->nonzeros <= 0 || f->all.rows <= 0) return z;
    z->opt = opt;
    z->p = p;
    z->levels = gn_pass_is_on(&opt->without, "restrict_rows") ? opt->levels : 0;
    z->level = gn_find_row_levels(a, p, &z->levels);
    z->walked = GN_NEW_N(a, double, (size_t)p->nodes.n *(size_t)(z->levels + 1));
    z->said = GN_NEW_N(a, uint8_t, p->nodes.n);
    return z;
}

static const gn_row_count *rows_at(const gn_dense_once *z, int level)
{
    return level < z->levels ? &z->opt->facts.level[level] : &z->opt->facts.all;
}

static bool is_sparse(const gn_dense_once *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    for (int k = 0; n->op == GIR_INPUT && k < z->opt->n_sparse; k++)
        if (!strcmp(z->opt->sparse[k], n->attr.name)) return true;
    return false;
}

static double walked(gn_dense_once *z, gir_id v, int level, int depth);

static double count(gn_dense_once *z, gir_id v, int level, int depth)
{
    const gir_node *n = gir_at(z->p, v);
    double most = 0;
    if (is_sparse(z, v))
        return (double)z->opt->facts.nonzeros * (double)rows_at(z, level)->rows /
               (double)z->opt->facts.all.rows;
    switch ((gir_op)n->op) {
    case GIR_SCATTER: {
        double of = walked(z, gir_in(z->p, v, 1), level, depth + 1);
        return of > 0 ? of + (double)rows_at(z, level)->edges : 0;
    }
    case GIR_GATHER:
        if (n->attr.i[0] == GIR_SRC && level < z->levels) level++;
        return walked(z, gir_in(z->p, v, 1), level, depth + 1);
    case GIR_MATMUL: return walked(z, gir_in(z->p, v, 0), level, depth + 1);
    default: break;
    }
    if (gir_ops[n->op].cls != GIR_CLASS_MAP && gir_ops[n->op].cls != GIR_CLASS_VIEW) return 0;
    for (int k = 0; k < n->n_in; k++) {
        double of = walked(z, gir_in(z->p, v, k), level, depth + 1);
        most = of > most ? of : most;
    }
    return most;
}

/* How many messages it takes to have the product of v and a matrix on the rows of a level, taken
 * where v is sparse yet. */
static double walked(gn_dense_once *z, gir_id v, int level, int depth)
{
    const gir_type *t = gir_type_of(z->p, v);
    double *of = &z->walked[(size_t)v * (size_t)(z->levels + 1) + (size_t)level];
    if (t->is_graph || t->rank != 1 || !t->space || depth > MAX_DEPTH) return 0;
    if (*of == 0) *of = 1 + count(z, v, level, depth);
    return *of - 1;
}

static bool pays(gn_dense_once *z, gir_id v, int64_t columns)
{
    const gir_node *n = gir_at(z->p, v);
    int level = n->attr.i[0] == GIR_DST ? z->level[v] : z->levels,
        above = level < z->levels ? level + 1 : level;
    double rows = (double)rows_at(z, level)->rows,
           taken = above < z->levels ? (double)rows_at(z, above)->rows : 0;
    double sparse = walked(z, v, level, 0), dense = rows * (double)columns;
    /* A X; the rows of X that it reads; and X, once */
    double bytes = 4 * (double)columns *
                   (rows + taken + (z->bytes > 0 ? 0 : (double)z->opt->facts.all.rows));
    if (sparse <= 0 || dense >= message * sparse || z->bytes + bytes > most_bytes) return false;
    z->bytes += bytes;
    return true;
}

bool gn_is_dense_once(gn_dense_once *z, gir_id v, int64_t columns)
{
    if (!z->p || gir_at(z->p, v)->op != GIR_SCATTER) return false;
    if (!z->said[v]) z->said[v] = pays(z, v, columns) ? 2 : 1;
    return z->said[v] == 2;
}
