/* Inside of the fake driver: its objects, how calls are counted and made to fail, and where misuse
 * is noted. */
#ifndef TESTS_CUDA_FAKE_OBJECTS_H
#define TESTS_CUDA_FAKE_OBJECTS_H

#include "fake_driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    TOO_MANY_BLOCKS = 720,
    CAPTURE_UNSUPPORTED = 900,
    GRAPH_UPDATE_FAILURE = 910,
};

enum { HANDLE = 16 };         /* of the first device */
enum { MULTIPROCESSORS = 4 }; /* each holds one block of up to 1024 threads */

typedef enum fake_kind { MEMORY, PINNED, STREAM, EVENT, MODULE, FUNCTION, GRAPH, EXEC } fake_kind;

typedef struct fake_node fake_node;

typedef struct fake_object {
    fake_kind kind;
    struct fake_object *next;
    void *at; /* MEMORY, PINNED: the bytes */
    size_t bytes;
    fake_node *nodes; /* GRAPH, EXEC, whose nodes have the names of those of the graph that it was
                         made of */
    int n;
    bool recording;  /* STREAM, GRAPH: which is what it records */
    double at_clock; /* EVENT */
    struct fake_object *graph;
    struct fake_object *module; /* FUNCTION */
    fake_image image;           /* MODULE, FUNCTION */
    int kernel;                 /* FUNCTION */
} fake_object;

struct fake_node { /* of a graph */
    enum { COPY, LAUNCH, CALL } what;
    void *name;                      /* of no other node, ever */
    int (*call)(const void *values); /* of another library */
    void *to;
    const void *from;
    size_t bytes;
    fake_object *function;
    unsigned blocks, threads;
    int together; /* a cooperative launch */
    unsigned long long value[512];
    int n;
};

typedef struct fake_state {
    fake_object *objects;
    int devices, contexts, pushed; /* contexts that are held; how often one was made current */
    size_t total, used;            /* bytes of a device */
    int cooperative;               /* its blocks can wait for each other */
    double clock, cost[3];         /* milliseconds of all work so far; of a node of each kind */
    long filled;                   /* bytes */
} fake_state;
extern fake_state fake;

fake_object *fake_make(fake_kind k);
/* NULL: it is no such object, which is noted as `who`. */
fake_object *fake_find(const void *handle, fake_kind k, const char *who);
void fake_drop(fake_object *o);
bool fake_records(void);                        /* does a stream? */
bool fake_lies_within(const void *p, size_t n); /* in one allocation of the device */
void fake_note(const char *what);               /* a misuse */
int fake_ordered(const char *function); /* counts the call; the result that it was ordered to give
                                         */
/* The same of a call that has done what it is for: drivers hand on what earlier work came to. */
int fake_ended(const char *function);

#define ENTER()                                                                                    \
    do {                                                                                           \
        int ordered_ = fake_ordered(__func__);                                                     \
        if (ordered_) return ordered_;                                                             \
    } while (0)
#define IN_CONTEXT()                                                                               \
    do {                                                                                           \
        if (!fake.pushed) {                                                                        \
            fake_note("a call without a current context");                                         \
            return INVALID_CONTEXT;                                                                \
        }                                                                                          \
    } while (0)
/* What the real driver refuses, or would record, while a stream of this thread records
 * (cuStreamBeginCapture, "unsafe" calls). Freeing is let through: a recording that cannot be ended
 * is given up with its device. */
#define NOT_WHILE_RECORDING()                                                                      \
    do {                                                                                           \
        if (fake_records()) {                                                                      \
            fake_note(__func__);                                                                   \
            return CAPTURE_UNSUPPORTED;                                                            \
        }                                                                                          \
    } while (0)
#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

#endif
