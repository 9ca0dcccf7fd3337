/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ethernet frames out of fields, and back: IPv4 and IPv6 with TCP, ARP, and IPv6 neighbour discovery. Valid by default
 * (lengths and checksums computed), any of those overridable. All numbers in host order; addresses in network order.
 * Sources: RFC 791, RFC 8200, RFC 9293, RFC 826, RFC 4861.
 */
#ifndef GENERATOR_PACKET_H
#define GENERATOR_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_ETHERNET_OCTETS      14u
#define PACKET_IPV4_OCTETS          20u
#define PACKET_IPV6_OCTETS          40u
#define PACKET_TCP_OCTETS           20u
#define PACKET_TCP_OPTIONS_CAPACITY 40u
#define PACKET_MIN_FRAME            60u /* Ethernet's minimum without the FCS; builders pad to it only when asked */

/* An IP address; family 0 means none. An IPv4 address uses the first four octets, the rest are zero. */
struct net_address {
    uint8_t family; /* 0, 4 or 6 */
    uint8_t octets[16];
};

/* Reads "10.77.0.2" or "fd77::2". Returns 0, or -1 for anything else. */
int net_address_parse(struct net_address *out, const char *text);

/* Writes the usual text form into text (at least 46 octets) and returns it. */
const char *net_address_format(const struct net_address *address, char *text, size_t octets);

bool net_address_equal(const struct net_address *a, const struct net_address *b);

enum tcp_flag {
    TCP_FLAG_FIN = 0x01,
    TCP_FLAG_SYN = 0x02,
    TCP_FLAG_RST = 0x04,
    TCP_FLAG_PSH = 0x08,
    TCP_FLAG_ACK = 0x10,
    TCP_FLAG_URG = 0x20,
    TCP_FLAG_ECE = 0x40,
    TCP_FLAG_CWR = 0x80,
};

/* Which computed fields of a struct packet_tcp are taken from the caller instead. */
enum packet_override {
    PACKET_SET_IP_LENGTH = 1 << 0,   /* IPv4 total length, IPv6 payload length */
    PACKET_SET_IP_CHECKSUM = 1 << 1, /* IPv4 only */
    PACKET_SET_TCP_CHECKSUM = 1 << 2,
    PACKET_SET_DATA_OFFSET = 1 << 3, /* TCP data offset, in 32-bit words */
    PACKET_SET_IP_VERSION = 1 << 4,
};

/* The fields of one TCP segment in its frame, to be built. Zero means: 0, or the default where one is named. */
struct packet_tcp {
    uint8_t ethernet_source[6];
    uint8_t ethernet_destination[6];
    struct net_address source; /* both of one family */
    struct net_address destination;
    uint8_t hop_limit;       /* TTL; 0: 64 */
    uint8_t traffic_class;   /* TOS */
    uint16_t identification; /* IPv4 */
    bool fragmentable;       /* IPv4: DF is clear */
    uint32_t flow_label;     /* IPv6, 20 bits */
    uint16_t source_port;
    uint16_t destination_port;
    uint32_t sequence;
    uint32_t acknowledgment;
    uint8_t flags; /* enum tcp_flag */
    uint16_t window;
    uint16_t urgent;
    const uint8_t *options; /* padded with End of Option List to a multiple of four */
    size_t options_octets;  /* at most 40 */
    const uint8_t *payload;
    size_t payload_octets;

    unsigned overrides; /* enum packet_override */
    uint16_t ip_length;
    uint16_t ip_checksum;
    uint16_t tcp_checksum;
    bool spoil_checksum; /* the computed TCP checksum with its lowest bit flipped */
    uint8_t data_offset;
    uint8_t ip_version;
};

/*
 * Builds the frame. Returns its length in octets, or 0 when it does not fit `capacity` or 65535 octets of IP, or the
 * families differ, or the options are too long.
 */
size_t packet_build_tcp(uint8_t *frame, size_t capacity, const struct packet_tcp *fields);

/* Sequence numbers from `from` on, up to but without `to`. */
struct packet_range {
    uint32_t from;
    uint32_t to;
};

#define PACKET_SACKS_MAX 4 /* blocks in one segment: the options have room for no more (RFC 2018 3) */

/* SACK-permitted (RFC 2018 2), two octets. Returns 2. */
size_t packet_sack_permitted_option(uint8_t option[2]);

/* A SACK option with `count` blocks, at most PACKET_SACKS_MAX (RFC 2018 3). Returns its length, 2 + 8 * count. */
size_t packet_sack_option(uint8_t option[2 + 8 * PACKET_SACKS_MAX], const struct packet_range *blocks, unsigned count);

/* One MSS option (RFC 9293 section 3.2), four octets. Returns 4. */
size_t packet_mss_option(uint8_t option[4], uint16_t mss);

/* ARP request or reply over Ethernet for IPv4 (RFC 826). Returns 42, or 0 when capacity is too small. */
size_t packet_build_arp(uint8_t *frame, size_t capacity, uint16_t operation, const uint8_t sender_mac[6],
                        const uint8_t sender_ipv4[4], const uint8_t target_mac[6], const uint8_t target_ipv4[4]);

/*
 * Neighbour solicitation for `target` from our address, to its solicited-node multicast group (RFC 4861 section 4.3).
 */
size_t packet_build_neighbour_solicitation(uint8_t *frame, size_t capacity, const uint8_t own_mac[6],
                                           const uint8_t own_ipv6[16], const uint8_t target[16]);

/* Solicited neighbour advertisement for own_ipv6 (RFC 4861 section 4.4), to the asker. */
size_t packet_build_neighbour_advertisement(uint8_t *frame, size_t capacity, const uint8_t own_mac[6],
                                            const uint8_t own_ipv6[16], const uint8_t to_mac[6],
                                            const uint8_t to_ipv6[16]);

enum packet_kind {
    PACKET_OTHER, /* well-formed as far as checked, but none of the kinds below */
    PACKET_TCP,
    PACKET_FRAGMENT,    /* of an IP packet: packet_reassemble() */
    PACKET_UNREACHABLE, /* ICMP: a packet was too big, or its reassembly ran out of time */
    PACKET_ARP,
    PACKET_SOLICITATION, /* neighbour solicitation */
    PACKET_ADVERTISEMENT /* neighbour advertisement */
};

#define PACKET_ARP_REQUEST 1
#define PACKET_ARP_REPLY   2

/* A parsed frame. Pointers point into the frame. Only the members of its kind are set, the others are zero. */
struct packet {
    enum packet_kind kind;
    const uint8_t *ethernet_destination; /* 6 octets */
    const uint8_t *ethernet_source;      /* 6 octets */
    uint16_t ethertype;                  /* after VLAN tags */
    struct net_address source;           /* IP; ARP: the sender's */
    struct net_address destination;      /* IP; ARP: the target's */
    uint8_t hop_limit;
    bool ip_checksum_ok;
    bool fragmentable; /* IPv4 with DF = 0 */

    /* TCP */
    bool tcp_checksum_ok;
    uint16_t source_port;
    uint16_t destination_port;
    uint32_t sequence;
    uint32_t acknowledgment;
    uint8_t flags;
    uint16_t window;
    uint16_t urgent;
    uint16_t mss; /* of the MSS option, 0: none */
    bool sack_permitted;
    unsigned sacks; /* blocks of a SACK option (RFC 2018 3) */
    struct packet_range sack[PACKET_SACKS_MAX];
    const uint8_t *options;
    size_t options_octets;
    const uint8_t *payload;
    size_t payload_octets;

    /* A fragment; its octets are the payload */
    uint32_t fragment_identification;
    size_t fragment_offset; /* in octets */
    bool fragment_more;
    uint8_t fragment_protocol; /* of what is in fragments */

    /* ARP and neighbour discovery */
    uint16_t arp_operation;
    const uint8_t *neighbour_mac; /* ARP: sender's; ND: link-layer address option, NULL: none */
    struct net_address target;    /* ND: the address asked for or advertised */
};

/*
 * Parses an Ethernet frame (with VLAN tags, if any). Returns 0, or -1 when the frame is cut or inconsistent; *reason
 * (which may be NULL) then points to a constant sentence. IP fragments are PACKET_OTHER.
 */
int packet_parse(struct packet *out, const uint8_t *frame, size_t octets, const char **reason);

/*
 * The Internet checksum (RFC 1071) over octets, starting from `sum` (a partial sum, host order); folded and inverted.
 */
uint16_t packet_checksum(const uint8_t *octets, size_t length, uint32_t sum);

#define PACKET_UDP_OCTETS 8u

/*
 * The checksum of a UDP datagram (RFC 768), `octets` of it from its header on, whose checksum field is zero. Over IPv6
 * zero would mean that there is none (RFC 8200 section 8.1): it is 0xFFFF then, for both families.
 */
uint16_t packet_udp_checksum(const struct net_address *source, const struct net_address *destination,
                             const uint8_t *datagram, size_t octets);

#endif
