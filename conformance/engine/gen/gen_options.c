/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen/gen_options.h"

#include <string.h>

#include "reference-stack/program/option_table.h"

static int set_format(struct gen_options *options, const char *name, struct iwarp_sentence *error)
{
    options->format_given = true;
    if (gen_format_from_name(name, &options->format) != 0)
        return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, pcapng, pcap, hex, c or raw was expected",
                                  name);
    return 0;
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return set_format(user, value, error);
}

static int parse_hex(void *user, const char *value, struct iwarp_sentence *error)
{
    (void)value;
    return set_format(user, "hex", error);
}

static int parse_c(void *user, const char *value, struct iwarp_sentence *error)
{
    (void)value;
    return set_format(user, "c", error);
}

static int parse_setting(void *user, const char *value, struct iwarp_sentence *error)
{
    struct gen_options *options = user;
    const char *sign = strchr(value, '=');

    if (sign == NULL || sign == value || sign - value >= GEN_NAME_OCTETS)
        return iwarp_sentence_set(error, "--set \"%.60s\": NAME=TEXT was expected", value);
    if (options->setting_count == GEN_SETTINGS_MAX)
        return iwarp_sentence_set(error, "--set was given more than %d times", GEN_SETTINGS_MAX);
    options->settings[options->setting_count++] = value;
    return 0;
}

#define MEMBER(name) offsetof(struct gen_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  -e TEXT          the script itself, or frames: -e 'rdmap.send { data = \"hello\" }'\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(text)},
    {"  -o FILE          writes to FILE; - (the default) is the standard output\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output)},
    {"  --format F       pcapng, pcap, hex (digits, one line for each frame), c (arrays) or raw (octets); the default follows\n"
     "                   from the ending of FILE, and is pcapng otherwise\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --hex            the same as --format hex\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_hex},
    {"  --c              the same as --format c\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_c},
    {"  --seed N         chooses random numbers and simulated stacks (1)\n",
     OPTION_SHOWS, OPTION_NUMBER, .member = MEMBER(seed), .most = INT64_MAX},
    {"  --set NAME=TEXT  sets arg.NAME to TEXT in the scripts; repeat it for several\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_setting},
    {"  --corpus DIR     writes every capture of the scripts to DIR (without a script: of the project's own corpus), with\n"
     "                   README.md and with findings.tsv, the findings that warpcheck audit should report in them; the\n"
     "                   folders must be empty, and no other command may write there at the same time\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(corpus)},
    {"  --force          with --corpus: removes README.md, findings.tsv and the captures that README.md lists\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --only GLOB      makes only the captures whose name, or folder/name, matches\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(only)},
    {"  --list           shows the names of the captures\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(list)},
    {"  --help           shows this text\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(help), .also = "-h"},
};
/* clang-format on */

static const struct option_table table = {
    .command = "gen",
    .head = "usage: warpcheck gen [OPTION...] SCRIPT\n"
            "       warpcheck gen [OPTION...] -e TEXT\n"
            "       warpcheck gen --corpus DIR [SCRIPT...]\n"
            "  Makes frames and captures from Lua scripts (docs/writing-captures.md). It needs no device and no "
            "network. SCRIPT is\n"
            "  a file, or - for the standard input.\n",
    .tail = "  Exit status: 0 done, 2 usage or a bad script, 3 no packet or nothing selected, 4 the output cannot be "
            "written.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

int gen_options_usage(FILE *out)
{
    return option_table_print(&table, out);
}

static int script_add(struct gen_options *options, const char *script, struct iwarp_sentence *error)
{
    if (options->script_count == GEN_SCRIPTS_MAX)
        return iwarp_sentence_set(error, "at most %d scripts are possible; %.100s is one more", GEN_SCRIPTS_MAX,
                                  script);
    options->scripts[options->script_count++] = script;
    return 0;
}

/* By what the file's name ends in; pcapng otherwise. */
static enum gen_format format_of(const char *path)
{
    static const struct {
        const char *suffix;
        enum gen_format format;
    } suffixes[] = {{".pcap", GEN_PCAP}, {".hex", GEN_HEX}, {".txt", GEN_HEX}, {".c", GEN_C},
                    {".h", GEN_C},       {".raw", GEN_RAW}, {".bin", GEN_RAW}};
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t tail = strlen(suffixes[i].suffix);

        if (length > tail && strcmp(path + length - tail, suffixes[i].suffix) == 0)
            return suffixes[i].format;
    }
    return GEN_PCAPNG;
}

int gen_options_parse(struct gen_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    options->output = "-";
    options->seed = 1;
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, options, argc, argv, &i, error);

        if (taken < 0 || (taken == 0 && script_add(options, argv[i++], error) != 0))
            return -1;
    }
    if (options->help)
        return 0;
    if (!options->format_given)
        options->format = format_of(options->output);
    if (options->corpus != NULL &&
        (options->text != NULL || options->format_given || strcmp(options->output, "-") != 0))
        return iwarp_sentence_set(error, "--corpus chooses the names of its files: it excludes -e, -o and --format");
    if (options->force && options->corpus == NULL)
        return iwarp_sentence_set(error,
                                  "--force needs --corpus: without it, an output file always replaces an older one");
    if (options->corpus == NULL && !options->list && (options->text != NULL) + options->script_count != 1)
        return iwarp_sentence_set(error,
                                  "one script, one -e TEXT, or --corpus DIR was expected (see warpcheck gen --help)");
    return 0;
}
