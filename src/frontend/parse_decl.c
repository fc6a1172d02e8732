/* Declarations: `layer`, `model`, `fn`, `train`, with their formals and types. */
#include "frontend/parse.h"

#include "frontend/elsewhere.h"

#include <string.h>

const char *const ast_space_text[] = {"none", "node", "edge", "graph", "any", ""};

static bool parse_dims(parser *p, ast_type *t)
{
    if (!parse_open(p, TOK_LBRACKET, "before the dimensions")) return false;
    bool more = true; /* dimensions may follow: [...], [..., in] */
    if (parse_accept(p, TOK_ELLIPSIS)) {
        t->any_dims = true;
        more = parse_accept(p, TOK_COMMA);
    }
    while (more && !parse_at(p, TOK_RBRACKET)) {
        ast_expr *e = parse_expr(p);
        if (!e) return false;
        GN_PUSH(p->arena, t->dims, e);
        if (!parse_accept(p, TOK_COMMA)) break;
    }
    return parse_close(p, TOK_RBRACKET, "or `,` in the dimensions");
}

/* node, node.paper, edge.writes, graph, any, or a variable for rows. */
static bool parse_rows(parser *p, ast_rows *r)
{
    static const ast_space spaces[] = {SPACE_NODE, SPACE_EDGE, SPACE_GRAPH, SPACE_ANY};
    r->span = p->tok->span;
    if (!parse_at(p, TOK_NAME)) return false;
    r->space = SPACE_VARIABLE;
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++)
        if (parse_at_word(p, ast_space_text[spaces[k]])) r->space = spaces[k];
    ast_name name;
    parse_name(p, &name, "rows");
    if (r->space == SPACE_VARIABLE) r->name = name.text;
    bool typed = r->space == SPACE_NODE || r->space == SPACE_EDGE;
    if (!typed || !parse_accept(p, TOK_DOT)) return true;
    if (!parse_name(p, &name, "the name of a type of nodes or of a relation")) return false;
    r->name = name.text;
    r->span = parse_span(p, r->span);
    return true;
}

/* `of int` behind a type. */
static bool parse_elem(parser *p, ast_type *t)
{
    static const struct {
        const char *word;
        gn_elem elem;
    } elems[] = {{"float", GN_F32}, {"int", GN_I32}, {"bool", GN_BOOL}};
    if (!parse_at_word(p, "of")) return true;
    parse_next(p);
    for (size_t k = 0; k < sizeof elems / sizeof *elems; k++)
        if (parse_at_word(p, elems[k].word)) {
            t->elem = elems[k].elem;
            t->has_elem = true;
            parse_next(p);
            return true;
        }
    parse_fail(p, "`float`, `int` or `bool` behind `of`");
    return false;
}

static const char types[] = "a type: `graph`, `node[...]`, `edge[...]` or `[...]`";

bool parse_type(parser *p, ast_type *t)
{
    t->span = p->tok->span;
    t->elem = GN_F32;
    if (parse_at_word(p, "list")) {
        t->is_list = true;
        parse_next(p);
        return true;
    }
    if (parse_at_word(p, "each")) {
        t->each = true;
        parse_next(p);
    }
    bool rows = parse_rows(p, &t->rows);
    if (!rows && (t->each || !parse_at(p, TOK_LBRACKET))) {
        parse_fail(p, types);
        return false;
    }
    bool dims = parse_at(p, TOK_LBRACKET) && (!p->tok->newline || p->nest > 0);
    if (dims && !parse_dims(p, t)) return false;
    if (rows && !dims && p->nest > 0 && parse_accept(p, TOK_ARROW)) {
        t->is_graph = t->is_relation = true;
        if (!parse_rows(p, &t->to)) {
            parse_fail(p, "the rows that the relation's edges go to, as in `node -> graph`");
            return false;
        }
    }
    if (!parse_elem(p, t)) return false;
    if (t->rows.space == SPACE_GRAPH && !dims && !t->has_elem) t->is_graph = true;
    t->span = parse_span(p, t->span);
    return true;
}

/* Lists of formals, and what an error calls one of them. */
typedef enum formals_of { OF_LAYER, OF_TRAIN, OF_FN, INPUTS } formals_of;
static const char *const formals_text[] = {"a hyperparameter", "a hyperparameter", "an argument",
                                           "an input"};

static bool parse_kind(parser *p, formals_of of, ast_formal *f)
{
    ast_name kind;
    if (!parse_name(p, &kind, "`dim`, `int`, `float`, `bool`, `string` or `list`")) return false;
    f->kind = kind.text;
    bool is_type = parse_at(p, TOK_LBRACKET) || strcmp(kind.text, ast_space_text[SPACE_GRAPH]) == 0;
    if (of != OF_LAYER || !is_type) return true;
    gn_diag_error(p->diags, p->src, kind.span,
                  "this is the type of an input, and hyperparameters come first, if only `()`: "
                  "`(hidden = 16) (g: graph, x: node[F])`");
    p->panic = true;
    return false;
}

static bool parse_formals(parser *p, ast_formals *out, formals_of of)
{
    const char *what = formals_text[of];
    bool by_name = false, may = of == OF_LAYER || of == OF_FN;
    while (!parse_at(p, TOK_RPAREN)) {
        if (may && !by_name && parse_accept(p, TOK_STAR)) {
            if (!parse_expect(p, TOK_COMMA, "and what is given by name")) return false;
            by_name = true;
        }
        ast_formal f = {.by_name = by_name};
        if (!parse_name(p, &f.name, what)) return false;
        for (uint32_t i = 0; i < out->n; i++)
            if (strcmp(out->p[i].name.text, f.name.text) == 0)
                gn_diag_error(p->diags, p->src, f.name.span, "`%s` is there already", f.name.text);
        if (of == INPUTS) {
            if (!parse_expect(p, TOK_COLON, "and the type of the input") || !parse_type(p, &f.type))
                return false;
        } else if (parse_accept(p, TOK_COLON) && !parse_kind(p, of, &f)) {
            return false;
        }
        if (parse_accept(p, TOK_ASSIGN) && !(f.value = parse_expr(p))) return false;
        GN_PUSH(p->arena, *out, f);
        if (!parse_accept(p, TOK_COMMA)) break;
    }
    return parse_close(p, TOK_RPAREN, gn_arena_printf(p->arena, "or `,` after %s", what));
}

static bool is_end(const ast_rows *r, const char *name)
{
    return r->space == SPACE_VARIABLE && !strcmp(r->name, name);
}

/* A variable for rows is an end of a relation that comes in; another name is no type. */
static void check_variable(parser *p, const ast_decl *d, const ast_type *t)
{
    if (t->is_relation || t->rows.space != SPACE_VARIABLE) return;
    const char *name = t->rows.name;
    for (uint32_t k = 0; k < d->inputs.n; k++) {
        const ast_type *r = &d->inputs.p[k].type;
        if (r->is_relation && (is_end(&r->rows, name) || is_end(&r->to, name))) return;
    }
    bool capital = *name >= 'A' && *name <= 'Z';
    gn_diag_error(p->diags, p->src, t->rows.span, "expected %s, found `%s`%s", types,
                  gn_diag_clean(p->arena, name, strlen(name)),
                  capital ? "; such a name is an end of a relation that comes in, as `g: A -> B`"
                          : "");
}

/* Lists go between layers: data are none, nor what a model gives. */
static void check_list(parser *p, const ast_type *t, const char *what)
{
    if (t->is_list)
        gn_diag_error(p->diags, p->src, t->span, "%s is a tensor or a graph, and no list", what);
}

/* type, or (type, type) */
static bool parse_results(parser *p, ast_decl *d)
{
    d->results_at = p->tok->span;
    bool several = parse_at(p, TOK_LPAREN);
    if (several) parse_open(p, TOK_LPAREN, "");
    do {
        ast_type t = {0};
        if (!parse_type(p, &t)) return false;
        GN_PUSH(p->arena, d->results, t);
    } while (several && parse_accept(p, TOK_COMMA));
    if (several && !parse_close(p, TOK_RPAREN, "or `,` after the type of a result")) return false;
    d->results_at = parse_span(p, d->results_at);
    return true;
}

/* layer NAME(hyperparameters) (inputs) -> results { ... } */
static bool parse_layer(parser *p, ast_decl *d)
{
    if (!parse_open(p, TOK_LPAREN, "and hyperparameters") || !parse_formals(p, &d->hyper, OF_LAYER))
        return false;
    if (!parse_open(p, TOK_LPAREN, "and inputs, such as `(g: graph, x: node[in])`")) return false;
    if (!parse_formals(p, &d->inputs, INPUTS)) return false;
    if (parse_accept(p, TOK_ARROW) && !parse_results(p, d)) return false;
    bool model = d->kind == DECL_MODEL;
    for (uint32_t k = 0; k < d->inputs.n; k++) {
        check_variable(p, d, &d->inputs.p[k].type);
        if (model) check_list(p, &d->inputs.p[k].type, "an input of a model");
    }
    for (uint32_t k = 0; k < d->results.n; k++) {
        check_variable(p, d, &d->results.p[k]);
        if (model) check_list(p, &d->results.p[k], "a result of a model");
    }
    int height = 0;
    return parse_block(p, &d->body, &height);
}

/* fn NAME(arguments) = value, or { ... } */
static bool parse_fn(parser *p, ast_decl *d)
{
    if (!parse_open(p, TOK_LPAREN, "and arguments") || !parse_formals(p, &d->hyper, OF_FN))
        return false;
    int height = 0;
    if (parse_at(p, TOK_LBRACE)) return parse_block(p, &d->body, &height);
    if (!parse_expect(p, TOK_ASSIGN, "or `{` after the arguments")) return false;
    d->value = parse_expr(p);
    return d->value && parse_end_of_statement(p);
}

static bool parse_item(parser *p, ast_decl *d)
{
    ast_item item = {0};
    if (!parse_name(p, &item.name, "`loss`, `optimizer`, `epochs` or another setting"))
        return false;
    if (strcmp(item.name.text, "input") == 0 && parse_at(p, TOK_NAME)) {
        parse_name(p, &item.name, "a name");
        if (!parse_expect(p, TOK_COLON, "and the type of the input") || !parse_type(p, &item.type))
            return false;
        check_list(p, &item.type, "an input of a train block");
    } else {
        if (!parse_expect(p, TOK_ASSIGN, "after the name of a setting")) return false;
        if (!(item.a = parse_expr(p))) return false;
        if (parse_at_word(p, "of")) {
            parse_next(p);
            if (!parse_name(p, &item.of, "the name of a relation")) return false;
        }
        if (parse_at_word(p, "over")) {
            parse_next(p);
            if (!(item.over = parse_expr(p))) return false;
        }
        if (parse_at_word(p, "on")) {
            do {
                parse_next(p);
                if (!parse_at(p, TOK_STRING)) {
                    parse_fail(p, "a string that names parameters, such as \"convs.0\"");
                    return false;
                }
                ast_name pattern = {p->tok->u.s, p->tok->span};
                GN_PUSH(p->arena, item.on, pattern);
                parse_next(p);
            } while (parse_at(p, TOK_COMMA));
        }
    }
    if (!parse_end_of_statement(p)) return false;
    GN_PUSH(p->arena, d->items, item);
    return true;
}

/* train NAME(hyperparameters) { settings } */
static bool parse_train(parser *p, ast_decl *d)
{
    if (parse_at(p, TOK_LPAREN)) {
        parse_open(p, TOK_LPAREN, "");
        if (!parse_formals(p, &d->hyper, OF_TRAIN)) return false;
    }
    if (!parse_expect(p, TOK_LBRACE, "before the settings")) return false;
    while (!parse_at(p, TOK_RBRACE) && !parse_at(p, TOK_END)) {
        const gn_token *before = p->tok;
        parse_item(p, d);
        if (!p->panic) continue;
        parse_recover(p, before, 0);
    }
    return parse_expect(p, TOK_RBRACE, "after the settings");
}

ast_decl *parse_decl(parser *p)
{
    gn_token_kind k = p->tok->kind;
    ast_decl *d = GN_NEW(p->arena, ast_decl);
    d->src = p->src;
    p->nest = p->depth = 0;
    if (k != TOK_LAYER && k != TOK_MODEL && k != TOK_FN && k != TOK_TRAIN) {
        if (!p->panic && k != TOK_BAD) {
            const char *found = gn_diag_clean(p->arena, p->src->text + p->tok->span.at,
                                              p->tok->span.len);
            const char *elsewhere = gn_elsewhere(found);
            gn_diag_error(p->diags, p->src, p->tok->span,
                          "expected `layer`, `model`, `fn` or `train`, found `%s`%s", found,
                          elsewhere ? elsewhere : "");
        }
        p->panic = true;
        return NULL;
    }
    parse_next(p);
    d->kind = k == TOK_LAYER   ? DECL_LAYER
              : k == TOK_MODEL ? DECL_MODEL
              : k == TOK_FN    ? DECL_FN
                               : DECL_TRAIN;
    if (!parse_name(p, &d->name, d->kind == DECL_TRAIN ? "the name of a model" : "a name"))
        return NULL;
    bool ok = d->kind == DECL_FN      ? parse_fn(p, d)
              : d->kind == DECL_TRAIN ? parse_train(p, d)
                                      : parse_layer(p, d);
    return ok ? d : NULL;
}
