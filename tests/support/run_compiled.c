#include "support/run_compiled.h"

#include "base/philox.h"
#include "cache/cache.h"
#include "runtime/fill.h"
#include "support/run_stage.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const run_mode run_modes[RUN_ALL_MODES] = {
    {.name = "default"},
    {.name = "eager", .eager = true},
    {.name = "sparse", .sparse = true},
    {.name = "split", .split = true},
    {.name = "split, sparse, small caches, 8 lanes",
     .sparse = true,
     .split = true,
     .small = true,
     .cpu = "x86-64-v3"},
    {.name = "eager, sparse, 4 lanes, least memory",
     .eager = true,
     .sparse = true,
     .less = true,
     .cpu = "x86-64-v2"},
    {.name = "some left out, small caches",
     .sparse = true,
     .split = true,
     .some = true,
     .small = true},
    {.name = "schedules drawn at random, sparse, least memory",
     .sparse = true,
     .drawn = true,
     .less = true},
    {.name = "CUDA", .cuda = true},
    {.name = "CUDA, eager, sparse", .cuda = true, .eager = true, .sparse = true},
    {.name = "CUDA, loops of a CPU, split", .cuda = true, .split = true, .cpu_loops = true},
    {.name = "CUDA, some left out, small caches",
     .cuda = true,
     .sparse = true,
     .split = true,
     .some = true,
     .small = true},
    {.name = "CUDA, tensor cores, TF32", .cuda = true, .precision = GN_PRECISION_HIGH},
    {.name = "CUDA, tensor cores, BF16", .cuda = true, .precision = GN_PRECISION_MEDIUM},
    {.name = "CUDA, schedules drawn at random, sparse",
     .cuda = true,
     .sparse = true,
     .drawn = true},
    {.name = "pairs", .precision = GN_PRECISION_MEDIUM, .pairs = true},
    {.name = "pairs, small caches, 8 lanes",
     .precision = GN_PRECISION_MEDIUM,
     .pairs = true,
     .small = true,
     .cpu = "x86-64-v3"},
    {.name = "pairs, schedules drawn at random",
     .precision = GN_PRECISION_MEDIUM,
     .pairs = true,
     .drawn = true},
    {.name = "kept as bfloat16", .kept = GN_STORAGE_BFLOAT16},
    {.name = "kept as float16, sparse, split, 8 lanes",
     .kept = GN_STORAGE_FLOAT16,
     .sparse = true,
     .split = true,
     .cpu = "x86-64-v3"},
    {.name = "kept as bfloat16, pairs, small caches",
     .kept = GN_STORAGE_BFLOAT16,
     .precision = GN_PRECISION_MEDIUM,
     .pairs = true,
     .small = true},
    {.name = "CUDA, kept as float16", .kept = GN_STORAGE_FLOAT16, .cuda = true},
};

typedef struct variant {
    const run_mode *mode;
    bool code; /* compiled, too */
    int stages;
    gn_compiled *stage[2]; /* the program, or what is computed ahead and the rest */
    cuda_host *host;       /* CUDA: kernels of stage k from number first[k] on */
    int first[2];
    gir_value *want[2]; /* of stage[k]->gir; NULL for the rest */
    gir_value *whole;   /* of the source */
    double **got; /* by output of the source: of code, or of the loop IR where there is none */
} variant;

struct run_case {
    gn_arena *arena;
    const gir_program *p;
    gir_env env;
    gir_value *want; /* of p */
    run_graphs graphs;
    variant v[RUN_ALL_MODES];
    int n;
    int64_t chained, again;
};

struct run_code {
    gn_image *image[RUN_ALL_MODES];
    cuda_host *host;
};

/* Comparing ------------------------------------------------------------------------------------ */

/* What a bound allows: a double that only sums in another order is not far off, but that far where
 * it is a double anyway. */
static double allowed(const gir_value *want, int64_t i, double slack)
{
    double all = want->err[i];
    if (slack != RUN_WIDE) return slack * all;
    return fmin(all, slack * all + 1e-12 * (1 + fabs(want->v[i])));
}

/* |got - want| <= slack * bound everywhere? */
static gn_status *close_to(const char *name, const double *got, const gir_value *want, double slack,
                           run_tally *tally)
{
    for (int64_t i = 0; i < want->rows * want->cols; i++) {
        double bound = want->err[i], d = fabs(got[i] - want->v[i]);
        if (tally) tally->elements++;
        if (tally) tally->skipped += !isfinite(bound);
        if (!isfinite(bound) || d <= allowed(want, i, slack)) continue;
        GN_FAIL(GN_ERR_INTERNAL, "%s: element %lld of row %lld is %.9g, not %.9g +- %.3g", name,
                (long long)(i % want->cols), (long long)(i / want->cols), got[i], want->v[i],
                allowed(want, i, slack));
    }
    return NULL;
}

/* The values live in the arena. */
static gn_status *evaluate_in(gn_arena *a, const run_case *c, const gir_program *p,
                              gn_precision products, gir_value **out)
{
    gir_env env = c->env;
    env.arena = a;
    env.precision = GIR_EVAL_F64;
    env.bounds = true;
    env.products = products;
    return gir_eval(p, &env, out);
}

static gn_status *evaluate(run_case *c, const gir_program *p, gn_precision products,
                           gir_value **out)
{
    return evaluate_in(c->arena, c, p, products, out);
}

/* Lowering ------------------------------------------------------------------------------------- */

typedef struct pass_check {
    run_case *c;
    const run_mode *mode;
    gir_value *want; /* by value of the source, of those that go out */
    gn_status *error;
} pass_check;

/* What was rounded is as far from what it was as its bounds say; from there on it is what is
 * wanted. */
static gn_status *want_rounded(pass_check *z, const gir_program *p)
{
    const gir_program *of = z->c->p;
    gir_value *v, *want = GN_NEW_N(z->c->arena, gir_value, of->nodes.n);
    GN_TRY(evaluate(z->c, p, z->mode->precision, &v));
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gir_id was = of->outputs.p[k].value;
        gir_value *now = &want[was], *then = &z->want[was];
        *now = v[p->outputs.p[k].value];
        for (int64_t i = 0; i < now->rows * now->cols; i++) now->err[i] += then->err[i];
        GN_TRY(close_to(p->outputs.p[k].name, then->v, now, 1, NULL));
    }
    z->want = want;
    return NULL;
}

static gn_status *check_outputs_of(const pass_check *z, gn_arena *a, const gir_program *p)
{
    gir_value *v;
    GN_TRY(evaluate_in(a, z->c, p, GN_PRECISION_HIGHEST, &v));
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k], *of = &z->c->p->outputs.p[k];
        if (p->outputs.n != z->c->p->outputs.n || strcmp(o->name, of->name) != 0)
            GN_FAIL(GN_ERR_INTERNAL, "other outputs");
        GN_TRY(close_to(o->name, v[o->value].v, &z->want[of->value], RUN_SLACK, NULL));
    }
    return NULL;
}

/* After every pass: are the outputs still what they were? */
static void check_pass(void *ctx, const char *pass, const gir_program *in, const gir_program *p)
{
    (void)in;
    pass_check *z = ctx;
    if (z->error) return;
    gn_arena a; /* what many passes leave of many rows would fill the memory */
    gn_arena_init(&a);
    if (z->mode->kept && !strcmp(pass, "narrow")) z->error = want_rounded(z, p);
    if (!z->error) z->error = check_outputs_of(z, &a, p);
    z->error = gn_status_annotate(z->error, "pass %s", pass);
    gn_arena_free(&a);
}

/* Of inputs: matrices over rows, or some. */
static const char **input_names(gn_arena *a, const gir_program *p, bool matrices, int *n)
{
    const char **name = GN_NEW_N(a, const char *, p->nodes.n);
    *n = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *node = gir_at(p, v);
        if (node->op != GIR_INPUT) continue;
        bool matrix = node->type.rank == 1 && node->type.elem == GN_F32 && node->type.space;
        if (matrices ? matrix : (v + p->nodes.n) % 3 != 0) name[(*n)++] = node->attr.name;
    }
    return name;
}

/* What is true of each of those matrices. */
static const gn_nonzeros *nonzeros_of(run_case *c, int n, const char *const *name)
{
    gn_nonzeros *known = GN_NEW_N(c->arena, gn_nonzeros, (size_t)n + 1);
    for (int k = 0; k < n; k++) {
        int at = 0;
        while (strcmp(c->env.name[at], name[k]) != 0) at++;
        const gir_value *x = &c->env.value[at];
        bool ones = true, even = true;
        for (int64_t r = 0; r < x->rows; r++) {
            double value = 0;
            for (int64_t i = r * x->cols; i < (r + 1) * x->cols; i++) {
                if (x->v[i] == 0) continue;
                if (value == 0) value = x->v[i];
                even = even && x->v[i] == value;
                ones = ones && x->v[i] == 1;
            }
        }
        known[k] = ones ? GN_NONZEROS_ONE : even ? GN_NONZEROS_BY_ROW : GN_NONZEROS_ANY;
    }
    return known;
}

/* A value for every field of every region: often at an end of the field's range or near, seldom far
 * out. */
static low_tuning draw_schedules(gn_arena *a, const gir_program *p, const fusion *f)
{
    GN_VEC(low_choice) all = {0};
    uint64_t at = p->nodes.n;
    for (gir_id v = 1; v < p->nodes.n; v++) at = at * 31 + gir_at(p, v)->op;
    for (uint32_t r = 0; r < f->regions.n; r++) {
        const char *key = low_region_key(f, &f->regions.p[r]);
        for (int k = 0; k < LOW_FIELD_COUNT; k++) {
            const low_field_spec *field = &low_fields[k];
            uint32_t draw = gn_random_u32(5, 9, at++);
            int64_t range = draw % 4 ? 24 : 200, whole = field->most - field->least + 1;
            int64_t value = field->least + draw / 4 % (range < whole ? range : whole);
            if (draw / 1024 % 4 == 0) continue;
            GN_PUSH(a, all, ((low_choice){key, (low_field)k, value}));
        }
    }
    return (low_tuning){(int)all.n, all.p};
}

/* Parts of any number of edges, and their sums taken together by a few, so that small graphs have
 * all levels of them. */
static low_tuning draw_parts(gn_arena *a, const gir_program *p, const fusion *f)
{
    static const int64_t sums[] = {2, 3, 5, 32};
    GN_VEC(low_choice) all = {0};
    uint64_t at = p->nodes.n;
    for (uint32_t r = 0; r < f->regions.n; r++) {
        const char *key = low_region_key(f, &f->regions.p[r]);
        uint32_t draw = gn_random_u32(5, 11, at++);
        GN_PUSH(a, all,
                ((low_choice){key, LOW_FIELD_PART_EDGES, GN_PART_LEAST << draw % GN_PART_CLASSES}));
        GN_PUSH(a, all, ((low_choice){key, LOW_FIELD_PART_SUMS, sums[draw / 16 % 4]}));
    }
    return (low_tuning){(int)all.n, all.p};
}

/* Sizes of the case's graphs. */
static gn_status *outline(void *ctx, const gn_artifact *a, gn_instance **out)
{
    static gn_pool *pool;
    run_case *c = ctx;
    if (!pool) GN_TRY(gn_pool_new(1, &pool));
    run_table table = run_table_new(c->arena, c->p, &c->env, false);
    gn_binding *b = GN_NEW_N(c->arena, gn_binding, table.t.n + 1);
    for (uint32_t k = 0; k < table.t.n; k++) {
        run_tensor *t = &table.t.p[k];
        b[k] = (gn_binding){t->name, t->elem, t->rows, t->cols, t->data};
    }
    return gn_instance_outline(a, (int)c->graphs.g.n, c->graphs.g.p, (int)table.t.n, b, pool, NULL,
                               out);
}

static gn_status *lower_stage(run_case *c, const variant *z, gn_compile_options *o,
                              const gir_program *p, gn_compiled **out)
{
    gn_compile_options drawn = *o;
    bool gpu = z->mode->cuda && !z->mode->cpu_loops;
    GN_TRY(gn_compile(c->arena, p, o, NULL, out));
    low_tuning t = {0};
    if (z->mode->drawn || gpu) {
        t = gpu ? draw_parts(c->arena, p, (*out)->f) : draw_schedules(c->arena, p, (*out)->f);
        drawn.tuning = &t;
        GN_TRY(gn_compile(c->arena, p, &drawn, NULL, out));
    }
    if (!z->mode->less) return NULL;
    gn_capped capped;
    gn_room room = {.bytes = 1, .outline = outline, .ctx = c};
    GN_TRY(gn_compile_within(c->arena, &room, *out, &capped));
    c->again += capped.again;
    return NULL;
}

static gn_status *lower_stages(run_case *c, variant *z, gn_compile_options *o, gir_program **stage)
{
    for (int k = 0; k < z->stages; k++) GN_TRY(lower_stage(c, z, o, stage[k], &z->stage[k]));
    if (z->mode->precision && !z->mode->kept)
        GN_TRY(evaluate(c, c->p, z->mode->precision, &z->whole));
    return evaluate(c, z->stage[0]->gir, z->mode->precision, &z->want[0]);
}

/* Half of what can be left out, another half for each program. */
static gn_without some_of(const gir_program *p)
{
    uint64_t h = p->outputs.n;
    for (gir_id v = 1; v < p->nodes.n; v++)
        h = (h ^ gir_at(p, v)->op) * UINT64_C(0x9E3779B97F4A7C15);
    gn_without w = {.passes = h >> 8, .decisions = h >> 32 | h << 32};
    for (int k = 0; k < gn_pass_count; k++)
        if (gn_passes[k].always == 2) w.passes &= ~((uint64_t)1 << k);
    return w;
}

/* Sizes to suppose, true or not: schedules may be any. */
static const low_hint *hints_for(gn_arena *a, const gir_program *p, int64_t edges_a_row, int *n)
{
    enum { ROWS = 1 << 20 }; /* more than caches hold, so that gathers are prefetched */
    low_hint *h = GN_NEW_N(a, low_hint, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++) {
        gir_op op = (gir_op)gir_at(p, v)->op;
        if (op == GIR_GRAPH || op == GIR_INPUT)
            h[(*n)++] = (low_hint){gir_at(p, v)->attr.name, ROWS, ROWS,
                                   ROWS * edges_a_row,      ROWS, ROWS};
    }
    return h;
}

/* Ends to suppose that few rows have, true or not: of some graphs of every other program. */
static const gn_ends *ends_for(gn_arena *a, const gir_program *p, int64_t rows, int *n)
{
    gn_ends *e = GN_NEW_N(a, gn_ends, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n && p->nodes.n % 2; v++) {
        uint32_t draw = gn_random_u32(7, v, p->nodes.n);
        if (gir_at(p, v)->op == GIR_GRAPH)
            e[(*n)++] = (gn_ends){gir_at(p, v)->attr.name, rows, rows, draw % 3 ? 1 : rows,
                                  draw / 3 % 3 ? 1 : rows};
    }
    return e;
}

static int opt_level(const run_mode *m) { return m->eager ? 0 : SUITE_OPT_LEVEL; }

static gn_status *lower_variant(run_case *c, variant *z)
{
    gn_compile_options o = {.index = GN_I32};
    /* then rows are split where there are many edges */
    bool gpu = z->mode->cuda && !z->mode->cpu_loops;
    if (z->mode->split || gpu)
        o.hints = hints_for(c->arena, c->p, z->mode->cpu ? 3 : 100, &o.n_hints);
    int64_t rows = 100;
    pass_check check = {.c = c, .mode = z->mode, .want = c->want};
    o.pass = (gn_pass_options){.limit = -1,
                               .eager = z->mode->eager,
                               .kept = z->mode->kept,
                               .kept_least = 1,
                               .verify = true,
                               .after = check_pass,
                               .ctx = &check};
    if (z->mode->sparse) {
        o.pass.sparse = input_names(c->arena, c->p, true, &o.pass.n_sparse);
        o.pass.nonzeros = nonzeros_of(c, o.pass.n_sparse, o.pass.sparse);
    }
    if (z->mode->split) o.pass.fixed = input_names(c->arena, c->p, false, &o.pass.n_fixed);
    if (z->mode->some) o.pass.without = some_of(c->p);
    o.code = (gn_codegen_options){
        .off = o.pass.without.decisions, .opt_level = opt_level(z->mode), .cpu = z->mode->cpu};
    gn_limits limits = gpu ? gn_cuda_limits() : gn_cpu_limits(z->mode->cpu);
    if (z->mode->small) {
        limits.l1_bytes = 64;
        limits.l2_bytes = 1024;
        limits.blocks = INT32_MAX; /* no product has blocks enough */
        rows = (int64_t)1 << 40;   /* everything takes much memory: what can be is made again */
        o.pass.nodes = rows;
    }
    o.pass.ends = ends_for(c->arena, c->p, rows, &o.pass.n_ends);
    if (z->mode->pairs) limits.pairs = 1 << KIR_KIND_BF16;
    o.limits = &limits;
    o.precision = z->mode->precision;
    gir_program *whole, *stage[2];
    gn_status *s = gn_passes_run(c->arena, c->p, &o.pass, NULL, &whole);
    if (!s) s = check.error;
    if (s) return s;
    o.pass.after = NULL;
    z->whole = check.want;
    z->stages = 1;
    stage[0] = (gir_program *)c->p;
    if (z->mode->split) {
        o.pass.kept = GN_STORAGE_FLOAT32; /* what is rounded from here on is in no bound */
        GN_TRY(gn_pass_hoist(c->arena, whole, &o.pass, &stage[0], &stage[1]));
        GN_TRY(gir_verify(stage[1]));
        z->stages = stage[0] ? 2 : 1;
        if (!stage[0]) stage[0] = stage[1];
    }
    return lower_stages(c, z, &o, stage);
}

gn_status *run_case_new(gn_arena *a, const gir_program *p, const gir_env *env, unsigned modes,
                        unsigned code, run_case **out)
{
    run_case *c = *out = GN_NEW(a, run_case);
    *c = (run_case){.arena = a, .p = p, .env = *env};
    GN_TRY(gir_verify(p));
    GN_TRY(run_graphs_new(a, p, env, &c->graphs));
    GN_TRY(evaluate(c, p, GN_PRECISION_HIGHEST, &c->want));
    for (int k = 0; k < RUN_ALL_MODES; k++) {
        if (!((modes | code) >> k & 1)) continue;
        bool can = GNNC_HAVE_LLVM || run_modes[k].cuda;
        c->v[c->n] = (variant){.mode = &run_modes[k], .code = can && (code >> k & 1)};
        gn_status *s = lower_variant(c, &c->v[c->n]);
        if (s) return gn_status_annotate(s, "%s", run_modes[k].name);
        c->n++;
    }
    return NULL;
}

void run_case_free(run_case *c)
{
    if (c) run_graphs_free(&c->graphs);
}

/* Code ----------------------------------------------------------------------------------------- */

/* The first mode whose kernels are compiled as those of mode k are. */
static int compiled_with(int k)
{
    const run_mode *m = &run_modes[k];
    for (int j = 0; j < k; j++) {
        const run_mode *o = &run_modes[j];
        bool same_cpu = m->cpu && o->cpu ? !strcmp(m->cpu, o->cpu) : m->cpu == o->cpu;
        if (!o->cuda && same_cpu && opt_level(m) == opt_level(o)) return j;
    }
    return k;
}

/* Code that the process has compiled: later cases compile what is new in them. */
static gn_status *kept_code(gn_cache **out)
{
    static gn_cache *kept;
    if (!kept) GN_TRY(gn_cache_new(&(gn_cache_options){0}, &kept));
    *out = kept;
    return NULL;
}

/* Of all modes at once that are compiled as mode `first` is: they have kernels in common. */
static gn_status *compile_modes(gn_arena *a, int n, run_case *const *cases, int first,
                                gn_image **out)
{
    GN_VEC(gn_compiled *) programs = {0};
    gn_code_report report;
    for (int k = 0; k < n; k++)
        for (int v = 0; v < cases[k]->n; v++) {
            const variant *z = &cases[k]->v[v];
            int mode = (int)(z->mode - run_modes);
            if (!z->code || z->mode->cuda || compiled_with(mode) != first) continue;
            for (int s = 0; s < z->stages; s++) GN_PUSH(a, programs, z->stage[s]);
        }
    gn_codegen_options o = {.opt_level = opt_level(&run_modes[first]),
                            .cpu = run_modes[first].cpu,
                            .watch = gn_watched,
                            .threads = 1};
    GN_TRY(kept_code(&o.cache));
    return gn_compile_code(a, (int)programs.n, programs.p, &o, out, &report);
}

/* Of all modes at once: the C compiler takes long to start, and modes have kernels in common. */
static gn_status *compile_cuda(gn_arena *a, int n, run_case *const *cases, cuda_host **out)
{
    GN_VEC(const kir_kernel *) kernels = {0};
    GN_VEC(variant *) users = {0};
    for (int k = 0; k < n; k++)
        for (int v = 0; v < cases[k]->n; v++) {
            variant *z = &cases[k]->v[v];
            if (!z->code || !z->mode->cuda) continue;
            GN_PUSH(a, users, z);
            for (int s = 0; s < z->stages; s++) {
                z->first[s] = (int)kernels.n;
                for (int i = 0; i < z->stage[s]->n_kernels; i++)
                    GN_PUSH(a, kernels, z->stage[s]->kernels[i]);
            }
        }
    if (!kernels.n) return NULL;
    gn_status *s = cuda_host_compile((int)kernels.n, kernels.p, out);
    for (uint32_t k = 0; k < users.n; k++) users.p[k]->host = *out;
    return s;
}

gn_status *run_compile(gn_arena *a, int n, run_case *const *cases, run_code **out)
{
    run_code *c = *out = GN_NEW(a, run_code);
    for (int k = 0; k < RUN_ALL_MODES; k++)
        if (!run_modes[k].cuda && compiled_with(k) == k)
            GN_TRY(compile_modes(a, n, cases, k, &c->image[k]));
    return compile_cuda(a, n, cases, &c->host);
}

void run_code_free(run_code *c)
{
    if (!c) return;
    for (int k = 0; k < RUN_ALL_MODES; k++) {
        gn_image_free(c->image[k]);
        c->image[k] = NULL;
    }
    cuda_host_free(c->host);
    c->host = NULL;
}

/* All ways ------------------------------------------------------------------------------------- */

/* Elements of the outputs of `p`, from outputs and states. */
static double **collect(run_case *c, const gir_program *p, const run_table *table,
                        const run_table *outputs)
{
    double **got = GN_NEW_N(c->arena, double *, p->outputs.n + 1);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        const run_tensor *t = run_table_find(o->kind == GIR_UPDATE ? table : outputs, o->name);
        if (!t) continue;
        got[k] = GN_NEW_N(c->arena, double, t->rows * t->cols + 1);
        gn_elem e = run_stored(table->wide, t->elem);
        for (int64_t i = 0; i < t->rows * t->cols; i++) got[k][i] = gn_fill_load(t->data, e, i);
    }
    return got;
}

static gn_status *check_outputs(const gir_program *p, double **got, const gir_program *source,
                                const gir_value *want, double slack, run_tally *tally)
{
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        if (!got[k]) GN_FAIL(GN_ERR_INTERNAL, "%s: there is no such output", p->outputs.p[k].name);
        GN_TRY(close_to(p->outputs.p[k].name, got[k], &want[source->outputs.p[k].value], slack,
                        tally));
    }
    return NULL;
}

/* The outputs that compiled code gives in all ways have the same bits. */
static gn_status *same_bits(const run_case *c, double **a, double **b)
{
    for (uint32_t k = 0; k < c->p->outputs.n; k++) {
        const gir_value *w = &c->want[c->p->outputs.p[k].value];
        for (int64_t i = 0; i < w->rows * w->cols; i++)
            if (memcmp(&a[k][i], &b[k][i], sizeof(double)) != 0 &&
                !(isnan(a[k][i]) && isnan(b[k][i])))
                GN_FAIL(GN_ERR_INTERNAL, "%s: element %lld is %.9g, and was %.9g run otherwise",
                        c->p->outputs.p[k].name, (long long)i, b[k][i], a[k][i]);
    }
    return NULL;
}

/* What is computed ahead must not look at what may differ in the next run: states, and inputs that
 * are not fixed. */
static void hide_what_changes(run_case *c, run_table *z)
{
    int n;
    const char **fixed = input_names(c->arena, c->p, false, &n);
    for (uint32_t k = 0; k < z->t.n; k++) {
        bool stays = false;
        for (int i = 0; i < n; i++) stays = stays || strcmp(fixed[i], z->t.p[k].name) == 0;
        if (!stays) memset(z->t.p[k].data, 0, run_tensor_bytes(&z->t.p[k]));
    }
}

/* threads 0: by launches. */
static gn_status *run_one(run_case *c, const variant *v, int k, const run_way *w, int threads,
                          run_table *table, run_table *outputs)
{
    const run_stage s = {c->arena, v->stage[k], &c->graphs, v->host, v->first[k], &c->chained};
    return threads ? run_stage_instance(&s, threads, table, outputs)
                   : run_stage_launches(&s, w, table, outputs);
}

/* Both stages of a variant. */
static gn_status *run_variant(run_case *c, const variant *v, const run_way *w, int threads,
                              double ***out, run_tally *tally)
{
    run_table table = run_table_new(c->arena, c->p, &c->env, w->wide);
    for (int s = 0; s < v->stages; s++) {
        run_table outputs = {.arena = c->arena, .wide = w->wide};
        const gn_compiled *code = v->stage[s];
        bool ahead = s + 1 < v->stages;
        void **whole = ahead ? run_table_bytes(c->arena, &table) : NULL;
        if (ahead) hide_what_changes(c, &table);
        GN_TRY(run_one(c, v, s, w, threads, &table, &outputs));
        for (uint32_t k = 0; ahead && k < table.t.n; k++)
            memcpy(table.t.p[k].data, whole[k], run_tensor_bytes(&table.t.p[k]));
        double **got = *out = collect(c, code->gir, &table, &outputs);
        if (v->want[s])
            GN_TRY(
                check_outputs(code->gir, got, code->gir, v->want[s], w->wide ? RUN_WIDE : 1, NULL));
        if (s + 1 == v->stages) return check_outputs(c->p, got, c->p, v->whole, RUN_SLACK, tally);
        for (uint32_t k = 0; k < outputs.t.n; k++) GN_PUSH(c->arena, table.t, outputs.t.p[k]);
    }
    return NULL;
}

static gn_status *check_variant(run_case *c, variant *v, run_tally *tally)
{
    static const run_way on_cpu[] = {
        {"loop IR in double", true, false, false, 0}, {"loop IR", false, false, false, 0},
        {"loop IR backwards", false, false, true, 0}, {"code", false, true, false, 0},
        {"code backwards", false, true, true, 0},     {"one thread", false, true, false, 0},
        {"three threads", false, true, false, 0},
    };
    static const run_way on_gpu[] = {
        {"loop IR in double", true, false, false, 0},
        {"loop IR", false, false, false, 0},
        {"loop IR backwards", false, false, true, 0},
        {"ascending", false, true, false, CUDA_UP},
        {"descending", false, true, false, CUDA_DOWN},
        {"seeded order", false, true, false, CUDA_SEEDED},
    };
    bool gpu = v->host != NULL;
    const run_way *ways = gpu ? on_gpu : on_cpu;
    double **first[2] = {NULL, NULL};
    for (int k = 0; k < (!v->code ? 3 : gpu ? 6 : 7); k++) {
        double **got = NULL;
        int threads = k < 5 || gpu ? 0 : k == 5 ? 1 : 3, kind = ways[k].code;
        gn_status *s = run_variant(c, v, &ways[k], threads, &got, k == 1 ? tally : NULL);
        if (!s && !ways[k].wide && first[kind]) s = same_bits(c, first[kind], got);
        if (s) return gn_status_annotate(s, "%s, %s", v->mode->name, ways[k].name);
        if (!ways[k].wide && !first[kind]) first[kind] = got;
    }
    v->got = first[v->code];
    return NULL;
}

gn_status *run_case_check(run_case *c, run_tally *tally)
{
    c->chained = 0;
    for (int k = 0; k < c->n; k++) {
        GN_TRY(check_variant(c, &c->v[k], tally));
        for (int s = 0; tally && s < c->v[k].stages; s++) {
            tally->kernels += c->v[k].stage[s]->n_kernels;
            tally->compiled += c->v[k].code ? c->v[k].stage[s]->n_kernels : 0;
        }
    }
    if (tally) tally->programs++;
    if (tally) tally->chained += c->chained;
    if (tally) tally->again += c->again;
    return NULL;
}

const double *run_case_output(const run_case *c, int mode, uint32_t k)
{
    for (int v = 0; v < c->n; v++)
        if (c->v[v].mode == &run_modes[mode]) return c->v[v].got[k];
    return NULL;
}

gn_status *run_every_way(const gir_program *p, const gir_env *env, unsigned modes, unsigned code,
                         run_tally *tally)
{
    gn_arena a;
    run_case *c = NULL;
    run_code *image = NULL;
    gn_arena_init(&a);
    gn_status *s = run_case_new(&a, p, env, modes, code, &c);
    if (!s) s = run_compile(&a, 1, &c, &image);
    if (!s) s = run_case_check(c, tally);
    run_case_free(c);
    run_code_free(image);
    gn_arena_free(&a);
    return s;
}
