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
#include "conformance/engine/gen/gen_options.h"
#include "reports/folder/folder.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/sandbox/lua_file.h"
#include "reference-stack/program/complaint.h"

enum { NAME_OCTETS = GEN_NAME_OCTETS, PATH_OCTETS = 4096 };

/*
 * ---- scripts -------------------------------------------------------------------------------------------------------
 */

static enum exit_status run_script(struct gen *gen, const struct gen_options *options, const char *path,
                                   const struct gen_writer_config *config, uint64_t *written,
                                   struct iwarp_sentence *error)
{
    bool bare = options->corpus == NULL && options->format >= GEN_HEX;
    enum exit_status status;
    size_t count;
    char *octets;

    errno = 0;
    octets = lua_file_read(path, &count, error);
    if (octets == NULL)
        return errno == ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE;
    status = gen_run_script(gen, strcmp(path, "-") == 0 ? "stdin" : path, octets, count, config, bare, written, error);
    free(octets);
    return status;
}

/* -e TEXT: frames, or else a script. */
static enum exit_status run_text(struct gen *gen, const struct gen_options *options,
                                 const struct gen_writer_config *config, uint64_t *written,
                                 struct iwarp_sentence *error)
{
    size_t room = strlen(options->text) + sizeof("return ");
    char *text = malloc(room);
    bool frames;

    *written = 0;
    if (text == NULL) {
        (void)iwarp_sentence_set(error, "out of memory");
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
static bool is_wanted(struct gen *gen, const struct gen_options *options, size_t i)
{
    const struct gen_capture *capture = gen_capture_at(gen, i);
    char name[NAME_OCTETS];

    if (options->only == NULL || fnmatch(options->only, capture->name, 0) == 0)
        return true;
    (void)snprintf(name, sizeof(name), "%s/%s", gen_corpus_at(gen, capture->corpus)->folder, capture->name);
    return fnmatch(options->only, name, 0) == 0;
}

static enum exit_status one_output(struct gen *gen, const struct gen_options *options, struct iwarp_sentence *error)
{
    struct gen_writer_config config = {.to = place_at(options->output), .format = options->format};
    enum exit_status status;
    uint64_t written;
    size_t wanted = 0, which = 0;

    if (config.format != GEN_HEX && config.format != GEN_C && strcmp(options->output, "-") == 0 &&
        isatty(STDOUT_FILENO)) {
        (void)iwarp_sentence_set(error, "a capture cannot be shown on a terminal: name a file with -o, or use --hex");
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
        (void)iwarp_sentence_set(error, gen_capture_count(gen) == 0
                                            ? "the script describes no packet and returns no frame"
                                            : "no capture of the script has such a name");
        return EXIT_NOTHING_SELECTED;
    }
    (void)iwarp_sentence_set(
        error, "the script has %zu captures: choose one with --only NAME, or make all with --corpus DIR", wanted);
    return EXIT_USAGE;
}

/*
 * ---- folders -------------------------------------------------------------------------------------------------------
 */

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
static enum exit_status load_script(struct gen *gen, struct gen_folder *folder, const struct gen_options *options,
                                    const char *script, struct iwarp_sentence *error)
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

static enum exit_status load_scripts(struct gen *gen, struct gen_folder *folder, const struct gen_options *options,
                                     struct iwarp_sentence *error)
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

static enum exit_status plan_captures(struct gen *gen, struct gen_folder *folder, const struct gen_options *options,
                                      struct iwarp_sentence *error)
{
    for (size_t i = 0; i < gen_capture_count(gen); i++) {
        const struct gen_capture *capture = gen_capture_at(gen, i);

        if (is_wanted(gen, options, i) &&
            gen_folder_plan(folder, capture->corpus, capture->name, capture->about, error) != 0)
            return EXIT_ENVIRONMENT;
    }
    return gen_folder_begin(folder, error);
}

static enum exit_status make_captures(struct gen *gen, struct gen_folder *folder, const struct gen_options *options,
                                      struct iwarp_sentence *error)
{
    for (size_t i = 0; i < gen_capture_count(gen); i++) {
        const struct gen_capture *capture = gen_capture_at(gen, i);
        struct gen_writer_config config = {.format = gen_corpus_at(gen, capture->corpus)->format};
        enum exit_status status;

        if (run_stopped()) {
            (void)iwarp_sentence_set(error, "interrupted");
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

static enum exit_status fill_folder(struct gen *gen, struct gen_folder *folder, const struct gen_options *options,
                                    struct iwarp_sentence *error)
{
    enum exit_status status = load_scripts(gen, folder, options, error);

    if (status == EXIT_DONE)
        status = plan_captures(gen, folder, options, error);
    if (status == EXIT_DONE)
        status = make_captures(gen, folder, options, error);
    if (status == EXIT_DONE && gen_folder_captures(folder) == 0) {
        (void)iwarp_sentence_set(error,
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

static enum exit_status list_captures(struct gen *gen, const struct gen_options *options, struct iwarp_sentence *error)
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
        (void)iwarp_sentence_set(error, "the scripts register no capture of such a name");
        status = EXIT_NOTHING_SELECTED;
    }
    return status;
}

static int apply_settings(struct gen *gen, const struct gen_options *options)
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

/* From now on scripts run: they can write to the given output, and nowhere else. */
static int give_up_rest(const struct gen_options *options, const struct gen_folder *folder,
                        struct iwarp_sentence *error)
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
    return run_confine(place, 0, run_confine_files(&(struct run_files){.write = place}), error);
}

static enum exit_status run_gen(struct gen *gen, const struct gen_options *options, struct iwarp_sentence *error)
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
    struct gen_options options = {0};
    struct iwarp_sentence error = {{0}};
    enum exit_status status = EXIT_ENVIRONMENT;
    struct gen *gen;

    if (gen_options_parse(&options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (options.help)
        return gen_options_usage(stdout) < 0 || fflush(stdout) != 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    run_stop_install("gen");
    gen = gen_new(options.seed, &error);
    if (gen != NULL && apply_settings(gen, &options) != 0)
        (void)iwarp_sentence_set(&error, "out of memory");
    else if (gen != NULL)
        status = run_gen(gen, &options, &error);
    gen_free(gen);
    return status == EXIT_DONE ? EXIT_DONE : complain(status, "%s", error.text);
}
