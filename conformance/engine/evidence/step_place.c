/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/step_place.h"

#include "conformance/flow/notation/notation.h"

unsigned step_place_next(struct step_place *place, const struct flow_event *event)
{
    if (place->flow != event->flow->number || place->frame != event->frame ||
        place->direction != (unsigned)event->direction)
        *place = (struct step_place){event->flow->number, event->frame, (unsigned)event->direction, 0};
    return notation_shows(event) ? place->steps++ : place->steps;
}
