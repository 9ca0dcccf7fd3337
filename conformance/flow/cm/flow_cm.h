/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What events report of CM messages over InfiniBand and RoCE, with the RDMA IP CM Service (IBTA Annex A11) on top.
 *
 * An exchange is a flow: a REQ and all that is said about that connection until it is closed, or a SIDR_REQ and its
 * answer. It is found again by the addresses and the requester's Local Communication ID. Direction 0 is from the
 * requester.
 */
#ifndef FLOW_FLOW_CM_H
#define FLOW_FLOW_CM_H

#include "conformance/flow/event/flow.h"
#include "wire/cm.h"

enum flow_carrier { FLOW_ROCE_V2, FLOW_ROCE_V1, FLOW_INFINIBAND };

enum flow_icrc { FLOW_ICRC_UNCHECKED, FLOW_ICRC_GOOD, FLOW_ICRC_BAD };

struct flow_cm {
    struct cm_message message;
    wire_result result; /* cm_parse()'s */
    bool again; /* a message of this kind came before in this exchange, with the same Transaction ID if it is a REQ */
    enum flow_carrier carrier;
    enum flow_icrc icrc; /* BAD: the receiver drops the packet, and no rule judges it */
    const uint8_t *mad;  /* the MAD's first octet */
    size_t have;         /* octets there, at most 256 */
};

#endif
