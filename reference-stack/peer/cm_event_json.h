/* SPDX-License-Identifier: BSD-2-Clause */
/* An event of a CM agent as a line of text. */
#ifndef REFERENCE_STACK_CM_EVENT_JSON_H
#define REFERENCE_STACK_CM_EVENT_JSON_H

#include "reference-stack/cm/cm_agent.h"

/*
 * A JSON object in one line, malloc'd, without a line feed; NULL: no memory. Members:
 *   event             request, refused, established, rejected, timeout, disconnected
 *   exchange          its number; not of refused
 *   peer              the other agent's place
 *   service_id        "0x0000000001060cbc"
 *   protocol source source_port destination destination_port version     of a request by the service
 *   data              Private Data, or the consumer's part of it, in hexadecimal, up to the last octet that is not zero
 *   requirement       refused: by a validation
 *   reason reason_name layer code info service_proven     refused, rejected
 */
char *cm_event_json(const struct cm_event *event);

#endif
