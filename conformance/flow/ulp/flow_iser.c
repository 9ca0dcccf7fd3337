/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_iser.h"

#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "base/out_of_memory.h"
#include "conformance/flow/ulp/flow_buffers.h"
#include "conformance/flow/ulp/flow_ulp_send.h"

/* In one piece, so that free() of the first member frees all. */
struct whole {
    struct flow_ulp ulp;
    struct flow_iser iser;
    struct flow_buffers buffers;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

static void read_control(const uint8_t *p, size_t have, struct flow_iser_message *message)
{
    message->writes = iser_control_get_WSV(p) != 0;
    message->reads = iser_control_get_RSV(p) != 0;
    message->write_stag = (uint32_t)iser_control_get_WriteSTag(p);
    message->write_to = iser_control_get_WriteBaseOffset(p);
    message->read_stag = (uint32_t)iser_control_get_ReadSTag(p);
    message->read_to = iser_control_get_ReadBaseOffset(p);
    message->reserved_set = iser_control_get_Reserved(p) != 0;
    message->has_pdu = have >= ISER_PDU_OCTETS;
    if (message->has_pdu)
        iscsi_pdu_read(p, &message->pdu);
}

static void read_hello(const uint8_t *p, struct flow_iser_message *message)
{
    bool replies = message->kind == FLOW_ISER_HELLO_REPLY;

    message->rejects = replies && iser_hello_reply_get_REJ(p) != 0;
    message->max_version = (uint8_t)iser_hello_get_MaxVer(p);
    message->version = (uint8_t)iser_hello_get_MinVer(p);
    message->depth = (uint16_t)iser_hello_get_IRD(p);
    message->reserved_set = (replies ? iser_hello_reply_get_Reserved(p) : iser_hello_get_Reserved(p)) != 0 ||
                            !is_zero(iser_hello_at_Reserved2(p), ISER_HEADER_OCTETS - 4);
}

static void read_octets(const struct flow_event *event, struct flow_iser_message *message)
{
    const uint8_t *p = event->ddp->segment.payload;
    size_t have = event->ddp->payload_have;

    *message = (struct flow_iser_message){.kind = FLOW_ISER_SHORT};
    if (have < ISER_HEADER_OCTETS)
        return;
    message->opcode = (uint8_t)iser_control_get_Opcode(p);
    switch (message->opcode) {
    case ISER_CONTROL:
        message->kind = FLOW_ISER_CONTROL;
        read_control(p, have, message);
        break;
    case ISER_HELLO:
    case ISER_HELLO_REPLY:
        message->kind = message->opcode == ISER_HELLO ? FLOW_ISER_HELLO : FLOW_ISER_HELLO_REPLY;
        read_hello(p, message);
        break;
    default: message->kind = FLOW_ISER_OTHER; break;
    }
}

/* ---- recognition ------------------------------------------------------------------------------------------------- */

static bool is_version(uint8_t version)
{
    return version == ISER_VERSION || version == ISER_VERSION_DRAWN;
}

static bool is_sure_hello(const struct flow_event *event, const struct flow_iser_message *message)
{
    return message->kind == FLOW_ISER_HELLO && event->flow->roles_known && event->direction == FLOW_FROM_INITIATOR &&
           event->ddp->segment.msn <= FLOW_FIRST_MSN_MAX && event->ddp->segment.payload_octets == ISER_HEADER_OCTETS &&
           !message->reserved_set && is_version(message->max_version) && message->version == message->max_version;
}

/* Flags of a Login Request: no reserved bit, and stages that there are (RFC 7143 11.12.2, 11.12.3). */
static bool is_sure_login(const uint8_t *p, const struct flow_iser_message *message)
{
    const struct iscsi_pdu *pdu = &message->pdu;
    unsigned now = pdu->flags >> 2 & 3, next = pdu->flags & 3;

    return pdu->opcode == ISCSI_LOGIN_REQUEST && pdu->immediate && !message->writes && !message->reads &&
           (pdu->flags & 0x30) == 0 && now < 2 && ((pdu->flags & 0x80) == 0 || (next > now && next != 2)) &&
           is_zero(p + ISER_HEADER_OCTETS + 2, 3) && pdu->data_octets != 0;
}

/* A SCSI Command whose header has STags for the direction that it has, and for no other (RFC 7143 11.3). */
static bool is_sure_command(const uint8_t *p, const struct flow_iser_message *message)
{
    const struct iscsi_pdu *pdu = &message->pdu;
    bool reads = iscsi_reads(pdu), writes = iscsi_writes(pdu);

    return pdu->opcode == ISCSI_COMMAND && (pdu->flags & 0x18) == 0 && (pdu->flags & 7) <= 4 &&
           is_zero(p + ISER_HEADER_OCTETS + 2, 2) && !(reads && writes) &&
           message->reads == (reads && pdu->word != 0) && (!message->writes || (writes && pdu->word != 0)) &&
           !(message->writes && message->reads);
}

/* A message that nothing else has by chance (flow_iser.h). */
static bool is_sure(const struct flow_event *event, struct flow_iser_message *message)
{
    const struct flow_ddp *ddp = event->ddp;
    const uint8_t *p = ddp->segment.payload;
    uint64_t whole;

    if (ddp->payload_have < ISER_HEADER_OCTETS || ddp->payload_have != ddp->segment.payload_octets ||
        !event->rdmap->last || p[0] >> 4 < ISER_CONTROL || p[0] >> 4 > ISER_HELLO ||
        (event->flow->roles_known && event->direction != FLOW_FROM_INITIATOR))
        return false;
    read_octets(event, message);
    if (message->kind == FLOW_ISER_HELLO)
        return is_sure_hello(event, message);
    if (!message->has_pdu || message->reserved_set || (p[ISER_HEADER_OCTETS] & 0x80) != 0 ||
        (!message->writes && !is_zero(p + 4, 12)) || (!message->reads && !is_zero(p + 16, 12)))
        return false;
    whole = (uint64_t)message->pdu.head_octets + message->pdu.data_octets;
    return ddp->payload_have >= whole && ddp->payload_have <= (whole + 3) / 4 * 4 &&
           (is_sure_login(p, message) || is_sure_command(p, message));
}

static void begin(struct flow *flow, const struct flow_event *event)
{
    struct whole *whole = calloc(1, sizeof(*whole));

    if (whole == NULL) {
        out_of_memory_note();
        return;
    }
    whole->ulp = (struct flow_ulp){.kind = FLOW_ULP_ISER, .iser = &whole->iser, .buffers = &whole->buffers};
    whole->iser.frame = event->frame;
    whole->iser.initiator = (uint8_t)event->direction;
    whole->iser.from_start = flow->roles_known && !flow->late && event->ddp->segment.msn <= FLOW_FIRST_MSN_MAX;
    whole->iser.logs_in =
        event->rdmap->iser.kind == FLOW_ISER_CONTROL && event->rdmap->iser.pdu.opcode == ISCSI_LOGIN_REQUEST;
    whole->buffers.lost = !whole->iser.from_start;
    flow->ulp = &whole->ulp;
}

/* What a target says first shows whether the first message was a Hello: it was none, if that is no iSER header. */
static bool is_refuted(const struct flow_ulp *ulp, const struct flow_event *event, const struct flow_iser_message *said)
{
    const struct flow_iser *iser = ulp->iser;

    return iser->hello && !iser->logs_in && !iser->spoke[FLOW_FROM_RESPONDER] &&
           event->direction == FLOW_FROM_RESPONDER && said->kind != FLOW_ISER_HELLO_REPLY &&
           (said->kind != FLOW_ISER_CONTROL || said->reserved_set);
}

void flow_iser_read(struct flow *flow, const struct flow_event *event, struct flow_iser_message *message)
{
    message->kind = FLOW_ISER_NONE;
    if ((flow->ulp != NULL && flow->ulp->kind != FLOW_ULP_ISER) || !flow_ulp_is_send(event) || !event->rdmap->first ||
        event->ddp->segment.payload_octets == 0)
        return;
    if (flow->ulp == NULL) {
        if (is_sure(event, message))
            begin(flow, event);
        if (flow->ulp == NULL)
            message->kind = FLOW_ISER_NONE;
        return;
    }
    read_octets(event, message);
    if (is_refuted(flow->ulp, event, message)) {
        free(flow->ulp);
        flow->ulp = NULL;
        message->kind = FLOW_ISER_NONE;
    }
}

bool flow_iser_is_unexpected(const struct flow_iser *iser, const struct flow_event *event)
{
    const struct flow_iser_message *said = &event->rdmap->iser;

    if (said->kind != FLOW_ISER_CONTROL || !said->has_pdu || !iser->full)
        return false;
    if ((uint8_t)event->direction == iser->initiator)
        return said->pdu.immediate && said->pdu.opcode != ISCSI_DATA_OUT && said->pdu.opcode != ISCSI_LOGIN_REQUEST &&
               !(said->pdu.opcode == ISCSI_NOP_OUT && said->pdu.task == (uint32_t)ISCSI_TAG_NONE);
    return said->pdu.opcode == ISCSI_ASYNC ||
           (said->pdu.opcode == ISCSI_NOP_IN && said->pdu.task == (uint32_t)ISCSI_TAG_NONE);
}

uint32_t flow_iser_data_max(const struct flow_iser *iser, enum flow_direction direction)
{
    enum flow_iser_key key =
        (uint8_t)direction == iser->initiator ? FLOW_ISER_TARGET_RECEIVES : FLOW_ISER_INITIATOR_RECEIVES;
    const struct flow_iser_keys *said = iser->keys;

    if (!said[0].known[key] || !said[1].known[key])
        return 0;
    return said[0].value[key] < said[1].value[key] ? said[0].value[key] : said[1].value[key];
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void add_buffer(struct flow *flow, const struct flow_event *event, bool reads, uint32_t octets)
{
    const struct flow_iser_message *said = &event->rdmap->iser;
    struct flow_buffer buffer = {
        .to = reads ? said->read_to : said->write_to,
        .octets = octets,
        .stag = reads ? said->read_stag : said->write_stag,
        .exchange = said->pdu.task,
        .list = reads ? FLOW_ISER_READ_BUFFER : FLOW_ISER_WRITE_BUFFER,
        .owner = (uint8_t)event->direction,
        .access = reads ? FLOW_BUFFER_WRITE : FLOW_BUFFER_READ,
        .frame = event->frame,
    };

    flow_buffers_add(flow->ulp->buffers, &buffer);
}

/* The buffers of a SCSI Command. A bidirectional one has the length of what it reads in an Additional Header Segment. */
static void add_command(struct flow *flow, const struct flow_event *event)
{
    const struct flow_iser_message *said = &event->rdmap->iser;
    uint32_t read_octets = said->pdu.word;

    if (said->reads && iscsi_writes(&said->pdu) &&
        !iscsi_bidirectional_read(event->ddp->segment.payload, event->ddp->payload_have, &said->pdu, &read_octets))
        flow->ulp->buffers->lost = true;
    if (said->writes)
        add_buffer(flow, event, false, said->pdu.word);
    if (said->reads)
        add_buffer(flow, event, true, read_octets);
}

/* What a PDU of a login says of the keys that matter; one that goes on in another segment, or is cut, says nothing. */
static void read_keys(struct flow_iser *iser, const struct flow_event *event)
{
    static const char *const names[FLOW_ISER_KEYS] = {
        [FLOW_ISER_TARGET_RECEIVES] = "TargetRecvDataSegmentLength",
        [FLOW_ISER_INITIATOR_RECEIVES] = "InitiatorRecvDataSegmentLength",
        [FLOW_ISER_UNEXPECTED] = "MaxOutstandingUnexpectedPDUs",
    };
    const struct iscsi_pdu *pdu = &event->rdmap->iser.pdu;
    struct flow_iser_keys *said = &iser->keys[event->direction];
    const uint8_t *p = event->ddp->segment.payload;
    uint32_t value;

    if ((uint64_t)pdu->head_octets + pdu->data_octets > event->ddp->payload_have)
        return;
    for (unsigned i = 0; i < FLOW_ISER_KEYS; i++) {
        if (!iscsi_key_number(p + pdu->head_octets, pdu->data_octets, names[i], &value))
            continue;
        said->known[i] = true;
        said->value[i] = value;
    }
}

/* The Full Feature Phase begins with a Login Response that says so, or was begun before the first Send. */
static void log_in(struct flow_iser *iser, const struct flow_event *event)
{
    const struct iscsi_pdu *pdu = &event->rdmap->iser.pdu;
    const uint8_t *bhs = event->ddp->segment.payload + ISER_HEADER_OCTETS;

    read_keys(iser, event);
    if ((uint8_t)event->direction != iser->initiator && (pdu->flags & 0x80) != 0 &&
        (pdu->flags & 3) == ISCSI_FULL_FEATURE && bhs[36] == 0)
        iser->full = true;
}

/* An unexpected PDU of that side stands until the other one has got beyond its number (8.1.1.3, 8.1.2). */
static void retire(struct flow_iser_unexpected *open, uint32_t expected)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < open->count; i++)
        if ((int32_t)(expected - open->number[i]) < 1)
            open->number[kept++] = open->number[i];
    open->count = kept;
}

static void count_unexpected(struct flow_iser *iser, const struct flow_event *event)
{
    const struct iscsi_pdu *pdu = &event->rdmap->iser.pdu;
    struct flow_iser_unexpected *own = &iser->unexpected[event->direction];
    struct flow_iser_unexpected *other = &iser->unexpected[flow_reverse(event->direction)];

    retire(other, pdu->expected);
    /* The answer to a ping of the target retires it (8.1.2 c); which one does not matter for their count. */
    if (pdu->opcode == ISCSI_NOP_OUT && pdu->word != (uint32_t)ISCSI_TAG_NONE && other->count != 0)
        other->count--;
    if (!flow_iser_is_unexpected(iser, event))
        return;
    if (own->count == FLOW_ISER_UNEXPECTED_MAX)
        own->lost = true;
    else
        own->number[own->count++] = pdu->number;
}

static void update_pdu(struct flow *flow, const struct flow_event *event)
{
    const struct iscsi_pdu *pdu = &event->rdmap->iser.pdu;
    struct flow_iser *iser = flow->ulp->iser;
    bool of_initiator = (uint8_t)event->direction == iser->initiator;

    if (flow_iser_is_login(&event->rdmap->iser)) {
        if (!iser->full)
            log_in(iser, event);
        return;
    }
    iser->full |= of_initiator;
    count_unexpected(iser, event);
    if (of_initiator && pdu->opcode == ISCSI_COMMAND)
        add_command(flow, event);
    else if (of_initiator && pdu->opcode == ISCSI_TASK_REQUEST && (pdu->flags & 0x7F) == ISCSI_TASK_REASSIGN)
        flow->ulp->buffers->lost = true; /* it advertises buffers anew, whose lengths are those of another connection */
    else if (!of_initiator && pdu->opcode == ISCSI_RESPONSE)
        flow_buffers_end(flow->ulp->buffers, (enum flow_direction)iser->initiator, pdu->task, event->frame);
}

static void update_message(struct flow *flow, const struct flow_event *event)
{
    const struct flow_iser_message *said = &event->rdmap->iser;
    struct flow_iser *iser = flow->ulp->iser;

    switch (said->kind) {
    case FLOW_ISER_CONTROL:
        if (said->has_pdu)
            update_pdu(flow, event);
        else
            flow->ulp->buffers->lost = iser->unexpected[0].lost = iser->unexpected[1].lost = true;
        break;
    case FLOW_ISER_HELLO:
        iser->hello = iser->full = true;
        iser->ird = said->depth;
        break;
    case FLOW_ISER_HELLO_REPLY:
        iser->replied = true;
        iser->ord = said->depth;
        break;
    default: flow->ulp->buffers->lost = true; break;
    }
    iser->spoke[event->direction] |= !flow_iser_is_login(said);
}

void flow_iser_update(struct flow *flow, const struct flow_event *event)
{
    if (flow->ulp == NULL || flow->ulp->kind != FLOW_ULP_ISER || event->ulpdu->unverified)
        return;
    if (flow_ulp_is_send(event) && event->rdmap->iser.kind != FLOW_ISER_NONE)
        update_message(flow, event);
    flow_buffers_update(flow, event);
}
