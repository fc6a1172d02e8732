/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 1800 */
/* Random programs: what the CUDA back end writes, run on the CPU, and the evaluators agree. */
#include "support/random_diff.h"

int main(void)
{
    return random_diff_cuda("random programs, CUDA", &(random_gir_options){.values = 0}, 320);
}
