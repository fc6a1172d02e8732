/* Ctrl-C in work that has something to keep: the first SIGINT asks for an end, the second one ends
 * the process at once. */
#ifndef GN_CLI_INTERRUPT_H
#define GN_CLI_INTERRUPT_H

#include <stdatomic.h>

/* From here on a SIGINT makes this true, and what looks at it ends early.  Where SIGINT is ignored
 * (as a shell does for what runs in the background) it stays so. */
const atomic_bool *gn_cli_interrupt_begin(void);
/* From here on SIGINT does what it did before. */
void gn_cli_interrupt_end(void);

#endif
