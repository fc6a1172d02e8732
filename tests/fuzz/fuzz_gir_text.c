/* The tensor IR's text: any bytes parse or are refused; what parses prints and parses back to the
 * same text; what verifies still does after the cleaning passes and after gradients were
 * appended. */
/* links: ir lower passes base */
#include "ir/gir.h"
#include "passes/simplify.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    fprintf(stderr, "%s\n%s\n", what, text);
    abort();
}

static void require_ok(gn_status *s, const char *what, const char *text)
{
    if (s) fprintf(stderr, "%s\n", gn_status_message(s));
    require(!s, what, text);
}

static char *print(gn_arena *a, const gir_program *p)
{
    gn_buf b = {.arena = a};
    gir_print(p, &b);
    return b.p;
}

/* Gradients of every float scalar among the outputs, with respect to every float state. */
static void check_gradients(gn_arena *a, gir_program *p, const char *text)
{
    gir_id *wrt = GN_NEW_N(a, gir_id, p->nodes.n), *grad = GN_NEW_N(a, gir_id, p->nodes.n);
    int n = 0;
    for (gir_id v = 1; v < p->nodes.n && n < 64; v++)
        if (gir_at(p, v)->op == GIR_STATE && gn_elem_is_float((gn_elem)gir_type_of(p, v)->elem))
            wrt[n++] = v;
    for (uint32_t k = 0; k < p->outputs.n && k < 8; k++) {
        gn_status *s = gir_grad(p, p->outputs.p[k].value, n, wrt, grad);
        require(gn_status_code(s) == GN_OK || gn_status_code(s) == GN_ERR_MODEL,
                gn_status_message(s), text);
        bool ok = !s;
        gn_status_free(s);
        if (!ok) continue;
        for (int j = 0; j < n; j++)
            require(gir_type_eq(gir_type_of(p, grad[j]), gir_type_of(p, wrt[j])),
                    "a gradient has another type", text);
        require_ok(gir_verify(p), "with gradients it does not verify", text);
    }
}

static void check(gn_arena *a, const char *text, size_t n)
{
    gir_program *p, *again;
    gn_status *s = gir_parse(a, text, n, "fuzz", &p);
    if (s) {
        gn_status_free(s);
        return;
    }
    char *once = print(a, p);
    require_ok(gir_parse(a, once, strlen(once), "printed", &again),
               "what is printed does not parse", once);
    require(!strcmp(print(a, again), once), "what is printed does not parse to the same", once);
    s = gir_verify(p);
    if (s) {
        gn_status_free(s);
        return;
    }
    require_ok(gir_verify(again), "what is printed does not verify", once);
    require_ok(gn_pass_simplify(a, p, &again), "simplify fails", once);
    require_ok(gir_verify(again), "what simplify leaves does not verify", once);
    require_ok(gn_pass_cse(a, p, &again), "cse fails", once);
    require_ok(gir_verify(again), "what cse leaves does not verify", once);
    check_gradients(a, p, once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_arena arena;
    jmp_buf oom;
    gn_arena_init(&arena);
    arena.limit = (size_t)256 << 20;
    arena.oom = &oom;
    if (!setjmp(oom)) check(&arena, (const char *)data, size);
    gn_arena_free(&arena);
    return 0;
}
