/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report, and what run and audit do at their end. */
#ifndef CONFORMANCE_ENGINE_CMD_REPORT_H
#define CONFORMANCE_ENGINE_CMD_REPORT_H

struct catalogue;
struct sentence;

/*
 * warpcheck report DIR|FILE [--format html|junit|md|text] [-o OUT]: makes the reports again from results.jsonl.
 * warpcheck report --matrix [NAME=]DIR|FILE... [-o OUT]: several runs side by side.
 * 0 done, 2 usage or results that cannot be read, 4 the output could not be written.
 */
int cmd_report(int argc, char **argv);

/*
 * DIR/index.html and DIR/junit.xml from DIR/results.jsonl, with what is known of checks and rules: report_write_all()
 * with the coverage of this program. 0, or -1 with the sentence set.
 */
int engine_write_reports(const char *dir, const struct catalogue *catalogue, struct sentence *error);

#endif
