#include "target/cuda_code.h"

#include "base/map.h"
#include "cache/cache.h"
#include "compile/code_id.h"
#include "target/whole.h"
#include "compile/work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A program takes NVRTC much before its first kernel (work.h): few objects, which two threads end
 * together.  More threads take what is left of them. */
enum { WORK = 1300, THREADS = 2, MAX_THREADS = 64, ANY = -1 };

typedef struct distinct { /* a kernel that is compiled */
    const kir_kernel *kernel;
    const char *text;
    uint32_t work; /* how long it takes */
    gn_cuda_place place;
} distinct;

typedef struct part {           /* kernels of one object, or a program in one kernel */
    const gn_compiled *program; /* NULL: kernels */
    GN_VEC(const kir_kernel *) kernels;
    GN_VEC(const char *) text;
    int distinct;      /* kernels that are compiled */
    uint32_t work;     /* how long it takes */
    const char *parts; /* of its key */
    gn_key key;
    bool found;                /* in the cache */
    gn_cuda_division division; /* of a program in one kernel; n 1: it is compiled as it is */
    int *of, *name;            /* what the division has */
    int thread;                /* that it was reckoned to, or its piece 0 */
    int lender;                /* 1 + the part whose piece 1 is also this one's; 0: none */
    uint32_t *piece_work;      /* [division.n] */
    gn_code_object *piece;     /* [division.n] which are linked when all are there */
} part;

typedef struct unit { /* what a thread takes at a time: an object, or a piece of one */
    int part, piece;
    int thread; /* that it was reckoned to */
    uint32_t work;
    atomic_bool taken;
    gn_status *error;
} unit;

typedef struct job {
    gn_arena *arena;
    int arch;
    bool quick; /* less optimised */
    const gn_codegen_options *opt;
    gn_cuda_maker maker;
    GN_VEC(distinct) distinct;
    GN_VEC(part) parts;
    unit *units; /* of what the cache does not have; what takes longest begins first */
    int n_units;
    unit early; /* what a second thread makes while the first one loads the linker; of part -1:
                   nothing */
    pthread_mutex_t rest; /* held until it is known what else there is */
    gn_cuda_objects *out;
    gn_code_report *report;
    uint32_t busy[THREADS]; /* what threads have, as far as programs in one kernel are concerned */
} job;

/* Parts ---------------------------------------------------------------------------------------- */

/* Equal kernels share code.  which[k]: the one that is kernel k of the program. */
static void collect(job *j, const gn_compiled *c, gn_map *seen, uint32_t *which)
{
    for (int k = 0; k < c->n_kernels; k++) {
        const char *text = gn_canonical_kernel(j->arena, c->kernels[k], false);
        const uint32_t *same = gn_is_on(j->opt->off, GN_DO_SHARE_CODE) ? gn_map_find(seen, text)
                                                                       : NULL;
        which[k] = same ? *same : j->distinct.n;
        if (same) continue;
        gn_map_put(seen, text, j->distinct.n);
        GN_PUSH(j->arena, j->distinct,
                ((distinct){
                    .kernel = c->kernels[k], .text = text, .work = gn_cuda_work(c->kernels[k])}));
    }
}

/* The kernels from `first` on, the largest first. */
static uint32_t *by_work(job *j, uint32_t first, uint32_t *total)
{
    uint32_t *order = GN_NEW_N(j->arena, uint32_t, j->distinct.n - first + 1);
    *total = 0;
    for (uint32_t k = first; k < j->distinct.n; k++) {
        uint32_t at = k - first;
        for (; at > 0 && j->distinct.p[order[at - 1]].work < j->distinct.p[k].work; at--)
            order[at] = order[at - 1];
        order[at] = k;
        *total += j->distinct.p[k].work;
    }
    return order;
}

/* The kernels that `thread` is to compile to objects of even size: each to the one that has least
 * so far. */
static void share(job *j, uint32_t first, const uint32_t *order, const int *on, int thread,
                  uint32_t work)
{
    uint32_t begin = j->parts.n, n = (work + WORK - 1) / WORK, count = 0;
    for (uint32_t i = 0; first + i < j->distinct.n; i++) count += on[i] == thread;
    if (n > count || j->opt->each) n = count;
    for (uint32_t k = 0; k < n; k++) GN_PUSH(j->arena, j->parts, ((part){0}));
    for (uint32_t i = 0; first + i < j->distinct.n; i++) {
        if (on[i] != thread) continue;
        uint32_t least = begin;
        for (uint32_t k = begin; k < j->parts.n; k++)
            if (j->parts.p[k].work < j->parts.p[least].work) least = k;
        distinct *x = &j->distinct.p[order[i]];
        part *to = &j->parts.p[least];
        x->place = (gn_cuda_place){(int)least, (int)to->kernels.n};
        to->work += x->work;
        to->distinct++;
        GN_PUSH(j->arena, to->kernels, x->kernel);
        GN_PUSH(j->arena, to->text, x->text);
    }
}

static int least_busy(const uint32_t *busy)
{
    int least = 0;
    for (int t = 1; t < THREADS; t++)
        if (busy[t] < busy[least]) least = t;
    return least;
}

/* The kernels from `first` on to threads, which may have objects of earlier sets to compile, so
 * that they end together; and what a thread has to objects.  What is little is one. */
static void divide(job *j, uint32_t first)
{
    uint32_t total, *order = by_work(j, first, &total), busy[THREADS] = {0}, work[THREADS] = {0};
    int *on = GN_NEW_N(j->arena, int, j->distinct.n - first + 1);
    for (uint32_t k = 0; k < j->parts.n; k++) busy[least_busy(busy)] += j->parts.p[k].work;
    for (uint32_t i = 0; first + i < j->distinct.n; i++) {
        uint32_t x = j->distinct.p[order[i]].work;
        int t = on[i] = total <= WORK ? 0 : least_busy(busy);
        busy[t] += x;
        work[t] += x;
    }
    for (int t = 0; t < THREADS; t++) share(j, first, order, on, t, work[t]);
}

/* A program that was placed before has phases that c has, too, and is not divided: it is linked to
 * c's piece 1, in which they are. Returns whether any is. */
static bool borrow(job *j, const gn_compiled *c, part *lender, uint32_t *work, part *p)
{
    const gn_cuda_whole *w = c->whole, *of = p->program ? p->program->whole : NULL;
    bool any = false;
    if (!of || p->division.n != 1 || p->lender) return false;
    if (gn_cuda_whole_shared(j->arena, w) != gn_cuda_whole_shared(j->arena, of)) return false;
    gn_map has;
    gn_map_init(&has, j->arena);
    for (int k = 0; k < w->n; k++)
        if (w->phase[k].kernel && w->phase[k].same == k)
            gn_map_put(&has, gn_canonical_kernel(j->arena, w->phase[k].kernel, false), (uint32_t)k);
    for (int k = 0; k < of->n; k++) {
        if (!of->phase[k].kernel || of->phase[k].same != k) continue;
        const uint32_t *same = gn_map_find(
            &has, gn_canonical_kernel(j->arena, of->phase[k].kernel, false));
        uint32_t mine = same ? gn_cuda_work(of->phase[k].kernel) : 0;
        if (!same) continue;
        any = true;
        p->of[k] = 1;
        p->name[k] = (int)*same;
        p->work -= mine;
        j->busy[p->thread] -= mine;
        lender->of[*same] = 1;
        lender->piece_work[1] += work[*same];
        work[*same] = 0;
    }
    if (any) p->division = (gn_cuda_division){THREADS, p->of, p->name};
    return any;
}

/* Its phases to as many pieces as threads, so that these end together with what they have besides,
 * the kernel to piece 0.  Only what is compiled quickly: functions of other pieces are called as
 * any function might be, and with all optimisations the phases of one program need half the
 * registers. */
static void divide_whole(job *j, const gn_compiled *c, part *one)
{
    _Static_assert(THREADS == 2, "piece 1 is the thread's that has not piece 0");
    const gn_cuda_whole *w = c->whole;
    uint32_t *work = GN_NEW_N(j->arena, uint32_t, w->n + 1), *busy = j->busy, phases = 0;
    int *of = one->of = GN_NEW_N(j->arena, int, w->n + 1), main = one->thread = least_busy(busy);
    one->name = GN_NEW_N(j->arena, int, w->n + 1);
    one->division = (gn_cuda_division){1, of, NULL};
    one->piece = GN_NEW_N(j->arena, gn_code_object, THREADS);
    one->piece_work = GN_NEW_N(j->arena, uint32_t, THREADS);
    if (!j->quick || !j->maker.piece || !gn_cuda_divides(j->arch) || one->work <= WORK) {
        busy[main] += GN_WORK_BEFORE + one->work;
        return;
    }
    for (int k = 0; k < w->n; k++) {
        bool own = w->phase[k].kernel && w->phase[k].same == k;
        work[k] = own ? gn_cuda_work(w->phase[k].kernel) : 0;
        phases += work[k];
    }
    one->piece_work[0] = one->work - phases; /* calls */
    for (uint32_t k = 0; k < j->parts.n; k++)
        if (borrow(j, c, one, work, &j->parts.p[k])) j->parts.p[k].lender = 1 + (int)j->parts.n;
    main = one->thread = least_busy(busy);
    for (int t = 0; t < THREADS; t++) busy[t] += GN_WORK_BEFORE + one->piece_work[t != main];
    for (;;) { /* the largest that is left, to the thread that has least */
        int most = 0, to = least_busy(busy);
        for (int k = 1; k < w->n; k++)
            if (work[k] > work[most]) most = k;
        if (work[most] == 0) break;
        of[most] = to != main;
        one->piece_work[of[most]] += work[most];
        busy[to] += work[most];
        work[most] = 0;
    }
    one->division.n = one->piece_work[1] ? THREADS : 1;
}

/* A program in one kernel is an object of its own. */
static void place_whole(job *j, const gn_compiled *c, gn_cuda_place *place, int *whole)
{
    part one = {.program = c};
    *whole = (int)j->parts.n;
    for (int k = 0; k < c->artifact->n_launches; k++) {
        const gn_launch *l = &c->artifact->launches[k];
        if (l->kind == GN_LAUNCH_KERNEL) place[l->kernel] = (gn_cuda_place){*whole, 1 + k};
        if (l->kind == GN_LAUNCH_KERNEL) one.work += GN_WORK_OF_CALL;
        if (!c->whole->phase[k].kernel || c->whole->phase[k].same != k) continue;
        one.work += gn_cuda_work(c->whole->phase[k].kernel);
        one.distinct++;
    }
    divide_whole(j, c, &one);
    GN_PUSH(j->arena, j->parts, one);
}

/* Set by set: kernels that an earlier one has are not compiled again, and how the first is divided
 * does not depend on what else a model was compiled for, so that inference finds what training
 * kept. */
static void place_all(job *j, int n, gn_compiled *const *programs)
{
    gn_map seen;
    gn_map_init(&seen, j->arena);
    uint32_t **which = GN_NEW_N(j->arena, uint32_t *, n + 1);
    for (int set = 0; set < GN_CODE_SETS; set++) {
        uint32_t first = j->distinct.n;
        for (int p = 0; p < n; p++) {
            if (programs[p]->set != set || programs[p]->whole) continue;
            which[p] = GN_NEW_N(j->arena, uint32_t, programs[p]->n_kernels + 1);
            collect(j, programs[p], &seen, which[p]);
        }
        divide(j, first);
    }
    for (uint32_t k = 0; k < j->parts.n; k++) {
        int t = j->parts.p[k].thread = least_busy(j->busy);
        j->busy[t] += GN_WORK_BEFORE + j->parts.p[k].work;
    }
    for (int p = 0; p < n; p++) {
        j->out->whole[p] = -1;
        if (programs[p]->whole) place_whole(j, programs[p], j->out->place[p], &j->out->whole[p]);
        for (int k = 0; k < programs[p]->n_kernels && which[p]; k++)
            j->out->place[p][k] = j->distinct.p[which[p][k]].place;
    }
}

/* The text of a program in one kernel but for names: its kernels', and what they are called
 * with. */
static const char *text_of_whole(gn_arena *a, const gn_cuda_whole *w)
{
    gn_buf b = {.arena = a};
    gn_buf_printf(&b, "%d %d", w->n_buffers, w->n_values);
    for (int k = 0; k < w->n; k++) {
        const gn_cuda_phase *p = &w->phase[k];
        uint32_t buffers = p->kernel ? p->kernel->buffers.n : 2,
                 syms = p->kernel ? p->kernel->syms.n : 1;
        gn_buf_printf(&b, "\nphase %d", p->same);
        for (uint32_t i = 0; i < buffers; i++) gn_buf_printf(&b, " b%d", p->buf[i]);
        for (uint32_t i = 0; i < syms; i++) gn_buf_printf(&b, " n%d", p->sym[i]);
        gn_buf_printf(&b, "\n%s",
                      !p->kernel     ? "copy"
                      : p->same == k ? gn_canonical_kernel(a, p->kernel, false)
                                     : "");
    }
    return b.p;
}

/* NVRTC's version is not in it: to ask for it is to load 100 MB, and what another one made runs as
 * well, but where it is too new for the driver: objects say who made them (look_up). */
static void make_key(job *j, part *p)
{
    gn_buf b = {.arena = j->arena};
    if (p->program) GN_PUSH(j->arena, p->text, text_of_whole(j->arena, p->program->whole));
    gn_buf_printf(&b, "gnnc %s code %.16s\ntarget cuda sm_%d%s\n%s", GNNC_VERSION, gn_code_id,
                  j->arch, j->quick ? " quick" : "", p->program ? "whole" : "kernels");
    for (uint32_t k = 0; k < p->text.n; k++) {
        unsigned char digest[GN_SHA256_BYTES];
        char hex[GN_SHA256_HEX + 1];
        gn_sha256_of(p->text.p[k], strlen(p->text.p[k]), digest);
        gn_sha256_hex(digest, hex);
        gn_buf_printf(&b, " %s", hex);
    }
    gn_buf_add(&b, "\n");
    p->parts = b.p;
    p->key = gn_key_of(b.p, b.n);
}

/* Compiling ------------------------------------------------------------------------------------ */

static const char *name_of(const part *p)
{
    return p->program ? p->program->artifact->name : p->kernels.p[0]->name;
}

static bool look_up(job *j, int k)
{
    const part *p = &j->parts.p[k];
    int entries = p->program ? 1 + p->program->whole->n : (int)p->kernels.n;
    gn_code_object *o = &j->out->objects[k];
    gn_cuda_view view;
    char why[GN_CUDA_WHY];
    if (!j->opt->cache) return false;
    if (!gn_cache_get(j->opt->cache, &p->key, name_of(p), &o->bytes, &o->n)) return false;
    gn_status *s = gn_cuda_object_view(o, &view);
    bool loads = !s && (!j->opt->driver || !gn_cuda_too_new(view.made_by, j->opt->driver, why));
    if (loads && view.n == entries && view.arch == j->arch) return true;
    gn_status_free(s);
    free(o->bytes);
    *o = (gn_code_object){0};
    return false;
}

static gn_status *compile_unit(job *j, const unit *u)
{
    part *p = &j->parts.p[u->part];
    gn_code_object *o = &j->out->objects[u->part];
    if (!p->program)
        return j->maker.make(j->maker.ctx, (int)p->kernels.n, p->kernels.p, j->arch, o);
    if (p->division.n == 1) return j->maker.whole(j->maker.ctx, p->program->whole, j->arch, o);
    return j->maker.piece(j->maker.ctx, p->program->whole, &p->division, u->piece, j->arch,
                          &p->piece[u->piece]);
}

/* What is left of what was reckoned to the thread, or else to another, the longest first. */
static unit *next_of(job *j, int thread)
{
    for (int own = 1; own >= 0; own--)
        for (int k = 0; k < j->n_units; k++) {
            unit *u = &j->units[k];
            if (own && u->thread != thread && u->thread != ANY) continue;
            if (!atomic_exchange(&u->taken, true)) return u;
        }
    return NULL;
}

static void work(job *j, int thread)
{
    for (unit *u; (u = next_of(j, thread));) u->error = compile_unit(j, u);
}

static int units_of(const part *p) { return p->division.n > 1 && !p->lender ? p->division.n : 1; }

/* Room for those of everything: it is not known yet what the cache has. */
static void make_units(job *j)
{
    int most = 0;
    for (uint32_t k = 0; k < j->parts.n; k++) most += units_of(&j->parts.p[k]);
    j->units = GN_NEW_N(j->arena, unit, most + 1);
}

static bool is_divided(const part *p) { return p->division.n > 1 && !p->found; }

static bool any_divided(const job *j)
{
    for (uint32_t k = 0; k < j->parts.n; k++)
        if (is_divided(&j->parts.p[k])) return true;
    return false;
}

/* Programs are divided where there is a linker; where there is none they are compiled as they are,
 * and the report says so. */
static void ask_for_linker(job *j)
{
    if (!any_divided(j)) return;
    gn_status *s = j->maker.links(j->maker.ctx);
    j->report->undivided = s != NULL;
    gn_status_free(s);
    for (uint32_t k = 0; k < j->parts.n && j->report->undivided; k++)
        if (j->parts.p[k].program) j->parts.p[k].division.n = 1;
}

/* Of programs in pieces it was reckoned which thread has what. */
static void find_missing(job *j)
{
    bool divided = any_divided(j);
    for (uint32_t k = 0; k < j->parts.n; k++) {
        const part *p = &j->parts.p[k];
        int n = p->found || (int)k == j->early.part ? 0 : units_of(p);
        for (int i = 0; i < n; i++) {
            uint32_t work = n > 1 ? p->piece_work[i] : p->work;
            int at = j->n_units++, thread = !divided ? ANY : i ? 1 - p->thread : p->thread;
            for (; at > 0 && j->units[at - 1].work < work; at--) j->units[at] = j->units[at - 1];
            j->units[at] = (unit){.part = (int)k, .piece = i, .thread = thread, .work = work};
        }
    }
}

/* To load a linker takes 5 ms, and NVRTC parses one program at a time: a short one that needs no
 * linker begins. */
static void find_early(job *j)
{
    j->early = (unit){.part = -1};
    for (uint32_t k = 0; k < j->parts.n && j->opt->threads > 1 && any_divided(j); k++) {
        const part *p = &j->parts.p[k];
        if (p->program || p->found || p->work <= j->early.work) continue;
        j->early = (unit){.part = (int)k, .thread = p->thread, .work = p->work};
    }
}

typedef struct worker {
    job *job;
    int number;
    pthread_t thread;
    bool started;
} worker;

static void *run_early(void *arg)
{
    const worker *w = arg;
    w->job->early.error = compile_unit(w->job, &w->job->early);
    pthread_mutex_lock(&w->job->rest);
    pthread_mutex_unlock(&w->job->rest);
    work(w->job, w->number);
    return NULL;
}

static void *run(void *arg)
{
    const worker *w = arg;
    work(w->job, w->number);
    return NULL;
}

static void start(job *j, worker *w, int number, void *(*f)(void *))
{
    *w = (worker){.job = j, .number = number};
    w->started = pthread_create(&w->thread, NULL, f, w) == 0;
}

static void compile_missing(job *j)
{
    worker w[MAX_THREADS];
    int begun = 1;
    find_early(j);
    pthread_mutex_init(&j->rest, NULL);
    pthread_mutex_lock(&j->rest);
    if (j->early.part >= 0) start(j, &w[begun++], j->early.thread, run_early);
    if (begun > 1 && !w[1].started) j->early.part = -1, begun = 1;
    ask_for_linker(j);
    find_missing(j);
    pthread_mutex_unlock(&j->rest);
    int n = j->opt->threads < j->n_units + begun - 1 ? j->opt->threads : j->n_units + begun - 1;
    if (n > MAX_THREADS) n = MAX_THREADS;
    int own = begun > 1 ? 1 - j->early.thread : 0;
    for (int t = begun; t < n; t++) start(j, &w[t], t, run);
    work(j, own);
    for (int t = 1; t < n || t < begun; t++)
        if (w[t].started) pthread_join(w[t].thread, NULL);
    pthread_mutex_destroy(&j->rest);
}

/* The first error; the others are dropped. */
static gn_status *first_error(job *j)
{
    gn_status *s = j->early.part >= 0 ? j->early.error : NULL;
    for (int k = 0; k < j->n_units; k++) {
        if (s)
            gn_status_free(j->units[k].error);
        else
            s = j->units[k].error;
    }
    return s;
}

static bool all_found(const job *j)
{
    for (uint32_t k = 0; k < j->parts.n; k++)
        if (!j->parts.p[k].found) return false;
    return true;
}

static gn_status *link_divided(job *j)
{
    gn_status *s = NULL;
    for (uint32_t k = 0; k < j->parts.n && !s; k++) {
        const part *p = &j->parts.p[k];
        if (!is_divided(p)) continue;
        const gn_code_object *other = p->lender ? j->parts.p[p->lender - 1].piece : p->piece;
        gn_code_object piece[THREADS] = {p->piece[0], other[1]};
        s = j->maker.link(j->maker.ctx, p->program->whole, THREADS, piece, j->arch,
                          &j->out->objects[k]);
    }
    return s;
}

/* What is linked to a piece of a program that the cache has is compiled whole: pieces are not
 * kept. */
static void take_back(job *j)
{
    for (uint32_t k = 0; k < j->parts.n; k++) {
        part *p = &j->parts.p[k];
        if (p->lender && !is_divided(&j->parts.p[p->lender - 1]))
            p->division = (gn_cuda_division){1, p->of, NULL};
    }
}

static void free_pieces(job *j)
{
    for (uint32_t k = 0; k < j->parts.n; k++)
        for (int i = 0; i < j->parts.p[k].division.n && j->parts.p[k].program; i++)
            free(j->parts.p[k].piece[i].bytes);
}

/* While there are objects nothing is allocated in the arena: it would jump past them. */
static gn_status *make_objects(job *j)
{
    gn_code_report *r = j->report;
    r->cached = j->opt->cache != NULL;
    for (uint32_t k = 0; k < j->parts.n; k++) make_key(j, &j->parts.p[k]);
    make_units(j);
    for (uint32_t k = 0; k < j->parts.n; k++) {
        part *p = &j->parts.p[k];
        p->found = look_up(j, (int)k);
        r->distinct += p->distinct;
        *(p->found ? &r->hits : &r->misses) += p->distinct;
        if (!p->found && j->opt->cache) gn_cache_explain(j->opt->cache, name_of(p), p->parts);
    }
    take_back(j);
    if (all_found(j)) return NULL;
    compile_missing(j);
    gn_status *s = first_error(j);
    if (!s) s = link_divided(j);
    free_pieces(j);
    GN_TRY(s);
    for (uint32_t k = 0; k < j->parts.n; k++) {
        const part *p = &j->parts.p[k];
        if (!p->found && j->opt->cache)
            gn_cache_put(j->opt->cache, p->parts, j->out->objects[k].bytes, j->out->objects[k].n);
    }
    return NULL;
}

static gn_status *by_nvrtc(void *ctx, int n, const kir_kernel *const *kernels, int arch,
                           gn_code_object *out)
{
    const bool *quick = ctx;
    return gn_cuda_object(n, kernels, arch, *quick, out);
}

static gn_status *whole_by_nvrtc(void *ctx, const gn_cuda_whole *w, int arch, gn_code_object *out)
{
    const bool *quick = ctx;
    return gn_cuda_whole_object(w, arch, *quick, out);
}

static gn_status *piece_by_nvrtc(void *ctx, const gn_cuda_whole *w, const gn_cuda_division *d,
                                 int which, int arch, gn_code_object *out)
{
    (void)ctx;
    return gn_cuda_piece(w, d, which, arch, out);
}

static gn_status *link_by_nvjitlink(void *ctx, const gn_cuda_whole *w, int n,
                                    const gn_code_object *pieces, int arch, gn_code_object *out)
{
    (void)ctx, (void)w, (void)arch;
    return gn_cuda_link(n, pieces, out);
}

static gn_status *nvjitlink_there(void *ctx)
{
    (void)ctx;
    return gn_cuda_linker(NULL);
}

gn_status *gn_compile_cuda(gn_arena *a, int n, gn_compiled *const *programs, int arch,
                           const gn_codegen_options *opt, const gn_cuda_maker *maker,
                           gn_cuda_objects *out, gn_code_report *report)
{
    double t0 = gn_now_ms();
    job j = {.arena = a, .arch = arch, .quick = true, .opt = opt, .out = out, .report = report};
    j.maker = maker ? *maker : (gn_cuda_maker){by_nvrtc,        whole_by_nvrtc,    piece_by_nvrtc,
                                               nvjitlink_there, link_by_nvjitlink, &j.quick};
    *report = (gn_code_report){0};
    *out = (gn_cuda_objects){.n_programs = n, .place = GN_NEW_N(a, gn_cuda_place *, n + 1)};
    out->whole = GN_NEW_N(a, int, n + 1);
    for (int p = 0; p < n; p++) {
        j.quick = j.quick && programs[p]->quick;
        report->kernels += programs[p]->n_kernels;
        out->place[p] = GN_NEW_N(a, gn_cuda_place, programs[p]->n_kernels + 1);
    }
    place_all(&j, n, programs);
    out->objects = GN_NEW_N(a, gn_code_object, j.parts.n + 1);
    out->n_objects = (int)j.parts.n;
    GN_TRY(make_objects(&j));
    for (int k = 0; k < out->n_objects; k++) report->stats.code_bytes += (int64_t)out->objects[k].n;
    report->ms = gn_now_ms() - t0;
    return NULL;
}

void gn_cuda_objects_free(gn_cuda_objects *c)
{
    for (int k = 0; k < c->n_objects; k++) free(c->objects[k].bytes);
    c->n_objects = 0;
}
