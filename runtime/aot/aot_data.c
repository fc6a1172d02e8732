/* Data of inputs: noted when it is bound, looked at when something is computed. */
#include "runtime/aot/impl.h"
#include "base/data_name.h"

#include "runtime/labels.h"
#include "runtime/memory.h"

#include <string.h>

static const char sparse_input[] = GN_NAME_X; /* the one that may be given by its non-zeros */

static int number(const gn_aot_model *m, const gn_aot_tensor *t)
{
    return (int)(t - m->image->inputs);
}

/* Instances learn of data that has taken the place of other data: by its address where that is all
 * that changed. */
static void replace(gn_aot_model *m, const gn_aot_tensor *t, bool same_size, const void *data)
{
    for (int k = 0; k < AOT_UNITS; k++) {
        const aot_unit *u = &m->unit[k];
        bool reads = gn_artifact_reads(u->code, GN_SLOT_INPUT, t->name);
        bool again = !same_size || t->rows == GN_AOT_EDGES ||
                     gn_artifact_reads(u->ahead, GN_SLOT_INPUT, t->name) ||
                     gn_artifact_picks(u->ahead, t->name) || gn_artifact_picks(u->code, t->name);
        if (!u->bound || (!again && !reads)) continue;
        if (!again) {
            gn_status *s = gn_instance_rebind(u->pair.instance, t->name, (void *)(uintptr_t)data);
            again = s != NULL; /* whatever it is, binding anew says it */
            gn_status_free(s);
        }
        if (again) aot_unbind(m, k);
    }
    m->inferred = false;
}

static void note(gn_aot_model *m, const gn_aot_tensor *t, int64_t rows, const void *data)
{
    aot_data *d = &m->data[number(m, t)], before = *d;
    *d = (aot_data){.data = data, .rows = rows};
    replace(m, t, before.data && before.rows == rows, data);
    gn_block_free(before.own);
    gn_block_free(before.sorted);
}

/* x for products that walk its non-zeros; a matrix is made of it again where something asks for
 * one. */
static gn_status *note_pattern(gn_aot_model *m, gn_graph *g)
{
    gn_status *s = aot_check_index(m, g, "x of more than 2^31 - 1 rows or non-zeros");
    if (s) {
        gn_graph_free(g);
        return s;
    }
    const gn_aot_tensor *x = aot_find(m->image->n_inputs, m->image->inputs, sparse_input);
    for (int k = 0; k < AOT_UNITS; k++) aot_unbind(m, k);
    gn_graph_free(m->pattern);
    m->pattern = g;
    if (!x) return NULL;
    gn_block_free(m->data[number(m, x)].own);
    m->data[number(m, x)] = (aot_data){0};
    return NULL;
}

static gn_status *check(const gn_aot_model *m, const char *name, int64_t rows, const void *data,
                        const gn_aot_tensor **out)
{
    const gn_aot_tensor *t = *out = aot_find(m->image->n_inputs, m->image->inputs, name);
    int64_t elems;
    if (!t) return aot_no_such(m, "input", name);
    if (rows < 0 || (t->rows == GN_AOT_ONE && rows != 1))
        GN_FAIL(GN_ERR_USAGE, "'%s' of %lld rows%s", name, (long long)rows,
                rows < 0 ? "" : ", expected 1");
    if (t->rows == GN_AOT_ROWS) GN_TRY(aot_check_rows(m, t->over, rows, "input", name));
    if (__builtin_mul_overflow(rows, t->row_elems, &elems) || elems > INT64_MAX / 16)
        GN_FAIL(GN_ERR_USAGE, "'%s' of %lld rows does not fit memory", name, (long long)rows);
    if (!data && elems) GN_FAIL(GN_ERR_USAGE, "'%s' is bound to no data", name);
    if ((uintptr_t)data % gn_elem_size(t->elem))
        GN_FAIL(GN_ERR_USAGE, "the data of '%s' is not aligned to its elements, %s", name,
                gn_elem_name(t->elem));
    return NULL;
}

static bool meet(const void *a, int64_t bytes, const void *b, int64_t others)
{
    return (uintptr_t)a < (uintptr_t)b + (uintptr_t)others &&
           (uintptr_t)b < (uintptr_t)a + (uintptr_t)bytes;
}

/* Does the data lie in what the last inference left?  That goes with the instance, or with the next
 * result. */
static bool is_result(const gn_aot_model *m, const void *data, int64_t bytes)
{
    const gn_instance *in = m->unit[AOT_INFER].pair.instance;
    if (m->copied && meet(data, bytes, m->copied, m->copied_bytes)) return true;
    for (int k = 0; in && k < m->image->n_outputs; k++) {
        const gn_aot_tensor *t = &m->image->outputs[k];
        int64_t elems = 0;
        const void *at = gn_instance_output(in, t->name, &elems);
        if (meet(data, bytes, at, elems * (int64_t)gn_elem_size(t->elem))) return true;
    }
    return false;
}

static gn_status *bind(gn_aot_model *m, const char *name, int64_t rows, const void *data)
{
    static const char nothing[64];
    const gn_aot_tensor *t;
    void *own = NULL;
    GN_TRY(check(m, name, rows, data, &t));
    if (!data) data = nothing; /* of no elements */
    if (m->image->n_classes && t->elem == GN_I32 && !strcmp(name, GN_NAME_Y))
        GN_TRY(gn_labels_check(name, rows, data, m->image->n_classes));
    if (m->image->sparse_x && !strcmp(name, sparse_input)) {
        gn_graph *g;
        GN_TRY(gn_graph_from_dense(m->image->index, rows, t->row_elems, data, &g));
        return note_pattern(m, g);
    }
    int64_t elems = rows * t->row_elems, size = (int64_t)gn_elem_size(t->elem);
    if (is_result(m, data, elems * size)) {
        GN_TRY(gn_block_new(elems, (size_t)size, name, &own));
        data = memcpy(own, data, (size_t)(elems * size));
    }
    note(m, t, rows, data);
    m->data[number(m, t)].own = own;
    return NULL;
}

int gn_aot_bind(gn_aot_model *m, const char *name, int64_t rows, const void *data)
{
    AOT_USABLE(m);
    return aot_say(m, bind(m, name, rows, data));
}

static gn_status *bind_csr(gn_aot_model *m, int64_t rows, const int64_t *row, const int32_t *column,
                           const float *value)
{
    const gn_aot_tensor *x = aot_find(m->image->n_inputs, m->image->inputs, sparse_input);
    gn_graph *g;
    if (!m->image->sparse_x || !x)
        GN_FAIL(GN_ERR_USAGE,
                "x is given by its non-zeros, but the model was compiled for all of it");
    gn_status *s = gn_graph_from_csr(m->image->index, rows, x->row_elems, row, column, value, &g);
    return s ? gn_status_annotate(s, GN_NAME_X) : note_pattern(m, g);
}

int gn_aot_bind_csr(gn_aot_model *m, int64_t rows, const int64_t *row, const int32_t *column,
                    const float *value)
{
    AOT_USABLE(m);
    return aot_say(m, bind_csr(m, rows, row, column, value));
}

/* Before it runs ------------------------------------------------------------------------------- */

static bool reads(const aot_unit *u, const char *name)
{
    return gn_artifact_reads(u->code, GN_SLOT_INPUT, name) ||
           gn_artifact_reads(u->ahead, GN_SLOT_INPUT, name) || gn_artifact_picks(u->code, name) ||
           gn_artifact_picks(u->ahead, name);
}

static gn_status *make_dense(gn_aot_model *m, const gn_aot_tensor *t)
{
    const gn_graph *g = m->pattern;
    aot_data *d = &m->data[number(m, t)];
    int64_t elems, cols = t->row_elems;
    if (__builtin_mul_overflow(g->n_dst, cols, &elems))
        GN_FAIL(GN_ERR_NOMEM, "out of memory: x of %lld x %lld", (long long)g->n_dst,
                (long long)cols);
    GN_TRY(gn_block_new(elems, sizeof(float), GN_NAME_X, &d->own));
    gn_graph_to_dense(g, d->own);
    d->data = d->own;
    d->rows = g->n_dst;
    return NULL;
}

void aot_forget_sorted(gn_aot_model *m, int relation)
{
    for (int k = 0; k < m->image->n_inputs; k++) {
        const gn_aot_tensor *t = &m->image->inputs[k];
        if (t->rows != GN_AOT_EDGES || t->over != relation) continue;
        gn_block_free(m->data[k].sorted);
        m->data[k].sorted = NULL;
    }
}

/* The relation is bound: what is on its edges is read. */
static gn_status *sort_edges(const gn_aot_model *m, const gn_aot_tensor *t, aot_data *d)
{
    const gn_graph *g = m->graph[t->over];
    const char *name = m->image->relations[t->over].name;
    if (d->rows != g->n_edge && !strcmp(name, GN_NAME_G))
        GN_FAIL(GN_ERR_DATA, "'%s' has %lld rows, the graph %lld edges", t->name,
                (long long)d->rows, (long long)g->n_edge);
    if (d->rows != g->n_edge)
        GN_FAIL(GN_ERR_DATA, "'%s' has %lld rows, relation '%s' %lld edges", t->name,
                (long long)d->rows, name, (long long)g->n_edge);
    if (d->sorted) return NULL;
    GN_TRY(gn_block_new(d->rows * t->row_elems, gn_elem_size(t->elem), t->name, &d->sorted));
    gn_graph_edges_in(g, t->row_elems * (int64_t)gn_elem_size(t->elem), d->data, d->sorted);
    return NULL;
}

gn_status *aot_ready_data(gn_aot_model *m, const aot_unit *u)
{
    bool pattern = gn_artifact_reads_pattern(u->code) || gn_artifact_reads_pattern(u->ahead);
    if (pattern && !m->pattern) GN_FAIL(GN_ERR_USAGE, "input 'x' is not bound");
    for (int k = 0; k < m->image->n_inputs; k++) {
        const gn_aot_tensor *t = &m->image->inputs[k];
        aot_data *d = &m->data[k];
        bool needed = reads(u, t->name);
        if (needed && !d->data && m->pattern && !strcmp(t->name, sparse_input))
            GN_TRY(make_dense(m, t));
        if (needed && !d->data) GN_FAIL(GN_ERR_USAGE, "input '%s' is not bound", t->name);
        if (needed && t->rows == GN_AOT_EDGES) GN_TRY(sort_edges(m, t, d));
    }
    return NULL;
}
