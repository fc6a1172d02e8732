/* order: other orders of nodes, under the default's programs. */
#include "session/session_impl.h"
#include "tune/start.h"
#include "tune/tune_impl.h"

#include <math.h>

enum { FEW_ROWS = 8192 }; /* rows that are gathered stay in the caches, whatever their order */

/* Nothing bounds its memory: what is timed is looked at, and that it is made is not the user's
 * matter. */
gn_status *tune_default_session(const gn_session *of, gn_order order, gn_session **out)
{
    gn_session_options o = of->opt;
    gn_tune_default(o.target, o.without.decisions, &o.mode, &o.products);
    o.tune_lock = NULL;
    o.tune_on = false;
    o.weights = NULL;
    o.memory = 0;
    o.memory_share = 0;
    o.memory_found = NULL;
    o.code_alone = false;
    o.reorder = order;
    o.without.decisions |= (gn_switches)1 << GN_DO_SHARE_ARENA;
    return gn_session_new(of->arena, &o, out);
}

static gn_status *score(gn_session *s)
{
    GN_TRY(gn_session_reset(s, 1));
    GN_TRY(gn_session_eval(s));
    return gn_session_fetch(s);
}

static bool same(const gn_result *x, const gn_result *y)
{
    int64_t n = x->n_rows * x->row_elems;
    double scale = 0; /* of what is finite, so that no slack is infinite */
    if (n != y->n_rows * y->row_elems) return false;
    for (int64_t k = 0; k < n; k++)
        if (isfinite(gn_result_at(x, k))) scale = fmax(scale, fabs(gn_result_at(x, k)));
    for (int64_t k = 0; k < n; k++) {
        double want = gn_result_at(x, k), got = gn_result_at(y, k);
        if (want == got || (isnan(want) && isnan(got)) || fabs(got - want) <= 1e-4 * scale)
            continue;
        return false;
    }
    return true;
}

static gn_status *compare(const gn_session *a, const gn_session *b, int k, bool *alike)
{
    gn_result x = {0}, y = {0};
    gn_status *bad = gn_session_result(a, k, &x);
    if (!bad) bad = gn_session_result(b, k, &y);
    *alike = !bad && same(&x, &y);
    gn_result_free(&x);
    gn_result_free(&y);
    return bad;
}

gn_status *tune_same_scores(gn_session *a, gn_session *b, bool *alike)
{
    *alike = true;
    GN_TRY(score(a));
    GN_TRY(score(b));
    for (int k = 0; *alike && k < gn_session_results(a); k++) GN_TRY(compare(a, b, k, alike));
    return NULL;
}

/* The order beside that of *s, which it replaces where it wins. */
static gn_status *measure(const tuner *t, gn_session **s, gn_session *other, gn_order order,
                          double *times)
{
    gn_tuned *rec = t->rec;
    bool right;
    duel d = {0};
    GN_TRY(tune_same_scores(*s, other, &right));
    GN_TRY(duel_run(t, tuner_reference(t), tuner_unit(&other->build, rec->unit), TUNE_DUEL_MS, &d));
    bool won = right && duel_won(&d);
    tuner_say(t, "order %s: %.1f us beside %.1f, %.3f +- %.3f times%s", gn_order_name[order],
              d.b_us, d.a_us, d.ratio, d.noise,
              !right ? ": rejected, it gives something else"
              : won  ? ": taken"
                     : "");
    if (!right) rec->wrong++;
    if (won) rec->reorder = order;
    if (won) *times *= d.ratio;
    gn_session_free(won ? *s : other);
    if (won) *s = other;
    return NULL;
}

static int64_t rows_of_all(const gn_dataset *d)
{
    int64_t rows = 0;
    for (int k = 0; k <= d->n_tables; k++) rows += gn_dataset_rows(d, k);
    return rows;
}

gn_status *tune_orders(gn_session *of, gn_session **s, gn_tuned *rec, double deadline,
                       double *times)
{
    static const gn_order orders[] = {GN_ORDER_COMMUNITIES, GN_ORDER_RCM};
    gn_tune_wish wish = tune_wish_of(of);
    double once = (*s)->read_ms + (*s)->build.ms;
    if (rows_of_all((*s)->data) < FEW_ROWS) return NULL;
    for (int k = 0; k < 2; k++) {
        gn_session *other;
        if (wish.over && *wish.over) return NULL;
        if (gn_now_ms() + 3 * once + 16 * rec->default_us * 1e-3 > deadline) return NULL;
        gn_tune_site site = tune_site_of(*s);
        tuner t = {.arena = of->arena, .site = &site, .wish = &wish, .id = rec->unit, .rec = rec};
        t.deadline = deadline;
        tuner_tell(&t, gn_arena_printf(of->arena, "order %s", gn_order_name[orders[k]]));
        gn_status *bad = tune_default_session(of, orders[k], &other);
        if (bad) other = NULL; /* both at once may be too much for a memory */
        const char *what = bad ? "made" : "run";
        if (!bad) bad = measure(&t, s, other, orders[k], times);
        if (!bad) continue;
        tuner_say(&t, "order %s: cannot be %s: %s", gn_order_name[orders[k]], what,
                  gn_status_message(bad));
        gn_session_free(other);
        GN_TRY(tuner_survive(&t, bad));
    }
    return NULL;
}
