/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA start-up, both roles: RFC 5044 7.1, RFC 6581 6 and 9. */
#include <string.h>

#include "reference-stack/mpa/mpa.h"
#include "reference-stack/defects/defect_stream.h"

static unsigned min_depth(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

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

static void set_rtr(struct mpa_start *start, unsigned rtr)
{
    start->rtr_send = (rtr & IWARP_RTR_SEND) != 0;
    start->rtr_write = (rtr & IWARP_RTR_WRITE) != 0;
    start->rtr_read = (rtr & IWARP_RTR_READ) != 0;
}

static unsigned get_rtr(const struct mpa_start *start)
{
    return (start->rtr_send ? IWARP_RTR_SEND : 0u) | (start->rtr_write ? IWARP_RTR_WRITE : 0u) |
           (start->rtr_read ? IWARP_RTR_READ : 0u);
}

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

int startup_begin(struct iwarp_stream *stream, struct sentence *sentence)
{
    uint8_t private_data[MPA_PRIVATE_DATA_MAX];
    struct mpa_start start;

    if (stream->config.rtr == 0)
        stream->config.rtr = IWARP_RTR_ALL;
    if (stream->config.role == IWARP_RESPONDER) {
        if (stream_behaves(stream, DEFECT_OPERATION_AT_ONCE)) {
            stream->state = IWARP_STATE_OPERATION;
            stream->gate = true;
            startup_established(stream);
        }
        return 0;
    }
    own_frame(stream, MPA_REQUEST, &start);
    start.revision = stream->config.revision;
    start.enhanced = stream->config.enhanced && start.revision >= MPA_REV_2;
    if (start.enhanced) {
        if (stream_behaves(stream, DEFECT_DEPTHS_KEPT))
            keep_depths(stream);
        start.ird = stream->config.ird;
        start.ord = stream->config.ord;
        start.peer_to_peer = stream->config.peer_to_peer || stream_behaves(stream, DEFECT_P2P_ALWAYS);
        if (start.peer_to_peer || stream_behaves(stream, DEFECT_RTR_FLAGS_ALWAYS))
            set_rtr(&start, stream->config.rtr);
    }
    if (stream_behaves(stream, DEFECT_INITIATOR_SENDS_EARLY)) {
        stream->gate = true;
        (void)transmit_rtr(stream, IWARP_RTR_WRITE);
    }
    smbd_put(stream, &start, stream->config.ird, stream->config.ord, private_data);
    return frame_start(stream, &start, sentence);
}

/* What both frames settle: Markers per direction, CRC, MULPDU (RFC 5044 4.3, 4.4, 4.5, 7.1.1). */
static void agree(struct iwarp_stream *stream)
{
    bool own = stream->config.crc;

    mpa_of(stream)->send_markers = mpa_of(stream)->peer.markers;
    mpa_of(stream)->receive_markers = stream->config.markers;
    mpa_of(stream)->crc = own || mpa_of(stream)->peer.crc;
    if (mpa_of(stream)->peer.revision == MPA_REV_RDMAC && stream->config.rdmac) {
        stream->version = stream_behaves(stream, DEFECT_RDMAC_VERSION_1) ? DDP_VERSION : 0;
        mpa_of(stream)->send_markers = mpa_of(stream)->crc = true;
        mpa_of(stream)->receive_markers = stream->config.markers || !stream_behaves(stream, DEFECT_RDMAC_OWN_M);
        if (stream_behaves(stream, DEFECT_RDMAC_OWN_C))
            mpa_of(stream)->crc = own;
    }
    if (stream->defects != NULL) {
        if (stream_behaves(stream, DEFECT_MARKERS_BOTH_WAYS))
            mpa_of(stream)->send_markers = mpa_of(stream)->receive_markers =
                stream->config.markers || mpa_of(stream)->peer.markers;
        if (stream_behaves(stream, DEFECT_MARKERS_IF_BOTH))
            mpa_of(stream)->send_markers = stream->config.markers && mpa_of(stream)->peer.markers;
        if (stream_behaves(stream, DEFECT_MARKERS_OWN_BIT))
            mpa_of(stream)->send_markers = stream->config.markers;
        if (stream_behaves(stream, DEFECT_CRC_AND))
            mpa_of(stream)->crc = own && mpa_of(stream)->peer.crc;
        if (stream_behaves(stream, DEFECT_CRC_OWN_BIT))
            mpa_of(stream)->crc = own;
        if (stream_behaves(stream, DEFECT_CRC_ALWAYS))
            mpa_of(stream)->crc = true;
    }
    if (stream_behaves(stream, DEFECT_SEQSTART_AT_FRAME))
        mpa_of(stream)->receive_position = mpa_of(stream)->transmit_position = (uint32_t)mpa_of(stream)->start_count;
    if (stream_behaves(stream, DEFECT_MARKER_WITHOUT_PRIVATE))
        mpa_of(stream)->receive_position = mpa_of(stream)->peer.private_octets;
    mpa_of(stream)->mulpdu = fpdu_mulpdu(mpa_of(stream)->emss, mpa_of(stream)->send_markers);
}

static void event_start(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    struct iwarp_event *event = stream_event(stream, kind);

    if (event == NULL)
        return;
    event->start = mpa_of(stream)->peer;
    if (stream_behaves(stream, DEFECT_EVENT_REVISION_0))
        event->start.revision = 0;
    if (stream_behaves(stream, DEFECT_PRIVATE_256) && event->start.private_octets > 256)
        event->start.private_octets = 256;
    if (stream_behaves(stream, DEFECT_PRIVATE_STRING) && event->start.private_octets != 0)
        event->start.private_octets =
            (uint16_t)strnlen((const char *)event->start.private_data, event->start.private_octets);
    if (stream_behaves(stream, DEFECT_EVENT_OWN_DEPTHS)) {
        event->start.ird = stream->ird;
        event->start.ord = stream->ord;
    }
    event->ird = stream->ird;
    event->ord = stream->ord;
    event->send_markers = mpa_of(stream)->send_markers;
    event->receive_markers = mpa_of(stream)->receive_markers;
    event->crc = mpa_of(stream)->crc;
    event->version = stream_behaves(stream, DEFECT_EVENT_VERSION_1) ? DDP_VERSION : stream->version;
}

/* MPA is left, TCP stays open and is the ULP's (RFC 5044 7.1.2 rules 2 and 3). */
static void leave(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    stream->state = IWARP_STATE_EXITED;
    stream->dropping = true;
    stream_flush(stream);
    event_start(stream, kind);
    if (kind == IWARP_EVENT_REJECT_SENT && stream_behaves(stream, DEFECT_REJECT_UNANSWERED))
        stream->abort_wanted = true;
    if (kind == IWARP_EVENT_REJECT_SENT && stream_behaves(stream, DEFECT_REJECT_CLOSES))
        stream->close_wanted = true;
}

/* --- Responder ------------------------------------------------------------------------------------------------ */

/* IRD and ORD of the Reply, by RFC 6581 9.1: own ORD at most the peer's IRD, own IRD at least the peer's ORD. */
static void responder_depths(struct iwarp_stream *stream)
{
    const struct mpa_start *peer = &mpa_of(stream)->peer;
    unsigned ird = stream->ird;
    unsigned limit = stream->device->config.ird_max;

    if (peer->ord == MPA_DEPTH_NOT_NEGOTIATED) {
        stream->reply_ird = MPA_DEPTH_NOT_NEGOTIATED;
    } else {
        if (peer->ord > ird)
            ird = peer->ord;
        if (ird == 0 && peer->peer_to_peer && peer->rtr_read)
            ird = 1;
        stream->reply_ird = (uint16_t)min_depth(ird, limit);
    }
    stream->reply_ord =
        peer->ird == MPA_DEPTH_NOT_NEGOTIATED ? MPA_DEPTH_NOT_NEGOTIATED : (uint16_t)min_depth(stream->ord, peer->ird);
    if (stream->defects == NULL)
        return;
    if (stream_behaves(stream, DEFECT_DEPTHS_NOT_CROSSED)) {
        stream->reply_ird = (uint16_t)min_depth(peer->ird, limit);
        stream->reply_ord = (uint16_t)min_depth(stream->ord, peer->ord);
    }
    if (stream_behaves(stream, DEFECT_DEPTHS_OWN)) {
        stream->reply_ird = stream->ird;
        stream->reply_ord = stream->ord;
    }
    if (stream_behaves(stream, DEFECT_DEPTH_3FFF_NUMBER)) {
        stream->reply_ird = (uint16_t)min_depth(peer->ord, limit);
        stream->reply_ord = (uint16_t)min_depth(stream->ord, peer->ird);
    }
}

/* RTR flags of the Reply: each that is offered and supported, or else all supported (RFC 6581 9.2). */
static void responder_rtr(struct iwarp_stream *stream, struct mpa_start *start)
{
    unsigned common = get_rtr(&mpa_of(stream)->peer) & stream->config.rtr;

    if (!start->peer_to_peer)
        return;
    stream->rtr_agreed = common != 0 ? common : stream->config.rtr;
    if (stream_behaves(stream, DEFECT_RTR_NONE_CONFIRMED))
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_MATCH_MORE_THAN_ONE) && (common & (common - 1)) == 0)
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_TWO_CONFLICT) && (common & (common - 1)) != 0)
        stream->rtr_agreed = 0;
    if (stream_behaves(stream, DEFECT_RTR_ONE_CONFIRMED))
        stream->rtr_agreed &= 0 - stream->rtr_agreed;
    set_rtr(start, stream->rtr_agreed);
    stream->rtr_awaited = true;
}

int startup_reply(struct iwarp_stream *stream, bool accepted)
{
    const struct mpa_start *peer = &mpa_of(stream)->peer;
    uint8_t private_data[MPA_PRIVATE_DATA_MAX];
    struct mpa_start start;

    own_frame(stream, MPA_REPLY, &start);
    start.rejected = !accepted;
    start.revision = peer->revision;
    start.enhanced = mpa_start_has_word(peer);
    if (peer->revision == MPA_REV_RDMAC && stream->config.rdmac) {
        start.markers = stream->config.markers || !stream_behaves(stream, DEFECT_RDMAC_OWN_M);
        start.crc = true;
    }
    if (start.enhanced) {
        size_t room = MPA_PRIVATE_DATA_MAX - MPA_ENHANCED_OCTETS;

        start.private_octets = start.private_octets < room ? start.private_octets : (uint16_t)room;
        start.peer_to_peer = peer->peer_to_peer;
        start.ird = stream->reply_ird;
        start.ord = stream->reply_ord;
        responder_rtr(stream, &start);
    }
    if (mpa_of(stream)->smbd)
        smbd_put(stream, &start, stream->reply_ird, stream->reply_ord, private_data);
    if (frame_start(stream, &start, NULL) != 0)
        return -1;
    if (!accepted) {
        leave(stream, IWARP_EVENT_REJECT_SENT);
        return 0;
    }
    if (start.enhanced || mpa_of(stream)->smbd) {
        mpa_of(stream)->enhanced = start.enhanced;
        /* 0x3FFF leaves the depth as it is (RFC 6581 9.1). */
        if (stream->reply_ird != MPA_DEPTH_NOT_NEGOTIATED)
            stream->ird = stream->reply_ird;
        if (stream->reply_ord != MPA_DEPTH_NOT_NEGOTIATED)
            stream->ord = stream->reply_ord;
        if (stream_behaves(stream, DEFECT_ORD_NOT_APPLIED))
            stream->ord = stream->config.ord;
    }
    stream->state = IWARP_STATE_FENCED;
    startup_established(stream);
    if (stream_behaves(stream, DEFECT_RESPONDER_SENDS_FIRST)) {
        stream->gate = true;
        (void)transmit_rtr(stream, IWARP_RTR_WRITE);
    }
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
    if (mpa_start_has_word(&mpa_of(stream)->peer) || mpa_of(stream)->smbd)
        responder_depths(stream);
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

/* RTR messages in the order of preference: a Write and a Read need no receive at the peer. */
static enum iwarp_rtr choose_rtr(unsigned set)
{
    if (set & IWARP_RTR_WRITE)
        return IWARP_RTR_WRITE;
    return set & IWARP_RTR_READ ? IWARP_RTR_READ : IWARP_RTR_SEND;
}

/* What the Reply offers is put in force before the RTR goes out (RFC 6581 9.3). */
static void initiator_depths(struct iwarp_stream *stream)
{
    const struct mpa_start *peer = &mpa_of(stream)->peer;

    if (peer->ird != MPA_DEPTH_NOT_NEGOTIATED && peer->ird < stream->ord &&
        !stream_behaves(stream, DEFECT_ORD_NOT_APPLIED))
        stream->ord = peer->ird;
    if (peer->ord != MPA_DEPTH_NOT_NEGOTIATED && peer->ord > stream->ird &&
        !stream_behaves(stream, DEFECT_IRD_NOT_RAISED))
        stream->ird = (uint16_t)min_depth(peer->ord, stream->device->config.ird_max);
}

static void initiator_enhanced(struct iwarp_stream *stream)
{
    const struct mpa_start *peer = &mpa_of(stream)->peer;
    struct validation_subject subject = {.stream = stream, .start = peer};
    struct validation_outcome outcome;

    mpa_of(stream)->enhanced = true;
    if (stream->config.peer_to_peer && peer->peer_to_peer)
        stream->rtr_agreed = get_rtr(peer) & stream->config.rtr;
    initiator_depths(stream);
    if (!validation_run(VALIDATE_NEGOTIATION, &subject, &outcome) && !outcome.ignore) {
        stream_fail(stream, &outcome, &subject, "the Reply offers what this side cannot do");
        return;
    }
    startup_established(stream);
    if (stream->config.peer_to_peer && peer->peer_to_peer && !stream_behaves(stream, DEFECT_RTR_NOT_SENT)) {
        enum iwarp_rtr kind = choose_rtr(stream->rtr_agreed);

        if (stream_behaves(stream, DEFECT_RTR_WRONG_KIND))
            kind = kind == IWARP_RTR_WRITE ? IWARP_RTR_READ : IWARP_RTR_WRITE;
        (void)transmit_rtr(stream, kind);
    } else if (stream_behaves(stream, DEFECT_RTR_BY_FLAGS) && get_rtr(peer) != 0) {
        (void)transmit_rtr(stream, choose_rtr(get_rtr(peer)));
    }
}

static void reply_complete(struct iwarp_stream *stream)
{
    if (mpa_of(stream)->peer.rejected && !stream_behaves(stream, DEFECT_REJECT_IGNORED)) {
        leave(stream, IWARP_EVENT_REJECTED);
        return;
    }
    stream->state = IWARP_STATE_OPERATION;
    stream->gate = !stream_behaves(stream, DEFECT_INITIATOR_WAITS);
    agree(stream);
    if (stream->config.enhanced && stream->config.revision >= MPA_REV_2 && mpa_start_has_word(&mpa_of(stream)->peer))
        initiator_enhanced(stream);
    else {
        if (mpa_of(stream)->smbd)
            initiator_depths(stream);
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
    if (start->revision == MPA_REV_2 && stream_behaves(stream, DEFECT_WORD_BY_REVISION))
        start->enhanced = true;
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
        smbd_take(&mpa_of(stream)->peer);
    if (stream->config.role == IWARP_RESPONDER)
        request_complete(stream);
    else
        reply_complete(stream);
}

/* What RFC 5044 7.1.1 says not to look at: only as a defect. */
static bool overstrict(const struct iwarp_stream *stream)
{
    const uint8_t *octets = mpa_of(stream)->start_octets;

    if (stream->defects == NULL || mpa_of(stream)->start_count < MPA_START_OCTETS)
        return false;
    return (stream_behaves(stream, DEFECT_REQUEST_R_CHECKED) && stream->config.role == IWARP_RESPONDER &&
            mpa_start_get_R(octets)) ||
           (stream_behaves(stream, DEFECT_RESERVED_CHECKED) && mpa_start_get_Res(octets) != 0);
}

/* Is the frame complete, with its Private Data? */
static bool is_whole(const struct iwarp_stream *stream, size_t whole)
{
    if (stream_behaves(stream, DEFECT_KEY_ENOUGH) && mpa_of(stream)->start_count >= MPA_KEY_OCTETS)
        return true;
    if (stream_behaves(stream, DEFECT_PRIVATE_AWAITED) && whole < MPA_START_OCTETS + MPA_ENHANCED_OCTETS)
        return false;
    return mpa_of(stream)->start_count >= whole;
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

    if (stream_behaves(stream, DEFECT_STREAMING_AWAITED) && stage == VALIDATE_REQUEST)
        return count;
    if (stream->state == IWARP_STATE_DECISION && count == 0)
        return 0;
    /* First the fixed part, then what PD_Length announces, so that not an octet behind the frame is taken. */
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
    if (overstrict(stream)) {
        stream_fail_with(stream, NULL, TERM_MPA_START_FRAME, VALIDATION_CLOSE, "the start-up frame has bits set");
        return used;
    }
    if (stream->state == IWARP_STATE_DECISION)
        return count;
    if (!is_whole(stream, whole))
        return used;
    startup_complete(stream);
    return stream_behaves(stream, DEFECT_EXCESS_DISCARDED) ? count : used;
}
