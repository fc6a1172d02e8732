/* Executables that compute a few nodes at a time, and the nodes that a run names for them. */
#include "api/api.h"
#include "base/data_name.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

/* Compiling ------------------------------------------------------------------------------------ */

static gn_status *check_options(const gnnc_executable *e, const gnnc_compile_options *o)
{
    const char *with = o->rows                                           ? "`rows`"
                       : o->same_data                                    ? "`same_data`"
                       : e->bucket                                       ? "buckets"
                       : gn_modes[e->opt.mode].tune && o->tune_budget_ms ? "tune_budget_ms"
                       : o->tune_lock                                    ? "tune_lock"
                                                                         : NULL;
    if (with) GN_FAIL(GN_ERR_USAGE, "by_rows does not go with %s", with);
    if (o->dynamic && strcmp(o->dynamic, "true"))
        GN_FAIL(GN_ERR_USAGE,
                "by_rows goes with dynamic 'true': sizes are compiled into no program");
    if (o->n_fanout && !o->fanout)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `fanout` is NULL, of %zu", o->n_fanout);
    if (o->n_fanout > GN_MOST_HOPS)
        GN_FAIL(GN_ERR_USAGE, "fanout has %zu numbers, %d at most", o->n_fanout, (int)GN_MOST_HOPS);
    for (size_t k = 0; k < o->n_fanout; k++)
        if (o->fanout[k] < -1 || o->fanout[k] > INT32_MAX)
            GN_FAIL(GN_ERR_USAGE, "fanout[%zu] is %lld: -1 is all edges, else it is not negative",
                    k, (long long)o->fanout[k]);
    return NULL;
}

static gn_status *read_spec(gnnc_executable *e, const gnnc_compile_options *o)
{
    const gn_batch_spec *said = &e->model->train.batches;
    gn_batch_spec *t = &e->batches;
    int draw;
    if (o->train && (said->of || said->sampler))
        GN_FAIL(GN_ERR_USAGE,
                "by_rows: batches of the train block of %s are of %s, and rows are named here",
                e->model->name, said->of ? "edges" : "parts of the graph");
    if (o->train && said->accumulate > 1)
        GN_FAIL(GN_ERR_USAGE,
                "by_rows: `accumulate` of the train block of %s adds up batches of an epoch, and "
                "rows are named here",
                e->model->name);
    *t = (gn_batch_spec){.size = 1,
                         .n_fanout = said->n_fanout,
                         .draw = said->draw,
                         .draw_by = said->draw_by,
                         .apart = said->apart,
                         .time = said->time,
                         .before = said->before,
                         .times = said->times,
                         .columns = said->columns};
    memcpy(t->fanout, said->fanout, sizeof t->fanout);
    GN_TRY(gn_choose("setting of draw", o->draw, gn_draw_how_name, GN_DRAW_COUNT, &draw));
    if (o->draw) t->draw = (gn_draw_how)draw;
    if (t->draw == GN_DRAW_LAST && !t->time)
        GN_FAIL(GN_ERR_USAGE, "draw 'last' goes with `before` or `until` of the train block, which "
                              "say what times are");
    if (o->n_fanout) {
        t->n_fanout = (int)o->n_fanout;
        memcpy(t->fanout, o->fanout, o->n_fanout * sizeof *o->fanout);
    }
    e->results = *t;
    e->results.results = true;
    return NULL;
}

static gn_status *check_hops(const gn_batch_spec *t, int hops, const char *what)
{
    if (!t->n_fanout || t->n_fanout == hops) return NULL;
    GN_FAIL(GN_ERR_MODEL, "fanout has %d number%s, and messages of %s go over %d hop%s",
            t->n_fanout, t->n_fanout == 1 ? "" : "s", what, hops, hops == 1 ? "" : "s");
}

/* What rows are named of: those of the first result that has rows of nodes. */
static gn_status *find_space(gnnc_executable *e)
{
    const gir_program *p = e->model->eval;
    const gir_output *o;
    const char *name = NULL;
    for (int k = 0; !name && (o = gir_result(p, k)); k++) {
        const gir_space *s = &p->spaces.p[gir_type_of(p, o->value)->space];
        if (s->kind == GIR_NODE && gir_type_of(p, o->value)->space) name = s->name;
    }
    if (!name) GN_FAIL(GN_ERR_MODEL, "by_rows: model %s has no result of nodes", e->model->name);
    e->rows_space = e->shape.schema ? gn_schema_find_space(e->shape.schema, name) : 0;
    if (e->rows_space < 0)
        GN_FAIL(GN_ERR_MODEL, "by_rows: rows of '%s', which results have, are none of the data",
                name);
    e->rows_mask = gn_arena_printf(&e->arena, "%s" GN_BATCH_MASK, name);
    return NULL;
}

gn_status *api_read_named_rows(gnnc_executable *e, const gnnc_compile_options *o)
{
    gn_row_needs needs;
    int hops;
    if (!o->by_rows && (o->n_fanout || o->draw))
        GN_FAIL(GN_ERR_USAGE, "%s goes with by_rows", o->n_fanout ? "fanout" : "draw");
    if (!o->by_rows) return NULL;
    GN_TRY(check_options(e, o));
    GN_TRY(read_spec(e, o));
    GN_TRY(find_space(e));
    e->opt.results = &e->results;
    GN_TRY(gn_build_result_hops(&e->arena, e->model, &e->opt, &hops));
    GN_TRY(check_hops(&e->results, hops, "results"));
    if (!o->train) return NULL;
    e->opt.batches = &e->batches;
    GN_TRY(gn_build_needs(&e->arena, e->model, &e->opt, &needs));
    if (!needs.mask)
        GN_FAIL(GN_ERR_MODEL, "by_rows: the loss of %s is over no mask", e->model->name);
    e->mask = needs.mask;
    e->opt.train_rows.levels = needs.levels > 0 ? needs.levels : 1;
    return check_hops(&e->batches, e->opt.train_rows.levels - 1, "the loss");
}

/* Running -------------------------------------------------------------------------------------- */

bool api_is_named_mask(const gnnc_executable *e, const char *name)
{
    return e->results.size && (!strcmp(name, e->rows_mask) || (e->mask && !strcmp(name, e->mask)));
}

/* How many rows of the space there are by what is bound; -1: nothing says it. */
static int64_t rows_bound(const gnnc_run *r)
{
    const gn_schema *s = r->whole->shape.schema;
    int space = r->exe->rows_space;
    if (!s) return r->graph ? r->graph->graph->n_dst : -1;
    for (int k = 0; k < s->n_relations; k++) {
        const gn_graph *g = api_relation(r, k);
        if (g && s->relation[k].src == space) return g->n_src;
        if (g && s->relation[k].dst == space) return g->n_dst;
    }
    for (int k = 0; k < r->n_data; k++) {
        int c = r->data[k].data ? gn_schema_find_column(s, r->data[k].name) : -1;
        if (c >= 0 && !s->column[c].on_edges && s->column[c].over == space) return r->data[k].rows;
    }
    return s->space[space].rows;
}

static void clear_mask(api_rows *z)
{
    for (int64_t k = 0; k < z->marked; k++) z->mask[z->row[k]] = 0;
    z->marked = 0;
}

/* The mask of the rows that are named. */
gn_status *api_fill_mask(const gnnc_run *r, api_rows *z, const char *function)
{
    int64_t nodes = rows_bound(r);
    if (nodes < 0) GN_FAIL(GN_ERR_USAGE, "no graph is bound");
    if (z->mask && nodes == z->nodes && z->marked == z->n) return NULL;
    clear_mask(z);
    if (nodes > z->nodes || !z->mask) {
        uint8_t *mask = gn_allocate_zeroed((size_t)nodes + 1);
        if (!mask) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows", (long long)nodes);
        gn_release(z->mask);
        z->mask = mask;
    }
    z->nodes = nodes;
    for (; z->marked < z->n; z->marked++) {
        int64_t row = z->row[z->marked];
        if (row < 0 || row >= nodes)
            GN_FAIL(GN_ERR_DATA, "%s: row %lld is named, and there are %lld", function,
                    (long long)row, (long long)nodes);
        z->mask[row] = 1;
    }
    return NULL;
}

gn_status *api_find_named(gnnc_run *r, bool step)
{
    if (!r->exe->results.size) return NULL;
    if (!r->named.named)
        GN_FAIL(GN_ERR_USAGE, "no rows are named, which gnnc_run_rows does: the executable was "
                              "compiled by_rows");
    if (step && !r->named.n) GN_FAIL(GN_ERR_USAGE, "a training step of no rows");
    return api_fill_mask(r, &r->named, "gnnc_run_rows");
}

int api_bind_named(const gnnc_run *r, gn_binding *b)
{
    const gnnc_executable *e = r->exe;
    int n = 0;
    if (!e->results.size) return 0;
    const api_rows *z = &r->named;
    b[n++] = (gn_binding){e->rows_mask, GN_BOOL, z->nodes, 1, z->mask, z->row, z->n};
    if (e->mask) b[n++] = (gn_binding){e->mask, GN_BOOL, z->nodes, 1, z->mask, z->row, z->n};
    return n;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Results have the rows once, in order. */
gn_status *api_order_named(const gnnc_run *r, const void *from, int64_t row_bytes, void *to)
{
    const api_rows *z = &r->named;
    int64_t *once = gn_allocate_zeroed((size_t)(z->n + 1) * sizeof *once), n = 0;
    if (!once) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows", (long long)z->n);
    if (z->n) memcpy(once, z->row, (size_t)z->n * sizeof *once);
    qsort(once, (size_t)z->n, sizeof *once, ascending);
    for (int64_t k = 0; k < z->n; k++)
        if (!k || once[k] != once[n - 1]) once[n++] = once[k];
    for (int64_t k = 0; k < z->n; k++) {
        const int64_t *at = bsearch(&z->row[k], once, (size_t)n, sizeof *once, ascending);
        memcpy((char *)to + k * row_bytes, (const char *)from + (at - once) * row_bytes,
               (size_t)row_bytes);
    }
    gn_release(once);
    return NULL;
}

gn_status *api_name_rows(api_rows *z, int64_t n, const int64_t *rows)
{
    clear_mask(z);
    if (n > z->room || !z->row) {
        int64_t *row = n < INT64_MAX / (int64_t)sizeof *row
                           ? gn_allocate_zeroed((size_t)(n + 1) * sizeof *row)
                           : NULL;
        if (!row) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows", (long long)n);
        gn_release(z->row);
        z->row = row;
        z->room = n;
    }
    if (n) memcpy(z->row, rows, (size_t)n * sizeof *rows);
    z->n = n;
    return NULL;
}

static gn_status *name_rows(gnnc_run *r, int64_t n, const int64_t *rows)
{
    if (!r->whole->results.size)
        GN_FAIL(GN_ERR_USAGE, "gnnc_run_rows goes with an executable compiled by_rows");
    if (n < 0) GN_FAIL(GN_ERR_USAGE, "gnnc_run_rows: %lld rows", (long long)n);
    api_rows_changed(r);
    GN_TRY(api_name_rows(&r->named, n, rows));
    r->named.named = true;
    r->inferred = false;
    for (int k = 0; k < API_UNITS; k++) r->named.at[k] = false;
    return NULL;
}

gnnc_status *gnnc_run_rows(gnnc_run *r, int64_t n, const int64_t *rows)
{
    API_NEEDS(r);
    if (n > 0) API_NEEDS(rows);
    API_MEMORY(api_context(r->exe));
    return api_out(name_rows(r, n, rows));
}

void api_free_named(gnnc_run *r)
{
    gn_release(r->named.row);
    gn_release(r->named.mask);
}
