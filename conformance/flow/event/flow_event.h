/* SPDX-License-Identifier: BSD-2-Clause */
/* An event of the decoder; its kind says which members are set. flow.h describes the order of events. */
#ifndef FLOW_FLOW_EVENT_H
#define FLOW_FLOW_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow_ulp.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/fpdu_reading.h"
#include "wire/rdmap.h"
#include "wire/terminate.h"

enum flow_direction { FLOW_FROM_INITIATOR = 0, FLOW_FROM_RESPONDER = 1, FLOW_DIRECTIONS = 2 };

/* The other side's direction. */
static inline enum flow_direction flow_reverse(enum flow_direction direction)
{
    return direction == FLOW_FROM_INITIATOR ? FLOW_FROM_RESPONDER : FLOW_FROM_INITIATOR;
}

/* conformance/flow/sctp/flow_sctp.h and flow_cm.h hold the structures of their events. */
struct flow;
struct flow_request;
struct flow_sctp;
struct flow_session;
struct flow_start;
struct flow_cm;

enum flow_event_kind {
    FLOW_TCP_OPEN,  /* .open: a SYN or SYN/ACK of this direction */
    FLOW_TCP_CLOSE, /* .close: FIN or RST of this direction, once each */
    FLOW_MPA_START, /* .start: a start-up frame, good or malformed */
    FLOW_ULPDU,     /* .ulpdu: an FPDU, or an SCTP user message with a DDP Segment */
    FLOW_DDP,       /* .ulpdu, .ddp */
    FLOW_RDMAP,     /* .ulpdu, .ddp, .rdmap */
    FLOW_GAP,       /* .gap: octets that the capture does not have */
    FLOW_UNDECODED, /* .reason: octets of this direction are not decoded from here on, or for a while */
    FLOW_SCTP,      /* .sctp: a chunk of an association */
    FLOW_SESSION,   /* .session: a DDP Stream Session Control message, or the draft's Stream Reset */
    FLOW_CM,        /* .cm: a CM message */
    FLOW_END,       /* nothing follows */
};

struct flow_open {
    bool ack; /* SYN/ACK */
    uint32_t isn;
    uint16_t mss; /* 0: no option */
    uint16_t window;
};

struct flow_close {
    bool reset;          /* RST; else FIN */
    size_t partial_fpdu; /* octets of an FPDU (or start-up frame) that was begun and not finished when it came */
    bool unsound;   /* their first ones are no header of an FPDU, or its ULPDU_Length is damaged: nothing was begun */
    bool with_data; /* the frame carries payload too */
};

/* How MPA framed a ULPDU. */
struct flow_fpdu {
    struct fpdu fpdu; /* as fpdu_parse() gives it; crc_ok is meaningless when the ULPDU is `cut` */
    struct fpdu_framing framing;
    bool resynced;           /* first one after sync was lost or found in mid-stream */
    bool at_segment_start;   /* its first octet is the first of a TCP segment */
    bool at_segment_end;     /* its last octet is the last of a TCP segment */
    uint32_t segments;       /* TCP segments (as captured) that carry it */
    uint32_t segment_octets; /* payload of the segment with its last octet */
    size_t here; /* octets at fpdu.start that are there: more than it has where others follow in the same segment */
    /*
     * How its sender frames FPDUs, all zero: as the text says. Else the octets are none by the text, and this is the
     * one mistake by which they are: `fpdu` was read so, and its crc_ok alone is by the text.
     */
    struct fpdu_reading reading;
    bool end_proven; /* its CRC, or what stands after it, shows that it ends where it says */
    /*
     * The FPDU before was read as the text says, and where this one begins shows that it was framed so; zero: it was
     * right
     */
    struct fpdu_reading before;
    uint16_t before_length; /* its ULPDU_Length */
};

/* One ULPDU, which is a DDP Segment: out of an FPDU, or out of a user message of SCTP. */
struct flow_ulpdu {
    const uint8_t *octets; /* `have` of them */
    size_t have;           /* that are there: `length` unless cut */
    uint16_t length;       /* on the wire: ULPDU_Length; over SCTP what follows the DDP-SSN */
    bool cut;              /* part of it is missing (capture cut the frame, or a gap): headers only, CRC not verified */
    /*
     * Its octets are not to be judged: `cut` by octets that nobody captured, CRCs in use (even its length may be
     * damaged); or found in mid-stream by what looks like headers, and no CRC says that an FPDU begins there.
     */
    bool unverified;
    bool framing_only;           /* a mistake of its sender leaves open where the ULPDU ends: no FLOW_DDP follows */
    wire_result result;          /* WIRE_OK, TERM_MPA_CRC, TERM_MPA_MARKER; WIRE_MORE when `cut` */
    uint64_t index;              /* of this direction, from 0; after a gap counted on without the lost ones */
    const struct flow_fpdu *mpa; /* NULL over SCTP */
    const struct flow_session *message; /* the user message; NULL over MPA */
};

/* False only when the CRC was verified and is wrong, by the text and by the mistake that explains it. */
static inline bool flow_crc_ok(const struct flow_ulpdu *ulpdu)
{
    return ulpdu->mpa == NULL || ulpdu->result != TERM_MPA_CRC;
}

/* MPA framed it as the text says. */
static inline bool flow_framed_by_text(const struct flow_ulpdu *ulpdu)
{
    return ulpdu->mpa == NULL || fpdu_reading_is_text(&ulpdu->mpa->reading);
}

struct flow_ddp {
    struct ddp_segment segment; /* payload_octets: those on the wire (from ULPDU_Length), also when cut */
    wire_result result;  /* ddp_parse()'s: WIRE_MORE: ULPDU too short for the header (then no FLOW_RDMAP follows) */
    size_t payload_have; /* octets at segment.payload that are there */
};

/* Which header of the union is filled in. */
enum flow_header {
    FLOW_HEADER_NONE,
    FLOW_HEADER_READ_REQUEST,
    FLOW_HEADER_TERMINATE,
    FLOW_HEADER_ATOMIC_REQUEST,
    FLOW_HEADER_ATOMIC_RESPONSE,
    FLOW_HEADER_IMMEDIATE,
};

/* Its table of fields; NULL: there is none. */
const struct wire_layout *flow_header_layout(enum flow_header header);

struct flow_rdmap {
    struct rdmap_message message;
    wire_result result;        /* rdmap_parse()'s */
    bool first;                /* first segment of its message, as far as the flow's state shows */
    bool last;                 /* L bit */
    uint64_t message_octets;   /* DDP payload of the message, this segment included */
    enum flow_header header;   /* NONE also when the header is cut or not in this segment: see header_result */
    wire_result header_result; /* of the parser named by `header`; WIRE_MORE when short */
    union {
        struct read_request read_request;
        struct terminate terminate;
        struct atomic_request atomic_request;
        struct atomic_response atomic_response;
        uint64_t immediate;
    };
    const struct flow_request *request;  /* Read Response, Atomic Response: the request it answers, NULL: none waits */
    struct flow_rpcrdma_message rpcrdma; /* what an RPC-over-RDMA message says that begins here */
    struct flow_iser_message iser;       /* what one of iSER says */
    struct flow_nvme_message nvme;       /* what a capsule of NVMe says */
};

struct flow_gap {
    uint64_t octets; /* that are missing */
    bool in_sync;    /* the FPDU boundary after it is known all the same */
    /* Over SCTP instead: */
    uint32_t messages; /* DDP-SSNs that did not come */
    uint16_t first;    /* the first of them */
    bool not_sent;     /* every TSN of the sender was captured: it left them out */
};

enum flow_reason {
    FLOW_REASON_START_MALFORMED, /* start-up frame malformed: what follows is not FPDUs that can be found */
    FLOW_REASON_REJECTED,        /* Reply with R=1: the rest is the ULP's */
    FLOW_REASON_SYNC_LOST,       /* boundaries lost (gap, impossible length): looking for the next FPDU */
    FLOW_REASON_ONE_WAY,         /* no Reply in the capture: framing was found out from the stream */
    FLOW_REASON_LATE,            /* capture begins in mid-stream: locked on by CRC, Marker or headers */
    FLOW_REASON_NO_FPDU,         /* nothing that looks like an FPDU was found until the end */
    FLOW_REASON_STREAMING,       /* octets before the start-up frame: the ULP's streaming mode */
    FLOW_REASON_NO_MEMORY,       /* the decoder has no memory for what comes in this direction */
    FLOW_REASON_EVICTED,         /* FLOW_END because too many flows are open */
    FLOW_REASON_CHECKSUM,        /* SCTP: wrong checksum, the packet does not count */
    FLOW_REASON_MESSAGE_SHORT,   /* SCTP: a user message too short for its DDP-SSN */
    FLOW_REASON_MESSAGE_LONG,    /* SCTP: a fragmented user message that is too long to be held, or never whole */
    FLOW_REASON_SSN_AGAIN,       /* SCTP: a new chunk with a DDP-SSN that was used already */
    /* octets were sent again with different contents; it is unknown which ones the receiver accepted */
    FLOW_REASON_CONFLICT,
    FLOW_REASON_REFUSED,       /* a segment that the receiver's TCP drops */
    FLOW_REASON_URGENT,        /* urgent octets */
    FLOW_REASON_CHUNK,         /* SCTP: a chunk whose length contradicts the packet's: the rest is not read */
    FLOW_REASON_STRANGER,      /* SCTP: other addresses, or another Verification Tag: the packet does not count */
    FLOW_REASON_DROPPED,       /* the capture mechanism dropped frames, of any flow that was open */
    FLOW_REASON_IDLE,          /* FLOW_END because no frame came for flow_config.idle_ns */
    FLOW_REASON_CHUNK_UNKNOWN, /* SCTP: a chunk after which a receiver leaves the packet's rest alone */
    FLOW_REASON_COUNT
};

/* The reason as a sentence. */
const char *flow_reason_text(enum flow_reason reason);

/*
 * Sequence numbers of TCP are counted on in 64 bits: the low 32 bits are those of the wire, and numbers of one
 * direction can be compared as they stand. `received` says how much of the other direction the sender of an event had
 * received when it sent it: at most what lies before that number, its segment's acknowledgment number. What it had not
 * received then it cannot have answered, in whatever order the capture has the two. Before an
 * event of a TCP connection the decoder has sent those of all octets before `received` that were captured (else
 * flow->unordered).
 */
struct flow_event {
    enum flow_event_kind kind;
    enum flow_direction direction; /* sender; FLOW_END: FLOW_FROM_INITIATOR */
    const struct flow *flow;
    uint64_t frame; /* number of the frame that completed it: has its last octet, or its first where that came later */
    uint64_t first_frame; /* carries its first octet; the same as `frame` when it lies in one */
    uint64_t time_ns;     /* of `frame` */
    uint64_t position;    /* octets from SeqStart to its first octet (ULPDU, DDP, RDMAP, GAP), else 0 */
    uint64_t octet,
        end;           /* TCP: sequence numbers of its first octet and after its last (MPA_START, ULPDU, DDP, RDMAP) */
    uint64_t received; /* TCP: of the segment with its first octet (the same); 0: not known */
    const struct flow_open *open;
    const struct flow_close *close;
    const struct flow_start *start;
    const struct flow_ulpdu *ulpdu;
    const struct flow_ddp *ddp;
    const struct flow_rdmap *rdmap;
    const struct flow_gap *gap;
    const struct flow_sctp *sctp;
    const struct flow_session *session;
    const struct flow_cm *cm;
    enum flow_reason reason;       /* UNDECODED; END: FLOW_REASON_COUNT unless evicted or idle */
    const struct flow_event *next; /* of a ULPDU, then of its DDP Segment: what it carries; NULL: that is all */
};

#endif
