/* A build as one relocatable object: kernels, the model's description, and the runtime. */
#include "aot/aot.h"
#include "base/data_name.h"

#include "aot/layout.h"
#include "base/outfile.h"
#include "runtime/load/cpu.h"

#include <stdio.h>
#include <string.h>

extern const unsigned char gn_embedded_aot_runtime_o[];
extern const size_t gn_embedded_aot_runtime_o_size;

/* The model, described ------------------------------------------------------------------------- */

/* Rows that have a name of their own, those of a relation's edges too, and whose edges they are. */
static void find_rows(const gn_model *m, const gir_program *p, gir_space_id s, gn_aot_tensor *out)
{
    const gir_space *space = &p->spaces.p[s];
    gir_id g = space->graph;
    while (space->kind == GIR_EDGE && g && gir_at(p, g)->op != GIR_GRAPH) g = gir_in(p, g, 0);
    if (space->kind == GIR_NODE && strcmp(space->name, GN_SPACE_NODE)) out->over = space->name;
    if (space->kind != GIR_EDGE || !g) return;
    int k = gn_schema_find_relation(m->schema, gir_at(p, g)->attr.name);
    out->relation = k > 0 ? k : 0;
    if (k > 0) out->over = m->schema->relation[k].name;
}

static gn_status *tensor_of(const gn_model *m, const gir_program *p, const char *what,
                            const char *name, const gir_type *t, gn_aot_tensor *out)
{
    gir_space_kind kind = t->space ? p->spaces.p[t->space].kind : GIR_NONE;
    if (kind != GIR_NONE && kind != GIR_NODE && kind != GIR_EDGE)
        GN_FAIL(GN_ERR_MODEL,
                "%s '%s' is neither one value nor a row a node or an edge: its C interface has no "
                "such %s",
                what, name, what);
    *out = (gn_aot_tensor){.name = name,
                           .elem = (gn_elem)t->elem,
                           .rows = kind == GIR_NODE   ? GN_AOT_NODES
                                   : kind == GIR_EDGE ? GN_AOT_EDGES
                                                      : GN_AOT_ONE,
                           .row_elems = gir_row_elems(t)};
    if (t->space) find_rows(m, p, t->space, out);
    return NULL;
}

typedef GN_VEC(gn_aot_tensor) tensors;

/* Weights of edges are in every program for data that has some.  Code that reads none is not to ask
 * for them. */
static bool unread(const gn_build *b, const char *name)
{
    return !strcmp(name, GN_NAME_WEIGHT) && !gn_unit_reads(&b->eval, GN_SLOT_INPUT, name) &&
           !gn_unit_reads(&b->step, GN_SLOT_INPUT, name);
}

static gn_status *add_inputs(gn_arena *a, const gn_model *m, const gir_program *p,
                             const gn_build *b, tensors *to)
{
    for (gir_id v = 1; p && v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool there = n->op != GIR_INPUT || n->type.is_graph || unread(b, n->attr.name);
        for (uint32_t k = 0; k < to->n && !there; k++) there = !strcmp(to->p[k].name, n->attr.name);
        gn_aot_tensor t;
        if (there) continue;
        GN_TRY(tensor_of(m, p, "input", n->attr.name, &n->type, &t));
        GN_PUSH(a, *to, t);
    }
    return NULL;
}

static gn_status *add_outputs(gn_arena *a, const gn_model *m, const gir_program *p, tensors *to)
{
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        gn_aot_tensor t;
        if (p->outputs.p[k].kind != GIR_OUTPUT) continue;
        GN_TRY(tensor_of(m, p, "output", p->outputs.p[k].name,
                         gir_type_of(p, p->outputs.p[k].value), &t));
        GN_PUSH(a, *to, t);
    }
    return NULL;
}

static gn_status *describe_weights(gn_arena *a, const gn_model *m, const gn_state *s, bool embed,
                                   gn_aot_image *g)
{
    static const gn_fill_kind kinds[] = {GN_FILL_ZEROS, GN_FILL_ONES, GN_FILL_CONSTANT,
                                         GN_FILL_UNIFORM, GN_FILL_NORMAL};
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
                               .init = {.kind = kinds[p->init], .a = p->a, .b = p->b},
                               .data = embed ? t->data : NULL};
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

/* All that the data have, in their order, as tensors count them. */
static void describe_relations(gn_arena *a, const gn_model *m, gn_aot_image *g)
{
    const gn_schema *s = m->schema;
    gn_aot_relation *to = GN_NEW_N(a, gn_aot_relation, s->n_relations);
    for (int k = 1; k < s->n_relations; k++) {
        const gn_schema_relation *r = &s->relation[k];
        to[k - 1] = (gn_aot_relation){r->name, s->space[r->src].name, s->space[r->dst].name};
    }
    g->n_relations = s->n_relations - 1;
    g->relations = to;
    g->reads_graph = !g->n_relations || gn_model_reads_graph(m);
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
        GN_FAIL(GN_ERR_USAGE, "--cpu %s: expected native, x86-64-v2, x86-64-v3 or x86-64-v4",
                g->cpu);
    GN_TRY(add_inputs(a, m, m->eval, b, &in));
    if (b->step.code) GN_TRY(add_inputs(a, m, m->loss, b, &in));
    GN_TRY(add_outputs(a, m, m->eval, &out));
    describe_relations(a, m, g);
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
