/* The loop IR's evaluator: runs the steps of kir_decode.c and checks everything that only shows in
 * a run. */
#include "base/draw.h"
#include "base/half.h"
#include "base/philox.h"
#include "ir/kir_exec.h"

#include <math.h>
#include <setjmp.h>

typedef struct machine {
    const kir_kernel *k;
    gn_arena *arena;
    kx_code code;
    kx_level *levels;
    uint64_t executions; /* of loops, and phases: gives each a number of its own */
    uint64_t phase;      /* from the start of a BLOCK iteration or a BARRIER to the next */
} machine;

/* Errors --------------------------------------------------------------------------------------- */

static void add_iteration(const machine *m, gn_buf *b, uint32_t loop)
{
    if (loop == UINT32_MAX) return;
    const kx_loop *l = &m->code.loops.p[loop];
    add_iteration(m, b, l->outer);
    gn_buf_printf(b, "%s%lld", b->n ? ", " : "", (long long)m->code.cells[l->iv].i);
}

static gn_status *fault(const machine *m, const kx_step *s, const char *why)
{
    gn_buf text = {.arena = m->arena}, at = {.arena = m->arena};
    kir_print_inst(m->k, s->inst, &text);
    add_iteration(m, &at, s->loop);
    return GN_ERROR(GN_ERR_INTERNAL, "kernel @%s: \"%s\" at (%s): %s", m->k->name, text.p,
                    at.p ? at.p : "", why);
}

static gn_status *memory_fault(const machine *m, const kx_step *s, int64_t i, const char *why)
{
    const kx_memory *is = &m->code.memory.p[s->mem];
    const char *name = is->tile ? "the tile" : m->k->buffers.p[s->mem].name;
    return fault(m, s,
                 gn_arena_printf(m->arena, "element %lld of %lld of %s: %s", (long long)i,
                                 (long long)is->n, name, why));
}

static gn_status *race(const machine *m, const kx_step *s, int64_t i, const char *why,
                       uint32_t other, uint32_t level)
{
    const kx_level *l = &m->levels[level];
    gn_buf text = {.arena = m->arena};
    gn_buf_printf(&text, "race: %s: iteration number %u ", why, l->iter);
    if (other != l->iter)
        gn_buf_printf(&text, "and number %u of \"", other);
    else
        gn_buf_add(&text, "and an earlier one of \"");
    kir_print_inst(m->k, m->code.loops.p[l->loop].iv, &text);
    gn_buf_add(&text, "\"");
    return memory_fault(m, s, i, text.p);
}

/* Memory --------------------------------------------------------------------------------------- */

static kx_cell load(const kx_memory *m, int64_t i)
{
    kx_cell v = {0};
    if (m->wide) return (kx_cell){.f = ((const double *)m->data)[i]};
    switch (m->elem) {
    case GN_F32: v.f = (double)((const float *)m->data)[i]; break;
    case GN_F64: v.f = ((const double *)m->data)[i]; break;
    case GN_BF16: v.f = (double)gn_bf16_to_f32(((const uint16_t *)m->data)[i]); break;
    case GN_F16: v.f = (double)gn_f16_to_f32(((const uint16_t *)m->data)[i]); break;
    case GN_I32: v.i = ((const int32_t *)m->data)[i]; break;
    case GN_I64: v.i = ((const int64_t *)m->data)[i]; break;
    case GN_U32: v.i = ((const uint32_t *)m->data)[i]; break;
    case GN_U8: v.i = ((const uint8_t *)m->data)[i]; break;
    default: v.i = ((const uint8_t *)m->data)[i] != 0; break;
    }
    return v;
}

static void store(const kx_memory *m, int64_t i, kx_cell v)
{
    if (m->wide) {
        ((double *)m->data)[i] = v.f;
        return;
    }
    switch (m->elem) {
    case GN_F32: ((float *)m->data)[i] = (float)v.f; break;
    case GN_F64: ((double *)m->data)[i] = v.f; break;
    case GN_BF16: ((uint16_t *)m->data)[i] = gn_f32_to_bf16((float)v.f); break;
    case GN_F16: ((uint16_t *)m->data)[i] = gn_f32_to_f16((float)v.f); break;
    case GN_I32:
    case GN_U32: ((uint32_t *)m->data)[i] = (uint32_t)v.i; break;
    case GN_I64: ((int64_t *)m->data)[i] = v.i; break;
    case GN_U8: ((uint8_t *)m->data)[i] = (uint8_t)v.i; break;
    default: ((uint8_t *)m->data)[i] = v.i != 0; break;
    }
}

/* Bounds, races, and for tiles: has what is read been written? */
static gn_status *check_access(machine *m, const kx_step *s, kx_memory *mem, int64_t i,
                               unsigned bit)
{
    if (i < 0 || i >= mem->n) return memory_fault(m, s, i, "out of bounds");
    uint32_t other, level;
    if (mem->marks) {
        const char *why = kx_touch(mem, i, bit, m->levels, s->levels, &other, &level);
        if (why) return race(m, s, i, why, other, level);
    }
    if (mem->stored && bit == KX_WRITE && mem->stored[i]++)
        return memory_fault(m, s, i, "stored twice");
    if (!mem->tile) return NULL;
    if (bit != KX_WRITE) {
        if (mem->set[i] != mem->pass) return memory_fault(m, s, i, "read but never written");
        uint64_t owner = mem->owner ? mem->owner[i] : 0;
        for (uint32_t l = mem->base; owner && l < s->levels; l++)
            if (m->levels[l].instance == owner) owner = 0;
        if (owner) return memory_fault(m, s, i, "what a private loop wrote is read after it");
    }
    if (bit == KX_READ) return NULL;
    mem->set[i] = mem->pass;
    if (!mem->owner) return NULL;
    mem->owner[i] = 0;
    for (uint32_t l = s->levels; l-- > mem->base;)
        if (m->levels[l].race == KIR_PRIVATE) mem->owner[i] = m->levels[l].instance;
    return NULL;
}

/* Values --------------------------------------------------------------------------------------- */

static double pick(double a, double b, bool max)
{
    if (isnan(a) || isnan(b)) return (double)NAN;
    if (a == b) return (signbit(a) != 0) == max ? b : a;
    return (a < b) == max ? b : a;
}

static double fused(const kx_step *s, double a, double b, double c)
{
    return s->round ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static int64_t truncated(double f)
{
    if (isnan(f)) return 0;
    if (f >= 0x1p63) return INT64_MAX;
    return f < -0x1p63 ? INT64_MIN : (int64_t)f;
}

static void cast(const kx_step *s, const kx_cell *a, kx_cell *r)
{
    bool from_float = gn_elem_is_float((gn_elem)s->from);
    switch (s->to) {
    case GN_BOOL: r->i = from_float ? a->f != 0 : a->i != 0; break;
    case GN_I64: r->i = from_float ? truncated(a->f) : a->i; break;
    default:
        if (from_float)
            r->f = s->round ? (double)(float)a->f : a->f;
        else
            r->f = s->round ? (double)(float)a->i : (double)a->i;
    }
}

static const char *integer(const kx_step *s, int64_t a, int64_t b, int64_t *r)
{
    static const char wraps[] = "does not fit in 64 bits",
                      divides[] = "a division by less than one, or of a negative";
    switch (s->op) {
    case KIR_IADD: return __builtin_add_overflow(a, b, r) ? wraps : NULL;
    case KIR_ISUB: return __builtin_sub_overflow(a, b, r) ? wraps : NULL;
    case KIR_IMUL: return __builtin_mul_overflow(a, b, r) ? wraps : NULL;
    case KIR_IDIV:
    case KIR_IMOD:
        if (a < 0 || b <= 0) return divides;
        *r = s->op == KIR_IDIV ? a / b : a % b;
        return NULL;
    case KIR_IMIN: *r = a < b ? a : b; return NULL;
    case KIR_IMAX: *r = a > b ? a : b; return NULL;
    case KIR_ILT: *r = a < b; return NULL;
    case KIR_ILE: *r = a <= b; return NULL;
    default: *r = a == b; return NULL;
    }
}

static double function(const kx_step *s, double a, double b, double c)
{
    switch (s->op) {
    case KIR_FADD: return a + b;
    case KIR_FSUB: return a - b;
    case KIR_FMUL: return a * b;
    case KIR_FDIV: return a / b;
    case KIR_FMA: return fused(s, a, b, c);
    case KIR_FMIN: return pick(a, b, false);
    case KIR_FMAX: return pick(a, b, true);
    case KIR_FPOW: return pow(a, b);
    case KIR_FNEG: return -a;
    case KIR_FABS: return fabs(a);
    case KIR_SQRT: return sqrt(a);
    case KIR_EXP: return exp(a);
    case KIR_EXPM1: return expm1(a);
    case KIR_LOG: return log(a);
    case KIR_LOG1P: return log1p(a);
    case KIR_SIN: return sin(a);
    case KIR_COS: return cos(a);
    case KIR_TANH: return tanh(a);
    case KIR_ERF: return erf(a);
    default: return floor(a);
    }
}

/* To TF32, the one kind that is rounded to by an instruction.  In double nothing is rounded. */
static double rounded(const kx_step *s, double a)
{
    return s->round ? (double)gn_f32_to_tf32((float)a) : a;
}

static const char *value(const kx_step *s, kx_cell *cells)
{
    const kx_cell *a = &cells[s->a], *b = &cells[s->b], *c = &cells[s->c];
    kx_cell *r = &cells[s->dst];
    switch (s->op) {
    case KIR_FLT: r->i = a->f < b->f; return NULL;
    case KIR_FLE: r->i = a->f <= b->f; return NULL;
    case KIR_FEQ: r->i = a->f == b->f; return NULL;
    case KIR_NOT: r->i = !a->i; return NULL;
    case KIR_AND: r->i = a->i && b->i; return NULL;
    case KIR_OR: r->i = a->i || b->i; return NULL;
    case KIR_SELECT: *r = a->i ? *b : *c; return NULL;
    case KIR_CAST: cast(s, a, r); return NULL;
    case KIR_RANDOM:
        if (s->narrow && (uint64_t)b->i > UINT32_MAX)
            return "a narrow draw of an element that 32 bits do not count";
        r->f = (double)gn_draw_uniform((uint64_t)a->i, (uint32_t)s->imm, (uint64_t)b->i);
        return NULL;
    case KIR_RNGKEY: r->i = (int64_t)gn_step_key((uint64_t)a->i, (uint64_t)b->i); return NULL;
    default: break;
    }
    if (s->op >= KIR_IADD && s->op <= KIR_IEQ) return integer(s, a->i, b->i, &r->i);
    double f = s->op == KIR_ROUND ? rounded(s, a->f) : function(s, a->f, b->f, c->f);
    r->f = s->round ? (double)(float)f : f;
    return NULL;
}
_Static_assert(KIR_IEQ - KIR_IADD == 9 && KIR_FLOOR - KIR_FADD == 19,
               "integer() and function() name all of them");

static const char *accumulate(const kx_step *s, unsigned elem, kx_cell *t, const kx_cell *b,
                              const kx_cell *c)
{
    if (s->op == KIR_TFMA) {
        t->f = fused(s, b->f, c->f, t->f);
    } else if (elem == GN_I64) {
        if (s->imm == KIR_SUM)
            return __builtin_add_overflow(t->i, b->i, &t->i) ? "does not fit in 64 bits" : NULL;
        t->i = (b->i > t->i) == (s->imm == KIR_RED_MAX) ? b->i : t->i;
    } else {
        double f = s->imm == KIR_SUM ? t->f + b->f : pick(t->f, b->f, s->imm == KIR_RED_MAX);
        t->f = s->round ? (double)(float)f : f;
    }
    return NULL;
}

/* As it comes back from a tile of such elements. */
static double narrowed(gn_elem e, double a)
{
    if (e == GN_BF16) return (double)gn_bf16_to_f32(gn_f32_to_bf16((float)a));
    if (e == GN_F16) return (double)gn_f16_to_f32(gn_f32_to_f16((float)a));
    return a;
}

/* Steps ---------------------------------------------------------------------------------------- */

static gn_status *memory_step(machine *m, const kx_step *s)
{
    static const uint8_t acc[] = {
        [KIR_SUM] = KX_SUM, [KIR_RED_MAX] = KX_MAX, [KIR_RED_MIN] = KX_MIN};
    kx_cell *cells = m->code.cells;
    kx_memory *mem = &m->code.memory.p[s->mem];
    kx_cell *tile = mem->data;
    int64_t i = cells[s->a].i;
    const char *why = NULL;
    switch (s->op) {
    case KIR_LOAD:
        GN_TRY(check_access(m, s, mem, i, KX_READ));
        cells[s->dst] = load(mem, i);
        break;
    case KIR_STORE:
        GN_TRY(check_access(m, s, mem, i, KX_WRITE));
        store(mem, i, cells[s->b]);
        break;
    case KIR_TLOAD:
        GN_TRY(check_access(m, s, mem, i, KX_READ));
        cells[s->dst] = tile[i];
        break;
    case KIR_TSTORE:
        GN_TRY(check_access(m, s, mem, i, KX_WRITE));
        tile[i] = cells[s->b];
        if (s->round) tile[i].f = narrowed((gn_elem)mem->elem, tile[i].f);
        break;
    default:
        GN_TRY(check_access(m, s, mem, i, s->op == KIR_TFMA ? KX_SUM : acc[s->imm]));
        why = accumulate(s, mem->elem, &tile[i], &cells[s->b], &cells[s->c]);
        break;
    }
    return why ? memory_fault(m, s, i, why) : NULL;
}

typedef struct operand { /* of a product of fragments */
    uint32_t mem;
    int64_t from;
    int outer, term; /* strides */
} operand;

/* Its elements, [outer][term]. */
static gn_status *fragment(machine *m, const kx_step *s, const operand *o, int outer, int depth,
                           double *out)
{
    kx_step at = *s;
    kx_memory *mem = &m->code.memory.p[o->mem];
    at.mem = o->mem;
    if (o->from < 0 || o->from >= mem->n) return memory_fault(m, &at, o->from, "out of bounds");
    bool pairs = kir_is_narrow((gn_elem)mem->elem) && o->term == 1;
    if (pairs && o->from % 2)
        return memory_fault(m, &at, o->from, "two terms side by side from an odd place on");
    for (int k = 0; k < outer * depth; k++) {
        int64_t i = o->from + (int64_t)(k / depth) * o->outer + (int64_t)(k % depth) * o->term;
        GN_TRY(check_access(m, &at, mem, i, KX_READ));
        double x = ((const kx_cell *)mem->data)[i].f;
        bool may_not = mem->elem == GN_F32 && !isnan(x) && x != rounded(s, x);
        if (may_not) return memory_fault(m, &at, i, "an operand that is not rounded");
        out[k] = x;
    }
    return NULL;
}

/* Term by term, each rounded once. */
static gn_status *fragments(machine *m, const kx_step *s)
{
    enum { MOST = 16 * 16 };
    double left[MOST], right[MOST];
    const kx_cell *cells = m->code.cells;
    kir_mma x = kir_mma_of(s->imm);
    const kir_kind_info *k = &kir_kinds[x.kind];
    kx_memory *mem = &m->code.memory.p[s->mem];
    const operand a = {s->left, cells[s->b].i, x.left_row, x.left_term};
    const operand b = {s->right, cells[s->c].i, x.right_col, x.right_term};
    if (cells[s->a].i < 0 || cells[s->a].i >= mem->n)
        return memory_fault(m, s, cells[s->a].i, "out of bounds");
    GN_TRY(fragment(m, s, &a, k->rows, k->depth, left));
    GN_TRY(fragment(m, s, &b, k->cols, k->depth, right));
    for (int e = 0; e < k->rows * k->cols; e++) {
        int row = e / k->cols, col = e % k->cols;
        int64_t i = cells[s->a].i + kir_mma_place(&x, row, col);
        GN_TRY(check_access(m, s, mem, i, KX_SUM));
        double *sum = &((kx_cell *)mem->data)[i].f;
        for (int t = 0; t < k->depth; t++)
            *sum = fused(s, left[row * k->depth + t], right[col * k->depth + t], *sum);
    }
    return NULL;
}

/* Two terms, the one behind first. */
static gn_status *dot(machine *m, const kx_step *s)
{
    const kx_cell *cells = m->code.cells;
    kx_memory *mem = &m->code.memory.p[s->mem];
    int64_t i = cells[s->a].i;
    const operand a = {s->left, cells[s->b].i, 2, 1}, b = {s->right, cells[s->c].i, 2, 1};
    double left[2], right[2];
    GN_TRY(fragment(m, s, &a, 1, 2, left));
    GN_TRY(fragment(m, s, &b, 1, 2, right));
    GN_TRY(check_access(m, s, mem, i, KX_SUM));
    double *sum = &((kx_cell *)mem->data)[i].f;
    *sum = fused(s, left[0], right[0], fused(s, left[1], right[1], *sum));
    return NULL;
}

static void iteration(machine *m, kx_loop *l)
{
    uint64_t n = l->reverse ? l->trips - 1 - l->at : l->at;
    m->code.cells[l->iv].i = (int64_t)((uint64_t)l->lo + n * (uint64_t)l->step);
    if (l->level >= 0) m->levels[l->level].iter = (uint32_t)n;
    if (l->unit == KIR_BLOCK) m->phase = ++m->executions;
}

/* The number of this execution; lanes and warps go on where they were until a barrier. */
static uint64_t execution(machine *m, const kx_loop *l)
{
    if (l->unit != KIR_WARP && l->unit != KIR_LANE) return ++m->executions;
    uint64_t warp = 0;
    for (uint32_t o = l->outer; o != UINT32_MAX; o = m->code.loops.p[o].outer)
        if (m->code.loops.p[o].unit == KIR_WARP) warp = m->code.loops.p[o].at + 1;
    return KX_IN_BLOCK | (l->unit == KIR_LANE ? KX_OF_LANES : 0) | m->phase << 20 |
           (warp & 0xfffff);
}

/* False when it has no iteration. */
static bool begin(machine *m, const kx_step *s)
{
    kx_loop *l = &m->code.loops.p[s->loop];
    int64_t lo = m->code.cells[s->a].i, hi = m->code.cells[s->b].i;
    if (lo >= hi) return false;
    l->lo = lo;
    l->at = 0;
    l->trips = ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)l->step + 1;
    if (l->level >= 0)
        m->levels[l->level] = (kx_level){
            .instance = execution(m, l), .loop = s->loop, .race = l->race};
    iteration(m, l);
    return true;
}

static gn_status *run(machine *m, const kir_eval_options *opt)
{
    const kx_step *s = m->code.steps.p;
    kx_cell *cells = m->code.cells;
    for (int64_t n = 1;; n++) {
        if (opt->max_steps && n > opt->max_steps)
            GN_FAIL(GN_ERR_USAGE, "kernel @%s: stopped after %lld steps", m->k->name,
                    (long long)opt->max_steps);
        switch (s->op) {
        case KX_DONE: return NULL;
        case KIR_FOR: s = begin(m, s) ? s + 1 : m->code.steps.p + s->target; continue;
        case KX_END: {
            kx_loop *l = &m->code.loops.p[s->loop];
            if (++l->at == l->trips) break;
            iteration(m, l);
            s = m->code.steps.p + l->first;
            break;
        }
        case KIR_IF:
            if (cells[s->a].i) break;
            s = m->code.steps.p + s->target;
            continue;
        case KIR_BARRIER: m->phase = ++m->executions; break;
        case KIR_TILE: m->code.memory.p[s->mem].pass++; break;
        case KIR_LOAD:
        case KIR_STORE:
        case KIR_TLOAD:
        case KIR_TSTORE:
        case KIR_TACC:
        case KIR_TFMA: GN_TRY(memory_step(m, s)); break;
        case KIR_TDOT: GN_TRY(dot(m, s)); break;
        case KIR_MMA: GN_TRY(fragments(m, s)); break;
        default: {
            const char *why = value(s, cells);
            if (why) return fault(m, s, why);
        }
        }
        s++;
    }
}

static gn_status *evaluate(const kir_kernel *k, const kir_eval_options *opt,
                           const kir_bound_buffer *buffers, const int64_t *syms, gn_arena *arena)
{
    machine m = {.k = k, .arena = arena};
    GN_TRY(kx_decode(arena, k, opt, buffers, syms, &m.code));
    m.levels = GN_NEW_N(arena, kx_level, m.code.levels + 1);
    return run(&m, opt);
}

gn_status *kir_eval(const kir_kernel *k, const kir_eval_options *opt,
                    const kir_bound_buffer *buffers, const int64_t *syms)
{
    const kir_eval_options options = opt ? *opt : (kir_eval_options){0};
    GN_TRY(kir_verify(k));
    gn_arena arena;
    jmp_buf oom;
    gn_arena_init(&arena);
    arena.limit = options.max_bytes;
    arena.oom = &oom;
    gn_status *s;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "evaluating a kernel: %zu bytes", arena.wanted);
    else
        s = evaluate(k, &options, buffers, syms, &arena);
    gn_arena_free(&arena);
    return s;
}
