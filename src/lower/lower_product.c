/* lower_product: which products of blocks are what libraries of matrix products have, too. Needs:
 * the launch that low_gemm_block has just made.  Keeps: the launch.  Makes: its `product`, or
 * `why_kernel`, why only a kernel makes it. */
#include "lower/lower_dense.h"

/* The product's buffers by the kernel's numbers; -1 where the kernel does not touch it. */
static int number_of(const lower *L, int buffer)
{
    return buffer >= 0 && (uint32_t)buffer < L->kernel_buffer.n ? L->kernel_buffer.p[buffer] : -1;
}

static bool is_zero(const gir_program *p, gir_id v)
{
    v = dense_operand(p, v);
    return gir_at(p, v)->op == GIR_CONST && gir_at(p, v)->attr.f == 0;
}

/* x where v is x if that is above 0 or a NaN, as stdlib's relu has it, else 0; 0: it is something
 * else. */
static gir_id rectified(const gir_program *p, gir_id v)
{
    if (gir_at(p, v)->op != GIR_SELECT || !is_zero(p, gir_in(p, v, 2))) return 0;
    gir_id above = dense_operand(p, gir_in(p, v, 0)), x = dense_operand(p, gir_in(p, v, 1));
    if (gir_at(p, above)->op != GIR_NLE || !is_zero(p, gir_in(p, above, 1))) return 0;
    return dense_operand(p, gir_in(p, above, 0)) == x ? x : 0;
}

/* A vector in memory that v repeats for every row, of n elements; 0: it is something else. */
static gir_id repeated(const lower *L, gir_id v, int64_t n)
{
    const gir_program *p = L->p;
    if (gir_at(p, v)->op != GIR_BROADCAST) return 0;
    gir_id x = dense_operand(p, gir_in(p, v, 0));
    const gir_type *t = gir_type_of(p, x);
    bool there = L->f->place[x] == FU_LEAF || (L->f->place[x] == FU_REAL && L->f->stored[x]);
    return t->space == 0 && t->rank == 1 && t->dim[0] == n && t->elem == GN_F32 && there ? x : 0;
}

/* The one value that the region stores; 0: there are more. */
static gir_id result_of(const lower *L, gir_id product)
{
    gir_id v = 0;
    if (L->r->space == 0) return product;
    for (uint32_t m = 0; m < L->r->members.n; m++) {
        if (!L->f->stored[L->r->members.p[m]]) continue;
        if (v) return 0;
        v = L->r->members.p[m];
    }
    return v;
}

/* What is done with the product's elements: NULL, or that it is more than an epilogue of a library
 * does. */
static const char *find_epilogue(lower *L, gir_id product, gir_id v, gn_product *out, gir_id *bias)
{
    const gir_program *p = L->p;
    gir_id x = rectified(p, v);
    out->relu = x != 0;
    if (x) v = x;
    *bias = 0;
    if (v == product) return NULL;
    for (int side = 0; side < 2 && gir_at(p, v)->op == GIR_ADD; side++) {
        if (dense_operand(p, gir_in(p, v, side)) != product) continue;
        *bias = repeated(L, gir_in(p, v, 1 - side), out->cols);
        if (*bias) return NULL;
    }
    return "more is done with its elements than a bias and a relu";
}

static const char *describe(lower *L, gir_id product, int products, const factors *f,
                            gn_product *out)
{
    gir_id v = result_of(L, product), bias;
    const low_launch *l = &L->out->launches.p[L->out->launches.n - 1];
    if (products > 1) return products > 2 ? "it is the sum of several" : "it is the sum of two";
    if (!v) return "several values are stored with it";
    if (gir_type_of(L->p, v)->elem != GN_F32 || f->a.tile || f->b.tile)
        return "its elements are not f32";
    if (L->out->buffers.p[f->a.buffer].elem != GN_F32 ||
        L->out->buffers.p[f->b.buffer].elem != GN_F32)
        return "its operands are not f32";
    const char *why = find_epilogue(L, product, v, out, &bias);
    if (why) return why;
    out->out = number_of(L, low_buffer_of_value(L, v));
    out->a = number_of(L, f->a.buffer);
    out->b = number_of(L, f->b.buffer);
    out->bias = bias ? number_of(L, low_buffer_of_value(L, bias)) : -1;
    uint32_t touched = 2u + (out->a != out->b) +
                       (bias && out->bias != out->b && out->bias != out->a);
    bool all = out->out >= 0 && out->a >= 0 && out->b >= 0 && (!bias || out->bias >= 0);
    if (!all || l->buffers.n != touched || l->kernel->buffers.p[out->out].access != KIR_WRITE)
        return "its kernel touches more than its operands";
    return NULL;
}

void low_note_product(lower *L, gir_id product, int products, const factors *f, int64_t n)
{
    gn_product *out = GN_NEW(L->arena, gn_product);
    if (L->error) return;
    *out = (gn_product){.cols = n, .depth = f->depth, .bias = -1};
    out->a_row = f->a.si;
    out->a_term = f->a.sj;
    out->b_term = f->b.si;
    out->b_col = f->b.sj;
    low_launch *l = &L->out->launches.p[L->out->launches.n - 1];
    l->why_kernel = describe(L, product, products, f, out);
    if (!l->why_kernel) l->product = out;
}
