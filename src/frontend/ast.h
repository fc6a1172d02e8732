/* Syntax tree.  Every node lives in the arena of gn_parse. */
#ifndef GN_FRONTEND_AST_H
#define GN_FRONTEND_AST_H

#include "frontend/diag.h"
#include "frontend/frontend.h"

/* Trees are walked by recursion: the parser refuses what is nested deeper than this. */
enum { GN_AST_MAX_HEIGHT = 200 };

typedef struct ast_expr ast_expr;
typedef struct ast_stmt ast_stmt;

/* X(id, spelling, precedence): binary operators, in classes of increasing precedence */
#define AST_BINARY(X)                                                                              \
    X(OR, "or", 1)                                                                                 \
    X(AND, "and", 2)                                                                               \
    X(LT, "<", 3)                                                                                  \
    X(LE, "<=", 3)                                                                                 \
    X(GT, ">", 3)                                                                                  \
    X(GE, ">=", 3)                                                                                 \
    X(EQ, "==", 3)                                                                                 \
    X(NE, "!=", 3)                                                                                 \
    X(RANGE, "..", 4)                                                                              \
    X(ADD, "+", 5)                                                                                 \
    X(SUB, "-", 5)                                                                                 \
    X(MUL, "*", 6)                                                                                 \
    X(DIV, "/", 6)                                                                                 \
    X(FLOORDIV, "//", 6)                                                                           \
    X(MOD, "%", 6)                                                                                 \
    X(MATMUL, "@", 6)                                                                              \
    X(POW, "^", 8) /* binds tighter than a minus before it, and to the right */

typedef enum ast_binary {
#define X(id, text, precedence) BIN_##id,
    AST_BINARY(X)
#undef X
} ast_binary;
extern const char *const ast_binary_text[];

typedef enum ast_expr_kind {
    EXPR_INT,
    EXPR_FLOAT,
    EXPR_STRING,
    EXPR_BOOL,
    EXPR_NONE,
    EXPR_NAME,
    EXPR_NEG,
    EXPR_NOT,
    EXPR_BINARY,
    EXPR_COND,    /* a ? b : c */
    EXPR_CALL,    /* a(args) */
    EXPR_INDEX,   /* a[b] */
    EXPR_FIELD,   /* a.name */
    EXPR_LIST,    /* [args] */
    EXPR_EACH,    /* [a for name in b], [a for name in b if c] */
    EXPR_MESSAGE, /* name(u -> v in a: b), or c(u -> v in a: b) */
} ast_expr_kind;

typedef struct ast_arg {
    const char *name; /* NULL: by position */
    ast_expr *value;
    gn_span at; /* of the name */
} ast_arg;
typedef GN_VEC(ast_arg) ast_args;

struct ast_expr {
    ast_expr_kind kind;
    ast_binary op;
    gn_span span;
    gn_span mark; /* where a diagnostic about it points: the operator, the name called */
    int height;
    const char *name;      /* NAME, FIELD, STRING's text, EACH's variable, MESSAGE's function */
    const char *from, *to; /* MESSAGE's ends */
    ast_expr *a, *b, *c;
    ast_args args;
    union {
        int64_t i;
        double f;
        bool truth;
    } u;
};

typedef enum ast_space {
    SPACE_NONE,
    SPACE_NODE,
    SPACE_EDGE,
    SPACE_GRAPH,
    SPACE_ANY,
    SPACE_VARIABLE, /* `A`: stands for the rows that come */
} ast_space;
extern const char *const ast_space_text[];

typedef struct ast_rows {
    ast_space space;
    const char *name; /* node.NAME, edge.NAME, or that of a variable; NULL: none */
    gn_span span;
} ast_rows;

typedef struct ast_type {
    gn_span span;
    bool is_list;  /* a list of whatever is in it */
    bool each;     /* one for every type of node, or for every relation */
    bool is_graph; /* a graph itself: `graph` without dims, or a relation, A -> B */
    bool any_dims; /* [...], before what `dims` has: [..., in] */
    ast_rows rows; /* of a tensor; of a relation the rows that its edges come from */
    bool is_relation;
    ast_rows to;   /* of a relation: the rows that its edges go to */
    bool has_elem; /* `of int`, `of bool`, `of float` */
    gn_elem elem;  /* F32 without */
    GN_VEC(ast_expr *) dims;
} ast_type;

typedef struct ast_name {
    const char *text;
    gn_span span;
} ast_name;
typedef GN_VEC(ast_name) ast_names;

/* Hyperparameter (`type` unused), argument of a function, or input (`kind` unused). */
typedef struct ast_formal {
    ast_name name;
    const char *kind; /* "dim", "int", ...; NULL: of the default */
    ast_type type;
    ast_expr *value; /* default; NULL: must be given */
    bool by_name;    /* behind a `*`: what is given by its place never goes here */
} ast_formal;
typedef GN_VEC(ast_formal) ast_formals;

typedef struct ast_block {
    GN_VEC(ast_stmt *) stmts;
} ast_block;

typedef enum ast_stmt_kind {
    STMT_ASSIGN, /* names = a [as files]; several names take a list apart */
    STMT_PARAM,  /* param or buffer names: type = a [as files] [transposed] [shape dims] */
    STMT_UPDATE, /* update names[0] = a */
    STMT_RETURN, /* return a */
    STMT_IF,     /* if a { then } else { other } */
    STMT_FOR,    /* for names[0] in a { then } */
    STMT_ASSERT, /* assert a, b */
} ast_stmt_kind;

struct ast_stmt {
    ast_stmt_kind kind;
    gn_span span; /* of its first word */
    int height;
    bool trainable, transposed, has_shape;
    ast_names names;
    GN_VEC(ast_expr *) files;
    ast_type type;
    GN_VEC(ast_expr *) shape;
    ast_expr *a, *b;
    ast_block then, other;
};

typedef enum ast_decl_kind { DECL_LAYER, DECL_MODEL, DECL_FN, DECL_TRAIN } ast_decl_kind;

/* `name = a [of NAME] [over b] [on "pattern", ...]`, or `input name: type` (a NULL), of a train
 * block */
typedef struct ast_item {
    ast_name name;
    ast_expr *a;
    ast_name of; /* text NULL: none */
    ast_expr *over;
    ast_names on;
    ast_type type;
} ast_item;

typedef struct ast_decl {
    ast_decl_kind kind;
    ast_name name;
    const gn_source *src;
    ast_formals hyper; /* hyperparameters; arguments of a function */
    ast_formals inputs;
    GN_VEC(ast_type) results; /* that are declared; of none all may come */
    gn_span results_at;
    ast_expr *value; /* fn f(x) = value */
    ast_block body;
    GN_VEC(ast_item) items; /* of a train block */
} ast_decl;

struct gn_ast {
    const gn_source *src;
    const gn_listener *listener; /* of diagnostics, for elaboration; NULL: nobody */
    GN_VEC(ast_decl *) decls;
};

#endif
