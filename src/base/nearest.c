/* nearest: which word was meant, by edit distance. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* With neighbours that changed places as one edit (Damerau, "A technique for computer detection and
 * correction of spelling errors", 1964). */
static size_t edit_distance(const char *a, const char *b)
{
    enum { ROOM = GN_NAME_MOST + 1 };
    size_t n = strlen(a), m = strlen(b), rows[3][ROOM], *before = rows[0], *last = rows[1],
           *row = rows[2];
    if (n > GN_NAME_MOST || m > GN_NAME_MOST) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

/* Every letter is near every other, so one alone is near itself in the other case only; what a
 * longer word begins with is near. */
const char *gn_nearest(const char *name, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    size_t length = strlen(name), limit = (length + 2) / 3, found = limit + 1;
    for (size_t i = 0; i < n; i++) {
        bool begins = length > 2 && strncmp(name, candidates[i], length) == 0;
        bool same = strcasecmp(name, candidates[i]) == 0;
        size_t d = same ? 0 : begins ? 1 : edit_distance(name, candidates[i]);
        bool apart = d > 1 &&
                     tolower((unsigned char)name[0]) != tolower((unsigned char)candidates[i][0]);
        if (d < found && (length > 1 || same) && !apart) {
            found = d;
            best = candidates[i];
        }
    }
    return best;
}

/* "a, b or c", as much as fits. */
static void list_words(const char *const *words, size_t n, char *to, size_t room)
{
    size_t at = 0;
    *to = 0;
    for (size_t k = 0; k < n && at < room; k++) {
        const char *between = k == 0 ? "" : k + 1 < n ? ", " : " or ";
        at += (size_t)snprintf(to + at, room - at, "%s%s", between, words[k]);
    }
}

gn_status *gn_choose(const char *what, const char *name, const char *const *words, size_t n,
                     int *out)
{
    char list[256];
    *out = 0;
    if (!name) return NULL;
    for (size_t k = 0; k < n; k++)
        if (!strcmp(name, words[k])) {
            *out = (int)k;
            return NULL;
        }
    list_words(words, n, list, sizeof list);
    GN_FAIL(GN_ERR_USAGE, "there is no %s '%s': %s%s", what, name, list,
            gn_did_you_mean(name, words, n).text);
}

gn_suggestion gn_did_you_mean(const char *name, const char *const *candidates, size_t n)
{
    gn_suggestion s = {""};
    const char *near = gn_nearest(name, candidates, n);
    if (near) (void)snprintf(s.text, sizeof s.text, "; did you mean '%s'?", near);
    return s;
}
