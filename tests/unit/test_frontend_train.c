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
    {"lion(rows = \"touched\")", "lion(lr = 0.0001, beta1 = 0.9, beta2 = 0.99, rows = "
    "\"touched\")"},
};
static const char *const schedules[][2] = {
    {"schedule = constant", ""},
    {"schedule = constant\n warmup = 3", ", warmup = 3"},
    {"schedule = step(period = 3)", ", schedule = step(3, gamma = 0.1)"},
    {"schedule = exponential", ", schedule = exponential(gamma = 0.1)"},
    {"schedule = cosine", ", schedule = cosine(period = 200, eta_min = 0)"},
    {"schedule = cosine\n warmup = 20", ", schedule = cosine(period = 180, eta_min = 0), warmup "
    "= 20"},
    {"schedule = linear\n epochs = 5\n warmup = 9",
     ", schedule = linear(period = 1, gamma = 0), warmup = 9"},
    {"schedule = one_cycle",
     ", schedule = one_cycle(period = 200, pct_start = 0.3, div_factor = 25, final_div_factor = "
     "10000)"},
    {"schedule = one_cycle(period = 7, pct_start = 0, div_factor = 2, final_div_factor = 3)",
     ", schedule = one_cycle(period = 7, pct_start = 0, div_factor = 2, final_div_factor = 3)"},
    {"schedule = plateau",
     ", schedule = plateau(factor = 0.1, patience = 10, threshold = 0.0001, cooldown = 0, "
     "min_lr = 0, monitor = val_loss)"},
    {"schedule = plateau(factor = 0.5, patience = 1, threshold = 0, cooldown = 2, min_lr = "
    "1e-5, monitor = val_accuracy)",
     ", schedule = plateau(factor = 0.5, patience = 1, threshold = 0, cooldown = 2, min_lr = "
     "1e-05, monitor = val_accuracy)"},
};
/* clang-format on */

START_TEST(schedule)
{
    const char *const *s = schedules[_i];
    ck_assert_str_eq(with(s[0])->optimizer,
                     gn_arena_printf(&arena, "%s%s", optimizers[1][1], s[1]));
}
END_TEST

/* A peak of its own takes the place of the optimizer's rate; a validation loss is there where one
 * is watched. */
START_TEST(schedules_reach)
{
    ck_assert(with("schedule = one_cycle(max_lr = 0.5)")->train.lr == 0.5);
    ck_assert_ptr_nonnull(with("schedule = plateau")->validate);
    ck_assert_ptr_null(with("schedule = plateau(monitor = val_accuracy)")->validate);
    ck_assert_ptr_null(with("schedule = step(period = 3)")->validate);
}
END_TEST

START_TEST(optimizer)
{
    const char *const *o = optimizers[_i];
    ck_assert_str_eq(with(gn_arena_printf(&arena, "optimizer = %s", o[0]))->optimizer, o[1]);
}
END_TEST

enum {
    N_OPTIMIZERS = sizeof optimizers / sizeof *optimizers,
    N_SCHEDULES = sizeof schedules / sizeof *schedules
};

int main(void)
{
    TCase *t = tcase_create("train");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, optimizer, 0, N_OPTIMIZERS);
    tcase_add_loop_test(t, schedule, 0, N_SCHEDULES);
    tcase_add_test(t, schedules_reach);
    return RUN_CASES("train blocks", t);
}
