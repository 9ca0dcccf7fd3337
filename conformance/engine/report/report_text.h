/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report --format text: the findings with their ladders, on standard output. */
#ifndef CONFORMANCE_ENGINE_REPORT_TEXT_H
#define CONFORMANCE_ENGINE_REPORT_TEXT_H

struct catalogue;

/* Of the file `results`. Returns the exit status: 0; 2 with a message where it cannot be read. */
int report_text(const char *results, const struct catalogue *catalogue);

#endif
