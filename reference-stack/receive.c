/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs out of a stream of octets, in any portions (RFC 5044 4, 5.2, 6). */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/stream_internal.h"

static bool need_scratch(struct iwarp_stream *stream)
{
    if (!stream->receive_markers || stream->scratch != NULL)
        return true;
    stream->scratch = malloc(FPDU_SCRATCH_OCTETS);
    return stream->scratch != NULL;
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

static void fpdu_complete(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    struct validation_subject subject = {.stream = stream, .fpdu = fpdu};
    struct validation_outcome outcome;

    stream->counters.fpdus_received++;
    if (!fpdu->crc_ok)
        stream->counters.crc_errors++;
    if (fpdu->bad_marker != SIZE_MAX)
        stream->counters.marker_errors++;
    if (stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC))
        deliver_ulpdu(stream, fpdu);
    if (!validation_run(VALIDATE_FPDU, &subject, &outcome)) {
        if (!outcome.ignore)
            stream_fail(stream, &outcome, &subject, "an FPDU is not valid");
        return;
    }
    if (!stream->gate)
        open_gate(stream);
    if (stream_behaves(stream, DEFECT_FIRST_FPDU_DISCARDED) && stream->counters.fpdus_received == 1)
        return;
    if (!stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC))
        deliver_ulpdu(stream, fpdu);
}

/* Parses all complete FPDUs at `octets`; returns the octets used. `needed` is told how many the next one has, if known. */
static size_t parse(struct iwarp_stream *stream, const uint8_t *octets, size_t count, size_t *needed)
{
    const uint8_t *p = octets;

    *needed = 0;
    while (!stream->dropping) {
        struct fpdu_framing framing = {stream->receive_markers, stream->crc, stream->receive_position};
        const uint8_t *start = p;
        struct fpdu fpdu;

        if (fpdu_parse(&p, octets + count, &framing, stream->scratch, &fpdu) == WIRE_MORE) {
            *needed = fpdu.octets;
            break;
        }
        stream->receive_position += (uint32_t)(p - start);
        fpdu_complete(stream, &fpdu);
        if (stream_behaves(stream, DEFECT_ONE_FPDU_PER_INPUT))
            return count;
    }
    return (size_t)(p - octets);
}

/* Keeps octets of an FPDU that is not complete. */
static bool gather(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    size_t room = stream->receive_count + count;

    if (room > stream->receive_room) {
        uint8_t *bigger;

        /* Rounded up, so that a large FPDU in many portions does not mean many reallocations. */
        room = room < 2048 ? 2048 : room < 16384 ? 16384 : FPDU_OCTETS_MAX;
        bigger = realloc(stream->receive_buffer, room);
        if (bigger == NULL)
            return false;
        stream->receive_buffer = bigger;
        stream->receive_room = room;
    }
    memcpy(stream->receive_buffer + stream->receive_count, octets, count);
    stream->receive_count += count;
    return true;
}

void receive_octets(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    size_t needed;

    if (!need_scratch(stream)) {
        stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_TERMINATE, "out of memory for Markers");
        return;
    }
    /* First the FPDU that is begun: just what it lacks, so that all others are parsed where they lie. */
    while (stream->receive_count != 0 && count != 0 && !stream->dropping) {
        size_t used;
        size_t take;

        used = parse(stream, stream->receive_buffer, stream->receive_count, &needed);
        if (used != 0) {
            stream->receive_count = 0;
            break;
        }
        take = needed > stream->receive_count ? needed - stream->receive_count : 1;
        take = take < count ? take : count;
        if (!gather(stream, octets, take)) {
            stream_fail_with(stream, NULL, TERM_RDMAP_CATASTROPHIC, VALIDATION_TERMINATE, "out of memory for an FPDU");
            return;
        }
        octets += take;
        count -= take;
        if (parse(stream, stream->receive_buffer, stream->receive_count, &needed) != 0)
            stream->receive_count = 0;
    }
    if (stream->dropping) {
        stream->counters.octets_dropped += count;
        stream->receive_count = 0;
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
}
