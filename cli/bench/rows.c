#include "cli/bench/rows.h"

#include "cli/bench/relate.h"

#include "compile/mode.h"

#include <string.h>

/* Names ---------------------------------------------------------------------------------------- */

bool gn_cell_covers(const gn_cell *c, const char *mode, const char *dynamic)
{
    for (int k = 0; k < c->n_same; k++)
        if (gn_cell_covers(c->same[k], mode, dynamic)) return true;
    return !c->n_same && (!mode || !strcmp(c->mode, mode)) &&
           (!dynamic || !strcmp(c->dynamic, dynamic));
}

/* What a cell stands for, itself where it is no row. */
typedef struct members {
    const gn_cell *const *p;
    int n;
} members;

static members members_of(const gn_cell *const *c)
{
    return (*c)->n_same ? (members){(*c)->same, (*c)->n_same} : (members){c, 1};
}

static const char *mode_of(const gn_cell *c) { return c->mode; }
static const char *dynamic_of(const gn_cell *c) { return c->dynamic; }

/* Every name once, in their order; *n: how many. */
static const char *joined(gn_arena *a, members m, const char *(*name)(const gn_cell *),
                          const char *eager, int *n)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "");
    *n = 0;
    for (int k = 0; k < m.n; k++) {
        const char *text = name(m.p[k]);
        bool said = false;
        for (int i = 0; i < k; i++) said = said || !strcmp(name(m.p[i]), text);
        if (said) continue;
        if (eager && !strcmp(text, "eager")) text = eager;
        gn_buf_printf(&b, "%s%s", b.n ? " = " : "", text);
        ++*n;
    }
    return b.p;
}

/* Has every mode of it every setting?  Then modes and settings say all. */
static bool is_product(gn_arena *a, members m)
{
    int modes, settings;
    (void)joined(a, m, mode_of, NULL, &modes);
    (void)joined(a, m, dynamic_of, NULL, &settings);
    return modes * settings == m.n;
}

static const char *each(gn_arena *a, members m, const char *eager)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "");
    for (int k = 0; k < m.n; k++)
        gn_buf_printf(&b, "%s%s (dynamic=%s)", b.n ? " = " : "",
                      eager && !strcmp(m.p[k]->mode, "eager") ? eager : m.p[k]->mode,
                      m.p[k]->dynamic);
    return b.p;
}

static const char *variant(const gn_bench *b, const gn_cell *c, const char *eager)
{
    members m = members_of(&c);
    int n;
    if (b->grid.dynamic.n < 2) return joined(b->arena, m, mode_of, eager, &n);
    if (!is_product(b->arena, m)) return each(b->arena, m, eager);
    const char *modes = joined(b->arena, m, mode_of, eager, &n);
    const char *settings = joined(b->arena, m, dynamic_of, NULL, &n);
    return gn_arena_printf(b->arena, "%s (dynamic=%s)", modes, settings);
}

const char *gn_cell_variant(const gn_bench *b, const gn_cell *c) { return variant(b, c, NULL); }

const char *gn_cell_lead(const gn_bench *b, const gn_cell *c)
{
    return b->grid.dynamic.n < 2
               ? c->mode
               : gn_arena_printf(b->arena, "%s (dynamic=%s)", c->mode, c->dynamic);
}

const char *gn_cell_label(const gn_bench *b, const gn_cell *c)
{
    return variant(b, c, c->n_same > 1 ? GN_EAGER_SHORT : GN_EAGER_LABEL);
}

const char *gn_cell_modes(const gn_bench *b, const gn_cell *c)
{
    members m = members_of(&c);
    int n;
    const char *eager = b->raw ? GN_EAGER_SHORT : NULL;
    return is_product(b->arena, m) ? joined(b->arena, m, mode_of, eager, &n)
                                   : each(b->arena, m, eager);
}

const char *gn_cell_dynamics(const gn_bench *b, const gn_cell *c)
{
    members m = members_of(&c);
    int n;
    return is_product(b->arena, m) ? joined(b->arena, m, dynamic_of, NULL, &n) : "";
}

/* Rows ----------------------------------------------------------------------------------------- */

static bool one_row(const gn_cell *a, const gn_cell *b, gn_apart apart)
{
    if (a->end != GN_CELL_OK || b->end != GN_CELL_OK || a->threads != b->threads ||
        strcmp(a->model, b->model) != 0 || strcmp(a->data, b->data) != 0)
        return false;
    if (apart == GN_APART_DYNAMIC && strcmp(a->dynamic, b->dynamic) != 0) return false;
    if (apart == GN_APART_SEARCH && gn_searches(a) != gn_searches(b)) return false;
    return gn_same_program(a, b);
}

/* Which of two gives a row what is not pooled: the baseline, else the mode that does less. */
static bool leads(const gn_cell *a, const gn_cell *b)
{
    if (a->is_baseline != b->is_baseline) return a->is_baseline;
    return gn_mode_by_name(a->mode) < gn_mode_by_name(b->mode);
}

static gn_samples pooled(gn_arena *a, const gn_cell *row, bool infer)
{
    gn_samples all = {0};
    for (int k = 0; k < row->n_same; k++) {
        const gn_measured *m = &row->same[k]->warm;
        all.n += infer ? m->infer_us.n : m->step_us.n;
    }
    all.x = GN_NEW_N(a, double, all.n + 1);
    int64_t n = 0;
    for (int k = 0; k < row->n_same; k++) {
        const gn_measured *m = &row->same[k]->warm;
        const gn_samples *s = infer ? &m->infer_us : &m->step_us;
        if (s->n) memcpy(all.x + n, s->x, (size_t)s->n * sizeof *s->x);
        n += s->n;
    }
    return all;
}

/* The row of cells[at] and of those behind it that it is one with; those are `taken` then. */
static gn_cell row_of(gn_bench *raw, int at, gn_apart apart, bool *taken)
{
    const gn_cell **same = GN_NEW_N(raw->arena, const gn_cell *, raw->n_cells - at);
    int n = 0;
    for (int k = at; k < raw->n_cells; k++) {
        gn_cell *c = &raw->cells[k];
        if (k != at && (taken[k] || !one_row(&raw->cells[at], c, apart))) continue;
        taken[k] = true;
        int place = n++;
        for (; place && leads(c, same[place - 1]); place--) same[place] = same[place - 1];
        same[place] = c;
    }
    gn_cell row = *same[0];
    row.same = same;
    row.n_same = n;
    row.baseline = NULL;
    if (n == 1) return row;
    row.warm.infer_us = pooled(raw->arena, &row, true);
    row.warm.step_us = pooled(raw->arena, &row, false);
    row.infer = gn_stats_of(raw->arena, row.warm.infer_us.x, row.warm.infer_us.n);
    row.step = gn_stats_of(raw->arena, row.warm.step_us.x, row.warm.step_us.n);
    return row;
}

gn_bench *gn_bench_rows(gn_bench *b, gn_apart apart)
{
    gn_bench *raw = b->raw ? b->raw : b;
    if (raw->rows[apart]) return raw->rows[apart];
    gn_bench *v = GN_NEW(raw->arena, gn_bench);
    bool *taken = GN_NEW_N(raw->arena, bool, raw->n_cells + 1);
    *v = *raw;
    v->raw = raw;
    memset(v->rows, 0, sizeof v->rows);
    memset(taken, 0, (size_t)raw->n_cells * sizeof *taken);
    v->cells = GN_NEW_N(raw->arena, gn_cell, raw->n_cells + 1);
    v->n_cells = 0;
    for (int k = 0; k < raw->n_cells; k++)
        if (!taken[k]) v->cells[v->n_cells++] = row_of(raw, k, apart, taken);
    gn_bench_compare(v);
    raw->rows[apart] = v;
    return v;
}

void gn_bench_group(gn_bench *b)
{
    gn_bench *raw = b->raw ? b->raw : b, *rows = gn_bench_rows(raw, GN_APART_NOTHING);
    for (int k = 0; k < rows->n_cells; k++) {
        const gn_cell *row = &rows->cells[k];
        const char *name = gn_cell_variant(rows, row);
        for (int i = 0; i < raw->n_cells; i++)
            for (int j = 0; j < row->n_same; j++)
                if (row->same[j] == &raw->cells[i]) raw->cells[i].group = name;
    }
}
