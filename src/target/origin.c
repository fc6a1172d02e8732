/* origin: the lines of the model that a kernel comes from. */
#include "target/cuda_code.h"
#include "frontend/stdlib.h"

#include <stdio.h>
#include <string.h>

/* Line `number` of a text, without blanks around it. */
static const char *line_of(gn_arena *a, const char *text, unsigned number)
{
    for (unsigned k = 1; text && k < number; k++) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    if (!text) return "";
    text += strspn(text, " \t");
    size_t n = strcspn(text, "\n");
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\r')) n--;
    return gn_arena_strndup(a, text, n);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The text of a file of the standard library, or of the model; NULL where it cannot be had. */
static const char *text_of(gn_arena *a, const char *file)
{
    for (size_t k = 0; k < gn_stdlib_count; k++)
        if (!strcmp(gn_stdlib_files[k].name, base_name(file)) && strstr(file, "stdlib"))
            return (const char *)gn_stdlib_files[k].data;
    FILE *f = fopen(file, "r");
    if (!f) return NULL;
    gn_buf b = {.arena = a};
    char part[4096];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0 && b.n < (1 << 20)) gn_buf_addn(&b, part, n);
    fclose(f);
    return b.p;
}

const char *gn_kernel_origin(gn_arena *a, const gn_compiled *c, int k)
{
    enum { MOST = 8 };
    const low_launch *l = NULL;
    gir_loc seen[MOST];
    gn_buf out = {.arena = a};
    int n = 0, at = 0;
    for (uint32_t i = 0; i < c->low->launches.n && !l; i++)
        if (c->low->launches.p[i].kernel && at++ == k) l = &c->low->launches.p[i];
    gn_buf_add(&out, "");
    if (!l || l->region < 0) return out.p;
    const region *r = &c->f->regions.p[l->region];
    for (uint32_t m = 0; m < r->members.n && n < MOST; m++) {
        gir_loc loc = gir_at(c->gir, r->members.p[m])->loc;
        bool known = !loc.line || loc.file >= c->gir->files.n;
        for (int i = 0; i < n; i++)
            known = known || (seen[i].file == loc.file && seen[i].line == loc.line);
        if (known) continue;
        seen[n++] = loc;
        const char *file = c->gir->files.p[loc.file];
        gn_buf_printf(&out, "%s:%u: %s\n", base_name(file), (unsigned)loc.line,
                      line_of(a, text_of(a, file), loc.line));
    }
    return out.p;
}
