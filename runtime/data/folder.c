#include "runtime/data/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

gn_status *gn_folder_path(const char *folder, const char *name, char path[GN_PATH_SIZE])
{
    int n = snprintf(path, GN_PATH_SIZE, "%s/%s", folder, name);
    if (n < 0 || n >= GN_PATH_SIZE - 4) /* room for .gz */
        GN_FAIL(GN_ERR_IO, "the path '%.200s...' is too long", folder);
    return NULL;
}

static bool is_there(const char *path, bool folder)
{
    struct stat st;
    return stat(path, &st) == 0 && (S_ISDIR(st.st_mode) != 0) == folder;
}

bool gn_folder_has(const char *folder, const char *name)
{
    char path[GN_PATH_SIZE];
    gn_status *s = gn_folder_path(folder, name, path);
    gn_status_free(s);
    if (s) return false;
    if (is_there(path, false)) return true;
    memcpy(path + strlen(path), ".gz", 4);
    return is_there(path, false);
}

bool gn_folder_has_folder(const char *folder, const char *name)
{
    char path[GN_PATH_SIZE];
    gn_status *s = gn_folder_path(folder, name, path);
    gn_status_free(s);
    return !s && is_there(path, true);
}

static gn_status *inflate(gn_folder_file *p)
{
    gn_bytes plain;
    if (p->bytes.n < 2 || memcmp(p->bytes.p, "\x1f\x8b", 2) != 0) return NULL;
    GN_TRY(gn_gunzip(p->bytes.p, p->bytes.n, p->path, &plain));
    gn_bytes_free(&p->bytes);
    p->bytes = plain;
    return NULL;
}

gn_status *gn_folder_read(const char *folder, const char *name, bool needed, gn_folder_file *out)
{
    char path[GN_PATH_SIZE];
    *out = (gn_folder_file){0};
    GN_TRY(gn_folder_path(folder, name, path));
    size_t n = strlen(path);
    bool there = is_there(path, false);
    if (!there) {
        memcpy(path + n, ".gz", 4);
        there = is_there(path, false);
    }
    if (!there) path[n] = 0;
    if (!there && !needed) return NULL;
    if (!(out->path = strdup(path))) GN_FAIL(GN_ERR_NOMEM, "out of memory: a path");
    GN_TRY(gn_file_read(path, &out->bytes));
    return inflate(out);
}

gn_input gn_folder_input(const gn_folder_file *p)
{
    return (gn_input){p->bytes.p, p->bytes.n, p->path};
}

void gn_folder_free(gn_folder_file *p)
{
    gn_bytes_free(&p->bytes);
    free(p->path);
    *p = (gn_folder_file){0};
}

gn_status *gn_folder_parse(const char *folder, const char *const *name, int n, int needed,
                           gn_folder_parser *parse, gn_reading *r, gn_dataset **out)
{
    enum { MOST = 16 };
    gn_folder_file part[MOST] = {0};
    gn_input input[MOST];
    gn_status *s = NULL;
    if (n > MOST) GN_FAIL(GN_ERR_INTERNAL, "%d files of one dataset", n);
    for (int k = 0; k < n && !s; k++) s = gn_folder_read(folder, name[k], k < needed, &part[k]);
    for (int k = 0; k < n; k++) input[k] = gn_folder_input(&part[k]);
    if (!s) s = parse(input, r, out);
    for (int k = 0; k < n; k++) gn_folder_free(&part[k]);
    return s;
}

/* Where the pattern's * lies in a name; false: the name is another. */
static bool match(const char *name, const char *pattern, size_t *from, size_t *n)
{
    const char *star = strchr(pattern, '*');
    size_t all = strlen(name), head = (size_t)(star - pattern), tail = strlen(star + 1);
    if (all > 3 && !strcmp(name + all - 3, ".gz")) all -= 3;
    if (all <= head + tail || memcmp(name, pattern, head) != 0 ||
        memcmp(name + all - tail, star + 1, tail) != 0)
        return false;
    *from = head;
    *n = all - head - tail;
    return true;
}

/* NAME.gz where NAME is there as well, which is then the one that is read. */
static bool is_spare(const char *folder, const char *name)
{
    char path[GN_PATH_SIZE];
    size_t n = strlen(name);
    int all = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n <= 3 || strcmp(name + n - 3, ".gz") != 0 || all < 0 || (size_t)all >= sizeof path)
        return false;
    path[all - 3] = 0;
    return is_there(path, false);
}

gn_status *gn_folder_find(const char *folder, const char *pattern, char *stem, size_t size,
                          int *count)
{
    DIR *dir = opendir(folder);
    *count = 0;
    if (!dir && errno == ENOENT) return NULL;
    if (!dir) GN_FAIL(GN_ERR_IO, "cannot open '%s': %s", folder, strerror(errno));
    for (struct dirent *e; (e = readdir(dir));) {
        size_t from, n;
        if (!match(e->d_name, pattern, &from, &n) || n >= size) continue;
        if (is_spare(folder, e->d_name)) continue;
        ++*count;
        memcpy(stem, e->d_name + from, n);
        stem[n] = 0;
    }
    closedir(dir);
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* `ending`: of files; NULL: folders. */
static bool is_listed(const char *folder, const char *name, const char *ending)
{
    size_t n = strlen(name), m = ending ? strlen(ending) : 0;
    if (!ending) return gn_folder_has_folder(folder, name);
    return n > m && !strcmp(name + n - m, ending) && gn_folder_has(folder, name);
}

static gn_status *list(const char *folder, const char *ending, char ***name, int *n)
{
    DIR *dir = opendir(folder);
    gn_status *s = NULL;
    if (!dir) GN_FAIL(GN_ERR_IO, "cannot open '%s': %s", folder, strerror(errno));
    for (struct dirent *e; !s && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || !is_listed(folder, e->d_name, ending)) continue;
        char **all = realloc(*name, ((size_t)*n + 1) * sizeof *all);
        if (all) *name = all;
        if (!all || !(all[*n] = strdup(e->d_name)))
            s = GN_ERROR(GN_ERR_NOMEM, "out of memory: names in a folder");
        else
            ++*n;
    }
    closedir(dir);
    return s;
}

static gn_status *nth(const char *folder, const char *ending, int k, char *name, size_t size,
                      int *count)
{
    char **all = NULL;
    *count = 0;
    *name = 0;
    gn_status *s = list(folder, ending, &all, count);
    if (!s && *count) qsort(all, (size_t)*count, sizeof *all, by_name);
    if (!s && k >= 0 && k < *count && strlen(all[k]) < size)
        memcpy(name, all[k], strlen(all[k]) + 1);
    for (int i = 0; i < *count; i++) free(all[i]);
    free(all);
    return s;
}

gn_status *gn_folder_nth(const char *folder, int k, char *name, size_t size, int *count)
{
    return nth(folder, NULL, k, name, size, count);
}

gn_status *gn_folder_nth_file(const char *folder, const char *ending, int k, char *name,
                              size_t size, int *count)
{
    return nth(folder, ending, k, name, size, count);
}
