/* What the tests ask of the fake cuBLASLt (fake_cublaslt.c), found with dlsym. */
#ifndef TESTS_CUDA_FAKE_CUBLASLT_H
#define TESTS_CUDA_FAKE_CUBLASLT_H

/* The `nth` call from now of any function that can fail gives `result`; 0 for nth: none does. */
typedef void fake_lt_fail_fn(int nth, int result);
typedef int fake_lt_count_fn(void); /* fake_lt_alive: handles, descriptors, layouts, preferences;
                                       fake_lt_products: that ran */
typedef void fake_lt_order_fn(int what); /* a fake_lt_trick */

typedef enum fake_lt_trick {
    FAKE_LT_RIGHT,
    FAKE_LT_WRONG,   /* what products leave is wrong */
    FAKE_LT_NOTHING, /* there is no algorithm for any */
    FAKE_LT_NO_NAN,  /* a relu makes 0 of a NaN */
} fake_lt_trick;

#endif
