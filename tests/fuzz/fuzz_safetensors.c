/* safetensors. */
/* links: runtime base */
#include "runtime/data/tensorfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_tensor_file *f = NULL;
    gn_status *s = gn_safetensors_parse(data, size, "fuzz", &f);
    gn_status_free(s);
    gn_tensor_file_free(f);
    return 0;
}
