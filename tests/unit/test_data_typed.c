/* Data with types: what synthetic:typed draws. */
/* links: runtime base */
#include "data_parts.h"

#include "runtime/data/summary.h"

enum { PAPER = 1, AUTHOR, INSTITUTION, FIELD };

static gn_dataset *make(const char *path, uint64_t seed)
{
    return read_with(
        (gn_data_options){.path = path, .seed = seed, .normalize_rows = -1, .undirected = -1});
}

static const gn_relation *relation(const gn_dataset *d, const char *name)
{
    for (int k = 0; k < d->n_relations; k++)
        if (!strcmp(d->relations[k].name, name)) return &d->relations[k];
    ck_abort_msg("no relation %s", name);
}

START_TEST(it_has_the_types_of_mag)
{
    static const struct {
        const char *name;
        int src, dst;
        int64_t edges;
    } links[] = {{"affiliated_with", AUTHOR, INSTITUTION, 1044},
                 {"writes", AUTHOR, PAPER, 7146},
                 {"cites", PAPER, PAPER, 5416},
                 {"has_topic", PAPER, FIELD, 7505}};
    static const int64_t rows[] = {736, 1135, 9, 60};
    static const char *const name[] = {"paper", "author", "institution", "field_of_study"};
    gn_dataset *d = make("synthetic:typed,scale=0.001", 0);
    ck_assert(d->typed && d->n_nodes == 0 && d->n_edges == 0 && d->n_features == 0);
    ck_assert(d->n_tables == 4 && d->n_relations == 4 && d->labelled == PAPER);
    for (int k = 0; k < 4; k++) {
        ck_assert_str_eq(d->tables[k].name, name[k]);
        ck_assert_int_eq(d->tables[k].rows, rows[k]);
    }
    for (int k = 0; k < 4; k++) {
        const gn_relation *r = relation(d, links[k].name);
        /* few institutions and fields: half of the pairs at most */
        int64_t half = rows[links[k].src - 1] * rows[links[k].dst - 1] / 2;
        ck_assert(r->src == links[k].src && r->dst == links[k].dst);
        ck_assert_int_eq(r->n_edges, links[k].edges < half ? links[k].edges : half);
        for (int64_t e = 1; e < r->n_edges; e++)
            ck_assert(r->from[e - 1] < r->from[e] ||
                      (r->from[e - 1] == r->from[e] && r->to[e - 1] < r->to[e]));
    }
    const gn_table_column *x = column(d, "paper.x");
    ck_assert(!x->on_edges && x->over == PAPER && x->elem == GN_F32 && x->rank == 1 &&
              x->dim[0] == 128);
    ck_assert_int_eq(d->n_classes, 349);
    gn_dataset_free(d);
}
END_TEST

START_TEST(years_split_papers)
{
    gn_dataset *d = make("synthetic:typed,scale=0.01", 0);
    const int32_t *year = column(d, "paper.year")->data;
    int64_t n = gn_dataset_labelled(d), train = count_mask(d->train_mask, n);
    for (int64_t i = 0; i < n; i++) {
        ck_assert(year[i] >= 2010 && year[i] <= 2019);
        ck_assert(d->train_mask[i] == (year[i] <= 2017) && d->val_mask[i] == (year[i] == 2018) &&
                  d->test_mask[i] == (year[i] == 2019));
    }
    ck_assert(train > n * 83 / 100 && train < n * 88 / 100);
    gn_dataset_free(d);
}
END_TEST

/* Most cited papers have the class of who cites them, and few papers have most of the citations. */
START_TEST(neighbours_tell_classes)
{
    gn_dataset *d = make("synthetic:typed,nodes=20000,classes=8,features=4", 3);
    const gn_relation *cites = relation(d, "cites");
    int64_t same = 0, papers = gn_dataset_rows(d, PAPER), most = 0;
    int64_t *cited = calloc((size_t)papers, sizeof *cited);
    ck_assert_ptr_nonnull(cited);
    for (int64_t e = 0; e < cites->n_edges; e++) {
        int64_t n = ++cited[cites->to[e]];
        same += d->y[cites->from[e]] == d->y[cites->to[e]];
        if (n > most) most = n;
        ck_assert(cites->from[e] != cites->to[e]);
    }
    ck_assert(same > cites->n_edges / 2 && same < cites->n_edges * 8 / 10);
    ck_assert(most > 10 * cites->n_edges / papers);
    free(cited);
    gn_dataset_free(d);
}
END_TEST

START_TEST(seeds_decide)
{
    gn_dataset *a = make("synthetic:typed,scale=0.001", 1),
               *b = make("synthetic:typed,scale=0.001,seed=1", 2),
               *c = make("synthetic:typed,scale=0.001", 2);
    size_t bytes = (size_t)relation(a, "cites")->n_edges * sizeof(int64_t);
    ck_assert_mem_eq(relation(a, "cites")->to, relation(b, "cites")->to, bytes);
    ck_assert(memcmp(relation(a, "cites")->to, relation(c, "cites")->to, bytes) != 0);
    gn_dataset_free(a);
    gn_dataset_free(b);
    gn_dataset_free(c);
}
END_TEST

START_TEST(usage_errors)
{
    static const char *const bad[][2] = {
        {"synthetic:typed", "expected typed,scale=S or typed,nodes=N"},
        {"synthetic:typed,scale=1,nodes=5", "expected typed,scale=S or typed,nodes=N"},
        {"synthetic:typed,scale=1e9", "scale=1e9: expected a number from 1e-06 to 100"},
        {"synthetic:typed,scael=1", "unknown key 'scael' (did you mean 'scale'?): expected scale, "
                                    "nodes, classes, features or seed"},
        {"synthetic:typedd,scale=1", "unknown key 'typedd'"},
    };
    gn_dataset *d;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gn_data_options opt = {.path = bad[i][0], .normalize_rows = -1, .undirected = -1};
        must_fail(gn_dataset_read(&opt, &d), GN_ERR_USAGE, bad[i][1], (int)i);
    }
    gn_data_options opt = {.path = "synthetic:typed,nodes=9", .undirected = 1};
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE,
              "edges with types cannot be made undirected");
    opt.undirected = -1;
    opt.features = GN_FEATURES_ONES;
    MUST_FAIL(gn_dataset_read(&opt, &d), GN_ERR_USAGE, "--features ones makes those of nodes");
    opt.features = 0;
    opt.normalize_rows = 1;
    gn_dataset_free(read_with(opt));
}
END_TEST

START_TEST(summary_has_a_line_a_type)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    gn_dataset *d = make("synthetic:typed,scale=0.001,classes=5,features=3", 0);
    ck_assert_ptr_nonnull(f);
    gn_dataset_summary(d, f);
    fclose(f);
    ck_assert_str_eq(
        text, "paper: 736 rows, labelled, 5 classes, x[3], year; writes: author -> paper, 7146 "
              "edges; cites: paper -> paper, 5416 edges\n"
              "author: 1135 rows\n"
              "institution: 9 rows; affiliated_with: author -> institution, 1044 edges\n"
              "field_of_study: 60 rows; has_topic: paper -> field_of_study, 7505 edges\n");
    ck_assert_str_eq(gn_dataset_rows_name(d).s, "rows of paper");
    free(text);
    gn_dataset_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("typed");
    TCase *t = tcase_create("typed");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, it_has_the_types_of_mag);
    tcase_add_test(t, years_split_papers);
    tcase_add_test(t, neighbours_tell_classes);
    tcase_add_test(t, seeds_decide);
    tcase_add_test(t, usage_errors);
    tcase_add_test(t, summary_has_a_line_a_type);
    suite_add_tcase(s, t);
    return suite_run(s);
}
