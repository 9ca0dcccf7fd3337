/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults in what follows an error: the Terminate, and the end of the stream. */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"

/* --- The Terminate ----------------------------------------------------------------------------------------------- */

/* Which headers it quotes, as the flags of the set have it. */
static void change_quoted(const struct defect_set *set, struct terminate *terminate)
{
    static const uint8_t zeros[READ_REQUEST_OCTETS];

    if (defect_behaves(set, DEFECT_TERMINATE_BARE))
        terminate->m = terminate->d = terminate->r = false;
    if (defect_behaves(set, DEFECT_TERMINATE_READ_HEADER_NOT))
        terminate->r = false;
    if (terminate->d && defect_behaves(set, DEFECT_TERMINATE_LENGTH_PAYLOAD))
        terminate->ddp_segment_length = (uint16_t)(terminate->ddp_segment_length - terminate->ddp_header_octets);
    if (defect_behaves(set, DEFECT_TERMINATE_OPERATION_ZEROED) && terminate->d &&
        wire_error_layer(terminate->triple) == 0 && wire_error_etype(terminate->triple) == 2 &&
        (terminate->ddp_header[1] & 0xF) == RDMAP_READ_REQUEST) {
        terminate->r = true;
        terminate->rdmap_header = zeros;
        terminate->rdmap_header_octets = READ_REQUEST_OCTETS;
    }
    if (defect_behaves(set, DEFECT_TERMINATE_CATASTROPHE_QUOTES) && wire_error_layer(terminate->triple) == 0 &&
        wire_error_etype(terminate->triple) == 0) {
        terminate->m = terminate->d = true;
        terminate->ddp_segment_length = DDP_UNTAGGED_OCTETS;
        terminate->ddp_header = zeros;
        terminate->ddp_header_octets = DDP_UNTAGGED_OCTETS;
    }
}

/* Headers where none belong, or others. */
static void quote(const struct iwarp_stream *stream, const struct ddp_segment *segment, size_t segment_octets,
                  struct terminate *terminate)
{
    if (!terminate->d && segment->header != NULL && terminate->triple != TERM_DDP_CATASTROPHIC &&
        stream_behaves(stream, DEFECT_CATASTROPHE_QUOTES)) {
        terminate->m = terminate->d = true;
        terminate->ddp_segment_length = (uint16_t)segment_octets;
        terminate->ddp_header = segment->header;
        terminate->ddp_header_octets = segment->header_octets;
    }
    if (terminate->d && (segment->control & 0xF) == RDMAP_ATOMIC_REQUEST &&
        segment->payload_octets >= READ_REQUEST_OCTETS && stream_behaves(stream, DEFECT_TERMINATE_ATOMIC_HEADER)) {
        terminate->r = true;
        terminate->rdmap_header = segment->payload;
        terminate->rdmap_header_octets = READ_REQUEST_OCTETS;
    }
}

void hook_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment, size_t segment_octets,
                    struct terminate *terminate)
{
    if (segment != NULL)
        quote(stream, segment, segment_octets, terminate);
    change_quoted(stream_set(stream), terminate);
    if (segment != NULL)
        variant_terminate(stream, segment, terminate);
}

/* The Terminate as packed, `count` octets in room for TERMINATE_MAX. Returns its new count. */
static size_t change_octets(const struct defect_set *set, const struct terminate *terminate,
                            const struct ddp_segment *segment, uint8_t *octets, size_t count)
{
    uint8_t *header = octets + TERMINATE_OCTETS + TERMINATE_LENGTH_OCTETS;

    if (!terminate->d)
        return count;
    if (defect_behaves(set, DEFECT_TERMINATE_HOST_ORDER)) {
        uint8_t *last = header + terminate->ddp_header_octets - 4;

        octets_put32(last, (uint32_t)last[3] << 24 | (uint32_t)last[2] << 16 | (uint32_t)last[1] << 8 | last[0]);
    }
    if (defect_behaves(set, DEFECT_TERMINATE_SEGMENTS_MIXED) && !ddp_tagged_get_T(header) &&
        ddp_untagged_get_MO(header) != 0) {
        ddp_untagged_set_MO(header, 0);
        ddp_untagged_set_L(header, 0);
    }
    if (terminate->r && defect_behaves(set, DEFECT_TERMINATE_READ_SIZE_ZERO))
        octets_put32(header + terminate->ddp_header_octets + 12, 0);
    if (defect_behaves(set, DEFECT_TERMINATE_WITH_PAYLOAD) && !terminate->r && segment != NULL) {
        size_t room = TERMINATE_MAX - count;
        size_t more = segment->payload_octets < room ? segment->payload_octets : room;

        memcpy(octets + count, segment->payload, more);
        count += more;
    }
    if (defect_behaves(set, DEFECT_TERMINATE_PADDED)) {
        size_t kept = count < TERMINATE_MAX - 2 ? count : TERMINATE_MAX - 2;

        memmove(header + 2, header, kept - (size_t)(header - octets));
        memset(header, 0, 2);
        count = kept + 2;
    }
    if (terminate->r && defect_behaves(set, DEFECT_TERMINATE_READ_HEADER_CUT))
        count -= READ_REQUEST_OCTETS;
    if (defect_behaves(set, DEFECT_TERMINATE_HEADER_CUT))
        count = (size_t)(header - octets);
    return count;
}

void hook_terminate_packed(struct iwarp_stream *stream, const struct ddp_segment *segment,
                           const struct terminate *terminate)
{
    stream->terminate_octets =
        change_octets(stream_set(stream), terminate, segment, stream->terminate, stream->terminate_octets);
    variant_terminate_packed(stream, terminate);
    if (stream_behaves(stream, DEFECT_NO_TERMINATE))
        stream->terminate_octets = 0;
    if (stream_behaves(stream, DEFECT_TERMINATE_TWICE))
        stream->terminate_copies = 1;
}

/* --- What follows ------------------------------------------------------------------------------------------------ */

void hook_fail(struct iwarp_stream *stream, struct validation_outcome *outcome)
{
    bool local = outcome->entry == NULL && outcome->requirement == NULL && outcome->action == VALIDATION_TERMINATE;

    if (!stream->error_seen)
        stream_state(stream)->error = DEFECT_TRIPLE | ((uint32_t)outcome->error & 0xFFFF);
    if (stream->error_seen) {
        if (stream_behaves(stream, DEFECT_TERMINATE_LAST))
            stream_flush(stream); /* what was to go before the Terminate cannot */
        return;
    }
    if (!local || (outcome->error != TERM_DDP_CATASTROPHIC && outcome->error != TERM_RDMAP_CATASTROPHIC))
        return;
    if (stream_behaves(stream, DEFECT_CATASTROPHE_RESETS))
        outcome->action = VALIDATION_ABORT;
    if (outcome->error == TERM_DDP_CATASTROPHIC && stream_behaves(stream, DEFECT_CATASTROPHE_TYPE_1))
        outcome->error = TERM_DDP_INVALID_STAG;
}

bool hook_failed(struct iwarp_stream *stream, struct validation_outcome *outcome,
                 const struct validation_subject *subject)
{
    bool terminates = outcome->action == VALIDATION_TERMINATE && stream->segments_allowed;

    variant_failed(stream, outcome, subject);
    if (stream_behaves(stream, DEFECT_CONTINUE_AFTER_ERROR)) {
        terminate_about(stream, outcome->error, subject);
        stream->error_seen = false;
        return true;
    }
    if (stream->segments_allowed && stream_behaves(stream, DEFECT_TERMINATE_CUTS_FPDU))
        defect_fragment(stream);
    if (outcome->action == VALIDATION_REJECT)
        return false;
    if (stream->state == IWARP_STATE_STARTUP && stream_behaves(stream, DEFECT_START_ERROR_TERMINATES)) {
        if (stream->llp == &mpa_llp)
            mpa_of(stream)->crc = stream->config.crc;
        terminate_queue(stream, outcome->error, NULL, 0, NULL);
        outcome->action = terminates ? VALIDATION_CLOSE : outcome->action;
    } else if (stream_behaves(stream, DEFECT_CLOSE_NEVER) || stream_behaves(stream, DEFECT_CLOSE_NOT_AT_ALL)) {
        if (terminates)
            terminate_about(stream, outcome->error, subject);
        outcome->action = VALIDATION_HANG;
    } else if (outcome->action != VALIDATION_HANG && stream_behaves(stream, DEFECT_ABORT_ON_ERROR)) {
        outcome->action = VALIDATION_ABORT;
    }
    return false;
}
