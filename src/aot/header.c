/* The C header of a compiled model.  Texts are templates: $ stands for the prefix, @ for it in
 * capitals. */
#include "aot/aot.h"
#include "base/data_name.h"

#include "runtime/run/pair.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct writer {
    const gn_aot_object *o;
    gn_arena *arena;
    gn_buf *out;
    const char *capitals;
    gn_map names; /* that are taken, without the prefix */
} writer;

static const char *capitals(gn_arena *a, const char *s)
{
    char *up = gn_arena_strdup(a, s);
    for (char *p = up; *p; p++) *p = (char)toupper((unsigned char)*p);
    return up;
}

static void add(writer *w, const char *text)
{
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "$@");
        gn_buf_addn(w->out, p, n);
        p += n;
        if (!*p) break;
        gn_buf_add(w->out, *p++ == '$' ? w->o->prefix : w->capitals);
    }
}

static const char *c_type(gn_elem e)
{
    static const char *const type[GN_ELEM_COUNT] = {
        [GN_F32] = "float",    [GN_F64] = "double",  [GN_BF16] = "uint16_t",
        [GN_F16] = "uint16_t", [GN_I32] = "int32_t", [GN_I64] = "int64_t",
        [GN_U32] = "uint32_t", [GN_U8] = "uint8_t",  [GN_BOOL] = "uint8_t"};
    return type[e];
}

static const char *rows_of(const writer *w, const gn_aot_tensor *t)
{
    char rows[160];
    gn_aot_rows_text(&w->o->image, t, rows, sizeof rows);
    return gn_arena_strdup(w->arena, rows);
}

/* Pieces --------------------------------------------------------------------------------------- */

static void head(writer *w)
{
    const gn_aot_image *g = &w->o->image;
    gn_buf_printf(
        w->out,
        "/* Model %s, compiled ahead of time by gnnc %s for %s.  Made by gnnc: do not edit.\n",
        g->model, GNNC_VERSION, g->cpu);
    add(w, " *\n"
           " * Link the object and -lm (glibc before 2.34: -pthread too); nothing else is needed. "
           "All names begin with $_ "
           "and no\n"
           " * other is seen, so that several models go into one program.\n"
           " *\n"
           " * Graphs of any size: a $_model is given a graph and data, computes, and is given "
           "others.\n"
           " *\n"
           " * Errors: calls return 0, or one of the codes below; then $_message has a sentence "
           "with the values in it, "
           "and the\n"
           " * call has changed nothing.\n"
           " * Ownership: graphs, weights and states are copied, and so are a $_model's own "
           "results where they are bound "
           "to "
           "it.\n"
           " * Other data that is bound is borrowed: it stays as it is until other data is bound "
           "in its place or the "
           "model "
           "is\n"
           " * freed.  Where you change it, bind it again.\n"
           " * Threads: one thread at a time a $_model; different ones are independent (see "
           "$_share for those that share\n"
           " * weights). A $_model of n threads starts n - 1 of its own; results are the same bits "
           "for any number.\n"
           " * Forks: a child may use and free every $_model that no other thread was in a call "
           "with; its first call "
           "there\n"
           " * starts threads anew.  What another thread was at is to be left alone. */\n");
    gn_buf_printf(w->out, "#ifndef GNNC_%s_H\n#define GNNC_%s_H\n\n", w->capitals, w->capitals);
    add(w, "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
           "#define @_OK 0\n"
           "#define @_ERROR_USAGE 2    /* this call: an argument, as a model that is NULL; "
           "something that is not bound; "
           "another\n"
           "                            * header than the object's */\n"
           "#define @_ERROR_DATA 3     /* data, graph or weights do not fit each other or the "
           "model */\n"
           "#define @_ERROR_IO 4       /* a file could not be read; the system's words are in the "
           "message */\n"
           "#define @_ERROR_CPU 5      /* the processor lacks instructions that the code is made "
           "of */\n"
           "#define @_ERROR_MEMORY 6   /* memory ran out */\n"
           "#define @_ERROR_INTERNAL 7 /* a defect of gnnc: please report it, with the message "
           "*/\n\n");
}

static void life(writer *w)
{
    gn_buf_printf(w->out,
                  "/* Of this interface: inputs, outputs and their sizes.  An object that has "
                  "another one refuses to be "
                  "opened. */\n#define %s_IDENTITY UINT64_C(0x%016" PRIx64 ")\n\n",
                  w->capitals, w->o->image.identity);
    add(w, "typedef struct $_model $_model;\n\n"
           "/* What $_new calls.  @_ERROR_USAGE: `identity` is not the object's, so this header is "
           "of another one; 0 "
           "is for\n"
           " * callers without a header, and compares nothing. */\n"
           "int $_open(uint64_t identity, int threads, uint64_t seed, $_model **out);\n\n"
           "/* A model that computes on `threads` threads (0 and 1: the caller's alone). ");
    add(w, w->o->image.n_weights && w->o->image.weights[0].data
               ? "Its weights are those that it was\n * compiled with; `seed` draws dropout.\n"
               : "Its weights are drawn by `seed` as the\n * model says; $_load_weights gives "
                 "others.\n");
    add(w, " * On failure *out is a model too, for $_message and $_free alone; NULL where memory "
           "ran out.\n"
           " * @_ERROR_CPU: this processor cannot run the code.  It is asked first, so nothing "
           "worse happens. */\n"
           "static inline int $_new(int threads, uint64_t seed, $_model **out)\n"
           "{\n"
           "    return $_open(@_IDENTITY, threads, seed, out);\n"
           "}\n"
           "/* Another model with the same weights and state, which live until all models that "
           "share them are freed.  "
           "Those\n"
           " * may infer at the same time, each on a thread of its own, while none trains, resets "
           "or is given weights.  "
           "On\n"
           " * failure *out is as it is of $_new. */\n"
           "int $_share($_model *with, int threads, $_model **out);\n"
           "void $_free($_model *m); /* NULL is fine */\n"
           "/* Why the last call that failed did; lives until the next one fails.  NULL: memory "
           "ran out, or that was "
           "given. */\n"
           "const char *$_message(const $_model *m);\n\n");
}

/* Rows that go with weights. */
static void spaces(writer *w)
{
    const gn_aot_image *g = &w->o->image;
    for (int k = 0; k < g->n_spaces; k++) {
        const gn_aot_space *s = &g->spaces[k];
        if (s->rows < 0) continue;
        gn_buf_printf(w->out,
                      "/* Rows of %s: so many, as weights have a row for each. */\n"
                      "#define %s_%s_ROWS %" PRId64 "\n\n",
                      s->name, w->capitals, capitals(w->arena, s->name), s->rows);
    }
}

static void relation(writer *w, const gn_aot_relation *r)
{
    const gn_aot_image *g = &w->o->image;
    const char *id = gn_aot_identifier(w->arena, r->name, &w->names), *p = w->o->prefix;
    gn_buf_printf(w->out, "/* %s: edges from rows of %s to rows of %s. */\n", r->name,
                  g->spaces[r->src].name, g->spaces[r->dst].name);
    gn_buf_printf(w->out,
                  "static inline int %s_bind_%s(%s_model *m, int64_t n_src, int64_t n_dst, int64_t "
                  "edges,\n    const int64_t *src, const int64_t *dst)\n{\n"
                  "    return %s_relation_coo(m, \"%s\", n_src, n_dst, edges, src, dst);\n}\n\n",
                  p, id, p, p, r->name);
}

/* Is the relation to be given, and is it the graph, or is it none? */
static bool is_given(const gn_aot_image *g, int k, bool graph)
{
    return gn_aot_takes(g, k) && !strcmp(g->relations[k].name, GN_NAME_G) == graph;
}

static bool any_given(const gn_aot_image *g, bool graph)
{
    bool any = false;
    for (int k = 0; k < g->n_relations; k++) any = any || is_given(g, k, graph);
    return any;
}

static void relations(writer *w)
{
    const gn_aot_image *g = &w->o->image;
    if (!any_given(g, false)) return;
    add(w,
        "/* Relations, by name: edges src[k] -> dst[k], k < edges, from rows 0 .. n_src - 1 of "
        "one type to rows\n"
        " * 0 .. n_dst - 1 of another, or of the same.  Edges keep their order: data on edges is "
        "given and returned in it.\n"
        " * Copied. That numbers of rows meet is checked when something is computed.\n"
        " * @_ERROR_USAGE: there is no such relation; @_ERROR_DATA names the first edge whose end "
        "is out of range, or rows\n"
        " * of which weights have another number. */\n"
        "int $_relation_coo($_model *m, const char *name, int64_t n_src, int64_t n_dst, int64_t "
        "edges, const int64_t *src,\n"
        "    const int64_t *dst);\n"
        "int $_relation_coo32($_model *m, const char *name, int64_t n_src, int64_t n_dst, "
        "int64_t edges, const int32_t *src,\n"
        "    const int32_t *dst);\n\n");
    for (int k = 0; k < g->n_relations; k++)
        if (is_given(g, k, false)) relation(w, &g->relations[k]);
}

static void graphs(writer *w)
{
    if (!any_given(&w->o->image, true)) return;
    add(w, "/* The graph: edges src[k] -> dst[k], k < edges, between nodes 0 .. nodes - 1.  Edges "
           "keep their order: "
           "data on edges\n"
           " * is given and returned in it.  Repeated edges and loops are kept.\n"
           " * @_ERROR_DATA names the first edge whose end is out of range. */\n"
           "int $_graph_coo($_model *m, int64_t nodes, int64_t edges, const int64_t *src, const "
           "int64_t *dst);\n"
           "int $_graph_coo32($_model *m, int64_t nodes, int64_t edges, const int32_t *src, const "
           "int32_t *dst);\n"
           "/* The same by rows: src[row[v]] .. src[row[v + 1] - 1] are the sources of the edges "
           "into v; row has nodes "
           "+ 1\n"
           " * numbers, from 0, ascending. */\n"
           "int $_graph_csr($_model *m, int64_t nodes, const int64_t *row, const int64_t *src);\n"
           "int $_graph_csr32($_model *m, int64_t nodes, const int32_t *row, const int32_t "
           "*src);\n\n");
}

static const char *what_of(const writer *w, const gn_aot_tensor *t)
{
    if (!strcmp(t->name, "x") && w->o->normalized)
        return "features of nodes; of the data that the model was\n * compiled with each row was "
               "divided by its sum, "
               "and so "
               "are others to be that are given here";
    if (!strcmp(t->name, "x")) return "features of nodes";
    if (!strcmp(t->name, GN_NAME_Y) && t->elem == GN_I32 && w->o->image.n_classes)
        return gn_arena_printf(w->arena, "labels, 0 .. %" PRId64 ", -1: unknown",
                               w->o->image.n_classes - 1);
    if (!strcmp(t->name, GN_NAME_Y)) return "labels";
    if (!strcmp(t->name, "g.weight")) return "weights of edges";
    if (!strcmp(t->name, "g.attr")) return "attributes of edges";
    if (t->elem == GN_BOOL) return "0: no, all else: yes";
    return strchr(t->name, '.') ? "a column of the data" : "as the model declares it";
}

/* Does inference read it, or what it computes once? */
static bool serves(const gn_aot_image *g, const gn_aot_tensor *t)
{
    const gn_artifact *both[] = {g->eval, g->eval_ahead};
    if (g->sparse_x && !strcmp(t->name, "x")) return true;
    for (int k = 0; k < 2; k++)
        if (both[k] && (gn_artifact_reads(both[k], GN_SLOT_INPUT, t->name) ||
                        gn_artifact_picks(both[k], t->name)))
            return true;
    return false;
}

static void input(writer *w, const gn_aot_tensor *t)
{
    const char *id = gn_aot_identifier(w->arena, t->name, &w->names);
    const char *type = c_type(t->elem), *p = w->o->prefix;
    bool rows = t->rows != GN_AOT_ONE;
    gn_buf_printf(w->out, "/* %s: %s %s[%" PRId64 "], %s%s. */\n", t->name, type, rows_of(w, t),
                  t->row_elems, what_of(w, t),
                  serves(&w->o->image, t) ? "" : "; for training alone");
    gn_buf_printf(w->out, "#define %s_%s_COLUMNS %" PRId64 "\n", w->capitals,
                  capitals(w->arena, id), t->row_elems);
    gn_buf_printf(w->out, "static inline int %s_bind_%s(%s_model *m, %sconst %s *data)\n{\n", p, id,
                  p, rows ? "int64_t rows, " : "", type);
    gn_buf_printf(w->out, "    return %s_bind(m, \"%s\", %s, data);\n}\n", p, t->name,
                  rows ? "rows" : "1");
    if (w->o->image.sparse_x && !strcmp(t->name, "x"))
        add(w, "/* x by its non-zeros: those of node v are value[row[v]] .. value[row[v + 1] - 1] "
               "(NULL: all 1) in the "
               "columns\n"
               " * column[row[v]] ..; row has nodes + 1 numbers, from 0, ascending; what stands "
               "twice is added.  Copied, "
               "as x\n * is when it is given whole. */\n"
               "int $_bind_csr($_model *m, int64_t rows, const int64_t *row, const int32_t "
               "*column, const float "
               "*value);\n");
    add(w, "\n");
}

static void inputs(writer *w)
{
    add(w, "/* Data, by name.  `rows`: how many there are; that they fit the graph is checked when "
           "something is "
           "computed.\n"
           " * @_ERROR_USAGE: there is no such input, or the address is not aligned to its "
           "elements; @_ERROR_DATA: a "
           "label that is\n"
           " * no class, or another number of rows than weights have a row for. */\n"
           "int $_bind($_model *m, const char *name, int64_t rows, const void *data);\n\n");
    for (int k = 0; k < w->o->image.n_inputs; k++) input(w, &w->o->image.inputs[k]);
}

static void outputs(writer *w)
{
    add(w, "/* The forward pass, as for serving: no dropout, running statistics.  @_ERROR_USAGE: "
           "something is not bound;\n"
           " * @_ERROR_DATA: sizes do not meet (what, expected, found). */\n"
           "int $_infer($_model *m);\n"
           "/* A result of the last $_infer, valid until the next call that is given m; its number "
           "of rows, where `rows` "
           "is not\n"
           " * NULL.  NULL: there is none, see $_message. */\n"
           "const void *$_output($_model *m, const char *name, int64_t *rows);\n\n");
    for (int k = 0; k < w->o->image.n_outputs; k++) {
        const gn_aot_tensor *t = &w->o->image.outputs[k];
        const char *id = gn_aot_identifier(w->arena, t->name, &w->names), *type = c_type(t->elem),
                   *p = w->o->prefix;
        gn_buf_printf(w->out, "/* %s: %s %s[%" PRId64 "]. */\n#define %s_%s_COLUMNS %" PRId64 "\n",
                      t->name, type, rows_of(w, t), t->row_elems, w->capitals,
                      capitals(w->arena, id), t->row_elems);
        gn_buf_printf(w->out,
                      "static inline const %s *%s_output_%s(%s_model *m, int64_t *rows)\n{\n", type,
                      p, id, p);
        gn_buf_printf(w->out, "    return (const %s *)%s_output(m, \"%s\", rows);\n}\n\n", type, p,
                      t->name);
    }
}

static void weights(writer *w)
{
    const gn_model *m = w->o->model;
    if (w->o->image.step)
        add(w, "/* One training step: loss, gradients, optimizer.  *loss (may be NULL) is the one "
               "before the update. */\n"
               "int $_train_step($_model *m, double *loss);\n\n");
    add(w, "/* Fresh weights, moments and counters, as $_new makes them. */\n"
           "int $_reset($_model *m, uint64_t seed);\n"
           "/* A weight as it stands in files of PyTorch Geometric, rows one after another; n is "
           "the number of its "
           "elements.\n"
           " * @_ERROR_USAGE: there is no such weight; @_ERROR_DATA: it has another number of "
           "elements.\n *\n");
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        gn_buf_printf(w->out, " *   %-40s [", p->file_name);
        for (int d = 0; d < p->file_rank && d < 8; d++)
            gn_buf_printf(w->out, "%s%" PRId64, d ? ", " : "", p->file_dim[d]);
        gn_buf_add(w->out, p->trainable ? "]\n" : "], not trained\n");
    }
    add(w, " */\n"
           "int $_weight_get($_model *m, const char *name, float *to, int64_t n);\n"
           "int $_weight_set($_model *m, const char *name, const float *from, int64_t n);\n"
           "/* All of them from safetensors, as gnnc train --save writes them: a file, or n bytes "
           "of memory. Other "
           "tensors are\n"
           " * passed over.  @_ERROR_IO; @_ERROR_DATA names a tensor that is missing or of another "
           "shape. */\n"
           "int $_load_weights($_model *m, const char *path);\n"
           "int $_load_weights_memory($_model *m, const void *bytes, int64_t n);\n\n"
           "/* Everything that a run changes: weights, running statistics, moments, step and seed, "
           "as $_state_size "
           "bytes.\n"
           " * Training that goes on from a state that was set ends with the same bytes as "
           "training that never stopped.\n"
           " * @_ERROR_DATA: the bytes are no state of this model, or damaged. */\n"
           "int64_t $_state_size(const $_model *m);\n"
           "int $_state_get($_model *m, void *to, int64_t bytes);\n"
           "int $_state_set($_model *m, const void *from, int64_t bytes);\n");
}

void gn_aot_header(const gn_aot_object *o, gn_arena *a, gn_buf *out)
{
    writer w = {.o = o, .arena = a, .out = out, .capitals = capitals(a, o->prefix)};
    gn_map_init(&w.names, a);
    gn_map_put(&w.names, "csr", 1); /* $_bind_csr */
    head(&w);
    life(&w);
    spaces(&w);
    graphs(&w);
    relations(&w);
    inputs(&w);
    outputs(&w);
    weights(&w);
    add(&w, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
