/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets -> user messages -> ULPDUs. What the decoder calls. */
#ifndef FLOW_FLOW_SCTP_PACKET_H
#define FLOW_FLOW_SCTP_PACKET_H

#include "conformance/flow/event/flow_decoder.h"
#include "conformance/flow/event/flow_packet.h"

void flow_sctp_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                      const struct flow_carrier_frames *carrier);
/* Ends every association (with events), or frees them (without). */
void flow_sctp_finish(struct flow_decoder *decoder, bool tell);

#endif
