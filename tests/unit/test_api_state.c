/* The public API: states, what they learn, and their weights in files. */
/* timeout: 240 */
#include "runtime/data/tensorfile.h"
#include "unit/api_plateau.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double train(gnnc_run *r, world *w, int steps)
{
    double loss = 0;
    bind_world(r, w, true);
    for (int k = 0; k < steps; k++) ok(gnnc_run_step(r, &loss));
    return loss;
}

static bool same_file(const char *one, const char *other)
{
    FILE *a = fopen(one, "rb"), *b = fopen(other, "rb");
    int c, d;
    do {
        c = fgetc(a);
        d = fgetc(b);
    } while (c == d && c != EOF);
    fclose(a);
    fclose(b);
    return c == d;
}

/* What a state was saved of has to be what it is loaded into: what differs is named, and nothing
 * was changed.  Weights lie in such a file as in one of weights. */
START_TEST(states_of_others)
{
    static const gnnc_define wide[] = {{"hidden", "7"}};
    static const struct {
        const char *optimizer, *says;
        bool wide;
    } others[] = {
        {"adam(lr = 0.01)",
         "another choice of hyperparameters: hidden = 4, p = 0.0 there, hidden = 7", true},
        {"adamw(lr = 0.01, weight_decay = 0)", "another optimizer: adam(lr = 0.01, ", false},
        {"adam(lr = 0.1)", "another optimizer: adam(lr = 0.01, ", false},
        {"sgd(lr = 0.01)", "another optimizer: adam(lr = 0.01, ", false}};
    static const char block
        [] = "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n  optimizer = %s\n}\n";
    enum { OTHERS = sizeof others / sizeof *others };
    char path[] = "api-other.XXXXXX", kept[] = "api-kept.XXXXXX", still[] = "api-still.XXXXXX",
         text[1024], more[512];
    close(mkstemp(path));
    close(mkstemp(kept));
    close(mkstemp(still));
    world w = make_world(9, 60, 300);
    bench b = {0};
    for (int k = -1; k < OTHERS; k++) {
        gnnc_compile_options o = {.train = true};
        snprintf(more, sizeof more, block, others[k < 0 ? 0 : k].optimizer);
        snprintf(text, sizeof text, "%s%s", plain, more);
        if (k >= 0 && others[k].wide) {
            o.defines = wide;
            o.n_defines = 1;
        }
        bench other = set_up(text, o, 2);
        train(other.run, &w, 3);
        if (k < 0) {
            ok(gnnc_state_save(other.state, path));
            b = other;
            continue;
        }
        ok(gnnc_state_save(other.state, kept));
        refused(gnnc_state_load(other.state, path), GNNC_ERROR_DATA, others[k].says);
        ok(gnnc_state_save(other.state, still));
        ck_assert(same_file(kept, still));
        tear_down(&other);
    }
    bench again = set_up(plain, (gnnc_compile_options){.train = true}, 3);
    ok(gnnc_state_load_weights(again.state, path));
    bind_world(again.run, &w, true);
    bind_world(b.run, &w, true);
    float *s = infer(b.run, w.n), *t = infer(again.run, w.n);
    ck_assert(memcmp(s, t, (size_t)w.n * C * sizeof *s) == 0);
    free(s);
    free(t);
    unlink(path);
    unlink(kept);
    unlink(still);
    end_world(&w);
    tear_down(&b);
    tear_down(&again);
}
END_TEST

/* Training goes down; a run that was saved and loaded ends with the same bytes; so does one with
 * more threads, and one whose labels have 64 bits. */
START_TEST(training)
{
    static const gnnc_define drops[] = {{"p", "0.5"}};
    gnnc_compile_options o = {
        .train = true, .defines = drops, .n_defines = 1, .fixed = _i == 1, .sparse = _i == 2};
    char one[] = "api-one.XXXXXX", two[] = "api-two.XXXXXX";
    close(mkstemp(one));
    close(mkstemp(two));
    world w = make_world(9, 60, 300);
    bench b = set_up(plain, o, 1), again = set_up(plain, o, 2);
    double first = train(b.run, &w, 1), later = train(b.run, &w, 9);
    ck_assert(later < first);
    ok(gnnc_state_save(b.state, one));
    train(b.run, &w, 10);
    ok(gnnc_state_save(b.state, two));
    ok(gnnc_state_load(again.state, one));
    bind_world(again.run, &w, true);
    int64_t *wide = calloc((size_t)w.n, sizeof *wide);
    for (int v = 0; v < w.n; v++) wide[v] = w.y[v];
    DLTensor y = tensor(wide, 1, w.rows, kDLInt, 64);
    ok(gnnc_run_bind(again.run, "y", &y));
    for (int k = 0; k < 10; k++) ok(gnnc_run_step(again.run, NULL));
    ok(gnnc_state_save(again.state, one));
    ck_assert(same_file(one, two));

    float *s = infer(b.run, w.n), *t = infer(again.run, w.n);
    ck_assert(memcmp(s, t, (size_t)w.n * C * sizeof *s) == 0);
    free(s);
    free(t);
    ok(gnnc_state_save_weights(b.state, one));
    refused(gnnc_state_load(again.state, one), GNNC_ERROR_DATA, "no saved state");
    ok(gnnc_state_load_weights(again.state, one));
    wide[3] = (int64_t)1 << 40;
    refused(gnnc_run_bind(again.run, "y", &y), GNNC_ERROR_DATA, "element 3");
    free(wide);
    unlink(one);
    unlink(two);
    end_world(&w);
    tear_down(&b);
    tear_down(&again);
}
END_TEST

START_TEST(weights)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    gnnc_executable_info info = {.size = sizeof info};
    int64_t numbers[16];
    DLTensor view;
    gnnc_executable_describe(b.exe, &info);
    ck_assert(!strcmp(info.model, "M") && info.parameters > 3 && info.kernels > 0 &&
              info.code_bytes > 0);
    for (int k = 0; k < info.parameters; k++) {
        const char *name;
        ok(gnnc_state_weight(b.state, k, &name, &view, numbers));
        ck_assert(strchr(name, '.') != NULL);
    }
    ok(gnnc_state_weight_named(b.state, "a.lin.weight", &view, numbers)); /* PyG's: [out, in] */
    ck_assert(view.ndim == 2 && view.shape[0] == 4 && view.shape[1] == F);
    /* Column 2 of x does not count when its weights are 0. */
    for (int64_t k = 0; k < 4; k++)
        ((float *)view.data)[k * view.strides[0] + 2 * view.strides[1]] = 0;
    world w = make_world(1, 20, 50);
    bind_world(b.run, &w, false);
    float *one = infer(b.run, w.n);
    for (int v = 0; v < w.n; v++) w.x[v * F + 2] += 10;
    float *two = infer(b.run, w.n);
    ck_assert(memcmp(one, two, (size_t)w.n * C * sizeof *one) == 0);
    refused(gnnc_state_weight_named(b.state, "a.lin.wieght", &view, numbers), GNNC_ERROR_USAGE,
            "did you mean 'a.lin.weight'");
    refused(gnnc_state_weight(b.state, info.parameters, NULL, &view, numbers), GNNC_ERROR_USAGE,
            "no parameter");
    free(one);
    free(two);
    end_world(&w);
    tear_down(&b);
}
END_TEST

static void hear(void *user, gnnc_log_level level, const char *topic, const char *text)
{
    ck_assert_int_eq(level, GNNC_LOG_WARNING);
    ck_assert_str_eq(topic, "weights");
    snprintf(user, 512, "%s", text);
}

/* Weights of more than the model has are loaded as far as it goes, and that is said. */
START_TEST(weights_of_more)
{
    static const char less[] = "model M(hidden = 4) (g: graph, x: node[F]) -> node[hidden] {\n"
                               "  a = GCNConv(hidden)\n  return a(g, x)\n}\n";
    char path[] = "api-more.XXXXXX", said[512] = "";
    gnnc_context *c;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_NONE, .log = hear, .user = said};
    close(mkstemp(path));
    ok(gnnc_context_new(&o, &c));
    bench whole = set_up_in(c, plain, (gnnc_compile_options){0}, 1),
          part = set_up_in(c, less, (gnnc_compile_options){0}, 1);
    ok(gnnc_state_save_weights(whole.state, path));
    ok(gnnc_state_load_weights(whole.state, path));
    ck_assert_str_eq(said, "");
    ok(gnnc_state_load_weights(part.state, path));
    char want[512];
    snprintf(
        want, sizeof want,
        "%s: tensors that the model does not have: b.lin_l.weight, b.lin_l.bias, b.lin_r.weight",
        path);
    ck_assert_str_eq(said, want);
    DLTensor one, two;
    int64_t numbers[2][16];
    ok(gnnc_state_weight_named(whole.state, "a.lin.weight", &one, numbers[0]));
    ok(gnnc_state_weight_named(part.state, "a.lin.weight", &two, numbers[1]));
    ck_assert(memcmp(one.data, two.data, 4 * F * sizeof(float)) == 0);
    tear_down(&whole);
    tear_down(&part);
    gnnc_context_free(c);
    unlink(path);
}
END_TEST

/* Weights as torch's wrappers name them, in another floating type: read as they are meant, and that
 * is said. */
START_TEST(weights_of_torch)
{
    char path[] = "api-torch.XXXXXX", said[512] = "", want[512];
    gnnc_context *c;
    gnnc_context_options o = {
        .size = sizeof o, .cache = GNNC_CACHE_NONE, .log = hear, .user = said};
    close(mkstemp(path));
    ok(gnnc_context_new(&o, &c));
    bench from = set_up_in(c, plain, (gnnc_compile_options){0}, 1),
          to = set_up_in(c, plain, (gnnc_compile_options){0}, 2);
    ok(gnnc_state_save_weights(from.state, path));
    gn_tensor_file *f, *wrapped;
    ck_assert_ptr_null(gn_safetensors_read(path, &f));
    ck_assert_ptr_null(gn_tensor_file_new(&wrapped));
    for (int k = 0; k < f->n; k++) {
        const gn_named_tensor *t = &f->tensors[k];
        char name[128];
        void *data;
        int64_t n = 1;
        for (int d = 0; d < t->rank; d++) n *= t->dim[d];
        snprintf(name, sizeof name, "module.%s", t->name);
        ck_assert_ptr_null(gn_tensor_file_add(wrapped, name, GN_F64, t->rank, t->dim, &data));
        for (int64_t i = 0; i < n; i++) ((double *)data)[i] = (double)((const float *)t->data)[i];
    }
    ck_assert_ptr_null(gn_safetensors_write(path, wrapped));
    ok(gnnc_state_load_weights(to.state, path));
    snprintf(want, sizeof want, "and %d more likewise; %d tensors of f64 become float32", f->n - 1,
             f->n);
    ck_assert_ptr_nonnull(strstr(said, want));
    ck_assert_ptr_nonnull(strstr(said, ": 'module."));
    DLTensor one, two;
    int64_t numbers[2][16];
    ok(gnnc_state_weight_named(from.state, "a.lin.weight", &one, numbers[0]));
    ok(gnnc_state_weight_named(to.state, "a.lin.weight", &two, numbers[1]));
    ck_assert(memcmp(one.data, two.data, 4 * F * sizeof(float)) == 0);
    gn_tensor_file_free(f);
    gn_tensor_file_free(wrapped);
    tear_down(&from);
    tear_down(&to);
    gnnc_context_free(c);
    unlink(path);
}
END_TEST

START_TEST(plateau) { plateau_story(NULL); }
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, training, 0, 3);
        tcase_add_test(t, states_of_others);
        tcase_add_test(t, weights);
        tcase_add_test(t, weights_of_more);
        tcase_add_test(t, weights_of_torch);
        tcase_add_test(t, plateau);
    }
    tcase_set_timeout(t, 200);
    return RUN_CASES("api_state", t);
}
