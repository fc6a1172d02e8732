/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 900 */
/* Random layers of sums over the edges of several relations, and their gradients, in the modes of
 * CUDA. */
#include "support/random_diff.h"

int main(void)
{
    random_gir_options opt = {.relations = 11, .backward = true};
    return random_diff_cuda("CUDA relations", &opt, 60);
}
