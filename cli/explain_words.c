/* Names, places and amounts as `gnnc explain` says them. */
#include "cli/cmd_explain.h"

#include "tune/tune.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 116 };

const char *gn_cli_place(gn_arena *a, const gir_program *p, gir_id v)
{
    gir_loc at = gir_at(p, v)->loc;
    if (!at.line || at.file >= p->files.n) return "";
    const char *file = p->files.p[at.file], *slash = strrchr(file, '/');
    return gn_arena_printf(a, "%s:%u", slash ? slash + 1 : file, (unsigned)at.line);
}

const char *gn_cli_amount(gn_arena *a, double x, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    int k = 0;
    while (fabs(x) >= 999.5 && k < 4) {
        x /= 1000;
        k++;
    }
    if (x == 0) return "-";
    return gn_arena_printf(a, x < 10 && (k || x != floor(x)) ? "%.1f %s%s" : "%.0f %s%s", x,
                           prefix[k], unit);
}

/* Words separated by blanks, in lines of at most WIDTH columns that begin with `indent` blanks and
 * a label. */
void gn_cli_print_words(const char *label, const char *text)
{
    enum { INDENT = 17 };
    int at = printf("     %-*s", INDENT - 5, label);
    for (bool first = true; *text; first = false) {
        size_t n = strcspn(text, " ");
        if (!first && at + 1 + (int)n > WIDTH) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        at += printf("%.*s", (int)n, text);
        text += n;
        while (*text == ' ') text++;
    }
    putchar('\n');
}

int gn_cli_kernel_of(const gn_compiled *c, uint32_t r)
{
    for (uint32_t k = 0; k < c->low->launches.n; k++)
        if (c->low->launches.p[k].kernel && c->low->launches.p[k].region == (int)r) return (int)k;
    return -1;
}

/* Operators by the line they stand in: "gcn.gnn:9 scatter, add". */
const char *gn_cli_members(gn_arena *a, const gir_program *p, uint32_t n, const gir_id *v)
{
    gn_buf b = {.arena = a};
    const char *last = NULL;
    gn_buf_add(&b, "");
    for (uint32_t k = 0; k < n; k++) {
        const char *at = gn_cli_place(a, p, v[k]);
        if (!last || strcmp(last, at) != 0)
            gn_buf_printf(&b, "%s%s%s", k ? "; " : "", *at ? at : "made by a pass:", " ");
        else
            gn_buf_add(&b, ", ");
        gn_buf_add(&b, gir_ops[gir_at(p, v[k])->op].text);
        last = at;
    }
    return b.p;
}

static void mark(const fusion *f, gir_id v, bool *seen)
{
    for (int k = 0; k < gir_at(f->p, v)->n_in; k++) {
        gir_id o = gir_in(f->p, v, k);
        if (seen[o] || f->place[o] != FU_INLINE || gir_at(f->p, o)->op == GIR_CONST) continue;
        seen[o] = true;
        mark(f, o, seen);
    }
}

uint32_t gn_cli_recomputed(gn_arena *a, const fusion *f, const region *r, gir_id **out)
{
    bool *seen = GN_NEW_N(a, bool, f->p->nodes.n);
    uint32_t n = 0;
    for (uint32_t m = 0; m < r->members.n; m++) mark(f, r->members.p[m], seen);
    *out = GN_NEW_N(a, gir_id, f->p->nodes.n);
    for (gir_id v = 1; v < f->p->nodes.n; v++)
        if (seen[v]) (*out)[n++] = v;
    return n;
}

void gn_cli_explain_tuned(gn_arena *a, const gn_session *s)
{
    const gn_tuned *t = s->tuned[s->opt.train ? GN_UNIT_STEP : GN_UNIT_EVAL];
    if (!t) return;
    const char *choices = gn_pick_text(a, &t->pick);
    gn_cli_print_words(
        "tuned",
        gn_arena_printf(a, "%s%s%s (%.1f us, the default %.1f, when it was measured)",
                        *choices ? choices : "as rules say", t->reorder ? ", order " : "",
                        t->reorder ? gn_order_name[t->reorder] : "", t->best_us, t->default_us));
}

bool gn_cli_note_of(const gn_unit_report *u, const gn_pass_note *n)
{
    size_t len = strlen(u->name);
    return !strncmp(n->program, u->name, len) &&
           (!n->program[len] || !strcmp(n->program + len, "_prepare"));
}

const char *gn_cli_kernel_name(const gn_unit_report *u, int k)
{
    const char *name = u->kernels[k].name, *program = u->code->gir->name;
    size_t n = strlen(program);
    return u->kernels[k].region >= 0 && !strncmp(name, program, n) ? name + n + 1 : name;
}

const char *gn_cli_kernel_place(gn_arena *a, const gn_unit_report *u, int k)
{
    int r = u->kernels[k].region;
    return r < 0 ? "" : gn_cli_place(a, u->code->gir, u->code->f->regions.p[r].members.p[0]);
}
