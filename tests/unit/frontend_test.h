/* Shared by the tests of the front end. */
#ifndef GN_TESTS_UNIT_FRONTEND_TEST_H
#define GN_TESTS_UNIT_FRONTEND_TEST_H

#include "frontend/frontend.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const gn_data_shape frontend_shape = {.n_features = 1433, .n_classes = 7};

/* The message of parsing and elaborating, in the arena; NULL on success. */
static inline const char *frontend_try(gn_arena *a, const char *text, const gn_data_shape *shape,
                                       int n, const gn_define *defines, gn_code *code, gn_model **m)
{
    gn_ast *ast;
    *m = NULL;
    gn_status *s = gn_parse(a, text, strlen(text), "m.gnn", &ast);
    if (!s) s = gn_elaborate(a, ast, NULL, shape, n, defines, m);
    if (code) *code = gn_status_code(s);
    const char *message = s ? gn_arena_strdup(a, gn_status_message(s)) : NULL;
    gn_status_free(s);
    return message;
}

static inline gn_model *frontend_model(gn_arena *a, const char *text, const gn_data_shape *shape,
                                       int n, const gn_define *defines)
{
    gn_model *m;
    const char *message = frontend_try(a, text, shape ? shape : &frontend_shape, n, defines, NULL,
                                       &m);
    if (message) ck_abort_msg("%s", message);
    return m;
}

static inline const gn_param *frontend_param(const gn_model *m, const char *file_name)
{
    for (int i = 0; i < m->n_params; i++)
        if (strcmp(m->params[i].file_name, file_name) == 0) return &m->params[i];
    ck_abort_msg("no parameter `%s`", file_name);
    return NULL;
}

static inline gir_id frontend_output(const gir_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->outputs.n; i++)
        if (strcmp(p->outputs.p[i].name, name) == 0) return p->outputs.p[i].value;
    ck_abort_msg("no output `%s`", name);
    return 0;
}

static inline int frontend_count(const gir_program *p, gir_op op)
{
    int n = 0;
    for (gir_id v = 1; v < p->nodes.n; v++) n += gir_at(p, v)->op == op;
    return n;
}

#endif
