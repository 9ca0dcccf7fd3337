/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IRD and ORD: how many inbound and outbound Reads and Atomic Operations a stream has at most (RFC 6581 6). MPA's
 * start-up frames carry them (wire/mpa.h), and so do the session control messages of DDP over SCTP (wire/ddp_sctp.h,
 * RFC 6581 7).
 */
#ifndef WIRE_DEPTH_H
#define WIRE_DEPTH_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DEPTH_NOT_NEGOTIATED = 0x3FFF,               /* "no automatic negotiation" (RFC 6581 9.1) */
    DEPTH_NUMBER_MAX = DEPTH_NOT_NEGOTIATED - 1, /* the greatest that is a number */
};

#ifdef __cplusplus
}
#endif

#endif
