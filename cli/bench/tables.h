/* Tables: the questions that rows answer, each a table of some columns; and the writers of plain
 * formats.
 *
 * A writer writes to an open file and reports nothing: whoever opened it checks it for errors. */
#ifndef GN_CLI_BENCH_TABLES_H
#define GN_CLI_BENCH_TABLES_H

#include "cli/bench/columns.h"

typedef struct gn_question {
    uint32_t table;
    const char *name;  /* of the sheet */
    const char *title; /* the question */
    const char *about; /* a sentence or two: what its figures are */
} gn_question;
extern const gn_question gn_questions[];
extern const int gn_question_count;

/* Has the table a row, and a column with a figure? */
bool gn_question_shown(gn_bench *b, const gn_question *q);

void gn_write_config(gn_bench *b, FILE *to);   /* JSON: what was asked, of which program, on which
                                                  machine */
void gn_write_results(gn_bench *b, FILE *to);  /* JSON: every cell, every sample */
void gn_write_csv(gn_bench *b, FILE *to);      /* a row a cell, all columns */
void gn_write_latex(gn_bench *b, FILE *to);    /* a table a question; needs \usepackage{booktabs} */
void gn_write_markdown(gn_bench *b, FILE *to); /* likewise */
void gn_write_verdict(gn_bench *b, FILE *to); /* what to use: a sentence for each dataset and number
                                                 of threads */
/* one mode for all of what was compared: a sentence */
void gn_write_across(gn_bench *b, FILE *to);
void gn_write_reasons(gn_bench *b, FILE *to);         /* and why, for which use */
void gn_write_recommendations(gn_bench *b, FILE *to); /* recommend.c */
void gn_write_page(gn_bench *b, FILE *to);            /* page.c: HTML, with charts */

#endif
