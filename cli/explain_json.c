#include "cli/cmd_explain.h"

#include "compile/kernel_name.h"

#include <math.h>

static void machine(gn_json *j, const gn_ceilings *c)
{
    gn_json_object(j, "machine");
    gn_json_string(j, "cpu", gn_cpu_name());
    gn_json_int(j, "threads", c->threads);
    gn_json_double(j, "gflops", c->gflops);
    gn_json_double(j, "pair_gflops", c->pair_gflops > 0 ? c->pair_gflops : NAN);
    gn_json_array(j, "levels");
    for (int k = 0; k < GN_LEVELS; k++) {
        gn_json_object(j, NULL);
        gn_json_string(j, "name", gn_level_name[k]);
        gn_json_double(j, "bytes", c->level_bytes[k]);
        gn_json_double(j, "gbytes_per_s", c->gbytes[k]);
        gn_json_end(j);
    }
    gn_json_end(j);
    gn_json_end(j);
}

static void memory(gn_json *j, const gn_session *s)
{
    gn_memory m = gn_session_memory(s);
    gn_json_object(j, "memory");
    gn_json_int(j, "data", m.data);
    gn_json_int(j, "graphs", m.graphs);
    gn_json_int(j, "shared", m.shared);
    gn_json_int(j, "states", m.states);
    gn_json_int(j, "prepared", m.prepared);
    gn_json_int(j, "outputs", m.outputs);
    gn_json_int(j, "temporaries", m.arena);
    gn_json_int(j, "total", m.total);
    gn_json_end(j);
}

static void sizes(gn_json *j, const gn_unit_report *u)
{
    const gn_artifact *a = u->code->artifact;
    gn_json_object(j, "sizes");
    for (int k = 0; k < a->n_syms; k++) {
        if (a->syms[k].kind == GN_SYM_ELEMENTS || a->syms[k].kind == GN_SYM_CEIL) continue;
        gn_json_int(j, a->syms[k].name, gn_instance_symbol(u->unit->instance, k));
    }
    gn_json_end(j);
}

static void guards(gn_json *j, const gn_session *s)
{
    gn_sizes now = gn_session_sizes(s);
    gn_json_object(j, "guards");
    for (int d = 0; d < GN_DIM_COUNT; d++) {
        gn_json_object(j, gn_dim_name[d]);
        gn_json_int(j, "least", s->guards.of[d].least);
        gn_json_int(j, "most", s->guards.of[d].most);
        gn_json_end(j);
    }
    gn_json_double(j, "ns", gn_guards_ns(&s->guards, &now));
    gn_json_end(j);
}

static void value(gn_json *j, gn_arena *a, const gir_program *p, const char *key, gir_id v)
{
    gn_json_object(j, key);
    gn_json_int(j, "id", v);
    gn_json_string(j, "op", gir_ops[gir_at(p, v)->op].text);
    gn_json_string(j, "type", gir_type_text(p, gir_type_of(p, v)));
    gn_json_string(j, "at", gn_cli_place(a, p, v));
}

static void prepared(gn_json *j, gn_arena *a, const gn_unit_report *u)
{
    gn_json_array(j, "prepared");
    const gn_compiled *c = u->unit->prepare_code;
    for (uint32_t k = 0; c && k < c->gir->outputs.n; k++) {
        value(j, a, c->gir, NULL, c->gir->outputs.p[k].value);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void passes(gn_json *j, const gn_session *s, const gn_unit_report *u)
{
    gn_json_array(j, "passes");
    for (uint32_t k = 0; k < s->build.notes.n; k++) {
        const gn_pass_note *n = &s->build.notes.p[k];
        if (!gn_cli_note_of(u, n)) continue;
        gn_json_object(j, NULL);
        gn_json_string(j, "program", n->program);
        gn_json_string(j, "pass", n->pass);
        gn_json_int(j, "before", n->before);
        gn_json_int(j, "after", n->after);
        gn_json_object(j, "change");
        for (int op = 1; op < GIR_OP_COUNT; op++)
            if (n->change[op]) gn_json_int(j, gir_ops[op].text, n->change[op]);
        gn_json_end(j);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void stored(gn_json *j, gn_arena *a, const gn_unit_report *u, const region *g)
{
    const fusion *f = u->code->f;
    gn_json_array(j, "stores");
    for (uint32_t m = 0; m < g->members.n; m++) {
        gir_id v = g->members.p[m];
        if (!f->stored[v]) continue;
        value(j, a, f->p, NULL, v);
        gn_json_array(j, "read_by");
        for (uint32_t k = 0; k < f->readers.n; k++)
            if (f->readers.p[k].value == v)
                gn_json_int(j, NULL, gn_cli_kernel_of(u->code, f->readers.p[k].region));
        gn_json_end(j);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void refusals(gn_json *j, gn_arena *a, const gn_unit_report *u, int r)
{
    const fusion *f = u->code->f;
    gn_json_array(j, "apart");
    for (uint32_t k = 0; k < f->refusals.n; k++) {
        const fu_refusal *x = &f->refusals.p[k];
        if (f->region_of[x->value] != r) continue;
        gn_json_object(j, NULL);
        gn_json_int(j, "from", gn_cli_kernel_of(u->code, x->region));
        gn_json_string(j, "reason", fu_reason_text[x->reason]);
        value(j, a, f->p, "value", x->value);
        gn_json_end(j);
        value(j, a, f->p, "because", x->because);
        gn_json_end(j);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void values(gn_json *j, gn_arena *a, const gir_program *p, const char *key, uint32_t n,
                   const gir_id *v)
{
    gn_json_array(j, key);
    for (uint32_t k = 0; k < n; k++) {
        value(j, a, p, NULL, v[k]);
        gn_json_end(j);
    }
    gn_json_end(j);
}

static void kernel(gn_json *j, gn_arena *a, const gn_unit_report *u, const gn_cli_gpu *gpu, int k)
{
    const gn_kernel_report *r = &u->kernels[k];
    const gn_cost *c = &r->cost;
    gn_json_object(j, NULL);
    gn_json_int(j, "kernel", k);
    gn_json_string(j, "name", r->name);
    gn_json_string(j, "words", gn_kernel_words(a, u->code, k));
    gn_json_double(j, "us", r->us);
    gn_json_double(j, "bound_us", gpu ? NAN : r->bound_us);
    gn_json_double(j, "ratio", r->bound_us > 0 ? r->us / r->bound_us : NAN);
    gn_json_string(j, "bound_by", gpu ? NULL : gn_bound_text[r->by]);
    if (gpu) gn_cli_explain_gpu_kernel_json(j, u, gpu, k);
    const low_launch *l = &u->code->low->launches.p[k];
    if (l->rounded) gn_json_string(j, "rounded_to", l->rounded);
    if (l->why_exact) gn_json_string(j, "why_float32", l->why_exact);
    gn_json_double(j, "bytes_moved", c->moved);
    gn_json_double(j, "bytes_gathered", c->gathered);
    gn_json_double(j, "bytes_gathered_from", c->table);
    gn_json_double(j, "flops", c->flops);
    gn_json_double(j, "functions", c->functions);
    gn_json_double(j, "draws", c->draws);
    gn_json_double(j, "counted", c->sampled);
    gn_json_bool(j, "conditions_guessed", c->guessed);
    int first = r->region >= 0 ? gn_cli_kernel_of(u->code, (uint32_t)r->region) : k;
    if (first != k) gn_json_int(j, "finishes", first);
    if (r->region >= 0 && first == k) {
        const region *g = &u->code->f->regions.p[r->region];
        gir_id *inl;
        uint32_t n = gn_cli_recomputed(a, u->code->f, g, &inl);
        values(j, a, u->code->gir, "fused", g->members.n, g->members.p);
        values(j, a, u->code->gir, "in_passing", n, inl);
        stored(j, a, u, g);
        refusals(j, a, u, r->region);
    }
    gn_json_end(j);
}

void gn_cli_explain_json(const gn_cli *cli, const gn_session *s, const gn_ceilings *c,
                         const gn_cli_gpu *gpu, const gn_unit_report *u)
{
    gn_json j;
    gn_json_init(&j, stdout, true);
    gn_json_object(&j, NULL);
    gn_cli_json_head(&j, s);
    gn_json_string(&j, "what", u->name);
    if (gpu)
        gn_cli_explain_gpu_json(&j, u, gpu);
    else
        machine(&j, c);
    sizes(&j, u);
    guards(&j, s);
    memory(&j, s);
    prepared(&j, cli->arena, u);
    passes(&j, s, u);
    gn_json_double(&j, "us", u->us);
    gn_json_double(&j, "bound_us", gpu ? NAN : u->bound_us);
    gn_json_int(&j, "runs", u->runs);
    gn_json_array(&j, "kernels");
    for (int k = 0; k < u->n; k++) kernel(&j, cli->arena, u, gpu, k);
    gn_json_end(&j);
    gn_json_end(&j);
}
