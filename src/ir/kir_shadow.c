/* Races: who touched an element, for each loop around that is not ordered.
 *
 * Two accesses meet in a loop when they are in different iterations of one execution of it.  A mark
 * an element and loop remembers what its current execution did: which iteration came last, whether
 * there was another, and all kinds of access so far.  That is exact: in an execution an element may
 * be touched by one iteration in any way, or by many in ways that the loop's race allows. */
#include "ir/kir_exec.h"

/* May many iterations have done this? */
static bool allowed(unsigned race, unsigned bits)
{
    if (bits == KX_READ) return true;
    return race == KIR_REDUCE && (bits == KX_SUM || bits == KX_MAX || bits == KX_MIN);
}

/* Scratch of a private loop: what counts is what an iteration reads without having written it. */
static bool scratch(kx_mark *m, unsigned bit)
{
    if (bit != KX_WRITE && !m->own) m->bits |= KX_READ;
    if (bit != KX_READ) {
        m->bits |= KX_WRITE;
        m->own = 1;
    }
    return !m->many || m->bits != (KX_READ | KX_WRITE);
}

const char *kx_touch(kx_memory *m, int64_t i, unsigned bit, const kx_level *levels, uint32_t n,
                     uint32_t *other, uint32_t *level)
{
    kx_mark *mark = &m->marks[(uint64_t)i * (m->levels - m->base)];
    for (uint32_t l = m->base; l < n; l++, mark++) {
        const kx_level *at = &levels[l];
        uint32_t before = mark->iter;
        /* lanes of a block and its warps are the same threads, but not number by number */
        if ((mark->instance ^ at->instance) == KX_OF_LANES && mark->instance & KX_IN_BLOCK) {
            mark->instance = at->instance;
            mark->iter = at->iter;
            mark->many = 1;
            mark->own = 0;
        } else if (mark->instance != at->instance) {
            *mark = (kx_mark){.instance = at->instance, .iter = at->iter};
        } else if (mark->iter != at->iter) {
            mark->many = 1;
            mark->own = 0;
            mark->iter = at->iter;
        }
        *other = before;
        *level = l;
        if (at->race == KIR_PRIVATE && m->tile) {
            if (!scratch(mark, bit))
                return "an iteration of a private loop reads what another writes";
            continue;
        }
        mark->bits |= (uint8_t)bit;
        if (mark->many && !allowed(at->race, mark->bits)) return "two iterations of the loop meet";
    }
    return NULL;
}
