/* keep: what a record fits; records in the cache and in lock files. */
#include "base/outfile.h"
#include "cache/cache.h"
#include "codegen/backend.h"
#include "compile/code_id.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char lock_head[] = "gnnc tuning lock 1";

/* Signatures ----------------------------------------------------------------------------------- */

/* How many of n are of degree 0, 1, 2 to 3, 4 to 7, ... */
static void add_degrees(gn_buf *out, const char *name, const int64_t count[GN_DEGREE_CLASSES],
                        int64_t n)
{
    int last = -1;
    for (int b = 0; b < GN_DEGREE_CLASSES; b++) {
        n -= count[b];
        if (count[b]) last = b;
    }
    gn_buf_printf(out, " %s %" PRId64, name, n);
    for (int b = 0; b <= last; b++) gn_buf_printf(out, ",%" PRId64, count[b]);
}

static gn_status *add_graph(gn_graph *g, gn_buf *out)
{
    gn_graph_facts facts;
    GN_TRY(gn_graph_find_facts(g, &facts));
    gn_buf_printf(out, "graph nodes %" PRId64 " edges %" PRId64, g->n_dst, g->n_edge);
    add_degrees(out, "in", facts.in_class, g->n_dst);
    add_degrees(out, "out", facts.out_class, g->n_src);
    gn_buf_add(out, "\n");
    return NULL;
}

static void add_data(const gn_tune_facts *f, gn_unit_id unit, gn_buf *out)
{
    gn_buf_printf(
        out,
        "features %" PRId64 " nonzeros %" PRId64 " classes %" PRId64 " on edges %" PRId64 "%s\n",
        f->features, f->nonzeros, f->classes, f->on_edges, f->weighted ? " weighted" : "");
    if (unit == GN_UNIT_STEP)
        gn_buf_printf(out, "masks train %" PRId64 " validation %" PRId64 " static %d\n", f->train,
                      f->val, f->fixed);
}

/* The program before any pass, without the lines that it comes from. */
static gn_status *add_program(gn_arena *a, gn_model *m, gn_unit_id unit, gn_buf *out)
{
    gir_program *p = m->eval;
    gn_pass_options o = {.limit = -1, .eager = true};
    if (unit == GN_UNIT_STEP) GN_TRY(gn_training_step(a, m, &o, &p));
    gn_buf_printf(out, "ir %s\n", gn_program_digest(a, p));
    return NULL;
}

/* One line, of a device as of this machine: a lock of the one is refused by the other with both
 * lines. */
static gn_status *add_machine(gn_target *t, gn_buf *out)
{
    if (!t) {
        gn_buf_printf(out, "machine cores %d ", gn_cores());
        return gn_cpu_describe(NULL, out);
    }
    const gn_cuda_info *i = gn_cuda_device_about(t->device);
    int driver = t->driver->version, nvrtc = t->maker.make ? 0 : gn_cuda_nvrtc_version();
    gn_buf_printf(out, "machine cuda %s sm_%d, %d multiprocessors, driver %d.%d, NVRTC %d", i->name,
                  t->arch, i->multiprocessors, driver / 1000, driver % 1000 / 10, nvrtc / 1000);
    return NULL;
}

/* Threads are this machine's, products a device's. */
static void add_options(const gn_tune_facts *f, gn_buf *out)
{
    if (f->threads > 0 && !f->target)
        gn_buf_printf(out, "threads %d\n", f->threads);
    else
        gn_buf_add(out, "threads any\n");
    gn_buf_printf(out, "order %s\noptions%s", f->order, f->more ? f->more : "");
    if (f->gathers) gn_buf_printf(out, " gathers %s", gn_storage_name[f->gathers]);
    if (f->kept) gn_buf_printf(out, " kept %s", gn_storage_name[f->kept]);
    if (f->kept && f->wide) gn_buf_printf(out, " but %s", f->wide);
    if (f->precision) gn_buf_printf(out, " precision %s", gn_precision_name[f->precision]);
    if (f->target && f->products) gn_buf_printf(out, " products %s", gn_products_name[f->products]);
    gn_buf_add(out, "\n");
}

gn_status *gn_tuned_sign(gn_arena *a, const gn_tune_facts *f, gn_unit_id unit, const char **out)
{
    gn_buf b = {.arena = a};
    gn_buf_printf(&b, "gnnc %s code %.16s rules %.16s\n", GNNC_VERSION, gn_code_id, gn_rules_id);
    GN_TRY(add_machine(f->target, &b));
    gn_buf_printf(&b, "\nprogram %s of %s\n", gn_unit_name[unit], f->model->name);
    GN_TRY(add_program(a, f->model, unit, &b));
    if (f->graph) GN_TRY(add_graph(f->graph, &b));
    add_data(f, unit, &b);
    add_options(f, &b);
    *out = b.p;
    return NULL;
}

/* The cache ------------------------------------------------------------------------------------ */

static const char *parts_of(gn_arena *a, gn_mode mode, const char *signature)
{
    bool regions = gn_modes[mode].one_region || !gn_modes[mode].tune;
    return gn_arena_printf(a, "tuning 1\n%sregions %d\n", signature, regions);
}

gn_status *gn_tuned_find(gn_arena *a, struct gn_cache *cache, gn_mode mode, const char *signature,
                         gn_tuned *out, bool *found)
{
    unsigned char *bytes;
    size_t n;
    *found = false;
    if (!cache) return NULL;
    const char *parts = parts_of(a, mode, signature);
    gn_key key = gn_key_of(parts, strlen(parts));
    gn_unit_id unit = out->unit;
    if (!gn_cache_get(cache, &key, "tuning", &bytes, &n)) return NULL;
    char *text = gn_arena_strndup(a, (const char *)bytes, n);
    free(bytes);
    gn_tuned t;
    gn_status *bad = gn_tuned_parse(a, text, "a record of tuning", 1, &t);
    *found = !bad && t.unit == unit;
    gn_status_free(bad); /* then there is none */
    if (*found) *out = t;
    return NULL;
}

void gn_tuned_keep(gn_arena *a, struct gn_cache *cache, gn_mode mode, const char *signature,
                   const gn_tuned *t)
{
    gn_buf b = {.arena = a};
    if (!cache) return;
    gn_tuned_print(t, &b);
    gn_cache_put(cache, parts_of(a, mode, signature), b.p, b.n);
}

/* Lock files ----------------------------------------------------------------------------------- */

gn_status *gn_tuned_lock_save(gn_arena *a, int n, const gn_tuned *const *t, const char *path)
{
    gn_buf b = {.arena = a};
    gn_buf_printf(&b, "%s\n", lock_head);
    for (int k = 0; k < n; k++) {
        if (!t[k] || !t[k]->signature) continue;
        gn_tuned locked = *t[k];
        locked.tried.n = 0;
        gn_buf_printf(&b, "\nfits\n%srecord\n", locked.signature);
        gn_tuned_print(&locked, &b);
    }
    gn_out o;
    GN_TRY(gn_out_open(&o, path));
    fwrite(b.p, 1, b.n, o.f);
    return gn_out_close(&o, NULL);
}

static const char lock_precision[] = "precision";

gn_status *gn_tuned_lock_numbers_save(const gn_locked_numbers *n, const char *path)
{
    gn_out o;
    GN_TRY(gn_out_open(&o, path));
    fprintf(o.f, "%s\n%s %s %s %s of %s\n", lock_head, lock_precision, gn_numbers_name[n->numbers],
            gn_precision_name[n->products], n->wide ? n->wide : "-", n->model);
    return gn_out_close(&o, NULL);
}

/* The line behind the first, "precision mixed medium convs.1,features of GCN". */
static gn_status *read_numbers(gn_arena *a, char *line, gn_locked_numbers *out)
{
    char *rest, *word = strtok_r(line, " ", &rest), *numbers = strtok_r(NULL, " ", &rest),
                *products = strtok_r(NULL, " ", &rest), *wide = strtok_r(NULL, " ", &rest),
                *of = strtok_r(NULL, " ", &rest), *model = strtok_r(NULL, " ", &rest);
    if (!word || strcmp(word, lock_precision) != 0) return NULL;
    if (!model || strcmp(of, "of") != 0 || strtok_r(NULL, " ", &rest))
        GN_FAIL(GN_ERR_DATA, "'precision', what is computed with, products, what stays float32 or "
                             "'-', and the model are expected, as 'precision mixed medium - of "
                             "GCN'");
    GN_TRY(gn_numbers_by_name(numbers, &out->numbers));
    GN_TRY(gn_precision_by_name(products, &out->products));
    GN_TRY(gn_wide_sorted(a, strcmp(wide, "-") ? wide : NULL, &out->wide));
    out->model = gn_arena_strdup(a, model);
    out->there = true;
    return NULL;
}

gn_status *gn_tuned_lock_numbers(gn_arena *a, const char *path, gn_locked_numbers *out)
{
    const char *text;
    size_t n;
    *out = (gn_locked_numbers){0};
    GN_TRY(gn_read_model(a, path, &text, &n));
    const char *second = text + strcspn(text, "\n");
    if (strncmp(text, lock_head, strlen(lock_head)) != 0 || !*second) return NULL;
    char *line = gn_arena_strndup(a, second + 1, strcspn(second + 1, "\n"));
    gn_status *bad = read_numbers(a, line, out);
    if (bad) bad->code = GN_ERR_DATA;
    const char *behind = second + 1 + strcspn(second + 1, "\n");
    out->alone = out->there && !behind[strspn(behind, " \t\r\n")];
    return gn_status_annotate(bad, "%s:2", path);
}

typedef struct cursor {
    const char *at, *path;
    int line;
    const char *cure;
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
static gn_status *check_fits(gn_arena *a, cursor *c, const char *signature)
{
    cursor here = {.at = signature};
    for (;;) {
        char *locked = next_line(a, c), *now = next_line(a, &here);
        if (!locked) GN_FAIL(GN_ERR_DATA, "%s:%d: the lock ends in the middle", c->path, c->line);
        bool over = !strcmp(locked, "record");
        if (over && !now) return NULL;
        if (over || !now || !same_word(locked, now))
            GN_FAIL(GN_ERR_DATA, "%s:%d: the lock does not fit: '%s' is new or missing", c->path,
                    c->line, over ? now : locked);
        if (strcmp(locked, now) != 0)
            GN_FAIL(GN_ERR_DATA,
                    "%s:%d: the lock does not fit: it is for\n  %s\nand this is\n  %s\n%s makes a "
                    "new one",
                    c->path, c->line, locked, now, c->cure);
    }
}

/* From "fits" to the end of its record; *mine: it is of the unit, and then either in *out or *why
 * it does not fit. */
static gn_status *read_block(gn_arena *a, cursor *c, gn_unit_id unit, const char *signature,
                             gn_tuned *out, bool *mine, gn_status **why)
{
    cursor look = *c, at = *c;
    const char *mark = gn_arena_printf(a, "program %s of ", gn_unit_name[unit]);
    *mine = false;
    for (char *l; (l = next_line(a, &look)) && strcmp(l, "record") != 0;)
        if (!strncmp(l, mark, strlen(mark))) *mine = true;
    if (*mine) *why = check_fits(a, &at, signature);
    if (*mine && !*why) {
        GN_TRY(gn_tuned_parse(a, at.at, at.path, at.line + 1, out));
        out->signature = signature;
    }
    for (char *l; (l = next_line(a, c)) && strcmp(l, "end") != 0;) continue;
    return NULL;
}

/* A lock of several graphs has several records of a program: what the first that is there lacks is
 * said where none fits. */
static gn_status *find_block(gn_arena *a, cursor *c, gn_unit_id unit, const char *signature,
                             gn_tuned *out, bool *found, gn_status **first)
{
    for (char *l; !*found && (l = next_line(a, c));) {
        gn_status *why = NULL;
        bool mine;
        bool numbers = c->line == 2 && !strncmp(l, lock_precision, sizeof lock_precision - 1);
        if (!*l || numbers) continue;
        if (strcmp(l, "fits") != 0)
            GN_FAIL(GN_ERR_DATA, "%s:%d: 'fits' is expected, not '%s'", c->path, c->line, l);
        GN_TRY(read_block(a, c, unit, signature, out, &mine, &why));
        *found = mine && !why;
        if (why && !*first)
            *first = why;
        else
            gn_status_free(why);
    }
    return NULL;
}

gn_status *gn_tuned_unlock(gn_arena *a, const char *text, const char *path, gn_unit_id unit,
                           const char *signature, const char *cure, gn_tuned *out)
{
    cursor c = {.at = text, .path = path, .cure = cure};
    bool found = false;
    gn_status *first = NULL;
    char *l = next_line(a, &c);
    if (!l || strcmp(l, lock_head) != 0)
        GN_FAIL(GN_ERR_DATA, "%s:1: this is no lock of tuning: it does not begin with '%s'", path,
                lock_head);
    gn_status *bad = find_block(a, &c, unit, signature, out, &found, &first);
    if (!bad && !found && first) return first;
    gn_status_free(first);
    if (!bad && !found)
        GN_FAIL(GN_ERR_DATA, "%s: the lock has nothing for the program '%s'; %s makes another",
                path, gn_unit_name[unit], cure);
    return bad;
}
