/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* realpath(3) into a buffer of its own */
#include "conformance/engine/report/report_merge.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/report/cmd_report.h"
#include "conformance/engine/option/format_option.h"
#include "conformance/engine/option/output_folder.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "reports/merge/merge.h"
#include "reports/writers/terminal.h"

static bool is_same_folder(const char *a, const char *b)
{
    char *left = realpath(a, NULL), *right = realpath(b, NULL);
    bool same = left != NULL && right != NULL && strcmp(left, right) == 0;

    free(left);
    free(right);
    return same;
}

static int add(struct merge *merge, const char *input, const char *output, struct iwarp_sentence *error)
{
    char *results = NULL, *dir = NULL;
    int rc;

    if (results_paths(input, &results, &dir) != 0)
        rc = iwarp_sentence_set(error, "out of memory");
    else if (is_same_folder(dir, output))
        rc = iwarp_sentence_set(error, "-o %.200s is one of the folders to be merged: another was expected", output);
    else
        rc = merge_add(merge, results, dir, error);
    free(results);
    free(dir);
    return rc;
}

static void on_contradiction(void *user, const struct result *result)
{
    struct terminal *terminal = user;

    print_plain(terminal->out, "contradicted: %s %s: %s, the worst, counts; another part says %s", result->id,
                result->role != NULL ? result->role : "", verdict_name(result->verdict), result->otherwise);
}

static int finish(struct terminal *terminal, const struct merge_outcome *outcome, const char *output, bool accept_known)
{
    char page[4200];

    terminal_clear(terminal);
    (void)snprintf(page, sizeof(page), "%.4100s/index.html", output);
    terminal->unfinished = outcome->incomplete[0] != '\0';
    terminal_summary(terminal, &outcome->summary, page);
    if (outcome->evidence_missing != 0 && outcome->incomplete[0] == '\0')
        (void)complain(0, "%zu files of evidence that the results name do not exist", outcome->evidence_missing);
    if (outcome->incomplete[0] != '\0')
        return complain((int)merge_exit_status(outcome), "%s", outcome->incomplete);
    if (merge_exit_status(outcome) == EXIT_NOTHING_SELECTED)
        return complain(EXIT_NOTHING_SELECTED, "nothing was decided in any of them");
    return (int)exit_status_accepting(merge_exit_status(outcome), accept_known);
}

static int write_merged(struct merge *merge, const struct catalogue *catalogue, struct folder *folder,
                        struct merge_outcome *outcome, struct iwarp_sentence *error)
{
    struct format_option option = {0};
    struct format_results results;

    if (merge_write(merge, folder, outcome, error) != 0 ||
        format_option_results(&option, folder, &results, error) != 0 ||
        engine_write_reports(&results.place, folder, NULL, catalogue, error) != 0)
        return -1;
    return 0;
}

static int merge_all(struct merge *merge, const struct catalogue *catalogue, char *const *inputs, size_t count,
                     const struct report_merge_output *output)
{
    struct terminal terminal;
    struct merge_outcome outcome = {.contradiction = on_contradiction, .user = &terminal};
    struct folder *folder;
    struct iwarp_sentence error = {{0}};
    int status;

    terminal_init(&terminal, stdout);
    for (size_t i = 0; i < count; i++)
        if (add(merge, inputs[i], output->path, &error) != 0)
            return complain(EXIT_USAGE, "%s", error.text);
    status = output_folder_claim(&folder, output->path, output->force ? FOLDER_FORCE : FOLDER_NEW, false, &error);
    if (status != 0)
        return complain(status, "%s", error.text);
    status = write_merged(merge, catalogue, folder, &outcome, &error);
    folder_leave(folder);
    if (status != 0)
        return complain(EXIT_INCONCLUSIVE, "%s", error.text);
    return finish(&terminal, &outcome, output->path, output->accept_known);
}

int report_merge(char *const *inputs, size_t count, const struct report_merge_output *output)
{
    struct catalogue *catalogue = NULL;
    struct merge *merge = NULL;
    struct iwarp_sentence error = {{0}};
    int status;

    if (catalogue_load(&catalogue, &error) != 0)
        status = complain(EXIT_INCONCLUSIVE, "%s", error.text);
    else if ((merge = merge_new(catalogue)) == NULL)
        status = complain(EXIT_INCONCLUSIVE, "out of memory");
    else
        status = merge_all(merge, catalogue, inputs, count, output);
    merge_free(merge);
    catalogue_free(catalogue);
    return status;
}
