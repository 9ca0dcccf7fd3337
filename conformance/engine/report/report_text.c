/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_text.h"

#include <stdio.h>

#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "reports/results/known.h"
#include "reports/results/results_log.h"
#include "reports/writers/terminal.h"
#include "base/exit_status.h"

/* The findings as text, as they come; the summary of a whole file or of what there is. */
struct text_report {
    struct terminal terminal;
    const struct catalogue *catalogue;
    struct run_summary counted;
    struct finding_set findings;
    bool summed; /* there is a summary line */
};

static int text_result(void *user, const struct result *result, json_t *object)
{
    struct text_report *text = user;
    const struct requirement *requirement = catalogue_find(text->catalogue, result->id);

    (void)object;
    if (summary_count_result(&text->counted, &text->findings, result) != 0)
        return -1;
    terminal_result(&text->terminal, result, requirement ? requirement->text : NULL);
    return 0;
}

static int text_summary(void *user, const struct run_summary *summary, json_t *object)
{
    struct text_report *text = user;
    struct run_summary shown = *summary;

    (void)object;

    summary_copy_verdicts(&shown, &text->counted); /* the results are the truth */
    text->terminal.unfinished = summary->stopped != NULL;
    terminal_summary(&text->terminal, &shown, NULL);
    if (summary->stopped)
        (void)complain(0, "the run did not come to its end: %.300s", summary->stopped);
    text->summed = true;
    return 0;
}

static void text_note(void *user, const char *note)
{
    (void)user;
    (void)complain(0, "%s", note);
}

int report_text(const char *results, const struct catalogue *catalogue)
{
    struct text_report text = {.catalogue = catalogue};
    struct results_reader reader = {
        .on_result = text_result, .on_summary = text_summary, .on_note = text_note, .user = &text};
    struct iwarp_sentence error = {"out of memory"};
    int rc;

    terminal_init(&text.terminal, stdout);
    text.terminal.ladders = true;
    text.terminal.unfinished = true; /* until there is a summary line */
    rc = results_read(results, &reader, &error);
    finding_set_free(&text.findings);
    if (rc == 0 && !text.summed) {
        terminal_summary(&text.terminal, &text.counted, NULL);
        (void)complain(0, "%s: no summary line, the run did not come to its end", results);
    }
    terminal_free(&text.terminal);
    return rc == 0 ? EXIT_DONE : complain(EXIT_USAGE, "%s", error.text);
}
