/* Contexts of the public API: the cache, callbacks, memory; stages, explanations and statistics. */
/* timeout: 240 */
#include "unit/api_world.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

/* Memory of a test's own: counts what is out, and fails where it is told to. */
typedef struct purse {
    int64_t blocks, fuse; /* fuse: the allocation that takes it from 1 to 0 fails */
} purse;

static void *take(void *user, size_t bytes, size_t alignment)
{
    purse *p = user;
    ck_assert(bytes > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (p->fuse > 0 && --p->fuse == 0) return NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    void *block = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (block) memset(block, 0xa5, bytes);
    __atomic_add_fetch(&p->blocks, block != NULL, __ATOMIC_RELAXED);
    return block;
}

static void give(void *user, void *block)
{
    purse *p = user;
    ck_assert(block != NULL);
    __atomic_sub_fetch(&p->blocks, 1, __ATOMIC_RELAXED);
    free(block);
}

static int remove_one(const char *path, const struct stat *s, int flag, struct FTW *at)
{
    (void)s;
    (void)flag;
    (void)at;
    return remove(path);
}

static void remove_all(const char *dir) { nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

/* Everything that was said. */
typedef struct ear {
    int warnings, notes, errors;
    char last[400];
    uint32_t line, column;
} ear;

static void hear_log(void *user, gnnc_log_level level, const char *topic, const char *text)
{
    ear *e = user;
    ck_assert(!strcmp(topic, "cache") || !strcmp(topic, "recompiles"));
    level == GNNC_LOG_WARNING ? e->warnings++ : e->notes++;
    snprintf(e->last, sizeof e->last, "%s", text);
}

static void hear_error(void *user, const gnnc_diagnostic *d)
{
    ear *e = user;
    ck_assert(d->size == sizeof *d && strchr(d->message, '\n') == NULL && !strcmp(d->file, "m.gnn"));
    e->errors += !d->note;
    if (!d->note) {
        e->line = d->line;
        e->column = d->column;
    }
    snprintf(e->last, sizeof e->last, "%s", d->message);
}

static gnnc_executable_info info_of(const bench *b)
{
    gnnc_executable_info i = {.size = sizeof i};
    gnnc_executable_describe(b->exe, &i);
    return i;
}

/* What was compiled once is found again, in memory and on disk, and computes the same. */
START_TEST(cache)
{
    char dir[] = "api-cache.XXXXXX";
    ck_assert(mkdtemp(dir) != NULL);
    ear e = {0};
    gnnc_context_options all[] = {{.cache = GNNC_CACHE_MEMORY, .topics = "cache", .log = hear_log, .user = &e},
                                  {.cache_dir = dir},
                                  {.cache_dir = dir, .cache_memory_bytes = -1}};
    world w = make_world(3, 20, 60);
    float *want = NULL;
    for (int k = 0; k < 3; k++) {
        gnnc_context *c;
        all[k].size = sizeof all[k];
        ok(gnnc_context_new(&all[k], &c));
        for (int round = 0; round < 2; round++) {
            bench b = set_up_in(c, plain, (gnnc_compile_options){.train = true}, 1);
            gnnc_executable_info i = info_of(&b);
            bool warm = round || k == 2;
            ck_assert_msg(warm ? i.cache_misses == 0 : i.cache_hits == 0, "context %d, round %d: %d hits, %d misses", k,
                          round, i.cache_hits, i.cache_misses);
            ck_assert(i.cache_hits + i.cache_misses == i.distinct);
            world own = make_world_in(c, 3, 20, 60);
            bind_world(b.run, &own, false);
            float *got = infer(b.run, own.n);
            ck_assert(!want || memcmp(got, want, (size_t)w.n * C * sizeof *got) == 0);
            if (want)
                free(got);
            else
                want = got;
            end_world(&own);
            tear_down(&b);
        }
        gnnc_cache_info i = {.size = sizeof i};
        gnnc_context_cache(c, &i);
        ck_assert(i.on && i.hits_memory + i.hits_disk > 0 && (i.stored > 0) == (k == 1));
        ck_assert(k != 2 || (i.hits_disk > 0 && i.memory_bytes == 0));
        gnnc_context_free(c);
    }
    ck_assert(e.notes > 0 && e.warnings == 0);
    gnnc_context *off;
    gnnc_cache_info i = {.size = sizeof i};
    ok(gnnc_context_new(&(gnnc_context_options){.size = sizeof all[0]}, &off)); /* tests run with GNNC_CACHE=0 */
    gnnc_context_cache(off, &i);
    ck_assert(!i.on);
    gnnc_context_free(off);
    free(want);
    end_world(&w);
    remove_all(dir);
}
END_TEST

START_TEST(diagnostics)
{
    static const char bad[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  y = x +\n  return z z\n}\n";
    static const char worse[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  return GCNConw(C)(g, x)\n}\n";
    ear e = {0};
    gnnc_context *c;
    gnnc_module *m;
    gnnc_executable *exe;
    gnnc_context_options o = {.size = sizeof o, .cache = GNNC_CACHE_NONE, .diagnostic = hear_error, .user = &e};
    ok(gnnc_context_new(&o, &c));
    refused(gnnc_module_parse(c, bad, strlen(bad), "m.gnn", &m), GNNC_ERROR_MODEL, "m.gnn:2:");
    ck_assert(e.errors >= 1);
    e = (ear){0};
    ok(gnnc_module_parse(c, worse, strlen(worse), "m.gnn", &m));
    gnnc_context_free(c); /* the module keeps it */
    gnnc_compile_options co = {.size = sizeof co, .features = F, .classes = C};
    refused(gnnc_compile(m, &co, &exe), GNNC_ERROR_MODEL, "did you mean `GCNConv`");
    ck_assert(e.errors == 1 && e.line == 2 && e.column == 10);
    ck_assert_msg(strstr(e.last, "GCNConw") != NULL, "%s", e.last);
    gnnc_module_free(m);
}
END_TEST

START_TEST(refusals)
{
    gnnc_context *c, *d;
    gnnc_context_options o = {.size = sizeof o, .topics = "cache,recompils"};
    refused(gnnc_context_new(&o, &c), GNNC_ERROR_USAGE, "did you mean 'recompiles'");
    ck_assert(c == NULL);
    o = (gnnc_context_options){.size = 3};
    refused(gnnc_context_new(&o, &c), GNNC_ERROR_USAGE, "size");
    o = (gnnc_context_options){.size = sizeof o, .release = give};
    refused(gnnc_context_new(&o, &c), GNNC_ERROR_USAGE, "together");
    o = (gnnc_context_options){.size = sizeof o, .cache = (gnnc_cache_use)7};
    refused(gnnc_context_new(&o, &c), GNNC_ERROR_USAGE, "7");
    ok(gnnc_context_new(NULL, &c));
    ok(gnnc_context_new(NULL, &d));
    bench b = set_up_in(c, plain, (gnnc_compile_options){0}, 1),
          other = set_up_in(d, plain, (gnnc_compile_options){0}, 1);
    world w = make_world_in(d, 1, 10, 20);
    gnnc_run *r;
    refused(gnnc_run_bind_graph(b.run, w.g), GNNC_ERROR_USAGE, "another context");
    refused(gnnc_run_new(b.exe, other.state, NULL, &r), GNNC_ERROR_USAGE, "another context");
    gnnc_run_options ro = {.size = sizeof ro, .stance = "eager-on-recompil"};
    refused(gnnc_run_new(b.exe, b.state, &ro, &r), GNNC_ERROR_USAGE, "did you mean 'eager-on-recompile'");
    end_world(&w);
    tear_down(&b);
    tear_down(&other);
    gnnc_context_free(c);
    gnnc_context_free(d);
}
END_TEST

/* Every stage, and what is said of an executable and a run. */
START_TEST(stages)
{
    static const char *const stage[] = {"ast", "gir", "kir", "llvm", "asm"}, *const words[] = {
                                                                                 "GCNConv", "program @eval", "kernel",
                                                                                 "define", "gn_kernel"};
    bench b = set_up(plain, (gnnc_compile_options){.train = true}, 1);
    char *text;
    for (int k = 0; k < 5; k++) {
        ok(gnnc_executable_emit(b.exe, stage[k], &text));
        ck_assert_msg(strstr(text, words[k]) != NULL, "%s has no %s", stage[k], words[k]);
        gnnc_text_free(text);
    }
    refused(gnnc_executable_emit(b.exe, "lvm", &text), GNNC_ERROR_USAGE, "did you mean 'llvm'");
    ok(gnnc_executable_explain(b.exe, &text));
    ck_assert(strstr(text, "guards: none") && strstr(text, "program 0") && strstr(text, "step:"));
    gnnc_text_free(text);
    world w = make_world(1, 10, 30);
    bind_world(b.run, &w, true);
    gnnc_run_info i = {.size = sizeof i};
    gnnc_run_describe(b.run, &i);
    ck_assert(i.program == -1 && i.inferences == 0);
    for (int k = 0; k < 3; k++) ok(gnnc_run_step(b.run, NULL));
    ok(gnnc_run_infer(b.run));
    gnnc_run_describe(b.run, &i);
    ck_assert(i.steps == 3 && i.inferences == 1 && i.bindings == 2 && i.bytes == gnnc_run_bytes(b.run));
    ck_assert(i.program == 0 && !i.eager && i.padded_nodes == 0);
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* The whole life of everything, in a context whose memory may fail. */
static gnnc_status *live(const gnnc_context_options *o, const char *stop, world *w)
{
    gnnc_context *c = NULL;
    gnnc_module *m = NULL;
    gnnc_executable *e = NULL;
    gnnc_state *state = NULL;
    gnnc_run *r = NULL;
    gnnc_graph *g = NULL;
    char *text = NULL;
    double loss;
    DLTensor x = x_of(w), y = tensor(w->y, 1, w->rows, kDLInt, 32), mask = tensor(w->mask, 1, w->rows, kDLBool, 8),
             weight = tensor(w->w, 1, w->edges, kDLFloat, 32), out;
    gnnc_compile_options co = {.size = sizeof co,
                               .features = F,
                               .classes = C,
                               .train = true,
                               .edge_weights = true,
                               .sparse = true,
                               .dynamic = stop ? "false" : "auto",
                               .buckets = stop ? "pow2" : NULL,
                               .compile_threads = 1};
    gnnc_status *s = gnnc_context_new(o, &c);
    if (!s) s = gnnc_module_parse(c, plain, strlen(plain), "m.gnn", &m);
    if (!s) s = gnnc_compile(m, &co, &e);
    if (!s) s = gnnc_state_new(e, 1, &state);
    if (!s) s = gnnc_run_new(e, state, NULL, &r);
    if (!s) s = gnnc_graph_from_coo(c, w->n, w->e, GNNC_INT32, w->src, w->dst, &g);
    if (!s) s = gnnc_run_bind_graph(r, g);
    if (!s) s = gnnc_run_bind(r, "x", &x);
    if (!s) s = gnnc_run_bind(r, "y", &y);
    if (!s) s = gnnc_run_bind(r, "train_mask", &mask);
    if (!s) s = gnnc_run_bind(r, "g.weight", &weight);
    if (!s) s = gnnc_run_infer(r);
    if (!s) s = gnnc_run_output(r, "out", &out);
    if (!s) s = gnnc_run_step(r, &loss);
    if (!s) s = gnnc_executable_emit(e, "kir", &text);
    gnnc_text_free(text);
    text = NULL;
    if (!s) s = gnnc_executable_explain(e, &text);
    gnnc_text_free(text);
    gnnc_graph_free(g);
    gnnc_context_free(c);
    gnnc_module_free(m);
    gnnc_executable_free(e);
    gnnc_state_free(state);
    gnnc_run_free(r);
    return s;
}

/* Every allocation fails in turn: a status that says so, and nothing is left behind. */
START_TEST(memory)
{
    char dir[] = "api-memory.XXXXXX";
    ck_assert(mkdtemp(dir) != NULL);
    purse p = {0};
    world w = make_world(4, 25, 60);
    gnnc_context_options o = {.size = sizeof o, .cache_dir = dir, .allocate = take, .release = give, .user = &p};
    const char *how = _i ? "padded" : NULL;
    ok(live(&o, how, &w));
    ck_assert_msg(p.blocks == 0, "%lld blocks are left", (long long)p.blocks);
    int64_t k = 1;
    for (;; k++) {
        p.fuse = k;
        gnnc_status *s = live(&o, how, &w);
        bool out = p.fuse == 0;
        ck_assert_msg(p.blocks == 0, "%lld blocks are left where allocation %lld fails", (long long)p.blocks,
                      (long long)k);
        ck_assert(out == (s != NULL));
        if (s) ck_assert_msg(gnnc_status_code(s) == GNNC_ERROR_MEMORY, "%s", gnnc_status_message(s));
        gnnc_status_free(s);
        if (!out) break;
    }
    ck_assert(k > 100);
    end_world(&w);
    remove_all(dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("api_context");
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, cache);
        tcase_add_test(t, diagnostics);
        tcase_add_test(t, refusals);
        tcase_add_test(t, stages);
        tcase_add_loop_test(t, memory, 0, 2);
    }
    tcase_set_timeout(t, 200);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
