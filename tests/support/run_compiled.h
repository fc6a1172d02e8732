/* A program run in every way there is, and compared with its definition, the evaluator of the
 * tensor IR.
 *
 * The program goes through passes, fusion and lowering in several modes.  In each
 *   - the program that the passes leave is evaluated in double: within SLACK bounds of the source,
 *     since passes move factors out of sums and fold constants, which rounds otherwise
 *   - its kernels run in the loop IR's evaluator, in double (within WIDE bounds of what the passes
 *     left: only the order of sums differs), and in the element type, forwards and backwards (the
 *     same bits, within one bound)
 *   - its code runs kernel by kernel, in order and iteration by iteration from the back, in memory
 *     that ends at a page that faults, and as an instance with one thread and with three, twice
 *     over, in an arena that is poisoned.  All of these must give the same bits, within one bound
 *     of what the passes left and SLACK bounds of the source.
 *   - or, in a mode of CUDA, the text that the CUDA back end writes runs on the CPU (cuda_host.h),
 *     threads ascending, descending and in a seeded order: the same bits, within the same bounds
 * With `split` what depends on neither states nor some of the inputs is computed ahead and bound.
 * Without the CPU back end the loop IR alone is run.
 * A bound of INFINITY says nothing: such elements are skipped and counted. */
#ifndef GN_TESTS_SUPPORT_RUN_COMPILED_H
#define GN_TESTS_SUPPORT_RUN_COMPILED_H

#include "compile/compile.h"
#include "ir/eval.h"

#define RUN_SLACK 8.0
#define RUN_WIDE 1e-6

typedef struct run_mode {
    const char *name;
    bool eager;
    bool sparse; /* every input over rows with one trailing axis in f32 is bound as a pattern, too
                  */
    bool split;
    bool some;       /* some optimisations are left out, others for other programs */
    bool small;      /* caches of next to nothing: blocks and chunks of a few rows */
    bool less;       /* launches run again, for the least memory that is found (compile/cap.c) */
    bool drawn;      /* schedules are drawn at random, for every region others */
    const char *cpu; /* NULL: the host */
    bool cuda;       /* code is CUDA */
    gn_precision precision; /* of products, within bounds that allow for it */
    gn_storage kept;        /* between loops, rows of any length; within bounds that allow for it */
    bool pairs; /* of a CPU: lanes multiply two terms at once, whether this machine's do or not */
    bool cpu_loops; /* of CUDA: made for a CPU's limits, so that it meets whatever a CPU's schedules
                       make */
} run_mode;

/* Bits: the first RUN_MODE_COUNT are of the CPU, RUN_CUDA_MODES follow, then the CPU's products of
 * pairs, and programs of which 16 bits are kept. */
enum {
    RUN_MODE_COUNT = 8,
    RUN_CUDA_MODES = 7,
    RUN_PAIRS = RUN_MODE_COUNT + RUN_CUDA_MODES,
    RUN_PAIR_MODES = 3,
    RUN_KEPT = RUN_PAIRS + RUN_PAIR_MODES,
    RUN_KEPT_MODES = 4,
    RUN_ALL_MODES = RUN_KEPT + RUN_KEPT_MODES
};
extern const run_mode run_modes[RUN_ALL_MODES];

typedef struct run_tally {
    int64_t programs, kernels, compiled, elements, skipped;
    int64_t chained; /* instances that ran in blocks of rows */
    int64_t again;   /* launches that run again, in modes of the least memory */
} run_tally;

typedef struct run_case run_case;

/* Evaluates `p` and lowers it in the modes of one bit set, for the loop IR's evaluator, and of
 * another, for compiled code too.  `env` binds every graph, input and state of p by name; its arena
 * and flags are not used.  Free with run_case_free, on failure too. */
gn_status *run_case_new(gn_arena *a, const gir_program *p, const gir_env *env, unsigned modes,
                        unsigned code, run_case **out);
void run_case_free(run_case *c); /* NULL is fine */

/* Machine code for the kernels of several cases at once: compiling many costs less than compiling
 * each. */
typedef struct run_code run_code;
gn_status *run_compile(gn_arena *a, int n, run_case *const *cases, run_code **out);
void run_code_free(run_code *c); /* NULL is fine; when no case runs any more */

/* Runs and compares; needs run_compile.  The first difference as an error: way, mode, output,
 * element, figures. */
gn_status *run_case_check(run_case *c, run_tally *tally);

/* All of the above for one program. */
gn_status *run_every_way(const gir_program *p, const gir_env *env, unsigned modes, unsigned code,
                         run_tally *tally);

/* Elements of output k (of p->outputs) in a mode that was asked for, after run_case_check: as
 * compiled code gave them, or the loop IR's evaluator where there is none. */
const double *run_case_output(const run_case *c, int mode, uint32_t k);

#endif
