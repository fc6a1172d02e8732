/* Text of bench's reports: numbers for people, and what each format does with characters that mean
 * something to it. */
/* links: base */
/* sources: ../../cli/text.c ../../cli/utf8.c */
#include "cli/text.h"
#include "cli/utf8.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;
static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static void expect(void (*write)(FILE *, const char *), const char *text, const char *want)
{
    char *out;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    write(f, text);
    fclose(f);
    ck_assert_str_eq(out, want);
    free(out);
}

START_TEST(numbers)
{
    ck_assert_str_eq(gn_text_number(&arena, 0), "0");
    ck_assert_str_eq(gn_text_number(&arena, 0.0000123), "1.23e-05");
    ck_assert_str_eq(gn_text_number(&arena, 0.001234), "0.00123");
    ck_assert_str_eq(gn_text_number(&arena, 0.01234), "0.0123");
    ck_assert_str_eq(gn_text_number(&arena, 0.1234), "0.123");
    ck_assert_str_eq(gn_text_number(&arena, 1.2345), "1.23");
    ck_assert_str_eq(gn_text_number(&arena, 9.999), "10.0");
    ck_assert_str_eq(gn_text_number(&arena, 99.99), "100");
    ck_assert_str_eq(gn_text_number(&arena, 999.9), "1,000");
    ck_assert_str_eq(gn_text_number(&arena, -1234567.2), "-1,230,000");
    ck_assert_str_eq(gn_text_number(&arena, 12345), "12,300");
    ck_assert_str_eq(gn_text_number(&arena, NAN), "-");
    ck_assert_str_eq(gn_text_number(&arena, INFINITY), "never");
    ck_assert_str_eq(gn_text_count(&arena, 1), "1");
    ck_assert_str_eq(gn_text_count(&arena, 999), "999");
    ck_assert_str_eq(gn_text_count(&arena, 1000), "1,000");
    ck_assert_str_eq(gn_text_count(&arena, 12345), "12,345");
    ck_assert_str_eq(gn_text_count(&arena, INFINITY), "never");
    ck_assert_str_eq(gn_text_steps(&arena, 112), "112");
    ck_assert_str_eq(gn_text_steps(&arena, 118913), "119,000");
    ck_assert_str_eq(gn_text_steps(&arena, INFINITY), "never");
    ck_assert_str_eq(gn_text_steps(&arena, NAN), "-");
}
END_TEST

START_TEST(units)
{
    ck_assert_str_eq(gn_text_time(&arena, 0.5), "0.500 us");
    ck_assert_str_eq(gn_text_time(&arena, 999.4), "999 us");
    ck_assert_str_eq(gn_text_time(&arena, 999.6), "1.00 ms");
    ck_assert_str_eq(gn_text_time(&arena, 1.5e6), "1.50 s");
    ck_assert_str_eq(gn_text_time(&arena, 99.96e6), "1 min 40 s");
    ck_assert_str_eq(gn_text_time(&arena, 7290e6), "2 h 1 min");
    ck_assert_str_eq(gn_text_time(&arena, NAN), "-");
    ck_assert_str_eq(gn_text_bytes(&arena, 12), "12.0 B");
    ck_assert_str_eq(gn_text_bytes(&arena, 58300), "58.3 kB");
    ck_assert_str_eq(gn_text_bytes(&arena, 2e15), "2,000 TB");
    ck_assert_str_eq(gn_text_bytes(&arena, -1), "-");
}
END_TEST

START_TEST(formats)
{
    expect(gn_text_html, "a<b & \"c\" 'd'>", "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
    expect(gn_text_latex, "50 % of_a & $b #1 {c} ~^\\ a--b|<>",
           "50 \\% of\\_a \\& \\$b \\#1 \\{c\\} "
           "\\textasciitilde{}\\textasciicircum{}\\textbackslash{} a-{}-b"
           "\\textbar{}\\textless{}\\textgreater{}");
    expect(gn_text_markdown, "a|b *c* _d_ [e](f) `g` <h>\ni",
           "a\\|b \\*c\\* \\_d\\_ \\[e\\](f) \\`g\\` &lt;h&gt; i");
    expect(gn_text_csv, "plain", "plain");
    expect(gn_text_csv, "a,b", "\"a,b\"");
    expect(gn_text_csv, "say \"no\"", "\"say \"\"no\"\"\"");
    expect(gn_text_csv, "two\nlines", "\"two\nlines\"");
    expect(gn_text_csv, " blank", "\" blank\"");
    expect(gn_text_csv, "", "");
}
END_TEST

/* UTF-8 stays; what is none, and control characters, are replaced: every file is valid text. */
START_TEST(bytes)
{
    void (*const all[])(FILE *, const char *) = {gn_text_html, gn_text_latex, gn_text_markdown,
                                                 gn_text_csv};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        expect(all[k], "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
               "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
        expect(all[k], "a\xC3", "a\xEF\xBF\xBD");
        expect(all[k], "\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD");
        expect(all[k], "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
        expect(all[k], "\x1B\x07", "\xEF\xBF\xBD\xEF\xBF\xBD");
    }
}
END_TEST

/* For a cell of a sheet: valid text, characters whole, as many as UTF-16 counts. */
START_TEST(fits)
{
    ck_assert_str_eq(gn_text_fit(&arena, "", 3), "");
    ck_assert_str_eq(gn_text_fit(&arena, "abc", 3), "abc");
    ck_assert_str_eq(gn_text_fit(&arena, "abcd", 3), "abc");
    ck_assert_str_eq(gn_text_fit(&arena, "a\xC3\xA9\xC3\xA9", 2), "a\xC3\xA9");
    ck_assert_str_eq(gn_text_fit(&arena, "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 3),
                     "\xF0\x9F\x98\x80"); /* two units each */
    ck_assert_str_eq(gn_text_fit(&arena, "a\xC3", 9), "a\xEF\xBF\xBD");
    ck_assert_str_eq(gn_text_fit(&arena, "\x1B[31m\tx\n", 9), "\xEF\xBF\xBD[31m\tx\n");
}
END_TEST

/* What a terminal shows of a character: wcwidth's answers. */
START_TEST(cells)
{
    const struct {
        const char *text;
        int bytes, cells;
    } of[] = {{"a", 1, 1},
              {"\xC3\xA9", 2, 1},
              {"\xCC\x81", 2, 0},
              {"\xE4\xB8\xAD", 3, 2},
              {"\xEF\xBD\xA1", 3, 1},
              {"\xEF\xBC\xA1", 3, 2},
              {"\xE2\x80\x8B", 3, 0},
              {"\xF0\x9F\x98\x80", 4, 2}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        ck_assert_int_eq(gn_utf8_length(of[k].text), of[k].bytes);
        ck_assert_int_eq(gn_utf8_cells(of[k].text, of[k].bytes), of[k].cells);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("text");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, numbers);
    tcase_add_test(t, units);
    tcase_add_test(t, formats);
    tcase_add_test(t, bytes);
    tcase_add_test(t, fits);
    tcase_add_test(t, cells);
    return RUN_CASES("bench_text", t);
}
