/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets -> user messages -> ULPDUs. What the decoder calls. */
#ifndef FLOW_FLOW_SCTP_PACKET_H
#define FLOW_FLOW_SCTP_PACKET_H

#include "conformance/flow/event/flow_common.h"
#include "conformance/flow/event/flow_packet.h"

struct sctp_decoder; /* what the room keeps of a decoder */

/* NULL without memory. */
struct sctp_decoder *flow_sctp_new(struct flow_common *common);
void flow_sctp_packet(struct sctp_decoder *sctp, const struct flow_datagram *datagram,
                      const struct flow_carrier_frames *carrier);
/* Time has gone on to common->now_ns: what is over, or idle too long, ends. The capture lost frames, of whatever is open. */
void flow_sctp_time(struct sctp_decoder *sctp);
void flow_sctp_dropped(struct sctp_decoder *sctp);
/* Ends every association, with events. */
void flow_sctp_finish(struct sctp_decoder *sctp);
/* Frees, without events. `sctp` may be NULL. */
void flow_sctp_free(struct sctp_decoder *sctp);

#endif
