/* IR text in files: tensor IR ("program ...") or loop IR ("kernel ..."). */
#ifndef GN_CLI_IRFILE_H
#define GN_CLI_IRFILE_H

#include "cli/command.h"
#include "ir/gir.h"
#include "ir/kir.h"

typedef struct gn_ir { /* exactly one is set */
    gir_program *program;
    kir_kernel *kernel;
} gn_ir;

/* Reads and verifies; "-" is standard input. */
GN_NODISCARD gn_status *gn_cli_read_ir(const gn_cli *cli, const char *path, gn_ir *out);

/* To the path, or to standard output when it is NULL. */
GN_NODISCARD gn_status *gn_cli_write_text(const char *path, const gn_buf *text);

#endif
