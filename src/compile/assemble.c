/* assemble: what the lowering left in terms of values becomes slots, symbols and graphs by
 * number. */
#include "compile/compile.h"
#include "ir/eval.h"

#include <string.h>

typedef struct assembler {
    gn_arena *arena;
    const lowered *low;
    const gir_program *p;
    bool balance;
    gn_artifact *out;
    int *graph_of;  /* by value: number of the graph, -1 */
    int *sym_of;    /* by low_sym: number of the symbol, -1 */
    int *column_of; /* by value: number of the column, -1 */
    GN_VEC(gn_graph_slot) graphs;
    GN_VEC(gn_data_column) columns;
    GN_VEC(gn_sym) syms;
    GN_VEC(gn_size_check) checks;
    gir_space_id uncounted; /* whose rows nothing tells; 0: there is none */
} assembler;

static int graph_number(assembler *z, gir_id g);
static int column_number(assembler *z, gir_id v);

/* How many rows a space has, where that must be known before there are symbols: of what is there
 * before value v, which is not asked. */
static gn_counted_rows count_rows(assembler *z, gir_space_id s, gir_id v)
{
    const gir_program *p = z->p;
    const gir_space *space = &p->spaces.p[s];
    gn_counted_rows r = {.graph = -1, .rows = space->size};
    if (space->graph) {
        r.end = space->kind == GIR_EDGE ? GN_SYM_N_EDGE : GN_SYM_N_DST;
        r.graph = graph_number(z, space->graph);
    }
    if (r.graph >= 0 || r.rows >= 0) return r;
    for (gir_id u = 1; u < p->nodes.n; u++) {
        const gir_node *n = gir_at(p, u);
        bool bound = n->op == GIR_GRAPH || n->op == GIR_PATTERN;
        if (u == v || !bound || (n->type.dst != s && n->type.src != s)) continue;
        r.end = n->type.dst == s ? GN_SYM_N_DST : GN_SYM_N_SRC;
        r.graph = graph_number(z, u);
        return r;
    }
    for (gir_id u = 1; u < p->nodes.n; u++)
        if (gir_at(p, u)->op == GIR_INPUT && gir_type_of(p, u)->space == s)
            r.input = gir_at(p, u)->attr.name;
    if (!r.input) z->uncounted = s;
    return r;
}

/* What an operator on columns is there, and whether its operands change places. */
static gn_data_column_kind column_kind(gir_op op, bool *turned)
{
    *turned = op == GIR_GT || op == GIR_GE || op == GIR_NLE;
    switch (op) {
    case GIR_INPUT: return GN_COLUMN_INPUT;
    case GIR_CONST: return GN_COLUMN_CONST;
    case GIR_NOT: return GN_COLUMN_NOT;
    case GIR_AND: return GN_COLUMN_AND;
    case GIR_OR: return GN_COLUMN_OR;
    case GIR_LT:
    case GIR_NLE: /* of whole numbers */
    case GIR_GT: return GN_COLUMN_LT;
    case GIR_LE:
    case GIR_GE: return GN_COLUMN_LE;
    case GIR_EQ: return GN_COLUMN_EQ;
    case GIR_NE: return GN_COLUMN_NE;
    case GIR_GATHER: return GN_COLUMN_GATHER;
    case GIR_CARRY: return GN_COLUMN_CARRY;
    default: return GN_COLUMN_CAST;
    }
}

static void column_operand(assembler *z, gn_data_column *c, int k, gir_id v)
{
    c->of[k] = column_number(z, v);
    const gn_data_column *o = &z->columns.p[c->of[k]];
    if (o->graphs > c->graphs) c->graphs = o->graphs;
    c->drawn = c->drawn || o->drawn;
}

static void column_graph(assembler *z, gn_data_column *c, gir_id g)
{
    c->graph = graph_number(z, g);
    if (c->graph >= c->graphs) c->graphs = c->graph + 1;
    c->drawn = c->drawn || z->graphs.p[c->graph].drawn;
}

static int column_number(assembler *z, gir_id v)
{
    if (z->column_of[v] >= 0) return z->column_of[v];
    const gir_node *n = gir_at(z->p, v);
    bool turned;
    gn_data_column c = {.kind = column_kind((gir_op)n->op, &turned),
                        .elem = (gn_elem)n->type.elem,
                        .of = {-1, -1},
                        .graph = -1,
                        .rows = {.graph = -1}};
    if (n->op == GIR_INPUT) c.name = n->attr.name;
    if (n->op == GIR_CONST) {
        c.value = gir_to_i64(gir_round(c.elem, n->attr.f));
        c.rows = count_rows(z, n->type.space, v);
        c.graphs = c.rows.graph + 1;
    } else if (n->op == GIR_GATHER) {
        c.end = (int)n->attr.i[0];
        column_graph(z, &c, gir_in(z->p, v, 0));
        column_operand(z, &c, 0, gir_in(z->p, v, 1));
    } else if (n->op == GIR_CARRY) {
        column_graph(z, &c, gir_in(z->p, v, 0));
        column_operand(z, &c, 0, gir_in(z->p, v, 2));
        column_operand(z, &c, 1, gir_in(z->p, v, 3));
    } else {
        for (int k = 0; k < n->n_in; k++)
            column_operand(z, &c, turned ? 1 - k : k, gir_in(z->p, v, k));
    }
    z->column_of[v] = (int)z->columns.n;
    GN_PUSH(z->arena, z->columns, c);
    return z->column_of[v];
}

static void index_slot(assembler *z, gir_id g, gn_graph_slot *s)
{
    const gir_type *t = gir_type_of(z->p, g);
    const gir_space *rows = &z->p->spaces.p[t->dst];
    s->how = GN_INDEX;
    s->column = column_number(z, gir_in(z->p, g, 0));
    s->drawn = z->columns.p[s->column].drawn;
    s->rows = count_rows(z, t->src, g);
    if (rows->kind == GIR_EDGE) s->with[0] = graph_number(z, rows->graph);
}

static void group_slot(assembler *z, gir_id g, gn_graph_slot *s)
{
    const gir_node *n = gir_at(z->p, g);
    s->how = GN_GROUP;
    s->end = (int)n->op - GIR_GROUP;
    if (s->end == GN_GROUPED_ROWS)
        s->with[0] = graph_number(z, gir_in(z->p, g, 1));
    else
        s->column = column_number(z, gir_in(z->p, g, n->n_in - 1));
    if (s->end == GN_GROUPED_NUMBERS) s->rows.rows = z->p->spaces.p[n->type.src].size;
}

static void drawn_slot(assembler *z, gir_id g, gn_graph_slot *s)
{
    const gir_node *n = gir_at(z->p, g);
    const gir_attr *attr = &n->attr;
    bool corrupt = n->op == GIR_CORRUPT, draw = n->op == GIR_DRAW;
    gir_id key = gir_in(z->p, g, 1);
    s->how = draw ? GN_DRAW : corrupt ? GN_CORRUPT : GN_SAMPLE;
    s->drawn = gir_redraws_edges(n);
    s->once = !s->drawn;
    s->times = attr->i[0];
    s->end = corrupt ? (int)attr->i[1] : draw ? (int)(attr->i[2] | attr->i[3] << 2) : 0;
    s->site = (uint32_t)attr->i[corrupt ? 2 : 1];
    if (draw) s->with[0] = graph_number(z, gir_in(z->p, g, 2));
    gir_id weight = draw ? gir_draw_weight(z->p, g) : 0, time = draw ? gir_draw_time(z->p, g) : 0;
    if (weight) s->column = column_number(z, weight);
    if (time) s->time = column_number(z, time);
    s->time_of_rows = time &&
                      gir_type_of(z->p, time)->space == gir_type_of(z->p, gir_in(z->p, g, 0))->src;
    for (int k = 0; k < 2; k++) s->key_of[k] = gir_at(z->p, gir_in(z->p, key, k))->attr.name;
}

/* Rows of a SUBSET, or edges of a FILTER, that are apart; `time`: which operand their times are. */
static void apart_slot(assembler *z, gir_id g, int time, gn_graph_slot *s)
{
    const gir_node *n = gir_at(z->p, g);
    s->end = (int)n->attr.i[0];
    if (n->n_in > time) s->time = column_number(z, gir_in(z->p, g, time));
}

static int graph_number(assembler *z, gir_id g)
{
    if (z->graph_of[g] >= 0) return z->graph_of[g];
    const gir_node *n = gir_at(z->p, g);
    gn_graph_slot s = {
        .parent = -1, .with = {-1, -1}, .column = -1, .time = -1, .rows = {.graph = -1}};
    switch ((gir_op)n->op) {
    case GIR_GRAPH: s.name = n->attr.name; break;
    case GIR_PATTERN: s.pattern_of = gir_at(z->p, gir_in(z->p, g, 0))->attr.name; break;
    case GIR_SELF_LOOPS: s.how = GN_SELF_LOOPS; break;
    case GIR_REMOVE_LOOPS: s.how = GN_REMOVE_LOOPS; break;
    case GIR_REMAINING_LOOPS: s.how = GN_REMAINING_LOOPS; break;
    case GIR_SUBSET:
        s.how = GN_SUBSET;
        s.mask_of = gir_at(z->p, gir_in(z->p, g, 0))->attr.name;
        apart_slot(z, g, 1, &s);
        break;
    case GIR_GROW:
        s.how = GN_GROW;
        s.end = (int)n->attr.i[0];
        if (n->n_in > 1) s.with[0] = graph_number(z, gir_in(z->p, g, 0));
        if (n->n_in > 2) s.with[1] = graph_number(z, gir_in(z->p, g, 2));
        break;
    case GIR_ENDS:
        s.how = GN_ENDS;
        s.end = (int)n->attr.i[0];
        s.times = gir_new_ends(z->p, g);
        if (n->n_in > 1) s.with[0] = graph_number(z, gir_in(z->p, g, 1));
        break;
    case GIR_FILTER:
        s.how = GN_FILTER;
        s.column = column_number(z, gir_in(z->p, g, 1));
        apart_slot(z, g, 2, &s);
        break;
    case GIR_WITHOUT:
        s.how = GN_WITHOUT;
        s.end = (int)n->attr.i[0];
        s.with[0] = graph_number(z, gir_in(z->p, g, 1));
        break;
    case GIR_INDEX: index_slot(z, g, &s); break;
    case GIR_GROUP:
    case GIR_GROUP_ROWS:
    case GIR_GROUP_NUMBERS: group_slot(z, g, &s); break;
    case GIR_DRAW:
    case GIR_SAMPLE:
    case GIR_CORRUPT: drawn_slot(z, g, &s); break;
    case GIR_RESTRICT:
        s.how = GN_RESTRICT;
        if (n->attr.i[0] & 1) s.with[0] = graph_number(z, gir_in(z->p, g, 1));
        if (n->attr.i[0] & 2) s.with[1] = graph_number(z, gir_in(z->p, g, n->n_in - 1));
        break;
    default: s.how = GN_REVERSE; break;
    }
    bool grown = n->op == GIR_GROW && n->n_in > 1;
    if (!s.name && !s.pattern_of && !s.mask_of && s.how != GN_INDEX)
        s.parent = graph_number(z, gir_in(z->p, g, grown));
    if (s.parent >= 0) s.drawn = s.drawn || z->graphs.p[s.parent].drawn;
    for (int k = 0; k < 2; k++) /* picks of drawn ends */
        if (s.with[k] >= 0 && s.how != GN_INDEX) s.drawn = s.drawn || z->graphs.p[s.with[k]].drawn;
    z->graph_of[g] = (int)z->graphs.n;
    GN_PUSH(z->arena, z->graphs, s);
    return z->graph_of[g];
}

/* Where the number of rows of a space comes from: an edge space's graph, a graph that has it as an
 * end, a bound tensor: data before weights. */
static gn_status *find_rows(assembler *z, gir_space_id s, gn_sym *out)
{
    const gir_program *p = z->p;
    const gir_space *space = &p->spaces.p[s];
    if (space->kind == GIR_EDGE) {
        out->kind = GN_SYM_N_EDGE;
        out->graph = graph_number(z, space->graph);
        return NULL;
    }
    if (space->size >= 0) {
        out->kind = GN_SYM_CONST;
        out->value = space->size;
        return NULL;
    }
    if (space->graph) { /* picked rows */
        out->kind = GN_SYM_N_DST;
        out->graph = graph_number(z, space->graph);
        return NULL;
    }
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_type *t = gir_type_of(p, v);
        if (!t->is_graph || (t->dst != s && t->src != s)) continue;
        out->kind = t->dst == s ? GN_SYM_N_DST : GN_SYM_N_SRC;
        out->graph = graph_number(z, v);
        return NULL;
    }
    for (int state = 0; state < 2; state++)
        for (uint32_t b = 0; b < z->low->buffers.n; b++) {
            const low_buffer *f = &z->low->buffers.p[b];
            if (f->kind != (state ? LOW_STATE : LOW_INPUT) || f->space != s) continue;
            out->kind = GN_SYM_ROWS;
            out->of = (int)b;
            return NULL;
        }
    GN_FAIL(GN_ERR_MODEL, "%s: nothing tells how many rows space '%s' has", p->name, space->name);
}

static gn_status *symbol(assembler *z, int low, int *out)
{
    if (z->sym_of[low] >= 0) {
        *out = z->sym_of[low];
        return NULL;
    }
    const low_sym *l = &z->low->syms.p[low];
    gn_sym s = {.name = l->name, .graph = -1, .of = -1};
    if (l->graph) {
        s.kind = GN_SYM_PARTS;
        s.graph = graph_number(z, l->graph);
        s.array = l->array;
        s.value = l->per;
    } else if (l->space == 0) {
        s.kind = GN_SYM_ELEMENTS;
        s.value = l->per;
    } else if (l->per == 1) {
        GN_TRY(find_rows(z, l->space, &s));
    } else {
        int base = -1;
        for (uint32_t k = 0; k < z->low->syms.n && base < 0; k++)
            if (z->low->syms.p[k].space == l->space && z->low->syms.p[k].per == 1)
                GN_TRY(symbol(z, (int)k, &base));
        if (base < 0) {
            gn_sym rows = {.name = z->p->spaces.p[l->space].name, .graph = -1, .of = -1};
            GN_TRY(find_rows(z, l->space, &rows));
            base = (int)z->syms.n;
            GN_PUSH(z->arena, z->syms, rows);
        }
        s.kind = GN_SYM_CEIL;
        s.value = l->per;
        s.of = base;
    }
    *out = z->sym_of[low] = (int)z->syms.n;
    GN_PUSH(z->arena, z->syms, s);
    return NULL;
}

static gn_status *term(assembler *z, low_size size, gn_term *out)
{
    int sym = -1;
    if (size.sym >= 0) GN_TRY(symbol(z, size.sym, &sym));
    *out = (gn_term){.coef = size.coef, .sym = sym, .plus = size.plus};
    return NULL;
}

static gn_status *make_slots(assembler *z)
{
    static const gn_slot_kind kinds[] = {GN_SLOT_TEMP, GN_SLOT_INPUT, GN_SLOT_STATE, GN_SLOT_OUTPUT,
                                         GN_SLOT_GRAPH};
    const lowered *low = z->low;
    gn_artifact *a = z->out;
    a->n_slots = (int)low->buffers.n;
    a->slots = GN_NEW_N(z->arena, gn_slot, low->buffers.n + 1);
    for (uint32_t b = 0; b < low->buffers.n; b++) {
        const low_buffer *f = &low->buffers.p[b];
        gn_slot *s = &a->slots[b];
        *s = (gn_slot){.kind = kinds[f->kind],
                       .elem = f->elem,
                       .row_elems = f->row_elems,
                       .graph = -1,
                       .alias = -1,
                       .first = -1,
                       .last = -1,
                       .edge_graph = -1,
                       .passed_on = f->passed_on};
        if (f->kind == LOW_INPUT || f->kind == LOW_STATE || f->kind == LOW_OUTPUT)
            s->name = f->name;
        GN_TRY(term(z, f->size, &s->elems));
        if (f->kind == LOW_GRAPH) {
            s->graph = graph_number(z, f->graph);
            s->array = f->array;
        } else if (s->name && f->space && fu_is_edge_space(z->p, f->space)) {
            s->edge_graph = graph_number(z, z->p->spaces.p[f->space].graph);
        }
    }
    for (uint32_t l = 0; l < low->launches.n; l++) {
        for (uint32_t k = 0; k < low->launches.p[l].buffers.n; k++) {
            gn_slot *s = &a->slots[low->launches.p[l].buffers.p[k]];
            if (s->first < 0) s->first = (int)l;
            s->last = (int)l;
        }
    }
    return NULL;
}

_Static_assert((int)KIR_READ == (int)GN_READS && (int)KIR_WRITE == (int)GN_WRITES,
               "one set of bits");

static const uint8_t *access_of(gn_arena *a, const low_launch *l)
{
    uint8_t *access = GN_NEW_N(a, uint8_t, l->buffers.n + 1);
    for (uint32_t b = 0; b < l->buffers.n; b++)
        access[b] = l->kernel ? (uint8_t)l->kernel->buffers.p[b].access
                    : b == 0  ? GN_WRITES
                              : GN_READS;
    return access;
}

static const gn_product *product_of(gn_arena *a, const gn_product *p)
{
    if (!p) return NULL;
    gn_product *out = GN_NEW(a, gn_product);
    *out = *p;
    return out;
}

static void balance(assembler *z, const low_launch *from, gn_launch *to)
{
    _Static_assert((int)FU_MOST_WALKS <= (int)GN_MOST_BALANCE, "a region's walks have room");
    to->n_balance = from->n_balance;
    for (int b = 0; b < from->n_balance; b++) {
        const fu_walk *w = &from->balance[b];
        int graph = graph_number(z, w->graph);
        to->balance[b] = (gn_balance){graph,
                                      w->end == GIR_DST ? GN_GRAPH_ROW_PTR : GN_GRAPH_COL_PTR};
    }
}

static gn_status *make_launches(assembler *z)
{
    const lowered *low = z->low;
    gn_artifact *a = z->out;
    a->n_launches = (int)low->launches.n;
    a->launches = GN_NEW_N(z->arena, gn_launch, low->launches.n + 1);
    a->code = GN_NEW_N(z->arena, gn_kernel_fn, low->launches.n + 1);
    for (uint32_t l = 0; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        gn_launch *to = &a->launches[l];
        *to = (gn_launch){.kind = f->kernel ? GN_LAUNCH_KERNEL : GN_LAUNCH_COPY,
                          .name = f->kernel ? f->kernel->name : "copy",
                          .kernel = -1,
                          .step = f->step,
                          .chain = f->chain,
                          .chain_row = f->chain_row};
        to->n_buf = (int)f->buffers.n;
        to->buf = f->buffers.p;
        to->access = access_of(z->arena, f);
        to->product = product_of(z->arena, f->product);
        to->n_sym = (int)f->syms.n;
        to->sym = GN_NEW_N(z->arena, int, f->syms.n + 1);
        for (uint32_t k = 0; k < f->syms.n; k++) GN_TRY(symbol(z, f->syms.p[k], &to->sym[k]));
        GN_TRY(term(z, f->trip, &to->trip));
        if (!f->kernel) continue;
        to->parallel = kir_thread_loop(f->kernel) != 0;
        if (to->parallel && z->balance) balance(z, f, to);
        to->kernel = a->n_code++;
    }
    return NULL;
}

/* Every end of every graph that is used must have the size of its space, and so must its edges
 * where it is known. */
static gn_status *check_ends(assembler *z, gir_id g)
{
    const gir_type *t = gir_type_of(z->p, g);
    int64_t edges = z->p->spaces.p[t->edge].size;
    if (edges >= 0) {
        gn_size_check c = {
            .graph = z->graph_of[g], .end = GN_SYM_N_EDGE, .want = {.coef = edges, .sym = -1}};
        GN_PUSH(z->arena, z->checks, c);
    }
    for (int end = 0; end < 2; end++) {
        gir_space_id s = end == GIR_SRC ? t->src : t->dst;
        gn_size_check c = {.graph = z->graph_of[g],
                           .end = end == GIR_SRC ? GN_SYM_N_SRC : GN_SYM_N_DST};
        c.want = (gn_term){.coef = z->p->spaces.p[s].size, .sym = -1};
        if (z->p->spaces.p[s].size < 0) {
            int sym = -1;
            for (uint32_t k = 0; k < z->low->syms.n && sym < 0; k++)
                if (z->low->syms.p[k].space == s && z->low->syms.p[k].per == 1)
                    GN_TRY(symbol(z, (int)k, &sym));
            if (sym < 0) continue;
            c.want = (gn_term){.coef = 1, .sym = sym};
        }
        GN_PUSH(z->arena, z->checks, c);
    }
    return NULL;
}

/* Which rows of inputs are read. */
static void find_taken(assembler *z, gn_taken_list *out)
{
    const gir_program *p = z->p;
    GN_VEC(gn_taken) taken = {0};
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        bool take = n->op == GIR_TAKE && gir_at(p, gir_in(p, v, 1))->op == GIR_INPUT;
        for (int k = 0; k < n->n_in; k++) {
            const gir_node *o = gir_at(p, gir_in(p, v, k));
            if (o->op != GIR_INPUT || !o->type.space) continue;
            gn_taken t = {o->attr.name, take && k == 1 ? graph_number(z, gir_in(p, v, 0)) : -1};
            GN_PUSH(z->arena, taken, t);
        }
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_node *o = gir_at(p, p->outputs.p[k].value);
        gn_taken t = {o->attr.name, -1};
        if (o->op == GIR_INPUT && o->type.space) GN_PUSH(z->arena, taken, t);
    }
    *out = (gn_taken_list){(int)taken.n, taken.p};
}

gn_status *gn_assemble(gn_arena *arena, const lowered *low, bool balance, gn_artifact **out,
                       gn_taken_list *taken)
{
    assembler z = {.arena = arena,
                   .low = low,
                   .p = low->p,
                   .balance = balance,
                   .out = GN_NEW(arena, gn_artifact)};
    z.graph_of = GN_NEW_N(arena, int, low->p->nodes.n);
    z.sym_of = GN_NEW_N(arena, int, low->syms.n + 1);
    z.column_of = GN_NEW_N(arena, int, low->p->nodes.n);
    memset(z.column_of, -1, sizeof(int) * low->p->nodes.n);
    memset(z.graph_of, -1, sizeof(int) * low->p->nodes.n);
    memset(z.sym_of, -1, sizeof(int) * (low->syms.n + 1));
    z.out->name = low->p->name;
    GN_TRY(make_slots(&z));
    GN_TRY(make_launches(&z));
    find_taken(&z, taken);
    for (gir_id v = 1; v < low->p->nodes.n; v++)
        if (z.graph_of[v] >= 0) GN_TRY(check_ends(&z, v));
    if (z.uncounted)
        GN_FAIL(GN_ERR_MODEL, "%s: nothing tells how many rows space '%s' has", low->p->name,
                low->p->spaces.p[z.uncounted].name);
    z.out->n_columns = (int)z.columns.n;
    z.out->columns = z.columns.p;
    z.out->n_graphs = (int)z.graphs.n;
    z.out->graphs = z.graphs.p;
    z.out->n_syms = (int)z.syms.n;
    z.out->syms = z.syms.p;
    z.out->n_checks = (int)z.checks.n;
    z.out->checks = z.checks.p;
    *out = z.out;
    return NULL;
}
