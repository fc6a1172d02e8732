#include "codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int versions[] = {13, 12};
enum { VERSIONS = sizeof versions / sizeof *versions };

/* Finding ------------------------------------------------------------------------------------------------------------- */

typedef struct search {
    gn_nvrtc *out;
    char tried[1600];
    size_t n;
} search;

static void note(search *s, const char *path, const char *why)
{
    int n = snprintf(s->tried + s->n, sizeof s->tried - s->n, "\n  %s%s%s", path, why ? ": " : "", why ? why : "");
    if (n > 0) s->n += (size_t)n < sizeof s->tried - s->n ? (size_t)n : sizeof s->tried - s->n - 1;
}

/* All symbols, or which is missing. */
static const char *bind(gn_nvrtc *n)
{
    void *at;
#define NV(name, types)                                                                                                \
    if (!(at = dlsym(n->library, "nvrtc" #name))) return "no symbol nvrtc" #name;                                      \
    memcpy(&n->name, &at, sizeof at);
#include "codegen/cuda/nvrtc.def"
#undef NV
    if (!(at = dlsym(n->library, "nvrtcGetErrorString"))) return "no symbol nvrtcGetErrorString";
    memcpy(&n->error_string, &at, sizeof at);
    if (n->Version(&n->major, &n->minor)) return "nvrtcVersion fails";
    return n->major < 12 ? "older than 12" : NULL;
}

/* Never unloaded: it keeps threads and handlers of its own. */
static bool try_path(search *s, const char *path)
{
    gn_nvrtc *n = s->out;
    *n = (gn_nvrtc){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!n->library) {
        note(s, path, NULL);
        return false;
    }
    snprintf(n->path, sizeof n->path, "%s", path);
    const char *why = bind(n);
    if (!why) return true;
    note(s, path, why);
    dlclose(n->library);
    return false;
}

static bool try_pattern(search *s, const char *pattern)
{
    glob_t g;
    bool found = false;
    if (glob(pattern, 0, NULL, &g)) {
        note(s, pattern, NULL);
        return false;
    }
    for (size_t k = g.gl_pathc; k-- > 0 && !found;) found = try_path(s, g.gl_pathv[k]);
    globfree(&g);
    return found;
}

static bool try_folder(search *s, const char *folder)
{
    static const char *const inside[] = {"lib64", "lib", "targets/x86_64-linux/lib"};
    char path[512];
    for (size_t k = 0; folder && *folder && k < sizeof inside / sizeof *inside; k++)
        for (int v = 0; v < VERSIONS; v++) {
            snprintf(path, sizeof path, "%s/%s/libnvrtc.so.%d", folder, inside[k], versions[v]);
            if (try_path(s, path)) return true;
        }
    return false;
}

/* The wheel nvidia-cuda-nvrtc puts it among Python's packages. */
static bool try_wheels(search *s)
{
    static const char *const inside[] = {"cuda_nvrtc/lib", "cu13/lib", "cu12/lib"};
    const char *venv = getenv("VIRTUAL_ENV");
    char path[512];
    for (size_t k = 0; venv && *venv && k < sizeof inside / sizeof *inside; k++) {
        snprintf(path, sizeof path, "%s/lib/python3*/site-packages/nvidia/%s/libnvrtc.so.1[23]", venv, inside[k]);
        if (try_pattern(s, path)) return true;
    }
    return false;
}

static bool try_all(search *s)
{
    char name[32];
    if (try_folder(s, getenv("CUDA_HOME")) || try_folder(s, getenv("CUDA_PATH"))) return true;
    for (int v = 0; v < VERSIONS; v++) {
        snprintf(name, sizeof name, "libnvrtc.so.%d", versions[v]);
        if (try_path(s, name)) return true;
    }
    return try_folder(s, "/usr/local/cuda") || try_folder(s, "/opt/cuda") || try_wheels(s);
}

gn_status *gn_nvrtc_open(gn_nvrtc *out)
{
    search s = {.out = out};
    const char *named = getenv("GNNC_NVRTC");
    bool found = named && *named ? try_path(&s, named) : try_all(&s);
    if (found) return NULL;
    const char *why = named && *named ? dlerror() : NULL;
    GN_FAIL(
        GN_ERR_BACKEND,
        "no NVRTC, which CUDA code is compiled with; looked for:%s\n%s%s%sit comes with the CUDA toolkit 12 or 13, or "
        "from PyPI: pip install nvidia-cuda-nvrtc; GNNC_NVRTC=FILE names it",
        s.tried, why ? "  " : "", why ? why : "", why ? "\n" : "");
}

/* Compiling ----------------------------------------------------------------------------------------------------------- */

enum { MOST_ARCHS = 64 };

static int archs_of(const gn_nvrtc *n, int *arch)
{
    int count = 0;
    if (n->GetNumSupportedArchs(&count) || count < 0 || count > MOST_ARCHS || n->GetSupportedArchs(arch)) return 0;
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

static gn_status *take(const gn_nvrtc *n, void *program, gn_nvrtc_output what, unsigned char **bytes, size_t *size)
{
    bool ptx = what == GN_NVRTC_PTX;
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

static gn_status *compile(const gn_nvrtc *n, void *program, int arch, gn_nvrtc_output what, bool verbose,
                          unsigned char **bytes, size_t *size, char **log)
{
    char target[48];
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d", what == GN_NVRTC_PTX ? "compute" : "sm", arch);
    const char *options[8] = {target, "--fmad=false", "--std=c++17", "-w"};
    int count = 4;
    if (verbose && what == GN_NVRTC_CUBIN) options[count++] = "--ptxas-options=-v";
    if (n->major >= 13) options[count++] = "--minimal"; /* leaves out what kernels do not use; 5 ms a program */
    int e = n->CompileProgram(program, count, options);
    *log = words_of(n, program);
    if (!e) return take(n, program, what, bytes, size);
    GN_FAIL(GN_ERR_INTERNAL, "NVRTC %d.%d: %s: %.1200s", n->major, n->minor, n->error_string(e), *log ? *log : "");
}

gn_status *gn_nvrtc_compile(const gn_nvrtc *n, const char *source, int arch, gn_nvrtc_output what, bool verbose,
                            unsigned char **bytes, size_t *size, char **log)
{
    void *program = NULL;
    *bytes = NULL;
    *log = NULL;
    if (!gn_nvrtc_makes(n, arch))
        GN_FAIL(GN_ERR_BACKEND, "NVRTC %d.%d (%s) makes no code for sm_%d", n->major, n->minor, n->path, arch);
    int e = n->CreateProgram(&program, source, "gnnc.cu", 0, NULL, NULL);
    if (e) GN_FAIL(GN_ERR_INTERNAL, "NVRTC %d.%d: %s", n->major, n->minor, n->error_string(e));
    gn_status *s = compile(n, program, arch, what, verbose, bytes, size, log);
    n->DestroyProgram(&program);
    return s;
}
