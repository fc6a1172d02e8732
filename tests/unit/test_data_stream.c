/* Synthetic graphs that are written without room for them in memory: as they would be out of it. */
/* links: runtime base */
#include "store_fixture.h"

#include "runtime/data/synthetic.h"

#include <signal.h>
#include <sys/resource.h>

/* A synthetic graph is written as it would be out of memory, whatever fits there. */
START_TEST(streams_write_the_same_bytes)
{
    static const struct {
        const char *text;
        int features;
        int64_t heap;
    } of[] = {{"nodes=3000,edges=40000,features=9,classes=4", GN_CODE_FLOAT32, 0},
              {"nodes=3000,edges=40000,features=9,classes=4,train=0.4,seed=3", GN_CODE_INT8, 20000},
              {"nodes=200,edges=9800,features=16,classes=3,local=1", GN_CODE_BFLOAT16, 4000},
              {"nodes=200,edges=9800,exponent=1.3", -1, 3000},
              /* buffers and parts are full several times */
              {"nodes=9000,edges=300000,features=40,classes=4", GN_CODE_INT8, 0},
              {"nodes=9000,edges=300000,features=40,classes=4", -1, 1000000},
              {"nodes=70,edges=2,features=1", -1, 1},
              {"nodes=1,edges=0,features=3,classes=1", GN_CODE_INT8, 0}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char source[200];
        gn_bytes a, b;
        bool streamed, drawn;
        snprintf(source, sizeof source, "synthetic:%s", of[k].text);
        gn_dataset *d = undrawn(source);
        must(gn_datafile_write(d, &(gn_datafile_options){of[k].features, source}, path));
        gn_dataset_free(d);
        must(gn_file_read(path, &a));
        const gn_synthetic_file f = {.text = of[k].text,
                                     .path = path,
                                     .source = source,
                                     .features = of[k].features,
                                     .heap_bytes = of[k].heap};
        must(gn_synthetic_write(&f, &streamed, &drawn));
        must(gn_file_read(path, &b));
        ck_assert(streamed && !drawn);
        ck_assert_msg(a.n == b.n && !memcmp(a.p, b.p, a.n), "%s", source);
        gn_bytes_free(&a);
        gn_bytes_free(&b);
    }
}
END_TEST

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* In another order as well, but for that of the list of edges. */
START_TEST(streams_are_put_in_order)
{
    const char *text = "nodes=900,edges=9000,features=5,classes=4";
    gn_dataset *d = undrawn("synthetic:nodes=900,edges=9000,features=5,classes=4"), *e;
    bool streamed, drawn;
    d->train_mask = calloc(900, 1);
    d->val_mask = calloc(900, 1);
    d->test_mask = calloc(900, 1);
    must(gn_dataset_draw_split(d, 0));
    must(gn_dataset_order(d, GN_ORDER_DEGREE));
    must(gn_synthetic_write(
        &(gn_synthetic_file){
            .text = text, .path = path, .features = -1, .heap_bytes = 5000, .by_degree = true},
        &streamed, &drawn));
    ck_assert(drawn);
    e = read_store();
    same(d->x, e->x, 900 * 5, sizeof *d->x, "x");
    same(d->row_of, e->row_of, 900, sizeof *d->row_of, "row_of");
    same_labels(d, e);
    must(gn_dataset_list_edges(e));
    ck_assert_int_eq(d->n_edges, e->n_edges);
    for (int64_t k = 0; k < d->n_edges; k++) {
        d->src[k] = d->src[k] * 900 + d->dst[k];
        e->src[k] = e->src[k] * 900 + e->dst[k];
        ck_assert(k == 0 || e->src[k] > e->src[k - 1]); /* listed by their numbers */
    }
    qsort(d->src, (size_t)d->n_edges, sizeof *d->src, by_number);
    same(d->src, e->src, d->n_edges, sizeof *d->src, "edges");
    gn_dataset_free(e);
    gn_dataset_free(d);
}
END_TEST

START_TEST(what_is_no_stream_is_left_alone)
{
    static const char *const text[] = {"typed,scale=0.001", "nodes=9,edges=40,features=3",
                                       "nodes=90,edges=40,features=30,density=0.1"};
    bool streamed, drawn;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        must(gn_synthetic_write(&(gn_synthetic_file){.text = text[k], .path = path, .features = -1},
                                &streamed, &drawn));
        ck_assert(!streamed && access(path, F_OK) != 0);
    }
}
END_TEST

START_TEST(a_stream_tells_of_a_full_disk)
{
    struct rlimit was, small;
    bool streamed, drawn;
    const gn_synthetic_file f = {.text = "nodes=3000,edges=200000,features=20,classes=2",
                                 .path = path,
                                 .features = -1,
                                 .heap_bytes = 200000};
    getrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t most = 0; most < 1200000; most += 300000) {
        small = (struct rlimit){most, was.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        gn_status *s = gn_synthetic_write(&f, &streamed, &drawn);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
        MUST_FAIL(s, GN_ERR_IO, "cannot write ");
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
}
END_TEST
int main(void)
{
    TCase *t = tcase_create("stream");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, streams_write_the_same_bytes);
    tcase_add_test(t, streams_are_put_in_order);
    tcase_add_test(t, what_is_no_stream_is_left_alone);
    tcase_add_test(t, a_stream_tells_of_a_full_disk);
    return RUN_CASES("stream", t);
}
