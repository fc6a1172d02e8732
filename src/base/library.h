/* Library: a shared library of a CUDA toolkit, found and loaded at run time. */
#ifndef GN_BASE_LIBRARY_H
#define GN_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum { GN_LIBRARY_VERSIONS = 2 };

typedef struct gn_library_wish {
    const char *variable; /* of the environment: names a file, and nothing else is tried then */
    const char *name;     /* "libnvrtc.so"; files are called that, a dot and a version */
    int version[GN_LIBRARY_VERSIONS]; /* the preferred one first */
    const char *wheel; /* folder of its wheel among Python's packages of NVIDIA: "cuda_nvrtc" */
    /* NULL: it is taken; else why it is not, in words that live on. */
    const char *(*why_not)(void *ctx, void *handle);
    void *ctx;
} gn_library_wish;

typedef struct gn_library {
    void *handle;
    char path[256];   /* by which it was found */
    char tried[1600]; /* what was looked for in vain, a line each, and why it would not do */
} gn_library;

/* The first that loads and is taken of: the variable's file (nothing else is tried then),
 * $CUDA_HOME and $CUDA_PATH, what the dynamic loader finds, /usr/local/cuda, /opt/cuda, and Python
 * wheels beside the python3 of $VIRTUAL_ENV.  It stays in memory: such libraries keep threads and
 * handlers of their own.  false: there is none, and `tried` says what was looked for.
 * Thread-safe. */
bool gn_library_find(const gn_library_wish *w, gn_library *out);

#endif
