/* links: base ir frontend */
/* Any text through lexer, parser and elaborator: no crash, no leak, no endless work; what
 * elaborates verifies (which gn_elaborate checks itself: a GN_ERR_INTERNAL is a defect). */
#include "frontend/frontend.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_arena a;
    jmp_buf oom;
    gn_ast *ast;
    gn_model *m;
    const gn_data_shape shapes[] = {
        {.n_features = 8, .n_classes = 3},
        {.n_features = 8, .n_classes = 3, .edge_dim = 2, .has_edge_weight = true},
        {.n_features = 5}};
    gn_arena_init(&a);
    a.limit = (size_t)1 << 30;
    a.oom = &oom;
    if (setjmp(oom)) {
        gn_arena_free(&a);
        return 0;
    }
    gn_status *s = gn_parse(&a, (const char *)data, size, "fuzz.gnn", &ast);
    if (!s) {
        gn_buf b = {.arena = &a};
        gn_ast_print(ast, &b);
        s = gn_elaborate(&a, ast, NULL, &shapes[size % 3], 0, NULL, &m);
    }
    if (gn_status_code(s) == GN_ERR_INTERNAL) abort();
    gn_status_free(s);
    gn_arena_free(&a);
    return 0;
}
