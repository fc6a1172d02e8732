/* Ranks, features and parameters of synthetic graphs. */
#include "base/nearest.h"
#include "runtime/data/lines.h"
#include "runtime/data/mem.h"
#include "runtime/data/synthetic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- parameters ---- */

static gn_status *unknown_key(gn_span name, const gn_synthetic_key *key, int keys)
{
    enum { MOST = 16 };
    const char *names[MOST];
    char all[256] = "";
    for (int k = 0; k < keys && k < MOST; k++) {
        size_t n = strlen(all);
        names[k] = key[k].name;
        snprintf(all + n, sizeof all - n, "%s%s",
                 k == 0         ? ""
                 : k + 1 < keys ? ", "
                                : " or ",
                 key[k].name);
    }
    gn_shown shown = gn_span_show(name);
    const char *near = gn_nearest(shown.s, names, (size_t)keys);
    GN_FAIL(GN_ERR_USAGE, "synthetic: unknown key '%s'%s%s%s: expected %s", shown.s,
            near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", all);
}

static gn_status *parse_pair(gn_span pair, const gn_synthetic_key *key, int keys, void *params)
{
    const char *eq = memchr(pair.p, '=', (size_t)(pair.end - pair.p));
    gn_span name = {pair.p, eq ? eq : pair.end}, value = {eq ? eq + 1 : pair.end, pair.end};
    for (const gn_synthetic_key *k = key; k < key + keys; k++) {
        double v;
        if (!gn_span_is(name, k->name)) continue;
        if (!gn_span_float(value, &v) || !(v >= k->least && v <= k->most) ||
            (k->whole && v != floor(v)))
            GN_FAIL(GN_ERR_USAGE, "synthetic: %s=%s: expected %s from %.10g to %.10g", k->name,
                    gn_span_show(value).s, k->whole ? "a whole number" : "a number", k->least,
                    k->most);
        memcpy((char *)params + k->at, &v, sizeof v);
        return NULL;
    }
    return unknown_key(name, key, keys);
}

gn_status *gn_synthetic_parse(const char *text, const gn_synthetic_key *key, int keys, void *params)
{
    static const char between[] = ", \t";
    for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
        gn_span pair = {at, at + strcspn(at, between)};
        GN_TRY(parse_pair(pair, key, keys, params));
        at = pair.end;
    }
    return NULL;
}

/* ---- ranks ---- */

void gn_power_law_drawn(gn_power_law *r)
{
    free(r->sum);
    free(r->guide);
    r->sum = NULL;
    r->guide = NULL;
}

void gn_power_law_free(gn_power_law *r)
{
    gn_power_law_drawn(r);
    free(r->start);
    free(r->community);
    free(r->node);
}

/* About as many stretches of equal weight as there are ranks: a search begins in the right one
 * (Chen and Asau's guide tables, "On generating random variates from an empirical distribution",
 * 1974). */
static gn_status *make_guide(gn_power_law *r)
{
    while (r->sum[r->n] >> r->shift > (uint64_t)r->n) r->shift++;
    r->guides = (int64_t)(r->sum[r->n] >> r->shift) + 1;
    GN_MEM(r->guide, r->guides + 1);
    int64_t rank = 0;
    for (int64_t k = 0; k <= r->guides; k++) {
        while (rank + 1 < r->n && r->sum[rank + 1] <= (uint64_t)k << r->shift) rank++;
        r->guide[k] = (int32_t)rank;
    }
    return NULL;
}

/* The i-th largest expected degree of a power law is proportional to (i + i0)^(-1/(exponent-1));
 * those above the square root of the number of ends are cut, since no pair may be likelier than
 * 1. */
gn_status *gn_power_law_make(gn_power_law *r, uint32_t key, double edges, double exponent,
                             bool local)
{
    double *weight, total = 0, power = -1 / (exponent - 1);
    int64_t n = r->n;
    gn_stream com = {key, GN_SITE_COMMUNITY, 0}, name = {key, GN_SITE_NAME, 0};
    GN_MEM(r->community, n);
    GN_MEM(r->node, n);
    GN_MEM(r->start, r->communities + 2);
    GN_MEM(r->sum, n + 1);
    for (int64_t i = 0; i < n; i++) r->start[gn_below(&com, (uint64_t)r->communities) + 2]++;
    for (int64_t c = 0; c < r->communities; c++) r->start[c + 2] += r->start[c + 1];
    GN_MEM(weight, n);
    for (int64_t i = 0; i < n; i++) total += weight[i] = pow((double)(i + 1), power);
    double scale = edges / total, most = sqrt(edges);
    com.at = 0; /* the same draws again, now placing the i-th weight */
    for (int64_t i = 0; i < n; i++) {
        uint64_t c = gn_below(&com, (uint64_t)r->communities);
        int64_t rank = r->start[c + 1]++;
        double degree = weight[i] * scale;
        r->community[rank] = (int32_t)c;
        r->sum[rank + 1] = (uint64_t)((degree < most ? degree : most) * 0x1p16) + 1;
    }
    free(weight);
    for (int64_t i = 0; i < n; i++) r->sum[i + 1] += r->sum[i];
    for (int64_t i = 0; i < n; i++) r->node[i] = (int32_t)i;
    for (int64_t i = local ? 0 : n - 1; i > 0; i--) {
        int64_t j = (int64_t)gn_below(&name, (uint64_t)i + 1);
        int32_t t = r->node[i];
        r->node[i] = r->node[j];
        r->node[j] = t;
    }
    return make_guide(r);
}

/* The rank whose stretch of the running sum holds weight x. */
static int64_t rank_at(const gn_power_law *r, uint64_t x)
{
    int64_t from = r->guide[x >> r->shift], to = (int64_t)r->guide[(x >> r->shift) + 1] + 1;
    while (to - from > 1) {
        int64_t mid = from + (to - from) / 2;
        if (r->sum[mid] <= x)
            from = mid;
        else
            to = mid;
    }
    return from;
}

/* Tables are far larger than a cache, and every draw looks into each once: so draws go through them
 * side by side, one table after another, and what each will read is on its way while the others are
 * looked up. */
void gn_power_law_look_up(const gn_power_law *r, uint64_t *x, int n)
{
    for (int k = 0; k < n; k++) __builtin_prefetch(&r->guide[x[k] >> r->shift]);
    for (int k = 0; k < n; k++) __builtin_prefetch(&r->sum[r->guide[x[k] >> r->shift]]);
    for (int k = 0; k < n; k++) x[k] = (uint64_t)rank_at(r, x[k]);
}

/* ---- features ---- */

/* Sum of a word's four bytes, centred and scaled to variance 1: near enough to a normal, and exact
 * everywhere. */
static float gaussian(uint32_t w)
{
    int sum = (int)(w & 255) + (int)(w >> 8 & 255) + (int)(w >> 16 & 255) + (int)(w >> 24);
    return (float)(sum - 510) * (1 / 147.80055f);
}

/* Centres are 2.1 standard deviations apart whatever the width, and the noise has variance 1. */
gn_status *gn_synthetic_centres(uint32_t key, int64_t classes, int64_t f, float **out)
{
    float *centre, scale = 1.5f / sqrtf((float)f);
    int64_t total;
    if (__builtin_mul_overflow(classes ? classes : 1, f, &total)) total = INT64_MAX;
    GN_MEM(centre, total);
    for (int64_t i = 0; i < total; i++)
        centre[i] = scale * gaussian(gn_random_u32(key, GN_SITE_CENTER, (uint64_t)i));
    *out = centre;
    return NULL;
}

void gn_synthetic_rows(uint32_t key, const float *centres, const int32_t *y, const int32_t *number,
                       int64_t first, int64_t n, int64_t f, float *x)
{
    for (int64_t i = first; i < first + n; i++) {
        uint64_t node = (uint64_t)(number ? number[i] : i);
        gn_stream s = {key, GN_SITE_NOISE, node * (uint64_t)((f + 1) / 2)};
        const float *c = centres + (y ? y[i] : 0) * f;
        for (int64_t k = 0; k < f; k += 2) {
            uint64_t w = gn_draw(&s);
            *x++ = c[k] + gaussian((uint32_t)w);
            if (k + 1 < f) *x++ = c[k + 1] + gaussian((uint32_t)(w >> 32));
        }
    }
}

gn_status *gn_synthetic_dense(uint32_t key, const int32_t *y, int64_t n, int64_t classes, int64_t f,
                              float *x)
{
    float *centres;
    GN_TRY(gn_synthetic_centres(key, classes, f, &centres));
    gn_synthetic_rows(key, centres, y, NULL, 0, n, f, x);
    free(centres);
    return NULL;
}
