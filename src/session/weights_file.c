/* weights_file: a session's weights to and from files. */
#include "session/session_impl.h"

gn_status *gn_session_save(const gn_session *s, const char *path)
{
    GN_TRY(gn_session_pull(s));
    return gn_weights_save(s->model, &s->state, path);
}

gn_status *gn_session_load(gn_session *s)
{
    if (!s->opt.weights) return NULL;
    GN_TRY(gn_weights_take(s->model, s->weights, s->opt.weights, "", &s->state));
    return gn_session_push(s);
}
