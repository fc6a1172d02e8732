/* UTF-8, as RFC 3629 has it: no surrogates, no overlong forms, at most U+10FFFF. */
#ifndef GN_CLI_UTF8_H
#define GN_CLI_UTF8_H

/* Bytes of the character that `s` begins with, 1 to 4 (its terminating zero is one, too); 0: what is there is none. */
int gn_utf8_length(const char *s);

#endif
