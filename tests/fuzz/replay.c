/* Replays files through a fuzzer's entry without libFuzzer: replay <file or folder>... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    uint8_t *data = NULL;
    size_t size = 0, cap = 0;
    for (;;) {
        if (size == cap) {
            cap = cap ? 2 * cap : 4096;
            uint8_t *more = realloc(data, cap);
            if (!more) abort();
            data = more;
        }
        size_t got = fread(data + size, 1, cap - size, f);
        if (!got) break;
        size += got;
    }
    fclose(f);
    /* An exact copy: a read past the end is a read past an allocation. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) abort();
    for (size_t i = 0; i < size; i++) exact[i] = data[i];
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    replayed++;
    return 0;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(st.st_mode)) return replay_file(path);
    DIR *d = opendir(path);
    if (!d) {
        perror(path);
        return 1;
    }
    int bad = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char sub[4096];
        if (e->d_name[0] == '.') continue;
        if (snprintf(sub, sizeof sub, "%s/%s", path, e->d_name) < (int)sizeof sub)
            bad |= replay(sub);
    }
    closedir(d);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++) bad |= replay(argv[i]);
    printf("%zu inputs replayed\n", replayed);
    return bad || !replayed;
}
