/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that came before. Of two copies the first counts, as at the receiver; but a receiver may not have had the
 * first one: it was lost after the capture, or its checksum was wrong, or its options. So when a second copy differs
 * before an acknowledgment covers the first, nobody knows which of the two was taken, and the account says so.
 *
 * Nothing is kept of octets that were decoded but the beginnings and CRCs of the last units (struct flow_sent): all
 * that rules judge of an FPDU but its pad. A second copy of a whole FPDU is parsed like the first, and its CRC
 * computed; of a part of one the headers and the CRC field are compared, where they are in it. What came again before
 * it was acknowledged, and of whose unit nothing is left, was not compared: the account says so.
 *
 * Octets that fill a hole which was given up before are late, and not decoded. When several segments in a row are, and
 * the stream after the hole stands still, then the hole was none: somebody sent octets from far ahead, which the
 * receiver did not take. The stream then goes back.
 */
#include "conformance/flow/tcp/flow_tcp_internal.h"

#include <string.h>

#include "wire/marker.h"

enum { BACK_SEGMENTS = 4 }; /* late ones in a row */

/* A part of the stream that came again, and the first copy of it. */
struct comparison {
    const struct flow_piece *part;
    uint64_t known; /* octets of the part in units of which something is left */
    bool differs;
};

/* Octets [at, at + count) of the first copy can be compared. */
static void note_known(struct comparison *comparison, uint64_t at, uint64_t count)
{
    const struct flow_piece *part = comparison->part;
    uint64_t from = at > part->at ? at : part->at;
    uint64_t end = at + count < part->at + part->length ? at + count : part->at + part->length;

    comparison->known += from < end ? end - from : 0;
}

/*
 * Counts octets that came again. Those that differ, and those that cannot be compared, leave open which of the two the
 * receiver took; unless it had the first ones by then.
 */
static void count_repeated(const struct flow_context *context, const struct comparison *comparison)
{
    struct flow_side *side = context->side;
    const struct flow_piece *part = comparison->part;
    bool open = !(side->acked_known && part->at + part->length <= side->acked);
    uint64_t unknown = part->length > comparison->known ? part->length - comparison->known : 0;

    side->octets.again += part->length;
    if (comparison->differs && side->half != NULL)
        side->half->tcp->conflicts++;
    if (open && comparison->differs) {
        side->octets.ambiguous += part->length;
        flow_octets(context, FLOW_ROW_CONFLICT, part->captured);
        if (context->connection->flow != NULL)
            flow_undecoded(context, FLOW_REASON_CONFLICT);
        return;
    }
    if (!open || side->half == NULL || side->state == SIDE_STREAMING || side->state == SIDE_DEAD)
        unknown = 0; /* nobody judges the first ones */
    side->octets.uncompared += unknown;
    if (unknown > part->captured)
        unknown = part->captured;
    flow_octets(context, FLOW_ROW_UNCOMPARED, unknown);
    flow_octets(context, FLOW_ROW_AGAIN, part->captured - unknown);
}

/* Compares octets that are kept, the first of them number `at`, with the part's where both are there. */
static void match(struct comparison *comparison, uint64_t at, const uint8_t *kept, size_t count)
{
    const struct flow_piece *part = comparison->part;
    uint64_t from = at > part->at ? at : part->at;
    uint64_t end = at + count < part->at + part->captured ? at + count : part->at + part->captured;

    if (from >= end)
        return;
    comparison->differs =
        comparison->differs || memcmp(kept + (from - at), part->octets + (from - part->at), (size_t)(end - from)) != 0;
}

static struct comparison compare_held(const struct flow_chunk *chunk, const struct flow_piece *part)
{
    struct comparison comparison = {.part = part, .known = part->length};

    match(&comparison, chunk->piece.at, chunk->octets, chunk->piece.captured);
    return comparison;
}

bool flow_retransmission_differs(const struct flow_chunk *chunk, const struct flow_piece *part)
{
    return compare_held(chunk, part).differs;
}

void flow_retransmission_held(const struct flow_context *context, const struct flow_chunk *chunk,
                              const struct flow_piece *part)
{
    struct comparison comparison = compare_held(chunk, part);

    count_repeated(context, &comparison);
}

/* ---- octets that were decoded ------------------------------------------------------------------------------------ */

static size_t unit_octets(const struct flow_side *side, const struct flow_sent *sent)
{
    return (sent->flags & FLOW_SENT_START) != 0
               ? sent->crc
               : fpdu_octets(sent->ulpdu_length, side->framing.markers, (uint32_t)flow_mpa_position(side, sent->at));
}

/* A whole FPDU came once more. */
static bool fpdu_differs(struct flow_common *common, const struct flow_side *side, const struct flow_sent *sent,
                         const uint8_t *octets, size_t count)
{
    struct fpdu_framing framing = side->framing;
    const uint8_t *p = octets;
    struct fpdu fpdu;
    wire_result result;

    framing.position = (uint32_t)flow_mpa_position(side, sent->at);
    result = fpdu_parse(&p, octets + count, &framing, common->scratch, &fpdu);
    if (result == WIRE_MORE || fpdu.ulpdu_length != sent->ulpdu_length)
        return true;
    return fpdu.crc != sent->crc || (result == TERM_MPA_CRC) != ((sent->flags & FLOW_SENT_BAD) != 0) ||
           memcmp(fpdu.ulpdu, sent->head, sent->head_octets) != 0;
}

/* The Request or Reply: its header, and its Private Data. */
static void match_start(struct comparison *comparison, const struct flow_start *start, const struct flow_sent *sent)
{
    match(comparison, sent->at, sent->head, sent->head_octets);
    if (start->result == WIRE_OK && start->private_copy != NULL &&
        start->frame.private_octets > FLOW_SENT_HEAD - MPA_START_OCTETS)
        match(comparison, sent->at + FLOW_SENT_HEAD, start->private_copy + (FLOW_SENT_HEAD - MPA_START_OCTETS),
              start->frame.private_octets - (FLOW_SENT_HEAD - MPA_START_OCTETS));
}

/* An FPDU of which a part came once more: the beginning, between Markers if there are any, and the CRC. */
static void match_parts(struct comparison *comparison, const struct flow_side *side, const struct flow_sent *sent,
                        size_t size)
{
    uint8_t head[FPDU_LENGTH_OCTETS + FLOW_SENT_HEAD], crc[FPDU_CRC_OCTETS];
    size_t count = FPDU_LENGTH_OCTETS + (size_t)sent->head_octets;
    uint32_t position = (uint32_t)flow_mpa_position(side, sent->at);
    uint64_t at = sent->at;

    octets_put16(head, sent->ulpdu_length);
    memcpy(head + FPDU_LENGTH_OCTETS, sent->head, sent->head_octets);
    for (size_t i = 0, run; i < count; i += run, at += run, position += (uint32_t)run) {
        run = count - i;
        if (!side->framing.markers) {
            match(comparison, at, head + i, run);
            continue;
        }
        if (marker_distance(position) == 0) {
            at += MARKER_OCTETS;
            position += MARKER_OCTETS;
        }
        run = run < marker_distance(position) ? run : marker_distance(position);
        match(comparison, at, head + i, run);
    }
    if ((sent->flags & FLOW_SENT_CUT) != 0)
        return;
    octets_put32_little(crc, sent->crc);
    match(comparison, sent->at + size - FPDU_CRC_OCTETS, crc, sizeof(crc));
}

/* Compares a part of the stream that was delivered with what is kept of it. */
static struct comparison compare(const struct flow_context *context, const struct flow_piece *part)
{
    const struct flow_side *side = context->side;
    const struct flow_half *half = side->half;
    struct comparison comparison = {.part = part};

    if (side->skip == 0 && side->have != 0) { /* the unit that is begun */
        note_known(&comparison, side->next - side->have, side->have);
        match(&comparison, side->next - side->have, side->buffer, side->have);
    }
    for (uint64_t i = 0; half != NULL && i < flow_sent_kept(half); i++) {
        const struct flow_sent *sent = flow_sent_last(half, i);
        size_t size = unit_octets(side, sent);

        if (sent->at >= part->at + part->length)
            continue;
        if (sent->at + size <= part->at)
            break;
        note_known(&comparison, sent->at, size);
        if ((sent->flags & FLOW_SENT_START) != 0) {
            match_start(&comparison, &context->connection->flow->tcp->start[side->kind], sent);
        } else if ((sent->flags & FLOW_SENT_CUT) == 0 && part->at <= sent->at &&
                   sent->at + size <= part->at + part->captured) {
            comparison.differs = comparison.differs ||
                                 fpdu_differs(context->common, side, sent, part->octets + (sent->at - part->at), size);
        } else {
            match_parts(&comparison, side, sent, size);
        }
    }
    return comparison;
}

/* ---- holes that were given up ------------------------------------------------------------------------------------ */

void flow_retransmission_in_hole(struct flow_side *side, uint64_t from, uint64_t to)
{
    side->tcp->holes[side->tcp->hole_count++ % FLOW_HOLES] = (struct flow_hole){from, to};
    side->has_holes = true;
}

/* How many octets from `at` on, `most` at most, were delivered; or none: then *late are in a hole. */
static size_t delivered(const struct flow_side *side, uint64_t at, size_t most, size_t *late)
{
    uint64_t until = at + most;

    *late = 0;
    if (at < side->floor) {
        *late = side->floor - at < most ? (size_t)(side->floor - at) : most;
        return 0;
    }
    for (unsigned i = 0; i < FLOW_HOLES; i++) {
        const struct flow_hole *hole = &side->tcp->holes[i];

        if (hole->from <= at && at < hole->to) {
            *late = hole->to - at < most ? (size_t)(hole->to - at) : most;
            return 0;
        }
        if (hole->from > at && hole->from < until)
            until = hole->from;
    }
    return (size_t)(until - at);
}

/* What was given up as a hole from `at` on is the stream: nothing after it was. */
static void go_back(const struct flow_context *context, uint64_t at)
{
    struct flow_side *side = context->side;

    flow_mpa_rewind(context, side->next - at);
    for (unsigned i = 0; i < FLOW_HOLES; i++)
        if (side->tcp->holes[i].to > at)
            side->tcp->holes[i].to = side->tcp->holes[i].from < at ? at : 0;
    side->next = at;
    if (at < side->floor)
        side->floor = at;
    side->tcp->back_segments = 0;
}

/* Octets [at, at + count) are late. True: they are where the stream goes on. */
static bool is_stream(struct flow_side *side, uint64_t at, size_t count)
{
    bool follows = side->tcp->back_segments != 0 && side->tcp->back == at && side->tcp->back_next == side->next;

    side->tcp->back_segments = follows ? side->tcp->back_segments + 1 : 1;
    side->tcp->back = at + count;
    side->tcp->back_next = side->next;
    return side->tcp->back_segments >= BACK_SEGMENTS;
}

/* The octet of a keepalive may be any (RFC 9293 3.8.4). */
static bool is_keepalive(const struct flow_side *side, const struct flow_piece *piece)
{
    return piece->length == 1 && piece->at + 1 == side->next;
}

bool flow_retransmission_seen(const struct flow_context *context, const struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    size_t seen = side->next - piece->at < piece->length ? (size_t)(side->next - piece->at) : piece->length;

    for (size_t from = 0, late; from < seen;) {
        uint64_t at = piece->at + from;
        size_t count = delivered(side, at, seen - from, &late);

        if (count != 0) {
            struct flow_piece part = flow_piece_part(piece, from, from + count);

            struct comparison comparison = {.part = &part, .known = part.length};

            if (!is_keepalive(side, piece))
                comparison = compare(context, &part);
            count_repeated(context, &comparison);
        } else if (from == 0 && is_stream(side, at, late)) {
            go_back(context, at);
            return true;
        } else {
            struct flow_piece part = flow_piece_part(piece, from, from + late);

            side->octets.late += late;
            flow_octets(context, FLOW_ROW_OVERTAKEN, part.captured);
        }
        from += count + late;
    }
    return false;
}
