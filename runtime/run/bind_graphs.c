/* Binding, part one: graphs by name, graphs derived from them, and the sizes that symbols stand
 * for. */
#include "runtime/run/instance.h"
#include "runtime/memory.h"

#include <string.h>

static gn_status *find_graph(const gn_instance *in, int number, int n,
                             const gn_graph_binding *graphs, gn_graph **out)
{
    const gn_graph_slot *slot = &in->artifact->graphs[number];
    const char *name = slot->pattern_of ? slot->pattern_of : slot->name;
    for (int k = 0; k < n; k++)
        if (strcmp(graphs[k].name, name) == 0 && graphs[k].graph) {
            *out = graphs[k].graph;
            return NULL;
        }
    GN_FAIL(GN_ERR_DATA, "%s: %s '%s'", in->artifact->name,
            slot->pattern_of ? "no sparse matrix is bound for input" : "nothing is bound for graph",
            name);
}

/* Is `d` the graph that `like` tells of? */
static bool same_origin(const gn_derived *d, const gn_derived *like)
{
    return d && d->how == like->how && d->end == like->end && d->rows == like->rows &&
           d->mask == like->mask && d->n_mask == like->n_mask && d->mask_elem == like->mask_elem &&
           d->parent[0] == like->parent[0] && d->parent[1] == like->parent[1] &&
           d->parent[2] == like->parent[2];
}

static gn_derived *find_shared(const gn_instance *in, const gn_derived *like, gn_elem index)
{
    for (; in; in = in->beside)
        for (int k = 0; k < in->artifact->n_graphs; k++) {
            gn_derived *d = in->derived[k];
            bool picks = like->how == GN_SUBSET || like->how == GN_INDEX;
            if (same_origin(d, like) && (!picks || d->graph->index == index)) return d;
        }
    return NULL;
}

static void release(gn_derived *d)
{
    if (!d || atomic_fetch_sub(&d->users, 1) != 1) return;
    gn_graph_free(d->graph);
    gn_block_free(d->list);
    gn_block_free(d);
}

static gn_status *find_mask(const gn_instance *in, const char *name, int n,
                            const gn_binding *tensors, const gn_binding **out)
{
    GN_TRY(gn_bind_find(in, name, n, tensors, out));
    const gn_binding *b = *out;
    if (b->elem != GN_BOOL || b->row_elems != 1 || (!b->data && b->rows))
        GN_FAIL(GN_ERR_DATA, "%s: '%s' is no mask: one bool a row is needed", in->artifact->name,
                name);
    return NULL;
}

/* Rows, or edges, are groups of their own: of `of` rows, or edges, that have times. */
static gn_status *set_apart(gn_instance *in, const gn_graph_slot *slot, gn_derived *d, int64_t of,
                            int n, const gn_binding *tensors)
{
    gn_times time = {0};
    if (slot->end == GN_TOGETHER) return NULL;
    if (slot->time >= 0) {
        GN_TRY(gn_bind_column(in, slot->time, n, tensors));
        const gn_column_data *c = &in->column[slot->time];
        if (c->n != of)
            GN_FAIL(GN_ERR_DATA, "%s: %lld times, of %lld rows", in->artifact->name,
                    (long long)c->n, (long long)of);
        time = (gn_times){c->data, c->elem};
    }
    return gn_graph_set_apart(d->graph, slot->how == GN_FILTER, time, slot->end == GN_APART_BEFORE);
}

/* What the indices of a pick must be: compiled code reads those of all graphs alike. */
static gn_elem index_of(const gn_artifact *a)
{
    for (int k = 0; k < a->n_slots; k++)
        if (a->slots[k].kind == GN_SLOT_GRAPH && a->slots[k].elem == GN_I64 &&
            a->slots[k].array < GN_GRAPH_CELL)
            return GN_I64;
    return GN_I32;
}

static gn_status *filtered(gn_instance *in, const gn_graph_slot *slot, gn_derived *d, int n,
                           const gn_binding *tensors)
{
    GN_TRY(gn_bind_column(in, slot->column, n, tensors));
    const gn_column_data *mask = &in->column[slot->column];
    if (mask->n != d->parent[0]->n_edge)
        GN_FAIL(GN_ERR_DATA, "%s: a mask of %lld edges, of a graph of %lld", in->artifact->name,
                (long long)mask->n, (long long)d->parent[0]->n_edge);
    return d->set ? gn_graph_filter_of(d->parent[0], d->n_set, d->set, &d->graph)
                  : gn_graph_filter(d->parent[0], mask->data, &d->graph);
}

static gn_status *indexed(gn_instance *in, const gn_graph_slot *slot, gn_derived *d, int n,
                          const gn_binding *tensors)
{
    GN_TRY(gn_bind_column(in, slot->column, n, tensors));
    const gn_column_data *c = &in->column[slot->column];
    const char *name = in->artifact->columns[slot->column].name;
    gn_status *s = gn_graph_index(index_of(in->artifact), d->rows, c->n, c->elem, c->data,
                                  d->parent[1], &d->graph);
    return s && name ? gn_status_annotate(s, "%s: input '%s'", in->artifact->name, name) : s;
}

static gn_status *grouped(gn_instance *in, const gn_graph_slot *slot, gn_derived *d, int n,
                          const gn_binding *tensors)
{
    const gn_graph *g = d->parent[0];
    if (slot->end == GN_GROUPED_ROWS) return gn_graph_group_rows(g, d->parent[1], &d->graph);
    GN_TRY(gn_bind_column(in, slot->column, n, tensors));
    const gn_column_data *c = &in->column[slot->column];
    const gn_edge_numbers k = {c->n, c->elem, c->data};
    return slot->end == GN_GROUPED ? gn_graph_group(g, k, &d->graph)
                                   : gn_graph_group_numbers(g, k, d->rows, &d->graph);
}

static gn_status *drawn(const gn_graph_slot *slot, gn_derived *d)
{
    const gn_corruption c = {
        .key = d->key, .times = slot->times, .end = slot->end, .site = slot->site};
    if (slot->how == GN_CORRUPT) return gn_graph_corrupt(d->parent[0], &c, &d->graph);
    if (!d->list && !d->parent[0]->changes) GN_TRY(gn_graph_list(d->parent[0], &d->list));
    return gn_graph_sample(d->parent[0], d->key, slot->times, slot->site, d->list, &d->graph);
}

/* Where weights and times of edges are: those of the graph that is bound, from this one on; times
 * may be of the rows that edges come from. */
static gn_status *find_numbers(gn_instance *in, const gn_graph_slot *slot, gn_drawing *how, int n,
                               const gn_binding *tensors)
{
    const gn_graph_slot *graphs = in->artifact->graphs;
    const int column[2] = {slot->column, slot->time};
    int k = slot->parent;
    for (; !graphs[k].name && how->n_way < GN_DRAW_WAY; k = graphs[k].parent)
        how->way[how->n_way++] = in->graph[k];
    for (int j = 0; j < 2; j++) {
        if (column[j] < 0) continue;
        GN_TRY(gn_bind_column(in, column[j], n, tensors));
        const gn_column_data *c = &in->column[column[j]];
        bool of_edges = graphs[k].name && c->n == in->graph[k]->n_edge;
        bool of_rows = j && slot->time_of_rows && c->n == in->graph[slot->parent]->n_src;
        if (j && slot->time_of_rows ? !of_rows : !of_edges)
            GN_FAIL(GN_ERR_DATA, "%s: %lld %s, of a graph of %lld edges", in->artifact->name,
                    (long long)c->n, j ? "times" : "weights", (long long)in->graph[k]->n_edge);
        if (j) how->time = (gn_times){c->data, c->elem};
        if (!j) how->weight = c->data;
    }
    how->time_of_rows = slot->time_of_rows;
    return NULL;
}

/* Does it matter where edges stand in the user's list: to a launch, a result, or a graph that is
 * made of some of them? */
static bool asks_for_places(const gn_artifact *a)
{
    for (int k = 0; k < a->n_slots; k++) {
        const gn_slot *s = &a->slots[k];
        if (s->kind == GN_SLOT_GRAPH && s->array == GN_GRAPH_POS && s->first >= 0) return true;
        if (s->kind == GN_SLOT_OUTPUT && s->edge_graph >= 0) return true;
    }
    for (int k = 0; k < a->n_graphs; k++) {
        gn_graph_derive how = a->graphs[k].how;
        bool derived = !a->graphs[k].name && !a->graphs[k].pattern_of;
        if (derived && (how == GN_FILTER || how == GN_INDEX || how >= GN_GROUP)) return true;
        if (a->graphs[k].arrays & GN_ARRAY(GN_GRAPH_POS)) return true;
    }
    return a->n_columns > 0;
}

static gn_status *drawn_once(gn_instance *in, const gn_graph_slot *slot, gn_derived *d, int n,
                             const gn_binding *tensors)
{
    gn_drawing how = {.key = d->key,
                      .most = slot->times,
                      .site = slot->site,
                      .loops = (gn_draw_loops)(slot->end & 3),
                      .how = (gn_draw_how)(slot->end >> 2),
                      .unplaced = !asks_for_places(in->artifact)};
    if (slot->column >= 0 || slot->time >= 0) GN_TRY(find_numbers(in, slot, &how, n, tensors));
    return gn_graph_draw(d->parent[0], d->parent[1], &how, &d->graph);
}

/* A pick that is filled up, whose rows are out of order? */
static bool is_filled(const gn_graph *r) { return r && r->picks && r->array[GN_GRAPH_FROM]; }

/* Row pointers of graphs that list few rows, for what goes by all of them. */
static gn_status *require_rows(const gn_derived *d)
{
    bool lists = d->how == GN_GROW || d->how == GN_RESTRICT || d->how == GN_WITHOUT;
    lists = lists && !is_filled(d->parent[1]) && !is_filled(d->parent[2]);
    for (int k = lists; k < 3; k++)
        if (d->parent[k] && d->parent[k]->listed)
            GN_TRY(
                gn_graph_require((gn_graph *)(uintptr_t)d->parent[k], GN_ARRAY(GN_GRAPH_ROW_PTR)));
    return NULL;
}

gn_status *gn_bind_make_derived(gn_instance *in, int number, gn_derived *d, int n,
                                const gn_binding *tensors)
{
    const gn_graph_slot *slot = &in->artifact->graphs[number];
    gn_status *s;
    GN_TRY(require_rows(d));
    switch (d->how) {
    case GN_SUBSET:
        s = d->set
                ? gn_graph_subset_of(d->n_mask, d->n_set, d->set, index_of(in->artifact), &d->graph)
                : gn_graph_subset(d->n_mask, d->mask, index_of(in->artifact), &d->graph);
        if (!s) s = set_apart(in, slot, d, d->n_mask, n, tensors);
        break;
    case GN_GROW:
        s = gn_graph_grow(d->parent[0], slot->end, d->parent[1], d->parent[2], &d->graph);
        break;
    case GN_RESTRICT:
        s = gn_graph_restrict(d->parent[0], d->parent[1], d->parent[2], &d->graph);
        break;
    case GN_ENDS:
        s = gn_graph_ends(d->parent[0], slot->end, slot->times, d->parent[1], &d->graph);
        break;
    case GN_DRAW: s = drawn_once(in, slot, d, n, tensors); break;
    case GN_WITHOUT: s = gn_graph_without(d->parent[0], d->parent[1], slot->end, &d->graph); break;
    case GN_FILTER:
        s = filtered(in, slot, d, n, tensors);
        if (!s) s = set_apart(in, slot, d, d->parent[0]->n_edge, n, tensors);
        break;
    case GN_INDEX: s = indexed(in, slot, d, n, tensors); break;
    case GN_GROUP: s = grouped(in, slot, d, n, tensors); break;
    case GN_SAMPLE:
    case GN_CORRUPT: s = drawn(slot, d); break;
    default: s = gn_graph_derived(d->parent[0], d->how, &d->graph); break;
    }
    if (!s && slot->drawn) d->graph->changes = true;
    bool by_edge = d->how == GN_REVERSE || d->how == GN_FILTER || gn_is_drawn(d->how);
    const gn_groups *groups = d->parent[0] ? d->parent[0]->groups : NULL;
    if (!s && by_edge && groups && groups->of_edges && !d->graph->groups)
        s = gn_graph_keep_groups(d->parent[0], d->graph);
    return s;
}

/* Where seed and step are. */
static gn_status *find_key_data(const gn_instance *in, const gn_graph_slot *slot, int n,
                                const gn_binding *tensors, gn_derived *d)
{
    const int64_t *data[2];
    for (int j = 0; j < 2; j++) {
        const gn_binding *b;
        GN_TRY(gn_bind_find(in, slot->key_of[j], n, tensors, &b));
        if (b->elem != GN_I64 || b->rows != 1 || b->row_elems != 1 || !b->data)
            GN_FAIL(GN_ERR_DATA, "%s: '%s' is no key of draws: one i64 is needed",
                    in->artifact->name, slot->key_of[j]);
        d->key_at[j] = b->then ? b->then : b->data;
        data[j] = b->data;
    }
    gn_status *s = gn_find_key(in, d);
    for (int j = 0; j < 2; j++) d->key_at[j] = data[j];
    return s;
}

/* What a graph is to be made of; *shared: another that was may stand for it. */
static gn_status *find_origin(const gn_instance *in, const gn_graph_slot *slot, int n,
                              const gn_binding *tensors, gn_derived *d, bool *shared)
{
    const gn_binding *b;
    bool grouped = slot->how == GN_GROUP;
    bool of_column = slot->how == GN_FILTER || slot->how == GN_INDEX ||
                     (grouped && slot->end != GN_GROUPED_ROWS);
    *shared = !slot->drawn && !slot->once;
    *d = (gn_derived){.how = slot->how, .end = slot->end, .n_mask = -1};
    if (slot->how != GN_SUBSET && slot->how != GN_INDEX) d->parent[0] = in->graph[slot->parent];
    for (int k = 0; slot->how >= GN_GROW && k < 2; k++)
        if (slot->with[k] >= 0) d->parent[k + 1] = in->graph[slot->with[k]];
    if (gn_is_drawn(slot->how) || slot->how == GN_DRAW)
        GN_TRY(find_key_data(in, slot, n, tensors, d));
    if (slot->how == GN_SAMPLE)
        GN_TRY(gn_graph_require(in->graph[slot->parent], GN_ARRAY(GN_GRAPH_ROW)));
    if (slot->how == GN_INDEX) GN_TRY(gn_bind_row_count(in, &slot->rows, n, tensors, &d->rows));
    if (grouped) d->rows = slot->rows.rows;
    if (!of_column && slot->how != GN_SUBSET) return NULL;
    const gn_data_column *c = of_column ? &in->artifact->columns[slot->column] : NULL;
    *shared = !c || c->kind == GN_COLUMN_INPUT;
    if (!*shared) return NULL;
    GN_TRY(c ? gn_bind_find(in, c->name, n, tensors, &b)
             : find_mask(in, slot->mask_of, n, tensors, &b));
    d->mask = b->data;
    d->n_mask = b->rows;
    d->set = slot->how == GN_INDEX || grouped ? NULL : b->set;
    d->n_set = b->n_set;
    d->mask_elem = b->elem;
    return NULL;
}

static gn_status *derive(gn_instance *in, int number, int n, const gn_binding *tensors,
                         const gn_instance *like)
{
    const gn_graph_slot *slot = &in->artifact->graphs[number];
    gn_derived want, *d = NULL;
    bool shared;
    GN_TRY(find_origin(in, slot, n, tensors, &want, &shared));
    gn_elem index = index_of(in->artifact);
    if (shared) d = find_shared(in, &want, index);
    if (!d && shared) d = find_shared(like, &want, index);
    /* data that it was made of may be others by now, graphs are those that they were */
    bool of_data = want.how == GN_SUBSET || want.how == GN_FILTER || want.how == GN_INDEX ||
                   want.how == GN_GROUP;
    if (!d && shared && !of_data) d = find_shared(in->before, &want, index);
    if (d) {
        atomic_fetch_add(&d->users, 1);
    } else {
        void *block;
        GN_TRY(gn_block_zeroed(1, sizeof *d, "derived graph", &block));
        d = block;
        *d = want;
        atomic_init(&d->users, 1);
        gn_status *s = gn_bind_make_derived(in, number, d, n, tensors);
        if (s) {
            gn_block_free(d->list);
            gn_block_free(d);
            return s;
        }
    }
    in->derived[number] = d;
    in->graph[number] = d->graph;
    return NULL;
}

static gn_status *check_sizes(const gn_instance *in)
{
    static const char *const what[] = {"sources", "destinations", "edges"};
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_checks; k++) {
        const gn_size_check *c = &a->checks[k];
        const gn_graph_slot *slot = &a->graphs[c->graph];
        int64_t want = 0, have = gn_graph_size(in->graph[c->graph], c->end);
        if (gn_term_value(c->want, in->sym, &want) && want == have) continue;
        const char *name = slot->pattern_of ? slot->pattern_of
                           : slot->name     ? slot->name
                                            : "(derived)";
        GN_FAIL(GN_ERR_DATA, "%s: graph '%s' has %lld %s, expected %lld", a->name, name,
                (long long)have, what[c->end], (long long)want);
    }
    return NULL;
}

/* Symbols in order: a quotient comes after what it divides. */
static gn_status *find_symbols(gn_instance *in, int n, const gn_binding *tensors)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_syms; k++) {
        const gn_sym *s = &a->syms[k];
        if (s->kind == GN_SYM_CONST || s->kind == GN_SYM_ELEMENTS) {
            in->sym[k] = s->value;
        } else if (s->kind == GN_SYM_CEIL) {
            in->sym[k] = in->sym[s->of] / s->value + (in->sym[s->of] % s->value != 0);
        } else if (s->kind == GN_SYM_ROWS) {
            const gn_binding *b;
            GN_TRY(gn_bind_find(in, a->slots[s->of].name, n, tensors, &b));
            in->sym[k] = b->rows;
        } else if (s->kind == GN_SYM_PARTS) {
            in->sym[k] = gn_graph_part_groups(in->graph[s->graph], s->array, s->value);
        } else {
            in->sym[k] = gn_graph_size(in->graph[s->graph], s->kind);
        }
    }
    return NULL;
}

/* Arrays of graph number k that the launch is balanced by. */
static gn_graph_arrays balanced_by(const gn_launch *l, int k)
{
    gn_graph_arrays arrays = 0;
    for (int b = 0; b < l->n_balance; b++)
        if (l->balance[b].graph == k) arrays |= GN_ARRAY(l->balance[b].array);
    return arrays;
}

gn_status *gn_bind_graphs(gn_instance *in, int n, const gn_graph_binding *graphs, int n_tensors,
                          const gn_binding *tensors, const gn_instance *like)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_graphs; k++) {
        bool bound = a->graphs[k].name || a->graphs[k].pattern_of;
        GN_TRY(bound ? find_graph(in, k, n, graphs, &in->graph[k])
                     : derive(in, k, n_tensors, tensors, like));
        gn_graph_arrays arrays = a->graphs[k].arrays;
        for (int s = 0; s < a->n_syms; s++)
            if (a->syms[s].kind == GN_SYM_PARTS && a->syms[s].graph == k)
                arrays |= GN_ARRAY(a->syms[s].array);
        for (int s = 0; s < a->n_slots; s++)
            if (gn_slot_reads_graph(&a->slots[s], k)) arrays |= GN_ARRAY(a->slots[s].array);
        for (int l = 0; l < a->n_launches; l++)
            if (a->launches[l].parallel) arrays |= balanced_by(&a->launches[l], k);
        gn_status *s = gn_graph_require(in->graph[k], arrays);
        if (s) return gn_status_annotate(s, "%s: graph %d", a->name, k);
    }
    for (int k = 0; k < a->n_graphs; k++) in->draws = in->draws || a->graphs[k].drawn;
    if (!in->draws) gn_bind_release_columns(in);
    GN_TRY(find_symbols(in, n_tensors, tensors));
    return check_sizes(in);
}

/* Arrays of graph number k that launches read, and those that tell which edge a row of a result is
 * of. */
static gn_graph_arrays arrays_read(const gn_artifact *a, int k)
{
    gn_graph_arrays arrays = 0;
    for (int g = 0; g < a->n_graphs; g++) /* drawn anew of these */
        if (a->graphs[g].drawn)
            arrays |= GN_ARRAY(GN_GRAPH_ROW_PTR) | GN_ARRAY(GN_GRAPH_COL) | GN_ARRAY(GN_GRAPH_POS) |
                      GN_ARRAY(GN_GRAPH_FROM) | GN_ARRAY(GN_GRAPH_ROW);
    for (int s = 0; s < a->n_slots; s++) {
        const gn_slot *slot = &a->slots[s];
        if (gn_slot_reads_graph(slot, k)) arrays |= GN_ARRAY(slot->array);
        if (slot->kind == GN_SLOT_OUTPUT && slot->edge_graph == k)
            arrays |= GN_ARRAY(GN_GRAPH_ROW_PTR) | GN_ARRAY(GN_GRAPH_COL) | GN_ARRAY(GN_GRAPH_POS);
    }
    return arrays;
}

/* The same of a graph that several instances have. */
static gn_graph_arrays arrays_all_read(int n, gn_instance *const *in, const gn_graph *g)
{
    gn_graph_arrays arrays = 0;
    for (int j = 0; j < n; j++)
        for (int m = 0; in[j] && m < in[j]->artifact->n_graphs; m++)
            if (in[j]->graph[m] == g) arrays |= arrays_read(in[j]->artifact, m);
    return arrays;
}

void gn_instances_trim_graphs(int n, gn_instance *const *in)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; in[i] && k < in[i]->artifact->n_graphs; k++)
            gn_graph_trim(in[i]->graph[k], arrays_all_read(n, in, in[i]->graph[k]));
}

/* Has an instance before number i, or i itself before its graph k, this one? */
static bool met(gn_instance *const *in, int i, int k)
{
    for (int j = 0; j <= i; j++)
        for (int m = 0; in[j] && m < (j < i ? in[j]->artifact->n_graphs : k); m++)
            if (in[j]->graph[m] == in[i]->graph[k]) return true;
    return false;
}

int64_t gn_instances_trim_saves(int n, gn_instance *const *in)
{
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; in[i] && k < in[i]->artifact->n_graphs; k++) {
            const gn_graph *g = in[i]->graph[k];
            if (met(in, i, k)) continue;
            bytes += gn_graph_bytes(g) - gn_graph_trimmed_bytes(g, arrays_all_read(n, in, g));
        }
    return bytes;
}

void gn_bind_release_graphs(gn_instance *in)
{
    for (int k = 0; k < in->artifact->n_graphs; k++) release(in->derived[k]);
    gn_bind_release_columns(in);
}
