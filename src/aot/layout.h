/* A model's description (runtime/aot/aot_image.h) as the bytes and relocations of a section. */
#ifndef GN_AOT_LAYOUT_H
#define GN_AOT_LAYOUT_H

#include "aot/elf.h"
#include "runtime/aot/aot_image.h"

typedef struct aot_fixup { /* an address at `at`: of place `to` of the section, or of a symbol */
    uint64_t at, to;
    int symbol; /* of the object; -1: the section itself */
} aot_fixup;

typedef struct aot_layout {
    gn_arena *arena;
    gn_buf bytes;
    GN_VEC(aot_fixup) fixups;
    gn_map strings; /* each once: number of `places` */
    GN_VEC(uint64_t) places;
} aot_layout;

enum { AOT_LAYOUT_ALIGN = 64 };

/* Lays out the image and all that it points to; code of launches is the symbol code[c][k] of kernel
 * k of program c, in the order eval, eval_ahead, step, step_ahead.  *at is where the image itself
 * stands, *needs where its features do. */
void aot_lay_out(aot_layout *l, gn_arena *a, const gn_aot_image *image, int *const code[4],
                 uint64_t *at, uint64_t *needs);

#endif
