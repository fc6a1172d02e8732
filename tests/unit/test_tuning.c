/* Schedules that a tuning overrides: fields reach loops, what a region cannot do is brought to what
 * it can, keys tell what regions do and not what values are called.  (Random programs run with
 * schedules drawn at random: support/run_compiled.c.) */
/* processor: x86-64 */
/* links: tune codegen lower passes frontend ir runtime base */
#include "gir_test.h"

#include "codegen/cuda/cuda.h"
#include "compile/compile.h"

#include <stdio.h>

#define PROGRAM(x, width)                                                                          \
    "program @p {\n  space node node ?\n  space edge edge ?\n  %1 = graph \"g\" : graph<node -> "  \
    "node, edge>\n"                                                                                \
    "  %2 = input \"" x "\" : node f32[24]\n  %3 = state \"w\" : f32[24, " width "]\n"             \
    "  %4 = matmul %2, %3 {ta = 0, tb = 0} : node f32[" width "]\n"                                \
    "  %5 = gather %1, %4 {end = 0} : edge f32[" width "]\n"                                       \
    "  %6 = scatter %1, %5 {end = 1, red = 0} : node f32[" width "]\n"                             \
    "  %7 = matmul %2, %6 {ta = 1, tb = 0} : f32[24, " width "]\n"                                 \
    "  output \"out\" %6\n  output \"inner\" %7\n}\n"

/* Two products, the sum of which one loop makes. */
#define PAIR                                                                                       \
    "program @p {\n  space node node ?\n  %1 = input \"x\" : node f32[512]\n  %2 = input \"y\" : " \
    "node f32[512]\n"                                                                              \
    "  %3 = state \"w\" : f32[512, 64]\n  %4 = state \"v\" : f32[512, 64]\n  %5 = matmul %1, %3 "  \
    "{ta = 0, tb = 0}\n"                                                                           \
    "  %6 = matmul %2, %4 {ta = 0, tb = 0}\n  %7 = add %5, %6\n  output \"out\" %7\n}\n"

static gn_compiled *compile(const char *text, const low_tuning *t)
{
    gn_compiled *c;
    gn_compile_options o = {.index = GN_I32, .tuning = t, .pass = {.limit = -1, .verify = true}};
    expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
    return c;
}

/* The kernels of the region of a kind, as text. */
static const char *kernels(const gn_compiled *c, region_kind kind)
{
    gn_buf b = {.arena = &arena};
    gn_buf_add(&b, "");
    for (uint32_t l = 0; l < c->low->launches.n; l++) {
        const low_launch *x = &c->low->launches.p[l];
        if (x->kernel && x->region >= 0 && c->f->regions.p[x->region].kind == kind)
            kir_print(x->kernel, &b);
    }
    return b.p;
}

static const char *key(const gn_compiled *c, region_kind kind)
{
    for (uint32_t r = 0; r < c->f->regions.n; r++)
        if (c->f->regions.p[r].kind == kind) return low_region_key(c->f, &c->f->regions.p[r]);
    ck_abort_msg("no region of kind %d", (int)kind);
    return NULL;
}

static void differs(low_field field, int64_t value, region_kind kind, const char *words)
{
    const gn_compiled *plain = compile(PROGRAM("x", "40"), NULL);
    low_choice c = {key(plain, kind), field, value};
    const gn_compiled *tuned = compile(PROGRAM("x", "40"), &(low_tuning){1, &c});
    for (int k = RG_ROWS; k <= RG_INNER; k++) {
        bool same = strcmp(kernels(plain, (region_kind)k), kernels(tuned, (region_kind)k)) == 0;
        ck_assert_msg(same == (k != (int)kind), "%s %lld: region of kind %d is %s",
                      low_fields[field].name, (long long)value, k,
                      same ? "what it was" : "another");
    }
    ck_assert_msg(strstr(kernels(tuned, kind), words) != NULL, "%s %lld: '%s' is not in\n%s",
                  low_fields[field].name, (long long)value, words, kernels(tuned, kind));
}

START_TEST(fields_reach_loops)
{
    differs(LOW_FIELD_TILE_ROWS, 3, RG_GEMM, "0 .. 3 step 1 unroll");
    differs(LOW_FIELD_BLOCK_ROWS, 56, RG_GEMM, "step 56 thread");
    differs(LOW_FIELD_TILE_COLS, 8, RG_GEMM, "0 .. 8 step 1 vector");
    differs(LOW_FIELD_CHUNK_ROWS, 192, RG_INNER, "step 192 thread");
    differs(LOW_FIELD_AHEAD, 9, RG_ROWS, "prefetch");
    differs(LOW_FIELD_ROWS_AT_ONCE, 4, RG_ROWS, "step 4 thread");
    differs(LOW_FIELD_EDGE_SUMS, 16, RG_ROWS, "imod");
}
END_TEST

static gn_compiled *compile_there(low_field f, int64_t value)
{
    gn_limits limits = gn_cuda_limits();
    low_choice c = {NULL, f, value};
    low_tuning t = {1, &c};
    gn_compiled *out;
    gn_compile_options o = {
        .index = GN_I32, .tuning = &t, .limits = &limits, .pass = {.limit = -1, .verify = true}};
    expect_ok(gn_compile(&arena, read_program(PROGRAM("x", "40")), &o, NULL, &out));
    return out;
}

/* Of the first kernel of a region of that kind. */
static gn_cuda_geometry launch_of(const gn_compiled *c, region_kind kind)
{
    gn_cuda_geometry g = {0};
    for (uint32_t l = c->low->launches.n; l-- > 0;) {
        const low_launch *x = &c->low->launches.p[l];
        if (!x->kernel || x->region < 0 || c->f->regions.p[x->region].kind != kind) continue;
        expect_ok(gn_cuda_launch_geometry(&arena, x->kernel, &g));
    }
    return g;
}

/* Lanes, threads and shared tiles of a device's kernels, and none of a CPU's. */
START_TEST(fields_of_a_device)
{
    for (int lanes = 2; lanes <= 32; lanes *= 2)
        ck_assert_int_eq(launch_of(compile_there(LOW_FIELD_LANES, lanes), RG_ROWS).group, lanes);
    ck_assert_int_eq(launch_of(compile_there(LOW_FIELD_LANES, 31), RG_ROWS).group, 16);
    /* 0 is as the back end's rules say. */
    ck_assert_int_eq(launch_of(compile_there(LOW_FIELD_LANES, 0), RG_ROWS).group,
                     launch_of(compile_there(LOW_FIELD_LANES, 1), RG_ROWS).group);
    ck_assert_int_eq(launch_of(compile_there(LOW_FIELD_THREADS, 1024), RG_ROWS).threads, 1024);
    ck_assert_int_eq(launch_of(compile_there(LOW_FIELD_THREADS, 100), RG_ROWS).threads, 64);
    ck_assert_int_eq(launch_of(compile_there(LOW_FIELD_THREADS, 1), RG_ROWS).threads, 32);
    const char *rows[] = {"step 16 block", "step 32 block", "step 64 block", "step 128 block"};
    for (int k = 0; k < 4; k++) {
        const gn_compiled *c = compile_there(LOW_FIELD_TILE_ROWS, 1 << k);
        ck_assert_msg(strstr(kernels(c, RG_GEMM), rows[k]) != NULL, "%s is not in\n%s", rows[k],
                      kernels(c, RG_GEMM));
        ck_assert_int_eq(launch_of(c, RG_GEMM).threads, 256);
    }
    ck_assert_ptr_nonnull(
        strstr(kernels(compile_there(LOW_FIELD_BLOCK_DEPTH, 16), RG_GEMM), "step 16 serial"));
    ck_assert_ptr_nonnull(
        strstr(kernels(compile_there(LOW_FIELD_BLOCK_DEPTH, 8), RG_GEMM), "step 8 serial"));
    low_choice hints[] = {{NULL, LOW_FIELD_LANES, 8},
                          {NULL, LOW_FIELD_THREADS, 64},
                          {NULL, LOW_FIELD_BLOCK_DEPTH, 8}};
    for (region_kind k = RG_ROWS; k <= RG_INNER; k++)
        ck_assert_str_eq(kernels(compile(PROGRAM("x", "40"), &(low_tuning){3, hints}), k),
                         kernels(compile(PROGRAM("x", "40"), NULL), k));
}
END_TEST

/* Whatever is asked of tiles that lanes share, a block has room for them. */
START_TEST(shared_tiles_fit)
{
    static const char *const text[] = {PROGRAM("x", "4"),  PROGRAM("x", "8"),  PROGRAM("x", "12"),
                                       PROGRAM("x", "24"), PROGRAM("x", "40"), PROGRAM("x", "64"),
                                       PROGRAM("x", "200")};
    gn_limits limits = gn_cuda_limits();
    for (int w = 0; w < 7; w++)
        for (int k = 0; k < 7 * 6; k++) {
            low_choice c[] = {{NULL, LOW_FIELD_TILE_ROWS, 1 + k / 6 * 5},
                              {NULL, LOW_FIELD_BLOCK_DEPTH, 1 + k % 6 * 8}};
            low_tuning t = {2, c};
            gn_compiled *out;
            gn_compile_options o = {
                .index = GN_I32, .tuning = &t, .limits = &limits, .pass = {.limit = -1}};
            expect_ok(gn_compile(&arena, read_program(text[w]), &o, NULL, &out));
            ck_assert_int_le(launch_of(out, RG_GEMM).shared_bytes, limits.shared_bytes);
            ck_assert_int_le(launch_of(out, RG_INNER).shared_bytes, limits.shared_bytes);
            low_options lo = {.limits = limits, .index = GN_I32, .tuning = &t};
            const region *r = out->f->regions.p;
            while (r->kind != RG_GEMM) r++;
            low_schedule s = low_schedule_of(&lo, out->f, r);
            int64_t lanes = s.block_rows / s.tile_rows * (s.block_cols / s.tile_cols);
            if (!s.block_depth) continue;
            /* all bring as many */
            ck_assert(lanes > 0 && s.block_rows * s.block_depth % lanes == 0);
            ck_assert_int_eq(s.block_cols * s.block_depth % lanes, 0);
        }
}
END_TEST

/* Have all tiles of each kernel room on the stack of a CPU's worker? */
static void can_be_made(const gn_compiled *c, const char *what, int64_t value)
{
    for (int k = 0; k < c->n_kernels; k++) {
        int64_t bytes = 0;
        for (kir_id i = 1; i < c->kernels[k]->insts.n; i++) {
            const kir_inst *in = kir_at(c->kernels[k], i);
            if (in->op == KIR_TILE) bytes += in->imm * (int64_t)gn_elem_size((gn_elem)in->elem);
        }
        ck_assert_msg(bytes <= 250 * 1024, "%s %lld: tiles of %lld bytes", what, (long long)value,
                      (long long)bytes);
    }
}

/* Every value of every field gives a program that verifies and that code can be made
 * of, far out of range too. */
START_TEST(any_value_will_do)
{
    static const char *const program[] = {PROGRAM("x", "40"), PAIR};
    static const int64_t value[] = {INT64_MIN, -1, 0, 1, 2, 3, 7, 33, 64, 1000, 1 << 20, INT64_MAX};
    for (int f = 0; f < LOW_FIELD_COUNT; f++)
        for (size_t v = 0; v < sizeof value / sizeof *value; v++) {
            low_choice c[2] = {{NULL, (low_field)f, value[v]},
                               {NULL, LOW_FIELD_PACK, (int64_t)v % 3}};
            for (int p = 0; p < 2; p++) {
                const gn_compiled *z = compile(program[p], &(low_tuning){2, c});
                ck_assert_int_ge(z->n_kernels, p ? 1 : 3);
                can_be_made(z, low_fields[f].name, value[v]);
            }
        }
}
END_TEST

/* Packed operands have room where the back end keeps tiles: whatever is left of the
 * columns, of doubles too. */
START_TEST(products_of_any_width)
{
    static const int columns[] = {1, 17, 63, 64, 65, 100, 120, 127, 128, 191, 2047},
                     terms[] = {8, 128, 500, 512, 1433};
    static const char *const elem[] = {"f32", "f64"};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++)
            for (int e = 0; e < 2; e++) {
                int n = columns[c], k = terms[t];
                char *text = gn_arena_printf(&arena,
                                             "program @p {\n  space node node ?\n  %%1 "
                                             "= input \"x\" : node %s[%d]\n  "
                                             "%%2 = state \"w\" : %s[%d, %d]\n"
                                             "  %%3 = matmul %%1, %%2 {ta = 0, tb = "
                                             "0}\n  %%4 = tanh %%3\n  %%5 = "
                                             "space_reduce %%4\n  output \"out\" "
                                             "%%4\n  output \"sum\" %%5\n}\n",
                                             elem[e], k, elem[e], k, n);
                can_be_made(compile(text, NULL), text, n);
            }
}
END_TEST

static low_schedule tuned(region_kind kind, int n, const low_choice *choices)
{
    const gn_compiled *c = compile(PROGRAM("x", "40"), NULL);
    low_options o = {
        .limits = gn_cpu_limits(NULL), .index = GN_I32, .tuning = &(low_tuning){n, choices}};
    for (uint32_t r = 0; r < c->f->regions.n; r++)
        if (c->f->regions.p[r].kind == kind) return low_schedule_of(&o, c->f, &c->f->regions.p[r]);
    ck_abort_msg("no region of kind %d", (int)kind);
    return (low_schedule){0};
}

/* What one region cannot do: panels one behind the other whose columns were filled up,
 * blocks longer than their chunk, tiles wider than the product. */
START_TEST(what_cannot_be_done)
{
    low_choice pack[] = {{NULL, LOW_FIELD_PACK, LOW_PACK_ALL}, {NULL, LOW_FIELD_TILE_COLS, 8}};
    ck_assert_int_eq(tuned(RG_GEMM, 2, pack).pack, LOW_PACK_ALL);
    pack[1].value = 9;
    ck_assert_int_eq(tuned(RG_GEMM, 2, pack).tile_cols, 9);
    ck_assert_int_eq(tuned(RG_GEMM, 2, pack).pack, LOW_PACK_NOT);
    pack[0].value = LOW_PACK_PANEL;
    ck_assert_int_eq(tuned(RG_GEMM, 2, pack).pack, LOW_PACK_PANEL);
    pack[1].value = 250;
    ck_assert_int_eq(tuned(RG_GEMM, 2, pack).tile_cols, 40);
    low_choice terms[] = {
        {NULL, LOW_FIELD_TERMS, 3}, {NULL, LOW_FIELD_TILE_COLS, 20}, {NULL, LOW_FIELD_PACK, 2}};
    ck_assert_int_eq(tuned(RG_GEMM, 3, terms).terms, 1); /* no power of two */
    terms[0].value = 2;
    terms[2].value = LOW_PACK_NOT;
    ck_assert_int_eq(tuned(RG_GEMM, 3, terms).terms, 1);
    terms[2].value = LOW_PACK_ALL; /* panels of 40 lanes would be filled up */
    ck_assert_int_eq(tuned(RG_GEMM, 3, terms).terms, 1);
    low_choice chunk[] = {{NULL, LOW_FIELD_CHUNK_ROWS, 100}, {NULL, LOW_FIELD_BLOCK_ROWS, 300}};
    ck_assert_int_eq(tuned(RG_INNER, 2, chunk).chunk_rows, 100);
    ck_assert_int_eq(tuned(RG_INNER, 2, chunk).block_rows, 100);
}
END_TEST

/* Where a block's lanes share tiles the numbers fit each other, whatever is asked for;
 * what is too small for that is not packed there. */
START_TEST(blocks_of_lanes)
{
    low_choice c[] = {{NULL, LOW_FIELD_TILE_ROWS, 3},
                      {NULL, LOW_FIELD_BLOCK_ROWS, 7},
                      {NULL, LOW_FIELD_PACK, LOW_PACK_ALL}};
    low_options o = {.limits = gn_cuda_limits(), .index = GN_I32, .tuning = &(low_tuning){3, c}};
    for (int narrow = 0; narrow < 2; narrow++) {
        const gn_compiled *z = compile(narrow ? PROGRAM("x", "3") : PROGRAM("x", "40"), NULL);
        const region *r = z->f->regions.p;
        while (r->kind != RG_GEMM) r++;
        low_schedule rules = low_schedule_default(&o, z->f, r), s = low_schedule_of(&o, z->f, r);
        ck_assert_int_eq(rules.block_depth != 0, !narrow);
        ck_assert_int_eq(s.pack, LOW_PACK_NOT);
        ck_assert_int_eq(s.block_rows, narrow ? 7 : 16 * s.tile_rows);
        ck_assert_int_eq(s.tile_rows, narrow ? 3 : 2);
    }
}
END_TEST

static low_schedule of_product(const low_options *o, const char *elem, int depth, int cols)
{
    const gn_compiled *z = compile(
        gn_arena_printf(&arena,
                        "program @p {\n  space node node ?\n  %%1 = input \"x\" : node %s[%d]\n"
                        "  %%2 = state \"w\" : %s[%d, %d]\n"
                        "  %%3 = matmul %%1, %%2 {ta = 0, tb = 0}\n  output \"out\" %%3\n}\n",
                        elem, depth, elem, depth, cols),
        NULL);
    const region *r = z->f->regions.p;
    while (r->kind != RG_GEMM) r++;
    return low_schedule_default(o, z->f, r);
}

/* Where few columns leave lanes idle, several terms of a sum are side by side; not
 * where they would fill no more of them, where a sum has no more terms, of doubles, and
 * where that is left out. */
START_TEST(terms_side_by_side)
{
    static const struct {
        const char *cpu, *elem;
        int depth, cols, terms;
    } product[] = {
        {"x86-64-v4", "f32", 64, 7, 2},
        {"x86-64-v4", "f32", 64, 8, 2},
        {"x86-64-v4", "f32", 16, 7, 2},
        {"x86-64-v4", "f32", 64, 3, 4},
        {"x86-64-v4", "f32", 64, 1, 16},
        {"x86-64-v4", "f32", 64, 10, 4},
        {"x86-64-v4", "f32", 256, 40, 2},
        {"x86-64-v4", "f16", 64, 7, 2},
        {"x86-64-v3", "f32", 64, 3, 2},
        {"x86-64-v3", "f32", 64, 1, 8},
        {"x86-64-v2", "f32", 64, 1, 4},
        {"x86-64-v4", "f32", 64, 16, 1},
        {"x86-64-v4", "f32", 64, 64, 1},
        {"x86-64-v4", "f32", 64, 15, 1},
        {"x86-64-v3", "f32", 64, 7, 1},
        {"x86-64-v4", "f32", 1, 7, 1},
        {"x86-64-v4", "f64", 64, 7, 1},
        {"x86-64-v4", "f32", 256, 100, 1},
        {"x86-64-v4", "f32", 12000, 7, 1}, /* too much to pack */
        /* registers taken in halves: eight lanes of sixteen that are idle cost nothing
         */
        {"znver5", "f32", 64, 7, 2},
        {"znver4", "f32", 64, 7, 1},
        {"znver4", "f32", 16, 7, 1},
        {"znver4", "f32", 256, 7, 1},
        {"znver4", "f32", 16, 1, 1},
        {"znver4", "f32", 64, 1, 16},
        {"znver4", "f32", 16, 3, 1},
        {"znver4", "f32", 64, 24, 2},
        {"znver4", "f32", 256, 10, 8},
        {"znver4", "f32", 16, 40, 1},
        {"znver4", "f32", 256, 40, 2},
    };
    for (size_t k = 0; k < sizeof product / sizeof *product; k++) {
        low_options o = {.limits = gn_cpu_limits(product[k].cpu), .index = GN_I32};
        o.limits.l2_bytes = 1 << 20;
        low_schedule s = of_product(&o, product[k].elem, product[k].depth, product[k].cols);
        ck_assert_msg(s.terms == product[k].terms, "%s, %s, %d x %d: %lld terms, not %d",
                      product[k].cpu, product[k].elem, product[k].depth, product[k].cols,
                      (long long)s.terms, product[k].terms);
        o.off = (gn_switches)1 << GN_DO_TERMS;
        ck_assert_int_eq(of_product(&o, product[k].elem, product[k].depth, product[k].cols).terms,
                         1);
        o = (low_options){.limits = gn_cuda_limits(), .index = GN_I32};
        ck_assert_int_eq(of_product(&o, product[k].elem, product[k].depth, product[k].cols).terms,
                         1);
    }
}
END_TEST

/* Tiles are smaller where blocks would be fewer than a device has processors; not where
 * nobody says how many rows there are. */
START_TEST(small_tiles)
{
    static const struct {
        int64_t rows; /* that are expected; 0: not known */
        int cols;
        int64_t block, tile;
    } product[] = {
        {1, 40, 32, 2}, {128 * 107, 40, 32, 2}, {128 * 107 + 1, 40, 128, 8}, {0, 40, 128, 8},
        {1, 32, 32, 2}, {64 * 107, 32, 32, 2},  {64 * 107 + 1, 32, 64, 4},   {0, 32, 64, 4}};
    for (size_t k = 0; k < sizeof product / sizeof *product; k++) {
        low_hint hint = {.name = "g", .n_src = 1, .n_dst = product[k].rows, .n_edge = 1};
        low_options o = {.limits = gn_cuda_limits(),
                         .index = GN_I32,
                         .hints = &hint,
                         .n_hints = product[k].rows > 0};
        low_schedule s = of_product(&o, "f32", 40, product[k].cols);
        ck_assert_msg(s.block_rows == product[k].block && s.tile_rows == product[k].tile,
                      "%lld rows of %d columns: blocks of %lld, tiles of %lld",
                      (long long)product[k].rows, product[k].cols, (long long)s.block_rows,
                      (long long)s.tile_rows);
        o.off = (gn_switches)1 << GN_DO_SMALL_TILES;
        ck_assert_int_eq(of_product(&o, "f32", 40, product[k].cols).block_rows,
                         product[k].cols > 32 ? 128 : 64);
    }
}
END_TEST

/* Many short chunks where there are many lanes, by how many rows are expected; whose
 * lanes are rows, as many as a worker has. */
START_TEST(chunks_of_lanes)
{
    static const int64_t rows[][2] = {
        {0, 64},         {1, 8},       {2708, 8},      {32 * 256 - 1, 8},
        {32 * 256, 16},  {169343, 64}, {2449029, 256}, {32 * 262144 - 1, 256},
        {INT32_MAX, 512}};
    gn_limits gpu = gn_cuda_limits();
    const char *text = "program @p {\n  space node node ?\n  space edge edge ?\n"
                       "  %1 = graph \"g\" : graph<node -> node, edge>\n  %2 = input "
                       "\"x\" : node "
                       "f32[24]\n  %3 = "
                       "input \"y\" : node f32[]\n"
                       "  %4 = tanh %2\n  %5 = space_reduce %4\n  %6 = tanh %3\n  %7 = "
                       "space_reduce %6\n"
                       "  output \"wide\" %5\n  output \"narrow\" %7\n}\n";
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        low_hint hint = {.name = "g", .n_src = rows[k][0], .n_dst = rows[k][0], .n_edge = 1};
        gn_compile_options o = {.index = GN_I32,
                                .limits = &gpu,
                                .hints = &hint,
                                .n_hints = rows[k][0] > 0,
                                .pass = {.limit = -1, .verify = true}};
        gn_compiled *c;
        expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
        int64_t found[2] = {0, 0};
        for (uint32_t l = 0; l < c->low->launches.n; l++) {
            const low_launch *x = &c->low->launches.p[l];
            if (x->kernel && strstr(x->kernel->name, "rows_")) found[found[0] > 0] = x->step;
        }
        int64_t narrow = rows[k][1] > 256 ? rows[k][1] : 256;
        ck_assert_msg((found[0] == rows[k][1] && found[1] == narrow) ||
                          (found[1] == rows[k][1] && found[0] == narrow),
                      "%lld rows: chunks of %lld and %lld", (long long)rows[k][0],
                      (long long)found[0], (long long)found[1]);
        o.limits = NULL; /* a processor's */
        expect_ok(gn_compile(&arena, read_program(text), &o, NULL, &c));
        for (uint32_t l = 0; l < c->low->launches.n; l++)
            if (c->low->launches.p[l].kernel && strstr(c->low->launches.p[l].kernel->name, "rows_"))
                ck_assert_int_eq(c->low->launches.p[l].step, 512);
    }
}
END_TEST

/* Products of pairs on a processor that has them, where `medium` is asked for; else the
 * schedule says why not. */
START_TEST(pairs)
{
    low_options medium = {.limits = gn_cpu_limits("x86-64-v4"),
                          .index = GN_I32,
                          .precision = GN_PRECISION_MEDIUM},
                o;
    medium.limits.pairs = 1 << KIR_KIND_BF16;
    medium.limits.l2_bytes = 1 << 20;
    static const struct {
        const char *elem;
        int depth, cols;
        const char *why;
    } declined[] = {{"f64", 40, 40, "its elements are not f32"},
                    {"f32", 40, 15, "fewer columns than a vector has lanes"},
                    {"f32", 7, 40, "sums of fewer than eight terms"},
                    {"f32", 200000, 40, "its operands have no room when they are rounded"}};
    for (size_t k = 0; k < sizeof declined / sizeof *declined; k++) {
        low_schedule s = of_product(&medium, declined[k].elem, declined[k].depth, declined[k].cols);
        ck_assert(!s.pairs);
        ck_assert_str_eq(s.why_exact, declined[k].why);
    }
    low_schedule s = of_product(&medium, "f32", 256, 256),
                 small = of_product(&medium, "f32", 9, 16);
    ck_assert(s.pairs && s.kind == KIR_KIND_BF16 && !s.why_exact && s.pack == LOW_PACK_ALL &&
              s.terms == 1);
    ck_assert(small.pairs && small.pack == LOW_PACK_ALL && small.block_rows % small.tile_rows == 0);
    s = of_product(&medium, "f32", 1024, 256);
    ck_assert(s.pairs && s.pack == LOW_PACK_PANEL && s.block_rows * 1024 * 2 <= LOW_PAIR_BYTES);
    o = medium;
    o.precision = GN_PRECISION_HIGHEST;
    ck_assert(!of_product(&o, "f32", 256, 256).pairs && !of_product(&o, "f32", 256, 256).why_exact);
    o.precision = GN_PRECISION_HIGH;
    ck_assert_str_eq(of_product(&o, "f32", 256, 256).why_exact,
                     "this machine's products of pairs are less precise");
    o = medium;
    o.off = (gn_switches)1 << GN_DO_PACK;
    ck_assert_str_eq(of_product(&o, "f32", 256, 256).why_exact, "pack is left out");
    o = medium;
    o.limits.pairs = 0;
    ck_assert_str_eq(of_product(&o, "f32", 256, 256).why_exact,
                     "this machine has no products of pairs");
}
END_TEST

/* Products of fragments where less precision is asked for; where they are not made the
 * schedule says why. */
START_TEST(fragments)
{
    low_options high = {.limits = gn_cuda_limits(),
                        .index = GN_I32,
                        .precision = GN_PRECISION_HIGH},
                o;
    static const struct {
        const char *elem;
        int depth, cols;
        const char *why;
    } declined[] = {{"f64", 40, 40, "its elements are not f32"},
                    {"f32", 40, 3, "fewer than four columns"},
                    {"f32", 7, 40, "sums of fewer than eight terms"}};
    static const int depth[][2] = {{8, 8},   {9, 16},  {16, 16}, {17, 32}, {33, 16},
                                   {48, 16}, {49, 32}, {64, 32}, {100, 32}};
    for (size_t k = 0; k < sizeof declined / sizeof *declined; k++) {
        low_schedule s = of_product(&high, declined[k].elem, declined[k].depth, declined[k].cols);
        ck_assert(!s.fragments);
        ck_assert_str_eq(s.why_exact, declined[k].why);
    }
    for (size_t k = 0; k < sizeof depth / sizeof *depth; k++) {
        low_schedule s = of_product(&high, "f32", depth[k][0], 40);
        ck_assert(s.fragments && s.kind == KIR_KIND_TF32 && !s.why_exact);
        ck_assert_int_eq(s.block_depth, depth[k][1]);
    }
    static const int twice_as_deep[][2] = {{8, 16},  {16, 16},  {17, 32},  {33, 64}, {65, 32},
                                           {96, 32}, {113, 64}, {128, 64}, {100, 64}};
    o = high;
    o.precision = GN_PRECISION_MEDIUM;
    for (size_t k = 0; k < sizeof twice_as_deep / sizeof *twice_as_deep; k++) {
        low_schedule s = of_product(&o, "f32", twice_as_deep[k][0], 40);
        ck_assert(s.fragments && s.kind == KIR_KIND_BF16 && !s.why_exact);
        ck_assert_int_eq(s.block_depth, twice_as_deep[k][1]);
    }
    o.limits.fragments = 1 << KIR_KIND_TF32;
    ck_assert(of_product(&o, "f32", 40, 40).fragments &&
              of_product(&o, "f32", 40, 40).kind == KIR_KIND_TF32);
    /* What is narrow as it is, in any precision; and where the machine has no such
     * products. */
    for (int precision = 0; precision < GN_PRECISION_COUNT; precision++) {
        o = high;
        o.precision = (gn_precision)precision;
        low_schedule b = of_product(&o, "bf16", 40, 40), h = of_product(&o, "f16", 40, 40);
        ck_assert(b.fragments && b.kind == KIR_KIND_BF16 && !b.why_exact);
        ck_assert(h.fragments && h.kind == KIR_KIND_F16 && !h.why_exact);
        ck_assert(!of_product(&o, "f16", 7, 40).fragments);
        o.limits.fragments = 1 << KIR_KIND_TF32;
        b = of_product(&o, "bf16", 40, 40);
        ck_assert(!b.fragments && !b.block_depth);
    }
    o = high;
    o.precision = GN_PRECISION_HIGHEST;
    ck_assert(!of_product(&o, "f32", 40, 40).fragments && !of_product(&o, "f32", 40, 40).why_exact);
    o = high;
    o.off = (gn_switches)1 << GN_DO_SHARE_TILES;
    ck_assert_str_eq(of_product(&o, "f32", 40, 40).why_exact, "share-tiles is left out");
    o = high;
    o.limits.fragments = 0;
    ck_assert(of_product(&o, "f32", 40, 40).block_depth &&
              !of_product(&o, "f32", 40, 40).fragments);
    ck_assert_str_eq(of_product(&o, "f32", 40, 40).why_exact,
                     "this machine has no products of fragments");
    o.limits = gn_cpu_limits("x86-64-v3");
    ck_assert_str_eq(of_product(&o, "f32", 40, 40).why_exact,
                     "this machine has no products of pairs");
}
END_TEST

START_TEST(later_choices_win_and_others_are_passed_over)
{
    low_choice c[] = {{NULL, LOW_FIELD_BLOCK_ROWS, 8},
                      {"gemm-0000000000000000", LOW_FIELD_BLOCK_ROWS, 11},
                      {NULL, LOW_FIELD_BLOCK_ROWS, 56},
                      {NULL, LOW_FIELD_EDGE_COST, 8}};
    ck_assert_ptr_nonnull(strstr(kernels(compile(PROGRAM("x", "40"), &(low_tuning){4, c}), RG_GEMM),
                                 "step 56 thread"));
    ck_assert_str_eq(kernels(compile(PROGRAM("x", "40"), &(low_tuning){1, &c[1]}), RG_GEMM),
                     kernels(compile(PROGRAM("x", "40"), NULL), RG_GEMM)); /* another region's */
}
END_TEST

START_TEST(keys_are_of_work)
{
    const gn_compiled *a = compile(PROGRAM("x", "40"), NULL),
                      *b = compile(PROGRAM("y", "40"), NULL);
    const gn_compiled *c = compile(PROGRAM("x", "41"), NULL);
    for (int k = RG_ROWS; k <= RG_INNER; k++) {
        if (k == RG_FLAT) continue;
        ck_assert_str_eq(key(a, (region_kind)k), key(b, (region_kind)k));
    }
    ck_assert_str_ne(key(a, RG_GEMM), key(c, RG_GEMM));
    /* sums of x: it is multiplied afterwards */
    ck_assert_str_eq(key(a, RG_ROWS), key(c, RG_ROWS));
    ck_assert(low_field_by_name("tile_rows") == LOW_FIELD_TILE_ROWS);
    ck_assert(low_field_by_name("tile_row") == LOW_FIELD_COUNT);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("tuning");
    tcase_add_checked_fixture(t, arena_begin, arena_end);
    tcase_add_test(t, fields_reach_loops);
    tcase_add_test(t, fields_of_a_device);
    tcase_add_test(t, shared_tiles_fit);
    tcase_add_test(t, any_value_will_do);
    tcase_add_test(t, products_of_any_width);
    tcase_add_test(t, what_cannot_be_done);
    tcase_add_test(t, blocks_of_lanes);
    tcase_add_test(t, terms_side_by_side);
    tcase_add_test(t, pairs);
    tcase_add_test(t, fragments);
    tcase_add_test(t, small_tiles);
    tcase_add_test(t, chunks_of_lanes);
    tcase_add_test(t, later_choices_win_and_others_are_passed_over);
    tcase_add_test(t, keys_are_of_work);
    return RUN_CASES("tuning", t);
}
