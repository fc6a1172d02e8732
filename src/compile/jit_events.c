#include "compile/jit_events.h"

#include "base/clock.h"
#include "base/processor.h"
#include "base/mutex.h"
#include "compile/kernel_name.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

gn_status *gn_jit_events_wanted(unsigned *out)
{
    static const struct {
        const char *word;
        unsigned bit;
    } known[] = {{"map", GN_JIT_MAP}, {"dump", GN_JIT_DUMP}, {"gdb", GN_JIT_GDB}};
    const char *at = getenv("GNNC_JIT_EVENTS");
    *out = 0;
    while (at && *at) {
        size_t n = strcspn(at, ",");
        unsigned bit = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strlen(known[k].word) == n && !memcmp(at, known[k].word, n)) bit = known[k].bit;
        if (!bit && n)
            GN_FAIL(GN_ERR_USAGE,
                    "GNNC_JIT_EVENTS: '%.*s': expected map, dump or gdb, separated "
                    "by commas",
                    n > 40 ? 40 : (int)n, at);
        *out |= bit;
        at += n + (at[n] == ',');
    }
    return NULL;
}

/* Kernels -------------------------------------------------------------------------------------- */

/* The launch of the program's k-th kernel. */
static int launch_of(const gn_compiled *c, int k)
{
    for (uint32_t l = 0; l < c->low->launches.n; l++)
        if (c->low->launches.p[l].kernel && k-- == 0) return (int)l;
    return 0;
}

/* An absolute path, where the file is there. */
static const char *own_file(gn_arena *a, const gir_program *p)
{
    if (!p->files.n) return "";
    char *real = realpath(p->files.p[0], NULL);
    const char *out = real ? gn_arena_strdup(a, real) : p->files.p[0];
    free(real);
    return out;
}

/* Lines of the model, from those of the object: places of instructions, which say their values. */
static gn_status *find_lines(gn_arena *a, const gn_compiled *c, const kir_kernel *k,
                             const gn_code_object *code, gn_jit_kernel *out)
{
    gn_code_lines table;
    GN_TRY(gn_code_lines_of(a, code, &table));
    const uint32_t *place = kir_places(a, k);
    uint32_t *line = GN_NEW_N(a, uint32_t, k->insts.n + 1u), now = 0;
    for (kir_id i = 1; i < k->insts.n; i++) {
        uint32_t of = kir_at(k, i)->of;
        if (place[i] && of && of < c->gir->nodes.n) line[place[i]] = gir_at(c->gir, of)->loc.own;
    }
    out->size = table.size;
    out->line = GN_NEW_N(a, gn_jit_line, table.line.n + 1);
    for (uint32_t r = 0; r < table.line.n; r++) {
        uint32_t p = table.line.p[r].place, l = p < k->insts.n ? line[p] : 0;
        if (!l || l == now) continue;                  /* goes on with what came before */
        uint64_t at = out->n ? table.line.p[r].at : 0; /* what comes before the first is its own */
        out->line[out->n] = (gn_jit_line){at, l};
        out->n++;
        now = l;
    }
    return NULL;
}

static gn_status *describe(gn_arena *a, const gn_compiled *c, int k, const gn_code_object *code,
                           gn_jit_kernel *out)
{
    gn_kernel_fn fn = c->artifact->code[k];
    *out = (gn_jit_kernel){.file = own_file(a, c->gir)};
    memcpy(&out->code, &fn, sizeof fn);
    out->name = gn_arena_printf(a, "%s [%s]", gn_kernel_words(a, c, launch_of(c, k)),
                                c->kernels[k]->name);
    return find_lines(a, c, c->kernels[k], code, out);
}

/* perf's files --------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dump {
    FILE *f;
    pid_t process; /* of the file: a child has another */
    uint64_t kernels;
} dump;

/* NULL: errno says why.  It is closed with the file. */
static FILE *open_file(const char *path, int flags, mode_t mode, const char *how)
{
    int fd = open(path, O_CREAT | O_CLOEXEC | flags, mode);
    FILE *f = fd < 0 ? NULL : fdopen(fd, how);
    if (fd >= 0 && !f) close(fd);
    return f;
}

/* The name is anybody's to guess in a folder of all: no link is followed, and what an earlier
 * process of the number left goes. */
static gn_status *write_map(int n, const gn_jit_kernel *kernels)
{
    static pid_t begun; /* by this process; a child has a file of its own */
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int flags = O_WRONLY | O_NOFOLLOW | (begun == getpid() ? O_APPEND : O_TRUNC);
    FILE *f = open_file(path, flags, 0600, "a");
    if (!f) GN_FAIL(GN_ERR_DATA, "GNNC_JIT_EVENTS: cannot open %s: %s", path, strerror(errno));
    begun = getpid();
    for (int k = 0; k < n; k++)
        fprintf(f, "%llx %llx %s\n", (unsigned long long)(uintptr_t)kernels[k].code,
                (unsigned long long)kernels[k].size, kernels[k].name);
    if (fclose(f)) GN_FAIL(GN_ERR_DATA, "GNNC_JIT_EVENTS: cannot write %s", path);
    return NULL;
}

static void put32(FILE *f, uint32_t v) { fwrite(&v, sizeof v, 1, f); }
static void put64(FILE *f, uint64_t v) { fwrite(&v, sizeof v, 1, f); }
static void put_text(FILE *f, const char *s) { fwrite(s, strlen(s) + 1, 1, f); }

static void put_header(FILE *f)
{
    enum { MAGIC = 0x4A695444, VERSION = 1, HEADER = 40 };
    put32(f, MAGIC);
    put32(f, VERSION);
    put32(f, HEADER);
    put32(f, GN_ELF_MACHINE);
    put32(f, 0);
    put32(f, (uint32_t)getpid());
    put64(f, (uint64_t)gn_now_ns());
    put64(f, 0);
    fflush(f);
}

/* What a fork's child has of its parent's file: nothing is left to be written, for a dump is
 * flushed before the lock opens. */
static void close_dump(void)
{
    if (dump.f) fclose(dump.f);
    dump = (struct dump){0};
}

/* The header; and a page of the file is mapped as code, which is how perf comes to know of it. */
static gn_status *open_dump(void)
{
    char path[4096];
    const char *folder = getenv("JITDUMPDIR");
    if (dump.f && dump.process == getpid()) return NULL;
    close_dump();
    if (snprintf(path, sizeof path, "%s/jit-%ld.dump", folder && *folder ? folder : ".",
                 (long)getpid()) >= (int)sizeof path)
        GN_FAIL(GN_ERR_USAGE, "JITDUMPDIR: the path is too long");
    FILE *f = open_file(path, O_TRUNC | O_RDWR, 0666, "w+");
    if (!f) GN_FAIL(GN_ERR_DATA, "GNNC_JIT_EVENTS: cannot open %s: %s", path, strerror(errno));
    put_header(f);
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
                      fileno(f), 0);
    if (page == MAP_FAILED) {
        int why = errno;
        fclose(f);
        unlink(path);
        GN_FAIL(GN_ERR_DATA, "GNNC_JIT_EVENTS: %s cannot be mapped as code: %s", path,
                strerror(why));
    }
    dump = (struct dump){.f = f, .process = getpid()};
    return NULL; /* it stays mapped until the process ends */
}

/* perf takes the last entry for where the table ends: it comes again at the kernel's last byte. */
static void dump_lines(const gn_jit_kernel *k)
{
    enum { DEBUG_INFO = 2, PREFIX = 16, HEAD = 16, ENTRY = 16 };
    uint64_t entries = (uint64_t)k->n + 1,
             size = PREFIX + HEAD + entries * (ENTRY + strlen(k->file) + 1);
    FILE *f = dump.f;
    if (!k->n || size > UINT32_MAX) return;
    put32(f, DEBUG_INFO);
    put32(f, (uint32_t)size);
    put64(f, (uint64_t)gn_now_ns());
    put64(f, (uint64_t)(uintptr_t)k->code);
    put64(f, entries);
    for (int i = 0; i <= k->n; i++) {
        const gn_jit_line *l = &k->line[i < k->n ? i : k->n - 1];
        put64(f, (uint64_t)(uintptr_t)k->code + (i < k->n ? l->at : k->size - 1));
        put32(f, l->line);
        put32(f, 0);
        put_text(f, k->file);
    }
}

static void dump_code(const gn_jit_kernel *k)
{
    enum { CODE_LOAD = 0, PREFIX = 16, HEAD = 40 };
    FILE *f = dump.f;
    uint64_t address = (uint64_t)(uintptr_t)k->code;
    put32(f, CODE_LOAD);
    put32(f, (uint32_t)(PREFIX + HEAD + strlen(k->name) + 1 + k->size));
    put64(f, (uint64_t)gn_now_ns());
    put32(f, (uint32_t)getpid());
    put32(f, (uint32_t)syscall(SYS_gettid));
    put64(f, address);
    put64(f, address);
    put64(f, k->size);
    put64(f, dump.kernels++);
    put_text(f, k->name);
    fwrite(k->code, 1, k->size, f);
}

static gn_status *write_dump(int n, const gn_jit_kernel *kernels)
{
    GN_TRY(open_dump());
    for (int k = 0; k < n; k++) {
        dump_lines(&kernels[k]);
        dump_code(&kernels[k]);
    }
    if (fflush(dump.f) || ferror(dump.f))
        GN_FAIL(GN_ERR_DATA, "GNNC_JIT_EVENTS: cannot write jit-%ld.dump", (long)getpid());
    return NULL;
}

/* All ------------------------------------------------------------------------------------------ */

static void gone(void *entry)
{
    gn_brief_begin();
    pthread_mutex_lock(&lock);
    gn_jit_unregister(entry);
    pthread_mutex_unlock(&lock);
    gn_brief_end();
}

static gn_status *tell(gn_arena *a, const gn_jit_loaded *l)
{
    gn_jit_kernel *kernel = GN_NEW_N(a, gn_jit_kernel, l->n_code + 1);
    bool *said = GN_NEW_N(a, bool, l->n_code + 1);
    gn_jit_object object = {0};
    void *entry = NULL;
    int at = 0, found = 0;
    for (int p = 0; p < l->n; p++)
        for (int k = 0; k < l->programs[p]->n_kernels; k++, at++) {
            int code = l->which[at];
            if (said[code]) continue;
            said[code] = true;
            GN_TRY(describe(a, l->programs[p], k, &l->code[code], &kernel[found++]));
        }
    if (l->wanted & GN_JIT_GDB) object = gn_jit_object_of(a, found, kernel);
    gn_brief_begin(); /* a fork finds the lock open */
    pthread_mutex_lock(&lock);
    gn_status *s = l->wanted & GN_JIT_MAP ? write_map(found, kernel) : NULL;
    if (!s && l->wanted & GN_JIT_DUMP) s = write_dump(found, kernel);
    if (!s && l->wanted & GN_JIT_GDB) s = gn_jit_register(&object, &entry);
    pthread_mutex_unlock(&lock);
    gn_brief_end();
    if (entry) gn_image_when_gone(l->image, gone, entry);
    return s;
}

/* Objects are no arena's: what is allocated meanwhile is in one of its own. */
gn_status *gn_jit_events(const gn_jit_loaded *l)
{
    gn_arena own;
    jmp_buf oom;
    gn_status *s;
    gn_arena_init(&own);
    own.oom = &oom;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "no memory to tell of code (%zu bytes)", own.wanted);
    else
        s = tell(&own, l);
    gn_arena_free(&own);
    return s;
}
