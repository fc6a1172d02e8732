/* Pickles: what is read, what is refused, and that nothing a file says can hurt. */
/* links: runtime base */
#include "data_fixture.h"

#include "runtime/data/pickle.h"

typedef struct parsed {
    gn_arena arena;
    gn_pickle_value *v;
    char *bytes;
    gn_status *s;
} parsed;

static parsed parse(const void *bytes, size_t n)
{
    parsed p = {.bytes = exact(bytes, n)};
    gn_arena_init(&p.arena);
    p.s = gn_pickle_parse(&p.arena, p.bytes, n, "test", &p.v);
    return p;
}

#define PARSE(bytes) parse((bytes), sizeof(bytes) - 1)

static void done(parsed *p)
{
    gn_arena_free(&p->arena);
    free(p->bytes);
}

static void refuse_n(const char *bytes, size_t n, const char *words, int line)
{
    parsed p = parse(bytes, n);
    must_fail(p.s, GN_ERR_DATA, words, line);
    done(&p);
}
#define REFUSE(bytes, words) refuse_n((bytes), sizeof(bytes) - 1, (words), __LINE__)

START_TEST(reads_numbers)
{
    static const struct {
        const char *bytes;
        size_t n;
        int64_t value;
    } cases[] = {
#define C(text, value) {text, sizeof text - 1, value}
        C("K\x07.", 7),
        C("M\x01\x02.", 513),
        C("J\xff\xff\xff\xff.", -1),
        C("I12\n.", 12),
        C("L-5L\n.", -5),
        C("\x8a\x02\x00\x80.", -32768),
        C("\x8a\x00.", 0),
        C("I01\n.", 1),
        C("\x88.", 1),
        C("\x89.", 0),
        C("\x80\x05K\x03.", 3),
        C("K\x01K\x02"
          "0.",
          1),
        C("L9223372036854775807L\n.", INT64_MAX),
#undef C
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p = parse(cases[i].bytes, cases[i].n);
        must(p.s);
        ck_assert_int_eq(p.v->u.i, cases[i].value);
        done(&p);
    }
    parsed p = PARSE("G\x3f\xf8\0\0\0\0\0\0.");
    must(p.s);
    ck_assert(p.v->u.f == 1.5);
    done(&p);
    p = PARSE("F-2.5e3\n.");
    must(p.s);
    ck_assert(p.v->u.f == -2500);
    done(&p);
}
END_TEST

START_TEST(reads_text_and_collections)
{
    parsed p = PARSE("S'a\\x41\\n\\\\'\n.");
    must(p.s);
    ck_assert(gn_pickle_is_text(p.v, "aA\n\\"));
    done(&p);
    p = PARSE("Vx\\u00e9\n.");
    must(p.s);
    ck_assert(gn_pickle_is_text(p.v, "x\xc3\xa9"));
    done(&p);
    p = PARSE("(lp0\nI1\naI2\na.");
    must(p.s);
    ck_assert_int_eq(p.v->kind, GN_PICKLE_LIST);
    ck_assert_uint_eq(p.v->n, 2);
    ck_assert_int_eq(p.v->u.item[1]->u.i, 2);
    done(&p);
    p = PARSE("ccollections\ndefaultdict\n(c__builtin__\nlist\ntR(K\x05]K\x06u.");
    must_fail(p.s, GN_ERR_DATA, "a dict's key without a value", __LINE__);
    done(&p);
    p = PARSE("ccollections\ndefaultdict\n(c__builtin__\nlist\ntR(K\x05]u.");
    must(p.s);
    ck_assert_int_eq(p.v->kind, GN_PICKLE_DICT);
    ck_assert_uint_eq(p.v->n, 2);
    done(&p);
}
END_TEST

START_TEST(refuses_what_could_run)
{
    REFUSE("cos\nsystem\n(S'echo pwned'\ntR.", "byte 0: global os.system is refused");
    REFUSE("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.",
           "global posix.system is refused");
    REFUSE("K\x01"
           "cbuiltins\neval\n.",
           "byte 2: global builtins.eval is refused");
    REFUSE("c\x1b[31m\n\"x\n.", "global ?[31m.\"x is refused");
    REFUSE("(S'x'\nios\nsystem\n.", "opcode INST is refused");
    REFUSE("Pid\n.", "opcode PERSID is refused");
    REFUSE("\x82\x01.", "opcode EXT1 is refused");
    REFUSE("\x8fK\x01\x90.", "no mark");
    REFUSE("\x97.", "opcode NEXT_BUFFER is refused");
    REFUSE("\xff.", "0xff is not a pickle opcode");
    REFUSE("cnumpy\nndarray\n)R.", "cannot be called");
    REFUSE("cnumpy\nndarray\n)\x81.", "only sparse matrices");
    REFUSE("K\x01)R.", "expected a global");
    REFUSE("]K\x01"
           "b.",
           "a list cannot be given a state");
}
END_TEST

START_TEST(refuses_malformed_input)
{
    REFUSE("", "truncated");
    REFUSE(".", "the stack is empty");
    REFUSE("K\x01K\x02.", "values are left");
    REFUSE("(K\x01.", "values are left");
    REFUSE("K\x01t.", "no mark");
    REFUSE("a.", "the stack is empty");
    REFUSE("(K\x01"
           "a.",
           "the stack is empty");
    REFUSE("K\x01K\x02"
           "a.",
           "expected a list");
    REFUSE("h\x05.", "memo 5 was never stored");
    REFUSE("]r\xff\xff\xff\xff.", "memo 4294967295 is out of range");
    REFUSE("]p9999999\n.", "out of range");
    REFUSE("]p-1\n.", "negative");
    REFUSE("T\xff\xff\xff\x7fxx.", "a string of 2147483647 bytes in a file of 8");
    REFUSE("\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", "a string of 18446744073709551615");
    REFUSE("U\x04xx.", "truncated");
    REFUSE("\x95\xff\xff\xff\xff\xff\xff\xff\xff.", "a frame reaches past");
    REFUSE("\x80\x06.", "protocol 6");
    REFUSE("\x8b\xff\xff\xff\xff.", "an integer of 4294967295 bytes");
    REFUSE("L99999999999999999999L\n.", "at most 64 bits");
    REFUSE("I\n.", "at most 64 bits");
    REFUSE("S'x\n.", "quoted");
    REFUSE("S'\\q'\n.", "escape");
    REFUSE("Fx\n.", "expected a number");
}
END_TEST

#define NDARRAY                                                                                    \
    "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01"                         \
    "btR"
#define DTYPE(code)                                                                                \
    "cnumpy\ndtype\n(U" code "K\0K\1tR(K\3U\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"

START_TEST(reads_and_refuses_arrays)
{
    static const char good[] = NDARRAY
        "(K\1(K\2t" DTYPE("\2i4") "\x89U\x08\1\0\0\0\xff\xff\xff\xfftb.";
    parsed p = parse(good, sizeof good - 1);
    must(p.s);
    int64_t v;
    ck_assert_int_eq(p.v->kind, GN_PICKLE_ARRAY);
    ck_assert(gn_ndarray_i64(p.v->u.array, 1, &v) && v == -1);
    done(&p);
    REFUSE(NDARRAY "(K\1(K\3t" DTYPE("\2i4") "\x89U\x08\1\0\0\0\xff\xff\xff\xfftb.",
           "3 elements of 4 bytes, but 8");
    REFUSE(NDARRAY "(K\1(J\xff\xff\xff\xfft" DTYPE("\2i4") "\x89U\0tb.", "impossible shape");
    REFUSE(NDARRAY
           "(K\1(J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7ft" DTYPE("\2i4") "\x89U\0tb.",
           "impossible shape");
    REFUSE(NDARRAY "(K\1(K\1t" DTYPE("\2O8") "\x89]tb.", "expected a list of its 1 objects");
    REFUSE(NDARRAY "(K\1(K\1t" DTYPE("\2O8") "\x89U\x08"
                                             "12345678tb.",
           "expected a list of its 1 objects");
    REFUSE(NDARRAY "(K\1(K\1t" DTYPE("\2O9") "\x89]Natb.", "'O9' is refused");
    REFUSE("cnumpy.core.multiarray\nscalar\n(" DTYPE("\2O8") "U\x08"
                                                             "12345678tR.",
           "numpy scalar: expected a dtype");
    static const char objects[] = NDARRAY "(K\1(K\1t" DTYPE("\2O8") "\x89]NatbK\1"
                                                                    "0.";
    p = parse(objects, sizeof objects - 1);
    must(p.s);
    ck_assert(p.v->kind == GN_PICKLE_LIST && p.v->n == 1 && p.v->u.item[0]->kind == GN_PICKLE_NONE);
    done(&p);
    REFUSE(NDARRAY "(K\1(K\1t" DTYPE("\2V8") "\x89]tb.", "dtype 'V8' is refused");
    REFUSE(NDARRAY "(K\1(K\1t" DTYPE("\2i4") "\x89]tb.", "expected its data as bytes, found list");
    REFUSE(NDARRAY "(K\1(K\1tN\x89U\0tb.", "expected a dtype");
    REFUSE(NDARRAY "Nb.", "as its state");
    REFUSE("cscipy.sparse.csr\ncsr_matrix\n)\x81}b.", "'_shape'");
}
END_TEST

/* What scipy makes of one matrix in its formats (tests/data/make.py): [[0, 1.5, 0, 0], [0, 0, 0,
 * -2], [3, 0, 0, 0]]. */
static void check_matrix(const char *name)
{
    char path[128];
    gn_bytes b;
    gn_csr *m;
    snprintf(path, sizeof path, "tests/data/pickle/%s", name);
    must(gn_file_read(source_path(path), &b));
    parsed p = parse(b.p, b.n);
    must(p.s);
    must(gn_pickle_matrix(p.v, name, &m));
    ck_assert_msg(m->rows == 3 && m->cols == 4 && m->nnz == 3, "%s: %lld entries", name,
                  (long long)m->nnz);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(m->ptr[i + 1], i + 1);
        ck_assert_int_eq(m->col[i], ((const int[]){1, 3, 0})[i]);
        ck_assert(m->val[i] == ((const float[]){1.5f, -2, 3})[i]);
    }
    gn_csr_free(m);
    done(&p);
    gn_bytes_free(&b);
}

START_TEST(reads_matrices_of_scipy)
{
    static const char *const formats[] = {"csr", "csc", "coo", "lil", "dok"};
    char name[64];
    for (int k = 0; k < 5; k++)
        for (int protocol = 0; protocol < 3; protocol++) {
            snprintf(name, sizeof name, "%s-matrix.%d", formats[k],
                     ((const int[]){0, 2, 5})[protocol]);
            check_matrix(name);
            snprintf(name, sizeof name, "%s-array.%d", formats[k],
                     ((const int[]){0, 2, 5})[protocol]);
            check_matrix(name);
        }
    check_matrix("numpy-matrix.2");
    check_matrix("old-coo.2");
    check_matrix("old-csc.2");
}
END_TEST

/* A matrix's file with one thing in it changed: read, or refused with these words. */
static void change(const char *name, const char *from, const char *to, size_t n, const char *words)
{
    char path[128];
    gn_bytes b;
    gn_csr *m;
    snprintf(path, sizeof path, "tests/data/pickle/%s", name);
    must(gn_file_read(source_path(path), &b));
    unsigned char *at = memmem(b.p, b.n, from, n);
    ck_assert_msg(at != NULL, "%s has no '%s'", name, from);
    memcpy(at, to, n);
    parsed p = parse(b.p, b.n);
    must_fail(p.s ? p.s : gn_pickle_matrix(p.v, name, &m), GN_ERR_DATA, words, __LINE__);
    done(&p);
    gn_bytes_free(&b);
}

START_TEST(refuses_matrices_that_lie)
{
#define COL2 "\0\0\0\0\1\0\0\0\3\0\0\0"
    change("lil-matrix.2", "K\3K\4\x86", "K\2K\4\x86", 5, "lists of 3 and 3 rows: expected 2");
    change("lil-matrix.2", "K\3K\4\x86", "K\3K\3\x86", 5,
           "an entry at (1, 3): expected rows below 3 and columns below 3");
    change("dok-matrix.2", "K\3K\4\x86", "K\2K\4\x86", 5,
           "an entry at (2, 0): expected rows below 2");
    change("coo-matrix.2", "K\3K\4\x86", "K\3K\1\x86", 5,
           "expected rows below 3 and columns below 1");
    change("coo-matrix.2", "coords", "cxords", 6, "expected 'row' to be a numpy array");
    change("csc-matrix.2", "K\3K\4\x86", "K\3K\5\x86", 5,
           "indptr has 5 entries, expected rows + 1 = 6");
    change("csc-matrix.2", "csc_matrix", "bsr_matrix", 10,
           "global scipy.sparse._csc.bsr_matrix is refused");
    change("csr-array.5", "csr_array", "os_system", 9, "is refused");
    change("old-coo.2", "col", "cxl", 3, "expected 'col' to be a numpy array");
#undef COL2
    REFUSE("\x80\2cscipy.sparse._coo\ncoo_matrix\n)\x81N"
           "b.",
           "expected a dict as its state");
    REFUSE("cbuiltins\nset\nK\1\x85R.", "set: expected a list");
    REFUSE("cbuiltins\ndict\n)R.", "cannot be called");
}
END_TEST

START_TEST(sets_are_lists)
{
    static const char *const sets[] = {"\x8f(K\1K\2\x90.", "(K\1K\2\x91.",
                                       "c__builtin__\nset\n](K\1K\2e\x85R.",
                                       "cbuiltins\nfrozenset\n](K\1K\2e\x85R."};
    for (int k = 0; k < 4; k++) {
        parsed p = parse(sets[k], strlen(sets[k]));
        must(p.s);
        ck_assert(p.v->kind == GN_PICKLE_LIST && p.v->n == 2 && p.v->u.item[1]->u.i == 2);
        done(&p);
    }
}
END_TEST

/* Lists of lists of lists: exponential if anything copied them, which nothing does. */
START_TEST(bombs_cost_nothing)
{
    static char text[1 << 16];
    size_t n = 0;
    text[n++] = ']';
    text[n++] = 'q';
    text[n++] = 0;
    for (int i = 0; i < 200; i++) {
        text[n++] = ']';
        text[n++] = 'q';
        text[n++] = (char)(i + 1);
        text[n++] = '(';
        for (int k = 0; k < 20; k++) {
            text[n++] = 'h';
            text[n++] = (char)i;
        }
        text[n++] = 'e';
        text[n++] = 'h';
        text[n++] = (char)(i + 1);
        text[n++] = '0';
        text[n++] = '0';
        if (i < 199) continue;
        text[n++] = 'h';
        text[n++] = (char)(i + 1);
        text[n++] = '1';
    }
    parsed p = parse(text, n);
    ck_assert(!survives(p.s));
    ck_assert_uint_lt(p.arena.total, 4u << 20);
    done(&p);
    /* An OrderedDict of one long list again and again: refused for memory, not carried out. */
    n = (size_t)sprintf(text, "(l");
    for (int i = 0; i < 4000; i++) n += (size_t)sprintf(text + n, "(NNta");
    n += (size_t)sprintf(text + n, "p1\n0(");
    for (int i = 0; i < 900; i++)
        n += (size_t)sprintf(text + n, "ccollections\nOrderedDict\n(g1\ntR");
    p = parse(text, n);
    must_fail(p.s, GN_ERR_DATA, "over 96 times", __LINE__);
    done(&p);
}
END_TEST

START_TEST(nesting_is_bounded)
{
    static char text[100000];
    memset(text, '(', sizeof text);
    refuse_n(text, sizeof text, "nested deeper than 1000", __LINE__);
    memset(text, ']', sizeof text);
    refuse_n(text, sizeof text, "truncated", __LINE__);
    memset(text, ')', sizeof text);
    for (size_t i = 1; i < sizeof text; i++) text[i] = (char)0x85; /* a tuple in a tuple in ... */
    text[sizeof text - 1] = '.';
    parsed p = parse(text, sizeof text);
    must(p.s);
    done(&p);
}
END_TEST

static void damage(const char *path)
{
    gn_bytes b;
    must(gn_file_read(path, &b));
    for (size_t n = 0; n < b.n; n++) {
        parsed p = parse(b.p, n);
        ck_assert_msg(!survives(p.s), "%s: %zu bytes were enough", path, n);
        done(&p);
    }
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        parsed p = parse(b.p, b.n);
        survives(p.s);
        done(&p);
        b.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    gn_bytes_free(&b);
}

START_TEST(survives_damage)
{
    static const char *const parts[] = {"x", "ally", "graph"};
    char path[64];
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "tests/data/planetoid/p%d/ind.tiny.%s", _i, parts[k]);
        damage(source_path(path));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pickle");
    TCase *t = tcase_create("pickle");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, reads_numbers);
    tcase_add_test(t, reads_text_and_collections);
    tcase_add_test(t, refuses_what_could_run);
    tcase_add_test(t, refuses_malformed_input);
    tcase_add_test(t, reads_and_refuses_arrays);
    tcase_add_test(t, reads_matrices_of_scipy);
    tcase_add_test(t, refuses_matrices_that_lie);
    tcase_add_test(t, sets_are_lists);
    tcase_add_test(t, bombs_cost_nothing);
    tcase_add_test(t, nesting_is_bounded);
    tcase_add_loop_test(t, survives_damage, 0, 6);
    suite_add_tcase(s, t);
    return suite_run(s);
}
