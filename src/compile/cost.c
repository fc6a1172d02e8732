#include "compile/cost.h"

#include "base/elem.h"

#include <string.h>

enum { BUDGET = 1 << 24 }; /* instructions walked in one kernel */

__extension__ typedef unsigned __int128 wide;

typedef struct walker {
    const kir_kernel *k;
    const int64_t *bytes;
    void *const *buf;
    const int64_t *sym;
    int64_t *value;
    bool *known;
    bool *through; /* depends on something loaded: an index of this kind is a gather */
    bool *uniform; /* FOR: does the same at every iteration */
    kir_id *owner; /* FOR or IF around an instruction; 0: none */
    kir_id thread; /* the thread loop */
    int64_t trips, steps, budget;
    double rounds; /* of serial sums, in this iteration of the thread loop */
    double longest[GN_COST_WARPS];
    double *times; /* by instruction: how often it was walked */
    gn_cost *out;
} walker;

/* What is known without running ---------------------------------------------------------------- */

static void find_owners(walker *w, kir_id i, kir_id owner)
{
    for (; i; i = kir_at(w->k, i)->next) {
        const kir_inst *n = kir_at(w->k, i);
        w->owner[i] = owner;
        bool by_load = n->op == KIR_LOAD || n->op == KIR_TLOAD;
        const kir_id operand[] = {n->a, n->b, n->c};
        for (int k = 0; k < 3 && n->op != KIR_FOR; k++)
            by_load = by_load || (operand[k] && w->through[operand[k]]);
        w->through[i] = by_load;
        if (n->op == KIR_FOR || n->op == KIR_IF) find_owners(w, n->body, i);
    }
}

static bool inside(const walker *w, kir_id i, kir_id loop)
{
    for (; i; i = w->owner[i])
        if (w->owner[i] == loop) return true;
    return false;
}

/* Does integer or condition `v` come out the same at every iteration of the loop? */
static bool same_for(const walker *w, kir_id v, kir_id loop)
{
    const kir_inst *n = kir_at(w->k, v);
    if (!v || n->op == KIR_CONST || n->op == KIR_SYM) return true;
    if (v == loop) return false;
    if (!inside(w, v, loop)) return true;
    if (n->op == KIR_LOAD || n->op == KIR_TLOAD || n->op == KIR_RANDOM) return false;
    return same_for(w, n->a, loop) && same_for(w, n->b, loop) && same_for(w, n->c, loop);
}

static bool body_is_same(const walker *w, kir_id i, kir_id loop)
{
    for (; i; i = kir_at(w->k, i)->next) {
        const kir_inst *n = kir_at(w->k, i);
        if (n->op != KIR_FOR && n->op != KIR_IF) continue;
        if (!same_for(w, n->a, loop) || (n->op == KIR_FOR && !same_for(w, n->b, loop)))
            return false;
        if (!body_is_same(w, n->body, loop)) return false;
    }
    return true;
}

/* The walk ------------------------------------------------------------------------------------- */

static bool load_value(const walker *w, const kir_inst *n, int64_t *out)
{
    const kir_buffer *b = &w->k->buffers.p[n->imm];
    const char *data = w->buf[n->imm];
    if (!data || !w->known[n->a] || gn_elem_is_float(b->elem)) return false;
    int64_t at = w->value[n->a];
    size_t size = gn_elem_size(b->elem);
    if (at < 0 || at >= w->bytes[n->imm] / (int64_t)size) return false;
    data += (size_t)at * size;
    if (size == 1) {
        *out = *(const uint8_t *)data;
    } else if (size == 4) {
        int32_t v;
        memcpy(&v, data, sizeof v);
        *out = b->elem == GN_U32 ? (int64_t)(uint32_t)v : v;
    } else if (size == 8) {
        memcpy(out, data, sizeof *out);
    } else {
        return false;
    }
    return true;
}

static bool fold(const walker *w, const kir_inst *n, int64_t *out)
{
    int64_t a = w->value[n->a], b = w->value[n->b];
    if (n->op == KIR_NOT) {
        *out = !a;
        return w->known[n->a];
    }
    if (n->op == KIR_SELECT) {
        bool yes = w->known[n->a] && a;
        *out = yes ? b : w->value[n->c];
        return w->known[n->a] && w->known[yes ? n->b : n->c];
    }
    if (!w->known[n->a] || !w->known[n->b]) return false;
    switch ((kir_op)n->op) {
    case KIR_IADD: return !__builtin_add_overflow(a, b, out);
    case KIR_ISUB: return !__builtin_sub_overflow(a, b, out);
    case KIR_IMUL: return !__builtin_mul_overflow(a, b, out);
    case KIR_IDIV: *out = b > 0 ? a / b : 0; return b > 0;
    case KIR_IMOD: *out = b > 0 ? a % b : 0; return b > 0;
    case KIR_IMIN: *out = a < b ? a : b; return true;
    case KIR_IMAX: *out = a > b ? a : b; return true;
    case KIR_ILT: *out = a < b; return true;
    case KIR_ILE: *out = a <= b; return true;
    case KIR_IEQ: *out = a == b; return true;
    case KIR_AND: *out = a && b; return true;
    case KIR_OR: *out = a || b; return true;
    default: return false;
    }
}

/* Arithmetic of an instruction that is done so many times. */
static void count_work(const kir_inst *n, double times, gn_value_cost *c)
{
    switch ((kir_op)n->op) {
    case KIR_FADD:
    case KIR_FSUB:
    case KIR_FMUL:
    case KIR_FMIN:
    case KIR_FMAX:
    case KIR_FLT:
    case KIR_FLE:
    case KIR_FEQ:
    case KIR_TACC: c->flops += times; break;
    case KIR_FMA:
    case KIR_TFMA: c->flops += 2 * times; break;
    case KIR_TDOT:
        c->flops += 4 * times;
        c->pairs += 4 * times;
        break;
    case KIR_MMA: {
        const kir_kind_info *k = &kir_kinds[kir_mma_of(n->imm).kind];
        c->flops += 2.0 * k->rows * k->cols * k->depth * times;
        break;
    }
    case KIR_FDIV:
    case KIR_FPOW:
    case KIR_SQRT: c->functions += times; break;
    case KIR_RANDOM: c->draws += times; break;
    default:
        if (kir_is_function((kir_op)n->op)) c->functions += times;
        break;
    }
}

static double bytes_of(const walker *w, const kir_inst *n, double times)
{
    return times * (double)gn_elem_size(w->k->buffers.p[n->imm].elem);
}

static void count(walker *w, kir_id i, double times)
{
    const kir_inst *n = kir_at(w->k, i);
    gn_cost *c = w->out;
    gn_value_cost work = {0};
    w->times[i] += times;
    if (n->op == KIR_LOAD) {
        gn_buffer_cost *b = &c->buffer[n->imm];
        *(w->through[n->a] ? &b->gathered : &b->read) += bytes_of(w, n, times);
    } else if (n->op == KIR_STORE) {
        c->buffer[n->imm].written += bytes_of(w, n, times);
    }
    count_work(n, times, &work);
    c->flops += work.flops;
    c->pairs += work.pairs;
    c->functions += work.functions;
    c->draws += work.draws;
}

static void walk(walker *w, kir_id i, double times);

/* Iteration number t is over; `all` are walked, in order. */
static void note_rounds(walker *w, int64_t t, bool all)
{
    gn_cost *c = w->out;
    c->taken += w->rounds;
    if (w->rounds > c->longest) c->longest = w->rounds;
    for (int k = 0; k < GN_COST_WARPS && all; k++) {
        int64_t width = 1 << k;
        if (w->rounds > w->longest[k]) w->longest[k] = w->rounds;
        if ((t + 1) % width && t + 1 < w->trips) continue;
        c->held[k] += (double)width * w->longest[k];
        w->longest[k] = 0;
    }
}

/* A thread loop that is too long is sampled: a golden-ratio sequence visits iterations evenly in
 * every part of it. */
static void walk_thread(walker *w, kir_id i, const kir_inst *n, double times)
{
    int64_t body = (int64_t)w->k->insts.n, all = w->trips,
            most = w->budget / body > 0 ? w->budget / body : 1;
    int64_t take = all < most ? all : most, done = 0;
    uint64_t at = 0;
    w->known[i] = true;
    double before = (double)w->steps;
    for (; done < take; done++) {
        int64_t t = take == all
                        ? done
                        : (int64_t)((wide)(at += UINT64_C(0x9E3779B97F4A7C15)) * (uint64_t)all >>
                                    64);
        w->value[i] = t * n->imm;
        w->rounds = 0;
        walk(w, n->body, times);
        note_rounds(w, done, take == all);
        if ((double)w->steps - before > 4.0 * (double)w->budget && take != all) break;
    }
    if (done < take) done++;
    w->out->sampled = all ? (double)done / (double)all : 1;
}

static void walk_for(walker *w, kir_id i, const kir_inst *n, double times)
{
    bool known = w->known[n->a] && w->known[n->b];
    int64_t lo = w->value[n->a], hi = w->value[n->b];
    int64_t trips = !known ? 1 : hi > lo ? (hi - lo + n->imm - 1) / n->imm : 0;
    if (!known) w->out->guessed = true;
    if (trips == 0) return;
    if (n->unit == KIR_SERIAL && n->race == KIR_REDUCE)
        w->rounds += times * (double)(known ? hi - lo : 1);
    w->value[i] = lo;
    w->known[i] = known;
    if (!known || w->uniform[i]) {
        walk(w, n->body, times * (double)trips);
        return;
    }
    for (int64_t t = 0; t < trips; t++) {
        w->value[i] = lo + t * n->imm;
        walk(w, n->body, times);
    }
}

static void walk(walker *w, kir_id i, double times)
{
    for (; i; i = kir_at(w->k, i)->next) {
        const kir_inst *n = kir_at(w->k, i);
        w->steps++;
        w->known[i] = true;
        switch ((kir_op)n->op) {
        case KIR_CONST: w->value[i] = n->imm; break;
        case KIR_SYM: w->value[i] = w->sym[n->imm]; break;
        case KIR_LOAD: w->known[i] = load_value(w, n, &w->value[i]); break;
        case KIR_FOR:
            if (i == w->thread)
                walk_thread(w, i, n, times);
            else
                walk_for(w, i, n, times);
            continue;
        case KIR_IF:
            if (!w->known[n->a]) w->out->guessed = true;
            if (w->known[n->a] ? w->value[n->a] != 0 : kir_at(w->k, n->a)->op != KIR_NOT)
                walk(w, n->body, times);
            continue;
        default:
            w->known[i] = kir_ops[n->op].cls == KIR_CLASS_VALUE && fold(w, n, &w->value[i]);
            break;
        }
        count(w, i, times);
    }
}

static double least(double a, double b) { return a < b ? a : b; }

/* Sums over buffers, from the sample to the whole. */
static void total(const kir_kernel *k, gn_cost *c)
{
    double whole = c->sampled > 0 ? 1 / c->sampled : 1;
    c->flops *= whole;
    c->pairs *= whole;
    c->functions *= whole;
    c->draws *= whole;
    c->taken *= whole;
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        gn_buffer_cost *x = &c->buffer[b];
        x->read *= whole;
        x->gathered *= whole;
        x->written *= whole;
        c->moved += least(x->read + x->gathered, x->size) + least(x->written, x->size);
        c->work_set += least(x->read, x->size) + least(x->written, x->size);
        c->gathered += x->gathered;
        if (x->gathered > 0) c->table += least(x->size, x->gathered);
    }
}

/* Of what value's accesses to a buffer are, what is left when none is counted twice. */
static double once(double accessed, double all, double size)
{
    return all > size ? accessed * size / all : accessed;
}

/* By value, after total().  whole: from the sample to all. */
static void by_value(gn_arena *a, const walker *w, double whole)
{
    const kir_kernel *k = w->k;
    gn_cost *c = w->out;
    uint32_t most = 0;
    for (kir_id i = 1; i < k->insts.n; i++)
        if (kir_at(k, i)->of > most) most = kir_at(k, i)->of;
    gn_value_cost *by = GN_NEW_N(a, gn_value_cost, most + 1);
    bool *met = GN_NEW_N(a, bool, most + 1);
    for (kir_id i = 1; i < k->insts.n; i++) {
        const kir_inst *n = kir_at(k, i);
        double times = w->times[i] * whole;
        gn_value_cost *v = &by[n->of];
        if (!(times > 0)) continue;
        count_work(n, times, v);
        met[n->of] = true;
        if (n->op == KIR_LOAD && w->through[n->a]) {
            v->gathered += bytes_of(w, n, times);
        } else if (n->op == KIR_LOAD || n->op == KIR_STORE) {
            const gn_buffer_cost *b = &c->buffer[n->imm];
            v->streamed += once(bytes_of(w, n, times), n->op == KIR_LOAD ? b->read : b->written,
                                b->size);
        }
    }
    c->value = by;
    for (uint32_t v = 0; v <= most; v++) {
        if (!met[v]) continue;
        by[v].value = v;
        by[c->n_values++] = by[v];
    }
}

gn_cost gn_cost_of(gn_arena *a, const kir_kernel *k, const int64_t *bytes, void *const *buf,
                   const int64_t *sym, int64_t trips, int64_t budget)
{
    uint32_t n = k->insts.n;
    gn_cost c = {.sampled = 1, .buffer = GN_NEW_N(a, gn_buffer_cost, k->buffers.n + 1)};
    walker w = {.k = k,
                .bytes = bytes,
                .buf = buf,
                .sym = sym,
                .trips = trips,
                .budget = budget ? budget : BUDGET,
                .thread = kir_thread_loop(k),
                .out = &c};
    w.value = GN_NEW_N(a, int64_t, n);
    w.known = GN_NEW_N(a, bool, n);
    w.through = GN_NEW_N(a, bool, n);
    w.uniform = GN_NEW_N(a, bool, n);
    w.owner = GN_NEW_N(a, kir_id, n);
    w.times = GN_NEW_N(a, double, n);
    for (uint32_t b = 0; b < k->buffers.n; b++) c.buffer[b].size = (double)bytes[b];
    find_owners(&w, k->top, 0);
    for (kir_id i = 1; i < n; i++)
        if (kir_at(k, i)->op == KIR_FOR) w.uniform[i] = body_is_same(&w, kir_at(k, i)->body, i);
    walk(&w, k->top, 1);
    total(k, &c);
    by_value(a, &w, c.sampled > 0 ? 1 / c.sampled : 1);
    return c;
}

gn_cost gn_cost_of_launch(gn_arena *a, const low_launch *l, const gn_instance *in, int k,
                          int64_t budget)
{
    gn_launch_view v = gn_instance_launch(in, k);
    int64_t *bytes = GN_NEW_N(a, int64_t, l->buffers.n + 1);
    for (uint32_t b = 0; b < l->buffers.n; b++) {
        bytes[b] = gn_instance_slot_bytes(in, l->buffers.p[b]);
        if (gn_instance_slot_room(in, l->buffers.p[b]) < bytes[b])
            bytes[b] = 0; /* passed on: nor is it all there */
    }
    return gn_cost_of(a, l->kernel, bytes, v.buf, v.sym, v.trips, budget);
}
