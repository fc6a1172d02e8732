#include "cli/device_code.h"
#include "cli/device_option.h"
#include "target/whole.h"

#include "runtime/run/threads.h"

#include <stdlib.h>
#include <string.h>

static bool has_stage(const char *list, const char *stage)
{
    size_t n = strlen(stage);
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        if (len == n && !strncmp(at, stage, n)) return true;
        at += len;
    }
    return false;
}

static bool any_stage(const char *list, const char *const *stages, size_t n, const char **which)
{
    for (size_t k = 0; k < n; k++) {
        *which = stages[k];
        if (has_stage(list, stages[k])) return true;
    }
    return false;
}

static const char *const of_cuda[] = {"cuda", "ptx", "cubin"}, *const of_cpu[] = {"llvm", "asm",
                                                                                  "obj"};

bool gn_cli_is_cuda(const gn_cli *cli)
{
    const char *which;
    if (cli->opt.device) return !strncmp(cli->opt.device, "cuda", 4);
    return any_stage(cli->opt.emit, of_cuda, 3, &which);
}

gn_status *gn_cli_check_cuda(const gn_cli *cli)
{
    const char *which;
    bool cuda = gn_cli_is_cuda(cli);
    gn_device_choice d;
    GN_TRY(gn_cli_device_of(cli, &d));
    if (d.any)
        GN_FAIL(GN_ERR_USAGE, "--device auto: nothing is run here; to compile takes cpu or cuda");
    if (any_stage(cli->opt.emit, cuda ? of_cpu : of_cuda, 3, &which))
        GN_FAIL(GN_ERR_USAGE, "--emit=%s is not of --device %s", which, cuda ? "cuda" : "cpu");
    int arch;
    if (cli->opt.arch && !cuda) GN_FAIL(GN_ERR_USAGE, "--arch goes with --device cuda");
    GN_TRY(gn_cli_arch(cli, &arch));
    if (cuda && cli->opt.json) GN_FAIL(GN_ERR_USAGE, "--json does not go with --device cuda");
    return NULL;
}

static int arch_of(const gn_cli *cli)
{
    return gn_cuda_arch(cli->opt.arch ? cli->opt.arch : "sm_80");
}

gn_status *gn_cli_arch(const gn_cli *cli, int *out)
{
    *out = arch_of(cli);
    if (*out) return NULL;
    GN_FAIL(
        GN_ERR_USAGE,
        "--arch %s: expected an architecture of compute capability 8.0 or above, as sm_80 or sm_90",
        cli->opt.arch);
}

/* What is shown is made as what runs: programs that are compiled together are all made quickly, or
 * none. */
static bool all_quick(int n, const gn_compiled *const *programs)
{
    bool quick = true;
    for (int p = 0; p < n; p++) quick = quick && programs[p]->quick;
    return quick;
}

/* A program in one kernel is a program of NVRTC too. */
static gn_status *emit_whole(const gn_cli *cli, const gn_compiled *c, const char *what, bool quick,
                             gn_buf *out)
{
    gn_without without;
    GN_TRY(gn_cli_without(cli, &without));
    const gn_cuda_whole *w = gn_whole_of(cli->arena, c,
                                         gn_is_on(without.decisions, GN_DO_SHARE_CODE), true);
    gn_cuda_geometry *g = GN_NEW_N(cli->arena, gn_cuda_geometry, w->n + 1);
    gn_buf_printf(out, "\n// program %s, %s\n", c->artifact->name, c->whole_why);
    return !strcmp(what, "cuda") ? gn_cuda_whole_source(w, out, g)
                                 : gn_cuda_whole_ptx(w, arch_of(cli), quick, out);
}

static gn_status *emit_kernels(const gn_cli *cli, int n, const gn_compiled *const *programs,
                               const char *what, bool quick, gn_buf *out)
{
    int total = 0, at = 0;
    for (int p = 0; p < n; p++) total += programs[p]->n_kernels;
    if (!total) return NULL;
    const kir_kernel **kernels = GN_NEW_N(cli->arena, const kir_kernel *, total + 1);
    const char **origin = GN_NEW_N(cli->arena, const char *, total + 1);
    gn_cuda_geometry *g = GN_NEW_N(cli->arena, gn_cuda_geometry, total + 1);
    for (int p = 0; p < n; p++)
        for (int k = 0; k < programs[p]->n_kernels; k++) {
            origin[at] = gn_kernel_origin(cli->arena, programs[p], k);
            kernels[at++] = programs[p]->kernels[k];
        }
    if (!strcmp(what, "cuda")) return gn_cuda_source(total, kernels, origin, out, g);
    if (!strcmp(what, "ptx")) return gn_cuda_ptx(total, kernels, arch_of(cli), quick, out);
    gn_code_object object;
    gn_cuda_view view;
    GN_TRY(gn_cuda_object(total, kernels, arch_of(cli), quick, &object));
    gn_status *s = gn_cuda_object_view(&object, &view);
    if (!s) gn_buf_addn(out, view.cubin, view.cubin_bytes);
    free(object.bytes);
    return s;
}

/* Of a product for which less precision was asked. */
static void report_precision(const gn_compiled *c, const kir_kernel *k)
{
    for (uint32_t l = 0; l < c->low->launches.n; l++) {
        const low_launch *launch = &c->low->launches.p[l];
        if (launch->kernel != k) continue;
        if (launch->rounded) printf(", %s", launch->rounded);
        if (launch->why_exact) printf(", float32: %s", launch->why_exact);
    }
}

void gn_cli_report_products(const gn_cli *cli, const gn_compiled *c)
{
    for (uint32_t l = 0; l < c->low->launches.n; l++) {
        const low_launch *launch = &c->low->launches.p[l];
        const char *said = c->product_why ? c->product_why[l] : NULL;
        if (launch->edges && cli->opt.verbose)
            printf("  %s: edges: %s\n", launch->kernel->name, launch->edges);
        if (!said && cli->opt.verbose && launch->product) said = "cuBLASLt has it, too";
        if (said)
            printf("  %s: %s\n", launch->kernel->name, said);
        else if (launch->why_kernel && (c->product_why || cli->opt.verbose))
            printf("  %s: no product of cuBLASLt: %s\n", launch->kernel->name, launch->why_kernel);
    }
}

gn_status *gn_cli_emit_cuda(const gn_cli *cli, int n, const gn_compiled *const *programs,
                            const char *what, gn_buf *out)
{
    const gn_compiled **plain = GN_NEW_N(cli->arena, const gn_compiled *, n + 1);
    bool quick = all_quick(n, programs);
    int n_plain = 0;
    for (int p = 0; p < n; p++) {
        if (!programs[p]->whole)
            plain[n_plain++] = programs[p];
        else if (!strcmp(what, "cubin"))
            GN_FAIL(GN_ERR_USAGE,
                    "--emit=cubin: program %s is one kernel, in a cubin of its own: add --without "
                    "one-kernel",
                    programs[p]->artifact->name);
    }
    GN_TRY(emit_kernels(cli, n_plain, plain, what, quick, out));
    for (int p = 0; p < n; p++)
        if (programs[p]->whole) GN_TRY(emit_whole(cli, programs[p], what, quick, out));
    return NULL;
}

static gn_status *facts_of(const gn_cuda_objects *code, gn_cuda_place at, gn_cli_facts *out)
{
    gn_cuda_view v;
    GN_TRY(gn_cuda_object_view(&code->objects[at.object], &v));
    gn_cuda_view_kernel(&v, at.kernel, &out->geometry, &out->usage);
    return NULL;
}

/* A phase of a program in one kernel is told by how much of it a block does at a time. */
static gn_status *report_kernel(const gn_cuda_objects *code, gn_cuda_place at, bool phase,
                                const char *name, const gn_compiled *c, const kir_kernel *k)
{
    gn_cli_facts f;
    GN_TRY(facts_of(code, at, &f));
    gn_cuda_geometry g = f.geometry;
    gn_cuda_usage u = f.usage;
    if (phase) {
        printf("    %-26s %3d an iteration, %3lld at a time, %5lld bytes shared", name, g.group,
               (long long)g.per_block, (long long)g.shared_bytes);
        report_precision(c, k);
        printf("\n");
        return NULL;
    }
    printf("  %-28s %4d threads, %3d an iteration, %3d registers, %5d bytes shared", name,
           g.threads, g.group, u.registers, u.shared_bytes);
    if (u.stack) printf(", %d stack", u.stack);
    if (u.spill_stores || u.spill_loads)
        printf(", spills %d/%d bytes", u.spill_stores, u.spill_loads);
    report_precision(c, k);
    printf("\n");
    return NULL;
}

static gn_status *compile(const gn_cli *cli, int n, gn_compiled *const *programs, int arch,
                          gn_cuda_objects *code, gn_code_report *r)
{
    gn_without without;
    GN_TRY(gn_cli_without(cli, &without));
    gn_codegen_options o = {.threads = cli->opt.threads > 0 ? (int)cli->opt.threads : gn_cores(),
                            .cache = cli->cache,
                            .off = without.decisions};
    return gn_compile_cuda(cli->arena, n, programs, arch, &o, NULL, code, r);
}

gn_status *gn_cli_cuda_facts(const gn_cli *cli, int n, gn_compiled *const *programs, int p,
                             int arch, gn_cli_facts **launches, gn_cli_facts **whole)
{
    gn_cuda_objects code = {0};
    gn_code_report r;
    const gn_artifact *a = programs[p]->artifact;
    gn_cli_facts *all = GN_NEW_N(cli->arena, gn_cli_facts, a->n_launches + 1),
                 *one = GN_NEW(cli->arena, gn_cli_facts);
    gn_status *s = compile(cli, n, programs, arch, &code, &r);
    bool is_whole = !s && code.whole[p] >= 0;
    for (int k = 0; k < a->n_launches && !s; k++) {
        int kernel = a->launches[k].kernel;
        if (a->launches[k].kind == GN_LAUNCH_KERNEL)
            s = facts_of(&code, code.place[p][kernel], &all[k]);
    }
    if (is_whole && !s) s = facts_of(&code, (gn_cuda_place){code.whole[p], 0}, one);
    gn_cuda_objects_free(&code);
    *launches = all;
    *whole = is_whole ? one : NULL;
    return s;
}

gn_status *gn_cli_report_cuda(const gn_cli *cli, int n, const char *const *names,
                              gn_compiled *const *programs)
{
    gn_cuda_objects code = {0};
    gn_code_report r;
    int arch = arch_of(cli);
    gn_status *s = compile(cli, n, programs, arch, &code, &r);
    for (int p = 0; p < n && !s; p++) {
        bool whole = code.whole[p] >= 0;
        printf("%s:\n", names[p]);
        if (programs[p]->whole_why) printf("  %s\n", programs[p]->whole_why);
        if (programs[p]->quick_why) printf("  %s\n", programs[p]->quick_why);
        if (whole)
            s = report_kernel(&code, (gn_cuda_place){code.whole[p], 0}, false, names[p],
                              programs[p], NULL);
        for (int k = 0; k < programs[p]->n_kernels && !s; k++)
            s = report_kernel(&code, code.place[p][k], whole, programs[p]->kernels[k]->name,
                              programs[p], programs[p]->kernels[k]);
    }
    if (!s) {
        printf("%d kernels, %d distinct", r.kernels, r.distinct);
        if (r.cached) printf(" (%d cached)", r.hits);
        printf(", %lld bytes of code for sm_%d in %.1f ms\n", (long long)r.stats.code_bytes, arch,
               r.ms);
        if (r.undivided)
            printf(
                "no linker, so a program in one kernel was compiled by one thread (gnnc doctor)\n");
    }
    gn_cuda_objects_free(&code);
    return s;
}
