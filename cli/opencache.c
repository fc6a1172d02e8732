/* Options and environment to a cache. */
#include "cli/session_options.h"

#include "cache/cache.h"

#include <string.h>

static void say(void *ctx, gn_cache_word what, const char *text)
{
    (void)ctx;
    fprintf(stderr, "%s: %s\n", what == GN_CACHE_WARNING ? "gnnc: warning" : "cache", text);
}

gn_status *gn_cli_debugging(const gn_cli *cli, const char *topic, bool *on)
{
    static const char *const topics[] = {"cache", "recompiles"};
    enum { TOPICS = sizeof topics / sizeof *topics };
    *on = false;
    for (uint32_t i = 0; i < cli->opt.debug.n; i++) {
        char *rest = gn_arena_strdup(cli->arena, cli->opt.debug.p[i]);
        for (char *name; (name = strtok_r(rest, ",", &rest));) {
            size_t k = 0;
            while (k < TOPICS && strcmp(name, topics[k]) != 0) k++;
            if (k == TOPICS)
                GN_FAIL(GN_ERR_USAGE,
                        "--debug: there is no topic '%s'%s\n  it is one of cache, recompiles", name,
                        gn_args_suggest(cli->arena, "", name, topics, TOPICS));
            *on = *on || !strcmp(name, topic);
        }
    }
    return NULL;
}

gn_status *gn_cli_open_cache(gn_cli *cli)
{
    gn_cache_options o = {.say = say};
    bool on;
    GN_TRY(gn_cli_debugging(cli, "cache", &o.notes));
    GN_TRY(gn_cache_environment(cli->arena, &o, &on));
    if (cli->opt.cache_dir) {
        o.dir = cli->opt.cache_dir;
        on = true;
    }
    if (!on) return NULL;
    return gn_cache_new(&o, &cli->cache);
}
