/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 1800 */
/* Random losses with their gradients and updates: evaluators and compiled code agree. */
#include "support/random_diff.h"

int main(void)
{
    return random_diff("random gradients", &(random_gir_options){.backward = true}, 920);
}
