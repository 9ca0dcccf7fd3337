/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report, and what run and audit do at their end. */
#ifndef CONFORMANCE_ENGINE_CMD_REPORT_H
#define CONFORMANCE_ENGINE_CMD_REPORT_H

struct catalogue;
struct folder;
struct place;
struct report_format;
struct iwarp_sentence;

/*
 * warpcheck report DIR|FILE [--format F] [-o OUT]: makes the reports again from results.jsonl.
 * warpcheck report --matrix [NAME=]DIR|FILE... [-o OUT]: several runs side by side.
 * warpcheck report --merge DIR|FILE... -o OUT: several runs, or shards of one, as one (report_merge.h).
 * 0 done, 2 usage or results that cannot be read, 4 the output could not be written.
 */
int cmd_report(int argc, char **argv);

/*
 * The results.jsonl that `input` (a run's folder, or that file) names and the folder that it is in, both malloc'd and
 * the caller's, also when -1 says that memory is short.
 */
int results_paths(const char *input, char **results, char **dir);

/*
 * What run and audit do at their end: makes the reports of the file `results`, with what is known of checks and rules.
 * The standing ones (reports/writers/format.h) go into the folder `output`, `shown` to standard output; either may be
 * NULL. 0, or -1 with the sentence set.
 */
int engine_write_reports(const struct place *results, struct folder *output, const struct report_format *shown,
                         const struct catalogue *catalogue, struct iwarp_sentence *error);

#endif
