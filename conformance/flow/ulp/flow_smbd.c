/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_smbd.h"

#include <stdlib.h>

#include "base/out_of_memory.h"
#include "conformance/flow/ulp/flow_buffers.h"
#include "conformance/flow/ulp/flow_ulp_send.h"
#include "wire/smb2.h"

/* In one piece, so that free() of the first member frees all. */
struct whole {
    struct flow_ulp ulp;
    struct flow_buffers buffers;
};

enum {
    SIZE_MAX_SENSIBLE = 64 << 20, /* of a message, and of what is put together from fragments */
};

static bool is_sensible(uint32_t size)
{
    return size >= SMBD_RECEIVE_MIN && size <= SIZE_MAX_SENSIBLE;
}

/* Both versions, and at least two sizes that are none by chance: a Request with one wrong size is one all the same. */
static bool is_negotiate(const struct smbd_negotiate *said)
{
    unsigned sensible =
        is_sensible(said->preferred_send) + is_sensible(said->max_receive) + is_sensible(said->max_fragmented);

    return said->min_version == SMBD_VERSION && said->max_version == SMBD_VERSION && sensible >= 2;
}

/* A whole Send in one segment, the sender's first with octets. */
static bool is_first_send(const struct flow_event *event, size_t octets)
{
    const struct flow_ddp *ddp = event->ddp;

    return event->rdmap->first && event->rdmap->last && ddp->segment.msn <= FLOW_FIRST_MSN_MAX &&
           ddp->segment.payload_octets == octets && ddp->payload_have == octets;
}

static bool read_request(const struct flow_event *event, struct smbd_negotiate *said)
{
    const uint8_t *p = event->ddp->segment.payload;

    return event->direction == FLOW_FROM_INITIATOR && event->flow->roles_known &&
           is_first_send(event, SMBD_REQUEST_OCTETS) &&
           smbd_request_parse(&p, p + event->ddp->payload_have, said) == WIRE_OK && is_negotiate(said);
}

static bool read_response(const struct flow_event *event, struct smbd_negotiate *said)
{
    const uint8_t *p = event->ddp->segment.payload;

    return event->direction == FLOW_FROM_RESPONDER && is_first_send(event, SMBD_RESPONSE_OCTETS) &&
           smbd_response_parse(&p, p + event->ddp->payload_have, said) == WIRE_OK &&
           said->min_version == SMBD_VERSION && said->max_version == SMBD_VERSION;
}

enum flow_smbd_message flow_smbd_message(const struct flow_event *event)
{
    const struct flow_ulp *ulp = event->flow->ulp;
    struct smbd_negotiate said;

    if (!flow_ulp_is_send(event) || (ulp != NULL && ulp->kind != FLOW_ULP_SMBD))
        return FLOW_SMBD_NONE;
    if (ulp == NULL)
        return read_request(event, &said) ? FLOW_SMBD_REQUEST : FLOW_SMBD_NONE;
    if (!ulp->smbd[FLOW_FROM_RESPONDER].announced)
        return read_response(event, &said) ? FLOW_SMBD_RESPONSE : FLOW_SMBD_NONE;
    if (!ulp->established)
        return FLOW_SMBD_NONE;
    return event->rdmap->first ? FLOW_SMBD_DATA : FLOW_SMBD_MORE;
}

const struct wire_layout *flow_smbd_layout(enum flow_smbd_message message)
{
    switch (message) {
    case FLOW_SMBD_REQUEST: return &smbd_request_layout;
    case FLOW_SMBD_RESPONSE: return &smbd_response_layout;
    case FLOW_SMBD_DATA: return &smbd_data_layout;
    default: return NULL;
    }
}

uint32_t flow_smbd_send_max(const struct flow_ulp *ulp, enum flow_direction direction)
{
    uint32_t own = ulp->smbd[direction].negotiate.preferred_send;
    uint32_t others = ulp->smbd[flow_reverse(direction)].negotiate.max_receive;

    return own < others ? own : others;
}

static void begin(struct flow *flow, const struct flow_event *event, const struct smbd_negotiate *said)
{
    struct whole *whole = calloc(1, sizeof(*whole));

    if (whole == NULL) {
        out_of_memory_note();
        return;
    }
    whole->ulp = (struct flow_ulp){.kind = FLOW_ULP_SMBD, .buffers = &whole->buffers};
    whole->ulp.smbd[FLOW_FROM_INITIATOR] =
        (struct flow_smbd_side){.announced = true, .frame = event->frame, .negotiate = *said};
    flow->ulp = &whole->ulp;
}

/* The Response; anything else that the Responder sends first shows that it was no SMB Direct. */
static void answer(struct flow *flow, const struct flow_event *event)
{
    struct flow_ulp *ulp = flow->ulp;
    struct smbd_negotiate said;

    if (event->direction != FLOW_FROM_RESPONDER || event->ddp->segment.payload_octets == 0)
        return;
    if (!read_response(event, &said)) {
        free(ulp);
        flow->ulp = NULL;
        return;
    }
    ulp->smbd[FLOW_FROM_RESPONDER] =
        (struct flow_smbd_side){.announced = true, .frame = event->frame, .negotiate = said};
    ulp->smbd[FLOW_FROM_INITIATOR].credits = said.credits_granted;
    ulp->established = said.status == 0;
}

/* ---- SMB2 -------------------------------------------------------------------------------------------------------- */

/* A READ's memory is written, a WRITE's is read ([MS-SMB2] 3.3.5.12, 3.3.5.13). */
static void advertise(struct flow_buffers *buffers, const struct flow_event *event, const struct smb2_message *said)
{
    for (size_t i = 0; i < said->descriptor_count; i++) {
        const uint8_t *descriptor = said->descriptors + i * SMBD_DESCRIPTOR_OCTETS;
        struct flow_buffer buffer = {
            .to = smbd_descriptor_get_Offset(descriptor),
            .octets = (uint32_t)smbd_descriptor_get_Length(descriptor),
            .stag = (uint32_t)smbd_descriptor_get_Token(descriptor),
            .exchange = (uint32_t)said->message_id,
            .list = (uint8_t)said->channel,
            .index = (uint16_t)i,
            .owner = (uint8_t)event->direction,
            .access = said->command == SMB2_READ ? FLOW_BUFFER_WRITE : FLOW_BUFFER_READ,
            .frame = event->frame,
        };

        flow_buffers_add(buffers, &buffer);
    }
}

bool flow_smbd_data(const struct flow_event *event, const uint8_t **begin, const uint8_t **end)
{
    const struct flow_smbd_side *sender = &event->flow->ulp->smbd[event->direction];
    const uint8_t *p = event->ddp->segment.payload;
    size_t have = event->ddp->payload_have;
    struct smbd_data data;

    if (smbd_data_parse(&p, p + have, &data) != WIRE_OK || data.length == 0 || sender->remaining != 0)
        return false;
    *begin = event->ddp->segment.payload + (data.offset < have ? data.offset : have);
    *end = event->ddp->segment.payload + have;
    if ((uint64_t)(*end - *begin) > data.length)
        *end = *begin + data.length;
    return true;
}

/* What a message says of memory; what cannot be read may have advertised some. */
static void read_smb2(struct flow_ulp *ulp, const struct flow_event *event)
{
    enum flow_direction other = flow_reverse(event->direction);
    const uint8_t *p, *end;
    struct smb2_message said;

    if (!flow_smbd_data(event, &p, &end))
        return;
    while (p != NULL) {
        if (!smb2_message_read(&p, end, &said)) {
            ulp->buffers->lost = true;
            return;
        }
        if (!said.response)
            advertise(ulp->buffers, event, &said);
        else if (said.status != SMB2_STATUS_PENDING)
            flow_buffers_end(ulp->buffers, other, (uint32_t)said.message_id, event->frame);
    }
}

/* A message uses a credit, and grants others. */
static void transfer(struct flow_ulp *ulp, const struct flow_event *event)
{
    struct flow_smbd_side *sender = &ulp->smbd[event->direction];
    const uint8_t *p = event->ddp->segment.payload;

    read_smb2(ulp, event);
    sender->credits -= sender->credits != 0;
    sender->has_open = smbd_data_parse(&p, p + event->ddp->payload_have, &sender->open) == WIRE_OK;
    if (!sender->has_open) {
        ulp->buffers->lost = true;
        return;
    }
    ulp->smbd[flow_reverse(event->direction)].credits += sender->open.credits_granted;
    if (sender->open.length != 0)
        sender->remaining = sender->open.remaining;
}

static void update_message(struct flow *flow, const struct flow_event *event)
{
    struct smbd_negotiate said;

    if (flow->ulp == NULL) {
        if (read_request(event, &said))
            begin(flow, event, &said);
    } else if (!flow->ulp->smbd[FLOW_FROM_RESPONDER].announced) {
        answer(flow, event);
    } else if (flow->ulp->established && event->rdmap->first) {
        transfer(flow->ulp, event);
    }
}

void flow_smbd_update(struct flow *flow, const struct flow_event *event)
{
    if ((flow->ulp != NULL && flow->ulp->kind != FLOW_ULP_SMBD) || event->ulpdu->unverified)
        return;
    if (flow_ulp_is_send(event))
        update_message(flow, event);
    if (flow->ulp != NULL)
        flow_buffers_update(flow, event);
}
