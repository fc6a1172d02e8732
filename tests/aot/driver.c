/* A program around a model compiled ahead of time: -DMODEL=<prefix>, -DHEADER="<prefix>.h".
 *
 *     driver DATA infer WEIGHTS OUT       the model's output (WEIGHTS -: those that it has)
 *     driver DATA train STEPS SEED OUT    trains; all weights, one after another as WEIGHTS lists
 *                                         them, then the output
 *     driver DATA resume STEPS SEED OUT   the same, stopped half-way and gone on with by another
 *                                         model
 *     driver DATA csr|coo32|csr32|share WEIGHTS OUT   as infer, otherwise given
 *     driver DATA load FILE OUT           as infer, with weights from safetensors, by way of memory
 *                                         too
 *     driver DATA threads WEIGHTS OUT     as infer, by models that share weights, each on a thread
 *                                         of its own
 *     driver DATA memory FILE             every allocation fails in turn (WRAP: linked with --wrap)
 *     driver DATA errors                  each misuse and what is said of it, a line each
 *
 * DATA is a folder of plain arrays: nodes and edges in `sizes`, src, dst (int64), x, y and masks,
 * weight (of edges). WEIGHTS and `weights` in DATA: lines of name and number of elements in
 * NAME.txt, their floats in NAME.bin. */
#include HEADER

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define M(name) JOIN(MODEL, name)

typedef M(model) model;

enum { MOST_WEIGHTS = 64 };

static struct {
    int64_t nodes, edges;
    int64_t *src, *dst;
    float *x, *weight;
    int32_t *y;
    uint8_t *train_mask;
} data;

static struct {
    int n;
    char name[MOST_WEIGHTS][128];
    int64_t size[MOST_WEIGHTS];
    float *values[MOST_WEIGHTS];
} weights;

static void *fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* A whole file, in memory of exactly its size, so that a checker sees what reads past its end;
 * NULL: there is none. */
static void *read_file(const char *folder, const char *name, size_t *n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(size ? size : 1);
    if (!p || fread(p, 1, size, f) != size) fail(path, "cannot be read");
    fclose(f);
    if (n) *n = size;
    return p;
}

static void read_data(const char *folder)
{
    size_t n;
    char *sizes = read_file(folder, "sizes", &n);
    int64_t *s = (int64_t *)(void *)sizes;
    if (!s || n != 2 * sizeof *s) fail(folder, "no sizes");
    data.nodes = s[0];
    data.edges = s[1];
    free(sizes);
    data.src = read_file(folder, "src", NULL);
    data.dst = read_file(folder, "dst", NULL);
    data.x = read_file(folder, "x", NULL);
    data.y = read_file(folder, "y", NULL);
    data.train_mask = read_file(folder, "train_mask", NULL);
    data.weight = read_file(folder, "weight", NULL);
}

static void read_weights(const char *name)
{
    char file[1024], *line;
    size_t n;
    snprintf(file, sizeof file, "%s.txt", name);
    FILE *list = fopen(file, "r");
    snprintf(file, sizeof file, "%s.bin", name);
    float *values = read_file("", file, &n);
    if (!list || !values) fail(name, "no weights");
    while (weights.n < MOST_WEIGHTS && (line = weights.name[weights.n]) &&
           fscanf(list, "%127s %ld", line, (long *)&weights.size[weights.n]) == 2)
        weights.n++;
    fclose(list);
    float *at = values;
    for (int k = 0; k < weights.n; k++) {
        size_t bytes = (size_t)weights.size[k] * sizeof *at;
        weights.values[k] = memcpy(malloc(bytes + 1), at, bytes);
        at += weights.size[k];
    }
    if ((size_t)(at - values) * sizeof *at != n) fail(name, "of another size");
    free(values);
}

static void must(model *m, int code)
{
    if (code) fail("error", M(message)(m));
}

static model *make(int threads, uint64_t seed)
{
    model *m;
    int code = M(new)(threads, seed, &m);
    must(m, code);
    return m;
}

static void set_weights(model *m)
{
    for (int k = 0; k < weights.n; k++)
        must(m, M(weight_set)(m, weights.name[k], weights.values[k], weights.size[k]));
}

static void bind(model *m, int with_labels)
{
    must(m, M(bind_x)(m, data.nodes, data.x));
#ifdef WEIGHTED
    must(m, M(bind_g_weight)(m, data.edges, data.weight));
#endif
#ifdef OWN /* inputs that the model declares: rows of 2, and one row of 3 */
    static float two[4096];
    static const float three[] = {3, 3, 3};
    for (int k = 0; k < 4096; k++) two[k] = 2;
    must(m, M(bind_scale)(m, data.nodes, two));
    must(m, M(bind_shift)(m, three));
#endif
#ifdef TRAINS
    if (with_labels) must(m, M(bind_y)(m, data.nodes, data.y));
#ifndef NO_MASK
    if (with_labels) must(m, M(bind_train_mask)(m, data.nodes, data.train_mask));
#endif
#else
    (void)with_labels;
#endif
}

static int32_t *narrow(const int64_t *p, int64_t n)
{
    int32_t *to = malloc((size_t)n * sizeof *to + 1);
    for (int64_t k = 0; k < n; k++) to[k] = (int32_t)p[k];
    return to;
}

/* Edges come sorted by destination, so rows can be counted off. */
static int64_t *rows(void)
{
    int64_t *row = calloc((size_t)data.nodes + 1, sizeof *row);
    for (int64_t e = 0; e < data.edges; e++) row[data.dst[e] + 1]++;
    for (int64_t v = 0; v < data.nodes; v++) row[v + 1] += row[v];
    return row;
}

static void give_graph(model *m, const char *how)
{
    if (!strcmp(how, "csr") || !strcmp(how, "csr32")) {
        int64_t *row = rows();
        int32_t *row32 = narrow(row, data.nodes + 1), *src32 = narrow(data.src, data.edges);
        must(m, !strcmp(how, "csr") ? M(graph_csr)(m, data.nodes, row, data.src)
                                    : M(graph_csr32)(m, data.nodes, row32, src32));
        free(row);
        free(row32);
        free(src32);
    } else if (!strcmp(how, "coo32")) {
        int32_t *src = narrow(data.src, data.edges), *dst = narrow(data.dst, data.edges);
        must(m, M(graph_coo32)(m, data.nodes, data.edges, src, dst));
        free(src);
        free(dst);
    } else {
        must(m, M(graph_coo)(m, data.nodes, data.edges, data.src, data.dst));
    }
}

static void write_output(model *m, FILE *f)
{
    int64_t n = 0;
    const float *out = M(output_out)(m, &n);
    if (!out) fail("output", M(message)(m));
    fwrite(out, sizeof *out, (size_t)(n * OUT_COLUMNS), f);
}

static void load(model *m, const char *path)
{
    size_t n;
    void *bytes = read_file("", path, &n);
    must(m, M(load_weights)(m, path));
    must(m, M(reset)(m, 5));
    must(m, M(load_weights_memory)(m, bytes, (int64_t)n));
    free(bytes);
}

static void *infer_many(void *p)
{
    model *m = p;
    give_graph(m, "coo");
    bind(m, 0);
    for (int k = 0; k < 200; k++) must(m, M(infer)(m));
    return NULL;
}

/* The first model goes on in threads of the others. */
static void infer_on_threads(model *m)
{
    enum { OTHERS = 3 };
    pthread_t thread[OTHERS];
    model *other[OTHERS];
    for (int k = 0; k < OTHERS; k++) {
        must(m, M(share)(m, 1 + k % 2, &other[k]));
        if (pthread_create(&thread[k], NULL, infer_many, other[k]))
            fail("thread", "cannot be made");
    }
    infer_many(m);
    int64_t n = 0;
    const float *want = M(output_out)(m, &n);
    for (int k = 0; k < OTHERS; k++) {
        pthread_join(thread[k], NULL);
        const float *got = M(output_out)(other[k], NULL);
        if (!got || memcmp(got, want, (size_t)(n * OUT_COLUMNS) * sizeof *got) != 0)
            fail("threads", "results differ");
        M(free)(other[k]);
    }
}

#ifdef OWN
/* Results that are bound in the place of what they were made of, as they are and copied before. */
static void go_round(model *m)
{
    int64_t n = 0;
    float *kept[2];
    for (int way = 0; way < 2; way++) {
        float *copy = malloc((size_t)(data.nodes * OUT_COLUMNS) * sizeof *copy);
        bind(m, 0);
        for (int k = 0; k < 3; k++) {
            must(m, M(infer)(m));
            const float *out = M(output_out)(m, &n);
            memcpy(copy, out, (size_t)(n * OUT_COLUMNS) * sizeof *copy);
            must(m, M(bind_scale)(m, n, way ? copy : out));
        }
        kept[way] = copy;
    }
    if (memcmp(kept[0], kept[1], (size_t)(n * OUT_COLUMNS) * sizeof(float)) != 0)
        fail("round", "results differ");
    bind(m, 0);
    free(kept[0]);
    free(kept[1]);
}
#endif

static void infer(const char *how, const char *from, const char *to)
{
    model *m = make(2, 0), *other = NULL;
    if (!strcmp(how, "load")) {
        load(m, from);
    } else if (strcmp(from, "-") != 0) {
        read_weights(from);
        set_weights(m);
    }
    if (!strcmp(how, "threads")) infer_on_threads(m);
    if (!strcmp(how, "share")) {
        must(m, M(share)(m, 1, &other));
        M(free)(m); /* the weights stay */
        m = other;
    }
    give_graph(m, how);
    bind(m, 0);
    must(m, M(infer)(m));
    must(m, M(infer)(m));
#ifdef OWN
    go_round(m);
    must(m, M(infer)(m));
#endif
    FILE *f = fopen(to, "wb");
    write_output(m, f);
    fclose(f);
    M(free)(m);
}

#ifdef TRAINS
static model *handed_over(model *m)
{
    int64_t n = M(state_size)(m);
    void *state = malloc((size_t)n);
    must(m, M(state_get)(m, state, n));
    M(free)(m);
    model *next = make(1, 99);
    must(next, M(state_set)(next, state, n));
    free(state);
    give_graph(next, "coo");
    bind(next, 1);
    return next;
}

static void train(const char *how, int steps, uint64_t seed, const char *list, const char *to)
{
    model *m = make(3, seed);
    double loss = 0;
    give_graph(m, "coo");
    bind(m, 1);
    for (int k = 0; k < steps; k++) {
        must(m, M(train_step)(m, &loss));
        if (k == steps / 2 && !strcmp(how, "resume")) m = handed_over(m);
        if (k == 1) bind(m, 1); /* once more, of the same: nothing changes */
    }
    must(m, M(infer)(m));
    FILE *f = fopen(to, "wb");
    read_weights(list);
    for (int k = 0; k < weights.n; k++) {
        must(m, M(weight_get)(m, weights.name[k], weights.values[k], weights.size[k]));
        fwrite(weights.values[k], sizeof(float), (size_t)weights.size[k], f);
    }
    write_output(m, f);
    fclose(f);
    printf("loss %.9g\n", loss);
    M(free)(m);
}
#endif

#ifdef WRAP
static long fuse; /* 0: none is cut; else that many allocations from now one is */

void *__real_malloc(size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n) { return fuse && --fuse == 0 ? NULL : __real_malloc(n); }
void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return fuse && --fuse == 0 ? NULL : __real_aligned_alloc(align, n);
}

/* What a program does, up to the first call that fails; its code. */
static int all(model *m, const void *file, int64_t n)
{
    int code = M(load_weights_memory)(m, file, n);
    if (!code) code = M(graph_coo)(m, data.nodes, data.edges, data.src, data.dst);
    if (!code) code = M(bind_x)(m, data.nodes, data.x);
    if (!code) code = M(bind_g_weight)(m, data.edges, data.weight);
    if (!code) code = M(infer)(m);
    if (!code) code = M(bind_y)(m, data.nodes, data.y);
    if (!code) code = M(bind_train_mask)(m, data.nodes, data.train_mask);
    if (!code) code = M(train_step)(m, NULL);
    return code;
}

static void memory(const char *path)
{
    size_t n;
    void *file = read_file("", path, &n);
    int code = -1;
    long cuts = 0;
    for (long k = 1; code; k++) {
        model *m;
        fuse = k;
        code = M(new)(2, 0, &m);
        if (!code) code = all(m, file, (int64_t)n);
        int cut = !fuse;
        cuts += cut;
        fuse = 0;
        if (cut && code && (code != 6 || !strstr(M(message)(m), "out of memory")))
            fail("memory", M(message)(m));
        if (cut != (code != 0))
            fail("memory", cut ? "an allocation failed and nobody said so" : M(message)(m));
        if (m && code && cut) { /* what failed is done again */
            int again = all(m, file, (int64_t)n);
            if (again && again != code) fail("again", M(message)(m));
        }
        M(free)(m);
    }
    printf("%ld allocations\n", cuts);
    free(file);
}
#endif

static void say(const char *what, model *m, int code)
{
    printf("%s: %d %s\n", what, code, code ? M(message)(m) : "");
}

/* Every function that is given a model, given none. */
static int without_model(void)
{
    model *m = NULL;
    float w[4];
    int64_t rows;
    int codes[] = {M(share)(NULL, 1, &m),
                   M(share)(NULL, 1, NULL),
                   M(new)(1, 0, NULL),
                   M(graph_coo)(NULL, data.nodes, data.edges, data.src, data.dst),
                   M(graph_csr)(NULL, 0, data.src, data.src),
                   M(graph_coo32)(NULL, 0, 0, NULL, NULL),
                   M(graph_csr32)(NULL, 0, NULL, NULL),
                   M(bind_x)(NULL, data.nodes, data.x),
                   M(infer)(NULL),
#ifdef TRAINS
                   M(train_step)(NULL, NULL),
#endif
                   M(reset)(NULL, 1),
                   M(weight_get)(NULL, WEIGHT, w, 4),
                   M(weight_set)(NULL, WEIGHT, w, 4),
                   M(load_weights)(NULL, "none"),
                   M(load_weights_memory)(NULL, w, 4),
                   M(state_get)(NULL, w, 4),
                   M(state_set)(NULL, w, 4)};
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
        if (codes[k] != codes[0]) return -(int)k;
    return m || M(output)(NULL, "out", &rows) || M(state_size)(NULL) ? -1 : codes[0];
}

static void errors(void)
{
    model *m;
    const int64_t far[2] = {0, 7}, rows_down[3] = {0, 2, 1}, rows_late[3] = {1, 1, 1};
    const int32_t wrong[2] = {-1, 4};
    float few[4] = {0};
    int code = M(new)(1, 0, &m);
    say("new", m, code);
    say("early", m, M(infer)(m));
    say("end", m, M(graph_coo)(m, 3, 2, far, far));
    say("negative", m, M(graph_coo)(m, -1, 0, NULL, NULL));
    say("no ends", m, M(graph_coo)(m, 3, 2, NULL, NULL));
    say("descending", m, M(graph_csr)(m, 2, rows_down, far));
    say("late", m, M(graph_csr)(m, 2, rows_late, far));
    give_graph(m, "coo");
    say("unbound", m, M(infer)(m));
    say("input", m, M(bind)(m, "X", 1, few));
    say("address", m, M(bind_x)(m, data.nodes, NULL));
    say("aligned", m,
        M(bind_x)(m, data.nodes, (const float *)(const void *)((const char *)data.x + 1)));
    say("output", m, M(output)(m, "out", NULL) ? 0 : 2);
    say("weight", m, M(weight_set)(m, "convs.0.bia", few, 4));
    say("elements", m, M(weight_get)(m, WEIGHT, few, 2));
    say("state", m, M(state_set)(m, few, 4));
    bind(m, 1);
    must(m, M(bind_x)(m, data.nodes - 1, data.x));
    say("rows", m, M(infer)(m));
    bind(m, 1);
    say("infer", m, M(infer)(m));
    say("label", m, M(bind)(m, "y", 2, wrong));
    say("no place", m, M(share)(m, 1, NULL));
    say("no model", NULL, without_model());
    say("no name", m, M(bind)(m, NULL, 1, few));
    say("no output's name", m, M(output)(m, NULL, NULL) ? 0 : 2);
    say("no weight's name", m, M(weight_get)(m, NULL, few, 4));
    say("no path", m, M(load_weights)(m, NULL));
    say("no output", m, M(output)(m, "on", NULL) ? 0 : 2);
    M(free)(m);
    code = M(new)(-1, 0, &m);
    say("negative threads", m, code);
    say("and then", m, M(infer)(m));
    M(free)(m);
    M(free)(NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    read_data(argv[1]);
    if (!strcmp(argv[2], "errors")) errors();
#ifdef TRAINS
    else if (argc == 7)
        train(argv[2], atoi(argv[3]), (uint64_t)atoi(argv[4]), argv[5], argv[6]);
#endif
#ifdef WRAP
    else if (argc == 4)
        memory(argv[3]);
#endif
    else if (argc == 5)
        infer(argv[2], argv[3], argv[4]);
    for (int k = 0; k < weights.n; k++) free(weights.values[k]);
    free(data.src);
    free(data.dst);
    free(data.x);
    free(data.y);
    free(data.train_mask);
    free(data.weight);
    return 0;
}
