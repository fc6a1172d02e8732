#include "tune/start.h"

#include "base/clock.h"
#include "tune/tune.h"

static gn_status *start(gn_session *s)
{
    GN_TRY(gn_session_read(s));
    double t0 = gn_now_ms();
    GN_TRY(gn_tune_session(s));
    s->tune_ms = gn_now_ms() - t0;
    return gn_session_make(s);
}

gn_status *gn_session_new(gn_arena *a, const gn_session_options *opt, gn_session **out)
{
    gn_session *s = gn_session_open(a, opt);
    gn_status *status = start(s);
    if (status) {
        gn_session_free(s);
        return status;
    }
    *out = s;
    return NULL;
}
