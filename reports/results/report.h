/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A results.jsonl in memory, as the reports want it: one entry a requirement and role, the interesting results kept,
 * the rest counted. An audit of thousands of flows so costs what its findings cost.
 */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "reports/results/difference.h"
#include "reports/results/end_line.h"
#include "reports/results/known.h"
#include "reports/file/place.h"
#include "reports/results/report_case.h"
#include "reports/results/result.h"
#include "base/hash.h"
#include "base/sentence.h"

struct catalogue;
struct requirement;

#define REPORT_KEPT_RESULTS 25 /* of one verdict and entry, in the order they came */

struct report_entry {
    const char *id;
    const char *role;                      /* "" where the results name none */
    const struct requirement *requirement; /* NULL: not in this catalogue (results of another version) */
    enum verdict worst;                    /* FAIL, KNOWN, WARN, INCONCLUSIVE, AMBIGUOUS, PASS, SKIP, in this order */
    uint64_t counts[VERDICT_COUNT];        /* results of each verdict */
    uint64_t seen[VERDICT_COUNT];          /* the sums of their `count` members */
    uint64_t duration_ns;
    struct result *kept; /* all verdicts mixed; strings point into `objects` */
    json_t **objects;
    size_t kept_count, kept_room;
    struct report_cases cases; /* of an audit: what it found in each capture */
    UT_hash_handle hh;
    char key[]; /* "id role" */
};

/* A capture that was audited; strings point into `object`. */
struct report_capture {
    struct capture_info info;
    bool whole;
    json_t *object;
};

/* Why a flow of an audit ended; strings point into `object`. */
struct report_end {
    struct end_line line;
    json_t *object;
};

#define REPORT_KEPT_ENDS 300 /* in the order they came */

/* How an audit's findings differ from what they were to be; strings point into `object`. */
struct report_difference {
    struct difference difference;
    json_t *object;
};

struct report {
    struct run_info info;
    struct run_summary summary; /* traffic: of the file's summary line; verdicts: counted from its results */
    bool finished;              /* the file has a summary line that names no reason to stop: the run came to its end */
    struct report_entry **entries; /* in catalogue order, then by role; unknown ids last */
    size_t entry_count;
    struct report_capture *captures; /* of an audit, in their order */
    size_t capture_count, capture_room;
    struct report_end *ends; /* of an audit, REPORT_KEPT_ENDS at most */
    size_t end_count, end_room;
    uint64_t end_total;
    struct report_difference *differences; /* of an audit with --expect */
    size_t difference_count, difference_room;
    size_t unread;        /* of them, those that break off or are none */
    size_t script_errors; /* results that say so */
    size_t skipped;       /* files and folders that were not read, at the end of `captures` or between */
    char note[512];       /* what the reader remarked, "" for nothing */
    const char *console;  /* the end of the device's console, when it died in the run; NULL: not there */
    struct place source;  /* the results that it was loaded from; its strings are the caller's */
    /* private */
    struct run_summary counted;
    struct report_files files; /* that `cases` name */
    struct finding_set findings;
    json_t *info_object, *summary_object, *console_text;
    struct report_entry *hash;
    const struct catalogue *catalogue;
};

/* Which requirements have a check or a rule at all; `covers` NULL: not known. */
struct report_coverage {
    bool (*covers)(void *user, const char *id);
    void *user;
};

/*
 * Loads the file. 0, or -1 with the sentence set and nothing to free. `catalogue` may be NULL and outlives the report.
 */
int report_load(struct report *report, const char *path, const struct catalogue *catalogue,
                struct iwarp_sentence *error);

/* The same of a file in a folder that is held. */
int report_load_place(struct report *report, const struct place *place, const struct catalogue *catalogue,
                      struct iwarp_sentence *error);
void report_free(struct report *report);

/* The first result kept of that verdict, NULL when there is none. */
const struct result *report_first(const struct report_entry *entry, enum verdict verdict);

/* The entries of one requirement: from the array, *count of them; NULL when it was not exercised. */
struct report_entry *const *report_find(const struct report *report, const struct requirement *requirement,
                                        size_t *count);

/* "expected X; got Y", or the message if the result has no such pair: one line, malloc'd, NULL without memory. */
char *report_sentence(const struct result *result);

/* Why there is no more of a run that did not come to its end; NULL: it did. */
const char *report_stopped(const struct report *report);

/* How to get the rest of it, after that sentence: "; --resume goes on" of a run, "" of what has no such option. */
const char *report_goes_on(const struct report *report);

/* True of a file or folder that was not read: its reason is in the account. */
bool report_is_skipped(const struct report_capture *capture);

/* What could not be read of a capture that is not whole, as a sentence. */
const char *report_unread(const struct report_capture *capture);

/* The program's exit status, derived from the results. An unfinished run is never a success. */
enum exit_status report_exit_status(const struct report *report);

/* What that status says of the device: "conforms", "does not conform", ... */
const char *report_outcome(const struct report *report);

#endif
