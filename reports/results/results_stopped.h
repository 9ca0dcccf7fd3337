/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules' results of a run that did not come to its end, made of its journals: a run writes these results last. For
 * results_read() alone.
 */
#ifndef REPORTS_RESULTS_STOPPED_H
#define REPORTS_RESULTS_STOPPED_H

#include "reports/results/rule_pool.h"
#include "base/sentence.h"

struct stopped {
    struct rule_pool *pool;
    json_t *pending;              /* the journal that was read last, when its check's result has not followed yet */
    json_t *functions;            /* of the "rules" line: names of rules, by requirement */
    json_t *reported[ROLE_SLOTS]; /* ids of which the file has a rule's result, by role of the device */
    bool shard;                   /* this is a part of a run: a merge wants what adds nothing, too */
    bool done;
};

/* All of them return 0, or -1 without memory. The structure begins as {0}. */
int stopped_journal(struct stopped *stopped, json_t *object);
int stopped_result(struct stopped *stopped, const struct result *result);
int stopped_rules(struct stopped *stopped, json_t *object);

typedef int stopped_function(void *user, const struct result *result, json_t *object);

/*
 * Calls `added` for each result that is not in the file, and that the run would have written if it had ended here.
 * Calls `beside` for each rule's result that adds nothing to a check's result; NULL: not called. If a callback returns
 * another value than 0, the function stops and returns it. Out of memory: -1 and a sentence. Later calls do nothing.
 */
int stopped_finish(struct stopped *stopped, stopped_function *added, stopped_function *beside, void *user,
                   struct iwarp_sentence *error);

void stopped_free(struct stopped *stopped);

#endif
