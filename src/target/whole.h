/* Whole: which programs a GPU runs in one kernel, whose blocks wait for each other where launches
 * would.
 *
 * A launch of a recorded graph begins when the one before has ended everywhere, which takes longer
 * than a meeting of all blocks, and every launch has one where of the phases of one kernel only
 * those meet that touch the same memory.  On the other hand fewer blocks run at once: the kernel
 * has the registers of its greediest phase.  So it pays where launches are many and small. */
#ifndef GN_TARGET_WHOLE_H
#define GN_TARGET_WHOLE_H

#include "codegen/cuda/cuda.h"
#include "compile/compile.h"

typedef struct gn_whole_rule {
    bool folded;         /* the mode folds the launches of a run into one call */
    bool always;         /* whatever it costs */
    bool cooperative;    /* the device runs launches whose blocks wait for each other */
    int multiprocessors; /* of the device; 0: not known */
    bool library;        /* a library is to make products of it */
    gn_switches off;
    int n_hints;
    const low_hint *hints; /* sizes that are to be expected */
} gn_whole_rule;

/* Sets c->whole and c->whole_why.  In the arena. */
void gn_whole_choose(gn_arena *a, gn_compiled *c, const gn_whole_rule *r);

/* The program's launches as phases; `origin`: with the model's places above each. */
const gn_cuda_whole *gn_whole_of(gn_arena *a, const gn_compiled *c, bool share, bool origin);

#endif
