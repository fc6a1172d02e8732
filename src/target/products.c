#include "target/products.h"

#include "base/nearest.h"
#include "cache/cache.h"
#include "compile/code_id.h"
#include "compile/expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gn_products_name[GN_PRODUCTS_COUNT] = {
#define X(id, name) [GN_PRODUCTS_##id] = name,
    GN_PRODUCT_WAYS(X)
#undef X
};

gn_status *gn_products_by_name(const char *name, gn_products *out)
{
    enum { FIRST = GN_PRODUCTS_BY_MODE + 1 }; /* that has a name */
    int k;
    gn_status *s = gn_choose("way of products", name, gn_products_name + FIRST,
                             GN_PRODUCTS_COUNT - FIRST, &k);
    *out = s || !name ? GN_PRODUCTS_BY_MODE : (gn_products)(FIRST + k);
    return s;
}

gn_status *gn_products_describe(gn_buf *out)
{
    gn_cublaslt l;
    GN_TRY(gn_cublaslt_open(&l));
    gn_buf_printf(out, "cuBLASLt %d.%d (%s)", l.version / 10000, l.version % 10000 / 100, l.path);
    return NULL;
}

gn_products gn_products_way(gn_products asked, gn_mode mode, gn_switches off)
{
    if (!gn_is_on(off, GN_DO_LIBRARY)) return GN_PRODUCTS_KERNEL;
    if (asked != GN_PRODUCTS_BY_MODE) return asked;
    return gn_modes[mode].tune ? GN_PRODUCTS_TIMED : GN_PRODUCTS_KERNEL;
}

bool gn_has_products(const gn_compiled *c)
{
    for (int k = 0; k < c->artifact->n_launches; k++)
        if (c->artifact->launches[k].product) return true;
    return false;
}

/* How the library computes, and how far its results may be from a kernel's of the same precision;
 * what an A100 multiplies, by NVIDIA's data sheet, and what part of that each form is taken to
 * reach, by reasoning: none of it is measured here.  In the order of precisions, from exact to TF32
 * to BF16. */
static const struct {
    int compute;
    double slack, flops_per_us, kernel, library;
} computes[] = {
    {GN_CUBLASLT_COMPUTE_F32, 1e-4, 19.5e6, 0.5, 0.85},
    {GN_CUBLASLT_COMPUTE_TF32, 5e-3, 156e6, 0.3, 0.7},
    {GN_CUBLASLT_COMPUTE_BF16, 4e-2, 312e6, 0.25, 0.65},
};
_Static_assert(GN_PRECISION_COUNT == sizeof computes / sizeof *computes &&
                   GN_PRECISION_HIGHEST == 0 && GN_PRECISION_HIGH == 1 && GN_PRECISION_MEDIUM == 2,
               "a line each");

/* Without a device ----------------------------------------------------------------------------- */

/* Of an A100.  Products that memory bounds are alike in both forms. */
static const double bytes_per_us = 1.555e6;

static const char *estimate(gn_arena *a, const gn_product *p, double rows, gn_precision precision)
{
    double cols = (double)p->cols, depth = (double)p->depth,
           peak = computes[precision].flops_per_us;
    double moved = 4 * (rows * depth + depth * cols + rows * cols) / bytes_per_us,
           work = 2 * rows * cols * depth / peak;
    double kernel = fmax(moved, work / computes[precision].kernel),
           library = fmax(moved, work / computes[precision].library);
    return gn_arena_printf(a, "%s by the cost model, not timed: kernel %.1f us, cuBLASLt %.1f",
                           library < 0.97 * kernel ? "cuBLASLt" : "kernel", kernel, library);
}

void gn_products_estimate(gn_arena *a, gn_compiled *c, gn_precision precision, int n_hints,
                          const low_hint *hints)
{
    const gn_artifact *art = c->artifact;
    int64_t *sym = GN_NEW_N(a, int64_t, art->n_syms + 1), rows;
    if (c->whole || !gn_has_products(c)) return;
    bool known = gn_expected_symbols(art, n_hints, hints, sym);
    c->product_why = GN_NEW_N(a, const char *, art->n_launches + 1);
    for (int k = 0; k < art->n_launches; k++) {
        const gn_launch *l = &art->launches[k];
        if (!l->product) continue;
        bool counted = known && gn_term_value(l->trip, sym, &rows);
        c->product_why[k] = counted ? estimate(a, l->product, (double)rows, precision)
                                    : "kernel, not timed: sizes are not known";
    }
}

/* What was timed, in the cache ----------------------------------------------------------------- */

enum { PARTS = 1024 };

static void parts_of(const char *key, char parts[PARTS])
{
    (void)snprintf(parts, PARTS, "product 1\ngnnc %s code %.16s\n%s", GNNC_VERSION, gn_code_id,
                   key);
}

static bool recall(void *ctx, const char *key, gn_cuda_verdict *out)
{
    char parts[PARTS], text[64] = "", word[16];
    unsigned char *bytes;
    size_t n;
    parts_of(key, parts);
    gn_key k = gn_key_of(parts, strlen(parts));
    if (!gn_cache_get(ctx, &k, "product", &bytes, &n)) return false;
    memcpy(text, bytes, n < sizeof text - 1 ? n : sizeof text - 1);
    free(bytes);
    if (sscanf(text, "%15s %lf %lf", word, &out->kernel_us, &out->library_us) != 3) return false;
    out->library = !strcmp(word, "library");
    return out->library || !strcmp(word, "kernel");
}

static void remember(void *ctx, const char *key, const gn_cuda_verdict *v)
{
    char parts[PARTS], text[64];
    parts_of(key, parts);
    int n = snprintf(text, sizeof text, "%s %.3f %.3f\n", v->library ? "library" : "kernel",
                     v->kernel_us, v->library_us);
    gn_cache_put(ctx, parts, text, (size_t)n);
}

gn_cuda_library *gn_products_of(gn_arena *a, const gn_compiled *c, const gn_products_rule *r)
{
    const gn_artifact *art = c->artifact;
    if (r->way == GN_PRODUCTS_KERNEL || c->whole || !gn_has_products(c)) return NULL;
    const char **kernel = GN_NEW_N(a, const char *, art->n_code + 1);
    for (int k = 0; k < art->n_launches; k++) {
        unsigned char digest[GN_SHA256_BYTES];
        char hex[GN_SHA256_HEX + 1];
        int number = art->launches[k].kernel;
        if (!art->launches[k].product) continue;
        const char *text = gn_canonical_kernel(a, c->kernels[number], false);
        if (c->quick) text = gn_arena_printf(a, "quick\n%s", text); /* other machine code */
        gn_sha256_of(text, strlen(text), digest);
        gn_sha256_hex(digest, hex);
        kernel[number] = gn_arena_strdup(a, hex);
    }
    gn_cuda_library *l = GN_NEW(a, gn_cuda_library);
    *l = (gn_cuda_library){.always = r->way == GN_PRODUCTS_LIBRARY,
                           .compute = computes[r->precision].compute,
                           .slack = computes[r->precision].slack,
                           .kernel = kernel};
    if (r->cache) {
        l->recall = recall;
        l->remember = remember;
        l->ctx = r->cache;
    }
    return l;
}
