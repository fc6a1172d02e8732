/* lower_sort: rows in order.
 *
 * A few edges of a row are each compared with all; of more, and of the rows of a space, a list of
 * their numbers is merged from sorted runs of 1, 2, 4, ... (bottom up: Knuth, TAOCP 5.2.4), which
 * keeps those that are equal in the order of their numbers.  Rows that are equal lie side by side
 * then. */
#include "lower/lower_impl.h"

enum {
    FEW = 64,     /* edges of a row, that are compared with each other */
    COLUMNS = 64, /* of those, at a time */
    ROUNDS = 31,  /* runs of up to 2^31 */
};

static kir_id zero(lower *L) { return low_iconst(L, 0); }
static kir_id both(lower *L, kir_id a, kir_id b) { return kir_bin(L->k, low_at(L), KIR_AND, a, b); }
static kir_id either(lower *L, kir_id a, kir_id b)
{
    return kir_bin(L->k, low_at(L), KIR_OR, a, b);
}
static kir_id not(lower * L, kir_id a) { return kir_un(L->k, low_at(L), KIR_NOT, a); }

/* A variable: a tile of one integer. */
static kir_id variable(lower *L) { return kir_tile(L->k, low_at(L), GN_I64, 1); }
static kir_id get(lower *L, kir_id tile) { return kir_tload(L->k, low_at(L), tile, zero(L)); }
static void set(lower *L, kir_id tile, kir_id value)
{
    kir_tstore(L->k, low_at(L), tile, zero(L), value);
}

static kir_id is_equal(lower *L, kir_id a, kir_id b)
{
    return kir_bin(L->k, low_at(L), KIR_IEQ, a, b);
}

/* 1 where cond holds, else 0 */
static kir_id as_number(lower *L, kir_id cond)
{
    kir_id one = low_iconst(L, 1), no = zero(L);
    return kir_select(L->k, low_at(L), cond, one, no);
}

static bool is_float(lower *L, kir_id a)
{
    return gn_elem_is_float((gn_elem)kir_at(L->k, a)->elem);
}

/* a < b, where NaN is above all. */
static kir_id below(lower *L, kir_id a, kir_id b)
{
    if (!is_float(L, a)) return kir_bin(L->k, low_at(L), KIR_ILT, a, b);
    kir_id a_is = kir_bin(L->k, low_at(L), KIR_FEQ, a, a);
    kir_id b_is = kir_bin(L->k, low_at(L), KIR_FEQ, b, b);
    kir_id less = kir_bin(L->k, low_at(L), KIR_FLT, a, b);
    kir_id no_number = not(L, b_is);
    return either(L, less, both(L, a_is, no_number));
}

/* What decides which of two rows comes first. */
typedef struct order {
    lower *L;
    int x; /* buffer of what is compared, `width` elements a row, from `column` on `n` of them */
    int64_t width, n;
    kir_id column;
    int edges, ptr, by; /* besides, sorted edges, where each row's begin, and their elements; -1 */
    int last;           /* and this integer, in the end; -1 */
} order;

/* `state`, 0 so far, becomes -1 or 1 where a and b are told apart. */
static void tell(lower *L, kir_id state, kir_id a, kir_id b)
{
    kir_id less = below(L, a, b), more = below(L, b, a);
    kir_id sign = as_number(L, more);
    kir_id now = kir_select(L->k, low_at(L), less, low_iconst(L, -1), sign);
    kir_id so_far = get(L, state);
    kir_id open = is_equal(L, so_far, zero(L));
    set(L, state, kir_select(L->k, low_at(L), open, now, so_far));
}

static void tell_by_edges(const order *o, kir_id state, kir_id p, kir_id q)
{
    lower *L = o->L;
    kir_id one = low_iconst(L, 1);
    kir_id first_p = low_load(L, o->ptr, p), first_q = low_load(L, o->ptr, q);
    kir_id end_p = low_load(L, o->ptr, low_int(L, KIR_IADD, p, one));
    kir_id end_q = low_load(L, o->ptr, low_int(L, KIR_IADD, q, one));
    kir_id n_p = low_int(L, KIR_ISUB, end_p, first_p), n_q = low_int(L, KIR_ISUB, end_q, first_q);
    tell(L, state, n_p, n_q);
    kir_id n = low_int(L, KIR_IMIN, n_p, n_q);
    kir_id from = zero(L), j = low_open(L, from, n, 1, KIR_SERIAL, KIR_ORDERED);
    kir_id edge_p = low_load(L, o->edges, low_int(L, KIR_IADD, first_p, j));
    kir_id edge_q = low_load(L, o->edges, low_int(L, KIR_IADD, first_q, j));
    kir_id a = low_load(L, o->by, edge_p), b = low_load(L, o->by, edge_q);
    tell(L, state, a, b);
    low_close(L);
}

/* -1, 0 or 1 in `state`: row p is before q, like it, or behind it. */
static void compare(const order *o, kir_id state, kir_id p, kir_id q)
{
    lower *L = o->L;
    set(L, state, zero(L));
    if (o->n) {
        kir_id j = low_open_n(L, o->n, KIR_SERIAL, KIR_ORDERED);
        kir_id at = o->column ? low_int(L, KIR_IADD, j, o->column) : j;
        kir_id a = low_load(L, o->x, low_scaled_add(L, p, o->width, at));
        kir_id b = low_load(L, o->x, low_scaled_add(L, q, o->width, at));
        tell(L, state, a, b);
        low_close(L);
    }
    if (o->edges >= 0) tell_by_edges(o, state, p, q);
    if (o->last >= 0) {
        kir_id a = low_load(L, o->last, p), b = low_load(L, o->last, q);
        tell(L, state, a, b);
    }
}

/* Rows lo .. hi, whose numbers are put in order at list[base + row], by way of `other`. */
typedef struct run {
    int list, other; /* buffers of the kernel */
    kir_id base, lo, hi;
} run;

static kir_id at_list(lower *L, const run *r, int buffer, kir_id t)
{
    return kir_load(L->k, low_at(L), buffer, low_int(L, KIR_IADD, r->base, t));
}
static void to_list(lower *L, const run *r, int buffer, kir_id t, kir_id row)
{
    kir_store(L->k, low_at(L), buffer, low_int(L, KIR_IADD, r->base, t), row);
}

/* Runs of `width` become runs of twice that. */
static void merge_runs(const order *o, const run *r, kir_id width)
{
    lower *L = o->L;
    kir_id left = variable(L), right = variable(L), middle = variable(L), end = variable(L),
           state = variable(L);
    kir_id one = low_iconst(L, 1), last = low_int(L, KIR_ISUB, r->hi, one);
    set(L, end, r->lo);
    kir_id t = low_open(L, r->lo, r->hi, 1, KIR_SERIAL, KIR_ORDERED);
    low_open_if(L, is_equal(L, t, get(L, end)));
    kir_id half = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, t, width), r->hi);
    set(L, left, t);
    set(L, middle, half);
    set(L, right, half);
    set(L, end, low_int(L, KIR_IMIN, low_int(L, KIR_IADD, half, width), r->hi));
    low_close(L);
    kir_id i = get(L, left), j = get(L, right);
    kir_id has_left = kir_bin(L->k, low_at(L), KIR_ILT, i, get(L, middle));
    kir_id has_right = kir_bin(L->k, low_at(L), KIR_ILT, j, get(L, end));
    kir_id p = at_list(L, r, r->list, low_int(L, KIR_IMIN, i, last));
    kir_id q = at_list(L, r, r->list, low_int(L, KIR_IMIN, j, last));
    compare(o, state, q, p);
    kir_id is = get(L, state), nothing = zero(L);
    kir_id before = kir_bin(L->k, low_at(L), KIR_ILT, is, nothing);
    kir_id no_left = not(L, has_left);
    kir_id take_right = both(L, has_right, either(L, no_left, before));
    to_list(L, r, r->other, t, kir_select(L->k, low_at(L), take_right, q, p));
    kir_id next = as_number(L, take_right);
    set(L, right, low_int(L, KIR_IADD, j, next));
    set(L, left, low_int(L, KIR_IADD, i, low_int(L, KIR_ISUB, one, next)));
    low_close(L);
}

static void copy_list(lower *L, const run *r)
{
    kir_id t = low_open(L, r->lo, r->hi, 1, KIR_SERIAL, KIR_NONE);
    to_list(L, r, r->list, t, at_list(L, r, r->other, t));
    low_close(L);
}

static void sort(const order *o, const run *r)
{
    lower *L = o->L;
    kir_id t = low_open(L, r->lo, r->hi, 1, KIR_SERIAL, KIR_NONE);
    to_list(L, r, r->list, t, t);
    low_close(L);
    kir_id n = low_int(L, KIR_ISUB, r->hi, r->lo), tile = variable(L);
    set(L, tile, low_iconst(L, 1));
    low_open_n(L, ROUNDS, KIR_SERIAL, KIR_ORDERED);
    kir_id width = get(L, tile);
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILT, width, n));
    merge_runs(o, r, width);
    copy_list(L, r);
    low_close(L);
    kir_id twice = low_int(L, KIR_IADD, width, width);
    set(L, tile, twice);
    low_close(L);
}

/* A list of numbers of rows of s, `width` times, of the kernel at hand. */
static int list_of(lower *L, const char *name, gir_id v, gir_space_id s, int64_t width)
{
    low_size size = {.coef = width, .sym = low_sym_of(L, s, 1)};
    const char *own = gn_arena_printf(L->arena, "%s_%u", name, v);
    return low_kernel_buffer(L, low_temp(L, own, GN_I32, size), KIR_READ_WRITE);
}

/* Ranks of the rows of a run, in one column, from their order. */
static void store_ranks(const order *o, const run *r, gir_id v)
{
    lower *L = o->L;
    int to = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    kir_id t = low_open(L, r->lo, r->hi, 1, KIR_SERIAL, KIR_ORDERED);
    kir_id row = at_list(L, r, r->list, t), rank = low_int(L, KIR_ISUB, t, r->lo);
    kir_id column = o->column;
    kir_store(L->k, low_at(L), to, low_scaled_add(L, row, o->width, column), rank);
    low_close(L);
}

static void rank_column(lower *L, gir_id v, order *o, run *r, gir_space_id s, kir_id column)
{
    o->column = column;
    r->base = low_int(L, KIR_IMUL, low_sym_value(L, s, 1), column);
    sort(o, r);
    store_ranks(o, r, v);
}

static void rank_rows(lower *L, gir_id v, order *o)
{
    gir_space_id s = gir_type_of(L->p, v)->space;
    low_begin(L, "rank");
    L->launch.trip = (low_size){.coef = o->width, .sym = -1};
    kir_id from = zero(L), rows = low_sym_value(L, s, 1), width = low_iconst(L, o->width);
    kir_id column = low_open(L, from, width, 1, KIR_THREAD, KIR_NONE);
    run r = {.lo = from, .hi = rows};
    r.list = list_of(L, "order", v, s, o->width);
    r.other = list_of(L, "merged", v, s, o->width);
    rank_column(L, v, o, &r, s, column);
    low_close(L);
    low_end(L);
}

/* All columns of a few edges: how many are before each. */
static void count_before(const order *o, kir_id lo, kir_id hi, gir_id v)
{
    lower *L = o->L;
    int64_t step = o->width < COLUMNS ? o->width : COLUMNS;
    int to = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    kir_id count = kir_tile(L->k, low_at(L), GN_I64, step);
    kir_id row = low_open(L, lo, hi, 1, KIR_SERIAL, KIR_PRIVATE);
    kir_id none = zero(L), width = low_iconst(L, o->width);
    kir_id from = low_open(L, none, width, step, KIR_SERIAL, KIR_PRIVATE);
    kir_id n = low_iconst(L, step);
    if (o->width % step) n = low_int(L, KIR_IMIN, low_int(L, KIR_ISUB, width, from), n);
    kir_id c = low_open(L, none, n, 1, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), count, c, none);
    low_close(L);
    kir_id u = low_open(L, lo, hi, 1, KIR_SERIAL, KIR_REDUCE);
    kir_id earlier = kir_bin(L->k, low_at(L), KIR_ILT, u, row);
    c = low_open(L, none, n, 1, KIR_VECTOR, KIR_NONE);
    kir_id at = low_int(L, KIR_IADD, from, c);
    kir_id a = low_load(L, o->x, low_scaled_add(L, u, o->width, at));
    kir_id b = low_load(L, o->x, low_scaled_add(L, row, o->width, at));
    kir_id less = below(L, a, b), more = below(L, b, a);
    kir_id before = either(L, less, both(L, earlier, not(L, more)));
    kir_tacc(L->k, low_at(L), KIR_SUM, count, c, as_number(L, before));
    low_close(L);
    low_close(L);
    c = low_open(L, none, n, 1, KIR_VECTOR, KIR_NONE);
    kir_id place = low_scaled_add(L, row, o->width, low_int(L, KIR_IADD, from, c));
    kir_store(L->k, low_at(L), to, place, kir_tload(L->k, low_at(L), count, c));
    low_close(L);
    low_close(L);
    low_close(L);
}

static void open_edges(lower *L, gir_id g, kir_id row, kir_id *lo, kir_id *hi)
{
    int ptr = low_buffer_of_graph(L, g, GN_GRAPH_ROW_PTR);
    *lo = low_load(L, ptr, row);
    *hi = low_load(L, ptr, low_int(L, KIR_IADD, row, low_iconst(L, 1)));
}

static void rank_edges(lower *L, gir_id v, order *o)
{
    gir_id g = gir_in(L->p, v, 0);
    gir_space_id to = gir_type_of(L->p, g)->dst, s = gir_type_of(L->p, v)->space;
    low_begin(L, "rank");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, to, 1)};
    kir_id first = zero(L), rows = low_sym_value(L, to, 1);
    kir_id row = low_open(L, first, rows, 1, KIR_THREAD, KIR_NONE);
    run r = {0};
    open_edges(L, g, row, &r.lo, &r.hi);
    kir_id n = low_int(L, KIR_ISUB, r.hi, r.lo);
    kir_id many = kir_bin(L->k, low_at(L), KIR_ILT, low_iconst(L, FEW), n);
    low_open_if(L, not(L, many));
    count_before(o, r.lo, r.hi, v);
    low_close(L);
    low_open_if(L, many);
    r.list = list_of(L, "order", v, s, o->width);
    r.other = list_of(L, "merged", v, s, o->width);
    kir_id width = low_iconst(L, o->width);
    kir_id column = low_open(L, first, width, 1, KIR_SERIAL, KIR_NONE);
    rank_column(L, v, o, &r, s, column);
    low_close(L);
    low_close(L);
    low_close(L);
    low_end(L);
}

static void lower_rank(lower *L, gir_id v)
{
    gir_id x = gir_in(L->p, v, gir_at(L->p, v)->n_in - 1);
    order o = {.L = L,
               .x = low_buffer_read(L, x),
               .width = fu_elems(L->p, x),
               .n = 1,
               .edges = -1,
               .last = -1};
    if (gir_at(L->p, v)->n_in > 1)
        rank_edges(L, v, &o);
    else
        rank_rows(L, v, &o);
}

/* The edges into each row, in the order of their elements; returns the list's buffer. */
static int sort_edges(lower *L, gir_id v, gir_id g, gir_id e)
{
    gir_space_id to = gir_type_of(L->p, g)->dst, s = gir_type_of(L->p, e)->space;
    low_size size = {.coef = 1, .sym = low_sym_of(L, s, 1)};
    int list = low_temp(L, gn_arena_printf(L->arena, "edges_%u", v), GN_I32, size);
    order o = {.L = L, .x = low_buffer_read(L, e), .width = 1, .n = 1, .edges = -1, .last = -1};
    low_begin(L, "sort_edges");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, to, 1)};
    kir_id first = zero(L), rows = low_sym_value(L, to, 1);
    kir_id row = low_open(L, first, rows, 1, KIR_THREAD, KIR_NONE);
    run r = {.base = first, .list = low_kernel_buffer(L, list, KIR_READ_WRITE)};
    r.other = list_of(L, "merged_edges", v, s, 1);
    open_edges(L, g, row, &r.lo, &r.hi);
    sort(&o, &r);
    low_close(L);
    low_end(L);
    return list;
}

/* head[row]: the first row that is equal to it, of rows in that order. */
static void find_heads(const order *o, const run *r, int head)
{
    lower *L = o->L;
    kir_id state = variable(L), current = variable(L);
    set(L, current, zero(L));
    kir_id t = low_open(L, r->lo, r->hi, 1, KIR_SERIAL, KIR_ORDERED);
    kir_id row = at_list(L, r, r->list, t), so_far = get(L, current);
    compare(o, state, so_far, row);
    kir_id first = is_equal(L, t, r->lo), is = get(L, state);
    kir_id same = is_equal(L, is, zero(L));
    kir_id keep = both(L, same, not(L, first));
    kir_id now = kir_select(L->k, low_at(L), keep, so_far, row);
    set(L, current, now);
    kir_store(L->k, low_at(L), head, row, now);
    low_close(L);
}

/* Numbers in the order of the heads, which come before those that are equal to them. */
static void number_heads(const order *o, const run *r, int head, gir_id v)
{
    lower *L = o->L;
    int to = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_READ_WRITE);
    kir_id found = variable(L);
    set(L, found, zero(L));
    kir_id t = low_open(L, r->lo, r->hi, 1, KIR_SERIAL, KIR_ORDERED);
    kir_id row = at_list(L, r, r->list, t);
    kir_id of = kir_load(L->k, low_at(L), head, row);
    kir_id is_head = is_equal(L, of, row);
    kir_id next = get(L, found);
    low_open_if(L, is_head);
    kir_store(L->k, low_at(L), to, row, next);
    set(L, found, low_int(L, KIR_IADD, next, low_iconst(L, 1)));
    low_close(L);
    low_open_if(L, not(L, is_head));
    kir_store(L->k, low_at(L), to, row, kir_load(L->k, low_at(L), to, of));
    low_close(L);
    low_close(L);
}

static void lower_distinct(lower *L, gir_id v)
{
    const gir_node *n = gir_at(L->p, v);
    gir_space_id s = n->type.space;
    gir_id x = gir_in(L->p, v, 0), g = n->n_in > 2 ? gir_in(L->p, v, 2) : 0;
    order o = {.L = L, .x = low_buffer_read(L, x), .width = fu_elems(L->p, x), .edges = -1};
    o.n = o.width;
    o.last = low_buffer_read(L, gir_in(L->p, v, 1));
    if (g) {
        o.by = low_buffer_read(L, gir_in(L->p, v, 3));
        o.edges = sort_edges(L, v, g, gir_in(L->p, v, 3));
        o.ptr = low_buffer_of_graph(L, g, GN_GRAPH_ROW_PTR);
    }
    low_begin(L, "distinct");
    L->launch.trip = (low_size){.coef = 1, .sym = -1};
    run r = {.list = list_of(L, "order", v, s, 1)};
    r.other = list_of(L, "merged", v, s, 1);
    int head = list_of(L, "head", v, s, 1);
    r.base = r.lo = zero(L);
    r.hi = low_sym_value(L, s, 1);
    kir_id once = low_iconst(L, 1);
    low_open(L, r.lo, once, 1, KIR_THREAD, KIR_NONE);
    sort(&o, &r);
    order equal = o, by_order = {.L = L, .edges = -1, .last = o.last};
    equal.last = -1;
    find_heads(&equal, &r, head);
    sort(&by_order, &r);
    number_heads(&o, &r, head, v);
    low_close(L);
    low_end(L);
}

bool low_sorted(lower *L)
{
    gir_id v = L->r->members.p[0];
    switch ((gir_op)gir_at(L->p, v)->op) {
    case GIR_RANK: lower_rank(L, v); return true;
    case GIR_DISTINCT: lower_distinct(L, v); return true;
    default: return false;
    }
}
