#include "cli/bench/cell.h"

#include "compile/mode.h"

#include <math.h>
#include <unistd.h>
#include <string.h>

#include <jansson.h>

const char *const gn_cell_end_name[GN_CELL_END_COUNT] = {
#define X(id, text) text,
    GN_CELL_ENDS(X)
#undef X
};

/* The members of a measurement by kind: written and read from these lists. */
#define MEASURED_TEXTS(X)                                                                          \
    X(model)                                                                                       \
    X(data)                                                                                        \
    X(device)                                                                                      \
    X(picked)                                                                                      \
    X(order)                                                                                       \
    X(code)                                                                                        \
    X(program)                                                                                     \
    X(error_code)                                                                                  \
    X(error)
#define MEASURED_COUNTS(X)                                                                         \
    X(nodes)                                                                                       \
    X(edges)                                                                                       \
    X(features)                                                                                    \
    X(classes)                                                                                     \
    X(kernels)                                                                                     \
    X(kernels_cached)                                                                              \
    X(eval_launches)                                                                               \
    X(step_launches)                                                                               \
    X(eval_operators)                                                                              \
    X(step_operators)                                                                              \
    X(plan_bytes)                                                                                  \
    X(arena_bytes)                                                                                 \
    X(rss_bytes)
#define MEASURED_NUMBERS(X)                                                                        \
    X(read_ms)                                                                                     \
    X(compile_ms)                                                                                  \
    X(tune_ms)                                                                                     \
    X(setup_ms)                                                                                    \
    X(train_acc)                                                                                   \
    X(val_acc)                                                                                     \
    X(test_acc)                                                                                    \
    X(test_auc)                                                                                    \
    X(test_hits)                                                                                   \
    X(test_mrr)
#define MEASURED_LISTS(X)                                                                          \
    X(infer_us)                                                                                    \
    X(step_us)                                                                                     \
    X(losses)

void gn_measured_init(gn_measured *m)
{
    *m = (gn_measured){0};
#define X(name) m->name = -1;
    MEASURED_COUNTS(X)
#undef X
#define X(name) m->name = NAN;
    MEASURED_NUMBERS(X)
#undef X
}

void gn_cell_init(gn_cell *c)
{
    *c = (gn_cell){.model = "",
                   .data = "",
                   .mode = "",
                   .dynamic = "",
                   .reason = "",
                   .last_line = "",
                   .wall_ms = NAN};
    gn_measured_init(&c->cold);
    gn_measured_init(&c->warm);
    c->changing = (gn_changing){-1, -1, -1, NAN, NAN};
    double *const unknown[] = {&c->infer_gain,
                               &c->step_gain,
                               &c->logits_diff,
                               &c->loss_diff,
                               &c->end_loss_diff,
                               &c->end_acc_diff,
                               &c->break_even_step,
                               &c->break_even_infer,
                               &c->break_even_step_cached,
                               &c->break_even_infer_cached,
                               &c->break_even_step_extra};
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) *unknown[k] = NAN;
}

static const char *order_of(const gn_cell *c) { return c->warm.order ? c->warm.order : "none"; }

bool gn_same_program(const gn_cell *a, const gn_cell *b)
{
    const char *program = a->warm.program, *other = b->warm.program;
    if (program && other && *program && *other) return !strcmp(program, other);
    gn_mode m = gn_mode_by_name(a->mode), n = gn_mode_by_name(b->mode);
    if (m == GN_MODE_COUNT || n == GN_MODE_COUNT ||
        gn_modes[m].one_region != gn_modes[n].one_region)
        return false;
    const char *picked = a->warm.picked ? a->warm.picked : "";
    if (strcmp(picked, b->warm.picked ? b->warm.picked : "") != 0) return false;
    if (strcmp(order_of(a), order_of(b)) != 0)
        return false; /* what lies beside what: other times */
    return a->warm.code && b->warm.code && *a->warm.code && !strcmp(a->warm.code, b->warm.code);
}

const char *gn_cell_why(gn_arena *a, const gn_cell *c)
{
    if (!*c->reason) return gn_cell_end_name[c->end];
    return c->end == GN_CELL_ERROR
               ? c->reason
               : gn_arena_printf(a, "%s: %s", gn_cell_end_name[c->end], c->reason);
}

/* Writing -------------------------------------------------------------------------------------- */

static void list_json(gn_json *j, const char *key, const gn_samples *s)
{
    gn_json_array(j, key);
    for (int64_t k = 0; k < s->n; k++) gn_json_double(j, NULL, s->x[k]);
    gn_json_end(j);
}

static void count_json(gn_json *j, const char *key, int64_t v)
{
    if (v < 0)
        gn_json_null(j, key);
    else
        gn_json_int(j, key, v);
}

void gn_measured_json(gn_json *j, const char *key, const gn_measured *m)
{
    gn_json_object(j, key);
#define X(name) gn_json_string(j, #name, m->name);
    MEASURED_TEXTS(X)
#undef X
#define X(name) count_json(j, #name, m->name);
    MEASURED_COUNTS(X)
#undef X
#define X(name) gn_json_double(j, #name, m->name);
    MEASURED_NUMBERS(X)
#undef X
#define X(name) list_json(j, #name, &m->name);
    MEASURED_LISTS(X)
#undef X
    gn_json_end(j);
}

static void stats_json(gn_json *j, const char *key, const gn_stats *s)
{
    if (!s->n) {
        gn_json_null(j, key);
        return;
    }
    gn_json_object(j, key);
    gn_json_int(j, "n", s->n);
#define X(name) gn_json_double(j, #name, s->name);
    X(min)
    X(p10)
    X(p25)
    X(median)
    X(p75)
    X(p90)
    X(p95)
    X(p99)
    X(max)
    X(mean)
    X(std)
#undef X
    gn_json_end(j);
}

static void comparison_json(gn_json *j, const gn_cell *c)
{
    if (!c->baseline) {
        gn_json_null(j, "against");
        return;
    }
    gn_json_object(j, "against");
    gn_json_string(j, "mode", c->baseline->mode);
    gn_json_double(j, "step_times_faster", c->step_gain);
    gn_json_bool(j, "step_beyond_noise", c->step_differs);
    gn_json_double(j, "infer_times_faster", c->infer_gain);
    gn_json_bool(j, "infer_beyond_noise", c->infer_differs);
#define X(name) gn_json_double(j, #name, c->name);
    X(logits_diff)
    X(loss_diff)
    X(end_loss_diff)
    X(end_acc_diff)
    /* null where it never comes back: a step gains nothing, times_faster is at most 1 */
    X(break_even_step)
    X(break_even_infer)
    X(break_even_step_cached)
    X(break_even_infer_cached)
    X(break_even_step_extra)
#undef X
    gn_json_end(j);
}

static void changing_json(gn_json *j, const gn_changing *c)
{
    gn_json_object(j, "changing");
    count_json(j, "batches", c->batches);
    count_json(j, "programs", c->programs);
    count_json(j, "recompiles", c->recompiles);
    gn_json_double(j, "compile_ms", c->compile_ms);
    gn_json_double(j, "run_us", c->run_us);
    gn_json_end(j);
}

void gn_cell_json(gn_json *j, const gn_cell *c)
{
    gn_json_object(j, NULL);
    gn_json_string(j, "id", c->id);
    gn_json_string(j, "model", c->model);
    gn_json_string(j, "data", c->data);
    gn_json_string(j, "mode", c->mode);
    gn_json_string(j, "dynamic", c->dynamic);
    gn_json_int(j, "threads", c->threads);
    if (c->group) gn_json_string(j, "group", c->group);
    gn_json_string(j, "status", gn_cell_end_name[c->end]);
    gn_json_string(j, "reason", c->reason);
    gn_json_string(j, "last_line", c->last_line);
    gn_json_int(j, "timeout_s", c->timeout_s);
    gn_json_double(j, "wall_ms", c->wall_ms);
    stats_json(j, "step_us", &c->step);
    stats_json(j, "infer_us", &c->infer);
    comparison_json(j, c);
    changing_json(j, &c->changing);
    gn_measured_json(j, "cold", &c->cold);
    gn_measured_json(j, "warm", &c->warm);
    gn_json_string(j, "key", c->key);
    gn_json_end(j);
}

/* Reading -------------------------------------------------------------------------------------- */

static const char *text_of(gn_arena *a, const json_t *o, const char *key, const char *otherwise)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? gn_arena_strdup(a, s) : otherwise;
}

static int64_t count_of(const json_t *o, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

static double number_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static gn_samples list_of(gn_arena *a, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    gn_samples s = {0};
    s.x = GN_NEW_N(a, double, json_array_size(v) + 1);
    for (size_t k = 0; k < json_array_size(v); k++) {
        const json_t *e = json_array_get(v, k);
        s.x[s.n++] = json_is_number(e) ? json_number_value(e) : NAN;
    }
    return s;
}

static void measured_of(gn_arena *a, const json_t *o, gn_measured *m)
{
    gn_measured_init(m);
#define X(name) m->name = text_of(a, o, #name, NULL);
    MEASURED_TEXTS(X)
#undef X
#define X(name) m->name = count_of(o, #name, -1);
    MEASURED_COUNTS(X)
#undef X
#define X(name) m->name = number_of(o, #name);
    MEASURED_NUMBERS(X)
#undef X
#define X(name) m->name = list_of(a, o, #name);
    MEASURED_LISTS(X)
#undef X
}

static gn_status *load(const char *path, json_t **out)
{
    json_error_t e;
    *out = json_load_file(path, 0, &e);
    if (!*out && access(path, R_OK)) GN_FAIL(GN_ERR_IO, "%s cannot be read", path);
    if (!*out) GN_FAIL(GN_ERR_DATA, "%s:%d: %s", path, e.line, e.text);
    if (json_is_object(*out)) return NULL;
    json_decref(*out);
    GN_FAIL(GN_ERR_DATA, "%s: expected an object", path);
}

static void changing_of(const json_t *o, gn_changing *c)
{
    const json_t *run = json_object_get(o, "run_us");
    c->batches = count_of(o, "batches", -1);
    c->programs = count_of(o, "programs", -1);
    c->recompiles = count_of(o, "recompiles", -1);
    c->compile_ms = number_of(o, "compile_ms");
    c->run_us = json_is_object(run) ? number_of(run, "median") : number_of(o, "run_us");
}

gn_status *gn_changing_read(const char *path, gn_changing *out)
{
    json_t *o;
    GN_TRY(load(path, &o));
    changing_of(o, out);
    json_decref(o);
    return NULL;
}

gn_status *gn_measured_read(gn_arena *a, const char *path, gn_measured *out)
{
    json_t *o;
    GN_TRY(load(path, &o));
    measured_of(a, o, out);
    json_decref(o);
    return NULL;
}

static gn_cell_end end_of(const char *name)
{
    for (int k = 0; k < GN_CELL_END_COUNT; k++)
        if (!strcmp(name, gn_cell_end_name[k])) return (gn_cell_end)k;
    return GN_CELL_OPEN;
}

gn_status *gn_cell_read(gn_arena *a, const char *path, gn_cell *c, bool *same)
{
    json_t *o;
    *same = false;
    if (access(path, F_OK)) return NULL;
    GN_TRY(load(path, &o));
    *same = !strcmp(text_of(a, o, "key", ""), c->key);
    if (*same) {
        c->end = end_of(text_of(a, o, "status", ""));
        c->reason = text_of(a, o, "reason", "");
        c->last_line = text_of(a, o, "last_line", "");
        c->timeout_s = count_of(o, "timeout_s", 0);
        c->wall_ms = number_of(o, "wall_ms");
        measured_of(a, json_object_get(o, "cold"), &c->cold);
        measured_of(a, json_object_get(o, "warm"), &c->warm);
        changing_of(json_object_get(o, "changing"), &c->changing);
        c->infer = gn_stats_of(a, c->warm.infer_us.x, c->warm.infer_us.n);
        c->step = gn_stats_of(a, c->warm.step_us.x, c->warm.step_us.n);
        /* Against the baseline: what cannot be computed again, for outputs are not kept. */
        c->logits_diff = number_of(json_object_get(o, "against"), "logits_diff");
    }
    json_decref(o);
    return NULL;
}
