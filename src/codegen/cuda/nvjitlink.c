#include "codegen/cuda/nvjitlink.h"

#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wanted {
    gn_nvjitlink *link;
    unsigned major, minor; /* NVRTC's */
} wanted;

/* All symbols, or which is missing.  A linker takes what compilers of its own CUDA made that are
 * not newer. */
static const char *bind(void *ctx, void *library)
{
    wanted *w = ctx;
    gn_nvjitlink *l = w->link;
    void *at;
    l->library = library;
#define JL(name, types)                                                                            \
    if (!(at = dlsym(library, "nvJitLink" #name))) return "no symbol nvJitLink" #name;             \
    memcpy(&l->name, &at, sizeof at);
#include "codegen/cuda/nvjitlink.def"
#undef JL
    if (l->Version(&l->major, &l->minor)) return "nvJitLinkVersion fails";
    if (l->major != w->major) return "for another CUDA than NVRTC";
    return l->minor < w->minor ? "older than NVRTC" : NULL;
}

gn_status *gn_nvjitlink_open(int nvrtc_major, int nvrtc_minor, gn_nvjitlink *out)
{
    gn_library found;
    wanted w = {out, (unsigned)nvrtc_major, (unsigned)nvrtc_minor};
    gn_library_wish wish = {.variable = "GNNC_NVJITLINK",
                            .name = "libnvJitLink.so",
                            .version = {nvrtc_major, nvrtc_major},
                            .wheel = "nvjitlink",
                            .why_not = bind,
                            .ctx = &w};
    *out = (gn_nvjitlink){0};
    if (nvrtc_major < 13)
        GN_FAIL(GN_ERR_BACKEND,
                "what NVRTC %d.%d makes is not linked: it has all optimisations, with which a "
                "program in pieces takes "
                "twice the registers",
                nvrtc_major, nvrtc_minor);
    bool there = gn_library_find(&wish, &found);
    memcpy(out->path, found.path, sizeof out->path);
    if (there) return NULL;
    GN_FAIL(GN_ERR_BACKEND,
            "no nvJitLink %d.%d or newer, without which a program in one kernel is compiled by one "
            "thread; looked "
            "for:%s\nit comes with the CUDA toolkit, or from PyPI: pip install nvidia-nvjitlink; "
            "GNNC_NVJITLINK=FILE "
            "names it",
            nvrtc_major, nvrtc_minor, found.tried);
}

/* What the linker says, of errors or else of kernels; "" where it says nothing. */
static char *words_of(const gn_nvjitlink *l, void *link, bool errors)
{
    size_t size = 0;
    if ((errors ? l->GetErrorLogSize : l->GetInfoLogSize)(link, &size)) size = 0;
    char *text = calloc(size + 1, 1);
    if (text && size) (void)(errors ? l->GetErrorLog : l->GetInfoLog)(link, text);
    return text;
}

static gn_status *refused(const gn_nvjitlink *l, void *link, const char *what)
{
    char *words = link ? words_of(l, link, true) : NULL;
    gn_status *s = GN_ERROR(GN_ERR_INTERNAL, "nvJitLink %u.%u does not %s%s%.1200s", l->major,
                            l->minor, what, words && *words ? ": " : "", words ? words : "");
    free(words);
    return s;
}

static gn_status *take(const gn_nvjitlink *l, void *link, unsigned char **code, size_t *size)
{
    if (l->GetLinkedCubinSize(link, size)) return refused(l, link, "tell its code's size");
    *code = malloc(*size + 1);
    if (!*code) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of code", *size);
    return l->GetLinkedCubin(link, *code) ? refused(l, link, "give its code") : NULL;
}

gn_status *gn_nvjitlink_link(const gn_nvjitlink *l, int n, const void *const *cubin,
                             const size_t *bytes, int arch, unsigned char **code, size_t *size,
                             char **log)
{
    enum { CUBIN = 1 };
    char target[32];
    void *link = NULL;
    *code = NULL;
    *log = NULL;
    (void)snprintf(target, sizeof target, "-arch=sm_%d", arch);
    const char *options[] = {target, "-verbose"};
    if (l->Create(&link, 2, options)) return refused(l, NULL, "begin");
    gn_status *s = NULL;
    for (int k = 0; k < n && !s; k++)
        if (l->AddData(link, CUBIN, cubin[k], bytes[k], "a piece"))
            s = refused(l, link, "take a piece");
    if (!s && l->Complete(link)) s = refused(l, link, "link");
    if (!s) s = take(l, link, code, size);
    if (!s) *log = words_of(l, link, false);
    l->Destroy(&link);
    return s;
}
