/* Contexts: where memory comes from, where compiled kernels are kept, who hears what. */
#include "api/api.h"

#include "base/nearest.h"
#include "cache/cache.h"
#include "target/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gnnc_context *api_keep_context(const gnnc_context *c)
{
    gnnc_context *kept = (gnnc_context *)(uintptr_t)c;
    if (kept) atomic_fetch_add(&kept->users, 1);
    return kept;
}

void api_release_context(gnnc_context *c)
{
    if (!c || atomic_fetch_sub(&c->users, 1) != 1) return;
    gn_cache_free(c->cache);
    bool own = c->own_memory;
    gn_allocator a = c->allocator; /* outlives what it is freed by */
    const gn_allocator *before = gn_allocator_use(own ? &a : NULL);
    gn_target_close(c->target);
    gn_release(c->no_device);
    gn_release(c);
    gn_allocator_use(before);
}

void gnnc_context_free(gnnc_context *c) { api_release_context(c); }

static void say_cache(void *ctx, gn_cache_word what, const char *text)
{
    const gnnc_context *c = ctx;
    if (c->opt.log)
        c->opt.log(c->opt.user, what == GN_CACHE_WARNING ? GNNC_LOG_WARNING : GNNC_LOG_NOTE,
                   "cache", text);
}

static void hear(void *ctx, bool note, const char *file, uint32_t line, uint32_t column,
                 const char *message)
{
    const gnnc_context *c = ctx;
    gnnc_diagnostic d = {.size = sizeof d,
                         .note = note,
                         .file = file,
                         .line = line,
                         .column = column,
                         .message = message};
    c->opt.diagnostic(c->opt.user, &d);
}

static gn_status *read_topics(gnnc_context *c, const char *topics)
{
    static const char *const names[] = {"cache", "recompiles", "tuning"};
    for (const char *p = topics ? topics : ""; *p;) {
        char name[32];
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), p);
        bool cache = !strcmp(name, names[0]), recompiles = !strcmp(name, names[1]),
             tuning = !strcmp(name, names[2]);
        if (!cache && !recompiles && !tuning)
            GN_FAIL(GN_ERR_USAGE, "there is no topic '%s'%s", name,
                    gn_did_you_mean(name, names, 3).text);
        c->log_cache |= cache;
        c->log_recompiles |= recompiles;
        c->log_tuning |= tuning;
        p += n + (p[n] == ',');
    }
    return NULL;
}

static gn_status *open_cache(gnnc_context *c, gn_arena *a)
{
    API_GUARD(a);
    const gnnc_context_options *o = &c->opt;
    gn_cache_options want = {.say = say_cache, .ctx = c, .notes = c->log_cache};
    bool on = o->cache != GNNC_CACHE_NONE;
    if (o->cache == GNNC_CACHE_ENVIRONMENT) GN_TRY(gn_cache_environment(a, &want, &on));
    if (o->cache_dir && o->cache == GNNC_CACHE_ENVIRONMENT) {
        want.dir = o->cache_dir;
        on = true;
    }
    if (o->cache_bytes) want.disk_bytes = o->cache_bytes;
    want.memory_bytes = o->cache_memory_bytes;
    return on ? gn_cache_new(&want, &c->cache) : NULL;
}

static gn_status *read_options(const gnnc_context_options *from, gnnc_context_options *to)
{
    *to = (gnnc_context_options){.size = sizeof *to};
    if (!from) return NULL;
    GN_TRY(api_read_options(from, offsetof(gnnc_context_options, cache_dir), to, sizeof *to));
    if (!!to->allocate != !!to->release)
        GN_FAIL(GN_ERR_USAGE, "`allocate` and `release` come together");
    if (to->cache > GNNC_CACHE_NONE)
        GN_FAIL(GN_ERR_USAGE, "there is no way to use the cache %d", (int)to->cache);
    if (to->cache_bytes < 0)
        GN_FAIL(GN_ERR_USAGE, "cache_bytes is %lld", (long long)to->cache_bytes);
    return NULL;
}

/* Devices -------------------------------------------------------------------------------------- */

static gn_status *read_device(const char *d, gn_device_choice *out)
{
    if (gn_device_parse(d, out)) return NULL;
    GN_FAIL(GN_ERR_USAGE, "there is no device '%s': cpu, cuda, cuda:N or auto is expected%s", d,
            gn_did_you_mean(d, gn_device_names, GN_DEVICE_NAMES).text);
}

static gn_status *open_device(gnnc_context *c)
{
    gn_device_choice p;
    GN_TRY(read_device(c->opt.device, &p));
    if (!p.gpu) return NULL;
    API_MEMORY(c);
    gn_status *s = gn_target_open(NULL, p.ordinal, &c->target);
    if (!s || !p.any) return s;
    size_t n = strlen(gn_status_message(s)) + 1;
    c->no_device = gn_allocate_zeroed(n);
    if (c->no_device) memcpy(c->no_device, gn_status_message(s), n);
    gn_status_free(s);
    if (!c->no_device) GN_FAIL(GN_ERR_NOMEM, "out of memory: a message");
    return NULL;
}

void gnnc_context_device(const gnnc_context *c, gnnc_device_info *info)
{
    gnnc_device_info i = {
        .size = info ? info->size : 0, .name = "cpu", .ordinal = -1, .reason = ""};
    const gn_target *t = api_target(c);
    if (c && c->no_device) i.reason = c->no_device;
    if (t) {
        const gn_cuda_info *about = gn_cuda_device_about(t->device);
        i.gpu = true;
        i.name = about->name;
        i.ordinal = about->ordinal;
        i.arch = t->arch;
        i.bytes = about->total_bytes;
    }
    api_describe(info, &i, sizeof i);
}

gn_status *api_give_text(const gn_buf *b, char **text)
{
    *text = malloc(b->n + 1);
    if (!*text) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes of text", b->n + 1);
    memcpy(*text, b->p, b->n + 1);
    return NULL;
}

static gn_status *print_doctor(gn_arena *a, char **text)
{
    API_GUARD(a);
    gn_buf b = {.arena = a};
    gn_doctor(&b);
    return api_give_text(&b, text);
}

gnnc_status *gnnc_doctor(char **text)
{
    API_GIVES(text);
    gn_arena a;
    const gn_allocator *before = gn_allocator_use(NULL);
    gn_arena_init(&a);
    gn_status *s = print_doctor(&a, text);
    gn_arena_free(&a);
    gn_allocator_use(before);
    return api_out(s);
}

static gn_status *fill(gnnc_context *c)
{
    gn_arena a;
    GN_TRY(read_topics(c, c->opt.topics));
    gn_arena_init(&a);
    gn_status *s = open_cache(c, &a);
    gn_arena_free(&a);
    if (!s) s = open_device(c);
    /* Strings are the caller's, and were read. */
    c->opt.cache_dir = c->opt.topics = c->opt.device = NULL;
    return s;
}

static gn_status *new_context(const gnnc_context_options *options, gnnc_context **out)
{
    gnnc_context_options o;
    GN_TRY(read_options(options, &o));
    gn_allocator a = {o.allocate, o.release, o.user};
    const gn_allocator *before = gn_allocator_use(o.allocate ? &a : NULL);
    gnnc_context *c = gn_allocate_zeroed(sizeof *c);
    gn_allocator_use(before);
    if (!c) GN_FAIL(GN_ERR_NOMEM, "out of memory: a context");
    atomic_init(&c->users, 1);
    c->own_memory = o.allocate != NULL;
    c->allocator = a;
    c->opt = o;
    c->listener = (gn_listener){hear, c};
    API_MEMORY(c);
    gn_status *s = fill(c);
    if (s)
        api_release_context(c);
    else
        *out = c;
    return s;
}

gnnc_status *gnnc_context_new(const gnnc_context_options *options, gnnc_context **out)
{
    API_GIVES(out);
    return api_out(new_context(options, out));
}

void gnnc_context_cache(const gnnc_context *c, gnnc_cache_info *info)
{
    gnnc_cache_info i = {.size = info ? info->size : 0};
    if (c && c->cache) {
        gn_cache_counts n = gn_cache_counted(c->cache);
        i.on = true;
        i.hits_memory = n.hits_memory;
        i.hits_disk = n.hits_disk + n.hits_base;
        i.misses = n.misses;
        i.stored = n.stored;
        i.memory_bytes = n.memory_bytes;
    }
    api_describe(info, &i, sizeof i);
}
