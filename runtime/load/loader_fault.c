#include "runtime/load/loader.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void gn_kernel_fault(const char *kernel, const char *buffer, int64_t index, int64_t size)
{
    fprintf(stderr,
            "gnnc: kernel %s: index %lld is outside of buffer %s, which has %lld elements\n",
            kernel, (long long)index, buffer, (long long)size);
    abort();
}
