#include "target/target.h"

#include "runtime/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ARCH = 80 };

void gn_target_enter(gn_target *t)
{
    if (t) gn_mutex_take(&t->lock);
}

void gn_target_leave(gn_target *t)
{
    if (t) gn_mutex_leave(&t->lock);
}

static gn_status *start(gn_target *t, const char *path, int ordinal)
{
    GN_TRY(gn_mutex_init(&t->lock, GN_MUTEX_NESTED));
    t->has_lock = true;
    GN_TRY(gn_cuda_driver_open(path, &t->driver));
    GN_TRY(gn_cuda_device_open(t->driver, ordinal, &t->device));
    const gn_cuda_info *about = gn_cuda_device_about(t->device);
    t->arch = 10 * about->major + about->minor;
    if (t->arch < LEAST_ARCH)
        GN_FAIL(GN_ERR_BACKEND,
                "%s has compute capability %d.%d; 8.0 (Ampere) or newer is needed (--device cpu "
                "does without)",
                about->name, about->major, about->minor);
    GN_TRY(gn_cuda_memory_new(t->device, &t->memory));
    t->remote = gn_cuda_memory_remote(t->memory);
    return NULL;
}

const char *const gn_device_names[] = {"cpu", "cuda", "cuda:0", "auto"};

bool gn_device_parse(const char *name, gn_device_choice *out)
{
    *out = (gn_device_choice){.gpu = name && strcmp(name, "cpu") != 0};
    if (!out->gpu || !strcmp(name, "cuda")) return true;
    out->any = !strcmp(name, "auto");
    if (out->any) return true;
    if (strncmp(name, "cuda:", 5) != 0 || name[5] < '0' || name[5] > '9') return false;
    char *end;
    long n = strtol(name + 5, &end, 10);
    out->ordinal = n < 1024 ? (int)n : 0;
    return !*end && n < 1024;
}

gn_status *gn_target_open(const char *path, int ordinal, gn_target **out)
{
    void *block;
    *out = NULL;
    GN_TRY(gn_block_zeroed(1, sizeof(gn_target), "the target", &block));
    gn_target *t = block;
    t->limits = gn_cuda_limits();
    gn_status *s = start(t, path, ordinal);
    if (s) {
        gn_target_close(t);
        return s;
    }
    *out = t;
    return NULL;
}

void gn_target_close(gn_target *t)
{
    if (!t) return;
    gn_cuda_memory_free(t->memory); /* with graphs that launch what modules hold */
    for (int k = 0; k < t->n_modules; k++) gn_cuda_module_free(t->modules[k]);
    gn_block_free(t->modules);
    gn_cuda_blas_close(t->blas);
    gn_cuda_device_close(t->device);
    gn_cuda_driver_close(t->driver);
    if (t->has_lock) gn_mutex_end(&t->lock);
    gn_block_free(t);
}

static gn_status *make_room(gn_target *t, int more)
{
    void *block;
    if (t->n_modules + more <= t->cap) return NULL;
    int cap = 2 * t->cap + more;
    GN_TRY(gn_block_new(cap, sizeof *t->modules, "modules", &block));
    if (t->n_modules) memcpy(block, t->modules, (size_t)t->n_modules * sizeof *t->modules);
    gn_block_free(t->modules);
    t->modules = block;
    t->cap = cap;
    return NULL;
}

static bool is_whole(const gn_cuda_objects *o, int object)
{
    for (int p = 0; p < o->n_programs; p++)
        if (o->whole[p] == object) return true;
    return false;
}

/* Why code of a newer NVRTC is not loaded, where the driver did not take it: its own words speak of
 * a damaged image. */
static gn_status *explain_refusal(const gn_target *t, const gn_cuda_view *v, gn_status *s)
{
    char why[GN_CUDA_WHY];
    if (!s || gn_status_code(s) != GN_ERR_BACKEND) return s;
    if (!gn_cuda_too_new(v->made_by, t->driver->version, why)) return s;
    gn_status *told = GN_ERROR(GN_ERR_BACKEND, "%s\n%s", gn_status_message(s), why);
    gn_status_free(s);
    return told;
}

/* Kernels of one object: a module, and code[k] of each; of a program in one kernel that one alone
 * has a function. */
static gn_status *load(gn_target *t, const gn_code_object *object, bool whole, gn_target_code *out,
                       gn_cuda_code *code)
{
    gn_cuda_view v;
    gn_cuda_module *m;
    GN_TRY(gn_cuda_object_view(object, &v));
    GN_TRY(explain_refusal(t, &v, gn_cuda_module_load(t->device, v.cubin, &m)));
    t->modules[t->n_modules++] = m;
    out->modules[out->n++] = m;
    for (int k = 0; k < v.n; k++) {
        char name[32];
        gn_cuda_geometry g;
        gn_cuda_usage u;
        (void)snprintf(name, sizeof name, "gn_kernel_%d", k);
        gn_cuda_view_kernel(&v, k, &g, &u);
        code[k] = (gn_cuda_code){.threads = g.threads, .per_block = g.per_block};
        if (k == 0 || !whole) GN_TRY(gn_cuda_module_function(m, name, &code[k].function));
    }
    return NULL;
}

static gn_status *load_each(gn_target *t, const gn_cuda_objects *o, gn_target_code *out,
                            gn_cuda_code **code)
{
    GN_TRY(make_room(t, o->n_objects));
    for (int k = 0; k < o->n_objects; k++)
        GN_TRY(load(t, &o->objects[k], is_whole(o, k), out, code[k]));
    return NULL;
}

/* cuBLASLt, when programs may first want it. */
static void ask_for_blas(gn_target *t)
{
    if (t->asked_for_blas) return;
    gn_status *s = gn_cublaslt_open(&t->cublaslt);
    if (!s) s = gn_cuda_blas_open(&t->cublaslt, t->device, &t->blas);
    /* memory may be there another time */
    t->asked_for_blas = !s || gn_status_code(s) == GN_ERR_BACKEND;
    if (s) (void)snprintf(t->no_blas, sizeof t->no_blas, "%s", gn_status_message(s));
    gn_status_free(s);
}

typedef struct program { /* in the arena */
    gn_cuda_program code;
    gn_cuda_code *kernels;
    gn_cuda_whole_code whole;
    int64_t *per_block;
    int object; /* of the whole; -1: launch by launch */
    gn_cuda_library *library;
} program;

/* Products are kernels where there is no library, unless it was asked for. */
static gn_status *give_library(gn_target *t, program *p)
{
    if (!p->library) return NULL;
    ask_for_blas(t);
    if (!t->blas && p->library->always) GN_FAIL(GN_ERR_BACKEND, "%s", t->no_blas);
    p->library->blas = t->blas;
    if (t->blas) p->code.library = p->library;
    return NULL;
}

/* Of the program's kernels; of one that is one kernel, from entry 0 of its object, and its phases
 * from those after it. */
static gn_status *make_program(gn_target *t, const gn_compiled *c, const gn_cuda_place *place,
                               gn_cuda_code *const *code, program *out)
{
    gn_cuda_whole_code *w = &out->whole;
    c->artifact->remote = t->remote;
    c->artifact->remote_code = &out->code;
    out->code = out->object < 0 ? (gn_cuda_program){.kernels = out->kernels}
                                : (gn_cuda_program){.whole = w};
    for (int k = 0; k < c->n_kernels && out->object < 0; k++)
        out->kernels[k] = code[place[k].object][place[k].kernel];
    if (out->object < 0) return give_library(t, out);
    const gn_cuda_code *entry = code[out->object];
    for (int k = 0; k < c->artifact->n_launches; k++) out->per_block[k] = entry[1 + k].per_block;
    *w = (gn_cuda_whole_code){
        .function = entry->function, .threads = entry->threads, .per_block = out->per_block};
    return gn_cuda_resident(t->device, w->function, w->threads, &w->resident);
}

static gn_status *load_all(gn_target *t, gn_arena *a, const gn_cuda_objects *o,
                           gn_compiled *const *programs, const gn_products_rule *products,
                           gn_target_code *out)
{
    gn_cuda_code **code = GN_NEW_N(a, gn_cuda_code *, o->n_objects + 1);
    program *of = GN_NEW_N(a, program, o->n_programs + 1);
    out->modules = GN_NEW_N(a, gn_cuda_module *, o->n_objects + 1);
    for (int k = 0; k < o->n_objects; k++) {
        gn_cuda_view v;
        GN_TRY(gn_cuda_object_view(&o->objects[k], &v));
        code[k] = GN_NEW_N(a, gn_cuda_code, v.n + 1);
    }
    for (int p = 0; p < o->n_programs; p++) {
        of[p].object = o->whole[p];
        of[p].library = gn_products_of(a, programs[p], products);
        of[p].kernels = GN_NEW_N(a, gn_cuda_code, programs[p]->n_kernels + 1);
        of[p].per_block = GN_NEW_N(a, int64_t, programs[p]->artifact->n_launches + 1);
    }
    gn_target_enter(t);
    gn_status *s = load_each(t, o, out, code);
    for (int p = 0; p < o->n_programs && !s; p++)
        s = make_program(t, programs[p], o->place[p], code, &of[p]);
    gn_target_leave(t);
    return s;
}

void gn_target_unload(gn_target *t, gn_target_code *c)
{
    gn_target_enter(t);
    if (c->n) gn_cuda_memory_forget_graphs(t->memory); /* some may launch what is in it */
    for (int k = 0; k < c->n; k++) {
        int at = 0;
        while (at < t->n_modules && t->modules[at] != c->modules[k]) at++;
        if (at == t->n_modules) continue;
        t->modules[at] = t->modules[--t->n_modules];
        gn_cuda_module_free(c->modules[k]);
    }
    gn_target_leave(t);
    c->n = 0;
}

/* An arena that runs out of memory jumps: to here while there are objects to be freed, and not
 * while the target is entered, since what is taken of it is taken before. */
static gn_status *compile_and_load(gn_target *t, gn_arena *a, int n, gn_compiled *const *programs,
                                   const gn_codegen_options *opt, const gn_products_rule *products,
                                   gn_cuda_objects *objects, gn_target_code *out,
                                   gn_code_report *report)
{
    jmp_buf oom, *before = a->oom;
    gn_codegen_options of_driver = *opt;
    of_driver.driver = t->driver->version;
    a->oom = &oom;
    gn_status *s;
    if (setjmp(oom))
        s = GN_ERROR(GN_ERR_NOMEM, "out of memory: %zu bytes were asked for", a->wanted);
    else
        s = gn_compile_cuda(a, n, programs, t->arch, &of_driver, t->maker.make ? &t->maker : NULL,
                            objects, report);
    double t0 = gn_now_ms();
    if (!s) s = load_all(t, a, objects, programs, products, out);
    a->oom = before;
    report->stats.load_ms = gn_now_ms() - t0;
    report->ms += report->stats.load_ms;
    return s;
}

gn_status *gn_target_compile(gn_target *t, gn_arena *a, int n, gn_compiled *const *programs,
                             const gn_codegen_options *opt, const gn_products_rule *products,
                             gn_target_code *out, gn_code_report *report)
{
    gn_cuda_objects objects = {0};
    *out = (gn_target_code){0};
    gn_status *s = compile_and_load(t, a, n, programs, opt, products, &objects, out, report);
    if (s) gn_target_unload(t, out);
    gn_cuda_objects_free(&objects);
    return s;
}
