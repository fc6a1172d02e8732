/* JIT: a model, and the programs that were compiled of it for the sizes that it was called with.
 *
 * Sizes are facts: how many nodes and edges there are.  A fact that a program was compiled for is a
 * guard: the least and the most that the size may be.  A call takes a program whose guards hold, or
 * one is compiled, or the call is refused: as `dynamic`, the stance and the limit say.  Every
 * recompilation leaves its reason behind.
 *
 *   auto    sizes are compiled in at first; what has changed since is symbolic in every later
 *           program
 *   true    sizes are symbolic: one program for all
 *   false   sizes are compiled in, always
 *
 * Schedules are made once, for the sizes that were declared or came first, so all programs but the
 * eager one give the same bits.  Thread-safe: a call that finds its program takes no lock; of
 * several that want the same program one compiles it. */
#ifndef GN_BUILD_JIT_H
#define GN_BUILD_JIT_H

#include "build/build.h"

#include <stdatomic.h>

#define GN_DYNAMICS(X)                                                                             \
    X(TRUE, "true")                                                                                \
    X(AUTO, "auto")                                                                                \
    X(FALSE, "false")
typedef enum gn_dynamic {
#define X(id, text) GN_DYNAMIC_##id,
    GN_DYNAMICS(X)
#undef X
        GN_DYNAMIC_COUNT
} gn_dynamic;

/* What a call does that no program fits.  The first compilation is no recompilation: all but the
 * last make it. */
#define GN_STANCES(X)                                                                              \
    X(RECOMPILE, "recompile")                                                                      \
    X(FAIL, "fail-on-recompile")                                                                   \
    X(EAGER, "eager-on-recompile")                                                                 \
    X(COMPILED, "run-what-is-compiled")
typedef enum gn_stance {
#define X(id, text) GN_STANCE_##id,
    GN_STANCES(X)
#undef X
        GN_STANCE_COUNT
} gn_stance;

#define GN_DIMS(X)                                                                                 \
    X(NODES, "nodes", "N")                                                                         \
    X(EDGES, "edges", "E")
typedef enum gn_dim {
#define X(id, text, letter) GN_DIM_##id,
    GN_DIMS(X)
#undef X
        GN_DIM_COUNT
} gn_dim;
extern const char *const gn_dim_name[GN_DIM_COUNT];

/* NULL is the first of them.  GN_ERR_USAGE: there is none of that name (with the nearest). */
GN_NODISCARD gn_status *gn_dynamic_by_name(const char *name, gn_dynamic *out);
GN_NODISCARD gn_status *gn_stance_by_name(const char *name, gn_stance *out);

typedef struct gn_sizes {
    int64_t n[GN_DIM_COUNT];
} gn_sizes;

typedef struct gn_range { /* both ends belong to it */
    int64_t least, most;
} gn_range;
typedef struct gn_guards {
    gn_range of[GN_DIM_COUNT];
} gn_guards;

/* "N in 1..100000, E in 0..2000000"; an end may be left out.  NULL: any size.  GN_ERR_USAGE where
 * it is not that. */
GN_NODISCARD gn_status *gn_ranges_parse(const char *text, gn_guards *out);

/* The same of other names, each of which may be there: out [n].  GN_ERR_USAGE: a name that is
 * none, too. */
GN_NODISCARD gn_status *gn_ranges_named(const char *text, int n, const char *const *names,
                                        gn_range *out);

/* Are sizes in declared ranges (all 0: any)?  GN_ERR_DATA names the size, its value and its
 * range. */
GN_NODISCARD gn_status *gn_ranges_check(const gn_guards *ranges, const gn_sizes *s);

/* Sizes that graphs are padded to: 0 not at all, -1 powers of two, k multiples of k.  "pow2", or a
 * number; NULL: not. */
GN_NODISCARD gn_status *gn_buckets_parse(const char *text, int64_t *out);
/* What a graph of these sizes is padded to: as many nodes and edges at least, and a node more where
 * edges are added. */
gn_sizes gn_bucket_of(int64_t bucket, gn_sizes s);

enum { GN_JIT_LIMIT = 8 }; /* torch.compile's */

typedef struct gn_jit_options {
    gn_build_options build; /* its hints are of expected sizes; without any those of the first call
                               are taken */
    gn_dynamic dynamic;
    gn_guards ranges; /* declared (all 0: any): sizes outside are refused; a size of one value is
                         compiled in, a range never is */
    int limit;        /* recompilations; 0: GN_JIT_LIMIT */
    /* Of every recompilation; NULL: nobody listens.  On the thread that calls, when the program is
     * there: it may call the jit in turn. */
    void (*say)(void *ctx, const char *text);
    void *ctx;
} gn_jit_options;

typedef struct gn_variant {
    struct gn_variant *older;
    int number; /* in the order in which they were compiled, from 0 */
    bool eager;
    gn_loss_rows rows; /* that its training step picks; of data facts, where every run has the same
                          (gn_rows_counted) */
    bool step_alone;   /* it has no other units: for who needs other rows */
    gn_guards guards;
    gn_model *model; /* programs with the sizes in them; parameters are those of the jit's model */
    gn_build build;
    double ms;
    const char *why; /* why it was compiled: "" for the first */
    /* Of a recompilation: the first guard that did not hold, what it wanted (the least) and what
     * came. */
    gn_dim guard;
    int64_t old, new;
    /* What was chosen for its units (gn_jit_choose), and that in words.  To be read through
     * gn_variant_tuned. */
    const gn_tuned *tuned[GN_UNITS];
    const char *choices[GN_UNITS];
    atomic_uint chosen; /* bits of units */
    gn_arena arena;
} gn_variant;

/* NULL: nothing was chosen yet. */
static inline const gn_tuned *gn_variant_tuned(const gn_variant *v, gn_unit_id unit)
{
    return atomic_load_explicit(&v->chosen, memory_order_acquire) >> unit & 1 ? v->tuned[unit]
                                                                              : NULL;
}

typedef struct gn_jit gn_jit;

/* `model` is borrowed. GN_ERR_NOMEM. */
GN_NODISCARD gn_status *gn_jit_new(const gn_model *model, const gn_jit_options *opt, gn_jit **out);
void gn_jit_free(gn_jit *j); /* and all programs; NULL is fine */

/* The program for a call with these sizes.  It lives as long as the jit. GN_ERR_DATA: outside of
 * the declared ranges.  GN_ERR_USAGE: stance or limit forbid what would have to be compiled; the
 * message names the guard, its old value and the new.  What compiling fails with. */
GN_NODISCARD gn_status *gn_jit_get(gn_jit *j, const gn_sizes *s, gn_stance stance,
                                   const gn_variant **out);

/* The program whose training step picks so many levels of rows, where `v` is the one for these
 * sizes: `v` itself, if it does or is eager.  Any number is right for every mask; where there is no
 * program with this one, a training step is compiled, with the guards of `v`.  Rows that were
 * counted ask for a step that was compiled for counts, whichever: they say what pays, and are no
 * guard.  That is no recompilation, and the stance run-what-is-compiled alone forbids it: what
 * comes nearest then. */
GN_NODISCARD gn_status *gn_jit_get_rows(gn_jit *j, const gn_variant *v, const gn_sizes *s,
                                        const gn_loss_rows *rows, gn_stance stance,
                                        const gn_variant **out);
static inline bool gn_rows_counted(const gn_loss_rows *r) { return r->facts.all.rows > 0; }

/* Compiles for all sizes where nothing is to be compiled in, so that it is done before the first
 * call. */
GN_NODISCARD gn_status *gn_jit_prepare(gn_jit *j);

/* Schedules.  The model of a program once more in an arena, and what it was compiled with: for who
 * searches. */
gn_model *gn_jit_outline(const gn_jit *j, const gn_variant *v, gn_arena *a, gn_build_options *opt);
/* Notes a choice for one of a program's units.  Where it is not what rules say, the program is
 * compiled once more: later calls find that one.  By one thread at a time; others may call what
 * there is. */
GN_NODISCARD gn_status *gn_jit_choose(gn_jit *j, const gn_variant *v, const gn_tuned *t);

static inline bool gn_guards_hold(const gn_guards *g, const gn_sizes *s)
{
    bool ok = true;
    for (int d = 0; d < GN_DIM_COUNT; d++)
        ok &= (s->n[d] >= g->of[d].least) & (s->n[d] <= g->of[d].most);
    return ok;
}
void gn_guards_print(const gn_guards *g, gn_buf *out); /* "nodes == 34, edges in 0..5000"; "none" */

/* NULL: nothing was compiled yet; the rest is behind ->older */
const gn_variant *gn_jit_newest(const gn_jit *j);
int gn_jit_count(const gn_jit *j); /* programs, the eager one among them */
int gn_jit_recompiles(const gn_jit *j);

/* The guards of a first program.  GN_ERR_DATA: outside of the ranges (all 0: any). */
GN_NODISCARD gn_status *gn_guards_first(gn_dynamic dynamic, const gn_guards *ranges,
                                        const gn_sizes *s, gn_guards *out);

/* jit_specialise.c: writes sizes into the spaces of a program; what is not the same for all sizes
 * in the guards stays open. */
void gn_specialise(gir_program *p, const gn_guards *g);

#endif
