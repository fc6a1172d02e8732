/* Every option of the command line, and what was given. */
#ifndef GN_CLI_OPTIONS_H
#define GN_CLI_OPTIONS_H

#include "cli/args.h"

/* The subcommands: one file each, one bit each in gn_option.commands, in the order of the help. */
#define GN_COMMANDS(X)                                                                             \
    X(compile)                                                                                     \
    X(train)                                                                                       \
    X(run)                                                                                         \
    X(bench)                                                                                       \
    X(explain)                                                                                     \
    X(profile)                                                                                     \
    X(tune)                                                                                        \
    X(opt)                                                                                         \
    X(reduce)                                                                                      \
    X(data)                                                                                        \
    X(cache)                                                                                       \
    X(doctor)

enum {
#define X(name) GN_COMMAND_AT_##name,
    GN_COMMANDS(X)
#undef X
        GN_COMMAND_COUNT
};
enum {
#define X(name) GN_COMMAND_##name = 1 << GN_COMMAND_AT_##name,
    GN_COMMANDS(X)
#undef X
};

typedef struct gn_cli_options {
    const char *mode; /* canonical name of a compile mode, NULL: not given */
    const char *emit; /* of ast, gir, kir, llvm, asm, obj, cuda, ptx, cubin, dot, some, with commas;
                         NULL: not given */
    const char *device;            /* cpu, cuda, cuda:N, auto; NULL: not given */
    const char *precision;         /* highest, high, medium; NULL: not given */
    const char *products;          /* kernel, timed, library; NULL: not given */
    const char *gathers;           /* float32, bfloat16, float16; NULL: not given */
    const char *numbers;           /* of a program: float32, mixed, mixed-f16; NULL: not given */
    const char *wide;              /* of those, what stays float32; NULL: not given */
    const char *tolerance;         /* tune: of a search for precision; NULL: not given */
    const char *arch;              /* sm_80, ...; NULL: not given */
    const char *output;            /* -o; NULL: stdout, or what the command says */
    const char *header;            /* compile: where the C header goes */
    const char *prefix;            /* compile: of C names; NULL: not given */
    const char *cpu;               /* compile: native, x86-64-v3, ...; NULL: not given */
    const char *what;              /* explain: step or eval; NULL: not given */
    const char *by;                /* profile: layer, line or kernel; NULL: not given */
    const char *trace;             /* profile: where the trace goes */
    const char *html;              /* profile: where the page goes */
    const char *passes;            /* opt: comma-separated; NULL: the pipeline of the mode */
    const char *data;              /* NULL: the embedded sample */
    const char *save;              /* train: where the weights go */
    const char *log;               /* train: where a line of each epoch goes */
    const char *plot;              /* train: where the picture of them goes */
    const char *program;           /* compile: of --emit, one alone; NULL: all */
    double rate;                   /* train: of learning; negative: not given */
    const char *checkpoint;        /* train: where training that can go on is written */
    const char *resume_from;       /* train: the checkpoint that it goes on from */
    const char *weights;           /* where weights come from */
    const char *predictions;       /* where predictions go */
    const char *importance;        /* run: where the importance of features goes */
    const char *importance_method; /* gradient or integrated; NULL: not given */
    const char *importance_of;     /* all, train, val, test or numbers of rows; NULL: not given */
    const char *features;          /* data, identity, degree, ones; NULL: not given */
    const char *normalize;         /* auto, on, off: features' rows */
    const char *order;             /* data convert: likewise, before they are written */
    const char *reorder;           /* none, degree, rcm, communities: nodes, at load */
    const char *undirected;        /* auto, on, off: add reverse edges */
    gn_string_list defines;        /* -D name=value */
    const char *dynamic;           /* true, auto, false; NULL: not given */
    const char *range;             /* "N in 1..100000" */
    const char *memory;            /* "2G", "50%"; NULL: not given */
    const char *spill;             /* a folder for what has no room within `memory`; NULL */
    const char *scores;            /* train: on or off; NULL: not given */
    const char *fanout;            /* train: "15,10"; NULL: not given */
    const char *evaluate;          /* train: "full", "batch"; NULL: not given */
    const char *stance;            /* run: for --batches */
    const char *cache_dir;         /* NULL: where the environment says */
    gn_string_list debug;          /* topics to say more about, separated by commas */
    gn_string_list without;        /* names of optimisations, separated by commas: left out */
    const char *only;              /* likewise: all others are left out; NULL: not given */
    const char *tune_lock;         /* choices of schedules are read from it; tune: written to it */
    double tune_budget;            /* seconds of searching; negative: not given */
    const char *modes; /* bench: the axes of the grid, separated by commas; NULL: not given */
    const char *thread_list;
    const char *dynamic_list;
    const char *cell;  /* bench: measure one cell in this process, into this file */
    const char *model; /* of the file; NULL: not given */
    int64_t classes;
    int64_t split; /* the integers are -1 where they were not given */
    int64_t epochs;
    int64_t batch;
    int64_t ahead;
    int64_t checkpoint_every;
    int64_t seed;
    int64_t seeds;
    int64_t threads;
    int64_t repeat;
    int64_t batches;
    int64_t recompile_limit;
    int64_t pass_limit;
    int64_t warmup;
    int64_t steps;
    int64_t timeout;
    int verbose;
    bool quiet, json, list, show, help, inference;
    bool resume, compile_only, frontier;
} gn_cli_options;

void gn_cli_options_init(gn_cli_options *o);
extern const gn_option_table gn_cli_option_table;

#endif
