/* A build as one relocatable object: kernels, the model's description, and the runtime. */
#include "aot/aot.h"

#include "aot/layout.h"
#include "base/outfile.h"
#include "runtime/load/cpu.h"

#include <stdio.h>
#include <string.h>

extern const unsigned char gn_embedded_aot_runtime_o[];
extern const size_t gn_embedded_aot_runtime_o_size;

/* The model, described ------------------------------------------------------------------------- */

/* Its spaces and relations are those of the schema, in order. */
static void describe_schema(gn_arena *a, const gn_model *m, bool trains, gn_aot_image *g)
{
    const gn_schema *s = m->schema;
    gn_aot_space *spaces = GN_NEW_N(a, gn_aot_space, s->n_spaces + 1);
    gn_aot_relation *relations = GN_NEW_N(a, gn_aot_relation, s->n_relations + 1);
    for (int k = 0; k < s->n_spaces; k++) spaces[k] = (gn_aot_space){s->space[k].name, -1};
    for (int k = 0; k < m->n_params; k++) {
        int over = m->params[k].over ? gn_schema_find_space(s, m->params[k].over) : -1;
        if (over >= 0) spaces[over].rows = m->params[k].rows;
    }
    for (int k = 0; k < s->n_relations; k++) {
        const gn_schema_relation *r = &s->relation[k];
        bool read = gn_program_reads_relation(m->eval, r->name) ||
                    (trains && gn_program_reads_relation(m->loss, r->name));
        relations[k] = (gn_aot_relation){r->name, r->src, r->dst, read};
    }
    g->n_spaces = s->n_spaces;
    g->spaces = spaces;
    g->n_relations = s->n_relations;
    g->relations = relations;
}

/* The place of the relation on whose edges, or edges derived from them, the space is; -1. */
static int relation_of(const gn_schema *s, const gir_program *p, gir_space_id edges)
{
    gir_id g = p->spaces.p[edges].graph;
    while (g && gir_at(p, g)->n_in) g = gir_in(p, g, 0);
    bool leaf = g && gir_at(p, g)->op == GIR_GRAPH;
    return leaf ? gn_schema_find_relation(s, gir_at(p, g)->attr.name) : -1;
}

static gn_aot_tensor tensor_of(const gn_schema *s, const gir_program *p, const char *name,
                               const gir_type *t)
{
    const gir_space *space = &p->spaces.p[t->space];
    gn_aot_tensor out = {
        .name = name, .elem = (gn_elem)t->elem, .over = -1, .row_elems = gir_row_elems(t)};
    if (!t->space) return out;
    bool edges = space->kind == GIR_EDGE;
    out.rows = edges ? GN_AOT_EDGES : GN_AOT_ROWS;
    if (edges)
        out.over = relation_of(s, p, t->space);
    else if (!space->graph) /* no picked rows */
        out.over = gn_schema_find_space(s, space->name);
    return out;
}

typedef GN_VEC(gn_aot_tensor) tensors;

/* Columns of the data, as weights of edges, may be in programs that read none.  Code that does not
 * is not to ask for them. */
static bool unread(const gn_build *b, const char *name)
{
    const gn_compiled *all[] = {b->eval.code, b->eval.prepare_code, b->step.code,
                                b->step.prepare_code};
    bool reads = !strchr(name, '.');
    for (int k = 0; k < 4 && !reads; k++)
        reads = all[k] && (gn_artifact_reads(all[k]->artifact, GN_SLOT_INPUT, name) ||
                           gn_artifact_picks(all[k]->artifact, name));
    return !reads;
}

static gn_status *add_inputs(gn_arena *a, const gn_model *m, const gir_program *p,
                             const gn_build *b, tensors *to)
{
    for (gir_id v = 1; p && v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool there = n->op != GIR_INPUT || n->type.is_graph || unread(b, n->attr.name);
        for (uint32_t k = 0; k < to->n && !there; k++) there = !strcmp(to->p[k].name, n->attr.name);
        if (there) continue;
        gn_aot_tensor t = tensor_of(m->schema, p, n->attr.name, &n->type);
        if (t.rows != GN_AOT_ONE && t.over < 0)
            GN_FAIL(GN_ERR_INTERNAL, "input '%s' is over rows of nothing", t.name);
        GN_PUSH(a, *to, t);
    }
    return NULL;
}

static void add_outputs(gn_arena *a, const gn_model *m, tensors *to)
{
    const gir_program *p = m->eval;
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (o->kind != GIR_OUTPUT) continue;
        gn_aot_tensor t = tensor_of(m->schema, p, o->name, gir_type_of(p, o->value));
        GN_PUSH(a, *to, t);
    }
}

/* A weight's numbers as files have its rows. */
static const void *rows_of(gn_arena *a, const gn_state_tensor *t)
{
    if (!t->row_of) return t->data;
    void *rows = gn_arena_alloc(a, (size_t)(t->rows * t->row_elems), gn_elem_size(t->elem));
    gn_state_rows_out(t, rows);
    return rows;
}

static gn_status *describe_weights(gn_arena *a, const gn_model *m, const gn_state *s, bool embed,
                                   gn_aot_image *g)
{
    gn_aot_weight *w = GN_NEW_N(a, gn_aot_weight, m->n_params + 1);
    gn_aot_state *states = GN_NEW_N(a, gn_aot_state, s->n + 1);
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        const gn_state_tensor *t = gn_state_find(s, p->name);
        if (!t || t->elem != GN_F32)
            GN_FAIL(GN_ERR_INTERNAL, "parameter '%s' has no state of f32", p->name);
        if (p->file_rank > GN_AOT_RANK)
            GN_FAIL(GN_ERR_INTERNAL, "parameter '%s' has rank %d", p->name, p->file_rank);
        w[k] = (gn_aot_weight){.name = p->file_name,
                               .rank = p->file_rank,
                               .state = p->name,
                               .elems = p->rows * gir_row_elems(&p->type),
                               .turned = p->transposed ? p->type.dim[0] : 0,
                               .init = gn_param_fill(p),
                               .data = embed ? rows_of(a, t) : NULL};
        if (embed) w[k].init.list = NULL;
        for (int d = 0; d < p->file_rank; d++) w[k].dim[d] = p->file_dim[d];
    }
    for (int k = 0; k < s->n; k++)
        states[k] = (gn_aot_state){s->tensors[k].name, s->tensors[k].elem, s->tensors[k].rows,
                                   s->tensors[k].row_elems};
    g->n_weights = m->n_params;
    g->weights = w;
    g->n_states = s->n;
    g->states = states;
    return NULL;
}

static bool any_pattern(const gn_build *b)
{
    return gn_unit_reads_pattern(&b->eval) || gn_unit_reads_pattern(&b->step);
}

/* Indices of graphs are of one width in all programs. */
static gn_elem index_of(const gn_build *b)
{
    const gn_compiled *all[] = {b->eval.code, b->eval.prepare_code, b->step.code,
                                b->step.prepare_code};
    for (int p = 0; p < 4; p++)
        for (int k = 0; all[p] && k < all[p]->artifact->n_slots; k++) {
            const gn_slot *s = &all[p]->artifact->slots[k];
            if (s->kind == GN_SLOT_GRAPH && s->array < GN_GRAPH_VALUE) return s->elem;
        }
    return GN_I32;
}

static gn_status *describe(gn_arena *a, const gn_model *m, const gn_build *b, const gn_state *s,
                           const gn_aot_options *opt, gn_aot_image *g)
{
    tensors in = {0}, out = {0};
    *g = (gn_aot_image){
        .model = m->name, .cpu = opt->cpu ? opt->cpu : "native", .index = index_of(b)};
    if (!gn_cpu_level(g->cpu, &g->needs))
        GN_FAIL(GN_ERR_USAGE, "--cpu %s: expected " GN_CPU_LEVELS_SAID, g->cpu);
    describe_schema(a, m, b->step.code != NULL, g);
    GN_TRY(add_inputs(a, m, m->eval, b, &in));
    if (b->step.code) GN_TRY(add_inputs(a, m, m->loss, b, &in));
    add_outputs(a, m, &out);
    GN_TRY(describe_weights(a, m, s, opt->embed, g));
    g->n_classes = opt->n_classes;
    g->sparse_x = any_pattern(b);
    g->one_region[0] = b->eval.one_region;
    g->one_region[1] = b->step.one_region;
    g->n_inputs = (int)in.n;
    g->inputs = in.p;
    g->n_outputs = (int)out.n;
    g->outputs = out.p;
    g->eval = b->eval.code->artifact;
    if (b->eval.prepare_code) g->eval_ahead = b->eval.prepare_code->artifact;
    if (b->step.code) g->step = b->step.code->artifact;
    if (b->step.prepare_code) g->step_ahead = b->step.prepare_code->artifact;
    return NULL;
}

/* Joined --------------------------------------------------------------------------------------- */

static const char data_name[] = "gnnc.data", image_name[] = "gnnc.image",
                  needs_name[] = "gnnc.needs";

typedef struct joiner {
    gn_arena *arena;
    gn_aot_object *out;
    int object; /* whose names are asked for; -1: the runtime's */
} joiner;

static const char *kernel_name(const joiner *z, int object)
{
    return gn_arena_printf(z->arena, "gnnc.kernel.%d", object);
}

/* Names of its own have a point in them, which no name of C has. */
static const char *rename_symbol(void *ctx, const char *name, bool defined)
{
    static const char entry[] = "gnnc_aot_";
    const joiner *z = ctx;
    if (!strcmp(name, "gnnc_aot_image")) return image_name;
    if (!defined && strncmp(name, "gn_", 3) != 0) return name; /* libc's, libm's */
    if (z->object >= 0 && !strcmp(name, "gn_kernel_0")) return kernel_name(z, z->object);
    if (!strncmp(name, entry, sizeof entry - 1))
        return gn_arena_printf(z->arena, "%s_%s", z->out->prefix, name + sizeof entry - 1);
    return gn_arena_printf(z->arena, "gnnc.%s", name);
}

/* Symbols of the kernels of each program, in the order of the layout; only objects that it needs
 * are added. */
static gn_status *add_kernels(joiner *z, const gn_build *b, int **code)
{
    const gn_compiled *order[4] = {b->eval.code, b->eval.prepare_code, b->step.code,
                                   b->step.prepare_code};
    gn_compiled *all[GN_BUILD_PROGRAMS];
    bool *added = GN_NEW_N(z->arena, bool, b->objects.n + 1);
    int n = gn_build_programs(b, all), at = 0;
    for (int p = 0; p < n; p++) {
        int which = -1;
        for (int k = 0; k < 4; k++)
            if (order[k] == all[p]) which = k;
        if (which >= 0) code[which] = GN_NEW_N(z->arena, int, all[p]->n_kernels + 1);
        for (int k = 0; k < all[p]->n_kernels; k++, at++) {
            if (which < 0) continue;
            if (!b->objects.n)
                GN_FAIL(GN_ERR_USAGE, "only code of this kind of processor goes into objects");
            z->object = b->objects.which[at];
            const gn_code_object *o = &b->objects.objects[z->object];
            if (!added[z->object])
                GN_TRY(elf_add_object(&z->out->elf, o->bytes, o->n, rename_symbol, z));
            z->out->kernels += !added[z->object];
            added[z->object] = true;
            code[which][k] = elf_symbol_named(&z->out->elf, kernel_name(z, z->object));
        }
    }
    return NULL;
}

static gn_status *add_image(joiner *z, int *const *code)
{
    aot_layout l;
    uint64_t at, needs;
    elf_object *e = &z->out->elf;
    aot_lay_out(&l, z->arena, &z->out->image, code, &at, &needs);
    int section = elf_add_section(e, ".data.rel.ro.gnnc", SHF_ALLOC | SHF_WRITE, AOT_LAYOUT_ALIGN,
                                  l.bytes.p, l.bytes.n);
    GN_TRY(elf_define(e, data_name, STT_OBJECT, section, 0, l.bytes.n));
    GN_TRY(elf_define(e, image_name, STT_OBJECT, section, at, sizeof(gn_aot_image)));
    GN_TRY(elf_define(e, needs_name, STT_OBJECT, section, needs, sizeof(uint64_t)));
    int here = elf_symbol_named(e, data_name);
    for (uint32_t k = 0; k < l.fixups.n; k++) {
        const aot_fixup *f = &l.fixups.p[k];
        elf_relocate(e, section, f->at, f->symbol >= 0 ? f->symbol : here, (int64_t)f->to);
    }
    return NULL;
}

/* Every name but those of libc and libm is there. */
static gn_status *check_joined(const elf_object *e)
{
    for (uint32_t k = 0; k < e->symbols.n; k++) {
        const elf_symbol *s = &e->symbols.p[k];
        if (s->section < 0 && s->needed && !strncmp(s->name, "gn", 2))
            GN_FAIL(GN_ERR_INTERNAL, "nothing defines '%s'", s->name);
    }
    return NULL;
}

gn_status *gn_aot_make(gn_arena *a, const gn_model *m, const gn_build *b, const gn_state *s,
                       const gn_aot_options *opt, gn_aot_object *out)
{
    joiner z = {.arena = a, .out = out};
    int *code[4] = {NULL};
    *out = (gn_aot_object){.model = m,
                           .normalized = opt->normalized,
                           .prefix = opt->prefix ? opt->prefix : gn_aot_prefix_of(a, m->name)};
    out->bytes.arena = a;
    if (b->step.code && m->train.schedule == GN_LR_PLATEAU)
        GN_FAIL(GN_ERR_MODEL,
                "the schedule of %s goes by validation results, which code that is compiled ahead "
                "of time does not see: `plateau` is for `gnnc train` and the C API (--inference "
                "leaves the training step out)",
                m->name);
    if (!gn_aot_is_prefix(out->prefix))
        GN_FAIL(GN_ERR_USAGE, "--prefix %s: expected a letter, and up to 63 letters, digits and _",
                out->prefix);
    GN_TRY(describe(a, m, b, s, opt, &out->image));
    out->image.identity = gn_aot_identity(a, &out->image, opt->normalized);
    elf_init(&out->elf, a);
    GN_TRY(add_kernels(&z, b, code));
    z.object = -1;
    GN_TRY(elf_add_object(&out->elf, gn_embedded_aot_runtime_o, gn_embedded_aot_runtime_o_size,
                          rename_symbol, &z));
    GN_TRY(add_image(&z, code));
    GN_TRY(check_joined(&out->elf));
    return elf_write(&out->elf, gn_arena_printf(a, "%s_", out->prefix), &out->bytes);
}

/* Written -------------------------------------------------------------------------------------- */

gn_aot_kind gn_aot_kind_of(const char *path)
{
    static const char *const ends[] = {".o", ".a", ".so"};
    size_t n = strlen(path);
    for (int k = 0; k < GN_AOT_NO_KIND; k++) {
        size_t m = strlen(ends[k]);
        if (n > m && path[n - m - 1] != '/' && !strcmp(path + n - m, ends[k]))
            return (gn_aot_kind)k;
    }
    return GN_AOT_NO_KIND;
}

gn_status *gn_aot_write(const gn_aot_object *o, gn_arena *a, gn_aot_kind kind, const char *path)
{
    gn_buf archive = {.arena = a};
    const gn_buf *bytes = &o->bytes;
    gn_out file;
    if (kind == GN_AOT_SHARED) return gn_aot_link(a, bytes, path);
    if (kind == GN_AOT_ARCHIVE) {
        GN_TRY(elf_archive(&o->elf, gn_arena_printf(a, "%s.o", o->prefix), bytes, &archive));
        bytes = &archive;
    }
    GN_TRY(gn_out_open(&file, path));
    fwrite(bytes->p, 1, bytes->n, file.f);
    return gn_out_close(&file, NULL);
}
