/* Modules and graphs. */
#include "api/api.h"

#include "runtime/memory.h"

#include <string.h>

/* Modules ----------------------------------------------------------------------------------------------------------- */

void api_release_module(gnnc_module *m)
{
    if (!m || atomic_fetch_sub(&m->users, 1) != 1) return;
    gnnc_context *c = m->context;
    {
        API_MEMORY(c);
        gn_arena_free(&m->arena);
        gn_release(m);
    }
    api_release_context(c);
}

void gnnc_module_free(gnnc_module *m) { api_release_module(m); }

/* From text where there is one, else from the file. */
static gn_status *parse(gnnc_module *m, const char *text, size_t n, const char *name)
{
    API_GUARD(&m->arena);
    if (!text) GN_TRY(gn_read_model(&m->arena, name, &text, &n));
    text = gn_arena_strndup(&m->arena, text, n);
    name = gn_arena_strdup(&m->arena, name);
    const gn_listener *l = m->context && m->context->opt.diagnostic ? &m->context->listener : NULL;
    gn_status *s = gn_parse_heard(&m->arena, text, n, name, l, &m->ast);
    m->arena.oom = NULL;
    return s;
}

static gn_status *new_module(const gnnc_context *c, const char *text, size_t n, const char *name, gnnc_module **out)
{
    *out = NULL;
    API_MEMORY(c);
    gnnc_module *m = gn_allocate_zeroed(sizeof *m);
    if (!m) GN_FAIL(GN_ERR_NOMEM, "out of memory: a module");
    atomic_init(&m->users, 1);
    m->context = api_keep_context(c);
    gn_arena_init(&m->arena);
    gn_status *s = parse(m, text, n, name);
    if (s)
        api_release_module(m);
    else
        *out = m;
    return s;
}

gnnc_status *gnnc_module_parse(const gnnc_context *c, const char *text, size_t n, const char *name, gnnc_module **out)
{
    return api_out(new_module(c, text ? text : "", text ? n : 0, name ? name : "<model>", out));
}

gnnc_status *gnnc_module_read(const gnnc_context *c, const char *path, gnnc_module **out)
{
    return api_out(new_module(c, NULL, 0, path, out));
}

/* Graphs ------------------------------------------------------------------------------------------------------------ */

void api_release_graph(gnnc_graph *g)
{
    if (!g || atomic_fetch_sub(&g->users, 1) != 1) return;
    gnnc_context *c = g->context;
    {
        API_MEMORY(c);
        gn_graph_free(g->graph);
        gn_release(g);
    }
    api_release_context(c);
}

void gnnc_graph_free(gnnc_graph *g) { api_release_graph(g); }
int64_t gnnc_graph_nodes(const gnnc_graph *g) { return g->graph->n_dst; }
int64_t gnnc_graph_edges(const gnnc_graph *g) { return g->graph->n_edge; }

static int64_t index_at(gnnc_index index, const void *p, int64_t k)
{
    return index == GNNC_INT64 ? ((const int64_t *)p)[k] : ((const int32_t *)p)[k];
}

/* 64-bit copies of an edge list, in one block. */
static gn_status *widen(int64_t n, gnnc_index index, const void *src, const void *dst, int64_t **out)
{
    *out = n < INT64_MAX / 16 ? gn_allocate((size_t)n * 16 + 16, GN_ALIGN) : NULL;
    if (!*out) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)n);
    for (int64_t k = 0; k < n; k++) {
        (*out)[k] = index_at(index, src, k);
        (*out)[n + k] = index_at(index, dst, k);
    }
    return NULL;
}

static gn_status *new_graph(const gnnc_context *c, int64_t nodes, int64_t edges, const int64_t *src, const int64_t *dst,
                            gnnc_graph **out)
{
    gnnc_graph *g = gn_allocate_zeroed(sizeof *g);
    if (!g) GN_FAIL(GN_ERR_NOMEM, "out of memory: a graph");
    atomic_init(&g->users, 1);
    g->context = api_keep_context(c);
    gn_status *s = gn_graph_from_coo(nodes, nodes, edges, src, dst, &g->graph);
    if (s)
        api_release_graph(g);
    else
        *out = g;
    return s;
}

static gn_status *from_coo(const gnnc_context *c, int64_t nodes, int64_t edges, gnnc_index index, const void *src,
                           const void *dst, gnnc_graph **out)
{
    API_MEMORY(c);
    *out = NULL;
    if (nodes < 0 || edges < 0)
        GN_FAIL(GN_ERR_USAGE, "a graph of %lld nodes and %lld edges", (long long)nodes, (long long)edges);
    if (edges && (!src || !dst)) GN_FAIL(GN_ERR_USAGE, "a graph of %lld edges without their ends", (long long)edges);
    if (index == GNNC_INT64) return new_graph(c, nodes, edges, src, dst, out);
    if (index != GNNC_INT32) GN_FAIL(GN_ERR_USAGE, "there is no index type %d", (int)index);
    int64_t *wide;
    GN_TRY(widen(edges, index, src, dst, &wide));
    gn_status *s = new_graph(c, nodes, edges, wide, wide + edges, out);
    gn_release(wide);
    return s;
}

gnnc_status *gnnc_graph_from_coo(const gnnc_context *c, int64_t n_nodes, int64_t n_edges, gnnc_index index,
                                 const void *src, const void *dst, gnnc_graph **out)
{
    return api_out(from_coo(c, n_nodes, n_edges, index, src, dst, out));
}

static gn_status *from_csr(const gnnc_context *c, int64_t nodes, gnnc_index index, const void *row, const void *src,
                           gnnc_graph **out)
{
    API_MEMORY(c);
    *out = NULL;
    if (nodes < 0) GN_FAIL(GN_ERR_USAGE, "a graph of %lld nodes", (long long)nodes);
    if (index != GNNC_INT32 && index != GNNC_INT64) GN_FAIL(GN_ERR_USAGE, "there is no index type %d", (int)index);
    if (!row) GN_FAIL(GN_ERR_USAGE, "a graph without row pointers");
    if (index_at(index, row, 0) != 0)
        GN_FAIL(GN_ERR_DATA, "row 0 begins at edge %lld, not 0", (long long)index_at(index, row, 0));
    for (int64_t v = 0; v < nodes; v++)
        if (index_at(index, row, v + 1) < index_at(index, row, v))
            GN_FAIL(GN_ERR_DATA, "row %lld ends at edge %lld, before it begins at %lld", (long long)v,
                    (long long)index_at(index, row, v + 1), (long long)index_at(index, row, v));
    int64_t edges = index_at(index, row, nodes);
    if (edges && !src) GN_FAIL(GN_ERR_USAGE, "a graph of %lld edges without their sources", (long long)edges);
    int64_t *wide = edges < INT64_MAX / 16 ? gn_allocate((size_t)edges * 16 + 16, GN_ALIGN) : NULL;
    if (!wide) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)edges);
    for (int64_t v = 0; v < nodes; v++)
        for (int64_t k = index_at(index, row, v); k < index_at(index, row, v + 1); k++) {
            wide[k] = index_at(index, src, k);
            wide[edges + k] = v;
        }
    gn_status *s = new_graph(c, nodes, edges, wide, wide + edges, out);
    gn_release(wide);
    return s;
}

gnnc_status *gnnc_graph_from_csr(const gnnc_context *c, int64_t n_nodes, gnnc_index index, const void *row,
                                 const void *src, gnnc_graph **out)
{
    return api_out(from_csr(c, n_nodes, index, row, src, out));
}
