/* The steps of an epoch, batch by batch.  While one runs the next ones are prepared on another
 * thread (lookahead.h): their rows are picked, edges are drawn, graphs are made and bound, and rows
 * of a file are asked for.  All of that hangs on the seed, the epoch and the batch's number alone.
 */
#include "session/minibatches.h"
#include "session/session_impl.h"
#include "session/stored_rows.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/draw.h"
#include "base/philox.h"
#include "passes/learning_rate.h"

#include <math.h>
#include <string.h>

enum { ORDER_SITE = 1 << 29 }; /* of draws: the order of rows */

int64_t gn_batch_labelled(const gn_session *s, const gn_picked *of)
{
    int64_t n = 0;
    for (int64_t k = 0; k < of->n; k++)
        n += !s->data->train_mask || s->data->train_mask[of->node[k]];
    return n;
}

/* An order of rows by the seed and the epoch, from the one in which they lie (Fisher, Yates). */
static void shuffle(gn_session *s, uint64_t seed, int64_t epoch)
{
    gn_batches *b = s->batches;
    uint64_t stream = gn_draw_key(gn_step_key(seed, (uint64_t)epoch), ORDER_SITE);
    memcpy(b->row, b->first, (size_t)b->n * sizeof *b->row);
    for (int64_t k = b->n - 1; k > 0; k--) {
        int64_t j = gn_draw_row(gn_draw_long(stream, (uint64_t)k), k + 1), row = b->row[k];
        b->row[k] = b->row[j];
        b->row[j] = row;
    }
    b->epoch = epoch;
    b->seed = seed;
}

static uint64_t key_of(const gn_batches *b, int64_t number)
{
    return gn_step_key(b->seed, (uint64_t)(b->epoch * gn_batches_count(b) + number));
}

/* Frames --------------------------------------------------------------------------------------- */

static gn_batch_frame *frame_of(const gn_batches *b, int64_t number)
{
    return &b->frame[number % (b->depth + 1)];
}

void gn_batch_frames_free(gn_batches *b)
{
    gn_lookahead_free(b->ahead);
    for (int k = 0; b->frame && k <= b->depth; k++) {
        gn_release(b->frame[k].tensors);
        if (k) gn_release(b->frame[k].rows.mask);
        if (k && b->parts) gn_release(b->frame[k].rows.node);
    }
    gn_release(b->frame);
    b->frame = NULL;
    b->ahead = NULL;
}

/* The first frame has the mask and the rows that the session was bound to. */
static gn_status *make_frames(gn_batches *b)
{
    size_t rows = (size_t)b->mask.rows;
    b->frame = gn_allocate_zeroed((size_t)(b->depth + 1) * sizeof *b->frame);
    bool room = b->frame != NULL;
    for (int k = 0; k <= b->depth && room; k++) {
        gn_picked *p = &b->frame[k].rows;
        p->mask = k ? gn_allocate_zeroed(rows + 1) : b->mask.data;
        if (b->parts)
            p->node = k ? gn_allocate_zeroed((rows + 1) * sizeof *p->node) : b->picked.node;
        room = p->mask && (p->node || !b->parts);
    }
    if (room) {
        memset(b->mask.data, 0, rows);
        return NULL;
    }
    gn_batch_frames_free(b);
    GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld rows of %d batches", (long long)rows, b->depth + 1);
}

/* Of a step in this frame: another mask, and the counter as it will be then. */
static gn_status *bind_frame(const gn_session *s, gn_batch_frame *f)
{
    const gn_batches *b = s->batches;
    int64_t room = b->n_tensors + gn_unit_kept(&s->build.step);
    if (f->room < room) {
        gn_release(f->tensors);
        f->room = 0;
        f->tensors = gn_allocate_zeroed((size_t)room * sizeof *f->tensors);
        if (!f->tensors) GN_FAIL(GN_ERR_NOMEM, "out of memory: bindings of a batch");
        f->room = room;
    }
    memcpy(f->tensors, b->tensors, (size_t)b->n_tensors * sizeof *f->tensors);
    for (int k = 0; k < b->n_tensors; k++) {
        gn_binding *t = &f->tensors[k];
        if (t->data == b->mask.data) t->data = f->rows.mask;
        if (!strcmp(t->name, GN_STATE_STEPS) && !s->opt.target) t->then = &f->step;
    }
    return NULL;
}

int64_t gn_batches_bytes(const gn_batches *b)
{
    int64_t rows = b->mask.rows, frame = rows + (b->parts ? 8 * rows : 0);
    return 16 * b->n + (b->labelled ? 8 * b->n : 0) + (b->depth + 1) * frame +
           (b->parts ? 4 * (b->share[0].rows + b->share[1].rows) : 0);
}

/* Preparing ------------------------------------------------------------------------------------ */

/* The rows of batch `number` of the order at hand, in its mask, and as its binding lists them. */
static void pick_rows(const gn_session *s, int64_t number, gn_batch_frame *f)
{
    const gn_batches *b = s->batches;
    gn_picked *p = &f->rows;
    int64_t first = number * b->size, n = b->n - first > b->size ? b->size : b->n - first;
    int64_t *row = b->row + first;
    if (b->parts) {
        gn_subgraphs_pick(b->parts, n, row, key_of(b, number), p);
    } else {
        p->node = row;
        p->n = n;
        for (int64_t k = 0; k < n; k++) p->mask[row[k]] = 1;
    }
    f->labelled = b->parts ? gn_batch_labelled(s, p) : n;
    for (int k = 0; k < b->n_tensors; k++)
        if (f->tensors[k].data == p->mask) {
            f->tensors[k].set = p->node;
            f->tensors[k].n_set = p->n;
        }
}

static void clear(gn_batch_frame *f)
{
    gn_instance_free(f->next);
    f->next = NULL;
    for (int64_t k = 0; k < f->rows.n; k++) f->rows.mask[f->rows.node[k]] = 0;
    f->rows.n = 0;
}

/* Perhaps on another thread, while a step runs: it writes to the batch's own frame alone. */
static gn_status *prepare(void *ctx, int64_t number)
{
    const gn_session *s = ctx;
    gn_batches *b = s->batches;
    gn_batch_frame *f = frame_of(b, number);
    const gn_unit *u = &s->build.step;
    pick_rows(s, number, f);
    f->step = b->step + (number - b->number);
    gn_status *status = gn_unit_bind_next(u, b->last, b->n_graphs, b->graphs, b->n_tensors,
                                          f->tensors, s->build.eval.instance, &f->next);
    if (!status) status = gn_stored_check_picked(s, u->code, f->next);
    if (status)
        clear(f);
    else
        b->last = f->next;
    return status;
}

/* Are batches prepared on a thread of their own?  So somebody says, or they are not small. */
static bool is_worth(const gn_session *s)
{
    return s->opt.ahead >= 0 || s->batches->slow >= GN_SLOW;
}

/* Before batch `number`, whose step is the unit's next one. */
static gn_status *begin(gn_session *s, int64_t number)
{
    gn_batches *b = s->batches;
    if (!b->frame) GN_TRY(make_frames(b));
    if (!b->ahead) GN_TRY(gn_lookahead_new(is_worth(s) ? b->depth : 0, prepare, s, &b->ahead));
    for (int k = 0; k <= b->depth; k++) GN_TRY(bind_frame(s, &b->frame[k]));
    b->last = s->build.step.instance;
    b->number = number;
    for (int k = 0; k < b->n_tensors; k++)
        if (b->frame->tensors[k].then) b->step = *(const int64_t *)b->tensors[k].data;
    return NULL;
}

/* Nothing is being prepared any more, and what was is forgotten. */
static void stop(gn_batches *b)
{
    (void)gn_lookahead_stop(b->ahead);
    for (int k = 0; k <= b->depth; k++) clear(&b->frame[k]);
}

/* Running -------------------------------------------------------------------------------------- */

/* Rows that the loss of some batches is over, or which weigh as much; of parts that chance picks
 * all weigh alike. */
static int64_t rows_between(const gn_batches *b, int64_t number, int64_t end)
{
    int64_t from = number * b->size,
            to = b->n - from > (end - number) * b->size ? from + (end - number) * b->size : b->n;
    if (!b->labelled) return to - from;
    int64_t rows = 0;
    for (int64_t k = from; k < to; k++) rows += b->labelled[b->row[k]];
    return rows;
}

/* Where a batch is among those whose gradients are added up. */
static void place_in_update(gn_batches *b, int64_t number)
{
    int64_t all = gn_batches_count(b), first = number - number % b->together,
            end = all - first > b->together ? first + b->together : all,
            rows = rows_between(b, number, number + 1), of = rows_between(b, first, end);
    b->part = of > 0 ? (float)((double)rows / (double)of) : 0;
    b->is_first = number == first;
    b->is_last = number == end - 1;
}

/* A device has what was true of the batch before. */
static gn_status *push_place(const gn_session *s)
{
    gn_remote *r = s->opt.target ? s->opt.target->remote : NULL;
    gn_batches *b = s->batches;
    if (!r || b->together == 1) return NULL;
    GN_TRY(r->push(r, &b->part));
    GN_TRY(r->push(r, &b->is_first));
    return r->push(r, &b->is_last);
}

/* Batch `number`, which is prepared; *rows: how many its loss is over, or weighs as.  After a
 * failure its frame stays as it is: what comes next is being made beside that. */
static gn_status *run_batch(gn_session *s, int64_t number, double *loss, int64_t *rows)
{
    gn_batches *b = s->batches;
    gn_unit *u = &s->build.step;
    gn_batch_frame *f = frame_of(b, number);
    place_in_update(b, number);
    GN_TRY(push_place(s));
    GN_TRY(gn_unit_follow(u, &f->next));
    gn_instance_run(u->instance);
    GN_TRY(gn_instance_check(u->instance));
    GN_TRY(gn_instance_fetch(u->instance, "loss"));
    const float *l = gn_instance_output(u->instance, "loss", NULL);
    *loss = l ? (double)*l : NAN;
    *rows = f->labelled > 0 ? f->labelled : 1;
    clear(f);
    return NULL;
}

/* A batch took so long to prepare, and to run: the lesser of the two is what a thread hides. */
static gn_status *note_time(gn_session *s, int64_t number, double wait_ms, double run_ms)
{
    const double worth_ms = 0.3;
    gn_batches *b = s->batches;
    if (is_worth(s) || !b->depth || wait_ms < worth_ms || run_ms < worth_ms) return NULL;
    b->slow++;
    if (!is_worth(s)) return NULL;
    stop(b);
    gn_lookahead_free(b->ahead);
    b->ahead = NULL;
    GN_TRY(begin(s, number));
    gn_lookahead_begin(b->ahead, number, gn_batches_count(b));
    return NULL;
}

/* The batches that are left, up to the end, `until_ms`, a wish to stop or a loss that is not
 * finite. */
static gn_status *run_epoch(gn_session *s, gn_fit *fit, double until_ms, bool *finite)
{
    int64_t all = gn_batches_count(s->batches), wait_ns;
    bool stop = false;
    while (fit->batches < all && !stop && *finite) {
        double one, before = gn_now_ms();
        int64_t rows;
        GN_TRY(gn_lookahead_take(s->batches->ahead, &wait_ns));
        GN_TRY(run_batch(s, fit->batches, &one, &rows));
        fit->batches++;
        fit->batch_rows += rows;
        fit->batch_loss += one * (double)rows;
        fit->steps++;
        double wait_ms = (double)wait_ns * 1e-6, all_ms = gn_now_ms() - before;
        fit->steps_ms += all_ms;
        fit->wait_ms += wait_ms;
        GN_TRY(note_time(s, fit->batches, wait_ms, all_ms - wait_ms));
        if (s->opt.batch_done) s->opt.batch_done(s->opt.batch_ctx, fit, all);
        stop = (s->opt.over && *s->opt.over) || gn_now_ms() >= until_ms;
        *finite = isfinite(one);
    }
    return NULL;
}

gn_status *gn_batches_run(gn_session *s, gn_fit *fit, double until_ms, double *loss, bool *whole)
{
    gn_batches *b = s->batches;
    int64_t all = gn_batches_count(b);
    bool finite = true;
    *whole = false;
    if (b->epoch != fit->epochs || !fit->batches) shuffle(s, fit->seed, fit->epochs);
    GN_TRY(begin(s, fit->batches));
    gn_lookahead_begin(b->ahead, fit->batches, all);
    gn_status *status = run_epoch(s, fit, until_ms, &finite);
    stop(b);
    if (status) return status;
    *loss = fit->batch_loss / (double)fit->batch_rows;
    *whole = fit->batches >= all || !isfinite(*loss);
    if (!*whole) return NULL;
    fit->batches = fit->batch_rows = 0;
    fit->batch_loss = 0;
    return NULL;
}

gn_status *gn_batches_step(gn_session *s, double *loss)
{
    gn_batches *b = s->batches;
    int64_t all = gn_batches_count(b), rows, epoch = b->steps / all, number = b->steps++ % all;
    if (b->epoch != epoch || !number) shuffle(s, s->opt.seed, epoch);
    GN_TRY(begin(s, number));
    gn_status *status = prepare(s, number);
    if (!status) status = run_batch(s, number, loss, &rows);
    if (status) stop(b);
    return status;
}
