/* What is written of the command line when gnnc is built, from the table of options: a manual
 * page a command, and completion for shells. */
#ifndef GN_CLI_PAGES_H
#define GN_CLI_PAGES_H

#include "cli/command.h"

void gn_page_man(const gn_command *c, uint32_t bit, FILE *to); /* for man(7) */

/* Of all commands: GN_COMMAND_COUNT of them, in the order of their bits. */
void gn_page_bash(gn_arena *a, const gn_command *const *commands, FILE *to);
void gn_page_zsh(gn_arena *a, const gn_command *const *commands, FILE *to);
void gn_page_fish(gn_arena *a, const gn_command *const *commands, FILE *to);

#endif
