/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a command that judges writes (run, audit): the folder of -o, results.jsonl in it or in a file without a name,
 * and at the end the reports. No signal ends the process while a line is being written (run_stop.h).
 */
#ifndef CONFORMANCE_ENGINE_JUDGED_OUTPUT_H
#define CONFORMANCE_ENGINE_JUDGED_OUTPUT_H

#include "conformance/engine/option/command_line.h"
#include "conformance/engine/option/format_option.h"
#include "conformance/engine/option/shard.h"
#include "conformance/engine/option/utc_text.h"
#include "reports/results/results_log.h"

struct catalogue;

/* Zeroed to begin with. */
struct judged_output {
    struct folder *folder; /* of -o, NULL: none */
    struct format_results results;
    struct results_log *log;
};

/* Texts of a run_info, which borrows them. */
struct judged_texts {
    char started[UTC_TEXT_OCTETS], shard[24], command_line[COMMAND_LINE_OCTETS];
};

/* The members of `info` that are alike for each such command: tool, catalogue, start, and the shard with its plan. */
void judged_output_describe(struct run_info *info, struct judged_texts *texts, const struct catalogue *catalogue,
                            const struct shard *shard, const char *plan);

/* Opens the results for `format`, below `folder` where there is one. 0, or -1 with the sentence set. */
int judged_output_place(struct judged_output *output, const struct format_option *format, struct iwarp_sentence *error);
/* Begins them with `info`. 0, or -1 with the sentence set. */
int judged_output_begin(struct judged_output *output, const struct format_option *format, const struct run_info *info,
                        struct iwarp_sentence *error);

/* results_log_append(), whole before a signal ends the process. */
int judged_output_append(struct judged_output *output, const struct result *result, struct iwarp_sentence *error);

/* Appends the summary and closes the results. -1 with the first sentence; they are closed then, too. */
int judged_output_end(struct judged_output *output, const struct run_summary *summary, struct iwarp_sentence *error);

/* Makes the reports of the results. 0, or -1 with the sentence set. */
int judged_output_report(struct judged_output *output, const struct format_option *format,
                         const struct catalogue *catalogue, struct iwarp_sentence *error);

/*
 * The summary on the terminal, with the path of the page in `folder_path` (NULL: none), unless `format` is for
 * machines.
 */
struct terminal;
void judged_output_summary(struct terminal *terminal, const struct format_option *format,
                           const struct run_summary *summary, const char *folder_path);

/* What leaves a gap in an account: ": 12 frames, 840 octets; missing: 3 frames". */
enum { JUDGED_GAPS_OCTETS = 400 };
const char *judged_output_gaps(const struct flow_account *account, char text[JUDGED_GAPS_OCTETS]);

/* Closes what is still open. */
void judged_output_close(struct judged_output *output);

#endif
