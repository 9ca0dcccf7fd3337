/* SPDX-License-Identifier: BSD-2-Clause */
/* `warpcheck report --diff`: what differs between runs, and the exit status that follows from it. */
#ifndef CONFORMANCE_ENGINE_REPORT_DIFF_H
#define CONFORMANCE_ENGINE_REPORT_DIFF_H

#include <stddef.h>

#include "reports/diff/diff.h"

/* "text", "md", "jsonl" or "html". */
typedef int report_diff_writer(const struct diff *steps, size_t count, const struct place *to,
                               struct iwarp_sentence *error);

/* NULL for an unknown format; of NULL that of text. */
report_diff_writer *report_diff_format(const char *name);
extern const char report_diff_formats[]; /* for messages: "text, md, jsonl or html" */

/* Kinds of differences as bits, 1 << enum diff_kind: of "new,vanished", "any" or "none". -1 with the sentence set. */
int report_diff_fails(const char *kinds, unsigned *fails, struct iwarp_sentence *error);

/*
 * Compares each run with the next, two at least, and writes all steps to `output` ("-": standard output). The exit
 * status: 1 where the last step has differences of the kinds `fails`, 4 where one of its runs did not come to its end,
 * 3 where nothing was decided in both, 2 and 4 with a message for results and output that cannot be read and written,
 * else 0.
 */
int report_diff(char *const *inputs, size_t count, report_diff_writer *write, unsigned fails, const char *output);

#endif
