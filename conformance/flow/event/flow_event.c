/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/event/flow_common.h"

const char *flow_reason_text(enum flow_reason reason)
{
    static const char *const texts[FLOW_REASON_COUNT] = {
        [FLOW_REASON_START_MALFORMED] = "the start-up frame is malformed, so the octets after it cannot be decoded",
        [FLOW_REASON_REJECTED] = "the connection was rejected (R=1), so the octets after it belong to the ULP",
        [FLOW_REASON_SYNC_LOST] = "the FPDU boundary was lost; the decoder searches for the next FPDU",
        [FLOW_REASON_ONE_WAY] =
            "the other side's start-up frame is missing; the stream shows whether Markers and CRC are in use",
        [FLOW_REASON_LATE] =
            "the capture begins in mid-stream; decoding starts at the first FPDU that could be verified",
        [FLOW_REASON_NO_FPDU] = "no FPDU was found in this direction",
        [FLOW_REASON_STREAMING] = "octets of the ULP come before the start-up frame",
        [FLOW_REASON_NO_MEMORY] = "the decoder has no memory for this direction",
        [FLOW_REASON_EVICTED] = "more connections are open than the decoder can follow",
        [FLOW_REASON_DROPPED] = "the capture lost frames, and nobody knows of which connections",
        [FLOW_REASON_IDLE] = "nothing came for longer than an idle connection is followed",
        [FLOW_REASON_CHECKSUM] = "the SCTP packet's checksum is wrong: a receiver drops it",
        [FLOW_REASON_MESSAGE_SHORT] = "the user message is too short for its DDP-SSN",
        [FLOW_REASON_MESSAGE_LONG] = "fragments of a user message that is incomplete, or longer than a DDP Segment",
        [FLOW_REASON_SSN_AGAIN] = "another user message with that DDP-SSN came before",
        [FLOW_REASON_CONFLICT] =
            "octets were sent again with different contents; it is unknown which ones the receiver accepted",
        [FLOW_REASON_REFUSED] = "the receiver's TCP does not accept this segment",
        [FLOW_REASON_URGENT] = "urgent octets: some TCPs remove them from the stream",
        [FLOW_REASON_STRANGER] =
            "the SCTP packet's addresses or Verification Tag are not the association's: a receiver drops it",
        [FLOW_REASON_CHUNK_UNKNOWN] = "a receiver does not read the packet's rest after this chunk",
        [FLOW_REASON_CHUNK] =
            "the chunk's length contradicts the packet's length; the rest of the packet is not decoded",
    };

    return (unsigned)reason < FLOW_REASON_COUNT ? texts[reason] : "";
}

void flow_event_send(struct flow_common *common, const struct flow_event *event)
{
    if (common->sink != NULL && event->flow != NULL)
        common->sink(common->ctx, event);
}

void flow_dropped(struct flow_common *common, struct flow *flow)
{
    if (flow == NULL)
        return;
    flow->gap = true;
    for (unsigned direction = 0; direction < FLOW_DIRECTIONS; direction++) {
        struct flow_event event = {.kind = FLOW_UNDECODED,
                                   .direction = (enum flow_direction)direction,
                                   .flow = flow,
                                   .frame = flow->last_frame,
                                   .first_frame = flow->last_frame,
                                   .time_ns = flow->last_ns,
                                   .reason = FLOW_REASON_DROPPED};

        flow_event_send(common, &event);
    }
}

const struct wire_layout *flow_header_layout(enum flow_header header)
{
    switch (header) {
    case FLOW_HEADER_READ_REQUEST: return &read_request_layout;
    case FLOW_HEADER_TERMINATE: return &terminate_layout;
    case FLOW_HEADER_ATOMIC_REQUEST: return &atomic_request_layout;
    case FLOW_HEADER_ATOMIC_RESPONSE: return &atomic_response_layout;
    case FLOW_HEADER_IMMEDIATE: return &immediate_layout;
    default: return NULL;
    }
}
