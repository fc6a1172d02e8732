#include "runtime/data/known.h"

#include "runtime/data/edges.h"
#include "runtime/data/mem.h"

enum { HEAD, KIND, TAIL, ENDS };

typedef struct triple {
    int32_t at[ENDS];
} triple;

static gn_status *check_range(int64_t value, int64_t range, const char *what, int64_t i)
{
    if (value >= 0 && value < range) return NULL;
    GN_FAIL(GN_ERR_DATA, "triple %lld: %s %lld, of %lld", (long long)i, what, (long long)value,
            (long long)range);
}

static gn_status *gather(const gn_triples *part, int parts, const int64_t *range, triple *to)
{
    for (int p = 0; p < parts; p++) {
        for (int64_t i = 0; i < part[p].n; i++) {
            int64_t head = part[p].head[i], tail = part[p].tail[i];
            int32_t kind = part[p].kind ? part[p].kind[i] : 0;
            GN_TRY(check_range(head, range[HEAD], "head", i));
            GN_TRY(check_range(kind, range[KIND], "kind", i));
            GN_TRY(check_range(tail, range[TAIL], "tail", i));
            *to++ = (triple){{(int32_t)head, kind, (int32_t)tail}};
        }
    }
    return NULL;
}

/* A stable sort by one column, by counting: *x and *spare change places.  count [range + 1]. */
static void sort_by(triple **x, triple **spare, int64_t n, int column, int64_t range,
                    int64_t *count)
{
    triple *from = *x, *to = *spare;
    for (int64_t v = 0; v <= range; v++) count[v] = 0;
    for (int64_t i = 0; i < n; i++) count[from[i].at[column] + 1]++;
    for (int64_t v = 0; v < range; v++) count[v + 1] += count[v];
    for (int64_t i = 0; i < n; i++) {
        int64_t place = count[from[i].at[column]]++;
        to[place] = from[i];
    }
    *x = to;
    *spare = from;
}

static int64_t drop_repeats(triple *x, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *a = x[i].at, *b = kept ? x[kept - 1].at : NULL;
        if (b && a[HEAD] == b[HEAD] && a[KIND] == b[KIND] && a[TAIL] == b[TAIL]) continue;
        x[kept++] = x[i];
    }
    return kept;
}

/* Whether a group begins at i, where triples are sorted by (given, kind, asked). */
static bool begins(const triple *x, int64_t i, int given)
{
    return i == 0 || x[i].at[given] != x[i - 1].at[given] || x[i].at[KIND] != x[i - 1].at[KIND];
}

static gn_status *fill_side(gn_known_side *s, const triple *x, int64_t n, int given, int64_t range)
{
    int64_t groups = 0, g = 0;
    int asked = given == HEAD ? TAIL : HEAD;
    for (int64_t i = 0; i < n; i++) groups += begins(x, i, given);
    s->given = range;
    GN_MEM(s->first, range + 1);
    GN_MEM(s->kind, groups);
    GN_MEM(s->start, groups + 1);
    GN_MEM(s->answer, n);
    for (int64_t i = 0; i < n; i++) {
        s->answer[i] = x[i].at[asked];
        if (!begins(x, i, given)) continue;
        s->kind[g] = x[i].at[KIND];
        s->start[g++] = i;
        s->first[x[i].at[given] + 1]++;
    }
    s->start[groups] = n;
    for (int64_t v = 0; v < range; v++) s->first[v + 1] += s->first[v];
    return NULL;
}

static gn_status *fill_pairs(gn_known *k, const triple *x)
{
    GN_MEM(k->pairs, k->kinds + 1);
    GN_MEM(k->pair, k->n);
    for (int64_t i = 0; i < k->n; i++) {
        k->pair[i] = x[i].at[HEAD] * k->tails + x[i].at[TAIL];
        k->pairs[x[i].at[KIND] + 1]++;
    }
    for (int64_t v = 0; v < k->kinds; v++) k->pairs[v + 1] += k->pairs[v];
    return NULL;
}

/* Sorted by (head, kind, tail), (kind, head, tail) and (tail, kind, head) in turn. */
static gn_status *fill(gn_known *k, triple *x, triple *spare, int64_t n, int64_t *count)
{
    sort_by(&x, &spare, n, TAIL, k->tails, count);
    sort_by(&x, &spare, n, KIND, k->kinds, count);
    sort_by(&x, &spare, n, HEAD, k->heads, count);
    k->n = drop_repeats(x, n);
    GN_TRY(fill_side(&k->side[GN_ASKED_TAIL], x, k->n, HEAD, k->heads));
    sort_by(&x, &spare, k->n, KIND, k->kinds, count);
    GN_TRY(fill_pairs(k, x));
    sort_by(&x, &spare, k->n, TAIL, k->tails, count);
    return fill_side(&k->side[GN_ASKED_HEAD], x, k->n, TAIL, k->tails);
}

gn_status *gn_known_build(int64_t heads, int64_t kinds, int64_t tails, const gn_triples *part,
                          int parts, gn_known *out)
{
    const int64_t range[ENDS] = {heads, kinds, tails};
    int64_t n = 0, most = 0;
    *out = (gn_known){0};
    for (int c = 0; c < ENDS; c++) {
        if (range[c] < 0 || range[c] > GN_MAX_NODES)
            GN_FAIL(GN_ERR_USAGE, "known triples of %lld heads, %lld kinds and %lld tails",
                    (long long)heads, (long long)kinds, (long long)tails);
        if (range[c] > most) most = range[c];
    }
    for (int p = 0; p < parts; p++)
        if (part[p].n < 0 || __builtin_add_overflow(n, part[p].n, &n))
            GN_FAIL(GN_ERR_USAGE, "a list of %lld triples", (long long)part[p].n);
    triple *x = gn_mem_alloc(n, sizeof *x), *spare = gn_mem_alloc(n, sizeof *spare);
    int64_t *count = gn_mem_alloc(most + 1, sizeof *count);
    gn_status *s = NULL;
    if (!x || !spare || !count)
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: %lld known triples", (long long)n);
    if (!s) s = gather(part, parts, range, x);
    *out = (gn_known){.heads = heads, .kinds = kinds, .tails = tails};
    if (!s) s = fill(out, x, spare, n, count);
    free(x);
    free(spare);
    free(count);
    if (s) gn_known_free(out);
    return s;
}

void gn_known_free(gn_known *k)
{
    for (int a = 0; a < GN_ASKED_COUNT; a++) {
        free(k->side[a].first);
        free(k->side[a].kind);
        free(k->side[a].start);
        free(k->side[a].answer);
    }
    free(k->pairs);
    free(k->pair);
    *k = (gn_known){0};
}

int64_t gn_known_answers(const gn_known *k, gn_asked asked, int64_t given, int64_t kind,
                         const int64_t **answer)
{
    const gn_known_side *s = &k->side[asked];
    int64_t low = s->first[given], end = s->first[given + 1], high = end;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (s->kind[mid] < kind)
            low = mid + 1;
        else
            high = mid;
    }
    *answer = s->answer;
    if (low == end || s->kind[low] != kind) return 0;
    *answer = s->answer + s->start[low];
    return s->start[low + 1] - s->start[low];
}

bool gn_known_has(const gn_known *k, int64_t head, int64_t kind, int64_t tail)
{
    const int64_t *a;
    int64_t n = gn_known_answers(k, GN_ASKED_TAIL, head, kind, &a), low = 0, high = n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (a[mid] < tail)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && a[low] == tail;
}

int64_t gn_known_gap(const int64_t *sorted, int64_t n, int64_t r)
{
    int64_t low = 0, high = n; /* how many of them are below it */
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (sorted[mid] - mid <= r)
            low = mid + 1;
        else
            high = mid;
    }
    return r + low;
}
