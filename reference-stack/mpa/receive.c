/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs out of a stream of octets, in any portions (RFC 5044 4, 5.2, 6). */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "reference-stack/mpa/mpa.h"

enum { SPACE_LEAST = 2048 }; /* octets for which reading into another place pays */

bool receive_scratch(struct iwarp_stream *stream)
{
    struct mpa *mpa = mpa_of(stream);

    if (mpa->receive_markers && mpa->scratch == NULL)
        mpa->scratch = malloc(FPDU_SCRATCH_OCTETS);
    return !mpa->receive_markers || mpa->scratch != NULL;
}

/*
 * After the first FPDU that is valid at the MPA level, the responder may send FPDUs (RFC 5044 7.1.2 rule 4), even if
 * DDP then finds an error in it.
 */
static void allow_segments(struct iwarp_stream *stream)
{
    stream->outbound.segments_allowed = true;
    if (stream->state == IWARP_STATE_FENCED)
        stream->state = IWARP_STATE_OPERATION;
    stream_event_plain(stream, IWARP_EVENT_TRANSMIT_READY);
}

static void fpdu_complete(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    uint32_t position = mpa_of(stream)->receive_position - (uint32_t)fpdu->octets;
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome;

    subject.fpdu = fpdu;
    subject.position = position;
    subject.segment_octets = fpdu->ulpdu_length;
    stream->counters.fpdus_received++;
    if (!fpdu->crc_ok)
        stream->counters.crc_errors++;
    if (fpdu->bad_marker != SIZE_MAX)
        stream->counters.marker_errors++;
    MPA_SEAM(stream, fpdu_received(stream, FPDU_PARSED, fpdu, fpdu->octets));
    if (!stream_judge(VALIDATE_FPDU, &subject, &outcome)) {
        stream_fail(stream, &outcome, &subject, "an FPDU is not valid");
        return;
    }
    if (!stream->outbound.segments_allowed)
        allow_segments(stream);
    mpa_trace(stream, fpdu, position, false);
    if (MPA_SEAM_VALUE(stream, 0, fpdu_received(stream, FPDU_GOOD, fpdu, fpdu->octets)) == 0)
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
}

/*
 * Parses all complete FPDUs at `octets`; returns the octets used. *needed: how many octets the next one has, if known.
 */
static size_t parse(struct iwarp_stream *stream, const uint8_t *octets, size_t count, size_t *needed)
{
    struct mpa *mpa = mpa_of(stream);
    const uint8_t *p = octets;

    *needed = 0;
    while (!stream->end.dropping) {
        struct fpdu_framing framing = {mpa->receive_markers, mpa->crc, mpa->receive_position};
        const uint8_t *start = p;
        struct fpdu fpdu;

        if (fpdu_parse(&p, octets + count, &framing, mpa->scratch, &fpdu) == WIRE_MORE) {
            *needed = fpdu.octets;
            p += MPA_SEAM_VALUE(stream, 0, fpdu_received(stream, FPDU_BEGUN, &fpdu, (size_t)(octets + count - p)));
            break;
        }
        mpa->receive_position += (uint32_t)(p - start);
        fpdu_complete(stream, &fpdu);
        if (!MPA_DECIDE(stream, MPA_NEXT_PARSED, true))
            return count;
    }
    return (size_t)(p - octets);
}

/* Room for so many octets of an FPDU that is not complete. */
static bool reserve(struct mpa *mpa, size_t room)
{
    uint8_t *bigger;

    if (room <= mpa->receive_room)
        return true;
    /* Rounded up, so that a large FPDU in many portions does not mean many reallocations. */
    room = room < 2048 ? 2048 : room < 16384 ? 16384 : FPDU_OCTETS_MAX;
    bigger = realloc(mpa->receive_buffer, room);
    if (bigger == NULL)
        return false;
    mpa->receive_buffer = bigger;
    mpa->receive_room = room;
    return true;
}

static bool gather(struct mpa *mpa, const uint8_t *octets, size_t count)
{
    if (!reserve(mpa, mpa->receive_count + count))
        return false;
    memcpy(mpa->receive_buffer + mpa->receive_count, octets, count);
    mpa->receive_count += count;
    return true;
}

/* Where the rest of the FPDU that is begun goes, if it is so long that a copy costs more than a read of its own. */
static size_t receive_space(struct iwarp_stream *stream, uint8_t **space)
{
    struct mpa *mpa = mpa_of(stream);
    size_t lacks = mpa->receive_needed - mpa->receive_count;

    if (mpa->receive_count == 0 || mpa->receive_needed < mpa->receive_count || lacks < SPACE_LEAST ||
        stream->end.dropping || !MPA_DECIDE(stream, MPA_INTO_PLACE, true) || !reserve(mpa, mpa->receive_needed))
        return 0;
    *space = mpa->receive_buffer + mpa->receive_count;
    return lacks;
}

static void receive_filled(struct iwarp_stream *stream, size_t count)
{
    struct mpa *mpa = mpa_of(stream);
    size_t needed;

    if (mpa->receive_count == 0 || mpa->receive_needed > mpa->receive_room ||
        mpa->receive_needed < mpa->receive_count || count > mpa->receive_needed - mpa->receive_count)
        return; /* more than was offered */
    mpa->receive_count += count;
    if (parse(stream, mpa->receive_buffer, mpa->receive_count, &needed) != 0 || stream->end.dropping)
        mpa->receive_count = 0;
}

/*
 * Completes the FPDU that is begun, with no more octets than it lacks, so that all others are parsed where they lie.
 * Returns how many octets it took; -1: memory is short.
 */
static ssize_t complete_begun(struct iwarp_stream *stream, const uint8_t *octets, size_t count, size_t *needed)
{
    struct mpa *mpa = mpa_of(stream);
    size_t taken = 0;

    while (mpa->receive_count != 0 && taken != count && !stream->end.dropping) {
        size_t lacks;

        if (parse(stream, mpa->receive_buffer, mpa->receive_count, needed) != 0) {
            mpa->receive_count = 0;
            break;
        }
        lacks = *needed > mpa->receive_count ? *needed - mpa->receive_count : 1;
        if (lacks > count - taken)
            lacks = count - taken;
        if (!gather(mpa, octets + taken, lacks))
            return -1;
        taken += lacks;
        if (parse(stream, mpa->receive_buffer, mpa->receive_count, needed) != 0)
            mpa->receive_count = 0;
    }
    return (ssize_t)taken;
}

static void out_of_memory(struct iwarp_stream *stream, const char *text)
{
    stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_TERMINATE, text);
}

void receive_octets(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    struct mpa *mpa = mpa_of(stream);
    size_t needed = 0;
    ssize_t taken;

    if (!receive_scratch(stream)) {
        out_of_memory(stream, "out of memory for Markers");
        return;
    }
    taken = complete_begun(stream, octets, count, &needed);
    if (taken < 0) {
        out_of_memory(stream, "out of memory for an FPDU");
        return;
    }
    octets += taken;
    count -= (size_t)taken;
    if (stream->end.dropping)
        mpa->receive_count = 0;
    if (!stream->end.dropping && count != 0) {
        size_t used = parse(stream, octets, count, &needed);

        octets += used;
        count -= used;
    }
    if (stream->end.dropping)
        stream->counters.octets_dropped += count;
    else if (count != 0 && !gather(mpa, octets, count))
        out_of_memory(stream, "out of memory for an FPDU");
    mpa->receive_needed = needed;
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
