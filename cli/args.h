/* Command-line arguments from a table of options.
 *
 * `--name value`, `--name=value`, `-n value`, `-nvalue`; flags of one letter may be joined
 * (-qv); `--` ends the options; a lone `-` is an operand. The last one wins where an option is
 * given twice, but for lists. What is parsed points into argv or into the arena. Commands may
 * have options of one name that differ: each takes its own. */
#ifndef GN_CLI_ARGS_H
#define GN_CLI_ARGS_H

#include "base/arena.h"
#include "base/status.h"

#include <stdio.h>

typedef enum gn_option_kind {
    GN_OPTION_GROUP,   /* no option: `help` is the title of those that follow */
    GN_OPTION_FLAG,    /* bool */
    GN_OPTION_COUNT,   /* int: how often it was given */
    GN_OPTION_STRING,  /* const char * */
    GN_OPTION_INT,     /* int64_t in [min, max] */
    GN_OPTION_REAL,    /* double in [min, max] */
    GN_OPTION_CHOICE,  /* const char *: one of `choices`, canonical spelling */
    GN_OPTION_CHOICES, /* const char *: some of `choices`, separated by commas, canonical spelling
                        */
    GN_OPTION_LIST,    /* gn_string_list, in order */
    GN_OPTION_DEFINE,  /* gn_string_list of name=value; both sides are checked */
} gn_option_kind;

typedef struct gn_string_list {
    const char **p;
    uint32_t n, cap;
} gn_string_list;

typedef struct gn_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    gn_option_kind kind;
    size_t offset;              /* of the value in the struct that is filled */
    uint32_t commands;          /* bits of the commands that take it */
    const char *value;          /* placeholder in the help: "FILE" */
    const char *help;           /* one line or several, without a full stop */
    const char *const *choices; /* CHOICE, CHOICES: ends with NULL; "alias=canonical" accepts alias
                                   for canonical, and "word:" a number from 1 behind it */
    int64_t min, max;           /* INT, REAL */
} gn_option;

typedef struct gn_option_table {
    const gn_option *options;
    size_t n;
    const char *const *commands; /* names of the bits in `commands`, for messages; ends with NULL */
} gn_option_table;

/* Parses argv[0..argc) (no program name) for the command with bit `command`; fills `out` and the
 * operands. GN_ERR_USAGE says what is wrong and what was probably meant. */
GN_NODISCARD gn_status *gn_args_parse(const gn_option_table *table, uint32_t command, int argc,
                                      char *const *argv, gn_arena *arena, void *out,
                                      gn_string_list *operands);

/* The options of a command, aligned; one option a line, or more where its help has more. */
void gn_args_help(const gn_option_table *table, uint32_t command, FILE *to);

/* Is it one that this command takes? */
bool gn_option_is_of(const gn_option *o, uint32_t command);
bool gn_option_takes_value(const gn_option *o);
/* The title that stands before the option at `at`, where it is the first of its group that the
 * command takes, and the command has so many that titles help; else NULL. */
const char *gn_option_group(const gn_option_table *table, uint32_t command, size_t at);

/* "; did you mean 'x'?" in the arena, or "" when nothing is near. `prefix` goes before x ("--"). */
const char *gn_args_suggest(gn_arena *arena, const char *prefix, const char *name,
                            const char *const *candidates, size_t n);

/* A whole number, all of the text; false when it is none or does not fit. */
bool gn_args_int(const char *text, int64_t *out);

#endif
