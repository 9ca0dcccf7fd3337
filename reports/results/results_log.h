/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * results.jsonl, version 2: written as a run goes, one object a line, one write() a line (or so many lines, between
 * results_log_hold() and results_log_release()). A run that is killed, or a disk that fills, loses at most what is
 * being written; results_read() steps over a torn last line.
 */
#ifndef REPORTS_RESULTS_LOG_H
#define REPORTS_RESULTS_LOG_H

#include "reports/results/difference.h"
#include "reports/results/end_line.h"
#include "reports/results/journal.h"
#include "reports/file/place.h"
#include "reports/results/result.h"
#include "base/sentence.h"

#include <stdio.h>

struct results_log; /* opaque */
struct results_done;

/*
 * Starts a new file at `place` (one that the user names is truncated, in a held folder there must be none) and writes
 * the run line. `place` NULL: no file, only the echo. `echo`, when not NULL, receives every line too (`--format jsonl`
 * hands stdout in) and stays the caller's. An echo that fails (its ferror() says so) gets no more lines; it is an error
 * where there is no file. NULL on error, with the sentence set. Free with results_log_close().
 */
struct results_log *results_log_create(const struct place *place, const struct run_info *info, FILE *echo,
                                       struct iwarp_sentence *error);

/*
 * Continues an existing file (`--resume`): refuses one whose run line names another program, catalogue, target,
 * seed, shard or condition (struct run_info), and merged results. Keeps each check's result that has its journal, cuts
 * a torn last line off, and drops INCONCLUSIVE results, the rules' results and the summary, which are made again: what
 * follows is as if the run had not been stopped. What is kept is in *done when `done` is not NULL (free with
 * results_done_free()), and its verdicts are counted in what results_log_summary() gives. A file that is missing, or
 * has no whole line, is started anew.
 */
struct results_log *results_log_resume(const struct place *place, const struct run_info *info, FILE *echo,
                                       struct results_done **done, struct iwarp_sentence *error);

/* Appends one result. 0, or -1 with the sentence set (disk full, ...); what was written before is kept whole. */
int results_log_append(struct results_log *log, const struct result *result, struct iwarp_sentence *error);

/* The same of a result that is a line already: `octets` of it, with its newline, as result_line_append() makes it. */
int results_log_append_line(struct results_log *log, enum verdict verdict, const char *line, size_t octets,
                            struct iwarp_sentence *error);

/*
 * The journal of the check whose result is appended next: both lines are written together. 0, or -1 with the sentence
 * set (out of memory).
 */
int results_log_journal(struct results_log *log, const struct journal *journal, struct iwarp_sentence *error);

/*
 * Appends what the device serves in a role, as the run learned it before the role's checks (an object with "role",
 * which is not changed). 0, or -1 with the sentence set.
 */
int results_log_services(struct results_log *log, const json_t *services, struct iwarp_sentence *error);

/*
 * Appends a rule's result that adds nothing to what a check decided, of a shard: a merge may need it. It is not
 * counted.
 */
int results_log_surplus(struct results_log *log, const struct result *result, struct iwarp_sentence *error);

/* Appends the line of a capture that was read: after its results. */
int results_log_capture(struct results_log *log, const struct capture_info *info, struct iwarp_sentence *error);

/* Appends why a flow of a capture ended: after the results of the flow. Held as results are. */
int results_log_end(struct results_log *log, const struct end_line *line, struct iwarp_sentence *error);

/* Appends how the findings differ from those that were expected. */
int results_log_difference(struct results_log *log, const struct difference *difference, struct iwarp_sentence *error);

/*
 * From hold to release lines gather and are written together: for the many results of one flow, which come at once.
 * Release returns 0, or -1 with the sentence set, as appending does.
 */
void results_log_hold(struct results_log *log);
int results_log_release(struct results_log *log, struct iwarp_sentence *error);

/* The verdict counts of everything appended (resumed results included); the traffic counters are the caller's. */
const struct run_summary *results_log_summary(const struct results_log *log);

/* Appends the summary line. 0 / -1 with the sentence set. */
int results_log_finish(struct results_log *log, const struct run_summary *summary, struct iwarp_sentence *error);

/* Closes and frees; `log` may be NULL. -1 with the sentence set when closing reports a late write error. */
int results_log_close(struct results_log *log, struct iwarp_sentence *error);

/* What the file has of one check: its two lines, the result's without the ladder. */
struct results_kept {
    json_t *journal, *result;
};

/* NULL: the check `id` in `role` (NULL: no role) was not decided before; INCONCLUSIVE does not count as decided. */
const struct results_kept *results_done_find(const struct results_done *done, const char *id, const char *role);
bool results_done_has(const struct results_done *done, const char *id, const char *role);

/* The journals, an array, of checks that are to be repeated, or were, and in which rules found something. */
const json_t *results_done_repeated(const struct results_done *done);
/* What the device serves, as it was learned last: one object a role, in an array. */
const json_t *results_done_services(const struct results_done *done);
size_t results_done_count(const struct results_done *done);
void results_done_free(struct results_done *done);

/* What results_read() calls for each line; any may be NULL. `object` is the line, alive during the call only
 * (json_incref() keeps it, and with it the strings of the structures). A return other than 0 stops the reading. */
struct results_reader {
    int (*on_run)(void *user, const struct run_info *info, json_t *object);
    /*
     * Of a run that was stopped also what its rules had found by then: after all other results, before the summary if
     * there is one. `object` is then made for this call.
     */
    int (*on_result)(void *user, const struct result *result, json_t *object);
    int (*on_journal)(void *user, const struct journal *journal, json_t *object);
    int (*on_capture)(void *user, const struct capture_info *info, json_t *object);
    /* shards and merged results: a rule's result that adds nothing to what a check decided, kept for the next merge */
    int (*on_beside)(void *user, const struct result *result, json_t *object);
    int (*on_end)(void *user, const struct end_line *line, json_t *object);
    int (*on_difference)(void *user, const struct difference *difference, json_t *object);
    int (*on_services)(void *user, json_t *object); /* what the device serves in a role (engine/script/services.h) */
    int (*on_summary)(void *user, const struct run_summary *summary, json_t *object);
    void (*on_console)(void *user, const char *text); /* the end of what the device said on its console */
    bool
        strict; /* lines that are lost or changed, as the summary shows (reports/results/results_chain.h), are an error, no note */
    void (*on_note)(void *user, const char *note); /* e.g. "results.jsonl:17: last line is torn, ignored" */
    void *user;
};

/*
 * Reads results.jsonl from `path`. 0; or -1 with a sentence "path:line: ..." on a line that is not JSON, not a known
 * object or longer than 16 MiB, on a file that does not begin with a run line of version 1 or 2, and on I/O errors.
 * Lines before the bad one have been delivered. Unknown members are ignored, unknown line types noted and ignored.
 */
int results_read(const char *path, const struct results_reader *reader, struct iwarp_sentence *error);

/* The same of a file in a folder that is held: no link is followed. */
int results_read_place(const struct place *place, const struct results_reader *reader, struct iwarp_sentence *error);

#endif
