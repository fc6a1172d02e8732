/* Relocations of both kinds of processors, whichever runs this: what instructions say afterwards.
 */
/* links: runtime base */
#include "runtime/load/relocate.h"
#include "support/suite.h"

#include <check.h>
#include <elf.h>
#include <string.h>

static uint64_t applied(int machine, uint32_t type, uint64_t word, uint64_t at, uint64_t to)
{
    ck_assert(gn_relocation_of(machine, type).known);
    const char *why = gn_relocate(machine, type, (unsigned char *)&word, at, to);
    ck_assert_msg(!why, "%s", why);
    return word;
}

static void refused(int machine, uint32_t type, uint64_t at, uint64_t to, const char *says)
{
    uint64_t word = 0x1122334455667788;
    const char *why = gn_relocate(machine, type, (unsigned char *)&word, at, to);
    ck_assert_ptr_nonnull(why);
    ck_assert_str_eq(why, says);
    ck_assert_uint_eq(word, 0x1122334455667788);
}

static const char far_off[] = "that does not reach", askew[] = "to what is not aligned";

START_TEST(x86)
{
    enum { M = EM_X86_64 };
    const uint64_t top = 0xaaaaaaaa00000000;
    ck_assert_uint_eq(applied(M, R_X86_64_64, 0, 0x1000, 0x123456789abcdef0), 0x123456789abcdef0);
    ck_assert_uint_eq(applied(M, R_X86_64_PC64, 0, 0x2000, 0x1000), (uint64_t)-0x1000);
    ck_assert_uint_eq(applied(M, R_X86_64_PC32, top, 0x2000, 0x1ffc), top | 0xfffffffc);
    ck_assert_uint_eq(applied(M, R_X86_64_PLT32, top, 0, 0x7fffffff), top | 0x7fffffff);
    ck_assert_uint_eq(applied(M, R_X86_64_REX_GOTPCRELX, top, 0x80000000, 0), top | 0x80000000);
    refused(M, R_X86_64_PC32, 0, 0x80000000, far_off);
    refused(M, R_X86_64_GOTPCREL, 0x80000001, 0, far_off);
}
END_TEST

/* Instructions as the assembler writes them and objdump reads them. */
START_TEST(arm)
{
    enum { M = EM_AARCH64 };
    const uint64_t top = 0x5555555500000000;
    const struct {
        uint32_t type, word;
        uint64_t at, to;
        uint32_t want;
    } all[] = {
        /* bl . -> bl .+0x1000, bl .-4; b */
        {R_AARCH64_CALL26, 0x94000000, 0x1000, 0x2000, 0x94000400},
        {R_AARCH64_CALL26, 0x94000000, 0x1000, 0xffc, 0x97ffffff},
        {R_AARCH64_JUMP26, 0x14000000, 0, 0x7fffffc, 0x15ffffff},
        {R_AARCH64_JUMP26, 0x14000000, 0x8000000, 0, 0x16000000},
        /* adrp x3, pages away: 1, 4, -1, the farthest */
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000003, 0x1ffc, 0x2004, 0xb0000003},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000003, 0x1000, 0x5fff, 0x90000023},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000003, 0x1000, 0xfff, 0xf0ffffe3},
        {R_AARCH64_ADR_GOT_PAGE, 0x90000003, 0, 0xffffffff, 0xf07fffe3},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000003, 0x100000000, 0, 0x90800003},
        /* add x0, x3, #0x7ff; ldrb, ldrh, ldr w, ldr x, ldr q of offset 0x7f0 */
        {R_AARCH64_ADD_ABS_LO12_NC, 0x91000060, 0, 0x77ff, 0x911ffc60},
        {R_AARCH64_LDST8_ABS_LO12_NC, 0x39400060, 0, 0x77ff, 0x395ffc60},
        {R_AARCH64_LDST16_ABS_LO12_NC, 0x79400060, 0, 0x77fe, 0x794ffc60},
        {R_AARCH64_LDST32_ABS_LO12_NC, 0xb9400060, 0, 0x77fc, 0xb947fc60},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400060, 0, 0x77f8, 0xf943fc60},
        {R_AARCH64_LD64_GOT_LO12_NC, 0xf9400060, 0, 0x7ff8, 0xf947fc60},
        {R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00060, 0, 0x77f0, 0x3dc1fc60},
        /* what stood in the offset is gone */
        {R_AARCH64_ADD_ABS_LO12_NC, 0x913ffc60, 0, 0x1001, 0x91000460},
        {R_AARCH64_PREL32, 0, 0x2000, 0x1000, 0xfffff000},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        uint64_t got = applied(M, all[k].type, top | all[k].word, all[k].at, all[k].to);
        ck_assert_msg(got == (top | all[k].want), "%zu: %lx, not %x", k, (unsigned long)got,
                      all[k].want);
    }
    ck_assert_uint_eq(applied(M, R_AARCH64_ABS64, 0, 0x1000, 0x123456789abcdef0),
                      0x123456789abcdef0);
    ck_assert_uint_eq(applied(M, R_AARCH64_PREL64, 0, 0x2000, 0x1000), (uint64_t)-0x1000);
    refused(M, R_AARCH64_CALL26, 0, 0x8000000, far_off);
    refused(M, R_AARCH64_JUMP26, 0x8000004, 0, far_off);
    refused(M, R_AARCH64_CALL26, 0, 0x1002, askew);
    refused(M, R_AARCH64_ADR_PREL_PG_HI21, 0, 0x100000000, far_off);
    refused(M, R_AARCH64_ADR_GOT_PAGE, 0x100001000, 0, far_off);
    refused(M, R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x7ffc, askew);
    refused(M, R_AARCH64_LDST128_ABS_LO12_NC, 0, 0x7ff8, askew);
    refused(M, R_AARCH64_PREL32, 0, 0x80000000, far_off);
}
END_TEST

/* What the loader asks of them. */
START_TEST(kinds)
{
    gn_relocation call = gn_relocation_of(EM_AARCH64, R_AARCH64_CALL26),
                  slot = gn_relocation_of(EM_AARCH64, R_AARCH64_LD64_GOT_LO12_NC),
                  plain = gn_relocation_of(EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC);
    ck_assert(call.call && !call.slot && slot.slot && !slot.call && !plain.call && !plain.slot);
    ck_assert(gn_relocation_of(EM_AARCH64, R_AARCH64_NONE).nothing &&
              gn_relocation_of(EM_X86_64, R_X86_64_NONE).nothing);
    ck_assert(!gn_relocation_of(EM_AARCH64, R_AARCH64_CONDBR19).known &&
              !gn_relocation_of(EM_X86_64, R_X86_64_TPOFF32).known &&
              !gn_relocation_of(EM_AARCH64, R_X86_64_PLT32).known);
    for (uint32_t type = 0; type < 2000; type++)
        for (int m = 0; m < 2; m++) {
            gn_relocation r = gn_relocation_of(m ? EM_X86_64 : EM_AARCH64, type);
            bool eight = m ? type == R_X86_64_64 || type == R_X86_64_PC64
                           : type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64;
            if (r.known && !r.nothing) ck_assert_int_eq(r.bytes, eight ? 8 : 4);
        }
}
END_TEST

START_TEST(stubs)
{
    unsigned char stub[GN_STUB];
    uint64_t to;
    gn_stub_write(EM_X86_64, stub, 0x1122334455667788);
    ck_assert_mem_eq(stub, "\xff\x25\0\0\0\0", 6);
    ck_assert_uint_eq(gn_stub_slot(EM_X86_64), 6);
    memcpy(&to, stub + 6, 8);
    ck_assert_uint_eq(to, 0x1122334455667788);
    gn_stub_write(EM_AARCH64, stub, 0x1122334455667788);
    ck_assert_mem_eq(stub, "\x50\0\0\x58\0\x02\x1f\xd6", 8); /* ldr x16, .+8; br x16 */
    ck_assert_uint_eq(gn_stub_slot(EM_AARCH64), 8);
    memcpy(&to, stub + 8, 8);
    ck_assert_uint_eq(to, 0x1122334455667788);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("relocations");
    tcase_add_test(c, x86);
    tcase_add_test(c, arm);
    tcase_add_test(c, kinds);
    tcase_add_test(c, stubs);
    TCase *const cases[] = {c};
    return suite_run_cases("relocations", 1, cases);
}
