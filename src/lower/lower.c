/* lower: a fused program to launches. Needs: a fusion of a verified program.  Keeps: both.  Makes:
 * kernels in loop IR that verify, and the buffers between them.  Every region becomes one kernel,
 * or two where sums over a space are finished by a second one. */
#include "lower/lower_impl.h"

#include "lower/tuning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void low_fail(lower *L, gir_id v, const char *fmt, ...)
{
    if (L->error) return;
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!v) {
        L->error = GN_ERROR(GN_ERR_MODEL, "%s", text);
        return;
    }
    gir_loc loc = gir_at(L->p, v)->loc;
    const char *file = loc.line && loc.file < L->p->files.n ? L->p->files.p[loc.file] : "?";
    L->error = GN_ERROR(GN_ERR_MODEL, "%s:%u: value %%%u (%s): %s", file, loc.line, v,
                        gir_ops[gir_at(L->p, v)->op].text, text);
}

/* Symbols and buffers -------------------------------------------------------------------------- */

int low_sym_of(lower *L, gir_space_id s, int64_t per)
{
    for (uint32_t i = 0; i < L->out->syms.n; i++)
        if (L->out->syms.p[i].space == s && L->out->syms.p[i].per == per &&
            !L->out->syms.p[i].graph)
            return (int)i;
    const char *name = L->p->spaces.p[s].name;
    if (s == 0)
        name = gn_arena_printf(L->arena, "elements_%lld", (long long)per);
    else if (per != 1)
        name = gn_arena_printf(L->arena, "%s_by_%lld", name, (long long)per);
    GN_PUSH(L->arena, L->out->syms, ((low_sym){.name = name, .space = s, .per = per}));
    return (int)L->out->syms.n - 1;
}

static const char *part_array_name(lower *L, gn_graph_array k)
{
    static const char *const names[] = {"part_ptr", "part_row", "csc_part_ptr", "csc_part_row"};
    return gn_arena_printf(L->arena, "%s_%d", names[gn_part_array_kind(k)], gn_part_array_edges(k));
}

int low_sym_of_parts(lower *L, gir_id g, gn_graph_array ptr, int64_t n)
{
    for (uint32_t i = 0; i < L->out->syms.n; i++) {
        const low_sym *s = &L->out->syms.p[i];
        if (s->graph == g && s->array == ptr && s->per == n) return (int)i;
    }
    const char *end = gn_part_array_kind(ptr) == GN_CSC_PART_PTR ? "csc_" : "";
    int edges = gn_part_array_edges(ptr);
    const char *name = gn_arena_printf(L->arena, "g%u_%sparts_%d", g, end, edges);
    if (n > 1) name = gn_arena_printf(L->arena, "%s_by_%lld", name, (long long)n);
    GN_PUSH(L->arena, L->out->syms, ((low_sym){.name = name, .per = n, .graph = g, .array = ptr}));
    return (int)L->out->syms.n - 1;
}

static int add_buffer(lower *L, low_buffer b)
{
    GN_PUSH(L->arena, L->out->buffers, b);
    return (int)L->out->buffers.n - 1;
}

int low_temp(lower *L, const char *name, gn_elem e, low_size size)
{
    return add_buffer(
        L, (low_buffer){
               .kind = LOW_TEMP, .name = name, .elem = e, .size = size, .row_elems = size.coef});
}

static low_size rows_size(lower *L, gir_space_id s, int64_t row_elems)
{
    if (s == 0) return (low_size){.coef = row_elems, .sym = -1};
    return (low_size){.coef = row_elems, .sym = low_sym_of(L, s, 1)};
}

int low_buffer_of_value(lower *L, gir_id v)
{
    if (L->value_buffer[v] >= 0) return L->value_buffer[v];
    const gir_node *n = gir_at(L->p, v);
    low_buffer b = {.elem = (gn_elem)n->type.elem,
                    .row_elems = gir_row_elems(&n->type),
                    .space = n->type.space};
    b.size = rows_size(L, n->type.space, b.row_elems);
    if (L->zeros_behind[v]) b.size.plus = (int)b.row_elems;
    b.kind = n->op == GIR_INPUT ? LOW_INPUT : n->op == GIR_STATE ? LOW_STATE : LOW_TEMP;
    b.name = b.kind == LOW_TEMP ? gn_arena_printf(L->arena, "v%u", v) : n->attr.name;
    if (n->type.is_graph || (b.kind == LOW_TEMP && L->f->place[v] != FU_REAL))
        low_fail(L, v, "has no place in memory");
    return L->value_buffer[v] = add_buffer(L, b);
}

int low_buffer_read(lower *L, gir_id v)
{
    while (fu_is_identity_view(L->p, v) && L->f->place[v] != FU_REAL) v = gir_in(L->p, v, 0);
    return low_buffer_of_value(L, v);
}

int low_buffer_of_graph(lower *L, gir_id g, gn_graph_array array)
{
    for (uint32_t i = 0; i < L->out->buffers.n; i++) {
        const low_buffer *b = &L->out->buffers.p[i];
        if (b->kind == LOW_GRAPH && b->graph == g && b->array == array) return (int)i;
    }
    static const char *const names[] = {
        "row_ptr", "col",   "row",       "pos",  "col_ptr",  "csc_row",    "csc_edge", "from",
        "image",   "value", "csc_value", "cell", "csc_cell", "matrix_row", "row_value"};
    bool parts = gn_is_part_array(array);
    bool by_dst = array == GN_GRAPH_ROW_PTR || (parts && gn_part_array_kind(array) == GN_PART_PTR);
    bool by_src = array == GN_GRAPH_COL_PTR ||
                  (parts && gn_part_array_kind(array) == GN_CSC_PART_PTR);
    const gir_type *t = gir_type_of(L->p, g);
    gir_space_id s = by_dst || array == GN_GRAPH_ROW_VALUE ? t->dst : by_src ? t->src : t->edge;
    int64_t images = gir_at(L->p, g)->op == GIR_CORRUPT ? gir_at(L->p, g)->attr.i[0] : 1;
    if (array == GN_GRAPH_IMAGE) s = gir_type_of(L->p, gir_in(L->p, g, 0))->edge;
    low_buffer b = {
        .kind = LOW_GRAPH, .graph = g, .array = array, .elem = L->opt->index, .row_elems = 1};
    if (array == GN_GRAPH_VALUE || array == GN_GRAPH_CSC_VALUE || array == GN_GRAPH_ROW_VALUE)
        b.elem = GN_F32;
    if (array == GN_GRAPH_CELL || array == GN_GRAPH_CSC_CELL) b.elem = GN_I64;
    b.size = rows_size(L, s, array == GN_GRAPH_IMAGE ? images : 1);
    if (parts && !by_dst && !by_src) /* PART_PTR is the array before */
        b.size = (low_size){.coef = 1,
                            .sym = low_sym_of_parts(L, g, (gn_graph_array)(array - 1), 1)};
    b.size.plus = by_dst || by_src;
    b.name = gn_arena_printf(L->arena, "g%u_%s", g,
                             parts ? part_array_name(L, array) : names[array]);
    return add_buffer(L, b);
}

/* Kernels -------------------------------------------------------------------------------------- */

int low_kernel_buffer(lower *L, int buffer, kir_access access)
{
    while (L->kernel_buffer.n <= (uint32_t)buffer) GN_PUSH(L->arena, L->kernel_buffer, -1);
    int k = L->kernel_buffer.p[buffer];
    if (k < 0) {
        const low_buffer *b = &L->out->buffers.p[buffer];
        kir_size size = {.coef = b->size.coef, .sym = -1, .plus = b->size.plus};
        if (b->size.sym >= 0) size.sym = kir_sym_add(L->k, L->out->syms.p[b->size.sym].name);
        char name[160];
        snprintf(name, sizeof name, "%s%s",
                 b->kind == LOW_STATE   ? "state."
                 : b->kind == LOW_INPUT ? "in."
                                        : "",
                 b->name);
        k = kir_buffer_add(L->k, name, b->elem, access, size);
        L->kernel_buffer.p[buffer] = k;
        GN_PUSH(L->arena, L->launch.buffers, buffer);
    }
    L->k->buffers.p[k].access |= access;
    return k;
}

void low_begin(lower *L, const char *name)
{
    L->k = kir_kernel_new(
        L->arena, gn_arena_printf(L->arena, "%s_%s_%u", L->p->name, name, L->out->launches.n));
    memset(&L->launch, 0, sizeof L->launch);
    L->launch.kernel = L->k;
    if (L->region >= 0) low_of(L, L->r->members.p[0]);
    if (L->opt->limits.shared_bytes) {
        L->k->lanes = (int)L->sched.lanes;
        L->k->threads = (int)L->sched.threads;
    }
    L->launch.trip = (low_size){.coef = 1, .sym = -1};
    L->launch.step = 1;
    L->launch.region = L->region;
    L->kernel_buffer.n = 0;
    L->depth = 0;
    L->levels[0] = (level){0};
    L->memos.n = L->int_memos.n = L->tiles.n = 0;
    L->row = L->edge = (where){0};
    L->product = 0;
    L->drawn = NULL;
}

void low_note_precision(lower *L)
{
    bool rounded = L->sched.fragments || L->sched.pairs;
    L->launch.rounded = rounded ? kir_kinds[L->sched.kind].text : NULL;
    L->launch.why_exact = L->sched.why_exact;
}

static bool uses_buffer(const kir_inst *i)
{
    return i->op == KIR_LOAD || i->op == KIR_STORE || i->op == KIR_PREFETCH;
}

/* A graph's array that no instruction is left to read is no buffer of the kernel: nobody need make
 * it. */
static void drop_unread(lower *L)
{
    kir_kernel *k = L->k;
    uint32_t n = 0;
    int *to = GN_NEW_N(L->arena, int, k->buffers.n + 1);
    for (uint32_t i = 1; i < k->insts.n; i++)
        if (uses_buffer(kir_at(k, i))) to[kir_at(k, i)->imm] = 1;
    for (uint32_t b = 0; b < k->buffers.n; b++) {
        int buffer = L->launch.buffers.p[b];
        if (!to[b] && L->out->buffers.p[buffer].kind == LOW_GRAPH) continue;
        to[b] = (int)n;
        k->buffers.p[n] = k->buffers.p[b];
        L->launch.buffers.p[n++] = buffer;
    }
    k->buffers.n = L->launch.buffers.n = n;
    for (uint32_t i = 1; i < k->insts.n; i++)
        if (uses_buffer(kir_at(k, i))) kir_at(k, i)->imm = to[kir_at(k, i)->imm];
}

void low_end(lower *L)
{
    if (L->error) return;
    if (L->depth != 0) low_fail(L, 0, "kernel %s ends inside a loop", L->k->name);
    for (uint32_t s = 0; s < L->k->syms.n; s++)
        for (uint32_t i = 0; i < L->out->syms.n; i++)
            if (!strcmp(L->out->syms.p[i].name, L->k->syms.p[s])) {
                GN_PUSH(L->arena, L->launch.syms, (int)i);
                break;
            }
    gn_status *s = gn_is_on(L->opt->off, GN_DO_LOOPS) ? low_clean(L->k) : kir_verify(L->k);
    if (s && !L->error) L->error = s;
    if (!L->error) drop_unread(L);
    GN_PUSH(L->arena, L->out->launches, L->launch);
}

/* uncarry(g, derived, e) where each edge has several images: edge i has the sum of theirs. */
static void sum_images(lower *L, gir_id v, kir_id i)
{
    gir_id derived = gir_in(L->p, v, 1), e = gir_in(L->p, v, 2);
    int64_t times = gir_at(L->p, derived)->attr.i[0], n = fu_elems(L->p, v);
    gn_elem elem = low_elem((gn_elem)gir_type_of(L->p, v)->elem);
    int images = low_buffer_of_graph(L, derived, GN_GRAPH_IMAGE);
    kir_id tile = kir_tile(L->k, low_at(L), elem, n);
    kir_id z = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
    kir_tstore(L->k, low_at(L), tile, z, low_start(L, elem, GIR_SUM));
    low_close(L);
    kir_id t = low_open_n(L, times, KIR_SERIAL, KIR_REDUCE);
    kir_id image = low_load(L, images, low_scaled_add(L, i, times, t));
    where w = low_node_at(L, gir_type_of(L->p, e)->space, image);
    kir_id j = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
    low_ix x = low_index(gir_type_of(L->p, v), j);
    kir_id value = low_value(L, e, &w, &x);
    kir_tacc(L->k, low_at(L), KIR_SUM, tile, j, value);
    low_close(L);
    low_close(L);
    kir_id o = low_open_n(L, n, KIR_VECTOR, KIR_NONE);
    kir_id sum = kir_tload(L->k, low_at(L), tile, o);
    low_store_value(L, v, &L->row, o, sum);
    low_close(L);
}

void low_copy_side(lower *L, gir_id v, gir_id o, kir_id row, kir_id cond)
{
    low_open_if(L, cond);
    where w = low_node_at(L, o ? gir_type_of(L->p, o)->space : 0, row);
    int64_t n = fu_elems(L->p, v);
    kir_id j = n > 1 ? low_open_n(L, n, KIR_VECTOR, KIR_NONE) : low_iconst(L, 0);
    low_ix x = low_index(gir_type_of(L->p, v), j);
    kir_id value = o ? low_value(L, o, &w, &x)
                     : low_const(L, low_elem((gn_elem)gir_type_of(L->p, v)->elem), 0);
    low_store_value(L, v, &L->row, j, value);
    if (n > 1) low_close(L);
    low_close(L);
}

/* carry(derived, g, e, fill): the edge's value in the parent, or the node's fill. uncarry(g,
 * derived, e): the transpose. */
static void low_carry(lower *L, kir_id i)
{
    gir_id v = L->r->members.p[0], g = gir_in(L->p, v, 0), e = gir_in(L->p, v, 2);
    bool carry = gir_at(L->p, v)->op == GIR_CARRY;
    gir_id derived = carry ? g : gir_in(L->p, v, 1);
    if (!carry && gir_at(L->p, derived)->op == GIR_CORRUPT) {
        sum_images(L, v, i);
        return;
    }
    kir_id from = low_load(
        L, low_buffer_of_graph(L, derived, carry ? GN_GRAPH_FROM : GN_GRAPH_IMAGE), i);
    kir_id has = kir_bin(L->k, low_at(L), KIR_ILE, low_iconst(L, 0), from);
    kir_id not = kir_un(L->k, low_at(L), KIR_NOT, has);
    kir_id node = carry ? low_load(L, low_buffer_of_graph(L, g, GN_GRAPH_ROW), i) : from;
    low_copy_side(L, v, e, from, has);
    low_copy_side(L, v, carry ? gir_in(L->p, v, 3) : 0, node, not);
}

/* Rows that come from one of two places each. */
static void low_moved(lower *L)
{
    bool put = gir_at(L->p, L->r->members.p[0])->op == GIR_PUT;
    gir_space_id s = L->r->space;
    low_begin(L, put ? "put" : "carry");
    L->launch.trip = (low_size){.coef = 1, .sym = low_sym_of(L, s, 1)};
    kir_id i = low_open(L, low_iconst(L, 0), low_sym_value(L, s, 1), 1, KIR_THREAD, KIR_NONE);
    L->row = (where){.space = s, .row = i, .level = L->depth};
    if (put)
        low_put_rows(L, i);
    else
        low_carry(L, i);
    low_close(L);
    low_end(L);
}

/* Outputs -------------------------------------------------------------------------------------- */

/* An update may overwrite its state where it is computed if nothing needs the old value any more:
 * every other reader ran in an earlier kernel, or reads just the element that is about to be
 * replaced, which FLAT regions do. */
static bool in_place(const lower *L, gir_id state, gir_id v)
{
    enum { NO, ALIGNED, ANYHOW };
    const fusion *f = L->f;
    const gir_program *p = L->p;
    if (!gn_is_on(L->opt->off, GN_DO_IN_PLACE)) return false;
    if (f->place[v] != FU_REAL || f->regions.p[f->region_of[v]].kind != RG_FLAT) return false;
    /* how a value reads the state, through INLINE values */
    uint8_t *reads = GN_NEW_N(L->arena, uint8_t, p->nodes.n);
    reads[state] = ALIGNED;
    for (gir_id u = state + 1; u < p->nodes.n; u++) {
        if (f->place[u] == FU_UNUSED) continue;
        bool elementwise = gir_ops[gir_at(p, u)->op].cls == GIR_CLASS_MAP ||
                           fu_is_identity_view(p, u);
        for (int k = 0; k < gir_at(p, u)->n_in; k++) {
            uint8_t how = reads[gir_in(p, u, k)];
            if (how == ALIGNED && !elementwise) how = ANYHOW;
            if (how > reads[u]) reads[u] = how;
        }
        if (!reads[u] || f->place[u] == FU_INLINE) continue;
        bool late = f->region_of[u] > f->region_of[v] ||
                    (f->region_of[u] == f->region_of[v] && reads[u] == ANYHOW);
        if (late) return false;
        reads[u] = NO; /* what reads u reads u's memory */
    }
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].value == state) return false;
    return true;
}

static void bind_outputs(lower *L)
{
    const gir_program *p = L->p;
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        gir_id v = o->value;
        if (L->f->put[v]) low_bind_put(L, v);
        if (L->f->place[v] != FU_REAL || L->value_buffer[v] >= 0) continue;
        const gir_type *t = gir_type_of(p, v);
        if (o->kind == GIR_UPDATE) {
            gir_id state = gir_leaf_by_name(p, GIR_STATE, o->name);
            if (state && in_place(L, state, v)) L->value_buffer[v] = low_buffer_of_value(L, state);
            continue;
        }
        low_buffer b = {
            .kind = LOW_OUTPUT, .name = o->name, .elem = (gn_elem)t->elem, .space = t->space};
        b.row_elems = gir_row_elems(t);
        b.size = rows_size(L, t->space, b.row_elems);
        L->value_buffer[v] = add_buffer(L, b);
    }
}

static void add_copy(lower *L, int to, int from)
{
    low_launch copy = {.trip = {.coef = 1, .sym = -1}, .step = 1, .region = -1};
    GN_PUSH(L->arena, copy.buffers, to);
    GN_PUSH(L->arena, copy.buffers, from);
    GN_PUSH(L->arena, L->out->launches, copy);
}

static bool is_updated(const gir_program *p, const char *state)
{
    for (uint32_t k = 0; k < p->outputs.n; k++)
        if (p->outputs.p[k].kind == GIR_UPDATE && !strcmp(p->outputs.p[k].name, state)) return true;
    return false;
}

/* The buffer of an output's name, made where there is none. */
static int target_buffer(lower *L, const gir_output *o, low_buffer like)
{
    gir_id state = o->kind == GIR_UPDATE ? gir_leaf_by_name(L->p, GIR_STATE, o->name) : 0;
    if (state) return low_buffer_of_value(L, state);
    like.kind = o->kind == GIR_UPDATE ? LOW_STATE : LOW_OUTPUT;
    like.name = o->name;
    return add_buffer(L, like);
}

/* What could not be written where it belongs is copied there at the end.  States are what they were
 * until the last: outputs are copied first, then states that become other states to the side, and
 * then states are replaced. */
static void copy_outputs(lower *L)
{
    const gir_program *p = L->p;
    int *from = GN_NEW_N(L->arena, int, p->outputs.n + 1);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (L->f->put[o->value]) continue;
        from[k] = low_buffer_of_value(L, o->value);
        low_buffer b = L->out->buffers.p[from[k]];
        if (o->kind == GIR_OUTPUT && !(b.kind == LOW_OUTPUT && !strcmp(b.name, o->name)))
            add_copy(L, target_buffer(L, o, b), from[k]);
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (L->f->put[o->value]) continue;
        low_buffer b = L->out->buffers.p[from[k]];
        if (o->kind != GIR_UPDATE || b.kind != LOW_STATE || !strcmp(b.name, o->name) ||
            !is_updated(p, b.name))
            continue;
        int aside = low_temp(L, gn_arena_printf(L->arena, "old.%s", b.name), b.elem, b.size);
        add_copy(L, aside, from[k]);
        from[k] = aside;
    }
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        if (L->f->put[o->value]) {
            low_put_left(L, o->value);
            continue;
        }
        low_buffer b = L->out->buffers.p[from[k]];
        if (o->kind == GIR_UPDATE && !(b.kind == LOW_STATE && !strcmp(b.name, o->name)))
            add_copy(L, target_buffer(L, o, b), from[k]);
    }
}

/* Regions -------------------------------------------------------------------------------------- */

gn_status *gn_lower(gn_arena *a, const fusion *f, const low_options *opt, lowered **out)
{
    lower *L = GN_NEW(a, lower);
    *L = (lower){.arena = a, .p = f->p, .f = f, .opt = opt, .out = GN_NEW(a, lowered)};
    L->out->p = f->p;
    L->out->f = f;
    L->value_buffer = GN_NEW_N(a, int32_t, f->p->nodes.n);
    L->cost = GN_NEW_N(a, float, f->p->nodes.n);
    L->put = GN_NEW_N(a, gir_id, f->p->nodes.n);
    memset(L->value_buffer, -1, sizeof(int32_t) * f->p->nodes.n);
    L->zeros_behind = GN_NEW_N(a, bool, f->p->nodes.n);
    bind_outputs(L);
    low_find_drawn(L);
    for (uint32_t r = 0; r < f->regions.n && !L->error; r++) {
        L->region = (int)r;
        L->r = &f->regions.p[r];
        if (low_is_drawn_elsewhere(L, L->r)) continue;
        L->sched = low_schedule_of(opt, f, L->r);
        for (uint32_t v = 0; v < f->p->nodes.n; v++) L->cost[v] = -1;
        switch (L->r->kind) {
        case RG_ROWS: low_rows(L); break;
        case RG_FLAT: low_flat(L); break;
        case RG_GEMM: low_gemm(L); break;
        case RG_INNER: low_inner(L); break;
        case RG_CARRY:
            if (!low_near(L) && !low_sorted(L) && !low_along(L)) low_moved(L);
            break;
        }
    }
    if (!L->error) copy_outputs(L);
    if (L->error) return L->error;
    *out = L->out;
    return NULL;
}
