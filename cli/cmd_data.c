/* data: datasets as files that are mapped: made of others, described, checked. */
#include "cli/action.h"
#include "cli/command.h"
#include "cli/describe_data.h"
#include "cli/json.h"
#include "cli/session_options.h"
#include "cli/text.h"

#include "base/outfile.h"
#include "runtime/data/datafile.h"
#include "runtime/data/summary.h"
#include "runtime/data/synthetic.h"
#include "runtime/graph/reorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* convert -------------------------------------------------------------------------------------- */

static int named(const char *name, const char *const *names, int n)
{
    for (int k = 0; name && k < n; k++)
        if (!strcmp(name, names[k])) return k;
    return -1;
}

static void say(const gn_cli *cli, bool split_drawn, const char *path)
{
    struct stat st;
    if (cli->opt.quiet) return;
    if (split_drawn)
        fprintf(stderr, "the split was drawn with seed %lld, and stays as it is now\n",
                (long long)(cli->opt.seed < 0 ? 0 : cli->opt.seed));
    if (stat(path, &st) == 0)
        fprintf(stderr, "%s: %s\n", path, gn_text_bytes(cli->arena, (double)st.st_size));
}

static void warn(const gn_cli *cli, const gn_dataset *d, int features)
{
    if (cli->opt.quiet) return;
    for (int k = 0; k < d->n_remarks; k++) fprintf(stderr, "warning: %s\n", d->remark[k]);
    if (d->x_csr && features > GN_CODE_FLOAT32)
        fprintf(stderr, "features are sparse, and stay float32\n");
}

static gn_status *write_file(const gn_cli *cli, gn_dataset *d, int order, const char *to)
{
    const gn_datafile_options o = {named(cli->opt.features, gn_feature_code_name, GN_CODE_COUNT),
                                   cli->args.p[1]};
    if (order > 0) GN_TRY(gn_dataset_order(d, (gn_order)order));
    GN_TRY(gn_datafile_write(d, &o, to));
    warn(cli, d, o.features);
    say(cli, d->split_drawn, to);
    return NULL;
}

/* What need not fit memory. */
static gn_status *stream(const gn_cli *cli, const gn_data_options *o, bool by_degree,
                         const char *to, bool *done)
{
    static const char synthetic[] = "synthetic:";
    size_t n = sizeof synthetic - 1;
    bool split_drawn;
    if (strncmp(o->path, synthetic, n) != 0) return NULL;
    const gn_synthetic_file f = {
        .text = o->path + n,
        .path = to,
        .source = o->path,
        .seed = o->seed,
        .by_degree = by_degree,
        .features = named(cli->opt.features, gn_feature_code_name, GN_CODE_COUNT)};
    GN_TRY(gn_synthetic_write(&f, done, &split_drawn));
    if (*done) say(cli, split_drawn, to);
    return NULL;
}

static gn_status *convert(const gn_cli *cli)
{
    const gn_cli_options *o = &cli->opt;
    const char *from = cli->args.p[1], *to = cli->args.p[2];
    int order = named(o->order, gn_order_name, GN_ORDER_COUNT);
    const gn_data_options options = {.path = from,
                                     .seed = o->seed < 0 ? 0 : (uint64_t)o->seed,
                                     .split = o->split < 0 ? 0 : (int)o->split,
                                     .normalize_rows = gn_cli_tri(o->normalize),
                                     .undirected = gn_cli_tri(o->undirected),
                                     .undrawn = order <= 0};
    gn_dataset *d;
    if (gn_cli_same_file(from, to))
        GN_FAIL(GN_ERR_USAGE, "convert: %s is the data, which would be lost", to);
    GN_TRY(gn_out_check(to));
    bool plain = order <= GN_ORDER_DEGREE && options.normalize_rows != 1 && options.split == 0,
         done = false;
    if (plain) GN_TRY(stream(cli, &options, order == GN_ORDER_DEGREE, to, &done));
    if (done) return NULL;
    GN_TRY(gn_dataset_read(&options, &d));
    gn_status *s = write_file(cli, d, order, to);
    gn_dataset_free(d);
    return s;
}

/* info, check ---------------------------------------------------------------------------------- */

static gn_status *open_file(const gn_cli *cli, gn_dataset **out)
{
    return gn_datafile_read(cli->args.p[1], out);
}

static const char *shape_of(gn_arena *a, const gn_block_array *b)
{
    gn_buf t = {.arena = a};
    gn_buf_add(&t, "[");
    for (int k = 0; k < b->rank; k++)
        gn_buf_printf(&t, "%s%lld", k ? ", " : "", (long long)b->dim[k]);
    gn_buf_add(&t, "]");
    return t.p;
}

static bool renumbered(const gn_dataset *d)
{
    bool any = false;
    for (int k = 0; k <= d->n_tables; k++) any |= gn_dataset_row_of(d, k) != NULL;
    return any;
}

static void info_json(const gn_cli *cli, const gn_dataset *d)
{
    const gn_block_file *f = d->file;
    const char *source = json_string_value(json_object_get(f->meta, "source"));
    gn_json j;
    gn_json_init(&j, stdout, true);
    gn_json_object(&j, NULL);
    gn_json_string(&j, "file", cli->args.p[1]);
    gn_json_string(&j, "name", d->name);
    gn_json_string(&j, "source", source);
    gn_json_int(&j, "version", GN_BLOCK_VERSION);
    gn_json_int(&j, "bytes", f->n);
    gn_json_int(&j, "blocks", f->n_blocks);
    gn_json_int(&j, "block_bytes", GN_BLOCK_SIZE);
    gn_json_int(&j, "nodes", d->n_nodes);
    gn_json_int(&j, "edges", d->n_edges);
    gn_json_int(&j, "features", d->n_features);
    gn_json_int(&j, "classes", d->n_classes);
    gn_json_bool(&j, "renumbered", renumbered(d));
    gn_json_array(&j, "arrays");
    for (int k = 0; k < f->n_arrays; k++) {
        const gn_block_array *a = &f->arrays[k];
        gn_json_object(&j, NULL);
        gn_json_string(&j, "name", a->name);
        gn_json_string(&j, "element", gn_elem_name(a->elem));
        gn_json_array(&j, "shape");
        for (int i = 0; i < a->rank; i++) gn_json_int(&j, NULL, a->dim[i]);
        gn_json_end(&j);
        gn_json_int(&j, "at", a->at);
        gn_json_int(&j, "bytes", a->bytes);
        gn_json_end(&j);
    }
    gn_json_end(&j);
    gn_json_end(&j);
}

static void info_text(const gn_cli *cli, const gn_dataset *d)
{
    const gn_block_file *f = d->file;
    const char *source = json_string_value(json_object_get(f->meta, "source"));
    printf("%s: ", d->name ? d->name : cli->args.p[1]);
    if (d->typed)
        printf("%d types, %d relations", d->n_tables, d->n_relations);
    else
        printf("%lld nodes, %lld edges, %lld features", (long long)d->n_nodes,
               (long long)d->n_edges, (long long)d->n_features);
    printf(", %lld classes\n", (long long)d->n_classes);
    gn_dataset_summary(d, stdout);
    if (source) printf("made of %s%s\n", source, renumbered(d) ? ", nodes in another order" : "");
    printf("%s in %lld blocks of %d bytes\n", gn_text_bytes(cli->arena, (double)f->n),
           (long long)f->n_blocks, GN_BLOCK_SIZE);
    for (int k = 0; k < f->n_arrays; k++) {
        const gn_block_array *a = &f->arrays[k];
        printf("  %-24s %-5s %s\n", a->name, gn_elem_name(a->elem), shape_of(cli->arena, a));
    }
}

static gn_status *info(const gn_cli *cli)
{
    gn_dataset *d;
    GN_TRY(open_file(cli, &d));
    cli->opt.json ? info_json(cli, d) : info_text(cli, d);
    gn_dataset_free(d);
    return NULL;
}

static gn_status *check(const gn_cli *cli)
{
    gn_dataset *d;
    int64_t blocks;
    GN_TRY(open_file(cli, &d));
    gn_status *s = gn_datafile_check(d, &blocks);
    gn_dataset_free(d);
    if (s) return s;
    if (cli->opt.json) {
        gn_json j;
        gn_json_init(&j, stdout, true);
        gn_json_object(&j, NULL);
        gn_json_string(&j, "file", cli->args.p[1]);
        gn_json_int(&j, "sound_blocks", blocks);
        gn_json_end(&j);
    } else {
        printf("%s: all %lld blocks are sound\n", cli->args.p[1], (long long)blocks);
    }
    return NULL;
}

static const gn_action actions[] = {{"convert", 2, "what to read and a file to write", convert},
                                    {"info", 1, "a file", info},
                                    {"check", 1, "a file", check}};

static gn_status *data(gn_cli *cli)
{
    const gn_action *a;
    int n = sizeof actions / sizeof *actions;
    GN_TRY(gn_find_action(cli, &gn_command_data, actions, n, &a));
    return a->run(cli);
}

const gn_command gn_command_data = {
    .name = "data",
    .usage = "data convert SRC DST|info FILE|check FILE [options]",
    .summary = "make, describe and check data that are mapped and not read",
    .about = "convert reads SRC, which is anything that --data takes, and writes a store DST: "
             "graphs, features,\n"
             "labels and splits as they lie in memory, which --data maps without reading all of "
             "it.  So data may\n"
             "be larger than memory.  A store has a checksum for each block of 4,096 bytes; info "
             "says what a\n"
             "store holds, and check compares all checksums.\n",
    .examples = "  gnnc data convert papers100M/ papers.gnnc --features bfloat16\n"
                "  gnnc data convert synthetic:nodes=1e6,edges=2e7,features=64,classes=10 "
                "s.gnnc\n"
                "  gnnc data info papers.gnnc\n"
                "  gnnc data check papers.gnnc\n"
                "  gnnc train sage.gnn --data papers.gnnc --batch 1024 --fanout 15,10\n",
    .min_args = 1,
    .max_args = 3,
    .run = data,
};
