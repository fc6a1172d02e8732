/* Element types.  Nothing assumes four bytes. */
#ifndef GN_BASE_ELEM_H
#define GN_BASE_ELEM_H

#include <stddef.h>

/*      id    text    bytes  float?  */
#define GN_ELEMS(X)                                                                                \
    X(F32, "f32", 4, 1)                                                                            \
    X(F64, "f64", 8, 1)                                                                            \
    X(BF16, "bf16", 2, 1)                                                                          \
    X(F16, "f16", 2, 1)                                                                            \
    X(I32, "i32", 4, 0)                                                                            \
    X(I64, "i64", 8, 0)                                                                            \
    X(U32, "u32", 4, 0)                                                                            \
    X(U8, "u8", 1, 0)                                                                              \
    X(BOOL, "bool", 1, 0)

typedef enum gn_elem {
#define X(id, text, bytes, fl) GN_##id,
    GN_ELEMS(X)
#undef X
        GN_ELEM_COUNT
} gn_elem;

static inline size_t gn_elem_size(gn_elem e)
{
    static const unsigned char size[] = {
#define X(id, text, bytes, fl) bytes,
        GN_ELEMS(X)
#undef X
    };
    return size[e];
}

static inline int gn_elem_is_float(gn_elem e)
{
    static const unsigned char is[] = {
#define X(id, text, bytes, fl) fl,
        GN_ELEMS(X)
#undef X
    };
    return is[e];
}

static inline const char *gn_elem_name(gn_elem e)
{
    static const char *const name[] = {
#define X(id, text, bytes, fl) text,
        GN_ELEMS(X)
#undef X
    };
    return name[e];
}

#endif
