/* See store.h: directories, files, permissions. */
#include "cache/store.h"

#include "cache/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char subdir[] = "kernels-1";

enum { TOUCH_AFTER = 60 }; /* seconds: how exact the time of the last use is */

gn_store *gn_store_new(const char *path, bool base, int64_t limit)
{
    gn_store *s = calloc(1, sizeof *s);
    char *copy = strdup(path);
    if (!s || !copy) {
        free(s);
        free(copy);
        return NULL;
    }
    s->path = copy;
    s->base = base;
    s->limit = limit;
    atomic_init(&s->dir, -1);
    gn_status *failed = gn_mutex_init(&s->mutex, GN_MUTEX_BRIEF);
    if (!failed) return s;
    gn_status_free(failed);
    free(s);
    free(copy);
    return NULL;
}

void gn_store_free(gn_store *s)
{
    if (!s) return;
    if (s->dir >= 0) close(s->dir);
    gn_mutex_end(&s->mutex);
    free((void *)(uintptr_t)s->path);
    free(s);
}

/* Permissions ---------------------------------------------------------------------------------- */

static bool trusted(const gn_store *s, const struct stat *st, char why[GN_WHY])
{
    uid_t me = geteuid();
    if (st->st_uid != me && !(s->base && st->st_uid == 0)) {
        snprintf(why, GN_WHY, "it belongs to user %u, not to %u", (unsigned)st->st_uid,
                 (unsigned)me);
        return false;
    }
    if (st->st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(why, GN_WHY, "others may write to it (mode %03o)", (unsigned)st->st_mode & 0777);
        return false;
    }
    return true;
}

/* Directories ---------------------------------------------------------------------------------- */

static bool make_path(const char *path, char why[GN_WHY])
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof part) {
        snprintf(why, GN_WHY, "the path is too long");
        return false;
    }
    for (size_t i = 1; i <= n; i++) {
        if (i < n && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0700) == 0 || errno == EEXIST || errno == EISDIR) continue;
        snprintf(why, GN_WHY, "%.300s cannot be made: %s", part, strerror(errno));
        return false;
    }
    return true;
}

/* A directory that may be used; -1 and why, "" when it is not there. */
static int open_dir(const gn_store *s, int at, const char *name, int flags, char why[GN_WHY])
{
    struct stat st;
    *why = 0;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd < 0) {
        if (errno != ENOENT) snprintf(why, GN_WHY, "it cannot be opened: %s", strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) != 0)
        snprintf(why, GN_WHY, "it cannot be opened: %s", strerror(errno));
    else if (trusted(s, &st, why))
        return fd;
    close(fd);
    return -1;
}

static int open_entries(const gn_store *s, bool make, char why[GN_WHY])
{
    *why = 0;
    if (make && !make_path(s->path, why)) return -1;
    int top = open_dir(s, AT_FDCWD, s->path, 0, why);
    if (top < 0) return -1;
    if (make && mkdirat(top, subdir, 0700) != 0 && errno != EEXIST) {
        snprintf(why, GN_WHY, "%s cannot be made: %s", subdir, strerror(errno));
        close(top);
        return -1;
    }
    int fd = open_dir(s, top, subdir, O_NOFOLLOW, why);
    close(top);
    return fd;
}

bool gn_store_attach(gn_store *s, bool make, char why[GN_WHY])
{
    *why = 0;
    gn_mutex_take(&s->mutex);
    if (s->dir < 0 && !s->refused) {
        s->dir = open_entries(s, make && !s->base, why);
        s->refused = s->dir < 0 && *why;
    }
    bool there = s->dir >= 0;
    gn_mutex_leave(&s->mutex);
    return there;
}

/* Files ---------------------------------------------------------------------------------------- */

bool gn_store_name_is_key(const char *name)
{
    return strlen(name) == GN_SHA256_HEX && strspn(name, "0123456789abcdef") == GN_SHA256_HEX;
}

/* A regular file that may be used; -1 and why. */
static int open_file(const gn_store *s, const char *name, struct stat *st, char why[GN_WHY])
{
    *why = 0;
    int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        if (errno != ENOENT) snprintf(why, GN_WHY, "it cannot be opened: %s", strerror(errno));
        return -1;
    }
    if (fstat(fd, st) != 0)
        snprintf(why, GN_WHY, "it cannot be read: %s", strerror(errno));
    else if (!S_ISREG(st->st_mode))
        snprintf(why, GN_WHY, "it is no file");
    else if (trusted(s, st, why))
        return fd;
    close(fd);
    return -1;
}

/* Up to n bytes; fewer where the file ends before. */
static size_t read_some(int fd, unsigned char *p, size_t n)
{
    size_t have = 0;
    while (have < n) {
        ssize_t got = read(fd, p + have, n - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += (size_t)got;
    }
    return have;
}

static unsigned char *read_open(int fd, const struct stat *st, gn_entry *e, char why[GN_WHY])
{
    const char *wrong = "it is too long";
    if (st->st_size <= GN_ENTRY_HEAD + GN_ENTRY_MAX_PARTS + GN_ENTRY_MAX_PAYLOAD) {
        size_t n = (size_t)st->st_size;
        unsigned char *p = malloc(n + 1);
        wrong = p ? gn_entry_read(p, read_some(fd, p, n), e) : "there is no memory for it";
        if (!wrong) return p;
        free(p);
    }
    snprintf(why, GN_WHY, "%s", wrong);
    return NULL;
}

bool gn_store_read_file(gn_store *s, const char *name, unsigned char **bytes, gn_entry *e,
                        char why[GN_WHY])
{
    struct stat st;
    char hex[GN_SHA256_HEX + 1];
    *bytes = NULL;
    int fd = open_file(s, name, &st, why);
    if (fd < 0) return false;
    unsigned char *p = read_open(fd, &st, e, why);
    if (p) {
        gn_sha256_hex(e->key.b, hex);
        if (strcmp(hex, name) != 0) {
            snprintf(why, GN_WHY, "it is an entry of another key");
            free(p);
            p = NULL;
        }
    }
    if (p && !s->base && time(NULL) - st.st_mtime > TOUCH_AFTER) futimens(fd, NULL);
    close(fd);
    *bytes = p;
    return p != NULL;
}

bool gn_store_read(gn_store *s, const gn_key *k, unsigned char **bytes, gn_entry *e,
                   char why[GN_WHY])
{
    char name[GN_SHA256_HEX + 1];
    gn_sha256_hex(k->b, name);
    *bytes = NULL;
    return gn_store_attach(s, false, why) && gn_store_read_file(s, name, bytes, e, why);
}

bool gn_store_parts(gn_store *s, const char *name, char parts[GN_ENTRY_MAX_PARTS + 1])
{
    char why[GN_WHY];
    struct stat st;
    unsigned char head[GN_ENTRY_HEAD];
    size_t n, total;
    int fd = open_file(s, name, &st, why);
    if (fd < 0) return false;
    bool sound = read_some(fd, head, sizeof head) == sizeof head &&
                 !gn_entry_peek(head, &n, &total) && read_some(fd, (unsigned char *)parts, n) == n;
    if (sound) parts[n] = 0;
    close(fd);
    return sound;
}

/* Writing -------------------------------------------------------------------------------------- */

static bool write_all(int fd, const unsigned char *p, size_t n)
{
    while (n) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static int make_temporary(const gn_store *s, char name[64])
{
    static atomic_uint count;
    uint64_t r = 0;
    for (int tries = 0; tries < 8; tries++) {
        if (getrandom(&r, sizeof r, GRND_NONBLOCK) != sizeof r)
            r = (uint64_t)getpid() << 32 | atomic_fetch_add(&count, 1);
        snprintf(name, 64, ".new-%016llx", (unsigned long long)r);
        int fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

bool gn_store_write(gn_store *s, const gn_key *k, const void *bytes, size_t n, char why[GN_WHY])
{
    char temporary[64], name[GN_SHA256_HEX + 1];
    if (!gn_store_attach(s, true, why)) {
        if (!*why) snprintf(why, GN_WHY, "there is no directory for it");
        return false;
    }
    gn_sha256_hex(k->b, name);
    int64_t size = gn_store_rounded((int64_t)n);
    if (size > s->limit) {
        snprintf(why, GN_WHY, "it is larger than the cache may be");
        return false;
    }
    gn_store_reserve(s, size);
    int fd = make_temporary(s, temporary);
    if (fd < 0) {
        snprintf(why, GN_WHY, "no file can be made: %s", strerror(errno));
        return false;
    }
    bool written = write_all(fd, bytes, n);
    written = close(fd) == 0 && written;
    if (written && renameat(s->dir, temporary, s->dir, name) == 0) return true;
    snprintf(why, GN_WHY, "it cannot be written: %s", strerror(errno));
    unlinkat(s->dir, temporary, 0);
    return false;
}
