#include "cli/progress.h"

#include "base/clock.h"
#include "cli/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void gn_progress_begin(gn_progress *p, FILE *to, bool wanted)
{
    const char *term = getenv("TERM");
    int fd = fileno(to);
    *p = (gn_progress){.to = to, .last_ms = -1e9};
    p->on = wanted && term && *term && strcmp(term, "dumb") != 0 && fd >= 0 && isatty(fd);
}

bool gn_progress_due(const gn_progress *p) { return p->on && gn_now_ms() - p->last_ms >= 100; }

/* Asked each time: the window may have been resized. A terminal that does not tell is taken for
 * one of 80. */
static int width_of(FILE *to)
{
    struct winsize size;
    return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* The last cell stays free: a character there makes some terminals begin a new line. */
void gn_progress_show(gn_progress *p, const char *text)
{
    if (!p->on) return;
    int room = width_of(p->to) - 1;
    fputc('\r', p->to);
    for (int n; *text && (n = gn_utf8_length(text)) >= 0; text += n ? n : 1) {
        bool plain = n && (n > 1 || ((unsigned char)*text >= 0x20 && *text != 0x7F));
        room -= plain ? gn_utf8_cells(text, n) : 1;
        if (room < 0) break;
        fwrite(plain ? text : "?", 1, plain ? (size_t)n : 1, p->to);
    }
    fputs("\033[K", p->to);
    fflush(p->to);
    p->shown = true;
    p->last_ms = gn_now_ms();
}

void gn_progress_clear(gn_progress *p)
{
    if (p->shown) fputs("\r\033[K", p->to);
    p->shown = false;
}

void gn_progress_end(gn_progress *p)
{
    if (p->shown) fputc('\n', p->to);
    p->shown = false;
}
