/* The stack machine of the pickle reader.  Each opcode is a row of `ops`: a name, the argument it
 * carries, and what it does.  Every value costs at least one byte of input, nothing is copied more
 * than once, and the arena's limit catches what is left, so time and memory are linear in the
 * file's size. */
#include "runtime/data/pickle_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MARKS = 1000, MEMORY_RATIO = 96 };

const char *gn_pickle_kind_name(gn_pickle_kind kind)
{
    static const char *const names[] = {"None",  "bool",        "int",           "float",  "str",
                                        "bytes", "tuple",       "list",          "dict",   "global",
                                        "dtype", "numpy array", "sparse matrix", "storage"};
    return names[kind];
}

const gn_pickle_value *gn_pickle_get(const gn_pickle_value *dict, const char *key)
{
    if (dict->kind != GN_PICKLE_DICT) return NULL;
    for (uint32_t k = dict->n; k >= 2; k -= 2)
        if (gn_pickle_is_text(dict->u.item[k - 2], key)) return dict->u.item[k - 1];
    return NULL;
}

bool gn_pickle_is_text(const value *v, const char *text)
{
    return (v->kind == GN_PICKLE_STR || v->kind == GN_PICKLE_BYTES) && v->n == strlen(text) &&
           memcmp(v->u.s, text, v->n) == 0;
}

gn_status *gn_pickle_error(const machine *m, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gn_status *s = gn_status_vmake(GN_ERR_DATA, file, line, fmt, ap);
    va_end(ap);
    return gn_status_annotate(s, "%s: byte %zu", m->origin, m->op_at);
}

value *gn_pickle_new(machine *m, gn_pickle_kind kind)
{
    value *v = GN_NEW(m->arena, value);
    v->kind = kind;
    return v;
}

/* Capacity is implied: the power of two not below n. */
void gn_pickle_append(machine *m, value *list, value *v)
{
    if ((list->n & (list->n - 1)) == 0) {
        value **item = GN_NEW_N(m->arena, value *, list->n ? (size_t)list->n * 2 : 1);
        if (list->n) memcpy(item, list->u.item, list->n * sizeof *item);
        list->u.item = item;
    }
    list->u.item[list->n++] = v;
}

static void push(machine *m, value *v) { GN_PUSH(m->arena, m->stack, v); }

static gn_status *push_int(machine *m, int64_t i)
{
    value *v = gn_pickle_new(m, GN_PICKLE_INT);
    v->u.i = i;
    push(m, v);
    return NULL;
}

/* Values above the last mark; the machine may not reach below it. */
static uint32_t height(const machine *m)
{
    return m->stack.n - (m->marks.n ? m->marks.p[m->marks.n - 1] : 0);
}

static gn_status *pop(machine *m, value **out)
{
    if (height(m) == 0) PICKLE_FAIL(m, "the stack is empty");
    *out = m->stack.p[--m->stack.n];
    return NULL;
}

static gn_status *top(machine *m, value **out)
{
    if (height(m) == 0) PICKLE_FAIL(m, "the stack is empty");
    *out = m->stack.p[m->stack.n - 1];
    return NULL;
}

/* Ends the innermost mark: its items start at *first and are popped (but stay readable until the
 * next push). */
static gn_status *pop_mark(machine *m, value ***items, uint32_t *n)
{
    if (m->marks.n == 0) PICKLE_FAIL(m, "no mark on the stack");
    uint32_t at = m->marks.p[--m->marks.n];
    *items = m->stack.p ? m->stack.p + at : NULL;
    *n = m->stack.n - at;
    m->stack.n = at;
    return NULL;
}

static value *sequence(machine *m, gn_pickle_kind kind, value *const *items, uint32_t n)
{
    if (kind == GN_PICKLE_TUPLE && n == 0) return m->empty_tuple;
    value *v = gn_pickle_new(m, kind);
    for (uint32_t i = 0; i < n; i++) gn_pickle_append(m, v, items[i]);
    return v;
}

/* ---- reading arguments ---- */

static gn_status *take(machine *m, size_t n, const unsigned char **out)
{
    if (n > m->n - m->at)
        PICKLE_FAIL(m, "%zu bytes expected, but only %zu are left: the file is truncated", n,
                    m->n - m->at);
    *out = m->p + m->at;
    m->at += n;
    return NULL;
}

static gn_status *take_uint(machine *m, size_t bytes, uint64_t *out)
{
    const unsigned char *p;
    GN_TRY(take(m, bytes, &p));
    *out = 0;
    for (size_t i = bytes; i-- > 0;) *out = *out << 8 | p[i];
    return NULL;
}

static gn_status *take_line(machine *m, const char **s, size_t *n)
{
    const unsigned char *from = m->p + m->at,
                        *end = m->at < m->n ? memchr(from, '\n', m->n - m->at) : NULL;
    if (!end) PICKLE_FAIL(m, "no end of line: the file is truncated");
    *s = (const char *)from;
    *n = (size_t)(end - from);
    m->at += *n + 1;
    return NULL;
}

/* A decimal number in a line; Python 2 ends a long with L. */
static gn_status *parse_decimal(machine *m, const char *s, size_t n, int64_t *out)
{
    char text[24], *end;
    if (n > 0 && s[n - 1] == 'L') n--;
    if (n == 0 || n >= sizeof text) PICKLE_FAIL(m, "expected an integer of at most 64 bits");
    memcpy(text, s, n);
    text[n] = 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (*end || end == text || errno) PICKLE_FAIL(m, "expected an integer of at most 64 bits");
    return NULL;
}

/* ---- opcodes; `arg` is the table's ---- */

static gn_status *op_proto(machine *m, int arg)
{
    uint64_t v;
    (void)arg;
    GN_TRY(take_uint(m, 1, &v));
    if (v > 5) PICKLE_FAIL(m, "pickle protocol %u: expected 0 to 5", (unsigned)v);
    return NULL;
}

static gn_status *op_frame(machine *m, int arg)
{
    uint64_t v;
    (void)arg;
    GN_TRY(take_uint(m, 8, &v));
    if (v > m->n - m->at)
        PICKLE_FAIL(m, "a frame reaches past the end of the file: it is truncated");
    return NULL;
}

static gn_status *op_mark(machine *m, int arg)
{
    (void)arg;
    if (m->marks.n == MAX_MARKS) PICKLE_FAIL(m, "nested deeper than %d", MAX_MARKS);
    GN_PUSH(m->arena, m->marks, m->stack.n);
    return NULL;
}

static gn_status *op_pop(machine *m, int arg)
{
    value *v, **items;
    uint32_t n;
    (void)arg;
    if (height(m) == 0)
        return pop_mark(m, &items, &n); /* as CPython does: a mark counts as an item */
    return pop(m, &v);
}

static gn_status *op_pop_mark(machine *m, int arg)
{
    value **items;
    uint32_t n;
    (void)arg;
    return pop_mark(m, &items, &n);
}

static gn_status *op_dup(machine *m, int arg)
{
    value *v;
    (void)arg;
    GN_TRY(top(m, &v));
    push(m, v);
    return NULL;
}

static gn_status *op_constant(machine *m, int arg)
{
    push(m, arg == 'N' ? m->none : arg == 0x88 ? m->yes : arg == 0x89 ? m->no : m->empty_tuple);
    return NULL;
}

static gn_status *op_uint(machine *m, int bytes)
{
    uint64_t v;
    GN_TRY(take_uint(m, (size_t)bytes, &v));
    return push_int(m, bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v);
}

static gn_status *op_int_line(machine *m, int arg)
{
    const char *s;
    size_t n;
    int64_t v;
    GN_TRY(take_line(m, &s, &n));
    if (arg == 'I' && n == 2 && s[0] == '0' && (s[1] == '0' || s[1] == '1')) {
        push(m, s[1] == '1' ? m->yes : m->no);
        return NULL;
    }
    GN_TRY(parse_decimal(m, s, n, &v));
    return push_int(m, v);
}

/* Two's complement, little-endian, any length up to eight bytes. */
static gn_status *op_long(machine *m, int length_bytes)
{
    uint64_t n, v;
    GN_TRY(take_uint(m, (size_t)length_bytes, &n));
    if (n > 8)
        PICKLE_FAIL(m, "an integer of %llu bytes: expected at most 64 bits", (unsigned long long)n);
    GN_TRY(take_uint(m, (size_t)n, &v));
    if (n == 0) return push_int(m, 0);
    unsigned shift = 64 - 8 * (unsigned)n;
    return push_int(m, (int64_t)(v << shift) >> shift);
}

static gn_status *op_float_line(machine *m, int arg)
{
    const char *s;
    char text[64], *end;
    size_t n;
    (void)arg;
    GN_TRY(take_line(m, &s, &n));
    if (n == 0 || n >= sizeof text) PICKLE_FAIL(m, "expected a number");
    memcpy(text, s, n);
    text[n] = 0;
    value *v = gn_pickle_new(m, GN_PICKLE_FLOAT);
    v->u.f = strtod(text, &end);
    if (*end || end == text) PICKLE_FAIL(m, "expected a number");
    push(m, v);
    return NULL;
}

static gn_status *op_float(machine *m, int arg)
{
    const unsigned char *p;
    uint64_t bits = 0;
    (void)arg;
    GN_TRY(take(m, 8, &p));
    for (int i = 0; i < 8; i++) bits = bits << 8 | p[i];
    value *v = gn_pickle_new(m, GN_PICKLE_FLOAT);
    memcpy(&v->u.f, &bits, 8);
    push(m, v);
    return NULL;
}

static gn_status *push_text(machine *m, gn_pickle_kind kind, const void *s, size_t n)
{
    value *v = gn_pickle_new(m, kind);
    v->u.s = s;
    v->n = (uint32_t)n;
    push(m, v);
    return NULL;
}

/* Strings that carry their length. arg: bytes of the length, negative for byte strings. */
static gn_status *op_text(machine *m, int arg)
{
    uint64_t n;
    const unsigned char *p;
    GN_TRY(take_uint(m, (size_t)abs(arg), &n));
    if (n > m->n)
        PICKLE_FAIL(m, "a string of %llu bytes in a file of %zu", (unsigned long long)n, m->n);
    GN_TRY(take(m, (size_t)n, &p));
    return push_text(m, arg < 0 ? GN_PICKLE_BYTES : GN_PICKLE_STR, p, (size_t)n);
}

/* Text in protocol 0: Python 2's string literal, and Unicode. */
static gn_status *op_literal(machine *m, int kind)
{
    const char *s;
    size_t n;
    value *v = gn_pickle_new(m, (gn_pickle_kind)kind);
    GN_TRY(take_line(m, &s, &n));
    GN_TRY(kind == GN_PICKLE_BYTES ? gn_pickle_string_literal(m, s, n, v)
                                   : gn_pickle_unicode_literal(m, s, n, v));
    push(m, v);
    return NULL;
}

static gn_status *op_empty(machine *m, int kind)
{
    push(m, gn_pickle_new(m, (gn_pickle_kind)kind));
    return NULL;
}

static gn_status *op_tuple_n(machine *m, int n)
{
    if (height(m) < (uint32_t)n) PICKLE_FAIL(m, "a tuple of %d needs more than is on the stack", n);
    m->stack.n -= (uint32_t)n;
    push(m, sequence(m, GN_PICKLE_TUPLE, m->stack.p + m->stack.n, (uint32_t)n));
    return NULL;
}

static gn_status *op_from_mark(machine *m, int kind)
{
    value **items;
    uint32_t n;
    GN_TRY(pop_mark(m, &items, &n));
    if (kind == GN_PICKLE_DICT && n % 2) PICKLE_FAIL(m, "a dict's key without a value");
    push(m, sequence(m, (gn_pickle_kind)kind, items, n));
    return NULL;
}

/* APPEND, APPENDS, SETITEM, SETITEMS. arg: the kind added to; negative: one item or pair instead of
 * a mark's. */
static gn_status *op_add(machine *m, int arg)
{
    gn_pickle_kind kind = (gn_pickle_kind)abs(arg);
    value **items, *to;
    uint32_t n = kind == GN_PICKLE_DICT ? 2 : 1;
    if (arg > 0) {
        GN_TRY(pop_mark(m, &items, &n));
    } else {
        if (height(m) < n) PICKLE_FAIL(m, "the stack is empty");
        m->stack.n -= n;
        items = m->stack.p + m->stack.n;
    }
    GN_TRY(top(m, &to));
    if (to->kind != kind)
        PICKLE_FAIL(m, "expected a %s to add to, found %s", gn_pickle_kind_name(kind),
                    gn_pickle_kind_name(to->kind));
    if (kind == GN_PICKLE_DICT && n % 2) PICKLE_FAIL(m, "a dict's key without a value");
    for (uint32_t i = 0; i < n; i++) gn_pickle_append(m, to, items[i]);
    return NULL;
}

/* Number of the memo: a line of text (arg 0) or arg bytes. */
static gn_status *memo_index(machine *m, int arg, uint64_t *out)
{
    if (arg) return take_uint(m, (size_t)arg, out);
    const char *s;
    size_t n;
    int64_t v;
    GN_TRY(take_line(m, &s, &n));
    GN_TRY(parse_decimal(m, s, n, &v));
    if (v < 0) PICKLE_FAIL(m, "memo %lld is negative", (long long)v);
    *out = (uint64_t)v;
    return NULL;
}

static gn_status *op_get(machine *m, int arg)
{
    uint64_t i;
    GN_TRY(memo_index(m, arg, &i));
    if (i >= m->memo.n || !m->memo.p[i])
        PICKLE_FAIL(m, "memo %llu was never stored", (unsigned long long)i);
    push(m, m->memo.p[i]);
    return NULL;
}

/* A memo cannot have more entries than the file has bytes: picklers number them in order. */
static gn_status *op_put(machine *m, int arg)
{
    uint64_t i = m->memo.n;
    value *v;
    GN_TRY(top(m, &v));
    if (arg >= 0) GN_TRY(memo_index(m, arg, &i));
    if (i > m->at) PICKLE_FAIL(m, "memo %llu is out of range", (unsigned long long)i);
    while (m->memo.n <= i) GN_PUSH(m->arena, m->memo, NULL);
    m->memo.p[i] = v;
    return NULL;
}

static gn_status *op_global(machine *m, int arg)
{
    const char *module, *name;
    size_t nm, nn;
    value *v;
    (void)arg;
    GN_TRY(take_line(m, &module, &nm));
    GN_TRY(take_line(m, &name, &nn));
    GN_TRY(gn_pickle_global(m, module, nm, name, nn, &v));
    push(m, v);
    return NULL;
}

static gn_status *op_stack_global(machine *m, int arg)
{
    value *module, *name, *v;
    (void)arg;
    GN_TRY(pop(m, &name));
    GN_TRY(pop(m, &module));
    if (name->kind != GN_PICKLE_STR || module->kind != GN_PICKLE_STR)
        PICKLE_FAIL(m, "expected the names of a module and a global");
    GN_TRY(gn_pickle_global(m, module->u.s, module->n, name->u.s, name->n, &v));
    push(m, v);
    return NULL;
}

static gn_status *op_call(machine *m, int is_new)
{
    value *f, *args, *v;
    GN_TRY(pop(m, &args));
    GN_TRY(pop(m, &f));
    if (f->kind != GN_PICKLE_GLOBAL || args->kind != GN_PICKLE_TUPLE)
        PICKLE_FAIL(m, "expected a global and a tuple to call it with, found %s and %s",
                    gn_pickle_kind_name(f->kind), gn_pickle_kind_name(args->kind));
    GN_TRY(is_new ? gn_pickle_newobj(m, f, args, &v) : gn_pickle_reduce(m, f, args, &v));
    push(m, v);
    return NULL;
}

static gn_status *op_build(machine *m, int arg)
{
    value *state, *object;
    (void)arg;
    GN_TRY(pop(m, &state));
    GN_TRY(top(m, &object));
    return gn_pickle_build(m, object, state);
}

static gn_status *op_storage(machine *m, int arg)
{
    value *id, *v;
    (void)arg;
    if (!m->storages)
        PICKLE_FAIL(m, "opcode BINPERSID is refused: a data file holds plain values only");
    GN_TRY(pop(m, &id));
    GN_TRY(gn_pickle_storage(m, id, &v));
    push(m, v);
    return NULL;
}

typedef struct op {
    const char *name;                  /* NULL: not an opcode */
    gn_status *(*run)(machine *, int); /* NULL: known and refused */
    int arg;
} op;

static const op ops[256] = {
    [0x80] = {"PROTO", op_proto, 0},
    [0x95] = {"FRAME", op_frame, 0},
    ['('] = {"MARK", op_mark, 0},
    ['0'] = {"POP", op_pop, 0},
    ['1'] = {"POP_MARK", op_pop_mark, 0},
    ['2'] = {"DUP", op_dup, 0},
    ['N'] = {"NONE", op_constant, 'N'},
    [0x88] = {"NEWTRUE", op_constant, 0x88},
    [0x89] = {"NEWFALSE", op_constant, 0x89},
    [')'] = {"EMPTY_TUPLE", op_constant, ')'},
    ['J'] = {"BININT", op_uint, 4},
    ['K'] = {"BININT1", op_uint, 1},
    ['M'] = {"BININT2", op_uint, 2},
    ['I'] = {"INT", op_int_line, 'I'},
    ['L'] = {"LONG", op_int_line, 'L'},
    [0x8a] = {"LONG1", op_long, 1},
    [0x8b] = {"LONG4", op_long, 4},
    ['F'] = {"FLOAT", op_float_line, 0},
    ['G'] = {"BINFLOAT", op_float, 0},
    ['S'] = {"STRING", op_literal, GN_PICKLE_BYTES},
    ['V'] = {"UNICODE", op_literal, GN_PICKLE_STR},
    ['U'] = {"SHORT_BINSTRING", op_text, -1},
    ['T'] = {"BINSTRING", op_text, -4},
    ['C'] = {"SHORT_BINBYTES", op_text, -1},
    ['B'] = {"BINBYTES", op_text, -4},
    [0x8e] = {"BINBYTES8", op_text, -8},
    [0x96] = {"BYTEARRAY8", op_text, -8},
    [0x8c] = {"SHORT_BINUNICODE", op_text, 1},
    ['X'] = {"BINUNICODE", op_text, 4},
    [0x8d] = {"BINUNICODE8", op_text, 8},
    [']'] = {"EMPTY_LIST", op_empty, GN_PICKLE_LIST},
    ['}'] = {"EMPTY_DICT", op_empty, GN_PICKLE_DICT},
    [0x85] = {"TUPLE1", op_tuple_n, 1},
    [0x86] = {"TUPLE2", op_tuple_n, 2},
    [0x87] = {"TUPLE3", op_tuple_n, 3},
    ['t'] = {"TUPLE", op_from_mark, GN_PICKLE_TUPLE},
    ['l'] = {"LIST", op_from_mark, GN_PICKLE_LIST},
    ['d'] = {"DICT", op_from_mark, GN_PICKLE_DICT},
    ['a'] = {"APPEND", op_add, -GN_PICKLE_LIST},
    ['e'] = {"APPENDS", op_add, GN_PICKLE_LIST},
    ['s'] = {"SETITEM", op_add, -GN_PICKLE_DICT},
    ['u'] = {"SETITEMS", op_add, GN_PICKLE_DICT},
    ['g'] = {"GET", op_get, 0},
    ['h'] = {"BINGET", op_get, 1},
    ['j'] = {"LONG_BINGET", op_get, 4},
    ['p'] = {"PUT", op_put, 0},
    ['q'] = {"BINPUT", op_put, 1},
    ['r'] = {"LONG_BINPUT", op_put, 4},
    [0x94] = {"MEMOIZE", op_put, -1},
    ['c'] = {"GLOBAL", op_global, 0},
    [0x93] = {"STACK_GLOBAL", op_stack_global, 0},
    ['R'] = {"REDUCE", op_call, 0},
    [0x81] = {"NEWOBJ", op_call, 1},
    ['b'] = {"BUILD", op_build, 0},
    ['P'] = {"PERSID", NULL, 0},
    ['Q'] = {"BINPERSID", op_storage, 0},
    ['i'] = {"INST", NULL, 0},
    ['o'] = {"OBJ", NULL, 0},
    [0x82] = {"EXT1", NULL, 0},
    [0x83] = {"EXT2", NULL, 0},
    [0x84] = {"EXT4", NULL, 0},
    [0x8f] = {"EMPTY_SET", op_empty, GN_PICKLE_LIST},
    [0x90] = {"ADDITEMS", op_add, GN_PICKLE_LIST},
    [0x91] = {"FROZENSET", op_from_mark, GN_PICKLE_LIST},
    [0x92] = {"NEWOBJ_EX", NULL, 0},
    [0x97] = {"NEXT_BUFFER", NULL, 0},
    [0x98] = {"READONLY_BUFFER", NULL, 0},
};

static gn_status *run(machine *m, value **out)
{
    m->none = gn_pickle_new(m, GN_PICKLE_NONE);
    m->no = gn_pickle_new(m, GN_PICKLE_BOOL);
    m->yes = gn_pickle_new(m, GN_PICKLE_BOOL);
    m->yes->u.i = 1;
    m->empty_tuple = gn_pickle_new(m, GN_PICKLE_TUPLE);
    for (;;) {
        m->op_at = m->at;
        if (m->at == m->n) PICKLE_FAIL(m, "the file ends before the pickle does: it is truncated");
        unsigned code = m->p[m->at++];
        if (code == '.') break;
        const op *o = &ops[code];
        if (!o->name) PICKLE_FAIL(m, "0x%02x is not a pickle opcode", code);
        if (!o->run)
            PICKLE_FAIL(m, "opcode %s is refused: a data file holds plain values only", o->name);
        GN_TRY(o->run(m, o->arg));
    }
    GN_TRY(pop(m, out));
    if (m->stack.n || m->marks.n) PICKLE_FAIL(m, "values are left on the stack at the end");
    return NULL;
}

/* Whether the arena stopped at its limit or the system had no more: it grows by at least what it
 * has, up to 16 MiB. */
static bool hit_limit(const gn_arena *a, size_t limit)
{
    size_t chunk = a->total < (16u << 20) ? a->total : 16u << 20;
    return a->wanted > limit || a->total + (a->wanted > chunk ? a->wanted : chunk) > limit;
}

gn_status *gn_pickle_parse_one(gn_arena *a, const void *bytes, size_t n, const char *origin,
                               const gn_pickle_storages *storages, size_t *used, value **out)
{
    if (n > INT32_MAX)
        GN_FAIL(GN_ERR_DATA, "%s: a pickle of %zu bytes: expected less than 2 GiB", origin, n);
    machine m = {.arena = a, .origin = origin, .p = bytes, .n = n, .storages = storages};
    size_t limit_before = a->limit, limit = a->total + n * MEMORY_RATIO + (1u << 20);
    jmp_buf *oom_before = a->oom, boundary;
    a->oom = &boundary;
    a->limit = limit;
    gn_status *s;
    if (setjmp(boundary) == 0)
        s = run(&m, out);
    else if (hit_limit(a, limit))
        s = GN_ERROR(GN_ERR_DATA,
                     "%s: the pickle needs over %d times its %zu bytes of memory: refused", origin,
                     MEMORY_RATIO, n);
    else
        s = GN_ERROR(GN_ERR_NOMEM, "%s: out of memory: %zu bytes", origin, a->wanted);
    a->oom = oom_before;
    a->limit = limit_before;
    *used = m.at;
    return s;
}

gn_status *gn_pickle_parse(gn_arena *a, const void *bytes, size_t n, const char *origin,
                           value **out)
{
    size_t used;
    return gn_pickle_parse_one(a, bytes, n, origin, NULL, &used, out);
}
