/* Two models in one program, each with what is needed to run it: nothing of one gets in the way of
 * the other. */
#include "first.h"
#include "second.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { N = 5 };
    int32_t src[N] = {0, 1, 2, 3, 4}, dst[N] = {1, 2, 3, 4, 0};
    first_model *a;
    second_model *b;
    float *xa = calloc(N * FIRST_X_COLUMNS, sizeof *xa),
          *xb = calloc(N * SECOND_X_COLUMNS, sizeof *xb);
    if (first_new(2, 0, &a) || second_new(2, 0, &b)) return 1;
    if (first_graph_coo32(a, N, N, src, dst) || second_graph_coo32(b, N, N - 1, src, dst)) return 2;
    if (first_bind_x(a, N, xa) || second_bind_x(b, N, xb)) return 3;
    if (first_infer(a) || second_infer(b)) return 4;
    int64_t rows_a = 0, rows_b = 0;
    if (!first_output_out(a, &rows_a) || !second_output_out(b, &rows_b)) return 5;
    printf("%ld %ld\n", (long)rows_a, (long)rows_b);
    first_free(a);
    second_free(b);
    free(xa);
    free(xb);
    return 0;
}
