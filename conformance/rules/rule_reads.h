/* SPDX-License-Identifier: BSD-2-Clause */
/* How many Reads a side has open: RFC 6581 and the ULPs limit them, each by a number that it says elsewhere. */
#ifndef CONFORMANCE_RULES_RULE_READS_H
#define CONFORMANCE_RULES_RULE_READS_H

#include "conformance/rules/rule_context.h"

/*
 * Judges a Read Request, which opens one more Read beside those that wait for their Response: `most` may be open.
 * `sentence` says whose limit that is, and names the section. No verdict for another event, or where requests were lost.
 */
void rule_judge_reads_open(struct rule_context *ctx, uint32_t most, const char *sentence);

#endif
