/* score_edges: what a model says of other edges than the data's.
 *
 * The forward pass runs on a relation that has other edges; what lies on those is that of edges of
 * the data, all else is bound as ever. */
#include "session/session_impl.h"
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

/* What scores edges: the first result that has a number for each, or two. */
typedef struct scores {
    const char *name; /* NULL: none has, or messages go along the edges */
    const char *relation;
    int64_t width;
} scores;

static scores scores_of(const gn_session *s)
{
    const gir_program *p = s->model->eval;
    const gir_output *o;
    if (s->opt.target) return (scores){0};
    for (int k = 0; (o = gir_result(p, k)); k++) {
        const gir_type *t = gir_type_of(p, o->value);
        gir_id g = p->spaces.p[t->space].kind == GIR_EDGE ? p->spaces.p[t->space].graph : 0;
        int64_t width = gir_row_elems(t);
        if (!g || width < 1 || width > 2 || t->elem != GN_F32) continue;
        bool fits = gir_at(p, g)->op == GIR_GRAPH && !carries_messages(p, g);
        return (scores){fits ? o->name : NULL, gir_at(p, g)->attr.name, width};
    }
    return (scores){0};
}

const char *gn_session_scored(const gn_session *s, int64_t *width)
{
    scores of = scores_of(s);
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

/* Of what each edge has one number, in the data's order. */
static gn_status *take(const gn_graph *g, const float *out, int64_t width, int64_t which,
                       float *score)
{
    float *one = NULL;
    if (width > 1) {
        one = malloc((size_t)(g->n_edge + 1) * sizeof *one);
        if (!one) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld scored edges", (long long)g->n_edge);
        for (int64_t e = 0; e < g->n_edge; e++) one[e] = out[e * width + which];
    }
    gn_graph_edges_out(g, sizeof(float), one ? one : out, score);
    free(one);
    return NULL;
}

static gn_status *run(const gn_session *s, gn_session *view, const gn_graph *g,
                      const gn_other_edges *e)
{
    gn_unit u = s->build.eval;
    scores of = scores_of(s);
    u.instance = u.prepare = NULL;
    GN_TRY(gn_session_bind(view, &u, s->pool, NULL));
    borrow_arena(s, u.instance);
    gn_instance_run(u.instance);
    gn_status *status = gn_instance_wait(u.instance);
    const float *out = gn_instance_output(u.instance, of.name, NULL);
    if (!status) status = take(g, out, of.width, of.width > 1 ? e->which : 0, e->score);
    gn_unit_release(&u);
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
