/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack as a device under test: a device, listeners, streams, a cooperating ULP and the upper tester's commands
 * (docs/upper-tester.md), sans-I/O. The transport is the caller's: kernel TCP (driver_tcp.h) or a simulated one.
 *
 * The caller reports the events of its TCP through the peer_*() calls, and the peer requests actions through
 * peer_transport_ops, from within those calls and within peer_command(). Ops must not call back into the peer. All
 * times are nanoseconds of one clock that never goes back.
 */
#ifndef REFERENCE_STACK_PEER_H
#define REFERENCE_STACK_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/sctp.h"
#include "reference-stack/defects/peer_faults.h"
#include "reference-stack/transport/carrier.h"
#include "base/sentence.h"

struct budget;
struct peer;
struct peer_stream;
struct defect_set;
struct iwarp_span;
struct json_t;

struct peer_association;

/* A peer that listens with SCTP, and where its packets go. */
struct peer_sctp_place {
    const char *address;
    uint16_t port;
    uint16_t udp_port; /* RFC 6951; 0: that of the transport */
};

/* What the peer wants of SCTP, where its LLP is that (reference-stack/transport/sctp_hub.h has the same names). */
struct peer_sctp_ops {
    /*
     * Begins an association; the caller reports its events by peer_association_changed(). Returns the transport; NULL
     * with the reason when it cannot even begin.
     */
    void *(*connect)(void *context, const struct peer_sctp_place *place, struct iwarp_association *association,
                     struct peer_association *owner, struct iwarp_sentence *why);
    /*
     * SCTP is given what the association has to send, and does what it wants. It must not call
     * peer_association_changed().
     */
    void (*run)(void *transport, uint64_t now);
    /* The peer is done with it: an association that still exists is aborted. */
    void (*release)(void *transport);
    /* The path MTU has changed: octets of the longest SCTP packet. NULL: not possible. */
    void (*set_packet_max)(void *transport, size_t octets);
    /*
     * What the INIT ACKs of a listener have: before `listen`, and where the options of one that is open change. NULL:
     * the transport asks the association, which it has before it answers.
     */
    void (*offer)(void *context, uint16_t port, const struct iwarp_sctp_init *init);
};

struct peer_transport_ops {
    /* Not NULL: the LLP is SCTP. Of what follows only `listen` and `unlisten` are called then. */
    const struct peer_sctp_ops *sctp;
    /* Opens a listener; port 0: any. Returns the port, or -1 with the reason when it cannot. */
    int (*listen)(void *context, uint16_t port, struct iwarp_sentence *why);
    /* Closes it; connections that it accepted stay open. */
    void (*unlisten)(void *context, uint16_t port);
    /*
     * Begins an active open. Returns the transport (handed to the ops below), or NULL when it cannot even begin. The
     * caller reports the outcome later by peer_connected() or peer_connect_failed(), never from within this call.
     */
    void *(*connect)(void *context, const char *address, uint16_t port, struct peer_stream *stream);
    /* Takes all octets. One call is one start-up frame or FPDU: send it as one segment where possible. */
    void (*send)(void *transport, const uint8_t *octets, size_t count);
    /* In place of it, with `room`: as struct output_batch has it. */
    void (*send_spans)(void *transport, const struct iwarp_span *spans, size_t count);
    /* What else a stream wants of its connection. The peer calls nothing more after abort() and release(). */
    struct carrier_ops carrier;
    /* Octets that send() should be given now; NULL: no limit. With 0 the caller calls peer_writable() later. */
    size_t (*room)(void *transport);
    /* What was sent and is not acknowledged is never sent again: only as a defect; NULL: the transport cannot. */
    void (*forget)(void *transport);
};

/* A seed for worlds that are to be the same each time. */
#define PEER_SEED  UINT64_C(0x7761727063686563)
#define PEER_START UINT64_C(0xD1B54A32D192ED03) /* what each start adds to it */

struct peer_config {
    const struct defect_set *defects;            /* borrowed; NULL: by the book */
    bool out_of_order;                           /* the transport calls peer_input_early() */
    size_t streams_max;                          /* 0: 16384 */
    size_t regions_octets_max;                   /* memory that the upper tester may register in all; 0: 256 MiB */
    struct iwarp_association_config association; /* SCTP: of each association; defects and device are the peer's own */
    uint64_t seed;       /* STags follow from it and from how often it was reset; 0: nobody can foresee them */
    uint64_t memory_max; /* octets for streams, posted work and regions together; 0: no limit */
};

/* NULL with a sentence when memory is short. `config` may be NULL. `ops` and `context` are borrowed. */
struct peer *peer_new(const struct peer_config *config, const struct peer_transport_ops *ops, void *context,
                      struct iwarp_sentence *sentence);

/* How TCP should be opened for the peer (struct tcp_settings); `config` may be NULL. */
void peer_tcp(const struct peer_config *config, struct tcp_settings *settings);

/* The same of its associations, and of the SCTP below them: before anything is made of `config`. */
void peer_sctp(struct peer_config *config, struct sctp_settings *settings);

/* What leaves in place of an SCTP packet of the peer, as `leaving` of struct user_sctp_config: the packet itself. */
size_t peer_sctp_leaving(const struct peer_config *config, uint8_t *packet, size_t octets, size_t room);

/* Could a stream have these options, members of the verb "listen" (docs/upper-tester.md)? -1 with a sentence. */
struct json_t;
int peer_check_options(struct peer *peer, const struct json_t *options, struct iwarp_sentence *sentence);

/* Aborts every transport that is still in use, then frees. */
void peer_free(struct peer *peer);

/* A listener took a connection. NULL: no listener on that port, or too many streams: the caller drops it. */
struct peer_stream *peer_accepted(struct peer *peer, uint16_t port, void *transport, uint64_t now);

/* Its transport; NULL when it is done with that. */
void *peer_stream_transport(const struct peer_stream *stream);

/* Outcome of ops->connect. After a failure the transport is the caller's to clean up. */
void peer_connected(struct peer_stream *stream, uint64_t now);
void peer_connect_failed(struct peer_stream *stream, const char *why, uint64_t now);

/* What TCP delivered; FIN; reset or lost (the transport is then the caller's to clean up). */
void peer_input(struct peer_stream *stream, const uint8_t *octets, size_t count, uint64_t now);
void peer_input_fin(struct peer_stream *stream, uint64_t now);
/* What TCP holds after a gap, as iwarp_stream_input_early(); may be left out. peer_writable() after it. */
void peer_input_early(struct peer_stream *stream, size_t gap, const uint8_t *octets, size_t count, uint64_t now);
void peer_input_reset(struct peer_stream *stream, uint64_t now);
/* There is room to send again (only with ops->room). */
void peer_writable(struct peer_stream *stream, uint64_t now);

/*
 * SCTP. Somebody asks for an association with a port that is listened to: the association for it, and the argument for
 * peer_association_changed(), to be called whenever it got input; NULL: nobody listens there, or there is no memory.
 * Associations that exist; all of them end in order, once their streams have.
 */
struct iwarp_association *peer_association_incoming(struct peer *peer, uint16_t port, void *transport,
                                                    struct peer_association **owner, uint64_t now);
void peer_association_changed(struct peer_association *owner, uint64_t now);
size_t peer_association_count(const struct peer *peer);
void peer_close_associations(struct peer *peer, uint64_t now);

/* When peer_tick() is due; UINT64_MAX: never. */
uint64_t peer_deadline(const struct peer *peer);
void peer_tick(struct peer *peer, uint64_t now);

/*
 * Executes one command of the upper tester: one JSON object; `line` needs no newline. Returns the reply: one JSON
 * object without newline, which the caller frees with free(); NULL: memory is short. `line` may contain anything.
 */
char *peer_command(struct peer *peer, const char *line, uint64_t now);

/*
 * The same without text, for a caller in the same process: `command` as JSON's parser gives it, of at most
 * PEER_VALUES_MAX values. The reply is the caller's, but for values that it shares with the command. NULL: memory is
 * short.
 */
struct json_t *peer_answer(struct peer *peer, const struct json_t *command, uint64_t now);

/* What memory_max is the limit of: the transport takes its share from it. */
struct budget *peer_budget(struct peer *peer);

/* As many streams are in use as may be. */
bool peer_is_full(const struct peer *peer);

/* Streams in use. */
size_t peer_stream_count(const struct peer *peer);

#endif
