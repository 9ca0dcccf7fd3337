/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter of frames in tcpdump's language (pcap-filter(7)), compiled by libpcap for each link type that frames may
 * have.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_FILTER_H
#define CONFORMANCE_ENGINE_CAPTURE_FILTER_H

#include <stdbool.h>

#include "base/sentence.h"
#include "conformance/flow/event/flow_frame.h"

struct capture_filter; /* opaque */

/*
 * Compiles the expression, which outlives the filter. Names of hosts, ports and protocols are looked up now, and never
 * later. NULL with the sentence set when it is wrong for every link type, or without memory.
 */
struct capture_filter *capture_filter_new(const char *expression, struct iwarp_sentence *error);

/*
 * 1: the frame is wanted; 0: it is not; -1 with the sentence set: the expression is wrong for the frame's link type. A
 * frame of a link type that nobody knows is wanted: it is accounted for as that.
 */
int capture_filter_wants(const struct capture_filter *filter, const struct flow_frame *frame,
                         struct iwarp_sentence *error);

void capture_filter_free(struct capture_filter *filter); /* NULL is allowed */

#endif
