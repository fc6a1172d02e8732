/* The generator: graphs from graphs, data and draws. */
#include "base/draw.h"
#include "support/random_gir_impl.h"

#include <string.h>

bool is_list(gir_op op)
{
    return op == GIR_GRAPH || op == GIR_SELF_LOOPS || op == GIR_REMOVE_LOOPS ||
           op == GIR_REMAINING_LOOPS || op == GIR_REVERSE || op == GIR_FILTER;
}

gir_id graph_where(gen *z, bool (*fits)(const gir_program *, gir_id, gir_space_id), gir_space_id s)
{
    gir_id found = 0;
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n; v++)
        if (gir_type_of(z->p, v)->is_graph && fits(z->p, v, s) && rnd(z, (uint32_t)++n) == 0)
            found = v;
    return found;
}

bool has_end(const gir_program *p, gir_id g, gir_space_id s)
{
    return gir_type_of(p, g)->src == s || gir_type_of(p, g)->dst == s;
}
bool has_edge(const gir_program *p, gir_id g, gir_space_id s)
{
    return gir_type_of(p, g)->edge == s;
}
bool is_derived(const gir_program *p, gir_id g, gir_space_id s)
{
    (void)s;
    gir_op op = (gir_op)gir_at(p, g)->op;
    return op == GIR_SELF_LOOPS || op == GIR_REMOVE_LOOPS || op == GIR_REMAINING_LOOPS ||
           op == GIR_REVERSE || op == GIR_RESTRICT || op == GIR_FILTER || op == GIR_DRAW ||
           op == GIR_WITHOUT || op == GIR_GROUP || gir_draws_edges(gir_at(p, g));
}
bool derived_from(const gir_program *p, gir_id g, gir_space_id s)
{
    return is_derived(p, g, s) && gir_type_of(p, gir_in(p, g, 0))->edge == s;
}
bool derived_over(const gir_program *p, gir_id g, gir_space_id s)
{
    return is_derived(p, g, s) && gir_type_of(p, g)->edge == s;
}
bool derived_into(const gir_program *p, gir_id g, gir_space_id s)
{
    return is_derived(p, g, s) && gir_type_of(p, g)->dst == s;
}

gir_type over(gen *z, gir_space_id s, int kinds)
{
    gir_type t = random_type(z, kinds);
    t.space = s;
    return t;
}

static bool picks_of(const gir_program *p, gir_id g, gir_space_id s)
{
    gir_op op = (gir_op)gir_at(p, g)->op;
    return (op == GIR_SUBSET || op == GIR_GROW) && gir_type_of(p, g)->src == s;
}
static bool goes_from_to(const gir_program *p, gir_id g, gir_space_id s)
{
    return gir_type_of(p, g)->src == s && gir_type_of(p, g)->dst == s && !gir_is_drawn(p, g);
}
static bool indexes(const gir_program *p, gir_id g, gir_space_id s)
{
    return gir_at(p, g)->op == GIR_INDEX && gir_type_of(p, g)->src == s;
}
static bool has_rows(const gir_program *p, gir_id g, gir_space_id s)
{
    return has_end(p, g, s) && !gir_is_drawn(p, g) && p->spaces.p[s].kind != GIR_EDGE;
}
static bool lists(const gir_program *p, gir_id g, gir_space_id s)
{
    (void)s;
    return is_list((gir_op)gir_at(p, g)->op) || gir_draws_edges(gir_at(p, g));
}

gir_id make_mask(gen *z, gir_space_id s)
{
    gir_type t = gir_tensor(GN_BOOL, s, 0, NULL);
    return make(z, GIR_INPUT, 0, NULL,
                (gir_attr){.name = gn_arena_printf(z->a, "m%d.label", z->names++)}, &t);
}

/* Whole numbers of rows of s, or edges. */
static gir_id make_times(gen *z, gir_space_id s)
{
    gir_type t = gir_tensor(chance(z, 50) ? GN_I32 : GN_I64, s, 0, NULL);
    return make(z, GIR_INPUT, 0, NULL,
                (gir_attr){.name = gn_arena_printf(z->a, "t%d.time", z->names++)}, &t);
}

/* Of rows, or edges, that may be apart, by times of the space or by none: `in` [n] and more. */
static gir_id make_some(gen *z, gir_op op, int n, const gir_id *in, gir_space_id s)
{
    gir_id all[3] = {in[0], n > 1 ? in[1] : 0};
    /* gradients of values that are carried to an edge several times are not defined */
    int64_t apart = !z->opt->backward && chance(z, 30) ? 1 + rnd(z, 2) : 0;
    if (apart == 2 || (apart && chance(z, 50))) all[n++] = make_times(z, s);
    return make(z, op, n, all, (gir_attr){.i = {apart}}, NULL);
}

gir_id make_subset(gen *z, gir_space_id s)
{
    gir_id mask = s == z->node || s == z->item ? make_mask(z, s) : 0;
    return mask ? make_some(z, GIR_SUBSET, 1, &mask, s) : 0;
}

/* A pick of rows of s, which may itself be a space of picked rows. */
gir_id pick_of(gen *z, gir_space_id s)
{
    gir_id of = z->p->spaces.p[s].graph, r = graph_where(z, picks_of, s);
    if (!of) return r && chance(z, 70) ? r : make_subset(z, s);
    if (z->p->spaces.p[s].kind != GIR_NODE) return 0;
    gir_id less = gir_at(z->p, of)->n_in == 3 ? gir_in(z->p, of, 2) : of; /* a grown pick's */
    return make(z, GIR_RESTRICT, 2, (const gir_id[]){less, of}, (gir_attr){.i = {1}}, NULL);
}

/* Of a pick, or along a graph, from either end; now and then of all rows, or with others. */
gir_id make_grow(gen *z, gir_id must)
{
    if (must && !gir_type_of(z->p, must)->is_graph) return 0;
    bool picks = must && (gir_picks_new(gir_at(z->p, must)) ||
                          indexes(z->p, must, gir_type_of(z->p, must)->src));
    gir_id r = picks ? must : 0;
    if (r && gir_is_apart(z->p, r)) { /* along edges into those rows alone */
        gir_id d = make_draw(z, r), also = d && chance(z, 60) ? r : 0;
        if (also && gir_type_of(z->p, d)->src != gir_type_of(z->p, r)->src) also = 0;
        return d ? make(z, GIR_GROW, also ? 3 : 2, (const gir_id[]){r, d, also}, (gir_attr){0},
                        NULL)
                 : 0;
    }
    gir_id g = r ? graph_where(z, has_rows, gir_type_of(z->p, r)->src) : must ? must : z->g;
    if (!g) return 0;
    const gir_type t = *gir_type_of(z->p, g);
    int end = (int)rnd(z, 2);
    if (r && t.src != t.dst) end = gir_type_of(z->p, r)->src == t.src;
    gir_space_id here = end ? t.dst : t.src, there = end ? t.src : t.dst;
    bool all = !r && chance(z, 20), more = !all && chance(z, 60);
    if (!r && !all) r = pick_of(z, there);
    gir_id s = !more ? 0 : r && here == there && chance(z, 70) ? r : pick_of(z, here);
    if ((!r && !all) || (more && !s)) return 0;
    const gir_id in[3] = {all ? g : r, g, s};
    return make(z, GIR_GROW, all ? 1 : more ? 3 : 2, in, (gir_attr){.i = {end}}, NULL);
}

/* Data that name rows: numbers below 4, and inputs that the environment keeps below. */
gir_id make_index(gen *z, gir_id must)
{
    gir_id i = must;
    if (!i) {
        gir_type t = gir_tensor(chance(z, 50) ? GN_I32 : GN_I64, 0, 0, NULL);
        gir_id g = graph_where(z, lists, 0);
        t.space = chance(z, 50) ? gir_type_of(z->p, g)->edge : chance(z, 50) ? z->node : z->item;
        i = like(z, t);
    }
    uint32_t of = rnd(z, 4);
    gir_space_id s = of == 0   ? z->node
                     : of == 1 ? z->item
                     : of == 2 ? gir_space_add(z->p, "kind", GIR_NODE, 7 + rnd(z, 3))
                               : gir_space_add(z->p, "feature", GIR_FEATURE, 7 + rnd(z, 3));
    return make(z, GIR_INDEX, 1, &i, (gir_attr){.i = {s}}, NULL);
}

/* Edges by numbers below 4, or that the environment keeps below; and the picks for such rows. */
gir_id make_group(gen *z, gir_op op, gir_id must)
{
    bool graph = must && gir_type_of(z->p, must)->is_graph;
    if (op != GIR_GROUP) {
        gir_id h = graph && gir_at(z->p, must)->op == GIR_GROUP ? must
                                                                : make_group(z, GIR_GROUP, must);
        if (!h) return 0;
        if (op == GIR_GROUP_ROWS) return gir_group_rows(z->p, h);
        return gir_group_numbers(z->p, h, gir_space_add(z->p, "kind", GIR_NODE, 7 + rnd(z, 3)));
    }
    gir_id k = graph ? 0 : must, g = graph ? must : k ? 0 : graph_where(z, lists, 0);
    if (k) g = z->p->spaces.p[gir_type_of(z->p, k)->space].graph;
    if (!g || gir_is_drawn(z->p, g) || gir_is_apart(z->p, g)) return 0;
    if (!k) {
        gir_type t = gir_tensor(chance(z, 50) ? GN_I32 : GN_I64, gir_type_of(z->p, g)->edge, 0,
                                NULL);
        k = like(z, t);
    }
    return make(z, GIR_GROUP, 2, (const gir_id[]){g, k}, (gir_attr){0}, NULL);
}

gir_id make_filter(gen *z, gir_id must)
{
    gir_id g = must && gir_type_of(z->p, must)->is_graph ? must : 0, m = g ? 0 : must;
    if (m) {
        const gir_space *s = &z->p->spaces.p[gir_type_of(z->p, m)->space];
        g = s->kind == GIR_EDGE ? s->graph : 0;
    }
    if (!g) g = graph_where(z, lists, 0);
    gir_type t = gir_tensor(GN_BOOL, gir_type_of(z->p, g)->edge, 0, NULL);
    if (!m) m = like(z, t);
    const gir_op of = (gir_op)gir_at(z->p, g)->op;
    gir_space_id edges = gir_type_of(z->p, g)->edge;
    if (of == GIR_GRAPH) return make_some(z, GIR_FILTER, 2, (const gir_id[]){g, m}, edges);
    return make(z, GIR_FILTER, 2, (const gir_id[]){g, m}, (gir_attr){0}, NULL);
}

static gir_id make_key(gen *z)
{
    gir_type t = gir_tensor(GN_I64, 0, 0, NULL);
    gir_id leaf[2] = {leaf_of(z, t), leaf_of(z, t)};
    return make(z, GIR_RNG_KEY, 2, leaf, (gir_attr){0}, NULL);
}

/* Times of edges of g, or of the rows that they come from. */
static gir_id times_of(gen *z, gir_id g)
{
    gir_id whole = gir_bound_graph(z->p, g);
    gir_space_id s = gir_type_of(z->p, g)->src;
    bool rows = (s == z->node || s == z->item) && chance(z, 50);
    return whole ? make_times(z, rows ? s : gir_type_of(z->p, whole)->edge) : 0;
}

/* An input by which edges of g are drawn; 0: it comes of no bound graph by loops and filters. */
static gir_id weights_of(gen *z, gir_id g)
{
    g = gir_bound_graph(z->p, g);
    if (!g) return 0;
    gir_type t = gir_tensor(GN_F32, gir_type_of(z->p, g)->edge, 0, NULL);
    return make(z, GIR_INPUT, 0, NULL,
                (gir_attr){.name = gn_arena_printf(z->a, "w%d.pos", z->names++)}, &t);
}

/* A few edges of picked rows. */
gir_id make_draw(gen *z, gir_id must)
{
    bool graph = must && gir_type_of(z->p, must)->is_graph;
    bool picks = graph && picks_of(z->p, must, gir_type_of(z->p, must)->src);
    gir_id r = picks ? must : 0, g = graph && !picks ? must : 0, key = must && !graph ? must : 0;
    for (gir_id v = 1; r && !g && v < z->p->nodes.n; v++)
        if (gir_type_of(z->p, v)->is_graph &&
            gir_type_of(z->p, v)->dst == gir_type_of(z->p, r)->src)
            g = v;
    if (!g && !r) g = graph_where(z, lists, 0);
    if (!g || gir_is_drawn(z->p, g)) return 0;
    const gir_type t = *gir_type_of(z->p, g);
    if (!r) r = pick_of(z, t.dst);
    if (!key) key = make_key(z);
    if (!r || !key) return 0;
    int loops = t.src == t.dst && chance(z, 50) ? 1 + (int)rnd(z, 2) : 0;
    int how = chance(z, 50) ? GN_DRAW_UNIFORM : GN_DRAW_LABOR;
    /* gradients of values that are carried to an edge several times are not defined */
    if (!z->opt->backward && chance(z, 30)) how = GN_DRAW_REPLACE;
    gir_id in[5] = {g, key, r}, time = gir_is_apart(z->p, r) && chance(z, 70) ? times_of(z, g) : 0;
    int n = 3;
    if (chance(z, 30)) in[n] = weights_of(z, g);
    n += in[n] != 0;
    if (time && chance(z, 30)) how = GN_DRAW_LAST;
    if (time) in[n++] = time;
    int64_t most = gir_is_apart(z->p, r) && how == GN_DRAW_UNIFORM && chance(z, 30) ? INT64_MAX
                                                                                    : rnd(z, 4);
    return make(z, GIR_DRAW, n, in, (gir_attr){.i = {most, rnd(z, 9), loops, how}}, NULL);
}

/* The edges of one graph that another between the same rows has not. */
gir_id make_without(gen *z, gir_id must)
{
    gir_id g = must ? must : any_graph(z), h = g;
    if (!gir_type_of(z->p, g)->is_graph) return 0;
    const gir_type t = *gir_type_of(z->p, g);
    int n = 0;
    for (gir_id v = 1; v < z->p->nodes.n; v++) {
        const gir_type *o = gir_type_of(z->p, v);
        if (o->is_graph && o->src == t.src && o->dst == t.dst && rnd(z, (uint32_t)++n) == 0) h = v;
    }
    if (must && chance(z, 50)) {
        g = h;
        h = must;
    }
    if (gir_is_drawn(z->p, g) || gir_is_drawn(z->p, h)) return 0;
    return make(z, GIR_WITHOUT, 2, (const gir_id[]){g, h},
                (gir_attr){.i = {t.src == t.dst && chance(z, 50)}}, NULL);
}

static gir_op drawn_op(gen *z) { return chance(z, 50) ? GIR_SAMPLE : GIR_CORRUPT; }

gir_id make_drawn(gen *z, gir_op op, gir_id must)
{
    gir_id g = must && gir_type_of(z->p, must)->is_graph ? must : graph_where(z, lists, 0);
    gir_id key = g == must ? make_key(z) : must ? must : make_key(z);
    bool once = chance(z, 30);
    gir_attr attr = {.i = {1 + rnd(z, 3), rnd(z, 3), rnd(z, 9), once}};
    if (op == GIR_SAMPLE) attr = (gir_attr){.i = {1 + rnd(z, 40), rnd(z, 9), once}};
    return make(z, op, 2, (const gir_id[]){g, key}, attr, NULL);
}

static bool names(const gir_program *p, gir_id g, gir_space_id s)
{
    return gir_at(p, g)->op == GIR_ENDS && gir_type_of(p, g)->src == s;
}

/* Of a graph, or of one more beside the pick `must`; now and then beside another. */
gir_id make_ends(gen *z, gir_id must)
{
    gir_id s = must && gir_at(z->p, must)->op == GIR_ENDS && chance(z, 70) ? must : 0;
    gir_id g = s ? graph_where(z, has_end, gir_type_of(z->p, s)->src) : must ? must : any_graph(z);
    if (!g || !gir_type_of(z->p, g)->is_graph) return 0;
    const gir_type t = *gir_type_of(z->p, g);
    int ends = t.src == t.dst ? 1 + (int)rnd(z, 3) : 1 + (int)rnd(z, 2);
    if (s && t.src != t.dst) ends = gir_type_of(z->p, s)->src == t.src ? 1 : 2;
    if (z->p->spaces.p[ends & 1 ? t.src : t.dst].kind == GIR_EDGE) ends = 3 - ends;
    if (!s && chance(z, 40)) s = graph_where(z, names, ends & 1 ? t.src : t.dst);
    if (!s && gir_draws_edges(gir_at(z->p, g)) && chance(z, 50)) /* and those that it comes of */
        s = make(z, GIR_ENDS, 1, (const gir_id[]){gir_in(z->p, g, 0)}, (gir_attr){.i = {ends}},
                 NULL);
    return make(z, GIR_ENDS, s ? 2 : 1, (const gir_id[]){g, s}, (gir_attr){.i = {ends}}, NULL);
}

/* Between rows that ends name, with the edges of g. */
static gir_id make_between(gen *z, gir_id g)
{
    gir_id r = gir_at(z->p, g)->op == GIR_ENDS && chance(z, 70) ? g : make_ends(z, g);
    if (!r) return 0;
    int ends = (int)gir_at(z->p, r)->attr.i[0];
    if (ends == 3 && chance(z, 30)) ends = 1 + (int)rnd(z, 2);
    const gir_id in[3] = {gir_in(z->p, r, 0), r, r};
    return make(z, GIR_RESTRICT, ends == 3 ? 3 : 2, in, (gir_attr){.i = {ends}}, NULL);
}

/* Rows that are put among others: often of a state that they become, computed of its own rows. */
gir_id make_put(gen *z, gir_id must)
{
    gir_id r = must && gir_type_of(z->p, must)->is_graph ? must : 0, x = 0, y = 0;
    if (must && !r) {
        const gir_space *s = &z->p->spaces.p[gir_type_of(z->p, must)->space];
        if (s->graph && chance(z, 70)) {
            r = s->graph;
            y = must;
        } else {
            x = must;
        }
    }
    gir_space_id of = x ? gir_type_of(z->p, x)->space : chance(z, 70) ? z->node : z->item;
    if (!r && chance(z, 50)) r = graph_where(z, names, of);
    if (!r) r = pick_of(z, of);
    if (!r || !gir_picks_new(gir_at(z->p, r))) return 0;
    of = gir_type_of(z->p, r)->src;
    gir_type t = y ? *gir_type_of(z->p, y) : x ? *gir_type_of(z->p, x) : over(z, of, TENSORS);
    t.space = of;
    bool state = !x && (of == z->node || of == z->item) && chance(z, 60);
    if (state)
        x = make(z, GIR_STATE, 0, NULL,
                 (gir_attr){.name = gn_arena_printf(z->a, "s%d.any", z->names++)}, &t);
    if (!x) x = like(z, t);
    t.space = gir_type_of(z->p, r)->dst;
    if (!y && x && chance(z, 60) && kind_of(&t) == FLOATS) {
        gir_id own = make(z, GIR_TAKE, 2, (const gir_id[]){r, x}, (gir_attr){0}, NULL);
        gir_id more = like(z, t);
        y = make(z, chance(z, 50) ? GIR_ADD : GIR_MUL, 2, (const gir_id[]){own, more},
                 (gir_attr){0}, NULL);
    }
    if (!y) y = like(z, t);
    return make(z, GIR_PUT, 3, (const gir_id[]){r, x, y}, (gir_attr){0}, NULL);
}

/* Between rows that are apart: of a pick, among those that are grown of it; of its edges, from all
 * that they name, or between its own rows, which leaves some; of edges that are apart, at both
 * ends. */
static gir_id make_apart(gen *z, gir_id g)
{
    gir_id in[3] = {g};
    gir_op op = (gir_op)gir_at(z->p, g)->op;
    if (gir_picks_new(gir_at(z->p, g))) {
        gir_id d = make_draw(z, g);
        if (!d || gir_type_of(z->p, d)->src != gir_type_of(z->p, g)->src) return 0;
        in[1] = make(z, GIR_GROW, 3, (const gir_id[]){g, d, g}, (gir_attr){0}, NULL);
        return in[1] ? make(z, GIR_RESTRICT, 2, in, (gir_attr){.i = {1}}, NULL) : 0;
    }
    bool draw = op == GIR_DRAW;
    if (gir_is_drawn(z->p, g)) return 0;
    gir_id r = draw ? gir_in(z->p, g, 2) : 0;
    if (draw && gir_type_of(z->p, r)->src == gir_type_of(z->p, g)->src && chance(z, 40))
        return make(z, GIR_RESTRICT, 2, (const gir_id[]){g, r}, (gir_attr){.i = {1}}, NULL);
    in[1] = make(z, GIR_GROW, draw ? 2 : 1, (const gir_id[]){draw ? r : g, g}, (gir_attr){0}, NULL);
    if (draw) return make(z, GIR_RESTRICT, 2, in, (gir_attr){.i = {1}}, NULL);
    in[2] = make(z, GIR_GROW, 1, &g, (gir_attr){.i = {1}}, NULL);
    return make(z, GIR_RESTRICT, 3, in, (gir_attr){.i = {3}}, NULL);
}

/* Of a graph; of a pick, sources that have all that it picks. */
gir_id make_restrict(gen *z, gir_id g)
{
    gir_op op = (gir_op)gir_at(z->p, g)->op;
    if (!gir_type_of(z->p, g)->is_graph) return 0;
    if (gir_is_apart(z->p, g) && op != GIR_RESTRICT) return make_apart(z, g);
    if (op == GIR_ENDS || gir_draws_edges(gir_at(z->p, g)) || chance(z, 25))
        return make_between(z, g);
    if (op == GIR_SUBSET || op == GIR_GROW) {
        gir_id all = graph_where(z, goes_from_to, gir_type_of(z->p, g)->src), more = g;
        if (all && chance(z, 70))
            more = make(z, GIR_GROW, 3, (const gir_id[]){g, all, g}, (gir_attr){0}, NULL);
        return make(z, GIR_RESTRICT, 2, (const gir_id[]){g, more}, (gir_attr){.i = {1}}, NULL);
    }
    if (op == GIR_INDEX && chance(z, 50)) {
        gir_id all = make(z, GIR_GROW, 1, &g, (gir_attr){.i = {GIR_SRC}}, NULL);
        return make(z, GIR_RESTRICT, 2, (const gir_id[]){g, all}, (gir_attr){.i = {1}}, NULL);
    }
    if (op != GIR_INDEX && gir_is_pick(z->p, g)) return 0;
    const gir_type t = *gir_type_of(z->p, g);
    gir_id src = chance(z, 60) && !z->p->spaces.p[t.src].graph ? pick_of(z, t.src) : 0;
    gir_id dst = (!src || op == GIR_INDEX || chance(z, 60)) && !z->p->spaces.p[t.dst].graph
                     ? pick_of(z, t.dst)
                     : 0;
    if (op == GIR_INDEX && !dst) return 0; /* all of its rows must be left */
    if (!src && !dst) return 0;
    return make(z, GIR_RESTRICT, src && dst ? 3 : 2, (const gir_id[]){g, src ? src : dst, dst},
                (gir_attr){.i = {(src ? 1 : 0) | (dst ? 2 : 0)}}, NULL);
}

gir_id make_take(gen *z, gir_id must)
{
    gir_id r = must && gir_type_of(z->p, must)->is_graph ? must : 0, x = r ? 0 : must;
    if (r && gir_at(z->p, r)->op == GIR_RESTRICT && !gir_is_pick(z->p, r)) return 0;
    gir_space_id of = x ? gir_type_of(z->p, x)->space : chance(z, 70) ? z->node : z->item;
    if (!r && chance(z, 30)) r = graph_where(z, indexes, of);
    if (!r && chance(z, 30)) r = graph_where(z, names, of);
    if (!r) r = pick_of(z, of);
    if (!r) return 0;
    if (!x) x = like(z, over(z, gir_type_of(z->p, r)->src, TENSORS));
    return make(z, GIR_TAKE, 2, (const gir_id[]){r, x}, (gir_attr){0}, NULL);
}

/* A graph whose destinations are the picked rows s. */
gir_id restricted_to(gen *z, gir_space_id s)
{
    gir_id pick = z->p->spaces.p[s].graph, g;
    if (z->p->spaces.p[s].kind != GIR_NODE || !pick) return 0;
    g = gir_type_of(z->p, pick)->src == z->node   ? z->g
        : gir_type_of(z->p, pick)->src == z->item ? z->b
                                                  : 0;
    return make(z, GIR_RESTRICT, 2, (const gir_id[]){g, pick}, (gir_attr){.i = {2}}, NULL);
}

gir_id derive(gen *z, gir_id g)
{
    static const gir_op how[] = {GIR_SELF_LOOPS, GIR_REMOVE_LOOPS, GIR_REMAINING_LOOPS,
                                 GIR_REVERSE};
    const gir_type *t = gir_type_of(z->p, g);
    gir_op op = (gir_op)gir_at(z->p, g)->op;
    if (op == GIR_SUBSET || op == GIR_GROW || op == GIR_ENDS || op == GIR_RESTRICT ||
        op == GIR_INDEX || chance(z, 25))
        return make_restrict(z, g);
    if (chance(z, 40)) return chance(z, 50) ? make_filter(z, g) : make_drawn(z, drawn_op(z), g);
    return make(z, t->src == t->dst ? how[rnd(z, 4)] : GIR_REVERSE, 1, &g, (gir_attr){0}, NULL);
}

gir_id make_pattern(gen *z, gir_id must)
{
    int64_t f = 2 + rnd(z, 5);
    gir_type t = gir_tensor(z->opt->elem, chance(z, 80) ? z->node : z->item, 1, &f);
    if (must &&
        (gir_at(z->p, must)->op != GIR_INPUT || !strstr(gir_at(z->p, must)->attr.name, ".sparse")))
        return 0;
    if (must) return make(z, GIR_PATTERN, 1, &must, (gir_attr){0}, NULL);
    gir_id x = make(z, GIR_INPUT, 0, NULL,
                    (gir_attr){.name = gn_arena_printf(z->a, "x%d.sparse", z->names++)}, &t);
    return make(z, GIR_PATTERN, 1, &x, (gir_attr){0}, NULL);
}
