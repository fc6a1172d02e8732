/* Locks on bytes of a file, of the kind that belongs to the open file rather than to the process:
 * two threads that open it exclude each other too, and a process that dies takes its own along. */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "lock";

int gn_store_lock_file(gn_store *s)
{
    struct stat st;
    if (s->base || s->dir < 0) return -1;
    int fd = openat(s->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0) return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()) return fd;
    close(fd);
    return -1;
}

#ifdef F_OFD_SETLK
static int lock(int fd, int what, short type, int64_t byte, int64_t n, struct flock *l)
{
    *l = (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = (off_t)n};
    int r;
    do r = fcntl(fd, what, l);
    while (r != 0 && errno == EINTR);
    return r;
}

gn_lock gn_lock_try(int fd, int64_t byte)
{
    struct flock l;
    if (lock(fd, F_OFD_SETLK, F_WRLCK, byte, 1, &l) == 0) return GN_LOCKED;
    return errno == EAGAIN || errno == EACCES ? GN_LOCK_BUSY : GN_LOCK_NONE;
}

bool gn_lock_busy(int fd, int64_t byte)
{
    struct flock l;
    return lock(fd, F_OFD_GETLK, F_WRLCK, byte, 1, &l) == 0 && l.l_type != F_UNLCK;
}

void gn_lock_drop_from(int fd, int64_t byte)
{
    struct flock l;
    lock(fd, F_OFD_SETLK, F_UNLCK, byte, 0, &l);
}
#else
gn_lock gn_lock_try(int fd, int64_t byte)
{
    (void)fd, (void)byte;
    return GN_LOCK_NONE;
}

bool gn_lock_busy(int fd, int64_t byte)
{
    (void)fd, (void)byte;
    return false;
}

void gn_lock_drop_from(int fd, int64_t byte) { (void)fd, (void)byte; }
#endif
