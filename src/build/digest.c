/* digest: of a program's text, whatever lines of the model it comes from. */
#include "build/build.h"

#include "cache/sha256.h"

const char *gn_program_digest(gn_arena *a, const gir_program *p)
{
    unsigned char digest[GN_SHA256_BYTES];
    char hex[GN_SHA256_HEX + 1];
    gir_program *bare = gir_clone(a, p);
    for (gir_id v = 1; v < bare->nodes.n; v++) bare->nodes.p[v].loc = (gir_loc){0};
    bare->files.n = 0;
    gn_buf text = {.arena = a};
    gir_print(bare, &text);
    gn_sha256_of(text.p, text.n, digest);
    gn_sha256_hex(digest, hex);
    return gn_arena_strdup(a, hex);
}
