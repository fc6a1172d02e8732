#include "runtime/cuda/cuda_instance.h"

#include "runtime/cuda/cuda_memory.h"
#include "runtime/run/depend.h"
#include "runtime/run/instance.h"
#include "runtime/memory.h"

#include <limits.h>
#include <string.h>

/* Instances ------------------------------------------------------------------------------------ */

typedef struct ready { /* a launch; arguments are the addresses of its values */
    uint64_t *value;
    void **argument;
    int64_t blocks;
} ready;

struct gn_cuda_instance {
    gn_cuda_memory *memory;
    const gn_instance *host;
    const gn_cuda_program *code;
    gn_device_ptr *at, *held; /* [n_slots] addresses; those of shadows that this instance uses, 0:
                                 none */
    ready *ready;             /* [n_launches] */
    void *operands;           /* values and arguments of all */
    ready whole;              /* the program's one launch, where it has that form: blocks > 0 */
    int *number;              /* [n_slots] gn_artifact_used */
    uint64_t *turn;           /* [n_launches] of the whole's values */
    int moved;                /* the arena's, when addresses were resolved */
    bool replay, stale;       /* stale: the graph has other addresses */
    gn_cuda_choice *choice;   /* [n_launches] which are the library's; NULL: none may be */
    bool ran;                 /* with these choices */
    gn_cuda_work *work;       /* the recorded graph, and what it does; NULL: there is none */
};

static int64_t bytes_of(const gn_instance *h, int slot)
{
    const gn_slot *s = &h->artifact->slots[slot];
    int64_t elems = h->plan.elems[slot];
    if (s->kind == GN_SLOT_GRAPH) elems = gn_graph_array_count(h->graph[s->graph], s->array);
    return elems * (int64_t)gn_elem_size(s->elem);
}

static bool has_shadow(const gn_instance *h, int slot)
{
    const gn_slot *s = &h->artifact->slots[slot];
    bool unread = s->kind == GN_SLOT_GRAPH && s->first < 0;
    return s->kind != GN_SLOT_TEMP && h->plan.root[slot] == slot && !unread;
}

/* New shadows are taken before old ones are given back: what both have stays where it is. */
static gn_status *find_shadows(gn_cuda_instance *in, gn_device_ptr *held)
{
    const gn_instance *h = in->host;
    for (int k = 0; k < h->artifact->n_slots; k++) {
        const gn_slot *s = &h->artifact->slots[k];
        if (!has_shadow(h, k)) continue;
        GN_TRY(gn_cuda_memory_acquire(in->memory, h->addr[k], bytes_of(h, k),
                                      s->name ? s->name : "a graph's array", &held[k]));
    }
    return NULL;
}

static void release_all(gn_cuda_instance *in, gn_device_ptr *held)
{
    for (int k = 0; held && k < in->host->artifact->n_slots; k++)
        if (held[k]) gn_cuda_memory_release(in->memory, held[k]);
    gn_block_free(held);
}

static void resolve(gn_cuda_instance *in)
{
    const gn_instance *h = in->host;
    const gn_artifact *a = h->artifact;
    for (int k = 0; k < a->n_slots; k++) {
        int root = h->plan.root[k];
        bool temp = a->slots[root].kind == GN_SLOT_TEMP;
        in->at[k] = temp ? in->memory->arena + (gn_device_ptr)h->plan.offset[root] : in->held[root];
    }
    for (int k = 0; k < a->n_launches && !in->code->whole; k++)
        for (int b = 0; b < a->launches[k].n_buf; b++)
            in->ready[k].value[b] = in->at[a->launches[k].buf[b]];
    for (int k = 0; k < a->n_slots && in->code->whole; k++)
        if (in->number[k] >= 0) in->whole.value[in->number[k]] = in->at[k];
    in->moved = in->memory->moved;
    in->stale = true;
}

static bool comes_first(const gn_instance *h, int slot)
{
    for (int k = 0; k < slot; k++)
        if (h->addr[k] == h->addr[slot] && h->plan.root[k] == k) return false;
    return true;
}

/* The device has no room for it: what the whole program takes there. */
static gn_status *tell_plan(const gn_cuda_instance *in, gn_status *s)
{
    const gn_instance *h = in->host;
    const gn_artifact *a = h->artifact;
    int64_t data = 0, there = in->memory->arena_bytes >= h->plan.bytes ? h->plan.bytes : 0;
    if (gn_status_code(s) != GN_ERR_NOMEM) return s;
    for (int k = 0; k < a->n_slots; k++) {
        if (!has_shadow(h, k) || !comes_first(h, k)) continue;
        int64_t bytes = bytes_of(h, k);
        data += bytes;
        if (gn_cuda_memory_has(in->memory, h->addr[k])) there += bytes;
    }
    gn_status *told = GN_ERROR(GN_ERR_NOMEM,
                               "%s\n%s takes %lld bytes there in all: %lld of temporaries, %lld of "
                               "data, graphs and results; %lld are there",
                               gn_status_message(s), a->name, (long long)(h->plan.bytes + data),
                               (long long)h->plan.bytes, (long long)data, (long long)there);
    gn_status_free(s);
    return told;
}

static gn_status *find_addresses(gn_cuda_instance *in)
{
    void *block;
    gn_status *s = gn_cuda_memory_reserve(in->memory, in->host->plan.bytes,
                                          in->host->artifact->name);
    if (s) return tell_plan(in, s);
    GN_TRY(gn_block_zeroed(in->host->artifact->n_slots, sizeof *in->held, "shadows", &block));
    s = find_shadows(in, block);
    release_all(in, s ? block : in->held);
    if (s) return tell_plan(in, s);
    in->held = block;
    resolve(in);
    return NULL;
}

static gn_status *count_blocks(gn_cuda_instance *in, int k)
{
    const gn_artifact *a = in->host->artifact;
    const gn_launch *l = &a->launches[k];
    int64_t trip = in->host->ready[k].trip;
    if (l->kind == GN_LAUNCH_COPY) return NULL;
    const gn_cuda_code *c = &in->code->kernels[l->kernel];
    if (c->per_block < 1 || !c->function)
        GN_FAIL(GN_ERR_INTERNAL, "%s: kernel %d has no code", a->name, l->kernel);
    in->ready[k].blocks = trip / c->per_block + (trip % c->per_block != 0);
    if (in->ready[k].blocks > INT_MAX)
        GN_FAIL(GN_ERR_BACKEND, "%s: launch %d takes %lld blocks; a grid has at most %d", a->name,
                k, (long long)in->ready[k].blocks, INT_MAX);
    return NULL;
}

static gn_status *make_launches(gn_cuda_instance *in)
{
    const gn_artifact *a = in->host->artifact;
    void *block;
    int64_t values = 0;
    for (int k = 0; k < a->n_launches; k++) values += a->launches[k].n_buf + a->launches[k].n_sym;
    GN_TRY(gn_block_zeroed(a->n_launches, sizeof *in->ready, "launches", &block));
    in->ready = block;
    _Static_assert(sizeof(void *) == sizeof(uint64_t), "one block holds both");
    GN_TRY(gn_block_zeroed(2 * values, sizeof(uint64_t), "arguments", &in->operands));
    uint64_t *value = in->operands;
    void **argument = (void **)(void *)(value + values);
    for (int k = 0; k < a->n_launches; k++) {
        const gn_launch *l = &a->launches[k];
        int n = l->n_buf + l->n_sym;
        in->ready[k] = (ready){.value = value, .argument = argument};
        for (int i = 0; i < n; i++) argument[i] = &value[i];
        for (int i = 0; i < l->n_sym; i++) value[l->n_buf + i] = (uint64_t)in->host->sym[l->sym[i]];
        value += n;
        argument += n;
        GN_TRY(count_blocks(in, k));
    }
    return NULL;
}

/* Programs in one kernel ----------------------------------------------------------------------- */

/* Blocks that launch k could use at once. */
static int64_t blocks_of(const gn_cuda_instance *in, int k)
{
    const gn_ready *r = &in->host->ready[k];
    bool copies = in->host->artifact->launches[k].kind == GN_LAUNCH_COPY;
    if (copies && r->buf[0] == r->buf[1]) return 0;
    int64_t n = copies ? r->sym[0] / 4 + r->sym[0] % 4 : r->trip,
            each = in->code->whole->per_block[k];
    return n / each + (n % each != 0);
}

/* Between two meetings of the grid launches run side by side, one beginning at the block where the
 * last one ends.  As many blocks as keep the widest of these stretches busy: meeting costs more the
 * more they are. */
static void plan_turns(gn_cuda_instance *in)
{
    const gn_artifact *a = in->host->artifact;
    int64_t wide = 0, widest = 1, first = 0, most = in->code->whole->resident;
    for (int k = 0; k < a->n_launches; k++) in->turn[k] = blocks_of(in, k) > 0 ? GN_TURN_RUNS : 0;
    (void)gn_find_meetings(a, &in->host->plan, in->turn);
    for (int k = 0; k < a->n_launches; k++) {
        if (in->turn[k] & GN_TURN_MEETS) wide = 0;
        if (wide < most) wide += blocks_of(in, k);
        if (wide > widest) widest = wide;
    }
    in->whole.blocks = widest < most ? widest : most;
    for (int k = 0; k < a->n_launches; k++) {
        if (in->turn[k] & GN_TURN_MEETS) first = 0;
        in->turn[k] |= (uint64_t)first << 2;
        first = (first + blocks_of(in, k) % in->whole.blocks) % in->whole.blocks;
    }
}

/* The word that blocks meet at, 0 before the first launch; each launch leaves it such that the next
 * can go on. */
static gn_status *make_gate(gn_cuda_memory *m)
{
    static const uint32_t zero = 0;
    uint64_t gate;
    if (m->gate) return NULL;
    GN_TRY(gn_cuda_alloc(m->device, sizeof zero, "where blocks meet", &gate));
    gn_status *s = gn_cuda_upload(m->device, gate, &zero, sizeof zero);
    if (s)
        gn_cuda_free(m->device, gate);
    else
        m->gate = gate;
    return s;
}

static gn_status *make_whole(gn_cuda_instance *in)
{
    const gn_artifact *a = in->host->artifact;
    void *block;
    int copies = 0;
    GN_TRY(make_gate(in->memory));
    GN_TRY(gn_block_zeroed(a->n_slots, sizeof *in->number, "numbers", &block));
    in->number = block;
    int used = gn_artifact_used(a, in->number);
    for (int k = 0; k < a->n_launches; k++) copies += a->launches[k].kind == GN_LAUNCH_COPY;
    int64_t n = (int64_t)used + a->n_syms + copies + a->n_launches + 1;
    GN_TRY(gn_block_zeroed(n + 1, sizeof(uint64_t), "arguments", &in->operands));
    uint64_t *value = in->operands, *next = value + used;
    in->whole = (ready){.value = value, .argument = (void **)(void *)(value + n)};
    *in->whole.argument = value; /* one, a structure of them */
    for (int s = 0; s < a->n_syms; s++) *next++ = (uint64_t)in->host->sym[s];
    for (int k = 0; k < a->n_launches; k++)
        if (a->launches[k].kind == GN_LAUNCH_COPY) *next++ = (uint64_t)in->host->ready[k].sym[0];
    in->turn = next;
    plan_turns(in);
    next[a->n_launches] = in->memory->gate;
    return NULL;
}

static gn_status *make_tables(gn_cuda_instance *in)
{
    void *block;
    GN_TRY(gn_block_zeroed(in->host->artifact->n_slots, sizeof *in->at, "addresses", &block));
    in->at = block;
    return in->code->whole ? make_whole(in) : make_launches(in);
}

/* Products that the library may make. */
static gn_status *make_choices(gn_cuda_instance *in)
{
    const gn_artifact *a = in->host->artifact;
    void *block;
    bool any = false;
    for (int k = 0; k < a->n_launches; k++) any = any || a->launches[k].product;
    if (!any || !in->code->library || in->code->whole) return NULL;
    GN_TRY(gn_block_zeroed(a->n_launches, sizeof *in->choice, "choices", &block));
    in->choice = block;
    for (int k = 0; k < a->n_launches; k++) {
        const gn_product *p = a->launches[k].product;
        if (!p) continue;
        gn_device_ptr bias = p->bias < 0 ? 0 : in->ready[k].value[p->bias];
        GN_TRY(gn_cuda_choice_make(in->code->library, in->memory->device, in->host, k, bias,
                                   &in->choice[k]));
    }
    return NULL;
}

gn_status *gn_cuda_instance_new(gn_cuda_memory *m, const gn_instance *host,
                                const gn_cuda_program *code, gn_cuda_instance **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_cuda_instance), "an instance on the device", &block));
    gn_cuda_instance *in = block;
    in->memory = m;
    in->host = host;
    in->code = code;
    gn_status *s = make_tables(in);
    if (!s) s = find_addresses(in);
    if (!s) s = make_choices(in);
    if (s) {
        gn_cuda_instance_free(in);
        return s;
    }
    *out = in;
    return NULL;
}

static bool by_library(const gn_cuda_instance *in, int k)
{
    return in->choice && in->choice[k].product && !in->choice[k].pending &&
           in->choice[k].verdict.library;
}

/* Does launch k put anything on the stream? */
static bool does_anything(const gn_cuda_instance *in, int k)
{
    const ready *r = &in->ready[k];
    if (in->host->artifact->launches[k].kind != GN_LAUNCH_COPY) return r->blocks > 0;
    return in->host->ready[k].sym[0] > 0 && r->value[0] != r->value[1];
}

/* What a graph of the launches as they are now does. */
static gn_status *describe_work(const gn_cuda_instance *in, gn_cuda_work **out)
{
    const gn_artifact *a = in->host->artifact;
    int64_t words = 0;
    for (int k = 0; k < a->n_launches; k++)
        words += 4 + a->launches[k].n_buf + a->launches[k].n_sym;
    GN_TRY(gn_cuda_work_new(words, out));
    gn_cuda_work *w = *out;
    for (int k = 0; k < a->n_launches; k++) {
        const gn_launch *l = &a->launches[k];
        const ready *r = &in->ready[k];
        bool copies = l->kind == GN_LAUNCH_COPY;
        int64_t bytes = copies ? in->host->ready[k].sym[0] : 0;
        if (!does_anything(in, k)) continue;
        int n = copies ? 2 : l->n_buf + l->n_sym;
        uint64_t *to = w->word + w->n;
        to[0] = copies ? 0 : (uint64_t)(uintptr_t)in->code->kernels[l->kernel].function;
        to[1] = (uint64_t)(copies ? bytes : r->blocks);
        if (by_library(in, k)) {
            to[0] = GN_CUDA_LIBRARY_CALL;
            to[1] = gn_cuda_product_digest(in->choice[k].product);
        }
        to[2] = (uint64_t)n;
        memcpy(to + 3, r->value, (size_t)n * sizeof *to);
        w->n += 3 + n;
        w->nodes++;
    }
    return NULL;
}

void gn_cuda_instance_free(gn_cuda_instance *in)
{
    if (!in) return;
    if (in->work) gn_cuda_keep_put(&in->memory->keep, in->work);
    release_all(in, in->held);
    for (int k = 0; in->choice && k < in->host->artifact->n_launches; k++)
        gn_cuda_choice_end(&in->choice[k]);
    gn_block_free(in->choice);
    gn_block_free(in->operands);
    gn_block_free(in->number);
    gn_block_free(in->ready);
    gn_block_free(in->at);
    gn_block_free(in);
}

/* Running -------------------------------------------------------------------------------------- */

static gn_status *launch_as(gn_cuda_instance *in, int k, bool library)
{
    const gn_artifact *a = in->host->artifact;
    const gn_launch *l = &a->launches[k];
    const gn_product *p = l->product;
    ready *r = &in->ready[k];
    gn_cuda_device *d = in->memory->device;
    gn_status *s;
    if (l->kind == GN_LAUNCH_COPY)
        return gn_cuda_copy(d, r->value[0], r->value[1], in->host->ready[k].sym[0]);
    if (r->blocks == 0) return NULL;
    if (library) {
        s = gn_cuda_product_run(in->choice[k].product, r->value[p->out], r->value[p->a],
                                r->value[p->b], p->bias < 0 ? 0 : r->value[p->bias]);
    } else {
        const gn_cuda_code *c = &in->code->kernels[l->kernel];
        s = gn_cuda_launch(d, c->function, r->blocks, c->threads, r->argument);
    }
    return gn_status_annotate(s, "%s: launch %d, %s", a->name, k, l->name);
}

static gn_status *launch(gn_cuda_instance *in, int k)
{
    return launch_as(in, k, by_library(in, k));
}

typedef struct form {
    gn_cuda_instance *in;
    int launch;
} form;

static gn_status *run_form(void *ctx, bool library)
{
    form *f = ctx;
    return launch_as(f->in, f->launch, library);
}

/* The launch, which is a product that has not been decided for: does that, and leaves what one form
 * makes. */
static gn_status *choose(gn_cuda_instance *in, int k)
{
    const gn_launch *l = &in->host->artifact->launches[k];
    const gn_product *p = l->product;
    const uint64_t *at = in->ready[k].value;
    form f = {in, k};
    gn_cuda_forms forms = {run_form,
                           &f,
                           at[p->out],
                           at[p->a],
                           at[p->b],
                           p->bias < 0 ? 0 : at[p->bias],
                           in->host->plan.elems[l->buf[p->out]]};
    return gn_cuda_choice_decide(in->code->library, in->memory->device, in->host, k, &forms,
                                 &in->choice[k]);
}

static gn_status *run_launches(gn_cuda_instance *in)
{
    for (int k = 0; k < in->host->artifact->n_launches; k++)
        GN_TRY(in->choice && in->choice[k].pending ? choose(in, k) : launch(in, k));
    in->ran = true;
    return NULL;
}

static gn_status *launch_whole(gn_cuda_instance *in)
{
    const gn_cuda_whole_code *w = in->code->whole;
    gn_status *s = gn_cuda_launch_together(in->memory->device, w->function, in->whole.blocks,
                                           w->threads, in->whole.argument);
    return gn_status_annotate(s, "%s, in one kernel", in->host->artifact->name);
}

/* Launch k alone: the others have no turn. */
static gn_status *launch_phase(gn_cuda_instance *in, int k)
{
    for (int j = 0; j < in->host->artifact->n_launches; j++) in->turn[j] = 0;
    in->turn[k] = blocks_of(in, k) > 0 ? GN_TURN_RUNS : 0;
    gn_status *s = launch_whole(in);
    plan_turns(in);
    return s;
}

static gn_status *set_node(gn_cuda_instance *in, gn_cuda_graph *g, int64_t node, int k)
{
    const gn_launch *l = &in->host->artifact->launches[k];
    const ready *r = &in->ready[k];
    if (l->kind == GN_LAUNCH_COPY)
        return gn_cuda_graph_set_copy(g, node, r->value[0], r->value[1], in->host->ready[k].sym[0]);
    const gn_cuda_code *c = &in->code->kernels[l->kernel];
    return gn_cuda_graph_set_launch(g, node, c->function, r->blocks, c->threads, r->argument);
}

/* A graph that does what `was` says does what `now` says: each node that differs is set.  False:
 * that cannot be, or failed, and the graph has to be recorded. */
static bool set_nodes(gn_cuda_instance *in, const gn_cuda_work *was, const gn_cuda_work *now)
{
    int64_t node = 0;
    const uint64_t *a = was->word, *b = now->word;
    gn_cuda_likeness like = gn_cuda_work_compare(was, now);
    if (like == GN_CUDA_SAME_VALUES) return true;
    if (like == GN_CUDA_OTHER_WORK || !gn_cuda_graph_has_nodes(was->graph, now->nodes))
        return false;
    for (int k = 0; k < in->host->artifact->n_launches; k++) {
        if (!does_anything(in, k)) continue;
        int64_t words = 3 + (int64_t)b[2];
        gn_status *s = NULL;
        if (memcmp(a, b, (size_t)words * sizeof *a) != 0) s = set_node(in, was->graph, node, k);
        if (s) { /* if the device is lost, recording says so */
            gn_status_free(s);
            return false;
        }
        a += words;
        b += words;
        node++;
    }
    return true;
}

static gn_status *record(gn_cuda_instance *in, gn_cuda_work *now)
{
    GN_TRY(gn_cuda_record_begin(in->memory->device, now->nodes));
    return gn_cuda_record_end(in->memory->device, run_launches(in), &now->graph);
}

/* The instance's own graph, or one that was kept of an instance like this, set node by node to what
 * launches do now; where that cannot be they are recorded, and the graph is updated by that or
 * made. */
static gn_status *find_graph(gn_cuda_instance *in)
{
    gn_cuda_work *now, *was;
    GN_TRY(describe_work(in, &now));
    was = in->work ? in->work : gn_cuda_keep_take(&in->memory->keep, now);
    in->work = now;
    if (was) now->graph = was->graph;
    gn_status *s = was && set_nodes(in, was, now) ? NULL : record(in, now);
    gn_block_free(was);
    in->stale = s != NULL;
    if (!s) return NULL;
    gn_cuda_graph_free(now->graph);
    gn_block_free(now);
    in->work = NULL;
    return s;
}

void gn_cuda_instance_replay(gn_cuda_instance *in, bool replay) { in->replay = replay; }

gn_status *gn_cuda_instance_run(gn_cuda_instance *in)
{
    if (in->moved != in->memory->moved) GN_TRY(find_addresses(in));
    if (in->code->whole) return launch_whole(in);
    if (!in->replay || (in->choice && !in->ran)) return run_launches(in);
    if (!in->work || in->stale) GN_TRY(find_graph(in));
    return gn_cuda_graph_run(in->work->graph);
}

gn_status *gn_cuda_instance_time(gn_cuda_instance *in, int64_t *ns)
{
    gn_cuda_device *d = in->memory->device;
    if (in->moved != in->memory->moved) GN_TRY(find_addresses(in));
    for (int k = 0; k < in->host->artifact->n_launches; k++) {
        float ms = 0;
        if (in->choice && in->choice[k].pending) GN_TRY(choose(in, k));
        GN_TRY(gn_cuda_mark(d, 0));
        GN_TRY(in->code->whole ? launch_phase(in, k) : launch(in, k));
        GN_TRY(gn_cuda_mark(d, 1));
        GN_TRY(gn_cuda_between(d, &ms));
        ns[k] += (int64_t)((double)ms * 1e6);
    }
    in->ran = true;
    return NULL;
}

gn_status *gn_cuda_instance_clock(gn_cuda_instance *in, int n, double *us)
{
    gn_cuda_device *d = in->memory->device;
    float ms = 0;
    GN_TRY(gn_cuda_mark(d, 0));
    for (int k = 0; k < n; k++) GN_TRY(gn_cuda_instance_run(in));
    GN_TRY(gn_cuda_mark(d, 1));
    GN_TRY(gn_cuda_between(d, &ms));
    *us = (double)ms * 1e3 / n;
    return NULL;
}

gn_status *gn_cuda_instance_poison(gn_cuda_instance *in)
{
    return gn_cuda_fill(in->memory->device, in->memory->arena, 0xff, in->memory->arena_bytes);
}

const char *gn_cuda_instance_form(gn_cuda_instance *in, int launch)
{
    return in->choice ? gn_cuda_choice_text(&in->choice[launch]) : NULL;
}

/* As a remote ---------------------------------------------------------------------------------- */

static gn_status *attach(gn_remote *r, const gn_instance *in, const void *code, void **attached)
{
    gn_cuda_instance *made;
    GN_TRY(gn_cuda_instance_new((gn_cuda_memory *)(void *)r, in, code, &made));
    *attached = made;
    return NULL;
}

static void detach(void *attached) { gn_cuda_instance_free(attached); }
static gn_status *run_attached(void *attached) { return gn_cuda_instance_run(attached); }
static gn_status *wait_attached(void *attached)
{
    gn_cuda_instance *in = attached;
    return gn_cuda_wait(in->memory->device);
}
static void replay(void *attached) { gn_cuda_instance_replay(attached, true); }
static gn_status *time_attached(void *attached, int64_t *ns)
{
    return gn_cuda_instance_time(attached, ns);
}
static gn_status *clock_attached(void *attached, int n, double *us)
{
    return gn_cuda_instance_clock(attached, n, us);
}
static gn_status *poison_attached(void *attached) { return gn_cuda_instance_poison(attached); }
static const char *form_of(void *attached, int launch)
{
    return gn_cuda_instance_form(attached, launch);
}
static gn_status *push(gn_remote *r, const void *host)
{
    return gn_cuda_memory_push((gn_cuda_memory *)(void *)r, host);
}
static gn_status *fetch(gn_remote *r, void *host)
{
    return gn_cuda_memory_fetch((gn_cuda_memory *)(void *)r, host);
}

static gn_status *hold(gn_remote *r, const void *host, int64_t bytes, const char *what)
{
    return gn_cuda_memory_hold((gn_cuda_memory *)(void *)r, host, bytes, what);
}
static void drop(gn_remote *r, const void *host)
{
    gn_cuda_memory_drop((gn_cuda_memory *)(void *)r, host);
}

static const gn_remote on_device = {
    attach,          detach, run_attached, wait_attached, replay, time_attached, clock_attached,
    poison_attached, push,   fetch,        hold,          drop,   form_of};

gn_remote *gn_cuda_memory_remote(gn_cuda_memory *m)
{
    m->remote = on_device;
    return &m->remote;
}
