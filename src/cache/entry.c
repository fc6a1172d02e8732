#include "cache/entry.h"

#include <string.h>

enum {
    VERSION = 1,
    AT_VERSION = 8,
    AT_PARTS = 12,
    AT_PAYLOAD = 16,
    AT_ZERO = 24,
    AT_KEY = 32,
    AT_SUM = 64
};
static const char magic[8] = "GNNCODE\n";

static void put(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
    return v;
}

gn_key gn_key_of(const char *parts, size_t n)
{
    gn_key k;
    gn_sha256_of(parts, n, k.b);
    return k;
}

bool gn_key_same(const gn_key *a, const gn_key *b) { return !memcmp(a->b, b->b, sizeof a->b); }

size_t gn_entry_size(size_t n_parts, size_t n)
{
    return n_parts <= GN_ENTRY_MAX_PARTS && n <= GN_ENTRY_MAX_PAYLOAD ? GN_ENTRY_HEAD + n_parts + n
                                                                      : 0;
}

static void checksum(const unsigned char *p, size_t n, unsigned char *out)
{
    gn_sha256 s;
    gn_sha256_init(&s);
    gn_sha256_add(&s, p, AT_SUM);
    gn_sha256_add(&s, p + GN_ENTRY_HEAD, n - GN_ENTRY_HEAD);
    gn_sha256_end(&s, out);
}

void gn_entry_write(const char *parts, size_t n_parts, const void *payload, size_t n,
                    unsigned char *out)
{
    gn_key key = gn_key_of(parts, n_parts);
    memset(out, 0, GN_ENTRY_HEAD);
    memcpy(out, magic, sizeof magic);
    put(out + AT_VERSION, VERSION, 4);
    put(out + AT_PARTS, n_parts, 4);
    put(out + AT_PAYLOAD, n, 8);
    memcpy(out + AT_KEY, key.b, sizeof key.b);
    memcpy(out + GN_ENTRY_HEAD, parts, n_parts);
    if (n) memcpy(out + GN_ENTRY_HEAD + n_parts, payload, n);
    checksum(out, GN_ENTRY_HEAD + n_parts + n, out + AT_SUM);
}

const char *gn_entry_peek(const void *head, size_t *n_parts, size_t *total)
{
    const unsigned char *p = head;
    if (memcmp(p, magic, sizeof magic) != 0) return "it does not begin as an entry does";
    if (get(p + AT_VERSION, 4) != VERSION) return "it is of another version";
    uint64_t parts = get(p + AT_PARTS, 4), payload = get(p + AT_PAYLOAD, 8);
    if (parts > GN_ENTRY_MAX_PARTS || payload > GN_ENTRY_MAX_PAYLOAD || get(p + AT_ZERO, 8))
        return "its header is damaged";
    *n_parts = (size_t)parts;
    *total = GN_ENTRY_HEAD + (size_t)parts + (size_t)payload;
    return NULL;
}

const char *gn_entry_read(const void *bytes, size_t n, gn_entry *out)
{
    const unsigned char *p = bytes;
    unsigned char sum[GN_SHA256_BYTES];
    size_t n_parts, total;
    if (n < GN_ENTRY_HEAD) return "it is too short";
    const char *why = gn_entry_peek(p, &n_parts, &total);
    if (why) return why;
    if (total != n) return total > n ? "it is cut off" : "something follows it";
    checksum(p, n, sum);
    if (memcmp(sum, p + AT_SUM, sizeof sum) != 0) return "its checksum does not fit";
    gn_entry e = {.parts = (const char *)p + GN_ENTRY_HEAD, .n_parts = n_parts};
    e.key = gn_key_of(e.parts, n_parts);
    if (memcmp(e.key.b, p + AT_KEY, sizeof e.key.b) != 0) return "its key does not fit";
    e.payload = p + GN_ENTRY_HEAD + n_parts;
    e.n = total - GN_ENTRY_HEAD - n_parts;
    *out = e;
    return NULL;
}
