/* Draws as torch's generator for CPUs makes them, from its state and back to it. */
#include "api/api.h"
#include "base/twister.h"

#include <math.h>
#include <string.h>

/* at::CPUGeneratorImplStateLegacy and what follows it (ATen/CPUGeneratorImpl.cpp). */
typedef struct torch_state {
    uint64_t seed;
    int32_t left, seeded; /* 1 to 624: words of the block that are left, and one */
    uint64_t next;
    uint64_t word[GN_TWISTER_WORDS];
    double normal[3];
    int32_t normal_is_valid, pad;
    float next_float_normal;
    bool has_float_normal;
} torch_state;

static gn_status *read(const torch_state *s, gn_twister *t)
{
    t->used = GN_TWISTER_WORDS + 1 - s->left;
    bool ends = s->left == 1 && s->next == 0; /* as a seed leaves it */
    if (s->seeded != 1 || s->left < 1 || s->left > GN_TWISTER_WORDS ||
        !(ends || s->next == (uint64_t)t->used))
        GN_FAIL(GN_ERR_DATA,
                "gnnc_draw_torch: no state of torch's generator: %d words left, next %llu",
                (int)s->left, (unsigned long long)s->next);
    for (int k = 0; k < GN_TWISTER_WORDS; k++) t->word[k] = (uint32_t)s->word[k];
    return NULL;
}

static void write(const gn_twister *t, torch_state *s)
{
    s->left = GN_TWISTER_WORDS + 1 - t->used;
    s->next = (uint64_t)t->used;
    for (int k = 0; k < GN_TWISTER_WORDS; k++) s->word[k] = t->word[k];
}

static gn_status *draw(void *state, size_t bytes, double p, size_t n, bool *mask)
{
    torch_state s;
    gn_twister t;
    if (bytes != sizeof s)
        GN_FAIL(GN_ERR_DATA, "gnnc_draw_torch: a state of %zu bytes, expected %zu", bytes,
                sizeof s);
    if (!(p >= 0 && p <= 1))
        GN_FAIL(GN_ERR_USAGE, "gnnc_draw_torch: the probability %g is not in 0..1", p);
    memcpy(&s, state, sizeof s);
    GN_TRY(read(&s, &t));
    if (!n) return NULL;
    gn_twister_below(&t, p, n, mask);
    write(&t, &s);
    memcpy(state, &s, sizeof s);
    return NULL;
}

gnnc_status *gnnc_draw_torch(void *state, size_t bytes, double p, size_t n, bool *mask)
{
    API_NEEDS(state);
    if (n) API_NEEDS(mask);
    return api_out(draw(state, bytes, p, n, mask));
}
