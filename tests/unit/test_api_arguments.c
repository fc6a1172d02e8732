/* The public API, given nothing or what is no argument: NULL where something is needed is an error
 * with the function's name and the argument's; tensors without elements need no data; labels are
 * classes. */
/* timeout: 120 */
#include "unit/api_world.h"

#define NO_TENSOR ((DLTensor *)NULL)
#define NEEDS(call, words) refused(call, GNNC_ERROR_USAGE, words)

/* What is given out is NULL where a function fails, whatever argument was missing. */
#define GIVES_NOTHING(out, call, words)                                                            \
    do {                                                                                           \
        out = (void *)&w;                                                                          \
        NEEDS(call, words);                                                                        \
        ck_assert((out) == NULL);                                                                  \
    } while (0)

START_TEST(makers)
{
    world w = make_world(1, 4, 6);
    bench b = set_up(plain, (gnnc_compile_options){.train = true}, 1);
    gnnc_compile_options o = {.size = sizeof o, .features = F, .classes = C};
    gnnc_module *m;
    gnnc_graph *g;
    gnnc_executable *e;
    gnnc_state *s;
    gnnc_run *r;
    char *text;
    NEEDS(gnnc_context_new(NULL, NULL), "gnnc_context_new: `out` is NULL");
    NEEDS(gnnc_module_parse(NULL, plain, strlen(plain), NULL, NULL),
          "gnnc_module_parse: `out` is NULL");
    GIVES_NOTHING(m, gnnc_module_parse(NULL, NULL, 3, NULL, &m),
                  "gnnc_module_parse: `text` is NULL");
    NEEDS(gnnc_module_read(NULL, "m.gnn", NULL), "gnnc_module_read: `out` is NULL");
    GIVES_NOTHING(m, gnnc_module_read(NULL, NULL, &m), "gnnc_module_read: `path` is NULL");
    NEEDS(gnnc_graph_from_coo(NULL, 4, 6, GNNC_INT32, w.src, w.dst, NULL),
          "gnnc_graph_from_coo: `out` is NULL");
    GIVES_NOTHING(g, gnnc_graph_from_coo(NULL, 4, 6, GNNC_INT32, NULL, w.dst, &g),
                  "gnnc_graph_from_coo: `src` is");
    GIVES_NOTHING(g, gnnc_graph_from_coo(NULL, 4, 6, GNNC_INT32, w.src, NULL, &g),
                  "gnnc_graph_from_coo: `dst` is");
    NEEDS(gnnc_graph_from_csr(NULL, 3, GNNC_INT32, w.src, w.dst, NULL),
          "gnnc_graph_from_csr: `out` is NULL");
    GIVES_NOTHING(g, gnnc_graph_from_csr(NULL, 3, GNNC_INT32, NULL, w.dst, &g),
                  "gnnc_graph_from_csr: `row` is");
    NEEDS(gnnc_compile(b.module, &o, NULL), "gnnc_compile: `out` is NULL");
    GIVES_NOTHING(e, gnnc_compile(NULL, &o, &e), "gnnc_compile: `m` is NULL");
    GIVES_NOTHING(e, gnnc_compile(b.module, NULL, &e), "gnnc_compile: `options` is NULL");
    gnnc_define d[2] = {{"hidden", "3"}, {"p", NULL}};
    o.defines = d;
    o.n_defines = 2;
    GIVES_NOTHING(e, gnnc_compile(b.module, &o, &e), "gnnc_compile: `defines[1].value` is NULL");
    d[0].name = NULL;
    GIVES_NOTHING(e, gnnc_compile(b.module, &o, &e), "gnnc_compile: `defines[0].name` is NULL");
    o.defines = NULL;
    GIVES_NOTHING(e, gnnc_compile(b.module, &o, &e), "gnnc_compile: `defines` is NULL, of 2");
    NEEDS(gnnc_state_new(b.exe, 1, NULL), "gnnc_state_new: `out` is NULL");
    GIVES_NOTHING(s, gnnc_state_new(NULL, 1, &s), "gnnc_state_new: `e` is NULL");
    NEEDS(gnnc_run_new(b.exe, b.state, NULL, NULL), "gnnc_run_new: `out` is NULL");
    GIVES_NOTHING(r, gnnc_run_new(NULL, b.state, NULL, &r), "gnnc_run_new: `e` is NULL");
    GIVES_NOTHING(r, gnnc_run_new(b.exe, NULL, NULL, &r), "gnnc_run_new: `s` is NULL");
    NEEDS(gnnc_doctor(NULL), "gnnc_doctor: `text` is NULL");
    NEEDS(gnnc_executable_emit(b.exe, "gir", NULL), "gnnc_executable_emit: `text` is NULL");
    GIVES_NOTHING(text, gnnc_executable_emit(NULL, "gir", &text),
                  "gnnc_executable_emit: `e` is NULL");
    GIVES_NOTHING(text, gnnc_executable_emit(b.exe, NULL, &text),
                  "gnnc_executable_emit: `stage` is NULL");
    NEEDS(gnnc_executable_explain(b.exe, NULL), "gnnc_executable_explain: `text` is NULL");
    GIVES_NOTHING(text, gnnc_executable_explain(NULL, &text),
                  "gnnc_executable_explain: `e` is NULL");
    tear_down(&b);
    end_world(&w);
}
END_TEST

/* Whatever was refused, the objects are as they were. */
START_TEST(users)
{
    world w = make_world(1, 4, 6);
    bench b = set_up(plain, (gnnc_compile_options){.train = true}, 1);
    gnnc_program_info p = {.size = sizeof p};
    gnnc_tuning_info t = {.size = sizeof t};
    int64_t numbers[16], row[] = {0, 0};
    DLTensor x = x_of(&w), view;
    bind_world(b.run, &w, true);
    float *before = infer(b.run, w.n);
    NEEDS(gnnc_executable_program(NULL, 0, &p), "gnnc_executable_program: `e` is NULL");
    NEEDS(gnnc_executable_program(b.exe, 0, NULL), "gnnc_executable_program: `info` is NULL");
    NEEDS(gnnc_executable_tuning(NULL, 0, false, &t), "gnnc_executable_tuning: `e` is NULL");
    NEEDS(gnnc_executable_tuning(b.exe, 0, false, NULL), "gnnc_executable_tuning: `info` is NULL");
    NEEDS(gnnc_executable_lock(NULL, "a.lock"), "gnnc_executable_lock: `e` is NULL");
    NEEDS(gnnc_executable_lock(b.exe, NULL), "gnnc_executable_lock: `path` is NULL");
    NEEDS(gnnc_state_load_weights(NULL, "w"), "gnnc_state_load_weights: `s` is NULL");
    NEEDS(gnnc_state_load_weights(b.state, NULL), "gnnc_state_load_weights: `path` is NULL");
    NEEDS(gnnc_state_save_weights(NULL, "w"), "gnnc_state_save_weights: `s` is NULL");
    NEEDS(gnnc_state_save_weights(b.state, NULL), "gnnc_state_save_weights: `path` is NULL");
    NEEDS(gnnc_state_load(NULL, "w"), "gnnc_state_load: `s` is NULL");
    NEEDS(gnnc_state_load(b.state, NULL), "gnnc_state_load: `path` is NULL");
    NEEDS(gnnc_state_save(NULL, "w"), "gnnc_state_save: `s` is NULL");
    NEEDS(gnnc_state_save(b.state, NULL), "gnnc_state_save: `path` is NULL");
    NEEDS(gnnc_state_weight(NULL, 0, NULL, &view, numbers), "gnnc_state_weight: `s` is NULL");
    NEEDS(gnnc_state_weight(b.state, 0, NULL, NULL, numbers), "gnnc_state_weight: `view` is NULL");
    NEEDS(gnnc_state_weight(b.state, 0, NULL, &view, NULL),
          "gnnc_state_weight: `shape_and_strides` is NULL");
    NEEDS(gnnc_state_weight_named(NULL, "a", &view, numbers),
          "gnnc_state_weight_named: `s` is NULL");
    NEEDS(gnnc_state_weight_named(b.state, NULL, &view, numbers),
          "gnnc_state_weight_named: `name` is NULL");
    NEEDS(gnnc_state_weight_named(b.state, "a", NULL, numbers),
          "gnnc_state_weight_named: `view` is NULL");
    NEEDS(gnnc_state_weight_named(b.state, "a", &view, NULL),
          "gnnc_state_weight_named: `shape_and_strides` is");
    NEEDS(gnnc_run_bind_graph(NULL, w.g), "gnnc_run_bind_graph: `r` is NULL");
    NEEDS(gnnc_run_bind_graph(b.run, NULL), "gnnc_run_bind_graph: `g` is NULL");
    NEEDS(gnnc_run_bind(NULL, "x", &x), "gnnc_run_bind: `r` is NULL");
    NEEDS(gnnc_run_bind(b.run, NULL, &x), "gnnc_run_bind: `name` is NULL");
    NEEDS(gnnc_run_bind(b.run, "x", NO_TENSOR), "gnnc_run_bind: `data` is NULL");
    NEEDS(gnnc_run_bind_csr(NULL, 1, row, NULL, NULL), "gnnc_run_bind_csr: `r` is NULL");
    NEEDS(gnnc_run_bind_csr(b.run, 1, NULL, NULL, NULL), "gnnc_run_bind_csr: `row` is NULL");
    NEEDS(gnnc_state_validated(NULL, 0), "gnnc_state_validated: `s` is NULL");
    NEEDS(gnnc_run_infer(NULL), "gnnc_run_infer: `r` is NULL");
    NEEDS(gnnc_run_step(NULL, NULL), "gnnc_run_step: `r` is NULL");
    NEEDS(gnnc_run_output(NULL, "out", &view), "gnnc_run_output: `r` is NULL");
    NEEDS(gnnc_run_output(b.run, NULL, &view), "gnnc_run_output: `name` is NULL");
    NEEDS(gnnc_run_output(b.run, "out", NO_TENSOR), "gnnc_run_output: `view` is NULL");
    x.shape = NULL;
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "x: the tensor has no shape");
    x = tensor(NULL, 2, w.rows, kDLFloat, 32);
    refused(gnnc_run_bind(b.run, "x", &x), GNNC_ERROR_DATA, "x: the tensor has no data");
    float *after = infer(b.run, w.n);
    ck_assert(memcmp(before, after, (size_t)w.n * C * sizeof *before) == 0);
    free(before);
    free(after);
    tear_down(&b);
    end_world(&w);
}
END_TEST

/* What gives no status takes NULL, and says that there is nothing. */
START_TEST(silent)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    gnnc_executable_info e = {.size = sizeof e, .kernels = 9};
    gnnc_run_info r = {.size = sizeof r, .steps = 9};
    gnnc_device_info d = {.size = sizeof d};
    gnnc_cache_info c = {.size = sizeof c, .on = true};
    gnnc_executable_describe(NULL, &e);
    ck_assert(e.size == sizeof e && !strcmp(e.model, "") && e.kernels == 0);
    gnnc_run_describe(NULL, &r);
    ck_assert(r.size == sizeof r && r.program == -1 && r.steps == 0);
    gnnc_context_device(NULL, &d);
    ck_assert_str_eq(d.name, "cpu");
    gnnc_context_cache(NULL, &c);
    ck_assert(!c.on);
    gnnc_executable_describe(b.exe, NULL);
    gnnc_executable_describe(NULL, NULL);
    gnnc_run_describe(b.run, NULL);
    gnnc_context_device(NULL, NULL);
    gnnc_context_cache(NULL, NULL);
    gnnc_state_changed(NULL);
    ck_assert(gnnc_graph_nodes(NULL) == 0 && gnnc_graph_edges(NULL) == 0 &&
              gnnc_run_bytes(NULL) == 0);
    ck_assert(gnnc_status_code(NULL) == GNNC_OK && !strcmp(gnnc_status_message(NULL), ""));
    gnnc_status_free(NULL);
    gnnc_text_free(NULL);
    gnnc_context_free(NULL);
    gnnc_module_free(NULL);
    gnnc_graph_free(NULL);
    gnnc_executable_free(NULL);
    gnnc_state_free(NULL);
    gnnc_run_free(NULL);
    tear_down(&b);
}
END_TEST

/* A graph of no nodes, whose tensors have no data, as DLPack allows. */
START_TEST(empty)
{
    for (int k = 0; k < 3; k++) {
        bench b = set_up(
            plain, (gnnc_compile_options){.train = true, .sparse = k == 1, .fixed = k == 2}, 1);
        int64_t none[2] = {0, F}, skip[2] = {1, 7};
        DLTensor x = tensor(NULL, 2, none, kDLFloat, 32), y = tensor(NULL, 1, none, kDLInt, 32),
                 out;
        DLTensor m = tensor(NULL, 1, none, kDLBool, 8), wide = tensor(NULL, 1, none, kDLInt, 64);
        double loss;
        gnnc_graph *g;
        ok(gnnc_graph_from_coo(NULL, 0, 0, GNNC_INT32, NULL, NULL, &g));
        ok(gnnc_run_bind_graph(b.run, g));
        ok(gnnc_run_bind(b.run, "x", &x));
        ok(gnnc_run_infer(b.run));
        ok(gnnc_run_output(b.run, "out", &out));
        ck_assert(out.ndim == 2 && out.shape[0] == 0 && out.shape[1] == C);
        x.strides = skip;
        x.byte_offset = 4;
        ok(gnnc_run_bind(b.run, "x", &x));
        ok(gnnc_run_bind(b.run, "y", k ? &y : &wide));
        ok(gnnc_run_bind(b.run, "train_mask", &m));
        ok(gnnc_run_step(b.run, &loss));
        gnnc_graph_free(g);
        tear_down(&b);
    }
}
END_TEST

/* Labels are classes or -1, however they lie; what is refused leaves what was bound. */
START_TEST(labels)
{
    world w = make_world(1, 40, 90);
    for (int fixed = 0; fixed < 2; fixed++) {
        bench b = set_up(plain, (gnnc_compile_options){.train = true, .fixed = fixed}, 1);
        int64_t wide[80], two[1] = {2}, of_40[1] = {40};
        double before, after;
        DLTensor y = tensor(w.y, 1, w.rows, kDLInt, 32), y64 = tensor(wide, 1, of_40, kDLInt, 64);
        bind_world(b.run, &w, true);
        int32_t right = w.y[3];
        w.y[3] = -1;
        ok(gnnc_run_bind(b.run, "y", &y));
        ok(gnnc_run_step(b.run, &before));
        w.y[3] = C;
        refused(gnnc_run_bind(b.run, "y", &y), GNNC_ERROR_DATA,
                "y: row 3 is class 3; classes are 0 to 2, and -1 is");
        w.y[3] = -2;
        refused(gnnc_run_bind(b.run, "y", &y), GNNC_ERROR_DATA, "y: row 3 is class -2;");
        for (int v = 0; v < 40; v++) wide[2 * v] = v == 39 ? 9 : 0;
        y64.strides = two;
        refused(gnnc_run_bind(b.run, "y", &y64), GNNC_ERROR_DATA, "y: row 39 is class 9;");
        wide[78] = C - 1;
        ok(gnnc_run_bind(b.run, "y", &y64));
        w.y[3] = right;
        ok(gnnc_run_bind(b.run, "y", &y));
        ok(gnnc_run_step(b.run, &after));
        ck_assert(before > 0 && after > 0);
        tear_down(&b);
    }
    end_world(&w);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, makers);
        tcase_add_test(t, users);
        tcase_add_test(t, silent);
        tcase_add_test(t, empty);
        tcase_add_test(t, labels);
    }
    tcase_set_timeout(t, 100);
    return RUN_CASES("api_arguments", t);
}
