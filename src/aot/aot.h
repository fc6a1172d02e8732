/* Ahead of time: a build as an object, an archive or a shared library that needs nothing of gnnc,
 * and its C header. docs/aot.md has the design. */
#ifndef GN_AOT_AOT_H
#define GN_AOT_AOT_H

#include "aot/elf.h"
#include "build/build.h"
#include "runtime/aot/aot_image.h"

typedef enum gn_aot_kind {
    GN_AOT_OBJECT,
    GN_AOT_ARCHIVE,
    GN_AOT_SHARED,
    GN_AOT_NO_KIND
} gn_aot_kind;

/* By the end of the path: .o, .a or .so; GN_AOT_NO_KIND for any other. */
gn_aot_kind gn_aot_kind_of(const char *path);

typedef struct gn_aot_options {
    const char *prefix; /* of all names; NULL: made of the model's */
    const char *cpu;    /* as that of the build; NULL: native */
    bool normalized;   /* rows of the features that it was made with were divided by their sums: the
                          header says so */
    int64_t n_classes; /* of labels; 0: none */
    bool embed;        /* weights are those of the state; else drawn where the program starts */
} gn_aot_options;

typedef struct gn_aot_object {
    const char *prefix;
    const gn_model *model;
    gn_aot_image image;
    bool normalized;
    int kernels; /* that are in it: equal ones once */
    elf_object elf;
    gn_buf bytes; /* of the relocatable object */
} gn_aot_object;

/* `b` was built with `objects`; `s` holds the model's state (gn_model_add_state).  Everything lives
 * in the arena; `b` and `s` are borrowed.  GN_ERR_USAGE: the prefix is no C identifier, or the CPU
 * no known one; GN_ERR_MODEL: the model takes or gives what the C interface has no words for. */
GN_NODISCARD gn_status *gn_aot_make(gn_arena *a, const gn_model *m, const gn_build *b,
                                    const gn_state *s, const gn_aot_options *opt,
                                    gn_aot_object *out);

/* identity.c: of the interface that a header declares; not 0. */
uint64_t gn_aot_identity(gn_arena *a, const gn_aot_image *g, bool normalized);

/* The header that declares it. */
void gn_aot_header(const gn_aot_object *o, gn_arena *a, gn_buf *out);

/* Writes the file, at once or not at all.  GN_ERR_IO.  A shared library takes the system's linker;
 * GN_ERR_BACKEND where there is none, and where it fails (with its words). */
GN_NODISCARD gn_status *gn_aot_write(const gn_aot_object *o, gn_arena *a, gn_aot_kind kind,
                                     const char *path);

/* link.c: runs the linker over the object.  Looks in $PATH for ld, then for ld.lld, ld.gold and
 * ld.lld-19. */
GN_NODISCARD gn_status *gn_aot_link(gn_arena *a, const gn_buf *object, const char *path);

/* names.c: is it one that C takes, with something behind it?  And the model's name as such a
 * prefix, in the arena. */
bool gn_aot_is_prefix(const char *s);
const char *gn_aot_prefix_of(gn_arena *a, const char *model);
/* `name` with _ for what C does not allow, and a number behind it where that is in `used` already,
 * in small or capital letters, since macros have it in capitals; noted there, in small ones. */
const char *gn_aot_identifier(gn_arena *a, const char *name, gn_map *used);

#endif
