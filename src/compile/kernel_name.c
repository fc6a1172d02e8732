#include "compile/kernel_name.h"

#include <stdlib.h>
#include <string.h>

const char *gn_layer_name(const gir_program *p, gir_loc at)
{
    if (at.layer && at.layer < p->layers.n) return p->layers.p[at.layer];
    return at.way == GIR_OPTIMIZER && !at.line ? "(optimizer)" : "(model)";
}

const char *gn_held_name(const low_buffer *b, int at)
{
    const char *name = b->name;
    for (uint32_t k = 0; k < b->held.n; k++)
        if (b->held.p[k].since <= (uint32_t)at) name = b->held.p[k].name;
    return name;
}

gir_id gn_held_value(const gn_compiled *c, const low_buffer *b, int at)
{
    const char *name = gn_held_name(b, at);
    if (!name) return 0;
    size_t skip = name[0] == 'v' ? 1 : !strncmp(name, "partial_", 8) ? 8 : 0;
    char *end;
    unsigned long v = skip ? strtoul(name + skip, &end, 10) : 0;
    return skip && !*end && v < c->gir->nodes.n ? (gir_id)v : 0;
}

/* The value that a copy puts into a state or an output. */
static gir_id copied(const gn_compiled *c, int launch)
{
    const low_launch *l = &c->low->launches.p[launch];
    const low_buffer *to = &c->low->buffers.p[l->buffers.p[0]];
    for (uint32_t k = 0; k < c->gir->outputs.n; k++)
        if (!strcmp(c->gir->outputs.p[k].name, to->name)) return c->gir->outputs.p[k].value;
    return gn_held_value(c, &c->low->buffers.p[l->buffers.p[1]], launch);
}

/* Words ---------------------------------------------------------------------------------------- */

/* What a value is to a kernel, and how much that says of it: 0 is elementwise work. */
typedef struct role {
    const char *word;
    int rank;
} role;

static role role_of(const fusion *f, const region *r, gir_id v)
{
    static const char *const sums[] = {"sum", "max", "min"};
    const gir_node *n = gir_at(f->p, v);
    bool backward = n->loc.way == GIR_BACKWARD;
    switch ((gir_op)n->op) {
    case GIR_MATMUL:
        if (r->kind == RG_INNER) return (role){backward ? "weights" : "contraction", 6};
        return (role){"product", 6};
    case GIR_SCATTER: return (role){sums[n->attr.i[1]], 5};
    case GIR_SPACE_REDUCE:
        if (backward && !n->type.space) return (role){"weights", 4};
        return (role){n->attr.i[0] == GIR_SUM ? "total" : sums[n->attr.i[0]], 4};
    default: break;
    }
    if (f->walk[v]) return (role){"edges", 3};
    if (gir_ops[n->op].cls == GIR_CLASS_EDGE) return (role){gir_ops[n->op].text, 3};
    if (n->op == GIR_REDUCE) return (role){"row sums", 1};
    if (n->loc.way == GIR_OPTIMIZER) return (role){"update", 0};
    return (role){r->kind == RG_FLAT || !r->space ? "elements" : "rows", 0};
}

static gir_id leading(const fusion *f, const region *r)
{
    gir_id best = r->members.p[0];
    for (uint32_t m = 1; m < r->members.n; m++)
        if (role_of(f, r, r->members.p[m]).rank > role_of(f, r, best).rank) best = r->members.p[m];
    return best;
}

static bool same_part(gir_loc a, gir_loc b) { return a.layer == b.layer && a.way == b.way; }

/* Words of other values of the leading one's layer and part that say as much, each once. */
static void add_words(const fusion *f, const region *r, gir_id lead, gn_buf *b)
{
    enum { MOST = 3 };
    const char *said[MOST] = {role_of(f, r, lead).word};
    int n = 1, least = role_of(f, r, lead).rank > 3 ? 4 : role_of(f, r, lead).rank;
    gn_buf_add(b, said[0]);
    for (uint32_t m = 0; m < r->members.n && n < MOST; m++) {
        gir_id v = r->members.p[m];
        role x = role_of(f, r, v);
        bool known = x.rank < least || !x.rank ||
                     !same_part(gir_at(f->p, v)->loc, gir_at(f->p, lead)->loc);
        for (int k = 0; k < n; k++) known = known || !strcmp(said[k], x.word);
        if (known) continue;
        said[n++] = x.word;
        gn_buf_printf(b, ", %s", x.word);
    }
}

/* " + convs.1": layers that have values in the region besides. */
static void add_others(const fusion *f, const region *r, gir_id lead, gn_buf *b)
{
    enum { MOST = 3 };
    uint16_t said[MOST + 1] = {gir_at(f->p, lead)->loc.layer};
    int n = 1;
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_loc at = gir_at(f->p, r->members.p[m])->loc;
        bool known = !at.layer;
        for (int k = 0; k < n; k++) known = known || said[k] == at.layer;
        if (known) continue;
        if (n > MOST - 1) {
            gn_buf_add(b, " + ...");
            return;
        }
        said[n++] = at.layer;
        gn_buf_printf(b, " + %s", gn_layer_name(f->p, at));
    }
}

/* ", parts": of a region of several kernels, those that are not its main one.  Kernels are called
 * step_WORD_NUMBER. */
static const char *which_of(const gn_compiled *c, const low_launch *l)
{
    static const char *const more[] = {"parts", "sums", "finish", "zeros", "copy"};
    size_t n = strlen(c->low->p->name);
    const char *word = l->kernel->name;
    if (strncmp(word, c->low->p->name, n) != 0 || word[n] != '_') return NULL;
    word += n + 1;
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        if (!strncmp(word, more[k], strlen(more[k])) && word[strlen(more[k])] == '_')
            return more[k];
    return NULL;
}

gir_loc gn_kernel_loc(const gn_compiled *c, int launch)
{
    const low_launch *l = &c->low->launches.p[launch];
    gir_id v = 0;
    if (!l->kernel)
        v = copied(c, launch);
    else if (l->region >= 0)
        v = leading(c->f, &c->f->regions.p[l->region]);
    else if (l->kernel->insts.n > 1)
        v = kir_at(l->kernel, l->kernel->top)->of;
    return v && v < c->gir->nodes.n ? gir_at(c->gir, v)->loc : (gir_loc){0};
}

const char *gn_kernel_words(gn_arena *a, const gn_compiled *c, int launch)
{
    const low_launch *l = &c->low->launches.p[launch];
    gir_loc at = gn_kernel_loc(c, launch);
    gn_buf b = {.arena = a};
    gn_buf_add(&b, gn_layer_name(c->gir, at));
    if (at.way == GIR_BACKWARD) gn_buf_add(&b, " backward");
    if (!l->kernel || l->region < 0) {
        const low_buffer *to = &c->low->buffers.p[l->buffers.p[0]];
        gn_buf_printf(&b, l->kernel ? " rows put" : " copy to %s", to->name ? to->name : "memory");
        return b.p;
    }
    const region *r = &c->f->regions.p[l->region];
    gir_id lead = leading(c->f, r);
    const char *which = which_of(c, l);
    gn_buf_add(&b, " ");
    add_words(c->f, r, lead, &b);
    add_others(c->f, r, lead, &b);
    if (which) gn_buf_printf(&b, ", %s", which);
    return b.p;
}
