/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sanitized: no */
/* timeout: 1800 */
/* Every layer and loss of the standard library with its gradients, and the loss of a training step:
 * what the CUDA back end writes against what PyTorch Geometric computed (test_conform_code.c). */
#define CONFORM_CUDA                                                                               \
    (1u << RUN_MODE_COUNT | 2u << RUN_MODE_COUNT) /* run_modes: "CUDA" and "CUDA, eager, sparse"   \
                                                   */
#define CONFORM_ONE(number) (1u << RUN_MODE_COUNT << (number) % 2) /* compiled, in turn */
#include "conform/test_conform_code.c"
