/* Tables of the caller's options, whose elements have the size that its header gave them, as this
 * library has them. */
#include "api/api.h"

#include "runtime/memory.h"

static gn_status *read_one(const char *name, size_t k, const void *from, size_t stride, void *to,
                           size_t size)
{
    size_t said = *(const size_t *)from;
    if (said != stride)
        GN_FAIL(GN_ERR_USAGE,
                "gnnc_compile: `%s[%zu]` has size %zu, and `%s[0]` has %zu: those of an array are "
                "the same",
                name, k, said, name, stride);
    return gn_status_annotate(api_read_options(from, size, to, size), "gnnc_compile: `%s[%zu]`",
                              name, k);
}

/* *table: the caller's, and then a copy, which is in *block too.  One that is NULL stays so. */
static gn_status *read_table(const char *name, const void **table, size_t n, size_t size,
                             void **block)
{
    size_t bytes;
    const char *from = *table;
    if (!from || !n) return NULL;
    if (n > UINT16_MAX || __builtin_mul_overflow(n, size, &bytes))
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: %zu %s: too many", n, name);
    *block = gn_allocate(bytes, GN_ALIGN);
    if (!*block) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu %s", n, name);
    size_t stride = *(const size_t *)(const void *)from;
    for (size_t k = 0; k < n; k++)
        GN_TRY(read_one(name, k, from + k * stride, stride, (char *)*block + k * size, size));
    *table = *block;
    return NULL;
}

gn_status *api_read_tables(gnnc_compile_options *o, void *block[3])
{
    const void *spaces = o->spaces, *relations = o->relations, *columns = o->columns;
    GN_TRY(read_table("spaces", &spaces, o->n_spaces, sizeof *o->spaces, &block[0]));
    GN_TRY(read_table("relations", &relations, o->n_relations, sizeof *o->relations, &block[1]));
    GN_TRY(read_table("columns", &columns, o->n_columns, sizeof *o->columns, &block[2]));
    o->spaces = spaces;
    o->relations = relations;
    o->columns = columns;
    return NULL;
}
