/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TAP 14 (testanything.org): one test point a requirement and role, in catalogue order, the worst of its results
 * deciding, as on the page and in junit.xml. A consumer so comes to the exit status of the program:
 *
 *   PASS           ok
 *   FAIL           not ok
 *   INCONCLUSIVE   not ok: TAP has no third way, and what could not be decided is never a success
 *   KNOWN          not ok # TODO, with the finding: an expected failure, on which no consumer fails, as with --accept-known
 *   WARN           ok, with a diagnostic block
 *   AMBIGUOUS      ok, with a diagnostic block that names the reading
 *   SKIP           ok # SKIP, with the reason
 *
 * A capture that could not be read to its end is a test point of its own, not ok.
 *
 * A run that did not come to its end plans one test point more than it has and ends with "Bail out!"; one in which
 * nothing was decided has a test point of its own that says so, and is not ok.
 */
#ifndef REPORTS_TAP_H
#define REPORTS_TAP_H

#include "reports/file/place.h"
#include "reports/results/report.h"

/* Writes the document to `to` (the path "-": standard output). 0, or -1 with the sentence set. */
int tap_write(const struct report *report, const struct place *to, struct iwarp_sentence *error);

/* The same under "TAP version 13": TAP::Harness 3.44 and others count any higher version as an error. */
int tap_write_13(const struct report *report, const struct place *to, struct iwarp_sentence *error);

#endif
