/* A profile as a page: what takes most, in words; flame, timeline and memory of a step; tables. */
#include "cli/cmd_profile.h"

#include "cli/html.h"
#include "cli/text.h"
#include "compile/kernel_name.h"
#include "runtime/load/cpu.h"

#include <math.h>
#include <string.h>

static const char style
    [] = ".flame,.lane,.mem{position:relative;max-width:100%;overflow:hidden}\n"
         ".flame{height:112px;margin:10px 0}\n"
         ".lane{height:26px;background:var(--panel);border-radius:3px;margin-bottom:4px}\n"
         ".mem{height:120px;border-bottom:1px solid var(--line)}\n"
         ".b{position:absolute;height:26px;overflow:hidden;white-space:nowrap;"
         "text-overflow:ellipsis;font-size:12px;line-height:26px;text-indent:3px;color:#fff;"
         "box-shadow:inset -1px 0 var(--paper)}\n"
         ".b.t{box-shadow:none}.mem .b{bottom:0;box-shadow:none}\n"
         ".p0{background:#2f62bd}.p1{background:#a85408}.p2{background:#7b3fc0}"
         ".p3{background:#646a73}\n"
         ".w{background:repeating-linear-gradient(135deg,var(--line) 0 4px,transparent 4px "
         "8px)}\n"
         ".axis2{display:flex;justify-content:space-between;color:var(--soft);font-size:12.5px;"
         "margin:2px 0 10px;font-variant-numeric:tabular-nums}\n"
         ".who{color:var(--soft);font-size:12.5px}\n"
         ".share{position:relative;min-width:90px}.share span{position:absolute;left:0;top:4px;"
         "bottom:4px;border-radius:2px;opacity:.35}\n";

/* Boxes ---------------------------------------------------------------------------------------- */

typedef struct box {
    const char *class;
    double left, width; /* percent */
    double top;         /* pixels */
} box;

static void begin_box(FILE *to, const box *b, const char *title)
{
    fprintf(to, "<div class=\"b %s\" style=\"left:%.3f%%;width:%.3f%%;top:%.0fpx\" title=\"",
            b->class, b->left, b->width, b->top);
    gn_text_html(to, title);
    fputs("\">", to);
}

static void draw_box(FILE *to, const box *b, const char *text, const char *title)
{
    begin_box(to, b, title);
    gn_text_html(to, text);
    fputs("</div>\n", to);
}

static const char *class_of(int way)
{
    static const char *const classes[] = {"p0", "p1", "p2", "p3"};
    return classes[way];
}

static const char *percent(const gn_cli_profile_of *z, double us)
{
    return gn_arena_printf(z->arena, "%.1f %%", z->p->us > 0 ? 100 * us / z->p->us : 0);
}

/* Flame ---------------------------------------------------------------------------------------- */

enum { LEVEL = 28 };

typedef struct flame {
    const gn_cli_profile_of *z;
    FILE *to;
    const gn_profile_row *row; /* by layer */
    int n;
    double scale; /* percent of a microsecond */
} flame;

/* What one layer's part of the step has of kernels, below it. */
static void draw_kernels(const flame *f, const gn_profile_row *r, double left)
{
    const gn_profile *p = f->z->p;
    for (int k = 0; k < p->n; k++) {
        double us = 0;
        for (int i = 0; i < p->n_parts; i++) {
            const gn_profile_part *x = &p->part[i];
            bool none = x->loc.way == GIR_OPTIMIZER && !x->loc.line != !r->loc.line;
            if (x->kernel == k && x->loc.layer == r->loc.layer && x->loc.way == r->loc.way && !none)
                us += x->us;
        }
        if (us * f->scale < 0.05) {
            left += us * f->scale;
            continue;
        }
        const char *title = gn_arena_printf(f->z->arena, "%s: %s of this part, %s of all",
                                            p->kernel[k].words, gn_text_time(f->z->arena, us),
                                            percent(f->z, us));
        draw_box(f->to, &(box){class_of(r->loc.way), left, us * f->scale, 3 * LEVEL},
                 p->kernel[k].words, title);
        left += us * f->scale;
    }
}

static double draw_way(const flame *f, int way, double left)
{
    const gn_cli_profile_of *z = f->z;
    double us = 0, at = left;
    for (int k = 0; k < f->n; k++)
        if (f->row[k].loc.way == way) us += f->row[k].us;
    if (us <= 0) return left;
    const char *name = gir_way_name[way];
    draw_box(
        f->to, &(box){class_of(way), left, us * f->scale, LEVEL},
        gn_arena_printf(z->arena, "%s %s", name, percent(z, us)),
        gn_arena_printf(z->arena, "%s: %s, %s", name, gn_text_time(z->arena, us), percent(z, us)));
    for (int k = 0; k < f->n; k++) {
        const gn_profile_row *r = &f->row[k];
        if (r->loc.way != way) continue;
        const char *layer = gn_layer_name(z->p->code->gir, r->loc);
        draw_box(f->to, &(box){class_of(way), at, r->us * f->scale, 2 * LEVEL}, layer,
                 gn_arena_printf(z->arena, "%s %s: %s, %s; waits %s; bound by %s", layer, name,
                                 gn_text_time(z->arena, r->us), percent(z, r->us),
                                 percent(z, r->wait_us), gn_bound_text[r->by]));
        draw_kernels(f, r, at);
        at += r->us * f->scale;
    }
    return left + us * f->scale;
}

static void legend(FILE *to, bool waits)
{
    fputs("<div class=\"legend\">", to);
    for (int w = 0; w < GIR_WAYS; w++)
        fprintf(to, "<span><i class=\"%s\"></i>%s</span>", class_of(w), gir_way_name[w]);
    fputs("<span><i class=\"p3\"></i>outside of kernels</span>", to);
    if (waits) fputs("<span><i class=\"w\"></i>a thread waits</span>", to);
    fputs("</div>\n", to);
}

static void draw_flame(const gn_cli_profile_of *z, FILE *to)
{
    const gn_profile *p = z->p;
    flame f = {.z = z, .to = to, .scale = p->us > 0 ? 100 / p->us : 0};
    double left = 0;
    f.row = gn_profile_rows(z->arena, p, GN_PROFILE_LAYER, &f.n);
    fputs("<h2>Where the time goes</h2>\n<p class=\"soft\">From top to bottom: all, parts of the "
          "step, layers, kernels. A box is as wide as its time; its tip says more.</p>\n",
          to);
    legend(to, false);
    fputs("<div class=\"flame\">\n", to);
    draw_box(to, &(box){"p3", 0, 100, 0},
             gn_arena_printf(z->arena, "%s, %s", p->name, gn_text_time(z->arena, p->us)), p->name);
    for (int w = 0; w < GIR_WAYS; w++) left = draw_way(&f, w, left);
    if (p->rest_us * f.scale > 0.05)
        draw_box(to, &(box){"p3", left, p->rest_us * f.scale, LEVEL}, "outside of kernels",
                 gn_arena_printf(z->arena, "outside of kernels: %s, %s",
                                 gn_text_time(z->arena, p->rest_us), percent(z, p->rest_us)));
    fputs("</div>\n", to);
}

/* Timeline and memory -------------------------------------------------------------------------- */

static void draw_event(const gn_cli_profile_of *z, FILE *to, const gn_trace_event *e)
{
    const gn_profile *p = z->p;
    double scale = 0.1 / p->events_us; /* percent of a nanosecond */
    const char *words = p->kernel[e->launch].words;
    const char *class = e->wait ? "t w" : class_of(gn_kernel_loc(p->code, e->launch).way);
    const char *title = gn_arena_printf(z->arena, "%s%s: %s, at %s", e->wait ? "waits for " : "",
                                        words,
                                        gn_text_time(z->arena, (double)(e->end - e->begin) * 1e-3),
                                        gn_text_time(z->arena, (double)e->begin * 1e-3));
    draw_box(to,
             &(box){gn_arena_printf(z->arena, "t %s", class), (double)e->begin * scale,
                    fmax((double)(e->end - e->begin) * scale, 0.03), 0},
             e->wait ? "" : words, title);
}

static void draw_axis(const gn_cli_profile_of *z, FILE *to)
{
    fputs("<div class=\"axis2\">", to);
    for (int k = 0; k <= 4; k++)
        fprintf(to, "<span>%s</span>", k ? gn_text_time(z->arena, z->p->events_us * k / 4) : "0");
    fputs("</div>\n", to);
}

static void draw_timeline(const gn_cli_profile_of *z, FILE *to)
{
    const gn_profile *p = z->p;
    fprintf(to,
            "<h2>Timeline</h2>\n<p class=\"soft\">The %s nearest to the median, thread by thread."
            "</p>\n",
            p->name);
    legend(to, true);
    for (int t = 0; t < p->threads; t++) {
        fprintf(to, "<div class=\"who\">thread %d%s</div><div class=\"lane\">\n", t,
                p->events[t].n ? "" : " (took no part)");
        for (int64_t i = 0; i < p->events[t].n; i++) draw_event(z, to, &p->events[t].event[i]);
        fputs("</div>\n", to);
    }
    draw_axis(z, to);
}

static void draw_memory(const gn_cli_profile_of *z, FILE *to)
{
    const gn_profile *p = z->p;
    gn_memory m = gn_session_memory(z->s);
    double most = (double)p->kernel[p->peak].alive, scale = 0.1 / p->events_us;
    fputs("<h2>Memory</h2>\n<p class=\"soft\">Temporaries that are alive, launch by launch, on the "
          "time of the first thread.</p>\n<p class=\"answer\">",
          to);
    gn_text_html(to,
                 gn_arena_printf(z->arena, "Most are alive in kernel %d, %s: %s of %s in all.",
                                 p->peak, p->kernel[p->peak].words, gn_text_bytes(z->arena, most),
                                 gn_text_bytes(z->arena, (double)m.total)));
    fputs("</p>\n<div class=\"mem\">\n", to);
    for (int64_t i = 0; i < p->events[0].n && most > 0; i++) {
        const gn_trace_event *e = &p->events[0].event[i];
        if (e->wait) continue;
        const gn_profile_kernel *x = &p->kernel[e->launch];
        int64_t end = i + 1 < p->events[0].n ? p->events[0].event[i + 1].begin : e->end;
        fprintf(to, "<div class=\"b %s\" style=\"left:%.3f%%;width:%.3f%%;height:%.1f%%\" title=\"",
                class_of(gn_kernel_loc(p->code, e->launch).way), (double)e->begin * scale,
                fmax((double)(end - e->begin) * scale, 0.03), 100 * (double)x->alive / most);
        gn_text_html(to, gn_arena_printf(z->arena, "%s: %s", x->words,
                                         gn_text_bytes(z->arena, (double)x->alive)));
        fputs("\"></div>\n", to);
    }
    fputs("</div>\n", to);
    draw_axis(z, to);
}

static void held_table(const gn_cli_profile_of *z, FILE *to)
{
    int n;
    const gn_profile_held *h = gn_profile_held_by_layer(z, &n);
    fputs("<details open><summary>What is alive at the peak, by layer</summary>\n<div "
          "class=\"wide\"><table>\n<thead><tr><th>layer</th><th>part</th><th class=\"n\">bytes</th>"
          "</tr></thead>\n<tbody>\n",
          to);
    for (int k = 0; k < n; k++) {
        fputs("<tr><td>", to);
        gn_text_html(to, gn_layer_name(z->p->code->gir, h[k].loc));
        fprintf(to, "</td><td>%s</td><td class=\"n\">%s</td></tr>\n", gir_way_name[h[k].loc.way],
                gn_text_bytes(z->arena, (double)h[k].bytes));
    }
    fputs("</tbody></table></div></details>\n", to);
}

/* Tables --------------------------------------------------------------------------------------- */

static void table_row(const gn_cli_profile_of *z, FILE *to, gn_profile_by by,
                      const gn_profile_row *r)
{
    double share = z->p->us > 0 ? 100 * r->us / z->p->us : 0;
    fputs("<tr><td>", to);
    gn_text_html(to, gn_profile_row_name(z, by, r));
    fputs("</td>", to);
    if (by == GN_PROFILE_LINE) {
        fputs("<td class=\"long\"><code>", to);
        gn_text_html(to, gn_profile_source(z, r->loc));
        fputs("</code></td>", to);
    }
    if (by != GN_PROFILE_KERNEL) fprintf(to, "<td>%s</td>", gir_way_name[r->loc.way]);
    fprintf(to,
            "<td class=\"n\">%.2f%s</td><td class=\"n share\"><span class=\"%s\" "
            "style=\"width:%.1f%%\"></span>%.1f %%</td>",
            r->us, r->estimated ? " ~" : "", class_of(r->loc.way), share, share);
    fprintf(to, "<td class=\"n\">%.0f %%</td>", r->us > 0 ? 100 * r->wait_us / r->us : 0);
    if (r->bound_us > 0 && r->us > 0)
        fprintf(to, "<td class=\"n\">%.0f %%</td><td>%s</td>", 100 * r->bound_us / r->us,
                gn_bound_text[r->by]);
    else
        fputs("<td class=\"n\">-</td><td>-</td>", to);
    fprintf(to, "<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
            gn_text_bytes(z->arena, r->bytes), gn_text_count(z->arena, floor(r->flops + 0.5)));
}

static void table(const gn_cli_profile_of *z, FILE *to, gn_profile_by by, const char *title)
{
    static const char *const first[] = {"layer", "line", "kernel"};
    int n;
    const gn_profile_row *row = gn_profile_rows(z->arena, z->p, by, &n);
    fprintf(to,
            "<details%s><summary>%s</summary>\n<div class=\"wide\"><table>\n<thead><tr><th>%s</th>",
            by == GN_PROFILE_KERNEL ? "" : " open", title, first[by]);
    if (by == GN_PROFILE_LINE) fputs("<th>source</th>", to);
    if (by != GN_PROFILE_KERNEL) fputs("<th>part</th>", to);
    fputs("<th class=\"n\">time<br><small>us</small></th><th class=\"n\">of all</th><th "
          "class=\"n\">waits</th><th class=\"n\">of its bound</th><th>bound by</th><th "
          "class=\"n\">bytes</th><th class=\"n\">flops</th></tr></thead>\n<tbody>\n",
          to);
    for (int k = 0; k < n; k++) table_row(z, to, by, &row[k]);
    fputs("</tbody></table></div></details>\n", to);
}

static void tables(const gn_cli_profile_of *z, FILE *to)
{
    fputs("<h2>Tables</h2>\n<p class=\"soft\">The bound is the least time that this machine needs "
          "for the bytes and the arithmetic, by what was measured of it; 100 % of it is as fast as "
          "can be, and what a cache keeps from before can be faster still. A time with ~ is an "
          "estimate: a kernel did the work of several layers or parts, and is split by the bound "
          "of each.</p>\n",
          to);
    table(z, to, GN_PROFILE_LAYER, "By layer");
    table(z, to, GN_PROFILE_LINE, "By line of the model");
    table(z, to, GN_PROFILE_KERNEL, "By kernel");
}

void gn_profile_page(const gn_cli_profile_of *z, FILE *to)
{
    const gn_profile *p = z->p;
    const gn_session *s = z->s;
    gn_arena *a = z->arena;
    gn_html_begin(to, gn_arena_printf(a, "%s on %s - gnnc profile", s->model->name, s->data->name),
                  style);
    fputs("<h1>", to);
    gn_text_html(to, gn_arena_printf(a, "%s on %s", s->model->name, s->data->name));
    fputs("</h1>\n<p class=\"soft\">", to);
    gn_text_html(
        to, gn_arena_printf(a,
                            "gnnc %s, %s, mode %s, %d thread%s%s. %s takes %s, the median of %lld; "
                            "timing adds %s.",
                            GNNC_VERSION, gn_cpu_name(), gn_mode_name[s->opt.mode], p->threads,
                            p->threads > 1 ? "s" : "",
                            p->threads > 1 && p->used == 1 ? ", of which one alone is faster" : "",
                            strcmp(p->name, "step") ? "A run" : "A step", gn_text_time(a, p->us),
                            (long long)p->steps, gn_profile_overhead(z)));
    fputs("</p>\n<p class=\"verdict\">", to);
    gn_text_html(to, gn_profile_verdict(z));
    fputs("</p>\n", to);
    if (p->n && p->events_us > 0) {
        draw_flame(z, to);
        draw_timeline(z, to);
        draw_memory(z, to);
        held_table(z, to);
    }
    tables(z, to);
    gn_html_end(to);
}
