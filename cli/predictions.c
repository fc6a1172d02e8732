#include "cli/session_options.h"

#include "cli/text.h"
#include "runtime/data/tensorfile.h"

#include <inttypes.h>
#include <string.h>

gn_status *gn_cli_check_predictions(const char *path)
{
    if (!path || gn_text_ends(path, ".npz") || gn_text_ends(path, ".csv")) return NULL;
    GN_FAIL(GN_ERR_USAGE, "--predictions %s: expected a name that ends in .npz or .csv", path);
}

static gn_named_tensor tensor(const char *name, gn_elem elem, int rank, const int64_t *dim,
                              const void *data)
{
    gn_named_tensor t = {.name = (char *)(uintptr_t)name,
                         .elem = elem,
                         .rank = rank,
                         .data = (void *)(uintptr_t)data};
    for (int k = 0; k < rank; k++) t.dim[k] = dim[k];
    return t;
}

/* A result on its way into files: `path` its own where it is text, whose rows are of one kind. */
typedef struct writing {
    const gn_cli *cli;
    gn_result r;
    bool classes, several;
    const char *path;
} writing;

/* Of several results what belongs to one bears its name. */
static const char *name_of(const writing *w, const char *alone, const char *part)
{
    if (!w->several) return alone;
    return part ? gn_arena_printf(w->cli->arena, "%s.%s", w->r.name, part) : w->r.name;
}

/* Which class is predicted for each row: -1 where there is a NaN. */
static const int32_t *predicted(const writing *w)
{
    int64_t classes = w->r.row_elems;
    int32_t *label = GN_NEW_N(w->cli->arena, int32_t, w->r.n_rows + 1);
    for (int64_t i = 0; i < w->r.n_rows; i++)
        label[i] = (int32_t)gn_predicted((const float *)w->r.data + i * classes, classes);
    return label;
}

/* NAME, or NAME_0,NAME_1, or NAME_0_0,NAME_0_1: an index for each dimension of a row. */
static void name_columns(gn_buf *b, const writing *w)
{
    const gn_result *r = &w->r;
    int first = r->over == GIR_NONE ? 0 : 1;
    for (int64_t c = 0; c < r->row_elems; c++) {
        int64_t below = r->row_elems, at = c;
        gn_buf_printf(b, "%s%s", b->n ? "," : "", r->name);
        for (int d = first; d < r->rank; d++) {
            below /= r->dim[d];
            gn_buf_printf(b, "_%" PRId64, at / below);
            at %= below;
        }
    }
}

/* A line for each row, behind the ends of an edge where rows are of edges. */
static gn_status *write_csv(const writing *w)
{
    const gn_result *r = &w->r;
    const int64_t dim[] = {r->n_rows, r->row_elems};
    gn_named_tensor t[3];
    gn_buf header = {.arena = w->cli->arena};
    int n = 0;
    if (w->classes) {
        t[0] = tensor("prediction", GN_I32, 1, dim, predicted(w));
        return gn_csv_write(w->path, "prediction", t);
    }
    if (r->ends) {
        gn_buf_add(&header, "source,target");
        t[n++] = tensor("source", GN_I64, 1, dim, r->ends);
        t[n++] = tensor("target", GN_I64, 1, dim, r->ends + r->n_rows);
    }
    name_columns(&header, w);
    t[n++] = tensor(r->name, r->elem, 2, dim, r->data);
    return gn_csv_write_columns(w->path, header.p, n, t);
}

/* Adds the arrays of a result; room for two. */
static int add_arrays(const writing *w, gn_named_tensor *t)
{
    const gn_result *r = &w->r;
    const int64_t dim[] = {2, r->n_rows};
    const char *alone = w->classes ? "logits" : r->name;
    int n = 0;
    t[n++] = tensor(name_of(w, alone, NULL), r->elem, r->rank, r->dim, r->data);
    if (w->classes)
        t[n++] = tensor(name_of(w, "prediction", "prediction"), GN_I32, 1, r->dim, predicted(w));
    if (r->ends) t[n++] = tensor(name_of(w, "edge_index", "edge_index"), GN_I64, 2, dim, r->ends);
    return n;
}

/* FILE.csv, or of several results FILE.NAME.csv. */
static const char *path_of(const gn_cli *cli, const writing *w)
{
    const char *path = cli->opt.predictions;
    int stem = (int)(strlen(path) - strlen(".csv"));
    return w->several ? gn_arena_printf(cli->arena, "%.*s.%s.csv", stem, path, w->r.name) : path;
}

gn_status *gn_cli_write_predictions(const gn_cli *cli, const gn_session *s)
{
    int n = gn_session_results(s), arrays = 0;
    bool csv = gn_text_ends(cli->opt.predictions, ".csv");
    const char *classes = gn_session_classes_name(s);
    writing *w = GN_NEW_N(cli->arena, writing, n + 1);
    gn_named_tensor *t = GN_NEW_N(cli->arena, gn_named_tensor, 2 * n + 1);
    gn_status *status = NULL;
    for (int k = 0; k < n && !status; k++) {
        w[k].cli = cli;
        w[k].several = n > 1;
        status = gn_session_result(s, k, &w[k].r);
        if (status) break;
        w[k].classes = classes && !strcmp(classes, w[k].r.name);
        w[k].path = csv ? path_of(cli, &w[k]) : NULL;
        if (csv)
            status = write_csv(&w[k]);
        else
            arrays += add_arrays(&w[k], t + arrays);
    }
    const gn_tensor_file f = {.n = arrays, .tensors = t};
    if (!status && !csv) status = gn_npz_write(cli->opt.predictions, &f);
    for (int k = 0; k < n; k++) gn_result_free(&w[k].r);
    return status;
}
