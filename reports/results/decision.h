/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the checks of one run decided about one requirement, by role of the device, after known deviations were applied.
 * A rule is a result of its own only where it adds something. An excused failure (KNOWN) hides neither a failure that
 * is not excused, nor anything in the other role.
 */
#ifndef REPORTS_DECISION_H
#define REPORTS_DECISION_H

#include <stdbool.h>

#include "reports/results/result.h"

/* Zero-initialised: no check decided anything. */
struct decision {
    unsigned char worst[ROLE_SLOTS]; /* 1 + verdict; 0: none */
};

/* Is `verdict` worse than `than`? */
bool verdict_is_worse(enum verdict verdict, enum verdict than);

/* A check's verdict in a role (role_slot()); of several the worst counts. */
void decision_add(struct decision *decision, unsigned role, enum verdict verdict);

/*
 * Does a rule's verdict add to what checks decided about the same requirement in the same role? It does where they
 * decided nothing, and where it is worse. A rule on traffic whose roles are not known is compared with every role: it
 * adds something when it is worse than the best of them. NULL: no check decided anything.
 */
bool decision_adds(const struct decision *decision, unsigned role, enum verdict verdict);

#endif
