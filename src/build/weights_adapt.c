/* Weights as torch writes them, made into what the model reads: names behind the prefixes that
 * wrappers give, and other floating types. */
#include "build/build.h"

#include "base/half.h"
#include "runtime/data/ndarray.h"
#include "build/state_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is said of it, once. */
typedef struct note {
    char text[512];
    size_t n;
} note;

static void say(note *to, const char *fmt, ...) GN_PRINTF(2, 3);
static void say(note *to, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(to->text + to->n, sizeof to->text - to->n, fmt, ap);
    va_end(ap);
    if (n > 0)
        to->n += (size_t)n < sizeof to->text - to->n ? (size_t)n : sizeof to->text - to->n - 1;
}

/* ---- names ---- */

/* A name without what wrappers put into it: `_orig_mod` (torch.compile) and `module` (DataParallel,
 * and the norms of PyTorch Geometric around those of torch) wherever they stand, and `model` in
 * front (Lightning).  In `to`, which has room for the name. */
static void bare_name(const char *name, char *to)
{
    bool front = true;
    char *end = to;
    while (*name) {
        size_t n = strcspn(name, ".");
        bool last = !name[n], of_all = (n == 9 && !memcmp(name, "_orig_mod", 9)) ||
                                       (n == 6 && !memcmp(name, "module", 6));
        bool wrapper = !last && (of_all || (front && n == 5 && !memcmp(name, "model", 5)));
        if (!wrapper) {
            if (end > to) *end++ = '.';
            memcpy(end, name, n);
            end += n;
            front = false;
        }
        name += n + !last;
    }
    *end = 0;
}

/* The tensor whose bare name is that of the parameter; -1: there is none, or more than one. */
static int tensor_for(const gn_tensor_file *f, char *const *bare, const char *wanted)
{
    int found = -1;
    for (int k = 0; k < f->n; k++) {
        if (strcmp(bare[k], wanted) != 0) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

static bool all_there(const gn_model *m, const gn_tensor_file *f)
{
    for (int k = 0; k < m->n_params; k++)
        if (!gn_tensor_file_find(f, m->params[k].file_name)) return false;
    return true;
}

/* Which tensor each parameter is, by bare names; false where one has none or two have the same. */
static bool match(const gn_model *m, const gn_tensor_file *f, char *const *bare, char *wanted,
                  int *tensor)
{
    for (int k = 0; k < m->n_params; k++) {
        bare_name(m->params[k].file_name, wanted);
        tensor[k] = tensor_for(f, bare, wanted);
        for (int i = 0; i < k; i++)
            if (tensor[i] == tensor[k]) return false;
        if (tensor[k] < 0) return false;
    }
    return true;
}

/* Takes the parameters' names, all or none. */
static gn_status *take_names(const gn_model *m, gn_tensor_file *f, const int *tensor, note *said)
{
    int renamed = 0;
    for (int k = 0; k < m->n_params; k++) {
        gn_named_tensor *t = &f->tensors[tensor[k]];
        if (!strcmp(t->name, m->params[k].file_name)) continue;
        char *name = strdup(m->params[k].file_name);
        if (!name) GN_FAIL(GN_ERR_NOMEM, "out of memory: the name of a tensor");
        if (!renamed++) say(said, "; '%.64s' is read as '%.64s'", t->name, name);
        free(t->name);
        t->name = name;
    }
    if (renamed > 1) say(said, ", and %d more likewise", renamed - 1);
    return NULL;
}

/* A block with the bare names of the tensors, one behind the other, and room for one of the
 * model's. */
static gn_status *bare_names(const gn_model *m, const gn_tensor_file *f, char ***bare,
                             char **wanted)
{
    size_t bytes = 1, longest = 0;
    for (int k = 0; k < m->n_params; k++) {
        size_t n = strlen(m->params[k].file_name) + 1;
        if (n > longest) longest = n;
    }
    for (int k = 0; k < f->n; k++) bytes += strlen(f->tensors[k].name) + 1;
    size_t pointers = (size_t)f->n * sizeof **bare;
    char **all = malloc(pointers + bytes + longest);
    if (!all) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d names", f->n);
    char *at = (char *)all + pointers;
    for (int k = 0; k < f->n; k++) {
        all[k] = at;
        bare_name(f->tensors[k].name, at);
        at += strlen(f->tensors[k].name) + 1;
    }
    *bare = all;
    *wanted = at;
    return NULL;
}

static gn_status *adapt_names(const gn_model *m, gn_tensor_file *f, note *said)
{
    char **bare, *wanted;
    if (all_there(m, f)) return NULL;
    int *tensor = malloc(((size_t)m->n_params + 1) * sizeof *tensor);
    if (!tensor) GN_FAIL(GN_ERR_NOMEM, "out of memory: %d names", m->n_params);
    gn_status *s = bare_names(m, f, &bare, &wanted);
    if (!s) {
        if (match(m, f, bare, wanted, tensor)) s = take_names(m, f, tensor, said);
        free(bare);
    }
    free(tensor);
    return s;
}

/* ---- types ---- */

static const char *dtype_of(gn_elem e)
{
    return e == GN_F64    ? "f8"
           : e == GN_F32  ? "f4"
           : e == GN_F16  ? "f2"
           : e == GN_BF16 ? "u2"
                          : NULL; /* its bits, which become() widens */
}

/* float32 or float64, as the model has it. */
static gn_status *become(gn_named_tensor *t, gn_elem elem, const char *path)
{
    gn_ndarray from = {.data = t->data};
    gn_ndarray_dtype(&from, dtype_of(t->elem), 2);
    if (!gn_ndarray_shape(&from, t->rank, t->dim))
        GN_FAIL(GN_ERR_DATA, "%s: tensor '%.64s' has an impossible shape", path, t->name);
    void *to = malloc((size_t)(from.count + 1) * gn_elem_size(elem));
    if (!to)
        GN_FAIL(GN_ERR_NOMEM, "out of memory: tensor '%.64s' as %s", t->name, gn_elem_name(elem));
    for (int64_t i = 0; i < from.count; i++) {
        double v = gn_ndarray_f64(&from, i);
        if (t->elem == GN_BF16) v = gn_bf16_to_f32((uint16_t)v);
        if (elem == GN_F32 && isfinite(v) && isinf((float)v)) {
            free(to);
            GN_FAIL(GN_ERR_DATA, "%s: tensor '%.64s': number %lld is %g, which no float32 is", path,
                    t->name, (long long)i, v);
        }
        gn_fill_store(to, elem, i, v);
    }
    free(t->data);
    t->data = to;
    t->elem = elem;
    return NULL;
}

static const gn_param *reader_of(const gn_model *m, const char *name)
{
    for (int k = 0; k < m->n_params; k++)
        if (!strcmp(m->params[k].file_name, name)) return &m->params[k];
    return NULL;
}

static gn_status *adapt_types(const gn_model *m, gn_tensor_file *f, const char *path, note *said)
{
    int converted[GN_ELEM_COUNT][GN_ELEM_COUNT] = {{0}};
    for (int k = 0; k < f->n; k++) {
        gn_named_tensor *t = &f->tensors[k];
        gn_elem from = t->elem;
        const gn_param *p = reader_of(m, t->name);
        if (!dtype_of(from) || !p || from == (gn_elem)p->type.elem) continue;
        GN_TRY(become(t, (gn_elem)p->type.elem, path));
        converted[from][p->type.elem]++;
    }
    for (int e = 0; e < GN_ELEM_COUNT * GN_ELEM_COUNT; e++) {
        int from = e / GN_ELEM_COUNT, to = e % GN_ELEM_COUNT, n = converted[from][to];
        if (n)
            say(said, "; %d tensor%s of %s %s %s", n, n == 1 ? "" : "s",
                gn_elem_name((gn_elem)from), n == 1 ? "becomes" : "become",
                to == GN_F64 ? "float64" : "float32");
    }
    return NULL;
}

gn_status *gn_weights_adapt(const gn_model *m, gn_tensor_file *f, const char *path)
{
    note said = {0};
    if (gn_tensor_file_meta(f, GN_STATE_KEY)) return NULL; /* gnnc's own: to the letter */
    GN_TRY(adapt_names(m, f, &said));
    GN_TRY(adapt_types(m, f, path, &said));
    if (!said.n) return NULL;
    char *text = strdup(said.text + 2); /* behind the first "; " */
    if (!text) GN_FAIL(GN_ERR_NOMEM, "out of memory: a note");
    free(f->note);
    f->note = text;
    return NULL;
}
