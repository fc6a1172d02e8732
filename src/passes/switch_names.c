/* switches: names of passes and decisions to what is left out, and back. */
#include "passes/passes.h"

#include "base/nearest.h"

#include <string.h>

enum { RELIED_ON = 2 }; /* gn_pass.always */

typedef struct decision {
    const char *name, *doc;
} decision;

static const decision decisions[] = {
#define X(id, name, doc) {name, doc},
    GN_DECISIONS(X)
#undef X
};

_Static_assert(GN_DECISION_COUNT <= 64, "a bit each");

static gn_status *unknown(const char *name)
{
    const char *names[128];
    size_t n = 0;
    for (int k = 0; k < gn_pass_count && n < 64; k++)
        if (gn_passes[k].always < RELIED_ON) names[n++] = gn_passes[k].name;
    for (int k = 0; k < GN_DECISION_COUNT; k++) names[n++] = decisions[k].name;
    GN_FAIL(GN_ERR_USAGE, "there is no optimisation '%s'%s\n  `gnnc opt --list` lists them", name,
            gn_did_you_mean(name, names, n).text);
}

static gn_status *add(const char *name, gn_without *out)
{
    const gn_pass *pass = gn_pass_by_name(name);
    if (pass && pass->always == RELIED_ON)
        GN_FAIL(GN_ERR_USAGE, "pass '%s' cannot be left out: what comes after relies on it", name);
    if (pass) {
        out->passes |= (uint64_t)1 << (pass - gn_passes);
        return NULL;
    }
    for (int k = 0; k < GN_DECISION_COUNT; k++)
        if (!strcmp(decisions[k].name, name)) {
            out->decisions |= (gn_switches)1 << k;
            return NULL;
        }
    return unknown(name);
}

gn_status *gn_without_add(gn_arena *a, const char *names, bool only, gn_without *out)
{
    gn_without named = {0};
    char *rest = gn_arena_strdup(a, names);
    for (char *name; (name = strtok_r(rest, ",", &rest));) GN_TRY(add(name, &named));
    if (!only) {
        out->passes |= named.passes;
        out->decisions |= named.decisions;
        return NULL;
    }
    for (int k = 0; k < gn_pass_count; k++)
        if (gn_passes[k].always < RELIED_ON && !(named.passes >> k & 1))
            out->passes |= (uint64_t)1 << k;
    for (int k = 0; k < GN_DECISION_COUNT; k++)
        if (!(named.decisions >> k & 1)) out->decisions |= (gn_switches)1 << k;
    return NULL;
}

bool gn_pass_is_on(const gn_without *w, const char *name)
{
    const gn_pass *pass = gn_pass_by_name(name);
    return pass && !(w->passes >> (pass - gn_passes) & 1);
}

const char *gn_without_text(gn_arena *a, gn_without w)
{
    gn_buf out = {.arena = a};
    gn_buf_add(&out, "");
    for (int k = 0; k < gn_pass_count; k++)
        if (w.passes >> k & 1) gn_buf_printf(&out, "%s%s", out.n ? "," : "", gn_passes[k].name);
    for (int k = 0; k < GN_DECISION_COUNT; k++)
        if (w.decisions >> k & 1) gn_buf_printf(&out, "%s%s", out.n ? "," : "", decisions[k].name);
    return out.p;
}

void gn_switches_list(gn_buf *out)
{
    gn_buf_add(out, "passes, in order (* cannot be left out)\n");
    for (int k = 0; k < gn_pass_count; k++)
        gn_buf_printf(out, "  %-16s%s %s\n", gn_passes[k].name,
                      gn_passes[k].always == RELIED_ON ? "*" : " ", gn_passes[k].doc);
    gn_buf_add(out, "decisions\n");
    for (int k = 0; k < GN_DECISION_COUNT; k++)
        gn_buf_printf(out, "  %-16s  %s\n", decisions[k].name, decisions[k].doc);
}
