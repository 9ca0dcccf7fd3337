/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_smbd.h"

#include <stdlib.h>

#include "base/out_of_memory.h"
#include "conformance/flow/ulp/flow_ulp_send.h"

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
    struct flow_ulp *ulp = calloc(1, sizeof(*ulp));

    if (ulp == NULL) {
        out_of_memory_note();
        return;
    }
    *ulp = (struct flow_ulp){.kind = FLOW_ULP_SMBD};
    ulp->smbd[FLOW_FROM_INITIATOR] =
        (struct flow_smbd_side){.announced = true, .frame = event->frame, .negotiate = *said};
    flow->ulp = ulp;
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

/* A message uses a credit, and grants others. */
static void transfer(struct flow_ulp *ulp, const struct flow_event *event)
{
    struct flow_smbd_side *sender = &ulp->smbd[event->direction];
    const uint8_t *p = event->ddp->segment.payload;

    sender->credits -= sender->credits != 0;
    sender->has_open = smbd_data_parse(&p, p + event->ddp->payload_have, &sender->open) == WIRE_OK;
    if (sender->has_open)
        ulp->smbd[flow_reverse(event->direction)].credits += sender->open.credits_granted;
}

void flow_smbd_update(struct flow *flow, const struct flow_event *event)
{
    struct smbd_negotiate said;

    if (!flow_ulp_is_send(event) || (flow->ulp != NULL && flow->ulp->kind != FLOW_ULP_SMBD))
        return;
    if (flow->ulp == NULL) {
        if (read_request(event, &said))
            begin(flow, event, &said);
    } else if (!flow->ulp->smbd[FLOW_FROM_RESPONDER].announced) {
        answer(flow, event);
    } else if (flow->ulp->established && event->rdmap->first) {
        transfer(flow->ulp, event);
    }
}
