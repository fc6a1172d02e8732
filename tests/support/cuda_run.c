#include "support/cuda_run.h"

#include "base/sanitized.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if GN_UNDER_ASAN
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
void __asan_unpoison_memory_region(const volatile void *at, size_t size);
#endif
#if GN_UNDER_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_destroy_fiber(void *fiber);
#define TELL_TSAN(fiber)                                                                           \
    __tsan_switch_to_fiber(fiber, 0) /* no function: it would end as another fiber than it began   \
                                      */
#else
#define TELL_TSAN(fiber) ((void)0)
#endif

enum { MAX_THREADS = 1024, MAX_ALIVE = 4096, WARP = 32, STACK = 256 * 1024, REDZONE = 1024 };

typedef enum state { READY, AT_WARP, AT_SHUFFLE, AT_PRODUCT, AT_PART, AT_BLOCK, IDLE, ENDED } state;

typedef struct fiber {
    ucontext_t context; /* as it begins, the first time */
    jmp_buf start;      /* where it begins once it has been on its stack */
    jmp_buf at;         /* where it waits */
    bool known;         /* start is */
    bool begun, idled;  /* idled: the last time that it ran it found nothing to do */
    state state;
    unsigned mask;
    uint64_t mine;
    unsigned from;
#if GN_UNDER_ASAN
    void *fake; /* where locals are; kept for the next thread, like the stack */
#endif
#if GN_UNDER_TSAN
    void *tsan;
#endif
} fiber;

typedef struct machine {
    fiber *fiber; /* of the block that runs, and its stacks and shared memory, with a red zone on
                     either side */
    unsigned char *stacks, *shared;
    fiber *all; /* of all blocks that are alive, in turn */
    unsigned char *all_stacks, *all_shared;
    int threads, at; /* at: the one that runs */
    jmp_buf back;
    cuda_entry fn;
    void **args;
    gn_shim_host host;
    size_t shared_bytes;
    uint64_t random;
    bool moved; /* since it was last asked: a thread did something besides looking whether it may go
                   on */
    char wrong[200]; /* the first thing */
#if GN_UNDER_ASAN
    void *fake;
    const void *bottom;
    size_t size;
#endif
#if GN_UNDER_TSAN
    void *tsan;
#endif
} machine;

static machine *M; /* fibers find it here; tests are one thread */

static void complain(const char *what)
{
    if (M->wrong[0]) return;
    snprintf(M->wrong, sizeof M->wrong, "block %u, thread %u: %s", M->host.block.x,
             M->host.thread.x, what);
}

static uint64_t next_random(void)
{
    M->random = M->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return M->random >> 33;
}

/* To where another fiber, or the host, waits.  The C library's own: AddressSanitizer's takes it
 * that frames are left for good, and asks the system for the whole stack to clear what it knows of
 * it. */
static void jump(jmp_buf to)
{
#if GN_UNDER_ASAN
    static void (*plain)(struct __jmp_buf_tag *, int);
    if (!plain) {
        void *at = dlsym(RTLD_NEXT, "_longjmp");
        memcpy(&plain, &at, sizeof at);
    }
    plain(to, 1);
#else
    _longjmp(to, 1);
#endif
}

static void to_host(void)
{
    fiber *f = &M->fiber[M->at];
#if GN_UNDER_ASAN
    __sanitizer_start_switch_fiber(&f->fake, M->bottom, M->size);
#endif
    if (f->state == ENDED || !_setjmp(f->at)) {
        TELL_TSAN(M->tsan);
        jump(M->back);
    }
#if GN_UNDER_ASAN
    __sanitizer_finish_switch_fiber(f->fake, NULL, NULL);
#endif
}

/* Later threads begin where the first one did, wherever that one ended: contexts take calls of the
 * kernel, and TSan has calls of each fiber for good. */
static void begin_fiber(void)
{
    M->fiber[M->at].known = true;
    (void)_setjmp(M->fiber[M->at].start);
#if GN_UNDER_ASAN
    __sanitizer_finish_switch_fiber(M->fiber[M->at].fake, &M->bottom, &M->size);
#endif
    M->fn(M->args);
    M->fiber[M->at].state = ENDED;
    to_host();
}

static void switch_to(int t)
{
    fiber *f = &M->fiber[t];
    M->at = t;
    M->host.thread = (gn_shim_index){(unsigned)t, 0, 0};
    if (_setjmp(M->back)) {
#if GN_UNDER_ASAN
        __sanitizer_finish_switch_fiber(M->fake, NULL, NULL);
#endif
        return;
    }
#if GN_UNDER_ASAN
    __sanitizer_start_switch_fiber(&M->fake, M->stacks + (size_t)t * STACK, STACK);
#endif
    bool begun = f->begun;
    f->begun = true;
#if GN_UNDER_TSAN
    if (!f->tsan) f->tsan = __tsan_create_fiber(0);
#endif
    TELL_TSAN(f->tsan);
    if (begun) jump(f->at);
    if (f->known) jump(f->start);
    setcontext(&f->context);
}

static void run_fiber(int t)
{
    fiber *f = &M->fiber[t];
    switch_to(t);
    if (f->state != IDLE || !f->idled) M->moved = true;
    f->idled = f->state == IDLE;
}

/* Waiting -------------------------------------------------------------------------------------- */

static void wait_at(state s, unsigned mask)
{
    fiber *f = &M->fiber[M->at];
    f->state = s;
    f->mask = mask;
    bool of_warp = s == AT_WARP || s == AT_SHUFFLE || s == AT_PRODUCT;
    if (of_warp && !(mask >> M->at % WARP & 1))
        complain("a barrier or shuffle whose mask lacks the lane itself");
    if (s == AT_PART && (unsigned)M->at >= mask)
        complain("a barrier of the block's first threads, where it is none");
    to_host();
}

static void meet(unsigned mask, gn_shim_whom whom)
{
    static const state at[] = {AT_WARP, AT_BLOCK, AT_PRODUCT, AT_PART};
    wait_at(at[whom], mask);
}

static void idle(void) { wait_at(IDLE, 0); }

static uint64_t exchange(unsigned mask, uint64_t mine, unsigned from)
{
    fiber *f = &M->fiber[M->at];
    f->mine = mine;
    f->from = from;
    if (!(mask >> from % WARP & 1)) complain("a shuffle from a lane that is not in its mask");
    wait_at(AT_SHUFFLE, mask);
    return f->mine;
}

static unsigned char *shared(size_t bytes)
{
    if (bytes != M->shared_bytes) complain("shared memory of another size than the launch gives");
    return M->shared + REDZONE;
}

/* All lanes of t's mask wait as t does: they go on. */
static bool release_warp(int t)
{
    fiber *f = &M->fiber[t], *warp = &M->fiber[t / WARP * WARP];
    uint64_t got[WARP];
    for (int l = 0; l < WARP; l++) {
        if (!(f->mask >> l & 1)) continue;
        if (t / WARP * WARP + l >= M->threads || warp[l].state != f->state ||
            warp[l].mask != f->mask)
            return false;
        got[l] = warp[warp[l].from % WARP].mine;
    }
    for (int l = 0; l < WARP; l++) {
        if (!(f->mask >> l & 1)) continue;
        if (warp[l].state == AT_SHUFFLE) warp[l].mine = got[l];
        warp[l].state = READY;
    }
    return true;
}

/* All threads that have not ended wait for the block. */
static bool release_block(void)
{
    for (int t = 0; t < M->threads; t++)
        if (M->fiber[t].state != AT_BLOCK && M->fiber[t].state != ENDED) return false;
    for (int t = 0; t < M->threads; t++)
        if (M->fiber[t].state == AT_BLOCK) M->fiber[t].state = READY;
    return true;
}

/* The first threads of the block wait for each other, as many as t says. */
static bool release_part(int t)
{
    int n = (int)M->fiber[t].mask;
    for (int k = 0; k < n; k++)
        if (k >= M->threads || M->fiber[k].state != AT_PART || (int)M->fiber[k].mask != n)
            return false;
    for (int k = 0; k < n; k++) M->fiber[k].state = READY;
    return true;
}

/* false: what is left waits for another block. */
static bool release_some(void)
{
    bool idles = false;
    for (int t = 0; t < M->threads; t++) {
        state s = M->fiber[t].state;
        if ((s == AT_WARP || s == AT_SHUFFLE || s == AT_PRODUCT) && release_warp(t)) return true;
        if (s == AT_PART && release_part(t)) return true;
        idles = idles || s == IDLE;
    }
    if (release_block()) return true;
    if (!idles) complain("waits for lanes that have ended or wait elsewhere");
    return false;
}

/* Blocks --------------------------------------------------------------------------------------- */

/* Bytes from one block's shared memory to the next one's. */
static size_t apart(size_t bytes) { return (bytes + 2 * (size_t)REDZONE + 63) / 64 * 64; }

/* Block number k of those that are alive is the one that runs. */
static void enter(int64_t k, int64_t block)
{
    M->fiber = M->all + k * M->threads;
    M->stacks = M->all_stacks + (size_t)k * (size_t)M->threads * STACK;
    M->shared = M->all_shared + (size_t)k * apart(M->shared_bytes);
    M->host.block = (gn_shim_index){(unsigned)block, 0, 0};
}

static void begin_threads(void)
{
    for (int t = 0; t < M->threads; t++) {
        fiber *f = &M->fiber[t];
        if (!f->known) {
            void *stack = M->stacks + (size_t)t * STACK;
            getcontext(&f->context);
            f->context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
            f->context.uc_link = NULL;
            makecontext(&f->context, begin_fiber, 0);
        }
        f->begun = f->idled = false;
        f->state = READY;
    }
}

/* Until its threads have ended (true), or wait for other blocks; in the seeded order until one
 * does: the others may not have come as far. */
static bool run_block(cuda_order order)
{
    int ready[MAX_THREADS];
    while (!M->wrong[0]) {
        int n = 0, ended = 0;
        for (int t = 0; t < M->threads; t++) {
            if (M->fiber[t].state == READY) ready[n++] = t;
            ended += M->fiber[t].state == ENDED;
        }
        if (ended == M->threads) return true;
        if (n == 0 && !release_some()) return false;
        while (n && order == CUDA_SEEDED && !M->wrong[0]) {
            int k = (int)(next_random() % (uint64_t)n), t = ready[k];
            run_fiber(t);
            if (M->fiber[t].state == IDLE) return false;
            memmove(ready + k, ready + k + 1, (size_t)(--n - k) * sizeof *ready);
        }
        for (int k = 0; k < n && order != CUDA_SEEDED; k++)
            run_fiber(order == CUDA_UP ? ready[k] : ready[n - 1 - k]);
    }
    return true;
}

/* Lanes that never meet need no fibers, and may have large frames. */
static void run_alone(cuda_order order)
{
    for (int t = 0; t < M->threads && !M->wrong[0]; t++) {
        int at = order == CUDA_UP ? t : M->threads - 1 - t;
        M->host.thread = (gn_shim_index){(unsigned)at, 0, 0};
        M->fn(M->args);
    }
}

static bool is_filled(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0xff) return false;
    return true;
}

static void fill_shared(void) { memset(M->shared, 0xff, M->shared_bytes + 2 * (size_t)REDZONE); }

static void check_shared(void)
{
    if (!is_filled(M->shared, REDZONE) ||
        !is_filled(M->shared + REDZONE + M->shared_bytes, REDZONE))
        complain("writes beside its shared memory");
}

static void run_blocks(const cuda_work *w)
{
    for (int64_t b = 0; b < w->blocks && !M->wrong[0]; b++) {
        enter(0, w->order == CUDA_UP ? b : w->blocks - 1 - b);
        fill_shared();
        if (w->alone) {
            run_alone(w->order);
        } else {
            begin_threads();
            if (!run_block(w->order)) complain("waits for other blocks, which need not be running");
        }
        check_shared();
    }
}

/* Blocks that wait for each other, in turn: each until it can do no more.  So one runs as far ahead
 * of the others as what they wait for allows, another one in each order. */
static void run_together(const cuda_work *w)
{
    int64_t at[MAX_ALIVE], n = w->blocks;
    for (int64_t b = 0; b < n; b++) {
        at[b] = w->order == CUDA_UP ? b : n - 1 - b;
        enter(b, b);
        fill_shared();
        begin_threads();
    }
    while (n && !M->wrong[0]) {
        int64_t left = 0;
        M->moved = false;
        for (int64_t k = n - 1; w->order == CUDA_SEEDED && k > 0; k--) {
            int64_t j = (int64_t)(next_random() % (uint64_t)(k + 1)), was = at[k];
            at[k] = at[j];
            at[j] = was;
        }
        for (int64_t k = 0; k < n && !M->wrong[0]; k++) {
            enter(at[k], at[k]);
            for (int t = 0; t < M->threads; t++)
                if (M->fiber[t].state == IDLE) M->fiber[t].state = READY;
            if (!run_block(w->order)) at[left++] = at[k];
            check_shared();
        }
        if (left && !M->moved) complain("all blocks wait for ever");
        n = left;
    }
}

/* Stacks of `n` fibers, for the life of the process. */
static gn_status *fibers(size_t n, fiber **out, unsigned char **stacks)
{
    static fiber *all;
    static unsigned char *memory;
    static size_t had;
    if (had < n) {
        size_t room = n > MAX_THREADS ? MAX_ALIVE : MAX_THREADS;
        void *p = mmap(NULL, room * STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) GN_FAIL(GN_ERR_NOMEM, "no memory for stacks");
#if GN_UNDER_TSAN
        for (size_t k = 0; k < had; k++)
            if (all[k].tsan) __tsan_destroy_fiber(all[k].tsan);
#endif
        if (had) munmap(memory, had * STACK);
        fiber *more = calloc(room, sizeof *more);
#if GN_UNDER_ASAN
        for (size_t k = 0; k < had; k++) more[k].fake = all[k].fake;
#endif
        free(all);
        all = more;
        memory = p;
        had = room;
    }
    *out = all;
    *stacks = memory;
    return NULL;
}

#if GN_UNDER_ASAN
/* Of fibers that did not come to their ends: others begin on their stacks. */
static void forget_frames(fiber *all, const unsigned char *stacks, size_t n)
{
    __asan_unpoison_memory_region(stacks, n * STACK);
    for (size_t k = 0; k < n; k++)
        if (all[k].state != ENDED) all[k].fake = NULL;
}
#endif

gn_status *cuda_run(const cuda_work *w)
{
    int64_t alive = w->together ? w->blocks : 1;
    if (w->threads < 1 || w->threads > MAX_THREADS || w->blocks > INT32_MAX ||
        alive * w->threads > MAX_ALIVE)
        GN_FAIL(GN_ERR_INTERNAL, "a launch of %lld blocks of %d threads", (long long)w->blocks,
                w->threads);
    machine m = {.threads = w->threads,
                 .fn = w->fn,
                 .args = w->args,
                 .random = w->seed * 2 + 1,
                 .shared_bytes = w->shared_bytes};
    m.host = (gn_shim_host){.block_dim = {(unsigned)w->threads, 1, 1},
                            .grid_dim = {(unsigned)w->blocks, 1, 1},
                            .meet = meet,
                            .idle = idle,
                            .exchange = exchange,
                            .shared = shared,
                            .fail = complain};
    GN_TRY(fibers((size_t)(alive * w->threads), &m.all, &m.all_stacks));
    m.all_shared = aligned_alloc(64, (size_t)alive * apart(w->shared_bytes));
    if (!m.all_shared) GN_FAIL(GN_ERR_NOMEM, "no shared memory");
#if GN_UNDER_TSAN
    m.tsan = __tsan_get_current_fiber();
#endif
    M = &m;
    *w->shim = &m.host;
    w->together ? run_together(w) : run_blocks(w);
    free(m.all_shared);
    M = NULL;
#if GN_UNDER_ASAN
    if (m.wrong[0]) forget_frames(m.all, m.all_stacks, (size_t)(alive * w->threads));
#endif
    if (m.wrong[0]) GN_FAIL(GN_ERR_INTERNAL, "%s", m.wrong);
    return NULL;
}
