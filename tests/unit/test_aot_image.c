/* links: aot tune runtime base */
/* A model's description as bytes of a section, field by field; and one whose code reads wide
 * indices. */
#include "aot/aot.h"
#include "aot/layout.h"
#include "runtime/aot/model.h"
#include "runtime/load/cpu.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Laid out ------------------------------------------------------------------------------------- */

/* Every field holds something: those that are not set below hold 0x11 in all of their bytes, so
 * that one that is forgotten in the layout, and here too, shows.  What counts and points is set. */
#define FULL(s) memset(&(s), 0x11, sizeof(s))

enum { N = 2, CODE = 3 };

typedef struct program {
    gn_artifact artifact;
    gn_sym syms[N];
    gn_slot slots[N];
    gn_launch launches[N];
    gn_graph_slot graphs[N];
    gn_data_column columns[N];
    gn_size_check checks[N];
} program;

static int operands[] = {4, 5, 6, 7, 8, 9};
static const uint8_t access[] = {GN_READS, GN_WRITES, GN_READS | GN_WRITES, GN_READS};

static void make_program(program *p, const char *name)
{
    FULL(*p);
    for (int k = 0; k < N; k++) {
        p->syms[k].name = k ? "edges" : "nodes";
        p->slots[k].name = k ? "x" : NULL;
        p->slots[k].passed_on = true;
        gn_launch *l = &p->launches[k];
        l->name = "launch";
        l->n_buf = 3 + k;
        l->n_sym = 2;
        l->buf = operands + k;
        l->sym = operands + 2;
        l->access = k ? NULL : access;
        l->parallel = true;
        p->graphs[k].name = k ? NULL : "g";
        p->graphs[k].mask_of = k ? "train_mask" : NULL;
        p->graphs[k].pattern_of = k ? NULL : "x";
        p->graphs[k].drawn = p->graphs[k].once = p->graphs[k].time_of_rows = true;
        p->columns[k].drawn = true;
        p->graphs[k].key_of[0] = k ? "rng.seed" : NULL;
        p->graphs[k].key_of[1] = k ? "rng.step" : NULL;
        p->graphs[k].rows.input = k ? NULL : "kind";
        p->columns[k].name = k ? NULL : "kind";
        p->columns[k].rows.input = k ? "kind" : NULL;
    }
    gn_artifact *a = &p->artifact;
    a->name = name;
    a->n_syms = a->n_slots = a->n_launches = a->n_graphs = a->n_checks = a->n_columns = N;
    a->n_code = CODE;
    a->syms = p->syms;
    a->slots = p->slots;
    a->launches = p->launches;
    a->graphs = p->graphs;
    a->checks = p->checks;
    a->columns = p->columns;
    a->code = NULL; /* comes from symbols */
    a->pages = NULL;
    a->remote = NULL;
    a->remote_code = NULL; /* an object has no device, and no file */
}

typedef struct whole {
    gn_aot_image image;
    gn_aot_space spaces[N];
    gn_aot_relation relations[N];
    gn_aot_tensor inputs[N], outputs[N];
    gn_aot_weight weights[N];
    gn_aot_state states[N];
    program program[4];
} whole;

static const float numbers[] = {1, 2, 3, 4};

static void make_image(whole *w)
{
    static const char *const names[] = {"eval", "eval_ahead", "step", "step_ahead"};
    FULL(*w);
    gn_aot_image *g = &w->image;
    g->model = "M";
    g->cpu = "native";
    g->sparse_x = g->one_region[0] = g->one_region[1] = true;
    g->n_spaces = g->n_relations = g->n_inputs = g->n_outputs = g->n_weights = g->n_states = N;
    g->spaces = w->spaces;
    g->relations = w->relations;
    g->inputs = w->inputs;
    g->outputs = w->outputs;
    g->weights = w->weights;
    g->states = w->states;
    for (int k = 0; k < 4; k++) make_program(&w->program[k], names[k]);
    g->eval = &w->program[0].artifact;
    g->eval_ahead = &w->program[1].artifact;
    g->step = &w->program[2].artifact;
    g->step_ahead = &w->program[3].artifact;
    for (int k = 0; k < N; k++) {
        w->spaces[k].name = k ? "author" : "paper";
        w->relations[k].name = k ? "cites" : "writes";
        w->relations[k].read = true;
        w->inputs[k].name = k ? "x" : "y";
        w->outputs[k].name = "out";
        w->states[k].name = k ? "a" : "b";
        w->weights[k].name = "a.weight";
        w->weights[k].state = "a";
        w->weights[k].elems = 4;
        w->weights[k].data = k ? NULL : numbers;
        w->weights[k].init.list = k ? numbers : NULL;
    }
}

/* The section as it lies in memory, addresses filled in. */
typedef struct loaded {
    char *bytes;
    size_t n;
} loaded;

static const char symbols[64]; /* code of kernels: an address each */

static loaded load(const aot_layout *l)
{
    loaded z = {.n = l->bytes.n,
                .bytes = aligned_alloc(AOT_LAYOUT_ALIGN, (l->bytes.n + 63) / 64 * 64)};
    ck_assert_ptr_nonnull(z.bytes);
    memcpy(z.bytes, l->bytes.p, z.n);
    for (uint32_t k = 0; k < l->fixups.n; k++) {
        const aot_fixup *f = &l->fixups.p[k];
        uint64_t there;
        ck_assert_uint_eq(f->at % 8, 0);
        ck_assert_uint_le(f->at + 8, z.n);
        memcpy(&there, z.bytes + f->at, 8);
        ck_assert_uint_eq(there, 0); /* one address a place */
        const char *to = f->symbol < 0 ? z.bytes + f->to : symbols + f->symbol;
        memcpy(z.bytes + f->at, &to, 8);
    }
    return z;
}

#if __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(s, like) __builtin_clear_padding(&(s))
#else /* what the section leaves out is taken to be padding */
#define CLEAR_PADDING(s, like)                                                                     \
    for (size_t byte_ = 0; byte_ < sizeof(s); byte_++)                                             \
        if (!((char *)&(like))[byte_] && ((char *)&(s))[byte_] == 0x11) ((char *)&(s))[byte_] = 0
#endif

/* Structures with their addresses looked at and taken out; what is between fields is zero in the
 * section. */
#define COPIES(T)                                                                                  \
    T a, b;                                                                                        \
    memcpy(&a, laid, sizeof a);                                                                    \
    memcpy(&b, from, sizeof b)
#define SAME()                                                                                     \
    do {                                                                                           \
        CLEAR_PADDING(b, a);                                                                       \
        ck_assert_mem_eq(&a, &b, sizeof a);                                                        \
    } while (0)
#define TEXT(field)                                                                                \
    do {                                                                                           \
        same_bytes(z, a.field, b.field, b.field ? strlen(b.field) + 1 : 0);                        \
        a.field = b.field = NULL;                                                                  \
    } while (0)
#define BYTES(field, n)                                                                            \
    do {                                                                                           \
        same_bytes(z, a.field, b.field, n);                                                        \
        a.field = b.field = NULL;                                                                  \
    } while (0)
#define EACH(field, same)                                                                          \
    do {                                                                                           \
        within(z, a.field, N * sizeof *a.field);                                                   \
        for (int k_ = 0; k_ < N; k_++) same(z, &a.field[k_], &b.field[k_]);                        \
        a.field = b.field = NULL;                                                                  \
    } while (0)

static void within(const loaded *z, const void *p, size_t n)
{
    ck_assert((const char *)p >= z->bytes && (const char *)p + n <= z->bytes + z->n);
}

static void same_bytes(const loaded *z, const void *laid, const void *from, size_t n)
{
    ck_assert_int_eq(laid == NULL, from == NULL);
    if (!from) return;
    within(z, laid, n);
    ck_assert_mem_eq(laid, from, n);
}

static void same_sym(const loaded *z, const gn_sym *laid, const gn_sym *from)
{
    COPIES(gn_sym);
    TEXT(name);
    SAME();
}

static void same_slot(const loaded *z, const gn_slot *laid, const gn_slot *from)
{
    COPIES(gn_slot);
    TEXT(name);
    SAME();
}

static void same_launch(const loaded *z, const gn_launch *laid, const gn_launch *from)
{
    COPIES(gn_launch);
    TEXT(name);
    BYTES(buf, (size_t)b.n_buf * sizeof(int));
    BYTES(sym, (size_t)b.n_sym * sizeof(int));
    BYTES(access, (size_t)b.n_buf);
    ck_assert_ptr_null(a.product); /* what a library has is a device's */
    b.product = NULL;
    SAME();
}

static void same_graph(const loaded *z, const gn_graph_slot *laid, const gn_graph_slot *from)
{
    COPIES(gn_graph_slot);
    TEXT(name);
    TEXT(mask_of);
    TEXT(pattern_of);
    TEXT(key_of[0]);
    TEXT(key_of[1]);
    TEXT(rows.input);
    SAME();
}

static void same_column(const loaded *z, const gn_data_column *laid, const gn_data_column *from)
{
    COPIES(gn_data_column);
    TEXT(name);
    TEXT(rows.input);
    SAME();
}

static void same_check(const loaded *z, const gn_size_check *laid, const gn_size_check *from)
{
    (void)z;
    COPIES(gn_size_check);
    SAME();
}

static void same_artifact(const loaded *z, int number, const gn_artifact *laid,
                          const gn_artifact *from)
{
    within(z, laid, sizeof *laid);
    COPIES(gn_artifact);
    TEXT(name);
    EACH(syms, same_sym);
    EACH(slots, same_slot);
    EACH(launches, same_launch);
    EACH(graphs, same_graph);
    EACH(checks, same_check);
    EACH(columns, same_column);
    within(z, a.code, CODE * sizeof *a.code);
    for (int k = 0; k < CODE; k++) {
        const char *code;
        memcpy(&code, &a.code[k], sizeof code);
        ck_assert_ptr_eq(code, symbols + 10 * number + k);
    }
    a.code = NULL;
    SAME();
}

static void same_space(const loaded *z, const gn_aot_space *laid, const gn_aot_space *from)
{
    COPIES(gn_aot_space);
    TEXT(name);
    SAME();
}

static void same_relation(const loaded *z, const gn_aot_relation *laid, const gn_aot_relation *from)
{
    COPIES(gn_aot_relation);
    TEXT(name);
    SAME();
}

static void same_tensor(const loaded *z, const gn_aot_tensor *laid, const gn_aot_tensor *from)
{
    COPIES(gn_aot_tensor);
    TEXT(name);
    SAME();
}

static void same_weight(const loaded *z, const gn_aot_weight *laid, const gn_aot_weight *from)
{
    COPIES(gn_aot_weight);
    TEXT(name);
    TEXT(state);
    BYTES(data, sizeof numbers);
    BYTES(init.list, sizeof numbers);
    SAME();
}

static void same_state(const loaded *z, const gn_aot_state *laid, const gn_aot_state *from)
{
    COPIES(gn_aot_state);
    TEXT(name);
    SAME();
}

static void same_image(const loaded *z, const gn_aot_image *laid, const gn_aot_image *from)
{
    within(z, laid, sizeof *laid);
    COPIES(gn_aot_image);
    TEXT(model);
    TEXT(cpu);
    EACH(spaces, same_space);
    EACH(relations, same_relation);
    EACH(inputs, same_tensor);
    EACH(outputs, same_tensor);
    EACH(weights, same_weight);
    EACH(states, same_state);
    const gn_artifact *laid_programs[] = {a.eval, a.eval_ahead, a.step, a.step_ahead};
    const gn_artifact *programs[] = {b.eval, b.eval_ahead, b.step, b.step_ahead};
    for (int k = 0; k < 4; k++) same_artifact(z, k, laid_programs[k], programs[k]);
    a.eval = a.eval_ahead = a.step = a.step_ahead = b.eval = b.eval_ahead = b.step = b.step_ahead =
        NULL;
    SAME();
}

START_TEST(every_field)
{
    int code[4][CODE], *codes[4];
    whole w;
    gn_arena a;
    aot_layout l;
    uint64_t at, needs;
    make_image(&w);
    for (int p = 0; p < 4; p++) {
        codes[p] = code[p];
        for (int k = 0; k < CODE; k++) code[p][k] = 10 * p + k;
    }
    gn_arena_init(&a);
    aot_lay_out(&l, &a, &w.image, codes, &at, &needs);
    loaded z = load(&l);
    same_image(&z, (const gn_aot_image *)(void *)(z.bytes + at), &w.image);
    uint64_t there;
    memcpy(&there, z.bytes + needs, sizeof there);
    ck_assert_uint_eq(there, w.image.needs);
    free(z.bytes);
    gn_arena_free(&a);
}
END_TEST

/* Wide ----------------------------------------------------------------------------------------- */

enum { NODES = 5, EDGES = 7, FEATURES = 4, CLASSES = 3 };

/* Its graph is derived from the user's, and x is read by its non-zeros and as it is. */
static const char model_text[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                                 "  a = GCNConv(C)\n  b = Linear(C, bias = false)\n"
                                 "  return relu(a(g, x)) + b(relu(x))\n}\n";

static void ok(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }
static void fine(gn_aot_model *m, int code) { ck_assert_msg(!code, "%s", gn_aot_message(m)); }

/* The model with indices of that width: as it goes into an object, with code that can be called. */
typedef struct made {
    gn_arena arena;
    gn_build build, objects;
    gn_state state;
    gn_aot_object object;
    gn_aot_image image;
} made;

static void make(made *z, const char *text, gn_elem index, bool sparse)
{
    gn_arena *a = &z->arena;
    gn_ast *ast;
    gn_model *m;
    gn_data_shape shape = {.n_features = FEATURES, .n_classes = CLASSES};
    gn_build_options o = {
        .mode = GN_MODE_DEFAULT, .index = index, .sparse = sparse, .pass_limit = -1, .threads = 1};
    memset(z, 0, sizeof *z);
    gn_arena_init(a);
    gn_state_init(&z->state);
    ok(gn_parse(a, text, strlen(text), "m.gnn", &ast));
    ok(gn_elaborate(a, ast, NULL, &shape, 0, NULL, &m));
    ok(gn_build_model(a, m, &o, &z->build));
    o.no_code = o.objects = true;
    ok(gn_build_model(a, m, &o, &z->objects));
    ok(gn_model_add_state(m, &z->objects, &z->state));
    ok(gn_aot_make(a, m, &z->objects, &z->state, &(gn_aot_options){0}, &z->object));
    z->image = z->object.image;
    z->image.eval = z->build.eval.code->artifact;
    if (z->image.eval_ahead) z->image.eval_ahead = z->build.eval.prepare_code->artifact;
    ck_assert_int_eq(z->image.index, index);
    ck_assert_int_eq(z->image.sparse_x, sparse);
}

static void let_go(made *z)
{
    gn_image_free(z->build.image);
    gn_kernel_objects_free(&z->objects.objects);
    gn_state_free(&z->state);
    gn_arena_free(&z->arena);
}

static const int64_t row[] = {0, 2, 3, 3, 6, 7}, src[] = {1, 4, 0, 1, 2, 4, 3},
                     dst[] = {0, 0, 1, 3, 3, 3, 4};
/* Columns stand twice in a row: their values are added. */
static const int64_t x_row[] = {0, 3, 3, 4, 7, 8};
static const int32_t x_column[] = {2, 0, 2, 1, 3, 3, 0, 1};
static const float x_value[] = {1.5f, -2, 0.25f, 3, 1, -4, 0.5f, 2};
static const float x[NODES * FEATURES] = {-2, 0, 1.75f, 0, 0, 0,  0, 0, 0, 3,
                                          0,  0, 0.5f,  0, 0, -3, 0, 2, 0, 0};

static void result(gn_aot_model *m, float *to)
{
    int64_t rows;
    fine(m, gn_aot_infer(m));
    const float *out = gn_aot_output(m, "out", &rows);
    ck_assert_int_eq(rows, NODES);
    memcpy(to, out, NODES * CLASSES * sizeof *to);
}

/* Graphs and features that would fit 32 bits go into code that reads 64: the same results. */
START_TEST(wide)
{
    float first[NODES * CLASSES], got[NODES * CLASSES];
    for (int k = 0; k < 4; k++) {
        made z;
        gn_aot_model *m;
        make(&z, model_text, k & 1 ? GN_I64 : GN_I32, k & 2);
        ck_assert_int_eq(gn_aot_new(&z.image, 0, gn_cpu_features(), 1, 5, &m), 0);
        for (int how = 0; how < 4; how++) {
            if (how & 1)
                fine(m, gn_aot_graph_csr(m, GN_I64, NODES, row, src));
            else
                fine(m, gn_aot_graph_coo(m, GN_I64, NODES, EDGES, src, dst));
            if (k & 2 && how & 2)
                fine(m, gn_aot_bind_csr(m, NODES, x_row, x_column, x_value));
            else
                fine(m, gn_aot_bind(m, "x", NODES, x));
            result(m, got);
            if (!k && !how) memcpy(first, got, sizeof got);
            for (int i = 0; i < NODES * CLASSES; i++)
                ck_assert_msg(fabsf(got[i] - first[i]) < 1e-5f, "%d, %d: number %d is %g, not %g",
                              k, how, i, (double)got[i], (double)first[i]);
        }
        gn_aot_free(m);
        let_go(&z);
    }
    float sum = 0;
    for (int i = 0; i < NODES * CLASSES; i++) sum += fabsf(first[i]);
    ck_assert(sum > 0.1f);
}
END_TEST

/* Where no edge is read the graph may be left out: data say how many nodes there are. */
START_TEST(nodes_alone)
{
    static const char text[] = "model M() (g: graph, x: node[F]) -> node[C] {\n"
                               "  a = Linear(C)\n  return softmax(a(x), axis = 0)\n}\n";
    made z;
    gn_aot_model *m;
    int64_t rows;
    for (int sparse = 0; sparse < 2; sparse++) {
        make(&z, text, GN_I32, sparse);
        ck_assert_int_eq(gn_aot_new(&z.image, 0, gn_cpu_features(), 1, 5, &m), 0);
        ck_assert_int_eq(gn_aot_infer(m), GN_ERR_USAGE);
        ck_assert_str_eq(gn_aot_message(m), "input 'x' is not bound");
        for (int64_t n = NODES; n > 2; n--) {
            fine(m, gn_aot_bind(m, "x", n, x));
            fine(m, gn_aot_infer(m));
            ck_assert(gn_aot_output(m, "out", &rows) && rows == n);
        }
        fine(m, gn_aot_graph_coo(m, GN_I64, NODES, EDGES, src, dst));
        ck_assert_int_eq(gn_aot_infer(m), GN_ERR_DATA);
        fine(m, gn_aot_bind(m, "x", NODES, x));
        fine(m, gn_aot_infer(m));
        gn_aot_free(m);
        let_go(&z);
    }
}
END_TEST

/* Inputs whose names differ in capitals alone have macros and functions of their own. */
START_TEST(names_in_capitals)
{
    static const char
        text[] = "model M() (g: graph, x: node[F], X: node[2], scale: node[F]) -> node[2] {\n"
                 "  a = GCNConv(2)\n  return a(g, x * scale) + X\n}\n";
    made z;
    gn_ast *ast;
    gn_model *m;
    gn_buf header;
    gn_data_shape shape = {.n_features = FEATURES, .n_classes = CLASSES};
    gn_build_options o = {.mode = GN_MODE_DEFAULT,
                          .index = GN_I32,
                          .pass_limit = -1,
                          .threads = 1,
                          .no_code = true,
                          .objects = true};
    memset(&z, 0, sizeof z);
    gn_arena_init(&z.arena);
    gn_state_init(&z.state);
    header = (gn_buf){.arena = &z.arena};
    ok(gn_parse(&z.arena, text, strlen(text), "m.gnn", &ast));
    ok(gn_elaborate(&z.arena, ast, NULL, &shape, 0, NULL, &m));
    ok(gn_build_model(&z.arena, m, &o, &z.objects));
    ok(gn_model_add_state(m, &z.objects, &z.state));
    ok(gn_aot_make(&z.arena, m, &z.objects, &z.state, &(gn_aot_options){0}, &z.object));
    gn_aot_header(&z.object, &z.arena, &header);
    static const char *const says[] = {"#define M_X_COLUMNS 4\n", "#define M_X_2_COLUMNS 2\n",
                                       " m_bind_x(", " m_bind_X_2("};
    for (size_t k = 0; k < sizeof says / sizeof *says; k++) {
        const char *at = strstr(header.p, says[k]);
        ck_assert_msg(at && !strstr(at + 1, says[k]), "not once: %s", says[k]);
    }
    let_go(&z);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, every_field);
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, wide);
        tcase_add_test(t, nodes_alone);
        tcase_add_test(t, names_in_capitals);
    }
    return RUN_CASES("aot image", t);
}
