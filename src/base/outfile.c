#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gn_status *open_beside(gn_out *o, mode_t mode, bool keep_mode)
{
    static atomic_uint counter;
    size_t cap = strlen(o->target) + 48;
    o->temp = malloc(cap);
    if (!o->temp) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a file name", cap);
    for (int tries = 0; tries < 100; tries++) {
        snprintf(o->temp, cap, "%s.%ld-%u.tmp", o->target, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        int fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) break;
        if (keep_mode) (void)!fchmod(fd, mode & 07777);
        o->f = fdopen(fd, "wb");
        if (o->f) return NULL;
        close(fd);
        unlink(o->temp);
        GN_FAIL(GN_ERR_NOMEM, "out of memory: a stream for '%s'", o->target);
    }
    gn_status *s = GN_ERROR(GN_ERR_IO, "cannot create '%s': %s", o->temp, strerror(errno));
    free(o->temp);
    o->temp = NULL;
    return s;
}

/* What a path is a name for, links followed; of a link to nothing, what would be there.  NULL:
 * there is no memory. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL), link[4096];
    struct stat st;
    ssize_t n = -1;
    if (real) return real;
    /* /dev/stdout and its like are more than their text says: only a link to nothing is followed by
     * that */
    if (stat(path, &st) != 0 && errno == ENOENT) n = readlink(path, link, sizeof link - 1);
    if (n <= 0) return strdup(path);
    link[n] = 0;
    const char *slash = link[0] == '/' ? NULL : strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *to = malloc(folder + (size_t)n + 1);
    if (!to) return NULL;
    memcpy(to, path, folder);
    memcpy(to + folder, link, (size_t)n + 1);
    char *end = lstat(to, &st) == 0 && S_ISLNK(st.st_mode) ? resolve(to) : strdup(to);
    free(to);
    return end;
}

/* A file of another name would not be what the shell sent the output to. */
static bool is_standard_output(const struct stat *st)
{
    struct stat out;
    return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

gn_status *gn_out_open(gn_out *o, const char *path)
{
    *o = (gn_out){.target = resolve(path)};
    if (!o->target) GN_FAIL(GN_ERR_NOMEM, "out of memory: %zu bytes for a file name", strlen(path));
    struct stat st;
    gn_status *s = NULL;
    bool exists = stat(o->target, &st) == 0;
    if (!exists && (errno != ENOENT || !*path)) {
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    } else if (exists && S_ISDIR(st.st_mode)) {
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(EISDIR));
    } else if (exists && (!S_ISREG(st.st_mode) || is_standard_output(&st))) {
        o->f = fopen(o->target, "wbe");
        if (!o->f) s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    } else if (exists && access(o->target, W_OK) != 0) {
        s = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    } else {
        s = open_beside(o, exists ? st.st_mode : 0, exists);
    }
    if (s) {
        free(o->target);
        free(o->temp);
        *o = (gn_out){0};
    }
    return s;
}

gn_status *gn_out_check(const char *path)
{
    struct stat st;
    gn_out o;
    bool in_place = stat(path, &st) == 0 && !S_ISDIR(st.st_mode) &&
                    (!S_ISREG(st.st_mode) || is_standard_output(&st));
    if (in_place && access(path, W_OK) == 0) return NULL;
    if (in_place) GN_FAIL(GN_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    GN_TRY(gn_out_open(&o, path));
    fclose(o.f);
    unlink(o.temp);
    free(o.target);
    free(o.temp);
    return NULL;
}

/* The rename itself reaches the disk with the folder's fsync; where a folder cannot be synced,
 * nothing is lost. */
static void sync_folder(const char *target)
{
    char *folder = strdup(target);
    if (!folder) return;
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

gn_status *gn_out_close(gn_out *o, gn_status *so_far)
{
    int bad = 0, before = errno; /* of the write that failed, where one has */
    errno = 0;
    if (ferror(o->f))
        bad = before ? before : EIO;
    else if (fflush(o->f) != 0 || (o->temp && fsync(fileno(o->f)) != 0))
        bad = errno ? errno : EIO;
    if (fclose(o->f) != 0 && !bad) bad = errno ? errno : EIO;
    if (!so_far && !bad && o->temp && rename(o->temp, o->target) != 0) bad = errno;
    if (o->temp && (so_far || bad)) unlink(o->temp);
    if (o->temp && !so_far && !bad) sync_folder(o->target);
    if (bad && !so_far)
        so_far = GN_ERROR(GN_ERR_IO, "cannot write '%s': %s", o->target, strerror(bad));
    free(o->target);
    free(o->temp);
    *o = (gn_out){0};
    return so_far;
}
