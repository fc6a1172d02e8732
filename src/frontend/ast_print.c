/* gn_ast_print: the tree as text, one declaration after another; expressions with all their
 * parentheses. */
#include "frontend/ast.h"

static void print_expr(const ast_expr *e, gn_buf *b);

static void print_args(const ast_args *args, gn_buf *b)
{
    for (uint32_t i = 0; i < args->n; i++) {
        if (i) gn_buf_add(b, ", ");
        if (args->p[i].name) gn_buf_printf(b, "%s = ", args->p[i].name);
        print_expr(args->p[i].value, b);
    }
}

static void print_string(const char *s, gn_buf *b)
{
    gn_buf_add(b, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') gn_buf_add(b, "\\");
        gn_buf_addn(b, s, 1);
    }
    gn_buf_add(b, "\"");
}

static void print_compound(const ast_expr *e, gn_buf *b)
{
    switch (e->kind) {
    case EXPR_BINARY:
        gn_buf_add(b, "(");
        print_expr(e->a, b);
        gn_buf_printf(b, " %s ", ast_binary_text[e->op]);
        print_expr(e->b, b);
        gn_buf_add(b, ")");
        return;
    case EXPR_COND:
        gn_buf_add(b, "(");
        print_expr(e->a, b);
        gn_buf_add(b, " ? ");
        print_expr(e->b, b);
        gn_buf_add(b, " : ");
        print_expr(e->c, b);
        gn_buf_add(b, ")");
        return;
    case EXPR_EACH:
        gn_buf_add(b, "[");
        print_expr(e->a, b);
        gn_buf_printf(b, " for %s in ", e->name);
        print_expr(e->b, b);
        gn_buf_add(b, "]");
        return;
    case EXPR_MESSAGE:
        if (e->c)
            print_expr(e->c, b);
        else
            gn_buf_add(b, e->name);
        gn_buf_printf(b, "(%s -> %s in ", e->from, e->to);
        print_expr(e->a, b);
        gn_buf_add(b, ": ");
        print_expr(e->b, b);
        gn_buf_add(b, e->args.n ? ", " : "");
        print_args(&e->args, b);
        gn_buf_add(b, ")");
        return;
    default: return;
    }
}

static void print_expr(const ast_expr *e, gn_buf *b)
{
    switch (e->kind) {
    case EXPR_INT: gn_buf_printf(b, "%lld", (long long)e->u.i); return;
    case EXPR_FLOAT: gn_buf_printf(b, "%.17g", e->u.f); return;
    case EXPR_STRING: print_string(e->name, b); return;
    case EXPR_BOOL: gn_buf_add(b, e->u.truth ? "true" : "false"); return;
    case EXPR_NONE: gn_buf_add(b, "none"); return;
    case EXPR_NAME: gn_buf_add(b, e->name); return;
    case EXPR_NEG:
    case EXPR_NOT:
        gn_buf_add(b, e->kind == EXPR_NEG ? "(-" : "(not ");
        print_expr(e->a, b);
        gn_buf_add(b, ")");
        return;
    case EXPR_CALL:
        print_expr(e->a, b);
        gn_buf_add(b, "(");
        print_args(&e->args, b);
        gn_buf_add(b, ")");
        return;
    case EXPR_INDEX:
        print_expr(e->a, b);
        gn_buf_add(b, "[");
        print_expr(e->b, b);
        gn_buf_add(b, "]");
        return;
    case EXPR_FIELD:
        print_expr(e->a, b);
        gn_buf_printf(b, ".%s", e->name);
        return;
    case EXPR_LIST:
        gn_buf_add(b, "[");
        print_args(&e->args, b);
        gn_buf_add(b, "]");
        return;
    default: print_compound(e, b); return;
    }
}

static void print_rows(const ast_rows *r, gn_buf *b)
{
    if (r->space != SPACE_NONE) gn_buf_add(b, ast_space_text[r->space]);
    if (r->name) gn_buf_printf(b, "%s%s", r->space == SPACE_VARIABLE ? "" : ".", r->name);
}

static void print_type(const ast_type *t, gn_buf *b)
{
    if (t->is_list) gn_buf_add(b, "list");
    if (t->is_list) return;
    if (t->each) gn_buf_add(b, "each ");
    print_rows(&t->rows, b);
    if (t->is_relation) {
        gn_buf_add(b, " -> ");
        print_rows(&t->to, b);
    }
    bool dims = !t->is_graph && (t->rows.space == SPACE_NONE || t->any_dims || t->dims.n);
    if (dims) {
        gn_buf_add(b, t->any_dims ? "[..." : "[");
        for (uint32_t i = 0; i < t->dims.n; i++) {
            if (i || t->any_dims) gn_buf_add(b, ", ");
            print_expr(t->dims.p[i], b);
        }
        gn_buf_add(b, "]");
    }
    if (!t->has_elem) return;
    gn_buf_add(b, t->elem == GN_I32 ? " of int" : t->elem == GN_BOOL ? " of bool" : " of float");
}

static void print_formals(const ast_formals *fs, bool typed, gn_buf *b)
{
    gn_buf_add(b, "(");
    for (uint32_t i = 0; i < fs->n; i++) {
        const ast_formal *f = &fs->p[i];
        bool star = f->by_name && (i == 0 || !fs->p[i - 1].by_name);
        gn_buf_printf(b, "%s%s%s", i ? ", " : "", star ? "*, " : "", f->name.text);
        if (typed || f->kind) gn_buf_add(b, ": ");
        if (typed)
            print_type(&f->type, b);
        else if (f->kind)
            gn_buf_add(b, f->kind);
        if (f->value) {
            gn_buf_add(b, " = ");
            print_expr(f->value, b);
        }
    }
    gn_buf_add(b, ")");
}

static void print_block(const ast_block *block, int indent, gn_buf *b);

static void print_files(const ast_stmt *s, gn_buf *b)
{
    for (uint32_t i = 0; i < s->files.n; i++) {
        gn_buf_add(b, i ? ", " : " as ");
        print_expr(s->files.p[i], b);
    }
}

static void print_param(const ast_stmt *s, gn_buf *b)
{
    gn_buf_add(b, s->trainable ? "param " : "buffer ");
    for (uint32_t i = 0; i < s->names.n; i++)
        gn_buf_printf(b, "%s%s", i ? ", " : "", s->names.p[i].text);
    gn_buf_add(b, ": ");
    print_type(&s->type, b);
    gn_buf_add(b, " = ");
    print_expr(s->a, b);
    print_files(s, b);
    if (s->transposed) gn_buf_add(b, " transposed");
    if (!s->has_shape) return;
    gn_buf_add(b, " shape [");
    for (uint32_t i = 0; i < s->shape.n; i++) {
        if (i) gn_buf_add(b, ", ");
        print_expr(s->shape.p[i], b);
    }
    gn_buf_add(b, "]");
}

static void print_nested(const ast_stmt *s, int indent, gn_buf *b)
{
    if (s->kind == STMT_FOR)
        gn_buf_printf(b, "for %s in ", s->names.p[0].text);
    else
        gn_buf_add(b, "if ");
    print_expr(s->a, b);
    print_block(&s->then, indent, b);
    if (!s->other.stmts.n) return;
    gn_buf_add(b, " else");
    print_block(&s->other, indent, b);
}

static void print_stmt(const ast_stmt *s, int indent, gn_buf *b)
{
    switch (s->kind) {
    case STMT_ASSIGN:
    case STMT_UPDATE:
        gn_buf_add(b, s->kind == STMT_UPDATE ? "update " : "");
        for (uint32_t i = 0; i < s->names.n; i++)
            gn_buf_printf(b, "%s%s", i ? ", " : "", s->names.p[i].text);
        gn_buf_add(b, " = ");
        print_expr(s->a, b);
        print_files(s, b);
        return;
    case STMT_PARAM: print_param(s, b); return;
    case STMT_RETURN:
        gn_buf_add(b, "return ");
        print_expr(s->a, b);
        return;
    case STMT_IF:
    case STMT_FOR: print_nested(s, indent, b); return;
    case STMT_ASSERT:
        gn_buf_add(b, "assert ");
        print_expr(s->a, b);
        gn_buf_add(b, ", ");
        print_expr(s->b, b);
        return;
    }
}

static void print_block(const ast_block *block, int indent, gn_buf *b)
{
    gn_buf_add(b, " {\n");
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        gn_buf_printf(b, "%*s", 2 * indent + 2, "");
        print_stmt(block->stmts.p[i], indent + 1, b);
        gn_buf_add(b, "\n");
    }
    gn_buf_printf(b, "%*s}", 2 * indent, "");
}

static void print_item(const ast_item *item, gn_buf *b)
{
    if (!item->a) {
        gn_buf_printf(b, "  input %s: ", item->name.text);
        print_type(&item->type, b);
    } else {
        gn_buf_printf(b, "  %s = ", item->name.text);
        print_expr(item->a, b);
    }
    if (item->of.text) gn_buf_printf(b, " of %s", item->of.text);
    if (item->over) {
        gn_buf_add(b, " over ");
        print_expr(item->over, b);
    }
    for (uint32_t i = 0; i < item->on.n; i++) {
        gn_buf_add(b, i ? ", " : " on ");
        print_string(item->on.p[i].text, b);
    }
    gn_buf_add(b, "\n");
}

static void print_decl(const ast_decl *d, gn_buf *b)
{
    static const char *const words[] = {"layer", "model", "fn", "train"};
    gn_buf_printf(b, "%s %s", words[d->kind], d->name.text);
    if (d->kind != DECL_TRAIN || d->hyper.n) print_formals(&d->hyper, false, b);
    if (d->kind == DECL_TRAIN) {
        gn_buf_add(b, " {\n");
        for (uint32_t i = 0; i < d->items.n; i++) print_item(&d->items.p[i], b);
        gn_buf_add(b, "}\n");
        return;
    }
    if (d->kind != DECL_FN) {
        gn_buf_add(b, " ");
        print_formals(&d->inputs, true, b);
        bool several = d->results.n > 1;
        for (uint32_t k = 0; k < d->results.n; k++) {
            gn_buf_add(b, k ? ", " : several ? " -> (" : " -> ");
            print_type(&d->results.p[k], b);
        }
        if (several) gn_buf_add(b, ")");
    }
    if (d->value) {
        gn_buf_add(b, " = ");
        print_expr(d->value, b);
    } else
        print_block(&d->body, 0, b);
    gn_buf_add(b, "\n");
}

void gn_ast_print(const gn_ast *ast, gn_buf *out)
{
    for (uint32_t i = 0; i < ast->decls.n; i++) {
        if (i) gn_buf_add(out, "\n");
        print_decl(ast->decls.p[i], out);
    }
}
