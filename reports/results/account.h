/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of an input (conformance/flow/event/flow_account.h) as JSON and as text, for every report. */
#ifndef REPORTS_ACCOUNT_H
#define REPORTS_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "conformance/flow/event/flow_account.h"

enum { ACCOUNT_TEXT = 160 }; /* octets that hold any of the texts below */

/*
 * {"frames": N, "octets": N, "judged": {NAME: {...}}, "foreign": {...}, "unjudged": {...}, "missing": {...}}: rows and
 * kinds that have something, and of each row the counters that are not 0. A new reference, NULL without memory.
 */
json_t *account_to_json(const struct flow_account *account);

/*
 * The same back; hostile input is expected. Rows of unknown names count as "unknown" when they are unjudged or missing.
 */
void account_from_json(const json_t *object, struct flow_account *account);

/* "12 frames, 840 octets"; of frames alone, octets alone, "2 files" or "3 connections" where there is nothing else. */
const char *account_count_text(enum flow_row row, const struct flow_count *count, char text[ACCOUNT_TEXT]);

/*
 * Frames and octets of a kind: "40 frames, 5000 octets"; where there are neither, "2 files", "3 connections", "4
 * items".
 */
const char *account_kind_text(const struct flow_account *account, enum flow_account_kind kind, char text[ACCOUNT_TEXT]);

/* The next row of that kind that has something, after `after` (FLOW_ROWS: from the first on); FLOW_ROWS: no more. */
enum flow_row account_next(const struct flow_account *account, enum flow_account_kind kind, enum flow_row after);

/* Whether anything was counted at all. */
bool account_is_empty(const struct flow_account *account);

/* Of each counter the larger one: two accounts of the same input. */
void account_join(struct flow_account *account, const struct flow_account *other);

#endif
