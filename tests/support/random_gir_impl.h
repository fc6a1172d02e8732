/* Inside the generator. */
#ifndef TESTS_RANDOM_GIR_IMPL_H
#define TESTS_RANDOM_GIR_IMPL_H

#include "support/random_gir.h"

typedef struct range {
    double lo, hi;
} range;

typedef struct gen {
    gn_arena *a;
    gir_program *p;
    const random_gir_options *opt;
    uint64_t state;
    GN_VEC(range) ranges; /* of the elements of a value, roughly; by id */
    gir_space_id node, item;
    gir_id g, b;  /* node -> node, node -> item */
    gir_op maker; /* the operator being made for another, */
    gir_op aim;   /* and that other */
    bool strict;  /* operands that were asked for must be in the operator's domain */
    int names;
} gen;

enum {
    FLOATS = 1,
    INTS = 2,
    BOOLS = 4,
    GRAPHS = 8,
    NUMBERS = FLOATS | INTS,
    TENSORS = NUMBERS | BOOLS
};

uint32_t rnd(gen *z, uint32_t n); /* 0..n-1 */
static inline bool chance(gen *z, uint32_t percent) { return rnd(z, 100) < percent; }

int kind_of(const gir_type *t);
gir_type random_type(gen *z, int kinds);
gir_id leaf_of(gen *z, gir_type t);  /* a value of that type that did not exist before */
gir_id like(gen *z, gir_type t);     /* of that type, old or new */
gir_id any_value(gen *z, int kinds); /* old or new */
gir_id any_graph(gen *z);
double number(gen *z, int kind); /* for a constant: often one that means something to some operator
                                  */
gir_id any_derived(gen *z);      /* 0 where there is none */
gir_id make(gen *z, gir_op op, int n, const gir_id *in, gir_attr attr,
            const gir_type *want);                      /* 0:
                                                           does
                                                           not
                                                           fit
                                                         */
gir_id make_recurrence(gen *z, gir_op op, gir_id must); /* random_gir_scan.c */
gir_id tame(gen *z, gir_op op, int k, gir_id v); /* brings v into the domain of operand k of op */
bool in_domain(gir_op op, int k, range r);
range range_of(const gen *z, gir_id v); /* from its operands' */

/* An operator of that kind, with `must` among its operands when it is not 0; 0 where that does not
 * fit. */
gir_id make_op(gen *z, gir_op op, gir_id must);
/* random_gir_typed.c: relations, and layers of sums over them. */
void add_relations(gen *z);
gir_id make_view(gen *z, gir_op op, gir_id must); /* random_gir_views.c */

/* random_gir_graphs.c: graphs that fit, and those that are made; 0: none is, or can be.  `must`,
 * which may be 0, is used. */
bool is_list(gir_op op); /* does it leave a list of edges, the same at every run? */
gir_id graph_where(gen *z, bool (*fits)(const gir_program *, gir_id, gir_space_id), gir_space_id s);
bool has_end(const gir_program *p, gir_id g, gir_space_id s);
bool has_edge(const gir_program *p, gir_id g, gir_space_id s);
bool is_derived(const gir_program *p, gir_id g, gir_space_id s);
bool derived_from(const gir_program *p, gir_id g, gir_space_id s);
bool derived_over(const gir_program *p, gir_id g, gir_space_id s);
bool derived_into(const gir_program *p, gir_id g, gir_space_id s);
gir_type over(gen *z, gir_space_id s, int kinds);
gir_id make_mask(gen *z, gir_space_id s);
gir_id make_subset(gen *z, gir_space_id s);
gir_id pick_of(gen *z, gir_space_id s);
gir_id make_grow(gen *z, gir_id must);
gir_id make_ends(gen *z, gir_id must);
gir_id make_put(gen *z, gir_id must);
gir_id make_index(gen *z, gir_id must);
gir_id make_group(gen *z, gir_op op, gir_id must); /* and of it */
gir_id make_filter(gen *z, gir_id must);
gir_id make_draw(gen *z, gir_id must);
gir_id make_without(gen *z, gir_id must);
gir_id make_drawn(gen *z, gir_op op, gir_id must);
gir_id make_restrict(gen *z, gir_id g);
gir_id make_take(gen *z, gir_id must);
gir_id restricted_to(gen *z, gir_space_id s);
gir_id derive(gen *z, gir_id g);
gir_id make_pattern(gen *z, gir_id must);

int result_kinds(gir_op op);
int operand_kinds(gir_op op);

#endif
