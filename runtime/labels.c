/* Labels of nodes, as whoever binds them gives them. */
#include "runtime/labels.h"

gn_status *gn_labels_check(const char *name, int64_t rows, const int32_t *y, int64_t classes)
{
    for (int64_t v = 0; v < rows; v++)
        if (y[v] < -1 || y[v] >= classes)
            GN_FAIL(GN_ERR_DATA,
                    "%s: row %lld is class %d; classes are 0 to %lld, and -1 is unknown", name,
                    (long long)v, (int)y[v], (long long)classes - 1);
    return NULL;
}
