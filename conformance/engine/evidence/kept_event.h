/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event of the decoder, kept for a ladder beyond its call: most of what is kept is never drawn, so it is cheap to
 * keep.
 */
#ifndef CONFORMANCE_ENGINE_KEPT_EVENT_H
#define CONFORMANCE_ENGINE_KEPT_EVENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/evidence/event_step.h"
#include "conformance/flow/event/flow.h"
#include "conformance/flow/notation/notation.h"

enum {
    KEPT_EVENT_OCTETS = MPA_START_MAX, /* of each message; longer than every header and Terminate, too */
    KEPT_EVENT_SHOWN = 128,            /* of those in a step */
};

/*
 * All that a step is made of, kept beyond the event's call: nothing in it points to what was the event's. An event of a
 * TCP connection is kept itself, since most are never drawn; of all others their text.
 */
struct kept_event {
    struct event_shown shown; /* its octets are those below */
    double seconds;
    enum flow_direction direction;
    bool has_text;
    char text[NOTATION_MAX];
    struct flow_event event; /* without a text */
    union {
        struct flow_open open;
        struct flow_close close;
        struct flow_gap gap;
        struct flow_start start;
        struct {
            struct flow_ulpdu ulpdu;
            struct flow_fpdu fpdu;
            struct flow_ddp ddp;
            struct flow_rdmap rdmap;
        };
    };
    json_t *step[FLOW_DIRECTIONS];
    uint8_t octets[KEPT_EVENT_OCTETS];
};

/*
 * Keeps this event in place of another one; a zeroed structure has none. The flow has to be there until the step is
 * made.
 */
void kept_event_copy(struct kept_event *kept, const struct flow_event *event);
void kept_event_release(struct kept_event *kept);

/* The step, as it looks when `judged` is the judged sender's direction; borrowed. NULL without memory. */
json_t *kept_event_step(struct kept_event *kept, unsigned judged);

/* From the beginning of the event's flow. */
double kept_event_seconds(const struct flow_event *event);

/* "dut" where the judged sender sends, else "tester": as in result_step(). */
const char *kept_event_from(enum flow_direction direction, unsigned judged);

#endif
