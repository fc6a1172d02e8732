/* The machine that code is made for. */
#ifndef GN_CODEGEN_CPU_MACHINE_H
#define GN_CODEGEN_CPU_MACHINE_H

#include "base/status.h"
#include "ir/limits.h"

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

typedef struct cg_target {
    int lanes;                  /* f32 elements of a register */
    bool halves;                /* a register is worked on half by half (Zen 4) */
    bool fma;                   /* fused multiply-add */
    bool masks;                 /* mask registers (AVX-512) */
    bool f16c;                  /* conversions of half precision */
    int registers;              /* for vectors */
    bool pairs;                 /* products of two bf16 at a time, added to an f32 (AVX512-BF16) */
    const char *cpu, *features; /* LLVM's words; live as long as the process */
    const char *said;           /* of the host, its vectors for people */
} cg_target;

/* machine_x86.c, machine_arm.c, of which one is compiled: what the host is, or why it has no back
 * end; what a name is; which names there are. */
const char *cg_host_target(cg_target *t);
bool cg_named_target(const char *cpu, cg_target *out);
extern const char cg_named_said[];

/* `cpu` NULL: this host.  GN_ERR_BACKEND for a name that LLVM does not know or a machine without a
 * back end. */
gn_status *cg_target_find(const char *cpu, cg_target *out);
gn_status *cg_target_machine(const cg_target *t, int opt_level, LLVMTargetMachineRef *out);

#endif
