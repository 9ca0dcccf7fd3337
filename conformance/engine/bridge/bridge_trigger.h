/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When an impairment is due: what it is about, by the numbers that count, so that the same traffic has the same impairments.
 * Fields of events are compared by the script's own table (bridge_script.c). Pure.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_TRIGGER_H
#define CONFORMANCE_ENGINE_BRIDGE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

/* What is below DDP. */
enum bridge_llp { BRIDGE_ANY_LLP, BRIDGE_TCP, BRIDGE_SCTP };

struct bridge_trigger {
    unsigned kind; /* enum flow_event_kind */
    enum bridge_llp llp;
    int side;        /* of the sender; -1: either */
    uint64_t stream; /* the n-th connection of iWARP, from 1; 0: each */
    uint64_t nth;    /* the first match that counts, from 1 */
    uint64_t times;  /* so many matches from it on; UINT64_MAX: all */
    uint64_t matched, due;
};

/* Kind, LLP, side and stream fit: the fields are to be compared. */
static inline bool bridge_trigger_fits(const struct bridge_trigger *trigger, unsigned kind, enum bridge_llp llp,
                                       unsigned side, uint64_t stream)
{
    return trigger->kind == kind && (trigger->llp == BRIDGE_ANY_LLP || trigger->llp == llp) &&
           (trigger->side < 0 || (unsigned)trigger->side == side) &&
           (trigger->stream == 0 || trigger->stream == stream);
}

/* All fits: counts it. True: it is one of those that are due. */
static inline bool bridge_trigger_count(struct bridge_trigger *trigger)
{
    trigger->matched++;
    if (trigger->matched < trigger->nth || trigger->due >= trigger->times)
        return false;
    trigger->due++;
    return true;
}

/* Nothing can be due any more. */
static inline bool bridge_trigger_is_over(const struct bridge_trigger *trigger)
{
    return trigger->due >= trigger->times;
}

#endif
