/* What a back end can do, as numbers.  Passes and schedules ask these and never for a device's
 * name. */
#ifndef GN_IR_LIMITS_H
#define GN_IR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_limits {
    int lanes;       /* f32 elements of a vector register (CPU: 16, 8, 4), or of a warp */
    int whole_lanes; /* of these an instruction works on in one go: half where registers are taken
                        in halves; 0: all */
    int vector_registers; /* how many of them a loop may keep live */
    int64_t l1_bytes, l2_bytes;
    int64_t shared_bytes; /* memory shared by a block of lanes; 0: none */
    int max_threads;      /* workers that may run a THREAD loop, or threads a block */
    int blocks; /* blocks of lanes that run at once, each on a processor of its own; 0: no machine
                   of that kind */
    int units;  /* bit set of kir_unit that the back end can run */
    int fragments; /* bit set of kir_kind of whose fragments warps make products; 0: none */
    int pairs; /* bit set of kir_kind of which a lane multiplies two terms at once (TDOT); 0: none
                */
    bool fast_functions; /* exponentials are taken to hide behind what is loaded for them: avoiding
                            some does not pay */
} gn_limits;

#endif
