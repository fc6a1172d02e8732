/* inputs: arrays of the data under the names of inputs that a model or its train block declares. */
#include "session/session_impl.h"
#include "base/data_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gn_program_reads(const gir_program *p, const char *name)
{
    for (gir_id v = 1; p && v < p->nodes.n; v++)
        if (gir_at(p, v)->op == GIR_INPUT && !strcmp(gir_at(p, v)->attr.name, name)) return true;
    return false;
}

/* Of the format, or a column of the data. */
static bool is_known(const gn_session *s, const char *name)
{
    bool codes = strstr(name, ".codes.") != NULL; /* no name of the language */
    return codes || gn_is_data_name(name) || gn_schema_find_column(&s->schema, name) >= 0;
}

static const char *shape_text(gn_arena *a, int rank, const int64_t *dim)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "[");
    for (int k = 0; k < rank; k++) gn_buf_printf(&b, "%s%lld", k ? ", " : "", (long long)dim[k]);
    gn_buf_add(&b, "]");
    return b.p;
}

static bool is_on(const gir_program *p, const gir_type *t, gir_space_kind kind)
{
    return t->space && p->spaces.p[t->space].kind == kind;
}

/* What an array for an input has to be: a row for each node or edge, where the input has one. */
static int wanted_shape(const gn_session *s, const gir_program *p, const gir_type *t, int64_t *dim)
{
    int rank = 0;
    if (t->space) dim[rank++] = is_on(p, t, GIR_EDGE) ? s->data->n_edges : s->data->n_nodes;
    for (int d = 0; d < t->rank; d++) dim[rank++] = t->dim[d];
    return rank;
}

/* One number a row may be [rows] or [rows, 1]. */
static bool same_shape(const gn_data_array *a, int rank, const int64_t *dim)
{
    int have = a->rank, want = rank;
    while (have > 0 && a->dim[have - 1] == 1) have--;
    while (want > 0 && dim[want - 1] == 1) want--;
    return have == want && !memcmp(a->dim, dim, (size_t)have * sizeof *dim);
}

/* A row a node: of one number, where it is for labels. */
static bool may_be(const gn_session *s, const gn_data_array *a, bool labels)
{
    bool one = a->rank == 1 || (a->rank == 2 && a->dim[1] == 1);
    return a->rank >= 1 && a->rank <= 2 && a->dim[0] == s->data->n_nodes && (one || !labels);
}

const char *gn_session_other_arrays(const gn_session *s, bool labels)
{
    enum { SHOWN = 6 };
    gn_buf b = {.arena = s->arena};
    int n = 0;
    gn_buf_add(&b, "");
    for (int fitting = 1; fitting >= 0 && !n; fitting--) /* all of them, where none has the shape */
        for (int k = 0; k < s->data->n_more && n < SHOWN; k++) {
            const gn_data_array *a = &s->data->more[k];
            if (a->also || (fitting && !may_be(s, a, labels))) continue;
            gn_buf_printf(&b, "%s`%s`", n++ ? ", " : "; it has ", a->name);
            if (a->rank > 0) gn_buf_printf(&b, " %s", shape_text(s->arena, a->rank, a->dim));
        }
    if (n)
        gn_buf_add(&b, labels ? ", and labels are read under `y`"
                              : ", and features are read under `x`");
    return b.p;
}

static const char *origin(const gn_session *s)
{
    return s->opt.data.path ? s->opt.data.path : "the built-in graph";
}

static gn_status *check_array(const gn_session *s, const gn_data_array *a, const gir_program *p,
                              const gir_type *t)
{
    int64_t want[1 + GIR_MAX_RANK], count = 1;
    int rank = wanted_shape(s, p, t, want);
    if (is_on(p, t, GIR_EDGE) && s->data->edges_remade)
        GN_FAIL(GN_ERR_DATA,
                "%s: %s: the model declares a value of edges, and edges are not those of the file "
                "any more: reversed ones "
                "were added, or some were merged or dropped; --undirected off leaves them as they "
                "are stored",
                origin(s), a->name);
    if (!a->data)
        GN_FAIL(GN_ERR_DATA, "%s: %s: expected numbers: the model declares an input of this name",
                origin(s), a->name);
    if (!same_shape(a, rank, want))
        GN_FAIL(GN_ERR_DATA, "%s: %s: shape %s: expected %s, as the model declares it", origin(s),
                a->name, shape_text(s->arena, a->rank, a->dim), shape_text(s->arena, rank, want));
    for (int d = 0; d < a->rank; d++) count *= a->dim[d];
    int64_t bad = 0, first = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(a->data[i]) && !bad++) first = i;
    if (!bad) return NULL;
    GN_FAIL(GN_ERR_DATA,
            "%s: %s: number %lld is %g: expected finite numbers, and %lld of %lld are not",
            origin(s), a->name, (long long)first, (double)a->data[first], (long long)bad,
            (long long)count);
}

static gn_data_array *find(const gn_session *s, const char *name)
{
    for (int k = 0; k < s->data->n_more; k++)
        if (!strcmp(s->data->more[k].name, name)) return &s->data->more[k];
    return NULL;
}

static gn_status *take(gn_session *s, const gir_program *p)
{
    for (gir_id v = 1; p && v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_INPUT || is_known(s, n->attr.name)) continue;
        gn_data_array *a = find(s, n->attr.name);
        if (!a || a->taken) continue;
        GN_TRY(check_array(s, a, p, &n->type));
        a->taken = true;
        a->on_nodes = is_on(p, &n->type, GIR_NODE);
        a->on_edges = is_on(p, &n->type, GIR_EDGE);
    }
    return NULL;
}

gn_status *gn_session_take_inputs(gn_session *s)
{
    GN_TRY(take(s, s->model->eval));
    GN_TRY(take(s, s->model->loss));
    GN_TRY(take(s, s->model->validate));
    for (int k = 0; k < s->data->n_more; k++)
        if (s->data->more[k].on_nodes) GN_TRY(gn_data_array_move(s->data, &s->data->more[k]));
    for (int k = 0; k < s->data->n_more; k++)
        if (!s->data->more[k].taken) gn_data_array_drop(&s->data->more[k]);
    return NULL;
}

static int64_t row_elems(const gn_data_array *a)
{
    int64_t elems = 1;
    for (int d = a->on_nodes || a->on_edges; d < a->rank; d++) elems *= a->dim[d];
    return elems;
}

gn_status *gn_session_edge_rows(const gn_session *s, const float *from, int64_t dim, float **to)
{
    *to = NULL;
    if (!from) return NULL;
    *to = malloc((size_t)(s->data->n_edges * dim + 1) * sizeof(float));
    if (!*to)
        GN_FAIL(GN_ERR_NOMEM, "edge data takes %lld bytes",
                (long long)(s->data->n_edges * dim * 4));
    gn_graph_edges_in(s->graph, dim * (int64_t)sizeof(float), from, *to);
    return NULL;
}

gn_status *gn_session_sort_inputs(gn_session *s)
{
    s->edge_input = GN_NEW_N(s->arena, float *, s->data->n_more + 1);
    for (int k = 0; k < s->data->n_more; k++) {
        const gn_data_array *a = &s->data->more[k];
        if (a->on_edges) GN_TRY(gn_session_edge_rows(s, a->data, row_elems(a), &s->edge_input[k]));
    }
    return NULL;
}

void gn_session_free_inputs(gn_session *s)
{
    for (int k = 0; s->edge_input && k < s->data->n_more; k++) free(s->edge_input[k]);
}

int gn_session_bind_inputs(const gn_session *s, gn_binding *to)
{
    int n = 0;
    for (int k = 0; k < s->data->n_more; k++) {
        const gn_data_array *a = &s->data->more[k];
        if (!a->taken) continue;
        int64_t rows = a->on_nodes ? s->data->n_nodes : a->on_edges ? s->data->n_edges : 1;
        to[n++] = (gn_binding){a->name, GN_F32, rows, row_elems(a),
                               a->on_edges ? s->edge_input[k] : a->data};
    }
    return n;
}

gn_status *gn_session_missing_inputs(const gn_session *s, const gn_unit *u)
{
    const gir_program *const programs[] = {s->model->eval, s->model->loss, s->model->validate};
    for (int k = 0; k < 3; k++)
        for (gir_id v = 1; programs[k] && v < programs[k]->nodes.n; v++) {
            const gir_node *n = gir_at(programs[k], v);
            if (n->op != GIR_INPUT || is_known(s, n->attr.name) || find(s, n->attr.name)) continue;
            if (!gn_unit_reads(u, GN_SLOT_INPUT, n->attr.name)) continue;
            int64_t want[1 + GIR_MAX_RANK];
            int rank = wanted_shape(s, programs[k], &n->type, want);
            bool edges = is_on(programs[k], &n->type, GIR_EDGE) && s->data->edge_dim > 0;
            bool nodes = is_on(programs[k], &n->type, GIR_NODE) && s->data->n_features > 0;
            GN_FAIL(GN_ERR_DATA,
                    "model %s reads an input `%s`, of which %s has nothing: a .npz may have an "
                    "array of this name, %s%s",
                    s->model->name, n->attr.name, origin(s), shape_text(s->arena, rank, want),
                    edges   ? "; of several inputs of edges the one named `attr` is their features"
                    : nodes ? "; of several inputs of nodes the one named `x` is their features"
                            : "");
        }
    return NULL;
}
