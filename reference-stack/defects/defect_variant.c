/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal behaviour of another kind than the stack's own: variants.tsv says which requirement allows it. */
#include <string.h>

#include "reference-stack/defects/defect_judge.h"
#include "reference-stack/defects/defect_stream.h"
#include "wire/depth.h"

#define MILLISECOND UINT64_C(1000000)

enum { TIMESTAMPS = 12 /* option and its padding */ };

/* --- Start-up ----------------------------------------------------------------------------------------------------- */

void variant_startup_begins(struct iwarp_stream *stream)
{
    struct iwarp_stream_config *config = &stream->config;

    if (config->role == IWARP_RESPONDER) {
        config->crc = config->crc || stream_behaves(stream, DEFECT_REPLY_CRC_ALWAYS);
        config->markers = config->markers || stream_behaves(stream, DEFECT_REPLY_MARKERS_ALWAYS);
        return;
    }
    config->crc = config->crc || stream_behaves(stream, DEFECT_REQUEST_CRC_ALWAYS);
    config->markers = config->markers || stream_behaves(stream, DEFECT_REQUEST_MARKERS_ALWAYS);
    if (!config->enhanced && config->revision == MPA_REV_1 && stream_behaves(stream, DEFECT_REQUEST_PLAIN_REVISION_2))
        config->revision = MPA_REV_2;
}

void variant_start_packed(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start, uint8_t *octets)
{
    if (start->kind == IWARP_MPA_REPLY && start->revision == MPA_REV_2 && !start->enhanced &&
        (stream_behaves(stream, DEFECT_REPLY_PLAIN_REVISION_1) ||
         (stream->config.revision == MPA_REV_1 && stream_behaves(stream, DEFECT_RES_IGNORED))))
        mpa_start_set_Rev(octets, MPA_REV_1);
}

void variant_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer)
{
    unsigned asked = peer->ord > 1 ? peer->ord : 1;

    if (peer->ord != DEPTH_NOT_NEGOTIATED && stream->agreed.reply_ird > asked &&
        stream_behaves(stream, DEFECT_REPLY_IRD_AS_ASKED))
        stream->agreed.reply_ird = (uint16_t)asked;
    if (stream->agreed.reply_ird != DEPTH_NOT_NEGOTIATED && stream_behaves(stream, DEFECT_REPLY_IRD_MORE))
        stream->agreed.reply_ird = (uint16_t)stream->device->config.ird_max;
    if (stream->agreed.reply_ord > 1 && stream->agreed.reply_ord != DEPTH_NOT_NEGOTIATED &&
        stream_behaves(stream, DEFECT_REPLY_ORD_LESS))
        stream->agreed.reply_ord = 1;
}

enum iwarp_rtr variant_rtr(const struct iwarp_stream *stream, enum iwarp_rtr kind)
{
    if ((stream->agreed.terms.rtr & IWARP_RTR_SEND) != 0 && stream_behaves(stream, DEFECT_RTR_SEND_FIRST))
        return IWARP_RTR_SEND;
    if ((stream->agreed.terms.rtr & IWARP_RTR_READ) != 0 && stream_behaves(stream, DEFECT_RTR_READ_FIRST))
        return IWARP_RTR_READ;
    return kind;
}

/* --- Segments ----------------------------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Is the next segment the first of its message, is it tagged, and how many octets are left of it? */
static uint64_t place_of(const struct iwarp_stream *stream, bool *first, bool *tagged)
{
    const struct send_work *work = ring_at(&stream->outbound.work, stream->outbound.work_sent);
    const struct inbound_request *request = ring_at(&stream->inbound.requests, 0);

    if (transmit_choose(stream) == TRANSMIT_WORK) {
        *first = stream->outbound.work_offset == 0;
        *tagged = work != NULL && work->kind == IWARP_WORK_WRITE;
        return work != NULL ? work->count - stream->outbound.work_offset : 0;
    }
    *first = request == NULL || request->sent == 0;
    *tagged = true;
    return request != NULL ? request->read.octets - request->sent : 0;
}

size_t variant_segment_room(const struct iwarp_stream *stream, size_t room)
{
    bool first, tagged;
    uint64_t left = place_of(stream, &first, &tagged);

    if (stream_behaves(stream, DEFECT_SEGMENTS_512))
        room = least(room, 512);
    if (stream_behaves(stream, DEFECT_SEGMENTS_333))
        room = least(room, 333);
    if (stream_behaves(stream, DEFECT_SEGMENTS_64))
        room = least(room, 64);
    if (stream_behaves(stream, tagged ? DEFECT_SEGMENTS_1024_TAGGED : DEFECT_SEGMENTS_1024_UNTAGGED) ||
        (!tagged && stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS)))
        room = least(room, 1024);
    /* Untagged segments that go out backwards are of one size (variant_work_backwards()). */
    if (first && left > room && stream_behaves(stream, DEFECT_SEGMENT_FIRST_1) &&
        (tagged || !stream_behaves(stream, DEFECT_SEGMENTS_BACKWARDS)))
        room = 1;
    if (stream->counters.fpdus_sent % 2 != 0 && room > 1 && stream_behaves(stream, DEFECT_SEGMENTS_UNEVEN))
        room /= 2;
    if (room >= 256 && stream_behaves(stream, DEFECT_SEGMENTS_256))
        room &= ~(size_t)255;
    return tagged ? room : variant_backwards_room(stream, first, left, room);
}

void variant_work_segment(struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment,
                          uint8_t *header)
{
    enum { SOURCE_AT = READ_REQUEST_OCTETS - 12 };

    variant_work_backwards(stream, work, segment);

    if (work->kind == IWARP_WORK_WRITE && work->count == 0 && stream_behaves(stream, DEFECT_EMPTY_WRITE_ANY)) {
        segment->stag = UINT32_MAX;
        segment->to = UINT64_MAX;
    }
    if (work->kind == IWARP_WORK_READ && work->count == 0 && stream_behaves(stream, DEFECT_EMPTY_READ_ANY))
        memset(header + SOURCE_AT, 0xFF, READ_REQUEST_OCTETS - SOURCE_AT);
    if (work->kind == IWARP_WORK_ATOMIC && work->atomic.opcode == IWARP_ATOMIC_SWAP &&
        stream_behaves(stream, DEFECT_ATOMIC_SWAP_MASK_ZERO))
        atomic_request_set_Mask(header, 0);
}

size_t variant_mulpdu(const struct iwarp_stream *stream, size_t mulpdu)
{
    return mulpdu > 256 && stream_behaves(stream, DEFECT_MULPDU_WITHOUT_OPTIONS) ? mulpdu - TIMESTAMPS : mulpdu;
}

/* --- Order and time ----------------------------------------------------------------------------------------------- */

void defect_wake_at(struct iwarp_stream *stream, uint64_t when)
{
    struct defect_state *state = stream_state(stream);

    if (state->wake_at <= stream->now || when < state->wake_at)
        state->wake_at = when;
}

void variant_output(struct iwarp_stream *stream)
{
    struct defect_state *state = stream_state(stream);

    variant_segments_go_on(stream);
    if (stream_behaves(stream, DEFECT_SENDS_LATE)) {
        bool waits = stream->outbound.work.count > stream->outbound.work_sent && stream->state != IWARP_STATE_STARTUP;

        if (waits && state->work_due == 0)
            state->work_due = stream->now + 200 * MILLISECOND;
        if (waits && stream->now < state->work_due)
            defect_wake_at(stream, state->work_due);
        if (!waits)
            state->work_due = 0;
    }
    if (stream->inbound.requests.count == 0 || !stream_behaves(stream, DEFECT_RESPONSES_LATE))
        return;
    if (state->response_due == 0)
        state->response_due = stream->now + 200 * MILLISECOND;
    if (stream->now < state->response_due)
        defect_wake_at(stream, state->response_due);
}

bool variant_piece_waits(struct iwarp_stream *stream)
{
    struct defect_state *state = stream_state(stream);

    if (stream->outbound.piece.segment ||
        !stream_behaves(stream, stream->config.role == IWARP_RESPONDER ? DEFECT_REPLY_LATE : DEFECT_REQUEST_LATE))
        return false;
    if (state->reply_due == 0)
        state->reply_due = stream->now + 1000 * MILLISECOND;
    if (stream->now >= state->reply_due)
        return false;
    defect_wake_at(stream, state->reply_due);
    return true;
}

void variant_response_done(struct iwarp_stream *stream)
{
    stream_state(stream)->response_due = 0;
}

void variant_choose(const struct iwarp_stream *stream, const struct send_work *work, bool *own, bool *response)
{
    const struct defect_state *state = stream_state(stream);
    bool request = work != NULL && (work->kind == IWARP_WORK_READ || work->kind == IWARP_WORK_ATOMIC);

    if (request && !work->internal && stream->counters.reads_outstanding != 0 &&
        stream_behaves(stream, DEFECT_READS_ONE_BY_ONE))
        *own = false;
    if (request && !work->internal && stream->counters.reads_outstanding > 1 &&
        stream_behaves(stream, DEFECT_READS_IN_PAIRS))
        *own = false;
    if (stream_behaves(stream, DEFECT_SENDS_LATE) && stream->outbound.source == TRANSMIT_NONE &&
        (state->work_due == 0 || stream->now < state->work_due))
        *own = false;

    if (stream_behaves(stream, DEFECT_RESPONSES_LATE) && stream->outbound.source == TRANSMIT_NONE &&
        (state->response_due == 0 || stream->now < state->response_due))
        *response = false;
    if (*own && *response && stream->outbound.source == TRANSMIT_NONE) {
        *own = !stream_behaves(stream, DEFECT_RESPONSES_FIRST);
        *response = !stream_behaves(stream, DEFECT_OWN_WORK_FIRST);
    }
}

bool variant_terminate_waits(struct iwarp_stream *stream)
{
    bool waits = stream->now < stream_state(stream)->terminate_at;

    if (waits)
        defect_wake_at(stream, stream_state(stream)->terminate_at);
    return waits;
}

/* --- Errors and the end ------------------------------------------------------------------------------------------- */

void variant_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment,
                       struct terminate *terminate)
{
    static const uint8_t zeros[READ_REQUEST_OCTETS];
    bool operation = wire_error_layer(terminate->triple) == 0 && wire_error_etype(terminate->triple) == 2;

    if (stream_behaves(stream, DEFECT_TERMINATES_BARE))
        terminate->m = terminate->d = terminate->r = false;
    if (!terminate->d)
        return;
    if (operation && (segment->control & 0xF) == IWARP_RDMAP_READ_REQUEST &&
        segment->payload_octets == READ_REQUEST_OCTETS && stream_behaves(stream, DEFECT_TERMINATE_OPERATION_READ)) {
        terminate->r = true;
        terminate->rdmap_header = segment->payload;
    }
    if (terminate->triple == TERM_RDMAP_PROTECTION_INVALIDATE &&
        stream_behaves(stream, DEFECT_TERMINATE_INVALIDATE_ZEROS)) {
        terminate->r = true;
        terminate->rdmap_header = zeros;
    }
    if (operation && stream_behaves(stream, DEFECT_TERMINATE_OPERATION_BARE))
        terminate->m = terminate->d = terminate->r = false;
}

/* A segment of an untagged message was placed: the first one is kept until the message is over. */
void variant_placed(struct iwarp_stream *stream, const struct ddp_segment *segment)
{
    struct defect_state *state = stream_state(stream);

    if (segment->tagged || segment->mo != 0)
        return;
    state->first_octets = segment->last ? 0 : segment->header_octets + segment->payload_octets;
    if (!segment->last)
        memcpy(state->first, segment->header, sizeof(state->first));
}

static void quote_first(struct iwarp_stream *stream, const struct terminate *terminate)
{
    const struct defect_state *state = stream_state(stream);
    uint8_t *length = stream->end.terminate + TERMINATE_OCTETS;
    uint8_t *header = length + TERMINATE_LENGTH_OCTETS;

    if (state->first_octets == 0 || wire_error_layer(terminate->triple) != 0 || ddp_tagged_get_T(header) ||
        ddp_untagged_get_MO(header) == 0 || ddp_untagged_get_MSN(header) != ddp_untagged_get_MSN(state->first))
        return;
    octets_put16(length, (uint16_t)state->first_octets);
    memcpy(header, state->first, sizeof(state->first));
}

/* RFC 5040 7.1 (2): "set to zero" may be read as a field that is there. */
size_t variant_terminate_packed(struct iwarp_stream *stream, const struct terminate *terminate, size_t count)
{
    if (terminate->d && stream_behaves(stream, DEFECT_TERMINATE_FIRST_SEGMENT))
        quote_first(stream, terminate);
    if (!terminate->d || terminate->r || count + READ_REQUEST_OCTETS > IWARP_TERMINATE_MAX ||
        !stream_behaves(stream, DEFECT_TERMINATE_RDMA_ZEROS))
        return count;
    memset(stream->end.terminate + count, 0, READ_REQUEST_OCTETS);
    return count + READ_REQUEST_OCTETS;
}

void variant_failed(struct iwarp_stream *stream, struct validation_outcome *outcome,
                    const struct validation_subject *subject)
{
    bool terminates = outcome->action == VALIDATION_TERMINATE;

    if (outcome->entry != NULL && subject != NULL && subject->start != NULL &&
        stream_behaves(stream, DEFECT_OLD_WORD_REJECTED) && variant_word_at_revision_1(subject))
        outcome->action = VALIDATION_REJECT;
    if (terminates && stream->state == IWARP_STATE_FENCED && stream_behaves(stream, DEFECT_FENCE_TERMINATES))
        stream->outbound.segments_allowed = true;

    bool negotiation = stream->state == IWARP_STATE_STARTUP || wire_error_layer(outcome->error) == 2;

    /* RFC 6581 9.1 and 9.2 want the initiator to close after its Terminate. */
    if (terminates && stream->outbound.segments_allowed && !negotiation && stream->config.teardown_delay == 0 &&
        stream_behaves(stream, DEFECT_TERMINATE_WAITS_FOR_FIN)) {
        terminate_about(stream, outcome->error, subject);
        outcome->action = VALIDATION_HANG;
    }
    if (terminates && stream->inbound.requests.count == 0 && outcome->entry != NULL &&
        stream_behaves(stream, DEFECT_TERMINATE_LATE))
        stream_state(stream)->terminate_at = stream->now + 50 * MILLISECOND;
    if (terminates && stream_behaves(stream, DEFECT_TERMINATE_ABORTS) && stream->config.teardown_delay == 0)
        stream->config.teardown_delay = 500 * MILLISECOND;
    if (terminates && stream_behaves(stream, DEFECT_TEARDOWN_LATE) && stream->config.teardown_delay == 0)
        stream->config.teardown_delay = 500 * MILLISECOND;
}

void variant_fin(struct iwarp_stream *stream)
{
    if (stream->end.error_seen && stream_behaves(stream, DEFECT_TERMINATE_WAITS_FOR_FIN))
        stream->end.close_wanted = true;
}

/* What goes out late is not sent yet, although its turn has not come (transmit_pending() asks for the turn). */
static bool holds_back(const struct iwarp_stream *stream)
{
    return (stream->outbound.work.count > stream->outbound.work_sent && stream_behaves(stream, DEFECT_SENDS_LATE)) ||
           (stream->inbound.requests.count != 0 && stream_behaves(stream, DEFECT_RESPONSES_LATE));
}

/* All is sent, and the stream is about to close. True: not yet. */
bool variant_all_sent(struct iwarp_stream *stream)
{
    if (stream->outbound.segments_allowed && !stream->end.error_seen && holds_back(stream))
        return true;
    if (stream->end.terminate_sent && stream_behaves(stream, DEFECT_TERMINATE_ABORTS))
        stream->end.abort_wanted = true;
    if (!stream->end.fin_received || !stream->outbound.segments_allowed || stream->end.error_seen ||
        stream->end.terminate_sent || stream->end.terminate_received || !stream_behaves(stream, DEFECT_FIN_REPORTED))
        return false;
    terminate_queue(stream, TERM_MPA_CONNECTION_LOST, NULL, 0, NULL);
    return true;
}

void variant_posted(struct iwarp_stream *stream)
{
    if (stream_behaves(stream, DEFECT_ATOMIC_IDS_FROM_END) && stream->outbound.atomic_ids < UINT16_MAX &&
        stream->counters.reads_outstanding == 0 && stream->outbound.atomic_ids == 0)
        stream->outbound.atomic_ids = UINT32_MAX - 1;
    if (stream_behaves(stream, DEFECT_ATOMIC_IDS_SAME))
        stream->outbound.atomic_ids = 6;
}
