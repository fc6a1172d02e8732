#include "cli/action.h"

#include <string.h>

gn_status *gn_find_action(const gn_cli *cli, const gn_command *command, const gn_action *actions,
                          int n, const gn_action **out)
{
    const char *word = cli->args.p[0], **names = GN_NEW_N(cli->arena, const char *, n);
    *out = NULL;
    for (int k = 0; k < n; k++) {
        names[k] = actions[k].name;
        if (!strcmp(word, names[k])) *out = &actions[k];
    }
    if (!*out)
        GN_FAIL(GN_ERR_USAGE, "'%s' has no '%s'%s\n  usage: gnnc %s", command->name, word,
                gn_args_suggest(cli->arena, "", word, names, n), command->usage);
    if (cli->args.n != (*out)->args + 1)
        GN_FAIL(GN_ERR_USAGE, "'%s %s' takes %s\n  usage: gnnc %s", command->name, word,
                (*out)->takes, command->usage);
    return NULL;
}
