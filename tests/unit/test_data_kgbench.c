/* Folders of kgbench: triples as numbers, classes of some entities. */
/* links: runtime base */
#include "data_parts.h"

#include <zlib.h>

static const gn_data_options plain = {.normalize_rows = -1, .undirected = -1};

static const char *const good[GN_KGBENCH_PARTS] = {
    [GN_KGBENCH_TRIPLES] = "0, 1, 2\n2,0,1\n0, 1, 2\n4, 1, 4\n",
    [GN_KGBENCH_TRAINING] = "0,1\n2,0\n",
    [GN_KGBENCH_TESTING] = "4,2\n",
    [GN_KGBENCH_VALIDATION] = "1,1\n",
    [GN_KGBENCH_RELATIONS] = "index,label\n0,http://x.org/a#first\n1,\"second, too\"\n",
    [GN_KGBENCH_ENTITIES] = "index,label\n0,a\n1,\"two\n\"\"so\"\"\"\n2,c\n3,\n4,\n5,f\n",
};

static gn_dataset *parse(const char *const *text)
{
    gn_dataset *d;
    must(parse_parts(gn_kgbench_parse, text, GN_KGBENCH_PARTS, &plain, &d));
    return d;
}

START_TEST(reads_triples_and_classes)
{
    static const int64_t src[] = {0, 2, 0, 4}, dst[] = {2, 1, 2, 4};
    static const int32_t kind[] = {1, 0, 1, 1}, y[] = {1, 1, 0, -1, 2, -1};
    static const uint8_t train[] = {1, 0, 1, 0, 0, 0}, val[] = {0, 1, 0, 0, 0, 0},
                         test[] = {0, 0, 0, 0, 1, 0};
    gn_dataset *d = parse(good);
    ck_assert(d->n_nodes == 6 && d->n_edges == 4 && d->n_features == 0 && d->n_classes == 3);
    ck_assert_mem_eq(d->src, src, sizeof src);
    ck_assert_mem_eq(d->dst, dst, sizeof dst);
    ck_assert_mem_eq(d->y, y, sizeof y);
    ck_assert_mem_eq(d->train_mask, train, sizeof train);
    ck_assert_mem_eq(d->val_mask, val, sizeof val);
    ck_assert_mem_eq(d->test_mask, test, sizeof test);
    const gn_table_column *c = column(d, "g.kind");
    ck_assert(c->on_edges && c->over == 0 && c->elem == GN_I32 && c->rank == 0 && c->classes == 2);
    ck_assert_mem_eq(c->data, kind, sizeof kind);
    ck_assert_str_eq(c->names[0], "http://x.org/a#first");
    ck_assert_str_eq(c->names[1], "second, too");
    ck_assert(d->n_remarks == 0 && !d->split_drawn);
    gn_dataset_free(d);
}
END_TEST

START_TEST(kinds_become_relations)
{
    gn_dataset *d = parse(good);
    must(gn_dataset_split_kinds(d, false));
    ck_assert_int_eq(d->n_relations, 2);
    ck_assert_str_eq(d->relations[0].name, "first");
    ck_assert_str_eq(d->relations[1].name, "second__too");
    ck_assert(d->relations[0].n_edges == 1 && d->relations[1].n_edges == 3);
    gn_dataset_free(d);
}
END_TEST

/* A tenth of what is trained on, of each class, where no file gives one. */
START_TEST(validation_is_drawn)
{
    char triples[2000] = "", training[2000] = "";
    const char *const text[GN_KGBENCH_PARTS] = {triples, training, ""};
    for (int i = 0; i < 60; i++) {
        sprintf(triples + strlen(triples), "%d 0 %d\n", i, i);
        sprintf(training + strlen(training), "%d %d\n", i, i >= 40 ? i == 59 ? 2 : 1 : 0);
    }
    gn_dataset *d = parse(text);
    int held[3] = {0};
    for (int i = 0; i < 60; i++) {
        ck_assert_int_eq(d->train_mask[i] + d->val_mask[i], 1);
        if (d->val_mask[i]) held[d->y[i]]++;
    }
    ck_assert(held[0] == 4 && held[1] == 2 && held[2] == 0);
    ck_assert_int_eq(d->n_remarks, 1);
    ck_assert_ptr_nonnull(strstr(d->remark[0], "6 of the entities to train on"));
    gn_dataset_free(d);
}
END_TEST

#define BAD(part, text, words)                                                                     \
    parts_fail(gn_kgbench_parse, good, GN_KGBENCH_PARTS, GN_KGBENCH_##part, (text), (words),       \
               __LINE__)

START_TEST(refuses_what_does_not_fit)
{
    BAD(TRIPLES, "", "a: no triples: expected `subject, predicate, object` lines");
    BAD(TRIPLES, "0,1\n", "a:1: 2 numbers: expected 3 a line");
    BAD(TRIPLES, "0,1,2\n\n0,-1,2\n", "a:3: '-1': expected a predicate from 0");
    BAD(TRIPLES, "0,1,9999999999\n", "a:1: '9999999999': expected an entity from 0");
    BAD(TRIPLES, "0,1,2000000000\n", "a: 1 edges, and a node 2000000000");
    BAD(TRIPLES, "0,2000,2\n", "a: 2001 predicates in 1 triples: expected numbers without gaps");
    BAD(TRAINING, "6,0\n", "b:1: '6': expected an entity from 0 to 5");
    BAD(TRAINING, "0,0\n1,-1\n", "b:2: '-1': expected a class");
    BAD(TRAINING, "0,0\n0,1\n", "b:2: entity 0 has a class already");
    BAD(TESTING, "0,1\n", "c:1: entity 0 has a class already");
    BAD(VALIDATION, "x,1\n", "d:1: 'x': expected a whole number");
    BAD(RELATIONS, "index,label\nzero,a\n", "e:2: 'zero': expected `number,label`");
    BAD(RELATIONS, "index,label\n0,a\n0,b\n", "e:3: 0: expected each number from 0 to 1 once");
}
END_TEST

START_TEST(survives_changes) { parts_survive(gn_kgbench_parse, good, GN_KGBENCH_PARTS); }
END_TEST

START_TEST(folders_are_recognised)
{
    char folder[] = "/tmp/gnnc-kgbench-XXXXXX", path[64];
    gn_dataset *d;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/triples.int.csv.gz", folder);
    gzFile f = gzopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    gzputs(f, "0, 0, 1\n");
    gzclose(f);
    write_part(folder, "training.int.csv", "0,0\n", 4);
    gn_data_options opt = {.path = folder, .normalize_rows = -1, .undirected = -1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_IO, "testing.int.csv': No such file");
    write_part(folder, "testing.int.csv", "1,1\n", 4);
    d = read_path(folder);
    ck_assert(d->n_nodes == 2 && d->n_edges == 1 && d->n_classes == 2);
    gn_dataset_free(d);
    remove_folder(folder);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kgbench");
    TCase *t = tcase_create("kgbench");
    tcase_add_test(t, reads_triples_and_classes);
    tcase_add_test(t, kinds_become_relations);
    tcase_add_test(t, validation_is_drawn);
    tcase_add_test(t, refuses_what_does_not_fit);
    tcase_add_test(t, survives_changes);
    tcase_add_test(t, folders_are_recognised);
    suite_add_tcase(s, t);
    return suite_run(s);
}
