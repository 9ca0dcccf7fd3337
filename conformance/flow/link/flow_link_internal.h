/* SPDX-License-Identifier: BSD-2-Clause */
/* What the layers below TCP, SCTP and MADs share: flow_link.c, flow_ip.c, flow_fragment.c. */
#ifndef FLOW_FLOW_LINK_INTERNAL_H
#define FLOW_FLOW_LINK_INTERNAL_H

#include "conformance/flow/link/flow_link.h"

/* What is left of a frame: octets captured, and octets that the wire had. */
struct flow_rest {
    const uint8_t *octets;
    size_t captured;
    size_t length;
};

static inline bool flow_rest_skip(struct flow_rest *rest, size_t count)
{
    if (rest->captured < count)
        return false;
    rest->octets += count;
    rest->captured -= count;
    rest->length -= count;
    return true;
}

/* What stands after so many octets is no part of it. */
static inline void flow_rest_limit(struct flow_rest *rest, size_t length)
{
    rest->length = length;
    if (rest->captured > length)
        rest->captured = length;
}

/* The frame has nothing to decode: it is counted in `row`. */
static inline enum flow_protocol flow_layers_none(struct flow_layers *layers, enum flow_row row)
{
    layers->row = row;
    return FLOW_PROTOCOL_NONE;
}

static inline enum flow_protocol flow_layers_datagram(struct flow_layers *layers, enum flow_protocol protocol,
                                                      const uint8_t *octets, size_t captured, size_t length)
{
    layers->datagram.protocol = protocol;
    layers->datagram.tunnel = layers->tunnel;
    layers->datagram.octets = octets;
    layers->datagram.captured = captured;
    layers->datagram.length = length;
    return protocol;
}

/* The octets that are too few: the capture cut them, or they were never there, which `malformed` names. */
static inline enum flow_protocol flow_layers_short(struct flow_layers *layers, const struct flow_rest *rest,
                                                   size_t needed, enum flow_row malformed)
{
    return flow_layers_none(layers, rest->length < needed ? malformed : FLOW_ROW_CUT_HEADERS);
}

/* flow_ip.c: from the IP header on. */
enum flow_protocol flow_ipv4(struct flow_rest *rest, struct flow_layers *layers);
enum flow_protocol flow_ipv6(struct flow_rest *rest, struct flow_layers *layers);

/* flow_link.c: from after the EtherType on; from the first octet of an Ethernet frame on. */
enum flow_protocol flow_by_ethertype(unsigned type, struct flow_rest *rest, struct flow_layers *layers);
enum flow_protocol flow_by_ethernet(struct flow_rest *rest, struct flow_layers *layers);

/*
 * flow_known.c: the rows of what is not decoded. Foreign is what is known to carry no IP: the row of anything else is
 * one of the kind unjudged.
 */
enum flow_row flow_known_ethertype(unsigned type);
enum flow_row flow_known_llc(unsigned destination, unsigned source);
enum flow_row flow_known_snap(unsigned organization, unsigned protocol);
enum flow_row flow_known_ip_protocol(unsigned protocol);
bool flow_known_family(uint32_t family);

/*
 * flow_tunnel.c: what may have another packet inside. The protocol of what is in it, and `layers` are those of it then.
 * FLOW_PROTOCOL_NONE with FLOW_ROW_TUNNEL: nobody can say what is in it; with FLOW_ROW_TUNNEL_FOREIGN: it is certainly
 * something else.
 */
enum flow_protocol flow_tunnel_ethertype(unsigned type, const struct flow_rest *rest, struct flow_layers *layers);
enum flow_protocol flow_tunnel_ip_protocol(unsigned protocol, const struct flow_rest *rest, struct flow_layers *layers);
/* Of an IP packet, of a frame of Ethernet, or of a packet after the EtherType, which stand in a tunnel of that kind. */
enum flow_protocol flow_tunnel_ip(enum flow_tunnel_kind kind, const struct flow_rest *rest, struct flow_layers *layers);
enum flow_protocol flow_tunnel_ethernet(enum flow_tunnel_kind kind, const struct flow_rest *rest,
                                        struct flow_layers *layers);
enum flow_protocol flow_tunnel_packet(enum flow_tunnel_kind kind, unsigned type, const struct flow_rest *rest,
                                      struct flow_layers *layers);
/* From the header of GRE, of MPLS, of PPPoE or of PPP on, wherever it stands. */
enum flow_protocol flow_tunnel_gre(struct flow_rest rest, struct flow_layers *layers);
enum flow_protocol flow_tunnel_mpls(struct flow_rest rest, struct flow_layers *layers);
enum flow_protocol flow_tunnel_ppp(enum flow_tunnel_kind kind, struct flow_rest rest, struct flow_layers *layers);
enum flow_protocol flow_tunnel_pppoe(struct flow_rest rest, struct flow_layers *layers);
/* PPP as the link of the frame, which is no tunnel. */
enum flow_protocol flow_by_ppp(struct flow_rest *rest, struct flow_layers *layers);
/* The number of the network that the next tunnel is of: to be called before one of the above. */
void flow_tunnel_network(struct flow_layers *layers, uint32_t network);

/*
 * flow_udp_tunnel.c: what is in a datagram of UDP to that port, after its header. False: the port is no tunnel's, or
 * the octets have not the form that the tunnel has.
 */
bool flow_udp_tunnel(unsigned port, const struct flow_rest *rest, struct flow_layers *layers,
                     enum flow_protocol *protocol);
/* The row of a datagram from or to that port of which nothing was read. FLOW_ROW_UDP: it is no tunnel's. */
enum flow_row flow_udp_tunnel_row(unsigned port, const struct flow_rest *rest);

/*
 * flow_udp.c: from the UDP header on. FLOW_PROTOCOL_SCTP, FLOW_PROTOCOL_UDP (RoCEv2), FLOW_PROTOCOL_PORT_MAPPER (from
 * the UDP header on, too), or FLOW_PROTOCOL_NONE with the row: FLOW_ROW_UDP when neither IP nor TCP nor SCTP is in it.
 */
enum flow_protocol flow_udp(struct flow_rest *rest, struct flow_layers *layers);
/* The row of a datagram whose length contradicts the packet's: FLOW_ROW_UDP or FLOW_ROW_UDP_LENGTH. */
enum flow_row flow_udp_broken(const struct flow_rest *rest);
/* RFC 3828: never FLOW_PROTOCOL_SCTP or FLOW_PROTOCOL_UDP. */
enum flow_protocol flow_udp_lite(struct flow_rest *rest, struct flow_layers *layers);

/* flow_udp.c: the row of a UDP datagram with `captured` of its `length` octets. FLOW_ROW_UDP: foreign. */
enum flow_row flow_udp_row(const uint8_t *header, size_t captured, size_t length);

/* From after the IP headers on: `rest` is what the IP packet carries, `number` is that of its protocol. */
enum flow_protocol flow_ip_payload(struct flow_rest *rest, unsigned number, struct flow_layers *layers);

#endif
