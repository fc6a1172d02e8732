#include "cli/args.h"

#include "base/nearest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const gn_option_table *table;
    uint32_t command;
    gn_arena *arena;
    char *out;
    int argc, at;
    char *const *argv;
} parser;

const char *gn_args_suggest(gn_arena *arena, const char *prefix, const char *name,
                            const char *const *candidates, size_t n)
{
    const char *near = gn_nearest(name, candidates, n);
    return near ? gn_arena_printf(arena, "; did you mean '%s%s'?", prefix, near) : "";
}

bool gn_args_int(const char *text, int64_t *out)
{
    char *end;
    if (!(*text == '-' ? text[1] >= '0' && text[1] <= '9' : *text >= '0' && *text <= '9'))
        return false;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end) return false;
    *out = v;
    return true;
}

bool gn_option_takes_value(const gn_option *o)
{
    return o->kind != GN_OPTION_GROUP && o->kind != GN_OPTION_FLAG && o->kind != GN_OPTION_COUNT;
}

/* How the user knows the option: "--epochs", or "-D" where it has no long name. */
static const char *spelled(const gn_option *o, gn_arena *arena)
{
    return o->name ? gn_arena_printf(arena, "--%s", o->name)
                   : gn_arena_printf(arena, "-%c", o->letter);
}

/* Splits "alias=canonical" at the equals sign; length of the alias. */
static size_t alias_length(const char *choice, const char **canonical)
{
    const char *eq = strchr(choice, '=');
    *canonical = eq ? eq + 1 : choice;
    return eq ? (size_t)(eq - choice) : strlen(choice);
}

/* "svd:64", of the choice "svd:". */
static gn_status *find_number(parser *p, const gn_option *o, const char *value, size_t len,
                              const char **out)
{
    int64_t v;
    if (!gn_args_int(value + len, &v) || v < 1)
        GN_FAIL(GN_ERR_USAGE, "%s: '%s': behind %.*s stands a whole number from 1",
                spelled(o, p->arena), value, (int)len, value);
    *out = value;
    return NULL;
}

static gn_status *find_choice(parser *p, const gn_option *o, const char *value, const char **out)
{
    const char *names[32];
    gn_buf all = {.arena = p->arena};
    size_t n = 0;
    for (const char *const *c = o->choices; *c; c++) {
        const char *canonical;
        size_t len = alias_length(*c, &canonical);
        if (len && (*c)[len - 1] == ':' && !strncmp(value, *c, len))
            return find_number(p, o, value, len, out);
        if (strlen(value) == len && !strncmp(value, *c, len)) {
            *out = canonical;
            return NULL;
        }
        gn_buf_printf(&all, "%s%.*s", n ? ", " : "", (int)len, *c);
        if (n < sizeof names / sizeof *names) names[n++] = gn_arena_strndup(p->arena, *c, len);
    }
    GN_FAIL(GN_ERR_USAGE, "%s: unknown value '%s'%s\n  it is one of %s", spelled(o, p->arena),
            value, gn_args_suggest(p->arena, "", value, names, n), all.p);
}

static gn_status *set_choice(parser *p, const gn_option *o, const char *value)
{
    return find_choice(p, o, value, (const char **)(void *)(p->out + o->offset));
}

static gn_status *set_choices(parser *p, const gn_option *o, const char *value)
{
    gn_buf all = {.arena = p->arena};
    for (const char *at = value;; at++) {
        size_t n = strcspn(at, ",");
        const char *one;
        GN_TRY(find_choice(p, o, gn_arena_strndup(p->arena, at, n), &one));
        gn_buf_printf(&all, "%s%s", all.n ? "," : "", one);
        at += n;
        if (!*at) break;
    }
    *(const char **)(void *)(p->out + o->offset) = all.p;
    return NULL;
}

static gn_status *set_int(parser *p, const gn_option *o, const char *value)
{
    int64_t v;
    if (!gn_args_int(value, &v))
        GN_FAIL(GN_ERR_USAGE, "%s: '%s' is not a whole number", spelled(o, p->arena), value);
    if (v < o->min)
        GN_FAIL(GN_ERR_USAGE, "%s: %" PRId64 " is below %" PRId64, spelled(o, p->arena), v, o->min);
    if (v > o->max)
        GN_FAIL(GN_ERR_USAGE, "%s: %" PRId64 " is above %" PRId64, spelled(o, p->arena), v, o->max);
    *(int64_t *)(void *)(p->out + o->offset) = v;
    return NULL;
}

static gn_status *set_real(parser *p, const gn_option *o, const char *value)
{
    char *end;
    double v = strtod(value, &end);
    if (end == value || *end || !isfinite(v))
        GN_FAIL(GN_ERR_USAGE, "%s: '%s' is not a number", spelled(o, p->arena), value);
    if (v < (double)o->min)
        GN_FAIL(GN_ERR_USAGE, "%s: %g is below %" PRId64, spelled(o, p->arena), v, o->min);
    if (v > (double)o->max)
        GN_FAIL(GN_ERR_USAGE, "%s: %g is above %" PRId64, spelled(o, p->arena), v, o->max);
    *(double *)(void *)(p->out + o->offset) = v;
    return NULL;
}

static gn_status *check_define(parser *p, const gn_option *o, const char *value)
{
    const char *eq = strchr(value, '=');
    if (!eq || eq == value || !eq[1])
        GN_FAIL(GN_ERR_USAGE, "%s: '%s' is not name=value", spelled(o, p->arena), value);
    return NULL;
}

static gn_status *set(parser *p, const gn_option *o, const char *value)
{
    void *at = p->out + o->offset;
    switch (o->kind) {
    case GN_OPTION_GROUP: break;
    case GN_OPTION_FLAG: *(bool *)at = true; return NULL;
    case GN_OPTION_COUNT: ++*(int *)at; return NULL;
    case GN_OPTION_STRING:
        if (!*value) GN_FAIL(GN_ERR_USAGE, "%s: the %s is empty", spelled(o, p->arena), o->value);
        *(const char **)at = value;
        return NULL;
    case GN_OPTION_INT: return set_int(p, o, value);
    case GN_OPTION_REAL: return set_real(p, o, value);
    case GN_OPTION_CHOICE: return set_choice(p, o, value);
    case GN_OPTION_CHOICES: return set_choices(p, o, value);
    case GN_OPTION_DEFINE: GN_TRY(check_define(p, o, value)); /* fallthrough */
    case GN_OPTION_LIST: GN_PUSH(p->arena, *(gn_string_list *)at, value); return NULL;
    }
    GN_FAIL(GN_ERR_INTERNAL, "option of kind %d", (int)o->kind);
}

/* The option is known, but is it one of this command? */
static gn_status *check_command(parser *p, const gn_option *o)
{
    if (o->commands & p->command) return NULL;
    gn_buf whose = {.arena = p->arena};
    const char *mine = "this command";
    uint32_t all = o->commands; /* and of those that are called the same */
    for (size_t k = 0; k < p->table->n; k++) {
        const gn_option *other = &p->table->options[k];
        if (o->name && other->name && !strcmp(o->name, other->name)) all |= other->commands;
    }
    for (uint32_t i = 0; p->table->commands[i]; i++) {
        if (all >> i & 1)
            gn_buf_printf(&whose, "%s'%s'", whose.n ? ", " : "", p->table->commands[i]);
        if (p->command == 1u << i) mine = p->table->commands[i];
    }
    GN_FAIL(GN_ERR_USAGE, "'%s' takes no option %s; it belongs to %s", mine, spelled(o, p->arena),
            whose.p ? whose.p : "no command");
}

/* The value that follows: the rest of this argument or the next one. */
static gn_status *value_of(parser *p, const gn_option *o, const char *attached, const char **value)
{
    if (attached) {
        *value = attached;
        return NULL;
    }
    if (p->at + 1 >= p->argc)
        GN_FAIL(GN_ERR_USAGE, "%s needs a value: %s", spelled(o, p->arena), o->value);
    *value = p->argv[++p->at];
    return NULL;
}

static gn_status *unknown_long(parser *p, const char *name)
{
    const char **names = GN_NEW_N(p->arena, const char *, p->table->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->table->n; i++) {
        const gn_option *o = &p->table->options[i];
        if (o->name && (o->commands & p->command)) names[n++] = o->name;
    }
    GN_FAIL(GN_ERR_USAGE, "unknown option '--%s'%s", name,
            gn_args_suggest(p->arena, "--", name, names, n));
}

/* By long name (NULL: by letter): this command's where it has one, else another's; NULL:
 * nobody's. */
static const gn_option *find(const parser *p, const char *name, char letter)
{
    const gn_option *other = NULL;
    for (size_t i = 0; i < p->table->n; i++) {
        const gn_option *o = &p->table->options[i];
        if (o->kind == GN_OPTION_GROUP) continue;
        if (name ? !o->name || strcmp(o->name, name) != 0 : o->letter != letter) continue;
        if (o->commands & p->command) return o;
        if (!other) other = o;
    }
    return other;
}

static gn_status *parse_long(parser *p, const char *text)
{
    const char *eq = strchr(text, '='), *value = NULL;
    char *name = gn_arena_strndup(p->arena, text, eq ? (size_t)(eq - text) : strlen(text));
    const gn_option *o = find(p, name, 0);
    if (!o) return unknown_long(p, name);
    GN_TRY(check_command(p, o));
    if (!gn_option_takes_value(o) && eq) GN_FAIL(GN_ERR_USAGE, "--%s takes no value", name);
    if (gn_option_takes_value(o)) GN_TRY(value_of(p, o, eq ? eq + 1 : NULL, &value));
    return set(p, o, value);
}

static gn_status *parse_short(parser *p, const char *text)
{
    for (; *text; text++) {
        const gn_option *o = find(p, NULL, *text);
        if (!o) GN_FAIL(GN_ERR_USAGE, "unknown option '-%c'", *text);
        GN_TRY(check_command(p, o));
        if (gn_option_takes_value(o)) {
            const char *value;
            GN_TRY(value_of(p, o, text[1] ? text + 1 : NULL, &value));
            return set(p, o, value);
        }
        GN_TRY(set(p, o, NULL));
    }
    return NULL;
}

gn_status *gn_args_parse(const gn_option_table *table, uint32_t command, int argc,
                         char *const *argv, gn_arena *arena, void *out, gn_string_list *operands)
{
    parser p = {
        .table = table, .command = command, .arena = arena, .out = out, .argc = argc, .argv = argv};
    bool options = true;
    for (; p.at < argc; p.at++) {
        const char *arg = argv[p.at];
        if (!options || arg[0] != '-' || !arg[1])
            GN_PUSH(arena, *operands, arg);
        else if (!strcmp(arg, "--"))
            options = false;
        else if (arg[1] == '-')
            GN_TRY(parse_long(&p, arg + 2));
        else
            GN_TRY(parse_short(&p, arg + 1));
    }
    return NULL;
}

/* "-O, --mode MODE" into `text`; its length. */
static int usage_of(const gn_option *o, char *text, size_t size)
{
    const char *value = gn_option_takes_value(o) ? o->value : "";
    const char *gap = gn_option_takes_value(o) ? " " : "";
    if (!o->name) return snprintf(text, size, "-%c%s%s", o->letter, gap, value);
    if (!o->letter) return snprintf(text, size, "    --%s%s%s", o->name, gap, value);
    return snprintf(text, size, "-%c, --%s%s%s", o->letter, o->name, gap, value);
}

bool gn_option_is_of(const gn_option *o, uint32_t command)
{
    return o->kind != GN_OPTION_GROUP && (o->commands & command) != 0;
}

const char *gn_option_group(const gn_option_table *table, uint32_t command, size_t at)
{
    enum { MANY = 12 }; /* fewer options are read without titles */
    size_t n = 0, title = at;
    for (size_t i = 0; i < table->n; i++) n += gn_option_is_of(&table->options[i], command);
    if (n < MANY) return NULL;
    while (title > 0 && table->options[title].kind != GN_OPTION_GROUP) title--;
    for (size_t i = title; i < at; i++)
        if (gn_option_is_of(&table->options[i], command)) return NULL;
    return table->options[title].kind == GN_OPTION_GROUP ? table->options[title].help : NULL;
}

void gn_args_help(const gn_option_table *table, uint32_t command, FILE *to)
{
    char text[128];
    int width = 0;
    size_t first = table->n;
    for (size_t i = 0; i < table->n; i++)
        if (gn_option_is_of(&table->options[i], command)) {
            int n = usage_of(&table->options[i], text, sizeof text);
            if (n > width) width = n;
            if (first == table->n) first = i;
        }
    for (size_t i = 0; i < table->n; i++) {
        const gn_option *o = &table->options[i];
        if (!gn_option_is_of(o, command)) continue;
        const char *group = gn_option_group(table, command, i);
        if (group) fprintf(to, "%s%s:\n", i > first ? "\n" : "", group);
        usage_of(o, text, sizeof text);
        fprintf(to, "  %-*s  ", width, text);
        for (const char *h = o->help; *h; h++) {
            fputc(*h, to);
            if (*h == '\n') fprintf(to, "%*s", width + 4, "");
        }
        fputc('\n', to);
    }
}
