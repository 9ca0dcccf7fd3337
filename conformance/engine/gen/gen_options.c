/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen/gen_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/option_unknown.h"

/* clang-format off */
const char gen_options_usage[] =
    "usage: warpcheck gen [OPTION...] SCRIPT\n"
    "       warpcheck gen [OPTION...] -e TEXT\n"
    "       warpcheck gen --corpus DIR [SCRIPT...]\n"
    "  Makes frames and captures from Lua scripts (docs/writing-captures.md). It needs no device and no network. SCRIPT is\n"
    "  a file, or - for the standard input.\n"
    "  -e TEXT          the script itself, or frames: -e 'rdmap.send { data = \"hello\" }'\n"
    "  -o FILE          writes to FILE; - (the default) is the standard output\n"
    "  --format F       pcapng, pcap, hex (digits, one line for each frame), c (arrays) or raw (octets); the default follows\n"
    "                   from the ending of FILE, and is pcapng otherwise\n"
    "  --hex            the same as --format hex\n"
    "  --c              the same as --format c\n"
    "  --seed N         chooses random numbers and simulated stacks (1)\n"
    "  --set NAME=TEXT  sets arg.NAME to TEXT in the scripts; repeat it for several\n"
    "  --corpus DIR     writes every capture of the scripts to DIR (without a script: of the project's own corpus), with\n"
    "                   README.md and with findings.tsv, the findings that warpcheck audit should report in them; the\n"
    "                   folders must be empty, and no other command may write there at the same time\n"
    "  --force          with --corpus: removes README.md, findings.tsv and the captures that README.md lists\n"
    "  --only GLOB      makes only the captures whose name, or folder/name, matches\n"
    "  --list           shows the names of the captures\n"
    "  --help           shows this text\n"
    "  Exit status: 0 done, 2 usage or a bad script, 3 no packet or nothing selected, 4 the output cannot be written.\n";
/* clang-format on */

static int set_format(struct gen_options *options, const char *name, struct iwarp_sentence *error)
{
    options->format_given = true;
    if (gen_format_from_name(name, &options->format) != 0)
        return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, pcapng, pcap, hex, c or raw was expected",
                                  name);
    return 0;
}

static int set_seed(struct gen_options *options, const char *value, struct iwarp_sentence *error)
{
    char *end;

    errno = 0;
    options->seed = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || options->seed > INT64_MAX)
        return iwarp_sentence_set(error, "--seed \"%.40s\": a number from 0 to 2^63 - 1 was expected", value);
    return 0;
}

static int add_setting(struct gen_options *options, const char *value, struct iwarp_sentence *error)
{
    const char *sign = strchr(value, '=');

    if (sign == NULL || sign == value || sign - value >= GEN_NAME_OCTETS)
        return iwarp_sentence_set(error, "--set \"%.60s\": NAME=TEXT was expected", value);
    if (options->setting_count == GEN_SETTINGS_MAX)
        return iwarp_sentence_set(error, "--set was given more than %d times", GEN_SETTINGS_MAX);
    options->settings[options->setting_count++] = value;
    return 0;
}

static int set_value(struct gen_options *options, const char *name, const char *value, struct iwarp_sentence *error)
{
    if (strcmp(name, "-o") == 0)
        options->output = value;
    else if (strcmp(name, "-e") == 0)
        options->text = value;
    else if (strcmp(name, "--corpus") == 0)
        options->corpus = value;
    else if (strcmp(name, "--only") == 0)
        options->only = value;
    else if (strcmp(name, "--format") == 0)
        return set_format(options, value, error);
    else if (strcmp(name, "--seed") == 0)
        return set_seed(options, value, error);
    else
        return add_setting(options, value, error);
    return 0;
}

/* "--name value" or "--name=value". 1: taken; 0: no such option; -1 with a sentence. */
static int take_value(struct gen_options *options, int argc, char **argv, int *i, struct iwarp_sentence *error)
{
    static const char *const names[] = {"-o", "-e", "--corpus", "--only", "--format", "--seed", "--set", NULL};

    for (size_t n = 0; names[n] != NULL; n++) {
        size_t length = strlen(names[n]);

        if (strcmp(argv[*i], names[n]) == 0) {
            const char *value = *i + 1 < argc ? argv[++*i] : NULL;

            if (value == NULL)
                return iwarp_sentence_set(error, "%s needs a value", names[n]);
            return set_value(options, names[n], value, error) == 0 ? 1 : -1;
        }
        if (length > 2 && strncmp(argv[*i], names[n], length) == 0 && argv[*i][length] == '=')
            return set_value(options, names[n], argv[*i] + length + 1, error) == 0 ? 1 : -1;
    }
    return 0;
}

static int take_argument(struct gen_options *options, int argc, char **argv, int *i, struct iwarp_sentence *error)
{
    const char *argument = argv[*i];
    int taken = take_value(options, argc, argv, i, error);

    if (taken != 0)
        return taken > 0 ? 0 : -1;
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
        options->help = true;
    else if (strcmp(argument, "--list") == 0)
        options->list = true;
    else if (strcmp(argument, "--force") == 0)
        options->force = true;
    else if (strcmp(argument, "--hex") == 0 || strcmp(argument, "--c") == 0)
        return set_format(options, argument + 2, error);
    else if (argument[0] == '-' && argument[1] != '\0')
        return option_unknown("gen", argument, gen_options_usage, NULL, error);
    else if (options->script_count == GEN_SCRIPTS_MAX)
        return iwarp_sentence_set(error, "at most %d scripts are possible; %.100s is one more", GEN_SCRIPTS_MAX,
                                  argument);
    else
        options->scripts[options->script_count++] = argument;
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
    for (int i = 1; i < argc; i++)
        if (take_argument(options, argc, argv, &i, error) != 0)
            return -1;
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
