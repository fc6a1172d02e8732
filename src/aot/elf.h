/* Writing relocatable ELF objects, and joining them, without a linker.
 *
 * Sections of all inputs stand one beside another in the result; a linker joins those of one name
 * later.  A name that one input defines and another one needs becomes one symbol.  Everything but
 * what is to be exported becomes local, so that any number of results link into one program.
 * Format: System V ABI, chapter 4; supplements of AMD64 and AArch64. */
#ifndef GN_AOT_ELF_H
#define GN_AOT_ELF_H

#include "base/map.h"
#include "base/status.h"

#include <elf.h>

typedef struct elf_section {
    const char *name;
    Elf64_Shdr head; /* type, flags, size, alignment, entry size; the rest is set as it is written
                      */
    const void *bytes;
    GN_VEC(Elf64_Rela) relocations; /* their symbols are numbers of elf_symbol */
} elf_section;

typedef struct elf_symbol {
    const char *name;
    unsigned char type;
    bool global;   /* while joining: others may refer to it by name */
    bool exported; /* in the result */
    bool needed;   /* some relocation refers to it */
    int section;   /* -1: not defined */
    uint64_t value, size;
} elf_symbol;

typedef struct elf_object {
    gn_arena *arena;
    GN_VEC(elf_section) sections;
    GN_VEC(elf_symbol) symbols;
    gn_map by_name; /* global ones */
} elf_object;

void elf_init(elf_object *o, gn_arena *a);

/* A section of the given bytes, which are borrowed; its number. */
int elf_add_section(elf_object *o, const char *name, uint64_t flags, uint64_t align,
                    const void *bytes, uint64_t n);
/* The number of a global symbol of this name, which is made where there is none. */
int elf_symbol_named(elf_object *o, const char *name);
/* Defines it.  GN_ERR_INTERNAL: that was done already. */
GN_NODISCARD gn_status *elf_define(elf_object *o, const char *name, unsigned char type, int section,
                                   uint64_t value, uint64_t size);
/* The address of a symbol (by number), plus addend, at a place of a section. */
void elf_relocate(elf_object *o, int section, uint64_t at, int symbol, int64_t addend);

/* What a global symbol of an input, which the input defines or needs, is called in the result. */
typedef const char *elf_rename(void *ctx, const char *name, bool defined);

/* Everything of an object (its bytes are borrowed) but debug information, notes and the like.
 * GN_ERR_DATA: it is damaged or holds what this does not know. */
GN_NODISCARD gn_status *elf_add_object(elf_object *o, const void *bytes, size_t n,
                                       elf_rename *rename, void *ctx);
/* The object as a file.  Only symbols whose name begins with `exported` can be seen from
 * outside. */
GN_NODISCARD gn_status *elf_write(elf_object *o, const char *exported, gn_buf *out);

/* archive.c: an archive of one member, with the index of its exported symbols. */
GN_NODISCARD gn_status *elf_archive(const elf_object *o, const char *member, const gn_buf *object,
                                    gn_buf *out);

#endif
