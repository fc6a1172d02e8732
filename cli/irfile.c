#include "cli/irfile.h"

#include "base/outfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 256 << 20 };

static gn_status *read_all(const gn_cli *cli, const char *path, gn_buf *out)
{
    bool standard = !strcmp(path, "-");
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (!f) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    char part[65536];
    size_t got;
    *out = (gn_buf){.arena = cli->arena};
    gn_buf_add(out, "");
    while (out->n < LIMIT && (got = fread(part, 1, sizeof part, f)) > 0)
        gn_buf_addn(out, part, got);
    int error = ferror(f) ? errno : 0;
    if (!standard) fclose(f);
    if (error) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(error));
    if (out->n >= LIMIT) GN_FAIL(GN_ERR_MODEL, "%s: longer than %d bytes", path, LIMIT);
    return NULL;
}

/* The first word that is not in a comment tells which of the two it is. */
static bool is_kernel(const gn_buf *b)
{
    const char *p = b->p;
    for (;;) {
        while (isspace((unsigned char)*p)) p++;
        if (*p != ';') break;
        p += strcspn(p, "\n");
    }
    return !strncmp(p, "kernel", 6);
}

/* What a user's text breaks is no defect of gnnc. */
static gn_status *of_text(gn_status *s, const char *origin)
{
    if (gn_status_code(s) != GN_ERR_INTERNAL) return s;
    gn_status *own = GN_ERROR(GN_ERR_MODEL, "%s: %s", origin, gn_status_message(s));
    gn_status_free(s);
    return own;
}

gn_status *gn_cli_read_ir(const gn_cli *cli, const char *path, gn_ir *out)
{
    gn_buf text;
    const char *origin = !strcmp(path, "-") ? "<stdin>" : path;
    *out = (gn_ir){0};
    GN_TRY(read_all(cli, path, &text));
    if (is_kernel(&text)) {
        GN_TRY(kir_parse(cli->arena, text.p, text.n, origin, &out->kernel));
        return of_text(kir_verify(out->kernel), origin);
    }
    GN_TRY(gir_parse(cli->arena, text.p, text.n, origin, &out->program));
    return of_text(gir_verify(out->program), origin);
}

gn_status *gn_cli_write_text(const char *path, const gn_buf *text)
{
    gn_out o;
    if (!path && fwrite(text->p, 1, text->n, stdout) != text->n)
        GN_FAIL(GN_ERR_IO, "standard output: %s", strerror(errno));
    if (!path) return NULL;
    GN_TRY(gn_out_open(&o, path));
    fwrite(text->p, 1, text->n, o.f);
    return gn_out_close(&o, NULL);
}
