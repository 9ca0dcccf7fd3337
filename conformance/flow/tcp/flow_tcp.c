/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments: what the receiver's TCP takes of them (RFC 9293 3.10.7, RFC 5961). The receiver is not asked: it is known
 * by its acknowledgments, some of which the capture may lack or have late. So a segment is refused only for what no
 * receiver takes; octets far beyond the stream wait (flow_queue.c); and where octets came twice with different
 * contents, it is said that nobody knows which ones count (flow_retransmission.c).
 *
 * The checksum of octets that come in order is not verified: that would read each of them once more. One of those
 * segments can mislead only if others are sent in its place, which is noticed. That of an acknowledgment without octets
 * is.
 */
#include "conformance/flow/tcp/flow_tcp_internal.h"

#include <string.h>

enum {
    NEAR = 1 << 30,         /* the greatest window (RFC 7323 2.3) */
    SCALE_MAX = 14,         /* RFC 7323 2.3 */
    SILENT_SEGMENTS = 8,    /* of one side without a word of the other: it may not be in the capture any more */
    EDGE_SLACK = 1 << 16,   /* an acknowledgment more or less that was not captured */
    SUM_OCTETS_MAX = 65535, /* of a segment whose checksum can be right */
};

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* In the machine's order of octets: whether the sum is 0xFFFF does not depend on it (RFC 1071 2). */
static uint64_t sum_words(uint64_t sum, const uint8_t *octets, size_t count)
{
    uint32_t word = 0;
    size_t rest = count % sizeof(word), whole = count - rest;

    for (size_t i = 0; i < whole; i += sizeof(word)) {
        memcpy(&word, octets + i, sizeof(word));
        sum += word;
    }
    if (rest == 0)
        return sum;
    word = 0;
    memcpy(&word, octets + whole, rest);
    return sum + word;
}

/* RFC 9293 3.1. False: it is wrong, or some of the segment is not there. */
static bool sum_is_right(const struct flow_segment *segment)
{
    size_t header = (size_t)(segment->header[12] >> 4) * 4;
    size_t address = segment->key.family == 4 ? 4 : 16;
    uint8_t pseudo[4] = {0, 6};
    uint64_t sum;

    if (segment->payload != segment->header + header || segment->captured < segment->length ||
        header + segment->length > SUM_OCTETS_MAX)
        return false;
    octets_put16(pseudo + 2, (uint16_t)(header + segment->length));
    sum = sum_words(0, pseudo, sizeof(pseudo));
    for (unsigned i = 0; i < 2; i++)
        sum = sum_words(sum, segment->key.address[i], address);
    sum = sum_words(sum, segment->header, header);
    sum = sum_words(sum, segment->payload, segment->length);
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return sum == 0xFFFF;
}

bool flow_tcp_damaged(const struct flow_side *side, const struct flow_segment *segment)
{
    return side->syn.sums == SUMS_GOOD && segment->captured == segment->length && !sum_is_right(segment);
}

/* ---- what the receiver has said ---------------------------------------------------------------------------------- */

/* The other side has been silent while this one sent: what it has received is not known. */
static bool is_silent(const struct flow_side *side)
{
    return !side->acked_known || side->tcp->segments - side->tcp->segments_at >= SILENT_SEGMENTS;
}

uint64_t flow_tcp_edge(const struct flow_context *context)
{
    const struct flow_side *side = context->side, *other = flow_other_side(context);
    unsigned scale = SCALE_MAX;
    uint64_t room;

    if (is_silent(side))
        return UINT64_MAX;
    if ((side->syn.seen && !side->syn.has_scale && !side->syn.options_cut) ||
        (other->syn.seen && !other->syn.has_scale && !other->syn.options_cut))
        scale = 0;
    else if (other->syn.seen && other->syn.has_scale)
        scale = other->syn.scale < SCALE_MAX ? other->syn.scale : SCALE_MAX;
    room = 2 * ((uint64_t)side->tcp->window << scale);
    return side->acked + (room < NEAR ? room : NEAR) + EDGE_SLACK;
}

/* Takes the acknowledgment; returns it in 64 bits, 0 when it is none that this connection could have. */
static uint64_t note_ack(struct flow_side *side, struct flow_side *other, const struct flow_segment *segment)
{
    uint64_t ack = flow_extend(other, segment->ack);

    if (other->seq_known && ack - other->next + NEAR > 2 * (uint64_t)NEAR)
        return 0;
    if (!other->acked_known)
        other->tcp->first_acked = ack;
    /*
     * What an old segment says may be older than what is known, or come from a segment that was dropped: then a newer
     * one takes it back.
     */
    if (ack > other->acked || (int32_t)(segment->seq - (uint32_t)side->next) >= 0) {
        other->acked = ack;
        other->tcp->window = segment->window;
    }
    other->acked_known = true;
    other->tcp->segments_at = other->tcp->segments;
    return ack;
}

/* ---- flags ------------------------------------------------------------------------------------------------------- */

struct flow_piece flow_tcp_piece(const struct flow_context *context, const struct flow_segment *segment)
{
    return (struct flow_piece){
        .octets = segment->payload,
        .captured = segment->captured,
        .length = segment->length,
        .at_start = true,
        .at_end = true,
        .segment_octets = (uint32_t)segment->length,
        .frame = context->frame,
        .time_ns = context->time_ns,
    };
}

void flow_tcp_refuse(const struct flow_context *context, enum flow_refusal why, const struct flow_piece *piece)
{
    static const enum flow_row rows[FLOW_REFUSALS] = {
        [FLOW_REFUSED_NO_ACK] = FLOW_ROW_NOT_ACCEPTED, [FLOW_REFUSED_SYN] = FLOW_ROW_UNANSWERED,
        [FLOW_REFUSED_RESET] = FLOW_ROW_NOT_ACCEPTED,  [FLOW_REFUSED_CHECKSUM] = FLOW_ROW_NOT_ACCEPTED,
        [FLOW_REFUSED_WINDOW] = FLOW_ROW_NOT_ACCEPTED, [FLOW_REFUSED_END] = FLOW_ROW_NOT_ACCEPTED,
        [FLOW_REFUSED_ROOM] = FLOW_ROW_HELD_TOO_MUCH,  [FLOW_REFUSED_MEMORY] = FLOW_ROW_MEMORY,
    };

    context->side->octets.refused[why] += piece->length;
    flow_octets(context, rows[why], piece->captured);
    if (piece->length != 0 && context->connection->flow != NULL && why != FLOW_REFUSED_RESET) {
        struct flow_context place = flow_context_in(context, piece->frame, piece->time_ns);

        flow_undecoded(&place, FLOW_REASON_REFUSED);
    }
}

static void begin_at(struct flow_side *side, uint32_t seq)
{
    side->next = side->floor = flow_extend(side, seq);
    side->seq_known = true;
}

static struct flow_syn syn_of(const struct flow_segment *segment, uint64_t frame, uint64_t time_ns)
{
    struct flow_syn syn = {
        .seen = true,
        .ack = (segment->flags & TCP_BIT_ACK) != 0,
        .has_scale = segment->has_scale,
        .options_cut = segment->options_cut,
        .scale = segment->scale,
        .mss = segment->mss,
        .window = segment->window,
        .isn = segment->seq,
        .acked = segment->ack,
        .frame = frame,
        .time_ns = time_ns,
    };

    if (segment->header != NULL && segment->captured == segment->length)
        syn.sums = sum_is_right(segment) ? SUMS_GOOD : SUMS_OFFLOADED;
    return syn;
}

void flow_tcp_begin(struct flow_side *side, const struct flow_syn *syn)
{
    side->syn = *syn;
    if (side->seq_known) /* it was captured after its first octets */
        return;
    begin_at(side, syn->isn + 1);
    side->state = SIDE_FRESH;
}

void flow_tcp_syn(struct flow_side *side, const struct flow_segment *segment, uint64_t frame, uint64_t time_ns)
{
    struct flow_syn syn;

    if (side->syn.seen)
        return;
    syn = syn_of(segment, frame, time_ns);
    flow_tcp_begin(side, &syn);
}

/* A FIN counts where the stream reaches it; the last one that was captured, if they differ. */
static void note_fin(const struct flow_context *context, const struct flow_segment *segment)
{
    struct flow_side *side = context->side;
    uint64_t at;

    if (!side->seq_known)
        begin_at(side, segment->seq);
    at = flow_extend(side, segment->seq) + segment->length;
    if (side->closed || (side->fin_known && at == side->tcp->fin_at) || at < side->next ||
        at > flow_tcp_edge(context) || flow_tcp_damaged(side, segment))
        return;
    side->fin_known = true;
    side->tcp->fin_at = at;
    side->tcp->fin_frame = context->frame;
    side->tcp->fin_ns = context->time_ns;
    side->tcp->fin_with_data = segment->length != 0;
}

/*
 * RFC 5961 3: an RST counts at the very octet that the receiver expects, and is challenged elsewhere in the window.
 * What the receiver expects lies between what it has acknowledged and what was sent, so all of that is taken here.
 */
static bool reset_is_taken(const struct flow_context *context, const struct flow_segment *segment)
{
    const struct flow_side *side = context->side;
    uint64_t at = flow_extend(side, segment->seq);

    if (!side->seq_known || at == side->next)
        return !flow_tcp_damaged(side, segment);
    if (at < (is_silent(side) ? side->floor : side->acked) || at > flow_tcp_edge(context))
        return false;
    return !flow_tcp_damaged(side, segment);
}

static void note_reset(const struct flow_context *context, const struct flow_segment *segment)
{
    struct flow_side *side = context->side;

    if (side->reset)
        return;
    if (!reset_is_taken(context, segment)) {
        if (side->half == NULL)
            return;
        side->half->tcp->resets_refused++;
        flow_undecoded(context, FLOW_REASON_REFUSED);
        return;
    }
    side->reset = true;
    flow_queue_close(context, true, segment->length != 0);
}

/* Segments with other flags than ACK. False: their payload is not looked at. */
static bool note_flags(const struct flow_context *context, const struct flow_segment *segment)
{
    struct flow_side *side = context->side;
    enum flow_refusal why = FLOW_REFUSALS;

    if ((segment->flags & TCP_BIT_SYN) != 0) {
        flow_tcp_syn(side, segment, context->frame, context->time_ns);
        if ((uint32_t)side->next != segment->seq + 1)
            why = FLOW_REFUSED_SYN;
    } else if ((segment->flags & TCP_BIT_RST) != 0) {
        why = FLOW_REFUSED_RESET;
    } else if ((segment->flags & TCP_BIT_ACK) == 0) {
        why = FLOW_REFUSED_NO_ACK;
    } else if ((segment->flags & TCP_BIT_FIN) != 0) {
        note_fin(context, segment);
    }
    if (why != FLOW_REFUSALS) {
        struct flow_piece piece = flow_tcp_piece(context, segment);

        side->octets.sent += segment->length;
        flow_tcp_refuse(context, why, &piece);
        return false;
    }
    if ((segment->flags & TCP_BIT_URG) != 0 && segment->length != 0 && side->half != NULL) {
        side->half->tcp->urgent++;
        context->common->totals.account.row[FLOW_ROW_URGENT].items++;
        flow_undecoded(context, FLOW_REASON_URGENT);
    }
    return true;
}

/* ---- payload ----------------------------------------------------------------------------------------------------- */

/* After the FIN nothing is taken (RFC 9293 3.10.7.4), unless it is acknowledged: then that FIN was not taken. */
static bool is_after_end(struct flow_side *side, uint64_t at)
{
    if (!side->closed || at < side->tcp->fin_at)
        return false;
    if (!side->acked_known || side->acked <= side->tcp->fin_at + 1)
        return true;
    side->closed = side->fin_known = false;
    side->next = side->tcp->fin_at;
    return false;
}

/* Octets that do not begin exactly where the last ones ended. */
static void record_odd(const struct flow_context *context, const struct flow_segment *segment, struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    bool damaged = piece->at != side->next && flow_tcp_damaged(side, segment);

    if (damaged || is_after_end(side, piece->at)) {
        flow_tcp_refuse(context, damaged ? FLOW_REFUSED_CHECKSUM : FLOW_REFUSED_END, piece);
        return;
    }
    if (piece->at < side->next) {
        size_t seen;

        if (!flow_retransmission_seen(context, piece)) {
            seen = side->next - piece->at < piece->length ? (size_t)(side->next - piece->at) : piece->length;
            if (seen == piece->length)
                return;
            *piece = flow_piece_part(piece, seen, piece->length);
        }
    }
    if (piece->at == side->next && side->tcp->queue == NULL && !flow_mpa_blocked(context->connection, context->index) &&
        !flow_queue_ahead(context, piece->received))
        flow_queue_deliver(context, piece);
    else
        flow_queue_add(context, piece);
}

static void record_payload(const struct flow_context *context, const struct flow_segment *segment, uint64_t received)
{
    struct flow_side *side = context->side;
    uint32_t seq = segment->seq + ((segment->flags & TCP_BIT_SYN) != 0);
    struct flow_piece piece = flow_tcp_piece(context, segment);

    if (!side->seq_known)
        begin_at(side, seq);
    side->tcp->segments++;
    side->octets.sent += segment->length;
    if (segment->length > side->largest_segment)
        side->largest_segment = segment->length < UINT16_MAX ? (uint16_t)segment->length : UINT16_MAX;
    if (side->half != NULL) {
        side->half->segments++;
        side->half->tcp->largest_segment = side->largest_segment;
    }
    piece.at = flow_extend(side, seq);
    piece.received = received;
    if (piece.at == side->next && side->tcp->queue == NULL && !side->fin_known &&
        received <= flow_other_side(context)->next && !flow_mpa_blocked(context->connection, context->index))
        flow_queue_deliver(context, &piece);
    else
        record_odd(context, segment, &piece);
}

void flow_tcp_segment(const struct flow_context *context, const struct flow_segment *segment)
{
    enum { OTHER_FLAGS = TCP_BIT_SYN | TCP_BIT_FIN | TCP_BIT_RST | TCP_BIT_URG };
    struct flow_side *side = context->side, *other = flow_other_side(context);
    bool plain = (segment->flags & (OTHER_FLAGS | TCP_BIT_ACK)) == TCP_BIT_ACK;
    uint64_t received = 0;

    if ((segment->flags & TCP_BIT_ACK) != 0 && (segment->flags & TCP_BIT_RST) == 0) {
        if (segment->length == 0 && flow_tcp_damaged(side, segment))
            return;
        received = note_ack(side, other, segment);
    }
    if ((plain || note_flags(context, segment)) && segment->length != 0)
        record_payload(context, segment, received);
    if (side->tcp->queue != NULL || other->tcp->queue != NULL || (side->fin_known && !side->closed))
        flow_queue_drain(context);
    if ((segment->flags & TCP_BIT_RST) != 0)
        note_reset(context, segment);
}
