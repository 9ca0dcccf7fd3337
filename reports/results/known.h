/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known deviations: results whose verdict is KNOWN, each of a finding that the device's profile names. A run counts the
 * results, and the findings after them.
 */
#ifndef REPORTS_KNOWN_H
#define REPORTS_KNOWN_H

#include "reports/results/result.h"

/* The findings that were met so far, by name. Zero-initialised: none. */
struct finding_set {
    struct finding *findings;
};

void finding_set_free(struct finding_set *set);

/* The name of a KNOWN result's finding: as the profile calls it, else its note, else the requirement's id. */
const char *known_finding(const struct result *result);

/*
 * Counts a result in the summary, and its finding where it is the first of it. -1 without memory: nothing was counted.
 */
int summary_count_result(struct run_summary *summary, struct finding_set *set, const struct result *result);

/* Which of two findings comes first: "2: x" before "10: y". For qsort: less than, equal to or greater than 0. */
int known_finding_order(const char *a, const char *b);

enum { KNOWN_TEXT_OCTETS = 80 };

/* "196 results of 25 findings" */
const char *known_counts(const struct run_summary *summary, char text[KNOWN_TEXT_OCTETS]);

#endif
