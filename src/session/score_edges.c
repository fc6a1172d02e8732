/* score_edges: what a model says of other edges than the data's.
 *
 * The forward pass runs on a relation that has other edges; what lies on those is that of edges of
 * the data, all else is bound as ever. */
#include "session/session_impl.h"
#include "session/eval_rows.h"
#include "session/minibatches.h"

#include "base/data_name.h"

#include <stdlib.h>
#include <string.h>

/* Do messages go along the relation, or along a graph that was made of it?  Then other edges would
 * change what nodes are. */
static bool carries_messages(const gir_program *p, gir_id relation)
{
    for (gir_id v = 1; v < p->nodes.n; v++) {
        if (gir_at(p, v)->op != GIR_SCATTER) continue;
        gir_id g = gir_in(p, v, 0);
        while (gir_at(p, g)->n_in > 0 && gir_type_of(p, gir_in(p, g, 0))->is_graph)
            g = gir_in(p, g, 0);
        if (g == relation) return true;
    }
    return false;
}

/* NULL: none has, or messages go along the edges. */
static gn_edge_scores scores_of(const gn_session *s)
{
    const gir_program *p = s->model->eval;
    const gir_output *o;
    if (s->opt.target) return (gn_edge_scores){0};
    for (int k = 0; (o = gir_result(p, k)); k++) {
        const gir_type *t = gir_type_of(p, o->value);
        gir_id g = p->spaces.p[t->space].kind == GIR_EDGE ? p->spaces.p[t->space].graph : 0;
        int64_t width = gir_row_elems(t);
        if (!g || width < 1 || width > 2 || t->elem != GN_F32) continue;
        bool fits = gir_at(p, g)->op == GIR_GRAPH && !carries_messages(p, g);
        return (gn_edge_scores){fits ? o->name : NULL, gir_at(p, g)->attr.name, width};
    }
    return (gn_edge_scores){0};
}

const char *gn_session_scored(const gn_session *s, int64_t *width)
{
    gn_edge_scores of = scores_of(s);
    *width = of.width;
    return of.name ? of.relation : NULL;
}

static bool lies_on(const gn_table_column *c, int relation)
{
    return c->on_edges && c->over == relation;
}

/* A column's rows of the edges that stand for others, in the order of the graph. */
static gn_status *gather_rows(const gn_graph *g, const gn_table_column *c, const int64_t *of,
                              void **to)
{
    int64_t row = (int64_t)gn_elem_size(c->elem);
    for (int k = 0; k < c->rank; k++) row *= c->dim[k];
    char *user = malloc((size_t)(g->n_edge * row) + 1);
    *to = malloc((size_t)(g->n_edge * row) + 1);
    if (!user || !*to) {
        free(user);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %s of %lld edges", c->name, (long long)g->n_edge);
    }
    for (int64_t e = 0; e < g->n_edge; e++)
        memcpy(user + e * row, (const char *)c->data + of[e] * row, (size_t)row);
    gn_graph_edges_in(g, row, user, *to);
    free(user);
    return NULL;
}

/* The session's own programs do not run meanwhile. */
static void borrow_arena(const gn_session *s, gn_instance *in)
{
    const gn_instance *own = s->build.eval.instance;
    if (!own) own = s->build.step.instance;
    if (own) (void)gn_instance_borrow_arena(in, own);
}

/* Of all edges of g at once, in its order. */
static gn_status *run_once(const gn_session *s, gn_session *view, gn_unit *u, const gn_graph *g,
                           const gn_edge_scores *of, float *score)
{
    GN_TRY(gn_session_bind(view, u, s->pool, NULL));
    borrow_arena(s, u->instance);
    gn_instance_run(u->instance);
    GN_TRY(gn_instance_wait(u->instance));
    memcpy(score, gn_instance_output(u->instance, of->name, NULL),
           (size_t)(g->n_edge * of->width) * sizeof *score);
    return NULL;
}

/* Of what each edge has one number, in the data's order. */
static void take(const gn_graph *g, float *placed, int64_t width, const gn_other_edges *e)
{
    for (int64_t k = 0; width > 1 && k < g->n_edge; k++) placed[k] = placed[k * width + e->which];
    gn_graph_edges_out(g, sizeof(float), placed, e->score);
}

static gn_status *run(const gn_session *s, gn_session *view, const gn_graph *g,
                      const gn_other_edges *e)
{
    const gn_eval_rows *some = s->batches ? s->batches->eval : NULL;
    gn_edge_scores of = scores_of(s);
    float *placed = malloc((size_t)(g->n_edge * of.width + 1) * sizeof *placed);
    if (!placed) GN_FAIL(GN_ERR_NOMEM, "out of memory: scores of %lld edges", (long long)g->n_edge);
    gn_unit u = s->build.eval;
    u.instance = u.prepare = NULL;
    gn_status *status = some ? gn_eval_edges_run(view, some, &u, g, &of, placed)
                             : run_once(s, view, &u, g, &of, placed);
    if (!status) take(g, placed, of.width, e);
    gn_unit_release(&u);
    free(placed);
    return status;
}

/* A session like this one, whose relation has the other edges. */
static gn_status *score(const gn_session *s, int relation, const gn_other_edges *e,
                        gn_session *view, gn_dataset *data)
{
    gn_graph **place = relation ? &view->relation[relation - 1] : &view->graph;
    gn_status *status = NULL;
    for (int k = 0; k < data->n_columns; k++)
        view->column[k] = lies_on(&data->columns[k], relation) ? NULL : s->column[k];
    GN_TRY(gn_graph_from_coo(s->graph->index, (*place)->n_src, (*place)->n_dst, e->n, GN_I64,
                             e->src, e->dst, place));
    for (int k = 0; k < data->n_columns && !status; k++)
        if (lies_on(&data->columns[k], relation))
            status = gather_rows(*place, &data->columns[k], e->of, &view->column[k]);
    if (!status) status = run(s, view, *place, e);
    for (int k = 0; k < data->n_columns; k++)
        if (lies_on(&data->columns[k], relation)) free(view->column[k]);
    gn_graph_free(*place);
    return status;
}

gn_status *gn_session_score_edges(const gn_session *s, int relation, const gn_other_edges *e)
{
    gn_dataset data = *s->data;
    gn_session view = *s;
    size_t columns = (size_t)data.n_columns + 1, relations = (size_t)data.n_relations + 1;
    view.data = &data;
    view.column = calloc(columns, sizeof *view.column);
    view.relation = calloc(relations, sizeof(gn_graph *));
    data.relations = calloc(relations, sizeof *data.relations);
    gn_status *status = NULL;
    if (!view.column || !view.relation || !data.relations)
        status = GN_ERROR(GN_ERR_NOMEM, "out of memory: edges to be scored");
    for (int k = 0; k < data.n_relations && !status; k++) {
        view.relation[k] = s->relation[k];
        data.relations[k] = s->data->relations[k];
    }
    if (!status && relation)
        data.relations[relation - 1].n_edges = e->n;
    else
        data.n_edges = e->n;
    if (!status) status = score(s, relation, e, &view, &data);
    free(view.column);
    free(view.relation);
    free(data.relations);
    return status;
}
