/* The samples that take several types of rows or several relations, through the public API: what
 * they compute and how they train is what the command line's sessions do on the same data, whose
 * schema says what to compile for and what to bind. */
/* timeout: 180 */
#include "unit/api_memory.h"
#define API_KEEPS_CODE
#include "unit/api_world.h"

#include "base/data_name.h"
#include "tune/start.h"

#include <math.h>
#include <unistd.h>

enum { STEPS = 4, SEED = 5, MOST = 64 };

static const gnnc_define small_facts[] = {{"dim", "6"},
                                          {"batch", "12"},
                                          {"drawn", "7"},
                                          {"init", "0.5"}},
                         small_hgt[] = {{"hidden", "8"}};
static const struct {
    const char *sample, *data; /* "@": a folder of that name, which is made here */
    const gnnc_define *defines;
    int n_defines;
} cases[] = {
    {"hgt", "synthetic:typed,scale=0.0002,classes=3,features=8", small_hgt, 1},
    {"rgcn", "@entities", NULL, 0},
    {"distmult", "@facts", small_facts, 4},
    {"gin_graphs", "@rings", NULL, 0},
    {"links", NULL, NULL, 0},
};

/* Data ----------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/gnnc-api-samples.XXXXXX";

static FILE *open_file(const char *name, const char *how)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, how);
    ck_assert_msg(f != NULL, "%s", path);
    return f;
}

static void entities(void)
{
    FILE *f = open_file("triples.int.csv", "w");
    for (int v = 0; v < 30; v++) fprintf(f, "%d,0,%d\n%d,1,%d\n", v, 30 + v % 3, v, (v + 3) % 30);
    fclose(f);
    f = open_file("training.int.csv", "w");
    for (int v = 0; v < 18; v++) fprintf(f, "%d,%d\n", v, v % 3);
    fclose(f);
    f = open_file("testing.int.csv", "w");
    for (int v = 18; v < 30; v++) fprintf(f, "%d,%d\n", v, v % 3);
    fclose(f);
}

static void facts(void)
{
    static const char *const parts[] = {"train.txt", "valid.txt", "test.txt"};
    for (int part = 0; part < 3; part++) {
        FILE *f = open_file(parts[part], "w");
        for (int v = part ? 2 * part : 0; v < 24; v += part ? 12 : 1)
            fprintf(f, "e%d\tnext\te%d\ne%d\tbefore\te%d\n", v, (v + 1 + part) % 24,
                    (v + 1 + part) % 24, v);
        fclose(f);
    }
}

static void rings(void)
{
    static const char *const names[] = {"RINGS_A.txt", "RINGS_graph_indicator.txt",
                                        "RINGS_graph_labels.txt", "RINGS_node_attributes.txt"};
    FILE *f[4];
    for (int k = 0; k < 4; k++) f[k] = open_file(names[k], "w");
    for (int g = 0, first = 1; g < 20; g++) {
        int n = 4 + g % 3;
        for (int v = 0; v < n; v++) {
            fprintf(f[0], "%d, %d\n%d, %d\n", first + v, first + (v + 1) % n, first + (v + 1) % n,
                    first + v);
            fprintf(f[1], "%d\n", g + 1);
            fprintf(f[3], "%d.%d, -%d.5\n", (7 * v + g) % 5, (3 * g + v) % 10, (v + g) % 3);
        }
        fprintf(f[2], "%d\n", g % 2);
        first += n;
    }
    for (int k = 0; k < 4; k++) fclose(f[k]);
}

static const char *data_of(int k)
{
    const char *data = cases[k].data;
    if (!data || *data != '@') return data;
    if (!strcmp(data, "@entities")) entities();
    if (!strcmp(data, "@facts")) facts();
    if (!strcmp(data, "@rings")) rings();
    return folder;
}

/* The session that the API is compared with --------------------------------------------------- */

static gn_arena arena;

static void fine(gn_status *s) { ck_assert_msg(!s, "%s", gn_status_message(s)); }

static const char *path_of(int k)
{
    return gn_arena_printf(&arena, "samples/%s.gnn", cases[k].sample);
}

static gn_session *open_session(int k)
{
    gn_session_options o = {.path = path_of(k),
                            .n_defines = cases[k].n_defines,
                            .data = {.path = data_of(k), .normalize_rows = -1, .undirected = -1},
                            .threads = 1,
                            .epochs = -1,
                            .pass_limit = -1,
                            .train = true,
                            .keep_static = true};
    gn_define *d = GN_NEW_N(&arena, gn_define, o.n_defines + 1);
    for (int j = 0; j < o.n_defines; j++)
        d[j] = (gn_define){cases[k].defines[j].name, cases[k].defines[j].value};
    o.defines = d;
    o.without.decisions = (gn_switches)1 << GN_DO_SHARE_ARENA; /* edges are looked at below */
    gn_session *s;
    fine(gn_session_new(&arena, &o, &s));
    fine(gn_session_reset(s, SEED));
    return s;
}

/* The same through the API --------------------------------------------------------------------- */

/* Relations that `each graph` does not name are the schema's first. */
static int first_relation(const gn_session *s) { return s->data->typed || s->data->kinds_split; }

static DLDataType type_of(gn_elem e)
{
    return e == GN_F32   ? (DLDataType){kDLFloat, 32, 1}
           : e == GN_I32 ? (DLDataType){kDLInt, 32, 1}
                         : (DLDataType){kDLBool, 8, 1};
}

static bool is_own_column(const gn_schema_column *c)
{
    return strchr(c->name, '.') && !gn_is_data_name(c->name);
}

static gnnc_compile_options describe(const gn_session *s, int k)
{
    const gn_schema *m = &s->schema;
    gnnc_space *spaces = GN_NEW_N(&arena, gnnc_space, m->n_spaces + 1);
    gnnc_relation *relations = GN_NEW_N(&arena, gnnc_relation, m->n_relations + 1);
    gnnc_column *columns = GN_NEW_N(&arena, gnnc_column, m->n_columns + 1);
    gnnc_compile_options o = {.size = sizeof o,
                              .defines = cases[k].defines,
                              .n_defines = (size_t)cases[k].n_defines,
                              .features = s->data->n_features,
                              .classes = s->data->n_classes,
                              .train = true,
                              .fixed = true, /* as the command line has it */
                              .spaces = spaces,
                              .relations = relations,
                              .columns = columns,
                              .labelled = m->space[m->labelled].name};
    for (int j = s->data->typed; j < m->n_spaces; j++)
        spaces[o.n_spaces++] = (gnnc_space){sizeof(gnnc_space), m->space[j].name, m->space[j].rows};
    for (int j = first_relation(s); j < m->n_relations; j++) {
        const gn_schema_relation *r = &m->relation[j];
        relations[o.n_relations++] = (gnnc_relation){
            sizeof(gnnc_relation), r->name, m->space[r->src].name, m->space[r->dst].name, r->edges};
    }
    for (int j = 0; j < m->n_columns; j++) {
        const gn_schema_column *c = &m->column[j];
        if (!is_own_column(c)) continue;
        columns[o.n_columns++] = (gnnc_column){sizeof(gnnc_column),
                                               c->name,
                                               type_of(c->elem),
                                               c->rank,
                                               c->dim,
                                               c->elem == GN_I32 ? c->classes : 0};
    }
    return o;
}

static void give_relation(gnnc_run *r, const gn_schema *m, int k, int64_t n, const int64_t *src,
                          const int64_t *dst)
{
    gnnc_graph *g;
    const gn_schema_relation *of = &m->relation[k];
    ok(gnnc_relation_from_coo(usual_context(), m->space[of->src].rows, m->space[of->dst].rows, n,
                              GNNC_INT64, src, dst, &g));
    ok(gnnc_run_bind_relation(r, of->name, g));
    gnnc_graph_free(g);
}

/* What the model does not read cannot be bound. */
static void give_column(gnnc_run *r, const char *name, gn_elem elem, int64_t rows, int rank,
                        const int64_t *dim, const void *data)
{
    int64_t shape[1 + GN_COLUMN_RANK] = {rows};
    DLDataType type = type_of(elem);
    for (int d = 0; d < rank; d++) shape[d + 1] = dim[d];
    DLTensor t = tensor((void *)(uintptr_t)data, rank + 1, shape, type.code, type.bits);
    gnnc_status *s = data ? gnnc_run_bind(r, name, &t) : NULL;
    ck_assert_msg(!s || strstr(gnnc_status_message(s), "has no input"), "%s",
                  gnnc_status_message(s));
    gnnc_status_free(s);
}

static void bind_data(gnnc_run *r, gn_session *s)
{
    const gn_dataset *d = s->data;
    const gn_schema *m = &s->schema;
    int64_t rows = gn_dataset_labelled(d);
    if (!first_relation(s)) give_relation(r, m, 0, d->n_edges, d->src, d->dst);
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *l = &d->relations[k];
        give_relation(r, m, k + 1, l->n_edges, l->from, l->to);
    }
    if (d->x_csr && !s->x_dense) {
        s->x_dense = calloc((size_t)(d->n_nodes * d->n_features), sizeof(float));
        for (int64_t v = 0; v < d->n_nodes; v++)
            for (int64_t k = d->x_csr->ptr[v]; k < d->x_csr->ptr[v + 1]; k++)
                s->x_dense[v * d->n_features + d->x_csr->col[k]] = d->x_csr->val[k];
    }
    give_column(r, GN_NAME_X, GN_F32, d->n_nodes, 1, &d->n_features, d->x ? d->x : s->x_dense);
    give_column(r, GN_NAME_Y, GN_I32, rows, 0, NULL, d->y);
    give_column(r, GN_NAME_TRAIN_MASK, GN_BOOL, rows, 0, NULL, d->train_mask);
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        int64_t n = c->on_edges ? gn_dataset_edges(d, c->over) : gn_dataset_rows(d, c->over);
        ck_assert(!c->csr);
        give_column(r, c->name, c->elem, n, c->rank, c->dim, c->data);
    }
}

static bench open_api(gn_session *s, int k)
{
    bench b;
    gnnc_compile_options o = describe(s, k);
    ok(gnnc_module_read(usual_context(), path_of(k), &b.module));
    ok(gnnc_compile(b.module, &o, &b.exe));
    ok(gnnc_state_new(b.exe, SEED, &b.state));
    ok(gnnc_run_new(b.exe, b.state, NULL, &b.run));
    bind_data(b.run, s);
    return b;
}

/* Compared ------------------------------------------------------------------------------------- */

static bool near(double a, double b) { return fabs(a - b) <= 2e-5 * (1 + fabs(b)); }

static void same_result(gn_session *s, bench *b)
{
    gn_result want;
    DLTensor out;
    double sum = 0;
    fine(gn_session_eval(s));
    fine(gn_session_fetch(s));
    fine(gn_session_result(s, 0, &want));
    ok(gnnc_run_infer(b->run));
    ok(gnnc_run_output(b->run, "out", &out));
    ck_assert_int_eq(out.ndim, want.rank);
    for (int d = 0; d < want.rank; d++) ck_assert_int_eq(out.shape[d], want.dim[d]);
    for (int64_t k = 0; k < want.n_rows * want.row_elems; k++) {
        double is = (double)((const float *)out.data)[k], expected = gn_result_at(&want, k);
        ck_assert_msg(near(is, expected), "number %d: %g, not %g", (int)k, is, expected);
        sum += fabs(expected);
    }
    ck_assert(sum > 1e-3);
    gn_result_free(&want);
}

static void same_steps(gn_session *s, bench *b)
{
    double want, got;
    for (int k = 0; k < STEPS; k++) {
        fine(gn_session_step(s, &want));
        ok(gnnc_run_step(b->run, &got));
        ck_assert_msg(near(got, want), "step %d: a loss of %g, not %g", k, got, want);
    }
}

static char *file(const char *name) { return gn_arena_printf(&arena, "%s/%s", folder, name); }

/* Trained weights of the session in the API's state.  (Its own may differ from them: biases in
 * front of a norm have a gradient of 0, so what Adam makes of it is rounding.)  And a state that is
 * gone on with has the bits of one that was not left. */
static void same_files(gn_session *s, bench *b, int k)
{
    bench other = open_api(s, k);
    double on, went;
    fine(gn_session_save(s, file("w.safetensors")));
    ok(gnnc_state_load_weights(other.state, file("w.safetensors")));
    same_result(s, &other);
    ok(gnnc_state_save(b->state, file("state")));
    ok(gnnc_state_load(other.state, file("state")));
    for (int j = 0; j < 2; j++) {
        ok(gnnc_run_step(b->run, &on));
        ok(gnnc_run_step(other.run, &went));
        ck_assert_msg(on == went, "%.9g, not %.9g", went, on);
    }
    tear_down(&other);
}

START_TEST(as_the_command_line)
{
    gn_arena_init(&arena);
    ck_assert(mkdtemp(folder) != NULL);
    gn_session *s = open_session(_i);
    bench b = open_api(s, _i);
    same_result(s, &b);
    same_steps(s, &b);
    same_files(s, &b, _i);
    tear_down(&b);
    gn_session_free(s);
    remove_all(folder);
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    gn_arena_free(&arena);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("samples");
    if (GNNC_HAVE_LLVM)
        tcase_add_loop_test(c, as_the_command_line, 0, sizeof cases / sizeof *cases);
    tcase_set_timeout(c, 150);
    return RUN_CASES("api, samples", c);
}
