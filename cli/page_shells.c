#include "cli/pages.h"

#include <string.h>

/* What a value is completed with. */
typedef enum completed { NOTHING, WORDS, FILES } completed;

static completed kind_of(const gn_option *o)
{
    static const char *const files[] = {"FILE", "PATH", "DIR"};
    if (o->choices) return WORDS;
    for (size_t k = 0; o->value && k < sizeof files / sizeof *files; k++)
        if (!strcmp(o->value, files[k])) return FILES;
    return NOTHING;
}

/* The words of a choice, blanks between them: as they are typed, "0" of "0=eager". */
static const char *words_of(gn_arena *a, const gn_option *o)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "");
    for (const char *const *c = o->choices; c && *c; c++)
        gn_buf_printf(&b, "%s%.*s", b.n ? " " : "", (int)strcspn(*c, "="), *c);
    return b.p;
}

static const char *names_of(gn_arena *a, uint32_t bit)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "");
    for (size_t k = 0; k < gn_cli_option_table.n; k++) {
        const gn_option *o = &gn_cli_option_table.options[k];
        if (!gn_option_is_of(o, bit)) continue;
        if (o->letter) gn_buf_printf(&b, "%s-%c", b.n ? " " : "", o->letter);
        if (o->name) gn_buf_printf(&b, "%s--%s", b.n ? " " : "", o->name);
    }
    return b.p;
}

/* The first sentence of a help, without what shells and their functions take for more than text. */
static const char *words(gn_arena *a, const char *help)
{
    gn_buf b = {.arena = a};
    gn_buf_add(&b, "");
    for (const char *s = help; *s && *s != ';'; s++) {
        if (s[0] == ':' || !strncmp(s, ". ", 2) || !strncmp(s, " (", 2)) break;
        gn_buf_printf(&b, "%c", strchr("'\"`[]\\$\n", *s) ? ' ' : *s);
    }
    return b.p;
}

/* bash ----------------------------------------------------------------------------------------- */

static void bash_values(gn_arena *a, const gn_command *c, uint32_t bit, FILE *to)
{
    for (size_t k = 0; k < gn_cli_option_table.n; k++) {
        const gn_option *o = &gn_cli_option_table.options[k];
        if (!gn_option_is_of(o, bit) || !gn_option_takes_value(o)) continue;
        fprintf(to, "    ");
        if (o->letter) fprintf(to, "'%s -%c'%s", c->name, o->letter, o->name ? "|" : "");
        if (o->name) fprintf(to, "'%s --%s'", c->name, o->name);
        switch (kind_of(o)) {
        case WORDS:
            fprintf(to, ") mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\") ;;\n",
                    words_of(a, o));
            break;
        case FILES: fprintf(to, ") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"); break;
        case NOTHING: fprintf(to, ") ;;\n"); break;
        }
    }
}

static void command_names(const gn_command *const *commands, const char *between, FILE *to)
{
    for (int k = 0; k < GN_COMMAND_COUNT; k++)
        fprintf(to, "%s%s", k ? between : "", commands[k]->name);
}

void gn_page_bash(gn_arena *a, const gn_command *const *commands, FILE *to)
{
    fputs("# Completion of gnnc for bash, written by gnnc --completion bash.\n_gnnc() {\n"
          "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=compile "
          "options\n"
          "  if [[ $cur == = ]]; then cur=\n"
          "  elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "  COMPREPLY=()\n  case ${COMP_WORDS[1]} in\n    ",
          to);
    command_names(commands, "|", to);
    fputs(") command=${COMP_WORDS[1]} ;;\n  esac\n  case \"$command $prev\" in\n", to);
    for (int k = 0; k < GN_COMMAND_COUNT; k++) bash_values(a, commands[k], 1u << k, to);
    fputs("    *)\n      case $command in\n", to);
    for (int k = 0; k < GN_COMMAND_COUNT; k++)
        fprintf(to, "        %s) options='%s' ;;\n", commands[k]->name, names_of(a, 1u << k));
    fputs("      esac\n      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "
          "\"$options\" -- \"$cur\")\n"
          "      else mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "        if (( COMP_CWORD == 1 )); then COMPREPLY+=($(compgen -W '",
          to);
    command_names(commands, " ", to);
    fputs(" help version' -- \"$cur\")); fi\n      fi ;;\n  esac\n}\ncomplete -o filenames -F "
          "_gnnc gnnc\n",
          to);
}

/* zsh ------------------------------------------------------------------------------------------ */

static void zsh_option(gn_arena *a, const gn_option *o, FILE *to)
{
    bool many = o->kind == GN_OPTION_LIST || o->kind == GN_OPTION_DEFINE ||
                o->kind == GN_OPTION_COUNT;
    const char *spelled = o->name ? gn_arena_printf(a, "--%s", o->name)
                                  : gn_arena_printf(a, "-%c", o->letter);
    fputs(" \\\n        ", to);
    if (many)
        fputs("'*'", to);
    else if (o->letter && o->name)
        fprintf(to, "'(-%c %s)'", o->letter, spelled);
    if (o->letter && o->name)
        fprintf(to, "{-%c,%s}", o->letter, spelled);
    else
        fputs(spelled, to);
    fprintf(to, "'[%s]", words(a, o->help));
    if (gn_option_takes_value(o)) {
        fprintf(to, ":%s:", words(a, o->value));
        if (kind_of(o) == WORDS) fprintf(to, "(%s)", words_of(a, o));
        if (kind_of(o) == FILES) fputs("_files", to);
    }
    fputc('\'', to);
}

void gn_page_zsh(gn_arena *a, const gn_command *const *commands, FILE *to)
{
    fputs("#compdef gnnc\n# Completion of gnnc for zsh, written by gnnc --completion zsh.\n_gnnc() "
          "{\n"
          "  local -a commands\n  commands=(\n",
          to);
    for (int k = 0; k < GN_COMMAND_COUNT; k++)
        fprintf(to, "    '%s:%s'\n", commands[k]->name, words(a, commands[k]->summary));
    fputs("  )\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    _describe command "
          "commands\n    _files\n"
          "    return\n  fi\n  local command=compile\n"
          "  if (( ${commands[(I)$words[2]:*]} )); then\n    command=$words[2]\n    shift words\n"
          "    (( CURRENT-- ))\n  fi\n  case $command in\n",
          to);
    for (int k = 0; k < GN_COMMAND_COUNT; k++) {
        fprintf(to, "    %s)\n      _arguments -s", commands[k]->name);
        for (size_t i = 0; i < gn_cli_option_table.n; i++)
            if (gn_option_is_of(&gn_cli_option_table.options[i], 1u << k))
                zsh_option(a, &gn_cli_option_table.options[i], to);
        fputs(" \\\n        '*:file:_files' ;;\n", to);
    }
    fputs("  esac\n}\n_gnnc \"$@\"\n", to);
}

/* fish ----------------------------------------------------------------------------------------- */

static void fish_option(gn_arena *a, const char *where, const gn_option *o, FILE *to)
{
    fprintf(to, "complete -c gnnc -n '%s'", where);
    if (o->letter) fprintf(to, " -s %c", o->letter);
    if (o->name) fprintf(to, " -l %s", o->name);
    if (gn_option_takes_value(o)) fputs(kind_of(o) == FILES ? " -r -F" : " -x", to);
    if (kind_of(o) == WORDS) fprintf(to, " -a '%s'", words_of(a, o));
    fprintf(to, " -d '%s'\n", words(a, o->help));
}

void gn_page_fish(gn_arena *a, const gn_command *const *commands, FILE *to)
{
    fputs(
        "# Completion of gnnc for fish, written by gnnc --completion fish.\nset -l gnnc_commands ",
        to);
    command_names(commands, " ", to);
    fputc('\n', to);
    for (int k = 0; k < GN_COMMAND_COUNT; k++) {
        const char *where = gn_arena_printf(a, "__fish_seen_subcommand_from %s", commands[k]->name);
        fprintf(to,
                "complete -c gnnc -n \"not __fish_seen_subcommand_from $gnnc_commands\" -a %s -d "
                "'%s'\n",
                commands[k]->name, words(a, commands[k]->summary));
        for (size_t i = 0; i < gn_cli_option_table.n; i++)
            if (gn_option_is_of(&gn_cli_option_table.options[i], 1u << k))
                fish_option(a, where, &gn_cli_option_table.options[i], to);
    }
}
