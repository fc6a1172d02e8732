/* Random data for random programs. */
#include "support/random_gir_impl.h"

#include <string.h>

static int64_t node_count(gen *z, int most)
{
    switch (rnd(z, 12)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return 2;
    default: return 1 + rnd(z, (uint32_t)most);
    }
}

/* Endpoints at random, of which some come from a few nodes only; every graph has loops and repeated
 * edges now and then. */
static gir_coo *random_graph(gen *z, int64_t n_src, int64_t n_dst)
{
    int64_t most = n_src && n_dst ? rnd(z, 8) == 0 ? 0 : 1 + rnd(z, (uint32_t)(3 * (n_src + n_dst)))
                                  : 0;
    int64_t hub = z->opt && n_src && n_dst ? z->opt->hub : 0, all = most + 2 * hub;
    int64_t *src = GN_NEW_N(z->a, int64_t, all + 1), *dst = GN_NEW_N(z->a, int64_t, all + 1);
    uint32_t shape = rnd(z, 4);
    for (int64_t e = 0; e < most; e++) {
        src[e] = rnd(z, (uint32_t)(shape == 1 ? (n_src + 1) / 2 : n_src));
        dst[e] = rnd(z, (uint32_t)(shape >= 1 ? (n_dst + 1) / 2 : n_dst));
        if (shape == 3) dst[e] = 0; /* a star */
        if (n_src == n_dst && chance(z, 10)) src[e] = dst[e];
        if (e > 0 && chance(z, 10)) src[e] = src[e - 1], dst[e] = dst[e - 1];
    }
    for (int64_t e = most; e < all; e++) {
        src[e] = e < most + hub ? rnd(z, (uint32_t)n_src) : n_src - 1;
        dst[e] = e < most + hub ? 0 : rnd(z, (uint32_t)n_dst);
    }
    return gir_coo_new(z->a, n_src, n_dst, all, src, dst);
}

static gir_coo *graph_of_degrees(gen *z, int n, const int *degrees)
{
    int64_t all = 0, e = 0;
    for (int v = 0; v < n; v++) all += degrees[v];
    int64_t *src = GN_NEW_N(z->a, int64_t, all + 1), *dst = GN_NEW_N(z->a, int64_t, all + 1);
    for (int v = 0; v < n; v++)
        for (int k = 0; k < degrees[v]; k++, e++) src[e] = e % n, dst[e] = v;
    return gir_coo_new(z->a, n, n, all, src, dst);
}

static double element(gen *z, const gir_type *t, const char *name)
{
    double u = rnd(z, 1u << 20) / (double)(1u << 20);
    if (strcmp(name, "rng.seed") == 0 || strcmp(name, "rng.step") == 0) return rnd(z, 1000);
    if (kind_of(t) == BOOLS) return rnd(z, 2);
    if (kind_of(t) == INTS) return rnd(z, 7);
    if (strstr(name, ".sparse")) return chance(z, 70) ? 0 : 0.5 + u;
    if (strstr(name, ".pos")) return 0.5 + 1.5 * u;
    return strstr(name, ".neg") ? -0.5 - 1.5 * u : 4 * u - 2;
}

/* Some matrices have rows of one value each, others of ones. */
static void even_rows(gen *z, const gir_node *n, gir_value *x)
{
    bool ones = chance(z, 25) && !strstr(n->attr.name, ".neg");
    for (int64_t r = 0; r < x->rows; r++) {
        double value = ones;
        for (double *at = x->v + r * x->cols; at < x->v + (r + 1) * x->cols; at++) {
            if (*at != 0 && value == 0) value = *at;
            if (*at != 0) *at = value;
        }
    }
}

enum { LEAST_COUNTED = 4 }; /* constants that name rows are below */

/* Rows that inputs name must be there: how many there are at least, by value. */
static int64_t *find_limits(gn_arena *a, const gir_program *p, const int64_t *rows)
{
    int64_t *limit = GN_NEW_N(a, int64_t, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) limit[v] = INT64_MAX;
    for (gir_id v = p->nodes.n; v-- > 1;) {
        const gir_node *n = gir_at(p, v);
        bool numbers = n->op == GIR_INDEX || n->op == GIR_GROUP_NUMBERS;
        int64_t most = numbers ? rows[n->type.src] : n->type.is_graph ? INT64_MAX : limit[v];
        for (int k = 0; k < n->n_in; k++) {
            gir_id o = gir_in(p, v, k);
            if (!gir_type_of(p, o)->is_graph && limit[o] > most) limit[o] = most;
        }
    }
    for (gir_id v = 1; v < p->nodes.n; v++) /* leaves of one name are one */
        for (gir_id u = 1; u < v && gir_at(p, v)->op == GIR_INPUT; u++)
            if (gir_at(p, u)->op == GIR_INPUT &&
                !strcmp(gir_at(p, u)->attr.name, gir_at(p, v)->attr.name) && limit[v] > limit[u])
                limit[v] = limit[u];
    return limit;
}

gir_env random_gir_env(gn_arena *a, const gir_program *p, uint64_t seed,
                       const random_gir_options *opt)
{
    gen z = {.a = a, .p = (gir_program *)p, .opt = opt, .state = seed * 0xA0761D6478BD642Fu + 7};
    gir_env env = {.arena = a, .bounds = true};
    env.name = GN_NEW_N(a, const char *, p->nodes.n);
    env.value = GN_NEW_N(a, gir_value, p->nodes.n);
    int most = opt && opt->max_nodes ? opt->max_nodes : 40, degrees = opt ? opt->n_degrees : 0;
    int64_t *rows = GN_NEW_N(a, int64_t, p->spaces.n);
    for (uint32_t s = 0; s < p->spaces.n; s++) {
        rows[s] = s == 0 ? 1 : p->spaces.p[s].size;
        if (rows[s] < 0 && p->spaces.p[s].kind == GIR_NODE)
            rows[s] = degrees ? degrees : node_count(&z, most);
    }
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gir_space_id s = gir_type_of(p, v)->src;
        if (gir_at(p, v)->op == GIR_INDEX && !degrees && rows[s] >= 0 && rows[s] < LEAST_COUNTED)
            rows[s] = LEAST_COUNTED;
    }
    const int64_t *limit = find_limits(a, p, rows);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_INPUT && n->op != GIR_STATE && n->op != GIR_GRAPH) continue;
        gir_value *x = &env.value[env.n];
        env.name[env.n++] = n->attr.name;
        if (n->op == GIR_GRAPH) {
            x->graph = degrees ? graph_of_degrees(&z, degrees, opt->degrees)
                               : random_graph(&z, rows[n->type.src], rows[n->type.dst]);
            rows[n->type.edge] = x->graph->n_edge;
            continue;
        }
        x->rows = rows[n->type.space];
        x->cols = gir_row_elems(&n->type);
        x->v = GN_NEW_N(a, double, x->rows * x->cols);
        for (int64_t i = 0; i < x->rows * x->cols; i++) {
            double e = element(&z, &n->type, n->attr.name);
            if (e >= (double)limit[v]) e = (double)rnd(&z, (uint32_t)limit[v]);
            x->v[i] = gir_round((gn_elem)n->type.elem, e);
        }
        if (n->op == GIR_INPUT && n->type.rank == 1 && kind_of(&n->type) == FLOATS &&
            chance(&z, 25))
            even_rows(&z, n, x);
    }
    return env;
}
