#include "cli/bench/child.h"

#include "compile/compile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

enum { TAIL = 8192, LINE = 500, SLICE_MS = 50 };

typedef struct tail {
    char text[2 * TAIL]; /* the last of what came; at least TAIL bytes of it */
    size_t n;
} tail;

static void keep(tail *t, const char *bytes, size_t n)
{
    if (n > TAIL) {
        bytes += n - TAIL;
        n = TAIL;
    }
    if (t->n + n > sizeof t->text) {
        memmove(t->text, t->text + t->n - TAIL, TAIL);
        t->n = TAIL;
    }
    memcpy(t->text + t->n, bytes, n);
    t->n += n;
}

static bool breaks(char c) { return c == '\n' || c == '\r'; }

/* The last line with a letter or a digit in it, without what a terminal would take for a
 * command. */
static const char *last_line(gn_arena *a, const tail *t)
{
    size_t end = t->n, begin;
    while (end > 0 && !isalnum((unsigned char)t->text[end - 1])) end--;
    while (end < t->n && !breaks(t->text[end])) end++;
    begin = end;
    while (begin > 0 && !breaks(t->text[begin - 1]) && end - begin < LINE) begin--;
    char *line = gn_arena_strndup(a, t->text + begin, end - begin);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
    return line;
}

/* In the child, between fork and exec: only what is safe there. */
static _Noreturn void become(const gn_child_options *o, int to, pid_t parent)
{
    setpgid(0, 0);
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); /* it has gone already */
#else
    (void)parent;
#endif
    int none = open("/dev/null", O_RDWR);
    int out = o->output ? open(o->output, O_WRONLY | O_CREAT | O_TRUNC, 0666) : none;
    if (none < 0 || out < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(to, STDERR_FILENO) < 0)
        _exit(127);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execv(o->argv[0], o->argv);
    static const char text[] = "the program cannot be started\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n;
    _exit(127);
}

/* Reads what there is for a slice of time at most; false at its end. */
static bool listen_to(int from, tail *t)
{
    char bytes[4096];
    struct pollfd p = {.fd = from, .events = POLLIN};
    if (poll(&p, 1, SLICE_MS) <= 0) return true;
    ssize_t n = read(from, bytes, sizeof bytes);
    if (n > 0) keep(t, bytes, (size_t)n);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static void nap(void)
{
    struct timespec ms = {.tv_nsec = 2000000};
    nanosleep(&ms, NULL);
}

/* Until it has ended, its time is over, or somebody wants it to stop. */
static void attend(const gn_child_options *o, pid_t pid, int from, tail *t, gn_child *out)
{
    double begin = gn_now_ms();
    bool open = true, killed = false;
    struct rusage use = {0};
    int status = 0;
    for (;;) {
        if (open)
            open = listen_to(from, t);
        else
            nap();
        pid_t ended = wait4(pid, &status, WNOHANG, &use);
        if (ended == pid || (ended < 0 && errno != EINTR)) break;
        bool stop = o->stop && *o->stop, late = gn_now_ms() - begin > o->timeout_s * 1e3;
        if (killed || (!stop && !late)) continue;
        out->end = stop ? GN_CHILD_STOPPED : GN_CHILD_TIMEOUT;
        killed = true;
        if (kill(-pid, SIGKILL)) kill(pid, SIGKILL);
    }
    kill(-pid, SIGKILL);                    /* what it started and left behind */
    for (int k = 0; open && k < 100; k++) { /* what it said last */
        struct pollfd p = {.fd = from, .events = POLLIN};
        if (poll(&p, 1, 0) <= 0) break;
        open = listen_to(from, t);
    }
    out->ms = gn_now_ms() - begin;
#if defined(__APPLE__)
    out->rss_bytes = use.ru_maxrss;
#else
    out->rss_bytes = (int64_t)use.ru_maxrss * 1024;
#endif
    if (killed) return;
    out->end = WIFSIGNALED(status) ? GN_CHILD_SIGNALLED : GN_CHILD_EXITED;
    out->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

gn_status *gn_child_run(gn_arena *a, const gn_child_options *o, gn_child *out)
{
    *out = (gn_child){.last_line = ""};
    int ends[2];
    tail *t = GN_NEW(a, tail);
    if (pipe(ends)) GN_FAIL(GN_ERR_IO, "no pipe to a process: %s", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t self = getpid(), pid = fork();
    if (pid < 0) {
        int e = errno;
        close(ends[0]);
        close(ends[1]);
        GN_FAIL(GN_ERR_IO, "no process could be started: %s", strerror(e));
    }
    if (pid == 0) become(o, ends[1], self);
    setpgid(pid, pid); /* here as well: whoever is first */
    close(ends[1]);
    attend(o, pid, ends[0], t, out);
    close(ends[0]);
    out->last_line = last_line(a, t);
    return NULL;
}
