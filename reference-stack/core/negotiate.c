/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/core/negotiate.h"

#include "reference-stack/core/stream_internal.h"
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

    stream->agreed.ird = config->ird == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ird_max : config->ird;
    stream->agreed.ord = config->ord == DEPTH_NOT_NEGOTIATED ? (uint16_t)device->ord_max : config->ord;
    if (stream->config.rtr == 0)
        stream->config.rtr = IWARP_RTR_ALL;
}

/* --- Initiator: the Request -------------------------------------------------------------------------------------- */

void negotiate_request(struct iwarp_stream *stream, struct negotiation_offer *own)
{
    own->ird = stream->config.ird;
    own->ord = stream->config.ord;
    own->peer_to_peer = stream->config.peer_to_peer;
    own->rtr = own->peer_to_peer ? stream->config.rtr & IWARP_RTR_ALL : 0;
    SEAM(stream, terms(stream, TERMS_REQUEST, own, NULL));
}

/* --- Responder --------------------------------------------------------------------------------------------------- */

/* By RFC 6581 9.1: own ORD at most the peer's IRD, own IRD at least the peer's ORD. */
void negotiate_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned ird = stream->agreed.ird;
    unsigned limit = stream->device->config.ird_max;

    if (peer->ord == DEPTH_NOT_NEGOTIATED) {
        stream->agreed.reply_ird = DEPTH_NOT_NEGOTIATED;
    } else {
        if (peer->ord > ird)
            ird = peer->ord;
        if (ird == 0 && peer->peer_to_peer && (peer->rtr & IWARP_RTR_READ) != 0)
            ird = 1;
        stream->agreed.reply_ird = least(ird, limit);
    }
    stream->agreed.reply_ord =
        peer->ird == DEPTH_NOT_NEGOTIATED ? DEPTH_NOT_NEGOTIATED : least(stream->agreed.ord, peer->ird);
    SEAM(stream, terms(stream, TERMS_ANSWER_DEPTHS, NULL, peer));
}

/* RTR messages of the answer: each that is offered and supported, or else all supported (RFC 6581 9.2). */
static void agree_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned common = peer->rtr & stream->config.rtr;

    stream->agreed.terms.rtr = common != 0 ? common : stream->config.rtr;
    SEAM(stream, terms(stream, TERMS_ANSWER_RTR, NULL, peer));
}

void negotiate_answer(struct iwarp_stream *stream, const struct negotiation_offer *peer, struct negotiation_offer *own)
{
    *own = (struct negotiation_offer){
        .ird = stream->agreed.reply_ird,
        .ord = stream->agreed.reply_ord,
        .peer_to_peer = peer->peer_to_peer,
    };
    if (!own->peer_to_peer)
        return;
    agree_rtr(stream, peer);
    own->rtr = stream->agreed.terms.rtr;
    stream->agreed.rtr_awaited = true;
}

/* 0x3FFF leaves a depth as it is (RFC 6581 9.1). */
void negotiate_accept(struct iwarp_stream *stream)
{
    if (stream->agreed.reply_ird != DEPTH_NOT_NEGOTIATED)
        stream->agreed.ird = stream->agreed.reply_ird;
    if (stream->agreed.reply_ord != DEPTH_NOT_NEGOTIATED)
        stream->agreed.ord = stream->agreed.reply_ord;
    SEAM(stream, terms(stream, TERMS_DEPTHS, NULL, NULL));
}

/* --- Initiator: the answer --------------------------------------------------------------------------------------- */

void negotiate_adopt(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    if (peer->ird != DEPTH_NOT_NEGOTIATED && peer->ird < stream->agreed.ord)
        stream->agreed.ord = peer->ird;
    if (peer->ord != DEPTH_NOT_NEGOTIATED && peer->ord > stream->agreed.ird)
        stream->agreed.ird = least(peer->ord, stream->device->config.ird_max);
    SEAM(stream, terms(stream, TERMS_DEPTHS, NULL, peer));
}

/* What the answer offers is put in force before the RTR goes out (RFC 6581 9.3). */
bool negotiate_reply(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome;

    if (stream->config.peer_to_peer && peer->peer_to_peer)
        stream->agreed.terms.rtr = peer->rtr & stream->config.rtr;
    negotiate_adopt(stream, peer);
    subject.offer = peer;
    if (stream_judge(VALIDATE_NEGOTIATION, &subject, &outcome))
        return true;
    stream_fail(stream, &outcome, &subject, "the Reply offers what this side cannot do");
    return false;
}

/* In the order of preference: a Write and a Read need no receive at the peer. */
enum iwarp_rtr negotiate_prefer(unsigned set)
{
    if (set & IWARP_RTR_WRITE)
        return IWARP_RTR_WRITE;
    return set & IWARP_RTR_READ ? IWARP_RTR_READ : IWARP_RTR_SEND;
}

void negotiate_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    bool due = stream->config.peer_to_peer && peer->peer_to_peer;
    unsigned kind = SEAM_NUMBER(stream, NUMBER_RTR, due ? negotiate_prefer(stream->agreed.terms.rtr) : 0);

    if (kind != 0)
        (void)transmit_rtr(stream, (enum iwarp_rtr)kind);
}
