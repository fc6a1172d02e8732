/* Loop IR from text: recursive descent, one token ahead.  Any bytes are safe; the first error ends
 * it. */
#include "base/map.h"
#include "ir/kir_lex.h"
#include "ir/kir_ops.h"

#include <string.h>

typedef struct parser {
    kir_lexer in;
    const char *origin;
    kir_kernel *k;
    gn_map values;  /* digits of %n -> instruction */
    gn_map buffers; /* name -> number */
    int depth;
} parser;

static void next(parser *p) { kir_next(&p->in); }

/* Errors --------------------------------------------------------------------------------------- */

static gn_status *fail_at(const parser *p, const char *at, const char *what, const char *detail)
{
    int line = 1;
    const char *bol = p->in.text;
    for (const char *s = p->in.text; s < at; s++)
        if (*s == '\n') line++, bol = s + 1;
    return GN_ERROR(GN_ERR_MODEL, "%s:%d:%d: %s%s", p->origin, line, (int)(at - bol) + 1, what,
                    detail);
}

static gn_status *fail(const parser *p, const char *what, const char *detail)
{
    if (p->in.tok.kind == KIR_T_BAD && p->in.tok.text)
        return fail_at(p, p->in.tok.at, p->in.tok.text, "");
    return fail_at(p, p->in.tok.at, what, detail);
}

static gn_status *expected(const parser *p, const char *what) { return fail(p, "expected ", what); }

static bool is_sign(const parser *p, char c)
{
    return p->in.tok.kind == KIR_T_SIGN && p->in.tok.sign == c;
}
static bool is_word(const parser *p, const char *w)
{
    return p->in.tok.kind == KIR_T_WORD && !strcmp(p->in.tok.text, w);
}

static gn_status *sign(parser *p, char c)
{
    if (!is_sign(p, c)) return expected(p, (char[]){'\'', c, '\'', 0});
    next(p);
    return NULL;
}

static gn_status *word(parser *p, const char *w)
{
    if (!is_word(p, w)) return expected(p, w);
    next(p);
    return NULL;
}

static gn_status *integer(parser *p, int64_t *v)
{
    if (p->in.tok.kind != KIR_T_INT) return expected(p, "an integer");
    *v = p->in.tok.i;
    next(p);
    return NULL;
}

/* A word or a string. */
static gn_status *name(parser *p, const char **s)
{
    if (p->in.tok.kind != KIR_T_WORD && p->in.tok.kind != KIR_T_STRING)
        return expected(p, "a name");
    *s = p->in.tok.text;
    next(p);
    return NULL;
}

/* One of a list of words. */
static gn_status *choice(parser *p, const char *const *words, int n, const char *what, int *v)
{
    for (*v = 0; *v < n; ++*v)
        if (is_word(p, words[*v])) {
            next(p);
            return NULL;
        }
    return expected(p, what);
}

static gn_status *element(parser *p, uint8_t *e)
{
    for (int i = 0; i < GN_ELEM_COUNT; i++)
        if (is_word(p, gn_elem_name((gn_elem)i))) {
            *e = (uint8_t)i;
            next(p);
            return NULL;
        }
    return expected(p, "an element type");
}

/* Operands ------------------------------------------------------------------------------------- */

static gn_status *value_ref(parser *p, kir_id *v)
{
    if (p->in.tok.kind != KIR_T_VALUE) return expected(p, "a value");
    const uint32_t *id = gn_map_find(&p->values, p->in.tok.text);
    if (!id) return fail(p, "no value above has the number ", p->in.tok.text);
    *v = *id;
    next(p);
    return NULL;
}

static gn_status *symbol(parser *p, kir_cursor *c, kir_id *v)
{
    for (uint32_t i = 0; i < p->k->syms.n; i++)
        if (!strcmp(p->k->syms.p[i], p->in.tok.text)) {
            *v = kir_sym(p->k, c, (int)i);
            next(p);
            return NULL;
        }
    return fail(p, "no symbol is called ", p->in.tok.text);
}

/* %n, a literal or a symbol: constants and symbols become an instruction at the cursor. */
static gn_status *operand(parser *p, kir_cursor *c, kir_id *v)
{
    const kir_token *t = &p->in.tok;
    switch (t->kind) {
    case KIR_T_VALUE: return value_ref(p, v);
    case KIR_T_INT: *v = kir_iconst(p->k, c, t->i); break;
    case KIR_T_FLOAT: *v = kir_fconst(p->k, c, (gn_elem)t->i, t->f); break;
    case KIR_T_WORD:
        if (is_word(p, "true") || is_word(p, "false")) {
            *v = kir_bconst(p->k, c, *t->text == 't');
            break;
        }
        /* fall through */
    case KIR_T_STRING: return symbol(p, c, v);
    default: return expected(p, "an operand");
    }
    next(p);
    return NULL;
}

static gn_status *buffer_ref(parser *p, int64_t *b)
{
    if (p->in.tok.kind != KIR_T_BUFFER) return expected(p, "a buffer");
    const uint32_t *found = gn_map_find(&p->buffers, p->in.tok.text);
    if (!found) return fail(p, "no buffer is called ", p->in.tok.text);
    *b = *found;
    next(p);
    return NULL;
}

/* %tile[a] or %buffer[a] */
static gn_status *place(parser *p, kir_cursor *c, kir_inst *i)
{
    if (i->op == KIR_LOAD || i->op == KIR_STORE || i->op == KIR_PREFETCH)
        GN_TRY(buffer_ref(p, &i->imm));
    else
        GN_TRY(value_ref(p, &i->ref));
    GN_TRY(sign(p, '['));
    GN_TRY(operand(p, c, &i->a));
    return sign(p, ']');
}

/* Instructions --------------------------------------------------------------------------------- */

static gn_status *value(parser *p, kir_cursor *c, kir_inst *i)
{
    const kir_op_info *info = &kir_ops[i->op];
    kir_id *in[] = {&i->a, &i->b, &i->c};
    const char *at = p->in.tok.at;
    if (info->sig[0] == 'f' || info->sig[0] == 't' || info->sig[0] == '*')
        GN_TRY(element(p, &i->elem));
    for (int n = 0; n < info->n_in; n++) {
        if (n) GN_TRY(sign(p, ','));
        GN_TRY(operand(p, c, in[n]));
    }
    if (i->op == KIR_RANDOM) {
        GN_TRY(word(p, "site"));
        GN_TRY(integer(p, &i->imm));
        i->narrow = is_word(p, "narrow");
        if (i->narrow) GN_TRY(word(p, "narrow"));
    }
    kir_id typed = info->sig[0] == 'f' ? i->a : i->b;
    if ((info->sig[0] == 'f' || info->sig[0] == 't') && kir_at(p->k, typed)->elem != i->elem)
        return fail_at(p, at, "the operands are ",
                       gn_elem_name((gn_elem)kir_at(p->k, typed)->elem));
    return NULL;
}

static gn_status *load(parser *p, kir_cursor *c, kir_inst *i)
{
    const char *at = p->in.tok.at;
    GN_TRY(element(p, &i->elem));
    GN_TRY(place(p, c, i));
    gn_elem is = i->op == KIR_LOAD ? kir_widen(p->k->buffers.p[i->imm].elem)
                                   : kir_widen((gn_elem)kir_at(p->k, i->ref)->elem);
    if (is != i->elem) return fail_at(p, at, "what is loaded is ", gn_elem_name(is));
    return NULL;
}

static gn_status *kind(parser *p, kir_kind *out)
{
    for (int k = 0; k < KIR_KIND_COUNT; k++)
        if (is_word(p, kir_kinds[k].text)) {
            *out = (kir_kind)k;
            next(p);
            return NULL;
        }
    return expected(p, "what operands are rounded to (tf32, bf16 or f16)");
}

static gn_status *stride(parser *p, int *out)
{
    int64_t n;
    const char *at = p->in.tok.at;
    GN_TRY(integer(p, &n));
    if (n < 1 || n > KIR_MAX_STRIDE) return fail_at(p, at, "a stride is 1 to 4095", "");
    *out = (int)n;
    return NULL;
}

/* %tile[a] */
static gn_status *tile_place(parser *p, kir_cursor *c, kir_id *tile, kir_id *at)
{
    GN_TRY(value_ref(p, tile));
    GN_TRY(sign(p, '['));
    GN_TRY(operand(p, c, at));
    return sign(p, ']');
}

static gn_status *dot(parser *p, kir_cursor *c, kir_inst *i)
{
    GN_TRY(tile_place(p, c, &i->ref, &i->a));
    GN_TRY(sign(p, ','));
    GN_TRY(tile_place(p, c, &i->left, &i->b));
    GN_TRY(sign(p, ','));
    return tile_place(p, c, &i->right, &i->c);
}

/* As kir_print.c writes them. */
static gn_status *fragments(parser *p, kir_cursor *c, kir_inst *i)
{
    kir_mma m = {0};
    GN_TRY(kind(p, &m.kind));
    GN_TRY(tile_place(p, c, &i->ref, &i->a));
    GN_TRY(word(p, "by"));
    GN_TRY(stride(p, &m.lane));
    GN_TRY(sign(p, ','));
    GN_TRY(tile_place(p, c, &i->left, &i->b));
    GN_TRY(word(p, "by"));
    GN_TRY(stride(p, &m.left_row));
    GN_TRY(stride(p, &m.left_term));
    GN_TRY(sign(p, ','));
    GN_TRY(tile_place(p, c, &i->right, &i->c));
    GN_TRY(word(p, "by"));
    GN_TRY(stride(p, &m.right_col));
    GN_TRY(stride(p, &m.right_term));
    i->imm = kir_mma_pack(&m);
    return NULL;
}

static gn_status *rounded(parser *p, kir_cursor *c, kir_inst *i)
{
    kir_kind k = KIR_KIND_TF32;
    GN_TRY(kind(p, &k));
    i->imm = (int64_t)k;
    return operand(p, c, &i->a);
}

/* Everything after the name of the operation but a block. */
static gn_status *rest(parser *p, kir_cursor *c, kir_inst *i)
{
    int red;
    switch (i->op) {
    case KIR_IF: return operand(p, c, &i->a);
    case KIR_BARRIER: return NULL;
    case KIR_TILE: GN_TRY(element(p, &i->elem)); return integer(p, &i->imm);
    case KIR_LOAD:
    case KIR_TLOAD: return load(p, c, i);
    case KIR_PREFETCH: return place(p, c, i);
    case KIR_ROUND: return rounded(p, c, i);
    case KIR_TDOT: return dot(p, c, i);
    case KIR_MMA: return fragments(p, c, i);
    case KIR_TACC:
        GN_TRY(choice(p, kir_red_name, KIR_RED_COUNT, "sum, max or min", &red));
        i->imm = red;
        /* fall through */
    case KIR_STORE:
    case KIR_TSTORE:
    case KIR_TFMA:
        GN_TRY(place(p, c, i));
        GN_TRY(sign(p, ','));
        GN_TRY(operand(p, c, &i->b));
        if (i->op != KIR_TFMA) return NULL;
        GN_TRY(sign(p, ','));
        return operand(p, c, &i->c);
    default: return value(p, c, i);
    }
}

/* in a .. b step n unit race */
static gn_status *loop(parser *p, kir_cursor *c, kir_inst *i)
{
    int unit, race;
    GN_TRY(word(p, "in"));
    GN_TRY(operand(p, c, &i->a));
    if (p->in.tok.kind != KIR_T_DOTS) return expected(p, "..");
    next(p);
    GN_TRY(operand(p, c, &i->b));
    GN_TRY(word(p, "step"));
    GN_TRY(integer(p, &i->imm));
    GN_TRY(choice(p, kir_unit_name, KIR_UNIT_COUNT,
                  "a unit (serial, unroll, vector, thread, block, warp, lane)", &unit));
    GN_TRY(choice(p, kir_race_name, KIR_RACE_COUNT, "none, private, reduce or ordered", &race));
    i->unit = (uint8_t)unit;
    i->race = (uint8_t)race;
    return NULL;
}

static kir_op op_by_name(const char *s)
{
    for (int op = KIR_INVALID + 1; op < KIR_OP_COUNT; op++)
        if (op != KIR_CONST && op != KIR_SYM && !strcmp(kir_ops[op].text, s)) return (kir_op)op;
    return KIR_INVALID;
}

static gn_status *block(parser *p, kir_cursor *c);

/* "%n" in front of "=" or after "for": a name that is new. */
static gn_status *defined_name(parser *p, const char **digits)
{
    if (p->in.tok.kind != KIR_T_VALUE) return expected(p, "a value's number");
    if (gn_map_find(&p->values, p->in.tok.text))
        return fail(p, "there is a value above with the number ", p->in.tok.text);
    *digits = p->in.tok.text;
    next(p);
    return NULL;
}

static gn_status *instruction(parser *p, kir_cursor *c)
{
    const char *digits = NULL;
    kir_inst i = {0};
    if (p->in.tok.kind == KIR_T_VALUE) {
        GN_TRY(defined_name(p, &digits));
        GN_TRY(sign(p, '='));
    }
    if (p->in.tok.kind != KIR_T_WORD) return expected(p, "an instruction");
    kir_op op = op_by_name(p->in.tok.text);
    if (!op) return fail(p, "no instruction is called ", p->in.tok.text);
    i.op = (uint8_t)op;
    bool named = op == KIR_TILE || (kir_has_value(&i) && op != KIR_FOR);
    if (named != (digits != NULL))
        return fail(p, named ? "a value needs a number: %n = " : "no value: ", p->in.tok.text);
    next(p);
    if (op == KIR_FOR) {
        GN_TRY(defined_name(p, &digits));
        GN_TRY(loop(p, c, &i));
    } else {
        GN_TRY(rest(p, c, &i));
    }
    kir_id id = kir_emit(p->k, c, &i);
    if (digits) gn_map_put(&p->values, digits, id);
    if (op != KIR_FOR && op != KIR_IF) return NULL;
    kir_cursor body = {.owner = id};
    return block(p, &body);
}

static gn_status *block(parser *p, kir_cursor *c)
{
    if (++p->depth > KIR_MAX_DEPTH) return fail(p, "blocks are nested too deeply", "");
    GN_TRY(sign(p, '{'));
    while (!is_sign(p, '}')) {
        if (p->in.tok.kind == KIR_T_END) return expected(p, "'}'");
        GN_TRY(instruction(p, c));
    }
    next(p);
    p->depth--;
    return NULL;
}

/* Kernels -------------------------------------------------------------------------------------- */

static gn_status *size(parser *p, kir_size *s)
{
    *s = (kir_size){.coef = 1, .sym = -1};
    if (p->in.tok.kind == KIR_T_INT) {
        GN_TRY(integer(p, &s->coef));
    } else {
        const char *sym;
        GN_TRY(name(p, &sym));
        s->sym = kir_sym_add(p->k, sym);
        if (is_sign(p, '*')) {
            next(p);
            GN_TRY(integer(p, &s->coef));
        }
    }
    if (is_sign(p, '+')) {
        int64_t plus;
        next(p);
        const char *at = p->in.tok.at;
        GN_TRY(integer(p, &plus));
        if (plus > INT32_MAX || plus < INT32_MIN)
            return fail_at(p, at, "does not fit in 32 bits", "");
        s->plus = (int32_t)plus;
    }
    return NULL;
}

static gn_status *parameter(parser *p)
{
    static const char *const access[] = {"read", "write", "read_write"};
    if (is_word(p, "sym")) {
        const char *s;
        next(p);
        GN_TRY(name(p, &s));
        kir_sym_add(p->k, s);
        return NULL;
    }
    if (p->in.tok.kind != KIR_T_BUFFER) return expected(p, "a buffer or a symbol");
    const char *b = p->in.tok.text;
    if (gn_map_find(&p->buffers, b)) return fail(p, "two buffers are called ", b);
    next(p);
    GN_TRY(sign(p, ':'));
    uint8_t e = 0;
    kir_size s;
    int a;
    GN_TRY(element(p, &e));
    GN_TRY(sign(p, '['));
    GN_TRY(size(p, &s));
    GN_TRY(sign(p, ']'));
    GN_TRY(choice(p, access, 3, "read, write or read_write", &a));
    gn_map_put(&p->buffers, b,
               (uint32_t)kir_buffer_add(p->k, b, (gn_elem)e, (kir_access)(a + 1), s));
    return NULL;
}

static gn_status *hint(parser *p, const char *name, int *to)
{
    int64_t v;
    if (!is_word(p, name)) return NULL;
    next(p);
    GN_TRY(integer(p, &v));
    *to = v < 0 || v > KIR_MAX_THREADS ? -1 : (int)v; /* which does not verify */
    return NULL;
}

static gn_status *kernel(parser *p)
{
    GN_TRY(word(p, "kernel"));
    GN_TRY(sign(p, '@'));
    GN_TRY(name(p, &p->k->name));
    if (p->in.tok.kind == KIR_T_STRING) {
        p->k->comment = p->in.tok.text;
        next(p);
    }
    GN_TRY(hint(p, "lanes", &p->k->lanes));
    GN_TRY(hint(p, "threads", &p->k->threads));
    GN_TRY(sign(p, '('));
    for (bool first = true; !is_sign(p, ')'); first = false) {
        if (!first) GN_TRY(sign(p, ','));
        GN_TRY(parameter(p));
    }
    next(p);
    kir_cursor top = {0};
    GN_TRY(block(p, &top));
    return p->in.tok.kind == KIR_T_END ? NULL : expected(p, "the end");
}

gn_status *kir_parse(gn_arena *a, const char *text, size_t n, const char *origin, kir_kernel **out)
{
    parser p = {.in = {.arena = a, .text = text, .at = text, .end = text + n}, .origin = origin};
    if (n > INT32_MAX) GN_FAIL(GN_ERR_MODEL, "%s: %zu bytes are too many", origin, n);
    gn_map_init(&p.values, a);
    gn_map_init(&p.buffers, a);
    p.k = kir_kernel_new(a, "");
    next(&p);
    GN_TRY(kernel(&p));
    *out = p.k;
    return NULL;
}
