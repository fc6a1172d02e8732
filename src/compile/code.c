/* Loop IR to loaded machine code: equal kernels once, and those that a cache has not at all. */
#include "base/map.h"
#include "cache/cache.h"
#include "compile/code_id.h"
#include "compile/compile.h"
#include "compile/jit_events.h"

#include <stdlib.h>
#include <string.h>

typedef struct job { /* distinct kernels on their way to code */
    gn_arena *arena;
    const gn_codegen_options *opt;
    int n;
    const kir_kernel **kernels;
    const char **text;
    const char **parts; /* of the keys */
    gn_key *keys;
    gn_code_object *objects; /* bytes NULL: not there yet */
    gn_code_report *report;
    int *which; /* room for work: while anything is held that is not in the arena, nothing is
                   allocated there */
    const kir_kernel **some;
    gn_code_object *made;
} job;

const char *gn_canonical_kernel(gn_arena *a, const kir_kernel *k, bool sizes)
{
    kir_kernel copy = *k;
    copy.name = "k";
    copy.comment = NULL;
    copy.buffers.p = GN_NEW_N(a, kir_buffer, k->buffers.n + 1);
    copy.syms.p = GN_NEW_N(a, const char *, k->syms.n + 1);
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        copy.buffers.p[b] = k->buffers.p[b];
        copy.buffers.p[b].name = gn_arena_printf(a, "b%u", b);
        if (!sizes) copy.buffers.p[b].size = (kir_size){.sym = -1};
    }
    for (uint32_t s = 0; s < k->syms.n; s++) copy.syms.p[s] = gn_arena_printf(a, "s%u", s);
    gn_buf text = {.arena = a};
    kir_print(&copy, &text);
    return text.p;
}

/* Keys ----------------------------------------------------------------------------------------- */

/* Everything that code depends on.  Checked kernels name themselves and their buffers in their
 * complaints. */
static gn_status *make_keys(job *j)
{
    gn_buf common = {.arena = j->arena};
    int checks = j->opt->sanitize | j->opt->watch << 1 | j->opt->lines << 2;
    gn_buf_printf(&common, "gnnc %s code %.16s\ntarget ", GNNC_VERSION, gn_code_id);
    GN_TRY(gn_cpu_describe(j->opt->cpu, &common));
    gn_switches off = j->opt->off & GN_CODE_DECISIONS;
    gn_buf_printf(&common, "\noptions level %d sanitize %d without %llx\n", j->opt->opt_level,
                  checks, (unsigned long long)off);
    for (int k = 0; k < j->n; k++) {
        unsigned char digest[GN_SHA256_BYTES];
        char hex[GN_SHA256_HEX + 1];
        const char *text = j->text[k];
        if (j->opt->sanitize) {
            gn_buf named = {.arena = j->arena};
            kir_print(j->kernels[k], &named);
            text = named.p;
        }
        gn_sha256_of(text, strlen(text), digest);
        gn_sha256_hex(digest, hex);
        j->parts[k] = gn_arena_printf(j->arena, "%skernel %s\n", common.p, hex);
        j->keys[k] = gn_key_of(j->parts[k], strlen(j->parts[k]));
    }
    unsigned char all[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    gn_sha256_of(j->keys, (size_t)j->n * sizeof *j->keys, all);
    gn_sha256_hex(all, hex);
    memcpy(j->report->code, hex, sizeof j->report->code - 1);
    return NULL;
}

/* The cache ------------------------------------------------------------------------------------ */

static bool look_up(job *j, int k)
{
    gn_code_object *o = &j->objects[k];
    return j->opt->cache &&
           gn_cache_get(j->opt->cache, &j->keys[k], j->kernels[k]->name, &o->bytes, &o->n);
}

/* Compiles kernels which[0..n) at once, and keeps their code. */
static gn_status *compile_some(job *j, int n)
{
    if (n == 0) return NULL;
    for (int i = 0; i < n; i++) j->some[i] = j->kernels[j->which[i]];
    GN_TRY(gn_cpu_objects(j->some, n, j->opt, j->made, &j->report->stats));
    for (int i = 0; i < n; i++) {
        int k = j->which[i];
        j->objects[k] = j->made[i];
        if (j->opt->cache) gn_cache_put(j->opt->cache, j->parts[k], j->made[i].bytes, j->made[i].n);
    }
    return NULL;
}

/* One round: what nobody else compiles is compiled here; *wait is one that somebody else does, or
 * -1.  What another process put in between is found before it is compiled again. */
static gn_status *compile_claimed(job *j, gn_claims *claims, int *wait)
{
    int n = 0;
    *wait = -1;
    for (int k = 0; k < j->n; k++) {
        if (j->objects[k].bytes) continue;
        if (!gn_claims_try(claims, &j->keys[k]))
            *wait = k;
        else if (!claims || !look_up(j, k))
            j->which[n++] = k;
    }
    return compile_some(j, n);
}

/* Nothing is claimed while another's claim is waited for, so that nobody waits in a circle. */
static gn_status *compile_missing(job *j)
{
    gn_claims *claims = j->opt->cache ? gn_claims_new(j->opt->cache) : NULL;
    int wait;
    gn_status *s;
    while (!(s = compile_claimed(j, claims, &wait)) && wait >= 0) {
        gn_claims_drop(claims);
        gn_claims_wait(claims, &j->keys[wait]);
        for (int k = 0; k < j->n; k++)
            if (!j->objects[k].bytes) look_up(j, k);
    }
    gn_claims_free(claims);
    return s;
}

static void free_objects(job *j)
{
    for (int k = 0; k < j->n; k++) {
        free(j->objects[k].bytes);
        j->objects[k] = (gn_code_object){0};
    }
}

/* Code that was kept is checked as it is loaded.  What does not load is compiled afresh, and kept
 * in its place. */
static gn_status *load(job *j, gn_image **image)
{
    gn_status *s = gn_image_join(j->n, j->objects, image, &j->report->stats);
    if (gn_status_code(s) != GN_ERR_DATA || !j->report->hits) return s;
    gn_status_free(s);
    free_objects(j);
    for (int k = 0; k < j->n; k++) j->which[k] = k;
    j->report->misses += j->report->hits;
    j->report->hits = 0;
    GN_TRY(compile_some(j, j->n));
    return gn_image_join(j->n, j->objects, image, &j->report->stats);
}

/* Every distinct kernel's object, loaded so that what was kept and is damaged is found; they stay
 * in the job. */
static gn_status *get_objects(job *j, gn_image **image)
{
    gn_code_report *r = j->report;
    r->cached = j->opt->cache != NULL;
    GN_TRY(make_keys(j));
    for (int k = 0; k < j->n; k++) {
        if (look_up(j, k)) {
            r->hits++;
        } else {
            r->misses++;
            if (j->opt->cache) gn_cache_explain(j->opt->cache, j->kernels[k]->name, j->parts[k]);
        }
    }
    if (r->misses) GN_TRY(compile_missing(j));
    return load(j, image);
}

/* All ------------------------------------------------------------------------------------------ */

/* Distinct kernels of all programs.  share: those that differ in names alone are one. */
typedef struct distinct {
    int n;
    const kir_kernel **kernels; /* [n] */
    const char **text; /* [n] with every name replaced by its number: equal texts, equal code */
    int *which; /* of every program's kernels, one program after another, the number among them */
} distinct;

static distinct find_distinct(gn_arena *a, int n, gn_compiled *const *programs, bool share)
{
    int room = 1, at = 0;
    for (int p = 0; p < n; p++) room += programs[p]->n_kernels;
    distinct d = {.kernels = GN_NEW_N(a, const kir_kernel *, room),
                  .text = GN_NEW_N(a, const char *, room),
                  .which = GN_NEW_N(a, int, room)};
    gn_map seen;
    gn_map_init(&seen, a);
    for (int p = 0; p < n; p++) {
        for (int k = 0; k < programs[p]->n_kernels; k++) {
            const char *text = gn_canonical_kernel(a, programs[p]->kernels[k], true);
            const uint32_t *found = share ? gn_map_find(&seen, text) : NULL;
            if (!found) {
                found = gn_map_put(&seen, text, (uint32_t)d.n);
                d.text[d.n] = text;
                d.kernels[d.n++] = programs[p]->kernels[k];
            }
            d.which[at++] = (int)*found;
        }
    }
    return d;
}

static job new_job(gn_arena *a, int n, gn_compiled *const *programs, const gn_codegen_options *opt,
                   gn_code_report *report, int **which)
{
    *report = (gn_code_report){0};
    for (int p = 0; p < n; p++) report->kernels += programs[p]->n_kernels;
    int room = report->kernels + 1;
    distinct d = find_distinct(a, n, programs, gn_is_on(opt->off, GN_DO_SHARE_CODE));
    *which = d.which;
    job j = {.arena = a,
             .opt = opt,
             .n = d.n,
             .kernels = d.kernels,
             .text = d.text,
             .parts = GN_NEW_N(a, const char *, room),
             .keys = GN_NEW_N(a, gn_key, room),
             .objects = GN_NEW_N(a, gn_code_object, room),
             .report = report,
             .which = GN_NEW_N(a, int, room),
             .some = GN_NEW_N(a, const kir_kernel *, room),
             .made = GN_NEW_N(a, gn_code_object, room)};
    report->distinct = j.n;
    return j;
}

gn_status *gn_compile_code(gn_arena *a, int n, gn_compiled *const *programs,
                           const gn_codegen_options *opt, gn_image **image, gn_code_report *report)
{
    double t0 = gn_now_ms();
    int *which, at = 0;
    unsigned events;
    *image = NULL;
    GN_TRY(gn_jit_events_wanted(&events));
    gn_codegen_options own = *opt;
    own.lines = events != 0;
    job j = new_job(a, n, programs, &own, report, &which);
    gn_status *s = NULL;
    if (j.n && (opt->cache || events))
        s = get_objects(&j, image);
    else if (j.n)
        s = gn_cpu_compile(j.kernels, j.n, opt, image, &report->stats);
    for (int p = 0; p < n && !s; p++)
        for (int k = 0; k < programs[p]->n_kernels; k++)
            programs[p]->artifact->code[k] = gn_image_kernel(*image, which[at++]);
    if (!s && events)
        s = gn_jit_events(&(gn_jit_loaded){events, n, programs, which, j.n, j.objects, *image});
    free_objects(&j);
    if (s) {
        gn_image_free(*image);
        *image = NULL;
    }
    report->ms = gn_now_ms() - t0;
    return s;
}

gn_status *gn_compile_objects(gn_arena *a, int n, gn_compiled *const *programs,
                              const gn_codegen_options *opt, gn_kernel_objects *out,
                              gn_code_report *report)
{
    double t0 = gn_now_ms();
    gn_image *image = NULL;
    *out = (gn_kernel_objects){0};
    job j = new_job(a, n, programs, opt, report, &out->which);
    if (!j.n) return NULL;
    gn_status *s = get_objects(&j, &image);
    gn_image_free(image); /* it was loaded to see that it is sound */
    if (s) {
        free_objects(&j);
        return s;
    }
    out->n = j.n;
    out->objects = j.objects;
    report->ms = gn_now_ms() - t0;
    return NULL;
}

void gn_kernel_objects_free(gn_kernel_objects *o)
{
    for (int k = 0; k < o->n; k++) free(o->objects[k].bytes);
    *o = (gn_kernel_objects){0};
}
