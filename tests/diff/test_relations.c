/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 900 */
/* Random layers of sums over the edges of several relations, and their gradients: evaluators and
 * compiled code agree. */
#include "support/random_diff.h"

int main(void)
{
    random_gir_options opt = {.relations = 11, .backward = true};
    return random_diff("random relations", &opt, 160);
}
