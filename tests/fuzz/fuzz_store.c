/* Mapped files of datasets whose checksums are right, whatever else is in them: what is read must
 * pass the check that every dataset passes, and can be listed and decoded. */
/* links: runtime base */
#include "runtime/data/datafile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t get(const unsigned char *p)
{
    int64_t v = 0;
    for (int k = 7; k >= 0; k--) v = (int64_t)((uint64_t)v << 8 | p[k]);
    return v;
}

static void sign(unsigned char *to, const void *p, size_t n)
{
    uint32_t crc = (uint32_t)crc32_z(0, p, n);
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(crc >> 8 * k);
}

/* Checksums of what lies where the header says, as far as it lies anywhere. */
static void sign_all(unsigned char *p, size_t size)
{
    int64_t all = (int64_t)size, at = get(p + 24), length = get(p + 32), crc = get(p + 40),
            n = get(p + 48);
    bool fits = at >= 0 && length >= 0 && at <= all && length <= all - at && crc >= 0 && n >= 0 &&
                crc <= all && n <= (all - crc) / 4 && n < all / GN_BLOCK_SIZE;
    if (fits) {
        for (int64_t k = 0; k < n; k++)
            sign(p + crc + 4 * k, p + (k + 1) * GN_BLOCK_SIZE, GN_BLOCK_SIZE);
        sign(p + 56, p + at, (size_t)length);
        sign(p + 60, p + crc, (size_t)n * 4);
    }
    sign(p + GN_BLOCK_SIZE - 4, p, GN_BLOCK_SIZE - 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    gn_dataset *d = NULL;
    int64_t blocks;
    if (!copy) return 0;
    if (size) memcpy(copy, data, size);
    if (size >= GN_BLOCK_SIZE) sign_all(copy, size);
    gn_status *s = gn_datafile_parse(copy, size, "fuzz", &d);
    if (!s) s = gn_datafile_check(d, &blocks);
    if (!s) s = gn_dataset_list_edges(d);
    if (!s) s = gn_dataset_own_features(d);
    if (!s && d && (s = gn_dataset_check(d))) abort();
    gn_status_free(s);
    gn_dataset_free(d);
    free(copy);
    return 0;
}
