/* SPDX-License-Identifier: BSD-2-Clause */
/* What sctp_host.c (life), sctp_host_input.c (chunks that come) and sctp_host_output.c (those that leave) share. */
#ifndef GENERATOR_SCTP_HOST_INTERNAL_H
#define GENERATOR_SCTP_HOST_INTERNAL_H

#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_host.h"

enum { COOKIE_OCTETS_MAX = 2048, OWN_COOKIE_OCTETS = 8, SACK_BLOCKS_MAX = 64 };
#define RTO_FIRST_NS UINT64_C(1000000000)
#define RTO_MOST_NS  UINT64_C(8000000000)

/* A DATA chunk that was sent, or that waits to be. */
struct sent_chunk {
    struct sent_chunk *next, *prev;
    uint32_t tsn;
    unsigned times;
    bool acked; /* by a gap block */
    size_t octets;
    uint8_t chunk[]; /* whole, without the pad */
};

struct held_chunk {
    struct held_chunk *next, *prev;
    struct sctp_received received;
    uint8_t user[];
};

/* TSNs from..to came after a gap. */
struct tsn_range {
    uint32_t from, to;
};

struct sctp_listener {
    struct sctp_listener *next;
    uint16_t port;
    struct sctp_assoc_options options;
    uint8_t parameters[SCTP_HOST_PARAMETERS_MAX];
};

struct sctp_assoc {
    struct sctp_assoc *next, *prev;
    struct sctp_host *host;
    struct sctp_assoc_status status;
    struct sctp_assoc_options options;
    uint8_t parameters[SCTP_HOST_PARAMETERS_MAX];
    bool passive, given, withhold, fixed_window, shutting;
    struct sent_chunk *sent;   /* by the order of sending */
    struct sctp_packet packet; /* chunks that wait for a flush */
    unsigned packet_chunks;
    struct held_chunk *held;
    size_t held_octets;
    struct tsn_range ranges[SCTP_HOST_RANGES_MAX]; /* ascending */
    size_t range_count;
    bool sack_due;
    uint32_t sack_cumulative; /* Cumulative TSN Ack of the last SACK */
    uint64_t timer;           /* of what waits for an answer; SCTP_HOST_NEVER: none */
    uint64_t rto, asked_ns;
    unsigned tries; /* in a row without an answer */
    uint64_t cookie_key;
    size_t cookie_octets;
    uint8_t cookie[COOKIE_OCTETS_MAX]; /* the other side's */
};

struct sctp_host {
    struct sctp_host_config config;
    struct sctp_host_counters counters;
    uint64_t now, random_state;
    size_t packet_octets; /* of the packet that is being read... */
    bool fragmented;      /* ...which came in IP fragments */
    struct sctp_assoc *assocs;
    size_t assoc_count;
    struct sctp_listener *listeners;
    uint16_t next_port;
};

/* TSNs are compared by their distance (RFC 9260 1.6). */
static inline bool tsn_after(uint32_t a, uint32_t b)
{
    return a != b && (uint32_t)(a - b) < UINT32_C(0x80000000);
}

/* sctp_host.c */
struct sctp_assoc *sctp_host_assoc(struct sctp_host *host, uint16_t own_port, uint16_t peer_port, bool passive,
                                   const struct sctp_assoc_options *options, struct iwarp_sentence *error);
struct sctp_assoc *sctp_host_find(const struct sctp_host *host, uint16_t own_port, uint16_t peer_port);
uint32_t sctp_host_random(struct sctp_host *host);
void sctp_host_close(struct sctp_assoc *assoc, enum sctp_assoc_cause cause);
void sctp_host_peer(struct sctp_assoc *assoc, const struct sctp_init *init);

/* sctp_host_output.c */
void sctp_host_emit(struct sctp_assoc *assoc, struct sctp_packet *packet, bool bad_checksum);
void sctp_host_send_init(struct sctp_assoc *assoc);
void sctp_host_send_cookie(struct sctp_assoc *assoc);
void sctp_host_send_chunk(struct sctp_assoc *assoc, enum sctp_chunk_type type, const void *value, size_t octets);
void sctp_host_send_sack(struct sctp_assoc *assoc);
void sctp_host_forget_sent(struct sctp_assoc *assoc);
void sctp_host_go_shutdown(struct sctp_assoc *assoc);
void sctp_host_due(struct sctp_assoc *assoc);
void sctp_host_arm(struct sctp_assoc *assoc);

#endif
