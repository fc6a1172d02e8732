/* Columns: what a row of the results says of a cell; the one list that CSV, LaTeX, Markdown, page
 * and workbook take. */
#ifndef GN_CLI_BENCH_COLUMNS_H
#define GN_CLI_BENCH_COLUMNS_H

#include "cli/bench/bench.h"

/* Which tables have a column. */
enum {
    GN_TABLE_TRAINING = 1 << 0,
    GN_TABLE_INFERENCE = 1 << 1,
    GN_TABLE_COMPILING = 1 << 2,
    GN_TABLE_MEMORY = 1 << 3,
    GN_TABLE_AGREEMENT = 1 << 4,
    GN_TABLE_ERRORS = 1 << 5,
    GN_TABLE_MODES = 1 << 6,   /* mode against mode: of each question its main figure */
    GN_TABLE_DYNAMIC = 1 << 7, /* the same for dynamic settings */
    GN_TABLE_NOISE = 1 << 8,
    GN_TABLE_BREAK_EVEN = 1 << 9,
    GN_TABLE_SEARCH = 1 << 10,
    GN_TABLE_TAIL = 1 << 11,
    GN_TABLE_THREADS = 1 << 12,
    GN_TABLE_KERNELS = 1 << 13,
    GN_TABLE_SIZES = 1 << 14,
    GN_TABLE_ALL = (1 << 15) - 1,
};

typedef enum gn_value_kind {
    GN_VALUE_TEXT,
    GN_VALUE_COUNT,  /* a whole number */
    GN_VALUE_STEPS,  /* an estimate of a whole number, shown with three digits; infinite: never */
    GN_VALUE_NUMBER, /* shown with three digits that count */
} gn_value_kind;

typedef struct gn_value {
    const char *text; /* TEXT */
    double number;    /* the others; NaN: not known */
} gn_value;

typedef struct gn_column {
    const char *name;  /* in the CSV: unit and all */
    const char *title; /* for people; `unit` comes after it */
    const char *unit;  /* "": none */
    gn_value_kind kind;
    uint32_t tables;
    gn_value (*of)(const gn_bench *b, const gn_cell *c);
} gn_column;

extern const gn_column gn_columns[];
extern const int gn_column_count;

/* Does the column belong to one of the tables, and has it anything to say: some cell has a value,
 * and where it names an axis, the axis has more than one.  The status speaks where a cell did not
 * end well. */
bool gn_column_shown(const gn_bench *b, const gn_column *col, uint32_t tables);
/* Does the cell belong to a table: those of errors hold what did not end well, the others of
 * figures what was measured. */
bool gn_cell_shown(const gn_cell *c, uint32_t table);

/* The rows of a table. */
gn_bench *gn_table_rows(gn_bench *b, uint32_t table);

const char *gn_value_text(gn_arena *a, const gn_column *col, gn_value v); /* for people; "" where
                                                                             not known */

#endif
