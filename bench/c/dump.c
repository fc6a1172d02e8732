/* Writes a dataset as gnnc's readers find it to a folder of raw numbers, so that everybody who
 * races works on the same:
 *
 *   bench_dump DATA FOLDER [SEED]
 *
 * DATA is what `gnnc --data` takes. FOLDER gets src.i32, dst.i32 (edges in the user's order),
 * y.i32, train.u8, and the features as x.f32, or as x_ptr.i32, x_col.i32, x_val.f32 (rows) where
 * they are read sparse; meta.json names the counts. */
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
    if (d->y) write_all("y.i32", d->y, d->n_nodes, sizeof *d->y);
    if (d->train_mask) write_all("train.u8", d->train_mask, d->n_nodes, sizeof *d->train_mask);
    if (d->x_csr) {
        write_narrow("x_ptr.i32", d->x_csr->ptr, d->n_nodes + 1);
        write_all("x_col.i32", d->x_csr->col, d->x_csr->nnz, sizeof *d->x_csr->col);
        write_all("x_val.f32", d->x_csr->val, d->x_csr->nnz, sizeof *d->x_csr->val);
    } else if (d->x) {
        write_all("x.f32", d->x, d->n_nodes * d->n_features, sizeof *d->x);
    }
    FILE *f = file("meta.json");
    fprintf(f,
            "{\"nodes\": %lld, \"edges\": %lld, \"features\": %lld, \"classes\": %lld, \"sparse\": "
            "%s}\n",
            (long long)d->n_nodes, (long long)d->n_edges, (long long)d->n_features,
            (long long)d->n_classes, d->x_csr ? "true" : "false");
    fclose(f);
    gn_dataset_free(d);
    return 0;
}
