/* SPDX-License-Identifier: BSD-2-Clause */
/* One self-contained HTML page (XHTML syntax, readable without scripts, nothing loaded from anywhere). */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "reports/file/place.h"
#include "reports/results/report.h"

/* Writes the page to `to` (the path "-": standard output). `coverage` may be NULL. 0, or -1 with the sentence set. */
int html_write(const struct report *report, const struct report_coverage *coverage, const struct place *to,
               struct iwarp_sentence *error);

#endif
