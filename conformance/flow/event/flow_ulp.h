/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of the ULP above a flow, as far as it concerns RDMA. A ULP is recognised by what it negotiates, never
 * by a port (conformance/flow/ulp). flow->ulp is NULL until then, and brought up to date after each FLOW_RDMAP event,
 * like the rest of the flow's state.
 */
#ifndef FLOW_FLOW_ULP_H
#define FLOW_FLOW_ULP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/smbd.h"

enum flow_ulp_kind { FLOW_ULP_SMBD, FLOW_ULPS };

/* One side of SMB Direct. */
struct flow_smbd_side {
    bool announced; /* its Negotiate message was seen, in `frame` */
    uint64_t frame;
    struct smbd_negotiate negotiate;
    /*
     * Send Credits that it holds at most: granted by what the other side was seen to send before, less those used
     * ([MS-SMBD] 3.1.5.1). Never below 0: a message without a credit uses none.
     */
    uint64_t credits;
    bool has_open; /* the header of its last Data Transfer could be read: */
    struct smbd_data open;
};

struct flow_ulp {
    enum flow_ulp_kind kind;
    bool established; /* both Negotiate messages, the Response with Status 0 */
    struct flow_smbd_side smbd[2];
};

#endif
