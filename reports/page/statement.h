/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conformance statement that a customer can be given: of one document, or of all, each requirement with its level,
 * what was decided about the device, on which evidence, and why what is not decided is not; the device, its
 * capabilities, and a place to sign.
 */
#ifndef REPORTS_STATEMENT_H
#define REPORTS_STATEMENT_H

#include "reports/results/report.h"

/*
 * A page. `source`: a document of the catalogue ("RFC5044"), or "all". `coverage` may be NULL. 0; STATEMENT_NO_DOCUMENT
 * or -1, it cannot be written, with the sentence set.
 */
enum { STATEMENT_NO_DOCUMENT = 1 };

int statement_write(const struct report *report, const struct report_coverage *coverage, const char *source,
                    const struct place *to, struct iwarp_sentence *error);

/*
 * What the device broke, as the member known_deviations of a profile (docs/profiles.md): one entry for each
 * requirement, role and outcome, to be reviewed by `review_by`. 0, or -1 with the sentence set.
 */
int statement_known(const struct report *report, const char *review_by, const struct place *to,
                    struct iwarp_sentence *error);

#endif
