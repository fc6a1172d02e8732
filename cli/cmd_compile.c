#include "cli/ahead.h"
#include "cli/device_code.h"
#include "cli/irfile.h"
#include "cli/session_options.h"

#include "aot/aot.h"
#include "runtime/memory.h"

#include <inttypes.h>
#include <string.h>

/* Stages --------------------------------------------------------------------------------------- */

/* Programs that the front end makes and that are compiled as a part of others: NULL, where the name
 * is of none. */
static const gir_program *uncompiled(const gn_session *s, const char *name)
{
    if (name && !strcmp(name, "loss")) return s->model->loss;
    if (name && !strcmp(name, "validate")) return s->model->validate;
    return NULL;
}

/* Is there the program that --program names, and has every stage it that is asked for? */
static gn_status *check_program(const gn_cli *cli, const gn_session *s)
{
    const char *name = cli->opt.program;
    gn_named_program u[GN_BUILD_PROGRAMS];
    if (!name || gn_build_chosen(&s->build, name, u)) return NULL;
    if (!uncompiled(s, name))
        GN_FAIL(GN_ERR_USAGE, "--program %s: model %s has no such program%s", name, s->model->name,
                !strcmp(name, "validate") ? "; `monitor = val_loss` in its train block makes one"
                                          : " with this data");
    if (strcmp(cli->opt.emit, "gir") != 0)
        GN_FAIL(GN_ERR_USAGE,
                "--program %s: it is a part of step or eval where it is compiled; --emit=gir shows "
                "it alone",
                name);
    return NULL;
}

static void emit_dot(const gn_session *s, const char *only, gn_buf *out)
{
    gn_named_program u[GN_BUILD_PROGRAMS];
    int n = gn_build_chosen(&s->build, only, u);
    gn_buf_add(out, "digraph gnnc {\n  node [shape = box, fontname = monospace];\n");
    for (int k = 0; k < n; k++) {
        const fusion *f = u[k].code->f;
        for (uint32_t r = 0; r < f->regions.n; r++) {
            gn_buf_printf(out, "  subgraph cluster_%s_%u {\n    label = \"%s region %u\";\n",
                          u[k].name, r, u[k].name, r);
            for (uint32_t m = 0; m < f->regions.p[r].members.n; m++) {
                gir_id v = f->regions.p[r].members.p[m];
                gn_buf_printf(out, "    %s_%u [label = \"%%%u %s\"%s];\n", u[k].name, v, v,
                              gir_ops[gir_at(f->p, v)->op].text,
                              f->stored[v] ? ", style = bold" : "");
            }
            gn_buf_add(out, "  }\n");
        }
        for (gir_id v = 1; v < f->p->nodes.n; v++) {
            if (f->place[v] == FU_UNUSED) continue;
            if (f->place[v] != FU_REAL)
                gn_buf_printf(out, "  %s_%u [label = \"%%%u %s\", style = dashed];\n", u[k].name, v,
                              v, gir_ops[gir_at(f->p, v)->op].text);
            for (int i = 0; i < gir_at(f->p, v)->n_in; i++)
                gn_buf_printf(out, "  %s_%u -> %s_%u;\n", u[k].name, gir_in(f->p, v, i), u[k].name,
                              v);
        }
    }
    gn_buf_add(out, "}\n");
}

static gn_status *emit_stage(const gn_cli *cli, const gn_session *s, const char *what, gn_buf *out)
{
    static const char *const names[] = {"gir", "kir", "llvm", "asm", "obj"}; /* as gn_stage */
    int stage = 0;
    while (stage <= GN_STAGE_OBJ && strcmp(what, names[stage]) != 0) stage++;
    if (!strcmp(what, "ast")) {
        gn_ast_print(s->ast, out);
    } else if (uncompiled(s, cli->opt.program)) {
        gir_print(uncompiled(s, cli->opt.program), out);
    } else if (!strcmp(what, "dot")) {
        emit_dot(s, cli->opt.program, out);
    } else if (gn_cli_is_cuda(cli) && stage != GN_STAGE_GIR && stage != GN_STAGE_KIR) {
        gn_named_program u[GN_BUILD_PROGRAMS];
        const gn_compiled *programs[GN_BUILD_PROGRAMS];
        int n = gn_build_chosen(&s->build, cli->opt.program, u);
        for (int k = 0; k < n; k++) programs[k] = u[k].code;
        return gn_cli_emit_cuda(cli, n, programs, what, out);
    } else {
        if (stage > GN_STAGE_OBJ) stage = GN_STAGE_OBJ;
        return gn_build_emit(&s->build, s->opt.mode, s->opt.without.decisions, (gn_stage)stage,
                             cli->opt.program, out);
    }
    return NULL;
}

static gn_status *emit_stages(const gn_cli *cli, const gn_session *s, gn_buf *out)
{
    gn_buf_add(out, "");
    for (const char *at = cli->opt.emit; *at;) {
        size_t n = strcspn(at, ",");
        GN_TRY(emit_stage(cli, s, gn_arena_strndup(cli->arena, at, n), out));
        at += n + (at[n] == ',');
    }
    return NULL;
}

/* Report --------------------------------------------------------------------------------------- */

static void report_unit(const gn_named_program *u, const gn_instance *in)
{
    const gn_compiled *c = u->code;
    printf("%s: %u operators in %u region%s, %d kernel%s; passes %.1f ms, lowering %.1f ms",
           u->name, c->gir->nodes.n - 1, c->f->regions.n, c->f->regions.n == 1 ? "" : "s",
           c->n_kernels, c->n_kernels == 1 ? "" : "s", c->pass_ms, c->lower_ms);
    if (in) printf("; %" PRId64 " bytes planned", gn_instance_arena_bytes(in));
    printf("\n");
}

static void report(const gn_cli *cli, const gn_session *s)
{
    gn_named_program u[GN_BUILD_PROGRAMS];
    int n = gn_build_named(&s->build, u);
    printf("model %s, mode %s\n", s->model->name, gn_mode_name[s->opt.mode]);
    for (int k = 0; k < s->model->n_defaults; k++) printf("  %s\n", s->model->defaults_used[k]);
    for (int k = 0; k < n; k++) {
        const gn_instance *in = u[k].code == s->build.eval.code   ? s->build.eval.instance
                                : u[k].code == s->build.step.code ? s->build.step.instance
                                                                  : NULL;
        report_unit(&u[k], in);
        if (cli->opt.verbose) {
            gn_buf b = {.arena = cli->arena};
            gn_fusion_print(u[k].code->f, &b);
            if (b.n) fputs(b.p, stdout);
        }
    }
    const gn_codegen_stats *c = &s->build.code.stats;
    printf("%d kernels, %d distinct%s, %" PRId64
           " bytes of code in %.1f ms (LLVM, all threads: build %.1f, optimise %.1f, "
           "emit %.1f; load %.1f)\n",
           s->build.code.kernels, s->build.code.distinct, gn_cli_cached(s), c->code_bytes,
           s->build.code.ms, c->build_ms, c->optimise_ms, c->emit_ms, c->load_ms);
    printf("front end %.1f ms, compiled in %.1f ms\n", s->frontend_ms,
           s->frontend_ms + s->build.ms);
}

static void json_unit(gn_json *j, const gn_named_program *u)
{
    const gn_compiled *c = u->code;
    gn_json_object(j, NULL);
    gn_json_string(j, "name", u->name);
    gn_json_int(j, "operators", (int64_t)c->gir->nodes.n - 1);
    gn_json_int(j, "regions", (int64_t)c->f->regions.n);
    gn_json_int(j, "kernels", c->n_kernels);
    gn_json_double(j, "pass_ms", c->pass_ms);
    gn_json_double(j, "lower_ms", c->lower_ms);
    gn_json_end(j);
}

static void report_json(const gn_session *s)
{
    gn_named_program u[GN_BUILD_PROGRAMS];
    int n = gn_build_named(&s->build, u);
    gn_json j;
    gn_json_init(&j, stdout, true);
    gn_json_object(&j, NULL);
    gn_cli_json_head(&j, s);
    gn_json_array(&j, "defaults");
    for (int k = 0; k < s->model->n_defaults; k++)
        gn_json_string(&j, NULL, s->model->defaults_used[k]);
    gn_json_end(&j);
    gn_json_array(&j, "programs");
    for (int k = 0; k < n; k++) json_unit(&j, &u[k]);
    gn_json_end(&j);
    gn_json_int(&j, "kernels", s->build.code.kernels);
    gn_json_int(&j, "distinct_kernels", s->build.code.distinct);
    gn_json_int(&j, "code_bytes", s->build.code.stats.code_bytes);
    gn_json_double(&j, "code_ms", s->build.code.ms);
    gn_json_double(&j, "frontend_ms", s->frontend_ms);
    gn_json_double(&j, "compile_ms", s->frontend_ms + s->build.ms);
    gn_json_int(&j, "peak_bytes", gn_session_peak_bytes(s));
    gn_json_end(&j);
}

static gn_status *report_cuda(gn_cli *cli, gn_session *s)
{
    gn_named_program u[GN_BUILD_PROGRAMS];
    const char *names[GN_BUILD_PROGRAMS];
    gn_compiled *programs[GN_BUILD_PROGRAMS];
    int n = gn_build_named(&s->build, u);
    printf("model %s, mode %s\n", s->model->name, gn_mode_name[s->opt.mode]);
    if (gn_modes[s->opt.mode].tune)
        printf("nothing is run, so nothing is timed: schedules are those of the rules, and cost "
               "models say which programs "
               "are one kernel and which products may be cuBLASLt's\n");
    for (int k = 0; k < n; k++) {
        names[k] = u[k].name;
        programs[k] = (gn_compiled *)u[k].code;
        report_unit(&u[k], NULL);
        gn_cli_report_products(cli, u[k].code);
    }
    return gn_cli_report_cuda(cli, n, names, programs);
}

/* Objects of --emit are not those that -o makes where it stands alone. */
static void remark_on_name(const gn_cli *cli)
{
    const gn_cli_options *o = &cli->opt;
    if (o->quiet || !o->output || !strstr(o->emit, "obj") ||
        gn_aot_kind_of(o->output) == GN_AOT_NO_KIND)
        return;
    fprintf(
        stderr,
        "%s: kernels alone, without entry points; what C programs link is made without --emit\n",
        o->output);
}

static gn_status *compile(gn_cli *cli)
{
    gn_session_options o;
    bool ahead;
    GN_TRY(gn_cli_wants_ahead(cli, &ahead));
    if (cli->opt.program && !cli->opt.emit)
        GN_FAIL(GN_ERR_USAGE, "--program %s: --emit says which stage of it is printed",
                cli->opt.program);
    GN_TRY(gn_cli_session_options(cli, &o));
    if (ahead) return gn_cli_compile_ahead(cli, &o);
    o.train = true;
    o.keep_static = true;
    gn_limits limits = gn_cuda_limits();
    bool cuda = gn_cli_is_cuda(cli);
    GN_TRY(gn_cli_check_cuda(cli));
    if (cuda) o.limits = &limits;
    if (cuda) gn_memory_keep();
    o.no_code = cuda || cli->opt.emit != NULL;
    if (cli->opt.emit) GN_TRY(gn_cli_check_output(cli, "-o", cli->opt.output));
    gn_session *s;
    GN_TRY(gn_cli_session_open(cli, &o, &s));
    gn_status *status = NULL;
    if (cli->opt.emit) {
        gn_buf b = {.arena = cli->arena};
        remark_on_name(cli);
        status = check_program(cli, s);
        if (!status) status = emit_stages(cli, s, &b);
        if (!status) status = gn_cli_write_text(cli->opt.output, &b);
    } else {
        gn_cli_describe(cli, s);
        if (cuda)
            status = report_cuda(cli, s);
        else
            cli->opt.json ? report_json(s) : report(cli, s);
    }
    gn_session_free(s);
    return status;
}

const gn_command gn_command_compile = {
    .name = "compile",
    .usage = "[compile] MODEL.gnn [options]",
    .summary = "compile a model; --emit shows a stage, -o makes a file",
    .about = "Compiles a model for the shapes of its data and says what came of it: operators, "
             "kernels,\n"
             "memory, and with -v what was fused.  Nothing is run.  With -o it becomes an object, "
             "an\n"
             "archive or a shared library that C programs link and that needs nothing of gnnc.\n",
    .examples = "  gnnc gcn.gnn                           what the model becomes\n"
                "  gnnc gcn.gnn --emit=gir -O eager       the tensor IR, unoptimised\n"
                "  gnnc gcn.gnn --emit=gir --program loss | gnnc opt -   one program, as `opt` "
                "takes it\n"
                "  gnnc gcn.gnn --emit=asm -o gcn.s       machine code\n"
                "  gnnc gcn.gnn -o gcn.o --header gcn.h   for C, for graphs of any size\n"
                "  gnnc gcn.gnn --data cora --weights w.safetensors --inference \\\n"
                "      --cpu x86-64-v3 -o gcn.a --header gcn.h    trained weights, other machines\n"
                "  gnnc gat.gnn -D heads=4 -D hidden=16   other hyperparameters\n"
                "  gnnc gcn.gnn --arch sm_90 --emit=cuda,ptx   code for a GPU; this machine needs "
                "none\n"
                "  gnnc gcn.gnn --emit=dot | dot -Tsvg    a drawing\n",
    .takes_model = true,
    .min_args = 1,
    .max_args = 1,
    .run = compile,
};
