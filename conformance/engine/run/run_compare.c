/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* realpath(3) into a buffer of its own */
#include "conformance/engine/run/run_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/report/report_diff.h"
#include "conformance/engine/report/report_input.h"
#include "base/exit_status.h"

/* Whether the results at `path` are those that the run will remove from its folder, or resume. */
static bool is_in(char *path, const char *output)
{
    char *ours = output != NULL ? realpath(output, NULL) : NULL, *theirs;
    bool same;

    report_input_folder(path);
    theirs = realpath(path, NULL);
    same = ours != NULL && theirs != NULL && strcmp(ours, theirs) == 0;
    free(ours);
    free(theirs);
    return same;
}

int run_compare_check(const char *old, const char *output, const struct catalogue *catalogue,
                      struct iwarp_sentence *error)
{
    struct report_input input = {.loaded = false};
    char *argument = (char *)old; /* which is only read */
    struct iwarp_sentence why;
    int rc = report_inputs_load(&input, &argument, 1, catalogue, &why);

    if (rc != 0)
        rc = iwarp_sentence_set(error, "--compare: %.300s", why.text);
    else if (strcmp(input.report.info.command, "run") != 0)
        rc = iwarp_sentence_set(error, "--compare %.200s: results of \"%.40s\", those of a run were expected", old,
                                input.report.info.command);
    else if (is_in(input.results, output))
        rc = iwarp_sentence_set(error, "--compare %.200s: -o writes there, another folder was expected", old);
    report_inputs_free(&input, 1);
    return rc;
}

int run_compare(const char *old, const char *output, int status)
{
    char *runs[] = {(char *)old, (char *)output}; /* which are only read */
    int compared;

    if (fflush(stdout) != 0 || (status != EXIT_CONFORMS && status != EXIT_FAILS && status != EXIT_KNOWN))
        return status;
    (void)putchar('\n');
    compared = report_diff(runs, 2, report_diff_format(NULL), 1u << DIFF_NEW | 1u << DIFF_VANISHED, "-");
    if (compared == EXIT_DONE && status != EXIT_CONFORMS)
        (void)puts("what fails failed before, too");
    return compared;
}
