/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lives of a 4-tuple. A receiver does not believe a SYN on a connection that is open: it sends a challenge ACK and
 * drops the segment (RFC 5961 4). So a SYN with another sequence number than the connection's is kept aside, and
 * another connection begins when the other side answers in the new numbers. Where the other side was not captured at
 * all, the sender's own octets in the new numbers have to do.
 *
 * The numbers may be the same: once both sides have ended a connection, or one has reset it, a SYN is none of it,
 * whatever its number is. Until that SYN is answered by another one, octets that may be of either connection are of
 * none.
 */
#include "conformance/flow/tcp/flow_tcp_internal.h"

enum {
    NEAR = 1 << 30,       /* half of the greatest window (RFC 7323 2.3): what lies farther is of another connection */
    SLACK = 1 << 20,      /* acknowledged, and not captured yet: of this connection all the same */
    SYN_OCTETS = 1 << 14, /* data in a SYN (RFC 7413) */
};

/* The greatest sequence number that the side has used, plus one. */
static uint64_t highest(const struct flow_side *side)
{
    const struct flow_chunk *tail = side->tcp->queue_tail;

    return tail != NULL ? tail->piece.at + tail->piece.length : side->next;
}

/* Is it a number of what this connection's side has sent? */
static bool fits_old(const struct flow_side *side, uint32_t wire)
{
    uint64_t number = flow_extend(side, wire);
    uint64_t lowest = side->acked_known && side->acked < side->floor ? side->acked : side->floor;

    return number + SLACK >= lowest && number <= highest(side) + SLACK;
}

/* A segment of the side that sent the SYN, in its new numbers. */
static bool is_new(const struct flow_connection *connection, const struct flow_segment *segment)
{
    const struct flow_segment *syn = &connection->tcp->rebirth.syn;

    return segment->side == syn->side && segment->seq - (syn->seq + 1) < NEAR &&
           !fits_old(&connection->side[syn->side], segment->seq);
}

/* Octets of the side that sent the SYN, in its new numbers, of a capture that has nothing of the other side. */
static bool goes_on(const struct flow_connection *connection, const struct flow_segment *segment)
{
    const struct flow_segment *syn = &connection->tcp->rebirth.syn;

    return !connection->side[syn->side].acked_known && !connection->side[1 - syn->side].seq_known &&
           segment->length != 0 && (segment->flags & TCP_BIT_SYN) == 0 && segment->seq == syn->seq + 1;
}

static bool is_answered(const struct flow_connection *connection, const struct flow_segment *segment)
{
    const struct flow_segment *syn = &connection->tcp->rebirth.syn;
    uint32_t ahead = segment->ack - (syn->seq + 1);

    if (segment->side == syn->side)
        return goes_on(connection, segment);
    if ((segment->flags & (TCP_BIT_ACK | TCP_BIT_RST)) != TCP_BIT_ACK)
        return false;
    if ((segment->flags & TCP_BIT_SYN) != 0 && ahead < SYN_OCTETS)
        return true;
    if (ahead >= NEAR || fits_old(&connection->side[syn->side], segment->ack))
        return false;
    return (syn->flags & TCP_BIT_ACK) == 0 || segment->seq - syn->ack < NEAR;
}

/* Closed or reset, as far as the capture shows, and nobody there who could answer: the next SYN is believed. */
static bool is_over(const struct flow_connection *connection, unsigned side)
{
    const struct flow_side *from = &connection->side[side];

    return (from->closed || from->reset) && !from->acked_known && !connection->side[1 - side].seq_known;
}

/* Both sides have ended it, or one has reset it. */
static bool has_ended(const struct flow_connection *connection)
{
    const struct flow_side *sides = connection->side;

    return (sides[0].closed && sides[1].closed) || sides[0].reset || sides[1].reset;
}

/* The SYN that the side began with, once more; or it was captured after its first octets. */
static bool is_repeated(const struct flow_connection *connection, const struct flow_segment *segment)
{
    const struct flow_side *side = &connection->side[segment->side];

    return !has_ended(connection) &&
           (side->syn.seen ? side->syn.isn == segment->seq : (uint32_t)side->floor == segment->seq + 1);
}

/* A segment of the connection that has ended, or of the one that a SYN with the same number began. */
static bool is_of_either(const struct flow_connection *connection, const struct flow_segment *segment)
{
    return (segment->flags & TCP_BIT_SYN) == 0 && segment->length != 0 && has_ended(connection);
}

enum flow_life flow_life_of(const struct flow_context *context, const struct flow_segment *segment)
{
    struct flow_connection *connection = context->connection;
    struct flow_side *side = context->side;
    struct flow_piece octets = flow_tcp_piece(context, segment);
    struct flow_rebirth *rebirth = &connection->tcp->rebirth;

    if (rebirth->pending && is_answered(connection, segment)) {
        if (side->half != NULL)
            connection->side[rebirth->syn.side].half->tcp->syns_refused--;
        return LIFE_NEW;
    }
    if ((segment->flags & TCP_BIT_SYN) == 0 && rebirth->pending &&
        (is_new(connection, segment) || is_of_either(connection, segment))) {
        side->octets.sent += segment->length;
        flow_tcp_refuse(context, FLOW_REFUSED_SYN, &octets);
        return LIFE_REFUSED; /* not answered so far */
    }
    if ((segment->flags & TCP_BIT_SYN) == 0 || !side->seq_known)
        return LIFE_SAME;
    if (is_repeated(connection, segment))
        return LIFE_SAME;
    side->octets.sent += segment->length;
    if (flow_tcp_damaged(side, segment)) {
        flow_tcp_refuse(context, FLOW_REFUSED_CHECKSUM, &octets);
        return LIFE_REFUSED;
    }
    rebirth->pending = false;
    if (is_over(connection, segment->side))
        return LIFE_NEW;
    rebirth->pending = true;
    rebirth->syn = *segment;
    rebirth->syn.payload = rebirth->syn.header = NULL;
    rebirth->syn.captured = rebirth->syn.length = 0;
    rebirth->frame = context->frame;
    rebirth->time_ns = context->time_ns;
    if (side->half != NULL)
        side->half->tcp->syns_refused++;
    flow_tcp_refuse(context, FLOW_REFUSED_SYN, &octets);
    return LIFE_REFUSED;
}
