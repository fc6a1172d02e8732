/* weights: a model's parameters to and from safetensors, under the names and layouts of PyTorch
 * Geometric. */
#include "build/state_file.h"
#include "passes/learning_rate.h"

#include "base/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter [d0, rest] lies in files as [rest, d0] where it says so; otherwise as it is. */
static void turn(const gn_param *p, bool to_file, const void *from, void *to)
{
    int64_t n = p->rows * gir_row_elems(&p->type), d0 = p->type.dim[0], rest = n / (d0 ? d0 : 1);
    size_t size = gn_elem_size((gn_elem)p->type.elem);
    for (int64_t i = 0; i < d0; i++)
        for (int64_t j = 0; j < rest; j++) {
            size_t here = (size_t)(i * rest + j), there = (size_t)(j * d0 + i);
            size_t at = (to_file ? there : here) * size, of = (to_file ? here : there) * size;
            memcpy((char *)to + at, (const char *)from + of, size);
        }
}

/* The name in files, behind a prefix; in the buffer where there is one. */
static const char *file_name(const gn_param *p, const char *prefix, char *buffer, size_t size)
{
    if (!*prefix) return p->file_name;
    snprintf(buffer, size, "%s%s", prefix, p->file_name);
    return buffer;
}

enum { MAX_NAME = 1024 };

gn_status *gn_weights_put(const gn_model *m, const gn_state *s, const char *prefix,
                          gn_tensor_file *f)
{
    char buffer[MAX_NAME];
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        void *data;
        GN_TRY(gn_tensor_file_add(f, file_name(p, prefix, buffer, sizeof buffer),
                                  (gn_elem)p->type.elem, p->file_rank, p->file_dim, &data));
        const gn_state_tensor *t = gn_state_find(s, p->name);
        if (p->transposed)
            turn(p, true, t->data, data);
        else
            gn_state_rows_out(t, data);
    }
    return NULL;
}

gn_status *gn_weights_check(const gn_model *m, const gn_state *s)
{
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        const void *data = gn_state_find(s, p->name)->data;
        for (int64_t i = 0, n = p->rows * gir_row_elems(&p->type); i < n; i++) {
            double x = gn_fill_load(data, (gn_elem)p->type.elem, i);
            if (isnan(x) || (p->trainable && isinf(x)))
                GN_FAIL(GN_ERR_MODEL,
                        "weights are not finite after training: '%s' has %s; try a smaller "
                        "learning rate or gradient "
                        "clipping",
                        p->file_name, isnan(x) ? "a NaN" : "an infinity");
        }
    }
    return NULL;
}

gn_status *gn_weights_save(const gn_model *m, const gn_state *s, const char *path)
{
    gn_tensor_file *f;
    GN_TRY(gn_tensor_file_new(&f));
    gn_status *status = gn_weights_put(m, s, "", f);
    if (!status) status = gn_safetensors_write(path, f);
    gn_tensor_file_free(f);
    return status;
}

static void shape_text(char *out, size_t size, int rank, const int64_t *dim)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int k = 0; k < rank && n < size; k++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", k ? ", " : "", (long long)dim[k]);
    if (n < size) snprintf(out + n, size - n, "]");
}

static gn_status *missing(const char *path, const gn_tensor_file *f, const char *name)
{
    const char **names = calloc((size_t)f->n + 1, sizeof *names);
    for (int k = 0; names && k < f->n; k++) names[k] = f->tensors[k].name;
    const char *near = names ? gn_nearest(name, names, (size_t)f->n) : NULL;
    free(names);
    if (near)
        GN_FAIL(GN_ERR_DATA, "%s: there is no tensor '%s'; did you mean '%s'?", path, name, near);
    enum { SHOWN = 3 };
    char have[256] = "";
    size_t n = 0;
    for (int k = 0; k < f->n && k < SHOWN && n < sizeof have; k++)
        n += (size_t)snprintf(have + n, sizeof have - n, "%s'%.64s'", k ? ", " : ": ",
                              f->tensors[k].name);
    GN_FAIL(GN_ERR_DATA, "%s: there is no tensor '%s' (it has %d tensor%s%s%s)", path, name, f->n,
            f->n == 1 ? "" : "s", have, f->n > SHOWN ? ", ..." : "");
}

/* torch counts the batches that a norm has seen, which nothing here needs. */
static bool is_counter(const char *name)
{
    static const char end[] = "num_batches_tracked";
    size_t n = strlen(name), m = sizeof end - 1;
    return n >= m && !strcmp(name + n - m, end);
}

static bool is_read(const gn_model *m, const char *name)
{
    for (int k = 0; k < m->n_params; k++)
        if (!strcmp(m->params[k].file_name, name)) return true;
    return is_counter(name);
}

void gn_weights_unread(const gn_model *m, const gn_tensor_file *f, char text[GN_UNREAD])
{
    enum { SHOWN = 3 };
    size_t n = 0;
    int unread = 0;
    *text = 0;
    /* beside the weights there is what training keeps */
    bool state = gn_tensor_file_meta(f, GN_STATE_KEY);
    for (int k = 0; k < f->n; k++) {
        if (state || is_read(m, f->tensors[k].name)) continue;
        if (unread++ < SHOWN)
            n += (size_t)snprintf(text + n, GN_UNREAD - n, "%s%.64s", unread > 1 ? ", " : "",
                                  f->tensors[k].name);
    }
    if (unread > SHOWN) snprintf(text + n, GN_UNREAD - n, " and %d more", unread - SHOWN);
}

static gn_status *check_one(const char *path, const gn_tensor_file *f, const gn_param *p,
                            const char *name)
{
    const gn_named_tensor *t = gn_tensor_file_find(f, name);
    if (!t) return missing(path, f, name);
    gn_elem elem = (gn_elem)p->type.elem;
    bool fits = t->rank == p->file_rank && t->elem == elem;
    for (int d = 0; fits && d < t->rank; d++) fits = t->dim[d] == p->file_dim[d];
    if (!fits) {
        char want[160], have[160];
        shape_text(want, sizeof want, p->file_rank, p->file_dim);
        shape_text(have, sizeof have, t->rank, t->dim);
        bool sizes = t->rank == p->file_rank && t->elem == elem;
        GN_FAIL(GN_ERR_DATA, "%s: tensor '%s' is %s %s, expected %s %s%s", path, name,
                gn_elem_name(t->elem), have, gn_elem_name(elem), want,
                sizes ? "; sizes come of the data and of hyperparameters (-D), which training had "
                        "others of"
                      : "");
    }
    return NULL;
}

gn_status *gn_weights_fit(const gn_model *m, const gn_tensor_file *f, const char *path,
                          const char *prefix)
{
    char buffer[MAX_NAME];
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        GN_TRY(check_one(path, f, p, file_name(p, prefix, buffer, sizeof buffer)));
    }
    return NULL;
}

gn_status *gn_weights_take(const gn_model *m, const gn_tensor_file *f, const char *path,
                           const char *prefix, gn_state *s)
{
    char buffer[MAX_NAME];
    GN_TRY(gn_weights_fit(m, f, path, prefix));
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        const char *name = file_name(p, prefix, buffer, sizeof buffer);
        const gn_state_tensor *t = gn_state_find(s, p->name);
        const void *from = gn_tensor_file_find(f, name)->data;
        if (p->transposed)
            turn(p, false, from, t->data);
        else
            gn_state_rows_in(t, from);
    }
    return NULL;
}

/* States --------------------------------------------------------------------------------------- */

static void number(const gn_model *m, gn_state *s, const char *name, const char *over)
{
    gn_state_number(s, name, gn_schema_row_of(m->schema, over));
}

static gn_status *add_program(const gn_model *m, const gir_program *p, gn_state *s)
{
    if (!p) return NULL;
    for (gir_id v = 1; v < p->nodes.n; v++) {
        const gir_node *n = gir_at(p, v);
        if (n->op != GIR_STATE || gn_state_find(s, n->attr.name)) continue;
        int64_t rows = 1;
        if (n->type.space) {
            const char *over = p->spaces.p[n->type.space].name;
            rows = gn_schema_rows(m->schema, over);
            if (rows < 0) GN_FAIL(GN_ERR_INTERNAL, "state '%s' is over unknown rows", n->attr.name);
        }
        GN_TRY(gn_state_add(s, n->attr.name, (gn_elem)n->type.elem, rows, gir_row_elems(&n->type)));
        if (n->type.space) number(m, s, n->attr.name, p->spaces.p[n->type.space].name);
    }
    return NULL;
}

gn_status *gn_model_add_state(const gn_model *m, const gn_build *b, gn_state *s)
{
    for (int k = 0; k < m->n_params; k++) {
        const gn_param *p = &m->params[k];
        GN_TRY(gn_state_add(s, p->name, (gn_elem)p->type.elem, p->rows, gir_row_elems(&p->type)));
        if (p->over) number(m, s, p->name, p->over);
    }
    GN_TRY(add_program(m, m->eval, s));
    GN_TRY(add_program(m, b->rows_gir, s)); /* which draws edges */
    GN_TRY(add_program(m, b->step_gir, s));
    GN_TRY(add_program(m, b->gradient_gir, s));
    GN_TRY(gn_plateau_add_state(m, b, s));
    return add_program(m, m->validate, s);
}

gn_fill gn_param_fill(const gn_param *p)
{
    static const gn_fill_kind kinds[] = {[GN_INIT_ZEROS] = GN_FILL_ZEROS,
                                         [GN_INIT_ONES] = GN_FILL_ONES,
                                         [GN_INIT_CONSTANT] = GN_FILL_CONSTANT,
                                         [GN_INIT_UNIFORM] = GN_FILL_UNIFORM,
                                         [GN_INIT_NORMAL] = GN_FILL_NORMAL,
                                         [GN_INIT_TRUNC_NORMAL] = GN_FILL_TRUNC_NORMAL,
                                         [GN_INIT_LIST] = GN_FILL_LIST,
                                         [GN_INIT_EYE] = GN_FILL_EYE,
                                         [GN_INIT_ORTHOGONAL] = GN_FILL_ORTHOGONAL,
                                         [GN_INIT_SPARSE] = GN_FILL_SPARSE};
    return (gn_fill){.kind = kinds[p->init],
                     .a = p->a,
                     .b = p->b,
                     .low = p->low,
                     .high = p->high,
                     .rows = p->file_rank ? p->file_dim[0] : 1,
                     .turned = p->transposed ? p->type.dim[0] : 0,
                     .list = p->list};
}

static gn_status *widen(gn_arena *a, gir_program **p)
{
    return *p ? gn_pass_widen(a, *p, p) : NULL;
}

gn_status *gn_model_widen(gn_arena *a, gn_model *m)
{
    for (int k = 0; k < m->n_params; k++)
        if (m->params[k].type.elem == GN_F32) m->params[k].type.elem = GN_F64;
    GN_TRY(widen(a, &m->eval));
    GN_TRY(widen(a, &m->loss));
    GN_TRY(widen(a, &m->forward));
    return widen(a, &m->validate);
}

static gn_status *code(gn_arena *a, gir_program **p, const char *input, gn_elem codes)
{
    return *p ? gn_pass_code_input(a, *p, input, codes, p) : NULL;
}

gn_status *gn_model_code_input(gn_arena *a, gn_model *m, const char *input, gn_elem codes)
{
    GN_TRY(code(a, &m->eval, input, codes));
    GN_TRY(code(a, &m->loss, input, codes));
    GN_TRY(code(a, &m->forward, input, codes));
    return code(a, &m->validate, input, codes);
}

bool gn_model_reads_exactly(gn_arena *a, const gn_model *m, const char *input)
{
    const gir_program *const of[] = {m->eval, m->loss, m->forward, m->validate};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        if (!of[k]) continue;
        const bool *compared = gn_find_compared(a, of[k], true);
        for (gir_id v = 1; v < of[k]->nodes.n; v++) {
            const gir_node *n = gir_at(of[k], v);
            if (n->op == GIR_INPUT && compared[v] && !strcmp(n->attr.name, input)) return true;
        }
    }
    return false;
}

gn_status *gn_model_reset(const gn_model *m, gn_state *s, uint64_t seed)
{
    gn_fill zeros = {.kind = GN_FILL_ZEROS};
    for (int k = 0; k < s->n; k++) GN_TRY(gn_state_fill(s, s->tensors[k].name, zeros, seed));
    for (int k = 0; k < m->n_params; k++)
        GN_TRY(gn_state_fill(s, m->params[k].name, gn_param_fill(&m->params[k]), seed));
    if (gn_state_find(s, GN_STATE_RATE)) GN_TRY(gn_state_set_float(s, GN_STATE_RATE, m->train.lr));
    return gn_state_find(s, "rng.seed") ? gn_state_set_int(s, "rng.seed", (int64_t)seed) : NULL;
}

gn_status *gn_read_model(gn_arena *a, const char *path, const char **text, size_t *n)
{
    enum { LIMIT = 16 << 20 };
    FILE *f = fopen(path, "rb");
    if (!f) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(errno));
    gn_buf b = {.arena = a};
    char part[4096];
    size_t got;
    gn_buf_add(&b, "");
    while ((got = fread(part, 1, sizeof part, f)) > 0 && b.n < LIMIT) gn_buf_addn(&b, part, got);
    int error = ferror(f) ? errno : 0;
    fclose(f);
    if (error) GN_FAIL(GN_ERR_IO, "%s: %s", path, strerror(error));
    if (b.n >= LIMIT)
        GN_FAIL(GN_ERR_MODEL, "%s: longer than %d bytes, which no model is", path, LIMIT);
    *text = b.p;
    *n = b.n;
    return NULL;
}
