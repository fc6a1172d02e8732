/* Passes over the tensor IR, and the pipeline that runs them.
 *
 * A pass makes a new program from one that verifies; the old one stays as it was.  GN_PASSES is the
 * only list. */
#ifndef GN_PASSES_PASSES_H
#define GN_PASSES_PASSES_H

#include "ir/gir.h"
#include "ir/precision.h"
#include "ir/switches.h"
#include "ir/train_spec.h"

/* What is left out, by name of the command line: see switches.c. */
typedef struct gn_without {
    uint64_t passes; /* bit set of rows of gn_passes */
    gn_switches decisions;
} gn_without;

enum {
    GN_MOST_LEVELS = 14
}; /* of restrict_rows: levels are bits of a set, and one more bit means all rows */

/* What is known of the non-zeros of an input that is bound as CSR. */
#define GN_NONZEROS(X)                                                                             \
    X(ANY, "any")                                                                                  \
    X(BY_ROW, "rows") /* those of a row are equal */                                               \
    X(ONE, "ones")
typedef enum gn_nonzeros {
#define X(id, text) GN_NONZEROS_##id,
    GN_NONZEROS(X)
#undef X
        GN_NONZEROS_COUNT
} gn_nonzeros;
extern const char *const gn_nonzeros_name[GN_NONZEROS_COUNT];

/* What is known of the data, for what is decided by cost (dense_once.c). */
typedef struct gn_row_count {
    int64_t rows, edges; /* edges: into those rows */
} gn_row_count;
typedef struct gn_data_facts {
    int64_t nonzeros; /* of the inputs that are bound as CSR; 0: nothing is known */
    gn_row_count all, level[GN_MOST_LEVELS]; /* level: [options.levels] */
} gn_data_facts;

typedef struct gn_ends { /* about how many rows a graph has at either end; 0: not known */
    const char *name;
    int64_t src, dst;
    int64_t joined_src, joined_dst; /* those of them that have edges */
    bool picked;                    /* of its edges into picked rows of this level, */
    int level;                      /* (restrict_rows) and from those a level above */
    bool back;                      /* turned round before */
    const char *column;             /* of those edges alone where this input is `value`; NULL: of */
    int64_t value;                  /* all */
} gn_ends;

/* What is known of the data and the wanted trade-offs; passes read what concerns them. */
typedef struct gn_pass_options {
    int n_sparse; /* inputs bound as CSR: matrix products with them walk their non-zeros */
    const char *const *sparse;
    const gn_nonzeros *nonzeros; /* [n_sparse]; NULL: nothing is known */
    int n_fixed; /* inputs that are the same in every run: what depends on them alone can be
                    computed once */
    const char *const *fixed;
    gn_without without;
    int64_t nodes; /* about how many rows a space of nodes has, where its size is not in the
                      program; 0: not known */
    int n_ends;    /* the same by graph, which goes before it; where several graphs are known it is
                      nothing to spaces that none of them ends at */
    const gn_ends *ends;
    int levels; /* restrict_rows: how many levels of rows may be picked (see there); 0: all rows are
                   computed */
    bool has_gradients; /* restrict_rows: the program is a training step with its backward pass */
    const gn_batch_spec *batches; /* restrict_rows: rows are a batch's, and nothing that weights go
                                     into may be computed of all rows; NULL: they are all */
    gn_data_facts facts;
    gn_storage gathers; /* of what edges read of nodes */
    gn_storage kept;    /* of what is kept between loops, */
    const char *wide;   /* what stays float32 of that: gn_is_wide; NULL: nothing */
    int64_t kept_least; /* in rows of so many elements at least; 0: as narrow.c says */
    bool lanes;         /* of fusion's options */
    int limit;  /* run only the first `limit` passes (counted over the whole pipeline); -1: all */
    bool eager; /* only what lowering cannot do without */
    bool fast_functions; /* of the back end's limits */
    bool draws_rows;     /* low_draws_rows of them */
    bool verify;         /* the verifier after every pass */
    /* May be NULL: called after each pass, with what it was given and what it left. */
    void (*after)(void *ctx, const char *pass, const gir_program *in, const gir_program *out);
    void *ctx;
} gn_pass_options;

/* always: 0 not in eager mode, 1 in eager mode too, 2 what comes after relies on it: it cannot be
 * left out.
 *      name        always  what it does */
#define GN_PASSES(X)                                                                               \
    X(unreverse, 0, "sends messages along a reversed graph along the graph itself")                \
    X(edge_products, 0,                                                                            \
      "takes products of rows of edges in front of gathers or behind sums, once a row of nodes")   \
    X(reassociate, 0, "moves products in front of aggregations where fewer columns travel")        \
    X(aggregate_first, 0,                                                                          \
      "moves products behind aggregations that are narrower, or the same in every run")            \
    X(simplify, 1, "drops dead values, shares equal ones, folds constants and identities")         \
    X(sparsify, 2, "turns products with sparse inputs into sums over their non-zeros")             \
    X(restrict_rows, 0, "computes those rows only that a loss over a mask needs")                  \
    X(aggregate_picked, 0, "moves products behind aggregations into picked rows, which are fewer") \
    X(aggregate_heads, 0,                                                                          \
      "sums what heads of attention read before it is projected, where sums have few rows")        \
    X(node_exp, 0, "takes the exponentials of a softmax over edges once a node")                   \
    X(factor, 0, "takes what all edges of a row share out of the sum over them")                   \
    X(recover, 0, "what a value that is in memory anyway tells is not stored beside it")           \
    X(group_kinds, 0,                                                                              \
      "computes kinds of edges together, a row for each kind that a node has, where those are "    \
      "few")                                                                                       \
    X(joined_rows, 0, "makes products of those rows alone that have edges, where those are few")   \
    X(pair_products, 0, "adds products to each other first where more than those is added up")     \
    X(dense, 2, "makes transposed operands of matrix products plain")                              \
    X(free_products, 0,                                                                            \
      "sums rows of a product by way of its operand, so that it need not be kept")                 \
    X(narrow_gathers, 2, "keeps what edges read of nodes in 16 bits, where that is asked for")     \
    X(narrow, 2, "keeps what lies between loops in 16 bits, where that is asked for")              \
    X(clean, 1, "simplify again")                                                                  \
    X(remat, 0,                                                                                    \
      "computes again what gradients of weights read again, where that is cheaper than keeping "   \
      "it")

typedef struct gn_pass {
    const char *name;
    int always; /* see above */
    const char *doc;
    gn_status *(*run)(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                      gir_program **out);
} gn_pass;
extern const gn_pass gn_passes[];
extern const int gn_pass_count;
const gn_pass *gn_pass_by_name(const char *name); /* NULL when there is none */

/* Names of passes and decisions, separated by commas, to what is left out besides what *out has
 * already.  `only`: all that can be left out, but for those named.  GN_ERR_USAGE: a name that is
 * none, or of what cannot be left out. */
GN_NODISCARD gn_status *gn_without_add(gn_arena *a, const char *names, bool only, gn_without *out);
bool gn_pass_is_on(const gn_without *w, const char *name);
const char *gn_without_text(gn_arena *a, gn_without w); /* "factor,hoist"; "" when nothing is left
                                                           out */
void gn_switches_list(gn_buf *out);                     /* a line each: name, what it does */

/* Runs the pipeline.  *count (may be NULL) is advanced by the number of passes run, for limits over
 * several programs. */
GN_NODISCARD gn_status *gn_passes_run(gn_arena *a, const gir_program *in,
                                      const gn_pass_options *opt, int *count, gir_program **out);

#define X(name, always, doc)                                                                       \
    GN_NODISCARD gn_status *gn_run_##name(gn_arena *a, const gir_program *in,                      \
                                          const gn_pass_options *opt, gir_program **out);
GN_PASSES(X)
#undef X

/* Which values depend on graphs, constants and the named inputs alone?  [n] by value. */
bool *gn_find_fixed(gn_arena *a, const gir_program *in, int n_inputs, const char *const *inputs);

/* Which values are computed element by element from an input that is bound as CSR?  [n] by
 * value. */
bool *gn_find_from_sparse(gn_arena *a, const gir_program *in, const gn_pass_options *opt);

/* Which values grow with the number of edges of a row, or of rows: sums over those that no count
 * divides, and what comes of them.  [n] by value. */
const bool *gn_find_unbounded(gn_arena *a, const gir_program *p);
/* What a whole number, a rank or a class comes of, as far as its elements are the same numbers;
 * `equal`: or a comparison for equality.  [n] by value. */
const bool *gn_find_compared(gn_arena *a, const gir_program *p, bool equal);
/* What float32 is kept as where it is not kept as it is. */
gn_elem gn_elem_kept(gn_storage kept, bool unbounded);

/* Names, separated by commas, of what stays float32 where the rest is kept in 16 bits: a layer's
 * path, "convs.1", with what is below it; `model`, what is of no layer; `forward` and `backward`,
 * all of that; `features`, of nodes.  Is a value of the program one of those? */
#define GN_WIDE_MODEL "model"
#define GN_WIDE_FEATURES "features"
bool gn_is_wide(const char *names, const gir_program *p, gir_id v);
bool gn_is_wide_named(const char *names, const char *name); /* is the word there? */
/* The names in order, each once, as lists are compared; NULL of NULL.  GN_ERR_USAGE: one is empty.
 */
GN_NODISCARD gn_status *gn_wide_sorted(gn_arena *a, const char *names, const char **out);
/* GN_ERR_USAGE: a name that is none of those in the program; with the nearest. */
GN_NODISCARD gn_status *gn_wide_check(const char *names, const gir_program *p);

/* As what each value is kept where it lies between loops, or between runs: a gn_elem, by value. */
const uint8_t *gn_find_kept(gn_arena *a, const gir_program *p, const gn_pass_options *opt);

/* The level of the rows that `pick` picks (restrict_rows.c); -1: it cannot be told. */
int gn_pick_level(const gir_program *p, gir_id pick);

/* The level of rows (restrict_rows.c) that each value will be needed on, [n] by value, of an input
 * that its readers need; *levels for all rows.  *levels becomes 0 where the program has no loss
 * over a mask. */
const uint8_t *gn_find_row_levels(gn_arena *a, const gir_program *in, int *levels);

/* Messages along a graph that is bound, or one derived of it. */
typedef struct gn_row_walk {
    const char *graph;
    bool back;          /* from its destinations to its sources */
    const char *column; /* along those edges alone where this input is `value`; NULL: along all */
    int64_t value;
} gn_row_walk;
/* What a graph is as a walk; false: it comes of no graph that is bound.  `column` is NULL, too,
 * where edges are left by anything else. */
bool gn_is_walk(const gir_program *p, gir_id g, gn_row_walk *w);

typedef struct gn_row_needs {
    int levels;       /* of rows that restrict_rows can pick, at most: with more the program is the
                         same; 0 where it has no loss over a mask */
    const char *mask; /* the input that picks them; NULL: there is none */
    int n_walks;      /* that lead from one level to the next */
    gn_row_walk *walk;
} gn_row_needs;
gn_row_needs gn_find_row_needs(gn_arena *a, const gir_program *in, const gn_batch_spec *batches);

/* Sums over edges of sparse features that are worth computing once, dense (dense_once.c). `opt`
 * stays where it is. */
typedef struct gn_dense_once gn_dense_once;
gn_dense_once *gn_dense_once_new(gn_arena *a, const gir_program *p, const gn_pass_options *opt);
/* Is the sum v, or what it is with `columns` columns when the product in front of it goes behind
 * it?  The caller knows that it is the same in every run. */
bool gn_is_dense_once(gn_dense_once *z, gir_id v, int64_t columns);

/* Is it a quotient or a function of elements that takes as long as several products? */
bool gn_is_function(gir_op op);
/* Can v, over rows, be computed on some of them from its operands on those? */
bool gn_is_by_rows(const gir_program *p, gir_id v);
/* Is it made up anew for whatever rows, so that nothing is gained by taking rows of it? */
bool gn_is_made_up(const gir_program *p, gir_id v);

/* Is v over the few rows that a relation joins (joined_rows)? */
bool gn_is_joined(const gir_program *p, gir_id v);

/* How many rows a space of nodes is expected to have; 0: nothing is known, as of picked rows.  What
 * is expected of the graphs at hand (pass options) goes before what is written in the program, so
 * that programs for other sizes decide alike: of a graph that ends there, else of all spaces. */
int64_t gn_expected_rows(const gir_program *p, gir_space_id space, const gn_pass_options *opt);

/* What is expected of the rows at the ends of a graph that is bound, of its edges of one kind, or
 * of either into picked rows; NULL: nothing is known. */
const gn_ends *gn_known_ends(const gir_program *p, gir_id g, const gn_pass_options *opt);

/* What v repeats, through reshapes and broadcasts: one number a row, or a const; 0: neither. */
gir_id gn_scale_of(const gir_program *p, gir_id v);
/* Such a number, or const, of `from` as rows of type t in the program `to`, for which map says what
 * values have become. */
gir_id gn_spread_scale(const gir_program *from, gir_program *to, const gir_id *map, gir_id scale,
                       const gir_type *t);

/* Splits off what depends on graphs and options.fixed alone (hoist.c). *prepare: NULL when there is
 * nothing to keep. */
GN_NODISCARD gn_status *gn_pass_hoist(gn_arena *a, const gir_program *in,
                                      const gn_pass_options *opt, gir_program **prepare,
                                      gir_program **rest);

/* float32 becomes float64 (widen.c). */
GN_NODISCARD gn_status *gn_pass_widen(gn_arena *a, const gir_program *in, gir_program **out);

/* The input of this name, float32, is one of 16 bits, of which the program makes it (widen.c). */
GN_NODISCARD gn_status *gn_pass_code_input(gn_arena *a, const gir_program *in, const char *name,
                                           gn_elem codes, gir_program **out);

/* Rows that are there for the graph's size alone are left out of everything that sums over rows
 * (mask_rows.c). */
#define GN_VALID_ROWS "pad.valid"
GN_NODISCARD gn_status *gn_pass_mask_rows(gn_arena *a, const gir_program *in, gir_program **out);

#endif
