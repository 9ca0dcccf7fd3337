/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A result as its line of results.jsonl, written straight into a buffer: the octets are those that result_to_json()
 * and json_dumps() would give, at a twentieth of the time. An audit writes one such line for each requirement and flow.
 */
#ifndef REPORTS_RESULT_LINE_H
#define REPORTS_RESULT_LINE_H

#include "reports/results/result.h"

/* Lines one after the other. Begins as {0}; free() the octets. */
struct result_lines {
    char *octets;
    size_t count, room;
};

/* How numbers and members are written in results.jsonl, for json_dumps(). */
#define RESULT_LINE_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* Appends the line with its newline. -1 without memory or id: the lines before it stay. */
int result_line_append(struct result_lines *lines, const struct result *result);

/* Appends lines that were made before. */
int result_line_copy(struct result_lines *lines, const char *octets, size_t count);

/* Appends any JSON object the same way, by json_dumps(). */
int result_line_append_json(struct result_lines *lines, const json_t *object);

#endif
