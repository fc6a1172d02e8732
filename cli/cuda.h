/* What `gnnc compile` does with --device cuda, and what --version and doctor say of it. */
#ifndef GN_CLI_CUDA_H
#define GN_CLI_CUDA_H

#include "cli/session.h"
#include "driver/cuda.h"

/* --device cuda, or a stage that only CUDA has. */
bool gn_cli_is_cuda(const gn_cli *cli);
/* Options that do not go together, an architecture that is none. GN_ERR_USAGE. */
GN_NODISCARD gn_status *gn_cli_check_cuda(const gn_cli *cli);

/* "cuda", "ptx" or "cubin" of the programs' kernels, appended. */
GN_NODISCARD gn_status *gn_cli_emit_cuda(const gn_cli *cli, int n, const gn_compiled *const *programs, const char *what,
                                         gn_buf *out);
/* Compiles to cubins and prints what came of each kernel. */
GN_NODISCARD gn_status *gn_cli_report_cuda(const gn_cli *cli, int n, const char *const *names,
                                           gn_compiled *const *programs);

#endif
