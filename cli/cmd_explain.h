/* What `gnnc explain` says, as text and as JSON. */
#ifndef GN_CLI_CMD_EXPLAIN_H
#define GN_CLI_CMD_EXPLAIN_H

#include "cli/device_code.h"
#include "session/explain.h"

const char *gn_cli_place(gn_arena *a, const gir_program *p, gir_id v); /* "conv.gnn:12", "" where it
                                                                          is not known */
int gn_cli_kernel_of(const gn_compiled *c, uint32_t r);                /* region's first launch */
const char *gn_cli_members(gn_arena *a, const gir_program *p, uint32_t n, const gir_id *v);
/* Values computed in a region for its members, and stored by none. */
uint32_t gn_cli_recomputed(gn_arena *a, const fusion *f, const region *r, gir_id **out);
/* is it of the unit, or of what it prepares? */
bool gn_cli_note_of(const gn_unit_report *u, const gn_pass_note *n);

const char *gn_cli_kernel_name(const gn_unit_report *u, int k); /* without the program's */
const char *gn_cli_kernel_place(gn_arena *a, const gn_unit_report *u, int k);
const char *gn_cli_amount(gn_arena *a, double x, const char *unit); /* "1.2 MB"; "-" for 0 */
/* A line, broken where it gets long: a label, and words. */
void gn_cli_print_words(const char *label, const char *text);
/* what a search chose; nothing where none did */
void gn_cli_explain_tuned(gn_arena *a, const gn_session *s);

/* What temporary `slot` holds once launch `at` has run: a value of the program, or 0; its name. */
gir_id gn_cli_held(const gn_compiled *c, int slot, int at, const char **name);
void gn_cli_print_memory(gn_arena *a, const gn_memory *m); /* "memory: ... in all: data ..." */

/* explain_memory.c: what a step, or the forward pass, takes, and what becomes of it with less.  The
 * options say which. */
GN_NODISCARD gn_status *gn_cli_explain_memory(gn_cli *cli, const gn_session_options *o);

/* explain_gpu.c: of a GPU's kernels. */
typedef struct gn_cli_gpu {
    int arch;                     /* 90: sm_90 */
    const char *name;             /* of the device; NULL: there is none, and nothing is timed */
    const char *why;              /* there is none */
    double copies;                /* GB/s of its memory, read and written by copies; 0: not known */
    gn_cli_facts *launch, *whole; /* gn_cli_cuda_facts */
} gn_cli_gpu;

/* What --device and --arch ask for.  *gpu false: this processor.  Opens the device, where there is
 * one and no --arch. */
GN_NODISCARD gn_status *gn_cli_explain_where(gn_cli *cli, gn_cli_gpu *out, bool *gpu);
/* Compiles all that the session would run, and finds the facts of one program. */
GN_NODISCARD gn_status *gn_cli_explain_facts(const gn_cli *cli, const gn_session *s,
                                             const gn_compiled *code, gn_cli_gpu *out);
void gn_cli_explain_gpu_head(gn_arena *a, const gn_session *s, const gn_unit_report *u,
                             const gn_cli_gpu *g);
void gn_cli_explain_gpu_table(gn_arena *a, const gn_unit_report *u, const gn_cli_gpu *g);
void gn_cli_explain_gpu_kernel(gn_arena *a, const gn_unit_report *u, const gn_cli_gpu *g, int k);
void gn_cli_explain_gpu_json(gn_json *j, const gn_unit_report *u, const gn_cli_gpu *g);
void gn_cli_explain_gpu_kernel_json(gn_json *j, const gn_unit_report *u, const gn_cli_gpu *g,
                                    int k);

/* Either c or gpu is NULL. */
void gn_cli_explain_json(const gn_cli *cli, const gn_session *s, const gn_ceilings *c,
                         const gn_cli_gpu *gpu, const gn_unit_report *u);

#endif
