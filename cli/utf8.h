/* UTF-8, as RFC 3629 has it: no surrogates, no overlong forms, at most U+10FFFF. */
#ifndef GN_CLI_UTF8_H
#define GN_CLI_UTF8_H

/* Bytes of the character that `s` begins with, 1 to 4 (its terminating zero is one, too); 0:
 * what is there is none. */
int gn_utf8_length(const char *s);

/* Cells of a terminal that the character takes whose first byte is at `s`, of so many bytes: 0
 * for marks that are put on the one before, 2 for wide ones (East Asian Width W and F of
 * Unicode's EastAsianWidth.txt, pictures among them), else 1. */
int gn_utf8_cells(const char *s, int bytes);

#endif
