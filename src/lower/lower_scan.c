/* lower_scan: along the edges into each row, in their order.
 *
 * A worker takes a few rows at once, and goes through their edges step by step: the product of all
 * their states is a register tile like that of any product, and then each row that has such an edge
 * makes its next states of it, channel by channel.  Rows know nothing of each other, so threads
 * change nothing. */
#include "lower/lower_dense.h"

enum {
    ROWS = 8,      /* at once */
    COLUMNS = 32,  /* of a register tile */
    MOST = 1 << 14 /* numbers of the states of those rows, so that they lie near */
};

typedef struct scan {
    gir_scan of;
    gir_id v;
    int64_t rows;          /* at once */
    kir_id base;           /* the first of them */
    kir_id state, product; /* tiles: of each row */
    kir_id first, n;       /* tiles: the first edge of each row, and how many */
    int s, c, w, out;      /* buffers */
    int *x;
    int64_t *width;   /* groups of each x */
    kir_id row, edge; /* at hand; row is its place among those rows */
    kir_id channel;
    kir_id *value; /* by value of the body, of the channel; 0: not yet */
} scan;

static void open_edges(lower *L, gir_id g, kir_id row, kir_id *lo, kir_id *hi)
{
    int ptr = low_buffer_of_graph(L, g, GN_GRAPH_ROW_PTR);
    *lo = low_load(L, ptr, row);
    *hi = low_load(L, ptr, low_int(L, KIR_IADD, row, low_iconst(L, 1)));
}

/* The states and the edges that rows begin with.  Places behind the last row have no edges. */
static void begin_rows(lower *L, scan *z)
{
    int64_t size = z->of.n * z->of.d;
    gir_space_id to = gir_type_of(L->p, z->of.graph)->dst;
    int ptr = low_buffer_of_graph(L, z->of.graph, GN_GRAPH_ROW_PTR);
    kir_id one = low_iconst(L, 1), end = low_sym_value(L, to, 1);
    kir_id r = low_open_n(L, z->rows, KIR_SERIAL, KIR_ORDERED);
    kir_id at = low_int(L, KIR_IADD, z->base, r), row = low_int(L, KIR_IMIN, at, end);
    kir_id lo = low_load(L, ptr, row);
    kir_id next = low_int(L, KIR_IMIN, low_int(L, KIR_IADD, at, one), end);
    kir_id hi = low_load(L, ptr, next), n = low_int(L, KIR_ISUB, hi, lo);
    kir_tstore(L->k, low_at(L), z->first, r, lo);
    kir_tstore(L->k, low_at(L), z->n, r, n);
    kir_id last = low_int(L, KIR_IMIN, at, low_int(L, KIR_ISUB, end, one));
    kir_id j = low_open_n(L, size, KIR_VECTOR, KIR_NONE);
    kir_id s = low_load(L, z->s, low_scaled_add(L, last, size, j));
    kir_tstore(L->k, low_at(L), z->state, low_scaled_add(L, r, size, j), s);
    low_close(L);
    low_close(L);
}

/* Of the row that has most.  In no tile, so that who counts what a kernel does knows it. */
static kir_id most_edges(lower *L, const scan *z)
{
    gir_space_id to = gir_type_of(L->p, z->of.graph)->dst;
    int ptr = low_buffer_of_graph(L, z->of.graph, GN_GRAPH_ROW_PTR);
    kir_id most = low_iconst(L, 0), end = low_sym_value(L, to, 1), lo = low_load(L, ptr, z->base);
    for (int64_t r = 1; r <= z->rows; r++) {
        kir_id at = low_int(L, KIR_IADD, z->base, low_iconst(L, r));
        kir_id hi = low_load(L, ptr, low_int(L, KIR_IMIN, at, end));
        most = low_int(L, KIR_IMAX, most, low_int(L, KIR_ISUB, hi, lo));
        lo = hi;
    }
    return most;
}

/* Columns [j0, j0 + cols) of the products of all rows. */
static void multiply(lower *L, kir_id j0, int64_t cols, void *user)
{
    scan *z = user;
    int64_t depth = z->of.k * z->of.d, width = z->of.q * z->of.d;
    kir_id zero = low_iconst(L, 0);
    tile_job t = {.a = {.tile = z->state, .si = z->of.n * z->of.d, .sj = 1, .at = zero},
                  .b = {.buffer = z->w, .si = width, .sj = 1},
                  .i0 = zero,
                  .j0 = j0,
                  .rows = z->rows,
                  .cols = cols,
                  .stride = low_stride(L, cols),
                  .lo = zero,
                  .hi = low_iconst(L, depth),
                  .elem = z->of.elem};
    dense_zero(L, &t);
    dense_multiply(L, &t);
    kir_id r = low_open_unrolled(L, z->rows);
    kir_id j = low_open_n(L, cols, KIR_VECTOR, KIR_NONE);
    kir_id p = kir_tload(L->k, low_at(L), t.tile, low_scaled_add(L, r, t.stride, j));
    kir_id to = low_scaled_add(L, r, width, low_int(L, KIR_IADD, j0, j));
    kir_tstore(L->k, low_at(L), z->product, to, p);
    low_close(L);
    low_close(L);
}

static kir_id of_edge(lower *L, const scan *z, int64_t k)
{
    int j = 0;
    for (; k >= z->width[j]; j++) k -= z->width[j];
    kir_id in_row = low_int(L, KIR_IADD, low_iconst(L, k * z->of.d), z->channel);
    return low_load(L, z->x[j], low_scaled_add(L, z->edge, z->width[j] * z->of.d, in_row));
}

static kir_id body_value(lower *L, scan *z, gir_id v)
{
    if (z->value[v]) return z->value[v];
    const gir_program *b = z->of.body;
    const gir_node *n = gir_at(b, v);
    kir_id in[3] = {0};
    int k = 0;
    char kind = gir_body_leaf(b, v, &k);
    kir_id at = kind ? low_int(L, KIR_IADD, low_iconst(L, k * z->of.d), z->channel) : 0;
    if (kind == 'x')
        z->value[v] = of_edge(L, z, k);
    else if (kind == 'c')
        z->value[v] = low_load(L, z->c, at);
    else if (kind == 's')
        z->value[v] = kir_tload(L->k, low_at(L), z->state,
                                low_scaled_add(L, z->row, z->of.n * z->of.d, at));
    else if (kind == 'p')
        z->value[v] = kir_tload(L->k, low_at(L), z->product,
                                low_scaled_add(L, z->row, z->of.q * z->of.d, at));
    else if (n->op == GIR_CONST)
        z->value[v] = low_const(L, low_elem((gn_elem)n->type.elem), n->attr.f);
    else {
        for (int j = 0; j < n->n_in; j++) in[j] = body_value(L, z, gir_in(b, v, j));
        const gir_program *p = L->p;
        L->p = b;
        z->value[v] = low_map(L, v, in);
        L->p = p;
    }
    return z->value[v];
}

/* The next states of the row at hand, of which none is stored before all are known. */
static void next_states(lower *L, scan *z)
{
    const gir_program *b = z->of.body;
    int64_t size = z->of.n * z->of.d;
    kir_id *next = GN_NEW_N(L->arena, kir_id, z->of.n);
    z->value = GN_NEW_N(L->arena, kir_id, b->nodes.n);
    z->channel = low_open_n(L, z->of.d, KIR_VECTOR, KIR_NONE);
    for (int64_t k = 0; k < z->of.n; k++) next[k] = body_value(L, z, b->outputs.p[k].value);
    for (int64_t k = 0; k < z->of.n; k++) {
        kir_id at = low_int(L, KIR_IADD, low_iconst(L, k * z->of.d), z->channel);
        kir_tstore(L->k, low_at(L), z->state, low_scaled_add(L, z->row, size, at), next[k]);
        kir_store(L->k, low_at(L), z->out, low_scaled_add(L, z->edge, size, at), next[k]);
    }
    low_close(L);
}

/* Edge number t of each row that has one. */
static void step(lower *L, scan *z, kir_id t)
{
    if (z->of.w) dense_tiles(L, z->of.q * z->of.d, COLUMNS, multiply, z);
    z->row = low_open_n(L, z->rows, KIR_SERIAL, KIR_NONE);
    kir_id n = kir_tload(L->k, low_at(L), z->n, z->row);
    kir_id first = kir_tload(L->k, low_at(L), z->first, z->row);
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILT, t, n));
    kir_id last = low_int(L, KIR_ISUB, n, low_iconst(L, 1));
    z->edge = low_int(L, KIR_IADD, first, z->of.reverse ? low_int(L, KIR_ISUB, last, t) : t);
    next_states(L, z);
    low_close(L);
    low_close(L);
}

/* As many rows at once as have room. */
static int64_t rows_at_once(const lower *L, const gir_scan *of)
{
    int64_t rows = L->opt->limits.shared_bytes || !of->w ? 1 : ROWS;
    while (rows > 1 && rows * (of->n + of->q) * of->d > MOST) rows /= 2;
    return rows;
}

static scan scan_of(lower *L, gir_id v)
{
    scan z = {.of = gir_scan_of(L->p, v), .v = v, .c = -1, .w = -1};
    z.rows = rows_at_once(L, &z.of);
    z.s = low_buffer_read(L, z.of.s);
    if (z.of.w) z.w = low_buffer_read(L, z.of.w);
    if (z.of.c) z.c = low_buffer_read(L, z.of.c);
    z.x = GN_NEW_N(L->arena, int, z.of.n_x + 1);
    z.width = GN_NEW_N(L->arena, int64_t, z.of.n_x + 1);
    for (int k = 0; k < z.of.n_x; k++) {
        gir_id x = gir_in(L->p, v, z.of.first_x + k);
        z.x[k] = low_buffer_read(L, x);
        z.width[k] = gir_type_of(L->p, x)->dim[0];
    }
    return z;
}

static void lower_scan(lower *L, gir_id v)
{
    scan z = scan_of(L, v);
    gir_space_id to = gir_type_of(L->p, z.of.graph)->dst;
    low_begin(L, "scan");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, to, 1)};
    L->launch.step = z.rows;
    kir_id zero = low_iconst(L, 0), rows = low_sym_value(L, to, 1);
    z.base = low_open(L, zero, rows, z.rows, KIR_THREAD, KIR_NONE);
    z.state = kir_tile(L->k, low_at(L), z.of.elem, z.rows * z.of.n * z.of.d);
    if (z.of.w) z.product = kir_tile(L->k, low_at(L), z.of.elem, z.rows * z.of.q * z.of.d);
    z.first = kir_tile(L->k, low_at(L), GN_I64, z.rows);
    z.n = kir_tile(L->k, low_at(L), GN_I64, z.rows);
    z.out = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    begin_rows(L, &z);
    kir_id most = most_edges(L, &z);
    kir_id t = low_open(L, zero, most, 1, KIR_SERIAL, KIR_ORDERED);
    step(L, &z, t);
    low_close(L);
    low_close(L);
    low_end(L);
}

/* Row `from` of buffer x becomes row `to` of v. */
static void copy_row(lower *L, gir_id v, int x, kir_id from, kir_id to)
{
    int64_t width = fu_elems(L->p, v);
    int out = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_WRITE);
    kir_id j = low_open_n(L, width, KIR_VECTOR, KIR_NONE);
    kir_id value = low_load(L, x, low_scaled_add(L, from, width, j));
    kir_store(L->k, low_at(L), out, low_scaled_add(L, to, width, j), value);
    low_close(L);
}

/* Where cond holds, or where it does not. */
static void copy_where(lower *L, kir_id cond, bool holds, gir_id v, int x, kir_id from, kir_id to)
{
    low_open_if(L, holds ? cond : kir_un(L->k, low_at(L), KIR_NOT, cond));
    copy_row(L, v, x, from, to);
    low_close(L);
}

static void lower_beside(lower *L, gir_id v)
{
    gir_id g = gir_in(L->p, v, 0);
    gir_space_id to = gir_type_of(L->p, g)->dst;
    int e = low_buffer_read(L, gir_in(L->p, v, 1)), f = low_buffer_read(L, gir_in(L->p, v, 2));
    bool far = gir_at(L->p, v)->attr.i[0] != 0, outer = gir_at(L->p, v)->op == GIR_OUTER;
    low_begin(L, outer ? "outer" : "beside");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, to, 1)};
    kir_id one = low_iconst(L, 1), lo, hi;
    kir_id i = low_open(L, low_iconst(L, 0), low_sym_value(L, to, 1), 1, KIR_THREAD, KIR_NONE);
    open_edges(L, g, i, &lo, &hi);
    kir_id last = low_int(L, KIR_ISUB, hi, one), end = far ? last : lo;
    if (outer) {
        kir_id some = kir_bin(L->k, low_at(L), KIR_ILT, lo, hi);
        copy_where(L, some, true, v, e, end, i);
        copy_where(L, some, false, v, f, i, i);
    } else {
        kir_id k = low_open(L, lo, hi, 1, KIR_SERIAL, KIR_NONE);
        kir_id is_end = kir_bin(L->k, low_at(L), KIR_IEQ, k, end);
        kir_id from = low_int(L, far ? KIR_IADD : KIR_ISUB, k, one);
        copy_where(L, is_end, true, v, f, i, k);
        copy_where(L, is_end, false, v, e, from, k);
        low_close(L);
    }
    low_close(L);
    low_end(L);
}

bool low_along(lower *L)
{
    gir_id v = L->r->members.p[0];
    gir_op op = (gir_op)gir_at(L->p, v)->op;
    if (op == GIR_SCAN)
        lower_scan(L, v);
    else if (op == GIR_BESIDE || op == GIR_OUTER)
        lower_beside(L, v);
    return op == GIR_SCAN || op == GIR_BESIDE || op == GIR_OUTER;
}
