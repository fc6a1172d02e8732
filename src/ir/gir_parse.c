/* Reads the text of a program, as text.c writes it.  White space and `;` comments to the end of a
 * line are free; the type of a value may be left out where operands determine it. */
#include "ir/gir.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    gn_arena *arena;
    gir_program *p;
    const char *at, *end, *begin;
    const char *origin;
} reader;

static gn_status *wrong(const reader *r, const char *what)
{
    int line = 1, col = 1;
    for (const char *c = r->begin; c < r->at; c++) {
        col = *c == '\n' ? 1 : col + 1;
        line += *c == '\n';
    }
    return GN_ERROR(GN_ERR_MODEL, "%s:%d:%d: %s", r->origin, line, col, what);
}

#define WRONG(...) return wrong(r, gn_arena_printf(r->arena, __VA_ARGS__))

/* tokens --------------------------------------------------------------------------------------- */

static int peek(reader *r)
{
    while (r->at < r->end) {
        if (*r->at == ';')
            while (r->at < r->end && *r->at != '\n') r->at++;
        else if (isspace((unsigned char)*r->at))
            r->at++;
        else
            return (unsigned char)*r->at;
    }
    return -1;
}

static bool eat(reader *r, const char *token)
{
    size_t n = strlen(token);
    peek(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, token, n) != 0) return false;
    r->at += n;
    return true;
}

static gn_status *expect(reader *r, const char *token)
{
    if (eat(r, token)) return NULL;
    WRONG("'%s' is expected", token);
}

static bool word_char(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' ||
           (!first && (isdigit((unsigned char)c) || c == '.'));
}

static gn_status *read_word(reader *r, const char **out)
{
    peek(r);
    const char *from = r->at;
    while (r->at < r->end && word_char(*r->at, r->at == from)) r->at++;
    if (r->at == from) WRONG("a word is expected");
    *out = gn_arena_strndup(r->arena, from, (size_t)(r->at - from));
    return NULL;
}

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static gn_status *read_quoted(reader *r, const char **out)
{
    gn_buf b = {.arena = r->arena};
    GN_TRY(expect(r, "\""));
    const char *from = r->at;
    gn_buf_add(&b, "");
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if (c == '\\' && r->at < r->end) {
            c = *r->at++;
            if (c == 'x') {
                if (r->end - r->at < 2 || !isxdigit((unsigned char)r->at[0]) ||
                    !isxdigit((unsigned char)r->at[1]))
                    WRONG("\\x needs two hexadecimal digits");
                c = (char)(hex(r->at[0]) << 4 | hex(r->at[1]));
                r->at += 2;
            }
        }
        if (c == 0) WRONG("a name holds a NUL");
        gn_buf_addn(&b, &c, 1);
    }
    *out = b.p;
    if (eat(r, "\"")) return NULL;
    r->at = from;
    WRONG("'\"' is expected where this name ends");
}

static gn_status *read_name(reader *r, const char **out)
{
    return peek(r) == '"' ? read_quoted(r, out) : read_word(r, out);
}

/* The characters of a number, as a string. */
static gn_status *read_number(reader *r, char *text, size_t size)
{
    peek(r);
    size_t n = 0;
    while (r->at < r->end && n + 1 < size &&
           (isalnum((unsigned char)*r->at) || strchr("+-.", *r->at)) && *r->at)
        text[n++] = *r->at++;
    text[n] = 0;
    if (n == 0) WRONG("a number is expected");
    return NULL;
}

static gn_status *read_int(reader *r, int64_t low, int64_t high, int64_t *out)
{
    char text[64], *end;
    GN_TRY(read_number(r, text, sizeof text));
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (*end || errno || x < low || x > high)
        WRONG("%s is no integer in %lld..%lld", text, (long long)low, (long long)high);
    *out = x;
    return NULL;
}

static gn_status *read_double(reader *r, double *out)
{
    char text[64], *end;
    GN_TRY(read_number(r, text, sizeof text));
    *out = strtod(text, &end);
    if (*end) WRONG("%s is no number", text);
    return NULL;
}

static gn_status *read_id(reader *r, gir_id below, gir_id *out)
{
    int64_t id;
    GN_TRY(expect(r, "%"));
    GN_TRY(read_int(r, 1, UINT32_MAX, &id));
    if (below && id >= below) WRONG("%%%lld does not come before", (long long)id);
    *out = (gir_id)id;
    return NULL;
}

static bool find_space(const reader *r, const char *name, gir_space_id *out)
{
    for (uint32_t s = 0; s < r->p->spaces.n; s++)
        if (strcmp(r->p->spaces.p[s].name, name) == 0) {
            *out = (gir_space_id)s;
            return true;
        }
    return false;
}

static gn_status *read_space_name(reader *r, gir_space_id *out)
{
    const char *name = NULL;
    GN_TRY(read_name(r, &name));
    if (!find_space(r, name, out)) WRONG("no space is called %s", name);
    return NULL;
}

/* declarations --------------------------------------------------------------------------------- */

static gn_status *read_space(reader *r)
{
    static const char *const kinds[] = {"none", "node", "edge", "graphs", "feature"};
    gir_space s = {.size = -1};
    gir_space_id taken;
    const char *kind = NULL;
    GN_TRY(read_name(r, &s.name));
    if (find_space(r, s.name, &taken)) WRONG("two spaces are called %s", s.name);
    if (r->p->spaces.n > UINT16_MAX) WRONG("too many spaces");
    GN_TRY(read_word(r, &kind));
    for (int k = GIR_NODE; k <= GIR_FEATURE; k++)
        if (strcmp(kind, kinds[k]) == 0) s.kind = (gir_space_kind)k;
    if (s.kind == GIR_NONE) WRONG("%s is no kind of space", kind);
    if (!eat(r, "?")) GN_TRY(read_int(r, 0, INT64_MAX, &s.size));
    if (eat(r, "of")) GN_TRY(read_id(r, 0, &s.graph));
    GN_PUSH(r->arena, r->p->spaces, s);
    return NULL;
}

static gn_status *read_file(reader *r)
{
    const char *name = NULL;
    GN_TRY(read_name(r, &name));
    GN_PUSH(r->arena, r->p->files, name);
    return NULL;
}

static gn_status *read_output(reader *r, gir_output_kind kind)
{
    gir_output o = {.kind = kind};
    GN_TRY(read_quoted(r, &o.name));
    GN_TRY(read_id(r, r->p->nodes.n, &o.value));
    GN_PUSH(r->arena, r->p->outputs, o);
    return NULL;
}

/* values --------------------------------------------------------------------------------------- */

static gn_status *read_graph_type(reader *r, gir_type *t)
{
    t->is_graph = 1;
    GN_TRY(expect(r, "<"));
    GN_TRY(read_space_name(r, &t->src));
    GN_TRY(expect(r, "->"));
    GN_TRY(read_space_name(r, &t->dst));
    GN_TRY(expect(r, ","));
    GN_TRY(read_space_name(r, &t->edge));
    return expect(r, ">");
}

/* [space] elem [ dims ]: a name is the space's unless a bracket follows. */
static gn_status *read_type(reader *r, gir_type *t)
{
    const char *name = NULL;
    bool is_quoted = peek(r) == '"';
    GN_TRY(read_name(r, &name));
    if (!is_quoted && strcmp(name, "graph") == 0 && peek(r) == '<') return read_graph_type(r, t);
    if (peek(r) != '[') {
        if (!find_space(r, name, &t->space)) WRONG("no space is called %s", name);
        GN_TRY(read_word(r, &name));
    }
    int elem = 0;
    while (elem < GN_ELEM_COUNT && strcmp(gn_elem_name((gn_elem)elem), name) != 0) elem++;
    if (elem == GN_ELEM_COUNT) WRONG("%s is no element type", name);
    t->elem = (uint8_t)elem;
    GN_TRY(expect(r, "["));
    if (eat(r, "]")) return NULL;
    do {
        if (t->rank == GIR_MAX_RANK) WRONG("more than %d dimensions", GIR_MAX_RANK);
        GN_TRY(read_int(r, 1, INT64_MAX, &t->dim[t->rank++]));
    } while (eat(r, ","));
    return expect(r, "]");
}

/* The place of an attribute among those of the operator, or -1. */
static int attr_index(gir_op op, const char *name)
{
    const char *at = gir_ops[op].attrs;
    for (int k = 0; *at && *at != '-'; k++) {
        size_t n = strcspn(at, " ");
        if (strlen(name) == n && memcmp(at, name, n) == 0) return k;
        at += n + (at[n] == ' ');
    }
    return -1;
}

static gn_status *read_attrs(reader *r, gir_op op, gir_attr *attr)
{
    unsigned seen = 0;
    if (!eat(r, "{")) return NULL;
    do {
        const char *name = NULL;
        GN_TRY(read_word(r, &name));
        int k = attr_index(op, name);
        if (k < 0 || strcmp(name, "name") == 0)
            WRONG("%s has no attribute %s", gir_ops[op].text, name);
        if (seen >> k & 1) WRONG("%s is given twice", name);
        seen |= 1u << k;
        GN_TRY(expect(r, "="));
        gir_space_id s = 0;
        if (strcmp(name, "value") == 0)
            GN_TRY(read_double(r, &attr->f));
        else if (strcmp(name, "space") != 0)
            GN_TRY(read_int(r, INT64_MIN, INT64_MAX, &attr->i[k]));
        else {
            GN_TRY(read_space_name(r, &s));
            attr->i[k] = s;
        }
    } while (eat(r, ","));
    return expect(r, "}");
}

static gn_status *read_place(reader *r, gir_loc *loc)
{
    const char *name = NULL;
    int64_t line, col;
    if (!eat(r, "@")) return NULL;
    GN_TRY(read_name(r, &name));
    uint32_t file = 0;
    while (file < r->p->files.n && strcmp(r->p->files.p[file], name) != 0) file++;
    if (file == r->p->files.n) GN_PUSH(r->arena, r->p->files, name);
    if (file > UINT16_MAX) WRONG("too many files");
    GN_TRY(expect(r, ":"));
    GN_TRY(read_int(r, 1, UINT32_MAX, &line));
    GN_TRY(expect(r, ":"));
    GN_TRY(read_int(r, 0, UINT16_MAX, &col));
    *loc = (gir_loc){.line = (uint32_t)line, .col = (uint16_t)col, .file = (uint16_t)file};
    if (!file) loc->own = loc->line;
    return NULL;
}

/* [@ file:line:col] [from line] [in layer] [backward or optimizer] [again] */
static gn_status *read_loc(reader *r, gir_loc *loc)
{
    const char *name = NULL;
    *loc = (gir_loc){0};
    GN_TRY(read_place(r, loc));
    if (eat(r, "from")) {
        int64_t own;
        GN_TRY(read_int(r, 1, UINT32_MAX, &own));
        loc->own = (uint32_t)own;
    }
    if (eat(r, "in")) {
        GN_TRY(read_name(r, &name));
        loc->layer = gir_layer(r->p, name);
        if (!loc->layer && *name) WRONG("too many layers");
    }
    for (uint16_t way = GIR_BACKWARD; way < GIR_WAYS; way++)
        if (eat(r, gir_way_name[way])) {
            loc->way = (uint8_t)way;
            break;
        }
    loc->again = eat(r, "again");
    return NULL;
}

static gn_status *read_value(reader *r)
{
    gir_id id, in;
    GN_VEC(gir_id) operands = {0};
    gir_attr attr = {0};
    gir_type type = {0};
    const char *text = NULL, *why = NULL, *from = r->at;
    GN_TRY(read_id(r, 0, &id));
    if (id != r->p->nodes.n) WRONG("values are numbered in order, %%%u is next", r->p->nodes.n);
    GN_TRY(expect(r, "="));
    GN_TRY(read_word(r, &text));
    gir_op op = gir_op_by_name(text);
    if (op == GIR_INVALID) WRONG("no operator is called %s", text);
    if (peek(r) == '%') do {
            GN_TRY(read_id(r, id, &in));
            GN_PUSH(r->arena, operands, in);
        } while (eat(r, ","));
    if (peek(r) == '"') {
        if (attr_index(op, "name") < 0) WRONG("%s has no name", text);
        GN_TRY(read_quoted(r, &attr.name));
    }
    GN_TRY(read_attrs(r, op, &attr));
    bool typed = eat(r, ":");
    if (typed) GN_TRY(read_type(r, &type));
    GN_TRY(read_loc(r, &r->p->loc));
    if (operands.n > UINT16_MAX) WRONG("too many operands");
    if (!gir_make(r->p, op, (int)operands.n, operands.p, &attr, typed ? &type : NULL, &why)) {
        r->at = from;
        WRONG("%s", why);
    }
    return NULL;
}

static gn_status *read_program(reader *r, bool inner);

static gn_status *read_body(reader *r)
{
    gir_body_shape shape;
    gir_program *p = r->p;
    GN_TRY(read_program(r, true));
    const char *why = gir_body_misfit(r->arena, r->p, &shape);
    if (why) WRONG("%s", why);
    GN_PUSH(r->arena, p->bodies, r->p);
    r->p = p;
    return NULL;
}

static gn_status *read_program(reader *r, bool inner)
{
    const char *name = NULL;
    GN_TRY(expect(r, "program"));
    GN_TRY(expect(r, "@"));
    GN_TRY(read_name(r, &name));
    r->p = gir_program_new(r->arena, name);
    GN_TRY(expect(r, "{"));
    while (!eat(r, "}")) {
        if (peek(r) == '%')
            GN_TRY(read_value(r));
        else if (eat(r, "space"))
            GN_TRY(read_space(r));
        else if (eat(r, "file"))
            GN_TRY(read_file(r));
        else if (eat(r, "output"))
            GN_TRY(read_output(r, GIR_OUTPUT));
        else if (eat(r, "update"))
            GN_TRY(read_output(r, GIR_UPDATE));
        else if (!inner && eat(r, "body"))
            GN_TRY(read_body(r));
        else
            WRONG("a space, file, value, output, update or '}' is expected");
    }
    r->p->loc = (gir_loc){0};
    return NULL;
}

gn_status *gir_parse(gn_arena *a, const char *text, size_t n, const char *origin, gir_program **out)
{
    reader own = {.arena = a, .at = text, .begin = text, .end = text + n, .origin = origin},
           *r = &own;
    GN_TRY(read_program(r, false));
    if (peek(r) >= 0)
        WRONG("nothing is expected after the program: a file holds one, of which `--emit=gir` may "
              "print several");
    *out = r->p;
    return NULL;
}
