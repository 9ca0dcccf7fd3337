/* SPDX-License-Identifier: BSD-2-Clause */
/* What the headers of a frame say: link fills these structures in; tcp, sctp and cm read them. */
#ifndef FLOW_FLOW_PACKET_H
#define FLOW_FLOW_PACKET_H

#include "conformance/flow/event/flow_account.h"
#include "conformance/flow/event/flow_frame.h"
#include "conformance/flow/event/flow_inside.h"

enum tcp_bit {
    TCP_BIT_FIN = 0x01,
    TCP_BIT_SYN = 0x02,
    TCP_BIT_RST = 0x04,
    TCP_BIT_PSH = 0x08,
    TCP_BIT_ACK = 0x10,
    TCP_BIT_URG = 0x20,
};

/* Both ends of a connection, the lower (address, port) first, so that both directions have one key. */
struct flow_key {
    uint8_t address[2][16]; /* network order, IPv4 in the first four */
    uint16_t port[2];
    uint8_t family;
    uint8_t zero[3];
    struct flow_tunnel tunnel; /* zeros: in none */
};

/* One TCP segment out of one frame. */
struct flow_segment {
    struct flow_key key;
    unsigned side; /* index in the key of the sender */
    uint32_t seq, ack;
    uint8_t flags;
    uint16_t window;
    uint16_t mss; /* 0: no option */
    bool has_scale, options_cut;
    bool broken; /* its IP packet is longer than the frame: the key alone is known */
    uint8_t scale;
    const uint8_t *header; /* of TCP, and so its checksum can be verified */
    const uint8_t *payload;
    size_t captured; /* payload octets there */
    size_t length;   /* payload octets on the wire */
};

/* What an IP packet carries that is not TCP. */
struct flow_datagram {
    unsigned protocol; /* enum flow_protocol */
    uint8_t family;
    const uint8_t *source, *destination;
    const uint8_t *ip; /* its IP header; NULL: not there (or, IPv6, with extension headers) */
    size_t ip_octets;  /* of the whole IP packet; 0: not known */
    bool put_together; /* it came in fragments of IP */
    struct flow_tunnel tunnel;
    const uint8_t *octets; /* from its own header on; FLOW_PROTOCOL_INFINIBAND: LRH, _GRH: GRH, _BTH: BTH */
    size_t captured, length;
};

/* The frame, or the frames with fragments, that a packet came in. */
struct flow_carrier_frames {
    const struct flow_frame *frame; /* the last: its number and time name the packet */
    uint64_t frames;
    uint64_t octets; /* captured, in all of them */
};

enum flow_protocol {
    FLOW_PROTOCOL_NONE, /* nothing to decode */
    FLOW_PROTOCOL_FRAGMENT,
    FLOW_PROTOCOL_TCP,
    FLOW_PROTOCOL_SCTP,
    FLOW_PROTOCOL_UDP,
    FLOW_PROTOCOL_PORT_MAPPER, /* in UDP */
    FLOW_PROTOCOL_INFINIBAND,
    FLOW_PROTOCOL_GRH,
    FLOW_PROTOCOL_BTH,
};

#endif
