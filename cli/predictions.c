#include "cli/session.h"

#include "runtime/data/tensorfile.h"

#include <string.h>

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && !strcmp(path + n - m, end);
}

gn_status *gn_cli_check_predictions(const char *path)
{
    if (!path || ends_in(path, ".npz") || ends_in(path, ".csv")) return NULL;
    GN_FAIL(GN_ERR_USAGE, "--predictions %s: expected a name that ends in .npz or .csv", path);
}

gn_status *gn_cli_write_predictions(const gn_cli *cli, const gn_session *s)
{
    const char *path = cli->opt.predictions;
    int64_t classes, n = s->data->n_nodes;
    const float *out = gn_session_logits(s, &classes);
    int32_t *label = GN_NEW_N(cli->arena, int32_t, n + 1);
    if (s->row_of) { /* in the order that the nodes came in */
        float *rows = GN_NEW_N(cli->arena, float, n *classes + 1);
        for (int64_t i = 0; i < n; i++)
            memcpy(rows + i * classes, out + gn_session_row(s, i) * classes, (size_t)classes * sizeof *rows);
        out = rows;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 1; c < classes; c++)
            if (out[i * classes + c] > out[i * classes + label[i]]) label[i] = (int32_t)c;
    gn_named_tensor t[2] = {
        {.name = (char *)(uintptr_t)"logits",
         .elem = GN_F32,
         .rank = 2,
         .dim = {n, classes},
         .data = (void *)(uintptr_t)out},
        {.name = (char *)(uintptr_t)"prediction", .elem = GN_I32, .rank = 1, .dim = {n}, .data = label},
    };
    gn_tensor_file f = {.n = 2, .tensors = t};
    return ends_in(path, ".csv") ? gn_csv_write(path, "prediction", &t[1]) : gn_npz_write(path, &f);
}
