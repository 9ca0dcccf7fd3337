/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP packets out of chunks, and the chunks that DDP needs (wire/sctp.h, wire/ddp_sctp.h): valid by default; any field
 * can be overridden in the finished octets before the packet is closed. Also builds the IP datagrams around them.
 */
#ifndef GENERATOR_SCTP_H
#define GENERATOR_SCTP_H

#include "generator/packet/packet.h"
#include "wire/ddp_sctp.h"
#include "wire/sctp.h"

enum { SCTP_PACKET_MAX = 4096 };

/* Ends and IP header of a datagram that carries neither TCP nor options. */
struct packet_ip {
    uint8_t ethernet_source[6];
    uint8_t ethernet_destination[6];
    struct net_address source; /* both of one family */
    struct net_address destination;
    uint8_t protocol;
    uint8_t hop_limit; /* 0: 64 */
    uint16_t identification;
};

/* Ethernet, IP header, payload. Returns the frame's octets, 0 when it does not fit or the families differ. */
size_t packet_build_ip(uint8_t *frame, size_t capacity, const struct packet_ip *fields, const uint8_t *payload,
                       size_t octets);

/* An SCTP packet while chunks are added; from the common header on. */
struct sctp_packet {
    uint8_t octets[SCTP_PACKET_MAX];
    size_t count;
    bool full; /* a chunk did not fit: left out */
};

void sctp_packet_begin(struct sctp_packet *packet, uint16_t source_port, uint16_t destination_port, uint32_t tag);

/* Adds a chunk with its pad; `value` may be NULL for zeros. Returns its first octet in the packet, NULL when full. */
uint8_t *sctp_packet_chunk(struct sctp_packet *packet, enum sctp_chunk_type type, uint8_t flags, const void *value,
                           size_t octets);

/*
 * INIT or INIT ACK with the tag, window, streams and initial_tsn of `init`, and its adaptation if has_adaptation; INIT
 * ACK with a state cookie. address[] as address parameters.
 */
uint8_t *sctp_packet_init(struct sctp_packet *packet, bool ack, const struct sctp_init *init);

/* DATA with `data`'s header fields and user data. */
uint8_t *sctp_packet_data(struct sctp_packet *packet, const struct sctp_data *data);

uint8_t *sctp_packet_sack(struct sctp_packet *packet, uint32_t cumulative, uint32_t window);

/* Sets the checksum; the packet may be sent. */
void sctp_packet_close(struct sctp_packet *packet);

#endif
