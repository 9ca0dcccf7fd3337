/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules found over a whole live run: for each requirement the worst verdict, with the first finding of that
 * kind, however many checks made traffic. A run, a run that is resumed, and a reader of a run that was stopped fill it
 * from the same journals, so that all of them come to the same results.
 */
#ifndef REPORTS_RULE_POOL_H
#define REPORTS_RULE_POOL_H

#include <uthash.h>

#include "reports/journal.h"

struct rule_pool_entry {
    struct result result; /* as found: of the journal that counts, but `count` is that of all journals */
    struct journal_judged judged;
    char *texts;       /* private: what the strings of both point into */
    UT_hash_handle hh; /* by result.id */
};

struct rule_pool; /* opaque */

/* NULL without memory. */
struct rule_pool *rule_pool_new(void);
void rule_pool_free(struct rule_pool *pool);

/*
 * Adds one check's journal: what the check itself found and what the rules did. `repeated`: the check was repeated, or
 * stopped: findings alone are added. -1 without memory.
 */
int rule_pool_add(struct rule_pool *pool, const struct journal *journal, bool repeated);

/* NULL: the rule of this requirement was not exercised. */
struct rule_pool_entry *rule_pool_find(const struct rule_pool *pool, const char *id);

/* The first entry; the others follow in entry->hh.next, in the order in which rules were exercised first. */
struct rule_pool_entry *rule_pool_first(const struct rule_pool *pool);

/* A rule adds to what checks have decided about the same requirement only when it found worse. */
bool rule_pool_adds(const struct rule_pool *pool, const struct rule_pool_entry *entry);

#endif
