/* Layers of sums over the edges of several relations between two or three spaces of rows, from
 * either end, as typed graphs have them. */
#include "support/random_gir_impl.h"

enum { SPACES = 3, RELATIONS = 12, WIDTH = 4 };

typedef struct typed {
    gen *z;
    int spaces, relations;
    gir_space_id space[SPACES];
    gir_id relation[RELATIONS];
    gir_id h[SPACES]; /* what each space's rows hold */
    gir_type row;     /* of it, but for the space */
    int layer;
} typed;

static gir_id binary(gen *z, gir_op op, gir_id a, gir_id b)
{
    return make(z, op, 2, (const gir_id[]){a, b}, (gir_attr){0}, NULL);
}

static gir_id unary(gen *z, gir_op op, gir_id a) { return make(z, op, 1, &a, (gir_attr){0}, NULL); }

static gir_id gather(gen *z, gir_id g, gir_id x, int end)
{
    return make(z, GIR_GATHER, 2, (const gir_id[]){g, x}, (gir_attr){.i = {end}}, NULL);
}

static gir_id scatter(gen *z, gir_id g, gir_id x, int end, int red)
{
    return make(z, GIR_SCATTER, 2, (const gir_id[]){g, x}, (gir_attr){.i = {end, red}}, NULL);
}

static gir_id constant(gen *z, gir_type t, double x)
{
    return make(z, GIR_CONST, 0, NULL, (gir_attr){.f = x}, &t);
}

static int space_of(const typed *t, gir_id g, int end)
{
    const gir_type *type = gir_type_of(t->z->p, g);
    gir_space_id s = end == GIR_SRC ? type->src : type->dst;
    int k = 0;
    while (t->space[k] != s) k++;
    return k;
}

static gir_type rows_of(const typed *t, gir_space_id s)
{
    gir_type type = t->row;
    type.space = s;
    return type;
}

/* x by a square matrix, so that rows stay as wide. */
static gir_id project(typed *t, gir_id x)
{
    int64_t n = t->row.dim[0];
    gir_type w = gir_tensor(t->z->opt->elem, 0, 2, (const int64_t[]){n, n});
    return binary(t->z, GIR_MATMUL, x, leaf_of(t->z, w));
}

/* One number an edge. */
static gir_id repeated(gen *z, gir_type edge)
{
    gir_type one = edge;
    one.dim[0] = 1;
    gir_id v = leaf_of(z, one);
    return make(z, GIR_BROADCAST, 1, &v, (gir_attr){0}, &edge);
}

/* What the edges of g carry to the rows at `end`. */
static gir_id message(typed *t, gir_id g, int end)
{
    gen *z = t->z;
    gir_id x = t->h[space_of(t, g, !end)], own = t->h[space_of(t, g, end)];
    if (chance(z, 30)) x = project(t, x);
    gir_id m = gather(z, g, x, !end);
    gir_type edge = rows_of(t, gir_type_of(z->p, g)->edge);
    switch (rnd(z, 6)) {
    case 0: return binary(z, GIR_MUL, m, like(z, edge));
    case 1: return binary(z, GIR_ADD, m, gather(z, g, own, end));
    case 2: return unary(z, GIR_TANH, binary(z, GIR_SUB, m, gather(z, g, own, end)));
    case 3: return binary(z, GIR_MUL, m, repeated(z, edge));
    default: return m;
    }
}

/* One relation's sum, or extremum; now and then of what is the same for all edges, or over how many
 * there are. */
static gir_id reduced(typed *t, gir_id g, int end)
{
    gen *z = t->z;
    gir_type edge = rows_of(t, gir_type_of(z->p, g)->edge);
    int red = t->layer || chance(z, 70) ? GIR_SUM : 1 + (int)rnd(z, 2);
    if (chance(z, 8)) return scatter(z, g, constant(z, edge, 0.5), end, red);
    /* which of rounded numbers is largest is not sure, nor what has the gradient */
    gir_id m = red == GIR_SUM ? message(t, g, end) : gather(z, g, t->h[space_of(t, g, !end)], !end);
    gir_id v = scatter(z, g, m, end, red);
    if (!chance(z, 20)) return v;
    gir_id n = scatter(z, g, constant(z, edge, 1), end, GIR_SUM);
    return binary(z, GIR_DIV, v, binary(z, GIR_MAX, n, constant(z, *gir_type_of(z->p, n), 1)));
}

typedef struct ends { /* relations that end in a space */
    int n;
    gir_id g[2 * RELATIONS];
    int end[2 * RELATIONS];
} ends;

static ends ends_in(typed *t, int space)
{
    ends e = {0};
    for (int k = 0; k < t->relations; k++)
        for (int end = GIR_DST + 1; end-- > GIR_SRC;) {
            if (space_of(t, t->relation[k], end) != space) continue;
            if (e.n && chance(t->z, end == GIR_DST ? 10 : 50)) continue;
            e.g[e.n] = t->relation[k];
            e.end[e.n++] = end;
        }
    return e;
}

/* One after the other joined to those before, or all at the end. */
static gir_id sum_of(typed *t, const ends *e)
{
    static const gir_op ops[] = {GIR_ADD, GIR_ADD, GIR_ADD, GIR_SUB, GIR_SUB};
    gir_id each[2 * RELATIONS], all = 0;
    bool late = chance(t->z, 50), products = chance(t->z, 25);
    uint32_t n = products || chance(t->z, 50) ? 3 : 5;
    for (int k = 0; k < e->n; k++) {
        each[k] = reduced(t, e->g[k], e->end[k]);
        if (products) each[k] = project(t, each[k]);
        if (!late) all = all ? binary(t->z, ops[rnd(t->z, n)], all, each[k]) : each[k];
    }
    for (int k = 0; k < e->n && late; k++)
        all = all ? binary(t->z, ops[rnd(t->z, n)], all, each[k]) : each[k];
    return all;
}

/* A softmax over the edges of all relations together. */
static gir_id attention(typed *t, const ends *e)
{
    gen *z = t->z;
    gir_id most = 0, weights = 0, all = 0, score[2 * RELATIONS];
    for (int k = 0; k < e->n; k++) {
        gir_id x = t->h[space_of(t, e->g[k], !e->end[k])];
        score[k] = unary(z, GIR_TANH, gather(z, e->g[k], x, !e->end[k]));
        gir_id v = scatter(z, e->g[k], score[k], e->end[k], GIR_RED_MAX);
        most = most ? binary(z, GIR_MAX, most, v) : v;
    }
    most = unary(z, GIR_DETACH, most);
    for (int k = 0; k < e->n; k++) {
        gir_id x = gather(z, e->g[k], t->h[space_of(t, e->g[k], !e->end[k])], !e->end[k]);
        gir_id top = gather(z, e->g[k], most, e->end[k]);
        gir_id w = unary(z, GIR_EXP, binary(z, GIR_SUB, score[k], top));
        gir_id n = scatter(z, e->g[k], w, e->end[k], GIR_SUM);
        gir_id v = scatter(z, e->g[k], binary(z, GIR_MUL, w, x), e->end[k], GIR_SUM);
        weights = weights ? binary(z, GIR_ADD, weights, n) : n;
        all = all ? binary(z, GIR_ADD, all, v) : v;
    }
    gir_id least = constant(z, *gir_type_of(z->p, weights), 0.5);
    return binary(z, GIR_DIV, all, binary(z, GIR_ADD, weights, least));
}

static void add_layer(typed *t)
{
    gir_id next[SPACES];
    gen *z = t->z;
    for (int s = 0; s < t->spaces; s++) {
        ends e = ends_in(t, s);
        next[s] = t->h[s];
        if (!e.n) continue;
        gir_id v = chance(z, 20) ? attention(t, &e) : sum_of(t, &e);
        if (chance(z, 25)) v = project(t, v);
        if (chance(z, 50)) v = binary(z, GIR_ADD, v, project(t, t->h[s]));
        next[s] = unary(z, GIR_TANH, v);
    }
    for (int s = 0; s < t->spaces; s++) t->h[s] = next[s];
}

void add_relations(gen *z)
{
    static const char *const names[] = {"node", "item", "kind"};
    typed t = {.z = z, .spaces = 2 + (int)rnd(z, 2)};
    t.row = (gir_type){.elem = (uint8_t)z->opt->elem, .rank = 1, .dim = {1 + rnd(z, 2 * WIDTH)}};
    int most = 2 + (int)rnd(z, 3), many = z->opt->relations;
    if (chance(z, 20)) most = many < RELATIONS - 1 ? many : RELATIONS - 1;
    for (int s = 0; s < t.spaces; s++) t.space[s] = gir_space_add(z->p, names[s], GIR_NODE, -1);
    for (int k = 0; k < most; k++) {
        gir_space_id src = t.space[rnd(z, (uint32_t)t.spaces)],
                     dst = t.space[k < 2 ? 0 : rnd(z, (uint32_t)t.spaces)];
        t.relation[t.relations++] = gir_graph(z->p, gn_arena_printf(z->a, "r%d", k), src, dst);
    }
    z->node = t.space[0];
    z->item = t.space[1];
    z->g = t.relation[0];
    z->b = t.relation[1];
    while (z->ranges.n < z->p->nodes.n) GN_PUSH(z->a, z->ranges, ((range){0, 0}));
    if (chance(z, 20))
        t.relation[t.relations++] = make(z, GIR_REVERSE, 1, &z->g, (gir_attr){0}, NULL);
    for (int s = 0; s < t.spaces; s++) t.h[s] = leaf_of(z, rows_of(&t, t.space[s]));
    for (int layers = 1 + (int)rnd(z, 2); t.layer < layers; t.layer++) add_layer(&t);
}
