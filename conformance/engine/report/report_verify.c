/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "conformance/engine/report/cmd_report.h"
#include "reference-stack/program/complaint.h"
#include "reports/folder/digests.h"
#include "reports/file/text.h"
#include "base/exit_status.h"

static void complaint(void *user, const char *name, const char *what)
{
    print_plain(stdout, "%s/%s: %s", (const char *)user, name, what);
}

int report_verify(const char *input)
{
    char *results = NULL, *dir = NULL;
    struct iwarp_sentence error;
    size_t count = 0;
    int rc = -1, status;

    if (results_paths(input, &results, &dir) != 0)
        (void)iwarp_sentence_set(&error, "out of memory");
    else
        rc = digests_verify(dir, complaint, dir, &count, &error);
    if (rc == DIGESTS_UNKNOWN) {
        status = complain(EXIT_USAGE, "%s", error.text);
    } else if (rc < 0) {
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    } else {
        if (rc == 0)
            print_plain(stdout, "%s: %zu file%s as written", dir, count, count == 1 ? " is" : "s are");
        status = rc == 0 ? EXIT_DONE : EXIT_FAILS;
    }
    free(results);
    free(dir);
    return status;
}
