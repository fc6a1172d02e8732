/* Images: loaded code, wherever its objects came from. */
#include "base/clock.h"
#include "codegen/backend.h"

#include <stdlib.h>

struct gn_image {
    gn_object *object;
    gn_code_object kept;
    void (*gone)(void *ctx); /* before its code is freed; NULL: nobody is told */
    void *ctx;
};

static gn_status *finish(gn_image *image, gn_status *s, double t0, gn_image **out,
                         gn_codegen_stats *stats)
{
    if (s) {
        gn_image_free(image);
        return s;
    }
    stats->load_ms += gn_now_ms() - t0;
    stats->code_bytes += (int64_t)gn_object_code_bytes(image->object);
    *out = image;
    return NULL;
}

gn_status *gn_image_take(gn_code_object object, gn_image **out, gn_codegen_stats *stats)
{
    double t0 = gn_now_ms();
    *out = NULL;
    gn_image *image = calloc(1, sizeof *image);
    if (!image) {
        free(object.bytes);
        GN_FAIL(GN_ERR_NOMEM, "no memory for an image");
    }
    image->kept = object;
    return finish(image, gn_object_load(object.bytes, object.n, &image->object), t0, out, stats);
}

gn_status *gn_image_join(int n, const gn_code_object *objects, gn_image **out,
                         gn_codegen_stats *stats)
{
    double t0 = gn_now_ms();
    *out = NULL;
    gn_image *image = calloc(1, sizeof *image);
    if (!image) GN_FAIL(GN_ERR_NOMEM, "no memory for an image");
    return finish(image, gn_objects_load(n, objects, &image->object), t0, out, stats);
}

gn_kernel_fn gn_image_kernel(const gn_image *c, int k) { return gn_object_kernel(c->object, k); }

void gn_image_object(const gn_image *c, const void **bytes, size_t *n)
{
    *bytes = c->kept.bytes;
    *n = c->kept.n;
}

void gn_image_when_gone(gn_image *c, void (*gone)(void *ctx), void *ctx)
{
    c->gone = gone;
    c->ctx = ctx;
}

void gn_image_free(gn_image *c)
{
    if (!c) return;
    if (c->gone) c->gone(c->ctx);
    gn_object_free(c->object);
    free(c->kept.bytes);
    free(c);
}
