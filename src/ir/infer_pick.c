/* Inference: graphs that pick rows, and those of some of a graph's edges. */
#include "base/draw.h"
#include "ir/infer.h"

static const gir_space *space_at(const gir_rule *r, gir_space_id s) { return &r->p->spaces.p[s]; }

static gir_op op_of(const gir_rule *r, int k) { return (gir_op)gir_at(r->p, r->in[k])->op; }

bool gir_same_edges(gir_rule *r, int k)
{
    if (!gir_is_drawn(r->p, r->in[k])) return true;
    return gir_misfit(r,
                      "operand %d is drawn anew at every run, which would leave another number "
                      "of edges each time",
                      k + 1);
}

/* A pick of rows of space `from`: checks the space of the picked rows that `want` names, or adds
 * one. */
static bool picked_space(gir_rule *r, gir_space_id from)
{
    gir_space s = *space_at(r, from);
    if (s.kind == GIR_FEATURE) s.kind = GIR_NODE; /* which need not be so many */
    r->out->is_graph = 1;
    r->out->src = from;
    if (r->want && r->want->is_graph) {
        const gir_space *to = space_at(r, r->want->dst);
        if (to->kind != s.kind || to->size >= 0 || r->want->dst == from)
            return gir_misfit(r, "%s is not a space of picked rows", to->name);
        r->out->dst = r->want->dst;
        return gir_edge_space(r);
    }
    r->out->dst = gir_space_add(r->p, s.name, s.kind, -1);
    return r->out->dst ? gir_edge_space(r) : gir_misfit(r, "too many spaces");
}

/* Is operand k an input of one whole number a row? */
static bool is_time(gir_rule *r, int k)
{
    const gir_type *t = gir_rule_in(r, k);
    return op_of(r, k) == GIR_INPUT && (t->elem == GN_I32 || t->elem == GN_I64) && !t->rank;
}

/* Operand k, where there is one, has the times of rows of `over`, which are apart. */
static bool apart_operand(gir_rule *r, int k, gir_space_id over)
{
    int64_t apart = r->attr->i[0];
    if (r->n < k || r->n > k + 1)
        return gir_misfit(r, "%d operands, takes %d, and maybe times", r->n, k);
    if (apart < 0 || apart > 2 || (r->n > k && !apart) || (r->n == k && apart == 2))
        return gir_misfit(r, "apart is %lld; it is 1 or 2 with times, else 0 or 1",
                          (long long)apart);
    const gir_type *t = r->n > k ? gir_rule_in(r, k) : NULL;
    if (!t || (is_time(r, k) && t->space == over)) return true;
    return gir_misfit(r, "operand %d is %s, not an input %s i32[] or i64[]", k + 1,
                      gir_rule_text(r, k), space_at(r, over)->name);
}

bool gir_infer_SUBSET(gir_rule *r)
{
    const gir_type *m = gir_rule_in(r, 0);
    bool mask = !m->is_graph && m->elem == GN_BOOL && m->rank == 0 && m->space &&
                op_of(r, 0) == GIR_INPUT;
    if (!mask) return gir_misfit(r, "takes an input like node bool[], not %s", gir_rule_text(r, 0));
    if (space_at(r, m->space)->kind == GIR_EDGE)
        return gir_misfit(r, "rows of %s are edges, which filter picks",
                          space_at(r, m->space)->name);
    return apart_operand(r, 1, m->space) && picked_space(r, m->space);
}

/* Edges of graph operand g are of one group each where the rows of pick operand k are apart. */
static bool both_apart(gir_rule *r, int g, int k)
{
    if (!gir_is_apart(r->p, r->in[k]) || gir_is_apart(r->p, r->in[g])) return true;
    return gir_misfit(r, "the rows of operand %d are apart, and the graph's are not", k + 1);
}

/* Is operand k a pick of rows of that space?  It may be one with repeats, or one of named ends,
 * drawn ones too, whose rows are out of order. */
static bool pick_operand(gir_rule *r, int k, gir_space_id of, bool repeats, bool ends)
{
    if (!gir_graph_operand(r, k)) return false;
    gir_op op = op_of(r, k);
    if (op == GIR_INDEX && !repeats)
        return gir_misfit(r, "operand %d may pick a row several times", k + 1);
    if (op != GIR_SUBSET && op != GIR_GROW && op != GIR_ENDS && op != GIR_INDEX)
        return gir_misfit(r, "operand %d is no pick of rows", k + 1);
    if (op == GIR_ENDS && !ends)
        return gir_misfit(r, "operand %d does not name all ends of the graph", k + 1);
    if (gir_rule_in(r, k)->src == of) return ends || gir_same_edges(r, k);
    return gir_misfit(r, "operand %d picks rows of %s, not of %s", k + 1,
                      space_at(r, gir_rule_in(r, k)->src)->name, space_at(r, of)->name);
}

bool gir_infer_GROW(gir_rule *r)
{
    int64_t end = r->attr->i[0];
    int graph = r->n > 1;
    if (r->n > 3) return gir_misfit(r, "%d operands, takes a graph and up to two picks", r->n);
    if (end != GIR_SRC && end != GIR_DST)
        return gir_misfit(r, "end is %lld, out of 0..1", (long long)end);
    if (!gir_graph_operand(r, graph) || !gir_same_edges(r, graph)) return false;
    const gir_type *g = gir_rule_in(r, graph);
    gir_space_id to = end == GIR_SRC ? g->src : g->dst, from = end == GIR_SRC ? g->dst : g->src;
    /* edges into the rows of a pick that is apart end in those */
    bool own = graph && gir_rule_in(r, 0)->dst == from && gir_is_apart(r->p, r->in[0]);
    if (own && !gir_is_pick(r->p, r->in[0])) return gir_misfit(r, "operand 1 is no pick of rows");
    if (r->n > 1 && !own && !pick_operand(r, 0, from, true, true)) return false;
    if (r->n > 1 && !gir_same_edges(r, 0)) return false;
    if (r->n > 2 && (!pick_operand(r, 2, to, true, true) || !gir_same_edges(r, 2))) return false;
    for (int k = 0; k < r->n; k += 2)
        if (k != graph && !both_apart(r, graph, k)) return false;
    if (space_at(r, to)->kind == GIR_EDGE)
        return gir_misfit(r, "rows of %s are edges, which filter picks", space_at(r, to)->name);
    return picked_space(r, to);
}

bool gir_infer_ENDS(gir_rule *r)
{
    int64_t ends = r->attr->i[0];
    if (r->n > 2) return gir_misfit(r, "%d operands, takes a graph and up to one pick", r->n);
    if (ends < 1 || ends > 3)
        return gir_misfit(r, "ends is %lld; it is 1, 2 or 3", (long long)ends);
    if (!gir_graph_operand(r, 0)) return false;
    const gir_type *g = gir_rule_in(r, 0);
    gir_space_id of = ends & 1 ? g->src : g->dst;
    if (ends == 3 && g->src != g->dst)
        return gir_misfit(r, "the graph goes from %s to %s, which are not one space",
                          space_at(r, g->src)->name, space_at(r, g->dst)->name);
    if (space_at(r, of)->kind == GIR_EDGE)
        return gir_misfit(r, "rows of %s are edges, which filter picks", space_at(r, of)->name);
    if (r->n > 1 && op_of(r, 1) != GIR_ENDS)
        return gir_misfit(r, "operand 2 is no pick of rows that ends name");
    if (r->n > 1 && !pick_operand(r, 1, of, false, true)) return false;
    return picked_space(r, of);
}

bool gir_infer_RESTRICT(gir_rule *r)
{
    int64_t ends = r->attr->i[0];
    if (ends < 1 || ends > 3)
        return gir_misfit(r, "ends is %lld; it is 1, 2 or 3", (long long)ends);
    if (r->n != (ends == 3 ? 3 : 2))
        return gir_misfit(r, "%d operands do not fit ends = %lld", r->n, (long long)ends);
    if (!gir_graph_operand(r, 0)) return false;
    bool keeps = gir_keeps_edges(r->p, r->n, r->in, ends);
    if (!keeps && !gir_same_edges(r, 0)) return false;
    gir_type g = *gir_rule_in(r, 0);
    if (ends & 1 && (!pick_operand(r, 1, g.src, false, keeps) || !both_apart(r, 0, 1)))
        return false;
    if (ends & 2 && !pick_operand(r, r->n - 1, g.dst, false, keeps)) return false;
    r->out->is_graph = 1;
    r->out->src = ends & 1 ? gir_rule_in(r, 1)->dst : g.src;
    r->out->dst = ends & 2 ? gir_rule_in(r, r->n - 1)->dst : g.dst;
    r->out->edge = g.edge;
    return keeps || gir_edge_space(r);
}

/* Operand 0 is a graph that is bound, or comes of one edge by edge: its places in the user's list
 * are those of a list.  The result has its ends. */
static bool of_edge_list(gir_rule *r)
{
    if (!gir_graph_operand(r, 0)) return false;
    gir_id g = r->in[0];
    for (;;) {
        const gir_node *n = gir_at(r->p, g);
        if (n->op == GIR_GRAPH) break;
        if (n->op == GIR_SUBSET || n->op == GIR_GROW || n->op == GIR_ENDS ||
            n->op == GIR_RESTRICT || n->op == GIR_DRAW || n->op == GIR_WITHOUT ||
            n->op == GIR_GROUP || gir_picks_named(n))
            return gir_misfit(r, "not of a graph of picked rows");
        if (n->op == GIR_PATTERN) return gir_misfit(r, "not of the pattern of a matrix");
        g = gir_in(r->p, g, 0);
    }
    r->out->is_graph = 1;
    r->out->src = gir_rule_in(r, 0)->src;
    r->out->dst = gir_rule_in(r, 0)->dst;
    return true;
}

/* Operand k is known before the program runs. */
static bool data_operand(gir_rule *r, int k)
{
    const gir_type *t = gir_rule_in(r, k);
    if (t->is_graph) return gir_misfit(r, "operand %d is a graph, a tensor is needed", k + 1);
    gir_id not = gir_not_data(r->p, r->in[k]);
    if (!not) return true;
    return gir_misfit(r,
                      "operand %d comes of %%%u = %s: it must come of inputs of whole numbers and "
                      "bools alone, which are there before anything is computed",
                      k + 1, not, gir_ops[gir_at(r->p, not)->op].text);
}

bool gir_infer_FILTER(gir_rule *r)
{
    if (!of_edge_list(r) || !apart_operand(r, 2, gir_rule_in(r, 0)->edge)) return false;
    const gir_type *g = gir_rule_in(r, 0), *m = gir_rule_in(r, 1);
    if (m->is_graph || m->elem != GN_BOOL || m->rank != 0 || m->space != g->edge)
        return gir_misfit(r, "the mask is %s, not %s bool[]", gir_rule_text(r, 1),
                          space_at(r, g->edge)->name);
    return gir_same_edges(r, 0) && data_operand(r, 1) && gir_edge_space(r);
}

bool gir_infer_INDEX(gir_rule *r)
{
    const gir_type *i = gir_rule_in(r, 0);
    int64_t s = r->attr->i[0];
    if (i->is_graph || (i->elem != GN_I32 && i->elem != GN_I64) || i->rank != 0 || i->space == 0)
        return gir_misfit(r, "takes a number a row, like edge i32[], not %s", gir_rule_text(r, 0));
    if (s <= 0 || s >= r->p->spaces.n) return gir_misfit(r, "no such space");
    const gir_space *of = space_at(r, (gir_space_id)s);
    if (of->kind == GIR_EDGE || of->graph)
        return gir_misfit(r, "rows of %s are %s, which no data count", of->name,
                          of->kind == GIR_EDGE ? "edges" : "picked");
    if (!data_operand(r, 0)) return false;
    r->out->is_graph = 1;
    r->out->src = (gir_space_id)s;
    r->out->dst = i->space;
    return gir_edge_space(r);
}

bool gir_infer_GROUP(gir_rule *r)
{
    if (!gir_graph_operand(r, 0) || !gir_same_edges(r, 0)) return false;
    const gir_type *g = gir_rule_in(r, 0), *k = gir_rule_in(r, 1);
    if (k->is_graph || (k->elem != GN_I32 && k->elem != GN_I64) || k->rank || k->space != g->edge)
        return gir_misfit(r, "the numbers are %s, not %s i32[] or i64[]", gir_rule_text(r, 1),
                          space_at(r, g->edge)->name);
    if (gir_is_apart(r->p, r->in[0])) return gir_misfit(r, "not of edges that are apart");
    if (space_at(r, g->dst)->kind == GIR_EDGE)
        return gir_misfit(r, "rows of %s are edges", space_at(r, g->dst)->name);
    gir_space_id from = g->src;
    if (!data_operand(r, 1) || !gir_same_edges(r, 1) || !picked_space(r, g->dst)) return false;
    r->out->src = from;
    return true;
}

/* Operand 0 is a GROUP of operand 1. */
static bool group_operand(gir_rule *r)
{
    if (!gir_graph_operand(r, 0) || !gir_graph_operand(r, 1)) return false;
    if (op_of(r, 0) != GIR_GROUP || gir_in(r->p, r->in[0], 0) != r->in[1])
        return gir_misfit(r, "operand 1 is no group of operand 2");
    r->out->is_graph = 1;
    r->out->dst = gir_rule_in(r, 0)->dst;
    return true;
}

bool gir_infer_GROUP_ROWS(gir_rule *r)
{
    if (!group_operand(r)) return false;
    r->out->src = gir_rule_in(r, 1)->dst;
    return gir_edge_space(r);
}

bool gir_infer_GROUP_NUMBERS(gir_rule *r)
{
    int64_t s = r->attr->i[0];
    if (!group_operand(r)) return false;
    if (gir_in(r->p, r->in[0], 1) != r->in[2])
        return gir_misfit(r, "operand 3 has not the numbers of the group");
    if (s <= 0 || s >= r->p->spaces.n || space_at(r, (gir_space_id)s)->size < 0)
        return gir_misfit(r, "no space of known size");
    r->out->src = (gir_space_id)s;
    return gir_edge_space(r);
}

static bool once_or_not(gir_rule *r, int64_t once)
{
    return once == 0 || once == 1 || gir_misfit(r, "once is %lld; it is 0 or 1", (long long)once);
}

/* The key of draws, which is read before anything is computed, and the site. */
static bool key_operand(gir_rule *r, int64_t site)
{
    if (site < 0 || site > UINT32_MAX) return gir_misfit(r, "the site is not a 32-bit number");
    bool key = op_of(r, 1) == GIR_RNG_KEY;
    for (int k = 0; key && k < 2; k++) {
        gir_op op = (gir_op)gir_at(r->p, gir_in(r->p, r->in[1], k))->op;
        key = op == GIR_INPUT || op == GIR_STATE;
    }
    if (key) return true;
    return gir_misfit(r, "operand 2 is no rng_key of inputs and states, which is read before "
                         "anything is computed");
}

bool gir_infer_SAMPLE(gir_rule *r)
{
    int64_t most = r->attr->i[0];
    if (!of_edge_list(r)) return false;
    if (most < 1) return gir_misfit(r, "most is %lld: it is positive", (long long)most);
    if (!once_or_not(r, r->attr->i[2])) return false;
    return key_operand(r, r->attr->i[1]) && gir_edge_space(r);
}

bool gir_infer_CORRUPT(gir_rule *r)
{
    int64_t times = r->attr->i[0], end = r->attr->i[1], site = r->attr->i[2];
    if (!of_edge_list(r)) return false;
    if (times < 1 || times > INT32_MAX)
        return gir_misfit(r, "times is %lld, out of 1..2147483647", (long long)times);
    if (end < 0 || end > 2) return gir_misfit(r, "end is %lld; it is 0, 1 or 2", (long long)end);
    if (!once_or_not(r, r->attr->i[3])) return false;
    return key_operand(r, site) && gir_edge_space(r);
}

/* Operand k: weights, or times, of the edges of the bound graph that operand 0 comes of, by loops,
 * filters and turns alone; or times of its sources. */
static bool edge_operand(gir_rule *r, int k)
{
    const gir_type *w = gir_rule_in(r, k);
    gir_id g = gir_bound_graph(r->p, r->in[0]);
    bool time = is_time(r, k), of_rows = time && w->space == gir_rule_in(r, 0)->src;
    if (!g)
        return gir_misfit(r, "%s go with a graph that is bound, or such a one with other loops",
                          time ? "times" : "weights");
    if (op_of(r, k) == GIR_INPUT && (time || w->elem == GN_F32) && w->rank == 0 &&
        (of_rows || w->space == gir_type_of(r->p, g)->edge))
        return true;
    return gir_misfit(r, "operand %d is %s, not an input %s f32[], i32[] or i64[]", k + 1,
                      gir_rule_text(r, k), space_at(r, gir_type_of(r->p, g)->edge)->name);
}

bool gir_infer_WITHOUT(gir_rule *r)
{
    int64_t either = r->attr->i[0];
    if (!gir_graph_operand(r, 0) || !gir_graph_operand(r, 1)) return false;
    const gir_type *g = gir_rule_in(r, 0), *h = gir_rule_in(r, 1);
    if (either < 0 || either > 1 || (either && g->src != g->dst))
        return gir_misfit(r, "either is 0, or 1 where a space goes to itself");
    if (g->src != h->src || g->dst != h->dst)
        return gir_misfit(r, "the graphs are between other rows");
    if (!gir_same_edges(r, 0) || !gir_same_edges(r, 1)) return false;
    r->out->is_graph = 1;
    r->out->src = g->src;
    r->out->dst = g->dst;
    return gir_edge_space(r);
}

bool gir_infer_DRAW(gir_rule *r)
{
    const gir_type *g = gir_rule_in(r, 0), *pick = gir_rule_in(r, 2);
    int64_t most = r->attr->i[0], loops = r->attr->i[2];
    if (r->n < 3 || r->n > 5)
        return gir_misfit(
            r, "%d operands, takes a graph, a key, a pick and maybe weights and times", r->n);
    if (!gir_graph_operand(r, 0) || !gir_same_edges(r, 0) || !key_operand(r, r->attr->i[1]))
        return false;
    for (int k = 3; k < r->n; k++)
        if (!edge_operand(r, k)) return false;
    bool timed = r->n > 3 && is_time(r, r->n - 1);
    if (r->n == 5 && (!timed || is_time(r, 3)))
        return gir_misfit(r, "operands 4 and 5 are not weights and times");
    if (most < 0) return gir_misfit(r, "most is %lld: it is not negative", (long long)most);
    if (r->attr->i[3] < GN_DRAW_UNIFORM || r->attr->i[3] >= GN_DRAW_COUNT)
        return gir_misfit(r, "how is %lld; it is 0, 1, 2 or 3", (long long)r->attr->i[3]);
    if (r->attr->i[3] == GN_DRAW_LAST && !timed)
        return gir_misfit(r, "how is 3, and there are no times");
    if (loops < 0 || loops >= GN_LOOPS_COUNT || (loops && g->src != g->dst))
        return gir_misfit(r, "loops is 0, or 1 or 2 where a space goes to itself");
    if (!gir_graph_operand(r, 2)) return false;
    bool apart = gir_is_apart(r->p, r->in[2]) && gir_picks_new(gir_at(r->p, r->in[2]));
    if ((!apart && !gir_picks_once(r->p, r->in[2])) || pick->src != g->dst)
        return gir_misfit(r, "operand 3 is no pick of %s, each row once",
                          space_at(r, g->dst)->name);
    if (timed && !apart) return gir_misfit(r, "times go with rows that are apart");
    if (!gir_same_edges(r, 2)) return false;
    r->out->is_graph = 1;
    r->out->src = g->src;
    r->out->dst = apart ? pick->dst : g->dst;
    return gir_edge_space(r);
}
