/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lower tester's SCTP: a check can send anything on its associations, and sees everything that the other side sent.
 * Sans-I/O and deterministic: SCTP packets go in and out, from the common header on, and the caller provides the time.
 *
 *     host = sctp_host_new(&config, &error);
 *     assoc = sctp_assoc_connect(host, port, &options, &error);   or sctp_host_listen() and sctp_host_accept()
 *     sctp_host_input(host, packet, octets, now);                 each packet that came
 *     sctp_host_tick(host, now);                                  at sctp_host_deadline(host)
 *     while ((chunk = sctp_assoc_received(assoc)) != NULL) { ...; sctp_assoc_consume(assoc); }
 *
 * By default an association follows the RFC: it answers HEARTBEAT, acknowledges each TSN at once with gap blocks, and
 * retransmits DATA until it is acknowledged. It has no congestion control and ignores the other side's window: each
 * send call sends at once. DATA chunks are returned one by one in order of arrival, with all their fields. They are not
 * sorted or reassembled, because checks examine exactly that.
 *
 * All numbers are in host order. Sources: RFC 9260; RFC 5061 4.2.6 for the adaptation indication.
 */
#ifndef GENERATOR_SCTP_HOST_H
#define GENERATOR_SCTP_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sctp.h"
#include "base/sentence.h"

struct sctp_host;
struct sctp_assoc;

#define SCTP_HOST_NEVER UINT64_MAX

enum {
    SCTP_HOST_ASSOCS_MAX = 1024,       /* at once; an INIT beyond that is not answered */
    SCTP_HOST_HELD_MAX = 1 << 22,      /* octets of user data that wait to be consumed; further DATA is dropped */
    SCTP_HOST_RANGES_MAX = 256,        /* gaps in the received TSNs; DATA that would add another gap is dropped */
    SCTP_HOST_RETRANSMISSIONS_MAX = 8, /* of one chunk, then the association is lost */
    SCTP_HOST_PARAMETERS_MAX = 512,    /* octets of own parameters in INIT and INIT ACK */
};

struct sctp_host_config {
    uint64_t seed; /* of tags, TSNs and source ports */
    uint64_t now;
    /* Sends one SCTP packet. The octets are valid during the call only. */
    void (*emit)(void *context, const uint8_t *packet, size_t octets);
    void *context;
};

/* NULL with a sentence: memory is short. `config` is copied. */
struct sctp_host *sctp_host_new(const struct sctp_host_config *config, struct iwarp_sentence *error);

/* Frees it with all associations; nothing is sent. NULL is fine. */
void sctp_host_free(struct sctp_host *host);

/* The present time, before calls that send. */
void sctp_host_set_time(struct sctp_host *host, uint64_t now);

/*
 * A packet from the other side. A packet is dropped if its checksum or Verification Tag is wrong, if it is for an
 * unused port, or if it is malformed; sctp_host_counters() counts it.
 */
void sctp_host_input(struct sctp_host *host, const uint8_t *packet, size_t octets, uint64_t now);

/* Declares whether the next input packet came in IP fragments. True holds for one packet only. */
void sctp_host_fragmented(struct sctp_host *host, bool fragmented);

/* When sctp_host_tick() is due; SCTP_HOST_NEVER: no timer runs. */
uint64_t sctp_host_deadline(const struct sctp_host *host);
void sctp_host_tick(struct sctp_host *host, uint64_t now);

struct sctp_host_counters {
    uint64_t packets, bad_checksum, bad_tag, malformed, unknown; /* unknown: of no association and no listener */
};
const struct sctp_host_counters *sctp_host_counters(const struct sctp_host *host);

/* True if there is an association between these ports, open or closed, that was not released. */
bool sctp_host_has(const struct sctp_host *host, uint16_t own_port, uint16_t peer_port);

/* The parameters of an association. Zero is the default of each member. */
struct sctp_assoc_options {
    uint16_t source_port; /* 0: any; only of sctp_assoc_connect() */
    bool has_adaptation;  /* the Adaptation Layer Indication is in INIT or INIT ACK */
    uint32_t adaptation;
    uint16_t outbound, inbound; /* OS and MIS; 0 is sent as 0 only with `choose_streams`, else both are 64 */
    bool choose_streams;
    uint32_t window; /* a_rwnd; 0: 1 MiB */
    bool choose_tsn; /* use initial_tsn; else a random one */
    uint32_t initial_tsn;
    const uint8_t *parameters; /* further parameters of INIT or INIT ACK, as they are; copied */
    size_t parameters_octets;  /* at most SCTP_HOST_PARAMETERS_MAX */
    bool silent_cookie;        /* COOKIE ECHO is not sent (active), COOKIE ACK is not sent (passive) */
};

/* Sends INIT to that port. NULL with a sentence: memory, ports or the options do not allow it. */
struct sctp_assoc *sctp_assoc_connect(struct sctp_host *host, uint16_t port, const struct sctp_assoc_options *options,
                                      struct iwarp_sentence *error);

/* Answers each INIT to that port. `options` may be NULL. 0, or -1 with a sentence. */
int sctp_host_listen(struct sctp_host *host, uint16_t port, const struct sctp_assoc_options *options,
                     struct iwarp_sentence *error);
/* Stops listening. Associations to the port that were not accepted are released. */
void sctp_host_unlisten(struct sctp_host *host, uint16_t port);

/* The oldest established association to that port that was not yet accepted; NULL: none. */
struct sctp_assoc *sctp_host_accept(struct sctp_host *host, uint16_t port);

/* Forgets the association and sends nothing; later packets for it count as unknown. NULL is fine. */
void sctp_assoc_release(struct sctp_assoc *assoc);

enum sctp_assoc_state {
    SCTP_ASSOC_COOKIE_WAIT,   /* INIT or INIT ACK sent */
    SCTP_ASSOC_COOKIE_ECHOED, /* COOKIE ECHO sent */
    SCTP_ASSOC_ESTABLISHED,
    SCTP_ASSOC_SHUTDOWN, /* one side or both have begun to shut down */
    SCTP_ASSOC_CLOSED,
};

enum sctp_assoc_cause {
    SCTP_ASSOC_OPEN,     /* it is not closed */
    SCTP_ASSOC_SHUT,     /* by SHUTDOWN, in order */
    SCTP_ASSOC_ABORTED,  /* by the other side's ABORT */
    SCTP_ASSOC_OWN,      /* by sctp_assoc_abort() */
    SCTP_ASSOC_TIMED_OUT /* nothing was acknowledged for too long */
};

struct sctp_assoc_status {
    enum sctp_assoc_state state;
    enum sctp_assoc_cause cause;
    uint16_t own_port, peer_port;
    uint32_t own_tag, peer_tag;
    uint16_t own_outbound, own_inbound; /* own OS and MIS */
    bool peer_known;                    /* the members that follow are those of the other side's INIT or INIT ACK */
    struct sctp_init peer;              /* without address[].octets and adaptation_at, which are NULL */
    uint32_t next_tsn;                  /* that the next chunk gets */
    uint32_t cumulative;                /* all TSNs of the other side up to this one have come */
    size_t unacknowledged;              /* own DATA chunks */
    uint64_t acknowledged;              /* own DATA chunks so far */
    uint64_t received;                  /* DATA chunks, without duplicates */
    uint64_t duplicates;                /* DATA chunks that had come before */
    uint64_t heartbeats;                /* HEARTBEAT ACKs that came */
    uint64_t errors;                    /* ERROR chunks that came */
    uint32_t peer_window;               /* a_rwnd of the last SACK, or of INIT */
    uint64_t round_trip_ns;             /* from INIT to INIT ACK, 0: not known */
    uint64_t established_ns;            /* 0: never */
    bool shutdown_seen;                 /* SHUTDOWN came */
};

/* Valid until the association is released. */
const struct sctp_assoc_status *sctp_assoc_status(const struct sctp_assoc *assoc);
const char *sctp_assoc_state_name(enum sctp_assoc_state state);
const char *sctp_assoc_cause_name(enum sctp_assoc_cause cause);

/* --- Sending ----------------------------------------------------------------------------------------------------- */

struct sctp_assoc_data {
    uint16_t sid, ssn;
    uint8_t flags; /* SCTP_FLAG_...; DDP wants U, B and E */
    uint32_t ppid;
    const uint8_t *user; /* copied */
    size_t user_octets;
    bool choose_tsn; /* use `tsn`; the next TSN does not change */
    uint32_t tsn;
    bool hold;         /* bundling: it waits until sctp_assoc_flush(), or until a chunk without `hold` is sent */
    bool once;         /* it is never sent again, acknowledged or not */
    bool bad_checksum; /* the packet has a wrong CRC32c; sent again with a right one unless `once` */
    bool later;        /* it is first sent when its retransmission is due: simulates reordering or loss */
};

/* -1: the association is not established, the chunk is too long for a packet, or memory is short. */
int sctp_assoc_send(struct sctp_assoc *assoc, const struct sctp_assoc_data *data);

/* Sends the chunks that wait. */
void sctp_assoc_flush(struct sctp_assoc *assoc);

/* Sends all chunks that wait to be acknowledged now, the latest first when `backwards`. */
void sctp_assoc_resend(struct sctp_assoc *assoc, bool backwards);

/*
 * Any chunks as they are, after a common header, with or without a right tag and checksum. -1: too long, or no peer
 * yet.
 */
int sctp_assoc_send_raw(struct sctp_assoc *assoc, const uint8_t *chunks, size_t octets, uint32_t tag_flip,
                        bool bad_checksum);

/* Sends a HEARTBEAT; its answer is counted. -1 as above. */
int sctp_assoc_heartbeat(struct sctp_assoc *assoc);

/* SHUTDOWN, once own DATA is acknowledged. -1: it is not established. */
int sctp_assoc_shutdown(struct sctp_assoc *assoc);

/* ABORT. Harmless when it is closed. */
void sctp_assoc_abort(struct sctp_assoc *assoc);

/* --- Receiving --------------------------------------------------------------------------------------------------- */

struct sctp_received {
    struct sctp_data data; /* `user` is valid until the chunk is consumed */
    uint8_t flags;
    unsigned place;       /* of the chunk among the DATA chunks of its packet, from 0 */
    uint64_t packet;      /* number of the packet: chunks of one have the same */
    size_t packet_octets; /* of it, from the common header on */
    bool fragmented;      /* it came in IP fragments */
    uint64_t time_ns;
};

/* The oldest DATA chunk that was not consumed, NULL: none. */
const struct sctp_received *sctp_assoc_received(const struct sctp_assoc *assoc);
void sctp_assoc_consume(struct sctp_assoc *assoc);

/* Turns SACKs on or off. When turned on again, one is sent at once. */
void sctp_assoc_withhold(struct sctp_assoc *assoc, bool withhold);

/*
 * Fixes a_rwnd and announces it in a SACK. While it is 0, each packet with DATA is answered by a SACK, so that the
 * other side continues to probe. This SACK acknowledges all received chunks except the newest: one probe is always
 * outstanding, and no other one follows it (RFC 9260 6.1).
 */
void sctp_assoc_window(struct sctp_assoc *assoc, uint32_t octets);

#endif
