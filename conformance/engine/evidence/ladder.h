/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ladder of one check: what the tester and the device sent on the tester's connections, and the check's notes. A
 * long ladder keeps its first and its last steps, because the verdict is said at the end.
 */
#ifndef CONFORMANCE_ENGINE_LADDER_H
#define CONFORMANCE_ENGINE_LADDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/evidence/own_connections.h"
#include "conformance/flow/event/flow.h"

struct ladder;

enum { LADDER_STEPS_MAX = 400, LADDER_STEPS_FIRST = 200 };

/* NULL without memory. */
struct ladder *ladder_new(void);
void ladder_free(struct ladder *ladder);

/* A new ladder without steps; with `kept` false it stays empty. */
void ladder_begin(struct ladder *ladder, bool kept);

/* A flow's event, when it has something to show. The ports are those of its connection; 0: it is of no connection. */
void ladder_event(struct ladder *ladder, const struct flow_event *event, double seconds, bool from_dut,
                  uint16_t own_port, uint16_t dut_port);

void ladder_note(struct ladder *ladder, const char *text, double seconds);

/* The steps, an array of result_step(); borrowed, until the next ladder_begin(). NULL: it is not kept. */
json_t *ladder_steps(struct ladder *ladder);

/*
 * The step that a last_seen means; borrowed. `frame` is the result of own_connections_find() and may be NULL;
 * `start_ns` is the ladder's start. If no step shows the frame, a step is added for it, so that a verdict never names a
 * frame that its ladder lacks. NULL: there is no such step.
 */
json_t *ladder_find(struct ladder *ladder, const struct last_seen *last_seen, const struct own_frame *frame,
                    uint64_t start_ns);

#endif
