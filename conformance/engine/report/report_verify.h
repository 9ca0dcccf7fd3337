/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report --verify: results and evidence, and the folder's list of digests. */
#ifndef CONFORMANCE_ENGINE_REPORT_VERIFY_H
#define CONFORMANCE_ENGINE_REPORT_VERIFY_H

/*
 * Says what is not as it was written. The exit status: 0 all is, 1 something is not, 2 there is no list, or it is none.
 */
int report_verify(const char *input);

#endif
