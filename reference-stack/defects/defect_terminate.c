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
        (terminate->ddp_header[1] & 0xF) == IWARP_RDMAP_READ_REQUEST) {
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
    if (terminate->d && (segment->control & 0xF) == IWARP_RDMAP_ATOMIC_REQUEST &&
        segment->payload_octets >= READ_REQUEST_OCTETS && stream_behaves(stream, DEFECT_TERMINATE_ATOMIC_HEADER)) {
        terminate->r = true;
        terminate->rdmap_header = segment->payload;
        terminate->rdmap_header_octets = READ_REQUEST_OCTETS;
    }
}

/* The Terminate as packed, `count` octets in room for IWARP_TERMINATE_MAX. Returns its new count. */
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
        size_t room = IWARP_TERMINATE_MAX - count;
        size_t more = segment->payload_octets < room ? segment->payload_octets : room;

        memcpy(octets + count, segment->payload, more);
        count += more;
    }
    if (defect_behaves(set, DEFECT_TERMINATE_PADDED)) {
        size_t kept = count < IWARP_TERMINATE_MAX - 2 ? count : IWARP_TERMINATE_MAX - 2;

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

/* What a sum is in which the low half carries nothing into the high half. */
static uint64_t without_carry(uint64_t before, uint64_t sum)
{
    return (before & ~(uint64_t)UINT32_MAX) | (sum & UINT32_MAX);
}

static void change_late(const struct iwarp_stream *stream, const struct inbound_request *request,
                        struct read_request *rest)
{
    if (stream_behaves(stream, DEFECT_LATE_SINK_STAG))
        rest->sink_stag = rest->source_stag;
    if (stream_behaves(stream, DEFECT_LATE_SINK_TO))
        rest->sink_to = request->read.sink_to;
    if (stream_behaves(stream, DEFECT_LATE_SINK_CARRY))
        rest->sink_to = without_carry(request->read.sink_to, rest->sink_to);
    if (stream_behaves(stream, DEFECT_LATE_SOURCE_CARRY))
        rest->source_to = without_carry(request->read.source_to, rest->source_to);
    if (stream_behaves(stream, DEFECT_LATE_SIZE))
        rest->octets = (uint32_t)request->sent;
    if (stream_behaves(stream, DEFECT_LATE_SOURCE_STAG))
        rest->source_stag = 0;
    if (stream_behaves(stream, DEFECT_LATE_SOURCE_TO))
        rest->source_to = request->read.source_to;
}

/*
 * The Read Request Header that is quoted of a Read whose Response failed: the oldest one's, with what is left of it
 * (RFC 5040 4.8).
 */
static void quote_late(struct iwarp_stream *stream, const struct ddp_segment *segment, struct terminate *terminate)
{
    const struct inbound_request *request = ring_at(&stream->inbound.requests, 0);
    const struct inbound_request *quoted;
    struct defect_state *state = stream_state(stream);
    const uint8_t *p = segment->payload;
    struct read_request rest;

    if (request == NULL || request->is_atomic || segment->header == NULL ||
        segment->payload_octets != READ_REQUEST_OCTETS ||
        memcmp(segment->header, request->header, sizeof(request->header)) != 0)
        return;
    (void)read_request_parse(&p, p + READ_REQUEST_OCTETS, &rest);
    change_late(stream, request, &rest);
    quoted = state_message_quoted(stream, request);
    if (quoted != request)
        rest = quoted->read;
    read_request_pack(&rest, state->quoted);
    if (terminate->rdmap_header == segment->payload)
        terminate->rdmap_header = state->quoted;
}

size_t seam_terminate(struct iwarp_stream *stream, struct terminate *terminate, const struct ddp_segment *segment,
                      size_t segment_octets)
{
    size_t count;

    if (segment != NULL) {
        quote(stream, segment, segment_octets, terminate);
        quote_late(stream, segment, terminate);
        state_stream_terminate(stream, segment, terminate);
    }
    change_quoted(stream_set(stream), terminate);
    if (segment != NULL)
        variant_terminate(stream, segment, terminate);
    count = terminate_pack(terminate, stream->end.terminate, sizeof(stream->end.terminate));
    count = change_octets(stream_set(stream), terminate, segment, stream->end.terminate, count);
    count = variant_terminate_packed(stream, terminate, count);
    return stream_behaves(stream, DEFECT_NO_TERMINATE) ? 0 : count;
}

/* --- What follows ------------------------------------------------------------------------------------------------ */

static void fails(struct iwarp_stream *stream, struct validation_outcome *outcome)
{
    bool local = outcome->entry == NULL && outcome->requirement == NULL && outcome->action == VALIDATION_TERMINATE;

    if (!stream->end.error_seen)
        variant_sctp_fail(stream, outcome);
    if (!stream->end.error_seen)
        state_stream_fails(stream, outcome);
    if (!stream->end.error_seen)
        stream_state(stream)->error = DEFECT_TRIPLE | ((uint32_t)outcome->error & 0xFFFF);
    if (stream->end.error_seen) {
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

static bool failed(struct iwarp_stream *stream, struct validation_outcome *outcome,
                   const struct validation_subject *subject)
{
    bool terminates = outcome->action == VALIDATION_TERMINATE && stream->outbound.segments_allowed;

    variant_failed(stream, outcome, subject);
    if (stream_behaves(stream, DEFECT_CONTINUE_AFTER_ERROR)) {
        terminate_about(stream, outcome->error, subject);
        stream->end.error_seen = false;
        return true;
    }
    if (stream->outbound.segments_allowed && stream_behaves(stream, DEFECT_TERMINATE_CUTS_FPDU))
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

bool seam_fail(struct iwarp_stream *stream, struct validation_outcome *outcome,
               const struct validation_subject *subject, bool reported)
{
    if (reported)
        return failed(stream, outcome, subject);
    fails(stream, outcome);
    return false;
}
