#include "cli/utf8.h"

#include <stddef.h>
#include <stdint.h>

int gn_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    int n = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
            : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
            : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    return n;
}

static uint32_t code_point(const char *text, int bytes)
{
    static const unsigned char first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const unsigned char *s = (const unsigned char *)text;
    uint32_t c = bytes >= 1 && bytes <= 4 ? s[0] & first[bytes] : 0;
    for (int i = 1; i < bytes; i++) c = c << 6 | (s[i] & 0x3F);
    return c;
}

int gn_utf8_cells(const char *s, int bytes)
{
    static const struct {
        uint32_t from, to;
        int cells;
    } ranges[] = {
        {0x0300, 0x036F, 0},   {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},   {0x200B, 0x200F, 0},
        {0x20D0, 0x20FF, 0},   {0x231A, 0x231B, 2},   {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},
        {0xA960, 0xA97C, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},
        {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF01, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
        {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
        {0xE0100, 0xE01EF, 0},
    };
    uint32_t c = code_point(s, bytes);
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (c >= ranges[k].from && c <= ranges[k].to) return ranges[k].cells;
    return 1;
}
