/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/markdown.h"

#include "reports/results/account.h"
#include "reports/results/cause.h"
#include "reports/file/save.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 200

void markdown_text(FILE *out, const char *text)
{
    char *line = text_clean_line(text);
    for (const char *p = line; p && *p; p++) {
        if (*p == '<')
            fputs("&lt;", out);
        else if (*p == '>')
            fputs("&gt;", out);
        else if (*p == '&')
            fputs("&amp;", out);
        else if (strchr("\\`*_{}[]()#+!|~@", *p))
            fprintf(out, "&#%d;", *p); /* also keeps "@name" and links from coming alive */
        else
            fputc(*p, out);
    }
    free(line);
}

static void write_finding(FILE *out, const struct report_entry *entry, enum verdict verdict)
{
    const struct result *result = report_first(entry, verdict);
    char *message = result ? report_sentence(result) : NULL;
    fprintf(out, "| %s | ", verdict_name(verdict));
    markdown_text(out, entry->id);
    fputs(" | ", out);
    markdown_text(out, entry->role);
    fprintf(out, " | %llu | ", (unsigned long long)entry->counts[verdict]);
    if (verdict == VERDICT_KNOWN && result) {
        fputs("known (", out);
        markdown_text(out, known_finding(result));
        fputs("): ", out);
    }
    markdown_text(out, message);
    fputs(" |\n", out);
    free(message);
}

static void write_findings(FILE *out, const struct report *report)
{
    static const enum verdict order[] = {VERDICT_FAIL, VERDICT_KNOWN, VERDICT_WARN, VERDICT_INCONCLUSIVE,
                                         VERDICT_AMBIGUOUS};
    size_t rows = 0;
    for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
        for (size_t i = 0; i < report->entry_count; i++) {
            if (!report->entries[i]->counts[order[k]])
                continue;
            if (rows++ == 0)
                fputs("\n| verdict | requirement | role | results | why |\n|---|---|---|---|---|\n", out);
            if (rows <= ROWS_MAX)
                write_finding(out, report->entries[i], order[k]);
        }
    }
    if (rows > ROWS_MAX)
        fprintf(out, "\n%zu more findings in results.jsonl.\n", rows - ROWS_MAX);
}

/* "11 expected, 1 new", and what differs. */
static void write_expectation(FILE *out, const struct report *report)
{
    char counts[EXPECTATION_TEXT_OCTETS];

    fprintf(out, "\nFindings: %s.\n", expectation_text(&report->summary.expectation, counts));
    if (report->difference_count)
        fputs("\n| difference | capture | requirement | verdict | what | found |\n|---|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < report->difference_count && i < ROWS_MAX; i++) {
        const struct difference *difference = &report->differences[i].difference;

        fprintf(out, "| %s | ", difference_kind_name(difference->kind));
        markdown_text(out, difference->file);
        if (difference->frame)
            fprintf(out, " frame %llu", (unsigned long long)difference->frame);
        fputs(" | ", out);
        markdown_text(out, difference->id);
        fprintf(out, " | %s | ", verdict_name(difference->verdict));
        markdown_text(out, difference->text);
        fputs(" | ", out);
        markdown_text(out, difference->actual ? difference->actual : "");
        fputs(" |\n", out);
    }
    if (report->difference_count > ROWS_MAX)
        fprintf(out, "\n%zu more differences in results.jsonl.\n", report->difference_count - ROWS_MAX);
}

/* What more than one result has for a cause. */
static void write_causes(FILE *out, const struct report *report)
{
    struct cause_set causes = {0};
    const struct cause *cause;
    struct iwarp_sentence silence;

    (void)cause_add_report(&causes, report); /* without memory the program ends with that status */
    cause = cause_first(&causes);
    if (cause)
        fputs("\n| one cause | results | hint | requirements |\n|---|---|---|---|\n", out);
    for (; cause; cause = cause_next(cause)) {
        fputs("| ", out);
        markdown_text(out, cause_name(cause));
        fprintf(out, " | %zu | ", cause_results(cause));
        markdown_text(out, cause_hint(cause));
        fputs(" | ", out);
        markdown_text(out, cause_ids(cause));
        fputs(" |\n", out);
    }
    if (cause_perhaps_one(&causes, &silence))
        fprintf(out, "\nPerhaps %s.\n", silence.text);
    cause_set_free(&causes);
}

/* What was not judged, and what is not in the input; one line for the rest. */
static void write_account(FILE *out, const struct flow_account *account)
{
    char text[ACCOUNT_TEXT];
    static const enum flow_account_kind kinds[] = {FLOW_UNJUDGED, FLOW_MISSING};
    if (account_is_empty(account))
        return;
    fprintf(out, "\nJudged: %s.", account_kind_text(account, FLOW_JUDGED, text));
    if (account_next(account, FLOW_FOREIGN, FLOW_ROWS) != FLOW_ROWS)
        fprintf(out, " Foreign: %s.", account_kind_text(account, FLOW_FOREIGN, text));
    if (flow_account_whole(account)) {
        fputs(" All iWARP of the input was judged.\n", out);
        return;
    }
    fputs("\n\n| not judged | how much | why |\n|---|---|---|\n", out);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (enum flow_row row = FLOW_ROWS; (row = account_next(account, kinds[k], row)) != FLOW_ROWS;) {
            fprintf(out, "| %s | %s | ", flow_account_row(row)->name,
                    account_count_text(row, &account->row[row], text));
            markdown_text(out, flow_account_row(row)->text);
            fputs(" |\n", out);
        }
    }
}

/* Which device it was, as its profile says, and the whole command. False: out of memory. */
static bool write_identity(FILE *out, const struct run_info *info)
{
    char *device = run_info_device(info);

    if (device != NULL && *device != '\0') {
        fputs("\nDevice: ", out);
        markdown_text(out, device);
        fputs("\n", out);
    }
    if (info->command_line != NULL) {
        fputs("\nCommand: ", out);
        markdown_text(out, info->command_line);
        fputs("\n", out);
    }
    free(device);
    return device != NULL;
}

int markdown_write(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    char *text = NULL, known[KNOWN_TEXT_OCTETS];
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    if (!out)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    fputs("## warpcheck: ", out);
    markdown_text(out, report->info.target);
    fprintf(out, " %s\n\n", report_outcome(report));
    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        fprintf(out, "%s%llu %s", v ? ", " : "", (unsigned long long)summary_of(&report->summary, (enum verdict)v),
                verdict_name((enum verdict)v));
    fprintf(out, "%s\n", report->finished ? "" : "; the run did not come to its end");
    if (report->summary.expectation.used)
        write_expectation(out, report);
    else if (report->summary.known)
        fprintf(out, "\nKnown deviations: %s. Each is a breach.\n", known_counts(&report->summary, known));
    if (report->unread)
        fprintf(out, "\n%zu of %zu captures could not be read to their end.\n", report->unread, report->capture_count);
    bool identified = write_identity(out, &report->info);
    write_account(out, &report->summary.account);
    write_causes(out, report);
    write_findings(out, report);
    int rc = text_stream_close(out, &text) && identified ? save_file(to, text, size, error)
                                                         : iwarp_sentence_set(error, "%s: out of memory", to->path);
    free(text);
    return rc;
}
