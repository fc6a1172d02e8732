/* labels: long */
/* links: tune codegen lower passes frontend ir runtime base */
/* timeout: 600 */
/* Layers whose values lie in 16 bits between loops: no farther from PyTorch Geometric's doubles
 * than its own autocast is (half.txt), up to the rounding of what either keeps in float32. */
#define CONFORM_HALF
#include "conform/test_conform_code.c"
