#include "lower/tuning.h"

#include <inttypes.h>
#include <string.h>

const low_field_spec low_fields[LOW_FIELD_COUNT] = {
#define X(id, member, kinds, least, most, doc) {#member, kinds, least, most, doc},
    LOW_FIELDS(X)
#undef X
};

low_field low_field_by_name(const char *name)
{
    for (int k = 0; k < LOW_FIELD_COUNT; k++)
        if (!strcmp(name, low_fields[k].name)) return (low_field)k;
    return LOW_FIELD_COUNT;
}

int64_t low_field_get(const low_schedule *s, low_field f)
{
    switch (f) {
#define X(id, member, kinds, least, most, doc)                                                     \
    case LOW_FIELD_##id: return (int64_t)s->member;
        LOW_FIELDS(X)
#undef X
    case LOW_FIELD_COUNT: break;
    }
    return 0;
}

static void set(low_schedule *s, low_field f, int64_t value)
{
    switch (f) {
    case LOW_FIELD_PACK: s->pack = (low_pack)value; break;
    case LOW_FIELD_TERMS: s->terms = value; break;
    case LOW_FIELD_SWAP: s->swap = value != 0; break;
    case LOW_FIELD_ROW_BLOCK: s->row_block = value; break;
    case LOW_FIELD_CHUNK_ROWS: s->chunk_rows = value; break;
    case LOW_FIELD_BLOCK_ROWS: s->block_rows = value; break;
    case LOW_FIELD_TILE_ROWS: s->tile_rows = value; break;
    case LOW_FIELD_TILE_COLS: s->tile_cols = value; break;
    case LOW_FIELD_TILE_MAX: s->tile_max = value; break;
    case LOW_FIELD_ROWS_AT_ONCE: s->rows_at_once = value; break;
    case LOW_FIELD_EDGE_SUMS: s->edge_sums = value; break;
    case LOW_FIELD_EDGE_COST: s->edge_cost = value; break;
    case LOW_FIELD_AHEAD: s->ahead = value; break;
    case LOW_FIELD_LANES: s->lanes = value; break;
    case LOW_FIELD_THREADS: s->threads = value; break;
    case LOW_FIELD_BLOCK_DEPTH: s->block_depth = value; break;
    case LOW_FIELD_SPLIT: s->split = value != 0; break;
    case LOW_FIELD_PART_SUMS: s->part_sums = value; break;
    case LOW_FIELD_PART_EDGES:
        s->part_edges = gn_part_array_edges(gn_part_array_of((int)value, GN_PART_PTR));
        break;
    case LOW_FIELD_COUNT: break;
    }
}

/* Keys ----------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    return (h ^ x) * UINT64_C(0x9E3779B97F4A7C15) ^ (h >> 29);
}

static uint64_t mix_value(const gir_program *p, gir_id v, uint64_t h)
{
    const gir_node *n = gir_at(p, v);
    h = mix(mix(h, n->op), n->type.elem);
    h = mix(mix(h, n->type.rank), n->type.is_graph);
    for (int k = 0; k < n->type.rank; k++) h = mix(h, (uint64_t)n->type.dim[k]);
    if (n->op == GIR_REDUCE || n->op == GIR_SCATTER || n->op == GIR_GATHER || n->op == GIR_MATMUL)
        for (int k = 0; k < 2; k++) h = mix(h, (uint64_t)n->attr.i[k]);
    return h;
}

const char *low_region_key(const fusion *f, const region *r)
{
    static const char *const kind[] = {"rows", "flat", "gemm", "inner", "carry"};
    const gir_program *p = f->p;
    uint64_t end = r->n_walks ? (uint64_t)r->walk[0].end : GIR_DST;
    uint64_t h = mix(mix(end, r->space != 0), (uint64_t)r->n);
    h = mix(h, r->n_walks ? gir_at(p, r->walk[0].graph)->op : 0);
    for (int w = 1; w < r->n_walks; w++)
        h = mix(mix(h, (uint64_t)r->walk[w].end), gir_at(p, r->walk[w].graph)->op);
    for (uint32_t m = 0; m < r->members.n; m++) {
        gir_id v = r->members.p[m];
        h = mix(mix_value(p, v, h), f->stored[v]);
        for (int k = 0; k < gir_at(p, v)->n_in; k++)
            h = mix(mix_value(p, gir_in(p, v, k), h), f->place[gir_in(p, v, k)]);
    }
    return gn_arena_printf(p->arena, "%s-%016" PRIx64, kind[r->kind], h);
}

/* What can be done ----------------------------------------------------------------------------- */

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

/* A register tile of few enough rows. */
static void fit_tile(const low_options *opt, low_schedule *s)
{
    while (s->tile_rows > 1 &&
           s->tile_rows * low_padded(&opt->limits, s->tile_cols * s->terms) > LOW_TILE_ELEMS)
        s->tile_rows--;
}

static void fit_gemm(const low_options *opt, const gir_program *p, const region *r, low_schedule *s)
{
    s->tile_cols = min(s->tile_cols, r->n > 0 ? r->n : 1);
    if (s->pairs && s->pack == LOW_PACK_NOT) s->pack = LOW_PACK_PANEL;
    if (s->pairs) s->terms = 1;
    low_fit_terms(opt, p, r, s);
    fit_tile(opt, s);
    if (opt->limits.shared_bytes || !low_pack_fits(opt, p, r, s)) {
        s->pack = LOW_PACK_NOT;
        s->terms = 1;
        if (s->pairs) s->why_exact = "its operands have no room when they are rounded";
        s->pairs = false;
    }
}

static void fit_inner(const low_options *opt, const gir_program *p, const region *r,
                      low_schedule *s)
{
    const gir_type *t = gir_type_of(p, r->members.p[0]);
    int64_t m = t->dim[s->swap ? 1 : 0], n = t->dim[s->swap ? 0 : 1];
    s->tile_rows = min(s->tile_rows, m > 0 ? m : 1);
    s->tile_cols = min(s->tile_cols, n > 0 ? n : 1);
    fit_tile(opt, s);
    s->block_rows = min(s->block_rows, s->chunk_rows);
    if (s->pairs) s->block_rows = min(s->block_rows, low_pair_rows(opt, t));
}

/* Rows of a block have their values in tiles, all at once. */
static void fit_rows(const fusion *f, const region *r, low_schedule *s)
{
    int64_t widest = 1;
    for (gir_id v = 1; v < f->p->nodes.n; v++) {
        const gir_type *t = gir_type_of(f->p, v);
        if (!t->is_graph && t->space == r->space && gir_row_elems(t) > widest)
            widest = gir_row_elems(t);
    }
    if (r->space == 0) s->rows_at_once = 1;
    while (s->rows_at_once > 1 && s->rows_at_once * widest > LOW_BLOCK_ELEMS) s->rows_at_once /= 2;
}

static int64_t power_below(int64_t n)
{
    int64_t p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

/* Bytes that a block's lanes share: parts of both operands, and the finished elements
 * (lower_block.c). */
static int64_t shared_bytes(const low_schedule *s)
{
    enum { ALIGNED = 3 * 16 };
    int64_t a = s->block_depth * (s->block_rows + LOW_SHARED_APART),
            b = s->block_depth * s->block_cols;
    return 4 * (a + b + s->block_rows * (s->block_cols + LOW_SHARED_APART)) + ALIGNED;
}

/* Tiles that lanes share: of 16 lanes' rows, up to 8 each, in which every lane brings as many
 * elements as the others. */
static void fit_block(const low_options *opt, low_schedule *s)
{
    enum { ACROSS = 16, MOST_ROWS = 8 };
    int64_t lanes = ACROSS * s->block_cols / s->tile_cols;
    s->tile_rows = power_below(min(s->tile_rows, MOST_ROWS));
    s->block_depth = power_below(s->block_depth);
    for (;; s->tile_rows /= 2) {
        s->block_rows = ACROSS * s->tile_rows;
        while (s->block_rows * s->block_depth < lanes) s->block_depth *= 2;
        while (shared_bytes(s) > opt->limits.shared_bytes && s->block_depth > 8 &&
               s->block_rows * s->block_depth / 2 >= lanes)
            s->block_depth /= 2;
        if (shared_bytes(s) <= opt->limits.shared_bytes || s->tile_rows == 1) return;
    }
}

/* Of a region whose lanes share tiles most numbers fit each other; of fragments all do. */
static bool concerns(const low_schedule *s, low_field f)
{
    if (!s->block_depth) return f != LOW_FIELD_BLOCK_DEPTH;
    return !s->fragments &&
           (f == LOW_FIELD_BLOCK_DEPTH || f == LOW_FIELD_TILE_ROWS || f == LOW_FIELD_CHUNK_ROWS);
}

low_schedule low_schedule_of(const low_options *opt, const fusion *f, const region *r)
{
    low_schedule s = low_schedule_default(opt, f, r);
    const char *key = NULL;
    bool any = false, shared = s.block_depth > 0;
    for (int k = 0; opt->tuning && k < opt->tuning->n; k++) {
        const low_choice *c = &opt->tuning->choices[k];
        const low_field_spec *field = &low_fields[c->field];
        if (!(field->kinds >> r->kind & 1) || !concerns(&s, c->field)) continue;
        if (c->region && !key) key = low_region_key(f, r);
        if (c->region && strcmp(c->region, key) != 0) continue;
        int64_t value = c->value < field->least  ? field->least
                        : c->value > field->most ? field->most
                                                 : c->value;
        set(&s, c->field, value);
        any = true;
    }
    if (any && shared) fit_block(opt, &s);
    if (shared) return s;
    if (any && r->kind == RG_GEMM) fit_gemm(opt, f->p, r, &s);
    if (any && r->kind == RG_INNER) fit_inner(opt, f->p, r, &s);
    if (any && r->kind == RG_ROWS) fit_rows(f, r, &s);
    if (s.split) s.part_levels = low_part_levels(opt, f->p, r, &s);
    return s;
}
