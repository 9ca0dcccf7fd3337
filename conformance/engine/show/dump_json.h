/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the decoder as JSON. Fields bear the identifiers of wire/'s tables; numbers that the tables want in
 * hexadecimal are strings "0x...", because they may have 64 bits; flags are booleans.
 */
#ifndef CONFORMANCE_ENGINE_DUMP_JSON_H
#define CONFORMANCE_ENGINE_DUMP_JSON_H

#include <jansson.h>

#include "conformance/flow/event/flow.h"

/* An object with the event's kind, frames, flow and direction, and what it alone knows. NULL without memory. */
json_t *dump_json_event(const struct flow_event *event);

/* A message of the port mapper. NULL without memory. */
json_t *dump_json_port_mapper(const struct flow_port_mapper *said);

/* Adds the "ddp" or "rdmap" part of an event to the object of its FLOW_ULPDU. 0, or -1 without memory. */
int dump_json_extend(json_t *object, const struct flow_event *event);

#endif
