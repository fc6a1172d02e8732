#include "session/minibatches.h"
#include "session/eval_rows.h"
#include "session/session_impl.h"

#include "base/alloc.h"
#include "base/data_name.h"
#include "base/philox.h"

#include <math.h>
#include <string.h>

gn_status *gn_batches_settings(gn_session *s)
{
    gn_batch_spec *t = &s->model->train.batches;
    if (t->sampler && (s->opt.batch || s->opt.has_fanout))
        GN_FAIL(GN_ERR_USAGE, "--batch and --fanout do not go with `sampler`, which draws parts of "
                              "the graph");
    if (t->shadow[0] && s->opt.has_fanout)
        GN_FAIL(GN_ERR_USAGE, "--fanout does not go with `shadow`, which says how many edges");
    if (s->opt.evaluate == GN_EVALUATE_FULL && t->time)
        GN_FAIL(GN_ERR_USAGE,
                "--evaluate full does not go with `%s`: of all at once there is no "
                "time",
                t->before ? "before" : "until");
    if (s->opt.evaluate) t->evaluate = s->opt.evaluate == GN_EVALUATE_BATCH;
    if (s->opt.evaluate == GN_EVALUATE_BATCH && !gn_has_batches(t) && !s->opt.batch)
        GN_FAIL(GN_ERR_USAGE, "--evaluate batch goes with --batch N, `batch` or `sampler`");
    if (s->opt.batch) t->size = s->opt.batch;
    if (t->accumulate > 1 && !gn_has_batches(t))
        GN_FAIL(GN_ERR_USAGE, "`accumulate` goes with --batch N, `batch` or `sampler`");
    if (s->opt.ahead > 0 && !gn_has_batches(t))
        GN_FAIL(GN_ERR_USAGE, "--ahead goes with --batch N, `batch` or `sampler`");
    if (s->opt.ahead > 0 && s->opt.target)
        GN_FAIL(GN_ERR_USAGE, "--ahead: on a device batches are prepared between its steps");
    if (!s->opt.has_fanout) return NULL;
    if (!t->size) GN_FAIL(GN_ERR_USAGE, "--fanout goes with --batch N, or `batch = rows(N)`");
    t->n_fanout = s->opt.n_fanout;
    memcpy(t->fanout, s->opt.fanout, (size_t)t->n_fanout * sizeof *t->fanout);
    return NULL;
}

/* A schedule counts epochs, and its program counts steps. */
static void stretch(gn_train_spec *t, int64_t steps)
{
    int64_t *const count[] = {&t->period, &t->warmup};
    for (int k = 0; k < 2; k++)
        if (__builtin_mul_overflow(*count[k], steps, count[k])) *count[k] = INT64_MAX;
    if (t->schedule == GN_LR_EXPONENTIAL) t->gamma = pow(t->gamma, 1 / (double)steps);
}

/* Where edges are marked and no rows are, as in facts. */
static const char *edges_instead(const gn_session *s)
{
    for (int k = 0; k < s->data->n_columns; k++) {
        const gn_table_column *c = &s->data->columns[k];
        const char *relation = c->on_edges ? gn_dataset_relation(s->data, c->over) : "";
        if (c->on_edges && !strcmp(c->name + strlen(relation), "." GN_NAME_TRAIN_MASK))
            return gn_arena_printf(s->arena, "; `batch = edges(N) of %s over %s` takes edges",
                                   relation, c->name);
    }
    return "";
}

static gn_status *check(const gn_session *s)
{
    const gn_batch_spec *t = &s->model->train.batches;
    if (t->sampler && (s->data->n_tables || s->data->n_relations))
        GN_FAIL(GN_ERR_DATA, "`sampler` draws parts of one graph, and the data have several types "
                             "of rows or relations");
    if (!t->of && !t->sampler && !s->data->train_mask)
        GN_FAIL(GN_ERR_DATA, "`batch` takes rows of the training mask, and %s has none%s",
                s->data->name ? s->data->name : "the data", edges_instead(s));
    if (s->opt.objects)
        GN_FAIL(GN_ERR_USAGE, "`batch`: an object trains on all rows that its caller binds; with "
                              "--inference it has no training");
    return NULL;
}

/* All rows that there are, and which of them batches are made of (NULL: all). */
static gn_status *find_rows(const gn_session *s, gn_binding *mask, const uint8_t **among)
{
    const gn_batch_spec *t = &s->model->train.batches;
    const gn_dataset *d = s->data;
    *among = d->train_mask;
    *mask = (gn_binding){GN_NAME_TRAIN_MASK, GN_BOOL, gn_dataset_labelled(d), 1, NULL};
    if (!t->of) return NULL;
    const gn_graph *g = gn_session_relation(s, t->of);
    mask->name = gn_arena_printf(s->arena, "%s" GN_BATCH_MASK, t->of);
    mask->rows = g->n_edge;
    *among = NULL;
    for (int k = 0; t->over && k < d->n_columns; k++)
        if (!strcmp(d->columns[k].name, t->over)) *among = d->columns[k].data;
    if (t->over && !*among)
        GN_FAIL(GN_ERR_DATA, "`batch` takes edges of `%s`, and the data have none", t->over);
    return NULL;
}

/* Edges in the user's order, by their places in the graph's. */
static void put_edges(const gn_session *s, int64_t *place)
{
    const gn_graph *g = gn_session_relation(s, s->model->train.batches.of);
    for (int64_t k = 0; k < g->n_edge; k++)
        place[gn_index_get(g->array[GN_GRAPH_POS], g->index, k)] = k;
}

/* Numbers of parts or of batches in the place of rows; the shares of those that chance picks. */
static gn_status *put_parts(gn_session *s, gn_batches *b)
{
    const gn_batch_spec *t = &s->model->train.batches;
    int64_t nodes = s->graph->n_dst, edges = s->graph->n_edge;
    GN_TRY(gn_subgraphs_new(s->graph, t, &b->parts));
    b->n = gn_subgraphs_count(b->parts);
    b->size = t->sampler == GN_SAMPLER_CLUSTER ? t->sampled[1] : 1;
    b->first = gn_allocate_zeroed((size_t)(b->n + 1) * sizeof *b->first);
    b->row = gn_allocate_zeroed((size_t)(b->n + 1) * sizeof *b->row);
    b->mask = (gn_binding){GN_SPACE_NODE GN_BATCH_MASK, GN_BOOL, nodes, 1, NULL};
    b->mask.data = gn_allocate_zeroed((size_t)nodes + 1);
    b->picked.mask = (uint8_t *)b->mask.data;
    b->picked.node = gn_allocate_zeroed((size_t)(nodes + 1) * sizeof *b->picked.node);
    bool clusters = t->sampler == GN_SAMPLER_CLUSTER;
    if (clusters) b->labelled = gn_allocate_zeroed((size_t)(b->n + 1) * sizeof *b->labelled);
    float *node = gn_allocate_zeroed((size_t)(nodes + 1) * sizeof *node),
          *edge = gn_allocate_zeroed((size_t)(edges + 1) * sizeof *edge);
    b->share[0] = (gn_binding){GN_SPACE_NODE GN_BATCH_SHARE, GN_F32, nodes, 1, node};
    b->share[1] = (gn_binding){GN_NAME_G GN_BATCH_SHARE, GN_F32, edges, 1, edge};
    bool room = b->first && b->row && b->mask.data && b->picked.node && (b->labelled || !clusters);
    if (!room || !node || !edge)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: parts of %lld nodes", (long long)nodes);
    for (int64_t k = 0; k < b->n; k++) b->first[k] = b->row[k] = k;
    for (int64_t k = 0; k < b->n && clusters; k++) {
        gn_subgraphs_pick(b->parts, 1, &k, 0, &b->picked);
        b->labelled[k] = gn_batch_labelled(s, &b->picked);
    }
    gn_subgraphs_pick(b->parts, b->size, b->first, gn_step_key(s->opt.seed, 0), &b->picked);
    return gn_has_shares(t) ? gn_subgraphs_shares(b->parts, s->opt.seed, node, edge) : NULL;
}

static gn_status *put_rows(gn_session *s, gn_batches *b)
{
    const gn_batch_spec *t = &s->model->train.batches;
    const uint8_t *among;
    if (t->sampler) return put_parts(s, b);
    GN_TRY(find_rows(s, &b->mask, &among));
    int64_t rows = b->mask.rows;
    b->first = gn_allocate_zeroed((size_t)(rows + 1) * sizeof *b->first);
    b->row = gn_allocate_zeroed((size_t)(rows + 1) * sizeof *b->row);
    b->mask.data = gn_allocate_zeroed((size_t)rows + 1);
    if (!b->first || !b->row || !b->mask.data)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of batches", (long long)rows);
    if (t->of) put_edges(s, b->row);
    for (int64_t v = 0; v < rows; v++)
        if (!among || among[v]) b->first[b->n++] = t->of ? b->row[v] : v;
    if (!b->n)
        GN_FAIL(GN_ERR_DATA, "`batch`: there are no %s to train on", t->of ? "edges" : "rows");
    for (int64_t k = 0; k < b->n && k < b->size; k++) ((uint8_t *)b->mask.data)[b->first[k]] = 1;
    return NULL;
}

/* Batches that are prepared ahead.  From a store that does not fit in memory, the pages of the next
 * one drive out those of the one that runs, and where the disk is the limit nothing is gained. */
static int depth_of(const gn_session *s)
{
    if (s->opt.target || gn_batches_count(s->batches) < 2) return 0;
    if (s->opt.ahead >= 0) return (int)s->opt.ahead;
    return s->data->file || gn_cores() < 2 ? 0 : GN_AHEAD;
}

gn_status *gn_batches_new(gn_session *s)
{
    gn_train_spec *t = &s->model->train;
    if (!s->opt.train || !gn_has_batches(&t->batches)) return NULL;
    GN_TRY(check(s));
    gn_batches *b = gn_allocate_zeroed(sizeof *b);
    if (!b) GN_FAIL(GN_ERR_NOMEM, "out of memory: batches");
    s->batches = b;
    b->size = t->batches.size;
    b->epoch = -1;
    GN_TRY(put_rows(s, b));
    b->depth = depth_of(s);
    b->together = gn_adds_up(&t->batches) ? t->batches.accumulate : 1;
    stretch(t, gn_batches_updates(b));
    if (s->opt.unscored) return NULL;
    if (t->batches.evaluate && s->opt.all_results)
        GN_FAIL(GN_ERR_USAGE, "`evaluate = batch` has results of the masks' rows alone: `gnnc run` "
                              "gives those of all");
    if (t->batches.evaluate) GN_TRY(gn_eval_rows_new(s, &b->eval));
    return NULL;
}

void gn_batches_free(gn_batches *b)
{
    if (!b) return;
    gn_batch_frames_free(b);
    gn_release(b->first);
    gn_release(b->labelled);
    gn_release(b->picked.node);
    gn_release(b->row);
    gn_release(b->mask.data);
    gn_release(b->share[0].data);
    gn_release(b->share[1].data);
    gn_subgraphs_free(b->parts);
    gn_eval_rows_free(b->eval);
    gn_release(b);
}

/* Compiling ------------------------------------------------------------------------------------ */

/* About how many rows and edges each level has. */
static void expect(const gn_session *s, int levels, gn_build_options *o)
{
    const gn_batch_spec *t = &s->model->train.batches;
    gn_data_facts *f = &o->train_rows.facts;
    int64_t nodes = s->graph->n_dst, edges = s->graph->n_edge;
    if (t->sampler) return;
    double rows = (double)(s->batches->n < s->batches->size ? s->batches->n : s->batches->size),
           each = nodes ? (double)edges / (double)nodes : 0;
    if (t->of) rows *= 3; /* ends of edges, and one of another that is drawn */
    if (rows > (double)nodes) rows = (double)nodes;
    *f = (gn_data_facts){.all = {nodes, edges}};
    f->nonzeros = o->sparse ? s->data->x_csr->nnz : 0;
    for (int k = 0; k < levels; k++) {
        bool some = k < t->n_fanout && t->fanout[k] >= 0;
        double most = some ? (double)t->fanout[k] : each;
        double in = rows * (most < each ? most : each);
        f->level[k] = (gn_row_count){(int64_t)rows, (int64_t)in};
        rows = rows + in < (double)nodes ? rows + in : (double)nodes;
    }
}

gn_status *gn_batches_options(gn_session *s, gn_build_options *o)
{
    const gn_batch_spec *t = &s->model->train.batches;
    gn_row_needs needs;
    if (!s->batches) return NULL;
    if (s->batches->eval) {
        int hops;
        o->results = &s->batches->eval->how;
        GN_TRY(gn_build_result_hops(s->arena, s->model, o, &hops));
    }
    o->batches = t;
    GN_TRY(gn_build_needs(s->arena, s->model, o, &needs));
    if (t->of && (!needs.mask || strcmp(needs.mask, s->batches->mask.name)))
        GN_FAIL(GN_ERR_MODEL, "`batch` takes edges of `%s`, and the loss is over none of those",
                t->of);
    if (!t->of && !t->sampler && (!needs.mask || strcmp(needs.mask, GN_NAME_TRAIN_MASK)))
        GN_FAIL(GN_ERR_MODEL, "`batch` goes with a loss over `train_mask`, whose rows it takes");
    int hops = needs.levels ? needs.levels - 1 : 0;
    if (hops + 1 > GN_MOST_LEVELS || hops > GN_MOST_HOPS)
        GN_FAIL(GN_ERR_MODEL, "`batch`: messages go over more than %d hops", (int)GN_MOST_HOPS);
    if (t->n_fanout && t->n_fanout != hops)
        GN_FAIL(GN_ERR_MODEL, "`fanout` has %d number%s, and messages go over %d hop%s",
                t->n_fanout, t->n_fanout == 1 ? "" : "s", hops, hops == 1 ? "" : "s");
    o->train_rows = (gn_loss_rows){.levels = hops + 1};
    if (!s->data->n_tables && !s->data->n_relations) expect(s, hops + 1, o);
    return NULL;
}

int gn_batches_bind(const gn_session *s, gn_binding *to)
{
    gn_batches *b = s->batches;
    int n = 0;
    if (b->parts || s->model->train.batches.of) to[n++] = b->mask;
    for (int k = 0; k < 2 && b->parts; k++) to[n++] = b->share[k];
    if (b->together == 1) return n;
    to[n++] = (gn_binding){GN_BATCH_PART, GN_F32, 1, 1, &b->part};
    to[n++] = (gn_binding){GN_BATCH_FIRST, GN_BOOL, 1, 1, &b->is_first};
    to[n++] = (gn_binding){GN_BATCH_LAST, GN_BOOL, 1, 1, &b->is_last};
    return n;
}
