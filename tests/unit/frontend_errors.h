/* Every diagnostic of the front end: a text, and all that is said about it. Data for
 * test_frontend_errors.c. */
#ifndef GN_TESTS_UNIT_FRONTEND_ERRORS_H
#define GN_TESTS_UNIT_FRONTEND_ERRORS_H

struct error_case {
    const char *name, *text, *message;
};

static const struct error_case syntax[] = {
#include "frontend_errors/syntax.h"
};
static const struct error_case values[] = {
#include "frontend_errors/values.h"
};
static const struct error_case calls[] = {
#include "frontend_errors/calls.h"
};
static const struct error_case tensors[] = {
#include "frontend_errors/tensors.h"
};
static const struct error_case train[] = {
#include "frontend_errors/train.h"
};
static const struct error_case elsewhere[] = {
#include "frontend_errors/elsewhere.h"
};

#endif
