/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of MPA after start-up: FPDUs received, in order and before their turn, and MULPDU. */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"

enum { PARTIAL_LIVES = 1000000000 /* ns */, IP_AND_TCP_OCTETS = 40 };

/* --- MULPDU ------------------------------------------------------------------------------------------------------ */

bool hook_emss(struct iwarp_stream *stream, size_t emss)
{
    if (emss < mpa_of(stream)->emss && stream->work.count != 0 && stream_behaves(stream, DEFECT_EMSS_FAILS_WORK))
        stream_fail_with(stream, NULL, TERM_MPA_CONNECTION_LOST, VALIDATION_ABORT, "segments do not fit any more");
    return stream_behaves(stream, DEFECT_EMSS_ONCE) ||
           (stream->work_offset != 0 && stream_behaves(stream, DEFECT_EMSS_BETWEEN));
}

size_t hook_mulpdu(const struct iwarp_stream *stream, size_t mulpdu)
{
    size_t emss = mpa_of(stream)->emss;

    if (stream_behaves(stream, DEFECT_MULPDU_FLOOR) && mpa_of(stream)->send_markers)
        mulpdu = emss - (6 + 4 * (emss / 512) + emss % 4);
    if (stream_behaves(stream, DEFECT_MULPDU_MOD_4))
        mulpdu += emss % 4;
    if (stream_behaves(stream, DEFECT_MULPDU_UNCLAMPED) && emss < 160 && emss > 26)
        mulpdu = emss - 6;
    if (stream_behaves(stream, DEFECT_MULPDU_CLAMPS_EMSS) && emss >= 128 && emss < 160)
        mulpdu = emss - (6 + (mpa_of(stream)->send_markers ? 4 * ((emss + 511) / 512) : 0) + emss % 4);
    if (stream_behaves(stream, DEFECT_MULPDU_OF_WORDS) && mpa_of(stream)->send_markers && emss > 512 &&
        emss % 512 != 0 && emss % 512 < 4)
        mulpdu += 4;
    if (stream_behaves(stream, DEFECT_MULPDU_OF_MTU))
        mulpdu += IP_AND_TCP_OCTETS;
    if (stream_behaves(stream, DEFECT_MULPDU_REMAINING)) {
        size_t room = emss - mpa_of(stream)->transmit_position % emss;

        /* less than length, DDP header and CRC take is no room at all */
        mulpdu = room >= 40 && room - 8 < mulpdu ? room - 8 : mulpdu;
    }
    if (stream_behaves(stream, DEFECT_MULPDU_UNCLAMPED) && emss > ULPDU_LENGTH_MAX)
        mulpdu = emss - (6 + emss % 4);
    return variant_mulpdu(stream, mulpdu);
}

/* --- FPDUs in order ---------------------------------------------------------------------------------------------- */

/* The octets from `at` on as ULPDU, as they lie in the stream. */
static void deliver_raw(struct iwarp_stream *stream, const uint8_t *start, size_t at, size_t octets)
{
    deliver_ulpdu(stream, start + at, (uint16_t)octets);
}

/* With the Markers that lie inside. A leading one lies before ULPDU_Length. */
static void deliver_with_markers(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    uint32_t position = mpa_of(stream)->receive_position - (uint32_t)fpdu->octets;
    size_t lead = marker_distance(position) == 0 ? MARKER_OCTETS : 0;

    deliver_raw(stream, fpdu->start, lead + FPDU_LENGTH_OCTETS, fpdu->ulpdu_length);
}

void hook_fpdu_parsed(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    if (stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC))
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
}

bool hook_fpdu_good(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    uint64_t received = stream->counters.fpdus_received;

    if (received == 1 && stream_behaves(stream, DEFECT_FIRST_FPDU_DISCARDED))
        return true;
    if (received == 3 && stream_behaves(stream, DEFECT_FPDU_AGAIN))
        deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
    if (fpdu->markers != 0 && stream_behaves(stream, DEFECT_MARKERS_KEPT)) {
        deliver_with_markers(stream, fpdu);
        return true;
    }
    if (!mpa_of(stream)->crc && fpdu->markers == 0 && stream_behaves(stream, DEFECT_CRC_DELIVERED)) {
        deliver_raw(stream, fpdu->start, FPDU_LENGTH_OCTETS, fpdu->octets - FPDU_LENGTH_OCTETS);
        return true;
    }
    return stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC);
}

size_t hook_fpdu_begun(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t count)
{
    if (!stream_behaves(stream, DEFECT_ULPDU_EARLY) || mpa_of(stream)->receive_markers || fpdu->octets == 0 ||
        count < fpdu->octets - FPDU_CRC_OCTETS)
        return 0;
    deliver_raw(stream, fpdu->start, FPDU_LENGTH_OCTETS, fpdu->ulpdu_length);
    return count;
}

bool hook_input_over(const struct iwarp_stream *stream)
{
    return stream_behaves(stream, DEFECT_ONE_FPDU_PER_INPUT);
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

bool hook_portion(struct iwarp_stream *stream, size_t count)
{
    if (stream_behaves(stream, DEFECT_SEGMENT_IS_FPDU))
        mpa_of(stream)->receive_count = 0;
    if (stream_behaves(stream, DEFECT_PARTIAL_EXPIRES) &&
        stream->now - stream_state(stream)->partial_at > PARTIAL_LIVES)
        mpa_of(stream)->receive_count = 0;
    if (stream_behaves(stream, DEFECT_CRC_IN_ONE_SEGMENT))
        forget_crc(stream);
    stream_state(stream)->partial_at = stream->now;
    if (mpa_of(stream)->receive_count != 0)
        return false;
    return (stream_behaves(stream, DEFECT_LENGTH_IN_ONE_SEGMENT) && count < FPDU_LENGTH_OCTETS) ||
           (stream_behaves(stream, DEFECT_MARKER_ALONE_DROPPED) && count == MARKER_OCTETS &&
            mpa_of(stream)->receive_markers && mpa_of(stream)->receive_position % MARKER_SPACING == 0);
}

bool hook_input_end(struct iwarp_stream *stream)
{
    const struct mpa *mpa = mpa_of(stream);

    if (stream->state == IWARP_STATE_STARTUP && mpa->start_count >= MPA_START_OCTETS &&
        stream_behaves(stream, DEFECT_PRIVATE_CUT_TAKEN))
        startup_complete(stream);
    if (stream->state == IWARP_STATE_STARTUP && stream->config.role == IWARP_INITIATOR && stream->config.enhanced &&
        stream_behaves(stream, DEFECT_RETRY_ON_CONNECTION)) {
        stream->config.enhanced = false;
        (void)startup_begin(stream, NULL);
        return true;
    }
    if (stream->state > IWARP_STATE_DECISION && stream_behaves(stream, DEFECT_FIN_IN_FPDU_UNTOLD))
        return true;
    if (stream->state > IWARP_STATE_DECISION && !stream->dropping && mpa->receive_count > FPDU_LENGTH_OCTETS &&
        stream_behaves(stream, DEFECT_PARTIAL_DELIVERED))
        deliver_raw(stream, mpa->receive_buffer, FPDU_LENGTH_OCTETS, mpa->receive_count - FPDU_LENGTH_OCTETS);
    return false;
}

/* --- FPDUs before their turn ------------------------------------------------------------------------------------- */

bool hook_early(const struct iwarp_stream *stream, bool *boundary)
{
    /* A sink with one of these takes the beginning of a TCP segment for that of an FPDU, and so needs no Markers. */
    *boundary = *boundary || stream_behaves(stream, DEFECT_EARLY_DELIVERED) ||
                stream_behaves(stream, DEFECT_EARLY_UNTAGGED_ORDER) ||
                stream_behaves(stream, DEFECT_EARLY_QUEUE_ORDER) || stream_behaves(stream, DEFECT_EARLY_READ_DONE);
    return stream_behaves(stream, DEFECT_EARLY_KEPT);
}

/* Where the next FPDU would begin, were there no Markers in this one: what is no FPDU is an error. */
bool hook_early_fpdu(struct iwarp_stream *stream, const struct fpdu *fpdu, const uint8_t *next, const uint8_t *end)
{
    struct fpdu_framing framing = {false, true, 0};
    const uint8_t *p = next - fpdu->markers * MARKER_OCTETS;
    struct fpdu wrong;

    if (fpdu->markers == 0 || !stream_behaves(stream, DEFECT_EARLY_CHAIN))
        return false;
    if (fpdu_parse(&p, end, &framing, NULL, &wrong) != WIRE_OK)
        stream_fail_with(stream, "MPA-6-05", TERM_MPA_CRC, VALIDATION_TERMINATE, "an FPDU after a gap is not valid");
    return true;
}
