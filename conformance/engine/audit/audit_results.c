/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of each result and each file of an audit: it is written, counted and shown. */
#include <inttypes.h>
#include <string.h>

#include "conformance/engine/audit/audit_internal.h"
#include "conformance/engine/process/run_stop.h"
#include "reference-stack/program/complaint.h"
#include "reports/results/account.h"

enum {
    BLOCKS_MAX = 3,   /* findings of one requirement shown on the terminal; all are in the results */
    ENDS_MAX = 20,    /* ends of flows explained there; all are in the results */
    SKIPPED_MAX = 20, /* files named that are not read; all are in the results */
};

void audit_unwritten(struct audit *audit, const char *message)
{
    if (!audit->unwritten)
        complain(EXIT_INCONCLUSIVE, "%s", message);
    audit->unwritten = true;
}

static bool is_shown(const struct audit *audit, enum verdict verdict)
{
    return !format_option_machine(&audit->options->format) && (verdict != VERDICT_PASS || audit->options->all);
}

static void show(struct audit *audit, const struct result *result, const struct requirement *requirement,
                 struct seen *seen)
{
    if (!is_shown(audit, result->verdict))
        return;
    if (seen->blocks++ < BLOCKS_MAX) {
        terminal_result(&audit->terminal, result, requirement->text);
    } else {
        terminal_hide(&audit->terminal, result);
        seen->hidden++;
    }
}

/* Writes, counts and shows a result for good. */
static int give_result(void *user, const struct result *result)
{
    struct audit *audit = user;
    const struct requirement *requirement = catalogue_find(audit->catalogue, result->id);
    struct iwarp_sentence error;

    /* Making a line of JSON that nobody gets would cost more than the judging. */
    if (audit->logged) {
        results_log_hold(audit->output.log);
        if (judged_output_append(&audit->output, result, &error) != 0)
            audit_unwritten(audit, error.text);
    }
    if (summary_count_result(&audit->counted, &audit->findings, result) != 0)
        audit_unwritten(audit, "out of memory: not every finding is counted");
    show(audit, result, requirement, &audit->seen[requirement->index]);
    return 0;
}

/* True: --expect or --write-expect wants the result, and hands it over again when its capture is done. */
static bool is_held(struct audit *audit, const struct result *result)
{
    bool held = false;

    if (audit->expect != NULL && audit_expect_meet(audit->expect, result, &held) != 0)
        audit_unwritten(audit, "out of memory: not every finding was compared with what was expected");
    return held;
}

static void give_held(struct audit *audit)
{
    if (audit->expect == NULL)
        return;
    if (audit_expect_capture_end(audit->expect, give_result, audit) != 0)
        audit_unwritten(audit, "out of memory: not every finding was compared with what was expected");
    audit_write_results(audit);
}

/*
 * True: what passed is counted, and written at the end: of all captures with --findings-only, else of this one, beyond
 * some lines.
 */
static bool count_pass(struct audit *audit, enum verdict verdict, const struct requirement *requirement, unsigned role,
                       uint64_t count)
{
    struct passed *passed = &audit->passed[requirement->index];

    if (verdict != VERDICT_PASS)
        return false;
    if (!audit->options->findings_only && passed->written[role] < AUDIT_PASSED_LINES) {
        passed->written[role]++;
        return false;
    }
    passed->results[role]++;
    passed->count[role] += count;
    return true;
}

void audit_write_passed(struct audit *audit, const char *file)
{
    static const char *const roles[ROLE_SLOTS] = {[ROLE_INITIATOR] = "initiator", [ROLE_RESPONDER] = "responder"};
    char shard[40] = "";

    if (file == NULL && audit->options->shard.of != 0) /* results of another shard are not the same ones */
        (void)snprintf(shard, sizeof(shard), "shard %u/%u", audit->options->shard.index, audit->options->shard.of);
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        for (unsigned role = 0; role < ROLE_SLOTS; role++) {
            struct result result = {.id = catalogue_at(audit->catalogue, i)->id,
                                    .verdict = VERDICT_PASS,
                                    .by = "rule",
                                    .role = roles[role],
                                    .file = file,
                                    .flow = shard[0] != '\0' ? shard : NULL,
                                    .count = audit->passed[i].count[role],
                                    .results = audit->passed[i].results[role]};

            if (result.results != 0)
                (void)give_result(audit, &result);
        }
    memset(audit->passed, 0, catalogue_count(audit->catalogue) * sizeof(*audit->passed));
    audit_write_results(audit);
}

void audit_add_result(void *user, const struct result *result, const struct requirement *requirement)
{
    struct audit *audit = user;

    audit->seen[requirement->index].exercised = true;
    if (count_pass(audit, result->verdict, requirement, role_slot(result->role), result->count))
        return;
    if (!is_held(audit, result))
        (void)give_result(audit, result);
}

static void show_end(struct audit *audit, const struct end_line *line)
{
    if (format_option_machine(&audit->options->format))
        return;
    if (audit->ends++ < ENDS_MAX)
        terminal_end(&audit->terminal, line);
}

void audit_add_end(void *user, const struct end_line *line)
{
    struct audit *audit = user;
    struct iwarp_sentence error;

    if (audit->logged) {
        results_log_hold(audit->output.log);
        if (results_log_end(audit->output.log, line, &error) != 0)
            audit_unwritten(audit, error.text);
    }
    show_end(audit, line);
}

void audit_add_end_line(void *user, const char *text, size_t octets)
{
    json_t *object = json_loadb(text, octets, 0, NULL);
    struct end_line line;

    if (object != NULL && end_line_from_json(object, &line) == 0)
        audit_add_end(user, &line);
    json_decref(object);
}

/* The flow's results leave in one write. */
void audit_write_results(void *user)
{
    struct audit *audit = user;
    struct iwarp_sentence error;

    run_stop_hold();
    if (audit->logged && results_log_release(audit->output.log, &error) != 0)
        audit_unwritten(audit, error.text);
    run_stop_release();
}

static void log_capture(struct audit *audit, struct capture_info *info, const struct flow_account *account)
{
    struct iwarp_sentence why;

    if (!audit->logged)
        return;
    if (account != NULL && !account_is_empty(account))
        info->account = account_to_json(account);
    if (results_log_capture(audit->output.log, info, &why) != 0)
        audit_unwritten(audit, why.text);
    json_decref(info->account);
}

void audit_clear_progress(struct audit *audit)
{
    terminal_clear(&audit->terminal);
    if (audit->terminal.live)
        (void)fflush(stdout); /* before anything on standard error */
}

/* A ring in words, what is missing in it, and its files. NULL: it is none, or memory is short. */
static json_t *show_ring(struct audit *audit, struct capture_ring *ring)
{
    json_t *files = ring != NULL ? json_array() : NULL;
    struct iwarp_sentence text, gap;

    if (files == NULL || capture_ring_order(ring, &text) != 0) {
        json_decref(files);
        return NULL;
    }
    for (size_t i = 0; i < ring->count; i++)
        if (json_array_append_new(files, result_text(ring->files[i])) != 0)
            audit_unwritten(audit, "out of memory: the files of a ring are not named");
    capture_ring_describe(ring, &text, &gap);
    if (!audit->options->quiet && !format_option_machine(&audit->options->format))
        print_plain(stdout, "%s", text.text);
    if (gap.text[0] != '\0')
        (void)complain(0, "%s", gap.text);
    return files;
}

void audit_file_done(struct audit *audit, size_t index, enum audit_file status, const struct flow_account *account,
                     const struct iwarp_sentence *error)
{
    static const char *const names[] = {
        [AUDIT_FILE_WHOLE] = "whole", [AUDIT_FILE_DAMAGED] = "damaged", [AUDIT_FILE_FOREIGN] = "foreign"};
    struct capture_info info = {.file = audit->options->files.paths[index],
                                .status = names[status],
                                .message = status != AUDIT_FILE_WHOLE ? error->text : NULL};

    audit_clear_progress(audit);
    give_held(audit);
    if (!audit->options->findings_only)
        audit_write_passed(audit, info.file);
    info.ring = show_ring(audit, capture_list_ring(&audit->options->files, index));
    run_stop_hold();
    log_capture(audit, &info, account);
    run_stop_release();
    json_decref(info.ring);
    audit->damaged |= status == AUDIT_FILE_DAMAGED;
    audit->foreign |= status == AUDIT_FILE_FOREIGN;
    if (status != AUDIT_FILE_WHOLE)
        complain(0, "%s", error->text);
}

void audit_skipped_done(struct audit *audit)
{
    const struct capture_list *files = &audit->options->files;

    flow_account_add(&audit->totals.account, &files->account);
    for (size_t i = 0; i < files->skipped_count; i++) {
        const struct capture_skipped *skipped = &files->skipped[i];
        const struct flow_account_row *row = flow_account_row(skipped->row);
        struct iwarp_sentence why;
        struct capture_info info = {.file = skipped->path, .status = "skipped", .reason = row->name};

        (void)iwarp_sentence_set(&why, "%.300s: %s", skipped->path, row->text);
        info.message = why.text;
        audit->totals.account.row[skipped->row].items++;
        log_capture(audit, &info, NULL);
        if (i < SKIPPED_MAX)
            complain(0, "%s", why.text);
    }
    if (files->skipped_count > SKIPPED_MAX)
        (void)complain(0, "%zu more files are not read; results.jsonl names them", files->skipped_count - SKIPPED_MAX);
}

/*
 * A finding that is a line of JSON by now, and is to be shown or compared. False: its line is to be written as it is.
 */
static bool write_line(struct audit *audit, const struct requirement *requirement, const char *line, size_t octets)
{
    json_t *object = json_loadb(line, octets, 0, NULL);
    struct result result;
    bool held = false;

    if (object != NULL && result_from_json(object, &result) == 0) {
        held = is_held(audit, &result);
        if (!held)
            show(audit, &result, requirement, &audit->seen[requirement->index]);
    }
    json_decref(object);
    return held;
}

void audit_read_line(void *user, enum verdict verdict, const struct requirement *requirement, unsigned role,
                     uint64_t count, const char *line, size_t octets)
{
    struct audit *audit = user;
    struct iwarp_sentence error;

    audit->seen[requirement->index].exercised = true;
    if (count_pass(audit, verdict, requirement, role, count))
        return;
    if (octets != 0 && (is_shown(audit, verdict) || (audit->expect != NULL && verdict != VERDICT_PASS)) &&
        write_line(audit, requirement, line, octets))
        return;
    summary_count(&audit->counted, verdict);
    if (audit->logged) {
        run_stop_hold();
        results_log_hold(audit->output.log);
        if (results_log_append_line(audit->output.log, verdict, line, octets, &error) != 0)
            audit_unwritten(audit, error.text);
        run_stop_release();
    }
}
