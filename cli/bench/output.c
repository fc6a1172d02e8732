#include "cli/bench/output.h"

#include "cli/bench/tables.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct output {
    const char *name;
    void (*write)(gn_bench *b, FILE *to);
} output;

static const output outputs[] = {
    {"config.json", gn_write_config}, {"results.json", gn_write_results},
    {"results.csv", gn_write_csv},    {"tables.tex", gn_write_latex},
    {"tables.md", gn_write_markdown}, {"recommendations.txt", gn_write_recommendations},
    {"report.html", gn_write_page},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };
static const char workbook[] = "report.xlsx";

static const char *in(const gn_bench *b, const char *folder, const char *name)
{
    return gn_arena_printf(b->arena, "%s/%s%s", b->out, folder, name);
}

bool gn_bench_has_results(gn_arena *a, const char *out)
{
    return !access(gn_arena_printf(a, "%s/cells", out), F_OK) ||
           !access(gn_arena_printf(a, "%s/results.json", out), F_OK);
}

static gn_status *write_one(gn_bench *b, const output *o, const char *path)
{
    FILE *f = fopen(path, "we");
    if (!f) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    o->write(b, f);
    bool bad = fflush(f) || ferror(f);
    int e = errno;
    if (fclose(f) || bad) GN_FAIL(GN_ERR_IO, "%s could not be written: %s", path, strerror(e));
    return NULL;
}

static gn_status *write_new(gn_bench *b)
{
    for (int k = 0; k < OUTPUTS; k++)
        GN_TRY(write_one(b, &outputs[k], in(b, ".new/", outputs[k].name)));
    return gn_has_workbook() ? gn_write_workbook(b, in(b, ".new/", workbook)) : NULL;
}

static gn_status *publish(const gn_bench *b, const char *name)
{
    const char *to = in(b, "", name);
    if (rename(in(b, ".new/", name), to)) GN_FAIL(GN_ERR_IO, "%s: %s", to, strerror(errno));
    return NULL;
}

static gn_status *publish_all(const gn_bench *b)
{
    for (int k = 0; k < OUTPUTS; k++) GN_TRY(publish(b, outputs[k].name));
    if (gn_has_workbook()) return publish(b, workbook);
    remove(in(b, "", workbook)); /* an older one, of other results */
    return NULL;
}

gn_status *gn_bench_write(gn_bench *b)
{
    const char *folder = in(b, ".new", "");
    if (mkdir(folder, 0777) && errno != EEXIST)
        GN_FAIL(GN_ERR_IO, "%s: %s", folder, strerror(errno));
    gn_status *s = write_new(b);
    if (!s) s = publish_all(b);
    for (int k = 0; k < OUTPUTS; k++) remove(in(b, ".new/", outputs[k].name));
    remove(in(b, ".new/", workbook));
    rmdir(folder);
    return s;
}
