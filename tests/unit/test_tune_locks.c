/* What searches leave: records as text, for which processor they are, and locks, which fit or are
 * refused. */
/* labels: long */
/* links: tune codegen lower passes frontend ir runtime cache base */
/* timeout: 120 */
#include "tune_test.h"
#include "tune/start.h"

/* Records -------------------------------------------------------------------------------------- */

static const char *signature_of(gn_session *s)
{
    const char *text;
    ok(gn_tuned_signature(s, GN_UNIT_EVAL, "none", &text));
    return text;
}

/* What is found for this processor is for no other and no device, and what a part of the passes
 * made is for that part. */
START_TEST(what_is_kept_is_for_this_processor)
{
    gn_session_options o = options("gcn", false), other;
    gn_limits limits = gn_cpu_limits(NULL);
    o.tune_seconds = NO_TIME;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    for (int k = 0; k < 3; k++) { /* a device that is opened: test_cuda_tune */
        other = o;
        other.tune_seconds = 0;
        other.no_code = true;
        if (k == 1) other.limits = &limits;
        if (k == 2) other.cpu = SUITE_OTHER_CPU;
        s = open_session(&other);
        ck_assert((s->tuned[GN_UNIT_EVAL] != NULL) == (k == 0));
        const char *all = signature_of(s);
        s->opt.pass_limit = 3;
        const char *three = signature_of(s);
        s->opt.pass_limit = 4;
        ck_assert(strcmp(three, signature_of(s)) && strcmp(three, all) &&
                  strcmp(all, signature_of(s)));
        gn_session_free(s);
        other.tune_lock = lock_path;
        if (k)
            refused(gn_session_new(&arena, &other, &s), GN_ERR_USAGE,
                    k == 2 ? "not for " SUITE_OTHER_CPU : "not for a device that is not opened");
    }
}
END_TEST

START_TEST(records_as_text)
{
    static const low_choice choices[] = {{"gemm-0123456789abcdef", LOW_FIELD_TILE_ROWS, 6},
                                         {NULL, LOW_FIELD_AHEAD, 0}};
    gn_tuned t = {.unit = GN_UNIT_STEP,
                  .reorder = GN_ORDER_RCM,
                  .default_us = 12.5,
                  .best_us = 11.25,
                  .noise = 0.01,
                  .seconds = 3.5,
                  .wrong = 2,
                  .finished = true,
                  .pick = {.threads = 3, .one_region = 1, .schedule = {2, choices}}},
             back;
    ok(gn_without_add(&arena, "fuse,sink", false, &t.pick.without));
    GN_PUSH(&arena, t.tried, UINT64_C(0xfedcba9876543210));
    gn_buf a = {.arena = &arena}, b = {.arena = &arena};
    gn_tuned_print(&t, &a);
    ok(gn_tuned_parse(&arena, a.p, "here", 1, &back));
    gn_tuned_print(&back, &b);
    ck_assert_str_eq(a.p, b.p);
    ck_assert_int_eq(back.unit, GN_UNIT_STEP);
    ck_assert_int_eq(back.pick.schedule.n, 2);
    ck_assert_ptr_null(back.pick.schedule.choices[1].region);
    ck_assert_str_eq(gn_pick_text(&arena, &back.pick),
                     "3 threads, one region, without fuse,sink, tile_rows 6 for gemm-012345678, "
                     "ahead 0 for all");
}
END_TEST

START_TEST(records_that_are_none)
{
    static const struct {
        const char *find, *put, *words;
    } bad[] = {
        {"end\n", "", "no end"},
        {"threads 3", "threads three", "here:9: 'three' is no number"},
        {"threads 3", "thread 3", "did you mean 'threads'?"},
        {"threads 3", "threads 99999", "no number that may stand here"},
        {"reorder rcm", "reorder rmc", "'rmc' is no order of nodes"},
        {"schedule * ahead 0", "schedule * ahea 0", "did you mean 'ahead'?"},
        {"schedule * ahead 0", "schedule * ahead", "a region, a field and a number"},
        {"best_us 11.250\n", "", "has no 'best_us'"},
        {"best_us 11.250", "best_us 1\nbest_us 2", "stands there twice"},
        {"noise 0.01000", "noise nan", "no number"},
        {"program step", "program stop", "'stop' is no program"},
        {"without sink", "without sinks", "did you mean 'sink'?"},
        {"tried fedc", "tried zzzz", "no digest"},
    };
    const char
        *text = "program step\ndefault_us 12.500\nbest_us 11.250\nnoise 0.01000\nseconds "
                "3.500\nfinished 1\n"
                "wrong 2\nreorder rcm\nthreads 3\none_region 1\nwithout sink\nschedule * ahead 0\n"
                "tried fedcba9876543210\nend\n";
    gn_tuned t;
    ok(gn_tuned_parse(&arena, text, "here", 1, &t));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *at = strstr(text, bad[k].find);
        ck_assert_ptr_nonnull(at);
        const char *spoiled = gn_arena_printf(&arena, "%.*s%s%s", (int)(at - text), text,
                                              bad[k].put, at + strlen(bad[k].find));
        refused(gn_tuned_parse(&arena, spoiled, "here", 1, &t), GN_ERR_DATA, bad[k].words);
    }
}
END_TEST

/* Locks ---------------------------------------------------------------------------------------- */

static char lock_text[65536];

static char *read_lock(void)
{
    char *text = lock_text;
    FILE *f = fopen(lock_path, "rb");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof lock_text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void write_lock(const char *text)
{
    FILE *f = fopen(lock_path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void replace(const char *find, const char *put)
{
    char *text = read_lock(), *at = strstr(text, find);
    ck_assert_msg(at != NULL, "%s is not in the lock", find);
    char *all = gn_arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, put, at + strlen(find));
    write_lock(all);
}

static gn_session_options locked(const char *model, bool train)
{
    gn_session_options o = options(model, train);
    o.mode = GN_MODE_DEFAULT;
    o.tune_lock = lock_path;
    return o;
}

static void refuse_lock(const gn_session_options *o, gn_code code, const char *words)
{
    gn_session *s;
    refused(gn_session_new(&arena, o, &s), code, words);
}

START_TEST(locks_pin_choices)
{
    gn_session_options o = options("gcn", true), l = locked("gcn", true);
    o.tune_seconds = NO_TIME;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    /* choices of another's making: whatever stands there is what is run */
    char *text = read_lock(), *at = strstr(strstr(text, "\nprogram step\n"), "one_region");
    ck_assert_ptr_nonnull(at);
    write_lock(gn_arena_printf(
        &arena,
        "%.*sone_region 1\nwithout fuse,pack\nschedule * tile_rows 3\nschedule * chunk_rows 77%s",
        (int)(at - text), text, strchr(at, '\n')));
    s = open_session(&l);
    const gn_tuned *t = s->tuned[GN_UNIT_STEP];
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->pick.schedule.n, 2);
    ck_assert(s->build.step.one_region);
    bool found = false;
    for (int k = 0; k < s->build.step.code->n_kernels; k++) {
        gn_buf b = {.arena = &arena};
        kir_print(s->build.step.code->kernels[k], &b);
        found = found || strstr(b.p, "step 77 thread") != NULL;
    }
    ck_assert(found);
    same_scores(s);
    gn_session_free(s);
}
END_TEST

/* An order of nodes that a search chose is taken, and undone in what is asked for; one that the
 * user names is another lock. */
START_TEST(locks_hold_orders)
{
    gn_session_options o = options("gcn", true), l = locked("gcn", true);
    o.tune_seconds = NO_TIME;
    o.free_order = l.free_order = true;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    char *text = read_lock();
    ck_assert_ptr_nonnull(strstr(text, "\norder any\n")); /* of the step, */
    /* and of the forward pass on the order that was taken */
    ck_assert_ptr_nonnull(strstr(text, "\norder none\n"));
    replace("order none", "order rcm");
    char *step = strstr(read_lock(), "\nprogram step\n");
    ck_assert_ptr_nonnull(step);
    char *order = strstr(step, "reorder none");
    memcpy(order, "reorder rcm ", 12);
    memmove(order + 11, order + 12, strlen(order + 12) + 1);
    write_lock(lock_text);
    s = open_session(&l);
    ck_assert_int_eq(s->opt.reorder, GN_ORDER_RCM);
    ck_assert_ptr_nonnull(s->data->row_of);
    same_scores(s);
    gn_session_free(s);
    l.free_order = false;
    l.reorder = GN_ORDER_DEGREE;
    refuse_lock(&l, GN_ERR_DATA, "order any\nand this is\n  order degree");
}
END_TEST

START_TEST(locks_that_do_not_fit)
{
    gn_session_options o = options("gcn", false), l = locked("gcn", false), other;
    o.tune_seconds = NO_TIME;
    gn_session *s = open_session(&o);
    ok(gn_tuned_lock_write(s, lock_path));
    gn_session_free(s);
    s = open_session(&l);
    ck_assert_ptr_nonnull(s->tuned[GN_UNIT_EVAL]);
    gn_session_free(s);
    other = l;
    other.data.path = "synthetic:nodes=300,edges=1502,features=24,classes=4,density=0.2,seed=3";
    refuse_lock(&other, GN_ERR_DATA, "the lock does not fit: it is for\n  graph nodes 300");
    other = l;
    other.threads = 1;
    refuse_lock(&other, GN_ERR_DATA, "threads 2\nand this is\n  threads 1");
    other = locked("sage", false);
    refuse_lock(&other, GN_ERR_DATA, "the lock does not fit");
    other = locked("gcn", true);
    refuse_lock(&other, GN_ERR_DATA, "nothing for the program 'step'");
    other = locked("gcn", false);
    other.mode = GN_MODE_EAGER;
    refuse_lock(&other, GN_ERR_USAGE, "mode eager has no schedules");
    other = locked("gcn", false);
    other.tune_lock = "/nowhere/at/all";
    refuse_lock(&other, GN_ERR_IO, "/nowhere/at/all");
    other = locked("gcn", false);
    const char *sound = gn_arena_strdup(&arena, read_lock());
    write_lock(gn_arena_strndup(&arena, sound, (size_t)(strstr(sound, "graph nodes") - sound)));
    refuse_lock(&other, GN_ERR_DATA, "the lock ends in the middle");
    write_lock(gn_arena_strndup(&arena, sound, strlen(sound) - 5));
    refuse_lock(&other, GN_ERR_DATA, "the record has no end");
    write_lock("nodes 3\n");
    refuse_lock(&other, GN_ERR_DATA, "no lock of tuning");
    write_lock(sound);
    replace("machine cores", "machine scores");
    refuse_lock(&other, GN_ERR_DATA, "the lock does not fit");
}
END_TEST

int main(void)
{
    if (!GNNC_HAVE_LLVM) return 0;
    Suite *s = suite_create("tune_locks");
    TCase *record = named(s, "records"), *lock = named(s, "locks");
    tcase_add_test(record, what_is_kept_is_for_this_processor);
    tcase_add_test(record, records_as_text);
    tcase_add_test(record, records_that_are_none);
    tcase_add_test(lock, locks_pin_choices);
    tcase_add_test(lock, locks_hold_orders);
    tcase_add_test(lock, locks_that_do_not_fit);
    return suite_run(s);
}
