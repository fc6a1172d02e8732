/* gnnc: finds the subcommand, reads its options, runs it, reports. */
#include "cli/command.h"
#include "base/nearest.h"
#include "cache/cache.h"
#include "target/doctor.h"
#include "target/target.h"
#include "cli/pages.h"
#include "cli/report.h"
#include "cli/sample.h"
#include "codegen/cuda/cuda.h"

#include <string.h>
#include <unistd.h>

static const gn_command *const commands[] = {
#define X(name) &gn_command_##name,
    GN_COMMANDS(X)
#undef X
};

static void print_overview(FILE *to)
{
    fprintf(to, "gnnc compiles graph neural networks.\n\n"
                "usage: gnnc MODEL.gnn [options]\n"
                "       gnnc COMMAND [options]\n\ncommands:\n");
    for (int i = 0; i < GN_COMMAND_COUNT; i++)
        fprintf(to, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\nA model without a command is compiled.  gnnc COMMAND --help says more.\n\n"
                "examples:\n"
                "  gnnc train gcn.gnn               train on the built-in graph\n"
                "  gnnc train gat.gnn --data cora   train on a graph of your own\n"
                "  gnnc gcn.gnn --emit=kir          see the loops that it becomes\n\n"
                "exit status: 0 done, 1 the model or the run is at fault, 2 usage, 3 bad data,\n"
                "4 a back end is missing, 70 a defect of gnnc, 130 ended early by Ctrl-C\n");
}

static void print_page(const gn_command *c, int at, FILE *to)
{
    fprintf(to, "usage: gnnc %s\n\n%s\noptions:\n", c->usage, c->about);
    gn_args_help(&gn_cli_option_table, 1u << at, to);
    fprintf(to, "\nexamples:\n%s", c->examples);
}

static void print_version(gn_arena *arena, FILE *to)
{
    fprintf(to, "gnnc %s\n", GNNC_VERSION);
    fprintf(to, "CPU back end: %s\n", GNNC_HAVE_LLVM ? "LLVM " GNNC_LLVM_VERSION : "not built");
    gn_buf b = {.arena = arena};
    gn_status *s = gn_cuda_describe(&b);
    fprintf(to, "CUDA back end: %s\n", s ? "no NVRTC (gnnc doctor says what was looked for)" : b.p);
    gn_status_free(s);
    gn_buf devices = {.arena = arena}, lines = {.arena = arena};
    s = gn_doctor_devices(&devices);
    gn_doctor_lines(&lines, "CUDA driver",
                    s ? "none (gnnc doctor says what was looked for)" : devices.p);
    fputs(lines.p, to);
    gn_status_free(s);
    gn_buf products = {.arena = arena};
    s = gn_products_describe(&products);
    fprintf(to, "CUDA products: %s\n",
            s ? "kernels alone; no cuBLASLt (gnnc doctor says what was looked for)" : products.p);
    gn_status_free(s);
}

static int find_command(const char *name)
{
    for (int i = 0; i < GN_COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, name)) return i;
    return -1;
}

/* A first word that is neither a command nor looks like a file was meant as a command. */
static gn_status *check_word(gn_arena *arena, const char *word)
{
    const char *names[GN_COMMAND_COUNT + 1] = {[GN_COMMAND_COUNT] = "help"};
    if (strpbrk(word, "./") || !access(word, F_OK) || gn_cli_find_model(arena, word)) return NULL;
    for (int i = 0; i < GN_COMMAND_COUNT; i++) names[i] = commands[i]->name;
    GN_FAIL(GN_ERR_USAGE, "no command and no file '%s'%s", word,
            gn_args_suggest(arena, "", word, names, sizeof names / sizeof *names));
}

/* The model's file; a name that is none stays, for who reads it to say so. */
static void find_model(gn_cli *cli, uint32_t at)
{
    const char *name = cli->args.p[at], *path = gn_cli_find_model(cli->arena, name);
    if (!path || path == name) return;
    if (!cli->opt.quiet) fprintf(stderr, "%s: none here, so it is %s\n", name, path);
    cli->args.p[at] = path;
}

static gn_status *run_command(gn_arena *arena, int at, int argc, char **argv)
{
    const gn_command *c = commands[at];
    gn_cli cli = {.arena = arena};
    gn_cli_options_init(&cli.opt);
    GN_TRY(gn_args_parse(&gn_cli_option_table, 1u << at, argc, argv, arena, &cli.opt, &cli.args));
    if (cli.opt.help) {
        print_page(c, at, stdout);
        return NULL;
    }
    if ((int)cli.args.n < c->min_args)
        GN_FAIL(GN_ERR_USAGE, "'%s' needs %s\n  usage: gnnc %s", c->name,
                cli.args.n ? "more" : "a file", c->usage);
    if (c->max_args >= 0 && (int)cli.args.n > c->max_args)
        GN_FAIL(GN_ERR_USAGE, "'%s' does not know what to do with '%s'\n  usage: gnnc %s", c->name,
                cli.args.p[c->max_args], c->usage);
    uint32_t models = !c->takes_model || !cli.args.n ? 0 : c->max_args < 0 ? cli.args.n : 1;
    for (uint32_t k = 0; k < models; k++) find_model(&cli, k);
    gn_status *s = c->run(&cli);
    gn_target_close(cli.target);
    gn_cache_free(cli.cache);
    return s;
}

static gn_status *help(gn_arena *arena, int argc, char **argv)
{
    if (argc < 1) {
        print_overview(stdout);
        return NULL;
    }
    int at = find_command(argv[0]);
    if (at < 0) {
        GN_TRY(check_word(arena, argv[0]));
        GN_FAIL(GN_ERR_USAGE, "no command '%s'", argv[0]);
    }
    print_page(commands[at], at, stdout);
    return NULL;
}

/* Pages and completions are made when gnnc is built: `gnnc --man train`, `gnnc --completion
 * bash`. */
static gn_status *print_written(gn_arena *arena, int argc, char **argv)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    if (argc != 2)
        GN_FAIL(GN_ERR_USAGE, "%s: expected %s", argv[0],
                argv[0][2] == 'm' ? "a command" : "a shell");
    if (argv[0][2] == 'm') {
        int at = find_command(argv[1]);
        if (at < 0) GN_FAIL(GN_ERR_USAGE, "--man: no command '%s'", argv[1]);
        gn_page_man(commands[at], 1u << at, stdout);
        return NULL;
    }
    int k;
    GN_TRY(gn_choose("shell", argv[1], shells, 3, &k));
    (k == 0 ? gn_page_bash : k == 1 ? gn_page_zsh : gn_page_fish)(arena, commands, stdout);
    return NULL;
}

static gn_status *dispatch(gn_arena *arena, int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        GN_FAIL(GN_ERR_USAGE, "a model or a command is missing");
    }
    const char *word = argv[1];
    if (!strcmp(word, "--version") || !strcmp(word, "version")) {
        print_version(arena, stdout);
        return NULL;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        return help(arena, argc - 2, argv + 2);
    if (!strcmp(word, "--man") || !strcmp(word, "--completion"))
        return print_written(arena, argc - 1, argv + 1);
    int at = word[0] == '-' ? -1 : find_command(word);
    if (at >= 0) return run_command(arena, at, argc - 2, argv + 2);
    if (word[0] != '-') GN_TRY(check_word(arena, word));
    return run_command(arena, GN_COMMAND_AT_compile, argc - 1, argv + 1);
}

static gn_arena arena; /* outlives the jump of a failed allocation */

int main(int argc, char **argv)
{
    jmp_buf out_of_memory;
    gn_status *s;
    gn_arena_init(&arena);
    arena.oom = &out_of_memory;
    if (setjmp(out_of_memory))
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: %zu bytes were asked for", arena.wanted);
    else
        s = dispatch(&arena, argc, argv);
    if (!s && (fflush(stdout) || ferror(stdout)))
        s = GN_ERROR(GN_ERR_IO, "standard output could not be written");
    int status = gn_cli_report(s, stderr);
    gn_arena_free(&arena);
    return status;
}
