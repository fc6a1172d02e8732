#include "runtime/data/readers.h"
gn_status *gn_npz_parse(const void *bytes, size_t n, gn_reading *r, gn_dataset **out)
{
    (void)bytes, (void)n, (void)out;
    GN_FAIL(GN_ERR_DATA, "'%s': .npz files are not read yet", r->origin);
}
