#include "support/facts_step.h"

#include "base/philox.h"
#include "ir/eval.h"
#include "passes/touch_rows.h"

#include <math.h>
#include <string.h>

gn_status *facts_data_init(facts_data *d)
{
    int64_t src[FACTS_EDGES], dst[FACTS_EDGES];
    memset(d, 0, sizeof *d);
    for (uint64_t e = 0; e < FACTS_EDGES; e++) {
        src[e] = (int64_t)(gn_random_u32(1, 0, e) % FACTS_NODES);
        dst[e] = (int64_t)(gn_random_u32(1, 1, e) % FACTS_NODES / (e % 3 ? 1 : 4));
        d->kind[e] = (int32_t)(gn_random_u32(1, 2, e) % FACTS_KINDS);
        d->train[e] = gn_random_u32(1, 3, e) % 4 != 0;
    }
    for (uint64_t i = 0; i < FACTS_NODES * FACTS_WIDE; i++)
        d->emb[i] = gn_random_uniform(1, 4, i) - 0.5f;
    for (uint64_t i = 0; i < FACTS_KINDS * FACTS_WIDE; i++)
        d->rel[i] = gn_random_uniform(1, 5, i) - 0.5f;
    for (uint64_t v = 0; v < FACTS_NODES; v++)
        d->sort[v] = (int32_t)(gn_random_u32(1, 6, v) % FACTS_KINDS);
    d->seed = 11;
    const gn_binding bound[] = {{"kind", GN_I32, FACTS_EDGES, 1, d->kind},
                                {"train", GN_BOOL, FACTS_EDGES, 1, d->train},
                                {"rng.seed", GN_I64, 1, 1, &d->seed},
                                {"rng.step", GN_I64, 1, 1, &d->step},
                                {"emb", GN_F32, FACTS_NODES, FACTS_WIDE, d->emb},
                                {"rel", GN_F32, 1, FACTS_KINDS * FACTS_WIDE, d->rel},
                                {"loss", GN_F32, 1, 1, &d->loss, .output = true},
                                {"sort", GN_I32, FACTS_NODES, 1, d->sort},
                                {"mom", GN_F32, FACTS_NODES, FACTS_WIDE, d->mom}};
    memcpy(d->bound, bound, sizeof bound);
    d->graph.name = "facts";
    gn_status *s = gn_graph_from_coo(GN_I32, FACTS_NODES, FACTS_NODES, FACTS_EDGES, GN_I64, src,
                                     dst, &d->facts);
    d->graph.graph = d->facts;
    return s;
}

static const char
    text[] = "program @step { space node node ? space kind node 5 space facts edge ?\n"
             " %%1 = graph \"facts\" : graph<node -> node, facts>\n"
             " %%2 = input \"train\" : facts bool[]\n %%3 = input \"kind\" : facts i32[]\n"
             " %%4 = input \"rng.seed\" : i64[]\n %%5 = state \"rng.step\" : i64[]\n"
             " %%6 = state \"emb\" : node f32[8]\n %%7 = state \"rel\" : f32[5, 8]\n"
             " %%8 = rng_key %%4, %%5\n %%9 = filter %%1, %%2\n"
             " %%10 = const {value = 0} : node i32[]\n %%11 = carry %%9, %%1, %%3, %%10\n"
             " %%12 = %s\n %%13 = carry %%12, %s, %%10\n"
             " %%14 = corrupt %%12, %%8 {times = %d, end = %d, site = 1}\n"
             " %%15 = carry %%14, %%12, %%13, %%10\n"
             " %%16 = index %%13 {space = kind}\n %%17 = index %%15 {space = kind}\n"
             " %%18 = to_rows %%7 : kind f32[8]\n"
             " %%19 = gather %%12, %%6 {end = 0}\n %%20 = gather %%12, %%6 {end = 1}\n"
             " %%21 = take %%16, %%18\n %%22 = mul %%19, %%21\n %%23 = mul %%22, %%20\n"
             " %%24 = reduce %%23 {axes = 1}\n %%25 = neg %%24\n %%26 = sigmoid %%25\n"
             " %%27 = space_reduce %%26\n"
             " %%28 = gather %%14, %%6 {end = 0}\n %%29 = gather %%14, %%6 {end = 1}\n"
             " %%30 = take %%17, %%18\n %%31 = mul %%28, %%30\n %%32 = mul %%31, %%29\n"
             " %%33 = reduce %%32 {axes = 1}\n %%34 = sigmoid %%33\n %%35 = space_reduce %%34\n"
             " %%36 = add %%27, %%35\n output \"loss\" %%36 }";

/* Half of what "mom" was and the gradient, for rows that are touched; they move by that. */
static void update_touched(gir_program *p, gir_id rows, gir_id grad)
{
    gir_id pick = gir_in(p, rows, 0), emb = gir_in(p, rows, 1);
    gir_type all = *gir_type_of(p, emb), some = *gir_type_of(p, rows);
    gir_id mom = gir_leaf(p, GIR_STATE, "mom", &all), half = gir_const(p, &some, 0.5);
    gir_id next = gir_op2(p, GIR_MUL, gir_op2(p, GIR_TAKE, pick, mom), half);
    next = gir_op2(p, GIR_ADD, next, grad);
    gir_id by = gir_op2(p, GIR_MUL, next, gir_const(p, &some, 0.125));
    by = gir_op2(p, GIR_SUB, rows, by);
    gir_output_add(p, GIR_UPDATE, "mom", gir_op3(p, GIR_PUT, pick, mom, next));
    gir_output_add(p, GIR_UPDATE, "emb", gir_op3(p, GIR_PUT, pick, emb, by));
}

gn_status *facts_step_program(gn_arena *a, int end, int batch, bool touched, gir_program **out)
{
    static const char *const names[] = {"emb", "rel"};
    const char *some = gn_arena_printf(a, "sample %%9, %%8 {most = %d, site = 2}", batch);
    const char *t = gn_arena_printf(a, text, batch ? some : "filter %1, %2",
                                    batch ? "%9, %11" : "%1, %3", (int)FACTS_TIMES, end);
    gir_id wrt[2], grad[2], rows = 0;
    GN_TRY(gir_parse(a, t, strlen(t), "facts", out));
    if (touched) GN_TRY(gn_pass_touch_rows(a, *out, 1, names, out));
    gir_program *p = *out;
    for (int k = 0; k < 2; k++) wrt[k] = gir_leaf_by_name(p, GIR_STATE, names[k]);
    if (touched) {
        GN_TRY(gn_touched_rows(p, wrt[0], &rows));
        wrt[0] = rows;
    }
    GN_TRY(gir_grad(p, p->outputs.p[0].value, 2, wrt, grad));
    if (touched) update_touched(p, rows, grad[0]);
    for (int k = touched; k < 2; k++) {
        gir_type type = *gir_type_of(p, wrt[k]);
        gir_id rate = gir_const(p, &type, 0.125), by = gir_op2(p, GIR_MUL, grad[k], rate);
        gir_output_add(p, GIR_UPDATE, names[k], gir_op2(p, GIR_SUB, wrt[k], by));
    }
    gir_id step = gir_leaf_by_name(p, GIR_STATE, "rng.step");
    gir_type count = *gir_type_of(p, step);
    gir_id one = gir_const(p, &count, 1);
    gir_output_add(p, GIR_UPDATE, "rng.step", gir_op2(p, GIR_ADD, step, one));
    return gir_verify(p);
}

gn_status *facts_step_instance(facts_data *d, const gn_artifact *code, gn_pool *pool,
                               gn_instance **out)
{
    return gn_instance_new(code, 1, &d->graph, FACTS_BOUND, d->bound, pool, NULL, out);
}

/* As the evaluator takes it. */
static gir_value value_of(gn_arena *a, const gn_binding *b)
{
    gir_value v = {.rows = b->rows, .cols = b->row_elems};
    v.v = GN_NEW_N(a, double, v.rows *v.cols);
    for (int64_t i = 0; i < v.rows * v.cols; i++)
        v.v[i] = b->elem == GN_F32    ? (double)((const float *)b->data)[i]
                 : b->elem == GN_I64  ? (double)((const int64_t *)b->data)[i]
                 : b->elem == GN_BOOL ? ((const uint8_t *)b->data)[i]
                                      : ((const int32_t *)b->data)[i];
    return v;
}

static gir_coo *coo_of(gn_arena *a, const gn_graph *g)
{
    int64_t *src = GN_NEW_N(a, int64_t, g->n_edge), *dst = GN_NEW_N(a, int64_t, g->n_edge);
    for (int64_t v = 0; v < g->n_dst; v++)
        for (int64_t e = ((const int32_t *)g->array[GN_GRAPH_ROW_PTR])[v];
             e < ((const int32_t *)g->array[GN_GRAPH_ROW_PTR])[v + 1]; e++) {
            int64_t pos = ((const int32_t *)g->array[GN_GRAPH_POS])[e];
            src[pos] = ((const int32_t *)g->array[GN_GRAPH_COL])[e];
            dst[pos] = v;
        }
    return gir_coo_new(a, g->n_src, g->n_dst, g->n_edge, src, dst);
}

gn_status *facts_evaluate(gn_arena *a, facts_data *d, const gir_program *p, gir_value **out)
{
    const char *name[FACTS_BOUND + 1];
    gir_value bound[FACTS_BOUND + 1];
    for (int k = 0; k < FACTS_BOUND; k++) {
        name[k] = d->bound[k].name;
        bound[k] = value_of(a, &d->bound[k]);
    }
    name[FACTS_BOUND] = "facts";
    bound[FACTS_BOUND] = (gir_value){.graph = coo_of(a, d->facts)};
    gir_env env = {.arena = a, .bounds = true, .n = FACTS_BOUND + 1, .name = name, .value = bound};
    return gir_eval(p, &env, out);
}

gn_status *facts_step_check(gn_arena *a, facts_data *d, const gir_program *p, gn_instance *in,
                            gn_remote *remote)
{
    gir_value *want;
    GN_TRY(facts_evaluate(a, d, p, &want));
    gn_instance_run(in);
    GN_TRY(gn_instance_wait(in));
    for (uint32_t o = 0; o < p->outputs.n; o++) {
        const gir_value *w = &want[p->outputs.p[o].value];
        int k = 0;
        while (strcmp(d->bound[k].name, p->outputs.p[o].name) != 0) k++;
        if (remote) GN_TRY(remote->fetch(remote, d->bound[k].data));
        gir_value got = value_of(a, &d->bound[k]);
        for (int64_t i = 0; i < got.rows * got.cols; i++)
            if (!(fabs(got.v[i] - w->v[i]) <= 2 * w->err[i]))
                GN_FAIL(GN_ERR_INTERNAL, "step %lld: %s[%lld] is %.9g, not %.9g +- %.3g",
                        (long long)d->step, d->bound[k].name, (long long)i, got.v[i], w->v[i],
                        w->err[i]);
    }
    return NULL;
}
