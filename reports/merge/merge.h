/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges several results.jsonl of one device into one: the shards of a run, or a run and its repeated checks. Merging
 * is associative and commutative, and the same results twice count once, so that any tree of merges gives the same
 * file:
 *
 *   a check, or a rule on one flow of a capture    of those with the same id, role (and file and flow) the worst counts:
 *                                                  FAIL, KNOWN, WARN, AMBIGUOUS, PASS, INCONCLUSIVE, SKIP. Verdicts that
 *                                                  contradict it are kept in `otherwise`.
 *   a rule in a run                                one result a role for all traffic: the worst counts, how often it was seen is
 *                                                  added up over the parts. As in a run that was not shared out, it is a
 *                                                  result only where no check decided the requirement in that role as badly.
 *   traffic, files                                 added up over the parts
 *
 * A part is identified by the shard's name, or by the time when the run started.
 */
#ifndef REPORTS_MERGE_H
#define REPORTS_MERGE_H

#include "reports/folder/folder.h"
#include "reports/results/result.h"
#include "base/sentence.h"

/* Into how many shards a run can be divided. */
enum { MERGE_SHARDS_MAX = 4096 };

struct catalogue;
struct merge; /* opaque */

/* NULL without memory. `catalogue` outlives it. */
struct merge *merge_new(const struct catalogue *catalogue);
void merge_free(struct merge *merge);

/*
 * Adds the results.jsonl at `path`; its evidence is looked for in `dir`. -1 with the sentence set when it cannot be
 * read, or is of another device, profile, program, catalogue, seed or division than those before it.
 */
int merge_add(struct merge *merge, const char *path, const char *dir, struct iwarp_sentence *error);

struct merge_outcome {
    struct run_summary summary;
    char incomplete[640];    /* what is missing, "" for nothing: "shards 2 and 4 of 4 are missing" */
    bool foreign, damaged;   /* of an audit: some capture was none, some breaks off */
    size_t evidence_missing; /* results whose evidence was not there */
    /* one result for which the parts had different verdicts; the strings are valid during the call. NULL: not called */
    void (*contradiction)(void *user, const struct result *result);
    void *user;
};

/*
 * Settles what was added and writes results.jsonl and evidence/ into the folder. When something is missing, its summary
 * says so, as that of a run which did not come to its end. 0, or -1 with the sentence set. Only once.
 */
int merge_write(struct merge *merge, struct folder *folder, struct merge_outcome *outcome,
                struct iwarp_sentence *error);

/* What a run that was not shared out would have ended with; what is missing makes it EXIT_INCONCLUSIVE at best. */
enum exit_status merge_exit_status(const struct merge_outcome *outcome);

#endif
