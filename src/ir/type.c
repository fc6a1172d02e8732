/* The operator table, spaces and types of a tensor-IR program. */
#include "ir/gir.h"

#include <string.h>

const gir_op_info gir_ops[GIR_OP_COUNT] = {
    [GIR_INVALID] = {"invalid", 0, GIR_CLASS_LEAF, "-",
                     "a misfit; no program that verifies has one"},
#define OP(id, text, arity, cls, attrs, doc)                                                       \
    [GIR_##id] = {text, arity, GIR_CLASS_##cls, attrs, doc},
#include "ir/ops.def"
#undef OP
};

gir_op gir_op_by_name(const char *text)
{
    for (int op = GIR_INVALID + 1; op < GIR_OP_COUNT; op++)
        if (strcmp(gir_ops[op].text, text) == 0) return (gir_op)op;
    return GIR_INVALID;
}

gir_program *gir_program_new(gn_arena *a, const char *name)
{
    gir_program *p = GN_NEW(a, gir_program);
    p->arena = a;
    p->name = gn_arena_strdup(a, name);
    GN_PUSH(a, p->nodes, (gir_node){0});
    GN_PUSH(a, p->spaces, ((gir_space){.name = "none", .kind = GIR_NONE, .size = 1}));
    GN_PUSH(a, p->layers, "");
    return p;
}

const char *const gir_way_name[GIR_WAYS] = {"forward", "backward", "optimizer"};

uint16_t gir_layer(gir_program *p, const char *path)
{
    for (uint32_t k = p->layers.n; k-- > 0;) /* the last are asked for most */
        if (!strcmp(p->layers.p[k], path)) return (uint16_t)k;
    if (p->layers.n > UINT16_MAX) return 0;
    GN_PUSH(p->arena, p->layers, path);
    return (uint16_t)(p->layers.n - 1);
}

bool gir_is_in_layer(const gir_program *p, gir_loc at)
{
    return at.layer && strcmp(p->layers.p[at.layer], GIR_LOSS) != 0;
}

/* Of a name like "node.3", where "node" is given, the number; 0 of "node" itself; -1 of others. */
static int64_t number_after(const char *name, const char *base)
{
    size_t n = strlen(base);
    if (strncmp(name, base, n) != 0) return -1;
    if (!name[n]) return 0;
    if (name[n] != '.' || name[n + 1] < '1' || name[n + 1] > '9') return -1;
    int64_t k = 0;
    for (name += n + 1; *name >= '0' && *name <= '9' && k <= UINT16_MAX; name++)
        k = 10 * k + (*name - '0');
    return *name ? -1 : k;
}

gir_space_id gir_space_add(gir_program *p, const char *name, gir_space_kind kind, int64_t size)
{
    uint32_t n = p->spaces.n, free = 0;
    if (n > UINT16_MAX) return 0;
    bool *taken = GN_NEW_N(p->arena, bool, n + 1); /* one of n + 1 numbers is free */
    for (uint32_t s = 0; s < n; s++) {
        int64_t k = number_after(p->spaces.p[s].name, name);
        if (k >= 0 && k <= n) taken[k] = true;
    }
    while (taken[free]) free++;
    const char *unique = free ? gn_arena_printf(p->arena, "%s.%u", name, free)
                              : gn_arena_strdup(p->arena, name);
    GN_PUSH(p->arena, p->spaces, ((gir_space){.name = unique, .kind = kind, .size = size}));
    return (gir_space_id)(p->spaces.n - 1);
}

int64_t gir_row_elems(const gir_type *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->rank; k++) n *= t->dim[k];
    return n;
}

bool gir_type_eq(const gir_type *a, const gir_type *b)
{
    if (a->is_graph != b->is_graph) return false;
    if (a->is_graph) return a->src == b->src && a->dst == b->dst && a->edge == b->edge;
    if (a->elem != b->elem || a->rank != b->rank || a->space != b->space) return false;
    for (int k = 0; k < a->rank; k++)
        if (a->dim[k] != b->dim[k]) return false;
    return true;
}

gir_type gir_tensor(gn_elem e, gir_space_id s, int rank, const int64_t *dim)
{
    gir_type t = {.elem = (uint8_t)e, .rank = (uint8_t)rank, .space = s};
    for (int k = 0; k < rank && k < GIR_MAX_RANK; k++) t.dim[k] = dim[k];
    return t;
}
