/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck audit: captures -> decoder -> rules -> results. */
#include "conformance/engine/cmd_audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit_judge.h"
#include "conformance/engine/audit_options.h"
#include "conformance/engine/audit_workers.h"
#include "conformance/engine/cmd_report.h"
#include "conformance/engine/output_folder.h"
#include "conformance/engine/run_confine.h"
#include "conformance/engine/run_stop.h"
#include "conformance/engine/utc_text.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reference-stack/complaint.h"
#include "reports/result.h"
#include "reports/results_log.h"
#include "reports/terminal.h"

enum { BLOCKS_MAX = 3 }; /* findings of one requirement shown on the terminal; all are in the results */

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
    char results[4200];        /* file that the log is written to, "": none */
    bool unwritten;            /* results were lost: disk full */
    bool foreign;              /* some file is no capture that can be read */
    bool damaged;              /* some file breaks off */
};

static void usage(void)
{
    char files[200], names[200];

    printf(
        "usage: warpcheck audit [SELECT...] [OPTION...] FILE|DIR...\n"
        "  Judges captures (pcap, pcapng; folders with all below them) by every rule that their traffic exercises.\n"
        "  -j N               judge up to N files at once\n"
        "  --shard I/N        judge part I of N of the files, the same part everywhere; report --merge makes one of\n"
        "                     them\n"
        "  -o DIR             write results.jsonl there, and the reports: %s\n"
        "  --format F         %s: what standard output gets\n"
        "  --all              show what passed, too\n"
        "  --help             this text\n",
        report_format_files(files, sizeof(files)), format_option_names(names, sizeof(names)));
}

static int complain(int status, const char *message)
{
    return complaint(status, "warpcheck audit", "%s", message);
}

/* Says so once: what was written before stays good. */
static void unwritten(struct audit *audit, const char *message)
{
    if (!audit->unwritten)
        complain(0, message);
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

static void file_done(struct audit *audit, const char *path, enum audit_file status, const struct sentence *error)
{
    static const char *const names[] = {
        [AUDIT_FILE_WHOLE] = "whole", [AUDIT_FILE_DAMAGED] = "damaged", [AUDIT_FILE_FOREIGN] = "foreign"};
    struct capture_info info = {path, names[status], status != AUDIT_FILE_WHOLE ? error->text : NULL};
    struct sentence why;

    run_stop_hold();
    if (audit->logged && results_log_capture(audit->log, &info, &why) != 0)
        unwritten(audit, why.text);
    run_stop_release();
    audit->damaged |= status == AUDIT_FILE_DAMAGED;
    audit->foreign |= status == AUDIT_FILE_FOREIGN;
    if (status != AUDIT_FILE_WHOLE)
        complain(0, error->text);
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

        file_done(audit, options->files.paths[i], status, error);
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
    file_done(audit, path, status, error);
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
    summary_add_messages(summary, "MPA start-up frames", totals->start_frames);
    for (unsigned i = 0; i < 16; i++)
        if (totals->messages[i] != 0)
            summary_add_messages(summary, rdmap_opcode_rows[i].name != NULL ? rdmap_opcode_rows[i].name : "unassigned",
                                 totals->messages[i]);
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (selection_matches(&audit->options->selection, catalogue_at(audit->catalogue, i)))
            summary->not_exercised += !audit->seen[i].exercised;
}

/* Why nothing was found, as far as the totals tell. */
static void explain_nothing(const struct audit *audit)
{
    const struct flow_totals *totals = &audit->totals;

    if (audit->options->files.count == 0) {
        (void)complaint(0, "warpcheck audit", "shard %u/%u: none of the captures is its own",
                        audit->options->shard.index, audit->options->shard.of);
        return;
    }
    if (totals->flows != 0) {
        complain(0, "no rule that is selected was exercised by this traffic");
        return;
    }
    (void)complaint(0, "warpcheck audit",
                    "no MPA traffic in %" PRIu64 " frames (%" PRIu64 " TCP segments in %" PRIu64
                    " connections, %" PRIu64 " IP fragments, %" PRIu64 " frames of other protocols, %" PRIu64
                    " malformed)",
                    totals->frames, totals->tcp_segments, totals->connections, totals->fragments, totals->not_tcp,
                    totals->malformed);
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
    if (summary->fail != 0)
        return EXIT_FAILS;
    if (audit->foreign)
        return EXIT_USAGE;
    if (audit->damaged || audit->unwritten)
        return EXIT_INCONCLUSIVE;
    /* A shard in which nothing was decided says nothing about the whole: the merged report does. */
    if (audit->options->shard.of != 0 && summary_exit_status(summary) == EXIT_NOTHING_SELECTED)
        return EXIT_CONFORMS;
    return (int)summary_exit_status(summary);
}

static int finish(struct audit *audit)
{
    const char *output = audit->options->output;
    struct run_summary summary;
    struct sentence error;
    char page[4200] = "", ended[UTC_TEXT_OCTETS];
    bool stopped = run_stopped();

    fill_summary(audit, &summary);
    summary.ended = utc_text(ended);
    summary.stopped = stopped ? "interrupted" : NULL;
    run_stop_hold();
    if (results_log_finish(audit->log, &summary, &error) != 0)
        unwritten(audit, error.text);
    if (results_log_close(audit->log, &error) != 0)
        unwritten(audit, error.text);
    audit->log = NULL;
    run_stop_release();
    if (engine_write_reports(audit->results, output, audit->options->format.report, audit->catalogue, &error) != 0) {
        unwritten(audit, error.text);
    } else if (output != NULL) {
        snprintf(page, sizeof(page), "%.4000s/index.html", output);
    }
    if (!format_option_machine(&audit->options->format)) {
        show_hidden(audit);
        audit->terminal.unfinished = audit->damaged || audit->foreign || stopped;
        terminal_summary(&audit->terminal, &summary, page[0] != '\0' ? page : NULL);
        if (fflush(stdout) != 0 || ferror(stdout))
            unwritten(audit, "standard output could not be written");
    }
    if (stopped)
        return complain(EXIT_INCONCLUSIVE, "interrupted: not all captures were judged");
    if (summary_exit_status(&summary) == EXIT_NOTHING_SELECTED && !audit->foreign)
        explain_nothing(audit);
    return exit_status(audit, &summary);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

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
    if (options->output != NULL && output_folder_make(options->output, error) != 0)
        return -1;
    if (format_option_results(&options->format, options->output, audit->results, sizeof(audit->results), error) != 0)
        return -1;
    audit->logged = audit->results[0] != '\0' || options->format.jsonl;
    audit->log = results_log_create(audit->results[0] != '\0' ? audit->results : NULL, &info,
                                    options->format.jsonl ? stdout : NULL, error);
    return audit->log != NULL ? 0 : -1;
}

static int set_up(struct audit *audit, struct sentence *error)
{
    const struct audit_options *options = audit->options;

    terminal_init(&audit->terminal, stdout);
    audit->terminal.all = options->all;
    audit->seen = calloc(catalogue_count(audit->catalogue) + 1, sizeof(*audit->seen));
    if (audit->seen == NULL)
        return sentence_set(error, "out of memory");
    return open_log(audit, error);
}

static int audit_files(const struct audit_options *options, const struct catalogue *catalogue)
{
    struct audit audit = {.options = options, .catalogue = catalogue};
    bool shared = options->processes > 1 && options->files.count > 1;
    struct sentence error;
    int status;

    if (set_up(&audit, &error) != 0 || run_confine(options->output, shared, 0, RUN_CONFINE_FILES, &error) != 0 ||
        (shared ? share_files : judge_files)(&audit, &error) != 0)
        status = complain(EXIT_INCONCLUSIVE, error.text);
    else
        status = finish(&audit);
    (void)results_log_close(audit.log, NULL);
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
    run_stop_install("audit");
    if (catalogue_load(&catalogue, &error) != 0)
        return complain(EXIT_USAGE, error.text);
    status = audit_options_parse(&options, catalogue, argc, argv, &error);
    if (status != 0)
        complain(status, error.text);
    else
        status = audit_files(&options, catalogue);
    capture_list_free(&options.files);
    catalogue_free(catalogue);
    return status;
}
