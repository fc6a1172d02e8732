/* Writes a dataset as gnnc's readers find it to a folder of raw numbers, so that everybody who
 * races works on the same:
 *
 *   bench_dump DATA FOLDER [SEED]
 *
 * DATA is what `gnnc --data` takes. FOLDER gets src.i32, dst.i32 (edges in the user's order),
 * y.i32, train.u8, and the features as x.f32, or as x_ptr.i32, x_col.i32, x_val.f32 (rows) where
 * they are read sparse; meta.json names the counts. y and train are of the rows that have labels.
 * Of relations it gets NAME.src.i32 and NAME.dst.i32, of columns TYPE.NAME.f32, .i32 or .u8;
 * meta.json lists both, and the types of rows. */
#include "base/status.h"
#include "runtime/data/dataset.h"

#include <stdio.h>
#include <stdlib.h>

static const char *folder;

static FILE *file(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f) return f;
    perror(path);
    exit(3);
}

static void write_all(const char *name, const void *p, int64_t count, size_t size)
{
    FILE *f = file(name);
    if (fwrite(p, size, (size_t)count, f) == (size_t)count && !fclose(f)) return;
    perror(name);
    exit(3);
}

static void write_narrow(const char *name, const int64_t *p, int64_t count)
{
    FILE *f = file(name);
    for (int64_t i = 0; i < count; i++) {
        int32_t x = (int32_t)p[i];
        if (x != p[i]) {
            fprintf(stderr, "%s: more than 32 bits\n", name);
            exit(3);
        }
        if (fwrite(&x, sizeof x, 1, f) != 1) {
            perror(name);
            exit(3);
        }
    }
    if (!fclose(f)) return;
    perror(name);
    exit(3);
}

static void write_tables(const gn_dataset *d, FILE *meta)
{
    static const char *const endings[] = {[GN_F32] = "f32", [GN_I32] = "i32", [GN_BOOL] = "u8"};
    char name[512];
    fprintf(meta, ", \"labelled\": \"%s\", \"types\": {", gn_dataset_space(d, d->labelled));
    for (int k = d->typed ? 1 : 0; k <= d->n_tables; k++)
        fprintf(meta, "%s\"%s\": %lld", k > d->typed ? ", " : "", gn_dataset_space(d, k),
                (long long)gn_dataset_rows(d, k));
    fprintf(meta, "}, \"relations\": [");
    for (int k = 0; k < d->n_relations; k++) {
        const gn_relation *r = &d->relations[k];
        snprintf(name, sizeof name, "%s.src.i32", r->name);
        write_narrow(name, r->from, r->n_edges);
        snprintf(name, sizeof name, "%s.dst.i32", r->name);
        write_narrow(name, r->to, r->n_edges);
        fprintf(meta, "%s[\"%s\", \"%s\", \"%s\"]", k ? ", " : "", gn_dataset_space(d, r->src),
                r->name, gn_dataset_space(d, r->dst));
    }
    fprintf(meta, "], \"columns\": {");
    for (int k = 0, n = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        if (!c->data) continue;
        int64_t rows = c->on_edges ? gn_dataset_edges(d, c->over) : gn_dataset_rows(d, c->over);
        int64_t all = rows;
        fprintf(meta, "%s\"%s\": {\"kind\": \"%s\", \"classes\": %lld, \"shape\": [%lld",
                n++ ? ", " : "", c->name, endings[c->elem], (long long)c->classes, (long long)rows);
        for (int i = 0; i < c->rank; all *= c->dim[i++])
            fprintf(meta, ", %lld", (long long)c->dim[i]);
        fprintf(meta, "]}");
        snprintf(name, sizeof name, "%s.%s", c->name, endings[c->elem]);
        write_all(name, c->data, all, gn_elem_size(c->elem));
    }
    fprintf(meta, "}");
}

static void write_meta(const gn_dataset *d)
{
    int64_t rows = d->typed ? 0 : d->n_nodes, edges = d->typed ? 0 : d->n_edges;
    for (int k = 1; d->typed && k <= d->n_tables; k++) rows += gn_dataset_rows(d, k);
    for (int k = 1; d->typed && k <= d->n_relations; k++) edges += gn_dataset_edges(d, k);
    FILE *f = file("meta.json");
    fprintf(f,
            "{\"nodes\": %lld, \"edges\": %lld, \"features\": %lld, \"classes\": %lld, \"sparse\": "
            "%s",
            (long long)rows, (long long)edges, (long long)d->n_features, (long long)d->n_classes,
            d->x_csr ? "true" : "false");
    if (d->n_tables || d->n_relations || d->n_columns) write_tables(d, f);
    fprintf(f, "}\n");
    if (!fclose(f)) return;
    perror("meta.json");
    exit(3);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench_dump DATA FOLDER [SEED]\n");
        return 2;
    }
    gn_data_options o = {.path = argv[1], .normalize_rows = -1, .undirected = -1};
    if (argc > 3) o.seed = strtoull(argv[3], NULL, 10);
    gn_dataset *d = NULL;
    gn_status *s = gn_dataset_read(&o, &d);
    if (s) {
        fprintf(stderr, "bench_dump: %s\n", gn_status_message(s));
        return 3;
    }
    folder = argv[2];
    write_narrow("src.i32", d->src, d->n_edges);
    write_narrow("dst.i32", d->dst, d->n_edges);
    if (d->y) write_all("y.i32", d->y, gn_dataset_labelled(d), sizeof *d->y);
    if (d->train_mask)
        write_all("train.u8", d->train_mask, gn_dataset_labelled(d), sizeof *d->train_mask);
    if (d->x_csr) {
        write_narrow("x_ptr.i32", d->x_csr->ptr, d->n_nodes + 1);
        write_all("x_col.i32", d->x_csr->col, d->x_csr->nnz, sizeof *d->x_csr->col);
        write_all("x_val.f32", d->x_csr->val, d->x_csr->nnz, sizeof *d->x_csr->val);
    } else if (d->x) {
        write_all("x.f32", d->x, d->n_nodes * d->n_features, sizeof *d->x);
    }
    write_meta(d);
    gn_dataset_free(d);
    return 0;
}
