/* links: tune codegen lower passes frontend ir runtime base */
/* Which programs' code for a GPU is made quickly: those whose launches all fit, of threads with
 * little to do. */
#include "target/quick.h"

#define MODE GN_MODE_DEFAULT
#include "unit/gpu_programs.h"

static const gn_quick_rule usual = {
    .sized = true, .multiprocessors = 132, .n_hints = 2, .hints = small};

static bool says(gn_compiled *c, gn_quick_rule r, const char *words)
{
    gn_quick_choose(&arena, c, &r);
    ck_assert_msg(strstr(c->quick_why, words) != NULL, "'%s' lacks '%s'", c->quick_why, words);
    return c->quick;
}

START_TEST(chosen)
{
    gn_compiled *c = session->build.step.code;
    ck_assert_msg(c->quick, "%s", c->quick_why); /* by the build, of a session on a small graph */
    ck_assert(session->build.eval.code->quick && session->build.eval.prepare_code->quick);
    ck_assert(says(c, usual, "compiled quickly: a launch has at most "));
    ck_assert(
        says(session->build.eval.prepare_code, usual, "compiled quickly: a launch has at most "));
}
END_TEST

START_TEST(declined)
{
    gn_compiled *c = session->build.step.code;
    gn_quick_rule r = usual;
    r.hints = large;
    ck_assert(!says(c, r, "with all optimisations: a launch has at most "));
    r = usual;
    r.multiprocessors = 1; /* what is little for many is much for one */
    ck_assert(!says(c, r, "with all optimisations: a launch has at most "));
    r = usual;
    r.n_hints = 0;
    ck_assert(!says(c, r, "sizes are not known"));
    r = usual;
    r.sized = false;
    ck_assert(!says(c, r, "graphs may change"));
    r = usual;
    r.off = (gn_switches)1 << GN_DO_QUICK_CODE;
    ck_assert(!says(c, r, "quick-code is switched off"));
}
END_TEST

/* A loop that a thread runs alone for long: instructions count. */
START_TEST(long_work)
{
    static const char
        text[] = "kernel @long (%x: f32[8] read_write) {\nfor %1 in 0 .. 8 step 1 thread none {\n"
                 "for %2 in 0 .. 60000 step 1 serial ordered {\n%3 = load f32 %x[%1]\n"
                 "store %x[%1], %3\n}\n}\n}\n";
    gn_compiled *c = session->build.eval.code;
    ck_assert(says(c, usual, "compiled quickly"));
    kir_kernel *k = NULL;
    gn_status *s = kir_parse(&arena, text, strlen(text), "long", &k);
    ck_assert_msg(!s, "%s", gn_status_message(s));
    c->kernels[0] = k;
    ck_assert(!says(c, usual, "a thread of long has more than"));
}
END_TEST

/* Kernels are shared, so programs agree. */
START_TEST(agreed)
{
    gn_compiled *both[] = {session->build.eval.code, session->build.step.code};
    gn_quick_rule r = usual;
    ck_assert(says(both[0], usual, "compiled quickly"));
    r.hints = large;
    ck_assert(!says(both[1], r, "a launch has at most"));
    gn_quick_agree(2, both);
    ck_assert(!both[0]->quick && !both[1]->quick);
    ck_assert_ptr_nonnull(strstr(both[0]->quick_why, "it shares kernels with others"));
    ck_assert_ptr_nonnull(strstr(both[1]->quick_why, "a launch has at most"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("quick");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, chosen);
    tcase_add_test(t, declined);
    tcase_add_test(t, long_work);
    tcase_add_test(t, agreed);
    return RUN_CASES("quick", t);
}
