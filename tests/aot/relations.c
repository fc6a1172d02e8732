/* A program around a model of several types of rows: -DMODEL=<prefix>, -DHEADER="<prefix>.h".
 *
 *     relations DATA infer|infer32 WEIGHTS OUT   the model's output, with weights from safetensors;
 *                                                infer32: after one of other edges, data first
 *     relations DATA train STEPS SEED OUT        trains, then the output
 *     relations DATA resume STEPS SEED OUT       the same, gone on with half-way by another model
 *     relations DATA memory                      every allocation fails in turn (WRAP)
 *     relations DATA errors                      what is said of what does not fit, a line each
 *
 * NO_STEP: it does not train.  DATA is a folder: `relations` has a line for each, "name n_src n_dst
 * n_edges", of which NAME.src and NAME.dst have the ends (int64); `columns` has "name rows",
 * NAME.bin its elements. */
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define M(name) JOIN(MODEL, name)

typedef M(model) model;

enum { MOST = 32 };

typedef struct edges {
    char name[64];
    long n_src, n_dst, n;
    int64_t *src, *dst;
} edges;

typedef struct column {
    char name[64];
    long rows;
    void *data;
} column;

static int n_relations, n_columns;
static edges relations[MOST];
static column columns[MOST];

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void must(model *m, int code)
{
    if (code) fail("error", M(message)(m));
}

/* In memory of exactly its size, so that a checker sees what reads past its end. */
static void *read_file(const char *folder, const char *name, const char *end)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    FILE *f = fopen(path, "rb");
    if (!f) fail(path, "cannot be read");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    void *p = malloc(size ? size : 1);
    if (!p || fread(p, 1, size, f) != size) fail(path, "cannot be read");
    fclose(f);
    return p;
}

static FILE *open_list(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f) fail(path, "cannot be read");
    return f;
}

static void read_data(const char *folder)
{
    FILE *f = open_list(folder, "relations");
    for (edges *e = relations;
         fscanf(f, "%63s %ld %ld %ld", e->name, &e->n_src, &e->n_dst, &e->n) == 4; e++) {
        e->src = read_file(folder, e->name, ".src");
        e->dst = read_file(folder, e->name, ".dst");
        n_relations++;
    }
    fclose(f);
    f = open_list(folder, "columns");
    for (column *c = columns; fscanf(f, "%63s %ld", c->name, &c->rows) == 2; c++) {
        c->data = read_file(folder, c->name, ".bin");
        n_columns++;
    }
    fclose(f);
}

/* GRAPH: there is one, RELATIONS: there are others. */
static int give(model *m, const edges *e)
{
#ifdef GRAPH
    if (!strcmp(e->name, "g")) return M(graph_coo)(m, e->n_src, e->n, e->src, e->dst);
#endif
#ifdef RELATIONS
    return M(relation_coo)(m, e->name, e->n_src, e->n_dst, e->n, e->src, e->dst);
#else
    return m && e;
#endif
}

static int give_narrow(model *m, const edges *e, const int32_t *src, const int32_t *dst)
{
#ifdef GRAPH
    if (!strcmp(e->name, "g")) return M(graph_coo32)(m, e->n_src, e->n, src, dst);
#endif
#ifdef RELATIONS
    return M(relation_coo32)(m, e->name, e->n_src, e->n_dst, e->n, src, dst);
#else
    return m && e && src == dst;
#endif
}

static void relate(model *m, const edges *e, int narrow)
{
    if (!narrow) {
        must(m, give(m, e));
        return;
    }
    int32_t *ends = malloc(2 * (size_t)e->n * sizeof *ends + 1);
    for (long k = 0; k < e->n; k++) {
        ends[k] = (int32_t)e->src[k];
        ends[e->n + k] = (int32_t)e->dst[k];
    }
    must(m, give_narrow(m, e, ends, ends + e->n));
    free(ends);
}

/* Its edges with their destinations in the order from the last to the first. */
static void relate_others(model *m, const edges *e)
{
    int64_t *dst = malloc((size_t)e->n * sizeof *dst + 1);
    for (long k = 0; k < e->n; k++) dst[k] = e->dst[e->n - 1 - k];
    edges other = *e;
    other.dst = dst;
    must(m, give(m, &other));
    free(dst);
}

/* Columns first, where that is asked for: in any order. */
static model *make(uint64_t seed, int narrow)
{
    model *m;
    int code = M(new)(2, seed, &m);
    must(m, code);
    for (int k = 0; k < n_relations && !narrow; k++) relate(m, &relations[k], 0);
    for (int k = 0; k < n_columns; k++)
        must(m, M(bind)(m, columns[k].name, columns[k].rows, columns[k].data));
    for (int k = 0; k < n_relations && narrow; k++) relate_others(m, &relations[k]);
    if (narrow) must(m, M(infer)(m));
    for (int k = 0; k < n_relations && narrow; k++) relate(m, &relations[k], 1);
    return m;
}

static void write_output(model *m, const char *to)
{
    int64_t n = 0;
    must(m, M(infer)(m));
    const float *out = M(output_out)(m, &n);
    FILE *f = fopen(to, "wb");
    if (!out || !f) fail("output", M(message)(m));
    fwrite(out, sizeof *out, (size_t)(n * OUT_COLUMNS), f);
    fclose(f);
}

#ifndef NO_STEP
static void train(int resumed, int steps, uint64_t seed, const char *to)
{
    model *m = make(seed, 0);
    double loss = 0;
    for (int k = 0; k < steps; k++) {
        must(m, M(train_step)(m, &loss));
        if (!resumed || k != steps / 2) continue;
        int64_t n = M(state_size)(m);
        void *state = malloc((size_t)n);
        must(m, M(state_get)(m, state, n));
        M(free)(m);
        m = make(seed + 1, 0);
        must(m, M(state_set)(m, state, n));
        free(state);
    }
    write_output(m, to);
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
static int all(model *m)
{
    int code = 0;
    for (int k = 0; k < n_columns && !code; k++)
        code = M(bind)(m, columns[k].name, columns[k].rows, columns[k].data);
    for (int k = 0; k < n_relations && !code; k++) code = give(m, &relations[k]);
    if (!code) code = M(infer)(m);
    return code ? code : M(train_step)(m, NULL);
}

static void memory(void)
{
    int code = -1;
    long cuts = 0;
    for (long k = 1; code; k++, cuts++) {
        model *m;
        fuse = k;
        code = M(new)(2, 0, &m);
        if (!code) code = all(m);
        int cut = !fuse;
        fuse = 0;
        if (cut != (code != 0) || (cut && code != 6)) fail("memory", M(message)(m));
        if (m && code) { /* what failed is done again */
            int again = all(m);
            if (again && again != code) fail("again", M(message)(m));
        }
        M(free)(m);
    }
    printf("%ld allocations\n", cuts);
}
#endif

static void say(const char *what, model *m, int code)
{
    printf("%s: %d %s\n", what, code, code ? M(message)(m) : "");
}

/* Of the model with papers and authors. */
static void errors(void)
{
#ifdef AUTHORS
    model *m, *other;
    const int64_t ends[] = {0, 1};
    int code = M(new)(1, 0, &m);
    must(m, code);
    say("relation", m, M(relation_coo)(m, "write", 2, 2, 0, NULL, NULL));
    say("no name", m, M(relation_coo)(m, NULL, 2, 2, 0, NULL, NULL));
    say("graph", m, M(relation_coo)(m, "g", 2, 2, 0, NULL, NULL));
    say("rows", m, M(bind_writes)(m, AUTHORS + 1, 2, 0, NULL, NULL));
    say("end", m, M(bind_writes)(m, AUTHORS, 1, 2, ends, ends));
    say("square", m, M(bind_cites)(m, 3, 2, 0, NULL, NULL));
    say("column", m, M(bind)(m, "autor.z", 2, ends));
    say("column's rows", m, M(bind_author_z)(m, AUTHORS + 1, (const float *)(const void *)ends));
    say("nothing", m, M(infer)(m));
    M(free)(m);
    m = make(0, 0);
    say("fits", m, M(infer)(m));
    must(m, M(bind_writes)(m, AUTHORS, 2, 0, NULL, NULL));
    say("edges", m, M(infer)(m));
    say("other", m, M(share)(m, 1, &other));
    say("apart", other, M(infer)(other));
    M(free)(other);
    must(m, M(bind_writes_year)(m, 0, NULL));
    say("papers", m, M(infer)(m));
    say("no result", m, M(output_out)(m, NULL) ? 0 : 2);
    M(free)(m);
    say("no model", NULL, M(relation_coo32)(NULL, "writes", 0, 0, 0, NULL, NULL) ? 0 : 1);
#endif
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    read_data(argv[1]);
    if (!strcmp(argv[2], "errors")) errors();
#ifdef WRAP
    if (!strcmp(argv[2], "memory")) memory();
#endif
    if (argc == 5) {
        model *m = make(3, !strcmp(argv[2], "infer32"));
        must(m, M(load_weights)(m, argv[3]));
        write_output(m, argv[4]);
        M(free)(m);
    }
#ifndef NO_STEP
    if (argc == 6)
        train(!strcmp(argv[2], "resume"), atoi(argv[3]), (uint64_t)atoi(argv[4]), argv[5]);
#endif
    for (int k = 0; k < n_relations; k++) {
        free(relations[k].src);
        free(relations[k].dst);
    }
    for (int k = 0; k < n_columns; k++) free(columns[k].data);
    return 0;
}
