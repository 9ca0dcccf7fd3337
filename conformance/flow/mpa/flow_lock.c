/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding the boundary of an FPDU in the middle of a stream: after a loss, where the framing is known, or where a
 * capture begins late, where nothing is. A place is believed when a CRC says so; without CRCs when DDP and RDMAP
 * headers make sense and lengths lead from one to the next.
 */
#include "conformance/flow/mpa/flow_mpa_internal.h"
#include "conformance/flow/mpa/flow_search.h"

#include <string.h>

#include "wire/marker.h"
#include "conformance/flow/mpa/flow_streaming.h"

enum {
    HEADER_OCTETS = FPDU_LENGTH_OCTETS + DDP_UNTAGGED_OCTETS,
    CRCS_MAX = 256,   /* computed to find out what a unit is that was begun */
    HINTS_NEEDED = 2, /* segments that FPDUs without CRC fill exactly */
};

size_t flow_lock_gather(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, uint8_t *out,
                        size_t want)
{
    size_t distance = framing->markers ? marker_distance(framing->position) : SIZE_MAX;
    size_t gathered = 0, at = 0;

    while (at < count && gathered < want) {
        size_t run = count - at < want - gathered ? count - at : want - gathered;

        if (distance == 0) {
            at += MARKER_OCTETS;
            distance = MARKER_DATA;
            continue;
        }
        if (run > distance)
            run = distance;
        memcpy(out + gathered, octets + at, run);
        gathered += run;
        at += run;
        if (framing->markers)
            distance -= run;
    }
    return gathered;
}

/* What the octets at a place are worth as the beginning of an FPDU. */
enum place { PLACE_NONE, PLACE_PLAUSIBLE, PLACE_VERIFIED };

struct candidate {
    enum place place;
    size_t octets;     /* of the FPDU */
    bool whole;        /* all of it is there */
    bool crc_zero;     /* whole, and its CRC field is zero: what senders without CRC send */
    bool markers_good; /* whole, with Markers, and each of them is right */
};

static struct candidate judge(struct flow_common *common, const uint8_t *at, size_t count,
                              const struct fpdu_framing *framing, unsigned revision)
{
    uint8_t header[HEADER_OCTETS];
    size_t have = flow_lock_gather(at, count, framing, header, sizeof(header));
    struct fpdu_framing with_crc = *framing;
    struct candidate candidate = {PLACE_NONE, 0, false, false, false};
    const uint8_t *p = at;
    struct fpdu fpdu;
    wire_result result;

    if (have < FPDU_LENGTH_OCTETS + 2 ||
        !flow_header_plausible(header + FPDU_LENGTH_OCTETS, have - FPDU_LENGTH_OCTETS, octets_get16(header), revision))
        return candidate;
    candidate.place = PLACE_PLAUSIBLE;
    with_crc.crc = true;
    result = fpdu_parse(&p, at + count, &with_crc, common->scratch, &fpdu);
    candidate.octets = fpdu.octets;
    candidate.whole = result != WIRE_MORE;
    candidate.crc_zero = candidate.whole && fpdu.crc == 0;
    candidate.markers_good = candidate.whole && fpdu.markers != 0 && fpdu.bad_marker == SIZE_MAX;
    if (result == WIRE_OK || result == TERM_MPA_MARKER)
        candidate.place = PLACE_VERIFIED;
    else if (candidate.whole && framing->crc)
        candidate.place = PLACE_NONE;
    return candidate;
}

static void lock(struct flow_side *side)
{
    side->state = SIDE_FPDU;
    side->tentative = true; /* until the FPDU is reported: see flow_unit_emit() */
    side->doubts = FLOW_DOUBTS;
    side->unmarked = 0;
    side->resynced = true;
    side->have = side->need = 0;
    side->skip = 0;
    side->nonsense = 0;
}

/* ---- after a loss ----------------------------------------------------------------------------------------------- */

/* Without CRC: the FPDUs from here lead exactly to the segment's end, or to a header that makes sense. */
static bool chain_holds(struct flow_common *common, const struct flow_piece *piece, size_t at,
                        struct fpdu_framing framing, unsigned revision)
{
    unsigned links = 0;

    while (at < piece->captured && links < 4) {
        struct candidate candidate = judge(common, piece->octets + at, piece->captured - at, &framing, revision);

        if (candidate.place == PLACE_NONE)
            return piece->captured - at < FPDU_LENGTH_OCTETS + 2 && links > 0;
        if (!candidate.whole)
            return links > 0 || at == 0;
        at += candidate.octets;
        framing.position += (uint32_t)candidate.octets;
        links++;
    }
    return links > 0;
}

/* Where the FPDU begins that the first Marker at or after `from` belongs to; SIZE_MAX: not in this piece. */
static size_t place_by_marker(const struct flow_piece *piece, size_t from, uint32_t position, size_t *marker)
{
    size_t at = from + marker_distance(position + (uint32_t)from);
    uint16_t pointer;
    size_t place;

    *marker = at;
    if (at + MARKER_OCTETS > piece->captured)
        return SIZE_MAX;
    pointer = (uint16_t)marker_get_FPDUPTR(piece->octets + at);
    if (pointer > at || pointer % 4 != 0)
        return SIZE_MAX;
    place = at - pointer;
    /* A Marker directly before ULPDU_Length is part of this FPDU. */
    if (pointer != 0 && (position + (uint32_t)place) % MARKER_SPACING == MARKER_OCTETS && place >= MARKER_OCTETS)
        place -= MARKER_OCTETS;
    return place;
}

/*
 * A guess that cannot be verified at once is worth following where a segment begins; elsewhere only when there is more
 * than a few bits to it: a queue number that fits, or an STag that this side has used.
 */
static bool is_familiar(const struct flow_half *half, const uint8_t *at, size_t count,
                        const struct fpdu_framing *framing)
{
    uint8_t header[HEADER_OCTETS];
    uint32_t stag;

    if (flow_lock_gather(at, count, framing, header, sizeof(header)) < sizeof(header))
        return false;
    stag = octets_get32(header + FPDU_LENGTH_OCTETS + 2);
    if ((header[FPDU_LENGTH_OCTETS] & 0x80) == 0)
        return true; /* flow_header_plausible() has compared the queue number */
    return stag != 0 && (stag == half->write.stag || stag == half->read_response.stag);
}

/* The octets held are a whole FPDU, but for its ULPDU_Length. */
static bool whole_but_for_length(struct flow_common *common, const struct flow_side *side)
{
    struct fpdu_framing framing = side->framing;
    size_t lead = framing.markers && marker_distance((uint32_t)side->position) == 0 ? MARKER_OCTETS : 0;
    size_t most = side->have < ULPDU_LENGTH_MAX ? side->have : ULPDU_LENGTH_MAX;
    uint8_t kept[FPDU_LENGTH_OCTETS];
    bool whole = false;

    if (side->have < lead + FPDU_LENGTH_OCTETS)
        return false;
    framing.position = (uint32_t)side->position;
    memcpy(kept, side->buffer + lead, sizeof(kept));
    for (size_t length = most; length > 0 && !whole; length--) {
        size_t octets = fpdu_octets(length, framing.markers, framing.position);
        const uint8_t *p = side->buffer;
        struct fpdu fpdu;

        if (octets < side->have)
            break;
        if (octets > side->have)
            continue;
        fpdu_set_ULPDU_Length(side->buffer + lead, length);
        whole = fpdu_parse(&p, p + side->have, &framing, common->scratch, &fpdu) == WIRE_OK;
    }
    memcpy(side->buffer + lead, kept, sizeof(kept));
    return whole;
}

bool flow_lock_unsound(const struct flow_context *context)
{
    const struct flow_side *side = context->side;
    struct fpdu_framing framing = side->framing;
    unsigned computed = 0; /* CRCs: hostile octets could ask for one at each place */
    uint8_t header[HEADER_OCTETS];
    size_t have;

    if (side->state != SIDE_FPDU || side->skip != 0 || !framing.crc || context->connection->flow == NULL)
        return false;
    framing.position = (uint32_t)side->position;
    have = flow_lock_gather(side->buffer, side->have, &framing, header, sizeof(header));
    if (have >= FPDU_LENGTH_OCTETS + 2 &&
        !flow_header_plausible(header + FPDU_LENGTH_OCTETS, have - FPDU_LENGTH_OCTETS, octets_get16(header),
                               context->connection->flow->revision))
        return true;
    if (whole_but_for_length(context->common, side))
        return true;
    for (size_t at = 4; at < side->have && computed < CRCS_MAX; at += 4) { /* FPDUs are multiples of 4 long */
        struct candidate candidate;

        framing.position = (uint32_t)(side->position + at);
        candidate =
            judge(context->common, side->buffer + at, side->have - at, &framing, context->connection->flow->revision);
        computed += candidate.whole;
        if (candidate.place == PLACE_VERIFIED)
            return true;
    }
    return false;
}

size_t flow_lock_resync(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    uint32_t base = (uint32_t)(side->position - used); /* of the piece's first octet */
    struct fpdu_framing framing = side->framing;
    unsigned revision = context->connection->flow->revision;
    size_t step = side->half->start_known ? 4 : 1; /* FPDUs begin at multiples of 4 from SeqStart */
    size_t at = used, marker = used;
    struct candidate candidate;

    if (step == 4)
        at += (0 - (size_t)(base + at)) & 3;
    for (; framing.markers && marker < piece->captured; marker += MARKER_OCTETS) {
        size_t place = place_by_marker(piece, marker, base, &marker);

        if (place == SIZE_MAX || place < used)
            continue;
        framing.position = base + (uint32_t)place;
        candidate = judge(context->common, piece->octets + place, piece->captured - place, &framing, revision);
        if (candidate.place == PLACE_NONE)
            continue;
        lock(side);
        side->tentative = candidate.place != PLACE_VERIFIED && framing.crc;
        side->position += place - used;
        return place - used;
    }
    for (; at < piece->captured; at += step) {
        framing.position = base + (uint32_t)at;
        candidate = judge(context->common, piece->octets + at, piece->captured - at, &framing, revision);
        if (candidate.place == PLACE_NONE)
            continue;
        if (candidate.place == PLACE_PLAUSIBLE && !(at == 0 && piece->at_start) &&
            !is_familiar(side->half, piece->octets + at, piece->captured - at, &framing))
            continue;
        if (!framing.crc && !chain_holds(context->common, piece, at, framing, revision))
            continue;
        lock(side);
        side->tentative = candidate.place != PLACE_VERIFIED && framing.crc;
        side->position += at - used;
        return at - used;
    }
    side->position += piece->captured - used;
    return piece->captured - used;
}

/* ---- one-way captures -------------------------------------------------------------------------------------------- */

void flow_lock_guess(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    const struct flow_start *own = &context->connection->flow->tcp->start[side->kind];
    struct fpdu_framing best = {false, own->frame.crc, 0};
    struct candidate best_candidate = {PLACE_NONE, 0, false, false, false};

    for (unsigned markers = 0; markers < 2; markers++) {
        struct fpdu_framing framing = {markers != 0, false, (uint32_t)side->position};
        struct candidate candidate =
            judge(context->common, piece->octets + used, piece->captured - used, &framing, own->frame.revision);

        if (candidate.place <= best_candidate.place)
            continue;
        best_candidate = candidate;
        best.markers = framing.markers;
        /* Either side's C is enough; a right CRC shows the other side's. */
        best.crc = own->frame.crc || candidate.place == PLACE_VERIFIED;
    }
    if (best_candidate.place == PLACE_NONE) {
        side->state = SIDE_LATE;
        return;
    }
    side->state = SIDE_FPDU;
    side->framing = best;
    if (best_candidate.place != PLACE_VERIFIED) { /* until the FPDU is reported */
        side->guessing = true;
        side->tentative = best.crc;
        side->doubts = FLOW_DOUBTS;
    }
    side->half->tcp->framing_known = true;
    side->half->start_known = true;
    side->half->tcp->in_sync = true;
    side->half->tcp->framing = best;
    side->half->tcp->framing.position = (uint32_t)side->position;
    side->half->position = side->position;
    context->connection->flow->tcp->crc = best.crc;
    flow_undecoded(context, FLOW_REASON_ONE_WAY);
}

/* ---- captures that begin late ------------------------------------------------------------------------------------ */

/* FPDUs without CRC that fill the segment exactly, each with a header that makes sense and a CRC field of zero. */
static bool fills_segment(struct flow_common *common, const struct flow_piece *piece,
                          const struct fpdu_framing *framing)
{
    size_t at = 0;

    while (at < piece->captured) {
        struct candidate candidate = judge(common, piece->octets + at, piece->captured - at, framing, MPA_REV_1);

        if (candidate.place == PLACE_NONE || !candidate.whole || !candidate.crc_zero)
            return false;
        at += candidate.octets;
    }
    return piece->captured == piece->length && at == piece->captured;
}

/*
 * FPDUs with Markers, one of which begins at `at`: its first Marker says how far back ULPDU_Length stands. True: the
 * side's framing and position are set.
 */
static bool try_markers(struct flow_common *common, struct flow_side *side, const uint8_t *at, size_t count)
{
    for (size_t marker = 0; marker < MARKER_SPACING && marker + MARKER_OCTETS <= count; marker += 4) {
        struct fpdu_framing framing = {true, true, marker == 0 ? 0 : MARKER_SPACING - (uint32_t)marker};
        struct candidate candidate;

        if (octets_get32(at + marker) != marker)
            continue;
        framing.crc = false; /* what is whole is judged below */
        candidate = judge(common, at, count, &framing, MPA_REV_1);
        if (candidate.place == PLACE_NONE ||
            (candidate.place == PLACE_PLAUSIBLE && !candidate.markers_good && marker == 0))
            continue;
        if (candidate.place == PLACE_PLAUSIBLE && candidate.whole && !(candidate.crc_zero && candidate.markers_good))
            continue;
        framing.crc = candidate.place == PLACE_VERIFIED || !candidate.whole;
        side->framing = framing;
        side->position = framing.position;
        side->doubtful = false;
        return true;
    }
    return false;
}

static bool late_fpdu(struct flow_common *common, struct flow_side *side, const struct flow_piece *piece)
{
    struct fpdu_framing framing = {false, false, 0};
    struct candidate candidate = judge(common, piece->octets, piece->captured, &framing, MPA_REV_1);

    if (candidate.place != PLACE_VERIFIED && try_markers(common, side, piece->octets, piece->captured))
        return true;
    if (candidate.place == PLACE_NONE)
        return false;
    if (candidate.place == PLACE_PLAUSIBLE && candidate.whole) {
        if (!fills_segment(common, piece, &framing) || ++side->hints < HINTS_NEEDED)
            return false;
    } else {
        framing.crc = true; /* verified, or to be verified when it is whole */
    }
    side->framing = framing;
    side->position = 0;
    side->doubtful = true; /* a short FPDU may lie between two Markers */
    return true;
}

void flow_lock_doubt(struct flow_common *common, struct flow_side *side, const struct flow_piece *piece, size_t used)
{
    const uint8_t *at = piece->octets + used;
    size_t left = piece->captured - used;
    struct fpdu_framing framing = {false, false, 0};
    struct candidate candidate = judge(common, at, left, &framing, MPA_REV_1);

    if (candidate.place != PLACE_VERIFIED && piece->captured == piece->length && try_markers(common, side, at, left)) {
        side->tentative = side->framing.crc; /* it may be octets that look like a Marker */
        side->doubts = FLOW_DOUBTS;
        if (side->half != NULL) {
            side->half->tcp->framing = side->framing;
            side->half->position = side->position;
        }
        return;
    }
    /* So long an FPDU would have had a Marker inside. */
    if (candidate.place != PLACE_NONE && candidate.octets > MARKER_SPACING && left > MARKER_SPACING + MARKER_OCTETS)
        side->doubtful = false;
}

/* A start-up frame begins at the piece's first octet. */
static bool is_start(const struct flow_connection *connection, const struct flow_side *side,
                     const struct flow_piece *piece)
{
    int kind = side->start_done || (connection->flow != NULL && !side->expects)
                   ? -1
                   : mpa_start_kind_of(piece->octets, piece->captured);

    return kind >= 0 && (!side->expects || (int)side->kind == kind);
}

/* FPDUs follow one another at an offset of the piece: the second one may be whole, and have a CRC. */
static bool late_pair(struct flow_common *common, struct flow_side *side, const struct flow_piece *piece, size_t at)
{
    struct flow_piece part = *piece;

    part.octets += at;
    part.captured -= at;
    part.length -= at;
    return late_fpdu(common, side, &part);
}

static void lock_late(struct flow_side *side)
{
    flow_search_break(side);
    flow_records_release(side);
    flow_proof_release(side);
    lock(side);
    side->start_lost = true;
}

bool flow_lock_begin(struct flow_common *common, struct flow_side *side, const struct flow_piece *piece)
{
    struct fpdu_framing framing;

    if (flow_proof_whole(common, piece->octets, piece->captured, &framing)) {
        side->framing = framing;
        side->position = framing.position;
        side->doubtful = !framing.markers;
    } else if (!late_fpdu(common, side, piece)) {
        return false;
    }
    lock_late(side);
    return true;
}

void flow_lock_proved(struct flow_side *side)
{
    side->framing = (struct fpdu_framing){false, true, 0};
    side->position = 0;
    side->doubtful = true;
    lock_late(side);
}

size_t flow_lock_late(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    size_t left = piece->captured - used, pair, after;
    bool first = used == 0 && piece->at_start;

    if (first && is_start(context->connection, side, piece)) {
        side->state = SIDE_FRESH;
        return 0;
    }
    if (context->common->config.no_late_lock) {
        flow_side_ends(side, FLOW_REASON_NO_FPDU);
        return left;
    }
    if (first && flow_lock_begin(context->common, side, piece))
        return 0;
    switch (flow_proof_octets(side, piece->octets + used, left, first, &after)) {
    case FLOW_PROOF_NEXT: flow_lock_proved(side); return after;
    case FLOW_PROOF_MARKED: context->connection->key_seen = true; break;
    default: break;
    }
    flow_start_look(context->connection, piece->octets + used, left);
    if (context->connection->flow == NULL)
        flow_records_octets(side, piece, used);
    pair = flow_search_octets(side, piece->octets + used, left);
    if (pair != SIZE_MAX && pair != 0 && late_pair(context->common, side, piece, used + pair)) {
        lock_late(side);
        return pair;
    }
    if (context->connection->flow == NULL && flow_search_is_foreign(context->connection))
        flow_settle_foreign(context->connection);
    return left;
}
