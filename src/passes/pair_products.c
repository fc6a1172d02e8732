/* pair_products: (x A + c) + y B becomes (x A + y B) + c, and where there are several relations
 * ((x A + c) + y B) + d becomes (x A + y B) + (c + d), eight products at a time. Needs:
 * gradients already taken (they would be the same).  Keeps: all outputs, up to the order of
 * summation.
 *
 * Two products that are added up can be made by one loop that keeps the sum in registers (fuse.c),
 * where the first would be written and read again.  A layer adds a bias to one of them first.
 * Declines where the sums or products on the way are read elsewhere too. */
#include "fuse/fuse.h"
#include "passes/passes.h"

typedef struct pairer {
    const gir_program *from;
    gir_program *to;
    gir_id *map;
    uint32_t *uses;
} pairer;

static bool is_product(const pairer *z, gir_id v)
{
    const gir_node *n = gir_at(z->from, v);
    return n->op == GIR_MATMUL && n->type.space && z->uses[v] == 1;
}

typedef struct terms {
    GN_VEC(gir_id) products;
    GN_VEC(gir_id) others;
} terms;

/* Is v a sum that another sum alone reads?  [n] by value. */
static bool *find_inner(gn_arena *a, const pairer *z)
{
    const gir_program *p = z->from;
    bool *inner = GN_NEW_N(a, bool, p->nodes.n);
    for (gir_id v = 1; v < p->nodes.n; v++)
        for (int k = 0; gir_at(p, v)->op == GIR_ADD && k < 2; k++) {
            gir_id o = gir_in(p, v, k);
            inner[o] = gir_at(p, o)->op == GIR_ADD && z->uses[o] == 1;
        }
    return inner;
}

static void collect(gn_arena *a, const pairer *z, const bool *inner, gir_id v, terms *t)
{
    for (int k = 0; k < 2; k++) {
        gir_id o = gir_in(z->from, v, k);
        if (inner[o])
            collect(a, z, inner, o, t);
        else if (is_product(z, o))
            GN_PUSH(a, t->products, o);
        else
            GN_PUSH(a, t->others, o);
    }
}

static gir_id plus(pairer *z, gir_id sum, gir_id v)
{
    return sum ? gir_op2(z->to, GIR_ADD, sum, v) : v;
}

/* As many products as one loop sums, and those of the next; then the sum of what else is added. */
static gir_id sum_in_groups(pairer *z, const terms *t)
{
    gir_id sum = 0, others = 0;
    for (uint32_t k = 0; k < t->products.n; k += FU_MOST_PRODUCTS) {
        gir_id group = 0;
        for (uint32_t j = k; j < t->products.n && j < k + FU_MOST_PRODUCTS; j++)
            group = plus(z, group, z->map[t->products.p[j]]);
        sum = plus(z, sum, group);
    }
    for (uint32_t k = 0; k < t->others.n; k++) others = plus(z, others, z->map[t->others.p[k]]);
    return others ? plus(z, sum, others) : sum;
}

static bool has_relations(const gir_program *p)
{
    int n = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) n += gir_at(p, v)->op == GIR_GRAPH;
    return n > 1;
}

/* Of the sum v: which operand is a product, the other being a sum that is read here alone and has a
 * product in it. */
static int product_beside_sum(const pairer *z, gir_id v)
{
    const gir_program *p = z->from;
    for (int k = 0; k < 2; k++) {
        gir_id s = gir_in(p, v, 1 - k);
        if (!is_product(z, gir_in(p, v, k)) || gir_at(p, s)->op != GIR_ADD || z->uses[s] != 1)
            continue;
        if (is_product(z, gir_in(p, s, 0)) != is_product(z, gir_in(p, s, 1))) return k;
    }
    return -1;
}

gn_status *gn_run_pair_products(gn_arena *a, const gir_program *in, const gn_pass_options *opt,
                                gir_program **out)
{
    (void)opt;
    pairer z = {
        .from = in, .to = gir_program_new(a, in->name), .map = GN_NEW_N(a, gir_id, in->nodes.n)};
    z.uses = gir_count_uses(a, in);
    gir_clone_frame(z.to, in);
    const bool *inner = has_relations(in) ? find_inner(a, &z) : NULL;
    for (gir_id v = 1; v < in->nodes.n; v++) {
        z.to->loc = gir_at(in, v)->loc;
        terms t = {0};
        if (inner && gir_at(in, v)->op == GIR_ADD && !inner[v]) collect(a, &z, inner, v, &t);
        if (t.products.n > 2 || (t.products.n > 0 && t.others.n > 1)) {
            z.map[v] = sum_in_groups(&z, &t);
            continue;
        }
        int k = gir_at(in, v)->op == GIR_ADD ? product_beside_sum(&z, v) : -1;
        if (k < 0) {
            z.map[v] = gir_clone_node(z.to, in, v, z.map);
            continue;
        }
        gir_id second = gir_in(in, v, k), sum = gir_in(in, v, 1 - k);
        int first = is_product(&z, gir_in(in, sum, 0)) ? 0 : 1;
        gir_id both = gir_op2(z.to, GIR_ADD, z.map[gir_in(in, sum, first)], z.map[second]);
        z.map[v] = gir_op2(z.to, GIR_ADD, both, z.map[gir_in(in, sum, 1 - first)]);
    }
    gir_clone_outputs(z.to, in, z.map);
    *out = z.to;
    return NULL;
}
