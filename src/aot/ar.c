/* Archives: the format of System V and GNU ar. */
#include "aot/elf.h"

#include <stdio.h>
#include <string.h>

static void add_member(gn_buf *out, const char *name, const void *bytes, size_t n)
{
    /* no time, no owner: the same object gives the same bytes */
    gn_buf_printf(out, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", n);
    gn_buf_addn(out, bytes, n);
    if (n % 2) gn_buf_addn(out, "\n", 1);
}

static void add_number(gn_buf *b, uint64_t v)
{
    unsigned char p[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 8), (unsigned char)v};
    gn_buf_addn(b, (const char *)p, 4);
}

gn_status *elf_archive(const elf_object *o, const char *member, const gn_buf *object, gn_buf *out)
{
    enum { HEAD = 60, MAGIC = 8 };
    gn_buf names = {.arena = o->arena}, index = {.arena = o->arena};
    uint32_t n = 0;
    for (uint32_t k = 0; k < o->symbols.n; k++)
        if (o->symbols.p[k].exported && o->symbols.p[k].section >= 0) {
            gn_buf_addn(&names, o->symbols.p[k].name, strlen(o->symbols.p[k].name) + 1);
            n++;
        }
    size_t index_size = 4 + 4 * (size_t)n + names.n,
           at = MAGIC + HEAD + index_size + index_size % 2;
    if (object->n > UINT32_MAX - 4096)
        GN_FAIL(GN_ERR_MODEL, "an object of %zu bytes does not fit an archive", object->n);
    add_number(&index, n);
    for (uint32_t k = 0; k < n; k++) add_number(&index, at);
    gn_buf_addn(&index, names.p, names.n);
    gn_buf_addn(out, "!<arch>\n", MAGIC);
    add_member(out, "/", index.p, index.n);
    add_member(out, gn_arena_printf(o->arena, "%.14s/", member), object->p, object->n);
    return NULL;
}
