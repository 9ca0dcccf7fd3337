/* SPDX-License-Identifier: BSD-2-Clause */
/* Which Read or Atomic Request a response answers (RFC 5040 5.2, RFC 7306 5.2). */
#ifndef FLOW_FLOW_REQUEST_H
#define FLOW_FLOW_REQUEST_H

#include "conformance/flow/event/flow.h"

/* The oldest one with that opcode that nothing is wrong with, else the oldest; NULL: there is none. */
const struct flow_request *flow_request_oldest(const struct flow_half *half, unsigned opcode);

/* The segment begins where the Read's response does, or goes on after what was answered. */
bool flow_request_names(const struct flow_request *request, const struct ddp_segment *segment);

/* ---- for flow_rdmap.c ---- */

void flow_requests_clear(struct flow_half *half);
/*
 * The Read Request of `requester` that the Read Response of `half` answers; NULL: none waits. *first says whether the
 * segment begins a response, as far as DDP's L bit shows; becomes true where the one before is over without it.
 */
const struct flow_request *flow_request_of_response(const struct flow_half *half, const struct flow_half *requester,
                                                    const struct ddp_segment *segment, bool *first);
/* The Atomic Request with that identifier, else the oldest one. */
const struct flow_request *flow_request_of_atomic(const struct flow_half *requester, uint32_t id);
/*
 * `segment` begins the response to that request: where the response fits the request's fields with their octets in
 * reverse order, and does not fit them as they were sent, the request is read so from here on.
 */
void flow_request_reread(struct flow_half *requester, const struct flow_request *request,
                         const struct ddp_segment *segment);
/* Notes the event's request, or that one is answered. The state of DDP is still that before the event. */
void flow_requests_update(struct flow *flow, const struct flow_event *event);

#endif
