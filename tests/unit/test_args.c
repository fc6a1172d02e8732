/* The command line: args.c over a table of its own, then the real table of options.c. */
/* links: base */
/* sources: ../../cli/args.c ../../cli/options.c */
#include "cli/args.h"
#include "cli/options.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;

static void setup(void) { gn_arena_init(&arena); }
static void teardown(void) { gn_arena_free(&arena); }

static gn_cli_options opt;
static gn_string_list operands;

/* Parses a command line given as one string of words. */
static gn_status *parse(uint32_t command, const char *line)
{
    char *argv[32];
    int argc = 0;
    char *copy = gn_arena_strdup(&arena, line);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " ")) argv[argc++] = w;
    gn_cli_options_init(&opt);
    operands = (gn_string_list){0};
    return gn_args_parse(&gn_cli_option_table, command, argc, argv, &arena, &opt, &operands);
}

static void accept(uint32_t command, const char *line)
{
    gn_status *s = parse(command, line);
    ck_assert_msg(!s, "%s: %s", line, gn_status_message(s));
}

static void refuse(uint32_t command, const char *line, const char *want)
{
    gn_status *s = parse(command, line);
    ck_assert_msg(s != NULL, "%s: accepted", line);
    ck_assert_int_eq(gn_status_code(s), GN_ERR_USAGE);
    ck_assert_msg(strstr(gn_status_message(s), want) != NULL, "%s: \"%s\" does not say \"%s\"",
                  line, gn_status_message(s), want);
    gn_status_free(s);
}

START_TEST(defaults)
{
    accept(GN_COMMAND_train, "");
    ck_assert_ptr_null(opt.mode);
    ck_assert_int_eq(opt.epochs, -1);
    ck_assert_int_eq(opt.seed, -1);
    ck_assert(!opt.json && !opt.quiet && !opt.verbose && !opt.help);
    ck_assert_uint_eq(operands.n, 0);
}
END_TEST

START_TEST(spellings)
{
    static const char *const lines[] = {"-O eager",
                                        "-Oeager",
                                        "--mode eager",
                                        "--mode=eager",
                                        "-O0",
                                        "-O 0",
                                        "-O max-autotune -O eager"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        accept(GN_COMMAND_compile, lines[i]);
        ck_assert_str_eq(opt.mode, "eager");
    }
    static const char *const levels[] = {"eager", "default", "reduce-overhead", "max-autotune"};
    for (int i = 0; i < 4; i++) {
        char line[8] = {'-', 'O', (char)('0' + i), 0};
        accept(GN_COMMAND_run, line);
        ck_assert_str_eq(opt.mode, levels[i]);
    }
}
END_TEST

START_TEST(order)
{
    accept(GN_COMMAND_compile, "a.gnn -D hidden=16 -Dp=0.5 --define=f=g=h -qvv - -- -x --json");
    ck_assert_uint_eq(operands.n, 4);
    ck_assert_str_eq(operands.p[0], "a.gnn");
    ck_assert_str_eq(operands.p[1], "-");
    ck_assert_str_eq(operands.p[2], "-x");
    ck_assert_str_eq(operands.p[3], "--json");
    ck_assert_uint_eq(opt.defines.n, 3);
    ck_assert_str_eq(opt.defines.p[0], "hidden=16");
    ck_assert_str_eq(opt.defines.p[1], "p=0.5");
    ck_assert_str_eq(opt.defines.p[2], "f=g=h");
    ck_assert(opt.quiet && !opt.json);
    ck_assert_int_eq(opt.verbose, 2);
}
END_TEST

START_TEST(joined)
{
    accept(GN_COMMAND_compile, "-qvoout.txt");
    ck_assert(opt.quiet);
    ck_assert_int_eq(opt.verbose, 1);
    ck_assert_str_eq(opt.output, "out.txt");
}
END_TEST

START_TEST(numbers)
{
    accept(GN_COMMAND_train, "--epochs 1 --seed=9223372036854775807 --split 0");
    ck_assert_int_eq(opt.epochs, 1);
    ck_assert(opt.seed == INT64_MAX);
    ck_assert_int_eq(opt.split, 0);
    accept(GN_COMMAND_train, "--epochs 0"); /* the weights that training begins with */
    refuse(GN_COMMAND_train, "--seed -1", "--seed: -1 is below 0");
    refuse(GN_COMMAND_train, "--threads 5000", "--threads: 5000 is above 4096");
    refuse(GN_COMMAND_train, "--seed 9223372036854775808", "is not a whole number");
    static const char *const bad[] = {"1.5", "1e3", "0x10", "abc", "+1", "1_000", "--", "1,", "-"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(GN_COMMAND_train, gn_arena_printf(&arena, "--epochs %s", bad[i]),
               gn_arena_printf(&arena, "--epochs: '%s' is not a whole number", bad[i]));
    refuse(GN_COMMAND_train, "--epochs=", "--epochs: '' is not a whole number");
}
END_TEST

START_TEST(suggestions)
{
    refuse(GN_COMMAND_train, "--epoch 3", "unknown option '--epoch'; did you mean '--epochs'?");
    refuse(GN_COMMAND_train, "--thread=3", "did you mean '--threads'?");
    refuse(GN_COMMAND_compile, "-O max-autotun", "did you mean 'max-autotune'?");
    refuse(GN_COMMAND_compile, "-O defualt",
           "--mode: unknown value 'defualt'; did you mean 'default'?");
    refuse(GN_COMMAND_compile, "-O 4", "it is one of eager, default");
    refuse(GN_COMMAND_compile, "--emit=llmv", "did you mean 'llvm'?");
    refuse(GN_COMMAND_compile, "-O eager=eager", "unknown value");
    accept(GN_COMMAND_train, "--features svd:64");
    ck_assert_str_eq(opt.features, "svd:64");
    static const char *const bad[] = {"svd:", "svd:0", "pca:-1", "pca:x", "svd:8x"};
    for (int k = 0; k < 5; k++)
        refuse(GN_COMMAND_train, gn_arena_printf(&arena, "--features %s", bad[k]),
               gn_arena_printf(&arena, "'%s': behind %.4s stands a whole number from 1", bad[k],
                               bad[k]));
    refuse(GN_COMMAND_train, "--features svd", "it is one of data, identity, degree, ones, svd:");
    refuse(GN_COMMAND_train, "--zzzzzzzzzz", "unknown option '--zzzzzzzzzz'");
    ck_assert_ptr_null(
        strstr(gn_args_suggest(&arena, "", "zzzzzz", (const char *const[]){"train"}, 1), "mean"));
}
END_TEST

START_TEST(refusals)
{
    refuse(GN_COMMAND_train, "-Z", "unknown option '-Z'");
    refuse(GN_COMMAND_train, "-qZ", "unknown option '-Z'");
    refuse(GN_COMMAND_train, "--json=yes", "--json takes no value");
    refuse(GN_COMMAND_train, "--data", "--data needs a value: PATH");
    refuse(GN_COMMAND_train, "-D", "--define needs a value: NAME=VALUE");
    refuse(GN_COMMAND_train, "-D hidden", "--define: 'hidden' is not name=value");
    refuse(GN_COMMAND_train, "-D =3", "'=3' is not name=value");
    refuse(GN_COMMAND_train, "-D x=", "'x=' is not name=value");
    refuse(GN_COMMAND_train, "--save=", "--save: the FILE is empty");
    refuse(GN_COMMAND_run, "--epochs 3", "'run' takes no option --epochs; it belongs to 'train'");
    refuse(GN_COMMAND_opt, "--data x", "it belongs to 'compile', 'train', 'run'");
}
END_TEST

/* One name, another option: each command has its own. */
START_TEST(same_names)
{
    accept(GN_COMMAND_bench, "--threads 1,2 --data a,b -o here");
    ck_assert_str_eq(opt.thread_list, "1,2");
    ck_assert_int_eq(opt.threads, -1);
    ck_assert_str_eq(opt.output, "here");
    accept(GN_COMMAND_train, "--threads 2 --data a,b");
    ck_assert_int_eq(opt.threads, 2);
    ck_assert_ptr_null(opt.thread_list);
    refuse(GN_COMMAND_train, "--threads 1,2", "'1,2' is not a whole number");
    refuse(GN_COMMAND_train, "-o x",
           "'train' takes no option --output; it belongs to 'compile', 'bench', 'opt', 'reduce'");
    refuse(GN_COMMAND_train, "--modes eager",
           "'train' takes no option --modes; it belongs to 'bench'");
}
END_TEST

/* The table itself: no two options of one name or letter, no help without end. */
START_TEST(table)
{
    const gn_option_table *t = &gn_cli_option_table;
    for (size_t i = 0; i < t->n; i++) {
        const gn_option *o = &t->options[i];
        if (o->kind == GN_OPTION_GROUP) { /* a title of something */
            ck_assert(!o->name && !o->letter && o->help && i + 1 < t->n && t->options[i + 1].name);
            continue;
        }
        bool value = o->kind != GN_OPTION_FLAG && o->kind != GN_OPTION_COUNT;
        ck_assert(o->name || o->letter);
        ck_assert(o->commands && o->help);
        ck_assert_msg(value == (o->value != NULL), "%s", o->name);
        ck_assert((o->kind == GN_OPTION_CHOICE || o->kind == GN_OPTION_CHOICES) ==
                  (o->choices != NULL));
        if (o->kind == GN_OPTION_INT) ck_assert(o->min < o->max);
        for (size_t k = 0; k < i; k++) { /* one name or letter, one option a command */
            if (!gn_option_is_of(&t->options[k], o->commands)) continue;
            ck_assert_str_ne(o->name, t->options[k].name);
            ck_assert(!o->letter || o->letter != t->options[k].letter);
        }
    }
}
END_TEST

START_TEST(help)
{
    for (uint32_t i = 0; i < GN_COMMAND_COUNT; i++) {
        char *text;
        size_t n;
        FILE *f = open_memstream(&text, &n);
        gn_args_help(&gn_cli_option_table, 1u << i, f);
        fclose(f);
        ck_assert_ptr_nonnull(strstr(text, "-h, --help"));
        ck_assert((strstr(text, "the rest:\n") != NULL) ==
                  (strstr(text, "how it is compiled:\n") != NULL));
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            ck_assert_msg(strlen(line) <= 100, "%s", line);
        free(text);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("args");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, spellings);
    tcase_add_test(t, order);
    tcase_add_test(t, joined);
    tcase_add_test(t, numbers);
    tcase_add_test(t, suggestions);
    tcase_add_test(t, refusals);
    tcase_add_test(t, same_names);
    tcase_add_test(t, table);
    tcase_add_test(t, help);
    return RUN_CASES("args", t);
}
