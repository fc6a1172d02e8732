/* jit_gdb: an ELF object, of names and lines alone, for GDB's JIT interface ("Debugging with GDB",
 * chapter JIT Compilation Interface).  Code lies where it was loaded: sections have its addresses
 * and no bytes.  DWARF 4: a unit that is all kernels, a subprogram each, and one table of lines. */
#include "compile/jit_events.h"

#include "base/processor.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Bytes ---------------------------------------------------------------------------------------- */

static void put(gn_buf *b, uint64_t v, size_t n) { gn_buf_addn(b, (const char *)&v, n); }
static void put_text(gn_buf *b, const char *s) { gn_buf_addn(b, s, strlen(s) + 1); }

static void uleb(gn_buf *b, uint64_t v)
{
    do {
        put(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0), 1);
        v >>= 7;
    } while (v);
}

static void sleb(gn_buf *b, int64_t v)
{
    for (;;) {
        uint8_t low = v & 0x7f;
        v = v < 0 ? ~(~v >> 7) : v >> 7;
        bool last = (v == 0 && !(low & 0x40)) || (v == -1 && low & 0x40);
        put(b, last ? low : low | 0x80u, 1);
        if (last) return;
    }
}

/* A length that stands in front of what it is of; where that begins. */
static size_t begin_length(gn_buf *b)
{
    put(b, 0, 4);
    return b->n;
}

static void end_length(gn_buf *b, size_t from)
{
    uint32_t n = (uint32_t)(b->n - from);
    memcpy(b->p + from - 4, &n, sizeof n);
}

/* DWARF ---------------------------------------------------------------------------------------- */

enum { DW_TAG_unit = 0x11, DW_TAG_subprogram = 0x2e };
enum { AT_name = 3, AT_lines = 0x10, AT_low = 0x11, AT_high = 0x12, AT_language = 0x13 };
enum { FORM_addr = 1, FORM_data2 = 5, FORM_string = 8, FORM_offset = 0x17 };
enum { UNIT = 1, KERNEL = 2, C99 = 0xc };

static void abbreviations(gn_buf *b)
{
    static const uint8_t of[] = {UNIT,
                                 DW_TAG_unit,
                                 1,
                                 AT_name,
                                 FORM_string,
                                 AT_language,
                                 FORM_data2,
                                 AT_lines,
                                 FORM_offset,
                                 AT_low,
                                 FORM_addr,
                                 AT_high,
                                 FORM_addr,
                                 0,
                                 0,
                                 KERNEL,
                                 DW_TAG_subprogram,
                                 0,
                                 AT_name,
                                 FORM_string,
                                 AT_low,
                                 FORM_addr,
                                 AT_high,
                                 FORM_addr,
                                 0,
                                 0,
                                 0};
    gn_buf_addn(b, (const char *)of, sizeof of);
}

static uint64_t begin_of(const gn_jit_kernel *k) { return (uint64_t)(uintptr_t)k->code; }

static void information(gn_buf *b, int n, const gn_jit_kernel *k, uint64_t low, uint64_t high)
{
    size_t from = begin_length(b);
    put(b, 4, 2); /* version */
    put(b, 0, 4); /* abbreviations */
    put(b, 8, 1); /* bytes of an address */
    uleb(b, UNIT);
    put_text(b, k->file);
    put(b, C99, 2);
    put(b, 0, 4); /* lines */
    put(b, low, 8);
    put(b, high, 8);
    for (int i = 0; i < n; i++) {
        uleb(b, KERNEL);
        put_text(b, k[i].name);
        put(b, begin_of(&k[i]), 8);
        put(b, begin_of(&k[i]) + k[i].size, 8);
    }
    uleb(b, 0);
    end_length(b, from);
}

static void line_header(gn_buf *b, const char *file)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    put(b, 4, 2); /* version */
    size_t from = begin_length(b);
    put(b, 1, 1); /* least bytes of an instruction */
    put(b, 1, 1);
    put(b, 1, 1);           /* rows begin statements */
    put(b, (uint8_t)-5, 1); /* lines and their range of special operations, which are not used */
    put(b, 14, 1);
    put(b, sizeof operands + 1, 1);
    gn_buf_addn(b, (const char *)operands, sizeof operands);
    put(b, 0, 1); /* no folders */
    put_text(b, file);
    put(b, 0, 3); /* of its folder, times and size */
    put(b, 0, 1);
    end_length(b, from);
}

static void lines(gn_buf *b, int n, const gn_jit_kernel *k)
{
    enum { COPY = 1, ADVANCE_PC = 2, ADVANCE_LINE = 3, SET_ADDRESS = 2, END = 1 };
    size_t from = begin_length(b);
    line_header(b, k->file);
    for (int i = 0; i < n; i++) {
        uint64_t at = 0;
        int64_t line = 1;
        if (!k[i].n) continue;
        put(b, 0, 1);
        uleb(b, 9);
        put(b, SET_ADDRESS, 1);
        put(b, begin_of(&k[i]), 8);
        for (int r = 0; r < k[i].n; r++) {
            const gn_jit_line *l = &k[i].line[r];
            put(b, ADVANCE_PC, 1);
            uleb(b, l->at - at);
            put(b, ADVANCE_LINE, 1);
            sleb(b, (int64_t)l->line - line);
            put(b, COPY, 1);
            at = l->at;
            line = l->line;
        }
        put(b, ADVANCE_PC, 1);
        uleb(b, k[i].size - at);
        put(b, 0, 1);
        uleb(b, 1);
        put(b, END, 1);
    }
    end_length(b, from);
}

/* ELF ------------------------------------------------------------------------------------------ */

enum { NOTHING, TEXT, SYMBOLS, NAMES, SECTION_NAMES, ABBREV, INFO, LINE, SECTIONS };

typedef struct writer {
    gn_buf out;
    Elf64_Shdr section[SECTIONS];
    gn_buf names;
} writer;

static void add_section(writer *w, int k, const char *name, uint32_t type, const gn_buf *of)
{
    Elf64_Shdr *s = &w->section[k];
    while (w->out.n % 8) put(&w->out, 0, 1);
    s->sh_name = (uint32_t)w->names.n;
    s->sh_type = type;
    s->sh_addralign = 8;
    s->sh_offset = w->out.n;
    put_text(&w->names, name);
    if (!of || !of->n) return;
    s->sh_size = of->n;
    gn_buf_addn(&w->out, of->p, of->n);
}

static void symbols(gn_arena *a, writer *w, int n, const gn_jit_kernel *k)
{
    gn_buf table = {.arena = a}, names = {.arena = a};
    Elf64_Sym none = {0};
    gn_buf_addn(&table, (const char *)&none, sizeof none);
    put_text(&names, "");
    for (int i = 0; i < n; i++) {
        Elf64_Sym s = {.st_name = (uint32_t)names.n,
                       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                       .st_shndx = TEXT,
                       .st_value = begin_of(&k[i]),
                       .st_size = k[i].size};
        gn_buf_addn(&table, (const char *)&s, sizeof s);
        put_text(&names, k[i].name);
    }
    add_section(w, SYMBOLS, ".symtab", SHT_SYMTAB, &table);
    w->section[SYMBOLS].sh_link = NAMES;
    w->section[SYMBOLS].sh_info = 1;
    w->section[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    add_section(w, NAMES, ".strtab", SHT_STRTAB, &names);
}

static void range_of(int n, const gn_jit_kernel *k, uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (int i = 0; i < n; i++) {
        if (begin_of(&k[i]) < *low) *low = begin_of(&k[i]);
        if (begin_of(&k[i]) + k[i].size > *high) *high = begin_of(&k[i]) + k[i].size;
    }
}

static void debug_sections(gn_arena *a, writer *w, int n, const gn_jit_kernel *k, uint64_t low,
                           uint64_t high)
{
    gn_buf abbrev = {.arena = a}, info = {.arena = a}, line = {.arena = a};
    abbreviations(&abbrev);
    information(&info, n, k, low, high);
    lines(&line, n, k);
    add_section(w, ABBREV, ".debug_abbrev", SHT_PROGBITS, &abbrev);
    add_section(w, INFO, ".debug_info", SHT_PROGBITS, &info);
    add_section(w, LINE, ".debug_line", SHT_PROGBITS, &line);
}

gn_jit_object gn_jit_object_of(gn_arena *a, int n, const gn_jit_kernel *k)
{
    writer w = {.out = {.arena = a}, .names = {.arena = a}};
    uint64_t low, high;
    Elf64_Ehdr head = {.e_type = ET_EXEC,
                       .e_machine = GN_ELF_MACHINE,
                       .e_version = EV_CURRENT,
                       .e_ehsize = sizeof head,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS,
                       .e_shstrndx = SECTION_NAMES};
    if (n <= 0) return (gn_jit_object){0};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    gn_buf_addn(&w.out, (const char *)&head, sizeof head);
    put_text(&w.names, "");
    range_of(n, k, &low, &high);
    add_section(&w, TEXT, ".text", SHT_NOBITS, NULL);
    w.section[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    w.section[TEXT].sh_addr = low;
    w.section[TEXT].sh_size = high - low;
    symbols(a, &w, n, k);
    debug_sections(a, &w, n, k, low, high);
    put_text(&w.names, ".shstrtab");
    gn_buf names = w.names;
    add_section(&w, SECTION_NAMES, "", SHT_STRTAB, &names);
    w.section[SECTION_NAMES].sh_name = (uint32_t)(names.n - sizeof ".shstrtab");
    while (w.out.n % 8) put(&w.out, 0, 1);
    head.e_shoff = w.out.n;
    gn_buf_addn(&w.out, (const char *)w.section, sizeof w.section);
    memcpy(w.out.p, &head, sizeof head);
    return (gn_jit_object){w.out.p, w.out.n};
}

/* GDB ------------------------------------------------------------------------------------------ */

typedef enum { JIT_NOACTION, JIT_REGISTER_FN, JIT_UNREGISTER_FN } jit_actions_t;

struct jit_code_entry {
    struct jit_code_entry *next_entry, *prev_entry;
    const char *symfile_addr;
    uint64_t symfile_size;
};

struct jit_descriptor {
    uint32_t version, action_flag;
    struct jit_code_entry *relevant_entry, *first_entry;
};

/* GDB knows both by their names, and has a breakpoint in the first; one program may hold several
 * JITs, which share them. */
__attribute__((weak, visibility("default"))) struct jit_descriptor __jit_debug_descriptor = {
    1, 0, NULL, NULL};
__attribute__((weak, noinline, visibility("default"))) void __jit_debug_register_code(void);
void __jit_debug_register_code(void) { __asm__ volatile("" ::: "memory"); }

static void tell(jit_actions_t action, struct jit_code_entry *e)
{
    __jit_debug_descriptor.relevant_entry = e;
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action_flag = JIT_NOACTION;
    __jit_debug_descriptor.relevant_entry = NULL;
}

gn_status *gn_jit_register(const gn_jit_object *o, void **entry)
{
    *entry = NULL;
    if (!o->n) return NULL;
    struct jit_code_entry *e = calloc(1, sizeof *e + o->n);
    if (!e) GN_FAIL(GN_ERR_NOMEM, "no memory for %zu bytes of names and lines", o->n);
    memcpy(e + 1, o->bytes, o->n);
    e->symfile_addr = (const char *)(e + 1);
    e->symfile_size = o->n;
    e->next_entry = __jit_debug_descriptor.first_entry;
    if (e->next_entry) e->next_entry->prev_entry = e;
    __jit_debug_descriptor.first_entry = e;
    tell(JIT_REGISTER_FN, e);
    *entry = e;
    return NULL;
}

void gn_jit_unregister(void *entry)
{
    struct jit_code_entry *e = entry;
    if (!e) return;
    if (e->prev_entry)
        e->prev_entry->next_entry = e->next_entry;
    else
        __jit_debug_descriptor.first_entry = e->next_entry;
    if (e->next_entry) e->next_entry->prev_entry = e->prev_entry;
    tell(JIT_UNREGISTER_FN, e);
    free(e);
}
