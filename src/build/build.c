#include "build/build.h"
#include "base/data_name.h"

#include "base/sanitized.h"
#include "target/quick.h"
#include "target/whole.h"

#include <string.h>

typedef struct builder {
    gn_arena *arena;
    gn_build_options opt;
    gn_build *out;
} builder;

static void note_pass(void *ctx, const char *pass, const gir_program *in, const gir_program *out)
{
    builder *z = ctx;
    gn_pass_note n = {.program = out->name,
                      .pass = pass,
                      .before = (int)in->nodes.n - 1,
                      .after = (int)out->nodes.n - 1};
    bool any = false;
    for (gir_id v = 1; v < in->nodes.n; v++) n.change[gir_at(in, v)->op]--;
    for (gir_id v = 1; v < out->nodes.n; v++) n.change[gir_at(out, v)->op]++;
    for (int k = 0; k < GIR_OP_COUNT; k++) any = any || n.change[k];
    if (any) GN_PUSH(z->arena, z->out->notes, n);
}

static void take_pick(gn_compile_options *o, const gn_pick *p)
{
    if (!p) return;
    o->pass.without.passes |= p->without.passes;
    o->pass.without.decisions |= p->without.decisions;
    o->tuning = &p->schedule;
}

static const gn_ends *ends_of(builder *z)
{
    const gn_loss_rows *r = &z->opt.train_rows;
    gn_ends *ends = GN_NEW_N(z->arena, gn_ends, (size_t)z->opt.n_hints + (size_t)r->n_ends + 1);
    for (int k = 0; k < z->opt.n_hints; k++) {
        const low_hint *h = &z->opt.hints[k];
        ends[k] = (gn_ends){.name = h->name,
                            .src = h->n_src,
                            .dst = h->n_dst,
                            .joined_src = h->joined_src,
                            .joined_dst = h->joined_dst};
    }
    for (int k = 0; k < r->n_ends; k++) ends[z->opt.n_hints + k] = r->ends[k];
    return ends;
}

/* Data that are the same in every run: of batches all but which rows they are. */
static const char *const *fixed_data(builder *z, bool step, int *n)
{
    const char **name = GN_NEW_N(z->arena, const char *, GN_DATA_COUNT);
    *n = 0;
    for (int k = 0; k < GN_DATA_COUNT; k++)
        if (!step || !z->opt.batches || k != GN_DATA_TRAIN_MASK) name[(*n)++] = gn_data_name[k];
    return name;
}

/* `fixed`: data are the same in every run, as they are while a model trains. */
static gn_compile_options options_of(builder *z, gn_unit_id unit, bool fixed)
{
    static const char *const sparse[] = {GN_NAME_X};
    gn_compile_options o = {.index = z->opt.index,
                            .n_hints = z->opt.n_hints,
                            .hints = z->opt.hints,
                            .hints_hold = z->opt.one_data};
    o.pass.without = z->opt.without;
    take_pick(&o, unit < GN_UNITS ? z->opt.pick[unit] : NULL);
    gn_switches off = o.pass.without.decisions;
    o.pass.fixed = fixed_data(z, unit == GN_UNIT_STEP, &o.pass.n_fixed);
    if (!fixed || !gn_is_on(off, GN_DO_HOIST)) o.pass.n_fixed = 0;
    o.pass.sparse = sparse;
    o.pass.nodes = z->opt.n_hints ? z->opt.hints[0].n_dst : 0;
    o.pass.n_ends = z->opt.n_hints + z->opt.train_rows.n_ends;
    o.pass.ends = ends_of(z);
    bool eager = gn_modes[z->opt.mode].eager, sparse_on = !eager && gn_is_on(off, GN_DO_SPARSE);
    o.pass.n_sparse = sparse_on && z->opt.sparse;
    o.pass.nonzeros = &z->opt.nonzeros; /* of x, the only one */
    o.pass.gathers = z->opt.gathers;
    o.pass.kept = z->opt.kept;
    o.pass.wide = z->opt.wide;
    o.pass.limit = z->opt.pass_limit;
    o.pass.eager = eager;
    o.pass.verify = true;
    o.pass.after = note_pass;
    o.pass.ctx = z;
    /* with sanitizers LLVM's work would be most of the time, and none of what is tested */
    o.code.opt_level = GN_UNDER_ASAN || GN_UNDER_TSAN ? -1 : eager ? 0 : 1;
    o.code.sanitize = z->opt.sanitize || GN_UNDER_ASAN;
    o.code.watch = gn_watched;
    o.code.threads = z->opt.threads > 0 ? z->opt.threads : gn_cores();
    o.code.cpu = z->opt.cpu;
    o.code.each = z->opt.each;
    o.limits = z->opt.limits;
    o.precision = z->opt.precision;
    o.code.off = off;
    o.code.cache = z->opt.cache;
    if (z->opt.target) o.limits = &z->opt.target->limits;
    o.pass.fast_functions = o.limits && o.limits->fast_functions;
    gn_limits limits = o.limits ? *o.limits : gn_cpu_limits(o.code.cpu);
    o.pass.draws_rows = low_draws_rows(&limits);
    o.pass.lanes = limits.shared_bytes > 0;
    return o;
}

static void choose_quick(builder *z, const gn_compile_options *o, int multiprocessors,
                         gn_compiled *c)
{
    gn_quick_choose(z->arena, c,
                    &(gn_quick_rule){.sized = z->opt.one_data,
                                     .multiprocessors = multiprocessors,
                                     .off = o->pass.without.decisions,
                                     .n_hints = o->n_hints,
                                     .hints = o->hints});
}

/* What is computed ahead runs once: launch by launch. */
static void choose_for_gpu(builder *z, const gn_compile_options *o, bool one_kernel, gn_unit *u)
{
    const gn_cuda_info *gpu = z->opt.target ? gn_cuda_device_about(z->opt.target->device) : NULL;
    if (!o->limits || !o->limits->shared_bytes) return;
    gn_products way = gn_products_way(z->opt.products, z->opt.mode, o->pass.without.decisions);
    bool library = way == GN_PRODUCTS_LIBRARY && gn_has_products(u->code);
    choose_quick(z, o, gpu ? gpu->multiprocessors : 0, u->code);
    if (u->prepare_code) choose_quick(z, o, gpu ? gpu->multiprocessors : 0, u->prepare_code);
    gn_whole_choose(z->arena, u->code,
                    &(gn_whole_rule){.folded = u->one_region,
                                     .always = one_kernel,
                                     .cooperative = !gpu || gpu->cooperative,
                                     .multiprocessors = gpu ? gpu->multiprocessors : 0,
                                     .off = o->pass.without.decisions,
                                     .library = library,
                                     .n_hints = o->n_hints,
                                     .hints = o->hints});
    if (way == GN_PRODUCTS_TIMED && !gpu)
        gn_products_estimate(z->arena, u->code, z->opt.precision, o->n_hints, o->hints);
}

bool gn_pick_folds(const gn_pick *p, gn_mode mode)
{
    return p && p->one_region != GN_FOLD_BY_MODE ? p->one_region != GN_FOLD_NOT
                                                 : gn_modes[mode].one_region;
}

/* The pipeline runs before the split, so that what it shares and takes out of sums can be kept; and
 * again on both halves, where it finds little left to do. */
static gn_status *compile_unit(builder *z, const gir_program *p, gn_unit_id id,
                               const gn_data_facts *facts, gn_unit *u)
{
    const gn_pick *pick = z->opt.pick[id];
    if (!p || z->opt.skip >> id & 1) return NULL;
    u->one_region = gn_pick_folds(pick, z->opt.mode);
    u->threads = pick ? pick->threads : 0;
    gn_compile_options o = options_of(z, id, id != GN_UNIT_EVAL && z->opt.fixed);
    gir_program *whole, *prepare, *rest, *masked;
    if (z->opt.padded) {
        GN_TRY(gn_pass_mask_rows(z->arena, p, &masked));
        p = masked;
    }
    if (facts) o.pass.facts = *facts;
    GN_TRY(gn_passes_run(z->arena, p, &o.pass, &z->out->pass_count, &whole));
    prepare = NULL;
    rest = whole;
    if (!o.pass.eager && gn_is_on(o.pass.without.decisions, GN_DO_HOIST))
        GN_TRY(gn_pass_hoist(z->arena, whole, &o.pass, &prepare, &rest));
    if (prepare) GN_TRY(gn_compile(z->arena, prepare, &o, &z->out->pass_count, &u->prepare_code));
    GN_TRY(gn_compile(z->arena, rest, &o, &z->out->pass_count, &u->code));
    choose_for_gpu(z, &o, pick && pick->one_region == GN_FOLD_ONE_KERNEL, u);
    u->code->set = id != GN_UNIT_EVAL;
    if (prepare) u->prepare_code->set = u->code->set;
    return NULL;
}

static gn_status *compile_half(builder *z, const gir_program *p, const gn_compile_options *o,
                               gn_unit *u)
{
    u->one_region = gn_pick_folds(NULL, z->opt.mode);
    GN_TRY(gn_compile(z->arena, p, o, &z->out->pass_count, &u->code));
    choose_for_gpu(z, o, false, u);
    u->code->set = 1;
    return NULL;
}

/* Passes run before the split, as in compile_unit, so that what they share can be kept. */
static gn_status *compile_gradients(builder *z, const gn_model *m)
{
    gn_compile_options o = options_of(z, GN_UNITS, false);
    gir_program *whole, *forward, *backward;
    GN_TRY(gn_gradients_of(z->arena, m, z->opt.gradients, &o.pass, &z->out->gradient_gir));
    GN_TRY(gn_passes_run(z->arena, z->out->gradient_gir, &o.pass, &z->out->pass_count, &whole));
    GN_TRY(gn_pass_split(z->arena, whole, &forward, &backward));
    GN_TRY(compile_half(z, forward, &o, &z->out->forward));
    return compile_half(z, backward, &o, &z->out->backward);
}

int gn_build_programs(const gn_build *b, gn_compiled *out[GN_BUILD_PROGRAMS])
{
    gn_compiled *all[GN_BUILD_PROGRAMS] = {b->step.code,         b->eval.code,
                                           b->step.prepare_code, b->eval.prepare_code,
                                           b->forward.code,      b->backward.code};
    int n = 0;
    for (int k = 0; k < GN_BUILD_PROGRAMS; k++)
        if (all[k]) out[n++] = all[k];
    return n;
}

gn_status *gn_build_code(gn_arena *a, const gn_build_options *opt, gn_build *b)
{
    builder z = {.arena = a, .opt = *opt, .out = b};
    gn_compiled *all[GN_BUILD_PROGRAMS];
    int n = gn_build_programs(b, all);
    gn_compile_options o = options_of(&z, GN_UNIT_EVAL, false);
    o.code.off = opt->without.decisions;
    gn_products_rule products = {gn_products_way(opt->products, opt->mode, opt->without.decisions),
                                 opt->precision, opt->cache};
    if (opt->target)
        return gn_target_compile(opt->target, a, n, all, &o.code, &products, &b->on_target,
                                 &b->code);
    if (opt->objects) return gn_compile_objects(a, n, all, &o.code, &b->objects, &b->code);
    return gn_compile_code(a, n, all, &o.code, &b->image, &b->code);
}

gn_status *gn_build_needs(gn_arena *a, gn_model *m, const gn_build_options *opt, gn_row_needs *out)
{
    builder z = {.arena = a, .opt = *opt};
    gn_pass_options o = options_of(&z, GN_UNIT_STEP, opt->fixed).pass;
    o.batches = opt->batches;
    return gn_step_needs(a, m, &o, out);
}

static gn_status *eval_of_rows(builder *z, const gn_model *m, gir_program **out, int *hops)
{
    gn_pass_options o = options_of(z, GN_UNIT_EVAL, false).pass;
    o.batches = z->opt.results;
    return gn_eval_of_rows(z->arena, m, &o, out, hops);
}

gn_status *gn_build_result_hops(gn_arena *a, gn_model *m, const gn_build_options *opt, int *hops)
{
    builder z = {.arena = a, .opt = *opt};
    gir_program *some;
    return eval_of_rows(&z, m, &some, hops);
}

gn_status *gn_build_model(gn_arena *a, gn_model *m, const gn_build_options *opt, gn_build *out)
{
    builder z = {.arena = a, .opt = *opt, .out = out};
    double t0 = gn_now_ms();
    *out = (gn_build){0};
    const gir_program *eval = opt->train && opt->judged && m->validate ? m->validate : m->eval;
    if (opt->results) {
        int hops;
        GN_TRY(eval_of_rows(&z, m, &out->rows_gir, &hops));
        eval = out->rows_gir;
    }
    GN_TRY(compile_unit(&z, eval, GN_UNIT_EVAL, NULL, &out->eval));
    if (opt->train && !(opt->skip >> GN_UNIT_STEP & 1)) {
        gn_pass_options o = options_of(&z, GN_UNIT_STEP, opt->fixed).pass;
        o.levels = opt->train_rows.levels; /* rows are picked before gradients are taken, and not
                                              again */
        o.facts = opt->train_rows.facts;
        o.batches = opt->batches;
        GN_TRY(gn_training_step(a, m, &o, &out->step_gir));
        GN_TRY(compile_unit(&z, out->step_gir, GN_UNIT_STEP, &o.facts, &out->step));
    }
    if (opt->gradients) GN_TRY(compile_gradients(&z, m));
    gn_compiled *all[GN_BUILD_PROGRAMS];
    int n = gn_build_programs(out, all);
    gn_quick_agree(n, all);
    if (!opt->no_code || opt->objects) GN_TRY(gn_build_code(a, opt, out));
    out->ms = gn_now_ms() - t0;
    return NULL;
}
