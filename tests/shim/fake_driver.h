/* What the tests ask of the fake driver (fake_driver.c), found with dlsym. */
#ifndef TESTS_CUDA_FAKE_DRIVER_H
#define TESTS_CUDA_FAKE_DRIVER_H

/* The `nth` call from now of `function` (NULL: of any but cuCtxPushCurrent_v2 and those that end
 * something) gives `result`; 0 for nth: none does. */
typedef void fake_fail_fn(const char *function, int nth, int result);
typedef int fake_fails_fn(void); /* is a call that was ordered to fail still to come? */
typedef int fake_calls_fn(const char *function); /* since this was asked of it last; NULL: of all,
                                                    since fake_fail */
typedef int fake_alive_fn(void); /* allocations, streams, events, modules, graphs, contexts held */
typedef const char *fake_fault_fn(void); /* what the driver was misused for first; NULL: nothing */
/* how many there are, and the memory of each */
typedef void fake_devices_fn(int n, unsigned long long bytes);

typedef void fake_cooperates_fn(int does); /* whether devices launch blocks that wait for each other
                                            */

/* that events tell of work; 0: a millisecond, whatever it is */
typedef void fake_costs_fn(double launch_ms, double call_ms);

typedef long fake_filled_fn(void); /* bytes that were filled on the device, so far */

/* For other libraries over the same memory (fake_cublaslt.c): puts `call` of n words on a stream;
 * is a context current, does memory lie within an allocation; notes a misuse. */
typedef int fake_call_fn(void *stream, int (*call)(const void *values), const void *values, int n);
typedef int fake_current_fn(void);
typedef int fake_within_fn(unsigned long long p, unsigned long long bytes);
typedef void fake_misuse_fn(const char *what);

/* What runs kernels.  The image of a module is a fake_image: its hooks are called with what they
 * are for. */
typedef struct fake_image {
    char magic[8]; /* "fakegpu" */
    void *code;
    int (*find)(void *code, const char *name); /* the kernel's number; -1: there is none */
    int (*arguments)(void *code, int kernel);  /* words of 8 bytes, each an argument; -n: one of n
                                                  words */
    int (*launch)(void *code, int kernel, unsigned blocks, unsigned threads, int together,
                  const unsigned long long *value); /* a CUresult; together: a cooperative launch */
    double (*cost)(void *code, int kernel); /* milliseconds that events tell of a launch; NULL, 0:
                                               as of others */
} fake_image;

#endif
