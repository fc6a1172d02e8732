/* See cache.h: memory, then the directory, then the base. */
#include "cache/cache.h"

#include "base/clock.h"
#include "cache/cache_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = 12 }; /* digits of a key in notes */
static const int64_t usual_disk = 256 << 20, usual_memory = 64 << 20;

static void say(gn_cache *c, gn_cache_word what, const char *fmt, va_list ap)
{
    char text[2048];
    vsnprintf(text, sizeof text, fmt, ap);
    c->opt.say(c->opt.ctx, what, text);
}

void gn_cache_warn(gn_cache *c, gn_warning kind, const char *fmt, ...)
{
    va_list ap;
    gn_mutex_take(&c->mutex);
    bool first = !(c->warned >> kind & 1);
    c->warned |= 1u << kind;
    gn_mutex_leave(&c->mutex);
    if (!c->opt.say || !(first || c->opt.notes)) return;
    va_start(ap, fmt);
    say(c, first ? GN_CACHE_WARNING : GN_CACHE_NOTE, fmt, ap);
    va_end(ap);
}

void gn_cache_note(gn_cache *c, const char *fmt, ...)
{
    va_list ap;
    if (!c->opt.say || !c->opt.notes) return;
    va_start(ap, fmt);
    say(c, GN_CACHE_NOTE, fmt, ap);
    va_end(ap);
}

gn_status *gn_cache_new(const gn_cache_options *o, gn_cache **out)
{
    *out = NULL;
    gn_cache *c = calloc(1, sizeof *c);
    if (!c) GN_FAIL(GN_ERR_NOMEM, "no memory for a cache");
    gn_status *s = gn_mutex_init(&c->mutex, GN_MUTEX_BRIEF);
    if (s) {
        free(c);
        return s;
    }
    c->opt = *o;
    if (c->opt.disk_bytes <= 0) c->opt.disk_bytes = usual_disk;
    if (c->opt.memory_bytes == 0) c->opt.memory_bytes = usual_memory;
    if (o->dir) c->store = gn_store_new(o->dir, false, c->opt.disk_bytes);
    if (o->base) c->base = gn_store_new(o->base, true, 0);
    if (c->opt.memory_bytes > 0) c->memo = gn_memo_new((size_t)c->opt.memory_bytes);
    if ((o->dir && !c->store) || (o->base && !c->base) || (c->opt.memory_bytes > 0 && !c->memo)) {
        gn_cache_free(c);
        GN_FAIL(GN_ERR_NOMEM, "no memory for a cache");
    }
    if (c->store) c->opt.dir = c->store->path;
    if (c->base) c->opt.base = c->base->path;
    *out = c;
    return NULL;
}

void gn_cache_free(gn_cache *c)
{
    if (!c) return;
    gn_store_free(c->store);
    gn_store_free(c->base);
    gn_memo_free(c->memo);
    gn_mutex_end(&c->mutex);
    free(c);
}

gn_cache_counts gn_cache_counted(gn_cache *c)
{
    gn_mutex_take(&c->mutex);
    gn_cache_counts n = c->counts;
    if (c->memo) {
        n.memory_bytes = (int64_t)gn_memo_bytes(c->memo);
        n.memory_entries = (int64_t)gn_memo_count(c->memo);
    }
    gn_mutex_leave(&c->mutex);
    return n;
}

/* Looking up ----------------------------------------------------------------------------------- */

static bool from_memory(gn_cache *c, const gn_key *k, unsigned char **bytes, size_t *n)
{
    const unsigned char *p;
    bool found = false;
    gn_mutex_take(&c->mutex);
    if (c->memo && gn_memo_get(c->memo, k, &p, n) && (*bytes = malloc(*n + 1))) {
        memcpy(*bytes, p, *n);
        c->counts.hits_memory++;
        found = true;
    }
    gn_mutex_leave(&c->mutex);
    return found;
}

static bool from_store(gn_cache *c, gn_store *s, const gn_key *k, unsigned char **bytes, size_t *n)
{
    char why[GN_WHY], hex[GN_SHA256_HEX + 1];
    gn_entry e;
    if (!s) return false;
    if (!gn_store_read(s, k, bytes, &e, why)) {
        if (!*why) return false;
        gn_sha256_hex(k->b, hex);
        if (s->dir < 0)
            gn_cache_warn(c, s->base ? GN_WARN_BASE : GN_WARN_DIR, "cache %s is not used: %s",
                          s->path, why);
        else
            gn_cache_warn(c, GN_WARN_ENTRY, "cache entry %s/kernels-1/%s is not used: %s", s->path,
                          hex, why);
        return false;
    }
    memmove(*bytes, e.payload, e.n);
    *n = e.n;
    gn_mutex_take(&c->mutex);
    if (c->memo) gn_memo_put(c->memo, k, *bytes, *n);
    ++*(s->base ? &c->counts.hits_base : &c->counts.hits_disk);
    gn_mutex_leave(&c->mutex);
    return true;
}

bool gn_cache_get(gn_cache *c, const gn_key *k, const char *name, unsigned char **bytes, size_t *n)
{
    char hex[GN_SHA256_HEX + 1];
    *bytes = NULL;
    *n = 0;
    const char *where = from_memory(c, k, bytes, n)            ? "memory"
                        : from_store(c, c->store, k, bytes, n) ? "disk"
                        : from_store(c, c->base, k, bytes, n)  ? "base"
                                                               : NULL;
    if (!where) {
        gn_mutex_take(&c->mutex);
        c->counts.misses++;
        gn_mutex_leave(&c->mutex);
        return false;
    }
    gn_sha256_hex(k->b, hex);
    gn_cache_note(c, "hit %.*s %s: %s, %zu bytes", SHORT, hex, name, where, *n);
    return true;
}

/* Keeping -------------------------------------------------------------------------------------- */

void gn_cache_put(gn_cache *c, const char *parts, const void *bytes, size_t n)
{
    char why[GN_WHY] = "", hex[GN_SHA256_HEX + 1];
    size_t n_parts = strlen(parts), size = gn_entry_size(n_parts, n);
    gn_key k = gn_key_of(parts, n_parts);
    gn_sha256_hex(k.b, hex);
    gn_mutex_take(&c->mutex);
    if (c->memo) gn_memo_put(c->memo, &k, bytes, n);
    c->counts.unkept += !c->store;
    gn_mutex_leave(&c->mutex);
    if (!c->store) return;
    unsigned char *entry = size ? malloc(size) : NULL;
    if (entry) gn_entry_write(parts, n_parts, bytes, n, entry);
    bool kept = entry && gn_store_write(c->store, &k, entry, size, why);
    free(entry);
    if (kept)
        gn_cache_note(c, "stored %.*s: %zu bytes", SHORT, hex, size);
    else
        gn_cache_note(c, "not stored %.*s: %s", SHORT, hex, size ? why : "it is too long");
    gn_mutex_take(&c->mutex);
    c->counts.stored += kept;
    c->counts.unkept += !kept;
    gn_mutex_leave(&c->mutex);
}

/* Claims --------------------------------------------------------------------------------------- */

enum { PATIENCE_MS = 60000, POLL_US = 500 };

struct gn_claims {
    int fd;
    int64_t patience_ms; /* what is left: a process may be stopped while it has a claim */
};

gn_claims *gn_claims_new(gn_cache *c)
{
    char why[GN_WHY];
    if (!c->store || !gn_store_attach(c->store, true, why)) return NULL;
    int fd = gn_store_lock_file(c->store);
    if (fd < 0) return NULL;
    gn_claims *m = malloc(sizeof *m);
    if (!m) {
        close(fd);
        return NULL;
    }
    *m = (gn_claims){fd, PATIENCE_MS};
    return m;
}

/* Two keys of which this is the same wait for each other for no reason, and no longer than that. */
static int64_t byte_of(const gn_key *k)
{
    int64_t b = 0;
    for (int i = 0; i < 7; i++) b = b << 8 | k->b[i];
    return GN_LOCK_KEYS + b;
}

bool gn_claims_try(gn_claims *m, const gn_key *k)
{
    return !m || m->patience_ms <= 0 || gn_lock_try(m->fd, byte_of(k)) != GN_LOCK_BUSY;
}

void gn_claims_wait(gn_claims *m, const gn_key *k)
{
    if (!m) return;
    int64_t t0 = gn_now_ns();
    for (int64_t gone = 0; m->patience_ms > gone && gn_lock_busy(m->fd, byte_of(k));) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_US * 1000}, NULL);
        gone = (gn_now_ns() - t0) / 1000000;
        if (gone >= m->patience_ms) m->patience_ms = 0;
    }
}

void gn_claims_drop(gn_claims *m)
{
    if (m) gn_lock_drop_from(m->fd, GN_LOCK_KEYS);
}

void gn_claims_free(gn_claims *m)
{
    if (!m) return;
    close(m->fd);
    free(m);
}
