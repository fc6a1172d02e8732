/* Triples as text, and edges of kinds as one relation each. */
/* links: runtime base */
#include "data_parts.h"

#include "runtime/data/summary.h"

static const gn_data_options plain = {.normalize_rows = -1, .undirected = -1};

static const char *const good[GN_TRIPLES_PARTS] = {
    "ann\tknows\tbob\nbob\tlives in\tnew york\nann\tknows\tbob\n",
    "bob\tknows\tann\n",
    "carl\tlikes\tann\n",
};

static gn_dataset *parse(const char *const *text)
{
    gn_dataset *d;
    must(parse_parts(gn_triples_parse, text, GN_TRIPLES_PARTS, &plain, &d));
    return d;
}

START_TEST(names_are_numbered_as_they_appear)
{
    static const int64_t src[] = {0, 1, 0, 1, 3}, dst[] = {1, 2, 1, 0, 0};
    static const int32_t kind[] = {0, 1, 0, 0, 2};
    static const uint8_t mask[3][5] = {{1, 1, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}};
    static const char *const mask_name[] = {"g.train_mask", "g.val_mask", "g.test_mask"};
    gn_dataset *d = parse(good);
    ck_assert(d->n_nodes == 4 && d->n_edges == 5 && !d->y && d->n_tables == 0);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    const gn_table_column *c = column(d, "g.kind");
    ck_assert(c->on_edges && c->over == 0 && c->elem == GN_I32 && c->rank == 0 && c->classes == 3);
    ck_assert_mem_eq(c->data, kind, sizeof kind);
    ck_assert_str_eq(c->names[1], "lives in");
    for (int k = 0; k < 3; k++) {
        c = column(d, mask_name[k]);
        ck_assert(c->on_edges && c->elem == GN_BOOL);
        ck_assert_mem_eq(c->data, mask[k], 5);
    }
    ck_assert_int_eq(d->n_remarks, 1);
    ck_assert_ptr_nonnull(strstr(d->remark[0], "1 entities and 1 relations of valid and test"));
    gn_dataset_free(d);
}
END_TEST

START_TEST(the_schema_has_kinds)
{
    gn_dataset *d = parse(good);
    gn_arena a;
    gn_arena_init(&a);
    gn_schema s = gn_dataset_schema(&a, d);
    int kind = gn_schema_find_column(&s, "g.kind"), mask = gn_schema_find_column(&s, "g.val_mask");
    ck_assert(kind >= 0 && mask >= 0);
    ck_assert(s.column[kind].classes == 3 && s.column[kind].on_edges);
    ck_assert(s.column[mask].classes == 0 && s.column[mask].elem == GN_BOOL);
    gn_arena_free(&a);
    gn_dataset_free(d);
}
END_TEST

START_TEST(dicts_give_numbers)
{
    const char *text[GN_TRIPLES_PARTS] = {"a r b\n", NULL, NULL, "1\ta\n0\tb\n2\tc\n", "r\t0\n"};
    gn_dataset *d = parse(text);
    ck_assert(d->n_nodes == 3 && d->src[0] == 1 && d->dst[0] == 0 && d->n_remarks == 0);
    gn_dataset_free(d);
}
END_TEST

#define BAD(part, text, words)                                                                     \
    parts_fail(gn_triples_parse, good, GN_TRIPLES_PARTS, GN_TRIPLES_##part, (text), (words),       \
               __LINE__)

START_TEST(refuses_what_does_not_fit)
{
    BAD(TRAIN, "", "a: no triples: expected `head relation tail` lines");
    BAD(TRAIN, "a\tb\n", "a:1: 2 fields: expected `head relation tail`");
    BAD(TRAIN, "a b c\n\na b c d\n", "a:3: 4 fields");
    BAD(TRAIN, "a\t\tb\n", "a:1: expected `head relation tail`, and one is empty");
    BAD(VALID, "a\n", "b:1: 1 field: expected");
    BAD(ENTITIES, "0\tann\n", "a:1: 'bob' is in no line of the .dict file");
    BAD(ENTITIES, "0\tann\n0\tbob\n", "d:2: number 0 is given twice");
    BAD(ENTITIES, "0\tann\n99\tbob\n", "d:2: '99': expected numbers from 0 on");
    BAD(ENTITIES, "0\tann\n2\tbob\n", "d: no name has the number 1");
    BAD(ENTITIES, "0\tann\n1\tann\n", "d: 'ann' has two numbers");
    BAD(ENTITIES, "ann\n", "d:1: expected a number and a name");
    BAD(RELATIONS, "x\ty\n", "e:1: 'x': expected a number and a name");
}
END_TEST

START_TEST(survives_changes)
{
    const char *text[GN_TRIPLES_PARTS];
    memcpy(text, good, sizeof text);
    parts_survive(gn_triples_parse, text, GN_TRIPLES_PARTS);
    text[GN_TRIPLES_ENTITIES] = "0\tann\n1\tbob\n2\tnew york\n3\tcarl\n";
    parts_survive(gn_triples_parse, text, GN_TRIPLES_PARTS);
}
END_TEST

START_TEST(many_names)
{
    enum { N = 5000 };
    char *text = malloc(N * 32);
    const char *const parts[GN_TRIPLES_PARTS] = {text};
    size_t n = 0;
    ck_assert_ptr_nonnull(text);
    for (int i = 0; i < N; i++) n += (size_t)sprintf(text + n, "e%d r%d e%d\n", i, i % 7, i / 2);
    gn_dataset *d = parse(parts);
    ck_assert(d->n_nodes == N && d->n_edges == N && column(d, "g.kind")->classes == 7);
    for (int64_t e = 0; e < N; e++) ck_assert(d->src[e] == e && d->dst[e] == e / 2);
    gn_dataset_free(d);
    free(text);
}
END_TEST

/* ---- kinds ---- */

static const gn_relation *relation(const gn_dataset *d, const char *name)
{
    for (int k = 0; k < d->n_relations; k++)
        if (!strcmp(d->relations[k].name, name)) return &d->relations[k];
    ck_abort_msg("no relation %s", name);
}

START_TEST(kinds_become_relations)
{
    static const int64_t from[] = {0, 0}, to[] = {1, 1};
    gn_dataset *d = parse(good);
    must(gn_dataset_split_kinds(d, true));
    must(gn_dataset_split_kinds(d, true)); /* once is enough */
    must(gn_dataset_check(d));
    ck_assert(d->kinds_split && d->n_relations == 6 && d->n_edges == 5);
    const gn_relation *knows = relation(d, "knows"), *back = relation(d, "knows_inv");
    ck_assert_int_eq(knows->n_edges, 2); /* of train alone */
    ck_assert_mem_eq(knows->from, from, sizeof from);
    ck_assert_mem_eq(knows->to, to, sizeof to);
    ck_assert_mem_eq(back->from, to, sizeof to);
    ck_assert_mem_eq(back->to, from, sizeof from);
    ck_assert_int_eq(relation(d, "lives_in")->n_edges, 1);
    ck_assert_int_eq(relation(d, "likes")->n_edges, 0);
    gn_dataset_free(d);
}
END_TEST

START_TEST(relations_get_clean_names)
{
    const char *const text[GN_TRIPLES_PARTS] = {
        "a http://x.org/ns#type b\na http://y.org/type/ b\na _hypernym b\na 42 b\na ### b\n"
        "a g b\na type_2 b\n"};
    static const char *const name[] = {"type",  "type_2", "hypernym", "rel_42",
                                       "rel_4", "g_2",    "type_2_2"};
    gn_dataset *d = parse(text);
    must(gn_dataset_split_kinds(d, false));
    ck_assert_int_eq(d->n_relations, 7);
    for (int k = 0; k < 7; k++) ck_assert_str_eq(d->relations[k].name, name[k]);
    gn_dataset_free(d);
}
END_TEST

START_TEST(edges_without_kinds_are_not_split)
{
    gn_dataset *d = read_with((gn_data_options){.normalize_rows = -1, .undirected = -1});
    MUST_FAIL(gn_dataset_split_kinds(d, false), GN_ERR_DATA, "edges have no kinds");
    gn_dataset_free(d);
}
END_TEST

START_TEST(folders_are_recognised)
{
    char folder[] = "/tmp/gnnc-triples-XXXXXX";
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_part(folder, "train.txt", "1 2 3\n", 6);
    gn_data_options opt = {.path = folder, .normalize_rows = -1, .undirected = 1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE,
              "edges with types cannot be made undirected");
    d = read_path(folder);
    ck_assert(d->n_nodes == 2 && d->n_edges == 1);
    gn_dataset_free(d);
    remove_folder(folder);
}
END_TEST

/* Few relations are named, the others counted. */
START_TEST(summary_names_kinds)
{
    const char *const text[GN_TRIPLES_PARTS] = {
        "a b c\na c c\na d c\na e c\na f c\na h c\na i c\na j c\n"};
    char *said = NULL;
    size_t n;
    FILE *f = open_memstream(&said, &n);
    gn_dataset *d = parse(text);
    must(gn_dataset_split_kinds(d, false));
    ck_assert_ptr_nonnull(f);
    gn_dataset_summary(d, f);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(said, "g: node -> node, 8 edges, kind of 8, train_mask, val_mask, "
                                       "test_mask\nb: node -> node, 1 edges; c: "));
    ck_assert_ptr_nonnull(strstr(said, "; h: node -> node, 1 edges; 2 more relations, 2 edges\n"));
    free(said);
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("triples");
    TCase *t = tcase_create("triples");
    tcase_add_test(t, names_are_numbered_as_they_appear);
    tcase_add_test(t, the_schema_has_kinds);
    tcase_add_test(t, dicts_give_numbers);
    tcase_add_test(t, refuses_what_does_not_fit);
    tcase_add_test(t, survives_changes);
    tcase_add_test(t, many_names);
    tcase_add_test(t, kinds_become_relations);
    tcase_add_test(t, relations_get_clean_names);
    tcase_add_test(t, edges_without_kinds_are_not_split);
    tcase_add_test(t, summary_names_kinds);
    tcase_add_test(t, folders_are_recognised);
    suite_add_tcase(s, t);
    return suite_run(s);
}
