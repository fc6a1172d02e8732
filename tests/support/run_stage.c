#include "support/run_stage.h"

#include <string.h>

/* Launch by launch ----------------------------------------------------------------------------- */

typedef struct desk { /* a stage with its buffers laid out */
    const run_stage *of;
    gn_arena *arena;
    const gn_compiled *code;
    run_table *table, *outputs;
    run_world world;
    bool wide, fence;
    kir_bound_buffer *buffer; /* by low_buffer */
    run_fenced *fenced;
    int64_t *sym; /* by low_sym */
} desk;

static int64_t size_of(const desk *d, low_size s)
{
    return (s.sym < 0 ? s.coef : s.coef * d->sym[s.sym]) + s.plus;
}

static gn_status *graph_buffer(desk *d, const low_buffer *b, kir_bound_buffer *out)
{
    gn_graph *g;
    GN_TRY(run_world_graph(&d->world, b->graph, &g));
    GN_TRY(gn_graph_require(g, GN_ARRAY(b->array)));
    if (gn_graph_array_count(g, b->array) < out->elems ||
        gn_graph_array_elem(g, b->array) != b->elem)
        GN_FAIL(GN_ERR_INTERNAL, "array %d of graph %%%u has %lld elements, not %lld",
                (int)b->array, b->graph, (long long)gn_graph_array_count(g, b->array),
                (long long)out->elems);
    out->data = g->array[b->array];
    if (!d->wide || b->elem != GN_F32) return NULL;
    double *v = GN_NEW_N(d->arena, double, out->elems + 1);
    for (int64_t i = 0; i < out->elems; i++) v[i] = (double)((const float *)out->data)[i];
    out->data = v;
    return NULL;
}

static gn_status *own_buffer(desk *d, uint32_t k, size_t bytes)
{
    if (d->fence) {
        GN_TRY(run_fenced_new(bytes, &d->fenced[k]));
        d->buffer[k].data = d->fenced[k].p;
        return NULL;
    }
    d->buffer[k].data = gn_arena_alloc(d->arena, bytes + 1, 1);
    memset(d->buffer[k].data, 0xff, bytes);
    return NULL;
}

static gn_status *open_buffer(desk *d, uint32_t k)
{
    const low_buffer *b = &d->code->low->buffers.p[k];
    kir_bound_buffer *out = &d->buffer[k];
    out->elems = size_of(d, b->size);
    if (b->kind == LOW_GRAPH) return graph_buffer(d, b, out);
    size_t bytes = (size_t)out->elems * gn_elem_size(run_stored(d->wide, b->elem));
    if (b->kind == LOW_TEMP || b->kind == LOW_OUTPUT) return own_buffer(d, k, bytes);
    run_tensor *t = run_table_find(d->table, b->name);
    if (!t || t->elem != b->elem || t->rows * t->cols != out->elems)
        GN_FAIL(GN_ERR_INTERNAL, "buffer %s: %lld elements of %s, which is not what is bound",
                b->name, (long long)out->elems, gn_elem_name(b->elem));
    if (!d->fence) {
        out->data = t->data;
        return NULL;
    }
    for (uint32_t j = 0; j < k; j++) { /* two buffers of one state are one */
        const low_buffer *o = &d->code->low->buffers.p[j];
        if (o->kind == LOW_STATE && b->kind == LOW_STATE && !strcmp(o->name, b->name)) {
            out->data = d->buffer[j].data;
            return NULL;
        }
    }
    GN_TRY(own_buffer(d, k, bytes));
    memcpy(out->data, t->data, bytes);
    return NULL;
}

static gn_status *count_parts(desk *d, const low_sym *s, int64_t *out)
{
    gn_graph *g;
    GN_TRY(run_world_graph(&d->world, s->graph, &g));
    GN_TRY(gn_graph_require(g, GN_ARRAY(s->array)));
    *out = gn_graph_part_groups(g, s->array, s->per);
    return NULL;
}

static gn_status *open_desk(desk *d)
{
    const lowered *low = d->code->low;
    d->buffer = GN_NEW_N(d->arena, kir_bound_buffer, low->buffers.n + 1);
    d->fenced = GN_NEW_N(d->arena, run_fenced, low->buffers.n + 1);
    d->sym = GN_NEW_N(d->arena, int64_t, low->syms.n + 1);
    for (uint32_t k = 0; k < low->syms.n; k++) {
        const low_sym *s = &low->syms.p[k];
        d->sym[k] = s->per;
        if (s->graph) GN_TRY(count_parts(d, s, &d->sym[k]));
        if (s->space == 0) continue;
        GN_TRY(run_world_rows(&d->world, s->space, &d->sym[k]));
        d->sym[k] = (d->sym[k] + s->per - 1) / s->per;
    }
    for (uint32_t k = 0; k < low->buffers.n; k++) GN_TRY(open_buffer(d, k));
    return NULL;
}

/* What was written in memory of its own goes back to the tables. */
static void close_desk(desk *d, bool keep)
{
    const lowered *low = d->code->low;
    for (uint32_t k = 0; k < low->buffers.n; k++) {
        const low_buffer *b = &low->buffers.p[k];
        size_t bytes = (size_t)d->buffer[k].elems * gn_elem_size(run_stored(d->wide, b->elem));
        if (keep && b->kind == LOW_OUTPUT) {
            int64_t cols = b->row_elems, rows = cols ? d->buffer[k].elems / cols : 0;
            memcpy(run_table_add(d->outputs, b->name, b->elem, rows, cols)->data, d->buffer[k].data,
                   bytes);
        } else if (keep && b->kind == LOW_STATE && d->fence) {
            memcpy(run_table_find(d->table, b->name)->data, d->buffer[k].data, bytes);
        }
    }
    for (uint32_t k = 0; k < low->buffers.n; k++) run_fenced_free(&d->fenced[k]);
    run_world_free(&d->world);
}

static gn_status *launch_cuda(desk *d, const low_launch *l, int kernel, cuda_order order)
{
    void **buf = GN_NEW_N(d->arena, void *, l->buffers.n + 1);
    size_t *bytes = GN_NEW_N(d->arena, size_t, l->buffers.n + 1);
    int64_t *sym = GN_NEW_N(d->arena, int64_t, l->syms.n + 1), bound = size_of(d, l->trip);
    for (uint32_t k = 0; k < l->buffers.n; k++) {
        const kir_bound_buffer *b = &d->buffer[l->buffers.p[k]];
        buf[k] = b->data;
        bytes[k] = (size_t)b->elems * gn_elem_size(l->kernel->buffers.p[k].elem);
    }
    for (uint32_t k = 0; k < l->syms.n; k++) sym[k] = d->sym[l->syms.p[k]];
    int64_t trips = kir_thread_loop(l->kernel) ? (bound + l->step - 1) / l->step : 1;
    gn_status *s = cuda_host_launch(d->of->host, d->of->first + kernel, buf, bytes, sym, trips,
                                    order, (uint64_t)kernel + 7);
    return gn_status_annotate(s, "kernel %s", l->kernel->name);
}

static gn_status *launch_code(desk *d, const low_launch *l, gn_kernel_fn fn, bool backwards)
{
    void **buf = GN_NEW_N(d->arena, void *, l->buffers.n + 1);
    int64_t *sym = GN_NEW_N(d->arena, int64_t, l->syms.n + 1), bound = size_of(d, l->trip);
    for (uint32_t k = 0; k < l->buffers.n; k++) buf[k] = d->buffer[l->buffers.p[k]].data;
    for (uint32_t k = 0; k < l->syms.n; k++) sym[k] = d->sym[l->syms.p[k]];
    int64_t trips = kir_thread_loop(l->kernel) ? (bound + l->step - 1) / l->step : 1;
    if (!backwards) {
        if (trips > 0) fn(buf, sym, 0, trips);
        return NULL;
    }
    for (int64_t t = trips; t-- > 0;) fn(buf, sym, t, t + 1);
    return NULL;
}

static gn_status *launch_kir(desk *d, const low_launch *l, const run_way *w)
{
    kir_bound_buffer *buf = GN_NEW_N(d->arena, kir_bound_buffer, l->buffers.n + 1);
    int64_t *sym = GN_NEW_N(d->arena, int64_t, l->syms.n + 1);
    for (uint32_t k = 0; k < l->buffers.n; k++) buf[k] = d->buffer[l->buffers.p[k]];
    for (uint32_t k = 0; k < l->syms.n; k++) sym[k] = d->sym[l->syms.p[k]];
    kir_eval_options o = {.f64 = w->wide, .reverse = w->backwards, .once = true};
    return kir_eval(l->kernel, &o, buf, sym);
}

static gn_status *run_launches(desk *d, const run_way *w)
{
    const lowered *low = d->code->low;
    int code = 0;
    for (uint32_t k = 0; k < low->launches.n; k++) {
        const low_launch *l = &low->launches.p[k];
        if (!l->kernel) {
            kir_bound_buffer *to = &d->buffer[l->buffers.p[0]], *from = &d->buffer[l->buffers.p[1]];
            gn_elem e = run_stored(d->wide, low->buffers.p[l->buffers.p[0]].elem);
            if (to->elems != from->elems)
                GN_FAIL(GN_ERR_INTERNAL, "launch %u copies between sizes", k);
            if (to->data != from->data)
                memcpy(to->data, from->data, (size_t)to->elems * gn_elem_size(e));
        } else if (w->code && d->of->host) {
            GN_TRY(launch_cuda(d, l, code, w->order));
        } else if (w->code) {
            GN_TRY(launch_code(d, l, d->code->artifact->code[code], w->backwards));
        } else {
            GN_TRY(launch_kir(d, l, w));
        }
        code += l->kernel != NULL;
    }
    return NULL;
}

gn_status *run_stage_launches(const run_stage *of, const run_way *w, run_table *table,
                              run_table *outputs)
{
    desk d = {.of = of, .arena = of->arena, .code = of->code, .table = table, .outputs = outputs};
    d.wide = w->wide;
    d.fence = w->code;
    d.world = run_world_new(of->arena, of->code->gir, of->graphs, table);
    gn_status *s = open_desk(&d);
    if (!s) s = run_launches(&d, w);
    close_desk(&d, !s);
    return s;
}

/* As an instance ------------------------------------------------------------------------------- */

static gn_pool *pool_of(int threads)
{
    static gn_pool *pool[2];
    gn_pool **p = &pool[threads > 1];
    if (!*p) gn_status_free(gn_pool_new(threads, p));
    return *p;
}

static void instance_outputs(const gn_compiled *code, const gn_instance *in, run_table *out)
{
    const gn_artifact *a = code->artifact;
    for (int k = 0; k < a->n_slots; k++) {
        const gn_slot *s = &a->slots[k];
        if (s->kind != GN_SLOT_OUTPUT) continue;
        int64_t elems = 0;
        const void *data = gn_instance_output(in, s->name, &elems);
        run_tensor *t = run_table_find(out, s->name);
        if (!t)
            t = run_table_add(out, s->name, s->elem, s->row_elems ? elems / s->row_elems : 0,
                              s->row_elems);
        memcpy(t->data, data, (size_t)elems * gn_elem_size(s->elem));
    }
}

static gn_status *same_as(const run_table *z, void *const *copy)
{
    for (uint32_t k = 0; k < z->t.n; k++)
        if (memcmp(z->t.p[k].data, copy[k], run_tensor_bytes(&z->t.p[k])) != 0)
            GN_FAIL(GN_ERR_INTERNAL, "%s: another run gives other bits", z->t.p[k].name);
    return NULL;
}

/* Runs twice, from the same states and a poisoned arena and then as the first run leaves it. */
gn_status *run_stage_instance(const run_stage *of, int threads, run_table *table,
                              run_table *outputs)
{
    const gn_compiled *code = of->code;
    gn_binding *b = GN_NEW_N(of->arena, gn_binding, table->t.n + 1);
    for (uint32_t k = 0; k < table->t.n; k++) {
        run_tensor *t = &table->t.p[k];
        b[k] = (gn_binding){t->name, t->elem, t->rows, t->cols, t->data};
    }
    gn_instance *in;
    code->artifact->chain_bytes = 512; /* so that few rows are many blocks of a chain */
    GN_TRY(gn_instance_new(code->artifact, (int)of->graphs->g.n, of->graphs->g.p, (int)table->t.n,
                           b, pool_of(threads), NULL, &in));
    int head, last = code->artifact->n_launches;
    while (last > 0 && !gn_instance_chain(in, last - 1, &head)) last--;
    *of->chained += last > 0;
    void **before = run_table_bytes(of->arena, table);
    gn_instance_poison(in);
    gn_instance_run(in);
    instance_outputs(code, in, outputs);
    void **states = run_table_bytes(of->arena, table),
         **values = run_table_bytes(of->arena, outputs);
    for (uint32_t k = 0; k < table->t.n; k++)
        memcpy(table->t.p[k].data, before[k], run_tensor_bytes(&table->t.p[k]));
    gn_instance_run(in);
    instance_outputs(code, in, outputs);
    gn_status *s = same_as(table, states);
    if (!s) s = same_as(outputs, values);
    gn_instance_free(in);
    return s;
}
