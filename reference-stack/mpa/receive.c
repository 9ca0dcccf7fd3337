/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs out of a stream of octets, in any portions (RFC 5044 4, 5.2, 6). */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/mpa/mpa.h"

enum { SPACE_LEAST = 2048 }; /* octets for which reading into another place pays */

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
static void allow_segments(struct iwarp_stream *stream)
{
    stream->segments_allowed = true;
    if (stream->state == IWARP_STATE_FENCED)
        stream->state = IWARP_STATE_OPERATION;
    (void)stream_event(stream, IWARP_EVENT_TRANSMIT_READY);
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
    HOOK(stream, fpdu_parsed(stream, fpdu));
    if (!validation_run(VALIDATE_FPDU, &subject, &outcome)) {
        if (!outcome.ignore)
            stream_fail(stream, &outcome, &subject, "an FPDU is not valid");
        return;
    }
    if (!stream->segments_allowed)
        allow_segments(stream);
    mpa_trace(stream, fpdu, position, false);
    if (!HOOK_IF(stream, fpdu_good(stream, fpdu)))
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
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
            p += HOOK_VALUE(stream, 0, fpdu_begun(stream, &fpdu, (size_t)(octets + count - p)));
            break;
        }
        mpa_of(stream)->receive_position += (uint32_t)(p - start);
        fpdu_complete(stream, &fpdu);
        if (HOOK_IF(stream, input_over(stream)))
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
        lacks < SPACE_LEAST || stream->dropping || HOOKED(stream) || !reserve(stream, mpa_of(stream)->receive_needed))
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

void receive_octets(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    size_t needed = 0;

    if (HOOK_IF(stream, portion(stream, count)))
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
