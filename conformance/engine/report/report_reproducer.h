/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warpcheck report --reproducer c ID RUN: a failure as one file of C with plain sockets (repro_write.h), made from the
 * evidence that the run has kept of it.
 */
#ifndef CONFORMANCE_ENGINE_REPORT_REPRODUCER_H
#define CONFORMANCE_ENGINE_REPORT_REPRODUCER_H

/*
 * `id`: a requirement, or requirement-role; `input`: a run's folder or its results.jsonl; `output`: a file, or "-". The
 * exit status: 0; 2, there is no such failure; 3, it cannot be repeated by plain sockets, and why; 4.
 */
int report_reproducer(const char *id, const char *input, const char *output);

#endif
