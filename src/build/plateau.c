/* plateau: what a schedule that goes by validation results keeps, among a model's states. */
#include "build/build.h"
#include "passes/learning_rate.h"

static const char judged[] = "opt.plateau"; /* f64[4]: the best result, how many there were, how
                                               many in a row were no better, and are not to count */

gn_status *gn_plateau_add_state(const gn_model *m, const gn_build *b, gn_state *s)
{
    if (m->train.schedule != GN_LR_PLATEAU || !b->step_gir) return NULL;
    return gn_state_add(s, judged, GN_F64, 1, 4);
}

static int64_t *counter(const gn_state *s, const char *name)
{
    const gn_state_tensor *t = gn_state_find(s, name);
    return t ? t->data : NULL;
}

int64_t gn_plateau_drops(const gn_state *s)
{
    const int64_t *drops = counter(s, GN_STATE_DROPS);
    return drops ? *drops : 0;
}

gn_status *gn_plateau_result(const gn_model *m, gn_state *s, gn_remote *r, double result)
{
    const gn_state_tensor *t = gn_state_find(s, judged);
    int64_t *step = counter(s, GN_STATE_UPDATES), *drops = counter(s, GN_STATE_DROPS);
    if (!step) step = counter(s, GN_STATE_STEPS);
    if (!t || !step || !drops)
        GN_FAIL(GN_ERR_USAGE,
                "the schedule of %s goes by no validation results: `schedule = "
                "plateau` does",
                m->name);
    if (r) GN_TRY(r->fetch(r, step));
    if (*step <= m->train.warmup) return NULL; /* it has not begun */
    double *d = t->data;
    gn_plateau p = {d[0], (int64_t)d[1], (int64_t)d[2], (int64_t)d[3], *drops};
    gn_plateau_judge(&m->train, &p, result);
    d[0] = p.best;
    d[1] = (double)p.seen;
    d[2] = (double)p.bad;
    d[3] = (double)p.cooldown;
    *drops = p.drops;
    if (r) GN_TRY(r->push(r, d));
    return r ? r->push(r, drops) : NULL;
}
