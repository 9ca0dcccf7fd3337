/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck audit: captures -> decoder -> rules -> results. */
#define _GNU_SOURCE /* realpath(3) into a buffer of its own */
#include "conformance/engine/audit/cmd_audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit/audit_judge.h"
#include "conformance/engine/audit/audit_options.h"
#include "conformance/engine/audit/audit_workers.h"
#include "conformance/engine/report/cmd_report.h"
#include "conformance/engine/option/output_folder.h"
#include "conformance/engine/option/run_confine.h"
#include "conformance/engine/option/run_stop.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reports/account.h"
#include "reference-stack/program/complaint.h"
#include "reports/result.h"
#include "reports/results_log.h"
#include "reports/terminal.h"
#include "wire/out_of_memory.h"

enum {
    BLOCKS_MAX = 3,   /* findings of one requirement shown on the terminal; all are in the results */
    SKIPPED_MAX = 20, /* files named that are not read; all are in the results */
};

/* What is known of one requirement over all files. */
struct seen {
    bool exercised;
    uint64_t blocks; /* shown on the terminal */
    uint64_t hidden; /* and not shown */
};

struct audit {
    const struct audit_options *options;
    const struct catalogue *catalogue;
    struct results_log *log;
    struct terminal terminal;
    struct run_summary counted;
    struct flow_totals totals; /* of all files */
    bool logged;               /* somebody reads the log */
    struct seen *seen;         /* by index in the catalogue */
    struct folder *folder;     /* of -o, NULL: none */
    struct format_results results;
    bool unwritten; /* results were lost: disk full */
    bool foreign;   /* some file is no capture that can be read */
    bool damaged;   /* some file breaks off */
};

static void usage(void)
{
    char files[200], names[200];

    printf(
        "usage: warpcheck audit [SELECT...] [OPTION...] FILE|DIR...\n"
        "  Judges captures (pcap, pcapng; folders with all below them) by every rule that their traffic exercises, "
        "and\n"
        "  accounts for every file, frame and octet: judged, foreign, or not judged and why.\n"
        "  Exit status: 0 conforms, 1 fails, 2 usage or no capture, 3 nothing was exercised, 4 inconclusive: iWARP, or "
        "what\n"
        "  may be iWARP, was not judged (--allow-gaps accepts that).\n"
        "  --reasons          list what frames and octets are counted as, and the limits, and stop\n"
        "  --allow-gaps       exit with 0 although iWARP, or what may be iWARP, was not judged; it is shown all the "
        "same\n"
        "  -j N               judge up to N files at once\n"
        "  --shard I/N        judge part I of N of the files, the same part everywhere; report --merge makes one of\n"
        "                     them\n"
        "  -o DIR             write results.jsonl there, and the reports: %s;\n"
        "                     the folder has to be empty, and no other command may write there meanwhile\n"
        "  --force            remove what an earlier command left in -o DIR\n"
        "  --format F         %s: what standard output gets\n"
        "  --all              show what passed, too\n"
        "  --help             this text\n",
        report_format_files(files, sizeof(files)), format_option_names(names, sizeof(names)));
}

/* The table that every account is drawn from. */
static void list_reasons(void)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++) {
        const struct flow_account_row *row = flow_account_row((enum flow_row)i);

        printf("%-9s %-17s %s\n", flow_account_kind_name(row->kind), row->name, row->text);
    }
    printf(
        "limits    %d TCP connections at once, %d of them with MPA; %d octets out of order; %d octets of IP packets\n"
        "          in fragments, for %d seconds\n"
        "foreign?  a TCP connection without its beginning is when %zu octets have no FPDU behind another, or when %d\n"
        "          segments with what its senders wrote anew begin unlike FPDUs\n",
        FLOW_CONNECTIONS_MAX, FLOW_FLOWS_MAX, FLOW_BUFFER_MAX, FLOW_FRAGMENTS_MAX, FLOW_FRAGMENTS_SECONDS,
        flow_search_window(), FLOW_SEARCH_SEGMENTS);
}

/* Says so once: what was written before stays good. */
static void unwritten(struct audit *audit, const char *message)
{
    if (!audit->unwritten)
        complain(EXIT_INCONCLUSIVE, "%s", message);
    audit->unwritten = true;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static bool is_shown(const struct audit *audit, enum verdict verdict)
{
    return !format_option_machine(&audit->options->format) && (verdict != VERDICT_PASS || audit->options->all);
}

static void show(struct audit *audit, const struct result *result, const struct requirement *requirement,
                 struct seen *seen)
{
    if (!is_shown(audit, result->verdict))
        return;
    if (seen->blocks++ < BLOCKS_MAX)
        terminal_result(&audit->terminal, result, requirement->text);
    else
        seen->hidden++;
}

static void take_result(void *user, const struct result *result, const struct requirement *requirement)
{
    struct audit *audit = user;
    struct sentence error;

    audit->seen[requirement->index].exercised = true;
    summary_count(&audit->counted, result->verdict);
    /* Making a line of JSON that nobody gets would cost more than the judging. */
    if (audit->logged) {
        run_stop_hold();
        results_log_hold(audit->log);
        if (results_log_append(audit->log, result, &error) != 0)
            unwritten(audit, error.text);
        run_stop_release();
    }
    show(audit, result, requirement, &audit->seen[requirement->index]);
}

/* The flow's results leave in one write. */
static void write_results(void *user)
{
    struct audit *audit = user;
    struct sentence error;

    run_stop_hold();
    if (audit->logged && results_log_release(audit->log, &error) != 0)
        unwritten(audit, error.text);
    run_stop_release();
}

static void log_capture(struct audit *audit, struct capture_info *info, const struct flow_account *account)
{
    struct sentence why;

    if (!audit->logged)
        return;
    if (account != NULL && !account_is_empty(account))
        info->account = account_to_json(account);
    if (results_log_capture(audit->log, info, &why) != 0)
        unwritten(audit, why.text);
    json_decref(info->account);
}

static void file_done(struct audit *audit, const char *path, enum audit_file status, const struct flow_account *account,
                      const struct sentence *error)
{
    static const char *const names[] = {
        [AUDIT_FILE_WHOLE] = "whole", [AUDIT_FILE_DAMAGED] = "damaged", [AUDIT_FILE_FOREIGN] = "foreign"};
    struct capture_info info = {
        .file = path, .status = names[status], .message = status != AUDIT_FILE_WHOLE ? error->text : NULL};

    run_stop_hold();
    log_capture(audit, &info, account);
    run_stop_release();
    audit->damaged |= status == AUDIT_FILE_DAMAGED;
    audit->foreign |= status == AUDIT_FILE_FOREIGN;
    if (status != AUDIT_FILE_WHOLE)
        complain(0, "%s", error->text);
}

/* What the folders have that is not read: listed when it could be captures, else counted. */
static void skipped_done(struct audit *audit)
{
    const struct capture_list *files = &audit->options->files;

    flow_account_add(&audit->totals.account, &files->account);
    for (size_t i = 0; i < files->skipped_count; i++) {
        const struct capture_skipped *skipped = &files->skipped[i];
        const struct flow_account_row *row = flow_account_row(skipped->row);
        struct sentence why;
        struct capture_info info = {.file = skipped->path, .status = "skipped", .reason = row->name};

        (void)sentence_set(&why, "%.300s: %s", skipped->path, row->text);
        info.message = why.text;
        audit->totals.account.row[skipped->row].items++;
        log_capture(audit, &info, NULL);
        if (i < SKIPPED_MAX)
            complain(0, "%s", why.text);
    }
    if (files->skipped_count > SKIPPED_MAX)
        (void)complain(0, "%zu more files are not read; results.jsonl names them", files->skipped_count - SKIPPED_MAX);
}

static int judge_files(struct audit *audit, struct sentence *error)
{
    const struct audit_options *options = audit->options;
    struct audit_judge_config config = {
        .catalogue = audit->catalogue,
        .selection = &options->selection,
        .ladders = audit->logged,
        .result = take_result,
        .results_end = write_results,
        .user = audit,
    };
    struct audit_judge *judge = audit_judge_create(&config);

    if (judge == NULL)
        return sentence_set(error, "out of memory");
    for (size_t i = 0; i < options->files.count && !run_stopped(); i++) {
        enum audit_file status = audit_judge_file(judge, options->files.paths[i], error);

        file_done(audit, options->files.paths[i], status, audit_judge_account(judge), error);
    }
    audit->totals = *audit_judge_totals(judge);
    audit_judge_free(judge);
    return 0;
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* Shows a result that is a line of JSON by now. */
static void show_line(struct audit *audit, const struct requirement *requirement, const char *line, size_t octets)
{
    json_t *object = json_loadb(line, octets, 0, NULL);
    struct result result;

    if (object != NULL && result_from_json(object, &result) == 0)
        show(audit, &result, requirement, &audit->seen[requirement->index]);
    json_decref(object);
}

static void take_line(void *user, enum verdict verdict, const struct requirement *requirement, const char *line,
                      size_t octets)
{
    struct audit *audit = user;
    struct sentence error;

    audit->seen[requirement->index].exercised = true;
    summary_count(&audit->counted, verdict);
    if (audit->logged) {
        run_stop_hold();
        results_log_hold(audit->log);
        if (results_log_append_line(audit->log, verdict, line, octets, &error) != 0)
            unwritten(audit, error.text);
        run_stop_release();
    }
    if (octets != 0 && is_shown(audit, verdict))
        show_line(audit, requirement, line, octets);
}

static void take_file(void *user, const char *path, enum audit_file status, const struct flow_totals *totals,
                      const struct sentence *error)
{
    struct audit *audit = user;

    write_results(audit);
    flow_totals_add(&audit->totals, totals);
    file_done(audit, path, status, &totals->account, error);
}

static int share_files(struct audit *audit, struct sentence *error)
{
    const struct audit_options *options = audit->options;
    struct audit_workers_config config = {
        .catalogue = audit->catalogue,
        .selection = &options->selection,
        .files = &options->files,
        .processes = options->processes,
        .lines = audit->logged,
        .shown = options->all && !format_option_machine(&options->format),
        .result = take_line,
        .file = take_file,
        .user = audit,
    };

    return audit_workers_run(&config, error);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void fill_summary(const struct audit *audit, struct run_summary *summary)
{
    const struct flow_totals *totals = &audit->totals;

    *summary = audit->counted;
    summary->frames = totals->frames;
    summary->fpdus = totals->fpdus;
    summary->ddp_segments = totals->ddp_segments;
    summary->crc_errors = totals->crc_errors;
    summary->account = totals->account;
    summary->allow_gaps = audit->options->allow_gaps;
    summary_add_messages(summary, "MPA start-up frames", totals->start_frames);
    for (unsigned i = 0; i < 16; i++)
        if (totals->messages[i] != 0)
            summary_add_messages(summary, rdmap_opcode_rows[i].name != NULL ? rdmap_opcode_rows[i].name : "unassigned",
                                 totals->messages[i]);
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (selection_matches(&audit->options->selection, catalogue_at(audit->catalogue, i)))
            summary->not_exercised += !audit->seen[i].exercised;
}

/* Nothing was decided by any rule. */
static bool is_undecided(const struct run_summary *summary)
{
    return summary->pass + summary->fail + summary->known + summary->warn + summary->inconclusive +
               summary->ambiguous ==
           0;
}

/* Why nothing was found, as far as the totals tell. */
static void explain_nothing(const struct audit *audit)
{
    const struct flow_totals *totals = &audit->totals;

    if (audit->options->files.count == 0 && audit->options->shard.of != 0) {
        (void)complain(0, "shard %u/%u: none of the captures is its own", audit->options->shard.index,
                       audit->options->shard.of);
        return;
    }
    if (audit->options->files.count == 0) /* nothing could be read, and what was there is named */
        return;
    if (totals->flows != 0) {
        complain(0, "no rule that is selected was exercised by this traffic");
        return;
    }
    (void)complain(0,
                   "no MPA traffic in %" PRIu64 " frames (%" PRIu64 " TCP segments in %" PRIu64 " connections, %" PRIu64
                   " IP fragments)",
                   totals->frames, totals->tcp_segments, totals->connections, totals->fragments);
}

/* Why the exit status is what it is, though nothing failed. Files that are not read were named already. */
static void explain_gaps(const struct audit *audit)
{
    const struct capture_list *files = &audit->options->files;
    struct flow_account account = audit->totals.account;
    char unjudged[ACCOUNT_TEXT], missing[ACCOUNT_TEXT];
    const char *have, *lack;

    for (size_t i = 0; i < files->skipped_count; i++)
        account.row[files->skipped[i].row].items = 0;
    if (flow_account_whole(&account))
        return;
    have = account_kind_text(&account, FLOW_UNJUDGED, unjudged);
    lack = account_kind_text(&account, FLOW_MISSING, missing);
    (void)complain(0, "not judged%s%s%s%s, of what is iWARP or may be (--allow-gaps accepts that)",
                   *have != '\0' ? ": " : "", have, *lack != '\0' ? "; missing: " : "", lack);
}

static void show_hidden(struct audit *audit)
{
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (audit->seen[i].hidden != 0)
            fprintf(audit->terminal.out, "      %s: %" PRIu64 " more flows, not shown\n",
                    catalogue_at(audit->catalogue, i)->id, audit->seen[i].hidden);
}

static int exit_status(const struct audit *audit, const struct run_summary *summary)
{
    if (audit->unwritten)
        return EXIT_INCONCLUSIVE; /* findings were lost: what is left is not the result of this audit */
    if (summary->fail != 0)
        return EXIT_FAILS;
    if (audit->foreign)
        return EXIT_USAGE;
    if (audit->damaged)
        return EXIT_INCONCLUSIVE;
    /* A shard in which nothing was decided says nothing about the whole: the merged report does. */
    if (audit->options->shard.of != 0 && summary_exit_status(summary) == EXIT_NOTHING_SELECTED)
        return EXIT_CONFORMS;
    return (int)summary_exit_status(summary);
}

static int finish(struct audit *audit)
{
    static const char short_of_memory[] = "out of memory: not everything was judged";
    const char *output = audit->options->output;
    struct run_summary summary;
    struct sentence error;
    char page[4200] = "", ended[UTC_TEXT_OCTETS];
    bool stopped = run_stopped();

    skipped_done(audit);
    fill_summary(audit, &summary);
    summary.ended = utc_text(ended);
    summary.stopped = stopped ? "interrupted" : NULL;
    if (out_of_memory_noted()) {
        unwritten(audit, short_of_memory);
        summary.stopped = "out of memory";
    }
    run_stop_hold();
    if (results_log_finish(audit->log, &summary, &error) != 0)
        unwritten(audit, error.text);
    if (results_log_close(audit->log, &error) != 0)
        unwritten(audit, error.text);
    audit->log = NULL;
    run_stop_release();
    if (engine_write_reports(&audit->results.place, audit->folder, audit->options->format.report, audit->catalogue,
                             &error) != 0) {
        unwritten(audit, error.text);
    } else if (output != NULL) {
        snprintf(page, sizeof(page), "%.4000s/index.html", output);
    }
    if (out_of_memory_noted())
        unwritten(audit, short_of_memory);
    if (!format_option_machine(&audit->options->format)) {
        show_hidden(audit);
        audit->terminal.unfinished = audit->damaged || audit->foreign || audit->unwritten || stopped;
        terminal_summary(&audit->terminal, &summary, page[0] != '\0' ? page : NULL);
        (void)fflush(stdout); /* what else is reported stands below; main() reports a failure */
    }
    if (stopped)
        return complain(EXIT_INCONCLUSIVE, "interrupted: not all captures were judged");
    if (is_undecided(&summary) && !audit->foreign)
        explain_nothing(audit);
    else if (exit_status(audit, &summary) == EXIT_INCONCLUSIVE && summary_has_gaps(&summary) && !audit->damaged)
        explain_gaps(audit);
    return exit_status(audit, &summary);
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

static int open_log(struct audit *audit, struct sentence *error)
{
    const struct audit_options *options = audit->options;
    char started[UTC_TEXT_OCTETS], shard[24];
    struct run_info info = {
        .tool = "warpcheck " WARPCHECK_VERSION,
        .catalogue = catalogue_digest(audit->catalogue),
        .target = options->target,
        .command = "audit",
        .started = utc_text(started),
        .selected = selection_count(&options->selection, audit->catalogue),
    };

    if (options->shard.of != 0) {
        shard_label(&options->shard, shard, sizeof(shard));
        info.shard = shard;
        info.plan = options->plan;
    }
    if (format_option_results(&options->format, audit->folder, &audit->results, error) != 0)
        return EXIT_INCONCLUSIVE;
    audit->logged = audit->results.place.name != NULL || options->format.jsonl;
    audit->log = results_log_create(audit->results.place.name != NULL ? &audit->results.place : NULL, &info,
                                    options->format.jsonl ? stdout : NULL, error);
    return audit->log != NULL ? 0 : EXIT_INCONCLUSIVE;
}

/* The captures that are to be judged must not be among what is removed. */
static int take_folder(struct audit *audit, struct sentence *error)
{
    const struct audit_options *options = audit->options;

    if (options->output == NULL)
        return 0;
    for (size_t i = 0; options->force && i < options->files.count; i++)
        if (is_below(options->files.paths[i], options->output)) {
            (void)sentence_set(error,
                               "-o %.200s: %.200s, which is to be judged, is in this folder: another was expected",
                               options->output, options->files.paths[i]);
            return EXIT_USAGE;
        }
    return output_folder_take(&audit->folder, options->output, options->force ? FOLDER_FORCE : FOLDER_NEW, false,
                              error);
}

static int set_up(struct audit *audit, struct sentence *error)
{
    const struct audit_options *options = audit->options;

    terminal_init(&audit->terminal, stdout);
    audit->terminal.all = options->all;
    audit->seen = calloc(catalogue_count(audit->catalogue) + 1, sizeof(*audit->seen));
    if (audit->seen == NULL) {
        (void)sentence_set(error, "out of memory");
        return EXIT_INCONCLUSIVE;
    }
    return open_log(audit, error);
}

static int audit_files(const struct audit_options *options, const struct catalogue *catalogue)
{
    struct audit audit = {.options = options, .catalogue = catalogue};
    bool shared = options->processes > 1 && options->files.count > 1;
    struct sentence error;
    int status;

    status = take_folder(&audit, &error);
    if (status == 0)
        status = set_up(&audit, &error);
    if (status == 0 && (run_confine(options->output, shared, 0, RUN_CONFINE_FILES, &error) != 0 ||
                        (shared ? share_files : judge_files)(&audit, &error) != 0))
        status = EXIT_INCONCLUSIVE;
    status = status == 0 ? finish(&audit) : complain(status, "%s", error.text);
    (void)results_log_close(audit.log, NULL);
    folder_leave(audit.folder);
    free(audit.seen);
    return status;
}

int cmd_audit(int argc, char **argv)
{
    struct audit_options options = {0};
    struct catalogue *catalogue = NULL;
    struct sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            usage();
            fputs(selection_usage, stdout);
            return EXIT_CONFORMS;
        }
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--reasons") == 0) {
            list_reasons();
            return fflush(stdout) == 0 ? EXIT_CONFORMS : complain(EXIT_INCONCLUSIVE, "the list could not be written");
        }
    run_stop_install("audit");
    if (catalogue_load(&catalogue, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    status = audit_options_parse(&options, catalogue, argc, argv, &error);
    if (status != 0)
        complain(status, "%s", error.text);
    else
        status = audit_files(&options, catalogue);
    capture_list_free(&options.files);
    catalogue_free(catalogue);
    return status;
}
