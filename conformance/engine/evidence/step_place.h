/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which step of its frame an event is. A frame may have several messages, and a rule of somebody's own is not asked
 * again when ladders are drawn: the place says which message it meant. Both passes see the same events, in one order.
 */
#ifndef CONFORMANCE_ENGINE_STEP_PLACE_H
#define CONFORMANCE_ENGINE_STEP_PLACE_H

#include <stdint.h>

#include "conformance/flow/event/flow.h"

struct step_place {
    uint64_t flow, frame;
    unsigned direction;
    unsigned steps; /* of this frame, flow and direction so far */
};

/*
 * The place of an event's step in its frame, flow and direction, from 0; an event without a step of its own (an FPDU,
 * a DDP header) has that of the next one. To be asked once for each event, in their order.
 */
unsigned step_place_next(struct step_place *place, const struct flow_event *event);

#endif
