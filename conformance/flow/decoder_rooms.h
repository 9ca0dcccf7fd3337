/* SPDX-License-Identifier: BSD-2-Clause */
/* What a decoder is made of: decoder.c, and tests that look at the state of a room. */
#ifndef FLOW_DECODER_ROOMS_H
#define FLOW_DECODER_ROOMS_H

#include "conformance/flow/event/flow_common.h"

/* What the rooms share, and the state of each: link/, tcp/ with mpa/, sctp/, cm/. */
struct flow_decoder {
    struct flow_common common;
    struct fragment_store *fragments;
    struct tcp_connections *tcp;
    struct sctp_decoder *sctp;
    struct cm_decoder *cm;
};

#endif
