/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP over SCTP (RFC 5043 with RFC 6581 7, and draft-stewart-rddp-sctp-02), without I/O. An association carries many
 * RDMAP Streams: one for each stream identifier (SID) that both sides of the association have. SCTP itself belongs to
 * the caller (a kernel, a library, a simulation, a test), who drives the association:
 *
 *     iwarp_association_init(association, &init);              what to put into INIT or INIT-ACK
 *     iwarp_association_up(association, &peer, now);           contents of the peer's INIT or INIT-ACK
 *     iwarp_association_input(association, &message, now);     each user message, as SCTP delivers it, in any order
 *     iwarp_association_acked(association, sid, count, now);   SCTP's acknowledgements
 *     while (iwarp_association_poll(association, &event)) ...  what happened; requests of the peer
 *     while (iwarp_association_output(association, &out) != 0) {
 *         send(out...); iwarp_association_output_done(association, now);
 *     }
 *     switch (iwarp_association_wants(association)) ...        SHUTDOWN or ABORT
 *     sleep until iwarp_association_deadline(association); iwarp_association_tick(association, now);
 *
 * reference-stack/examples/sessions.c does this for two associations of one process.
 *
 * A stream is made by iwarp_sctp_stream_new(), and is then used like any other: by the verbs, by iwarp_stream_poll(),
 * and by iwarp_stream_free(). Functions for MPA and TCP have no effect on it. Its input, its output and its time limits
 * are handled by the association. When its session ends, the stream is CLOSED or EXITED; its SID may be used again
 * before the stream is freed.
 *
 * All times are nanoseconds of one clock that never goes back. Misuse is handled as in device.h. An association and all
 * of its streams belong to one thread at a time.
 */
#ifndef IWARP_SCTP_H
#define IWARP_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/device.h"
#include "iwarp/stream.h"
#include "wire/sctp_profile.h"
#include "base/sentence.h"

#ifdef __cplusplus
extern "C" {
#endif

struct iwarp_association;

/* What the indications of both sides allow on an association (RFC 5043 11.1; draft 7.1). */
enum iwarp_sctp_mode {
    IWARP_SCTP_NOTHING, /* neither DDP nor RDMA */
    /*
     * Draft: DDP without RDMAP. Tagged segments are placed. Untagged segments of QN 0 fill posted receives; their
     * RsvdULP bits are ignored, and IWARP_EVENT_RECEIVE reports them like a Send. Sends and Writes can be posted; their
     * segments have RsvdULP 0. An error ends the stream without a Terminate, because Terminates belong to RDMAP.
     */
    IWARP_SCTP_DDP,
    IWARP_SCTP_RDMA, /* RDMAP over DDP */
};

struct iwarp_association_config {
    enum iwarp_sctp_profile profile; /* IWARP_SCTP_RFC5043 or IWARP_SCTP_DRAFT02 */
    bool indicate;                   /* send the indication (RFC 5043 7.1); false: the endpoint does not support DDP */
    uint32_t indication;             /* adaptation indication: 1, in the draft also 2 */
    bool any_indication;             /* keep an association without DDP; false: abort it (RFC 5043 7.1) */
    uint16_t streams;                /* number of streams requested in each direction (RFC 5043 8) */
    unsigned pending_max;            /* requests that may wait for the ULP (RFC 5043 6.4); others get a Terminate */
    size_t mtu;                      /* path MTU, in octets */
    size_t network_octets;           /* headers below SCTP: 20 over IPv4, 40 over IPv6, plus 8 with UDP encapsulation */
    size_t held_max;                 /* octets of messages kept until they can be processed, of all streams together */
    uint8_t draft_reset_ppid;        /* draft: PPID of a Stream Reset: 2 in its table, 1 in its text */
    bool draft_reset_answer;         /* draft: a Stream Reset opens one direction; answer it with another */
    uint8_t draft_version;           /* draft: version of DDP and RDMAP, 1 or 0 (RFC 5044 C) */
    const struct iwarp_faults *faults; /* deliberate faults of a test, borrowed; NULL in a program */
};

/*
 * The defaults: RFC 5043 or the draft, the indication of the profile (1; draft: 2), associations without DDP are
 * aborted, 64 streams, 16 requests, MTU 1500 over IPv4, 4 MiB of held messages, Stream Reset with PPID 2 and answered,
 * version 1.
 */
void iwarp_association_config_default(struct iwarp_association_config *config, enum iwarp_sctp_profile profile);

/*
 * Looks up the table of RFC 5043 11.1 (draft 7.1): the mode that results from the indications of `config` and of the
 * peer. `has`: the peer sent an indication. NOTHING for a NULL configuration.
 */
enum iwarp_sctp_mode iwarp_sctp_mode(const struct iwarp_association_config *config, bool has, uint32_t indication);

/*
 * Creates an association that is not up yet. `config` is copied, `device` borrowed. NULL with a sentence: memory is
 * short, or the configuration is impossible (profile, indication, no streams, an MTU without room for 516 octets, PPID,
 * version).
 */
struct iwarp_association *iwarp_association_new(struct iwarp_device *device,
                                                const struct iwarp_association_config *config, uint64_t now,
                                                struct iwarp_sentence *sentence);

/* Frees the association. Its streams end as if the association were lost; the caller frees them. NULL is fine. */
void iwarp_association_free(struct iwarp_association *association);

/* What this side's INIT or INIT-ACK must contain. */
struct iwarp_sctp_init {
    bool has_indication;
    uint32_t indication;
    uint16_t outbound, inbound; /* OS and MIS */
};

/* All 0 for a NULL association. */
void iwarp_association_init(const struct iwarp_association *association, struct iwarp_sctp_init *init);

/*
 * SCTP has set the association up; `peer` is the contents of the peer's INIT or INIT-ACK. The association has the
 * streams that both sides have in both directions: the least of the four numbers (RFC 5043 8). Messages passed before
 * this call are lost. A second call does nothing. Event: UP, or DOWN if the peer's indication refuses DDP.
 */
void iwarp_association_up(struct iwarp_association *association, const struct iwarp_sctp_init *peer, uint64_t now);

/*
 * SCTP has lost the association, by an ABORT, a time-out or a SHUTDOWN of the peer. Each stream ends (RFC 5043 11.3).
 */
void iwarp_association_lost(struct iwarp_association *association, uint64_t now);

/* --- Messages --------------------------------------------------------------------------------------------------- */

/* A user message of SCTP, whole. */
struct iwarp_sctp_message {
    uint16_t sid;
    uint32_t ppid; /* in host order: 16 is 00 00 00 10 on the wire */
    const uint8_t *octets;
    size_t count;
};

/*
 * Accepts a user message of the peer. The caller may reuse its octets when the call returns. Payload is placed at once.
 * Messages are delivered in the order of their DDP-SSNs; the order of these calls and of TSNs does not matter.
 */
void iwarp_association_input(struct iwarp_association *association, const struct iwarp_sctp_message *message,
                             uint64_t now);

/*
 * Reports that the peer has acknowledged the oldest `count` messages of the SID that were not reported before. If a
 * message is acknowledged before an older one, the caller reports both when the older one is acknowledged. UINT32_MAX:
 * all of the SID.
 */
void iwarp_association_acked(struct iwarp_association *association, uint16_t sid, uint32_t count, uint64_t now);

/* Reports that the peer has acknowledged all messages of all SIDs (SCTP_SENDER_DRY_EVENT). */
void iwarp_association_dry(struct iwarp_association *association, uint64_t now);

/* One user message to be sent: in one DATA chunk, or in several if it is longer than the MTU. */
struct iwarp_sctp_output {
    uint16_t sid;
    uint32_t ppid;                               /* host order */
    bool unordered;                              /* U: always (RFC 5043 10) */
    bool control;                                /* a session control message or a Stream Reset */
    struct iwarp_span spans[IWARP_OUTPUT_SPANS]; /* sent in order */
    size_t span_count;
    size_t octets;   /* of all spans */
    size_t ulp_span; /* as in struct iwarp_output */
};

/*
 * Returns the next message to send in *output; streams take turns. The result is its length in octets; 0: nothing to
 * send now. Without iwarp_association_output_done(), the next call gives the same message. The spans are valid until
 * the next call for the association or one of its streams.
 */
size_t iwarp_association_output(struct iwarp_association *association, struct iwarp_sctp_output *output);

/*
 * Reports that SCTP has accepted the message. The library does not return it again, and waits for its acknowledgement.
 */
void iwarp_association_output_done(struct iwarp_association *association, uint64_t now);

enum iwarp_association_want {
    IWARP_ASSOCIATION_WANT_NOTHING,
    IWARP_ASSOCIATION_WANT_SHUTDOWN, /* no stream is left, and all output is acknowledged */
    IWARP_ASSOCIATION_WANT_ABORT,
};

/* What the caller has to do with the association. Call it when there is no output. */
enum iwarp_association_want iwarp_association_wants(const struct iwarp_association *association);

/* When iwarp_association_tick() is due; UINT64_MAX: never. One call serves all streams of the association. */
uint64_t iwarp_association_deadline(const struct iwarp_association *association);
void iwarp_association_tick(struct iwarp_association *association, uint64_t now);

/*
 * Reports a new path MTU, for segments that are not begun. A value without room for 516 octets is raised to that
 * minimum.
 */
void iwarp_association_set_mtu(struct iwarp_association *association, size_t mtu);

/* --- Events and the ULP ----------------------------------------------------------------------------------------- */

enum iwarp_association_event_kind {
    IWARP_ASSOCIATION_UP,      /* `mode`, `streams` */
    IWARP_ASSOCIATION_REQUEST, /* the peer began a session (draft: sent data) on the SID: iwarp_sctp_stream_new() */
    IWARP_ASSOCIATION_CONTROL, /* a control message arrived: `code`; the stream of the SID has the other events */
    IWARP_ASSOCIATION_CLOSED,  /* the session of the SID has ended */
    IWARP_ASSOCIATION_DOWN,    /* the association has ended, or was refused: `text` */
};

struct iwarp_association_event {
    enum iwarp_association_event_kind kind;
    enum iwarp_sctp_mode mode;
    uint16_t streams;
    uint16_t sid;
    uint32_t code;               /* REQUEST, CONTROL: Function Code */
    const uint8_t *private_data; /* REQUEST: the ULP's, valid until the next call for the association */
    size_t private_octets;
    char text[96]; /* DOWN: one sentence */
};

/*
 * Removes the oldest event and returns it in *event. False: there is no event. A REQUEST that the peer has withdrawn
 * meanwhile is not returned.
 */
bool iwarp_association_poll(struct iwarp_association *association, struct iwarp_association_event *event);

/*
 * Returns the next stream that may have events for iwarp_stream_poll(). Each is returned once, and again only after
 * something new happened to it. NULL: no more. A caller that polls all of its streams does not need this.
 */
struct iwarp_stream *iwarp_association_poll_stream(struct iwarp_association *association);

/* Like iwarp_stream_config_default(), with enhanced sessions (RFC 6581 7). */
void iwarp_sctp_stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role);

/*
 * Creates a stream on the SID. An initiator requests a session from the peer: enhanced (codes 5 to 7) or not, with the
 * Private Data of the configuration. A responder answers the request that waits on the SID, or the next one. In the
 * draft, a stream is established at once; on an aborted SID, an initiator resets it, and a responder waits for the
 * peer's Stream Reset. NULL with a sentence: memory is short; the association is not up, or does not allow RDMA; no
 * such SID; the SID has a stream, or is not free for a new session because messages of the last one may be outstanding
 * (RFC 5043 6.6); more than 512 octets of Private Data, 508 with `enhanced`. `revision`, `markers`, `crc`, `emss`,
 * `rdmac` and `smbd` are ignored.
 */
struct iwarp_stream *iwarp_sctp_stream_new(struct iwarp_association *association, uint16_t sid,
                                           const struct iwarp_stream_config *config, uint64_t now,
                                           struct iwarp_sentence *sentence);

/*
 * The same in two steps, for a program that posts work before the association is up: the first creates a stream without
 * an association, the second begins it on a SID. Between the two, the stream is in start-up, and its time limits do not
 * run. Errors: those of iwarp_sctp_stream_new(), and a stream that has ended or has a SID.
 */
struct iwarp_stream *iwarp_sctp_stream_detached(struct iwarp_device *device, const struct iwarp_stream_config *config,
                                                uint64_t now, struct iwarp_sentence *sentence);
int iwarp_sctp_stream_attach(struct iwarp_association *association, uint16_t sid, struct iwarp_stream *stream,
                             uint64_t now, struct iwarp_sentence *sentence);

/* Checks whether a stream could have this configuration. -1 with a sentence: it could not. */
int iwarp_sctp_stream_config_check(struct iwarp_device *device, const struct iwarp_stream_config *config,
                                   struct iwarp_sentence *sentence);

/* Finds a SID for a new session: the first that was never used, else one whose sessions have ended; -1: none. */
int iwarp_association_free_sid(const struct iwarp_association *association);

/* The SID of a stream. -1: the stream has no association, or its session has ended. */
int iwarp_sctp_stream_sid(const struct iwarp_stream *stream);

/* Ends in order: when all streams have ended, the association wants SHUTDOWN. No new stream can be created. */
void iwarp_association_close(struct iwarp_association *association, uint64_t now);

/* Ends at once: the association wants ABORT, and each stream ends without a Terminate of its own (RFC 5043 11.3). */
void iwarp_association_abort(struct iwarp_association *association, uint64_t now);

struct iwarp_association_counters {
    uint64_t messages_sent, messages_received;
    uint64_t dropped;               /* messages without a session, of the wrong kind, or after an error */
    uint64_t duplicates;            /* messages whose DDP-SSN had arrived before */
    uint64_t refused;               /* requests beyond pending_max */
    size_t sessions;                /* SIDs for which memory is in use */
    size_t held, held_octets;       /* messages kept until they can be processed, and the memory used for them */
    size_t held_octets_max;         /* at most */
    unsigned pending, pending_most; /* requests that wait for the ULP, now and at most */
    uint32_t outstanding_most;      /* messages of one SID sent and not acknowledged, at most (RFC 5043 10) */
};

/* Valid until the association is freed; NULL for NULL. */
const struct iwarp_association_counters *iwarp_association_counters(const struct iwarp_association *association);

/* The largest DDP Segment, in octets (RFC 5043 9). 0 for NULL. */
size_t iwarp_association_segment_max(const struct iwarp_association *association);

#ifdef __cplusplus
}
#endif

#endif
