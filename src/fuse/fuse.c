/* fuse: groups values into regions (fuse.h).
 * Needs: a verified program, simplified.  Keeps: the program.  Makes: a fusion over it.
 *
 * Greedy over values in program order.  A value joins the latest region where it may stand: the
 * loops agree, whatever it reads of that region it reads aligned, and no region it reads from
 * depends on that region (which would be a cycle).  The transitive dependences between regions are
 * kept as bit sets, so that each question is one test. */
#include "fuse/fuse.h"

enum {
    FLAT_MIN = 256,  /* none-space tensors from this size on get a loop over elements */
    REGION_MAX = 96, /* members: a bound on the size of a kernel */
};

typedef struct dep {
    gir_id value;
    bool aligned;
} dep;

typedef struct fuser {
    fusion *f;
    const gir_program *p;
    gn_arena *arena;
    gn_switches off;
    uint64_t *reach; /* [cap][words]: reach[r] = regions that r depends on, directly or not */
    uint32_t words;
    GN_VEC(region) regions;
    GN_VEC(dep) deps; /* of the value at hand */
    fu_walk own;      /* over whose edges it is made; graph 0: over none */
    gir_id *meet;     /* by value: what stands for those that loops over their rows could compute
                         together; NULL: there is one relation */
    gir_id *sum;      /* by value: find_sums */
    bool *floating;   /* REAL values that read no REAL value: placed with their first reader */
    uint32_t *settled, round; /* floating values: last round of a search among them that came by */
    uint32_t *walked;  /* the same of the search for those that go apart, in which others begin */
    uint32_t *mark[2]; /* by value: last walk that came by, unaligned and aligned */
    uint32_t walk;
    gir_id *twin; /* by value: an earlier one that is the same, which it was made to come after
                     (remat.c); 0: none */
} fuser;

/* Dependences ---------------------------------------------------------------------------------- */

/* Adds the REAL values that `v` is computed from, looking through INLINE ones.  `aligned`: v is
 * read at the region's own row (for FLAT and GEMM regions: at the region's own element). */
static void walk(fuser *z, const region *r, gir_id v, bool aligned)
{
    const gir_program *p = z->p;
    const gir_node *n = gir_at(p, v);
    if (z->f->place[v] == FU_LEAF) return;
    if (z->f->place[v] == FU_REAL) {
        GN_PUSH(z->arena, z->deps, ((dep){v, aligned}));
        return;
    }
    if (z->mark[aligned][v] == z->walk) return;
    z->mark[aligned][v] = z->walk;
    bool elementwise = r->kind == RG_FLAT || r->kind == RG_GEMM;
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(p, v, k);
        bool same = aligned;
        if (n->op == GIR_GATHER) {
            if (k == 0) continue;
            same = aligned && gir_in(p, v, 0) == z->own.graph && n->attr.i[0] == z->own.end;
        } else if (n->op == GIR_CELL || n->op == GIR_TAKE || n->op == GIR_CARRY ||
                   n->op == GIR_UNCARRY || n->op == GIR_PUT || n->op == GIR_FROM_ROWS ||
                   gir_is_alone(n)) {
            same = false;
        } else if (elementwise && gir_ops[n->op].cls == GIR_CLASS_VIEW &&
                   !fu_is_identity_view(p, v)) {
            same = false;
        }
        if (gir_type_of(p, o)->space == 0 && n->type.space != 0) same = false;
        walk(z, r, o, same);
    }
}

/* Is d an edge value that the walk at hand makes? */
static bool walked(const fuser *z, gir_id d)
{
    if (!z->f->walk[d]) return false;
    fu_walk w = fu_walk_of(z->f, d);
    return w.graph == z->own.graph && w.end == z->own.end;
}

static void find_deps(fuser *z, const region *r, gir_id v)
{
    const gir_program *p = z->p;
    const gir_node *n = gir_at(p, v);
    z->deps.n = 0;
    z->walk++;
    z->own = fu_walk_of(z->f, v);
    bool elementwise = r->kind == RG_FLAT || r->kind == RG_GEMM;
    for (int k = 0; k < n->n_in; k++) {
        gir_id o = gir_in(p, v, k);
        const gir_type *t = gir_type_of(p, o);
        bool aligned;
        if (n->op == GIR_MATMUL || n->op == GIR_GATHER || n->op == GIR_CARRY ||
            n->op == GIR_UNCARRY || n->op == GIR_PUT || n->op == GIR_CELL || n->op == GIR_TAKE ||
            gir_is_alone(n))
            aligned = false;
        else if (n->op == GIR_SCATTER || z->f->walk[v])
            aligned = true; /* the walk turns at the gathers; a REAL edge value is foreign: see
                               below */
        else if (elementwise)
            aligned = gir_ops[n->op].cls == GIR_CLASS_MAP || fu_is_identity_view(p, v) ||
                      n->op == GIR_SPACE_REDUCE;
        else
            aligned = t->space == r->space;
        if (t->space == 0 && r->space != 0) aligned = false;
        walk(z, r, o, aligned);
    }
    /* Values of another space than the region's rows were computed by another loop, but for those
     * of its edges. */
    for (uint32_t k = 0; k < z->deps.n; k++) {
        gir_id d = z->deps.p[k].value;
        if (gir_type_of(p, d)->space != r->space && !walked(z, d)) z->deps.p[k].aligned = false;
    }
}

/* Regions -------------------------------------------------------------------------------------- */

/* The loop that computes `v` if it gets a region of its own. */
static region own_region(const fuser *z, gir_id v)
{
    const gir_program *p = z->p;
    if (z->f->walk[v]) v = z->f->walk[v];
    const gir_node *n = gir_at(p, v);
    region r = {.kind = RG_ROWS, .space = n->type.space};
    switch ((gir_op)n->op) {
    case GIR_SCATTER: r.walk[r.n_walks++] = fu_walk_of(z->f, v); break;
    case GIR_SPACE_REDUCE: r.space = gir_type_of(p, gir_in(p, v, 0))->space; break;
    case GIR_MATMUL: {
        gir_space_id s = gir_type_of(p, gir_in(p, v, 0))->space;
        r.kind = n->attr.i[0] && s ? RG_INNER : RG_GEMM;
        r.space = s;
        r.n = n->type.rank ? n->type.dim[n->type.rank - 1] : 1;
        break;
    }
    case GIR_CARRY:
    case GIR_UNCARRY:
    case GIR_PUT:
    case GIR_NEAREST:
    case GIR_RANK:
    case GIR_DISTINCT:
    case GIR_ROWS_AT:
    case GIR_SUM_AT:
    case GIR_SCAN:
    case GIR_BESIDE:
    case GIR_OUTER: r.kind = RG_CARRY; break;
    default:
        if (n->type.space == 0 && fu_elems(p, v) >= FLAT_MIN && n->op != GIR_REDUCE) {
            r.kind = RG_FLAT;
            r.n = fu_elems(p, v);
        }
        break;
    }
    return r;
}

static bool reaches(const fuser *z, uint32_t from, uint32_t to)
{
    return z->reach[(size_t)from * z->words + to / 64] >> (to % 64) & 1;
}

const char *const fu_reason_text[FU_REASON_COUNT] = {[FU_AGREED] = "",
#define X(id, text) [FU_##id] = text,
                                                     FU_REASONS(X)
#undef X
};

/* A sum over the rows of a product, one for each column. */
static bool rides(const fuser *z, const region *r, gir_id v)
{
    enum { WIDEST = 2048 };
    return gir_at(z->p, v)->op == GIR_SPACE_REDUCE && r->n > 1 && r->n <= WIDEST &&
           gn_is_on(z->off, GN_DO_RIDE);
}

/* By value: the sum that alone reads it, which nobody else does; 0: none does. */
static gir_id *find_sums(gn_arena *a, const fusion *f)
{
    const gir_program *p = f->p;
    gir_id *sum = GN_NEW_N(a, gir_id, p->nodes.n);
    for (gir_id u = p->nodes.n; u-- > 1;)
        for (int k = 0; gir_at(p, u)->op == GIR_ADD && f->place[u] != FU_UNUSED && k < 2; k++)
            if (f->uses[gir_in(p, u, k)] == 1) sum[gir_in(p, u, k)] = u;
    for (uint32_t k = 0; k < p->outputs.n; k++) sum[p->outputs.p[k].value] = 0;
    return sum;
}

/* Is product v nothing but the other summand of all that r's products come to?  Then one loop sums
 * them in its registers. */
static bool completes(const fuser *z, const region *r, gir_id v)
{
    gir_id product[FU_MOST_PRODUCTS];
    int n = fu_products(z->p, r, product), most = z->meet ? FU_MOST_PRODUCTS : 2;
    if (r->kind != RG_GEMM || !r->space || n == most || !gn_is_on(z->off, GN_DO_PAIR)) return false;
    if (n == 1 && r->members.n != 1) return false;
    if (fu_is_edge_space(z->p, r->space))
        return false; /* the sum would be computed where it is read */
    gir_id all = product[0], sum = z->sum[v];
    for (int k = 1; k < n && all; k++) all = z->sum[all];
    return all && sum && z->sum[all] == sum &&
           gir_type_eq(gir_type_of(z->p, all), gir_type_of(z->p, v));
}

/* May a region have the sum v's walk besides those that it has?  Its accumulators stay in a cache
 * then, or in a group's registers. */
static fu_reason walks_differ(const fuser *z, const region *r, const region *own, gir_id v)
{
    if (!own->n_walks || !r->n_walks) return FU_AGREED;
    bool there = fu_find_walk(r, own->walk[0]) >= 0;
    if (there && r->n_walks == 1) return FU_AGREED;
    if (!there && !z->meet) return FU_GRAPH;
    for (int k = 0; k < r->n_walks && !there; k++)
        if (!fu_are_relations(z->p, r->walk[k], own->walk[0])) return FU_GRAPH;
    if (!there && r->n_walks == FU_MOST_WALKS) return FU_WALKS;
    return fu_walked_elems(z->p, r) + fu_elems(z->p, v) <= FU_MOST_WALKED_ELEMS ? FU_AGREED
                                                                                : FU_FULL;
}

/* Do the sums over rows of a region, and v if it is one, stay together on the stack of a thread? */
static bool totals_fit(const fuser *z, const region *r, gir_id v)
{
    if (gir_at(z->p, v)->op != GIR_SPACE_REDUCE) return true;
    int64_t n = fu_elems(z->p, v);
    for (uint32_t k = 0; k < r->members.n; k++)
        if (gir_at(z->p, r->members.p[k])->op == GIR_SPACE_REDUCE)
            n += fu_elems(z->p, r->members.p[k]);
    return n <= FU_MOST_TOTAL_ELEMS;
}

/* Do the loops agree, so that a value that would get region `own` can be computed inside `r`?  If
 * not, why not. */
static fu_reason loops_differ(const fuser *z, const region *r, const region *own, gir_id v)
{
    const gir_program *p = z->p;
    if (own->kind == RG_GEMM && completes(z, r, v)) return FU_AGREED;
    if (own->kind == RG_INNER || own->kind == RG_CARRY || own->kind == RG_GEMM) return FU_OWN_LOOP;
    if (r->kind == RG_INNER || r->kind == RG_CARRY) return FU_EPILOGUE;
    if (r->space != own->space) return FU_SPACE;
    if (r->kind == RG_FLAT) return own->kind == RG_FLAT && r->n == own->n ? FU_AGREED : FU_ELEMENTS;
    if (own->kind == RG_FLAT) return FU_ELEMENTS;
    if (r->kind == RG_GEMM) {
        bool map = gir_ops[gir_at(p, v)->op].cls == GIR_CLASS_MAP || rides(z, r, v);
        return r->space && !own->n_walks && map && fu_elems(p, v) == r->n ? FU_AGREED : FU_EPILOGUE;
    }
    return totals_fit(z, r, v) ? walks_differ(z, r, own, v) : FU_FULL;
}

/* What `v` reads as a member of such a region, as a copy that lasts. */
static dep *deps_of(fuser *z, const region *r, gir_id v, uint32_t *n)
{
    region with = *r;
    find_deps(z, &with, v);
    *n = z->deps.n;
    dep *deps = GN_NEW_N(z->arena, dep, *n);
    for (uint32_t k = 0; k < *n; k++) deps[k] = z->deps.p[k];
    return deps;
}

/* Does a floating value read, itself or through others that float, a member of region r, or with
 * `later` what is computed after it?  It floats since it read nothing else then; what it reads may
 * have found its place since. */
static bool reads(fuser *z, uint32_t r, bool later, gir_id v, uint32_t round)
{
    uint32_t n;
    if (z->settled[v] == round) return false;
    z->settled[v] = round;
    const dep *deps = deps_of(z, &z->regions.p[r], v, &n);
    for (uint32_t k = 0; k < n; k++) {
        gir_id d = deps[k].value;
        if (z->floating[d]) {
            if (reads(z, r, later, d, round)) return true;
            continue;
        }
        uint32_t q = (uint32_t)z->f->region_of[d];
        if (later ? reaches(z, q, r) : q == r) return true;
    }
    return false;
}

/* Is v read at the region's own row alone? */
static bool only_aligned(const dep *deps, uint32_t n, gir_id v)
{
    bool all = true;
    for (uint32_t k = 0; k < n; k++) all = all && (deps[k].value != v || deps[k].aligned);
    return all;
}

/* Does a floating value that would get a region of its own (settle_apart), to be read by r, read a
 * member of r? */
static bool apart_reads(fuser *z, uint32_t r, const region *with, const dep *deps, uint32_t n,
                        uint32_t round)
{
    for (uint32_t k = 0; k < n; k++) {
        gir_id d = deps[k].value;
        if (!z->floating[d]) continue;
        region own = own_region(z, d);
        if (!only_aligned(deps, n, d) || loops_differ(z, with, &own, d)) {
            if (reads(z, r, false, d, ++z->round)) return true;
        } else if (z->walked[d] != round) {
            uint32_t more;
            const dep *of = deps_of(z, with, d, &more);
            z->walked[d] = round;
            if (apart_reads(z, r, with, of, more, round)) return true;
        }
    }
    return false;
}

/* May a value with these dependences, as a member of r, join region r?  *shares: it reads something
 * of r. */
static fu_reason may_not_join(fuser *z, uint32_t r, const region *with, const dep *deps, uint32_t n,
                              bool *shares)
{
    uint32_t round = ++z->round;
    *shares = false;
    if (apart_reads(z, r, with, deps, n, ++z->round)) return FU_CYCLE;
    for (uint32_t k = 0; k < n; k++) {
        if (z->floating[deps[k].value]) {
            if (reads(z, r, true, deps[k].value, round)) return FU_CYCLE;
            continue;
        }
        uint32_t q = (uint32_t)z->f->region_of[deps[k].value];
        if (q == r) {
            if (!deps[k].aligned) return FU_FOREIGN;
            *shares = true;
        } else if (reaches(z, q, r)) {
            return FU_CYCLE;
        }
    }
    return FU_AGREED;
}

static void add_edges(fuser *z, uint32_t r)
{
    uint64_t *mine = &z->reach[(size_t)r * z->words];
    for (uint32_t k = 0; k < z->deps.n; k++) {
        uint32_t q = (uint32_t)z->f->region_of[z->deps.p[k].value];
        if (q == r) continue;
        mine[q / 64] |= (uint64_t)1 << (q % 64);
        for (uint32_t w = 0; w < z->words; w++) mine[w] |= z->reach[(size_t)q * z->words + w];
    }
    for (uint32_t x = 0; x < z->regions.n; x++)
        if (x != r && reaches(z, x, r))
            for (uint32_t w = 0; w < z->words; w++) z->reach[(size_t)x * z->words + w] |= mine[w];
}

/* Is there one element a row, so that rows can be lanes, as far as this value goes? */
static bool single(const fuser *z, gir_id v)
{
    return fu_elems(z->p, v) == 1 && gir_at(z->p, v)->op != GIR_REDUCE;
}

static bool all_single(const fuser *z, const region *r)
{
    bool all = true;
    for (uint32_t m = 0; m < r->members.n; m++) all = all && single(z, r->members.p[m]);
    return all;
}

/* Is there a member that a row's loop would bring together with v in the end?  Sums over the edges
 * of several relations that are added up are; those of two layers are not. */
static bool meets(const fuser *z, const region *r, gir_id v)
{
    bool any = false;
    for (uint32_t m = 0; m < r->members.n; m++) any = any || z->meet[r->members.p[m]] == z->meet[v];
    return any;
}

/* Two walks over the edges of one graph meet in one region even when neither reads the other. */
static bool worth_joining(const fuser *z, const region *r, const region *own, gir_id v, bool shares)
{
    if (shares || own->kind == RG_GEMM || (own->kind == RG_ROWS && own->space == 0)) return true;
    if (!own->n_walks || !r->n_walks) return false;
    return !fu_walks_others(r, own) || meets(z, r, v);
}

/* So does work on the rows of one space where nothing better is found, unless rows could be lanes
 * for one of the two. */
static bool may_share_rows(const fuser *z, const region *r, const region *own, gir_id v)
{
    return gn_is_on(z->off, GN_DO_SHARE_ROWS) && own->kind == RG_ROWS && r->kind == RG_ROWS &&
           !own->n_walks && !r->n_walks && single(z, v) == all_single(z, r);
}

static void add_member(fuser *z, uint32_t r, gir_id v)
{
    z->f->region_of[v] = (int32_t)r;
    z->floating[v] = false;
    GN_PUSH(z->arena, z->regions.p[r].members, v);
}

/* Why `v` does not join region r. */
static fu_reason refusal_of(fuser *z, uint32_t r, gir_id v, const region *own)
{
    region with = z->regions.p[r];
    bool shares;
    if (!gn_is_on(z->off, GN_DO_FUSE)) return FU_OFF;
    if (with.members.n >= REGION_MAX) return FU_FULL;
    fu_reason why = loops_differ(z, &with, own, v);
    if (why) return why;
    find_deps(z, &with, v);
    uint32_t n = z->deps.n;
    const dep *deps = z->deps.p;
    for (uint32_t k = 0; k < n; k++)
        if (z->floating[deps[k].value]) { /* which is looked into */
            deps = deps_of(z, &with, v, &n);
            break;
        }
    why = may_not_join(z, r, &with, deps, n, &shares);
    if (why) return why;
    return worth_joining(z, &z->regions.p[r], own, v, shares) ? FU_AGREED : FU_APART;
}

/* The latest region that v may join and has something to share with, and for a sum over edges the
 * one that does most of its work already; UINT32_MAX: none. */
static uint32_t find_region(fuser *z, gir_id v, const region *own)
{
    uint32_t best = UINT32_MAX, rows = UINT32_MAX;
    int most = -2;
    for (uint32_t r = z->regions.n; r-- > 0;) {
        if (z->twin[v] && z->f->region_of[z->twin[v]] >= (int32_t)r) break;
        fu_reason why = refusal_of(z, r, v, own);
        /* which is as late as can be */
        bool free = why == FU_APART && rows == UINT32_MAX && !z->twin[v];
        if (free && may_share_rows(z, &z->regions.p[r], own, v)) rows = r;
        if (why) continue;
        if (!own->n_walks || !gn_is_on(z->off, GN_DO_SHARE_EDGES)) return r;
        int work = fu_walks_others(&z->regions.p[r], own)
                       ? -1
                       : fu_shared_work(z->arena, z->f, v, &z->regions.p[r]);
        if (work <= most) continue;
        most = work;
        best = r;
    }
    return best != UINT32_MAX ? best : rows;
}

/* v opens a region: why is it in none of those that it reads from? */
static void note_refusals(fuser *z, gir_id v, const region *own)
{
    uint32_t n;
    const dep *deps = deps_of(z, own, v, &n);
    for (uint32_t k = 0; k < n; k++) {
        int32_t r = z->f->region_of[deps[k].value];
        bool known = r < 0;
        for (uint32_t j = 0; j < k; j++) known = known || z->f->region_of[deps[j].value] == r;
        if (known) continue;
        fu_refusal x = {.value = v, .because = deps[k].value, .region = (uint32_t)r};
        x.reason = refusal_of(z, (uint32_t)r, v, own);
        GN_PUSH(z->arena, z->f->refusals, x);
    }
}

static void settle(fuser *z, uint32_t r, gir_id v);

/* Floating values that `v` reads, itself or through others that could come along, and that cannot
 * be members of r, get regions of their own, with all that they read. */
static void settle_apart(fuser *z, uint32_t r, gir_id v, uint32_t round)
{
    uint32_t n;
    const dep *deps = deps_of(z, &z->regions.p[r], v, &n);
    for (uint32_t k = 0; k < n; k++) {
        gir_id d = deps[k].value;
        if (!z->floating[d]) continue;
        region own = own_region(z, d);
        fu_reason why = only_aligned(deps, n, d) ? loops_differ(z, &z->regions.p[r], &own, d)
                                                 : FU_FOREIGN;
        if (why) {
            uint32_t to = z->regions.n;
            GN_PUSH(z->arena, z->regions, own);
            GN_PUSH(z->arena, z->f->refusals, ((fu_refusal){v, d, to, why}));
            settle(z, to, d);
            add_member(z, to, d);
        } else if (z->settled[d] != round) {
            z->settled[d] = round;
            settle_apart(z, r, d, round);
        }
    }
}

/* Floating values that `v`, about to be a member of r, reads come along where they can.  Those that
 * cannot go first: what they read must not be in r, which is to read them. */
static void settle(fuser *z, uint32_t r, gir_id v)
{
    uint32_t n;
    settle_apart(z, r, v, ++z->round);
    const dep *deps = deps_of(z, &z->regions.p[r], v, &n);
    for (uint32_t k = 0; k < n; k++) {
        gir_id d = deps[k].value;
        if (!z->floating[d]) continue;
        settle(z, r, d);
        add_member(z, r, d);
    }
    find_deps(z, &z->regions.p[r], v);
    add_edges(z, r);
}

/* Values that read nothing REAL, or only such values, wait for their first reader. */
static bool floats(fuser *z, gir_id v, const region *own)
{
    gir_op op = (gir_op)gir_at(z->p, v)->op;
    if (!gn_is_on(z->off, GN_DO_WAIT) || !gn_is_on(z->off, GN_DO_FUSE) || own->n_walks ||
        op == GIR_SPACE_REDUCE || (own->kind != RG_ROWS && own->kind != RG_FLAT))
        return false;
    if (own->kind == RG_ROWS && (own->space == 0 || fu_is_edge_space(z->p, own->space)))
        return false;
    for (uint32_t k = 0; k < z->p->outputs.n; k++)
        if (fu_left_by(z->f, k) == v) return false;
    find_deps(z, own, v);
    for (uint32_t k = 0; k < z->deps.n; k++)
        if (!z->floating[z->deps.p[k].value] || !z->deps.p[k].aligned) return false;
    return true;
}

static void place_in_region(fuser *z, gir_id v)
{
    region own = own_region(z, v);
    if (floats(z, v, &own)) {
        z->floating[v] = true;
        return;
    }
    uint32_t r = find_region(z, v, &own);
    if (r == UINT32_MAX) {
        note_refusals(z, v, &own);
        r = z->regions.n;
        GN_PUSH(z->arena, z->regions, own);
    } else if (own.n_walks && fu_find_walk(&z->regions.p[r], own.walk[0]) < 0) {
        region *to = &z->regions.p[r];
        to->walk[to->n_walks++] = own.walk[0];
    }
    settle(z, r, v);
    add_member(z, r, v);
}

static gir_id met_by(fuser *z, gir_id v)
{
    while (z->meet[v] != v) v = z->meet[v] = z->meet[z->meet[v]];
    return v;
}

static void bring_together(fuser *z, gir_id a, gir_id b)
{
    gir_id to = met_by(z, a), from = met_by(z, b);
    z->meet[from] = to;
}

/* The rows that product v alone reads; 0: others do, or they are no rows. */
static gir_id multiplied(const fuser *z, gir_id v)
{
    const gir_node *n = gir_at(z->p, v);
    if (n->op != GIR_MATMUL || n->attr.i[0] || !n->type.space) return 0;
    gir_id o = gir_in(z->p, v, 0);
    return z->f->place[o] == FU_REAL && z->f->uses[o] == 1 ? o : 0;
}

/* Where there are relations that one region may walk: which values loops over rows could compute
 * together, one reading of the other what its own row has.  Sums that are multiplied first, each
 * for itself, and then added up go together too. */
static void find_meetings(fuser *z)
{
    if (!fu_has_relations(z->f) || !gn_is_on(z->off, GN_DO_RELATIONS)) return;
    z->meet = GN_NEW_N(z->arena, gir_id, z->p->nodes.n);
    for (gir_id v = 0; v < z->p->nodes.n; v++) z->meet[v] = v;
    for (gir_id v = 1; v < z->p->nodes.n; v++) {
        if (z->f->place[v] != FU_REAL) continue;
        region own = own_region(z, v);
        find_deps(z, &own, v);
        for (uint32_t k = 0; k < z->deps.n; k++)
            if (z->deps.p[k].aligned) bring_together(z, v, z->deps.p[k].value);
        gir_id rows = multiplied(z, v);
        if (rows) bring_together(z, v, rows);
    }
    for (gir_id v = 1; v < z->p->nodes.n; v++) z->meet[v] = met_by(z, v);
}

static void note_reader(fuser *z, gir_id v, uint32_t r)
{
    for (uint32_t k = z->f->readers.n; k-- > 0 && z->f->readers.p[k].region == r;)
        if (z->f->readers.p[k].value == v) return;
    GN_PUSH(z->arena, z->f->readers, ((fu_reader){v, r}));
}

/* What another region reads, and what goes out, is stored. */
static void choose_stored(fuser *z)
{
    fusion *f = z->f;
    for (gir_id v = 1; v < z->p->nodes.n; v++) f->stored[v] = false;
    for (uint32_t k = 0; k < z->p->outputs.n; k++) f->stored[fu_left_by(f, k)] = true;
    for (uint32_t r = 0; r < z->regions.n; r++) {
        region *g = &z->regions.p[r];
        for (uint32_t m = 0; m < g->members.n; m++) {
            gir_id v = g->members.p[m];
            gir_op op = (gir_op)gir_at(z->p, v)->op;
            if (op == GIR_SPACE_REDUCE || g->kind == RG_INNER) f->stored[v] = true;
            find_deps(z, g, v);
            for (uint32_t k = 0; k < z->deps.n; k++) {
                gir_id d = z->deps.p[k].value;
                if (f->region_of[d] == (int32_t)r) continue;
                f->stored[d] = true;
                note_reader(z, d, r);
            }
        }
    }
}

/* Orders regions so that each comes after what it depends on; among those ready, the one that was
 * opened first. */
static void order_regions(fuser *z)
{
    fusion *f = z->f;
    uint32_t n = z->regions.n;
    uint32_t *place = GN_NEW_N(z->arena, uint32_t, n ? n : 1);
    bool *done = GN_NEW_N(z->arena, bool, n ? n : 1);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t pick = UINT32_MAX;
        for (uint32_t r = 0; r < n && pick == UINT32_MAX; r++) {
            bool ready = !done[r];
            for (uint32_t q = 0; q < n && ready; q++) ready = done[q] || !reaches(z, r, q);
            if (ready) pick = r;
        }
        done[pick] = true;
        place[pick] = k;
        GN_PUSH(z->arena, f->regions, z->regions.p[pick]);
    }
    for (gir_id v = 1; v < z->p->nodes.n; v++)
        if (f->region_of[v] >= 0) f->region_of[v] = (int32_t)place[f->region_of[v]];
    for (uint32_t k = 0; k < f->refusals.n; k++)
        f->refusals.p[k].region = place[f->refusals.p[k].region];
    for (uint32_t k = 0; k < f->readers.n; k++)
        f->readers.p[k].region = place[f->readers.p[k].region];
}

fusion *gn_fuse(gn_arena *a, const gir_program *p, const fu_options *opt)
{
    uint32_t n = p->nodes.n;
    fusion *f = GN_NEW(a, fusion);
    f->p = p;
    f->place = GN_NEW_N(a, uint8_t, n);
    f->stored = GN_NEW_N(a, bool, n);
    f->region_of = GN_NEW_N(a, int32_t, n);
    f->walk = GN_NEW_N(a, gir_id, n);
    f->uses = GN_NEW_N(a, uint32_t, n);
    f->put = GN_NEW_N(a, bool, n);
    for (uint32_t v = 0; v < n; v++) f->region_of[v] = -1;
    fuser z = {.f = f, .p = p, .arena = a, .off = opt ? opt->off : 0};
    if (opt && opt->eager) z.off = ~(gn_switches)0;
    z.mark[0] = GN_NEW_N(a, uint32_t, n);
    z.mark[1] = GN_NEW_N(a, uint32_t, n);
    fu_choose_places(a, f, z.off, opt && opt->lanes);
    z.sum = find_sums(a, f);
    z.floating = GN_NEW_N(a, bool, n);
    z.settled = GN_NEW_N(a, uint32_t, n);
    z.walked = GN_NEW_N(a, uint32_t, n);
    z.twin = fu_find_twins(a, f);
    find_meetings(&z);
    uint32_t real = 0;
    for (gir_id v = 1; v < n; v++) real += f->place[v] == FU_REAL;
    z.words = real / 64 + 1;
    z.reach = GN_NEW_N(a, uint64_t, (size_t)(real + 1) * z.words);
    for (gir_id v = 1; v < n; v++)
        if (f->place[v] == FU_REAL) place_in_region(&z, v);
    choose_stored(&z);
    order_regions(&z);
    if (gn_is_on(z.off, GN_DO_SINK)) gn_fuse_sink(a, f);
    return f;
}
