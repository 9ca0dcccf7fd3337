/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report --matrix: the page of several runs, out of their folders. */
#ifndef CONFORMANCE_ENGINE_REPORT_MATRIX_H
#define CONFORMANCE_ENGINE_REPORT_MATRIX_H

#include <stddef.h>

#include "base/sentence.h"

/*
 * Writes the matrix of `count` runs to `output` ("-": standard output). Each input is [NAME=]DIR or [NAME=]FILE: the
 * folder of a run, or its results.jsonl; without a name the run's target stands for it, with the folder where targets
 * repeat. 0; -1: results that cannot be read, -2: the page could not be written; the sentence set in both.
 */
int report_matrix(char *const *inputs, size_t count, const char *output, struct iwarp_sentence *error);

#endif
