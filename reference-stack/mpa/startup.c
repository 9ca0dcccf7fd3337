/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA start-up, both roles: RFC 5044 7.1, RFC 6581 6 and 9. */
#include <string.h>

#include "reference-stack/mpa/mpa.h"

/* The stream's own half of a start-up frame. */
static void own_frame(const struct iwarp_stream *stream, enum iwarp_mpa_start_kind kind, struct iwarp_mpa_start *start)
{
    memset(start, 0, sizeof(*start));
    start->kind = kind;
    start->markers = stream->config.markers;
    start->crc = stream->config.crc;
    start->private_data = stream->config.private_data;
    start->private_octets = stream->config.private_octets;
}

/* What a frame offers, as the enhanced word has it (RFC 6581 6). */
static void set_offer(struct iwarp_mpa_start *start, const struct negotiation_offer *offer)
{
    start->ird = offer->ird;
    start->ord = offer->ord;
    start->peer_to_peer = offer->peer_to_peer;
    start->rtr_send = (offer->rtr & IWARP_RTR_SEND) != 0;
    start->rtr_write = (offer->rtr & IWARP_RTR_WRITE) != 0;
    start->rtr_read = (offer->rtr & IWARP_RTR_READ) != 0;
}

static struct negotiation_offer offer_of(const struct iwarp_mpa_start *start)
{
    return (struct negotiation_offer){
        .ird = start->ird,
        .ord = start->ord,
        .peer_to_peer = start->peer_to_peer,
        .rtr = (start->rtr_send ? IWARP_RTR_SEND : 0u) | (start->rtr_write ? IWARP_RTR_WRITE : 0u) |
               (start->rtr_read ? IWARP_RTR_READ : 0u),
    };
}

int startup_begin(struct iwarp_stream *stream, struct iwarp_sentence *sentence)
{
    uint8_t private_data[IWARP_MPA_PRIVATE_DATA_MAX];
    struct iwarp_mpa_start start;

    if (stream->config.role == IWARP_RESPONDER)
        return 0;
    own_frame(stream, IWARP_MPA_REQUEST, &start);
    start.revision = stream->config.revision;
    start.enhanced = stream->config.enhanced && start.revision >= MPA_REV_2;
    if (start.enhanced) {
        struct negotiation_offer own;

        negotiate_request(stream, &own);
        set_offer(&start, &own);
    }
    smbd_write(stream, &start, stream->config.ird, stream->config.ord, private_data);
    return frame_start(stream, &start, sentence);
}

/* What both frames settle: Markers per direction, CRC, MULPDU (RFC 5044 4.3, 4.4, 4.5, 7.1.1). */
static void agree(struct iwarp_stream *stream)
{
    struct mpa *mpa = mpa_of(stream);

    mpa->send_markers = mpa->peer.markers;
    mpa->receive_markers = stream->config.markers;
    mpa->crc = stream->config.crc || mpa->peer.crc;
    if (mpa->peer.revision == MPA_REV_RDMAC && stream->config.rdmac) {
        stream->agreed.terms.version = 0;
        mpa->send_markers = mpa->receive_markers = mpa->crc = true;
    }
    SEAM(stream, terms(stream, TERMS_FRAMING, NULL, NULL));
    mpa->mulpdu = fpdu_mulpdu(mpa->emss, mpa->send_markers);
}

static void event_start(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    const struct mpa *mpa = mpa_of(stream);
    struct iwarp_event *event = stream_event(stream, kind);

    if (event == NULL)
        return;
    event->start = mpa->peer;
    event->ird = stream->agreed.ird;
    event->ord = stream->agreed.ord;
    event->send_markers = mpa->send_markers;
    event->receive_markers = mpa->receive_markers;
    event->crc = mpa->crc;
    event->version = stream->agreed.terms.version;
    stream_event_done(stream, event);
}

/* MPA is left, TCP stays open and is the ULP's (RFC 5044 7.1.2 rules 2 and 3). */
static void leave(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    stream->state = IWARP_STATE_EXITED;
    stream->end.dropping = true;
    stream_flush(stream);
    event_start(stream, kind);
}

/* --- Responder ------------------------------------------------------------------------------------------------ */

int startup_reply(struct iwarp_stream *stream, bool accepted)
{
    const struct mpa *mpa = mpa_of(stream);
    const struct iwarp_mpa_start *peer = &mpa->peer;
    uint8_t private_data[IWARP_MPA_PRIVATE_DATA_MAX];
    struct iwarp_mpa_start start;

    own_frame(stream, IWARP_MPA_REPLY, &start);
    start.rejected = !accepted;
    start.revision = peer->revision;
    start.enhanced = iwarp_mpa_start_has_word(peer);
    if (peer->revision == MPA_REV_RDMAC && stream->config.rdmac)
        start.markers = start.crc = true;
    if (start.enhanced) {
        size_t room = IWARP_MPA_PRIVATE_DATA_MAX - MPA_ENHANCED_OCTETS;
        struct negotiation_offer offered = offer_of(peer);
        struct negotiation_offer own;

        start.private_octets = start.private_octets < room ? start.private_octets : (uint16_t)room;
        negotiate_answer(stream, &offered, &own);
        set_offer(&start, &own);
    }
    if (mpa->smbd)
        smbd_write(stream, &start, stream->agreed.reply_ird, stream->agreed.reply_ord, private_data);
    if (frame_start(stream, &start, NULL) != 0)
        return -1;
    if (!accepted) {
        leave(stream, IWARP_EVENT_REJECT_SENT);
        return 0;
    }
    if (start.enhanced || mpa->smbd)
        negotiate_accept(stream);
    stream->state = IWARP_STATE_FENCED;
    startup_established(stream);
    return 0;
}

void startup_established(struct iwarp_stream *stream)
{
    agree(stream);
    stream->established = true;
    event_start(stream, IWARP_EVENT_ESTABLISHED);
}

static void request_complete(struct iwarp_stream *stream)
{
    const struct mpa *mpa = mpa_of(stream);
    struct negotiation_offer offered = offer_of(&mpa->peer);

    if (iwarp_mpa_start_has_word(&mpa->peer) || mpa->smbd)
        negotiate_depths(stream, &offered);
    event_start(stream, IWARP_EVENT_CONNECT_REQUEST);
    switch (stream->config.accept) {
    case IWARP_ACCEPT_ASK: stream->state = IWARP_STATE_DECISION; break;
    case IWARP_ACCEPT_NOT: (void)startup_reply(stream, false); break;
    case IWARP_ACCEPT:
    default:
        if (startup_reply(stream, true) != 0)
            stream->end.abort_wanted = true;
        break;
    }
}

/* --- Initiator ------------------------------------------------------------------------------------------------ */

static void reply_complete(struct iwarp_stream *stream)
{
    const struct mpa *mpa = mpa_of(stream);
    struct negotiation_offer offered = offer_of(&mpa->peer);

    if (MPA_DECIDE(stream, MPA_REJECTED, mpa->peer.rejected)) {
        leave(stream, IWARP_EVENT_REJECTED);
        return;
    }
    stream->state = IWARP_STATE_OPERATION;
    stream->outbound.segments_allowed = true;
    agree(stream);
    if (stream->config.enhanced && stream->config.revision >= MPA_REV_2 && iwarp_mpa_start_has_word(&mpa->peer)) {
        if (!negotiate_reply(stream, &offered))
            return;
        startup_established(stream);
        negotiate_rtr(stream, &offered);
    } else {
        if (mpa->smbd)
            negotiate_adopt(stream, &offered);
        startup_established(stream);
    }
}

/* --- Both ----------------------------------------------------------------------------------------------------- */

/* Reads what is there of the frame, without judging it: that is the table's part. */
static size_t read_frame(struct iwarp_stream *stream, struct iwarp_mpa_start *start)
{
    const struct mpa *mpa = mpa_of(stream);
    const uint8_t *octets = mpa->start_octets;
    size_t length;

    memset(start, 0, sizeof(*start));
    start->kind = stream->config.role == IWARP_RESPONDER ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY;
    if (mpa->start_count < MPA_START_OCTETS)
        return MPA_START_OCTETS;
    start->markers = mpa_start_get_M(octets);
    start->crc = mpa_start_get_C(octets);
    start->rejected = start->kind == IWARP_MPA_REPLY && mpa_start_get_R(octets);
    start->enhanced = MPA_DECIDE(stream, MPA_ENHANCED, mpa_start_get_S(octets));
    start->reserved = (uint8_t)mpa_start_get_Res(octets);
    start->revision = (uint8_t)mpa_start_get_Rev(octets);
    length = mpa_start_get_PD_Length(octets);
    if (length > IWARP_MPA_PRIVATE_DATA_MAX)
        length = IWARP_MPA_PRIVATE_DATA_MAX;
    start->private_octets = (uint16_t)length;
    start->private_data = octets + MPA_START_OCTETS;
    if (mpa->start_count >= MPA_START_OCTETS + length && iwarp_mpa_start_has_word(start)) {
        const uint8_t *word = start->private_data;

        start->peer_to_peer = mpa_enhanced_get_A(word);
        start->rtr_send = mpa_enhanced_get_B(word);
        start->ird = (uint16_t)mpa_enhanced_get_IRD(word);
        start->rtr_write = mpa_enhanced_get_C(word);
        start->rtr_read = mpa_enhanced_get_D(word);
        start->ord = (uint16_t)mpa_enhanced_get_ORD(word);
    }
    return MPA_START_OCTETS + length;
}

/* The peer's frame is there and good. */
void startup_complete(struct iwarp_stream *stream)
{
    struct mpa *mpa = mpa_of(stream);

    mpa->smbd = smbd_has(stream, &mpa->peer);
    if (mpa->smbd)
        smbd_parse(&mpa->peer);
    if (stream->config.role == IWARP_RESPONDER)
        request_complete(stream);
    else
        reply_complete(stream);
}

/*
 * Adds to the frame what belongs to it: first the fixed part, then what PD_Length announces, so that not an octet after
 * the frame is taken. Returns how many octets that are; *whole: how many the frame has.
 */
static size_t gather_frame(struct iwarp_stream *stream, const uint8_t *octets, size_t count, size_t *whole)
{
    struct mpa *mpa = mpa_of(stream);
    size_t used = 0;

    for (;;) {
        size_t missing;

        *whole = read_frame(stream, &mpa->peer);
        missing = *whole > mpa->start_count ? *whole - mpa->start_count : 0;
        if (missing > count - used)
            missing = count - used;
        if (missing == 0)
            return used;
        memcpy(mpa->start_octets + mpa->start_count, octets + used, missing);
        mpa->start_count += missing;
        used += missing;
    }
}

/* Takes what belongs to the start-up frame, and returns how much that was. */
size_t startup_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    enum validation_stage stage = stream->config.role == IWARP_RESPONDER ? VALIDATE_REQUEST : VALIDATE_REPLY;
    struct mpa *mpa = mpa_of(stream);
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome;
    size_t used;
    size_t whole;

    if (stream->state == IWARP_STATE_DECISION && count == 0)
        return 0;
    used = gather_frame(stream, octets, count, &whole);
    subject.octets = mpa->start_octets;
    subject.start = &mpa->peer;
    subject.count = mpa->start_count;
    subject.excess = count - used;
    if (!stream_judge(stage, &subject, &outcome)) {
        stream_fail(stream, &outcome, &subject, "the start-up frame is not acceptable");
        return used;
    }
    if (stream->state == IWARP_STATE_DECISION)
        return count;
    if (!MPA_DECIDE(stream, MPA_FRAME_WHOLE, subject.count >= whole))
        return used;
    startup_complete(stream);
    return MPA_DECIDE(stream, MPA_EXCESS_KEPT, true) ? used : count;
}
