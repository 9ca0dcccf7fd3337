/* SPDX-License-Identifier: BSD-2-Clause */
/* What defects and variants keep of a stream, a device, an association and a CM agent: reached by `faults` of each. */
#ifndef REFERENCE_STACK_DEFECT_STATE_H
#define REFERENCE_STACK_DEFECT_STATE_H

#include "iwarp/sctp.h"
#include "reference-stack/base/ring.h"
#include "reference-stack/cm/cm_agent.h"
#include "reference-stack/cm/cm_faults.h"
#include "reference-stack/core/faults.h"
#include "reference-stack/core/stream_internal.h"
#include "wire/atomic.h"
#include "wire/cm.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/mpa.h"

struct defect_set;

enum {
    DEFECT_TRANSMITS_MAX = 16, /* of one set */
    DEFECT_ROOM = 256,         /* octets that faults may add to a frame */
    DEFECT_EARLY_MAX = 64,     /* messages that have begun before their turn */
    DEFECT_QUEUES = 4,         /* of a stream */
};

struct defect_late {
    uint32_t stag;
    uint64_t to;
    uint8_t octets[32];
    size_t count;
};

/* A Send that came before its turn, in whole or in part. */
struct defect_early {
    uint32_t msn;   /* 0: none */
    size_t placed;  /* octets of it */
    bool delivered; /* it was delivered at once */
};

/* Octets in one run, that grow as needed. */
struct defect_run {
    uint8_t *octets;
    size_t room;
};

/* What transmit rules go by, of the ULPDU that is being sent. */
struct defect_ulpdu {
    uint16_t opcode; /* as a bit */
    bool last, later;
    size_t pad; /* octets of pad that are due */
};

/* What a message leaves to the next one of its stream (defect_message_state.c). */
struct message_left {
    uint32_t mo; /* where the Send before ended */
    bool last;   /* L of the message before */
    bool sent_solicited, solicited, write_known, sink_known, id_known, invalidated_known, immediate_known;
    bool first_segment; /* of a Read Response that comes */
    uint32_t invalidate, write_stag, sink_stag, invalidated, id;
    uint64_t write_to, sink_to, sink_before, value, values;
    uint64_t longest; /* octets of a Send that came */
    uint8_t immediate[IWARP_IMMEDIATE_OCTETS];
    size_t places;         /* of IRD, that were freed twice */
    uint64_t before_reply; /* serial number after the Reads that were posted before the Reply */
};

struct defect_state {
    struct ddp_segment segment; /* the last that came in order */
    bool goes_on;               /* it is of the tagged message whose segment came before it */
    uint64_t wake_at;           /* when the stream wants to be called; 0: not for a fault's sake */
    struct defect_early early[DEFECT_EARLY_MAX];
    /* uint64_t: what the targets of waiting Atomic Requests held when they came, or before they were changed */
    struct ring atomics;
    struct defect_run ulpdu;
    struct defect_ulpdu sending;
    uint8_t quoted[28];      /* a Read Request Header that a Terminate quotes */
    bool twice;              /* the Terminate was sent once */
    bool silent;             /* of a CM agent: the next REJ is not sent */
    unsigned peer_rtr;       /* RTR messages that the peer's answer has */
    enum iwarp_rtr rtr_last; /* to be sent after what is posted; 0: none */
    struct defect_late late; /* octets of a Write that wait for the next one */
    uint32_t seen[DEFECT_TRANSMITS_MAX];
    bool inside; /* the segment before was not the last of its message */
    uint32_t crc_previous;
    bool crc_kept;       /* there is a CRC before */
    uint32_t crc_octets; /* of CRC fields that were sent */
    uint32_t interval_start;
    bool interval_open; /* an FPDU began after the last Marker, at interval_start */
    uint8_t tail[4];    /* octets of the FPDU before that go out with the next */
    size_t tail_octets;
    uint64_t arrivals;         /* ULPDUs that were traced */
    uint64_t partial_at;       /* when the part of an FPDU that waits was last added to */
    uint32_t early_read;       /* MSN of a Read Request that was served before its turn */
    uint32_t segments;         /* DDP Segments that were made, as far as they are counted */
    uint64_t response_last;    /* when a segment of a Read Response that is not complete went out */
    uint64_t slot_free;        /* when the place of the last Read Request is free */
    uint64_t response_due;     /* a variant: when the next response may go out; 0: none waits */
    uint64_t reply_due;        /* a variant: when the start-up frame may go out; 0: none waits */
    uint64_t work_due;         /* a variant: when own work may go out; 0: none waits */
    uint8_t first[18];         /* a variant: DDP header of the first segment of an untagged message in several */
    size_t first_octets;       /* its ULPDU; 0: none */
    uint64_t send_due;         /* when the Send that waits may go out */
    bool send_timed;           /* that is so from when it began to wait */
    uint32_t send_waits;       /* its DDP-SSN and 1; 0: none has waited */
    struct defect_run waiting; /* a variant: ULPDUs that wait for a place, each with its octets before it */
    uint64_t backwards_tail;   /* octets of an untagged message that goes out backwards, but for these at its end */
    size_t waiting_octets;
    bool going_on;         /* one of them is being delivered */
    uint64_t terminate_at; /* a variant: when its Terminate may go out */
    bool marker_sent;      /* a variant: the Marker before the next FPDU is out, and part of its CRC */
    uint32_t send_joined;  /* MO that the next Send begins at */
    uint32_t error; /* the stream's first error, by the first two octets of its Terminate, and DEFECT_TRIPLE; 0: none */
    struct message_left message;
};

/* What a stream was established with, or had come to (defect_stream_state.c). */
struct stream_terms_left {
    bool known, crc, send_markers, receive_markers;
    uint8_t version;
    uint16_t ird, ord;
    uint32_t pd;
    size_t mulpdu;
    uint32_t transmit_position, receive_position;
    uint32_t msn_due[DEFECT_QUEUES], msn_next[DEFECT_QUEUES];
};

/* Private Data of the longest start-up frame so far. */
struct stream_private_left {
    uint8_t data[IWARP_MPA_PRIVATE_DATA_MAX];
    size_t octets;
};

/* What streams leave to others, which should have nothing of it. */
struct stream_left {
    struct stream_terms_left last, over; /* of the stream that was established last, and of one that is over */
    struct stream_private_left said, reported, asked;
    uint32_t requests, responses; /* Read and Atomic Requests, Atomic Responses of all streams */
    bool flags_known, markers, crc, revision_known, replied, rejected, depths_reported, failed, read_open, quoted[2];
    uint8_t revision, word[MPA_ENHANCED_OCTETS];
    uint16_t reported_ird, reported_ord, peer_port;
    uint32_t reported_by;
    size_t receives;
    uint8_t partial[64];
    size_t partial_octets;
    struct inbound_request read;
    wire_result error;
    uint8_t header[2][DDP_UNTAGGED_OCTETS];
};

/* Values that the device's first connection leaves to later ones. */
struct defect_first {
    unsigned long emss; /* 0: none yet */
    unsigned ird, ord;
    int depths; /* set: there are some */
};

/* What the streams of a device share on behalf of its faults. */
struct device_faults {
    struct iwarp_stream *oldest;
    uint32_t sends; /* Sends of all streams */
    size_t reads;   /* Read and Atomic Requests open, of all streams */
    size_t leaked;  /* places of Read Requests that nothing frees */
    unsigned own;   /* own Reads that nothing takes off the outbound limit */
    bool failed;    /* a stream ended in error */
    uint32_t stag;  /* drawn last */
    uint64_t drawn; /* state of a generator that each device begins with 0 */
    struct defect_first first;
    struct stream_left left;
};

/* What a session leaves to another one, which should have nothing of it (defect_sctp_state.c). */
struct sctp_left {
    uint8_t said[DDP_SCTP_PRIVATE_DATA_MAX];     /* Private Data of the longest answer so far */
    uint8_t reported[DDP_SCTP_PRIVATE_DATA_MAX]; /* and the longest that the ULP received */
    size_t said_octets, reported_octets;
    bool first_known, domain_known, enhanced, refused, msn_known, depths_known;
    bool emptied; /* its last session has ended */
    uint16_t first_sid, domain_sid, refused_sid, msn_sid, last_sid;
    uint32_t domain;
    uint32_t msn[DEFECT_QUEUES][2]; /* expected, and next */
    uint16_t depths[2];             /* IRD and ORD of the last session that had some */
};

/* What an agent keeps of exchanges before (defect_cm_state.c). */
struct cm_left {
    uint32_t requests; /* REQs that came, each counted once */
    uint64_t transaction;
    uint32_t local_id;
    bool again; /* the REQ that came last had come before */
    bool accepted, tuple_known, code_known, ulp_rejected, asked;
    uint64_t service_id; /* of a REQ that was put to the ULP */
    struct cm_tuple tuple;
    uint8_t code, protocol;
    uint16_t source_port;
    uint8_t consumer[IP_CM_CONSUMER_OCTETS], sent[IP_CM_CONSUMER_OCTETS];
    uint8_t reported[224], replied[196]; /* Private Data of RTUs and REPs, of a REP */
};

/* What an association keeps for its defects. */
struct sctp_faults {
    struct defect_state state;       /* counts of messages, for defects of the n-th */
    struct iwarp_sctp_output output; /* as it was changed... */
    uint64_t message;                /* ...and which message that is, of how many octets before */
    size_t octets;
    bool changed;
    uint16_t ssn; /* one row of DDP-SSNs for all SIDs */
    bool sent;    /* something was, on this SID and with the DDP-SSN before this: */
    uint16_t sid, next;
    bool swapped;          /* an RDMAP Terminate has the DDP-SSN of the Terminate after it... */
    uint16_t swapped_sid;  /* ...on this SID */
    bool again;            /* something was sent after the Terminate of a session... */
    uint8_t after_end[16]; /* ...which is this */
    bool pd_known;
    uint32_t pd;                 /* of the association's first stream */
    struct defect_run run;       /* the message that is being sent */
    int ahead;                   /* of the message in hand */
    struct iwarp_sctp_init peer; /* what its INIT or INIT-ACK said */
    struct sctp_left left;
};

/* All of these begin with the table and the set. `forget` frees what they point to. */
struct kept {
    struct iwarp_faults faults;
    const struct defect_set *set;
    void (*forget)(struct kept *kept);
};

struct kept_stream {
    struct kept kept;
    struct iwarp_stream *stream;
    struct defect_state state;
};

struct kept_device {
    struct kept kept;
    struct device_faults state;
};

struct kept_association {
    struct kept kept;
    struct sctp_faults state;
};

struct kept_agent {
    struct cm_faults faults;
    const struct defect_set *set;
    struct defect_state state;
    struct cm_left left;
};

/* Those of a device are there wherever one of its streams has some; its own set may be empty. */
struct device_faults *device_state(const struct iwarp_device *device);
const struct defect_set *device_set(const struct iwarp_device *device);

struct sctp_faults *association_state(const struct iwarp_association *association);
const struct defect_set *association_set(const struct iwarp_association *association);

/* Room for so many octets; -1: memory is short. */
int defect_run_reserve(struct defect_run *run, size_t octets);

struct defect_state *agent_state(const struct cm_agent *agent);
struct cm_left *agent_left(const struct cm_agent *agent);
const struct defect_set *agent_set(const struct cm_agent *agent);

#endif
