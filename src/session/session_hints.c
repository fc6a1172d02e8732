/* What is known of a session's data before its model is compiled for them. */
#include "base/data_name.h"

#include "build/tuned.h"
#include "session/minibatches.h"
#include "session/session_impl.h"

/* Features this sparse are kept as CSR: a non-zero costs about four times a dense element. */
static const double sparse_density = 0.2;

bool gn_session_sparse(const gn_session *s)
{
    const gn_dataset *d = s->data;
    if (!d->x_csr || d->n_nodes == 0) return false;
    return (double)d->x_csr->nnz <= sparse_density * (double)d->n_nodes * (double)d->n_features;
}

/* What is known of the features in every run: of objects for other programs nothing, whose features
 * are others. */
static gn_nonzeros known_nonzeros(const gn_session *s)
{
    const gn_csr *x = s->data->x_csr;
    bool ones = true;
    if (!gn_session_sparse(s) || s->opt.objects) return GN_NONZEROS_ANY;
    for (int64_t r = 0; r < x->rows; r++)
        for (int64_t k = x->ptr[r]; k < x->ptr[r + 1]; k++) {
            ones = ones && x->val[k] == 1;
            if (!(x->val[k] == x->val[x->ptr[r]]))
                return GN_NONZEROS_ANY; /* NaN is not equal either */
        }
    return ones ? GN_NONZEROS_ONE : GN_NONZEROS_BY_ROW;
}

/* Numbers of entries in rows and in columns. */
static void degrees_of(gn_arena *a, const gn_csr *x, low_hint *h)
{
    int64_t *column = GN_NEW_N(a, int64_t, x->cols + 1);
    int64_t *in = GN_NEW_N(a, int64_t, GN_DEGREE_CLASSES),
            *out = GN_NEW_N(a, int64_t, GN_DEGREE_CLASSES);
    for (int64_t r = 0; r < x->rows; r++) gn_degree_add(x->ptr[r + 1] - x->ptr[r], &h->max_in, in);
    for (int64_t k = 0; k < x->nnz; k++) column[x->col[k]]++;
    for (int64_t c = 0; c < x->cols; c++) gn_degree_add(column[c], &h->max_out, out);
    h->in_class = in;
    h->out_class = out;
}

/* How many rows are sources of edges. */
static int64_t count_joined(gn_arena *a, const gn_graph *g)
{
    bool *seen = GN_NEW_N(a, bool, g->n_src + 1);
    int64_t joined = 0;
    for (int64_t e = 0; e < g->n_edge; e++) {
        int64_t u = gn_index_get(g->array[GN_GRAPH_COL], g->index, e);
        joined += !seen[u];
        seen[u] = true;
    }
    return joined;
}

/* Of a graph by destination: rows that have an edge. */
static int64_t count_reached(const gn_graph *g)
{
    int64_t joined = 0;
    for (int64_t v = 0; v < g->n_dst; v++)
        joined += gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v) <
                  gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1);
    return joined;
}

static low_hint hint_of(const gn_session *s, int k)
{
    const gn_dataset *d = s->data;
    const gn_relation *r = &d->relations[k];
    const gn_graph *g = s->relation[k];
    low_hint h = {.name = r->name,
                  .n_src = gn_dataset_rows(d, r->src),
                  .n_dst = gn_dataset_rows(d, r->dst),
                  .n_edge = r->n_edges};
    gn_arena scratch;
    gn_arena_init(&scratch);
    h.joined_src = count_joined(&scratch, g);
    h.joined_dst = count_reached(g);
    gn_arena_free(&scratch);
    return h;
}

/* Sizes of the graph and of sparse features, for schedules; degrees where rows may be split by
 * them. */
static gn_status *hints_of(const gn_session *s, bool degrees, const low_hint **out, int *n)
{
    const gn_dataset *d = s->data;
    low_hint *h = GN_NEW_N(s->arena, low_hint, 2 + d->n_relations);
    h[0] = (low_hint){
        .name = GN_NAME_G, .n_src = d->n_nodes, .n_dst = d->n_nodes, .n_edge = d->n_edges};
    if (d->x_csr)
        h[1] = (low_hint){.name = GN_NAME_X,
                          .n_src = d->n_features,
                          .n_dst = d->n_nodes,
                          .n_edge = d->x_csr->nnz};
    if (degrees) {
        gn_graph_facts *f = GN_NEW(s->arena, gn_graph_facts);
        GN_TRY(gn_graph_find_facts(s->graph, f));
        h[0].max_in = f->max_in_degree;
        h[0].max_out = f->max_out_degree;
        h[0].in_class = f->in_class;
        h[0].out_class = f->out_class;
        if (d->x_csr) degrees_of(s->arena, d->x_csr, &h[1]);
    }
    *n = d->x_csr ? 2 : 1;
    for (int k = 0; k < d->n_relations; k++) h[(*n)++] = hint_of(s, k);
    *out = h;
    return NULL;
}

gn_status *gn_session_build_options(gn_session *s, gn_build_options *out)
{
    gn_build_options o = {.mode = s->opt.mode,
                          .index = s->graph->index,
                          .sparse = gn_session_sparse(s),
                          .nonzeros = known_nonzeros(s),
                          .train = s->opt.train,
                          .judged = !s->opt.objects,
                          .fixed = s->opt.keep_static,
                          .one_data = !s->opt.objects, /* those are for other programs, whose graphs
                                                          are others */
                          .sanitize = s->opt.sanitize,
                          .no_code = s->opt.no_code,
                          .limits = s->opt.limits,
                          .precision = s->opt.precision,
                          .products = s->opt.products,
                          .gathers = s->opt.gathers,
                          .kept = gn_numbers_kept[s->opt.numbers],
                          .wide = s->opt.wide,
                          .objects = s->opt.objects,
                          .cpu = s->opt.cpu,
                          .pass_limit = s->opt.pass_limit,
                          .without = s->opt.without,
                          .cache = s->opt.cache,
                          .target = s->opt.target};
    bool one = !s->data->n_tables && !s->data->n_relations;
    if (o.train && o.fixed && one) {
        GN_TRY(gn_count_levels(s->graph, s->data->train_mask, GN_MOST_LEVELS, &o.train_rows));
        o.train_rows.facts.nonzeros = o.sparse ? s->data->x_csr->nnz : 0;
    }
    if (o.train && o.fixed && (!one || s->data->n_columns)) GN_TRY(gn_session_count_levels(s, &o));
    GN_TRY(gn_batches_options(s, &o));
    const gn_limits *limits = o.target ? &o.target->limits : o.limits;
    GN_TRY(hints_of(s, limits && limits->shared_bytes, &o.hints, &o.n_hints));
    for (int k = 0; k < GN_UNITS; k++) o.pick[k] = s->tuned[k] ? &s->tuned[k]->pick : NULL;
    *out = o;
    return NULL;
}
