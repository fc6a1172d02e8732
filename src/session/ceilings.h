/* Ceilings: what this machine does at most, measured by kernels of our own code generator. */
#ifndef GN_SESSION_CEILINGS_H
#define GN_SESSION_CEILINGS_H

#include "compile/compile.h"
#include "runtime/run/threads.h"

enum { GN_LEVELS = 4 }; /* L1, L2, L3, DRAM */

typedef struct gn_ceilings {
    int threads;
    double gflops;      /* fused multiply-adds of f32, two operations each */
    double pair_gflops; /* of products of pairs (TDOT), four operations each; 0: the machine has
                           none */
    double level_bytes[GN_LEVELS]; /* sizes of caches, of one core for L1 and L2; INFINITY for DRAM
                                    */
    double gbytes[GN_LEVELS];      /* reads, GB/s */
    double ms;                     /* that measuring took */
} gn_ceilings;
extern const char *const gn_level_name[GN_LEVELS];

/* With the pool's threads; measured once a process and number of threads.  Takes some tenths of a
 * second.  Thread-safe.  GN_ERR_BACKEND without a back end, GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_ceilings_measure(gn_arena *a, gn_pool *pool, gn_ceilings *out);

/* GB/s at which `bytes` that are read again and again come, spread over a table of that size: what
 * fits a cache comes from there, the rest from the next one. */
double gn_ceilings_rate(const gn_ceilings *c, double bytes);

#endif
