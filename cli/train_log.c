#include "cli/train_log.h"

#include "base/outfile.h"
#include "cli/json.h"
#include "cli/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The columns, in their order; what is not known is empty, or null. */
typedef enum field_kind { WHOLE, REAL, YES } field_kind;
typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset; /* in gn_epoch */
} field;

#define AT(member) offsetof(gn_epoch, member)
#define OF_LINKS(part)                                                                             \
    {#part "_auc", REAL, AT(part##_links.roc_auc)},                                                \
        {#part "_ap", REAL, AT(part##_links.average_precision)},                                   \
        {#part "_hits@20", REAL, AT(part##_links.hits[0])},                                        \
        {#part "_hits@50", REAL, AT(part##_links.hits[1])},                                        \
        {#part "_hits@100", REAL, AT(part##_links.hits[2])},                                       \
    {                                                                                              \
        #part "_mrr", REAL, AT(part##_links.mrr)                                                   \
    }
static const field fields[] = {
    {"epoch", WHOLE, AT(epoch)},
    {"loss", REAL, AT(loss)},
    {"val_loss", REAL, AT(val_loss)},
    {"train_acc", REAL, AT(train_acc)},
    {"val_acc", REAL, AT(val_acc)},
    {"test_acc", REAL, AT(test_acc)},
    {"train_roc_auc", REAL, AT(train_auc)},
    {"val_roc_auc", REAL, AT(val_auc)},
    {"test_roc_auc", REAL, AT(test_auc)},
    OF_LINKS(val),
    OF_LINKS(test),
    {"learning_rate", REAL, AT(rate)},
    {"seconds", REAL, AT(seconds)},
    {"best", YES, AT(best)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool is_csv(const char *path) { return gn_text_ends(path, ".csv"); }

static void header_of(gn_buf *b)
{
    gn_buf_add(b, "seed");
    for (int k = 0; k < FIELDS; k++) gn_buf_printf(b, ",%s", fields[k].name);
    gn_buf_add(b, "\n");
}

/* What is there -------------------------------------------------------------------------------- */

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

gn_status *gn_train_log_check(const char *path)
{
    char line[256] = "";
    if (!path) return NULL;
    if (!is_csv(path) && !gn_text_ends(path, ".jsonl"))
        GN_FAIL(GN_ERR_USAGE, "--log %s: expected a name that ends in .csv or .jsonl", path);
    if (!is_regular(path)) return NULL;
    FILE *f = fopen(path, "r");
    if (!f) GN_FAIL(GN_ERR_IO, "--log %s: %s", path, strerror(errno));
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    gn_arena a;
    gn_arena_init(&a);
    gn_buf header = {.arena = &a};
    header_of(&header);
    const char *begin = is_csv(path) ? header.p : "{\"seed\": ";
    bool log = n == 0 || !strncmp(line, begin, strlen(begin));
    gn_arena_free(&a);
    if (log) return NULL;
    GN_FAIL(GN_ERR_USAGE,
            "--log %s: there is a file of that name which is no log of training, and would be lost",
            path);
}

/* Reading it again, to go on ------------------------------------------------------------------- */

/* Where the value of the k-th column begins in a line; NULL: it has none. */
static const char *value_at(const char *line, bool csv, const char *name, int column)
{
    char key[64];
    if (!csv) {
        snprintf(key, sizeof key, "\"%s\": ", name);
        const char *at = strstr(line, key);
        return at ? at + strlen(key) : NULL;
    }
    for (; column > 0 && line; column--) {
        line = strchr(line, ',');
        if (line) line++;
    }
    return line;
}

static bool read_line(const char *line, bool csv, uint64_t *seed, gn_epoch *e)
{
    const char *at = value_at(line, csv, "seed", 0);
    char *end;
    *seed = at ? strtoull(at, &end, 10) : 0;
    if (!at || end == at) return false;
    *e = (gn_epoch){0};
    for (int k = 0; k < FIELDS; k++) {
        void *to = (char *)e + fields[k].offset;
        at = value_at(line, csv, fields[k].name, k + 1);
        if (!at) return false;
        double v = strtod(at, &end);
        if (end == at) v = (double)NAN;
        switch (fields[k].kind) {
        case WHOLE: *(int64_t *)to = isfinite(v) ? (int64_t)v : 0; break;
        case REAL: *(double *)to = v; break;
        case YES: *(bool *)to = *at == '1' || *at == 't'; break;
        }
    }
    return e->epoch > 0;
}

/* The lines of epochs before `first`, without what is no line of a log: the last one of a run
 * that was killed, say. */
static gn_status *keep_lines(gn_train_log *l, int64_t first, gn_buf *kept)
{
    size_t size = 0;
    ssize_t n;
    char *line = NULL;
    FILE *f = fopen(l->path, "r");
    if (!f) GN_FAIL(GN_ERR_IO, "--log %s: %s", l->path, strerror(errno));
    while ((n = getline(&line, &size, f)) > 0) {
        uint64_t seed;
        gn_epoch e;
        bool whole = line[n - 1] == '\n';
        if (!whole || !read_line(line, is_csv(l->path), &seed, &e) || e.epoch >= first) continue;
        gn_buf_add(kept, line);
        if (l->kept) l->kept(l->ctx, seed, &e);
    }
    bool bad = ferror(f) != 0;
    free(line);
    fclose(f);
    if (bad) GN_FAIL(GN_ERR_IO, "--log %s: could not be read", l->path);
    return NULL;
}

/* Writing -------------------------------------------------------------------------------------- */

static gn_status *begin(gn_train_log *l, int64_t first)
{
    gn_buf b = {.arena = l->arena};
    bool on = l->resumed && is_regular(l->path);
    if (is_csv(l->path)) header_of(&b);
    if (on) {
        gn_out o;
        GN_TRY(keep_lines(l, first, &b));
        GN_TRY(gn_out_open(&o, l->path));
        if (b.n) fwrite(b.p, 1, b.n, o.f);
        GN_TRY(gn_out_close(&o, NULL));
    }
    l->f = fopen(l->path, on ? "a" : "w");
    if (!l->f) GN_FAIL(GN_ERR_IO, "--log %s: %s", l->path, strerror(errno));
    if (!on && b.n) fwrite(b.p, 1, b.n, l->f);
    return NULL;
}

static void write_csv(FILE *f, uint64_t seed, const gn_epoch *e)
{
    fprintf(f, "%" PRIu64, seed);
    for (int k = 0; k < FIELDS; k++) {
        const void *at = (const char *)e + fields[k].offset;
        double v = fields[k].kind == REAL ? *(const double *)at : 0;
        fputc(',', f);
        switch (fields[k].kind) {
        case WHOLE: fprintf(f, "%" PRId64, *(const int64_t *)at); break;
        case REAL:
            if (isfinite(v)) fprintf(f, "%.9g", v);
            break;
        case YES: fputc(*(const bool *)at ? '1' : '0', f); break;
        }
    }
    fputc('\n', f);
}

static void write_json(FILE *f, uint64_t seed, const gn_epoch *e)
{
    gn_json j;
    gn_json_init(&j, f, false);
    gn_json_object(&j, NULL);
    gn_json_int(&j, "seed", (int64_t)seed);
    for (int k = 0; k < FIELDS; k++) {
        const void *at = (const char *)e + fields[k].offset;
        switch (fields[k].kind) {
        case WHOLE: gn_json_int(&j, fields[k].name, *(const int64_t *)at); break;
        case REAL: gn_json_double(&j, fields[k].name, *(const double *)at); break;
        case YES: gn_json_bool(&j, fields[k].name, *(const bool *)at); break;
        }
    }
    gn_json_end(&j);
}

void gn_train_log_epoch(gn_train_log *l, uint64_t seed, const gn_epoch *e)
{
    if (!l->path || l->failed) return;
    if (!l->f) l->failed = begin(l, e->epoch);
    if (l->failed) return;
    is_csv(l->path) ? write_csv(l->f, seed, e) : write_json(l->f, seed, e);
    fflush(l->f);
}

gn_status *gn_train_log_end(gn_train_log *l)
{
    gn_status *s = l->failed;
    l->failed = NULL;
    if (!l->f) return s;
    bool bad = ferror(l->f) != 0;
    bad = fclose(l->f) != 0 || bad;
    l->f = NULL;
    if (!s && bad) s = GN_ERROR(GN_ERR_IO, "--log %s: could not be written", l->path);
    return s;
}
