/* state_file: weights and what training keeps besides, to and from safetensors. */
#include "build/state_file.h"

#include <inttypes.h>
#include <string.h>

static const char format[] = "2";

gn_status *gn_state_same(const char *path, const gn_tensor_file *f, const char *key,
                         const char *what, const char *now)
{
    const char *was = gn_tensor_file_meta(f, key);
    if (was && !strcmp(was, now)) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: is of another %s: %s there, %s here", path, what,
            was && *was ? was : "none", *now ? now : "none");
}

/* Precision ------------------------------------------------------------------------------------ */

static const char precision_key[] = "precision";

const char *gn_precision_words(gn_arena *a, gn_numbers numbers, const char *wide)
{
    const char *name = gn_numbers_name[numbers];
    if (!numbers) return NULL;
    return wide ? gn_arena_printf(a, "%s, %s in float32", name, wide) : name;
}

gn_status *gn_state_put_precision(gn_tensor_file *f, const char *words)
{
    return words ? gn_tensor_file_add_meta(f, precision_key, words) : NULL;
}

gn_status *gn_state_check_precision(const char *path, const gn_tensor_file *f, const char *option,
                                    const char *now)
{
    const char *was = gn_tensor_file_meta(f, precision_key),
               *usual = gn_numbers_name[GN_NUMBERS_FLOAT32];
    if (!was) was = usual;
    if (!now) now = usual;
    if (!strcmp(was, now)) return NULL;
    GN_FAIL(GN_ERR_DATA, "%s: is of %s %s, not of %s; its weights alone may be loaded", path,
            option, was, now);
}

/* Tensors -------------------------------------------------------------------------------------- */

static bool is_parameter(const gn_model *m, const char *name)
{
    for (int k = 0; k < m->n_params; k++)
        if (!strcmp(m->params[k].name, name)) return true;
    return false;
}

static gn_status *put_words(const gn_model *m, gn_tensor_file *f)
{
    GN_TRY(gn_tensor_file_add_meta(f, GN_STATE_KEY, format));
    GN_TRY(gn_tensor_file_add_meta(f, "model", m->name));
    GN_TRY(gn_tensor_file_add_meta(f, "hyperparameters", m->hyperparameters));
    return gn_tensor_file_add_meta(f, "optimizer", m->optimizer);
}

gn_status *gn_state_put(const gn_model *m, const gn_state *s, gn_tensor_file *f)
{
    GN_TRY(put_words(m, f));
    GN_TRY(gn_weights_put(m, s, "", f));
    for (int k = 0; k < s->n; k++) {
        const gn_state_tensor *t = &s->tensors[k];
        int64_t elems = t->rows * t->row_elems;
        void *data;
        if (is_parameter(m, t->name)) continue;
        GN_TRY(gn_tensor_file_add(f, t->name, t->elem, 1, &elems, &data));
        gn_state_rows_out(t, data);
    }
    return NULL;
}

static gn_status *check_words(const gn_model *m, const char *path, const gn_tensor_file *f)
{
    const char *is = gn_tensor_file_meta(f, GN_STATE_KEY);
    if (!is) GN_FAIL(GN_ERR_DATA, "%s: is no saved state of training; it may hold weights", path);
    if (strcmp(is, format) != 0)
        GN_FAIL(GN_ERR_DATA, "%s: is a saved state of version %.32s; this gnnc reads version %s",
                path, is, format);
    GN_TRY(gn_state_same(path, f, "model", "model", m->name));
    GN_TRY(
        gn_state_same(path, f, "hyperparameters", "choice of hyperparameters", m->hyperparameters));
    return gn_state_same(path, f, "optimizer", "optimizer", m->optimizer);
}

static gn_status *check_kept(const gn_model *m, const gn_state *s, const char *path,
                             const gn_tensor_file *f)
{
    for (int k = 0; k < s->n; k++) {
        const gn_state_tensor *want = &s->tensors[k];
        if (is_parameter(m, want->name)) continue;
        const gn_named_tensor *t = gn_tensor_file_find(f, want->name);
        int64_t elems = want->rows * want->row_elems;
        if (!t) GN_FAIL(GN_ERR_DATA, "%s: there is no tensor '%s'", path, want->name);
        if (t->elem != want->elem || t->rank != 1 || t->dim[0] != elems)
            GN_FAIL(GN_ERR_DATA,
                    "%s: tensor '%s' has another shape or type: %s [%" PRId64 "] is expected", path,
                    want->name, gn_elem_name(want->elem), elems);
    }
    return NULL;
}

/* What nobody reads is of another model; names in programs are no names in files. */
static gn_status *check_nothing_else(const gn_model *m, const gn_state *s, const char *path,
                                     const gn_tensor_file *f)
{
    for (int k = 0; k < f->n; k++) {
        const char *name = f->tensors[k].name;
        bool known = !strncmp(name, GN_BEST_PREFIX, sizeof GN_BEST_PREFIX - 1);
        for (int i = 0; i < m->n_params && !known; i++)
            known = !strcmp(m->params[i].file_name, name);
        if (known || (gn_state_find(s, name) && !is_parameter(m, name))) continue;
        bool trains = gn_state_find(s, "rng.step") && strncmp(name, "opt.", 4) != 0;
        if (!trains && gn_tensor_file_find(f, "rng.step"))
            GN_FAIL(GN_ERR_DATA,
                    "%s: was saved with training's state, but %s was compiled without a training "
                    "step; weights alone "
                    "can be "
                    "loaded",
                    path, m->name);
        GN_FAIL(GN_ERR_DATA,
                "%s: holds a tensor '%.128s' that %s does not keep: it is of another model", path,
                name, m->name);
    }
    return NULL;
}

gn_status *gn_state_take(const gn_model *m, gn_state *s, const char *path, const gn_tensor_file *f)
{
    GN_TRY(check_words(m, path, f));
    GN_TRY(gn_weights_fit(m, f, path, ""));
    GN_TRY(check_kept(m, s, path, f));
    GN_TRY(check_nothing_else(m, s, path, f));
    GN_TRY(gn_weights_take(m, f, path, "", s));
    for (int k = 0; k < s->n; k++) {
        const gn_state_tensor *t = &s->tensors[k];
        if (is_parameter(m, t->name)) continue;
        gn_state_rows_in(t, gn_tensor_file_find(f, t->name)->data);
    }
    return NULL;
}
