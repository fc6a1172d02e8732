/* Texts of programs, put together for tests. */
#ifndef GN_TESTS_SUPPORT_GIR_TEXT_H
#define GN_TESTS_SUPPORT_GIR_TEXT_H

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* With `by` in every place of `word`. */
static inline char *text_replaced(gn_arena *a, const char *text, const char *word, const char *by)
{
    gn_buf b = {.arena = a};
    for (const char *at; (at = strstr(text, word)); text = at + strlen(word)) {
        gn_buf_addn(&b, text, (size_t)(at - text));
        gn_buf_add(&b, by);
    }
    gn_buf_add(&b, text);
    return b.p;
}

/* Values %n numbered in the order in which they are defined (`%n =`), as the parser wants them; one
 * that nobody defines is %0, which it refuses. */
static inline char *gir_renumbered(gn_arena *a, const char *text)
{
    enum { MOST = 256 };
    int to[MOST] = {0}, n = 0;
    char *end;
    for (const char *p = strchr(text, '%'); p; p = strchr(p + 1, '%')) {
        long k = strtol(p + 1, &end, 10);
        if (k > 0 && k < MOST && end[strspn(end, " ")] == '=' && !to[k]) to[k] = ++n;
    }
    gn_buf b = {.arena = a};
    for (const char *p; (p = strchr(text, '%')); text = end) {
        long k = strtol(p + 1, &end, 10);
        gn_buf_addn(&b, text, (size_t)(p - text));
        gn_buf_printf(&b, "%%%d", k > 0 && k < MOST ? to[k] : 0);
    }
    gn_buf_add(&b, text);
    return b.p;
}

#endif
