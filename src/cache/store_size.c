/* How large a store is, and what goes when it is too large.  The lock file holds the number of
 * bytes, counted before they are written, so that it is never too small; a look at all files sets
 * it right when it reaches the limit. */
#include "cache/store.h"

#include "cache/store_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    STALE = 600 /* seconds: nobody writes a file for so long */,
    PATIENCE_MS = 2000
};
static const char temporary[] = ".new-";

typedef struct tally {
    char magic[8];
    int64_t bytes;
} tally;
static const char tally_magic[8] = "GNNSIZE1";

int64_t gn_store_rounded(int64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Files ---------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gn_store_file *)a)->name, ((const gn_store_file *)b)->name);
}

static int by_use(const void *a, const void *b)
{
    const gn_store_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return by_name(a, b);
}

static DIR *open_again(const gn_store *s)
{
    int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0) close(fd);
    return d;
}

/* Temporary files that nobody writes any more are what killed processes left. */
static void sweep(const gn_store *s, const char *name, const struct stat *st, time_t older)
{
    if (!strncmp(name, temporary, sizeof temporary - 1) && st->st_mtime <= older)
        unlinkat(s->dir, name, 0);
}

static bool list(gn_store *s, time_t stale, gn_store_file **files, size_t *n)
{
    DIR *d = open_again(s);
    size_t cap = 0;
    bool whole = d != NULL;
    *files = NULL;
    *n = 0;
    for (struct dirent *e; whole && (e = readdir(d));) {
        struct stat st;
        if (fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!s->base) sweep(s, e->d_name, &st, stale);
        if (!gn_store_name_is_key(e->d_name)) continue;
        if (*n == cap) {
            cap = cap ? 2 * cap : 256;
            gn_store_file *more = realloc(*files, cap * sizeof *more);
            if (!more) {
                whole = false;
                break;
            }
            *files = more;
        }
        gn_store_file *f = &(*files)[(*n)++];
        memcpy(f->name, e->d_name, sizeof f->name);
        f->bytes = gn_store_rounded(st.st_size);
        f->used = st.st_mtim;
    }
    if (d) closedir(d);
    return whole;
}

bool gn_store_list(gn_store *s, gn_store_file **files, size_t *n, char why[GN_WHY])
{
    *files = NULL;
    *n = 0;
    if (!gn_store_attach(s, false, why)) return !*why;
    if (!list(s, time(NULL) - STALE, files, n)) {
        snprintf(why, GN_WHY, "it cannot be read: %s", strerror(errno));
        return false;
    }
    if (*n) qsort(*files, *n, sizeof **files, by_name);
    return true;
}

/* Size ----------------------------------------------------------------------------------------- */

/* Waits for the lock for a while: a process that was stopped while it held it must not stop the
 * others. */
static bool lock_size(int fd)
{
    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        gn_lock l = gn_lock_try(fd, GN_LOCK_SIZE);
        if (l != GN_LOCK_BUSY) return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

static int64_t read_tally(int fd)
{
    tally t;
    if (pread(fd, &t, sizeof t, 0) != sizeof t || memcmp(t.magic, tally_magic, sizeof t.magic) != 0)
        return -1;
    return t.bytes;
}

static void write_tally(int fd, int64_t bytes)
{
    tally t = {.bytes = bytes};
    memcpy(t.magic, tally_magic, sizeof t.magic);
    if (pwrite(fd, &t, sizeof t, 0) == sizeof t) return;
    if (ftruncate(fd, 0) != 0) return; /* the disk is full: the next one counts again */
}

/* Counts all files, and removes the oldest until there is room and a fifth to spare. */
static int64_t make_room(gn_store *s, int64_t bytes)
{
    gn_store_file *files;
    size_t n;
    int64_t total = 0;
    bool whole = list(s, time(NULL) - STALE, &files, &n);
    for (size_t i = 0; i < n; i++) total += files[i].bytes;
    if (whole && total + bytes > s->limit) {
        qsort(files, n, sizeof *files, by_use);
        for (size_t i = 0; i < n && total + bytes > s->limit / 5 * 4; i++)
            if (unlinkat(s->dir, files[i].name, 0) == 0) total -= files[i].bytes;
    }
    free(files);
    return total + bytes;
}

void gn_store_reserve(gn_store *s, int64_t bytes)
{
    int fd = gn_store_lock_file(s);
    if (fd < 0) return;
    if (lock_size(fd)) {
        int64_t total = read_tally(fd);
        bool known = total >= 0 && total <= s->limit - bytes;
        write_tally(fd, known ? total + bytes : make_room(s, bytes));
    }
    close(fd);
}

bool gn_store_clear(gn_store *s, int64_t *n, int64_t *bytes, char why[GN_WHY])
{
    gn_store_file *files;
    size_t count;
    *n = *bytes = 0;
    if (!gn_store_attach(s, false, why)) return !*why;
    int fd = gn_store_lock_file(s);
    /* All temporary files: those written just now too, whose time is of a clock that may be ahead
     * of this one. */
    bool locked = fd >= 0 && lock_size(fd), whole = list(s, time(NULL) + 2, &files, &count);
    if (!whole) snprintf(why, GN_WHY, "it cannot be read: %s", strerror(errno));
    for (size_t i = 0; i < count; i++) {
        if (unlinkat(s->dir, files[i].name, 0) == 0) {
            *bytes += files[i].bytes;
            ++*n;
        } else if (errno != ENOENT) {
            snprintf(why, GN_WHY, "%s cannot be removed: %s", files[i].name, strerror(errno));
            whole = false;
        }
    }
    if (locked && whole) write_tally(fd, 0);
    if (fd >= 0) close(fd);
    free(files);
    return whole;
}
