/* A GCN compiled for a GPU, for what is decided by its programs' sizes; nothing runs.  MODE: of the
 * session. */
#ifndef GN_TESTS_GPU_PROGRAMS_H
#define GN_TESTS_GPU_PROGRAMS_H

#include "session/session.h"
#include "tune/start.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static gn_arena arena;
static gn_session *session;
static gn_limits limits;

static void setup(void)
{
    const char *root = getenv("GNNC_SOURCE_DIR");
    gn_arena_init(&arena);
    limits = gn_cuda_limits();
    gn_session_options o = {
        .path = gn_arena_printf(&arena, "%s/samples/gcn.gnn", root ? root : "."),
        .mode = MODE,
        .epochs = -1,
        .pass_limit = -1,
        .train = true,
        .keep_static = true,
        .no_code = true,
        .limits = &limits};
    gn_status *s = gn_session_new(&arena, &o, &session);
    ck_assert_msg(!s, "%s", gn_status_message(s));
}

static void teardown(void)
{
    gn_session_free(session);
    gn_arena_free(&arena);
}

static const low_hint small[] = {{.name = "g", .n_src = 2708, .n_dst = 2708, .n_edge = 10556},
                                 {.name = "x", .n_src = 1433, .n_dst = 2708, .n_edge = 49216}},
                      large[] = {
                          {.name = "g", .n_src = 2000000, .n_dst = 2000000, .n_edge = 60000000},
                          {.name = "x", .n_src = 100, .n_dst = 2000000, .n_edge = 200000000}};

#endif
