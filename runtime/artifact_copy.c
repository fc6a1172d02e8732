#include "runtime/artifact.h"

#include <string.h>

/* n elements of `size` bytes. */
static void *copy(gn_arena *a, const void *from, size_t n, size_t size)
{
    void *to = gn_arena_alloc(a, n + 1, size);
    if (n) memcpy(to, from, n * size);
    return to;
}

static const char *word(gn_arena *a, const char *s) { return s ? gn_arena_strdup(a, s) : NULL; }

static void copy_launches(gn_arena *a, gn_artifact *to)
{
    to->launches = copy(a, to->launches, (size_t)to->n_launches, sizeof *to->launches);
    for (int k = 0; k < to->n_launches; k++) {
        gn_launch *l = &to->launches[k];
        l->name = word(a, l->name);
        l->buf = copy(a, l->buf, (size_t)l->n_buf, sizeof *l->buf);
        l->sym = copy(a, l->sym, (size_t)l->n_sym, sizeof *l->sym);
        if (l->access) l->access = copy(a, l->access, (size_t)l->n_buf, sizeof *l->access);
        if (l->product) l->product = copy(a, l->product, 1, sizeof *l->product);
    }
}

static void copy_graphs(gn_arena *a, gn_artifact *to)
{
    to->graphs = copy(a, to->graphs, (size_t)to->n_graphs, sizeof *to->graphs);
    for (int k = 0; k < to->n_graphs; k++) {
        gn_graph_slot *g = &to->graphs[k];
        g->name = word(a, g->name);
        g->mask_of = word(a, g->mask_of);
        g->pattern_of = word(a, g->pattern_of);
        g->rows.input = word(a, g->rows.input);
        for (int j = 0; j < 2; j++) g->key_of[j] = word(a, g->key_of[j]);
    }
}

gn_artifact *gn_artifact_copy(gn_arena *a, const gn_artifact *from)
{
    gn_artifact *to = copy(a, from, 1, sizeof *from);
    to->name = word(a, from->name);
    to->syms = copy(a, from->syms, (size_t)from->n_syms, sizeof *to->syms);
    to->slots = copy(a, from->slots, (size_t)from->n_slots, sizeof *to->slots);
    to->checks = copy(a, from->checks, (size_t)from->n_checks, sizeof *to->checks);
    to->columns = copy(a, from->columns, (size_t)from->n_columns, sizeof *to->columns);
    to->code = copy(a, from->code, (size_t)from->n_code, sizeof *to->code);
    copy_launches(a, to);
    copy_graphs(a, to);
    for (int k = 0; k < to->n_syms; k++) to->syms[k].name = word(a, to->syms[k].name);
    for (int k = 0; k < to->n_slots; k++) to->slots[k].name = word(a, to->slots[k].name);
    for (int k = 0; k < to->n_columns; k++) {
        gn_data_column *c = &to->columns[k];
        c->name = word(a, c->name);
        c->rows.input = word(a, c->rows.input);
    }
    return to;
}
