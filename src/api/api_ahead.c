/* A training step on rows that a caller will name next is bound on a thread of the run's own, while
 * a step runs here (gnnc_run_ahead). */
#include "api/api.h"
#include "passes/learning_rate.h"
#include "session/lookahead.h"

#include <string.h>
#include <unistd.h>

struct api_ahead {
    gn_lookahead *thread;
    pid_t process; /* that has the thread */
    int64_t made;  /* so many were begun */
    bool there;    /* one is bound, or being bound, on its own rows: */
    api_rows rows;
    int64_t foreseen[2]; /* what the counter of steps will be then: of the last two */
    api_bound bound;
    gn_unit unit;              /* whose code it has */
    const gn_instance *before; /* it gets this one's arena */
    gn_instance *next;
    bool ready; /* the run's instance is bound to what is named, for this step: */
    int64_t step;
};

static gn_status *make(void *ctx, int64_t k)
{
    api_ahead *a = ctx;
    (void)k;
    return gn_unit_bind_next(&a->unit, a->before, a->bound.n_graphs, a->bound.graphs, a->bound.n,
                             a->bound.tensors, NULL, &a->next);
}

/* The thread of another process is none of this one, nor is what it was at. */
static void forget_thread(api_ahead *a)
{
    if (a->process == getpid()) return;
    a->there = false;
    a->thread = NULL;
    a->next = NULL;
    a->bound = (api_bound){0};
    a->process = getpid();
}

/* Waits for what is being made.  *next: NULL where that failed, for which the step that is bound
 * in its place will have the reason. */
static void take(api_ahead *a, gn_instance **next)
{
    int64_t wait_ns;
    *next = NULL;
    forget_thread(a);
    if (!a->there) return;
    a->there = false;
    gn_status *s = gn_lookahead_take(a->thread, &wait_ns);
    if (!s) *next = a->next;
    gn_status_free(s);
    a->next = NULL;
    api_free_bound(&a->bound);
}

void api_drop_ahead(gnnc_run *r)
{
    gn_instance *next;
    if (!r->ahead) return;
    r->ahead->ready = false;
    take(r->ahead, &next);
    gn_instance_free(next);
}

void api_free_ahead(gnnc_run *r)
{
    api_ahead *a = r->ahead;
    if (!a) return;
    api_drop_ahead(r);
    gn_lookahead_free(a->thread);
    gn_release(a->rows.row);
    gn_release(a->rows.mask);
    gn_release(a);
    r->ahead = NULL;
}

static int64_t step_of(const gnnc_run *r)
{
    const gn_state_tensor *t = gn_state_find(&r->state->state, GN_STATE_STEPS);
    return t ? *(const int64_t *)t->data : 0;
}

static bool same_rows(const api_rows *a, const api_rows *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->row, b->row, (size_t)a->n * sizeof *a->row));
}

gn_status *api_take_ahead(gnnc_run *r, bool *taken)
{
    api_ahead *a = r->ahead;
    gn_instance *next;
    *taken = false;
    if (!a) return NULL;
    bool fits = a->foreseen[a->made % 2] == step_of(r) && same_rows(&a->rows, &r->named);
    *taken = a->ready && a->step == step_of(r);
    a->ready = false;
    if (*taken) return NULL; /* what is being made is of the step behind */
    take(a, &next);
    gn_status *s = NULL;
    if (next && fits) {
        api_rows was = r->named;
        s = gn_unit_follow(&r->unit[API_STEP], &next);
        *taken = !s;
        r->named.row = a->rows.row; /* which the instance reads */
        r->named.mask = a->rows.mask;
        r->named.room = a->rows.room;
        a->rows.row = was.row;
        a->rows.mask = was.mask;
        a->rows.room = was.room;
    }
    gn_instance_free(next);
    return s;
}

void api_rows_changed(gnnc_run *r)
{
    if (r->ahead) r->ahead->ready = false;
}

static gn_status *begin(gnnc_run *r)
{
    api_ahead *a = r->ahead;
    if (!a) {
        a = gn_allocate_zeroed(sizeof *a);
        if (!a) GN_FAIL(GN_ERR_NOMEM, "out of memory: what is prepared ahead");
        r->ahead = a;
        a->process = getpid();
    }
    forget_thread(a);
    return a->thread ? NULL : gn_lookahead_new(1, make, a, &a->thread);
}

/* The bindings of a step on the rows, as the run's own are. */
static gn_status *list(gnnc_run *r)
{
    api_ahead *a = r->ahead;
    GN_TRY(api_list_bound(r, &r->unit[API_STEP], &r->state->state, NULL, &a->bound));
    for (int k = 0; k < a->bound.n; k++) {
        gn_binding *b = &a->bound.tensors[k];
        if (!strcmp(b->name, GN_STATE_STEPS)) b->then = &a->foreseen[a->made % 2];
        if (b->data != r->named.mask) continue;
        b->data = a->rows.mask;
        b->set = a->rows.row;
        b->n_set = a->rows.n;
    }
    return NULL;
}

/* The step on the rows that are named, where there is one to come, is bound before that on these
 * rows begins to be. */
static gn_status *bind_first(gnnc_run *r, bool *pending)
{
    *pending = r->named.named && r->named.n && !r->named.at[API_STEP];
    if (!*pending || r->ahead->ready) return NULL;
    GN_TRY(api_bind_step(r));
    r->ahead->ready = true;
    r->ahead->step = step_of(r);
    return NULL;
}

static gn_status *ahead(gnnc_run *r, int64_t n, const int64_t *rows)
{
    bool pending;
    if (!r->whole->results.size)
        GN_FAIL(GN_ERR_USAGE, "gnnc_run_ahead goes with an executable compiled by_rows");
    if (n <= 0) GN_FAIL(GN_ERR_USAGE, "gnnc_run_ahead: %lld rows", (long long)n);
    if (api_target(api_context(r->exe))) return NULL;
    GN_TRY(begin(r));
    api_ahead *a = r->ahead;
    gn_instance *next;
    GN_TRY(bind_first(r, &pending));
    take(a, &next); /* of rows that nobody named */
    gn_instance_free(next);
    if (!r->bound[API_STEP] || !r->unit[API_STEP].instance) return NULL; /* nothing goes before */
    GN_TRY(api_name_rows(&a->rows, n, rows));
    GN_TRY(api_fill_mask(r, &a->rows, "gnnc_run_ahead"));
    a->made++;
    a->foreseen[a->made % 2] = step_of(r) + pending;
    GN_TRY(list(r));
    a->unit = r->unit[API_STEP];
    a->before = r->unit[API_STEP].instance;
    a->there = true;
    gn_lookahead_begin(a->thread, a->made, a->made + 1);
    return NULL;
}

gnnc_status *gnnc_run_ahead(gnnc_run *r, int64_t n, const int64_t *rows)
{
    API_NEEDS(r);
    if (n > 0) API_NEEDS(rows);
    if (!r->unit[API_STEP].code)
        return api_out(GN_ERROR(
            GN_ERR_USAGE, "the executable was compiled without `train`: it has no training step"));
    API_MEMORY(api_context(r->exe));
    return api_out(ahead(r, n, rows));
}
