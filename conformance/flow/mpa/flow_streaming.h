/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets before any start-up frame (RFC 5044 7.1.4). */
#ifndef FLOW_FLOW_STREAMING_H
#define FLOW_FLOW_STREAMING_H

#include "conformance/flow/mpa/flow_mpa_internal.h"

enum { FLOW_KEY_KIND = 9 }; /* "MPA ID Req" or "MPA ID Rep": the octet that differs */
/* Where a Key begins in the octets, or may begin at their end; `count`: nowhere. */
size_t flow_start_key(const uint8_t *octets, size_t count);
/* Octets that are no start-up frame were seen before: one may still come, at the beginning of a segment. */
size_t flow_start_streaming(const struct flow_context *context, const struct flow_piece *piece, size_t used);
/* Notes whether a Key stands among octets that nothing else is known of. */
void flow_start_look(struct flow_connection *connection, const uint8_t *octets, size_t count);

#endif
