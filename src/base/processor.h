/* What is called otherwise on another kind of processor, for who writes objects or looks for files.
 * On any but x86-64 and 64-bit Arm there is no code to be had, and the names are those of x86-64.
 */
#ifndef GN_BASE_PROCESSOR_H
#define GN_BASE_PROCESSOR_H

#include <elf.h>

#if defined(__aarch64__)
#define GN_MACHINE "aarch64"
#define GN_ELF_MACHINE EM_AARCH64
#define GN_ELF_ADDRESS R_AARCH64_ABS64
#define GN_MULTIARCH "aarch64-linux-gnu"
#define GN_CUDA_FOLDER "sbsa-linux"
#else
#define GN_MACHINE "x86-64"
#define GN_ELF_MACHINE EM_X86_64
#define GN_ELF_ADDRESS R_X86_64_64      /* relocation: an address, of 8 bytes */
#define GN_MULTIARCH "x86_64-linux-gnu" /* Debian's folder of libraries */
#define GN_CUDA_FOLDER "x86_64-linux"   /* NVIDIA's */
#endif

#endif
