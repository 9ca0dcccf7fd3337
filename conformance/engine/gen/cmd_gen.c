/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck gen: frames and captures out of scripts. */
#include "conformance/engine/gen/cmd_gen.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/gen/gen.h"
#include "conformance/engine/gen/gen_folder.h"
#include "reports/folder.h"
#include "conformance/engine/option/run_confine.h"
#include "conformance/engine/option/run_stop.h"
#include "reference-stack/program/complaint.h"

enum { SCRIPTS_MAX = 64, SETTINGS_MAX = 32, SCRIPT_OCTETS_MAX = 1 << 20, NAME_OCTETS = 256, PATH_OCTETS = 4096 };

/* clang-format off */
static const char usage[] =
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
    "                   README.md and with expected.tsv, the findings that warpcheck audit should report in them; the\n"
    "                   folders must be empty, and no other command may write there at the same time\n"
    "  --force          with --corpus: removes README.md, expected.tsv and the captures that README.md lists\n"
    "  --only GLOB      makes only the captures whose name, or folder/name, matches\n"
    "  --list           shows the names of the captures\n"
    "  --help           shows this text\n"
    "  Exit status: 0 done, 2 usage or a bad script, 3 no packet or nothing selected, 4 the output cannot be written.\n";
/* clang-format on */

struct options {
    const char *scripts[SCRIPTS_MAX];
    size_t script_count;
    const char *text; /* -e */
    const char *settings[SETTINGS_MAX];
    size_t setting_count;
    const char *output;
    const char *corpus;
    const char *only;
    enum gen_format format;
    bool format_given, list, force, help;
    uint64_t seed;
};

/* ---- arguments ----------------------------------------------------------------------------------------------------- */

static int set_format(struct options *options, const char *name, struct sentence *error)
{
    options->format_given = true;
    if (gen_format_from_name(name, &options->format) != 0)
        return sentence_set(error, "--format \"%.40s\" is unknown, pcapng, pcap, hex, c or raw was expected", name);
    return 0;
}

static int set_seed(struct options *options, const char *value, struct sentence *error)
{
    char *end;

    errno = 0;
    options->seed = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || options->seed > INT64_MAX)
        return sentence_set(error, "--seed \"%.40s\": a number from 0 to 2^63 - 1 was expected", value);
    return 0;
}

static int add_setting(struct options *options, const char *value, struct sentence *error)
{
    const char *sign = strchr(value, '=');

    if (sign == NULL || sign == value || sign - value >= NAME_OCTETS)
        return sentence_set(error, "--set \"%.60s\": NAME=TEXT was expected", value);
    if (options->setting_count == SETTINGS_MAX)
        return sentence_set(error, "--set was given more than %d times", SETTINGS_MAX);
    options->settings[options->setting_count++] = value;
    return 0;
}

static int set_value(struct options *options, const char *name, const char *value, struct sentence *error)
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
static int take_value(struct options *options, int argc, char **argv, int *i, struct sentence *error)
{
    static const char *const names[] = {"-o", "-e", "--corpus", "--only", "--format", "--seed", "--set", NULL};

    for (size_t n = 0; names[n] != NULL; n++) {
        size_t length = strlen(names[n]);

        if (strcmp(argv[*i], names[n]) == 0) {
            const char *value = *i + 1 < argc ? argv[++*i] : NULL;

            if (value == NULL)
                return sentence_set(error, "%s needs a value", names[n]);
            return set_value(options, names[n], value, error) == 0 ? 1 : -1;
        }
        if (length > 2 && strncmp(argv[*i], names[n], length) == 0 && argv[*i][length] == '=')
            return set_value(options, names[n], argv[*i] + length + 1, error) == 0 ? 1 : -1;
    }
    return 0;
}

static int take_argument(struct options *options, int argc, char **argv, int *i, struct sentence *error)
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
        return sentence_set(error, "unknown option %.60s (warpcheck gen --help lists them)", argument);
    else if (options->script_count == SCRIPTS_MAX)
        return sentence_set(error, "at most %d scripts are possible; %.100s is one more", SCRIPTS_MAX, argument);
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

static int parse(struct options *options, int argc, char **argv, struct sentence *error)
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
        return sentence_set(error, "--corpus chooses the names of its files: it excludes -e, -o and --format");
    if (options->force && options->corpus == NULL)
        return sentence_set(error, "--force needs --corpus: without it, an output file always replaces an older one");
    if (options->corpus == NULL && !options->list && (options->text != NULL) + options->script_count != 1)
        return sentence_set(error, "one script, one -e TEXT, or --corpus DIR was expected (see warpcheck gen --help)");
    return 0;
}

/* ---- scripts ------------------------------------------------------------------------------------------------------- */

/* The whole of a script, to be freed; NULL with a sentence. */
static char *read_script(const char *path, size_t *count, struct sentence *error)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *octets = file != NULL ? malloc(SCRIPT_OCTETS_MAX) : NULL;

    if (octets == NULL) {
        int number = errno;

        (void)sentence_set(error, "%.300s: %s", path, strerror(number));
        if (file != NULL && file != stdin)
            fclose(file);
        errno = number;
        return NULL;
    }
    errno = 0;
    *count = fread(octets, 1, SCRIPT_OCTETS_MAX, file);
    if (ferror(file) || *count == SCRIPT_OCTETS_MAX) {
        (void)sentence_set(error, "%s: %s", path, ferror(file) ? strerror(errno) : "a script has at most 1 MiB");
        free(octets);
        octets = NULL;
    }
    if (file != stdin)
        fclose(file);
    return octets;
}

static enum exit_status run_script(struct gen *gen, const struct options *options, const char *path,
                                   const struct gen_writer_config *config, uint64_t *written, struct sentence *error)
{
    bool bare = options->corpus == NULL && options->format >= GEN_HEX;
    enum exit_status status;
    size_t count;
    char *octets;

    errno = 0;
    octets = read_script(path, &count, error);
    if (octets == NULL)
        return errno == ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
    status = gen_run_script(gen, strcmp(path, "-") == 0 ? "stdin" : path, octets, count, config, bare, written, error);
    free(octets);
    return status;
}

/* -e TEXT: frames, or else a script. */
static enum exit_status run_text(struct gen *gen, const struct options *options, const struct gen_writer_config *config,
                                 uint64_t *written, struct sentence *error)
{
    size_t room = strlen(options->text) + sizeof("return ");
    char *text = malloc(room);
    bool frames;

    *written = 0;
    if (text == NULL) {
        (void)sentence_set(error, "out of memory");
        return EXIT_ENVIRONMENT;
    }
    (void)snprintf(text, room, "return %s", options->text);
    frames = gen_script_reads(gen, text);
    if (!frames)
        (void)snprintf(text, room, "%s", options->text);
    enum exit_status status =
        gen_run_script(gen, "-e", text, strlen(text), config, options->format >= GEN_HEX, written, error);

    free(text);
    return status;
}

/* By its name, or by folder/name. */
static bool is_wanted(struct gen *gen, const struct options *options, size_t i)
{
    const struct gen_capture *capture = gen_capture_at(gen, i);
    char name[NAME_OCTETS];

    if (options->only == NULL || fnmatch(options->only, capture->name, 0) == 0)
        return true;
    (void)snprintf(name, sizeof(name), "%s/%s", gen_corpus_at(gen, capture->corpus)->folder, capture->name);
    return fnmatch(options->only, name, 0) == 0;
}

static enum exit_status one_output(struct gen *gen, const struct options *options, struct sentence *error)
{
    struct gen_writer_config config = {.to = place_at(options->output), .format = options->format};
    enum exit_status status;
    uint64_t written;
    size_t wanted = 0, which = 0;

    if (config.format != GEN_HEX && config.format != GEN_C && strcmp(options->output, "-") == 0 &&
        isatty(STDOUT_FILENO)) {
        (void)sentence_set(error, "a capture cannot be shown on a terminal: name a file with -o, or use --hex");
        return EXIT_USAGE;
    }
    status = options->text != NULL ? run_text(gen, options, &config, &written, error)
                                   : run_script(gen, options, options->scripts[0], &config, &written, error);
    if (status != EXIT_DONE || written != 0)
        return status;
    for (size_t i = 0; i < gen_capture_count(gen); i++)
        if (is_wanted(gen, options, i)) {
            wanted++;
            which = i;
        }
    if (wanted == 1)
        return gen_make(gen, which, &config, error);
    if (wanted == 0) {
        (void)sentence_set(error, gen_capture_count(gen) == 0 ? "the script describes no packet and returns no frame"
                                                              : "no capture of the script has such a name");
        return EXIT_NOTHING_SELECTED;
    }
    (void)sentence_set(error, "the script has %zu captures: choose one with --only NAME, or make all with --corpus DIR",
                       wanted);
    return EXIT_USAGE;
}

/* ---- folders ------------------------------------------------------------------------------------------------------- */

/* "some/where/name.lua": "name". */
static void stem_of(const char *path, char *name, size_t room)
{
    const char *slash = strrchr(path, '/');
    char *dot;

    (void)snprintf(name, room, "%s", slash != NULL ? slash + 1 : path);
    dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
}

/* What a script writes at once is a capture that is called as the script is. */
static enum exit_status load_script(struct gen *gen, struct gen_folder *folder, const struct options *options,
                                    const char *script, struct sentence *error)
{
    struct gen_writer_config config = {.to = place_at("/dev/null"), .format = GEN_PCAPNG};
    char name[NAME_OCTETS];
    enum exit_status status;
    uint64_t written;

    stem_of(script, name, sizeof(name));
    if (folder != NULL && gen_folder_place(folder, 0, name, &config.to, error) != 0)
        return EXIT_USAGE;
    status = run_script(gen, options, script, &config, &written, error);
    if (status == EXIT_DONE && written != 0 && folder != NULL && gen_folder_add(folder, 0, name, "", error) != 0)
        status = EXIT_ENVIRONMENT;
    return status;
}

static enum exit_status load_scripts(struct gen *gen, struct gen_folder *folder, const struct options *options,
                                     struct sentence *error)
{
    enum exit_status status = EXIT_DONE;

    if (options->script_count == 0)
        return gen_load_corpus(gen, error);
    for (size_t i = 0; folder != NULL && i < options->script_count; i++) {
        char name[NAME_OCTETS];

        stem_of(options->scripts[i], name, sizeof(name));
        if (gen_folder_plan(folder, 0, name, "", error) != 0)
            return EXIT_ENVIRONMENT;
    }
    if (folder != NULL)
        status = gen_folder_begin(folder, error);
    for (size_t i = 0; i < options->script_count && status == EXIT_DONE; i++)
        status = load_script(gen, folder, options, options->scripts[i], error);
    return status;
}

static enum exit_status plan_captures(struct gen *gen, struct gen_folder *folder, const struct options *options,
                                      struct sentence *error)
{
    for (size_t i = 0; i < gen_capture_count(gen); i++) {
        const struct gen_capture *capture = gen_capture_at(gen, i);

        if (is_wanted(gen, options, i) &&
            gen_folder_plan(folder, capture->corpus, capture->name, capture->about, error) != 0)
            return EXIT_ENVIRONMENT;
    }
    return gen_folder_begin(folder, error);
}

static enum exit_status make_captures(struct gen *gen, struct gen_folder *folder, const struct options *options,
                                      struct sentence *error)
{
    for (size_t i = 0; i < gen_capture_count(gen); i++) {
        const struct gen_capture *capture = gen_capture_at(gen, i);
        struct gen_writer_config config = {.format = gen_corpus_at(gen, capture->corpus)->format};
        enum exit_status status;

        if (run_stopped()) {
            (void)sentence_set(error, "interrupted");
            return EXIT_ENVIRONMENT;
        }
        if (!is_wanted(gen, options, i))
            continue;
        if (gen_folder_place(folder, capture->corpus, capture->name, &config.to, error) != 0)
            return EXIT_USAGE;
        status = gen_make(gen, i, &config, error);
        if (status != EXIT_DONE)
            return status;
        if (gen_folder_add(folder, capture->corpus, capture->name, capture->about, error) != 0)
            return EXIT_ENVIRONMENT;
    }
    return EXIT_DONE;
}

static enum exit_status fill_folder(struct gen *gen, struct gen_folder *folder, const struct options *options,
                                    struct sentence *error)
{
    enum exit_status status = load_scripts(gen, folder, options, error);

    if (status == EXIT_DONE)
        status = plan_captures(gen, folder, options, error);
    if (status == EXIT_DONE)
        status = make_captures(gen, folder, options, error);
    if (status == EXIT_DONE && gen_folder_captures(folder) == 0) {
        (void)sentence_set(error,
                           options->only != NULL ? "no capture has such a name" : "the scripts have no captures");
        status = EXIT_NOTHING_SELECTED;
    }
    if (status == EXIT_DONE && gen_folder_finish(folder, error) != 0)
        status = EXIT_ENVIRONMENT;
    if (status == EXIT_DONE)
        print_plain(stderr, "%zu capture%s in %s", gen_folder_captures(folder),
                    gen_folder_captures(folder) == 1 ? "" : "s", options->corpus);
    return status;
}

static enum exit_status list_captures(struct gen *gen, const struct options *options, struct sentence *error)
{
    enum exit_status status = load_scripts(gen, NULL, options, error);
    size_t shown = 0;

    for (size_t i = 0; status == EXIT_DONE && i < gen_capture_count(gen); i++) {
        const struct gen_capture *capture = gen_capture_at(gen, i);

        if (!is_wanted(gen, options, i))
            continue;
        print_plain(stdout, "%-32s %s", capture->name, capture->about);
        shown++;
    }
    if (status == EXIT_DONE && shown == 0) {
        (void)sentence_set(error, "the scripts register no capture of such a name");
        status = EXIT_NOTHING_SELECTED;
    }
    return status;
}

static int apply_settings(struct gen *gen, const struct options *options)
{
    for (size_t i = 0; i < options->setting_count; i++) {
        char name[NAME_OCTETS];
        const char *sign = strchr(options->settings[i], '=');

        (void)snprintf(name, sizeof(name), "%.*s", (int)(sign - options->settings[i]), options->settings[i]);
        if (gen_set_argument(gen, name, sign + 1) != 0)
            return -1;
    }
    return 0;
}

/* What comes from now on comes from scripts: they write where they are told to, and nowhere else. */
static int give_up_rest(const struct options *options, const struct gen_folder *folder, struct sentence *error)
{
    char text[PATH_OCTETS];
    const char *place = NULL;

    if (folder != NULL) {
        if (folder_make(options->corpus, error) != 0)
            return -1;
        place = options->corpus;
    } else if (strcmp(options->output, "-") != 0) {
        place = run_confine_place(options->output, text, sizeof(text));
    }
    return run_confine(place, false, 0, RUN_CONFINE_FILES, error);
}

static enum exit_status run_gen(struct gen *gen, const struct options *options, struct sentence *error)
{
    enum exit_status status = EXIT_ENVIRONMENT;
    struct gen_folder *folder = NULL;

    if (options->corpus != NULL && !options->list &&
        (folder = gen_folder_open(gen, options->corpus, options->force, error)) == NULL)
        return status;
    if (give_up_rest(options, folder, error) == 0) {
        if (options->list)
            status = list_captures(gen, options, error);
        else
            status = folder != NULL ? fill_folder(gen, folder, options, error) : one_output(gen, options, error);
    }
    gen_folder_free(folder);
    return status;
}

int cmd_gen(int argc, char **argv)
{
    struct options options = {0};
    struct sentence error = {{0}};
    enum exit_status status = EXIT_ENVIRONMENT;
    struct gen *gen;

    if (parse(&options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (options.help)
        return fputs(usage, stdout) == EOF || fflush(stdout) != 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    run_stop_install("gen");
    gen = gen_new(options.seed, &error);
    if (gen != NULL && apply_settings(gen, &options) != 0)
        (void)sentence_set(&error, "out of memory");
    else if (gen != NULL)
        status = run_gen(gen, &options, &error);
    gen_free(gen);
    return status == EXIT_DONE ? EXIT_DONE : complain(status, "%s", error.text);
}
