/* Weights by name, and all that training keeps as bytes. */
#include "runtime/aot/impl.h"

#include "base/map.h"
#include "runtime/memory.h"

#include <string.h>

/* Stores --------------------------------------------------------------------------------------- */

void aot_store_release(aot_store *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) != 1) return;
    gn_state_free(&s->state);
    gn_block_free(s);
}

static gn_status *fill(const gn_aot_image *g, gn_state *s, uint64_t seed)
{
    const gn_fill zeros = {.kind = GN_FILL_ZEROS};
    for (int k = 0; k < s->n; k++) GN_TRY(gn_state_fill(s, s->tensors[k].name, zeros, seed));
    for (int k = 0; k < g->n_weights; k++) {
        const gn_aot_weight *w = &g->weights[k];
        const gn_state_tensor *t = gn_state_find(s, w->state);
        if (!t) GN_FAIL(GN_ERR_INTERNAL, "weight '%s' has no state", w->name);
        if (w->data)
            memcpy(t->data, w->data, (size_t)w->elems * sizeof(float));
        else
            GN_TRY(gn_state_fill(s, w->state, w->init, seed));
    }
    return gn_state_find(s, "rng.seed") ? gn_state_set_int(s, "rng.seed", (int64_t)seed) : NULL;
}

static gn_status *make_state(const gn_aot_image *g, gn_state *s, uint64_t seed)
{
    for (int k = 0; k < g->n_states; k++)
        GN_TRY(gn_state_add(s, g->states[k].name, g->states[k].elem, g->states[k].rows,
                            g->states[k].row_elems));
    return fill(g, s, seed);
}

gn_status *aot_store_new(const gn_aot_image *g, uint64_t seed, aot_store **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof **out, "weights", &block));
    aot_store *s = block;
    atomic_init(&s->users, 1);
    gn_state_init(&s->state);
    gn_status *status = make_state(g, &s->state, seed);
    if (status)
        aot_store_release(s);
    else
        *out = s;
    return status;
}

int gn_aot_reset(gn_aot_model *m, uint64_t seed)
{
    AOT_USABLE(m);
    m->inferred = false;
    return aot_say(m, fill(m->image, &m->store->state, seed));
}

/* Weights -------------------------------------------------------------------------------------- */

static gn_status *find(const gn_aot_model *m, const char *name, const void *data, int64_t elems,
                       const gn_aot_weight **out)
{
    const gn_aot_image *g = m->image;
    *out = NULL;
    for (int k = 0; name && k < g->n_weights && !*out; k++)
        if (!strcmp(g->weights[k].name, name)) *out = &g->weights[k];
    if (!*out) return aot_no_such(m, "weight", name);
    if (elems != (*out)->elems)
        GN_FAIL(GN_ERR_DATA, "weight '%s' has %lld numbers, not %lld", name,
                (long long)(*out)->elems, (long long)elems);
    if (!data && elems) GN_FAIL(GN_ERR_USAGE, "weight '%s': no address", name);
    return NULL;
}

int64_t aot_in_file(const gn_aot_weight *w, int64_t i)
{
    if (!w->turned) return i;
    int64_t rest = w->elems / w->turned;
    return i % rest * w->turned + i / rest;
}

int gn_aot_weight_get(gn_aot_model *m, const char *name, float *to, int64_t elems)
{
    const gn_aot_weight *w;
    AOT_USABLE(m);
    gn_status *s = find(m, name, to, elems, &w);
    if (s) return aot_say(m, s);
    const float *from = gn_state_find(&m->store->state, w->state)->data;
    for (int64_t i = 0; i < elems; i++) to[aot_in_file(w, i)] = from[i];
    return GN_OK;
}

int gn_aot_weight_set(gn_aot_model *m, const char *name, const float *from, int64_t elems)
{
    const gn_aot_weight *w;
    AOT_USABLE(m);
    gn_status *s = find(m, name, from, elems, &w);
    if (s) return aot_say(m, s);
    float *to = gn_state_find(&m->store->state, w->state)->data;
    for (int64_t i = 0; i < elems; i++) to[i] = from[aot_in_file(w, i)];
    m->inferred = false;
    return GN_OK;
}

/* States --------------------------------------------------------------------------------------- */

/* In front of the tensors' bytes, which follow one another in order.  Digests (gn_hash_bytes, each
 * piece seeded by those before it) tell damage and mistakes, not malice. */
typedef struct head {
    char magic[8];
    uint64_t tensors; /* digest of names, types and sizes: those of one model */
    uint64_t data;    /* digest of the bytes that follow */
} head;

static const char magic[8] = {'G', 'N', 'N', 'C', 'S', 'T', '0', '2'};

static int64_t bytes_of(const gn_state_tensor *t)
{
    return t->rows * t->row_elems * (int64_t)gn_elem_size(t->elem);
}

static uint64_t digest_tensors(const gn_state *s)
{
    uint64_t h = 0;
    for (int k = 0; k < s->n; k++) {
        const gn_state_tensor *t = &s->tensors[k];
        int64_t numbers[2] = {(int64_t)t->elem, t->rows * t->row_elems};
        h = gn_hash_bytes(t->name, strlen(t->name) + 1, h);
        h = gn_hash_bytes(numbers, sizeof numbers, h);
    }
    return h;
}

/* Of the tensors' bytes, which lie at `at`. */
static uint64_t digest_data(const gn_state *s, const char *at)
{
    uint64_t h = 0;
    for (int k = 0; k < s->n; k++) {
        h = gn_hash_bytes(at, (size_t)bytes_of(&s->tensors[k]), h);
        at += bytes_of(&s->tensors[k]);
    }
    return h;
}

int64_t gn_aot_state_size(const gn_aot_model *m)
{
    int64_t bytes = (int64_t)sizeof(head);
    if (aot_refuses(m)) return 0;
    for (int k = 0; k < m->store->state.n; k++) bytes += bytes_of(&m->store->state.tensors[k]);
    return bytes;
}

static gn_status *check_room(const gn_aot_model *m, const void *p, int64_t bytes)
{
    int64_t want = gn_aot_state_size(m);
    if (!p || bytes != want)
        GN_FAIL(GN_ERR_USAGE, "a state of model %s has %lld bytes, not %lld", m->image->model,
                (long long)want, (long long)(p ? bytes : 0));
    return NULL;
}

int gn_aot_state_get(gn_aot_model *m, void *to, int64_t bytes)
{
    AOT_USABLE(m);
    gn_status *e = check_room(m, to, bytes);
    if (e) return aot_say(m, e);
    const gn_state *s = &m->store->state;
    head h = {.tensors = digest_tensors(s)};
    char *at = (char *)to + sizeof h;
    for (int k = 0; k < s->n; k++) {
        size_t n = (size_t)bytes_of(&s->tensors[k]);
        memcpy(at, s->tensors[k].data, n);
        at += n;
    }
    h.data = digest_data(s, (char *)to + sizeof h);
    memcpy(h.magic, magic, sizeof magic);
    memcpy(to, &h, sizeof h);
    return GN_OK;
}

static gn_status *set_state(gn_aot_model *m, const void *from, int64_t bytes)
{
    gn_state *s = &m->store->state;
    head h;
    GN_TRY(check_room(m, from, bytes));
    memcpy(&h, from, sizeof h);
    const char *at = (const char *)from + sizeof h;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.tensors != digest_tensors(s))
        GN_FAIL(GN_ERR_DATA, "no state of model %s", m->image->model);
    if (h.data != digest_data(s, at))
        GN_FAIL(GN_ERR_DATA, "the state is damaged: its checksum differs");
    for (int k = 0; k < s->n; k++) {
        memcpy(s->tensors[k].data, at, (size_t)bytes_of(&s->tensors[k]));
        at += bytes_of(&s->tensors[k]);
    }
    m->inferred = false;
    return NULL;
}

int gn_aot_state_set(gn_aot_model *m, const void *from, int64_t bytes)
{
    AOT_USABLE(m);
    return aot_say(m, set_state(m, from, bytes));
}
