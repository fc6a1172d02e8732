/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* sources: ../support/random_diff.c ../support/random_gir.c ../support/random_gir_env.c
 * ../support/random_gir_ops.c
 * ../support/random_gir_graphs.c ../support/random_gir_typed.c ../support/random_gir_views.c
 * ../support/cuda_host.c ../support/cuda_run.c ../support/run_compiled.c ../support/run_stage.c
 * ../support/run_data.c */
/* timeout: 900 */
/* Random layers of sums over the edges of several relations, and their gradients, in the modes of
 * CUDA. */
#include "support/random_diff.h"

int main(void)
{
    random_gir_options opt = {.relations = 11, .backward = true};
    return random_diff_cuda("CUDA relations", &opt, 60);
}
