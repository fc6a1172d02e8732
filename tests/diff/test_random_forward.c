/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 1800 */
/* Random programs: evaluators and compiled code agree. */
#include "support/random_diff.h"

int main(void) { return random_diff("random programs", &(random_gir_options){.values = 0}, 920); }
