/* Binding, part two: tensors by name, and launches with every address resolved. */
#include "base/nearest.h"
#include "runtime/run/instance.h"
#include "runtime/run/chain.h"
#include "runtime/memory.h"

#include <string.h>

/* Tensors -------------------------------------------------------------------------------------- */

static bool is_bound_kind(gn_slot_kind k)
{
    return k == GN_SLOT_INPUT || k == GN_SLOT_STATE || k == GN_SLOT_OUTPUT;
}

static const gn_binding *find(const char *name, bool output, int n, const gn_binding *tensors)
{
    for (int k = 0; k < n; k++)
        if (tensors[k].output == output && strcmp(tensors[k].name, name) == 0) return &tensors[k];
    return NULL;
}

static gn_status *missing(const gn_instance *in, const char *name, int n, const gn_binding *tensors)
{
    void *block;
    GN_TRY(gn_block_new(n, sizeof(char *), "names", &block));
    const char **names = block;
    for (int k = 0; k < n; k++) names[k] = tensors[k].name;
    const char *near = gn_nearest(name, names, (size_t)n);
    gn_status *s = GN_ERROR(GN_ERR_DATA, "%s: nothing is bound for '%s'%s%s%s", in->artifact->name,
                            name, near ? " (did you mean '" : "", near ? near : "",
                            near ? "'?)" : "");
    gn_block_free(block);
    return s;
}

gn_status *gn_bind_find(const gn_instance *in, const char *name, int n, const gn_binding *tensors,
                        const gn_binding **out)
{
    *out = find(name, false, n, tensors);
    return *out ? NULL : missing(in, name, n, tensors);
}

static gn_status *check_shape(const gn_instance *in, int slot, const gn_binding *b)
{
    const gn_slot *s = &in->artifact->slots[slot];
    int64_t elems = in->plan.elems[slot], rows = s->row_elems > 0 ? elems / s->row_elems : b->rows;
    if (b->elem != s->elem)
        GN_FAIL(GN_ERR_DATA, "%s: '%s' is %s, expected %s", in->artifact->name, s->name,
                gn_elem_name(b->elem), gn_elem_name(s->elem));
    if (b->rows != rows || b->row_elems != s->row_elems)
        GN_FAIL(GN_ERR_DATA, "%s: '%s' has %lld rows of %lld elements, expected %lld of %lld",
                in->artifact->name, s->name, (long long)b->rows, (long long)b->row_elems,
                (long long)rows, (long long)s->row_elems);
    return NULL;
}

/* Code takes different buffers to be disjoint: what is written must lie apart from all else that is
 * bound. */
gn_status *gn_bind_check_data(const gn_instance *in, int slot, const void *data)
{
    const gn_artifact *a = in->artifact;
    const gn_slot *s = &a->slots[slot];
    uintptr_t at = (uintptr_t)data, bytes = (uintptr_t)in->plan.elems[slot] * gn_elem_size(s->elem);
    if (!data && bytes) GN_FAIL(GN_ERR_DATA, "%s: '%s' is bound to no data", a->name, s->name);
    if (at % gn_elem_size(s->elem))
        GN_FAIL(GN_ERR_DATA, "%s: the data of '%s' is not aligned to its elements, %s", a->name,
                s->name, gn_elem_name(s->elem));
    for (int k = 0; k < a->n_slots; k++) {
        const gn_slot *o = &a->slots[k];
        if (k == slot || !is_bound_kind(o->kind) || !in->addr[k]) continue;
        if (strcmp(o->name, s->name) == 0 &&
            (o->kind == GN_SLOT_OUTPUT) == (s->kind == GN_SLOT_OUTPUT))
            continue;
        if (o->kind == GN_SLOT_INPUT && s->kind == GN_SLOT_INPUT) continue;
        uintptr_t there = (uintptr_t)in->addr[k],
                  size = (uintptr_t)in->plan.elems[k] * gn_elem_size(o->elem);
        if (at < there + size && there < at + bytes)
            GN_FAIL(GN_ERR_DATA, "%s: '%s' and '%s' overlap in memory", a->name, s->name, o->name);
    }
    return NULL;
}

static gn_status *bind_named(gn_instance *in, int slot, int n, const gn_binding *tensors)
{
    const gn_slot *s = &in->artifact->slots[slot];
    const gn_binding *b = find(s->name, s->kind == GN_SLOT_OUTPUT, n, tensors);
    if (b) {
        GN_TRY(check_shape(in, slot, b));
        GN_TRY(gn_bind_check_data(in, slot, b->data));
        in->addr[slot] = b->data;
        return NULL;
    }
    if (s->kind != GN_SLOT_OUTPUT) return missing(in, s->name, n, tensors);
    GN_TRY(gn_block_zeroed(in->plan.elems[slot], gn_elem_size(s->elem), s->name, &in->owned[slot]));
    in->addr[slot] = in->owned[slot];
    return NULL;
}

static gn_status *bind_graph_array(gn_instance *in, int slot)
{
    const gn_artifact *a = in->artifact;
    const gn_slot *s = &a->slots[slot];
    const gn_graph *g = in->graph[s->graph];
    gn_elem elem = gn_graph_array_elem(g, s->array);
    if (elem != s->elem)
        GN_FAIL(GN_ERR_DATA, "%s: compiled for graphs with %s indices, graph %d has %s", a->name,
                gn_elem_name(s->elem), s->graph, gn_elem_name(elem));
    if (in->plan.elems[slot] > gn_graph_array_count(g, s->array))
        GN_FAIL(GN_ERR_DATA, "%s: array %d of graph %d has %lld elements, expected %lld", a->name,
                (int)s->array, s->graph, (long long)gn_graph_array_count(g, s->array),
                (long long)in->plan.elems[slot]);
    in->addr[slot] = g->array[s->array];
    return NULL;
}

/* That of the instance before serves where it is large enough; a larger one has room to spare. */
static gn_status *make_arena(gn_instance *in)
{
    int64_t bytes = in->plan.bytes, room;
    void *paged = gn_pages_arena(in->artifact->pages, &room);
    if (paged && bytes <= room) {
        gn_block_free(in->arena); /* of the instance before, which had no room in the file */
        in->arena = paged;
        return NULL;
    }
    if (in->arena && in->room >= bytes) return NULL;
    if (in->arena && bytes < INT64_MAX / 2) bytes += bytes / 4;
    gn_block_free(in->arena);
    in->arena = NULL;
    in->room = bytes;
    return gn_block_new(bytes, 1, "the arena", &in->arena);
}

gn_status *gn_bind_tensors(gn_instance *in, int n, const gn_binding *tensors)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_slots; k++) {
        gn_slot_kind kind = a->slots[k].kind;
        if (is_bound_kind(kind)) GN_TRY(bind_named(in, k, n, tensors));
        if (kind == GN_SLOT_GRAPH && a->slots[k].first >= 0) GN_TRY(bind_graph_array(in, k));
    }
    for (int k = 0; k < a->n_slots; k++) in->addr[k] = in->addr[in->plan.root[k]];
    return NULL;
}

void gn_bind_temporaries(gn_instance *in)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_slots; k++)
        if (a->slots[k].kind == GN_SLOT_TEMP) in->addr[k] = (char *)in->arena + in->plan.offset[k];
    for (int k = 0; k < a->n_slots; k++) in->addr[k] = in->addr[in->plan.root[k]];
    for (int l = 0; l < a->n_launches; l++)
        for (int b = 0; b < a->launches[l].n_buf; b++)
            in->ready[l].buf[b] = in->addr[a->launches[l].buf[b]];
}

gn_status *gn_bind_arena(gn_instance *in)
{
    GN_TRY(make_arena(in));
    gn_bind_temporaries(in);
    return NULL;
}

/* Launches ------------------------------------------------------------------------------------- */

enum {
    RANGES_A_THREAD = 8, /* so that who is late leaves little to wait for */
    COPY_CHUNK = 256 << 10,
};
static const double range_bytes = 32 << 10; /* a range that touches less is not worth handing out */
static const double edge_bytes = 32;        /* what an edge's gather adds to that, roughly */

static void copy_kernel(void *const *buf, const int64_t *sym, int64_t lo, int64_t hi)
{
    int64_t from = lo * COPY_CHUNK, to = hi * COPY_CHUNK < sym[0] ? hi * COPY_CHUNK : sym[0];
    if (buf[0] != buf[1])
        memcpy((char *)buf[0] + from, (const char *)buf[1] + from, (size_t)(to - from));
}

static int64_t ceil_div(int64_t n, int64_t d) { return n / d + (n % d != 0); }

/* How many ranges the iterations are worth: by the bytes that the launch can touch at most once. */
static int64_t worth(const gn_instance *in, const gn_launch *l, int64_t trip)
{
    int threads = gn_pool_threads(in->pool);
    if (threads == 1 || !l->parallel) return 1;
    double bytes = 0;
    for (int b = 0; b < l->n_buf; b++)
        bytes += (double)in->plan.elems[l->buf[b]] *
                 (double)gn_elem_size(in->artifact->slots[l->buf[b]].elem);
    for (int b = 0; b < l->n_balance; b++)
        bytes += (double)in->graph[l->balance[b].graph]->n_edge * edge_bytes;
    int64_t most = (int64_t)threads * RANGES_A_THREAD;
    if (most > trip) most = trip;
    return bytes / range_bytes < (double)most ? (int64_t)(bytes / range_bytes) : most;
}

/* Iterations are blocks of `step` rows.  A row weighs its edges and one more. */
static int64_t weight_before(const gn_instance *in, const gn_launch *l, int64_t t)
{
    int64_t rows = gn_graph_array_count(in->graph[l->balance[0].graph], l->balance[0].array) - 1;
    int64_t row = t > rows / l->step ? rows : t * l->step, weight = row;
    for (int b = 0; b < l->n_balance; b++) {
        const gn_graph *g = in->graph[l->balance[b].graph];
        weight += gn_index_get(g->array[l->balance[b].array], g->index, row);
    }
    return weight;
}

/* Range k starts at the first iteration with at least k / n of the weight before it. */
static int64_t balance(const gn_instance *in, const gn_launch *l, int64_t trip, int64_t n,
                       int64_t *bound)
{
    int64_t total = weight_before(in, l, trip), ranges = 0;
    bound[0] = 0;
    for (int64_t k = 1; k < n; k++) {
        int64_t want = (int64_t)((double)total * (double)k / (double)n), lo = bound[ranges],
                hi = trip;
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (weight_before(in, l, mid) < want)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo > bound[ranges] && lo < trip) bound[++ranges] = lo;
    }
    bound[++ranges] = trip;
    return ranges;
}

static gn_status *resolve_copy(const gn_instance *in, int launch, gn_ready *r, int64_t *sym)
{
    const gn_launch *l = &in->artifact->launches[launch];
    const gn_slot *slots = in->artifact->slots;
    int64_t to = in->plan.elems[l->buf[0]] * (int64_t)gn_elem_size(slots[l->buf[0]].elem);
    int64_t from = in->plan.elems[l->buf[1]] * (int64_t)gn_elem_size(slots[l->buf[1]].elem);
    if (to != from)
        GN_FAIL(GN_ERR_INTERNAL, "%s: launch %d copies %lld bytes to %lld", in->artifact->name,
                launch, (long long)from, (long long)to);
    r->fn = copy_kernel;
    sym[0] = to;
    r->trip = ceil_div(to, COPY_CHUNK);
    r->grain = gn_pool_threads(in->pool) == 1 ? r->trip : 1;
    return NULL;
}

/* Ranges for threads, of the launch's iterations. */
static void share(const gn_instance *in, const gn_launch *l, gn_ready *r, int64_t *bound)
{
    int64_t ranges = worth(in, l, r->trip);
    r->grain = ranges > 1 ? ceil_div(r->trip, ranges) : r->trip;
    if (ranges <= 1 || !l->n_balance) return;
    r->n_ranges = balance(in, l, r->trip, ranges, bound);
    r->bound = bound;
}

static gn_status *resolve(const gn_instance *in, int launch, gn_ready *r, int64_t *sym,
                          int64_t *bound)
{
    const gn_artifact *a = in->artifact;
    const gn_launch *l = &a->launches[launch];
    r->pages = a->pages;
    if (l->kind == GN_LAUNCH_COPY) return resolve_copy(in, launch, r, sym);
    for (int k = 0; k < l->n_sym; k++) sym[k] = in->sym[l->sym[k]];
    r->fn = a->code[l->kernel];
    r->trip = 1;
    if (l->parallel) {
        if (!gn_term_value(l->trip, in->sym, &r->trip))
            GN_FAIL(GN_ERR_NOMEM, "%s: the iterations of launch %d cannot be counted", a->name,
                    launch);
        r->trip = ceil_div(r->trip, l->step);
    }
    share(in, l, r, bound);
    return NULL;
}

/* The chain that begins there is a launch of longer iterations; the others have none left.  It is
 * balanced by the first of them that walks edges. */
static void resolve_chain(gn_instance *in, int head, int64_t *bound)
{
    const gn_artifact *a = in->artifact;
    gn_launch all = a->launches[head];
    all.step = gn_chain_unit(a, head, INT64_MAX);
    for (int k = head; k < head + all.chain; k++) {
        if (!all.n_balance) {
            all.n_balance = a->launches[k].n_balance;
            memcpy(all.balance, a->launches[k].balance, sizeof all.balance);
        }
        in->ready[k].trip = in->ready[k].n_ranges = 0;
    }
    in->ready[head].trip = ceil_div(in->sym[all.trip.sym], all.step);
    share(in, &all, &in->ready[head], bound);
}

gn_status *gn_bind_launches(gn_instance *in)
{
    const gn_artifact *a = in->artifact;
    int64_t n_buf = 0, n_sym = 0, n_bound = 0,
            most = (int64_t)gn_pool_threads(in->pool) * RANGES_A_THREAD + 1;
    for (int k = 0; k < a->n_launches; k++) {
        const gn_launch *l = &a->launches[k];
        n_buf += l->n_buf;
        n_sym += l->kind == GN_LAUNCH_COPY ? 1 : l->n_sym;
        if (l->parallel && l->n_balance) n_bound += most;
        if (in->plan.block[k]) n_bound += most;
    }
    _Static_assert(sizeof(void *) == sizeof(int64_t), "one block holds both");
    GN_TRY(gn_block_new(n_buf + n_sym + n_bound, sizeof(int64_t), "launches", &in->operands));
    void **buf = in->operands;
    int64_t *sym = (int64_t *)(void *)(buf + n_buf), *bound = sym + n_sym;
    for (int k = 0; k < a->n_launches; k++) {
        const gn_launch *l = &a->launches[k];
        gn_ready *r = &in->ready[k];
        r->buf = buf;
        r->sym = sym;
        for (int b = 0; b < l->n_buf; b++) buf[b] = in->addr[l->buf[b]];
        GN_TRY(resolve(in, k, r, sym, bound));
        buf += l->n_buf;
        sym += l->kind == GN_LAUNCH_COPY ? 1 : l->n_sym;
        if (l->parallel && l->n_balance) bound += most;
    }
    GN_TRY(gn_chains_new(in));
    for (int k = 0; k < a->n_launches; k++) {
        if (!in->plan.block[k]) continue;
        resolve_chain(in, k, bound);
        bound += most;
    }
    return NULL;
}
