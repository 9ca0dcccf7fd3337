/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report --verify: results and evidence, and the folder's list of digests. */
#ifndef CONFORMANCE_ENGINE_REPORT_VERIFY_H
#define CONFORMANCE_ENGINE_REPORT_VERIFY_H

/*
 * Prints each file that has changed since it was written. The exit status: 0 none has changed, 1 one has changed, 2 the
 * list is missing or is no such list.
 */
int report_verify(const char *input);

#endif
