/* links: base ir frontend */
/* Train blocks: what an optimizer and a schedule have where nothing is said, in the words in which
 * a checkpoint remembers them. */
#include "frontend_test.h"

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static const char head[] = "model M() (g: graph, x: node[F]) -> node[C] { return Linear(C)(x) }\n"
                           "train M {\n  loss = cross_entropy(M(g, x), y) over train_mask\n";

static gn_model *with(const char *settings)
{
    return frontend_model(&arena, gn_arena_printf(&arena, "%s  %s\n}\n", head, settings), NULL, 0,
                          NULL);
}

/* clang-format off */
static const char *const optimizers[][2] = {
    {"sgd", "sgd(lr = 0.001, momentum = 0, dampening = 0, nesterov = false)"},
    {"adam", "adam(lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-08)"},
    {"adam(amsgrad = true)",
     "adam(lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, amsgrad = true)"},
    {"adamw", "adamw(lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-08), weight_decay = 0.01"},
    {"adagrad", "adagrad(lr = 0.01, lr_decay = 0, eps = 1e-10)"},
    {"rmsprop", "rmsprop(lr = 0.01, alpha = 0.99, eps = 1e-08, momentum = 0, centered = false)"},
    {"rmsprop(alpha = 0.5, eps = 0.1, momentum = 0.9, centered = true, weight_decay = 2)",
     "rmsprop(lr = 0.01, alpha = 0.5, eps = 0.1, momentum = 0.9, centered = true), "
     "weight_decay = 2"},
    {"adamax", "adamax(lr = 0.002, beta1 = 0.9, beta2 = 0.999, eps = 1e-08)"},
    {"lion", "lion(lr = 0.0001, beta1 = 0.9, beta2 = 0.99)"},
    {"lion(rows = \"touched\")", "lion(lr = 0.0001, beta1 = 0.9, beta2 = 0.99, rows = \"touched\")"},
};
/* clang-format on */

START_TEST(optimizer)
{
    const char *const *o = optimizers[_i];
    ck_assert_str_eq(with(gn_arena_printf(&arena, "optimizer = %s", o[0]))->optimizer, o[1]);
}
END_TEST

enum { N_OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

int main(void)
{
    TCase *t = tcase_create("train");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, optimizer, 0, N_OPTIMIZERS);
    return RUN_CASES("train blocks", t);
}
