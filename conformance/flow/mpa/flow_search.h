/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a connection whose beginning was not captured iWARP, or is it certainly something else? */
#ifndef FLOW_FLOW_SEARCH_H
#define FLOW_FLOW_SEARCH_H

#include "conformance/flow/mpa/flow_connection.h"

/* flow_search.c */
/* Octets without a pair of FPDUs, and without a gap, after which a connection is not MPA. */
size_t flow_search_window(void);
/* Looks for FPDUs in the next octets of a stream. Where the second of a pair begins in them; SIZE_MAX: nowhere. */
size_t flow_search_octets(struct flow_side *side, const uint8_t *octets, size_t count);
/* Octets that were not looked at follow. */
void flow_search_break(struct flow_side *side);
void flow_search_release(struct flow_side *side);
/* Nothing in the octets that were looked at can be an FPDU stream. */
bool flow_search_excludes(const struct flow_side *side);
/* Looks at how a segment with payload begins, before it is taken. */
void flow_search_segment(struct flow_connection *connection, const struct flow_segment *segment);
/* The connection, whose start was not captured, is certainly not MPA. */
bool flow_search_is_foreign(const struct flow_connection *connection);
/* Something in it looked like two FPDUs that follow each other. */
bool flow_search_paired(const struct flow_connection *connection);

/* flow_records.c */
/* The next octets of a stream of which nobody knows what it is: the piece's, from `used` on. */
void flow_records_octets(struct flow_side *side, const struct flow_piece *piece, size_t used);
/* Octets that were not captured follow. */
void flow_records_lost(struct flow_side *side, uint64_t count);
/*
 * All that was captured of a side, or of both sides together, is a chain of another protocol's records. `paired`:
 * something in it looked like two FPDUs that follow each other, so that the chain has to be surer.
 */
bool flow_records_prove(const struct flow_side sides[2], bool paired);
void flow_records_release(struct flow_side *side);

#endif
