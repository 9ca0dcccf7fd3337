/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_nvme.h"

#include <stdlib.h>

#include "base/out_of_memory.h"
#include "conformance/flow/ulp/flow_buffers.h"
#include "conformance/flow/ulp/flow_ulp_send.h"

/* In one piece, so that free() of the first member frees all. */
struct whole {
    struct flow_ulp ulp;
    struct flow_nvme nvme;
    struct flow_buffers buffers;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void read_octets(const struct flow_event *event, struct flow_nvme_message *message)
{
    const uint8_t *p = event->ddp->segment.payload;
    size_t have = event->ddp->payload_have;
    bool commands = event->direction == FLOW_FROM_INITIATOR;

    *message = (struct flow_nvme_message){.kind = FLOW_NVME_SHORT};
    if (have < (commands ? NVME_COMMAND_OCTETS : NVME_RESPONSE_OCTETS))
        return;
    if (commands) {
        message->kind = FLOW_NVME_COMMAND;
        message->opcode = p[0];
        message->flags = p[1];
        message->cid = (uint16_t)nvme_command_get_CID(p);
        nvme_descriptor_read(p + NVME_DESCRIPTOR_AT, &message->data);
    } else {
        message->kind = FLOW_NVME_RESPONSE;
        message->cid = (uint16_t)nvme_response_get_CID(p);
        message->head = (uint16_t)nvme_response_get_SQHD(p);
        message->status = (uint16_t)nvme_response_get_Status(p);
    }
}

/* The Initiator's first Send is a Connect command of the queue that its Private Data names. */
static bool is_sure(const struct flow_event *event, struct nvme_private *said)
{
    const struct flow_start *start = flow_start_of(event->flow, FLOW_FROM_INITIATOR);
    const uint8_t *data;
    size_t count = 0;

    if (event->direction != FLOW_FROM_INITIATOR || !event->flow->roles_known || event->flow->late ||
        event->ddp->segment.msn > FLOW_FIRST_MSN_MAX || event->ddp->payload_have < NVME_COMMAND_OCTETS ||
        start == NULL || start->result != WIRE_OK || flow_is_unmatched(event->flow))
        return false;
    data = start->frame.private_octets != 0 && start->frame.private_data != NULL
               ? iwarp_mpa_start_ulp_data(&start->frame, &count)
               : NULL;
    return data != NULL && nvme_private_read(data, count, said) &&
           nvme_is_connect(event->ddp->segment.payload, said->qid);
}

static void begin(struct flow *flow, const struct flow_event *event, const struct nvme_private *said)
{
    const uint8_t *connect = event->ddp->segment.payload;
    struct whole *whole = calloc(1, sizeof(*whole));

    if (whole == NULL) {
        out_of_memory_note();
        return;
    }
    whole->ulp = (struct flow_ulp){.kind = FLOW_ULP_NVME, .nvme = &whole->nvme, .buffers = &whole->buffers};
    whole->nvme.frame = event->frame;
    whole->nvme.said = *said;
    whole->nvme.entries = (uint32_t)nvme_connect_size(connect) + 1;
    whole->nvme.by_head = (nvme_connect_attributes(connect) & NVME_FLOW_CONTROL_OFF) == 0;
    flow->ulp = &whole->ulp;
}

void flow_nvme_read(struct flow *flow, const struct flow_event *event, struct flow_nvme_message *message)
{
    struct nvme_private said;

    message->kind = FLOW_NVME_NONE;
    if ((flow->ulp != NULL && flow->ulp->kind != FLOW_ULP_NVME) || !flow_ulp_is_send(event) || !event->rdmap->first ||
        event->ddp->segment.payload_octets == 0)
        return;
    if (flow->ulp == NULL && is_sure(event, &said))
        begin(flow, event, &said);
    if (flow->ulp != NULL)
        read_octets(event, message);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

bool flow_nvme_waits(const struct flow_nvme *nvme, uint16_t cid)
{
    return (nvme->waiting[cid / 8] >> cid % 8 & 1) != 0;
}

static void add_buffer(struct flow *flow, const struct flow_event *event, const struct nvme_descriptor *data,
                       unsigned index)
{
    const uint8_t *command = event->ddp->segment.payload;
    struct flow_buffer buffer = {
        .to = data->address,
        .octets = data->length,
        .stag = data->key,
        .exchange = event->rdmap->nvme.cid,
        .index = (uint16_t)index,
        .list = data->subtype,
        .owner = (uint8_t)event->direction,
        .access = (uint8_t)((nvme_moves_in(command) ? FLOW_BUFFER_READ : 0) |
                            (nvme_moves_out(command) ? FLOW_BUFFER_WRITE : 0)),
        .frame = event->frame,
    };

    flow_buffers_add(flow->ulp->buffers, &buffer);
}

/* The descriptors of a last segment that is in the capsule, behind the command. False: one could not be read. */
static bool add_segment(struct flow *flow, const struct flow_event *event)
{
    const struct nvme_descriptor *last = &event->rdmap->nvme.data;
    const uint8_t *list = event->ddp->segment.payload + NVME_COMMAND_OCTETS;
    size_t have = event->ddp->payload_have - NVME_COMMAND_OCTETS;
    struct nvme_descriptor data;

    if (last->subtype != NVME_SGL_OFFSET || last->address > have || last->length > have - last->address ||
        last->length % NVME_DESCRIPTOR_OCTETS != 0)
        return false;
    for (uint32_t i = 0; i < last->length / NVME_DESCRIPTOR_OCTETS; i++) {
        nvme_descriptor_read(list + last->address + (size_t)i * NVME_DESCRIPTOR_OCTETS, &data);
        if (data.type != NVME_SGL_KEYED)
            return false;
        add_buffer(flow, event, &data, i);
    }
    return true;
}

static void add_command(struct flow *flow, const struct flow_event *event)
{
    const struct flow_nvme_message *said = &event->rdmap->nvme;
    struct flow_nvme *nvme = flow->ulp->nvme;

    nvme->lost |= flow_nvme_waits(nvme, said->cid);
    nvme->waiting[said->cid / 8] |= (uint8_t)(1u << said->cid % 8);
    nvme->sent++;
    if (said->data.type == NVME_SGL_KEYED)
        add_buffer(flow, event, &said->data, 0);
    else if (said->data.type != NVME_SGL_DATA && !add_segment(flow, event))
        flow->ulp->buffers->lost = true;
}

/* A response ends its command; entries up to the head that it names are free. */
static void end_command(struct flow *flow, const struct flow_event *event)
{
    const struct flow_nvme_message *said = &event->rdmap->nvme;
    struct flow_nvme *nvme = flow->ulp->nvme;

    nvme->waiting[said->cid / 8] &= (uint8_t) ~(1u << said->cid % 8);
    if (!nvme->by_head)
        nvme->freed++;
    else if (said->head < nvme->entries)
        nvme->freed += (said->head + nvme->entries - (uint32_t)(nvme->freed % nvme->entries)) % nvme->entries;
    nvme->lost |= nvme->freed > nvme->sent || (nvme->by_head && said->head >= nvme->entries);
    flow_buffers_end(flow->ulp->buffers, FLOW_FROM_INITIATOR, said->cid, event->frame);
}

void flow_nvme_update(struct flow *flow, const struct flow_event *event)
{
    if (flow->ulp == NULL || flow->ulp->kind != FLOW_ULP_NVME || event->ulpdu->unverified)
        return;
    if (flow_ulp_is_send(event)) {
        switch (event->rdmap->nvme.kind) {
        case FLOW_NVME_COMMAND: add_command(flow, event); break;
        case FLOW_NVME_RESPONSE: end_command(flow, event); break;
        case FLOW_NVME_SHORT: flow->ulp->nvme->lost = flow->ulp->buffers->lost = true; break;
        case FLOW_NVME_NONE: break;
        }
    }
    flow_buffers_update(flow, event);
}
