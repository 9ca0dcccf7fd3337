/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SARIF 2.1.0 (OASIS), for code hosts and editors that show findings. Rules are the requirements that were exercised,
 * as the catalogue has them; each result kept of a FAIL, WARN, AMBIGUOUS or INCONCLUSIVE is a result:
 *
 *   FAIL           level error
 *   WARN           level warning; a known deviation of the profile: the level of its requirement, suppressed
 *   AMBIGUOUS      level note
 *   INCONCLUSIVE   kind open: what there is does not suffice to decide
 *
 * PASS and SKIP are no results (code hosts would show them as findings); rules count them in their properties. A
 * location is the capture, with frame and flow; the ladder is a code flow. A finding keeps its fingerprint from run to
 * run.
 */
#ifndef REPORTS_SARIF_H
#define REPORTS_SARIF_H

#include "reports/file/place.h"
#include "reports/results/report.h"

/* Writes the log to `to` (the path "-": standard output). 0, or -1 with the sentence set. */
int sarif_write(const struct report *report, const struct place *to, struct iwarp_sentence *error);

#endif
