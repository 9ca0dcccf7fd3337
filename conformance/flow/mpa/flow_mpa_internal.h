/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The room between TCP's octets and ULPDUs:
 *
 *     flow_mpa.c     pieces -> start-up frames, FPDUs, or neither
 *     flow_recognise.c   the connection has become a flow: its events
 *     flow_pending.c   what is counted before anybody knows what the connection carries
 *     flow_start.c   pieces -> MPA start-up frames, and what they agree upon
 *     flow_streaming.c   what another protocol has sent before them
 *     flow_fpdu.c    FPDUs
 *     flow_mend.c    FPDUs that are none by the text
 *     flow_reading.c  octets that are no FPDU: by which mistake of the sender are they one?
 *     flow_lock.c    pieces -> where an FPDU begins, when that is not known
 *     flow_proof.c   pieces -> FPDUs whose CRC is right, whatever their headers are
 *     flow_search.c  is it iWARP at all, when its start was not captured?
 *     flow_records.c, flow_record_forms.c    is all of it another protocol's records?
 */
#ifndef FLOW_FLOW_MPA_INTERNAL_H
#define FLOW_FLOW_MPA_INTERNAL_H

#include "conformance/flow/ddp/flow_ddp.h"
#include "conformance/flow/mpa/flow_mpa.h"

/* flow_fpdu.c */
/* Octets of the piece from `used` on, where an FPDU begins or goes on; returns how many were taken. */
size_t flow_fpdu_octets(const struct flow_context *context, const struct flow_piece *piece, size_t used);
/* Octets are missing among FPDUs, `cut` by the capture or not captured. True: the next boundary is known. */
bool flow_fpdu_lost(const struct flow_context *context, uint64_t count, bool cut);

/* Reports an incomplete FPDU whose other octets will not come, with the octets that are held. */
void flow_fpdu_cut(const struct flow_context *context, bool unverified, enum flow_row row);

/* flow_reading.c */
/* The stream is known from its start, so that octets which are no FPDU are a mistake of its sender. */
bool flow_reading_may_look(const struct flow_context *context);
/*
 * The reading by which the octets, from an FPDU's first one on, are FPDUs; `exact`: they end where the segment or the
 * stream ends. False: there is none.
 */
bool flow_reading_find(const struct flow_context *context, const uint8_t *octets, size_t count, bool exact,
                       struct fpdu_reading *found);
/* No FPDU begins here: by which reading of the FPDU before does one begin *later octets later (negative: earlier)? */
bool flow_reading_before(const struct flow_context *context, const uint8_t *octets, size_t count,
                         struct fpdu_reading *found, int *later);
/* By which one does the FPDU before have the `left` octets that are left at the end of the stream? */
bool flow_reading_at_end(const struct flow_side *side, const uint8_t *octets, size_t left, struct fpdu_reading *found);
/* Where the CRC of the octets before it stands: the octets of that FPDU; 0: nowhere. */
size_t flow_reading_end_by_crc(const uint8_t *octets, size_t count);

/* flow_proof.c */
/* A whole FPDU with a right CRC begins with these octets: `framing` becomes its. */
bool flow_proof_whole(struct flow_common *common, const uint8_t *at, size_t count, struct fpdu_framing *framing);
enum flow_proof_found {
    FLOW_PROOF_NONE,
    FLOW_PROOF_NEXT,   /* an FPDU with a right CRC ended: the next one begins there */
    FLOW_PROOF_MARKED, /* the same of one with Markers, and where these stand is not known */
};
/* The next octets of a stream; `first`: one may begin with them. *after: so many of them are of the FPDU that ended. */
enum flow_proof_found flow_proof_octets(struct flow_side *side, const uint8_t *octets, size_t count, bool first,
                                        size_t *after);
/* flow_start.c */
/* A start-up frame after a rejection, where a segment begins: another exchange, or the rejection is taken back. */
bool flow_start_repeated(const struct flow_context *context, const struct flow_piece *piece);
size_t flow_start_octets(const struct flow_context *context, const struct flow_piece *piece, size_t used);
/* This side's frame has a kind: so the other's has. False: no memory. */
bool flow_start_roles(const struct flow_context *context);
/* What is held of a start-up frame is all that comes of it: reports it as far as it is there; it counts in `row`. */
void flow_start_cut(const struct flow_context *context, enum flow_row row);
void flow_side_ends(struct flow_side *side, enum flow_reason reason);

/* flow_lock.c: look for an FPDU (or start-up frame) in a piece from offset `used` on; return the octets passed over.
 * When one is found the state is SIDE_FPDU (or SIDE_FRESH) and the octet after those passed over is its first. */
size_t flow_lock_resync(const struct flow_context *context, const struct flow_piece *piece, size_t used);
size_t flow_lock_late(const struct flow_context *context, const struct flow_piece *piece, size_t used);
/* FPDUs begin with the piece, for certain or as far as it shows: the side decodes them from there on. */
bool flow_lock_begin(struct flow_common *common, struct flow_side *side, const struct flow_piece *piece);
/* The same with the next octet, after an FPDU without Markers whose CRC was right. */
void flow_lock_proved(struct flow_side *side);
/* An FPDU begins at `used`, of a stream whose framing is doubtful: looks whether it has Markers. */
void flow_lock_doubt(struct flow_common *common, struct flow_side *side, const struct flow_piece *piece, size_t used);
void flow_lock_guess(const struct flow_context *context, const struct flow_piece *piece, size_t used);
/* Copies up to `want` octets that are not Markers from an FPDU's first octet on; returns how many there were. */
size_t flow_lock_gather(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, uint8_t *out,
                        size_t want);

#endif
