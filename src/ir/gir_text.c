/* Text of the tensor IR: types, and whole programs.  parse.c reads it back. */
#include "ir/gir.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool is_word(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_' && *s != '.') return false;
    return true;
}

static void quoted(gn_buf *b, const char *s)
{
    gn_buf_add(b, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            gn_buf_printf(b, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            gn_buf_printf(b, "\\x%02x", c);
        else
            gn_buf_addn(b, s, 1);
    }
    gn_buf_add(b, "\"");
}

static void word(gn_buf *b, const char *s)
{
    if (is_word(s))
        gn_buf_add(b, s);
    else
        quoted(b, s);
}

static const char *space_name(const gir_program *p, gir_space_id s)
{
    return s < p->spaces.n ? p->spaces.p[s].name : "?";
}

static void print_type(const gir_program *p, const gir_type *t, gn_buf *b)
{
    if (t->is_graph) {
        gn_buf_add(b, "graph<");
        word(b, space_name(p, t->src));
        gn_buf_add(b, " -> ");
        word(b, space_name(p, t->dst));
        gn_buf_add(b, ", ");
        word(b, space_name(p, t->edge));
        gn_buf_add(b, ">");
        return;
    }
    if (t->space) {
        word(b, space_name(p, t->space));
        gn_buf_add(b, " ");
    }
    gn_buf_printf(b, "%s[", t->elem < GN_ELEM_COUNT ? gn_elem_name((gn_elem)t->elem) : "?");
    for (int k = 0; k < t->rank && k < GIR_MAX_RANK; k++)
        gn_buf_printf(b, "%s%lld", k ? ", " : "", (long long)t->dim[k]);
    gn_buf_add(b, "]");
}

const char *gir_type_text(const gir_program *p, const gir_type *t)
{
    gn_buf b = {.arena = p->arena};
    print_type(p, t, &b);
    return b.p;
}

static void print_space(const gir_program *p, gir_space_id s, gn_buf *b)
{
    static const char *const kind[] = {"none", "node", "edge", "graphs", "feature"};
    const gir_space *space = &p->spaces.p[s];
    gn_buf_add(b, "  space ");
    word(b, space->name);
    gn_buf_printf(b, " %s ", kind[space->kind]);
    if (space->size < 0)
        gn_buf_add(b, "?");
    else
        gn_buf_printf(b, "%lld", (long long)space->size);
    if (space->graph) gn_buf_printf(b, " of %%%u", space->graph);
    gn_buf_add(b, "\n");
}

static void print_double(gn_buf *b, double x)
{
    if (isnan(x))
        gn_buf_add(b, "nan"); /* of either sign */
    else
        gn_buf_printf(b, "%.17g", x);
}

/* Is an attribute left out where it is 0? */
static bool is_usual(const char *name, int len)
{
    static const char *const usual[] = {"once", "how", "apart"};
    bool is = false;
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        is = is || (strlen(usual[k]) == (size_t)len && !memcmp(name, usual[k], (size_t)len));
    return is;
}

static void print_attrs(const gir_program *p, const gir_node *n, gn_buf *b)
{
    const char *at = gir_ops[n->op].attrs;
    int printed = 0;
    for (int k = 0; *at && *at != '-'; k++) {
        int len = (int)strcspn(at, " ");
        bool usual = is_usual(at, len) && !n->attr.i[k];
        if (len == 4 && memcmp(at, "name", 4) == 0) {
            gn_buf_add(b, " ");
            quoted(b, n->attr.name ? n->attr.name : "");
        } else if (!usual) {
            gn_buf_printf(b, "%s%.*s = ", printed++ ? ", " : " {", len, at);
            if (len == 5 && memcmp(at, "value", 5) == 0)
                print_double(b, n->attr.f);
            else if (len == 5 && memcmp(at, "space", 5) == 0)
                word(b, space_name(p, (gir_space_id)n->attr.i[k]));
            else
                gn_buf_printf(b, "%lld", (long long)n->attr.i[k]);
        }
        at += len + (at[len] == ' ');
    }
    if (printed) gn_buf_add(b, "}");
}

static void print_node(const gir_program *p, gir_id v, gn_buf *b)
{
    const gir_node *n = gir_at(p, v);
    gn_buf_printf(b, "  %%%u = %s", v, gir_ops[n->op].text);
    for (int k = 0; k < n->n_in; k++) gn_buf_printf(b, "%s%%%u", k ? ", " : " ", gir_in(p, v, k));
    print_attrs(p, n, b);
    gn_buf_add(b, " : ");
    print_type(p, &n->type, b);
    if (n->loc.line) {
        gn_buf_add(b, " @ ");
        if (n->loc.file < p->files.n)
            word(b, p->files.p[n->loc.file]);
        else
            gn_buf_add(b, "\"\"");
        gn_buf_printf(b, ":%u:%u", n->loc.line, n->loc.col);
    }
    if (n->loc.own && (n->loc.file || n->loc.own != n->loc.line))
        gn_buf_printf(b, " from %u", n->loc.own);
    if (n->loc.layer && n->loc.layer < p->layers.n) {
        gn_buf_add(b, " in ");
        word(b, p->layers.p[n->loc.layer]);
    }
    if (n->loc.way && n->loc.way < GIR_WAYS) gn_buf_printf(b, " %s", gir_way_name[n->loc.way]);
    if (n->loc.again) gn_buf_add(b, " again");
    gn_buf_add(b, "\n");
}

void gir_print(const gir_program *p, gn_buf *b)
{
    gn_buf_add(b, "program @");
    word(b, p->name);
    gn_buf_add(b, " {\n");
    for (uint32_t f = 0; f < p->files.n; f++) {
        gn_buf_add(b, "  file ");
        word(b, p->files.p[f]);
        gn_buf_add(b, "\n");
    }
    for (uint32_t s = 1; s < p->spaces.n; s++) print_space(p, (gir_space_id)s, b);
    for (uint32_t k = 0; k < p->bodies.n; k++) {
        gn_buf_add(b, "  body ");
        gir_print(p->bodies.p[k], b);
    }
    for (gir_id v = 1; v < p->nodes.n; v++) print_node(p, v, b);
    for (uint32_t k = 0; k < p->outputs.n; k++) {
        const gir_output *o = &p->outputs.p[k];
        gn_buf_add(b, o->kind == GIR_UPDATE ? "  update " : "  output ");
        quoted(b, o->name);
        gn_buf_printf(b, " %%%u\n", o->value);
    }
    gn_buf_add(b, "}\n");
}
