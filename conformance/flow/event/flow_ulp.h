/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of the ULP above a flow, as far as it concerns RDMA. A ULP is recognised by what it negotiates or says,
 * never by a port (conformance/flow/ulp). flow->ulp is NULL until then, and brought up to date after each FLOW_RDMAP
 * event, like the rest of the flow's state.
 */
#ifndef FLOW_FLOW_ULP_H
#define FLOW_FLOW_ULP_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/flow/event/flow_buffer.h"
#include "wire/iser.h"
#include "wire/nvme.h"
#include "wire/rpcrdma.h"
#include "wire/smbd.h"

enum flow_ulp_kind { FLOW_ULP_SMBD, FLOW_ULP_RPCRDMA, FLOW_ULP_ISER, FLOW_ULP_NVME, FLOW_ULPS };

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
    uint32_t remaining; /* octets of its message that its next fragments have: it sends the rest of an SMB2 message */
};

/* ---- RPC-over-RDMA ----------------------------------------------------------------------------------------------- */

enum flow_rpcrdma_kind {
    FLOW_RPCRDMA_NONE,  /* not RPC-over-RDMA, or none of its messages begins here */
    FLOW_RPCRDMA_CALL,  /* RDMA_MSG or RDMA_NOMSG */
    FLOW_RPCRDMA_REPLY, /* the same */
    FLOW_RPCRDMA_ERROR, /* RDMA_ERROR */
    FLOW_RPCRDMA_OTHER, /* another procedure, or whether it calls is unknown */
    FLOW_RPCRDMA_SHORT, /* no header of 16 octets is there */
};

/* What the first segment of a message says: read once, before its event. */
struct flow_rpcrdma_message {
    enum flow_rpcrdma_kind kind;
    struct rpcrdma_header header;
    enum rpcrdma_walk_result lists;   /* of its chunk lists; RPCRDMA_WALKING: the procedure has none */
    uint32_t segments[RPCRDMA_LISTS]; /* in each list */
    uint32_t chunks;                  /* of the Write list */
    bool replies;                     /* it has a Reply chunk */
    bool guessed;                     /* that it calls, or replies, is by its direction alone */
    uint32_t odd_position;            /* of a read segment, no multiple of four; 0: all are */
    uint64_t zero_octets;             /* in read segments of Position zero */
    uint64_t reply_octets;            /* in the Reply chunk */
    bool has_rpc;                     /* the XID and the type of the RPC message are there */
    uint32_t rpc_xid, rpc_type;
    bool has_error;
    uint32_t error; /* of an RDMA_ERROR */
};

/* A Call that waits for its Reply. */
struct flow_rpcrdma_call {
    uint32_t xid, version;
    uint32_t segments[RPCRDMA_LISTS], chunks;
    uint8_t requester; /* enum flow_direction */
    bool listed;       /* its lists could be read: */
    bool replies;      /* it has a Reply chunk */
};

enum { FLOW_RPCRDMA_CALLS_MAX = 256 }; /* kept for each flow, those of both sides */

/* One side: as a Requester, but for `spoke`. The Initiator calls; the Responder may too (RFC 8167). */
struct flow_rpcrdma_side {
    bool spoke; /* a message of it was seen */
    bool has_private;
    struct rpcrdma_private said; /* in its Private Data */
    uint32_t waiting;            /* Calls without a Reply so far */
    uint64_t calls, replies;     /* seen: its Calls, and what answered them */
    /*
     * Credits by the last Reply. One that it had not received may have granted more before: `granted_before`, unless
     * what it sends acknowledges `reduced_at`.
     */
    uint32_t granted, granted_before;
    uint64_t reduced_at;
};

struct flow_rpcrdma {
    uint64_t frame;         /* of the Call by which it was recognised */
    bool from_start;        /* that was the first message of the flow */
    bool lost;              /* a message could not be read, or a Call was not kept */
    bool starts_known;      /* both start-up frames: */
    bool agreed;            /* both have Private Data of RFC 8797 */
    bool invalidates;       /* and both support remote invalidation */
    uint32_t inline_max[2]; /* inline threshold of what each side sends; 0: not known */
    struct flow_rpcrdma_side side[2];
    unsigned waiting; /* Calls kept */
    struct flow_rpcrdma_call calls[FLOW_RPCRDMA_CALLS_MAX];
};

/* ---- iSER -------------------------------------------------------------------------------------------------------- */

enum flow_iser_kind {
    FLOW_ISER_NONE,    /* not iSER, or none of its messages begins here */
    FLOW_ISER_CONTROL, /* with an iSCSI control-type PDU */
    FLOW_ISER_HELLO,
    FLOW_ISER_HELLO_REPLY,
    FLOW_ISER_OTHER, /* another opcode */
    FLOW_ISER_SHORT, /* no header of 28 octets is there */
};

/* What the first segment of a message says: read once, before its event. */
struct flow_iser_message {
    enum flow_iser_kind kind;
    uint8_t opcode;
    bool reserved_set;  /* bits of a reserved field are */
    bool writes, reads; /* a control-type PDU's WSV and RSV; the next four in any case */
    uint32_t write_stag, read_stag;
    uint64_t write_to, read_to;
    bool has_pdu; /* its Basic Header Segment is there: */
    struct iscsi_pdu pdu;
    bool rejects;                 /* a HelloReply's REJ */
    uint8_t max_version, version; /* MaxVer; MinVer of a Hello, CurVer of a HelloReply */
    uint16_t depth;               /* iSER-IRD of a Hello, iSER-ORD of a HelloReply */
};

enum flow_iser_key { FLOW_ISER_TARGET_RECEIVES, FLOW_ISER_INITIATOR_RECEIVES, FLOW_ISER_UNEXPECTED, FLOW_ISER_KEYS };

/* What a side has said in a login. */
struct flow_iser_keys {
    bool known[FLOW_ISER_KEYS];
    uint32_t value[FLOW_ISER_KEYS];
};

enum { FLOW_ISER_UNEXPECTED_MAX = 64 };

/* PDUs of a side that the other one does not expect, and that are not retired: their CmdSN, a target's StatSN. */
struct flow_iser_unexpected {
    bool lost; /* there were more */
    unsigned count;
    uint32_t number[FLOW_ISER_UNEXPECTED_MAX];
};

enum { FLOW_ISER_WRITE_BUFFER, FLOW_ISER_READ_BUFFER }; /* flow_buffer's `list` */

struct flow_iser {
    uint64_t frame;      /* of the message by which it was recognised */
    uint8_t initiator;   /* enum flow_direction: the initiator of iSCSI */
    bool from_start;     /* that was the first message of the flow */
    bool logs_in;        /* and a Login Request: the login is in Sends */
    bool full;           /* the Full Feature Phase has begun */
    bool spoke[2];       /* a message of that side was seen, not of the login */
    bool hello, replied; /* Hello and HelloReply were, with these: */
    uint16_t ird, ord;
    struct flow_iser_keys keys[2];
    struct flow_iser_unexpected unexpected[2];
};

/* ---- NVMe over RDMA ---------------------------------------------------------------------------------------------- */

enum flow_nvme_kind {
    FLOW_NVME_NONE,     /* not NVMe over RDMA, or none of its capsules begins here */
    FLOW_NVME_COMMAND,  /* of the host */
    FLOW_NVME_RESPONSE, /* of the controller */
    FLOW_NVME_SHORT,    /* no whole command or response is there */
};

/* What the first segment of a capsule says: read once, before its event. */
struct flow_nvme_message {
    enum flow_nvme_kind kind;
    uint16_t cid;
    uint8_t opcode, flags;       /* of a command */
    struct nvme_descriptor data; /* likewise */
    uint16_t head, status;       /* SQHD and Status of a response */
};

struct flow_nvme {
    uint64_t frame; /* of the Connect command by which it was recognised */
    struct nvme_private said;
    uint32_t entries;      /* of the submission queue: SQSIZE is one less */
    bool by_head;          /* entries are freed by SQHD, as flow control is on; else by each response */
    bool lost;             /* a capsule could not be read, or says what cannot be */
    uint64_t sent, freed;  /* entries that commands have used so far, and those of them that are free again */
    uint8_t waiting[8192]; /* a bit for each identifier of a command that waits */
};

struct flow_ulp {
    enum flow_ulp_kind kind;
    bool established; /* SMB Direct: both Negotiate messages, the Response with Status 0 */
    struct flow_smbd_side smbd[2];
    struct flow_rpcrdma *rpcrdma; /* what follows is in one piece with this; NULL for another ULP */
    struct flow_iser *iser;
    struct flow_nvme *nvme;
    struct flow_buffers *buffers;
};

#endif
