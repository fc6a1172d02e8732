/* links: tune codegen lower passes frontend ir runtime base */
/* Which programs a GPU runs in one kernel: those of little work, where modes fold launches, and why
 * the others are not. */
#include "target/whole.h"

#define MODE GN_MODE_REDUCE_OVERHEAD
#include "unit/gpu_programs.h"

static const gn_whole_rule usual = {
    .folded = true, .cooperative = true, .multiprocessors = 132, .n_hints = 2, .hints = small};

static bool says(gn_compiled *c, gn_whole_rule r, const char *words)
{
    gn_whole_choose(&arena, c, &r);
    if (!words) ck_assert_ptr_null(c->whole_why);
    if (words)
        ck_assert_msg(c->whole_why && strstr(c->whole_why, words), "'%s' lacks '%s'", c->whole_why,
                      words);
    return c->whole != NULL;
}

START_TEST(chosen)
{
    gn_compiled *c = session->build.step.code;
    ck_assert_msg(c->whole != NULL, "%s", c->whole_why); /* by the build */
    ck_assert_ptr_null(session->build.eval.prepare_code->whole_why);
    ck_assert(says(c, usual,
                   "in one kernel: 19 launches, 14 meetings, about 19 us a run saved by it and "));
    ck_assert_int_eq(c->whole->n, c->artifact->n_launches);
    ck_assert_int_le(c->whole->n_buffers, c->artifact->n_slots);
    for (int k = 0; k < c->whole->n; k++) {
        const gn_launch *l = &c->artifact->launches[k];
        ck_assert_int_le(c->whole->phase[k].same, k);
        for (int b = 0; b < l->n_buf; b++)
            ck_assert_int_lt(c->whole->phase[k].buf[b], c->whole->n_buffers);
        if (l->kind == GN_LAUNCH_COPY)
            ck_assert_int_lt(c->whole->phase[k].sym[0], c->whole->n_values);
    }
}
END_TEST

START_TEST(declined)
{
    gn_compiled *c = session->build.step.code;
    gn_whole_rule r = usual;
    r.hints = large;
    ck_assert(!says(c, r, "launch by launch: 19 launches, "));
    r = usual;
    r.multiprocessors = 1; /* what is little for many is much for one */
    ck_assert(!says(c, r, "launch by launch: 19 launches"));
    r = usual;
    r.n_hints = 0;
    ck_assert(!says(c, r, "sizes are not known"));
    r = usual;
    r.cooperative = false;
    ck_assert(!says(c, r, "no launches whose blocks can wait for each other"));
    r = usual;
    r.off = (gn_switches)1 << GN_DO_ONE_KERNEL;
    ck_assert(!says(c, r, "one-kernel is switched off"));
    r = usual;
    r.folded = false;
    ck_assert(!says(c, r, NULL));
    ck_assert(!says(session->build.eval.prepare_code, usual, "there is only one"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("whole");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, chosen);
    tcase_add_test(t, declined);
    return RUN_CASES("whole", t);
}
