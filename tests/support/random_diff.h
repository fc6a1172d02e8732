/* Random programs run in every way (run_compiled.h): what test_random_*.c share. */
#ifndef GN_TESTS_SUPPORT_RANDOM_DIFF_H
#define GN_TESTS_SUPPORT_RANDOM_DIFF_H

#include "support/random_gir.h"

/* Runs programs of seeds 0, 1, ... under Check, a batch a test; `programs` is what runs where the
 * environment variable GNNC_RANDOM does not ask for more (a number), or for one seed ("seed=<n>",
 * which also prints it). GNNC_RANDOM_TRIES: how often a program that fails is run to make it small
 * (400); GNNC_RANDOM_FIRST: the first failure ends it all.  Fails where two ways disagree: with the
 * seed, the program made small, and the first element that differs; where more than 3 % of all
 * elements have no bound; where a pair of operators that types allow does not occur.  For main: 0
 * or 1. */
int random_diff(const char *name, const random_gir_options *opt, int programs);
/* The same in the modes of CUDA, run on the CPU.  What is said of the set as a whole is left to the
 * above. */
int random_diff_cuda(const char *name, const random_gir_options *opt, int programs);

#endif
