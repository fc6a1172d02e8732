#include "runtime/artifact.h"

#include <string.h>

#define BAD(...) GN_FAIL(GN_ERR_INTERNAL, __VA_ARGS__)

bool gn_term_value(gn_term t, const int64_t *sym, int64_t *out)
{
    int64_t product;
    if (__builtin_mul_overflow(t.coef, t.sym < 0 ? 1 : sym[t.sym], &product)) return false;
    return !__builtin_add_overflow(product, t.plus, out) && *out >= 0;
}

int gn_artifact_used(const gn_artifact *a, int *number)
{
    int n = 0;
    for (int k = 0; k < a->n_slots; k++) number[k] = -1;
    for (int l = 0; l < a->n_launches; l++)
        for (int b = 0; b < a->launches[l].n_buf; b++) number[a->launches[l].buf[b]] = 0;
    for (int k = 0; k < a->n_slots; k++)
        if (number[k] == 0) number[k] = n++;
    return n;
}

const char *gn_artifact_made_of(const gn_artifact *a, int *at)
{
    while (*at < 2 * (a->n_graphs + a->n_columns)) {
        int k = (*at)++ / 2, c = k - a->n_graphs;
        bool counted = *at % 2 == 0;
        const char *name = c < 0     ? counted ? a->graphs[k].rows.input : a->graphs[k].mask_of
                           : counted ? a->columns[c].rows.input
                                     : a->columns[c].name;
        if (name) return name;
    }
    return NULL;
}

bool gn_artifact_is_made_of(const gn_artifact *a, const char *input)
{
    const char *name;
    for (int at = 0; (name = gn_artifact_made_of(a, &at)) != NULL;)
        if (!strcmp(name, input)) return true;
    return false;
}

static bool within(int k, int n) { return k >= 0 && k < n; }
static bool term_ok(const gn_artifact *a, gn_term t) { return t.sym < a->n_syms; }

static bool is_part_ptr(gn_graph_array k)
{
    if ((unsigned)k >= GN_GRAPH_ARRAY_COUNT || !gn_is_part_array(k)) return false;
    return gn_part_array_kind(k) == GN_PART_PTR || gn_part_array_kind(k) == GN_CSC_PART_PTR;
}

static gn_status *check_syms(const gn_artifact *a)
{
    for (int k = 0; k < a->n_syms; k++) {
        const gn_sym *s = &a->syms[k];
        if ((unsigned)s->kind > GN_SYM_PARTS)
            BAD("artifact %s: symbol %d is of no kind", a->name, k);
        if (s->kind == GN_SYM_CEIL && (s->value < 1 || !within(s->of, k)))
            BAD("artifact %s: symbol %s is no quotient of an earlier one", a->name, s->name);
        if (s->kind == GN_SYM_ROWS && (!within(s->of, a->n_slots) || !a->slots[s->of].name))
            BAD("artifact %s: symbol %s counts the rows of what is not bound", a->name, s->name);
        if (s->kind == GN_SYM_PARTS && (s->value < 1 || !is_part_ptr(s->array)))
            BAD("artifact %s: symbol %s counts no parts", a->name, s->name);
        if ((s->kind < GN_SYM_CONST || s->kind == GN_SYM_PARTS) && !within(s->graph, a->n_graphs))
            BAD("artifact %s: symbol %s is a size of graph %d of %d", a->name, s->name, s->graph,
                a->n_graphs);
    }
    for (int k = 0; k < a->n_checks; k++) {
        const gn_size_check *c = &a->checks[k];
        if (!within(c->graph, a->n_graphs) || (unsigned)c->end > GN_SYM_N_EDGE ||
            !term_ok(a, c->want))
            BAD("artifact %s: check %d is of no size", a->name, k);
    }
    return NULL;
}

/* Of graphs before number k. */
static bool row_count_ok(gn_counted_rows r, int k)
{
    if (r.input) return true;
    return r.graph < 0 ? r.rows >= 0 : r.graph < k && (unsigned)r.end <= GN_SYM_N_EDGE;
}

/* How many columns one of its kind is made of. */
static int column_operands(gn_data_column_kind kind)
{
    if (kind <= GN_COLUMN_CONST) return 0;
    return kind == GN_COLUMN_CAST || kind == GN_COLUMN_NOT || kind == GN_COLUMN_GATHER ? 1 : 2;
}

/* With what is said of each: which graphs come before, and whether it is drawn. */
static gn_status *check_columns(const gn_artifact *a)
{
    for (int k = 0; k < a->n_columns; k++) {
        const gn_data_column *c = &a->columns[k];
        bool edges = c->kind == GN_COLUMN_GATHER || c->kind == GN_COLUMN_CARRY, drawn = false;
        bool number = !gn_elem_is_float(c->elem) ||
                      (c->kind == GN_COLUMN_INPUT && c->elem == GN_F32); /* weights */
        bool ok = (unsigned)c->kind <= GN_COLUMN_CARRY && (unsigned)c->elem < GN_ELEM_COUNT &&
                  number && (c->kind != GN_COLUMN_INPUT || c->name) && c->graphs >= 0 &&
                  c->graphs <= a->n_graphs;
        for (int j = 0; ok && j < column_operands(c->kind); j++) {
            ok = within(c->of[j], k) && a->columns[c->of[j]].graphs <= c->graphs &&
                 !gn_elem_is_float(a->columns[c->of[j]].elem);
            drawn = drawn || (ok && a->columns[c->of[j]].drawn);
        }
        if (ok && edges) {
            ok = within(c->graph, c->graphs) && (unsigned)c->end < 2;
            drawn = drawn || (ok && a->graphs[c->graph].drawn);
        }
        if (c->kind == GN_COLUMN_CONST) ok = ok && row_count_ok(c->rows, c->graphs);
        if (!ok || drawn != c->drawn) BAD("artifact %s: column %d is of nothing", a->name, k);
    }
    return NULL;
}

static bool time_ok(const gn_artifact *a, int column)
{
    if (column == -1) return true;
    const gn_data_column *c = within(column, a->n_columns) ? &a->columns[column] : NULL;
    return c && (c->elem == GN_I32 || c->elem == GN_I64) && c->kind == GN_COLUMN_INPUT;
}

static bool apart_ok(const gn_artifact *a, const gn_graph_slot *g)
{
    return (unsigned)g->end <= GN_APART_BEFORE && time_ok(a, g->time) &&
           (g->end != GN_TOGETHER || g->time < 0);
}

/* Graphs of edges that are picked, named or drawn. */
static gn_status *check_edges(const gn_artifact *a, int k)
{
    const gn_graph_slot *g = &a->graphs[k];
    bool grouped = g->how == GN_GROUP, numbers = grouped && g->end == GN_GROUPED_NUMBERS;
    bool of_column = g->how == GN_FILTER || g->how == GN_INDEX ||
                     (grouped && g->end != GN_GROUPED_ROWS);
    if (grouped &&
        ((unsigned)g->end > GN_GROUPED_NUMBERS || (numbers && !row_count_ok(g->rows, k)) ||
         (g->end == GN_GROUPED_ROWS && g->with[0] < 0)))
        BAD("artifact %s: graph %d is grouped in no known way", a->name, k);
    if (of_column && (!within(g->column, a->n_columns) || a->columns[g->column].graphs > k))
        BAD("artifact %s: graph %d is made of column %d", a->name, k, g->column);
    if (g->how == GN_FILTER && a->columns[g->column].elem != GN_BOOL)
        BAD("artifact %s: graph %d is made of a mask that is none", a->name, k);
    if (of_column && g->how != GN_FILTER && gn_elem_is_float(a->columns[g->column].elem))
        BAD("artifact %s: graph %d is made of numbers that are none", a->name, k);
    if (g->how == GN_INDEX && (!row_count_ok(g->rows, k) || g->with[0] < -1 || g->with[0] >= k))
        BAD("artifact %s: graph %d counts rows of nothing", a->name, k);
    bool draws = g->times > 0 && (unsigned)g->end <= 2 && g->key_of[0] && g->key_of[1];
    if (gn_is_drawn(g->how) && !draws)
        BAD("artifact %s: graph %d is drawn in no known way", a->name, k);
    bool once = g->times >= 0 && (unsigned)g->end < 4 * GN_DRAW_COUNT &&
                (g->end & 3) < GN_LOOPS_COUNT && g->key_of[0] && g->key_of[1] && g->with[0] >= 0;
    if (g->how == GN_FILTER && !apart_ok(a, g))
        BAD("artifact %s: edges of graph %d are apart in no known way", a->name, k);
    if (g->how == GN_DRAW && !time_ok(a, g->time))
        BAD("artifact %s: graph %d is drawn by times that are none", a->name, k);
    if (g->how == GN_DRAW && g->column >= 0 &&
        (!within(g->column, a->n_columns) || a->columns[g->column].elem != GN_F32))
        BAD("artifact %s: graph %d is drawn by weights that are none", a->name, k);
    if (g->how == GN_DRAW && !once)
        BAD("artifact %s: graph %d is drawn in no known way", a->name, k);
    bool names = g->times >= 0 && g->times <= 2 && g->end >= 1 && g->end <= 3;
    if (g->how == GN_ENDS && !names)
        BAD("artifact %s: graph %d names ends in no known way", a->name, k);
    if (g->how == GN_WITHOUT && ((unsigned)g->end > 1 || g->with[0] < 0))
        BAD("artifact %s: graph %d is without another's edges in no known way", a->name, k);
    bool drawn = (gn_is_drawn(g->how) && !g->once) ||
                 (g->how == GN_INDEX ? a->columns[g->column].drawn : a->graphs[g->parent].drawn);
    for (int j = 0; g->how != GN_INDEX && j < 2; j++)
        if (g->with[j] >= 0) drawn = drawn || a->graphs[g->with[j]].drawn;
    bool another = g->how == GN_REVERSE || g->how == GN_SELF_LOOPS || g->how >= GN_INDEX ||
                   g->how == GN_RESTRICT;
    if (drawn != g->drawn || (drawn && !another))
        BAD("artifact %s: graph %d is drawn and can't be, or the other way round", a->name, k);
    return NULL;
}

static gn_status *check_graphs(const gn_artifact *a)
{
    for (int k = 0; k < a->n_graphs; k++) {
        const gn_graph_slot *g = &a->graphs[k];
        if (g->arrays >> GN_GRAPH_ARRAY_COUNT)
            BAD("artifact %s: graph %d asks for unknown arrays", a->name, k);
        if (g->name || g->pattern_of) continue;
        if ((unsigned)g->how > GN_CORRUPT)
            BAD("artifact %s: graph %d is derived in no known way", a->name, k);
        if (g->how == GN_SUBSET) {
            if (!g->mask_of) BAD("artifact %s: graph %d picks rows by no mask", a->name, k);
            if (!apart_ok(a, g))
                BAD("artifact %s: rows of graph %d are apart in no known way", a->name, k);
            continue;
        }
        if (g->how != GN_INDEX && !within(g->parent, k))
            BAD("artifact %s: graph %d comes from graph %d", a->name, k, g->parent);
        bool with = g->how == GN_GROW || g->how == GN_RESTRICT || g->how == GN_ENDS ||
                    g->how == GN_DRAW || g->how == GN_WITHOUT || g->how == GN_GROUP;
        for (int j = 0; with && j < 2; j++)
            if (g->with[j] < -1 || g->with[j] >= k)
                BAD("artifact %s: graph %d comes from graph %d", a->name, k, g->with[j]);
        GN_TRY(check_edges(a, k));
    }
    return NULL;
}

static gn_status *check_slot(const gn_artifact *a, int k)
{
    const gn_slot *s = &a->slots[k];
    bool named = s->kind == GN_SLOT_INPUT || s->kind == GN_SLOT_STATE || s->kind == GN_SLOT_OUTPUT;
    if ((unsigned)s->kind > GN_SLOT_ALIAS || (unsigned)s->elem >= GN_ELEM_COUNT)
        BAD("artifact %s: slot %d is of no kind", a->name, k);
    if (!term_ok(a, s->elems))
        BAD("artifact %s: slot %d has symbol %d of %d", a->name, k, s->elems.sym, a->n_syms);
    if (named && !s->name) BAD("artifact %s: slot %d is bound by name and has none", a->name, k);
    if (named && s->row_elems < 0)
        BAD("artifact %s: slot %s has rows of negative size", a->name, s->name);
    if (s->kind == GN_SLOT_TEMP && s->last < s->first)
        BAD("artifact %s: slot %d lives from launch %d to %d", a->name, k, s->first, s->last);
    if (s->kind == GN_SLOT_GRAPH &&
        (!within(s->graph, a->n_graphs) || (unsigned)s->array >= GN_GRAPH_ARRAY_COUNT))
        BAD("artifact %s: slot %d is array %d of graph %d", a->name, k, (int)s->array, s->graph);
    int at = k, steps = 0;
    while (a->slots[at].kind == GN_SLOT_ALIAS) {
        at = a->slots[at].alias;
        if (!within(at, a->n_slots) || ++steps > a->n_slots)
            BAD("artifact %s: slot %d is an alias of none", a->name, k);
    }
    return NULL;
}

static int root_of(const gn_artifact *a, int slot)
{
    while (a->slots[slot].kind == GN_SLOT_ALIAS) slot = a->slots[slot].alias;
    return slot;
}

/* Strides are read as those of row-major matrices, one of them turned: where its elements lie
 * instances check against sizes. */
static gn_status *check_product(const gn_artifact *a, int k)
{
    const gn_launch *l = &a->launches[k];
    const gn_product *p = l->product;
    bool there = within(p->out, l->n_buf) && within(p->a, l->n_buf) && within(p->b, l->n_buf) &&
                 (p->bias < 0 || within(p->bias, l->n_buf)) && l->kind == GN_LAUNCH_KERNEL &&
                 l->parallel;
    if (!there)
        BAD("artifact %s: launch %d is a product of buffers that it does not have", a->name, k);
    bool of = p->cols > 0 && p->depth > 0 && p->a_row > 0 && p->a_term > 0 && p->b_term > 0 &&
              p->b_col > 0 && (p->a_row == 1 || p->a_term == 1) &&
              (p->b_term == 1 || p->b_col == 1);
    if (!of) BAD("artifact %s: launch %d is a product whose sizes are none", a->name, k);
    for (int b = 0; b < l->n_buf; b++)
        if (b == p->out ? !l->access || l->access[b] != GN_WRITES
                        : root_of(a, l->buf[b]) == root_of(a, l->buf[p->out]))
            BAD("artifact %s: launch %d is a product that is not only written", a->name, k);
    return NULL;
}

static gn_status *check_launch(const gn_artifact *a, int k)
{
    const gn_launch *l = &a->launches[k];
    bool copy = l->kind == GN_LAUNCH_COPY;
    if (!copy && !within(l->kernel, a->n_code))
        BAD("artifact %s: launch %d runs kernel %d of %d", a->name, k, l->kernel, a->n_code);
    if (copy && l->n_buf != 2)
        BAD("artifact %s: launch %d copies between %d slots", a->name, k, l->n_buf);
    for (int b = 0; b < l->n_buf; b++)
        if (!within(l->buf[b], a->n_slots))
            BAD("artifact %s: launch %d has slot %d of %d", a->name, k, l->buf[b], a->n_slots);
    for (int s = 0; s < l->n_sym; s++)
        if (!within(l->sym[s], a->n_syms))
            BAD("artifact %s: launch %d has symbol %d of %d", a->name, k, l->sym[s], a->n_syms);
    if (l->product) GN_TRY(check_product(a, k));
    if (copy || !l->parallel) return NULL;
    if (l->step < 1 || !term_ok(a, l->trip))
        BAD("artifact %s: launch %d has steps of %lld", a->name, k, (long long)l->step);
    if (l->n_balance < 0 || l->n_balance > GN_MOST_BALANCE)
        BAD("artifact %s: launch %d is balanced by %d graphs", a->name, k, l->n_balance);
    for (int b = 0; b < l->n_balance; b++) {
        const gn_balance *by = &l->balance[b];
        bool ptr = by->array == GN_GRAPH_ROW_PTR || by->array == GN_GRAPH_COL_PTR;
        if (!within(by->graph, a->n_graphs) || !ptr)
            BAD("artifact %s: launch %d is balanced by array %d of graph %d", a->name, k,
                (int)by->array, by->graph);
    }
    return NULL;
}

static bool same_term(gn_term x, gn_term y)
{
    return x.coef == y.coef && x.sym == y.sym && x.plus == y.plus;
}

static gn_status *check_chain(const gn_artifact *a, int k)
{
    const gn_launch *head = &a->launches[k];
    if (!head->chain) return NULL;
    if (head->chain < 2 || head->chain > a->n_launches - k || head->chain_row < 1 ||
        a->chain_bytes < 1)
        BAD("artifact %s: launch %d begins a chain of %d", a->name, k, head->chain);
    for (int l = k; l < k + head->chain; l++) {
        const gn_launch *m = &a->launches[l];
        bool rows = m->kind == GN_LAUNCH_KERNEL && m->parallel && m->trip.coef == 1 &&
                    m->trip.plus == 0 && m->trip.sym >= 0 && same_term(m->trip, head->trip) &&
                    m->n_buf <= GN_CHAIN_BUFFERS;
        if (!rows || (l > k && m->chain))
            BAD("artifact %s: launch %d is in a chain and can't be", a->name, l);
    }
    return NULL;
}

/* What is passed on has rows that a chain runs over, and nobody else touches it. */
static gn_status *check_passed_on(const gn_artifact *a, int k)
{
    const gn_slot *s = &a->slots[k];
    if (!s->passed_on) return NULL;
    int from = 0, end = 0, home = -1; /* the chain at hand; the one that touches it */
    bool ok = s->kind == GN_SLOT_TEMP && s->elems.coef > 0 && s->elems.coef <= INT32_MAX &&
              s->elems.plus == 0;
    for (int l = 0; l < a->n_launches; l++) {
        if (a->launches[l].chain) {
            from = l;
            end = l + a->launches[l].chain;
        }
        for (int b = 0; b < a->launches[l].n_buf; b++) {
            if (a->launches[l].buf[b] != k) continue;
            ok = ok && l < end && (home < 0 || home == from) &&
                 a->launches[l].trip.sym == s->elems.sym;
            home = from;
        }
    }
    for (int j = 0; j < a->n_slots; j++)
        ok = ok && (a->slots[j].kind != GN_SLOT_ALIAS || a->slots[j].alias != k);
    if (!ok) BAD("artifact %s: slot %d is passed on by no chain", a->name, k);
    return NULL;
}

gn_status *gn_artifact_check(const gn_artifact *a)
{
    GN_TRY(check_syms(a));
    GN_TRY(check_columns(a));
    GN_TRY(check_graphs(a));
    for (int k = 0; k < a->n_slots; k++) GN_TRY(check_slot(a, k));
    for (int k = 0; k < a->n_launches; k++) GN_TRY(check_launch(a, k));
    for (int k = 0; k < a->n_launches; k++) GN_TRY(check_chain(a, k));
    for (int k = 0; k < a->n_slots; k++) GN_TRY(check_passed_on(a, k));
    return NULL;
}
