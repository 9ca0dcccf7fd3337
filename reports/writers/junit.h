/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JUnit XML as CI servers read it: one suite a document and section, one testcase a requirement and role. FAIL is a
 * <failure>, INCONCLUSIVE an <error>, SKIP a <skipped>; WARN and AMBIGUOUS pass, with their text in <system-out>.
 */
#ifndef REPORTS_JUNIT_H
#define REPORTS_JUNIT_H

#include "reports/file/place.h"
#include "reports/results/report.h"

/* Writes junit.xml to `to` (the path "-": standard output). 0, or -1 with the sentence set. */
int junit_write(const struct report *report, const struct place *to, struct iwarp_sentence *error);

#endif
