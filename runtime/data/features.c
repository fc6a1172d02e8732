/* Features of nodes that are made up, for data that has none. */
#include "runtime/data/csr.h"
#include "runtime/data/lent.h"
#include "runtime/data/mem.h"
#include "runtime/data/readers.h"

const char *const gn_features_name[] = {
#define X(id, name) name,
    GN_FEATURES(X)
#undef X
};

static gn_status *make_identity(gn_dataset *d)
{
    gn_csr *m;
    if (d->n_nodes > INT32_MAX)
        GN_FAIL(GN_ERR_USAGE, "identity features of %lld nodes: expected %d at most",
                (long long)d->n_nodes, INT32_MAX);
    GN_MEM(m, 1);
    d->x_csr = m;
    *m = (gn_csr){.rows = d->n_nodes, .cols = d->n_nodes, .nnz = d->n_nodes};
    GN_MEM(m->ptr, d->n_nodes + 1);
    GN_MEM(m->col, d->n_nodes);
    GN_MEM(m->val, d->n_nodes);
    for (int64_t i = 0; i < d->n_nodes; i++) {
        m->ptr[i + 1] = i + 1;
        m->col[i] = (int32_t)i;
        m->val[i] = 1;
    }
    return NULL;
}

gn_status *gn_features_make(gn_dataset *d, gn_features what)
{
    if (what == GN_FEATURES_DATA) return NULL;
    if (what == GN_FEATURES_DEGREE) GN_TRY(gn_dataset_list_edges(d));
    gn_dataset_forget_names(d);
    gn_dataset_release(d, d->x);
    gn_codes_release(d, &d->x_codes);
    gn_csr_free(d->x_csr);
    d->x = NULL;
    d->x_codes = (gn_codes){0};
    d->x_csr = NULL;
    d->synthetic_features = true;
    d->n_features = what == GN_FEATURES_IDENTITY ? d->n_nodes : 1;
    if (what == GN_FEATURES_IDENTITY) return make_identity(d);
    GN_MEM(d->x, d->n_nodes);
    for (int64_t i = 0; what == GN_FEATURES_ONES && i < d->n_nodes; i++) d->x[i] = 1;
    for (int64_t e = 0; what == GN_FEATURES_DEGREE && e < d->n_edges; e++) d->x[d->dst[e]] += 1;
    return NULL;
}
