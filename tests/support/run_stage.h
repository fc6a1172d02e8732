/* One compiled stage of a program run, launch by launch or as an instance, on tables of tensors
 * (run_data.h). */
#ifndef GN_TESTS_SUPPORT_RUN_STAGE_H
#define GN_TESTS_SUPPORT_RUN_STAGE_H

#include "compile/compile.h"
#include "support/cuda_host.h"
#include "support/run_data.h"

typedef struct run_stage {
    gn_arena *arena;
    const gn_compiled *code;
    const run_graphs *graphs;
    cuda_host *host; /* CUDA: kernels from number `first` on; else NULL */
    int first;
    int64_t *chained; /* counts instances that run in blocks of rows (runtime/run/chain.h) */
} run_stage;

typedef struct run_way { /* how kernels are run */
    const char *name;
    bool wide, code, backwards; /* wide: in double; code: compiled, in memory that ends at a page
                                   that faults */
    cuda_order order;
} run_way;

/* Both read states and inputs from `table`, write states there, and add what the stage gives to
 * `outputs`. */
gn_status *run_stage_launches(const run_stage *of, const run_way *w, run_table *table,
                              run_table *outputs);
/* Twice, which must give the same bits. */
gn_status *run_stage_instance(const run_stage *of, int threads, run_table *table,
                              run_table *outputs);

#endif
