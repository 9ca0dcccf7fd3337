/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seam below DDP: what DDP and RDMAP need from the layer that carries their segments (the LLP of RFC 5041 1.1), as
 * a table of operations. Each layer has one such table and its own folder next to this one. The layer calls core by its
 * functions; core calls the layer by this table alone, and knows the name of none. The table serves octet streams and
 * transports of messages alike: over SCTP (RFC 5043) a user message is one ULPDU with its DDP-SSN before it, and the
 * session control messages of RFC 6581 section 7 make the offers of core/negotiate.h.
 *
 * What the layer has to do on its own:
 *
 *     - It keeps stream->state from STARTUP to FENCED or OPERATION, sets stream->outbound.segments_allowed once
 *       segments may be sent, calls core/negotiate.h with what both sides offer, and reports IWARP_EVENT_ESTABLISHED
 *       and its like.
 *     - It gives each ULPDU that is good at its own level to deliver_ulpdu(), in the order in which the peer sent them.
 *       Where segments arrive out of order and have to be placed at once, it calls early_ulpdu() for those, and
 *       deliver_ulpdu() when their turn comes (RFC 5041 5.3).
 *     - It makes stream->outbound.piece out of a ULPDU or of a message of its own, with the functions of core/piece.c.
 *     - Errors go to stream_fail() or stream_fail_with(), which flush the work and send the Terminate.
 */
#ifndef REFERENCE_STACK_LLP_H
#define REFERENCE_STACK_LLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/terminate.h"

struct iwarp_event;
struct iwarp_stream;
struct iwarp_stream_config;
struct iwarp_sentence;

/*
 * Octets before stream->outbound.headers that are the layer's, so that its own header and those of DDP and RDMAP lie in
 * one run.
 */
enum { LLP_PREFIX_OCTETS = 2 };

/* A ULPDU to be sent: DDP's and RDMAP's headers lie at stream->outbound.headers + LLP_PREFIX_OCTETS. */
struct llp_ulpdu {
    size_t header_octets;
    const uint8_t *payload; /* borrowed until the piece is with the transport */
    size_t payload_octets;
    bool copy; /* the payload is not to be looked at after the call */
};

struct llp_ops {
    /* Octets of what the layer keeps of a stream: zeroed, at stream->lower, and there as long as the stream. */
    size_t state_octets;

    /* What IWARP_EVENT_ERROR reports when the connection is lost; WIRE_OK where the layer has no number for that. */
    wire_result lost;

    /* What the layer cannot do of a configuration that core finds possible: -1 with a sentence. */
    int (*check)(const struct iwarp_stream_config *config, struct iwarp_sentence *sentence);

    /* The stream is new. An initiator makes its first piece. -1 with a sentence when memory is short. */
    int (*begin)(struct iwarp_stream *stream, struct iwarp_sentence *sentence);

    /* The stream is being freed: what the layer has allocated goes. */
    void (*release)(struct iwarp_stream *stream);

    /*
     * Octets of a byte stream, as the transport delivered them. The layer counts what it drops. NULL where the
     * transport carries messages: the layer has its own way in then, and calls stream_input_ulpdu() for each ULPDU.
     */
    void (*input)(struct iwarp_stream *stream, const uint8_t *octets, size_t count);

    /* The peer sends no more. An error where something was still due from it. */
    void (*input_end)(struct iwarp_stream *stream);

    /* The time for the start-up is over. */
    void (*overdue)(struct iwarp_stream *stream);

    /* Responder: how many octets of Private Data the answer has room for. */
    size_t (*answer_room)(const struct iwarp_stream *stream);

    /* Responder: the answer becomes the next piece, and an accepted stream is established. -1: memory is short. */
    int (*answer)(struct iwarp_stream *stream, bool accepted);

    /*
     * The largest ULPDU (RFC 5041 3, MULPDU). *left, if asked for: the largest that still fits into what the transport
     * has begun to send, 0 where nothing is begun or too little is left.
     */
    size_t (*ulpdu_max)(const struct iwarp_stream *stream, size_t *left);

    /* Makes the next piece of a ULPDU, which has at most 65535 octets. -1: memory is short. */
    int (*frame)(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu);

    /*
     * All is sent, and this side is to end in order: makes the message that says so to the peer's layer. False: there
     * is none, or it is sent, so that the transport's own end follows.
     */
    bool (*close)(struct iwarp_stream *stream);

    /* What the layer knows of the peer, for an event about an error. */
    void (*state)(const struct iwarp_stream *stream, struct iwarp_event *event);

    /* There may be something to send, or the stream may have ended. NULL: not called. */
    void (*ready)(struct iwarp_stream *stream);
};

#endif
