/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FPDUs (RFC 5044 4): cut out of pieces of any size; one that lies wholly in a piece is parsed where it lies. Where FPDUs
 * begin may be a guess (flow_lock.c): nothing is said of one before its CRC, its Markers or its headers confirm the guess.
 */
#include "conformance/flow/flow_internal.h"

#include <string.h>

#include "wire/marker.h"

enum {
    HINTS_NEEDED = 2,
    NONSENSE_MAX = 3, /* FPDUs in a row that nobody would send: the boundary is wrong */
};

/* An FPDU, and the ULPDU in it. */
struct found_fpdu {
    struct flow_ulpdu ulpdu;
    struct flow_fpdu mpa;
};

/* ---- guesses ----------------------------------------------------------------------------------------------------- */

/* The guess was wrong (or right without the flow being known yet): it took so many octets. */
static void guess_failed(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                         size_t octets)
{
    struct flow_side *side = &connection->side[index];

    side->tentative = false;
    if ((side->guessing || side->doubtful) && side->half != NULL)
        side->half->tcp->framing_known = side->half->start_known = side->half->tcp->in_sync = false;
    side->guessing = false;
    side->state = side->half != NULL && side->half->tcp->framing_known ? SIDE_RESYNC : SIDE_LATE;
    flow_octets(decoder, connection, side->state == SIDE_RESYNC ? FLOW_ROW_SYNC_LOST : FLOW_ROW_LATE, octets);
    flow_mpa_unit_done(decoder, side);
}

/* A guess in mid-stream was verified. False: without memory. */
static bool guess_verified(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                           uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];

    side->tentative = side->guessing = false;
    if (!flow_recognise(decoder, connection, connection->first_side, false))
        return false;
    if (!side->half->tcp->framing_known) {
        side->half->tcp->framing_known = true;
        side->half->tcp->framing = side->framing;
        side->half->position = side->position;
        connection->flow->tcp->crc = connection->flow->tcp->crc || side->framing.crc;
        connection->flow->late = !connection->side[0].start_done && !connection->side[1].start_done;
        connection->flow->gap = true;
        flow_undecoded(decoder, connection, index, FLOW_REASON_LATE, frame, time_ns);
    }
    return true;
}

/*
 * A guess whose FPDU the capture cut has no CRC to be verified by: the header makes sense, and its length `fits` into
 * what the segment had on the wire, best of all `exactly`. True: it is believed.
 */
static bool guess_by_length(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, bool fits,
                            bool exactly, uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];

    if (!fits)
        return false;
    if (side->half == NULL || !side->half->tcp->framing_known) {
        if (!exactly || ++side->hints < HINTS_NEEDED)
            return false;
        side->framing.crc = false; /* not known */
    }
    return guess_verified(decoder, connection, index, frame, time_ns);
}

/* ---- one FPDU ---------------------------------------------------------------------------------------------------- */

/* An FPDU that is only a guess so far: is it believed? Counts its octets if not. */
static bool believe(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                    const struct found_fpdu *fpdu, const struct flow_piece *piece)
{
    struct flow_side *side = &connection->side[index];

    if (fpdu->ulpdu.result == TERM_MPA_CRC) {
        guess_failed(decoder, connection, index, fpdu->mpa.fpdu.octets);
        side->position += fpdu->mpa.fpdu.octets;
        return false;
    }
    if (guess_verified(decoder, connection, index, piece->frame, piece->time_ns))
        return true;
    flow_octets(decoder, connection, FLOW_ROW_MEMORY, fpdu->ulpdu.cut ? side->have : fpdu->mpa.fpdu.octets);
    flow_side_ends(side, FLOW_REASON_NO_FPDU);
    return false;
}

/* Sets fpdu->ulpdu.unverified. False: no sender would send such an FPDU. */
static bool verify(const struct flow_connection *connection, struct flow_side *side, struct found_fpdu *fpdu)
{
    const struct flow_half *half = side->half;
    /* The CRC covers Markers wherever they are: where that is has to be known, or the Marker has to be right. */
    bool verified = side->framing.crc && !fpdu->ulpdu.cut && fpdu->mpa.fpdu.crc_ok &&
                    (half->start_known || fpdu->ulpdu.result != TERM_MPA_MARKER);
    bool sensible = verified || (fpdu->ulpdu.result != TERM_MPA_MARKER &&
                                 flow_lock_plausible(fpdu->mpa.fpdu.ulpdu, fpdu->ulpdu.have,
                                                     fpdu->mpa.fpdu.ulpdu_length, connection->flow->revision));

    if (verified) {
        side->doubts = 0;
    } else if (side->doubts != 0) {
        fpdu->ulpdu.unverified = true;
        side->doubts = sensible ? side->doubts - 1 : FLOW_DOUBTS;
    }
    /* In mid-stream nobody has said whether there are Markers: CRCs have to, or so many octets without one. */
    fpdu->ulpdu.unverified = fpdu->ulpdu.unverified || (!half->start_known && !verified &&
                                                        (side->unmarked < 2 * MARKER_SPACING || fpdu->ulpdu.cut));
    side->unmarked = sensible ? side->unmarked + fpdu->mpa.fpdu.octets : 0;
    return sensible;
}

static void count_fpdu(struct flow_decoder *decoder, const struct flow_side *side, const struct found_fpdu *fpdu)
{
    struct flow_count *rows = decoder->totals.account.row;

    if (fpdu->ulpdu.cut)
        rows[FLOW_ROW_PART].octets += side->have;
    else
        rows[fpdu->ulpdu.unverified ? FLOW_ROW_UNVERIFIED : FLOW_ROW_IWARP].octets += fpdu->mpa.fpdu.octets;
    decoder->totals.fpdus++;
    if (side->framing.crc && !fpdu->ulpdu.cut) {
        decoder->totals.crc_checked++;
        decoder->totals.crc_errors += !fpdu->mpa.fpdu.crc_ok;
    }
    decoder->totals.marker_errors += fpdu->ulpdu.result == TERM_MPA_MARKER;
}

/* The stream goes on after the FPDU. */
static void pass_fpdu(struct flow_side *side, const struct found_fpdu *fpdu, uint64_t end)
{
    struct flow_half *half = side->half;

    side->position += fpdu->mpa.fpdu.octets;
    half->position = side->position;
    half->tcp->framing.position = (uint32_t)side->position;
    half->fpdus++;
    half->last_known = !fpdu->ulpdu.cut && fpdu->mpa.fpdu.octets >= sizeof(half->last);
    if (half->last_known)
        memcpy(half->last, fpdu->mpa.fpdu.start + fpdu->mpa.fpdu.octets - sizeof(half->last), sizeof(half->last));
    half->tcp->crc_errors += fpdu->ulpdu.result == TERM_MPA_CRC;
    half->tcp->marker_errors += fpdu->ulpdu.result == TERM_MPA_MARKER;
    if (half->tcp->first_fpdu_end == 0)
        half->tcp->first_fpdu_end = end;
}

static void emit_fpdu(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                      struct found_fpdu *fpdu, const struct flow_piece *piece, uint64_t first_frame)
{
    struct flow_side *side = &connection->side[index];
    struct flow_half *half;
    struct flow_event event;
    bool sensible;

    fpdu->mpa.framing = side->framing;
    if ((side->tentative || (side->doubtful && fpdu->ulpdu.result == TERM_MPA_CRC)) &&
        !believe(decoder, connection, index, fpdu, piece))
        return;
    half = side->half;
    if (half == NULL) /* FPDUs are looked for in flows only, and a guess that is verified makes one */
        return;
    if (!half->tcp->in_sync) {
        half->tcp->in_sync = true;
        half->position = side->position;
        half->tcp->framing.position = (uint32_t)side->position;
    }
    sensible = verify(connection, side, fpdu);
    count_fpdu(decoder, side, fpdu);
    fpdu->mpa.resynced = side->resynced;
    fpdu->mpa.segment_octets = piece->segment_octets;
    fpdu->ulpdu.index = half->fpdus;
    fpdu->ulpdu.octets = fpdu->mpa.fpdu.ulpdu;
    fpdu->ulpdu.length = fpdu->mpa.fpdu.ulpdu_length;
    fpdu->ulpdu.mpa = &fpdu->mpa;
    fpdu->ulpdu.message = NULL;
    side->resynced = false;
    event = flow_event_make(connection, index, FLOW_ULPDU, piece->frame, piece->time_ns);
    event.first_frame = first_frame;
    event.octet = side->unit_at;
    event.end = side->unit_at + fpdu->mpa.fpdu.octets;
    event.received = side->unit_received;
    if (first_frame > event.frame) { /* its last octets were captured before its first */
        event.frame = first_frame;
        event.time_ns = decoder->now_ns;
    }
    event.position = side->position;
    flow_rdmap_ulpdu(decoder, connection->flow, &fpdu->ulpdu, &event);
    pass_fpdu(side, fpdu, event.end);
    side->nonsense = sensible ? 0 : side->nonsense + 1;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Appends octets of the piece to the unit's buffer up to `to` octets; returns how many. */
static size_t append(struct flow_side *side, const struct flow_piece *piece, size_t used, size_t to)
{
    size_t left = piece->captured - used;
    size_t count = to - side->have < left ? to - side->have : left;

    memcpy(side->buffer + side->have, piece->octets + used, count);
    side->have += count;
    return count;
}

static bool ends_segment(const struct flow_piece *piece, size_t used)
{
    return piece->at_end && used == piece->captured && piece->captured == piece->length;
}

/* An FPDU begins at `used`: parses it in place when it is whole, else begins to gather it. */
static size_t fpdu_begin(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                         const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];
    const uint8_t *at = piece->octets + used, *p = at;
    size_t left = piece->captured - used;
    struct found_fpdu fpdu;

    if (side->doubtful)
        flow_lock_doubt(decoder, side, piece, used);
    side->framing.position = (uint32_t)side->position;
    fpdu.ulpdu.result = fpdu_parse(&p, at + left, &side->framing, decoder->scratch, &fpdu.mpa.fpdu);
    side->unit_at_start = piece->at_start && used == 0;
    side->unit_at = piece->at + used;
    side->unit_received = piece->received;
    if (fpdu.ulpdu.result != WIRE_MORE) {
        used += fpdu.mpa.fpdu.octets;
        fpdu.ulpdu.cut = fpdu.ulpdu.unverified = false;
        fpdu.ulpdu.have = fpdu.mpa.fpdu.ulpdu_length;
        fpdu.mpa.at_segment_start = side->unit_at_start;
        fpdu.mpa.at_segment_end = ends_segment(piece, used);
        fpdu.mpa.here = left;
        fpdu.mpa.segments = 1;
        emit_fpdu(decoder, connection, index, &fpdu, piece, piece->frame);
        return fpdu.mpa.fpdu.octets;
    }
    side->unit_frame = piece->frame;
    side->unit_segments = 1;
    side->need = fpdu.mpa.fpdu.octets;
    if (!flow_mpa_reserve(decoder, side, side->need != 0 ? side->need : MARKER_OCTETS + FPDU_LENGTH_OCTETS)) {
        flow_mpa_lose_sync(decoder, connection, index, piece->frame, piece->time_ns);
        return 0;
    }
    return append(side, piece, used, side->have + left);
}

/* More octets of an FPDU that was begun. */
static size_t fpdu_continue(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                            const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];
    size_t lead = side->framing.markers && marker_distance(side->framing.position) == 0 ? MARKER_OCTETS : 0;
    const uint8_t *p;
    struct found_fpdu fpdu;
    size_t count = 0;

    if (used == 0)
        side->unit_segments++;
    /* The Marker before an FPDU may have gone out with the FPDU before it (RFC 5044 4.3), earlier than the FPDU was made. */
    if (side->have <= lead && piece->captured - used > lead - side->have) {
        side->unit_received = piece->received;
        side->unit_frame = piece->frame;
    }
    if (side->need == 0) {
        count = append(side, piece, used, lead + FPDU_LENGTH_OCTETS);
        if (side->have < lead + FPDU_LENGTH_OCTETS)
            return count;
        side->need =
            fpdu_octets(fpdu_get_ULPDU_Length(side->buffer + lead), side->framing.markers, side->framing.position);
        if (!flow_mpa_reserve(decoder, side, side->need)) {
            flow_mpa_lose_sync(decoder, connection, index, piece->frame, piece->time_ns);
            return count;
        }
    }
    count += append(side, piece, used + count, side->need);
    if (side->have < side->need)
        return count;
    p = side->buffer;
    fpdu.ulpdu.result = fpdu_parse(&p, p + side->have, &side->framing, decoder->scratch, &fpdu.mpa.fpdu);
    fpdu.ulpdu.cut = fpdu.ulpdu.unverified = false;
    fpdu.ulpdu.have = fpdu.mpa.fpdu.ulpdu_length;
    fpdu.mpa.at_segment_start = side->unit_at_start;
    fpdu.mpa.at_segment_end = ends_segment(piece, used + count);
    fpdu.mpa.here = fpdu.mpa.fpdu.octets;
    fpdu.mpa.segments = side->unit_segments;
    emit_fpdu(decoder, connection, index, &fpdu, piece, side->unit_frame);
    flow_mpa_unit_done(decoder, side);
    return count;
}

size_t flow_fpdu_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                        const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];
    size_t count;

    if (side->skip != 0) {
        count = side->skip < piece->captured - used ? (size_t)side->skip : piece->captured - used;
        side->skip -= count;
        decoder->totals.account.row[FLOW_ROW_PART].octets += count;
        return count;
    }
    count = side->have == 0 ? fpdu_begin(decoder, connection, index, piece, used)
                            : fpdu_continue(decoder, connection, index, piece, used);
    if (side->nonsense >= NONSENSE_MAX && side->state == SIDE_FPDU)
        flow_mpa_lose_sync(decoder, connection, index, piece->frame, piece->time_ns);
    return count;
}

/* ---- holes ------------------------------------------------------------------------------------------------------- */

/*
 * An FPDU that was begun will not be whole: its headers are told of as far as they are there. `cut`: because the capture
 * cut the frame. Else octets are missing, perhaps far after its end: with a damaged ULPDU_Length, which only its CRC would
 * have shown, it reaches over FPDUs that were whole.
 */
static void cut_fpdu(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, bool cut,
                     uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    struct flow_piece piece = {.frame = frame, .time_ns = time_ns};
    struct found_fpdu fpdu;
    size_t lead = side->framing.markers && marker_distance(side->framing.position) == 0 ? MARKER_OCTETS : 0;
    size_t count = flow_lock_gather(side->buffer, side->have, &side->framing, decoder->scratch, FPDU_SCRATCH_OCTETS);

    memset(&fpdu, 0, sizeof(fpdu));
    fpdu.mpa.fpdu.ulpdu_length = (uint16_t)fpdu_get_ULPDU_Length(side->buffer + lead);
    fpdu.mpa.fpdu.start = side->buffer;
    fpdu.mpa.here = side->have;
    fpdu.mpa.fpdu.octets = side->need;
    fpdu.mpa.fpdu.ulpdu = decoder->scratch + FPDU_LENGTH_OCTETS;
    fpdu.mpa.fpdu.bad_marker = SIZE_MAX;
    fpdu.mpa.fpdu.pad_zero = true;
    fpdu.mpa.fpdu.crc_ok = true;
    fpdu.ulpdu.have = count - FPDU_LENGTH_OCTETS;
    if (fpdu.ulpdu.have > fpdu.mpa.fpdu.ulpdu_length)
        fpdu.ulpdu.have = fpdu.mpa.fpdu.ulpdu_length;
    fpdu.ulpdu.result = WIRE_MORE;
    fpdu.ulpdu.cut = true;
    fpdu.ulpdu.unverified = !cut && side->framing.crc;
    fpdu.mpa.at_segment_start = side->unit_at_start;
    fpdu.mpa.segments = side->unit_segments;
    emit_fpdu(decoder, connection, index, &fpdu, &piece, side->unit_frame);
    flow_mpa_unit_done(decoder, side);
}

/* Octets are missing among FPDUs. True: the next boundary is known all the same. */
bool flow_fpdu_lost(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, uint64_t count,
                    bool cut, uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    uint64_t taken = 0;

    if (side->skip == 0 && side->have != 0 && side->need == 0) { /* not even its length is there */
        side->position += side->have + count;
        if (side->tentative)
            guess_failed(decoder, connection, index, side->have);
        return side->state != SIDE_FPDU; /* looking already */
    }
    if (side->skip == 0 && side->have != 0) {
        uint64_t missing = side->need - side->have;

        if (side->tentative &&
            !guess_by_length(decoder, connection, index, cut && missing <= count, missing == count, frame, time_ns)) {
            side->position += side->have + count;
            guess_failed(decoder, connection, index, side->have);
            return true;
        }
        cut_fpdu(decoder, connection, index, cut, frame, time_ns);
        side->skip = missing;
    }
    taken = side->skip < count ? side->skip : count;
    side->skip -= taken;
    side->position += count - taken;
    return taken == count && side->nonsense < NONSENSE_MAX;
}
