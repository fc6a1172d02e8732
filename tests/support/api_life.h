/* What tests of the public API share besides: a model's whole life, in a context of which anything
 * may fail; allocations that fail in turn; callers at once. */
#ifndef TESTS_SUPPORT_API_LIFE_H
#define TESTS_SUPPORT_API_LIFE_H

#include "unit/api_memory.h"
#include "unit/api_world.h"

#include <pthread.h>

typedef struct life { /* any of it may be missing */
    gnnc_context *context;
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_graph *graph;
} life;

/* From the module, or else the text, to a run that the world's graph and x are bound to, and with
 * `labels` the rest. */
static inline gnnc_status *life_begin(life *l, const char *text, gnnc_compile_options o, world *w,
                                      bool labels)
{
    DLTensor x = x_of(w), y = tensor(w->y, 1, w->rows, kDLInt, 32),
             mask = tensor(w->mask, 1, w->rows, kDLBool, 8);
    o.size = sizeof o;
    o.features = F;
    o.classes = C;
    o.compile_threads = 1;
    gnnc_status *s = l->module
                         ? NULL
                         : gnnc_module_parse(l->context, text, strlen(text), "m.gnn", &l->module);
    if (!s) s = gnnc_compile(l->module, &o, &l->exe);
    if (!s) s = gnnc_state_new(l->exe, 1, &l->state);
    if (!s) s = gnnc_run_new(l->exe, l->state, NULL, &l->run);
    if (!s) s = gnnc_graph_from_coo(l->context, w->n, w->e, GNNC_INT32, w->src, w->dst, &l->graph);
    if (!s) s = gnnc_run_bind_graph(l->run, l->graph);
    if (!s) s = gnnc_run_bind(l->run, "x", &x);
    if (!s && labels) s = gnnc_run_bind(l->run, "y", &y);
    if (!s && labels) s = gnnc_run_bind(l->run, "train_mask", &mask);
    return s;
}

static inline void life_end(life *l) /* in any order */
{
    gnnc_graph_free(l->graph);
    gnnc_context_free(l->context);
    gnnc_module_free(l->module);
    gnnc_executable_free(l->exe);
    gnnc_state_free(l->state);
    gnnc_run_free(l->run);
}

/* The purse's allocations fail in turn, from the `rarely`-th on (0: never) only some: a status that
 * says so, and nothing is left behind.  `survives`: what lives may do without.  How many lives
 * failed. */
static inline int fail_allocations(purse *p, gnnc_status *(*live)(void *ctx), void *ctx,
                                   int64_t rarely, bool survives)
{
    int failed = 0;
    bool over = false;
    if (GN_UNDER_ASAN && !suite_long() && !rarely) rarely = 40; /* later ones are much alike */
    for (int64_t k = 1; !over; k += rarely ? 1 + k / rarely : 1) {
        p->fuse = k;
        gnnc_status *s = live(ctx);
        over = p->fuse != 0;
        p->fuse = 0;
        ck_assert_msg(p->blocks == 0, "%lld blocks are left where allocation %lld fails",
                      (long long)p->blocks, (long long)k);
        if (s)
            ck_assert_msg(gnnc_status_code(s) == GNNC_ERROR_MEMORY, "%s", gnnc_status_message(s));
        ck_assert(over ? !s : s || survives);
        failed += s != NULL;
        gnnc_status_free(s);
    }
    return failed;
}

typedef struct caller {
    const bench *b;
    world *w;
    int times;
    float *out;
} caller;

static inline void *call(void *arg)
{
    caller *c = arg;
    gnnc_run *r;
    ok(gnnc_run_new(c->b->exe, c->b->state, NULL, &r));
    for (int k = 0; k < c->times; k++) {
        bind_world(r, c->w, false);
        free(c->out);
        c->out = infer(r, c->w->n);
    }
    gnnc_run_free(r);
    return NULL;
}

/* Threads with a run each infer so many times: they get the same bits. */
static inline void callers_agree(const bench *b, world *w, int times)
{
    enum { CALLERS = 3 };
    caller all[CALLERS];
    pthread_t thread[CALLERS];
    for (int k = 0; k < CALLERS; k++) {
        all[k] = (caller){b, w, times, NULL};
        ck_assert_int_eq(pthread_create(&thread[k], NULL, call, &all[k]), 0);
    }
    for (int k = 0; k < CALLERS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < CALLERS; k++)
        ck_assert_mem_eq(all[k].out, all[0].out, sizeof(float) * (size_t)w->n * C);
    for (int k = 0; k < CALLERS; k++) free(all[k].out);
}

#endif
