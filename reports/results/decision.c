/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/decision.h"

bool verdict_is_worse(enum verdict verdict, enum verdict than)
{
    return verdict != than && verdict_worse(verdict, than) == verdict;
}

void decision_add(struct decision *decision, unsigned role, enum verdict verdict)
{
    if (role < ROLE_SLOTS && (decision->worst[role] == 0 || verdict_is_worse(verdict, decision->worst[role] - 1)))
        decision->worst[role] = (unsigned char)(verdict + 1);
}

/* Neither a skipped check nor one that the environment disturbed says anything about the device. */
static bool is_decided(unsigned char worst)
{
    return worst != 0 && worst - 1 != VERDICT_SKIP && worst - 1 != VERDICT_INCONCLUSIVE;
}

bool decision_adds(const struct decision *decision, unsigned role, enum verdict verdict)
{
    unsigned char best = 0;

    for (unsigned i = 0; decision && i < ROLE_SLOTS; i++) {
        unsigned char other = decision->worst[i];

        if ((role != ROLE_UNKNOWN && i != role) || !is_decided(other))
            continue;
        if (best == 0 || verdict_is_worse(best - 1, other - 1))
            best = other;
    }
    return best == 0 || verdict_is_worse(verdict, best - 1);
}
