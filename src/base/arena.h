/* Arena: one per compilation; everything in it dies together.
 *
 * Passes allocate and never free.  An allocation that fails does not return: it jumps to the
 * boundary that the owner set with gn_arena_guard, which gives the memory back and reports
 * GN_ERR_NOMEM.  So compiler code never checks for NULL, and must keep nothing outside the arena
 * that would leak over such a jump (the owner of the boundary does). Memory comes from
 * base/alloc.h, and goes back where it came from.  Not thread-safe: one thread at a time. */
#ifndef GN_BASE_ARENA_H
#define GN_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gn_arena {
    struct gn_arena_chunk *chunks;
    char *at, *end;
    size_t total;  /* bytes taken from the system */
    size_t limit;  /* refuse to grow past this (0: no limit) */
    size_t wanted; /* the request that failed, for the message */
    jmp_buf *oom;  /* where a failed allocation goes; without one the process aborts */
} gn_arena;

void gn_arena_init(gn_arena *a);
void gn_arena_free(gn_arena *a); /* idempotent */

/* Zeroed memory, 16-byte aligned. count*size is checked for overflow (an overflow counts as out of
 * memory). */
void *gn_arena_alloc(gn_arena *a, size_t count, size_t size);
#define GN_NEW(a, T) ((T *)gn_arena_alloc((a), 1, sizeof(T)))
#define GN_NEW_N(a, T, n) ((T *)gn_arena_alloc((a), (size_t)(n), sizeof(T)))

char *gn_arena_strndup(gn_arena *a, const char *s, size_t n); /* NUL-terminated copy */
char *gn_arena_strdup(gn_arena *a, const char *s);
char *gn_arena_printf(gn_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Boundary: `jmp_buf b; a->oom = &b; if (setjmp(b)) { ...release, return NOMEM... }` */

/* Growable array in an arena.  `GN_VEC(int) v = {0}; GN_PUSH(a, v, 3); v.p[i]; v.n` */
#define GN_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *p;                                                                                      \
        uint32_t n, cap;                                                                           \
    }
#define GN_PUSH(a, v, x)                                                                           \
    do {                                                                                           \
        if ((v).n == (v).cap) (v).p = gn_vec_grow_((a), (v).p, (v).n, &(v).cap, sizeof *(v).p);    \
        (v).p[(v).n++] = (x);                                                                      \
    } while (0)
void *gn_vec_grow_(gn_arena *a, void *p, uint32_t n, uint32_t *cap, size_t size);

/* String builder in an arena; `p` is always NUL-terminated once anything was added. */
typedef struct gn_buf {
    gn_arena *arena;
    char *p;
    size_t n, cap;
} gn_buf;
void gn_buf_addn(gn_buf *b, const char *s, size_t n);
void gn_buf_add(gn_buf *b, const char *s);
void gn_buf_printf(gn_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
