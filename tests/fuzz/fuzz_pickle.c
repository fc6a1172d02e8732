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
    if (!s) s = gn_pickle_matrix(v, "fuzz", &m);
    gn_csr_free(m);
    gn_status_free(s);
    gn_arena_free(&a);
    return 0;
}
