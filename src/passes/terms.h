/* An edge message taken apart: a sum of products.  Private to the passes that look for factors. */
#ifndef GN_PASSES_TERMS_H
#define GN_PASSES_TERMS_H

#include "passes/rewrite.h"

enum { TERM_FACTORS = 16, TERM_MOST = 4 };

/* A broadcast or a reshape that a factor passes through on its way to the message's dims. */
typedef struct gn_view {
    const struct gn_view *outer; /* the next one; NULL: these are the message's dims */
    gir_type type;
    bool reshape;
} gn_view;

typedef struct gn_factor {
    gir_id value; /* in the new program, before views */
    bool inverse; /* divides */
    const gn_view *views;
} gn_factor;

typedef struct gn_term {
    double scale;
    int n;
    gn_factor f[TERM_FACTORS];
} gn_term;

typedef struct gn_terms {
    int n; /* 0: it has too many parts */
    gn_term t[TERM_MOST];
} gn_terms;

/* The products that v is the sum of: one, unless sums may be taken apart too (`distribute`).  Looks
 * through views of one space, negations, and selects between multiples of one value.  In the
 * arena. */
const gn_terms *gn_terms_of(gn_rewrite *r, gir_id v, bool distribute);

/* The views with one more outside, without what does nothing. */
const gn_view *gn_views_add(gn_rewrite *r, const gir_type *from, const gn_view *views,
                            const gir_type *to, bool reshape);

/* `start` (may be 0) times the factors f[0..n), of type `full` but over space s; 0 where there are
 * none.  Equal sets of factors give equal values.  What passes through the same views is multiplied
 * before it is spread, and what divides is turned over before; one divisor after the other, so that
 * none of their products underflows. */
gir_id gn_terms_product(gn_rewrite *r, gir_id start, int n, gn_factor *f, const gir_type *full,
                        gir_space_id s);

gir_id gn_terms_op(gn_rewrite *r, gir_op op, gir_id a, gir_id b); /* b 0: of one operand */
gir_id gn_terms_scaled(gn_rewrite *r, gir_id v, double scale);    /* v * scale */
gir_id gn_terms_view(gn_rewrite *r, gir_id v, const gir_type *to, gir_space_id s, bool reshape);

#endif
