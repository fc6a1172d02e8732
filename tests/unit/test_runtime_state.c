/* The state store and fills: names, reproducible numbers, snapshots, rounding. */
/* links: base runtime */
#include "runtime/state.h"
#include "runtime_check.h"

#include <math.h>
#include <stdio.h>

static gn_state s;

static void add(const char *name, gn_elem elem, int64_t rows, int64_t row_elems)
{
    ok(gn_state_add(&s, name, elem, rows, row_elems));
}

static double value(const char *name, int64_t i)
{
    const gn_state_tensor *t = gn_state_find(&s, name);
    return gn_fill_load(t->data, t->elem, i);
}

START_TEST(names_and_shapes)
{
    gn_state_init(&s);
    for (int k = 0; k < 50; k++) {
        char name[16];
        snprintf(name, sizeof name, "t.%d", k);
        add(name, GN_F32, k, 3);
    }
    ck_assert_int_eq(s.n, 50);
    ck_assert_ptr_null(gn_state_find(&s, "t.50"));
    const gn_state_tensor *t = gn_state_find(&s, "t.7");
    ck_assert_int_eq(t->rows, 7);
    ck_assert_uint_eq((uintptr_t)t->data % 64, 0);
    for (int64_t i = 0; i < 21; i++) ck_assert(value("t.7", i) == 0);
    ck_assert_int_eq(gn_state_bytes(&s), 49 * 50 / 2 * 3 * 4);
    gn_binding b[50];
    gn_state_bindings(&s, b);
    ck_assert_str_eq(b[7].name, "t.7");
    ck_assert_ptr_eq(b[7].data, t->data);
    ck_assert_int_eq(b[7].row_elems, 3);
    refused(gn_state_add(&s, "t.3", GN_F32, 1, 1), GN_ERR_USAGE, "'t.3' is there already");
    refused(gn_state_add(&s, "u", GN_F32, -1, 1), GN_ERR_USAGE, "state 'u' of -1 rows");
    refused(gn_state_add(&s, "u", GN_F32, INT64_MAX, 2), GN_ERR_NOMEM, "state 'u'");
    refused(gn_state_add(&s, "u", GN_F32, INT64_MAX, 1), GN_ERR_NOMEM,
            "u of 9223372036854775807 elements");
    ck_assert_int_eq(s.n, 50);
    gn_state_free(&s);
    gn_state_free(&s);
    OUT_OF_MEMORY_SWEEP(gn_state_add(&s, "x", GN_F64, 2, 2));
    gn_state_free(&s);
}
END_TEST

START_TEST(constants)
{
    gn_state_init(&s);
    for (int e = 0; e < GN_ELEM_COUNT; e++) add(gn_elem_name((gn_elem)e), (gn_elem)e, 5, 1);
    for (int e = 0; e < GN_ELEM_COUNT; e++) {
        const char *name = gn_elem_name((gn_elem)e);
        ok(gn_state_fill(&s, name, (gn_fill){GN_FILL_ONES}, 0));
        for (int i = 0; i < 5; i++) ck_assert(value(name, i) == 1);
        ok(gn_state_fill(&s, name, (gn_fill){GN_FILL_CONSTANT, 3, 0}, 0));
        for (int i = 0; i < 5; i++) ck_assert(value(name, i) == (e == GN_BOOL ? 1 : 3));
        ok(gn_state_fill(&s, name, (gn_fill){GN_FILL_ZEROS}, 0));
        for (int i = 0; i < 5; i++) ck_assert(value(name, i) == 0);
    }
    gn_state_free(&s);
}
END_TEST

START_TEST(uniform_numbers)
{
    gn_state_init(&s);
    const int n = 20000;
    add("w", GN_F32, n, 1);
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_UNIFORM, -0.25, 0.75}, 3));
    double sum = 0, least = 1, most = -1;
    for (int i = 0; i < n; i++) {
        double v = value("w", i);
        HOLDS(v >= -0.25 && v < 0.75);
        sum += v;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    ck_assert_msg(fabs(sum / n - 0.25) < 0.01 && least < -0.249 && most > 0.749,
                  "mean %g in [%g, %g]", sum / n, least, most);
    /* A range whose numbers all round to its ends in f32 still leaves out the upper end. */
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_UNIFORM, 1, nextafterf(1, 2)}, 3));
    for (int i = 0; i < n; i++) HOLDS(value("w", i) == 1);
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_UNIFORM, 2, 2}, 3));
    for (int i = 0; i < n; i++) HOLDS(value("w", i) == 2);
    gn_state_free(&s);
}
END_TEST

START_TEST(normal_numbers)
{
    gn_state_init(&s);
    const int n = 40000;
    add("w", GN_F32, n, 1);
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_NORMAL, 2, 3}, 11));
    double m[5] = {0};
    for (int i = 0; i < n; i++) {
        double z = (value("w", i) - 2) / 3, p = 1;
        for (int k = 0; k < 5; k++, p *= z) m[k] += p / n;
    }
    ck_assert_msg(fabs(m[1]) < 0.02 && fabs(m[2] - 1) < 0.03 && fabs(m[3]) < 0.08 &&
                      fabs(m[4] - 3) < 0.2,
                  "moments %g %g %g %g", m[1], m[2], m[3], m[4]);
    double pairs = 0; /* the two numbers of a pair have nothing to do with each other */
    for (int i = 0; i + 1 < n; i += 2)
        pairs += (value("w", i) - 2) * (value("w", i + 1) - 2) / 9 / (n / 2);
    ck_assert_msg(fabs(pairs) < 0.03, "correlation %g", pairs);
    gn_state_free(&s);
}
END_TEST

START_TEST(draws_depend_on_seed_and_name_alone)
{
    static const gn_fill fills[] = {{GN_FILL_UNIFORM, -1, 1}, {GN_FILL_NORMAL, 0, 1}};
    for (int k = 0; k < 2; k++) {
        gn_state_init(&s);
        add("a", GN_F32, 10, 10);
        add("b", GN_F32, 10, 10);
        add("c", GN_F64, 10, 10);
        gn_state other;
        gn_state_init(&other);
        ok(gn_state_add(&other, "b", GN_F32, 100, 1));
        ok(gn_state_fill(&s, "a", fills[k], 5));
        ok(gn_state_fill(&s, "b", fills[k], 5));
        ok(gn_state_fill(&other, "b", fills[k], 5));
        const void *a = gn_state_find(&s, "a")->data, *b = gn_state_find(&s, "b")->data;
        ck_assert_mem_eq(b, gn_state_find(&other, "b")->data, 400);
        ck_assert_mem_ne(a, b, 400);
        ok(gn_state_fill(&other, "b", fills[k], 6));
        ck_assert_mem_ne(b, gn_state_find(&other, "b")->data, 400);
        double first = value("b", 0);
        ok(gn_fill_tensor(fills[k], 5, "b", GN_F64, 100, gn_state_find(&s, "c")->data));
        for (int i = 0; i < 100; i++) ck_assert((float)value("c", i) == (float)value("b", i));
        ck_assert(value("b", 0) == first);
        gn_state_free(&s);
        gn_state_free(&other);
    }
}
END_TEST

START_TEST(fills_that_make_no_sense)
{
    gn_state_init(&s);
    add("i", GN_I32, 1, 1);
    add("f", GN_F32, 1, 1);
    refused(gn_state_fill(&s, "g", (gn_fill){GN_FILL_ONES}, 0), GN_ERR_USAGE,
            "there is no state 'g'");
    refused(gn_state_fill(&s, "i", (gn_fill){GN_FILL_UNIFORM, 0, 1}, 0), GN_ERR_USAGE,
            "state 'i': random numbers are asked for in i32");
    refused(gn_state_fill(&s, "i", (gn_fill){GN_FILL_NORMAL, 0, 1}, 0), GN_ERR_USAGE, "no float");
    refused(gn_state_fill(&s, "f", (gn_fill){GN_FILL_UNIFORM, 1, 0}, 0), GN_ERR_USAGE,
            "from 1 up to 0");
    refused(gn_state_fill(&s, "f", (gn_fill){GN_FILL_NORMAL, 0, -1}, 0), GN_ERR_USAGE,
            "deviation -1");
    refused(gn_state_fill(&s, "f", (gn_fill){GN_FILL_NORMAL, (double)NAN, 1}, 0), GN_ERR_USAGE,
            "nan");
    gn_state_free(&s);
}
END_TEST

START_TEST(scalars)
{
    gn_state_init(&s);
    add("seed", GN_I64, 1, 1);
    add("lr", GN_F32, 1, 1);
    add("v", GN_F32, 2, 1);
    int64_t v;
    ok(gn_state_set_int(&s, "seed", INT64_MAX - 1));
    ok(gn_state_get_int(&s, "seed", &v));
    ck_assert_int_eq(v, INT64_MAX - 1);
    ok(gn_state_set_float(&s, "lr", 0.1));
    ck_assert(value("lr", 0) == (double)0.1f);
    ok(gn_state_set_int(&s, "lr", 3));
    ok(gn_state_get_int(&s, "lr", &v));
    ck_assert_int_eq(v, 3);
    ok(gn_state_set_float(&s, "seed", 1e300));
    ok(gn_state_get_int(&s, "seed", &v));
    ck_assert_int_eq(v, INT64_MAX);
    refused(gn_state_set_int(&s, "v", 1), GN_ERR_USAGE, "'v' has 2 elements");
    refused(gn_state_set_float(&s, "w", 1), GN_ERR_USAGE, "no state 'w'");
    refused(gn_state_get_int(&s, "v", &v), GN_ERR_USAGE, "not one");
    gn_state_free(&s);
}
END_TEST

START_TEST(snapshots)
{
    gn_state_init(&s);
    add("w", GN_F32, 40, 3);
    add("step", GN_I64, 1, 1);
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_NORMAL, 0, 1}, 1));
    ok(gn_state_set_int(&s, "step", 9));
    gn_state best;
    gn_state_init(&best);
    OUT_OF_MEMORY_SWEEP(gn_state_snapshot(&s, &best));
    const void *data = gn_state_find(&s, "w")->data;
    float *keep = malloc(480);
    memcpy(keep, data, 480);
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_ONES}, 0));
    ok(gn_state_set_int(&s, "step", 10));
    ok(gn_state_restore(&s, &best));
    ck_assert_ptr_eq(gn_state_find(&s, "w")->data, data); /* instances hold on to it */
    ck_assert_mem_eq(data, keep, 480);
    int64_t step;
    ok(gn_state_get_int(&s, "step", &step));
    ck_assert_int_eq(step, 9);
    ok(gn_state_fill(&s, "w", (gn_fill){GN_FILL_ONES}, 0));
    ok(gn_state_restore(&best, &s)); /* and the other way: a snapshot is taken again without
                                        allocating */
    ck_assert_mem_eq(gn_state_find(&best, "w")->data, data, 480);
    add("more", GN_F32, 1, 1);
    refused(gn_state_restore(&s, &best), GN_ERR_USAGE, "of another state");
    free(keep);
    gn_state_free(&best);
    gn_state_free(&s);
}
END_TEST

/* Rounding ------------------------------------------------------------------------------------- */

/* Every number of a 16-bit float comes back, and what lies between two of them goes to the nearer,
 * ties to even. */
static void check_half(gn_elem elem)
{
    for (uint32_t u = 0; u < 0x8000; u++) {
        uint16_t h = (uint16_t)u, next = (uint16_t)(u + 1), out;
        double v = gn_fill_load(&h, elem, 0), up = gn_fill_load(&next, elem, 0);
        if (isnan(v)) {
            gn_fill_store(&out, elem, 0, v);
            HOLDS(isnan(gn_fill_load(&out, elem, 0)));
            continue;
        }
        gn_fill_store(&out, elem, 0, v);
        SAME(out, h);
        gn_fill_store(&out, elem, 0, -v);
        SAME(out, h | 0x8000);
        if (!isfinite(v) || !isfinite(up)) continue;
        double middle = v + (up - v) / 2;
        gn_fill_store(&out, elem, 0, middle);
        SAME(out, h & 1 ? next : h);
        gn_fill_store(&out, elem, 0, nextafter(middle, INFINITY));
        SAME(out, next);
        gn_fill_store(&out, elem, 0, nextafter(middle, 0));
        SAME(out, h);
    }
    uint16_t out;
    gn_fill_store(&out, elem, 0, 1e300);
    HOLDS(isinf(gn_fill_load(&out, elem, 0)));
}

START_TEST(half_precision)
{
    check_half(GN_F16);
    check_half(GN_BF16);
    uint16_t out;
    gn_fill_store(&out, GN_F16, 0, 65519.99);
    ck_assert(gn_fill_load(&out, GN_F16, 0) == 65504);
    gn_fill_store(&out, GN_F16, 0, 65520);
    ck_assert(isinf(gn_fill_load(&out, GN_F16, 0)));
}
END_TEST

START_TEST(integers_are_held_to_their_range)
{
    int32_t i;
    uint8_t u;
    int64_t l;
    gn_fill_store(&i, GN_I32, 0, -1e10);
    ck_assert_int_eq(i, INT32_MIN);
    gn_fill_store(&i, GN_I32, 0, -2.9);
    ck_assert_int_eq(i, -2);
    gn_fill_store(&u, GN_U8, 0, 300);
    ck_assert_int_eq(u, 255);
    gn_fill_store(&u, GN_U8, 0, (double)NAN);
    ck_assert_int_eq(u, 0);
    gn_fill_store(&l, GN_I64, 0, -0x1p63);
    ck_assert(l == INT64_MIN);
}
END_TEST

RUN_SUITE("runtime state", names_and_shapes, constants, uniform_numbers, normal_numbers,
          draws_depend_on_seed_and_name_alone, fills_that_make_no_sense, scalars, snapshots,
          half_precision, integers_are_held_to_their_range)
