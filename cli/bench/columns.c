#include "cli/bench/columns.h"

#include "cli/text.h"

#include <math.h>
#include <string.h>

#define TEXT(x) ((gn_value){.text = (x), .number = NAN})
#define NUMBER(x) ((gn_value){.number = (x)})

static double count(int64_t n, double per) { return n < 0 ? NAN : (double)n / per; }
static bool ended(const gn_cell *c) { return c->end == GN_CELL_OK; }

/* A figure of a cell that did not end well is none. */
#define OF(name, expr)                                                                             \
    static gn_value name(const gn_bench *b, const gn_cell *c)                                      \
    {                                                                                              \
        (void)b;                                                                                   \
        return ended(c) ? NUMBER(expr) : NUMBER(NAN);                                              \
    }
#define SAYS(name, expr)                                                                           \
    static gn_value name(const gn_bench *b, const gn_cell *c)                                      \
    {                                                                                              \
        (void)b;                                                                                   \
        return TEXT(expr);                                                                         \
    }

SAYS(of_data, gn_bench_data_label(b, c))
SAYS(of_mode, c->mode)
SAYS(of_dynamic, c->dynamic)
SAYS(of_status, gn_cell_end_name[c->end])
SAYS(of_reason, c->reason)
SAYS(of_last_line, c->last_line)
SAYS(of_id, c->id)
SAYS(of_picked, ended(c) && c->warm.picked ? c->warm.picked : "")
SAYS(of_order, ended(c) && c->warm.order && strcmp(c->warm.order, "none") ? c->warm.order : "")
SAYS(of_device, ended(c) && c->warm.device && strcmp(c->warm.device, "cpu") ? c->warm.device : "")
SAYS(of_code, ended(c) && c->warm.code ? gn_arena_strndup(b->arena, c->warm.code, 8) : "")
OF(of_nodes, count(c->warm.nodes, 1))
OF(of_edges, count(c->warm.edges, 1))
OF(step_median, c->step.median)
OF(step_p10, c->step.p10)
OF(step_p90, c->step.p90)
OF(step_mean, c->step.mean)
OF(step_std, c->step.std)
OF(step_gain, c->step_gain)
OF(infer_median, c->infer.median)
OF(infer_p10, c->infer.p10)
OF(infer_p90, c->infer.p90)
OF(infer_p99, c->infer.p99)
OF(infer_mean, c->infer.mean)
OF(infer_std, c->infer.std)
OF(infer_gain, c->infer_gain)
OF(compile_cold, c->cold.compile_ms)
OF(compile_cached, c->warm.compile_ms)
OF(kernels, count(c->warm.kernels, 1))
OF(break_even_step, c->break_even_step)
OF(break_even_step_cached, c->break_even_step_cached)
OF(break_even_step_extra, c->break_even_step_extra)
OF(break_even_infer, c->break_even_infer)
OF(break_even_infer_cached, c->break_even_infer_cached)
OF(rss, count(c->warm.rss_bytes, 1e6))
OF(rss_compile, count(c->cold.rss_bytes, 1e6))
OF(plan, count(c->warm.plan_bytes, 1e6))
OF(arena, count(c->warm.arena_bytes, 1e6))
OF(changing_programs, count(c->changing.programs, 1))
OF(changing_compile, c->changing.compile_ms)
OF(changing_run, c->changing.run_us)
OF(logits_diff, c->logits_diff)
OF(loss_diff, c->loss_diff)
OF(end_loss_diff, c->end_loss_diff)
OF(test_acc, 100 * c->warm.test_acc)
OF(end_acc_diff, c->end_acc_diff)

static gn_value of_threads(const gn_bench *b, const gn_cell *c)
{
    (void)b;
    return NUMBER((double)c->threads);
}
static gn_value of_wall(const gn_bench *b, const gn_cell *c)
{
    (void)b;
    return NUMBER(c->wall_ms / 1e3);
}

/* What it held when it ended badly is worth knowing. */
static gn_value of_rss_failed(const gn_bench *b, const gn_cell *c)
{
    (void)b;
    int64_t bytes = c->warm.rss_bytes > c->cold.rss_bytes ? c->warm.rss_bytes : c->cold.rss_bytes;
    return NUMBER(ended(c) ? NAN : count(bytes, 1e6));
}

enum {
    ALL = GN_TABLE_ALL,
    FIGURES = ALL & ~GN_TABLE_ERRORS,
    TRAINING = GN_TABLE_TRAINING,
    INFERENCE = GN_TABLE_INFERENCE,
    COMPILING = GN_TABLE_COMPILING,
    MEMORY = GN_TABLE_MEMORY,
    AGREEMENT = GN_TABLE_AGREEMENT,
    ERRORS = GN_TABLE_ERRORS,
    SUMMARY = GN_TABLE_MODES | GN_TABLE_DYNAMIC,
};

const gn_column gn_columns[] = {
    {"data", "data", "", GN_VALUE_TEXT, ALL, of_data},
    {"nodes", "nodes", "", GN_VALUE_COUNT, 0, of_nodes},
    {"edges", "edges", "", GN_VALUE_COUNT, 0, of_edges},
    {"threads", "threads", "", GN_VALUE_COUNT, ALL, of_threads},
    {"device", "device", "", GN_VALUE_TEXT, SUMMARY | COMPILING, of_device},
    {"mode", "mode", "", GN_VALUE_TEXT, ALL, of_mode},
    {"dynamic", "dynamic", "", GN_VALUE_TEXT, ALL, of_dynamic},
    {"status", "status", "", GN_VALUE_TEXT, ALL, of_status},
    {"step_us", "training step", "us", GN_VALUE_NUMBER, TRAINING | SUMMARY, step_median},
    {"step_p10_us", "10 %", "us", GN_VALUE_NUMBER, TRAINING, step_p10},
    {"step_p90_us", "90 %", "us", GN_VALUE_NUMBER, TRAINING, step_p90},
    {"step_mean_us", "mean", "us", GN_VALUE_NUMBER, 0, step_mean},
    {"step_std_us", "deviation", "us", GN_VALUE_NUMBER, 0, step_std},
    {"step_times_faster", "step, times faster", "", GN_VALUE_NUMBER, TRAINING | SUMMARY, step_gain},
    {"infer_us", "inference", "us", GN_VALUE_NUMBER, INFERENCE | SUMMARY, infer_median},
    {"infer_p10_us", "10 %", "us", GN_VALUE_NUMBER, INFERENCE, infer_p10},
    {"infer_p90_us", "90 %", "us", GN_VALUE_NUMBER, INFERENCE, infer_p90},
    {"infer_p99_us", "99 %", "us", GN_VALUE_NUMBER, INFERENCE, infer_p99},
    {"infer_mean_us", "mean", "us", GN_VALUE_NUMBER, 0, infer_mean},
    {"infer_std_us", "deviation", "us", GN_VALUE_NUMBER, 0, infer_std},
    {"infer_times_faster", "inference, times faster", "", GN_VALUE_NUMBER, INFERENCE | SUMMARY,
     infer_gain},
    {"compile_ms", "compile", "ms", GN_VALUE_NUMBER, COMPILING | SUMMARY, compile_cold},
    {"compile_cached_ms", "compile, cached", "ms", GN_VALUE_NUMBER, COMPILING | SUMMARY,
     compile_cached},
    {"kernels", "kernels", "", GN_VALUE_COUNT, COMPILING, kernels},
    {"code", "code", "", GN_VALUE_TEXT, COMPILING, of_code},
    {"picked", "chosen by a search", "", GN_VALUE_TEXT, COMPILING, of_picked},
    {"break_even_steps", "break-even", "steps", GN_VALUE_COUNT, TRAINING | COMPILING | SUMMARY,
     break_even_step},
    {"break_even_steps_cached", "break-even, cached", "steps", GN_VALUE_COUNT, TRAINING | COMPILING,
     break_even_step_cached},
    {"break_even_steps_extra", "break-even, what is compiled besides", "steps", GN_VALUE_COUNT, 0,
     break_even_step_extra},
    {"break_even_runs", "break-even", "runs", GN_VALUE_COUNT, INFERENCE, break_even_infer},
    {"break_even_runs_cached", "break-even, cached", "runs", GN_VALUE_COUNT, INFERENCE,
     break_even_infer_cached},
    {"peak_rss_mb", "resident, at most", "MB", GN_VALUE_NUMBER, MEMORY | SUMMARY, rss},
    {"peak_rss_compile_mb", "resident while compiling", "MB", GN_VALUE_NUMBER, MEMORY, rss_compile},
    {"plan_mb", "planned", "MB", GN_VALUE_NUMBER, MEMORY, plan},
    {"temporaries_mb", "of it temporaries", "MB", GN_VALUE_NUMBER, MEMORY, arena},
    {"changing_programs", "changing graphs: programs", "", GN_VALUE_COUNT, GN_TABLE_DYNAMIC,
     changing_programs},
    {"changing_compile_ms", "changing graphs: compile, in all", "ms", GN_VALUE_NUMBER,
     GN_TABLE_DYNAMIC, changing_compile},
    {"changing_run_us", "changing graphs: a run", "us", GN_VALUE_NUMBER, GN_TABLE_DYNAMIC,
     changing_run},
    {"order", "order of nodes", "", GN_VALUE_TEXT, AGREEMENT, of_order},
    {"test_accuracy", "test accuracy", "%", GN_VALUE_NUMBER, AGREEMENT, test_acc},
    {"outputs_diff", "outputs differ by", "", GN_VALUE_NUMBER, AGREEMENT, logits_diff},
    {"loss_diff", "first losses differ by", "", GN_VALUE_NUMBER, AGREEMENT, loss_diff},
    {"end_loss_diff", "last losses differ by", "", GN_VALUE_NUMBER, AGREEMENT, end_loss_diff},
    {"end_accuracy_diff", "accuracies differ by", "points", GN_VALUE_NUMBER, AGREEMENT,
     end_acc_diff},
    {"failed_rss_mb", "resident, at most", "MB", GN_VALUE_NUMBER, ERRORS, of_rss_failed},
    {"wall_s", "took", "s", GN_VALUE_NUMBER, ERRORS, of_wall},
    {"reason", "reason", "", GN_VALUE_TEXT, ERRORS, of_reason},
    {"last_line", "last line of its standard error", "", GN_VALUE_TEXT, ERRORS, of_last_line},
    {"id", "cell", "", GN_VALUE_TEXT, 0, of_id},
};
const int gn_column_count = sizeof gn_columns / sizeof *gn_columns;

/* How many values an axis has; 0: the column names none. */
static uint32_t axis(const gn_bench *b, const gn_column *col)
{
    if (col->of == of_data) return b->grid.data.n;
    if (col->of == of_threads) return b->grid.threads.n;
    if (col->of == of_dynamic) return b->grid.dynamic.n;
    return 0;
}

bool gn_column_shown(const gn_bench *b, const gn_column *col, uint32_t tables)
{
    if (!(col->tables & tables) || axis(b, col) == 1) return false;
    for (int k = 0; k < b->n_cells; k++) {
        if (col->of == of_status && ended(&b->cells[k]))
            continue; /* said where some did not end well */
        gn_value v = col->of(b, &b->cells[k]);
        if (col->kind == GN_VALUE_TEXT ? *v.text : !isnan(v.number)) return true;
    }
    return false;
}

bool gn_cell_shown(const gn_cell *c, uint32_t table)
{
    if (table == GN_TABLE_ERRORS) return c->end != GN_CELL_OK;
    if (table == GN_TABLE_TRAINING) return c->end != GN_CELL_OK || c->step.n > 0;
    if (table == GN_TABLE_INFERENCE) return c->end != GN_CELL_OK || c->infer.n > 0;
    return true;
}

const char *gn_value_text(gn_arena *a, const gn_column *col, gn_value v)
{
    if (col->kind == GN_VALUE_TEXT) return v.text;
    if (isnan(v.number)) return "";
    if (col->kind == GN_VALUE_COUNT) return gn_text_count(a, v.number);
    return gn_text_number(a, v.number);
}
