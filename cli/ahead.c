#include "cli/ahead.h"

#include "aot/aot.h"
#include "cli/irfile.h"
#include "tune/start.h"

#include <inttypes.h>
#include <string.h>

gn_status *gn_cli_wants_ahead(const gn_cli *cli, bool *out)
{
    const gn_cli_options *o = &cli->opt;
    *out = o->output && !o->emit;
    if (*out && gn_aot_kind_of(o->output) == GN_AOT_NO_KIND)
        GN_FAIL(GN_ERR_USAGE,
                "-o %s: expected a name that ends in .o, .a or .so; stages take --emit", o->output);
    const char *alone = o->header      ? "--header"
                        : o->prefix    ? "--prefix"
                        : o->cpu       ? "--cpu"
                        : o->weights   ? "--weights"
                        : o->inference ? "--inference"
                                       : NULL;
    if (alone && !*out)
        GN_FAIL(GN_ERR_USAGE, "%s goes with -o FILE.o, .a or .so%s", alone,
                o->emit ? " and without --emit" : "");
    if (o->prefix && !gn_aot_is_prefix(o->prefix))
        GN_FAIL(GN_ERR_USAGE, "--prefix %s: expected a letter, and up to 63 letters, digits and _",
                o->prefix);
    if (*out && (o->arch || (o->device && strcmp(o->device, "cpu") != 0)))
        GN_FAIL(GN_ERR_USAGE,
                "%s: a .o, .a or .so is code for the CPU; text for a device takes --emit",
                o->arch ? "--arch" : "--device");
    if (*out && (o->range || (o->dynamic && strcmp(o->dynamic, "true") != 0)))
        GN_FAIL(GN_ERR_USAGE, "%s: a .o, .a or .so takes graphs of any size",
                o->range ? "--range" : "--dynamic");
    if (*out && o->header && !strcmp(o->header, o->output))
        GN_FAIL(GN_ERR_USAGE, "--header %s: that is where the code goes", o->header);
    return NULL;
}

static gn_status *make(gn_cli *cli, gn_session *s, gn_aot_object *out)
{
    gn_aot_options o = {.prefix = cli->opt.prefix,
                        .cpu = cli->opt.cpu,
                        .normalized = s->data->normalized,
                        .n_classes = gn_session_classes(s),
                        .embed = cli->opt.weights != NULL};
    GN_TRY(gn_model_add_state(s->model, &s->build, &s->state));
    GN_TRY(gn_session_load(s));
    return gn_aot_make(cli->arena, s->model, &s->build, &s->state, &o, out);
}

static gn_status *write_all(gn_cli *cli, const gn_aot_object *o)
{
    const char *path = cli->opt.output;
    if (cli->opt.header) {
        gn_buf text = {.arena = cli->arena};
        gn_aot_header(o, cli->arena, &text);
        GN_TRY(gn_cli_write_text(cli->opt.header, &text));
    }
    return gn_aot_write(o, cli->arena, gn_aot_kind_of(path), path);
}

static void report(const gn_cli *cli, const gn_session *s, const gn_aot_object *o)
{
    const gn_aot_image *g = &o->image;
    if (cli->opt.json) {
        gn_json j;
        gn_json_init(&j, stdout, true);
        gn_json_object(&j, NULL);
        gn_json_string(&j, "model", g->model);
        gn_json_string(&j, "output", cli->opt.output);
        gn_json_string(&j, "prefix", o->prefix);
        gn_json_string(&j, "cpu", g->cpu);
        gn_json_bool(&j, "training", g->step != NULL);
        gn_json_bool(&j, "weights", cli->opt.weights != NULL);
        gn_json_int(&j, "kernels", o->kernels);
        gn_json_int(&j, "object_bytes", (int64_t)o->bytes.n);
        gn_json_double(&j, "compile_ms", s->frontend_ms + s->build.ms);
        gn_json_end(&j);
        return;
    }
    printf(
        "%s: %s of model %s for %s, %s; %d kernels, an object of %zu bytes; names begin with %s_\n",
        cli->opt.output, g->step ? "inference and training" : "inference", g->model, g->cpu,
        cli->opt.weights ? "with its weights" : "without weights", o->kernels, o->bytes.n,
        o->prefix);
    printf("compiled in %.1f ms%s\n", s->frontend_ms + s->build.ms, gn_cli_cached(s));
}

gn_status *gn_cli_compile_ahead(gn_cli *cli, gn_session_options *o)
{
    gn_aot_object object;
    gn_session *s;
    GN_TRY(gn_cli_check_output(cli, "-o", cli->opt.output));
    GN_TRY(gn_cli_check_output(cli, "--header", cli->opt.header));
    o->train = o->keep_static = !cli->opt.inference;
    o->no_code = o->objects = true;
    /* NULL: this one */
    o->cpu = cli->opt.cpu && strcmp(cli->opt.cpu, "native") ? cli->opt.cpu : NULL;
    GN_TRY(gn_session_new(cli->arena, o, &s));
    gn_cli_describe(cli, s);
    gn_status *status = make(cli, s, &object);
    if (!status) status = write_all(cli, &object);
    if (!status) report(cli, s, &object);
    gn_session_free(s);
    return status;
}
