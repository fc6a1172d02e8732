/* memory_cap: a session's programs keep to a bound of memory, or it is said what takes more. */
#include "session/eval_rows.h"
#include "session/minibatches.h"
#include "session/session.h"
#include "session/session_impl.h"
#include "session/stored_rows.h"
#include "runtime/data/spill.h"

#include <math.h>

typedef struct capped_session {
    gn_session *s;
    gn_session_data data[GN_UNITS];
    gn_instance **outline; /* [GN_SESSION_PROGRAMS] */
    gn_compiled *code[GN_SESSION_PROGRAMS];
    int program;            /* that is outlined now */
    bool filed;             /* temporaries lie in a file */
    int64_t stored, window; /* bytes of files that may be mapped: of stored rows, and of all */
} capped_session;

static const char *amount(gn_arena *a, int64_t bytes)
{
    double m = (double)bytes / (1 << 20);
    return m < 1 ? gn_arena_printf(a, "%.1f KiB", m * 1024) : gn_arena_printf(a, "%.1f MiB", m);
}

/* Outlines ------------------------------------------------------------------------------------- */

/* What is computed ahead is bound to what comes after it; it is looked at for its rows alone. */
static int add_kept(const capped_session *z, int unit)
{
    const gn_compiled *ahead = z->code[2 * unit + 1];
    const gn_session_data *d = &z->data[unit];
    if (!ahead) return d->n_tensors;
    return gn_pair_bind_kept(ahead->artifact, z->outline[2 * unit + 1], d->n_tensors, d->tensors);
}

/* All outlines, one beside another: graphs of any of them serve; NULL: there is none. */
static const gn_instance *all_outlines(const capped_session *z)
{
    gn_instance *first = NULL;
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++) {
        if (!z->outline[k]) continue;
        gn_instance_put_beside(z->outline[k], first);
        first = z->outline[k];
    }
    return first;
}

static gn_status *outline(void *ctx, const gn_artifact *a, gn_instance **out)
{
    capped_session *z = ctx;
    int unit = z->program / 2;
    const gn_session_data *d = &z->data[unit];
    int n = z->program % 2 ? d->n_tensors : add_kept(z, unit);
    return gn_instance_outline(a, d->n_graphs, d->graphs, n, d->tensors, z->s->pool,
                               all_outlines(z), out);
}

static gn_status *outline_again(capped_session *z, int program)
{
    gn_instance *in;
    z->program = program;
    GN_TRY(outline(z, z->code[program]->artifact, &in));
    gn_instance_free(z->outline[program]);
    z->outline[program] = in;
    return NULL;
}

/* Is a unit bound to batches, or to a part of the rows at a time? */
static bool is_of_parts(const gn_session *s, int unit)
{
    return s->batches && (unit == GN_UNIT_STEP || s->batches->eval);
}

/* Of units that are there: what is computed ahead, then the rest. */
static gn_status *outline_all(capped_session *z)
{
    gn_unit *unit[] = {&z->s->build.eval, &z->s->build.step};
    for (int u = 0; u < GN_UNITS; u++) {
        if (!unit[u]->code || (u == GN_UNIT_EVAL && z->s->opt.unscored)) continue;
        z->code[2 * u] = unit[u]->code;
        z->code[2 * u + 1] = unit[u]->prepare_code;
        gn_session_data *d = &z->data[u];
        GN_TRY(gn_session_bound(z->s, unit[u], 0, NULL, d));
        if (u == GN_UNIT_EVAL && is_of_parts(z->s, u))
            gn_eval_rows_first(z->s->arena, z->s->batches->eval, d->n_tensors, d->tensors);
        if (z->code[2 * u + 1]) GN_TRY(outline_again(z, 2 * u + 1));
        GN_TRY(outline_again(z, 2 * u));
    }
    return NULL;
}

/* Sums ----------------------------------------------------------------------------------------- */

/* Batches have theirs in memory: rows are few, and each batch is another one. */
static bool in_file(const capped_session *z, int program)
{
    return z->filed && !(z->s->batches && program / 2 == GN_UNIT_STEP);
}

/* A batch that is larger than the first one has a quarter more room (bind_tensors.c). */
static int64_t temporaries(const capped_session *z, int program)
{
    int64_t bytes = z->outline[program] ? gn_instance_arena_bytes(z->outline[program]) : 0;
    return program % 2 == 0 && is_of_parts(z->s, program / 2) ? bytes + bytes / 4 : bytes;
}

/* Temporaries of programs that run one after another, in one arena; `ahead`: of those that are run
 * once, each in its own. */
static int64_t arena_bytes(const capped_session *z, bool ahead)
{
    bool shared = !ahead && !z->s->batches &&
                  gn_is_on(z->s->opt.without.decisions, GN_DO_SHARE_ARENA);
    int64_t most = 0, all = 0;
    for (int k = ahead; k < GN_SESSION_PROGRAMS; k += 1 + ahead) {
        int64_t bytes = in_file(z, k) ? 0 : temporaries(z, k);
        if (bytes > most) most = bytes;
        all += bytes;
    }
    return shared ? most : all;
}

/* The file's: programs run one after another there. */
static int64_t file_bytes(const capped_session *z)
{
    int64_t most = 0;
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++) {
        int64_t bytes = in_file(z, k) ? temporaries(z, k) : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

static void sum(gn_memory *m)
{
    m->total = m->data + m->graphs + m->states + m->prepared + m->outputs + m->arena + m->pages;
}

/* Are graphs trimmed to what kernels read, once programs are bound? */
static bool is_trimmed(const gn_session *s)
{
    bool again = s->opt.binds_again || gn_session_ranks(s) || gn_session_judges(s);
    return !again && !s->batches && gn_is_on(s->opt.without.decisions, GN_DO_SHARE_ARENA);
}

/* What runs take, or what is run ahead of them, where that is more. */
static gn_memory find_memory(const capped_session *z)
{
    const gn_session *s = z->s;
    const gn_instance *const *in = (const gn_instance *const *)z->outline;
    gn_memory m = {.data = gn_session_data_bytes(s),
                   .states = gn_state_bytes(&s->state),
                   .graphs = gn_graph_bytes(s->graph),
                   .pages = z->window};
    if (s->batches) {
        const gn_instance *step = in[2 * GN_UNIT_STEP];
        m.data += gn_batches_bytes(s->batches);
        if (step) m.graphs += gn_batches_more(s->batches) * gn_instance_own_graph_bytes(step);
    }
    if (s->x_pattern) m.graphs += gn_graph_bytes(s->x_pattern);
    for (int k = 0; s->relation && k < s->data->n_relations; k++)
        m.graphs += gn_graph_bytes(s->relation[k]);
    m.graphs += gn_instances_derived_bytes(GN_SESSION_PROGRAMS, in);
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++)
        if (in[k]) *(k % 2 ? &m.prepared : &m.outputs) += gn_instance_outline_output_bytes(in[k]);
    gn_memory first = m;
    first.arena = arena_bytes(z, true);
    if (!in[1] && !in[3]) first.pages = 0; /* nothing is */
    m.arena = arena_bytes(z, false);
    if (is_trimmed(s)) m.graphs -= gn_instances_trim_saves(GN_SESSION_PROGRAMS, z->outline);
    sum(&first);
    sum(&m);
    return first.total > m.total ? first : m;
}

/* Refusing ------------------------------------------------------------------------------------- */

/* Where in the model most is alive, of the program whose temporaries are most: "model.gnn:7:3". */
static const char *peak_place(const capped_session *z)
{
    int most = -1;
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++)
        if (z->outline[k] && (most < 0 || gn_instance_arena_bytes(z->outline[k]) >
                                              gn_instance_arena_bytes(z->outline[most])))
            most = k;
    if (most < 0 || !z->code[most]->low->launches.n) return "";
    const gn_compiled *c = z->code[most];
    const low_launch *l = &c->low->launches.p[gn_instance_peak(z->outline[most])];
    if (!l->kernel || l->region < 0) return "";
    const region *r = &c->f->regions.p[l->region];
    gir_loc at = gir_at(c->gir, r->members.p[0])->loc;
    if (!at.line || at.file >= c->gir->files.n) return "";
    const char *layer = gir_is_in_layer(c->gir, at) ? c->gir->layers.p[at.layer] : NULL;
    return gn_arena_printf(z->s->arena, ", most of them at %s:%u:%u%s%s", c->gir->files.p[at.file],
                           (unsigned)at.line, (unsigned)at.col, layer ? " in layer " : "",
                           layer ? layer : "");
}

static gn_status *refuse(const capped_session *z, const gn_memory_plan *p)
{
    gn_arena *a = z->s->arena;
    const gn_memory *m = &p->memory;
    const char *besides = "";
    if (m->pages) besides = gn_arena_printf(a, ", mapped of files %s", amount(a, m->pages));
    if (p->filed)
        besides = gn_arena_printf(a, "%s; --spill DIR takes %s at the least, and a file beside",
                                  besides, amount(a, p->filed));
    GN_FAIL(GN_ERR_NOMEM,
            "%s %s takes %s at the least that was found (%s by itself), which is above %s: data "
            "%s, graphs %s, weights and moments %s, prepared %s, outputs %s, temporaries %s%s%s",
            z->s->opt.train ? "training" : "running", z->s->model->name, amount(a, m->total),
            amount(a, p->before), amount(a, p->bound), amount(a, m->data), amount(a, m->graphs),
            amount(a, m->states), amount(a, m->prepared), amount(a, m->outputs),
            amount(a, m->arena), peak_place(z), besides);
}

gn_status *gn_session_check_dense(const gn_session *s, int64_t bytes)
{
    int64_t rest = gn_session_data_bytes(s) + gn_graph_bytes(s->graph);
    if (s->opt.memory <= 0 || bytes <= s->opt.memory - rest) return NULL;
    GN_FAIL(GN_ERR_NOMEM,
            "%s reads its features as a dense matrix, which takes %s beside %s of data and graph, "
            "together above %s",
            s->model->name, amount(s->arena, bytes), amount(s->arena, rest),
            amount(s->arena, s->opt.memory));
}

/* Keeping within ------------------------------------------------------------------------------- */

static gn_status *check_kind(const gn_session *s)
{
    if (s->opt.target)
        GN_FAIL(GN_ERR_USAGE, "a bound on memory is for runs on this processor, not on a device");
    return NULL;
}

/* Edges as they were read are in graphs by now. */
static void drop_edges(gn_session *s)
{
    if (is_trimmed(s)) gn_dataset_drop_edges(s->data, s->x_dense != NULL || s->x_pattern != NULL);
}

/* Programs that take more than is left for temporaries run launches again. */
static gn_status *cap_programs(capped_session *z, gn_memory_plan *p)
{
    gn_unit *unit[] = {&z->s->build.eval, &z->s->build.step};
    int64_t rest = p->memory.total - p->memory.arena, room = p->bound - rest;
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++) {
        gn_capped capped;
        gn_room r = {.bytes = room > 0 ? room : 1, .outline = outline, .ctx = z};
        if (!z->outline[k] || gn_instance_arena_bytes(z->outline[k]) <= room) continue;
        z->program = k;
        GN_TRY(gn_compile_within(gn_session_compiler(z->s), &r, z->code[k], &capped));
        GN_TRY(outline_again(z, k));
        if (k % 2) continue;
        unit[k / 2]->code->artifact->most_bytes = r.bytes;
        p->again[k / 2] = capped.again;
        p->more[k / 2] = capped.more;
    }
    return NULL;
}

static int64_t bound_of(const gn_session *s, int64_t before)
{
    if (s->opt.memory_share <= 0) return s->opt.memory;
    return (int64_t)floor(s->opt.memory_share * (double)before);
}

/* Pages of files ------------------------------------------------------------------------------- */

/* The least that may be mapped at a time: what a few iterations of each thread touch. */
enum { WINDOW = 1 << 20, A_THREAD = 1 << 18 };

static int64_t least_window(const capped_session *z, int64_t all)
{
    int64_t least = WINDOW + gn_pool_threads(z->s->pool) * (int64_t)A_THREAD;
    return all < least ? all : least;
}

/* Temporaries in a file, or in memory; and of files no more mapped than has to be. */
static gn_memory narrow(capped_session *z, bool filed)
{
    z->filed = filed;
    z->window = least_window(z, z->stored + file_bytes(z));
    return find_memory(z);
}

/* Into the bound: by stored rows that are not all mapped, by temporaries in a file, or by launches
 * that run again. */
static gn_status *fit(capped_session *z, gn_memory_plan *p)
{
    p->filed = narrow(z, true).total;
    p->memory = narrow(z, false);
    if (p->memory.total > p->bound && z->s->opt.spill && p->filed <= p->bound) {
        p->memory = narrow(z, true);
        p->file = file_bytes(z);
    } else if (p->memory.total > p->bound && !z->s->batches) {
        GN_TRY(cap_programs(z, p));
        p->memory = find_memory(z);
    }
    if (z->filed || p->filed >= p->memory.total) p->filed = 0;
    /* what is left; more of it where what runs ahead takes most, and maps less */
    for (int k = 0; k < 4; k++) {
        int64_t room = p->bound - p->memory.total, more = z->stored + p->file - z->window;
        if (room > 0) z->window += room < more ? room : more;
        p->memory = find_memory(z);
    }
    return NULL;
}

static gn_status *make_pages(const capped_session *z, int64_t bytes, gn_pages **out)
{
    int fd = -1;
    if (bytes) {
        const char *beside = gn_arena_printf(z->s->arena, "%s/", z->s->opt.spill);
        GN_TRY(gn_nameless_file(beside, &fd));
    }
    GN_TRY(gn_pages_new(fd, bytes, z->window, out));
    gn_stored_lend(z->s, *out);
    return NULL;
}

/* What is mapped of the file goes with others' pages: of all of them a window is mapped. */
static void lend_file(const gn_pages *of, gn_pages *to)
{
    int64_t bytes;
    void *at = gn_pages_memory(of, &bytes);
    gn_pages_lend(to, at, bytes);
}

/* Programs know where what they read and write lies. */
static gn_status *put_in_pages(const capped_session *z, int64_t bytes)
{
    gn_pages **pages = z->s->pages;
    bool apart = bytes && z->s->batches;
    gn_status *s = make_pages(z, bytes, &pages[0]);
    if (!s && apart) s = make_pages(z, 0, &pages[1]);
    if (!s && apart) lend_file(pages[0], pages[1]);
    if (s) return bytes ? gn_status_annotate(s, "--spill %s", z->s->opt.spill) : s;
    for (int k = 0; k < GN_SESSION_PROGRAMS; k++)
        if (z->code[k]) z->code[k]->artifact->pages = pages[apart && !in_file(z, k)];
    return NULL;
}

gn_status *gn_session_keep_within(gn_session *s, gn_instance *outlines[GN_SESSION_PROGRAMS])
{
    capped_session z = {.s = s, .outline = outlines, .stored = gn_stored_bytes(s)};
    gn_memory_plan p = {0};
    gn_build_options o;
    GN_TRY(check_kind(s));
    GN_TRY(gn_session_build_options(s, &o));
    GN_TRY(outline_all(&z));
    drop_edges(s);
    z.window = z.stored;
    p.memory = find_memory(&z);
    p.before = p.memory.total;
    p.bound = bound_of(s, p.before);
    if (p.before > p.bound) GN_TRY(fit(&z, &p));
    p.fits = p.memory.total <= p.bound;
    if (s->opt.memory_found) s->opt.memory_found(s->opt.memory_ctx, &p);
    if (!p.fits) return refuse(&z, &p);
    if (p.before > p.bound && z.window) GN_TRY(put_in_pages(&z, p.file));
    (void)all_outlines(&z);
    return gn_build_code(gn_session_compiler(s), &o, &s->build);
}

/* Code ----------------------------------------------------------------------------------------- */

static gn_compiled *code_of(gn_arena *a, const gn_compiled *c)
{
    if (!c) return NULL;
    gn_compiled *to = GN_NEW(a, gn_compiled);
    gn_taken *taken = GN_NEW_N(a, gn_taken, c->taken.n + 1);
    for (int k = 0; k < c->taken.n; k++)
        taken[k] = (gn_taken){gn_arena_strdup(a, c->taken.of[k].input), c->taken.of[k].graph};
    *to = (gn_compiled){
        .artifact = gn_artifact_copy(a, c->artifact), .taken = {c->taken.n, taken}, .set = c->set};
    return to;
}

void gn_session_keep_code(gn_session *s)
{
    gn_unit *unit[] = {&s->build.eval, &s->build.step};
    for (int u = 0; u < GN_UNITS; u++) {
        unit[u]->code = code_of(s->arena, unit[u]->code);
        unit[u]->prepare_code = code_of(s->arena, unit[u]->prepare_code);
    }
    s->build.step_gir = s->build.rows_gir = NULL;
    s->build.notes.n = 0;
}
