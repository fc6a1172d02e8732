#include "cli/pages.h"

#include <ctype.h>
#include <string.h>

/* Text as troff wants it: no hyphens for minus signs, nothing that begins a line as a request
 * does. Line feeds become blanks, unless `lines`. */
static void put(FILE *to, const char *text, bool lines)
{
    bool start = true;
    for (const char *s = text; *s; s++) {
        if (start && (*s == '.' || *s == '\'')) fputs("\\&", to);
        start = lines && *s == '\n';
        if (*s == '\n' && !lines)
            fputc(' ', to);
        else if (*s == '-')
            fputs("\\-", to);
        else if (*s == '\\')
            fputs("\\e", to);
        else
            fputc(*s, to);
    }
}

static void put_option(FILE *to, const gn_option *o)
{
    fputs(".TP\n", to);
    if (o->letter) fprintf(to, "\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
    if (o->name) {
        fputs("\\fB\\-\\-", to);
        put(to, o->name, false);
        fputs("\\fR", to);
    }
    if (gn_option_takes_value(o)) {
        fputs(" \\fI", to);
        put(to, o->value, false);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    put(to, o->help, false);
    fputs(".\n", to);
}

static void put_upper(FILE *to, const char *text)
{
    for (; *text; text++) fputc(toupper((unsigned char)*text), to);
}

void gn_page_man(const gn_command *c, uint32_t bit, FILE *to)
{
    fputs(".TH GNNC\\-", to);
    put_upper(to, c->name);
    fprintf(to, " 1 \"\" \"gnnc %s\" \"User Commands\"\n.SH NAME\ngnnc\\-%s \\- ", GNNC_VERSION,
            c->name);
    put(to, c->summary, false);
    fputs("\n.SH SYNOPSIS\n.nf\ngnnc ", to);
    put(to, c->usage, false);
    fputs("\n.fi\n.SH DESCRIPTION\n", to);
    put(to, c->about, true);
    fputs(".SH OPTIONS\n", to);
    for (size_t k = 0; k < gn_cli_option_table.n; k++) {
        const gn_option *o = &gn_cli_option_table.options[k];
        if (!gn_option_is_of(o, bit)) continue;
        const char *group = gn_option_group(&gn_cli_option_table, bit, k);
        if (group) {
            fprintf(to, ".SS %c", toupper((unsigned char)*group));
            put(to, group + 1, false);
            fputc('\n', to);
        }
        put_option(to, o);
    }
    fputs(".SH EXAMPLES\n.nf\n", to);
    put(to, c->examples, true);
    fputs(".fi\n.SH EXIT STATUS\nAs\n.BR gnnc (1)\nsays.\n.SH SEE ALSO\n.BR gnnc (1)\n", to);
}
