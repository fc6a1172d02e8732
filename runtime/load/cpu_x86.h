/* What x86-64 processors may have: see cpu.h.
 *
 *    id         LLVM's name          leaf, subleaf, register (0 eax .. 3 edx), bit; registers that
 *                                    the system must keep: 0 none, 1 ymm, 2 zmm */
#ifndef GN_RUNTIME_LOAD_CPU_X86_H
#define GN_RUNTIME_LOAD_CPU_X86_H

#define GN_CPU_FEATURES(X)                                                                         \
    X(SSE3, "sse3", 1, 0, 2, 0, 0)                                                                 \
    X(SSSE3, "ssse3", 1, 0, 2, 9, 0)                                                               \
    X(SSE41, "sse4.1", 1, 0, 2, 19, 0)                                                             \
    X(SSE42, "sse4.2", 1, 0, 2, 20, 0)                                                             \
    X(POPCNT, "popcnt", 1, 0, 2, 23, 0)                                                            \
    X(MOVBE, "movbe", 1, 0, 2, 22, 0)                                                              \
    X(PCLMUL, "pclmul", 1, 0, 2, 1, 0)                                                             \
    X(AES, "aes", 1, 0, 2, 25, 0)                                                                  \
    X(AVX, "avx", 1, 0, 2, 28, 1)                                                                  \
    X(F16C, "f16c", 1, 0, 2, 29, 1)                                                                \
    X(FMA, "fma", 1, 0, 2, 12, 1)                                                                  \
    X(AVX2, "avx2", 7, 0, 1, 5, 1)                                                                 \
    X(BMI, "bmi", 7, 0, 1, 3, 0)                                                                   \
    X(BMI2, "bmi2", 7, 0, 1, 8, 0)                                                                 \
    X(LZCNT, "lzcnt", 0x80000001, 0, 2, 5, 0)                                                      \
    X(GFNI, "gfni", 7, 0, 2, 8, 0)                                                                 \
    X(VAES, "vaes", 7, 0, 2, 9, 1)                                                                 \
    X(VPCLMUL, "vpclmulqdq", 7, 0, 2, 10, 1)                                                       \
    X(SHA, "sha", 7, 0, 1, 29, 0)                                                                  \
    X(AVX512F, "avx512f", 7, 0, 1, 16, 2)                                                          \
    X(AVX512DQ, "avx512dq", 7, 0, 1, 17, 2)                                                        \
    X(AVX512IFMA, "avx512ifma", 7, 0, 1, 21, 2)                                                    \
    X(AVX512CD, "avx512cd", 7, 0, 1, 28, 2)                                                        \
    X(AVX512BW, "avx512bw", 7, 0, 1, 30, 2)                                                        \
    X(AVX512VL, "avx512vl", 7, 0, 1, 31, 2)                                                        \
    X(AVX512VBMI, "avx512vbmi", 7, 0, 2, 1, 2)                                                     \
    X(AVX512VBMI2, "avx512vbmi2", 7, 0, 2, 6, 2)                                                   \
    X(AVX512VNNI, "avx512vnni", 7, 0, 2, 11, 2)                                                    \
    X(AVX512BITALG, "avx512bitalg", 7, 0, 2, 12, 2)                                                \
    X(AVX512VPOPCNT, "avx512vpopcntdq", 7, 0, 2, 14, 2)                                            \
    X(AVX512VP2I, "avx512vp2intersect", 7, 0, 3, 8, 2)                                             \
    X(AVX512FP16, "avx512fp16", 7, 0, 3, 23, 2)                                                    \
    X(AVXVNNI, "avxvnni", 7, 1, 0, 4, 1)                                                           \
    X(AVX512BF16, "avx512bf16", 7, 1, 0, 5, 2)                                                     \
    X(AVXIFMA, "avxifma", 7, 1, 0, 23, 1)                                                          \
    X(AVXVNNI8, "avxvnniint8", 7, 1, 3, 4, 1)                                                      \
    X(AVXNECONVERT, "avxneconvert", 7, 1, 3, 5, 1)                                                 \
    X(AVXVNNI16, "avxvnniint16", 7, 1, 3, 10, 1)                                                   \
    X(SSE4A, "sse4a", 0x80000001, 0, 2, 6, 0)                                                      \
    X(XOP, "xop", 0x80000001, 0, 2, 11, 1)                                                         \
    X(FMA4, "fma4", 0x80000001, 0, 2, 16, 1)                                                       \
    X(TBM, "tbm", 0x80000001, 0, 2, 21, 0)

/* The levels of the psABI (System V ABI, AMD64 supplement, table 3.1): a name, and its features. */
#define GN_CPU_HAS(id) ((uint64_t)1 << GN_CPU_##id)
#define GN_CPU_V2                                                                                  \
    (GN_CPU_HAS(SSE3) | GN_CPU_HAS(SSSE3) | GN_CPU_HAS(SSE41) | GN_CPU_HAS(SSE42) |                \
     GN_CPU_HAS(POPCNT))
#define GN_CPU_V3                                                                                  \
    (GN_CPU_V2 | GN_CPU_HAS(AVX) | GN_CPU_HAS(AVX2) | GN_CPU_HAS(BMI) | GN_CPU_HAS(BMI2) |         \
     GN_CPU_HAS(F16C) | GN_CPU_HAS(FMA) | GN_CPU_HAS(LZCNT) | GN_CPU_HAS(MOVBE))
#define GN_CPU_V4                                                                                  \
    (GN_CPU_V3 | GN_CPU_HAS(AVX512F) | GN_CPU_HAS(AVX512BW) | GN_CPU_HAS(AVX512CD) |               \
     GN_CPU_HAS(AVX512DQ) | GN_CPU_HAS(AVX512VL))
#define GN_CPU_LEVELS(X)                                                                           \
    X("x86-64-v2", GN_CPU_V2)                                                                      \
    X("x86-64-v3", GN_CPU_V3)                                                                      \
    X("x86-64-v4", GN_CPU_V4)

#endif
