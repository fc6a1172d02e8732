#include "cli/action.h"
#include "cli/json.h"
#include "cli/session_options.h"

#include "cache/cache.h"

#include <inttypes.h>

static void head(gn_json *j, const char *what)
{
    gn_json_init(j, stdout, true);
    gn_json_object(j, NULL);
    gn_json_string(j, "command", what);
}

static gn_status *stats(const gn_cli *cli)
{
    gn_cache_stats s;
    GN_TRY(gn_cache_measure(cli->cache, &s));
    if (cli->opt.json) {
        gn_json j;
        head(&j, "stats");
        gn_json_string(&j, "dir", s.dir);
        gn_json_int(&j, "entries", s.entries);
        gn_json_int(&j, "bytes", s.bytes);
        gn_json_int(&j, "limit_bytes", s.limit);
        gn_json_string(&j, "base", s.base);
        gn_json_int(&j, "base_entries", s.base_entries);
        gn_json_int(&j, "base_bytes", s.base_bytes);
        gn_json_end(&j);
        return NULL;
    }
    printf("%s: %" PRId64 " kernels, %.1f of %.1f MB\n", s.dir, s.entries,
           (double)s.bytes / (1 << 20), (double)s.limit / (1 << 20));
    if (s.base)
        printf("%s (base): %" PRId64 " kernels, %.1f MB\n", s.base, s.base_entries,
               (double)s.base_bytes / (1 << 20));
    return NULL;
}

static void damaged(void *ctx, const char *path, const char *why)
{
    (void)ctx;
    fprintf(stderr, "%s: %s\n", path, why);
}

static gn_status *verify(const gn_cli *cli)
{
    gn_cache_verdict v;
    GN_TRY(gn_cache_verify(cli->cache, damaged, NULL, &v));
    if (cli->opt.json) {
        gn_json j;
        head(&j, "verify");
        gn_json_int(&j, "sound", v.sound);
        gn_json_int(&j, "damaged", v.damaged);
        gn_json_end(&j);
    } else {
        printf("%" PRId64 " kernels are sound, %" PRId64 " damaged\n", v.sound, v.damaged);
    }
    if (v.damaged)
        GN_FAIL(GN_ERR_DATA, "%" PRId64 " of %" PRId64 " kernels are damaged; they are not used",
                v.damaged, v.sound + v.damaged);
    return NULL;
}

/* What was done, to how many entries. */
static void report(const gn_cli *cli, const char *what, const char *done, int64_t n,
                   const char *other, int64_t m)
{
    if (cli->opt.json) {
        gn_json j;
        head(&j, what);
        gn_json_int(&j, "entries", n);
        gn_json_int(&j, other, m);
        gn_json_end(&j);
    } else {
        printf("%s %" PRId64 " kernels, %s %" PRId64 "\n", done, n, other, m);
    }
}

static gn_status *clear(const gn_cli *cli)
{
    int64_t n, bytes;
    GN_TRY(gn_cache_clear(cli->cache, &n, &bytes));
    report(cli, "clear", "removed", n, "bytes", bytes);
    return NULL;
}

static gn_status *export(const gn_cli *cli)
{
    int64_t n, bytes;
    GN_TRY(gn_cache_export(cli->cache, cli->args.p[1], &n, &bytes));
    report(cli, "export", "exported", n, "bytes", bytes);
    return NULL;
}

static gn_status *import(const gn_cli *cli)
{
    int64_t n, known;
    gn_status *s = gn_cache_import(cli->cache, cli->args.p[1], &n, &known);
    if (s) return gn_status_annotate(s, "after %" PRId64 " kernels", n + known);
    report(cli, "import", "imported", n, "known", known);
    return NULL;
}

static const gn_action actions[] = {
    {"stats", 0, "nothing more", stats}, {"verify", 0, "nothing more", verify},
    {"clear", 0, "nothing more", clear}, {"export", 1, "a file", export},
    {"import", 1, "a file", import},
};

static gn_status *cache(gn_cli *cli)
{
    const gn_action *a;
    int n = sizeof actions / sizeof *actions;
    GN_TRY(gn_find_action(cli, &gn_command_cache, actions, n, &a));
    GN_TRY(gn_cli_open_cache(cli));
    if (!cli->cache)
        GN_FAIL(GN_ERR_USAGE, "the cache is switched off (GNNC_CACHE); --cache-dir DIR names one");
    gn_cache_stats s = {0};
    gn_status *status = gn_cache_measure(cli->cache, &s);
    if (!status && !s.dir)
        status = GN_ERROR(GN_ERR_USAGE,
                          "there is no cache folder: HOME is not set; --cache-dir DIR names one");
    return status ? status : a->run(cli);
}

const gn_command gn_command_cache = {
    .name = "cache",
    .usage = "cache stats|verify|clear|export FILE|import FILE [options]",
    .summary = "look after the compiled kernels that are kept",
    .about = "Compiled kernels are kept in a folder, and a model whose kernels are all there is "
             "not compiled again.\n"
             "stats says how many there are, verify reads every one and its checksum, clear "
             "removes all, export\n"
             "writes those that are sound to a file and import adds those of a file.  An exported "
             "file holds code\n"
             "that will be run: import what you made yourself or trust.\n",
    .examples = "  gnnc cache stats --json\n"
                "  gnnc cache verify --cache-dir /var/cache/gnnc\n"
                "  gnnc cache export kernels.gnncache\n"
                "  GNNC_CACHE=0 gnnc run samples/gcn.gnn    without it\n",
    .min_args = 1,
    .max_args = 2,
    .run = cache,
};
