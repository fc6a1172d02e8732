/* Machine code through the cache: what is found is what would be compiled, whatever is in the
 * cache. */
/* links: tune cache codegen lower passes frontend ir runtime base */
#include "cache_test.h"
#include "compile/compile.h"

#include <dirent.h>
#include <pthread.h>

enum { KERNELS = 4, DISTINCT = 3, ROWS = 37 };

static gn_arena arena;

static void setup(void)
{
    make_folder();
    gn_arena_init(&arena);
}

static void teardown(void)
{
    gn_arena_free(&arena);
    drop_folder();
}

/* out = in * factor */
static const kir_kernel *scale(gn_arena *a, const char *name, int factor)
{
    kir_kernel *k = NULL;
    const char *text = gn_arena_printf(
        a,
        "kernel @%s (\n  sym %s_n,\n  %%in: f32[%s_n] read, %%out: f32[%s_n] write\n) {\n"
        "  for %%1 in 0 .. %s_n step 1 thread none {\n    %%2 = load f32 %%in[%%1]\n"
        "    %%3 = fmul f32 %%2, %d.0\n    store %%out[%%1], %%3\n  }\n}\n",
        name, name, name, name, name, factor);
    ok(kir_parse(a, text, strlen(text), "test", &k));
    ok(kir_verify(k));
    return k;
}

/* Four kernels, of which the last differs from the second in its names alone. */
static const int factors[KERNELS] = {2, 3, 5, 3};

static gn_compiled *program(gn_arena *a)
{
    static const char *const names[KERNELS] = {"two", "three", "five", "another_three"};
    gn_compiled *c = GN_NEW(a, gn_compiled);
    c->kernels = GN_NEW_N(a, const kir_kernel *, KERNELS);
    c->artifact = GN_NEW(a, gn_artifact);
    c->artifact->code = GN_NEW_N(a, gn_kernel_fn, KERNELS);
    c->n_kernels = c->artifact->n_code = KERNELS;
    for (int k = 0; k < KERNELS; k++) c->kernels[k] = scale(a, names[k], factors[k]);
    return c;
}

/* Compiles, runs every kernel, and checks what it does. */
static gn_code_report compiled_right(gn_arena *a, gn_cache *cache, gn_codegen_options o)
{
    gn_compiled *p = program(a);
    gn_image *image;
    gn_code_report r;
    float in[ROWS], out[ROWS];
    o.cache = cache;
    ok(gn_compile_code(a, 1, &p, &o, &image, &r));
    for (int k = 0; k < KERNELS; k++) {
        void *buf[] = {in, out};
        int64_t n = ROWS;
        for (int i = 0; i < ROWS; i++) in[i] = (float)(i - 9);
        p->artifact->code[k](buf, &n, 0, ROWS);
        for (int i = 0; i < ROWS; i++) ck_assert_float_eq(out[i], (float)((i - 9) * factors[k]));
    }
    gn_image_free(image);
    ck_assert_int_eq(r.kernels, KERNELS);
    return r;
}

static const gn_codegen_options usual = {.opt_level = 1, .threads = 2};

static void found(gn_cache *c, gn_codegen_options o, int hits, int misses)
{
    gn_code_report r = compiled_right(&arena, c, o);
    ck_assert_msg(r.cached && r.hits == hits && r.misses == misses, "%d hits, %d misses\n%s",
                  r.hits, r.misses, heard);
    ck_assert(misses || r.stats.emit_ms == 0); /* all found: nothing was compiled */
}

START_TEST(found_again)
{
    gn_code_report r = compiled_right(&arena, NULL, usual);
    ck_assert(!r.cached && r.distinct == DISTINCT);
    gn_cache *c = open_disk("c", NULL, 0);
    found(c, usual, 0, DISTINCT);
    found(c, usual, DISTINCT, 0);
    gn_cache_free(c);
    c = open_disk("c", NULL, 0);
    found(c, usual, DISTINCT, 0);
    gn_cache_free(c);
    gn_cache_options o = {0};
    ok(gn_cache_new(&o, &c)); /* in memory alone */
    found(c, usual, 0, DISTINCT);
    found(c, usual, DISTINCT, 0);
    gn_cache_free(c);
}
END_TEST

START_TEST(options_are_in_the_key)
{
    gn_cache *c = open_disk("c", NULL, 0);
    gn_codegen_options level = {.opt_level = 0}, checked = {.opt_level = 1, .sanitize = true},
                       older = {.opt_level = 1, .cpu = SUITE_OTHER_CPU},
                       watched = {.opt_level = 1, .watch = true},
                       without = {.opt_level = 1, .off = (gn_switches)1 << GN_DO_DRAW_BITS};
    found(c, usual, 0, DISTINCT);
    found(c, level, 0, DISTINCT);
    ck_assert_ptr_nonnull(strstr(
        heard,
        "two: options is 'level 0 sanitize 0 without 0', was 'level 1 sanitize 0 without 0'"));
    found(c, older, 0, DISTINCT);
    ck_assert_ptr_nonnull(strstr(heard, "cpu " SUITE_OTHER_CPU));
    found(c, checked, 0, DISTINCT);
    found(c, watched, 0, DISTINCT);
    found(c, without, 0, DISTINCT);
    found(c, level, DISTINCT, 0);
    found(c, older, DISTINCT, 0);
    found(c, checked, DISTINCT, 0);
    found(c, watched, DISTINCT, 0);
    gn_codegen_options threads = {.opt_level = 1, .threads = 1}; /* are not: code is the same */
    gn_codegen_options order = {.opt_level = 1, .off = (gn_switches)1 << GN_DO_ORDER};
    found(c, threads, DISTINCT, 0);
    found(c, order, DISTINCT, 0);
    gn_cache_free(c);
}
END_TEST

/* Entries that are sound and hold no code, or other code than ours. */
START_TEST(payloads_that_do_not_load)
{
    static const char *const junk[] = {"", "junk", "\177ELF"};
    gn_cache *c = open_disk("c", NULL, 0);
    found(c, usual, 0, DISTINCT);
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        DIR *d = opendir(under("c/kernels-1"));
        for (struct dirent *e; (e = readdir(d));) {
            if (!gn_store_name_is_key(e->d_name)) continue;
            char name[200], parts[GN_ENTRY_MAX_PARTS + 1];
            gn_entry entry;
            size_t n;
            snprintf(name, sizeof name, "c/kernels-1/%.64s", e->d_name);
            unsigned char *p = read_file(under(name), &n);
            ck_assert_ptr_null(gn_entry_read(p, n, &entry));
            memcpy(parts, entry.parts, entry.n_parts);
            parts[entry.n_parts] = 0;
            gn_cache_put(c, parts, junk[i], strlen(junk[i]));
            free(p);
            break; /* one of them */
        }
        closedir(d);
        found(c, usual, 0, DISTINCT);
        found(c, usual, DISTINCT, 0);
    }
    gn_cache_free(c);
}
END_TEST

/* Threads that share a cache: each kernel is compiled once. */
static gn_cache *shared;

static void *compile_some_times(void *arg)
{
    gn_arena a;
    (void)arg;
    gn_arena_init(&a);
    for (int k = 0; k < 5; k++) compiled_right(&a, shared, usual);
    gn_arena_free(&a);
    return NULL;
}

START_TEST(threads_share)
{
    enum { THREADS = 4 };
    pthread_t t[THREADS];
    gn_cache_options o = {.dir = under("c")};
    ok(gn_cache_new(&o, &shared));
    for (int k = 0; k < THREADS; k++)
        ck_assert_int_eq(pthread_create(&t[k], NULL, compile_some_times, NULL), 0);
    for (int k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    ck_assert_int_eq(gn_cache_counted(shared).stored, DISTINCT);
    gn_cache_free(shared);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("code");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, found_again);
        tcase_add_test(t, options_are_in_the_key);
        tcase_add_test(t, payloads_that_do_not_load);
        tcase_add_test(t, threads_share);
    }
    return RUN_CASES("code_cache", t);
}
