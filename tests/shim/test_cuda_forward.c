/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sources: ../support/random_diff.c ../support/random_gir.c ../support/random_gir_env.c
 * ../support/random_gir_ops.c ../support/random_gir_graphs.c ../support/random_gir_views.c
 * ../support/cuda_host.c
 * ../support/cuda_run.c ../support/run_compiled.c ../support/run_stage.c ../support/run_data.c */
/* timeout: 1800 */
/* Random programs: what the CUDA back end writes, run on the CPU, and the evaluators agree. */
#include "support/random_diff.h"

int main(void)
{
    return random_diff_cuda("random programs, CUDA", &(random_gir_options){.values = 0}, 320);
}
