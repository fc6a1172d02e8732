/* tuned: what came of a search, as text and back. */
#include "build/tuned.h"

#include "base/nearest.h"
#include "passes/passes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const gn_unit_name[GN_UNITS] = {"eval", "step"};

void gn_tuned_print(const gn_tuned *t, gn_buf *out)
{
    const char *without = gn_without_text(out->arena, t->pick.without);
    gn_buf_printf(out, "program %s\n", gn_unit_name[t->unit]);
    gn_buf_printf(
        out,
        "default_us %.3f\nbest_us %.3f\nnoise %.5f\nseconds %.3f\nfinished %d\nwrong %" PRId64 "\n",
        t->default_us, t->best_us, t->noise, t->seconds, t->finished, t->wrong);
    gn_buf_printf(out, "reorder %s\nthreads %d\none_region %d\n", gn_order_name[t->reorder],
                  t->pick.threads, t->pick.one_region);
    if (*without) gn_buf_printf(out, "without %s\n", without);
    for (int k = 0; k < t->pick.schedule.n; k++) {
        const low_choice *c = &t->pick.schedule.choices[k];
        gn_buf_printf(out, "schedule %s %s %" PRId64 "\n", c->region ? c->region : "*",
                      low_fields[c->field].name, c->value);
    }
    for (uint32_t k = 0; k < t->tried.n; k++)
        gn_buf_printf(out, "tried %016" PRIx64 "\n", t->tried.p[k]);
    gn_buf_add(out, "end\n");
}

const char *gn_pick_text(gn_arena *a, const gn_pick *p)
{
    gn_buf b = {.arena = a};
    const char *without = gn_without_text(a, p->without);
    gn_buf_add(&b, "");
    if (p->threads > 0) gn_buf_printf(&b, "%d thread%s", p->threads, p->threads > 1 ? "s" : "");
    if (p->one_region == GN_FOLD) gn_buf_printf(&b, "%sone region", b.n ? ", " : "");
    if (p->one_region == GN_FOLD_ONE_KERNEL) gn_buf_printf(&b, "%sone kernel", b.n ? ", " : "");
    if (*without) gn_buf_printf(&b, "%swithout %s", b.n ? ", " : "", without);
    for (int k = 0; k < p->schedule.n; k++) {
        const low_choice *c = &p->schedule.choices[k];
        gn_buf_printf(&b, "%s%s %" PRId64 " for %.14s", b.n ? ", " : "", low_fields[c->field].name,
                      c->value, c->region ? c->region : "all");
    }
    return b.p;
}

gn_pick gn_pick_copy(gn_arena *a, const gn_pick *p)
{
    gn_pick c = *p;
    low_choice *choices = GN_NEW_N(a, low_choice, p->schedule.n + 1);
    for (int k = 0; k < p->schedule.n; k++) {
        choices[k] = p->schedule.choices[k];
        if (choices[k].region) choices[k].region = gn_arena_strdup(a, choices[k].region);
    }
    c.schedule.choices = choices;
    return c;
}

gn_tuned *gn_tuned_copy(gn_arena *a, const gn_tuned *t)
{
    gn_tuned *c = GN_NEW(a, gn_tuned);
    *c = *t;
    c->tried.p = NULL;
    c->tried.n = c->tried.cap = 0;
    c->pick = gn_pick_copy(a, &t->pick);
    if (t->signature) c->signature = gn_arena_strdup(a, t->signature);
    return c;
}

typedef struct reader {
    gn_arena *arena;
    const char *where;
    int line;
    gn_tuned *out;
    GN_VEC(low_choice) choices;
    unsigned seen; /* bits of words */
} reader;

#define WORDS(X)                                                                                   \
    X(program)                                                                                     \
    X(default_us)                                                                                  \
    X(best_us)                                                                                     \
    X(noise)                                                                                       \
    X(seconds)                                                                                     \
    X(finished)                                                                                    \
    X(wrong)                                                                                       \
    X(reorder)                                                                                     \
    X(threads)                                                                                     \
    X(one_region)                                                                                  \
    X(without)                                                                                     \
    X(schedule)                                                                                    \
    X(tried)
enum {
#define X(name) W_##name,
    WORDS(X)
#undef X
        WORD_COUNT
};
static const char *const words[] = {
#define X(name) #name,
    WORDS(X)
#undef X
};
enum { REPEATS = 1 << W_schedule | 1 << W_tried, OPTIONAL = REPEATS | 1 << W_without };

static gn_status *wrong(const reader *r, const char *what, const char *value)
{
    GN_FAIL(GN_ERR_DATA, "%s:%d: '%s' is no %s", r->where, r->line, value, what);
}

static gn_status *number(const reader *r, const char *text, double least, double most, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= least && *out <= most))
        return wrong(r, "number that may stand here", text);
    return NULL;
}

static gn_status *schedule(reader *r, char *text)
{
    char *key = strtok_r(text, " ", &text), *field = strtok_r(text, " ", &text),
         *value = strtok_r(text, " ", &text);
    low_choice c = {0};
    double v;
    if (!key || !field || !value)
        return wrong(r, "schedule: a region, a field and a number", key ? key : "");
    c.region = strcmp(key, "*") ? gn_arena_strdup(r->arena, key) : NULL;
    c.field = low_field_by_name(field);
    if (c.field == LOW_FIELD_COUNT) {
        const char *names[LOW_FIELD_COUNT];
        for (int k = 0; k < LOW_FIELD_COUNT; k++) names[k] = low_fields[k].name;
        GN_FAIL(GN_ERR_DATA, "%s:%d: schedules have no '%s'%s", r->where, r->line, field,
                gn_did_you_mean(field, names, LOW_FIELD_COUNT).text);
    }
    GN_TRY(number(r, value, -1e15, 1e15, &v));
    c.value = (int64_t)v;
    GN_PUSH(r->arena, r->choices, c);
    return NULL;
}

static gn_status *one_of(const reader *r, const char *text, const char *const *names, int n,
                         const char *what, int *out)
{
    for (*out = 0; *out < n; ++*out)
        if (!strcmp(text, names[*out])) return NULL;
    return wrong(r, what, text);
}

static gn_status *without(reader *r, const char *text)
{
    gn_status *s = gn_without_add(r->arena, text, false, &r->out->pick.without);
    if (s) s->code = GN_ERR_DATA;
    return gn_status_annotate(s, "%s:%d", r->where, r->line);
}

static gn_status *take(reader *r, int word, char *text)
{
    gn_tuned *t = r->out;
    double v = 0;
    int k = 0;
    switch (word) {
    case W_program:
        GN_TRY(one_of(r, text, gn_unit_name, GN_UNITS, "program", &k));
        t->unit = (gn_unit_id)k;
        break;
    case W_default_us: GN_TRY(number(r, text, 0, 1e15, &t->default_us)); break;
    case W_best_us: GN_TRY(number(r, text, 0, 1e15, &t->best_us)); break;
    case W_noise: GN_TRY(number(r, text, 0, 1e15, &t->noise)); break;
    case W_seconds: GN_TRY(number(r, text, 0, 1e15, &t->seconds)); break;
    case W_finished:
        GN_TRY(number(r, text, 0, 1, &v));
        t->finished = v != 0;
        break;
    case W_wrong:
        GN_TRY(number(r, text, 0, 1e15, &v));
        t->wrong = (int64_t)v;
        break;
    case W_reorder:
        GN_TRY(one_of(r, text, gn_order_name, GN_ORDER_COUNT, "order of nodes", &k));
        t->reorder = (gn_order)k;
        break;
    case W_threads:
        GN_TRY(number(r, text, 0, 4096, &v));
        t->pick.threads = (int)v;
        break;
    case W_one_region:
        GN_TRY(number(r, text, GN_FOLD_BY_MODE, GN_FOLD_ONE_KERNEL, &v));
        t->pick.one_region = (int)v;
        break;
    case W_without: return without(r, text);
    case W_schedule: return schedule(r, text);
    case W_tried: {
        char *end;
        uint64_t digest = strtoull(text, &end, 16);
        if (strlen(text) != 16 || *end) return wrong(r, "digest", text);
        GN_PUSH(r->arena, t->tried, digest);
        break;
    }
    default: break;
    }
    return NULL;
}

static gn_status *take_line(reader *r, char *line)
{
    char *value = strchr(line, ' ');
    if (!value) return wrong(r, "line 'name value'", line);
    *value++ = 0;
    int word = 0;
    while (word < WORD_COUNT && strcmp(line, words[word]) != 0) word++;
    if (word == WORD_COUNT)
        GN_FAIL(GN_ERR_DATA, "%s:%d: a record has no '%s'%s", r->where, r->line, line,
                gn_did_you_mean(line, words, WORD_COUNT).text);
    if (r->seen >> word & 1 && !(REPEATS >> word & 1))
        GN_FAIL(GN_ERR_DATA, "%s:%d: '%s' stands there twice", r->where, r->line, line);
    r->seen |= 1u << word;
    return take(r, word, value);
}

gn_status *gn_tuned_parse(gn_arena *a, const char *text, const char *where, int line, gn_tuned *out)
{
    reader r = {.arena = a, .where = where, .line = line, .out = out};
    bool ended = false;
    *out = (gn_tuned){.pick = {.one_region = 0}};
    while (*text && !ended) {
        size_t n = strcspn(text, "\n");
        char *copy = gn_arena_strndup(a, text, n);
        ended = !strcmp(copy, "end");
        if (!ended) GN_TRY(take_line(&r, copy));
        text += n + (text[n] == '\n');
        r.line++;
    }
    if (!ended) GN_FAIL(GN_ERR_DATA, "%s:%d: the record has no end", where, r.line);
    for (int k = 0; k < WORD_COUNT; k++)
        if (!(r.seen >> k & 1) && !(OPTIONAL >> k & 1))
            GN_FAIL(GN_ERR_DATA, "%s:%d: the record has no '%s'", where, r.line, words[k]);
    out->pick.schedule = (low_tuning){(int)r.choices.n, r.choices.p};
    return NULL;
}
