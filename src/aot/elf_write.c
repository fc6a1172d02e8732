/* One object as a file: header, sections, relocations, symbols, names, and the table of sections at
 * the end. */
#include "aot/elf.h"
#include "base/processor.h"

#include <string.h>

typedef struct writer {
    const elf_object *o;
    gn_buf *out;
    uint32_t *number; /* [symbols] in the file; 0: left out */
    GN_VEC(Elf64_Shdr) heads;
    gn_buf section_names, symbol_names;
} writer;

static void pad(gn_buf *b, uint64_t align)
{
    static const char zeros[64];
    while (align > 1 && b->n % align) {
        size_t n = (size_t)(align - b->n % align);
        gn_buf_addn(b, zeros, n < sizeof zeros ? n : sizeof zeros);
    }
}

/* Where the name begins; the NUL behind it is part of the table. */
static uint32_t add_name(gn_buf *names, const char *name)
{
    if (!*name) return 0;
    size_t at = names->n;
    gn_buf_addn(names, name, strlen(name) + 1);
    return (uint32_t)at;
}

static int add_head(writer *w, const char *name, Elf64_Shdr h)
{
    h.sh_name = add_name(&w->section_names, name);
    h.sh_offset = w->out->n;
    GN_PUSH(w->o->arena, w->heads, h);
    return (int)w->heads.n - 1;
}

static bool is_kept(const elf_symbol *s) { return s->section >= 0 || s->needed; }

/* Local symbols come first. */
static void write_symbols(writer *w, int names)
{
    const elf_object *o = w->o;
    GN_VEC(Elf64_Sym) all = {0};
    uint32_t locals = 0;
    GN_PUSH(o->arena, all, (Elf64_Sym){0});
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < o->symbols.n; k++) {
            const elf_symbol *s = &o->symbols.p[k];
            bool global = s->exported || s->section < 0;
            if (!is_kept(s) || global != (pass == 1)) continue;
            w->number[k] = all.n;
            Elf64_Sym to = {
                .st_name = add_name(&w->symbol_names, s->name),
                .st_info = (unsigned char)ELF64_ST_INFO(global ? STB_GLOBAL : STB_LOCAL,
                                                        s->section < 0 ? STT_NOTYPE : s->type),
                .st_shndx = (Elf64_Half)(s->section + 1),
                .st_value = s->value,
                .st_size = s->size,
            };
            GN_PUSH(o->arena, all, to);
        }
        if (pass == 0) locals = all.n;
    }
    pad(w->out, 8);
    add_head(w, ".symtab",
             (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                          .sh_size = all.n * sizeof(Elf64_Sym),
                          .sh_link = (Elf64_Word)names,
                          .sh_info = locals,
                          .sh_addralign = 8,
                          .sh_entsize = sizeof(Elf64_Sym)});
    gn_buf_addn(w->out, (const char *)all.p, all.n * sizeof(Elf64_Sym));
}

static void write_relocations(writer *w, int symbols)
{
    const elf_object *o = w->o;
    for (uint32_t k = 0; k < o->sections.n; k++) {
        const elf_section *s = &o->sections.p[k];
        if (!s->relocations.n) continue;
        pad(w->out, 8);
        add_head(w, gn_arena_printf(o->arena, ".rela%s", s->name),
                 (Elf64_Shdr){.sh_type = SHT_RELA,
                              .sh_flags = SHF_INFO_LINK,
                              .sh_size = s->relocations.n * sizeof(Elf64_Rela),
                              .sh_link = (Elf64_Word)symbols,
                              .sh_info = k + 1,
                              .sh_addralign = 8,
                              .sh_entsize = sizeof(Elf64_Rela)});
        for (uint32_t i = 0; i < s->relocations.n; i++) {
            Elf64_Rela r = s->relocations.p[i];
            r.r_info = ELF64_R_INFO((uint64_t)w->number[ELF64_R_SYM(r.r_info)],
                                    ELF64_R_TYPE(r.r_info));
            gn_buf_addn(w->out, (const char *)&r, sizeof r);
        }
    }
}

static void write_sections(writer *w)
{
    for (uint32_t k = 0; k < w->o->sections.n; k++) {
        const elf_section *s = &w->o->sections.p[k];
        Elf64_Shdr h = s->head;
        h.sh_link = h.sh_info = 0;
        h.sh_addr = 0;
        pad(w->out, h.sh_addralign);
        add_head(w, s->name, h);
        if (h.sh_type != SHT_NOBITS) gn_buf_addn(w->out, s->bytes, h.sh_size);
    }
}

static int write_names(writer *w, const char *name, gn_buf *names, int at)
{
    Elf64_Shdr h = {.sh_type = SHT_STRTAB, .sh_addralign = 1};
    if (at < 0) at = add_head(w, name, h);
    w->heads.p[at].sh_offset = w->out->n;
    w->heads.p[at].sh_size = names->n;
    gn_buf_addn(w->out, names->p, names->n);
    return at;
}

gn_status *elf_write(elf_object *o, const char *exported, gn_buf *out)
{
    enum { MOST_SECTIONS = SHN_LORESERVE / 2 - 8 };
    writer w = {.o = o, .out = out, .number = GN_NEW_N(o->arena, uint32_t, o->symbols.n + 1)};
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_REL,
                       .e_machine = GN_ELF_MACHINE,
                       .e_version = EV_CURRENT,
                       .e_ehsize = sizeof head,
                       .e_shentsize = sizeof(Elf64_Shdr)};
    if (o->sections.n > MOST_SECTIONS)
        GN_FAIL(GN_ERR_MODEL, "%u sections do not fit an object", o->sections.n);
    for (uint32_t k = 0; k < o->symbols.n; k++)
        o->symbols.p[k].exported = o->symbols.p[k].global &&
                                   !strncmp(o->symbols.p[k].name, exported, strlen(exported));
    w.section_names.arena = w.symbol_names.arena = o->arena;
    gn_buf_addn(&w.section_names, "", 1);
    gn_buf_addn(&w.symbol_names, "", 1);
    gn_buf_addn(out, (const char *)&head, sizeof head);
    add_head(&w, "", (Elf64_Shdr){0});
    w.heads.p[0].sh_offset = 0;
    write_sections(&w);
    add_head(&w, ".note.GNU-stack",
             (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addralign = 1}); /* not
                                                                           executable
                                                                         */
    int names = add_head(&w, ".strtab", (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1});
    write_symbols(&w, names);
    write_relocations(&w, names + 1);
    write_names(&w, ".strtab", &w.symbol_names, names);
    int section_names = add_head(&w, ".shstrtab",
                                 (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1});
    write_names(&w, ".shstrtab", &w.section_names, section_names);
    pad(out, 8);
    head.e_shoff = out->n;
    head.e_shnum = (Elf64_Half)w.heads.n;
    head.e_shstrndx = (Elf64_Half)section_names;
    gn_buf_addn(out, (const char *)w.heads.p, w.heads.n * sizeof(Elf64_Shdr));
    memcpy(out->p, &head, sizeof head);
    return NULL;
}
