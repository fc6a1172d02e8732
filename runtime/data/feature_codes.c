/* Features in fewer bits than float32, and back. */
#include "runtime/data/lent.h"

#include "base/half.h"

#include <float.h>
#include <math.h>

const char *const gn_feature_code_name[] = {
#define X(id, name, elem) name,
    GN_FEATURE_CODES(X)
#undef X
};
const gn_elem gn_feature_code_elem[] = {
#define X(id, name, elem) elem,
    GN_FEATURE_CODES(X)
#undef X
};

void gn_codes_decode(const gn_codes *c, int64_t cols, int64_t first, int64_t n, float *to)
{
    const uint16_t *half = c->data;
    const uint8_t *q = c->data;
    for (int64_t i = 0; i < n && c->elem == GN_BF16; i++) to[i] = gn_bf16_to_f32(half[first + i]);
    for (int64_t i = 0; i < n && c->elem == GN_F16; i++) to[i] = gn_f16_to_f32(half[first + i]);
    for (int64_t i = 0; i < n && c->elem == GN_U8; i++) {
        int64_t col = (first + i) % cols;
        float scaled = (float)q[first + i] * c->step[col];
        to[i] = scaled + c->least[col];
    }
}

void gn_codes_range(int64_t cols, int64_t n, const float *from, float *least, float *largest)
{
    for (int64_t i = 0; i < n; i++) {
        float *low = &least[i % cols], *high = &largest[i % cols];
        *low = from[i] < *low ? from[i] : *low;
        *high = from[i] > *high ? from[i] : *high;
    }
}

gn_status *gn_codes_scale(int64_t cols, float *least, const float *largest, float *step)
{
    for (int64_t c = 0; c < cols; c++) {
        if (!(least[c] <= largest[c])) least[c] = step[c] = 0; /* there are no rows */
        double range = (double)largest[c] - (double)least[c];
        if (range > FLT_MAX / 2) /* step * 255 is to be a number, too */
            GN_FAIL(GN_ERR_DATA, "column %lld goes from %g to %g, which is too far for int8",
                    (long long)c, (double)least[c], (double)largest[c]);
        step[c] = range > 0 ? (float)(range / UINT8_MAX) : 0;
    }
    return NULL;
}

gn_status *gn_codes_encode(gn_elem elem, const float *step, const float *least, int64_t cols,
                           int64_t n, const float *from, void *to)
{
    uint16_t *half = to;
    uint8_t *q = to;
    for (int64_t i = 0; i < n && elem == GN_BF16; i++) {
        half[i] = gn_f32_to_bf16(from[i]);
        if (!isfinite(gn_bf16_to_f32(half[i])))
            GN_FAIL(GN_ERR_DATA, "a feature is %g, which bfloat16 does not hold", (double)from[i]);
    }
    for (int64_t i = 0; i < n && elem == GN_U8; i++) {
        int64_t c = i % cols;
        double code = step[c] > 0 ? ((double)from[i] - (double)least[c]) / (double)step[c] + 0.5
                                  : 0;
        q[i] = (uint8_t)(code < 0 ? 0 : code > UINT8_MAX ? UINT8_MAX : code);
    }
    return NULL;
}
