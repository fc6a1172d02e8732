#include "cli/irfile.h"

#include "ir/gir_reduce.h"
#include "ir/kir_reduce.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct candidate {
    char path[64];
    char **argv; /* the command, then the path, then NULL */
    gn_arena *arena;
    gn_status *error; /* the command could not be started */
} candidate;

/* Writes the text and asks the command. */
static bool shows(candidate *c, const gn_buf *text)
{
    pid_t pid;
    int status = 0;
    if (c->error) return false;
    c->error = gn_cli_write_text(c->path, text);
    if (c->error) return false;
    int e = posix_spawnp(&pid, c->argv[0], NULL, NULL, c->argv, environ);
    if (e) {
        c->error = GN_ERROR(GN_ERR_USAGE, "%s: %s", c->argv[0], strerror(e));
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool program_shows(void *user, const gir_program *p)
{
    candidate *c = user;
    gn_arena a;
    gn_arena_init(&a);
    gn_buf b = {.arena = &a};
    gir_print(p, &b);
    bool yes = shows(c, &b);
    gn_arena_free(&a);
    return yes;
}

static bool kernel_shows(void *user, const kir_kernel *k)
{
    candidate *c = user;
    gn_arena a;
    gn_arena_init(&a);
    gn_buf b = {.arena = &a};
    kir_print(k, &b);
    bool yes = shows(c, &b);
    gn_arena_free(&a);
    return yes;
}

static gn_status *shrink(const gn_cli *cli, candidate *c, const gn_ir *ir, gn_buf *out)
{
    bool holds = ir->kernel ? kernel_shows(c, ir->kernel) : program_shows(c, ir->program);
    if (c->error) return c->error;
    if (!holds)
        GN_FAIL(GN_ERR_USAGE, "%s does not show the defect: '%s' did not exit with 0",
                cli->args.p[0], c->argv[0]);
    if (ir->kernel)
        kir_print(kir_reduce(cli->arena, ir->kernel, kernel_shows, c, 0), out);
    else
        gir_print(gir_reduce_program(cli->arena, ir->program, program_shows, c, 0), out);
    return c->error;
}

static gn_status *reduce(gn_cli *cli)
{
    gn_ir ir;
    GN_TRY(gn_cli_read_ir(cli, cli->args.p[0], &ir));
    candidate c = {.arena = cli->arena};
    size_t n = (size_t)cli->args.n - 1;
    c.argv = GN_NEW_N(cli->arena, char *, n + 2);
    for (size_t k = 0; k < n; k++) c.argv[k] = gn_arena_strdup(cli->arena, cli->args.p[k + 1]);
    snprintf(c.path, sizeof c.path, "/tmp/gnnc-reduce-XXXXXX");
    int fd = mkstemp(c.path);
    if (fd < 0) GN_FAIL(GN_ERR_IO, "%s: %s", c.path, strerror(errno));
    close(fd);
    c.argv[n] = c.path;
    gn_buf out = {.arena = cli->arena};
    gn_status *s = shrink(cli, &c, &ir, &out);
    unlink(c.path);
    return s ? s : gn_cli_write_text(cli->opt.output, &out);
}

const gn_command gn_command_reduce = {
    .name = "reduce",
    .usage = "reduce FILE [options] -- COMMAND...",
    .summary = "shrink a program that shows a defect",
    .about = "Makes a program in tensor IR, or a kernel in loop IR, smaller while COMMAND, with "
             "the path of the\n"
             "candidate as its last argument, still exits with 0; prints the smallest one found.\n",
    .examples = "  gnnc reduce bad.gir -o small.gir -- ./shows-the-defect.sh\n",
    .min_args = 2,
    .max_args = -1,
    .run = reduce,
};
