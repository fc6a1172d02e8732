#include "cli/sample.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *path) { return access(path, R_OK) == 0; }

/* The folder that this program lies in; NULL: it cannot be told. */
static const char *program_folder(gn_arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || n >= (ssize_t)sizeof path - 1) return NULL;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return NULL;
    return gn_arena_strndup(a, path, (size_t)(slash - path));
}

const char *gn_cli_find_model(gn_arena *a, const char *name)
{
    static const char folder[] = "samples/", end[] = ".gnn";
    const char *places[] = {"/../share/gnnc/samples/", "/../samples/"};
    size_t n = strlen(name), m = strlen(end);
    if (access(name, F_OK) == 0) return name; /* what is wrong with it is said where it is read */
    if (n < m || strcmp(name + n - m, end) != 0) name = gn_arena_printf(a, "%s%s", name, end);
    if (is_there(name)) return name;
    const char *base = strncmp(name, folder, strlen(folder)) == 0 ? name + strlen(folder) : name;
    const char *beside = program_folder(a);
    if (!beside || strchr(base, '/')) return NULL;
    for (int k = 0; k < 2; k++) {
        const char *path = gn_arena_printf(a, "%s%s%s", beside, places[k], base);
        if (is_there(path)) return path;
    }
    return NULL;
}
