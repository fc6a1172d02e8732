/* Instances: their life, running them, and what can be asked of one. */
#include "runtime/run/instance.h"

#include "base/clock.h"
#include "runtime/run/chain.h"
#include "runtime/memory.h"
#include "runtime/run/region.h"

#include <string.h>

/* Running -------------------------------------------------------------------------------------- */

static void call(void *ctx, int64_t lo, int64_t hi) { gn_ready_call(ctx, lo, hi); }

static inline void run_launch_alone(gn_ready *r)
{
    if (r->trip > 0) gn_ready_call(r, 0, r->trip);
}

static inline void run_launch(gn_pool *pool, gn_ready *r)
{
    if (r->trip <= r->grain) {
        run_launch_alone(r);
    } else if (r->n_ranges) {
        gn_pool_run_ranges(pool, r->n_ranges, r->bound, call, r);
    } else {
        gn_pool_run(pool, r->trip, r->grain, call, r);
    }
}

static void run_timed(gn_instance *in, bool alone)
{
    int64_t before = gn_now_ns();
    for (int k = 0; k < in->artifact->n_launches; k++) {
        if (alone)
            run_launch_alone(&in->ready[k]);
        else
            run_launch(in->pool, &in->ready[k]);
        int64_t after = gn_now_ns();
        if (in->ready[k].chain)
            gn_chain_split(in->ready[k].chain, after - before, &in->ns[k]);
        else
            in->ns[k] += after - before;
        before = after;
    }
    in->runs++;
}

static void note_error(gn_instance *in, gn_status *s)
{
    if (in->error)
        gn_status_free(s);
    else
        in->error = s;
}

static void run_remote(gn_instance *in)
{
    const gn_remote *r = in->artifact->remote;
    if (in->error) return;
    if (in->profiling) in->runs++;
    note_error(in, in->profiling ? r->time(in->remote, in->ns) : r->run(in->remote));
}

gn_status *gn_instance_check(gn_instance *in)
{
    gn_status *s = in->error;
    in->error = NULL;
    return s;
}

static void run_here(gn_instance *in, bool alone)
{
    gn_ready *r = in->ready, *end = r + in->artifact->n_launches;
    if (in->profiling)
        run_timed(in, alone);
    else if (in->trace)
        gn_run_traced(in, alone);
    else if (alone)
        for (; r < end; r++) run_launch_alone(r);
    else if (in->region)
        gn_region_run(in);
    else
        for (; r < end; r++) run_launch(in->pool, r);
}

void gn_instance_run(gn_instance *in)
{
    gn_status *s = in->draws && !in->error ? gn_redraw(in) : NULL;
    if (s) {
        note_error(in, s);
        return;
    }
    if (in->remote) {
        run_remote(in);
        return;
    }
    if (!in->pace.on) {
        run_here(in, false);
        return;
    }
    int64_t before = gn_now_ns();
    run_here(in, gn_pace_alone(&in->pace));
    int64_t now = gn_now_ns();
    gn_pace_ran(&in->pace, now, now - before);
}

static bool shares(const gn_instance *in)
{
    for (int k = 0; k < in->artifact->n_launches; k++)
        if (gn_is_shared(&in->ready[k])) return true;
    return false;
}

void gn_instance_pace(gn_instance *in, bool on)
{
    in->pace.on = false;
    if (on && !in->remote && gn_pool_threads(in->pool) > 1 && shares(in)) gn_pace_start(&in->pace);
}

bool gn_instance_paced(const gn_instance *in, bool *alone, int64_t *all_ns, int64_t *alone_ns)
{
    *alone = in->pace.on && in->pace.alone;
    *all_ns = in->pace.ns[0];
    *alone_ns = in->pace.ns[1];
    return in->pace.on && in->pace.ns[0] > 0;
}

int gn_instance_threads(const gn_instance *in) { return gn_pool_threads(in->pool); }

gn_status *gn_instance_one_region(gn_instance *in)
{
    gn_region *r;
    if (in->remote) {
        in->artifact->remote->replay(in->remote);
        return NULL;
    }
    GN_TRY(gn_region_new(in, &r));
    gn_region_free(in->region);
    in->region = r;
    return NULL;
}

bool gn_instance_in_region(const gn_instance *in, int *launches, int *shared, int *waits)
{
    if (!in->region) return false;
    gn_region_info i = gn_region_describe(in->region);
    *launches = i.launches;
    *shared = i.shared;
    *waits = i.waits;
    return true;
}

void gn_instance_profile(gn_instance *in, bool on)
{
    in->profiling = on;
    for (int k = 0; k < in->artifact->n_launches; k++)
        if (in->ready[k].chain) gn_chain_time(in->ready[k].chain, on);
    if (!on) return;
    in->runs = 0;
    memset(in->ns, 0, (size_t)in->artifact->n_launches * sizeof *in->ns);
}

void gn_instance_trace(gn_instance *in, gn_trace *t)
{
    if (in->remote) return;
    in->trace = t;
    for (int k = 0; k < in->artifact->n_launches; k++)
        if (in->ready[k].chain) gn_chain_time(in->ready[k].chain, t || in->profiling);
}

void gn_instance_times(const gn_instance *in, int64_t *ns, int64_t *runs)
{
    memcpy(ns, in->ns, (size_t)in->artifact->n_launches * sizeof *ns);
    *runs = in->runs;
}

double gn_instance_clock(gn_instance *in, int n)
{
    double us = 0;
    const gn_remote *r = in->remote ? in->artifact->remote : NULL;
    if (r && !in->draws) {
        if (!in->error) note_error(in, r->clock(in->remote, n, &us));
        return us;
    }
    if (r && !in->error) note_error(in, r->wait(in->remote));
    int64_t before = gn_now_ns();
    for (int k = 0; k < n; k++) gn_instance_run(in);
    if (r && !in->error) note_error(in, r->wait(in->remote));
    return (double)(gn_now_ns() - before) * 1e-3 / n;
}

const char *gn_instance_form(const gn_instance *in, int launch)
{
    return in->remote ? in->artifact->remote->form(in->remote, launch) : NULL;
}

/* Life ----------------------------------------------------------------------------------------- */

static gn_status *make_tables(gn_instance *in)
{
    const gn_artifact *a = in->artifact;
    int64_t words = (int64_t)a->n_launches * (int64_t)(sizeof(gn_ready) / 8 + 1) +
                    2 * (int64_t)a->n_slots + 2 * (int64_t)a->n_graphs + a->n_syms +
                    (int64_t)a->n_columns * (int64_t)(sizeof(gn_column_data) / 8);
    _Static_assert(sizeof(gn_ready) % 8 == 0 && sizeof(void *) == 8 &&
                       sizeof(gn_column_data) % 8 == 0,
                   "tables are of words");
    GN_TRY(gn_block_zeroed(words, 8, "instance", &in->tables));
    in->ready = in->tables;
    in->addr = (void **)(void *)(in->ready + a->n_launches);
    in->owned = in->addr + a->n_slots;
    in->graph = (gn_graph **)(void *)(in->owned + a->n_slots);
    in->derived = (gn_derived **)(void *)(in->graph + a->n_graphs);
    in->sym = (int64_t *)(void *)(in->derived + a->n_graphs);
    in->ns = in->sym + a->n_syms;
    in->column = (gn_column_data *)(void *)(in->ns + a->n_launches);
    return NULL;
}

/* Graphs, sizes and where temporaries lie. */
static gn_status *lay_out(gn_instance *in, int n_graphs, const gn_graph_binding *graphs, int n,
                          const gn_binding *tensors, const gn_instance *like)
{
    GN_TRY(make_tables(in));
    GN_TRY(gn_bind_graphs(in, n_graphs, graphs, n, tensors, like));
    return gn_plan_new(in->artifact, in->sym, gn_pool_threads(in->pool), &in->plan);
}

static gn_status *bind(gn_instance *in, int n_graphs, const gn_graph_binding *graphs, int n,
                       const gn_binding *tensors, const gn_instance *like)
{
    GN_TRY(lay_out(in, n_graphs, graphs, n, tensors, like));
    GN_TRY(gn_bind_tensors(in, n, tensors));
    return gn_bind_launches(in);
}

/* What is bound gets an arena, its own where that is large enough: it can run then. */
static gn_status *settle(gn_instance *in)
{
    gn_remote *r = in->artifact->remote;
    GN_TRY(gn_bind_arena(in));
    return r ? r->attach(r, in, in->artifact->remote_code, &in->remote) : NULL;
}

static gn_status *blank(const gn_artifact *a, gn_pool *pool, gn_instance **out)
{
    void *block;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_instance), "instance", &block));
    *out = block;
    (*out)->artifact = a;
    (*out)->pool = pool;
    return NULL;
}

gn_status *gn_instance_new(const gn_artifact *a, int n_graphs, const gn_graph_binding *graphs,
                           int n, const gn_binding *tensors, gn_pool *pool, const gn_instance *like,
                           gn_instance **out)
{
    gn_instance *in;
    *out = NULL;
    GN_TRY(gn_artifact_check(a));
    GN_TRY(blank(a, pool, &in));
    gn_status *s = bind(in, n_graphs, graphs, n, tensors, like);
    if (!s) s = settle(in);
    if (s) {
        gn_instance_free(in);
        return s;
    }
    *out = in;
    return NULL;
}

gn_status *gn_instance_outline(const gn_artifact *a, int n_graphs, const gn_graph_binding *graphs,
                               int n, const gn_binding *tensors, gn_pool *pool,
                               const gn_instance *like, gn_instance **out)
{
    gn_instance *in;
    *out = NULL;
    GN_TRY(gn_artifact_check(a));
    GN_TRY(blank(a, pool, &in));
    gn_status *s = lay_out(in, n_graphs, graphs, n, tensors, like);
    if (s)
        gn_instance_free(in);
    else
        *out = in;
    return s;
}

void gn_instance_put_beside(gn_instance *in, const gn_instance *beside) { in->beside = beside; }

gn_status *gn_instance_next(const gn_instance *in, int n_graphs, const gn_graph_binding *graphs,
                            int n, const gn_binding *tensors, const gn_instance *like,
                            gn_instance **out)
{
    gn_instance *next;
    *out = NULL;
    GN_TRY(blank(in->artifact, in->pool, &next));
    next->before = in;
    gn_status *s = bind(next, n_graphs, graphs, n, tensors, like);
    next->before = NULL;
    if (s) {
        gn_instance_free(next);
        return s;
    }
    *out = next;
    return NULL;
}

bool gn_instance_in_file(const gn_instance *in)
{
    int64_t room;
    return in->arena && in->arena == gn_pages_arena(in->artifact->pages, &room);
}

gn_status *gn_instance_follow(gn_instance **in, gn_instance **to)
{
    gn_instance *was = *in, *next = *to;
    if (!was->scratch && !gn_instance_in_file(was)) { /* what it holds itself */
        next->arena = was->arena;
        next->room = was->room;
        was->arena = NULL;
    }
    *in = NULL;
    gn_status *s = settle(next);
    if (!s && was->profiling) { /* which goes on */
        gn_instance_profile(next, true);
        memcpy(next->ns, was->ns, (size_t)was->artifact->n_launches * sizeof *next->ns);
        next->runs = was->runs;
    }
    if (!s) gn_instance_trace(next, was->trace);
    next->pace = was->pace; /* what is bound anew is much as it was */
    gn_instance_free(was);
    if (s) return s;
    *in = next;
    *to = NULL;
    return NULL;
}

static void release_arena(gn_instance *in)
{
    if (!in->scratch) {
        if (!gn_instance_in_file(in)) gn_block_free(in->arena);
    } else if (atomic_fetch_sub(&in->scratch->users, 1) == 1) {
        gn_block_free(in->scratch->p);
        gn_block_free(in->scratch);
    }
    in->scratch = NULL;
    in->arena = NULL;
}

void gn_instance_free(gn_instance *in)
{
    if (!in) return;
    if (in->remote) in->artifact->remote->detach(in->remote);
    gn_status_free(in->error);
    if (in->tables) {
        gn_bind_release_graphs(in);
        for (int k = 0; k < in->artifact->n_slots; k++) gn_block_free(in->owned[k]);
    }
    gn_region_free(in->region);
    gn_chains_free(in);
    gn_plan_free(&in->plan);
    release_arena(in);
    gn_block_free(in->operands);
    gn_block_free(in->tables);
    gn_block_free(in);
}

/* Asking --------------------------------------------------------------------------------------- */

static bool is_tensor(const gn_slot *s)
{
    return s->kind == GN_SLOT_INPUT || s->kind == GN_SLOT_STATE || s->kind == GN_SLOT_OUTPUT;
}

static void point(gn_instance *in, int root, void *data)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_slots; k++)
        if (in->plan.root[k] == root) in->addr[k] = data;
    for (int l = 0; l < a->n_launches; l++)
        for (int b = 0; b < a->launches[l].n_buf; b++)
            if (in->plan.root[a->launches[l].buf[b]] == root) in->ready[l].buf[b] = data;
}

static void move_arena(gn_instance *in, gn_scratch *to)
{
    release_arena(in);
    in->scratch = to;
    in->arena = to->p;
    atomic_fetch_add(&to->users, 1);
    gn_bind_temporaries(in);
}

gn_status *gn_instances_share_arena(int n, gn_instance *const *in)
{
    int64_t bytes = 0;
    for (int k = 0; k < n; k++)
        if (in[k] && !gn_instance_in_file(in[k]) && in[k]->plan.bytes > bytes)
            bytes = in[k]->plan.bytes;
    void *block, *p;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_scratch), "the arena", &block));
    gn_status *s = gn_block_new(bytes, 1, "the arena", &p);
    if (s) {
        gn_block_free(block);
        return s;
    }
    gn_scratch *z = block;
    z->p = p;
    z->bytes = bytes;
    atomic_init(&z->users, 1); /* held here until all have theirs */
    for (int k = 0; k < n; k++)
        if (in[k] && !gn_instance_in_file(in[k])) move_arena(in[k], z);
    if (atomic_fetch_sub(&z->users, 1) == 1) {
        gn_block_free(z->p);
        gn_block_free(z);
    }
    return NULL;
}

bool gn_instance_borrow_arena(gn_instance *in, const gn_instance *of)
{
    if (!of->scratch || in->remote || gn_instance_in_file(in) ||
        in->plan.bytes > of->scratch->bytes)
        return false;
    move_arena(in, of->scratch);
    return true;
}

/* Is it an input or a state of that name, or an output? */
static bool is_named(const gn_slot *s, const char *name, bool output)
{
    return is_tensor(s) && (s->kind == GN_SLOT_OUTPUT) == output && strcmp(s->name, name) == 0;
}

static gn_status *rebind(gn_instance *in, const char *name, bool output, void *data)
{
    const gn_artifact *a = in->artifact;
    bool found = false;
    if (in->remote)
        GN_FAIL(GN_ERR_USAGE, "%s: on a device other data need another instance", a->name);
    for (int k = 0; k < a->n_slots; k++) {
        if (!is_named(&a->slots[k], name, output)) continue;
        GN_TRY(gn_bind_check_data(in, k, data));
        found = true;
    }
    if (!output && gn_artifact_is_made_of(a, name))
        GN_FAIL(GN_ERR_USAGE, "%s: '%s' makes a graph: other data need another instance", a->name,
                name);
    bool key = !output && gn_redraws_by(a, name);
    if (!found && !key) GN_FAIL(GN_ERR_USAGE, "%s has no tensor '%s'", a->name, name);
    if (!found && (!data || (uintptr_t)data % sizeof(int64_t)))
        GN_FAIL(GN_ERR_DATA, "%s: '%s' is bound to no i64", a->name, name);
    for (int k = 0; k < a->n_slots; k++)
        if (is_named(&a->slots[k], name, output)) point(in, k, data);
    if (key) gn_redraw_from(in, name, data);
    return NULL;
}

gn_status *gn_instance_rebind(gn_instance *in, const char *name, void *data)
{
    return rebind(in, name, false, data);
}

gn_status *gn_instance_rebind_output(gn_instance *in, const char *name, void *data)
{
    return rebind(in, name, true, data);
}

const void *gn_instance_output(const gn_instance *in, const char *name, int64_t *elems)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_slots; k++) {
        if (a->slots[k].kind != GN_SLOT_OUTPUT || strcmp(a->slots[k].name, name) != 0) continue;
        if (elems) *elems = in->plan.elems[k];
        return in->addr[k];
    }
    return NULL;
}

int gn_instance_output_graph(const gn_instance *in, const char *name)
{
    const gn_artifact *a = in->artifact;
    for (int k = 0; k < a->n_slots; k++)
        if (a->slots[k].kind == GN_SLOT_OUTPUT && !strcmp(a->slots[k].name, name))
            return a->slots[k].edge_graph;
    return -1;
}

gn_status *gn_instance_wait(gn_instance *in)
{
    GN_TRY(gn_instance_check(in));
    return in->remote ? in->artifact->remote->wait(in->remote) : NULL;
}

gn_status *gn_instance_fetch(gn_instance *in, const char *name)
{
    GN_TRY(gn_instance_check(in));
    void *at = (void *)(uintptr_t)gn_instance_output(in, name, NULL);
    return in->remote && at ? in->artifact->remote->fetch(in->artifact->remote, at) : NULL;
}

const gn_graph *gn_instance_graph(const gn_instance *in, int graph) { return in->graph[graph]; }
int64_t gn_instance_symbol(const gn_instance *in, int sym) { return in->sym[sym]; }
int64_t gn_instance_arena_bytes(const gn_instance *in) { return in->plan.bytes; }

int64_t gn_instance_slot_bytes(const gn_instance *in, int slot)
{
    return in->plan.elems[slot] * (int64_t)gn_elem_size(in->artifact->slots[slot].elem);
}

int64_t gn_instance_slot_room(const gn_instance *in, int slot)
{
    int64_t bytes = gn_instance_slot_bytes(in, slot), room = in->plan.size[slot];
    return room < bytes ? room : bytes;
}

int64_t gn_instance_chain(const gn_instance *in, int k, int *head)
{
    for (*head = k; *head >= 0; --*head) {
        int n = in->artifact->launches[*head].chain;
        if (n) return k < *head + n ? in->plan.block[*head] : 0;
    }
    return 0;
}

bool gn_instance_alive(const gn_instance *in, int slot, int launch)
{
    return in->artifact->slots[slot].kind == GN_SLOT_TEMP && in->plan.first[slot] <= launch &&
           launch <= in->plan.last[slot];
}

int gn_instance_peak(const gn_instance *in)
{
    int64_t most = 0;
    int at = 0;
    for (int l = 0; l < in->artifact->n_launches; l++) {
        int64_t bytes = 0;
        for (int k = 0; k < in->artifact->n_slots; k++)
            if (gn_instance_alive(in, k, l)) bytes += gn_instance_slot_room(in, k);
        if (bytes <= most) continue;
        most = bytes;
        at = l;
    }
    return at;
}

gn_launch_view gn_instance_launch(const gn_instance *in, int k)
{
    const gn_ready *r = &in->ready[k];
    const gn_launch *l = &in->artifact->launches[k];
    int head;
    int64_t trips = gn_instance_chain(in, k, &head) ? (in->sym[l->trip.sym] - 1) / l->step + 1
                                                    : r->trip;
    return (gn_launch_view){r->buf, r->sym, trips};
}

int64_t gn_instance_output_bytes(const gn_instance *in)
{
    int64_t bytes = 0;
    for (int k = 0; k < in->artifact->n_slots; k++)
        if (in->owned[k]) bytes += in->plan.size[k];
    return bytes;
}

int64_t gn_instance_outline_output_bytes(const gn_instance *in)
{
    int64_t bytes = 0;
    for (int k = 0; k < in->artifact->n_slots; k++)
        if (in->artifact->slots[k].kind == GN_SLOT_OUTPUT) bytes += in->plan.size[k];
    return bytes;
}

/* Did an instance before number k, or k itself before its graph g, count this one? */
static bool counted(const gn_instance *const *in, int k, int g)
{
    const gn_derived *d = in[k]->derived[g];
    for (int i = 0; i <= k; i++)
        for (int j = 0; in[i] && j < (i < k ? in[i]->artifact->n_graphs : g); j++)
            if (in[i]->derived[j] == d) return true;
    return false;
}

static int64_t sum_derived(int n, const gn_instance *const *in,
                           int64_t (*bytes_of)(const gn_graph *))
{
    int64_t bytes = 0;
    for (int k = 0; k < n; k++)
        for (int g = 0; in[k] && g < in[k]->artifact->n_graphs; g++)
            if (in[k]->derived[g] && !counted(in, k, g))
                bytes += bytes_of(in[k]->derived[g]->graph);
    return bytes;
}

int64_t gn_instances_derived_bytes(int n, const gn_instance *const *in)
{
    return sum_derived(n, in, gn_graph_bytes);
}

int64_t gn_instances_derived_shared_bytes(int n, const gn_instance *const *in)
{
    return sum_derived(n, in, gn_graph_shared_bytes);
}

static bool follows_data(const gn_artifact *a, int g)
{
    const gn_graph_slot *s = &a->graphs[g];
    if (s->name || s->pattern_of) return false;
    bool of_data = s->how == GN_SUBSET || s->how == GN_FILTER || s->how == GN_INDEX;
    if (s->drawn || s->once || of_data || s->how == GN_GROUP) return true;
    bool with = false;
    for (int k = 0; s->how >= GN_GROW && k < 2; k++)
        with = with || (s->with[k] >= 0 && follows_data(a, s->with[k]));
    return with || follows_data(a, s->parent);
}

int64_t gn_instance_own_graph_bytes(const gn_instance *in)
{
    int64_t bytes = 0;
    for (int g = 0; g < in->artifact->n_graphs; g++)
        if (follows_data(in->artifact, g) && !counted(&in, 0, g))
            bytes += gn_graph_bytes(in->graph[g]);
    return bytes;
}

int64_t gn_instance_owned_bytes(const gn_instance *in)
{
    return in->plan.bytes + gn_instance_output_bytes(in) + gn_instances_derived_bytes(1, &in);
}

void gn_instance_poison(gn_instance *in)
{
    if (!in->remote)
        memset(in->arena, 0xff, (size_t)in->plan.bytes);
    else if (!in->error)
        note_error(in, in->artifact->remote->poison(in->remote));
}
