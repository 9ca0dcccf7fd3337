/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_MEMORY_SHORT_SCRIPTS_H
#define TESTS_UNIT_MEMORY_SHORT_SCRIPTS_H

#include <check.h>

/* For the suite memory_short; only where the runner has an allocator of its own. */
TCase *memory_short_scripts_case(void);

#endif
