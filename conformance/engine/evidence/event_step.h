/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoder's event as a step of a ladder: what `run` records live and `audit` finds in a file look the same. */
#ifndef CONFORMANCE_ENGINE_EVENT_STEP_H
#define CONFORMANCE_ENGINE_EVENT_STEP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow.h"

/* The octets worth showing of an event, valid as long as it is: the start-up frame or the ULPDU; *count 0 for none. */
void event_octets(const struct flow_event *event, const uint8_t **octets, size_t *count);

/*
 * A new reference to a step (reports/results/result.h) that says `text` (notation_event()'s), `seconds` from the
 * ladder's start, sent by `from` ("tester" or "dut"), with at most `room` octets. NULL without memory.
 */
json_t *event_step(const struct flow_event *event, const char *text, double seconds, const char *from, size_t room);

/* What a step shows of an event besides its text. It is enough to make the step after the event has ended. */
struct event_shown {
    const char *kind;      /* of the step: static */
    const uint8_t *octets; /* the event's: a keeper copies them, and points here to its copy */
    size_t count;          /* of them */
    size_t whole;          /* octets of the whole message, where these are its first ones */
    uint64_t frame;
};

void event_shown(const struct flow_event *event, struct event_shown *shown);

/* The same as event_step(), from `shown` in place of the event. */
json_t *event_shown_step(const struct event_shown *shown, const char *text, double seconds, const char *from,
                         size_t room);

#endif
