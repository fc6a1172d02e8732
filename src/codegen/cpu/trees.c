/* Trees of many lane reductions at once.  A vector holds one run of lanes a reduction, or several;
 * every level of the trees halves all runs, so that two vectors become one and no lane is idle.
 * The order of each tree is that of cg_tree (lane l with lane l + n/2), whatever comes beside it:
 * bits do not change.
 *
 * Runs lie wherever shuffles are cheap: x86 permutes within 16 bytes, and moves whole 16 bytes,
 * faster than it does anything else.  They are put in order at the end. */
#include "codegen/cpu/emit_llvm.h"

enum { CHEAP_BYTES = 16 };

typedef struct runs {
    LLVMValueRef *v;         /* [n] */
    int n, width;            /* vectors; their lanes */
    int length;              /* lanes of a run */
    int owner[CG_MAX_LANES]; /* [width / length]: which of a vector's reductions has the run; the
                                same in all vectors */
} runs;

static LLVMValueRef combine_halves(cg *c, const runs *r, gn_elem e, int red, LLVMValueRef a,
                                   LLVMValueRef b, const int *low, int width)
{
    int high[CG_MAX_LANES];
    for (int l = 0; l < width; l++) high[l] = low[l] + r->length / 2;
    LLVMValueRef y = cg_shuffle(c, a, b, high, width), x = cg_shuffle(c, a, b, low, width);
    return cg_combine(c, e, red, x, y);
}

/* Appends the lower halves of the runs in lanes [from, to) of the first or second operand. */
static int lower_halves(const runs *r, bool second, int from, int to, int at, int *low, int *owner)
{
    int half = r->length / 2, per = r->width / r->length;
    for (int run = from / r->length; run < to / r->length; run++) {
        owner[at / half] = r->owner[run] + (second ? per : 0);
        for (int l = 0; l < half; l++) low[at++] = run * r->length + l + (second ? r->width : 0);
    }
    return at;
}

/* Two vectors become one of twice as many runs, half as long. */
static void halve_pairs(cg *c, runs *r, gn_elem e, int red)
{
    int low[CG_MAX_LANES], owner[CG_MAX_LANES], at = 0, block = CHEAP_BYTES / (int)gn_elem_size(e);
    if (block > r->width || r->length > block)
        block = r->width; /* all of one, then all of the other */
    for (int from = 0; from < r->width; from += block) {
        at = lower_halves(r, false, from, from + block, at, low, owner);
        at = lower_halves(r, true, from, from + block, at, low, owner);
    }
    for (int i = 0; i < r->n / 2; i++)
        r->v[i] = combine_halves(c, r, e, red, r->v[2 * i], r->v[2 * i + 1], low, r->width);
    r->n /= 2;
    r->length /= 2;
    for (int i = 0; i < r->width / r->length; i++) r->owner[i] = owner[i];
}

/* The one vector left becomes half as wide, its runs in order. */
static void halve_width(cg *c, runs *r, gn_elem e, int red)
{
    int low[CG_MAX_LANES], half = r->length / 2, per = r->width / r->length;
    for (int run = 0; run < per; run++)
        for (int l = 0; l < half; l++) low[r->owner[run] * half + l] = run * r->length + l;
    r->v[0] = combine_halves(c, r, e, red, r->v[0], NULL, low, r->width / 2);
    r->width /= 2;
    r->length = half;
    for (int i = 0; i < per; i++) r->owner[i] = i;
}

LLVMValueRef cg_trees(cg *c, gn_elem e, int red, LLVMValueRef *v, int n, int length)
{
    runs r = {.v = v, .n = n, .width = cg_width(v[0]), .length = length};
    int map[CG_MAX_LANES];
    for (int i = 0; i < r.width / length; i++) r.owner[i] = i;
    while (r.length > 1)
        if (r.n > 1)
            halve_pairs(c, &r, e, red);
        else
            halve_width(c, &r, e, red);
    for (int l = 0; l < r.width; l++) map[r.owner[l]] = l;
    return cg_shuffle(c, r.v[0], NULL, map, r.width);
}
