/* labels: long */
/* timeout: 300 */
/* Layers over several types of rows and kinds of edges through the public API: outputs to 1e-5 and
 * gradients of weights to 1e-4 of what PyTorch Geometric computed (typed.py).  A gradient is what a
 * step of plain descent takes off a weight; what it leaves in buffers is compared like outputs. */
#define API_KEEPS_CODE
#include "unit/api_world.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/sanitized.h"
#include "runtime/data/tensorfile.h"

#include <dirent.h>
#include <math.h>

static const double OUT_TOLERANCE = 1e-5, GRAD_TOLERANCE = 1e-4;
enum { MOST = 16, CASES = 18 };

typedef struct typed_case {
    gn_arena arena;
    gn_tensor_file *file;
    int n_spaces, n_relations, n_columns;
    gnnc_space spaces[MOST];
    gnnc_relation relations[MOST];
    gnnc_column columns[MOST];
    const gn_named_tensor *x, *attr; /* NULL: none */
    int64_t shape[MOST][1];
    const char *text;
} typed_case;

static int64_t rows_of(const typed_case *c, const char *space)
{
    for (int k = 0; k < c->n_spaces; k++)
        if (!strcmp(c->spaces[k].name, space)) return c->spaces[k].rows;
    ck_abort_msg("no space %s", space);
    return 0;
}

/* "writes author paper;cites paper paper": the next entry's words. */
static int words(char **at, char *out[3])
{
    int n = 0;
    char *end = strchr(*at, ';');
    if (end) *end = 0;
    for (char *w = *at; *w && n < 3; n++) {
        out[n] = w;
        w += strcspn(w, " ");
        if (*w) *w++ = 0;
    }
    *at = end ? end + 1 : *at + strlen(*at);
    return n;
}

static void read_schema(typed_case *c)
{
    char *w[3], *spaces = gn_arena_strdup(&c->arena, gn_tensor_file_meta(c->file, "spaces")),
                *relations = gn_arena_strdup(&c->arena, gn_tensor_file_meta(c->file, "relations"));
    for (char *out[3]; *spaces && words(&spaces, out) == 2;)
        c->spaces[c->n_spaces++] = (gnnc_space){sizeof(gnnc_space), out[0], atoll(out[1])};
    while (*relations && words(&relations, w) == 3)
        c->relations[c->n_relations++] = (gnnc_relation){sizeof(gnnc_relation), w[0], w[1], w[2],
                                                         0};
}

static void add_column(typed_case *c, const char *name, const gn_named_tensor *t)
{
    bool ints = t->elem == GN_I64;
    ck_assert_int_lt(c->n_columns, MOST);
    c->shape[c->n_columns][0] = t->rank > 1 ? t->dim[1] : 1;
    c->columns[c->n_columns] = (gnnc_column){
        sizeof(gnnc_column),    name, {ints ? kDLInt : kDLFloat, ints ? 64 : 32, 1}, t->rank > 1,
        c->shape[c->n_columns], 0};
    if (ints) c->columns[c->n_columns].values = atoll(gn_tensor_file_meta(c->file, "kinds"));
    c->n_columns++;
}

static const char *model_of(const typed_case *c)
{
    return strstr(gn_tensor_file_meta(c->file, "model"), "model M");
}

/* Rows of the result: "paper" of `node.paper[5]`, "writes" of `edge.writes`, "g" of `edge`. */
static const char *result_space(typed_case *c)
{
    const char *result = NULL, *model = model_of(c), *end = strstr(model, " {");
    for (const char *at = model; (at = strstr(at, "-> ")) && at < end;) result = at += 3;
    size_t kind = strcspn(result, ".[ ");
    if (!strncmp(result, "edge ", 5) || !strncmp(result, "edge[", 5)) return "g";
    const char *space = result[kind] == '.' ? result + kind + 1 : result;
    return gn_arena_printf(&c->arena, "%.*s", (int)strcspn(space, "[ "), space);
}

/* Features of all types, numbers of edges, and what the result is multiplied with. */
static void read_columns(typed_case *c)
{
    for (int k = 0; k < c->file->n; k++) {
        const gn_named_tensor *t = &c->file->tensors[k];
        bool param = !strncmp(t->name, "param.", 6) || !strncmp(t->name, "grad.", 5) ||
                     !strncmp(t->name, "after.", 6);
        if (!strchr(t->name, '.') || param || !strncmp(t->name, "edges.", 6)) continue;
        if (!strcmp(t->name, "node.x")) /* these two have names of their own */
            c->x = t;
        else if (!strcmp(t->name, "g.attr"))
            c->attr = t;
        else
            add_column(c, t->name, t);
    }
    add_column(c, gn_arena_printf(&c->arena, "%s.cot", result_space(c)),
               gn_tensor_file_find(c->file, "cot"));
}

/* "M(g, x)": the call, by the names of the inputs. */
static void add_call(gn_buf *b, const char *model)
{
    const char *at = strchr(strchr(model, ')'), '('), *sep = "";
    gn_buf_add(b, "M(");
    for (int depth = 0; depth || *at != ')'; at++) {
        depth += *at == '[';
        depth -= *at == ']';
        if ((*at != '(' && *at != ',') || depth) continue;
        const char *name = at + 1 + strspn(at + 1, " \n");
        gn_buf_printf(b, "%s%.*s", sep, (int)strcspn(name, ":"), name);
        sep = ", ";
    }
    gn_buf_add(b, ")");
}

/* What the only nodes have besides `x`, which a train block does not know by itself. */
static void declare_column(gn_buf *b, const gnnc_column *column)
{
    const char *name = column->name + strlen("node.");
    bool own = !strncmp(column->name, "node.", strlen("node.")) && column->type.code == kDLFloat;
    if (own && strcmp(name, "cot") != 0)
        gn_buf_printf(b, "  input %s: node[%lld]\n", name, (long long)column->shape[0]);
}

static void open_case(typed_case *c, const char *path)
{
    memset(c, 0, sizeof *c);
    gn_arena_init(&c->arena);
    ck_assert_msg(!gn_safetensors_read(path, &c->file), "%s", path);
    read_schema(c);
    read_columns(c);
    const char *model = gn_tensor_file_meta(c->file, "model"), *over = result_space(c);
    gn_buf b = {.arena = &c->arena};
    bool alone = !strcmp(over, "node") || !strcmp(over, "graph"), edges = false;
    const gn_named_tensor *cot = gn_tensor_file_find(c->file, "cot");
    for (int k = 0; k < c->n_relations; k++) edges |= !strcmp(c->relations[k].name, over);
    gn_buf_printf(&b, "%strain M {\n  input cot: %s%s", model,
                  edges   ? "edge."
                  : alone ? ""
                          : "node.",
                  over);
    if (cot->rank > 1) gn_buf_printf(&b, "[%lld]", (long long)cot->dim[1]);
    gn_buf_add(&b, "\n");
    for (int k = 0; k < c->n_columns; k++) declare_column(&b, &c->columns[k]);
    gn_buf_add(&b, "  loss = sum(");
    add_call(&b, model_of(c));
    gn_buf_add(&b, " * cot)\n  optimizer = sgd(lr = 1.0)\n}\n");
    c->text = b.p;
}

static void bind_matrix(gnnc_run *r, const char *name, const gn_named_tensor *t)
{
    DLTensor d = tensor(t->data, 2, (int64_t *)t->dim, kDLFloat, 32);
    gnnc_status_free(gnnc_run_bind(r, name, &d)); /* which not every model reads */
}

static void bind_all(typed_case *c, gnnc_run *r)
{
    for (int k = 0; k < c->n_relations; k++) {
        const gnnc_relation *to = &c->relations[k];
        const gn_named_tensor *t = gn_tensor_file_find(
            c->file, gn_arena_printf(&c->arena, "edges.%s", to->name));
        const int64_t *ends = t->data;
        gnnc_graph *g;
        ok(gnnc_relation_from_coo(usual_context(), rows_of(c, to->src), rows_of(c, to->dst),
                                  t->dim[1], GNNC_INT64, ends, ends + t->dim[1], &g));
        ok(gnnc_run_bind_relation(r, to->name, g));
        gnnc_graph_free(g);
    }
    for (int k = 0; k < c->n_columns; k++) {
        const char *name = c->columns[k].name;
        bool cot = strstr(name, ".cot") != NULL, ints = c->columns[k].type.code == kDLInt;
        const gn_named_tensor *t = gn_tensor_file_find(c->file, cot ? "cot" : name);
        int64_t shape[] = {t->dim[0], t->rank > 1 ? t->dim[1] : 1};
        DLTensor d = tensor(t->data, t->rank, shape, ints ? kDLInt : kDLFloat, ints ? 64 : 32);
        gnnc_status *s = gnnc_run_bind(r, name, &d);
        if (s && !cot) /* which this model does not read */
            gnnc_status_free(s);
        else
            ok(s);
    }
    if (c->x) bind_matrix(r, "x", c->x);
    if (c->attr) bind_matrix(r, "g.attr", c->attr);
}

/* Elements of a view in the order of its shape. */
static double at(const DLTensor *v, int64_t i)
{
    int64_t offset = 0;
    for (int d = v->ndim; d-- > 0; i /= v->shape[d]) offset += i % v->shape[d] * v->strides[d];
    return (double)((const float *)v->data)[offset];
}

static int64_t size_of(const DLTensor *v)
{
    int64_t n = 1;
    for (int d = 0; d < v->ndim; d++) n *= v->shape[d];
    return n;
}

static const gn_named_tensor *recorded(typed_case *c, const char *prefix, const char *name,
                                       int64_t n)
{
    const gn_named_tensor *t = gn_tensor_file_find(
        c->file, gn_arena_printf(&c->arena, "%s.%s", prefix, name));
    ck_assert_msg(t != NULL, "nothing is recorded for %s.%s", prefix, name);
    int64_t m = 1;
    for (int d = 0; d < t->rank; d++) m *= t->dim[d];
    ck_assert_msg(m == n, "%s.%s has %lld elements, not %lld", prefix, name, (long long)m,
                  (long long)n);
    return t;
}

static void set_weights(typed_case *c, gnnc_state *s, int n)
{
    for (int k = 0; k < n; k++) {
        DLTensor v;
        int64_t room[16];
        const char *name;
        ok(gnnc_state_weight(s, k, &name, &v, room));
        const float *from = recorded(c, "param", name, size_of(&v))->data;
        for (int64_t i = 0; i < size_of(&v); i++) {
            int64_t offset = 0, j = i;
            for (int d = v.ndim; d-- > 0; j /= v.shape[d]) offset += j % v.shape[d] * v.strides[d];
            ((float *)v.data)[offset] = from[i];
        }
    }
}

static void expect_near(const char *what, double got, double want, double largest, double tolerance)
{
    ck_assert_msg(fabs(got - want) <= tolerance * fmax(1, largest), "%s: %.9g, not %.9g", what, got,
                  want);
}

static double largest_of(const double *p, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(p[i]));
    return most;
}

static void check_out(typed_case *c, gnnc_run *r, const char *path)
{
    DLTensor out;
    ok(gnnc_run_infer(r));
    ok(gnnc_run_output(r, "out", &out));
    const gn_named_tensor *t = gn_tensor_file_find(c->file, "out");
    const double *want = t->data;
    int64_t n = size_of(&out);
    ck_assert_msg(out.ndim == t->rank, "%s", path);
    for (int d = 0; d < t->rank; d++) ck_assert_msg(out.shape[d] == t->dim[d], "%s", path);
    for (int64_t i = 0; i < n; i++)
        expect_near(path, (double)((float *)out.data)[i], want[i], largest_of(want, n),
                    OUT_TOLERANCE);
}

static void check_step(typed_case *c, gnnc_run *r, gnnc_state *s, int n)
{
    ok(gnnc_run_step(r, NULL));
    for (int k = 0; k < n; k++) {
        DLTensor v;
        int64_t room[16];
        const char *name;
        ok(gnnc_state_weight(s, k, &name, &v, room));
        const char *grad = gn_arena_printf(&c->arena, "grad.%s", name);
        bool buffer = !gn_tensor_file_find(c->file, grad);
        int64_t m = size_of(&v);
        const double *want = recorded(c, buffer ? "after" : "grad", name, m)->data;
        const float *was = recorded(c, "param", name, m)->data;
        for (int64_t i = 0; i < m; i++)
            expect_near(buffer ? name : grad, buffer ? at(&v, i) : (double)was[i] - at(&v, i),
                        want[i], largest_of(want, m), buffer ? OUT_TOLERANCE : GRAD_TOLERANCE);
    }
}

static void run_case(const char *path, const char *mode)
{
    typed_case c;
    bench b;
    gnnc_executable_info info = {.size = sizeof info};
    open_case(&c, path);
    gnnc_compile_options o = {.size = sizeof o, .train = true, .mode = mode};
    o.spaces = c.spaces;
    o.n_spaces = (size_t)c.n_spaces;
    o.relations = c.relations;
    o.n_relations = (size_t)c.n_relations;
    o.columns = c.columns;
    o.n_columns = (size_t)c.n_columns;
    o.features = c.x ? c.x->dim[1] : 0;
    o.edge_features = c.attr ? c.attr->dim[1] : 0;
    ok(gnnc_module_parse(usual_context(), c.text, strlen(c.text), path, &b.module));
    ok(gnnc_compile(b.module, &o, &b.exe));
    gnnc_executable_describe(b.exe, &info);
    ok(gnnc_state_new(b.exe, 1, &b.state));
    ok(gnnc_run_new(b.exe, b.state, NULL, &b.run));
    set_weights(&c, b.state, info.parameters);
    bind_all(&c, b.run);
    check_out(&c, b.run, path);
    check_step(&c, b.run, b.state, info.parameters);
    tear_down(&b);
    gn_tensor_file_free(c.file);
    gn_arena_free(&c.arena);
}

enum { FILES = 1024 };
static char *paths[FILES];

/* Where GNNC_LONG is, each case in every mode that does not search; else in one of them, with
 * sanitizers one case in eight, and of those without edges one in three. */
START_TEST(recorded_case)
{
    static const char *const modes[] = {"default", "eager", "reduce-overhead"};
    const char *name = strrchr(paths[_i], '/') + 1;
    uint64_t first = gn_hash_bytes(name, strlen(name), 0), part = first / 3;
    bool every = GN_UNDER_ASAN || GN_UNDER_TSAN ? part % 8 == 0
                                                : !strstr(name, "_edgeless") || part % 3 == 0;
    first %= 3;
    if (!every && !suite_long()) return;
    for (uint64_t k = 0; k < (suite_long() ? 3 : 1); k++)
        run_case(paths[_i], modes[(first + k) % 3]);
}
END_TEST

int main(void)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    char folder[1024];
    int n = 0;
    snprintf(folder, sizeof folder, "%s/tests/conform/typed", root ? root : ".");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && n < FILES && (e = readdir(d));) {
        if (!strstr(e->d_name, ".safetensors")) continue;
        size_t size = strlen(folder) + strlen(e->d_name) + 2;
        paths[n] = malloc(size);
        snprintf(paths[n++], size, "%s/%s", folder, e->d_name);
    }
    if (d) closedir(d);
    if (n < CASES) {
        fprintf(stderr, "%d cases in %s\n", n, folder);
        return 1;
    }
    TCase *t = tcase_create("typed");
    tcase_add_loop_test(t, recorded_case, 0, n);
    tcase_set_timeout(t, 60);
    int failed = RUN_CASES("conform, typed", t);
    for (int k = 0; k < n; k++) free(paths[k]);
    return failed;
}
