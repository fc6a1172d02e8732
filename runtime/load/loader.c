/* See loader.h.  The sections that are loaded of all objects go into one mapping: code, then stubs
 * for functions from outside, then constants on pages of their own. */
#include "runtime/load/loader.h"

#include "base/processor.h"
#include "runtime/load/relocate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OBJECT_ALIGN = 64, MAX_KERNELS = 1 << 16, MAX_SECTIONS = 1 << 16 };

struct gn_object {
    unsigned char *map;
    size_t map_size, code_size, all_size;
    int n;
    gn_kernel_fn *fn;
};

typedef void (*any_fn)(void);

/* What code may call.  Stubs reach it wherever it lies. */
static const struct outside {
    const char *name;
    any_fn fn;
} outside[] = {
#define D1(f) {#f, (any_fn)(double (*)(double))f}
#define F1(f) {#f, (any_fn)(float (*)(float))f}
    D1(exp),
    D1(expm1),
    D1(log),
    D1(log1p),
    D1(sin),
    D1(cos),
    D1(tanh),
    D1(erf),
    D1(floor),
    F1(expf),
    F1(expm1f),
    F1(logf),
    F1(log1pf),
    F1(sinf),
    F1(cosf),
    F1(tanhf),
    F1(erff),
    F1(floorf),
    {"pow", (any_fn)(double (*)(double, double))pow},
    {"powf", (any_fn)(float (*)(float, float))powf},
    {"fma", (any_fn)(double (*)(double, double, double))fma},
    {"fmaf", (any_fn)(float (*)(float, float, float))fmaf},
    {"memcpy", (any_fn)memcpy},
    {"memset", (any_fn)memset},
    {"memmove", (any_fn)memmove},
    {"gn_kernel_fault", (any_fn)gn_kernel_fault},
    {"gn_kernel_touch", (any_fn)gn_kernel_touch},
    {"gn_kernel_touch_lanes", (any_fn)gn_kernel_touch_lanes},
#undef D1
#undef F1
};
enum { OUTSIDE = sizeof outside / sizeof *outside };

/* One ELF object inside the bytes; its sections and where they will lie. */
typedef struct elf {
    const unsigned char *p;
    size_t n; /* bytes, to the end of what follows too */
    Elf64_Ehdr head;
    const Elf64_Sym *sym; /* copied: objects may lie anywhere */
    size_t n_sym;
    Elf64_Shdr *sec;   /* [head.e_shnum] */
    size_t *at;        /* [head.e_shnum] offset in the mapping; SIZE_MAX: not loaded */
    const char *names; /* of symbols */
    size_t n_names;
    int kernel; /* the number that its gn_kernel_0, all it has, takes; -1: numbers are as they are
                   named */
    struct elf *next;
} elf;

#define BROKEN(...) GN_FAIL(GN_ERR_DATA, "object code is damaged: " __VA_ARGS__)

static bool inside(size_t n, uint64_t at, uint64_t size) { return at <= n && size <= n - at; }

static bool loaded(const Elf64_Shdr *s)
{
    return (s->sh_flags & SHF_ALLOC) && s->sh_size && s->sh_type != SHT_NOTE &&
           s->sh_type != SHT_X86_64_UNWIND;
}

static gn_status *read_symbols(elf *e, const Elf64_Shdr *s)
{
    if (e->sym) BROKEN("two symbol tables");
    if (s->sh_size % sizeof(Elf64_Sym) || s->sh_link >= e->head.e_shnum) BROKEN("symbol table");
    const Elf64_Shdr *names = &e->sec[s->sh_link];
    if (names->sh_type != SHT_STRTAB || !names->sh_size ||
        e->p[names->sh_offset + names->sh_size - 1])
        BROKEN("names of symbols");
    Elf64_Sym *copy = malloc(s->sh_size ? s->sh_size : 1);
    if (!copy) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of symbols", (size_t)s->sh_size);
    memcpy(copy, e->p + s->sh_offset, s->sh_size);
    e->sym = copy;
    e->n_sym = s->sh_size / sizeof(Elf64_Sym);
    e->names = (const char *)e->p + names->sh_offset;
    e->n_names = names->sh_size;
    return NULL;
}

/* Reads headers; *end is where the object ends. */
static gn_status *read_elf(elf *e, size_t *end)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    if (e->n < sizeof e->head) BROKEN("%zu bytes", e->n);
    memcpy(&e->head, e->p, sizeof e->head);
    const Elf64_Ehdr *h = &e->head;
    if (memcmp(h->e_ident, ident, sizeof ident) != 0) BROKEN("no ELF header");
    if (h->e_type != ET_REL || h->e_machine != GN_ELF_MACHINE)
        BROKEN("not a relocatable " GN_MACHINE " object");
    if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
        !inside(e->n, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        BROKEN("section headers");
    e->sec = malloc(h->e_shnum * sizeof *e->sec);
    e->at = malloc(h->e_shnum * sizeof *e->at);
    if (!e->sec || !e->at) GN_FAIL(GN_ERR_NOMEM, "no memory for %d section headers", h->e_shnum);
    memcpy(e->sec, e->p + h->e_shoff, h->e_shnum * sizeof *e->sec);
    *end = (size_t)(h->e_shoff + (uint64_t)h->e_shnum * sizeof(Elf64_Shdr));
    for (int i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &e->sec[i];
        e->at[i] = SIZE_MAX;
        if (s->sh_type == SHT_NULL) continue;
        if (s->sh_type != SHT_NOBITS) {
            if (!inside(e->n, s->sh_offset, s->sh_size)) BROKEN("section %d", i);
            if (s->sh_offset + s->sh_size > *end) *end = (size_t)(s->sh_offset + s->sh_size);
        } else if (s->sh_size > ((size_t)1 << 30)) {
            BROKEN("section %d", i);
        }
        if (s->sh_addralign > 4096 || (s->sh_addralign & (s->sh_addralign - 1)))
            BROKEN("section %d's alignment", i);
        if (loaded(s) && (s->sh_flags & SHF_WRITE)) BROKEN("section %d is writable", i);
    }
    for (int i = 0; i < h->e_shnum; i++)
        if (e->sec[i].sh_type == SHT_SYMTAB) GN_TRY(read_symbols(e, &e->sec[i]));
    return NULL;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static void place(elf *e, bool code, size_t *at)
{
    for (int i = 0; i < e->head.e_shnum; i++) {
        const Elf64_Shdr *s = &e->sec[i];
        if (!loaded(s) || !!(s->sh_flags & SHF_EXECINSTR) != code) continue;
        *at = round_up(*at, s->sh_addralign ? (size_t)s->sh_addralign : 1);
        e->at[i] = *at;
        *at += (size_t)s->sh_size;
    }
}

static void copy_sections(const elf *e, unsigned char *map)
{
    for (int i = 0; i < e->head.e_shnum; i++)
        if (e->at[i] != SIZE_MAX && e->sec[i].sh_type != SHT_NOBITS)
            memcpy(map + e->at[i], e->p + e->sec[i].sh_offset, (size_t)e->sec[i].sh_size);
}

static int find_outside(const char *name)
{
    for (int i = 0; i < OUTSIDE; i++)
        if (!strcmp(outside[i].name, name)) return i;
    return -1;
}

/* Where symbol `k` lies in the mapping. */
static gn_status *resolve(const elf *e, size_t k, size_t stubs, bool call, size_t *out)
{
    if (k >= e->n_sym) BROKEN("symbol %zu", k);
    const Elf64_Sym *s = &e->sym[k];
    if (s->st_name >= e->n_names) BROKEN("name of symbol %zu", k);
    const char *name = e->names + s->st_name;
    if (s->st_shndx == SHN_UNDEF) {
        int i = find_outside(name);
        if (i < 0 || !call) BROKEN("it needs '%.60s'", name);
        *out = stubs + (size_t)i * GN_STUB;
        return NULL;
    }
    if (s->st_shndx >= e->head.e_shnum || e->at[s->st_shndx] == SIZE_MAX ||
        s->st_value > e->sec[s->st_shndx].sh_size)
        BROKEN("place of symbol %zu", k);
    *out = e->at[s->st_shndx] + (size_t)s->st_value;
    return NULL;
}

static gn_status *relocate_one(const elf *e, const Elf64_Rela *r, int target, unsigned char *map,
                               size_t stubs)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    gn_relocation is = gn_relocation_of(GN_ELF_MACHINE, type);
    if (!is.known) BROKEN("relocation type %u", type);
    if (is.nothing) return NULL;
    if (!inside((size_t)e->sec[target].sh_size, r->r_offset, (uint64_t)is.bytes))
        BROKEN("place of a relocation");
    size_t symbol = 0;
    size_t k = (size_t)ELF64_R_SYM(r->r_info);
    GN_TRY(resolve(e, k, stubs, is.call || is.slot, &symbol));
    if (is.slot) {
        if (e->sym[k].st_shndx != SHN_UNDEF) BROKEN("a table entry for its own symbol");
        symbol += gn_stub_slot(GN_ELF_MACHINE); /* the stub's address is the entry */
    }
    unsigned char *p = map + e->at[target] + r->r_offset;
    uint64_t to = (uint64_t)(uintptr_t)(map + symbol) + (uint64_t)r->r_addend;
    const char *why = gn_relocate(GN_ELF_MACHINE, type, p, (uint64_t)(uintptr_t)p, to);
    if (why) BROKEN("a relocation %s", why);
    return NULL;
}

static gn_status *relocate(const elf *e, unsigned char *map, size_t stubs)
{
    for (int i = 0; i < e->head.e_shnum; i++) {
        const Elf64_Shdr *s = &e->sec[i];
        if (s->sh_type == SHT_REL) BROKEN("relocations without addends");
        if (s->sh_type != SHT_RELA) continue;
        if (s->sh_info >= e->head.e_shnum || s->sh_size % sizeof(Elf64_Rela))
            BROKEN("relocations of section %d", i);
        if (e->at[s->sh_info] == SIZE_MAX) continue;
        for (size_t k = 0; k < s->sh_size / sizeof(Elf64_Rela); k++) {
            Elf64_Rela r;
            memcpy(&r, e->p + s->sh_offset + k * sizeof r, sizeof r);
            GN_TRY(relocate_one(e, &r, (int)s->sh_info, map, stubs));
        }
    }
    return NULL;
}

/* gn_kernel_<k>: k, -1 for any other name */
static int kernel_number(const char *name)
{
    static const char prefix[] = "gn_kernel_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return -1;
    int k = 0;
    const char *p = name + sizeof prefix - 1;
    if (!*p) return -1;
    for (; *p; p++) {
        if (*p < '0' || *p > '9' || k >= MAX_KERNELS) return -1;
        k = k * 10 + (*p - '0');
    }
    return k < MAX_KERNELS ? k : -1;
}

static gn_status *find_kernels(const elf *e, gn_object *o)
{
    for (size_t i = 0; i < e->n_sym; i++) {
        const Elf64_Sym *s = &e->sym[i];
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
            s->st_name >= e->n_names)
            continue;
        int k = kernel_number(e->names + s->st_name);
        size_t at = 0;
        if (k < 0) continue;
        if (e->kernel >= 0) {
            if (k > 0) BROKEN("more than one kernel");
            k = e->kernel;
        }
        GN_TRY(resolve(e, i, 0, false, &at));
        if (!(e->sec[s->st_shndx].sh_flags & SHF_EXECINSTR)) BROKEN("kernel %d is not code", k);
        if (k >= o->n) {
            gn_kernel_fn *more = realloc(o->fn, ((size_t)k + 1) * sizeof *more);
            if (!more) GN_FAIL(GN_ERR_NOMEM, "no memory for %d kernels", k + 1);
            o->fn = more;
            while (o->n <= k) o->fn[o->n++] = NULL;
        }
        void *p = o->map + at;
        memcpy(&o->fn[k], &p, sizeof p);
    }
    return NULL;
}

static void write_stubs(unsigned char *at)
{
    for (int i = 0; i < OUTSIDE; i++, at += GN_STUB)
        gn_stub_write(GN_ELF_MACHINE, at, (uint64_t)(uintptr_t)outside[i].fn);
}

static gn_status *load(elf *list, gn_object *o)
{
    size_t at = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    for (elf *e = list; e; e = e->next) place(e, true, &at);
    o->code_size = at;
    size_t stubs = round_up(at, GN_STUB), code_end = round_up(stubs + OUTSIDE * GN_STUB, page);
    at = code_end;
    for (elf *e = list; e; e = e->next) place(e, false, &at);
    o->all_size = o->code_size + (at - code_end);
    o->map_size = round_up(at, page);
    void *map = mmap(NULL, o->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of code", o->map_size);
    o->map = map;
    write_stubs(o->map + stubs);
    for (elf *e = list; e; e = e->next) {
        copy_sections(e, o->map);
        GN_TRY(relocate(e, o->map, stubs));
        GN_TRY(find_kernels(e, o));
    }
    __builtin___clear_cache((char *)o->map, (char *)o->map + code_end);
    if (mprotect(o->map, code_end, PROT_READ | PROT_EXEC) != 0 ||
        (o->map_size > code_end &&
         mprotect(o->map + code_end, o->map_size - code_end, PROT_READ) != 0))
        GN_FAIL(GN_ERR_BACKEND, "memory cannot be made executable here");
    return NULL;
}

static void free_list(elf *e)
{
    while (e) {
        elf *next = e->next;
        free((void *)e->sym);
        free(e->sec);
        free(e->at);
        free(e);
        e = next;
    }
}

static gn_status *read_next(const unsigned char *p, size_t n, int kernel, elf ***list, size_t *end)
{
    elf *e = calloc(1, sizeof *e);
    if (!e) GN_FAIL(GN_ERR_NOMEM, "no memory to load code");
    **list = e;
    *list = &e->next;
    e->p = p;
    e->n = n;
    e->kernel = kernel;
    return read_elf(e, end);
}

static gn_status *read_all(const unsigned char *p, size_t n, elf **list)
{
    for (size_t at = 0; at < n;) {
        size_t end = 0;
        GN_TRY(read_next(p + at, n - at, -1, &list, &end));
        at += round_up(end, OBJECT_ALIGN);
    }
    return NULL;
}

static gn_status *read_each(int n, const gn_code_object *objects, elf **list)
{
    size_t end;
    for (int k = 0; k < n; k++) GN_TRY(read_next(objects[k].bytes, objects[k].n, k, &list, &end));
    return NULL;
}

/* Loads what was read, or passes on why it was not. */
static gn_status *load_list(gn_status *s, elf *list, gn_object **out)
{
    gn_object *o = s ? NULL : calloc(1, sizeof *o);
    if (!s) s = o ? load(list, o) : GN_ERROR(GN_ERR_NOMEM, "no memory to load code");
    free_list(list);
    if (s) {
        gn_object_free(o);
        return s;
    }
    *out = o;
    return NULL;
}

#if defined(__x86_64__) || defined(__aarch64__)
#define CHECK_MACHINE (void)0
#else
#define CHECK_MACHINE GN_FAIL(GN_ERR_BACKEND, "compiled kernels are code of x86-64 or 64-bit Arm")
#endif

gn_status *gn_object_load(const void *bytes, size_t n, gn_object **out)
{
    elf *list = NULL;
    *out = NULL;
    CHECK_MACHINE;
    if (!n) BROKEN("it is empty");
    gn_status *s = read_all(bytes, n, &list);
    return load_list(s, list, out);
}

gn_status *gn_objects_load(int n, const gn_code_object *objects, gn_object **out)
{
    elf *list = NULL;
    *out = NULL;
    CHECK_MACHINE;
    if (n <= 0) BROKEN("it is empty");
    gn_status *s = read_each(n, objects, &list);
    GN_TRY(load_list(s, list, out));
    for (int k = 0; k < n && !s; k++)
        if (!gn_object_kernel(*out, k))
            s = GN_ERROR(GN_ERR_DATA, "object code is damaged: object %d has no kernel", k);
    if (s) {
        gn_object_free(*out);
        *out = NULL;
    }
    return s;
}

void gn_object_free(gn_object *o)
{
    if (!o) return;
    if (o->map) munmap(o->map, o->map_size);
    free(o->fn);
    free(o);
}

int gn_object_kernels(const gn_object *o) { return o->n; }
gn_kernel_fn gn_object_kernel(const gn_object *o, int k)
{
    return k >= 0 && k < o->n ? o->fn[k] : NULL;
}
size_t gn_object_code_bytes(const gn_object *o) { return o->all_size; }
