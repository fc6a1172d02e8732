#include "cli/bench/tables.h"

#include "cli/bench/answers.h"
#include "cli/bench/rows.h"
#include "cli/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const gn_question gn_questions[] = {
    {GN_TABLE_MODES, "Modes", "Which mode is to be used?",
     "Medians. Times faster: than the baseline on the same data with as many threads. Break-even: "
     "after so many training steps the time to compile, all of it, has come back."},
    {GN_TABLE_TRAINING, "Training", "Which mode is the fastest for training, and by how much?",
     "A step is forward pass, loss, gradients and optimizer over the whole graph. A tenth of the "
     "steps took less than \"10 % below\", a tenth more than \"90 % below\"."},
    {GN_TABLE_INFERENCE, "Inference", "Which mode is the fastest for serving, and by how much?",
     "A run is a forward pass over the whole graph."},
    {GN_TABLE_NOISE, "Noise", "Are the differences beyond noise?",
     "Against the fastest on the same data with as many threads. Beyond noise: chance does so once "
     "in a hundred times at most (rank-sum test), and the medians are more than 2 % apart."},
    {GN_TABLE_TAIL, "Tail", "How slow are the slowest runs?",
     "A hundredth of the runs took longer than \"99 % below\". Of few runs that is nearly the "
     "slowest."},
    {GN_TABLE_COMPILING, "Compiling", "How long does compiling take, cold and cached?",
     "From the text of the model to code that can be called: in a process that has nothing, and in "
     "one that finds the kernels in the cache. Rows with the same code run the same kernels. A "
     "mode "
     "that searches has a row of its own."},
    {GN_TABLE_BREAK_EVEN, "Break-even", "When has compiling come back?",
     "After so many steps or runs the whole compilation has come back, against a baseline that is "
     "compiled already; \"what is compiled besides\" does not count what the baseline takes."},
    {GN_TABLE_SEARCH, "Search", "What does a search cost, and does it pay?",
     "Beside the fastest mode that searches nothing. The search comes once for a model and a "
     "dataset, and is kept. It never pays where nothing came of it beyond noise."},
    {GN_TABLE_MEMORY, "Memory", "How much memory is resident, and how much is planned?",
     "Resident: what the system counted for the process, program and libraries too. Planned: data, "
     "graphs, weights and temporaries as gnnc adds them up before it runs."},
    {GN_TABLE_KERNELS, "Kernels", "How many kernels, launches and operators?",
     "Operators: values that the program computes, after optimisation. A launch of several has "
     "fused them. Equal kernels are compiled once."},
    {GN_TABLE_THREADS, "Threads", "Does it scale with threads?",
     "Times faster: than the same mode on the fewest threads that were measured."},
    {GN_TABLE_DYNAMIC, "Dynamic", "What do dynamic shapes cost?",
     "The main figures for each setting of dynamic shapes. Changing graphs: 40 random parts of the "
     "data, one after another; how many programs they took, what compiling those took, and a run "
     "that found its program (median)."},
    {GN_TABLE_SIZES, "Sizes", "What changes with the size of the data?",
     "Where the time for an edge stays the same, time grows as the graph does."},
    {GN_TABLE_AGREEMENT, "Agreement", "Do the modes compute the same?",
     "Against the baseline. Outputs: largest difference of an output over the largest output. "
     "First losses: of two training steps, relative; none where a search chose another order of "
     "nodes, in which dropout draws otherwise. What rounding has become after all steps is no "
     "error."},
    {GN_TABLE_ERRORS, "Errors", "What did not end well, and why?",
     "Each with how it ended and what it said last."},
};
const int gn_question_count = sizeof gn_questions / sizeof *gn_questions;

bool gn_question_shown(gn_bench *b, const gn_question *q)
{
    bool row = false, figure = false;
    b = gn_table_rows(b, q->table);
    if (q->table == GN_TABLE_DYNAMIC && b->grid.dynamic.n < 2) return false;
    if (q->table == GN_TABLE_THREADS && b->grid.threads.n < 2) return false;
    if (q->table == GN_TABLE_SIZES && b->grid.data.n < 2) return false;
    for (int k = 0; k < b->n_cells; k++) row = row || gn_cell_shown(&b->cells[k], q->table);
    for (int k = 0; k < gn_column_count; k++)
        figure = figure || (gn_columns[k].tables != GN_TABLE_ALL &&
                            gn_column_shown(b, &gn_columns[k], q->table));
    return row && figure;
}

/* JSON ----------------------------------------------------------------------------------------- */

static void list_json(gn_json *j, const char *key, const gn_string_list *list)
{
    gn_json_array(j, key);
    for (uint32_t k = 0; k < list->n; k++) gn_json_string(j, NULL, list->p[k]);
    gn_json_end(j);
}

static void grid_json(gn_json *j, const gn_bench *b)
{
    gn_json_object(j, "grid");
    list_json(j, "data", &b->grid.data);
    list_json(j, "modes", &b->grid.modes);
    list_json(j, "dynamic", &b->grid.dynamic);
    gn_json_array(j, "threads");
    for (uint32_t k = 0; k < b->grid.threads.n; k++) gn_json_int(j, NULL, b->grid.threads.p[k]);
    gn_json_end(j);
    gn_json_string(j, "baseline", b->grid.baseline);
    gn_json_end(j);
}

void gn_write_config(gn_bench *b, FILE *to)
{
    gn_json j;
    gn_json_init(&j, to, true);
    gn_json_object(&j, NULL);
    gn_json_string(&j, "gnnc", GNNC_VERSION);
    gn_json_string(&j, "model", b->model);
    list_json(&j, "models", &b->grid.models);
    gn_json_string(&j, "command", b->command);
    gn_json_string(&j, "started", b->started);
    grid_json(&j, b);
    gn_json_object(&j, "measuring");
    gn_json_string(&j, "what",
                   b->compile_only ? "compilation alone"
                   : b->eval_only  ? "inference"
                                   : "inference and training");
    gn_json_int(&j, "warmup", b->warmup);
    gn_json_int(&j, "repeat", b->repeat);
    gn_json_int(&j, "epochs", b->epochs);
    gn_json_int(&j, "timeout_s", b->timeout_s);
    gn_json_double(&j, "tolerance", b->tolerance);
    gn_json_end(&j);
    list_json(&j, "define", &b->cli->opt.defines);
    list_json(&j, "without", &b->cli->opt.without);
    gn_json_string(&j, "only", b->cli->opt.only);
    gn_json_string(&j, "device", b->cli->opt.device ? b->cli->opt.device : "cpu");
    gn_json_string(&j, "matmul_precision",
                   b->cli->opt.precision ? b->cli->opt.precision : "highest");
    gn_json_string(&j, "products", b->cli->opt.products);
    gn_json_string(&j, "precision", b->cli->opt.numbers ? b->cli->opt.numbers : "float32");
    gn_json_string(&j, "gather_storage", b->cli->opt.gathers);
    gn_json_object(&j, "machine");
    gn_json_string(&j, "cpu", b->cpu);
    gn_json_int(&j, "cores", b->cores);
    gn_json_int(&j, "memory_bytes", b->memory_bytes);
    gn_json_string(&j, "system", b->system);
    gn_json_string(&j, "compilers", b->compilers);
    gn_json_end(&j);
    gn_json_end(&j);
}

void gn_write_results(gn_bench *b, FILE *to)
{
    gn_json j;
    gn_bench_group(b);
    gn_json_init(&j, to, true);
    gn_json_object(&j, NULL);
    gn_json_string(&j, "gnnc", GNNC_VERSION);
    gn_json_string(&j, "model", b->model);
    list_json(&j, "models", &b->grid.models);
    gn_json_bool(&j, "complete", !b->partial);
    gn_json_string(&j, "baseline", b->grid.baseline);
    gn_json_array(&j, "cells");
    for (int k = 0; k < b->n_cells; k++) gn_cell_json(&j, &b->cells[k]);
    gn_json_end(&j);
    gn_json_end(&j);
}

/* CSV ------------------------------------------------------------------------------------------ */

void gn_write_csv(gn_bench *b, FILE *to)
{
    gn_bench_group(b);
    for (int k = 0; k < gn_column_count; k++) {
        fputs(k ? "," : "", to);
        gn_text_csv(to, gn_columns[k].name);
    }
    fputs("\r\n", to);
    for (int i = 0; i < b->n_cells; i++) {
        for (int k = 0; k < gn_column_count; k++) {
            gn_value v = gn_columns[k].of(b, &b->cells[i]);
            fputs(k ? "," : "", to);
            if (gn_columns[k].kind == GN_VALUE_TEXT)
                gn_text_csv(to, v.text);
            else if (isinf(v.number))
                fputs("inf", to);
            else if (!isnan(v.number))
                fprintf(to, "%.9g", v.number);
        }
        fputs("\r\n", to);
    }
}

/* LaTeX and Markdown --------------------------------------------------------------------------- */

static const char *head(gn_arena *a, const gn_column *c)
{
    return *c->unit ? gn_arena_printf(a, "%s, %s", c->title, c->unit) : c->title;
}

static void latex_table(gn_bench *b, const gn_question *q, FILE *to)
{
    const char *between = "";
    b = gn_table_rows(b, q->table);
    fputs("\\begin{table}\n\\centering\n\\begin{tabular}{", to);
    for (int k = 0; k < gn_column_count; k++)
        if (gn_column_shown(b, &gn_columns[k], q->table))
            fputc(gn_columns[k].kind == GN_VALUE_TEXT ? 'l' : 'r', to);
    fputs("}\n\\toprule\n", to);
    for (int k = 0; k < gn_column_count; k++) {
        if (!gn_column_shown(b, &gn_columns[k], q->table)) continue;
        fputs(between, to);
        gn_text_latex(to, head(b->arena, &gn_columns[k]));
        between = " & ";
    }
    fputs(" \\\\\n\\midrule\n", to);
    for (int i = 0; i < b->n_cells; i++) {
        if (!gn_cell_shown(&b->cells[i], q->table)) continue;
        between = "";
        for (int k = 0; k < gn_column_count; k++) {
            if (!gn_column_shown(b, &gn_columns[k], q->table)) continue;
            fputs(between, to);
            gn_text_latex(
                to, gn_value_text(b->arena, &gn_columns[k], gn_columns[k].of(b, &b->cells[i])));
            between = " & ";
        }
        fputs(" \\\\\n", to);
    }
    fputs("\\bottomrule\n\\end{tabular}\n\\caption{", to);
    gn_text_latex(to, q->title);
    fputs(" ", to);
    gn_text_latex(to, gn_answer(b, q->table));
    fputs(" ", to);
    gn_text_latex(to, q->about);
    fprintf(to, "}\n\\label{tab:gnnc-%s}\n\\end{table}\n", q->name);
}

void gn_write_latex(gn_bench *b, FILE *to)
{
    fputs("% Made by gnnc bench; needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}.\n",
          to);
    for (int k = 0; k < gn_question_count; k++) {
        if (!gn_question_shown(b, &gn_questions[k])) continue;
        fputc('\n', to);
        latex_table(b, &gn_questions[k], to);
    }
}

static void markdown_table(gn_bench *b, const gn_question *q, FILE *to)
{
    b = gn_table_rows(b, q->table);
    for (int line = 0; line < 2; line++) {
        for (int k = 0; k < gn_column_count; k++) {
            const gn_column *c = &gn_columns[k];
            if (!gn_column_shown(b, c, q->table)) continue;
            fputs(line ? "|" : "| ", to);
            if (line)
                fputs(c->kind == GN_VALUE_TEXT ? "---" : "--:", to);
            else
                gn_text_markdown(to, head(b->arena, c));
            fputs(line ? "" : " ", to);
        }
        fputs("|\n", to);
    }
    for (int i = 0; i < b->n_cells; i++) {
        if (!gn_cell_shown(&b->cells[i], q->table)) continue;
        for (int k = 0; k < gn_column_count; k++) {
            if (!gn_column_shown(b, &gn_columns[k], q->table)) continue;
            fputs("| ", to);
            gn_text_markdown(
                to, gn_value_text(b->arena, &gn_columns[k], gn_columns[k].of(b, &b->cells[i])));
            fputc(' ', to);
        }
        fputs("|\n", to);
    }
}

void gn_write_markdown(gn_bench *b, FILE *to)
{
    fputs("# ", to);
    gn_text_markdown(to, b->model);
    fprintf(to, "\n\ngnnc %s, ", GNNC_VERSION);
    gn_text_markdown(to, b->cpu);
    fprintf(to, ", %s.%s\n", b->started,
            b->partial ? " Interrupted: some cells were not run." : "");
    for (int k = 0; k < gn_question_count; k++) {
        if (!gn_question_shown(b, &gn_questions[k])) continue;
        fprintf(to, "\n## %s\n\n", gn_questions[k].title);
        gn_text_markdown(to, gn_answer(b, gn_questions[k].table));
        fprintf(to, "\n\n%s\n\n", gn_questions[k].about);
        markdown_table(b, &gn_questions[k], to);
    }
}
