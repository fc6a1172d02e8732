/* Processors of 64-bit Arm. Vectors are those of 16 bytes (NEON), which all have, with fused
 * multiply-adds and conversions of half precision. */
#include "codegen/cpu/machine.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

#if defined(__aarch64__)

static const cg_target any = {
    .lanes = 4, .registers = 32, .fma = true, .f16c = true, .features = "+neon"};

/* Names that a CPU may have besides the host's: ours, and LLVM's. */
static const char *const named[][2] = {
    {"armv8-a", "generic"},         {"cortex-a53", "cortex-a53"},   {"cortex-a72", "cortex-a72"},
    {"cortex-a76", "cortex-a76"},   {"cortex-a78", "cortex-a78"},   {"neoverse-n1", "neoverse-n1"},
    {"neoverse-n2", "neoverse-n2"}, {"neoverse-v1", "neoverse-v1"}, {"neoverse-v2", "neoverse-v2"},
    {"ampere1", "ampere1"},         {"apple-m1", "apple-m1"},
};

const char *cg_host_target(cg_target *t)
{
    *t = any;
    t->cpu = LLVMGetHostCPUName();
    t->said = "+neon";
    return NULL;
}

bool cg_named_target(const char *cpu, cg_target *out)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(cpu, named[i][0]) != 0) continue;
        *out = any;
        out->cpu = named[i][1];
        return true;
    }
    return false;
}

const char cg_named_said[] = "armv8-a, native, or one of LLVM's names such as neoverse-n1";

#else
typedef int not_this_machine; /* a file is not empty */
#endif
