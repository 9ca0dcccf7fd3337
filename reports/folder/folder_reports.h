/* SPDX-License-Identifier: BSD-2-Clause */
/* The standing reports (reports/writers/format.h) in an output folder. */
#ifndef REPORTS_FOLDER_REPORTS_H
#define REPORTS_FOLDER_REPORTS_H

#include "reports/folder/folder.h"
#include "reports/results/report.h"

/*
 * Writes the standing reports into the folder. All are tried; 0, or -1 with the sentence of the first that could not be
 * written. `coverage` may be NULL; `written`, when not NULL, is called for each that was.
 */
int folder_write_reports(const struct report *report, const struct report_coverage *coverage, struct folder *folder,
                         void (*written)(const char *path), struct iwarp_sentence *error);

#endif
