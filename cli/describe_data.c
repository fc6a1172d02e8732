/* What was read: the lines before a command's own. */
#include "cli/describe_data.h"

#include "base/nearest.h"
#include "runtime/data/summary.h"

#include <stdio.h>
#include <string.h>

static int64_t marked(const uint8_t *mask, int64_t n)
{
    int64_t all = 0;
    for (int64_t v = 0; mask && v < n; v++) all += mask[v] != 0;
    return all;
}

/* Nodes of masks that have no label: losses of classes and accuracies leave them out. */
static int64_t marked_in_vain(const gn_dataset *d)
{
    int64_t all = 0, rows = gn_dataset_labelled(d);
    for (int64_t v = 0; d->y && v < rows; v++)
        all += d->y[v] < 0 && (d->train_mask[v] || d->val_mask[v] || d->test_mask[v]);
    return all;
}

/* How many classes have a node; *first: whether class 0 does.  All of them, where there are too
 * many to look. */
static int64_t classes_seen(const gn_dataset *d, bool *first)
{
    bool seen[1024] = {false};
    int64_t n = 0, rows = gn_dataset_labelled(d);
    *first = true;
    if (!d->y || d->n_classes > 1024) return d->n_classes;
    for (int64_t v = 0; v < rows; v++)
        if (d->y[v] >= 0 && d->y[v] < d->n_classes) seen[d->y[v]] = true;
    for (int64_t c = 0; c < d->n_classes; c++) n += seen[c];
    *first = seen[0];
    return n;
}

/* "2 nodes to train on" or "2 nodes to train on (4 with repeats)" */
static void print_marked(const uint8_t *mask, const float *times, int64_t n, const char *of,
                         const char *what)
{
    double all = 0;
    fprintf(stderr, "%lld%s%s %s", (long long)marked(mask, n), *of ? " " : "", of, what);
    for (int64_t v = 0; times && v < n; v++) all += (double)times[v];
    if (times) fprintf(stderr, " (%.0f with repeats)", all);
}

static void describe_split(const gn_session *s)
{
    const gn_dataset *d = s->data;
    int64_t rows = gn_dataset_labelled(d);
    if (d->train_mask) {
        gn_rows_name of = gn_dataset_rows_name(d);
        print_marked(d->train_mask, d->train_times, rows, of.s, "to train on");
        fputs(", ", stderr);
        print_marked(d->val_mask, d->val_times, rows, "", "for validation");
        fputs(", ", stderr);
        print_marked(d->test_mask, d->test_times, rows, "", "for test");
        fputs(d->split_drawn ? ", drawn" : "\n", stderr);
    }
    if (d->split_drawn) fprintf(stderr, " with seed %llu\n", (unsigned long long)s->opt.data.seed);
    int64_t vain = d->train_mask ? marked_in_vain(d) : 0;
    if (vain)
        fprintf(stderr,
                "%lld of these %s no label (-1): losses of labels and accuracies leave %s out\n",
                (long long)vain, vain == 1 ? "has" : "have", vain == 1 ? "it" : "them");
}

/* Nodes, edges and what lies on them. */
static void describe_graph(const gn_session *s)
{
    const gn_dataset *d = s->data;
    fprintf(stderr, "%lld nodes, %lld edges", (long long)d->n_nodes, (long long)d->n_edges);
    if (s->edge_weight || d->edge_weight) fprintf(stderr, " with weights");
    if (d->edge_dim) fprintf(stderr, ", %lld edge features", (long long)d->edge_dim);
    fprintf(stderr, ", %lld features%s", (long long)d->n_features,
            s->opt.data.features ? " (made up)"
            : d->normalized      ? " (rows divided by their sums)"
                                 : "");
    if (d->reduced)
        fprintf(stderr, " (%s of %lld)", gn_reduction_name[d->reduced],
                (long long)d->n_features_read);
}

/* What was read, and what was made of it on the way. */
static void describe_data(const gn_session *s)
{
    const gn_dataset *d = s->data;
    fprintf(stderr, "%s: ", d->name ? d->name : "data");
    if (d->typed)
        fprintf(stderr, "%d types, %d relations", d->n_tables, d->n_relations);
    else
        describe_graph(s);
    bool first;
    int64_t seen = classes_seen(d, &first);
    fprintf(stderr, ", %lld classes", (long long)d->n_classes);
    if (seen > 0 && seen < (d->n_classes + 1) / 2)
        fprintf(stderr, ", of which %lld occur", (long long)seen);
    for (int k = 0; k < d->n_more; k++)
        if (d->more[k].taken) fprintf(stderr, ", %s", d->more[k].name);
    fprintf(stderr, "%s\n",
            d->embedded ? " (the built-in graph gave the shapes; --data PATH gives another)" : "");
    gn_dataset_summary(d, stderr);
    describe_split(s);
    if (s->opt.train && d->n_classes > 1 && !first && seen == d->n_classes - 1)
        fprintf(stderr, "warning: no node is of class 0, as if classes were counted from 1: there "
                        "is one too many\n");
    for (int k = 0; k < d->n_remarks; k++) fprintf(stderr, "warning: %s\n", d->remark[k]);
    if (s->opt.train && d->train_mask && !marked(d->train_mask, gn_dataset_labelled(d)))
        fprintf(stderr, "warning: train_mask is empty: a loss over it learns nothing\n");
}

/* Arrays that nobody has asked for: one of them may be misspelt. */
static void describe_unused(const gn_session *s)
{
    static const char *const keys[] = {
        "x",          "y",         "edge_index",  "edge_weight", "edge_attr",
        "train_mask", "val_mask",  "test_mask",   "num_nodes",   "node_features",
        "edges",      "edge_list", "node_labels", "train_masks", "val_masks",
        "test_masks", "train_idx", "valid_idx",   "test_idx",    "edge_feat"};
    const gn_dataset *d = s->data;
    for (int k = 0; k < d->n_more; k++) {
        if (d->more[k].taken || d->more[k].also) continue;
        const char *near = gn_nearest(d->more[k].name, keys, sizeof keys / sizeof *keys);
        if (near && !strcmp(near, d->more[k].name)) near = NULL; /* `train_idx` beside masks */
        fprintf(stderr, "warning: nothing reads the array `%s` of the data%s%s%s\n",
                d->more[k].name, near ? "; did you mean `" : "", near ? near : "",
                near ? "`?" : "");
    }
}

void gn_cli_describe_data(const gn_session *s)
{
    describe_data(s);
    describe_unused(s);
}
