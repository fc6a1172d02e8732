/* Triples as text: train.txt, valid.txt, test.txt with `head relation tail` a line, cut at tabs
 * where the line has one, else at blanks.  What they name is numbered in the order of its first
 * appearance, or as entities.dict and relations.dict say: `number name` a line, or `name number`.
 *
 * Entities are nodes, all triples are edges of g, in the order of the files; the relation's number
 * is the column g.kind, the file an edge came from is told by g.train_mask and the other two. */
#include "runtime/data/folder.h"
#include "runtime/data/lines.h"
#include "runtime/data/mem.h"
#include "runtime/data/numbered.h"

#include <string.h>

typedef struct work {
    const gn_input *file;
    gn_names entities, kinds;
    bool entities_given, kinds_given; /* by a dict: no others */
    gn_edges edges;
    int32_t *kind;
    int64_t cap;    /* of kind */
    int64_t end[3]; /* edges up to the end of each file */
    gn_dataset *d;
} work;

#define LINE_FAIL(f, t, ...)                                                                       \
    return gn_text_error(__FILE__, __LINE__, (f)->origin, (t)->line, __VA_ARGS__)

static bool is_blank(gn_span line)
{
    gn_span word;
    return !gn_text_word(&line, &word);
}

/* Cuts up to `most` fields; how many there are. */
static int cut(gn_span line, gn_span *field, int most)
{
    gn_span word;
    int n = 0;
    if (!memchr(line.p, '\t', (size_t)(line.end - line.p))) {
        for (; gn_text_word(&line, &word); n++)
            if (n < most) field[n] = word;
        return n;
    }
    for (;; n++) {
        const char *tab = memchr(line.p, '\t', (size_t)(line.end - line.p));
        gn_span f = {line.p, tab ? tab : line.end};
        gn_span_trim(&f);
        if (n < most) field[n] = f;
        if (!tab) return n + 1;
        line.p = tab + 1;
    }
}

/* ---- dictionaries ---- */

/* Names at the places that their numbers say. */
typedef struct dict {
    gn_span *name;
    int64_t n, cap;
} dict;

static gn_status *put_name(dict *d, int64_t number, gn_span name, const gn_input *f,
                           const gn_text *t)
{
    if (number < 0 || number >= d->cap)
        LINE_FAIL(f, t, "'%lld': expected numbers from 0 on, one a line", (long long)number);
    if (d->name[number].p) LINE_FAIL(f, t, "number %lld is given twice", (long long)number);
    d->name[number] = name;
    d->n++;
    return NULL;
}

static gn_status *read_lines(const gn_input *f, dict *d)
{
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line, field[2];
    int64_t number;
    gn_text_skip_mark(&t);
    while (gn_text_line(&t, &line)) {
        if (is_blank(line)) continue;
        int n = cut(line, field, 2);
        if (n != 2) LINE_FAIL(f, &t, "expected a number and a name");
        bool first = gn_span_int(field[0], &number);
        if (!first && !gn_span_int(field[1], &number))
            LINE_FAIL(f, &t, "'%s': expected a number and a name", gn_span_show(field[0]).s);
        GN_TRY(put_name(d, number, field[first], f, &t));
    }
    return NULL;
}

static gn_status *read_dict(const gn_input *f, gn_names *names)
{
    dict d = {.cap = (int64_t)(f->n / 3) + 1}; /* a line is a number, a tab and its end at least */
    int64_t number;
    if (!f->bytes) return NULL;
    GN_MEM(d.name, d.cap);
    gn_status *s = read_lines(f, &d);
    for (int64_t k = 0; !s && k < d.n; k++) {
        if (!d.name[k].p)
            s = GN_ERROR(GN_ERR_DATA, "%s: no name has the number %lld", f->origin, (long long)k);
        else
            s = gn_names_number(names, d.name[k], &number);
        if (!s && number != k)
            s = GN_ERROR(GN_ERR_DATA, "%s: '%s' has two numbers", f->origin,
                         gn_span_show(d.name[k]).s);
    }
    free(d.name);
    return s;
}

/* ---- triples ---- */

static gn_status *number_of(gn_names *names, bool given, gn_span name, const gn_input *f,
                            const gn_text *t, int64_t *out)
{
    if (name.p == name.end) LINE_FAIL(f, t, "expected `head relation tail`, and one is empty");
    if (!given) return gn_names_number(names, name, out);
    *out = gn_names_find(names, name);
    if (*out < 0) LINE_FAIL(f, t, "'%s' is in no line of the .dict file", gn_span_show(name).s);
    return NULL;
}

static gn_status *push(work *w, int64_t head, int64_t kind, int64_t tail)
{
    GN_TRY(gn_edges_push(&w->edges, head, tail));
    if (w->cap < w->edges.cap) {
        int32_t *more = realloc(w->kind, (size_t)w->edges.cap * sizeof *more);
        if (!more) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld edges", (long long)w->edges.cap);
        w->kind = more;
        w->cap = w->edges.cap;
    }
    w->kind[w->edges.n - 1] = (int32_t)kind;
    return NULL;
}

static gn_status *read_file(work *w, const gn_input *f)
{
    gn_text t = {f->bytes, (const char *)f->bytes + f->n, 0};
    gn_span line, field[3];
    int64_t head, kind, tail;
    gn_text_skip_mark(&t);
    while (gn_text_line(&t, &line)) {
        if (is_blank(line)) continue;
        int n = cut(line, field, 3);
        if (n != 3)
            LINE_FAIL(f, &t, "%d field%s: expected `head relation tail`, with tabs between", n,
                      n == 1 ? "" : "s");
        GN_TRY(number_of(&w->entities, w->entities_given, field[0], f, &t, &head));
        GN_TRY(number_of(&w->kinds, w->kinds_given, field[1], f, &t, &kind));
        GN_TRY(number_of(&w->entities, w->entities_given, field[2], f, &t, &tail));
        if (w->entities.n > GN_MAX_NODES || w->kinds.n > INT32_MAX)
            LINE_FAIL(f, &t, "more than %d entities", INT32_MAX);
        GN_TRY(push(w, head, kind, tail));
    }
    return NULL;
}

/* How many of the numbers up to n are in no edge of the first file. */
static gn_status *count_unseen(const work *w, bool kinds, int64_t n, int64_t *out)
{
    uint8_t *in_train, *in_all;
    GN_MEM(in_train, n);
    in_all = gn_mem_alloc(n, 1);
    if (!in_all) free(in_train);
    if (!in_all) GN_FAIL(GN_ERR_NOMEM, "out of memory: %lld marks", (long long)n);
    for (int64_t e = 0; e < w->edges.n; e++) {
        uint8_t *seen = e < w->end[0] ? in_train : in_all;
        if (kinds) seen[w->kind[e]] = 1;
        if (!kinds) seen[w->edges.src[e]] = seen[w->edges.dst[e]] = 1;
    }
    *out = 0;
    for (int64_t k = 0; k < n; k++) *out += in_all[k] && !in_train[k];
    free(in_train);
    free(in_all);
    return NULL;
}

static gn_status *remark_unseen(work *w)
{
    int64_t entities, kinds;
    GN_TRY(count_unseen(w, false, w->entities.n, &entities));
    GN_TRY(count_unseen(w, true, w->kinds.n, &kinds));
    if (entities + kinds == 0) return NULL;
    return gn_dataset_remark(w->d,
                             "%lld entities and %lld relations of valid and test are in no triple "
                             "of train: nothing is learnt of them",
                             (long long)entities, (long long)kinds);
}

static gn_status *add_columns(work *w)
{
    gn_table_column kind = {.on_edges = true, .elem = GN_I32, .classes = w->kinds.n};
    GN_TRY(gn_names_copy(&w->kinds, &kind.names));
    kind.data = w->kind;
    w->kind = NULL;
    GN_TRY(gn_dataset_add_column(w->d, "kind", &kind));
    const int64_t count[] = {w->end[0], w->end[1] - w->end[0], w->end[2] - w->end[1]};
    return gn_dataset_add_split(w->d, 0, count);
}

static gn_status *parse(work *w)
{
    GN_TRY(read_dict(&w->file[GN_TRIPLES_ENTITIES], &w->entities));
    GN_TRY(read_dict(&w->file[GN_TRIPLES_RELATIONS], &w->kinds));
    w->entities_given = w->entities.n > 0;
    w->kinds_given = w->kinds.n > 0;
    for (int k = 0; k < 3; k++) {
        const gn_input *f = &w->file[GN_TRIPLES_TRAIN + k];
        if (f->bytes) GN_TRY(read_file(w, f));
        w->end[k] = w->edges.n;
    }
    if (w->end[0] == 0)
        GN_FAIL(GN_ERR_DATA, "%s: no triples: expected `head relation tail` lines",
                w->file[GN_TRIPLES_TRAIN].origin);
    GN_TRY(gn_dataset_new(NULL, &w->d));
    w->d->n_nodes = w->entities.n;
    GN_TRY(remark_unseen(w));
    gn_edges_give(&w->edges, w->d);
    return add_columns(w);
}

gn_status *gn_triples_parse(const gn_input *file, gn_reading *r, gn_dataset **out)
{
    work w = {.file = file};
    (void)r;
    gn_status *s = parse(&w);
    gn_names_free(&w.entities);
    gn_names_free(&w.kinds);
    gn_edges_free(&w.edges);
    free(w.kind);
    if (s)
        gn_dataset_free(w.d);
    else
        *out = w.d;
    return s;
}

gn_status *gn_triples_read(const char *folder, const char *name, gn_reading *r, gn_dataset **out)
{
    (void)name;
    static const char *const file[GN_TRIPLES_PARTS] = {"train.txt", "valid.txt", "test.txt",
                                                       "entities.dict", "relations.dict"};
    return gn_folder_parse(folder, file, GN_TRIPLES_PARTS, 1, gn_triples_parse, r, out);
}
