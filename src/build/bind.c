/* bind: a unit's programs bound to data, and what can be computed ahead computed. */
#include "build/build.h"

static const gn_artifact *artifact(const gn_compiled *c) { return c ? c->artifact : NULL; }

bool gn_unit_reads(const gn_unit *u, gn_slot_kind kind, const char *name)
{
    return gn_artifact_reads(artifact(u->code), kind, name) ||
           gn_artifact_reads(artifact(u->prepare_code), kind, name);
}

bool gn_unit_reads_pattern(const gn_unit *u)
{
    return gn_artifact_reads_pattern(artifact(u->code)) ||
           gn_artifact_reads_pattern(artifact(u->prepare_code));
}

int gn_unit_kept(const gn_unit *u) { return gn_pair_kept(artifact(u->prepare_code)); }

static void nothing(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    (void)buf, (void)sym, (void)lo, (void)hi;
}

static void without_code(const gn_compiled *c)
{
    for (int k = 0; c && k < c->artifact->n_code; k++) c->artifact->code[k] = nothing;
}

void gn_unit_blank(gn_unit *u)
{
    without_code(u->code);
    without_code(u->prepare_code);
}

gn_status *gn_unit_bind(gn_unit *u, int n_graphs, const gn_graph_binding *graphs, int n,
                        gn_binding *tensors, gn_pool *pool, const gn_instance *like)
{
    gn_pair pair = {0};
    gn_status *s = NULL;
    if (u->code)
        s = gn_pair_new(u->code->artifact, artifact(u->prepare_code), n_graphs, graphs, n, tensors,
                        pool, like, &pair);
    u->instance = pair.instance;
    u->prepare = pair.ahead;
    u->prepare_ms = pair.ahead_ms;
    if (!s && u->one_region && u->instance) s = gn_instance_one_region(u->instance);
    if (s) gn_unit_release(u);
    return s;
}

gn_status *gn_unit_bind_next(const gn_unit *u, const gn_instance *before, int n_graphs,
                             const gn_graph_binding *graphs, int n, gn_binding *tensors,
                             const gn_instance *like, gn_instance **out)
{
    const gn_pair pair = {.ahead = u->prepare}; /* the other one may change meanwhile */
    return gn_pair_next(&pair, artifact(u->prepare_code), before, n_graphs, graphs, n, tensors,
                        like, out);
}

gn_status *gn_unit_follow(gn_unit *u, gn_instance **next)
{
    GN_TRY(gn_instance_follow(&u->instance, next));
    return u->one_region ? gn_instance_one_region(u->instance) : NULL;
}

gn_status *gn_unit_bind_again(gn_unit *u, int n_graphs, const gn_graph_binding *graphs, int n,
                              gn_binding *tensors, const gn_instance *like)
{
    gn_instance *next;
    GN_TRY(gn_unit_bind_next(u, u->instance, n_graphs, graphs, n, tensors, like, &next));
    gn_status *s = gn_unit_follow(u, &next);
    gn_instance_free(next);
    return s;
}

void gn_unit_release(gn_unit *u)
{
    gn_instance_free(u->instance);
    gn_instance_free(u->prepare);
    u->instance = u->prepare = NULL;
}
