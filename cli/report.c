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

int gn_cli_report(gn_status *s, FILE *to)
{
    if (!s) return 0;
    gn_code code = gn_status_code(s);
    const char *message = gn_status_message(s);
    bool color = gn_cli_color(to);
    /* A diagnostic that begins with its own place, "model.gnn:3:5: error: ...", stands as it is: tools parse that. */
    const char *tag = strstr(message, ": error: "), *eol = strchr(message, '\n');
    bool placed = tag && !(eol && eol < tag);
    if (code == GN_ERR_INTERRUPTED)
        fputs("gnnc: ", to);
    else if (!placed)
        fprintf(to, "gnnc: %serror:%s ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
    size_t n = strlen(message);
    fprintf(to, "%s%s", message, n && message[n - 1] == '\n' ? "" : "\n");
    if (code == GN_ERR_INTERNAL) fprintf(to, "  raised at %s:%d; this is a defect of gnnc\n", s->file, s->line);
    gn_status_free(s);
    return gn_code_exit(code);
}
