/* SPDX-License-Identifier: BSD-2-Clause */
/* What all forms of `warpcheck prove` print alike: lines of JSON, alarms, and the progress on a terminal. */
#ifndef CONFORMANCE_ENGINE_PROVE_PRINTER_H
#define CONFORMANCE_ENGINE_PROVE_PRINTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "reports/writers/terminal.h"

struct result;

struct prove_printer {
    bool jsonl;
    struct terminal terminal;
};

/* Takes the reference. */
void prove_printer_line(json_t *line);

/*
 * A defect's row as text: killed or not, what it names, and which of these did not catch it; with `whole`, and of one
 * that was not killed, also what did. `line`: as JSON has it.
 */
void prove_printer_defect(const json_t *line, bool whole);

/*
 * What the correct stack drew, as text; and how many units are done. `user` is the printer: both are callbacks of
 * proving.
 */
void prove_printer_alarm(void *user, const char *text);
void prove_printer_progress(void *user, size_t done, size_t total);

/* A result in one line of words, with `more` after it: a string, which the caller owns. NULL: memory. */
json_t *prove_result_words(const struct result *result, const char *more);

#endif
