/* What `gnnc compile` and `gnnc explain` do with --device cuda. */
#ifndef GN_CLI_DEVICE_CODE_H
#define GN_CLI_DEVICE_CODE_H

#include "cli/session_options.h"
#include "target/cuda_code.h"

/* --device cuda, or a stage that only CUDA has. */
bool gn_cli_is_cuda(const gn_cli *cli);
/* Options that do not go together, an architecture that is none. GN_ERR_USAGE. */
GN_NODISCARD gn_status *gn_cli_check_cuda(const gn_cli *cli);

/* --arch, as 90; 80 where there is none.  GN_ERR_USAGE: no architecture. */
GN_NODISCARD gn_status *gn_cli_arch(const gn_cli *cli, int *out);

/* "cuda", "ptx" or "cubin" of the programs' kernels, appended. */
GN_NODISCARD gn_status *gn_cli_emit_cuda(const gn_cli *cli, int n,
                                         const gn_compiled *const *programs, const char *what,
                                         gn_buf *out);
/* How a kernel is launched, and what it uses; of a phase of a program in one kernel the geometry
 * alone is known. */
typedef struct gn_cli_facts {
    gn_cuda_geometry geometry;
    gn_cuda_usage usage;
} gn_cli_facts;

/* Those of the launches of programs[p], in the arena; it is compiled with the others, so that what
 * is in a cache is found there.  A copy's are 0.  *whole: of the one kernel that it is; NULL: it is
 * launch by launch. */
GN_NODISCARD gn_status *gn_cli_cuda_facts(const gn_cli *cli, int n, gn_compiled *const *programs,
                                          int p, int arch, gn_cli_facts **launches,
                                          gn_cli_facts **whole);

/* Prints of each product who could make it; with -v, or where a search would time that. */
void gn_cli_report_products(const gn_cli *cli, const gn_compiled *c);
/* Compiles to cubins and prints what came of each kernel. */
GN_NODISCARD gn_status *gn_cli_report_cuda(const gn_cli *cli, int n, const char *const *names,
                                           gn_compiled *const *programs);

#endif
