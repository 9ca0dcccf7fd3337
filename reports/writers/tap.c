/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/tap.h"

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/file/save.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The document, and whether memory sufficed for it. */
struct tap {
    FILE *out;
    bool failed;
    size_t number; /* of the last test point */
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/*
 * One line of text after what the line has already. '#' would begin a directive and '\' an escape: both are escaped, as
 * TAP 14 has it. Returns the last character.
 */
static char write_text(struct tap *tap, const char *text)
{
    char *line = text_clean_line(text), last = '\0';
    tap->failed |= line == NULL;
    for (const char *p = line; p && *p; last = *p++) {
        if (*p == '#' || *p == '\\')
            fputc('\\', tap->out);
        fputc(*p, tap->out);
    }
    free(line);
    return last;
}

/* Ends a test point's line. A '{' at its end would open a subtest for some consumers. */
static void end_line(struct tap *tap, char last)
{
    fputs(last == '{' ? " \n" : "\n", tap->out);
}

static void write_comment(struct tap *tap, const char *name, const char *text)
{
    char *line = text_clean_line(text);
    tap->failed |= line == NULL;
    fprintf(tap->out, "# %s: %s\n", name, line ? line : "");
    free(line);
}

/* Which device it was, as its profile says, and the whole command. */
static void write_identity(struct tap *tap, const struct run_info *info)
{
    char *device = run_info_device(info);

    tap->failed |= device == NULL;
    if (device != NULL && *device != '\0')
        write_comment(tap, "device", device);
    if (info->command_line != NULL)
        write_comment(tap, "command", info->command_line);
    free(device);
}

static char write_point(struct tap *tap, bool ok, const char *id, const char *role, const char *description)
{
    char last;
    fprintf(tap->out, "%sok %zu - ", ok ? "" : "not ", ++tap->number);
    last = write_text(tap, id);
    if (*role) {
        fputs(" (", tap->out);
        write_text(tap, role);
        fputc(')', tap->out);
        last = ')';
    }
    if (*description) {
        fputs(": ", tap->out);
        last = write_text(tap, description);
    }
    return last;
}

/* " # SKIP reason" */
static char write_directive(struct tap *tap, const char *directive, const char *reason)
{
    fprintf(tap->out, " # %s ", directive);
    return write_text(tap, reason && *reason ? reason : "no reason was given");
}

/* ---- diagnostics ------------------------------------------------------------------------------------------------- */

/* `name: "text"`: a string of JSON is one of YAML as well, and on one line. */
static void write_member(struct tap *tap, const char *name, const char *text)
{
    char *clean = text && *text ? text_clean(text) : NULL;
    json_t *string = clean ? json_string(clean) : NULL;
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        fprintf(tap->out, "  %s: %s\n", name, quoted);
    else
        tap->failed |= text && *text;
    free(quoted);
    json_decref(string);
    free(clean);
}

static void write_number(struct tap *tap, const char *name, uint64_t number)
{
    if (number)
        fprintf(tap->out, "  %s: %llu\n", name, (unsigned long long)number);
}

/* Where it was decided: the line of the check, as `at` is used by other producers, or the rule's function. */
static void write_place(struct tap *tap, const struct result *result)
{
    const char *colon = result->script ? strrchr(result->script, ':') : NULL;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) {
        write_member(tap, result_is_by_rule(result) ? "rule" : "script", result->script);
        return;
    }
    char *file = strndup(result->script, (size_t)(colon - result->script));
    fputs("  at:\n  ", tap->out);
    write_member(tap, "file", file && *file ? file : "?");
    fprintf(tap->out, "    line: %.18s\n", colon + 1);
    tap->failed |= file == NULL;
    free(file);
}

static void write_requirement(struct tap *tap, const struct requirement *requirement)
{
    write_member(tap, "level", requirement_level_name(requirement->level));
    write_member(tap, "source", requirement->source);
    write_member(tap, "section", requirement->section);
    write_member(tap, "text", requirement->text);
}

static void write_counts(struct tap *tap, const struct report_entry *entry)
{
    fputs("  results:\n", tap->out);
    for (unsigned v = 0; v < VERDICT_COUNT; v++) {
        if (entry->counts[v])
            fprintf(tap->out, "    %s: %llu\n", verdict_name((enum verdict)v), (unsigned long long)entry->counts[v]);
    }
}

/* Everything that is known of the entry's worst result. */
static void write_block(struct tap *tap, const struct report_entry *entry, const struct result *result,
                        const char *severity)
{
    char *message = report_sentence(result);
    tap->failed |= message == NULL;
    fputs("  ---\n", tap->out);
    write_member(tap, "message", message);
    write_member(tap, "severity", severity);
    write_member(tap, "verdict", verdict_name(result->verdict));
    write_member(tap, "requirement", entry->id);
    if (entry->requirement)
        write_requirement(tap, entry->requirement);
    write_member(tap, "expected", result->expected);
    write_member(tap, "actual", result->actual);
    write_member(tap, "reading", result->reading);
    write_member(tap, "cause", result->cause);
    write_member(tap, "hint", result->hint);
    if (result->message && message && strcmp(result->message, message) != 0)
        write_member(tap, "why", result->message);
    if (result->verdict == VERDICT_KNOWN)
        write_member(tap, "finding", known_finding(result));
    write_member(tap, "note", result->deviation);
    write_member(tap, "review_by", result->review_by);
    write_member(tap, "flow", result->flow);
    write_member(tap, "file", result->file);
    write_number(tap, "frame", result->frame);
    write_member(tap, "evidence", result->evidence);
    write_place(tap, result);
    write_member(tap, "replay", result->replay);
    if (entry->duration_ns)
        fprintf(tap->out, "  duration_ms: %.3f\n", (double)entry->duration_ns / 1e6);
    write_counts(tap, entry);
    fputs("  ...\n", tap->out);
    free(message);
}

/* ---- test points ------------------------------------------------------------------------------------------------- */

static void write_entry(struct tap *tap, const struct report_entry *entry)
{
    const struct result *result = report_first(entry, entry->worst);
    bool known = entry->worst == VERDICT_KNOWN;
    bool ok = entry->worst != VERDICT_FAIL && entry->worst != VERDICT_INCONCLUSIVE && !known;
    char last = write_point(tap, ok, entry->id, entry->role,
                            result->purpose      ? result->purpose
                            : entry->requirement ? entry->requirement->text
                                                 : "");
    if (known)
        last = write_directive(tap, "TODO", known_finding(result));
    else if (entry->worst == VERDICT_SKIP)
        last = write_directive(tap, "SKIP", result->message ? result->message : result->pics);
    end_line(tap, last);
    if (entry->worst != VERDICT_PASS && entry->worst != VERDICT_SKIP)
        write_block(tap, entry, result, known ? "todo" : ok ? "comment" : "fail");
}

/* The end of what a device's console said: comments that nobody takes for anything else. */
static void write_console(struct tap *tap, const char *console)
{
    char *lines = strdup(console), *rest = NULL;
    tap->failed |= lines == NULL;
    for (char *line = lines ? strtok_r(lines, "\r\n", &rest) : NULL; line; line = strtok_r(NULL, "\r\n", &rest))
        write_comment(tap, "console", line);
    free(lines);
}

/* A capture that could not be read to its end: what it has after it was not judged. Or a file that was not read. */
static void write_unread(struct tap *tap, const struct report *report, const struct report_capture *capture)
{
    bool skipped = report_is_skipped(capture), accepted = skipped && report->summary.allow_gaps;
    char last = write_point(tap, accepted, capture->info.file, "", skipped ? "is read" : "is read to its end");
    if (accepted)
        last = write_directive(tap, "SKIP", report_unread(capture));
    end_line(tap, last);
    if (accepted)
        return;
    fputs("  ---\n", tap->out);
    write_member(tap, "message", report_unread(capture));
    write_member(tap, "severity", "fail");
    write_member(tap, "verdict", verdict_name(VERDICT_INCONCLUSIVE));
    write_member(tap, "file", capture->info.file);
    fputs("  ...\n", tap->out);
}

/* One test point: whether all iWARP of the input was judged. What was accepted is no failure, and is shown. */
static void write_account(struct tap *tap, const struct report *report)
{
    static const enum flow_account_kind kinds[] = {FLOW_UNJUDGED, FLOW_MISSING};
    const struct flow_account *account = &report->summary.account;
    bool whole = flow_account_whole(account), accepted = report->summary.allow_gaps;
    char last = write_point(tap, whole || accepted, "account", "", "all iWARP of the input is judged");
    if (!whole && accepted)
        last = write_directive(tap, "SKIP", "what was not judged was accepted (--allow-gaps)");
    end_line(tap, last);
    if (whole)
        return;
    fprintf(tap->out, "  ---\n");
    write_member(tap, "severity", accepted ? "skip" : "fail");
    write_member(tap, "verdict", verdict_name(VERDICT_INCONCLUSIVE));
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (enum flow_row row = FLOW_ROWS; (row = account_next(account, kinds[k], row)) != FLOW_ROWS;) {
            char text[2 * ACCOUNT_TEXT + 4], count[ACCOUNT_TEXT];
            snprintf(text, sizeof(text), "%s: %s", account_count_text(row, &account->row[row], count),
                     flow_account_row(row)->text);
            write_member(tap, flow_account_row(row)->name, text);
        }
    }
    fputs("  ...\n", tap->out);
}

static void write_document(struct tap *tap, const struct report *report, unsigned version)
{
    const char *stopped = report_stopped(report);
    bool nothing = !stopped && report_exit_status(report) == EXIT_NOTHING_SELECTED;
    bool accounted = !account_is_empty(&report->summary.account);
    fprintf(tap->out, "TAP version %u\n1..%zu\n", version,
            report->entry_count + report->unread + report->skipped + accounted + (stopped || nothing));
    write_comment(tap, "tool", report->info.tool);
    write_comment(tap, "target", report->info.target);
    if (report->info.started)
        write_comment(tap, "started", report->info.started);
    write_identity(tap, &report->info);
    write_comment(tap, "outcome", report_outcome(report));
    if (*report->note)
        write_comment(tap, "note", report->note);
    for (size_t i = 0; i < report->entry_count; i++)
        write_entry(tap, report->entries[i]);
    for (size_t i = 0; i < report->capture_count; i++) {
        if (!report->captures[i].whole)
            write_unread(tap, report, &report->captures[i]);
    }
    if (accounted)
        write_account(tap, report);
    if (report->console)
        write_console(tap, report->console);
    if (nothing)
        end_line(tap, write_point(tap, false, "something was decided", "", "nothing was selected, or all was skipped"));
    if (!stopped)
        return;
    fputs("Bail out! The run did not come to its end: ", tap->out);
    write_text(tap, stopped);
    fprintf(tap->out, "%s\n", report_goes_on(report));
}

static int write_version(const struct report *report, unsigned version, const struct place *to,
                         struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t size = 0;
    struct tap tap = {.out = text_stream_open(&text, &size)};
    if (!tap.out)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    write_document(&tap, report, version);
    int rc = text_stream_close(tap.out, &text) && !tap.failed
                 ? save_file(to, text, size, error)
                 : iwarp_sentence_set(error, "%s: out of memory", to->path);
    free(text);
    return rc;
}

int tap_write(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    return write_version(report, 14, to, error);
}

int tap_write_13(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    return write_version(report, 13, to, error);
}
