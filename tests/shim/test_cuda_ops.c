/* labels: long */
/* links: codegen runtime ir base */
/* timeout: 300 */
/* Every instruction and type of test_codegen_ops.c, as the CUDA back end writes them. */
#define CODEGEN_CUDA 1
#include "unit/test_codegen_ops.c"
