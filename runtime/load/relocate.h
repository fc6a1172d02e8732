/* Addresses in code that is put somewhere: what the relocations of x86-64 and of AArch64 say.
 *
 * Both are known wherever gnnc runs; the loader refuses objects of another machine than its own. */
#ifndef GN_RUNTIME_LOAD_RELOCATE_H
#define GN_RUNTIME_LOAD_RELOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place for a jump to anywhere, which holds the address to jump to. */
enum { GN_STUB = 16 };

typedef struct gn_relocation {
    bool known;   /* false: no other field says anything */
    bool nothing; /* asks for nothing */
    int bytes;    /* that it changes */
    bool call;    /* goes to code, which may be a stub */
    bool slot;    /* means the place where the symbol's address is, which a stub has */
} gn_relocation;

/* What relocations of this type are; `machine` is EM_X86_64 or EM_AARCH64. */
gn_relocation gn_relocation_of(int machine, uint32_t type);

/* Writes at `place`, which will run at the address `at`, what makes it mean `to`.  NULL, or why
 * that cannot be: "that does not reach", ... */
const char *gn_relocate(int machine, uint32_t type, unsigned char *place, uint64_t at, uint64_t to);

/* Writes a stub, and says how far into it the address is. */
void gn_stub_write(int machine, unsigned char stub[GN_STUB], uint64_t to);
size_t gn_stub_slot(int machine);

#endif
