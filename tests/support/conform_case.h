/* A recorded case of tests/conform/data as a model of the language with its data and what PyTorch
 * Geometric computed.
 *
 * Layers become a model of that one layer, losses a model that gives back its input, training cases
 * the sample of that name with the recorded hyperparameters and optimizer.  Gradients of a layer
 * are those of "loss", the sum of out * cot.  Everything is double and laid out as the programs
 * want it, edges in the user's order. */
#ifndef GN_TESTS_SUPPORT_CONFORM_CASE_H
#define GN_TESTS_SUPPORT_CONFORM_CASE_H

#include "frontend/frontend.h"
#include "runtime/data/tensorfile.h"

typedef enum conform_kind { CONFORM_LAYER, CONFORM_LOSS, CONFORM_TRAIN } conform_kind;

typedef struct conform_case {
    gn_arena *arena;
    gn_tensor_file *file; /* freed by conform_close */
    conform_kind kind;
    const char *text; /* the model that was elaborated */
    gn_model *model;
    bool training; /* `out` was recorded in training mode: of model->loss, else of model->eval */
    int64_t n_nodes, n_edges;
    int64_t *src, *dst;
} conform_case;

/* Paths of all cases, sorted; in the arena. `root`: the repository. */
gn_status *conform_list(gn_arena *a, const char *root, int *n, const char ***paths);

gn_status *conform_open(gn_arena *a, const char *root, const char *path, conform_case **out);
void conform_close(conform_case *c); /* NULL is fine */

/* A tensor of the file in double: NULL when absent. */
double *conform_tensor(conform_case *c, const char *name, int64_t *n);

/* Value of an input of the programs ("x", "y", "train_mask", "g.weight", "g.attr", "cot",
 * "target"): NULL when the case has none. *cols: elements a row. */
double *conform_input(conform_case *c, const char *name, int64_t *rows, int64_t *cols);

/* "param.<file name>", "grad.<file name>" or "after.<file name>" in the layout of the parameter;
 * NULL when absent. */
double *conform_param(conform_case *c, const char *prefix, const gn_param *p);

/* |a - b| <= tolerance * max(1, largest |b|) everywhere? *worst is the largest of |a - b| over
 * that. */
bool conform_close_to(const double *a, const double *b, int64_t n, double tolerance, double *worst);

#endif
