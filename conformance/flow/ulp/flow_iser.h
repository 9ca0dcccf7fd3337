/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSER above DDP (RFC 7145): recognised by the message that an initiator begins with, or by any SCSI Command of it:
 *  - Hello: 28 octets, opcode, versions, 24 octets of zero; the Responder then answers with an iSER message;
 *  - a Login Request or a SCSI Command behind an iSER header whose unused fields are zero, with STags where the command
 *    has a direction, in a Send that is just as long as the PDU says.
 * More than 160 bits each, that nothing else has by chance. If it is the first message of the flow, which buffers are
 * advertised is known.
 */
#ifndef FLOW_FLOW_ISER_H
#define FLOW_FLOW_ISER_H

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_ulp.h"

/* What the flow's ULP is, if it is iSER; else NULL. */
static inline const struct flow_iser *flow_iser_of(const struct flow *flow)
{
    return flow->ulp != NULL ? flow->ulp->iser : NULL;
}

/* Fills event->rdmap->iser of a FLOW_RDMAP event before it is sent; makes flow->ulp when the ULP is recognised. */
void flow_iser_read(struct flow *flow, const struct flow_event *event, struct flow_iser_message *message);

/* Brings flow->ulp up to date after the event. */
void flow_iser_update(struct flow *flow, const struct flow_event *event);

/* A Login PDU: over other transports than TCP the login is in iSER messages too (5.1). */
static inline bool flow_iser_is_login(const struct flow_iser_message *message)
{
    return message->kind == FLOW_ISER_CONTROL && message->has_pdu &&
           (message->pdu.opcode == ISCSI_LOGIN_REQUEST || message->pdu.opcode == ISCSI_LOGIN_RESPONSE);
}

/*
 * A PDU that its receiver does not expect, of which MaxOutstandingUnexpectedPDUs are admitted (RFC 7145 8.1.1.3, 8.1.2):
 * sent for immediate delivery; of a target Asynchronous Messages and NOP-Ins that answer nothing. A Reject may be one
 * that is expected, and is none here.
 */
bool flow_iser_is_unexpected(const struct flow_iser *iser, const struct flow_event *event);

/*
 * Octets that the data segments of that side's PDUs may have at most (6.4, 6.5); 0: not known, as both sides have to say
 * it in Sends.
 */
uint32_t flow_iser_data_max(const struct flow_iser *iser, enum flow_direction direction);

#endif
