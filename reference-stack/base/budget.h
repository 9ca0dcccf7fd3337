/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much memory strangers may make a program hold: what grows with what they send is taken from one budget, and given
 * back when it is freed. What is refused fails as if memory were short, for him alone who asked for it.
 */
#ifndef REFERENCE_STACK_BUDGET_H
#define REFERENCE_STACK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
    uint64_t most; /* 0: no limit */
    uint64_t used;
    uint64_t refused; /* how often */
};

enum { BUDGET_RESERVE = 16 }; /* a 16th of it is for the operator alone */

static inline bool budget_charge_within(struct budget *budget, uint64_t octets, uint64_t most)
{
    if (most != 0 && (budget->used > most || octets > most - budget->used)) {
        budget->refused++;
        return false;
    }
    budget->used += octets;
    return true;
}

/* False, and nothing is taken, when there is not so much left. `budget` may be NULL: no limit. */
static inline bool budget_charge(struct budget *budget, uint64_t octets)
{
    return budget == NULL || budget_charge_within(budget, octets, budget->most - budget->most / BUDGET_RESERVE);
}

/* The same for the operator: peers that have taken all that peers may have do not lock him out. */
static inline bool budget_charge_reserved(struct budget *budget, uint64_t octets)
{
    return budget == NULL || budget_charge_within(budget, octets, budget->most);
}

/* Takes it whether there is so much left or not. */
static inline void budget_add(struct budget *budget, uint64_t octets)
{
    if (budget != NULL)
        budget->used += octets;
}

static inline void budget_give(struct budget *budget, uint64_t octets)
{
    if (budget != NULL)
        budget->used -= octets;
}

#endif
