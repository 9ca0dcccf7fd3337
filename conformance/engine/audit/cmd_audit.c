/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck audit: captures -> decoder -> rules -> results. */
#define _GNU_SOURCE /* realpath(3) into a buffer of its own */
#include "conformance/engine/audit/cmd_audit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/audit/audit_internal.h"
#include "conformance/engine/audit/audit_workers.h"
#include "conformance/engine/audit/lua_meta.h"
#include "conformance/engine/audit/lua_rules.h"
#include "conformance/engine/option/output_folder.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/flow/mpa/flow_search.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reports/results/account.h"
#include "reference-stack/program/complaint.h"
#include "reports/results/result.h"
#include "reports/results/results_log.h"
#include "reports/writers/terminal.h"
#include "base/out_of_memory.h"

/* The table that every account is drawn from. */
static void list_reasons(void)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++) {
        const struct flow_account_row *row = flow_account_row((enum flow_row)i);

        printf("%-9s %-17s %s\n", flow_account_kind_name(row->kind), row->name, row->text);
    }
    printf(
        "limits    --memory %d MiB: %d TCP connections at once, %d of them with MPA, as many SCTP associations and CM "
        "exchanges; %d MiB\n"
        "          out of order. With more memory they grow alike. %d octets of IP packets in fragments, for %d "
        "seconds\n"
        "foreign?  a TCP connection whose beginning is missing is foreign when %zu octets do not contain two FPDUs in "
        "a row, or when %d\n"
        "          segments with new octets do not begin like FPDUs, or when all of one side's octets are records of "
        "another protocol\n",
        FLOW_MEMORY >> 20, FLOW_MEMORY / FLOW_CONNECTION_OCTETS, FLOW_MEMORY / FLOW_FLOW_OCTETS,
        (FLOW_MEMORY / FLOW_BUFFER_PART) >> 20, FLOW_FRAGMENTS_MAX, FLOW_FRAGMENTS_SECONDS, flow_search_window(),
        FLOW_SEARCH_SEGMENTS);
}

/*
 * The progress line: the file that is judged, or whose results are due; `frames` of it are read, 0: that is not known.
 */
static void show_progress(struct audit *audit, size_t index, uint64_t frames)
{
    const struct capture_list *files = &audit->options->files;
    char text[PATH_MAX + 40], read[32] = "";

    if (!audit->terminal.live || format_option_machine(&audit->options->format) || index >= files->count)
        return;
    if (frames != 0)
        (void)snprintf(read, sizeof(read), " (%" PRIu64 " frames)", frames);
    (void)snprintf(text, sizeof(text), "%s%s", files->paths[index], read);
    terminal_progress(&audit->terminal, index, files->count, text, audit->counted.fail);
}

static void on_reading(void *user, uint64_t frames)
{
    struct audit *audit = user;

    show_progress(audit, audit->judging, frames);
}

static int judge_files(struct audit *audit, struct iwarp_sentence *error)
{
    const struct audit_options *options = audit->options;
    struct audit_judge_config config = {
        .catalogue = audit->catalogue,
        .selection = &options->selection,
        .memory = options->memory,
        .filter = options->filter,
        .rules = options->rules,
        .ladders = audit->logged,
        .result = audit_add_result,
        .end = audit_add_end,
        .results_end = audit_write_results,
        .reading = on_reading,
        .user = audit,
    };
    struct audit_judge *judge = audit_judge_create(&config);

    if (judge == NULL)
        return iwarp_sentence_set(error, "out of memory");
    for (size_t i = 0; i < options->files.count && !run_stopped(); i++) {
        enum audit_file status;

        audit->judging = i;
        show_progress(audit, i, 0);
        status = audit_judge_file(judge, options->files.paths[i], capture_list_ring(&options->files, i), error);
        audit_file_done(audit, i, status, audit_judge_account(judge), error);
    }
    audit->totals = *audit_judge_totals(judge);
    audit_judge_free(judge);
    return 0;
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

static void on_file(void *user, size_t index, enum audit_file status, bool lost, const struct flow_totals *totals,
                    const struct iwarp_sentence *error)
{
    struct audit *audit = user;

    audit_write_results(audit);
    flow_totals_add(&audit->totals, totals);
    audit_file_done(audit, index, status, &totals->account, error);
    audit->unwritten |= lost; /* the sentence is said already */
    show_progress(audit, index + 1, 0);
}

static void on_shared_reading(void *user, size_t index, uint64_t frames)
{
    show_progress(user, index, frames);
}

static int share_files(struct audit *audit, struct iwarp_sentence *error)
{
    const struct audit_options *options = audit->options;
    struct audit_workers_config config = {
        .catalogue = audit->catalogue,
        .selection = &options->selection,
        .files = &options->files,
        .processes = options->processes,
        .memory = options->memory,
        .filter = options->filter,
        .rules = options->rules,
        .capabilities = audit->capabilities & RUN_CONFINE_READING,
        .lines = audit->logged || audit->expect != NULL,
        .findings_only = options->findings_only,
        .shown = options->all && !format_option_machine(&options->format),
        .result = audit_read_line,
        .end = audit_add_end_line,
        .results_end = audit_write_results,
        .reading = on_shared_reading,
        .file = on_file,
        .user = audit,
    };

    show_progress(audit, 0, 0);
    return audit_workers_run(&config, error);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    char *inner = realpath(path, NULL), *outer = realpath(folder, NULL);
    size_t length = outer != NULL ? strlen(outer) : 0;
    bool below =
        inner != NULL && outer != NULL && strncmp(inner, outer, length) == 0 && (inner[length] == '/' || length == 1);

    free(inner);
    free(outer);
    return below;
}

/* The first file of an entry that is below the folder, NULL: none is. */
static const char *file_below(const struct capture_list *files, size_t index, const char *folder)
{
    const struct capture_ring *ring = capture_list_ring(files, index);

    if (ring == NULL)
        return is_below(files->paths[index], folder) ? files->paths[index] : NULL;
    for (size_t i = 0; i < ring->count; i++)
        if (is_below(ring->files[i], folder))
            return ring->files[i];
    return NULL;
}

static int open_log(struct audit *audit, struct iwarp_sentence *error)
{
    const struct audit_options *options = audit->options;
    struct judged_texts texts;
    struct run_info info = {
        .target = options->target,
        .command = "audit",
        .command_line = command_line_text(options->word_count, options->words, texts.command_line),
        .selected = selection_count(&options->selection, audit->catalogue),
    };

    judged_output_describe(&info, &texts, audit->catalogue, &options->shard, options->plan);
    if (judged_output_place(&audit->output, &options->format, error) != 0)
        return EXIT_INCONCLUSIVE;
    audit->logged = audit->output.results.place.name != NULL || options->format.jsonl;
    return judged_output_begin(&audit->output, &options->format, &info, error) == 0 ? 0 : EXIT_INCONCLUSIVE;
}

/* The captures that are to be judged must not be among what is removed. */
static int claim_folder(struct audit *audit, struct iwarp_sentence *error)
{
    const struct audit_options *options = audit->options;

    if (options->output == NULL)
        return 0;
    for (size_t i = 0; options->force && i < options->files.count; i++) {
        const char *below = file_below(&options->files, i, options->output);

        if (below != NULL) {
            (void)iwarp_sentence_set(
                error, "-o %.200s: this folder contains %.200s, which is to be judged; name another folder",
                options->output, below);
            return EXIT_USAGE;
        }
    }
    return output_folder_claim(&audit->output.folder, options->output, options->force ? FOLDER_FORCE : FOLDER_NEW,
                               false, error);
}

static int set_up(struct audit *audit, struct iwarp_sentence *error)
{
    const struct audit_options *options = audit->options;

    terminal_init(&audit->terminal, stdout);
    audit->terminal.all = options->all;
    audit->terminal.quiet = options->quiet;
    audit->seen = calloc(catalogue_count(audit->catalogue) + 1, sizeof(*audit->seen));
    audit->passed = calloc(catalogue_count(audit->catalogue) + 1, sizeof(*audit->passed));
    if (audit->seen == NULL || audit->passed == NULL) {
        (void)iwarp_sentence_set(error, "out of memory");
        return EXIT_INCONCLUSIVE;
    }
    return open_log(audit, error);
}

/* What was expected; and what is to be written again with its notes, where it is a file that is there. */
static int expect_read(struct audit *audit, struct iwarp_sentence *error)
{
    const struct audit_options *options = audit->options;
    struct audit_expect_config config = {.path = options->expect != NULL ? options->expect : options->write_expect,
                                         .old = options->expect == NULL,
                                         .catalogue = audit->catalogue,
                                         .today = audit->today,
                                         .spread = options->spread};
    struct stat status;
    int rc = 0;

    if (config.path == NULL)
        return 0;
    (void)utc_text(audit->today);
    audit->today[10] = '\0';
    config.read = options->expect != NULL || (stat(config.path, &status) == 0 && S_ISREG(status.st_mode));
    audit->expect = audit_expect_new(&config, error);
    if (audit->expect == NULL)
        return EXIT_USAGE;
    for (size_t i = 0; rc == 0 && options->shard.of != 0 && i < options->files.count; i++)
        rc = audit_expect_share(audit->expect, options->files.paths[i], true);
    for (size_t i = 0; rc == 0 && i < options->elsewhere_count; i++)
        rc = audit_expect_share(audit->expect, options->elsewhere[i], false);
    if (rc == 0)
        return 0;
    (void)iwarp_sentence_set(error, "out of memory");
    return EXIT_INCONCLUSIVE;
}

/* Of root, for these captures and this output. */
static uint64_t capabilities_needed(const struct audit_options *options)
{
    struct run_files files = {.write = options->write_expect != NULL ? options->write_expect : options->output};
    uint64_t needed;

    files.read = capture_list_files(&options->files, &files.read_count);
    needed = run_confine_files(&files);
    free((void *)files.read);
    return needed;
}

static int audit_files(const struct audit_options *options, const struct catalogue *catalogue)
{
    struct audit audit = {.options = options, .catalogue = catalogue};
    bool shared = options->processes > 1 && options->files.count > 1;
    struct iwarp_sentence error;
    int status = expect_read(&audit, &error);

    audit.capabilities = capabilities_needed(options);
    if (status == 0)
        status = claim_folder(&audit, &error);
    if (status == 0)
        status = set_up(&audit, &error);
    /* The file of --write-expect is written at the end, wherever it is. */
    if (status == 0 &&
        (run_confine(options->write_expect != NULL ? "/" : options->output, 0, audit.capabilities, &error) != 0 ||
         (shared ? share_files : judge_files)(&audit, &error) != 0))
        status = EXIT_INCONCLUSIVE;
    status = status == 0 ? audit_end(&audit) : complain(status, "%s", error.text);
    judged_output_close(&audit.output);
    terminal_free(&audit.terminal);
    finding_set_free(&audit.findings);
    audit_expect_free(audit.expect);
    free(audit.passed);
    free(audit.seen);
    return status;
}

/* The files of --rules: read before all else, for the other arguments may name their ids. */
static int rules_load(struct lua_rules **rules, int argc, char **argv, struct iwarp_sentence *error)
{
    for (int i = 1; i < argc; i++) {
        const char *path = strncmp(argv[i], "--rules=", 8) == 0              ? argv[i] + 8
                           : strcmp(argv[i], "--rules") == 0 && i + 1 < argc ? argv[++i]
                                                                             : NULL;

        if (path == NULL)
            continue;
        if (*rules == NULL && (*rules = lua_rules_new(error)) == NULL)
            return -1;
        if (lua_rules_load(*rules, path, error) != 0)
            return -1;
    }
    return 0;
}

int cmd_audit(int argc, char **argv)
{
    struct audit_options options = {0};
    struct catalogue *catalogue = NULL;
    struct iwarp_sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            (void)option_table_print(&audit_option_table, stdout);
            return fputs(selection_usage, stdout) < 0 ? EXIT_INCONCLUSIVE : EXIT_CONFORMS;
        }
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--reasons") == 0) {
            list_reasons();
            return fflush(stdout) == 0 ? EXIT_CONFORMS : complain(EXIT_INCONCLUSIVE, "the list could not be written");
        }
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--rules-meta") == 0) {
            lua_meta_print(stdout);
            return fflush(stdout) == 0 ? EXIT_CONFORMS : complain(EXIT_INCONCLUSIVE, "the list could not be written");
        }
    run_stop_install("audit");
    if (rules_load(&options.rules, argc, argv, &error) != 0 ||
        (options.rules != NULL ? lua_rules_catalogue(options.rules, &catalogue, &error)
                               : catalogue_load(&catalogue, &error)) != 0) {
        lua_rules_free(options.rules);
        return complain(EXIT_USAGE, "%s", error.text);
    }
    status = audit_options_parse(&options, catalogue, argc, argv, &error);
    if (status != 0)
        complain(status, "%s", error.text);
    else
        status = audit_files(&options, catalogue);
    audit_options_free(&options);
    lua_rules_free(options.rules);
    catalogue_free(catalogue);
    return status;
}
