/* Random programs of the tensor IR, and random data for them: for comparing what computes the same
 * in two ways.
 *
 * Programs are typed, verify, and keep values in ranges where error bounds stay finite (a logarithm
 * is taken of what is positive) wherever operators allow it.  Every program contains a few pairs
 * "result of P is an operand of C" chosen by its seed, so that seeds 0, 1, 2, ... go through all
 * pairs that types allow. */
#ifndef TESTS_RANDOM_GIR_H
#define TESTS_RANDOM_GIR_H

#include "ir/eval.h"
#include "ir/gir.h"

typedef struct random_gir_options {
    int values;    /* operators besides those that the pairs need; 0: 8 */
    int pairs;     /* pairs a program; 0: 4 */
    gn_elem elem;  /* of most floats: GN_F32 (default) or GN_F64 */
    bool one_type; /* no floats of other types, no integers but i32 and i64 */
    bool backward; /* a loss over all results, its gradients, and updates of states */
    int relations; /* not 0: layers of sums over so many relations at most, and nothing else */
    int max_nodes; /* of the data; 0: 40 */
    int hub; /* so many edges more into the first node of a graph, and as many out of the last */
    int n_degrees; /* not 0: graphs are of so many nodes with these numbers of edges, which come
                      from all nodes in turn */
    const int *degrees;
} random_gir_options;

/* opt may be NULL */
gir_program *random_gir(gn_arena *a, uint64_t seed, const random_gir_options *opt);

/* Bindings for all leaves: graphs with isolated nodes, loops and repeated edges, now and then
 * empty, of a single node, or without nodes; inputs in the ranges that their names tell (".pos",
 * ".neg", ...), rounded to their element types. */
gir_env random_gir_env(gn_arena *a, const gir_program *p, uint64_t seed,
                       const random_gir_options *opt);

/* The pairs that seeds go through: those whose types can fit, less what makes no sense (see
 * random_gir_ops.c). */
bool random_gir_pair(gir_op producer, gir_op consumer);

#endif
