/* Ranges of rows and edges, by the names of a schema.  Programs hold none: they are what a caller
 * promises, and is told where it breaks it. */
#include "api/api.h"

static gn_status *check_known(const gn_schema *s, const gn_range *r)
{
    for (int k = 0; k < s->n_spaces; k++) {
        int64_t rows = s->space[k].rows;
        if (rows >= 0 && (rows < r[k].least || rows > r[k].most))
            GN_FAIL(GN_ERR_USAGE,
                    "gnnc_compile: space '%s' has %lld rows, and `ranges` has %lld..%lld",
                    s->space[k].name, (long long)rows, (long long)r[k].least, (long long)r[k].most);
    }
    return NULL;
}

gn_status *api_read_ranges(gnnc_executable *e, const char *text)
{
    const gn_schema *s = e->shape.schema;
    int n = s->n_spaces + s->n_relations;
    const char **names = GN_NEW_N(&e->arena, const char *, n + 1);
    for (int k = 0; k < s->n_spaces; k++) names[k] = s->space[k].name;
    for (int k = 0; k < s->n_relations; k++) names[s->n_spaces + k] = s->relation[k].name;
    e->range_of = GN_NEW_N(&e->arena, gn_range, n + 1);
    GN_TRY(gn_ranges_named(text, n, names, e->range_of));
    return check_known(s, e->range_of);
}

gn_status *api_check_range(const gnnc_executable *e, bool edges, int place, int64_t size,
                           const char *what, const char *name)
{
    const gn_schema *s = e->shape.schema;
    if (!e->range_of) return NULL;
    gn_range r = e->range_of[edges ? s->n_spaces + place : place];
    if (size >= r.least && size <= r.most) return NULL;
    const char *of = edges ? "" : " of '", *whose = edges ? "" : s->space[place].name,
               *end = edges ? "" : "'";
    if (r.most == INT64_MAX)
        GN_FAIL(GN_ERR_DATA, "%s '%s' has %lld %s%s%s%s, declared to be %lld or more", what, name,
                (long long)size, edges ? "edges" : "rows", of, whose, end, (long long)r.least);
    GN_FAIL(GN_ERR_DATA, "%s '%s' has %lld %s%s%s%s, declared to be in %lld..%lld", what, name,
            (long long)size, edges ? "edges" : "rows", of, whose, end, (long long)r.least,
            (long long)r.most);
}
