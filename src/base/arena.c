#include "base/arena.h"

#include "base/alloc.h"
#include "base/sanitized.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double up to MOST; under AddressSanitizer they stay small, as it keeps none of more than
 * 128 KB for the next to ask: each would be mapped, and its pages be zeroed, anew. */
enum { ALIGN = 16, CHUNK = 64 * 1024, MOST = GN_UNDER_ASAN ? CHUNK : 16 << 20 };

typedef struct gn_arena_chunk {
    struct gn_arena_chunk *next;
    const gn_allocator *from;
    size_t size;
} chunk;

void gn_arena_init(gn_arena *a) { memset(a, 0, sizeof *a); }

void gn_arena_free(gn_arena *a)
{
    for (chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        const gn_allocator *before = gn_allocator_use(c->from);
        gn_release(c);
        gn_allocator_use(before);
    }
    gn_arena_init(a);
}

static _Noreturn void out_of_memory(gn_arena *a, size_t wanted)
{
    a->wanted = wanted;
    if (a->oom) longjmp(*a->oom, 1);
    abort();
}

static void grow(gn_arena *a, size_t need)
{
    size_t header = (sizeof(chunk) + ALIGN - 1) / ALIGN * ALIGN;
    size_t size = a->total < CHUNK ? CHUNK : a->total < MOST ? a->total : MOST;
    if (size < need) size = need;
    if (size > SIZE_MAX - header || (a->limit && a->total + size > a->limit))
        out_of_memory(a, need);
    chunk *c = gn_allocate(header + size, ALIGN);
    if (!c) out_of_memory(a, need);
    c->from = gn_allocator_now();
    c->next = a->chunks;
    c->size = size;
    a->chunks = c;
    a->total += size;
    a->at = (char *)c + header;
    a->end = a->at + size;
}

void *gn_arena_alloc(gn_arena *a, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n) || n > SIZE_MAX / 2) out_of_memory(a, SIZE_MAX);
    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (n == 0) n = ALIGN;
    if ((size_t)(a->end - a->at) < n) grow(a, n);
    void *p = a->at;
    a->at += n;
    return memset(p, 0, n);
}

char *gn_arena_strndup(gn_arena *a, const char *s, size_t n)
{
    char *p = gn_arena_alloc(a, n + 1, 1);
    memcpy(p, s, n);
    return p;
}

char *gn_arena_strdup(gn_arena *a, const char *s) { return gn_arena_strndup(a, s, strlen(s)); }

static char *vprint(gn_arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) n = 0;
    char *p = gn_arena_alloc(a, (size_t)n + 1, 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *gn_arena_printf(gn_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = vprint(a, fmt, ap);
    va_end(ap);
    return p;
}

void *gn_vec_grow_(gn_arena *a, void *p, uint32_t n, uint32_t *cap, size_t size)
{
    if (*cap > UINT32_MAX / 2) out_of_memory(a, SIZE_MAX);
    *cap = *cap ? *cap * 2 : 8;
    void *q = gn_arena_alloc(a, *cap, size);
    if (n) memcpy(q, p, n * size);
    return q;
}

void gn_buf_addn(gn_buf *b, const char *s, size_t n)
{
    if (b->cap - b->n < n + 1) {
        size_t cap = b->cap ? b->cap * 2 : 256;
        while (cap - b->n < n + 1) cap *= 2;
        char *q = gn_arena_alloc(b->arena, cap, 1);
        if (b->n) memcpy(q, b->p, b->n);
        b->p = q;
        b->cap = cap;
    }
    memcpy(b->p + b->n, s, n);
    b->n += n;
    b->p[b->n] = 0;
}

void gn_buf_add(gn_buf *b, const char *s) { gn_buf_addn(b, s, strlen(s)); }

void gn_buf_printf(gn_buf *b, const char *fmt, ...)
{
    char small[512];
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof small) {
        gn_buf_addn(b, small, (size_t)n);
    } else if (n > 0) {
        char *p = vprint(b->arena, fmt, again);
        gn_buf_addn(b, p, (size_t)n);
    }
    va_end(again);
}
