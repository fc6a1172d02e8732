#include "cli/bench/columns.h"

#include "cli/bench/relate.h"
#include "cli/bench/rows.h"
#include "cli/text.h"

#include "compile/mode.h"

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
SAYS(of_model, gn_bench_model_label(b, c))
SAYS(of_mode, gn_cell_modes(b, c))
SAYS(of_dynamic, gn_cell_dynamics(b, c))
SAYS(of_group, c->group ? c->group : "")
SAYS(of_status, gn_cell_end_name[c->end])
SAYS(of_reason, c->reason)
SAYS(of_last_line, c->last_line)
SAYS(of_id, c->id)
SAYS(of_picked, ended(c) && c->warm.picked ? c->warm.picked : "")
SAYS(of_order, ended(c) && c->warm.order && strcmp(c->warm.order, "none") ? c->warm.order : "")
SAYS(of_device, ended(c) && c->warm.device && strcmp(c->warm.device, "cpu") ? c->warm.device : "")
SAYS(of_program, ended(c) && c->warm.program ? c->warm.program : "")
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
OF(infer_max, c->infer.max)
OF(step_p99, c->step.p99)
OF(step_max, c->step.max)
OF(infer_tail, c->infer.p99 / c->infer.median)
OF(step_tail, c->step.p99 / c->step.median)
OF(infer_n, count(c->infer.n ? c->infer.n : -1, 1))
OF(step_n, count(c->step.n ? c->step.n : -1, 1))
OF(infer_spread, 100 * (c->infer.p90 - c->infer.p10) / c->infer.median)
OF(step_spread, 100 * (c->step.p90 - c->step.p10) / c->step.median)
SAYS(infer_rank, gn_standing_text(gn_standing_of(b, c, true)))
SAYS(step_rank, gn_standing_text(gn_standing_of(b, c, false)))
OF(infer_behind, gn_behind(b, c, true))
OF(step_behind, gn_behind(b, c, false))
OF(tune, gn_searches(c) ? c->cold.tune_ms : NAN)
OF(infer_search_gain, gn_search_gain(b, c, true))
OF(step_search_gain, gn_search_gain(b, c, false))
OF(infer_search_pays, gn_search_pays(b, c, true))
OF(step_search_pays, gn_search_pays(b, c, false))
OF(infer_scaling, gn_thread_gain(b, c, true))
OF(step_scaling, gn_thread_gain(b, c, false))
OF(infer_ns_edge, c->infer.median * 1e3 / count(c->warm.edges > 0 ? c->warm.edges : -1, 1))
OF(step_ns_edge, c->step.median * 1e3 / count(c->warm.edges > 0 ? c->warm.edges : -1, 1))
OF(eval_launches, count(c->warm.eval_launches, 1))
OF(step_launches, count(c->warm.step_launches, 1))
OF(eval_operators, count(c->warm.eval_operators, 1))
OF(step_operators, count(c->warm.step_operators, 1))
OF(eval_fused, count(c->warm.eval_operators, 1) / count(c->warm.eval_launches, 1))
OF(step_fused, count(c->warm.step_operators, 1) / count(c->warm.step_launches, 1))
OF(changing_recompiles, count(c->changing.recompiles, 1))
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
OF(test_auc, 100 * c->warm.test_auc)
OF(test_hits, 100 * c->warm.test_hits)
OF(test_mrr, c->warm.test_mrr)
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
    TRAINING = GN_TABLE_TRAINING,
    INFERENCE = GN_TABLE_INFERENCE,
    COMPILING = GN_TABLE_COMPILING,
    MEMORY = GN_TABLE_MEMORY,
    AGREEMENT = GN_TABLE_AGREEMENT,
    ERRORS = GN_TABLE_ERRORS,
    SUMMARY = GN_TABLE_MODES | GN_TABLE_DYNAMIC,
    NOISE = GN_TABLE_NOISE,
    EVEN = GN_TABLE_BREAK_EVEN,
    SEARCH = GN_TABLE_SEARCH,
    TAIL = GN_TABLE_TAIL,
    THREADS = GN_TABLE_THREADS,
    KERNELS = GN_TABLE_KERNELS,
    SIZES = GN_TABLE_SIZES,
};

const gn_column gn_columns[] = {
    {"model", "model", "", GN_VALUE_TEXT, ALL, of_model},
    {"data", "data", "", GN_VALUE_TEXT, ALL, of_data},
    {"nodes", "nodes", "", GN_VALUE_COUNT, SIZES, of_nodes},
    {"edges", "edges", "", GN_VALUE_COUNT, SIZES, of_edges},
    {"threads", "threads", "", GN_VALUE_COUNT, ALL, of_threads},
    {"device", "device", "", GN_VALUE_TEXT, SUMMARY | COMPILING, of_device},
    {"mode", "mode", "", GN_VALUE_TEXT, ALL, of_mode},
    {"dynamic", "dynamic", "", GN_VALUE_TEXT, ALL, of_dynamic},
    {"status", "status", "", GN_VALUE_TEXT, ALL, of_status},
    {"step_us", "training step, median", "us", GN_VALUE_NUMBER,
     TRAINING | SUMMARY | NOISE | EVEN | THREADS | SIZES | TAIL, step_median},
    {"step_p10_us", "step, 10 % below", "us", GN_VALUE_NUMBER, TRAINING, step_p10},
    {"step_p90_us", "step, 90 % below", "us", GN_VALUE_NUMBER, TRAINING, step_p90},
    {"step_mean_us", "step, mean", "us", GN_VALUE_NUMBER, 0, step_mean},
    {"step_std_us", "step, deviation", "us", GN_VALUE_NUMBER, 0, step_std},
    {"step_times_faster", "step, times faster", "x baseline", GN_VALUE_NUMBER, TRAINING | SUMMARY,
     step_gain},
    {"step_spread_percent", "step, 10 % to 90 %", "% of median", GN_VALUE_NUMBER, NOISE,
     step_spread},
    {"step_behind_percent", "step, behind the fastest", "%", GN_VALUE_NUMBER, NOISE | TRAINING,
     step_behind},
    {"step_against_fastest", "step, against the fastest", "", GN_VALUE_TEXT, NOISE | TRAINING,
     step_rank},
    {"step_n", "steps timed", "", GN_VALUE_COUNT, TRAINING | NOISE | TAIL, step_n},
    {"step_p99_us", "step, 99 % below", "us", GN_VALUE_NUMBER, TAIL, step_p99},
    {"step_max_us", "step, slowest", "us", GN_VALUE_NUMBER, TAIL, step_max},
    {"step_tail", "step, 99 % over median", "times", GN_VALUE_NUMBER, TAIL, step_tail},
    {"step_scaling", "step, times faster than on the fewest threads", "times", GN_VALUE_NUMBER,
     THREADS, step_scaling},
    {"step_ns_per_edge", "step, for an edge", "ns", GN_VALUE_NUMBER, SIZES, step_ns_edge},
    {"infer_us", "inference, median", "us", GN_VALUE_NUMBER,
     INFERENCE | SUMMARY | NOISE | EVEN | THREADS | SIZES | TAIL, infer_median},
    {"infer_p10_us", "inference, 10 % below", "us", GN_VALUE_NUMBER, INFERENCE, infer_p10},
    {"infer_p90_us", "inference, 90 % below", "us", GN_VALUE_NUMBER, INFERENCE, infer_p90},
    {"infer_p99_us", "inference, 99 % below", "us", GN_VALUE_NUMBER, INFERENCE | TAIL, infer_p99},
    {"infer_mean_us", "inference, mean", "us", GN_VALUE_NUMBER, 0, infer_mean},
    {"infer_std_us", "inference, deviation", "us", GN_VALUE_NUMBER, 0, infer_std},
    {"infer_times_faster", "inference, times faster", "x baseline", GN_VALUE_NUMBER,
     INFERENCE | SUMMARY, infer_gain},
    {"infer_spread_percent", "inference, 10 % to 90 %", "% of median", GN_VALUE_NUMBER, NOISE,
     infer_spread},
    {"infer_behind_percent", "inference, behind the fastest", "%", GN_VALUE_NUMBER,
     NOISE | INFERENCE, infer_behind},
    {"infer_against_fastest", "inference, against the fastest", "", GN_VALUE_TEXT,
     NOISE | INFERENCE, infer_rank},
    {"infer_n", "runs timed", "", GN_VALUE_COUNT, INFERENCE | NOISE | TAIL, infer_n},
    {"infer_max_us", "inference, slowest", "us", GN_VALUE_NUMBER, TAIL, infer_max},
    {"infer_tail", "inference, 99 % over median", "times", GN_VALUE_NUMBER, TAIL, infer_tail},
    {"infer_scaling", "inference, times faster than on the fewest threads", "times",
     GN_VALUE_NUMBER, THREADS, infer_scaling},
    {"infer_ns_per_edge", "inference, for an edge", "ns", GN_VALUE_NUMBER, SIZES, infer_ns_edge},
    {"compile_ms", "compile, empty cache", "ms", GN_VALUE_NUMBER,
     COMPILING | SUMMARY | EVEN | SIZES, compile_cold},
    {"compile_cached_ms", "compile, cached", "ms", GN_VALUE_NUMBER, COMPILING | SUMMARY | EVEN,
     compile_cached},
    {"search_ms", "of it the search", "ms", GN_VALUE_NUMBER, COMPILING | SEARCH, tune},
    {"kernels", "kernels compiled", "", GN_VALUE_COUNT, COMPILING | KERNELS, kernels},
    {"code", "code", "", GN_VALUE_TEXT, COMPILING, of_code},
    {"picked", "chosen by a search", "", GN_VALUE_TEXT, COMPILING | SEARCH, of_picked},
    {"step_search_gain", "step, times faster than the fastest that searches nothing", "times",
     GN_VALUE_NUMBER, SEARCH, step_search_gain},
    {"step_search_pays", "the search has paid after", "steps", GN_VALUE_STEPS, SEARCH,
     step_search_pays},
    {"infer_search_gain", "inference, times faster than the fastest that searches nothing", "times",
     GN_VALUE_NUMBER, SEARCH, infer_search_gain},
    {"infer_search_pays", "the search has paid after", "runs", GN_VALUE_STEPS, SEARCH,
     infer_search_pays},
    {"step_launches", "launches of a step", "", GN_VALUE_COUNT, KERNELS, step_launches},
    {"step_operators", "operators of a step", "", GN_VALUE_COUNT, KERNELS, step_operators},
    {"step_fused", "operators a launch, step", "", GN_VALUE_NUMBER, KERNELS, step_fused},
    {"infer_launches", "launches of inference", "", GN_VALUE_COUNT, KERNELS, eval_launches},
    {"infer_operators", "operators of inference", "", GN_VALUE_COUNT, KERNELS, eval_operators},
    {"infer_fused", "operators a launch, inference", "", GN_VALUE_NUMBER, KERNELS, eval_fused},
    {"break_even_steps", "break-even", "steps", GN_VALUE_STEPS, SUMMARY | EVEN, break_even_step},
    {"break_even_steps_cached", "break-even, cached", "steps", GN_VALUE_STEPS, EVEN,
     break_even_step_cached},
    {"break_even_steps_extra", "break-even, what is compiled besides", "steps", GN_VALUE_STEPS,
     EVEN, break_even_step_extra},
    {"break_even_runs", "break-even", "runs", GN_VALUE_STEPS, EVEN, break_even_infer},
    {"break_even_runs_cached", "break-even, cached", "runs", GN_VALUE_STEPS, EVEN,
     break_even_infer_cached},
    {"peak_rss_mb", "resident, at most", "MB", GN_VALUE_NUMBER, MEMORY | SUMMARY | SIZES, rss},
    {"peak_rss_compile_mb", "resident while compiling", "MB", GN_VALUE_NUMBER, MEMORY, rss_compile},
    {"plan_mb", "planned", "MB", GN_VALUE_NUMBER, MEMORY | SIZES, plan},
    {"temporaries_mb", "of it temporaries", "MB", GN_VALUE_NUMBER, MEMORY, arena},
    {"changing_programs", "changing graphs: programs", "", GN_VALUE_COUNT, GN_TABLE_DYNAMIC,
     changing_programs},
    {"changing_recompiles", "changing graphs: compiled again", "times", GN_VALUE_COUNT,
     GN_TABLE_DYNAMIC, changing_recompiles},
    {"changing_compile_ms", "changing graphs: compile, in all", "ms", GN_VALUE_NUMBER,
     GN_TABLE_DYNAMIC, changing_compile},
    {"changing_run_us", "changing graphs: a run", "us", GN_VALUE_NUMBER, GN_TABLE_DYNAMIC,
     changing_run},
    {"order", "order of nodes", "", GN_VALUE_TEXT, AGREEMENT, of_order},
    {"test_accuracy", "test accuracy", "%", GN_VALUE_NUMBER, AGREEMENT, test_acc},
    {"test_roc_auc", "links held out: ROC AUC", "%", GN_VALUE_NUMBER, AGREEMENT, test_auc},
    {"test_hits_50", "links held out: hits@50", "%", GN_VALUE_NUMBER, AGREEMENT, test_hits},
    {"test_mrr", "facts ranked: MRR", "of 1", GN_VALUE_NUMBER, AGREEMENT, test_mrr},
    {"outputs_diff", "outputs differ by", "of the largest", GN_VALUE_NUMBER, AGREEMENT,
     logits_diff},
    {"loss_diff", "first losses differ by", "of the loss", GN_VALUE_NUMBER, AGREEMENT, loss_diff},
    {"end_loss_diff", "last losses differ by", "of the loss", GN_VALUE_NUMBER, AGREEMENT,
     end_loss_diff},
    {"end_accuracy_diff", "accuracies differ by", "points", GN_VALUE_NUMBER, AGREEMENT,
     end_acc_diff},
    {"failed_rss_mb", "resident, at most", "MB", GN_VALUE_NUMBER, ERRORS, of_rss_failed},
    {"wall_s", "took", "s", GN_VALUE_NUMBER, ERRORS, of_wall},
    {"reason", "reason", "", GN_VALUE_TEXT, ERRORS, of_reason},
    {"last_line", "last line of its standard error", "", GN_VALUE_TEXT, ERRORS, of_last_line},
    {"program", "program", "", GN_VALUE_TEXT, 0, of_program},
    {"group", "row of the report", "", GN_VALUE_TEXT, 0, of_group},
    {"id", "cell", "", GN_VALUE_TEXT, 0, of_id},
};
const int gn_column_count = sizeof gn_columns / sizeof *gn_columns;

/* How many values an axis has; 0: the column names none. */
static uint32_t axis(const gn_bench *b, const gn_column *col)
{
    if (col->of == of_model) return b->grid.models.n < 2 ? 1 : b->grid.models.n;
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
    if (table == GN_TABLE_SEARCH) return c->end == GN_CELL_OK && gn_searches(c);
    return true;
}

gn_bench *gn_table_rows(gn_bench *b, uint32_t table)
{
    return gn_bench_rows(b, table == GN_TABLE_DYNAMIC ? GN_APART_DYNAMIC
                            : table == GN_TABLE_COMPILING || table == GN_TABLE_SEARCH
                                ? GN_APART_SEARCH
                                : GN_APART_NOTHING);
}

const char *gn_value_text(gn_arena *a, const gn_column *col, gn_value v)
{
    if (col->kind == GN_VALUE_TEXT) return v.text;
    if (isnan(v.number)) return "";
    if (col->kind == GN_VALUE_COUNT) return gn_text_count(a, v.number);
    if (col->kind == GN_VALUE_STEPS) return gn_text_steps(a, v.number);
    return gn_text_number(a, v.number);
}
