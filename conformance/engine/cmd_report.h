/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report, and what run and audit do at their end. */
#ifndef CONFORMANCE_ENGINE_CMD_REPORT_H
#define CONFORMANCE_ENGINE_CMD_REPORT_H

struct catalogue;
struct report_format;
struct sentence;

/*
 * warpcheck report DIR|FILE [--format F] [-o OUT]: makes the reports again from results.jsonl.
 * warpcheck report --matrix [NAME=]DIR|FILE... [-o OUT]: several runs side by side.
 * 0 done, 2 usage or results that cannot be read, 4 the output could not be written.
 */
int cmd_report(int argc, char **argv);

/*
 * What run and audit do at their end: makes the reports of the file `results`, with what is known of checks and rules. The
 * standing ones (reports/format.h) go into the folder `output`, `shown` to standard output; either may be NULL. 0, or -1
 * with the sentence set.
 */
int engine_write_reports(const char *results, const char *output, const struct report_format *shown,
                         const struct catalogue *catalogue, struct sentence *error);

#endif
