/* Shared libraries: the one thing here that takes a linker. */
#include "aot/aot.h"

#include "base/processor.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const linkers[] = {"ld", "ld.lld", "ld.gold", "ld.lld-19"};
enum { LINKERS = sizeof linkers / sizeof *linkers };

/* The first name of the list that any folder of $PATH has. */
static const char *find_linker(gn_arena *a)
{
    const char *path = getenv("PATH");
    for (int k = 0; path && k < LINKERS; k++)
        for (const char *p = path; *p;) {
            size_t n = strcspn(p, ":");
            const char *file = gn_arena_printf(a, "%.*s/%s", (int)n, p, linkers[k]);
            if (n && access(file, X_OK) == 0) return file;
            p += n + (p[n] == ':');
        }
    return NULL;
}

/* Runs it, and keeps what it says. */
static gn_status *run_linker(gn_arena *a, char *const *args, gn_buf *said)
{
    int ends[2], code = 0;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC)) GN_FAIL(GN_ERR_IO, "%s: %s", args[0], strerror(errno));
    bool made = posix_spawn_file_actions_init(&actions) == 0;
    if (made) {
        code = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        if (!code) code = posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
        if (!code) code = posix_spawn(&child, args[0], &actions, NULL, args, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (!made || code) {
        close(ends[0]);
        GN_FAIL(GN_ERR_BACKEND, "%s cannot be started: %s", args[0],
                strerror(made ? code : ENOMEM));
    }
    char part[4096];
    ssize_t got;
    *said = (gn_buf){.arena = a};
    gn_buf_add(said, "");
    while ((got = read(ends[0], part, sizeof part)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0 && said->n < 16 * sizeof part) gn_buf_addn(said, part, (size_t)got);
    close(ends[0]);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) continue;
    while (said->n && said->p[said->n - 1] == '\n') said->p[--said->n] = 0;
    if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return NULL;
    GN_FAIL(GN_ERR_BACKEND, "%s failed: %s", args[0], said->n ? said->p : "it says nothing");
}

static gn_status *write_object(const char *path, const gn_buf *object)
{
    gn_out o;
    GN_TRY(gn_out_open(&o, path));
    fwrite(object->p, 1, object->n, o.f);
    return gn_out_close(&o, NULL);
}

/* The C library is named by its file: what only headers and a compiler would bring along is not
 * needed.  ld knows where it lies, others are told: in /lib64, and where Debian and its like have
 * the libraries of each architecture. */
static gn_status *link_to(gn_arena *a, const char *linker, const char *object, const char *name,
                          const char *out)
{
    const char *args[] = {linker,
                          "-shared",
                          "-soname",
                          name,
                          "-z",
                          "now",
                          "-z",
                          "relro",
                          "-z",
                          "noexecstack",
                          "-z",
                          "defs",
                          "--build-id=none",
                          "--gc-sections",
                          "--hash-style=gnu",
                          "--as-needed",
                          "-o",
                          out,
                          object,
                          "-L/lib64",
                          "-L/usr/lib64",
                          "-L/lib/" GN_MULTIARCH,
                          "-L/usr/lib/" GN_MULTIARCH,
                          "-l:libm.so.6",
                          "-l:libc.so.6",
                          NULL};
    gn_buf said;
    return run_linker(a, (char *const *)(uintptr_t)args, &said);
}

/* The linker makes a file of its own, whatever the name is for: what it made is copied to where it
 * belongs. */
static gn_status *copy_to(gn_out *out, const char *made)
{
    char part[1 << 16];
    size_t n;
    struct stat st;
    FILE *f = fopen(made, "rbe");
    if (!f) GN_FAIL(GN_ERR_IO, "cannot read '%s': %s", made, strerror(errno));
    while ((n = fread(part, 1, sizeof part, f)) > 0) fwrite(part, 1, n, out->f);
    gn_status *s = ferror(f) ? GN_ERROR(GN_ERR_IO, "cannot read '%s': %s", made, strerror(errno))
                             : NULL;
    fclose(f);
    /* like linkers: who may read it may execute it */
    if (out->temp && fstat(fileno(out->f), &st) == 0)
        (void)!fchmod(fileno(out->f), st.st_mode | (st.st_mode & 0444) >> 2);
    return s;
}

/* In a folder of its own: the object's name stands in the library, which has the same bytes every
 * time. */
static gn_status *link_into(gn_arena *a, gn_out *out, const char *linker, const gn_buf *object,
                            const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = gn_arena_printf(a, "%s.XXXXXX", out->temp ? out->temp : "/tmp/gnnc");
    if (!mkdtemp(folder)) GN_FAIL(GN_ERR_IO, "cannot create '%s': %s", folder, strerror(errno));
    const char *from = gn_arena_printf(a, "%s/gnnc.o", folder),
               *to = gn_arena_printf(a, "%s/gnnc.so", folder);
    gn_status *s = write_object(from, object);
    if (!s) s = gn_status_annotate(link_to(a, linker, from, name, to), "%s", path);
    if (!s) s = copy_to(out, to);
    unlink(to);
    unlink(from);
    rmdir(folder);
    return s;
}

gn_status *gn_aot_link(gn_arena *a, const gn_buf *object, const char *path)
{
    gn_out out;
    const char *linker = find_linker(a);
    if (!linker)
        GN_FAIL(GN_ERR_BACKEND,
                "%s: a shared library takes the system's linker, and there is no ld, ld.lld, "
                "ld.gold or "
                "ld.lld-19 in $PATH (Debian has ld in binutils); a .o or a .a takes none",
                path);
    GN_TRY(gn_out_open(&out, path));
    return gn_out_close(&out, link_into(a, &out, linker, object, path));
}
