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

/* Logits of classes, and which is predicted: -1 where there is a NaN. */
static gn_status *write_classes(const gn_cli *cli, const gn_result *r)
{
    const char *path = cli->opt.predictions;
    const float *logits = r->data;
    int64_t classes = r->row_elems;
    int32_t *label = GN_NEW_N(cli->arena, int32_t, r->n_rows + 1);
    for (int64_t i = 0; i < r->n_rows; i++)
        label[i] = (int32_t)gn_predicted(logits + i * classes, classes);
    gn_named_tensor t[2] = {tensor("logits", GN_F32, 2, r->dim, logits),
                            tensor("prediction", GN_I32, 1, r->dim, label)};
    gn_tensor_file f = {.n = 2, .tensors = t};
    return gn_text_ends(path, ".csv") ? gn_csv_write(path, "prediction", &t[1])
                                      : gn_npz_write(path, &f);
}

/* "out", or "out_0,out_1", or "out_0_0,out_0_1": an index for each dimension of a row. */
static void name_columns(gn_buf *b, const gn_result *r)
{
    int first = r->over == GIR_NONE ? 0 : 1;
    for (int64_t c = 0; c < r->row_elems; c++) {
        int64_t below = r->row_elems, at = c;
        gn_buf_add(b, b->n ? ",out" : "out");
        for (int d = first; d < r->rank; d++) {
            below /= r->dim[d];
            gn_buf_printf(b, "_%" PRId64, at / below);
            at %= below;
        }
    }
}

/* A line for each row, behind the ends of an edge where rows are of edges. */
static gn_status *write_csv(const gn_cli *cli, const gn_result *r)
{
    const int64_t dim[] = {r->n_rows, r->row_elems};
    gn_named_tensor t[3];
    gn_buf header = {.arena = cli->arena};
    int n = 0;
    if (r->ends) {
        gn_buf_add(&header, "source,target");
        t[n++] = tensor("source", GN_I64, 1, dim, r->ends);
        t[n++] = tensor("target", GN_I64, 1, dim, r->ends + r->n_rows);
    }
    name_columns(&header, r);
    t[n++] = tensor("out", r->elem, 2, dim, r->data);
    return gn_csv_write_columns(cli->opt.predictions, header.p, n, t);
}

static gn_status *write_npz(const gn_cli *cli, const gn_result *r)
{
    const int64_t dim[] = {2, r->n_rows};
    gn_named_tensor t[2] = {tensor("out", r->elem, r->rank, r->dim, r->data)};
    gn_tensor_file f = {.n = 1, .tensors = t};
    if (r->ends) t[f.n++] = tensor("edge_index", GN_I64, 2, dim, r->ends);
    return gn_npz_write(cli->opt.predictions, &f);
}

gn_status *gn_cli_write_predictions(const gn_cli *cli, const gn_session *s)
{
    gn_result r;
    GN_TRY(gn_session_result(s, &r));
    gn_status *status = gn_session_classes(s)                        ? write_classes(cli, &r)
                        : gn_text_ends(cli->opt.predictions, ".csv") ? write_csv(cli, &r)
                                                                     : write_npz(cli, &r);
    gn_result_free(&r);
    return status;
}
