/* Contexts of the public API: the cache, callbacks, memory; stages, explanations and statistics. */
/* labels: long */
/* timeout: 600 */
#include "support/api_life.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

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
    ck_assert(d->size == sizeof *d && strchr(d->message, '\n') == NULL &&
              !strcmp(d->file, "m.gnn"));
    e->errors += !d->note;
    if (!d->note) {
        e->line = d->line;
        e->column = d->column;
    }
    snprintf(e->last, sizeof e->last, "%s", d->message);
}

/* What was compiled once is found again, in memory and on disk, and computes the same. */
START_TEST(cache)
{
    char dir[] = "/tmp/gnnc-api-cache-XXXXXX";
    ck_assert(mkdtemp(dir) != NULL);
    ear e = {0};
    gnnc_context_options all[] = {
        {.cache = GNNC_CACHE_MEMORY, .topics = "cache", .log = hear_log, .user = &e},
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
            ck_assert_msg(warm ? i.cache_misses == 0 : i.cache_hits == 0,
                          "context %d, round %d: %d hits, %d misses", k, round, i.cache_hits,
                          i.cache_misses);
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
    /* tests run with GNNC_CACHE=0 */
    ok(gnnc_context_new(&(gnnc_context_options){.size = sizeof all[0]}, &off));
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
    static const char
        bad[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  y = x +\n  return z z\n}\n";
    static const char
        worse[] = "model M() (g: graph, x: node[F]) -> node[C] {\n  return GCNConw(C)(g, x)\n}\n";
    ear e = {0};
    gnnc_context *c;
    gnnc_module *m;
    gnnc_executable *exe;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_NONE, .diagnostic = hear_error, .user = &e};
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
    refused(gnnc_run_new(b.exe, b.state, &ro, &r), GNNC_ERROR_USAGE,
            "did you mean 'eager-on-recompile'");
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
                                                                                 "GCNConv",
                                                                                 "program @eval",
                                                                                 "kernel", "define",
                                                                                 "gn_kernel"};
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
    ck_assert(i.steps == 3 && i.inferences == 1 && i.bindings == 2 &&
              i.bytes == gnnc_run_bytes(b.run));
    ck_assert(i.program == 0 && !i.eager && i.padded_nodes == 0);
    int64_t rows = 9;
    DLTensor y = tensor(w.y, 1, &rows, kDLInt, 32);
    ok(gnnc_run_bind(b.run, "y", &y));
    refused(gnnc_run_step(b.run, NULL), GNNC_ERROR_DATA, "y");
    gnnc_run_describe(b.run, &i);
    ck_assert(i.steps == 3 && i.bindings == 2); /* what failed does not count */
    end_world(&w);
    tear_down(&b);
}
END_TEST

/* A listener that has another graph inferred of the same executable, which compiles in turn. */
typedef struct listener {
    gnnc_run *other;
    world *w;
    int told;
    char text[2][400];
} listener;

static void hear_and_run(void *user, gnnc_log_level level, const char *topic, const char *text)
{
    listener *z = user;
    ck_assert(level == GNNC_LOG_NOTE && !strcmp(topic, "recompiles") && z->told < 2);
    snprintf(z->text[z->told], sizeof *z->text, "%s", text);
    if (z->told++) return;
    bind_world(z->other, z->w, false);
    free(infer(z->other, z->w->n));
}

START_TEST(listeners_may_run)
{
    listener z = {0};
    gnnc_context *c;
    gnnc_context_options o = {.size = sizeof o,
                              .cache = GNNC_CACHE_NONE,
                              .topics = "recompiles",
                              .log = hear_and_run,
                              .user = &z};
    ok(gnnc_context_new(&o, &c));
    bench b = set_up_in(c, weighted, (gnnc_compile_options){.dynamic = "false"}, 1);
    world w[3] = {make_world_in(c, 1, 10, 20), make_world_in(c, 2, 11, 20),
                  make_world_in(c, 3, 12, 20)};
    ok(gnnc_run_new(b.exe, b.state, NULL, &z.other));
    z.w = &w[2];
    for (int k = 0; k < 2; k++) {
        bind_world(b.run, &w[k], false);
        free(infer(b.run, w[k].n));
    }
    ck_assert_int_eq(z.told, 2);
    ck_assert_msg(strstr(z.text[0], "recompilation 1 ") && strstr(z.text[0], "it is 11"), "%s",
                  z.text[0]);
    ck_assert_msg(strstr(z.text[1], "recompilation 2 ") && strstr(z.text[1], "it is 12"), "%s",
                  z.text[1]);
    ck_assert(info_of(&b).programs == 3);
    for (int k = 0; k < 3; k++) end_world(&w[k]);
    gnnc_run_free(z.other);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

/* Memory that makes one thread wait, in the midst of compiling. */
static _Thread_local bool to_wait;
static atomic_bool waits, go_on, in_vain;

static void *take_slowly(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    if (to_wait) {
        to_wait = false;
        atomic_store(&waits, true);
        for (int k = 0; k < 20000 && !atomic_load(&go_on); k++) usleep(1000);
        atomic_store(&in_vain, !atomic_load(&go_on));
    }
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give_back(void *user, void *block)
{
    (void)user;
    free(block);
}

static void *compile_slowly(void *run)
{
    to_wait = true;
    return gnnc_run_infer(run);
}

/* A run whose eager program is there does not wait for what others compile. */
START_TEST(eager_runs_do_not_wait)
{
    gnnc_context *c;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_NONE, .allocate = take_slowly, .release = give_back};
    ok(gnnc_context_new(&o, &c));
    bench b = set_up_in(c, weighted, (gnnc_compile_options){.dynamic = "false"}, 1);
    gnnc_run_options ro = {.size = sizeof ro, .stance = "eager-on-recompile"};
    gnnc_run *eager;
    pthread_t thread;
    void *failed;
    ok(gnnc_run_new(b.exe, b.state, &ro, &eager));
    world w[4];
    for (int k = 0; k < 4; k++) w[k] = make_world_in(c, 1, 10 + k, 20);
    bind_world(b.run, &w[0], false);
    ok(gnnc_run_infer(b.run));
    bind_world(eager, &w[1], false);
    ok(gnnc_run_infer(eager));
    bind_world(b.run, &w[2], false);
    bind_world(eager, &w[3], false);
    ck_assert_int_eq(pthread_create(&thread, NULL, compile_slowly, b.run), 0);
    while (!atomic_load(&waits)) usleep(100);
    ok(gnnc_run_infer(eager));
    atomic_store(&go_on, true);
    pthread_join(thread, &failed);
    ok(failed);
    ck_assert(!atomic_load(&in_vain));
    ck_assert(info_of(&b).programs == 3);
    for (int k = 0; k < 4; k++) end_world(&w[k]);
    gnnc_run_free(eager);
    tear_down(&b);
    gnnc_context_free(c);
}
END_TEST

/* The last program's stages are those of its mode, not of the executable's. */
START_TEST(stages_of_eager_programs)
{
    static const char *const stage[] = {"kir", "llvm", "asm"};
    bench b = set_up(weighted,
                     (gnnc_compile_options){.dynamic = "false", .stance = "eager-on-recompile"}, 1),
          want = set_up(
              weighted,
              (gnnc_compile_options){.mode = "eager", .expect_nodes = 10, .expect_edges = 20}, 1);
    for (int k = 0; k < 2; k++) {
        world w = make_world(1, 10 + k, 20);
        bind_world(b.run, &w, false);
        free(infer(b.run, w.n));
        end_world(&w);
    }
    for (int k = 0; k < 3; k++) {
        char *x, *y;
        ok(gnnc_executable_emit(b.exe, stage[k], &x));
        ok(gnnc_executable_emit(want.exe, stage[k], &y));
        ck_assert_msg(!strcmp(x, y), "%s is not that of mode eager", stage[k]);
        gnnc_text_free(x);
        gnnc_text_free(y);
    }
    tear_down(&b);
    tear_down(&want);
}
END_TEST

/* Graphs made in every way, and one bound to another run, with x by its non-zeros: another size,
 * another program. */
static gnnc_status *live_graphs(const gnnc_context *c, const gnnc_executable *e, gnnc_state *state)
{
    static const int64_t row[] = {0, 1, 3, 3}, src[] = {1, 0, 2}, dst[] = {0, 1, 1},
                         entry[] = {0, 0, 1, 2};
    static const int32_t narrow_row[] = {0, 1, 3, 3}, narrow_src[] = {1, 0, 2}, column[] = {4, 0};
    static float weight[] = {1, 2, 3};
    int64_t edges = 3;
    gnnc_graph *g[3] = {NULL, NULL, NULL};
    gnnc_run *r = NULL;
    DLTensor out, w = tensor(weight, 1, &edges, kDLFloat, 32);
    gnnc_status *s = gnnc_graph_from_coo(c, 3, 3, GNNC_INT64, src, dst, &g[0]);
    if (!s) s = gnnc_graph_from_csr(c, 3, GNNC_INT64, row, src, &g[1]);
    if (!s) s = gnnc_graph_from_csr(c, 3, GNNC_INT32, narrow_row, narrow_src, &g[2]);
    if (!s) s = gnnc_run_new(e, state, NULL, &r);
    if (!s) s = gnnc_run_bind_graph(r, g[1]);
    if (!s) s = gnnc_run_bind(r, "g.weight", &w);
    if (!s) s = gnnc_run_bind_csr(r, 3, entry, column, NULL);
    if (!s) s = gnnc_run_infer(r);
    if (!s) s = gnnc_run_output(r, "out", &out);
    for (int k = 0; k < 3; k++) gnnc_graph_free(g[k]);
    gnnc_run_free(r);
    return s;
}

/* States to files and back, and weights by name. */
static gnnc_status *live_state(gnnc_state *state, const char *dir)
{
    char all[64], weights[64];
    int64_t numbers[16];
    const char *name;
    DLTensor view;
    snprintf(all, sizeof all, "%s/all", dir);
    snprintf(weights, sizeof weights, "%s/weights", dir);
    gnnc_status *s = gnnc_state_save(state, all);
    if (!s) s = gnnc_state_save_weights(state, weights);
    if (!s) s = gnnc_state_load(state, all);
    if (!s) s = gnnc_state_load_weights(state, weights);
    if (!s) s = gnnc_state_weight(state, 0, &name, &view, numbers);
    if (!s) s = gnnc_state_weight_named(state, name, &view, numbers);
    return s;
}

/* What is said of an executable and a run. */
static gnnc_status *live_texts(const gnnc_executable *e, const gnnc_run *r)
{
    static const char *const stage[] = {"ast", "gir", "kir"};
    gnnc_executable_info about = {.size = sizeof about};
    gnnc_program_info program = {.size = sizeof program};
    gnnc_run_info run = {.size = sizeof run};
    char *text = NULL;
    gnnc_status *s = NULL;
    for (int k = 0; k < 3 && !s; k++) {
        s = gnnc_executable_emit(e, stage[k], &text);
        gnnc_text_free(text);
        text = NULL;
    }
    if (!s) s = gnnc_executable_explain(e, &text);
    gnnc_text_free(text);
    gnnc_executable_describe(e, &about);
    gnnc_run_describe(r, &run);
    return s ? s : gnnc_executable_program(e, about.programs - 1, &program);
}

typedef struct poor { /* who lives with a purse */
    purse p;
    gnnc_context_options context;
    const char *model; /* a file; NULL: the text, and graphs made in every way */
    bool fixed; /* data stay: rows are picked, and picked again for a mask that is bound again */
    world w;
} poor;

/* The whole life of everything, in a context whose memory may fail. */
static gnnc_status *live(void *ctx)
{
    poor *z = ctx;
    life l = {0};
    double loss;
    DLTensor weight = tensor(z->w.w, 1, z->w.edges, kDLFloat, 32),
             mask = tensor(z->w.mask, 1, z->w.rows, kDLBool, 8), out;
    gnnc_compile_options o = {.train = true,
                              .edge_weights = true,
                              .sparse = true,
                              .fixed = z->fixed,
                              .dynamic = z->model ? "false" : "auto",
                              .buckets = z->model ? "pow2" : NULL};
    gnnc_status *s = gnnc_context_new(&z->context, &l.context);
    if (!s && z->model) s = gnnc_module_read(l.context, z->model, &l.module);
    if (!s) s = life_begin(&l, plain, o, &z->w, true);
    if (!s) s = gnnc_run_bind(l.run, "g.weight", &weight);
    if (!s) s = gnnc_run_infer(l.run);
    if (!s) s = gnnc_run_output(l.run, "out", &out);
    if (!s) s = gnnc_run_step(l.run, &loss);
    if (!s && z->fixed) s = gnnc_run_bind(l.run, "train_mask", &mask);
    if (!s && z->fixed) s = gnnc_run_step(l.run, &loss);
    if (!s) s = live_texts(l.exe, l.run);
    if (!s && !z->model && !z->fixed) s = live_graphs(l.context, l.exe, l.state);
    if (!s) s = live_state(l.state, z->context.cache_dir);
    life_end(&l);
    return s;
}

/* Every allocation fails in turn: a status that says so, and nothing is left behind. */
START_TEST(memory)
{
    char dir[] = "/tmp/gnnc-api-memory-XXXXXX", model[64];
    ck_assert(mkdtemp(dir) != NULL);
    poor z = {.w = make_world(4, 25, 60)};
    z.context = (gnnc_context_options){.size = sizeof z.context,
                                       .cache_dir = dir,
                                       .allocate = take,
                                       .release = give,
                                       .user = &z.p};
    snprintf(model, sizeof model, "%s/m.gnn", dir);
    FILE *f = fopen(model, "w");
    ck_assert(f && fwrite(plain, 1, strlen(plain), f) == strlen(plain) && fclose(f) == 0);
    if (_i == 1) z.model = model;
    z.fixed = _i == 2;
    ok(live(&z));
    ck_assert_msg(z.p.blocks == 0, "%lld blocks are left", (long long)z.p.blocks);
    ck_assert_int_gt(fail_allocations(&z.p, live, &z, _i == 2 ? 40 : 0, false), _i == 2 ? 10 : 100);
    end_world(&z.w);
    remove_all(dir);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, cache);
        tcase_add_test(t, diagnostics);
        tcase_add_test(t, refusals);
        tcase_add_test(t, stages);
        tcase_add_test(t, listeners_may_run);
        tcase_add_test(t, eager_runs_do_not_wait);
        tcase_add_test(t, stages_of_eager_programs);
        tcase_add_loop_test(t, memory, 0, 3);
    }
    tcase_set_timeout(t, 500);
    return RUN_CASES("api_context", t);
}
