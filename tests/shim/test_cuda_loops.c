/* labels: long */
/* links: codegen runtime ir base */
/* timeout: 300 */
/* Loops, tiles, memory and reductions of test_codegen_loops.c, as the CUDA back end writes them. */
#define CODEGEN_CUDA 1
#include "unit/test_codegen_loops.c"
