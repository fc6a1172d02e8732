/* Depend: which launches of an artifact touch the same memory, where a plan has it, so that one
 * must wait for another. */
#ifndef GN_RUNTIME_RUN_DEPEND_H
#define GN_RUNTIME_RUN_DEPEND_H

#include "runtime/run/plan.h"

/* May two slots, which are roots of the plan, lie in the same memory? */
bool gn_slots_meet(const gn_artifact *of, const gn_plan *p, int a, int b);

/* How launch l touches its buffer b: a bit set of gn_access. */
unsigned gn_access_of(const gn_launch *l, int b);

/* Does one of the two launches write what the other touches? */
bool gn_launches_meet(const gn_artifact *of, const gn_plan *p, int a, int b);

/* Turns of launches that all threads or blocks go through in order: turn[k] says whether launch k
 * does anything at all; where they must have met before it, since one that has had its turn since
 * they last met would meet it, GN_TURN_MEETS is added.  How many meetings there are. */
enum { GN_TURN_RUNS = 1, GN_TURN_MEETS = 2 };
int gn_find_meetings(const gn_artifact *of, const gn_plan *p, uint64_t *turn);

#endif
