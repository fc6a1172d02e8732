/* The loop IR's text: any bytes parse or are refused; what verifies prints, parses back to the same
 * text, runs within a limit of steps, and still verifies and gives the same bits after
 * simplification. */
/* links: ir base */
#include "ir/kir.h"
#include "ir/kir_simplify.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_ELEMS = 256, MAX_BUFFERS = 16, MAX_SYMS = 16, BYTES = MAX_ELEMS * 8 };

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

typedef enum outcome { ENDED, WRAPPED, FAILED } outcome;

/* Runs it on made-up buffers. */
static outcome run(gn_arena *a, const kir_kernel *k, char **memory)
{
    kir_bound_buffer b[MAX_BUFFERS];
    int64_t syms[MAX_SYMS];
    for (uint32_t i = 0; i < k->syms.n; i++) syms[i] = 3 + i;
    for (uint32_t i = 0; i < k->buffers.n; i++) {
        memory[i] = GN_NEW_N(a, char, BYTES);
        for (int j = 0; j < BYTES; j += 4)
            memory[i][j] = (char)(j / 4 % 5 * (k->buffers.p[i].elem > GN_F16));
        b[i] = (kir_bound_buffer){memory[i], MAX_ELEMS};
    }
    kir_eval_options opt = {.max_steps = 20000, .max_bytes = (size_t)64 << 20};
    gn_status *s = kir_eval(k, &opt, b, syms);
    outcome o = !s                                                        ? ENDED
                : strstr(gn_status_message(s), "does not fit in 64 bits") ? WRAPPED
                                                                          : FAILED;
    gn_status_free(s);
    return o;
}

static char *print(gn_arena *a, const kir_kernel *k)
{
    gn_buf b = {.arena = a};
    kir_print(k, &b);
    return b.p;
}

static void check_simplified(gn_arena *a, kir_kernel *k, char **want, const char *text)
{
    char *got[MAX_BUFFERS];
    require_ok(kir_simplify(k), "simplify fails", text);
    require_ok(kir_verify(k), "what simplify leaves does not verify", text);
    char *after = print(a, k);
    outcome o = run(a, k, got);
    if (o == WRAPPED) return; /* arithmetic may leave loops that do not run */
    require(o == ENDED, "what simplify leaves does not run",
            gn_arena_printf(a, "%s\nto\n%s", text, after));
    for (uint32_t i = 0; i < k->buffers.n; i++)
        require(!memcmp(want[i], got[i], BYTES), "simplify changes a result",
                gn_arena_printf(a, "%s\nto\n%s", text, after));
}

static void check(gn_arena *a, const char *text, size_t n)
{
    kir_kernel *k, *again;
    gn_status *s = kir_parse(a, text, n, "fuzz", &k);
    if (s) {
        gn_status_free(s);
        return;
    }
    char *once = print(a, k);
    s = kir_parse(a, once, strlen(once), "printed", &again);
    require_ok(s, "what is printed does not parse", once);
    require(!strcmp(print(a, again), once), "what is printed does not parse to the same", once);
    s = kir_verify(k);
    if (s) {
        gn_status_free(s);
        return;
    }
    require_ok(kir_verify(again), "what is printed does not verify", once);
    if (k->buffers.n > MAX_BUFFERS || k->syms.n > MAX_SYMS) return;
    char *memory[MAX_BUFFERS];
    if (run(a, k, memory) == ENDED) check_simplified(a, again, memory, once);
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
