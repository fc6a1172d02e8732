/* Questions of a region that more than one room asks (fuse.h): views whose elements lie as their
 * operand's do, what outputs leave in memory, and the products of a sum. */
#include "fuse/fuse.h"

bool fu_is_widening(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op != GIR_CAST || n->type.elem != GN_F32) return false;
    uint8_t of = gir_type_of(p, gir_in(p, v, 0))->elem;
    return of == GN_BF16 || of == GN_F16;
}

bool fu_is_identity_view(const gir_program *p, gir_id v)
{
    const gir_node *n = gir_at(p, v);
    if (n->op == GIR_RESHAPE || n->op == GIR_DETACH || fu_is_widening(p, v)) return true;
    if (n->op != GIR_BROADCAST) return false;
    const gir_type *t = gir_type_of(p, gir_in(p, v, 0));
    return t->space == n->type.space && gir_row_elems(t) == gir_row_elems(&n->type);
}

gir_id fu_left_by(const fusion *f, uint32_t k)
{
    gir_id v = f->p->outputs.p[k].value;
    if (!f->put[v]) return v;
    for (v = gir_in(f->p, v, 2); fu_is_identity_view(f->p, v);) v = gir_in(f->p, v, 0);
    return v;
}

int fu_products(const gir_program *p, const region *r, gir_id product[FU_MOST_PRODUCTS])
{
    int n = 0;
    for (uint32_t m = 0; r->kind == RG_GEMM && m < r->members.n && n < FU_MOST_PRODUCTS; m++)
        if (gir_at(p, r->members.p[m])->op == GIR_MATMUL) product[n++] = r->members.p[m];
    return n;
}
