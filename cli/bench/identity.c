/* identity: what a session runs and how, as one digest: kernels, launches, who shares them. */
#include "cli/bench/bench.h"

#include "build/tuned.h"
#include "cache/sha256.h"
#include "session/session.h"

#include <inttypes.h>

/* Code by its first appearance: equal kernels share it.  On a device there is none here; numbers of
 * kernels stand for it then. */
typedef struct seen {
    gn_arena *arena;
    GN_VEC(gn_kernel_fn) code;
} seen;

static uint32_t number_of(seen *s, const gn_artifact *f, int kernel)
{
    gn_kernel_fn code = f->code[kernel];
    if (!code) return (uint32_t)kernel;
    for (uint32_t k = 0; k < s->code.n; k++)
        if (s->code.p[k] == code) return k;
    GN_PUSH(s->arena, s->code, code);
    return s->code.n - 1;
}

static void add_program(gn_buf *b, seen *s, const char *name, const gn_compiled *c,
                        const gn_instance *in)
{
    if (!c) return;
    const gn_artifact *f = c->artifact;
    gn_buf_printf(b, "program %s whole %d quick %d\n", name, c->whole != NULL, c->quick);
    for (int k = 0; k < f->n_launches; k++) {
        const gn_launch *l = &f->launches[k];
        int head = 0;
        int64_t rows = in ? gn_instance_chain(in, k, &head) : 0;
        uint32_t code = l->kind == GN_LAUNCH_KERNEL ? number_of(s, f, l->kernel) : 0;
        gn_buf_printf(b, "launch %d code %u step %" PRId64 " parallel %d chain %" PRId64 " %d",
                      l->kind, code, l->step, l->parallel, rows, rows ? head : 0);
        for (int i = 0; i < l->n_balance; i++)
            gn_buf_printf(b, " balance %d %d", l->balance[i].graph, (int)l->balance[i].array);
        gn_buf_add(b, " buffers");
        for (int i = 0; i < l->n_buf; i++) gn_buf_printf(b, " %d", l->buf[i]);
        gn_buf_add(b, "\n");
    }
}

static void add_unit(gn_buf *b, seen *s, const char *name, const gn_unit *u, int threads)
{
    int launches = 0, shared = 0, waits = 0;
    bool folded = u->instance && gn_instance_in_region(u->instance, &launches, &shared, &waits);
    if (!u->code) return;
    gn_buf_printf(b, "unit %s threads %d region %d %d %d %d\n", name,
                  u->threads ? u->threads : threads, folded, launches, shared, waits);
    add_program(b, s, "ahead", u->prepare_code, u->prepare);
    add_program(b, s, "run", u->code, u->instance);
}

const char *gn_bench_program(const gn_session *s)
{
    gn_buf b = {.arena = s->arena};
    seen code = {.arena = s->arena};
    unsigned char digest[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    if (!*s->build.code.code) return ""; /* kernels without keys: nobody can tell */
    gn_buf_printf(&b, "kernels %s\norder %s\n", s->build.code.code, gn_order_name[s->opt.reorder]);
    if (s->opt.target) /* recorded, timed, folded: what a device does with a mode */
        gn_buf_printf(&b, "device mode %s\n", gn_mode_name[s->opt.mode]);
    for (int k = 0; k < GN_UNITS; k++) {
        const gn_unit *u = k == GN_UNIT_EVAL ? &s->build.eval : &s->build.step;
        add_unit(&b, &code, gn_unit_name[k], u, s->opt.threads);
    }
    gn_sha256_of(b.p, b.n, digest);
    gn_sha256_hex(digest, hex);
    return gn_arena_strndup(s->arena, hex, 16);
}
