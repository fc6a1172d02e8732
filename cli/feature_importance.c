#include "cli/feature_importance.h"

#include "base/outfile.h"
#include "cli/session_options.h"
#include "cli/text.h"
#include "runtime/data/tensorfile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *method(const gn_cli *cli)
{
    return cli->opt.importance_method ? cli->opt.importance_method : "gradient";
}

static const char *rows(const gn_cli *cli)
{
    return cli->opt.importance_of ? cli->opt.importance_of : "all";
}

gn_status *gn_cli_check_importance(const gn_cli *cli)
{
    const char *path = cli->opt.importance,
               *other = cli->opt.importance_method ? "--importance-method" : "--importance-of";
    if (!path && (cli->opt.importance_method || cli->opt.importance_of))
        GN_FAIL(GN_ERR_USAGE, "%s goes with --importance FILE", other);
    if (path && !gn_text_ends(path, ".npz") && !gn_text_ends(path, ".csv"))
        GN_FAIL(GN_ERR_USAGE, "--importance %s: expected a name that ends in .npz or .csv", path);
    return gn_cli_check_output(cli, "--importance", path);
}

/* Which rows ----------------------------------------------------------------------------------- */

static gn_status *numbers(const gn_cli *cli, gn_importance_options *o)
{
    GN_VEC(int64_t) all = {0};
    char *text = gn_arena_strdup(cli->arena, rows(cli));
    for (char *at = text, *next; at; at = next) {
        next = strchr(at, ',');
        if (next) *next++ = 0;
        int64_t v;
        if (!gn_args_int(at, &v) || v < 0)
            GN_FAIL(GN_ERR_USAGE,
                    "--importance-of: expected all, train, val, test or numbers of rows such as "
                    "0,3,7, found '%s'",
                    at);
        GN_PUSH(cli->arena, all, v);
    }
    o->chosen = all.p;
    o->n_chosen = all.n;
    return NULL;
}

static gn_status *choose(const gn_cli *cli, const gn_session *s, gn_importance_options *o)
{
    const struct {
        const char *name;
        const uint8_t *mask;
    } masks[] = {
        {"train", s->data->train_mask}, {"val", s->data->val_mask}, {"test", s->data->test_mask}};
    o->method = strcmp(method(cli), "integrated") ? GN_IMPORTANCE_GRADIENT
                                                  : GN_IMPORTANCE_INTEGRATED;
    if (!strcmp(rows(cli), "all")) return NULL;
    for (int k = 0; k < 3; k++) {
        if (strcmp(rows(cli), masks[k].name) != 0) continue;
        o->mask = masks[k].mask;
        if (o->mask) return NULL;
        GN_FAIL(GN_ERR_DATA, "--importance-of %s: %s has no such mask", masks[k].name,
                s->data->name ? s->data->name : "the data");
    }
    return numbers(cli, o);
}

/* Files ---------------------------------------------------------------------------------------- */

static gn_named_tensor tensor(const char *name, gn_elem elem, int rank, int64_t first,
                              int64_t second, const void *data)
{
    return (gn_named_tensor){.name = (char *)(uintptr_t)name,
                             .elem = elem,
                             .rank = rank,
                             .dim = {first, second},
                             .data = (void *)(uintptr_t)data};
}

/* Of sparse features as SciPy's matrices by rows are kept: data, indices, indptr, shape. */
static gn_status *write_npz(const char *path, const gn_importance *i)
{
    const int64_t shape[] = {i->n_nodes, i->n_features};
    gn_named_tensor t[5];
    int n = 0;
    t[n++] = tensor("importance", GN_F64, 1, i->n_features, 0, i->of_feature);
    if (i->part)
        t[n++] = tensor("attribution", GN_F32, 2, i->n_nodes, i->n_features, i->part);
    else {
        t[n++] = tensor("attribution_data", GN_F32, 1, i->nnz, 0, i->value);
        t[n++] = tensor("attribution_indices", GN_I64, 1, i->nnz, 0, i->column);
        t[n++] = tensor("attribution_indptr", GN_I64, 1, i->n_nodes + 1, 0, i->row);
        t[n++] = tensor("attribution_shape", GN_I64, 1, 2, 0, shape);
    }
    const gn_tensor_file f = {.n = n, .tensors = t};
    return gn_npz_write(path, &f);
}

/* A name in quotes where it has what parts fields. */
static void put_name(FILE *f, const char *name)
{
    bool quoted = strpbrk(name, ",\"\r\n") != NULL;
    if (quoted) fputc('"', f);
    for (; *name; name++) {
        if (*name == '"') fputc('"', f);
        fputc(*name, f);
    }
    if (quoted) fputc('"', f);
}

static gn_status *write_csv(const char *path, const gn_importance *i, char *const *names)
{
    gn_out o;
    GN_TRY(gn_out_open(&o, path));
    fprintf(o.f, names ? "feature,name,importance\n" : "feature,importance\n");
    for (int64_t f = 0; f < i->n_features && !ferror(o.f); f++) {
        fprintf(o.f, "%" PRId64 ",", f);
        if (names) put_name(o.f, names[f]);
        fprintf(o.f, names ? ",%.17g\n" : "%.17g\n", i->of_feature[f]);
    }
    return gn_out_close(&o, NULL);
}

gn_status *gn_cli_find_importance(const gn_cli *cli, gn_session *s, gn_importance *out)
{
    gn_importance_options o = {0};
    GN_TRY(choose(cli, s, &o));
    GN_TRY(gn_session_importance(s, &o, out));
    return gn_text_ends(cli->opt.importance, ".npz")
               ? write_npz(cli->opt.importance, out)
               : write_csv(cli->opt.importance, out, s->data->feature_name);
}

/* Reports -------------------------------------------------------------------------------------- */

enum { MOST = 5 };

/* Numbers of those that add most, the first of equal ones first; how many. */
static int largest(const gn_importance *i, int64_t out[MOST])
{
    int n = 0;
    for (int64_t f = 0; f < i->n_features; f++) {
        if (!(i->of_feature[f] > 0)) continue;
        int at = n;
        while (at > 0 && i->of_feature[out[at - 1]] < i->of_feature[f]) at--;
        if (at == MOST) continue;
        if (n < MOST) n++;
        for (int k = n - 1; k > at; k--) out[k] = out[k - 1];
        out[at] = f;
    }
    return n;
}

void gn_cli_print_importance(const gn_cli *cli, const gn_session *s, const gn_importance *i)
{
    int64_t most[MOST];
    int n = largest(i, most);
    char *const *names = s->data->feature_name;
    printf("importance of features by %s for %lld row%s:", method(cli), (long long)i->rows,
           i->rows == 1 ? "" : "s");
    for (int k = 0; k < n; k++) {
        printf(names ? "%s %s" : "%s ", k ? "," : "", names ? names[most[k]] : "");
        if (!names) printf("%lld", (long long)most[k]);
        printf(" (%.3g)", i->of_feature[most[k]]);
    }
    printf("%s\n", n ? "" : " none adds anything");
    if (i->unknown)
        fprintf(stderr, "gnnc: warning: %lld of %lld rows have a NaN, and are left out\n",
                (long long)i->unknown, (long long)i->rows);
}

void gn_cli_json_importance(gn_json *j, const gn_cli *cli, const gn_session *s,
                            const gn_importance *i)
{
    int64_t most[MOST];
    int n = largest(i, most);
    char *const *names = s->data->feature_name;
    gn_json_object(j, "importance");
    gn_json_string(j, "method", method(cli));
    gn_json_string(j, "of", rows(cli));
    gn_json_int(j, "rows", i->rows);
    gn_json_int(j, "unknown", i->unknown);
    gn_json_double(j, "score", i->score);
    gn_json_array(j, "largest");
    for (int k = 0; k < n; k++) {
        gn_json_object(j, NULL);
        gn_json_int(j, "feature", most[k]);
        if (names) gn_json_string(j, "name", names[most[k]]);
        gn_json_double(j, "importance", i->of_feature[most[k]]);
        gn_json_end(j);
    }
    gn_json_end(j);
    gn_json_end(j);
}
