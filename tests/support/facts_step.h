/* A step of DistMult on facts of several kinds, with corrupted ones beside the true: what graphs
 * are made of data and of draws, trained, step by step beside the evaluator. */
#ifndef GN_TESTS_SUPPORT_FACTS_STEP_H
#define GN_TESTS_SUPPORT_FACTS_STEP_H

#include "compile/compile.h"
#include "ir/eval.h"
#include "runtime/run/exec.h"

enum { FACTS_BOUND = 9 };
enum { FACTS_NODES = 40, FACTS_KINDS = 5, FACTS_EDGES = 150, FACTS_WIDE = 8, FACTS_TIMES = 3 };

typedef struct facts_data {
    gn_graph *facts;
    int32_t kind[FACTS_EDGES]; /* in CSR order, as is train */
    uint8_t train[FACTS_EDGES];
    int64_t seed, step;
    float emb[FACTS_NODES * FACTS_WIDE], mom[FACTS_NODES * FACTS_WIDE],
        rel[FACTS_KINDS * FACTS_WIDE];
    float loss;
    int32_t sort[FACTS_NODES]; /* below FACTS_KINDS */
    gn_binding bound[FACTS_BOUND];
    gn_graph_binding graph;
} facts_data;

gn_status *facts_data_init(facts_data *d);

/* The step with its gradients and updates; `end` of facts is drawn.  batch: so many facts are drawn
 * at every step; 0: all are taken.  touched: of "emb" the rows that are read are updated, by way of
 * "mom". */
gn_status *facts_step_program(gn_arena *a, int end, int batch, bool touched, gir_program **out);
gn_status *facts_step_instance(facts_data *d, const gn_artifact *code, gn_pool *pool,
                               gn_instance **out);
/* What the evaluator makes of the data as they are. */
gn_status *facts_evaluate(gn_arena *a, facts_data *d, const gir_program *p, gir_value **out);
/* The next step from where the data are: what it leaves is as near to the evaluator's as rounding
 * is.  remote: where it runs; NULL: here. */
gn_status *facts_step_check(gn_arena *a, facts_data *d, const gir_program *p, gn_instance *in,
                            gn_remote *remote);

#endif
