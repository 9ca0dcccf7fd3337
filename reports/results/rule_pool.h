/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules found over a whole live run: for each requirement and role of the device the worst verdict, with the
 * first finding of that verdict, however many checks made traffic. A failure that a known deviation excuses counts as
 * KNOWN, so it hides no failure that is not excused. A run, a run that is resumed, and a reader of a run that was
 * stopped fill it from the same journals, so that all of them come to the same results.
 */
#ifndef REPORTS_RULE_POOL_H
#define REPORTS_RULE_POOL_H

#include "reports/results/journal.h"

struct rule_pool_entry {
    struct result result; /* as found: of the journal that counts, but `count` is that of all journals */
    struct journal_judged judged;
    char *texts;                 /* private: what the strings of both point into */
    struct rule_pool_item *item; /* private */
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

/* NULL: the rule of this requirement was not exercised in this role (role_slot()). */
struct rule_pool_entry *rule_pool_find(const struct rule_pool *pool, const char *id, unsigned role);

/* The entries, requirement after requirement in the order in which the run met these first; NULL: there are no more. */
struct rule_pool_entry *rule_pool_first(const struct rule_pool *pool);
struct rule_pool_entry *rule_pool_next(const struct rule_pool_entry *entry);

/* A rule adds to what checks have decided about the same requirement in the same role only when it found worse. */
bool rule_pool_adds(const struct rule_pool_entry *entry);

#endif
