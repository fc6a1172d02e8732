#include "support/run_data.h"

#include "base/philox.h"
#include "runtime/fill.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Tensors -------------------------------------------------------------------------------------- */

run_tensor *run_table_find(const run_table *z, const char *name)
{
    for (uint32_t k = 0; k < z->t.n; k++)
        if (strcmp(z->t.p[k].name, name) == 0) return &z->t.p[k];
    return NULL;
}

run_tensor *run_table_add(run_table *z, const char *name, gn_elem elem, int64_t rows, int64_t cols)
{
    run_tensor t = {.name = name, .elem = elem, .rows = rows, .cols = cols};
    t.data = gn_arena_alloc(z->arena, (size_t)(rows * cols) + 1,
                            gn_elem_size(run_stored(z->wide, elem)));
    GN_PUSH(z->arena, z->t, t);
    return &z->t.p[z->t.n - 1];
}

void **run_table_bytes(gn_arena *a, const run_table *z)
{
    void **copy = GN_NEW_N(a, void *, z->t.n + 1);
    for (uint32_t k = 0; k < z->t.n; k++) {
        size_t bytes = run_tensor_bytes(&z->t.p[k]);
        copy[k] = gn_arena_alloc(a, bytes + 1, 1);
        memcpy(copy[k], z->t.p[k].data, bytes);
    }
    return copy;
}

static const gir_value *bound(const gir_env *env, const char *name)
{
    for (int k = 0; k < env->n; k++)
        if (strcmp(env->name[k], name) == 0) return &env->value[k];
    return NULL;
}

run_table run_table_new(gn_arena *a, const gir_program *p, const gir_env *env, bool wide)
{
    run_table z = {.arena = a, .wide = wide};
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if ((n->op != GIR_INPUT && n->op != GIR_STATE) || run_table_find(&z, n->attr.name))
            continue;
        const gir_value *x = bound(env, n->attr.name);
        if (!x || x->graph) continue;
        gn_elem e = (gn_elem)n->type.elem;
        run_tensor *t = run_table_add(&z, n->attr.name, e, x->rows, x->cols);
        for (int64_t i = 0; i < x->rows * x->cols; i++)
            gn_fill_store(t->data, run_stored(wide, e), i, gir_round(e, x->v[i]));
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        const gir_type *t = gir_type_of(p, o->value);
        if (o->kind == GIR_UPDATE && !run_table_find(&z, o->name))
            run_table_add(&z, o->name, (gn_elem)t->elem, 1, gir_row_elems(t));
    }
    return z;
}

/* Graphs --------------------------------------------------------------------------------------- */

gn_graph *run_graphs_find(const run_graphs *g, const char *name)
{
    for (uint32_t k = 0; k < g->g.n; k++)
        if (strcmp(g->g.p[k].name, name) == 0) return g->g.p[k].graph;
    return NULL;
}

static gn_status *from_coo(gn_arena *a, const gir_coo *c, gn_graph **out)
{
    int64_t *src = GN_NEW_N(a, int64_t, c->n_edge + 1), *dst = GN_NEW_N(a, int64_t, c->n_edge + 1);
    for (int64_t e = 0; e < c->n_edge; e++) {
        src[c->pos[e]] = c->src[e];
        dst[c->pos[e]] = c->dst[e];
    }
    return gn_graph_from_coo(GN_I32, c->n_src, c->n_dst, c->n_edge, GN_I64, src, dst, out);
}

static gn_status *pattern(gn_arena *a, const gir_value *x, gn_graph **out)
{
    float *v = GN_NEW_N(a, float, x->rows * x->cols + 1);
    for (int64_t i = 0; i < x->rows * x->cols; i++) v[i] = (float)x->v[i];
    return gn_graph_from_dense(GN_I32, x->rows, x->cols, v, out);
}

gn_status *run_graphs_new(gn_arena *a, const gir_program *p, const gir_env *env, run_graphs *out)
{
    *out = (run_graphs){0};
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool sparse = n->op == GIR_INPUT && n->type.rank == 1 && n->type.elem == GN_F32 &&
                      n->type.space;
        if ((n->op != GIR_GRAPH && !sparse) || run_graphs_find(out, n->attr.name)) continue;
        const gir_value *x = bound(env, n->attr.name);
        if (!x) GN_FAIL(GN_ERR_DATA, "nothing is bound for '%s'", n->attr.name);
        gn_graph *g = NULL;
        gn_status *s = sparse ? pattern(a, x, &g) : from_coo(a, x->graph, &g);
        if (s) return s;
        GN_PUSH(a, out->g, ((gn_graph_binding){n->attr.name, g}));
    }
    return NULL;
}

void run_graphs_free(run_graphs *g)
{
    for (uint32_t k = 0; k < g->g.n; k++) gn_graph_free(g->g.p[k].graph);
    g->g.n = 0;
}

/* Values --------------------------------------------------------------------------------------- */

run_world run_world_new(gn_arena *a, const gir_program *p, const run_graphs *base,
                        const run_table *tensors)
{
    run_world w = {.p = p, .base = base, .tensors = tensors};
    w.graph = GN_NEW_N(a, gn_graph *, p->nodes.n);
    w.owned = GN_NEW_N(a, bool, p->nodes.n);
    return w;
}

void run_world_free(run_world *w)
{
    for (gir_id v = 1; v < w->p->nodes.n; v++)
        if (w->owned[v]) gn_graph_free(w->graph[v]);
}

/* Data that graphs are made of, one number a row. */
static gn_status *data_of(run_world *w, gir_id v, double **out)
{
    gn_arena *a = w->tensors->arena;
    const gir_node *n = gir_at(w->p, v);
    double *x[4] = {NULL, NULL, NULL, NULL};
    gn_graph *g = NULL;
    int64_t rows;
    GN_TRY(run_world_rows(w, n->type.space, &rows));
    double *to = *out = GN_NEW_N(a, double, rows + 1);
    for (int k = 0; k < n->n_in; k++)
        if (!gir_type_of(w->p, gir_in(w->p, v, k))->is_graph)
            GN_TRY(data_of(w, gir_in(w->p, v, k), &x[k]));
        else if (k == 0)
            GN_TRY(run_world_graph(w, gir_in(w->p, v, k), &g));
    const run_tensor *t = n->op == GIR_INPUT ? run_table_find(w->tensors, n->attr.name) : NULL;
    if (n->op == GIR_INPUT && (!t || t->rows != rows))
        GN_FAIL(GN_ERR_DATA, "'%s' is not bound, or to other rows", n->attr.name);
    if (g) GN_TRY(gn_graph_require(g, GN_ARRAY(GN_GRAPH_ROW)));
    gn_elem from = (gn_elem)(n->n_in ? gir_type_of(w->p, gir_in(w->p, v, n->n_in - 1)) : &n->type)
                       ->elem;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = g ? gn_index_get(g->array[GN_GRAPH_ROW], g->index, i) : 0;
        if (n->op == GIR_INPUT)
            to[i] = gn_fill_load(t->data, t->elem, i);
        else if (n->op == GIR_CONST)
            to[i] = gir_round((gn_elem)n->type.elem, n->attr.f);
        else if (n->op == GIR_GATHER)
            to[i] = x[1][n->attr.i[0] ? row : gn_index_get(g->array[GN_GRAPH_COL], g->index, i)];
        else if (n->op == GIR_CARRY) {
            int64_t edge = gn_index_get(g->array[GN_GRAPH_FROM], g->index, i);
            to[i] = edge < 0 ? x[3][row] : x[2][edge];
        } else {
            double in[2] = {x[0][i], x[1] ? x[1][i] : 0};
            to[i] = gir_scalar((gir_op)n->op, from, (gn_elem)n->type.elem, in);
        }
    }
    return NULL;
}

static gn_status *times(run_world *w, gir_id leaf, gn_times *out)
{
    const run_tensor *t = run_table_find(w->tensors, gir_at(w->p, leaf)->attr.name);
    if (!t) GN_FAIL(GN_ERR_DATA, "no times are bound");
    *out = (gn_times){t->data, t->elem};
    return NULL;
}

/* Rows or edges that are apart; `k`: which operand their times are. */
static gn_status *set_apart(run_world *w, gir_id v, int k, gn_graph *g)
{
    const gir_node *n = gir_at(w->p, v);
    gn_times t = {0};
    if (!n->attr.i[0]) return NULL;
    if (n->n_in > k) GN_TRY(times(w, gir_in(w->p, v, k), &t));
    return gn_graph_set_apart(g, n->op == GIR_FILTER, t, n->attr.i[0] == 2);
}

static gn_status *filtered(run_world *w, gir_id v, gn_graph *g, gn_graph **out)
{
    double *x;
    GN_TRY(data_of(w, gir_in(w->p, v, 1), &x));
    uint8_t *mask = GN_NEW_N(w->tensors->arena, uint8_t, g->n_edge + 1);
    for (int64_t e = 0; e < g->n_edge; e++) mask[e] = x[e] != 0;
    GN_TRY(gn_graph_filter(g, mask, out));
    return set_apart(w, v, 2, *out);
}

static gn_status *indexed(run_world *w, gir_id v, gn_graph **out)
{
    const gir_type *t = gir_type_of(w->p, v);
    const gir_space *to = &w->p->spaces.p[t->dst];
    gn_graph *of = NULL;
    double *x;
    int64_t rows, n;
    GN_TRY(data_of(w, gir_in(w->p, v, 0), &x));
    GN_TRY(run_world_rows(w, t->src, &n));
    GN_TRY(run_world_rows(w, t->dst, &rows));
    if (to->kind == GIR_EDGE) GN_TRY(run_world_graph(w, to->graph, &of));
    int64_t *i = GN_NEW_N(w->tensors->arena, int64_t, rows + 1);
    for (int64_t k = 0; k < rows; k++) i[k] = (int64_t)x[k];
    return gn_graph_index(GN_I32, n, rows, GN_I64, i, of, out);
}

static gn_status *grouped(run_world *w, gir_id v, gn_graph *const in[2], gn_graph **out)
{
    const gir_node *n = gir_at(w->p, v);
    double *x;
    if (n->op == GIR_GROUP_ROWS) return gn_graph_group_rows(in[0], in[1], out);
    gn_graph *of = in[n->op == GIR_GROUP_NUMBERS];
    GN_TRY(data_of(w, gir_in(w->p, v, n->n_in - 1), &x));
    int64_t *k = GN_NEW_N(w->tensors->arena, int64_t, of->n_edge + 1);
    for (int64_t e = 0; e < of->n_edge; e++) k[e] = (int64_t)x[e];
    const gn_edge_numbers numbers = {of->n_edge, GN_I64, k};
    return n->op == GIR_GROUP
               ? gn_graph_group(of, numbers, out)
               : gn_graph_group_numbers(in[0], numbers, w->p->spaces.p[n->type.src].size, out);
}

static gn_status *find_numbers(run_world *w, gir_id v, gn_drawing *how)
{
    gir_id g = gir_in(w->p, v, 0), weight = gir_draw_weight(w->p, v), time = gir_draw_time(w->p, v);
    const run_tensor *t = weight ? run_table_find(w->tensors, gir_at(w->p, weight)->attr.name)
                                 : NULL;
    if (weight && !t) GN_FAIL(GN_ERR_DATA, "no weights are bound");
    float *narrow = t ? GN_NEW_N(w->tensors->arena, float, t->rows + 1) : NULL;
    for (int64_t k = 0; t && k < t->rows; k++)
        narrow[k] = (float)gn_fill_load(t->data, run_stored(w->tensors->wide, t->elem), k);
    how->weight = narrow; /* tables of doubles have those of floats */
    if (time) GN_TRY(times(w, time, &how->time));
    how->time_of_rows = time && gir_type_of(w->p, time)->space == gir_type_of(w->p, g)->src;
    for (; gir_at(w->p, g)->op != GIR_GRAPH && how->n_way < GN_DRAW_WAY; g = gir_in(w->p, g, 0)) {
        gn_graph *one;
        GN_TRY(run_world_graph(w, g, &one));
        how->way[how->n_way++] = one;
    }
    return NULL;
}

/* of: the graph, and where it picks rows the pick */
static gn_status *drawn(run_world *w, gir_id v, gn_graph *const of_graph[2], gn_graph **out)
{
    const gir_attr *attr = &gir_at(w->p, v)->attr;
    uint64_t of[2];
    for (int k = 0; k < 2; k++) {
        gir_id leaf = gir_in(w->p, gir_in(w->p, v, 1), k);
        const run_tensor *t = run_table_find(w->tensors, gir_at(w->p, leaf)->attr.name);
        if (!t) GN_FAIL(GN_ERR_DATA, "no key is bound");
        of[k] = (uint64_t)*(const int64_t *)t->data;
    }
    gn_graph *g = of_graph[0];
    gn_drawing how = {.key = gn_step_key(of[0], of[1]),
                      .most = attr->i[0],
                      .site = (uint32_t)attr->i[1],
                      .loops = (gn_draw_loops)attr->i[2],
                      .how = (gn_draw_how)attr->i[3]};
    if (gir_at(w->p, v)->n_in > 3) GN_TRY(find_numbers(w, v, &how));
    if (gir_at(w->p, v)->op == GIR_DRAW) return gn_graph_draw(g, of_graph[1], &how, out);
    if (gir_at(w->p, v)->op == GIR_SAMPLE)
        return gn_graph_sample(g, gn_step_key(of[0], of[1]), attr->i[0], (uint32_t)attr->i[1], NULL,
                               out);
    const gn_corruption c = {.key = gn_step_key(of[0], of[1]),
                             .times = attr->i[0],
                             .end = (int)attr->i[1],
                             .site = (uint32_t)attr->i[2]};
    return gn_graph_corrupt(g, &c, out);
}

/* Picks, and graphs between picked rows: of a mask, or of up to three graphs. */
static gn_status *picked(run_world *w, gir_id v, gn_graph **out)
{
    const gir_node *n = gir_at(w->p, v);
    gn_graph *in[3] = {NULL, NULL, NULL};
    w->owned[v] = true;
    if (n->op == GIR_SUBSET) {
        const char *name = gir_at(w->p, gir_in(w->p, v, 0))->attr.name;
        const run_tensor *t = run_table_find(w->tensors, name);
        if (!t) GN_FAIL(GN_ERR_DATA, "nothing is bound for '%s'", name);
        GN_TRY(gn_graph_subset(t->rows, t->data, GN_I32, out));
        return set_apart(w, v, 1, *out);
    }
    for (int k = 0; k < n->n_in; k++)
        if (gir_type_of(w->p, gir_in(w->p, v, k))->is_graph)
            GN_TRY(run_world_graph(w, gir_in(w->p, v, k), &in[k]));
    if (n->op == GIR_FILTER) return filtered(w, v, in[0], out);
    if (n->op == GIR_INDEX) return indexed(w, v, out);
    if (n->op >= GIR_GROUP && n->op <= GIR_GROUP_NUMBERS) return grouped(w, v, in, out);
    if (gir_draws_edges(n) || n->op == GIR_DRAW)
        return drawn(w, v, (gn_graph *const[]){in[0], in[2]}, out);
    if (n->op == GIR_GROW)
        return gn_graph_grow(in[n->n_in > 1], (int)n->attr.i[0], n->n_in > 1 ? in[0] : NULL, in[2],
                             out);
    int64_t ends = n->attr.i[0];
    if (n->op == GIR_WITHOUT) return gn_graph_without(in[0], in[1], ends, out);
    if (n->op == GIR_ENDS)
        return gn_graph_ends(in[0], (int)ends, gir_new_ends(w->p, v), in[1], out);
    return gn_graph_restrict(in[0], ends & 1 ? in[1] : NULL, ends & 2 ? in[n->n_in - 1] : NULL,
                             out);
}

static gn_status *derived(run_world *w, gir_id v, gn_graph **out)
{
    if (gir_at(w->p, v)->op >= GIR_SUBSET) return picked(w, v, out);
    static const gn_graph_derive how[] = {GN_SELF_LOOPS, GN_REMOVE_LOOPS, GN_REMAINING_LOOPS,
                                          GN_REVERSE};
    gn_graph *parent;
    GN_TRY(run_world_graph(w, gir_in(w->p, v, 0), &parent));
    GN_TRY(gn_graph_derived(parent, how[gir_at(w->p, v)->op - GIR_SELF_LOOPS], out));
    w->owned[v] = true;
    return NULL;
}

/* Edges that come of some that are apart are of the groups of those. */
static gn_status *keep_groups(run_world *w, gir_id v, gn_graph *d)
{
    const gir_node *n = gir_at(w->p, v);
    gn_graph *g;
    bool by_edge = n->op == GIR_REVERSE || n->op == GIR_FILTER || gir_draws_edges(n);
    if (!by_edge || d->groups) return NULL;
    GN_TRY(run_world_graph(w, gir_in(w->p, v, 0), &g));
    return g->groups && g->groups->of_edges ? gn_graph_keep_groups(g, d) : NULL;
}

gn_status *run_world_graph(run_world *w, gir_id v, gn_graph **out)
{
    const gir_node *n = gir_at(w->p, v);
    if (!w->graph[v] && (n->op == GIR_GRAPH || n->op == GIR_PATTERN)) {
        const char *name = n->op == GIR_GRAPH ? n->attr.name
                                              : gir_at(w->p, gir_in(w->p, v, 0))->attr.name;
        w->graph[v] = name ? run_graphs_find(w->base, name) : NULL;
        if (!w->graph[v])
            GN_FAIL(GN_ERR_DATA, "no graph '%s'", name ? name : "of a computed pattern");
    }
    if (!w->graph[v]) {
        GN_TRY(derived(w, v, &w->graph[v]));
        GN_TRY(keep_groups(w, v, w->graph[v]));
    }
    *out = w->graph[v];
    /* that of a draw is made on demand */
    return n->op == GIR_DRAW ? gn_graph_require(*out, GN_ARRAY(GN_GRAPH_ROW_PTR)) : NULL;
}

gn_status *run_world_rows(run_world *w, gir_space_id s, int64_t *out)
{
    const gir_space *space = &w->p->spaces.p[s];
    gn_graph *g;
    *out = s ? space->size : 1;
    if (*out >= 0) return NULL;
    gir_id v = space->kind == GIR_EDGE ? space->graph : gir_space_source(w->p, s);
    if (!v) GN_FAIL(GN_ERR_DATA, "nothing tells how many rows %s has", space->name);
    const gir_node *n = gir_at(w->p, v);
    if (n->type.is_graph) {
        GN_TRY(run_world_graph(w, v, &g));
        *out = space->kind == GIR_EDGE ? g->n_edge : n->type.dst == s ? g->n_dst : g->n_src;
        return NULL;
    }
    const run_tensor *t = run_table_find(w->tensors, n->attr.name);
    if (!t) GN_FAIL(GN_ERR_DATA, "nothing is bound for '%s'", n->attr.name);
    *out = t->rows;
    return NULL;
}

/* Memory --------------------------------------------------------------------------------------- */

gn_status *run_fenced_new(size_t n, run_fenced *out)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + page - 1) / page * page;
    out->map_size = size + page;
    out->map = mmap(NULL, out->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    if (out->map == MAP_FAILED || mprotect((char *)out->map + size, page, PROT_NONE))
        GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes", out->map_size);
    out->p = (char *)out->map + size - n;
    memset(out->p, 0xff, n);
    return NULL;
}

void run_fenced_free(run_fenced *f)
{
    if (f->map) munmap(f->map, f->map_size);
    f->map = NULL;
}
