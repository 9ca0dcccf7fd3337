/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/exit_code.h"

#include <string.h>

#include "base/exit_status.h"

enum { KSFT_PASS = 0, KSFT_FAIL = 1, KSFT_XFAIL = 2, KSFT_SKIP = 4 };

bool exit_code_find(const char *name, enum exit_code *kind)
{
    if (strcmp(name, "warpcheck") != 0 && strcmp(name, "kselftest") != 0)
        return false;
    *kind = strcmp(name, "kselftest") == 0 ? EXIT_CODE_KSELFTEST : EXIT_CODE_OWN;
    return true;
}

int exit_code_of(enum exit_code kind, int status)
{
    if (kind == EXIT_CODE_OWN)
        return status;
    switch (status) {
    case EXIT_CONFORMS: return KSFT_PASS;
    case EXIT_KNOWN: return KSFT_XFAIL;
    case EXIT_NOTHING_SELECTED:
    case EXIT_INCONCLUSIVE: return KSFT_SKIP;
    default: return KSFT_FAIL;
    }
}
