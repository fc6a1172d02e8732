/* Quick: which programs a GPU's code is made for quickly, with less optimisation.
 *
 * Where all threads of every launch are resident at once, and none has long work of its own, a
 * run's time is that of launches and of what is loaded, not that of instructions, and better code
 * saves less in thousands of runs than it takes to make.  So the rule asks for sizes that are known
 * and stay. */
#ifndef GN_TARGET_QUICK_H
#define GN_TARGET_QUICK_H

#include "compile/compile.h"

typedef struct gn_quick_rule {
    bool sized;          /* every run is on data of the sizes below */
    int multiprocessors; /* of the device; 0: not known */
    gn_switches off;
    int n_hints;
    const low_hint *hints;
} gn_quick_rule;

/* Sets c->quick and c->quick_why. */
void gn_quick_choose(gn_arena *a, gn_compiled *c, const gn_quick_rule *r);

/* Programs that are compiled together share kernels: all quickly, or none. */
void gn_quick_agree(int n, gn_compiled *const *programs);

#endif
