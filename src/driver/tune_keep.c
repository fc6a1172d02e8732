/* keep: what a record fits; records in the cache and in lock files. */
#include "base/map.h"
#include "cache/cache.h"
#include "codegen/backend.h"
#include "driver/code_id.h"
#include "driver/session_impl.h"
#include "driver/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char lock_head[] = "gnnc tuning lock 1";

/* Signatures --------------------------------------------------------------------------------------------------------- */

enum { BUCKETS = 40 }; /* of degrees: 0, 1, 2 to 3, 4 to 7, ... */

static int bucket(int64_t degree)
{
    int b = 0;
    for (; degree > 0; degree /= 2) b++;
    return b < BUCKETS ? b : BUCKETS - 1;
}

static void add_degrees(gn_buf *out, const char *name, const int64_t *of, int64_t n)
{
    int64_t count[BUCKETS] = {0};
    int last = 0;
    for (int64_t v = 0; v < n; v++) count[bucket(of[v])]++;
    for (int b = 0; b < BUCKETS; b++)
        if (count[b]) last = b;
    gn_buf_printf(out, " %s ", name);
    for (int b = 0; b <= last; b++) gn_buf_printf(out, "%s%" PRId64, b ? "," : "", count[b]);
}

static gn_status *add_graph(const gn_session *s, gn_buf *out)
{
    const gn_graph *g = s->graph;
    int64_t *degree = calloc((size_t)(g->n_src + g->n_dst) + 1, sizeof *degree);
    if (!degree) GN_FAIL(GN_ERR_NOMEM, "out of memory: degrees of %lld nodes", (long long)g->n_src);
    for (int64_t v = 0; v < g->n_dst; v++) {
        int64_t lo = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v);
        int64_t hi = gn_index_get(g->array[GN_GRAPH_ROW_PTR], g->index, v + 1);
        degree[g->n_src + v] = hi - lo;
        for (int64_t e = lo; e < hi; e++) degree[gn_index_get(g->array[GN_GRAPH_COL], g->index, e)]++;
    }
    gn_buf_printf(out, "graph nodes %" PRId64 " edges %" PRId64, g->n_dst, g->n_edge);
    add_degrees(out, "in", degree + g->n_src, g->n_dst);
    add_degrees(out, "out", degree, g->n_src);
    gn_buf_add(out, "\n");
    free(degree);
    return NULL;
}

static int64_t marked(const uint8_t *mask, int64_t n)
{
    int64_t all = 0;
    for (int64_t v = 0; mask && v < n; v++) all += mask[v] != 0;
    return all;
}

static void add_data(const gn_session *s, gn_unit_id unit, gn_buf *out)
{
    const gn_dataset *d = s->data;
    int64_t nonzeros = d->x_csr ? d->x_csr->nnz : d->n_nodes * d->n_features;
    gn_buf_printf(out, "features %" PRId64 " nonzeros %" PRId64 " classes %" PRId64 " on edges %" PRId64 "%s\n",
                  d->n_features, nonzeros, d->n_classes, d->edge_dim, d->edge_weight ? " weighted" : "");
    if (unit == GN_UNIT_STEP)
        gn_buf_printf(out, "masks train %" PRId64 " validation %" PRId64 " static %d\n",
                      marked(d->train_mask, d->n_nodes), marked(d->val_mask, d->n_nodes), s->opt.keep_static);
}

/* The program before any pass, without the lines that it comes from. */
static gn_status *add_program(gn_session *s, gn_unit_id unit, gn_buf *out)
{
    unsigned char digest[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    gir_program *p = s->model->eval;
    gn_pass_options o = {.limit = -1, .eager = true};
    if (unit == GN_UNIT_STEP) GN_TRY(gn_training_step(s->arena, s->model, &o, &p));
    p = gir_clone(s->arena, p);
    for (gir_id v = 1; v < p->nodes.n; v++) p->nodes.p[v].loc = (gir_loc){0};
    p->files.n = 0;
    gn_buf text = {.arena = s->arena};
    gir_print(p, &text);
    gn_sha256_of(text.p, text.n, digest);
    gn_sha256_hex(digest, hex);
    gn_buf_printf(out, "ir %s\n", hex);
    return NULL;
}

gn_status *gn_tuned_signature(gn_session *s, gn_unit_id unit, gn_order reorder, bool free_order, const char **out)
{
    gn_buf b = {.arena = s->arena};
    const char *without = gn_without_text(s->arena, s->opt.without);
    gn_buf_printf(&b, "gnnc %s code %.16s rules %.16s\nmachine cores %d ", GNNC_VERSION, gn_code_id, gn_rules_id,
                  gn_cores());
    GN_TRY(gn_cpu_describe(NULL, &b));
    gn_buf_printf(&b, "\nprogram %s of %s\n", gn_unit_name[unit], s->model->name);
    GN_TRY(add_program(s, unit, &b));
    GN_TRY(add_graph(s, &b));
    add_data(s, unit, &b);
    if (s->opt.threads > 0)
        gn_buf_printf(&b, "threads %d\n", s->opt.threads);
    else
        gn_buf_add(&b, "threads any\n");
    gn_buf_printf(&b, "order %s\n", free_order ? "any" : gn_order_name[reorder]);
    gn_buf_printf(&b, "options%s", s->opt.sanitize ? " checked" : "");
    if (s->opt.pass_limit >= 0) gn_buf_printf(&b, " limited to %d", s->opt.pass_limit);
    gn_buf_printf(&b, "%s%s\n", *without ? " without " : "", without);
    *out = b.p;
    return NULL;
}

/* The cache ---------------------------------------------------------------------------------------------------------- */

static const char *parts_of(gn_session *s, const char *signature)
{
    bool regions = gn_modes[s->opt.mode].one_region || !gn_modes[s->opt.mode].tune;
    return gn_arena_printf(s->arena, "tuning 1\n%sregions %d\n", signature, regions);
}

gn_status *gn_tuned_find(gn_session *s, const char *signature, gn_tuned *out, bool *found)
{
    unsigned char *bytes;
    size_t n;
    *found = false;
    if (!s->opt.cache) return NULL;
    const char *parts = parts_of(s, signature);
    gn_key key = gn_key_of(parts, strlen(parts));
    gn_unit_id unit = out->unit;
    if (!gn_cache_get(s->opt.cache, &key, "tuning", &bytes, &n)) return NULL;
    char *text = gn_arena_strndup(s->arena, (const char *)bytes, n);
    free(bytes);
    gn_tuned t;
    gn_status *bad = gn_tuned_parse(s->arena, text, "a record of tuning", 1, &t);
    *found = !bad && t.unit == unit;
    gn_status_free(bad); /* then there is none */
    if (*found) *out = t;
    return NULL;
}

void gn_tuned_keep(gn_session *s, const char *signature, const gn_tuned *t)
{
    gn_buf b = {.arena = s->arena};
    if (!s->opt.cache) return;
    gn_tuned_print(t, &b);
    gn_cache_put(s->opt.cache, parts_of(s, signature), b.p, b.n);
}

/* Lock files --------------------------------------------------------------------------------------------------------- */

gn_status *gn_tuned_lock_write(gn_session *s, const char *path)
{
    gn_buf b = {.arena = s->arena};
    gn_buf_printf(&b, "%s\n", lock_head);
    for (int k = 0; k < GN_UNITS; k++) {
        const gn_tuned *t = s->tuned[k];
        if (!t || !t->signature) continue;
        gn_tuned locked = *t;
        locked.tried.n = 0;
        gn_buf_printf(&b, "\nfits\n%srecord\n", t->signature);
        gn_tuned_print(&locked, &b);
    }
    FILE *f = fopen(path, "wb");
    if (!f) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    bool written = fwrite(b.p, 1, b.n, f) == b.n;
    written = fclose(f) == 0 && written;
    if (!written) GN_FAIL(GN_ERR_IO, "%s: it could not be written", path);
    return NULL;
}

typedef struct cursor {
    const char *at, *path;
    int line;
} cursor;

/* The next line, in the arena; NULL at the end. */
static char *next_line(gn_arena *a, cursor *c)
{
    if (!*c->at) return NULL;
    size_t n = strcspn(c->at, "\n");
    char *line = gn_arena_strndup(a, c->at, n);
    c->at += n + (c->at[n] == '\n');
    c->line++;
    return line;
}

static bool same_word(const char *a, const char *b)
{
    size_t n = strcspn(a, " ");
    return n == strcspn(b, " ") && !memcmp(a, b, n);
}

/* The lines up to `record` are those of the signature? */
static gn_status *check_fits(gn_session *s, cursor *c, const char *signature)
{
    cursor here = {.at = signature};
    for (;;) {
        char *locked = next_line(s->arena, c), *now = next_line(s->arena, &here);
        if (!locked) GN_FAIL(GN_ERR_DATA, "%s:%d: the lock ends in the middle", c->path, c->line);
        bool over = !strcmp(locked, "record");
        if (over && !now) return NULL;
        if (over || !now || !same_word(locked, now))
            GN_FAIL(GN_ERR_DATA, "%s:%d: the lock does not fit: '%s' is new or missing", c->path, c->line,
                    over ? now : locked);
        if (strcmp(locked, now) != 0)
            GN_FAIL(GN_ERR_DATA,
                    "%s:%d: the lock does not fit: it is for\n  %s\nand this is\n  %s\n"
                    "`gnnc tune --tune-lock` makes a new one",
                    c->path, c->line, locked, now);
    }
}

/* From "fits" to the end of its record; *mine: it is of the unit. */
static gn_status *read_block(gn_session *s, cursor *c, gn_unit_id unit, bool free_order, bool *mine)
{
    cursor look = *c;
    const char *signature, *mark = gn_arena_printf(s->arena, "program %s of ", gn_unit_name[unit]);
    *mine = false;
    for (char *l; (l = next_line(s->arena, &look)) && strcmp(l, "record") != 0;)
        if (!strncmp(l, mark, strlen(mark))) *mine = true;
    if (*mine) {
        GN_TRY(gn_tuned_signature(s, unit, s->opt.reorder, free_order, &signature));
        GN_TRY(check_fits(s, c, signature));
        gn_tuned *t = GN_NEW(s->arena, gn_tuned);
        GN_TRY(gn_tuned_parse(s->arena, c->at, c->path, c->line + 1, t));
        t->signature = signature;
        s->tuned[unit] = t;
        if (free_order) s->opt.reorder = t->reorder;
    }
    for (char *l; (l = next_line(s->arena, c)) && strcmp(l, "end") != 0;) continue;
    return NULL;
}

static gn_status *read_unit(gn_session *s, const char *text, const char *path, gn_unit_id unit, bool free_order)
{
    cursor c = {.at = text, .path = path};
    bool mine = false;
    char *l = next_line(s->arena, &c);
    if (!l || strcmp(l, lock_head) != 0)
        GN_FAIL(GN_ERR_DATA, "%s:1: this is no lock of tuning: it does not begin with '%s'", path, lock_head);
    while (!mine && (l = next_line(s->arena, &c))) {
        if (!*l) continue;
        if (strcmp(l, "fits") != 0) GN_FAIL(GN_ERR_DATA, "%s:%d: 'fits' is expected, not '%s'", path, c.line, l);
        GN_TRY(read_block(s, &c, unit, free_order, &mine));
    }
    if (!mine)
        GN_FAIL(GN_ERR_DATA,
                "%s: the lock has nothing for the program '%s': `gnnc tune --what` says for which one is made", path,
                gn_unit_name[unit]);
    return NULL;
}

gn_status *gn_tuned_lock_read(gn_session *s, const char *path)
{
    const char *text;
    size_t n;
    if (gn_modes[s->opt.mode].eager)
        GN_FAIL(GN_ERR_USAGE, "--tune-lock: mode %s has no schedules to choose", gn_mode_name[s->opt.mode]);
    GN_TRY(gn_read_model(s->arena, path, &text, &n));
    if (s->opt.train) GN_TRY(read_unit(s, text, path, GN_UNIT_STEP, s->opt.free_order));
    return read_unit(s, text, path, GN_UNIT_EVAL, s->opt.free_order && !s->opt.train);
}
