/* What is known of integer values: a range, and a sum of a few other values with coefficients.
 * Facts belong to a kernel that is being built; both hold wherever the value is available. */
#ifndef GN_IR_KIR_FACTS_H
#define GN_IR_KIR_FACTS_H

#include "ir/kir.h"

enum { KIR_MAX_TERMS = 6 };

typedef struct kir_range {
    int64_t lo, hi; /* inclusive */
} kir_range;

typedef struct kir_term {
    kir_id v;
    int64_t coef;
} kir_term;

typedef struct kir_sum { /* t[0] + ... + c */
    int n;
    kir_term t[KIR_MAX_TERMS];
    int64_t c;
} kir_sum;

typedef struct kir_facts {
    const kir_kernel *k;
    GN_VEC(kir_range) range; /* by instruction; of i64 values */
    GN_VEC(kir_sum) sum;
} kir_facts;

/* Tells the facts of instruction v, the newest of the kernel. */
void kir_facts_add(kir_facts *f, kir_id v);

/* Within which v * coef + ... lies. */
kir_range kir_sum_range(const kir_facts *f, const kir_sum *s);

/* *r = x + scale * y; false where it has too many terms or does not fit. */
bool kir_sum_add(const kir_sum *x, const kir_sum *y, int64_t scale, kir_sum *r);

/* a - b; a range that says nothing where it is not known. */
kir_range kir_facts_difference(const kir_facts *f, kir_id a, kir_id b);

#endif
