/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `run --exit-code`: the exit status in the numbers of another harness. Those of kselftest
 * (tools/testing/selftests/kselftest.h) are 0 pass, 1 fail, 2 fails as expected, 3 passes against expectation, 4 skip:
 * its 2, 3 and 4 are other statuses here (base/exit_status.h).
 */
#ifndef CONFORMANCE_ENGINE_EXIT_CODE_H
#define CONFORMANCE_ENGINE_EXIT_CODE_H

#include <stdbool.h>

enum exit_code { EXIT_CODE_OWN, EXIT_CODE_KSELFTEST };

/* False: there is no such harness. */
bool exit_code_find(const char *name, enum exit_code *kind);

/*
 * `status` (enum exit_status) as that harness says it. To kselftest what was not decided is a skip, never a pass; known
 * deviations are failures that were expected; a wrong command line fails.
 */
int exit_code_of(enum exit_code kind, int status);

#endif
