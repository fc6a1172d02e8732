/* Code that tells ThreadSanitizer what it touches: in a build with it, planted races of every form
 * of access are found, at both ends of what the access touches, and one element further there is
 * none; in other builds it says the same things to nobody, and computes the same. */
/* forks: yes */
/* links: codegen runtime ir base */
/* timeout: 120 */
#include "codegen_test.h"

#include <pthread.h>

/* Row 0 touches elements of x, rows 4 to 7 write elements q to q + 3.  %i is the element, %1 the
 * lane. */
typedef struct form {
    const char *loop;    /* over lanes */
    const char *element; /* of the lane */
    int first, last;     /* of x */
} form;

#define LANES(n) "for %1 in 0 .. " n " step 1 vector none {\n"

static const form forms[] = {
    {"for %1 in 0 .. 1 step 1 serial none {\n", "%2 = iadd b, %1\n", 100, 100},
    {LANES("16"), "%2 = iadd b, %1\n", 100, 115},
    {LANES("21"), "%2 = iadd b, %1\n", 100, 120}, /* a tail under a constant mask */
    {LANES("m"), "%2 = iadd b, %1\n", 100, 118},  /* a tail of a length that is not known */
    {LANES("16"), "%3 = isub 15, %1\n%2 = iadd b, %3\n", 100, 115},
    {LANES("16"), "%3 = imul %1, 2\n%2 = iadd b, %3\n", 100, 130},
    {LANES("16"), "%3 = imul %1, 9\n%2 = iadd b, %3\n", 100, 235},
    {LANES("16"), "%3 = load i64 %t[%1]\n%2 = iadd b, %3\n", 100, 205},
    {LANES("m"), "%3 = load i64 %t[%1]\n%2 = iadd b, %3\n", 100, 233},
    {LANES("32"), "%2 = iadd b, %1\n%4 = load i64 %u[%1]\n%5 = ieq %4, 1\nif %5 {\n", 103,
     127}, /* lanes by data */
    {LANES("32"),
     "%3 = load i64 %t[%1]\n%2 = iadd b, %3\n%4 = load i64 %u[%1]\n%5 = ieq %4, 1\nif %5 {\n", 114,
     289},
};
enum {
    FORMS = sizeof forms / sizeof *forms,
    N = 512,
    ELEMS = 3,
    CPUS = 2,
    PLANTED = 2 * FORMS * ELEMS * CPUS
};

static const char *const elem[ELEMS] = {"f32", "f64", "bf16"};

/* t: distinct, such that lanes that do not run lie outside of those that do; u: lanes 3 to 27. */
static int64_t t_of(int l) { return (l ^ 1) * 7; }

static const char *text_of(const form *f, int e, bool store)
{
    gn_buf b = {.arena = &arena};
    const char *type = e == 1 ? "f64" : "f32";
    gn_buf_printf(&b,
                  "kernel @k (sym b, sym m, sym q, %%x: %s[%d] read_write, %%y: %s[64] write, %%t: "
                  "i64[32] read,\n"
                  "  %%u: i32[32] read) {\nfor %%9 in 0 .. 8 step 1 thread none {\n%%8 = ieq %%9, "
                  "0\nif %%8 {\n%s%s",
                  elem[e], N, elem[e], f->loop, f->element);
    if (store)
        gn_buf_printf(&b, "store %%x[%%2], 1.0%s\n", e == 1 ? ":f64" : "");
    else
        gn_buf_printf(&b, "%%7 = load %s %%x[%%2]\nstore %%y[%%1], %%7\n", type);
    gn_buf_printf(&b,
                  "%s}\n}\n%%11 = ile 4, %%9\nif %%11 {\n%%12 = iadd q, %%9\n%%13 = isub %%12, 4\n",
                  strstr(f->element, "if") ? "}\n" : "");
    gn_buf_printf(&b, "store %%x[%%13], 2.0%s\n}\n}\n}\n", e == 1 ? ":f64" : "");
    return b.p;
}

typedef struct world {
    double x[N], y[64];
    int64_t t[32], sym[3];
    int32_t u[32];
    void *buf[4];
    gn_kernel_fn fn;
} world;

static void *half(void *p)
{
    world *w = p;
    w->fn(w->buf, w->sym, 4, 8);
    return NULL;
}

/* Rows 0 to 3 on this thread, rows 4 to 7 on another one, which nothing orders. */
static void on_two_threads(world *w, gn_kernel_fn fn, int64_t q)
{
    pthread_t other;
    w->fn = fn;
    w->sym[0] = 100;
    w->sym[1] = 19;
    w->sym[2] = q;
    for (int l = 0; l < 32; l++) w->t[l] = t_of(l), w->u[l] = l >= 3 && l <= 27;
    memcpy(w->buf, (void *[]){w->x, w->y, w->t, w->u}, sizeof w->buf);
    ck_assert(!pthread_create(&other, NULL, half, w));
    fn(w->buf, w->sym, 0, 4);
    pthread_join(other, NULL);
}

typedef struct planted {
    const form *form;
    int elem, cpu;
    bool store;
} planted;

static planted planted_of(int i)
{
    return (planted){&forms[i % FORMS], .store = i / FORMS % 2, .elem = i / FORMS / 2 % ELEMS,
                     .cpu = i / FORMS / 2 / ELEMS ? 2 : 0}; /* with masks where there are, and
                                                               without */
}

static gn_image *code_of(const planted *p, const char **text)
{
    gn_image *image = NULL;
    gn_codegen_options o = {.opt_level = 1, .cpu = test_cpus[p->cpu], .watch = true};
    const kir_kernel *k = verified(*text = text_of(p->form, p->elem, p->store));
    succeeded(gn_cpu_compile(&k, 1, &o, &image, NULL), *text);
    return image;
}

/* A process each, which ThreadSanitizer must end. */
START_TEST(races)
{
    planted p = planted_of(_i / 2);
    const char *text;
    static world w;
    gn_image *image = code_of(&p, &text);
    on_two_threads(&w, gn_image_kernel(image, 0), _i % 2 ? p.form->last : p.form->first - 3);
    gn_image_free(image);
}
END_TEST

/* All in one: a process that ThreadSanitizer lets end takes a second to. */
START_TEST(near_misses)
{
    static world w;
    for (int i = 0; i < PLANTED; i++) {
        planted p = planted_of(i);
        const char *text;
        gn_image *image = code_of(&p, &text);
        on_two_threads(&w, gn_image_kernel(image, 0), p.form->first - 4);
        on_two_threads(&w, gn_image_kernel(image, 0), p.form->last + 1);
        gn_image_free(image);
    }
}
END_TEST

START_TEST(computes_the_same)
{
    int64_t t[32];
    int32_t u[32];
    for (int l = 0; l < 32; l++) t[l] = t_of(l), u[l] = l % 3 > 0;
    for (int i = 0; i < 2 * FORMS * ELEMS; i++) {
        planted p = planted_of(i);
        check_options o = {
            .syms = {100, 19, 400}, .data = {[2] = t, [3] = u}, .watch = true, .cpus = 2};
        checked(text_of(p.form, p.elem, p.store), &o);
    }
}
END_TEST

/* Nothing in the text of code that is not watched. */
START_TEST(says_so)
{
    const char *text = text_of(&forms[9], 0, true);
    const kir_kernel *k = verified(text);
    for (int watch = 0; watch < 2; watch++) {
        gn_buf b = {.arena = &arena};
        gn_codegen_options o = {.opt_level = 1, .watch = watch};
        succeeded(gn_cpu_emit(&k, 1, &o, GN_EMIT_LLVM, &b), text);
        ck_assert(!strstr(b.p, "call void @gn_kernel_touch(") == !watch);
        ck_assert(!strstr(b.p, "call void @gn_kernel_touch_lanes(") == !watch);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("watch");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, says_so);
    tcase_add_test(c, computes_the_same);
    if (gn_watched) {
        tcase_add_loop_exit_test(c, races, 66, 0, 2 * PLANTED);
        tcase_add_test(c, near_misses);
    }
    return run_tests(c, "codegen watch");
}
