/* SPDX-License-Identifier: BSD-2-Clause */
#include "iwarp/instrument.h"

#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"

void iwarp_stream_ddp(const struct iwarp_stream *stream, struct iwarp_ddp_state *state)
{
    enum iwarp_llp_state llp;
    bool graceful;

    if (state == NULL)
        return;
    if (stream == NULL) {
        *state = (struct iwarp_ddp_state){.llp = IWARP_LLP_GRACEFUL};
        return;
    }
    graceful = stream->end.fin_received || stream->end.close_wanted;
    llp = stream->end.error_seen ? IWARP_LLP_ERRONEOUS : graceful ? IWARP_LLP_GRACEFUL : IWARP_LLP_OK;
    *state = (struct iwarp_ddp_state){
        .llp = (enum iwarp_llp_state)SEAM_NUMBER(stream, NUMBER_LLP_STATE, llp),
        .send_msn = stream->inbound.queues[DDP_QN_SEND].msn_next,
        .receive_msn = stream->inbound.queues[DDP_QN_SEND].msn_expected,
        .system_faults = (unsigned)SEAM_NUMBER(stream, NUMBER_SYSTEM_FAULTS, stream->instruments.system_faults),
    };
}

void iwarp_stream_set_msn(struct iwarp_stream *stream, uint32_t send, uint32_t receive)
{
    if (stream == NULL)
        return;
    stream->inbound.queues[DDP_QN_SEND].msn_next = send;
    stream->inbound.queues[DDP_QN_SEND].msn_expected = receive;
}

int iwarp_stream_set_pd(struct iwarp_stream *stream, uint32_t pd, struct iwarp_sentence *sentence)
{
    if (stream == NULL)
        return misuse_null(sentence, "set_pd", "a stream");
    if (SEAM_DECIDE(stream, DECIDE_DOMAIN_KEPT, stream->established))
        return iwarp_sentence_set(sentence, "stream: it is established, and keeps its Protection Domain %u",
                                  (unsigned)stream->config.pd);
    stream->config.pd = pd;
    return 0;
}

void iwarp_stream_set_mulpdu(struct iwarp_stream *stream, size_t mulpdu)
{
    if (stream == NULL || (mulpdu != 0 && (mulpdu < IWARP_MULPDU_MIN || mulpdu > IWARP_MULPDU_MAX)))
        return;
    stream->instruments.mulpdu_given = mulpdu;
}

void iwarp_stream_hold_responses(struct iwarp_stream *stream, bool hold)
{
    if (stream == NULL)
        return;
    stream->instruments.responses_held = hold;
    stream_progress(stream);
}

void iwarp_stream_catastrophe(struct iwarp_stream *stream, enum iwarp_catastrophe kind, uint64_t now)
{
    wire_result error = kind == IWARP_CATASTROPHE_DDP ? TERM_DDP_CATASTROPHIC : TERM_RDMAP_CATASTROPHIC;

    if (stream == NULL ||
        (kind != IWARP_CATASTROPHE_DDP && kind != IWARP_CATASTROPHE_RDMAP && kind != IWARP_CATASTROPHE_RESPONSE))
        return;
    stream->now = now;
    if (kind == IWARP_CATASTROPHE_RESPONSE) {
        stream->instruments.catastrophe_due = true;
        return;
    }
    stream_fail_with(stream, NULL, error, VALIDATION_TERMINATE, "a local catastrophic error");
    stream_progress(stream);
}

bool iwarp_stream_trace(struct iwarp_stream *stream, struct iwarp_trace *record)
{
    const struct iwarp_trace *oldest;

    if (stream == NULL || record == NULL)
        return false;
    oldest = ring_at(&stream->instruments.trace, 0);
    stream->instruments.traced = true;
    if (oldest == NULL)
        return false;
    *record = *oldest;
    ring_pop(&stream->instruments.trace);
    return true;
}

void instrument_record(struct iwarp_stream *stream, enum iwarp_trace_kind kind, const struct ddp_segment *segment,
                       uint64_t octets)
{
    struct iwarp_trace *record =
        stream->instruments.trace.count < IWARP_TRACE_MAX ? ring_push(&stream->instruments.trace) : NULL;

    if (record == NULL)
        return;
    *record = (struct iwarp_trace){
        .kind = kind,
        .tagged = segment->tagged,
        .opcode = segment->control & 0xF,
        .octets = octets,
    };
    if (segment->tagged) {
        record->stag = segment->stag;
        if (kind == IWARP_TRACE_DELIVERED)
            record->stag = (uint32_t)SEAM_NUMBER(stream, NUMBER_DELIVERED_STAG, segment->stag);
        record->offset = segment->to;
    } else {
        record->qn = segment->qn;
        record->msn = segment->msn;
        record->offset = segment->mo;
    }
}
