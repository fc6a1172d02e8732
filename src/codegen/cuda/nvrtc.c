#include "codegen/cuda/nvrtc.h"

#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All symbols, or which is missing. */
static const char *bind(void *ctx, void *library)
{
    gn_nvrtc *n = ctx;
    void *at;
    n->library = library;
#define NV(name, types)                                                                            \
    if (!(at = dlsym(library, "nvrtc" #name))) return "no symbol nvrtc" #name;                     \
    memcpy(&n->name, &at, sizeof at);
#include "codegen/cuda/nvrtc.def"
#undef NV
    if (!(at = dlsym(library, "nvrtcGetErrorString"))) return "no symbol nvrtcGetErrorString";
    memcpy(&n->error_string, &at, sizeof at);
    if (n->Version(&n->major, &n->minor)) return "nvrtcVersion fails";
    return n->major < 12 ? "older than 12" : NULL;
}

gn_status *gn_nvrtc_open(gn_nvrtc *out)
{
    gn_library found;
    gn_library_wish wish = {.variable = "GNNC_NVRTC",
                            .name = "libnvrtc.so",
                            .version = {13, 12},
                            .wheel = "cuda_nvrtc",
                            .why_not = bind,
                            .ctx = out};
    *out = (gn_nvrtc){0};
    bool there = gn_library_find(&wish, &found);
    memcpy(out->path, found.path, sizeof out->path);
    if (there) return NULL;
    GN_FAIL(GN_ERR_BACKEND,
            "no NVRTC, which CUDA code is compiled with; looked for:%s\nit comes with the CUDA "
            "toolkit 12 or 13, or "
            "from PyPI: pip install nvidia-cuda-nvrtc; GNNC_NVRTC=FILE names it",
            found.tried);
}

/* Compiling ------------------------------------------------------------------------------------ */

enum { MOST_ARCHS = 64 };

static int archs_of(const gn_nvrtc *n, int *arch)
{
    int count = 0;
    if (n->GetNumSupportedArchs(&count) || count < 0 || count > MOST_ARCHS ||
        n->GetSupportedArchs(arch))
        return 0;
    return count;
}

bool gn_nvrtc_makes(const gn_nvrtc *n, int arch)
{
    int all[MOST_ARCHS], count = archs_of(n, all);
    for (int k = 0; k < count; k++)
        if (all[k] == arch) return true;
    return false;
}

void gn_nvrtc_archs(const gn_nvrtc *n, gn_buf *out)
{
    int all[MOST_ARCHS], count = archs_of(n, all);
    for (int k = 0; k < count; k++) gn_buf_printf(out, "%ssm_%d", k ? " " : "", all[k]);
}

/* What the compiler says; "" where it says nothing. */
static char *words_of(const gn_nvrtc *n, void *program)
{
    size_t size = 0;
    if (n->GetProgramLogSize(program, &size) || size == 0) size = 1;
    char *text = calloc(size + 1, 1);
    if (text && size > 1) n->GetProgramLog(program, text);
    return text;
}

static bool is_ptx(gn_nvrtc_output what)
{
    return what == GN_NVRTC_PTX || what == GN_NVRTC_QUICK_PTX;
}

static gn_status *take(const gn_nvrtc *n, void *program, gn_nvrtc_output what,
                       unsigned char **bytes, size_t *size)
{
    bool ptx = is_ptx(what);
    int e = ptx ? n->GetPTXSize(program, size) : n->GetCUBINSize(program, size);
    if (e) GN_FAIL(GN_ERR_INTERNAL, "NVRTC %d.%d: %s", n->major, n->minor, n->error_string(e));
    *bytes = malloc(*size + 1);
    if (!*bytes) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of code", *size);
    e = ptx ? n->GetPTX(program, (char *)*bytes) : n->GetCUBIN(program, (char *)*bytes);
    if (!e) return NULL;
    free(*bytes);
    *bytes = NULL;
    GN_FAIL(GN_ERR_INTERNAL, "NVRTC %d.%d: %s", n->major, n->minor, n->error_string(e));
}

static gn_status *compile(const gn_nvrtc *n, void *program, int arch, gn_nvrtc_output what,
                          unsigned char **bytes, size_t *size, char **log)
{
    char target[48];
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d", is_ptx(what) ? "compute" : "sm",
             arch);
    bool quick = what != GN_NVRTC_CUBIN && what != GN_NVRTC_PTX;
    const char *options[12] = {target, "--fmad=false", "--std=c++17", "-w"};
    int count = 4;
    if (!is_ptx(what)) options[count++] = "--ptxas-options=-v";
    if (n->major >= 13)
        options[count++] = "--minimal"; /* leaves out what kernels do not use; 5 ms a program */
    if (what == GN_NVRTC_QUICK_PIECE) options[count++] = "--relocatable-device-code=true";
    if (n->major >= 13 && quick) {
        options[count++] = "--Ofast-compile=min";
        options[count++] = "--define-macro=GN_QUICK"; /* prelude.cuh: less to compile */
    }
    int e = n->CompileProgram(program, count, options);
    *log = words_of(n, program);
    if (!e) return take(n, program, what, bytes, size);
    GN_FAIL(GN_ERR_INTERNAL, "NVRTC %d.%d: %s: %.1200s", n->major, n->minor, n->error_string(e),
            *log ? *log : "");
}

gn_status *gn_nvrtc_compile(const gn_nvrtc *n, const char *source, int arch, gn_nvrtc_output what,
                            unsigned char **bytes, size_t *size, char **log)
{
    void *program = NULL;
    *bytes = NULL;
    *log = NULL;
    if (!gn_nvrtc_makes(n, arch))
        GN_FAIL(GN_ERR_BACKEND,
                "NVRTC %d.%d (%s) makes no code for sm_%d; gnnc doctor says for what it does, and "
                "another one may: pip "
                "install nvidia-cuda-nvrtc; GNNC_NVRTC=FILE names it",
                n->major, n->minor, n->path, arch);
    int e = n->CreateProgram(&program, source, "gnnc.cu", 0, NULL, NULL);
    if (e) GN_FAIL(GN_ERR_INTERNAL, "NVRTC %d.%d: %s", n->major, n->minor, n->error_string(e));
    gn_status *s = compile(n, program, arch, what, bytes, size, log);
    n->DestroyProgram(&program);
    return s;
}
