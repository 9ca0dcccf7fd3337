/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an audit of a corpus is expected to find (--expect, --write-expect): one line for each capture, requirement,
 * role and flow that draws FAIL or WARN, in columns parted by tabs:
 *
 *     capture	requirement	role	flow	count	verdict	outcome	review_by	digest	note
 *     bad-crc.pcap	MPA-4.4-14	responder	10.0.0.2:9>10.0.0.3:4	1	FAIL	CRC 0x0	2027-11-23	0a0b0c0d-840	on purpose
 *
 * A line excuses what it describes and nothing else: the same verdict, in that flow, so many times, with that outcome.
 * The flow "*" stands for all flows of the capture: `count` is then their sum. Captures below the file's own folder are
 * named from there, others as they were named to the audit; control octets, and '%', stand as %XX. Lines that begin
 * with '#' are comments.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_EXPECT_H
#define CONFORMANCE_ENGINE_AUDIT_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/difference.h"
#include "reports/file/place.h"
#include "reports/results/result.h"
#include "base/sentence.h"

struct audit_expect;

struct audit_expect_config {
    const char *path; /* the file; captures are named from its folder */
    bool read;        /* it is read; else it is to be written anew */
    bool old;         /* columns of an older version are read too, for their notes and days: of --write-expect */
    const struct catalogue *catalogue;
    const char *today; /* "2026-11-26", borrowed for good */
    unsigned spread;   /* --review-spread: new lines are due at most so many weeks before the others */
};

/*
 * NULL with a sentence that names the line: columns, requirements, roles, verdicts and days that cannot be, or a line
 * that stands twice.
 */
struct audit_expect *audit_expect_new(const struct audit_expect_config *config, struct iwarp_sentence *error);
void audit_expect_free(struct audit_expect *expect);

/*
 * With --shard: `file` belongs to this shard (`own`), or to another one, whose lines are not compared here. -1: no
 * memory.
 */
int audit_expect_share(struct audit_expect *expect, const char *file, bool own);

/*
 * Takes a result of a capture. *held: a line may expect it. The caller then ignores it here, and
 * audit_expect_capture_end() delivers it later. -1: no memory.
 */
int audit_expect_meet(struct audit_expect *expect, const struct result *result, bool *held);

/*
 * To be called when all results of the captures so far were taken: delivers the held results. An expected FAIL becomes
 * KNOWN; an expected finding names its line in `finding` and its day in `review_by`. -1: no memory, or `give` returned
 * it.
 */
int audit_expect_capture_end(struct audit_expect *expect, int (*give)(void *user, const struct result *result),
                             void *user);

/*
 * Compares all findings with all lines, counts them, and calls `tell` (may be NULL) for each difference. To be called
 * once, after the last capture. `without_missing`: this shard does not report lines that no finding matches.
 */
void audit_expect_compare(struct audit_expect *expect, bool without_missing, struct run_expectation *counts,
                          void (*tell)(void *user, const struct difference *difference), void *user);

/*
 * Writes a line for each finding, with the notes and days of the lines that were read, also if a capture was renamed.
 * *lines becomes their number.
 */
int audit_expect_write(struct audit_expect *expect, size_t *lines, struct iwarp_sentence *error);

#endif
