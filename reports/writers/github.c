/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/github.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/results/known.h"
#include "reports/file/save.h"
#include "reports/file/text.h"
#include "base/text_stream.h"

/*
 * What a command's value may not hold stands as %XX: also ':' and ',' in a property. A colon pair would begin a
 * command.
 */
static void write_escaped(FILE *out, const char *text, bool property)
{
    char *line = text_clean_line(text);

    for (const char *at = line; at != NULL && *at != '\0'; at++)
        if (*at == '%' || (property && (*at == ':' || *at == ',')))
            fprintf(out, "%%%02X", *at);
        else
            fputc(*at, out);
    free(line);
}

/* FAIL and what could not be decided are errors, what is known and a SHOULD that is not kept warnings. */
static const char *command_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_FAIL:
    case VERDICT_INCONCLUSIVE: return "error";
    case VERDICT_KNOWN:
    case VERDICT_WARN: return "warning";
    default: return "notice";
    }
}

static void write_result(FILE *out, const struct report *report, const struct report_entry *entry,
                         const struct result *result)
{
    bool audit = report->info.command != NULL && strcmp(report->info.command, "audit") == 0;
    char *sentence = report_sentence(result);

    fprintf(out, "::%s ", command_of(result->verdict));
    if (audit && result->file != NULL) {
        fputs("file=", out);
        write_escaped(out, result->file, true);
        fputc(',', out);
    }
    fputs("title=", out);
    write_escaped(out, entry->id, true);
    if (entry->role[0] != '\0') {
        fputs(" as ", out);
        write_escaped(out, entry->role, true);
    }
    fprintf(out, "::%s", verdict_name(result->verdict));
    if (result->frame != 0)
        fprintf(out, " in frame %llu", (unsigned long long)result->frame);
    if (result->verdict == VERDICT_KNOWN) {
        fputs(" (", out);
        write_escaped(out, known_finding(result), false);
        fputc(')', out);
    }
    fputs(": ", out);
    write_escaped(out, sentence, false);
    if (entry->requirement != NULL) { /* what is read of an annotation is often all that is read */
        fprintf(out, " (%s: ", requirement_level_name(entry->requirement->level));
        write_escaped(out, entry->requirement->text, false);
        fputc(')', out);
    }
    fputc('\n', out);
    free(sentence);
}

/*
 * What was expected and is not there any more, at its line of the expectations; new findings are annotations of their
 * captures.
 */
static void write_difference(FILE *out, const struct report *report, const struct difference *difference)
{
    const char *file = report->summary.expectation.file;

    if (difference->kind != DIFFERENCE_MISSING && difference->kind != DIFFERENCE_RENAMED &&
        difference->verdict != VERDICT_WARN)
        return;
    fputs("::error ", out);
    if (file != NULL) {
        fputs("file=", out);
        write_escaped(out, file, true);
        if (difference->line != 0)
            fprintf(out, ",line=%llu", (unsigned long long)difference->line);
        fputc(',', out);
    }
    fprintf(out, "title=%s ", difference_kind_name(difference->kind));
    write_escaped(out, difference->id, true);
    fputs("::", out);
    write_escaped(out, difference->file, false);
    fputs(": ", out);
    write_escaped(out, difference->text, false);
    fputc('\n', out);
}

/* What the annotations do not show, and what became of the run as a whole. */
static void write_outcome(FILE *out, const struct report *report)
{
    const struct run_summary *summary = &report->summary;
    bool good = report_exit_status(report) == EXIT_CONFORMS;
    char text[EXPECTATION_TEXT_OCTETS];

    fprintf(out, "::%s title=warpcheck::", good ? "notice" : "error");
    write_escaped(out, report->info.target, false);
    fprintf(out, " %s: %llu PASS, %llu FAIL, %llu KNOWN, %llu WARN, %llu INCONCLUSIVE", report_outcome(report),
            (unsigned long long)summary->pass, (unsigned long long)summary->fail, (unsigned long long)summary->known,
            (unsigned long long)summary->warn, (unsigned long long)summary->inconclusive);
    if (summary->expectation.used) {
        fputs("; findings: ", out);
        fputs(expectation_text(&summary->expectation, text), out);
    }
    if (!report->finished)
        fputs("; it did not come to its end", out);
    if (!account_is_empty(&summary->account) && !flow_account_whole(&summary->account))
        fputs("; a part of the input that is or may be iWARP was not judged", out);
    fputc('\n', out);
}

int github_write(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    static const enum verdict order[] = {VERDICT_FAIL, VERDICT_INCONCLUSIVE, VERDICT_KNOWN, VERDICT_WARN,
                                         VERDICT_AMBIGUOUS};
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    int rc;

    if (out == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    write_outcome(out, report);
    for (size_t i = 0; i < report->difference_count; i++)
        write_difference(out, report, &report->differences[i].difference);
    for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
        for (size_t i = 0; i < report->entry_count; i++)
            for (size_t r = 0; r < report->entries[i]->kept_count; r++)
                if (report->entries[i]->kept[r].verdict == order[k] &&
                    !(report->summary.expectation.used && report->entries[i]->kept[r].finding != NULL))
                    write_result(out, report, report->entries[i], &report->entries[i]->kept[r]);
    rc = text_stream_close(out, &text) ? save_file(to, text, size, error)
                                       : iwarp_sentence_set(error, "%s: out of memory", to->path);
    free(text);
    return rc;
}
