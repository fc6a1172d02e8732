/* ranges: sizes that are declared, by the names of the data's rows and relations. */
#include "session/session_impl.h"
#include "base/data_name.h"

/* Programs of several types hold no sizes, so that ranges are compared and no more. */
static gn_status *check_named(const gn_session *s)
{
    const gn_schema *of = &s->schema;
    int n = of->n_spaces + of->n_relations;
    const char **names = GN_NEW_N(s->arena, const char *, n + 1);
    gn_range *r = GN_NEW_N(s->arena, gn_range, n + 1);
    for (int k = 0; k < of->n_spaces; k++) names[k] = of->space[k].name;
    for (int k = 0; k < of->n_relations; k++) names[of->n_spaces + k] = of->relation[k].name;
    GN_TRY(gn_status_annotate(gn_ranges_named(s->opt.range, n, names, r), "--range"));
    for (int k = 0; k < n; k++) {
        bool edges = k >= of->n_spaces;
        int64_t size = edges ? of->relation[k - of->n_spaces].edges : of->space[k].rows;
        if (size >= r[k].least && size <= r[k].most) continue;
        if (r[k].most == INT64_MAX)
            GN_FAIL(GN_ERR_DATA, "%s has %lld %s, declared to be %lld or more", names[k],
                    (long long)size, edges ? "edges" : "rows", (long long)r[k].least);
        GN_FAIL(GN_ERR_DATA, "%s has %lld %s, declared to be in %lld..%lld", names[k],
                (long long)size, edges ? "edges" : "rows", (long long)r[k].least,
                (long long)r[k].most);
    }
    return NULL;
}

gn_status *gn_session_check_ranges(gn_session *s)
{
    const gn_dataset *d = s->data;
    gn_guards plain = {0};
    gn_sizes sizes = gn_session_sizes(s);
    if (!s->opt.range) return NULL;
    gn_status *bad = gn_ranges_parse(s->opt.range, &plain);
    if (!bad && !d->typed) return gn_ranges_check(&s->opt.ranges, &sizes);
    if (!d->n_tables && !d->n_relations) return gn_status_annotate(bad, "--range");
    gn_status_free(bad);
    s->opt.ranges = (gn_guards){0};
    return check_named(s);
}
