/* SPDX-License-Identifier: BSD-2-Clause */
/* A Markdown summary for the step page of a CI server: verdict, counts, a table of findings. */
#ifndef REPORTS_MARKDOWN_H
#define REPORTS_MARKDOWN_H

#include <stdio.h>

#include "reports/file/place.h"
#include "reports/results/report.h"

/* Writes the summary to `to` (the path "-": standard output). 0, or -1 with the sentence set. */
int markdown_write(const struct report *report, const struct place *to, struct iwarp_sentence *error);

/* One line of text from anywhere, with everything that Markdown or HTML could take for markup escaped. */
void markdown_text(FILE *out, const char *text);

#endif
