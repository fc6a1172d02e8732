/* cap: a program keeps to a budget of memory, by launches that run again. Needs: a program that was
 * compiled and has no code, and the sizes that it will be bound with.  Keeps: every bit, for a
 * launch that runs again is the same kernel on the same operands.  Makes: more launches, fewer
 * temporaries at a time.
 *
 * A launch may run again where it writes nothing but temporaries of its own, and outputs that it
 * alone writes; and until a state that it reads is updated.  What its runs cost is counted over its
 * loops (cost.h).  Orders of launches are found on sums of bytes (rerun.h); what the packed arena
 * takes is a plan's word, so the budget of an order shrinks by what a plan was above it, and
 * another one is found, MOST_TRIES times at most. */
#include "compile/compile.h"
#include "compile/cost.h"
#include "compile/rerun.h"
#include "runtime/memory.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 16, WALKED = 1 << 16 /* instructions, to count a launch's cost */ };

/* About what a thread does in a nanosecond, on the machines of docs/lab: what counts is how costs
 * of launches compare. */
static const double bytes_a_ns = 8, gathered_a_ns = 12, flops_a_ns = 40, functions_a_ns = 2,
                    launch_ns = 2000;

typedef struct capper {
    gn_arena *arena, *scratch; /* scratch: what no program keeps */
    const gn_room *room;
    const gn_compiled *from;
    gn_compiled *to;
    gn_capped *report;
    gn_instance *in; /* an outline that is looked at */
    lowered *low;    /* launches, before memory is reused */
    int64_t *bytes;
    double cost; /* of a run that repeats nothing */
    gn_rerun_problem problem;
} capper;

/* What launches are to the order ----------------------------------------------------------------
 */

static bool is_temporary(const lowered *low, int b) { return low->buffers.p[b].kind == LOW_TEMP; }

static unsigned access_of(const low_launch *f, uint32_t k)
{
    if (f->kernel) return (unsigned)f->kernel->buffers.p[k].access;
    return k == 0 ? KIR_WRITE : KIR_READ;
}

/* The first launch behind l that writes memory `root`, or l itself where it does; else n. */
static int next_writer(const lowered *low, uint32_t l, int root)
{
    for (uint32_t m = l; m < low->launches.n; m++) {
        const low_launch *f = &low->launches.p[m];
        for (uint32_t k = 0; k < f->buffers.n; k++)
            if (access_of(f, k) & KIR_WRITE && gn_buffer_root(low, f->buffers.p[k]) == root)
                return (int)m;
    }
    return (int)low->launches.n;
}

static int find(int n, const int *values, int v)
{
    int k = 0;
    while (k < n && values[k] != v) k++;
    return k;
}

static void add_value(int *n, int *values, int v)
{
    if (find(*n, values, v) == *n) values[(*n)++] = v;
}

/* Reads, writes, and whether it may run again. */
static gn_rerun_step step_of(capper *z, uint32_t l, const bool *stays)
{
    const lowered *low = z->low;
    const low_launch *f = &low->launches.p[l];
    int *reads = GN_NEW_N(z->scratch, int, f->buffers.n + 1);
    int *writes = GN_NEW_N(z->scratch, int, f->buffers.n + 1);
    gn_rerun_step s = {.reads = reads, .writes = writes, .until = (int)low->launches.n};
    for (uint32_t k = 0; k < f->buffers.n; k++) {
        int b = f->buffers.p[k], root = gn_buffer_root(low, b);
        unsigned access = access_of(f, k);
        if (is_temporary(low, b)) {
            if (access & KIR_READ) add_value(&s.n_reads, reads, b);
            if (access & KIR_WRITE) add_value(&s.n_writes, writes, b);
            s.once = s.once || ((access & KIR_WRITE) && stays[b]);
            continue;
        }
        int writer = next_writer(low, access & KIR_WRITE ? 0 : l, root);
        if (!(access & KIR_WRITE))
            s.until = writer < s.until ? writer : s.until;
        else if (low->buffers.p[b].kind != LOW_OUTPUT || access & KIR_READ || writer != (int)l ||
                 next_writer(low, l + 1, root) < (int)low->launches.n)
            s.once = true;
    }
    gn_rerun_pair *pairs = GN_NEW_N(z->scratch, gn_rerun_pair, f->pairs.n + 1);
    for (uint32_t k = 0; k < f->pairs.n; k++)
        pairs[s.n_pairs++] = (gn_rerun_pair){
            find(s.n_reads, reads, f->buffers.p[f->pairs.p[k].in]),
            find(s.n_writes, writes, f->buffers.p[f->pairs.p[k].out])};
    s.pairs = pairs;
    return s;
}

/* Temporaries that several launches write, or that one reads as well, stay. */
static bool *find_staying(capper *z)
{
    uint32_t n = z->low->buffers.n;
    bool *stays = GN_NEW_N(z->scratch, bool, n + 1), *written = GN_NEW_N(z->scratch, bool, n + 1);
    for (uint32_t l = 0; l < z->low->launches.n; l++) {
        const low_launch *f = &z->low->launches.p[l];
        for (uint32_t k = 0; k < f->buffers.n; k++) {
            int b = f->buffers.p[k];
            if (!(access_of(f, k) & KIR_WRITE)) continue;
            stays[b] = stays[b] || written[b] || access_of(f, k) & KIR_READ;
            written[b] = true;
        }
    }
    return stays;
}

/* Nanoseconds of a run of launch l, about; `in` is of the artifact of these launches. */
static double cost_of(capper *z, uint32_t l, const gn_instance *in, const gn_artifact *a)
{
    const low_launch *f = &z->low->launches.p[l];
    const gn_launch *to = &a->launches[l];
    int64_t *bytes = GN_NEW_N(z->scratch, int64_t, f->buffers.n + 1), moved = 0;
    void **data = GN_NEW_N(z->scratch, void *, f->buffers.n + 1);
    int64_t *sym = GN_NEW_N(z->scratch, int64_t, f->syms.n + 1), trips = 1;
    for (uint32_t k = 0; k < f->buffers.n; k++) {
        const gn_slot *s = &a->slots[to->buf[k]];
        bytes[k] = gn_instance_slot_bytes(in, to->buf[k]);
        moved += bytes[k];
        if (s->kind == GN_SLOT_GRAPH) data[k] = gn_instance_graph(in, s->graph)->array[s->array];
    }
    if (!f->kernel) return launch_ns + (double)moved / bytes_a_ns;
    for (uint32_t k = 0; k < f->syms.n; k++) sym[k] = gn_instance_symbol(in, to->sym[k]);
    if (to->trip.sym >= 0)
        trips = (to->trip.coef * gn_instance_symbol(in, to->trip.sym) + to->trip.plus) / to->step;
    gn_cost c = gn_cost_of(z->scratch, f->kernel, bytes, data, sym, trips > 1 ? trips : 1, WALKED);
    return launch_ns + c.work_set / bytes_a_ns + c.gathered / gathered_a_ns + c.flops / flops_a_ns +
           (c.functions + c.draws) / functions_a_ns;
}

/* The program of these launches as it would be bound. */
static gn_status *outline(capper *z, const lowered *low, gn_artifact **a, gn_instance **in)
{
    gn_taken_list taken;
    GN_TRY(gn_assemble(z->scratch, low, false, a, &taken));
    return z->room->outline(z->room->ctx, *a, in);
}

static gn_status *find_bytes(capper *z)
{
    gn_artifact *a;
    gn_instance *in;
    uint32_t n = z->low->buffers.n;
    z->bytes = GN_NEW_N(z->scratch, int64_t, n + 1);
    GN_TRY(outline(z, z->low, &a, &in));
    for (uint32_t b = 0; b < n; b++)
        if (is_temporary(z->low, (int)b))
            (void)gn_round_up(gn_instance_slot_bytes(in, (int)b), &z->bytes[b]);
    gn_instance_free(in);
    return NULL;
}

static gn_status *make_problem(capper *z)
{
    gn_artifact *a;
    uint32_t n = z->low->launches.n;
    gn_rerun_step *steps = GN_NEW_N(z->scratch, gn_rerun_step, n + 1);
    bool *stays = find_staying(z);
    GN_TRY(outline(z, z->low, &a, &z->in));
    for (uint32_t l = 0; l < n; l++) {
        steps[l] = step_of(z, l, stays);
        steps[l].cost = cost_of(z, l, z->in, a);
        z->cost += steps[l].cost;
    }
    gn_instance_free(z->in);
    z->in = NULL;
    z->problem = (gn_rerun_problem){(int)z->low->buffers.n, (int)n, z->bytes, stays, steps};
    return NULL;
}

/* An order as a program ------------------------------------------------------------------------ */

/* Buffers of a launch that runs in its turn: what was written last is read, and a run that is not
 * the first writes anew. */
static void rename_buffers(const capper *z, gn_arena *a, lowered *to, low_launch *f, int *now,
                           bool again)
{
    const int *was = f->buffers.p;
    f->buffers.p = GN_NEW_N(a, int, f->buffers.n + 1);
    f->buffers.cap = f->buffers.n;
    for (uint32_t k = 0; k < f->buffers.n; k++) {
        int b = was[k];
        bool fresh = again && access_of(f, k) & KIR_WRITE && is_temporary(z->low, b) &&
                     !z->problem.stays[b];
        if (fresh) {
            low_buffer copy = z->low->buffers.p[b];
            now[b] = (int)to->buffers.n;
            GN_PUSH(a, to->buffers, copy);
        }
        f->buffers.p[k] = now[b];
    }
}

/* The same kernel; equal ones share their code (code.c). */
static kir_kernel *named_anew(gn_arena *a, const kir_kernel *k, int place)
{
    kir_kernel *to = GN_NEW(a, kir_kernel);
    *to = *k;
    to->name = gn_arena_printf(a, "%s_again_%d", k->name, place);
    return to;
}

static lowered *apply(const capper *z, gn_arena *a, const gn_rerun_order *o)
{
    const lowered *from = z->low;
    lowered *to = GN_NEW(a, lowered);
    *to = (lowered){.p = from->p, .f = from->f};
    to->syms = from->syms;
    int *now = GN_NEW_N(z->scratch, int, from->buffers.n + 1);
    bool *ran = GN_NEW_N(z->scratch, bool, from->launches.n + 1);
    for (uint32_t b = 0; b < from->buffers.n; b++) {
        now[b] = (int)b;
        GN_PUSH(a, to->buffers, from->buffers.p[b]);
    }
    for (int k = 0; k < o->n; k++) {
        int s = o->step[k];
        low_launch f = from->launches.p[s];
        rename_buffers(z, a, to, &f, now, ran[s]);
        if (ran[s] && f.kernel) f.kernel = named_anew(a, f.kernel, k);
        f.again = ran[s];
        ran[s] = true;
        GN_PUSH(a, to->launches, f);
    }
    return to;
}

/* The order as a program; *bytes: that its temporaries take. */
static gn_status *build(const capper *z, gn_arena *a, const gn_rerun_order *o, gn_compiled *out,
                        int64_t *bytes)
{
    gn_instance *in;
    gn_compiled c = *z->from;
    GN_TRY(gn_settle_launches(a, apply(z, a, o), &c));
    c.artifact->most_bytes = z->room->bytes;
    GN_TRY(z->room->outline(z->room->ctx, c.artifact, &in));
    *bytes = gn_instance_arena_bytes(in);
    gn_instance_free(in);
    *out = c;
    return NULL;
}

/* Finding one ---------------------------------------------------------------------------------- */

typedef struct found {
    bool any;
    gn_rerun_order order;
    int64_t bytes;
} found;

static gn_status *look_at(const capper *z, const gn_rerun_order *o, found *best)
{
    gn_compiled c;
    int64_t bytes;
    GN_TRY(build(z, z->scratch, o, &c, &bytes));
    if (!best->any || bytes < best->bytes) *best = (found){true, *o, bytes};
    return NULL;
}

static gn_status *search(const capper *z, found *best)
{
    int64_t room = z->room->bytes, budget = room;
    gn_rerun_order o;
    for (int k = 0; k < MOST_TRIES; k++) {
        if (budget <= 0 || !gn_rerun_within(z->scratch, &z->problem, budget, &o)) break;
        found one = {0};
        GN_TRY(look_at(z, &o, &one));
        if (!best->any || one.bytes < best->bytes) *best = one;
        if (best->bytes <= room) return NULL;
        int64_t peak = o.peak < budget ? o.peak : budget, less = budget - (one.bytes - room);
        budget = less < peak ? less : peak - peak / 100 - 1;
    }
    o = gn_rerun_least(z->scratch, &z->problem);
    return look_at(z, &o, best);
}

static gn_status *cap(capper *z)
{
    found best = {0};
    gn_compiled *c = z->to;
    gn_capped *out = z->report;
    gn_compiled made;
    GN_TRY(gn_lower_regions(z->arena, c, &z->low));
    GN_TRY(find_bytes(z));
    if (gn_is_on(c->opt->pass.without.decisions, GN_DO_ORDER))
        gn_order_launches(z->arena, z->low, z->bytes);
    GN_TRY(make_problem(z));
    GN_TRY(search(z, &best));
    if (best.bytes >= out->without) return NULL; /* it is what takes least */
    GN_TRY(build(z, z->arena, &best.order, &made, &out->bytes));
    out->fits = out->bytes <= z->room->bytes;
    out->again = best.order.n - z->problem.n_steps;
    out->more = z->cost > 0 ? best.order.cost / z->cost : 0;
    *c = made;
    return NULL;
}

/* f has a scratch, which ends with it, and so does an outline, where memory runs out too. */
static gn_status *in_scratch(capper *z, gn_status *(*f)(capper *))
{
    gn_arena scratch;
    jmp_buf oom, *was = z->arena->oom;
    gn_status *s;
    gn_arena_init(&scratch);
    z->scratch = &scratch;
    z->arena->oom = scratch.oom = &oom;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: which kernels run again");
    else
        s = f(z);
    z->arena->oom = was;
    gn_instance_free(z->in);
    gn_arena_free(&scratch);
    return s;
}

gn_status *gn_compile_within(gn_arena *a, const gn_room *room, gn_compiled *c, gn_capped *out)
{
    gn_instance *in;
    *out = (gn_capped){0};
    GN_TRY(room->outline(room->ctx, c->artifact, &in));
    out->without = out->bytes = gn_instance_arena_bytes(in);
    gn_instance_free(in);
    out->fits = out->bytes <= room->bytes;
    if (out->fits) return NULL;
    capper z = {.arena = a, .room = room, .from = c, .to = c, .report = out};
    return in_scratch(&z, cap);
}

/* Layers that the model says ------------------------------------------------------------------- */

/* The value that a temporary holds; 0: part of one. */
static gir_id value_of(const lowered *low, int b)
{
    const char *name = low->buffers.p[b].name;
    if (!is_temporary(low, b) || !name || name[0] != 'v') return 0;
    gir_id v = (gir_id)strtoul(name + 1, NULL, 10);
    return v < low->p->nodes.n ? v : 0;
}

/* The first launch that makes nothing but gradients: masks for them are made along the way. */
static int first_back(const lowered *low)
{
    for (uint32_t l = 0; l < low->launches.n; l++) {
        const low_launch *f = &low->launches.p[l];
        bool back = f->kernel && f->region >= 0;
        const region *r = back ? &low->f->regions.p[f->region] : NULL;
        for (uint32_t m = 0; back && m < r->members.n; m++)
            back = gir_at(low->p, r->members.p[m])->loc.way == GIR_BACKWARD;
        if (back) return (int)l;
    }
    return (int)low->launches.n;
}

/* Does the model say that what lies in temporary b comes again? */
static bool is_said(const lowered *low, int b)
{
    gir_id v = value_of(low, b);
    return v && gir_at(low->p, v)->loc.again;
}

static void note_kept(lowered *low, uint32_t n, const bool *kept)
{
    for (uint32_t b = 0; b < n; b++) {
        if (!kept[b]) continue;
        if (!low->n_kept++) low->kept = value_of(low, (int)b);
    }
}

static gn_status *checkpoint(capper *z)
{
    const lowered *low = z->low;
    uint32_t n = low->buffers.n, launches = low->launches.n;
    gn_rerun_order o;
    gn_rerun_step *steps = GN_NEW_N(z->scratch, gn_rerun_step, launches + 1);
    bool *goes = GN_NEW_N(z->scratch, bool, n + 1), *kept = GN_NEW_N(z->scratch, bool, n + 1),
         *stays = find_staying(z);
    z->bytes = GN_NEW_N(z->scratch, int64_t, n + 1);
    for (uint32_t b = 0; b < n; b++) {
        goes[b] = is_said(low, (int)b);
        z->bytes[b] = is_temporary(low, (int)b);
    }
    for (uint32_t l = 0; l < launches; l++) steps[l] = step_of(z, l, stays);
    z->problem = (gn_rerun_problem){(int)n, (int)launches, z->bytes, stays, steps};
    if (gn_rerun_from(z->scratch, &z->problem, goes, first_back(low), kept, &o))
        z->low = apply(z, z->arena, &o);
    note_kept(z->low, n, kept);
    return NULL;
}

gn_status *gn_checkpoint_launches(gn_arena *a, lowered **low)
{
    capper z = {.arena = a, .low = *low};
    bool any = false;
    for (uint32_t b = 0; b < (*low)->buffers.n && !any; b++) any = is_said(*low, (int)b);
    if (!any) return NULL;
    GN_TRY(in_scratch(&z, checkpoint));
    *low = z.low;
    return NULL;
}
