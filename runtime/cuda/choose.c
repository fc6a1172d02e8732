#include "runtime/cuda/choose.h"

#include "runtime/run/instance.h"
#include "runtime/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    ROUNDS = 3,    /* each form in turn, of which the best counts */
    RUNS = 4,      /* between two marks */
    SAMPLE = 4096, /* elements that are compared, where the result begins and where it ends */
    KEY = 640,
};
static const double least_gain = 0.03;

/* What the choice depends on. */
static void make_key(const gn_cuda_library *l, const gn_cuda_device *d,
                     const gn_cuda_product_shape *s, const char *kernel, char key[KEY])
{
    const gn_cuda_info *i = gn_cuda_device_about(d);
    (void)snprintf(
        key, KEY,
        "device %s sm_%d%d multiprocessors %d\nlibrary cuBLASLt %d compute %d\nshape %" PRId64
        " %" PRId64 " %" PRId64 " a %" PRId64 " %" PRId64 " b %" PRId64 " %" PRId64
        " bias %d relu %d\nkernel %s\n",
        i->name, i->major, i->minor, i->multiprocessors, gn_cuda_blas_about(l->blas)->version,
        s->compute, s->rows, s->cols, s->depth, s->a_row, s->a_term, s->b_term, s->b_col, s->bias,
        s->relu, kernel);
}

static bool shape_of(const gn_cuda_library *l, const gn_instance *host, int launch,
                     gn_cuda_product_shape *s)
{
    const gn_launch *at = &host->artifact->launches[launch];
    const gn_product *p = at->product;
    int64_t rows;
    if (!gn_term_value(at->trip, host->sym, &rows)) return false;
    *s = (gn_cuda_product_shape){rows,      p->cols,  p->depth,     p->a_row, p->a_term,
                                 p->b_term, p->b_col, p->bias >= 0, p->relu,  l->compute};
    return rows > 0;
}

/* Has slot number `buffer` of the launch an element number (rows - 1) * row + (cols - 1) * col? */
static bool has(const gn_instance *host, const gn_launch *l, int buffer, int64_t rows, int64_t row,
                int64_t cols, int64_t col)
{
    int64_t down, across, last, elems = host->plan.elems[l->buf[buffer]];
    return !__builtin_mul_overflow(rows - 1, row, &down) &&
           !__builtin_mul_overflow(cols - 1, col, &across) &&
           !__builtin_add_overflow(down, across, &last) && last < elems;
}

/* The library checks no addresses: a product that leaves its buffers is none. */
static gn_status *check_sizes(const gn_instance *host, int launch, const gn_cuda_product_shape *s)
{
    const gn_launch *l = &host->artifact->launches[launch];
    const gn_product *p = l->product;
    if (has(host, l, p->out, s->rows, s->cols, s->cols, 1) &&
        has(host, l, p->a, s->rows, s->a_row, s->depth, s->a_term) &&
        has(host, l, p->b, s->depth, s->b_term, s->cols, s->b_col) &&
        (!s->bias || has(host, l, p->bias, 1, 1, s->cols, 1)))
        return NULL;
    GN_FAIL(GN_ERR_INTERNAL, "%s: launch %d is a product that leaves its buffers",
            host->artifact->name, launch);
}

gn_status *gn_cuda_choice_make(const gn_cuda_library *l, gn_cuda_device *d, const gn_instance *host,
                               int launch, gn_device_ptr bias, gn_cuda_choice *out)
{
    gn_cuda_product_shape s;
    char key[KEY];
    const gn_launch *at = &host->artifact->launches[launch];
    *out = (gn_cuda_choice){0};
    if (!shape_of(l, host, launch, &s)) return NULL;
    GN_TRY(check_sizes(host, launch, &s));
    gn_status *failed = gn_cuda_product_new(l->blas, &s, bias, &out->product);
    if (failed && !l->always && gn_status_code(failed) == GN_ERR_BACKEND) {
        gn_status_free(failed);
        out->why = "cuBLASLt cannot";
        return NULL;
    }
    GN_TRY(gn_status_annotate(failed, "%s: launch %d, %s", host->artifact->name, launch, at->name));
    out->verdict.library = l->always;
    if (!l->always) {
        make_key(l, d, &s, l->kernel[at->kernel], key);
        out->recalled = l->recall && l->recall(l->ctx, key, &out->verdict);
    }
    out->pending = out->verdict.library ? s.relu : !l->always && !out->recalled;
    return NULL;
}

void gn_cuda_choice_end(gn_cuda_choice *c)
{
    gn_cuda_product_free(c->product);
    c->product = NULL;
}

/* Deciding ------------------------------------------------------------------------------------- */

/* Where the result begins and where it ends: at [2 * SAMPLE]. */
static gn_status *take_sample(gn_cuda_device *d, const gn_cuda_forms *f, float *at)
{
    int64_t n = f->elems < SAMPLE ? f->elems : SAMPLE, size = (int64_t)sizeof *at;
    GN_TRY(gn_cuda_download(d, at, f->out, n * size));
    return gn_cuda_download(d, at + SAMPLE, f->out + (gn_device_ptr)((f->elems - n) * size),
                            n * size);
}

/* Are they alike but for rounding?  What is not finite in one need not be compared: it is said by
 * the loss. */
static bool alike(const float *a, const float *b, int64_t n, double slack)
{
    double largest = 0;
    for (int64_t k = 0; k < n; k++)
        if (isfinite(a[k]) && fabs((double)a[k]) > largest) largest = fabs((double)a[k]);
    for (int64_t k = 0; k < n; k++) {
        if (!isfinite(a[k])) continue;
        if (!(fabs((double)a[k] - (double)b[k]) <= slack * largest)) return false;
    }
    return true;
}

static gn_status *compare(gn_cuda_device *d, const gn_cuda_forms *f, double slack, bool *same)
{
    void *block;
    int64_t n = f->elems < SAMPLE ? f->elems : SAMPLE;
    GN_TRY(gn_block_zeroed(4 * SAMPLE, sizeof(float), "samples of a product", &block));
    float *kernel = block, *library = kernel + 2 * SAMPLE;
    gn_status *s = f->run(f->ctx, false);
    if (!s) s = take_sample(d, f, kernel);
    if (!s) s = f->run(f->ctx, true);
    if (!s) s = take_sample(d, f, library);
    *same = !s && alike(kernel, library, n, slack) &&
            alike(kernel + SAMPLE, library + SAMPLE, n, slack);
    gn_block_free(block);
    return s;
}

static gn_status *time_both(gn_cuda_device *d, const gn_cuda_forms *f, double best[2])
{
    best[0] = best[1] = INFINITY;
    for (int k = 0; k < 2 * ROUNDS; k++) {
        float ms = 0;
        bool library = k & 1;
        GN_TRY(gn_cuda_mark(d, 0));
        for (int run = 0; run < RUNS; run++) GN_TRY(f->run(f->ctx, library));
        GN_TRY(gn_cuda_mark(d, 1));
        GN_TRY(gn_cuda_between(d, &ms));
        double us = (double)ms * 1e3 / (int)RUNS;
        if (us < best[library]) best[library] = us;
    }
    return NULL;
}

gn_status *gn_cuda_choice_decide(const gn_cuda_library *l, gn_cuda_device *d,
                                 const gn_instance *host, int launch, const gn_cuda_forms *f,
                                 gn_cuda_choice *c)
{
    gn_cuda_product_shape s;
    char key[KEY];
    double best[2] = {0, 0};
    bool same, keeps = true;
    if (host->artifact->launches[launch].product->relu)
        GN_TRY(gn_cuda_product_keeps_nan(c->product, f->out, f->a, f->b, f->bias, &keeps));
    if (!keeps) {
        c->why = "cuBLASLt's relu loses a NaN";
        c->verdict = (gn_cuda_verdict){0};
    }
    if (!keeps || c->verdict.library) { /* asked for, or found before */
        c->pending = false;
        return f->run(f->ctx, keeps);
    }
    GN_TRY(compare(d, f, l->slack, &same));
    if (same) GN_TRY(time_both(d, f, best));
    c->pending = false;
    c->why = same ? NULL : "results differ";
    c->verdict = (gn_cuda_verdict){same && best[1] < (1 - least_gain) * best[0], best[0], best[1]};
    if (same && l->remember && shape_of(l, host, launch, &s)) {
        make_key(l, d, &s, l->kernel[host->artifact->launches[launch].kernel], key);
        l->remember(l->ctx, key, &c->verdict);
    }
    return f->run(f->ctx, c->verdict.library);
}

const char *gn_cuda_choice_text(gn_cuda_choice *c)
{
    const gn_cuda_verdict *v = &c->verdict;
    const char *before = c->recalled ? ", as found before" : "";
    if (!c->product && !c->why) return NULL;
    if (c->why)
        (void)snprintf(c->text, sizeof c->text, "kernel: %s", c->why);
    else if (c->pending)
        (void)snprintf(c->text, sizeof c->text, "kernel or cuBLASLt: not decided yet");
    else if (v->kernel_us > 0)
        (void)snprintf(c->text, sizeof c->text, "%s: kernel %.1f us, cuBLASLt %.1f%s",
                       v->library ? "cuBLASLt" : "kernel", v->kernel_us, v->library_us, before);
    else
        (void)snprintf(c->text, sizeof c->text, "cuBLASLt, as asked for");
    return c->text;
}
