/* What tiles are known to hold while a kernel is being rebuilt: the value at an index, as an
 * instruction that is available.  Indices are compared as instructions, constants by their
 * value. */
#ifndef GN_IR_KIR_AVAIL_H
#define GN_IR_KIR_AVAIL_H

#include "ir/kir.h"

typedef struct kir_held {
    kir_id tile, index, value;
    int level;
} kir_held;

typedef struct kir_avail {
    const kir_kernel *k;
    GN_VEC(kir_held) held;
} kir_avail;

kir_id kir_avail_find(const kir_avail *s, kir_id tile, kir_id index); /* 0 = not known */

/* tile[index] holds `value`, which is available until the block at `level` ends. */
void kir_avail_put(kir_avail *s, kir_id tile, kir_id index, kir_id value, int level);

/* something was written there; index 0: anywhere */
void kir_avail_write(kir_avail *s, kir_id tile, kir_id index);
void kir_avail_close(kir_avail *s, int level); /* the block ends */
void kir_avail_clear(kir_avail *s);            /* others may have written */

#endif
