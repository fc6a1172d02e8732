/* Loop IR as text.  Takes broken kernels too, since that is when one wants to read them: what
 * cannot be named is written as %?id. */
#include "ir/kir.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct printer {
    const kir_kernel *k;
    gn_buf *out;
    uint32_t *num; /* of an instruction: its number in the text; 0 = none */
    bool *seen;    /* broken kernels may have cycles */
    uint32_t last;
} printer;

static bool is_named(const kir_inst *i)
{
    return i->op == KIR_TILE || (kir_has_value(i) && i->op != KIR_CONST && i->op != KIR_SYM);
}

static void number_block(printer *p, kir_id at, int depth)
{
    for (; at && at < p->k->insts.n && !p->seen[at] && depth <= KIR_MAX_DEPTH;
         at = kir_at(p->k, at)->next) {
        const kir_inst *i = kir_at(p->k, at);
        p->seen[at] = true;
        if (is_named(i)) p->num[at] = ++p->last;
        if (i->body) number_block(p, i->body, depth + 1);
    }
}

static printer start(const kir_kernel *k, gn_buf *out)
{
    printer p = {.k = k, .out = out};
    p.num = GN_NEW_N(out->arena, uint32_t, k->insts.n + 1u);
    p.seen = GN_NEW_N(out->arena, bool, k->insts.n + 1u);
    number_block(&p, k->top, 0);
    memset(p.seen, 0, k->insts.n);
    return p;
}

/* Text is the key of code that is kept, so it is made at every start: numbers without printf. */
static void number(gn_buf *out, const char *before, int64_t v)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0) *--at = '-';
    gn_buf_add(out, before);
    gn_buf_addn(out, at, (size_t)(digits + sizeof digits - at));
}

static void words(gn_buf *out, const char *a, const char *b)
{
    gn_buf_add(out, a);
    gn_buf_add(out, b);
}

static void indent(gn_buf *out, int depth)
{
    static const char blanks[] = "                                ";
    for (size_t n = 2 * (size_t)depth, some; n; n -= some) {
        some = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        gn_buf_addn(out, blanks, some);
    }
}

/* Names and literals --------------------------------------------------------------------------- */

static bool is_word(const char *s)
{
    static const char *const taken[] = {"true", "false", "inf", "nan", "sym"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(s, taken[i])) return false;
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_' &&
            !(*s == '.' && isalnum((unsigned char)s[1])))
            return false;
    return true;
}

static void quoted(gn_buf *out, const char *s)
{
    gn_buf_add(out, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            gn_buf_printf(out, "\\%c", c);
        else if (c == '\n')
            gn_buf_add(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            gn_buf_printf(out, "\\x%02x", c);
        else
            gn_buf_addn(out, s, 1);
    }
    gn_buf_add(out, "\"");
}

static void name(gn_buf *out, const char *s)
{
    if (!s) s = "";
    if (is_word(s))
        gn_buf_add(out, s);
    else
        quoted(out, s);
}

static const char *elem_text(unsigned e)
{
    return e < GN_ELEM_COUNT ? gn_elem_name((gn_elem)e) : "?";
}

static void literal(gn_buf *out, const kir_inst *i)
{
    if (i->elem == GN_BOOL) {
        gn_buf_add(out, i->imm ? "true" : "false");
    } else if (i->elem == GN_F32 || i->elem == GN_F64) {
        char t[40];
        if (isnan(i->fimm)) {
            snprintf(t, sizeof t, "nan");
        } else {
            /* the fewest of 6, 9, 17 that are exact */
            for (int digits = 6; digits <= 17; digits += digits == 6 ? 3 : 8) {
                snprintf(t, sizeof t, "%.*g", digits, i->fimm);
                if (strtod(t, NULL) == i->fimm) break;
            }
            if (!strpbrk(t, ".ein")) strcat(t, ".0");
        }
        gn_buf_printf(out, "%s%s", t, i->elem == GN_F64 ? ":f64" : "");
    } else {
        number(out, "", i->imm);
    }
}

static void operand(printer *p, kir_id v)
{
    const kir_inst *i = v && v < p->k->insts.n ? kir_at(p->k, v) : NULL;
    if (i && i->op == KIR_CONST)
        literal(p->out, i);
    else if (i && i->op == KIR_SYM && i->imm >= 0 && i->imm < p->k->syms.n)
        name(p->out, p->k->syms.p[i->imm]);
    else
        number(p->out, i && p->num[v] ? "%" : "%?", i && p->num[v] ? p->num[v] : v);
}

static void buffer(printer *p, int64_t b)
{
    gn_buf_add(p->out, "%");
    if (b >= 0 && b < p->k->buffers.n)
        name(p->out, p->k->buffers.p[b].name);
    else
        gn_buf_printf(p->out, "?%lld", (long long)b);
}

/* "[a]", or "%tile[a]" and "%buffer[a]" */
static void place(printer *p, const kir_inst *i)
{
    if (i->op == KIR_LOAD || i->op == KIR_STORE || i->op == KIR_PREFETCH)
        buffer(p, i->imm);
    else
        operand(p, i->ref);
    gn_buf_add(p->out, "[");
    operand(p, i->a);
    gn_buf_add(p->out, "]");
}

/* Instructions --------------------------------------------------------------------------------- */

static void value(printer *p, const kir_inst *i)
{
    const kir_op_info *info = &kir_ops[i->op];
    const kir_id in[] = {i->a, i->b, i->c};
    if (info->sig[0] == 'f' || info->sig[0] == 't' || info->sig[0] == '*')
        words(p->out, " ", elem_text(i->elem));
    for (int n = 0; n < info->n_in; n++) {
        gn_buf_add(p->out, n ? ", " : " ");
        operand(p, in[n]);
    }
    if (i->op == KIR_RANDOM) number(p->out, " site ", i->imm);
    if (i->op == KIR_RANDOM && i->narrow) gn_buf_add(p->out, " narrow");
}

static const char *kind_text(int64_t kind)
{
    return kind >= 0 && kind < KIR_KIND_COUNT ? kir_kinds[kind].text : "?";
}

static void tile_place(printer *p, kir_id tile, kir_id at)
{
    operand(p, tile);
    gn_buf_add(p->out, "[");
    operand(p, at);
    gn_buf_add(p->out, "]");
}

/* %to[a], %left[b], %right[c] */
static void dot(printer *p, const kir_inst *i)
{
    gn_buf_add(p->out, " ");
    tile_place(p, i->ref, i->a);
    gn_buf_add(p->out, ", ");
    tile_place(p, i->left, i->b);
    gn_buf_add(p->out, ", ");
    tile_place(p, i->right, i->c);
}

/* kind %to[a] by lane, %left[b] by row term, %right[c] by column term */
static void fragments(printer *p, const kir_inst *i)
{
    kir_mma m = kir_mma_of(i->imm);
    gn_buf_printf(p->out, " %s ", kind_text((int64_t)m.kind));
    tile_place(p, i->ref, i->a);
    gn_buf_printf(p->out, " by %d, ", m.lane);
    tile_place(p, i->left, i->b);
    gn_buf_printf(p->out, " by %d %d, ", m.left_row, m.left_term);
    tile_place(p, i->right, i->c);
    gn_buf_printf(p->out, " by %d %d", m.right_col, m.right_term);
}

static void loop(printer *p, const kir_inst *i)
{
    gn_buf_add(p->out, " in ");
    operand(p, i->a);
    gn_buf_add(p->out, " .. ");
    operand(p, i->b);
    number(p->out, " step ", i->imm);
    words(p->out, " ", i->unit < KIR_UNIT_COUNT ? kir_unit_name[i->unit] : "?");
    words(p->out, " ", i->race < KIR_RACE_COUNT ? kir_race_name[i->race] : "?");
}

static void line(printer *p, kir_id at)
{
    const kir_inst *i = kir_at(p->k, at);
    const char *op = i->op < KIR_OP_COUNT ? kir_ops[i->op].text : "?";
    if (i->op == KIR_FOR) {
        number(p->out, "for %", p->num[at]);
        loop(p, i);
        return;
    }
    if (is_named(i)) number(p->out, "%", p->num[at]);
    words(p->out, is_named(i) ? " = " : "", op);
    switch (i->op < KIR_OP_COUNT ? i->op : KIR_INVALID) {
    case KIR_INVALID:
    case KIR_BARRIER: break;
    case KIR_CONST: gn_buf_add(p->out, " "), literal(p->out, i); break;
    case KIR_SYM: number(p->out, " ", i->imm); break;
    case KIR_TILE:
        words(p->out, " ", elem_text(i->elem));
        number(p->out, " ", i->imm);
        break;
    case KIR_LOAD:
    case KIR_TLOAD:
        words(p->out, " ", elem_text(i->elem));
        gn_buf_add(p->out, " ");
        place(p, i);
        break;
    case KIR_ROUND: gn_buf_printf(p->out, " %s ", kind_text(i->imm)), operand(p, i->a); break;
    case KIR_TDOT: dot(p, i); break;
    case KIR_MMA: fragments(p, i); break;
    case KIR_TACC:
        words(p->out, " ", i->imm >= 0 && i->imm < KIR_RED_COUNT ? kir_red_name[i->imm] : "?");
        /* fall through */
    case KIR_STORE:
    case KIR_TSTORE:
    case KIR_TFMA:
    case KIR_PREFETCH:
        gn_buf_add(p->out, " ");
        place(p, i);
        if (i->op != KIR_PREFETCH) gn_buf_add(p->out, ", "), operand(p, i->b);
        if (i->op == KIR_TFMA) gn_buf_add(p->out, ", "), operand(p, i->c);
        break;
    default: value(p, i); break;
    }
}

static void block(printer *p, kir_id at, int depth)
{
    for (; at && at < p->k->insts.n; at = kir_at(p->k, at)->next) {
        const kir_inst *i = kir_at(p->k, at);
        if (p->seen[at] || depth > KIR_MAX_DEPTH) {
            gn_buf_printf(p->out, "%*s; broken: %%?%u again, or nested too deeply\n", 2 * depth, "",
                          at);
            return;
        }
        p->seen[at] = true;
        if (i->op == KIR_CONST || i->op == KIR_SYM) continue;
        indent(p->out, depth);
        line(p, at);
        if (i->op == KIR_FOR || i->op == KIR_IF) {
            gn_buf_add(p->out, " {\n");
            block(p, i->body, depth + 1);
            indent(p->out, depth);
            gn_buf_add(p->out, "}");
        }
        gn_buf_add(p->out, "\n");
    }
}

/* Kernels -------------------------------------------------------------------------------------- */

static void declare(gn_buf *out, const kir_kernel *k, const kir_buffer *b)
{
    static const char *const access[] = {"?", "read", "write", "read_write"};
    const kir_size *s = &b->size;
    gn_buf_add(out, "  %");
    name(out, b->name);
    words(out, ": ", elem_text(b->elem));
    gn_buf_add(out, "[");
    if (s->sym < 0) {
        number(out, "", s->coef);
    } else {
        name(out, (uint32_t)s->sym < k->syms.n ? k->syms.p[s->sym] : "?");
        if (s->coef != 1) number(out, " * ", s->coef);
    }
    if (s->plus) number(out, " + ", s->plus);
    words(out, "] ", access[b->access & 3]);
}

void kir_print(const kir_kernel *k, gn_buf *out)
{
    printer p = start(k, out);
    gn_buf_add(out, "kernel @");
    name(out, k->name);
    if (k->comment) gn_buf_add(out, " "), quoted(out, k->comment);
    if (k->lanes) number(out, " lanes ", k->lanes);
    if (k->threads) number(out, " threads ", k->threads);
    gn_buf_add(out, " (");
    const char *sep = "\n  ";
    for (uint32_t i = 0; i < k->syms.n; i++, sep = ", ") {
        words(out, sep, "sym ");
        name(out, k->syms.p[i]);
    }
    sep = k->syms.n ? ",\n" : "\n";
    for (uint32_t i = 0; i < k->buffers.n; i++, sep = ",\n") {
        gn_buf_add(out, sep);
        declare(out, k, &k->buffers.p[i]);
    }
    gn_buf_add(out, "\n) {\n");
    block(&p, k->top, 1);
    gn_buf_add(out, "}\n");
}

void kir_print_inst(const kir_kernel *k, kir_id i, gn_buf *out)
{
    printer p = start(k, out);
    if (i && i < k->insts.n)
        line(&p, i);
    else
        gn_buf_printf(out, "%%?%u", i);
}
