/* Modules and graphs. */
#include "api/api.h"

#include "runtime/memory.h"

#include <string.h>

/* Modules -------------------------------------------------------------------------------------- */

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

gn_status *api_new_module(const gnnc_context *c, const char *text, size_t n, const char *name,
                          api_parse *read, gnnc_module **out)
{
    API_MEMORY(c);
    gnnc_module *m = gn_allocate_zeroed(sizeof *m);
    if (!m) GN_FAIL(GN_ERR_NOMEM, "out of memory: a module");
    atomic_init(&m->users, 1);
    m->context = api_keep_context(c);
    gn_arena_init(&m->arena);
    gn_status *s = read(m, text, n, name);
    if (s)
        api_release_module(m);
    else
        *out = m;
    return s;
}

gnnc_status *gnnc_module_parse(const gnnc_context *c, const char *text, size_t n, const char *name,
                               gnnc_module **out)
{
    API_GIVES(out);
    if (n) API_NEEDS(text);
    return api_out(
        api_new_module(c, text ? text : "", text ? n : 0, name ? name : "<model>", parse, out));
}

gnnc_status *gnnc_module_read(const gnnc_context *c, const char *path, gnnc_module **out)
{
    API_GIVES(out);
    API_NEEDS(path);
    return api_out(api_new_module(c, NULL, 0, path, parse, out));
}

/* Graphs --------------------------------------------------------------------------------------- */

void api_release_graph(gnnc_graph *g)
{
    if (!g || atomic_fetch_sub(&g->users, 1) != 1) return;
    gnnc_context *c = g->context;
    {
        API_MEMORY(c);
        api_release_graph(g->of);
        gn_graph_free(g->graph);
        gn_release(g);
    }
    api_release_context(c);
}

void gnnc_graph_free(gnnc_graph *g) { api_release_graph(g); }
int64_t gnnc_graph_nodes(const gnnc_graph *g) { return g ? g->graph->n_dst : 0; }
int64_t gnnc_graph_edges(const gnnc_graph *g) { return g ? g->graph->n_edge : 0; }

/* Takes the graph, whether or not there is memory for what holds it. */
static gn_status *new_graph(const gnnc_context *c, gn_graph *graph, gnnc_graph **out)
{
    gnnc_graph *g = gn_allocate_zeroed(sizeof *g);
    if (!g) {
        gn_graph_free(graph);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a graph");
    }
    atomic_init(&g->users, 1);
    g->context = api_keep_context(c);
    g->graph = graph;
    *out = g;
    return NULL;
}

static gn_status *check_index(gnnc_index index, gn_elem *out)
{
    *out = index == GNNC_INT64 ? GN_I64 : GN_I32;
    if (index != GNNC_INT32 && index != GNNC_INT64)
        GN_FAIL(GN_ERR_USAGE, "there is no index type %d", (int)index);
    return NULL;
}

static gn_status *from_coo(const gnnc_context *c, int64_t n_src, int64_t n_dst, int64_t edges,
                           gnnc_index index, const void *src, const void *dst, gnnc_graph **out)
{
    API_MEMORY(c);
    gn_elem ends;
    gn_graph *g;
    GN_TRY(check_index(index, &ends));
    GN_TRY(gn_graph_from_coo(GN_I32, n_src, n_dst, edges, ends, src, dst, &g));
    return new_graph(c, g, out);
}

gnnc_status *gnnc_graph_from_coo(const gnnc_context *c, int64_t n_nodes, int64_t n_edges,
                                 gnnc_index index, const void *src, const void *dst,
                                 gnnc_graph **out)
{
    API_GIVES(out);
    if (n_edges > 0) API_NEEDS(src);
    if (n_edges > 0) API_NEEDS(dst);
    return api_out(from_coo(c, n_nodes, n_nodes, n_edges, index, src, dst, out));
}

gnnc_status *gnnc_relation_from_coo(const gnnc_context *c, int64_t n_src, int64_t n_dst,
                                    int64_t n_edges, gnnc_index index, const void *src,
                                    const void *dst, gnnc_graph **out)
{
    API_GIVES(out);
    if (n_edges > 0) API_NEEDS(src);
    if (n_edges > 0) API_NEEDS(dst);
    return api_out(from_coo(c, n_src, n_dst, n_edges, index, src, dst, out));
}

/* One after the other, as int64. */
static gn_status *ends_of(const char *name, const DLTensor *t, int64_t *to)
{
    gn_elem elem = GN_I32;
    (void)api_elem(t, &elem);
    if (elem == GN_I64) return api_copy_tensor(name, t, GN_I64, to);
    int32_t *narrow = (int32_t *)to;
    GN_TRY(api_copy_tensor(name, t, GN_I32, narrow));
    for (int64_t k = t->shape[0] - 1; k >= 0; k--) {
        int32_t end;
        memcpy(&end, &narrow[k], sizeof end); /* which the wider one may lie over */
        to[k] = end;
    }
    return NULL;
}

static gn_status *check_ends(const char *name, const DLTensor *t)
{
    gn_elem elem = GN_F32;
    GN_TRY(api_check_tensor(name, t, 1));
    (void)api_elem(t, &elem);
    if (elem != GN_I32 && elem != GN_I64)
        GN_FAIL(GN_ERR_DATA, "%s: the tensor is %s, expected i32 or i64", name, gn_elem_name(elem));
    return NULL;
}

static gn_status *from_tensors(const gnnc_context *c, int64_t n_src, int64_t n_dst,
                               const DLTensor *src, const DLTensor *dst, gnnc_graph **out)
{
    void *block;
    GN_TRY(check_ends("src", src));
    GN_TRY(check_ends("dst", dst));
    int64_t n = src->shape[0];
    if (dst->shape[0] != n)
        GN_FAIL(GN_ERR_DATA, "src has %lld ends of edges, dst %lld", (long long)n,
                (long long)dst->shape[0]);
    API_MEMORY(c);
    GN_TRY(gn_block_new(2 * n + 1, sizeof(int64_t), "ends of edges", &block));
    int64_t *ends = block;
    gn_status *s = ends_of("src", src, ends);
    if (!s) s = ends_of("dst", dst, ends + n);
    if (!s) s = from_coo(c, n_src, n_dst, n, GNNC_INT64, ends, ends + n, out);
    gn_block_free(block);
    return s;
}

gnnc_status *gnnc_relation_from_tensors(const gnnc_context *c, int64_t n_src, int64_t n_dst,
                                        const DLTensor *src, const DLTensor *dst, gnnc_graph **out)
{
    API_GIVES(out);
    API_NEEDS(src);
    API_NEEDS(dst);
    return api_out(from_tensors(c, n_src, n_dst, src, dst, out));
}

static gn_status *from_csr(const gnnc_context *c, int64_t nodes, gnnc_index index, const void *row,
                           const void *src, gnnc_graph **out)
{
    API_MEMORY(c);
    gn_elem ends;
    gn_graph *g;
    GN_TRY(check_index(index, &ends));
    GN_TRY(gn_graph_from_rows(GN_I32, nodes, ends, row, src, &g));
    return new_graph(c, g, out);
}

gnnc_status *gnnc_graph_from_csr(const gnnc_context *c, int64_t n_nodes, gnnc_index index,
                                 const void *row, const void *src, gnnc_graph **out)
{
    API_GIVES(out);
    API_NEEDS(row);
    return api_out(from_csr(c, n_nodes, index, row, src, out));
}

static gn_status *append(const gnnc_graph *g, gn_more more, gnnc_index index, gnnc_graph **out)
{
    API_MEMORY(g->context);
    gn_graph *larger;
    GN_TRY(check_index(index, &more.ends));
    GN_TRY(gn_graph_append(g->graph, &more, &larger));
    return new_graph(g->context, larger, out);
}

gnnc_status *gnnc_graph_append(const gnnc_graph *g, int64_t more_nodes, int64_t n_edges,
                               gnnc_index index, const void *src, const void *dst, gnnc_graph **out)
{
    API_GIVES(out);
    API_NEEDS(g);
    if (n_edges > 0) API_NEEDS(src);
    if (n_edges > 0) API_NEEDS(dst);
    if (more_nodes && g->graph->n_src != g->graph->n_dst)
        return api_out(GN_ERROR(GN_ERR_USAGE,
                                "gnnc_graph_append: a relation of %lld rows to %lld: "
                                "gnnc_relation_append says how many more each has",
                                (long long)g->graph->n_src, (long long)g->graph->n_dst));
    gn_more more = {more_nodes, more_nodes, n_edges, GN_I32, src, dst};
    return api_out(append(g, more, index, out));
}

gnnc_status *gnnc_relation_append(const gnnc_graph *g, int64_t more_src, int64_t more_dst,
                                  int64_t n_edges, gnnc_index index, const void *src,
                                  const void *dst, gnnc_graph **out)
{
    API_GIVES(out);
    API_NEEDS(g);
    if (n_edges > 0) API_NEEDS(src);
    if (n_edges > 0) API_NEEDS(dst);
    gn_more more = {more_src, more_dst, n_edges, GN_I32, src, dst};
    return api_out(append(g, more, index, out));
}

gn_status *api_widen_graph(gnnc_graph *g, gnnc_graph **out)
{
    gn_graph *wide;
    *out = NULL;
    GN_TRY(gn_graph_widen(g->graph, &wide));
    GN_TRY(new_graph(g->context, wide, out));
    atomic_fetch_add(&g->users, 1);
    (*out)->of = g;
    return NULL;
}
