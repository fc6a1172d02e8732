/* See memory.h: a table of chains, and a ring from the most to the least recently used. */
#include "cache/lru.h"

#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1024 };

typedef struct item {
    struct item *chain, *newer, *older;
    gn_key key;
    size_t n;
    unsigned char *bytes; /* right behind the item */
} item;

struct gn_memo {
    size_t limit, bytes, count;
    item ring; /* ring.older: the newest, ring.newer: the oldest */
    item *chains[CHAINS];
};

/* Keys are digests: any bits of them are as good as a hash. */
static item **chain_of(gn_memo *m, const gn_key *k)
{
    return &m->chains[(k->b[0] | k->b[1] << 8) % CHAINS];
}

static size_t cost(size_t n) { return n + sizeof(item); }

static item **find(gn_memo *m, const gn_key *k)
{
    item **at = chain_of(m, k);
    while (*at && !gn_key_same(&(*at)->key, k)) at = &(*at)->chain;
    return at;
}

static void leave_ring(item *e)
{
    e->newer->older = e->older;
    e->older->newer = e->newer;
}

static void enter_ring(gn_memo *m, item *e)
{
    e->newer = &m->ring;
    e->older = m->ring.older;
    e->older->newer = e;
    m->ring.older = e;
}

gn_memo *gn_memo_new(size_t limit)
{
    gn_memo *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->limit = limit;
    m->ring.newer = m->ring.older = &m->ring;
    return m;
}

void gn_memo_free(gn_memo *m)
{
    if (!m) return;
    for (item *e = m->ring.older; e != &m->ring;) {
        item *next = e->older;
        free(e);
        e = next;
    }
    free(m);
}

void gn_memo_drop(gn_memo *m, const gn_key *k)
{
    item **at = find(m, k), *e = *at;
    if (!e) return;
    *at = e->chain;
    leave_ring(e);
    m->bytes -= cost(e->n);
    m->count--;
    free(e);
}

bool gn_memo_get(gn_memo *m, const gn_key *k, const unsigned char **bytes, size_t *n)
{
    item *e = *find(m, k);
    if (!e) return false;
    leave_ring(e);
    enter_ring(m, e);
    *bytes = e->bytes;
    *n = e->n;
    return true;
}

void gn_memo_put(gn_memo *m, const gn_key *k, const void *bytes, size_t n)
{
    gn_memo_drop(m, k);
    if (n > m->limit || cost(n) > m->limit) return;
    while (m->bytes + cost(n) > m->limit) {
        gn_key oldest = m->ring.newer->key;
        gn_memo_drop(m, &oldest);
    }
    item *e = malloc(cost(n)), **at = chain_of(m, k);
    if (!e) return;
    e->key = *k;
    e->n = n;
    e->bytes = (unsigned char *)(e + 1);
    if (n) memcpy(e->bytes, bytes, n);
    e->chain = *at;
    *at = e;
    enter_ring(m, e);
    m->bytes += cost(n);
    m->count++;
}

size_t gn_memo_bytes(const gn_memo *m) { return m->bytes; }
size_t gn_memo_count(const gn_memo *m) { return m->count; }
