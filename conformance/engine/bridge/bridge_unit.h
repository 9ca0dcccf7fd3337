/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One FPDU, or one start-up frame of MPA, and what becomes of it in the stream: left out, sent more than once, others before
 * it, its ULPDU another one, with a CRC that fits or the old one, octets of it inverted. Over SCTP one DATA chunk, with a DDP
 * Segment or a session control message of RFC 5043, and the chunks that go in its place. Pure: no I/O.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_UNIT_H
#define CONFORMANCE_ENGINE_BRIDGE_UNIT_H

#include "base/sentence.h"
#include "conformance/flow/event/flow.h"
#include "wire/ddp_sctp.h"
#include "wire/field.h"
#include "wire/sctp.h"

enum {
    BRIDGE_UNIT_OCTETS_MOST = 1 << 18,
    BRIDGE_COPIES_MOST = 16,
    BRIDGE_FLIPS_MOST = 16,
    BRIDGE_HEAD_OCTETS = SCTP_IDATA_OCTETS + DDP_SCTP_SSN_OCTETS,
};

struct bridge_unit {
    const struct flow_event *event; /* FLOW_ULPDU, FLOW_DDP, FLOW_RDMAP, FLOW_MPA_START or FLOW_SESSION */
    const uint8_t *raw;             /* as it came, `raw_octets` of the stream; over SCTP the chunk, without its pad */
    size_t raw_octets;
    size_t most; /* octets of a chunk that fits a packet; 0: any */
    /* What is wanted: */
    uint8_t *ulpdu; /* another one (of a start-up frame: the whole of it), NULL: as it came */
    size_t ulpdu_octets;
    bool replaced;   /* by another one, and not by one with other fields */
    bool keeps_crc;  /* that which came */
    unsigned copies; /* 1 as it begins; 0: it is left out */
    struct bridge_flip {
        size_t at;
        uint8_t mask;
    } flips[BRIDGE_FLIPS_MOST]; /* in its own octets, the last thing that is done */
    size_t flip_count;
    uint8_t *before; /* raw octets that go before it */
    size_t before_octets;
    unsigned before_count;
    uint8_t head[BRIDGE_HEAD_OCTETS]; /* over SCTP: the chunk's header, and the DDP-SSN of a segment */
    size_t head_octets;               /* 0: over TCP */
    bool head_edited;
};

/* It is a chunk of SCTP's. */
static inline bool bridge_unit_is_chunk(const struct bridge_unit *unit)
{
    return unit->event->flow->kind == FLOW_STREAM;
}

void bridge_unit_begin(struct bridge_unit *unit, const struct flow_event *event, const uint8_t *raw, size_t octets);
void bridge_unit_end(struct bridge_unit *unit);

/* The event's ULPDU, start-up frame, or session control message; NULL: not all of it is there. */
const uint8_t *bridge_unit_contents(const struct bridge_unit *unit, size_t *octets);

/* Each of these: 0, or -1 with a sentence that says why that cannot be done. */
int bridge_unit_replace(struct bridge_unit *unit, const uint8_t *ulpdu, size_t octets, struct iwarp_sentence *error);
int bridge_unit_edit(struct bridge_unit *unit, const char *field, uint64_t value, struct iwarp_sentence *error);
int bridge_unit_flip(struct bridge_unit *unit, size_t at, uint8_t mask, struct iwarp_sentence *error);
/* An FPDU with this ULPDU, framed as this one is; over SCTP a chunk with the same header and DDP-SSN. */
int bridge_unit_insert(struct bridge_unit *unit, const uint8_t *ulpdu, size_t octets, struct iwarp_sentence *error);

/* Something else than as it came is wanted. */
bool bridge_unit_changed(const struct bridge_unit *unit);

/* How many chunks go in its place. */
static inline unsigned bridge_unit_chunks(const struct bridge_unit *unit)
{
    return unit->before_count + unit->copies;
}

/*
 * Writes what the receiver gets, at most `room` octets; of chunks each with its pad, and before octets are inverted. -1 with a sentence: it does not fit; or Markers are in use, and
 * the length changes, which would put all later Markers elsewhere (RFC 5044 4.3).
 */
int bridge_unit_write(const struct bridge_unit *unit, uint8_t *out, size_t room, size_t *octets,
                      struct iwarp_sentence *error);

#endif
