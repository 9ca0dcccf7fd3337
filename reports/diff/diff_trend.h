/* SPDX-License-Identifier: BSD-2-Clause */
/* The trend over several runs: what differs between any two neighbours, with its verdict in each run. */
#ifndef REPORTS_DIFF_TREND_H
#define REPORTS_DIFF_TREND_H

#include "reports/diff/diff.h"

enum { DIFF_TREND_LEAST = 2 }; /* steps that are worth a trend: of fewer, the differences say it all */

/* What a run says of one thing. */
struct diff_trend_side {
    bool there;
    enum verdict worst;
};

struct diff_trend_row {
    const struct diff_entry *entry; /* its first difference: id, role, file; borrowed from the steps */
    struct diff_trend_side *sides;  /* one for each run */
};

struct diff_trend {
    size_t runs; /* one more than there are steps */
    struct diff_trend_row *rows;
    size_t count;
};

/*
 * The trend of `count` steps, which outlive it; in the order in which things first differ. -1: no memory, nothing to
 * free.
 */
int diff_trend_make(struct diff_trend *trend, const struct diff *steps, size_t count);
void diff_trend_free(struct diff_trend *trend);

/* "PASS", "no result" */
const char *diff_trend_word(const struct diff_trend_side *side);

/* The verdicts of which any run of the steps has results, in the order of tables; returns how many. */
size_t diff_trend_verdicts(const struct diff *steps, size_t count, enum verdict verdicts[VERDICT_COUNT]);

/* The run before the first step (0) or after step `run`, and how it is called. */
const struct report *diff_trend_run(const struct diff *steps, size_t run, const char **name);

#endif
