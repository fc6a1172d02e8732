#include "target/doctor.h"

#include "target/target.h"
#include "runtime/run/threads.h"

void gn_doctor_lines(gn_buf *out, const char *what, const char *text)
{
    gn_buf_printf(out, "%s: ", what);
    for (; *text; text++) {
        gn_buf_addn(out, text, 1);
        if (*text == '\n') gn_buf_add(out, "  ");
    }
    gn_buf_add(out, "\n");
}

static gn_status *list_devices(const gn_cuda_driver *d, gn_buf *out)
{
    char why[GN_CUDA_WHY];
    int n;
    GN_TRY(gn_cuda_device_count(d, &n));
    gn_buf_printf(out, "%s, for CUDA %d.%d and older; %d device%s", d->path, d->version / 1000,
                  d->version % 1000 / 10, n, n == 1 ? "" : "s");
    for (int k = 0; k < n; k++) {
        gn_cuda_info i;
        GN_TRY(gn_cuda_device_info(d, k, &i));
        gn_buf_printf(out, "\ncuda:%d %s, sm_%d%d, %d multiprocessors, %.1f GB%s", k, i.name,
                      i.major, i.minor, i.multiprocessors, (double)i.total_bytes / 1e9,
                      i.major < 8 ? " (too old: compute capability 8.0 is needed)" : "");
    }
    if (gn_cuda_too_new(gn_cuda_nvrtc_version(), d->version, why)) gn_buf_printf(out, "\n%s", why);
    return NULL;
}

gn_status *gn_doctor_devices(gn_buf *out)
{
    gn_cuda_driver *d;
    gn_status *s = gn_cuda_driver_open(NULL, &d);
    if (!s) s = list_devices(d, out);
    gn_cuda_driver_close(d);
    return s;
}

static void add_driver(gn_buf *out)
{
    gn_buf text = {.arena = out->arena};
    gn_status *s = gn_doctor_devices(&text);
    const char *said = s ? gn_arena_printf(out->arena,
                                           "%s\n(code for a GPU can be compiled, not run)",
                                           gn_status_message(s))
                         : text.p;
    gn_doctor_lines(out, "CUDA driver", said);
    gn_status_free(s);
}

static void add_products(gn_buf *out)
{
    gn_buf text = {.arena = out->arena};
    gn_status *s = gn_products_describe(&text);
    gn_doctor_lines(out, "CUDA products", s ? gn_status_message(s) : text.p);
    gn_status_free(s);
}

/* Needs NVRTC. */
static void add_linker(gn_buf *out)
{
    gn_buf text = {.arena = out->arena};
    gn_status *s = gn_cuda_linker(&text);
    gn_doctor_lines(out, "CUDA linker", s ? gn_status_message(s) : text.p);
    gn_status_free(s);
}

void gn_doctor(gn_buf *out)
{
    gn_buf compiler = {.arena = out->arena}, archs = {.arena = out->arena};
    gn_buf_printf(out, "gnnc %s\n", GNNC_VERSION);
    if (GNNC_HAVE_LLVM)
        gn_buf_printf(out, "CPU: LLVM %s, %s, %d processors\n", GNNC_LLVM_VERSION, gn_cpu_name(),
                      gn_cores());
    else
        gn_buf_add(out, "CPU: nothing to compile with; built without LLVM 19 (Debian: llvm-19-dev, "
                        "then build again)\n");
    gn_status *s = gn_cuda_describe(&compiler);
    if (!s) s = gn_cuda_archs(&archs);
    gn_doctor_lines(out, "CUDA compiler",
                    s ? gn_status_message(s)
                      : gn_arena_printf(out->arena, "%s, for %s", compiler.p, archs.p));
    if (!s) add_linker(out);
    gn_status_free(s);
    add_driver(out);
    add_products(out);
}
