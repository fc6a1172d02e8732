/* --device: a name to what runs models. */
#include "cli/device_option.h"

#include "target/target.h"
#include "runtime/memory.h"

#include <stdlib.h>
#include <string.h>

gn_status *gn_cli_device_of(const gn_cli *cli, gn_device_choice *out)
{
    const char *d = cli->opt.device;
    if (gn_device_parse(d, out)) return NULL;
    /* other tools' name of it, and near `cpu` */
    const char *meant = strncmp(d, "gpu", 3) ? d : "cuda";
    GN_FAIL(GN_ERR_USAGE, "--device %s: expected cpu, cuda, cuda:N or auto%s", d,
            gn_args_suggest(cli->arena, "", meant, gn_device_names, GN_DEVICE_NAMES));
}

static gn_status *open_target(gn_cli *cli, int ordinal)
{
    gn_buf compiler = {.arena = cli->arena};
    gn_status *s = gn_target_open(NULL, ordinal, &cli->target);
    if (!s && !cli->cache)
        s = gn_cuda_describe(&compiler); /* a cache may have all that is needed */
    return s;
}

gn_status *gn_cli_open_device(gn_cli *cli)
{
    gn_device_choice d;
    GN_TRY(gn_cli_device_of(cli, &d));
    if (!d.gpu) return NULL;
    gn_status *s = open_target(cli, d.ordinal);
    if (s && d.any) {
        if (cli->opt.verbose) fprintf(stderr, "device: cpu, since %s\n", gn_status_message(s));
        gn_status_free(s);
        gn_target_close(cli->target);
        cli->target = NULL;
        return NULL;
    }
    GN_TRY(s);
    gn_memory_keep(); /* NVRTC frees what it takes, object by object */
    const gn_cuda_info *about = gn_cuda_device_about(cli->target->device);
    if (!cli->opt.quiet)
        fprintf(stderr, "device: cuda:%d, %s (sm_%d), %.1f GB\n", about->ordinal, about->name,
                cli->target->arch, (double)about->total_bytes / 1e9);
    return NULL;
}
