/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What events report of SCTP associations that carry DDP (draft-stewart-rddp-sctp-02, RFC 5043).
 *
 * An association is recognised by an Adaptation Layer Indication of 1 or 2 in INIT or INIT ACK, or by a DATA chunk with
 * PPID 16 or 17 whose user data are DDP's (sctp_is_ddp()): other protocols use these PPIDs, too. INIT and INIT ACK that
 * came before are reported then. Its flow's direction 0 is from the sender of the INIT. FLOW_SCTP
 * comes for each chunk but SACK, HEARTBEAT and the like, in the order of capture, DATA included.
 *
 * A DDP stream session is a flow of its own: direction 0 is from its active side, which sent the Initiate; in the
 * draft's profile, that knows no sessions, from the sender of the INIT. Its events come in the order of the DDP-SSNs.
 * User messages that SCTP had cut into fragments come as one; one that came twice (the same TSN) comes once.
 */
#ifndef FLOW_FLOW_SCTP_H
#define FLOW_FLOW_SCTP_H

#include "conformance/flow/event/flow.h"
#include "wire/ddp_sctp.h"
#include "wire/sctp.h"

enum flow_checksum {
    FLOW_CHECKSUM_UNCHECKED, /* the packet is cut, or the field is zero: left to the network card */
    FLOW_CHECKSUM_GOOD,
    FLOW_CHECKSUM_ADLER32, /* that of RFC 2960 */
    FLOW_CHECKSUM_BAD,
};

struct flow_sctp {
    struct sctp_chunk chunk;
    const char *name;             /* of the chunk type; NULL: not known */
    const struct sctp_init *init; /* INIT, INIT ACK with a whole fixed part */
    const struct sctp_data *data; /* DATA, I-DATA with a whole header */
    bool duplicate;               /* DATA: a TSN that came before */
    bool foreign;                 /* DATA: none of DDP's PPIDs */
    enum flow_checksum checksum;
    size_t packet_octets;  /* of the SCTP packet */
    size_t network_octets; /* of the IP datagram, 0: not known */
    size_t free_octets;    /* MTU of 1500 less network_octets, 0 when it exceeds that or is not known */
    /*
     * The last fragment of a user message whose fragments had their TSNs in a row: octets of the message, and of the
     * longest IP datagram, itself in one piece, that had a fragment of it. Otherwise 0.
     */
    size_t message_octets, message_network_octets;
};

struct flow_session {
    struct ddp_sctp_message message;
    wire_result result;    /* ddp_sctp_parse()'s */
    const uint8_t *octets; /* the user message */
    size_t count;          /* its octets on the wire */
    size_t have;           /* octets there */
    uint32_t ppid;
    uint32_t tsn;
    bool acked_known;
    uint32_t acked; /* cumulative TSN that its sender had acknowledged when it sent this, as far as was captured */
};

/*
 * The sender of the message had acknowledged that TSN of the other side: certain. False: it had not, or nothing is
 * known.
 */
static inline bool flow_session_acked(const struct flow_session *session, uint32_t tsn)
{
    return session->acked_known && (int32_t)(session->acked - tsn) >= 0;
}

#endif
