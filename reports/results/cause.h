/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results with one cause: a device that, say, leaves out the CRC field fails many requirements, and reports show that
 * once, with the ids that it concerns. What a cause is called, and what is known of it, the results say (result.cause,
 * result.hint).
 */
#ifndef REPORTS_CAUSE_H
#define REPORTS_CAUSE_H

#include "reports/results/report.h"
#include "base/sentence.h"

struct cause; /* opaque */

/* The causes so far, in the order in which they were met. Zero-initialised: none. */
struct cause_set {
    struct cause *causes;
};

/* FAIL, WARN or INCONCLUSIVE, and the result names its cause: only these are in a set. */
bool cause_counts(const struct result *result);

/*
 * The hint as a single result shows it; NULL: it has none, or one that says no more than expected and actual do ("A in
 * place of B", which names the cause where several results have it).
 */
const char *cause_hint_alone(const struct result *result);

/* Adds such a result; others are left out. Texts are copied. -1 without memory: it was not added. */
int cause_add(struct cause_set *set, const struct result *result);

/* The same of all results that a report kept. */
int cause_add_report(struct cause_set *set, const struct report *report);

void cause_set_free(struct cause_set *set);

/* The cause of a result that was added; NULL: none. */
const struct cause *cause_of(const struct cause_set *set, const struct result *result);

/*
 * A result of the cause that is worse than all before it: it is the one to be shown whole, and cause_add() makes hint
 * and first id its.
 */
bool cause_shown_by(const struct cause *cause, const struct result *result);

/* The first one that more than one result has, and the one after `cause`; NULL: no more. */
const struct cause *cause_first(const struct cause_set *set);
const struct cause *cause_next(const struct cause *cause);

/* Its name, the hint of its first result with the worst verdict ("" when that has none), and the id of that. */
const char *cause_name(const struct cause *cause);
const char *cause_hint(const struct cause *cause);
const char *cause_first_id(const struct cause *cause);
size_t cause_results(const struct cause *cause);

/* The name says what was seen in place of what, or what the ULP has, and no mistake in octets: "silence-for-send". */
bool cause_is_observation(const char *name);

/*
 * One fault behind several causes. What was seen may follow from the one mistake that is named. Mistakes in one kind of
 * message, in one field, or in the framing of FPDUs may be one. Errors that go unnoticed show by each Terminate that does not come, and by what is placed or delivered. What is missing is not seen,
 * and each kind of message that does not come is a cause of its own ("silence-for-send"), if there are three or more.
 * True for these; `text` is then what to say after "perhaps", without an end mark.
 */
bool cause_perhaps_one(const struct cause_set *set, struct iwarp_sentence *text);

/* "MPA-4.1-06, MPA-A.4-02 and 12 more": each id once. */
const char *cause_ids(const struct cause *cause);

#endif
