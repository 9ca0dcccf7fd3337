/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults above the stack: of the ULP and the driver that iwarp-peer has (peer/), which call these functions where their
 * configuration has a set of defects.
 */
#ifndef REFERENCE_STACK_PEER_FAULTS_H
#define REFERENCE_STACK_PEER_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference-stack/base/connection_end.h"

struct defect_set;
struct iwarp_association_config;

/* `config` has a member `defects`: as HOOK, HOOK_IF and HOOK_VALUE of core/faults.h. */
#define PEER_HOOKED(config) __builtin_expect((config)->defects != NULL, 0)
#define PEER_HOOK(config, call)                                                                                        \
    do {                                                                                                               \
        if (PEER_HOOKED(config))                                                                                       \
            (void)(call);                                                                                              \
    } while (0)
#define PEER_HOOK_IF(config, call)           (PEER_HOOKED(config) && (call))
#define PEER_HOOK_VALUE(config, right, call) (PEER_HOOKED(config) ? (call) : (right))

/* --- SCTP: packets of the peer, before their checksum is set (peer/peer.c) ---------------------------------------- */

/* What the SCTP below the peer's associations is asked for; 0: as it is. */
struct sctp_settings {
    uint32_t sack_delay_ms; /* DATA is acknowledged so late at most (RFC 9260 6.2)... */
    uint32_t sack_packets;  /* ...or with the packet of that number */
    uint32_t window;        /* octets that it takes before they are read (a_rwnd) */
    uint32_t chunk_max;     /* octets of user data in a DATA chunk: longer messages are fragmented */
};

/* The configuration of the peer's associations, and of the SCTP below them. */
void hook_sctp_config(const struct defect_set *set, struct iwarp_association_config *config,
                      struct sctp_settings *settings);

/* Returns the octets that leave, 0: none. */
size_t hook_sctp_leaving(const struct defect_set *set, uint8_t *packet, size_t octets, size_t room);

/* --- The program iwarp-peer: its ULP and its driver (peer) -------------------------------------------------------- */

/* The greatest length of posted work that is accepted, and what becomes of that length (RFC 5041 5.2). */
uint64_t hook_length_limit(const struct defect_set *set, uint64_t most);
void hook_length(const struct defect_set *set, uint64_t *length);

/* What an initiator is configured to send as Private Data (RFC 6581 9). */
struct iwarp_stream_config;
void hook_private_data(const struct defect_set *set, struct iwarp_stream_config *config);

/* How many pieces of a gather list make one message (RFC 5040 5.1, 5.3). */
size_t hook_gathered(const struct defect_set *set, size_t pieces);

/* True: a Write needs no STag (RFC 5041 5.1). */
bool hook_stag_optional(const struct defect_set *set);

/* True: Sends and Writes complete as soon as they are posted (RFC 5040 5.5). */
bool hook_done_when_posted(const struct defect_set *set);

/*
 * True: the side that opens the TCP connection is the MPA Initiator, even if the ULPs agreed otherwise (RFC 5044
 * 7.1.2).
 */
bool hook_role_by_opener(const struct defect_set *set);

/*
 * Changes what the event of the peer's start-up frame reports: both ends of the connection on which its Private Data
 * came (RFC 5044 7.1.1).
 */
struct iwarp_stream;
void hook_ends(const struct iwarp_stream *stream, struct connection_end *own, struct connection_end *peer);

/* True: an FPDU waits until the one before is acknowledged (RFC 5044 5.1). */
bool hook_nagle(const struct defect_set *set);

/*
 * `count` octets are next: of them so many, at least one, make a TCP segment of their own (RFC 5044 5.1). Not with
 * kernel TCP.
 */
void hook_cut(const struct defect_set *set, size_t *count);

/*
 * How TCP should be opened for the device: what a transport can choose of it, and faults of a TCP that can have them.
 */
struct tcp_settings {
    uint16_t window; /* of receiving, fixed; 0: TCP's own */
    bool choose_iss;
    uint32_t iss;
    uint16_t mss;          /* its own; 0: TCP's */
    uint64_t acks_late_ns; /* acknowledgements come so late, and none before; 0: not */
    bool fragmentable;     /* IPv4 may fragment its segments (RFC 5044 A.5.1) */
    bool delay_acks;       /* every second segment is acknowledged, or after a while (RFC 9293 3.8.6.3) */
    bool drop_fragments;   /* IP packets in fragments are not put together (RFC 5044 A.5.1) */
    bool take_repeats;     /* octets that came before are the stream's next ones once more (RFC 5044 A.3) */
    bool octets_after_fin; /* a segment with octets follows the FIN (RFC 5041 6.2) */
    bool sack_silent;      /* SACK-permitted, but no ACK reports what came after a gap (RFC 5044 A.3) */
    bool sack_shifted;     /* what SACK reports begins and ends four octets too late */
};

/* Changes the settings that only TCP has. */
void hook_tcp(const struct defect_set *set, struct tcp_settings *settings);

/* `count` octets came after a gap. True: there is no room for them, and the connection is given up (RFC 5044 A.5.2). */
bool hook_early_refused(const struct defect_set *set, size_t count);

/* True: the limits of time cannot be set; flushed work has another error's name. */
bool hook_limits_fixed(const struct defect_set *set);
bool hook_flush_otherwise(const struct defect_set *set);

/* MPA takes the connection over: octets not acknowledged are forgotten, or the next ones lost (RFC 5044 7.1.5). */
void hook_hand_over(const struct defect_set *set, bool *forgets, bool *drops_input);

/* True: it takes over before the peer's streaming message is complete (RFC 5044 7.1.5). */
bool hook_streaming_over(const struct defect_set *set);

/* True: a fault of the whole device ends one stream alone (RFC 5040 4.8). */
bool hook_fault_on_one(const struct defect_set *set);

/* True: memory is registered for writing by peers that its ULP itself may read alone (RFC 5041 8.3.2). */
bool hook_mapping_unchecked(const struct defect_set *set);

/* True: so are addresses at which its ULP has no memory, as those of another process. */
bool hook_hidden_taken(const struct defect_set *set);

/* True: the overflow of one completion queue ends all streams; a full one takes room from another (8.1.1). */
bool hook_overflow_spreads(const struct defect_set *set);
bool hook_queue_overwrites(const struct defect_set *set);

#endif
