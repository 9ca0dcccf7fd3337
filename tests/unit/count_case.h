/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often a rule passes and finds in a conversation, counted by hand from its text: limits at their value and one
 * beyond it, conditions of which one holds and the other does not. A rule that passes what it should not look at is
 * seen by its count.
 */
#ifndef TESTS_UNIT_COUNT_CASE_H
#define TESTS_UNIT_COUNT_CASE_H

#include "tests/unit/rule_case.h"

enum { SILENT = -1, ACTIVE = 0, PASSIVE = 1 };

struct count_case {
    build_function *build;
    const char *id;
    int verdict; /* SILENT: the rule was not exercised */
    uint64_t passes, findings;
    int direction;    /* of the findings: ACTIVE, PASSIVE */
    const char *also; /* what other rules find; "*": whatever it is */
};

/* Fails the test with a sentence when it is otherwise. */
void count_case_run(const struct count_case *tried);

#endif
