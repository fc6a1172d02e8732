/* Reading objects into one, see elf.h. */
#include "aot/elf.h"
#include "base/processor.h"

#include <string.h>

#define BROKEN(...) GN_FAIL(GN_ERR_DATA, "object code is damaged: " __VA_ARGS__)

void elf_init(elf_object *o, gn_arena *a)
{
    *o = (elf_object){.arena = a};
    gn_map_init(&o->by_name, a);
}

int elf_add_section(elf_object *o, const char *name, uint64_t flags, uint64_t align,
                    const void *bytes, uint64_t n)
{
    elf_section s = {
        .name = name,
        .head = {.sh_type = SHT_PROGBITS, .sh_flags = flags, .sh_addralign = align, .sh_size = n},
        .bytes = bytes,
    };
    GN_PUSH(o->arena, o->sections, s);
    return (int)o->sections.n - 1;
}

static int add_symbol(elf_object *o, elf_symbol s)
{
    GN_PUSH(o->arena, o->symbols, s);
    return (int)o->symbols.n - 1;
}

int elf_symbol_named(elf_object *o, const char *name)
{
    const uint32_t *found = gn_map_find(&o->by_name, name);
    if (found) return (int)*found;
    int k = add_symbol(
        o, (elf_symbol){.name = gn_arena_strdup(o->arena, name), .global = true, .section = -1});
    gn_map_put(&o->by_name, name, (uint32_t)k);
    return k;
}

gn_status *elf_define(elf_object *o, const char *name, unsigned char type, int section,
                      uint64_t value, uint64_t size)
{
    int k = elf_symbol_named(o, name); /* may move the symbols */
    elf_symbol *s = &o->symbols.p[k];
    if (s->section >= 0) GN_FAIL(GN_ERR_INTERNAL, "two objects define '%s'", name);
    s->type = type;
    s->section = section;
    s->value = value;
    s->size = size;
    return NULL;
}

void elf_relocate(elf_object *o, int section, uint64_t at, int symbol, int64_t addend)
{
    Elf64_Rela r = {.r_offset = at,
                    .r_info = ELF64_R_INFO((uint64_t)symbol, GN_ELF_ADDRESS),
                    .r_addend = addend};
    o->symbols.p[symbol].needed = true;
    GN_PUSH(o->arena, o->sections.p[section].relocations, r);
}

/* One input ------------------------------------------------------------------------------------ */

typedef struct input {
    elf_object *to;
    const unsigned char *p;
    size_t n;
    Elf64_Ehdr head;
    Elf64_Shdr *sec;   /* [e_shnum] */
    const char *names; /* of sections */
    int *section;      /* [e_shnum] number in the result, -1: left out */
    const Elf64_Shdr *symtab;
    int *symbol; /* [n_symbols] likewise */
    size_t n_symbols;
} input;

static bool inside(size_t n, uint64_t at, uint64_t size) { return at <= n && size <= n - at; }

/* A string of a table that ends in NUL; NULL: it lies outside. */
static const char *string(const input *e, const Elf64_Shdr *table, uint64_t at)
{
    if (at >= table->sh_size || e->p[table->sh_offset + table->sh_size - 1]) return NULL;
    return (const char *)e->p + table->sh_offset + at;
}

static gn_status *read_head(input *e)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    Elf64_Ehdr *h = &e->head;
    if (e->n < sizeof *h) BROKEN("%zu bytes", e->n);
    memcpy(h, e->p, sizeof *h);
    if (memcmp(h->e_ident, ident, sizeof ident) != 0 || h->e_type != ET_REL ||
        h->e_machine != GN_ELF_MACHINE)
        BROKEN("not a relocatable " GN_MACHINE " object");
    if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum || h->e_shstrndx >= h->e_shnum ||
        !inside(e->n, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        BROKEN("section headers");
    e->sec = GN_NEW_N(e->to->arena, Elf64_Shdr, h->e_shnum);
    e->section = GN_NEW_N(e->to->arena, int, h->e_shnum);
    memcpy(e->sec, e->p + h->e_shoff, h->e_shnum * sizeof *e->sec);
    for (int k = 0; k < h->e_shnum; k++) {
        const Elf64_Shdr *s = &e->sec[k];
        e->section[k] = -1;
        if (s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS &&
            !inside(e->n, s->sh_offset, s->sh_size))
            BROKEN("section %d", k);
        if (s->sh_addralign > 4096 || (s->sh_addralign & (s->sh_addralign - 1)))
            BROKEN("section %d's alignment", k);
    }
    if (e->sec[h->e_shstrndx].sh_type != SHT_STRTAB) BROKEN("names of sections");
    return NULL;
}

/* What goes into memory; of notes (properties of all code) the result claims none. */
static bool is_kept(const Elf64_Shdr *s)
{
    if (!(s->sh_flags & SHF_ALLOC)) return false;
    return s->sh_type == SHT_PROGBITS || s->sh_type == SHT_NOBITS ||
           s->sh_type == SHT_X86_64_UNWIND || s->sh_type == SHT_INIT_ARRAY ||
           s->sh_type == SHT_FINI_ARRAY;
}

static gn_status *take_sections(input *e)
{
    for (int k = 0; k < e->head.e_shnum; k++) {
        const Elf64_Shdr *s = &e->sec[k];
        if (s->sh_type == SHT_SYMTAB_SHNDX) BROKEN("too many sections");
        if (s->sh_type == SHT_SYMTAB) {
            if (e->symtab) BROKEN("two symbol tables");
            e->symtab = s;
        }
        if (!is_kept(s)) continue;
        if (s->sh_flags & (SHF_TLS | SHF_LINK_ORDER))
            BROKEN("section %d is of a kind that cannot be joined", k);
        const char *name = string(e, &e->sec[e->head.e_shstrndx], s->sh_name);
        if (!name) BROKEN("name of section %d", k);
        elf_section to = {.name = name,
                          .head = *s,
                          .bytes = s->sh_type == SHT_NOBITS ? NULL : e->p + s->sh_offset};
        to.head.sh_flags &= ~(uint64_t)SHF_GROUP;
        e->section[k] = (int)e->to->sections.n;
        GN_PUSH(e->to->arena, e->to->sections, to);
    }
    if (!e->symtab) BROKEN("no symbol table");
    return NULL;
}

static gn_status *take_symbol(input *e, size_t k, elf_rename *rename, void *ctx)
{
    Elf64_Sym s;
    memcpy(&s, e->p + e->symtab->sh_offset + k * sizeof s, sizeof s);
    unsigned char type = ELF64_ST_TYPE(s.st_info);
    bool global = ELF64_ST_BIND(s.st_info) != STB_LOCAL, defined = s.st_shndx != SHN_UNDEF;
    const char *name = string(e, &e->sec[e->symtab->sh_link], s.st_name);
    e->symbol[k] = -1;
    if (!name) BROKEN("name of symbol %zu", k);
    if (type == STT_FILE || (!defined && !global)) return NULL;
    if (defined && (s.st_shndx >= e->head.e_shnum || type == STT_TLS || type == STT_GNU_IFUNC))
        BROKEN("place of symbol %zu", k);
    int section = defined ? e->section[s.st_shndx] : -1;
    if (defined && section < 0) return NULL; /* of a section that was left out */
    if (global) {
        name = rename(ctx, name, defined);
        e->symbol[k] = elf_symbol_named(e->to, name);
        return defined ? elf_define(e->to, name, type, section, s.st_value, s.st_size) : NULL;
    }
    e->symbol[k] = add_symbol(e->to, (elf_symbol){.name = name,
                                                  .type = type,
                                                  .section = section,
                                                  .value = s.st_value,
                                                  .size = s.st_size});
    return NULL;
}

static gn_status *take_symbols(input *e, elf_rename *rename, void *ctx)
{
    const Elf64_Shdr *t = e->symtab;
    if (t->sh_size % sizeof(Elf64_Sym) || t->sh_link >= e->head.e_shnum ||
        e->sec[t->sh_link].sh_type != SHT_STRTAB || !e->sec[t->sh_link].sh_size)
        BROKEN("symbol table");
    e->n_symbols = t->sh_size / sizeof(Elf64_Sym);
    e->symbol = GN_NEW_N(e->to->arena, int, e->n_symbols + 1);
    for (size_t k = 0; k < e->n_symbols; k++) GN_TRY(take_symbol(e, k, rename, ctx));
    return NULL;
}

static gn_status *take_relocations(input *e, const Elf64_Shdr *s)
{
    if (s->sh_info >= e->head.e_shnum || s->sh_size % sizeof(Elf64_Rela)) BROKEN("relocations");
    if (e->section[s->sh_info] < 0) return NULL;
    elf_section *to = &e->to->sections.p[e->section[s->sh_info]];
    for (size_t k = 0; k < s->sh_size / sizeof(Elf64_Rela); k++) {
        Elf64_Rela r;
        memcpy(&r, e->p + s->sh_offset + k * sizeof r, sizeof r);
        uint64_t symbol = ELF64_R_SYM(r.r_info);
        if (symbol >= e->n_symbols || (symbol && e->symbol[symbol] < 0) ||
            r.r_offset >= to->head.sh_size)
            BROKEN("relocation %zu of section %s", k, to->name);
        if (!symbol) continue; /* of no kind */
        e->to->symbols.p[e->symbol[symbol]].needed = true;
        r.r_info = ELF64_R_INFO((uint64_t)e->symbol[symbol], ELF64_R_TYPE(r.r_info));
        GN_PUSH(e->to->arena, to->relocations, r);
    }
    return NULL;
}

gn_status *elf_add_object(elf_object *o, const void *bytes, size_t n, elf_rename *rename, void *ctx)
{
    input e = {.to = o, .p = bytes, .n = n};
    GN_TRY(read_head(&e));
    GN_TRY(take_sections(&e));
    GN_TRY(take_symbols(&e, rename, ctx));
    for (int k = 0; k < e.head.e_shnum; k++) {
        if (e.sec[k].sh_type == SHT_REL) BROKEN("relocations without addends");
        if (e.sec[k].sh_type == SHT_RELA) GN_TRY(take_relocations(&e, &e.sec[k]));
    }
    return NULL;
}
