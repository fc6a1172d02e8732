/* Managed tensors: their deleters are called once, when nothing reads them any more; copies outlive
 * what they are of. */
#define API_KEEPS_CODE
#include "unit/api_world.h"

enum { NODES = 16, EDGES = 40 };

typedef struct lent { /* both kinds, over one tensor */
    DLManagedTensor plain;
    struct DLManagedTensorVersioned versioned;
    float *x;
    int64_t shape[2];
    int ended;
} lent;

static void end(lent *l)
{
    l->ended++;
    free(l->x);
    l->x = NULL;
}

static void end_plain(DLManagedTensor *t) { end(t->manager_ctx); }
static void end_versioned(struct DLManagedTensorVersioned *t) { end(t->manager_ctx); }

static void lend(lent *l, const world *w)
{
    *l = (lent){.shape = {NODES, F}};
    l->x = malloc(sizeof *l->x * NODES * F);
    memcpy(l->x, w->x, sizeof *l->x * NODES * F);
    DLTensor t = tensor(l->x, 2, l->shape, kDLFloat, 32);
    l->plain = (DLManagedTensor){t, l, end_plain};
    l->versioned = (struct DLManagedTensorVersioned){
        .version = {1, 7}, .manager_ctx = l, .deleter = end_versioned, .dl_tensor = t};
}

static gnnc_status *bind(gnnc_run *r, const char *name, lent *l, bool versioned)
{
    return versioned ? gnnc_run_bind_versioned(r, name, &l->versioned)
                     : gnnc_run_bind_managed(r, name, &l->plain);
}

START_TEST(taken)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1),
          sparse = set_up(plain, (gnnc_compile_options){.sparse = true}, 1);
    world w = make_world(4, NODES, EDGES);
    lent one, two, three, bad;
    bind_world(b.run, &w, false);
    float *want = infer(b.run, NODES);
    lend(&one, &w);
    lend(&two, &w);
    ok(bind(b.run, "x", &one, _i));
    float *got = infer(b.run, NODES);
    ck_assert_mem_eq(got, want, sizeof *got * NODES * C);
    free(got);
    ck_assert_int_eq(one.ended, 0); /* borrowed */
    ok(bind(b.run, "x", &two, _i));
    ck_assert_int_eq(one.ended, 1);
    got = infer(b.run, NODES);
    ck_assert_mem_eq(got, want, sizeof *got * NODES * C);
    free(got);
    lend(&bad, &w);
    bad.plain.dl_tensor.ndim = bad.versioned.dl_tensor.ndim = 1;
    refused(bind(b.run, "x", &bad, _i), GNNC_ERROR_DATA, "1 dimensions");
    ck_assert(bad.ended == 1 && two.ended == 0);
    lend(&bad, &w);
    refused(bind(b.run, "z", &bad, _i), GNNC_ERROR_USAGE, "no input 'z'");
    ck_assert_int_eq(bad.ended, 1);
    lend(&bad, &w);
    refused(bind(NULL, "x", &bad, _i), GNNC_ERROR_USAGE, "`r` is NULL");
    ck_assert_int_eq(bad.ended, 1);
    lend(&bad, &w);
    refused(bind(b.run, NULL, &bad, _i), GNNC_ERROR_USAGE, "`name` is NULL");
    ck_assert_int_eq(bad.ended, 1);
    if (_i) {
        lend(&bad, &w);
        bad.versioned.version.major = 2;
        refused(bind(b.run, "x", &bad, true), GNNC_ERROR_DATA, "DLPack 2.7, expected 1");
        ck_assert_int_eq(bad.ended, 1);
        refused(gnnc_run_bind_versioned(b.run, "x", NULL), GNNC_ERROR_USAGE, "`data` is");
    } else {
        refused(gnnc_run_bind_managed(b.run, "x", NULL), GNNC_ERROR_USAGE, "`data` is NULL");
    }
    int64_t columns[] = {1, NODES};
    lend(&bad, &w);
    bad.plain.dl_tensor.strides = bad.versioned.dl_tensor.strides = columns;
    ok(bind(b.run, "x", &bad, _i)); /* copied */
    ck_assert(bad.ended == 1 && two.ended == 1);
    lend(&three, &w);
    ok(bind(sparse.run, "x", &three, _i)); /* copied: its non-zeros */
    ck_assert_int_eq(three.ended, 1);
    free(want);
    tear_down(&b);
    tear_down(&sparse);
    ck_assert_int_eq(two.ended, 1);
    end_world(&w);
}
END_TEST

START_TEST(given)
{
    bench b = set_up(plain, (gnnc_compile_options){0}, 1);
    world w = make_world(4, NODES, EDGES);
    DLTensor out, weight, odd;
    int64_t numbers[16];
    DLManagedTensor *one, *of_weight;
    struct DLManagedTensorVersioned *two;
    bind_world(b.run, &w, false);
    float *want = infer(b.run, NODES);
    ok(gnnc_run_output(b.run, "out", &out));
    ok(gnnc_copy_managed(&out, &one));
    ok(gnnc_copy_versioned(&out, &two));
    ok(gnnc_state_weight_named(b.state, "a.lin.weight", &weight, numbers));
    ok(gnnc_copy_managed(&weight, &of_weight));
    int64_t step[] = {weight.strides[0], weight.strides[1]};
    float w11 = ((float *)weight.data)[step[0] + step[1]];
    odd = out;
    odd.dtype = (DLDataType){kDLComplex, 64, 1};
    refused(gnnc_copy_managed(&odd, &(DLManagedTensor *){NULL}), GNNC_ERROR_DATA, "none of gnnc's");
    refused(gnnc_copy_managed(NULL, &(DLManagedTensor *){NULL}), GNNC_ERROR_USAGE, "`t` is NULL");
    refused(gnnc_copy_managed(&out, NULL), GNNC_ERROR_USAGE, "`out` is NULL");
    refused(gnnc_copy_versioned(&out, NULL), GNNC_ERROR_USAGE, "`out` is NULL");
    tear_down(&b);
    ck_assert_mem_eq(one->dl_tensor.data, want, sizeof *want * NODES * C);
    ck_assert(two->version.major == 1 && (two->flags & DLPACK_FLAG_BITMASK_IS_COPIED));
    const DLTensor *t = &two->dl_tensor;
    ck_assert(t->ndim == 2 && t->shape[0] == NODES && t->shape[1] == C && t->strides[0] == C);
    ck_assert_mem_eq(t->data, want, sizeof *want * NODES * C);
    ck_assert_uint_eq((uintptr_t)t->data % 64, 0);
    t = &of_weight->dl_tensor; /* which lay in columns */
    ck_assert(t->strides[1] == 1 && t->strides[0] == F);
    ck_assert(((float *)t->data)[F + 1] == w11);
    one->deleter(one);
    two->deleter(two);
    of_weight->deleter(of_weight);
    free(want);
    end_world(&w);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    if (GNNC_HAVE_LLVM) {
        tcase_add_loop_test(t, taken, 0, 2);
        tcase_add_test(t, given);
    }
    return RUN_CASES("api_managed", t);
}
