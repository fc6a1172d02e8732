#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gn_cli_color(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no && *no) return false;
    if (!term || !strcmp(term, "dumb")) return false;
    int fd = fileno(f);
    return fd >= 0 && isatty(fd);
}

/* "model.gnn:3:5: error: what", and what is under a line of the source. */
static void coloured_line(const char *line, size_t n, FILE *to)
{
    static const struct {
        const char *kind, *colour;
    } kinds[] = {
        {": error: ", "\033[1;31m"}, {": warning: ", "\033[1;35m"}, {": note: ", "\033[1;36m"}};
    const char *bar = memchr(line, '|', n), *caret = memchr(line, '^', n), *end = line + n;
    const char *first = line + strspn(line, " ");
    if (caret && bar && bar == first && bar + 1 + strspn(bar + 1, " ") == caret) {
        fprintf(to, "%.*s\033[1;32m%.*s\033[0m", (int)(caret - line), line, (int)(end - caret),
                caret);
        return;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t length = strlen(kinds[k].kind);
        const char *at = memmem(line, n, kinds[k].kind, length);
        if (!at || (bar && bar < at)) continue;
        const char *word = at + 2, *after = at + length;
        fprintf(to, "\033[1m%.*s%s%.*s\033[0m\033[1m%.*s\033[0m", (int)(word - line), line,
                kinds[k].colour, (int)length - 2, word, (int)(end - after), after);
        return;
    }
    fwrite(line, 1, n, to);
}

void gn_cli_diagnostics(const char *text, FILE *to)
{
    bool colour = gn_cli_color(to);
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (colour)
            coloured_line(text, n, to);
        else
            fwrite(text, 1, n, to);
        fputc('\n', to);
    }
}

int gn_cli_report(gn_status *s, FILE *to)
{
    if (!s) return 0;
    gn_code code = gn_status_code(s);
    const char *message = gn_status_message(s);
    bool color = gn_cli_color(to);
    /* A diagnostic that begins with its own place, "model.gnn:3:5: error: ...", stands as it is:
     * tools parse that. */
    const char *tag = strstr(message, ": error: "), *eol = strchr(message, '\n');
    bool placed = tag && !(eol && eol < tag);
    if (code == GN_ERR_INTERRUPTED)
        fputs("gnnc: ", to);
    else if (!placed)
        fprintf(to, "gnnc: %serror:%s ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
    if (placed)
        gn_cli_diagnostics(message, to);
    else
        fprintf(to, "%s%s", message, *message && message[strlen(message) - 1] == '\n' ? "" : "\n");
    if (code == GN_ERR_INTERNAL)
        fprintf(to, "  raised at %s:%d; this is a defect of gnnc\n", s->file, s->line);
    gn_status_free(s);
    return gn_code_exit(code);
}
