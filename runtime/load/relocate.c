/* System V ABI, AMD64 supplement, table 4.9; ELF for the Arm 64-bit Architecture (aaelf64), chapter
 * 5.7.  Of AArch64 what LLVM makes for position-independent code of the small model. */
#include "runtime/load/relocate.h"

#include <elf.h>
#include <string.h>

static const char reach[] = "that does not reach";

static bool fits(int64_t v, int bits)
{
    int64_t half = (int64_t)1 << (bits - 1);
    return v >= -half && v < half;
}

static const char *put_32(unsigned char *place, int64_t v)
{
    uint32_t low = (uint32_t)v;
    if (!fits(v, 32)) return reach;
    memcpy(place, &low, 4);
    return NULL;
}

static gn_relocation of_x86(uint32_t type)
{
    bool slot = type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
                type == R_X86_64_REX_GOTPCRELX;
    switch (type) {
    case R_X86_64_NONE: return (gn_relocation){.known = true, .nothing = true};
    case R_X86_64_64:
    case R_X86_64_PC64: return (gn_relocation){.known = true, .bytes = 8};
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        return (gn_relocation){
            .known = true, .bytes = 4, .call = type == R_X86_64_PLT32, .slot = slot};
    default: return (gn_relocation){.known = false};
    }
}

static const char *relocate_x86(uint32_t type, unsigned char *place, uint64_t at, uint64_t to)
{
    uint64_t value = type == R_X86_64_64 ? to : to - at;
    if (of_x86(type).bytes == 4) return put_32(place, (int64_t)value);
    memcpy(place, &value, 8);
    return NULL;
}

/* Bytes that a load or a store moves, of which the offset counts; 0: another type. */
static unsigned moved(uint32_t type)
{
    switch (type) {
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return 1;
    case R_AARCH64_LDST16_ABS_LO12_NC: return 2;
    case R_AARCH64_LDST32_ABS_LO12_NC: return 4;
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC: return 8;
    case R_AARCH64_LDST128_ABS_LO12_NC: return 16;
    default: return 0;
    }
}

static gn_relocation of_arm(uint32_t type)
{
    switch (type) {
    case R_AARCH64_NONE: return (gn_relocation){.known = true, .nothing = true};
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64: return (gn_relocation){.known = true, .bytes = 8};
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_PG_HI21: return (gn_relocation){.known = true, .bytes = 4};
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: return (gn_relocation){.known = true, .bytes = 4, .call = true};
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
        return (gn_relocation){.known = true, .bytes = 4, .slot = true};
    default: return (gn_relocation){.known = moved(type) > 0, .bytes = 4};
    }
}

/* The bits of an instruction that are an offset. */
static const char *put_bits(unsigned char *place, uint32_t mask, uint32_t bits)
{
    uint32_t word;
    memcpy(&word, place, 4);
    word = (word & ~mask) | (bits & mask);
    memcpy(place, &word, 4);
    return NULL;
}

static const char *relocate_arm(uint32_t type, unsigned char *place, uint64_t at, uint64_t to)
{
    const uint64_t page = ~(uint64_t)0xfff;
    int64_t apart = (int64_t)(to - at), pages = (int64_t)((to & page) - (at & page));
    unsigned size = moved(type);
    if (size) {
        uint32_t offset = (uint32_t)(to & 0xfff);
        if (offset % size) return "to what is not aligned";
        return put_bits(place, 0xfffu << 10, offset / size << 10);
    }
    switch (type) {
    case R_AARCH64_ABS64: memcpy(place, &to, 8); return NULL;
    case R_AARCH64_PREL64: memcpy(place, &apart, 8); return NULL;
    case R_AARCH64_PREL32: return put_32(place, apart);
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
        if (!fits(pages, 33)) return reach;
        pages >>= 12; /* two bits of it at 29, the others at 5 */
        return put_bits(place, 3u << 29 | 0x7ffffu << 5,
                        (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5);
    default: /* jumps */
        if (apart & 3) return "to what is not aligned";
        if (!fits(apart, 28)) return reach;
        return put_bits(place, 0x3ffffff, (uint32_t)(apart >> 2));
    }
}

gn_relocation gn_relocation_of(int machine, uint32_t type)
{
    return machine == EM_AARCH64 ? of_arm(type) : of_x86(type);
}

const char *gn_relocate(int machine, uint32_t type, unsigned char *place, uint64_t at, uint64_t to)
{
    return machine == EM_AARCH64 ? relocate_arm(type, place, at, to)
                                 : relocate_x86(type, place, at, to);
}

static const unsigned char jump_x86[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
static const unsigned char jump_arm[] = {0x50, 0,    0,    0x58,  /* ldr x16, .+8 */
                                         0,    0x02, 0x1f, 0xd6}; /* br x16 */

size_t gn_stub_slot(int machine)
{
    return machine == EM_AARCH64 ? sizeof jump_arm : sizeof jump_x86;
}

void gn_stub_write(int machine, unsigned char stub[GN_STUB], uint64_t to)
{
    size_t n = gn_stub_slot(machine);
    memcpy(stub, machine == EM_AARCH64 ? jump_arm : jump_x86, n);
    memcpy(stub + n, &to, sizeof to);
}
