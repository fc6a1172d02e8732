#include "runtime/data/summary.h"

#include <string.h>

enum { SHOWN = 6 }; /* relations to one type that are named */

gn_rows_name gn_dataset_rows_name(const gn_dataset *d)
{
    gn_rows_name n;
    const char *space = gn_dataset_space(d, d->labelled);
    bool plural = d->labelled == 0 || !strcmp(space, "graph");
    snprintf(n.s, sizeof n.s, plural ? "%.80ss" : "rows of %.80s", space);
    return n;
}

/* ", x[128], kind of 45" */
static void put_columns(const gn_dataset *d, bool on_edges, int over, FILE *to)
{
    for (int k = 0; k < d->n_columns; k++) {
        const gn_table_column *c = &d->columns[k];
        if (c->on_edges != on_edges || c->over != over) continue;
        const char *dot = strchr(c->name, '.');
        fprintf(to, ", %s", dot ? dot + 1 : c->name);
        for (int i = 0; i < c->rank; i++)
            fprintf(to, "%s%lld%s", i ? ", " : "[", (long long)c->dim[i],
                    i + 1 == c->rank ? "]" : "");
        if (c->classes) fprintf(to, " of %lld", (long long)c->classes);
    }
}

static void put_relation(const gn_dataset *d, int k, FILE *to)
{
    const gn_relation *r = &d->relations[k];
    fprintf(to, "%s: %s -> %s, %lld edges", r->name, gn_dataset_space(d, r->src),
            gn_dataset_space(d, r->dst), (long long)r->n_edges);
    put_columns(d, true, k + 1, to);
}

/* What leads to rows of a type, behind what stands in its line already. */
static void put_relations_to(const gn_dataset *d, int space, bool behind, FILE *to)
{
    int n = 0;
    int64_t edges = 0;
    for (int k = 0; k < d->n_relations; k++) {
        if (d->relations[k].dst != space) continue;
        if (n++ >= SHOWN) {
            edges += d->relations[k].n_edges;
            continue;
        }
        if (behind || n > 1) fputs("; ", to);
        put_relation(d, k, to);
    }
    if (n > SHOWN) fprintf(to, "; %d more relations, %lld edges", n - SHOWN, (long long)edges);
    if (behind || n) fputc('\n', to);
}

void gn_dataset_summary(const gn_dataset *d, FILE *to)
{
    bool on_g = false, on_nodes = false;
    for (int k = 0; k < d->n_columns; k++) {
        on_g = on_g || (d->columns[k].on_edges && d->columns[k].over == 0);
        on_nodes = on_nodes || (!d->columns[k].on_edges && d->columns[k].over == 0);
    }
    if (on_nodes) {
        fprintf(to, "%s: %lld rows", gn_dataset_space(d, 0), (long long)d->n_nodes);
        put_columns(d, false, 0, to);
        fputc('\n', to);
    }
    if (on_g) {
        fprintf(to, "%s: %s -> %s, %lld edges", gn_dataset_relation(d, 0), gn_dataset_space(d, 0),
                gn_dataset_space(d, 0), (long long)d->n_edges);
        put_columns(d, true, 0, to);
        fputc('\n', to);
    }
    if (!d->typed) put_relations_to(d, 0, false, to);
    for (int k = 1; k <= d->n_tables; k++) {
        fprintf(to, "%s: %lld rows", gn_dataset_space(d, k), (long long)gn_dataset_rows(d, k));
        if (d->y && d->labelled == k)
            fprintf(to, ", labelled, %lld classes", (long long)d->n_classes);
        put_columns(d, false, k, to);
        put_relations_to(d, k, true, to);
    }
}
