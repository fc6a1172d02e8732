/* Rebuilding a program value by value, equal values shared (hash-consing).  Private to the passes
 * that do so. */
#ifndef GN_PASSES_REWRITE_H
#define GN_PASSES_REWRITE_H

#include "ir/gir.h"

typedef struct gn_rewrite {
    const gir_program *from;
    gir_program *to;
    gir_id *map;         /* value of `from` -> value of `to` */
    gir_space_id *space; /* likewise: a graph made twice leaves one edge space out of use */
    gir_id *slots;       /* hash table of the values of `to` */
    uint32_t n_slots, used;
} gn_rewrite;

gn_rewrite gn_rewrite_new(gn_arena *a, const gir_program *from);

/* The value in `to` that is the same, or a new one. */
gir_id gn_rewrite_share(gn_rewrite *r, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                        const gir_type *type);

/* The same with the type inferred (`want` as in gir_infer); 0 where it does not fit. */
gir_id gn_rewrite_make(gn_rewrite *r, gir_op op, int n, const gir_id *in, const gir_attr *attr,
                       const gir_type *want);

/* of a value of `from`, in the spaces of `to` */
gir_type gn_rewrite_type(const gn_rewrite *r, gir_id v);
gir_id gn_rewrite_copy(gn_rewrite *r, gir_id v); /* sets map[v] */
void gn_rewrite_outputs(gn_rewrite *r);

#endif
