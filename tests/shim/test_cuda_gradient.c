/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sources: ../support/random_diff.c ../support/random_gir.c ../support/random_gir_env.c
 * ../support/random_gir_ops.c ../support/random_gir_graphs.c ../support/random_gir_views.c
 * ../support/cuda_host.c
 * ../support/cuda_run.c ../support/run_compiled.c ../support/run_stage.c ../support/run_data.c */
/* sanitized: no */
/* timeout: 1800 */
/* Random programs with gradients: what the CUDA back end writes, run on the CPU, and the evaluators
 * agree. */
#include "support/random_diff.h"

int main(void)
{
    return random_diff_cuda("CUDA, random gradients", &(random_gir_options){.backward = true}, 320);
}
