/* Rows of several types: papers, their authors, who wrote and who cites what.  A model of all
 * relations learns what papers are about from a third of them, and tells the others.
 *
 *     cc typed.c $(pkg-config --cflags --libs gnnc) -o typed && ./typed hgt.gnn */
#include <gnnc/gnnc.h>

#include <stdio.h>
#include <stdlib.h>

enum { PAPERS = 300, AUTHORS = 60, FEATURES = 4, CLASSES = 3, STEPS = 60, EACH = 3 };

static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    gnnc_status_free(s);
    exit(1);
}

/* What the data have: names are those that models say, `node.paper`, `writes`, `paper.x`. */
static gnnc_compile_options describe(void)
{
    static const gnnc_space spaces[] = {{sizeof(gnnc_space), "paper", -1},
                                        {sizeof(gnnc_space), "author", AUTHORS}}; /* -1: any number
                                                                                   */
    static const gnnc_relation relations[] = {
        {sizeof(gnnc_relation), "writes", "author", "paper", 0},
        {sizeof(gnnc_relation), "written_by", "paper", "author", 0},
        {sizeof(gnnc_relation), "cites", "paper", "paper", 0}};
    static const int64_t row[] = {FEATURES};
    static const gnnc_column columns[] = {
        {sizeof(gnnc_column), "paper.x", {kDLFloat, 32, 1}, 1, row, 0}};
    return (gnnc_compile_options){.size = sizeof(gnnc_compile_options),
                                  .classes = CLASSES,
                                  .train = true,
                                  .spaces = spaces,
                                  .n_spaces = 2,
                                  .relations = relations,
                                  .n_relations = 3,
                                  .columns = columns,
                                  .n_columns = 1};
}

static void relate(gnnc_run *run, const char *name, int n_src, int n_dst, int n, const int32_t *src,
                   const int32_t *dst)
{
    gnnc_graph *relation;
    must(gnnc_relation_from_coo(NULL, n_src, n_dst, n, GNNC_INT32, src, dst, &relation));
    must(gnnc_run_bind_relation(run, name, relation));
    gnnc_graph_free(relation); /* the run keeps it */
}

/* A paper, its authors and what it cites are mostly of one class; features say nothing. */
static void bind_relations(gnnc_run *run)
{
    static int32_t paper[PAPERS * EACH], author[PAPERS * EACH], cited[PAPERS * EACH];
    for (int p = 0, k = 0; p < PAPERS; p++)
        for (int e = 0; e < EACH; e++, k++) {
            int of = rand() % 8 ? p % CLASSES : rand() % CLASSES;
            paper[k] = p;
            author[k] = CLASSES * (rand() % (AUTHORS / CLASSES)) + of;
            cited[k] = CLASSES * (rand() % (PAPERS / CLASSES)) + of;
        }
    relate(run, "writes", AUTHORS, PAPERS, PAPERS * EACH, author, paper);
    relate(run, "written_by", PAPERS, AUTHORS, PAPERS * EACH, paper, author);
    relate(run, "cites", PAPERS, PAPERS, PAPERS * EACH, cited, paper);
}

static void bind(gnnc_run *run, const char *name, DLDataType type, void *data, int columns)
{
    int64_t shape[2] = {PAPERS, columns};
    DLTensor t = {data, {kDLCPU, 0}, columns ? 2 : 1, type, shape, NULL, 0};
    must(gnnc_run_bind(run, name, &t)); /* borrows what it can */
}

static int right(gnnc_run *run)
{
    DLTensor out;
    int n = 0;
    must(gnnc_run_infer(run));
    must(gnnc_run_output(run, "out", &out)); /* a row a paper */
    for (int p = 0; p < PAPERS; p++) {
        const float *score = (const float *)out.data + p * CLASSES;
        int best = 0;
        for (int c = 1; c < CLASSES; c++)
            if (score[c] > score[best]) best = c;
        n += p % 9 >= 3 && best == p % CLASSES;
    }
    return n;
}

int main(int argc, char **argv)
{
    static float x[PAPERS * FEATURES];
    static int32_t y[PAPERS];
    static uint8_t mask[PAPERS];
    if (argc < 2) return fprintf(stderr, "usage: typed model.gnn\n"), 2;
    gnnc_module *module;
    gnnc_executable *exe;
    gnnc_state *state;
    gnnc_run *run;
    gnnc_compile_options options = describe();
    must(gnnc_module_read(NULL, argv[1], &module));
    must(gnnc_compile(module, &options, &exe));
    must(gnnc_state_new(exe, 0, &state));
    must(gnnc_run_new(exe, state, NULL, &run));
    for (int k = 0; k < PAPERS * FEATURES; k++) x[k] = (float)(rand() % 100) / 100;
    for (int p = 0; p < PAPERS; p++) {
        y[p] = p % CLASSES;
        mask[p] = p % 9 < 3;
    }
    bind_relations(run);
    bind(run, "paper.x", (DLDataType){kDLFloat, 32, 1}, x, FEATURES);
    bind(run, "y", (DLDataType){kDLInt, 32, 1}, y, 0);
    bind(run, "train_mask", (DLDataType){kDLUInt, 8, 1}, mask, 0);
    for (int k = 1; k <= STEPS; k++) {
        double loss;
        must(gnnc_run_step(run, &loss));
        if (k == 1 || k == STEPS) printf("step %3d  loss %.4f\n", k, loss);
    }
    printf("of %d papers it has not seen %d are told right\n", PAPERS * 6 / 9, right(run));
    gnnc_run_free(run);
    gnnc_state_free(state);
    gnnc_executable_free(exe);
    gnnc_module_free(module);
    return 0;
}
