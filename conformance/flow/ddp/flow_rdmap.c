/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ddp/flow_ddp.h"
#include "conformance/flow/ddp/flow_request.h"
#include "conformance/flow/ulp/flow_iser.h"
#include "conformance/flow/ulp/flow_nvme.h"
#include "conformance/flow/ulp/flow_rpcrdma.h"
#include "conformance/flow/ulp/flow_smbd.h"

#include <stdlib.h>
#include <string.h>

/* ---- state ------------------------------------------------------------------------------------------------------- */

void flow_rdmap_gap(struct flow *flow, enum flow_direction direction)
{
    struct flow_half *half = &flow->half[direction];

    for (unsigned i = 0; i < FLOW_QUEUES; i++) {
        half->queue[i].seen = false;
        half->queue[i].open = false;
        half->queue[i].octets = 0;
    }
    half->write.open = half->read_response.open = false;
    /* Requests may have been lost, or answers to the other side's. */
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        flow_requests_clear(&flow->half[i]);
        flow->half[i].requests_lost = true;
    }
}

void flow_rdmap_unordered(struct flow *flow)
{
    flow->unordered = true;
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        flow_requests_clear(&flow->half[i]);
        flow->half[i].requests_lost = true;
    }
}

static struct flow_tagged *tagged_of(struct flow_half *half, unsigned opcode)
{
    return opcode == IWARP_RDMAP_READ_RESPONSE ? &half->read_response : &half->write;
}

static void update_tagged(struct flow_tagged *tagged, const struct flow_ddp *ddp, uint64_t frame)
{
    const struct ddp_segment *segment = &ddp->segment;

    if (!tagged->open) {
        tagged->first_to = segment->to;
        tagged->octets = 0;
        tagged->first_frame = frame;
    }
    tagged->stag = segment->stag;
    tagged->next_to = segment->to + segment->payload_octets;
    tagged->octets += segment->payload_octets;
    tagged->open = !segment->last;
    tagged->messages += segment->last;
}

static void update_queue(struct flow_queue *queue, const struct flow_ddp *ddp, unsigned opcode, uint64_t frame)
{
    const struct ddp_segment *segment = &ddp->segment;

    if (!queue->open) {
        queue->opcode = (uint8_t)opcode;
        queue->stag = segment->ulp_word;
        queue->octets = 0;
        queue->first_frame = frame;
    }
    queue->seen = true;
    queue->octets += segment->payload_octets;
    queue->open = !segment->last;
    queue->messages += segment->last;
    queue->next_msn = segment->last ? segment->msn + 1 : segment->msn;
    queue->next_mo = segment->last ? 0 : segment->mo + (uint32_t)segment->payload_octets;
}

static void update(struct flow_common *common, struct flow *flow, const struct flow_event *event)
{
    const struct flow_ddp *ddp = event->ddp;
    const struct flow_rdmap *rdmap = event->rdmap;
    struct flow_half *half = &flow->half[event->direction];
    unsigned opcode = rdmap->message.opcode;

    flow_smbd_update(flow, event);
    flow_rpcrdma_update(flow, event);
    flow_iser_update(flow, event);
    flow_nvme_update(flow, event);
    flow_requests_update(flow, event);
    if (ddp->segment.tagged)
        update_tagged(tagged_of(half, opcode), ddp, event->frame);
    else if (ddp->segment.qn < FLOW_QUEUES)
        update_queue(&half->queue[ddp->segment.qn], ddp, opcode, event->frame);
    if (ddp->segment.last) {
        half->messages[opcode]++;
        common->totals.messages[opcode]++;
    }
    if (rdmap->header == FLOW_HEADER_TERMINATE && !half->terminated) {
        half->terminated = true;
        half->terminate_frame = event->frame;
        half->terminate_triple = rdmap->terminate.triple;
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The fixed header that stands at the beginning of the messages that have one. */
static void parse_header(const struct flow_ddp *ddp, struct flow_rdmap *rdmap)
{
    const uint8_t *p = ddp->segment.payload;
    const uint8_t *end = p + ddp->payload_have;

    switch (rdmap->message.opcode) {
    case IWARP_RDMAP_READ_REQUEST:
        rdmap->header = FLOW_HEADER_READ_REQUEST;
        rdmap->header_result = read_request_parse(&p, end, &rdmap->read_request);
        break;
    case IWARP_RDMAP_TERMINATE:
        rdmap->header = FLOW_HEADER_TERMINATE;
        rdmap->header_result = terminate_parse(&p, end, &rdmap->terminate);
        break;
    case IWARP_RDMAP_ATOMIC_REQUEST:
        rdmap->header = FLOW_HEADER_ATOMIC_REQUEST;
        rdmap->header_result = atomic_request_parse(&p, end, &rdmap->atomic_request);
        break;
    case IWARP_RDMAP_ATOMIC_RESPONSE:
        rdmap->header = FLOW_HEADER_ATOMIC_RESPONSE;
        rdmap->header_result = atomic_response_parse(&p, end, &rdmap->atomic_response);
        break;
    case IWARP_RDMAP_IMMEDIATE:
    case IWARP_RDMAP_IMMEDIATE_SE:
        rdmap->header = FLOW_HEADER_IMMEDIATE;
        if (ddp->payload_have < IWARP_IMMEDIATE_OCTETS)
            rdmap->header_result = WIRE_MORE;
        else
            rdmap->immediate = immediate_get_Data(p);
        break;
    default: return;
    }
    /* A header that is not there at all is no header; one that breaks off is reported as such. */
    if (rdmap->header_result == WIRE_MORE && rdmap->header != FLOW_HEADER_TERMINATE)
        rdmap->header = FLOW_HEADER_NONE;
}

static void parse_rdmap(const struct flow *flow, const struct flow_event *event, struct flow_rdmap *rdmap)
{
    const struct flow_ddp *ddp = event->ddp;
    const struct flow_half *half = &flow->half[event->direction];
    const struct flow_half *requester = &flow->half[flow_reverse(event->direction)];
    unsigned opcode;
    bool open = false;
    uint64_t before = 0;

    rdmap->header = FLOW_HEADER_NONE;
    rdmap->header_result = WIRE_OK;
    rdmap->request = NULL;
    rdmap->result = rdmap_parse(&ddp->segment, &rdmap->message);
    opcode = rdmap->message.opcode;
    if (ddp->segment.tagged) {
        const struct flow_tagged *tagged = opcode == IWARP_RDMAP_READ_RESPONSE ? &half->read_response : &half->write;

        open = tagged->open;
        before = tagged->octets;
    } else if (ddp->segment.qn < FLOW_QUEUES) {
        const struct flow_queue *queue = &half->queue[ddp->segment.qn];

        open = queue->open;
        before = queue->octets;
    }
    rdmap->first = !open;
    rdmap->last = ddp->segment.last;
    rdmap->message_octets = ddp->segment.payload_octets + (open ? before : 0);
    if (!ddp->segment.tagged && ddp->segment.mo == 0 && !rdmap->message.row->tagged)
        parse_header(ddp, rdmap);
    if (opcode == IWARP_RDMAP_READ_RESPONSE && ddp->segment.tagged) {
        rdmap->request = flow_request_of_response(half, requester, &ddp->segment, &rdmap->first);
        if (rdmap->request != NULL)
            rdmap->message_octets = ddp->segment.payload_octets + rdmap->request->answered;
    } else if (rdmap->header == FLOW_HEADER_ATOMIC_RESPONSE) {
        rdmap->request = flow_request_of_atomic(requester, rdmap->atomic_response.id);
    }
}

void flow_sent_grow(struct flow_half *half)
{
    enum { FIRST_ROOM = 2 }; /* many flows are short */
    uint32_t room = half->sent_room == 0 ? FIRST_ROOM : half->sent_room * 2;
    struct flow_sent *grown = realloc(half->sent, room * sizeof(*grown));

    if (grown == NULL) {
        out_of_memory_note();
        return;
    }
    half->sent = grown;
    half->sent_room = room;
}

/* What a Terminate may quote, and a retransmission is compared with. */
static void keep_sent(struct flow_half *half, const struct flow_event *event, unsigned flags)
{
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    struct flow_sent *sent = flow_sent_add(half);

    if (sent == NULL)
        return;
    sent->at = event->octet;
    sent->first_frame = event->first_frame;
    sent->frame = event->frame;
    sent->crc = ulpdu->mpa != NULL ? ulpdu->mpa->fpdu.crc : 0;
    sent->ulpdu_length = ulpdu->length;
    sent->flags = (uint8_t)(flags | (ulpdu->cut ? FLOW_SENT_CUT : 0));
    if (ulpdu->have >= FLOW_SENT_HEAD) {
        sent->head_octets = FLOW_SENT_HEAD;
        memcpy(sent->head, ulpdu->octets, FLOW_SENT_HEAD);
    } else {
        sent->head_octets = (uint8_t)ulpdu->have;
        memcpy(sent->head, ulpdu->octets, ulpdu->have);
    }
}

/* Nothing in the ULPDU can be used, so that the state of the messages of its sender is not known any more. */
static void lose_track(struct flow *flow, const struct flow_event *event, unsigned flags)
{
    flow->gap = true;
    flow_rdmap_gap(flow, event->direction);
    keep_sent(&flow->half[event->direction], event, flags);
}

void flow_rdmap_ulpdu(struct flow_common *common, struct flow *flow, struct flow_event *event)
{
    struct flow_half *half = &flow->half[event->direction];
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    const uint8_t *p = ulpdu->octets;
    struct flow_event segment, message;
    struct flow_rdmap rdmap;
    struct flow_ddp ddp;

    if (half->state_unverified && !ulpdu->unverified)
        flow_rdmap_gap(flow, event->direction);
    half->state_unverified = ulpdu->unverified;
    /* A receiver drops an FPDU with a bad CRC (RFC 5044 4.4), and which of its octets are wrong is not known. */
    if (ulpdu->result == TERM_MPA_CRC || ulpdu->framing_only) {
        flow_event_send(common, event);
        lose_track(flow, event, FLOW_SENT_BAD);
        return;
    }
    ddp.result = ddp_parse(&p, p + ulpdu->have, &ddp.segment);
    if (ddp.result == WIRE_MORE && ulpdu->cut) { /* the capture has too little of it: nothing can be said */
        flow_event_send(common, event);
        lose_track(flow, event, 0);
        return;
    }
    segment = *event;
    segment.kind = FLOW_DDP;
    segment.ddp = &ddp;
    event->next = &segment;
    ddp.payload_have = ddp.segment.payload_octets;
    if (ddp.result == WIRE_MORE) {
        flow_event_send(common, event);
        keep_sent(half, event, 0);
        return;
    }
    ddp.segment.payload_octets = ulpdu->length - ddp.segment.header_octets;
    common->totals.ddp_segments++;
    message = segment;
    message.kind = FLOW_RDMAP;
    message.rdmap = &rdmap;
    segment.next = &message;
    parse_rdmap(flow, &message, &rdmap);
    flow_rpcrdma_read(flow, &message, &rdmap.rpcrdma);
    flow_iser_read(flow, &message, &rdmap.iser);
    flow_nvme_read(flow, &message, &rdmap.nvme);
    if (rdmap.request != NULL && rdmap.first && rdmap.message.opcode == IWARP_RDMAP_READ_RESPONSE)
        flow_request_reread(&flow->half[flow_reverse(event->direction)], rdmap.request, &ddp.segment);
    flow_event_send(common, event);
    half->ddp_segments++;
    keep_sent(half, event, ulpdu->unverified ? 0 : FLOW_SENT_HEARD);
    update(common, flow, &message);
}
