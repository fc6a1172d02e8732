/* What 64-bit Arm processors may have: see cpu.h.
 *
 *    id        LLVM's name      word (0 AT_HWCAP, 1 AT_HWCAP2), bit */
#ifndef GN_RUNTIME_LOAD_CPU_ARM_H
#define GN_RUNTIME_LOAD_CPU_ARM_H

#define GN_CPU_FEATURES(X)                                                                         \
    X(FP, "fp-armv8", 0, 0)                                                                        \
    X(NEON, "neon", 0, 1)                                                                          \
    X(AES, "aes", 0, 3)                                                                            \
    X(SHA2, "sha2", 0, 6)                                                                          \
    X(CRC, "crc", 0, 7)                                                                            \
    X(LSE, "lse", 0, 8)                                                                            \
    X(FULLFP16, "fullfp16", 0, 10)                                                                 \
    X(RDM, "rdm", 0, 12)                                                                           \
    X(JSCONV, "jsconv", 0, 13)                                                                     \
    X(COMPLXNUM, "complxnum", 0, 14)                                                               \
    X(RCPC, "rcpc", 0, 15)                                                                         \
    X(SHA3, "sha3", 0, 17)                                                                         \
    X(DOTPROD, "dotprod", 0, 20)                                                                   \
    X(SVE, "sve", 0, 22)                                                                           \
    X(FP16FML, "fp16fml", 0, 23)                                                                   \
    X(SVE2, "sve2", 1, 1)                                                                          \
    X(I8MM, "i8mm", 1, 13)                                                                         \
    X(BF16, "bf16", 1, 14)

/* The least that there is: vectors of 16 bytes. */
#define GN_CPU_HAS(id) ((uint64_t)1 << GN_CPU_##id)
#define GN_CPU_LEVELS(X) X("armv8-a", GN_CPU_HAS(FP) | GN_CPU_HAS(NEON))

#endif
