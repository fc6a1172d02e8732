/* Cells of a grid by their keys: what a measurement depends on, so that --resume takes nothing over
 * that has changed. */
#include "cli/bench/bench.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gn_arena arena;
static gn_cli cli;
static char folder[64];

static const char *in_folder(const char *name)
{
    return gn_arena_printf(&arena, "%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "a");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void setup(void)
{
    gn_arena_init(&arena);
    cli = (gn_cli){.arena = &arena};
    gn_cli_options_init(&cli.opt);
    strcpy(folder, "/tmp/gnnc-plan-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put("m.gnn",
        "model M() (g: graph, x: node[F]) -> node[C] {\n  lin = Linear(C)\n  return lin(x)\n}\n");
    ck_assert_int_eq(mkdir(in_folder("data"), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder("data/raw"), 0777), 0);
    put("data/b", "b");
    put("data/a", "a");
    put("data/raw/c", "c");
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    gn_arena_free(&arena);
}

/* Of the one cell on the folder's data. */
static gn_cell *planned(void)
{
    gn_bench *b = GN_NEW(&arena, gn_bench);
    gn_grid_text t = {.data = in_folder("data"), .modes = "eager", .threads = "1"};
    *b = (gn_bench){.cli = &cli, .arena = &arena, .model = in_folder("m.gnn")};
    ck_assert_ptr_null(gn_grid_parse(&arena, &t, &b->grid));
    GN_PUSH(&arena, b->grid.models, in_folder("m.gnn"));
    ck_assert_ptr_null(gn_bench_plan(b));
    ck_assert_int_eq(b->n_cells, 1);
    return &b->cells[0];
}

static void changed(gn_cell **was, bool want)
{
    gn_cell *is = planned();
    ck_assert_int_eq(strcmp(is->key, (*was)->key) != 0, want);
    ck_assert_int_eq(strcmp(is->id, (*was)->id) != 0, want);
    *was = is;
}

/* A folder's files and those of its raw/ are its data, in whatever order the system lists them. */
START_TEST(folders)
{
    gn_cell *c = planned();
    const char *a = strstr(c->key, "data/a size 1 "), *b = strstr(c->key, "data/b size 1 ");
    ck_assert(a && b && a < b && strstr(b, "data/raw/c size 1 "));
    changed(&c, false);
    put("data/a", "more");
    changed(&c, true);
    put("data/raw/c", "more");
    changed(&c, true);
    put("data/raw/d", "");
    changed(&c, true);
    ck_assert_int_eq(rename(in_folder("data/b"), in_folder("data/e")), 0);
    changed(&c, true);
    ck_assert_int_eq(mkdir(in_folder("data/results"), 0777), 0); /* what no reader looks at */
    put("data/results/f", "f");
    changed(&c, false);
}
END_TEST

START_TEST(models)
{
    gn_cell *c = planned();
    put("m.gnn", "# a comment\n");
    changed(&c, true);
}
END_TEST

START_TEST(devices)
{
    gn_cell *c = planned();
    cli.opt.device = "cpu";
    changed(&c, false);
    cli.opt.device = "cuda";
    changed(&c, true);
}
END_TEST

static gn_status *plan_of(gn_bench *b, const char *first, const char *second)
{
    gn_grid_text t = {.data = in_folder("data"), .modes = "eager,default", .threads = "1,2"};
    *b = (gn_bench){.cli = &cli, .arena = &arena};
    ck_assert_ptr_null(gn_grid_parse(&arena, &t, &b->grid));
    GN_PUSH(&arena, b->grid.models, in_folder(first));
    GN_PUSH(&arena, b->grid.models, in_folder(second));
    return gn_bench_plan(b);
}

/* Models are an axis; a cell of one of several has the key that it has alone, so that a report may
 * grow. */
START_TEST(several_models)
{
    gn_bench b;
    const gn_cell *alone = planned();
    put("n.gnn", "model N() (g: graph, x: node[F]) -> node[C] {\n  return Linear(C)(x)\n}\n");
    ck_assert_int_eq(mkdir(in_folder("sub"), 0777), 0);
    put("sub/m.gnn", "# another m\n");
    ck_assert_ptr_null(plan_of(&b, "m.gnn", "n.gnn"));
    ck_assert_int_eq(b.n_cells, 8);
    for (int k = 0; k < 8; k++) {
        ck_assert_str_eq(b.cells[k].model, in_folder(k < 4 ? "m.gnn" : "n.gnn"));
        ck_assert_str_eq(gn_bench_model_label(&b, &b.cells[k]), k < 4 ? "m" : "n");
        for (int i = 0; i < k; i++) ck_assert_str_ne(b.cells[i].id, b.cells[k].id);
    }
    ck_assert_str_eq(b.cells[0].key, alone->key);
    ck_assert_ptr_null(plan_of(&b, "m.gnn", "sub/m.gnn")); /* of one name: their paths */
    ck_assert_str_eq(gn_bench_model_label(&b, &b.cells[0]), in_folder("m.gnn"));
    ck_assert_str_eq(gn_bench_model_label(&b, &b.cells[4]), in_folder("sub/m.gnn"));
}
END_TEST

static void refused(const char *first, const char *second, gn_code code, const char *want)
{
    gn_bench b;
    gn_status *s = plan_of(&b, first, second);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(gn_status_code(s), code);
    ck_assert_msg(strstr(gn_status_message(s), want) != NULL, "%s", gn_status_message(s));
    gn_status_free(s);
}

START_TEST(models_refused)
{
    put("copy.gnn",
        "model M() (g: graph, x: node[F]) -> node[C] {\n  lin = Linear(C)\n  return lin(x)\n}\n");
    refused("m.gnn", "m.gnn", GN_ERR_USAGE, "are the same model");
    refused("m.gnn", "copy.gnn", GN_ERR_USAGE, "copy.gnn' are the same model");
    refused("m.gnn", "none.gnn", GN_ERR_IO, "none.gnn");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("plan");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, folders);
    tcase_add_test(t, models);
    tcase_add_test(t, devices);
    tcase_add_test(t, several_models);
    tcase_add_test(t, models_refused);
    return RUN_CASES("bench_plan", t);
}
