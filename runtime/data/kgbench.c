/* kgbench folders: knowledge graphs as numbers, with classes of some entities.
 *
 * triples.int.csv has `subject, predicate, object` a line; training, validation and testing.int.csv
 * have `entity, class`; nodes.int.csv (entities.int.csv) and relations.int.csv have `number, ...,
 * label` under a line of names.  Entities are nodes, triples are edges of g, repeats too, and the
 * predicate's number is the column g.kind.
 *
 * https://github.com/pbloem/kgbench-data */
#include "runtime/data/folder.h"
#include "runtime/data/mem.h"
#include "runtime/data/rows.h"
#include "runtime/data/lines.h"

#include <string.h>

typedef struct work {
    const gn_input *file;
    gn_int_rows triples;
    int64_t kinds;
    char **names; /* [kinds] of predicates, or NULL */
    gn_dataset *d;
} work;

/* Records of a table: lines, but for those inside quotes; without the line of names. */
static int64_t count_records(const gn_input *f)
{
    const char *p = f->bytes, *end = p + f->n;
    int64_t n = 0;
    bool quoted = false, any = false;
    for (; p < end; p++) {
        if (*p == '"') quoted = !quoted;
        if (*p == '\n' && !quoted) {
            n += any;
            any = false;
        } else {
            any |= *p != '\r';
        }
    }
    n += any;
    bool header = f->n > 5 && !memcmp(f->bytes, "index", 5);
    return n - header;
}

static gn_status *read_triples(work *w)
{
    const gn_input *f = &w->file[GN_KGBENCH_TRIPLES], *entities = &w->file[GN_KGBENCH_ENTITIES];
    gn_dataset *d = w->d;
    GN_TRY(gn_rows_ints(f, 3, &w->triples));
    int64_t n = w->triples.rows, nodes = 0;
    if (n == 0)
        GN_FAIL(GN_ERR_DATA, "%s: no triples: expected `subject, predicate, object` lines",
                f->origin);
    for (int64_t e = 0; e < n; e++) {
        const int64_t *t = &w->triples.v[3 * e];
        for (int k = 0; k < 3; k++)
            if (t[k] < 0 || t[k] >= GN_MAX_NODES)
                GN_ROW_FAIL(f, e, "'%lld': expected %s from 0 to %lld", (long long)t[k],
                            k == 1 ? "a predicate" : "an entity", (long long)GN_MAX_NODES - 1);
        if (t[0] >= nodes) nodes = t[0] + 1;
        if (t[2] >= nodes) nodes = t[2] + 1;
        if (t[1] >= w->kinds) w->kinds = t[1] + 1;
    }
    GN_TRY(gn_edges_check_gaps(f->origin, nodes, n));
    if (entities->bytes && count_records(entities) > nodes) nodes = count_records(entities);
    if (w->kinds > n + 1024)
        GN_FAIL(GN_ERR_DATA, "%s: %lld predicates in %lld triples: expected numbers without gaps",
                f->origin, (long long)w->kinds, (long long)n);
    d->n_nodes = nodes;
    return NULL;
}

/* ---- predicates ---- */

/* `number,label`, of which the label may stand in quotes; a first line of names is passed over. */
static gn_status *read_name(const gn_input *f, const gn_text *t, gn_span line, gn_span *name,
                            int64_t *number)
{
    const char *comma = memchr(line.p, ',', (size_t)(line.end - line.p));
    gn_span first = {line.p, comma ? comma : line.end};
    gn_span_trim(&first);
    *number = -1;
    if (!gn_span_int(first, number) && t->line == 1) return NULL;
    if (!comma || *number < 0)
        return gn_text_error(__FILE__, __LINE__, f->origin, t->line,
                             "'%s': expected `number,label`", gn_span_show(first).s);
    *name = (gn_span){comma + 1, line.end};
    gn_span_trim(name);
    if (name->end - name->p >= 2 && *name->p == '"' && name->end[-1] == '"') {
        name->p++;
        name->end--;
    }
    return NULL;
}

static gn_status *read_names(work *w)
{
    const gn_input *f = &w->file[GN_KGBENCH_RELATIONS];
    if (!f->bytes) return NULL;
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line, name, word;
    int64_t number;
    if (count_records(f) > w->kinds) w->kinds = count_records(f);
    GN_MEM(w->names, w->kinds);
    gn_text_skip_mark(&t);
    while (gn_text_line(&t, &line)) {
        word = line;
        if (!gn_text_word(&word, &name)) continue;
        GN_TRY(read_name(f, &t, line, &name, &number));
        if (number < 0) continue;
        if (number >= w->kinds || w->names[number])
            return gn_text_error(__FILE__, __LINE__, f->origin, t.line,
                                 "%lld: expected each number from 0 to %lld once",
                                 (long long)number, (long long)w->kinds - 1);
        w->names[number] = gn_mem_text(name.p, (size_t)(name.end - name.p));
        if (!w->names[number]) GN_FAIL(GN_ERR_NOMEM, "out of memory: a name");
    }
    return NULL;
}

static gn_status *make_graph(work *w)
{
    gn_dataset *d = w->d;
    int32_t *kind;
    int64_t n = w->triples.rows;
    GN_MEM(d->src, n);
    GN_MEM(d->dst, n);
    d->n_edges = n;
    GN_MEM(kind, n);
    for (int64_t e = 0; e < n; e++) {
        d->src[e] = w->triples.v[3 * e];
        kind[e] = (int32_t)w->triples.v[3 * e + 1];
        d->dst[e] = w->triples.v[3 * e + 2];
    }
    gn_table_column c = {
        .on_edges = true, .elem = GN_I32, .classes = w->kinds, .names = w->names, .data = kind};
    w->names = NULL;
    return gn_dataset_add_column(d, "kind", &c);
}

/* ---- classes ---- */

static gn_status *read_classes(work *w, const gn_input *f, uint8_t *mask)
{
    gn_dataset *d = w->d;
    gn_int_rows r;
    gn_status *s = NULL;
    GN_TRY(gn_rows_ints(f, 2, &r));
    for (int64_t i = 0; !s && i < r.rows; i++) {
        int64_t v = r.v[2 * i], c = r.v[2 * i + 1];
        if (v < 0 || v >= d->n_nodes)
            s = gn_rows_error(__FILE__, __LINE__, f, i, "'%lld': expected an entity from 0 to %lld",
                              (long long)v, (long long)d->n_nodes - 1);
        else if (c < 0 || c >= d->n_nodes || c >= 1 << 24)
            s = gn_rows_error(__FILE__, __LINE__, f, i, "'%lld': expected a class", (long long)c);
        else if (d->y[v] >= 0)
            s = gn_rows_error(__FILE__, __LINE__, f, i, "entity %lld has a class already",
                              (long long)v);
        if (s) break;
        d->y[v] = (int32_t)c;
        mask[v] = 1;
        if (c >= d->n_classes) d->n_classes = c + 1;
    }
    free(r.v);
    return s;
}

static gn_status *read_split(work *w, const gn_reading *r)
{
    gn_dataset *d = w->d;
    int64_t held;
    bool validated = w->file[GN_KGBENCH_VALIDATION].bytes != NULL;
    GN_TRY(gn_dataset_labels(d));
    GN_TRY(read_classes(w, &w->file[GN_KGBENCH_TRAINING], d->train_mask));
    GN_TRY(read_classes(w, &w->file[GN_KGBENCH_TESTING], d->test_mask));
    if (validated) return read_classes(w, &w->file[GN_KGBENCH_VALIDATION], d->val_mask);
    GN_TRY(gn_dataset_hold_out(d, r->opt->seed, &held));
    return gn_dataset_remark(d,
                             "there is no validation.int.csv: %lld of the entities to train on, a "
                             "tenth of each class, are drawn with seed %llu for validation",
                             (long long)held, (unsigned long long)r->opt->seed);
}

static gn_status *parse(work *w, const gn_reading *r)
{
    GN_TRY(gn_dataset_new(NULL, &w->d));
    GN_TRY(read_triples(w));
    GN_TRY(read_names(w));
    GN_TRY(make_graph(w));
    return read_split(w, r);
}

gn_status *gn_kgbench_parse(const gn_input *file, gn_reading *r, gn_dataset **out)
{
    work w = {.file = file};
    gn_status *s = parse(&w, r);
    free(w.triples.v);
    for (int64_t k = 0; w.names && k < w.kinds; k++) free(w.names[k]);
    free(w.names);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

gn_status *gn_kgbench_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    (void)name;
    const char *file[GN_KGBENCH_PARTS] = {"triples.int.csv",   "training.int.csv",
                                          "testing.int.csv",   "validation.int.csv",
                                          "relations.int.csv", "nodes.int.csv"};
    if (!gn_folder_has(folder, file[GN_KGBENCH_ENTITIES]))
        file[GN_KGBENCH_ENTITIES] = "entities.int.csv";
    return gn_folder_parse(folder, file, GN_KGBENCH_PARTS, GN_KGBENCH_VALIDATION, gn_kgbench_parse,
                           r, out);
}
