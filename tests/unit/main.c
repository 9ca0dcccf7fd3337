/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * unit-tests [SUITE...]: runs all suites, or those named. Check's own environment variables hold: CK_TAP_LOG_FILE_NAME,
 * CK_FORK=no (for a debugger), CK_RUN_CASE, CK_VERBOSITY. The last line is "N passed, N failed"; the exit status is 0
 * only if something ran and nothing failed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"

static int is_wanted(const char *name, int argc, char **argv)
{
    if (argc < 2)
        return 1;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return 0;
}

/* Complains of a name on the command line that is no suite: a test that silently does not run is worse than none. */
static int names_exist(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct unit_suite *s = unit_suites;
        while (s->name && strcmp(s->name, argv[i]) != 0)
            s++;
        if (!s->name) {
            fprintf(stderr, "unit-tests: no suite '%s'; the suites are:", argv[i]);
            for (s = unit_suites; s->name; s++)
                fprintf(stderr, " %s", s->name);
            fprintf(stderr, "\n");
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    if (!names_exist(argc, argv))
        return 2;
    /* Check's 4 s are too little for a loaded machine; CK_TIMEOUT_MULTIPLIER and this variable still rule. */
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
    SRunner *runner = srunner_create(NULL);
    for (const struct unit_suite *s = unit_suites; s->name; s++)
        if (is_wanted(s->name, argc, argv))
            srunner_add_suite(runner, s->make());
    srunner_run_all(runner, CK_ENV);
    int run = srunner_ntests_run(runner);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("%d passed, %d failed\n", run - failed, failed);
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
