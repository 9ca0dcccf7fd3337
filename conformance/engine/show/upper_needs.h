/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which checks need which verb and which event of an upper tester (docs/upper-tester.md). The table is not written by
 * hand: each check is run against the simulated reference stack. Its upper tester is watched, and reports no event
 * before the check asks for it.
 */
#ifndef CONFORMANCE_ENGINE_UPPER_NEEDS_H
#define CONFORMANCE_ENGINE_UPPER_NEEDS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/sentence.h"

/*
 * Writes the table: for people, or as the page docs/upper-tester-needs.md. 0, or -1 with a sentence; stdio keeps errors
 * of `out`.
 */
int upper_needs_write(bool markdown, FILE *out, struct iwarp_sentence *error);

#endif
