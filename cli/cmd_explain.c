#include "cli/cmd_explain.h"

#include "compile/kernel_name.h"
#include "tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The report ----------------------------------------------------------------------------------- */

static void print_head(const gn_cli *cli, const gn_session *s, const gn_unit_report *u)
{
    const char *without = gn_without_text(cli->arena, s->opt.without);
    printf("model %s on %s, %s, mode %s%s%s, ", s->model->name, s->data->name,
           strcmp(u->name, "step") ? "inference" : "one training step", gn_mode_name[s->opt.mode],
           *without ? ", without " : "", without);
}

static void print_here(const gn_cli *cli, const gn_session *s, const gn_unit_report *u,
                       const gn_ceilings *c)
{
    printf("%d thread%s\n", c->threads, c->threads > 1 ? "s" : "");
    gn_cli_explain_tuned(cli->arena, s);
    int launches, shared, waits;
    if (gn_instance_in_region(u->unit->instance, &launches, &shared, &waits))
        gn_cli_print_words(
            "region",
            gn_arena_printf(cli->arena,
                            "a run is one parallel region: %d launches, %d shared, waits before %d "
                            "(times below are launch by launch)",
                            launches, shared, waits));
    printf("this machine: %.0f Gflop/s%s; GB/s from", c->gflops,
           c->pair_gflops > 0
               ? gn_arena_printf(cli->arena, ", %.0f in pairs of bf16", c->pair_gflops)
               : "");
    for (int k = 0; k < GN_LEVELS; k++)
        printf(" %s%s %.0f%s", gn_level_name[k],
               isfinite(c->level_bytes[k])
                   ? gn_arena_printf(cli->arena, " (%s)",
                                     gn_cli_amount(cli->arena, c->level_bytes[k], "B"))
                   : "",
               c->gbytes[k], k + 1 < GN_LEVELS ? "," : "\n");
}

static void print_sizes(const gn_unit_report *u)
{
    const gn_artifact *a = u->code->artifact;
    const char *sep = "sizes: ";
    for (int k = 0; k < a->n_syms; k++) {
        if (a->syms[k].kind == GN_SYM_ELEMENTS || a->syms[k].kind == GN_SYM_CEIL) continue;
        printf("%s%s %lld", sep, a->syms[k].name,
               (long long)gn_instance_symbol(u->unit->instance, k));
        sep = ", ";
    }
    printf("\n");
}

static void print_guards(gn_arena *a, const gn_session *s)
{
    gn_buf b = {.arena = a};
    gn_sizes sizes = gn_session_sizes(s);
    gn_guards_print(&s->guards, &b);
    printf("guards: %s; found to hold in %.1f ns a call\n", b.p, gn_guards_ns(&s->guards, &sizes));
}

void gn_cli_print_memory(gn_arena *a, const gn_memory *m)
{
    printf("memory: %s in all: data %s, graphs %s, states %s, prepared %s, outputs %s, temporaries "
           "%s\n",
           gn_cli_amount(a, (double)m->total, "B"), gn_cli_amount(a, (double)m->data, "B"),
           gn_cli_amount(a, (double)m->graphs, "B"), gn_cli_amount(a, (double)m->states, "B"),
           gn_cli_amount(a, (double)m->prepared, "B"), gn_cli_amount(a, (double)m->outputs, "B"),
           gn_cli_amount(a, (double)m->arena, "B"));
}

static void print_memory(gn_arena *a, const gn_session *s, const gn_unit_report *u)
{
    gn_memory m = gn_session_memory(s);
    gn_cli_print_memory(a, &m);
    printf("        (%s of them here)\n",
           gn_cli_amount(a, (double)gn_instance_arena_bytes(u->unit->instance), "B"));
    if (m.shared)
        printf("symmetric: the graph is its own transpose; %s of indices serve both directions\n",
               gn_cli_amount(a, (double)m.shared, "B"));
}

/* Of tables whose touched rows alone are updated: which are, and which a step reads whole. */
static void print_touched(gn_arena *a, const gn_session *s, const gn_unit_report *u)
{
    const gir_program *p = s->build.step_gir;
    gn_buf of[2] = {{.arena = a}, {.arena = a}};
    if (!s->model->train.touched || !p || strcmp(u->name, "step")) return;
    for (int k = 0; k < s->model->n_params; k++) {
        const gn_param *x = &s->model->params[k];
        bool put = false;
        for (uint32_t o = 0; o < p->outputs.n; o++)
            put = put || (gir_at(p, p->outputs.p[o].value)->op == GIR_PUT &&
                          !strcmp(p->outputs.p[o].name, x->name));
        gn_buf *b = &of[put];
        if (x->trainable && x->over) gn_buf_printf(b, "%s%s", b->n ? ", " : "", x->name);
    }
    if (of[1].n) printf("rows: those that a step touches, of %s\n", of[1].p);
    if (of[0].n) printf("rows: all, of %s, which something reads whole\n", of[0].p);
    if (!of[0].n && !of[1].n) printf("rows: no parameter has a row for each row of a space\n");
}

static int64_t alive_bytes(const gn_instance *in, int n_slots, int launch)
{
    int64_t bytes = 0;
    for (int k = 0; k < n_slots; k++)
        if (gn_instance_alive(in, k, launch)) bytes += gn_instance_slot_room(in, k);
    return bytes;
}

gir_id gn_cli_held(const gn_compiled *c, int slot, int at, const char **name)
{
    *name = gn_held_name(&c->low->buffers.p[slot], at);
    gir_id v = *name && (*name)[0] == 'v' ? (gir_id)atoi(*name + 1) : 0;
    return v < c->gir->nodes.n ? v : 0;
}

/* The largest temporaries of the launch that has most of them alive. */
static void print_peak(gn_arena *a, const gn_unit_report *u)
{
    enum { SHOWN = 12 };
    const gn_instance *in = u->unit->instance;
    int n = u->code->artifact->n_slots, at = gn_instance_peak(in);
    bool *said = GN_NEW_N(a, bool, n + 1);
    printf("\nmost temporaries are alive in kernel %d, %s:\n", at,
           gn_cli_amount(a, (double)alive_bytes(in, n, at), "B"));
    for (int shown = 0; shown < SHOWN; shown++) {
        int best = -1;
        for (int k = 0; k < n; k++)
            if (gn_instance_alive(in, k, at) && !said[k] &&
                (best < 0 || gn_instance_slot_room(in, k) > gn_instance_slot_room(in, best)))
                best = k;
        if (best < 0) break;
        said[best] = true;
        const char *name;
        gir_id v = gn_cli_held(u->code, best, at, &name);
        bool known = v != 0;
        printf("     %-10s %-20s %-16s %s\n",
               gn_cli_amount(a, (double)gn_instance_slot_room(in, best), "B"),
               known ? gn_cli_place(a, u->code->gir, v) : "",
               known ? gir_ops[gir_at(u->code->gir, v)->op].text : name,
               known ? gir_type_text(u->code->gir, gir_type_of(u->code->gir, v)) : "");
    }
}

static void print_prepared(gn_arena *a, const gn_unit_report *u)
{
    if (!u->unit->prepare) return;
    const gir_program *p = u->unit->prepare_code->gir;
    printf(u->runs ? "\ncomputed once, in %.2f ms:\n" : "\ncomputed once:\n", u->unit->prepare_ms);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gir_id v = p->outputs.p[k].value;
        int64_t elems = 0;
        gn_instance_output(u->unit->prepare, p->outputs.p[k].name, &elems);
        double bytes = (double)elems * (double)gn_elem_size((gn_elem)gir_type_of(p, v)->elem);
        printf("     %-10s %-20s %-16s %s\n", p->outputs.p[k].name, gn_cli_place(a, p, v),
               gir_type_text(p, gir_type_of(p, v)), gn_cli_amount(a, bytes, "B"));
    }
}

static void print_passes(gn_arena *a, const gn_session *s, const gn_unit_report *u)
{
    printf("\npasses that changed something, values before and after:\n");
    for (uint32_t k = 0; k < s->build.notes.n; k++) {
        const gn_pass_note *n = &s->build.notes.p[k];
        if (!gn_cli_note_of(u, n)) continue;
        gn_buf b = {.arena = a};
        gn_buf_printf(&b, "%s%d to %d:", strcmp(n->program, u->name) ? "(once) " : "", n->before,
                      n->after);
        for (int op = 1; op < GIR_OP_COUNT; op++)
            if (n->change[op]) gn_buf_printf(&b, " %+d*%s", n->change[op], gir_ops[op].text);
        gn_cli_print_words(n->pass, b.p);
    }
}

/* Values that the model wants again and that stay. */
static void print_kept(gn_arena *a, const gn_unit_report *u)
{
    const lowered *low = u->unit->code->low;
    if (low->n_kept)
        printf("\ncheckpoint: %d of its values cannot come again and stay, the first at %s\n",
               low->n_kept, gn_cli_place(a, u->unit->code->gir, low->kept));
}

static void print_table(gn_arena *a, const gn_unit_report *u)
{
    printf("\n %3s %-13s %-17s %9s %9s %6s  %-9s %9s %9s %9s %9s\n", "", "kernel", "begins at",
           "us", "bound", "ratio", "bound by", "moved", "gathered", "flops", "functions");
    for (int k = 0; k < u->n; k++) {
        const gn_kernel_report *r = &u->kernels[k];
        printf(" %3d %-13.13s %-17.17s %9.2f %9.2f ", k, gn_cli_kernel_name(u, k),
               gn_cli_kernel_place(a, u, k), r->us, r->bound_us);
        double ratio = r->us / r->bound_us;
        r->bound_us > 0 ? printf("%6.*f", ratio < 99 ? 2 : 0, fmin(ratio, 999999))
                        : printf("%6s", "-");
        printf("  %-9s %9s %9s %9s %9s\n", gn_bound_text[r->by],
               gn_cli_amount(a, r->cost.moved, "B"), gn_cli_amount(a, r->cost.gathered, "B"),
               gn_cli_amount(a, r->cost.flops, ""),
               gn_cli_amount(a, r->cost.functions + r->cost.draws, ""));
    }
    printf(" %3s %-31s %9.2f %9.2f %6.2f  least of %lld runs\n", "", "all", u->us, u->bound_us,
           u->us / u->bound_us, (long long)u->runs);
}

static void print_stored(gn_arena *a, const gn_unit_report *u, uint32_t r)
{
    const fusion *f = u->code->f;
    const region *g = &f->regions.p[r];
    for (uint32_t m = 0; m < g->members.n; m++) {
        gir_id v = g->members.p[m];
        if (!f->stored[v]) continue;
        gn_buf b = {.arena = a};
        gn_buf_printf(&b, "%s %s %s", gir_ops[gir_at(f->p, v)->op].text, gn_cli_place(a, f->p, v),
                      gir_type_text(f->p, gir_type_of(f->p, v)));
        const char *sep = ", read by ";
        for (uint32_t k = 0; k < f->readers.n; k++) {
            if (f->readers.p[k].value != v) continue;
            gn_buf_printf(&b, "%s%d", sep, gn_cli_kernel_of(u->code, f->readers.p[k].region));
            sep = ", ";
        }
        for (uint32_t k = 0; k < f->p->outputs.n; k++)
            if (f->p->outputs.p[k].value == v)
                gn_buf_printf(&b, ", %s %s",
                              f->p->outputs.p[k].kind == GIR_UPDATE ? "new" : "output",
                              f->p->outputs.p[k].name);
        gn_cli_print_words("stores", b.p);
    }
}

static void print_refusals(gn_arena *a, const gn_unit_report *u, uint32_t r)
{
    const fusion *f = u->code->f;
    for (uint32_t k = 0; k < f->refusals.n; k++) {
        const fu_refusal *x = &f->refusals.p[k];
        if (f->region_of[x->value] != (int32_t)r) continue;
        gn_cli_print_words(
            "apart", gn_arena_printf(
                         a, "from %d: %s %s %s (%s %s)", gn_cli_kernel_of(u->code, x->region),
                         gir_ops[gir_at(f->p, x->value)->op].text, gn_cli_place(a, f->p, x->value),
                         fu_reason_text[x->reason], gir_ops[gir_at(f->p, x->because)->op].text,
                         gn_cli_place(a, f->p, x->because)));
    }
}

static void print_chain(gn_arena *a, const gn_unit_report *u, int k)
{
    int head;
    int64_t rows = gn_instance_chain(u->unit->instance, k, &head);
    if (!rows) return;
    int last = head + u->code->artifact->launches[head].chain - 1;
    gn_cli_print_words("in blocks", gn_arena_printf(a, "of %lld rows, kernels %d to %d in turn",
                                                    (long long)rows, head, last));
}

static void print_gathers(gn_arena *a, const gn_kernel_report *r, const gn_cli_gpu *gpu)
{
    const char *what = gn_arena_printf(a, "%s out of %s", gn_cli_amount(a, r->cost.gathered, "B"),
                                       gn_cli_amount(a, r->cost.table, "B"));
    if (r->cost.gathered <= 0) return;
    if (!gpu)
        what = gn_arena_printf(a, "%s, at %.0f us; the rest moves in %.0f us", what, r->gather_us,
                               r->memory_us);
    gn_cli_print_words("gathers", what);
}

/* Of a region whose first kernel it is. */
static void print_region(gn_arena *a, const gn_unit_report *u, const gn_kernel_report *r)
{
    const fusion *f = u->code->f;
    const region *g = &f->regions.p[r->region];
    gn_cli_print_words("computes", gn_cli_members(a, f->p, g->members.n, g->members.p));
    gir_id *inl;
    uint32_t n = gn_cli_recomputed(a, f, g, &inl);
    if (n) gn_cli_print_words("in passing", gn_cli_members(a, f->p, n, inl));
    print_stored(a, u, (uint32_t)r->region);
    print_refusals(a, u, (uint32_t)r->region);
}

/* ", each row's edges as destination (edge, edge.1), as source (edge.2)" */
static void print_walks(const gir_program *p, const region *g)
{
    for (int w = 0; w < g->n_walks; w++) {
        int end = g->walk[w].end;
        const char *edges = p->spaces.p[gir_type_of(p, g->walk[w].graph)->edge].name;
        bool begins = w == 0 || g->walk[w - 1].end != end,
             ends = w + 1 == g->n_walks || g->walk[w + 1].end != end;
        if (begins)
            printf(", %sas %s (", w ? "" : "each row's edges ",
                   end == GIR_DST ? "destination" : "source");
        printf("%s%s%s", begins ? "" : ", ", edges, ends ? ")" : "");
    }
}

static void print_kernel(gn_arena *a, const gn_unit_report *u, int k, const gn_cli_gpu *gpu)
{
    static const char *const kind[] = {"rows of ", "elements: ", "product, rows of ",
                                       "contraction over ", "carry to "};
    const gn_kernel_report *r = &u->kernels[k];
    if (r->region < 0) return;
    const fusion *f = u->code->f;
    const region *g = &f->regions.p[r->region];
    int first = gn_cli_kernel_of(u->code, (uint32_t)r->region);
    const low_launch *l = &u->code->low->launches.p[k];
    if (l->again) {
        printf("\n %3d %s: again what %d does\n", k, r->name, first);
        return;
    }
    if (first != k) { /* finishes sums that the region's kernel began */
        printf("\n %3d %s\n", k, r->name);
        gn_cli_print_words("finishes", gn_arena_printf(a, "sums of %d", first));
        if (gpu) gn_cli_explain_gpu_kernel(a, u, gpu, k);
        return;
    }
    printf("\n %3d %s: %s", k, r->name, kind[g->kind]);
    g->kind == RG_FLAT ? printf("%lld", (long long)g->n)
                       : printf("%s", g->space ? f->p->spaces.p[g->space].name : "none");
    print_walks(f->p, g);
    printf("\n");
    gn_cli_print_words("named", gn_kernel_words(a, u->code, k));
    print_region(a, u, r);
    print_chain(a, u, k);
    print_gathers(a, r, gpu);
    if (r->cost.sampled < 1)
        gn_cli_print_words("counted",
                           gn_arena_printf(a, "over %.2g%% of its rows", 100 * r->cost.sampled));
    if (r->cost.guessed) gn_cli_print_words("counted", "as if every condition on floats held");
    if (gpu) gn_cli_explain_gpu_kernel(a, u, gpu, k);
    if (l->rounded) gn_cli_print_words("precision", l->rounded);
    if (l->why_exact)
        gn_cli_print_words("precision", gn_arena_printf(a, "float32: %s", l->why_exact));
}

static void print_text(const gn_cli *cli, const gn_session *s, const gn_unit_report *u,
                       const gn_ceilings *c, const gn_cli_gpu *gpu)
{
    print_head(cli, s, u);
    if (gpu)
        gn_cli_explain_gpu_head(cli->arena, s, u, gpu);
    else
        print_here(cli, s, u, c);
    print_sizes(u);
    print_guards(cli->arena, s);
    print_memory(cli->arena, s, u);
    print_touched(cli->arena, s, u);
    print_peak(cli->arena, u);
    print_prepared(cli->arena, u);
    print_passes(cli->arena, s, u);
    print_kept(cli->arena, u);
    if (gpu)
        gn_cli_explain_gpu_table(cli->arena, u, gpu);
    else
        print_table(cli->arena, u);
    for (int k = 0; k < u->n; k++) print_kernel(cli->arena, u, k, gpu);
}

static gn_status *report(gn_cli *cli, gn_session *s, gn_cli_gpu *gpu)
{
    gn_ceilings c;
    gn_unit_report u;
    bool step = s->opt.train;
    const gn_unit *unit = step ? &s->build.step : &s->build.eval;
    if (gpu)
        GN_TRY(gn_cli_explain_facts(cli, s, unit->code, gpu));
    else
        GN_TRY(gn_ceilings_measure(cli->arena, s->pool, &c));
    GN_TRY(gn_explain_unit(cli->arena, step ? "step" : "eval", unit, gpu ? NULL : &c,
                           gpu && !gpu->name ? 0 : 300, &u));
    if (cli->opt.json)
        gn_cli_explain_json(cli, s, gpu ? NULL : &c, gpu, &u);
    else
        print_text(cli, s, &u, &c, gpu);
    return NULL;
}

static gn_status *explain(gn_cli *cli)
{
    gn_session_options o;
    gn_cli_gpu gpu;
    gn_limits limits = gn_cuda_limits();
    bool on_gpu;
    GN_TRY(gn_cli_session_options(cli, &o));
    o.keep_static = true;
    GN_TRY(gn_cli_explain_where(cli, &gpu, &on_gpu));
    o.target = cli->target;
    if (on_gpu && !o.target) {
        o.limits = &limits;
        o.no_code = true;
    }
    gn_session *s;
    if (cli->opt.frontier && on_gpu)
        GN_FAIL(GN_ERR_USAGE, "--memory: is of runs on a processor, not on a device");
    if (cli->opt.frontier) {
        o.train = !cli->opt.what || !strcmp(cli->opt.what, "step");
        return gn_cli_explain_memory(cli, &o);
    }
    GN_TRY(gn_cli_session_new(cli, &o, &s));
    gn_status *status = o.no_code ? gn_session_bind_blank(s) : NULL;
    gn_cli_describe(cli, s);
    if (!status) status = report(cli, s, on_gpu ? &gpu : NULL);
    gn_session_free(s);
    return status;
}

const gn_command gn_command_explain = {
    .name = "explain",
    .usage = "explain MODEL.gnn [options]",
    .summary = "say what became of a model, kernel by kernel",
    .about = "Compiles a model, runs it, and says of every kernel what was fused into it and why "
             "no more, what it\n"
             "stores and for whom, the bytes it moves and the operations it does (counted over its "
             "loops), the least\n"
             "time this machine needs for that (measured ceilings: a roofline), and the time that "
             "it took.\n"
             "Also: what passes changed, what is computed once, sizes and memory.\n"
             "`moved` counts every byte once, `gathered` those read through an index, as often as "
             "they are read; the\n"
             "bound takes gathers to be spread evenly over what they read from.  A function (an "
             "exponential, a\n"
             "division) counts as 8 operations, a random number as 20: less than they take.\n"
             "With --device cuda the same of the kernels for a GPU, and how each is launched, the "
             "registers and shared\n"
             "memory it takes and what it spills, which needs NVRTC; times where there is a GPU, "
             "and\n"
             "the bytes a second of each kernel beside those of copies there, instead of bounds.\n",
    .examples = "  gnnc explain gcn.gnn --data cora --threads 1\n"
                "  gnnc explain gat.gnn --data cora --what eval\n"
                "  gnnc explain gcn.gnn --without fuse          what fusion is worth\n"
                "  gnnc explain gcn.gnn --json\n"
                "  gnnc explain gat.gnn --memory            peak against time, with less and less "
                "memory\n"
                "  gnnc explain gat.gnn --device cuda --arch sm_90   for a GPU; this machine needs "
                "none\n",
    .takes_model = true,
    .min_args = 1,
    .max_args = 1,
    .run = explain,
};
