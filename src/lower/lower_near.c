/* lower_near: rows by numbers that a program computes, those that are nearest to each.
 *
 * Which rows are near is found by comparing each with all of its group: a list of k, in order, into
 * which a row goes that is nearer than its last.  Rows are read wherever they are; what is summed
 * back into them is added in order, by workers that have columns of their own, so that no two meet
 * and threads change nothing. */
#include "lower/lower_impl.h"

#include <math.h>

enum { COLUMNS = 16 }; /* of a worker */

/* The list so far: distances and rows, and one that goes in. */
typedef struct nearest {
    int64_t k;
    gn_elem elem; /* of distances */
    kir_id best, row, distance, coming;
} nearest;

static nearest begin_list(lower *L, int64_t k, gn_elem elem)
{
    nearest z = {.k = k, .elem = elem};
    z.best = kir_tile(L->k, low_at(L), elem, k);
    z.row = kir_tile(L->k, low_at(L), GN_I64, k);
    z.distance = kir_tile(L->k, low_at(L), elem, 1);
    z.coming = kir_tile(L->k, low_at(L), GN_I64, 1);
    kir_id j = low_open_n(L, k, KIR_SERIAL, KIR_NONE);
    kir_tstore(L->k, low_at(L), z.best, j, low_fconst(L, elem, (double)INFINITY));
    kir_tstore(L->k, low_at(L), z.row, j, low_iconst(L, -1));
    low_close(L);
    return z;
}

/* What comes in moves on what is farther, the last of which goes. */
static void enter(lower *L, const nearest *z, kir_id u)
{
    kir_id zero = low_iconst(L, 0);
    kir_id distance = kir_tload(L->k, low_at(L), z->distance, zero);
    kir_id last = kir_tload(L->k, low_at(L), z->best, low_iconst(L, z->k - 1));
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_FLT, distance, last));
    kir_tstore(L->k, low_at(L), z->coming, zero, u);
    kir_id j = low_open_n(L, z->k, KIR_SERIAL, KIR_ORDERED);
    kir_id d = kir_tload(L->k, low_at(L), z->distance, zero);
    kir_id r = kir_tload(L->k, low_at(L), z->coming, zero);
    kir_id old_d = kir_tload(L->k, low_at(L), z->best, j);
    kir_id old_r = kir_tload(L->k, low_at(L), z->row, j);
    kir_id nearer = kir_bin(L->k, low_at(L), KIR_FLT, d, old_d);
    kir_tstore(L->k, low_at(L), z->best, j, kir_select(L->k, low_at(L), nearer, d, old_d));
    kir_tstore(L->k, low_at(L), z->row, j, kir_select(L->k, low_at(L), nearer, r, old_r));
    kir_tstore(L->k, low_at(L), z->distance, zero, kir_select(L->k, low_at(L), nearer, old_d, d));
    kir_tstore(L->k, low_at(L), z->coming, zero, kir_select(L->k, low_at(L), nearer, old_r, r));
    low_close(L);
    low_close(L);
}

/* The squared distance of rows i and u. */
static void measure(lower *L, const nearest *z, int x, int64_t width, kir_id i, kir_id u)
{
    kir_id zero = low_iconst(L, 0);
    kir_tstore(L->k, low_at(L), z->distance, zero, low_fconst(L, z->elem, 0));
    kir_id j = low_open_n(L, width, KIR_VECTOR, KIR_REDUCE);
    kir_id a = low_load(L, x, low_scaled_add(L, i, width, j));
    kir_id b = low_load(L, x, low_scaled_add(L, u, width, j));
    kir_id off = kir_bin(L->k, low_at(L), KIR_FSUB, a, b);
    kir_tfma(L->k, low_at(L), z->distance, zero, off, off);
    low_close(L);
}

static void lower_nearest(lower *L, gir_id v)
{
    const gir_node *n = gir_at(L->p, v);
    gir_space_id s = n->type.space;
    int64_t k = n->attr.i[0], width = fu_elems(L->p, gir_in(L->p, v, 0));
    int x = low_buffer_read(L, gir_in(L->p, v, 0)),
        group = n->n_in > 1 ? low_buffer_read(L, gir_in(L->p, v, 1)) : -1;
    low_begin(L, "nearest");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)};
    kir_id rows = low_sym_value(L, s, 1);
    kir_id i = low_open(L, low_iconst(L, 0), rows, 1, KIR_THREAD, KIR_NONE);
    L->row = (where){.space = s, .row = i, .level = L->depth};
    nearest z = begin_list(L, k, low_elem((gn_elem)gir_type_of(L->p, gir_in(L->p, v, 0))->elem));
    kir_id own = group >= 0 ? low_load(L, group, i) : 0;
    kir_id u = low_open(L, low_iconst(L, 0), rows, 1, KIR_SERIAL, KIR_ORDERED);
    if (own) low_open_if(L, kir_bin(L->k, low_at(L), KIR_IEQ, own, low_load(L, group, u)));
    measure(L, &z, x, width, i, u);
    enter(L, &z, u);
    if (own) low_close(L);
    low_close(L);
    kir_id j = low_open_n(L, k, KIR_SERIAL, KIR_NONE);
    low_store_value(L, v, &L->row, j, kir_tload(L->k, low_at(L), z.row, j));
    low_close(L);
    low_close(L);
    low_end(L);
}

static void lower_rows_at(lower *L, gir_id v)
{
    const gir_type *t = gir_type_of(L->p, v);
    int64_t k = t->dim[0], width = gir_row_elems(t) / k;
    int number = low_buffer_read(L, gir_in(L->p, v, 0)), x = low_buffer_read(L, gir_in(L->p, v, 1));
    gn_elem elem = low_elem((gn_elem)t->elem);
    low_begin(L, "rows_at");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, t->space, 1)};
    kir_id i = low_open(L, low_iconst(L, 0), low_sym_value(L, t->space, 1), 1, KIR_THREAD,
                        KIR_NONE);
    L->row = (where){.space = t->space, .row = i, .level = L->depth};
    kir_id q = low_open_n(L, k, KIR_SERIAL, KIR_NONE);
    kir_id row = low_load(L, number, low_scaled_add(L, i, k, q));
    kir_id has = kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 0), row);
    for (int side = 0; side < 2; side++) {
        low_open_if(L, side ? kir_un(L->k, low_at(L), KIR_NOT, has) : has);
        kir_id j = low_open_n(L, width, KIR_VECTOR, KIR_NONE);
        kir_id value = side ? low_const(L, elem, 0)
                            : low_load(L, x, low_scaled_add(L, row, width, j));
        low_store_value(L, v, &L->row, low_scaled_add(L, q, width, j), value);
        low_close(L);
        low_close(L);
    }
    low_close(L);
    low_close(L);
    low_end(L);
}

/* A worker's columns of all rows: zeros, and then what is added to them. */
static void lower_sum_at(lower *L, gir_id v)
{
    const gir_type *t = gir_type_of(L->p, v);
    gir_id i = gir_in(L->p, v, 0);
    int64_t k = gir_type_of(L->p, i)->dim[0], width = gir_row_elems(t);
    int number = low_buffer_read(L, i), y = low_buffer_read(L, gir_in(L->p, v, 1));
    low_begin(L, "sum_at");
    L->launch.trip = (low_size){.coef = width, .sym = -1};
    L->launch.step = COLUMNS;
    kir_id rows = low_sym_value(L, t->space, 1);
    kir_id from = low_open(L, low_iconst(L, 0), low_iconst(L, width), COLUMNS, KIR_THREAD,
                           KIR_NONE);
    kir_id next = low_int(L, KIR_IADD, from, low_iconst(L, COLUMNS));
    kir_id end = low_int(L, KIR_IMIN, next, low_iconst(L, width));
    int to = low_kernel_buffer(L, low_buffer_of_value(L, v), KIR_READ_WRITE);
    kir_id r = low_open(L, low_iconst(L, 0), rows, 1, KIR_SERIAL, KIR_NONE);
    kir_id c = low_open(L, from, end, 1, KIR_VECTOR, KIR_NONE);
    kir_store(L->k, low_at(L), to, low_scaled_add(L, r, width, c),
              low_const(L, low_elem((gn_elem)t->elem), 0));
    low_close(L);
    low_close(L);
    kir_id s = low_open(L, low_iconst(L, 0), rows, 1, KIR_SERIAL, KIR_ORDERED);
    kir_id q = low_open_n(L, k, KIR_SERIAL, KIR_ORDERED);
    kir_id place = low_scaled_add(L, s, k, q);
    kir_id row = low_load(L, number, place);
    low_open_if(L, kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 0), row));
    kir_id j = low_open(L, from, end, 1, KIR_VECTOR, KIR_NONE);
    kir_id at = low_scaled_add(L, row, width, j);
    kir_id sum = kir_bin(L->k, low_at(L), KIR_FADD, kir_load(L->k, low_at(L), to, at),
                         low_load(L, y, low_scaled_add(L, place, width, j)));
    kir_store(L->k, low_at(L), to, at, sum);
    low_close(L);
    low_close(L);
    low_close(L);
    low_close(L);
    low_close(L);
    low_end(L);
}

bool low_near(lower *L)
{
    gir_id v = L->r->members.p[0];
    switch ((gir_op)gir_at(L->p, v)->op) {
    case GIR_NEAREST: lower_nearest(L, v); return true;
    case GIR_ROWS_AT: lower_rows_at(L, v); return true;
    case GIR_SUM_AT: lower_sum_at(L, v); return true;
    default: return false;
    }
}
