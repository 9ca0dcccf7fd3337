/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder: frames in, events out (conformance/flow/event/flow.h). One decoder for the live wire, for capture files
 * and for the Wireshark plugin; it knows none of them. Link and network headers, TCP reassembly, MPA start-up and
 * framing, SCTP, DDP and RDMAP, and the CM messages of InfiniBand and RoCE are done here, once.
 */
#ifndef FLOW_DECODER_H
#define FLOW_DECODER_H

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"

struct flow_decoder; /* opaque */

/* NULL without memory. `config` may be NULL; `sink` may be NULL (totals only). */
struct flow_decoder *flow_decoder_create(const struct flow_config *config, flow_sink sink, void *ctx);

/* One frame, in capture order. Never fails: what cannot be decoded is counted in the totals. */
void flow_decoder_frame(struct flow_decoder *decoder, const struct flow_frame *frame);

/*
 * The same for a caller that has link and network headers decoded by somebody else: one TCP segment (RFC 9293 3.1), its
 * header first. Returns the flow that its connection is, as soon as that is recognised, else NULL; valid until the next
 * call. `direction` (may be NULL) becomes that of the segment's sender when a flow is returned.
 */
const struct flow *flow_decoder_segment(struct flow_decoder *decoder, const struct flow_packet *packet,
                                        enum flow_direction *direction);

/*
 * The same for one SCTP packet, its common header first, and for one RoCE packet: RoCEv2 from its BTH on (its ICRC
 * cannot be checked then), RoCEv1 with family 0 and no addresses from its GRH on. They return nothing: the results are
 * the events.
 */
void flow_decoder_sctp(struct flow_decoder *decoder, const struct flow_packet *packet);
void flow_decoder_roce(struct flow_decoder *decoder, const struct flow_packet *packet);
/* The same for a datagram of the port mapper, from its UDP header on. */
void flow_decoder_port_mapper(struct flow_decoder *decoder, const struct flow_packet *packet);

/*
 * Time has gone on to `now_ns` of the clock that frames have, with or without a frame: connections that are over or idle
 * (flow_config.idle_ns) end, and what waits for octets that do not come is delivered. For a live capture, about once a
 * second; a time that lies behind that of the last frame changes nothing.
 */
void flow_decoder_time(struct flow_decoder *decoder, uint64_t now_ns);

/*
 * The capture mechanism dropped so many frames, of any flow. They are counted (FLOW_ROW_DROPPED); each flow that is open
 * has a gap from here on, and FLOW_UNDECODED with FLOW_REASON_DROPPED for both directions goes to its rules, so that
 * nothing that is missing is blamed on a device.
 */
void flow_decoder_dropped(struct flow_decoder *decoder, uint64_t frames);

/* End of the capture: what is held back is decoded as far as it goes, every flow ends (FLOW_END). The decoder may be
 * used again, as new; totals go on. */
void flow_decoder_finish(struct flow_decoder *decoder);

/* Frees; no events. `decoder` may be NULL. */
void flow_decoder_destroy(struct flow_decoder *decoder);

const struct flow_totals *flow_decoder_totals(const struct flow_decoder *decoder);

#endif
