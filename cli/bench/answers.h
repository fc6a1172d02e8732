/* Answers: each question of a report in one line, out of the cells. */
#ifndef GN_CLI_BENCH_ANSWERS_H
#define GN_CLI_BENCH_ANSWERS_H

#include "cli/bench/bench.h"

/* table: one of GN_TABLE_*.  In the arena; a sentence, also where there is nothing to tell. */
const char *gn_answer(gn_bench *b, uint32_t table);

#endif
