/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA: octets in stream order -> start-up frames and FPDUs. What TCP calls; flow_mpa_internal.h has the rest of the
 * room.
 */
#ifndef FLOW_FLOW_MPA_H
#define FLOW_FLOW_MPA_H

#include "conformance/flow/mpa/flow_connection.h"

/* flow_recognise.c */
/* Makes the connection a flow (once). `initiator` is the side of the MPA Initiator, or the best guess. */
bool flow_recognise(const struct flow_context *context, unsigned initiator, bool roles_known);
/* An event with flow, direction, frame and time filled in, those of the context. */
struct flow_event flow_event_make(const struct flow_context *context, enum flow_event_kind kind);
void flow_undecoded(const struct flow_context *context, enum flow_reason reason);

/* flow_pending.c */
/* Counts octets of a connection in a row, or keeps them until it is known what the connection carries. */
void flow_octets(const struct flow_context *context, enum flow_row row, uint64_t octets);
/* The connection has become a flow: what was kept is counted. */
void flow_settle_flow(struct flow_common *common, struct flow_connection *connection);
/* The connection is certainly not MPA, as far as it was seen. */
void flow_settle_foreign(struct flow_connection *connection);

/* flow_mpa.c, flow_start.c */
/* Decodes a piece; returns how many of its captured octets were taken: fewer when the rest has to wait. */
size_t flow_mpa_octets(const struct flow_context *context, const struct flow_piece *piece);
/* `count` octets of the stream are missing; `cut`: because the capture cut the frame. */
void flow_mpa_lost(const struct flow_context *context, uint64_t count, bool cut);
/* True while nothing of this side may be decoded. */
bool flow_mpa_blocked(const struct flow_connection *connection, unsigned side);
/* Ends the waiting. */
void flow_mpa_go_on(struct flow_connection *connection, unsigned side);
/* Octets of a unit that was begun and is not finished. */
size_t flow_mpa_partial(const struct flow_side *side);
/* The stream has ended with the context's frame: reports a start-up frame that is not whole. */
void flow_mpa_end(const struct flow_context *context);
bool flow_mpa_reserve(struct flow_common *common, struct flow_side *side, size_t octets);
void flow_mpa_release(struct flow_common *common, struct flow_side *side);
/* The unit is not needed any more. */
void flow_mpa_unit_done(struct flow_common *common, struct flow_side *side);
/* The stream goes on so many octets before the next one: what was decoded of them was not what the receiver took. */
void flow_mpa_rewind(const struct flow_context *context, uint64_t octets);
/* Where in the stream a sequence number stands, from SeqStart on; only while that is known. */
uint64_t flow_mpa_position(const struct flow_side *side, uint64_t at);
/* Boundaries are lost from here on. */
void flow_mpa_lose_sync(const struct flow_context *context);

/* flow_mend.c */
/* The stream has ended with the sender's FIN: an FPDU that is whole by a mistake of its sender is reported. */
void flow_fpdu_end(const struct flow_context *context);

/* flow_lock.c */
/*
 * The side holds the first octets of an FPDU. True if these are not part of one: the header makes no sense, or the CRC
 * is right with another ULPDU_Length, or another whole FPDU lies in them. False if the stream uses no CRCs.
 */
bool flow_lock_unsound(const struct flow_context *context);

/* flow_proof.c */
/* Also after a gap. */
void flow_proof_release(struct flow_side *side);

#endif
