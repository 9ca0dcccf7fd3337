/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FPDUs (RFC 5044 4): cut out of pieces of any size; one that lies wholly in a piece is parsed where it lies. Where
 * FPDUs begin may be a guess (flow_lock.c): nothing is said of one before its CRC, its Markers or its headers confirm
 * the guess.
 */
#include "conformance/flow/mpa/flow_mpa_internal.h"

#include <string.h>

#include "conformance/flow/mpa/flow_unit.h"
#include "wire/marker.h"

enum {
    HINTS_NEEDED = 2,
    NONSENSE_MAX = 3, /* FPDUs in a row that nobody would send: the boundary is wrong */
};

/* ---- guesses ----------------------------------------------------------------------------------------------------- */

/* The guess was wrong (or right without the flow being known yet): it took so many octets. */
static void guess_failed(const struct flow_context *context, size_t octets)
{
    struct flow_side *side = context->side;

    side->tentative = false;
    if ((side->guessing || side->doubtful) && side->half != NULL)
        side->half->tcp->framing_known = side->half->start_known = side->half->tcp->in_sync = false;
    side->guessing = false;
    if (side->half != NULL)
        flow_rdmap_gap(context->connection->flow, flow_direction_of(context->connection, context->index));
    side->state = side->half != NULL && side->half->tcp->framing_known ? SIDE_RESYNC : SIDE_LATE;
    flow_octets(context, side->state == SIDE_RESYNC ? FLOW_ROW_SYNC_LOST : FLOW_ROW_LATE, octets);
    flow_mpa_unit_done(context->common, side);
}

/* A guess in mid-stream was verified. False: without memory. */
static bool guess_verified(const struct flow_context *context)
{
    struct flow_connection *connection = context->connection;
    struct flow_side *side = context->side;

    side->tentative = side->guessing = false;
    if (!flow_recognise(context, connection->first_side, false) || side->half == NULL) /* a flow's sides have one */
        return false;
    if (!side->half->tcp->framing_known) {
        struct flow *flow = connection->flow;

        side->half->tcp->framing_known = true;
        side->half->tcp->framing = side->framing;
        side->half->position = side->position;
        flow->tcp->crc = flow->tcp->crc || side->framing.crc;
        flow->late = !connection->side[0].start_done && !connection->side[1].start_done;
        flow->gap = true;
        flow->tcp->unstarted = flow->late && side->framing.crc && side->streamed && !connection->key_seen;
        flow_undecoded(context, FLOW_REASON_LATE);
    }
    return true;
}

/*
 * A guess whose FPDU the capture cut has no CRC to be verified by: the header makes sense, and its length `fits` into
 * what the segment had on the wire, best of all `exactly`. True: it is believed.
 */
static bool guess_by_length(const struct flow_context *context, bool fits, bool exactly)
{
    struct flow_side *side = context->side;

    if (!fits)
        return false;
    if (side->half == NULL || !side->half->tcp->framing_known) {
        if (!exactly || ++side->hints < HINTS_NEEDED)
            return false;
        side->framing.crc = false; /* not known */
    }
    return guess_verified(context);
}

/* ---- one FPDU ---------------------------------------------------------------------------------------------------- */

/* An FPDU that is only a guess so far: is it believed? Counts its octets if not. */
static bool is_credible(const struct flow_context *context, const struct found_fpdu *fpdu)
{
    struct flow_side *side = context->side;

    if (fpdu->ulpdu.result == TERM_MPA_CRC) {
        guess_failed(context, fpdu->mpa.fpdu.octets);
        side->position += fpdu->mpa.fpdu.octets;
        return false;
    }
    if (guess_verified(context))
        return true;
    flow_octets(context, FLOW_ROW_MEMORY, fpdu->ulpdu.cut ? side->have : fpdu->mpa.fpdu.octets);
    flow_side_ends(side, FLOW_REASON_NO_FPDU);
    return false;
}

/* Sets fpdu->ulpdu.unverified. False: no sender would send such an FPDU. */
static bool verify(const struct flow_connection *connection, struct flow_side *side, struct found_fpdu *fpdu)
{
    const struct flow_half *half = side->half;
    /* The CRC covers Markers wherever they are: where that is has to be known, or the Marker has to be right. */
    bool verified = side->framing.crc && !fpdu->ulpdu.cut && fpdu->ulpdu.result != TERM_MPA_CRC &&
                    (half->start_known || fpdu->ulpdu.result != TERM_MPA_MARKER);
    unsigned faults = flow_header_faults(fpdu->mpa.fpdu.ulpdu, fpdu->ulpdu.have, fpdu->mpa.fpdu.ulpdu_length,
                                         connection->flow->revision);
    bool sensible = verified || (half->start_known ? faults <= 1 || fpdu->mpa.end_proven
                                                   : faults == 0 && fpdu->ulpdu.result != TERM_MPA_MARKER);

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

static void count_fpdu(struct flow_common *common, struct flow_side *side, const struct found_fpdu *fpdu)
{
    struct flow_count *rows = common->totals.account.row;

    if (fpdu->ulpdu.cut)
        rows[fpdu->row].octets += side->have - side->borrowed;
    else
        rows[fpdu->ulpdu.unverified || fpdu->ulpdu.framing_only ? FLOW_ROW_UNVERIFIED : FLOW_ROW_IWARP].octets +=
            fpdu->mpa.fpdu.octets - side->borrowed;
    side->borrowed = 0;
    common->totals.fpdus++;
    if (side->framing.crc && !fpdu->ulpdu.cut) {
        common->totals.crc_checked++;
        common->totals.crc_errors += !fpdu->mpa.fpdu.crc_ok;
    }
    common->totals.marker_errors += fpdu->ulpdu.result == TERM_MPA_MARKER;
}

/* The stream goes on after the FPDU. */
static void pass_fpdu(struct flow_side *side, const struct found_fpdu *fpdu, uint64_t end)
{
    struct flow_half *half = side->half;

    side->position += fpdu->mpa.fpdu.octets;
    half->position = side->position;
    half->tcp->framing.position = (uint32_t)side->position;
    half->fpdus++;
    side->before_known = !fpdu->ulpdu.cut && fpdu->mpa.fpdu.octets >= sizeof(side->last) && !side->framing.crc;
    if (side->before_known) {
        side->last_count = sizeof(side->last);
        memcpy(side->last, fpdu->mpa.fpdu.start + fpdu->mpa.fpdu.octets - sizeof(side->last), sizeof(side->last));
        side->before_length = fpdu->mpa.fpdu.ulpdu_length;
        side->before_by = side->reading;
    }
    if (side->reading.pad == FPDU_PAD_COUNT) /* that was of this FPDU alone */
        side->reading = (struct fpdu_reading){0};
    half->tcp->crc_errors += fpdu->ulpdu.result == TERM_MPA_CRC;
    half->tcp->marker_errors += fpdu->ulpdu.result == TERM_MPA_MARKER;
    if (half->tcp->first_fpdu_end == 0)
        half->tcp->first_fpdu_end = end;
}

void flow_unit_emit(const struct flow_context *context, struct found_fpdu *fpdu, const struct flow_piece *piece,
                    uint64_t first_frame)
{
    struct flow_side *side = context->side;
    struct flow_half *half;
    struct flow_event event;
    bool sensible;

    fpdu->mpa.framing = side->framing;
    fpdu->mpa.reading = side->reading;
    if (!fpdu_reading_is_text(&side->reading))
        fpdu->mpa.framing = fpdu_framing_by(&side->framing, &side->reading, side->half != NULL ? side->half->fpdus : 0);
    fpdu->mpa.before = side->before;
    fpdu->mpa.before_length = side->before_length;
    side->before = (struct fpdu_reading){0};
    if ((side->tentative || (side->doubtful && fpdu->ulpdu.result == TERM_MPA_CRC)) && !is_credible(context, fpdu))
        return;
    half = side->half;
    if (half == NULL) /* FPDUs are looked for in flows only, and a guess that is verified makes one */
        return;
    if (!half->tcp->in_sync) {
        half->tcp->in_sync = true;
        half->position = side->position;
        half->tcp->framing.position = (uint32_t)side->position;
    }
    sensible = verify(context->connection, side, fpdu);
    fpdu->ulpdu.framing_only = side->vague && !fpdu_reading_is_text(&side->reading);
    fpdu->ulpdu.unverified = fpdu->ulpdu.unverified && !fpdu->ulpdu.framing_only;
    count_fpdu(context->common, side, fpdu);
    fpdu->mpa.resynced = side->resynced;
    fpdu->mpa.segment_octets = piece->segment_octets;
    fpdu->ulpdu.index = half->fpdus;
    fpdu->ulpdu.octets = fpdu->mpa.fpdu.ulpdu;
    fpdu->ulpdu.length = fpdu->mpa.fpdu.ulpdu_length;
    fpdu->ulpdu.mpa = &fpdu->mpa;
    fpdu->ulpdu.message = NULL;
    side->resynced = false;
    event = flow_event_make(context, FLOW_ULPDU);
    event.first_frame = first_frame;
    event.octet = side->unit_at;
    event.end = side->unit_at + fpdu->mpa.fpdu.octets;
    event.received = side->unit_received;
    if (first_frame > event.frame) { /* its last octets were captured before its first */
        event.frame = first_frame;
        event.time_ns = context->common->now_ns;
    }
    event.position = side->position;
    event.ulpdu = &fpdu->ulpdu;
    flow_rdmap_ulpdu(context->common, context->connection->flow, &event);
    pass_fpdu(side, fpdu, event.end);
    side->nonsense = sensible ? 0 : side->nonsense + 1;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

size_t flow_unit_append(struct flow_side *side, const struct flow_piece *piece, size_t used, size_t to)
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

wire_result flow_unit_parse(struct flow_common *common, struct flow_side *side, const uint8_t **p, const uint8_t *end,
                            struct fpdu *fpdu)
{
    side->framing.position = (uint32_t)side->position;
    if (fpdu_reading_is_text(&side->reading))
        return fpdu_parse(p, end, &side->framing, common->scratch, fpdu);
    return fpdu_parse_reading(p, end, &side->framing, &side->reading, side->half != NULL ? side->half->fpdus : 0,
                              common->scratch, fpdu);
}

size_t flow_unit_lead_at(const struct flow_side *side, uint64_t position, uint64_t before)
{
    struct fpdu_framing framing = side->framing;

    framing.position = (uint32_t)position;
    if (!fpdu_reading_is_text(&side->reading))
        framing = fpdu_framing_by(&framing, &side->reading, before);
    return framing.markers && marker_distance(framing.position) == 0 ? MARKER_OCTETS : 0;
}

size_t flow_unit_lead(const struct flow_side *side)
{
    return flow_unit_lead_at(side, side->position, side->half != NULL ? side->half->fpdus : 0);
}

/* An FPDU begins at `used`: parses it in place when it is whole, else begins to gather it. */
static size_t fpdu_begin(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    const uint8_t *at = piece->octets + used, *p = at;
    size_t left = piece->captured - used;
    struct found_fpdu fpdu;

    if (side->doubtful)
        flow_lock_doubt(context->common, side, piece, used);
    fpdu.ulpdu.result = flow_unit_parse(context->common, side, &p, at + left, &fpdu.mpa.fpdu);
    side->unit_at_start = piece->at_start && used == 0;
    side->unit_at = piece->at + used;
    side->unit_received = piece->received;
    side->unit_frame = piece->frame;
    side->unit_segments = 1;
    if ((fpdu.ulpdu.result == WIRE_MORE
             ? flow_unit_begins_badly(context->connection, side, at, left)
             : flow_unit_is_suspect(context->connection, side, fpdu.ulpdu.result, &fpdu.mpa.fpdu,
                                    at + fpdu.mpa.fpdu.octets, left - fpdu.mpa.fpdu.octets,
                                    piece->at_end && piece->captured == piece->length, &fpdu.mpa.end_proven)) &&
        flow_reading_may_look(context))
        return flow_unit_append_rest(context, piece, used);
    if (fpdu.ulpdu.result != WIRE_MORE) {
        used += fpdu.mpa.fpdu.octets;
        fpdu.ulpdu.cut = fpdu.ulpdu.unverified = false;
        fpdu.ulpdu.have = fpdu.mpa.fpdu.ulpdu_length;
        fpdu.mpa.at_segment_start = side->unit_at_start;
        fpdu.mpa.at_segment_end = ends_segment(piece, used);
        fpdu.mpa.here = left;
        fpdu.mpa.segments = 1;
        flow_unit_emit(context, &fpdu, piece, piece->frame);
        return fpdu.mpa.fpdu.octets;
    }
    side->need = left < flow_unit_lead(side) + FLOW_UNIT_HEADER ? 0 : fpdu.mpa.fpdu.octets;
    if (!flow_mpa_reserve(context->common, side, side->need != 0 ? side->need : MARKER_OCTETS + FLOW_UNIT_HEADER)) {
        flow_mpa_lose_sync(context);
        return 0;
    }
    return flow_unit_append(side, piece, used, side->have + left);
}

/* More octets of an FPDU that was begun. */
static size_t fpdu_continue(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    size_t lead = flow_unit_lead(side);
    const uint8_t *p;
    struct found_fpdu fpdu;
    size_t count = 0, next;

    if (used == 0)
        side->unit_segments++;
    /*
     * The Marker before an FPDU may have gone out with the FPDU before it (RFC 5044 4.3), earlier than the FPDU was
     * made.
     */
    if (side->have <= lead && piece->captured - used > lead - side->have) {
        side->unit_received = piece->received;
        side->unit_frame = piece->frame;
    }
    if (side->need == 0) {
        if (side->have < lead + FLOW_UNIT_HEADER)
            count = flow_unit_append(side, piece, used, lead + FLOW_UNIT_HEADER);
        if (side->have < lead + FLOW_UNIT_HEADER)
            return count;
        if (flow_unit_begins_badly(context->connection, side, side->buffer, side->have) &&
            flow_reading_may_look(context))
            return count + flow_unit_append_rest(context, piece, used + count);
        p = side->buffer;
        (void)flow_unit_parse(context->common, side, &p, p + side->have, &fpdu.mpa.fpdu);
        side->need = fpdu.mpa.fpdu.octets;
        if (!flow_mpa_reserve(context->common, side, side->need)) {
            flow_mpa_lose_sync(context);
            return count;
        }
    }
    if (side->have < side->need)
        count += flow_unit_append(side, piece, used + count, side->need);
    if (side->have < side->need)
        return count;
    p = side->buffer;
    fpdu.ulpdu.result = flow_unit_parse(context->common, side, &p, p + side->have, &fpdu.mpa.fpdu);
    next = used + count;
    if (side->have > side->need ||
        (flow_unit_is_suspect(context->connection, side, fpdu.ulpdu.result, &fpdu.mpa.fpdu, piece->octets + next,
                              piece->captured - next, piece->at_end && piece->captured == piece->length,
                              &fpdu.mpa.end_proven) &&
         flow_reading_may_look(context)))
        return count + flow_unit_append_rest(context, piece, next);
    fpdu.ulpdu.cut = fpdu.ulpdu.unverified = false;
    fpdu.ulpdu.have = fpdu.mpa.fpdu.ulpdu_length;
    fpdu.mpa.at_segment_start = side->unit_at_start;
    fpdu.mpa.at_segment_end = ends_segment(piece, used + count);
    fpdu.mpa.here = fpdu.mpa.fpdu.octets;
    fpdu.mpa.segments = side->unit_segments;
    flow_unit_emit(context, &fpdu, piece, side->unit_frame);
    flow_mpa_unit_done(context->common, side);
    return count;
}

size_t flow_fpdu_octets(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    size_t count;

    if (side->skip != 0) {
        count = side->skip < piece->captured - used ? (size_t)side->skip : piece->captured - used;
        side->skip -= count;
        context->common->totals.account.row[FLOW_ROW_PART].octets += count;
        return count;
    }
    count = side->have == 0 ? fpdu_begin(context, piece, used) : fpdu_continue(context, piece, used);
    if (side->nonsense >= NONSENSE_MAX && side->state == SIDE_FPDU)
        flow_mpa_lose_sync(context);
    return count;
}

/* ---- holes ------------------------------------------------------------------------------------------------------- */

/*
 * An FPDU that was begun will not be whole: its headers are reported as far as they are there. `cut`: because the
 * capture cut the frame. Else octets are missing, perhaps far after its end: with a damaged ULPDU_Length, which only
 * its CRC would have shown, it reaches over FPDUs that were whole.
 */
void flow_fpdu_cut(const struct flow_context *context, bool unverified, enum flow_row row)
{
    struct flow_side *side = context->side;
    struct flow_piece piece = {.frame = context->frame, .time_ns = context->time_ns};
    struct found_fpdu fpdu;
    size_t lead = flow_unit_lead(side);
    struct fpdu_framing framing = side->framing;
    size_t count;

    framing.position = (uint32_t)side->position;
    if (!fpdu_reading_is_text(&side->reading))
        framing = fpdu_framing_by(&framing, &side->reading, side->half != NULL ? side->half->fpdus : 0);
    count = flow_lock_gather(side->buffer, side->have, &framing, context->common->scratch, FPDU_SCRATCH_OCTETS);
    memset(&fpdu, 0, sizeof(fpdu));
    fpdu.row = row;
    fpdu.mpa.fpdu.ulpdu_length = (uint16_t)fpdu_get_ULPDU_Length(side->buffer + lead);
    fpdu.mpa.fpdu.start = side->buffer;
    fpdu.mpa.here = side->have;
    fpdu.mpa.fpdu.octets = side->need;
    fpdu.mpa.fpdu.ulpdu = context->common->scratch + FPDU_LENGTH_OCTETS;
    fpdu.mpa.fpdu.bad_marker = SIZE_MAX;
    fpdu.mpa.fpdu.pad_zero = true;
    fpdu.mpa.fpdu.crc_ok = true;
    fpdu.ulpdu.have = count - FPDU_LENGTH_OCTETS;
    if (fpdu.ulpdu.have > fpdu.mpa.fpdu.ulpdu_length)
        fpdu.ulpdu.have = fpdu.mpa.fpdu.ulpdu_length;
    fpdu.ulpdu.result = WIRE_MORE;
    fpdu.ulpdu.cut = true;
    fpdu.ulpdu.unverified = unverified;
    fpdu.mpa.at_segment_start = side->unit_at_start;
    fpdu.mpa.segments = side->unit_segments;
    flow_unit_emit(context, &fpdu, &piece, side->unit_frame);
}

/* Octets are missing among FPDUs. True: the next boundary is known all the same. */
bool flow_fpdu_lost(const struct flow_context *context, uint64_t count, bool cut)
{
    struct flow_side *side = context->side;
    uint64_t taken = 0;

    if (side->skip == 0 && side->need == 0 && side->have >= flow_unit_lead(side) + FPDU_LENGTH_OCTETS) {
        const uint8_t *p = side->buffer;
        struct fpdu fpdu;

        (void)flow_unit_parse(context->common, side, &p, p + side->have, &fpdu);
        side->need = fpdu.octets;
    }
    if (side->skip == 0 && side->have != 0 && side->need == 0) { /* not even its length is there */
        side->position += side->have + count;
        if (side->tentative)
            guess_failed(context, side->have);
        return side->state != SIDE_FPDU; /* looking already */
    }
    if (side->skip == 0 && side->have != 0) {
        uint64_t missing = side->need - side->have;

        if (side->tentative && !guess_by_length(context, cut && missing <= count, missing == count)) {
            side->position += side->have + count;
            guess_failed(context, side->have);
            return true;
        }
        flow_fpdu_cut(context, !cut && side->framing.crc, FLOW_ROW_PART);
        flow_mpa_unit_done(context->common, side);
        side->skip = missing;
    }
    taken = side->skip < count ? side->skip : count;
    side->skip -= taken;
    side->position += count - taken;
    return taken == count && side->nonsense < NONSENSE_MAX;
}
