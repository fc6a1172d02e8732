/* explain --device cuda: what is told of kernels for a GPU instead of what is told of this
 * processor's. */
#include "cli/device_code.h"
#include "cli/device_option.h"
#include "cli/cmd_explain.h"

#include <math.h>
#include <string.h>

/* Where ---------------------------------------------------------------------------------------- */

static gn_status *no_device(gn_cli *cli, gn_status *why, gn_cli_gpu *out)
{
    if (gn_status_code(why) != GN_ERR_BACKEND) return why;
    const char *text = gn_status_message(why);
    out->why = gn_arena_strndup(cli->arena, text, strcspn(text, "\n"));
    gn_status_free(why);
    gn_target_close(cli->target);
    cli->target = NULL;
    return NULL;
}

gn_status *gn_cli_explain_where(gn_cli *cli, gn_cli_gpu *out, bool *gpu)
{
    gn_device_choice d;
    *out = (gn_cli_gpu){.why = "--arch says what to compile for, whatever is here"};
    GN_TRY(gn_cli_device_of(cli, &d));
    *gpu = d.gpu;
    if (cli->opt.arch && (!d.gpu || d.any)) GN_FAIL(GN_ERR_USAGE, "--arch goes with --device cuda");
    if (!d.gpu) return NULL;
    GN_TRY(gn_cli_arch(cli, &out->arch));
    if (cli->opt.arch) return NULL;
    gn_status *s = gn_cli_open_device(cli);
    if (s) return no_device(cli, s, out);
    *gpu = cli->target != NULL; /* auto: this processor will do */
    if (!cli->target) return NULL;
    out->arch = cli->target->arch;
    out->name = gn_cuda_device_about(cli->target->device)->name;
    return gn_cuda_copy_rate(cli->target->device, &out->copies);
}

gn_status *gn_cli_explain_facts(const gn_cli *cli, const gn_session *s, const gn_compiled *code,
                                gn_cli_gpu *out)
{
    gn_compiled *all[GN_BUILD_PROGRAMS];
    int n = gn_build_programs(&s->build, all), p = 0;
    while (p + 1 < n && all[p] != code) p++;
    return gn_cli_cuda_facts(cli, n, all, p, out->arch, &out->launch, &out->whole);
}

/* Text ----------------------------------------------------------------------------------------- */

static const char *spills(gn_arena *a, const gn_cuda_usage *u)
{
    if (!u->spill_stores && !u->spill_loads) return "no spills";
    return gn_arena_printf(a, "spills %d bytes and reads %d of them again", u->spill_stores,
                           u->spill_loads);
}

static const char *resources(gn_arena *a, const gn_cli_facts *f)
{
    const char *stack = f->usage.stack ? gn_arena_printf(a, ", %d bytes of stack", f->usage.stack)
                                       : "";
    return gn_arena_printf(a, "%d registers, %d bytes of shared memory%s, %s", f->usage.registers,
                           f->usage.shared_bytes, stack, spills(a, &f->usage));
}

void gn_cli_explain_gpu_head(gn_arena *a, const gn_session *s, const gn_unit_report *u,
                             const gn_cli_gpu *g)
{
    printf("for %s%ssm_%d\n", g->name ? g->name : "", g->name ? ", " : "", g->arch);
    if (!g->name) gn_cli_print_words("not timed", gn_arena_printf(a, "no device: %s", g->why));
    if (g->copies > 0)
        gn_cli_print_words(
            "copies",
            gn_arena_printf(a,
                            "move %.1f GB/s, read and written, of which `of copies` is the "
                            "share that a kernel moves: what it gathers, repeats counted, and "
                            "all else once",
                            g->copies));
    else
        gn_cli_print_words("no bounds", "what a GPU's memory and arithmetic allow is not measured");
    gn_cli_explain_tuned(a, s);
    if (u->code->whole_why) gn_cli_print_words("runs", u->code->whole_why);
    if (g->whole)
        gn_cli_print_words("the kernel",
                           gn_arena_printf(a, "%d threads a block, %s", g->whole->geometry.threads,
                                           resources(a, g->whole)));
    if (s->opt.precision != GN_PRECISION_HIGHEST)
        gn_cli_print_words("products", "on tensor cores where they say tf32 or bf16");
}

static int64_t blocks_of(const gn_unit_report *u, const gn_cli_gpu *g, int k)
{
    int64_t trips = gn_instance_launch(u->unit->instance, k).trips,
            each = g->launch[k].geometry.per_block;
    return each > 0 ? trips / each + (trips % each != 0) : 0;
}

/* Of what was timed: GB/s, and which share of what copies move. */
static const char *rate(gn_arena *a, const gn_kernel_report *r, const gn_cli_gpu *g)
{
    if (g->copies <= 0) return "";
    return isnan(r->gbytes)
               ? gn_arena_printf(a, " %7s %9s", "-", "-")
               : gn_arena_printf(a, " %7.1f %7.0f %%", r->gbytes, 100 * r->gbytes / g->copies);
}

void gn_cli_explain_gpu_table(gn_arena *a, const gn_unit_report *u, const gn_cli_gpu *g)
{
    printf("\n %3s %-13s %-17s %9s %9s %9s %9s %9s %7s %7s %5s %7s%s\n", "", "kernel", "begins at",
           "us", "moved", "gathered", "flops", "functions", "blocks", "threads", "regs", "shared",
           g->copies > 0 ? "    GB/s of copies" : "");
    for (int k = 0; k < u->n; k++) {
        const gn_kernel_report *r = &u->kernels[k];
        const gn_cli_facts *f = &g->launch[k];
        char regs[16], us[32];
        snprintf(us, sizeof us, isnan(r->us) ? "-" : "%.2f", r->us);
        snprintf(regs, sizeof regs, f->usage.registers && !g->whole ? "%d" : "-",
                 f->usage.registers);
        printf(" %3d %-13.13s %-17.17s %9s %9s %9s %9s %9s %7lld %7d %5s %7s%s\n", k,
               gn_cli_kernel_name(u, k), gn_cli_kernel_place(a, u, k), us,
               gn_cli_amount(a, r->cost.moved, "B"), gn_cli_amount(a, r->cost.gathered, "B"),
               gn_cli_amount(a, r->cost.flops, ""),
               gn_cli_amount(a, r->cost.functions + r->cost.draws, ""),
               (long long)blocks_of(u, g, k), f->geometry.threads, regs,
               gn_cli_amount(a, (double)f->geometry.shared_bytes, "B"), rate(a, r, g));
    }
    if (g->name)
        printf(" %3s %-31s %9.2f  least of %lld runs\n", "", "all", u->us, (long long)u->runs);
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static const char *launch_text(gn_arena *a, const gn_unit_report *u, const gn_cli_gpu *g, int k)
{
    const gn_cuda_geometry *o = &g->launch[k].geometry;
    int64_t blocks = blocks_of(u, g, k), each = o->per_block;
    const char *how = gn_arena_printf(a, "%lld iteration%s a block%s, %d thread%s each",
                                      (long long)each, plural(each), g->whole ? " at a time" : "",
                                      o->group, plural(o->group));
    if (g->whole)
        return gn_arena_printf(a, "%s, %lld bytes of shared memory", how,
                               (long long)o->shared_bytes);
    return gn_arena_printf(a, "%lld block%s of %d threads, %s; %s", (long long)blocks,
                           plural(blocks), o->threads, how, resources(a, &g->launch[k]));
}

/* Are sums over edges what groups of lanes take one after another? */
static bool has_steps(const gn_unit_report *u, int k)
{
    const low_launch *l = &u->code->low->launches.p[k];
    const region *r = l->region >= 0 ? &u->code->f->regions.p[l->region] : NULL;
    return r && r->kind == RG_ROWS && r->n_walks && u->kernels[k].cost.longest > 0;
}

/* Steps that the rows of a warp are held for: as many each as the longest of them takes. 0: not
 * known. */
static double steps_held(const gn_kernel_report *r, const gn_cli_facts *f)
{
    int k = 0;
    while (k + 1 < GN_COST_WARPS && f->geometry.group << (k + 1) <= 32) k++;
    return r->cost.held[k];
}

static const char *steps_text(gn_arena *a, const gn_kernel_report *r, const gn_cli_facts *f)
{
    const char *text = gn_arena_printf(a, "at most %.0f one after another", r->cost.longest);
    double held = steps_held(r, f);
    if (held <= 0) return text;
    return gn_arena_printf(a, "%s; groups of a warp wait for its longest in %.0f %% of %.0f", text,
                           100 * (1 - r->cost.taken / held), held);
}

void gn_cli_explain_gpu_kernel(gn_arena *a, const gn_unit_report *u, const gn_cli_gpu *g, int k)
{
    const low_launch *l = &u->code->low->launches.p[k];
    gn_cli_print_words(g->whole ? "phase" : "launch", launch_text(a, u, g, k));
    if (u->code->product_why && u->code->product_why[k])
        gn_cli_print_words("product", u->code->product_why[k]);
    if (l->edges) gn_cli_print_words("edges", l->edges);
    if (has_steps(u, k)) gn_cli_print_words("steps", steps_text(a, &u->kernels[k], &g->launch[k]));
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_usage(gn_json *j, const gn_cuda_usage *u)
{
    gn_json_int(j, "registers", u->registers);
    gn_json_int(j, "shared_bytes", u->shared_bytes);
    gn_json_int(j, "stack_bytes", u->stack);
    gn_json_int(j, "spill_store_bytes", u->spill_stores);
    gn_json_int(j, "spill_load_bytes", u->spill_loads);
}

void gn_cli_explain_gpu_json(gn_json *j, const gn_unit_report *u, const gn_cli_gpu *g)
{
    gn_json_object(j, "gpu");
    gn_json_int(j, "arch", g->arch);
    gn_json_string(j, "name", g->name);
    gn_json_string(j, "not_timed", g->name ? NULL : g->why);
    gn_json_double(j, "copies_gbytes", g->copies > 0 ? g->copies : NAN);
    gn_json_string(j, "runs", u->code->whole_why);
    gn_json_bool(j, "one_kernel", g->whole != NULL);
    if (g->whole) {
        gn_json_int(j, "threads", g->whole->geometry.threads);
        json_usage(j, &g->whole->usage);
    }
    gn_json_end(j);
}

void gn_cli_explain_gpu_kernel_json(gn_json *j, const gn_unit_report *u, const gn_cli_gpu *g, int k)
{
    const gn_cli_facts *f = &g->launch[k];
    const low_launch *l = &u->code->low->launches.p[k];
    const gn_kernel_report *r = &u->kernels[k];
    gn_json_double(j, "gbytes", r->gbytes);
    gn_json_double(j, "of_copies", g->copies > 0 ? r->gbytes / g->copies : NAN);
    if (!l->kernel) return; /* a copy */
    gn_json_int(j, "threads_an_iteration", f->geometry.group);
    gn_json_int(j, "iterations_a_block", f->geometry.per_block);
    if (g->whole) {
        gn_json_int(j, "shared_bytes", f->geometry.shared_bytes);
    } else {
        gn_json_int(j, "blocks", blocks_of(u, g, k));
        gn_json_int(j, "threads", f->geometry.threads);
        json_usage(j, &f->usage);
    }
    if (l->edges) gn_json_string(j, "edges", l->edges);
    if (has_steps(u, k)) {
        gn_json_double(j, "longest_steps", r->cost.longest);
        gn_json_double(j, "steps", r->cost.taken);
        gn_json_double(j, "steps_held", steps_held(r, f) > 0 ? steps_held(r, f) : NAN);
    }
}
