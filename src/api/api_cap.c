/* Runs within a bound of memory (gnnc_compile_options.memory_bytes).  A unit's programs are
 * outlined before they take memory.  One whose temporaries take too much is compiled once more, for
 * this run and the data that are bound, with launches that run again. */
#include "api/api.h"

#include <string.h>

struct api_capped {
    gn_arena arena;
    gn_build build;
};

typedef struct outlines {
    gnnc_run *r;
    gn_unit *unit;
    api_bound bound;
    int n; /* tensors, with what is computed ahead */
    gn_instance *ahead, *code;
} outlines;

typedef struct sum {
    int64_t data, graphs, states, prepared, outputs, others, temporaries, ahead;
} sum;

static int64_t total(const sum *m)
{
    return m->data + m->graphs + m->states + m->prepared + m->outputs + m->others + m->temporaries +
           m->ahead;
}

void api_drop_capped(gnnc_run *r, int which)
{
    api_capped *c = r->capped[which];
    if (!c) return;
    gn_image_free(c->build.image);
    gn_arena_free(&c->arena);
    gn_release(c);
    r->capped[which] = NULL;
}

static const gn_instance *beside(const outlines *z)
{
    const gn_instance *other = api_like(z->r, -1);
    if (z->ahead) gn_instance_put_beside(z->ahead, other);
    if (z->code) gn_instance_put_beside(z->code, z->ahead ? z->ahead : other);
    return z->code ? z->code : z->ahead ? z->ahead : other;
}

static gn_status *outline(void *ctx, const gn_artifact *a, gn_instance **out)
{
    const outlines *z = ctx;
    return gn_instance_outline(a, z->bound.n_graphs, z->bound.graphs, z->n, z->bound.tensors,
                               z->r->pool, beside(z), out);
}

/* In the place of what was there. */
static gn_status *outline_again(outlines *z, const gn_artifact *a, gn_instance **at)
{
    gn_instance *in;
    GN_TRY(outline(z, a, &in));
    gn_instance_free(*at);
    *at = in;
    return NULL;
}

static gn_status *outline_unit(outlines *z)
{
    const gn_compiled *ahead = z->unit->prepare_code;
    z->n = z->bound.n;
    if (ahead) {
        GN_TRY(outline_again(z, ahead->artifact, &z->ahead));
        z->n = gn_pair_bind_kept(ahead->artifact, z->ahead, z->n, z->bound.tensors);
    }
    return outline_again(z, z->unit->code->artifact, &z->code);
}

static bool is_bound(const api_bound *b, const gn_graph *g)
{
    for (int k = 0; k < b->n_graphs; k++)
        if (b->graphs[k].graph == g) return true;
    return false;
}

/* What the run has itself, but for graphs: those that are bound, and those of its programs. */
static int64_t own_bytes(const outlines *z)
{
    const gnnc_run *r = z->r;
    const gn_graph *bound[] = {r->pattern, r->padded, r->padded_pattern,
                               r->graph && r->graph->of ? r->graph->graph : NULL};
    int64_t bytes = api_plain_bytes(r);
    for (size_t k = 0; k < sizeof bound / sizeof *bound; k++)
        if (bound[k] && is_bound(&z->bound, bound[k])) bytes -= gn_graph_bytes(bound[k]);
    return bytes;
}

/* Data and graphs that are bound count, and what other programs of the run have; a graph that
 * several derive, once. */
static sum sum_of(const outlines *z)
{
    const gnnc_run *r = z->r;
    const gn_instance *in[2 * API_UNITS + 2];
    int n = api_instances(r, in);
    sum m = {.states = gn_state_bytes(&r->state->state), .others = own_bytes(z)};
    in[n++] = z->ahead;
    in[n++] = z->code;
    for (int k = 0; k < r->n_data; k++) {
        const api_data *d = &r->data[k];
        if (d->data && !d->own) m.data += d->rows * d->row_elems * (int64_t)gn_elem_size(d->elem);
    }
    for (int k = 0; k < z->bound.n_graphs; k++)
        if (z->bound.graphs[k].graph) m.graphs += gn_graph_bytes(z->bound.graphs[k].graph);
    m.graphs += gn_instances_derived_bytes(n, in);
    m.outputs = gn_instance_outline_output_bytes(z->code);
    m.temporaries = gn_instance_arena_bytes(z->code);
    if (z->ahead) m.prepared = gn_instance_outline_output_bytes(z->ahead);
    if (z->ahead) m.ahead = gn_instance_arena_bytes(z->ahead);
    return m;
}

static gn_status *refuse(const outlines *z, int64_t bound, int64_t before)
{
    sum m = sum_of(z);
    GN_FAIL(GN_ERR_NOMEM,
            "memory_bytes: %s of %s takes %lld bytes at the least that was found (%lld by itself), "
            "which is above %lld: data that are bound %lld, graphs %lld, weights and moments %lld, "
            "computed once %lld, outputs %lld, other programs of the run %lld, temporaries %lld",
            z->unit->code->source->name, z->r->exe->model->name, (long long)total(&m),
            (long long)before, (long long)bound, (long long)m.data, (long long)m.graphs,
            (long long)m.states, (long long)(m.prepared + m.ahead), (long long)m.outputs,
            (long long)m.others, (long long)m.temporaries);
}

/* The unit's program once more, in `c`. */
static gn_status *compile_again(outlines *z, int which, int64_t room, api_capped *c)
{
    gn_build_options o;
    gn_capped capped;
    API_GUARD(&c->arena);
    gn_model *m = gn_jit_outline(z->r->exe->jit, z->r->variant[which], &c->arena, &o);
    o.skip |= which == API_STEP ? 1u << GN_UNIT_EVAL : 1u << GN_UNIT_STEP;
    o.gradients = NULL;
    o.no_code = true;
    GN_TRY(gn_build_model(&c->arena, m, &o, &c->build));
    gn_unit *u = which == API_STEP ? &c->build.step : &c->build.eval;
    gn_room r = {.bytes = room > 0 ? room : 1, .outline = outline, .ctx = z};
    GN_TRY(gn_compile_within(&c->arena, &r, u->code, &capped));
    GN_TRY(gn_build_code(&c->arena, &o, &c->build));
    c->arena.oom = NULL;
    *z->unit = *u;
    return NULL;
}

static gn_status *keep_within(outlines *z, int which)
{
    gnnc_run *r = z->r;
    GN_TRY(api_list_bound(r, z->unit, &r->state->state, NULL, &z->bound));
    GN_TRY(outline_unit(z));
    sum m = sum_of(z);
    int64_t bound = r->exe->memory, before = total(&m), room = bound - before + m.temporaries;
    if (before <= bound) return NULL;
    if (which == API_INFER || which == API_STEP) {
        api_capped *c = gn_allocate_zeroed(sizeof *c);
        if (!c) GN_FAIL(GN_ERR_NOMEM, "out of memory: a program");
        gn_arena_init(&c->arena);
        r->capped[which] = c;
        GN_TRY(compile_again(z, which, room, c));
        GN_TRY(outline_unit(z));
    }
    m = sum_of(z);
    return total(&m) > bound ? refuse(z, bound, before) : NULL;
}

gn_status *api_keep_within(gnnc_run *r, int which, gn_instance *outline[2])
{
    outlines z = {.r = r, .unit = &r->unit[which]};
    outline[0] = outline[1] = NULL;
    if (r->exe->memory <= 0) return NULL;
    gn_unit plain = r->unit[which];
    gn_status *s = keep_within(&z, which);
    if (s) { /* outlines are of code that goes */
        gn_instance_free(z.code);
        gn_instance_free(z.ahead);
        z.code = z.ahead = NULL;
        r->unit[which] = plain;
        api_drop_capped(r, which);
    }
    (void)beside(&z);
    outline[0] = z.ahead;
    outline[1] = z.code;
    api_free_bound(&z.bound);
    return s;
}
