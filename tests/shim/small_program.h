/* A small program on the fake driver, with kernels written in C: z = 2 x + 1 by way of t; w, a copy
 * of t; u = x + 1, which waits for nobody. */
#ifndef TESTS_SHIM_SMALL_PROGRAM_H
#define TESTS_SHIM_SMALL_PROGRAM_H

#include "runtime/cuda/cuda_instance.h"

#include "shim/fake_driver.h"

extern fake_alive_fn *alive;
extern fake_calls_fn *calls;
extern fake_fault_fn *fault;
extern fake_fail_fn *order;
extern fake_devices_fn *set_devices;
extern gn_cuda_device *device;
extern gn_cuda_memory *memory;
extern gn_cuda_module *module;
extern gn_pool *pool;

/* Of each test. */
void setup(void);
void teardown(void);

/* The kernels are 0: y = 2 x; 1: y = x + 1; both (x, y, n) with 4 iterations a block.  2: a program
 * in one kernel, whose arguments are kept, of the last launches. */
enum { ARGUMENTS = 12, LAST = 8 };
extern unsigned long long seen[LAST][ARGUMENTS];
extern unsigned seen_blocks;
extern int n_seen;

enum { X, T, Z, W, U, SLOTS };
extern gn_launch launches[4];
extern int of_2[2]; /* the copy: to, from */
extern gn_cuda_program program;
gn_artifact artifact(void);

void succeeds(gn_status *s);
/* An instance for n rows, with x [k] = k + 0.5. */
gn_instance *bind_rows(const gn_artifact *a, float *x, int64_t n);
/* The result is times * (k + 0.5) + plus. */
void holds(gn_instance *in, const char *name, int64_t n, float times, float plus);
/* What a run makes of x. */
void is_right(gn_instance *in, int64_t n);

#endif
