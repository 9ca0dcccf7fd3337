/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workflow commands: what a job of GitHub Actions prints to have annotations, one line for each finding. Of an audit
 * the capture is the file that is annotated.
 */
#ifndef REPORTS_GITHUB_H
#define REPORTS_GITHUB_H

#include "reports/file/place.h"
#include "reports/results/report.h"

/* 0, or -1 with the sentence set. */
int github_write(const struct report *report, const struct place *to, struct iwarp_sentence *error);

#endif
