/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an audit of a corpus is expected to find (--expect, --write-expect): one line for each capture, requirement and role that
 * draws FAIL or WARN, in columns parted by tabs:
 *
 *     capture	requirement	role	verdict	review_by	note
 *     bad-crc.pcap	MPA-4.4-14	responder	FAIL	2027-11-23	on purpose
 *
 * Captures below the file's own folder are named from there, others as they were named to the audit; octets below space, and '%',
 * stand as %XX. Lines that begin with '#' are comments.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_EXPECT_H
#define CONFORMANCE_ENGINE_AUDIT_EXPECT_H

#include <stdint.h>

#include "conformance/requirements/catalogue.h"
#include "reports/place.h"
#include "reports/result.h"
#include "wire/sentence.h"

struct audit_expect;

/*
 * `path`: the file, which is read where `read` asks for it, and whose folder captures are named from. NULL with a sentence that
 * names the line: columns, requirements, roles, verdicts and days that cannot be, or a line that stands twice.
 */
struct audit_expect *audit_expect_new(const char *path, bool read, const struct catalogue *catalogue, const char *today,
                                      struct sentence *error);
void audit_expect_free(struct audit_expect *expect);

/* A result of `file`. -1: no memory. */
int audit_expect_take(struct audit_expect *expect, const char *file, const char *id, const char *role,
                      enum verdict verdict);

/*
 * Tells each difference as a sentence: a finding that is not expected, one that is expected and was not found, another verdict,
 * and a review that is due. Returns how many; *found: how many findings there were.
 */
size_t audit_expect_compare(const struct audit_expect *expect, const char *today, size_t *found,
                            void (*tell)(const char *text));

/* Writes what was found, with notes and days of what was read; new lines are due in a year. 0, or -1 with the sentence set. */
int audit_expect_write(const struct audit_expect *expect, const char *path, const char *today, struct sentence *error);

#endif
