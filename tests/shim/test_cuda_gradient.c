/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sanitized: no */
/* timeout: 1800 */
/* Random programs with gradients: what the CUDA back end writes, run on the CPU, and the evaluators
 * agree. */
#include "support/random_diff.h"

int main(void)
{
    return random_diff_cuda("CUDA, random gradients", &(random_gir_options){.backward = true}, 320);
}
