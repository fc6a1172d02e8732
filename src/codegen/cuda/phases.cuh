/* What a program in one kernel uses besides: its kernels are functions, phases, that all blocks of
 * the grid call in order. */
#ifdef __CUDACC_RTC__
#define GN_CALLED static __device__ __noinline__
#define GN_LINKED extern "C" __device__ __noinline__
#define GN_TABLE static __constant__ const unsigned short
#define GN_OF_GRID __grid_constant__ const
#define GN_SHARED_OF_ALL(bytes) __shared__ __align__(16) unsigned char gn_shared[bytes]
#define GN_SHARED_OF_OTHERS(bytes) extern __shared__ __align__(16) unsigned char gn_shared[bytes]
#define GN_SHARED_OF_PHASE ((void)0)
#define GN_PEEK(p) (*(const volatile gn_u32 *)(p))
#define GN_IDLE() ((void)0)
#endif

#ifdef GN_PIECE /* phases are divided among programs that are linked */
#define GN_PHASE GN_LINKED void
#else
#define GN_PHASE GN_CALLED void
#endif

/* All blocks of the grid meet, which are all running: the launch is cooperative.  Each adds one to
 * *gate, the first one what takes the sum to the next multiple of 2^31: the top bit turns when all
 * have come, and the others are 0 again.  What was written before is seen after. */
GN_CALLED void gn_meet(gn_u32 *gate)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const gn_u32 before = atomicAdd(gate, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u);
        while (((before ^ GN_PEEK(gate)) & 0x80000000u) == 0) GN_IDLE();
        __threadfence();
    }
    __syncthreads();
}

/* `turn` says of a phase: 1 that it runs, 2 that the grid meets before, and times 4 the block that
 * takes its first part, so that small phases that need not wait for each other run side by side.
 * This block's part; -1: the phase does not run.  Called, since there is one before each phase, and
 * all of them inlined take as long to compile as a phase. */
GN_CALLED int gn_begins(const gn_i64 turn, gn_u32 *gate)
{
    if (!(turn & 1)) return -1;
    if (turn & 2)
        gn_meet(gate);
    else
        __syncthreads(); /* shared memory is one phase's after the other */
    const int first = (int)(turn >> 2), block = (int)blockIdx.x;
    return block < first ? block - first + (int)gridDim.x : block - first;
}

GN_CALLED void gn_copy(const int block, void *to, const void *from, const gn_i64 bytes)
{
    const gn_i64 words = bytes >> 2, all = (gn_i64)gridDim.x * blockDim.x;
    const gn_i64 k = (gn_i64)block * blockDim.x + threadIdx.x, last = words * 4 + k;
    if (to == from) return;
    for (gn_i64 w = k; w < words; w += all) ((gn_u32 *)to)[w] = ((const gn_u32 *)from)[w];
    if (last < bytes)
        ((gn_u8 *)to)[last] = ((const gn_u8 *)from)[last]; /* three at most, and a block has more
                                                              threads */
}
