/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA start-up, both roles: RFC 5044 7.1, RFC 6581 6 and 9. */
#include <string.h>

#include "reference-stack/mpa/mpa.h"

/* The stream's own half of a start-up frame. */
static void own_frame(const struct iwarp_stream *stream, enum mpa_start_kind kind, struct mpa_start *start)
{
    memset(start, 0, sizeof(*start));
    start->kind = kind;
    start->markers = stream->config.markers;
    start->crc = stream->config.crc;
    start->private_data = stream->config.private_data;
    start->private_octets = stream->config.private_octets;
}

/* What a frame offers, as the enhanced word has it (RFC 6581 6). */
static void set_offer(struct mpa_start *start, const struct negotiation_offer *offer)
{
    start->ird = offer->ird;
    start->ord = offer->ord;
    start->peer_to_peer = offer->peer_to_peer;
    start->rtr_send = (offer->rtr & IWARP_RTR_SEND) != 0;
    start->rtr_write = (offer->rtr & IWARP_RTR_WRITE) != 0;
    start->rtr_read = (offer->rtr & IWARP_RTR_READ) != 0;
}

static struct negotiation_offer offer_of(const struct mpa_start *start)
{
    return (struct negotiation_offer){
        .ird = start->ird,
        .ord = start->ord,
        .peer_to_peer = start->peer_to_peer,
        .rtr = (start->rtr_send ? IWARP_RTR_SEND : 0u) | (start->rtr_write ? IWARP_RTR_WRITE : 0u) |
               (start->rtr_read ? IWARP_RTR_READ : 0u),
    };
}

int startup_begin(struct iwarp_stream *stream, struct sentence *sentence)
{
    uint8_t private_data[MPA_PRIVATE_DATA_MAX];
    struct mpa_start start;

    HOOK(stream, startup_begins(stream));
    if (stream->config.role == IWARP_RESPONDER)
        return 0;
    own_frame(stream, MPA_REQUEST, &start);
    start.revision = stream->config.revision;
    start.enhanced = stream->config.enhanced && start.revision >= MPA_REV_2;
    if (start.enhanced) {
        struct negotiation_offer own;

        negotiate_request(stream, &own);
        set_offer(&start, &own);
        HOOK(stream, private_made(stream, &start));
    }
    smbd_put(stream, &start, stream->config.ird, stream->config.ord, private_data);
    return frame_start(stream, &start, sentence);
}

/* What both frames settle: Markers per direction, CRC, MULPDU (RFC 5044 4.3, 4.4, 4.5, 7.1.1). */
static void agree(struct iwarp_stream *stream)
{
    mpa_of(stream)->send_markers = mpa_of(stream)->peer.markers;
    mpa_of(stream)->receive_markers = stream->config.markers;
    mpa_of(stream)->crc = stream->config.crc || mpa_of(stream)->peer.crc;
    if (mpa_of(stream)->peer.revision == MPA_REV_RDMAC && stream->config.rdmac) {
        stream->version = 0;
        mpa_of(stream)->send_markers = mpa_of(stream)->receive_markers = mpa_of(stream)->crc = true;
    }
    HOOK(stream, agreed(stream));
    mpa_of(stream)->mulpdu = fpdu_mulpdu(mpa_of(stream)->emss, mpa_of(stream)->send_markers);
}

static void event_start(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    struct iwarp_event *event = stream_event(stream, kind);

    if (event == NULL)
        return;
    event->start = mpa_of(stream)->peer;
    event->ird = stream->ird;
    event->ord = stream->ord;
    event->send_markers = mpa_of(stream)->send_markers;
    event->receive_markers = mpa_of(stream)->receive_markers;
    event->crc = mpa_of(stream)->crc;
    event->version = stream->version;
    HOOK(stream, event(stream, event));
}

/* MPA is left, TCP stays open and is the ULP's (RFC 5044 7.1.2 rules 2 and 3). */
static void leave(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    stream->state = IWARP_STATE_EXITED;
    stream->dropping = true;
    stream_flush(stream);
    event_start(stream, kind);
}

/* --- Responder ------------------------------------------------------------------------------------------------ */

int startup_reply(struct iwarp_stream *stream, bool accepted)
{
    const struct mpa_start *peer = &mpa_of(stream)->peer;
    uint8_t private_data[MPA_PRIVATE_DATA_MAX];
    struct mpa_start start;

    own_frame(stream, MPA_REPLY, &start);
    start.rejected = !accepted;
    start.revision = peer->revision;
    start.enhanced = mpa_start_has_word(peer);
    if (peer->revision == MPA_REV_RDMAC && stream->config.rdmac)
        start.markers = start.crc = true;
    if (start.enhanced) {
        size_t room = MPA_PRIVATE_DATA_MAX - MPA_ENHANCED_OCTETS;
        struct negotiation_offer offered = offer_of(peer);
        struct negotiation_offer own;

        start.private_octets = start.private_octets < room ? start.private_octets : (uint16_t)room;
        negotiate_answer(stream, &offered, &own);
        set_offer(&start, &own);
    }
    if (mpa_of(stream)->smbd)
        smbd_put(stream, &start, stream->reply_ird, stream->reply_ord, private_data);
    if (frame_start(stream, &start, NULL) != 0)
        return -1;
    if (!accepted) {
        leave(stream, IWARP_EVENT_REJECT_SENT);
        return 0;
    }
    if (start.enhanced || mpa_of(stream)->smbd)
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
    struct negotiation_offer offered = offer_of(&mpa_of(stream)->peer);

    if (mpa_start_has_word(&mpa_of(stream)->peer) || mpa_of(stream)->smbd)
        negotiate_depths(stream, &offered);
    event_start(stream, IWARP_EVENT_CONNECT_REQUEST);
    switch (stream->config.accept) {
    case IWARP_ACCEPT_ASK: stream->state = IWARP_STATE_DECISION; break;
    case IWARP_ACCEPT_NOT: (void)startup_reply(stream, false); break;
    case IWARP_ACCEPT:
    default:
        if (startup_reply(stream, true) != 0)
            stream->abort_wanted = true;
        break;
    }
}

/* --- Initiator ------------------------------------------------------------------------------------------------ */

static void reply_complete(struct iwarp_stream *stream)
{
    struct negotiation_offer offered = offer_of(&mpa_of(stream)->peer);

    if (mpa_of(stream)->peer.rejected && !HOOK_IF(stream, rejected(stream))) {
        leave(stream, IWARP_EVENT_REJECTED);
        return;
    }
    stream->state = IWARP_STATE_OPERATION;
    stream->segments_allowed = true;
    agree(stream);
    if (stream->config.enhanced && stream->config.revision >= MPA_REV_2 && mpa_start_has_word(&mpa_of(stream)->peer)) {
        if (!negotiate_reply(stream, &offered))
            return;
        startup_established(stream);
        negotiate_rtr(stream, &offered);
    } else {
        if (mpa_of(stream)->smbd)
            negotiate_adopt(stream, &offered);
        startup_established(stream);
    }
}

/* --- Both ----------------------------------------------------------------------------------------------------- */

/* Reads what is there of the frame, without judging it: that is the table's part. */
static size_t read_frame(const struct iwarp_stream *stream, struct mpa_start *start)
{
    const uint8_t *octets = mpa_of(stream)->start_octets;
    size_t length;

    memset(start, 0, sizeof(*start));
    start->kind = stream->config.role == IWARP_RESPONDER ? MPA_REQUEST : MPA_REPLY;
    if (mpa_of(stream)->start_count < MPA_START_OCTETS)
        return MPA_START_OCTETS;
    start->markers = mpa_start_get_M(octets);
    start->crc = mpa_start_get_C(octets);
    start->rejected = start->kind == MPA_REPLY && mpa_start_get_R(octets);
    start->enhanced = mpa_start_get_S(octets);
    start->reserved = (uint8_t)mpa_start_get_Res(octets);
    start->revision = (uint8_t)mpa_start_get_Rev(octets);
    HOOK(stream, start_parsed(stream, start));
    length = mpa_start_get_PD_Length(octets);
    if (length > MPA_PRIVATE_DATA_MAX)
        length = MPA_PRIVATE_DATA_MAX;
    start->private_octets = (uint16_t)length;
    start->private_data = octets + MPA_START_OCTETS;
    if (mpa_of(stream)->start_count >= MPA_START_OCTETS + length && mpa_start_has_word(start)) {
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
    mpa_of(stream)->smbd = smbd_has(stream, &mpa_of(stream)->peer);
    if (mpa_of(stream)->smbd)
        smbd_parse(&mpa_of(stream)->peer);
    if (stream->config.role == IWARP_RESPONDER)
        request_complete(stream);
    else
        reply_complete(stream);
}

/* Takes what belongs to the start-up frame, and returns how much that was. */
size_t startup_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    enum validation_stage stage = stream->config.role == IWARP_RESPONDER ? VALIDATE_REQUEST : VALIDATE_REPLY;
    struct validation_subject subject = {
        .stream = stream, .octets = mpa_of(stream)->start_octets, .start = &mpa_of(stream)->peer};
    struct validation_outcome outcome;
    size_t used = 0;
    size_t whole;

    if (stream->state == IWARP_STATE_DECISION && count == 0)
        return 0;
    /* First the fixed part, then what PD_Length announces, so that not an octet after the frame is taken. */
    for (;;) {
        size_t missing;

        whole = read_frame(stream, &mpa_of(stream)->peer);
        missing = whole > mpa_of(stream)->start_count ? whole - mpa_of(stream)->start_count : 0;
        if (missing > count - used)
            missing = count - used;
        memcpy(mpa_of(stream)->start_octets + mpa_of(stream)->start_count, octets + used, missing);
        mpa_of(stream)->start_count += missing;
        used += missing;
        if (missing == 0)
            break;
    }
    whole = read_frame(stream, &mpa_of(stream)->peer);
    subject.count = mpa_of(stream)->start_count;
    subject.excess = count - used;
    if (!validation_run(stage, &subject, &outcome) && !outcome.ignore) {
        stream_fail(stream, &outcome, &subject, "the start-up frame is not acceptable");
        return used;
    }
    if (stream->state == IWARP_STATE_DECISION)
        return count;
    if (!HOOK_VALUE(stream, subject.count >= whole, start_whole(stream, subject.count, whole)))
        return used;
    startup_complete(stream);
    return HOOK_IF(stream, excess_dropped(stream)) ? count : used;
}
