/* State files: weights and what training keeps besides, in safetensors.
 *
 * Parameters lie under the names and in the layout that weight files have, so that whatever reads
 * those reads these; what else training keeps (moments, counters, seed) under the names that it has
 * in programs.  The metadata says what model and optimizer it is of; of `gnnc train` also what it
 * was trained on, and how far it came. */
#ifndef GN_BUILD_STATE_FILE_H
#define GN_BUILD_STATE_FILE_H

#include "build/build.h"
#include "runtime/data/tensorfile.h"

#define GN_STATE_KEY "gnnc_state" /* in the metadata of every file with more than weights */

/* A state to and from a file in memory.  Reading: GN_ERR_DATA names what is of another kind, model
 * or optimizer, and nothing was changed; `path` is for messages. */
GN_NODISCARD gn_status *gn_state_put(const gn_model *m, const gn_state *s, gn_tensor_file *f);
GN_NODISCARD gn_status *gn_state_take(const gn_model *m, gn_state *s, const char *path,
                                      const gn_tensor_file *f);

/* Metadata `key` is `now`?  GN_ERR_DATA says what it is, with `what` it is of. */
GN_NODISCARD gn_status *gn_state_same(const char *path, const gn_tensor_file *f, const char *key,
                                      const char *what, const char *now);

/* What it was computed with, in words as "mixed" (NULL: float32), to the metadata; and is it the
 * same that is `now`?  `option`: what says it, for the message.  GN_ERR_DATA. */
GN_NODISCARD gn_status *gn_state_put_precision(gn_tensor_file *f, const char *words);
GN_NODISCARD gn_status *gn_state_check_precision(const char *path, const gn_tensor_file *f,
                                                 const char *option, const char *now);
/* Those words; in the arena. */
const char *gn_precision_words(gn_arena *a, gn_numbers numbers, const char *wide);

#define GN_BEST_PREFIX "best." /* of weights that were best so far, beside the last ones */

#endif
