/* Pages: HTML files with everything in them, no script, no font, no picture from elsewhere; light
 * or dark as their reader has it, on narrow screens and wide ones. */
#ifndef GN_CLI_HTML_H
#define GN_CLI_HTML_H

#include <stdio.h>

/* Up to the body's beginning. more: rules behind those that all pages share; NULL: none. */
void gn_html_begin(FILE *to, const char *title, const char *more);
void gn_html_end(FILE *to);

#endif
