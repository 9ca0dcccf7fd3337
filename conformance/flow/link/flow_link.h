/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets of frames -> a TCP segment, a datagram of SCTP, UDP or InfiniBand, or the row in which the frame is counted.
 */
#ifndef FLOW_FLOW_LINK_H
#define FLOW_FLOW_LINK_H

#include "conformance/flow/event/flow_common.h"
#include "conformance/flow/event/flow_packet.h"

/* One fragment of an IP packet; its addresses are in the datagram beside it. */
struct flow_fragment {
    uint32_t id;
    uint8_t protocol; /* of what the packet carries, as this fragment has it */
    bool more;
    unsigned offset; /* octets */
    const uint8_t *octets;
    size_t captured, length;
};

/* What the layers of a frame below TCP, SCTP and MADs say; the protocol says which of it was filled in. */
struct flow_layers {
    struct flow_segment segment;
    struct flow_datagram datagram;
    struct flow_fragment fragment;
    enum flow_row row; /* FLOW_PROTOCOL_NONE: the frame is counted there */
    bool bad_checksum; /* of the IPv4 header */
    uint8_t depth;     /* tunnels around it */
    struct flow_tunnel tunnel;
};

/* flow_link.c */
enum flow_protocol flow_link_frame(const struct flow_frame *frame, struct flow_layers *layers);
/* flow_ip.c: the same for a segment without link and network headers. */
enum flow_protocol flow_link_packet(const struct flow_packet *packet, struct flow_layers *layers);

/* True when flow_decoder_frame() reads frames of this LINKTYPE. */
bool flow_link_known(uint32_t link);

struct fragment_store; /* fragments of packets that are not whole yet */

/* NULL without memory. */
struct fragment_store *flow_fragments_new(struct flow_common *common);
/*
 * flow_fragment.c: keeps the fragment. When its packet has become whole, `layers` and `carrier` become those of the
 * packet, and its protocol is returned; else FLOW_PROTOCOL_FRAGMENT.
 */
enum flow_protocol flow_fragment_packet(struct fragment_store *store, struct flow_layers *layers,
                                        struct flow_carrier_frames *carrier);
/* Time has gone on to common->now_ns: what has waited too long will not become whole. */
void flow_fragments_time(struct fragment_store *store);
/* Counts what never became whole. */
void flow_fragments_finish(struct fragment_store *store);
/* `store` may be NULL. */
void flow_fragments_free(struct fragment_store *store);

#endif
