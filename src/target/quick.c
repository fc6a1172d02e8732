#include "target/quick.h"

#include "codegen/cuda/cuda.h"
#include "compile/expect.h"

enum {
    RESIDENT = 1024, /* threads of a multiprocessor, of kernels with up to 64 registers */
    LONG = 50000     /* instructions of a thread: some tens of microseconds */
};

/* Instructions of a thread, loops with other bounds than constants taken to run once: over edges
 * they wait for what they load. */
static int64_t length_of(const kir_kernel *k, kir_id first)
{
    int64_t n = 0;
    for (kir_id i = first; i; i = kir_at(k, i)->next) {
        const kir_inst *in = kir_at(k, i);
        int64_t body = in->body ? length_of(k, in->body) : 0, rounds = 1;
        bool own = in->op == KIR_FOR && (in->unit == KIR_SERIAL || in->unit == KIR_UNROLL);
        if (own && kir_at(k, in->a)->op == KIR_CONST && kir_at(k, in->b)->op == KIR_CONST)
            rounds = (kir_at(k, in->b)->imm - kir_at(k, in->a)->imm + in->imm - 1) / in->imm;
        n += 1 + (rounds > LONG ? LONG : rounds < 0 ? 0 : rounds) * body;
        if (n > LONG) return LONG + 1;
    }
    return n;
}

/* Threads of a launch; -1: they cannot be counted. */
static int64_t threads_of(gn_arena *a, const gn_compiled *c, const gn_launch *l,
                          const int64_t *value)
{
    gn_cuda_geometry g;
    int64_t trips;
    gn_status *s = gn_cuda_launch_geometry(a, c->kernels[l->kernel], &g);
    if (s) {
        gn_status_free(s);
        return -1;
    }
    if (!l->parallel) return g.threads;
    if (!gn_term_value(l->trip, value, &trips)) return -1;
    int64_t iterations = trips / l->step + (trips % l->step != 0),
            blocks = (iterations + g.per_block - 1) / g.per_block;
    return blocks > INT32_MAX ? INT32_MAX : blocks * g.threads;
}

static const char *reason(gn_arena *a, const gn_compiled *c, const gn_quick_rule *r, bool *quick)
{
    const gn_artifact *art = c->artifact;
    int64_t *value = GN_NEW_N(a, int64_t, art->n_syms + 1), most = 0;
    int64_t room = (int64_t)(r->multiprocessors ? r->multiprocessors : gn_cuda_limits().blocks) *
                   RESIDENT;
    if (!gn_is_on(r->off, GN_DO_QUICK_CODE))
        return "compiled with all optimisations: quick-code is switched off";
    if (!r->sized) return "compiled with all optimisations: graphs may change";
    if (!gn_expected_symbols(art, r->n_hints, r->hints, value))
        return "compiled with all optimisations: sizes are not known";
    for (int k = 0; k < art->n_launches; k++) {
        const gn_launch *l = &art->launches[k];
        if (l->kind != GN_LAUNCH_KERNEL) continue;
        int64_t n = threads_of(a, c, l, value);
        if (length_of(c->kernels[l->kernel], c->kernels[l->kernel]->top) > LONG)
            return gn_arena_printf(
                a, "compiled with all optimisations: a thread of %s has more than %d instructions",
                c->kernels[l->kernel]->name, LONG);
        if (n < 0) return "compiled with all optimisations: threads cannot be counted";
        if (n > most) most = n;
    }
    *quick = most <= room;
    return gn_arena_printf(
        a, "compiled %s: a launch has at most %lld threads, of %lld that run at once",
        *quick ? "quickly" : "with all optimisations", (long long)most, (long long)room);
}

void gn_quick_choose(gn_arena *a, gn_compiled *c, const gn_quick_rule *r)
{
    c->quick = false;
    c->quick_why = reason(a, c, r, &c->quick);
}

void gn_quick_agree(int n, gn_compiled *const *programs)
{
    bool all = true;
    for (int p = 0; p < n; p++) all = all && programs[p]->quick;
    for (int p = 0; p < n && !all; p++) {
        if (programs[p]->quick)
            programs[p]
                ->quick_why = "compiled with all optimisations: it shares kernels with others";
        programs[p]->quick = false;
    }
}
