/* Which sanitizer gnnc is built with: GN_UNDER_ASAN and GN_UNDER_TSAN, 0 or 1.  Generated code is
 * checked too then, and tests leave out repetitions that take minutes and only change the
 * numbers. */
#ifndef GN_BASE_SANITIZED_H
#define GN_BASE_SANITIZED_H

#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define GN_UNDER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define GN_UNDER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(GN_UNDER_ASAN) /* gcc */
#define GN_UNDER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(GN_UNDER_TSAN)
#define GN_UNDER_TSAN 1
#endif
#ifndef GN_UNDER_ASAN
#define GN_UNDER_ASAN 0
#endif
#ifndef GN_UNDER_TSAN
#define GN_UNDER_TSAN 0
#endif

#endif
