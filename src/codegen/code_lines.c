#include "codegen/code_lines.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes { /* that are read one after another; past the end all is 0 */
    const unsigned char *p;
    size_t n, at;
    bool broken;
} bytes;

static uint64_t take(bytes *b, size_t n)
{
    uint64_t v = 0;
    if (n > b->n - b->at) {
        b->broken = true;
        b->at = b->n;
        return 0;
    }
    memcpy(&v, b->p + b->at, n); /* little-endian, as the loader demands */
    b->at += n;
    return v;
}

static uint64_t uleb(bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t c = take(b, 1);
        if (shift < 64) v |= (c & 0x7f) << shift;
        if (!(c & 0x80) || b->broken) return v;
    }
}

static int64_t sleb(bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0;;) {
        uint64_t c = take(b, 1);
        if (shift < 64) v |= (c & 0x7f) << shift;
        shift += 7;
        if (c & 0x80 && !b->broken) continue;
        if (shift < 64 && c & 0x40) v |= ~(uint64_t)0 << shift;
        return (int64_t)v;
    }
}

/* The object ----------------------------------------------------------------------------------- */

typedef struct object {
    const unsigned char *p;
    size_t n;
    Elf64_Ehdr head;
    Elf64_Shdr symbols, lines, relocations; /* sh_type SHT_NULL: there are none */
    uint32_t code;                          /* section of the kernel */
    uint64_t begin, size;                   /* of it there */
} object;

#define BROKEN(what) GN_FAIL(GN_ERR_DATA, "object code is damaged: " what)

static bool inside(const object *o, uint64_t at, uint64_t size)
{
    return at <= o->n && size <= o->n - at;
}

static Elf64_Shdr section(const object *o, uint32_t k)
{
    Elf64_Shdr s;
    memcpy(&s, o->p + o->head.e_shoff + (size_t)k * sizeof s, sizeof s);
    return s;
}

/* A string that ends inside of the section; "" where none does. */
static const char *text_at(const object *o, const Elf64_Shdr *s, uint64_t at)
{
    const char *from = (const char *)o->p + s->sh_offset;
    if (s->sh_type != SHT_STRTAB || at >= s->sh_size || !memchr(from + at, 0, s->sh_size - at))
        return "";
    return from + at;
}

static gn_status *find_sections(object *o)
{
    if (o->n < sizeof o->head) BROKEN("no header");
    memcpy(&o->head, o->p, sizeof o->head);
    if (o->head.e_shentsize != sizeof(Elf64_Shdr) || o->head.e_shstrndx >= o->head.e_shnum ||
        !inside(o, o->head.e_shoff, (uint64_t)o->head.e_shnum * sizeof(Elf64_Shdr)))
        BROKEN("section headers");
    Elf64_Shdr names = section(o, o->head.e_shstrndx);
    for (uint32_t k = 0; k < o->head.e_shnum; k++) {
        Elf64_Shdr s = section(o, k);
        if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !inside(o, s.sh_offset, s.sh_size))
            BROKEN("a section");
    }
    for (uint32_t k = 0; k < o->head.e_shnum; k++) {
        Elf64_Shdr s = section(o, k);
        const char *name = text_at(o, &names, s.sh_name);
        if (s.sh_type == SHT_SYMTAB) o->symbols = s;
        if (s.sh_type == SHT_PROGBITS && !strcmp(name, ".debug_line")) o->lines = s;
        if (s.sh_type == SHT_RELA && !strcmp(name, ".rela.debug_line")) o->relocations = s;
    }
    return NULL;
}

static bool symbol_at(const object *o, uint64_t k, Elf64_Sym *out)
{
    if (k >= o->symbols.sh_size / sizeof *out) return false;
    memcpy(out, o->p + o->symbols.sh_offset + k * sizeof *out, sizeof *out);
    return true;
}

static gn_status *find_kernel(object *o)
{
    Elf64_Sym s;
    if (o->symbols.sh_type != SHT_SYMTAB || o->symbols.sh_link >= o->head.e_shnum)
        BROKEN("no symbols");
    Elf64_Shdr names = section(o, o->symbols.sh_link);
    for (uint64_t k = 0; symbol_at(o, k, &s); k++) {
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC ||
            strcmp(text_at(o, &names, s.st_name), "gn_kernel_0") != 0)
            continue;
        o->code = s.st_shndx;
        o->begin = s.st_value;
        o->size = s.st_size;
        return NULL;
    }
    BROKEN("no kernel");
}

/* The table ------------------------------------------------------------------------------------ */

/* What belongs where the section of lines has an address: false where it is not of the kernel's
 * section. */
static bool address_at(const object *o, uint64_t offset, uint64_t *out)
{
    for (uint64_t k = 0; k < o->relocations.sh_size / sizeof(Elf64_Rela); k++) {
        Elf64_Rela r;
        Elf64_Sym s;
        memcpy(&r, o->p + o->relocations.sh_offset + k * sizeof r, sizeof r);
        if (r.r_offset != offset) continue;
        if (!symbol_at(o, ELF64_R_SYM(r.r_info), &s) || s.st_shndx != o->code) return false;
        *out = s.st_value + (uint64_t)r.r_addend;
        return true;
    }
    return false;
}

typedef struct machine { /* 6.2.2 */
    gn_arena *arena;
    const object *o;
    gn_code_lines *out;
    uint64_t address, line; /* both wrap where the object is damaged */
    bool here;              /* in the kernel's section */
    unsigned least, range, base;
    int8_t first;
} machine;

static void add_row(machine *m)
{
    uint64_t at = m->address - m->o->begin;
    if (!m->here || m->address < m->o->begin || at >= m->o->size) return;
    uint32_t n = m->out->line.n;
    uint32_t place = m->line <= UINT32_MAX ? (uint32_t)m->line : 0;
    if (n && m->out->line.p[n - 1].at == at)
        m->out->line.p[n - 1].place = place;
    else if (!n || (m->out->line.p[n - 1].at < at && m->out->line.p[n - 1].place != place))
        GN_PUSH(m->arena, m->out->line, ((gn_code_line){at, place}));
}

static void extended(machine *m, bytes *b)
{
    enum { END = 1, SET_ADDRESS = 2 };
    uint64_t n = uleb(b);
    if (!n || n > b->n - b->at) {
        b->broken = true;
        return;
    }
    size_t next = b->at + (size_t)n;
    uint64_t op = take(b, 1);
    if (op == SET_ADDRESS) m->here = address_at(m->o, b->at - m->o->lines.sh_offset, &m->address);
    if (op == END) {
        m->address = 0;
        m->line = 1;
        m->here = false;
    }
    b->at = next;
}

static void standard(machine *m, bytes *b, unsigned op, const unsigned char *operands)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, CONST_ADD = 8, FIXED_ADVANCE };
    switch (op) {
    case COPY: add_row(m); break;
    case ADVANCE_PC: m->address += uleb(b) * m->least; break;
    case ADVANCE_LINE: m->line += (uint64_t)sleb(b); break;
    case CONST_ADD: m->address += (255 - m->base) / m->range * m->least; break;
    case FIXED_ADVANCE: m->address += take(b, 2); break;
    default:
        for (int k = 0; k < operands[op - 1]; k++) (void)uleb(b);
    }
}

static void run(machine *m, bytes *b, const unsigned char *operands)
{
    while (b->at < b->n && !b->broken) {
        unsigned op = (unsigned)take(b, 1);
        if (!op) {
            extended(m, b);
        } else if (op < m->base) {
            standard(m, b, op, operands);
        } else {
            m->address += (op - m->base) / m->range * m->least;
            m->line += (uint64_t)(int64_t)m->first + (op - m->base) % m->range;
            add_row(m);
        }
    }
}

static gn_status *read_unit(machine *m, bytes *all)
{
    uint64_t size = take(all, 4);
    if (size > all->n - all->at) BROKEN("lines");
    bytes b = {.p = all->p, .n = all->at + (size_t)size, .at = all->at};
    all->at = b.n;
    if (take(&b, 2) != 4) BROKEN("lines of another version");
    uint64_t skip = take(&b, 4);
    if (skip > b.n - b.at) BROKEN("lines");
    size_t program = b.at + (size_t)skip;
    m->least = (unsigned)take(&b, 1);
    (void)take(&b, 2); /* operations an instruction; statements */
    m->first = (int8_t)take(&b, 1);
    m->range = (unsigned)take(&b, 1);
    m->base = (unsigned)take(&b, 1);
    if (b.broken || !m->range || m->base < 10 || m->base > b.n - b.at) BROKEN("lines");
    const unsigned char *operands = b.p + b.at;
    b.at = program;
    m->address = 0;
    m->line = 1;
    m->here = false;
    run(m, &b, operands);
    if (b.broken) BROKEN("lines");
    return NULL;
}

gn_status *gn_code_lines_of(gn_arena *a, const gn_code_object *o, gn_code_lines *out)
{
    object x = {.p = o->bytes, .n = o->n};
    *out = (gn_code_lines){0};
    GN_TRY(find_sections(&x));
    GN_TRY(find_kernel(&x));
    out->size = x.size;
    machine m = {.arena = a, .o = &x, .out = out};
    bytes all = {.p = x.p,
                 .n = (size_t)(x.lines.sh_offset + x.lines.sh_size),
                 .at = (size_t)x.lines.sh_offset};
    while (all.at < all.n) GN_TRY(read_unit(&m, &all));
    return NULL;
}
