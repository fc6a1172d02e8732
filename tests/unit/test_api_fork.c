/* What a forked child may do: free, run, compile, with threads or without, whatever other threads
 * were at. */
/* timeout: 120 */
#include "api_world.h"
#include "base/home.h"
#include "base/mutex.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 60 /* seconds: a child that hangs is a child that has died */ };

static gnnc_compile_options plain_options(void) { return (gnnc_compile_options){.train = true}; }

static pid_t child[4]; /* of each generation */
static int generation;

static bool start_child(void)
{
    fflush(NULL);
    pid_t p = child[generation] = fork();
    ck_assert_int_ge(p, 0);
    if (p) return false;
    generation++;
    alarm(PATIENCE);
    return true;
}

static void end_child(int line)
{
    int status;
    ck_assert_int_eq(waitpid(child[generation], &status, 0), child[generation]);
    ck_assert_msg(!WIFSIGNALED(status), "the child of line %d died of signal %d", line,
                  WTERMSIG(status));
    ck_assert_msg(WEXITSTATUS(status) == 0, "the child of line %d ended with %d", line,
                  WEXITSTATUS(status));
}

/* Does it in a child, which is to end well. */
#define IN_CHILD(...)                                                                              \
    do {                                                                                           \
        if (start_child()) {                                                                       \
            __VA_ARGS__;                                                                           \
            _exit(0);                                                                              \
        }                                                                                          \
        end_child(__LINE__);                                                                       \
    } while (0)
#define MUST(x)                                                                                    \
    do {                                                                                           \
        if (!(x)) _exit(9);                                                                        \
    } while (0)

static bool gives(gnnc_run *r, int n, const float *want)
{
    DLTensor out;
    if (gnnc_run_infer(r) || gnnc_run_output(r, "out", &out)) return false;
    return !memcmp(out.data, want, (size_t)n * C * sizeof *want);
}

enum { NODES = 4000, EDGES = 30000 };

START_TEST(a_child_frees)
{
    static const char *const modes[] = {"default", "reduce-overhead"};
    for (int threads = 1; threads <= 3; threads++)
        for (int m = 0; m < 2; m++) {
            gnnc_compile_options o = plain_options();
            o.mode = modes[m];
            bench b = set_up(plain, o, threads);
            world w = make_world(1, NODES, EDGES);
            bind_world(b.run, &w, true);
            free(infer(b.run, NODES));
            ok(gnnc_run_step(b.run, NULL));
            IN_CHILD(tear_down(&b); end_world(&w));
            tear_down(&b);
            end_world(&w);
        }
}
END_TEST

START_TEST(a_child_runs)
{
    static const char *const modes[] = {"default", "reduce-overhead"};
    for (int threads = 1; threads <= 3; threads++)
        for (int m = 0; m < 2; m++) {
            gnnc_compile_options o = plain_options();
            o.mode = modes[m];
            bench b = set_up(plain, o, threads);
            world w = make_world(2, NODES, EDGES);
            bind_world(b.run, &w, true);
            float *want = infer(b.run, NODES);
            IN_CHILD({
                for (int k = 0; k < 3; k++) MUST(gives(b.run, NODES, want));
                IN_CHILD(MUST(gives(b.run, NODES, want)); tear_down(&b)); /* and its own child */
                MUST(gives(b.run, NODES, want));
                for (int k = 0; k < 3; k++) MUST(!gnnc_run_step(b.run, NULL));
                tear_down(&b);
            });
            float *again = infer(b.run, NODES); /* the parent goes on */
            ck_assert_mem_eq(want, again, NODES * C * sizeof *want);
            free(want);
            free(again);
            tear_down(&b);
            end_world(&w);
        }
}
END_TEST

START_TEST(a_child_makes_all_anew)
{
    gnnc_context_options co = {.size = sizeof co, .cache = GNNC_CACHE_MEMORY};
    gnnc_context *c;
    ok(gnnc_context_new(&co, &c));
    bench b = set_up_in(c, plain, plain_options(), 2);
    world w = make_world_in(c, 3, NODES, EDGES);
    bind_world(b.run, &w, true);
    float *want = infer(b.run, NODES);
    IN_CHILD({
        gnnc_context *mine;
        MUST(!gnnc_context_new(&co, &mine));
        bench own = set_up_in(mine, plain, plain_options(), 2),
              shared = set_up_in(c, plain, plain_options(), 2);
        world mw = make_world_in(mine, 3, NODES, EDGES);
        bind_world(own.run, &mw, true);
        bind_world(shared.run, &w, true);
        MUST(gives(own.run, NODES, want));
        MUST(gives(shared.run, NODES, want));
        tear_down(&own);
        tear_down(&shared);
        end_world(&mw);
        gnnc_context_free(mine);
        tear_down(&b);
        end_world(&w);
        gnnc_context_free(c);
    });
    free(want);
    tear_down(&b);
    end_world(&w);
    gnnc_context_free(c);
}
END_TEST

/* While others are at work --------------------------------------------------------------------- */

typedef struct worker {
    const gnnc_context *context;
    const gnnc_module *module;
    const gnnc_executable *exe;
    world *w;
    atomic_bool stop;
    atomic_int rounds;
} worker;

/* Check has a mutex of its own, which a child would find shut: no assertions while others fork. */
static void must(gnnc_status *s)
{
    if (!s) return;
    fprintf(stderr, "%s\n", gnnc_status_message(s));
    abort();
}

/* Whatever takes a lock: compiles, looks up, asks a graph for what is derived from it, runs. */
static void *works(void *arg)
{
    worker *z = arg;
    DLTensor x = x_of(z->w);
    for (int k = 0; !atomic_load(&z->stop); k++) {
        gnnc_compile_options o = {
            .size = sizeof o, .features = F, .classes = C, .mode = k % 2 ? "eager" : "default"};
        gnnc_executable *e;
        gnnc_state *s;
        gnnc_run *r;
        gnnc_graph *g;
        gnnc_run_options ro = {.size = sizeof ro, .threads = 2};
        must(gnnc_compile(z->module, &o, &e));
        must(gnnc_state_new(e, 7, &s));
        must(gnnc_run_new(e, s, &ro, &r));
        must(gnnc_graph_from_coo(z->context, z->w->n, z->w->e, GNNC_INT32, z->w->src, z->w->dst,
                                 &g));
        must(gnnc_run_bind_graph(r, z->w->g));
        must(gnnc_run_bind(r, "x", &x));
        must(gnnc_run_infer(r));
        must(gnnc_run_bind_graph(r, g));
        must(gnnc_run_infer(r));
        gnnc_run_free(r);
        gnnc_state_free(s);
        gnnc_executable_free(e);
        gnnc_graph_free(g);
        atomic_fetch_add(&z->rounds, 1);
    }
    return NULL;
}

START_TEST(a_fork_while_others_work)
{
    enum { FORKS = 12, THREADS = 2 };
    gnnc_context_options co = {.size = sizeof co, .cache = GNNC_CACHE_MEMORY};
    gnnc_context *c;
    ok(gnnc_context_new(&co, &c));
    bench b = set_up_in(c, plain, plain_options(), 2);
    world w = make_world_in(c, 4, 500, 3000);
    bind_world(b.run, &w, true);
    float *want = infer(b.run, 500);
    worker z = {.context = c, .module = b.module, .exe = b.exe, .w = &w};
    pthread_t t[THREADS];
    for (int k = 0; k < THREADS; k++) ck_assert_int_eq(pthread_create(&t[k], NULL, works, &z), 0);
    for (int k = 0; k < FORKS; k++) {
        int before = atomic_load(&z.rounds);
        IN_CHILD({
            MUST(gives(b.run, 500, want));
            /* with what the others were using */
            bench own = set_up_in(c, plain, plain_options(), 2);
            bind_world(own.run, &w, true);
            MUST(gives(own.run, 500, want));
            tear_down(&own);
            tear_down(&b);
        });
        while (atomic_load(&z.rounds) == before) sched_yield();
    }
    atomic_store(&z.stop, true);
    for (int k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    free(want);
    tear_down(&b);
    end_world(&w);
    gnnc_context_free(c);
}
END_TEST

/* Mutexes -------------------------------------------------------------------------------------- */

typedef struct holder {
    gn_mutex *m;
    atomic_bool holds, let;
} holder;

static void *holds(void *arg)
{
    holder *h = arg;
    gn_mutex_take(h->m);
    atomic_store(&h->holds, true);
    while (!atomic_load(&h->let)) sched_yield();
    gn_mutex_leave(h->m);
    return NULL;
}

static void *lets(void *arg)
{
    holder *h = arg;
    (void)usleep(100000); /* the fork waits by now */
    atomic_store(&h->let, true);
    return NULL;
}

/* A long one does not keep a fork waiting, and is open in the child; a brief one does.
 */
START_TEST(a_mutex_that_another_thread_holds)
{
    static const gn_mutex_kind kinds[] = {GN_MUTEX_LONG, GN_MUTEX_NESTED, GN_MUTEX_BRIEF};
    for (int k = 0; k < 3; k++) {
        gn_mutex m;
        holder h = {.m = &m};
        pthread_t t, other;
        ck_assert(!gn_mutex_init(&m, kinds[k]));
        ck_assert_int_eq(pthread_create(&t, NULL, holds, &h), 0);
        while (!atomic_load(&h.holds)) sched_yield();
        bool brief = kinds[k] == GN_MUTEX_BRIEF;
        if (brief) ck_assert_int_eq(pthread_create(&other, NULL, lets, &h), 0);
        IN_CHILD({
            MUST(!brief || atomic_load(&h.let));
            gn_mutex_take(&m);
            gn_mutex_leave(&m);
            gn_mutex_end(&m);
        });
        atomic_store(&h.let, true);
        pthread_join(t, NULL);
        if (brief) pthread_join(other, NULL);
        gn_mutex_end(&m);
    }
}
END_TEST

/* A callback that forks goes on with what it holds. */
START_TEST(a_mutex_that_the_forking_thread_holds)
{
    static const gn_mutex_kind kinds[] = {GN_MUTEX_LONG, GN_MUTEX_NESTED, GN_MUTEX_BRIEF};
    for (int k = 0; k < 3; k++) {
        gn_mutex m;
        ck_assert(!gn_mutex_init(&m, kinds[k]));
        gn_mutex_take(&m);
        if (kinds[k] == GN_MUTEX_NESTED) gn_mutex_take(&m);
        IN_CHILD({
            if (kinds[k] != GN_MUTEX_NESTED) MUST(pthread_mutex_trylock(&m.mutex));
            if (kinds[k] == GN_MUTEX_NESTED) gn_mutex_leave(&m);
            gn_mutex_leave(&m);
            MUST(!pthread_mutex_trylock(&m.mutex));
            MUST(!pthread_mutex_unlock(&m.mutex));
            gn_mutex_take(&m);
            gn_mutex_leave(&m);
        });
        if (kinds[k] == GN_MUTEX_NESTED) gn_mutex_leave(&m);
        gn_mutex_leave(&m);
        gn_mutex_end(&m);
    }
}
END_TEST

START_TEST(a_home_is_left_by_children_alone)
{
    gn_home h;
    gn_home_init(&h);
    for (int k = 0; k < 2; k++) { /* where the system wipes pages, and where it does not
                                   */
        ck_assert(!gn_home_left(&h));
        IN_CHILD({
            MUST(gn_home_left(&h));
            gn_home_settle(&h);
            MUST(!gn_home_left(&h));
            IN_CHILD(MUST(gn_home_left(&h)));
        });
        ck_assert(!gn_home_left(&h));
        gn_home_end(&h);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, a_home_is_left_by_children_alone);
    tcase_add_test(t, a_mutex_that_another_thread_holds);
    tcase_add_test(t, a_mutex_that_the_forking_thread_holds);
    if (GNNC_HAVE_LLVM) {
        tcase_add_test(t, a_child_frees);
        tcase_add_test(t, a_child_runs);
        tcase_add_test(t, a_child_makes_all_anew);
        tcase_add_test(t, a_fork_while_others_work);
    }
    tcase_set_timeout(t, 500);
    return RUN_CASES("api_fork", t);
}
