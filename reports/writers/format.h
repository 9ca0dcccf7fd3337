/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reports that are made from results.jsonl, declared once: what --format calls them, what their files are called in
 * an output folder, and who writes them. Options, help texts and the files of `run -o` and `audit -o` are drawn from
 * here.
 */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

#include "base/sentence.h"
#include "reports/file/place.h"
#include "reports/results/report.h"

struct report_format {
    const char *name; /* --format */
    const char *file; /* in the output folder */
    bool standing;    /* run, audit, and report without --format write it */
    int (*write)(const struct report *report, const struct report_coverage *coverage, const struct place *to,
                 struct iwarp_sentence *error);
};

/* Ends with a row whose name is NULL. */
extern const struct report_format report_formats[];

/* NULL: there is none of that name (which may be NULL). */
const struct report_format *report_format_find(const char *name);

/* "index.html, junit.xml and results.tap": the standing files; into `text`, which is cut at `room`. Returns it. */
const char *report_format_files(char *text, size_t room);

/* "html, junit, tap or md" after `first` ("text, jsonl", or ""); `text` is cut at `room`. Returns it. */
const char *report_format_names(const char *first, char *text, size_t room);

#endif
