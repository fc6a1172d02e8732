/* --device: a name to what runs models. */
#include "cli/device.h"

#include "driver/target.h"

#include <stdlib.h>
#include <string.h>

gn_status *gn_cli_device_of(const gn_cli *cli, gn_cli_device *out)
{
    static const char *const names[] = {"cpu", "cuda", "cuda:0", "auto"};
    const char *d = cli->opt.device;
    *out = (gn_cli_device){0};
    if (!d || !strcmp(d, "cpu")) return NULL;
    out->cuda = true;
    if (!strcmp(d, "cuda")) return NULL;
    if (!strcmp(d, "auto")) {
        out->any = true;
        return NULL;
    }
    if (!strncmp(d, "cuda:", 5) && d[5] >= '0' && d[5] <= '9') {
        char *end;
        long n = strtol(d + 5, &end, 10);
        if (!*end && n < 1024) {
            out->ordinal = (int)n;
            return NULL;
        }
    }
    GN_FAIL(GN_ERR_USAGE, "--device %s: expected cpu, cuda, cuda:N or auto%s", d,
            gn_args_suggest(cli->arena, "", d, names, sizeof names / sizeof *names));
}

static gn_status *open_target(gn_cli *cli, int ordinal)
{
    gn_buf compiler = {.arena = cli->arena};
    gn_status *s = gn_target_open(NULL, ordinal, &cli->target);
    if (!s && !cli->cache) s = gn_cuda_describe(&compiler); /* a cache may have all that is needed */
    return s;
}

gn_status *gn_cli_open_device(gn_cli *cli)
{
    gn_cli_device d;
    GN_TRY(gn_cli_device_of(cli, &d));
    if (!d.cuda) return NULL;
    if (cli->opt.tune_lock) GN_FAIL(GN_ERR_USAGE, "--tune-lock does not go with --device %s", cli->opt.device);
    gn_status *s = open_target(cli, d.ordinal);
    if (s && d.any) {
        if (cli->opt.verbose) fprintf(stderr, "device: cpu, since %s\n", gn_status_message(s));
        gn_status_free(s);
        gn_target_close(cli->target);
        cli->target = NULL;
        return NULL;
    }
    GN_TRY(s);
    const gn_cuda_info *about = gn_cuda_device_about(cli->target->device);
    if (!cli->opt.quiet)
        fprintf(stderr, "device: cuda:%d, %s (sm_%d), %.1f GB\n", about->ordinal, about->name, cli->target->arch,
                (double)about->total_bytes / 1e9);
    if (cli->opt.mode && gn_modes[gn_mode_by_name(cli->opt.mode)].tune && !cli->opt.quiet)
        fprintf(stderr, "%s: schedules are not searched for on a GPU; those of the rules are used\n", cli->opt.mode);
    return NULL;
}
