/* What tiles are known to hold (kir_avail.h). */
#include "ir/kir_avail.h"
#include "ir/kir_fold.h"

static bool same(const kir_kernel *k, kir_id a, kir_id b)
{
    int64_t x, y;
    return a == b || (kir_is_iconst(k, a, &x) && kir_is_iconst(k, b, &y) && x == y);
}

static bool apart(const kir_kernel *k, kir_id a, kir_id b)
{
    int64_t x, y;
    return a && b && kir_is_iconst(k, a, &x) && kir_is_iconst(k, b, &y) && x != y;
}

kir_id kir_avail_find(const kir_avail *s, kir_id tile, kir_id index)
{
    for (uint32_t i = s->held.n; i-- > 0;)
        if (s->held.p[i].tile == tile && same(s->k, s->held.p[i].index, index))
            return s->held.p[i].value;
    return 0;
}

void kir_avail_put(kir_avail *s, kir_id tile, kir_id index, kir_id value, int level)
{
    kir_held h = {tile, index, value, level};
    GN_PUSH(s->k->arena, s->held, h);
}

/* Keeps what `stays` says of. */
#define KEEP(s, h, stays)                                                                          \
    do {                                                                                           \
        uint32_t n_ = 0;                                                                           \
        for (uint32_t i_ = 0; i_ < (s)->held.n; i_++) {                                            \
            kir_held h = (s)->held.p[i_];                                                          \
            if (stays) (s)->held.p[n_++] = h;                                                      \
        }                                                                                          \
        (s)->held.n = n_;                                                                          \
    } while (0)

void kir_avail_write(kir_avail *s, kir_id tile, kir_id index)
{
    KEEP(s, h, h.tile != tile || apart(s->k, h.index, index));
}

void kir_avail_close(kir_avail *s, int level) { KEEP(s, h, h.level < level); }

void kir_avail_clear(kir_avail *s) { s->held.n = 0; }
