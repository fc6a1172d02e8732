/* Pickles, and the matrices made of what is in them. */
/* links: runtime base */
#include "runtime/data/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_arena a;
    gn_pickle_value *v;
    gn_csr *m = NULL;
    gn_arena_init(&a);
    gn_status *s = gn_pickle_parse(&a, data, size, "fuzz", &v);
    if (!s && v->kind == GN_PICKLE_CSR && v->u.csr->data.kind) s = gn_csr_from_arrays(v->u.csr, "fuzz", &m);
    if (!s && v->kind == GN_PICKLE_ARRAY && v->u.array->rank == 2 && v->u.array->dim[1] > 0)
        s = gn_csr_from_dense(v->u.array, "fuzz", &m);
    gn_csr_free(m);
    gn_status_free(s);
    gn_arena_free(&a);
    return 0;
}
