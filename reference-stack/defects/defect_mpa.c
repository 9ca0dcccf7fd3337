/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of MPA after start-up: FPDUs received, in order and before their turn, and MULPDU. */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"

enum { PARTIAL_LIVES = 1000000000 /* ns */, IP_AND_TCP_OCTETS = 40 };

/* --- MULPDU ------------------------------------------------------------------------------------------------------ */

size_t defect_emss(struct iwarp_stream *stream, size_t emss)
{
    if (emss < mpa_of(stream)->emss && stream->outbound.work.count != 0 &&
        stream_behaves(stream, DEFECT_EMSS_FAILS_WORK))
        stream_fail_with(stream, NULL, TERM_MPA_CONNECTION_LOST, VALIDATION_ABORT, "segments do not fit any more");
    return stream_behaves(stream, DEFECT_EMSS_ONCE) ||
                   (stream->outbound.work_offset != 0 && stream_behaves(stream, DEFECT_EMSS_BETWEEN))
               ? mpa_of(stream)->emss
               : emss;
}

size_t defect_mulpdu(const struct iwarp_stream *stream, size_t mulpdu)
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
    return variant_mulpdu(stream, state_stream_mulpdu(stream, mulpdu));
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

/* True: its ULPDU is not delivered once more. */
static bool fpdu_good(struct iwarp_stream *stream, const struct fpdu *fpdu)
{
    uint64_t received = stream->counters.fpdus_received;

    if (variant_segment_waits(stream, fpdu->ulpdu, fpdu->ulpdu_length))
        return true;
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

static size_t fpdu_begun(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t count)
{
    if (!stream_behaves(stream, DEFECT_ULPDU_EARLY) || mpa_of(stream)->receive_markers || fpdu->octets == 0 ||
        count < fpdu->octets - FPDU_CRC_OCTETS)
        return 0;
    deliver_raw(stream, fpdu->start, FPDU_LENGTH_OCTETS, fpdu->ulpdu_length);
    return count;
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

/* The header's first 16 octets, ULPDU_Length among them, are read for all kinds alike; the rest of an untagged one is miscounted. */
static void miscount_header(struct iwarp_stream *stream, size_t count)
{
    struct mpa *mpa = mpa_of(stream);
    size_t header = FPDU_LENGTH_OCTETS + DDP_UNTAGGED_OCTETS;

    if (mpa->receive_count >= FPDU_LENGTH_OCTETS + DDP_TAGGED_OCTETS && mpa->receive_count < header &&
        (mpa->receive_buffer[FPDU_LENGTH_OCTETS] & 0x80) == 0 && count > header - mpa->receive_count)
        mpa->receive_count--;
}

bool defect_portion(struct iwarp_stream *stream, size_t count)
{
    if (stream->state == IWARP_STATE_STARTUP || stream->state == IWARP_STATE_DECISION || stream->end.dropping) {
        stream_state(stream)->partial_at = stream->now;
        return false;
    }
    if (stream_behaves(stream, DEFECT_SEGMENT_IS_FPDU))
        mpa_of(stream)->receive_count = 0;
    if (stream_behaves(stream, DEFECT_PARTIAL_EXPIRES) &&
        stream->now - stream_state(stream)->partial_at > PARTIAL_LIVES)
        mpa_of(stream)->receive_count = 0;
    if (stream_behaves(stream, DEFECT_CRC_IN_ONE_SEGMENT))
        forget_crc(stream);
    if (stream_behaves(stream, DEFECT_MO_IN_ONE_SEGMENT))
        miscount_header(stream, count);
    stream_state(stream)->partial_at = stream->now;
    if (mpa_of(stream)->receive_count != 0)
        return false;
    return (stream_behaves(stream, DEFECT_LENGTH_IN_ONE_SEGMENT) && count < FPDU_LENGTH_OCTETS) ||
           (stream_behaves(stream, DEFECT_MARKER_ALONE_DROPPED) && count == MARKER_OCTETS &&
            mpa_of(stream)->receive_markers && mpa_of(stream)->receive_position % MARKER_SPACING == 0);
}

bool defect_input_end(struct iwarp_stream *stream)
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
    if (stream->state > IWARP_STATE_DECISION && !stream->end.dropping && mpa->receive_count > FPDU_LENGTH_OCTETS &&
        stream_behaves(stream, DEFECT_PARTIAL_DELIVERED))
        deliver_raw(stream, mpa->receive_buffer, FPDU_LENGTH_OCTETS, mpa->receive_count - FPDU_LENGTH_OCTETS);
    return false;
}

/* --- FPDUs before their turn ------------------------------------------------------------------------------------- */

/* A sink with one of these takes the beginning of a TCP segment for that of an FPDU, and so needs no Markers. */
static bool begins_with_fpdu(const struct iwarp_stream *stream)
{
    return stream_behaves(stream, DEFECT_EARLY_DELIVERED) || stream_behaves(stream, DEFECT_EARLY_UNTAGGED_ORDER) ||
           stream_behaves(stream, DEFECT_EARLY_QUEUE_ORDER) || stream_behaves(stream, DEFECT_EARLY_READ_DONE);
}

/* Where the next FPDU would begin, were there no Markers in this one: what is no FPDU is an error. */
static bool chain_broken(struct iwarp_stream *stream, const struct fpdu *fpdu, size_t octets)
{
    struct fpdu_framing framing = {false, true, 0};
    const uint8_t *p = fpdu->start + fpdu->octets - fpdu->markers * MARKER_OCTETS;
    struct fpdu wrong;

    if (fpdu->markers == 0 || !stream_behaves(stream, DEFECT_EARLY_CHAIN))
        return false;
    if (fpdu_parse(&p, fpdu->start + octets, &framing, NULL, &wrong) != WIRE_OK)
        stream_fail_with(stream, "MPA-6-05", TERM_MPA_CRC, VALIDATION_TERMINATE, "an FPDU after a gap is not valid");
    return true;
}

/* --- The seams --------------------------------------------------------------------------------------------------- */

static size_t fpdu_received(struct iwarp_stream *stream, enum fpdu_step step, const struct fpdu *fpdu, size_t octets)
{
    switch (step) {
    case FPDU_BEGUN: return fpdu_begun(stream, fpdu, octets);
    case FPDU_PARSED:
        if (stream_behaves(stream, DEFECT_PLACE_BEFORE_CRC))
            deliver_ulpdu(stream, fpdu->ulpdu, fpdu->ulpdu_length);
        return 0;
    case FPDU_GOOD: return fpdu_good(stream, fpdu) ? octets : 0;
    case FPDU_EARLY: return chain_broken(stream, fpdu, octets) ? octets : 0;
    default: return 0;
    }
}

static bool decide(struct iwarp_stream *stream, enum mpa_decision what, bool own)
{
    const struct mpa *mpa = mpa_of(stream);

    switch (what) {
    case MPA_ENHANCED:
        if (own && stream->config.role == IWARP_RESPONDER && stream->config.revision == MPA_REV_1 &&
            stream_behaves(stream, DEFECT_RES_IGNORED))
            return false;
        return own ||
               (mpa_start_get_Rev(mpa->start_octets) == MPA_REV_2 && stream_behaves(stream, DEFECT_WORD_BY_REVISION));
    case MPA_FRAME_WHOLE: return defect_start_whole(stream, own);
    case MPA_REJECTED: return own && !stream_behaves(stream, DEFECT_REJECT_IGNORED);
    case MPA_EXCESS_KEPT:
        return own && !stream_behaves(stream, DEFECT_EXCESS_DISCARDED) &&
               !stream_behaves(stream, DEFECT_PRIVATE_BESIDE_WORD);
    case MPA_NEXT_PARSED: return own && !stream_behaves(stream, DEFECT_ONE_FPDU_PER_INPUT);
    case MPA_INTO_PLACE: return false; /* seam_input() is to see all octets */
    case MPA_EARLY: return own && !stream_behaves(stream, DEFECT_EARLY_KEPT);
    case MPA_EARLY_BEGIN: return own || begins_with_fpdu(stream);
    default: return own;
    }
}

const struct mpa_fault_ops defect_mpa_ops = {
    .decide = decide,
    .start_frame = defect_start_packed,
    .fpdu_layout = defect_fpdu_layout,
    .fpdu_received = fpdu_received,
};
