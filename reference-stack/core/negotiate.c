/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/core/negotiate.h"

#include "reference-stack/core/stream_internal.h"
#include "reference-stack/defects/defect_stream.h"
#include "wire/depth.h"

static uint16_t least(unsigned a, unsigned b)
{
    return (uint16_t)(a < b ? a : b);
}

/* Depths that start-up does not settle are what the ULP configured (RFC 6581 9.1). */
void negotiate_begin(struct iwarp_stream *stream)
{
    const struct iwarp_stream_config *config = &stream->config;
    const struct iwarp_device_config *device = &stream->device->config;

    stream->ird = config->ird == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ird_max : config->ird;
    stream->ord = config->ord == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ord_max : config->ord;
    if (stream->config.rtr == 0)
        stream->config.rtr = IWARP_RTR_ALL;
}

/* --- Initiator: the Request -------------------------------------------------------------------------------------- */

/* The depths of the device's first Request for all: only as a defect. */
static void keep_depths(struct iwarp_stream *stream)
{
    struct defect_first *first = &stream->device->faults.first;

    if (first->depths) {
        stream->config.ird = stream->ird = (uint16_t)first->ird;
        stream->config.ord = stream->ord = (uint16_t)first->ord;
    }
    first->ird = stream->config.ird;
    first->ord = stream->config.ord;
    first->depths = 1;
}

void negotiate_request(struct iwarp_stream *stream, struct negotiation_offer *own)
{
    if (stream_behaves(stream, DEFECT_DEPTHS_KEPT))
        keep_depths(stream);
    own->ird = stream->config.ird;
    own->ord = stream->config.ord;
    own->peer_to_peer = stream->config.peer_to_peer || stream_behaves(stream, DEFECT_P2P_ALWAYS);
    own->rtr =
        own->peer_to_peer || stream_behaves(stream, DEFECT_RTR_FLAGS_ALWAYS) ? stream->config.rtr & IWARP_RTR_ALL : 0;
}

/* --- Responder --------------------------------------------------------------------------------------------------- */

/* By RFC 6581 9.1: own ORD at most the peer's IRD, own IRD at least the peer's ORD. */
void negotiate_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned ird = stream->ird;
    unsigned limit = stream->device->config.ird_max;

    if (peer->ord == DEPTH_NOT_NEGOTIATED) {
        stream->reply_ird = DEPTH_NOT_NEGOTIATED;
    } else {
        if (peer->ord > ird)
            ird = peer->ord;
        if (ird == 0 && peer->peer_to_peer && (peer->rtr & IWARP_RTR_READ) != 0)
            ird = 1;
        stream->reply_ird = least(ird, limit);
    }
    stream->reply_ord = peer->ird == DEPTH_NOT_NEGOTIATED ? DEPTH_NOT_NEGOTIATED : least(stream->ord, peer->ird);
    if (stream->defects == NULL)
        return;
    if (stream_behaves(stream, DEFECT_DEPTHS_NOT_CROSSED)) {
        stream->reply_ird = least(peer->ird, limit);
        stream->reply_ord = least(stream->ord, peer->ord);
    }
    if (stream_behaves(stream, DEFECT_DEPTHS_OWN)) {
        stream->reply_ird = stream->ird;
        stream->reply_ord = stream->ord;
    }
    if (stream_behaves(stream, DEFECT_DEPTH_3FFF_NUMBER)) {
        stream->reply_ird = least(peer->ord, limit);
        stream->reply_ord = least(stream->ord, peer->ird);
    }
}

/* RTR messages of the answer: each that is offered and supported, or else all supported (RFC 6581 9.2). */
static void agree_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned common = peer->rtr & stream->config.rtr;

    stream->rtr_agreed = common != 0 ? common : stream->config.rtr;
    if (stream_behaves(stream, DEFECT_RTR_NONE_CONFIRMED))
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_MATCH_MORE_THAN_ONE) && (common & (common - 1)) == 0)
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_TWO_CONFLICT) && (common & (common - 1)) != 0)
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_ONE_CONFIRMED))
        stream->rtr_agreed &= 0 - stream->rtr_agreed;
}

void negotiate_answer(struct iwarp_stream *stream, const struct negotiation_offer *peer, struct negotiation_offer *own)
{
    *own = (struct negotiation_offer){
        .ird = stream->reply_ird,
        .ord = stream->reply_ord,
        .peer_to_peer = peer->peer_to_peer,
    };
    if (!own->peer_to_peer)
        return;
    agree_rtr(stream, peer);
    own->rtr = stream->rtr_agreed;
    stream->rtr_awaited = true;
}

/* 0x3FFF leaves a depth as it is (RFC 6581 9.1). */
void negotiate_accept(struct iwarp_stream *stream)
{
    if (stream->reply_ird != DEPTH_NOT_NEGOTIATED)
        stream->ird = stream->reply_ird;
    if (stream->reply_ord != DEPTH_NOT_NEGOTIATED)
        stream->ord = stream->reply_ord;
    if (stream_behaves(stream, DEFECT_ORD_NOT_APPLIED))
        stream->ord = stream->config.ord;
}

/* --- Initiator: the answer --------------------------------------------------------------------------------------- */

void negotiate_adopt(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    if (peer->ird != DEPTH_NOT_NEGOTIATED && peer->ird < stream->ord && !stream_behaves(stream, DEFECT_ORD_NOT_APPLIED))
        stream->ord = peer->ird;
    if (peer->ord != DEPTH_NOT_NEGOTIATED && peer->ord > stream->ird && !stream_behaves(stream, DEFECT_IRD_NOT_RAISED))
        stream->ird = least(peer->ord, stream->device->config.ird_max);
}

/* What the answer offers is put in force before the RTR goes out (RFC 6581 9.3). */
bool negotiate_reply(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    struct validation_subject subject = {.stream = stream, .offer = peer};
    struct validation_outcome outcome;

    if (stream->config.peer_to_peer && peer->peer_to_peer)
        stream->rtr_agreed = peer->rtr & stream->config.rtr;
    negotiate_adopt(stream, peer);
    if (validation_run(VALIDATE_NEGOTIATION, &subject, &outcome) || outcome.ignore)
        return true;
    stream_fail(stream, &outcome, &subject, "the Reply offers what this side cannot do");
    return false;
}

/* In the order of preference: a Write and a Read need no receive at the peer. */
static enum iwarp_rtr choose_rtr(unsigned set)
{
    if (set & IWARP_RTR_WRITE)
        return IWARP_RTR_WRITE;
    return set & IWARP_RTR_READ ? IWARP_RTR_READ : IWARP_RTR_SEND;
}

void negotiate_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    if (stream->config.peer_to_peer && peer->peer_to_peer && !stream_behaves(stream, DEFECT_RTR_NOT_SENT)) {
        enum iwarp_rtr kind = choose_rtr(stream->rtr_agreed);

        if (stream_behaves(stream, DEFECT_RTR_WRONG_KIND))
            kind = kind == IWARP_RTR_WRITE ? IWARP_RTR_READ : IWARP_RTR_WRITE;
        (void)transmit_rtr(stream, kind);
    } else if (stream_behaves(stream, DEFECT_RTR_BY_FLAGS) && peer->rtr != 0) {
        (void)transmit_rtr(stream, choose_rtr(peer->rtr));
    }
}
