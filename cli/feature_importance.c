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
    if (path && cli->opt.memory)
        GN_FAIL(GN_ERR_USAGE, "--importance goes without --memory: it runs a program of its own, "
                              "which no bound holds for");
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

/* Of several types of nodes arrays begin with the name of theirs: "paper.x.importance". */
static const char *name_in(const gn_cli *cli, const gn_importance *i, int k, const char *name)
{
    return i->n == 1 ? name : gn_arena_printf(cli->arena, "%s.%s", i->tables[k].name, name);
}

enum { ARRAYS = 5 };

/* Of sparse features as SciPy's matrices by rows are kept: data, indices, indptr, shape. */
static int add_arrays(const gn_cli *cli, const gn_importance *i, int k, gn_named_tensor *to)
{
    const gn_importance_table *t = &i->tables[k];
    int64_t *shape = GN_NEW_N(cli->arena, int64_t, 2);
    int n = 0;
    shape[0] = t->n_nodes;
    shape[1] = t->n_features;
    to[n++] = tensor(name_in(cli, i, k, "importance"), GN_F64, 1, t->n_features, 0, t->of_feature);
    if (t->part) {
        to[n++] = tensor(name_in(cli, i, k, "attribution"), GN_F32, 2, t->n_nodes, t->n_features,
                         t->part);
        return n;
    }
    to[n++] = tensor("attribution_data", GN_F32, 1, t->nnz, 0, t->value);
    to[n++] = tensor("attribution_indices", GN_I64, 1, t->nnz, 0, t->column);
    to[n++] = tensor("attribution_indptr", GN_I64, 1, t->n_nodes + 1, 0, t->row);
    to[n++] = tensor("attribution_shape", GN_I64, 1, 2, 0, shape);
    return n;
}

static gn_status *write_npz(const gn_cli *cli, const gn_importance *i)
{
    gn_named_tensor *t = GN_NEW_N(cli->arena, gn_named_tensor, ARRAYS * i->n);
    int n = 0;
    for (int k = 0; k < i->n; k++) n += add_arrays(cli, i, k, t + n);
    const gn_tensor_file f = {.n = n, .tensors = t};
    return gn_npz_write(cli->opt.importance, &f);
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

static gn_status *write_csv(const char *path, const gn_importance *i)
{
    gn_out o;
    GN_TRY(gn_out_open(&o, path));
    bool named = i->tables[0].feature_name, several = i->n > 1;
    fprintf(o.f, "%sfeature,%simportance\n", several ? "input," : "", named ? "name," : "");
    for (int k = 0; k < i->n; k++) {
        const gn_importance_table *t = &i->tables[k];
        for (int64_t f = 0; f < t->n_features && !ferror(o.f); f++) {
            fprintf(o.f, "%s%s%" PRId64 ",", several ? t->name : "", several ? "," : "", f);
            if (named) put_name(o.f, t->feature_name[f]);
            fprintf(o.f, named ? ",%.17g\n" : "%.17g\n", t->of_feature[f]);
        }
    }
    return gn_out_close(&o, NULL);
}

gn_status *gn_cli_find_importance(const gn_cli *cli, gn_session *s, gn_importance *out)
{
    gn_importance_options o = {0};
    GN_TRY(choose(cli, s, &o));
    GN_TRY(gn_session_importance(s, &o, out));
    return gn_text_ends(cli->opt.importance, ".npz") ? write_npz(cli, out)
                                                     : write_csv(cli->opt.importance, out);
}

/* Reports -------------------------------------------------------------------------------------- */

enum { MOST = 5 };

typedef struct large {
    const gn_importance_table *t;
    int64_t f;
} large;

static double size_of(const large *l) { return l->t->of_feature[l->f]; }

static void insert(large out[MOST], int *n, const large *l)
{
    int at = *n;
    while (at > 0 && size_of(&out[at - 1]) < size_of(l)) at--;
    if (at == MOST) return;
    if (*n < MOST) ++*n;
    for (int k = *n - 1; k > at; k--) out[k] = out[k - 1];
    out[at] = *l;
}

/* Those that add most, the first of equal ones first; how many. */
static int largest(const gn_importance *i, large out[MOST])
{
    int n = 0;
    for (int k = 0; k < i->n; k++)
        for (int64_t f = 0; f < i->tables[k].n_features; f++)
            if (i->tables[k].of_feature[f] > 0) insert(out, &n, &(large){&i->tables[k], f});
    return n;
}

void gn_cli_print_importance(const gn_cli *cli, const gn_importance *i)
{
    large most[MOST];
    int n = largest(i, most);
    printf("importance of features by %s for %lld row%s:", method(cli), (long long)i->rows,
           i->rows == 1 ? "" : "s");
    for (int k = 0; k < n; k++) {
        const gn_importance_table *t = most[k].t;
        printf("%s ", k ? "," : "");
        if (i->n > 1) printf("%s ", t->name);
        if (t->feature_name)
            printf("%s", t->feature_name[most[k].f]);
        else
            printf("%lld", (long long)most[k].f);
        printf(" (%.3g)", size_of(&most[k]));
    }
    printf("%s\n", n ? "" : " none adds anything");
    if (i->unknown)
        fprintf(stderr, "gnnc: warning: %lld of %lld rows have a NaN, and are left out\n",
                (long long)i->unknown, (long long)i->rows);
}

void gn_cli_json_importance(gn_json *j, const gn_cli *cli, const gn_importance *i)
{
    large most[MOST];
    int n = largest(i, most);
    gn_json_object(j, "importance");
    gn_json_string(j, "method", method(cli));
    gn_json_string(j, "of", rows(cli));
    gn_json_int(j, "rows", i->rows);
    gn_json_int(j, "unknown", i->unknown);
    gn_json_double(j, "score", i->score);
    gn_json_array(j, "largest");
    for (int k = 0; k < n; k++) {
        const gn_importance_table *t = most[k].t;
        gn_json_object(j, NULL);
        gn_json_string(j, "input", t->name);
        gn_json_int(j, "feature", most[k].f);
        if (t->feature_name) gn_json_string(j, "name", t->feature_name[most[k].f]);
        gn_json_double(j, "importance", size_of(&most[k]));
        gn_json_end(j);
    }
    gn_json_end(j);
    gn_json_end(j);
}
