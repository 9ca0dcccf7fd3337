/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for spreadsheets: comma-separated values (RFC 4180). A cell that a spreadsheet would take for a formula,
 * because it begins with =, +, -, @ or a control octet, gets an apostrophe in front: cells may hold what a peer has
 * sent.
 */
#ifndef REPORTS_CSV_H
#define REPORTS_CSV_H

#include <stdint.h>
#include <stdio.h>

#include "reports/results/report.h"

/* One cell; `first`: of its line. NULL is an empty one. */
void csv_text(FILE *out, bool first, const char *text);
void csv_number(FILE *out, bool first, uint64_t number);
void csv_line_end(FILE *out);

/* All results of the file that the report was loaded from, one a line. 0, or -1 with the sentence set. */
int csv_write(const struct report *report, const struct place *to, struct iwarp_sentence *error);

#endif
