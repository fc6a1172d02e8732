/* What `gnnc explain` says, as text and as JSON. */
#ifndef GN_CLI_EXPLAIN_H
#define GN_CLI_EXPLAIN_H

#include "cli/session.h"
#include "driver/explain.h"

const char *gn_cli_place(gn_arena *a, const gir_program *p, gir_id v); /* "conv.gnn:12", "" where it is not known */
int gn_cli_kernel_of(const gn_compiled *c, uint32_t r);                /* region's first launch */
const char *gn_cli_members(gn_arena *a, const gir_program *p, uint32_t n, const gir_id *v);
/* Values computed in a region for its members, and stored by none. */
uint32_t gn_cli_recomputed(gn_arena *a, const fusion *f, const region *r, gir_id **out);
bool gn_cli_note_of(const gn_unit_report *u, const gn_pass_note *n); /* is it of the unit, or of what it prepares? */

void gn_cli_explain_json(const gn_cli *cli, const gn_session *s, const gn_ceilings *c, const gn_unit_report *u);

#endif
