/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments into stream order. Sequence arithmetic is modulo 2^32 throughout (RFC 9293 3.4). Of octets that come twice
 * the first ones count, as at the receiver; that the second ones differ is counted where the first are still held.
 */
#include "conformance/flow/flow_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNKS_MAX = 512,           /* queued for one direction */
    HOLE_CHUNKS = 8,            /* chunks behind a hole that the receiver has acknowledged: it will not be filled */
    HOLE_NS = 20 * 1000 * 1000, /* and the time after which */
    WAIT_CHUNKS = 32,           /* chunks held for the other side's start-up frame */
    WAIT_OCTETS = 64 << 10,
    REQUEST_CHUNKS = 4, /* the same for a Reply that waits for its Request */
};

static int32_t seq_difference(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

/* ---- the queue of what came too early ---------------------------------------------------------------------------- */

static void free_chunk(struct flow_decoder *decoder, struct flow_side *side, struct flow_chunk *chunk)
{
    side->queued -= chunk->piece.captured;
    side->queued_chunks--;
    decoder->held -= chunk->piece.captured + sizeof(*chunk);
    free(chunk);
}

void flow_tcp_release(struct flow_decoder *decoder, struct flow_side *side)
{
    while (side->queue != NULL) {
        struct flow_chunk *next = side->queue->next;

        free_chunk(decoder, side, side->queue);
        side->queue = next;
    }
    side->queue_tail = NULL;
}

/* A part of a piece: octets [from, to) of its length on the wire. */
static struct flow_piece piece_part(const struct flow_piece *piece, size_t from, size_t to)
{
    struct flow_piece part = *piece;
    size_t captured_to = to < piece->captured ? to : piece->captured;

    part.captured = captured_to > from ? captured_to - from : 0;
    part.octets = part.captured > 0 ? piece->octets + from : piece->octets;
    part.length = to - from;
    part.at_start = piece->at_start && from == 0;
    part.at_end = piece->at_end && to == piece->length;
    return part;
}

/* Puts a copy of the piece behind `*link`'s chunk; out of memory it is as if the frame had not been captured. */
static bool insert_chunk(struct flow_decoder *decoder, struct flow_side *side, struct flow_chunk **link, uint32_t seq,
                         const struct flow_piece *piece)
{
    struct flow_chunk *chunk = malloc(sizeof(*chunk) + piece->captured);

    if (chunk == NULL)
        return false;
    chunk->seq = seq;
    chunk->piece = *piece;
    memcpy(chunk->octets, piece->octets, piece->captured);
    chunk->piece.octets = chunk->octets;
    if (side->queue == NULL)
        side->hole_ns = decoder->now_ns;
    chunk->next = *link;
    *link = chunk;
    if (chunk->next == NULL)
        side->queue_tail = chunk;
    side->queued += piece->captured;
    side->queued_chunks++;
    decoder->held += piece->captured + sizeof(*chunk);
    return true;
}

/* Compares octets that came twice: those at `a` from seq_a on with those at `b` from seq_b on, where both are there. The
 * row of the second ones. */
static enum flow_row compare_overlap(struct flow_side *side, uint32_t seq_a, const uint8_t *a, size_t count_a,
                                     uint32_t seq_b, const uint8_t *b, size_t count_b)
{
    int64_t offset = seq_difference(seq_b, seq_a); /* of b's first octet in a */
    int64_t from = offset > 0 ? offset : 0;
    int64_t to = offset + (int64_t)count_b < (int64_t)count_a ? offset + (int64_t)count_b : (int64_t)count_a;

    if (to <= from || memcmp(a + from, b + (from - offset), (size_t)(to - from)) == 0)
        return FLOW_ROW_AGAIN;
    if (side->half != NULL)
        side->half->conflicts++;
    return FLOW_ROW_CONFLICT;
}

static void enqueue(struct flow_decoder *decoder, struct flow_connection *connection, struct flow_side *side,
                    uint32_t seq, const struct flow_piece *piece)
{
    struct flow_chunk **link = &side->queue;
    size_t from = 0;

    if (side->queue_tail != NULL &&
        seq_difference(seq, side->queue_tail->seq + (uint32_t)side->queue_tail->piece.length) >= 0)
        link = &side->queue_tail->next;
    while (from < piece->length) {
        struct flow_chunk *chunk = *link;
        uint32_t at = seq + (uint32_t)from;
        struct flow_piece part;
        size_t to = piece->length;

        if (chunk != NULL) {
            int32_t ahead = seq_difference(chunk->seq, at);
            int32_t behind = seq_difference(chunk->seq + (uint32_t)chunk->piece.length, at);

            if (behind <= 0) {
                link = &chunk->next;
                continue;
            }
            if (ahead <= 0) { /* held already, as far as that chunk reaches */
                if ((size_t)behind < to - from)
                    to = from + (size_t)behind;
                part = piece_part(piece, from, to);
                flow_octets(decoder, connection,
                            compare_overlap(side, chunk->seq, chunk->octets, chunk->piece.captured, at, part.octets,
                                            part.captured),
                            part.captured);
                if (side->half != NULL)
                    side->half->retransmitted += (size_t)behind < part.length ? (size_t)behind : part.length;
                from += (size_t)behind;
                link = &chunk->next;
                continue;
            }
            if ((size_t)ahead < to - from)
                to = from + (size_t)ahead;
        }
        if (side->queued_chunks >= CHUNKS_MAX * 2) {
            part = piece_part(piece, from, piece->length);
            flow_octets(decoder, connection, FLOW_ROW_HELD_TOO_MUCH, part.captured);
            return;
        }
        part = piece_part(piece, from, to);
        if (!insert_chunk(decoder, side, link, at, &part))
            flow_octets(decoder, connection, FLOW_ROW_MEMORY, part.captured);
        if (*link != NULL)
            link = &(*link)->next;
        from = to;
    }
}

/* ---- delivery ---------------------------------------------------------------------------------------------------- */

/* The piece is next in the stream. */
static void deliver(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                    const struct flow_piece *piece)
{
    struct flow_side *side = &connection->side[index];
    size_t used = flow_mpa_octets(decoder, connection, index, piece);

    side->next_seq += (uint32_t)used;
    if (side->half != NULL)
        side->half->begun = flow_mpa_partial(side);
    if (used < piece->captured) {
        struct flow_piece rest = piece_part(piece, used, piece->length);

        enqueue(decoder, connection, side, side->next_seq, &rest);
        return;
    }
    if (piece->length > piece->captured) {
        uint64_t missing = piece->length - piece->captured;

        side->next_seq += (uint32_t)missing;
        flow_mpa_lost(decoder, connection, index, missing, true, piece->frame, piece->time_ns);
    }
}

/* Whether octets missing in front of the queue will not come any more. */
static bool hole_is_lost(const struct flow_decoder *decoder, const struct flow_side *side, bool flush)
{
    if (flush || side->queued_chunks > CHUNKS_MAX || side->queued > decoder->config.half_buffer_max ||
        decoder->held > decoder->config.buffer_max)
        return true;
    if (!side->acked_known || seq_difference(side->acked, side->queue->seq) < 0)
        return false;
    return side->queued_chunks >= HOLE_CHUNKS || decoder->now_ns - side->hole_ns > HOLE_NS;
}

static bool waited_enough(const struct flow_decoder *decoder, const struct flow_side *side, bool flush)
{
    if (flush || decoder->held > decoder->config.buffer_max)
        return true;
    if (side->waiting)
        return side->queued_chunks >= REQUEST_CHUNKS;
    return side->queued_chunks >= WAIT_CHUNKS || side->queued >= WAIT_OCTETS;
}

static void tell_close(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, bool reset,
                       bool with_data, uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    size_t partial = flow_mpa_partial(side);
    struct flow_close close = {reset, partial, partial != 0 && flow_lock_unsound(decoder, connection, index),
                               with_data};
    struct flow_event event = flow_event_make(connection, index, FLOW_TCP_CLOSE, frame, time_ns);

    event.close = &close;
    event.position = side->position;
    if (side->half != NULL && reset)
        side->half->rst_seen = true;
    else if (side->half != NULL)
        side->half->fin_seen = true;
    flow_event_send(decoder, &event);
}

static void drain(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, bool flush)
{
    struct flow_side *side = &connection->side[index];

    while (side->queue != NULL) {
        struct flow_chunk *chunk = side->queue;
        int32_t ahead;
        size_t again;

        if (flow_mpa_blocked(connection, index)) {
            if (!waited_enough(decoder, side, flush))
                return;
            flow_mpa_go_on(connection, index);
        }
        ahead = seq_difference(chunk->seq, side->next_seq);
        if (ahead > 0) {
            if (!hole_is_lost(decoder, side, flush))
                return;
            side->next_seq += (uint32_t)ahead;
            flow_mpa_lost(decoder, connection, index, (uint64_t)ahead, false, chunk->piece.frame, chunk->piece.time_ns);
            continue;
        }
        side->queue = chunk->next;
        if (side->queue == NULL)
            side->queue_tail = NULL;
        side->hole_ns = decoder->now_ns;
        again = (size_t) - (int64_t)ahead;
        flow_octets(decoder, connection, FLOW_ROW_AGAIN, again < chunk->piece.captured ? again : chunk->piece.captured);
        if (again < chunk->piece.length) {
            struct flow_piece part = piece_part(&chunk->piece, again, chunk->piece.length);

            deliver(decoder, connection, index, &part);
        }
        free_chunk(decoder, side, chunk);
    }
    if (side->fin_known && !side->closed && side->queue == NULL && (flush || side->next_seq == side->fin_seq)) {
        int32_t missing = seq_difference(side->fin_seq, side->next_seq);

        side->closed = true;
        if (missing > 0 && side->seq_known) {
            side->next_seq = side->fin_seq;
            flow_mpa_lost(decoder, connection, index, (uint64_t)missing, false, side->fin_frame, side->fin_ns);
        }
        tell_close(decoder, connection, index, false, side->fin_with_data, side->fin_frame, side->fin_ns);
    }
}

/* Each side's octets can set the other's free: start-up frames wait for one another. */
static void drain_both(struct flow_decoder *decoder, struct flow_connection *connection, unsigned first, bool flush)
{
    size_t before;

    do {
        before = (size_t)connection->side[0].queued_chunks + connection->side[1].queued_chunks;
        drain(decoder, connection, first, flush);
        drain(decoder, connection, 1 - first, flush);
    } while ((size_t)connection->side[0].queued_chunks + connection->side[1].queued_chunks < before);
}

void flow_tcp_flush(struct flow_decoder *decoder, struct flow_connection *connection)
{
    unsigned first = connection->flow != NULL ? connection->swap : connection->first_side;

    /* What only waits for the other side first: it may be let go by that without any loss being declared. */
    drain_both(decoder, connection, first, false);
    drain_both(decoder, connection, first, true);
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static void see_syn(struct flow_side *side, const struct flow_segment *segment, const struct flow_frame *frame)
{
    if (side->syn_seen)
        return;
    side->syn_seen = true;
    side->syn_ack = (segment->flags & TCP_BIT_ACK) != 0;
    side->isn = segment->seq;
    side->mss = segment->mss;
    side->window = segment->window;
    side->has_scale = segment->has_scale;
    side->scale = segment->scale;
    side->syn_frame = frame->number;
    side->syn_ns = frame->time_ns;
    side->seq_known = true;
    side->next_seq = segment->seq + 1;
    side->state = SIDE_FRESH;
}

/* Octets that were delivered already: only those of a unit that is still held can be compared. */
static void see_again(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, uint32_t seq,
                      const struct flow_piece *piece, size_t again)
{
    struct flow_side *side = &connection->side[index];
    size_t captured = piece->captured < again ? piece->captured : again;
    enum flow_row row = FLOW_ROW_AGAIN;

    if (side->have != 0 && side->skip == 0)
        row = compare_overlap(side, side->next_seq - (uint32_t)side->have, side->buffer, side->have, seq, piece->octets,
                              captured);
    flow_octets(decoder, connection, row, captured);
    if (side->half != NULL && (again != 1 || piece->length != 1)) /* else a keepalive (RFC 9293 3.8.4) */
        side->half->retransmitted += again;
}

static void see_payload(struct flow_decoder *decoder, struct flow_connection *connection,
                        const struct flow_segment *segment, const struct flow_frame *frame)
{
    struct flow_side *side = &connection->side[segment->side];
    uint32_t seq = segment->seq + ((segment->flags & TCP_BIT_SYN) != 0);
    struct flow_piece piece = {
        .octets = segment->payload,
        .captured = segment->captured,
        .length = segment->length,
        .at_start = true,
        .at_end = true,
        .segment_octets = (uint32_t)segment->length,
        .frame = frame->number,
        .time_ns = frame->time_ns,
    };
    int32_t ahead;

    if (!side->seq_known) {
        side->seq_known = true;
        side->next_seq = seq;
    }
    if (segment->length > side->largest_segment)
        side->largest_segment = segment->length < UINT16_MAX ? (uint16_t)segment->length : UINT16_MAX;
    if (side->half != NULL) {
        side->half->segments++;
        side->half->largest_segment = side->largest_segment;
    }
    ahead = seq_difference(seq, side->next_seq);
    if (ahead < 0) {
        size_t again = (size_t) - (int64_t)ahead;

        if (again >= piece.length) {
            see_again(decoder, connection, segment->side, seq, &piece, piece.length);
            return;
        }
        see_again(decoder, connection, segment->side, seq, &piece, again);
        piece = piece_part(&piece, again, piece.length);
        seq = side->next_seq;
        ahead = 0;
    }
    if (ahead > 0 || side->queue != NULL || flow_mpa_blocked(connection, segment->side))
        enqueue(decoder, connection, side, seq, &piece);
    else
        deliver(decoder, connection, segment->side, &piece);
}

void flow_tcp_segment(struct flow_decoder *decoder, struct flow_connection *connection,
                      const struct flow_segment *segment, const struct flow_frame *frame)
{
    struct flow_side *side = &connection->side[segment->side];
    struct flow_side *other = &connection->side[1 - segment->side];

    if ((segment->flags & TCP_BIT_SYN) != 0)
        see_syn(side, segment, frame);
    if ((segment->flags & TCP_BIT_ACK) != 0 &&
        (!other->acked_known || seq_difference(segment->ack, other->acked) > 0)) {
        other->acked = segment->ack;
        other->acked_known = true;
    }
    if ((segment->flags & TCP_BIT_FIN) != 0 && !side->fin_known) {
        side->fin_known = true;
        side->fin_seq = segment->seq + (uint32_t)segment->length;
        side->fin_frame = frame->number;
        side->fin_ns = frame->time_ns;
        side->fin_with_data = segment->length != 0;
        if (!side->seq_known) {
            side->seq_known = true;
            side->next_seq = segment->seq;
        }
    }
    if (segment->length != 0 && (segment->flags & TCP_BIT_RST) == 0) /* an RST's payload is a text for people */
        see_payload(decoder, connection, segment, frame);
    else if (segment->captured != 0)
        flow_octets(decoder, connection, FLOW_ROW_NOT_ACCEPTED, segment->captured);
    if (side->queue != NULL || other->queue != NULL || (side->fin_known && !side->closed))
        drain_both(decoder, connection, segment->side, false);
    if ((segment->flags & TCP_BIT_RST) != 0 && !side->reset) {
        flow_tcp_flush(decoder, connection);
        side->reset = true;
        tell_close(decoder, connection, segment->side, true, segment->length != 0, frame->number, frame->time_ns);
    }
}
