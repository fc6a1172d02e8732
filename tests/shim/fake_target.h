/* A target for sessions: the fake driver, and the host's compiler for kernels (cuda_host.h); with
 * GNNC_TEST_DEVICE=cuda:N a GPU. */
#ifndef TESTS_SHIM_FAKE_TARGET_H
#define TESTS_SHIM_FAKE_TARGET_H

#include "target/target.h"
#include "shim/fake_driver.h"
#include "support/cuda_host.h"

#include <pthread.h>

enum { FAKE_MODULES = 512, FAKE_NVRTC = 13000 /* that made the kernels */ };

typedef struct fake_module {
    fake_image image; /* first: what the driver loads */
    cuda_host *host;
    int n;
    bool whole; /* a program in one kernel, of n_syms[0] integers */
    int *n_buffers, *n_syms;
    uint64_t runs;  /* of a whole: each in another order */
    double cost_ms; /* of a launch, by the driver's events; 0: as fake_costs says */
    uint64_t idle;  /* launches of these kernels, by bits, compute nothing */
    int result;     /* that its launches give instead of running; 0: they run */
} fake_module;

typedef struct fake_target {
    gn_target *target;
    fake_module *module[FAKE_MODULES];
    int n_modules;
    int linked; /* programs that were compiled in pieces */
    pthread_mutex_t lock;
} fake_target;

GN_NODISCARD gn_status *fake_target_open(fake_target *t);
void fake_target_close(fake_target *t);
/* The same around a target of another's, which is closed before the end. */
void fake_target_begin(fake_target *t);
void fake_target_equip(fake_target *t, gn_target *target);
void fake_target_end(fake_target *t);
void *fake_symbol(const fake_target *t, const char *name); /* fake_fail, ...; NULL: it is a GPU */

#endif
