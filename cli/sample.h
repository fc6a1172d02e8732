/* Samples by their names: those that were installed with the program. */
#ifndef GN_CLI_SAMPLE_H
#define GN_CLI_SAMPLE_H

#include "base/arena.h"

/* The file that `name` means: itself where it is there, and else NAME.gnn, or the sample of that
 * name, "gcn", "gcn.gnn" or "samples/gcn.gnn", in share/gnnc/samples beside the folder of this
 * program (in a build tree, samples/ of the source). In the arena; NULL where there is none. */
const char *gn_cli_find_model(gn_arena *a, const char *name);

#endif
