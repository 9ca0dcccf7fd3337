/* SPDX-License-Identifier: BSD-2-Clause */
/* --format of run and audit: text, results.jsonl as it grows, or at the end one of the reports on standard output. */
#ifndef CONFORMANCE_ENGINE_FORMAT_OPTION_H
#define CONFORMANCE_ENGINE_FORMAT_OPTION_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/folder/folder.h"
#include "reports/writers/format.h"
#include "base/sentence.h"

struct format_option {
    bool jsonl;
    const struct report_format *report; /* NULL: text or jsonl */
};

/* -1 with a sentence that names what there is. */
int format_option_parse(struct format_option *option, const char *value, struct iwarp_sentence *error);

/* True if standard output is read by a program: messages for people must go elsewhere. */
bool format_option_machine(const struct format_option *option);

/* "text, jsonl, html, ... or md", for help texts. */
const char *format_option_names(char *text, size_t room);

/* Where the results go. */
struct format_results {
    struct place place; /* name NULL: nowhere */
    char path[4200];    /* what place.path is */
};

/*
 * results.jsonl in the folder `output`; without it (NULL), and where a report is to be made of them, a file that has no
 * name and goes with the process; else nowhere. 0, or -1 with a sentence.
 */
int format_option_results(const struct format_option *option, struct folder *output, struct format_results *results,
                          struct iwarp_sentence *error);

#endif
