/* facts: what sizes may be, as text and back. */
#include "build/jit.h"

#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gn_dim_name[GN_DIM_COUNT] = {
#define X(id, text, letter) text,
    GN_DIMS(X)
#undef X
};
static const char *const letters[GN_DIM_COUNT] = {
#define X(id, text, letter) letter,
    GN_DIMS(X)
#undef X
};

gn_status *gn_dynamic_by_name(const char *name, gn_dynamic *out)
{
    static const char *const names[] = {
#define X(id, text) text,
        GN_DYNAMICS(X)
#undef X
    };
    int k;
    gn_status *s = gn_choose("setting of dynamic", name, names, GN_DYNAMIC_COUNT, &k);
    *out = (gn_dynamic)k;
    return s;
}

gn_status *gn_stance_by_name(const char *name, gn_stance *out)
{
    static const char *const names[] = {
#define X(id, text) text,
        GN_STANCES(X)
#undef X
    };
    int k;
    gn_status *s = gn_choose("stance", name, names, GN_STANCE_COUNT, &k);
    *out = (gn_stance)k;
    return s;
}

/* Ranges --------------------------------------------------------------------------------------- */

static void skip(const char **p)
{
    while (**p == ' ' || **p == '\t') ++*p;
}

static bool word(const char **p, const char *text)
{
    size_t n = strlen(text);
    skip(p);
    if (strncmp(*p, text, n) != 0) return false;
    *p += n;
    skip(p);
    return true;
}

/* Digits; `none` where there are none. */
static bool number(const char **p, int64_t none, int64_t *out)
{
    *out = none;
    if (**p < '0' || **p > '9') return true;
    for (*out = 0; **p >= '0' && **p <= '9'; ++*p)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, **p - '0', out))
            return false;
    skip(p);
    return true;
}

static bool dimension(const char **p, gn_dim *out)
{
    for (int d = 0; d < GN_DIM_COUNT; d++)
        if (word(p, gn_dim_name[d]) || word(p, letters[d])) {
            *out = (gn_dim)d;
            return true;
        }
    return false;
}

/* "in 1..100", and the comma behind it where something follows. */
static bool bounds(const char **p, gn_range *r)
{
    bool ok = word(p, "in") && number(p, 0, &r->least) && word(p, "..") &&
              number(p, INT64_MAX, &r->most);
    if (ok && **p == ',') {
        ++*p;
        skip(p);
    } else if (**p)
        ok = false;
    return ok;
}

gn_status *gn_ranges_named(const char *text, int n, const char *const *names, gn_range *out)
{
    for (int k = 0; k < n; k++) out[k] = (gn_range){0, INT64_MAX};
    for (const char *p = text; *p;) {
        gn_range r;
        const char *at = p;
        char name[64];
        skip(&p);
        size_t length = strcspn(p, " \t,");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 p);
        int k = 0;
        while (k < n && (strlen(names[k]) != length || strncmp(names[k], p, length) != 0)) k++;
        p += length;
        if (!bounds(&p, &r))
            GN_FAIL(GN_ERR_USAGE,
                    "'%s' is no range of sizes, such as 'paper in 1..100000, writes in 0..2000000'",
                    at);
        if (k == n)
            GN_FAIL(GN_ERR_USAGE, "ranges: '%s' is no space and no relation%s", name,
                    gn_did_you_mean(name, names, (size_t)n).text);
        if (r.least > r.most)
            GN_FAIL(GN_ERR_USAGE, "%s in %lld..%lld: the range ends before it begins", names[k],
                    (long long)r.least, (long long)r.most);
        out[k] = r;
    }
    return NULL;
}

gn_status *gn_ranges_parse(const char *text, gn_guards *out)
{
    for (int d = 0; d < GN_DIM_COUNT; d++) out->of[d] = (gn_range){0, INT64_MAX};
    for (const char *p = text ? text : ""; *p;) {
        gn_dim d;
        gn_range r;
        const char *at = p;
        if (!dimension(&p, &d) || !bounds(&p, &r))
            GN_FAIL(GN_ERR_USAGE,
                    "'%s' is no range of sizes, such as 'N in 1..100000, E in 0..2000000'", at);
        if (r.least > r.most)
            GN_FAIL(GN_ERR_USAGE, "%s in %lld..%lld: the range ends before it begins",
                    gn_dim_name[d], (long long)r.least, (long long)r.most);
        out->of[d] = r;
    }
    return NULL;
}

void gn_guards_print(const gn_guards *g, gn_buf *out)
{
    const char *sep = "";
    for (int d = 0; d < GN_DIM_COUNT; d++) {
        gn_range r = g->of[d];
        if (r.least <= 0 && r.most == INT64_MAX) continue;
        if (r.least == r.most)
            gn_buf_printf(out, "%s%s == %lld", sep, gn_dim_name[d], (long long)r.least);
        else if (r.most == INT64_MAX)
            gn_buf_printf(out, "%s%s >= %lld", sep, gn_dim_name[d], (long long)r.least);
        else
            gn_buf_printf(out, "%s%s in %lld..%lld", sep, gn_dim_name[d], (long long)r.least,
                          (long long)r.most);
        sep = ", ";
    }
    gn_buf_add(out, *sep ? "" : "none");
}

/* Buckets -------------------------------------------------------------------------------------- */

gn_status *gn_buckets_parse(const char *text, int64_t *out)
{
    *out = 0;
    if (!text) return NULL;
    const char *p = text;
    if (!strcmp(text, "pow2")) {
        *out = -1;
        return NULL;
    }
    if (!number(&p, 0, out) || *p || *out < 1)
        GN_FAIL(GN_ERR_USAGE, "'%s' are no buckets: 'pow2', or a number whose multiples they are",
                text);
    return NULL;
}

/* What does not fit a number stays as it is. */
static int64_t round_up(int64_t bucket, int64_t n)
{
    int64_t to = 1;
    if (bucket < 0) {
        while (to < n)
            if (__builtin_mul_overflow(to, 2, &to)) return n;
        return to;
    }
    return __builtin_mul_overflow(n / bucket + (n % bucket != 0), bucket, &to) ? n : to;
}

gn_sizes gn_bucket_of(int64_t bucket, gn_sizes s)
{
    int64_t nodes = s.n[GN_DIM_NODES], edges = s.n[GN_DIM_EDGES], more;
    if (!bucket) return s;
    gn_sizes to = {{round_up(bucket, nodes), edges ? round_up(bucket, edges) : 0}};
    if (to.n[GN_DIM_EDGES] > edges && to.n[GN_DIM_NODES] == nodes &&
        !__builtin_add_overflow(nodes, 1, &more))
        to.n[GN_DIM_NODES] = round_up(bucket, more);
    return to;
}
