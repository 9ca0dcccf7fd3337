/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include <check.h>

/* One entry for each tests/unit/test_NAME.c; the table is generated and ends with an entry of NULLs. */
struct unit_suite {
    const char *name;
    Suite *(*make)(void); /* NAME_suite() of that file */
};

extern const struct unit_suite unit_suites[];

#endif
