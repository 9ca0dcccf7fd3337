/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMB Direct above DDP ([MS-SMBD]): the first Send of the MPA Initiator is its Negotiate Request, known by its length,
 * both versions and its sizes; the first of the Responder the Response. If that is another message, it is not SMB
 * Direct. A capture that begins later is not recognised: nothing is judged then.
 *
 * Its Data Transfers carry SMB2, whose READ and WRITE requests advertise buffers (wire/smb2.h): an exchange is a MessageId,
 * its lower half, and ends with the response that is not an interim one; `list` of a buffer is the request's Channel.
 */
#ifndef FLOW_FLOW_SMBD_H
#define FLOW_FLOW_SMBD_H

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_ulp.h"

enum flow_smbd_message {
    FLOW_SMBD_NONE, /* not SMB Direct, or none that can be read */
    FLOW_SMBD_REQUEST,
    FLOW_SMBD_RESPONSE,
    FLOW_SMBD_DATA, /* the first segment of a Data Transfer */
    FLOW_SMBD_MORE, /* another segment of it */
};

/* What a FLOW_RDMAP event carries, by the flow's state before it. */
enum flow_smbd_message flow_smbd_message(const struct flow_event *event);

/* The header that begins such a message's first segment; NULL: none does. */
const struct wire_layout *flow_smbd_layout(enum flow_smbd_message message);

/* The octets that the sender may send in one message: its own PreferredSendSize and the other side's MaxReceiveSize. */
uint32_t flow_smbd_send_max(const struct flow_ulp *ulp, enum flow_direction direction);

/*
 * The octets of a Data Transfer with which an SMB2 message begins, as far as its first segment has them. False: it has no
 * data, or they continue a message that has begun. Only where flow_smbd_message() is FLOW_SMBD_DATA.
 */
bool flow_smbd_data(const struct flow_event *event, const uint8_t **begin, const uint8_t **end);

/* Brings flow->ulp up to date after a FLOW_RDMAP event; makes it when the ULP is recognised. */
void flow_smbd_update(struct flow *flow, const struct flow_event *event);

#endif
