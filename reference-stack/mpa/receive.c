/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs out of a stream of octets, in any portions (RFC 5044 4, 5.2, 6). */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/mpa/mpa.h"
#include "reference-stack/defects/defect_stream.h"

enum {
    SPACE_LEAST = 2048,         /* octets for which reading into another place pays */
    PARTIAL_LIVES = 1000000000, /* ns; only as a defect */
};

bool receive_scratch(struct iwarp_stream *stream)
{
    if (!mpa_of(stream)->receive_markers || mpa_of(stream)->scratch != NULL)
        return true;
    mpa_of(stream)->scratch = malloc(FPDU_SCRATCH_OCTETS);
    return mpa_of(stream)->scratch != NULL;
}

/*
 * The first FPDU that is good at the MPA level opens the responder's gate (RFC 5044 7.1.2 rule 4), whatever DDP then
 * thinks of it.
 */
static void open_gate(struct iwarp_stream *stream)
{
    stream->gate = true;
    if (stream->state == IWARP_STATE_FENCED)
        stream->state = IWARP_STATE_OPERATION;
    (void)stream_event(stream, IWARP_EVENT_TRANSMIT_READY);
}

/* The octets from `at` on as ULPDU, as they lie in the stream: only as a defect. */
static void deliver_raw(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t at, size_t octets)
{
    deliver_ulpdu(stream, fpdu->start + at, (uint16_t)octets);
}

/* With the Markers that lie inside. A leading one is ahead of ULPDU_Length. */
static void deliver_with_markers(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    uint32_t position = mpa_of(stream)->receive_position - (uint32_t)fpdu->octets;
    size_t lead = marker_distance(position) == 0 ? MARKER_OCTETS : 0;

    deliver_raw(stream, fpdu, lead + FPDU_LENGTH_OCTETS, fpdu->ulpdu_length);
}

static void fpdu_complete(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    uint32_t position = mpa_of(stream)->receive_position - (uint32_t)fpdu->octets;
    struct validation_subject subject = {
        .stream = stream,
        .fpdu = fpdu,
        .position = position,
        .segment_octets = fpdu->ulpdu_length,
    };
    struct validation_outcome outcome;

    stream->counters.fpdus_received++;
    if (!fpdu->crc_ok)
        stream->counters.crc_errors++;
    if (fpdu->bad_marker != SIZE_MAX)
        stream->counters.marker_errors++;
    if (stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC))
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
    if (!validation_run(VALIDATE_FPDU, &subject, &outcome)) {
        if (!outcome.ignore)
            stream_fail(stream, &outcome, &subject, "an FPDU is not valid");
        return;
    }
    if (!stream->gate)
        open_gate(stream);
    mpa_trace(stream, fpdu, position, false);
    if (stream_behaves(stream, DEFECT_FIRST_FPDU_DISCARDED) && stream->counters.fpdus_received == 1)
        return;
    if (stream_behaves(stream, DEFECT_MARKERS_KEPT) && fpdu->markers != 0)
        deliver_with_markers(stream, fpdu);
    else if (stream_behaves(stream, DEFECT_CRC_DELIVERED) && !mpa_of(stream)->crc && fpdu->markers == 0)
        deliver_raw(stream, fpdu, FPDU_LENGTH_OCTETS, fpdu->octets - FPDU_LENGTH_OCTETS);
    else if (!stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC))
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
    if (stream->counters.fpdus_received == 3 && stream_behaves(stream, DEFECT_FPDU_AGAIN))
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
}

/* A ULPDU that goes up, and the next segment taken for the next FPDU, as soon as its own octets are there. */
static size_t parse_early(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t count)
{
    if (!stream_behaves(stream, DEFECT_ULPDU_EARLY) || mpa_of(stream)->receive_markers || fpdu->octets == 0 ||
        count < fpdu->octets - FPDU_CRC_OCTETS)
        return 0;
    deliver_raw(stream, fpdu, FPDU_LENGTH_OCTETS, fpdu->ulpdu_length);
    return count;
}

/* Parses all complete FPDUs at `octets`; returns the octets used. `needed` is told how many the next one has, if known. */
static size_t parse(struct iwarp_stream *stream, const uint8_t *octets, size_t count, size_t *needed)
{
    const uint8_t *p = octets;

    *needed = 0;
    while (!stream->dropping) {
        struct fpdu_framing framing = {mpa_of(stream)->receive_markers, mpa_of(stream)->crc,
                                       mpa_of(stream)->receive_position};
        const uint8_t *start = p;
        struct fpdu fpdu;

        if (fpdu_parse(&p, octets + count, &framing, mpa_of(stream)->scratch, &fpdu) == WIRE_MORE) {
            *needed = fpdu.octets;
            p += parse_early(stream, &fpdu, (size_t)(octets + count - p));
            break;
        }
        mpa_of(stream)->receive_position += (uint32_t)(p - start);
        fpdu_complete(stream, &fpdu);
        if (stream_behaves(stream, DEFECT_ONE_FPDU_PER_INPUT))
            return count;
    }
    return (size_t)(p - octets);
}

/* Room for so many octets of an FPDU that is not complete. */
static bool reserve(struct iwarp_stream *stream, size_t room)
{
    uint8_t *bigger;

    if (room <= mpa_of(stream)->receive_room)
        return true;
    /* Rounded up, so that a large FPDU in many portions does not mean many reallocations. */
    room = room < 2048 ? 2048 : room < 16384 ? 16384 : FPDU_OCTETS_MAX;
    bigger = realloc(mpa_of(stream)->receive_buffer, room);
    if (bigger == NULL)
        return false;
    mpa_of(stream)->receive_buffer = bigger;
    mpa_of(stream)->receive_room = room;
    return true;
}

static bool gather(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    if (!reserve(stream, mpa_of(stream)->receive_count + count))
        return false;
    memcpy(mpa_of(stream)->receive_buffer + mpa_of(stream)->receive_count, octets, count);
    mpa_of(stream)->receive_count += count;
    return true;
}

/* What the FPDU that is begun still lacks, where it is so much that it had better be put there at once. */
static size_t receive_space(struct iwarp_stream *stream, uint8_t **space)
{
    size_t lacks = mpa_of(stream)->receive_needed - mpa_of(stream)->receive_count;

    if (mpa_of(stream)->receive_count == 0 || mpa_of(stream)->receive_needed < mpa_of(stream)->receive_count ||
        lacks < SPACE_LEAST || stream->dropping || stream->defects != NULL ||
        !reserve(stream, mpa_of(stream)->receive_needed))
        return 0;
    *space = mpa_of(stream)->receive_buffer + mpa_of(stream)->receive_count;
    return lacks;
}

static void receive_filled(struct iwarp_stream *stream, size_t count)
{
    size_t needed;

    if (mpa_of(stream)->receive_count == 0 || mpa_of(stream)->receive_needed > mpa_of(stream)->receive_room ||
        mpa_of(stream)->receive_needed < mpa_of(stream)->receive_count ||
        count > mpa_of(stream)->receive_needed - mpa_of(stream)->receive_count)
        return; /* more than was offered */
    mpa_of(stream)->receive_count += count;
    if (parse(stream, mpa_of(stream)->receive_buffer, mpa_of(stream)->receive_count, &needed) != 0 || stream->dropping)
        mpa_of(stream)->receive_count = 0;
}

/* What has come of the CRC field of the FPDU that is begun is lost when the rest comes. */
static void forget_crc(struct iwarp_stream *stream)
{
    size_t lacks = mpa_of(stream)->receive_needed - mpa_of(stream)->receive_count;

    if (mpa_of(stream)->receive_count != 0 && mpa_of(stream)->receive_needed > mpa_of(stream)->receive_count &&
        lacks < FPDU_CRC_OCTETS)
        memset(mpa_of(stream)->receive_buffer + mpa_of(stream)->receive_needed - FPDU_CRC_OCTETS, 0,
               FPDU_CRC_OCTETS - lacks);
}

/* Faults that take a portion of octets, one TCP segment in practice, for more than it is. */
static bool portion_dropped(struct iwarp_stream *stream, size_t count)
{
    if (stream_behaves(stream, DEFECT_SEGMENT_IS_FPDU))
        mpa_of(stream)->receive_count = 0;
    if (stream_behaves(stream, DEFECT_PARTIAL_EXPIRES) && stream->now - stream->defect_state.partial_at > PARTIAL_LIVES)
        mpa_of(stream)->receive_count = 0;
    if (stream_behaves(stream, DEFECT_CRC_IN_ONE_SEGMENT))
        forget_crc(stream);
    stream->defect_state.partial_at = stream->now;
    if (mpa_of(stream)->receive_count != 0)
        return false;
    return (stream_behaves(stream, DEFECT_LENGTH_IN_ONE_SEGMENT) && count < FPDU_LENGTH_OCTETS) ||
           (stream_behaves(stream, DEFECT_MARKER_ALONE_DROPPED) && count == MARKER_OCTETS &&
            mpa_of(stream)->receive_markers && mpa_of(stream)->receive_position % MARKER_SPACING == 0);
}

/* The peer's FIN in the middle of an FPDU. */
void receive_cut(struct iwarp_stream *stream)
{
    struct fpdu fpdu = {
        .start = mpa_of(stream)->receive_buffer, .octets = mpa_of(stream)->receive_count, .bad_marker = SIZE_MAX};

    if (stream_behaves(stream, DEFECT_PARTIAL_DELIVERED) && mpa_of(stream)->receive_count > FPDU_LENGTH_OCTETS)
        deliver_raw(stream, &fpdu, FPDU_LENGTH_OCTETS, mpa_of(stream)->receive_count - FPDU_LENGTH_OCTETS);
}

void receive_octets(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    size_t needed = 0;

    if (stream->defects != NULL && portion_dropped(stream, count))
        return;
    if (!receive_scratch(stream)) {
        stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_TERMINATE, "out of memory for Markers");
        return;
    }
    /* First the FPDU that is begun: just what it lacks, so that all others are parsed where they lie. */
    while (mpa_of(stream)->receive_count != 0 && count != 0 && !stream->dropping) {
        size_t used;
        size_t take;

        used = parse(stream, mpa_of(stream)->receive_buffer, mpa_of(stream)->receive_count, &needed);
        if (used != 0) {
            mpa_of(stream)->receive_count = 0;
            break;
        }
        take = needed > mpa_of(stream)->receive_count ? needed - mpa_of(stream)->receive_count : 1;
        take = take < count ? take : count;
        if (!gather(stream, octets, take)) {
            stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_TERMINATE, "out of memory for an FPDU");
            return;
        }
        octets += take;
        count -= take;
        if (parse(stream, mpa_of(stream)->receive_buffer, mpa_of(stream)->receive_count, &needed) != 0)
            mpa_of(stream)->receive_count = 0;
    }
    if (stream->dropping) {
        stream->counters.octets_dropped += count;
        mpa_of(stream)->receive_count = 0;
        return;
    }
    if (count != 0) {
        size_t used = parse(stream, octets, count, &needed);

        octets += used;
        count -= used;
    }
    if (stream->dropping)
        stream->counters.octets_dropped += count;
    else if (count != 0 && !gather(stream, octets, count))
        stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_TERMINATE, "out of memory for an FPDU");
    mpa_of(stream)->receive_needed = needed;
}

size_t iwarp_stream_input_space(struct iwarp_stream *stream, uint8_t **space)
{
    return stream == NULL || space == NULL || stream->llp != &mpa_llp ? 0 : receive_space(stream, space);
}

void iwarp_stream_input_filled(struct iwarp_stream *stream, size_t count, uint64_t now)
{
    if (stream == NULL || stream->llp != &mpa_llp)
        return;
    stream->now = now;
    receive_filled(stream, count);
    stream_progress(stream);
}
