/* Schema: the rows, relations and columns that a caller says there are, as the compiler has them
 * (base/schema.h). */
#include "api/api.h"
#include "base/data_name.h"

#include "base/nearest.h"

#include <string.h>

typedef struct maker {
    const gnnc_compile_options *o;
    gn_arena *arena;
    gn_schema *schema;
    GN_VEC(gn_schema_space) spaces;
    GN_VEC(gn_schema_relation) relations;
    GN_VEC(gn_schema_column) columns;
} maker;

bool api_has_schema(const gnnc_compile_options *o)
{
    return o->n_spaces || o->n_relations || o->n_columns;
}

static gn_status *check_name(const char *of, size_t k, const char *name)
{
    if (!name || !*name) GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `%s[%zu]` has no name", of, k);
    if (strchr(name, '.'))
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `%s[%zu]` is called '%s': such a name has no dot", of,
                k, name);
    return NULL;
}

static int find_space(const maker *m, const char *name)
{
    for (uint32_t k = 0; k < m->spaces.n; k++)
        if (!strcmp(m->spaces.p[k].name, name)) return (int)k;
    return -1;
}

static int find_relation(const maker *m, const char *name)
{
    for (uint32_t k = 0; k < m->relations.n; k++)
        if (!strcmp(m->relations.p[k].name, name)) return (int)k;
    return -1;
}

/* The first space is "node", whether or not it has rows. */
static gn_status *add_spaces(maker *m)
{
    GN_PUSH(m->arena, m->spaces, ((gn_schema_space){.name = GN_SPACE_NODE, .rows = -1}));
    for (size_t k = 0; k < m->o->n_spaces; k++) {
        const gnnc_space *s = &m->o->spaces[k];
        GN_TRY(check_name("spaces", k, s->name));
        bool node = !strcmp(s->name, GN_SPACE_NODE);
        if (s->rows < -1)
            GN_FAIL(GN_ERR_USAGE, "gnnc_compile: space '%s' has %lld rows; -1: not known", s->name,
                    (long long)s->rows);
        for (size_t j = 0; j < k; j++)
            if (!strcmp(m->o->spaces[j].name, s->name))
                GN_FAIL(GN_ERR_USAGE, "gnnc_compile: there are two spaces '%s'", s->name);
        if (node)
            m->spaces.p[0].rows = s->rows;
        else
            GN_PUSH(
                m->arena, m->spaces,
                ((gn_schema_space){.name = gn_arena_strdup(m->arena, s->name), .rows = s->rows}));
    }
    return NULL;
}

static gn_status *find_end(const maker *m, const gnnc_relation *r, const char *which,
                           const char *name, int *out)
{
    const char **names = GN_NEW_N(m->arena, const char *, m->spaces.n);
    for (uint32_t k = 0; k < m->spaces.n; k++) names[k] = m->spaces.p[k].name;
    *out = name ? find_space(m, name) : -1;
    if (*out >= 0) return NULL;
    if (!name) GN_FAIL(GN_ERR_USAGE, "gnnc_compile: relation '%s' has no `%s`", r->name, which);
    GN_FAIL(GN_ERR_USAGE, "gnnc_compile: relation '%s': `%s` is '%s', which is no space%s", r->name,
            which, name, gn_did_you_mean(name, names, m->spaces.n).text);
}

static gn_status *add_relation(maker *m, size_t k)
{
    const gnnc_relation *r = &m->o->relations[k];
    gn_schema_relation to = {.name = r->name, .edges = r->expect_edges > 0 ? r->expect_edges : -1};
    GN_TRY(check_name("relations", k, r->name));
    GN_TRY(find_end(m, r, "src", r->src, &to.src));
    GN_TRY(find_end(m, r, "dst", r->dst, &to.dst));
    bool g = !strcmp(r->name, GN_NAME_G);
    if (r->expect_edges < 0)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: relation '%s': expect_edges is %lld", r->name,
                (long long)r->expect_edges);
    if (g && (to.src || to.dst))
        GN_FAIL(GN_ERR_USAGE,
                "gnnc_compile: relation '" GN_NAME_G "' goes from '%s' to '%s'; it "
                "is the one of '" GN_SPACE_NODE "' to itself",
                r->src, r->dst);
    bool twice = find_relation(m, r->name) > 0;
    for (size_t j = 0; j < k; j++) twice = twice || !strcmp(m->o->relations[j].name, r->name);
    if (twice || find_space(m, r->name) >= 0)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: there are two relations or spaces '%s'", r->name);
    to.name = gn_arena_strdup(m->arena, r->name);
    if (g)
        m->relations.p[0].edges = to.edges;
    else
        GN_PUSH(m->arena, m->relations, to);
    return NULL;
}

static gn_schema_column *put(maker *m, const char *name, bool on_edges, int over, gn_elem elem)
{
    gn_schema_column c = {.name = name, .on_edges = on_edges, .over = over, .elem = elem};
    GN_PUSH(m->arena, m->columns, c);
    return &m->columns.p[m->columns.n - 1];
}

/* What has a name in all data. */
static void add_known(maker *m)
{
    static const char *const masks[] = {GN_NAME_TRAIN_MASK, GN_NAME_VAL_MASK, GN_NAME_TEST_MASK};
    const gnnc_compile_options *o = m->o;
    int labelled = m->schema->labelled;
    gn_schema_column *c;
    if (o->features > 0) {
        c = put(m, GN_NAME_X, false, 0, GN_F32);
        c->rank = 1;
        c->dim[0] = o->features;
    }
    if (o->classes > 0) {
        c = put(m, GN_NAME_Y, false, labelled, GN_I32);
        c->classes = o->classes;
    }
    for (int k = 0; k < 3; k++) (void)put(m, masks[k], false, labelled, GN_BOOL);
    if (o->edge_weights) (void)put(m, GN_NAME_WEIGHT, true, 0, GN_F32);
    if (o->edge_features <= 0) return;
    c = put(m, GN_NAME_ATTR, true, 0, GN_F32);
    c->rank = 1;
    c->dim[0] = o->edge_features;
}

static gn_status *read_type(const gnnc_column *c, gn_elem *out)
{
    DLDataType t = c->type;
    bool one = t.lanes == 1, ints = t.code == kDLInt && (t.bits == 32 || t.bits == 64);
    bool truths = t.bits == 8 && (t.code == kDLBool || t.code == kDLUInt);
    *out = ints ? GN_I32 : truths ? GN_BOOL : GN_F32;
    if (one && (ints || truths || (t.code == kDLFloat && t.bits == 32))) return NULL;
    GN_FAIL(GN_ERR_USAGE,
            "gnnc_compile: column '%s' is of type %d, %d bits, %d lanes; float32, int32, int64, "
            "bool and uint8 are there",
            c->name, t.code, t.bits, t.lanes);
}

static gn_status *read_dims(const gnnc_column *c, gn_schema_column *to)
{
    int64_t n = 1;
    if (c->ndim < 0 || c->ndim > GIR_MAX_RANK)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: column '%s' has rows of %d dimensions, out of 0..%d",
                c->name, c->ndim, (int)GIR_MAX_RANK);
    if (c->ndim && !c->shape)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: column '%s': `shape` is NULL", c->name);
    to->rank = c->ndim;
    for (int k = 0; k < c->ndim; k++) {
        to->dim[k] = c->shape[k];
        if (c->shape[k] < 1 || __builtin_mul_overflow(n, c->shape[k], &n) || n > GIR_MAX_ELEMS)
            GN_FAIL(GN_ERR_USAGE, "gnnc_compile: column '%s': dimension %d of a row is %lld",
                    c->name, k, (long long)c->shape[k]);
    }
    return NULL;
}

/* "paper.x" lies over the space or the relation that it begins with. */
static gn_status *add_column(maker *m, size_t k)
{
    const gnnc_column *c = &m->o->columns[k];
    const char *dot = c->name ? strchr(c->name, '.') : NULL;
    if (!dot || dot == c->name || !dot[1] || strchr(dot + 1, '.'))
        GN_FAIL(GN_ERR_USAGE,
                "gnnc_compile: `columns[%zu]` is called '%s'; a name is like 'paper.year', of a "
                "space or a relation and its own",
                k, c->name ? c->name : "");
    char *of = gn_arena_strndup(m->arena, c->name, (size_t)(dot - c->name));
    int space = find_space(m, of), relation = find_relation(m, of);
    if (space < 0 && relation < 0)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: column '%s': '%s' is no space and no relation",
                c->name, of);
    for (uint32_t j = 0; j < m->columns.n; j++)
        if (!strcmp(m->columns.p[j].name, c->name))
            GN_FAIL(GN_ERR_USAGE, "gnnc_compile: there are two columns '%s'", c->name);
    gn_schema_column to = {.name = gn_arena_strdup(m->arena, c->name),
                           .on_edges = relation >= 0,
                           .over = relation >= 0 ? relation : space,
                           .classes = c->values};
    GN_TRY(read_type(c, &to.elem));
    GN_TRY(read_dims(c, &to));
    if (c->values < 0 || c->values > INT32_MAX || (c->values && to.elem != GN_I32))
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: column '%s': values is %lld, of %s", c->name,
                (long long)c->values, gn_elem_name(to.elem));
    GN_PUSH(m->arena, m->columns, to);
    return NULL;
}

static gn_status *find_labelled(maker *m, bool typed)
{
    const char *name = m->o->labelled;
    m->schema->labelled = name ? find_space(m, name) : typed;
    if (m->schema->labelled >= 0) return NULL;
    GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `labelled` is '%s', which is no space", name);
}

static gn_status *check_arrays(const gnnc_compile_options *o)
{
    const char *missing = o->n_spaces && !o->spaces         ? "spaces"
                          : o->n_relations && !o->relations ? "relations"
                          : o->n_columns && !o->columns     ? "columns"
                                                            : NULL;
    if (missing) GN_FAIL(GN_ERR_USAGE, "gnnc_compile: `%s` is NULL", missing);
    if (o->n_spaces > UINT16_MAX / 4 || o->n_relations > UINT16_MAX / 4)
        GN_FAIL(GN_ERR_USAGE, "gnnc_compile: %zu spaces, %zu relations: too many", o->n_spaces,
                o->n_relations);
    return NULL;
}

/* Are "node" and "g" not there? */
static bool is_typed(const maker *m)
{
    bool node = m->o->features > 0 || !m->o->n_spaces;
    for (size_t k = 0; k < m->o->n_spaces; k++)
        node = node || !strcmp(m->o->spaces[k].name, GN_SPACE_NODE);
    for (uint32_t k = 1; k < m->relations.n; k++)
        node = node || !m->relations.p[k].src || !m->relations.p[k].dst;
    return !node;
}

gn_status *api_make_schema(gn_arena *a, const gnnc_compile_options *o, gn_data_shape *shape)
{
    maker m = {.o = o, .arena = a, .schema = GN_NEW(a, gn_schema)};
    bool g = false;
    GN_TRY(check_arrays(o));
    GN_TRY(add_spaces(&m));
    GN_PUSH(a, m.relations, ((gn_schema_relation){GN_NAME_G, 0, 0, -1}));
    for (size_t k = 0; k < o->n_relations; k++) {
        GN_TRY(add_relation(&m, k));
        g = g || !strcmp(o->relations[k].name, GN_NAME_G);
    }
    shape->typed = is_typed(&m);
    shape->kinds = !g && o->n_relations > 0;
    GN_TRY(find_labelled(&m, shape->typed));
    add_known(&m);
    for (size_t k = 0; k < o->n_columns; k++) GN_TRY(add_column(&m, k));
    m.schema->n_spaces = (int)m.spaces.n;
    m.schema->space = m.spaces.p;
    m.schema->n_relations = (int)m.relations.n;
    m.schema->relation = m.relations.p;
    m.schema->n_columns = (int)m.columns.n;
    m.schema->column = m.columns.p;
    shape->schema = m.schema;
    return NULL;
}

gn_status *api_check_schema_options(const gnnc_compile_options *o)
{
    static const char sizes[] = "programs hold no numbers of rows and edges then, and one serves "
                                "all: leave it out",
                      bags[] = "features are columns then: leave it out, and bind them as they are",
                      counted[] = "all rows are computed then: leave it out";
    const struct {
        const char *option, *why; /* NULL: it is not set */
    } refused[] = {
        {o->dynamic && strcmp(o->dynamic, "true") != 0 ? "dynamic" : NULL, sizes},
        {o->buckets ? "buckets" : NULL, sizes},
        {o->sparse ? "sparse" : NULL, bags},
        {o->same_data ? "same_data" : NULL, counted},
        {o->rows && !strcmp(o->rows, "needed") ? "rows" : NULL, counted},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (refused[k].option)
            GN_FAIL(GN_ERR_USAGE,
                    "gnnc_compile: `%s` does not go with spaces, relations and columns: %s",
                    refused[k].option, refused[k].why);
    return NULL;
}

/* Sizes that are expected of relations. */
const low_hint *api_schema_hints(gn_arena *a, const gn_schema *s, int *n)
{
    low_hint *h = GN_NEW_N(a, low_hint, s->n_relations + 1);
    *n = 0;
    for (int k = 0; k < s->n_relations; k++) {
        const gn_schema_relation *r = &s->relation[k];
        int64_t src = s->space[r->src].rows, dst = s->space[r->dst].rows;
        if (src > 0 && dst > 0 && r->edges > 0)
            h[(*n)++] = (low_hint){.name = r->name, .n_src = src, .n_dst = dst, .n_edge = r->edges};
    }
    return h;
}
