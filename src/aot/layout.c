/* Structures are copied field by field into zeroed ones, so that no byte of padding is left to
 * chance; addresses are zero, and a fixup says what belongs there. */
#include "aot/layout.h"

#include <string.h>

/* A structure of another size has a field that is not laid out here. */
#define SIZE(T, n) _Static_assert(sizeof(T) == (n), "lay out what is new in " #T)
SIZE(gn_term, 16);
SIZE(gn_sym, 32);
SIZE(gn_slot, 80);
SIZE(gn_launch, 176); /* without products, which are a device's */
SIZE(gn_counted_rows, 24);
SIZE(gn_data_column, 72);
SIZE(gn_graph_slot, 128);
SIZE(gn_size_check, 24);
SIZE(gn_artifact, 136);
SIZE(gn_aot_space, 16);
SIZE(gn_aot_relation, 24);
SIZE(gn_aot_tensor, 32);
SIZE(gn_aot_weight, 176);
SIZE(gn_aot_state, 32);
SIZE(gn_aot_image, 152);

static uint64_t put(aot_layout *l, const void *p, uint64_t n, size_t align)
{
    static const char zeros[AOT_LAYOUT_ALIGN];
    size_t at = (l->bytes.n + align - 1) / align * align;
    gn_buf_addn(&l->bytes, zeros, at - l->bytes.n);
    if (n) gn_buf_addn(&l->bytes, p, n);
    return at;
}

static void point(aot_layout *l, uint64_t at, uint64_t to)
{
    aot_fixup f = {.at = at, .to = to, .symbol = -1};
    GN_PUSH(l->arena, l->fixups, f);
}

static void point_to_string(aot_layout *l, uint64_t at, const char *s)
{
    if (!s) return;
    const uint32_t *found = gn_map_find(&l->strings, s);
    if (!found) {
        uint64_t place = put(l, s, strlen(s) + 1, 1);
        found = gn_map_put(&l->strings, s, l->places.n);
        GN_PUSH(l->arena, l->places, place);
    }
    point(l, at, l->places.p[*found]);
}

/* Room for n structures of a type, all zero. */
static uint64_t reserve(aot_layout *l, int64_t n, size_t size)
{
    return put(l, gn_arena_alloc(l->arena, (size_t)n + 1, size), (uint64_t)n * size, 8);
}

/* Writes a structure into its room. */
#define STORE(l, at, s) memcpy((l)->bytes.p + (at), &(s), sizeof(s))
#define ZERO(s) memset(&(s), 0, sizeof(s))

static gn_term term(gn_term t)
{
    gn_term out;
    ZERO(out);
    out.coef = t.coef;
    out.sym = t.sym;
    out.plus = t.plus;
    return out;
}

static uint64_t lay_syms(aot_layout *l, const gn_artifact *a)
{
    uint64_t room = reserve(l, a->n_syms, sizeof(gn_sym));
    for (int k = 0; k < a->n_syms; k++) {
        const gn_sym *s = &a->syms[k];
        uint64_t at = room + (uint64_t)k * sizeof *s;
        gn_sym to;
        ZERO(to);
        to.kind = s->kind;
        to.graph = s->graph;
        to.value = s->value;
        to.of = s->of;
        to.array = s->array;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_sym, name), s->name);
    }
    return room;
}

static uint64_t lay_slots(aot_layout *l, const gn_artifact *a)
{
    uint64_t room = reserve(l, a->n_slots, sizeof(gn_slot));
    for (int k = 0; k < a->n_slots; k++) {
        const gn_slot *s = &a->slots[k];
        uint64_t at = room + (uint64_t)k * sizeof *s;
        gn_slot to;
        ZERO(to);
        to.kind = s->kind;
        to.elem = s->elem;
        to.elems = term(s->elems);
        to.row_elems = s->row_elems;
        to.graph = s->graph;
        to.array = s->array;
        to.alias = s->alias;
        to.first = s->first;
        to.last = s->last;
        to.edge_graph = s->edge_graph;
        to.passed_on = s->passed_on;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_slot, name), s->name);
    }
    return room;
}

static uint64_t lay_launches(aot_layout *l, const gn_artifact *a)
{
    uint64_t room = reserve(l, a->n_launches, sizeof(gn_launch));
    for (int k = 0; k < a->n_launches; k++) {
        const gn_launch *s = &a->launches[k];
        uint64_t at = room + (uint64_t)k * sizeof *s;
        gn_launch to;
        ZERO(to);
        to.kind = s->kind;
        to.kernel = s->kernel;
        to.n_buf = s->n_buf;
        to.n_sym = s->n_sym;
        to.trip = term(s->trip);
        to.step = s->step;
        to.parallel = s->parallel;
        to.n_balance = s->n_balance;
        for (int b = 0; b < GN_MOST_BALANCE; b++) {
            to.balance[b].graph = s->balance[b].graph;
            to.balance[b].array = s->balance[b].array;
        }
        to.chain = s->chain;
        to.chain_row = s->chain_row;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_launch, name), s->name);
        point(l, at + offsetof(gn_launch, buf),
              put(l, s->buf, (uint64_t)s->n_buf * sizeof(int), 4));
        point(l, at + offsetof(gn_launch, sym),
              put(l, s->sym, (uint64_t)s->n_sym * sizeof(int), 4));
        if (s->access)
            point(l, at + offsetof(gn_launch, access), put(l, s->access, (uint64_t)s->n_buf, 1));
    }
    return room;
}

static gn_counted_rows row_count(gn_counted_rows r)
{
    gn_counted_rows out;
    ZERO(out);
    out.graph = r.graph;
    out.end = r.end;
    out.rows = r.rows;
    return out;
}

static uint64_t lay_columns(aot_layout *l, const gn_artifact *a)
{
    uint64_t room = reserve(l, a->n_columns, sizeof(gn_data_column));
    for (int k = 0; k < a->n_columns; k++) {
        const gn_data_column *s = &a->columns[k];
        uint64_t at = room + (uint64_t)k * sizeof *s;
        gn_data_column to;
        ZERO(to);
        to.kind = s->kind;
        to.elem = s->elem;
        to.of[0] = s->of[0];
        to.of[1] = s->of[1];
        to.graph = s->graph;
        to.end = s->end;
        to.graphs = s->graphs;
        to.drawn = s->drawn;
        to.value = s->value;
        to.rows = row_count(s->rows);
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_data_column, name), s->name);
        point_to_string(l, at + offsetof(gn_data_column, rows.input), s->rows.input);
    }
    return room;
}

static uint64_t lay_graphs(aot_layout *l, const gn_artifact *a)
{
    uint64_t room = reserve(l, a->n_graphs, sizeof(gn_graph_slot));
    for (int k = 0; k < a->n_graphs; k++) {
        const gn_graph_slot *s = &a->graphs[k];
        uint64_t at = room + (uint64_t)k * sizeof *s;
        gn_graph_slot to;
        ZERO(to);
        to.parent = s->parent;
        to.how = s->how;
        to.with[0] = s->with[0];
        to.with[1] = s->with[1];
        to.drawn = s->drawn;
        to.once = s->once;
        to.column = s->column;
        to.time = s->time;
        to.time_of_rows = s->time_of_rows;
        to.end = s->end;
        to.times = s->times;
        to.site = s->site;
        to.rows = row_count(s->rows);
        to.arrays = s->arrays;
        STORE(l, at, to);
        for (int j = 0; j < 2; j++)
            point_to_string(l, at + offsetof(gn_graph_slot, key_of) + (uint64_t)j * sizeof(char *),
                            s->key_of[j]);
        point_to_string(l, at + offsetof(gn_graph_slot, rows.input), s->rows.input);
        point_to_string(l, at + offsetof(gn_graph_slot, name), s->name);
        point_to_string(l, at + offsetof(gn_graph_slot, mask_of), s->mask_of);
        point_to_string(l, at + offsetof(gn_graph_slot, pattern_of), s->pattern_of);
    }
    return room;
}

static uint64_t lay_checks(aot_layout *l, const gn_artifact *a)
{
    uint64_t room = reserve(l, a->n_checks, sizeof(gn_size_check));
    for (int k = 0; k < a->n_checks; k++) {
        gn_size_check to;
        ZERO(to);
        to.graph = a->checks[k].graph;
        to.end = a->checks[k].end;
        to.want = term(a->checks[k].want);
        STORE(l, room + (uint64_t)k * sizeof to, to);
    }
    return room;
}

static uint64_t lay_artifact(aot_layout *l, const gn_artifact *a, const int *code)
{
    gn_artifact to;
    ZERO(to);
    to.n_syms = a->n_syms;
    to.n_slots = a->n_slots;
    to.n_launches = a->n_launches;
    to.n_graphs = a->n_graphs;
    to.n_checks = a->n_checks;
    to.n_code = a->n_code;
    to.n_columns = a->n_columns;
    to.chain_bytes = a->chain_bytes;
    to.most_bytes = a->most_bytes;
    uint64_t at = put(l, &to, sizeof to, 8);
    point_to_string(l, at + offsetof(gn_artifact, name), a->name);
    point(l, at + offsetof(gn_artifact, syms), lay_syms(l, a));
    point(l, at + offsetof(gn_artifact, slots), lay_slots(l, a));
    point(l, at + offsetof(gn_artifact, launches), lay_launches(l, a));
    point(l, at + offsetof(gn_artifact, graphs), lay_graphs(l, a));
    point(l, at + offsetof(gn_artifact, checks), lay_checks(l, a));
    point(l, at + offsetof(gn_artifact, columns), lay_columns(l, a));
    uint64_t table = reserve(l, a->n_code, sizeof(gn_kernel_fn));
    point(l, at + offsetof(gn_artifact, code), table);
    for (int k = 0; k < a->n_code; k++) {
        aot_fixup f = {.at = table + (uint64_t)k * sizeof(gn_kernel_fn), .symbol = code[k]};
        GN_PUSH(l->arena, l->fixups, f);
    }
    return at;
}

static uint64_t lay_spaces(aot_layout *l, const gn_aot_image *g)
{
    uint64_t room = reserve(l, g->n_spaces, sizeof(gn_aot_space));
    for (int k = 0; k < g->n_spaces; k++) {
        uint64_t at = room + (uint64_t)k * sizeof(gn_aot_space);
        gn_aot_space to;
        ZERO(to);
        to.rows = g->spaces[k].rows;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_aot_space, name), g->spaces[k].name);
    }
    return room;
}

static uint64_t lay_relations(aot_layout *l, const gn_aot_image *g)
{
    uint64_t room = reserve(l, g->n_relations, sizeof(gn_aot_relation));
    for (int k = 0; k < g->n_relations; k++) {
        const gn_aot_relation *r = &g->relations[k];
        uint64_t at = room + (uint64_t)k * sizeof *r;
        gn_aot_relation to;
        ZERO(to);
        to.src = r->src;
        to.dst = r->dst;
        to.read = r->read;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_aot_relation, name), r->name);
    }
    return room;
}

static uint64_t lay_tensors(aot_layout *l, int n, const gn_aot_tensor *from)
{
    uint64_t room = reserve(l, n, sizeof *from);
    for (int k = 0; k < n; k++) {
        uint64_t at = room + (uint64_t)k * sizeof *from;
        gn_aot_tensor to;
        ZERO(to);
        to.elem = from[k].elem;
        to.rows = from[k].rows;
        to.over = from[k].over;
        to.row_elems = from[k].row_elems;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_aot_tensor, name), from[k].name);
    }
    return room;
}

static uint64_t lay_weights(aot_layout *l, const gn_aot_image *g)
{
    uint64_t room = reserve(l, g->n_weights, sizeof(gn_aot_weight));
    for (int k = 0; k < g->n_weights; k++) {
        const gn_aot_weight *w = &g->weights[k];
        uint64_t at = room + (uint64_t)k * sizeof *w;
        gn_aot_weight to;
        ZERO(to);
        to.rank = w->rank;
        memcpy(to.dim, w->dim, sizeof to.dim);
        to.elems = w->elems;
        to.turned = w->turned;
        to.init.kind = w->init.kind;
        to.init.a = w->init.a;
        to.init.b = w->init.b;
        to.init.low = w->init.low;
        to.init.high = w->init.high;
        to.init.rows = w->init.rows;
        to.init.turned = w->init.turned;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_aot_weight, name), w->name);
        point_to_string(l, at + offsetof(gn_aot_weight, state), w->state);
        uint64_t bytes = (uint64_t)w->elems * sizeof(float);
        if (w->data)
            point(l, at + offsetof(gn_aot_weight, data), put(l, w->data, bytes, AOT_LAYOUT_ALIGN));
        if (w->init.list)
            point(l, at + offsetof(gn_aot_weight, init.list),
                  put(l, w->init.list, bytes, AOT_LAYOUT_ALIGN));
    }
    return room;
}

static uint64_t lay_states(aot_layout *l, const gn_aot_image *g)
{
    uint64_t room = reserve(l, g->n_states, sizeof(gn_aot_state));
    for (int k = 0; k < g->n_states; k++) {
        uint64_t at = room + (uint64_t)k * sizeof(gn_aot_state);
        gn_aot_state to;
        ZERO(to);
        to.elem = g->states[k].elem;
        to.rows = g->states[k].rows;
        to.row_elems = g->states[k].row_elems;
        STORE(l, at, to);
        point_to_string(l, at + offsetof(gn_aot_state, name), g->states[k].name);
    }
    return room;
}

void aot_lay_out(aot_layout *l, gn_arena *a, const gn_aot_image *g, int *const code[4],
                 uint64_t *at, uint64_t *needs)
{
    gn_aot_image to;
    *l = (aot_layout){.arena = a, .bytes = {.arena = a}};
    gn_map_init(&l->strings, a);
    ZERO(to);
    to.identity = g->identity;
    to.needs = g->needs;
    to.index = g->index;
    to.sparse_x = g->sparse_x;
    memcpy(to.one_region, g->one_region, sizeof to.one_region);
    to.n_spaces = g->n_spaces;
    to.n_relations = g->n_relations;
    to.n_inputs = g->n_inputs;
    to.n_outputs = g->n_outputs;
    to.n_weights = g->n_weights;
    to.n_states = g->n_states;
    to.n_classes = g->n_classes;
    *at = put(l, &to, sizeof to, 8);
    *needs = *at + offsetof(gn_aot_image, needs);
    point_to_string(l, *at + offsetof(gn_aot_image, model), g->model);
    point_to_string(l, *at + offsetof(gn_aot_image, cpu), g->cpu);
    point(l, *at + offsetof(gn_aot_image, spaces), lay_spaces(l, g));
    point(l, *at + offsetof(gn_aot_image, relations), lay_relations(l, g));
    point(l, *at + offsetof(gn_aot_image, inputs), lay_tensors(l, g->n_inputs, g->inputs));
    point(l, *at + offsetof(gn_aot_image, outputs), lay_tensors(l, g->n_outputs, g->outputs));
    point(l, *at + offsetof(gn_aot_image, weights), lay_weights(l, g));
    point(l, *at + offsetof(gn_aot_image, states), lay_states(l, g));
    const gn_artifact *programs[4] = {g->eval, g->eval_ahead, g->step, g->step_ahead};
    const uint64_t fields[4] = {offsetof(gn_aot_image, eval), offsetof(gn_aot_image, eval_ahead),
                                offsetof(gn_aot_image, step), offsetof(gn_aot_image, step_ahead)};
    for (int k = 0; k < 4; k++)
        if (programs[k]) point(l, *at + fields[k], lay_artifact(l, programs[k], code[k]));
}
