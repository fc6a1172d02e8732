/* Entries and archives of the cache.  An input that starts with 'A' is an archive from its second
 * byte on, one with 'R' an entry.  Any other is what stands in an entry, of which a sound one is
 * made and then damaged at the place that its first bytes say: mutations of a whole entry never get
 * past its checksum. */
/* links: cache base */
#include "cache/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What reads as an entry must be one that writes the same bytes. */
static void read_entry(const uint8_t *p, size_t n, int sound)
{
    gn_entry e;
    if (gn_entry_read(p, n, &e)) {
        if (sound) abort();
        return;
    }
    gn_key k = gn_key_of(e.parts, e.n_parts);
    unsigned char *again = malloc(n);
    if (!again) return;
    if (!gn_key_same(&k, &e.key) || gn_entry_size(e.n_parts, e.n) != n) abort();
    gn_entry_write(e.parts, e.n_parts, e.payload, e.n, again);
    if (memcmp(again, p, n) != 0) abort();
    free(again);
}

static void made_entry(const uint8_t *p, size_t n)
{
    if (n < 4) return;
    size_t at = (size_t)(p[0] | p[1] << 8), parts = p[2];
    uint8_t flip = p[3];
    p += 4;
    n -= 4;
    if (parts > n) parts = n;
    size_t size = gn_entry_size(parts, n - parts);
    unsigned char *entry = malloc(size);
    if (!entry) return;
    gn_entry_write((const char *)p, parts, p + parts, n - parts, entry);
    read_entry(entry, size, 1);
    entry[at % size] ^= flip;
    gn_entry e;
    if (flip && !gn_entry_read(entry, size, &e)) abort();
    free(entry);
}

/* Into a folder that cannot be made: everything is read, nothing kept. */
static void import(const uint8_t *p, size_t n)
{
    char path[64];
    gn_cache *c;
    int64_t entries, known;
    gn_cache_options o = {.dir = "/dev/null/none", .memory_bytes = -1};
    int fd = memfd_create("archive", MFD_CLOEXEC);
    if (fd < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    gn_status *s = gn_cache_new(&o, &c);
    if (!s && write(fd, p, n) == (ssize_t)n)
        gn_status_free(gn_cache_import(c, path, &entries, &known));
    if (!s) gn_cache_free(c);
    gn_status_free(s);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    if (*data == 'A')
        import(data + 1, size - 1);
    else if (*data == 'R')
        read_entry(data + 1, size - 1, 0);
    else
        made_entry(data + 1, size - 1);
    return 0;
}
