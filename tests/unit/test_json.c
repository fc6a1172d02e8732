/* The JSON writer: what it writes, and that what it writes reads back. */
/* links: base */
/* sources: ../../cli/json.c ../../cli/utf8.c */
#include "cli/json.h"
#include "support/suite.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;
static FILE *file;
static gn_json json;

static void begin(bool lines)
{
    file = open_memstream(&text, &size);
    gn_json_init(&json, file, lines);
}

static void expect(const char *want)
{
    fclose(file);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(nesting)
{
    begin(true);
    gn_json_object(&json, NULL);
    gn_json_string(&json, "model", "GCN");
    gn_json_int(&json, "params", INT64_MIN);
    gn_json_array(&json, "runs");
    gn_json_object(&json, NULL);
    gn_json_double(&json, "loss", 0.5);
    gn_json_end(&json);
    gn_json_array(&json, NULL);
    gn_json_end(&json);
    gn_json_end(&json);
    gn_json_object(&json, "none");
    gn_json_end(&json);
    gn_json_bool(&json, "done", true);
    gn_json_bool(&json, "late", false);
    gn_json_null(&json, "nothing");
    gn_json_string(&json, "no string", NULL);
    gn_json_end(&json);
    expect("{\n  \"model\": \"GCN\",\n  \"params\": -9223372036854775808,\n  \"runs\": [\n    {\n  "
           "    \"loss\": 0.5\n"
           "    },\n    []\n  ],\n  \"none\": {},\n  \"done\": true,\n  \"late\": false,\n  "
           "\"nothing\": null,\n"
           "  \"no string\": null\n}\n");
}
END_TEST

START_TEST(one_line)
{
    begin(false);
    gn_json_array(&json, NULL);
    for (int i = 0; i < 3; i++) gn_json_int(&json, NULL, i);
    gn_json_object(&json, NULL);
    gn_json_int(&json, "a", 1);
    gn_json_int(&json, "b", 2);
    gn_json_end(&json);
    gn_json_end(&json);
    expect("[0, 1, 2, {\"a\": 1, \"b\": 2}]\n");
}
END_TEST

START_TEST(escapes)
{
    begin(false);
    gn_json_string(&json, NULL, "a\"b\\c\n\t\r\x01\x1f/\x7f");
    expect("\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u001f/\\u007f\"\n");
}
END_TEST

START_TEST(utf8)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"\n"},
        {"a\xFF!", "\"a\\ufffd!\"\n"},                              /* no lead byte */
        {"\xC3", "\"\\ufffd\"\n"},                                  /* cut off */
        {"\xE2\x82", "\"\\ufffd\\ufffd\"\n"},                       /* cut off */
        {"\xC0\xAF", "\"\\ufffd\\ufffd\"\n"},                       /* overlong */
        {"\xE0\x80\xAF", "\"\\ufffd\\ufffd\\ufffd\"\n"},            /* overlong */
        {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\"\n"},            /* a surrogate */
        {"\xF4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n"}, /* above U+10FFFF */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(false);
        gn_json_string(&json, NULL, cases[i].in);
        expect(cases[i].out);
    }
}
END_TEST

START_TEST(keys_are_escaped)
{
    begin(false);
    gn_json_object(&json, NULL);
    gn_json_int(&json, "a\"b", 1);
    gn_json_end(&json);
    expect("{\"a\\\"b\": 1}\n");
}
END_TEST

START_TEST(doubles)
{
    static const struct {
        double v;
        const char *out;
    } cases[] = {
        {0.0, "0\n"},
        {-0.0, "-0\n"},
        {0.1, "0.1\n"},
        {1.0 / 3, "0.3333333333333333\n"},
        {1e300, "1e+300\n"},
        {NAN, "null\n"},
        {INFINITY, "null\n"},
        {-INFINITY, "null\n"},
        {0.1 + 0.2, "0.30000000000000004\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(false);
        gn_json_double(&json, NULL, cases[i].v);
        expect(cases[i].out);
    }
}
END_TEST

START_TEST(round_trip)
{
    uint64_t x = 0x9E3779B97F4A7C15u;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double d;
        float f;
        uint32_t low = (uint32_t)x;
        memcpy(&d, &x, sizeof d);
        memcpy(&f, &low, sizeof f);
        begin(false);
        gn_json_double(&json, NULL, d);
        fclose(file);
        ck_assert(isfinite(d) ? strtod(text, NULL) == d : !strcmp(text, "null\n"));
        free(text);
        begin(false);
        gn_json_float(&json, NULL, f);
        fclose(file);
        ck_assert(isfinite(f) ? strtof(text, NULL) == f : !strcmp(text, "null\n"));
        free(text);
    }
    begin(false);
    gn_json_float(&json, NULL, 0.1f);
    expect("0.1\n");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("json");
    tcase_add_test(t, nesting);
    tcase_add_test(t, one_line);
    tcase_add_test(t, escapes);
    tcase_add_test(t, utf8);
    tcase_add_test(t, keys_are_escaped);
    tcase_add_test(t, doubles);
    tcase_add_test(t, round_trip);
    return RUN_CASES("json", t);
}
